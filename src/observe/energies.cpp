#include "interface/moments.hpp"
#include "observable.hpp"
#include "table_observer.hpp"
#include "tarn/core/units.hpp"

namespace tarn {
namespace {

/// Heat capacity: its kinetic part plus cov(A, U)/(k T^2), equation (53).
FluctuationSpec heat_capacity(const ObserverContext& info) {
  constexpr double k = units::boltzmann_kcal_per_mol_K;
  FluctuationSpec spec;
  spec.quantity = "heat_capacity_kcal_per_mol_K";
  spec.moments = &Frame::energy_moments;
  static_assert(EnergyMoment::kExchange == EnergyMoment::kConfigurational + 1 &&
                EnergyMoment::kExchange + 1 == EnergyMoment::kNumbers);
  spec.offset = kinetic_heat_capacity(info.system, info.potential != nullptr);
  spec.factor = [](double bath_K) { return 1.0 / (k * bath_K * bath_K); };
  return spec;
}

std::unique_ptr<Observer> make_energies(const ObserveTable& section, const ObserverContext& info) {
  const System& system = info.system;
  TableSpec spec;
  spec.file = "energies";
  spec.fields = kEnergies;
  spec.moment_fields = kEnergyMoments;
  const bool flexible = system.model.is_flexible();
  std::vector<RowColumn<Energies>> columns{
      {"potential_kcal_per_mol", &Energies::potential_kcal_per_mol, EnergyMoment::kPotential}};
  if (!info.potential) {  // it has no parts
    columns.push_back({flexible ? "intramolecular_kcal_per_mol" : "penalty_kcal_per_mol",
                       &Energies::bond_kcal_per_mol, EnergyMoment::kBondEnergy});
  }
  columns.insert(columns.end(),
                 {{"kinetic_kcal_per_mol", &Energies::kinetic_kcal_per_mol, EnergyMoment::kKinetic},
                  {"total_kcal_per_mol", &Energies::total_kcal_per_mol, EnergyMoment::kTotal},
                  {"temperature_K", &Energies::temperature_K, EnergyMoment::kTemperature}});
  set_columns<Energies>(spec, &Frame::energies, &Frame::energy_moments, columns);
  if (system.path_integral.beads > 1) {
    spec.remark =
        "; means over the beads, kinetic energy by the centroid virial, temperature of the "
        "centroids; total includes the wall";
  } else if (has_beta(system.integrator.scheme)) {
    spec.remark =
        "; total = energy conserved by the scheme, with (beta - 1/4) h^2/2 sum m a^2 and the wall";
  } else if (system.confinement.stiffness_kcal_per_mol_A2 > 0.0) {
    spec.remark = "; total includes the wall";
  }
  spec.steady_columns = {0, columns.size() - 1};
  // heat_capacity.csv has that of ring polymers.
  if (system.path_integral.beads == 1) spec.fluctuation = heat_capacity(info);
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable energies_observable() {
  return observable(&Deck::energies, make_energies, {"energies.*"});
}

}  // namespace tarn
