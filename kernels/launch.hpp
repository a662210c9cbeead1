#pragma once

#include <cstdint>
#include <functional>

#include <cuda_runtime.h>

#include "kernels/device_state.cuh"

/// @file
/// Launch functions of all kernels, grouped by the file that defines them.

namespace tarn::gpu {

class ManyBodyStage;

/// Whether to compute the initial accelerations (and d.f), or only the forces d.f.
enum class Prepare { accelerations, forces };

/// Clusters, and what selects their kernels.
struct ClusterLaunch {
  const DeviceState& d;
  const ClusterSystem& system;
  Precision precision;
  bool m_site;
  int rows;  ///< on the block path: thread rows per block, block_slices(N) or 1; see block_rows()
  cudaStream_t stream;
  /// Forces on the tile path and on beads in place of the pairs and the wall; else null.
  const ManyBodyStage* stage = nullptr;
};

// warp_path.cu
void launch_warp_prepare(const ClusterLaunch& c, std::int64_t step, Prepare what);
void launch_warp_advance(const ClusterLaunch& c, std::int64_t first, std::int64_t n);

// block_path.cu
void launch_block_prepare(const ClusterLaunch& c, std::int64_t step, Prepare what);
void launch_block_advance(const ClusterLaunch& c, std::int64_t first, std::int64_t n);

/// All forces on the beads of ring polymers, to d.f; in block_path.cu for more than kMostInWarp
/// molecules.
/// @param c beads, each like a replica @param step if not null, incremented
void launch_bead_forces(const ClusterLaunch& c, long long* step);
void launch_block_bead_forces(const ClusterLaunch& c, long long* step);

// ring_path.cu
/// The constants of a mode, aligned for loads of 16 bytes.
struct alignas(16) DeviceMode {
  ModeNumbers<double> numbers;
  double spring;  ///< omega_k^2
};
/// The constants of ring polymers in device memory.
struct RingTables {
  int beads;
  const double *to_modes, *to_beads;  ///< [input][number]: elements of the transforms
  const DeviceMode* modes;            ///< [bath][mode]
  const double* kT;                   ///< [bath] [kcal/mol]
  const int* baths;                   ///< [replica]

  __device__ const DeviceMode& mode(int bath, int mode) const { return modes[bath * beads + mode]; }
};
/// On the path ring_block: n steps.
void launch_ring_advance(const ClusterLaunch& c, const RingTables& rings, std::int64_t first,
                         std::int64_t n);
/// Ring polymers whose modes are in memory.
struct RingLaunch {
  const DeviceState& d;  ///< modes
  const RingTables& tables;
  const DeviceState& beads;
  cudaStream_t stream;
};
/// Computes the positions of the beads; also which of them were stopped.
void launch_place_beads(const RingLaunch& r);
/// Computes accelerations from the forces on the beads.
/// @param prepare whether to keep the state, too, and to check the accelerations
void launch_ring_accelerations(const RingLaunch& r, const ClusterSystem& system, bool prepare,
                               std::int64_t step);
/// Parts of a step. A sequence of steps starts with a launch of `begin` only and ends with one of
/// `end` only.
/// @param end the part after the forces @param begin the part before those of the next step
/// @param step number of the state, without `end`; `counter` then counts the steps
void launch_ring_step(const RingLaunch& r, const ClusterSystem& system, bool end, bool begin,
                      std::int64_t step, long long* counter);
/// Loads the kernel of launch_ring_step().
void load_ring_step(const DeviceState& d);

// bias.cu
/// Forces of biases at the positions of replicas, or of the centroids of ring polymers.
/// @param d replicas or modes @param pushes out: [replica][molecule][3]
/// @param beads of ring polymers: the forces are added to those on the beads
void launch_biases(const DeviceState& d, const Biases& biases, double* pushes,
                   const DeviceState& beads, cudaStream_t stream);

// tile_path.cu
/// Work space of the tile path.
struct TileScratch {
  void* sites;    ///< [slot] of PackedSite, in the pair precision
  void* partial;  ///< [row][9][slot]: partial forces, in the state precision
  void* net;      ///< [replica][band and slice][3]: net forces of blocks, same precision
  double* wall;   ///< [replica][9]: origin, centre of mass, net wall force
  double* bias;   ///< [slot][3]: forces of biases on oxygens; null: none
  /// Number of the current step; pairs_kernel increments it to the number of the state at the end
  /// of the step. In memory because the arguments of a captured graph are constant.
  long long* step;
  unsigned* begun;  ///< [slot]: see StepCounts; unused for Move::free
  int sum_rows;     ///< see sum_rows()
  bool few_blocks;  ///< see few_pair_blocks()
  bool early;       ///< kernels may be launched before the preceding ones have ended
};
inline constexpr int kMostSiteBytes = 112;
inline constexpr int kWallNumbers = 9;

/// Work space and parameters of dense solves.
struct DenseWork {
  double* matrices;  ///< [slot] of 9x9, or one of 9N x 9N; see dense_element(), dense_stride()
  double* right;     ///< right-hand sides, then accelerations; see dense_right()
  int* info;         ///< [slot] or [replica]: not 0 if the matrix is not positive definite
  Hessian hessian;
  double omega, bh2;
};

void launch_tile_prepare(const ClusterLaunch& c, const TileScratch& scratch, std::int64_t step,
                         Prepare what);
/// A sequence of steps is launched as: begin; all steps but the last, each of which also begins the
/// next one; the last step; restore_stopped. Only begin keeps states, so that a new sequence starts
/// at every kKeptSteps-th step.
void launch_tile_begin(const ClusterLaunch& c, const TileScratch& scratch, std::int64_t step);
/// @param after_pairs called between the launches of pairs and of the rest, if not empty
void launch_tile_step(const ClusterLaunch& c, const TileScratch& scratch, bool begin_next,
                      const std::function<void()>& after_pairs = {});
/// Whether the loaded kernels contain the wait that early launches need. They do not if the driver
/// compiled them from PTX of an older architecture.
bool tile_kernels_support_early_launch();
/// Loads the kernels of a step that launch_tile_prepare() does not launch.
void load_tile_step(const ClusterLaunch& c);
/// Restores the kept positions of replicas that blew up, at zero velocity, and marks them stopped.
void launch_tile_restore_stopped(const DeviceState& d, cudaStream_t stream);

/// For steps whose accelerations are solved elsewhere: begin, forces (to d.f), then solved, which
/// also restores stopped replicas.
void launch_tile_forces(const ClusterLaunch& c, const TileScratch& scratch);
/// @param work empty: the accelerations are in d.a
void launch_tile_solved(const DeviceState& d, const ClusterSystem& system, const DenseWork& work,
                        std::int64_t step, bool prepare, cudaStream_t stream);

// dense.cu
/// Writes the matrices and right-hand sides of the molecules in slots first .. first + count - 1:
/// a batch of 9x9 matrices, or with the total Hessian the matrix of one replica. Only lower
/// triangles are written.
void launch_dense_matrices(const DeviceState& d, const ClusterSystem& system, const DenseWork& work,
                           bool m_site, std::int64_t first, std::int64_t count,
                           cudaStream_t stream);

// observe.cu
/// Counts the distances at the reported positions, on all paths.
void launch_count(const DeviceState& d, const DeviceCounts& counts, cudaStream_t stream);
/// Non-bonded energy of each replica at the reported positions, as partial sums.
/// @param energies out: [replica][observed_tiles(N)]
void launch_energy(const DeviceState& d, const ClusterSystem& system, bool m_site, double* energies,
                   cudaStream_t stream);

// exchange.cu
/// A StateExchange with indices into the batch instead of replica ids.
struct PlacedExchange {
  std::int64_t first, second;
  double to_first, to_second;
  double modes_to_first, modes_to_second;  ///< ring_mode_factor()
};
/// @param solution NewmarkSolver::solution(), or null
/// @param pairs device pointer; each replica is in at most one pair
/// @param floats whether velocities are rounded to float
void launch_exchange(const DeviceState& d, double* solution, const PlacedExchange* pairs,
                     std::int64_t count, bool floats, cudaStream_t stream);

/// A replica that exchanges its state with another engine.
struct PlacedReplica {
  std::int64_t place;
  double velocity_factor;  ///< of the velocities that it receives
  double mode_factor;      ///< ring_mode_factor()
};
/// The numbers of these replicas: [replica][x, v, a, solution][copy][molecule][9]; without the
/// solution if that is null.
void launch_take_coordinates(const DeviceState& d, const double* solution,
                             const PlacedReplica* replicas, std::int64_t count, double* numbers,
                             cudaStream_t stream);
/// @param floats whether velocities are rounded to float
void launch_put_coordinates(const DeviceState& d, double* solution, const PlacedReplica* replicas,
                            std::int64_t count, bool floats, const double* numbers,
                            cudaStream_t stream);

}  // namespace tarn::gpu
