#include "trajectory_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/correlation.hpp"
#include "analysis/rdf.hpp"
#include "io/draw.hpp"
#include "io/paths.hpp"
#include "io/structure_checks.hpp"
#include "observable.hpp"
#include "rdf_counts.hpp"
#include "table_observer.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/force_field.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observe/quantity_table.hpp"
#include "tarn/state.hpp"
#include "tarn/version.hpp"
#include "trajectory_frames.hpp"
#include "warnings.hpp"

namespace tarn {
namespace {

/// Times of the frames of several replicas, which may be unknown or unevenly spaced.
class FrameTimes {
 public:
  void add(std::int64_t replica, std::int64_t place, std::optional<double> time_ps) {
    ++frames_;
    if (time_ps) by_replica_[replica].push_back({place, *time_ps});
  }
  /// If all frames have the same time, as in a file without a time step, times are unknown.
  bool are_known() const {
    std::int64_t timed = 0;
    bool passes = frames_ == 1;
    for (const auto& [replica, frames] : by_replica_) {
      timed += static_cast<std::int64_t>(frames.size());
      passes = passes || frames.size() == 1;
      for (const Timed& frame : frames) passes = passes || frame.time_ps != frames[0].time_ps;
    }
    return timed == frames_ && passes;
  }
  bool are_known_for_some() const { return !are_known() && !by_replica_.empty(); }
  /// Interval between consecutive frames, selected or not, from the longest replica.
  std::optional<double> interval_ps() const {
    std::int64_t longest = 0;
    double interval_ps = 0.0;
    for (const auto& [replica, frames] : by_replica_) {
      const Timed &first = frames.front(), &last = frames.back();
      if (last.place - first.place <= longest) continue;
      longest = last.place - first.place;
      interval_ps = (last.time_ps - first.time_ps) / static_cast<double>(longest);
    }
    return longest > 0 ? std::optional(interval_ps) : std::nullopt;
  }
  bool go_on() const {
    return std::ranges::all_of(by_replica_, [](const auto& replica) {
      const std::vector<Timed>& frames = replica.second;
      return std::ranges::adjacent_find(frames, std::greater_equal(), &Timed::time_ps) ==
             frames.end();
    });
  }
  /// Within the precision of the formats: single precision, or the five decimals of GROMACS.
  bool are_even() const {
    constexpr double kDecimals_ps = 1e-5;
    const double interval = interval_ps().value_or(0.0);
    for (const auto& [replica, frames] : by_replica_) {
      for (const Timed& frame : frames) {
        const double even =
            frames[0].time_ps + static_cast<double>(frame.place - frames[0].place) * interval;
        if (io::times_agree(frame.time_ps, even)) continue;
        if (std::abs(frame.time_ps - even) > kDecimals_ps) return false;
      }
    }
    return true;
  }

  struct Timed {
    std::int64_t place;
    double time_ps;
  };
  const std::map<std::int64_t, std::vector<Timed>>& by_replica() const { return by_replica_; }

 private:
  std::map<std::int64_t, std::vector<Timed>> by_replica_;
  std::int64_t frames_ = 0;
};

/// Results of a first pass over the frames.
struct Contents : TrajectoryTables {
  int beads = 1;
  std::string provenance;
  FrameTimes times;
  bool has_several_baths = false;
};

/// Message about missing or uneven times.
std::optional<Message> message_on_times(const FrameTimes& times) {
  if (times.are_known_for_some()) {
    return Message::note("some frames have no time; time_ps counts the frames of a replica");
  }
  if (!times.are_known()) {
    return Message::note("the frames have no times; time_ps counts them");
  }
  if (!times.go_on()) {
    return Message::warning(
        "frame times decrease or repeat; time_ps is unchanged, but autocorrelation times count "
        "frames instead of ps");
  }
  if (!times.are_even()) {
    return Message::note(
        "the frames are not evenly spaced in time; autocorrelation times count frames instead of "
        "ps");
  }
  return std::nullopt;
}

using Indices = PositionMeasures::Indices;

TrajectoryFrames frames_of(const TrajectoryTablesOptions& options) {
  return {options.files, options.frames};
}

Contents contents_of(const TrajectoryTablesOptions& options) {
  Contents contents;
  TrajectoryFrames frames = frames_of(options);
  while (const std::optional<io::Structure> frame = frames.next()) {
    contents.times.add(frames.replica(), frames.place(), frame->time_ps());
    ++contents.frames;
  }
  contents.replicas = frames.replicas_seen();
  contents.molecules = frames.molecules();
  contents.beads = frames.beads();
  const std::string named = frames.model().empty() ? "tip3p" : frames.model();
  contents.model = options.model.empty() ? named : options.model;
  contents.provenance = frames.provenance(contents.model);
  contents.messages = frames.messages();
  contents.has_several_baths = frames.have_several_baths();
  if (options.model.empty()) {
    append(io::warning_of_potential("the frames are those", frames.potential(), contents.model),
           contents.messages);
  }
  if (frames.model().empty() && options.model.empty()) {
    const bool has_sites = frames.has_sites();
    contents.messages.push_back(
        {has_sites ? Level::warning : Level::note,
         fmt::format(
             "the frames name no water model, so tip3p is used{}. Choose another with --model",
             has_sites ? ", although the frames have a fourth site" : "")});
  }
  return contents;
}

ObserverMaker potential_table(const WaterModel& model, int molecules, std::int64_t every,
                              bool one_replica) {
  const auto force_field = std::make_shared<ForceField>(model, molecules);
  QuantityTable table;
  table.file = "potential";
  table.columns = {"potential_kcal_per_mol"};
  if (model.is_flexible()) table.columns.emplace_back("intramolecular_kcal_per_mol");
  table.every = every;
  table.steady = one_replica;  // several replicas follow one another
  table.values = [force_field](const Frame& frame, std::size_t r, std::span<double> values) {
    const ClusterEnergy energy = force_field->energy(frame.positions_A_of(r));
    values[0] = energy.between_molecules_kcal_per_mol();
    if (values.size() > 1) values[1] = energy.intramolecular_kcal_per_mol;
  };
  return quantity_table(std::move(table));
}

/// Sorts the rows of a table, written in the order of the frames, like those of a run.
void sort_by_time(const std::string& path) {
  const io::Table table = io::read_table(path);
  const io::TableColumn &step = table.columns[0], &time = table.columns[1], &id = table.columns[2];
  const auto key = [&](std::size_t row) {
    const bool whole = time.kind == io::TableColumn::Kind::integer;
    const double time_ps = whole ? static_cast<double>(time.integers[row]) : time.numbers[row];
    return std::tuple(time_ps, step.integers[row], id.integers[row]);
  };
  std::vector<std::size_t> order(table.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, key);
  std::istringstream text(io::read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line + '\n');
  std::string sorted = lines[0] + lines[1];
  for (const std::size_t row : order) sorted += lines[2 + row];
  io::write_file(path, sorted);
}

/// Pools the replicas, which the observer received one after the other.
void pool(const Indices& indices, AveragedQuantity& a) {
  std::vector<double> values;
  for (const auto& [replica, index] : indices) {
    if (!std::isnan(index.value())) values.push_back(index.value());
  }
  const analysis::MeanError all = analysis::mean_and_error(values);
  a.mean = all.mean;
  a.error = all.error;
  a.samples = static_cast<std::int64_t>(values.size());
  a.independent_samples = static_cast<double>(values.size());
  a.converged = a.samples >= kEnoughResults;
}

/// @throws InputError for the folder of a run, and for inputs that cannot be read twice
void refuse_what_cannot_be_done(const TrajectoryTablesOptions& options) {
  namespace fs = std::filesystem;
  if (fs::exists(options.folder + "/run.json")) {
    throw InputError(
        options.folder +
        " is the folder of a run, whose tables would be overwritten; choose another folder");
  }
  for (const std::string& file : options.files) {
    if (fs::exists(file) && !fs::is_regular_file(file) && !fs::is_directory(file)) {
      throw InputError(file, 0, "cannot be read twice; save it to a regular file");
    }
  }
}

/// @throws InputError for an unknown model
WaterModel model_of(const Deck& deck) {
  if (deck.system.model == kOwnModel && !deck.model) {
    throw InputError(
        "the frames use a user-defined water model; give the file with its section [model] with "
        "--model");
  }
  const std::optional<WaterModel> model =
      deck.model ? water_model(deck) : find_water_model(deck.system.model);
  if (model) return *model;
  throw InputError(
      fmt::format("unknown water model '{}'; 'tarn models' lists the models", deck.system.model));
}

/// Settings of time correlations, and the replicas that are long enough.
struct CorrelationPlan {
  ObserveCorrelation section;
  std::set<std::int64_t> replicas;
  std::optional<Message> note;  // on replicas that are too short
};

/// @throws InputError for frames from several baths, at uneven times, too few frames, or too much
/// memory
CorrelationPlan plan_correlations(double length_ps, std::int64_t every, const Contents& contents) {
  const FrameTimes& times = contents.times;
  const std::string what = fmt::format("correlations up to {:g} ps", length_ps);
  if (!(length_ps > 0.0 && std::isfinite(length_ps))) {
    throw InputError(what + ": the time must be greater than 0");
  }
  if (contents.has_several_baths) {
    throw InputError("time correlations require one temperature, but the frames have several");
  }
  if (const auto message = message_on_times(times)) {
    throw InputError("time correlations require frames at known and even times: " + message->text);
  }
  double span_ps = 0.0;  // of the longest replica
  std::size_t most = 0;  // frames of a replica
  for (const auto& [replica, frames] : times.by_replica()) {
    span_ps = std::max(span_ps, frames.back().time_ps - frames.front().time_ps);
    most = std::max(most, frames.size());
  }
  if (length_ps > span_ps) {
    throw InputError(
        fmt::format("{}: replicas span {:g} ps; the limit is half of that", what, span_ps));
  }
  CorrelationPlan plan;
  plan.section.every = every;
  plan.section.length_ps = length_ps;
  const std::size_t lags = correlation_lags(plan.section, 1000.0 * times.interval_ps().value());
  const std::size_t needed = analysis::TimeCorrelation::samples_to_first_window(lags);
  for (const auto& [replica, frames] : times.by_replica()) {
    if (frames.size() >= needed) plan.replicas.insert(replica);
  }
  if (plan.replicas.empty()) {
    throw InputError(
        fmt::format("{} require {} frames per replica at these intervals, but there are {}", what,
                    needed, most));
  }
  const auto left_out = contents.replicas - static_cast<std::int64_t>(plan.replicas.size());
  if (left_out > 0) {
    plan.note = Message::note(fmt::format(
        "{} of {} replicas have fewer than {} frames and are excluded from correlation.csv",
        left_out, contents.replicas, needed));
  }
  const double numbers = analysis::correlation_numbers(
      contents.molecules, static_cast<int>(plan.replicas.size()),
      static_cast<int>(contents.replicas), lags, static_cast<double>(most));
  if (numbers > analysis::kMaxCorrelationNumbers) {
    throw InputError(
        fmt::format("{} of {} replicas require {:.2g} stored numbers; the limit is {:.0e}. Use a "
                    "shorter time, fewer frames (--every) or fewer replicas (--replicas)",
                    what, plan.replicas.size(), numbers, analysis::kMaxCorrelationNumbers));
  }
  return plan;
}

/// Passes all frames to the observers.
/// @param correlations observer that receives the replicas `correlated` only; null: none
/// @return final Lindemann indices of the replicas, if requested
Indices observe_all(TrajectoryFrames frames, const WaterModel& model,
                    const std::vector<std::unique_ptr<Observer>>& observers,
                    const Observer* correlations, const std::set<std::int64_t>& correlated) {
  unsigned fields = kNoFields;
  MeasureSettings settings;
  for (const auto& observer : observers) {
    observer->begin();
    observer->configure(settings);
    fields |= observer->fields();
  }
  PositionMeasures measures(model, settings);
  while (const std::optional<io::Structure> structure = frames.next()) {
    Frame frame;
    frame.step = frames.place();
    frame.time_ps = structure->time_ps().value_or(0.0);  // unused if some frames have none
    frame.molecules = structure->molecules;
    frame.replica_ids = {frames.replica()};
    frame.positions_A = structure->positions_A;
    measures.fill(fields, frame);
    for (const auto& observer : observers) {
      if (observer.get() == correlations && !correlated.contains(frames.replica())) continue;
      observer->observe(frame);
    }
  }
  return measures.indices();
}

/// Removes pictures and correlations of an earlier analysis, which this one may not replace.
void remove_earlier(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove(folder + "/correlation.csv", ignored);
  for (const char* table : {"potential", "cluster", "profile", "correlation"}) {
    for (const char* extension : {".svg", ".png"}) {
      std::filesystem::remove(folder + "/" + table + extension, ignored);
    }
  }
}

}  // namespace

TrajectoryTables write_trajectory_tables(const TrajectoryTablesOptions& options) {
  refuse_what_cannot_be_done(options);
  Contents contents = contents_of(options);
  if (contents.beads > 1) {
    throw InputError(fmt::format(
        "the frames contain {} beads of ring polymers, whose tables a run writes. For the "
        "centroids, write the trajectory with [observe.trajectory] beads = \"centroid\"",
        contents.beads));
  }
  TrajectoryTables& result = contents;
  const FrameTimes& times = contents.times;
  if (contents.frames > 1) append(message_on_times(times), result.messages);
  Deck deck;
  deck.system.model = contents.model;
  deck.system.molecules = contents.molecules;
  deck.model = options.own_model;
  const WaterModel model = model_of(deck);

  CorrelationPlan correlations;
  if (options.correlation_ps) {
    correlations = plan_correlations(*options.correlation_ps, options.frames.every, contents);
    append(correlations.note, result.messages);
  }

  io::StagedFolder folder(options.folder);
  ObserverContext info;
  info.model = model;
  info.out_dir = folder.path();
  info.molecules = contents.molecules;
  info.replicas = static_cast<int>(contents.replicas);
  info.provenance = contents.provenance;
  info.frames_have_times = times.are_known();
  const bool even = times.are_known() && times.go_on() && times.are_even();
  info.timestep_fs = 1000.0 * (even ? times.interval_ps().value_or(1.0) : 1.0);
  ObserveCluster& cluster = deck.cluster.emplace();
  cluster.every = options.frames.every;
  const std::int64_t n = contents.molecules;
  cluster.lindemann = n * (n - 1) / 2 * contents.replicas <= analysis::LindemannIndex::kMostPairs;
  deck.profile.emplace().every = options.frames.every;
  if (options.correlation_ps) deck.correlation = correlations.section;
  std::vector<std::unique_ptr<Observer>> observers;
  observers.push_back(potential_table(model, contents.molecules, options.frames.every,
                                      contents.replicas == 1)(info));
  for (const Observable& row :
       {cluster_observable(), profile_observable(), correlation_observable()}) {
    if (auto observer = make_observer(row, deck, info)) observers.push_back(std::move(observer));
  }
  const Observer* correlation_observer = deck.correlation ? observers.back().get() : nullptr;

  const Indices indices = observe_all(frames_of(options), model, observers, correlation_observer,
                                      correlations.replicas);
  for (const auto& observer : observers) {
    observer->finish();
    for (AveragedQuantity& a : observer->averages()) {
      if (a.quantity == "lindemann") pool(indices, a);
      result.averages.push_back(std::move(a));
    }
    append(observer->messages(), result.messages);
  }
  append(sampling_warning(result.averages), result.messages);
  for (const char* table : {"/potential.csv", "/cluster.csv"}) sort_by_time(folder.path() + table);
  write_averages(folder.path() + "/averages.csv", info.provenance, result.averages);
  if (options.pictures) {
    result.pictures = io::draw_pictures(folder.path());
    for (std::string& path : result.pictures.paths) path = folder.final_path(path);
  }
  remove_earlier(options.folder);
  folder.commit();
  return result;
}

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
