#include "stopped_replicas.hpp"

#include <algorithm>
#include <utility>

#include "tarn/force_field.hpp"

namespace tarn::cpu {

void StoppedReplicas::stop(Group& group, std::size_t g, int r, std::int64_t step, int molecule) {
  const int n = layout_.molecules();
  std::vector<double> x(static_cast<std::size_t>(n) * 9);
  layout_.gather(group, group.x, r, x.data());
  for (int m = 0; m < n; ++m) {
    for (int c = 0; c < 9; ++c) {
      const std::size_t k = layout_.index(group, r, m, c);
      group.x[k] = group.kept_x[k];
      group.v[k] = 0.0;
      group.a[k] = 0.0;
    }
  }
  // Padding lanes, and replicas that were stopped before, are not reported.
  if (r >= group.replicas || group.stopped[static_cast<std::size_t>(r)]) return;
  group.stopped[static_cast<std::size_t>(r)] = 1;
  group.running[static_cast<std::size_t>(r)] = 0.0;
  StoppedReplica stopped;
  stopped.replica_of_group = r;
  stopped.blow_up.replica = static_cast<std::int64_t>(group.ids[static_cast<std::size_t>(r)]);
  stopped.blow_up.step = step;
  stopped.blow_up.molecule = molecule;
  stopped.x.resize(x.size());
  stopped.v.resize(x.size());
  layout_.gather(group, group.kept_x, r, stopped.x.data());
  layout_.gather(group, group.kept_v, r, stopped.v.data());
  if (group.tallies_heat()) {
    stopped.heat.resize(static_cast<std::size_t>(n));
    layout_.gather_heat(group, group.kept_heat, r, stopped.heat.data());
  }
  WaterModel without_bonds = model_;
  without_bonds.intramolecular = {};
  ForceField force_field(without_bonds, n);
  measure_.record_extremes(
      x, stopped.x,
      [&](const std::vector<double>& at, std::vector<double>& f) {
        force_field.energy_and_forces(at, f);
      },
      stopped.blow_up);
  by_group_[g].push_back(std::move(stopped));
}

const StoppedReplica& StoppedReplicas::find(std::size_t g, int r) const {
  return *std::find_if(by_group_[g].begin(), by_group_[g].end(),
                       [&](const StoppedReplica& s) { return s.replica_of_group == r; });
}

std::vector<BlowUp> StoppedReplicas::blow_ups() const {
  std::vector<BlowUp> all;
  for (const auto& list : by_group_) {
    for (const StoppedReplica& stopped : list) all.push_back(stopped.blow_up);
  }
  std::sort(all.begin(), all.end(),
            [](const BlowUp& a, const BlowUp& b) { return a.replica < b.replica; });
  return all;
}

}  // namespace tarn::cpu
