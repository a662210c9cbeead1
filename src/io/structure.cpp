#include "tarn/io/structure.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/text.hpp"
#include "structure_checks.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "words.hpp"

namespace tarn::io {
namespace {

/// Largest number of frames counted after the first; more would delay the start.
constexpr std::int64_t kMostCounted = 1000;

[[noreturn]] void throw_no_frame(const std::string& path) {
  throw InputError(path, 0, "the file contains no frame");
}

/// The text that a comment gives for a key, or an empty one.
std::string text_of(const std::map<std::string, std::string>& comment, const char* key) {
  const auto found = comment.find(key);
  return found == comment.end() ? std::string{} : found->second;
}

/// The chosen frame; its atoms are not checked. @param number receives its number in the file,
/// counted from 0
Structure chosen_frame(FrameReader& reader, const FrameChoice& choice, ReplicaNumbering& numbering,
                       std::int64_t& number) {
  std::optional<std::int64_t> replica = choice.replica;
  std::int64_t of_replica = 0;
  for (number = 0; std::optional<Structure> structure = reader.next(); ++number) {
    const std::optional<FrameIndex> index = numbering.next(*structure, reader);
    if (!replica) replica = index->number;
    if (index->number != *replica) continue;
    ++of_replica;
    if (index->frame == choice.frame.value_or(0)) return std::move(*structure);
  }
  if (number == 0) throw_no_frame(reader.path());
  const std::string message =
      of_replica == 0
          ? fmt::format("there is no replica {} in this file; replicas count from 0", *replica)
          : fmt::format("there is no frame {}: replica {} has {} frame{}, counted from 0",
                        *choice.frame, *replica, of_replica, of_replica == 1 ? "" : "s");
  throw InputError(reader.path(), 0, message);
}

/// Counts the frames after the first. They are not used, so an unreadable frame ends the count
/// without an error.
/// @param warning receives what the reader reports at the end of the file
FrameCounts count_rest(FrameReader& reader, ReplicaNumbering& numbering, std::string& warning) {
  FrameCounts counts;
  try {
    std::optional<Structure> next = reader.next();
    for (std::int64_t i = 0; next && i < kMostCounted; ++i, next = reader.next()) {
      if (numbering.next(*next, reader)->replica == 0) ++counts.frames;
    }
    counts.all = !next;
    if (counts.all) warning = reader.warning_at_end();
  } catch (const Error&) {
    counts.all = false;
  }
  counts.replicas = numbering.replicas();
  return counts;
}

}  // namespace

std::optional<std::string> Structure::model() const {
  if (!comment.contains("model")) return std::nullopt;
  return comment.at("model");
}

std::string Structure::potential() const { return text_of(comment, "potential"); }
std::string Structure::replica_name() const { return text_of(comment, "replica"); }
std::optional<double> Structure::time_ps() const {
  return finite_number(text_of(comment, "time_ps"));
}
std::optional<double> Structure::bath_K() const {
  return finite_number(text_of(comment, "bath_K"));
}
std::optional<double> Structure::push_fs2() const {
  return finite_number(text_of(comment, "push_fs2"));
}
int Structure::beads() const { return std::max(parse_count(text_of(comment, "beads")), 1); }

Structure read_structure(const std::string& path, const FrameChoice& choice, FrameCounts* counts) {
  const std::unique_ptr<FrameReader> reader = open_frames(path);
  ReplicaNumbering numbering;
  std::int64_t number = 0;
  Structure structure = chosen_frame(*reader, choice, numbering, number);
  if (const int beads = structure.beads(); beads > 1) {
    throw InputError(
        path, reader->line_of_atom(0),
        fmt::format("this frame contains {} beads of a ring polymer; a structure has one position "
                    "of each atom. Write the trajectory with [observe.trajectory] beads = "
                    "\"centroid\" or the number of a bead",
                    beads));
  }
  check_molecules(structure, *reader, number);
  reader->check_rest();
  if (structure.has_box) structure.messages.push_back(note_on_box(path));
  if (counts != nullptr && !choice.is_given()) {
    std::string warning;
    *counts = count_rest(*reader, numbering, warning);
    if (!warning.empty()) structure.messages.push_back(Message::warning(std::move(warning)));
  }
  if (choice.replica) append(numbering.messages(), structure.messages);
  return structure;
}

std::optional<Structure> next_whole_frame(FrameReader& reader, std::int64_t frames,
                                          std::string& warning) {
  try {
    std::optional<Structure> frame = reader.next();
    if (!frame && frames == 0) throw_no_frame(reader.path());
    if (!frame) warning = reader.warning_at_end();
    return frame;
  } catch (const InputError&) {
    if (frames == 0 || !reader.is_cut_off()) throw;
    warning =
        fmt::format("{}: the file ends within its frame {} (counted from 0), which is left out",
                    reader.path(), frames);
    return std::nullopt;
  }
}

std::optional<Message> warning_of_absent_replicas(const std::string& where,
                                                  const FrameSelection& selection,
                                                  const std::set<std::int64_t>& found) {
  std::vector<std::int64_t> absent;
  for (const std::int64_t number : selection.replicas) {
    if (!found.contains(number)) absent.push_back(number);
  }
  if (absent.empty()) return std::nullopt;
  return Message::warning(fmt::format("{} no replica {}", where, fmt::join(absent, " or ")));
}

void add_new_messages(const Messages& of_frame, Messages& messages) {
  for (const Message& message : of_frame) {
    if (std::ranges::find(messages, message) == messages.end()) messages.push_back(message);
  }
}

Message note_on_box(const std::string& path) {
  return Message::note(fmt::format(
      "{} has a periodic box, which is ignored: tarn computes clusters in vacuum", path));
}

std::optional<Message> note_on_frames(const std::string& path, const FrameCounts& counts,
                                      const std::string& cure) {
  const char* more = counts.all ? "" : "at least ";
  if (counts.replicas > 1) {
    return Message::note(
        fmt::format("{} has {}{} replicas, and frame 0 (of {}) of the first one was taken{}", path,
                    more, counts.replicas, counts.frames, cure));
  }
  if (counts.frames == 1 && counts.all) return std::nullopt;
  return Message::note(fmt::format("{} has {}{}, and frame 0 was taken{}", path,
                                   counts.all ? "" : "more than ",
                                   count_text(counts.frames, "frame"), cure));
}

std::optional<Message> warning_of_potential(const std::string& frames, const std::string& potential,
                                            const std::string& model) {
  if (potential.empty()) return std::nullopt;
  return Message::warning(fmt::format(
      "{} of a run with forces by {}; these energies, forces and dipole moments are those of the "
      "water model {}. To choose a water model without this warning, give it by --model",
      frames, potential, model));
}

std::optional<Message> warning_of_sites(const std::string& path, const Structure& structure,
                                        const WaterModel& model, const std::string& cure) {
  if (!structure.has_sites || structure.model() || model.has_m_site()) return std::nullopt;
  std::string names;
  for (const WaterModel& other : kWaterModels) {
    if (!other.has_m_site()) continue;
    names += (names.empty() ? "" : ", ") + std::string(other.name);
  }
  return Message::warning(fmt::format(
      "{} has a fourth site and does not name its model; it was read as {}, which has none. "
      "Models with a fourth site are {}{}",
      path, model.name, names, cure));
}

void write_structure(const std::string& path, const Structure& structure) {
  write_file(path, format_for_writing(path).structure_text(structure));
}

}  // namespace tarn::io
