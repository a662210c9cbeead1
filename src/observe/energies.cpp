#include "interface/moments.hpp"
#include "makers.hpp"
#include "table_observer.hpp"
#include "tarn/core/units.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

void append_energies(const Frame& frame, std::size_t r, std::vector<double>& values) {
  const Energies& e = frame.energies[r];
  values.insert(values.end(), {e.potential_kcal_per_mol, e.bond_kcal_per_mol,
                               e.kinetic_kcal_per_mol, e.total_kcal_per_mol, e.temperature_K});
}

/// Heat capacity: its kinetic part plus cov(A, U)/(k T^2), equation (53).
FluctuationSpec heat_capacity(const System& system) {
  constexpr double k = units::boltzmann_kcal_per_mol_K;
  FluctuationSpec spec;
  spec.quantity = "heat_capacity_kcal_per_mol_K";
  spec.moments = &Frame::energy_moments;
  static_assert(EnergyMoment::kExchange == EnergyMoment::kConfigurational + 1 &&
                EnergyMoment::kExchange + 1 == EnergyMoment::kNumbers);
  spec.offset = kinetic_heat_capacity(system);
  spec.factor = [](double bath_K) { return 1.0 / (k * bath_K * bath_K); };
  return spec;
}

}  // namespace

std::unique_ptr<Observer> make_energies(const ObserveEnergies& section, const Deck& deck,
                                        const RunInfo& info) {
  const System system = make_system(deck, info.molecules);
  TableSpec spec;
  spec.file = "energies";
  spec.fields = kEnergies;
  spec.columns = {
      "potential_kcal_per_mol",
      system.model.is_flexible() ? "intramolecular_kcal_per_mol" : "penalty_kcal_per_mol",
      "kinetic_kcal_per_mol", "total_kcal_per_mol", "temperature_K"};
  spec.averaged_columns = spec.columns.size();
  spec.moment_fields = kEnergyMoments;
  for (const int number :
       {EnergyMoment::kPotential, EnergyMoment::kBondEnergy, EnergyMoment::kKinetic,
        EnergyMoment::kTotal, EnergyMoment::kTemperature}) {
    spec.moment_columns.push_back({&Frame::energy_moments, number});
  }
  if (system.path_integral.beads > 1) {
    spec.remark =
        "; means over the beads, kinetic energy by the centroid virial, temperature of the "
        "centroids; total includes the wall";
  } else if (has_beta(deck.integrator.scheme)) {
    spec.remark =
        "; total = energy conserved by the scheme, with (beta - 1/4) h^2/2 sum m a^2 and the wall";
  } else if (deck.confinement) {
    spec.remark = "; total includes the wall";
  }
  spec.steady_columns = {0, 4};
  spec.values_follow_from_frame = true;
  spec.append_values = append_energies;
  // dE/dT at a fixed number of beads is not the heat capacity.
  if (system.path_integral.beads == 1) spec.fluctuation = heat_capacity(system);
  spec.draw = draw_energies;
  return std::make_unique<TableObserver>(spec, section.every, section.replicas, info);
}

}  // namespace tarn
