#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "analysis/rdf.hpp"
#include "rdf_counts.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/state.hpp"
#include "tarn/version.hpp"
#include "trajectory_frames.hpp"
#include "trajectory_tables.hpp"

namespace tarn {
namespace {

PairCountRequest request_of(const TrajectoryRdfOptions& options) {
  constexpr double kMostBins = 100'000;
  const double bins = std::round(options.r_max_A / options.bin_width_A);
  if (!(options.r_max_A > 0.0 && options.bin_width_A > 0.0 && bins >= 1.0 && bins <= kMostBins)) {
    throw InputError(fmt::format(
        "invalid bins of {} A up to {} A: both must be greater than 0, with at most {} bins",
        options.bin_width_A, options.r_max_A, kMostBins));
  }
  if (std::abs(bins * options.bin_width_A - options.r_max_A) > 1e-9 * options.r_max_A) {
    throw InputError(
        fmt::format("{} A is not a multiple of the bin width {} A; the nearest is {:.12g} A",
                    options.r_max_A, options.bin_width_A, bins * options.bin_width_A));
  }
  PairCountRequest request;
  request.pairs = options.pairs;
  request.r_max_A = options.r_max_A;
  request.bins = static_cast<int>(bins);
  return request;
}

/// Counts the distances of frames.
class Counter {
 public:
  Counter(const PairCountRequest& request, int molecules)
      : request_(request), sums_(request, molecules, request.groups) {}

  /// Adds a frame of one replica; pairs are those within a bead.
  void add(std::span<const double> positions_A, int beads, std::int64_t replica) {
    const auto group = static_cast<std::size_t>(sample_group(replica, request_.groups));
    const std::size_t size = positions_A.size() / static_cast<std::size_t>(beads);
    for (std::size_t first = 0; first < positions_A.size(); first += size) {
      analysis::count_pairs(positions_A.subspan(first, size), request_.r_max_A, request_.bins,
                            sums_.group(group));
      ++sums_.samples[group];
    }
    if (++frames_ % sums_.block_length() == 0) sums_.end_block();
  }
  std::int64_t frames() const { return frames_; }
  std::string csv(const std::string& path, const std::string& provenance,
                  std::int64_t replicas) const {
    return rdf_csv(path, provenance, request_, errors_are_from_groups(replicas), {&sums_, 1});
  }

 private:
  PairCountRequest request_;
  RdfCounts sums_;
  std::int64_t frames_ = 0;
};

/// Positions in memory, for the checks of frames.
class PositionsInMemory : public io::FrameReader {
 public:
  explicit PositionsInMemory(std::string name) : name_(std::move(name)) {}
  std::optional<io::Structure> next() override { return std::nullopt; }
  const std::string& path() const override { return name_; }

 private:
  std::string name_;
};

/// The checks of frames from files. @throws InputError
void check_frame(std::span<const double> positions_A, int beads, const std::string& name,
                 std::int64_t number) {
  for (std::size_t i = 0; i < positions_A.size(); ++i) {
    if (std::isfinite(positions_A[i])) continue;
    throw InputError(name, 0,
                     fmt::format("frame {}: atom {} (both counted from 0) has the "
                                 "coordinate {}; leave the frame out",
                                 number, i / 3, positions_A[i]));
  }
  io::Structure frame;
  frame.molecules = static_cast<int>(positions_A.size() / kCoordinatesPerMolecule);
  frame.positions_A.assign(positions_A.begin(), positions_A.end());
  const PositionsInMemory reader(name);
  if (beads > 1) io::set_beads(frame, beads, reader);
  io::check_molecules(frame, reader, number);
}

}  // namespace

TrajectoryRdf rdf_of_trajectories(const TrajectoryRdfOptions& options, const std::string& path) {
  const PairCountRequest request = request_of(options);
  std::optional<Counter> counter;
  TrajectoryFrames frames(options.files, options.frames, options.beads);
  while (const std::optional<io::Structure> frame = frames.next()) {
    if (!counter) counter.emplace(request, frames.molecules());
    counter->add(frame->positions_A, frames.beads(), frames.replica());
    if (options.should_continue && !options.should_continue()) break;
  }
  const std::string model = frames.model().empty() ? "water" : frames.model();
  return {counter->csv(path, frames.provenance(model), frames.replicas_seen()),
          counter->frames(),
          frames.replicas_seen(),
          frames.molecules(),
          frames.beads(),
          frames.messages()};
}

TrajectoryRdf rdf_of_positions(std::span<const double> positions_A, int replicas, int molecules,
                               const TrajectoryRdfOptions& options) {
  if (replicas < 1 || molecules < 1) throw InputError("an RDF needs a replica and a molecule");
  const int beads = options.beads.value_or(1);
  if (beads < 1) throw InputError("an RDF needs a bead");
  const std::size_t cluster = static_cast<std::size_t>(molecules) *
                              static_cast<std::size_t>(beads) * kCoordinatesPerMolecule;
  const std::size_t frame = cluster * static_cast<std::size_t>(replicas);
  if (positions_A.empty() || positions_A.size() % frame != 0) {
    throw InputError(fmt::format(
        "an RDF of {} replicas of {} molecules needs whole frames of {} coordinates, not {}",
        replicas, molecules, frame, positions_A.size()));
  }
  if (std::string unit = io::unit_problem(positions_A.first(cluster)); !unit.empty()) {
    throw InputError("positions_A: " + unit);
  }
  Counter counter(request_of(options), molecules);
  for (std::size_t at = 0; at < positions_A.size(); at += cluster) {
    if (options.should_continue && !options.should_continue()) break;
    const std::span<const double> one = positions_A.subspan(at, cluster);
    const auto replica =
        static_cast<std::int64_t>(at / cluster % static_cast<std::size_t>(replicas));
    check_frame(one, beads,
                replicas > 1 ? fmt::format("positions_A[:, {}]", replica) : "positions_A",
                static_cast<std::int64_t>(at / frame));
    counter.add(one, beads, replica);
  }
  const std::string provenance =
      fmt::format("tarn {}; positions, {} molecules", kVersion, molecules);
  return {counter.csv("positions", provenance, replicas), counter.frames(), replicas, molecules,
          beads};
}

}  // namespace tarn
