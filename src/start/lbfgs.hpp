#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include <Eigen/Core>
#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/minimise.hpp"

namespace tarn::start {

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

}  // namespace tarn::start
