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
#include "picture_parts.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/pictures.hpp"

// Pictures of tables with rows step,time_ps,replica,... against time.

namespace tarn {
namespace {

constexpr std::string_view kExtremes = "minimum to maximum";

/// Values of one table row for the panels, with errors.
template <std::size_t kPanels>
struct RowValues {
  std::array<double, kPanels> value{};
  std::array<double, kPanels> error{};
};

/// Mean, minimum and maximum over the rows of one step.
template <std::size_t kPanels>
class StepGroup {
 public:
  void add(const RowValues<kPanels>& row) {
    for (std::size_t p = 0; p < kPanels; ++p) {
      const double low = row.value[p] - row.error[p];
      const double high = row.value[p] + row.error[p];
      if (!std::isfinite(low + high)) continue;
      sum_[p] += row.value[p];
      low_[p] = rows_[p] == 0 ? low : std::min(low_[p], low);
      high_[p] = rows_[p] == 0 ? high : std::max(high_[p], high);
      ++rows_[p];
    }
  }
  void flush_to(double time_ps, std::array<DownsampledCurve, kPanels>& curves) {
    for (std::size_t p = 0; p < kPanels; ++p) {
      if (rows_[p] > 0) curves[p].add(time_ps, sum_[p] / rows_[p], low_[p], high_[p]);
    }
    *this = {};
  }

 private:
  std::array<int, kPanels> rows_{};  // rows with a value
  std::array<double, kPanels> sum_{}, low_{}, high_{};
};

/// One curve per panel.
template <std::size_t kPanels>
using Curves = std::array<DownsampledCurve, kPanels>;

/// Reads a table with rows `step,time_ps,replica,...`. @return curves for each temperature from
/// bath_of()
template <std::size_t kPanels>
std::map<double, Curves<kPanels>> read_curves_by_bath(
    io::CsvReader& csv, const std::function<RowValues<kPanels>(const Cells&)>& values_of,
    const std::function<double(const Cells&)>& bath_of) {
  std::map<double, Curves<kPanels>> curves;
  std::map<double, StepGroup<kPanels>> groups;
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

/// One panel per curve. @param band meaning of the bands
template <std::size_t kPanels>
std::vector<io::Plot> panels_of(const std::string& title,
                                const std::array<DownsampledCurve, kPanels>& curves,
                                const std::array<std::string_view, kPanels>& y_labels,
                                std::string_view band) {
  std::vector<io::Plot> plots(kPanels);
  for (std::size_t p = 0; p < kPanels; ++p) {
    plots[p].title = title;
    plots[p].x_label = "time (ps)";
    plots[p].y_label = y_labels[p];
    plots[p].series.push_back(curves[p].series(""));
  }
  const auto has_band = [](const io::Plot& plot) { return !plot.series[0].low.empty(); };
  if (std::any_of(plots.begin(), plots.end(), has_band))
    plots.back().x_label += fmt::format("     line: mean; band: {}", band);
  return plots;
}

/// Averages neighbouring points into at most 128, to distinguish crossing curves.
void smooth(io::Series& curve) {
  constexpr std::size_t kMost = 128;
  const std::size_t each = (curve.x.size() + kMost - 1) / kMost;
  if (each < 2) return;
  for (std::vector<double>* values : {&curve.x, &curve.y}) {
    std::vector<double> means;
    for (std::size_t first = 0; first < values->size(); first += each) {
      const std::size_t end = std::min(first + each, values->size());
      double sum = 0.0;
      for (std::size_t i = first; i < end; ++i) sum += (*values)[i];
      means.push_back(sum / static_cast<double>(end - first));
    }
    *values = std::move(means);
  }
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
template <std::size_t kPanels>
std::vector<io::Plot> panels_by_bath(const std::string& title,
                                     const std::map<double, Curves<kPanels>>& curves,
                                     const std::array<std::string_view, kPanels>& y_labels) {
  std::vector<io::Plot> plots(kPanels);
  std::optional<Range> range;
  std::string note;
  for (std::size_t p = 0; p < kPanels; ++p) {
    plots[p].title = title;
    plots[p].x_label = "time (ps)";
    plots[p].y_label = y_labels[p];
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
template <std::size_t kPanels>
std::vector<io::Plot> panels_of_baths(const BathOfRow& bath, const std::string& title,
                                      const std::map<double, Curves<kPanels>>& curves,
                                      const std::array<std::string_view, kPanels>& y_labels,
                                      std::string_view band) {
  if (bath.several()) return panels_by_bath<kPanels>(title, curves, y_labels);
  return panels_of(title, curves.empty() ? Curves<kPanels>{} : curves.begin()->second, y_labels,
                   band);
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
template <std::size_t kPanels>
std::vector<io::Plot> column_panels(const std::string& folder, const std::string& name,
                                    const std::string& title,
                                    const std::array<std::string, kPanels>& names,
                                    const std::array<std::string_view, kPanels>& y_labels) {
  io::CsvReader csv(fmt::format("{}/{}.csv", folder, name));
  const bool means = csv.has_column(names[0] + "_err");
  std::array<std::size_t, kPanels> columns{}, error_columns{};
  for (std::size_t p = 0; p < kPanels; ++p) {
    columns[p] = csv.column(names[p]);
    if (means) error_columns[p] = csv.column(names[p] + "_err");
  }
  BathOfRow bath(folder, csv);
  const auto curves = read_curves_by_bath<kPanels>(
      csv,
      [&](const Cells& cells) {
        RowValues<kPanels> row;
        for (std::size_t p = 0; p < kPanels; ++p) {
          row.value[p] = csv.number(cells[columns[p]]);
          if (means) row.error[p] = csv.number(cells[error_columns[p]]);
        }
        return row;
      },
      [&](const Cells& cells) { return bath(cells); });
  if (bath.pools_several()) return {};
  std::vector<io::Plot> plots =
      panels_of_baths<kPanels>(bath, title_of(title, csv.provenance()), curves, y_labels,
                               means ? "standard error" : kExtremes);
  const double begin_ps = equilibration_ps(folder);
  for (io::Plot& plot : plots) plot.shaded_until = begin_ps;
  if (!bath.several()) {
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

/// @param plots empty: rows are means over several temperatures
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

template <std::size_t kPanels>
Pictures draw_columns(const std::string& folder, const std::string& name, const std::string& title,
                      const std::array<std::string, kPanels>& names,
                      const std::array<std::string_view, kPanels>& y_labels,
                      const io::PictureFormats& formats) {
  return draw_panels(folder, name, column_panels<kPanels>(folder, name, title, names, y_labels),
                     formats);
}

double norm(const double* v) { return std::hypot(v[0], v[1], v[2]); }

}  // namespace

Pictures draw_energies(const std::string& folder, const io::PictureFormats& formats) {
  return draw_columns<3>(folder, "energies", "Energies",
                         {"potential_kcal_per_mol", "total_kcal_per_mol", "temperature_K"},
                         {"potential (kcal/mol)", "total (kcal/mol)", "temperature (K)"}, formats);
}

Pictures draw_cluster(const std::string& folder, const io::PictureFormats& formats) {
  if (!io::CsvReader(folder + "/cluster.csv").has_column("lindemann")) {
    return draw_columns<3>(folder, "cluster", "Cluster",
                           {"radius_of_gyration_A", "hydrogen_bonds", "dipole_D"},
                           {"radius of gyration (Å)", "hydrogen bonds", "dipole (D)"}, formats);
  }
  return draw_columns<4>(
      folder, "cluster", "Cluster",
      {"radius_of_gyration_A", "hydrogen_bonds", "dipole_D", "lindemann"},
      {"radius of gyration (Å)", "hydrogen bonds", "dipole (D)", "Lindemann index"}, formats);
}

Pictures draw_path_integral(const std::string& folder, const io::PictureFormats& formats) {
  std::vector<io::Plot> plots = column_panels<4>(
      folder, "path_integral", "Ring polymers",
      {"energy_virial_kcal_per_mol", "kinetic_o_meV", "kinetic_h_meV", "gyration2_h_A2"},
      {"energy (kcal/mol)", "kinetic energy of O (meV)", "kinetic energy of H (meV)",
       "radius of gyration² of H (Å²)"});
  for (io::Plot& plot : plots) show_averaged_part(plot);
  return draw_panels(folder, "path_integral", plots, formats);
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
    for (io::Plot& plot : column_panels<1>(folder, table, table, {column}, {column})) {
      plots.push_back(std::move(plot));
    }
  }
  return draw_panels(folder, table, plots, formats);
}

Pictures draw_conservation(const std::string& folder, const io::PictureFormats& formats) {
  io::CsvReader csv(folder + "/conservation.csv");
  constexpr std::size_t kColumns = 7;
  const std::array<std::string_view, kColumns> names{
      "energy_kcal_per_mol", "px_Da_A_per_ps",  "py_Da_A_per_ps", "pz_Da_A_per_ps",
      "lx_Da_A2_per_ps",     "ly_Da_A2_per_ps", "lz_Da_A2_per_ps"};
  std::array<std::size_t, kColumns> columns{};
  for (std::size_t c = 0; c < kColumns; ++c) columns[c] = csv.column(names[c]);
  const std::size_t replica_column = csv.column("replica");
  std::map<std::string, std::array<double, kColumns>, std::less<>> first_rows;
  BathOfRow bath(folder, csv);
  const auto curves = read_curves_by_bath<3>(
      csv,
      [&](const Cells& cells) {
        std::array<double, kColumns> now{};
        for (std::size_t c = 0; c < kColumns; ++c) now[c] = csv.number(cells[columns[c]]);
        const auto& first = first_rows.emplace(cells[replica_column], now).first->second;
        for (std::size_t c = 0; c < kColumns; ++c) now[c] -= first[c];
        return RowValues<3>{{now[0], norm(&now[1]), norm(&now[4])}, {}};
      },
      [&](const Cells& cells) { return bath(cells); });
  if (bath.pools_several()) return draw_panels(folder, "conservation", {}, formats);
  auto plots = panels_of_baths<3>(
      bath,
      title_of(has_thermostat(folder) ? "Energy and momenta (not conserved: thermostat)"
                                      : "Conservation",
               csv.provenance()),
      curves, {"E - E(0) (kcal/mol)", "|P - P(0)| (Da Å/ps)", "|L - L(0)| (Da Å²/ps)"}, kExtremes);
  for (std::size_t p = 1; p < plots.size(); ++p) {
    for (const io::Series& curve : plots[p].series) {
      plots[p].log_y = plots[p].log_y || std::any_of(curve.y.begin(), curve.y.end(),
                                                     [](double value) { return value > 0.0; });
    }
  }
  return pictures_of(io::draw(plots, folder + "/conservation", formats));
}

Pictures draw_heat(const std::string& folder, const io::PictureFormats& formats) {
  io::CsvReader csv(folder + "/heat.csv");
  const std::size_t heat = csv.column("heat_kcal_per_mol");
  const std::size_t conserved = csv.column("conserved_kcal_per_mol");
  const std::size_t work = csv.column("shadow_work_kcal_per_mol");
  const bool means = csv.has_column("heat_kcal_per_mol_err");
  const std::size_t replica_column = csv.column("replica");
  std::map<std::string, double, std::less<>> first_rows;
  BathOfRow bath(folder, csv);
  const auto curves = read_curves_by_bath<3>(
      csv,
      [&](const Cells& cells) {
        const double kept = csv.number(cells[conserved]);
        const double first = first_rows.emplace(cells[replica_column], kept).first->second;
        RowValues<3> row{
            {kept + csv.number(cells[heat]) - first, kept - first, csv.number(cells[work])}, {}};
        // Errors of energies are not errors of their changes.
        if (means) row.error[2] = csv.number(cells[work + 1]);
        return row;
      },
      [&](const Cells& cells) { return bath(cells); });
  if (bath.pools_several()) return draw_panels(folder, "heat", {}, formats);
  const std::string title = title_of("Heat and shadow work", csv.provenance());
  auto plots = panels_of_baths<3>(
      bath, title, curves,
      {"E - E(0) (kcal/mol)", "E - E(0) - heat (kcal/mol)", "shadow work (kcal/mol)"},
      means ? "standard error" : kExtremes);
  if (bath.several()) return pictures_of(io::draw(plots, folder + "/heat", formats));
  // Total energy and conserved quantity on the same axes.
  plots[0].series[0].label = "total energy";
  plots[0].series.push_back(std::move(plots[1].series[0]));
  plots[0].series[1].label = "total energy - heat";
  plots.erase(plots.begin() + 1);
  return pictures_of(io::draw(plots, folder + "/heat", formats));
}

}  // namespace tarn
