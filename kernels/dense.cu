#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "physics/dense_matrix.hpp"

/// @file
/// Matrices and right-hand sides of dense solves: lower triangles in column-major order.

namespace tarn::gpu {
namespace {

constexpr int kThreads = 64;

/// Each thread writes the matrix and the right-hand side of one molecule.
template <bool kMSite>
__global__ void __launch_bounds__(kThreads)
    molecule_matrices_kernel(DeviceState d, ClusterSystem system, DenseWork work,
                             std::int64_t first, std::int64_t count) {
  const std::int64_t k = thread_number();
  if (k >= count) return;
  const std::int64_t slot = first + k;
  const std::int64_t replica = slot / d.molecules;
  const int molecule = static_cast<int>(slot - replica * d.molecules);
  const Triple<double> x = load_triple(d.x, d.slots, slot);
  SiteCurvatures<double> sites = no_curvatures<double>();
  if (work.hessian == Hessian::molecule || work.hessian == Hessian::total) {
    for (int j = 0; j < d.molecules; ++j) {
      if (j == molecule) continue;
      add_curvatures<kMSite>(system.pair, x, load_triple(d.x, d.slots, replica * d.molecules + j),
                             sites);
    }
  }
  const StepParameters& step = system.step;
  const MoleculeMatrix<double> m =
      molecule_matrix(x, step.bonds, step.masses, work.omega, work.bh2,
                      work.hessian != Hessian::gauss_newton, system.pair.m_weight, sites);
  const bool total = work.hessian == Hessian::total;
  const int size = dense_size(d.molecules, total);
  double* const matrix = work.matrices + (total ? dense_element(9 * molecule, 9 * molecule, size)
                                                : k * dense_stride(81));
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b <= a; ++b) {
      for_each_element(block(m, a, b), a != b, [&](int row, int column, double value) {
        matrix[dense_element(3 * a + row, 3 * b + column, size)] = value;
      });
    }
  }
  const Triple<double> right =
      load_triple(d.f, d.slots, slot) + penalty_force(x, step.bonds, work.omega);
  store_triple(right, work.right + dense_right(slot, d.molecules, total), 1, 0);
}

/// Off-diagonal blocks of the total Hessian; one thread per atom a of molecule k and atom b of
/// molecule l < k.
template <bool kMSite>
__global__ void __launch_bounds__(kThreads)
    coupling_kernel(DeviceState d, ClusterSystem system, DenseWork work, std::int64_t first) {
  const std::int64_t thread = thread_number();
  const DenseCoupling c = dense_coupling(thread, d.molecules);
  if (c.k >= d.molecules || c.l >= c.k) return;
  const int size = dense_size(d.molecules, true);
  double* const matrix = work.matrices + dense_element(9 * c.k + 3 * c.a, 9 * c.l + 3 * c.b, size);
  for_each_element(coupling<kMSite>(system.pair, load_triple(d.x, d.slots, first + c.k), c.a,
                                    load_triple(d.x, d.slots, first + c.l), c.b),
                   true, [&](int row, int column, double value) {
                     matrix[dense_element(row, column, size)] = work.bh2 * value;
                   });
}

template <bool kMSite>
void run(const DeviceState& d, const ClusterSystem& system, const DenseWork& work,
         std::int64_t first, std::int64_t count, cudaStream_t stream) {
  launch_threads(molecule_matrices_kernel<kMSite>, count, kThreads, stream, d, system, work, first,
                 count);
  if (work.hessian != Hessian::total) return;
  launch_threads(coupling_kernel<kMSite>, dense_couplings(d.molecules), kThreads, stream, d, system,
                 work, first);
}

}  // namespace

void launch_dense_matrices(const DeviceState& d, const ClusterSystem& system, const DenseWork& work,
                           bool m_site, std::int64_t first, std::int64_t count,
                           cudaStream_t stream) {
  (m_site ? run<true> : run<false>)(d, system, work, first, count, stream);
}

}  // namespace tarn::gpu
