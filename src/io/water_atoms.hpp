#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/io/structure.hpp"

/// @file
/// Names of water atoms in files, and assembly of molecules O H H from atoms.

namespace tarn::io {

/// Species of O, H, H and of the site M: "X" is not an element.
inline constexpr std::array<std::string_view, 4> kSpecies{"O", "H", "H", "X"};
/// Atomic numbers of O, H, H.
inline constexpr std::array<int, 3> kAtomicNumbers{8, 1, 1};
/// Names of the atoms, of M and of the residue in files that tarn writes.
inline constexpr std::array<std::string_view, 4> kPdbNames{"O", "H1", "H2", "M"};
inline constexpr std::array<std::string_view, 4> kGroNames{"OW", "HW1", "HW2", "MW"};
inline constexpr std::string_view kPdbResidue = "HOH";
inline constexpr std::string_view kGroResidue = "SOL";

enum class AtomKind { oxygen, hydrogen, virtual_site, other };

/// Kind of a water atom by its name in GROMACS, CHARMM, AMBER, OpenMM or VMD.
AtomKind kind_of_atom(std::string_view name);

/// Whether an atom is named as deuterium, which is read as a hydrogen.
bool is_deuterium(std::string_view name);
Message note_on_deuterium(const std::string& path);

/// An atom of a file.
struct NamedAtom {
  std::string_view name;
  std::string_view residue;  ///< name, number and anything else that distinguishes residues
  int line = 0;
  int name_column = 1;
  std::array<double, 3> position_A{};
  std::optional<std::array<double, 3>> velocity_A_per_akma;
};

/// Assembles molecules from atoms. A molecule ends if the residue changes or if the next atom would
/// be one too many (residue numbers may be truncated, wrapped or all the same). Its atoms are put
/// into the order O H H, and virtual sites are left out.
class MoleculeBuilder {
 public:
  explicit MoleculeBuilder(std::string path) : path_(std::move(path)) {}

  void add(const NamedAtom& atom);
  /// Adds another problem of the frame.
  void note(int line, int column, std::string message);
  /// Reads three numbers of `width` columns each after the first `begin` ones of a line.
  /// @param unit of the file in the unit of the values
  /// @param advice added to a problem, which is noted; @return whether there is none
  bool read_columns(std::string_view line, int line_number, std::size_t begin, std::size_t width,
                    double unit, std::string_view advice, std::array<double, 3>& values);
  bool is_full() const { return problems_.size() >= kMostProblems; }
  /// Whether atoms were added since the last take().
  bool has_atoms() const { return atoms_ > 0; }

  /// Returns the molecules so far and empties the builder.
  /// @param lines receives the line of each atom
  /// @throws InputError with all problems
  Structure take(std::vector<int>& lines);

 private:
  static constexpr std::size_t kMostProblems = 20;

  struct Atom {
    int line = 0;
    std::array<double, 3> position_A{};
    std::array<double, 3> velocity_A_per_akma{};
  };
  void end_molecule();

  std::string path_;
  std::vector<Problem> problems_;
  int atoms_ = 0;
  // The current molecule.
  std::string residue_;
  int first_line_ = 0;
  std::vector<Atom> oxygens_, hydrogens_;
  bool has_site_ = false, is_spoilt_ = false;

  Structure structure_;
  std::vector<int> lines_;
  bool has_velocities_ = true, has_deuterium_ = false;
};

/// Distance between two atoms.
inline double distance_A(std::span<const double> x_A, std::size_t a, std::size_t b) {
  return std::hypot(x_A[3 * a] - x_A[3 * b], x_A[3 * a + 1] - x_A[3 * b + 1],
                    x_A[3 * a + 2] - x_A[3 * b + 2]);
}

/// @throws InputError unless the number of atoms, in a file without atom names, fits whole
/// molecules of three or four sites
void check_unnamed_water(const std::string& path, std::int64_t atoms);

/// The molecules of a file without atom names. They are read as O H H, or as O H H M if the
/// distances of the first frame fit that better; M is left out.
class UnnamedWater {
 public:
  /// @param path of the file, for messages
  /// @param frame number of the frame in the file, counted from 0
  /// @param positions_A of all atoms of the frame
  /// @param velocities_A_per_akma of all atoms, or empty
  /// @throws InputError for numbers that check_numbers() rejects, for a number of atoms that is not
  ///         a multiple of the atoms of a molecule, and for a first frame in which fewer than half
  ///         of the atoms belong to whole molecules
  Structure take(const std::string& path, std::int64_t frame, std::vector<double> positions_A,
                 std::vector<double> velocities_A_per_akma);

 private:
  std::size_t sites_ = 0;  // of a molecule; 0: not yet determined
};

/// Checks coordinates or velocities of a binary format, by the rule of parse_number() for text.
/// @param frame names the frame in the message
/// @param quantity "coordinate" or "velocity"
/// @throws InputError for a number that is not finite or larger than kLargestNumber
void check_numbers(const std::string& path, std::string_view frame, std::string_view quantity,
                   std::span<const double> values);

/// @throws NumericalError for a number that is not finite
void check_finite(double value);
/// Checks a number that is to be written: the readers must accept it.
/// @throws NumericalError for a number that is not finite or larger than kLargestNumber
void check_writable(double value);

/// A number that readers accept but a format cannot store.
class UnwritableNumber : public IoError {
 public:
  using IoError::IoError;
};
/// @param coordinate index of the number in the coordinates, or velocities, of all atoms
/// @param what "is at 2e5 A", for example
/// @param where "an XTC file", for example
/// @throws UnwritableNumber always
[[noreturn]] void throw_unwritable(std::size_t coordinate, const std::string& what,
                                   std::string_view where);

/// The smallest and the largest of some numbers and 0. @throws NumericalError
std::array<double, 2> extremes(std::span<const double> values);
/// Index of the number with the largest magnitude.
std::size_t largest_number(std::span<const double> values);

/// Assembles molecules O H H from atoms in any order: each hydrogen is assigned to its nearest
/// oxygen, and molecules are in the order of their oxygens. Positions, velocities and `lines` are
/// reordered; `file_order` receives the old order.
/// @param structure the atoms of one frame in the order of the file, without virtual sites
/// @param is_oxygen of each atom
/// @param lines of each atom
/// @param path of the file, for messages
/// @throws InputError unless each oxygen has two hydrogens within 1.3 A
void group_by_distance(const std::vector<bool>& is_oxygen, const std::string& path,
                       Structure& structure, std::vector<int>& lines);

}  // namespace tarn::io
