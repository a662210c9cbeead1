#include "kernels_impl.hpp"

namespace tarn::cpu {

extern const KernelTable kKernels_portable;
const KernelTable kKernels_portable = make_table("portable");

}  // namespace tarn::cpu
