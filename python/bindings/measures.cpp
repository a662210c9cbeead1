#include <algorithm>
#include <cmath>
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
#include "tarn/core/error.hpp"
#include "tarn/ensemble.hpp"
#include "tarn/mechanics/diagnostics.hpp"
#include "tarn/mechanics/dormand_prince.hpp"
#include "tarn/mechanics/slow_manifold.hpp"
#include "tarn/mechanics/variational_of.hpp"
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

/// Conserved quantities of a run of water after every `every` steps, from the step `first` on.
/// @return arrays "energy" (k, replica) [kcal/mol], "momentum" [Da A/akma] and "angular_momentum"
///         [Da A^2/akma] (k, replica, 3), all nan for stopped replicas; "blow_ups", the steps at
///         which replicas stopped by replica
nb::dict record_conservation(const Deck& deck, std::int64_t first, std::int64_t every,
                             int threads) {
  std::vector<double> energy, momentum, angular;
  std::size_t rows = 0, replicas = 0;
  std::vector<BlowUp> blow_ups;
  {
    const Unlocked unlocked;
    Ensemble ensemble(deck, {"cpu", threads});
    replicas = static_cast<std::size_t>(ensemble.replicas());
    Frame frame;
    ensemble.advance(first);
    for (std::int64_t step = first; step <= deck.run.steps; step += every, ++rows) {
      if (step > first) ensemble.advance(every);
      ensemble.snapshot(kConservation, frame);
      if (frame.replica_ids.empty()) break;
      for (std::vector<double>* values : {&energy, &momentum, &angular}) {
        const std::size_t size = values == &energy ? 1 : 3;
        values->resize((rows + 1) * replicas * size, std::numeric_limits<double>::quiet_NaN());
      }
      for (std::size_t r = 0; r < frame.live(); ++r) {
        const Conservation& c = frame.conservation[r];
        const std::size_t at = rows * replicas + static_cast<std::size_t>(frame.replica_ids[r]);
        energy[at] = c.energy_kcal_per_mol;
        std::ranges::copy(c.momentum_Da_A_per_akma, &momentum[3 * at]);
        std::ranges::copy(c.angular_momentum_Da_A2_per_akma, &angular[3 * at]);
      }
    }
    blow_ups = ensemble.blow_ups();
  }
  nb::dict d, stopped;
  for (const BlowUp& b : blow_ups) stopped[nb::cast(b.replica)] = b.step;
  d["energy"] = array_of(std::move(energy), {rows, replicas});
  d["momentum"] = array_of(std::move(momentum), {rows, replicas, 3});
  d["angular_momentum"] = array_of(std::move(angular), {rows, replicas, 3});
  d["blow_ups"] = stopped;
  return d;
}

/// Forces on the atoms of one cluster in the precision of a deck [kcal/mol/A], from one step of
/// velocity Verlet that starts at rest and is too short for any motion.
nb::object engine_forces(const Deck& deck, const std::vector<double>& positions_A) {
  System system = make_system(deck, static_cast<int>(positions_A.size() / 9));
  system.integrator = {};
  system.integrator.scheme = Scheme::verlet;
  system.integrator.omega = 0.0;
  system.integrator.timestep_akma = 1e-9;
  system.thermostat = {};
  State state;
  state.molecules = system.molecules;
  state.replica_ids = {0};
  state.positions_A = positions_A;
  state.velocities_A_per_akma.assign(positions_A.size(), 0.0);
  const auto engine = make_engine(system, state, {}, {"cpu", 1});
  engine->advance(1);
  std::vector<double> f = engine->state().velocities_A_per_akma;
  for (std::size_t c = 0; c < f.size(); ++c) {
    f[c] *= system.model.mass_Da(static_cast<int>(c / 3 % 3)) / system.integrator.timestep_akma;
  }
  return array_of(std::move(f), {positions_A.size() / 3, 3});

  // --- pages of mechanical systems
  // -----------------------------------------------------------------

  std::vector<double> numbers_of(const mechanics::Vector& v) { return {v.begin(), v.end()}; }

  /// The steps until a solve fails or the energy changes by `energy_change`, at most `most`, and
  /// what ended them: "solve", "energy" or "nothing".
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
        const auto point = mechanics::project_onto_slow_manifold(
                               system, *setup.constraint, *deck.mechanics.system.omega, x, v,
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
      .def_prop_ro("iterate", [](const MechanicsCase& run) { return object_of(run.iterate()); })
      .def_prop_ro("costs", [](const MechanicsCase& run) { return object_of(run.costs()); });
  nb::class_<OoCounts>(module, "OoCounts", "Counts of OO distances.").def("add", &OoCounts::add);
  module.def("total_variation", total_variation, nb::arg("counts"), nb::arg("reference"));
  module.def("observe", observe, nb::arg("deck"), nb::arg("folder"));
  module.def("record_conservation", record_conservation, nb::arg("deck"), nb::arg("first"),
             nb::arg("every"), nb::arg("threads"));
  module.def("engine_forces", engine_forces, nb::arg("deck"), nb::arg("positions_A"));
  module.def("survival", survival, nb::arg("deck"), nb::arg("most"), nb::arg("energy_change"));
  module.def("first_step", first_step, nb::arg("deck"), nb::arg("steps"));
  module.def("solve_stiff", solve_stiff, nb::arg("deck"), nb::arg("relative"), nb::arg("units"),
             nb::arg("projections"));
  module.def("variational_double_pendulum", variational_double_pendulum, nb::arg("layer"),
             nb::arg("bias"), nb::arg("steps"), nb::arg("position"), nb::arg("velocity"));
}

}  // namespace tarn::python
