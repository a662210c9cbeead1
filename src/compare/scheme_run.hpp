#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/blocking.hpp"
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

inline bool has_thermostat(const Deck& deck) { return deck.thermostat.kind != Thermostat::none; }

/// A scheme of a comparison with one time step and one number of beads.
struct Variant {
  std::string label;
  Deck deck;
  std::string curve;  ///< label without the time step or the number of beads
};

/// One variant per scheme, flow of the free ring, kind of frequencies and number of beads; with
/// CompareOptions::steps the reference, if there is one, and then one variant per scheme, flow,
/// kind and step, of the same length and with samples at the same times or the nearest multiples of
/// the step. The options replace the device and threads of the deck.
/// @throws InputError
std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options);

/// Pair counts of one pair class, and the probability density of the distance with errors.
struct DistanceHistogram {
  std::vector<std::vector<double>> group_counts;  ///< [group of replicas][bin]
  std::vector<double> counts;                     ///< of all groups
  std::vector<double> density_per_A;
  std::vector<double> error_per_A;
};
/// @param frame with the pair counts of `rdf`
DistanceHistogram distance_histogram(const Frame& frame, PairClass pair_class,
                                     const ObserveRdf& rdf);

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

/// Changes of the conserved quantities of each replica, relative to its first sample.
class EnergyConservation {
 public:
  /// Adds a sample; samples must be equidistant in time. @param frame with conservation
  void add(const Frame& frame);

  struct Result {
    static constexpr double kNone = SchemeResult::kNone;
    analysis::MeanError drift{kNone, kNone};  ///< per sampling interval, as EnergyDrift
    analysis::MeanError rms{kNone, kNone};    ///< [kcal/mol]; error from the spread of the replicas
    double max = kNone;                       ///< [kcal/mol]
    double momentum_max = kNone;              ///< Euclidean norm [Da Å/AKMA time]
    double angular_max = kNone;               ///< about the origin [Da Å²/AKMA time]
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

/// The means of the columns of path_integral.csv with a limit for many beads.
using BeadMeans = std::vector<std::pair<const RingColumn*, analysis::PooledBlocking>>;

/// The run of one variant among several that are interleaved, with its measurements.
struct SchemeRun : Variant {
  int molecules = 0;  ///< per replica
  std::unique_ptr<Engine> engine;
  std::int64_t sample_every = 0, first_step = 0;  ///< first step that is averaged
  /// Averages over all replicas: temperatures, at last the potential energy.
  std::vector<analysis::PooledBlocking> means;
  BeadMeans rings;                  ///< empty without [path_integral]
  EnergyConservation conservation;  ///< used without a thermostat
  double constraint_max_A2 = 0.0;
  std::unique_ptr<Observer> energies;  ///< averages by bath, and their drift; writes no rows
  std::unique_ptr<EvaporationWatch> evaporation;    ///< null if the deck has a wall
  std::unique_ptr<DissociationWatch> dissociation;  ///< null if the model is rigid
  std::optional<Correlations> correlations;         ///< if the deck has [observe.correlation]
  double wall_seconds = 0.0;                        ///< of stepping
  analysis::PooledBlocking us_per_ps;  ///< one value per slice, weighted by its simulated time
  std::array<DistanceHistogram, kPairClasses> histograms;  ///< set by take_histograms()

  /// Creates the engine of a variant. @param start from make_start()
  /// @param engine_maker empty: make_engine()
  /// @param potential null: the water model
  /// @throws what make_engine() throws
  SchemeRun(Variant variant, const Start& start, const EngineMaker& engine_maker,
            const std::shared_ptr<Potential>& potential);

  /// @pre the deck has [observe.correlation]
  double correlation_interval_fs() const {
    return static_cast<double>(deck.correlation->every) * deck.integrator.timestep_fs;
  }
  /// Steps of all replicas together; stopped replicas count until they were stopped.
  std::int64_t replica_steps() const;
  bool has_lost_all_replicas() const;

  /// Takes the samples that are due at this step.
  void sample();
  /// Advances to a step and takes the samples that are due; only the steps are timed.
  void advance_to(std::int64_t step);
  /// Takes the distance histograms from the engine.
  void take_histograms();

  std::vector<AveragedQuantity> ring_averages() const;
  /// @param first the run that this one is compared with; may be this run
  SchemeResult result(const SchemeRun& first) const;
  /// The warnings that `tarn run` would print about this run: evaporated molecules, broken bonds,
  /// drifting means of energy and temperature, and mean temperatures that differ from those of the
  /// baths.
  Messages warnings() const;

 private:
  std::vector<Observer*> observers() const;
};

/// The errors of a scheme: the difference of <V0> from that of the reference [kcal/mol], or the
/// total variation distance of the OO histogram.
enum class ErrorMeasure { potential, distance };

/// The factor on the length of the runs that reduces the noise of an error to half of a limit; 1 if
/// the error is below the limit, or above it, by more than the noise, or if the noise is less than
/// half of the limit. Infinity for unknown noise.
double times_longer_to_resolve(const SchemeResult& scheme, ErrorMeasure measure, double limit);
/// Whether no replica was lost and the error plus twice its uncertainty is below a limit.
bool is_error_below(const SchemeResult& scheme, ErrorMeasure measure, double limit);

/// Extrapolates the averages of each curve to infinitely many beads, without those of one bead.
/// Only Trotter frequencies have such a limit curve.
std::vector<SchemeBeadLimit> bead_limits(const std::vector<SchemeResult>& schemes);
/// Convergence order of the rms change of the energy, by curve. Schemes that lost a replica are
/// excluded.
std::vector<SchemeOrder> energy_orders(const std::vector<SchemeResult>& schemes);

}  // namespace tarn
