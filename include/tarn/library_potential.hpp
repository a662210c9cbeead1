#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tarn/core/message.hpp"
#include "tarn/potential.hpp"

/// @file
/// Potentials of shared libraries with the functions of tarn/potential.h.

namespace tarn {

/// Loads a library and opens its potential. The library stays loaded until the program ends.
///
/// compute() throws NumericalError if the library returns a status other than 0, and InputError for
/// positions of another number of molecules. In the program tarn, also NumericalError if the
/// library calls exit() in tarn_potential_open() or tarn_potential_compute().
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

}  // namespace tarn
