#include "sampling_warning.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
      "too few independent samples of {}{}: errors and correlation times are lower bounds. Run "
      "longer",
      fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

}  // namespace tarn
