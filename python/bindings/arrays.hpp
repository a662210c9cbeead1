#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tarn/physics/water_model.hpp"

/// @file
/// NumPy arrays: those of callers, read without a copy where possible, and those of results.

namespace tarn::python {

namespace nb = nanobind;

/// An integer, such as 3 or numpy.int64(3), but not 3.0.
/// @param name of the function and the argument, for the message
/// @throws InputError
std::int64_t integer(nb::handle given, const char* name,
                     std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// The text of a str, without a copy. @throws InputError, see integer()
std::string_view text_of(nb::handle given, const char* name);

/// The name of a water model, the path of its deck, or the text of a deck, from a str, a path, a
/// dict or a tarn.WaterModel.
class ModelName {
 public:
  /// @throws InputError for other objects
  explicit ModelName(nb::handle model);
  operator std::string_view() const { return name_; }
  /// The model. @throws InputError, IoError
  WaterModel model() const { return model_of(name_); }
  static WaterModel model_of(std::string_view name);

 private:
  nb::object owner_;
  std::string_view name_;
};

/// The numbers of an array of any shape on the CPU, as float64 in C order. Arrays of float64 in C
/// order are not copied. They are read by the buffer protocol, which takes less time than DLPack.
class Numbers {
 public:
  /// @param name of the argument, for the message
  /// @throws InputError if the object is not an array of numbers
  Numbers(nb::handle array, const char* name);
  ~Numbers() { PyBuffer_Release(&view_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  const double* data() const { return static_cast<const double*>(view_.buf); }
  std::size_t size() const { return static_cast<std::size_t>(view_.len) / sizeof(double); }
  std::size_t ndim() const { return static_cast<std::size_t>(view_.ndim); }
  std::size_t shape(std::size_t d) const { return static_cast<std::size_t>(view_.shape[d]); }

 private:
  Py_buffer view_{};  ///< keeps the numbers alive
};

/// Positions of clusters given by a caller, of shape (atom, 3) or (replica, atom, 3).
struct Clusters {
  Numbers array;
  std::span<const double> positions_A;  ///< [cluster][molecule][9]
  std::size_t clusters;
  int molecules;
  bool is_single;  ///< shape (atom, 3)

  /// @throws InputError that names the expected shape
  Clusters(nb::handle positions_A, bool one_only);
};

inline Clusters clusters_of(nb::handle positions_A) { return {positions_A, false}; }
/// The same for one cluster, shape (atom, 3).
inline Clusters cluster_of(nb::handle positions_A) { return {positions_A, true}; }

/// A new array of float64 that is not initialised, and its numbers. Takes less time than
/// array_of().
struct NewArray {
  nb::object array;
  std::span<double> numbers;
};
/// @param shape a tuple or an int
NewArray new_array(nb::handle shape);

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
