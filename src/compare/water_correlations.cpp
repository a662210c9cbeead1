#include "water_correlations.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "observe/picture_parts.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

struct Panel {
  std::string_view column, y_label;
};
constexpr std::array<Panel, 4> kPanels{{{"oh_p2", "O-H, P₂"},
                                        {"dipole_p1", "dipole, P₁"},
                                        {"bonded_still", "still bonded"},
                                        {"displacement_A2", "displacement² (Å²)"}}};

using Curves = std::array<io::Series, kPanels.size()>;

/// The curves of each scheme by panel, read from the table because it has all columns.
std::map<std::string, Curves> read_curves(const std::string& path) {
  io::CsvReader csv(path);
  std::map<std::string, Curves> all;
  const std::size_t scheme = csv.column("scheme"), time = csv.column("time_ps");
  std::array<std::size_t, kPanels.size()> columns{};
  for (std::size_t p = 0; p < kPanels.size(); ++p) columns[p] = csv.column(kPanels[p].column);
  for (Cells cells; csv.next(cells);) {
    Curves& curves = all[std::string(cells[scheme])];
    for (std::size_t p = 0; p < kPanels.size(); ++p) {
      add_known_point(csv.number(cells[time]), csv.number(cells[columns[p]]),
                      csv.number(cells[columns[p] + 1]), curves[p]);
    }
  }
  return all;
}

}  // namespace

void write_correlations(const std::vector<LabelledCorrelations>& all, const std::string& provenance,
                        const std::string& folder) {
  const std::string path = folder + "/correlation.csv";
  std::vector<std::string> header = Correlations::header();
  header.insert(header.begin(), "scheme");
  io::CsvFormat csv(path, header);
  std::string text = csv.head(provenance + "; " + std::string(Correlations::kRemark));
  for (const LabelledCorrelations& scheme : all) {
    for (std::size_t lag = 0; lag <= scheme.correlations->longest(); ++lag) {
      csv.cell(std::string_view(scheme.label));
      scheme.correlations->append_cells(lag, csv);
      text += csv.row();
    }
  }
  io::write_file(path, text);
}

void write_correlation_times(const CompareResult& result, const std::string& provenance) {
  const std::string path = result.out_dir + "/correlation_times.csv";
  std::vector<std::string> header{"scheme", "timestep_fs", "us_per_ps", "stopped_replicas",
                                  "interval_fs"};
  const std::vector<std::string> names = Correlations::names_of_times();
  for (const std::string& name : names) {
    for (const char* what : {"", "_err", "_converged"}) header.push_back(name + what);
  }
  io::CsvFormat csv(path, header);
  std::string text = csv.head(
      provenance +
      "; integrals of the correlation functions up to the last row; converged = 0: the error is a "
      "lower bound");
  for (const SchemeResult& s : result.schemes) {
    csv.cell(std::string_view(s.label)).cell(s.timestep_fs).cell_or_nan(s.us_per_ps);
    csv.cell(static_cast<std::int64_t>(s.blow_ups.size())).cell(s.correlation_interval_fs);
    for (const std::string& name : names) {
      constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
      const AveragedQuantity* time = s.correlation_time(name);
      csv.cell_or_nan(time ? time->mean : kUnknown).cell_or_nan(time ? time->error : kUnknown);
      csv.cell(std::int64_t{time && time->converged});
    }
    text += csv.row();
  }
  io::write_file(path, text);
}

io::Drawing draw_correlations(const std::vector<LabelledCorrelations>& all,
                              const std::string& title, const std::string& folder) {
  std::vector<io::Plot> plots(kPanels.size());
  for (std::size_t p = 0; p < kPanels.size(); ++p) {
    plots[p].title = title;
    plots[p].x_label = "time (ps)";
    plots[p].y_label = kPanels[p].y_label;
  }
  auto curves_of = read_curves(folder + "/correlation.csv");
  for (const LabelledCorrelations& scheme : all) {
    if (!scheme.is_drawn) continue;
    Curves& curves = curves_of[scheme.label];
    for (std::size_t p = 0; p < kPanels.size(); ++p) {
      if (curves[p].x.size() < 2) continue;
      downsample_tail(curves[p]);
      curves[p].label = scheme.label;
      plots[p].series.push_back(std::move(curves[p]));
    }
  }
  std::erase_if(plots, [](const io::Plot& plot) { return plot.series.empty(); });
  if (plots.empty()) return {};
  plots.back().x_label += "     bands: standard error";
  return io::draw(plots, folder + "/correlation");
}

}  // namespace tarn
