#include <algorithm>
#include <cstddef>
#include <istream>
#include <iterator>
#include <memory>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays.hpp"
#include "frames.hpp"
#include "locks.hpp"
#include "parts.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/observe/quantity_table.hpp"

namespace tarn::python {
namespace {

unsigned fields_of(const std::vector<std::string>& names) {
  unsigned fields = kNoFields;
  for (const std::string& name : names) {
    if (name == "positions_A") {
      fields |= kPositions;
    } else if (name == "beads_A") {
      fields |= kBeads;
    } else if (name == "velocities_A_per_ps") {
      fields |= kVelocities;
    } else if (name == "atom_kinetic_kcal_per_mol") {
      fields |= kAtomKinetic;
    } else if (name == "energies") {
      fields |= kEnergies;
    } else {
      throw InputError(fmt::format(
          "observer: unknown field '{}'; use positions_A, beads_A, velocities_A_per_ps, energies "
          "or atom_kinetic_kcal_per_mol",
          name));
    }
  }
  return fields;
}

/// "all", "mean" or a number, as in decks.
ReplicaSelection replicas_of(nb::handle given) {
  if (nb::isinstance<nb::int_>(given)) {
    return {ReplicaSelection::Kind::first, nb::cast<int>(given)};
  }
  const std::string name = nb::cast<std::string>(nb::str(given));
  if (name == "all") return {ReplicaSelection::Kind::all, 0};
  if (name == "mean") return {ReplicaSelection::Kind::mean, 0};
  throw InputError(
      fmt::format("observer: replicas = '{}'; use \"all\", \"mean\" or a number", name));
}

/// Calls the function of an observer once per frame, for all replicas.
class PythonValues {
 public:
  PythonValues(nb::object function, std::string file, std::size_t columns, unsigned fields)
      : function_(std::move(function)),
        file_(std::move(file)),
        columns_(columns),
        fields_(fields) {}

  void start(const RunInfo& run) { timestep_fs_ = run.timestep_fs; }

  /// The values of replica r. Replicas of a frame come in order, from 0.
  void values(const Frame& frame, std::size_t r, std::span<double> out) {
    if (r == 0) call(frame);
    std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(r * columns_), columns_, out.begin());
  }

 private:
  void call(const Frame& frame) {
    const Locked lock;
    // A copy, because the run uses the memory of its frame again.
    auto kept = std::make_shared<Frame>();
    kept->step = frame.step;
    kept->molecules = frame.molecules;
    kept->replica_ids = frame.replica_ids;
    if (fields_ & kPositions) kept->positions_A = frame.positions_A;
    if (fields_ & kBeads) kept->beads_A = frame.beads_A;
    if (fields_ & kVelocities) kept->velocities_A_per_akma = frame.velocities_A_per_akma;
    if (fields_ & kEnergies) kept->energies = frame.energies;
    if (fields_ & kAtomKinetic) kept->atom_kinetic_kcal_per_mol = frame.atom_kinetic_kcal_per_mol;
    const nb::object result = function_(
        TimedFrame{std::move(kept), static_cast<double>(frame.step) * timestep_fs_ / 1000.0});
    const Numbers numbers(result, "the result of an observer");
    const std::size_t live = frame.live();
    const bool has_shape =
        (numbers.ndim() == 2 && numbers.shape(0) == live && numbers.shape(1) == columns_) ||
        (numbers.ndim() == 1 && numbers.shape(0) == live && columns_ == 1);
    if (!has_shape) {
      std::string shape;
      for (std::size_t d = 0; d < numbers.ndim(); ++d) {
        shape += fmt::format("{}{}", d > 0 ? ", " : "", numbers.shape(d));
      }
      throw InputError(fmt::format(
          "the observer '{}' returned an array of shape ({}); expected ({}, {}), (replica, column)"
          "{}",
          file_, shape, live, columns_, columns_ == 1 ? ", or one number per replica" : ""));
    }
    rows_.assign(numbers.data(), numbers.data() + numbers.size());
  }

  nb::object function_;
  std::string file_;
  std::size_t columns_;
  unsigned fields_;
  double timestep_fs_ = 0.0;
  std::vector<double> rows_;  ///< of the last frame, [replica][column]
};

}  // namespace

ObserverMaker observer_of(nb::handle observer) {
  if (!nb::hasattr(observer, "function") || !nb::hasattr(observer, "columns")) {
    throw InputError("observers must be functions decorated with tarn.observer(columns=[...])");
  }
  QuantityTable table;
  table.file = nb::cast<std::string>(observer.attr("file"));
  table.columns = nb::cast<std::vector<std::string>>(observer.attr("columns"));
  table.every = nb::cast<std::int64_t>(observer.attr("every"));
  table.fields = fields_of(nb::cast<std::vector<std::string>>(observer.attr("fields")));
  table.replicas = replicas_of(observer.attr("replicas"));
  table.may_be_unknown = nb::cast<bool>(observer.attr("may_be_unknown"));
  table.steady = nb::cast<bool>(observer.attr("steady"));
  table.settings = nb::cast<std::string>(observer.attr("settings"));
  const auto values = std::make_shared<PythonValues>(
      nb::object(observer.attr("function")), table.file, table.columns.size(), table.fields);
  table.values = [values](const Frame& frame, std::size_t r, std::span<double> out) {
    values->values(frame, r, out);
  };
  const nb::object save = observer.attr("save"), load = observer.attr("load");
  if (!save.is_none() || !load.is_none()) {
    // Shared: copies of Python objects would need the interpreter's lock.
    const auto functions = std::make_shared<std::pair<nb::object, nb::object>>(save, load);
    if (!save.is_none()) {
      table.save = [functions, file = table.file](std::ostream& out) {
        const Locked lock;
        const nb::object state = functions->first();
        if (!nb::isinstance<nb::bytes>(state)) {
          throw InputError(fmt::format("the observer '{}': save() returned {}; expected bytes",
                                       file, nb::repr(state).c_str()));
        }
        const auto bytes = nb::borrow<nb::bytes>(state);
        io::put(out, std::string(bytes.c_str(), bytes.size()));
      };
    }
    if (!load.is_none()) {
      table.load = [functions](std::istream& in) {
        const std::string bytes = io::get_string(in);
        const Locked lock;
        functions->second(nb::bytes(bytes.data(), bytes.size()));
      };
    }
  }
  return [values, make = quantity_table(std::move(table))](const RunInfo& run) {
    values->start(run);
    return make(run);
  };
}

}  // namespace tarn::python
