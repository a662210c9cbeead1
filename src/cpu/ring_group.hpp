#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "kernel_table.hpp"
#include "layout.hpp"
#include "ring_tables.hpp"
#include "tarn/engine.hpp"

namespace tarn::cpu {

/// Indices of molecules in the packs of ring polymers. A slot is a mode or a bead of one of them.
struct RingLayout {
  int molecules, beads, lanes;

  std::size_t coordinates() const { return 9 * static_cast<std::size_t>(molecules); }
  /// Place of coordinate c of molecule m of a slot.
  std::size_t at(int slot, int m, int c) const {
    return pack_index(lanes, static_cast<std::size_t>(slot / lanes * molecules + m), c,
                      slot % lanes);
  }
  std::size_t heat_at(int slot, int m) const {
    return static_cast<std::size_t>((slot / lanes * molecules + m) * lanes + slot % lanes);
  }
  /// Copies the 9 N numbers of a slot.
  void gather(const AlignedVector<double>& packs, int slot, double* out) const {
    for (int m = 0; m < molecules; ++m) {
      for (int c = 0; c < 9; ++c) out[9 * m + c] = packs[at(slot, m, c)];
    }
  }
  void gather_heat(const AlignedVector<double>& packs, int slot, double* out) const {
    for (int m = 0; m < molecules; ++m) out[m] = packs[heat_at(slot, m)];
  }
};

/// The ring polymer of one replica.
struct Ring {
  std::int64_t id = 0;
  const RingTable* table = nullptr;
  int group = 0, first_slot = 0;
  bool stopped = false;
  BlowUp blow_up;
  /// The last good state of a stopped ring polymer, [mode][molecule][9] and [mode][molecule].
  std::vector<double> last_q, last_v, last_heat;
};

/// Ring polymers that are stepped together, their modes one after another in the slots of packs.
struct RingGroup {
  int first_ring = 0, rings = 0;
  int packs = 0;                    ///< of slots
  AlignedVector<double> q, v, f;    ///< [pack][molecule][9][lane]
  AlignedVector<double> v_thermal;  ///< with BAOAB; NaN before the first noise
  AlignedVector<double> heat;       ///< [pack][molecule][lane]; empty if not tallied
  AlignedVector<double> kept_q, kept_v, kept_heat;  ///< the last good state
  // By slot:
  std::array<AlignedVector<double>, 7> constants;  ///< in the order of RingConstants
  AlignedVector<double> bad;
  AlignedVector<std::uint64_t> replica_ids, first_numbers;

  void allocate(const RingLayout& layout, int slots, bool baoab, bool tallies_heat) {
    packs = slots / layout.lanes;
    const auto n = static_cast<std::size_t>(slots);
    const std::size_t size = n * layout.coordinates();
    for (AlignedVector<double>* numbers : {&q, &v, &f}) numbers->assign(size, 0.0);
    if (baoab) v_thermal.assign(size, kNoNumber);
    if (tallies_heat) heat.assign(size / 9, 0.0);
    for (AlignedVector<double>& numbers : constants) numbers.assign(n, 0.0);
    bad.assign(n, 0.0);
    replica_ids.assign(n, 0);
    first_numbers.assign(n, 0);
  }
  void set_mode(const RingLayout& layout, int slot, std::int64_t replica, int mode,
                const RingMode& m) {
    const auto k = static_cast<std::size_t>(slot);
    const double numbers[] = {m.cosine,     m.sine_over_omega, m.omega_sine, m.ou.decay_o,
                              m.ou.decay_h, m.ou.kick_o,       m.ou.kick_h};
    for (std::size_t i = 0; i < constants.size(); ++i) constants[i][k] = numbers[i];
    replica_ids[k] = static_cast<std::uint64_t>(replica);
    first_numbers[k] =
        static_cast<std::uint64_t>(mode) * static_cast<std::uint64_t>(layout.molecules);
  }
  RingConstants ring_constants() const {
    return {constants[0].data(), constants[1].data(), constants[2].data(), constants[3].data(),
            constants[4].data(), constants[5].data(), constants[6].data()};
  }
  void keep() {
    kept_q = q;
    kept_v = v;
    kept_heat = heat;
  }
  /// Makes the slots of one ring polymer repeat those of another one.
  void repeat(const RingLayout& layout, int from, int to) {
    for (int mode = 0; mode < layout.beads; ++mode) {
      for (AlignedVector<double>* numbers : {&q, &v, &f, &v_thermal, &kept_q, &kept_v}) {
        if (numbers->empty()) continue;
        for (int m = 0; m < layout.molecules; ++m) {
          for (int c = 0; c < 9; ++c) {
            (*numbers)[layout.at(to + mode, m, c)] = (*numbers)[layout.at(from + mode, m, c)];
          }
        }
      }
      const auto source = static_cast<std::size_t>(from + mode),
                 target = static_cast<std::size_t>(to + mode);
      for (AlignedVector<double>& numbers : constants) numbers[target] = numbers[source];
      replica_ids[target] = replica_ids[source];
    }
  }
};

}  // namespace tarn::cpu
