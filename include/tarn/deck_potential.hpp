#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/potential.hpp"

/// @file
/// Potentials of shared libraries, with the functions of tarn/potential.h, and of the section
/// [potential] of a deck.

namespace tarn {

/// Loads a library and opens its potential. The library stays loaded until the program ends.
///
/// compute() throws NumericalError if the library returns a status other than 0, and InputError for
/// positions of another number of molecules.
/// @param path of the library; a relative path starts from the current folder
/// @param options text for the library
/// @param on_message receives, in another thread, a note if loading and opening take long; may be
///        empty
/// @throws InputError if the file does not exist, cannot be loaded, lacks a function of
///         tarn/potential.h or has another version of it, and with the words of the library if it
///         refuses the options
std::shared_ptr<Potential> make_library_potential(
    const std::string& path, const std::string& options, int molecules,
    const std::function<void(const Message&)>& on_message = {});

/// Functions that a potential calls while it waits for other programs; both may be empty.
struct PotentialCallbacks {
  /// Called several times per second; returning true ends the wait.
  std::function<bool()> interrupted{};
  std::function<void(const Message&)> on_message{};
};

/// @return null if the water model or the program computes the forces
/// @throws InputError as make_library_potential()
std::shared_ptr<Potential> make_potential(const Deck& deck, int molecules,
                                          const PotentialCallbacks& callbacks = {});

/// The potential of make_potential() on another MPI rank, for Ranks::serve(). Rank r listens at
/// `NAME-r`, or at the port of the deck plus r.
/// @param recipe of the potential of rank 0
/// @throws as make_potential()
std::shared_ptr<Potential> potential_of_rank(const std::string& recipe, int rank,
                                             const PotentialCallbacks& callbacks = {});

/// The potential of a run of the deck: make_potential(), or with `kind = "program"` the given one.
/// @throws InputError also if there is no given one
std::shared_ptr<Potential> potential_of(const Deck& deck, int molecules,
                                        const std::shared_ptr<Potential>& given,
                                        const PotentialCallbacks& callbacks = {});

}  // namespace tarn
