#include "kernels_impl.hpp"

namespace tarn::cpu {

const KernelTable kKernels_avx2 = make_table("avx2");

}  // namespace tarn::cpu
