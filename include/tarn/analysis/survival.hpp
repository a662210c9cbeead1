#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tarn::analysis {

/// Events that were waited for, and for how long altogether, in any unit of time.
struct Exposure {
  std::int64_t events = 0;
  double time = 0.0;
};

struct Rate {
  double value = 0.0;
  double error = 0.0;  ///< standard error
};

/// Maximum likelihood for events that come at a constant rate, equation (72): n/t with an error of
/// sqrt(n)/t. Without events the error is 1/t, the rate at which one would have been expected.
/// @return nan where nothing was waited for
Rate rate_of(const Exposure& exposure);

/// ln rate = log_prefactor - activation * beta, equation (73).
struct ArrheniusFit {
  double activation = 0.0;  ///< in units of 1/beta
  double activation_error = 0.0;
  double log_prefactor = 0.0;
  /// Twice the logarithm of how much likelier the rates of each temperature by itself make the
  /// events: a chi-squared number of so many degrees of freedom where the line holds.
  double deviance = 0.0;
  int degrees = 0;

  double rate(double beta) const;
};

/// Maximum likelihood for Poisson numbers of events, so that temperatures without events count too.
/// @param beta 1/kT of each exposure
/// @return nothing where fewer than two temperatures have events
std::optional<ArrheniusFit> fit_arrhenius(std::span<const double> beta,
                                          std::span<const Exposure> exposures);

/// The share that no event has befallen, as time goes on (Kaplan & Meier 1958), equation (72).
class SurvivalCurve {
 public:
  struct Point {
    std::int64_t step = 0;
    std::int64_t at_risk = 0;  ///< before the events
    std::int64_t events = 0;
    double survival = 1.0;  ///< after them
    double error = 0.0;     ///< standard error (Greenwood 1926)
  };
  /// The first look.
  /// @param at_risk how many are waited for
  void begin(std::int64_t step, std::int64_t at_risk);
  /// A later one.
  /// @param at_risk how many are still there that had not been befallen at the look before; others
  /// have gone out of sight
  /// @param events how many of them have been befallen since
  void observe(std::int64_t step, std::int64_t at_risk, std::int64_t events);

  /// Looks that found events, and the last ones before somebody went out of sight.
  const std::vector<Point>& points() const { return points_; }
  std::int64_t left() const { return left_; }  ///< how many are still waited for
  /// Events after step `begin` up to step `end`, and the steps for which they were waited for, of
  /// all together. An event came half way between two looks.
  /// @param every steps from one look to the next
  Exposure exposure(std::int64_t begin, std::int64_t end, std::int64_t every) const;

  /// All that it remembers, for a checkpoint.
  std::vector<std::int64_t> memory() const;
  /// @throws LayoutError for what is no memory()
  void restore(std::span<const std::int64_t> memory);

 private:
  void put(std::int64_t step, std::int64_t at_risk, std::int64_t events);

  std::int64_t start_ = 0, last_ = 0, left_ = 0;
  std::vector<Point> points_;
  double variance_sum_ = 0.0;  // sum of d / (n (n - d))
};

}  // namespace tarn::analysis
