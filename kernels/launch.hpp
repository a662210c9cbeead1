#pragma once

#include <cuda_runtime.h>

#include <cstdint>

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
void launch_block_prepare(const DeviceState& d, const ClusterSystem& system, Precision precision,
                          bool m_site, std::int64_t step, Prepare what, cudaStream_t stream);
void launch_block_advance(const DeviceState& d, const ClusterSystem& system, Precision precision,
                          bool m_site, std::int64_t first, std::int64_t n, cudaStream_t stream);

// tile_path.cu
/// Work space of the tile path: sites [15][slot] in numbers of pairs, partial forces
/// [slice][9][slot] in those of the state, sums of each replica, and the number of the step, which
/// a graph must read from memory.
struct TileScratch {
  void* sites;
  void* partial;
  double* sums;     ///< [replica][9]: net force, centre of mass, net push of the wall
  long long* step;  ///< one number
};
inline constexpr int kTileSums = 9;

/// Work space and numbers of dense solves.
struct DenseWork {
  double* matrices;  ///< [slot] of 9x9, or one of 9N x 9N; see dense_element()
  double* right;     ///< [slot][9]: right-hand sides, then accelerations
  int* info;         ///< [slot] or [replica]: not 0 where a matrix is not positive definite
  Hessian hessian;
  double omega, bh2;
};

void launch_tile_prepare(const DeviceState& d, const ClusterSystem& system, Precision precision,
                         bool m_site, const TileScratch& scratch, Prepare what,
                         cudaStream_t stream);
/// One step; it takes the step's number from scratch.step and counts it on.
void launch_tile_step(const DeviceState& d, const ClusterSystem& system, Precision precision,
                      bool m_site, const TileScratch& scratch, cudaStream_t stream);

/// Steps whose accelerations are solved elsewhere: the forces, with `begin` after the beginning of
/// a step, and then its end.
void launch_tile_forces(const DeviceState& d, const ClusterSystem& system, Precision precision,
                        bool m_site, const TileScratch& scratch, bool begin, cudaStream_t stream);
void launch_tile_solved(const DeviceState& d, const ClusterSystem& system,
                        const TileScratch& scratch, const DenseWork& work, bool prepare,
                        cudaStream_t stream);
/// The same with the accelerations in d.a.
void launch_tile_kick(const DeviceState& d, const ClusterSystem& system, const TileScratch& scratch,
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
/// @param energies out: [replica][pair_tiles(N)]
void launch_energy(const DeviceState& d, const ClusterSystem& system, bool m_site, double* energies,
                   cudaStream_t stream);

}  // namespace tarn::gpu
