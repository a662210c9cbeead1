#include "trajectory_frames.hpp"

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/text.hpp"
#include "physics/cluster_shape.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/many_body.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

/// Rejects files given twice, which would count as two identical replicas. @throws InputError
void check_given_once(const std::vector<std::string>& files) {
  std::map<std::filesystem::path, std::string> seen;
  for (const std::string& file : files) {
    // Errors are reported when the file is read.
    std::error_code ignored;
    std::filesystem::path place = std::filesystem::canonical(file, ignored);
    if (ignored) place = file;
    const auto [first, is_new] = seen.try_emplace(place, file);
    if (is_new) continue;
    const std::string as =
        first->second == file ? "" : fmt::format(", first as '{}'", first->second);
    throw InputError(file, 0,
                     fmt::format("the file is given twice{}, and would count as another "
                                 "replica; give each file once",
                                 as));
  }
}

}  // namespace

TrajectoryFrames::TrajectoryFrames(std::vector<std::string> files, io::FrameSelection selection,
                                   std::optional<int> beads)
    : files_(std::move(files)),
      selection_(std::move(selection)),
      places_(selection_.replicas),
      given_beads_(beads) {
  check_given_once(files_);
}

std::optional<io::Structure> TrajectoryFrames::next() {
  for (; file_ < files_.size(); ++file_) {
    const std::string& file = files_[file_];
    if (!reader_) {
      reader_ = io::open_frames(file);
      frames_of_file_ = 0;
    }
    std::string cut;
    while (std::optional<io::Structure> frame =
               io::next_whole_frame(*reader_, frames_of_file_, cut)) {
      ++frames_of_file_;
      const std::optional<io::FrameIndex> place = places_.next(*frame, *reader_);
      if (!place) continue;
      place_ = *place;
      if (given_beads_) io::set_beads(*frame, *given_beads_, *reader_);
      if (molecules_ == 0) {
        molecules_ = frame->molecules;
        beads_ = frame->beads();
      }
      const auto refuse = [&](const std::string& problem) {
        throw InputError(file, reader_->line_of_atom(0), "this frame has " + problem);
      };
      const std::string own = frame->model().value_or("");
      if (model_.empty()) model_ = own;
      if (potential_.empty()) potential_ = frame->potential();
      if (!own.empty() && own != model_) {
        refuse(
            fmt::format("the water model {}, earlier ones {}; give trajectories of one water model",
                        own, model_));
      }
      if (frame->molecules != molecules_) {
        refuse(fmt::format("{}, the first one {}; give trajectories of one cluster",
                           count_text(frame->molecules, "molecule"), molecules_));
      }
      if (frame->beads() != beads_) {
        refuse(fmt::format("beads = {}, the first one {}; give trajectories with the same number",
                           frame->beads(), beads_));
      }
      if (!selection_.selects(place_.frame)) continue;
      io::check_molecules(*frame, *reader_, frames_of_file_ - 1);
      has_sites_ = has_sites_ || frame->has_sites;
      if (frame->has_box && (messages_.empty() || messages_.back() != io::note_on_box(file))) {
        messages_.push_back(io::note_on_box(file));
      }
      io::add_new_messages(frame->messages, messages_);
      check_bath(*frame);
      ++frames_taken_;
      return frame;
    }
    if (!cut.empty()) messages_.push_back(Message::warning(cut));
    reader_.reset();
  }
  std::optional<Message> absent =
      io::warning_of_absent_replicas("the files contain", selection_, places_.numbers());
  if (frames_taken_ == 0) {
    throw InputError(replicas_seen() == 0 ? absent.value().text
                                          : "no frames are left; skip fewer of them, or give "
                                            "longer trajectories");
  }
  append(places_.messages(), messages_);
  append(absent, messages_);
  return std::nullopt;
}

void TrajectoryFrames::check_bath(const io::Structure& frame) {
  const std::optional<double> bath_K = frame.bath_K();
  if (!bath_K) return;
  if (!bath_K_) bath_K_ = bath_K;
  if (several_baths_ || *bath_K == *bath_K_) return;
  several_baths_ = true;
  messages_.push_back(Message::note(
      fmt::format("frames at several temperatures (among them {:g} and {:g} K) are pooled; to "
                  "separate them, give the trajectories with one bath_K",
                  *bath_K_, *bath_K)));
}

std::string TrajectoryFrames::provenance(const std::string& model) const {
  return fmt::format("tarn {}; {}, {}, {}{}, {}{}", kVersion, model,
                     count_text(molecules(), "molecule"), count_text(replicas_seen(), "replica"),
                     beads_ > 1 ? fmt::format(" of {} beads", beads_) : "",
                     count_text(frames_taken_, "frame"), beads_ > 1 ? "; over all beads" : "");
}

void PositionMeasures::fill(unsigned requested, Frame& frame) {
  const unsigned fields = row_fields_for(requested);
  const std::size_t replicas = frame.live();
  frame.shape.resize(fields & kShape ? replicas : 0);
  frame.parts.resize(fields & kParts ? replicas : 0);
  frame.lindemann.resize(fields & kLindemann ? replicas : 0);
  const std::vector<double> no_velocities(frame.coordinates(), 0.0);
  const LindemannRequest& lindemann = settings_.lindemann;
  std::vector<double> dipoles_e_A(fields & kShape && model_.is_many_body() ? 3 * replicas : 0);
  if (!dipoles_e_A.empty()) {
    ManyBody(model_.many_body)
        .compute(frame.molecules, frame.positions_A, {{}, {}, {}, dipoles_e_A, {}});
  }
  for (std::size_t r = 0; r < replicas; ++r) {
    const std::span<const double> q = frame.positions_A_of(r);
    if (fields & kShape) {
      ClusterMeasures& shape = frame.shape[r];
      shape = analysis::cluster_measures(q, model_.dipole_charge_e(), model_);
      if (!dipoles_e_A.empty()) {
        const double* const d = &dipoles_e_A[3 * r];
        put_dipole({d[0], d[1], d[2]}, shape);
        shape.molecule_dipole_D = kNoNumber;
      }
    }
    if (fields & kParts) {
      const bool known = !frame.velocities_A_per_akma.empty();
      frame.parts[r] = cluster_parts(q, known ? frame.velocities_A_per_akma_of(r) : no_velocities,
                                     model_, settings_.link_A);
    }
    if (!(fields & kLindemann)) continue;
    analysis::LindemannIndex& index = indices_[frame.replica_ids[r]];
    if (lindemann.enabled && frame.step >= lindemann.first_step) index.add(q);
    frame.lindemann[r] = index.value();
  }
  fill_moments(requested & (kShapeMoments | kLindemannMoments), false, groups_, 1, frame);
  if (!(requested & kRadialCounts)) return;
  clear_radial(settings_.radial, frame.radial_counts);
  for (std::size_t r = 0; r < replicas; ++r) {
    add_radial(frame.positions_A_of(r), model_, settings_.radial,
               sample_group(frame.replica_ids[r], settings_.radial.groups), frame.radial_counts);
  }
}

}  // namespace tarn
