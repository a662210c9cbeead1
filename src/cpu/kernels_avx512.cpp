#include "kernels_impl.hpp"

namespace tarn::cpu {

extern const KernelTable kKernels_avx512;
const KernelTable kKernels_avx512 = make_table("avx512");

}  // namespace tarn::cpu
