#include "interface/moments.hpp"
#include "observable.hpp"
#include "table_observer.hpp"

namespace tarn {
namespace {

std::unique_ptr<Observer> make_temperatures(const ObserveTable& section,
                                            const ObserverContext& run) {
  TableSpec spec{.file = "temperatures", .fields = kEnergies, .moment_fields = kEnergyMoments};
  set_columns<Energies>(
      spec, &Frame::energies, &Frame::energy_moments,
      {{"translation_K", &Energies::temperature_translation_K, EnergyMoment::kTranslation},
       {"rotation_K", &Energies::temperature_rotation_K, EnergyMoment::kRotation},
       {"bond_K", &Energies::temperature_bond_K, EnergyMoment::kBonds}});
  return make_table(std::move(spec), section, run);
}

}  // namespace

Observable temperatures_observable() {
  return observable(&Deck::temperatures, make_temperatures, {"temperatures.csv"},
                    "; of the centroids");
}

}  // namespace tarn
