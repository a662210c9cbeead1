#include "xyz_comment.hpp"

#include <charconv>

#include <fmt/format.h>

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
  for (const auto& [key, value] : comment) {
    const bool quoted = value.find_first_of(kBlank) != std::string::npos;
    line += fmt::format("{}{}={}{}{}", line.empty() ? "" : " ", key, quoted ? "\"" : "", value,
                        quoted ? "\"" : "");
  }
  return line;
}

XyzColumns parse_properties(std::string_view value, std::string& problem) {
  XyzColumns columns{-1, -1, -1, 0, true};
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
    if (name == "species" && type == "S" && count == 1) columns.species = columns.count;
    if (name == "pos" && type == "R" && count == 3) columns.position = columns.count;
    // Columns of other programs do not specify a unit.
    if (name == "vel_A_per_akma" && type == "R" && count == 3) columns.velocity = columns.count;
    columns.count += count;
  }
  if (columns.species < 0) problem = "Properties has no species:S:1, which is needed";
  if (columns.position < 0) problem = "Properties has no pos:R:3, which is needed";
  return columns;
}

}  // namespace tarn::io
