#pragma once

#include <string>

namespace tarn::potentials {

/// How a child process ended while it loaded a shared library: "ended the process with signal 11
/// (Segmentation fault) while it was loaded", with what it printed to standard error.
/// @return empty if the child could load it, received an error of the loader, took longer than a
///         minute or could not be started
std::string crash_while_loading(const std::string& path);

}  // namespace tarn::potentials
