#include "potential.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nanobind/stl/string.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "locks.hpp"

namespace tarn::python {
namespace {

/// Positions as a read-only array. Its memory is used again if the function kept no view of it.
class PositionsArray {
 public:
  nb::object with(std::span<const double> positions_A, std::size_t images) {
    const bool is_free = array_ && Py_REFCNT(array_.ptr()) == 1;
    if (!is_free || images != images_ || numbers_.size() != positions_A.size()) {
      const std::size_t atoms = positions_A.size() / std::max<std::size_t>(3 * images, 1);
      NewArray made = new_array(nb::make_tuple(images, atoms, 3));
      made.array.attr("setflags")(nb::arg("write") = false);
      array_ = std::move(made.array);
      numbers_ = made.numbers;
      images_ = images;
    }
    std::copy(positions_A.begin(), positions_A.end(), numbers_.begin());
    return array_;
  }
  void reset() { array_.reset(); }

 private:
  nb::object array_;
  std::span<double> numbers_;  ///< of the array
  std::size_t images_ = 0;
};

class PythonPotential final : public Potential {
 public:
  explicit PythonPotential(nb::object function)
      : function_(std::move(function)),
        name_(nb::cast<std::string>(function_.attr("name"))),
        takes_ids_(nb::cast<bool>(function_.attr("takes_ids"))) {}
  PythonPotential(const PythonPotential&) = delete;
  PythonPotential& operator=(const PythonPotential&) = delete;
  ~PythonPotential() override {
    const Locked lock;
    function_.reset();
    positions_.reset();
  }

  std::string name() const override { return name_; }

  void compute(std::span<const double> positions_A, std::span<const std::int64_t> image_ids,
               std::span<double> energies_kcal_per_mol,
               std::span<double> forces_kcal_per_mol_A) override {
    const Locked lock;
    const nb::object x = positions_.with(positions_A, image_ids.size());
    const nb::object ids =
        takes_ids_ ? array_of(std::vector<std::int64_t>(image_ids.begin(), image_ids.end()))
                   : nb::none();
    const nb::object result = function_(x, ids);
    // The function checked their shapes.
    put(result[0], energies_kcal_per_mol);
    put(result[1], forces_kcal_per_mol_A);
  }

 private:
  static void put(const nb::object& array, std::span<double> to) {
    const Numbers numbers(array, "the result of a potential");
    std::copy_n(numbers.data(), std::min(numbers.size(), to.size()), to.begin());
  }

  nb::object function_;
  std::string name_;
  bool takes_ids_;
  PositionsArray positions_;
};

}  // namespace

std::shared_ptr<Potential> python_potential(nb::handle function) {
  if (function.is_none()) return nullptr;
  return std::make_shared<PythonPotential>(nb::borrow(function));
}

}  // namespace tarn::python
