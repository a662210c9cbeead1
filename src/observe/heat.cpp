#include <cmath>
#include <map>

#include "io/archive.hpp"
#include "table_observer.hpp"

namespace tarn {
namespace {

/// Reference values of a replica: energy minus heat at its first row, and at the first row after
/// equilibration. Shadow work and its rate are measured from them.
struct InitialEnergies {
  double first = 0.0, averaged = 0.0;

  void archive(io::Archive& a) { a(first, averaged); }
};
using InitialEnergiesById = std::map<std::int64_t, InitialEnergies>;  // by replica id

std::unique_ptr<Observer> make_heat(const ObserveTable& section, const ObserverContext& info) {
  const auto initial = std::make_shared<InitialEnergiesById>();
  const std::int64_t every = section.every;
  const std::int64_t averaged_step = (info.first_averaged_step + every - 1) / every * every;
  TableSpec spec;
  spec.file = "heat";
  spec.fields = kEnergies | kHeat;
  spec.columns = {"heat_kcal_per_mol", "shadow_work_kcal_per_mol",
                  "shadow_work_kcal_per_mol_per_ps", "conserved_kcal_per_mol"};
  spec.result_columns = 3;
  spec.first_result_step = averaged_step + 1;  // a rate needs two rows
  spec.append_values = [=](const Frame& frame, std::size_t r, std::vector<double>& values) {
    const Energies& e = frame.energies[r];
    const double heat = frame.heat_kcal_per_mol[r];
    const double physical = e.physical_kcal_per_mol - heat;
    InitialEnergies& of =
        initial->try_emplace(frame.replica_ids[r], InitialEnergies{physical, physical})
            .first->second;
    if (frame.step == averaged_step) of.averaged = physical;
    const std::int64_t steps = frame.step - averaged_step;
    const double rate = steps > 0 ? (physical - of.averaged) / info.time_ps(steps) : std::nan("");
    // The total energy of a ring polymer is an estimator, which is not conserved.
    const double conserved = frame.beads > 1 ? physical : e.total_kcal_per_mol - heat;
    values.insert(values.end(), {heat, physical - of.first, rate, conserved});
  };
  spec.archive = [initial](io::Archive& a) { a(*initial); };
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable heat_observable() {
  return observable(&Deck::heat, make_heat, {"heat.*"},
                    "; of the ring polymer, sums over its beads");
}

}  // namespace tarn
