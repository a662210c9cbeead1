#include "water_correlations.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
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

}  // namespace tarn
