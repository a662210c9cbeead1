#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <list>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/isomers.hpp"
#include "arrays.hpp"
#include "interrupts.hpp"
#include "locks.hpp"
#include "observe/trajectory_tables.hpp"
#include "parts.hpp"
#include "physics/model_table.hpp"
#include "physics/temperature_ladder.hpp"
#include "potential.hpp"
#include "tarn/check_potential.hpp"
#include "tarn/cluster_forces.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"
#include "tarn/physics/isotopes.hpp"
#include "tarn/start.hpp"

namespace tarn::python {
namespace {

std::vector<std::size_t> shape_of(const Clusters& given) {
  const auto atoms = static_cast<std::size_t>(given.molecules) * kAtomsPerMolecule;
  if (given.is_single) return {atoms, 3};
  return {given.clusters, atoms, 3};
}

/// The same as a Python object.
nb::tuple shape_tuple(const Clusters& given) {
  const int atoms = given.molecules * kAtomsPerMolecule;
  return given.is_single ? nb::make_tuple(atoms, 3) : nb::make_tuple(given.clusters, atoms, 3);
}

/// An array over the clusters, or a number for one cluster of shape (atom, 3).
template <class T>
nb::object per_cluster(const Clusters& given, std::vector<T> values) {
  return given.is_single ? nb::cast(values[0]) : array_of(std::move(values));
}

/// Whether `model` is the path of a deck, which may have changed since the last call.
bool is_file(std::string_view model) { return model.ends_with(".toml"); }

/// The work spaces that this thread used last: making one would take longer than a small cluster.
ClusterForces& forces_of(std::string_view model, int molecules, std::string_view device,
                         int threads) {
  struct Kept {
    std::string model, device;
    int molecules, threads;
    ClusterForces forces;
  };
  constexpr std::size_t kMost = 4;
  thread_local std::list<Kept> kept;
  for (auto k = kept.begin(); k != kept.end() && !is_file(model); ++k) {
    if (k->molecules != molecules || k->threads != threads || k->model != model ||
        k->device != device) {
      continue;
    }
    kept.splice(kept.begin(), kept, k);
    return kept.front().forces;
  }
  const std::string model_name(model), device_name(device);
  kept.push_front({model_name, device_name, molecules, threads,
                   ClusterForces(ModelName::model_of(model), molecules, {device_name, threads})});
  if (kept.size() > kMost) kept.pop_back();
  return kept.front().forces;
}

/// Whether the computation takes at most some 4 us: one small cluster on the CPU.
bool is_short(const Clusters& given, std::string_view model, std::string_view device) {
  constexpr int kMostMolecules = 10;
  return given.clusters == 1 && given.molecules <= kMostMolecules && device == "cpu" &&
         !is_file(model);
}

/// Clusters whose forces take some tenths of a second.
std::size_t clusters_between_checks(int molecules) {
  constexpr std::size_t kPairs = 20'000'000;
  const auto n = static_cast<std::size_t>(molecules);
  return std::max<std::size_t>(1, kPairs / (n * n));
}

nb::tuple energy_and_forces(nb::handle positions_A, nb::handle given_model, nb::handle given_device,
                            nb::handle given_threads) {
  const Clusters given = clusters_of(positions_A);
  const ModelName model(given_model);
  const std::string_view device = text_of(given_device, "energy_and_forces: device");
  const int threads = static_cast<int>(
      integer(given_threads, "energy_and_forces: threads", std::numeric_limits<int>::max()));
  const NewArray forces = new_array(shape_tuple(given));
  double energy = 0.0;
  NewArray energies{{}, {&energy, 1}};
  if (!given.is_single) energies = new_array(nb::int_(given.clusters));
  Interrupts interrupts;
  {
    // A short computation keeps the interpreter's lock: its release takes 8 % of the time of a
    // heptamer (measured).
    std::optional<Unlocked> unlocked;
    if (!is_short(given, model, device)) unlocked.emplace();
    ClusterForces& field = forces_of(model, given.molecules, device, threads);
    // Ctrl-C ends a large batch. A GPU computes it at once.
    const std::size_t most = device == "cpu" ? clusters_between_checks(given.molecules)
                                             : std::max<std::size_t>(given.clusters, 1);
    const std::size_t size = given.positions_A.size() / std::max<std::size_t>(given.clusters, 1);
    for (std::size_t at = 0; at < given.clusters || at == 0; at += most) {
      if (at > 0 && interrupts.pending()) break;
      const std::size_t count = std::min(most, given.clusters - at);
      field.compute(given.positions_A.subspan(at * size, count * size),
                    energies.numbers.subspan(at, count),
                    forces.numbers.subspan(at * size, count * size));
    }
  }
  interrupts.raise_if_pending();
  return nb::make_tuple(given.is_single ? nb::object(nb::float_(energy)) : energies.array,
                        forces.array);
}

nb::object dipole_moments(nb::handle positions_A, nb::handle given_model) {
  const Clusters given = clusters_of(positions_A);
  const ModelName model(given_model);
  std::vector<double> moments;
  {
    const Unlocked unlocked;
    moments = dipole_moments_e_A(model.model(), given.molecules, given.positions_A);
  }
  if (given.is_single) return array_of(std::move(moments), {3});
  return array_of(std::move(moments), {given.clusters, 3});
}

nb::dict minimise(nb::handle positions_A, const std::string& model, double tolerance_kcal_per_mol_A,
                  int max_iterations, const std::string& device, int threads, nb::handle function) {
  const Clusters given = clusters_of(positions_A);
  const std::shared_ptr<Potential> potential = python_potential(function);
  std::vector<double> positions(given.positions_A.begin(), given.positions_A.end());
  std::vector<MinimiseResult> results;
  Interrupts interrupts;
  {
    const Unlocked unlocked;
    MinimiseOptions options;
    options.tolerance_kcal_per_mol_A = tolerance_kcal_per_mol_A;
    options.max_iterations = max_iterations;
    options.should_continue = [&] { return !interrupts.pending(); };
    results = minimise_clusters(ModelName::model_of(model), given.molecules, positions,
                                {device, threads, potential}, options);
  }
  interrupts.raise_if_pending();
  std::vector<double> energies, gradients;
  std::vector<std::int64_t> iterations;
  std::vector<std::uint8_t> converged;
  for (const MinimiseResult& r : results) {
    energies.push_back(r.energy_kcal_per_mol);
    gradients.push_back(r.max_gradient_kcal_per_mol_A);
    iterations.push_back(r.iterations);
    converged.push_back(r.converged);
  }
  nb::dict d;
  d["positions_A"] = array_of(std::move(positions), shape_of(given));
  d["energy_kcal_per_mol"] = per_cluster(given, std::move(energies));
  d["max_gradient_kcal_per_mol_A"] = per_cluster(given, std::move(gradients));
  d["iterations"] = per_cluster(given, std::move(iterations));
  d["converged"] = per_cluster(given, std::move(converged));
  return d;
}

/// Calls compute() in a thread of its own. A signal ends the wait for it: the computation then goes
/// on until its end, and its result is lost.
template <class Compute>
auto abandonable(Compute compute) {
  std::packaged_task<std::invoke_result_t<Compute>()> task(std::move(compute));
  auto result = task.get_future();
  Interrupts interrupts;
  {
    const Unlocked unlocked;
    std::thread(std::move(task)).detach();
    constexpr std::chrono::milliseconds kBetweenChecks(50);
    while (result.wait_for(kBetweenChecks) != std::future_status::ready && !interrupts.pending()) {
    }
  }
  interrupts.raise_if_pending();
  return result.get();
}

nb::dict check_potential(nb::handle function, nb::handle positions_A, bool bonds) {
  const Clusters given = clusters_of(positions_A);
  if (given.clusters == 0) throw InputError("check_potential: positions_A has no replica");
  const std::shared_ptr<Potential> potential = python_potential(function);
  PotentialCheck check;
  {
    const Unlocked unlocked;
    check = tarn::check_potential(
        *potential, given.positions_A.first(given.positions_A.size() / given.clusters),
        {.bonds = bonds});
  }
  nb::dict d;
  d["energy_kcal_per_mol"] = check.energy_kcal_per_mol;
  d["largest_force_kcal_per_mol_A"] = check.largest_force_kcal_per_mol_A;
  d["largest_difference_kcal_per_mol_A"] = check.largest_difference_kcal_per_mol_A;
  d["oh_wavenumber_per_cm"] = check.oh_wavenumber_per_cm;
  d["forces_agree"] = check.forces_agree();
  d["depends_on_batch"] = check.depends_on_batch;
  d["warnings"] = nb::cast(texts_of(Level::warning, check.messages));
  return d;
}

/// @param mass_o_Da, mass_h_Da None: those of the model
/// @param isotopes as in isotope_masses_Da()
/// @param function see python_potential()
/// @param displacement_A only with a potential
nb::dict normal_modes(nb::handle positions_A, const std::string& model, double omega,
                      std::optional<double> mass_o_Da, std::optional<double> mass_h_Da,
                      const std::vector<std::string>& isotopes, nb::handle function,
                      double displacement_A) {
  const Clusters given = cluster_of(positions_A);
  WaterModel water = ModelName::model_of(model);
  set_masses(mass_h_Da, mass_o_Da, water);
  const auto masses_Da = isotope_masses_Da(isotopes, water, given.molecules);
  NormalModes modes;
  if (const std::shared_ptr<Potential> potential = python_potential(function)) {
    const Unlocked unlocked;
    modes = tarn::normal_modes(water, given.positions_A, *potential, displacement_A, masses_Da);
  } else {
    check_modes(water, given.molecules, omega);
    modes = abandonable(std::function<NormalModes()>(
        [water, omega, masses_Da,
         x = std::vector<double>(given.positions_A.begin(), given.positions_A.end())] {
          return tarn::normal_modes(water, x, omega, masses_Da);
        }));
  }
  std::vector<double> wavenumbers, intensities, translation, rotation, vibration;
  for (const NormalMode& m : modes.modes) {
    wavenumbers.push_back(m.wavenumber_per_cm);
    intensities.push_back(m.ir_intensity_km_per_mol());
    translation.push_back(m.translation);
    rotation.push_back(m.rotation);
    vibration.push_back(m.vibration);
  }
  nb::dict d;
  d["energy_kcal_per_mol"] = modes.energy_kcal_per_mol;
  d["max_gradient_kcal_per_mol_A"] = modes.max_gradient_kcal_per_mol_A;
  d["is_stationary"] = modes.is_stationary();
  d["imaginary"] = modes.imaginary_count();
  d["zero_point_energy_kcal_per_mol"] = modes.zero_point_energy_kcal_per_mol();
  const std::size_t count = modes.modes.size();
  d["wavenumbers_per_cm"] = array_of(std::move(wavenumbers));
  d["ir_intensities_km_per_mol"] = array_of(std::move(intensities));
  d["translation"] = array_of(std::move(translation));
  d["rotation"] = array_of(std::move(rotation));
  d["vibration"] = array_of(std::move(vibration));
  d["displacements_per_sqrt_Da"] =
      array_of(std::move(modes.displacements_per_sqrt_Da),
               {count, static_cast<std::size_t>(given.molecules) * kAtomsPerMolecule, 3});
  return d;
}

/// @param beads of each frame, or None
TrajectoryRdfOptions rdf_options(const std::vector<std::string>& pairs, double r_max_A,
                                 double bin_width_A, std::optional<int> beads,
                                 Interrupts& interrupts) {
  TrajectoryRdfOptions options;
  options.pairs = {};
  for (const std::string& name : pairs) {
    const auto pair = name == "OO"   ? kOO
                      : name == "OH" ? kOH
                      : name == "HH"
                          ? kHH
                          : throw InputError("rdf: unknown pair '" + name + "'; use OO, OH or HH");
    options.pairs[static_cast<std::size_t>(pair)] = true;
  }
  options.r_max_A = r_max_A;
  options.bin_width_A = bin_width_A;
  options.beads = beads;
  // pending() may wait for other Python threads.
  options.should_continue = [&interrupts, next = std::chrono::steady_clock::now()]() mutable {
    constexpr std::chrono::milliseconds kBetweenChecks(50);
    if (std::chrono::steady_clock::now() < next) return true;
    next = std::chrono::steady_clock::now() + kBetweenChecks;
    return !interrupts.pending();
  };
  return options;
}

nb::tuple finished(const TrajectoryRdf& rdf) {
  return nb::make_tuple(object_of(io::parse_table(rdf.csv)), texts_of(Level::note, rdf.messages),
                        texts_of(Level::warning, rdf.messages));
}

/// @return (table, notes, warnings)
nb::tuple rdf_of_files(const std::vector<std::string>& files, const std::vector<std::string>& pairs,
                       double r_max_A, double bin_width_A, std::int64_t skip, std::int64_t every,
                       const std::vector<std::int64_t>& replicas, std::optional<int> beads) {
  Interrupts interrupts;
  TrajectoryRdfOptions options = rdf_options(pairs, r_max_A, bin_width_A, beads, interrupts);
  options.files = files;
  options.frames.skip = skip;
  options.frames.every = every;
  options.frames.replicas = replicas;
  TrajectoryRdf rdf;
  {
    const Unlocked unlocked;
    rdf = rdf_of_trajectories(options, "rdf");
  }
  interrupts.raise_if_pending();
  return finished(rdf);
}

/// @param positions_A (frame, atom, 3), (frame, replica, atom, 3) or (frame, replica, bead, atom,
/// 3)
nb::tuple rdf_of_array(nb::handle positions_A, const std::vector<std::string>& pairs,
                       double r_max_A, double bin_width_A) {
  const Numbers numbers(positions_A, "positions_A");
  const std::size_t dimensions = numbers.ndim();
  if (dimensions < 3 || dimensions > 5 || numbers.shape(dimensions - 1) != 3 ||
      numbers.shape(dimensions - 2) == 0 || numbers.shape(dimensions - 2) % 3 != 0) {
    std::string shape;
    for (std::size_t d = 0; d < dimensions; ++d) {
      shape += (d > 0 ? ", " : "") + std::to_string(numbers.shape(d));
    }
    throw InputError(
        "rdf: positions_A has the shape (" + shape +
        "); expected (frame, replica, atom, 3), or (frame, atom, 3) for one replica, "
        "or (frame, replica, bead, atom, 3), with three atoms O, H, H for each molecule");
  }
  if (numbers.size() == 0) throw InputError("rdf: positions_A has no frames or no replicas");
  const auto replicas = dimensions >= 4 ? static_cast<int>(numbers.shape(1)) : 1;
  const auto molecules = static_cast<int>(numbers.shape(dimensions - 2) / kAtomsPerMolecule);
  const int beads = dimensions == 5 ? static_cast<int>(numbers.shape(2)) : 1;
  Interrupts interrupts;
  const TrajectoryRdfOptions options = rdf_options(pairs, r_max_A, bin_width_A, beads, interrupts);
  TrajectoryRdf rdf;
  {
    const Unlocked unlocked;
    rdf = rdf_of_positions({numbers.data(), numbers.size()}, replicas, molecules, options);
  }
  interrupts.raise_if_pending();
  return finished(rdf);
}

nb::object random_cluster(int molecules, std::uint64_t seed, const std::string& model,
                          std::optional<int> replicas) {
  std::vector<double> positions;
  Interrupts interrupts;
  {
    const Unlocked unlocked;
    const WaterModel water = ModelName::model_of(model);
    // pending() may wait for other Python threads.
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kBetweenChecks(50);
    auto next_check = Clock::now() + kBetweenChecks;
    for (int r = 0; r < replicas.value_or(1); ++r) {
      if (Clock::now() > next_check) {
        if (interrupts.pending()) break;
        next_check = Clock::now() + kBetweenChecks;
      }
      const std::vector<double> one = tarn::random_cluster(water, molecules, seed, r);
      positions.insert(positions.end(), one.begin(), one.end());
    }
  }
  interrupts.raise_if_pending();
  const auto atoms = static_cast<std::size_t>(molecules) * kAtomsPerMolecule;
  if (!replicas) return array_of(std::move(positions), {atoms, 3});
  return array_of(std::move(positions), {static_cast<std::size_t>(*replicas), atoms, 3});
}

/// @return (temperatures [K], acceptances of the neighbours)
nb::tuple temperature_ladder(double lowest_K, double highest_K, int molecules,
                             const std::string& model, double acceptance, int beads) {
  const WaterModel water = ModelName::model_of(model);
  PathIntegralSpec rings;
  rings.beads = beads;
  if (water.is_flexible()) {
    rings.frequencies = RingFrequencies::economised;
    rings.highest_wavenumber_per_cm = molecule_wavenumbers_per_cm(water).back();
  }
  const bool has_rings = beads > 1 && lowest_K > 0.0;
  const AcceptanceEstimate estimate(water, molecules,
                                    has_rings ? reduced_ring(rings, lowest_K) : trotter_ring(1));
  std::vector<double> ladder = tarn::temperature_ladder(estimate, lowest_K, highest_K, acceptance);
  std::vector<double> acceptances = ladder_acceptances(estimate, ladder);
  return nb::make_tuple(array_of(std::move(ladder)), array_of(std::move(acceptances)));
}

}  // namespace

void add_functions(nb::module_& module) {
  module.def("energy_and_forces", energy_and_forces, nb::arg("positions_A").none(),
             nb::arg("model").none(), nb::arg("device").none(), nb::arg("threads").none());
  module.def("dipole_moments", dipole_moments, nb::arg("positions_A").none(),
             nb::arg("model").none());
  module.def("minimise", minimise, nb::arg("positions_A").none(), nb::arg("model"),
             nb::arg("tolerance_kcal_per_mol_A"), nb::arg("max_iterations"), nb::arg("device"),
             nb::arg("threads"), nb::arg("potential").none());
  module.def("check_potential", check_potential, nb::arg("potential"),
             nb::arg("positions_A").none(), nb::arg("bonds"));
  module.def("normal_modes", normal_modes, nb::arg("positions_A").none(), nb::arg("model"),
             nb::arg("omega"), nb::arg("mass_o_Da").none(), nb::arg("mass_h_Da").none(),
             nb::arg("isotopes"), nb::arg("potential").none(), nb::arg("displacement_A"));
  module.def("rdf_of_files", rdf_of_files, nb::arg("files"), nb::arg("pairs"), nb::arg("r_max_A"),
             nb::arg("bin_width_A"), nb::arg("skip"), nb::arg("every"), nb::arg("replicas"),
             nb::arg("beads").none());
  module.def("rdf_of_array", rdf_of_array, nb::arg("positions_A").none(), nb::arg("pairs"),
             nb::arg("r_max_A"), nb::arg("bin_width_A"));
  module.def("temperature_ladder", temperature_ladder, nb::arg("lowest_K"), nb::arg("highest_K"),
             nb::arg("molecules"), nb::arg("model"), nb::arg("acceptance"), nb::arg("beads"));
  module.def("random_cluster", random_cluster, nb::arg("molecules"), nb::arg("seed"),
             nb::arg("model"), nb::arg("replicas").none());
}

}  // namespace tarn::python
