#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/blocking.hpp"
#include "analysis/halves.hpp"
#include "energy_conservation.hpp"
#include "observe/baths.hpp"
#include "observe/correlations.hpp"
#include "observe/ring_columns.hpp"
#include "run/run_observers.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/compare.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/start.hpp"

namespace tarn {

/// A quantity whose mean is constant in equilibrium, over the replicas of one bath.
struct StationaryQuantity {
  analysis::PooledBlocking mean;
  analysis::Halves halves;

  static StationaryQuantity of_replicas(int replicas);
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> values);
};

/// The columns of path_integral.csv with a limit for many beads.
const std::vector<RingColumn>& bead_columns();

/// Averages of the columns of path_integral.csv over all replicas and samples.
class BeadAverages {
 public:
  explicit BeadAverages(int replicas);

  /// @param frame with kRings
  void add(const Frame& frame);
  /// @param interval_ps between samples
  std::vector<AveragedQuantity> result(double interval_ps) const;

 private:
  std::vector<analysis::PooledBlocking> means_;
};

/// Pair counts of one pair class, and the probability density of the distance with errors.
struct DistanceHistogram {
  std::vector<std::vector<double>> group_counts;  ///< [group of replicas][bin]
  std::vector<double> counts;                     ///< of all groups
  std::vector<double> density_per_A;
  std::vector<double> error_per_A;
};

/// The run of one scheme among several that are interleaved, with its measurements.
struct SchemeRun {
  std::string label;
  Deck deck;
  int molecules = 0;  ///< per replica
  std::unique_ptr<Engine> engine;
  analysis::PooledBlocking temperature, translation, rotation, bond, potential;
  std::optional<Baths> baths;
  std::vector<StationaryQuantity> temperature_of_bath, potential_of_bath;  ///< [bath]
  EnergyConservation conservation;  ///< used without a thermostat
  double constraint_max_A2 = 0.0;
  std::optional<BeadAverages> rings;         ///< if the deck has [path_integral]
  std::optional<Correlations> correlations;  ///< if the deck has [observe.correlation]
  double wall_seconds = 0.0;                 ///< of stepping
  analysis::PooledBlocking us_per_ps;  ///< one value per slice, weighted by its simulated time
  std::array<DistanceHistogram, kPairClasses> histograms;  ///< set by take_histograms()
  std::int64_t sample_every = 100;
  std::int64_t first_step = 0;                      ///< first step that is averaged
  std::unique_ptr<EvaporationWatch> evaporation;    ///< null if the deck has a wall
  std::unique_ptr<DissociationWatch> dissociation;  ///< null if the model is rigid

  /// @pre the deck has [observe.correlation]
  double correlation_interval_fs() const {
    return static_cast<double>(deck.correlation->every) * deck.integrator.timestep_fs;
  }
  /// Steps of all replicas together; stopped replicas count until they were stopped.
  std::int64_t replica_steps() const;
  bool has_lost_all_replicas() const;

  /// Takes the samples that are due at this step: energies, correlations and evaporation.
  void sample();
  /// Advances to a step and takes the samples that are due; only the steps are timed.
  void advance_to(std::int64_t step);
  /// Takes the distance histograms from the engine.
  void take_histograms();
};

/// The warnings that `tarn run` would print about this run: evaporated molecules, broken bonds,
/// drifting means of energy and temperature, and mean temperatures that differ from those of the
/// baths.
Messages end_warnings(const SchemeRun& run);

/// Creates the engine of a deck and its measurements. @param start from make_start()
/// @param engine_maker empty: make_engine()
/// @param potential null: the water model
/// @throws what make_engine() throws
SchemeRun make_scheme_run(const Deck& deck, const std::string& label, const Start& start,
                          const EngineMaker& engine_maker = {},
                          const std::shared_ptr<Potential>& potential = {});

/// @param frame with pair counts, of `bins` bins of `width_A`; @param pairs number of pairs per
/// sample
DistanceHistogram distance_histogram(const Frame& frame, PairClass pair_class, int bins,
                                     double width_A, double pairs);

/// The results of a run. @param first the run that it is compared with; may be the run itself
SchemeResult scheme_result(const SchemeRun& run, const SchemeRun& first);

analysis::MeanError mean_and_error(const analysis::PooledBlocking& quantity);

}  // namespace tarn
