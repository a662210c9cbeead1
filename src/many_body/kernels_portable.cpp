#include "kernels_impl.hpp"

namespace tarn::many_body {

const Kernels kKernels_portable = make_kernels("portable");

}  // namespace tarn::many_body
