#include "bead_averages.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "observe/ring_columns.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

/// The columns of path_integral.csv with a limit for many beads.
std::vector<RingColumn> columns_with_limit() {
  std::vector<RingColumn> columns;
  std::ranges::copy_if(kRingColumns, std::back_inserter(columns), &RingColumn::has_limit);
  return columns;
}

const std::vector<RingColumn> kColumns = columns_with_limit();

/// The schemes with a label that have averages, in the order of their numbers of beads and steps.
std::vector<const SchemeResult*> schemes_of(const std::vector<SchemeResult>& schemes,
                                            const std::vector<std::string>& curve_labels,
                                            const std::string& label) {
  std::vector<const SchemeResult*> found;
  for (std::size_t k = 0; k < schemes.size(); ++k) {
    if (curve_labels[k] == label && !schemes[k].rings.empty()) found.push_back(&schemes[k]);
  }
  std::ranges::sort(found, {},
                    [](const SchemeResult* s) { return std::pair(s->beads, s->timestep_fs); });
  return found;
}

std::vector<std::string> different(const std::vector<std::string>& labels) {
  std::vector<std::string> found;
  for (const std::string& label : labels) {
    if (std::ranges::find(found, label) == found.end()) found.push_back(label);
  }
  return found;
}

}  // namespace

BeadAverages::BeadAverages(int replicas)
    : means_(kColumns.size(), analysis::PooledBlocking::of_replicas(replicas)) {}

void BeadAverages::add(const Frame& frame) {
  std::vector<double> values(frame.rings.size());
  for (std::size_t column = 0; column < kColumns.size(); ++column) {
    for (std::size_t r = 0; r < values.size(); ++r) {
      values[r] = kColumns[column].of(frame.rings[r]);
    }
    means_[column].add_replicas(frame.replica_ids, values);
  }
}

std::vector<AveragedQuantity> BeadAverages::result(double interval_ps) const {
  std::vector<AveragedQuantity> averages;
  for (std::size_t column = 0; column < kColumns.size(); ++column) {
    const analysis::Blocking blocking = means_[column].result();
    AveragedQuantity& average = averages.emplace_back();
    average.table = "beads";
    average.quantity = kColumns[column].name;
    average.mean = blocking.mean;
    average.error = blocking.error;
    average.independent_samples = means_[column].samples() / (2.0 * blocking.autocorrelation_time);
    average.autocorrelation_ps = blocking.autocorrelation_time * interval_ps;
  }
  return averages;
}

std::vector<SchemeBeadLimit> bead_limits(const std::vector<SchemeResult>& schemes,
                                         const std::vector<std::string>& curve_labels) {
  std::vector<SchemeBeadLimit> limits;
  for (const std::string& label : different(curve_labels)) {
    std::vector<const SchemeResult*> of_label = schemes_of(schemes, curve_labels, label);
    std::erase_if(of_label, [](const SchemeResult* s) {
      return s->beads == 1 || s->frequencies == RingFrequencies::economised;
    });
    if (of_label.empty()) continue;
    std::vector<int> beads;
    for (const SchemeResult* s : of_label) beads.push_back(s->beads);
    for (std::size_t column = 0; column < kColumns.size(); ++column) {
      // Both estimators of the energy have the same mean; the errors of this one grow with P, so
      // that few beads would determine its limit.
      if (kColumns[column].name == "energy_primitive_kcal_per_mol") continue;
      std::vector<analysis::MeanError> means;
      for (const SchemeResult* s : of_label) {
        means.push_back({s->rings[column].mean, s->rings[column].error});
      }
      limits.push_back(
          {label, std::string(kColumns[column].name), analysis::bead_limit(beads, means)});
    }
  }
  return limits;
}

void write_beads(const CompareResult& result, const std::string& provenance) {
  std::vector<std::string> header{"scheme", "beads", "timestep_fs", "us_per_ps"};
  for (const RingColumn& column : kColumns) {
    header.emplace_back(column.name);
    header.push_back(std::string(column.name) + "_err");
  }
  const std::string path = result.out_dir + "/beads.csv";
  io::CsvFormat csv(path, header);
  std::string text = csv.head(provenance + "; averages of ring polymers as in path_integral.csv");
  for (const SchemeResult& s : result.schemes) {
    csv.cell(std::string_view(s.label)).cell(static_cast<std::int64_t>(s.beads));
    csv.cell(s.timestep_fs).cell_or_nan(s.us_per_ps);
    for (std::size_t column = 0; column < kColumns.size(); ++column) {
      if (s.rings.empty()) {
        csv.cell_or_nan(SchemeResult::kNone).cell_or_nan(SchemeResult::kNone);
      } else {
        csv.cell_or_nan(s.rings[column].mean).cell_or_nan(s.rings[column].error);
      }
    }
    text += csv.row();
  }
  io::write_file(path, text);
}

void write_bead_limits(const CompareResult& result, const std::string& provenance) {
  const std::string path = result.out_dir + "/bead_limits.csv";
  io::CsvFormat csv(path, {"scheme", "quantity", "limit", "limit_err", "c1", "c2", "points", "chi2",
                           "degrees_of_freedom"});
  std::string text =
      csv.head(provenance + "; fits limit + c1/P^2 + c2/P^4 to the means of beads.csv");
  for (const SchemeBeadLimit& b : result.bead_limits) {
    csv.cell(std::string_view(b.label)).cell(std::string_view(b.quantity));
    for (const double number : {b.fit.limit.mean, b.fit.limit.error, b.fit.c1, b.fit.c2}) {
      csv.cell_or_nan(number);
    }
    csv.cell(static_cast<std::int64_t>(b.fit.points)).cell_or_nan(b.fit.chi2);
    csv.cell(static_cast<std::int64_t>(b.fit.degrees_of_freedom));
    text += csv.row();
  }
  io::write_file(path, text);
}

}  // namespace tarn
