#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/device_probe.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/observer.hpp"
#include "tarn/ranks.hpp"
#include "tarn/run.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// Whether a quantity is 0 in every sample, such as the penalty of rigid molecules. The terminal
/// omits it; averages.csv contains it.
inline bool is_zero(const AveragedQuantity& a) { return a.mean == 0.0 && a.error == 0.0; }

/// Whether a quantity belongs to the maximum of the heat capacity.
inline bool is_of_peak(const AveragedQuantity& a) {
  return a.table == "heat_capacity" && !a.bath_K;
}

/// "maximum of the heat capacity: 117.99 +- 0.47 K, 0.2101 +- 0.0042 kcal/mol/K, prominence 0.11 +-
/// 0.01 kcal/mol/K, width 25.1 +- 1.2 K"; empty without one.
inline std::string peak_text(const std::vector<AveragedQuantity>& averages) {
  std::string text;
  for (const AveragedQuantity& a : averages) {
    if (!is_of_peak(a)) continue;
    const int digits = analysis::decimals_for(a.error);
    const std::string_view quantity = a.quantity;
    text += fmt::format("{}{}{:.{}f} +- {:.{}f} {}{}",
                        text.empty() ? "maximum of the heat capacity: " : ", ",
                        quantity.starts_with("peak_prominence") ? "prominence "
                        : quantity.starts_with("peak_width")    ? "width "
                                                                : "",
                        a.mean, digits, a.error, digits,
                        quantity.ends_with("mol_K") ? "kcal/mol/K" : "K", a.converged ? "" : " *");
  }
  return text;
}

/// "pictures: energies.svg, rdf.svg"; empty without any. They are in the output folder. The copies
/// as PNG are not listed.
inline std::string pictures_text(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    if (path.ends_with(".png")) continue;
    text += (text.empty() ? "pictures: " : ", ") + std::filesystem::path(path).filename().string();
  }
  return text;
}

/// "-57.553 +- 0.032": the error has two digits, and a star marks errors that are lower bounds;
/// sampling_warning() explains it.
/// Scientific notation replaces long rows of zeros.
std::string mean_text(const AveragedQuantity& a);

/// Prints one row per quantity. @param head heading of the first column
void print_averages(const std::vector<AveragedQuantity>& averages, const std::string& head,
                    Terminal& terminal);

/// "1 h 02 min", "3 min 05 s", "12 s".
inline std::string duration_text(double seconds) {
  const long s = std::lround(std::max(seconds, 0.0));
  if (s >= 3600) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  if (s >= 60) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} s", s);
}

inline std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.2f} M", per_second * 1e-6);
  if (per_second >= 1e4) return fmt::format("{:.1f} k", per_second * 1e-3);
  return fmt::format("{:.0f} ", per_second);
}

/// "12.3 ksteps/s  3.21 ns/day, 206 in total": one replica, and all replicas.
/// @param ns_per_day_total 0 for systems without units
inline std::string speed_text(double steps_per_second, double ns_per_day_per_replica,
                              double ns_per_day_total) {
  std::string text = rate_text(steps_per_second) + "steps/s";
  const auto digits = [](double x) {
    return x < 1000.0 ? fmt::format("{:.3g}", x) : fmt::format("{:.0f}", x);
  };
  if (ns_per_day_total > 0.0) text += "  " + digits(ns_per_day_per_replica) + " ns/day";
  if (ns_per_day_total > ns_per_day_per_replica) {
    text += ", " + digits(ns_per_day_total) + " in total";
  }
  return text;
}

/// A progress line, in parts.
struct ProgressText {
  explicit ProgressText(const Progress& p)
      : done(p.total_steps > 0 ? static_cast<double>(p.step) / static_cast<double>(p.total_steps)
                               : 1.0),
        percentage(fmt::format("{:5.1f} %", 100.0 * done)),
        speed("  " + speed_text(p.steps_per_second, p.ns_per_day_per_replica, p.ns_per_day_total)),
        time_left(p.step < p.total_steps ? fmt::format("  {} left", duration_text(p.seconds_left))
                                         : "") {}

  std::string full() const { return percentage + speed + time_left; }
  /// The line shortened to fewer than `columns` columns, because a full line would wrap. The bar is
  /// omitted first, then the speed, then the remaining time.
  std::string line(std::size_t columns) const {
    const std::size_t room = columns > 0 ? columns - 1 : 0;
    for (const std::string& text : {full(), percentage + time_left}) {
      for (const std::size_t width : {24, 12, 0}) {
        const std::size_t bar = width > 0 ? width + 3 : 0;
        if (text.size() + bar > room) continue;
        if (bar == 0) return text;
        const auto filled = static_cast<std::size_t>(
            std::lround(static_cast<double>(width) * std::clamp(done, 0.0, 1.0)));
        return fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(width - filled, '.'),
                           text);
      }
    }
    return percentage.substr(0, room);
  }

  double done;
  std::string percentage, speed, time_left;
};

/// Result of the search for devices: one indented line per device.
inline std::string probe_text(const DeviceProbe& probe) {
  std::string text;
  if (probe.status != ProbeStatus::ok) text += fmt::format("      {}\n", probe.message);
  if (!probe.driver_version.empty()) {
    text += fmt::format("      the driver supports CUDA up to {}\n", probe.driver_version);
  }
  for (const ProbedDevice& d : probe.devices) {
    text += fmt::format("      cuda:{} {}, compute capability {}, {} multiprocessors, {:.0f} GiB\n",
                        d.index, d.name, d.compute_capability, d.multiprocessors, d.memory_GiB);
  }
  return text;
}

/// One line per rank: processors, devices and share of the replicas.
inline std::string ranks_text(const std::vector<RankPlace>& places) {
  std::string text;
  for (const RankPlace& p : places) {
    text += fmt::format("      rank {}: {}, {} of {} on this node, {} of {}, {}; replicas {}/{}\n",
                        p.rank, p.host, p.rank_on_node + 1, p.ranks_on_node, p.threads,
                        count_text(p.processors, "processor"), fmt::join(p.devices, ", "),
                        p.rank + 1, places.size());
  }
  return text;
}

}  // namespace tarn::cli
