#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cluster_program.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/layout.hpp"
#include "physics/noise.hpp"

/// @file
/// Device memory of the replicas, and functions that load and store one molecule.

namespace tarn::gpu {

/// blow_molecule and blow_step of a running replica.
inline constexpr int kNoMolecule = 0x7fffffff;
inline constexpr long long kNoStep = 0x7fffffffffffffff;

/// Pointers to device memory. Coordinate arrays are [coordinate][slot].
struct DeviceState {
  std::int64_t slots;
  std::int64_t replicas;
  int molecules;
  int copies;        ///< modes of a ring polymer, each like a replica: [replica][mode]; else 1
  int per_warp;      ///< clusters per warp on the warp path, else 0
  int adjacent = 1;  ///< copies of a molecule in adjacent slots: all on the path ring_memory
  double *x, *v;
  double* a;                         ///< null: accelerations are not measured
  double* v_thermal;                 ///< with BAOAB, else null; NaN before the first noise
  double *kept_x, *kept_v;           ///< the last kept state
  double* f;                         ///< forces without those of the bonds; on beads all forces
  const std::uint64_t* ids;          ///< [replica]
  const double* kick_scale;          ///< [replica]
  int* stopped;                      ///< [replica]
  long long* blow_step;              ///< [replica]
  int* blow_molecule;                ///< [replica]
  unsigned long long* iterations;    ///< one number, summed over molecules and steps
  unsigned long long* indefinite;    ///< one number
  double *heat, *kept_heat;          ///< [slot]; null if not tallied
  double mass_o_Da, mass_h_Da;       ///< for the heat, always in double
  unsigned long long* stage_cycles;  ///< [Stage], see StageClock
  const double* bias_centres;        ///< [bias][replica]
};

/// Counts the cycles of the stages in one step of kTimedSteps, by the first thread of each block.
/// Marks slow all steps of a kernel down by up to a tenth, so kernels without a tally have none;
/// see with_tally(). The time of the previous mark is in shared memory: a register that is live
/// during the pair loop would cost more than all marks.
inline constexpr std::int64_t kTimedSteps = 1024;
template <bool kTally>
struct StageClock {
  unsigned long long* cycles;
  bool on;

  __device__ StageClock(const DeviceState& d, std::int64_t step)
      : cycles(d.stage_cycles),
        on((step & (kTimedSteps - 1)) == 0 && threadIdx.x == 0 && threadIdx.y == 0) {}
  __device__ void begin() const {
    if constexpr (kTally) {
      if (on) last() = clock64();
    }
  }
  __device__ void end([[maybe_unused]] Stage stage) const {
    if constexpr (kTally) {
      if (!on) return;
      const long long now = clock64();
      atomicAdd(cycles + static_cast<int>(stage), static_cast<unsigned long long>(now - last()));
      last() = now;
    }
  }

 private:
  __device__ static long long& last() {
    TARN_SHARED(time, long long);
    return time;
  }
};

/// Pair distances to be counted, and where.
struct DeviceCounts {
  bool pairs[3];
  double bh2;  ///< distances are those of x + bh2 a
  double bins_per_A;
  int bins, groups;
  const int* by_group;          ///< places of the replicas, those of group 0 first
  const int* begins;            ///< [group + 1]: where those of a group begin there
  int most_in_group;            ///< replicas
  unsigned long long* counts;   ///< [group][class][bin]
  unsigned long long* samples;  ///< [group]
};

/// Loads and stores of nine coordinates; the types in memory (P) and in registers (T) may differ.
template <class T = double, class P>
__device__ inline Triple<T> load_triple(const P* c, std::int64_t slots, std::int64_t slot) {
  const P* p = c + slot;
  const auto number = [&](int k) { return static_cast<T>(p[k * slots]); };
  return {{number(0), number(1), number(2)},
          {number(3), number(4), number(5)},
          {number(6), number(7), number(8)}};
}
template <class T = double, class P>
__device__ inline void store_triple(const Triple<T>& t, P* c, std::int64_t slots,
                                    std::int64_t slot) {
  P* p = c + slot;
  const auto put = [&](int k, T number) { p[k * slots] = static_cast<P>(number); };
  put(0, t.o.x);
  put(1, t.o.y);
  put(2, t.o.z);
  put(3, t.h1.x);
  put(4, t.h1.y);
  put(5, t.h1.z);
  put(6, t.h2.x);
  put(7, t.h2.y);
  put(8, t.h2.z);
}

template <class T, class P>
__device__ inline Vec3<T> load_vector(const P* c, std::int64_t slots, std::int64_t slot) {
  const auto number = [&](int k) { return static_cast<T>(c[k * slots + slot]); };
  return {number(0), number(1), number(2)};
}
template <class T, class P>
__device__ inline void store_vector(const Vec3<T>& v, P* c, std::int64_t slots, std::int64_t slot) {
  c[slot] = static_cast<P>(v.x);
  c[slots + slot] = static_cast<P>(v.y);
  c[2 * slots + slot] = static_cast<P>(v.z);
}

/// Slot of a molecule of a mode of a ring polymer.
__device__ inline std::int64_t mode_slot(const DeviceState& modes, std::int64_t replica, int mode,
                                         int molecule) {
  return replica * modes.copies * modes.molecules +
         (modes.adjacent > 1 ? molecule * modes.copies + mode : mode * modes.molecules + molecule);
}
/// Slot of a molecule on any path.
__device__ inline std::int64_t device_slot(const DeviceState& d, std::int64_t replica,
                                           int molecule) {
  return slot_of(replica, molecule, d.molecules, d.per_warp);
}

/// The state of a molecule in precision S; the state in memory is always in double.
template <class S>
using DeviceMolecule = typename StateInMemory<S>::type;
template <class S = double>
__device__ inline DeviceMolecule<S> load_state(const DeviceState& d, std::int64_t slot) {
  return StateInMemory<S>::of({load_triple(d.x, d.slots, slot), load_triple(d.v, d.slots, slot),
                               load_triple(d.a, d.slots, slot)});
}
/// Stores positions and velocities.
template <class M>
__device__ inline void store_moved(const M& state, const DeviceState& d, std::int64_t slot) {
  const MoleculeState<double> s = in_double(state);
  store_triple(s.x, d.x, d.slots, slot);
  store_triple(s.v, d.v, d.slots, slot);
}
template <class M>
__device__ inline void store_state(const M& state, const DeviceState& d, std::int64_t slot) {
  store_moved(state, d, slot);
  store_triple(state.a, d.a, d.slots, slot);
}
template <class M>
__device__ inline void keep_state(const M& state, const DeviceState& d, std::int64_t slot) {
  const MoleculeState<double> s = in_double(state);
  store_triple(s.x, d.kept_x, d.slots, slot);
  store_triple(s.v, d.kept_v, d.slots, slot);
}
/// Adds the heat of a thermostat step to that of the molecule in a slot; see thermostat_penalised.
struct HeatTally {
  double* heat;
  double mass_o_Da, mass_h_Da;

  template <class T>
  __device__ void operator()(const Triple<T>& before, const Triple<T>& after) const {
    if (heat == nullptr) return;
    *heat += ou_heat(mass_o_Da, mass_h_Da, widened(before), widened(after));
  }
};
/// The tally of the thermostat steps: HeatTally or NoTally.
template <bool kHeat>
__device__ inline auto heat_tally(const DeviceState& d, std::int64_t slot) {
  if constexpr (kHeat) {
    return HeatTally{d.heat == nullptr ? nullptr : d.heat + slot, d.mass_o_Da, d.mass_h_Da};
  } else {
    return NoTally{};
  }
}
template <bool kHeat>
__device__ inline void keep_heat(const DeviceState& d, std::int64_t slot) {
  if constexpr (kHeat) {
    if (d.heat != nullptr) d.kept_heat[slot] = d.heat[slot];
  }
}
/// Calls op<kHeat>().
template <class Op>
void with_heat(const DeviceState& d, const Op& op) {
  d.heat != nullptr ? op.template operator()<true>() : op.template operator()<false>();
}
/// Calls op<kTally>(first, n) for the launches of n steps. With a tally of heat, all steps are one
/// launch; else each timed step is a separate launch, with a tally.
template <class Op>
void with_tally(const DeviceState& d, std::int64_t first, std::int64_t n, const Op& op) {
  if (d.heat != nullptr) return op.template operator()<true>(first, n);
  const std::int64_t timed = (first + kTimedSteps - 1) / kTimedSteps * kTimedSteps;
  const std::int64_t before = std::min(n, timed - first);
  if (before > 0) op.template operator()<false>(first, before);
  if (before == n) return;
  op.template operator()<true>(timed, 1);
  if (before + 1 < n) op.template operator()<false>(timed + 1, n - before - 1);
}
/// The state of a stopped replica: kept positions, zero velocities and accelerations.
template <class S>
__device__ inline DeviceMolecule<S> stopped_state(const DeviceState& d, std::int64_t slot) {
  return StateInMemory<S>::of({load_triple(d.kept_x, d.slots, slot), {}, {}});
}

/// Marks the replica of a bad molecule; the molecule with the lowest number is reported. The mark
/// takes effect in the next step, so that all molecules of the replica are checked.
__device__ inline void mark_if(bool bad, const DeviceState& d, std::int64_t replica, int molecule,
                               std::int64_t step) {
  if (!bad) return;
  atomicMin(d.blow_step + replica, static_cast<long long>(step));
  atomicMin(d.blow_molecule + replica, molecule);
}
/// Whether the initial accelerations are finite. c - c is 0 for finite numbers only.
template <class M>
__device__ inline bool has_finite_accelerations(const M& s) {
  using S = decltype(s.v.o.x);
  const Vec3<S> none = total(fma(S(0), s.v, s.a - s.a));
  return none.x + none.y + none.z == S(0);
}

template <class T>
__device__ inline Triple<T> noise_of(std::uint64_t seed, std::uint64_t id, int molecule,
                                     std::int64_t step) {
  const MoleculeNormals z =
      molecule_normals(seed, id, static_cast<std::uint64_t>(molecule),
                       static_cast<std::uint64_t>(step), NoiseStream::thermostat);
  return load_triple<T>(z.xi, 1, 0);
}

/// Adds the sum of an integer over the 32 lanes to a number in memory.
__device__ inline void add_over_warp(unsigned long long value, unsigned long long* to) {
  for (int o = 16; o > 0; o /= 2) value += __shfl_xor_sync(0xffffffffu, value, o);
  if (threadIdx.x % kWarpLanes == 0 && value > 0) atomicAdd(to, value);
}

}  // namespace tarn::gpu
