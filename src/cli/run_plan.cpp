#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "core/text.hpp"
#include "deck/checker.hpp"
#include "deck/system_limits.hpp"
#include "deck_arguments.hpp"
#include "run/run_messages.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/observe/observers.hpp"

namespace tarn::cli {
namespace {

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

}  // namespace

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

}  // namespace tarn::cli
