#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/system.hpp"

/// @file
/// Replica exchange, equations (34) to (36). With n temperatures in ascending order, ladder l has
/// the replicas l n ... l n + n - 1. The bits of a ladder do not depend on the batch.

namespace tarn {

/// The energy U in whose canonical distribution the scheme samples, equation (35) [kcal/mol].
/// @throws InputError for BAOAB with 0 < beta <= 1/4: U cannot be computed from the energies
double canonical_energy_kcal_per_mol(const System& system, const Energies& energies);

/// The temperatures or windows that replicas exchange; 0: none.
std::size_t ladder_length(const System& system);

/// An attempted exchange of two neighbours in temperature or in the centres of a bias.
struct ExchangeAttempt {
  std::int64_t lower = 0, upper = 0;  ///< replica ids
  double probability = 0.0;           ///< of acceptance, at most 1
  bool accepted = false;
};

/// The attempts at the step of a Frame: neighbours k, k + 1 of each ladder, with even k if the
/// number of the attempt, step / every, is even, else odd k. Pairs with a replica that is not in
/// the Frame are skipped.
/// @param system its temperatures are those of the ladder, above 0 and ascending
/// @param frame with kExchangeEnergies or kEnergies, of ring polymers with kExchangeEnergies and
///        kRescaledEnergies, for windows with kEnergies; at a multiple of `every`
std::vector<ExchangeAttempt> exchange_attempts(const System& system, std::int64_t every,
                                               const Frame& frame);

/// The exchanges of the accepted attempts, for Engine::exchange().
std::vector<StateExchange> accepted_exchanges(const System& system,
                                              std::span<const ExchangeAttempt> attempts);

/// The neighbour with which a replica attempts an exchange at a step; nothing at an end of the
/// ladder.
/// @param length temperatures of the ladder
std::optional<std::int64_t> exchange_partner(std::int64_t replica_id, std::size_t length,
                                             std::int64_t every, std::int64_t step);

/// Factor of the positions of the internal modes of a ring polymer that moves to another replica
/// with the same reduced values q omega_k sqrt(m/(P k T)), equation (89). omega_k is proportional
/// to the temperature; the centroid keeps its position.
double ring_mode_factor(const System& system, std::int64_t from_replica, std::int64_t to_replica);

}  // namespace tarn
