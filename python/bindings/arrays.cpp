#include "arrays.hpp"

#include <cstring>
#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/state.hpp"

namespace tarn::python {
namespace {

std::string shape_text(const Numbers& array) {
  std::string text;
  for (std::size_t d = 0; d < array.ndim(); ++d) {
    text += fmt::format("{}{}", d > 0 ? ", " : "", array.shape(d));
  }
  return fmt::format("({}{})", text, array.ndim() == 1 ? "," : "");
}

/// @return whether the object has numbers of float64 in C order; without a Python error
bool get_numbers(nb::handle array, Py_buffer& view) {
  if (!PyObject_CheckBuffer(array.ptr())) return false;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  if (view.format != nullptr && std::strcmp(view.format, "d") == 0) return true;
  PyBuffer_Release(&view);
  return false;
}

/// @throws InputError for bool, text, dates and complex numbers, which NumPy would convert
void check_kind(const nb::object& numbers, const char* name) {
  const nb::object type = numbers.attr("dtype");
  const std::string kind = nb::cast<std::string>(type.attr("kind"));
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{} is not an array of numbers, but of {}", name, what));
  };
  if (kind != "O") {
    if (std::string_view("iuf").find(kind) == std::string_view::npos) refuse(nb::str(type).c_str());
    return;
  }
  const nb::object real = nb::module_::import_("numbers").attr("Real");
  for (const nb::handle one : nb::iter(numbers.attr("flat"))) {
    if (PyBool_Check(one.ptr()) || (!nb::isinstance(one, real) && !nb::hasattr(one, "__float__"))) {
      refuse(fmt::format("objects such as {}", nb::repr(one).c_str()));
    }
  }
}

/// An aligned NumPy array of float64 in C order, which is a view where possible.
nb::object converted(nb::handle array, const char* name) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object numbers = nb::borrow(array);
  if (!PyObject_CheckBuffer(array.ptr()) && nb::hasattr(array, "__dlpack__")) {
    try {
      numbers = numpy.attr("from_dlpack")(array);
    } catch (const nb::python_error& error) {
      // asarray() may be able to read it, or reports why it cannot.
      if (!error.matches(PyExc_Exception)) throw;
    }
  }
  numbers = numpy.attr("asarray")(numbers);
  check_kind(numbers, name);
  return numpy.attr("require")(numbers, "float64", nb::make_tuple("C", "ALIGNED"));
}

}  // namespace

std::int64_t integer(nb::handle given, const char* name, std::int64_t most) {
  const nb::object number = nb::steal(PyNumber_Index(given.ptr()));
  if (PyBool_Check(given.ptr())) {
    throw InputError(fmt::format("{} = {}; expected an integer", name, nb::repr(given).c_str()));
  }
  const long long value = number ? PyLong_AsLongLong(number.ptr()) : -1;
  if (value == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw InputError(fmt::format("{} = {}; expected {}", name, nb::repr(given).c_str(),
                                 number ? "an integer of 64 bits" : "an integer"));
  }
  if (value > most)
    throw InputError(fmt::format("{} = {}; expected at most {}", name, value, most));
  return value;
}

std::string_view text_of(nb::handle given, const char* name) {
  if (!PyUnicode_Check(given.ptr())) {
    throw InputError(fmt::format("{} = {}; expected a str", name, nb::repr(given).c_str()));
  }
  Py_ssize_t size = 0;
  const char* const characters = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
  if (characters == nullptr) {
    PyErr_Clear();
    throw InputError(fmt::format("{} = {}; expected valid Unicode", name, nb::repr(given).c_str()));
  }
  return {characters, static_cast<std::size_t>(size)};
}

ModelName::ModelName(nb::handle model) {
  nb::handle name = model;
  if (!PyUnicode_Check(model.ptr())) {
    owner_ = nb::module_::import_("tarn._functions").attr("model_name")(model);
    name = owner_;
  }
  name_ = text_of(name, "model");
}

WaterModel ModelName::model_of(std::string_view name) {
  // The text of a deck has lines; see _functions.model_name().
  return name.find('\n') == std::string_view::npos
             ? water_model_named(std::string(name))
             : water_model_of_text(std::string(name), "model");
}

Numbers::Numbers(nb::handle array, const char* name) {
  if (std::strcmp(Py_TYPE(array.ptr())->tp_name, "MaskedArray") == 0) {
    throw InputError(fmt::format(
        "{} is a masked array, whose mask would be lost; give an array without a mask", name));
  }
  if (get_numbers(array, view_)) return;
  if (array.is_none()) throw InputError(fmt::format("{} = None; expected an array", name));
  try {
    if (get_numbers(converted(array, name), view_)) return;
    throw InputError(fmt::format("{} is not an array of numbers", name));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    throw InputError(fmt::format("{} is not an array of numbers on the CPU: {}", name,
                                 nb::str(error.value()).c_str()));
  }
}

Clusters::Clusters(nb::handle positions, bool one_only) : array(positions, "positions_A") {
  const std::size_t dimensions = array.ndim();
  is_single = dimensions == 2;
  const bool is_right =
      (is_single || (dimensions == 3 && !one_only)) && array.shape(dimensions - 1) == 3;
  const char* const expected =
      one_only ? "(atom, 3)" : "(replica, atom, 3), or (atom, 3) for one cluster";
  if (!is_right) {
    throw InputError(fmt::format("positions_A has the shape {}; expected {}, in angstrom",
                                 shape_text(array), expected));
  }
  const std::size_t atoms = array.shape(dimensions - 2);
  if (atoms == 0 || atoms % kAtomsPerMolecule != 0) {
    throw InputError(fmt::format(
        "positions_A has the shape {}; expected {} with three atoms O, H, H for each molecule",
        shape_text(array), expected));
  }
  molecules = static_cast<int>(atoms / kAtomsPerMolecule);
  clusters = is_single ? 1 : array.shape(0);
  positions_A = {array.data(), array.size()};
  // Bonds of a single molecule may be stretched to any length, for example in a scan.
  if (molecules == 1 || clusters == 0) return;
  const std::string unit = io::unit_problem(positions_A.first(3 * atoms));
  if (!unit.empty()) throw InputError("positions_A: " + unit);
}

NewArray new_array(nb::handle shape) {
  // Never destroyed: the interpreter may end first.
  static const nb::handle empty = nb::object(nb::module_::import_("numpy").attr("empty")).release();
  nb::object array = empty(shape);
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_WRITABLE) != 0) nb::raise_python_error();
  const std::span<double> numbers(static_cast<double*>(view.buf),
                                  static_cast<std::size_t>(view.len) / sizeof(double));
  PyBuffer_Release(&view);  // the array keeps its memory
  return {std::move(array), numbers};
}

}  // namespace tarn::python
