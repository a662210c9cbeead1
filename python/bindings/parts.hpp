#pragma once

#include <nanobind/nanobind.h>
#include <string>
#include <utility>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observe/observers.hpp"

/// @file
/// The parts of the module `tarn._tarn`. The pure-Python package `tarn` gives them their final
/// form.

namespace tarn::python {

/// An invalid deck: the problems of an InputError, with another Python class and their keys.
class DeckError : public InputError {
 public:
  DeckError(const InputError& error, std::string text, std::string path)
      : InputError(error), text_(std::move(text)), path_(std::move(path)) {}
  std::string key(const Problem& problem) const { return key_of(problem, text_, path_); }

 private:
  std::string text_, path_;  ///< of the deck
};

void add_errors(nanobind::module_& module);
void add_decks(nanobind::module_& module);
void add_frames(nanobind::module_& module);
void add_ensemble(nanobind::module_& module);
void add_runs(nanobind::module_& module);
void add_functions(nanobind::module_& module);
void add_structures(nanobind::module_& module);
void add_measures(nanobind::module_& module);

/// A table as (provenance, [(name, array or list of str)]).
nanobind::object object_of(io::Table table);

/// The observer of a Python function. It must be destroyed with the interpreter's lock.
ObserverMaker observer_of(nanobind::handle observer);

}  // namespace tarn::python
