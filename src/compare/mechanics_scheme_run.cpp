#include "mechanics_scheme_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "interleaved_runs.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Computes the largest and the last norm of the difference of two rows.
void compare_columns(const std::vector<std::vector<double>>& a,
                     const std::vector<std::vector<double>>& b, double& largest, double& last) {
  if (a.empty() || a.size() != b.size() || a.front().size() != b.front().size()) return;
  largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double squares = 0.0;
    for (std::size_t i = 0; i < a[k].size(); ++i) squares += std::pow(a[k][i] - b[k][i], 2);
    last = std::sqrt(squares);
    largest = std::max(largest, last);
  }
}

}  // namespace

void add_sample(const MechanicsCase& mechanics_case, Samples& samples) {
  const std::vector<std::string> columns = mechanics_case.columns();
  const std::vector<double> row = mechanics_case.row();
  samples.q.emplace_back();
  samples.v.emplace_back();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (columns[i].starts_with('q')) samples.q.back().push_back(row[i]);
    if (columns[i].starts_with('v')) samples.v.back().push_back(row[i]);
  }
}

TrajectoryErrors difference(const Samples& a, const Samples& b) {
  TrajectoryErrors errors;
  compare_columns(a.q, b.q, errors.q_max, errors.q_end);
  compare_columns(a.v, b.v, errors.v_max, errors.v_end);
  return errors;
}

MechanicsSchemeRun::MechanicsSchemeRun(const Deck& deck, const std::string& label,
                                       std::int64_t steps, std::int64_t sample_every,
                                       bool keeps_samples)
    : deck_(deck), last_step_(steps), sample_every_(sample_every), keeps_samples_(keeps_samples) {
  // Averages of multipliers are not part of the scheme and would be timed.
  deck_.mechanics.trajectory.reset();
  result_.label = drift_.label = label;
  result_.step = deck.mechanics.integrator.step;
  try {
    case_ = make_mechanics_case(deck_);
  } catch (const NumericalError& error) {
    result_.failure = error.what();
    return;
  }
  for (const Quantity& q : case_->conserved()) {
    at_start_.push_back(q.value);
    result_.changes.emplace_back(q.name, 0.0);
    drift_.names.push_back(q.name);
    drift_.changes.emplace_back();
  }
}

void MechanicsSchemeRun::advance_to(std::int64_t at, std::int64_t total) {
  const std::int64_t step = proportional_step(last_step_, at, total);
  try {
    while (result_.failure.empty() && result_.steps < step) {
      const std::int64_t due = (result_.steps / sample_every_ + 1) * sample_every_;
      const std::int64_t stop = std::min(step, due);
      const auto begin = Clock::now();
      for (; result_.steps < stop; ++result_.steps) case_->step();
      seconds_ += seconds_since(begin);
      if (stop == due || stop == last_step_) record_sample();
    }
  } catch (const NumericalError& error) {
    result_.failure = error.what();
  }
}

void MechanicsSchemeRun::time_again() {
  if (!result_.failure.empty() || result_.steps < last_step_) return;
  const auto again = make_mechanics_case(deck_);
  const auto begin = Clock::now();
  for (std::int64_t step = 0; step < last_step_; ++step) again->step();
  seconds_ = std::min(seconds_, seconds_since(begin));
}

MechanicsSchemeResult MechanicsSchemeRun::result() const {
  MechanicsSchemeResult result = result_;
  if (case_ == nullptr) return result;
  const mechanics::Costs costs = case_->costs();
  result.force_evaluations = costs.forces;
  result.hessian_evaluations = costs.hessians;
  result.third_derivative_evaluations = costs.third_derivatives;
  result.iterations = costs.iterations;
  const double steps = static_cast<double>(std::max<std::int64_t>(costs.steps, 1));
  result.linear_solves_per_step = static_cast<double>(costs.linear_solves) / steps;
  result.iterations_per_step = static_cast<double>(costs.iterations) / steps;
  if (!result.failure.empty()) {
    // Changes before the failure do not describe the scheme.
    for (auto& [name, change] : result.changes) change = TrajectoryErrors::kNone;
  }
  if (result.failure.empty() && result.steps > 0) {
    const double time = static_cast<double>(result.steps) * result.step;
    result.forces_per_time = static_cast<double>(costs.forces) / time;
  }
  if (seconds_ > 0.0 && result.steps > 0) {
    result.steps_per_second = static_cast<double>(result.steps) / seconds_;
    if (result.failure.empty()) {
      result.us_per_time = 1e6 / (result.steps_per_second * result.step);
    }
  }
  return result;
}

Drift MechanicsSchemeRun::drift() const {
  Drift drift = drift_;
  drift.has_failed = !result_.failure.empty();
  return drift;
}

void MechanicsSchemeRun::record_sample() {
  const std::vector<Quantity> now = case_->conserved();
  for (std::size_t k = 0; k < now.size(); ++k) {
    const double change = now[k].value - at_start_[k];
    if (!std::isfinite(change)) {
      throw NumericalError(
          fmt::format("{} is not finite after step {}", now[k].name, result_.steps));
    }
    double& worst = result_.changes[k].second;
    worst = std::max(worst, std::abs(change));
  }
  drift_.times.push_back(static_cast<double>(result_.steps) * result_.step);
  for (std::size_t k = 0; k < now.size(); ++k) {
    drift_.changes[k].push_back(now[k].value - at_start_[k]);
  }
  if (keeps_samples_) add_sample(*case_, samples_);
}

}  // namespace tarn
