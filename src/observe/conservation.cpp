#include <algorithm>

#include "energy_drift.hpp"
#include "table_observer.hpp"
#include "tarn/core/units.hpp"

namespace tarn {
namespace {

void append_conservation(const Frame& frame, std::size_t r, std::vector<double>& values) {
  const Conservation& c = frame.conservation[r];
  values.push_back(c.energy_kcal_per_mol);
  for (const double p : c.momentum_Da_A_per_akma) {
    values.push_back(p / units::picoseconds_per_akma);
  }
  for (const double l : c.angular_momentum_Da_A2_per_akma) {
    values.push_back(l / units::picoseconds_per_akma);
  }
  values.push_back(c.constraint_max_A2);
}

/// Adds the energy drift, for runs without a thermostat: only errors of the scheme change the
/// energy.
void add_drift(TableSpec& spec, std::int64_t every, const RunInfo& info) {
  const auto drift = std::make_shared<EnergyDrift>();
  spec.prepare = [drift, first = info.first_averaged_step](const Frame& frame) {
    if (frame.step < first) return;
    std::vector<double> energies;
    for (const Conservation& c : frame.conservation) energies.push_back(c.energy_kcal_per_mol);
    drift->add(frame.replica_ids, energies);
  };
  spec.archive = [drift](io::Archive& a) { a(*drift); };
  spec.remembers = " with drift";
  spec.more_averages = [drift, interval_ps = info.time_ps(every)] {
    std::vector<AveragedQuantity> all;
    if (const auto result = drift->result()) {
      AveragedQuantity& a = all.emplace_back();
      a.table = "conservation";
      a.quantity = "energy_drift_kcal_per_mol_per_ps";
      a.mean = result->slope.mean / interval_ps;
      a.error = result->slope.error / interval_ps;
      a.independent_samples = static_cast<double>(result->replicas);
      a.samples = result->replicas;
      a.converged = result->converged;
    }
    return all;
  };
}

std::unique_ptr<Observer> make_conservation(const ObserveTable& section,
                                            const ObserverContext& info) {
  TableSpec spec;
  spec.file = "conservation";
  spec.fields = kConservation;
  spec.columns = {"energy_kcal_per_mol", "px_Da_A_per_ps",  "py_Da_A_per_ps",  "pz_Da_A_per_ps",
                  "lx_Da_A2_per_ps",     "ly_Da_A2_per_ps", "lz_Da_A2_per_ps", "constraint_max_A2"};
  spec.values_follow_from_frame = true;
  spec.append_values = append_conservation;
  if (info.baths_K.empty()) add_drift(spec, section.every, info);
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable conservation_observable() {
  return observable(&Deck::conservation, make_conservation, {"conservation.*"},
                    "; energy = Hamiltonian of the ring polymer, a sum over its beads; momenta = "
                    "means over the beads");
}

}  // namespace tarn
