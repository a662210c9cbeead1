#include "trajectory_frames.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/formats.hpp"

namespace tarn {
namespace {

/// The replica that a frame says it is of.
std::string replica_of(const io::Structure& frame) {
  const auto found = frame.comment.find("replica");
  return found == frame.comment.end() ? std::string{} : found->second;
}

/// Whether the replica of a frame is among the numbers. @throws InputError if it names none
bool is_among(const std::vector<std::int64_t>& numbers, const std::string& file,
              const io::Structure& frame) {
  const std::optional<std::int64_t> number = frame.replica();
  if (!number) {
    throw InputError({Problem{file, 0, 0,
                              "its frames do not say of which replica they are; leave out the "
                              "numbers of replicas"}});
  }
  return std::find(numbers.begin(), numbers.end(), *number) != numbers.end();
}

}  // namespace

TrajectoryFrames::TrajectoryFrames(std::vector<std::string> files,
                                   std::vector<std::int64_t> replicas, std::int64_t skipped)
    : files_(std::move(files)), replicas_(std::move(replicas)), skipped_(skipped) {}

std::optional<io::Structure> TrajectoryFrames::next() {
  for (; file_ < files_.size(); ++file_) {
    const std::string& file = files_[file_];
    if (!reader_) {
      reader_ = io::open_frames(file);
      any_ = false;
      replica_.reset();
    }
    while (std::optional<io::Structure> frame = reader_->next()) {
      any_ = true;
      if (!replicas_.empty() && !is_among(replicas_, file, *frame)) continue;
      if (replica_ != replica_of(*frame)) {
        replica_ = replica_of(*frame);
        ++replicas_seen_;
        place_ = -1;
      }
      if (molecules_ == 0) molecules_ = frame->molecules;
      if (frame->molecules != molecules_) {
        throw InputError({Problem{file, reader_->line_of_atom(0), 0,
                                  fmt::format("this frame has {} molecules, the first one had {}: "
                                              "give trajectories of one cluster only",
                                              frame->molecules, molecules_)}});
      }
      if (++place_ >= skipped_) return frame;
    }
    if (!any_) throw InputError({Problem{file, 0, 0, "the file holds no frame"}});
    reader_.reset();
  }
  return std::nullopt;
}

}  // namespace tarn
