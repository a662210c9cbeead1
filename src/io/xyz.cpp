#include "tarn/io/xyz.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/io_error.hpp"
#include "tarn/state.hpp"
#include "xyz_comment.hpp"

namespace tarn::io {
namespace {

constexpr std::size_t kMostProblems = 20;
constexpr std::string_view kBlank = " \t\r";
constexpr std::array<std::string_view, kAtomsPerMolecule> kSpecies{"O", "H", "H"};
// Far beyond any cluster, and small enough that distances do not overflow.
constexpr double kLargestNumber = 1e6;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kBlank) == std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(kBlank, at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

/// What is wrong with the word as a coordinate, or nothing and the number.
std::string parse_number(std::string_view word, double& value) {
  const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-';
  const char* begin = word.data() + (plus ? 1 : 0);
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (stop != end || error == std::errc::invalid_argument) {
    return fmt::format("'{}' is not a number", word);
  }
  if (error != std::errc{} || !std::isfinite(value)) {
    return fmt::format("'{}' is not a finite number", word);
  }
  if (std::abs(value) > kLargestNumber) {
    return fmt::format("'{}' is larger than {:g}, which no cluster is", word, kLargestNumber);
  }
  return {};
}

/// Reads the atom lines of one frame and gathers what is wrong with them.
class AtomParser {
 public:
  AtomParser(std::string path, const XyzColumns& columns)
      : path_(std::move(path)), columns_(columns) {}

  void parse(std::string_view line, int line_number, int atom, Structure& structure) {
    line_ = line;
    line_number_ = line_number;
    const std::vector<std::string_view> words = words_of(line);
    const int count = static_cast<int>(words.size());
    if (count < columns_.count || (columns_.exact && count > columns_.count)) {
      note(1, fmt::format("{} columns where {} are needed", count, columns_.count));
      return;
    }
    const std::string_view species = words[static_cast<std::size_t>(columns_.species)];
    const std::string_view wanted = kSpecies[static_cast<std::size_t>(atom % kAtomsPerMolecule)];
    if (species != wanted) {
      note(column_of(species), fmt::format("'{}' where {} is needed: the atoms of each molecule "
                                           "must stand in the order O H H",
                                           species, wanted));
    }
    numbers(words, columns_.position, structure.positions_A);
    if (columns_.velocity >= 0) {
      numbers(words, columns_.velocity, structure.velocities_A_per_akma);
    }
  }

  bool is_full() const { return problems_.size() >= kMostProblems; }
  void throw_if_any() const {
    if (!problems_.empty()) throw InputError(problems_);
  }

 private:
  void numbers(const std::vector<std::string_view>& words, int first, std::vector<double>& out) {
    for (int i = first; i < first + 3; ++i) {
      const std::string_view word = words[static_cast<std::size_t>(i)];
      double value = 0.0;
      const std::string problem = parse_number(word, value);
      if (!problem.empty()) note(column_of(word), problem);
      out.push_back(value);
    }
  }
  int column_of(std::string_view word) const {
    return static_cast<int>(word.data() - line_.data()) + 1;
  }
  void note(int column, std::string message) {
    problems_.push_back({path_, line_number_, column, std::move(message)});
  }

  std::string path_;
  XyzColumns columns_;
  std::string_view line_;
  int line_number_ = 0;
  std::vector<Problem> problems_;
};

std::string quoted_if_needed(const std::string& value) {
  return value.find_first_of(" \t") == std::string::npos ? value : '"' + value + '"';
}

}  // namespace

std::optional<std::string> Structure::model() const {
  const auto found = comment.find("model");
  if (found == comment.end()) return std::nullopt;
  return found->second;
}

XyzReader::XyzReader(const std::string& path) : path_(path), stream_(path) {
  if (!stream_) throw_io_error("read", path, errno);
  if (stream_.peek() == std::ifstream::traits_type::eof() && stream_.bad()) {
    throw_io_error("read", path, errno);  // a folder opens, but cannot be read
  }
  stream_.clear();
}

bool XyzReader::read_line() {
  if (!std::getline(stream_, line_)) return false;
  ++line_number_;
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  return true;
}

void XyzReader::fail(int column, const std::string& message) const {
  throw InputError({Problem{path_, line_number_, column, message}});
}

void XyzReader::skip_blank_lines() {
  while (read_line()) {
    if (!is_blank(line_)) {
      have_line_ = true;
      return;
    }
  }
  have_line_ = false;
}

int XyzReader::read_count() {
  const std::vector<std::string_view> words = words_of(line_);
  const int column = static_cast<int>(words[0].data() - line_.data()) + 1;
  int atoms = 0;
  const char* end = words[0].data() + words[0].size();
  const auto [stop, error] = std::from_chars(words[0].data(), end, atoms);
  if (error != std::errc{} || stop != end || words.size() != 1 || atoms < 1) {
    fail(column, fmt::format("'{}' is not a number of atoms: a frame begins with a line that holds "
                             "the number of its atoms and nothing else",
                             line_.substr(static_cast<std::size_t>(column - 1), 40)));
  }
  if (atoms % kAtomsPerMolecule != 0) {
    fail(column,
         fmt::format("{} atoms are no whole number of water molecules (O H H each)", atoms));
  }
  return atoms;
}

std::optional<Structure> XyzReader::next() {
  if (!have_line_) skip_blank_lines();
  if (!have_line_) return std::nullopt;
  have_line_ = false;
  const int atoms = read_count();
  const int count_line = line_number_;
  if (!read_line()) fail(0, "the file ends where the comment line is needed");

  Structure structure;
  structure.molecules = atoms / kAtomsPerMolecule;
  XyzColumns columns;
  for (const CommentEntry& entry : parse_comment(line_)) {
    if (entry.key == "Properties") {
      std::string problem;
      columns = parse_properties(entry.value, problem);
      if (!problem.empty()) fail(entry.value_column, problem);
    } else {
      structure.comment[entry.key] = entry.value;
    }
  }

  first_atom_line_ = line_number_ + 1;
  AtomParser parser(path_, columns);
  for (int atom = 0; atom < atoms && !parser.is_full(); ++atom) {
    if (!read_line() || is_blank(line_)) {
      parser.throw_if_any();
      fail(0, fmt::format("the frame ends after {} atoms where line {} announces {}", atom,
                          count_line, atoms));
    }
    parser.parse(line_, line_number_, atom, structure);
  }
  parser.throw_if_any();
  return structure;
}

void XyzReader::check_next_count() {
  if (!have_line_) skip_blank_lines();
  if (have_line_) read_count();
}

std::string xyz_frame(std::span<const double> positions_A,
                      std::span<const double> velocities_A_per_akma, std::string_view keys) {
  const bool with_velocities = !velocities_A_per_akma.empty();
  std::string text =
      fmt::format("{}\nProperties=species:S:1:pos:R:3{}{}{}\n", positions_A.size() / 3,
                  with_velocities ? ":vel_A_per_akma:R:3" : "", keys.empty() ? "" : " ", keys);
  const auto add = [&text](std::span<const double> values) {
    for (const double value : values) {
      if (!std::isfinite(value)) {
        throw NumericalError(
            "a structure holds a number that is not finite and was not written: the simulation "
            "blew up. Try a smaller timestep or a start without overlaps.");
      }
      fmt::format_to(std::back_inserter(text), " {:.17g}", value);
    }
  };
  for (std::size_t i = 0; i < positions_A.size(); i += 3) {
    text += kSpecies[i / 3 % kAtomsPerMolecule];
    add(positions_A.subspan(i, 3));
    if (with_velocities) add(velocities_A_per_akma.subspan(i, 3));
    text += '\n';
  }
  return text;
}

void write_structure(const std::string& path, const Structure& structure) {
  std::string keys;
  for (const auto& [key, value] : structure.comment) {
    keys += fmt::format("{}{}={}", keys.empty() ? "" : " ", key, quoted_if_needed(value));
  }
  write_file(path, xyz_frame(structure.positions_A, structure.velocities_A_per_akma, keys));
}

}  // namespace tarn::io
