#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tarn/analysis/convergence.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/observer.hpp"
#include "tarn/run.hpp"

/// @file
/// The benchmark against SHAKE: several schemes from one deck, side by side.

namespace tarn {

struct CompareOptions {
  std::string out_dir;  ///< empty: out/<deck name>-compare
  bool overwrite = false;
  std::optional<std::string> device;  ///< replaces the deck's
  std::optional<int> threads;
  /// Each scheme with each of these steps, against a reference. Of water in fs; empty: every scheme
  /// has its own step, and of water the first one is the reference.
  std::vector<double> steps;
  /// A scheme as in `--schemes`; empty: of water `settle` with half of the smallest of the steps,
  /// of a mechanical system the exact solution of the equations that each scheme solves. There
  /// `rigid` is that with rigid constraints, for all of them.
  std::string reference;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_warning;
  /// As in RunOptions; the text begins with the scheme. Told at the end.
  std::function<void(const BlowUp&, const std::string& text)> on_blow_up;
  std::function<void(const RunStart&)> on_start;
  /// As in RunOptions, of all schemes together.
  std::function<void(int done, int replicas)> on_making_start;
  /// Asked about twice a second; true ends all of them. Asked more often while the starts of water
  /// are made; there true throws StartInterrupted.
  std::function<bool()> interrupted;
};

/// What came of one scheme. Means leave out the equilibration; a replica that blew up counts in
/// them, and its steps in the speed, until it was stopped. Of a scheme that has lost all replicas
/// there is no speed and no mean: these numbers, and those against the first scheme if it is that
/// one, are NaN, and `nan` in compare.csv.
struct SchemeResult {
  std::string label;              ///< as given to `--schemes`
  double steps_per_second = 0.0;  ///< of all replicas together: cluster-steps
  double ns_per_day = 0.0;        ///< of all replicas together
  double pair_share = 0.0, bond_share = 0.0, noise_share = 0.0, rest_share = 0.0;
  double iterations_per_step = 0.0;  ///< of SHAKE, per molecule; 0 for schemes without iteration
  analysis::MeanError temperature_K;
  analysis::MeanError translation_K, rotation_K, bond_K;  ///< by class of degrees of freedom
  analysis::MeanError potential_kcal_per_mol;
  /// Integrated autocorrelation time of the potential energy, and samples of it that are worth an
  /// independent one, per second of all replicas together.
  double autocorrelation_ps = 0.0;
  double independent_samples_per_second = 0.0;
  double constraint_max_A2 = 0.0;  ///< largest |d.d - r0^2| of the reported positions
  double us_per_ps = 0.0;          ///< time for a picosecond of one cluster
  double us_per_ps_err = 0.0;      ///< standard error by the spread of the turns; NaN: not known
  analysis::MeanError potential_difference_kcal_per_mol;  ///< from the mean of the first scheme
  double oo_total_variation = 0.0;  ///< of the OO histogram against the first scheme
  double oo_total_variation_err = 0.0;
  double oo_total_variation_noise = 0.0;  ///< what it would be without any difference
  double oo_kolmogorov_smirnov = 0.0;     ///< the same, largest difference of the sums
  double oo_mean_distance_A = 0.0;
  // Without a thermostat, else NaN. Of the replicas that are left; changes are those since the
  // first sample after the equilibration.
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  /// Slope of the total energy of a cluster against time; the error is that of the replicas' mean.
  analysis::MeanError energy_drift_kcal_per_mol_per_ps{kNone, kNone};
  analysis::MeanError energy_rms_kcal_per_mol{kNone, kNone};  ///< of its change, a cluster
  double energy_max_kcal_per_mol = kNone;                     ///< largest change of a cluster
  double momentum_max_Da_A_per_ps = kNone, angular_momentum_max_Da_A2_per_ps = kNone;  ///< likewise
  /// With [observe.correlation], else empty: correlation times, as in averages.csv.
  std::vector<AveragedQuantity> correlation_times{};
  double correlation_interval_fs = 0.0;  ///< from one sample of them to the next
  /// One of the times by its name; null where there is none.
  const AveragedQuantity* correlation_time(std::string_view quantity) const;
  std::int64_t departed_replicas = 0;  ///< that a molecule left; 0 behind a wall
  std::int64_t steps = 0;
  double timestep_fs = 0.0;
  std::vector<BlowUp> blow_ups;
};

/// Euclidean norms of the difference of two trajectories in the columns `q0`... and `v0`... of
/// trajectory.csv; NaN: not known, or the columns hold something else.
struct TrajectoryErrors {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double q_max = kNone, q_end = kNone;  ///< largest of the samples, and at the end
  double v_max = kNone, v_end = kNone;
};

/// What came of one scheme of a mechanical system.
struct MechanicsSchemeResult {
  std::string label;
  std::int64_t steps = 0;
  double step = 0.0;  ///< its length
  /// mechanics::Costs of the start and all steps.
  std::int64_t force_evaluations = 0, hessian_evaluations = 0, third_derivative_evaluations = 0;
  std::int64_t iterations = 0;
  double forces_per_time = TrajectoryErrors::kNone;  ///< for a unit of time; NaN when it failed
  double steps_per_second = 0.0;
  double us_per_time = TrajectoryErrors::kNone;  ///< for a unit of time; NaN when it failed
  double linear_solves_per_step = 0.0;
  double iterations_per_step = 0.0;  ///< of Newton's method or of sweeps
  /// Largest change of each conserved quantity since the start, of the samples; names and values,
  /// which are NaN when it failed.
  std::vector<std::pair<std::string, double>> changes;
  std::string failure;  ///< why it stopped; empty when it did not
  // With CompareOptions::steps:
  std::size_t scheme = 0;  ///< which of the schemes, by its place
  std::string reference;   ///< what the errors are against, with its step
  TrajectoryErrors errors;
  TrajectoryErrors reference_errors;  ///< of the reference itself: bounds by its step doubled
};

/// How fast the error of a scheme vanishes with its step.
struct SchemeOrder {
  std::string label;
  std::string quantity;  ///< "q" or "v", the largest error of the samples; of water "energy", rms
  analysis::OrderFit fit;
  /// What a step costs, on average of the runs with all steps.
  double forces_per_step = TrajectoryErrors::kNone, hessians_per_step = TrajectoryErrors::kNone;
  double iterations_per_step = TrajectoryErrors::kNone;
};

struct CompareResult {
  std::string out_dir;
  std::vector<SchemeResult> schemes;             ///< of water
  int molecules = 0;                             ///< of water
  std::vector<MechanicsSchemeResult> mechanics;  ///< of a mechanical system
  /// With CompareOptions::steps, of a mechanical system and of water without a thermostat.
  std::vector<SchemeOrder> orders;
  double time = 0.0;  ///< of a mechanical system with CompareOptions::steps, its length
  std::vector<std::string> pictures;
  std::string device;
  bool interrupted = false;
};

/// Of water, as `timestep_fs` is in CompareOptions::steps.
struct CheapestScheme {
  std::string within;  ///< "<V0> to 1 % of 3(N-1)kT", "OO histogram to 0.01"
  std::string label;   ///< empty: none
  double us_per_ps = 0.0;
  double us_per_ps_err = 0.0;
  /// Others that are within and take as long, to twice the error of the difference; the fastest
  /// first.
  std::vector<std::string> ties{};
};
struct CheapestMechanicsScheme {
  std::string reference;  ///< those against another solve other equations
  double within = 0.0;
  std::string label;
  double us_per_time = 0.0;
};
/// Which schemes take the least time for an error that, with twice its own uncertainty, is at most
/// so large. The first scheme is the reference. Those that have lost a replica are left out.
///
/// Of <V0> shares of 3 (N - 1) kT are wanted, what a harmonic cluster has above its minimum, at the
/// temperature of the reference: of <V0> itself a cold cluster has next to nothing that moves.
/// @param molecules N; of one there is no <V0>
std::vector<CheapestScheme> cheapest_schemes(const std::vector<SchemeResult>& schemes,
                                             int molecules);
/// The same of a mechanical system, in µs for a unit of time: the largest error of q, by decades,
/// of those with the same reference. None counts as less than ten times the reference's own.
std::vector<CheapestMechanicsScheme> cheapest_schemes(
    const std::vector<MechanicsSchemeResult>& schemes);

/// Runs a deck with each scheme, all from the same structure, which penalty schemes relax first
/// unless the deck says `relax = false`, and over the same time, in turns of about a quarter of a
/// second, a few per cent of the run at most, so that whatever else the machine does falls on all
/// of them alike. Where it is interrupted, all end at the same time, to a step. Writes
/// `compare.csv` (a row a scheme), `rdf.csv` (pair counts, probability densities and their errors
/// by scheme) and the picture `rdf.svg`, which leaves out schemes that have lost all replicas, and
/// `compare.json` with the deck, the schemes and how it ended. Of a deck with [observe.correlation]
/// there are `correlation.csv` (time correlation functions, scheme after scheme),
/// `correlation_times.csv` (a row a scheme) and `correlation.svg`, without schemes that have lost
/// all replicas.
///
/// With CompareOptions::steps the first of the schemes is the reference, which has other noise and
/// twice the replicas, unless the deck's state or its baths allow no other number; each of the
/// others runs with each of the steps, all look at the same times as far as their steps allow, and
/// `errors.svg` draws errors against cost. Without a thermostat
/// averages are those of the start: there is no reference then, `errors.svg` draws the rms change
/// of the total energy against step and cost, and `orders.csv` has its order by scheme.
///
/// Of a mechanical system `compare.csv` has other columns, and there is no `rdf.csv`. `drift.csv`
/// and `drift.svg` tell how the conserved quantities change, at up to 2000 times.
///
/// With CompareOptions::steps each of the schemes runs with each of the steps, to the last time
/// before the end that is a whole number of all of them, and what it finds is compared at up to
/// 1000 common times with a reference: by default an accurate solution of the equations that the
/// scheme solves, which are those of rigid constraints or those of a penalty with its omega. The
/// reference has a quarter of the smallest step, halved until its own error, estimated by the
/// difference from twice its step, is a hundredth of the smallest error, or until that does not
/// help or would take more than 64 times the steps of the smallest step and 3e7 positions and
/// velocities. `orders.csv` has the orders of convergence, analysis::fit_order(), and `errors.svg`
/// draws errors against step, time and evaluations of the force; there is no `drift.csv` then. All
/// are timed five times in turns, as far as that takes four seconds, and the shortest time counts.
///
/// @param schemes "scheme" or "scheme:key=value:...", keys of [integrator]
/// @throws InputError, IoError, NumericalError, DeviceError
CompareResult compare_schemes(const Deck& deck, const std::vector<std::string>& schemes,
                              const CompareOptions& options);

}  // namespace tarn
