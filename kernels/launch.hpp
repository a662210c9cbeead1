#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/device_state.cuh"

/// @file
/// The launches of the three paths; each file of kernels has its own.

namespace tarn::gpu {

/// Prepares the accelerations (and leaves the forces in d.f), or only computes the forces.
enum class Prepare { accelerations, forces };

// warp_path.cu
void launch_warp_prepare(const DeviceState& d, const ClusterSystem& system, Precision precision,
                         bool m_site, std::int64_t step, Prepare what, cudaStream_t stream);
void launch_warp_advance(const DeviceState& d, const ClusterSystem& system, Precision precision,
                         bool m_site, const DeviceCounts& counts, std::int64_t first,
                         std::int64_t n, cudaStream_t stream);

// block_path.cu
/// @param rows of threads of a block, block_slices(N) or 1; see block_rows()
void launch_block_prepare(const DeviceState& d, const ClusterSystem& system, Precision precision,
                          bool m_site, int rows, std::int64_t step, Prepare what,
                          cudaStream_t stream);
void launch_block_advance(const DeviceState& d, const ClusterSystem& system, Precision precision,
                          bool m_site, int rows, std::int64_t first, std::int64_t n,
                          cudaStream_t stream);

// tile_path.cu
/// Work space of the tile path.
struct TileScratch {
  void* sites;    ///< [slot] of PackedSite, in numbers of pairs
  void* partial;  ///< [row][9][slot]: forces, in numbers of the state
  void* net;      ///< [replica][band and slice][3]: sums of these, in the same numbers
  double* wall;   ///< [replica][9]: origin, centre of mass, net push
  /// The number of the step that is under way, and after its pairs the one that it ends with; a
  /// graph must read it from memory.
  long long* step;
  unsigned* begun;  ///< [slot]: see StepCounts; not used where the move is free
  int sum_rows;     ///< see sum_rows()
  bool few_blocks;  ///< of pairs: see few_pair_blocks()
  bool early;       ///< kernels of a step may be launched before those before them have ended
};
inline constexpr int kMostSiteBytes = 112;
inline constexpr int kWallNumbers = 9;

/// Work space and numbers of dense solves.
struct DenseWork {
  double* matrices;  ///< [slot] of 9x9, or one of 9N x 9N; see dense_element(), dense_stride()
  double* right;     ///< right-hand sides, then accelerations; see dense_right()
  int* info;         ///< [slot] or [replica]: not 0 where a matrix is not positive definite
  Hessian hessian;
  double omega, bh2;
};

void launch_tile_prepare(const DeviceState& d, const ClusterSystem& system, Precision precision,
                         bool m_site, const TileScratch& scratch, std::int64_t step, Prepare what,
                         cudaStream_t stream);
/// Steps are launched as: begin; then each step, which begins the next one, and the last one, which
/// does not; then rest. States are kept by begin only: it comes at every kKeptSteps-th step.
void launch_tile_begin(const DeviceState& d, const ClusterSystem& system, Precision precision,
                       bool m_site, const TileScratch& scratch, std::int64_t step,
                       cudaStream_t stream);
void launch_tile_step(const DeviceState& d, const ClusterSystem& system, Precision precision,
                      bool m_site, const TileScratch& scratch, bool begin_next,
                      cudaStream_t stream);
/// Whether the code of the kernels that is on the device waits where it is launched early: not if
/// the driver has made it of PTX for older devices.
bool tile_kernels_support_early_launch();
/// Brings onto the device what a step launches and launch_tile_prepare() does not.
void load_tile_step(const DeviceState& d, Precision precision, bool m_site);
/// Puts replicas that went bad to rest.
void launch_tile_restore_stopped(const DeviceState& d, cudaStream_t stream);

/// Steps whose accelerations are solved elsewhere: begin, the forces to d.f, and the end with rest.
void launch_tile_forces(const DeviceState& d, const ClusterSystem& system, Precision precision,
                        bool m_site, const TileScratch& scratch, cudaStream_t stream);
void launch_tile_solved(const DeviceState& d, const ClusterSystem& system, const DenseWork& work,
                        std::int64_t step, bool prepare, cudaStream_t stream);
/// The same with the accelerations in d.a.
void launch_tile_kick(const DeviceState& d, const ClusterSystem& system, std::int64_t step,
                      bool prepare, cudaStream_t stream);

// dense.cu
/// Matrices and right-hand sides of the molecules in slots first .. first + count - 1: a batch of
/// 9x9, or with the total Hessian all of one replica. Lower halves; the others are not written.
void launch_dense_matrices(const DeviceState& d, const ClusterSystem& system, const DenseWork& work,
                           bool m_site, std::int64_t first, std::int64_t count,
                           cudaStream_t stream);

// observe.cu
/// Counts the distances at the reported positions; not for the warp path, which counts by itself.
void launch_count(const DeviceState& d, const DeviceCounts& counts, cudaStream_t stream);
/// Non-bonded energy of each replica at the reported positions, in parts.
/// @param energies out: [replica][observed_tiles(N)]
void launch_energy(const DeviceState& d, const ClusterSystem& system, bool m_site, double* energies,
                   cudaStream_t stream);

// exchange.cu
/// A StateExchange by places in the batch.
struct PlacedExchange {
  std::int64_t first, second;
  double to_first, to_second;
};
/// @param solution NewmarkSolver::solution(), or null
/// @param pairs on the device; a replica is in one of them at most
/// @param floats velocities are rounded to floats
void launch_exchange(const DeviceState& d, double* solution, const PlacedExchange* pairs,
                     std::int64_t count, bool floats, cudaStream_t stream);

}  // namespace tarn::gpu
