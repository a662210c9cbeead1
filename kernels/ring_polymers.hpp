#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device_buffer.hpp"
#include "kernels/launch.hpp"
#include "kernels/measure.hpp"
#include "kernels/replica_memory.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// Ring polymers of an engine in device memory, beside the modes in ReplicaMemory: constants of the
/// modes, the beads, and the centroids, which are measured as classical replicas are.

namespace tarn::gpu {

class RingPolymers {
 public:
  /// @param modes of ring polymers @param multiprocessors of the device
  RingPolymers(const System& system, const DeviceState& modes,
               const std::vector<std::int64_t>& replica_ids, int multiprocessors);

  const RingTables& tables() const { return tables_; }
  /// The beads, each like a replica: [replica][bead]. Only some arrays exist.
  const DeviceState& beads() const { return beads_; }
  /// The centroids as classical replicas, after measure().
  const DeviceState& centroids() const { return centroids_; }
  /// The id of the replica of each bead.
  const std::vector<std::int64_t>& bead_ids() const { return bead_ids_; }
  /// For launch_bead_forces().
  int block_rows() const { return block_rows_; }
  /// Number of the current step; see launch_ring_step().
  long long* counter() const { return counter_; }

  /// Prepares attempts of exchanges between the temperatures of a ladder.
  void prepare_exchanges(const System& system);
  /// ring_mode_factor() to the neighbours with which replicas attempt an exchange at a step,
  /// [replica]; 0: none.
  const double* factors(std::int64_t every, std::int64_t step) const {
    return factors_[step / every % 2].get();
  }
  /// Modes whose ring polymers are rescaled by these factors, and their beads.
  DeviceState rescale(const DeviceState& modes, const double* factors, cudaStream_t stream) const;

  RingLaunch launch(const DeviceState& modes, cudaStream_t stream) const {
    return {modes, tables_, beads_, stream};
  }
  /// Computes the beads and the centroids from the modes.
  void measure(const DeviceState& modes, cudaStream_t stream) const;

 private:
  void make_transforms(int beads);
  void make_modes(const System& system, const std::vector<std::int64_t>& replica_ids);

  std::vector<std::int64_t> replica_ids_;
  DeviceBuffer<double> factors_[2];
  mutable DeviceBuffer<double> rescaled_x_;
  RingTables tables_{};
  DeviceState beads_{}, centroids_{};
  std::vector<std::int64_t> bead_ids_;
  int block_rows_;
  DeviceArrays arrays_;
  long long* counter_ = nullptr;
};

// ring_measure.cu

/// Copies the centroids, and the heat of all modes.
void launch_centroids(const DeviceState& modes, const DeviceState& centroids, cudaStream_t stream);

/// Copies modes, the internal ones times the factor of their replica.
/// @param factors [replica]; 0: unchanged @param x out
void launch_rescale(const DeviceState& modes, const double* factors, double* x,
                    cudaStream_t stream);
/// Potential energies of ring polymers, means over their beads.
/// @param factors [replica]; 0: not a number @param out [replica]
void launch_ring_potentials(const RingPolymers& rings, const MeasureNumbers& n,
                            const ClusterSystem& system, bool m_site,
                            const struct RingScratch& scratch, const double* factors, double* out,
                            cudaStream_t stream);

/// Work space of launch_ring_rows().
struct RingScratch {
  double* bead_centres;   ///< [bead][CentreTerm]
  double* bead_energies;  ///< [bead][BeadTerm]
  double* bead_geometry;  ///< [bead][kGeometrySums]
  const double* images;   ///< ManyBodyStage::numbers() of beads; null: pairs are summed
};
/// Replaces those rows of centroids that are not the ring polymers' and fills those of ring
/// polymers, equation (83).
void launch_ring_rows(const DeviceState& modes, const RingPolymers& rings, const MeasureNumbers& n,
                      const ClusterSystem& system, bool m_site, const RingScratch& scratch,
                      const DeviceRows& rows, cudaStream_t stream);
/// Numbers of ring polymers for the host; null: not requested.
/// @param beads out: positions, [replica][bead][molecule][9]
/// @param atom_kinetic out: [replica][molecule][3]
void launch_ring_arrays(const DeviceState& modes, const RingPolymers& rings,
                        const MeasureNumbers& n, double* beads, double* atom_kinetic,
                        cudaStream_t stream);

}  // namespace tarn::gpu
