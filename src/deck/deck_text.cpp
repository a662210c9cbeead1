#include "tarn/deck_text.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "checker.hpp"
#include "schema.hpp"
#include "source.hpp"
#include "tarn/core/error.hpp"

namespace tarn {

namespace fs = std::filesystem;

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

}  // namespace tarn
