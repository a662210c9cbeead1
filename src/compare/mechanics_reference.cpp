#include "mechanics_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "run/mechanics_experiment.hpp"
#include "run/pace.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

/// A smaller error than this part of another is a better one.
constexpr double kBetter = 0.7;
/// An error of less than this part of the numbers themselves is known, and goes on to fall with the
/// step until rounding stops it.
constexpr double kKnown = 1e-3;
constexpr int kMostInVain = 3;

/// The largest norm.
double size_of(const std::vector<std::vector<double>>& rows) {
  double largest = 0.0;
  for (const std::vector<double>& row : rows) {
    double squares = 0.0;
    for (const double x : row) squares += x * x;
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

/// The error of the coarser one of two solutions, but no less than what rounding makes of both,
/// some ten units of the last place: two that agree may be as far from the truth.
TrajectoryErrors error_of(const Samples& fine, const Samples& coarse) {
  constexpr double kRounding = 10.0 * std::numeric_limits<double>::epsilon();
  TrajectoryErrors errors = difference(fine, coarse);
  for (double* error : {&errors.q_max, &errors.q_end}) {
    *error = std::max(*error, kRounding * size_of(fine.q));
  }
  for (double* error : {&errors.v_max, &errors.v_end}) {
    *error = std::max(*error, kRounding * size_of(fine.v));
  }
  return errors;
}

/// ":omega=20" where the scheme's section has it; elsewhere it is the system's.
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
                                       const analysis::CommonTimes& times, std::int64_t look_every)
    : deck_(deck), scheme_(std::move(scheme)), step_(step), times_(times), look_every_(look_every) {
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
  const std::int64_t look_every = look_every_ * std::llround(times_.interval / step);
  Pace pace;
  std::int64_t told = 0;
  try {
    const Deck deck = deck_with(step);
    const auto reference = make_mechanics_case(deck);
    for (std::int64_t done = 0; done < total;) {
      const std::int64_t due = std::min((done / look_every + 1) * look_every, total);
      const std::int64_t stop = std::min(due, done + pace.steps());
      const std::int64_t steps = stop - done;
      for (; done < stop; ++done) reference->step();
      pace.note(steps);
      if (done == due) add_sample(*reference, samples);
      if (!pace.is_time_to_report()) continue;
      if (!on_steps(done - told)) return false;
      told = done;
    }
  } catch (const NumericalError&) {
    // With a smaller step it may go well.
    samples = {};
  }
  return on_steps(total - told);
}

bool MechanicsReference::run(const OnSteps& on_steps) {
  Samples coarse;
  if (!run_with(2.0 * step_, on_steps, coarse)) return false;
  if (!run_with(step_, on_steps, samples_)) return false;
  errors_ = error_of(samples_, coarse);
  last_ = samples_;
  last_step_ = step_;
  return true;
}

MechanicsReference::Refined MechanicsReference::refine(const OnSteps& on_steps) {
  Samples fine;
  if (!run_with(0.5 * last_step_, on_steps, fine)) return Refined::ended;
  const TrajectoryErrors errors = error_of(fine, last_);
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
    // As long as it fails, there is no error that could get better.
    if (std::isfinite(errors_.q_max)) ++in_vain_;
    is_final_ = in_vain_ == kMostInVain || errors_.q_max < kKnown * size_of(last_.q);
    return Refined::no_better;
  }
  in_vain_ = 0;
  step_ = last_step_;
  samples_ = last_;
  errors_ = errors;
  return Refined::better;
}

}  // namespace tarn
