#pragma once

#include <memory>
#include <string>

#include "tarn/potential.hpp"

/// @file
/// Potentials of shared libraries with the functions of tarn/potential.h.

namespace tarn {

/// Loads a library and opens its potential. The library stays loaded until the program ends.
///
/// A child process loads the library first, so that a library that ends its process while it is
/// loaded is reported instead of ending this one.
///
/// compute() throws NumericalError if the library returns a status other than 0, and InputError for
/// positions of another number of molecules.
/// @param path of the library; a relative path starts from the current folder
/// @param options text for the library
/// @throws InputError if the file does not exist, cannot be loaded, lacks a function of
///         tarn/potential.h or has another version of it, and with the words of the library if it
///         refuses the options
std::shared_ptr<Potential> make_library_potential(const std::string& path,
                                                  const std::string& options, int molecules);

}  // namespace tarn
