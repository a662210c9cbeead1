#include "tarn/io/convert.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "replica_clock.hpp"
#include "replica_numbering.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/io/trajectory.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/version.hpp"
#include "trajectory_files.hpp"

namespace tarn::io {
namespace {

std::optional<std::int64_t> step_of(const Structure& frame) {
  const auto found = frame.comment.find("step");
  if (found == frame.comment.end()) return std::nullopt;
  std::int64_t step = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, step);
  if (error != std::errc{} || stop != end || step < 0) return std::nullopt;
  return step;
}

/// What the frames of one replica that are taken have in common.
struct Replica {
  std::int64_t number = 0;  ///< in the old file
  ReplicaClock clock{};
  std::optional<double> bath_K{};  ///< of the first frame that is taken
};

/// What the first reading of the file shows.
struct Contents {
  std::vector<Replica> replicas;  ///< of which some frame is taken
  std::set<std::int64_t> found;   ///< numbers of all that count
  std::int64_t frames = 0;        ///< of the file, those that are left out among them
  int molecules = 0;
  std::string model;
  std::string cut;                     ///< what was left out of a file that ends within a frame
  std::vector<std::string> numbering;  ///< notes on numbers of replicas
  bool steps = true, times = true, velocities = false, box = false, sites = false;
  std::string broken;  ///< the first problem with a molecule
  bool all_velocities = true;
};

class Converter {
 public:
  explicit Converter(const ConvertOptions& options)
      : options_(options), format_(trajectory_format_of(options.to)) {}

  Conversion run() {
    if (!look()) return interrupted();
    Conversion result;
    for (const Replica& replica : contents_.replicas) result.frames += replica.clock.frames();
    if (result.frames == 0) {
      throw InputError(fmt::format(
          "{}: {}", options_.from,
          contents_.found.empty() ? absent_replicas() : "no frame is left: skip fewer of them"));
    }
    result.replicas = static_cast<std::int64_t>(contents_.replicas.size());
    result.molecules = contents_.molecules;
    result.notes = notes();
    if (options_.sites) find_site();
    name_files();
    try {
      if (!write()) {
        writers_.clear();
        remove_temporary();
        return interrupted();
      }
    } catch (...) {
      writers_.clear();
      remove_temporary();
      throw;
    }
    result.notes.insert(result.notes.end(), of_writers_.begin(), of_writers_.end());
    for (std::size_t p = 0; p < paths_.size(); ++p) commit_file(temporary_paths_[p], paths_[p]);
    result.files = paths_;
    if (!format_.names_atoms) {
      write_topology();
      result.files.push_back(topology_);
    }
    return result;
  }

 private:
  static Conversion interrupted() {
    Conversion result;
    result.interrupted = true;
    return result;
  }

  bool may_continue(bool writing, std::int64_t done) const {
    return !options_.on_progress ||
           options_.on_progress(writing, done, writing ? contents_.frames : 0);
  }

  /// Reads all of the file. @return false if nobody wants it any more
  bool look() {
    const std::unique_ptr<FrameReader> reader = open_frames(options_.from);
    ReplicaNumbering places(options_.frames.replicas);
    while (const std::optional<Structure> frame =
               next_whole_frame(*reader, contents_.frames, contents_.cut)) {
      if (!may_continue(false, contents_.frames++)) return false;
      const std::optional<FrameIndex> place = places.next(*frame, *reader);
      if (!place || !options_.frames.selects(place->frame)) continue;
      const auto [found, is_new] = replicas_.try_emplace(place->number, contents_.replicas.size());
      if (is_new) contents_.replicas.push_back({place->number});
      Replica& replica = contents_.replicas[found->second];
      if (contents_.molecules == 0) {
        contents_.molecules = frame->molecules;
        contents_.model = options_.model.empty() ? frame->model().value_or("") : options_.model;
        first_positions_A_ = frame->positions_A;
      }
      if (frame->molecules != contents_.molecules) {
        throw InputError({Problem{
            options_.from, reader->line_of_atom(0), 0,
            fmt::format("this frame has {} molecules, the first one had {}: a trajectory is of one "
                        "cluster",
                        frame->molecules, contents_.molecules)}});
      }
      if (replica.clock.frames() == 0) replica.bath_K = frame->bath_K();
      replica.clock.add(step_of(*frame), frame->time_ps());
      contents_.box = contents_.box || frame->has_box;
      contents_.sites = contents_.sites || frame->has_sites;
      note_broken_molecules(*frame, *reader);
      const bool moves = !frame->velocities_A_per_akma.empty();
      contents_.velocities = contents_.velocities || moves;
      contents_.all_velocities = contents_.all_velocities && moves;
    }
    if (contents_.frames == 0) {
      throw InputError({Problem{options_.from, 0, 0, "the file holds no frame"}});
    }
    contents_.found = places.numbers();
    contents_.numbering = places.notes();
    for (const Replica& replica : contents_.replicas) {
      contents_.steps = contents_.steps && replica.clock.has_steps();
      contents_.times = contents_.times && replica.clock.has_times();
    }
    return true;
  }

  /// They are written as they are.
  void note_broken_molecules(const Structure& frame, const FrameReader& reader) {
    if (!contents_.broken.empty()) return;
    try {
      check_molecules(frame, reader, contents_.frames - 1);
    } catch (const InputError& error) {
      contents_.broken = error.problems().front().text();
    }
  }

  std::string absent_replicas() const {
    return note_on_absent_replicas("the file holds", options_.frames, contents_.found);
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes = contents_.numbering;
    if (std::string absent = absent_replicas(); !absent.empty()) notes.push_back(std::move(absent));
    if (!contents_.cut.empty()) notes.push_back(contents_.cut);
    if (contents_.box) notes.push_back(note_on_box(options_.from));
    if (!contents_.broken.empty()) notes.push_back(contents_.broken + "; written as it is");
    if (contents_.sites && !options_.sites) {
      notes.push_back(fmt::format(
          "the sites beside the atoms are left out{}",
          contents_.model.empty() ? ", and the file names no water model: --model does" : ""));
    }
    if (contents_.velocities && !contents_.all_velocities && format_.id == FileFormat::h5md) {
      notes.push_back(fmt::format(
          "velocities are left out: not all frames have some, as those of {} must", format_.name));
    } else if (contents_.velocities && !format_.has_velocities) {
      notes.push_back(
          fmt::format("velocities are left out: trajectories in {} have none here", format_.name));
    }
    if (!contents_.steps || !contents_.times) {
      notes.push_back(
          fmt::format("frames of {} do not tell {}: the number of the frame stands in "
                      "place of it",
                      options_.from,
                      contents_.steps   ? "their time"
                      : contents_.times ? "their step"
                                        : "step and time"));
    }
    if (format_.id == FileFormat::dcd) note_on_interval(notes);
    if (format_.has_steps_of_32_bits && largest_step() > INT32_MAX) {
      notes.push_back(fmt::format(
          "{} counts steps in 32 bits: those beyond {} are written as that; times go on",
          format_.name, INT32_MAX));
    }
    return notes;
  }

  /// What a file with one interval does not keep of steps and times.
  void note_on_interval(std::vector<std::string>& notes) const {
    const bool even = std::ranges::all_of(contents_.replicas, [&](const Replica& r) {
      return (!contents_.steps || r.clock.has_even_steps()) &&
             (!contents_.times || r.clock.has_even_times());
    });
    if (!even) {
      notes.push_back(
          "frames are not evenly spaced in time, and a DCD file has one interval, that of the "
          "first two");
    }
    for (const Replica& r : contents_.replicas) {
      const double first_ps = static_cast<double>(first_step(r.clock)) * step_ps(r.clock);
      if (!contents_.times || times_agree(first_ps, r.clock.first_ps())) continue;
      notes.push_back(fmt::format(
          "times in a DCD file follow from its steps: they begin at {:g} ps there, and at {:g} ps "
          "in {}",
          first_ps, r.clock.first_ps(), options_.from));
      return;
    }
  }

  /// Where not all frames tell their step, it is the number of the frame.
  std::int64_t first_step(const ReplicaClock& clock) const {
    return contents_.steps ? clock.first_step() : 0;
  }
  std::int64_t every(const ReplicaClock& clock) const {
    return contents_.steps ? clock.every() : 1;
  }
  std::int64_t largest_step() const {
    std::int64_t largest = 0;
    for (const Replica& r : contents_.replicas) largest = std::max(largest, r.clock.largest_step());
    return contents_.steps ? largest : 0;
  }
  /// By the first two frames, or the only one; where not all tell their time, frames are 1 ps
  /// apart.
  double step_ps(const ReplicaClock& clock) const {
    if (!contents_.times) return 1.0 / static_cast<double>(every(clock));
    const std::int64_t first = first_step(clock);
    if (clock.frames() == 1 && first > 0) return clock.first_ps() / static_cast<double>(first);
    return clock.interval_ps() / static_cast<double>(every(clock));
  }

  /// The weight of M, by the model. @throws InputError
  void find_site() {
    const auto refuse = [&](const std::string& why) {
      throw InputError(fmt::format("{}: {}", options_.from, why));
    };
    if (format_.id == FileFormat::h5md) {
      refuse("h5md has no place for sites beside the atoms; all other formats have");
    }
    if (contents_.model.empty()) {
      refuse(
          "the file does not say of which water model it is, and the site M depends on that; "
          "name it by --model");
    }
    const std::optional<WaterModel> model =
        options_.own_model ? options_.own_model : find_water_model(contents_.model);
    if (!model) {
      refuse(
          fmt::format("there is no water model '{}': name it, or the deck that has it, by --model",
                      contents_.model));
    }
    if (!model->has_m_site()) {
      refuse(fmt::format("molecules of {} have no site beside their atoms", contents_.model));
    }
    site_weight_ = model->m_site_weight();
  }

  /// The vectors of O, H, H, and those of M, r_O + w (r_H1 + r_H2 - 2 r_O), behind each three.
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

  void name_files() {
    const std::filesystem::path to(options_.to);
    if (in_one_file()) {
      paths_.push_back(through_links(options_.to));
    } else {
      for (const Replica& replica : contents_.replicas) {
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
    check_names(written);
  }

  /// @throws InputError for what is read, what is no file, and what would be written twice
  void check_names(const std::vector<std::string>& written) const {
    std::set<std::string> seen;
    for (const std::string& path : written) {
      std::error_code ignored;
      if (std::filesystem::equivalent(path, options_.from, ignored)) {
        throw InputError(fmt::format(
            "'{}' is read, and would be written over: give what is written another name", path));
      }
      if (std::filesystem::exists(path, ignored) &&
          !std::filesystem::is_regular_file(path, ignored)) {
        throw InputError(
            fmt::format("'{}' is no file: a trajectory is written to a file of its own", path));
      }
      if (!seen.insert(path).second) {
        throw InputError(
            fmt::format("'{}' would be written twice: give each file a name of its own", path));
      }
    }
  }

  void make_writers() {
    TrajectoryInfo info;
    info.molecules = contents_.molecules;
    info.model = contents_.model;
    info.velocities = contents_.all_velocities;
    info.sites_per_molecule = options_.sites ? 4 : 3;
    info.replicas =
        format_.id == FileFormat::h5md ? static_cast<int>(contents_.replicas.size()) : 1;
    info.provenance = fmt::format("tarn {}; {}{} molecule{}; converted from {}", kVersion,
                                  contents_.model.empty() ? "" : contents_.model + ", ",
                                  contents_.molecules, contents_.molecules == 1 ? "" : "s",
                                  std::filesystem::path(options_.from).filename().string());
    const bool all_tell = std::all_of(contents_.replicas.begin(), contents_.replicas.end(),
                                      [](const Replica& r) { return r.bath_K.has_value(); });
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      info.baths_K.clear();
      for (std::size_t r = 0; all_tell && r < contents_.replicas.size(); ++r) {
        if (in_one_file() || r == p) info.baths_K.push_back(*contents_.replicas[r].bath_K);
      }
      const ReplicaClock& clock = contents_.replicas[p].clock;
      info.first_step = first_step(clock);
      info.every = every(clock);
      info.timestep_fs = 1000.0 * step_ps(clock);
      info.path = temporary_paths_.emplace_back(temporary_name(paths_[p]));
      writers_.push_back(format_.write(info));
      writers_.back()->create();
    }
  }

  bool write() {
    make_writers();
    const std::unique_ptr<FrameReader> reader = open_frames(options_.from);
    ReplicaNumbering places(options_.frames.replicas);
    std::string told;
    for (std::int64_t i = 0;
         const std::optional<Structure> frame = next_whole_frame(*reader, i, told); ++i) {
      if (!may_continue(true, i)) return false;
      const std::optional<FrameIndex> place = places.next(*frame, *reader);
      if (!place || !options_.frames.selects(place->frame)) continue;
      const std::size_t replica = replicas_.at(place->number);
      TrajectoryFrame out;
      out.replica =
          format_.id == FileFormat::h5md ? static_cast<std::int64_t>(replica) : place->number;
      const std::int64_t index = options_.frames.index(place->frame);
      out.step = contents_.steps ? *step_of(*frame) : index;
      out.time_ps = contents_.times ? *frame->time_ps() : static_cast<double>(index);
      out.positions_A = frame->positions_A;
      out.velocities_A_per_akma = frame->velocities_A_per_akma;
      std::vector<double> positions_A, velocities_A_per_akma;
      if (options_.sites) {
        out.positions_A = positions_A = with_site(frame->positions_A);
        out.velocities_A_per_akma = velocities_A_per_akma = with_site(frame->velocities_A_per_akma);
      }
      writers_[in_one_file() ? 0 : replica]->append(out);
    }
    for (const auto& writer : writers_) {
      writer->finish();
      // The first one that has something to tell tells it for all.
      if (of_writers_.empty()) of_writers_ = writer->notes();
    }
    writers_.clear();
    return true;
  }

  void remove_temporary() const {
    for (const std::string& path : temporary_paths_) {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
  }

  /// For a format that names no atoms.
  void write_topology() const {
    io::write_topology(topology_, contents_.model,
                       options_.sites ? with_site(first_positions_A_) : first_positions_A_,
                       options_.sites ? 4 : 3);
  }

  const ConvertOptions& options_;
  const Format& format_;
  Contents contents_;
  std::map<std::int64_t, std::size_t> replicas_;  // places in contents_, by number
  std::vector<double> first_positions_A_;
  double site_weight_ = 0.0;
  std::vector<std::string> paths_, temporary_paths_;
  std::string topology_;  // its path; empty where the format names atoms
  std::vector<std::unique_ptr<TrajectoryWriter>> writers_;
  std::vector<std::string> of_writers_;  ///< notes
};

}  // namespace

Conversion convert_trajectory(const ConvertOptions& options) { return Converter(options).run(); }

}  // namespace tarn::io
