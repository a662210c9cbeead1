#include "notes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "core/text.hpp"
#include "physics/model_table.hpp"
#include "physics/ring_frequencies.hpp"
#include "physics/ring_polymer.hpp"
#include "schema.hpp"
#include "system_limits.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn::decks {
namespace {

/// Smallest number of steps per period of a molecule in the wall.
constexpr double kMinSteps = 10.0;
/// Shorter steps are usually picoseconds by mistake.
constexpr double kShortStep_fs = 0.02;
/// Factor on the largest stable step; cold clusters are stable with steps half as long again.
constexpr double kFarTooLong = 1.6;

bool observes_nothing(const Deck& deck) {
  const std::vector<Section>& sections = water_schema().sections;
  return std::none_of(sections.begin(), sections.end(), [&](const Section& section) {
    return section.name.starts_with("observe.") && section.present(deck);
  });
}

/// Whether the section excludes the equilibration.
bool takes_averages(const Deck& deck, std::string_view section) {
  if (section == "observe.conservation") return deck.thermostat.kind == Thermostat::none;
  return section != "observe.trajectory" && section != "observe.multipliers";
}

std::optional<Message> warning_of_flexible_step(const Deck& deck) {
  const IntegratorSection& integrator = deck.integrator;
  if (!moves_bonds(deck) || integrator.scheme != Scheme::verlet) return std::nullopt;
  // Twice the default: about nine steps per period of an O-H stretch (docs/results/flexible-steps).
  double longest_fs = 2.0 * kFlexibleVerletStep_fs * heavy_hydrogen_factor(deck);
  // Bonds of own models may be stiffer.
  constexpr double kFewSteps = 6.0;
  if (is_flexible(deck) && potential_kind(deck) == PotentialKind::model) {
    const double per_cm = molecule_wavenumbers_per_cm(model_of_dynamics(deck)).back();
    longest_fs = std::min(longest_fs, 1.0 / (kFewSteps * per_cm * units::speed_of_light_cm_per_fs));
  }
  if (integrator.timestep_fs <= longest_fs) return std::nullopt;
  return Message::warning(
      fmt::format("timestep_fs = {:g} is long for velocity Verlet with flexible molecules: "
                  "replicas blow up above about {:.2g} fs at 298 K. Use {} fs or less",
                  integrator.timestep_fs, 1.5 * longest_fs, rounded_down(longest_fs)));
}

/// With the noise at the end of the step (equation 37), <q^2> of a vibration is too large.
std::optional<Message> warning_of_gla_rings(const Deck& deck) {
  if (!deck.path_integral || deck.path_integral->beads < 2 || !is_flexible(deck)) return {};
  if (deck.thermostat.kind != Thermostat::gla) return {};
  const double per_cm = molecule_wavenumbers_per_cm(model_of_dynamics(deck)).back();
  const double half_phase =
      std::numbers::pi * per_cm * units::speed_of_light_cm_per_fs * deck.integrator.timestep_fs;
  const double ratio = 1.0 / (1.0 - std::min(half_phase * half_phase, 0.99));
  return Message::warning(fmt::format(
      "thermostat kind = \"gla\" with several beads: steps of {:g} fs make the potential "
      "energy of O-H stretches {:.2g} % too large. Use kind = \"baoab\"",
      deck.integrator.timestep_fs, 100.0 * (ratio - 1.0)));
}

/// The ring polymers must resolve the fastest vibration.
std::optional<Message> warning_of_few_beads(const Deck& deck) {
  constexpr double kLargestError = 0.04;
  if (!is_flexible(deck)) return std::nullopt;
  const std::optional<BeadErrors> errors = bead_errors(deck);
  if (!errors || errors->kinetic <= kLargestError) return std::nullopt;
  return Message::warning(
      fmt::format("[path_integral] beads = {} are few at {:g} K: the kinetic energy of a harmonic "
                  "vibration{} is up to {:.2g} % wrong. Use {} for an error of 1 %",
                  deck.path_integral->beads, errors->temperature_K,
                  potential_kind(deck) == PotentialKind::model
                      ? ""
                      : fmt::format(" at {:.0f}/cm", errors->wavenumber_per_cm),
                  100.0 * errors->kinetic, bead_count_text(errors->beads_for_1_percent)));
}

/// Beads start at one point.
std::optional<Message> warning_of_ring_start(const Deck& deck) {
  constexpr double kSpread_ps = 0.05;
  if (!deck.path_integral || deck.path_integral->beads == 1 || deck.system.state) {
    return std::nullopt;
  }
  if (deck.path_integral->method == RingMethod::rpmd) {
    return Message::warning(
        "[path_integral] method = \"rpmd\" starts with all beads at one point, which is not in "
        "equilibrium. Start from the state of a pimd run: [system] state");
  }
  if (deck.run.equilibration_ps >= kSpread_ps) return std::nullopt;
  return Message::warning(fmt::format(
      "[path_integral] all beads start at one point and spread within about {:g} ps. Set [run] "
      "equilibration_ps to leave this out of averages",
      kSpread_ps));
}

/// A quenched start without velocities and without a thermostat stays where it is.
std::optional<Message> warning_of_rest(const Deck& deck) {
  const SystemSection& system = deck.system;
  const bool is_at_a_minimum =
      !system.file && system.files.empty() && !system.state && system.start == StartKind::quenched;
  const bool rests = system.velocities == VelocityKind::zero ||
                     (system.velocities == VelocityKind::maxwell && !system.temperature_K);
  if (!is_at_a_minimum || !rests || deck.thermostat.kind != Thermostat::none) return std::nullopt;
  // Strained bonds of penalties move, unless they are relaxed.
  if (!is_rigid(deck.integrator.scheme) && !system.relax) return std::nullopt;
  return Message::warning(
      "nothing moves: the start is minimised, its velocities are zero, and there is no thermostat. "
      "Add a [thermostat], or set [system] temperature_K and velocities = \"maxwell\"");
}

/// Clusters drift, also within a wall, which moves with their centre of mass.
std::optional<Message> warning_of_drift(const Deck& deck) {
  if (deck.system.recentre || !default_recentre(deck)) return std::nullopt;
  const bool rests = deck.system.remove_momentum || deck.system.velocities == VelocityKind::zero;
  if (rests && deck.thermostat.kind == Thermostat::none) return std::nullopt;
  const std::string_view format = io::format_of(deck.trajectory->format).name;
  return Message::warning(fmt::format(
      "[system] recentre = false: the cluster drifts, and positions far from the origin lose "
      "digits in {0}{1}. Remove recentre = false, or write xyz or h5md",
      format, deck.trajectory->format == io::FileFormat::dcd ? "" : " or end the run"));
}

}  // namespace

double heavy_hydrogen_factor(const Deck& deck) {
  const auto of_bond = [](const WaterModel& m) {
    return m.mass_o_Da * m.mass_h_Da / (m.mass_o_Da + m.mass_h_Da);
  };
  const WaterModel model = model_of_dynamics(deck);
  if (moves_bonds(deck)) return std::sqrt(of_bond(model) / of_bond(WaterModel{}));
  return std::sqrt(model.mass_h_Da / units::mass_hydrogen_Da);
}

double largest_stable_timestep_fs(const Deck& deck) {
  const IntegratorSection& integrator = deck.integrator;
  const double by_mass = heavy_hydrogen_factor(deck);
  // The limit of velocity Verlet is 2.7 fs for small vibrations of the O-H bonds.
  if (moves_bonds(deck)) return by_mass * (integrator.scheme == Scheme::verlet ? 1.5 : 3.0);
  // Velocity Verlet is stable at 1.08 fs with omega = 20; the limit is on the product of the two.
  if (integrator.scheme == Scheme::verlet) return by_mass * 1.08 * 20.0 / integrator.omega;
  if (is_rigid(integrator.scheme)) return by_mass * 8.0;
  return by_mass * (integrator.omega < 100.0 ? 4.0 : 3.0);
}

std::optional<BeadErrors> bead_errors(const Deck& deck, std::optional<double> given_per_cm) {
  if (!deck.path_integral || deck.path_integral->beads == 1) return std::nullopt;
  const std::vector<double> temperatures_K = ring_temperatures_K(deck);
  const double coldest_K = *std::min_element(temperatures_K.begin(), temperatures_K.end());
  if (!(coldest_K > 0.0)) return std::nullopt;
  const PathIntegralSpec rings = ring_spec(*deck.path_integral);
  const std::optional<double> fitted_per_cm = deck.path_integral->highest_wavenumber_per_cm;
  if (!given_per_cm && fitted_per_cm && potential_kind(deck) != PotentialKind::model) {
    given_per_cm = *fitted_per_cm / kWavenumberMargin;
  }
  const double wavenumber_per_cm =
      given_per_cm ? *given_per_cm : molecule_wavenumbers_per_cm(model_of_dynamics(deck)).back();
  const auto beads_for = [&](double error) {
    return beads_for_error(rings, coldest_K, wavenumber_per_cm, error);
  };
  const double x = reduced_frequency(wavenumber_per_cm, coldest_K);
  return BeadErrors{coldest_K, wavenumber_per_cm, reduced_ring(rings, coldest_K).kinetic_error(x),
                    beads_for(0.01), beads_for(0.001)};
}

std::string bead_count_text(int beads) {
  if (beads == 0) return fmt::format("more than {} beads", kMaxBeads);
  return fmt::format("{} beads", beads);
}

std::optional<Message> warning_of_stiff_wall(const Deck& deck) {
  if (!deck.confinement) return std::nullopt;
  const double stiffness = deck.confinement->stiffness_kcal_per_mol_A2;
  const double mass_Da = water_model(deck).molecule_mass_Da();
  const double h_fs = deck.integrator.timestep_fs;
  const double turn = 2.0 * std::numbers::pi;
  const double period_fs = turn * std::sqrt(mass_Da / stiffness) * units::femtoseconds_per_akma;
  if (!(period_fs < kMinSteps * h_fs)) return std::nullopt;
  const double rate_per_akma = turn * units::femtoseconds_per_akma / (kMinSteps * h_fs);
  return Message::warning(fmt::format(
      "[confinement] stiffness_kcal_per_mol_A2 = {0:g} is too stiff for timestep_fs = {1:g}: the "
      "period of a molecule in the wall is {2:.2g} fs, less than {3:g} steps. Use {4} or less",
      stiffness, h_fs, period_fs, kMinSteps,
      rounded_down(mass_Da * rate_per_akma * rate_per_akma)));
}

std::optional<Message> warning_of_resonance(const Deck& deck) {
  // With 32 beads at 298 K all replicas blow up at 0.95 of the resonance, and none at 0.87.
  constexpr double kWidth = 0.1;
  if (!deck.path_integral || deck.path_integral->beads == 1) return std::nullopt;
  if (deck.path_integral->free_ring != FreeRing::exact) return std::nullopt;
  const std::vector<double> temperatures_K = ring_temperatures_K(deck);
  const auto [coldest, hottest] = std::minmax_element(temperatures_K.begin(), temperatures_K.end());
  const double hottest_K = *hottest;
  const int beads = deck.path_integral->beads;
  const double highest_per_akma = reduced_ring(ring_spec(*deck.path_integral), *coldest).highest() *
                                  ring_frequency_per_akma(1, hottest_K);
  const double resonance_fs = units::pi / highest_per_akma * units::femtoseconds_per_akma;
  if (deck.integrator.timestep_fs < (1.0 - kWidth) * resonance_fs) return std::nullopt;
  return Message::warning(fmt::format(
      "[path_integral] free_ring = \"exact\" resonates: timestep_fs = {0:g} {1} the first "
      "resonance, {2:.3g} fs with {3} beads at {4:g} K, so averages are wrong or replicas blow up. "
      "Use free_ring = \"cayley\", or a step of at most {5} fs",
      deck.integrator.timestep_fs,
      deck.integrator.timestep_fs < resonance_fs ? "is less than 10 % below" : "exceeds",
      resonance_fs, beads, hottest_K, rounded_down(0.5 * resonance_fs)));
}

std::optional<Message> warning_of_missing_samples(const Deck& deck) {
  const std::int64_t first = first_averaged_step(deck), last = deck.run.steps;
  std::vector<std::string> without;
  for (const Key& key : water_schema().keys) {
    if (!key.section.starts_with("observe.") || key.name != "every") continue;
    if (!takes_averages(deck, key.section)) continue;
    const Value value = key.get(deck);
    const auto* every = std::get_if<std::int64_t>(&value);
    if (every == nullptr || last / *every * *every >= first) continue;
    without.push_back(fmt::format("[{}]", key.section));
  }
  if (without.empty()) return std::nullopt;
  return Message::warning(fmt::format(
      "no samples of {0} between the end of the equilibration (step {1}) and the end of the run "
      "(step {2}). Extend the run, or reduce [run] equilibration_ps or every",
      fmt::join(without, ", "), first, last));
}

Messages messages_on(const Deck& deck) {
  Messages messages;
  for (const Key& key : water_schema().keys) {
    if (!key.section.starts_with("observe.") || key.name != "replicas") continue;
    const Value value = key.get(deck);
    const auto* count = std::get_if<std::int64_t>(&value);
    if (count == nullptr || *count <= deck.system.replicas) continue;
    messages.push_back(
        Message::note(fmt::format("[{}] replicas = {}, but the run has {}; all of them are written",
                                  key.section, *count, deck.system.replicas)));
  }
  append(warning_of_stiff_wall(deck), messages);
  for (const Section& section : water_schema().sections) {
    if (section.messages != nullptr && section.present(deck)) section.messages(deck, messages);
  }
  const double timestep_fs = deck.integrator.timestep_fs;
  const double usual_fs = largest_stable_timestep_fs(deck);
  const std::optional<Message> rest = warning_of_rest(deck);
  append(rest, messages);
  if (!rest && deck.thermostat.kind == Thermostat::none && !deck.system.temperature_K &&
      deck.system.velocities == VelocityKind::zero && deck.system.file) {
    messages.push_back(
        Message::note("no thermostat and no [system] temperature_K: the velocities are zero"));
  }
  for (const auto warning : {warning_of_drift, warning_of_flexible_step, warning_of_few_beads,
                             warning_of_gla_rings, warning_of_ring_start}) {
    append(warning(deck), messages);
  }
  if (timestep_fs > kFarTooLong * usual_fs) {
    messages.push_back(Message::warning(
        fmt::format("timestep_fs = {:g} is far above the largest stable step of this scheme, about "
                    "{:.2g} fs at 298 K. The run will blow up unless it is cold",
                    timestep_fs, usual_fs)));
  }
  if (timestep_fs < kShortStep_fs) {
    messages.push_back(
        Message::warning(fmt::format("timestep_fs = {:g} is short; its unit is fs", timestep_fs)));
  }
  if (observes_nothing(deck)) {
    messages.push_back(
        Message::note("no [observe.*] section; only run.json and a checkpoint will be written"));
  }
  return messages;
}

}  // namespace tarn::decks
