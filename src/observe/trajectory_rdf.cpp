#include "tarn/observe/trajectory_rdf.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "rdf_counts.hpp"
#include "tarn/analysis/rdf.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

PairCountRequest request_of(const TrajectoryRdfOptions& options) {
  constexpr double kMostBins = 100'000;
  const double bins = std::round(options.r_max_A / options.bin_width_A);
  if (!(options.r_max_A > 0.0 && options.bin_width_A > 0.0 && bins >= 1.0 && bins <= kMostBins)) {
    throw InputError(fmt::format(
        "bins of {} A up to {} A: both must be greater than 0, and at most {} bins are possible",
        options.bin_width_A, options.r_max_A, kMostBins));
  }
  if (std::abs(bins * options.bin_width_A - options.r_max_A) > 1e-9 * options.r_max_A) {
    throw InputError(fmt::format("{} A is no whole number of bins of {} A; the next one is {} A",
                                 options.r_max_A, options.bin_width_A, bins * options.bin_width_A));
  }
  PairCountRequest request;
  request.pairs = options.pairs;
  request.r_max_A = options.r_max_A;
  request.bins = static_cast<int>(bins);
  return request;
}

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

/// A file that is given twice would count as two replicas that agree. @throws InputError
void check_given_once(const std::vector<std::string>& files) {
  std::map<std::filesystem::path, std::string> seen;
  for (const std::string& file : files) {
    // What cannot be looked at is told by who reads it.
    std::error_code ignored;
    std::filesystem::path place = std::filesystem::canonical(file, ignored);
    if (ignored) place = file;
    const auto [first, is_new] = seen.try_emplace(place, file);
    if (is_new) continue;
    const std::string as =
        first->second == file ? "" : fmt::format(", first as '{}'", first->second);
    throw InputError({Problem{file, 0, 0,
                              fmt::format("the same file is given twice{}: its frames would count "
                                          "as another replica. Give each file once",
                                          as)}});
  }
}

}  // namespace

TrajectoryRdf rdf_of_trajectories(const TrajectoryRdfOptions& options, const std::string& path) {
  const PairCountRequest request = request_of(options);
  TrajectoryRdf result;
  std::optional<RdfCounts> sums;
  std::string model;  // of the first frame that names one
  check_given_once(options.files);
  for (const std::string& file : options.files) {
    const std::unique_ptr<io::FrameReader> reader = io::open_frames(file);
    std::optional<std::string> replica;
    std::int64_t frames_of_replica = 0;
    bool any = false, has_box = false;
    while (const std::optional<io::Structure> frame = reader->next()) {
      any = true;
      if (!options.replicas.empty() && !is_among(options.replicas, file, *frame)) {
        continue;
      }
      if (replica != replica_of(*frame)) {
        replica = replica_of(*frame);
        ++result.replicas;
        frames_of_replica = 0;
      }
      if (!sums) {
        sums.emplace(request, frame->molecules, request.groups);
        result.molecules = frame->molecules;
      }
      const std::string own = frame->model().value_or("");
      if (model.empty()) model = own;
      if (!own.empty() && own != model) {
        throw InputError({Problem{file, reader->line_of_atom(0), 0,
                                  fmt::format("this frame is of {}, others were of {}: give "
                                              "trajectories of one water model only",
                                              own, model)}});
      }
      if (frame->molecules != result.molecules) {
        throw InputError({Problem{file, reader->line_of_atom(0), 0,
                                  fmt::format("this frame has {} molecules, the first one had {}: "
                                              "give trajectories of one cluster only",
                                              frame->molecules, result.molecules)}});
      }
      if (frames_of_replica++ < options.skip_frames) continue;
      has_box = has_box || frame->has_box;
      const auto group = static_cast<std::size_t>((result.replicas - 1) % request.groups);
      analysis::count_pairs(frame->positions_A, request.r_max_A, request.bins, sums->group(group));
      ++sums->samples[group];
      ++result.frames;
      if (result.frames % sums->block_length() == 0) sums->end_block();
    }
    if (!any) throw InputError({Problem{file, 0, 0, "the file holds no frame"}});
    if (has_box) result.notes.push_back(io::note_on_box(file));
  }
  if (result.frames == 0) {
    throw InputError(
        "no frame is left: skip fewer of them, or give longer trajectories, or other replicas");
  }
  const auto count = [](std::int64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  result.csv =
      rdf_csv(path,
              fmt::format("tarn {}; {}, {}, {}, {}", kVersion, model.empty() ? "water" : model,
                          count(result.molecules, "molecule"), count(result.replicas, "replica"),
                          count(result.frames, "frame")),
              request, errors_are_from_groups(result.replicas), {&*sums, 1});
  return result;
}

}  // namespace tarn
