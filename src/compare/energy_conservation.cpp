#include "energy_conservation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace tarn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

}  // namespace

void EnergyConservation::add(const Frame& frame) {
  std::vector<double> energies;
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const Conservation& now = frame.conservation[r];
    energies.push_back(now.energy_kcal_per_mol);
    Changes& changes = replicas_.try_emplace(frame.replica_ids[r], Changes{now}).first->second;
    const double change = now.energy_kcal_per_mol - changes.first.energy_kcal_per_mol;
    changes.samples += 1.0;
    changes.squares += change * change;
    changes.max = std::max(changes.max, std::abs(change));
    changes.momentum_max =
        std::max(changes.momentum_max,
                 distance(now.momentum_Da_A_per_akma, changes.first.momentum_Da_A_per_akma));
    changes.angular_max =
        std::max(changes.angular_max, distance(now.angular_momentum_Da_A2_per_akma,
                                               changes.first.angular_momentum_Da_A2_per_akma));
  }
  drift_.add(frame.replica_ids, energies);
  last_ids_ = frame.replica_ids;
}

EnergyConservation::Result EnergyConservation::result() const {
  Result result;
  result.drift = {kNone, kNone};
  if (last_ids_.empty() || replicas_.at(last_ids_.front()).samples < 2.0) {
    result.rms = {kNone, kNone};
    result.max = result.momentum_max = result.angular_max = kNone;
    return result;
  }
  if (const auto drift = drift_.result()) result.drift = drift->slope;
  std::vector<double> mean_squares;
  for (const std::int64_t id : last_ids_) {
    const Changes& changes = replicas_.at(id);
    mean_squares.push_back(changes.squares / changes.samples);
    result.max = std::max(result.max, changes.max);
    result.momentum_max = std::max(result.momentum_max, changes.momentum_max);
    result.angular_max = std::max(result.angular_max, changes.angular_max);
  }
  const analysis::MeanError squares = analysis::mean_and_error(mean_squares);
  result.rms.mean = std::sqrt(squares.mean);
  // d sqrt(s) = ds / (2 sqrt(s))
  if (squares.error > 0.0) result.rms.error = 0.5 * squares.error / result.rms.mean;
  return result;
}

std::string order_text(const analysis::OrderFit& fit) {
  if (!std::isfinite(fit.order)) return "-";
  return fmt::format("{:.2f}{}", fit.order, fit.points < 3 ? "?" : "");
}

}  // namespace tarn
