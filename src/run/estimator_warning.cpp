#include "estimator_warning.hpp"

#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace tarn {
namespace {

std::optional<Message> estimator_warning(const AveragedQuantity& primitive,
                                         const AveragedQuantity& virial, const Deck& deck) {
  constexpr double kFew = 16.0;
  if (!(primitive.error > 0.0) || primitive.independent_samples < kFew) return std::nullopt;
  // Both contain the potential energy, so that this error is too large if anything.
  const double error = std::hypot(primitive.error, virial.error);
  if (std::abs(primitive.mean - virial.mean) <= 5.0 * error) return std::nullopt;
  const bool exact = deck.path_integral && deck.path_integral->free_ring == FreeRing::exact;
  const bool rpmd = deck.path_integral && deck.path_integral->method == RingMethod::rpmd;
  return Message::warning(fmt::format(
      "the mean energies by the primitive and by the virial estimator{} differ: {:.5g} +- {:.2g} "
      "and {:.5g} +- {:.2g} kcal/mol. {} or {}",
      virial.bath_K ? fmt::format(" at {:g} K", *virial.bath_K) : "", primitive.mean,
      primitive.error, virial.mean, virial.error,
      exact ? "Use free_ring = \"cayley\", reduce timestep_fs" : "Reduce timestep_fs",
      rpmd ? "start from the state of a pimd run with the same beads, temperature and masses"
           : "increase [run] equilibration_ps"));
}

}  // namespace

Messages estimator_warnings(const std::vector<AveragedQuantity>& averages, const Deck& deck) {
  Messages warnings;
  for (const AveragedQuantity& primitive : averages) {
    if (primitive.quantity != "energy_primitive_kcal_per_mol") continue;
    for (const AveragedQuantity& virial : averages) {
      if (virial.quantity != "energy_virial_kcal_per_mol" || virial.bath_K != primitive.bath_K) {
        continue;
      }
      append(estimator_warning(primitive, virial, deck), warnings);
    }
  }
  return warnings;
}

}  // namespace tarn
