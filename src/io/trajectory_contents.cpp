#include "trajectory_contents.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/count_text.hpp"
#include "replica_frames.hpp"
#include "structure_checks.hpp"
#include "tarn/core/error.hpp"

namespace tarn::io {

std::optional<std::int64_t> step_of(const Structure& frame) {
  const auto found = frame.comment.find("step");
  if (found == frame.comment.end()) return std::nullopt;
  std::int64_t step = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, step);
  if (error != std::errc{} || stop != end || step < 0) return std::nullopt;
  return step;
}

std::int64_t TrajectoryContents::selected_frames() const {
  std::int64_t sum = 0;
  for (const ReplicaContents& replica : replicas) sum += replica.clock.frames();
  return sum;
}

std::int64_t TrajectoryContents::first_step(const ReplicaClock& clock) const {
  return steps ? clock.first_step() : 0;
}

std::int64_t TrajectoryContents::every(const ReplicaClock& clock) const {
  return steps ? clock.every() : 1;
}

std::int64_t TrajectoryContents::largest_step() const {
  std::int64_t largest = 0;
  for (const ReplicaContents& r : replicas) largest = std::max(largest, r.clock.largest_step());
  return steps ? largest : 0;
}

double TrajectoryContents::step_ps(const ReplicaClock& clock) const {
  if (!times) return 1.0 / static_cast<double>(every(clock));
  const std::int64_t first = first_step(clock);
  if (clock.frames() == 1 && first > 0) return clock.first_ps() / static_cast<double>(first);
  return clock.interval_ps() / static_cast<double>(every(clock));
}

namespace {

/// Adds frames to the contents, one by one.
class Scan {
 public:
  Scan(const ConvertOptions& options, TrajectoryContents& contents)
      : options_(options), contents_(contents) {}

  /// @param number of the frame in the file, counted from 0; @param replica number of its replica
  void add(const Structure& frame, const FrameReader& reader, std::int64_t number,
           std::int64_t replica) {
    if (contents_.molecules == 0) begin(frame);
    check(frame, reader, number);
    const auto [found, is_new] = contents_.places.try_emplace(replica, contents_.replicas.size());
    if (is_new) contents_.replicas.push_back({replica});
    ReplicaContents& of = contents_.replicas[found->second];
    if (of.clock.frames() == 0) of.bath_K = frame.bath_K();
    of.clock.add(step_of(frame), frame.time_ps());
    contents_.has_box = contents_.has_box || frame.has_box;
    contents_.has_sites = contents_.has_sites || frame.has_sites;
    add_new_messages(frame.messages, contents_.reader_messages);
    const bool moves = !frame.velocities_A_per_akma.empty();
    contents_.some_velocities = contents_.some_velocities || moves;
    contents_.all_velocities = contents_.all_velocities && moves;
  }

 private:
  void begin(const Structure& first) {
    check_unit(first.positions_A, options_.from);
    contents_.molecules = first.molecules;
    contents_.beads = first.beads();
    contents_.model = options_.model.empty() ? first.model().value_or("") : options_.model;
    contents_.potential = first.potential();
    contents_.first_positions_A = first.positions_A;
  }
  /// Frames with broken molecules are converted as they are.
  void check(const Structure& frame, const FrameReader& reader, std::int64_t number) {
    if (frame.molecules != contents_.molecules) {
      throw InputError(
          {Problem{options_.from, reader.line_of_atom(0), 0,
                   fmt::format("this frame has {} and the first one has {}; all frames of a "
                               "trajectory must be of one cluster",
                               count_text(frame.molecules, "molecule"), contents_.molecules)}});
    }
    if (frame.beads() != contents_.beads) {
      throw InputError({Problem{
          options_.from, reader.line_of_atom(0), 0,
          fmt::format("this frame has beads = {} and the first one {}; all frames of a trajectory "
                      "must have the same number",
                      frame.beads(), contents_.beads)}});
    }
    std::vector<Problem> overlaps = overlap_problems(frame, reader, number);
    if (!overlaps.empty()) throw InputError(std::move(overlaps));
    if (!contents_.broken.empty()) return;
    const std::vector<Problem> broken = broken_molecule_problems(frame, reader, number);
    if (!broken.empty()) contents_.broken = broken.front().text();
  }

  const ConvertOptions& options_;
  TrajectoryContents& contents_;
};

}  // namespace

std::optional<TrajectoryContents> scan_trajectory(const ConvertOptions& options) {
  TrajectoryContents contents;
  Scan scan(options, contents);
  const std::unique_ptr<FrameReader> reader = open_frames(options.from);
  ReplicaNumbering numbering(options.frames.replicas);
  for (; std::optional<Structure> frame =
             next_whole_frame(*reader, contents.frames, contents.end_warning);
       ++contents.frames) {
    if (options.beads) set_beads(*frame, *options.beads, *reader);
    if (options.on_progress && !options.on_progress(false, contents.frames, 0)) return std::nullopt;
    const std::optional<FrameIndex> index = numbering.next(*frame, *reader);
    if (!index || !options.frames.selects(index->frame)) continue;
    scan.add(*frame, *reader, contents.frames, index->number);
  }
  contents.found = numbering.numbers();
  contents.numbering = numbering.messages();
  for (const ReplicaContents& replica : contents.replicas) {
    contents.steps = contents.steps && replica.clock.has_steps();
    contents.times = contents.times && replica.clock.has_times();
  }
  return contents;
}

std::optional<Message> warning_of_missing_replicas(const ConvertOptions& options,
                                                   const TrajectoryContents& contents) {
  return warning_of_absent_replicas("the file contains", options.frames, contents.found);
}

namespace {

void note_on_velocities(const Format& format, const TrajectoryContents& contents,
                        Messages& messages) {
  if (contents.some_velocities && !contents.all_velocities && format.id == FileFormat::h5md) {
    messages.push_back(Message::note(fmt::format(
        "velocities are left out: {} needs them in all frames, and some frames have none",
        format.name)));
  } else if (contents.some_velocities && !format.has_velocities) {
    messages.push_back(Message::note(
        fmt::format("velocities are left out: trajectories in {} have none", format.name)));
  }
}

/// Notes steps and times that a DCD file cannot represent with its single interval.
void note_on_interval(const ConvertOptions& options, const TrajectoryContents& contents,
                      Messages& messages) {
  const bool even = std::ranges::all_of(contents.replicas, [&](const ReplicaContents& r) {
    return (!contents.steps || r.clock.has_even_steps()) &&
           (!contents.times || r.clock.has_even_times());
  });
  if (!even) {
    messages.push_back(Message::note(
        "frames are not evenly spaced in time; the DCD file stores the interval of the first two"));
  }
  for (const ReplicaContents& r : contents.replicas) {
    const double first_ps =
        static_cast<double>(contents.first_step(r.clock)) * contents.step_ps(r.clock);
    if (!contents.times || times_agree(first_ps, r.clock.first_ps())) continue;
    messages.push_back(Message::note(
        fmt::format("times in a DCD file follow from its steps: they begin at {:g} ps instead of "
                    "the {:g} ps of {}",
                    first_ps, r.clock.first_ps(), options.from)));
    return;
  }
}

void note_on_steps(const ConvertOptions& options, const Format& format,
                   const TrajectoryContents& contents, Messages& messages) {
  if (!contents.steps || !contents.times) {
    messages.push_back(Message::note(fmt::format(
        "frames of {} have no {}: the number of the frame is written instead", options.from,
        contents.steps ? "time" : (contents.times ? "step" : "step and time"))));
  }
  if (format.id == FileFormat::dcd) note_on_interval(options, contents, messages);
  if (format.has_steps_of_32_bits && contents.largest_step() > INT32_MAX) {
    messages.push_back(Message::note(
        fmt::format("{} stores steps in 32 bits: larger steps are written as {}; times are correct",
                    format.name, INT32_MAX)));
  }
}

}  // namespace

Messages conversion_messages(const ConvertOptions& options, const Format& format,
                             const TrajectoryContents& contents) {
  Messages messages = contents.reader_messages;
  append(contents.numbering, messages);
  append(warning_of_missing_replicas(options, contents), messages);
  if (!contents.end_warning.empty()) messages.push_back(Message::warning(contents.end_warning));
  if (contents.has_box) messages.push_back(note_on_box(options.from));
  if (!contents.broken.empty()) {
    messages.push_back(Message::warning(contents.broken + "; written as it is"));
  }
  if (contents.has_sites && !options.sites) {
    messages.push_back(Message::note(fmt::format(
        "the virtual sites are left out{}",
        contents.model.empty() ? ", and the file names no water model: give it by --model" : "")));
  }
  note_on_velocities(format, contents, messages);
  if (contents.beads > 1 && !format.has_comments) {
    messages.push_back(Message::note(fmt::format(
        "{} files do not contain the number of beads; commands that read them need --beads {}",
        format.name, contents.beads)));
  }
  note_on_steps(options, format, contents, messages);
  return messages;
}

}  // namespace tarn::io
