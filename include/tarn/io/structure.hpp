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
#include "tarn/core/message.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// Structures of water molecules, and readers of their frames.

namespace tarn::io {

/// Positions of a cluster at one time; the atoms of each molecule are in the order O H H.
struct Structure {
  int molecules = 0;                          ///< of all beads
  std::vector<double> positions_A;            ///< [molecule][9]
  std::vector<double> velocities_A_per_akma;  ///< [molecule][9], or empty
  /// Other data of the frame: model, step, time_ps, replica, ...
  std::map<std::string, std::string> comment;
  /// Indices of the atoms above in the order of the file, without virtual sites; empty if the
  /// orders are the same.
  std::vector<int> file_order;
  /// Whether the file has massless virtual sites (M, EPW, LP, ...); they are left out.
  bool has_sites = false;
  /// Whether the file gives the frame a periodic box, which is ignored.
  bool has_box = false;
  /// Changes that the reader made to the atoms.
  Messages messages{};

  /// The water model in the comment.
  std::optional<std::string> model() const;
  /// The name of the potential that computed the forces; empty: the water model.
  std::string potential() const;
  /// The replica in the comment, "3" or "replica-0003"; empty if there is none.
  std::string replica_name() const;
  /// The time in the comment.
  std::optional<double> time_ps() const;
  /// The bath temperature in the comment, `bath_K`.
  std::optional<double> bath_K() const;
  /// b h^2 of positions x = q - b h^2 a, of schemes that push them forward.
  std::optional<double> push_fs2() const;
  /// Number of beads of ring polymers in the frame, `beads` in the comment: the molecules of bead
  /// 0 come first, then those of bead 1, and so on. 1 without that comment.
  int beads() const;
};

/// Reads the frames of a file one by one, no further than needed.
class FrameReader {
 public:
  virtual ~FrameReader() = default;

  /// The next frame, or nothing at the end of the file.
  /// @throws InputError with file, line and column of all problems of the frame
  virtual std::optional<Structure> next() = 0;
  /// Line of an atom of the last frame; 0 for a binary file.
  virtual int line_of_atom(int /*atom*/) const { return 0; }
  /// Checks that only frames follow, if the format permits it.
  /// @throws InputError
  virtual void check_rest() {}
  /// Whether next() failed because the file ends within a frame.
  virtual bool is_cut_off() const { return false; }
  /// After the last frame: how the file contradicts its header, or nothing.
  virtual std::string warning_at_end() const { return {}; }
  virtual const std::string& path() const = 0;
};

/// The unit of coordinates that do not seem to be in angstrom, and a cure: "O-H distances are about
/// 1.8, and 0.96 A is expected: this looks like bohr. ...". Nothing unless three quarters of the
/// O-H distances are those of water in bohr, in nm, or in angstrom read as nm.
/// @param positions_A of whole molecules O H H
std::string unit_problem(std::span<const double> positions_A);

/// Sets the number of beads of a frame that does not contain it.
/// @throws InputError if the frame names another number, or if the oxygens of one molecule are too
///         far apart for beads of a ring polymer
void set_beads(Structure& frame, int beads, const FrameReader& reader);

/// The check that all commands apply to a frame: it must be in angstrom, molecules must be whole,
/// atoms of one bead must not coincide, and all beads have the same number of molecules.
/// @param number of the frame in its file, counted from 0
/// @throws InputError for another unit; InputError that names hydrogens more than 3 A from their
///         oxygen, atoms closer than 0.1 A and oxygens closer than 0.5 A
void check_molecules(const Structure& frame, const FrameReader& reader, std::int64_t number);

/// Reads the next frame of a trajectory whose last frame may be incomplete, because the run that
/// wrote it was killed or is still running.
/// @param frames read before
/// @param warning receives at the end of the file what is missing, or stays empty
/// @throws InputError for a file without frames, and as FrameReader::next() unless the file ends
///         within a frame that is not the first
std::optional<Structure> next_whole_frame(FrameReader& reader, std::int64_t frames,
                                          std::string& warning);

/// Which frame of a file; both count from 0.
struct FrameChoice {
  std::optional<std::int64_t> frame{};    ///< of the replica; default: the first
  std::optional<std::int64_t> replica{};  ///< default: that of the first frame
  bool is_given() const { return frame || replica; }
};

/// Selects frames of trajectories.
struct FrameSelection {
  /// Numbers of the selected replicas, in files with several; empty: all.
  std::vector<std::int64_t> replicas{};
  std::int64_t skip = 0;   ///< frames left out at the beginning of each replica
  std::int64_t every = 1;  ///< of the frames after those, the first and every n-th are selected
  std::int64_t max_frames = std::numeric_limits<std::int64_t>::max();  ///< frames of each replica

  /// @param place index of a frame in its replica, counted from 0
  bool selects(std::int64_t place) const {
    return place >= skip && (place - skip) % every == 0 && index(place) < max_frames;
  }
  /// Index of a selected frame among those of its replica.
  std::int64_t index(std::int64_t place) const { return (place - skip) / every; }
};

/// Warning "the file contains no replica 7 or 8" for selected numbers that are absent.
/// @param found numbers in the file
std::optional<Message> warning_of_absent_replicas(const std::string& where,
                                                  const FrameSelection& selection,
                                                  const std::set<std::int64_t>& found);

/// Numbers of frames and replicas in a file from which a structure was read.
struct FrameCounts {
  std::int64_t frames = 1;  ///< of the first replica
  std::int64_t replicas = 1;
  bool all = true;  ///< false: the file has more, which were not counted
};

/// Adds the messages of a frame that are not among those of earlier frames.
void add_new_messages(const Messages& of_frame, Messages& messages);

/// Note for a file whose frames have a periodic box.
Message note_on_box(const std::string& path);

/// Reads one frame as a structure to start from. The format follows from the extension and the
/// contents.
/// @param counts unless null, and if no frame is chosen, receives the numbers of frames and
/// replicas
///        in the file; long files are counted in part
/// @throws IoError; InputError as FrameReader::next() and check_molecules(), for a frame that the
///         file does not contain, for several beads and for lengths that look like nm or bohr
Structure read_structure(const std::string& path, const FrameChoice& choice = {},
                         FrameCounts* counts = nullptr);

/// "a.xyz has 20 frames, and frame 0 was taken", or nothing if there is only one.
/// @param cure how to take another one, such as "; --frame takes another one"
std::optional<Message> note_on_frames(const std::string& path, const FrameCounts& counts,
                                      const std::string& cure = {});

/// Warning "a.gro has a fourth site ..." for a structure with virtual sites and a model without.
/// @param cure how to choose the model
std::optional<Message> warning_of_sites(const std::string& path, const Structure& structure,
                                        const WaterModel& model, const std::string& cure);

/// Molecules that cannot start with this model: the first five, and the number of the others. Those
/// of a rigid model have a distance that differs from the model's by more than 0.2 A, those of a
/// flexible model have an O-H distance of more than 3 A.
/// @param flexible whether the molecules are, as with a flexible model or a potential
/// @param path of the structure, for the messages
std::vector<Problem> bond_length_problems(const WaterModel& model, bool flexible,
                                          std::span<const double> positions_A,
                                          const std::string& path);
/// @throws InputError with these problems
void check_bond_lengths(const WaterModel& model, bool flexible, std::span<const double> positions_A,
                        const std::string& path);

/// The largest difference between an intramolecular distance and the model's [A].
/// @param positions_A [molecule][9]
double largest_length_error_A(const WaterModel& model, std::span<const double> positions_A);

/// Warning that energies of these frames are now computed with another potential than in the run
/// that wrote them; nothing if `potential` is empty.
std::optional<Message> warning_of_potential(const std::string& frames, const std::string& potential,
                                            const std::string& model);

/// Writes one structure atomically, in the format of its extension.
/// @throws IoError, NumericalError; InputError for an unknown extension
void write_structure(const std::string& path, const Structure& structure);

/// The atoms of water molecules in the order O H H, from atoms in any order: each hydrogen belongs
/// to its nearest oxygen, and molecules are in the order of their oxygens.
/// @param atomic_numbers 8 or 1, of each atom
/// @param positions_A of each atom, three numbers
/// @return [molecule][O, H1, H2]: the index of the atom
/// @throws InputError that names atoms that are neither O nor H, hydrogens without an oxygen within
///         1.3 A, and oxygens without two hydrogens; counted from 0
std::vector<int> molecule_order(std::span<const int> atomic_numbers,
                                std::span<const double> positions_A);

}  // namespace tarn::io
