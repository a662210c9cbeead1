#include "water_distances.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "tarn/analysis/rdf.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

/// Settings of the histograms, equal for all runs.
const ObserveRdf& rdf_of(const std::vector<ComparedRun>& runs) {
  return *runs.front().run.deck.rdf;
}

std::vector<double> bin_centres_A(const std::vector<ComparedRun>& runs) {
  return analysis::bin_centres_A(rdf_of(runs).r_max_A, rdf_of(runs).bins);
}

/// Axes of the densities, limited to the occupied bins.
io::Plot density_plot(const std::vector<ComparedRun>& runs, const std::vector<std::size_t>& drawn,
                      const std::vector<double>& centres_A) {
  const auto is_occupied = [&](std::size_t b) {
    return std::any_of(drawn.begin(), drawn.end(),
                       [&](std::size_t k) { return runs[k].histograms[kOO].counts[b] > 0.0; });
  };
  std::size_t low = 0, high = centres_A.size();
  while (low < high && !is_occupied(low)) ++low;
  while (high > low && !is_occupied(high - 1)) --high;
  const SchemeRun& first = runs.front().run;
  io::Plot plot;
  plot.title = fmt::format("Oxygen-oxygen distances, {} water molecules ({})", first.molecules,
                           first.deck.system.model);
  plot.x_label = "r (Å)";
  plot.y_label = "probability density (1/Å)";
  plot.height_pixels = 380;
  if (low < high) plot.x_range = {{centres_A[low] - 0.2, centres_A[high - 1] + 0.2}};
  return plot;
}

}  // namespace

void write_distances(const std::vector<ComparedRun>& runs, const std::string& provenance,
                     const std::string& folder) {
  constexpr std::array<const char*, kPairClasses> class_names{"OO", "OH", "HH"};
  std::vector<std::size_t> classes;
  for (std::size_t p = 0; p < class_names.size(); ++p) {
    if (rdf_of(runs).pairs[p]) classes.push_back(p);
  }
  std::vector<std::string> header{"r_A"};
  for (const ComparedRun& compared : runs) {
    for (const std::size_t p : classes) {
      const std::string name = compared.run.label + " " + class_names[p];
      header.push_back(name + "_count");
      header.push_back(name + "_density_per_A");
      header.push_back(name + "_density_per_A_err");
    }
  }
  const std::string path = folder + "/rdf.csv";
  io::CsvFormat csv(path, header);
  std::string text = csv.head(provenance +
                              "; probability densities of intermolecular distances: the integral "
                              "over r is 1 minus the part beyond r_max");
  const std::vector<double> centres_A = bin_centres_A(runs);
  for (std::size_t b = 0; b < centres_A.size(); ++b) {
    csv.cell(centres_A[b]);
    for (const ComparedRun& compared : runs) {
      for (const std::size_t p : classes) {
        const DistanceHistogram& h = compared.histograms[p];
        csv.cell(static_cast<std::int64_t>(h.counts[b]))
            .cell(h.density_per_A[b])
            .cell(h.error_per_A[b]);
      }
    }
    text += csv.row();
  }
  io::write_file(path, text);
}

io::Drawing draw_distances(const std::vector<ComparedRun>& runs,
                           const std::vector<std::size_t>& drawn, const std::string& folder) {
  const std::vector<double> centres_A = bin_centres_A(runs);
  io::Plot densities = density_plot(runs, drawn, centres_A);
  io::Plot differences = densities;
  differences.y_label = "difference from " + runs.front().run.label + " (1/Å)";
  const DistanceHistogram& first = runs.front().histograms[kOO];
  double top = 0.0, least = 0.0, most = 0.0;
  for (const std::size_t k : drawn) {
    const DistanceHistogram& h = runs[k].histograms[kOO];
    io::Series series;
    series.label = runs[k].run.label;
    series.x = centres_A;
    series.y = h.density_per_A;
    series.set_error(h.error_per_A);
    series.style = io::Series::Style::steps;
    densities.series.push_back(series);
    for (std::size_t b = 0; b < series.y.size(); ++b) {
      top = std::max(top, series.y[b]);
      series.y[b] -= first.density_per_A[b];
      least = std::min(least, series.y[b]);
      most = std::max(most, series.y[b]);
    }
    std::vector<double> errors = h.error_per_A;
    for (std::size_t b = 0; b < errors.size() && k > 0; ++b) {
      errors[b] = std::hypot(errors[b], first.error_per_A[b]);
    }
    series.set_error(errors);
    differences.series.push_back(std::move(series));
  }
  if (top > 0.0) densities.y_range = {{0.0, 1.1 * top}};
  const double margin = 0.1 * (most - least);
  differences.y_range = {{least - margin, most + margin}};
  std::vector<io::Plot> plots{densities};
  if (margin > 0.0 && !runs.front().run.has_lost_all_replicas()) plots.push_back(differences);
  return io::draw(plots, folder + "/rdf");
}

}  // namespace tarn
