#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "frame_formats.hpp"
#include "tarn/core/error.hpp"
#include "tarn/state.hpp"
#include "water_atoms.hpp"
#include "words.hpp"
#include "xyz.hpp"

namespace tarn::io {
namespace {

/// Columns of a record, counted from 1 as in the specification.
std::string_view columns(std::string_view line, std::size_t first, std::size_t last) {
  return first <= line.size() ? line.substr(first - 1, last - first + 1) : std::string_view{};
}

bool is_atom(std::string_view line) {
  return line.starts_with("ATOM  ") || line.starts_with("HETATM");
}

constexpr std::size_t kBeforeCoordinates = 30, kCoordinateWidth = 8;
constexpr int kMostDecimals = 3;

void read_atom(std::string_view line, int line_number, MoleculeBuilder& builder) {
  NamedAtom atom;
  // Residue names of four letters, such as TIP3, extend into the column after the name field.
  const std::string residue = fmt::format(
      "{} {}{}{}", trimmed(columns(line, 18, 21)), trimmed(columns(line, 23, 27)),
      is_blank(columns(line, 22, 22)) ? "" : fmt::format(" of chain {}", columns(line, 22, 22)),
      is_blank(columns(line, 73, 76)) ? "" : fmt::format(" of {}", trimmed(columns(line, 73, 76))));
  atom.residue = residue;
  atom.name = trimmed(columns(line, 13, 16));
  atom.line = line_number;
  atom.name_column = 13;
  const std::string_view place = columns(line, 17, 17);
  if (!is_blank(place) && place != "A" && place != "1") {
    return builder.note(line_number, 17,
                        fmt::format("'{}' is an alternate location of this atom (column 17): keep "
                                    "one location of each atom and leave column 17 blank",
                                    place));
  }
  if (builder.read_columns(line, line_number, kBeforeCoordinates, kCoordinateWidth, 1.0,
                           "; PDB coordinates are in columns 31-38, 39-46 and 47-54",
                           atom.position_A)) {
    builder.add(atom);
  }
}

/// Whether a CRYST1 record gives a box. For structures without one all lengths are 1 A, as wwPDB
/// requires, or 0.
bool is_box(std::string_view line) {
  constexpr double kDummy_A = 1.0;
  for (const std::size_t first : {7u, 16u, 25u}) {
    double length_A = 0.0;
    const std::string problem = parse_number(trimmed(columns(line, first, first + 8)), length_A);
    if (!problem.empty() || length_A == 0.0) return false;
    if (length_A != kDummy_A) return true;
  }
  return false;
}

/// A coordinate with up to three decimals, as many as fit.
/// @throws NumericalError, UnwritableNumber
std::string coordinate(std::span<const double> x, std::size_t index) {
  const double value = x[index];
  check_finite(value);
  for (int decimals = kMostDecimals; decimals >= 0; --decimals) {
    std::string word = fmt::format("{:8.{}f}", value, decimals);
    if (word.size() == kCoordinateWidth) return word;
  }
  throw_unwritable(index, fmt::format("is at {:.6g} A", value), "the columns of a PDB file");
}

int decimals_of(std::span<const double> x, std::size_t index) {
  const std::string word = coordinate(x, index);
  const std::size_t point = word.find('.');
  return point == std::string::npos ? 0 : static_cast<int>(word.size() - point - 1);
}

std::string atom_records(std::span<const double> positions_A, int sites_per_molecule) {
  const auto sites = static_cast<std::size_t>(sites_per_molecule);
  std::string text;
  for (std::size_t a = 0; a < positions_A.size() / 3; ++a) {
    const std::size_t in_molecule = a % sites;
    fmt::format_to(std::back_inserter(text),
                   "ATOM  {:5}  {:<3} {:>3}  {:4}    {}{}{}  1.00  0.00          {:>2}\n",
                   (a + 1) % 100000, kPdbNames[in_molecule], kPdbResidue, (a / sites + 1) % 10000,
                   coordinate(positions_A, 3 * a), coordinate(positions_A, 3 * a + 1),
                   coordinate(positions_A, 3 * a + 2), kSpecies[in_molecule]);
  }
  return text;
}

class PdbReader final : public TextFrameReader {
 public:
  using TextFrameReader::TextFrameReader;

  std::optional<Structure> next() override {
    MoleculeBuilder builder(path());
    std::map<std::string, std::string> comment;
    bool has_end = false;
    while (!has_end && !builder.is_full() && lines_.next()) {
      const std::string_view line = lines_.line();
      if (is_atom(line)) {
        read_atom(line, lines_.line_number(), builder);
      } else if (line.starts_with("CRYST1")) {
        has_box_ = is_box(line);  // for all following models
      } else if (line.starts_with("TITLE ")) {
        for (const CommentEntry& entry : parse_comment(columns(line, 11, line.size()))) {
          comment[entry.key] = entry.value;
        }
      } else if (line.starts_with("END") || line.starts_with("MODEL ")) {
        has_end = builder.has_atoms();
      }
    }
    Structure structure = builder.take(atom_lines_);
    std::string problem;
    const double unit_A = take_unit_A(comment, problem);
    if (!problem.empty()) throw InputError(path(), 0, "TITLE: " + problem);
    for (double& x : structure.positions_A) x *= unit_A;
    structure.comment = std::move(comment);
    structure.has_box = has_box_;
    if (structure.molecules > 0) {
      if (!has_end && has_ends_) lines_.fail(0, "the file ends within a model");
      has_ends_ = has_end;
      ++frames_;
      return structure;
    }
    if (frames_ == 0 && lines_.line_number() > 0) {
      throw InputError(path(), 0,
                       "the file contains no ATOM or HETATM record of water; is it a PDB file?");
    }
    return std::nullopt;
  }

 private:
  int frames_ = 0;
  bool has_box_ = false;
  bool has_ends_ = false;  // models have end records
};

}  // namespace

std::unique_ptr<FrameReader> open_pdb(const std::string& path) {
  return std::make_unique<PdbReader>(path);
}

int pdb_decimals(std::span<const double> positions_A) {
  const auto both = extremes(positions_A);
  return std::min(decimals_of(both, 0), decimals_of(both, 1));
}

std::string pdb_frame(std::span<const double> positions_A, std::int64_t model,
                      std::string_view title, int sites_per_molecule) {
  return fmt::format("TITLE     {}\nMODEL {:>8}\n{}ENDMDL\n", title, model,
                     atom_records(positions_A, sites_per_molecule));
}

std::string pdb_text(const Structure& structure) {
  return pdb_text(structure.positions_A, comment_line(structure.comment), kAtomsPerMolecule);
}

std::string pdb_text(std::span<const double> positions_A, std::string_view title,
                     int sites_per_molecule) {
  std::string text =
      fmt::format("TITLE     {}\n", title) + atom_records(positions_A, sites_per_molecule);
  const std::size_t atoms = positions_A.size() / 3;
  if (atoms < 100000) {
    for (std::size_t o = 1; o < atoms; o += static_cast<std::size_t>(sites_per_molecule)) {
      fmt::format_to(std::back_inserter(text), "CONECT{:5}{:5}{:5}\n", o, o + 1, o + 2);
    }
  }
  return text + "END\n";
}

bool looks_like_pdb(std::string_view beginning) {
  const std::vector<std::string_view> lines = split(beginning, '\n');
  return std::ranges::any_of(lines, [](std::string_view line) {
    return (is_atom(line) && line.size() > 50) || line.starts_with("CRYST1");
  });
}

}  // namespace tarn::io
