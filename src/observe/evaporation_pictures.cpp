#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "picture_parts.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

/// Per bath: the measured survival as a step function, and the curve of a constant rate.
struct Survival {
  std::vector<io::Series> seen, constant;
};

Survival read_survival(io::CsvReader& csv) {
  Survival all;
  const bool several = csv.has_column("bath_K");
  const std::size_t time = csv.column("time_ps"), survival = csv.column("survival");
  const std::size_t error = csv.column("survival_err"), constant = csv.column("at_constant_rate");
  double last_bath_K = -1.0;
  Cells cells;
  while (csv.next(cells)) {
    const double bath_K = several ? csv.number(cells[csv.column("bath_K")]) : 0.0;
    if (bath_K != last_bath_K) {
      all.seen.emplace_back().label = several ? bath_text(bath_K) : "measured";
      all.constant.emplace_back().dashed = true;
    }
    last_bath_K = bath_K;
    const double t = csv.number(cells[time]), share = csv.number(cells[survival]);
    io::Series& seen = all.seen.back();
    const double err = csv.number(cells[error]);
    if (!seen.x.empty()) {  // constant until the next departure
      const std::array before{seen.y.back(), seen.low.back(), seen.high.back()};
      seen.x.push_back(t);
      seen.y.push_back(before[0]);
      seen.low.push_back(before[1]);
      seen.high.push_back(before[2]);
    }
    add_known_point(t, share, err, seen);
    if (cells[constant] == "nan") continue;
    all.constant.back().x.push_back(t);
    all.constant.back().y.push_back(csv.number(cells[constant]));
  }
  return all;
}

/// Reduces a curve to at most `most` points and keeps its ends.
void downsample(io::Series& series, std::size_t most) {
  const std::size_t points = series.x.size();
  if (points <= most) return;
  for (std::vector<double>* numbers : {&series.x, &series.y, &series.low, &series.high}) {
    if (numbers->empty()) continue;
    for (std::size_t k = 0; k < most; ++k) {
      (*numbers)[k] = (*numbers)[k * (points - 1) / (most - 1)];
    }
    numbers->resize(most);
  }
}

/// Rates against 1/T with the Arrhenius fit; empty if fewer than two baths have departures.
std::vector<io::Plot> plot_of_rates(const std::string& table) {
  if (!std::filesystem::exists(table)) return {};
  io::CsvReader csv(table);
  if (!csv.has_column("arrhenius_rate_per_ns")) return {};
  const std::size_t bath = csv.column("bath_K"), departures = csv.column("departures");
  const std::size_t rate = csv.column("rate_per_ns");
  const std::size_t fitted = csv.column("arrhenius_rate_per_ns");
  io::Series seen, line;
  Cells cells;
  while (csv.next(cells)) {
    if (csv.number(cells[bath]) <= 0.0) continue;
    const double inverse = 1000.0 / csv.number(cells[bath]);
    if (cells[fitted] != "nan") {
      line.x.push_back(inverse);
      line.y.push_back(csv.number(cells[fitted]));
    }
    const double n = csv.number(cells[departures]), k = csv.number(cells[rate]);
    if (n == 0.0) continue;
    seen.x.push_back(inverse);
    seen.y.push_back(k);
    // Errors of ln k: the bar of a single departure stays above 0.
    seen.low.push_back(k * std::exp(-1.0 / std::sqrt(n)));
    seen.high.push_back(k * std::exp(1.0 / std::sqrt(n)));
  }
  if (seen.x.size() < 2) return {};
  seen.style = io::Series::Style::points;
  seen.label = "measured";
  line.label = "Arrhenius";
  io::Plot plot;
  plot.x_label = "1000 K / T     bars: standard error of the logarithm";
  plot.y_label = "rate (1/ns)";
  plot.log_y = true;
  plot.series.push_back(std::move(seen));
  if (line.x.size() > 1) plot.series.push_back(std::move(line));
  return {std::move(plot)};
}

}  // namespace

Pictures draw_evaporation(const std::string& folder, const io::PictureFormats& formats) {
  constexpr std::size_t kMostPoints = 600;
  io::CsvReader csv(folder + "/survival.csv");
  Survival survival = read_survival(csv);
  if (survival.seen.empty()) {
    return {{},
            {Message::warning(
                "survival.csv has no rows and no picture: [observe.evaporation] has no step after "
                "equilibration, or no replica was whole at the first one")}};
  }
  const bool several = csv.has_column("bath_K");
  const std::string note = several ? select_baths(survival.seen) : "";
  if (several) select_baths(survival.constant);
  io::Plot plot;
  plot.title = title_of("Evaporation", csv.provenance());
  plot.x_label = "time (ps)     band: standard error; dashed: constant rate" + note;
  plot.y_label = "fraction of whole replicas";
  plot.y_range = {{0.0, 1.05}};
  for (std::size_t b = 0; b < survival.seen.size(); ++b) {
    downsample(survival.seen[b], kMostPoints);
    downsample(survival.constant[b], kMostPoints);
    if (!several) {
      survival.seen[b].label = "";
      survival.constant[b].colour = io::palette_colour(1);
    }
    if (survival.constant[b].x.size() > 1) {
      io::Series& constant = survival.constant[b];
      constant.label = "";
      plot.series.push_back(std::move(constant));
    }
    plot.series.push_back(std::move(survival.seen[b]));
  }
  std::vector<io::Plot> plots{std::move(plot)};
  for (io::Plot& rates : plot_of_rates(folder + "/evaporation_rates.csv")) {
    plots.push_back(std::move(rates));
  }
  return pictures_of(io::draw(plots, folder + "/evaporation", formats));
}

}  // namespace tarn
