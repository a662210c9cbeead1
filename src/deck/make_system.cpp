#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "analysis/spectrum.hpp"
#include "core/text.hpp"
#include "physics/model_table.hpp"
#include "schema.hpp"
#include "system_limits.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/physics/isotopes.hpp"

/// @file
/// Conversion of a deck to internal units.

namespace tarn {
namespace {

// Largest number of bins in all groups: 24 MB per thread for all pair classes.
constexpr int kMaxCountedBins = 1'000'000;

IntegratorSpec integrator_spec(const IntegratorSection& section) {
  IntegratorSpec spec;
  spec.scheme = section.scheme;
  spec.timestep_akma = units::akma_from_fs(section.timestep_fs);
  spec.beta = section.beta;
  spec.omega = section.omega;
  spec.hessian = section.hessian;
  spec.solver = section.solver;
  spec.tolerance = section.tolerance;
  spec.iteration = section.iteration;
  return spec;
}

ThermostatSpec thermostat_spec(const ThermostatSection& section, const WaterModel& model) {
  ThermostatSpec spec;
  spec.kind = section.kind;
  if (section.kind == Thermostat::none) return spec;
  spec.temperatures_K = section.temperatures_K;
  // With a list, the kicks are those of the hottest replica and the others scale them down.
  spec.temperature_K = section.temperature_K ? *section.temperature_K
                                             : *std::max_element(section.temperatures_K.begin(),
                                                                 section.temperatures_K.end());
  const auto rate_per_akma = [&](double mass_Da) {
    const double rate_per_ps = section.friction_amu_per_ps ? *section.friction_amu_per_ps / mass_Da
                                                           : section.friction_per_ps.value_or(0.0);
    return units::per_akma_from_per_ps(rate_per_ps);
  };
  spec.friction_oxygen_per_akma = rate_per_akma(model.mass_o_Da);
  spec.friction_hydrogen_per_akma = rate_per_akma(model.mass_h_Da);
  return spec;
}

/// See System::zero_momentum.
bool keeps_zero_momentum(const Deck& deck) {
  const ThermostatSection& thermostat = deck.thermostat;
  const bool has_noise =
      thermostat.kind != Thermostat::none &&
      thermostat.friction_per_ps.value_or(0.0) + thermostat.friction_amu_per_ps.value_or(0.0) > 0.0;
  if (has_noise || deck.field) return false;
  const VelocityKind velocities = deck.system.velocities;
  return deck.system.remove_momentum || velocities == VelocityKind::zero ||
         (is_drawn(velocities) && !deck.system.temperature_K && bath_temperatures_K(deck).empty());
}

/// @throws InputError if the deck does not support this number of molecules
void check_molecules(const Deck& deck, int molecules) {
  const auto refuse = [&](const std::string& message) { throw InputError(deck.path, 0, message); };
  if (deck.system.molecules != 0 && deck.system.molecules != molecules) {
    refuse(fmt::format("[system] molecules = {}, but the {} has {}", deck.system.molecules,
                       deck.system.state ? "state" : "structure", molecules));
  }
  if (molecules < 1 || molecules > kMaxMolecules) {
    refuse(fmt::format("a structure of {} molecules; expected 1 to {}", molecules, kMaxMolecules));
  }
  if (const auto problem = decks::system_problem(deck, molecules)) refuse(*problem);
}

}  // namespace

bool is_flexible(const Deck& deck) {
  if (deck.system.model == kOwnModel) return deck.model && deck.model->stretch != Stretch::rigid;
  const std::optional<WaterModel> model = find_water_model(deck.system.model);
  return model && model->is_flexible();
}

WaterModel water_model(const Deck& deck) {
  std::optional<WaterModel> model = find_water_model(deck.system.model);
  if (deck.system.model == kOwnModel && deck.model) {
    const ModelSection& own = *deck.model;
    const IntramolecularModel bonds{
        own.stretch, own.stretch_stiffness_kcal_per_mol_A2.value_or(0.0),
        own.stretch_depth_kcal_per_mol.value_or(0.0), own.stretch_alpha_per_A.value_or(0.0),
        own.bend_stiffness_kcal_per_mol_rad2.value_or(0.0)};
    model = own.stretch == Stretch::rigid
                ? of_sigma_epsilon(kOwnModel, own.oh_A, own.hoh_degrees, own.sigma_A,
                                   own.epsilon_kcal_per_mol, own.charge_hydrogen_e, own.om_A)
                : flexible_model(kOwnModel, own.oh_A, own.hoh_degrees, own.sigma_A,
                                 own.epsilon_kcal_per_mol, own.charge_hydrogen_e,
                                 own.gamma.value_or(0.0), bonds);
  }
  if (!model) {
    throw InputError(deck.path, 0,
                     fmt::format("model = {} is unknown", decks::toml_string(deck.system.model)));
  }
  if (!deck.system.keep_molecule_mass) {
    model->mass_o_Da = deck.system.oxygen_mass_Da.value_or(units::mass_oxygen_Da);
    model->mass_h_Da = deck.system.hydrogen_mass_Da;
  }
  return *model;
}

WaterModel decks::model_of_dynamics(const Deck& deck) {
  WaterModel model = water_model(deck);
  if (deck.system.keep_molecule_mass) {
    const double molecule_mass_Da = model.molecule_mass_Da();
    model.mass_h_Da = deck.system.hydrogen_mass_Da;
    model.mass_o_Da = molecule_mass_Da - 2.0 * deck.system.hydrogen_mass_Da;
  }
  if (const auto& f = deck.field) {
    set_field_V_per_nm({f->x_V_per_nm, f->y_V_per_nm, f->z_V_per_nm}, model);
  }
  return model;
}

PathIntegralSpec ring_spec(const PathIntegralSection& rings) {
  return {.beads = rings.beads,
          .method = rings.method,
          .free_ring = rings.free_ring,
          .temperature_K = rings.temperature_K.value_or(0.0),
          .internal_friction = rings.internal_friction,
          .frequencies = rings.frequencies,
          .highest_wavenumber_per_cm = rings.highest_wavenumber_per_cm.value_or(0.0)};
}

BiasSpec bias_spec(const BiasSection& bias) {
  const bool contacts = bias.coordinate == BiasCoordinate::contacts;
  BiasSpec spec{
      .coordinate = bias.coordinate,
      .kind = bias.kind,
      .r0_A = bias.r0_A,
      .stiffness = contacts ? bias.stiffness_kcal_per_mol : bias.stiffness_kcal_per_mol_A2,
      .centres = contacts ? bias.centres : bias.centres_A};
  for (std::size_t k = 0; k < std::min<std::size_t>(bias.molecules.size(), 2); ++k) {
    spec.molecules[k] = static_cast<int>(bias.molecules[k]);
  }
  return spec;
}

System make_system(const Deck& deck, int molecules) {
  check_molecules(deck, molecules);
  System system;
  system.model = decks::model_of_dynamics(deck);
  system.molecules = molecules;
  system.integrator = integrator_spec(deck.integrator);
  system.thermostat = thermostat_spec(deck.thermostat, system.model);
  if (deck.confinement) {
    system.confinement = {deck.confinement->radius_A, deck.confinement->stiffness_kcal_per_mol_A2};
  }
  for (const auto& bias : {deck.bias, deck.bias_2, deck.bias_3, deck.bias_4}) {
    if (bias) system.biases.push_back(bias_spec(*bias));
  }
  // bias.csv has the coordinate of the first one.
  std::ranges::stable_partition(system.biases, &BiasSpec::has_windows);
  if (deck.path_integral) system.path_integral = ring_spec(*deck.path_integral);
  system.zero_momentum = keeps_zero_momentum(deck);
  system.seed = deck.system.seed;
  system.precision = deck.run.precision;
  system.atom_masses_Da = isotope_masses_Da(deck.system.isotopes, system.model, molecules);
  return system;
}

double push_fs2(const IntegratorSection& integrator) {
  if (!uses_pushforward(integrator.scheme)) return 0.0;
  return integrator.beta * integrator.timestep_fs * integrator.timestep_fs;
}

std::int64_t first_averaged_step(const Deck& deck) {
  return static_cast<std::int64_t>(
      decks::whole_steps(deck.run.equilibration_ps, deck.integrator.timestep_fs));
}

std::size_t spectrum_samples(const ObserveSpectrum& spectrum, double timestep_fs) {
  const double interval_fs = static_cast<double>(spectrum.every) * timestep_fs;
  return analysis::segment_samples(spectrum.resolution_per_cm,
                                   interval_fs * units::speed_of_light_cm_per_fs);
}

std::size_t correlation_lags(const ObserveCorrelation& correlation, double timestep_fs) {
  const double interval_ps = static_cast<double>(correlation.every) * timestep_fs / 1000.0;
  return static_cast<std::size_t>(std::max(1.0, std::round(correlation.length_ps / interval_ps)));
}

PairCountRequest make_pair_count_request(const Deck& deck) {
  PairCountRequest request;
  if (!deck.rdf) return request;
  request.enabled = true;
  request.pairs = deck.rdf->pairs;
  request.r_max_A = deck.rdf->r_max_A;
  request.bins = deck.rdf->bins;
  request.every = deck.rdf->every;
  request.first_step = first_averaged_step(deck);
  const std::vector<double> baths = bath_temperatures_K(deck);
  const int length = static_cast<int>(baths.size());
  if (has_several_baths(baths)) {
    // As many groups per bath as for all replicas of a run with one bath.
    const int most = std::max(1, kMaxCountedBins / request.bins / length);
    const int of_bath = (deck.system.replicas + length - 1) / length;
    request.groups = length * std::min({of_bath, request.groups, most});
  }
  return request;
}

std::vector<double> bath_temperatures_K(const Deck& deck) {
  if (deck.thermostat.kind == Thermostat::none) return {};
  if (!deck.thermostat.temperatures_K.empty()) return deck.thermostat.temperatures_K;
  return {deck.thermostat.temperature_K.value()};
}

std::size_t ladder_length(const Deck& deck) {
  const std::vector<double>& temperatures_K = deck.thermostat.temperatures_K;
  return has_several_baths(temperatures_K) ? temperatures_K.size() : 1;
}

bool has_several_baths(const std::vector<double>& baths_K) {
  return std::adjacent_find(baths_K.begin(), baths_K.end(), std::not_equal_to<>()) != baths_K.end();
}

}  // namespace tarn

namespace tarn::decks {

double whole_steps(double time_ps, double timestep_fs) {
  const double steps = time_ps * 1e3 / timestep_fs;
  const double whole = std::round(steps);
  const double round_off = 1e-9 + 1e-15 * whole;
  return std::abs(steps - whole) <= round_off ? whole : std::ceil(steps);
}

Scheme default_scheme(const Deck& deck) {
  return is_flexible(deck) ? Scheme::verlet : Scheme::settle;
}

bool moves_bonds(const Deck& deck) {
  return is_flexible(deck) ||
         (potential_kind(deck) != PotentialKind::model && deck.integrator.scheme == Scheme::verlet);
}

bool default_relax(const Deck& deck) {
  if (potential_kind(deck) != PotentialKind::model) return false;
  const bool stretches = !is_rigid(deck.integrator.scheme) && std::isfinite(deck.integrator.omega);
  return stretches && !deck.system.state && deck.system.velocities != VelocityKind::file;
}

bool default_recentre(const Deck& deck) {
  return deck.trajectory && !io::format_of(deck.trajectory->format).keeps_digits;
}

double default_highest_wavenumber_per_cm(const Deck& deck) {
  return std::ceil(kWavenumberMargin * molecule_wavenumbers_per_cm(model_of_dynamics(deck)).back());
}

std::optional<std::string> system_problem(const Deck& deck, std::int64_t molecules) {
  if (auto problem = size_problem(molecules, deck.system.replicas, beads_of(deck))) return problem;
  if (auto problem = lone_molecule_problem(deck, molecules)) return problem;
  if (auto problem = total_hessian_problem(deck.integrator, molecules)) return problem;
  for (const Rule& rule : water_schema().rules) {
    if (rule.limit == nullptr) continue;
    if (const auto problem = rule.limit(deck, molecules)) {
      return fmt::format("[{}] {}", rule.section, *problem);
    }
  }
  return std::nullopt;
}

std::size_t distinct_baths(const Deck& deck) {
  const std::vector<double>& ladder_K = deck.thermostat.temperatures_K;
  return has_several_baths(ladder_K) ? std::set(ladder_K.begin(), ladder_K.end()).size() : 1;
}

std::optional<std::string> total_hessian_problem(const IntegratorSection& integrator,
                                                 std::int64_t molecules) {
  if (integrator.scheme != Scheme::zss_stiff || integrator.hessian != Hessian::total) {
    return std::nullopt;
  }
  if (molecules <= kMaxTotalHessianMolecules) return std::nullopt;
  return fmt::format(
      "hessian = \"total\" supports at most {2} molecules, not {1}: each step factorises a {0}×{0} "
      "matrix",
      9 * molecules, molecules, kMaxTotalHessianMolecules);
}

std::optional<std::string> lone_molecule_problem(const Deck& deck, std::int64_t molecules) {
  if (molecules != 1 || !deck.system.remove_momentum) return std::nullopt;
  if (deck.thermostat.kind != Thermostat::none) return std::nullopt;
  return "remove_momentum = true stops a single molecule completely; remove it, or use two "
         "molecules or a thermostat";
}

std::optional<std::string> size_problem(std::int64_t molecules, std::int64_t replicas,
                                        std::int64_t beads) {
  const std::int64_t total = molecules * replicas * beads;
  if (total <= kMaxTotalMolecules) return std::nullopt;
  return fmt::format(
      "{2} molecules ({0} of {1}{5}) exceed the limit of {4}; positions and velocities alone would "
      "take {3:.1f} GB",
      count_text(replicas, "replica"), molecules, total, static_cast<double>(total) * 144e-9,
      kMaxTotalMolecules, beads > 1 ? fmt::format(" with {} beads", beads) : "");
}

}  // namespace tarn::decks
