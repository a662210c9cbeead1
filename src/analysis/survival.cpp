#include "survival.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>

#include "tarn/core/error.hpp"

namespace tarn::analysis {
namespace {

/// Poisson regression of ln rate on a straight line by Newton's method; the log-likelihood is
/// concave. beta is relative to its mean over the events, which makes height and slope nearly
/// independent.
class Line {
 public:
  Line(std::span<const double> beta, std::span<const Exposure> exposures)
      : beta_(beta), exposures_(exposures) {
    double events = 0.0, time = 0.0;
    for (std::size_t i = 0; i < beta.size(); ++i) {
      const auto n = static_cast<double>(exposures[i].events);
      events += n;
      time += exposures[i].time;
      middle_ += n * beta[i];
    }
    middle_ /= events;
    height_ = std::log(events / time);
  }

  /// The fitted line.
  ArrheniusFit result() const {
    const Derivatives d = derivatives();
    double deviance = 0.0;
    for (std::size_t i = 0; i < beta_.size(); ++i) {
      const auto n = static_cast<double>(exposures_[i].events);
      const double mu = expected(i);
      deviance += (n > 0.0 ? n * std::log(n / mu) : 0.0) - (n - mu);
    }
    return {-slope_, std::sqrt(d.hh / (d.hh * d.ss - d.hs * d.hs)), height_ - slope_ * middle_,
            std::max(0.0, 2.0 * deviance), static_cast<int>(beta_.size()) - 2};
  }

  void fit() {
    constexpr int kMostSteps = 100;
    double likelihood = log_likelihood();
    for (int k = 0; k < kMostSteps; ++k) {
      const Derivatives d = derivatives();
      const double determinant = d.hh * d.ss - d.hs * d.hs;
      double by_height = (d.ss * d.h - d.hs * d.s) / determinant;
      double by_slope = (d.hh * d.s - d.hs * d.h) / determinant;
      const double height = height_, slope = slope_;
      // Halve a step that decreases the likelihood.
      for (int halvings = 0; halvings < 60; ++halvings) {
        height_ = height + by_height;
        slope_ = slope + by_slope;
        const double next = log_likelihood();
        if (next >= likelihood) {
          likelihood = next;
          break;
        }
        by_height *= 0.5;
        by_slope *= 0.5;
        height_ = height;
        slope_ = slope;
      }
      if (height_ == height && slope_ == slope) return;
    }
  }

 private:
  double expected(std::size_t i) const {
    return exposures_[i].time * std::exp(height_ + slope_ * (beta_[i] - middle_));
  }
  /// First derivatives of the log-likelihood, and second ones with the opposite sign.
  struct Derivatives {
    double h = 0.0, s = 0.0, hh = 0.0, hs = 0.0, ss = 0.0;
  };
  Derivatives derivatives() const {
    Derivatives d;
    for (std::size_t i = 0; i < beta_.size(); ++i) {
      const double x = beta_[i] - middle_, mu = expected(i);
      const double more = static_cast<double>(exposures_[i].events) - mu;
      d.h += more;
      d.s += x * more;
      d.hh += mu;
      d.hs += x * mu;
      d.ss += x * x * mu;
    }
    return d;
  }
  double log_likelihood() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < beta_.size(); ++i) {
      sum += static_cast<double>(exposures_[i].events) * (height_ + slope_ * (beta_[i] - middle_)) -
             expected(i);
    }
    return sum;
  }

  std::span<const double> beta_;
  std::span<const Exposure> exposures_;
  double middle_ = 0.0, height_ = 0.0, slope_ = 0.0;  // height_ = ln rate at middle_
};

}  // namespace

Rate rate_of(const Exposure& exposure) {
  if (!(exposure.time > 0.0)) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    return {unknown, unknown};
  }
  const auto n = static_cast<double>(exposure.events);
  return {n / exposure.time, std::sqrt(std::max(n, 1.0)) / exposure.time};
}

double ArrheniusFit::rate(double beta) const { return std::exp(log_prefactor - activation * beta); }

std::optional<ArrheniusFit> fit_arrhenius(std::span<const double> beta,
                                          std::span<const Exposure> exposures) {
  std::vector<double> known_beta;
  std::vector<Exposure> known;
  std::set<double> with_events;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    if (!(exposures[i].time > 0.0)) continue;
    known_beta.push_back(beta[i]);
    known.push_back(exposures[i]);
    if (exposures[i].events > 0) with_events.insert(beta[i]);
  }
  if (with_events.size() < 2) return std::nullopt;
  Line line(known_beta, known);
  line.fit();
  return line.result();
}

void SurvivalCurve::begin(std::int64_t step, std::int64_t at_risk) {
  start_ = last_ = step;
  left_ = at_risk;
}

void SurvivalCurve::observe(std::int64_t step, std::int64_t at_risk, std::int64_t events) {
  const bool some_went = at_risk != left_;
  const bool written = last_ == (points_.empty() ? start_ : points_.back().step);
  if (some_went && !written) put(last_, left_, 0);
  if (events > 0) put(step, at_risk, events);
  last_ = step;
  left_ = at_risk - events;
}

void SurvivalCurve::put(std::int64_t step, std::int64_t at_risk, std::int64_t events) {
  const double before = points_.empty() ? 1.0 : points_.back().survival;
  const auto n = static_cast<double>(at_risk), d = static_cast<double>(events);
  Point& point = points_.emplace_back(Point{step, at_risk, events});
  point.survival = before * ((n - d) / n);
  // If none are left the error is unknown and reported as 0.
  if (events < at_risk) variance_sum_ += d / (n * (n - d));
  point.error = point.survival * std::sqrt(variance_sum_);
}

Exposure SurvivalCurve::exposure(std::int64_t begin, std::int64_t end, std::int64_t every) const {
  Exposure exposure;
  std::int64_t waited = 0, from = start_;
  const auto wait = [&](std::int64_t until, std::int64_t at_risk) {
    const std::int64_t steps = std::min(until, end) - std::max(from, begin);
    waited += std::max<std::int64_t>(steps, 0) * at_risk;
    from = until;
  };
  for (const Point& point : points_) {
    wait(point.step, point.at_risk);
    if (begin < point.step && point.step <= end) exposure.events += point.events;
  }
  wait(last_, left_);
  exposure.time = static_cast<double>(waited) -
                  0.5 * static_cast<double>(every) * static_cast<double>(exposure.events);
  return exposure;
}

std::vector<std::int64_t> SurvivalCurve::memory() const {
  std::vector<std::int64_t> memory{start_, last_, left_};
  for (const Point& point : points_) {
    memory.insert(memory.end(), {point.step, point.at_risk, point.events});
  }
  return memory;
}

void SurvivalCurve::restore(std::span<const std::int64_t> memory) {
  if (memory.size() < 3 || memory.size() % 3 != 0) {
    throw LayoutError("a survival curve has inconsistent data");
  }
  *this = {};
  start_ = memory[0];
  last_ = memory[1];
  left_ = memory[2];
  for (std::size_t i = 3; i < memory.size(); i += 3) put(memory[i], memory[i + 1], memory[i + 2]);
}

}  // namespace tarn::analysis
