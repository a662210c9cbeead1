#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "core/text.hpp"
#include "frame_formats.hpp"
#include "tarn/core/error.hpp"
#include "tarn/state.hpp"
#include "water_atoms.hpp"
#include "words.hpp"
#include "xyz.hpp"

namespace tarn::io {
namespace {

// Residue number, residue, atom and atom number, five columns each, precede the coordinates.
constexpr std::size_t kFirstCoordinate = 20;
// GROMACS writes compressed trajectories with the precision of its GRO input, as 32-bit integers.
// With seven decimals their range is 214 nm on both sides; with nine it would be less than 3 nm.
constexpr int kDecimals = 7;
constexpr std::size_t kWidth = kDecimals + 5;

/// @param width of the coordinates, the distance between two decimal points
void read_atom(std::string_view line, int line_number, std::size_t width, std::string_view advice,
               MoleculeBuilder& builder) {
  if (line.size() <= kFirstCoordinate) {
    return builder.note(line_number, 1,
                        "this line ends before column 21, where the coordinates begin");
  }
  NamedAtom atom;
  const std::string residue =
      fmt::format("{} {}", trimmed(line.substr(5, 5)), trimmed(line.substr(0, 5)));
  atom.name = trimmed(line.substr(10, 5));
  atom.residue = residue;
  atom.line = line_number;
  atom.name_column = static_cast<int>(atom.name.data() - line.data()) + 1;
  const auto read = [&](std::size_t begin, double unit, std::array<double, 3>& values) {
    return builder.read_columns(line, line_number, begin, width, unit, advice, values);
  };
  const std::size_t end = kFirstCoordinate + 3 * width;
  if (!read(kFirstCoordinate, kAngstromPerNm, atom.position_A)) return;
  if (end < line.size() && !is_blank(line.substr(end)) &&
      !read(end, kAngstromPerAkmaPerNmPerPs, atom.velocity_A_per_akma.emplace())) {
    return;
  }
  builder.add(atom);
}

/// The distance between the first two decimal points of the coordinates, or 0.
std::size_t coordinate_width(std::string_view line) {
  const std::size_t first = line.find('.', kFirstCoordinate);
  if (first == std::string_view::npos) return 0;
  const std::size_t second = line.find('.', first + 1);
  return second == std::string_view::npos ? 0 : second - first;
}

/// Reads the keys of a title; GROMACS writes blanks after "t=" and "step=".
void read_title(std::string_view title, Structure& structure) {
  std::string waiting;  // a key whose value is the next word
  for (const CommentEntry& entry : parse_comment(title)) {
    const std::string key = entry.key == "t" ? "time_ps" : entry.key;
    if (!waiting.empty()) {
      structure.comment[waiting] = entry.key;
      waiting.clear();
    } else if (entry.value.empty()) {
      waiting = key;
    } else {
      structure.comment[key] = entry.value;
    }
  }
}

std::string columns_of(double value, int decimals) {
  return fmt::format("{:{}.{}f}", value, kWidth, decimals);
}

/// Whether a number fits its column with a blank before it, which separates it from the previous
/// one.
bool fits(double value, int decimals) {
  const std::string word = columns_of(value, decimals);
  return word.size() == kWidth && word[0] == ' ';
}

class GroReader final : public TextFrameReader {
 public:
  using TextFrameReader::TextFrameReader;

  std::optional<Structure> next() override {
    if (!lines_.next()) return std::nullopt;
    // The title may be blank, and the file may end with blank lines.
    const bool blank = is_blank(lines_.line());
    if (blank && !lines_.next_nonblank()) return std::nullopt;
    std::string title;
    if (!blank || parse_count(trimmed(lines_.line())) == 0) {
      title = lines_.line();
      if (!lines_.next()) lines_.fail(0, "the file ends before the number of atoms");
    }
    const int atoms = read_count();
    const int count_line = lines_.line_number();

    MoleculeBuilder builder(path());
    std::size_t width = 0;
    std::string advice;
    for (int atom = 0; atom < atoms && !builder.is_full(); ++atom) {
      if (!lines_.next() || is_blank(lines_.line())) {
        lines_.fail(0, fmt::format("the frame ends after {}; line {} gives {}",
                                   count_text(atom, "atom"), count_line, atoms));
      }
      if (width == 0) width = coordinate_width(lines_.line());
      if (width == 0) {
        lines_.fail(1,
                    "this line has no coordinates with decimal points after column 20, where a GRO "
                    "file has them");
      }
      if (advice.empty()) {
        advice = fmt::format(
            "; coordinates are {} columns wide, the distance between the decimal points of the "
            "first atom",
            width);
      }
      read_atom(lines_.line(), lines_.line_number(), width, advice, builder);
    }
    Structure structure = builder.take(atom_lines_);
    structure.has_box = read_box();
    read_title(title, structure);
    if (structure.molecules == 0) lines_.fail(0, "the frame contains no water molecule");
    return structure;
  }

 private:
  int read_count() {
    const int atoms = parse_count(trimmed(lines_.line()));
    if (atoms == 0) {
      lines_.fail(1, fmt::format("'{}' is not a number of atoms: the second line of a GRO frame "
                                 "must contain the number of its atoms and nothing else",
                                 trimmed(lines_.line()).substr(0, 40)));
    }
    return atoms;
  }

  /// @return whether the box has a size; that of a cluster has none
  bool read_box() {
    if (!lines_.next()) lines_.fail(0, "the file ends before the box line");
    const std::vector<std::string_view> words = words_of(lines_.line());
    bool has_size = false;
    for (const std::string_view word : words) {
      double length_nm = 0.0;
      const std::string problem = parse_number(word, length_nm);
      has_size = has_size || length_nm != 0.0;
      if (problem.empty()) continue;
      lines_.fail(static_cast<int>(word.data() - lines_.line().data()) + 1,
                  problem +
                      ": the line after the atoms is the box, with three or nine numbers; check "
                      "the number of atoms in the second line of the frame");
    }
    if (words.size() != 3 && words.size() != 9) {
      lines_.fail(1, fmt::format("the box has {} numbers; expected three or nine", words.size()));
    }
    return has_size;
  }
};

}  // namespace

std::unique_ptr<FrameReader> open_gro(const std::string& path) {
  return std::make_unique<GroReader>(path);
}

int gro_decimals(std::span<const double> positions_A,
                 std::span<const double> velocities_A_per_akma) {
  const auto places = extremes(positions_A);
  const auto velocities = extremes(velocities_A_per_akma);
  int decimals = kDecimals;
  for (std::size_t i = 0; i < 2; ++i) {
    const double nm = places[i] / kAngstromPerNm;
    const double nm_per_ps = velocities[i] / kAngstromPerAkmaPerNmPerPs;
    while (decimals > 0 && !(fits(nm, decimals) && fits(nm_per_ps, decimals + 1))) --decimals;
  }
  if (decimals == 0) {
    const bool too_far =
        !std::ranges::all_of(places, [](double x_A) { return fits(x_A / kAngstromPerNm, 1); });
    const std::span<const double> values = too_far ? positions_A : velocities_A_per_akma;
    const std::size_t i = largest_number(values);
    throw_unwritable(i,
                     too_far ? fmt::format("is at {:.6g} A", values[i])
                             : fmt::format("has the velocity {:.6g} A/akma", values[i]),
                     "the columns of a GRO file");
  }
  return decimals;
}

std::string gro_frame(std::span<const double> positions_A,
                      std::span<const double> velocities_A_per_akma, std::string_view title,
                      int sites_per_molecule) {
  const auto sites = static_cast<std::size_t>(sites_per_molecule);
  const std::size_t atoms = positions_A.size() / 3;
  // All atoms need the same decimals: readers derive the columns from the decimal points of one
  // atom.
  const int decimals = gro_decimals(positions_A, velocities_A_per_akma);
  for (const double value : positions_A) check_writable(value);
  for (const double value : velocities_A_per_akma) check_writable(value);
  std::string text = fmt::format("{}\n{:5}\n", title, atoms);
  for (std::size_t a = 0; a < atoms; ++a) {
    fmt::format_to(std::back_inserter(text), "{:5}{:<5}{:>5}{:5}", (a / sites + 1) % 100000,
                   kGroResidue, kGroNames[a % sites], (a + 1) % 100000);
    for (std::size_t c = 3 * a; c < 3 * a + 3; ++c) {
      text += columns_of(positions_A[c] / kAngstromPerNm, decimals);
    }
    if (!velocities_A_per_akma.empty()) {
      for (std::size_t c = 3 * a; c < 3 * a + 3; ++c) {
        text += columns_of(velocities_A_per_akma[c] / kAngstromPerAkmaPerNmPerPs, decimals + 1);
      }
    }
    text += '\n';
  }
  return text + "   0.00000   0.00000   0.00000\n";
}

std::string gro_text(const Structure& structure) {
  return gro_frame(structure.positions_A, structure.velocities_A_per_akma,
                   comment_line(structure.comment));
}

bool looks_like_gro(std::string_view beginning) {
  const std::vector<std::string_view> lines = split(beginning, '\n');
  return lines.size() > 2 && parse_count(trimmed(lines[1])) > 0 &&
         parse_count(trimmed(lines[0])) == 0 && lines[2].size() > kFirstCoordinate &&
         coordinate_width(lines[2]) > 0;
}

}  // namespace tarn::io
