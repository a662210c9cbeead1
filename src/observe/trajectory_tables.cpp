#include "tarn/observe/trajectory_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "io/staged_folder.hpp"
#include "makers.hpp"
#include "table_observer.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/core/error.hpp"
#include "tarn/force_field.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/observe/quantity_table.hpp"
#include "trajectory_frames.hpp"

namespace tarn {
namespace {

/// What one pass over the frames finds out.
struct Contents {
  std::int64_t frames = 0, replicas = 0;
  int molecules = 0;
  std::string model, provenance;
  std::vector<std::string> notes;
  /// Between a frame and the next of the file, by the first two of the first replica that are
  /// taken; nothing: the file does not say.
  std::optional<double> interval_ps;
};

using Indices = std::map<std::int64_t, analysis::LindemannIndex>;  // by replica

TrajectoryFrames frames_of(const TrajectoryTablesOptions& options) {
  return {options.files, options.frames};
}

Contents contents_of(const TrajectoryTablesOptions& options) {
  Contents contents;
  TrajectoryFrames frames = frames_of(options);
  std::optional<double> first_ps;
  while (const std::optional<io::Structure> frame = frames.next()) {
    if (contents.frames == 0) {
      first_ps = frame->time_ps();
    } else if (contents.frames == 1 && frames.replica() == 0 && first_ps) {
      const std::optional<double> next_ps = frame->time_ps();
      if (next_ps && *next_ps > *first_ps) {
        contents.interval_ps = (*next_ps - *first_ps) / static_cast<double>(options.frames.every);
      }
    }
    ++contents.frames;
  }
  contents.replicas = frames.replicas_seen();
  contents.molecules = frames.molecules();
  const std::string named = frames.model().empty() ? "tip3p" : frames.model();
  contents.model = options.model.empty() ? named : options.model;
  contents.provenance = frames.provenance(contents.model);
  contents.notes = frames.notes();
  if (frames.model().empty() && options.model.empty()) {
    contents.notes.push_back(
        fmt::format("the frames name no water model: tip3p was taken{}; --model names another",
                    frames.has_sites() ? ", which has no fourth site as they have" : ""));
  }
  return contents;
}

ObserverMaker potential_table(const WaterModel& model, int molecules, std::int64_t every,
                              bool one_replica) {
  const auto force_field = std::make_shared<ForceField>(model, molecules);
  QuantityTable table;
  table.file = "potential";
  table.columns = {"potential_kcal_per_mol"};
  table.every = every;
  table.steady = one_replica;  // of several one comes after the other
  table.values = [force_field](const Frame& frame, std::size_t r, std::span<double> values) {
    values[0] = force_field->energy(frame.positions_A_of(r)).total_kcal_per_mol();
  };
  return quantity_table(std::move(table));
}

/// Puts the rows of a table, which were written replica after replica, into the order of a run's.
void sort_by_step(const std::string& path) {
  const std::string text = io::read_file(path);
  std::size_t begin = 0;
  for (int line = 0; line < 2; ++line) begin = text.find('\n', begin) + 1;
  std::vector<std::pair<std::int64_t, std::string_view>> rows;
  for (std::size_t at = begin; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    rows.emplace_back(std::strtoll(&text[at], nullptr, 10),
                      std::string_view(text).substr(at, end - at));
    at = end;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string sorted = text.substr(0, begin);
  for (const auto& [step, row] : rows) sorted += row;
  io::write_file(path, sorted);
}

/// Over all replicas, of which the observer saw the last one last.
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

/// @throws InputError for the folder of a run, and for files that cannot be read twice
void refuse_what_cannot_be_done(const TrajectoryTablesOptions& options) {
  namespace fs = std::filesystem;
  if (fs::exists(options.folder + "/run.json")) {
    throw InputError(options.folder +
                     " is the folder of a run, whose tables would be lost: give "
                     "another one");
  }
  for (const std::string& file : options.files) {
    if (fs::exists(file) && !fs::is_regular_file(file)) {
      throw InputError({Problem{file, 0, 0, "is no file that can be read twice; save it in one"}});
    }
  }
}

/// @throws InputError for one that is not known
WaterModel model_of(const Deck& deck) {
  if (deck.system.model == kOwnModel && !deck.model) {
    throw InputError(
        "the frames are of a water model of one's own: name the deck that has it by --model");
  }
  const std::optional<WaterModel> model =
      deck.model ? water_model(deck) : find_water_model(deck.system.model);
  if (model) return *model;
  throw InputError(
      fmt::format("there is no water model '{}'; 'tarn doctor' lists them", deck.system.model));
}

/// Shows all frames to the observers. One replica is over when the next one begins.
/// @return the indices of the replicas at their ends, where these are wanted
Indices observe_all(TrajectoryFrames frames, const RunInfo& info, bool lindemann,
                    const std::vector<std::unique_ptr<Observer>>& observers) {
  Indices indices;
  for (const auto& observer : observers) observer->begin();
  while (const std::optional<io::Structure> structure = frames.next()) {
    if (lindemann) indices[frames.replica()].add(structure->positions_A);
    Frame frame;
    frame.step = frames.place();
    frame.time_ps = info.time_ps(frame.step);
    frame.molecules = structure->molecules;
    frame.replica_ids = {frames.replica()};
    frame.positions_A = structure->positions_A;
    for (const auto& observer : observers) observer->observe(frame);
  }
  return indices;
}

/// Those of an earlier analysis: there may be fewer of this one.
void remove_pictures(const std::string& folder) {
  std::error_code ignored;
  for (const char* table : {"potential", "cluster", "profile"}) {
    for (const char* extension : {".svg", ".png"}) {
      std::filesystem::remove(folder + "/" + table + extension, ignored);
    }
  }
}

}  // namespace

TrajectoryTables write_trajectory_tables(const TrajectoryTablesOptions& options) {
  refuse_what_cannot_be_done(options);
  const Contents contents = contents_of(options);
  TrajectoryTables result;
  result.frames = contents.frames;
  result.replicas = contents.replicas;
  result.molecules = contents.molecules;
  result.model = contents.model;
  result.notes = contents.notes;
  if (!contents.interval_ps && contents.frames > 1) {
    result.notes.emplace_back("the frames have no times: time_ps counts them");
  }
  Deck deck;
  deck.system.model = contents.model;
  deck.system.molecules = contents.molecules;
  deck.model = options.own_model;
  const WaterModel model = model_of(deck);

  io::StagedFolder folder(options.folder);
  RunInfo info;
  info.out_dir = folder.path();
  info.molecules = contents.molecules;
  info.replicas = static_cast<int>(contents.replicas);
  info.provenance = contents.provenance;
  info.timestep_fs = 1000.0 * contents.interval_ps.value_or(1.0);
  ObserveCluster cluster;
  cluster.every = options.frames.every;
  const std::int64_t n = contents.molecules;
  cluster.lindemann = n * (n - 1) / 2 * contents.replicas <= analysis::LindemannIndex::kMostPairs;
  ObserveProfile profile;
  profile.every = options.frames.every;
  std::vector<std::unique_ptr<Observer>> observers;
  observers.push_back(potential_table(model, contents.molecules, options.frames.every,
                                      contents.replicas == 1)(info));
  observers.push_back(make_cluster(cluster, deck, info));
  observers.push_back(make_profile(profile, deck, info));

  const Indices indices = observe_all(frames_of(options), info, cluster.lindemann, observers);
  for (const auto& observer : observers) {
    observer->finish();
    for (AveragedQuantity& a : observer->averages()) {
      if (a.quantity == "lindemann") pool(indices, a);
      result.averages.push_back(std::move(a));
    }
    for (std::string& note : observer->notes()) result.notes.push_back(std::move(note));
  }
  for (const char* table : {"/potential.csv", "/cluster.csv"}) sort_by_step(folder.path() + table);
  write_averages(folder.path() + "/averages.csv", info.provenance, result.averages);
  for (const auto& observer : observers) {
    Pictures pictures = observer->draw();
    for (const std::string& path : pictures.paths) {
      result.pictures.paths.push_back(folder.place_of(path));
    }
    std::ranges::move(pictures.warnings, std::back_inserter(result.pictures.warnings));
    result.pictures.failed = result.pictures.failed || pictures.failed;
  }
  remove_pictures(options.folder);
  folder.commit();
  return result;
}

}  // namespace tarn
