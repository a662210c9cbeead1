#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// Structures of water molecules, and how frames of them are read.

namespace tarn::io {

/// The positions of a cluster at one moment; the atoms of each molecule stand in the order O H H.
struct Structure {
  int molecules = 0;
  std::vector<double> positions_A;            ///< [molecule][9]
  std::vector<double> velocities_A_per_akma;  ///< [molecule][9], or empty
  /// What else the file says of the frame: model, step, time_ps, replica, ...
  std::map<std::string, std::string> comment;
  /// The atoms above in the order of the file, without its virtual sites; empty where that is the
  /// order above.
  std::vector<int> file_order;

  /// The water model that the comment names.
  std::optional<std::string> model() const;
};

/// Reads the frames of a file one after another. A reader takes no more of the file than that.
class FrameReader {
 public:
  virtual ~FrameReader() = default;

  /// The next frame, or nothing at the end of the file.
  /// @throws InputError with file, line and column of everything that is wrong in the frame
  virtual std::optional<Structure> next() = 0;
  /// Line of an atom of the last frame; 0 in a binary file.
  virtual int line_of_atom(int atom) const = 0;
  /// Checks, as far as the format allows it, that nothing else than frames follows.
  /// @throws InputError
  virtual void check_rest() {}
  virtual const std::string& path() const = 0;
};

/// Reads a structure to start from: the first frame, checked further than a trajectory. The format
/// follows from the extension and the contents.
/// @throws IoError; InputError as FrameReader::next(), and for no frame at all, for coincident
///         atoms (closer than 0.1 A), for oxygens closer than 0.5 A and for an O-H distance above
///         3 A
Structure read_structure(const std::string& path);

/// What keeps a structure from being a start: lengths within molecules that are further from the
/// model's than 0.2 A; the first twenty.
/// @param path of the structure, named in the problems
std::vector<Problem> bond_length_problems(const WaterModel& model,
                                          std::span<const double> positions_A,
                                          const std::string& path);

/// The largest difference between a distance of two atoms of a molecule and the model's [A].
/// @param positions_A [molecule][9]
double largest_length_error_A(const WaterModel& model, std::span<const double> positions_A);

/// Writes one structure atomically, in the format of its extension.
/// @throws IoError, NumericalError; InputError for an extension that is not known
void write_structure(const std::string& path, const Structure& structure);

}  // namespace tarn::io
