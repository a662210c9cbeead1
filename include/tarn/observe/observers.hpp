#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/observer.hpp"
#include "tarn/potential.hpp"

namespace tarn {

/// Information about the run that observers need in addition to their section of the deck.
struct RunInfo {
  std::string out_dir;  ///< exists at begin() or load(), but not yet at construction
  int molecules = 0;
  int replicas = 1;
  /// Beginning of the `#` line of every table, without times, paths or step counts.
  std::string provenance;
  double timestep_fs = 0.0;
  std::int64_t first_averaged_step = 0;  ///< averages exclude earlier steps
  /// Bath temperatures: replica r has element r modulo the length; empty: no bath.
  std::vector<double> baths_K{};
  int threads = 0;  ///< threads for the observer's own work; 0: all available
  /// For the observer's own work on many clusters; see minimise_clusters().
  std::string device = "cpu";
  int starts = 1;  ///< start structures that the ladders take in turn
  /// With replica exchange: the walker in a replica, during observe(); else empty.
  std::function<std::int64_t(std::int64_t replica)> walker_at{};
  /// Gives energies and forces; observers quench with it, and write no dipole moments. Null: the
  /// water model.
  std::shared_ptr<Potential> potential{};

  /// Whether frames carry their own times, which may be unevenly spaced (trajectory files).
  bool frames_have_times = false;

  /// The first multiple of `every` that contributes to averages, except step 0.
  std::int64_t first_sample(std::int64_t every) const {
    return std::max<std::int64_t>((first_averaged_step + every - 1) / every, 1) * every;
  }
  /// Time in ps, from the time step of the deck; the engine's units would round it.
  double time_ps(std::int64_t step) const {
    return static_cast<double>(step) * timestep_fs / 1000.0;
  }
  double time_of(const Frame& frame) const {
    return frames_have_times ? frame.time_ps : time_ps(frame.step);
  }
};

/// Makes an observer for a run, or null for none.
using ObserverMaker = std::function<std::unique_ptr<Observer>(const RunInfo& run)>;

/// Provenance of a deck: program, system and a hash of the physics.
std::string provenance_of(const Deck& deck, int molecules);

/// One observer for each [observe.*] section of the deck.
/// @throws InputError for `replicas = "mean"` in a section without means
std::vector<std::unique_ptr<Observer>> make_observers(const Deck& deck, const RunInfo& info);

/// Reason why these baths get no heat_capacity.csv; empty if they do.
std::string heat_capacity_obstacle(const std::vector<double>& baths_K);

/// Writes averages.csv with one row per quantity. @throws IoError, NumericalError
void write_averages(const std::string& path, const std::string& provenance,
                    const std::vector<AveragedQuantity>& averages);

/// Names of all files that the observers of any deck may write. An entry that ends with '-' stands
/// for all names that continue with a replica number.
std::vector<std::string> observer_file_names();

}  // namespace tarn
