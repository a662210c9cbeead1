#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "group.hpp"
#include "group_forces.hpp"
#include "interface/measure.hpp"
#include "tarn/engine.hpp"

namespace tarn::cpu {

/// A replica that was stopped because it blew up.
struct StoppedReplica {
  int replica_of_group;
  BlowUp blow_up;
  std::vector<double> x, v;  ///< last good state, [copy][molecule][9]
  std::vector<double> heat;  ///< [copy][molecule], of the last good state; empty if not tallied
};

/// The first molecule of replica r with a copy for which is_bad(slot, molecule) is true, or -1.
template <class IsBad>
int first_molecule(const GroupLayout& layout, int r, const IsBad& is_bad) {
  for (int m = 0; m < layout.molecules(); ++m) {
    for (int slot = layout.first_slot(r); slot < layout.first_slot(r + 1); ++slot) {
      if (is_bad(slot, m)) return m;
    }
  }
  return -1;
}
/// The first molecule of which a copy moves too fast or is not a number, or -1.
inline int first_fast_molecule(const GroupLayout& layout, const Group& group, int r) {
  return first_molecule(layout, r, [&](int slot, int m) {
    double square = 0.0;
    for (int c = 0; c < 9; ++c) {
      const double v = group.v[layout.index(group, slot, m, c)];
      square += v * v;
    }
    return !(square < kLargestSpeed2 * layout.copies());
  });
}

/// The stopped replicas by group, so that threads with different groups need no lock.
class StoppedReplicas {
 public:
  StoppedReplicas(const WaterModel& model, const GroupLayout& layout, const Measure& measure,
                  const GroupForces& forces, std::size_t groups)
      : model_(model), layout_(layout), measure_(measure), forces_(forces), by_group_(groups) {}

  /// Stops the replicas r of group number g whose numbers by the Potential are not finite, or that
  /// have a bad_molecule(r), not -1: saves their last good state and restores it at zero velocity,
  /// so that their lanes continue with finite numbers.
  template <class BadMolecule>
  void stop_bad(Group& group, std::size_t g, std::int64_t step, const BadMolecule& bad_molecule) {
    for (int r = 0; r < group.slots / layout_.copies(); ++r) {
      int molecule = forces_.bad_molecule(group, r);
      if (molecule < 0) molecule = bad_molecule(r);
      if (molecule >= 0) stop(group, g, r, step, molecule);
    }
  }
  const StoppedReplica& find(std::size_t g, int r) const;
  /// In order of replica.
  std::vector<BlowUp> blow_ups() const;

 private:
  void stop(Group& group, std::size_t g, int r, std::int64_t step, int molecule);
  /// @param x at the stop
  void record_extremes(const std::vector<double>& x, StoppedReplica& stopped) const;
  /// The same with a Potential: the largest force of the last call, on any bead.
  void record_potential(const Group& group, int r, const std::vector<double>& x,
                        StoppedReplica& stopped) const;

  const WaterModel& model_;
  const GroupLayout& layout_;
  const Measure& measure_;
  const GroupForces& forces_;
  std::vector<std::vector<StoppedReplica>> by_group_;
};

}  // namespace tarn::cpu
