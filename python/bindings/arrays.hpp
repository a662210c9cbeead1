#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// @file
/// NumPy arrays: those of callers, read without a copy where possible, and those of results.

namespace tarn::python {

namespace nb = nanobind;

/// Positions of clusters given by a caller.
struct Clusters {
  nb::ndarray<const double, nb::c_contig, nb::device::cpu> array;  ///< owns the numbers
  std::span<const double> positions_A;                             ///< [cluster][molecule][9]
  std::size_t clusters = 0;
  int molecules = 0;
  bool is_single = false;  ///< shape (atom, 3)
};

/// Reads positions of shape (atom, 3) or (replica, atom, 3) from any array of the CPU. Arrays of
/// float64 in C order are not copied.
/// @throws InputError that names the expected shape
Clusters clusters_of(nb::handle positions_A);
/// The same for one cluster, shape (atom, 3).
Clusters cluster_of(nb::handle positions_A);
/// An array of any shape, as float64 in C order. @param name of the argument, for the message
nb::ndarray<const double, nb::c_contig, nb::device::cpu> numbers_of(nb::handle array,
                                                                    const char* name);

/// A new array that owns its numbers.
template <class T>
nb::object array_of(std::vector<T> numbers, const std::vector<std::size_t>& shape) {
  auto* owned = new std::vector<T>(std::move(numbers));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(
      nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), std::move(owner)));
}
template <class T>
nb::object array_of(std::vector<T> numbers) {
  const std::size_t size = numbers.size();
  return array_of(std::move(numbers), {size});
}

/// A read-only view of numbers that belong to `owner`, which lives as long as the view.
template <class Owner>
nb::object view_of(const double* numbers, const std::vector<std::size_t>& shape,
                   std::shared_ptr<Owner> owner) {
  auto* kept = new std::shared_ptr<Owner>(std::move(owner));
  nb::capsule capsule(kept,
                      [](void* p) noexcept { delete static_cast<std::shared_ptr<Owner>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, const double>(numbers, shape.size(), shape.data(),
                                                       std::move(capsule)));
}

}  // namespace tarn::python
