#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// What observers must know about the run beside their own section of the deck.
struct RunInfo {
  std::string out_dir;  ///< exists when begin() or load() is called, not yet when they are made
  int molecules = 0;
  int replicas = 1;
  /// Beginning of the `#` line of every table: no time, no path, no step count.
  std::string provenance;
  double timestep_fs = 0.0;
  std::int64_t first_averaged_step = 0;  ///< averages leave out what was before
  /// Temperature of the bath of replica r: element r modulo the length; empty: there is no bath.
  std::vector<double> baths_K{};
  int threads = 0;  ///< of work that an observer does itself; 0: as many as there are
  /// With replica exchange: whether states went between the baths often enough for averages by bath
  /// to forget the start. Asked at the end, while the run is there; may be empty.
  std::function<bool()> has_mixed{};

  /// Of frames of a trajectory: their times are their own, and need not be evenly spaced.
  bool frames_have_times = false;

  /// The first multiple of `every` that averages count, but step 0, which all see.
  std::int64_t first_sample(std::int64_t every) const {
    return std::max<std::int64_t>((first_averaged_step + every - 1) / every, 1) * every;
  }
  /// Of the time step as the deck has it, which the engine's own units would round.
  double time_ps(std::int64_t step) const {
    return static_cast<double>(step) * timestep_fs / 1000.0;
  }
  double time_of(const Frame& frame) const {
    return frames_have_times ? frame.time_ps : time_ps(frame.step);
  }
};

/// Makes an observer for a run, or null for none.
using ObserverMaker = std::function<std::unique_ptr<Observer>(const RunInfo& run)>;

/// Program, system and a hash of the physics, the same for every run of a deck.
std::string provenance_of(const Deck& deck, int molecules);

/// One observer for each [observe.*] section of the deck.
/// @throws InputError for `replicas = "mean"` where no mean can be written
std::vector<std::unique_ptr<Observer>> make_observers(const Deck& deck, const RunInfo& info);

/// Why baths of several temperatures get no heat_capacity.csv; empty where they get one.
std::string heat_capacity_obstacle(const std::vector<double>& baths_K);

/// Writes averages.csv: a row a quantity. @throws IoError, NumericalError
void write_averages(const std::string& path, const std::string& provenance,
                    const std::vector<AveragedQuantity>& averages);

/// Names of the files that the observers of any deck may write into a folder; an entry that ends
/// with '-' stands for all names that begin so and go on with a replica number.
std::vector<std::string> observer_file_names();

}  // namespace tarn
