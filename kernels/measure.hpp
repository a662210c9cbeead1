#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/device_state.cuh"
#include "physics/geometry.hpp"
#include "steps/measure.hpp"
#include "tarn/engine.hpp"

/// @file
/// Measurements on the device: one row of numbers per replica; see measure.cu.

namespace tarn::gpu {

inline constexpr int kMeasureThreads = 128;
/// Threads between the first threads of two replicas of a block.
TARN_HD constexpr int measured_lanes(int molecules) {
  int lanes = 1;
  while (lanes < molecules && lanes < kMeasureThreads) lanes *= 2;
  return lanes;
}
/// Parts of a cluster whose sums are stored in memory and added in order.
TARN_HD constexpr int measured_chunks(int molecules) {
  return (molecules + kMeasureThreads - 1) / kMeasureThreads;
}
constexpr unsigned measure_blocks(std::int64_t replicas, int molecules) {
  const int chunks = measured_chunks(molecules);
  const int together = kMeasureThreads / measured_lanes(molecules);
  return static_cast<unsigned>(chunks == 1 ? (replicas + together - 1) / together
                                           : replicas * chunks);
}
/// Whether the block of a cluster computes the pair energies; else energy_kernel does, by tiles.
TARN_HD constexpr bool pairs_in_chunk(int molecules) { return molecules <= kMeasureThreads; }

/// Numbers beside those of EnergyTerm.
enum { kHeatSum = EnergyTerm::kNumbers, kPotentialSum, kEnergySums };
inline constexpr int kGeometrySums = 2 * GeometryTerm::kNumbers;

/// Work space.
struct MeasureScratch {
  double* centres;        ///< [replica][chunk][CentreTerm]
  double* energies;       ///< [replica][chunk][kEnergySums]
  double* inertia;        ///< [replica][chunk][InertiaTerm], where the cluster is motionless
  double* tile_energies;  ///< [replica][observed_tiles(N)], of large clusters
  double* shapes;         ///< [replica][chunk][ShapeTerm]
  double* geometry;       ///< [replica][chunk][kGeometrySums]
  int* labels;            ///< two of [replica][molecule]
  int* part_sizes;        ///< [replica][molecule]
  const double* images;   ///< ManyBodyStage::numbers() of replicas; null: pairs are summed
};

/// The rows to fill, [replica]; null: not requested. A row of Conservation has
/// kConservationNumbers numbers.
struct DeviceRows {
  Energies* energies;
  double* conservation;
  double* heat;
  double* exchange;
  ClusterMeasures* shape;
  ClusterParts* parts;
  double* lindemann;
  Geometry* geometry;
  double* energy_moments;  ///< rows of EnergyMoment
  double* rescaled;        ///< of ring polymers, by launch_ring_potentials()
  double* dipoles;         ///< of many-body models, by launch_dipole_rows(): [replica][3]
  RingMeasures* rings;     ///< of ring polymers, by launch_ring_rows()
  bool needs_centres;      ///< for radial counts
};

/// Sums of Lindemann indices, [replica][pair].
struct LindemannOnDevice {
  std::int64_t samples;
  double *means, *squares;
};

/// Sums of CentreTerm, [replica][chunk].
void launch_centres(const DeviceState& d, const MeasureNumbers& n, double* out,
                    cudaStream_t stream);
/// Sums of GeometryTerm at the reported and at the own positions, [replica][chunk]; the shortest
/// bonds with the opposite sign.
void launch_geometry_sums(const DeviceState& d, const MeasureNumbers& n, double* out,
                          cudaStream_t stream);
/// Fills rows. The number of kernel launches does not depend on the number of replicas.
void launch_measure(const DeviceState& d, const MeasureNumbers& n, const ClusterSystem& system,
                    bool m_site, const MeasureScratch& scratch, const DeviceRows& rows,
                    const LindemannOnDevice& lindemann, double link_A, cudaStream_t stream);
/// Adds the oxygen-oxygen distances.
/// @param lindemann with this sample counted
void launch_add_distances(const DeviceState& d, double bh2, const LindemannOnDevice& lindemann,
                          cudaStream_t stream);

/// Where the fields of kArrayFields are written, [replica][molecule][9 or 3]; null: not requested.
struct MoleculeFields {
  double *positions, *own_positions, *velocities, *multipliers;
};

/// @param d with forces at the positions of the bonds if the multipliers need them
void launch_molecule_fields(const DeviceState& d, const MeasureNumbers& n,
                            const MoleculeFields& out, cudaStream_t stream);

// --- numbers per group of replicas, see GroupMoments and RadialCounts ----------------------------

/// The replicas of each group and lane; see ReplicaGroups.
struct DeviceGroups {
  int groups;
  const int *places, *begins;
};

/// Moments of rows of numbers, [group][number], in one block of memory.
struct DeviceMoments {
  static std::size_t bytes(int groups, int numbers) {
    return sizeof(double) * static_cast<std::size_t>(groups) *
           (4 * static_cast<std::size_t>(numbers) + 1);
  }
  DeviceMoments(unsigned char* memory, int groups, int in_row)
      : numbers(in_row), counts(reinterpret_cast<long long*>(memory)) {
    const std::ptrdiff_t size = std::ptrdiff_t{groups} * in_row;
    pivots = reinterpret_cast<double*>(counts + size);
    sums = pivots + size;
    squares = sums + size;
    products = squares + size;
  }
  int numbers;
  long long* counts;
  double *pivots, *sums, *squares;
  double* products;  ///< [group]
};

/// @param rows [replica][number]
void launch_moments(const double* rows, const int* stopped, const DeviceGroups& groups,
                    const DeviceMoments& moments, cudaStream_t stream);

/// Atoms in shells, [group][bin], in one block of memory that is 0 at first.
struct DeviceRadial {
  static std::size_t bytes(int groups, int bins) {
    return sizeof(long long) * static_cast<std::size_t>(groups) *
           (3 * static_cast<std::size_t>(bins) + 1);
  }
  double r_max_A;
  int bins, groups;
  unsigned long long* counts;  ///< replicas, oxygens, hydrogens, cosines
};

/// @param centres sums of CentreTerm, [replica][chunk]
void launch_radial(const DeviceState& d, const MeasureNumbers& n, const double* centres,
                   const DeviceRadial& radial, cudaStream_t stream);

// histories.cu
/// A history in the memory of the current device.
/// @param state the replicas or centroids, after launches of what computes their present state
/// @return null if no replica is followed or one has no memory to continue from; if it would take
///         more than half of the free memory or, for the transform of a segment, more shared memory
///         than a block may have
std::unique_ptr<History> make_history(const HistoryRequest& request, const MeasureNumbers& numbers,
                                      const std::vector<std::int64_t>& replica_ids,
                                      cudaStream_t stream,
                                      const std::function<const DeviceState&()>& state);

}  // namespace tarn::gpu
