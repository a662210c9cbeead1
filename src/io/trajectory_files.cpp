#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/text.hpp"
#include "frame_formats.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "words.hpp"
#include "xyz.hpp"

namespace tarn::io {
namespace {

/// The files of a trajectory, by replica.
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

class GrowingFiles final : public TrajectoryWriter {
 public:
  GrowingFiles(const TrajectoryInfo& info, GrowingFormat format)
      : info_(info),
        format_(std::move(format)),
        files_(trajectory_files(info, format_.extension)) {}

  void create() override {
    for (AppendFile& file : files_) {
      file.create();
      file.append(format_.header.bytes);
    }
  }
  void append(const TrajectoryFrame& frame) override {
    // A given path is for a single replica, which may have any number.
    const bool is_of_run = info_.path.empty();
    AppendFile& file = files_[is_of_run ? static_cast<std::size_t>(frame.replica) : 0];
    const bool is_first = file.length() == format_.header.bytes.size();
    if (format_.names == AtomNames::beside && is_of_run && frame.replica == 0 && is_first) {
      write_topology(info_.folder + "/topology.pdb", info_, frame.positions_A);
    }
    const std::string bytes = format_.frame_bytes(info_, frame);
    // The count first: appending may flush, and then both reach the file together.
    put_count(file, 1);
    file.append(bytes);
    if (format_.decimals != nullptr) warn_of_decimals(format_.decimals(frame), frame);
  }
  void save(std::ostream& out) override {
    for (AppendFile& file : files_) {
      file.sync();
      put(out, file.length());
    }
  }
  void load(std::istream& in) override {
    for (AppendFile& file : files_) {
      file.cut(get_u64(in));
      put_count(file, 0);
      file.flush();
    }
  }
  void finish() override {
    for (AppendFile& file : files_) file.flush();
  }
  Messages messages() const override { return messages_; }

 private:
  void put_count(AppendFile& file, std::int64_t new_frames) const {
    const FileHeader& head = format_.header;
    if (head.counts == nullptr) return;
    const std::uint64_t frames = (file.length() - head.bytes.size()) / head.frame_bytes;
    file.overwrite(head.offset, head.counts(static_cast<std::int64_t>(frames) + new_frames, info_));
  }
  /// At the first frame with few decimals.
  void warn_of_decimals(int decimals, const TrajectoryFrame& frame) {
    // With fewer decimals in angstrom, bond lengths differ noticeably from the model.
    constexpr int kFewDecimals = 3;
    if (decimals >= kFewDecimals || !messages_.empty()) return;
    messages_.push_back(Message::warning(fmt::format(
        "coordinates in {} have only {} in angstrom from step {} of replica {} on, because a "
        "molecule is far from the origin; write xyz or h5md or, if the cluster drifts, set "
        "[system] recentre = true",
        format_.extension, count_text(decimals, "decimal"), frame.step, frame.replica)));
  }

  TrajectoryInfo info_;
  GrowingFormat format_;
  Messages messages_;
  std::vector<AppendFile> files_;  // by replica
};

/// "model=qtip4pf potential=name beads=32 ": what is known of the system, and the beads in a frame
/// of ring polymers.
std::string keys_of(const TrajectoryInfo& info) {
  std::string keys;
  if (!info.model.empty()) keys += fmt::format("model={} ", info.model);
  keys += system_keys(info.potential, info.isotopes);
  if (info.beads > 1) keys += fmt::format("beads={} ", info.beads);
  if (info.bead) keys += fmt::format("bead={} ", *info.bead);
  return keys;
}

/// " bath_K=120", or nothing for a single or unknown bath.
std::string bath_key(const TrajectoryInfo& info, const TrajectoryFrame& frame) {
  if (info.baths_K.empty()) return "";
  const auto at = info.path.empty() ? static_cast<std::size_t>(frame.replica) : 0;
  return fmt::format(" bath_K={}", info.baths_K.at(at));
}

std::string as_xyz(const TrajectoryInfo& info, const TrajectoryFrame& frame) {
  return xyz_frame(
      frame.positions_A, frame.velocities_A_per_akma,
      fmt::format("{}step={} time_ps={:.17g} replica={}{} pbc=\"F F F\"", keys_of(info), frame.step,
                  frame.time_ps, frame.replica, bath_key(info, frame)),
      info.sites_per_molecule);
}

std::string as_gro(const TrajectoryInfo& info, const TrajectoryFrame& frame) {
  return gro_frame(frame.positions_A, frame.velocities_A_per_akma,
                   fmt::format("{}replica={}{} t={:.17g} step={}", keys_of(info), frame.replica,
                               bath_key(info, frame), frame.time_ps, frame.step),
                   info.sites_per_molecule);
}

std::string as_pdb(const TrajectoryInfo& info, const TrajectoryFrame& frame) {
  return pdb_frame(frame.positions_A, (frame.step - info.first_step) / info.every + 1,
                   fmt::format("{}replica={}{} step={} time_ps={}", keys_of(info), frame.replica,
                               bath_key(info, frame), frame.step, frame.time_ps),
                   info.sites_per_molecule);
}

/// Decimals in angstrom, as for all formats; GRO is in nm.
int decimals_of_gro(const TrajectoryFrame& frame) {
  return gro_decimals(frame.positions_A, frame.velocities_A_per_akma) - 1;
}
int decimals_of_pdb(const TrajectoryFrame& frame) { return pdb_decimals(frame.positions_A); }

}  // namespace

int decimals_of_float(const TrajectoryFrame& frame) {
  float largest = 0.0f;
  for (const double x : frame.positions_A) {
    largest = std::max(largest, static_cast<float>(std::abs(x)));
  }
  const float next = std::nextafter(largest, std::numeric_limits<float>::infinity());
  return std::max(0, static_cast<int>(std::floor(-std::log10(next - largest))));
}

std::unique_ptr<TrajectoryWriter> write_frames(const TrajectoryInfo& info, GrowingFormat format) {
  return std::make_unique<GrowingFiles>(info, std::move(format));
}

void write_topology(const std::string& path, const TrajectoryInfo& info,
                    std::span<const double> positions_A) {
  write_file(path, pdb_text(positions_A, trimmed(keys_of(info)), info.sites_per_molecule));
}

std::int32_t step_of_32_bits(std::int64_t step) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(step, INT32_MAX));
}

std::unique_ptr<TrajectoryWriter> write_xyz(const TrajectoryInfo& info) {
  return write_frames(info, {".xyz", as_xyz});
}
std::unique_ptr<TrajectoryWriter> write_gro(const TrajectoryInfo& info) {
  return write_frames(info, {".gro", as_gro, AtomNames::in_frames, decimals_of_gro});
}
std::unique_ptr<TrajectoryWriter> write_pdb(const TrajectoryInfo& info) {
  return write_frames(info, {".pdb", as_pdb, AtomNames::in_frames, decimals_of_pdb});
}

}  // namespace tarn::io
