#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <memory>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "compare/error_cost.hpp"
#include "locks.hpp"
#include "parts.hpp"
#include "run/mechanics_case.hpp"
#include "run/mechanics_experiment.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/rdf.hpp"
#include "tarn/mechanics/diagnostics.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"

/// @file
/// Measurements of the result pages in docs/pages that no run and no comparison makes.

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

std::vector<std::vector<int>> hydrogen_bonds(const std::vector<double>& positions_A) {
  std::vector<std::vector<int>> bonds;
  for (const analysis::HydrogenBond& b : analysis::hydrogen_bonds(positions_A)) {
    bonds.push_back({b.donor, b.hydrogen, b.acceptor});
  }
  return bonds;
}

/// Counts of OO distances of several runs of one system.
struct OoCounts {
  Frame counts;
  ObserveRdf rdf;

  void add(const OoCounts& other) {
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(counts.pair_counts, other.counts.pair_counts);
    append(counts.pair_samples, other.counts.pair_samples);
  }
  double width_A() const { return rdf.r_max_A / rdf.bins; }
  DistanceHistogram histogram() const {
    return distance_histogram(counts, kOO, rdf.bins, width_A(),
                              analysis::pairs_per_sample(counts.molecules)[kOO]);
  }
};

/// Total variation of two histograms, its error, and that of equal distributions.
nb::tuple total_variation(const OoCounts& counts, const OoCounts& reference) {
  const DistanceHistogram a = counts.histogram(), b = reference.histogram();
  const analysis::MeanError distance = total_variation_and_error(a, b);
  return nb::make_tuple(distance.mean, distance.error,
                        total_variation_noise(a, b, counts.width_A()));
}

/// Runs a deck of water on one thread.
/// @param folder for the tables of its observers
/// @return "averages", {quantity: (mean, error)}; "oo", the OoCounts of [observe.rdf];
///         "stopped", the number of replicas that blew up; "positions_A" of the others at the end
nb::dict observe(const Deck& deck, const std::string& folder) {
  std::vector<AveragedQuantity> averages;
  OoCounts oo{{}, deck.rdf.value_or(ObserveRdf{})};
  State end;
  std::size_t stopped = 0;
  {
    const Unlocked unlocked;
    const Start start = make_start(deck);
    const auto engine = make_engine(make_system(deck, start.state.molecules), start.state,
                                    make_pair_count_request(deck), {"cpu", 1});
    RunInfo info{folder, start.state.molecules,       deck.system.replicas,
                 "",     deck.integrator.timestep_fs, first_averaged_step(deck)};
    info.threads = 1;
    const auto observers = make_observers(deck, info);
    for (const auto& observer : observers) observer->begin();
    run_loop(*engine, observers, deck.run.steps, true, [](std::int64_t) { return true; });
    for (const auto& observer : observers) {
      observer->finish();
      for (AveragedQuantity& a : observer->averages()) averages.push_back(std::move(a));
    }
    engine->snapshot(kPairCounts, oo.counts);
    end = engine->state();
    stopped = engine->blow_ups().size();
  }
  nb::dict by_quantity;
  for (const AveragedQuantity& a : averages) {
    by_quantity[a.quantity.c_str()] = nb::make_tuple(a.mean, a.error);
  }
  const std::vector<std::size_t> shape{static_cast<std::size_t>(end.replicas()),
                                       end.coordinates() / 3, 3};
  nb::dict d;
  d["averages"] = by_quantity;
  d["oo"] = oo;
  d["stopped"] = stopped;
  d["positions_A"] = array_of(std::move(end.positions_A), shape);
  return d;
}

}  // namespace

void add_measures(nb::module_& module) {
  module.def("with_scheme", with_scheme, nb::arg("deck"), nb::arg("spec"));
  module.def("record_motion", record_motion, nb::arg("deck"), nb::arg("every"), nb::arg("repeats"));
  module.def("hydrogen_bonds", hydrogen_bonds, nb::arg("positions_A"));
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
      .def_prop_ro("costs", [](const MechanicsCase& run) { return object_of(run.costs()); });
  nb::class_<OoCounts>(module, "OoCounts", "Counts of OO distances.").def("add", &OoCounts::add);
  module.def("total_variation", total_variation, nb::arg("counts"), nb::arg("reference"));
  module.def("observe", observe, nb::arg("deck"), nb::arg("folder"));
}

}  // namespace tarn::python
