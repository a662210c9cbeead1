#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "interface/measure.hpp"
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
  std::vector<int> stopped() const { return stopped_.download(); }
  std::vector<long long> blow_up_steps() const { return blow_step_.download(); }
  std::vector<int> blow_up_molecules() const { return blow_molecule_.download(); }
  std::vector<double> kept_positions() const { return kept_x_.download(); }
  /// Constraint iterations, and indefinite Hessians.
  std::vector<unsigned long long> sums() const { return sums_.download(); }

  /// Cycles of the stages of steps.
  std::array<double, kStages> stage_cycles() const;

  /// Copies the 9 N numbers of a replica from a coordinate array; of a ring polymer those of a
  /// mode, replica * copies + mode.
  void gather(std::span<const double> from, std::size_t copy, double* out) const;
  /// Copies the N numbers of a replica from an array with one number per molecule.
  void gather_heat(std::span<const double> from, std::size_t copy, double* out) const;
  /// The state of all replicas; a stopped replica has its last kept state.
  State download(std::int64_t step) const;

 private:
  std::int64_t slot(std::size_t copy, int molecule) const;
  /// Numbers of molecules in the order of State, in slots.
  DeviceBuffer<double> in_slots(const DeviceBuffer<double>& from, int numbers,
                                bool fill_with_first) const;
  void upload_coordinates(const State& start, bool baoab);
  void upload_heat(const State& start);
  void upload_replicas(const State& start, const System& system);

  DeviceState device_{};
  std::vector<std::int64_t> ids_;
  DeviceBuffer<double> x_, v_, a_, f_, v_thermal_, kept_x_, kept_v_, heat_, kept_heat_, kick_scale_,
      bias_centres_;
  DeviceBuffer<std::uint64_t> noise_ids_;
  DeviceBuffer<int> stopped_, blow_molecule_;
  DeviceBuffer<long long> blow_step_;
  DeviceBuffer<unsigned long long> sums_, stage_cycles_;
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

}  // namespace tarn::gpu
