#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
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
  /// Whether the file has sites without mass beside the atoms (M, EPW, LP, ...); they are left out.
  bool has_sites = false;
  /// Whether the file gives the frame a periodic box, which nothing here looks at.
  bool has_box = false;
  /// What the reader did to the atoms beyond reading them, for people.
  std::vector<std::string> notes{};

  /// The water model that the comment names.
  std::optional<std::string> model() const;
  /// The replica that the comment names, "3" or "replica-0003"; empty where it names none.
  std::string replica_name() const;
  /// The time that the comment names.
  std::optional<double> time_ps() const;
  /// The temperature of its bath that the comment names, `bath_K`.
  std::optional<double> bath_K() const;
  /// b h^2 of positions x = q - b h^2 a, of schemes that push them forward.
  std::optional<double> push_fs2() const;
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
  /// Whether the frame that next() could not read is the last thing in the file, and not all of it.
  virtual bool is_cut_off() const { return false; }
  /// After the last frame: how the file contradicts its header, or nothing.
  virtual std::string note_at_end() const { return {}; }
  virtual const std::string& path() const = 0;
};

/// The check that all commands apply to a frame: molecules must be whole, atoms must not coincide.
/// @param number of the frame in its file, counted from 0
/// @throws InputError that names hydrogens more than 3 A from their oxygen, atoms closer than 0.1 A
///         and oxygens closer than 0.5 A
void check_molecules(const Structure& frame, const FrameReader& reader, std::int64_t number);

/// Reads the next frame of a trajectory whose last frame may be incomplete, because the run that
/// wrote it was killed or is still running.
/// @param frames read before
/// @param note receives at the end of the file what is missing, or stays empty
/// @throws InputError for a file without frames, and as FrameReader::next() unless the file ends
///         within a frame that is not the first
std::optional<Structure> next_whole_frame(FrameReader& reader, std::int64_t frames,
                                          std::string& note);

/// Which frame of a file; both count from 0.
struct FrameChoice {
  std::optional<std::int64_t> frame{};    ///< of the replica; default the first
  std::optional<std::int64_t> replica{};  ///< default that of the first frame
  bool is_given() const { return frame || replica; }
};

/// Which frames of trajectories count.
struct FrameSelection {
  /// Of files that hold several, the numbers of those that count; empty: all.
  std::vector<std::int64_t> replicas{};
  std::int64_t skip = 0;   ///< frames at the beginning of each replica
  std::int64_t every = 1;  ///< frames: after those, the first, and each so many-th
  std::int64_t max_frames = std::numeric_limits<std::int64_t>::max();  ///< frames of each replica

  /// @param place of a frame in its replica, counted from 0
  bool selects(std::int64_t place) const {
    return place >= skip && (place - skip) % every == 0 && index(place) < max_frames;
  }
  /// Of a frame that is taken, among those of its replica.
  std::int64_t index(std::int64_t place) const { return (place - skip) / every; }
};

/// "the file holds no replica 7 or 8" of the numbers that were asked for, or nothing.
/// @param found those that are there
std::string note_on_absent_replicas(const std::string& where, const FrameSelection& selection,
                                    const std::set<std::int64_t>& found);

/// How much a file holds from where a structure was read.
struct FrameCounts {
  std::int64_t frames = 1;  ///< of the replica of the first frame
  std::int64_t replicas = 1;
  bool all = true;  ///< false: there are more, which nobody counted
};

/// What people are told of a file whose frames have a periodic box.
std::string note_on_box(const std::string& path);

/// Reads a structure to start from: one frame, checked further than a trajectory. The format
/// follows from the extension and the contents.
/// @param counts receives, where it is not null and no frame is chosen, what else there is; of long
///        files as much as a moment shows
/// @throws IoError; InputError as FrameReader::next(), and for no such frame, for coincident
///         atoms (closer than 0.1 A), for oxygens closer than 0.5 A, for an O-H distance above
///         3 A and for lengths that look like nm or bohr
Structure read_structure(const std::string& path, const FrameChoice& choice = {},
                         FrameCounts* counts = nullptr);

/// "a.xyz has 20 frames, and the first one was taken", or nothing where there is no other.
std::optional<std::string> note_on_frames(const std::string& path, const FrameCounts& counts);

/// "a.gro has a fourth site ..." for a structure with sites that a model without them reads.
std::optional<std::string> note_on_sites(const std::string& path, const Structure& structure,
                                         const WaterModel& model);

/// What keeps a structure from being a start: lengths within molecules that are further from the
/// model's than 0.2 A: the first five, and how many more there are.
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
