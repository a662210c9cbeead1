#include "kernels/state_copies.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/parallel.hpp"
#include "kernels/launch_kernel.hpp"

namespace tarn::gpu {
namespace {

constexpr int kThreads = 128;
/// Numbers that a host thread copies at a time.
constexpr std::size_t kPiece = std::size_t{1} << 16;

/// Copies the state in the order of State; one thread per molecule of each replica or mode. A
/// stopped replica has its kept state.
__global__ void __launch_bounds__(kThreads)
    copy_state_kernel(DeviceState d, double* x, double* v, double* heat) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= d.replicas * d.copies * d.molecules) return;
  const std::int64_t copy = thread / d.molecules;
  const std::int64_t slot =
      slot_of(copy, static_cast<int>(thread % d.molecules), d.molecules, d.per_warp);
  const bool stopped = d.stopped[copy / d.copies] != 0;
  const double* const from_x = (stopped ? d.kept_x : d.x) + slot;
  const double* const from_v = (stopped ? d.kept_v : d.v) + slot;
  for (int k = 0; k < 9; ++k) {
    x[9 * thread + k] = from_x[k * d.slots];
    v[9 * thread + k] = from_v[k * d.slots];
  }
  if (d.heat != nullptr) heat[thread] = (stopped ? d.kept_heat : d.heat)[slot];
}

std::vector<double> copied(std::span<const double> from, int threads) {
  std::vector<double> to(from.size());
  const auto pieces = static_cast<std::int64_t>((from.size() + kPiece - 1) / kPiece);
  for_each_index(pieces, threads, [&](std::int64_t piece) {
    const std::size_t begin = static_cast<std::size_t>(piece) * kPiece;
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin),
                std::min(kPiece, from.size() - begin),
                to.begin() + static_cast<std::ptrdiff_t>(begin));
  });
  return to;
}

}  // namespace

StateCopies::StateCopies(int device) : device_(device) {
  cuda_check(cudaSetDevice(device));
  cuda_check(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking));
  cuda_check(cudaEventCreateWithFlags(&made_, cudaEventDisableTiming));
  cuda_check(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming));
}

StateCopies::~StateCopies() {
  cudaStreamSynchronize(copies_);
  cudaEventDestroy(made_);
  cudaEventDestroy(copied_);
  cudaStreamDestroy(copies_);
}

/// Leaves as much memory free as it takes, for measurements that start later.
bool StateCopies::reserve(std::size_t numbers) {
  if (staged_.size() >= numbers) return true;
  std::size_t free = 0, total = 0;
  cuda_check(cudaMemGetInfo(&free, &total));
  if (free < 2 * numbers * sizeof(double)) return false;
  try {
    staged_ = DeviceBuffer<double>(numbers);
  } catch (const DeviceError&) {  // the free memory is in pieces, or in use by now
    return false;
  }
  return true;
}

std::function<State()> StateCopies::begin(const ReplicaMemory& replicas, std::int64_t step,
                                          int threads, cudaStream_t stream) {
  const DeviceState& d = replicas.device();
  const auto molecules = static_cast<std::size_t>(d.replicas * d.copies * d.molecules);
  const std::size_t heats = d.heat != nullptr ? molecules : 0;
  if (molecules == 0 || !*is_taken_ || !reserve(18 * molecules + heats)) return {};
  double* const x = staged_.get();
  // A copy that nothing waited for may still be under way.
  cuda_check(cudaStreamWaitEvent(stream, copied_, 0));
  launch_kernel(copy_state_kernel, static_cast<unsigned>((molecules + kThreads - 1) / kThreads),
                kThreads, 0, stream, d, x, x + 9 * molecules, x + 18 * molecules);
  cuda_check(cudaEventRecord(made_, stream));
  cuda_check(cudaStreamWaitEvent(copies_, made_, 0));
  host_.copy_from(x, 18 * molecules + heats, copies_);
  cuda_check(cudaEventRecord(copied_, copies_));

  *is_taken_ = false;
  const std::shared_ptr<void> taken(nullptr, [flag = is_taken_](void*) { *flag = true; });
  return [this, taken, step, threads, molecules, heats, n = d.molecules, beads = d.copies,
          &ids = replicas.ids()] {
    cuda_check(cudaSetDevice(device_));
    cuda_check(cudaEventSynchronize(copied_));
    const std::span<const double> all = host_.values();
    State s;
    s.molecules = n;
    s.beads = beads;
    s.step = step;
    s.replica_ids = ids;
    s.positions_A = copied(all.first(9 * molecules), threads);
    s.velocities_A_per_akma = copied(all.subspan(9 * molecules, 9 * molecules), threads);
    s.heat_kcal_per_mol = copied(all.subspan(18 * molecules, heats), threads);
    return s;
  };
}

}  // namespace tarn::gpu
