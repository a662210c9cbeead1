#include "tarn/io/xyz.hpp"

#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/state.hpp"
#include "water_atoms.hpp"
#include "words.hpp"
#include "xyz_comment.hpp"

namespace tarn::io {
namespace {

constexpr std::size_t kMostProblems = 20;

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
    if (kind_of_atom(species) != (wanted == "O" ? AtomKind::oxygen : AtomKind::hydrogen)) {
      note(column_of(species), fmt::format("'{}' where {} is needed: the atoms of each molecule "
                                           "must stand in the order O H H, without other atoms or "
                                           "virtual sites. A PDB or GRO file is put in order by "
                                           "its residues",
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

}  // namespace

XyzReader::XyzReader(const std::string& path) : lines_(path) {}

int XyzReader::read_count() {
  const std::vector<std::string_view> words = words_of(lines_.line());
  const int column = static_cast<int>(words[0].data() - lines_.line().data()) + 1;
  const int atoms = parse_count(words[0]);
  if (words.size() != 1 || atoms == 0) {
    lines_.fail(column,
                fmt::format("'{}' is not a number of atoms: a frame begins with a line that holds "
                            "the number of its atoms and nothing else",
                            lines_.line().substr(static_cast<std::size_t>(column - 1), 40)));
  }
  if (atoms % kAtomsPerMolecule != 0) {
    lines_.fail(column,
                fmt::format("{} atoms are no whole number of water molecules (O H H each, without "
                            "virtual sites)",
                            atoms));
  }
  return atoms;
}

std::optional<Structure> XyzReader::next() {
  if (!have_line_ && !lines_.next_not_blank()) return std::nullopt;
  have_line_ = false;
  const int atoms = read_count();
  const int count_line = lines_.line_number();
  if (!lines_.next()) lines_.fail(0, "the file ends where the comment line is needed");

  Structure structure;
  structure.molecules = atoms / kAtomsPerMolecule;
  XyzColumns columns;
  for (const CommentEntry& entry : parse_comment(lines_.line())) {
    if (entry.key == "Properties") {
      std::string problem;
      columns = parse_properties(entry.value, problem);
      if (!problem.empty()) lines_.fail(entry.value_column, problem);
    } else {
      structure.comment[entry.key] = entry.value;
    }
  }

  first_atom_line_ = lines_.line_number() + 1;
  AtomParser parser(path(), columns);
  for (int atom = 0; atom < atoms && !parser.is_full(); ++atom) {
    if (!lines_.next() || is_blank(lines_.line())) {
      parser.throw_if_any();
      lines_.fail(0, fmt::format("the frame ends after {} atoms where line {} announces {}", atom,
                                 count_line, atoms));
    }
    parser.parse(lines_.line(), lines_.line_number(), atom, structure);
  }
  parser.throw_if_any();
  return structure;
}

void XyzReader::check_rest() {
  have_line_ = have_line_ || lines_.next_not_blank();
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
      check_finite(value);
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

std::string xyz_text(const Structure& structure) {
  return xyz_frame(structure.positions_A, structure.velocities_A_per_akma,
                   comment_line(structure.comment));
}

}  // namespace tarn::io
