#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "core/text.hpp"
#include "deck/checker.hpp"
#include "deck/notes.hpp"
#include "deck/schema.hpp"
#include "deck/system_limits.hpp"
#include "deck_arguments.hpp"
#include "physics/model_table.hpp"
#include "physics/ring_frequencies.hpp"
#include "physics/temperature_ladder.hpp"
#include "run/run_messages.hpp"
#include "start/molecule_frame.hpp"
#include "start/start_sources.hpp"
#include "tarn/check_potential.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/deck.hpp"
#include "tarn/deck_potential.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "tarn/start_state.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

// --- the plan of a run
// ------------------------------------------------------------------------------

/// "750 000 steps".
std::string steps_text(std::int64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); text.size() > 4 && at > 3; at -= 3) text.insert(at - 3, " ");
  return text + (n == 1 ? " step" : " steps");
}

std::string time_text(double time_ps) {
  if (time_ps < 1.0) return fmt::format("{:.4g} fs", time_ps * 1e3);
  if (time_ps < 1e3) return fmt::format("{:.4g} ps", time_ps);
  return time_ps < 1e6 ? fmt::format("{:.4g} ns", time_ps * 1e-3)
                       : fmt::format("{:.4g} µs", time_ps * 1e-6);
}

/// Wall time with the accuracy of an estimate.
std::string about_text(double seconds) {
  if (seconds < 1.0) return "less than a second";
  if (seconds < 90.0) return fmt::format("about {:.0f} s", seconds);
  if (seconds < 5400.0) return fmt::format("about {:.0f} min", seconds / 60.0);
  if (seconds < 172'800.0) return fmt::format("about {:.1f} h", seconds / 3600.0);
  return fmt::format("about {:.0f} days", seconds / 86'400.0);
}

/// The value of a choice.
std::string choice_of(const Deck& deck, std::string_view path) {
  const decks::Key& key = *decks::water_schema().find_key(path);
  return std::get<std::string>(key.get(deck));
}

std::string temperatures_text(const Deck& deck) {
  std::vector<double> all_K = bath_temperatures_K(deck);
  if (all_K.empty()) return "at constant energy";
  std::sort(all_K.begin(), all_K.end());
  const auto distinct = std::unique(all_K.begin(), all_K.end()) - all_K.begin();
  if (distinct == 1) return fmt::format("at {:g} K", all_K.front());
  return fmt::format("at {} temperatures from {:g} to {:g} K{}", distinct, all_K.front(),
                     all_K[static_cast<std::size_t>(distinct) - 1],
                     deck.exchange ? " with replica exchange" : "");
}

std::string system_text(const Deck& deck, int molecules) {
  const int beads = beads_of(deck);
  return fmt::format("{} {} x {}{}, {}", molecules, deck.system.model,
                     count_text(deck.system.replicas, "replica"),
                     beads > 1 ? fmt::format(" of {} beads", beads) : "", temperatures_text(deck));
}

/// The scheme, time step and thermostat, and which of them the deck leaves to the defaults.
std::string dynamics_text(const Deck& deck, const decks::Checker& given) {
  const auto origin = [&](std::string_view path, std::string_view text) {
    return given.has(path) ? std::string_view() : text;
  };
  std::string text = fmt::format(
      "{}{}, time step {:g} fs{}; ", choice_of(deck, "integrator.scheme"),
      origin("integrator.scheme", is_flexible(deck) ? " (the default of flexible models)"
                                                    : " (the default of rigid models)"),
      deck.integrator.timestep_fs, origin("integrator.timestep_fs", " (the default)"));
  if (deck.thermostat.kind == Thermostat::none) return text + "no thermostat";
  return fmt::format("{}thermostat {}{}", text, choice_of(deck, "thermostat.kind"),
                     origin("thermostat.kind", " (the default)"));
}

std::string length_text(const Deck& deck) {
  const double step_ps = deck.integrator.timestep_fs * 1e-3;
  std::string text =
      fmt::format("{} of {:g} fs = {}", steps_text(deck.run.steps), deck.integrator.timestep_fs,
                  time_text(static_cast<double>(deck.run.steps) * step_ps));
  if (deck.run.equilibration_ps > 0.0) {
    text += fmt::format(", of which {} are not averaged", time_text(deck.run.equilibration_ps));
  }
  return text;
}

/// "final.xyz", or "final-0000.xyz to final-0007.xyz" of several replicas.
std::string files_of_replicas(const Deck& deck, std::string_view name, std::string_view extension,
                              const ReplicaSelection& selection) {
  if (deck.system.replicas == 1) return fmt::format("{}{}", name, extension);
  const int last = selection.count_of(deck.system.replicas) - 1;
  const std::string first = fmt::format("{}-0000{}", name, extension);
  return last == 0 ? first : fmt::format("{} to {}-{:04}{}", first, name, last, extension);
}

/// The files of a section of water.
std::vector<std::string> files_of_section(const Deck& deck, const std::string& name) {
  const std::vector<double> baths_K = bath_temperatures_K(deck);
  const bool several = has_several_baths(baths_K), rings = beads_of(deck) > 1;
  std::vector<std::string> names;
  if (name == "final") {
    names.push_back(files_of_replicas(deck, name, ".xyz", deck.final_structures->replicas));
    return names;
  }
  if (name == "trajectory") {
    const io::Format& format = io::format_of(deck.trajectory->format);
    const std::string_view extension = format.extensions.front();
    names.push_back(format.id == io::FileFormat::h5md
                        ? fmt::format("trajectory{}", extension)
                        : files_of_replicas(deck, name, extension, deck.trajectory->replicas));
    if (!format.names_atoms) names.emplace_back("topology.pdb");
    return names;
  }
  const auto add = [&](bool written, const char* file) {
    if (written) names.emplace_back(file);
  };
  names.push_back(name + ".csv");
  add(name == "exchange", "walkers.csv");
  add(name == "energies" && several && !rings && heat_capacity_obstacle(baths_K).empty(),
      "heat_capacity.csv");
  add(name == "path_integral" && rings && deck.thermostat.kind != Thermostat::none,
      "heat_capacity.csv");
  add(name == "rdf" && several, "rdf_by_bath.csv");
  add(name == "bias" && decks::has_windows(deck), "free_energy.csv");
  add(name == "profile" && several, "profile_by_bath.csv");
  add(name == "evaporation", "survival.csv");
  add(name == "evaporation", "evaporation_rates.csv");
  add(name == "minima", "isomers.csv");
  add(name == "minima" && several, "isomers_by_bath.csv");
  add(name == "minima", "isomers.xyz");
  return names;
}

/// The files of a run without its pictures, and the folder that it uses by default.
std::string files_text(const Deck& deck) {
  std::vector<std::string> names{"run.json", "checkpoint.bin"};
  bool has_averages = false;
  for (const decks::Section& section : decks::water_schema().sections) {
    constexpr std::string_view kPrefix = "observe.";
    const bool is_observer = section.name.starts_with(kPrefix);
    if ((!is_observer && section.name != "exchange") || !section.present(deck)) continue;
    const std::string name(section.name.substr(is_observer ? kPrefix.size() : 0));
    const std::vector<std::string> files = files_of_section(deck, name);
    names.insert(names.end(), files.begin(), files.end());
    const bool has_none = name == "trajectory" || name == "final" || name == "multipliers" ||
                          name == "rdf" || name == "profile" ||
                          (name == "conservation" && deck.thermostat.kind != Thermostat::none);
    has_averages = has_averages || !has_none;
  }
  if (has_averages) names.emplace_back("averages.csv");
  return fmt::format("files in out/{}: {}", deck.name, fmt::join(names, ", "));
}

/// What computes the forces, if that is not the water model.
std::optional<std::string> potential_line(const Deck& deck) {
  if (potential_kind(deck) == PotentialKind::model) return std::nullopt;
  const std::int64_t images = std::int64_t{deck.system.replicas} * beads_of(deck);
  const std::string name = potential_text(deck);
  const std::string where =
      potential_kind(deck) == PotentialKind::socket
          ? fmt::format(" at {}, {} at most", *deck.potential->address, deck.potential->clients)
          : "";
  return fmt::format(
      "energies and forces from the potential: {}{}; {} per call (replicas x beads), on the CPU",
      name.empty() ? "that of the program" : name, where, count_text(images, "image"));
}

std::string cost_text(const Deck& deck, int molecules, std::optional<double> seconds) {
  const char* const quenches = deck.minima ? ", and more for the quenches of [observe.minima]" : "";
  if (seconds) return fmt::format("time: {} in the potential{}", about_text(*seconds), quenches);
  if (potential_kind(deck) != PotentialKind::model) {
    return "time: that of the potential; tarn check --potential measures it";
  }
  const std::optional<RunCost> cost = estimated_cost(deck, molecules);
  if (!cost) return "time: not estimated";
  if (cost->threads == 0) {
    return fmt::format(
        "time: {} for the steps on one NVIDIA H200, up to {:.0f} times as long with {}{}",
        about_text(cost->seconds), cost->most_factor, deck.exchange ? "exchange" : "observers",
        quenches);
  }
  return fmt::format("time: {} on this machine with {}{}", about_text(cost->seconds),
                     count_text(cost->threads, "thread"), quenches);
}

/// What a run of a deck will do, in a few lines: system, scheme, length, files and, for water, the
/// estimated time.
/// @param given the checker that read the deck, which knows the keys that it contains
/// @param molecules per cluster
/// @param potential_seconds estimated time of the run in its potential, if that was measured
std::vector<std::string> run_plan(const Deck& deck, const decks::Checker& given, int molecules,
                                  std::optional<double> potential_seconds) {
  std::vector<std::string> lines{system_text(deck, molecules), dynamics_text(deck, given)};
  if (const auto line = potential_line(deck)) lines.push_back(*line);
  lines.push_back(length_text(deck));
  lines.push_back(files_text(deck));
  lines.push_back(cost_text(deck, molecules, potential_seconds));
  if (deck.run.device.starts_with("cuda")) {
    const double bytes = gpu_bytes(make_system(deck, molecules), deck.system.replicas);
    lines.push_back(fmt::format("memory of GPUs: {:.1f} MB for all replicas", bytes * 1e-6));
  }
  return lines;
}

// --- the checks
// -------------------------------------------------------------------------------------

struct Arguments : DeckOverrides {
  std::string device;
  bool reference = false, potential = false;
};

/// The O-H stretch of a flexible model or a potential, which limits the time step.
void report_shortest_period(std::string_view whose, double wavenumber_per_cm, const System& system,
                            bool is_potential, Terminal& terminal) {
  const double period_fs = 1.0 / (wavenumber_per_cm * units::speed_of_light_cm_per_fs);
  const double step_fs = system.integrator.timestep_akma * units::femtoseconds_per_akma;
  terminal.info(fmt::format("shortest period of {}: {:.3g} fs ({:.0f}/cm), {:.3g} time steps",
                            whose, period_fs, wavenumber_per_cm, period_fs / step_fs));
  if (!is_potential) return;  // messages_on() contains the warning
  // Velocity Verlet is stable for more than pi steps per period of a harmonic vibration.
  constexpr double kFewSteps = 4.0;
  if (system.integrator.scheme == Scheme::verlet && period_fs < kFewSteps * step_fs) {
    terminal.warning(fmt::format(
        "timestep_fs = {:g} is too long for a period of {:.3g} fs: velocity "
        "Verlet needs at least {:g} steps per period. Use {:g} fs or less",
        step_fs, period_fs, kFewSteps, std::floor(100.0 * period_fs / kFewSteps) / 100.0));
  }
}

/// Error of the number of beads, and the numbers for smaller errors.
/// @param measured_per_cm highest wavenumber of the potential; empty: not measured
void report_beads(Deck deck, std::optional<double> measured_per_cm, Terminal& terminal) {
  std::optional<decks::BeadErrors> errors = decks::bead_errors(deck, measured_per_cm);
  if (!errors) return;
  PathIntegralSection& rings = *deck.path_integral;
  std::optional<double>& fitted_per_cm = rings.highest_wavenumber_per_cm;
  std::string which;
  if (potential_kind(deck) != PotentialKind::model) {
    which = fmt::format(" at {:.0f}/cm{}", errors->wavenumber_per_cm,
                        measured_per_cm ? "" : " (tarn check --potential measures the highest)");
  }
  if (measured_per_cm && fitted_per_cm && *fitted_per_cm < *measured_per_cm) {
    const double wider_per_cm = std::ceil(decks::kWavenumberMargin * *measured_per_cm);
    terminal.warning(
        fmt::format("[path_integral] highest_wavenumber_per_cm = {:g} is less than that of the "
                    "potential: the kinetic energy of a vibration at {:.0f}/cm is {:.2g} % wrong. "
                    "Use {:g}, as the next line does",
                    *fitted_per_cm, *measured_per_cm, 100.0 * errors->kinetic, wider_per_cm));
    fitted_per_cm = wider_per_cm;
    errors = decks::bead_errors(deck, measured_per_cm);
  }
  terminal.info(fmt::format(
      "{} beads with {} frequencies at {:g} K: error of the kinetic energy of a harmonic vibration"
      "{} at most {:.2g} %; 1 % requires {}, 0.1 % {}",
      rings.beads, rings.frequencies == RingFrequencies::economised ? "economised" : "Trotter",
      errors->temperature_K, which, 100.0 * errors->kinetic,
      decks::bead_count_text(errors->beads_for_1_percent),
      decks::bead_count_text(errors->beads_for_1_per_mille)));
}

/// The estimated acceptances of a ladder, and temperatures with the wanted ones.
void report_ladder(const Deck& deck, const System& system, Terminal& terminal) {
  const std::vector<double>& all = system.thermostat.temperatures_K;
  const AcceptanceEstimate estimate(system.model, system.molecules, reduced_ring(system));
  const std::vector<double> acceptances = ladder_acceptances(estimate, all);
  const double least =
      acceptances.empty() ? 1.0 : *std::min_element(acceptances.begin(), acceptances.end());
  const std::vector<double> ladder = temperature_ladder(estimate, all.front(), all.back());
  std::string text;
  for (const double t_K : ladder) text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", t_K);
  terminal.info(
      fmt::format("exchange: the lowest estimated acceptance between neighbouring temperatures is "
                  "{:.0f} %; for about {:.0f} %, temperatures_K = [{}]{}",
                  100.0 * least, 100.0 * kWantedAcceptance, text,
                  potential_kind(deck) != PotentialKind::model && system.model.is_flexible()
                      ? fmt::format(" (with the vibrations of {})", system.model.name)
                      : ""));
}

/// The overlap of neighbouring windows where the free energy is flat, whose histograms are normal
/// with the variance kT/K, and centres or a stiffness for the wanted overlap.
void report_windows(const System& system, Terminal& terminal) {
  const BiasSpec* const windows = windows_of(system);
  if (windows == nullptr) return;
  constexpr double kWanted = 0.3, kSpacing = 2.07;  // of that overlap, in standard deviations
  const std::vector<double>& c = windows->centres;
  const double kT = units::boltzmann_kcal_per_mol_K * replica_temperature_K(system, 0);
  const double width = std::sqrt(kT / windows->stiffness);
  double widest = 0.0;
  for (std::size_t k = 0; k + 1 < c.size(); ++k) widest = std::max(widest, c[k + 1] - c[k]);
  const double range = c.back() - c.front();
  const auto count = static_cast<int>(std::ceil(range / (kSpacing * width) - 1e-9)) + 1;
  std::string text;
  for (int k = 0; k < count; ++k) {
    text +=
        fmt::format("{}{:.4g}", k == 0 ? "" : ", ", c.front() + range * k / std::max(1, count - 1));
  }
  terminal.info(fmt::format(
      "windows: histograms of neighbours overlap by {:.0f} % or more where the free energy is "
      "flat; for about {:.0f} %, centres [{}], or a stiffness of {:.3g}",
      100.0 * std::erfc(widest / (2.0 * std::numbers::sqrt2 * width)), 100.0 * kWanted, text,
      kT * std::pow(kSpacing * static_cast<double>(c.size() - 1) / range, 2)));
}

/// Exit code for forces that are not the derivatives of the energies.
constexpr int kForcesDisagree = 1;

/// Makes the start as a run does, of the first replicas if minimising all takes more than a few
/// seconds, and prints what it finds. @return whether it did
bool report_start(Deck deck, int molecules, Terminal& terminal) {
  const SystemSection& system = deck.system;
  const bool from_files = system.file || !system.files.empty();
  const bool minimises = (!start::keeps_bonds_rigid(deck) &&
                          (system.relax || system.project == StartProjection::slow_manifold)) ||
                         (!from_files && !system.state && system.start == StartKind::quenched);
  constexpr double kMinimised = 2e5, kCopied = 1e6;
  const double size = molecules;
  const double most = minimises ? kMinimised / (size * size) : kCopied / (size * beads_of(deck));
  const int replicas = system.replicas;
  if (most < (system.state ? replicas : 1)) return false;
  if (!system.state) deck.system.replicas = static_cast<int>(std::min<double>(replicas, most));
  const Start start = make_start(deck);
  terminal.print(start.messages);
  const System water = make_system(deck, molecules);
  const State centroids = start::centroids_of(start.state);
  double farthest_A = 0.0;
  for (std::size_t first = 0; first < centroids.positions_A.size();
       first += centroids.coordinates()) {
    farthest_A = std::max(
        farthest_A, start::farthest_oxygen_A(water.model, std::span(&centroids.positions_A[first],
                                                                    centroids.coordinates())));
  }
  // docs/measuring.md: 2 to 3 A more than in the cold cluster.
  constexpr double kRoom_A = 2.5;
  const bool proposes = !deck.confinement && !deck.system.state &&
                        (from_files || deck.system.start == StartKind::quenched);
  terminal.info(fmt::format(
      "start{}: oxygens are up to {:.2f} A from the centre of mass{}",
      deck.system.replicas < replicas ? fmt::format(" of {} replicas", deck.system.replicas) : "",
      farthest_A,
      proposes ? fmt::format("; a wall with radius_A = {:.1f} acts only on molecules that leave",
                             std::ceil(10.0 * (farthest_A + kRoom_A)) / 10.0)
               : ""));
  return true;
}

/// Calls the potential for the start of one replica and compares forces with energies.
PotentialCheck report_potential(Deck deck, const System& system, Terminal& terminal,
                                int& exit_code) {
  if (potential_kind(deck) == PotentialKind::model) {
    throw InputError("--potential needs a deck with [potential] kind = \"library\" or \"socket\"");
  }
  catch_interrupts();
  const auto potential =
      make_potential(deck, system.molecules,
                     {.interrupted = interrupted,
                      .on_message = [&](const Message& message) { terminal.print(message); }});
  deck.path_integral.reset();
  if (!deck.system.state) deck.system.replicas = 1;
  const State start = make_start(deck).state;
  const PotentialCheck c = check_potential(
      *potential, std::span(start.positions_A).first(start.coordinates()),
      {!is_rigid(deck.integrator.scheme), system.model.mass_o_Da, system.model.mass_h_Da});
  terminal.print(c.messages);
  if (!c.forces_agree()) exit_code = kForcesDisagree;
  terminal.info(fmt::format("potential: {}", potential->name()));
  const auto row = [&](const char* what, const std::string& value) {
    terminal.info(fmt::format("  {:<38}{}", what, value));
  };
  row("energy of the start", fmt::format("{:.6f} kcal/mol", c.energy_kcal_per_mol));
  row("largest force, atoms displaced",
      fmt::format("{:.4g} kcal/mol/A", c.largest_force_kcal_per_mol_A));
  row("largest difference from energies",
      fmt::format("{:.2g} kcal/mol/A, {}", c.largest_difference_kcal_per_mol_A,
                  count_text(c.coordinates, "coordinate")));
  if (c.oh_wavenumber_per_cm > 0.0) {
    row("highest vibration of O-H bonds", fmt::format("{:.0f}/cm", c.oh_wavenumber_per_cm));
  }
  row("an image alone and in a batch", c.depends_on_batch ? "different bits" : "the same bits");
  row("time of a call", fmt::format("{:.3g} ms for an image, {:.3g} ms for {}",
                                    1e3 * c.alone_seconds, 1e3 * c.seconds, c.images));
  return c;
}

/// Estimated time of the run in the potential: a call per step and, with ring polymers, two for
/// each attempt to exchange them, before and after it.
double seconds_in_potential(const Deck& deck, const PotentialCheck& check) {
  const std::int64_t beads = beads_of(deck);
  std::int64_t calls = deck.run.steps + 1;
  if (deck.exchange && beads > 1) calls += 2 * (deck.run.steps / deck.exchange->every);
  return static_cast<double>(calls) * check.seconds_of(deck.system.replicas * beads);
}

void check(Arguments& a, int& exit_code) {
  if (a.reference) {
    fmt::print("{}", deck_reference());
    return;
  }
  if (a.deck.empty()) throw InputError("no deck given: tarn check DECK");
  a.refuse_split_changes();
  if (!a.device.empty()) a.set.push_back("run.device=" + a.device);
  decks::Checker checker(a.deck, true);
  const Deck deck = checker.check(read_deck_text(a.deck), decks::given_by("--set", a.set),
                                  decks::given_by("--unset", a.unset));
  Terminal terminal(false);
  terminal.print(decks::messages_on(deck));
  terminal.print(decks::warning_of_missing_samples(deck));
  terminal.print(decks::warning_of_resonance(deck));
  const auto molecules = static_cast<int>(checker.molecules());
  if (!report_start(deck, molecules, terminal)) {
    for (const StructureSource& source : structure_sources(deck)) {
      terminal.print(io::read_structure(source.path, {source.frame}).messages);
    }
    if (deck.system.state) terminal.print(start::messages_on_state(deck, read_start_state(deck)));
  }
  const System system = make_system(deck, molecules);
  std::optional<double> potential_seconds, measured_per_cm;
  if (a.potential) {
    const PotentialCheck c = report_potential(deck, system, terminal, exit_code);
    potential_seconds = seconds_in_potential(deck, c);
    if (c.oh_wavenumber_per_cm > 0.0) {
      measured_per_cm = c.oh_wavenumber_per_cm;
      report_shortest_period("the potential", *measured_per_cm, system, true, terminal);
    }
  }
  if (system.model.is_flexible()) {
    if (potential_kind(deck) == PotentialKind::model) {
      report_shortest_period(system.model.name, molecule_wavenumbers_per_cm(system.model).back(),
                             system, false, terminal);
    }
    report_beads(deck, measured_per_cm, terminal);
  }
  if (deck.exchange && !windows_of(system)) report_ladder(deck, system, terminal);
  report_windows(system, terminal);
  // The output ends with what the run will do; standard output is only the deck.
  fmt::print("{}", resolved_deck(deck));
  std::fflush(stdout);
  for (const std::string& line : run_plan(deck, checker, molecules, potential_seconds)) {
    terminal.info(line);
  }
}

}  // namespace

void add_check(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "check", "check a deck and print all of its keys, without running it", check);
  command->add_option("deck", a->deck, kDeckHelp);
  command->add_option("--device", a->device, "device of the run, for its time and memory");
  a->add_override_options(*command);
  command->add_flag("--potential", a->potential,
                    "call the potential of [potential] for the start structure, and compare its "
                    "forces with differences of its energies");
  command->add_flag("--reference", a->reference,
                    "print the reference of all sections and keys instead");
}

}  // namespace tarn::cli
