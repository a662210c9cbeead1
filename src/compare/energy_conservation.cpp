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

io::Plot energy_plot(const std::vector<EnergyPoint>& points, const std::vector<SchemeOrder>& orders,
                     bool cost) {
  io::Plot p;
  p.x_label = cost ? "time per picosecond of one cluster (µs)     labels: step (fs)" : "step (fs)";
  p.y_label = "rms change of the energy (kcal/mol)";
  p.log_x = p.log_y = true;
  p.height_pixels = 420;
  double left = std::numeric_limits<double>::infinity(), right = 0.0, low = left, high = 0.0;
  for (std::size_t curve = 0; curve < orders.size(); ++curve) {
    io::Series s;
    s.label = orders[curve].label;
    if (orders[curve].fit.points > 0) s.label += ", order " + order_text(orders[curve].fit);
    s.style = io::Series::Style::marked_line;
    s.colour = io::palette_colour(curve);
    std::vector<double> errors, cost_errors;
    for (const EnergyPoint& point : points) {
      if (point.curve != curve || !point.survived || !(point.energy_rms.mean > 0.0)) continue;
      s.x.push_back(cost ? point.us_per_ps : point.timestep_fs);
      if (cost) s.marks.push_back(fmt::format("{:g}", point.timestep_fs));
      s.y.push_back(point.energy_rms.mean);
      errors.push_back(point.energy_rms.error);
      cost_errors.push_back(point.us_per_ps_err);
      left = std::min(left, s.x.back());
      right = std::max(right, s.x.back());
      low = std::min(low, s.y.back());
      high = std::max(high, s.y.back());
    }
    if (s.x.empty()) continue;
    s.set_error(errors);
    if (cost) s.set_x_error(cost_errors);
    p.series.push_back(std::move(s));
  }
  if (p.series.empty()) return p;
  p.x_range = {{left / 1.3, right * 1.3}};
  p.y_range = {{low / 2.0, high * 2.0}};
  return p;
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

std::vector<SchemeOrder> energy_orders(const std::vector<EnergyPoint>& points,
                                       const std::vector<std::string>& schemes) {
  std::vector<SchemeOrder> orders;
  for (std::size_t curve = 0; curve < schemes.size(); ++curve) {
    std::vector<double> steps_fs, changes;
    for (const EnergyPoint& point : points) {
      if (point.curve != curve || !point.survived) continue;
      steps_fs.push_back(point.timestep_fs);
      changes.push_back(point.energy_rms.mean);
    }
    // The energy of the exact solution is constant.
    const std::vector<double> reference_errors(steps_fs.size(), 0.0);
    orders.push_back(
        {schemes[curve], "energy", analysis::fit_order(steps_fs, changes, reference_errors)});
  }
  return orders;
}

std::vector<io::Plot> energy_plots(const std::vector<EnergyPoint>& points,
                                   const std::vector<SchemeOrder>& orders) {
  return {energy_plot(points, orders, false), energy_plot(points, orders, true)};
}

}  // namespace tarn
