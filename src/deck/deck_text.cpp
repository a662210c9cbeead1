#include "tarn/deck_text.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "checker.hpp"
#include "deck_paths.hpp"
#include "source.hpp"

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
    for (const decks::SourceSection& section : source.sections) {
      consider(section.place, section.path);
    }
    for (const decks::Entry& entry : source.entries) {
      consider(entry.place, entry.section.empty() ? entry.name : entry.section + '.' + entry.name);
    }
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

}  // namespace tarn
