#include "ring_frequencies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include "core/bisect.hpp"
#include "ring_polymer.hpp"
#include "tarn/core/units.hpp"

namespace tarn {
namespace {

using Numbers = std::vector<double>;

/// Number of modes with the frequency of a wave number.
double weight_of(std::size_t wave, int beads) {
  return 2 * wave == static_cast<std::size_t>(beads) ? 1.0 : 2.0;
}

constexpr std::size_t kPanel = 5;
/// Points and weights of an integral over [0, x_max]: Gauss's rule of five points in equal panels.
struct Quadrature {
  Numbers x, weights;

  Quadrature(std::size_t panels, double x_max) {
    const double inner = std::sqrt(5.0 - 2.0 * std::sqrt(10.0 / 7.0)) / 3.0;
    const double outer = std::sqrt(5.0 + 2.0 * std::sqrt(10.0 / 7.0)) / 3.0;
    const double root = 13.0 * std::sqrt(70.0);
    const double inner_weight = (322.0 + root) / 900.0, outer_weight = (322.0 - root) / 900.0;
    const std::array<double, kPanel> points{-outer, -inner, 0.0, inner, outer};
    const std::array<double, kPanel> point_weights{outer_weight, inner_weight, 128.0 / 225.0,
                                                   inner_weight, outer_weight};
    const double half = 0.5 * x_max / static_cast<double>(panels);
    for (std::size_t panel = 0; panel < panels; ++panel) {
      for (std::size_t i = 0; i < points.size(); ++i) {
        x.push_back(half * (static_cast<double>(2 * panel + 1) + points[i]));
        weights.push_back(0.5 * point_weights[i] / static_cast<double>(panels));
      }
    }
  }
};

/// Least-squares fit of y_k, with ln y_k as unknowns, by the method of Levenberg and Marquardt.
class FrequencyFit {
 public:
  /// @param counts number of modes with each frequency
  FrequencyFit(Numbers start, Numbers counts, double x_max)
      : y_(std::move(start)), counts_(std::move(counts)), points_(y_.size() + 8, x_max) {
    for (std::size_t i = 0; i < points_.x.size(); ++i) {
      scales_.push_back(std::sqrt(points_.weights[i]) / oscillator_radius2(points_.x[i]));
    }
    const std::size_t n = y_.size();
    for (Numbers* matrix : {&normal_, &factor_}) matrix->resize(n * n);
    for (Numbers* vector : {&gradient_, &change_}) vector->resize(n);
    for (Numbers& row : rows_) row.resize(n);
  }

  Numbers solve() {
    constexpr int kMostSteps = 150, kFewChanges = 3;
    constexpr double kConverged = 1e-6, kSmallEnough2 = 1e-18, kMostDamping = 1e12;
    double error2 = error2_of(y_), damping = 1e-3;
    int small_changes = 0;
    for (int step = 0; step < kMostSteps && small_changes < kFewChanges; ++step) {
      linearise();
      std::optional<double> lower;
      Numbers next;
      while (!lower && damping < kMostDamping) {
        if (find_change(damping)) {
          next = changed();
          const double there = error2_of(next);
          if (there < error2) lower = there;
        }
        damping *= lower ? 0.2 : 4.0;
      }
      if (!lower) break;
      small_changes = error2 - *lower < kConverged * error2 ? small_changes + 1 : 0;
      y_ = next;
      error2 = *lower;
      if (error2 < kSmallEnough2) break;
    }
    return y_;
  }

 private:
  double& at(Numbers& matrix, std::size_t i, std::size_t j) const {
    return matrix[i * y_.size() + j];
  }
  /// Relative error of the radius at a point, with the root of its weight.
  double residual(const Numbers& y, std::size_t point) const {
    const double x2 = points_.x[point] * points_.x[point];
    double sum = 0.0;
    for (std::size_t k = 0; k < y.size(); ++k) sum += counts_[k] / (y[k] * y[k] + x2);
    return scales_[point] * sum - std::sqrt(points_.weights[point]);
  }
  double error2_of(const Numbers& y) const {
    double sum = 0.0;
    for (std::size_t point = 0; point < points_.x.size(); ++point) {
      const double r = residual(y, point);
      sum += r * r;
    }
    return sum;
  }
  /// The normal matrix (lower triangle) and the gradient, panel by panel.
  void linearise() {
    std::fill(normal_.begin(), normal_.end(), 0.0);
    std::fill(gradient_.begin(), gradient_.end(), 0.0);
    for (std::size_t first = 0; first < points_.x.size(); first += kPanel) {
      for (std::size_t i = 0; i < kPanel; ++i) {
        const std::size_t point = first + i;
        const double x2 = points_.x[point] * points_.x[point], r = residual(y_, point);
        for (std::size_t k = 0; k < y_.size(); ++k) {
          const double y2 = y_[k] * y_[k], sum = y2 + x2;
          rows_[i][k] = -2.0 * scales_[point] * counts_[k] * y2 / (sum * sum);
          gradient_[k] += rows_[i][k] * r;
        }
      }
      const auto& [a, b, c, d, e] = rows_;
      for (std::size_t k = 0; k < y_.size(); ++k) {
        const double ak = a[k], bk = b[k], ck = c[k], dk = d[k], ek = e[k];
        double* const to = &at(normal_, k, 0);
        for (std::size_t j = 0; j <= k; ++j) {
          to[j] += ak * a[j] + bk * b[j] + ck * c[j] + dk * d[j] + ek * e[j];
        }
      }
    }
  }
  /// Solves for the change of ln y by Cholesky's method.
  /// @return false if it is not small or the matrix is not positive
  bool find_change(double damping) {
    constexpr double kLargest = 1.0;
    const std::size_t n = y_.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = at(normal_, i, j);
        if (i == j) sum += damping * sum;
        for (std::size_t k = 0; k < j; ++k) sum -= at(factor_, i, k) * at(factor_, j, k);
        if (i == j && !(sum > 0.0)) return false;
        at(factor_, i, j) = i == j ? std::sqrt(sum) : sum / at(factor_, j, j);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      double sum = -gradient_[i];
      for (std::size_t k = 0; k < i; ++k) sum -= at(factor_, i, k) * change_[k];
      change_[i] = sum / at(factor_, i, i);
    }
    for (std::size_t i = n; i-- > 0;) {
      double sum = change_[i];
      for (std::size_t k = i + 1; k < n; ++k) sum -= at(factor_, k, i) * change_[k];
      change_[i] = sum / at(factor_, i, i);
    }
    return std::all_of(change_.begin(), change_.end(),
                       [](double d) { return std::abs(d) <= kLargest; });
  }
  /// y exp(change), to second order.
  Numbers changed() const {
    Numbers y = y_;
    for (std::size_t k = 0; k < y.size(); ++k) {
      y[k] *= (1.0 + 0.5 * change_[k]) / (1.0 - 0.5 * change_[k]);
    }
    return y;
  }

  Numbers y_, counts_;
  Quadrature points_;
  Numbers scales_;  // [point]
  Numbers normal_, factor_, gradient_, change_;
  std::array<Numbers, kPanel> rows_;  // derivatives at the points of a panel
};

/// 1 - exp(-x) for x >= 0, without operations whose rounding depends on the machine, which
/// expm1_below_limit() and the C library have: the series for x/256, doubled eight times.
double minus_expm1(double x) {
  constexpr double kLargest = 44.0;  // 1 from there on
  constexpr int kTerms = 11, kDoublings = 8;
  const double y = std::min(x, kLargest) / 256.0;
  double q = 1.0;
  for (int term = kTerms; term > 1; --term) q = 1.0 - y / term * q;
  q *= y;
  for (int i = 0; i < kDoublings; ++i) q *= 2.0 - q;
  return q;
}

}  // namespace

double reduced_frequency(double wavenumber_per_cm, double temperature_K) {
  return units::quantum_kcal_cm_per_mol * wavenumber_per_cm /
         (units::boltzmann_kcal_per_mol_K * temperature_K);
}

double oscillator_radius2(double x) {
  constexpr double kSmall = 0.3;
  const double x2 = x * x;
  if (x < kSmall) {
    // Series of (x/2) coth(x/2); the next term is 4e-14 of the sum.
    return 1.0 / 12.0 + x2 * (-1.0 / 720.0 + x2 * (1.0 / 30240.0 + x2 * (-1.0 / 1209600.0 +
                                                                         x2 * (1.0 / 47900160.0))));
  }
  return (oscillator_energy(x) - 1.0) / x2;
}

double oscillator_energy(double x) {
  if (x == 0.0) return 1.0;
  const double e = minus_expm1(x);
  return 0.5 * x * (2.0 - e) / e;
}

double oscillator_heat_capacity(double x) {
  if (x == 0.0) return 1.0;
  const double e = minus_expm1(x);
  return x * x * (1.0 - e) / (e * e);
}

template <class F>
double ReducedRing::sum(const F& f) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    sum += weight_of(i + 1, beads_) * f(frequencies_[i] * frequencies_[i]);
  }
  return sum;
}

double ReducedRing::highest() const {
  return frequencies_.empty() ? 0.0 : *std::max_element(frequencies_.begin(), frequencies_.end());
}

double ReducedRing::radius2(double x) const {
  return sum([&](double y2) { return 1.0 / (y2 + x * x); });
}

double ReducedRing::heat_capacity(double x) const {
  const double x2 = x * x;
  return 1.0 + sum([&](double y2) { return x2 * (x2 - y2) / ((y2 + x2) * (y2 + x2)); });
}

double ReducedRing::mean_delta(double x_first, double x_second) const {
  const double centroid = 0.5 * (x_first / x_second + x_second / x_first) - 1.0;
  return centroid + sum([&](double y2) {
           const double a = x_first * x_first / y2, b = x_second * x_second / y2;
           return 0.5 * (a - b) * (1.0 / (1.0 + b) - 1.0 / (1.0 + a));
         });
}

double ReducedRing::kinetic_error(double x_highest) const {
  constexpr int kPoints = 1024;
  double largest = 0.0;
  for (int i = 1; i <= kPoints; ++i) {
    const double x = x_highest * i / kPoints;
    largest = std::max(largest, std::abs(energy(x) / oscillator_energy(x) - 1.0));
  }
  return largest;
}

ReducedRing trotter_ring(int beads) {
  Numbers y;
  for (int k = 1; k <= beads / 2; ++k) y.push_back(trotter_frequency(k, beads));
  return {beads, std::move(y)};
}

ReducedRing economised_ring(int beads, double x_max) {
  const auto waves = static_cast<std::size_t>(beads / 2);
  if (waves == 0) return {beads, {}};
  // In the best fits four fifths of the modes have one frequency: the upper two thirds are one
  // unknown. The lower ones start at 2 pi k, as for infinitely many beads, and the upper ones with
  // the same sum of 1/y^2 as there.
  const std::size_t unknowns = (waves + 2) / 3;
  Numbers y, counts(unknowns, 2.0);
  counts.back() = beads - 1.0 - 2.0 * static_cast<double>(unknowns - 1);
  for (std::size_t k = 1; k < unknowns; ++k) y.push_back(2.0 * units::pi * static_cast<double>(k));
  y.push_back(2.0 * units::pi *
              std::sqrt(0.5 * counts.back() * (static_cast<double>(unknowns) - 0.5)));
  y = FrequencyFit(std::move(y), std::move(counts), x_max).solve();
  // Unknowns that meet the upper one pass it by the tolerance of the fit.
  for (double& frequency : y) frequency = std::min(frequency, y.back());
  std::sort(y.begin(), y.end());
  y.resize(waves, y.back());
  return {beads, std::move(y)};
}

ReducedRing reduced_ring(const PathIntegralSpec& rings, double coldest_K) {
  if (rings.frequencies == RingFrequencies::trotter) return trotter_ring(rings.beads);
  return economised_ring(rings.beads,
                         reduced_frequency(rings.highest_wavenumber_per_cm, coldest_K));
}

ReducedRing reduced_ring(const System& system) {
  const std::vector<double>& all_K = system.thermostat.temperatures_K;
  const bool has_ladder = system.thermostat.kind != Thermostat::none && !all_K.empty();
  return reduced_ring(system.path_integral, has_ladder
                                                ? *std::min_element(all_K.begin(), all_K.end())
                                                : replica_temperature_K(system, 0));
}

int fewest_beads(const std::function<bool(int beads)>& is_enough) {
  std::vector<int> candidates;
  for (int beads = 2; beads <= kMaxBeads; beads += 2 * std::max(1, beads / 128)) {
    candidates.push_back(beads);
  }
  if (is_enough(candidates[0])) return candidates[0];
  // Few beads cost less: the steps from below double.
  std::size_t low = 0, step = 1;
  while (low + step < candidates.size() && !is_enough(candidates[low + step])) {
    low += step;
    step *= 2;
  }
  const std::size_t high = bisect(
                               low, std::min(low + step, candidates.size()),
                               [](std::size_t l, std::size_t h) { return h - l > 1; },
                               [&](std::size_t k) { return !is_enough(candidates[k]); })
                               .second;
  return high == candidates.size() ? 0 : candidates[high];
}

int beads_for_error(const PathIntegralSpec& rings, double temperature_K, double wavenumber_per_cm,
                    double error) {
  const double x = reduced_frequency(wavenumber_per_cm, temperature_K);
  return fewest_beads([&](int beads) {
    PathIntegralSpec other = rings;
    other.beads = beads;
    return reduced_ring(other, temperature_K).kinetic_error(x) <= error;
  });
}

namespace {

/// @param omega its frequency [1/akma]
RingMode constants_of(const System& system, int mode, double omega, double temperature_K) {
  const PathIntegralSpec& rings = system.path_integral;
  const double h = system.integrator.timestep_akma;
  RingMode m{};
  m.spring = omega * omega;
  const double half = 0.5 * omega * h;
  const double angle = rings.free_ring == FreeRing::cayley ? std::atan(half) : half;
  m.cosine = std::cos(angle);
  m.omega_sine = omega * std::sin(angle);
  m.sine_over_omega = mode == 0 ? 0.5 * h : std::sin(angle) / omega;
  ThermostatSpec t = system.thermostat;
  t.temperature_K = rings.beads * temperature_K;
  if (mode > 0) {
    t.friction_oxygen_per_akma = t.friction_hydrogen_per_akma =
        2.0 * rings.internal_friction * omega;
  } else if (rings.method == RingMethod::trpmd) {
    t.friction_oxygen_per_akma = t.friction_hydrogen_per_akma = 0.0;
  }
  m.ou = ou_parameters(system.model, t, h);
  for (const auto& masses_Da : system.atom_masses_Da) {
    m.isotope_ou.push_back(ou_parameters(system.model, masses_Da, t, h));
  }
  return m;
}

}  // namespace

std::vector<RingMode> ring_modes(const System& system, double temperature_K) {
  const PathIntegralSpec& rings = system.path_integral;
  const std::vector<double> reduced = reduced_ring(system).frequencies();
  const double unit_per_akma = ring_frequency_per_akma(1, temperature_K);
  std::vector<RingMode> modes;
  for (int mode = 0; mode < rings.beads; ++mode) {
    const int wave = wave_of_mode(mode, rings.beads);
    const double omega =
        wave == 0 ? 0.0 : unit_per_akma * reduced[static_cast<std::size_t>(wave - 1)];
    modes.push_back(constants_of(system, mode, omega, temperature_K));
  }
  return modes;
}

}  // namespace tarn
