#include <nanobind/stl/string.h>

#include "locks.hpp"
#include "parts.hpp"
#include "tarn/version.hpp"

NB_MODULE(_tarn, module) {
  module.doc() = "The compiled part of the package tarn.";
  module.attr("version") = std::string(tarn::kVersion);
  // Threads that exist when the interpreter exits keep objects; this is no error.
  nanobind::set_leak_warnings(false);
  nanobind::module_::import_("atexit").attr("register")(
      nanobind::cpp_function(tarn::python::end_computations));
  tarn::python::add_errors(module);
  tarn::python::add_decks(module);
  tarn::python::add_frames(module);
  tarn::python::add_ensemble(module);
  tarn::python::add_runs(module);
  tarn::python::add_functions(module);
  tarn::python::add_structures(module);
  tarn::python::add_measures(module);
}
