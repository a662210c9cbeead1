#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "analysis/blocking.hpp"
#include "checker.hpp"
#include "core/text.hpp"
#include "io/frame_formats.hpp"
#include "system_limits.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/formats.hpp"
#include "water_keys.hpp"

/// @file
/// Observers of structures: evaporation, minima, trajectories and final structures.

namespace tarn::decks {
namespace {

std::optional<Message> warning_of_evaporation(const Deck& deck) {
  if (!deck.evaporation || deck.system.state) return std::nullopt;
  if (deck.thermostat.kind == Thermostat::none) return std::nullopt;
  const double friction_per_ps = deck.thermostat.friction_per_ps.value_or(0.0);
  // Energies are then within 5 % of those of the bath.
  constexpr double kTimes = 3.0;
  if (friction_per_ps == 0.0 || deck.run.equilibration_ps * friction_per_ps >= kTimes) {
    return std::nullopt;
  }
  const double needed_ps = std::ceil(kTimes / friction_per_ps);
  const double length_ps = static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs * 1e-3;
  return Message::warning(fmt::format(
      "[observe.evaporation] starts at {:g} ps, before a friction of {:g}/ps has equilibrated the "
      "start. Set [run] equilibration_ps = {:.15g} or more{}, or start from the state of a run "
      "with a wall",
      deck.run.equilibration_ps, friction_per_ps, needed_ps,
      needed_ps < length_ps ? "" : fmt::format(" and a duration_ps above {:.15g}", needed_ps)));
}

std::optional<std::string> minima_problem(const Deck& deck, std::int64_t molecules) {
  if (!deck.minima) return std::nullopt;
  // 8 bytes each, also in every checkpoint.
  constexpr double kMaxNumbers = 1e8;
  const std::size_t baths = distinct_baths(deck);
  const auto of_bath = static_cast<int>(
      std::max<std::size_t>(1, static_cast<std::size_t>(deck.system.replicas) / baths));
  const auto samples = static_cast<double>(deck.run.steps / deck.minima->every + 1);
  const double sums = static_cast<double>(baths) *
                      analysis::PooledBlocking::of_replicas(of_bath).max_numbers(samples * of_bath);
  const double structure = 9.0 * static_cast<double>(molecules);
  // Halves of a population in up to 64 blocks of 32 series, and the paths of walkers.
  constexpr double kHalves = 2.0 * 65.0 * 32.0;
  const double paths = 1024.0 * std::min(deck.system.replicas, 1024);
  const double numbers = (deck.minima->isomers + 1.0) * (structure + sums + kHalves) + paths;
  if (numbers <= kMaxNumbers) return std::nullopt;
  return fmt::format(
      "{} of {:.2g} numbers each, with {:.2g} for error bars of {}, exceed the limit of {:.0e} "
      "numbers; reduce isomers{}",
      count_text(deck.minima->isomers, "isomer"), structure, sums,
      count_text(static_cast<std::int64_t>(baths), "temperature"), kMaxNumbers,
      baths > 1 ? " or the number of temperatures" : "");
}

void trajectory_count_is_limited(Checker& checker) {
  const Deck& deck = checker.deck();
  const auto check = [&](std::string_view key, const char* files, const auto& section) {
    if (!section || !checker.is_reliable({"system.replicas", key})) return;
    const int count = section->replicas.count_of(deck.system.replicas);
    checker.problem_if(
        count > kMaxTrajectories, key,
        fmt::format("{} of {} replicas exceed the limit of {}; write replicas = n for the first n",
                    files, count, kMaxTrajectories));
  };
  check("observe.trajectory.replicas", "trajectories", deck.trajectory);
  check("observe.final.replicas", "final structures", deck.final_structures);
}

void trajectory_format_is_available(Checker& checker) {
  if (!checker.is_reliable({"observe.trajectory.format"})) return;
  const auto& trajectory = checker.deck().trajectory;
  if (!trajectory || trajectory->format != io::FileFormat::h5md) return;
  try {
    io::hdf5_version();
  } catch (const InputError& error) {
    checker.problem("observe.trajectory.format", error.what());
  }
}

void trajectory_beads_exist(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.trajectory || !deck.path_integral ||
      !checker.is_reliable({"path_integral.beads", "observe.trajectory.beads"})) {
    return;
  }
  const BeadSelection& selected = deck.trajectory->beads;
  const int beads = deck.path_integral->beads;
  checker.problem_if(
      selected.kind == BeadSelection::Kind::one && selected.number >= beads,
      "observe.trajectory.beads",
      fmt::format(
          "beads = {} exceeds the last bead: [path_integral] beads = {}, numbered from 0 to {}",
          selected.number, beads, beads - 1));
  checker.problem_if(deck.trajectory->velocities && selected.kind != BeadSelection::Kind::centroid,
                     "observe.trajectory.velocities",
                     "velocities are those of the centroids; write beads = \"centroid\", or leave "
                     "the velocities out");
}

constexpr std::int64_t kMost32Bits = std::numeric_limits<std::int32_t>::max();

std::string problem_of_dcd(const Checker& checker) {
  const auto& trajectory = checker.deck().trajectory;
  if (!trajectory || trajectory->format != io::FileFormat::dcd || trajectory->every <= kMost32Bits)
    return {};
  return fmt::format(
      "every = {} exceeds the 32-bit step count of DCD files; use a smaller interval or another "
      "format",
      trajectory->every);
}

std::string problem_of_frame_steps(const Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.trajectory || deck.run.steps <= kMost32Bits) return {};
  const io::Format& format = io::format_of(deck.trajectory->format);
  if (!format.has_steps_of_32_bits) return {};
  return fmt::format("{} has a 32-bit step count, and the run has {} steps; use xyz or h5md",
                     format.name, deck.run.steps);
}

std::vector<Choice> trajectory_formats() {
  std::vector<Choice> choices;
  for (const io::Format& format : io::formats()) {
    choices.push_back({format.name, format.id, format.meaning});
  }
  choices.push_back(
      {"csv", kRejected, "only tarn-papers writes it, for the systems of the papers"});
  return choices;
}

std::vector<std::string_view> formats_with_velocities() {
  std::vector<std::string_view> names;
  for (const io::Format& format : io::formats()) {
    if (format.has_velocities) names.push_back(format.name);
  }
  return names;
}

SectionTable evaporation_section() {
  return section(
      &Deck::evaporation, "observe.evaporation",
      "Writes `evaporation.csv`: the time at which each replica loses its first molecule, after "
      "the equilibration. `survival.csv` and `evaporation_rates.csv`, with a picture, contain the "
      "fraction of intact replicas and the evaporation rate at each temperature, and the "
      "activation energy if there are several. See [measuring.md](measuring.md#evaporation).",
      {
          every_key<ObserveEvaporation>("Interval between checks of the replicas."),
          key(&ObserveEvaporation::link_A, "link_A", above_to(0, 1000),
              "A molecule has evaporated when its oxygen is farther than this from all oxygens of "
              "the largest connected part of its cluster. Oxygens closer than this are connected."),
      },
      {rule("`[observe.evaporation]` requires two or more molecules.", "observe.evaporation.every",
            {"system.molecules"}, "[observe.evaporation] needs at least two molecules",
            [](const Checker& c) { return c.deck().evaporation && c.molecules() == 1; })},
      [](const Deck& deck, Messages& messages) { append(warning_of_evaporation(deck), messages); });
}

SectionTable minima_section() {
  return section(
      &Deck::minima, "observe.minima",
      "Writes `minima.csv`: inherent structures. A copy of each replica is quenched to a minimum "
      "of the potential, as rigid molecules and without the wall. At the end, `isomers.csv` and "
      "its picture contain the lowest minima and the fraction of samples in each, and "
      "`isomers.xyz` their structures, after the equilibration. With several temperatures, "
      "`isomers_by_bath.csv` and the picture contain the fractions at each. For accuracy and cost "
      "see [measuring.md](measuring.md#inherent-structures).",
      {
          every_key<ObserveMinima>(),
          replicas_key<ObserveMinima>(
              all_or_mean(),
              "Replicas with rows in `minima.csv`: all, the first n, or their mean with its "
              "standard error. All replicas are quenched and counted."),
          key(&ObserveMinima::isomers, "isomers", from_to(1, 1000),
              "Number of lowest minima to count. Minima whose energies differ by less than 0.1 Å "
              "times the tolerance, such as mirror images, count as one."),
          key(&ObserveMinima::tolerance_kcal_per_mol_A, "tolerance_kcal_per_mol_A",
              from_to(1e-8, 0.01),
              "Largest force or torque at the end of a quench. With a potential in single "
              "precision: a few times the error of its forces (kcal/mol/Å) and of its energies "
              "(kcal/mol)."),
      },
      {limit("`[observe.minima]` stores at most 10⁸ numbers: a structure of each isomer, and the "
             "sums for its error bars per temperature.",
             minima_problem, "observe.minima.isomers",
             with_length_and({"system.molecules", "system.replicas", "thermostat.kind",
                              "thermostat.temperature_K", "thermostat.temperatures_K",
                              "observe.minima.every", "observe.minima.isomers"}))});
}

SectionTable trajectory_section() {
  return section(
      &Deck::trajectory, "observe.trajectory",
      "Writes `trajectory.*`: reported positions, in one file per replica or, with `h5md`, in one "
      "group per replica.",
      {
          every_key<ObserveTrajectory>(),
          key(&ObserveTrajectory::format, "format", trajectory_formats(), "File format."),
          key(&ObserveTrajectory::beads, "beads",
              {from_to(0, kMaxBeads - 1),
               {{"centroid", BeadSelection::Kind::centroid,
                 "the mean position of the beads of each atom"},
                {"all", BeadSelection::Kind::all,
                 "a frame contains all molecules of bead 0, then those of bead 1, and so on"}}},
              "Positions of ring polymers in the frames: centroids, all beads, or the bead with "
              "this number, counted from 0.",
              {.used_with = {{.section = "path_integral"}}}),
          key(&ObserveTrajectory::velocities, "velocities", kAny,
              "Whether frames contain velocities: those of the scheme at the end of the step, "
              "which satisfy the constraints of rigid schemes. Units: Å/akma in XYZ, nm/ps in GRO "
              "and TRR, Å/ps in H5MD.",
              {.used_with = {{"observe.trajectory.format", formats_with_velocities()}}}),
          replicas_key<ObserveTrajectory>({{"all", ReplicaSelection::Kind::all},
                                           {"mean", kRejected, "trajectories cannot be averaged"}},
                                          kAllOrFirst),
      },
      {
          {"At most 10 000 replicas can have trajectories and final structures.",
           trajectory_count_is_limited},
          {"`format = \"h5md\"` requires a build with HDF5; `tarn doctor` reports whether this one "
           "has it.",
           trajectory_format_is_available},
          {"`beads` of a trajectory is below the number of beads of `[path_integral]`; `velocities "
           "= true` requires `beads = \"centroid\"`.",
           trajectory_beads_exist},
          rule("`format = \"dcd\"` requires `every` below 2³¹.", "observe.trajectory.every",
               {"observe.trajectory.format", "observe.trajectory.every"}, problem_of_dcd),
          rule("`format = \"xtc\"` and `\"trr\"` require fewer than 2³¹ steps.",
               "observe.trajectory.format", with_length_and({"observe.trajectory.format"}),
               problem_of_frame_steps),
      });
}

SectionTable final_section() {
  return section(
      &Deck::final_structures, "observe.final",
      "Writes `final.xyz` (`final-0000.xyz` and so on for several replicas) at the end of the run: "
      "the internal positions and velocities of the scheme, in extended XYZ with all digits. To "
      "start from it, set `file`, `velocities = \"file\"` and the same scheme and step. Stopped "
      "replicas have no file.",
      {
          replicas_key<ObserveFinal>({{"all", ReplicaSelection::Kind::all},
                                      {"mean", kRejected, "structures cannot be averaged"}},
                                     kAllOrFirst),
      });
}

}  // namespace

std::vector<SectionTable> structure_sections() {
  return {evaporation_section(), minima_section(), trajectory_section(), final_section()};
}

}  // namespace tarn::decks
