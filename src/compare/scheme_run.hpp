#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/blocking.hpp"
#include "analysis/halves.hpp"
#include "observe/baths.hpp"
#include "observe/correlations.hpp"
#include "observe/energy_drift.hpp"
#include "observe/observable.hpp"
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

/// Changes of the conserved quantities of each replica, relative to its first sample.
class EnergyConservation {
 public:
  /// Adds a sample; samples must be equidistant in time. @param frame with conservation
  void add(const Frame& frame);

  struct Result {
    analysis::MeanError drift;  ///< per sampling interval, as EnergyDrift
    analysis::MeanError rms;    ///< [kcal/mol]; error from the spread of the replicas
    double max = 0.0;           ///< [kcal/mol]
    double momentum_max = 0.0;  ///< Euclidean norm [Da Å/AKMA time]
    double angular_max = 0.0;   ///< largest change about the origin [Da Å²/AKMA time]
  };
  /// Results for the replicas of the last sample. All are NaN with fewer than two samples, the
  /// drift with fewer than three.
  Result result() const;

 private:
  struct Changes {
    Conservation first;
    double samples = 0.0, squares = 0.0;
    double max = 0.0, momentum_max = 0.0, angular_max = 0.0;
  };

  EnergyDrift drift_;
  std::vector<std::int64_t> last_ids_;
  std::map<std::int64_t, Changes> replicas_;
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

// --- errors of schemes against their cost ---

/// The deck with a scheme, as in `--schemes`, and a step. The run has the same length, and samples
/// energies, distances and correlations at the same times or the nearest multiples of its step.
/// @throws InputError
Deck with_scheme_and_step(const Deck& deck, const std::string& scheme, double timestep_fs);

/// Sets the sampling interval of correlations in a variant with another step to that of `deck`, or
/// the nearest multiple of the step.
void match_correlation_interval(const Deck& deck, Deck& variant);

/// Total variation distance of two histograms, with its jackknife error over the groups of replicas
/// of both. The distance is never negative; for equal distributions it is total_variation_noise().
/// Differences below about twice the noise are not detectable, independent of the error. The error
/// is NaN for a single group.
analysis::MeanError total_variation_and_error(const DistanceHistogram& histogram,
                                              const DistanceHistogram& reference);

/// Expected total variation distance of equal distributions: the mean of half the sum of |p - q| if
/// the bins differ by Gaussian noise only. NaN if the errors of the bins are unknown.
/// @param width_A bin width
double total_variation_noise(const DistanceHistogram& a, const DistanceHistogram& b,
                             double width_A);

/// The errors of a scheme: the difference of <V0> from that of the reference [kcal/mol], or the
/// total variation distance of the OO histogram.
enum class ErrorMeasure { potential, distance };

/// The factor on the length of the runs that reduces the noise of an error to half of a limit; 1 if
/// the error is below the limit, or above it, by more than the noise, or if the noise is less than
/// half of the limit. Infinity for unknown noise.
double times_longer_to_resolve(const SchemeResult& scheme, ErrorMeasure measure, double limit);

/// Whether the costs differ by at most twice the error of the difference.
bool costs_agree_within_errors(const SchemeResult& faster, const SchemeResult& slower);

/// Whether no replica was lost and the error plus twice its uncertainty is below a limit.
bool is_error_below(const SchemeResult& scheme, ErrorMeasure measure, double limit);

/// "2.00", "2.00?" if fitted to only two points, or "-".
std::string order_text(const analysis::OrderFit& fit);

/// A scheme of a comparison with one time step and one number of beads.
struct Variant {
  std::string label;
  Deck deck;
  /// Variants with the same curve differ in the time step or in the number of beads.
  std::size_t curve = 0;
  std::string curve_label;
};

bool has_thermostat(const Deck& deck);

/// One variant per scheme, flow of the free ring, kind of frequencies and number of beads; with
/// CompareOptions::steps the reference, if there is one, and then one variant per scheme, flow,
/// kind and step. The options replace the device and threads of the deck.
/// @throws InputError
std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options);

/// Extrapolates the averages of each curve to infinitely many beads, without those of one bead.
/// Only Trotter frequencies have such a limit curve.
std::vector<SchemeBeadLimit> bead_limits(const std::vector<SchemeResult>& schemes,
                                         const std::vector<Variant>& variants);

/// Convergence order of the rms change of the energy, by curve. Schemes that lost a replica are
/// excluded.
std::vector<SchemeOrder> energy_orders(const std::vector<SchemeResult>& schemes,
                                       const std::vector<Variant>& variants);

}  // namespace tarn
