#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tarn/compare.hpp"

namespace tarn {

/// A scheme of a comparison with one time step and one number of beads.
struct Variant {
  std::string label;
  Deck deck;
  /// Variants with the same curve differ in the time step or in the number of beads.
  std::size_t curve = 0;
  std::string curve_label;
};

bool has_thermostat(const Deck& deck);

/// One variant per scheme, flow of the free ring, kind of frequencies and number of beads; with
/// CompareOptions::steps the reference, if there is one, and then one variant per scheme, flow,
/// kind and step. The options replace the device and threads of the deck.
/// @throws InputError
std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options);

/// Extrapolates the averages of each curve to infinitely many beads, without those of one bead.
/// Only Trotter frequencies have such a limit curve.
std::vector<SchemeBeadLimit> bead_limits(const std::vector<SchemeResult>& schemes,
                                         const std::vector<Variant>& variants);

/// Convergence order of the rms change of the energy, by curve. Schemes that lost a replica are
/// excluded.
std::vector<SchemeOrder> energy_orders(const std::vector<SchemeResult>& schemes,
                                       const std::vector<Variant>& variants);

}  // namespace tarn
