#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tarn::analysis {

/// Number of events and total exposure time, in any unit of time.
struct Exposure {
  std::int64_t events = 0;
  double time = 0.0;
};

struct Rate {
  double value = 0.0;
  double error = 0.0;  ///< standard error
};

/// Maximum likelihood estimate of a constant rate, equation (72): n/t with the error sqrt(n)/t.
/// Without events the error is 1/t, the rate at which one event is expected.
/// @return NaN for an exposure time of 0
Rate rate_of(const Exposure& exposure);

/// ln rate = log_prefactor - activation * beta, equation (73).
struct ArrheniusFit {
  double activation = 0.0;  ///< in units of 1/beta
  double activation_error = 0.0;
  double log_prefactor = 0.0;
  /// Twice the logarithm of the likelihood ratio between separate rates at each temperature and the
  /// fit: chi-squared distributed with `degrees` degrees of freedom if the fit is correct.
  double deviance = 0.0;
  int degrees = 0;

  double rate(double beta) const;
};

/// Maximum likelihood for Poisson numbers of events; temperatures without events contribute too.
/// @param beta 1/kT of each exposure
/// @return nothing if fewer than two temperatures have events
std::optional<ArrheniusFit> fit_arrhenius(std::span<const double> beta,
                                          std::span<const Exposure> exposures);

/// Survival probability as a function of time (Kaplan & Meier 1958), equation (72).
class SurvivalCurve {
 public:
  struct Point {
    std::int64_t step = 0;
    std::int64_t at_risk = 0;  ///< before the events
    std::int64_t events = 0;
    double survival = 1.0;  ///< after them
    double error = 0.0;     ///< standard error (Greenwood 1926)
  };
  /// The first observation.
  /// @param at_risk number without event
  void begin(std::int64_t step, std::int64_t at_risk);
  /// A later observation.
  /// @param at_risk number without event at the previous observation that are still observed; the
  /// others are censored
  /// @param events number of events among them since then
  void observe(std::int64_t step, std::int64_t at_risk, std::int64_t events);

  /// Observations with events, and the last ones before a censoring.
  const std::vector<Point>& points() const { return points_; }
  std::int64_t left() const { return left_; }  ///< number without event so far
  /// Events after step `begin` up to step `end`, and the total exposure in steps. Events are placed
  /// half way between two observations.
  /// @param every steps between observations
  Exposure exposure(std::int64_t begin, std::int64_t end, std::int64_t every) const;

  /// The state for a checkpoint.
  std::vector<std::int64_t> memory() const;
  /// @throws LayoutError unless it is a memory()
  void restore(std::span<const std::int64_t> memory);

 private:
  void put(std::int64_t step, std::int64_t at_risk, std::int64_t events);

  std::int64_t start_ = 0, last_ = 0, left_ = 0;
  std::vector<Point> points_;
  double variance_sum_ = 0.0;  // sum of d / (n (n - d))
};

}  // namespace tarn::analysis
