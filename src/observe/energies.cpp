#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "analysis/blocking.hpp"
#include "energy_drift.hpp"
#include "interface/moments.hpp"
#include "io/archive.hpp"
#include "observable.hpp"
#include "table_observer.hpp"
#include "tarn/analysis/convergence.hpp"
#include "tarn/core/units.hpp"
#include "tarn/physics/isotopes.hpp"

namespace tarn {
namespace {

/// Heat capacity: its kinetic part plus cov(A, U)/(k T^2), equation (53).
FluctuationSpec heat_capacity(const ObserverContext& info) {
  constexpr double k = units::boltzmann_kcal_per_mol_K;
  static_assert(EnergyMoment::kExchange == EnergyMoment::kConfigurational + 1 &&
                EnergyMoment::kExchange + 1 == EnergyMoment::kNumbers);
  return {"heat_capacity_kcal_per_mol_K", &Frame::energy_moments,
          kinetic_heat_capacity(info.system, info.potential != nullptr),
          [](double bath_K) { return 1.0 / (k * bath_K * bath_K); }};
}

std::unique_ptr<Observer> make_energies(const ObserveTable& section, const ObserverContext& info) {
  const System& system = info.system;
  TableSpec spec{.file = "energies", .fields = kEnergies, .moment_fields = kEnergyMoments};
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
  TableSpec spec{.file = "geometry", .fields = kGeometry, .moment_fields = kGeometryMoments};
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
  TableSpec spec{.file = "path_integral", .fields = kRings, .steady_columns = {1}};
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
  TableSpec spec{.file = "heat",
                 .fields = kEnergies | kHeat,
                 .columns = {"heat_kcal_per_mol", "shadow_work_kcal_per_mol",
                             "shadow_work_kcal_per_mol_per_ps", "conserved_kcal_per_mol"},
                 .result_columns = 3,
                 .first_result_step = averaged_step + 1};  // a rate needs two rows
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

/// Writes or reads samples and the numbers of each pair, by replica.
/// @param molecules number per replica @throws LayoutError if the saved number differs
void archive_sums(LindemannSums& sums, std::size_t molecules, io::Archive& a) {
  const std::size_t pairs = molecules * (molecules - 1) / 2;
  std::uint64_t replicas = sums.replica_ids.size();
  a(replicas);
  if (a.is_reading()) sums = {};
  for (std::size_t r = 0; r < replicas; ++r) {
    if (a.is_reading()) sums.replica_ids.push_back(0);
    a(sums.replica_ids[r], sums.samples);
    for (std::vector<double>* numbers : {&sums.means_A, &sums.squares_A2}) {
      if (a.is_reading()) numbers->resize((r + 1) * pairs);
      auto of_replica = std::span(*numbers).subspan(r * pairs, pairs);
      a.fixed(of_replica);
    }
  }
}

std::unique_ptr<Observer> make_cluster(const ObserveCluster& section, const ObserverContext& info) {
  TableSpec spec{.file = "cluster", .fields = kShape, .moment_fields = kShapeMoments};
  std::vector<RowColumn<ClusterMeasures>> columns{
      {"radius_of_gyration_A", &ClusterMeasures::radius_of_gyration_A, 0},
      {"hydrogen_bonds", &ClusterMeasures::hydrogen_bonds, 1},
      {"farthest_neighbour_A", &ClusterMeasures::farthest_neighbour_A, 2}};
  if (!info.potential) {  // it has no charges
    columns.push_back({"dipole_D", &ClusterMeasures::dipole_D, 3});
  }
  if (!info.potential && !info.system.model.is_many_body()) {
    columns.push_back({"molecule_dipole_D", &ClusterMeasures::molecule_dipole_D, 4});
  }
  columns.push_back({"farthest_oxygen_A", &ClusterMeasures::farthest_oxygen_A, 5});
  if (info.system.model.has_field()) {
    columns.insert(columns.end(), {{"dipole_x_D", &ClusterMeasures::dipole_x_D, 6},
                                   {"dipole_y_D", &ClusterMeasures::dipole_y_D, 7},
                                   {"dipole_z_D", &ClusterMeasures::dipole_z_D, 8}});
  }
  set_columns<ClusterMeasures>(spec, &Frame::shape, &Frame::shape_moments, columns);
  if (section.lindemann) {
    spec.fields |= kLindemann;
    spec.moment_fields |= kLindemannMoments;
    spec.moment_columns.push_back({&Frame::lindemann_moments, 0});
    spec.columns.push_back("lindemann");
    spec.append_values = [of_shape = spec.append_values](const Frame& frame, std::size_t r,
                                                         std::vector<double>& values) {
      of_shape(frame, r, values);
      values.push_back(frame.lindemann[r]);
    };
    spec.result_columns = 1;
    spec.results_settle = true;
    const auto sums = std::make_shared<LindemannSums>();
    spec.accumulated = kLindemannSums;
    const LindemannRequest request{true, section.every, info.first_averaged_step};
    spec.configure = [=](MeasureSettings& settings) {
      settings.lindemann = request;
      settings.lindemann_sums = *sums;
    };
    spec.catch_up = [sums](const Frame& frame) { *sums = frame.lindemann_sums; };
    spec.archive = [=, molecules = static_cast<std::size_t>(info.molecules)](io::Archive& a) {
      archive_sums(*sums, molecules, a);
    };
  }
  return make_table(std::move(spec), section, info);
}

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
      all.push_back({"conservation", "energy_drift_kcal_per_mol_per_ps",
                     result->slope.mean / interval_ps, result->slope.error / interval_ps,
                     std::nullopt, static_cast<double>(result->replicas), result->replicas,
                     result->converged});
    }
    return all;
  };
}

std::unique_ptr<Observer> make_conservation(const ObserveTable& section,
                                            const ObserverContext& info) {
  TableSpec spec{.file = "conservation", .fields = kConservation};
  spec.columns = {"energy_kcal_per_mol", "px_Da_A_per_ps",  "py_Da_A_per_ps",  "pz_Da_A_per_ps",
                  "lx_Da_A2_per_ps",     "ly_Da_A2_per_ps", "lz_Da_A2_per_ps", "constraint_max_A2"};
  spec.values_follow_from_frame = true;
  spec.append_values = append_conservation;
  if (info.baths_K.empty()) add_drift(spec, section.every, info);
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
Observable cluster_observable() {
  return observable(&Deck::cluster, make_cluster, {"cluster.*"}, "; of the centroids");
}
Observable conservation_observable() {
  return observable(&Deck::conservation, make_conservation, {"conservation.*"},
                    "; energy = Hamiltonian of the ring polymer, a sum over its beads; momenta = "
                    "means over the beads");
}

void EnergyDrift::add(std::span<const std::int64_t> ids, std::span<const double> values) {
  if (full_blocks() == kMost) {
    for (auto& [id, of] : of_replica_) {
      for (std::size_t b = 0; 2 * b + 1 < of.sums.size(); ++b) {
        of.sums[b] = of.sums[2 * b] + of.sums[2 * b + 1];
      }
      of.sums.resize(of.sums.size() / 2);
    }
    length_ *= 2;
  }
  const bool begins = samples_ % length_ == 0;
  for (std::size_t r = 0; r < ids.size(); ++r) {
    Sums& of = of_replica_.try_emplace(ids[r], Sums{values[r]}).first->second;
    if (begins) of.sums.push_back(0.0);
    of.sums.back() += values[r] - of.first;
  }
  ++samples_;
  last_ids_.assign(ids.begin(), ids.end());
}

std::optional<EnergyDrift::Result> EnergyDrift::result() const {
  const std::size_t blocks = full_blocks();
  if (blocks < 3 || last_ids_.empty()) return std::nullopt;
  const auto length = static_cast<double>(length_);
  std::vector<double> times(blocks), means(blocks), slopes;
  for (std::size_t b = 0; b < blocks; ++b) times[b] = length * static_cast<double>(b);
  analysis::LineFit line;
  for (const std::int64_t id : last_ids_) {
    const Sums& of = of_replica_.at(id);
    for (std::size_t b = 0; b < blocks; ++b) means[b] = of.sums[b] / length;
    line = analysis::fit_line(times, means);
    slopes.push_back(line.slope);
  }
  Result result{analysis::mean_and_error(slopes), std::ssize(slopes)};
  if (slopes.size() > 1) return result;
  const double middle = 0.5 * (times.front() + times.back());
  double squares = 0.0, spread = 0.0;
  for (std::size_t b = 0; b < blocks; ++b) {
    means[b] -= line.intercept + line.slope * times[b];
    squares += means[b] * means[b];
    spread += (times[b] - middle) * (times[b] - middle);
  }
  const analysis::Blocking scatter = analysis::blocking(means);
  result.slope.error = std::sqrt(squares / static_cast<double>(blocks - 2) / spread * 2.0 *
                                 scatter.autocorrelation_time);
  result.converged = scatter.converged;
  return result;
}

}  // namespace tarn
