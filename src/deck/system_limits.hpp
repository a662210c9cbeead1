#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tarn/deck.hpp"

/// @file
/// Limits that depend on the number of molecules. The rules of a deck check them where it gives the
/// number, and make_system() for every start.

namespace tarn::decks {

/// The first of the problems below, with the section that it is in; nothing if there is none.
std::optional<std::string> system_problem(const Deck& deck, std::int64_t molecules);

/// Number of baths of different temperatures; 1 without a thermostat.
std::size_t distinct_baths(const Deck& deck);

/// What is wrong with factorising the whole Hessian of that many molecules, if anything.
std::optional<std::string> total_hessian_problem(const IntegratorSection& integrator,
                                                 std::int64_t molecules);

/// What is wrong with remove_momentum for that many molecules, if anything.
std::optional<std::string> lone_molecule_problem(const Deck& deck, std::int64_t molecules);

/// What is wrong with that many molecules in that many replicas, if anything.
std::optional<std::string> size_problem(std::int64_t molecules, std::int64_t replicas);

/// What is wrong with the memory of a spectrum of that many molecules, if the deck has one.
std::optional<std::string> spectrum_problem(const Deck& deck, std::int64_t molecules);

/// Numbers that the time correlation functions of that many molecules remember; 0 without them.
double correlation_numbers(const Deck& deck, std::int64_t molecules);
/// What is wrong with the time correlation functions of that many molecules, if the deck has them.
std::optional<std::string> correlation_problem(const Deck& deck, std::int64_t molecules);

/// What is wrong with the memory of the minima of that many molecules, if the deck has them.
std::optional<std::string> minima_problem(const Deck& deck, std::int64_t molecules);

/// What is wrong with a Lindemann index of that many molecules, if the deck has one.
std::optional<std::string> lindemann_problem(const Deck& deck, std::int64_t molecules);

}  // namespace tarn::decks
