#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "checker.hpp"
#include "system_limits.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/io/formats.hpp"
#include "water_rules.hpp"

namespace tarn::decks {
namespace {

void check_file_count(Checker& checker, const char* key, const char* files,
                      const ReplicaSelection& selection) {
  if (!checker.is_reliable({"system.replicas", key})) return;
  const int replicas = checker.deck().system.replicas;
  const int count = selection.count_of(replicas);
  if (count <= kMaxTrajectories) return;
  checker.problem(key, fmt::format("{} of {} replicas, at most {} are allowed; write replicas = n "
                                   "for the first n",
                                   files, count, kMaxTrajectories));
}

void heat_needs_thermostat(Checker& checker) {
  if (!checker.deck().heat || !checker.is_reliable({"thermostat.kind"})) return;
  if (checker.deck().thermostat.kind != Thermostat::none) return;
  checker.problem("observe.heat.every",
                  "[observe.heat] needs a thermostat; without one the conserved quantity is that "
                  "of [observe.conservation]");
}

void exchange_excludes_path_observables(Checker& checker) {
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
      checker.is_reliable({"observe.cluster.lindemann"})) {
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

void lindemann_fits_memory(Checker& checker) {
  if (!checker.is_reliable({"system.molecules", "system.replicas", "observe.cluster.lindemann"})) {
    return;
  }
  // It is off where it was not asked for.
  if (checker.deck().exchange && !checker.has("observe.cluster.lindemann")) return;
  const auto message = lindemann_problem(checker.deck(), checker.molecules());
  if (message) checker.problem("observe.cluster.lindemann", *message);
}

void multiplier_window_is_odd(Checker& checker) {
  const auto& multipliers = checker.deck().multipliers;
  if (!multipliers || !checker.is_reliable({"observe.multipliers.window_steps"})) return;
  if (multipliers->window_steps % 2 == 1) return;
  checker.problem("observe.multipliers.window_steps",
                  fmt::format("window_steps = {} must be odd, so that it has a middle",
                              multipliers->window_steps));
}

void rdf_fits_memory(Checker& checker) {
  if (!checker.deck().rdf ||
      !checker.is_reliable({"thermostat.temperatures_K", "observe.rdf.bins"})) {
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

void profile_fits_memory(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.profile ||
      !checker.is_reliable({"system.replicas", "thermostat.kind", "thermostat.temperature_K",
                            "thermostat.temperatures_K", "run.steps", "run.duration_ps",
                            "integrator.timestep_fs", "observe.profile.every",
                            "observe.profile.bins"})) {
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
  if (const std::size_t baths = distinct_baths(deck); baths > 1) {
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
                    "[observe.spectrum] averages over the replicas, and these have baths of "
                    "several temperatures; run it with one");
  } else if (thermostat.temperature_K == 0.0 || (!baths_K.empty() && baths_K[0] == 0.0)) {
    checker.problem("observe.spectrum.every",
                    "[observe.spectrum] counts in units of kT and needs a bath above 0 K");
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
  checker.problem("observe.correlation.every",
                  "[observe.correlation] averages over the replicas, and these have baths of "
                  "several temperatures; run it with one");
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
  checker.problem("observe.evaporation.every", "[observe.evaporation] needs two molecules or more");
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
  checker.problem("observe.trajectory.format",
                  "this build has no HDF5, which h5md needs: install libhdf5-dev and build anew");
}

void dcd_interval_fits_32_bits(Checker& checker) {
  if (!checker.is_reliable({"observe.trajectory.format", "observe.trajectory.every"})) return;
  const auto& trajectory = checker.deck().trajectory;
  if (!trajectory || trajectory->format != io::FileFormat::dcd) return;
  if (trajectory->every <= std::numeric_limits<std::int32_t>::max()) return;
  checker.problem("observe.trajectory.every",
                  fmt::format("every = {} does not fit a DCD file, which counts steps in 32 bits",
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
  checker.problem("observe.trajectory.format",
                  fmt::format("{} counts steps in 32 bits, and the run has {} of them: take xyz or "
                              "h5md",
                              io::format_of(trajectory->format).name, checker.deck().run.steps));
}

}  // namespace

std::vector<Rule> observe_rules() {
  return {
      {"`[observe.heat]` needs a thermostat other than `none`.", heat_needs_thermostat},
      {"`[exchange]` does not go with `[observe.heat]`, `[observe.evaporation]`, `lindemann = "
       "true` and `window_steps` above 1.",
       exchange_excludes_path_observables},
      {"With `lindemann = true`, all replicas together have at most 10⁷ pairs of molecules.",
       lindemann_fits_memory},
      {"`window_steps` is odd.", multiplier_window_is_odd},
      {"`[observe.rdf]` with several baths has at most 4096 of them, and 250 000 bins in all.",
       rdf_fits_memory},
      {"`[observe.profile]` remembers at most 10⁸ numbers, the sums behind its error bars by bath.",
       profile_fits_memory},
      {"`[observe.spectrum]` needs one temperature, above 0 K if it is that of a bath.",
       spectrum_has_one_temperature},
      {"`[observe.spectrum]` remembers at most 10⁸ numbers: a segment of all its replicas, and the "
       "sums behind its error bars.",
       spectrum_fits_memory},
      {"`[observe.correlation]` needs one temperature.", correlation_has_one_temperature},
      {"`[observe.correlation]` remembers at most 10⁸ numbers: origins and sums of each replica, "
       "and the sums behind its error bars.",
       correlation_fits_memory},
      {"`[observe.evaporation]` needs two molecules.", evaporation_needs_two_molecules},
      {"`[observe.minima]` remembers at most 10⁸ numbers: a structure of each isomer, and the sums "
       "behind its error bars by bath.",
       minima_fit_memory},
      {"Trajectories and final structures are written of at most 10 000 replicas.",
       trajectory_count_is_limited},
      {"`format = \"h5md\"` needs a build with HDF5; `tarn doctor` says which this is.",
       trajectory_format_is_available},
      {"`format = \"dcd\"` needs `every` below 2³¹.", dcd_interval_fits_32_bits},
      {"`format = \"xtc\"` and `\"trr\"` need fewer than 2³¹ steps.", frame_steps_fit_32_bits},
  };
}

}  // namespace tarn::decks
