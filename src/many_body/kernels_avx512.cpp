#include "kernels_impl.hpp"

namespace tarn::many_body {

extern const Kernels kKernels_avx512;
const Kernels kKernels_avx512 = make_kernels("avx512");

}  // namespace tarn::many_body
