#include "stopped_replicas.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/force_field.hpp"

namespace tarn::cpu {

void StoppedReplicas::stop(Group& group, std::size_t g, int r, std::int64_t step, int molecule) {
  const int n = layout_.molecules();
  std::vector<double> x(static_cast<std::size_t>(n * layout_.copies()) * 9);
  layout_.gather(group, group.x, r, x.data());
  for (int slot = layout_.first_slot(r); slot < layout_.first_slot(r + 1); ++slot) {
    for (int m = 0; m < n; ++m) {
      for (int c = 0; c < 9; ++c) {
        const std::size_t k = layout_.index(group, slot, m, c);
        group.x[k] = group.kept_x[k];
        group.v[k] = 0.0;
        group.a[k] = 0.0;
      }
    }
  }
  // Padding lanes, and replicas that were stopped before, are not reported.
  if (r >= group.replicas || group.is_stopped(r)) return;
  group.stopped[r] = 1;
  --group.running_replicas;
  const auto first = static_cast<std::size_t>(layout_.first_slot(r));
  std::fill_n(group.running.begin() + layout_.first_slot(r), layout_.copies(), 0.0);
  StoppedReplica stopped;
  stopped.replica_of_group = r;
  stopped.blow_up.replica = static_cast<std::int64_t>(group.ids[first]);
  stopped.blow_up.step = step;
  stopped.blow_up.molecule = molecule;
  stopped.x.resize(x.size());
  stopped.v.resize(x.size());
  layout_.gather(group, group.kept_x, r, stopped.x.data());
  layout_.gather(group, group.kept_v, r, stopped.v.data());
  if (group.tallies_heat()) {
    stopped.heat.resize(x.size() / 9);
    layout_.gather_heat(group, group.kept_heat, r, stopped.heat.data());
  }
  if (forces_.potential() == nullptr) {
    record_extremes(x, stopped);
  } else {
    record_potential(group, r, x, stopped);
  }
  by_group_[g].push_back(std::move(stopped));
}

void StoppedReplicas::record_extremes(const std::vector<double>& x, StoppedReplica& stopped) const {
  WaterModel without_bonds = model_;
  without_bonds.intramolecular = {};
  ForceField force_field(without_bonds, layout_.molecules());
  const auto forces = [&](const std::vector<double>& at, std::vector<double>& f) {
    force_field.energy_and_forces(at, f);
  };
  if (!layout_.has_rings()) {
    return measure_.record_extremes(x, stopped.x, forces, stopped.blow_up);
  }
  // The centroids of the last good state: the modes may have begun the next step.
  std::vector<double> centroids(
      stopped.x.begin(), stopped.x.begin() + static_cast<std::ptrdiff_t>(9 * layout_.molecules()));
  for (double& c : centroids) c /= std::sqrt(static_cast<double>(layout_.copies()));
  measure_.record_extremes(centroids, centroids, forces, stopped.blow_up);
  stopped.blow_up.seen_in_last_good_state = true;
}

void StoppedReplicas::record_potential(const Group& group, int r, const std::vector<double>& x,
                                       StoppedReplica& stopped) const {
  BlowUp& blow_up = stopped.blow_up;
  blow_up.potential_was_not_finite = forces_.bad_molecule(group, r) >= 0;
  blow_up.failure = forces_.potential()->failure(group, r);
  const bool finite = std::all_of(x.begin(), x.end(), [](double c) { return std::isfinite(c); });
  blow_up.seen_in_last_good_state = !finite;
  const std::vector<double>& all = finite ? x : stopped.x;
  const auto size = static_cast<std::size_t>(9 * layout_.molecules());
  std::vector<double> centroids(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
  for (double& c : centroids) c *= layout_.centroid_scale();
  blow_up.closest = closest_atoms(centroids);
  if (blow_up.potential_was_not_finite || !finite) return;
  for (int copy = 0; copy < layout_.copies(); ++copy) {
    const double* const f = forces_.potential()->forces_on(group.first_replica + r, copy);
    const LargestForce force = largest_force(std::vector<double>(f, f + size));
    if (force.force_kcal_per_mol_A > blow_up.largest_force.force_kcal_per_mol_A) {
      blow_up.largest_force = force;
    }
  }
}

const StoppedReplica& StoppedReplicas::find(std::size_t g, int r) const {
  return *std::ranges::find(by_group_[g], r, &StoppedReplica::replica_of_group);
}

std::vector<BlowUp> StoppedReplicas::blow_ups() const {
  std::vector<BlowUp> all;
  for (const auto& list : by_group_) {
    for (const StoppedReplica& stopped : list) all.push_back(stopped.blow_up);
  }
  std::ranges::sort(all, {}, &BlowUp::replica);
  return all;
}

}  // namespace tarn::cpu
