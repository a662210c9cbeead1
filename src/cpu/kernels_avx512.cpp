#include "kernels_impl.hpp"

namespace tarn::cpu {

const KernelTable kKernels_avx512 = make_table("avx512");
const KernelTable kKernels_avx512_amd = make_table<PairOrder::in_stages>("avx512-amd");

}  // namespace tarn::cpu
