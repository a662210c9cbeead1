#include <cstddef>
#include <cstdint>
#include <limits>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <utility>
#include <vector>

#include "analysis/isomers.hpp"
#include "analysis/rdf.hpp"
#include "analysis/survival.hpp"
#include "arrays.hpp"
#include "compare/scheme_run.hpp"
#include "io/draw.hpp"
#include "locks.hpp"
#include "parts.hpp"
#include "physics/ring_frequencies.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/ensemble.hpp"
#include "tarn/modes.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"

/// @file
/// Measurements of the result pages in docs/pages that no run and no comparison makes.

namespace tarn::python {
namespace nb = nanobind;
namespace {

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
  DistanceHistogram histogram() const { return distance_histogram(counts, kOO, rdf); }
};

/// Total variation of two histograms, its error, and that of equal distributions.
nb::tuple total_variation(const OoCounts& counts, const OoCounts& reference) {
  const DistanceHistogram a = counts.histogram(), b = reference.histogram();
  const analysis::MeanError distance = total_variation_and_error(a, b);
  return nb::make_tuple(distance.mean, distance.error,
                        total_variation_noise(a, b, counts.rdf.r_max_A / counts.rdf.bins));
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
  const ClusterMasses masses(system);
  for (std::size_t c = 0; c < f.size(); ++c) {
    f[c] *= masses.atom_Da(c / 9, c / 3 % 3) / system.integrator.timestep_akma;
  }
  return array_of(std::move(f), {positions_A.size() / 3, 3});
}

/// Harmonic free energies of a cluster at a minimum [kcal/mol], with its rotation, by temperature.
std::vector<double> harmonic_free_energies(const std::vector<double>& positions_A,
                                           const std::string& model,
                                           const std::vector<double>& temperatures_K,
                                           bool quantum) {
  const WaterModel water = ModelName::model_of(model);
  const NormalModes modes = tarn::normal_modes(water, positions_A);
  const RigidRotor rotor = rigid_rotor(water, positions_A);
  const int rotations = analysis::point_group(positions_A).rotations;
  std::vector<double> all;
  for (const double t_K : temperatures_K) {
    all.push_back(harmonic_state(modes, rotor, rotations, t_K,
                                 quantum ? Statistics::quantum : Statistics::classical)
                      .free_energy_kcal_per_mol);
  }
  return all;
}

bool is_chiral(const std::vector<double>& positions_A) {
  const analysis::PointGroup group = analysis::point_group(positions_A);
  return group.rotations == group.order;
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

ReducedRing ring_of(const Deck& deck, double coldest_K) {
  return reduced_ring(make_system(deck, 1).path_integral, coldest_K);
}

}  // namespace

void add_measures(nb::module_& module) {
  module.def("with_scheme", with_scheme, nb::arg("deck"), nb::arg("spec"));
  module.def("hydrogen_bonds", hydrogen_bonds, nb::arg("positions_A"));
  nb::class_<OoCounts>(module, "OoCounts", "Counts of OO distances.").def("add", &OoCounts::add);
  module.def("total_variation", total_variation, nb::arg("counts"), nb::arg("reference"));
  module.def("observe", observe, nb::arg("deck"), nb::arg("folder"));
  module.def("record_conservation", record_conservation, nb::arg("deck"), nb::arg("first"),
             nb::arg("every"), nb::arg("threads"));
  module.def("engine_forces", engine_forces, nb::arg("deck"), nb::arg("positions_A"));
  module.def("harmonic_free_energies", harmonic_free_energies, nb::arg("positions_A"),
             nb::arg("model"), nb::arg("temperatures_K"), nb::arg("quantum"));
  module.def("is_chiral", is_chiral, nb::arg("positions_A"));
  module.def("lowest_cluster", lowest_cluster, nb::arg("model"), nb::arg("molecules"),
             nb::arg("seed"), nb::arg("threads"));
  module.def("use_python", io::use_python, nb::arg("path"), "Draws pictures with this Python.");
  nb::class_<ReducedRing>(module, "ReducedRing", "The ring polymers of a deck.")
      .def("energy", &ReducedRing::energy, nb::arg("x"), "Of an oscillator [kT].")
      .def("kinetic_error", &ReducedRing::kinetic_error, nb::arg("x_highest"));
  module.def("reduced_ring", ring_of, nb::arg("deck"), nb::arg("coldest_K"));
  module.def("oscillator_energy", oscillator_energy, nb::arg("x"));
  module.def("arrhenius_fit", arrhenius_fit, nb::arg("beta"), nb::arg("events"), nb::arg("times"));
}

}  // namespace tarn::python
