#include "water_distances.hpp"

#include <array>
#include <cstdint>

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

}  // namespace tarn
