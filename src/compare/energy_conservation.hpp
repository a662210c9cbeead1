#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observe/energy_drift.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/compare.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/plot.hpp"

/// @file
/// What schemes without a thermostat make of the total energy and the momenta.

namespace tarn {

/// Changes of the conserved quantities of each replica since its first sample.
class EnergyConservation {
 public:
  /// The next of samples at equal intervals. @param frame with conservation
  void add(const Frame& frame);

  struct Result {
    analysis::MeanError drift;  ///< per sampling interval, as EnergyDrift
    analysis::MeanError rms;    ///< [kcal/mol]; its error from the spread of the replicas
    double max = 0.0;           ///< [kcal/mol]
    double momentum_max = 0.0;  ///< Euclidean norm [Da Å/AKMA time]
    double angular_max = 0.0;   ///< likewise, about the origin [Da Å²/AKMA time]
  };
  /// Of the replicas that came last. All are NaN with fewer than two samples, the drift with fewer
  /// than three.
  Result result() const;

 private:
  struct Changes {
    Conservation first;
    double samples = 0.0, squares = 0.0;
    double max = 0.0, momentum_max = 0.0, angular_max = 0.0;
  };

  EnergyDrift drift_;
  std::vector<std::int64_t> last_ids_;
  std::map<std::int64_t, Changes> of_replica_;
};

/// Schemes with steps of their own, by their place in `curves`.
struct EnergyPoint {
  std::size_t curve = 0;
  double timestep_fs = 0.0;
  double us_per_ps = 0.0;          ///< time for a picosecond of one cluster
  analysis::MeanError energy_rms;  ///< [kcal/mol]
  bool survived = true;            ///< false: a replica was lost; it is not drawn and has no order
  double us_per_ps_err = 0.0;      ///< standard error; NaN: not known
};

/// The order of the rms change of the energy by step, scheme by scheme.
std::vector<SchemeOrder> energy_orders(const std::vector<EnergyPoint>& points,
                                       const std::vector<std::string>& schemes);

/// That change against step, with orders in the legend, and against cost.
std::vector<io::Plot> energy_plots(const std::vector<EnergyPoint>& points,
                                   const std::vector<SchemeOrder>& orders);

}  // namespace tarn
