#pragma once

#include <memory>
#include <nanobind/nanobind.h>

#include "tarn/potential.hpp"

namespace tarn::python {

/// The potential of a Python function; null for None. Called with the interpreter's lock.
/// @param function a tarn._potential.Function, or None
std::shared_ptr<Potential> python_potential(nanobind::handle function);

}  // namespace tarn::python
