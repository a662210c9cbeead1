#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// Replica exchange, equations (34) to (36). The replicas l n ... l n + n - 1 are ladder l, with n
/// the number of temperatures, which rise. A ladder alone has the same bits as in any batch.

namespace tarn {

/// The energy U whose canonical distribution the scheme has, equation (35) [kcal/mol].
/// @throws InputError with BAOAB and 0 < beta <= 1/4, where the energies do not tell it
double canonical_energy_kcal_per_mol(const System& system, const Energies& energies);

/// Neighbours in temperature that were asked whether they change places.
struct ExchangeAttempt {
  std::int64_t lower = 0, upper = 0;  ///< replica ids
  double probability = 0.0;           ///< 1 and less
  bool accepted = false;
};

/// What is asked at the step of a Frame: neighbours k, k + 1 of each ladder, k even if the number
/// of the attempt, step / every, is, and odd otherwise. None with a replica that is not in the
/// Frame.
/// @param system its temperatures are those of the ladder, above 0 and rising
/// @param frame with kEnergies, at a multiple of `every`
std::vector<ExchangeAttempt> exchange_attempts(const System& system, std::int64_t every,
                                               const Frame& frame);

/// Of the attempts that were accepted, what engines do.
std::vector<StateExchange> accepted_exchanges(const System& system,
                                              std::span<const ExchangeAttempt> attempts);

/// What Engine::exchange() does to its state. Heat stays where it is.
/// @throws InputError when there is no such replica, or one is named twice
void exchange_states(State& state, std::span<const StateExchange> pairs);

}  // namespace tarn
