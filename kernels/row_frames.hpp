#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "interface/moments.hpp"
#include "kernels/device_buffer.hpp"
#include "kernels/many_body.hpp"
#include "kernels/measure.hpp"
#include "kernels/ring_polymers.hpp"
#include "tarn/engine.hpp"

namespace tarn::gpu {

/// Frames of rows: measured on the stream of the steps, and copied into page-locked memory on a
/// second stream while later steps run.
class RowFrames {
 public:
  RowFrames(const System& system, std::vector<std::int64_t> replica_ids, int device)
      : numbers_(measure_numbers(system)), replica_ids_(std::move(replica_ids)), copies_(device) {}

  /// Starts the Lindemann sums of the settings.
  void measure_with(const MeasureSettings& settings);

  /// Enqueues the measurement on the stream of the steps, and the copy on its own stream.
  /// @param fields of kRowFields and kGroupFields
  /// @param d replicas, or the modes of ring polymers
  /// @param rings of ring polymers, else null
  /// @param stage of many-body models, else null
  /// @param step number of the state
  void begin(unsigned fields, const DeviceState& d, const RingPolymers* rings,
             const ManyBodyStage* stage, const ClusterSystem& system, bool m_site,
             std::int64_t step, cudaStream_t stream);
  /// Waits for the copy and fills the rows of the replicas that were running at begin().
  /// @param frame replica_ids too
  void finish(Frame& frame);

  const LindemannRequest& lindemann() const { return settings_.lindemann; }
  void add_distances(const DeviceState& d, const RingPolymers* rings, cudaStream_t stream);
  /// Downloads the sums of the replicas in frame.replica_ids.
  /// @param live places of these replicas
  void put_sums(const std::vector<std::size_t>& live, Frame& frame) const;
  /// Places of the replicas of the last frame.
  const std::vector<std::size_t>& live() const { return live_; }
  bool has_samples() const { return samples_ > 0; }

 private:
  /// Where the rows of each field begin, in bytes.
  struct Layout {
    std::array<std::size_t, 32> begins;  ///< by the number of the field's bit
    std::size_t stopped, size;

    std::size_t begin(unsigned field) const {
      return begins[static_cast<std::size_t>(std::countr_zero(field))];
    }
  };
  Layout layout_of(unsigned fields) const;
  DeviceRows rows_at(const Layout& layout);
  /// @param samples replicas or beads, and the centres of mass of each, for radial counts
  void launch_groups(const Layout& layout, const DeviceRows& rows, const DeviceState& samples,
                     const double* centres, const DeviceState& d, cudaStream_t stream);
  void take_moments(unsigned field, std::size_t begin, int numbers, GroupMoments& to) const;
  void take_radial(std::size_t begin, RadialCounts& to) const;
  void reserve_scratch(unsigned fields, const DeviceState& d);
  void reserve_ring_scratch(unsigned fields, const DeviceState& beads);
  template <class T>
  void take(bool wanted, std::size_t begin, std::vector<T>& to) const;

  MeasureNumbers numbers_;
  std::vector<std::int64_t> replica_ids_;
  MeasureSettings settings_;
  std::int64_t samples_ = 0;
  DeviceBuffer<double> means_, squares_;  ///< [replica][pair]
  DeviceBuffer<double> centres_, energies_, inertia_, tile_energies_, shapes_, geometry_;
  DeviceBuffer<double> bead_centres_, bead_energies_, bead_geometry_;
  DeviceBuffer<double> only_summed_;  ///< rows of which the host receives moments only
  ReplicaGroups groups_;
  DeviceBuffer<int> places_, begins_;  ///< of groups_
  DeviceBuffer<int> labels_, part_sizes_;
  DeviceBuffer<unsigned char> rows_;
  HostCopy<unsigned char> host_;
  unsigned fields_ = kNoFields;  ///< fields of the last begin()
  bool has_rings_ = false;       ///< ring polymers, in that frame
  bool indices_known_ = false;   ///< Lindemann indices of that frame
  std::vector<std::size_t> live_;
  CopyStream copies_;  ///< its destructor waits for the copy to host_
};

}  // namespace tarn::gpu
