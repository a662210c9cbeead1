#include "convert.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/text.hpp"
#include "frame_formats.hpp"
#include "paths.hpp"
#include "structure_checks.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/version.hpp"
#include "water_atoms.hpp"
#include "xyz.hpp"

namespace tarn::io {
namespace {

/// The selected frames of one replica of a trajectory.
struct ReplicaContents {
  std::int64_t number = 0;  ///< of the replica in the file
  ReplicaClock clock{};
  std::optional<double> bath_K{};  ///< of the first selected frame
};

/// The step of a frame, if its comment has one.
std::optional<std::int64_t> step_of(const Structure& frame) {
  const auto found = frame.comment.find("step");
  if (found == frame.comment.end()) return std::nullopt;
  const auto step = number_in<std::int64_t>(found->second);
  return step.value_or(-1) < 0 ? std::nullopt : step;
}

/// Results of a first pass through a trajectory, which prevents conversions that would fail later.
struct TrajectoryContents {
  const ConvertOptions& options;
  std::vector<ReplicaContents> replicas{};       ///< with at least one selected frame
  std::map<std::int64_t, std::size_t> places{};  ///< in `replicas`, by number
  std::set<std::int64_t> found{};                ///< numbers of all selected replicas in the file
  std::int64_t frames = 0;                       ///< in the file, selected or not
  int molecules = 0;                             ///< in a frame, of all beads
  int beads = 1;
  std::string model{};                      ///< from the options or the frames; empty: unknown
  std::string potential{};                  ///< of the first frame; empty: the model
  std::vector<double> first_positions_A{};  ///< of the first selected frame
  std::string end_warning{};                ///< what is missing at the end of the file, or empty
  Messages reader_messages{};               ///< on changes that the reader made to the atoms
  Messages numbering{};                     ///< on the numbers of replicas
  std::string broken{};                     ///< the first problem with a molecule, or empty
  bool has_box = false, has_sites = false;
  bool steps = true, times = true;  ///< whether all selected frames have them
  bool some_velocities = false, all_velocities = true;

  std::int64_t selected_frames() const {
    std::int64_t sum = 0;
    for (const ReplicaContents& replica : replicas) sum += replica.clock.frames;
    return sum;
  }
  /// Step of the first frame; without steps frames are counted.
  std::int64_t first_step(const ReplicaClock& clock) const { return steps ? clock.first_step : 0; }
  /// Steps between frames.
  std::int64_t every(const ReplicaClock& clock) const { return steps ? clock.every : 1; }
  std::int64_t largest_step() const {
    std::int64_t largest = 0;
    for (const ReplicaContents& r : replicas) largest = std::max(largest, r.clock.largest_step);
    return steps ? largest : 0;
  }
  /// Time step by the first two frames, or the only one; without times frames are 1 ps apart.
  double step_ps(const ReplicaClock& clock) const {
    if (!times) return 1.0 / static_cast<double>(every(clock));
    const std::int64_t first = first_step(clock);
    if (clock.frames == 1 && first > 0) return clock.first_ps / static_cast<double>(first);
    return clock.interval_ps / static_cast<double>(every(clock));
  }

  /// Adds a frame. @param replica number of its replica
  void add(const Structure& frame, const FrameReader& reader, std::int64_t replica) {
    if (molecules == 0) {
      check_unit(frame.positions_A, options.from);
      molecules = frame.molecules;
      beads = frame.beads();
      model = options.model.empty() ? frame.model().value_or("") : options.model;
      potential = frame.potential();
      first_positions_A = frame.positions_A;
    }
    check(frame, reader);
    const auto [place, is_new] = places.try_emplace(replica, replicas.size());
    if (is_new) replicas.push_back({replica});
    ReplicaContents& of = replicas[place->second];
    if (of.clock.frames == 0) of.bath_K = frame.bath_K();
    of.clock.add(step_of(frame), frame.time_ps());
    steps = steps && of.clock.has_steps;
    times = times && of.clock.has_times;
    has_box = has_box || frame.has_box;
    has_sites = has_sites || frame.has_sites;
    add_new_messages(frame.messages, reader_messages);
    const bool moves = !frame.velocities_A_per_akma.empty();
    some_velocities = some_velocities || moves;
    all_velocities = all_velocities && moves;
  }

  /// Frames with broken molecules are converted as they are.
  void check(const Structure& frame, const FrameReader& reader) {
    const auto refuse = [&](const std::string& why) {
      throw InputError(options.from, reader.line_of_atom(0), why);
    };
    if (frame.molecules != molecules) {
      refuse(
          fmt::format("this frame has {} and the first one has {}; all frames of a trajectory "
                      "must be of one cluster",
                      count_text(frame.molecules, "molecule"), molecules));
    }
    if (frame.beads() != beads) {
      refuse(
          fmt::format("this frame has beads = {} and the first one {}; all frames of a "
                      "trajectory must have the same number",
                      frame.beads(), beads));
    }
    std::vector<Problem> overlaps = overlap_problems(frame, reader, frames);
    if (!overlaps.empty()) throw InputError(std::move(overlaps));
    if (!broken.empty()) return;
    const std::vector<Problem> problems = broken_molecule_problems(frame, reader, frames);
    if (!problems.empty()) broken = problems.front().text();
  }

  /// Selected replicas that the file does not contain, or nothing.
  std::optional<Message> warning_of_missing_replicas() const {
    return warning_of_absent_replicas("the file contains", options.frames, found);
  }

  /// Steps and times that a DCD file cannot represent with its single interval.
  void note_on_interval(Messages& messages) const {
    const bool even = std::ranges::all_of(replicas, [&](const ReplicaContents& r) {
      return (!steps || r.clock.has_even_steps) && (!times || r.clock.has_even_times);
    });
    if (!even) {
      messages.push_back(
          Message::note("frames are not evenly spaced in time; the DCD file stores the interval of "
                        "the first two"));
    }
    for (const ReplicaContents& r : replicas) {
      const double first = static_cast<double>(first_step(r.clock)) * step_ps(r.clock);
      if (!times || times_agree(first, r.clock.first_ps)) continue;
      messages.push_back(Message::note(
          fmt::format("times in a DCD file follow from its steps: they begin at {:g} ps instead of "
                      "the {:g} ps of {}",
                      first, r.clock.first_ps, options.from)));
      return;
    }
  }

  /// Data lost in a conversion to a format, and peculiarities of the file.
  Messages messages(const Format& format) const {
    Messages all = reader_messages;
    const auto note = [&]<class... T>(fmt::format_string<T...> text, T&&... values) {
      all.push_back(Message::note(fmt::format(text, std::forward<T>(values)...)));
    };
    append(numbering, all);
    append(warning_of_missing_replicas(), all);
    if (!end_warning.empty()) all.push_back(Message::warning(end_warning));
    if (has_box) all.push_back(note_on_box(options.from));
    if (!broken.empty()) all.push_back(Message::warning(broken + "; written as it is"));
    if (has_sites && !options.sites) {
      note("the virtual sites are left out{}",
           model.empty() ? ", and the file names no water model: give it by --model" : "");
    }
    if (some_velocities && !all_velocities && format.id == FileFormat::h5md) {
      note("velocities are left out: {} needs them in all frames, and some frames have none",
           format.name);
    } else if (some_velocities && !format.has_velocities) {
      note("velocities are left out: trajectories in {} have none", format.name);
    }
    if (beads > 1 && !format.has_comments) {
      note("{} files do not contain the number of beads; commands that read them need --beads {}",
           format.name, beads);
    }
    if (!steps || !times) {
      note("frames of {} have no {}: the number of the frame is written instead", options.from,
           steps ? "time" : (times ? "step" : "step and time"));
    }
    if (format.id == FileFormat::dcd) note_on_interval(all);
    if (format.has_steps_of_32_bits && largest_step() > INT32_MAX) {
      note("{} stores steps in 32 bits: larger steps are written as {}; times are correct",
           format.name, INT32_MAX);
    }
    return all;
  }
};

/// Reads and checks all frames. Broken molecules are noted, coincident atoms are an error.
/// @return nothing if ConvertOptions::on_progress returned false
/// @throws IoError, InputError
std::optional<TrajectoryContents> scan_trajectory(const ConvertOptions& options) {
  TrajectoryContents contents{options};
  const std::unique_ptr<FrameReader> reader = open_frames(options.from);
  ReplicaNumbering numbering(options.frames.replicas);
  for (; std::optional<Structure> frame =
             next_whole_frame(*reader, contents.frames, contents.end_warning);
       ++contents.frames) {
    if (options.beads) set_beads(*frame, *options.beads, *reader);
    if (options.on_progress && !options.on_progress(false, contents.frames, 0)) return std::nullopt;
    const std::optional<FrameIndex> index = numbering.next(*frame, *reader);
    if (!index || !options.frames.selects(index->frame)) continue;
    contents.add(*frame, *reader, index->number);
  }
  contents.found = numbering.numbers();
  contents.numbering = numbering.messages();
  return contents;
}

/// Writes the frames that a scan found.
class Converter {
 public:
  Converter(const ConvertOptions& options, const Format& format, const TrajectoryContents& contents)
      : options_(options), format_(format), contents_(contents) {
    if (options_.sites) site_weight_ = m_site_weight();
    name_files();
  }

  /// Puts the files in place when all of them are complete.
  /// @return false if the conversion was interrupted; nothing is left behind then
  bool run() {
    try {
      if (!write()) {
        discard();
        return false;
      }
      if (!format_.names_atoms) write_topology();
    } catch (...) {
      discard();
      throw;
    }
    for (std::size_t p = 0; p < paths_.size(); ++p) commit_file(temporary_paths_[p], paths_[p]);
    return true;
  }

  /// The files that were written.
  std::vector<std::string> files() const {
    std::vector<std::string> files = paths_;
    if (!topology_.empty()) files.push_back(topology_);
    return files;
  }
  /// What the writers report.
  const Messages& messages() const { return messages_; }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(fmt::format("{}: {}", options_.from, why));
  }

  /// The weight of the site M in the model. @throws InputError
  double m_site_weight() const {
    if (format_.id == FileFormat::h5md) {
      refuse("h5md cannot store virtual sites; all other formats can");
    }
    if (contents_.model.empty()) {
      refuse("the file names no water model, which determines the site M; give it by --model");
    }
    const std::optional<WaterModel> model =
        options_.own_model ? options_.own_model : find_water_model(contents_.model);
    if (!model) {
      refuse(fmt::format(
          "there is no water model '{}'; give a model, or the deck that defines it, by --model",
          contents_.model));
    }
    if (!model->has_m_site()) {
      refuse(fmt::format("molecules of {} have no virtual site", contents_.model));
    }
    return model->m_site_weight();
  }

  /// Adds M, r_O + w (r_H1 + r_H2 - 2 r_O), behind the atoms of each molecule; velocities alike.
  /// @param atoms [molecule][9] @return [molecule][12]
  std::vector<double> with_site(const std::vector<double>& atoms) const {
    std::vector<double> sites;
    sites.reserve(atoms.size() / 3 * 4);
    for (std::size_t i = 0; i < atoms.size(); i += 9) {
      const double* const o = &atoms[i];
      sites.insert(sites.end(), o, o + 9);
      for (std::size_t c = 0; c < 3; ++c) {
        sites.push_back(o[c] + site_weight_ * (o[c + 3] + o[c + 6] - 2.0 * o[c]));
      }
    }
    return sites;
  }

  bool in_one_file() const {
    return contents_.replicas.size() == 1 || format_.id == FileFormat::h5md;
  }

  /// @throws InputError for an output that is the input, another output or not a regular file
  void name_files() {
    const std::filesystem::path to(options_.to);
    if (in_one_file()) {
      paths_.push_back(through_links(options_.to));
    } else {
      for (const ReplicaContents& replica : contents_.replicas) {
        const std::string name =
            fmt::format("{}-{:04}{}", to.stem().string(), replica.number, to.extension().string());
        paths_.push_back(through_links((to.parent_path() / name).string()));
      }
    }
    std::vector<std::string> written = paths_;
    if (!format_.names_atoms) {
      const std::string name = to.stem().string() + "-topology.pdb";
      topology_ = through_links((to.parent_path() / name).string());
      written.push_back(topology_);
    }
    for (const std::string& path : written) {
      std::error_code ignored;
      if (std::filesystem::exists(path, ignored) &&
          !std::filesystem::is_regular_file(path, ignored)) {
        throw InputError(
            fmt::format("'{}' is not a regular file; give the trajectory another name", path));
      }
    }
    check_distinct_paths(written, {options_.from});
  }

  /// What all files have in common.
  TrajectoryInfo common_info() const {
    TrajectoryInfo info;
    info.molecules = contents_.molecules;
    info.beads = contents_.beads;
    info.model = contents_.model;
    info.potential = contents_.potential;
    info.velocities = contents_.all_velocities;
    info.sites_per_molecule = options_.sites ? 4 : 3;
    info.replicas =
        format_.id == FileFormat::h5md ? static_cast<int>(contents_.replicas.size()) : 1;
    const int molecules = contents_.molecules / contents_.beads;
    const std::string forces =
        contents_.potential.empty() ? "" : std::string(kWithForces) + contents_.potential;
    info.provenance =
        fmt::format("tarn {}; {}{} molecule{}{}; converted from {}", kVersion,
                    contents_.model.empty() ? "" : contents_.model + forces + ", ", molecules,
                    molecules == 1 ? "" : "s",
                    contents_.beads > 1 ? fmt::format(" of {} beads", contents_.beads) : "",
                    std::filesystem::path(options_.from).filename().string());
    return info;
  }

  /// Temperatures of the replicas of file p, or nothing unless all replicas have one.
  std::vector<double> baths_of_file(std::size_t p) const {
    std::vector<double> baths_K;
    for (std::size_t r = 0; r < contents_.replicas.size(); ++r) {
      if (!contents_.replicas[r].bath_K) return {};
      if (in_one_file() || r == p) baths_K.push_back(*contents_.replicas[r].bath_K);
    }
    return baths_K;
  }

  void make_writers() {
    TrajectoryInfo info = common_info();
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      const ReplicaClock& clock = contents_.replicas[p].clock;
      info.baths_K = baths_of_file(p);
      info.first_step = contents_.first_step(clock);
      info.every = contents_.every(clock);
      info.timestep_fs = 1000.0 * contents_.step_ps(clock);
      info.path = temporary_paths_.emplace_back(temporary_name(paths_[p]));
      writers_.push_back(format_.write(info));
      writers_.back()->create();
    }
  }

  /// @return false if it was interrupted
  bool write() {
    make_writers();
    const std::unique_ptr<FrameReader> reader = open_frames(options_.from);
    ReplicaNumbering numbering(options_.frames.replicas);
    std::string end_warning;  // the scan has reported it
    for (std::int64_t i = 0;
         const std::optional<Structure> frame = next_whole_frame(*reader, i, end_warning); ++i) {
      if (options_.on_progress && !options_.on_progress(true, i, contents_.frames)) return false;
      const std::optional<FrameIndex> index = numbering.next(*frame, *reader);
      if (index && options_.frames.selects(index->frame)) append(*frame, *index, i);
    }
    for (const auto& writer : writers_) {
      writer->finish();
      // Those of the other files are the same.
      if (messages_.empty()) messages_ = writer->messages();
    }
    writers_.clear();
    return true;
  }

  /// @param number of the frame in the file @throws InputError for a number that does not fit
  void append(const Structure& frame, const FrameIndex& index, std::int64_t number) {
    const std::size_t replica = contents_.places.at(index.number);
    const std::int64_t selected = options_.frames.index(index.frame);
    TrajectoryFrame out;
    out.replica =
        format_.id == FileFormat::h5md ? static_cast<std::int64_t>(replica) : index.number;
    out.step = contents_.steps ? *step_of(frame) : selected;
    out.time_ps = contents_.times ? *frame.time_ps() : static_cast<double>(selected);
    out.positions_A = frame.positions_A;
    out.velocities_A_per_akma = frame.velocities_A_per_akma;
    std::vector<double> positions_A, velocities_A_per_akma;
    if (options_.sites) {
      out.positions_A = positions_A = with_site(frame.positions_A);
      out.velocities_A_per_akma = velocities_A_per_akma = with_site(frame.velocities_A_per_akma);
    }
    try {
      writers_[in_one_file() ? 0 : replica]->append(out);
    } catch (const UnwritableNumber& error) {
      refuse(fmt::format("frame {} (counted from 0): {}", number, error.what()));
    }
  }

  /// Removes unfinished files.
  void discard() {
    writers_.clear();
    for (const std::string& path : temporary_paths_) {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
  }

  /// For a format that names no atoms.
  void write_topology() const {
    const std::vector<double>& first_A = contents_.first_positions_A;
    try {
      io::write_topology(topology_, common_info(), options_.sites ? with_site(first_A) : first_A);
    } catch (const UnwritableNumber& error) {
      refuse(fmt::format("the first frame, in the topology: {}", error.what()));
    }
  }

  const ConvertOptions& options_;
  const Format& format_;
  const TrajectoryContents& contents_;
  double site_weight_ = 0.0;
  std::vector<std::string> paths_, temporary_paths_;
  std::string topology_;  // its path; empty where the format names atoms
  std::vector<std::unique_ptr<TrajectoryWriter>> writers_;
  Messages messages_;
};

}  // namespace

Conversion convert_trajectory(const ConvertOptions& options) {
  const Format& format = trajectory_format_of(options.to);
  Conversion result;
  result.interrupted = true;
  const std::optional<TrajectoryContents> contents = scan_trajectory(options);
  if (!contents) return result;
  if (contents->replicas.empty()) {
    throw InputError(fmt::format("{}: {}", options.from,
                                 contents->found.empty()
                                     ? contents->warning_of_missing_replicas().value().text
                                     : "no frame is left; skip fewer frames"));
  }
  Converter converter(options, format, *contents);
  if (!converter.run()) return result;
  result.interrupted = false;
  result.files = converter.files();
  result.frames = contents->selected_frames();
  result.replicas = static_cast<std::int64_t>(contents->replicas.size());
  result.molecules = contents->molecules / contents->beads;
  result.beads = contents->beads;
  result.messages = contents->messages(format);
  append(converter.messages(), result.messages);
  return result;
}

}  // namespace tarn::io
