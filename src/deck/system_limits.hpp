#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tarn/deck.hpp"

/// @file
/// Limits that depend on the number of molecules. Rules check them if the number is known when the
/// deck is read, and make_system() checks them for every start. Each function returns the message
/// of a problem, or nothing.

namespace tarn::decks {

/// The first of the problems below and of the limits of the rules, with its section; nothing if
/// there is none.
std::optional<std::string> system_problem(const Deck& deck, std::int64_t molecules);

/// Number of baths of different temperatures; 1 without a thermostat.
std::size_t distinct_baths(const Deck& deck);

/// Too many molecules for hessian = "total".
std::optional<std::string> total_hessian_problem(const IntegratorSection& integrator,
                                                 std::int64_t molecules);

/// remove_momentum for a single molecule without a thermostat.
std::optional<std::string> lone_molecule_problem(const Deck& deck, std::int64_t molecules);

/// Too many molecules in all replicas.
std::optional<std::string> size_problem(std::int64_t molecules, std::int64_t replicas,
                                        std::int64_t beads);

/// Number of values that the time correlation functions store; 0 without them.
double correlation_numbers(const Deck& deck, std::int64_t molecules);

}  // namespace tarn::decks

namespace tarn {

/// Number of beads of each replica; 1: classical.
int beads_of(const Deck& deck);

/// The bias of a section.
BiasSpec bias_spec(const BiasSection& bias);

/// The section in the units of engines.
PathIntegralSpec ring_spec(const PathIntegralSection& rings);

/// Temperatures of the springs of ring polymers; empty without [path_integral].
std::vector<double> ring_temperatures_K(const Deck& deck);

/// The deck with a number of beads, a flow of the free ring ("cayley", "exact") or a kind of
/// frequencies ("economised", "trotter"), as given to `--beads`, `--free-ring` and `--frequencies`.
/// @throws InputError that names the option
Deck with_beads(const Deck& deck, int beads);
Deck with_free_ring(const Deck& deck, const std::string& free_ring);
Deck with_frequencies(const Deck& deck, const std::string& frequencies);

}  // namespace tarn
