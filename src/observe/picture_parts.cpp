#include "picture_parts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tarn/io/atomic_file.hpp"

namespace tarn {
namespace {

/// Colour from blue (0) to dark red (1).
std::string bath_colour(double warmth) {
  constexpr std::array<std::array<double, 3>, 7> kRamp{{{49, 54, 149},
                                                        {0, 114, 178},
                                                        {86, 180, 233},
                                                        {0, 158, 115},
                                                        {230, 159, 0},
                                                        {213, 94, 0},
                                                        {128, 0, 38}}};
  const double place = warmth * (kRamp.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(place), kRamp.size() - 2);
  const double share = place - static_cast<double>(low);
  std::array<int, 3> colour{};
  for (std::size_t c = 0; c < colour.size(); ++c) {
    colour[c] =
        static_cast<int>(std::lround((1.0 - share) * kRamp[low][c] + share * kRamp[low + 1][c]));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]);
}

}  // namespace

std::string deck_value(const std::string& folder, std::string_view section, std::string_view key) {
  const std::string record = folder + "/run.json";
  if (!std::filesystem::exists(record)) return {};
  const std::string text = io::read_file(record);
  // The deck is a JSON string: its lines end with a backslash and an n.
  const std::size_t at = text.find(fmt::format("[{}]\\n", section));
  if (at == std::string::npos) return {};
  const std::string line = fmt::format("\\n{} = ", key);
  const std::size_t begin = text.find(line, at);
  if (begin == std::string::npos || begin > text.find("\\n[", at)) return {};
  const std::size_t value = begin + line.size();
  return text.substr(value, text.find("\\n", value) - value);
}

double equilibration_ps(const std::string& folder) {
  const std::string text = deck_value(folder, "run", "equilibration_ps");
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool has_thermostat(const std::string& folder) {
  const std::string kind = deck_value(folder, "thermostat", "kind");
  return !kind.empty() && kind.find("none") == std::string::npos;
}

std::vector<double> baths_of_run(const std::string& folder) {
  if (!has_thermostat(folder)) return {};
  std::string text = deck_value(folder, "thermostat", "temperatures_K");
  if (text.empty()) text = deck_value(folder, "thermostat", "temperature_K");
  std::vector<double> baths;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    double bath_K = 0.0;
    const auto read = std::from_chars(at, end, bath_K);
    if (read.ec == std::errc{}) baths.push_back(bath_K);
    at = read.ec == std::errc{} ? read.ptr : at + 1;
  }
  return baths;
}

std::string title_of(std::string_view what, std::string_view provenance) {
  const std::size_t begin = provenance.find("; ");
  if (begin == std::string_view::npos) return std::string(what);
  const std::string_view rest = provenance.substr(begin + 2);
  return fmt::format("{}: {}", what, rest.substr(0, std::min(rest.find(", seed"), rest.find(';'))));
}

std::string select_baths(std::vector<io::Series>& curves) {
  constexpr std::size_t kMost = 7;
  const std::size_t all = curves.size(), last = all - 1;
  const std::size_t steps = std::min(last, kMost - 1);
  std::vector<io::Series> chosen;
  for (std::size_t k = 0; k <= steps; ++k) {
    io::Series& curve =
        chosen.emplace_back(std::move(curves[k * last / std::max<std::size_t>(steps, 1)]));
    curve.colour =
        bath_colour(steps > 0 ? static_cast<double>(k) / static_cast<double>(steps) : 0.0);
  }
  curves = std::move(chosen);
  return curves.size() < all ? fmt::format("     {} of {} temperatures", curves.size(), all) : "";
}

std::string bath_text(double bath_K) { return fmt::format("{:g} K", bath_K); }

const char* mark_of_lower_bound(bool converged) { return converged ? "" : "*"; }

Pictures pictures_of(io::Drawing drawing) {
  Pictures pictures;
  pictures.paths = std::move(drawing.paths);
  pictures.failed = !drawing.warning.empty();
  if (pictures.failed) {
    pictures.messages.push_back(Message::warning(std::move(drawing.warning)));
  }
  return pictures;
}

std::vector<std::vector<io::Series>> read_curves(io::CsvReader& csv, std::string_view x,
                                                 const std::vector<std::string>& columns,
                                                 bool positive, std::string_view group) {
  const bool grouped = csv.has_column(group);
  const std::size_t x_column = csv.column(x), group_column = grouped ? csv.column(group) : 0;
  std::vector<std::size_t> places, errors;
  for (const std::string& column : columns) {
    places.push_back(csv.column(column));
    errors.push_back(csv.column(column + "_err"));
  }
  std::vector<std::vector<io::Series>> curves(columns.size());
  std::string last;
  Cells cells;
  while (csv.next(cells)) {
    if (curves.front().empty() || (grouped && cells[group_column] != last)) {
      if (grouped) last = cells[group_column];
      const std::string label =
          group == "bath_K" && grouped ? bath_text(csv.number(cells[group_column])) : last;
      for (std::vector<io::Series>& of_groups : curves) of_groups.emplace_back().label = label;
    }
    for (std::size_t c = 0; c < curves.size(); ++c) {
      io::Series& curve = curves[c].back();
      add_known_point(csv.number(cells[x_column]), csv.number(cells[places[c]]),
                      csv.number(cells[errors[c]]), curve);
      if (positive && !curve.low.empty()) curve.low.back() = std::max(0.0, curve.low.back());
    }
  }
  return curves;
}

double highest_of(const io::Plot& plot) {
  double highest = 0.0;
  for (const io::Series& curve : plot.series) {
    for (const double high : curve.high) highest = std::max(highest, high);
  }
  return highest;
}

double visible_range_A(const std::vector<io::Plot>& plots) {
  double last = 0.0;
  for (const io::Plot& plot : plots) {
    const double seen = 0.004 * highest_of(plot);
    for (const io::Series& curve : plot.series) {
      for (std::size_t i = 0; i < curve.x.size(); ++i) {
        if (curve.high[i] > seen) last = std::max(last, curve.x[i]);
      }
    }
  }
  return last > 0.0 ? 1.05 * last : std::numeric_limits<double>::infinity();
}

void add_known_point(double x, double y, double error, io::Series& series) {
  if (std::isnan(y)) return;
  series.x.push_back(x);
  series.y.push_back(y);
  series.low.push_back(y - error);
  series.high.push_back(y + error);
}

void downsample_tail(io::Series& series) {
  constexpr std::size_t kBeginning = 50, kOthers = 250;
  const std::size_t points = series.x.size();
  const std::size_t each = points > kBeginning ? (points - kBeginning + kOthers - 1) / kOthers : 1;
  for (std::vector<double>* numbers : {&series.x, &series.y, &series.low, &series.high}) {
    if (numbers->size() != points) continue;  // no band
    std::size_t kept = 0;
    for (std::size_t k = 0; k < points; ++k) {
      const bool last = k + 1 == points;
      if (k >= kBeginning && !last && (k - kBeginning) % each != 0) continue;
      (*numbers)[kept++] = (*numbers)[k];
    }
    numbers->resize(kept);
  }
}

}  // namespace tarn
