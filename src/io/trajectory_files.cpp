#include "trajectory_files.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "gro.hpp"
#include "pdb.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/xyz.hpp"

namespace tarn::io {
namespace {

using FrameText = std::string (*)(const TrajectoryInfo& info, const TrajectoryFrame& frame);

class TextTrajectory final : public TrajectoryWriter {
 public:
  TextTrajectory(const TrajectoryInfo& info, std::string_view extension, FrameText frame_text)
      : info_(info), frame_text_(frame_text), files_(trajectory_files(info, extension)) {}

  void create() override {
    for (AppendFile& file : files_) file.create();
  }
  void append(const TrajectoryFrame& frame) override {
    // A name of its own is that of the only replica, whatever number that has.
    const auto file = info_.path.empty() ? static_cast<std::size_t>(frame.replica) : 0;
    files_[file].append(frame_text_(info_, frame));
  }
  void save(std::ostream& out) override {
    for (AppendFile& file : files_) {
      file.sync();
      put(out, file.length());
    }
  }
  void load(std::istream& in) override {
    for (AppendFile& file : files_) file.cut(get_u64(in));
  }
  void finish() override {
    for (AppendFile& file : files_) file.flush();
  }

 private:
  TrajectoryInfo info_;
  FrameText frame_text_;
  std::vector<AppendFile> files_;  // by replica
};

/// "model=tip3p ", or nothing where nobody knows it.
std::string model_key(const TrajectoryInfo& info) {
  return info.model.empty() ? "" : fmt::format("model={} ", info.model);
}

/// " bath_K=120", or nothing where there is one bath or nobody knows.
std::string bath_key(const TrajectoryInfo& info, const TrajectoryFrame& frame) {
  if (info.baths_K.empty()) return "";
  const auto at = info.path.empty() ? static_cast<std::size_t>(frame.replica) : 0;
  return fmt::format(" bath_K={}", info.baths_K.at(at));
}

std::string as_xyz(const TrajectoryInfo& info, const TrajectoryFrame& frame) {
  return xyz_frame(
      frame.positions_A, frame.velocities_A_per_akma,
      fmt::format("{}step={} time_ps={:.17g} replica={}{} pbc=\"F F F\"", model_key(info),
                  frame.step, frame.time_ps, frame.replica, bath_key(info, frame)),
      info.sites_per_molecule);
}

std::string as_gro(const TrajectoryInfo& info, const TrajectoryFrame& frame) {
  return gro_frame(frame.positions_A, frame.velocities_A_per_akma,
                   fmt::format("{}replica={}{} t={:.17g} step={}", model_key(info), frame.replica,
                               bath_key(info, frame), frame.time_ps, frame.step),
                   info.sites_per_molecule);
}

std::string as_pdb(const TrajectoryInfo& info, const TrajectoryFrame& frame) {
  return pdb_frame(frame.positions_A, (frame.step - info.first_step) / info.every + 1,
                   fmt::format("{}replica={}{} step={} time_ps={}", model_key(info), frame.replica,
                               bath_key(info, frame), frame.step, frame.time_ps),
                   info.sites_per_molecule);
}

}  // namespace

std::vector<AppendFile> trajectory_files(const TrajectoryInfo& info, std::string_view extension) {
  std::vector<AppendFile> files;
  if (!info.path.empty()) {
    files.emplace_back(info.path);
    return files;
  }
  for (int id = 0; id < info.replicas; ++id) {
    files.emplace_back(info.numbered
                           ? fmt::format("{}/trajectory-{:04}{}", info.folder, id, extension)
                           : fmt::format("{}/trajectory{}", info.folder, extension));
  }
  return files;
}

std::unique_ptr<TrajectoryWriter> write_xyz(const TrajectoryInfo& info) {
  return std::make_unique<TextTrajectory>(info, ".xyz", as_xyz);
}
std::unique_ptr<TrajectoryWriter> write_gro(const TrajectoryInfo& info) {
  return std::make_unique<TextTrajectory>(info, ".gro", as_gro);
}
std::unique_ptr<TrajectoryWriter> write_pdb(const TrajectoryInfo& info) {
  return std::make_unique<TextTrajectory>(info, ".pdb", as_pdb);
}

}  // namespace tarn::io
