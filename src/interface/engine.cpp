#include "tarn/engine.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "measure.hpp"
#include "steps/single.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

using std::to_string;

void check_size(const char* array, std::size_t size, const State& s) {
  const std::size_t expected = s.replica_ids.size() * s.ring_coordinates();
  if (size == expected) return;
  throw InputError("the start state has " + to_string(size) + " numbers in " + array + "; " +
                   to_string(s.replicas()) + " replicas of " + to_string(s.molecules) +
                   " molecules have " + to_string(expected));
}

void check_heat(const State& s) {
  const std::size_t expected = s.replica_ids.size() * s.ring_coordinates() / 9;
  const std::size_t size = s.heat_kcal_per_mol.size();
  if (size == 0 || size == expected) return;
  throw InputError(
      "the start state has " + to_string(size) +
      " numbers in heat_kcal_per_mol; it must have none, or one per molecule and replica: " +
      to_string(expected));
}

void check_replica_ids(std::vector<std::int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  if (!ids.empty() && ids.front() < 0) {
    throw InputError("replica ids must be 0 or more; one is " + to_string(ids.front()));
  }
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) {
    throw InputError("two replicas have the id " + to_string(*twice) +
                     "; they would have the same noise");
  }
}

void check_counts(const PairCountRequest& counts) {
  if (!counts.enabled) return;
  const auto check = [](const char* name, std::int64_t number) {
    if (number >= 1) return;
    throw InputError(std::string("pair counts: ") + name + " = " + to_string(number) +
                     "; it must be 1 or more");
  };
  check("every", counts.every);
  check("bins", counts.bins);
  check("groups", counts.groups);
  if (!(counts.r_max_A > 0.0) || !std::isfinite(counts.r_max_A)) {
    throw InputError("pair counts: r_max_A = " + three_digits(counts.r_max_A) +
                     "; it must be a number above 0");
  }
}

void check_single(const System& system, const State& start) {
  if (!supports_single_precision(system.integrator)) {
    throw InputError(
        "precision = \"single\" does not support Newmark and dense solves; use \"mixed\" or "
        "\"double\"");
  }
  const std::vector<double>& x = start.positions_A;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double from_oxygen = x[k] - x[k / 9 * 9 + k % 3];
    if (std::abs(x[k]) < kLargestFixedPosition && std::abs(from_oxygen) < kLargestFixedOffset) {
      continue;
    }
    throw InputError("precision = \"single\" requires hydrogens within " +
                     to_string(static_cast<int>(kLargestFixedOffset)) +
                     " A of their oxygen and positions within 1.6e7 A; molecule " +
                     to_string(k / 9 % static_cast<std::size_t>(start.molecules)) +
                     " violates this; use \"mixed\"");
  }
}

/// Checks that a number is above 0, or at least 0.
void check_number(const char* what, double value, bool may_be_zero) {
  if (std::isfinite(value) && (value > 0.0 || (may_be_zero && value == 0.0))) return;
  throw InputError("the system has " + std::string(what) + " = " + three_digits(value) +
                   "; it must be " + (may_be_zero ? "0 or more" : "a number above 0"));
}

void check_integrator(const IntegratorSpec& i) {
  check_number("timestep_akma", i.timestep_akma, false);
  if (has_beta(i.scheme)) check_number("beta", i.beta, false);
  if (i.scheme == Scheme::shake || i.scheme == Scheme::rattle) {
    check_number("tolerance", i.tolerance, false);
  }
  if (is_rigid(i.scheme)) return;
  const bool may_be_infinite = i.scheme == Scheme::pushforward_newmark ||
                               (i.scheme == Scheme::zss_stiff &&
                                i.hessian == Hessian::gauss_newton && !uses_dense_solver(i));
  if (i.omega == std::numeric_limits<double>::infinity() && may_be_infinite) return;
  // omega = 0: velocity Verlet of atoms without bonds.
  check_number("omega", i.omega, i.scheme == Scheme::verlet);
}

void check_flexible(const IntegratorSpec& i) {
  if ((i.scheme != Scheme::verlet && i.scheme != Scheme::zss_stiff) ||
      i.hessian != Hessian::gauss_newton || uses_dense_solver(i)) {
    throw InputError(
        "flexible water models support only velocity Verlet, and Z&Ss with the structured "
        "Gauss-Newton solve");
  }
  check_number("timestep_akma", i.timestep_akma, false);
  if (has_beta(i.scheme)) check_number("beta", i.beta, false);
}

void check_rings(const System& s) {
  const PathIntegralSpec& rings = s.path_integral;
  if (rings.beads < 1 || rings.beads > kMaxBeads) {
    throw InputError("a ring polymer has 1 to " + to_string(kMaxBeads) + " beads, not " +
                     to_string(rings.beads));
  }
  if (rings.beads == 1) return;
  if (!s.model.is_flexible() || s.integrator.scheme != Scheme::verlet) {
    throw InputError("ring polymers need a flexible water model (" + flexible_model_names() +
                     ") and velocity Verlet");
  }
  if (s.precision == Precision::single) {
    throw InputError("ring polymers support double and mixed precision only");
  }
  if (s.thermostat.kind == Thermostat::none) {
    check_number("path-integral temperature_K", rings.temperature_K, false);
  } else {
    for (const double t_K : s.thermostat.temperatures_K) check_number("temperatures_K", t_K, false);
    check_number("temperature_K", s.thermostat.temperature_K, false);
  }
  check_number("internal_friction", rings.internal_friction, true);
}

void check_biases(const System& s) {
  const auto refuse = [](const std::string& why) { throw InputError("a bias " + why); };
  if (s.biases.size() > kMostBiases) refuse("is one of more than " + to_string(kMostBiases));
  if (!s.biases.empty() && s.precision == Precision::single) {
    refuse("needs double or mixed precision");
  }
  for (const BiasSpec& b : s.biases) {
    check_number("the stiffness of a bias", b.stiffness, false);
    if (b.centres.empty()) refuse("has no centre");
    const bool pair = b.coordinate == BiasCoordinate::distance;
    const auto is_molecule = [&](int m) { return m >= 0 && m < s.molecules; };
    if (s.molecules < 2) refuse("needs two molecules or more");
    if (!is_molecule(b.molecules[0]) || (pair && !is_molecule(b.molecules[1])) ||
        (pair && b.molecules[0] == b.molecules[1])) {
      refuse("names molecules that the system does not have");
    }
    if (!(b.r0_A > 0.0)) refuse("of contacts needs r0 above 0");
    if (b.has_windows() && (!s.thermostat.temperatures_K.empty() || windows_of(s) != &b)) {
      refuse("has windows beside several temperatures or other windows");
    }
  }
}

void check_system(const System& s) {
  check_rings(s);

  s.model.is_flexible() ? check_flexible(s.integrator) : check_integrator(s.integrator);
  if (s.integrator.scheme == Scheme::newmark_one_step && s.thermostat.kind == Thermostat::baoab) {
    throw InputError("one-step Newmark has no half drift for BAOAB; use GLA");
  }
  for (const int atom : {0, 1}) check_number("an atom of mass", s.model.mass_Da(atom), false);
  if (s.has_isotopes()) {
    if (s.atom_masses_Da.size() != static_cast<std::size_t>(s.molecules)) {
      throw InputError("isotopes: masses of " + to_string(s.atom_masses_Da.size()) +
                       " molecules for " + to_string(s.molecules));
    }
    for (const auto& masses_Da : s.atom_masses_Da) {
      for (const double mass_Da : masses_Da) check_number("an atom of mass", mass_Da, false);
    }
    if (s.precision == Precision::single) {
      throw InputError("isotopes support double and mixed precision only");
    }
  }
  if (s.thermostat.kind != Thermostat::none) {
    check_number("temperature_K", s.thermostat.temperature_K, true);
    double hottest_K = 0.0;
    for (const double t_K : s.thermostat.temperatures_K) {
      check_number("temperatures_K", t_K, true);
      hottest_K = std::max(hottest_K, t_K);
    }
    if (hottest_K > 0.0 && !(s.thermostat.temperature_K > 0.0)) {
      throw InputError(
          "the system has temperatures_K but temperature_K = 0; the noise is scaled from "
          "temperature_K: set it to the highest temperature");
    }
    check_number("friction_oxygen_per_akma", s.thermostat.friction_oxygen_per_akma, true);
    check_number("friction_hydrogen_per_akma", s.thermostat.friction_hydrogen_per_akma, true);
  }
  check_biases(s);
  check_number("radius_A", s.confinement.radius_A, true);
  check_number("stiffness_kcal_per_mol_A2", s.confinement.stiffness_kcal_per_mol_A2, true);
}

}  // namespace

void check_start(const System& system, const State& start, const PairCountRequest& counts) {
  if (system.molecules < 1) {
    throw InputError("a system must have 1 molecule or more; this one has " +
                     to_string(system.molecules));
  }
  if (system.path_integral.beads != start.beads) {
    throw InputError("the system has " + to_string(system.path_integral.beads) +
                     " beads and its start state " + to_string(start.beads));
  }
  if (system.molecules != start.molecules) {
    throw InputError("the system has " + to_string(system.molecules) +
                     " molecules and its start state " + to_string(start.molecules));
  }
  if (start.step < 0) {
    throw InputError("steps count from 0; the start state is at step " + to_string(start.step));
  }
  check_system(system);
  check_size("positions_A", start.positions_A.size(), start);
  check_size("velocities_A_per_akma", start.velocities_A_per_akma.size(), start);
  check_heat(start);
  check_replica_ids(start.replica_ids);
  check_counts(counts);
  if (system.precision == Precision::single) check_single(system, start);
}

System without_model_forces(System system) {
  if (!is_rigid(system.integrator.scheme) && system.integrator.scheme != Scheme::verlet) {
    throw InputError(
        "a potential supports velocity Verlet, SHAKE, RATTLE and SETTLE only: the other schemes "
        "use the bonds of the water model");
  }
  if (system.precision == Precision::single) {
    throw InputError("a potential does not support precision = \"single\"; use \"double\"");
  }
  system.precision = Precision::double_;
  // Flexible many-body models have bonds without forces, whose energies are those of the potential.
  const bool has_bonds = system.model.is_many_body() && system.model.is_flexible();
  system.model.intramolecular = {has_bonds ? Stretch::harmonic : Stretch::rigid};
  system.integrator.omega = 0.0;
  return system;
}

namespace {

[[noreturn]] void refuse_exchange(const Engine& engine) {
  throw InputError("replicas of '" + engine.description() +
                   "' cannot exchange states with those of another engine");
}

}  // namespace

std::vector<double> Engine::take_coordinates(std::span<const std::int64_t> /*replica_ids*/) const {
  refuse_exchange(*this);
}

void Engine::put_coordinates(std::span<const ReceivedCoordinates> /*replicas*/,
                             std::span<const double> /*numbers*/) {
  refuse_exchange(*this);
}

std::vector<EnginePart> Engine::parts() const {
  EnginePart part;
  part.device = description();
  part.arithmetic = arithmetic();
  return {part};
}

std::optional<CudaDevices> parse_cuda_devices(std::string_view name) {
  constexpr std::string_view kCuda = "cuda";
  constexpr int kLargestIndex = 99'999;
  if (!name.starts_with(kCuda)) return std::nullopt;
  name.remove_prefix(kCuda.size());
  if (name.empty()) return CudaDevices{false, {0}};
  if (name == ":all") return CudaDevices{true, {}};
  CudaDevices devices;
  // Each index follows a separator.
  for (char separator = ':'; !name.empty(); separator = ',') {
    if (name.front() != separator) return std::nullopt;
    name.remove_prefix(1);
    int index = -1;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (error != std::errc() || index < 0 || index > kLargestIndex) return std::nullopt;
    devices.indices.push_back(index);
    name.remove_prefix(static_cast<std::size_t>(rest - name.data()));
  }
  return devices;
}

}  // namespace tarn
