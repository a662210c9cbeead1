#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tarn/io/structure.hpp"
#include "tarn/io/trajectory.hpp"
#include "water_atoms.hpp"
#include "xyz_comment.hpp"

/// @file
/// DCD, the binary trajectories of CHARMM, NAMD, OpenMM and LAMMPS: positions in single precision,
/// without atom names.

namespace tarn::io {

/// Reads DCD files of either byte order, with records between marks of 4 or 8 bytes, with or
/// without unit cells and fourth coordinates. The number of frames follows from the size of the
/// file: the header of a program that was killed may announce fewer or more.
class DcdReader final : public FrameReader {
 public:
  /// @throws IoError; InputError for a file that is not a DCD file or not of water
  explicit DcdReader(const std::string& path);

  std::optional<Structure> next() override;
  int line_of_atom(int /*atom*/) const override { return 0; }
  /// All frames are as long as the first one.
  bool is_cut_off() const override {
    return frame_bytes_ > 0 && file_bytes_ - frame_begin_ < frame_bytes_;
  }
  std::string warning_at_end() const override;
  const std::string& path() const override { return path_; }

 private:
  [[noreturn]] void fail(const std::string& message) const;
  /// Finds the byte order and the size of the marks from those of the header.
  void find_marks();
  std::int64_t length_in(const std::string& mark) const;
  /// The length that the next mark gives; -1 at the end of the file.
  std::int64_t read_mark();
  /// Reads a record: the bytes between two marks that give their number.
  std::string read_block(std::string_view what);
  std::int32_t i32_at(const std::string& block, std::size_t offset) const;
  std::uint64_t u64_at(const std::string& block, std::size_t offset) const;
  double double_at(const std::string& block, std::size_t offset) const;
  /// Whether a cell (A, gamma, B, beta, alpha, C) is more than a dummy.
  bool is_box(const std::string& cell) const;

  std::string path_;
  std::ifstream stream_;
  std::streamoff file_bytes_ = 0;
  std::streamoff frame_begin_ = 0, frame_bytes_ = 0;  // of the last frame, and of each
  bool swapped_ = false;
  std::size_t mark_bytes_ = 4;
  std::int64_t announced_frames_ = 0;  // by the header
  bool has_cell_ = false;
  bool has_fourth_ = false;
  std::string model_, potential_;  // of the title; empty: it names none
  std::optional<CommentEntry> beads_;
  std::int32_t atoms_ = 0;
  UnnamedWater water_;
  std::int32_t frame_ = 0;
  std::int64_t first_step_ = 0;
  std::int64_t every_ = 1;
  double timestep_ps_ = 0.0;
};

/// Writes one file per replica, and topology.pdb with the atom names and the first frame of the
/// first replica.
std::unique_ptr<TrajectoryWriter> write_dcd(const TrajectoryInfo& info);

bool looks_like_dcd(std::string_view beginning);

}  // namespace tarn::io
