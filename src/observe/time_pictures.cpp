#include "time_pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "downsampled_curve.hpp"
#include "observable.hpp"
#include "picture_parts.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/pictures.hpp"

// Pictures of tables with rows step,time_ps,replica,... against time.

namespace tarn {
namespace {

/// Mean, minimum and maximum over the rows of one step.
class StepGroup {
 public:
  void add(const RowValues& row) {
    of_panel_.resize(row.value.size());
    for (std::size_t p = 0; p < of_panel_.size(); ++p) {
      const double low = row.value[p] - row.error[p];
      const double high = row.value[p] + row.error[p];
      if (!std::isfinite(low + high)) continue;
      Values& of = of_panel_[p];
      of.sum += row.value[p];
      of.low = of.rows == 0 ? low : std::min(of.low, low);
      of.high = of.rows == 0 ? high : std::max(of.high, high);
      ++of.rows;
    }
  }
  void flush_to(double time_ps, std::vector<DownsampledCurve>& curves) {
    curves.resize(std::max(curves.size(), of_panel_.size()));
    for (std::size_t p = 0; p < of_panel_.size(); ++p) {
      const Values& of = of_panel_[p];
      if (of.rows > 0) curves[p].add(time_ps, of.sum / of.rows, of.low, of.high);
    }
    of_panel_.clear();
  }

 private:
  struct Values {
    int rows = 0;  // with a value
    double sum = 0.0, low = 0.0, high = 0.0;
  };
  std::vector<Values> of_panel_;
};

/// One curve per panel.
using Curves = std::vector<DownsampledCurve>;

/// Reads a table with rows `step,time_ps,replica,...`. @return curves for each temperature from
/// bath_of()
std::map<double, Curves> read_curves_by_bath(io::CsvReader& csv, const ValuesOfRow& values_of,
                                             const std::function<double(const Cells&)>& bath_of) {
  std::map<double, Curves> curves;
  std::map<double, StepGroup> groups;
  double time_ps = 0.0;
  const auto end_step = [&] {
    for (auto& [bath_K, group] : groups) group.flush_to(time_ps, curves[bath_K]);
  };
  const std::size_t time_column = csv.column("time_ps");
  Cells cells;
  while (csv.next(cells)) {
    const double time = csv.number(cells[time_column]);
    if (time != time_ps) end_step();
    time_ps = time;
    groups[bath_of(cells)].add(values_of(cells));
  }
  end_step();
  return curves;
}

/// Empty panels against time.
std::vector<io::Plot> empty_panels(const std::string& title,
                                   const std::vector<TimePanel>& columns) {
  std::vector<io::Plot> plots;
  for (const TimePanel& column : columns) {
    io::Plot& plot = plots.emplace_back();
    plot.title = title;
    plot.x_label = "time (ps)";
    plot.y_label = column.y_label;
  }
  return plots;
}

/// One panel per curve. @param band meaning of the bands
std::vector<io::Plot> panels_of(const std::string& title, Curves curves,
                                const std::vector<TimePanel>& columns, std::string_view band) {
  std::vector<io::Plot> plots = empty_panels(title, columns);
  curves.resize(plots.size());
  for (std::size_t p = 0; p < plots.size(); ++p) plots[p].series.push_back(curves[p].series(""));
  const auto has_band = [](const io::Plot& plot) { return !plot.series[0].low.empty(); };
  if (std::any_of(plots.begin(), plots.end(), has_band))
    plots.back().x_label += fmt::format("     line: mean; band: {}", band);
  return plots;
}

using Range = std::array<double, 2>;
/// Extends a range to include these ascending times.
void widen(std::optional<Range>& range, const std::vector<double>& times) {
  if (times.empty()) return;
  if (!range) range = {{times.front(), times.back()}};
  *range = {std::min((*range)[0], times.front()), std::max((*range)[1], times.back())};
}
/// Sets the time range of all panels, unless it is empty.
void show(const std::optional<Range>& range, std::vector<io::Plot>& plots) {
  if (!range || !((*range)[0] < (*range)[1])) return;
  for (io::Plot& plot : plots) plot.x_range = range;
}

/// One panel per quantity with one curve per bath, without bands, which would overlap.
std::vector<io::Plot> panels_by_bath(const std::string& title,
                                     const std::map<double, Curves>& curves,
                                     const std::vector<TimePanel>& columns) {
  std::vector<io::Plot> plots = empty_panels(title, columns);
  std::optional<Range> range;
  std::string note;
  for (std::size_t p = 0; p < plots.size(); ++p) {
    std::vector<io::Series>& series = plots[p].series;
    for (const auto& [bath_K, of_bath] : curves) {
      io::Series& curve = series.emplace_back(of_bath[p].series(bath_text(bath_K)));
      curve.low.clear();
      curve.high.clear();
      widen(range, curve.x);  // before smoothing, which shortens the curve
      smooth(curve);
    }
    if (!series.empty()) note = select_baths(series);
  }
  show(range, plots);
  plots.back().x_label += "     lines: means at each temperature" + note;
  return plots;
}

/// Bath temperature of a table row, for runs with several bath temperatures.
class BathOfRow {
 public:
  BathOfRow(const std::string& folder, const io::CsvReader& csv)
      : baths_K_(baths_of_run(folder)), csv_(csv), replica_(csv.column("replica")) {}

  bool several() const { return has_several_baths(baths_K_); }
  /// 0 if all baths are equal or the row is a mean over all replicas.
  double operator()(const Cells& cells) {
    is_mean_ = is_mean_ || cells[replica_] == "mean";
    if (!several() || is_mean_) return 0.0;
    const auto replica = static_cast<std::int64_t>(csv_.number(cells[replica_]));
    return baths_K_[ReplicaMap(baths_K_.size()).place(replica)];
  }
  /// Valid after the last row: whether rows are means over several temperatures.
  bool pools_several() const { return several() && is_mean_; }

 private:
  std::vector<double> baths_K_;
  const io::CsvReader& csv_;
  std::size_t replica_;
  bool is_mean_ = false;
};

/// One panel per quantity, with one curve per bath if there are several.
std::vector<io::Plot> panels_of_baths(const BathOfRow& bath, const std::string& title,
                                      const std::map<double, Curves>& curves,
                                      const std::vector<TimePanel>& columns,
                                      std::string_view band) {
  if (bath.several()) return panels_by_bath(title, curves, columns);
  return panels_of(title, curves.empty() ? Curves{} : curves.begin()->second, columns, band);
}

/// Removes empty panels, unless all are empty.
void leave_out_empty(std::vector<io::Plot>& plots) {
  const auto is_empty = [](const io::Plot& plot) {
    return std::ranges::all_of(plot.series, [](const io::Series& s) { return s.x.empty(); });
  };
  if (std::ranges::all_of(plots, is_empty)) return;
  const std::string x_label = plots.back().x_label;  // the last panel has the legend
  std::erase_if(plots, is_empty);
  plots.back().x_label = x_label;
}

/// Panels of table columns against time.
/// @return empty for means over several baths
std::vector<io::Plot> column_panels(const std::string& folder, const std::string& table,
                                    const std::string& title,
                                    const std::vector<TimePanel>& columns) {
  io::CsvReader csv(fmt::format("{}/{}.csv", folder, table));
  const bool means = csv.has_column(columns[0].name + "_err");
  std::vector<std::size_t> places, errors;
  for (const TimePanel& column : columns) {
    places.push_back(csv.column(column.name));
    if (means) errors.push_back(csv.column(column.name + "_err"));
  }
  const auto values_of = [&](const Cells& cells) {
    RowValues row{std::vector<double>(places.size())};
    for (std::size_t p = 0; p < places.size(); ++p) {
      row.value[p] = csv.number(cells[places[p]]);
      if (means) row.error[p] = csv.number(cells[errors[p]]);
    }
    return row;
  };
  std::vector<io::Plot> plots =
      time_panels(csv, folder, title, columns, values_of, means ? "standard error" : kExtremes);
  if (plots.empty()) return plots;
  const double begin_ps = equilibration_ps(folder);
  for (io::Plot& plot : plots) plot.shaded_until = begin_ps;
  if (!has_several_baths(baths_of_run(folder))) {
    // Curves may start at different times.
    std::optional<Range> range;
    for (const io::Plot& plot : plots) widen(range, plot.series[0].x);
    show(range, plots);
  }
  if (begin_ps > 0.0) plots.back().x_label += "     grey: excluded from averages";
  leave_out_empty(plots);
  return plots;
}

/// Fits the y axis to the part of the curves that is averaged, or to all after the first time.
void show_averaged_part(io::Plot& plot) {
  std::optional<Range> range;
  for (const io::Series& curve : plot.series) {
    const std::vector<double>& low = curve.low.empty() ? curve.y : curve.low;
    const std::vector<double>& high = curve.high.empty() ? curve.y : curve.high;
    for (std::size_t i = 1; i < curve.x.size(); ++i) {
      if (curve.x[i] < plot.shaded_until) continue;
      if (!range) range = {{low[i], high[i]}};
      *range = {std::min((*range)[0], low[i]), std::max((*range)[1], high[i])};
    }
  }
  if (!range || !((*range)[0] < (*range)[1])) return;
  const double margin = 0.1 * ((*range)[1] - (*range)[0]);
  plot.y_range = {{(*range)[0] - margin, (*range)[1] + margin}};
}

}  // namespace

std::vector<io::Plot> time_panels(io::CsvReader& csv, const std::string& folder,
                                  const std::string& title, const std::vector<TimePanel>& panels,
                                  const ValuesOfRow& values_of, std::string_view band) {
  BathOfRow bath(folder, csv);
  const auto curves =
      read_curves_by_bath(csv, values_of, [&](const Cells& cells) { return bath(cells); });
  if (bath.pools_several()) return {};
  return panels_of_baths(bath, title_of(title, csv.provenance()), curves, panels, band);
}

Pictures draw_panels(const std::string& folder, const std::string& name,
                     const std::vector<io::Plot>& plots, const io::PictureFormats& formats) {
  if (plots.empty()) {
    return {{},
            {Message::note(fmt::format("{}.csv has no picture: its rows are means over several "
                                       "temperatures. Set its replicas to a number or \"all\"",
                                       name))}};
  }
  return pictures_of(io::draw(plots, folder + '/' + name, formats));
}

DrawTable time_picture(const std::string& table, const std::string& title,
                       const std::vector<TimePanel>& panels, bool fits_averages) {
  return [=](const std::string& folder, const io::PictureFormats& formats) {
    const io::CsvReader csv(fmt::format("{}/{}.csv", folder, table));
    std::vector<TimePanel> present = panels;
    std::erase_if(present, [&](const TimePanel& panel) {
      return panel.optional && !csv.has_column(panel.name);
    });
    std::vector<io::Plot> plots = column_panels(folder, table, title, present);
    if (fits_averages) std::ranges::for_each(plots, show_averaged_part);
    return draw_panels(folder, table, plots, formats);
  };
}

Pictures draw_table(const std::string& folder, const std::string& table,
                    const io::PictureFormats& formats) {
  constexpr std::size_t kMostPanels = 6;
  const io::CsvReader csv(fmt::format("{}/{}.csv", folder, table));
  std::vector<io::Plot> plots;
  for (std::size_t c = kRowColumns.size(); c < csv.header().size(); ++c) {
    const std::string& column = csv.header()[c];
    const bool is_error =
        column.ends_with("_err") && csv.has_column(column.substr(0, column.size() - 4));
    if (is_error || plots.size() == kMostPanels) continue;
    if (!plots.empty()) plots.back().x_label = "time (ps)";  // the last panel has the legend
    for (io::Plot& plot : column_panels(folder, table, table, {{column, column}})) {
      plots.push_back(std::move(plot));
    }
  }
  return draw_panels(folder, table, plots, formats);
}

}  // namespace tarn
