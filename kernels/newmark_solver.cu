#include "kernels/dense_solver.hpp"
#include "kernels/launch_kernel.hpp"

namespace tarn::gpu {
namespace {

constexpr int kThreads = 128;

/// Sets q = x and a = 0, and marks stopped replicas inactive.
__global__ void __launch_bounds__(kThreads) start_newmark_kernel(DeviceState d, NewmarkWork work) {
  const std::int64_t slot = thread_number();
  if (slot >= d.slots) return;
  const Vec3<double> zero{0.0, 0.0, 0.0};
  store_triple(load_triple(d.x, d.slots, slot), work.q, d.slots, slot);
  store_triple({zero, zero, zero}, d.a, d.slots, slot);
  const std::int64_t replica = slot / d.molecules;
  if (slot != replica * d.molecules) return;
  const bool stopped = d.stopped[replica] != 0;
  work.inactive[replica] = stopped ? 1 : 0;
  if (!stopped) atomicAdd(work.unsolved, 1);
}

/// One correction and the convergence test; one block per replica. Thread t takes molecules t,
/// t + the number of threads, ...
__global__ void __launch_bounds__(kMostCorrecting)
    correct_newmark_kernel(DeviceState d, ClusterSystem system, NewmarkWork work, bool counted,
                           bool given_up) {
  TARN_SHARED(shared, double[2][kMostCorrecting]);
  const std::int64_t replica = blockIdx.x;
  if (work.inactive[replica] != 0) return;
  const std::int64_t first = replica * d.molecules;
  const StepParameters& step = system.step;
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  double moved2 = 0.0, size2 = 0.0;
  for (int k = t; k < d.molecules; k += threads) {
    MoleculeState<double> s = load_state(d, first + k);
    const Triple<double> q = load_triple(work.q, d.slots, first + k);
    const Triple<double> by = pushforward_newmark_correction(
        q, s.a, load_triple(d.f, d.slots, first + k), step.bonds, step.masses, step.zss);
    moved2 += weighted_norm2(1.0, 1.0, by);
    size2 += weighted_norm2(1.0, 1.0, q);
    s.a = s.a + by;
    store_triple(s.a, d.a, d.slots, first + k);
    store_triple(pushed_back(s, step.bh2), work.q, d.slots, first + k);
  }
  shared[0][t] = moved2;
  shared[1][t] = size2;
  for (int n = threads / 2; n > 0; n /= 2) {
    __syncthreads();
    if (t < n) {
      for (auto& row : shared) row[t] += row[t + n];
    }
  }
  if (t != 0) return;
  if (counted) atomicAdd(d.iterations, static_cast<unsigned long long>(d.molecules));
  const bool solved = is_solved_to_round_off(step.bh2 * step.bh2 * shared[0][0], shared[1][0]);
  if (!solved && !given_up) return;
  work.inactive[replica] = 1;
  atomicAdd(work.unsolved, -1);
  // A replica that does not converge counts as a blow-up.
  if (!solved) d.a[first] = kNoNumber;
}

}  // namespace

NewmarkSolver::NewmarkSolver(const DeviceState& d)
    : work_{arrays_.make<double>(static_cast<std::size_t>(9 * d.slots)),
            arrays_.make<int>(static_cast<std::size_t>(d.replicas)), arrays_.make<int>(1, 0)} {}

void NewmarkSolver::solve(const DeviceState& d, const ClusterSystem& system, bool m_site,
                          const TileScratch& scratch, bool counted, cudaStream_t stream) {
  DeviceState active = at_solution(d);
  active.stopped = work_.inactive;
  launch_threads(start_newmark_kernel, d.slots, kThreads, stream, d, work_);
  for (int correction = 1; correction <= kMostCorrections; ++correction) {
    if (correction > 1) {
      launch_tile_prepare({active, system, Precision::double_, m_site, 1, stream}, scratch, 0,
                          Prepare::forces);
    }
    launch_kernel(correct_newmark_kernel, static_cast<unsigned>(d.replicas),
                  correcting_threads(d.molecules), 0, stream, d, system, work_, counted,
                  correction == kMostCorrections);
    cuda_check(cudaStreamSynchronize(stream));
    if (downloaded(work_.unsolved, 1)[0] == 0) return;
  }
}

}  // namespace tarn::gpu
