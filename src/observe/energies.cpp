#include <cmath>
#include <map>

#include "interface/moments.hpp"
#include "io/archive.hpp"
#include "observable.hpp"
#include "table_observer.hpp"
#include "tarn/core/units.hpp"
#include "tarn/physics/isotopes.hpp"

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
  if (system.model.has_field()) {
    columns.push_back({"field_kcal_per_mol", &Energies::field_kcal_per_mol, EnergyMoment::kField});
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

void append_geometry(const MoleculeGeometry& g, std::vector<double>& values) {
  values.insert(values.end(), {g.oh_A, g.hh_A, g.angle_degrees, g.oh_shortest_A, g.oh_longest_A});
}

std::unique_ptr<Observer> make_geometry(const ObserveTable& section, const ObserverContext& info) {
  TableSpec spec;
  spec.file = "geometry";
  spec.fields = kGeometry;
  spec.moment_fields = kGeometryMoments;
  for (const char* where : {"q_", "x_"}) {
    for (const char* column : {"oh_A", "hh_A", "angle_degrees", "oh_shortest_A", "oh_longest_A"}) {
      const auto number = static_cast<int>(spec.columns.size());
      spec.moment_columns.push_back({&Frame::geometry_moments, number});
      spec.columns.push_back(std::string(where) + column);
    }
  }
  spec.averaged_columns = spec.columns.size();
  spec.values_follow_from_frame = true;
  spec.append_values = [](const Frame& frame, std::size_t r, std::vector<double>& values) {
    append_geometry(frame.geometry[r].reported, values);
    append_geometry(frame.geometry[r].own, values);
  };
  return make_table(std::move(spec), section, info);
}

std::unique_ptr<Observer> make_path_integral(const ObserveTable& section,
                                             const ObserverContext& info) {
  TableSpec spec;
  spec.file = "path_integral";
  spec.fields = kRings;
  std::vector<RingColumn> columns(kRingColumns.begin(), kRingColumns.end());
  const auto add_isotope = [&](char symbol, double RingMeasures::*kinetic, std::string_view name,
                               std::string_view name_meV) {
    for (const auto& masses_Da : info.system.atom_masses_Da) {
      if (hydrogen_symbol(masses_Da[1]) != symbol && hydrogen_symbol(masses_Da[2]) != symbol) {
        continue;
      }
      columns.push_back({name, kinetic});
      columns.push_back({name_meV, kinetic, units::meV_per_kcal_per_mol});
      return;
    }
  };
  add_isotope('D', &RingMeasures::kinetic_d_kcal_per_mol, "kinetic_d_kcal_per_mol",
              "kinetic_d_meV");
  add_isotope('T', &RingMeasures::kinetic_t_kcal_per_mol, "kinetic_t_kcal_per_mol",
              "kinetic_t_meV");
  for (const RingColumn& column : columns) spec.columns.emplace_back(column.name);
  spec.averaged_columns = spec.columns.size();
  spec.steady_columns = {1};
  spec.remark =
      "; kinetic energies per atom by the centroid-virial estimator; potential, intramolecular = "
      "means over the beads; spring = sum over the beads; gyration2 = squared radius of gyration "
      "of the ring of an atom";
  spec.values_follow_from_frame = true;
  spec.append_values = [columns](const Frame& frame, std::size_t r, std::vector<double>& values) {
    for (const RingColumn& column : columns) values.push_back(column.of(frame.rings[r]));
  };
  return make_table(std::move(spec), section, info);
}

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

Observable energies_observable() {
  return observable(&Deck::energies, make_energies, {"energies.*"});
}
Observable geometry_observable() {
  return observable(&Deck::geometry, make_geometry, {"geometry.csv"}, "; over all beads");
}
Observable path_integral_observable() {
  return observable(&Deck::path_integral_table, make_path_integral, {"path_integral.*"});
}
Observable heat_observable() {
  return observable(&Deck::heat, make_heat, {"heat.*"},
                    "; of the ring polymer, sums over its beads");
}

}  // namespace tarn
