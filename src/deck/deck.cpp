#include "tarn/deck.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "checker.hpp"
#include "schema.hpp"
#include "tarn/analysis/spectrum.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

// Of the histograms of all groups together: 24 MB a thread, all classes of pairs.
constexpr int kMostCountedBins = 1'000'000;

/// @param option of the command line that they come from
std::vector<decks::Override> given_by(const std::string& option,
                                      const std::vector<std::string>& texts) {
  std::vector<decks::Override> changes;
  for (const std::string& text : texts) changes.push_back({text, option + " " + text});
  return changes;
}

std::string read_text(const std::string& path) {
  // A directory opens and then fails to read; a device might never end.
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status)) throw IoError(path + ": there is no such deck");
  if (fs::is_directory(status)) throw IoError(path + ": this is a folder and not a deck");
  constexpr std::size_t kLongest = 16u << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (file && text.size() <= kLongest) {
    file.read(buffer, sizeof buffer);
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > kLongest) throw InputError(path + ": more than 16 MiB are not a deck");
  if (!file.eof()) throw IoError(path + ": this deck cannot be read");
  return text;
}

/// An absolute path replaces the folder of the deck.
fs::path from_the_deck(const Deck& deck, const std::string& path) {
  return fs::path(deck.path).parent_path() / path;
}

/// The run's length in time, as --set has it.
std::string length_of(const Deck& deck) {
  if (is_mechanical(deck.system.kind)) {
    const MechanicsDeck& m = deck.mechanics;
    return fmt::format("run.duration={:.17g}",
                       static_cast<double>(m.run.steps) * m.integrator.step);
  }
  return fmt::format("run.duration_ps={:.17g}",
                     static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs * 1e-3);
}

/// The keys that the deck uses and `keep` accepts, in the order of the table.
template <class Keep>
std::string write_deck(const Deck& deck, Keep keep) {
  std::string text;
  const decks::Schema& schema = decks::schema_of(deck);
  for (const decks::Section& section : schema.sections) {
    if (section.present != nullptr && !section.present(deck)) continue;
    std::string lines;
    for (const decks::Key& key : schema.keys) {
      if (key.section != section.name || !decks::is_used(key, deck) || !keep(key)) continue;
      const std::string value = decks::toml_text(key, key.get(key, deck));
      if (!value.empty()) lines += fmt::format("{} = {}\n", key.name, value);
    }
    if (lines.empty() && section.present == nullptr) continue;
    text += fmt::format("{}[{}]\n{}", text.empty() ? "" : "\n", section.name, lines);
  }
  return text;
}

}  // namespace

Deck load_deck(const std::string& path, const std::vector<std::string>& overrides,
               const std::vector<std::string>& removals) {
  return decks::Checker(path, true)
      .check(read_text(path), given_by("--set", overrides), given_by("--unset", removals));
}

Deck parse_deck(const std::string& text, const std::string& path,
                const std::vector<std::string>& overrides,
                const std::vector<std::string>& removals) {
  return decks::Checker(path, false)
      .check(text, given_by("--set", overrides), given_by("--unset", removals));
}

std::optional<std::string> structure_path(const Deck& deck) {
  if (!deck.system.file) return std::nullopt;
  return from_the_deck(deck, *deck.system.file).string();
}

std::optional<std::string> state_path(const Deck& deck) {
  if (!deck.system.state) return std::nullopt;
  fs::path path = from_the_deck(deck, *deck.system.state);
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) path /= "checkpoint.bin";
  return path.string();
}

std::string resolved_deck(const Deck& deck) {
  return write_deck(deck, [](const decks::Key&) { return true; });
}

std::string physics_fingerprint(const Deck& deck) {
  return write_deck(deck, [](const decks::Key& key) { return !key.may_change_on_resume; });
}

Deck with_scheme(const Deck& deck, const std::string& spec) {
  const std::string label = "--schemes " + spec;
  std::vector<decks::Override> overrides;
  std::string_view rest = spec;
  const auto next_part = [&] {
    const std::size_t colon = rest.find(':');
    const std::string part(rest.substr(0, colon));
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    return part;
  };
  const decks::Key& scheme_key = *decks::schema_of(deck).find_key("integrator.scheme");
  const auto known = decks::accepted_words(scheme_key);
  std::string scheme = next_part();
  // The name of a scheme may hold a colon itself: variational-of:rk4.
  const std::string with_next = scheme + ":" + std::string(rest.substr(0, rest.find(':')));
  if (std::find(known.begin(), known.end(), with_next) != known.end()) {
    next_part();
    scheme = with_next;
  }
  overrides.push_back({"integrator.scheme=" + scheme, label});
  bool other_step = false;
  while (!rest.empty()) {
    const std::string part = next_part();
    other_step = other_step || part.starts_with("timestep_fs=") || part.starts_with("step=");
    if (part.starts_with("scheme=")) {
      throw InputError({{label, 0, 0, "the scheme stands first, as in " + part.substr(7)}});
    }
    overrides.push_back({"integrator." + part, label, "key=value"});
  }

  other_step = other_step && (deck.run.steps > 0 || deck.mechanics.run.steps > 0);

  Deck other = deck;
  if (std::find(known.begin(), known.end(), scheme) != known.end()) {
    scheme_key.set(scheme_key, scheme, other);
  }
  const bool default_relax = deck.system.relax == decks::default_relax(deck);
  const std::string text = write_deck(deck, [&](const decks::Key& key) {
    return decks::is_used(key, other) && !(default_relax && key.path() == "system.relax") &&
           !(other_step && key.path() == "run.steps");
  });
  if (other_step) {
    overrides.push_back({length_of(deck), label});
  }
  try {
    return decks::Checker(deck.path, false).check(text, overrides);
  } catch (const InputError& error) {
    // Lines of the text above are nothing that the reader has seen.
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) problem = {label, 0, 0, problem.message};
    throw InputError(std::move(problems));
  }
}

WaterModel water_model(const Deck& deck) {
  std::optional<WaterModel> model = find_water_model(deck.system.model);
  if (deck.system.model == kOwnModel && deck.model) {
    const ModelSection& own = *deck.model;
    model = of_sigma_epsilon(kOwnModel, own.oh_A, own.hoh_degrees, own.sigma_A,
                             own.epsilon_kcal_per_mol, own.charge_hydrogen_e, own.om_A);
  }
  if (!model) {
    throw InputError(
        {Problem{deck.path, 0, 0,
                 fmt::format("model = {} is not known", decks::toml_string(deck.system.model))}});
  }
  if (deck.system.oxygen_mass_Da) {
    model->mass_o_Da = *deck.system.oxygen_mass_Da;
    model->mass_h_Da = deck.system.hydrogen_mass_Da;
  }
  return *model;
}

System make_system(const Deck& deck, int molecules) {
  const auto refuse = [&](const std::string& message) {
    throw InputError({Problem{deck.path, 0, 0, message}});
  };
  if (is_mechanical(deck.system.kind)) {
    refuse(
        fmt::format("kind = {}: this needs a deck of water", decks::toml_string(deck.system.kind)));
  }
  if (deck.system.molecules != 0 && deck.system.molecules != molecules) {
    refuse(fmt::format("[system] molecules = {}, but the {} has {}", deck.system.molecules,
                       deck.system.state ? "state" : "structure", molecules));
  }
  if (molecules < 1 || molecules > kMaxMolecules) {
    refuse(fmt::format("a structure of {} molecules; want 1 to {}", molecules, kMaxMolecules));
  }
  if (const auto problem = decks::size_problem(molecules, deck.system.replicas)) refuse(*problem);
  if (const auto problem = decks::lone_molecule_problem(deck, molecules)) refuse(*problem);
  if (const auto problem = decks::total_hessian_problem(deck.integrator, molecules)) {
    refuse(*problem);
  }
  if (const auto problem = decks::lindemann_problem(deck, molecules)) {
    refuse("[observe.cluster] " + *problem);
  }
  if (const auto problem = decks::minima_problem(deck, molecules)) {
    refuse("[observe.minima] " + *problem);
  }
  if (const auto problem = decks::spectrum_problem(deck, molecules)) {
    refuse("[observe.spectrum] " + *problem);
  }
  if (const auto problem = decks::correlation_problem(deck, molecules)) {
    refuse("[observe.correlation] " + *problem);
  }

  System system;
  system.model = water_model(deck);
  if (!deck.system.oxygen_mass_Da) {
    const double molecule_mass_Da = system.model.molecule_mass_Da();
    system.model.mass_h_Da = deck.system.hydrogen_mass_Da;
    system.model.mass_o_Da = molecule_mass_Da - 2.0 * deck.system.hydrogen_mass_Da;
  }
  if (deck.confinement) {
    system.confinement = {deck.confinement->radius_A, deck.confinement->stiffness_kcal_per_mol_A2};
  }
  system.molecules = molecules;
  system.seed = deck.system.seed;
  system.precision = deck.run.precision;

  const IntegratorSection& integrator = deck.integrator;
  system.integrator.scheme = integrator.scheme;
  system.integrator.timestep_akma = units::akma_from_fs(integrator.timestep_fs);
  system.integrator.beta = integrator.beta;
  system.integrator.omega = integrator.omega;
  system.integrator.hessian = integrator.hessian;
  system.integrator.solver = integrator.solver;
  system.integrator.tolerance = integrator.tolerance;
  system.integrator.iteration = integrator.iteration;

  const ThermostatSection& thermostat = deck.thermostat;
  system.thermostat.kind = thermostat.kind;
  const bool has_noise =
      thermostat.kind != Thermostat::none &&
      thermostat.friction_per_ps.value_or(0.0) + thermostat.friction_amu_per_ps.value_or(0.0) > 0.0;
  if (!has_noise) {
    const VelocityKind velocities = deck.system.velocities;
    system.zero_momentum =
        deck.system.remove_momentum || velocities == VelocityKind::zero ||
        (is_drawn(velocities) && !deck.system.temperature_K && bath_temperatures_K(deck).empty());
  }
  if (thermostat.kind == Thermostat::none) return system;
  system.thermostat.temperatures_K = thermostat.temperatures_K;
  // With a list, the kicks are those of the hottest replica and the others scale them down.
  system.thermostat.temperature_K =
      thermostat.temperature_K
          ? *thermostat.temperature_K
          : *std::max_element(thermostat.temperatures_K.begin(), thermostat.temperatures_K.end());
  const auto rate_per_akma = [&](double mass_Da) {
    const double rate_per_ps = thermostat.friction_amu_per_ps
                                   ? *thermostat.friction_amu_per_ps / mass_Da
                                   : thermostat.friction_per_ps.value_or(0.0);
    return units::per_akma_from_per_ps(rate_per_ps);
  };
  system.thermostat.friction_oxygen_per_akma = rate_per_akma(system.model.mass_o_Da);
  system.thermostat.friction_hydrogen_per_akma = rate_per_akma(system.model.mass_h_Da);
  return system;
}

double push_fs2(const IntegratorSection& integrator) {
  if (!uses_pushforward(integrator.scheme)) return 0.0;
  return integrator.beta * integrator.timestep_fs * integrator.timestep_fs;
}

std::int64_t first_averaged_step(const Deck& deck) {
  return static_cast<std::int64_t>(
      decks::steps_in(deck.run.equilibration_ps, deck.integrator.timestep_fs));
}

std::size_t spectrum_samples(const Deck& deck) {
  const ObserveSpectrum& spectrum = deck.spectrum.value();
  const double interval_fs = static_cast<double>(spectrum.every) * deck.integrator.timestep_fs;
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
    // As many of each bath as there would be of all replicas.
    const int most = std::max(1, kMostCountedBins / request.bins / length);
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

bool has_several_baths(const std::vector<double>& baths_K) {
  return std::adjacent_find(baths_K.begin(), baths_K.end(), std::not_equal_to<>()) != baths_K.end();
}

}  // namespace tarn
