#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "mechanics_contestant.hpp"
#include "tarn/analysis/convergence.hpp"
#include "tarn/deck.hpp"

namespace tarn {

/// The scheme, without its step, that finds most accurately what the scheme of a deck finds with
/// ever smaller steps: the solution with rigid constraints, or with a penalty of that omega, or on
/// the slow manifold.
std::string reference_for(const Deck& deck);
/// The same with rigid constraints, whatever the scheme.
std::string rigid_reference_for(const Deck& deck);

/// An accurate trajectory, with an estimate of its own error.
class MechanicsReference {
 public:
  /// @param scheme without its step
  /// @param look_every intervals between samples
  /// @throws InputError where that is no scheme of the system
  MechanicsReference(const Deck& deck, std::string scheme, double step,
                     const analysis::CommonTimes& times, std::int64_t look_every);

  /// Told about twice a second how many steps were made since the last time; false ends it.
  using OnSteps = std::function<bool(std::int64_t steps)>;
  /// Runs it with twice the step, if that is not known yet, and with the step.
  /// @return false when that was ended
  bool run(const OnSteps& on_steps);
  /// What another halving of the step has done.
  enum class Refined { ended, better, no_better };
  /// Runs it with half of the step of the last run. What that found is kept where it is closer to
  /// the last run than what was kept is to its own. A step that is no better is the last, for that
  /// is rounding, unless nothing is known yet: where trajectories part, the first halvings may not
  /// help.
  Refined refine(const OnSteps& on_steps);
  bool can_be_refined() const { return !is_final_; }
  double last_step() const { return last_step_; }

  /// The scheme with the step of its samples.
  std::string label() const;
  const std::string& scheme() const { return scheme_; }
  /// None where it has failed.
  const Samples& samples() const { return samples_; }
  /// Differences from twice the step. The error of a method of order p is 1/(2^p - 1) of that.
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
  std::int64_t look_every_;
  Samples samples_;
  TrajectoryErrors errors_;
  Samples last_;
  double last_step_ = 0.0;
  int in_vain_ = 0;  // halvings in a row
  bool is_final_ = false;
};

}  // namespace tarn
