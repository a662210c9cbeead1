#include "sampling_warning.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/rounded_text.hpp"

namespace tarn {

bool is_constant(const AveragedQuantity& a) { return a.error <= 1e-12 * std::abs(a.mean); }

std::optional<Message> sampling_warning(const std::vector<AveragedQuantity>& averages) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> names;
  for (const AveragedQuantity& a : averages) {
    if (a.converged || is_constant(a)) continue;
    if (std::find(names.begin(), names.end(), a.quantity) == names.end()) {
      names.push_back(a.quantity);
    }
  }
  if (names.empty()) return std::nullopt;
  const std::size_t more = names.size() > kMostNamed + 1 ? names.size() - kMostNamed : 0;
  names.resize(names.size() - more);
  return Message::warning(fmt::format(
      "too few independent samples of {}{}: errors and correlation times may be too small. Run "
      "longer",
      fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

std::string run_longer(const StructureChanges& changes) {
  if (!(changes.per_walker > 0.0)) return "Run longer";
  return fmt::format("Run {} times longer",
                     rounded_up(StructureChanges::kEnough / changes.per_walker));
}

void StartComparison::add(const std::string& name, std::optional<double> bath_K, double sigmas) {
  if (sigmas == 0.0) return;
  ++results_;
  different_ += sigmas > AveragedQuantity::kMostSigmasBetweenStarts ? 1 : 0;
  if (sigmas <= most_sigmas_) return;
  most_sigmas_ = sigmas;
  most_ = name + (bath_K ? fmt::format(" at {:g} K", *bath_K) : "");
}

std::optional<Message> StartComparison::message(const std::string& what) const {
  if (results_ == 0) return std::nullopt;
  const std::string largest = fmt::format("{}, by {:.1f} standard errors", most_, most_sigmas_);
  // One of many results differs by three standard errors by chance.
  constexpr double kByChance = 0.01;
  if (std::erfc(most_sigmas_ / std::sqrt(2.0)) * results_ > kByChance) {
    return Message::note(
        fmt::format("{} {} from different starts agree; the largest difference is "
                    "that of {}",
                    results_, what, largest));
  }
  return Message::warning(fmt::format(
      "{} of {} {} depend on the start by more than {:g} standard errors, most of all {}. They are "
      "not converged; run longer",
      different_, results_, what, AveragedQuantity::kMostSigmasBetweenStarts, largest));
}

}  // namespace tarn
