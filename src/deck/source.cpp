#include "source.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/text.hpp"
#include "io/words.hpp"
#include "schema.hpp"

// For "[" without a key toml++ 3.3 asserts a condition that it also reports as an error. Disable
// the assertion. No other file includes toml++.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>

namespace tarn::decks {
namespace {

Place place_of(const toml::source_region& region, const std::string& file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

/// Truncates long texts at a character boundary.
std::string shortened(std::string text) {
  constexpr std::size_t kLongest = 60;
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

RawValue raw_of(const toml::node& node, const std::string& file) {
  RawValue raw;
  raw.place = place_of(node.source(), file);
  if (const auto* boolean = node.as_boolean()) {
    raw.kind = RawValue::Kind::boolean;
    raw.boolean = boolean->get();
    raw.text = raw.boolean ? "true" : "false";
  } else if (const auto* integer = node.as_integer()) {
    raw.kind = RawValue::Kind::integer;
    raw.integer = integer->get();
    raw.text = fmt::format("{}", raw.integer);
  } else if (const auto* number = node.as_floating_point()) {
    raw.kind = RawValue::Kind::number;
    raw.number = number->get();
    raw.text = number_text(raw.number);
  } else if (const auto* string = node.as_string()) {
    raw.kind = RawValue::Kind::string;
    raw.string = string->get();
    raw.text = shortened(toml_string(raw.string));
  } else if (const auto* array = node.as_array()) {
    raw.kind = RawValue::Kind::array;
    raw.text = "[";
    for (const toml::node& item : *array) {
      raw.items.push_back(raw_of(item, file));
      if (raw.text.size() > 1) raw.text += ", ";
      raw.text += raw.items.back().text;
    }
    raw.text = shortened(raw.text + ']');
  } else if (node.is_table()) {
    raw.kind = RawValue::Kind::table;
    raw.text = "{...}";
    for (auto&& [key, value] : *node.as_table()) {
      raw.items.push_back(raw_of(value, file));
      raw.items.back().string = std::string(key.str());
      raw.items.back().place = place_of(key.source(), file);
    }
    std::ranges::stable_sort(raw.items, {}, [](const RawValue& item) {
      return std::pair(item.place.line, item.place.column);
    });
  } else {
    raw.text = "a date or time";
  }
  return raw;
}

bool is_bare_key(std::string_view text) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), good);
}

/// The key whose value may be a table; other tables are sections.
constexpr std::string_view kTableKey = "system.isotopes";

void flatten(const toml::table& table, const std::string& prefix, const std::string& file,
             Source& source) {
  for (auto&& [key, node] : table) {
    const std::string name(key.str());
    const Place place = place_of(key.source(), file);
    const toml::table* child = node.as_table();
    if (child != nullptr && prefix + '.' + name != kTableKey) {
      const std::string part = is_bare_key(name) ? name : toml_string(name);
      const std::string path = prefix.empty() ? part : prefix + '.' + part;
      source.sections.push_back({path, prefix, part, place});
      flatten(*child, path, file, source);
    } else if (const toml::array* all = node.as_array();
               all && prefix.empty() && name == "bias" && all->is_array_of_tables()) {
      // [[bias]]: the first table is [bias], the others are [bias_2], [bias_3], ...
      for (std::size_t k = 0; k < all->size(); ++k) {
        const std::string path = k == 0 ? name : name + '_' + std::to_string(k + 1);
        source.sections.push_back({path, prefix, path, place_of((*all)[k].source(), file)});
        flatten(*(*all)[k].as_table(), path, file, source);
      }
    } else {
      source.entries.push_back({prefix, name, raw_of(node, file), place});
    }
  }
}

/// The number of parts of "a.b.c", or 0 if one of them is no bare key.
std::ptrdiff_t parts_of(std::string_view text) {
  const std::vector<std::string_view> parts = io::split(text, '.');
  return std::ranges::all_of(parts, is_bare_key) ? std::ssize(parts) : 0;
}

[[noreturn]] void refuse(const Override& override_, const std::string& message) {
  throw InputError(override_.label, 0, message);
}

void place_all(RawValue& raw, const Place& place) {
  raw.place = place;
  for (RawValue& item : raw.items) place_all(item, place);
}

/// Rejects text on which toml++ 3.3 crashes: non-ASCII characters outside strings and comments (or
/// at the beginning of a line of a multi-line string), and very deep keys. Decks need none of
/// these.
std::vector<Problem> scan(const std::string& text, const std::string& file) {
  constexpr int kDeepestKey = 16;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  enum class In { plain, comment, basic_string, literal_string };
  std::vector<Problem> problems;
  In state = In::plain;
  int line = 1;
  int column = 0;
  int dots = 0;
  bool reported = false;  // one problem per line
  const auto add_problem = [&](const std::string& message) {
    if (!reported) problems.push_back({file, line, column, message});
    reported = true;
  };
  const bool has_mark = text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0;
  for (std::size_t i = has_mark ? kByteOrderMark.size() : 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) ++column;  // columns count characters
    if (c == '\n') {
      // toml++ reports an unterminated string.
      if (state == In::basic_string || state == In::literal_string) break;
      state = In::plain;
      ++line;
      column = 0;
      dots = 0;
      reported = false;
    } else if (state == In::basic_string) {
      if (c == '\\' && i + 1 < text.size() && text[i + 1] != '\n') {
        ++i;
        ++column;
      } else if (c == '"') {
        state = In::plain;
      }
    } else if (state == In::literal_string) {
      if (c == '\'') state = In::plain;
    } else if (state == In::plain) {
      if (byte >= 0x80) {
        add_problem("only ASCII characters are allowed outside strings and comments");
      } else if (c == '"' || c == '\'') {
        if (text.compare(i, 3, std::string(3, c)) == 0) {
          add_problem("multi-line strings are not supported; use single quotes or double quotes");
          break;
        }
        state = c == '"' ? In::basic_string : In::literal_string;
      } else if (c == '#') {
        state = In::comment;
      } else if (c == '.') {
        if (++dots > kDeepestKey) add_problem("this key has too many parts");
      } else if (std::string_view(",=[]{}").find(c) != std::string_view::npos) {
        dots = 0;
      }
    }
  }
  return problems;
}

/// A line "key = value  # comment": the value without blanks around it.
struct Assignment {
  std::size_t begin = 0, end = 0;  ///< of the value in the line
};

std::optional<Assignment> assignment_in(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos || parts_of(io::trimmed(line.substr(0, equals))) == 0) {
    return std::nullopt;
  }
  const std::size_t comment = line.find('#', equals);
  const std::string_view rest = line.substr(0, comment);
  const std::size_t first = rest.find_first_not_of(" \t\r", equals + 1);
  if (first == std::string_view::npos) return Assignment{equals + 1, equals + 1};
  return Assignment{first, rest.find_last_not_of(" \t\r") + 1};
}

/// Puts the words of a list in quotes. @return the list if nothing is to quote
std::string with_quoted_words(std::string_view list) {
  std::string result;
  std::size_t at = 0;
  while (at < list.size()) {
    const std::size_t end = std::min(list.find_first_of("[], ", at), list.size());
    const std::string word(list.substr(at, end - at));
    const bool is_word = is_bare_key(word) && std::isalpha(static_cast<unsigned char>(word[0])) &&
                         word != "true" && word != "false" && word != "inf" && word != "nan";
    result += is_word ? toml_string(word) : word;
    if (end < list.size()) result += list[end];
    at = end + 1;
  }
  return result;
}

/// Reads a TOML text. After an error it replaces the line and continues.
class Reader {
 public:
  Reader(const std::string& text, const std::string& path) : path_(path) {
    for (const std::string_view line : io::split(text, '\n')) lines_.emplace_back(line);
    how_.resize(lines_.size());
  }

  Source read() {
    repair_scanned_lines();
    constexpr int kMostRepairs = 100;
    for (int repairs = 0;; ++repairs) {
      try {
        flatten(toml::parse(text(), path_), "", path_, source_);
        break;
      } catch (const toml::parse_error& error) {
        if (!repair(error, repairs == kMostRepairs)) throw InputError(std::move(problems_));
      }
    }
    for (Entry& entry : source_.entries) mark(entry.value);
    source_.problems = std::move(problems_);
    return std::move(source_);
  }

 private:
  /// What a line contains now.
  enum class Line { as_written, bare, list, unreadable, removed };

  std::string text() const { return fmt::format("{}", fmt::join(lines_, "\n")); }

  void repair_scanned_lines() {
    problems_ = scan(text(), path_);
    for (const Problem& problem : problems_) {
      const std::size_t line = static_cast<std::size_t>(problem.line) - 1;
      const std::string_view start = io::trimmed(lines_[line]).substr(0, 1);
      if (start == "[") throw InputError(std::move(problems_));
      assignment_in(lines_[line]) ? replace_value(line, Line::unreadable) : remove(line);
    }
    if (!scan(text(), path_).empty()) throw InputError(std::move(problems_));
  }

  void remove(std::size_t line) {
    lines_[line].clear();
    how_[line] = Line::removed;
  }

  /// Puts the value of a line in quotes.
  void replace_value(std::size_t line, Line how) {
    const Assignment part = *assignment_in(lines_[line]);
    std::string& text = lines_[line];
    const std::string value = text.substr(part.begin, part.end - part.begin);
    text = text.substr(0, part.begin) + (how == Line::bare ? toml_string(value) : "\"\"");
    how_[line] = how;
  }

  /// Replaces the line of an error.
  /// @param is_last whether to give up instead
  /// @return whether the text may be readable now
  bool repair(const toml::parse_error& error, bool is_last) {
    const Place place = place_of(error.source(), path_);
    std::string reason(error.description());
    if (reason.rfind("Error ", 0) == 0) reason.erase(0, 6);
    const auto about = [&](std::string_view what) { return reason.find(what) != reason.npos; };
    const std::size_t line = static_cast<std::size_t>(place.line) - 1;
    const bool is_new = !is_last && line < lines_.size() && how_[line] == Line::as_written;
    const std::optional<Assignment> found =
        is_new ? assignment_in(lines_[line]) : std::optional<Assignment>();
    const Assignment part = found.value_or(Assignment{});
    const std::string value =
        found ? lines_[line].substr(part.begin, part.end - part.begin) : std::string();
    const bool is_list = value.starts_with('[');
    if (found && !about("redefine") && !about("array") &&
        value.find_first_of("\"'[]{}") == value.npos) {
      replace_value(line, Line::bare);
      return true;
    }
    const std::string list = with_quoted_words(value);
    if (found && is_list && value.ends_with(']') && list != value) {
      problems_.push_back(
          {path_, place.line, static_cast<int>(part.begin) + 1,
           fmt::format("{}: strings in a list need quotes; write {}", shortened(value), list)});
      lines_[line].replace(part.begin, value.size(), list);
      how_[line] = Line::list;
      return true;
    }
    problems_.push_back({path_, place.line, place.column, "not valid TOML: " + reason});
    if (!found || (about("array") && !is_list)) return false;
    about("redefine") ? remove(line) : replace_value(line, Line::unreadable);
    return true;
  }

  /// Marks values of replaced lines.
  void mark(RawValue& value) const {
    const Line how = how_[static_cast<std::size_t>(value.place.line) - 1];
    value.is_bare = how == Line::bare && value.kind == RawValue::Kind::string;
    value.is_unreadable = how == Line::unreadable;
    if (value.is_bare) value.text = shortened(value.string);
    for (RawValue& item : value.items) mark(item);
  }

  std::string path_;
  std::vector<std::string> lines_;
  std::vector<Line> how_;  ///< of each line
  std::vector<Problem> problems_;
  Source source_;
};

}  // namespace

std::filesystem::path from_the_deck(const Deck& deck, const std::string& path) {
  return std::filesystem::path(deck.path).parent_path() / path;
}

std::string missing_path_hint(const Deck& deck, const std::string& path) {
  if (std::filesystem::path(path).is_absolute()) return {};
  const std::filesystem::path folder = std::filesystem::path(deck.path).parent_path();
  if (folder.empty()) return "; paths are relative to the current folder";
  std::error_code error;
  const bool is_here = std::filesystem::exists(path, error);
  const std::filesystem::path from_folder =
      is_here ? std::filesystem::proximate(path, folder, error) : std::filesystem::path();
  const std::string cure =
      from_folder.empty() ? "" : fmt::format(": write {}", toml_string(from_folder.string()));
  return fmt::format("; paths in a deck and in --set are relative to the folder of the deck{}",
                     cure);
}

std::optional<SocketAddress> socket_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  // The path of a UNIX socket has at most 107 bytes, with "/tmp/ipi_" before a name.
  constexpr std::size_t kLongestName = 98;
  SocketAddress address;
  if (text.starts_with(kUnix)) {
    address.unix_name = text.substr(kUnix.size());
    if (address.unix_name.empty() || address.unix_name.size() > kLongestName) return std::nullopt;
    return address;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!in_brackets && host.find_first_of(":[] /") != std::string_view::npos)) {
    return std::nullopt;
  }
  address.port = number_in<int>(port).value_or(0);
  if (address.port < 1 || address.port > 65535) return std::nullopt;
  address.host = host;
  return address;
}

Source read_source(const std::string& text, const std::string& path) {
  return Reader(text, path).read();
}

Source read_override(const Override& override_, bool (*wants_text)(std::string_view path)) {
  const std::size_t equals = override_.text.find('=');
  const std::string want = "expected " + override_.wanted;
  if (equals == std::string::npos) refuse(override_, want);
  const std::string path(io::trimmed(std::string_view(override_.text).substr(0, equals)));
  const std::string value(io::trimmed(std::string_view(override_.text).substr(equals + 1)));
  const std::ptrdiff_t parts = parts_of(path);
  if (parts < (value.starts_with('{') ? 1 : 2)) refuse(override_, want);
  if (value.empty()) refuse(override_, "the value is missing; " + want);

  const Place place{override_.label, 0, 0};
  RawValue raw;
  raw.kind = RawValue::Kind::string;
  raw.string = value;
  raw.text = shortened(toml_string(value));
  try {
    // A line break could introduce further keys.
    const std::string line = "x = " + value;
    const bool is_safe = value.find('\n') == std::string::npos && scan(line, "").empty();
    const toml::table table = is_safe ? toml::parse(line) : toml::table{};
    const toml::node* const node = table.get("x");
    const toml::table* section = node != nullptr ? node->as_table() : nullptr;
    if (section != nullptr && path != kTableKey) {
      Source source;
      source.sections.push_back({path, "", path, place});
      flatten(*section, path, override_.label, source);
      for (SourceSection& one : source.sections) one.place = place;
      for (Entry& entry : source.entries) {
        entry.place = place;
        place_all(entry.value, place);
      }
      return source;
    }
    if (node != nullptr) {
      RawValue parsed = raw_of(*node, override_.label);
      const bool keep_bare = parsed.kind != RawValue::Kind::string && wants_text(path);
      if (!keep_bare) raw = std::move(parsed);
    }
  } catch (const toml::parse_error&) {
    // Not TOML: a string, such as cpu in run.device=cpu.
    raw.is_bare = true;
  }
  if (parts < 2) refuse(override_, want);
  place_all(raw, place);
  const std::size_t dot = path.rfind('.');
  Source source;
  source.entries.push_back({path.substr(0, dot), path.substr(dot + 1), std::move(raw), place});
  return source;
}

}  // namespace tarn::decks
