#include "tarn/deck.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "checker.hpp"
#include "core/text.hpp"
#include "schema.hpp"
#include "system_limits.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

/// The length of the run in time, in the syntax of --set.
std::string length_of(const Deck& deck) {
  return fmt::format("run.duration_ps={:.17g}",
                     static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs * 1e-3);
}

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
  if (other_step) {
    overrides.push_back({length_of(deck), label});
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

}  // namespace tarn
