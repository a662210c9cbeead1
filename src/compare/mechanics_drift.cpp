#include "mechanics_drift.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

/// The changes of a quantity; null if there is none of that name.
const std::vector<double>* changes_of(const Drift& drift, std::string_view name) {
  const auto found = std::find(drift.names.begin(), drift.names.end(), name);
  if (found == drift.names.end()) return nullptr;
  return &drift.changes[static_cast<std::size_t>(found - drift.names.begin())];
}

}  // namespace

std::string drift_table(const std::vector<Drift>& drifts, const std::string& path,
                        const std::string& provenance) {
  // A scheme that failed at the start has no quantities.
  const auto with_most = std::max_element(
      drifts.begin(), drifts.end(),
      [](const Drift& a, const Drift& b) { return a.names.size() < b.names.size(); });
  std::vector<std::string> header{"scheme", "time"};
  for (const std::string& name : with_most->names) header.push_back(name + "_change");
  io::CsvFormat csv(path, header);
  std::string text = csv.head(provenance);
  for (const Drift& drift : drifts) {
    for (std::size_t k = 0; k < drift.times.size(); ++k) {
      csv.cell(std::string_view(drift.label)).cell(drift.times[k]);
      for (const std::string& name : with_most->names) {
        const std::vector<double>* changes = changes_of(drift, name);
        csv.cell_or_nan(changes ? (*changes)[k] : std::numeric_limits<double>::quiet_NaN());
      }
      text += csv.row();
    }
  }
  return text;
}

}  // namespace tarn
