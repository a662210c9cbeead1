#include "makers.hpp"
#include "table_observer.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

void append_energies(const Frame& frame, std::size_t r, std::vector<double>& values) {
  const Energies& e = frame.energies[r];
  values.insert(values.end(), {e.potential_kcal_per_mol, e.penalty_kcal_per_mol,
                               e.kinetic_kcal_per_mol, e.total_kcal_per_mol, e.temperature_K});
}

}  // namespace

std::unique_ptr<Observer> make_energies(const ObserveEnergies& section, const RunInfo& info) {
  TableSpec spec;
  spec.file = "energies";
  spec.fields = kEnergies;
  spec.columns = {"potential_kcal_per_mol", "penalty_kcal_per_mol", "kinetic_kcal_per_mol",
                  "total_kcal_per_mol", "temperature_K"};
  spec.averaged_columns = spec.columns.size();
  spec.append_values = append_energies;
  spec.draw = draw_energies;
  return std::make_unique<TableObserver>(spec, section.every, section.replicas, info);
}

}  // namespace tarn
