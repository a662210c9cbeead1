#include "tarn/exchange.hpp"

#include <cmath>
#include <cstddef>

#include "exchange_places.hpp"
#include "physics/bias.hpp"
#include "physics/exchange.hpp"
#include "physics/noise.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/core/units.hpp"

namespace tarn {
namespace {

/// A uniform random number in [0, 1) with 53 bits.
double uniform(std::uint64_t seed, std::int64_t first_of_ladder, std::size_t k, std::int64_t step) {
  const PhiloxWords<std::uint64_t> words =
      noise_words<std::uint64_t>(seed, static_cast<std::uint64_t>(first_of_ladder), k,
                                 static_cast<std::uint64_t>(step), NoiseStream::exchange, 0);
  const std::uint64_t high = words.w0 & 0xffffffffu, low = words.w1 & 0xffffffffu;
  return static_cast<double>((high << 21) | (low >> 11)) * 0x1p-53;
}

/// For beta up to 1/4 the additional energy of (35) cannot be computed from the energies.
void check_canonical(const System& system) {
  const double b = has_beta(system.integrator.scheme) ? system.integrator.beta : 0.0;
  if (system.thermostat.kind != Thermostat::baoab || b <= 0.0 || b > 0.25) return;
  throw InputError("exchange and heat capacities with BAOAB require beta above 1/4; it is " +
                   three_digits(b));
}

}  // namespace

double canonical_energy_kcal_per_mol(const System& system, const Energies& e) {
  check_canonical(system);
  const double potential = e.all_potential_kcal_per_mol();
  const double b = has_beta(system.integrator.scheme) ? system.integrator.beta : 0.0;
  const bool in_the_middle = system.thermostat.kind == Thermostat::baoab;
  return exchange_energy(potential, e.total_kcal_per_mol - e.kinetic_kcal_per_mol, b,
                         in_the_middle);
}

std::size_t ladder_length(const System& system) {
  const BiasSpec* const windows = windows_of(system);
  return windows ? windows->centres.size() : system.thermostat.temperatures_K.size();
}

std::vector<ExchangeAttempt> exchange_attempts(const System& system, std::int64_t every,
                                               const Frame& frame) {
  const ReplicaMap map(ladder_length(system));
  const BiasSpec* const windows = windows_of(system);
  check_canonical(system);
  const std::vector<double>& measured = frame.exchange_energies_kcal_per_mol;
  const std::vector<double>& rescaled = frame.rescaled_energies_kcal_per_mol;
  const bool rings = system.path_integral.beads > 1 && windows == nullptr;
  if (rings && (measured.empty() || rescaled.empty())) {
    throw InputError("exchanges of ring polymers need their rescaled energies");
  }
  const auto energy_of = [&](std::size_t r) {
    return measured.empty() ? canonical_energy_kcal_per_mol(system, frame.energies[r])
                            : measured[r];
  };
  const auto beta = [&](std::int64_t id) {
    return 1.0 / (units::boltzmann_kcal_per_mol_K * replica_temperature_K(system, id));
  };
  // Equation (98): the other energies are the same before and after.
  const auto log_ratio_of_windows = [&](std::size_t r, std::size_t other) {
    const std::int64_t a = frame.replica_ids[r], b = frame.replica_ids[other];
    const auto energy = [&](std::size_t at, std::int64_t window) {
      return bias_energy(bias_term(*windows), frame.energies[at].bias_coordinate,
                         windows->centre(window));
    };
    return (energy(r, a) + energy(other, b) - energy(other, a) - energy(r, b)) /
           (units::boltzmann_kcal_per_mol_K * replica_temperature_K(system, a));
  };
  std::vector<ExchangeAttempt> attempts;
  ReplicaPlaces<std::size_t> places;
  places.reserve(frame.replica_ids.size());
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) places.add(frame.replica_ids[r], r);
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const std::int64_t id = frame.replica_ids[r];
    const std::size_t place = map.place(id);  // in the ladder
    if (exchange_partner(id, ladder_length(system), every, frame.step) != id + 1) continue;
    const std::size_t* upper = places.find(id + 1);
    if (upper == nullptr) continue;
    const double b_lower = beta(id), b_upper = beta(id + 1);
    const double ratio =
        windows ? log_ratio_of_windows(r, *upper)
        : rings ? ring_exchange_log_ratio(b_lower, b_upper, energy_of(r), energy_of(*upper),
                                          rescaled[*upper], rescaled[r])
                : exchange_log_ratio(b_lower, b_upper, energy_of(r), energy_of(*upper));
    // NaN is rejected.
    const double probability = ratio >= 0.0 ? 1.0 : ratio < 0.0 ? std::exp(ratio) : 0.0;
    attempts.push_back({id, id + 1, probability,
                        uniform(system.seed, id - static_cast<std::int64_t>(place), place,
                                frame.step) < probability});
  }
  return attempts;
}

std::vector<StateExchange> accepted_exchanges(const System& system,
                                              std::span<const ExchangeAttempt> attempts) {
  std::vector<StateExchange> pairs;
  for (const ExchangeAttempt& attempt : attempts) {
    if (!attempt.accepted) continue;
    const double lower_K = replica_temperature_K(system, attempt.lower);
    const double upper_K = replica_temperature_K(system, attempt.upper);
    pairs.push_back(
        {attempt.lower, attempt.upper, std::sqrt(lower_K / upper_K), std::sqrt(upper_K / lower_K)});
  }
  return pairs;
}

std::optional<std::int64_t> exchange_partner(std::int64_t replica_id, std::size_t length,
                                             std::int64_t every, std::int64_t step) {
  if (length < 2) return {};
  const auto k = static_cast<std::int64_t>(ReplicaMap(length).place(replica_id));
  const std::int64_t other = k % 2 == step / every % 2 ? k + 1 : k - 1;
  if (other < 0 || other >= static_cast<std::int64_t>(length)) return {};
  return replica_id + other - k;
}

double ring_mode_factor(const System& system, std::int64_t from_replica, std::int64_t to_replica) {
  return std::sqrt(replica_temperature_K(system, from_replica) /
                   replica_temperature_K(system, to_replica));
}

}  // namespace tarn
