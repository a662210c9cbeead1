#include "kernels_impl.hpp"

namespace tarn::cpu {

const KernelTable kKernels_portable = make_table("portable");

}  // namespace tarn::cpu
