#include "system_limits.hpp"

#include <set>

#include <fmt/format.h>

#include "core/text.hpp"
#include "schema.hpp"

namespace tarn::decks {

std::optional<std::string> system_problem(const Deck& deck, std::int64_t molecules) {
  if (auto problem = size_problem(molecules, deck.system.replicas, beads_of(deck))) return problem;
  if (auto problem = lone_molecule_problem(deck, molecules)) return problem;
  if (auto problem = total_hessian_problem(deck.integrator, molecules)) return problem;
  for (const Rule& rule : water_schema().rules) {
    if (rule.limit == nullptr) continue;
    if (const auto problem = rule.limit(deck, molecules)) {
      return fmt::format("[{}] {}", rule.section, *problem);
    }
  }
  return std::nullopt;
}

std::size_t distinct_baths(const Deck& deck) {
  const std::vector<double>& ladder_K = deck.thermostat.temperatures_K;
  return has_several_baths(ladder_K) ? std::set(ladder_K.begin(), ladder_K.end()).size() : 1;
}

std::optional<std::string> total_hessian_problem(const IntegratorSection& integrator,
                                                 std::int64_t molecules) {
  if (integrator.scheme != Scheme::zss_stiff || integrator.hessian != Hessian::total) {
    return std::nullopt;
  }
  if (molecules <= kMaxTotalHessianMolecules) return std::nullopt;
  return fmt::format(
      "hessian = \"total\" supports at most {2} molecules, not {1}: each step factorises a {0}×{0} "
      "matrix",
      9 * molecules, molecules, kMaxTotalHessianMolecules);
}

std::optional<std::string> lone_molecule_problem(const Deck& deck, std::int64_t molecules) {
  if (molecules != 1 || !deck.system.remove_momentum) return std::nullopt;
  if (deck.thermostat.kind != Thermostat::none) return std::nullopt;
  return "remove_momentum = true stops a single molecule completely; remove it, or use two "
         "molecules or a thermostat";
}

std::optional<std::string> size_problem(std::int64_t molecules, std::int64_t replicas,
                                        std::int64_t beads) {
  const std::int64_t total = molecules * replicas * beads;
  if (total <= kMaxTotalMolecules) return std::nullopt;
  return fmt::format(
      "{2} molecules ({0} of {1}{5}) exceed the limit of {4}; positions and velocities alone would "
      "take {3:.1f} GB",
      count_text(replicas, "replica"), molecules, total, static_cast<double>(total) * 144e-9,
      kMaxTotalMolecules, beads > 1 ? fmt::format(" with {} beads", beads) : "");
}

}  // namespace tarn::decks
