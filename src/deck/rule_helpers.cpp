#include "rule_helpers.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tarn::decks {

void require_keys(Checker& checker, std::initializer_list<std::string_view> paths) {
  for (std::string_view path : paths) {
    if (!checker.is_reliable({path}) || checker.has(path)) continue;
    const std::size_t dot = path.rfind('.');
    checker.problem(path, fmt::format("[{}] needs {}", path.substr(0, dot), path.substr(dot + 1)));
  }
}

void require_one_of(Checker& checker, std::initializer_list<std::string_view> paths,
                    std::string_view at, const std::string& message) {
  if (!checker.is_reliable(paths)) return;
  if (std::any_of(paths.begin(), paths.end(), [&](auto path) { return checker.has(path); })) return;
  checker.problem(at, message);
}

Rule limit(std::string_view text,
           std::optional<std::string> (*problem)(const Deck&, std::int64_t molecules),
           std::string_view key, std::vector<std::string_view> relies_on) {
  const auto check = [=](Checker& checker) {
    if (!checker.is_reliable(relies_on)) return;
    const auto message = problem(checker.deck(), checker.molecules());
    if (message) checker.problem(key, *message);
  };
  return {text, check, {}, problem};
}

bool has_infinite_penalty(const Checker& checker) {
  return checker.is_reliable({"integrator.scheme", "integrator.omega"}) &&
         !is_rigid(checker.deck().integrator.scheme) && std::isinf(checker.deck().integrator.omega);
}

}  // namespace tarn::decks
