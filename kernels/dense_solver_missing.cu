#include "kernels/dense_solver.hpp"
#include "tarn/core/error.hpp"

namespace tarn::gpu {

void DenseSolver::Destroy::operator()(cusolverDnContext*) const noexcept {}
DenseSolver::DenseSolver(const DeviceState&, const ClusterSystem&, const IntegratorSpec&, bool,
                         cudaStream_t) {
  throw DeviceError(cusolver_problem());
}
void DenseSolver::solve(const DeviceState&, const ClusterSystem&, cudaStream_t) {}

std::string cusolver_problem() {
  return "the CUDA toolkit of this build has no cuSOLVER: install it (Debian: libcusolver-dev of "
         "NVIDIA's repository) and configure again";
}

}  // namespace tarn::gpu
