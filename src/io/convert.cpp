#include "tarn/io/convert.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "paths.hpp"
#include "replica_frames.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/io/trajectory.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/version.hpp"
#include "trajectory_contents.hpp"
#include "trajectory_files.hpp"
#include "water_atoms.hpp"
#include "xyz_comment.hpp"

namespace tarn::io {
namespace {

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
    bool done = false;
    try {
      done = write();
      if (done && !format_.names_atoms) write_topology();
    } catch (...) {
      discard();
      throw;
    }
    if (!done) {
      discard();
      return false;
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
      refuse(
          fmt::format("there is no water model '{}'; give a model, or the deck that defines it, "
                      "by --model",
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
    check_names(written);
  }

  /// @throws InputError for an output that is the input, another output or not a regular file
  void check_names(const std::vector<std::string>& written) const {
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
      if (messages_.empty())
        messages_ = writer->messages();  // those of the other files are the same
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
                                     ? warning_of_missing_replicas(options, *contents).value().text
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
  result.messages = conversion_messages(options, format, *contents);
  append(converter.messages(), result.messages);
  return result;
}

}  // namespace tarn::io
