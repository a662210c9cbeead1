#include <nanobind/stl/string.h>

#include "parts.hpp"
#include "tarn/version.hpp"

NB_MODULE(_tarn, module) {
  module.doc() = "The compiled part of the package tarn.";
  module.attr("version") = std::string(tarn::kVersion);
  tarn::python::add_errors(module);
  tarn::python::add_decks(module);
  tarn::python::add_frames(module);
  tarn::python::add_ensemble(module);
  tarn::python::add_runs(module);
  tarn::python::add_functions(module);
  tarn::python::add_structures(module);
}
