#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tarn/io/structure.hpp"
#include "tarn/io/trajectory.hpp"
#include "water_atoms.hpp"
#include "xdr.hpp"

/// @file
/// TRR, the uncompressed trajectories of GROMACS: positions, velocities and forces in single or
/// double precision, without atom names.

namespace tarn::io {

/// Reads TRR files in either precision. Frames without positions are skipped and not counted.
class TrrReader final : public FrameReader {
 public:
  /// @throws IoError
  explicit TrrReader(const std::string& path) : input_(path) {}

  /// @throws InputError also at the end of a file without any frame with positions
  std::optional<Structure> next() override;
  int line_of_atom(int /*atom*/) const override { return 0; }
  bool is_cut_off() const override { return input_.is_cut_off(); }
  const std::string& path() const override { return input_.path(); }

 private:
  XdrInput input_;
  UnnamedWater water_;
  std::int64_t passed_over_ = 0;
};

/// Writes in double precision: one file per replica, and topology.pdb with the atom names.
std::unique_ptr<TrajectoryWriter> write_trr(const TrajectoryInfo& info);

bool looks_like_trr(std::string_view beginning);

}  // namespace tarn::io
