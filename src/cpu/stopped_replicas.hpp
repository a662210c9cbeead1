#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "group.hpp"
#include "interface/measure.hpp"
#include "tarn/engine.hpp"

namespace tarn::cpu {

/// A replica that was stopped because it blew up.
struct StoppedReplica {
  int replica_of_group;
  BlowUp blow_up;
  std::vector<double> x, v;  ///< last good state
  std::vector<double> heat;  ///< [molecule], of the last good state; empty if not tallied
};

/// The stopped replicas by group, so that threads with different groups need no lock.
class StoppedReplicas {
 public:
  StoppedReplicas(const WaterModel& model, const GroupLayout& layout, const Measure& measure,
                  std::size_t groups)
      : model_(model), layout_(layout), measure_(measure), by_group_(groups) {}

  /// Stops the replicas of group number g in which `motion` (of the coordinate at an index) is too
  /// large or NaN: saves their last good state and restores it at zero velocity, so that their
  /// lanes continue with finite numbers.
  template <class Motion>
  void stop_bad(Group& group, std::size_t g, std::int64_t step, const Motion& motion) {
    for (int r = 0; r < group.slots; ++r) {
      const int molecule = bad_molecule(group, r, motion);
      if (molecule < 0) continue;
      stop(group, g, r, step, molecule);
    }
  }
  const StoppedReplica& find(std::size_t g, int r) const;
  /// In order of replica.
  std::vector<BlowUp> blow_ups() const;

 private:
  /// The first molecule that moves too fast, or -1.
  template <class Motion>
  int bad_molecule(const Group& group, int r, const Motion& motion) const {
    for (int m = 0; m < layout_.molecules(); ++m) {
      double square = 0.0;
      for (int c = 0; c < 9; ++c) {
        const double v = motion(layout_.index(group, r, m, c));
        square += v * v;
      }
      if (!(square < kLargestSpeed2)) return m;
    }
    return -1;
  }
  void stop(Group& group, std::size_t g, int r, std::int64_t step, int molecule);

  const WaterModel& model_;
  const GroupLayout& layout_;
  const Measure& measure_;
  std::vector<std::vector<StoppedReplica>> by_group_;
};

}  // namespace tarn::cpu
