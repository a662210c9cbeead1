#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "mechanics_scheme_run.hpp"
#include "tarn/analysis/convergence.hpp"
#include "tarn/deck.hpp"

namespace tarn {

/// The most accurate scheme, without its step, that converges to the same solution as the scheme of
/// the deck: with rigid constraints, with a penalty of its omega, or on the slow manifold.
std::string reference_for(const Deck& deck);
/// The most accurate scheme with rigid constraints, independent of the scheme of the deck.
std::string rigid_reference_for(const Deck& deck);

/// An accurate trajectory with an estimate of its error.
class MechanicsReference {
 public:
  /// @param scheme without its step
  /// @param sample_every number of common time intervals between samples
  /// @throws InputError if the system has no such scheme
  MechanicsReference(const Deck& deck, std::string scheme, double step,
                     const analysis::CommonTimes& times, std::int64_t sample_every);

  /// Called about twice a second with the number of steps since the last call; returning false
  /// stops the run.
  using OnSteps = std::function<bool(std::int64_t steps)>;
  /// Runs with twice the step and with the step.
  /// @return false if stopped
  bool run(const OnSteps& on_steps);
  enum class Refinement { interrupted, better, no_better };
  /// Runs with half of the step of the last run. The new samples replace the old ones if they are
  /// closer to the last run than the old ones were to theirs. Refinement ends if they are not and
  /// the error is small already, because rounding limits it, or after three such attempts in a row;
  /// diverging trajectories may require several halvings.
  Refinement refine(const OnSteps& on_steps);
  bool can_be_refined() const { return !is_final_; }
  double last_step() const { return last_step_; }

  /// The scheme with the step of the samples.
  std::string label() const;
  const std::string& scheme() const { return scheme_; }
  /// Empty if the run failed.
  const Samples& samples() const { return samples_; }
  /// Differences from the run with twice the step. The error of a method of order p is the
  /// difference divided by 2^p - 1.
  const TrajectoryErrors& errors() const { return errors_; }
  std::int64_t steps_of(double step) const;
  double step() const { return step_; }

 private:
  bool run_with(double step, const OnSteps& on_steps, Samples& samples) const;
  Deck deck_with(double step) const;

  Deck deck_;
  std::string scheme_;
  double step_;
  analysis::CommonTimes times_;
  std::int64_t sample_every_;
  Samples samples_;
  TrajectoryErrors errors_;
  Samples last_;
  double last_step_ = 0.0;
  int failed_refinements_ = 0;  // consecutive
  bool is_final_ = false;
};

}  // namespace tarn
