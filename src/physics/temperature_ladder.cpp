#include "temperature_ladder.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/bisect.hpp"
#include "model_table.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

/// Shortens all intervals of a ladder alike if the last one is shorter than the others.
void spread_evenly(std::vector<double>& ladder) {
  const std::size_t n = ladder.size() - 1;
  if (n < 2) return;
  const auto width = [&](std::size_t k) { return std::log(ladder[k + 1] / ladder[k]); };
  const double last = std::min(1.0, width(n - 1) / width(n - 2));  // in steps of the ladder
  const std::vector<double> old = ladder;
  for (std::size_t k = 1; k < n; ++k) {
    const double at =
        static_cast<double>(k) / static_cast<double>(n) * (static_cast<double>(n - 1) + last);
    const auto i = std::min(static_cast<std::size_t>(at), n - 1);
    const double part = (at - static_cast<double>(i)) / (i == n - 1 ? last : 1.0);
    ladder[k] = old[i] * std::pow(old[i + 1] / old[i], part);
  }
}

}  // namespace

AcceptanceEstimate::AcceptanceEstimate(const WaterModel& model, int molecules,
                                       const ReducedRing& ring)
    : molecules_(molecules), ring_(ring) {
  if (!model.is_flexible()) return;
  const auto all = molecule_wavenumbers_per_cm(model);
  wavenumbers_per_cm_.assign(all.begin(), all.end());
}

double AcceptanceEstimate::operator()(double lower_K, double upper_K) const {
  const double log_ratio = std::log(upper_K / lower_K);
  double delta = 5.0 * log_ratio * log_ratio;
  for (const double nu : wavenumbers_per_cm_) {
    delta += ring_.mean_delta(reduced_frequency(nu, lower_K), reduced_frequency(nu, upper_K));
  }
  return std::erfc(0.5 * std::sqrt(molecules_ * delta));
}

std::vector<double> ladder_acceptances(const AcceptanceEstimate& estimate,
                                       std::span<const double> temperatures_K) {
  std::vector<double> all;
  for (std::size_t k = 0; k + 1 < temperatures_K.size(); ++k) {
    all.push_back(estimate(temperatures_K[k], temperatures_K[k + 1]));
  }
  return all;
}

std::vector<double> temperature_ladder(const AcceptanceEstimate& estimate, double lowest_K,
                                       double highest_K, double wanted) {
  constexpr std::size_t kMost = 10'000;
  if (!(lowest_K > 0.0 && highest_K >= lowest_K && std::isfinite(highest_K))) {
    throw InputError("a ladder needs a temperature above 0 K and a higher one");
  }
  if (!(wanted > 0.0 && wanted < 1.0)) {
    throw InputError("the acceptance of a ladder must be above 0 and below 1");
  }
  std::vector<double> ladder{lowest_K};
  while (ladder.back() < highest_K) {
    const double last = ladder.back();
    double next = highest_K;
    if (estimate(last, next) < wanted) {
      next = bisect(
                 last, next,
                 [&](double low, double high) {
                   return high - low > std::min(1e-3 * low, 0.05 * (low - last));
                 },
                 [&](double middle) { return estimate(last, middle) >= wanted; })
                 .first;
    }
    if (next <= last || ladder.size() == kMost) {
      throw InputError("this acceptance needs more than 10 000 temperatures; reduce it");
    }
    ladder.push_back(next);
  }
  spread_evenly(ladder);
  return ladder;
}

int intervals_for_acceptance(double measured, double wanted) {
  double x = 0.0;
  while (std::erfc(x) > measured) x += 0.01;
  int intervals = 2;
  while (std::erfc(x / intervals) < wanted) ++intervals;
  return intervals;
}

}  // namespace tarn
