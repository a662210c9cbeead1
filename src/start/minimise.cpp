#include "tarn/minimise.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/isomers.hpp"
#include "cluster_coordinates.hpp"
#include "core/parallel.hpp"
#include "start_sources.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/modes.hpp"
#include "tarn/start.hpp"
#include "tarn/state.hpp"

namespace tarn::start {
namespace {

/// The last pairs (s, y) and the two-loop recursion over them.
class LbfgsMemory {
 public:
  /// @param length largest number of pairs
  /// @param first_scale inverse Hessian while there are no pairs
  LbfgsMemory(int length, double first_scale) : length_(length), first_scale_(first_scale) {}

  void clear() { pairs_.clear(); }

  /// Stores a pair unless its curvature is too small or negative.
  void add(const Eigen::VectorXd& s, const Eigen::VectorXd& y) {
    const double sy = s.dot(y), yy = y.squaredNorm();
    if (!(sy > 1e-10 * std::sqrt(s.squaredNorm() * yy))) return;
    Pair pair;
    if (static_cast<int>(pairs_.size()) == length_) {
      pair = std::move(pairs_.front());
      pairs_.pop_front();
    }
    pair.s = s;
    pair.y = y;
    pair.inverse_sy = 1.0 / sy;
    pair.scale = sy / yy;
    pairs_.push_back(std::move(pair));
  }

  /// -H gradient.
  void direction(const Eigen::VectorXd& gradient, Eigen::VectorXd& p) {
    p = -gradient;
    for (auto it = pairs_.rbegin(); it != pairs_.rend(); ++it) {
      it->alpha = it->inverse_sy * it->s.dot(p);
      p -= it->alpha * it->y;
    }
    p *= pairs_.empty() ? first_scale_ : pairs_.back().scale;
    for (Pair& pair : pairs_) {
      const double beta = pair.inverse_sy * pair.y.dot(p);
      p += (pair.alpha - beta) * pair.s;
    }
  }

 private:
  struct Pair {
    Eigen::VectorXd s, y;
    double inverse_sy = 0.0, scale = 0.0, alpha = 0.0;
  };
  int length_;
  double first_scale_;
  std::deque<Pair> pairs_;
};

/// L-BFGS with limited step lengths and backtracking (Armijo condition). Coordinates are relative
/// to the current point, which every accepted step moves.
///
/// Near a minimum, the energies of a potential that is not computed in double precision are mostly
/// noise, while its forces still decrease. A step is then also accepted by the slope at its end,
/// the approximate Wolfe condition of Hager & Zhang, SIAM J. Optim. 16, 170 (2005), and the
/// minimisation ends when neither energy nor forces have improved for a while.
///
/// A Problem has
///   int size()
///   double energy(VectorXd& gradient)                             at the current point
///   double try_step(const VectorXd& step, VectorXd& gradient)     energy after the step
///   void accept()                                                 makes the last trial current
///   double step_limit(const VectorXd& step)                       largest allowed factor of a step
///   double first_scale()                                          rough inverse Hessian
///   double max_gradient(const VectorXd& gradient)                 in physical units
/// @param is_noisy whether the energy has errors beyond rounding
/// @param likely_cause of an energy that is not finite, for the message
/// @throws NumericalError if the energy at the start is not finite
template <class Problem>
MinimiseResult minimise(Problem& problem, const MinimiseOptions& options, bool is_noisy = false,
                        const char* likely_cause = "atoms of two molecules may coincide") {
  constexpr int kMemory = 10;
  constexpr int kMaxTries = 30;
  constexpr double kArmijo = 1e-4;
  constexpr double kNoise = 1e-6;  // of noisy energies, relative; the value of Hager & Zhang
  constexpr int kPatience = 200;   // iterations without improvement
  const int n = problem.size();
  Eigen::VectorXd gradient(n), new_gradient(n), p(n);
  LbfgsMemory memory(kMemory, problem.first_scale());

  MinimiseResult r;
  double energy = problem.energy(gradient);
  if (!std::isfinite(energy)) {
    throw NumericalError(fmt::format(
        "the energy of the structure is not finite: {}. Correct the structure before minimising it",
        likely_cause));
  }
  r.start_energy_kcal_per_mol = energy;
  double lowest_energy = energy, lowest_gradient = std::numeric_limits<double>::infinity();
  int improved = 0;  // the last iteration that improved one of them
  for (;; ++r.iterations) {
    r.energy_kcal_per_mol = energy;
    r.max_gradient_kcal_per_mol_A = problem.max_gradient(gradient);
    r.converged = r.max_gradient_kcal_per_mol_A <= options.tolerance_kcal_per_mol_A;
    if (r.converged || r.iterations >= options.max_iterations) return r;
    if (options.should_continue && !options.should_continue()) return r;
    if (options.on_iteration) options.on_iteration(r);

    // Energy differences below these are round-off and noise, which the user of a tolerance accepts
    // per angstrom.
    const double slack = 1e-12 * (1.0 + std::abs(energy));
    const double noise =
        std::max(kNoise * (1.0 + std::abs(energy)), options.tolerance_kcal_per_mol_A);
    if (energy < lowest_energy - noise || r.max_gradient_kcal_per_mol_A < lowest_gradient) {
      improved = r.iterations;
      lowest_energy = std::min(lowest_energy, energy);
      lowest_gradient = std::min(lowest_gradient, r.max_gradient_kcal_per_mol_A);
    } else if (is_noisy && r.iterations - improved > kPatience) {
      return r;
    }
    bool moved = false;
    for (int restart = 0; restart < 2 && !moved; ++restart) {
      memory.direction(gradient, p);
      double slope = gradient.dot(p);
      if (!(slope < 0.0)) {
        memory.clear();
        continue;
      }
      double factor = std::min(1.0, problem.step_limit(p));
      for (int tries = 0; tries < kMaxTries; ++tries) {
        const double new_energy = problem.try_step(factor * p, new_gradient);
        const bool descends = new_energy <= energy + kArmijo * factor * slope + slack;
        const bool flattens = is_noisy && new_energy <= energy + noise &&
                              new_gradient.dot(p) <= (2.0 * kArmijo - 1.0) * slope;
        if (descends || flattens) {
          memory.add(factor * p, new_gradient - gradient);
          problem.accept();
          energy = new_energy;
          gradient.swap(new_gradient);
          moved = true;
          break;
        }
        // The minimum of the parabola through both energies and the slope, within bounds.
        const double rise = new_energy - energy - factor * slope;
        const double best = std::isfinite(rise) ? -0.5 * factor * slope / rise : 0.0;
        factor *= std::clamp(best, 0.1, 0.5);
      }
      if (!moved) memory.clear();
    }
    if (!moved) return r;
  }
}

}  // namespace
}  // namespace tarn::start

namespace tarn {
namespace {

/// Below the energy of any water cluster [kcal/mol per molecule]: the molecules have dissociated.
constexpr double kDissociated = -200.0;
/// Largest displacement of an atom in a push off a saddle point.
constexpr double kPush_A = 0.1;
/// Larger numbers of successive saddle points are caused by rounding.
constexpr int kMaxSaddlePoints = 20;

/// A fourth derivative of the energy along a soft mode, divided by six [kcal/mol/A^4]: with a
/// displacement d, differences of forces have an error of this times d^2.
constexpr double kFourthDerivative = 400.0;

void check_size(const ForceField& force_field, std::span<const double> positions_A) {
  if (positions_A.size() != 9 * static_cast<std::size_t>(force_field.molecules())) {
    throw InputError(fmt::format(
        "{} coordinates do not match a cluster of {} molecules, which has 9 per molecule",
        positions_A.size(), force_field.molecules()));
  }
}

/// Whether second derivatives are differences of forces.
bool by_differences(const ForceField& force_field) {
  return force_field.potential() || force_field.model().is_many_body();
}

bool can_find_saddle_points(const ForceField& force_field) {
  const int most = by_differences(force_field) ? kMostSaddleMolecules
                                               : most_mode_molecules(!force_field.is_flexible());
  return force_field.molecules() <= most;
}

/// The displacements of the lowest mode at a stationary point if its curvature is below minus a
/// threshold, else empty.
std::vector<double> descending_mode(const ForceField& force_field,
                                    std::span<const double> positions_A,
                                    double tolerance_kcal_per_mol_A) {
  // With a smaller curvature the push would not lead to forces above the tolerance.
  const double curvature = tolerance_kcal_per_mol_A / kPush_A;
  const WaterModel& model = force_field.model();
  NormalModes modes;
  if (by_differences(force_field)) {
    // The errors of the forces and of the truncation are then about equal.
    const double displacement_A = std::cbrt(tolerance_kcal_per_mol_A / kFourthDerivative);
    modes = force_field.potential()
                ? normal_modes(model, positions_A, *force_field.potential(), displacement_A)
                : normal_modes(model, positions_A);
    const double lowest = modes.modes.front().wavenumber_per_cm / units::wavenumber_per_cm(1.0);
    if (!(lowest < -std::sqrt(curvature))) return {};
  } else {
    if (!has_negative_curvature(model, positions_A, curvature)) return {};
    modes = normal_modes(model, positions_A);
  }
  modes.displacements_per_sqrt_Da.resize(positions_A.size());
  return std::move(modes.displacements_per_sqrt_Da);
}

}  // namespace

MinimiseResult quench(ForceField& force_field, std::span<double> positions_A,
                      const MinimiseOptions& options) {
  check_size(force_field, positions_A);
  start::MolecularCluster cluster(
      force_field, force_field.is_flexible() ? std::optional(0.0) : std::nullopt, positions_A);
  const MinimiseResult result = start::minimise(
      cluster, options, force_field.potential() != nullptr,
      force_field.potential()              ? "the potential returned an energy or force that is not"
      : force_field.model().is_many_body() ? "molecules are too close, or an O-H bond is broken"
                                           : "atoms of two molecules may coincide");
  cluster.write(positions_A);
  return result;
}

MinimiseResult quench_to_minimum(ForceField& force_field, std::span<double> positions_A,
                                 const MinimiseOptions& options) {
  MinimiseResult here = quench(force_field, positions_A, options);
  if (!can_find_saddle_points(force_field)) return here;
  // Without exact second derivatives, a mode may only seem to descend.
  const double least_descent =
      force_field.potential() ? analysis::kSameMinimum_A * options.tolerance_kcal_per_mol_A : 0.0;
  while (here.converged && here.saddle_points < kMaxSaddlePoints) {
    const std::vector<double> lowest =
        descending_mode(force_field, positions_A, options.tolerance_kcal_per_mol_A);
    if (lowest.empty()) break;
    const double largest =
        std::abs(*std::max_element(lowest.begin(), lowest.end(),
                                   [](double a, double b) { return std::abs(a) < std::abs(b); }));
    const std::vector<double> saddle(positions_A.begin(), positions_A.end());
    const double below = here.energy_kcal_per_mol - least_descent;
    MinimiseResult lower = here;
    int iterations = here.iterations;
    for (const double push : {kPush_A / largest, -kPush_A / largest}) {
      std::vector<double> x = saddle;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += push * lowest[i];
      const MinimiseResult r = quench(force_field, x, options);
      iterations += r.iterations;
      if (!(r.energy_kcal_per_mol < std::min(lower.energy_kcal_per_mol, below))) continue;
      lower = r;
      std::copy(x.begin(), x.end(), positions_A.begin());
    }
    const bool left = lower.energy_kcal_per_mol < here.energy_kcal_per_mol;
    lower.start_energy_kcal_per_mol = here.start_energy_kcal_per_mol;
    lower.iterations = iterations;
    lower.saddle_points = here.saddle_points + (left ? 1 : 0);
    here = lower;
    if (!left) break;
  }
  return here;
}

MinimiseResult relax_penalised(ForceField& force_field, double omega, std::span<double> positions_A,
                               const MinimiseOptions& options) {
  check_size(force_field, positions_A);
  if (force_field.is_flexible()) {
    throw InputError(force_field.potential() ? "molecules of a potential have no penalty"
                                             : "flexible water models have no penalty");
  }
  if (force_field.model().is_many_body()) throw InputError("many-body models have no penalty");
  if (!(omega > 0.0) || !std::isfinite(omega)) {
    throw InputError("omega must be positive and finite to relax a penalised cluster");
  }
  start::MolecularCluster cluster(force_field, omega, positions_A);
  const MinimiseResult result = start::minimise(cluster, options);
  // Hydrogens have no repulsion: a dissociated hydrogen falls into the oxygen of another molecule.
  if (!(result.energy_kcal_per_mol > kDissociated * std::max(1, force_field.molecules()))) {
    throw NumericalError(
        fmt::format("omega = {:g} is too small: molecules dissociate during the relaxation. Use a "
                    "larger omega, or set relax = false in the deck",
                    omega));
  }
  cluster.write(positions_A);
  return result;
}

RigidFit fit_rigid_geometry(const WaterModel& model, std::span<double> positions_A) {
  const start::Triangle triangle(model);
  RigidFit fit;
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    double* x = &positions_A[9 * m];
    const Eigen::Matrix3d old = Eigen::Map<const Eigen::Matrix3d>(x);
    start::MoleculeFrame frame;
    if (!start::MoleculeFrame::nearest_rigid(model, x, frame)) start::throw_degenerate(m);
    frame.place(triangle, x);
    const double move = (Eigen::Map<const Eigen::Matrix3d>(x) - old).colwise().norm().maxCoeff();
    if (move > fit.largest_move_A) fit = {move, static_cast<int>(m)};
  }
  return fit;
}

std::vector<MinimiseResult> minimise_clusters(const WaterModel& model, int molecules,
                                              std::span<double> positions_A, int threads,
                                              const MinimiseOptions& options,
                                              std::shared_ptr<Potential> potential) {
  const std::size_t size =
      static_cast<std::size_t>(molecules > 0 ? molecules : 0) * kCoordinatesPerMolecule;
  if (size == 0 || positions_A.size() % size != 0) {
    throw InputError(fmt::format("minimise: {} coordinates are not whole clusters of {} molecules",
                                 positions_A.size(), molecules));
  }
  const std::string where = "positions";
  const auto name_of = [&](std::size_t at) {
    return size == positions_A.size() ? where : fmt::format("{}[{}]", where, at / size);
  };
  const bool flexible = potential != nullptr || model.is_flexible();
  std::vector<Problem> problems;  // of all clusters
  for (std::size_t at = 0; at < positions_A.size(); at += size) {
    std::ranges::move(
        io::bond_length_problems(model, flexible, positions_A.subspan(at, size), name_of(at)),
        std::back_inserter(problems));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  for (std::size_t at = 0; at < positions_A.size() && !flexible; at += size) {
    make_rigid(model, positions_A.subspan(at, size), name_of(at));
  }
  std::mutex one_at_a_time;
  MinimiseOptions shared = options;
  if (options.should_continue) {
    shared.should_continue = [&] {
      const std::lock_guard lock(one_at_a_time);
      return options.should_continue();
    };
  }
  if (options.on_iteration) {
    shared.on_iteration = [&](const MinimiseResult& result) {
      const std::lock_guard lock(one_at_a_time);
      options.on_iteration(result);
    };
  }
  std::vector<MinimiseResult> results(positions_A.size() / size);
  const auto minimise = [&](ForceField& force_field, std::int64_t r) {
    const auto cluster = static_cast<std::size_t>(r);
    try {
      results[cluster] =
          quench_to_minimum(force_field, positions_A.subspan(cluster * size, size), shared);
    } catch (const NumericalError& error) {
      throw NumericalError(fmt::format("{}: {}", name_of(cluster * size), error.what()));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", name_of(cluster * size), error.what()));
    }
  };
  if (potential) {
    std::vector<std::int64_t> ids(results.size());
    std::iota(ids.begin(), ids.end(), 0);
    start::share_calls(*potential, ids, std::ssize(ids),
                       [&](std::int64_t r, const std::shared_ptr<Potential>& own) {
                         ForceField force_field(model, molecules, own);
                         minimise(force_field, r);
                       });
    return results;
  }
  for_each_index(
      static_cast<std::int64_t>(results.size()), threads,
      [&](int) { return ForceField(model, molecules); }, minimise);
  return results;
}

}  // namespace tarn
