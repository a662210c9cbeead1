#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "energy_conservation.hpp"
#include "observe/baths.hpp"
#include "observe/correlations.hpp"
#include "run/evaporation.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/analysis/halves.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/start.hpp"

namespace tarn {

/// Time that some steps took.
struct Elapsed {
  double wall_seconds = 0.0;
  double core_seconds = 0.0;  ///< of all threads of the program together
};

/// A quantity of the replicas of one bath, whose mean does not move in equilibrium.
struct SteadyQuantity {
  analysis::PooledBlocking mean;
  analysis::Halves halves;

  static SteadyQuantity of_replicas(int replicas);
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> values);
};

/// One of several schemes that run side by side, in turns.
struct Contestant {
  std::string label;
  Deck deck;
  int molecules = 0;  ///< of a replica
  std::unique_ptr<Engine> engine;
  analysis::PooledBlocking temperature, translation, rotation, bond, potential;
  std::optional<Baths> baths;
  std::vector<SteadyQuantity> temperature_of_bath, potential_of_bath;  ///< [bath]
  EnergyConservation conservation;                                     ///< without a thermostat
  double constraint_max_A2 = 0.0;
  std::optional<Correlations> correlations;  ///< where the deck has [observe.correlation]
  /// Where there are some.
  double correlation_interval_fs() const {
    return static_cast<double>(deck.correlation->every) * deck.integrator.timestep_fs;
  }
  std::int64_t sample_every = 100;
  std::int64_t first_step = 0;  ///< that counts in averages

  std::unique_ptr<EvaporationWatch> evaporation;  ///< null behind a wall

  /// What is due at this step: its energies and correlations, if it counts, and a look whether
  /// clusters are whole.
  void sample();
  /// Advances and takes samples on the way; only the steps are timed.
  Elapsed advance_to(std::int64_t step);
};

/// What a run of its deck would tell of it at the end, from the same measurements: molecules that
/// left, means of energy and temperature that move, and mean temperatures that are not their
/// baths'.
std::vector<std::string> end_notes(const Contestant& contestant);

/// The engine of a deck at a start that make_start() gave, and what is measured.
/// @throws what make_engine() throws
Contestant make_contestant(const Deck& deck, const std::string& label, const Start& start);

/// Pair counts of one class: by group of replicas, all together, and the density of the distance
/// with errors.
struct Distances {
  std::vector<std::vector<double>> of_groups;  ///< [group][bin]
  std::vector<double> counts;
  std::vector<double> density_per_A;
  std::vector<double> error_per_A;
};

/// @param frame with pair counts, of `bins` bins of `width_A`; @param pairs of one sample
Distances distances_of(const Frame& frame, PairClass pair_class, int bins, double width_A,
                       double pairs);

analysis::MeanError mean_and_error(const analysis::PooledBlocking& quantity);

}  // namespace tarn
