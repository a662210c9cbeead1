#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "run/mechanics_case.hpp"
#include "tarn/compare.hpp"

namespace tarn {

/// The columns q0... and v0... of a trajectory, by sample.
struct Samples {
  std::vector<std::vector<double>> q, v;
};

/// Adds what a case tells now.
void add_sample(const MechanicsCase& mechanics_case, Samples& samples);

/// How the conserved quantities change with time.
struct Drift {
  std::string label;
  std::vector<std::string> names;
  std::vector<double> times;
  std::vector<std::vector<double>> changes;  ///< since the start, by quantity and time
  bool has_failed = false;                   ///< after the last of these times
};

/// Differences of two trajectories at the same times. NaN where one has fewer samples than the
/// other, or other columns.
TrajectoryErrors difference(const Samples& a, const Samples& b);

/// One of several schemes of a mechanical system that run side by side, in turns.
class MechanicsContestant {
 public:
  /// @param steps of the whole run
  /// @param keeps_samples whether positions and velocities are kept at each look
  /// @throws InputError where the scheme cannot start; one that fails there has failed at step 0
  MechanicsContestant(const Deck& deck, const std::string& label, std::int64_t steps,
                      std::int64_t look_every, bool keeps_samples);

  /// Makes its part of a run that has come to `at` of `total` steps. Only the steps are timed. A
  /// scheme that fails stays where it is. It looks at the last step too.
  void advance_to(std::int64_t at, std::int64_t total);
  /// Makes all of the steps once more without a look, unless it has failed; the shortest time
  /// counts.
  void time_again();
  /// That the steps took.
  double seconds() const { return seconds_; }

  MechanicsSchemeResult result() const;
  const Samples& samples() const { return samples_; }
  Drift drift() const;
  std::int64_t step() const { return result_.steps; }

 private:
  void look();

  Deck deck_;
  std::unique_ptr<MechanicsCase> case_;  // null: it could not begin
  std::int64_t last_step_, look_every_;
  bool keeps_samples_;
  MechanicsSchemeResult result_;
  std::vector<double> at_start_;
  Samples samples_;
  Drift drift_;
  double seconds_ = 0.0;
};

}  // namespace tarn
