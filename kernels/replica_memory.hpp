#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "interface/measure.hpp"
#include "interface/moments.hpp"
#include "kernels/device_buffer.hpp"
#include "kernels/device_state.cuh"
#include "kernels/many_body.hpp"
#include "tarn/engine.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

namespace tarn::gpu {

/// The device memory of all replicas of an engine: uploads the start state, downloads states.
class ReplicaMemory {
 public:
  /// Empty.
  ReplicaMemory() = default;
  /// Uploads to the current device. The copies have no order with the stream of the engine: call
  /// wait_for_copies() before the first launch.
  ReplicaMemory(const System& system, const State& start, Path path);

  /// What kernels take.
  const DeviceState& device() const { return device_; }
  const std::vector<std::int64_t>& ids() const { return ids_; }

  /// [replica]: not 0 if it was stopped.
  std::vector<int> stopped() const { return downloaded(device_.stopped, ids_.size()); }
  std::vector<long long> blow_up_steps() const {
    return downloaded(device_.blow_step, ids_.size());
  }
  std::vector<int> blow_up_molecules() const {
    return downloaded(device_.blow_molecule, ids_.size());
  }
  /// Numbers of molecules in slots.
  std::vector<double> download(const double* from, int numbers) const {
    return downloaded(from, static_cast<std::size_t>(numbers * device_.slots));
  }
  /// Constraint iterations, and indefinite Hessians.
  std::vector<unsigned long long> sums() const { return downloaded(device_.iterations, 2); }

  /// Cycles of the stages of steps.
  std::array<double, kStages> stage_cycles() const;

  /// Copies the numbers of the molecules of a replica from an array [number][slot]; of a ring
  /// polymer those of a mode, replica * copies + mode.
  void gather(std::span<const double> from, int numbers, std::size_t copy, double* out) const;
  /// The state of all replicas; a stopped replica has its last kept state.
  State download(std::int64_t step) const;

 private:
  /// Numbers of molecules in the order of State, in slots.
  double* in_slots(const DeviceBuffer<double>& from, int numbers, bool fill_with_first);
  void upload_coordinates(const State& start, bool baoab);
  void upload_replicas(const State& start, const System& system);

  DeviceState device_{};
  std::vector<std::int64_t> ids_;
  DeviceArrays arrays_;
};

/// Copies of the state for checkpoints: made on the stream of the steps, and copied into
/// page-locked memory on a second stream while later steps run. The memory is kept for the next
/// copy.
class StateCopies {
 public:
  explicit StateCopies(int device) : device_(device), copies_(device) {}

  /// Starts a copy of ReplicaMemory::download().
  /// @param threads of the host, for the returned function
  /// @param stream of the steps
  /// @return waits for the copy, on any thread, before the engine is destroyed; empty if the last
  ///         copy has not been taken yet, or the device has too little memory
  std::function<State()> begin(const ReplicaMemory& replicas, std::int64_t step, int threads,
                               cudaStream_t stream);

 private:
  bool reserve(std::size_t numbers);

  int device_;
  DeviceBuffer<double> staged_;  ///< in the order of State: positions, velocities, heat
  HostCopy<double> host_;
  /// Whether a copy was started and not taken. The returned function may outlive this object.
  std::shared_ptr<std::atomic<bool>> is_taken_ = std::make_shared<std::atomic<bool>>(true);
  CopyStream copies_;  ///< its destructor waits for the copies to the memory above
};

/// Describes the replicas that the device has stopped.
class BlowUpFinder {
 public:
  explicit BlowUpFinder(const System& system)
      : measure_(system),
        model_(system.model),
        pair_(pair_parameters<double>(system.model)),
        m_site_(system.model.has_m_site()) {}

  /// All blow-ups so far, in order of replica. @param stage of many-body models, else null
  std::vector<BlowUp> find(const ReplicaMemory& replicas, const ManyBodyStage* stage) const;

 private:
  Measure measure_;
  WaterModel model_;
  PairParameters<double> pair_;
  bool m_site_;
  /// By place in the batch. The kept state of a stopped replica does not change, so that each is
  /// described once.
  mutable std::map<std::size_t, BlowUp> found_;
};

/// The device memory of pair-distance counts.
class PairCountMemory {
 public:
  /// Counts nothing.
  PairCountMemory() = default;
  /// Allocates on the current device.
  /// @param bh2 distances are those of x + bh2 a
  PairCountMemory(const PairCountRequest& request, const std::vector<std::int64_t>& replica_ids,
                  double bh2)
      : request_(request) {
    if (!request.enabled) return;
    ReplicaGroups sorted(request.groups);
    sorted.sort(replica_ids);
    std::vector<int> begins{0};
    int most = 0;
    for (int g = 0; g < request.groups; ++g) {
      begins.push_back(begins.back() + sorted.replicas(g));
      most = std::max(most, sorted.replicas(g));
    }
    device_ = {{request.pairs[0], request.pairs[1], request.pairs[2]},
               bh2,
               request.bins / request.r_max_A,
               request.bins,
               request.groups,
               arrays_.upload(sorted.places()),
               arrays_.upload(begins),
               most,
               arrays_.make<unsigned long long>(counts(), 0),
               arrays_.make<unsigned long long>(groups(), 0)};
  }

  /// What kernels take.
  const DeviceCounts& device() const { return device_; }
  const PairCountRequest& request() const { return request_; }
  bool is_due(std::int64_t step) const {
    return request_.enabled && step >= request_.first_step && step % request_.every == 0;
  }
  void download(Frame& frame) const {
    frame.pair_counts.assign(counts(), 0);
    frame.pair_samples.assign(groups(), 0);
    if (!request_.enabled) return;
    std::ranges::copy(downloaded(device_.counts, counts()), frame.pair_counts.begin());
    std::ranges::transform(downloaded(device_.samples, groups()), frame.pair_samples.begin(),
                           [](unsigned long long n) { return static_cast<std::int64_t>(n); });
  }

 private:
  std::size_t groups() const { return static_cast<std::size_t>(request_.groups); }
  std::size_t counts() const {
    return groups() * kPairClasses * static_cast<std::size_t>(request_.bins);
  }

  PairCountRequest request_;
  DeviceCounts device_{};
  DeviceArrays arrays_;
};

}  // namespace tarn::gpu
