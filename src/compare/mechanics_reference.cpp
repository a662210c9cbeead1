#include "mechanics_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "run/mechanics_experiment.hpp"
#include "run/progress.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

/// An error is better than another if it is below this part of it.
constexpr double kBetter = 0.7;
/// An error below this part of the solution is in the asymptotic range: it decreases with the step
/// until it is limited by rounding.
constexpr double kAsymptotic = 1e-3;
constexpr int kMaxFailedRefinements = 3;

/// The largest norm of a row.
double max_norm(const std::vector<std::vector<double>>& rows) {
  double largest = 0.0;
  for (const std::vector<double>& row : rows) {
    double squares = 0.0;
    for (const double x : row) squares += x * x;
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

/// The error of the coarser of two solutions, at least about ten units in the last place: solutions
/// that agree more closely have rounding errors of that size.
TrajectoryErrors estimated_error(const Samples& fine, const Samples& coarse) {
  constexpr double kRounding = 10.0 * std::numeric_limits<double>::epsilon();
  TrajectoryErrors errors = difference(fine, coarse);
  for (double* error : {&errors.q_max, &errors.q_end}) {
    *error = std::max(*error, kRounding * max_norm(fine.q));
  }
  for (double* error : {&errors.v_max, &errors.v_end}) {
    *error = std::max(*error, kRounding * max_norm(fine.v));
  }
  return errors;
}

/// ":omega=20" if [integrator] sets omega; otherwise it belongs to [system].
std::string omega_key(const Deck& deck) {
  const auto& omega = deck.mechanics.integrator.omega;
  return omega ? fmt::format(":omega={}", *omega) : "";
}

}  // namespace

std::string rigid_reference_for(const Deck& deck) {
  const std::string& kind = deck.system.kind;
  if (kind == "dna") return "verlet:compose=yoshida4";
  if (kind == "magnet" || kind == "free-body" || kind == "heavy-top") return "rk4";
  return "rattle:compose=yoshida4";
}

std::string reference_for(const Deck& deck) {
  if (solves_rigid_equations(deck)) return rigid_reference_for(deck);
  const MechanicsIntegratorSection& integrator = deck.mechanics.integrator;
  if (deck.system.kind == "magnet") {
    return fmt::format("so3-linearised:quadrature=trapezoidal:beta={}{}", *integrator.beta,
                       omega_key(deck));
  }
  if (integrator.scheme == MechanicsScheme::rk4_projected) {
    return fmt::format("rk4-projected:tolerance={}{}", integrator.tolerance, omega_key(deck));
  }
  return "verlet:compose=yoshida4" + omega_key(deck);
}

MechanicsReference::MechanicsReference(const Deck& deck, std::string scheme, double step,
                                       const analysis::CommonTimes& times,
                                       std::int64_t sample_every)
    : deck_(deck),
      scheme_(std::move(scheme)),
      step_(step),
      times_(times),
      sample_every_(sample_every) {
  try {
    deck_with(step);
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) problem.file = "--reference " + label();
    throw InputError(std::move(problems));
  }
}

Deck MechanicsReference::deck_with(double step) const {
  Deck deck = with_scheme(deck_, fmt::format("{}:step={}", scheme_, step));
  deck.mechanics.trajectory.reset();
  return deck;
}

std::string MechanicsReference::label() const { return fmt::format("{}:step={}", scheme_, step_); }

std::int64_t MechanicsReference::steps_of(double step) const {
  return times_.count * std::llround(times_.interval / step);
}

bool MechanicsReference::run_with(double step, const OnSteps& on_steps, Samples& samples) const {
  samples = {};
  const std::int64_t total = steps_of(step);
  const std::int64_t sample_every = sample_every_ * std::llround(times_.interval / step);
  Pace pace;
  std::int64_t reported = 0;
  try {
    const Deck deck = deck_with(step);
    const auto reference = make_mechanics_case(deck);
    for (std::int64_t done = 0; done < total;) {
      const std::int64_t due = std::min((done / sample_every + 1) * sample_every, total);
      const std::int64_t stop = std::min(due, done + pace.steps());
      const std::int64_t steps = stop - done;
      for (; done < stop; ++done) reference->step();
      pace.note(steps);
      if (done == due) add_sample(*reference, samples);
      if (!pace.is_time_to_report()) continue;
      if (!on_steps(done - reported)) return false;
      reported = done;
    }
  } catch (const NumericalError&) {
    // A smaller step may succeed.
    samples = {};
  }
  return on_steps(total - reported);
}

bool MechanicsReference::run(const OnSteps& on_steps) {
  Samples coarse;
  if (!run_with(2.0 * step_, on_steps, coarse)) return false;
  if (!run_with(step_, on_steps, samples_)) return false;
  errors_ = estimated_error(samples_, coarse);
  last_ = samples_;
  last_step_ = step_;
  return true;
}

MechanicsReference::Refinement MechanicsReference::refine(const OnSteps& on_steps) {
  Samples fine;
  if (!run_with(0.5 * last_step_, on_steps, fine)) return Refinement::interrupted;
  const TrajectoryErrors errors = estimated_error(fine, last_);
  last_step_ *= 0.5;
  last_ = std::move(fine);
  const auto better = [](double now, double before) {
    return std::isfinite(now) && !(now > kBetter * before);
  };
  const auto worse = [](double now, double before) { return now > before / kBetter; };
  const bool helped =
      (better(errors.q_max, errors_.q_max) && !worse(errors.v_max, errors_.v_max)) ||
      (better(errors.v_max, errors_.v_max) && !worse(errors.q_max, errors_.q_max));
  if (!helped) {
    // Without a known error, refinement has not failed.
    if (std::isfinite(errors_.q_max)) ++failed_refinements_;
    is_final_ = failed_refinements_ == kMaxFailedRefinements ||
                errors_.q_max < kAsymptotic * max_norm(last_.q);
    return Refinement::no_better;
  }
  failed_refinements_ = 0;
  step_ = last_step_;
  samples_ = last_;
  errors_ = errors;
  return Refinement::better;
}

}  // namespace tarn
