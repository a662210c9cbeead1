#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/analysis/convergence.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/observer.hpp"
#include "tarn/run.hpp"

/// @file
/// Comparison of the speed and accuracy of integration schemes on one deck.

namespace tarn {

struct CompareOptions {
  std::string out_dir;  ///< empty: out/<deck name>-compare
  bool overwrite = false;
  bool pictures = true;                  ///< draw pictures at the end
  std::optional<std::string> device;     ///< overrides the deck
  std::optional<int> threads;            ///< overrides the deck
  EngineMaker make_engine;               ///< of water; empty: tarn::make_engine
  std::shared_ptr<Potential> potential;  ///< as in RunOptions; all schemes call it
  /// Runs each scheme with each of these steps [fs] and compares with a reference. If empty, each
  /// scheme has its own step, and the first scheme is the reference.
  std::vector<double> steps;
  /// A scheme as in `--schemes`. If empty: `settle`, or `verlet` for flexible models, with half of
  /// the smallest step.
  std::string reference;
  /// Runs each scheme of a water deck with each of these numbers of beads. Without `steps`.
  std::vector<int> beads;
  /// Runs each scheme with each of these flows of the free ring, "cayley" or "exact".
  std::vector<std::string> free_rings;
  /// Runs each scheme with each of these kinds of frequencies, "economised" or "trotter".
  std::vector<std::string> frequencies;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const Message&)> on_message;
  /// As in RunOptions, but called at the end; the text begins with the scheme.
  std::function<void(const BlowUp&, const std::string& text)> on_blow_up;
  std::function<void(const RunStart&)> on_start;
  /// As in RunOptions, for all schemes together.
  std::function<void(int done, int replicas)> on_preparation;
  /// Called about twice a second; returning true stops all schemes. Called more often while initial
  /// states of water are prepared; returning true then throws StartInterrupted.
  std::function<bool()> interrupted;
};

/// What the shares of the time of a step contain.
inline constexpr const char* kShareMeanings =
    "Shares of the time. pairs: forces between molecules; bonds: constraints, penalties and "
    "forces\n"
    "of bonds; noise: thermostat, with the steps of the modes of ring polymers; rest: all else.";

/// Results of one scheme. Means exclude the equilibration. Replicas that blew up count in
/// the means and the speed until they were stopped. If all replicas were lost, speed and means are
/// NaN (`nan` in compare.csv), as are differences from a first scheme that lost all replicas.
struct SchemeResult {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  static constexpr analysis::MeanError kNoMean{kNone, kNone};

  std::string label{};              ///< as given to `--schemes`
  std::string curve{};              ///< label without the time step or the number of beads
  double steps_per_second = kNone;  ///< cluster-steps, all replicas together
  double ns_per_day = kNone;        ///< all replicas together
  double pair_share = kNone, bond_share = kNone, noise_share = kNone, rest_share = kNone;
  double iterations_per_step = kNone;  ///< SHAKE iterations per molecule; 0 if there are none
  analysis::MeanError temperature_K = kNoMean;
  /// By class of degrees of freedom.
  analysis::MeanError translation_K = kNoMean, rotation_K = kNoMean, bond_K = kNoMean;
  analysis::MeanError potential_kcal_per_mol = kNoMean;
  /// Integrated autocorrelation time of the potential energy, and independent samples of it per
  /// second of wall time, all replicas together.
  double autocorrelation_ps = kNone;
  double independent_samples_per_second = kNone;
  double constraint_max_A2 = 0.0;  ///< largest |d.d - r0^2| of the reported positions
  double us_per_ps = kNone;        ///< wall time per picosecond of one cluster
  double us_per_ps_err = kNone;    ///< standard error from the spread of the slices; NaN if unknown
  /// From the mean of the first scheme.
  analysis::MeanError potential_difference_kcal_per_mol = kNoMean;
  double oo_total_variation = kNone;  ///< of the OO histogram against the first scheme
  double oo_total_variation_err = kNone;
  double oo_total_variation_noise = kNone;  ///< expected value for equal distributions
  double oo_kolmogorov_smirnov = kNone;     ///< Kolmogorov-Smirnov distance of the same histograms
  double oo_mean_distance_A = kNone;
  // Without a thermostat, otherwise NaN. For the remaining replicas; changes are relative to the
  // first sample after the equilibration.
  /// Slope of the total energy of a cluster against time; standard error of the mean over replicas.
  analysis::MeanError energy_drift_kcal_per_mol_per_ps = kNoMean;
  analysis::MeanError energy_rms_kcal_per_mol = kNoMean;  ///< rms change per cluster
  double energy_max_kcal_per_mol = kNone;                 ///< largest change of a cluster
  double momentum_max_Da_A_per_ps = kNone,
         angular_momentum_max_Da_A2_per_ps = kNone;  ///< largest change
  /// Correlation times as in averages.csv; empty without [observe.correlation].
  std::vector<AveragedQuantity> correlation_times{};
  double correlation_interval_fs = 0.0;  ///< sampling interval
  /// A correlation time by its name; null if there is none.
  const AveragedQuantity* correlation_time(std::string_view quantity) const;
  int beads = 1;
  RingFrequencies frequencies = RingFrequencies::trotter;
  /// Averages as in path_integral.csv; empty without [path_integral], or if all replicas were lost.
  std::vector<AveragedQuantity> rings{};
  std::int64_t departed_replicas = 0;  ///< replicas with evaporated molecules; 0 with a wall
  std::int64_t steps = 0;
  double timestep_fs = 0.0;
  std::vector<BlowUp> blow_ups;
};

/// Convergence order of a scheme.
struct SchemeOrder {
  std::string label;
  std::string quantity;  ///< "energy": its rms change
  analysis::OrderFit fit;
};

/// Extrapolation of an average of a scheme to infinitely many beads.
struct SchemeBeadLimit {
  std::string label;     ///< scheme, without its number of beads
  std::string quantity;  ///< column of path_integral.csv
  analysis::BeadLimit fit;
};

struct CompareResult {
  std::string out_dir;
  std::vector<SchemeResult> schemes;
  int molecules = 0;
  std::vector<SchemeOrder> orders;  ///< with CompareOptions::steps, without a thermostat
  /// With CompareOptions::beads, of schemes with Trotter frequencies: only these converge as 1/P^2.
  std::vector<SchemeBeadLimit> bead_limits;
  std::vector<std::string> pictures;
  std::string device;
  bool interrupted = false;
};

/// The fastest scheme for a given accuracy, with CompareOptions::steps.
struct CheapestScheme {
  std::string within;  ///< "<V0> to 1 % of 3(N-1)kT", "OO histogram to 0.01"
  std::string label;   ///< empty if no scheme is accurate enough, or if it is not resolved
  double us_per_ps = 0.0;
  double us_per_ps_err = 0.0;
  /// Other schemes that are accurate enough and equally fast, within twice the error of the
  /// difference; the fastest first.
  std::vector<std::string> ties{};
  /// Above 1: noise hides whether a faster scheme is accurate enough; runs this many times longer
  /// decide it. Infinity: an error is unknown.
  double times_longer = 1.0;
};
/// The fastest schemes whose error plus twice its uncertainty is below several limits. The first
/// scheme is the reference. Schemes that have lost a replica are excluded.
///
/// Limits of <V0> are fractions of 3 (N - 1) kT, the potential energy of a harmonic cluster above
/// its minimum, at the temperature of the reference. Fractions of <V0> itself would be meaningless,
/// because most of it is the constant energy of the minimum.
/// @param molecules N; there is no <V0> for one molecule
std::vector<CheapestScheme> cheapest_schemes(const std::vector<SchemeResult>& schemes,
                                             int molecules);
/// Runs a deck with each scheme for the same time.
///
/// All schemes start from the same structure, which penalty schemes relax first unless
/// the deck has `relax = false`. The runs are interleaved in slices of about a quarter of a second,
/// and at most a few per cent of the run, so that other load on the machine affects all of them
/// equally. If interrupted, all stop at the same time, to within a step.
///
/// | file | content |
/// |---|---|
/// | `compare.csv` | one row per scheme |
/// | `rdf.csv` | pair counts, probability densities and their errors, by scheme |
/// | `rdf.svg` | the same, without schemes that lost all replicas |
/// | `compare.json` | deck, schemes and status |
/// | `correlation.csv` | with [observe.correlation]: time correlation functions, by scheme |
/// | `correlation_times.csv` | with [observe.correlation]: one row per scheme |
/// | `correlation.svg` | with [observe.correlation]; without schemes that lost all replicas |
/// | `errors.svg` | with CompareOptions::steps: errors against cost |
/// | `orders.csv` | with CompareOptions::steps, without a thermostat: convergence orders |
/// | `beads.csv` | with [path_integral]: energies and radii of gyration, by scheme |
/// | `bead_limits.csv` | with CompareOptions::beads and Trotter frequencies: extrapolation |
/// | `beads.svg` | with CompareOptions::beads, or with `steps` and [path_integral] |
///
/// With CompareOptions::steps, the first scheme is the reference. It has independent noise and
/// twice the replicas, unless the deck's state or baths do not allow that. Each other scheme runs
/// with each step, and all are sampled at the same times or at the nearest multiples of their
/// steps. Without a thermostat, averages depend on the initial state, so there is no reference:
/// `errors.svg` shows the rms change of the total energy against step and cost.
///
/// @param schemes "scheme" or "scheme:key=value:...", with keys of [integrator]
/// @throws InputError, IoError, NumericalError, DeviceError
CompareResult compare_schemes(const Deck& deck, const std::vector<std::string>& schemes,
                              const CompareOptions& options);

}  // namespace tarn
