#include "interface/moments.hpp"
#include "makers.hpp"
#include "table_observer.hpp"

namespace tarn {

std::unique_ptr<Observer> make_temperatures(const ObserveTemperatures& section,
                                            const RunInfo& info) {
  TableSpec spec;
  spec.file = "temperatures";
  spec.fields = kEnergies;
  spec.columns = {"translation_K", "rotation_K", "bond_K"};
  spec.averaged_columns = spec.columns.size();
  spec.moment_fields = kEnergyMoments;
  for (const int number :
       {EnergyMoment::kTranslation, EnergyMoment::kRotation, EnergyMoment::kBonds}) {
    spec.moment_columns.push_back({&Frame::energy_moments, number});
  }
  spec.values_follow_from_frame = true;
  spec.append_values = [](const Frame& frame, std::size_t r, std::vector<double>& values) {
    const Energies& e = frame.energies[r];
    values.insert(values.end(),
                  {e.temperature_translation_K, e.temperature_rotation_K, e.temperature_bond_K});
  };
  return std::make_unique<TableObserver>(spec, section.every, section.replicas, info);
}

}  // namespace tarn
