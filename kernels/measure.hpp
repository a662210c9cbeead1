#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/device_state.cuh"
#include "physics/geometry.hpp"
#include "steps/measure.hpp"

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
/// Blocks of kMeasureThreads for a number of threads.
constexpr unsigned measure_blocks_of(std::int64_t threads) {
  return static_cast<unsigned>((threads + kMeasureThreads - 1) / kMeasureThreads);
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

}  // namespace tarn::gpu
