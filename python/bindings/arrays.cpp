#include "arrays.hpp"

#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/state.hpp"

namespace tarn::python {
namespace {

using Array = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

std::string shape_text(const Array& array) {
  std::string text;
  for (std::size_t d = 0; d < array.ndim(); ++d) {
    text += fmt::format("{}{}", d > 0 ? ", " : "", array.shape(d));
  }
  return fmt::format("({}{})", text, array.ndim() == 1 ? "," : "");
}

Clusters read(nb::handle positions_A, bool one_only) {
  Clusters given;
  given.array = numbers_of(positions_A, "positions_A");
  const std::size_t dimensions = given.array.ndim();
  given.is_single = dimensions == 2;
  const bool is_right =
      (given.is_single || (dimensions == 3 && !one_only)) && given.array.shape(dimensions - 1) == 3;
  const char* const expected =
      one_only ? "(atom, 3)" : "(replica, atom, 3), or (atom, 3) for one cluster";
  if (!is_right) {
    throw InputError(fmt::format("positions_A has the shape {}; expected {}, in angstrom",
                                 shape_text(given.array), expected));
  }
  const std::size_t atoms = given.array.shape(dimensions - 2);
  if (atoms == 0 || atoms % kAtomsPerMolecule != 0) {
    throw InputError(fmt::format(
        "positions_A has the shape {}; expected {} with three atoms O, H, H for each molecule",
        shape_text(given.array), expected));
  }
  given.molecules = static_cast<int>(atoms / kAtomsPerMolecule);
  given.clusters = given.is_single ? 1 : given.array.shape(0);
  given.positions_A = {given.array.data(), given.array.size()};
  return given;
}

}  // namespace

Array numbers_of(nb::handle array, const char* name) {
  Array numbers;
  if (nb::ndarray_check(array) && nb::try_cast(array, numbers)) return numbers;
  try {
    // Lists, and arrays that need a conversion by their own library.
    const nb::object converted = nb::module_::import_("numpy").attr("asarray")(
        array, nb::arg("dtype") = "float64", nb::arg("order") = "C");
    if (nb::try_cast(converted, numbers)) return numbers;
    throw InputError(fmt::format("{} is not an array of numbers", name));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    throw InputError(fmt::format("{} is not an array of numbers on the CPU: {}", name,
                                 nb::str(error.value()).c_str()));
  }
}

Clusters clusters_of(nb::handle positions_A) { return read(positions_A, false); }
Clusters cluster_of(nb::handle positions_A) { return read(positions_A, true); }

}  // namespace tarn::python
