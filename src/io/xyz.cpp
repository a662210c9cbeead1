#include "xyz.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/text.hpp"
#include "structure_checks.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/state.hpp"
#include "water_atoms.hpp"

namespace tarn::io {
namespace {

/// The kind of an atom of an XYZ file, by its name or its atomic number.
AtomKind kind_of_species(std::string_view species) {
  if (species == "8") return AtomKind::oxygen;
  if (species == "1") return AtomKind::hydrogen;
  return kind_of_atom(species);
}

/// Whether the keys of a comment line give a periodic box: by pbc or, without that key, by a
/// lattice.
bool has_periodic_box(const std::map<std::string, std::string>& comment) {
  const auto pbc = comment.find("pbc");
  if (pbc != comment.end()) return pbc->second.find_first_of("Tt1") != std::string::npos;
  const auto lattice = comment.find("Lattice");
  return lattice != comment.end() &&
         lattice->second.find_first_of("123456789") != std::string::npos;
}

/// Indices of the required columns; -1: none.
struct XyzColumns {
  int species = 0;
  int position = 1;
  int velocity = -1;
  int count = 4;       ///< columns of an atom line
  bool exact = false;  ///< whether more columns are an error
};

constexpr std::string_view kBlank = " \t";

/// Rank of a column of symbols or atomic numbers, such as "Particle Type" of OVITO; the lowest is
/// used. Negative for other columns.
int rank_of_species(std::string_view name, std::string_view type) {
  if (type != "S" && type != "I") return -1;
  constexpr std::array<std::string_view, 9> kNames{"species",       "element", "symbol",
                                                   "symbols",       "z",       "atomicnumber",
                                                   "atomicnumbers", "numbers", "particletype"};
  const auto* const found = std::ranges::find(kNames, letters_and_digits(name));
  return found == kNames.end() ? -1 : static_cast<int>(found - kNames.begin());
}

bool is_position(std::string_view name) {
  const std::string plain = letters_and_digits(name);
  return plain == "pos" || plain == "position" || plain == "positions";
}

/// Reads the value of a Properties key, name:type:count triples separated by colons.
/// @param lines at the comment line @throws InputError
XyzColumns parse_properties(const CommentEntry& entry, const LineReader& lines) {
  const auto fail = [&](const std::string& message) { lines.fail(entry.value_column, message); };
  XyzColumns columns{-1, -1, -1, 0, true};
  int species_rank = -1;
  const std::vector<std::string_view> parts = split(entry.value, ':');
  if (parts.size() % 3 != 0) {
    fail("Properties must be name:type:count triples, as in species:S:1:pos:R:3");
  }
  for (std::size_t i = 0; i < parts.size(); i += 3) {
    const std::string_view name = parts[i];
    const std::string_view type = parts[i + 1];
    const int count = number_in<int>(parts[i + 2]).value_or(0);
    if (count < 1 || count > 1000) {
      fail(fmt::format("Properties: '{}' is not a number of columns of '{}'", parts[i + 2], name));
    }
    if (type != "S" && type != "R" && type != "I" && type != "L") {
      fail(fmt::format("Properties: '{}' is not a type of '{}'; allowed are S, R, I and L", type,
                       name));
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
  if (columns.position < 0) fail("Properties has no pos:R:3, which is needed");
  if (columns.species < 0) {
    fail("Properties has no species:S:1, which is needed; Z:I:1 with atomic numbers also works");
  }
  return columns;
}

/// Reads the atom lines of one frame and collects their problems.
class AtomParser {
 public:
  /// @param unit_A unit of the positions [A]
  AtomParser(std::string path, const XyzColumns& columns, double unit_A)
      : path_(std::move(path)), columns_(columns), unit_A_(unit_A) {}

  void parse(std::string_view line, int line_number, Structure& structure) {
    line_ = line;
    line_number_ = line_number;
    const std::vector<std::string_view> words = words_of(line);
    const int count = static_cast<int>(words.size());
    if (count < columns_.count || (columns_.exact && count > columns_.count)) {
      note("lines with a wrong number of columns", 1,
           fmt::format("{}; expected {}", count_text(count, "column"), columns_.count));
      return;
    }
    const std::string_view species = words[static_cast<std::size_t>(columns_.species)];
    const AtomKind kind = kind_of_species(species);
    if (kind == AtomKind::virtual_site) {
      structure.has_sites = true;
      return;
    }
    if (kind == AtomKind::other) {
      note("atoms that are not of water", column_of(species),
           fmt::format("'{}' is not an atom of water; tarn simulates water only. Accepted names "
                       "are O, H, 8, 1, OW, OH2, HW1, HW2 and similar{}",
                       species,
                       species.find_first_not_of("0123456789") == std::string_view::npos
                           ? "; if the numbers are LAMMPS types, write elements with dump_modify "
                             "ID element O H"
                           : ""));
    }
    if (is_deuterium(species)) has_deuterium_ = true;
    const bool is_oxygen = kind == AtomKind::oxygen;
    in_order_ = in_order_ && is_oxygen == (is_oxygen_.size() % kAtomsPerMolecule == 0);
    is_oxygen_.push_back(is_oxygen);
    lines_.push_back(line_number);
    numbers(words, columns_.position, unit_A_, structure.positions_A);
    if (columns_.velocity >= 0) {
      numbers(words, columns_.velocity, 1.0, structure.velocities_A_per_akma);
    }
  }

  /// Assembles the molecules. @return the lines of their atoms; @throws InputError
  std::vector<int> finish(int count_line, Structure& structure) {
    throw_if_any();
    const std::size_t atoms = is_oxygen_.size();
    const auto oxygens =
        static_cast<std::size_t>(std::count(is_oxygen_.begin(), is_oxygen_.end(), true));
    if (atoms == 0 || atoms != kAtomsPerMolecule * oxygens) {
      throw InputError({Problem{path_, count_line, 1,
                                fmt::format("{} O and {} H do not form whole water molecules",
                                            oxygens, atoms - oxygens)}});
    }
    structure.molecules = static_cast<int>(oxygens);
    if (!in_order_) {
      group_by_distance(is_oxygen_, path_, structure, lines_);
      structure.messages.push_back(
          Message::note(path_ + ": the atoms are not in the order O H H; each hydrogen was "
                                "assigned to its nearest oxygen"));
    }
    if (has_deuterium_) structure.messages.push_back(note_on_deuterium(path_));
    return std::move(lines_);
  }

  void throw_if_any() {
    if (problems_.count() > 0) throw InputError(problems_.take());
  }

 private:
  void numbers(const std::vector<std::string_view>& words, int first, double unit,
               std::vector<double>& out) {
    for (int i = first; i < first + 3; ++i) {
      const std::string_view word = words[static_cast<std::size_t>(i)];
      double value = 0.0;
      const std::string problem = parse_number(word, value, unit);
      if (!problem.empty()) note("numbers that cannot be read", column_of(word), problem);
      out.push_back(value);
    }
  }
  int column_of(std::string_view word) const {
    return static_cast<int>(word.data() - line_.data()) + 1;
  }
  void note(const char* kind, int column, std::string message) {
    problems_.add(kind, {path_, line_number_, column, std::move(message)});
  }

  std::string path_;
  XyzColumns columns_;
  double unit_A_;
  std::string_view line_;
  int line_number_ = 0;
  bool in_order_ = true, has_deuterium_ = false;
  std::vector<bool> is_oxygen_;
  std::vector<int> lines_;
  GroupedProblems problems_;
};

}  // namespace

int XyzReader::read_count() {
  const std::vector<std::string_view> words = words_of(lines_.line());
  const int column = static_cast<int>(words[0].data() - lines_.line().data()) + 1;
  const int atoms = parse_count(words[0]);
  if (words.size() != 1 || atoms == 0) {
    lines_.fail(column,
                fmt::format("'{}' is not a number of atoms: the first line of a frame must contain "
                            "the number of its atoms and nothing else",
                            lines_.line().substr(static_cast<std::size_t>(column - 1), 40)));
  }
  return atoms;
}

std::optional<Structure> XyzReader::next() {
  if (!have_line_ && !lines_.next_nonblank()) return std::nullopt;
  have_line_ = false;
  const int atoms = read_count();
  const int count_line = lines_.line_number();
  if (!lines_.next()) lines_.fail(0, "the file ends before the comment line");

  Structure structure;
  XyzColumns columns;
  for (const CommentEntry& entry : parse_comment(lines_.line())) {
    if (entry.key == "Properties") {
      columns = parse_properties(entry, lines_);
    } else {
      structure.comment[entry.key] = entry.value;
    }
  }

  std::string problem;
  const double unit_A = take_unit_A(structure.comment, problem);
  if (!problem.empty()) lines_.fail(1, problem);
  structure.has_box = has_periodic_box(structure.comment);

  AtomParser parser(path(), columns, unit_A);
  for (int atom = 0; atom < atoms; ++atom) {
    if (!lines_.next() || is_blank(lines_.line())) {
      parser.throw_if_any();
      lines_.fail(0, fmt::format("the frame ends after {}; line {} gives {}",
                                 count_text(atom, "atom"), count_line, atoms));
    }
    parser.parse(lines_.line(), lines_.line_number(), structure);
  }
  atom_lines_ = parser.finish(count_line, structure);
  return structure;
}

void XyzReader::check_rest() {
  have_line_ = have_line_ || lines_.next_nonblank();
  if (have_line_) read_count();
}

std::string xyz_frame(std::span<const double> positions_A,
                      std::span<const double> velocities_A_per_akma, std::string_view keys,
                      int sites_per_molecule) {
  const bool with_velocities = !velocities_A_per_akma.empty();
  std::string text =
      fmt::format("{}\nProperties=species:S:1:pos:R:3{}{}{}\n", positions_A.size() / 3,
                  with_velocities ? ":vel_A_per_akma:R:3" : "", keys.empty() ? "" : " ", keys);
  const auto add = [&text](std::span<const double> values) {
    for (const double value : values) {
      check_writable(value);
      fmt::format_to(std::back_inserter(text), " {:.17g}", value);
    }
  };
  for (std::size_t i = 0; i < positions_A.size(); i += 3) {
    text += kSpecies[i / 3 % static_cast<std::size_t>(sites_per_molecule)];
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

std::string system_keys(const std::string& potential, const std::string& isotopes) {
  std::map<std::string, std::string> keys;
  if (!potential.empty()) keys.emplace("potential", potential);
  if (!isotopes.empty()) keys.emplace("isotopes", isotopes);
  return keys.empty() ? "" : comment_line(keys) + " ";
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

}  // namespace tarn::io
