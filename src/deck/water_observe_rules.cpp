#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "checker.hpp"
#include "core/count_text.hpp"
#include "system_limits.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/physics/water_model.hpp"
#include "water_rules.hpp"

namespace tarn::decks {
namespace {

void check_file_count(Checker& checker, const char* key, const char* files,
                      const ReplicaSelection& selection) {
  if (!checker.is_reliable({"system.replicas", key})) return;
  const int replicas = checker.deck().system.replicas;
  const int count = selection.count_of(replicas);
  if (count <= kMaxTrajectories) return;
  checker.problem(
      key,
      fmt::format("{} of {} replicas exceed the limit of {}; write replicas = n for the first n",
                  files, count, kMaxTrajectories));
}

void heat_needs_thermostat(Checker& checker) {
  if (!checker.deck().heat || !checker.is_reliable({"thermostat.kind"})) return;
  if (checker.deck().thermostat.kind != Thermostat::none) return;
  checker.problem(
      "observe.heat.every",
      "[observe.heat] needs a thermostat; at constant energy use [observe.conservation]");
}

void exchange_excludes_path_observables(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.exchange) return;
  if (deck.heat) {
    checker.problem("observe.heat.every",
                    "[observe.heat] does not support [exchange]: exchanged states change the "
                    "energy by neither heat nor work");
  }
  if (deck.evaporation) {
    checker.problem("observe.evaporation.every",
                    "[observe.evaporation] does not support [exchange], which moves evaporated "
                    "clusters between temperatures");
  }
  if (deck.cluster && deck.cluster->lindemann && checker.has("observe.cluster.lindemann") &&
      checker.is_reliable({"observe.cluster.lindemann"})) {
    checker.problem("observe.cluster.lindemann",
                    "the Lindemann index follows the molecules of one replica, which [exchange] "
                    "replaces; write lindemann = false");
  }
  if (deck.multipliers && deck.multipliers->window_steps > 1) {
    checker.problem("observe.multipliers.window_steps",
                    "a mean over several steps does not support [exchange], which replaces the "
                    "molecules; write window_steps = 1");
  }
}

void lindemann_fits_memory(Checker& checker) {
  if (!checker.is_reliable({"system.molecules", "system.replicas", "observe.cluster.lindemann"})) {
    return;
  }
  // With [exchange] it is off by default.
  if (checker.deck().exchange && !checker.has("observe.cluster.lindemann")) return;
  const auto message = lindemann_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.cluster.lindemann", *message);
}

void multipliers_need_rigid_model(Checker& checker) {
  if (!checker.deck().multipliers || !checker.is_reliable({"system.model", "model.stretch"}))
    return;
  if (!is_flexible(checker.deck())) return;
  checker.problem(
      "observe.multipliers.every",
      fmt::format("[observe.multipliers] needs a rigid model: {}", rigid_model_names()));
}

void multiplier_window_is_odd(Checker& checker) {
  const auto& multipliers = checker.deck().multipliers;
  if (!multipliers || !checker.is_reliable({"observe.multipliers.window_steps"})) return;
  if (multipliers->window_steps % 2 == 1) return;
  checker.problem("observe.multipliers.window_steps",
                  fmt::format("window_steps = {} must be odd", multipliers->window_steps));
}

void rdf_fits_memory(Checker& checker) {
  if (!checker.deck().rdf ||
      !checker.is_reliable({"thermostat.temperatures_K", "observe.rdf.bins"})) {
    return;
  }
  constexpr std::int64_t kMaxBaths = 4096, kMaxBins = 250'000;  // 400 MB in blocks of time
  const std::vector<double>& baths = checker.deck().thermostat.temperatures_K;
  const auto count = static_cast<std::int64_t>(baths.size());
  const std::int64_t bins = checker.deck().rdf->bins;
  if (!has_several_baths(baths) || (count <= kMaxBaths && count * bins <= kMaxBins)) return;
  checker.problem(count <= kMaxBaths ? "observe.rdf.bins" : "thermostat.temperatures_K",
                  fmt::format("[observe.rdf] has {} bins for each of {}; expected at most {} "
                              "temperatures and {} bins in total",
                              bins, count_text(static_cast<std::int64_t>(count), "temperature"),
                              kMaxBaths, kMaxBins));
}

void profile_fits_memory(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.profile ||
      !checker.is_reliable({"system.replicas", "thermostat.kind", "thermostat.temperature_K",
                            "thermostat.temperatures_K", "run.steps", "run.duration_ps",
                            "integrator.timestep_fs", "observe.profile.every",
                            "observe.profile.bins"})) {
    return;
  }
  // 8 bytes each, also in every checkpoint.
  constexpr double kMaxNumbers = 1e8;
  const auto samples = static_cast<double>(deck.run.steps / deck.profile->every + 1);
  const auto of_replicas = [&](std::size_t replicas) {
    return analysis::PooledBlocking::of_replicas(static_cast<int>(replicas)).max_numbers(samples);
  };
  const auto replicas = static_cast<std::size_t>(deck.system.replicas);
  double of_shell = of_replicas(replicas);
  if (const std::size_t baths = distinct_baths(deck); baths > 1) {
    of_shell += static_cast<double>(baths) * of_replicas(replicas / baths + 1);
  }
  // Mass, oxygens, hydrogens, orientation.
  const double numbers = 4.0 * deck.profile->bins * of_shell;
  if (numbers <= kMaxNumbers) return;
  checker.problem("observe.profile.bins",
                  fmt::format("{1:.2g} numbers for the error bars of {0} shells exceed the limit "
                              "of {2:.0e}; reduce bins or increase every",
                              deck.profile->bins, numbers, kMaxNumbers));
}

void spectrum_has_one_temperature(Checker& checker) {
  if (!checker.deck().spectrum) return;
  if (!checker.is_reliable(
          {"thermostat.kind", "thermostat.temperature_K", "thermostat.temperatures_K"})) {
    return;
  }
  const ThermostatSection& thermostat = checker.deck().thermostat;
  if (thermostat.kind == Thermostat::none) return;
  const std::vector<double>& baths_K = thermostat.temperatures_K;
  if (has_several_baths(baths_K)) {
    checker.problem("observe.spectrum.every",
                    "[observe.spectrum] averages over the replicas and needs a single temperature");
  } else if (thermostat.temperature_K == 0.0 || (!baths_K.empty() && baths_K[0] == 0.0)) {
    checker.problem("observe.spectrum.every",
                    "[observe.spectrum] is normalised by kT and needs a temperature above 0 K");
  }
}

void spectrum_fits_memory(Checker& checker) {
  if (!checker.is_reliable({"system.molecules", "system.replicas", "integrator.timestep_fs",
                            "run.steps", "run.duration_ps", "observe.spectrum.every",
                            "observe.spectrum.resolution_per_cm", "observe.spectrum.replicas"})) {
    return;
  }
  const auto message = spectrum_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.spectrum.resolution_per_cm", *message);
}

void correlation_has_one_temperature(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.correlation || !checker.is_reliable({"thermostat.kind", "thermostat.temperatures_K"})) {
    return;
  }
  if (!has_several_baths(deck.thermostat.temperatures_K)) return;
  checker.problem(
      "observe.correlation.every",
      "[observe.correlation] averages over the replicas and needs a single temperature");
}

void correlation_fits_memory(Checker& checker) {
  if (!checker.is_reliable({"system.molecules", "system.replicas", "integrator.timestep_fs",
                            "run.steps", "run.duration_ps", "observe.correlation.every",
                            "observe.correlation.length_ps", "observe.correlation.replicas"})) {
    return;
  }
  const auto message = correlation_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.correlation.length_ps", *message);
}

void evaporation_needs_two_molecules(Checker& checker) {
  if (!checker.deck().evaporation || !checker.is_reliable({"system.molecules"})) return;
  if (checker.molecules() != 1) return;
  checker.problem("observe.evaporation.every",
                  "[observe.evaporation] needs at least two molecules");
}

void minima_fit_memory(Checker& checker) {
  if (!checker.is_reliable({"system.molecules", "system.replicas", "thermostat.kind",
                            "thermostat.temperature_K", "thermostat.temperatures_K", "run.steps",
                            "run.duration_ps", "integrator.timestep_fs", "observe.minima.every",
                            "observe.minima.isomers"})) {
    return;
  }
  const auto message = minima_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.minima.isomers", *message);
}

void trajectory_count_is_limited(Checker& checker) {
  const Deck& deck = checker.deck();
  if (deck.trajectory) {
    check_file_count(checker, "observe.trajectory.replicas", "trajectories",
                     deck.trajectory->replicas);
  }
  if (deck.final_structures) {
    check_file_count(checker, "observe.final.replicas", "final structures",
                     deck.final_structures->replicas);
  }
}

void trajectory_format_is_available(Checker& checker) {
  if (!checker.is_reliable({"observe.trajectory.format"})) return;
  const auto& trajectory = checker.deck().trajectory;
  if (!trajectory || trajectory->format != io::FileFormat::h5md || io::has_h5md()) return;
  checker.problem(
      "observe.trajectory.format",
      "h5md needs HDF5, which this build does not include; install libhdf5-dev and build again");
}

void trajectory_beads_exist(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.trajectory || !deck.path_integral ||
      !checker.is_reliable({"path_integral.beads", "observe.trajectory.beads"})) {
    return;
  }
  const BeadSelection& selected = deck.trajectory->beads;
  const int beads = deck.path_integral->beads;
  if (selected.kind == BeadSelection::Kind::one && selected.number >= beads) {
    checker.problem("observe.trajectory.beads",
                    fmt::format("beads = {} exceeds the last bead: [path_integral] beads = {}, "
                                "numbered from 0 to {}",
                                selected.number, beads, beads - 1));
  }
  if (deck.trajectory->velocities && selected.kind != BeadSelection::Kind::centroid) {
    checker.problem("observe.trajectory.velocities",
                    "velocities are those of the centroids; write beads = \"centroid\", or leave "
                    "the velocities out");
  }
}

void dcd_interval_fits_32_bits(Checker& checker) {
  if (!checker.is_reliable({"observe.trajectory.format", "observe.trajectory.every"})) return;
  const auto& trajectory = checker.deck().trajectory;
  if (!trajectory || trajectory->format != io::FileFormat::dcd) return;
  if (trajectory->every <= std::numeric_limits<std::int32_t>::max()) return;
  checker.problem("observe.trajectory.every",
                  fmt::format("every = {} exceeds the 32-bit step count of DCD files; use a "
                              "smaller interval or another format",
                              trajectory->every));
}

void frame_steps_fit_32_bits(Checker& checker) {
  if (!checker.is_reliable({"observe.trajectory.format", "run.steps", "run.duration_ps",
                            "integrator.timestep_fs"})) {
    return;
  }
  const auto& trajectory = checker.deck().trajectory;
  if (!trajectory || !io::format_of(trajectory->format).has_steps_of_32_bits) return;
  if (checker.deck().run.steps <= std::numeric_limits<std::int32_t>::max()) return;
  checker.problem(
      "observe.trajectory.format",
      fmt::format("{} has a 32-bit step count, and the run has {} steps; use xyz or h5md",
                  io::format_of(trajectory->format).name, checker.deck().run.steps));
}

}  // namespace

std::vector<Rule> observe_rules() {
  return {
      {"`[observe.heat]` requires a thermostat other than `none`.", heat_needs_thermostat,
       "observe.heat"},
      {"`[exchange]` does not support `[observe.heat]`, `[observe.evaporation]`, `lindemann = "
       "true` or `window_steps` above 1.",
       exchange_excludes_path_observables, "exchange"},
      {"With `lindemann = true`, all replicas together have at most 10⁷ pairs of molecules.",
       lindemann_fits_memory, "observe.cluster"},
      {"`[observe.multipliers]` requires a rigid model.", multipliers_need_rigid_model,
       "observe.multipliers"},
      {"`window_steps` is odd.", multiplier_window_is_odd, "observe.multipliers"},
      {"`[observe.rdf]` supports at most 4096 temperatures, and 250 000 bins in total if there are "
       "several.",
       rdf_fits_memory, "observe.rdf"},
      {"`[observe.profile]` stores at most 10⁸ numbers: the sums for its error bars per "
       "temperature.",
       profile_fits_memory, "observe.profile"},
      {"`[observe.spectrum]` requires a single temperature; it must be above 0 K.",
       spectrum_has_one_temperature, "observe.spectrum"},
      {"`[observe.spectrum]` stores at most 10⁸ numbers: a segment of all its replicas, and the "
       "sums for its error bars.",
       spectrum_fits_memory, "observe.spectrum"},
      {"`[observe.correlation]` requires a single temperature.", correlation_has_one_temperature,
       "observe.correlation"},
      {"`[observe.correlation]` stores at most 10⁸ numbers: time origins and sums of each replica, "
       "and the sums for its error bars.",
       correlation_fits_memory, "observe.correlation"},
      {"`[observe.evaporation]` requires two or more molecules.", evaporation_needs_two_molecules,
       "observe.evaporation"},
      {"`[observe.minima]` stores at most 10⁸ numbers: a structure of each isomer, and the sums "
       "for its error bars per temperature.",
       minima_fit_memory, "observe.minima"},
      {"At most 10 000 replicas can have trajectories and final structures.",
       trajectory_count_is_limited, "observe.trajectory"},
      {"`format = \"h5md\"` requires a build with HDF5; `tarn doctor` reports whether this one has "
       "it.",
       trajectory_format_is_available, "observe.trajectory"},
      {"`beads` of a trajectory is below the number of beads of `[path_integral]`; `velocities = "
       "true` requires `beads = \"centroid\"`.",
       trajectory_beads_exist, "observe.trajectory"},
      {"`format = \"dcd\"` requires `every` below 2³¹.", dcd_interval_fits_32_bits,
       "observe.trajectory"},
      {"`format = \"xtc\"` and `\"trr\"` require fewer than 2³¹ steps.", frame_steps_fit_32_bits,
       "observe.trajectory"},
  };
}

}  // namespace tarn::decks
