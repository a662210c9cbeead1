#include "tarn/deck.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "checker.hpp"
#include "core/text.hpp"
#include "io/checkpoint.hpp"
#include "schema.hpp"
#include "system_limits.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

std::string write_deck(const Deck& deck, const std::function<bool(const decks::Key&)>& keep) {
  return decks::write_deck(decks::water_schema(), deck, keep);
}

/// The deck of a text of write_deck() with overrides. @param label names the option in errors
Deck check_variant(const Deck& deck, const std::string& text,
                   const std::vector<decks::Override>& overrides, const std::string& label) {
  try {
    return decks::Checker(deck.path, false).check(text, overrides);
  } catch (const InputError& error) {
    // The user has not seen the lines of this text.
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) problem = {label, 0, 0, problem.message};
    throw InputError(std::move(problems));
  }
}

Deck with_ring_key(const Deck& deck, const std::string& key, const std::string& label) {
  return check_variant(deck, resolved_deck(deck), {{"path_integral." + key, label}}, label);
}

/// @throws InputError if there is no such file
void check_path(const Deck& deck, const std::string& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return;
  const std::string given = decks::toml_string(*deck.system.state);
  const fs::path folder = fs::path(path).parent_path();
  if (fs::path(*deck.system.state).filename() != fs::path(path).filename() &&
      fs::is_directory(folder, ignored)) {
    throw InputError(
        fmt::format("state = {}: there is no checkpoint.bin in {}; name the folder of a run of "
                    "water, which contains one from its start",
                    given, folder.string()));
  }
  throw InputError(fmt::format("state = {}: there is no run and no checkpoint {}{}", given, path,
                               decks::missing_path_hint(deck, *deck.system.state)));
}

/// The deck of the run that wrote the checkpoint.
Deck deck_of(const io::Checkpoint& checkpoint, const std::string& path) {
  // Remove the observers, which this build may not support, and set a length, which the fingerprint
  // does not contain.
  const std::string text = checkpoint.physics.substr(0, checkpoint.physics.find("\n[observe."));
  try {
    return parse_deck(text, path, {fmt::format("run.steps={}", kMaxSteps)});
  } catch (const InputError&) {
    throw InputError(
        fmt::format("cannot start from '{}': tarn {} wrote it, with a deck that this version "
                    "cannot read. Write [observe.final] with that version, and start from "
                    "final.xyz with file and velocities = \"file\"",
                    path, checkpoint.tarn_version));
  }
}

}  // namespace

Deck load_deck(const std::string& path, const std::vector<std::string>& overrides,
               const std::vector<std::string>& removals) {
  return load_deck_text(read_deck_text(path), path, overrides, removals);
}

Deck parse_deck(const std::string& text, const std::string& path,
                const std::vector<std::string>& overrides,
                const std::vector<std::string>& removals) {
  return decks::Checker(path, false)
      .check(text, decks::given_by("--set", overrides), decks::given_by("--unset", removals));
}

std::vector<StructureSource> structure_sources(const Deck& deck) {
  const auto resolved = [&](const std::string& path) {
    return decks::from_the_deck(deck, path).string();
  };
  const SystemSection& system = deck.system;
  if (system.file) return {{"file", *system.file, resolved(*system.file), system.frame}};
  std::vector<StructureSource> sources;
  for (const std::string& written : system.files) {
    StructureSource& source = sources.emplace_back("files", written);
    const std::size_t colon = written.rfind(':');
    const bool has_colon = colon != std::string::npos && colon > 0;
    const auto frame = number_in<std::int64_t>(has_colon ? written.substr(colon + 1) : "");
    const bool has_frame = frame.value_or(-1) >= 0;
    source.path = resolved(has_frame ? written.substr(0, colon) : written);
    if (has_frame) source.frame = frame;
  }
  return sources;
}

std::optional<std::string> state_path(const Deck& deck) {
  if (!deck.system.state) return std::nullopt;
  fs::path path = decks::from_the_deck(deck, *deck.system.state);
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) path /= "checkpoint.bin";
  return path.string();
}

PotentialKind potential_kind(const Deck& deck) {
  return deck.potential ? deck.potential->kind : PotentialKind::model;
}

std::string library_potential_name(const std::string& path, const std::string& options) {
  std::string name = "library " + std::filesystem::path(path).filename().string();
  if (!options.empty()) name += fmt::format(" ({})", options);
  std::ranges::replace(name, '"', '\'');  // it is quoted in XYZ files
  return one_line(name);
}

std::string potential_text(const Deck& deck) {
  const PotentialKind kind = potential_kind(deck);
  if (kind == PotentialKind::library) {
    return library_potential_name(deck.potential->path.value(), deck.potential->options);
  }
  if (kind == PotentialKind::program) return deck.potential->name;
  return kind == PotentialKind::socket ? "i-PI clients" : "";
}

std::optional<std::string> potential_path(const Deck& deck) {
  if (!deck.potential || !deck.potential->path) return std::nullopt;
  return decks::from_the_deck(deck, *deck.potential->path).string();
}

std::string resolved_deck(const Deck& deck) {
  return write_deck(deck, [](const decks::Key&) { return true; });
}

std::string physics_fingerprint(const Deck& deck) {
  return write_deck(deck, [](const decks::Key& key) { return !key.may_change_on_resume; });
}

Deck with_potential(const Deck& deck, const std::string& name) {
  const std::string label = "the potential " + name;
  if (const PotentialKind kind = potential_kind(deck);
      kind == PotentialKind::library || kind == PotentialKind::socket) {
    throw InputError(label, 0,
                     fmt::format("the deck has another potential, {}; remove one of them",
                                 potential_text(deck)));
  }
  Deck other = deck;
  if (potential_kind(deck) == PotentialKind::program) {
    std::string& own = other.potential->name;
    if (!own.empty() && own != name) {
      throw InputError(label, 0,
                       fmt::format("the deck has the potential {}; give the potential this name, "
                                   "or remove the name from the deck",
                                   decks::toml_string(own)));
    }
    own = name;
    return other;
  }
  other.potential.emplace();
  other.potential->kind = PotentialKind::program;
  other.potential->name = name;
  const bool default_relax = deck.system.relax == decks::default_relax(deck);
  // The keys of penalised bonds have no meaning here.
  const std::string text = write_deck(other, [&](const decks::Key& key) {
    return !(default_relax && key.path() == "system.relax");
  });
  return check_variant(deck, text, {}, label);
}

Deck with_scheme(const Deck& deck, const std::string& spec) {
  const std::string label = "--schemes " + spec;
  std::vector<decks::Override> overrides =
      decks::scheme_overrides(decks::water_schema(), spec, label);
  const decks::Key& scheme_key = *decks::water_schema().find_key("integrator.scheme");
  const auto known = decks::accepted_choices(scheme_key);
  const bool other_step =
      deck.run.steps > 0 &&
      std::any_of(overrides.begin(), overrides.end(), [](const decks::Override& change) {
        return change.text.starts_with("integrator.timestep_fs=");
      });

  Deck other = deck;
  const std::string scheme = overrides.front().text.substr(overrides.front().text.find('=') + 1);
  if (std::find(known.begin(), known.end(), scheme) != known.end()) {
    scheme_key.set(scheme, other);
  }
  const bool default_relax = deck.system.relax == decks::default_relax(deck);
  const std::string text = write_deck(deck, [&](const decks::Key& key) {
    return decks::water_schema().is_used(key, other) &&
           !(default_relax && key.path() == "system.relax") &&
           !(other_step && key.path() == "run.steps");
  });
  if (other_step) {  // the length of the run in time stays
    const double length_fs = static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs;
    overrides.push_back({fmt::format("run.duration_ps={:.17g}", length_fs * 1e-3), label});
  }
  return check_variant(deck, text, overrides, label);
}

int beads_of(const Deck& deck) { return deck.path_integral ? deck.path_integral->beads : 1; }

std::vector<double> ring_temperatures_K(const Deck& deck) {
  if (!deck.path_integral) return {};
  const std::vector<double> baths_K = bath_temperatures_K(deck);
  return baths_K.empty() ? std::vector{deck.path_integral->temperature_K.value_or(0.0)} : baths_K;
}

Deck with_beads(const Deck& deck, int beads) {
  return with_ring_key(deck, fmt::format("beads={}", beads), fmt::format("--beads {}", beads));
}

Deck with_free_ring(const Deck& deck, const std::string& free_ring) {
  return with_ring_key(deck, "free_ring=" + free_ring, "--free-ring " + free_ring);
}

Deck with_frequencies(const Deck& deck, const std::string& frequencies) {
  const std::string label = "--frequencies " + frequencies;
  const std::string text = write_deck(deck, [](const decks::Key& key) {
    return key.path() != "path_integral.highest_wavenumber_per_cm";
  });
  std::vector<decks::Override> overrides{{"path_integral.frequencies=" + frequencies, label}};
  if (deck.path_integral && deck.path_integral->highest_wavenumber_per_cm &&
      frequencies == "economised") {
    overrides.push_back({fmt::format("path_integral.highest_wavenumber_per_cm={}",
                                     *deck.path_integral->highest_wavenumber_per_cm),
                         label});
  }
  return check_variant(deck, text, overrides, label);
}

std::string read_deck_text(const std::string& path) { return read_toml_text(path, "deck"); }

std::string read_toml_text(const std::string& path, const std::string& what) {
  // A directory opens but cannot be read; a device may be endless.
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status)) throw IoError(path + ": there is no such " + what);
  if (fs::is_directory(status)) throw IoError(path + ": this is a folder and not a " + what);
  constexpr std::size_t kLongest = 16u << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (file && text.size() <= kLongest) {
    file.read(buffer, sizeof buffer);
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > kLongest)
    throw InputError(path + ": larger than 16 MiB, too large for a " + what);
  if (!file.eof()) throw IoError(path + ": this " + what + " cannot be read");
  return text;
}

Deck load_deck_text(const std::string& text, const std::string& path,
                    const std::vector<std::string>& overrides,
                    const std::vector<std::string>& removals) {
  return decks::Checker(path, true)
      .check(text, decks::given_by("--set", overrides), decks::given_by("--unset", removals));
}

std::string key_of(const Problem& problem, const std::string& text, const std::string& path) {
  for (const std::string_view option : {"--set ", "--unset "}) {
    if (!problem.file.starts_with(option)) continue;
    const std::string key = problem.file.substr(option.size());
    return key.substr(0, key.find('='));
  }
  if (problem.file != path || problem.line == 0) return {};
  std::string key;
  std::pair<int, int> nearest{0, 0};
  const auto consider = [&](const decks::Place& place, const std::string& name) {
    const std::pair<int, int> begin{place.line, place.column};
    if (begin > std::pair{problem.line, problem.column} || begin <= nearest) return;
    nearest = begin;
    key = name;
  };
  try {
    const decks::Source source = decks::read_source(text, path);
    for (const auto& section : source.sections) consider(section.place, section.path);
    for (const decks::Entry& entry : source.entries) consider(entry.place, entry.path());
  } catch (const InputError&) {  // not TOML: there are no keys
  }
  return key;
}

std::string advice_of(const Problem& problem) {
  const std::string& message = problem.message;
  const std::size_t question = message.find("(did you mean ");
  if (question != std::string::npos) {
    return message.substr(question + 1, message.find("?)", question) - question);
  }
  const std::size_t semicolon = message.find("; ");
  return semicolon == std::string::npos ? std::string{} : message.substr(semicolon + 2);
}

std::optional<Deck> deck_of_model(const std::string& name) {
  if (!name.ends_with(".toml")) return std::nullopt;
  return decks::Checker(name, true).check_model(read_toml_text(name, decks::kModelFile));
}

WaterModel water_model_of_text(const std::string& text, const std::string& name) {
  return water_model(decks::Checker(name, true).check_model(text));
}

WaterModel water_model_named(const std::string& name) {
  if (const std::optional<Deck> deck = deck_of_model(name)) return water_model(*deck);
  if (name == kOwnModel) {
    throw InputError(
        "water model 'own' is defined in a file with a section [model]: give its path, --model "
        "FILE.toml");
  }
  if (const auto model = find_water_model(name)) return *model;
  std::vector<std::string_view> names;
  for (const WaterModel& model : water_models()) names.push_back(model.name);
  const std::string meant = decks::nearest_model(name, names).name;
  throw InputError(fmt::format("unknown water model '{}'{}: use one of {}", name,
                               meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant),
                               fmt::join(names, ", ")));
}

void set_masses(std::optional<double> hydrogen_mass_Da, std::optional<double> oxygen_mass_Da,
                WaterModel& model) {
  const auto set = [](std::string_view name, std::optional<double> given_Da, double& mass_Da) {
    if (!given_Da) return;
    const decks::Key& key = *decks::water_schema().find_key("system", name);
    if (!(*given_Da >= key.range.low && *given_Da <= key.range.high)) {
      throw InputError(
          fmt::format("{} = {:g}; expected {}", name, *given_Da, decks::expected_text(key)));
    }
    mass_Da = *given_Da;
  };
  set("hydrogen_mass_Da", hydrogen_mass_Da, model.mass_h_Da);
  set("oxygen_mass_Da", oxygen_mass_Da, model.mass_o_Da);
}

StartState read_start_state(const Deck& deck) {
  StartState start;
  start.path = *state_path(deck);
  check_path(deck, start.path);
  io::Checkpoint checkpoint = io::read_checkpoint(start.path);
  start.deck = deck_of(checkpoint, start.path);
  std::vector<std::int64_t>& ids = checkpoint.state.replica_ids;
  for (std::size_t r = 0; r < ids.size(); ++r) {
    if (ids[r] != static_cast<std::int64_t>(r)) ids.clear();
  }
  if (checkpoint.state.molecules < 1 || ids.empty()) {
    throw InputError(
        fmt::format("cannot start from '{}': it is not the state of a run of water", start.path));
  }
  start.state = std::move(checkpoint.state);
  start.blow_ups = std::move(checkpoint.blow_ups);
  return start;
}

std::vector<KeyProblem> start_state_problems(const Deck& deck, const StartState& start) {
  std::vector<KeyProblem> problems;
  const int given = start.state.replicas();
  const int wanted = deck.system.replicas;
  if (given != 1 && given != wanted) {
    problems.push_back(
        {"system.replicas", fmt::format("replicas = {}, but the state has {}; write replicas = {}. "
                                        "Only a state of one replica starts any number",
                                        wanted, given, given)});
  }
  if (!start.blow_ups.empty()) {
    const BlowUp& first = start.blow_ups.front();
    problems.push_back(
        {"system.state",
         fmt::format(
             "{} of {} replicas of the state failed, the first of them replica {} at step "
             "{}. Correct that run first, or start from the [observe.final] of another replica",
             start.blow_ups.size(), given, first.replica, first.step)});
  }
  if (deck.thermostat.kind != Thermostat::none && start.deck.thermostat.kind != Thermostat::none &&
      start.state.step > 0 && deck.system.seed == start.deck.system.seed) {
    problems.push_back({"system.seed", fmt::format("seed = {} is that of the run of the state, and "
                                                   "would repeat its noise; use another one",
                                                   deck.system.seed)});
  }
  return problems;
}

std::string missing_velocities_message(const std::string& path) {
  return fmt::format(
      "velocities = \"file\": {} does not contain velocities for every atom. Extended XYZ has them "
      "as vel_A_per_akma:R:3, GRO in three more columns, TRR and H5MD in some frames; omit "
      "velocities to draw them",
      path);
}

}  // namespace tarn
