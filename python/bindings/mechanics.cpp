#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "locks.hpp"
#include "parts.hpp"
#include "run/mechanics_case.hpp"
#include "run/mechanics_experiment.hpp"
#include "tarn/core/error.hpp"
#include "tarn/mechanics/diagnostics.hpp"
#include "tarn/mechanics/dormand_prince.hpp"
#include "tarn/mechanics/slow_manifold.hpp"
#include "tarn/mechanics/variational_of.hpp"

/// @file
/// Mechanical systems step by step, for the result pages in docs/pages.

namespace tarn::python {
namespace nb = nanobind;
namespace {

nb::dict object_of(const mechanics::Costs& costs) {
  nb::dict d;
  d["steps"] = costs.steps;
  d["forces"] = costs.forces;
  d["hessians"] = costs.hessians;
  d["third_derivatives"] = costs.third_derivatives;
  d["linear_solves"] = costs.linear_solves;
  d["iterations"] = costs.iterations;
  return d;
}

nb::dict object_of(const std::vector<Quantity>& quantities) {
  nb::dict d;
  for (const Quantity& q : quantities) d[q.name.c_str()] = q.value;
  return d;
}

/// Core time of this process [s].
double core_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The states of a mechanical system in R^n after every `every` steps, from step 0.
/// @return arrays "time" (k,), "x" and "v" (k, n), "energy" (k,), "g" and "lambda" (k, m), empty
///         without constraints; "seconds", the core time of the fastest repeat; "costs"
nb::dict record_motion(const Deck& deck, std::int64_t every, int repeats) {
  const MechanicsDeck& m = deck.mechanics;
  const mechanics::Experiment setup = make_experiment(deck);
  std::vector<double> times;
  std::vector<mechanics::State> states;
  mechanics::Costs costs;
  double seconds = std::numeric_limits<double>::infinity();
  {
    const Unlocked unlocked;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      times.clear();
      states.clear();
      const auto method = make_method(deck, setup);
      mechanics::State s{setup.position, setup.velocity, {}, {}};
      const double began = core_seconds();
      method->begin(s);
      for (std::int64_t step = 0;; ++step) {
        if (step % every == 0) {
          times.push_back(static_cast<double>(step) * m.integrator.step);
          states.push_back(s);
        }
        if (step == m.run.steps) break;
        method->step(s);
      }
      seconds = std::min(seconds, core_seconds() - began);
      costs = method->costs();
    }
  }
  std::vector<double> x, v, energy, g, lambda;
  for (const mechanics::State& s : states) {
    x.insert(x.end(), s.x.begin(), s.x.end());
    v.insert(v.end(), s.v.begin(), s.v.end());
    lambda.insert(lambda.end(), s.lambda.begin(), s.lambda.end());
    energy.push_back(mechanics::energy(setup.whole(), s));
    if (!setup.constraint) continue;
    const mechanics::Vector values = setup.constraint->values(s.x);
    g.insert(g.end(), values.begin(), values.end());
  }
  const std::size_t rows = states.size();
  const auto table = [rows](std::vector<double> values) {
    const std::size_t columns = values.size() / rows;
    return array_of(std::move(values), {rows, columns});
  };
  nb::dict d;
  d["time"] = array_of(std::move(times), {rows});
  d["energy"] = array_of(std::move(energy), {rows});
  d["x"] = table(std::move(x));
  d["v"] = table(std::move(v));
  d["g"] = table(std::move(g));
  d["lambda"] = table(std::move(lambda));
  d["seconds"] = seconds;
  d["costs"] = object_of(costs);
  return d;
}

std::vector<double> numbers_of(const mechanics::Vector& v) { return {v.begin(), v.end()}; }

/// The steps until a solve fails or the energy changes by `energy_change`, at most `most`, and what
/// ended them: "solve", "energy" or "nothing".
nb::tuple survival(const Deck& deck, std::int64_t most, double energy_change) {
  const mechanics::Experiment setup = make_experiment(deck);
  const auto method = make_method(deck, setup);
  mechanics::State s{setup.position, setup.velocity, {}, {}};
  method->begin(s);
  const auto energy = [&] { return mechanics::energy(setup.whole(), *method, s); };
  const double start = energy();
  std::int64_t step = 0;
  const char* lost_by = "nothing";
  for (; step < most; ++step) {
    try {
      method->step(s);
    } catch (const NumericalError&) {
      lost_by = "solve";
      break;
    }
    if (std::abs(energy() - start) < energy_change) continue;
    lost_by = "energy";
    break;
  }
  return nb::make_tuple(step, lost_by);
}

/// Core time [s] and Newton iterations of the first step, which is taken `steps` times.
nb::tuple first_step(const Deck& deck, std::int64_t steps) {
  const mechanics::Experiment setup = make_experiment(deck);
  const auto method = make_method(deck, setup);
  mechanics::State start{setup.position, setup.velocity, {}, {}};
  method->begin(start);
  const std::int64_t before = method->costs().iterations;
  const double began = core_seconds();
  for (std::int64_t k = 0; k < steps; ++k) {
    mechanics::State s = start;
    method->step(s);
  }
  const auto count = static_cast<double>(steps);
  const double seconds = (core_seconds() - began) / count;
  const auto iterations = static_cast<double>(method->costs().iterations - before);
  return nb::make_tuple(seconds, std::llround(iterations / count));
}

/// The stiff equations of a deck over `units` of time, by the pair of Dormand & Prince. The
/// absolute tolerance is a thousandth of the relative one.
/// @param projections their number, onto the slow manifold at t = 0, 1, ..., with the deck's
///        tolerance
nb::dict solve_stiff(const Deck& deck, double relative, int units, int projections) {
  const mechanics::Experiment setup = make_experiment(deck);
  mechanics::Costs costs;
  const mechanics::CountedSystem system(setup.whole(), costs);
  mechanics::DormandPrince method(system, relative, 1e-3 * relative);
  mechanics::Vector x = setup.position, v = setup.velocity;
  const double began = core_seconds();
  for (int unit = 0; unit < units; ++unit) {
    if (unit < projections) {
      const auto point = mechanics::project_onto_slow_manifold(system, *setup.constraint,
                                                               *deck.mechanics.system.omega, x, v,
                                                               deck.mechanics.integrator.tolerance)
                             .back();
      x = point.x;
      v = point.v;
    }
    method.advance(x, v, 1.0);
  }
  nb::dict d;
  d["seconds"] = core_seconds() - began;
  d["x"] = array_of(numbers_of(x));
  d["v"] = array_of(numbers_of(v));
  d["costs"] = object_of(costs);
  return d;
}

/// Positions and velocities of the planar double pendulum at t = 1, by a variational method, and
/// sweeps per step.
/// @param layer "euler", "rk2" or "rk4"
nb::tuple variational_double_pendulum(const std::string& layer, double bias, int steps,
                                      const std::vector<double>& position,
                                      const std::vector<double>& velocity) {
  using mechanics::Layer;
  const auto vector_of = [](const std::vector<double>& values) {
    return mechanics::Vector(Eigen::Map<const Eigen::Vector4d>(values.data()));
  };
  mechanics::VariationalOf<mechanics::PlanarDoublePendulum> run(
      {{1.0, 1.0}, {1.0, std::sqrt(2.0)}, 1.0},
      layer == "euler" ? Layer::euler
      : layer == "rk2" ? Layer::rk2
                       : Layer::rk4,
      1.0 / steps, bias, vector_of(position), vector_of(velocity));
  for (int k = 0; k < steps; ++k) run.step();
  std::vector<double> state = numbers_of(run.q);
  state.insert(state.end(), run.v.begin(), run.v.end());
  return nb::make_tuple(state, static_cast<double>(run.costs().iterations) / steps);
}

}  // namespace

void add_mechanics(nb::module_& module) {
  module.def("record_motion", record_motion, nb::arg("deck"), nb::arg("every"), nb::arg("repeats"));
  module.def(
      "mechanics_case", [](const Deck& deck) { return make_mechanics_case(deck).release(); },
      nb::arg("deck"), nb::rv_policy::take_ownership);
  nb::class_<MechanicsCase>(module, "MechanicsCase", "A mechanical system, advanced by steps.")
      .def(
          "step",
          [](MechanicsCase& run, std::int64_t steps) {
            for (std::int64_t k = 0; k < steps; ++k) run.step();
          },
          nb::arg("steps") = 1)
      .def_prop_ro("columns", &MechanicsCase::columns)
      .def_prop_ro("row", &MechanicsCase::row)
      .def_prop_ro("energies", [](const MechanicsCase& run) { return object_of(run.energies()); })
      .def_prop_ro("conserved", [](const MechanicsCase& run) { return object_of(run.conserved()); })
      .def_prop_ro("iterate", [](const MechanicsCase& run) { return object_of(run.iterate()); })
      .def_prop_ro("costs", [](const MechanicsCase& run) { return object_of(run.costs()); });
  module.def("survival", survival, nb::arg("deck"), nb::arg("most"), nb::arg("energy_change"));
  module.def("first_step", first_step, nb::arg("deck"), nb::arg("steps"));
  module.def("solve_stiff", solve_stiff, nb::arg("deck"), nb::arg("relative"), nb::arg("units"),
             nb::arg("projections"));
  module.def("variational_double_pendulum", variational_double_pendulum, nb::arg("layer"),
             nb::arg("bias"), nb::arg("steps"), nb::arg("position"), nb::arg("velocity"));
}

}  // namespace tarn::python
