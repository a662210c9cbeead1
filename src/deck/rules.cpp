#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "checker.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/correlation.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/steps/step_parameters.hpp"

namespace tarn::decks {
namespace {

void start_is_given(Checker& checker) {
  if (!checker.trusted({"system.molecules", "system.file", "system.state"})) return;
  for (const char* key : {"system.molecules", "system.file", "system.state"}) {
    if (checker.has(key)) return;
  }
  checker.problem("system.molecules", "[system] needs molecules, file or state");
}

void own_model_is_complete(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!checker.trusted({"system.model"})) return;
  const bool is_own = deck.system.model == kOwnModel;
  if (is_own && !deck.model) {
    return checker.problem("system.model",
                           "model = \"own\" needs the section [model], with the numbers of it");
  }
  if (!deck.model) return;
  if (!is_own) {
    return checker.problem("system.model",
                           fmt::format("[model] is for model = \"own\", and this is {}; write "
                                       "model = \"own\", or take [model] out",
                                       toml_string(deck.system.model)));
  }
  for (const char* key : {"model.oh_A", "model.hoh_degrees", "model.sigma_A",
                          "model.epsilon_kcal_per_mol", "model.charge_hydrogen_e"}) {
    if (!checker.has(key) && checker.trusted({key})) {
      checker.problem(key, fmt::format("[model] needs {}", std::string_view(key).substr(6)));
    }
  }
}

void frame_has_a_file(Checker& checker) {
  if (!checker.has("system.frame") || !checker.trusted({"system.frame", "system.file"})) return;
  if (checker.has("system.file") || checker.has("system.state")) return;
  checker.problem("system.frame", "frame is that of a file, and [system] has no file");
}

void start_has_the_molecules(Checker& checker) {
  const int wanted = checker.deck().system.molecules;
  const std::int64_t found = checker.molecules();
  const bool state = checker.has("system.state");
  const char* what = state ? "state" : "structure";
  if (found > kMaxMolecules) {
    checker.problem(
        state ? "system.state" : "system.file",
        fmt::format("the {} has {} molecules; want 1 to {}", what, found, kMaxMolecules));
  } else if (checker.has("system.molecules") && wanted != found) {
    checker.problem("system.molecules",
                    fmt::format("molecules = {}, but the {} has {}", wanted, what, found));
  }
}

void state_is_a_start(Checker& checker) {
  if (!checker.trusted({"system.replicas", "system.seed", "thermostat.kind"})) return;
  for (const KeyProblem& p : checker.start_problems()) checker.problem(p.key, p.message);
}

void length_is_given(Checker& checker) {
  if (!checker.trusted({"run.steps", "run.duration_ps"})) return;
  if (checker.has("run.steps") || checker.has("run.duration_ps")) return;
  checker.problem("run.steps", "[run] needs steps or duration_ps");
}

void length_is_possible(Checker& checker) {
  if (!checker.trusted({"integrator.timestep_fs"})) return;
  const auto duration_ps = checker.number("run.duration_ps");
  const double timestep_fs = checker.deck().integrator.timestep_fs;
  if (!duration_ps || steps_in(*duration_ps, timestep_fs) <= static_cast<double>(kMaxSteps)) return;
  checker.problem("run.duration_ps",
                  fmt::format("duration_ps = {} is more than {} steps of {} fs",
                              number_text(*duration_ps), kMaxSteps, number_text(timestep_fs)));
}

void bath_is_complete(Checker& checker) {
  if (!checker.trusted({"thermostat.kind"})) return;
  if (checker.deck().thermostat.kind == Thermostat::none) return;
  if (checker.trusted({"thermostat.temperature_K", "thermostat.temperatures_K"}) &&
      !checker.has("thermostat.temperature_K") && !checker.has("thermostat.temperatures_K")) {
    checker.problem("thermostat.kind", "this thermostat needs temperature_K or temperatures_K");
  }
  if (checker.trusted({"thermostat.friction_per_ps", "thermostat.friction_amu_per_ps"}) &&
      !checker.has("thermostat.friction_per_ps") &&
      !checker.has("thermostat.friction_amu_per_ps")) {
    checker.problem("thermostat.kind",
                    "this thermostat needs friction_per_ps or friction_amu_per_ps");
  }
}

void heat_has_a_bath(Checker& checker) {
  if (!checker.deck().heat || !checker.trusted({"thermostat.kind"})) return;
  if (checker.deck().thermostat.kind != Thermostat::none) return;
  checker.problem("observe.heat.every",
                  "[observe.heat] needs a thermostat; without one the conserved quantity is that "
                  "of [observe.conservation]");
}

void spectrum_has_one_temperature(Checker& checker) {
  if (!checker.deck().spectrum) return;
  if (!checker.trusted(
          {"thermostat.kind", "thermostat.temperature_K", "thermostat.temperatures_K"})) {
    return;
  }
  const ThermostatSection& thermostat = checker.deck().thermostat;
  if (thermostat.kind == Thermostat::none) return;
  const std::vector<double>& baths_K = thermostat.temperatures_K;
  if (has_several_baths(baths_K)) {
    checker.problem("observe.spectrum.every",
                    "[observe.spectrum] averages over the replicas, and these have baths of "
                    "several temperatures; run it with one");
  } else if (thermostat.temperature_K == 0.0 || (!baths_K.empty() && baths_K[0] == 0.0)) {
    checker.problem("observe.spectrum.every",
                    "[observe.spectrum] counts in units of kT and needs a bath above 0 K");
  }
}

void segments_fit(Checker& checker) {
  if (!checker.trusted({"system.molecules", "system.replicas", "integrator.timestep_fs",
                        "run.steps", "run.duration_ps", "observe.spectrum.every",
                        "observe.spectrum.resolution_per_cm", "observe.spectrum.replicas"})) {
    return;
  }
  const auto message = spectrum_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.spectrum.resolution_per_cm", *message);
}

void correlation_has_one_temperature(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.correlation || !checker.trusted({"thermostat.kind", "thermostat.temperatures_K"})) {
    return;
  }
  if (!has_several_baths(deck.thermostat.temperatures_K)) return;
  checker.problem("observe.correlation.every",
                  "[observe.correlation] averages over the replicas, and these have baths of "
                  "several temperatures; run it with one");
}

void lags_fit(Checker& checker) {
  if (!checker.trusted({"system.molecules", "system.replicas", "integrator.timestep_fs",
                        "run.steps", "run.duration_ps", "observe.correlation.every",
                        "observe.correlation.length_ps", "observe.correlation.replicas"})) {
    return;
  }
  const auto message = correlation_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.correlation.length_ps", *message);
}

/// Baths of different temperatures.
std::size_t baths_of(const Deck& deck) {
  const std::vector<double>& ladder_K = deck.thermostat.temperatures_K;
  return has_several_baths(ladder_K) ? std::set(ladder_K.begin(), ladder_K.end()).size() : 1;
}

void profile_fits(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.profile || !checker.trusted({"system.replicas", "thermostat.kind",
                                         "thermostat.temperature_K", "thermostat.temperatures_K",
                                         "run.steps", "run.duration_ps", "integrator.timestep_fs",
                                         "observe.profile.every", "observe.profile.bins"})) {
    return;
  }
  // 8 bytes each, in every checkpoint too.
  constexpr double kMostNumbers = 1e8;
  const auto samples = static_cast<double>(deck.run.steps / deck.profile->every + 1);
  const auto of_replicas = [&](std::size_t replicas) {
    return analysis::PooledBlocking::of_replicas(static_cast<int>(replicas)).max_numbers(samples);
  };
  const auto replicas = static_cast<std::size_t>(deck.system.replicas);
  double of_shell = of_replicas(replicas);
  if (const std::size_t baths = baths_of(deck); baths > 1) {
    of_shell += static_cast<double>(baths) * of_replicas(replicas / baths + 1);
  }
  // Mass, oxygens, hydrogens, orientation.
  const double numbers = 4.0 * deck.profile->bins * of_shell;
  if (numbers <= kMostNumbers) return;
  checker.problem("observe.profile.bins",
                  fmt::format("the error bars of {} shells are {:.2g} numbers, and at most {:.0e} "
                              "are allowed; write fewer bins or a larger every",
                              deck.profile->bins, numbers, kMostNumbers));
}

void minima_fit(Checker& checker) {
  if (!checker.trusted({"system.molecules", "system.replicas", "thermostat.kind",
                        "thermostat.temperature_K", "thermostat.temperatures_K", "run.steps",
                        "run.duration_ps", "integrator.timestep_fs", "observe.minima.every",
                        "observe.minima.isomers"})) {
    return;
  }
  const auto message = minima_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.minima.isomers", *message);
}

void histograms_fit(Checker& checker) {
  if (!checker.deck().rdf || !checker.trusted({"thermostat.temperatures_K", "observe.rdf.bins"})) {
    return;
  }
  constexpr std::int64_t kMostBaths = 4096, kMostBins = 250'000;  // 400 MB in blocks of time
  const std::vector<double>& baths = checker.deck().thermostat.temperatures_K;
  const auto count = static_cast<std::int64_t>(baths.size());
  const std::int64_t bins = checker.deck().rdf->bins;
  if (!has_several_baths(baths) || (count <= kMostBaths && count * bins <= kMostBins)) return;
  checker.problem(count <= kMostBaths ? "observe.rdf.bins" : "thermostat.temperatures_K",
                  fmt::format("[observe.rdf] has {} bins for each of {} baths; want at most {} "
                              "baths and {} bins in all",
                              bins, count, kMostBaths, kMostBins));
}

void temperatures_have_replicas(Checker& checker) {
  if (!checker.trusted({"thermostat.temperatures_K", "system.replicas"})) return;
  const std::size_t count = checker.deck().thermostat.temperatures_K.size();
  if (count <= static_cast<std::size_t>(checker.deck().system.replicas)) return;
  checker.problem("thermostat.temperatures_K",
                  fmt::format("{} temperatures for {} replicas; want at most one a replica", count,
                              checker.deck().system.replicas));
}

void ladder_is_complete(Checker& checker) {
  if (!checker.deck().exchange) return;
  if (!checker.trusted({"thermostat.kind", "thermostat.temperatures_K"})) return;
  const ThermostatSection& thermostat = checker.deck().thermostat;
  if (thermostat.kind == Thermostat::none || !checker.has("thermostat.temperatures_K")) {
    checker.problem("exchange.every",
                    "[exchange] needs a thermostat with temperatures_K, the temperatures of its "
                    "ladders");
    return;
  }
  const std::vector<double>& ladder_K = thermostat.temperatures_K;
  const auto falls = std::adjacent_find(ladder_K.begin(), ladder_K.end(), std::greater_equal<>());
  if (ladder_K.size() < 2 || ladder_K.front() <= 0.0 || falls != ladder_K.end()) {
    checker.problem("thermostat.temperatures_K",
                    "[exchange] needs two temperatures or more, above 0 and rising");
  }
  const auto length = static_cast<int>(ladder_K.size());
  const int replicas = checker.deck().system.replicas;
  if (!checker.trusted({"system.replicas"}) || replicas < length || replicas % length == 0) return;
  checker.problem("system.replicas",
                  fmt::format("[exchange] needs whole ladders of {} replicas; {} are no multiple "
                              "of that, {} are",
                              length, replicas, replicas / length * length));
}

void molecules_can_leave(Checker& checker) {
  if (!checker.deck().evaporation || !checker.trusted({"system.molecules"})) return;
  if (checker.molecules() != 1) return;
  checker.problem("observe.evaporation.every", "[observe.evaporation] needs two molecules or more");
}

void states_stay_where_they_are(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.exchange) return;
  if (deck.heat) {
    checker.problem("observe.heat.every",
                    "[observe.heat] does not go with [exchange]: what states bring along when "
                    "they change places is neither heat nor work");
  }
  if (deck.evaporation) {
    checker.problem("observe.evaporation.every",
                    "[observe.evaporation] does not go with [exchange]: clusters that lost a "
                    "molecule in one bath would be brought into others");
  }
  if (deck.cluster && deck.cluster->lindemann && checker.has("observe.cluster.lindemann") &&
      checker.trusted({"observe.cluster.lindemann"})) {
    checker.problem("observe.cluster.lindemann",
                    "the Lindemann index follows the molecules of one replica, which [exchange] "
                    "replaces by others; write lindemann = false");
  }
  if (deck.multipliers && deck.multipliers->window_steps > 1) {
    checker.problem("observe.multipliers.window_steps",
                    "a mean over several steps does not go with [exchange], which replaces the "
                    "molecules; write window_steps = 1");
  }
}

void velocities_have_a_temperature(Checker& checker) {
  if (!checker.trusted({"system.velocities", "system.temperature_K", "thermostat.kind"})) return;
  if (!checker.has("system.velocities") || checker.has("system.temperature_K")) return;
  if (!is_drawn(checker.deck().system.velocities)) return;
  if (checker.deck().thermostat.kind != Thermostat::none) return;
  checker.problem("system.velocities",
                  "these velocities need [system] temperature_K or a thermostat");
}

void velocities_have_a_source(Checker& checker) {
  if (!checker.trusted({"system.velocities", "system.file", "system.state"})) return;
  const VelocityKind velocities = checker.deck().system.velocities;
  if (velocities == VelocityKind::file && !checker.has("system.file")) {
    checker.problem(
        "system.velocities",
        fmt::format("velocities = \"file\" are those of a structure file, and the deck "
                    "has no file{}",
                    checker.has("system.state") ? "; those of the state are \"state\"" : ""));
  } else if (velocities == VelocityKind::state && !checker.has("system.state")) {
    checker.problem(
        "system.velocities",
        fmt::format("velocities = \"state\" are those of a state, and the deck has none{}",
                    checker.has("system.file") ? "; those of the file are \"file\"" : ""));
  }
}

void a_lone_molecule_moves(Checker& checker) {
  if (!checker.trusted({"system.molecules", "system.remove_momentum", "thermostat.kind"})) return;
  if (const auto problem = lone_molecule_problem(checker.deck(), checker.deck().system.molecules)) {
    checker.problem("system.remove_momentum", *problem);
  }
}

void equilibration_ends(Checker& checker) {
  if (!checker.trusted(
          {"run.equilibration_ps", "run.steps", "run.duration_ps", "integrator.timestep_fs"})) {
    return;
  }
  const auto steps = checker.number("run.steps");
  const auto duration_ps = checker.number("run.duration_ps");
  const double equilibration_ps = checker.deck().run.equilibration_ps;
  if (equilibration_ps == 0.0 || (!steps && !duration_ps)) return;
  const double length_ps =
      steps ? *steps * checker.deck().integrator.timestep_fs * 1e-3 : *duration_ps;
  // A run length of steps * h carries round-off.
  if (equilibration_ps < length_ps * (1.0 - 1e-12)) return;
  checker.problem(
      "run.equilibration_ps",
      fmt::format("equilibration_ps = {} must be less than the length of the run, {} ps",
                  number_text(equilibration_ps), number_text(length_ps)));
}

void state_fits(Checker& checker) {
  if (!checker.trusted({"system.molecules", "system.replicas"})) return;
  const SystemSection& system = checker.deck().system;
  const auto message = size_problem(checker.molecules(), system.replicas);
  if (!message) return;
  checker.problem(checker.has("system.replicas") ? "system.replicas" : "system.molecules",
                  *message);
}

void distances_fit(Checker& checker) {
  if (!checker.trusted({"system.molecules", "system.replicas", "observe.cluster.lindemann"})) {
    return;
  }
  // It is off where it was not asked for.
  if (checker.deck().exchange && !checker.has("observe.cluster.lindemann")) return;
  const auto message = lindemann_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.cluster.lindemann", *message);
}

void wall_is_complete(Checker& checker) {
  if (!checker.deck().confinement) return;
  for (const char* key : {"confinement.radius_A", "confinement.stiffness_kcal_per_mol_A2"}) {
    if (!checker.trusted({key}) || checker.has(key)) continue;
    checker.problem(key, std::string("[confinement] needs ") + (key + sizeof("confinement.") - 1));
  }
}

void window_has_a_middle(Checker& checker) {
  const auto& multipliers = checker.deck().multipliers;
  if (!multipliers || !checker.trusted({"observe.multipliers.window_steps"})) return;
  if (multipliers->window_steps % 2 == 1) return;
  checker.problem("observe.multipliers.window_steps",
                  fmt::format("window_steps = {} must be odd, so that it has a middle",
                              multipliers->window_steps));
}

bool is_infinite_penalty(const Checker& checker) {
  return checker.trusted({"integrator.scheme", "integrator.omega"}) &&
         !is_rigid(checker.deck().integrator.scheme) && std::isinf(checker.deck().integrator.omega);
}

void dense_solver_is_finite(Checker& checker) {
  if (!is_infinite_penalty(checker) || !checker.trusted({"integrator.solver"})) return;
  if (checker.deck().integrator.solver != Solver::dense) return;
  checker.problem("integrator.solver",
                  "solver = \"dense\" needs finite omega; \"structured\" does both");
}

void only_gauss_newton_is_infinite(Checker& checker) {
  if (!is_infinite_penalty(checker)) return;
  const IntegratorSection& integrator = checker.deck().integrator;
  if (integrator.scheme == Scheme::verlet || integrator.scheme == Scheme::newmark_one_step) {
    checker.problem(
        "integrator.omega",
        fmt::format("scheme = \"{}\" needs finite omega",
                    integrator.scheme == Scheme::verlet ? "verlet" : "newmark-one-step"));
  } else if (integrator.scheme == Scheme::zss_stiff && checker.trusted({"integrator.hessian"}) &&
             integrator.hessian != Hessian::gauss_newton) {
    checker.problem("integrator.hessian",
                    "this Hessian needs finite omega; \"gauss-newton\" does both");
  }
}

void study_hessians_go_with_zss(Checker& checker) {
  if (!checker.trusted({"integrator.scheme", "integrator.hessian"})) return;
  const IntegratorSection& integrator = checker.deck().integrator;
  const bool for_study =
      integrator.hessian == Hessian::molecule || integrator.hessian == Hessian::total;
  if (integrator.scheme == Scheme::newmark_one_step && for_study) {
    checker.problem("integrator.hessian",
                    "newmark-one-step has hessian = \"gauss-newton\" or \"full\" only");
  }
  if (!checker.trusted({"system.molecules"})) return;
  const auto problem = total_hessian_problem(integrator, checker.molecules());
  if (problem) checker.problem("integrator.hessian", *problem);
}

void noise_fits_the_step(Checker& checker) {
  if (!checker.trusted({"integrator.scheme", "thermostat.kind"})) return;
  if (checker.deck().integrator.scheme != Scheme::newmark_one_step) return;
  if (checker.deck().thermostat.kind != Thermostat::baoab) return;
  checker.problem("thermostat.kind",
                  "kind = \"baoab\" splits the drift, which is one linear solve in "
                  "newmark-one-step; use \"gla\"");
}

void iteration_is_exact(Checker& checker) {
  if (!checker.trusted({"integrator.scheme", "run.precision"})) return;
  if (checker.deck().integrator.scheme != Scheme::pushforward_newmark) return;
  if (checker.deck().run.precision == Precision::double_) return;
  checker.problem("run.precision",
                  "pushforward-newmark is solved to round-off and needs precision = \"double\"");
}

void single_has_the_step(Checker& checker) {
  if (!checker.trusted({"integrator.scheme", "integrator.solver", "integrator.hessian",
                        "integrator.timestep_fs", "run.precision"})) {
    return;
  }
  const IntegratorSection& i = checker.deck().integrator;
  if (checker.deck().run.precision != Precision::single) return;
  if (i.scheme == Scheme::newmark_one_step) {
    checker.problem("run.precision",
                    "newmark-one-step has no precision = \"single\"; use \"mixed\" or \"double\"");
  } else if (i.scheme == Scheme::zss_stiff &&
             (i.solver == Solver::dense || i.hessian == Hessian::molecule ||
              i.hessian == Hessian::total)) {
    checker.problem("run.precision",
                    "precision = \"single\" needs solver = \"structured\" and hessian = "
                    "\"gauss-newton\" or \"full\"");
  } else if (units::akma_from_fs(i.timestep_fs) > kLargestSingleStep) {
    checker.problem("integrator.timestep_fs",
                    fmt::format("precision = \"single\" takes time steps of up to {:.0f} fs",
                                std::floor(units::ps_from_akma(kLargestSingleStep) * 1e3)));
  } else if (i.scheme == Scheme::zss_stiff && checker.trusted({"integrator.omega"}) &&
             units::akma_from_fs(i.timestep_fs) * i.omega < kLeastSingleHOmega) {
    checker.problem(
        "integrator.omega",
        "precision = \"single\" needs a larger omega or time step: 1/(h omega)^2 is beyond "
        "what floats hold");
  }
}

void relaxation_is_finite(Checker& checker) {
  if (!is_infinite_penalty(checker) || !checker.has("system.relax")) return;
  if (!checker.deck().system.relax) return;
  checker.problem("system.relax", "relax = true needs finite omega: rigid bonds do not stretch");
}

void projection_is_finite(Checker& checker) {
  if (!is_infinite_penalty(checker) || !checker.trusted({"system.project"})) return;
  if (checker.deck().system.project == StartProjection::none) return;
  checker.problem("system.project",
                  "project = \"slow-manifold\" needs finite omega: rigid bonds do not vibrate");
}

void files_are_few(Checker& checker, const char* key, const char* files,
                   const ReplicaSelection& selection) {
  if (!checker.trusted({"system.replicas", key})) return;
  const int replicas = checker.deck().system.replicas;
  const int count = selection.count_of(replicas);
  if (count <= kMaxTrajectories) return;
  checker.problem(key, fmt::format("{} of {} replicas, at most {} are allowed; write replicas = n "
                                   "for the first n",
                                   files, count, kMaxTrajectories));
}

void trajectories_are_few(Checker& checker) {
  const Deck& deck = checker.deck();
  if (deck.trajectory) {
    files_are_few(checker, "observe.trajectory.replicas", "trajectories",
                  deck.trajectory->replicas);
  }
  if (deck.final_structures) {
    files_are_few(checker, "observe.final.replicas", "final structures",
                  deck.final_structures->replicas);
  }
}

void trajectory_format_is_built(Checker& checker) {
  if (!checker.trusted({"observe.trajectory.format"})) return;
  const auto& trajectory = checker.deck().trajectory;
  if (!trajectory || trajectory->format != io::FileFormat::h5md || io::has_h5md()) return;
  checker.problem("observe.trajectory.format",
                  "this build has no HDF5, which h5md needs: install libhdf5-dev and build anew");
}

void dcd_can_count_the_interval(Checker& checker) {
  if (!checker.trusted({"observe.trajectory.format", "observe.trajectory.every"})) return;
  const auto& trajectory = checker.deck().trajectory;
  if (!trajectory || trajectory->format != io::FileFormat::dcd) return;
  if (trajectory->every <= std::numeric_limits<std::int32_t>::max()) return;
  checker.problem("observe.trajectory.every",
                  fmt::format("every = {} does not fit a DCD file, which counts steps in 32 bits",
                              trajectory->every));
}

void frames_can_count_their_steps(Checker& checker) {
  if (!checker.trusted({"observe.trajectory.format", "run.steps", "run.duration_ps",
                        "integrator.timestep_fs"})) {
    return;
  }
  const auto& trajectory = checker.deck().trajectory;
  if (!trajectory || !io::format_of(trajectory->format).has_steps_of_32_bits) return;
  if (checker.deck().run.steps <= std::numeric_limits<std::int32_t>::max()) return;
  checker.problem("observe.trajectory.format",
                  fmt::format("{} counts steps in 32 bits, and the run has {} of them: take xyz or "
                              "h5md",
                              io::format_of(trajectory->format).name, checker.deck().run.steps));
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table{
      {"`[system]` needs `molecules`, `file` or `state`.", start_is_given},
      {"`model = \"own\"` and `[model]` need each other, and that all its numbers but `om_A`.",
       own_model_is_complete},
      {"`frame` needs `file`.", frame_has_a_file},
      {"With both `molecules` and `file` or `state`, that must hold as many molecules.",
       start_has_the_molecules},
      {"`state` has as many replicas as the deck, or one, and none that was stopped; with a "
       "thermostat in both runs `seed` is another one.",
       state_is_a_start},
      {"`[run]` needs exactly one of `steps` and `duration_ps`.", length_is_given},
      {"`duration_ps` may not be more than 10¹² steps.", length_is_possible},
      {"A thermostat other than `none` needs exactly one of `temperature_K` and `temperatures_K`, "
       "and "
       "exactly one of `friction_per_ps` "
       "and `friction_amu_per_ps`.",
       bath_is_complete},
      {"`[observe.heat]` needs a thermostat other than `none`.", heat_has_a_bath},
      {"`temperatures_K` holds at most one number a replica.", temperatures_have_replicas},
      {"`[exchange]` needs a thermostat with two or more `temperatures_K`, above 0 and rising, and "
       "`replicas` a multiple of their number.",
       ladder_is_complete},
      {"`[exchange]` does not go with `[observe.heat]`, `[observe.evaporation]`, `lindemann = "
       "true` and `window_steps` above 1.",
       states_stay_where_they_are},
      {"`[observe.evaporation]` needs two molecules.", molecules_can_leave},
      {"`velocities` that are drawn need `[system] temperature_K` or a thermostat.",
       velocities_have_a_temperature},
      {"`velocities = \"file\"` needs `file`, with velocities in it, and `\"state\"` needs "
       "`state`.",
       velocities_have_a_source},
      {"`remove_momentum` without a thermostat needs two molecules.", a_lone_molecule_moves},
      {"`equilibration_ps` is less than the length of the run.", equilibration_ends},
      {"`molecules` times `replicas` is at most 10⁸.", state_fits},
      {"With `lindemann = true`, all replicas together have at most 10⁷ pairs of molecules.",
       distances_fit},
      {"`[observe.spectrum]` needs one temperature, above 0 K if it is that of a bath.",
       spectrum_has_one_temperature},
      {"`[observe.spectrum]` remembers at most 10⁸ numbers: a segment of all its replicas, and the "
       "sums behind its error bars.",
       segments_fit},
      {"`[observe.correlation]` needs one temperature.", correlation_has_one_temperature},
      {"`[observe.correlation]` remembers at most 10⁸ numbers: origins and sums of each replica, "
       "and the sums behind its error bars.",
       lags_fit},
      {"`[observe.profile]` remembers at most 10⁸ numbers, the sums behind its error bars by bath.",
       profile_fits},
      {"`[observe.minima]` remembers at most 10⁸ numbers: a structure of each isomer, and the sums "
       "behind its error bars by bath.",
       minima_fit},
      {"`[observe.rdf]` with several baths has at most 4096 of them, and 250 000 bins in all.",
       histograms_fit},
      {"`[confinement]` needs `radius_A` and `stiffness_kcal_per_mol_A2`.", wall_is_complete},
      {"`window_steps` is odd.", window_has_a_middle},
      {"`solver = \"dense\"` needs finite `omega`.", dense_solver_is_finite},
      {"Infinite `omega` goes with `zss-stiff` and `hessian = \"gauss-newton\"`, and with "
       "`pushforward-newmark`.",
       only_gauss_newton_is_infinite},
      {"`hessian = \"molecule\"` and `\"total\"` go with `zss-stiff` only, `\"total\"` with at "
       "most 128 molecules.",
       study_hessians_go_with_zss},
      {"`newmark-one-step` does not go with `kind = \"baoab\"`.", noise_fits_the_step},
      {"`pushforward-newmark` needs `precision = \"double\"`.", iteration_is_exact},
      {"`precision = \"single\"` takes steps of up to 12 fs; `zss-stiff` in it needs `solver = "
       "\"structured\"`, `hessian = \"gauss-newton\"` or `\"full\"` and h omega of at least 10⁻⁵. "
       "`newmark-one-step` does not have it.",
       single_has_the_step},
      {"`relax = true` needs finite `omega`.", relaxation_is_finite},
      {"`project = \"slow-manifold\"` needs finite `omega`.", projection_is_finite},
      {"Trajectories and final structures are written of at most 10 000 replicas.",
       trajectories_are_few},
      {"`format = \"h5md\"` needs a build with HDF5; `tarn doctor` says which this is.",
       trajectory_format_is_built},
      {"`format = \"dcd\"` needs `every` below 2³¹.", dcd_can_count_the_interval},
      {"`format = \"xtc\"` and `\"trr\"` need fewer than 2³¹ steps.", frames_can_count_their_steps},
  };
  return table;
}

double steps_in(double time_ps, double timestep_fs) {
  const double steps = time_ps * 1e3 / timestep_fs;
  const double whole = std::round(steps);
  const double round_off = 1e-9 + 1e-15 * whole;
  return std::abs(steps - whole) <= round_off ? whole : std::ceil(steps);
}

bool default_relax(const Deck& deck) {
  const bool stretches = !is_rigid(deck.integrator.scheme) && std::isfinite(deck.integrator.omega);
  return stretches && !deck.system.state && deck.system.velocities != VelocityKind::file;
}

std::optional<std::string> total_hessian_problem(const IntegratorSection& integrator,
                                                 std::int64_t molecules) {
  if (integrator.scheme != Scheme::zss_stiff || integrator.hessian != Hessian::total) {
    return std::nullopt;
  }
  if (molecules <= kMaxTotalHessianMolecules) return std::nullopt;
  return fmt::format(
      "hessian = \"total\" factorises a matrix of {0}×{0} at each step for {1} "
      "molecules; at most {2} are allowed",
      9 * molecules, molecules, kMaxTotalHessianMolecules);
}

std::optional<std::string> lone_molecule_problem(const Deck& deck, std::int64_t molecules) {
  if (molecules != 1 || !deck.system.remove_momentum) return std::nullopt;
  if (deck.thermostat.kind != Thermostat::none) return std::nullopt;
  return "remove_momentum = true takes all motion from a single molecule; leave it out, or give "
         "two molecules or a thermostat";
}

std::optional<std::string> size_problem(std::int64_t molecules, std::int64_t replicas) {
  const std::int64_t total = molecules * replicas;
  if (total <= kMaxTotalMolecules) return std::nullopt;
  return fmt::format(
      "{} replicas of {} molecules are {} molecules, {:.1f} GB for positions and velocities alone; "
      "at most {} are allowed",
      replicas, molecules, total, static_cast<double>(total) * 144e-9, kMaxTotalMolecules);
}

std::optional<std::string> spectrum_problem(const Deck& deck, std::int64_t molecules) {
  if (!deck.spectrum) return std::nullopt;
  // 4 bytes each, in every checkpoint too.
  constexpr double kMostNumbers = 1e8;
  const int replicas = deck.spectrum->replicas.count_of(deck.system.replicas);
  const std::size_t samples = spectrum_samples(deck);
  const auto size = static_cast<double>(samples);
  const double velocities = 9.0 * static_cast<double>(molecules) * replicas * size;
  // Two quantities at half as many frequencies, of doubles; segments overlap by half.
  const double segments = 2.0 * static_cast<double>(deck.run.steps / deck.spectrum->every) / size;
  const double sums =
      2.0 * size * analysis::PooledBlocking::of_replicas(replicas).max_numbers(segments);
  if (velocities + sums <= kMostNumbers) return std::nullopt;
  return fmt::format(
      "a segment is {} samples of {} velocities of {} replica{}, {:.2g} numbers, with {:.2g} for "
      "error bars, and at most {:.0e} are allowed; write a larger every, a coarser "
      "resolution_per_cm or replicas = n",
      samples, 9 * molecules, replicas, replicas == 1 ? "" : "s", velocities, sums, kMostNumbers);
}

double correlation_numbers(const Deck& deck, std::int64_t molecules) {
  if (!deck.correlation) return 0.0;
  const ObserveCorrelation& section = *deck.correlation;
  const int replicas = section.replicas.count_of(deck.system.replicas);
  return analysis::correlation_numbers(static_cast<double>(molecules), replicas, replicas,
                                       correlation_lags(section, deck.integrator.timestep_fs),
                                       static_cast<double>(deck.run.steps / section.every));
}

std::optional<std::string> correlation_problem(const Deck& deck, std::int64_t molecules) {
  const double numbers = correlation_numbers(deck, molecules);
  if (numbers <= analysis::kMaxCorrelationNumbers) return std::nullopt;
  const int replicas = deck.correlation->replicas.count_of(deck.system.replicas);
  return fmt::format(
      "{} samples up to length_ps are {:.2g} numbers of {} replica{}, with those for error bars, "
      "and at most {:.0e} are allowed; write a larger every, a shorter length_ps or replicas = n",
      correlation_lags(*deck.correlation, deck.integrator.timestep_fs), numbers, replicas,
      replicas == 1 ? "" : "s", analysis::kMaxCorrelationNumbers);
}

std::optional<std::string> minima_problem(const Deck& deck, std::int64_t molecules) {
  if (!deck.minima) return std::nullopt;
  // 8 bytes each, in every checkpoint too.
  constexpr double kMostNumbers = 1e8;
  const std::size_t baths = baths_of(deck);
  const auto of_bath = static_cast<int>(
      std::max<std::size_t>(1, static_cast<std::size_t>(deck.system.replicas) / baths));
  const auto samples = static_cast<double>(deck.run.steps / deck.minima->every + 1);
  const double sums = static_cast<double>(baths) *
                      analysis::PooledBlocking::of_replicas(of_bath).max_numbers(samples * of_bath);
  const double structure = 9.0 * static_cast<double>(molecules);
  const double numbers = (deck.minima->isomers + 1.0) * (structure + sums);
  if (numbers <= kMostNumbers) return std::nullopt;
  return fmt::format(
      "each of {} isomers is {:.2g} numbers, with {:.2g} for error bars of {} bath{}, and at most "
      "{:.0e} are allowed in all; write a smaller isomers{}",
      deck.minima->isomers, structure, sums, baths, baths == 1 ? "" : "s", kMostNumbers,
      baths > 1 ? " or fewer baths" : "");
}

std::optional<std::string> lindemann_problem(const Deck& deck, std::int64_t molecules) {
  if (!deck.cluster || !deck.cluster->lindemann) return std::nullopt;
  const std::int64_t pairs = molecules * (molecules - 1) / 2 * deck.system.replicas;
  if (pairs <= analysis::LindemannIndex::kMostPairs) return std::nullopt;
  return fmt::format(
      "the Lindemann index remembers every pair of molecules of every replica, {} here, and at "
      "most {} are allowed; write lindemann = false",
      pairs, analysis::LindemannIndex::kMostPairs);
}

}  // namespace tarn::decks
