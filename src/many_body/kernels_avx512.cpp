#include "kernels_impl.hpp"

namespace tarn::many_body {

const Kernels kKernels_avx512 = make_kernels("avx512");

}  // namespace tarn::many_body
