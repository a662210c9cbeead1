#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/structure.hpp"
#include "tarn/io/trajectory.hpp"
#include "water_atoms.hpp"
#include "xdr.hpp"

/// @file
/// XTC, the compressed trajectories of GROMACS: positions as integers in units of a precision,
/// without atom names.

namespace tarn::io {

/// Reads XTC files of any precision.
class XtcReader final : public FrameReader {
 public:
  /// @throws IoError
  explicit XtcReader(const std::string& path) : input_(path) {}

  std::optional<Structure> next() override;
  int line_of_atom(int /*atom*/) const override { return 0; }
  bool is_cut_off() const override { return input_.is_cut_off(); }
  const std::string& path() const override { return input_.path(); }

 private:
  std::vector<double> compressed_positions_A(std::int64_t atoms);

  XdrInput input_;
  UnnamedWater water_;
};

/// Writes in units of 10^-4 A: one file per replica, and topology.pdb with the atom names.
std::unique_ptr<TrajectoryWriter> write_xtc(const TrajectoryInfo& info);

bool looks_like_xtc(std::string_view beginning);

}  // namespace tarn::io
