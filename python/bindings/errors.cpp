#include <exception>
#include <nanobind/stl/string.h>

#include "parts.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"

namespace tarn::python {
namespace nb = nanobind;
namespace {

/// Name of the Python class of an error.
const char* class_of(const Error& error) {
  if (dynamic_cast<const DeckError*>(&error) != nullptr) return "DeckError";
  if (dynamic_cast<const InputError*>(&error) != nullptr) return "InputError";
  switch (error.code()) {
    case ExitCode::numerical:
      return "NumericalError";
    case ExitCode::io:
      return "FileError";
    case ExitCode::device:
      return "DeviceError";
    default:
      return "TarnError";
  }
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object kind = nb::module_::import_("tarn._errors").attr(class_of(error));
    nb::list problems;
    if (const auto* input = dynamic_cast<const InputError*>(&error)) {
      const auto* deck = dynamic_cast<const DeckError*>(&error);
      for (const Problem& p : input->problems()) {
        problems.append(nb::make_tuple(p.file, p.line, p.column, deck ? deck->key(p) : "",
                                       p.message, advice_of(p)));
      }
    }
    const nb::object value = kind(error.what(), problems);
    PyErr_SetObject(kind.ptr(), value.ptr());
  }
}

}  // namespace

void add_errors(nb::module_& /*module*/) { nb::register_exception_translator(translate); }

}  // namespace tarn::python
