#include "xyz_comment.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "tarn/core/units.hpp"
#include "words.hpp"

namespace tarn::io {
namespace {

constexpr std::string_view kBlank = " \t";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// A name of columns without its case, blanks, dots and underscores: "Particle Type" of OVITO is
/// "particletype".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) plain += static_cast<char>(std::tolower(letter));
  }
  return plain;
}

/// Rank of a column of symbols or atomic numbers; the lowest is used. Negative for other columns.
int rank_of_species(std::string_view name, std::string_view type) {
  if (type != "S" && type != "I") return -1;
  constexpr std::array<std::string_view, 9> kNames{"species",       "element", "symbol",
                                                   "symbols",       "z",       "atomicnumber",
                                                   "atomicnumbers", "numbers", "particletype"};
  const auto* const found = std::ranges::find(kNames, plain_name(name));
  return found == kNames.end() ? -1 : static_cast<int>(found - kNames.begin());
}

bool is_position(std::string_view name) {
  const std::string plain = plain_name(name);
  return plain == "pos" || plain == "position" || plain == "positions";
}

}  // namespace

std::vector<CommentEntry> parse_comment(std::string_view line) {
  std::vector<CommentEntry> entries;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(kBlank, at)) != std::string_view::npos) {
    CommentEntry entry;
    const std::size_t key_end = std::min(line.find_first_of(" \t=", at), line.size());
    entry.key = line.substr(at, key_end - at);
    at = key_end;
    if (at == line.size() || line[at] != '=') {
      entry.value = "T";
    } else {
      ++at;
      const bool quoted = at < line.size() && (line[at] == '"' || line[at] == '\'');
      const std::size_t begin = quoted ? at + 1 : at;
      const std::size_t end = std::min(
          quoted ? line.find(line[at], begin) : line.find_first_of(kBlank, begin), line.size());
      entry.value = line.substr(begin, end - begin);
      entry.value_column = static_cast<int>(begin) + 1;
      at = quoted ? std::min(end + 1, line.size()) : end;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string comment_line(const std::map<std::string, std::string>& comment) {
  std::string line;
  for (auto [key, value] : comment) {
    const bool quoted = value.find_first_of(kBlank) != std::string::npos;
    if (quoted) std::ranges::replace(value, '"', '\'');
    line += fmt::format("{}{}={}{}{}", line.empty() ? "" : " ", key, quoted ? "\"" : "", value,
                        quoted ? "\"" : "");
  }
  return line;
}

std::string potential_key(const std::string& potential) {
  return potential.empty() ? "" : comment_line({{"potential", potential}}) + " ";
}

double take_unit_A(std::map<std::string, std::string>& comment, std::string& problem) {
  std::string other, unit;
  for (auto entry = comment.begin(); entry != comment.end();) {
    const std::string key = entry->first;
    const std::size_t open = key.find('{');
    if (open == 0 || open == std::string::npos || key.back() != '}') {
      ++entry;
      continue;
    }
    entry = comment.erase(entry);
    const std::string quantity = key.substr(0, open);
    if (quantity == "positions" || quantity == "x_centroid") {
      unit = key.substr(open + 1, key.size() - open - 2);
    } else if (quantity != "cell") {
      other = quantity;
    }
  }
  if (unit.empty()) {
    if (!other.empty()) problem = fmt::format("the file contains {}; give one of positions", other);
    return 1.0;
  }
  const std::optional<double> unit_A = length_unit_A(unit);
  if (!unit_A) {
    problem = fmt::format(
        "the positions have the unit '{}'; known are angstrom, nanometer and atomic_unit", unit);
  }
  return unit_A.value_or(1.0);
}

XyzColumns parse_properties(std::string_view value, std::string& problem) {
  XyzColumns columns{-1, -1, -1, 0, true};
  int species_rank = -1;
  const std::vector<std::string_view> parts = split(value, ':');
  if (parts.size() % 3 != 0) {
    problem = "Properties must be name:type:count triples, as in species:S:1:pos:R:3";
    return columns;
  }
  for (std::size_t i = 0; i < parts.size(); i += 3) {
    const std::string_view name = parts[i];
    const std::string_view type = parts[i + 1];
    int count = 0;
    const char* end = parts[i + 2].data() + parts[i + 2].size();
    const auto [stop, error] = std::from_chars(parts[i + 2].data(), end, count);
    if (error != std::errc{} || stop != end || count < 1 || count > 1000) {
      problem =
          fmt::format("Properties: '{}' is not a number of columns of '{}'", parts[i + 2], name);
      return columns;
    }
    if (type != "S" && type != "R" && type != "I" && type != "L") {
      problem = fmt::format("Properties: '{}' is not a type of '{}'; allowed are S, R, I and L",
                            type, name);
      return columns;
    }
    const int rank = count == 1 ? rank_of_species(name, type) : -1;
    if (rank >= 0 && (species_rank < 0 || rank < species_rank)) {
      species_rank = rank;
      columns.species = columns.count;
    }
    if (is_position(name) && type == "R" && count == 3) columns.position = columns.count;
    // Columns of other programs do not specify a unit.
    if (name == "vel_A_per_akma" && type == "R" && count == 3) columns.velocity = columns.count;
    columns.count += count;
  }
  if (columns.species < 0) {
    problem =
        "Properties has no species:S:1, which is needed; Z:I:1 with atomic numbers also works";
  }
  if (columns.position < 0) problem = "Properties has no pos:R:3, which is needed";
  return columns;
}

}  // namespace tarn::io
