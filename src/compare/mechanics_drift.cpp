#include "mechanics_drift.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "mechanics_errors.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

/// More points would draw oscillating changes as a band.
constexpr double kMaxPoints = 100.0;

/// The quantity of each panel: the first of these that all schemes have.
const std::array<std::vector<std::string_view>, 3> kPanels{
    {{"energy"},
     {"lz", "spatial_jz", "spatial_12", "momentum_dot_direction"},
     {"constraint_max", "rotation_error", "direction_norm2"}}};

/// The changes of a quantity; null if there is none of that name.
const std::vector<double>* changes_of(const Drift& drift, std::string_view name) {
  const auto found = std::find(drift.names.begin(), drift.names.end(), name);
  if (found == drift.names.end()) return nullptr;
  return &drift.changes[static_cast<std::size_t>(found - drift.names.begin())];
}

/// The largest absolute changes, by part of the run.
io::Series curve_of(const Drift& drift, std::string_view name, double time) {
  const std::vector<double>& changes = *changes_of(drift, name);
  io::Series curve;
  curve.label = drift.label;
  if (drift.has_failed) curve.label += fmt::format(", failed after {:g}", drift.times.back());
  double part = -1.0;
  for (std::size_t k = 0; k < drift.times.size(); ++k) {
    const double sample_part = std::ceil(drift.times[k] / time * kMaxPoints * (1.0 - 1e-12));
    if (sample_part != part) {
      curve.x.push_back(0.0);
      curve.y.push_back(0.0);
    }
    part = sample_part;
    curve.x.back() = drift.times[k];
    curve.y.back() = std::max(curve.y.back(), std::abs(changes[k]));
  }
  return curve;
}

}  // namespace

std::string drift_table(const std::vector<Drift>& drifts, const std::string& path,
                        const std::string& provenance) {
  // A scheme that failed at the start has no quantities.
  const auto with_most = std::max_element(
      drifts.begin(), drifts.end(),
      [](const Drift& a, const Drift& b) { return a.names.size() < b.names.size(); });
  std::vector<std::string> header{"scheme", "time"};
  for (const std::string& name : with_most->names) header.push_back(name + "_change");
  io::CsvFormat csv(path, header);
  std::string text = csv.head(provenance);
  for (const Drift& drift : drifts) {
    for (std::size_t k = 0; k < drift.times.size(); ++k) {
      csv.cell(std::string_view(drift.label)).cell(drift.times[k]);
      for (const std::string& name : with_most->names) {
        const std::vector<double>* changes = changes_of(drift, name);
        csv.cell_or_nan(changes ? (*changes)[k] : std::numeric_limits<double>::quiet_NaN());
      }
      text += csv.row();
    }
  }
  return text;
}

std::vector<io::Plot> drift_plots(const std::vector<Drift>& drifts) {
  double time = 0.0;
  for (const Drift& drift : drifts) {
    if (!drift.times.empty()) time = std::max(time, drift.times.back());
  }
  const auto all_have = [&](std::string_view name) {
    return std::all_of(drifts.begin(), drifts.end(), [&](const Drift& drift) {
      return drift.times.empty() || changes_of(drift, name) != nullptr;
    });
  };
  std::vector<io::Plot> plots;
  for (const auto& names : kPanels) {
    const auto name = std::find_if(names.begin(), names.end(), all_have);
    if (name == names.end()) continue;
    io::Plot plot;
    plot.x_label = "time";
    plot.y_label = fmt::format("change of {}", *name);
    plot.log_y = true;
    plot.height_pixels = 340;
    bool changes = false, any_failed = false;
    double low = std::numeric_limits<double>::infinity(),
           high = 0.0;  // of schemes that did not fail
    for (std::size_t k = 0; k < drifts.size(); ++k) {
      if (drifts[k].times.empty()) continue;
      io::Series& curve = plot.series.emplace_back(curve_of(drifts[k], *name, time));
      curve.colour = curve_colour(k);
      any_failed = any_failed || drifts[k].has_failed;
      for (const double y : curve.y) {
        if (!(y > 0.0)) continue;
        changes = true;
        if (drifts[k].has_failed) continue;
        low = std::min(low, y);
        high = std::max(high, y);
      }
    }
    if (any_failed && high > 0.0) plot.y_range = {0.5 * low, 10.0 * high};
    if (changes) plots.push_back(std::move(plot));
  }
  return plots;
}

}  // namespace tarn
