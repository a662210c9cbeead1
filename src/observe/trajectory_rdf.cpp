#include "tarn/observe/trajectory_rdf.hpp"

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "rdf_counts.hpp"
#include "tarn/analysis/rdf.hpp"
#include "tarn/core/error.hpp"
#include "trajectory_frames.hpp"

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
        fmt::format("{} A is not a multiple of the bin width {} A; the nearest is {:.9g} A",
                    options.r_max_A, options.bin_width_A, bins * options.bin_width_A));
  }
  PairCountRequest request;
  request.pairs = options.pairs;
  request.r_max_A = options.r_max_A;
  request.bins = static_cast<int>(bins);
  return request;
}

}  // namespace

TrajectoryRdf rdf_of_trajectories(const TrajectoryRdfOptions& options, const std::string& path) {
  const PairCountRequest request = request_of(options);
  TrajectoryRdf result;
  std::optional<RdfCounts> sums;
  TrajectoryFrames frames(options.files, options.frames, options.beads);
  while (const std::optional<io::Structure> frame = frames.next()) {
    if (!sums) sums.emplace(request, frames.molecules(), request.groups);
    const auto group = static_cast<std::size_t>(frames.replica() % request.groups);
    const std::span<const double> beads_A(frame->positions_A);
    const std::size_t size = beads_A.size() / static_cast<std::size_t>(frames.beads());
    for (std::size_t first = 0; first < beads_A.size(); first += size) {
      analysis::count_pairs(beads_A.subspan(first, size), request.r_max_A, request.bins,
                            sums->group(group));
      ++sums->samples[group];
    }
    ++result.frames;
    if (result.frames % sums->block_length() == 0) sums->end_block();
  }
  result.molecules = frames.molecules();
  result.beads = frames.beads();
  result.replicas = frames.replicas_seen();
  result.notes = frames.notes();
  result.csv = rdf_csv(path, frames.provenance(frames.model().empty() ? "water" : frames.model()),
                       request, errors_are_from_groups(result.replicas), {&*sums, 1});
  return result;
}

}  // namespace tarn
