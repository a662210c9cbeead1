#include "energy_drift.hpp"

#include <cmath>

#include "analysis/blocking.hpp"
#include "tarn/analysis/convergence.hpp"

namespace tarn {

void EnergyDrift::add(std::span<const std::int64_t> ids, std::span<const double> values) {
  if (full_blocks() == kMost) {
    for (auto& [id, of] : of_replica_) {
      for (std::size_t b = 0; 2 * b + 1 < of.sums.size(); ++b) {
        of.sums[b] = of.sums[2 * b] + of.sums[2 * b + 1];
      }
      of.sums.resize(of.sums.size() / 2);
    }
    length_ *= 2;
  }
  const bool begins = samples_ % length_ == 0;
  for (std::size_t r = 0; r < ids.size(); ++r) {
    Sums& of = of_replica_.try_emplace(ids[r], Sums{values[r]}).first->second;
    if (begins) of.sums.push_back(0.0);
    of.sums.back() += values[r] - of.first;
  }
  ++samples_;
  last_ids_.assign(ids.begin(), ids.end());
}

std::optional<EnergyDrift::Result> EnergyDrift::result() const {
  const std::size_t blocks = full_blocks();
  if (blocks < 3 || last_ids_.empty()) return std::nullopt;
  const auto length = static_cast<double>(length_);
  std::vector<double> times(blocks), means(blocks), slopes;
  for (std::size_t b = 0; b < blocks; ++b) times[b] = length * static_cast<double>(b);
  analysis::LineFit line;
  for (const std::int64_t id : last_ids_) {
    const Sums& of = of_replica_.at(id);
    for (std::size_t b = 0; b < blocks; ++b) means[b] = of.sums[b] / length;
    line = analysis::fit_line(times, means);
    slopes.push_back(line.slope);
  }
  Result result;
  result.slope = analysis::mean_and_error(slopes);
  result.replicas = static_cast<std::int64_t>(slopes.size());
  if (slopes.size() > 1) return result;
  const double middle = 0.5 * (times.front() + times.back());
  double squares = 0.0, spread = 0.0;
  for (std::size_t b = 0; b < blocks; ++b) {
    means[b] -= line.intercept + line.slope * times[b];
    squares += means[b] * means[b];
    spread += (times[b] - middle) * (times[b] - middle);
  }
  const analysis::Blocking scatter = analysis::blocking(means);
  result.slope.error = std::sqrt(squares / static_cast<double>(blocks - 2) / spread * 2.0 *
                                 scatter.autocorrelation_time);
  result.converged = scatter.converged;
  return result;
}

}  // namespace tarn
