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
#include "locks.hpp"
#include "parts.hpp"
#include "run/mechanics_case.hpp"
#include "run/mechanics_experiment.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/survival.hpp"
#include "tarn/analysis/symmetry.hpp"
#include "tarn/mechanics/diagnostics.hpp"
#include "tarn/modes.hpp"
#include "tarn/observe/structure_picture.hpp"
#include "tarn/start.hpp"
#include "tarn/thermochemistry.hpp"

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

/// Classical harmonic free energy of a cluster at a minimum [kcal/mol], with its rotation.
double classical_free_energy(const std::vector<double>& positions_A, const std::string& model,
                             double temperature_K) {
  const WaterModel water = ModelName::model_of(model);
  return harmonic_state(tarn::normal_modes(water, positions_A), rigid_rotor(water, positions_A),
                        analysis::point_group(positions_A).rotations, temperature_K,
                        Statistics::classical)
      .free_energy_kcal_per_mol;
}

/// The lowest minimum that the default number of searches finds, with its shape.
nb::dict lowest_cluster(const std::string& model, int molecules, std::uint64_t seed, int threads) {
  LowestCluster found;
  {
    const Unlocked unlocked;
    found = tarn::lowest_cluster(ModelName::model_of(model), molecules, seed, {.threads = threads});
  }
  const analysis::ClusterShape shape = analysis::cluster_shape(found.positions_A);
  nb::dict d;
  d["energy_kcal_per_mol"] = found.energy_kcal_per_mol;
  d["hydrogen_bonds"] = shape.hydrogen_bonds;
  d["radius_of_gyration_A"] = shape.radius_of_gyration_A;
  d["searches"] = default_starts(molecules);
  d["searches_that_hit"] = found.starts_that_hit;
  d["positions_A"] =
      array_of(std::move(found.positions_A), {static_cast<std::size_t>(3 * molecules), 3});
  return d;
}

/// An SVG of clusters side by side. @param columns clusters per row; 0: automatic
std::string structure_picture(const std::vector<std::vector<double>>& positions_A,
                              const std::vector<std::string>& labels, std::size_t columns) {
  std::vector<DrawnCluster> clusters;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    clusters.push_back({positions_A.at(k), labels[k]});
  }
  return structure_svg(clusters, "", columns);
}

/// The fit of equation (73) to numbers of events: activation energy, its error, deviance.
nb::object arrhenius_fit(const std::vector<double>& beta, const std::vector<std::int64_t>& events,
                         const std::vector<double>& times) {
  std::vector<analysis::Exposure> exposures;
  for (std::size_t k = 0; k < beta.size(); ++k) {
    exposures.push_back({events.at(k), times.at(k)});
  }
  const auto fit = analysis::fit_arrhenius(beta, exposures);
  if (!fit) return nb::none();
  return nb::make_tuple(fit->activation, fit->activation_error, fit->deviance);
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
  module.def("classical_free_energy", classical_free_energy, nb::arg("positions_A"),
             nb::arg("model"), nb::arg("temperature_K"));
  module.def("lowest_cluster", lowest_cluster, nb::arg("model"), nb::arg("molecules"),
             nb::arg("seed"), nb::arg("threads"));
  module.def("structure_svg", structure_picture, nb::arg("positions_A"), nb::arg("labels"),
             nb::arg("columns") = 0);
  module.def("arrhenius_fit", arrhenius_fit, nb::arg("beta"), nb::arg("events"), nb::arg("times"));
}

}  // namespace tarn::python
