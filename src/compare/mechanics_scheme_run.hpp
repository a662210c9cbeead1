#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "run/mechanics_case.hpp"
#include "tarn/compare.hpp"

namespace tarn {

/// The columns q0, q1, ... and v0, v1, ... of a trajectory, by sample.
struct Samples {
  std::vector<std::vector<double>> q, v;
};

/// Adds the current values of a case.
void add_sample(const MechanicsCase& mechanics_case, Samples& samples);

/// Changes of the conserved quantities with time.
struct Drift {
  std::string label;
  std::vector<std::string> names;
  std::vector<double> times;
  std::vector<std::vector<double>> changes;  ///< since the start, by quantity and time
  bool has_failed = false;                   ///< whether the scheme failed after the last time
};

/// Differences of two trajectories at the same times. NaN if their numbers of samples or columns
/// differ.
TrajectoryErrors difference(const Samples& a, const Samples& b);

/// The run of one scheme of a mechanical system among several that are interleaved.
class MechanicsSchemeRun {
 public:
  /// @param steps total number of steps
  /// @param keeps_samples whether positions and velocities are stored with each sample
  /// @throws InputError if the scheme cannot be used. A numerical failure at the start is recorded
  /// as a failure at step 0
  MechanicsSchemeRun(const Deck& deck, const std::string& label, std::int64_t steps,
                     std::int64_t sample_every, bool keeps_samples);

  /// Advances to the step that corresponds to step `at` of a run of `total` steps. Only the steps
  /// are timed. A scheme that fails stops. The last step is always sampled.
  void advance_to(std::int64_t at, std::int64_t total);
  /// Repeats all steps without samples, unless the scheme failed, and keeps the shortest time.
  void time_again();
  /// Time taken by the steps.
  double seconds() const { return seconds_; }

  MechanicsSchemeResult result() const;
  const Samples& samples() const { return samples_; }
  Drift drift() const;
  std::int64_t step() const { return result_.steps; }

 private:
  void record_sample();

  Deck deck_;
  std::unique_ptr<MechanicsCase> case_;  // null if the start failed
  std::int64_t last_step_, sample_every_;
  bool keeps_samples_;
  MechanicsSchemeResult result_;
  std::vector<double> at_start_;
  Samples samples_;
  Drift drift_;
  double seconds_ = 0.0;
};

}  // namespace tarn
