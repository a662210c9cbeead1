#pragma once

#include <array>
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
/// From the named atoms of PDB and GRO files to molecules O H H, and back.

namespace tarn::io {

/// Of O, H, H, and of the site M where it is written: "X" stands for no element.
inline constexpr std::array<std::string_view, 4> kSpecies{"O", "H", "H", "X"};
/// Names of the atoms, of M, and of their residue, as tarn writes them.
inline constexpr std::array<std::string_view, 4> kPdbNames{"O", "H1", "H2", "M"};
inline constexpr std::array<std::string_view, 4> kGroNames{"OW", "HW1", "HW2", "MW"};
inline constexpr std::string_view kPdbResidue = "HOH";
inline constexpr std::string_view kGroResidue = "SOL";

enum class AtomKind { oxygen, hydrogen, virtual_site, other };

/// What an atom of that name is in water, as GROMACS, CHARMM, AMBER, OpenMM and VMD name them.
AtomKind kind_of_atom(std::string_view name);

/// An atom as a file has it.
struct NamedAtom {
  std::string_view name;
  std::string_view residue;  ///< name, number and whatever else tells residues apart
  int line = 0;
  int name_column = 1;
  std::array<double, 3> position_A{};
  std::optional<std::array<double, 3>> velocity_A_per_akma;
};

/// Puts atoms together to molecules. A molecule ends where the residue changes or where an atom
/// comes that it already has (residue numbers may be cut off, wrapped or all the same); its atoms
/// are put into the order O H H, and virtual sites are left out.
class MoleculeBuilder {
 public:
  explicit MoleculeBuilder(std::string path) : path_(std::move(path)) {}

  void add(const NamedAtom& atom);
  /// Something else that is wrong with the frame.
  void note(int line, int column, std::string message);
  bool is_full() const { return problems_.size() >= kMostProblems; }
  /// Whether atoms came since the last take().
  bool has_atoms() const { return atoms_ > 0; }

  /// The molecules so far, and an empty builder.
  /// @param lines receives the line of each atom
  /// @throws InputError with everything that is wrong
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
  // The molecule that is being put together.
  std::string residue_;
  int first_line_ = 0;
  std::vector<Atom> oxygens_, hydrogens_;
  bool has_site_ = false, is_spoilt_ = false;

  Structure structure_;
  std::vector<int> lines_;
  bool has_velocities_ = true;
};

/// @throws InputError for a number of atoms, of a file that names none, that is no water
void check_unnamed_water(const std::string& path, std::int64_t atoms);

/// The molecules of a file that names no atoms. They are taken as O H H, or as O H H M where the
/// distances of the first frame fit that better; M is left out.
class UnnamedWater {
 public:
  /// @param path of the file, named in errors
  /// @param positions_A of all atoms of a frame, the first one first
  /// @param velocities_A_per_akma as many, or none
  /// @throws InputError for a first frame of which fewer than half of the atoms are of such
  ///         molecules, and for a number of atoms that is no whole number of them
  Structure take(const std::string& path, std::vector<double> positions_A,
                 std::vector<double> velocities_A_per_akma);

 private:
  std::size_t sites_ = 0;  // of a molecule; 0: not known yet
};

/// @throws NumericalError, for a structure that holds a number that is not finite
void check_finite(double value);
/// Smallest and largest of some numbers, and 0. @throws NumericalError
std::array<double, 2> extremes(std::span<const double> values);

}  // namespace tarn::io
