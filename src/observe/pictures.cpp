#include "tarn/observe/pictures.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "tarn/analysis/errors.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/io/xyz.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observe/structure_picture.hpp"
#include "thinned_curve.hpp"

namespace tarn {
namespace {

constexpr std::string_view kExtremes = "smallest to largest value";

/// A key of the deck that a run's record holds, as it stands there; nothing without a record.
std::string deck_value(const std::string& folder, std::string_view section, std::string_view key) {
  const std::string record = folder + "/run.json";
  if (!std::filesystem::exists(record)) return {};
  const std::string text = io::read_file(record);
  // The deck is a string of JSON: its lines end with a backslash and an n.
  const std::size_t at = text.find(fmt::format("[{}]\\n", section));
  if (at == std::string::npos) return {};
  const std::string line = fmt::format("\\n{} = ", key);
  const std::size_t begin = text.find(line, at);
  if (begin == std::string::npos || begin > text.find("\\n[", at)) return {};
  const std::size_t value = begin + line.size();
  return text.substr(value, text.find("\\n", value) - value);
}

/// The time that averages leave out.
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

/// Of replica r: element r modulo the length; empty: no thermostat, or no record.
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

/// What one row of a table gives the panels, with a spread about each value.
template <std::size_t kPanels>
struct RowValues {
  std::array<double, kPanels> value{};
  std::array<double, kPanels> error{};
};

/// "<what>: <model, molecules, replicas>" from the second part of the provenance.
std::string title_of(std::string_view what, std::string_view provenance) {
  const std::size_t begin = provenance.find("; ");
  if (begin == std::string_view::npos) return std::string(what);
  const std::string_view rest = provenance.substr(begin + 2);
  return fmt::format("{}: {}", what, rest.substr(0, std::min(rest.find(", seed"), rest.find(';'))));
}

/// Means and extremes over the rows of one step.
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
  void move_to(double time_ps, std::array<ThinnedCurve, kPanels>& curves) {
    for (std::size_t p = 0; p < kPanels; ++p) {
      if (rows_[p] > 0) curves[p].add(time_ps, sum_[p] / rows_[p], low_[p], high_[p]);
    }
    *this = {};
  }

 private:
  std::array<int, kPanels> rows_{};  // with a value
  std::array<double, kPanels> sum_{}, low_{}, high_{};
};

using Cells = std::vector<std::string_view>;

/// One curve a panel.
template <std::size_t kPanels>
using Curves = std::array<ThinnedCurve, kPanels>;

/// Reads a table of rows `step,time_ps,replica,...`. @return the curves of each temperature that
/// bath_of() tells
template <std::size_t kPanels>
std::map<double, Curves<kPanels>> read_curves_by_bath(
    io::CsvReader& csv, const std::function<RowValues<kPanels>(const Cells&)>& values_of,
    const std::function<double(const Cells&)>& bath_of) {
  std::map<double, Curves<kPanels>> curves;
  std::map<double, StepGroup<kPanels>> groups;
  double time_ps = 0.0;
  const auto end_step = [&] {
    for (auto& [bath_K, group] : groups) group.move_to(time_ps, curves[bath_K]);
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

/// Warm colours of hot baths.
std::string colour_of_warmth(double warmth) {
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

/// Leaves at most seven of the baths, from blue to dark red as they rise.
/// @return for the name of the last axis, how many of them; empty: all
std::string choose_baths(std::vector<io::Series>& curves) {
  constexpr std::size_t kMost = 7;
  const std::size_t all = curves.size(), last = all - 1;
  const std::size_t steps = std::min(last, kMost - 1);
  std::vector<io::Series> chosen;
  for (std::size_t k = 0; k <= steps; ++k) {
    io::Series& curve =
        chosen.emplace_back(std::move(curves[k * last / std::max<std::size_t>(steps, 1)]));
    curve.colour =
        colour_of_warmth(steps > 0 ? static_cast<double>(k) / static_cast<double>(steps) : 0.0);
  }
  curves = std::move(chosen);
  return curves.size() < all ? fmt::format("     {} of {} baths", curves.size(), all) : "";
}

/// "298.15 K"; with more digits only where they are needed.
std::string bath_text(double bath_K) { return fmt::format("{:g} K", bath_K); }

/// One panel a curve. @param band what the bands are
template <std::size_t kPanels>
std::vector<io::Plot> panels_of(const std::string& title,
                                const std::array<ThinnedCurve, kPanels>& curves,
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

/// Neighbours merged into at most 128 means, so that curves which cross can be told apart.
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

/// One panel a quantity with a curve a bath. They would hide each other's bands.
template <std::size_t kPanels>
std::vector<io::Plot> panels_by_bath(const std::string& title,
                                     const std::map<double, Curves<kPanels>>& curves,
                                     const std::array<std::string_view, kPanels>& y_labels) {
  std::vector<io::Plot> plots(kPanels);
  std::string note;
  for (std::size_t p = 0; p < kPanels; ++p) {
    plots[p].title = title;
    plots[p].x_label = "time (ps)";
    plots[p].y_label = y_labels[p];
    std::vector<io::Series>& series = plots[p].series;
    for (const auto& [bath_K, of_bath] : curves) {
      series.push_back(of_bath[p].series(bath_text(bath_K)));
      series.back().low.clear();
      series.back().high.clear();
      smooth(series.back());
    }
    if (!series.empty()) note = choose_baths(series);
  }
  plots.back().x_label += "     lines: means of a bath" + note;
  return plots;
}

Pictures pictures_of(io::Drawing drawing) {
  Pictures pictures;
  pictures.paths = std::move(drawing.paths);
  if (!drawing.warning.empty()) pictures.warnings.push_back(std::move(drawing.warning));
  return pictures;
}

/// Of which bath the rows of a table are, where those of its run have several temperatures.
class BathOfRow {
 public:
  BathOfRow(const std::string& folder, const io::CsvReader& csv)
      : baths_K_(baths_of_run(folder)), csv_(csv), replica_(csv.column("replica")) {}

  bool several() const { return has_several_baths(baths_K_); }
  /// 0 where all are the same, or a row is a mean over all of them.
  double operator()(const Cells& cells) {
    is_mean_ = is_mean_ || cells[replica_] == "mean";
    if (!several() || is_mean_) return 0.0;
    const auto replica = static_cast<std::size_t>(csv_.number(cells[replica_]));
    return baths_K_[replica % baths_K_.size()];
  }
  /// After the last row: whether rows are means over baths that have several temperatures.
  bool pools_several() const { return several() && is_mean_; }

 private:
  std::vector<double> baths_K_;
  const io::CsvReader& csv_;
  std::size_t replica_;
  bool is_mean_ = false;
};

/// A panel a quantity, with a curve a bath where there are several.
template <std::size_t kPanels>
std::vector<io::Plot> panels_of_baths(const BathOfRow& bath, const std::string& title,
                                      const std::map<double, Curves<kPanels>>& curves,
                                      const std::array<std::string_view, kPanels>& y_labels,
                                      std::string_view band) {
  if (bath.several()) return panels_by_bath<kPanels>(title, curves, y_labels);
  return panels_of(title, curves.empty() ? Curves<kPanels>{} : curves.begin()->second, y_labels,
                   band);
}

/// Columns of a table against time, one above the other.
/// @return none for means over several baths
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
  // A curve may begin later than those above it.
  const std::vector<double>& times_ps = plots[0].series[0].x;
  for (io::Plot& plot : plots) {
    plot.shaded_until = begin_ps;
    if (times_ps.size() > 1) plot.x_range = {{times_ps.front(), times_ps.back()}};
  }
  if (begin_ps > 0.0) plots.back().x_label += "     grey: left out of averages";
  return plots;
}

/// @param plots none: rows are means over baths of several temperatures
Pictures draw_panels(const std::string& folder, const std::string& name,
                     const std::vector<io::Plot>& plots, const io::PictureFormats& formats) {
  if (plots.empty()) {
    return {{},
            {fmt::format("{}.csv has means over baths of several temperatures, and no picture: set "
                         "its replicas to a number or \"all\"",
                         name)}};
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

/// One class of pairs in a table of radial distribution functions.
struct RdfClass {
  std::string name;
  std::size_t g, err;                // columns
  std::vector<io::Series> curves{};  // of each bath
};

double highest_of(const io::Plot& plot) {
  double highest = 0.0;
  for (const io::Series& curve : plot.series) {
    for (const double high : curve.high) highest = std::max(highest, high);
  }
  return highest;
}

/// Up to where anything can be seen of g.
double seen_to_A(const std::vector<io::Plot>& plots) {
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

/// What rows of a table of replicas begin with.
constexpr std::array<std::string_view, 3> kRowColumns{"step", "time_ps", "replica"};

/// Tables of replicas that no deck writes, without extension: those of a program's own observers.
std::vector<std::string> own_tables(const std::string& folder) {
  const std::vector<std::string> known = observer_file_names();
  std::vector<std::string> tables;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".csv" || !entry.is_regular_file()) continue;
    if (std::find(known.begin(), known.end(), path.filename()) != known.end()) continue;
    std::string first;
    std::getline(std::ifstream(path), first);
    if (!first.starts_with("# tarn ")) continue;
    const std::vector<std::string> header = io::CsvReader(path.string()).header();
    if (header.size() > kRowColumns.size() &&
        std::equal(kRowColumns.begin(), kRowColumns.end(), header.begin())) {
      tables.push_back(path.stem().string());
    }
  }
  std::sort(tables.begin(), tables.end());
  return tables;
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

std::optional<io::Series> heat_capacity_curve(const std::string& folder) {
  const std::string path = folder + "/heat_capacity.csv";
  if (!std::filesystem::exists(path)) return std::nullopt;
  io::CsvReader csv(path);
  const std::size_t temperature = csv.column("temperature_K");
  const std::size_t value = csv.column("heat_capacity_kcal_per_mol_K");
  const std::size_t error = csv.column("heat_capacity_err");
  io::Series curve;
  curve.label = "from all baths";
  std::vector<double> errors;
  Cells cells;
  while (csv.next(cells)) {
    curve.x.push_back(csv.number(cells[temperature]));
    curve.y.push_back(1000.0 * csv.number(cells[value]));
    errors.push_back(1000.0 * csv.number(cells[error]));
  }
  curve.set_error(errors);
  return curve;
}

Pictures draw_baths(const std::string& folder, const io::PictureFormats& formats) {
  struct Panel {
    std::string_view quantity, y_label;
    double unit;
  };
  constexpr std::array<Panel, 4> panels{
      {{"potential_kcal_per_mol", "potential (kcal/mol)", 1.0},
       {"heat_capacity_kcal_per_mol_K", "heat capacity (cal/mol/K)", 1000.0},
       {"hydrogen_bonds", "hydrogen bonds", 1.0},
       {"lindemann", "Lindemann index", 1.0}}};
  io::CsvReader csv(folder + "/averages.csv");
  if (!csv.has_column("bath_K")) return {};
  const std::size_t quantity = csv.column("quantity"), bath = csv.column("bath_K");
  const std::size_t mean = csv.column("mean"), error = csv.column("error");
  const std::size_t converged = csv.column("converged");
  std::array<io::Series, panels.size()> curves;
  std::array<std::vector<double>, panels.size()> errors;
  bool all_converged = true;
  Cells cells;
  while (csv.next(cells)) {
    for (std::size_t p = 0; p < panels.size(); ++p) {
      if (cells[quantity] != panels[p].quantity) continue;
      io::Series& curve = curves[p];
      const bool good = csv.number(cells[converged]) != 0.0;
      curve.x.push_back(csv.number(cells[bath]));
      curve.y.push_back(panels[p].unit * csv.number(cells[mean]));
      errors[p].push_back(panels[p].unit * csv.number(cells[error]));
      curve.marks.emplace_back(good ? "" : "*");
      all_converged = all_converged && good;
    }
  }
  std::vector<io::Plot> plots;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    if (curves[p].x.size() < 3) continue;
    io::Plot& plot = plots.emplace_back();
    plot.title = title_of("Baths", csv.provenance());
    plot.x_label = "temperature of the bath (K)";
    plot.y_label = panels[p].y_label;
    curves[p].style = io::Series::Style::marked_line;
    curves[p].set_error(errors[p]);
    if (panels[p].quantity == "heat_capacity_kcal_per_mol_K") {
      if (auto curve = heat_capacity_curve(folder)) {
        curves[p].style = io::Series::Style::points;
        curves[p].label = "of one bath";
        plot.series.push_back(std::move(*curve));
      }
    }
    plot.series.push_back(std::move(curves[p]));
  }
  if (plots.empty()) return {};
  plots.back().x_label += "     bars, band: standard error";
  if (!all_converged) plots.back().x_label += "     *: a lower bound, the run is too short";
  return pictures_of(io::draw(plots, folder + "/baths", formats));
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
      title_of(has_thermostat(folder) ? "Not conserved, with a thermostat" : "Conservation",
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
        // Those of the energies are not errors of what they gained.
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
  // The conserved quantity beside the total energy, on the same axes.
  plots[0].series[0].label = "total energy";
  plots[0].series.push_back(std::move(plots[1].series[0]));
  plots[0].series[1].label = "total energy - heat";
  plots.erase(plots.begin() + 1);
  return pictures_of(io::draw(plots, folder + "/heat", formats));
}

Pictures draw_exchange(const std::string& folder, const io::PictureFormats& formats) {
  std::vector<io::Plot> plots(2);
  io::CsvReader pairs(folder + "/exchange.csv");
  const std::size_t lower = pairs.column("lower_bath_K"), upper = pairs.column("upper_bath_K");
  const std::size_t attempts = pairs.column("attempts");
  const std::size_t acceptance = pairs.column("acceptance"), err = pairs.column("acceptance_err");
  plots[0].title = title_of("Replica exchange", pairs.provenance());
  plots[0].x_label = "temperature between the neighbours (K)     bars: standard error";
  plots[0].y_label = "acceptance";
  plots[0].y_range = {{0.0, 1.0}};
  io::Series& accepted = plots[0].series.emplace_back();
  accepted.style = io::Series::Style::marked_line;
  std::vector<double> errors;
  Cells cells;
  while (pairs.next(cells)) {
    if (pairs.number(cells[attempts]) == 0.0) continue;
    accepted.x.push_back(0.5 * (pairs.number(cells[lower]) + pairs.number(cells[upper])));
    accepted.y.push_back(pairs.number(cells[acceptance]));
    errors.push_back(pairs.number(cells[err]));
  }
  accepted.set_error(errors);

  // The ways of more than a few cannot be told apart.
  constexpr std::size_t kMostWalkers = 3;
  io::CsvReader walkers(folder + "/walkers.csv");
  const std::size_t time = walkers.column("time_ps");
  const std::size_t first = walkers.column("walker_0_bath_K");
  const std::size_t count = walkers.header().size() - first;
  const std::size_t shown = std::min(count, kMostWalkers);
  plots[1].x_label = "time (ps)     of the first ladder, each named by where it began";
  plots[1].y_label = "bath (K)";
  plots[1].series.resize(shown);
  bool labelled = false;
  while (walkers.next(cells)) {
    for (std::size_t w = 0; w < shown; ++w) {
      const std::size_t walker = w * (count - 1) / (shown - 1);
      io::Series& series = plots[1].series[w];
      const double bath_K = walkers.number(cells[first + walker]);
      if (!labelled) series.label = fmt::format("{:g} K", bath_K);
      series.x.push_back(walkers.number(cells[time]));
      series.y.push_back(bath_K);
    }
    labelled = true;
  }
  return pictures_of(io::draw(plots, folder + "/exchange", formats));
}

namespace {

/// Name of a curve.
std::string isomer_label(double number, double above_kcal_per_mol) {
  if (number == 1.0) return "isomer 1, the lowest";
  // At least two digits that are not 0, of the closest ones too.
  const int decimals = std::max(2, analysis::decimals_for(above_kcal_per_mol));
  return fmt::format("isomer {}, +{:.{}f} kcal/mol", static_cast<int>(number), above_kcal_per_mol,
                     decimals);
}

/// Shares against the temperature, of the minima with the largest ones.
io::Plot shares_by_bath(const std::string& table) {
  constexpr std::size_t kMost = 6;
  io::CsvReader csv(table);
  const std::size_t bath = csv.column("bath_K"), isomer = csv.column("isomer");
  const std::size_t above = csv.column("above_lowest_kcal_per_mol");
  const std::size_t share = csv.column("share"), error = csv.column("share_err");
  const std::size_t samples = csv.column("of_samples");
  io::Plot plot;
  plot.title = title_of("Inherent structures", csv.provenance());
  plot.x_label = "temperature of the bath (K)     bars: standard error";
  plot.y_label = "share of samples";
  plot.y_range = {{0.0, 1.0}};
  std::map<double, io::Series> curves;
  std::map<double, std::vector<double>> errors;
  std::map<double, double> rest;
  Cells cells;
  while (csv.next(cells)) {
    if (csv.number(cells[samples]) == 0.0) continue;
    const double number = csv.number(cells[isomer]), bath_K = csv.number(cells[bath]);
    io::Series& curve = curves[number];
    curve.label = isomer_label(number, csv.number(cells[above]));
    curve.x.push_back(bath_K);
    curve.y.push_back(csv.number(cells[share]));
    errors[number].push_back(csv.number(cells[error]));
    rest.try_emplace(bath_K, 1.0);
  }
  const auto largest = [&](double number) {
    return *std::max_element(curves[number].y.begin(), curves[number].y.end());
  };
  std::vector<double> shown;
  for (const auto& [number, curve] : curves) shown.push_back(number);
  std::stable_sort(shown.begin(), shown.end(),
                   [&](double a, double b) { return largest(a) > largest(b); });
  shown.resize(std::min(shown.size(), kMost));
  std::sort(shown.begin(), shown.end());
  for (const double number : shown) {
    io::Series& curve = curves[number];
    for (std::size_t i = 0; i < curve.x.size(); ++i) rest[curve.x[i]] -= curve.y[i];
    curve.style = io::Series::Style::marked_line;
    curve.set_error(errors[number]);
    plot.series.push_back(std::move(curve));
  }
  io::Series& others = plot.series.emplace_back();
  others.label = "all others";
  others.colour = "#888888";
  others.dashed = true;
  for (const auto& [bath_K, value] : rest) {
    others.x.push_back(bath_K);
    others.y.push_back(std::max(value, 0.0));
  }
  if (!rest.empty()) {
    const double margin = 0.02 * (rest.rbegin()->first - rest.begin()->first);
    plot.x_range = {{rest.begin()->first - margin, rest.rbegin()->first + margin}};
  }
  return plot;
}

/// Shares of all minima against their energies.
io::Plot shares_by_energy(const std::string& table) {
  io::CsvReader csv(table);
  const std::size_t above = csv.column("above_lowest_kcal_per_mol");
  const std::size_t share = csv.column("share"), error = csv.column("share_err");
  io::Plot plot;
  plot.title = title_of("Inherent structures", csv.provenance());
  plot.x_label = "energy above the lowest minimum (kcal/mol)     bars: standard error";
  plot.y_label = "share of samples";
  io::Series& points = plot.series.emplace_back();
  points.style = io::Series::Style::points;
  std::vector<double> errors;
  Cells cells;
  while (csv.next(cells)) {
    points.x.push_back(csv.number(cells[above]));
    points.y.push_back(csv.number(cells[share]));
    errors.push_back(csv.number(cells[error]));
  }
  points.set_error(errors);
  if (!points.x.empty())
    plot.x_range = {{-0.03 * points.x.back() - 0.01, 1.03 * points.x.back() + 0.01}};
  return plot;
}

/// The lowest isomers themselves, as many as can be told apart.
std::vector<DrawnCluster> lowest_isomers(const std::string& path) {
  constexpr std::size_t kMost = 12;
  int molecules = 0;
  std::vector<DrawnCluster> clusters;
  io::XyzReader reader(path);
  while (clusters.size() < kMost) {
    const auto structure = reader.next();
    if (!structure) break;
    molecules += structure->molecules;
    if (molecules > kMostDrawnMolecules) break;
    clusters.push_back({structure->positions_A, label_of_frame(*structure)});
  }
  return clusters;
}

}  // namespace

Pictures draw_isomers(const std::string& folder, const io::PictureFormats& formats) {
  const std::string by_bath = folder + "/isomers_by_bath.csv";
  const io::Plot plot = std::filesystem::exists(by_bath)
                            ? shares_by_bath(by_bath)
                            : shares_by_energy(folder + "/isomers.csv");
  if (plot.series.front().x.empty()) {
    return {{},
            {"isomers.csv has no rows, and no picture: no step of [observe.minima] came after the "
             "equilibration"}};
  }
  Pictures pictures = pictures_of(io::draw(plot, folder + "/isomers", formats));
  const std::string structures = folder + "/isomers.xyz";
  const bool wanted =
      std::find(formats.begin(), formats.end(), io::PictureFormat::svg) != formats.end();
  if (!wanted || !std::filesystem::exists(structures)) return pictures;
  const std::vector<DrawnCluster> clusters = lowest_isomers(structures);
  if (clusters.empty()) return pictures;
  pictures.paths.push_back(folder + "/isomers_structures.svg");
  io::write_file(pictures.paths.back(), structure_svg(clusters, {}));
  return pictures;
}

namespace {

Pictures draw_distributions(const std::string& table, const std::string& path_without_extension,
                            const io::PictureFormats& formats, const std::string& end_of_title) {
  io::CsvReader csv(table);
  const bool by_bath = csv.has_column("bath_K");
  const std::size_t r_column = csv.column("r_A");
  std::vector<RdfClass> classes;
  for (const std::string_view pair : {"OO", "OH", "HH"}) {
    if (!csv.has_column(fmt::format("{}_g", pair))) continue;
    classes.push_back({fmt::format("{}–{}", pair[0], pair[1]),
                       csv.column(fmt::format("{}_g", pair)),
                       csv.column(fmt::format("{}_g_err", pair))});
  }
  double last_r = 0.0;
  double width = 0.0;
  Cells cells;
  while (csv.next(cells)) {
    const double r = csv.number(cells[r_column]);
    if (r <= last_r || classes.front().curves.empty()) {
      width = 2.0 * r;  // the first bin begins at 0
      for (RdfClass& c : classes) {
        c.curves.emplace_back().label =
            by_bath ? bath_text(csv.number(cells[csv.column("bath_K")])) : c.name;
      }
    }
    last_r = r;
    for (RdfClass& c : classes) {
      const double g = csv.number(cells[c.g]);
      const double err = csv.number(cells[c.err]);
      io::Series& curve = c.curves.back();
      curve.x.push_back(r);
      curve.y.push_back(g);
      curve.low.push_back(std::max(0.0, g - err));
      curve.high.push_back(g + err);
    }
  }
  // A panel a class with the baths in it, or one with all classes.
  std::vector<io::Plot> plots(by_bath ? classes.size() : 1);
  std::string note;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    io::Plot& plot = plots[by_bath ? c : 0];
    plot.y_label =
        by_bath ? fmt::format("g(r) of {}", classes[c].name) : "g(r), relative to an even spread";
    if (by_bath) note = choose_baths(classes[c].curves);
    for (io::Series& curve : classes[c].curves) plot.series.push_back(std::move(curve));
  }
  const double r_end = std::min(last_r + 0.5 * width, seen_to_A(plots));
  for (io::Plot& plot : plots) {
    plot.title = title_of("Radial distribution", csv.provenance()) + end_of_title;
    plot.x_label = "r (Å)";
    plot.x_range = {{0.0, r_end}};
    plot.y_range = {{0.0, highest_of(plot) > 0.0 ? 1.08 * highest_of(plot) : 1.0}};
  }
  plots.back().x_label += "     band: standard error" + note;
  return pictures_of(io::draw(plots, path_without_extension, formats));
}

}  // namespace

Pictures draw_rdf(const std::string& folder, const io::PictureFormats& formats) {
  const std::string by_bath = folder + "/rdf_by_bath.csv";
  const bool several = std::filesystem::exists(by_bath);
  const std::vector<double> baths = baths_of_run(folder);
  return draw_distributions(several ? by_bath : folder + "/rdf.csv", folder + "/rdf", formats,
                            several || baths.empty() ? "" : ", " + bath_text(baths.front()));
}

Pictures draw_rdf_table(const std::string& table, const std::string& path_without_extension,
                        const io::PictureFormats& formats) {
  return draw_distributions(table, path_without_extension, formats, "");
}

Pictures draw_modes_table(const std::string& table, const std::string& path_without_extension,
                          const io::PictureFormats& formats) {
  io::CsvReader csv(table);
  const std::size_t wavenumber = csv.column("wavenumber_per_cm");
  const std::size_t intensity = csv.column("ir_intensity_km_per_mol");
  const std::size_t first_share = csv.column("translation");
  struct Kind {
    std::string_view label, colour;
  };
  constexpr std::array<Kind, 3> kinds{
      {{"molecules move", "#0072B2"}, {"molecules turn", "#D55E00"}, {"bonds vibrate", "#009E73"}}};
  std::array<io::Series, kinds.size()> sticks;
  Cells cells;
  while (csv.next(cells)) {
    const double per_cm = csv.number(cells[wavenumber]);
    if (per_cm == 0.0) continue;
    std::size_t most = 0;
    for (std::size_t kind = 1; kind < kinds.size(); ++kind) {
      if (csv.number(cells[first_share + kind]) > csv.number(cells[first_share + most])) {
        most = kind;
      }
    }
    sticks[most].x.push_back(per_cm);
    sticks[most].y.push_back(csv.number(cells[intensity]));
  }
  std::vector<io::Plot> plots;
  const auto add = [&](std::size_t first, std::size_t count) {
    io::Plot plot;
    plot.title = title_of("Normal modes", csv.provenance());
    plot.x_label = "wavenumber (cm⁻¹)";
    plot.y_label = "intensity (km/mol)";
    double low = 0.0, high = 0.0, top = 0.0;
    for (std::size_t kind = first; kind < first + count; ++kind) {
      io::Series& series = sticks[kind];
      if (series.x.empty()) continue;
      series.label = kinds[kind].label;
      series.colour = kinds[kind].colour;
      series.style = io::Series::Style::sticks;
      const auto [least, most] = std::minmax_element(series.x.begin(), series.x.end());
      low = std::min(low, *least);
      high = std::max(high, *most);
      top = std::max(top, *std::max_element(series.y.begin(), series.y.end()));
      plot.series.push_back(std::move(series));
    }
    if (plot.series.empty()) return;
    if (low < 0.0) plot.x_label += "     below 0: imaginary";
    plot.x_range = {{1.05 * low, 1.05 * high}};
    plot.y_range = {{0.0, top > 0.0 ? 1.08 * top : 1.0}};
    plots.push_back(std::move(plot));
  };
  add(0, 2);
  add(2, 1);
  if (plots.empty()) {
    return {{}, {fmt::format("{} has no vibrations, and no picture", table)}};
  }
  return pictures_of(io::draw(plots, path_without_extension, formats));
}

Pictures draw_spectrum(const std::string& folder, const io::PictureFormats& formats) {
  io::CsvReader csv(folder + "/spectrum.csv");
  struct Panel {
    std::string_view column, y_label;
  };
  constexpr std::array<Panel, 2> panels{
      {{"states_cm", "modes per cm⁻¹"},
       {"absorption_km_cm_per_mol", "absorption (km/mol per cm⁻¹)"}}};
  std::array<std::size_t, panels.size()> columns{};
  std::vector<io::Plot> plots(panels.size());
  for (std::size_t p = 0; p < panels.size(); ++p) {
    columns[p] = csv.column(panels[p].column);
    plots[p].title = title_of("Spectrum", csv.provenance());
    plots[p].x_label = "wavenumber (cm⁻¹)";
    plots[p].y_label = panels[p].y_label;
    plots[p].series.resize(1);
  }
  Cells cells;
  while (csv.next(cells)) {
    for (std::size_t p = 0; p < panels.size(); ++p) {
      const double value = csv.number(cells[columns[p]]);
      const double error = csv.number(cells[columns[p] + 1]);
      io::Series& series = plots[p].series[0];
      series.x.push_back(csv.number(cells[0]));
      series.y.push_back(value);
      series.low.push_back(std::max(0.0, value - error));
      series.high.push_back(value + error);
    }
  }
  if (plots[0].series[0].x.size() < 2) {
    return {{},
            {"spectrum.csv has no rows, and no picture: the run after equilibration is shorter "
             "than a segment, see [observe.spectrum] resolution_per_cm"}};
  }
  std::size_t last = 1;
  for (const io::Plot& plot : plots) {
    const std::vector<double>& y = plot.series[0].y;
    const double most = 0.99 * std::accumulate(y.begin(), y.end(), 0.0);
    double sum = 0.0;
    for (std::size_t i = 0; i < y.size() && (sum += y[i]) < most; ++i) last = std::max(last, i);
  }
  const std::vector<double>& x = plots[0].series[0].x;
  for (io::Plot& plot : plots) plot.x_range = {{0.0, std::min(1.2 * x[last], x.back())}};
  plots.back().x_label += "     band: standard error";
  // The cluster as a whole stands near zero, and would leave little height to the rest.
  constexpr double kWhole_per_cm = 50.0;
  double highest = 0.0, highest_behind = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double high = plots[0].series[0].high[i];
    highest = std::max(highest, high);
    if (x[i] > kWhole_per_cm) highest_behind = std::max(highest_behind, high);
  }
  if (highest > 1.5 * highest_behind && highest_behind > 0.0) {
    plots[0].y_range = {{0.0, 1.1 * highest_behind}};
    plots.back().x_label += fmt::format("     modes near 0 up to {:.2g}", highest);
  }
  return pictures_of(io::draw(plots, folder + "/spectrum", formats));
}

Pictures draw_run(const std::string& folder, const io::PictureFormats& formats) {
  if (is_mechanical_run(folder)) return draw_mechanical_run(folder, formats);
  Pictures all;
  const auto take = [&](const Pictures& some) {
    all.paths.insert(all.paths.end(), some.paths.begin(), some.paths.end());
    all.warnings.insert(all.warnings.end(), some.warnings.begin(), some.warnings.end());
  };
  const auto add = [&](const char* table,
                       Pictures (*draw)(const std::string&, const io::PictureFormats&)) {
    if (std::filesystem::exists(folder + table)) take(draw(folder, formats));
  };
  add("/energies.csv", draw_energies);
  add("/conservation.csv", draw_conservation);
  add("/heat.csv", draw_heat);
  add("/cluster.csv", draw_cluster);
  add("/rdf.csv", draw_rdf);
  add("/exchange.csv", draw_exchange);
  add("/spectrum.csv", draw_spectrum);
  add("/isomers.csv", draw_isomers);
  add("/averages.csv", draw_baths);
  for (const std::string& table : own_tables(folder)) take(draw_table(folder, table, formats));
  return all;
}

}  // namespace tarn
