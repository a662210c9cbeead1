#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observe/energy_drift.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/compare.hpp"
#include "tarn/engine.hpp"

/// @file
/// Conservation of the total energy and the momenta by schemes without a thermostat.

namespace tarn {

/// Changes of the conserved quantities of each replica, relative to its first sample.
class EnergyConservation {
 public:
  /// Adds a sample; samples must be equidistant in time. @param frame with conservation
  void add(const Frame& frame);

  struct Result {
    analysis::MeanError drift;  ///< per sampling interval, as EnergyDrift
    analysis::MeanError rms;    ///< [kcal/mol]; error from the spread of the replicas
    double max = 0.0;           ///< [kcal/mol]
    double momentum_max = 0.0;  ///< Euclidean norm [Da Å/AKMA time]
    double angular_max = 0.0;   ///< largest change about the origin [Da Å²/AKMA time]
  };
  /// Results for the replicas of the last sample. All are NaN with fewer than two samples, the
  /// drift with fewer than three.
  Result result() const;

 private:
  struct Changes {
    Conservation first;
    double samples = 0.0, squares = 0.0;
    double max = 0.0, momentum_max = 0.0, angular_max = 0.0;
  };

  EnergyDrift drift_;
  std::vector<std::int64_t> last_ids_;
  std::map<std::int64_t, Changes> replicas_;
};

/// "2.00", "2.00?" if fitted to only two points, or "-".
std::string order_text(const analysis::OrderFit& fit);

}  // namespace tarn
