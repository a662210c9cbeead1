#include "bead_averages.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tarn {
namespace {

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

const std::vector<RingColumn>& bead_columns() {
  static const std::vector<RingColumn> columns = [] {
    std::vector<RingColumn> all;
    std::ranges::copy_if(kRingColumns, std::back_inserter(all), &RingColumn::has_limit);
    return all;
  }();
  return columns;
}

BeadAverages::BeadAverages(int replicas)
    : means_(bead_columns().size(), analysis::PooledBlocking::of_replicas(replicas)) {}

void BeadAverages::add(const Frame& frame) {
  std::vector<double> values(frame.rings.size());
  for (std::size_t column = 0; column < bead_columns().size(); ++column) {
    for (std::size_t r = 0; r < values.size(); ++r) {
      values[r] = bead_columns()[column].of(frame.rings[r]);
    }
    means_[column].add_replicas(frame.replica_ids, values);
  }
}

std::vector<AveragedQuantity> BeadAverages::result(double interval_ps) const {
  std::vector<AveragedQuantity> averages;
  for (std::size_t column = 0; column < bead_columns().size(); ++column) {
    const analysis::Blocking blocking = means_[column].result();
    AveragedQuantity& average = averages.emplace_back();
    average.table = "beads";
    average.quantity = bead_columns()[column].name;
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
    for (std::size_t column = 0; column < bead_columns().size(); ++column) {
      // Both estimators of the energy have the same mean; the errors of this one grow with P, so
      // that few beads would determine its limit.
      if (bead_columns()[column].name == "energy_primitive_kcal_per_mol") continue;
      std::vector<analysis::MeanError> means;
      for (const SchemeResult* s : of_label) {
        means.push_back({s->rings[column].mean, s->rings[column].error});
      }
      limits.push_back(
          {label, std::string(bead_columns()[column].name), analysis::bead_limit(beads, means)});
    }
  }
  return limits;
}

}  // namespace tarn
