#include <algorithm>
#include <cmath>
#include <span>

#include "makers.hpp"
#include "table_observer.hpp"
#include "tarn/core/units.hpp"

namespace tarn {
namespace {

/// Means over the molecules of one configuration, and the shortest and longest O-H bond.
void append_geometry(std::span<const double> positions_A, std::vector<double>& values) {
  double oh = 0.0, hh = 0.0, angle = 0.0, shortest = 1e300, longest = 0.0;
  const std::size_t molecules = positions_A.size() / 9;
  for (std::size_t m = 0; m < molecules; ++m) {
    const double* x = &positions_A[9 * m];
    double d1[3], d2[3], l1 = 0.0, l2 = 0.0, dot = 0.0;
    for (int k = 0; k < 3; ++k) {
      d1[k] = x[3 + k] - x[k];
      d2[k] = x[6 + k] - x[k];
      l1 += d1[k] * d1[k];
      l2 += d2[k] * d2[k];
      dot += d1[k] * d2[k];
    }
    hh += std::sqrt(l1 + l2 - 2.0 * dot);
    l1 = std::sqrt(l1);
    l2 = std::sqrt(l2);
    oh += 0.5 * (l1 + l2);
    angle += std::acos(std::clamp(dot / (l1 * l2), -1.0, 1.0)) * 180.0 / units::pi;
    shortest = std::min({shortest, l1, l2});
    longest = std::max({longest, l1, l2});
  }
  const double n = static_cast<double>(molecules);
  values.insert(values.end(), {oh / n, hh / n, angle / n, shortest, longest});
}

}  // namespace

std::unique_ptr<Observer> make_geometry(const ObserveGeometry& section, const RunInfo& info) {
  TableSpec spec;
  spec.file = "geometry";
  spec.fields = kPositions | kOwnPositions;
  for (const char* where : {"q_", "x_"}) {
    for (const char* column : {"oh_A", "hh_A", "angle_degrees", "oh_shortest_A", "oh_longest_A"}) {
      spec.columns.push_back(std::string(where) + column);
    }
  }
  spec.averaged_columns = spec.columns.size();
  spec.append_values = [](const Frame& frame, std::size_t r, std::vector<double>& values) {
    append_geometry(frame.positions_A_of(r), values);
    append_geometry(frame.own_positions_A_of(r), values);
  };
  return std::make_unique<TableObserver>(spec, section.every, section.replicas, info);
}

}  // namespace tarn
