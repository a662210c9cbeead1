#include "kernels_impl.hpp"

namespace tarn::many_body {

const Kernels kKernels_avx2 = make_kernels("avx2");

}  // namespace tarn::many_body
