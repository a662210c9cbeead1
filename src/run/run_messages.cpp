#include "run_messages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/dense.hpp"
#include "deck/notes.hpp"
#include "physics/molecule_solve.hpp"
#include "physics/noise.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/physics/triple.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

/// More parts than this are listed only in run.json.
constexpr std::size_t kMostLines = 16;

bool has_ranks(std::span<const EnginePart> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const auto& p) { return !p.host.empty(); });
}

/// Parts that use the same device.
std::size_t sharing_a_device(std::span<const EnginePart> parts) {
  std::map<std::pair<std::string, std::string>, std::size_t> users;
  for (const EnginePart& part : parts) {
    if (!part.device_id.empty()) ++users[{part.host, part.device_id}];
  }
  std::size_t all = 0;
  for (const auto& [device, count] : users) all += count > 1 ? count : 0;
  return all;
}

std::optional<Message> estimator_warning(const AveragedQuantity& primitive,
                                         const AveragedQuantity& virial, const Deck& deck) {
  constexpr double kFew = 16.0;
  if (!(primitive.error > 0.0) || primitive.independent_samples < kFew) return std::nullopt;
  // Both contain the potential energy, so that this error is too large if anything.
  const double error = std::hypot(primitive.error, virial.error);
  if (std::abs(primitive.mean - virial.mean) <= 5.0 * error) return std::nullopt;
  const bool exact = deck.path_integral && deck.path_integral->free_ring == FreeRing::exact;
  const bool rpmd = deck.path_integral && deck.path_integral->method == RingMethod::rpmd;
  return Message::warning(fmt::format(
      "the mean energies by the primitive and by the virial estimator{} differ: {:.5g} +- {:.2g} "
      "and {:.5g} +- {:.2g} kcal/mol. {} or {}",
      virial.bath_K ? fmt::format(" at {:g} K", *virial.bath_K) : "", primitive.mean,
      primitive.error, virial.mean, virial.error,
      exact ? "Use free_ring = \"cayley\", reduce timestep_fs" : "Reduce timestep_fs",
      rpmd ? "start from the state of a pimd run with the same beads, temperature and masses"
           : "increase [run] equilibration_ps"));
}

using Eigen::MatrixXd;

/// The matrix of a linear function of the nine velocities.
template <class Function>
MatrixXd matrix_of(const Function& function) {
  MatrixXd matrix(9, 9);
  for (std::size_t k = 0; k < 9; ++k) {
    std::array<double, 9> unit{};
    unit[k] = 1.0;
    const Triple<double> column = function(molecule_at(unit.data(), 0));
    put_molecule(column, unit.data(), 0);
    matrix.col(static_cast<Eigen::Index>(k)) = Eigen::Map<const Eigen::VectorXd>(unit.data(), 9);
  }
  return matrix;
}

/// Stationary temperatures of free rigid molecules, relative to the bath temperature.
struct StationaryTemperature {
  double all, translation;
};
StationaryTemperature stationary_temperature(const System& system) {
  const Masses<double> m = masses(system.model);
  const OuParameters<double> ou = step_parameters(system).ou;
  const std::vector<double> molecule = random_cluster(system.model, 1, 1, 0);
  const Triple<double> x = molecule_at(molecule.data(), 0);
  const Triple<double> none{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const auto project = [&](const Triple<double>& v) { return project_velocities(x, v, m); };
  const MatrixXd map =
      matrix_of([&](const auto& v) { return project(ou_step(project(v), none, ou)); });
  const MatrixXd noise = matrix_of([&](const auto& xi) { return project(ou_step(none, xi, ou)); });
  const MatrixXd c = dense::solve_lyapunov(map, noise);
  const double kT = units::boltzmann_kcal_per_mol_K * system.thermostat.temperature_K;
  const double masses_of[9] = {m.o, m.o, m.o, m.h, m.h, m.h, m.h, m.h, m.h};
  double all = 0.0, moving = 0.0;
  for (int i = 0; i < 9; ++i) {
    all += masses_of[i] * c(i, i);
    for (int j = i % 3; j < 9; j += 3) moving += masses_of[i] * masses_of[j] * c(i, j);
  }
  return {all / (6.0 * kT), moving / ((m.o + 2.0 * m.h) * 3.0 * kT)};
}

}  // namespace

Messages part_messages(std::span<const EnginePart> parts) {
  Messages messages;
  const auto idle = std::count_if(parts.begin(), parts.end(),
                                  [](const EnginePart& part) { return part.replicas == 0; });
  const auto used = static_cast<std::ptrdiff_t>(parts.size()) - idle;
  if (idle > 0 && parts.size() > 1) {
    messages.push_back(Message::warning(fmt::format("idle {}: {} of {}; use {}, or more replicas",
                                                    has_ranks(parts) ? "ranks" : "devices", idle,
                                                    parts.size(), used)));
  }
  if (const std::size_t count = sharing_a_device(parts); count > 0) {
    messages.push_back(Message::warning(fmt::format(
        "{} parts share a GPU with others, which is slower than one part per GPU", count)));
  }
  std::set<std::string> kinds;
  for (const EnginePart& part : parts) {
    if (part.replicas > 0) kinds.insert(part.arithmetic);
  }
  if (kinds.size() > 1) {
    messages.push_back(Message::note(fmt::format(
        "the devices differ ({}), so the results are not bitwise independent of the number of "
        "devices and ranks",
        fmt::join(kinds, "; "))));
  }
  return messages;
}

std::vector<std::string> part_lines(std::span<const EnginePart> parts) {
  std::vector<std::string> lines;
  for (const EnginePart& part : parts) {
    if (lines.size() == kMostLines && parts.size() > kMostLines + 1) {
      lines.push_back(fmt::format("and {} more; run.json lists all", parts.size() - kMostLines));
      break;
    }
    const std::string replicas =
        part.replicas == 0 ? "no replicas"
        : part.replicas == 1
            ? fmt::format("replica {}", part.first_replica)
            : fmt::format("replicas {} to {}", part.first_replica, part.last_replica);
    const std::string where =
        part.host.empty() ? "" : fmt::format("rank {} on {}, ", part.rank, part.host);
    lines.push_back(fmt::format("{}: {}{}", replicas, where, part.device));
  }
  return lines;
}

Messages estimator_warnings(const std::vector<AveragedQuantity>& averages, const Deck& deck) {
  Messages warnings;
  for (const AveragedQuantity& primitive : averages) {
    if (primitive.quantity != "energy_primitive_kcal_per_mol") continue;
    for (const AveragedQuantity& virial : averages) {
      if (virial.quantity != "energy_virial_kcal_per_mol" || virial.bath_K != primitive.bath_K) {
        continue;
      }
      append(estimator_warning(primitive, virial, deck), warnings);
    }
  }
  return warnings;
}

std::optional<Message> friction_warning(const System& system) {
  constexpr double kTold = 0.005;
  const ThermostatSpec& bath = system.thermostat;
  if (bath.kind == Thermostat::none || !is_rigid(system.integrator.scheme)) return std::nullopt;
  if (bath.friction_oxygen_per_akma == bath.friction_hydrogen_per_akma) return std::nullopt;
  if (!(bath.temperature_K > 0.0)) return std::nullopt;
  const StationaryTemperature t = stationary_temperature(system);
  if (t.all > 1.0 - kTold && t.translation > 1.0 - kTold) return std::nullopt;
  return Message::warning(fmt::format(
      "with rigid bonds, this step and friction_amu_per_ps, the molecules are colder than the bath "
      "by {:.1f} % overall and by {:.1f} % in translation. Use friction_per_ps, which is exact",
      100.0 * (1.0 - t.all), 100.0 * (1.0 - t.translation)));
}

std::optional<Message> temperature_warning(const AveragedQuantity& temperature_K, double bath_K,
                                           const Deck& deck) {
  constexpr double kFew = 16.0;
  const AveragedQuantity& t = temperature_K;
  const double off_K = t.mean - bath_K;
  const bool is_far = std::abs(off_K) > 0.2 * bath_K;
  const std::string found = fmt::format(
      "mean temperature {:.4g} +- {:.2g} K instead of {:g} K: ", t.mean, t.error, bath_K);
  if (deck.thermostat.kind == Thermostat::none) {
    // Replicas keep their energies, so that there are few independent samples.
    if (!is_far || !(std::abs(off_K) > 2.0 * t.error)) return std::nullopt;
    return Message::note(found +
                         "without a thermostat, the energy of the start determines it. Add a "
                         "[thermostat], or start from the state of a run with one");
  }
  if (!(t.error > 0.0) || t.independent_samples < kFew) return std::nullopt;
  if (std::abs(off_K) <= 1e-9) return std::nullopt;  // rounding errors of atoms at rest
  if (std::abs(off_K) <= 5.0 * t.error || std::abs(off_K) <= 0.03 * bath_K) return std::nullopt;
  const bool with_start = deck.run.equilibration_ps == 0.0;
  if (off_K < 0.0) {
    if (with_start && !is_far) return std::nullopt;
    return Message::warning(found + "increase [run] equilibration_ps or reduce timestep_fs");
  }
  if (t.drift < 0.0) {
    return Message::warning(found +
                            "still falling, not equilibrated; increase [run] equilibration_ps");
  }
  const std::string step =
      fmt::format("the step of {:g} fs causes heating; reduce timestep_fs or increase the friction",
                  deck.integrator.timestep_fs);
  return Message::warning(
      found + step + (with_start ? ", and exclude a hot start with [run] equilibration_ps" : ""));
}

namespace {

// Hydrogen bonds of liquid water are seldom shorter than 1.5 A.
constexpr double kOverlap_A = 1.2;

// Stiff modes resonate near beta = 1/3 and 1/2, and positions diverge at 1/4. The unstable range
// around 1/3 depends on omega times the step (docs/results/resonances.md): seven molecules at 298 K
// and 2 fs blew up for beta from 0.28 to 0.35 with omega = 100, and from 0.32 to 0.36 with 500.
bool is_bad_beta(double beta) {
  return beta < 0.27 || std::abs(beta - 1.0 / 3.0) < 0.055 || std::abs(beta - 0.5) < 0.02;
}

/// Suggests the recommended beta, unless the deck already uses it.
std::string beta_suggestion(const IntegratorSection& integrator) {
  if (!has_beta(integrator.scheme) || std::abs(integrator.beta - 0.42) < 0.01) return {};
  return fmt::format(", or beta = 0.42 instead of {:g}", integrator.beta);
}

/// Message for a wall that leaves the molecules too little room.
std::optional<std::string> narrow_wall(const Deck& deck, int molecules) {
  constexpr double kVolume_A3 = 30.0;  // per molecule in the liquid
  constexpr double kHalf_A = 1.4;      // half the neighbour distance: the wall acts on centres
  if (!deck.confinement) return std::nullopt;
  const double sphere = 4.0 / 3.0 * std::numbers::pi;
  const double radius_A = deck.confinement->radius_A;
  const double room_A3 = sphere * std::pow(radius_A + kHalf_A, 3) / molecules;
  if (room_A3 >= kVolume_A3) return std::nullopt;
  return fmt::format(
      "the wall of [confinement] is too narrow: a sphere of radius_A + {:g} A = {:.3g} A leaves "
      "{:.2g} A^3 per molecule for {} molecules (liquid: {:g}); use a radius_A of {:.1f} or more",
      kHalf_A, radius_A + kHalf_A, room_A3, molecules, kVolume_A3,
      std::cbrt(kVolume_A3 * molecules / sphere) - kHalf_A + 0.05);
}

std::string cause_and_remedy(const BlowUp& blow_up, const Deck& deck,
                             std::int64_t indefinite_hessians, int molecules) {
  const IntegratorSection& integrator = deck.integrator;
  const double h_fs = integrator.timestep_fs;
  if (indefinite_hessians > 0 && integrator.hessian != Hessian::gauss_newton) {
    return fmt::format(
        "the chosen Hessian was not positive definite ({} time{} in this run); use "
        "hessian = \"gauss-newton\", or a smaller omega or timestep_fs",
        indefinite_hessians, indefinite_hessians == 1 ? "" : "s");
  }
  if (const auto wall = decks::warning_of_stiff_wall(deck)) return wall->text;
  const double largest_fs = decks::largest_stable_timestep_fs(deck);
  if (h_fs > 0.75 * largest_fs) {
    return fmt::format(
        "timestep_fs = {:g} is near or above the stability limit of this scheme (about {:g} fs at "
        "298 K); try timestep_fs = {:g}{}",
        h_fs, largest_fs, 0.5 * largest_fs, beta_suggestion(integrator));
  }
  if (has_beta(integrator.scheme) && is_bad_beta(integrator.beta)) {
    return fmt::format(
        "beta = {:g} is near a value at which stiff modes are unstable (1/4, 1/3, 1/2); try "
        "beta = 0.42",
        integrator.beta);
  }
  if (const auto wall = narrow_wall(deck, molecules)) return *wall;
  // A bad start fails within a fraction of a picosecond. Quenched structures have no overlaps.
  const SystemSection& system = deck.system;
  const bool is_quenched =
      system.start == StartKind::quenched && !system.file && system.files.empty() && !system.state;
  const bool is_early = !is_quenched && static_cast<double>(blow_up.step) * h_fs < 500.0;
  const bool overlap = blow_up.closest.a.molecule != blow_up.closest.b.molecule &&
                       blow_up.closest.distance_A < kOverlap_A;
  if (is_early && overlap) {
    return fmt::format(
        "molecules overlapped at the start; start from a quenched cluster, check the structure "
        "file, or try timestep_fs = {:g}{}",
        0.5 * h_fs, beta_suggestion(integrator));
  }
  if (is_early) {
    return fmt::format(
        "molecules probably overlapped at the start or had a very high temperature; start from a "
        "quenched cluster, or try timestep_fs = {:g}{}",
        0.5 * h_fs, beta_suggestion(integrator));
  }
  if (integrator.scheme == Scheme::newmark_one_step && !overlap) {
    return "the energy of this scheme drifts until the run blows up, for any start; use scheme = "
           "\"pushforward-newmark\" or \"zss-stiff\"";
  }
  return fmt::format("two atoms {} too close within one step; try timestep_fs = {:g}{}",
                     overlap ? "came" : "probably came", 0.5 * h_fs, beta_suggestion(integrator));
}

std::string atom_text(AtomId id) {
  return fmt::format("{} of molecule {}", atom_name(id), id.molecule);
}

std::string atom_json(AtomId id) {
  if (id.molecule < 0) return "null";
  return fmt::format("{{\"molecule\": {}, \"atom\": \"{}\"}}", id.molecule, atom_name(id));
}

/// Empty if the engine did not examine the atoms.
std::string atoms_text(const BlowUp& blow_up) {
  const ClosestAtoms& closest = blow_up.closest;
  const LargestForce& force = blow_up.largest_force;
  if (closest.a.molecule < 0) return {};
  std::string text = fmt::format(
      "{}: {} and {} are {:.3g} A apart",
      blow_up.seen_in_last_good_state ? "Closest atoms of the last good state" : "Closest atoms",
      atom_text(closest.a), atom_text(closest.b), closest.distance_A);
  if (force.force_kcal_per_mol_A > 0.0) {
    text += fmt::format("; largest force: {:.3g} kcal/mol/A on {}", force.force_kcal_per_mol_A,
                        atom_text(force.at));
  }
  return text + ". ";
}

}  // namespace

std::string headline(const BlowUp& blow_up) {
  if (blow_up.failure != ImageFailure::none) {
    return fmt::format("replica {} was stopped at step {}: {}", blow_up.replica, blow_up.step,
                       failure_text(blow_up.failure));
  }
  if (blow_up.potential_was_not_finite) {
    return fmt::format(
        "replica {} was stopped at step {}: the potential returned nan or infinity (molecule {})",
        blow_up.replica, blow_up.step, blow_up.molecule);
  }
  return fmt::format("replica {} blew up at step {} (molecule {})", blow_up.replica, blow_up.step,
                     blow_up.molecule);
}

std::string describe(const BlowUp& blow_up, const Deck& deck, std::int64_t indefinite_hessians,
                     int molecules) {
  if (blow_up.failure != ImageFailure::none) {
    return fmt::format(
        "{}. {}Try timestep_fs = {:g}, a start structure of lower energy, or a lower temperature.",
        headline(blow_up), atoms_text(blow_up), 0.5 * deck.integrator.timestep_fs);
  }
  if (blow_up.potential_was_not_finite) {
    return fmt::format(
        "{}. {}Check the potential with this structure; if molecules were too close, try "
        "timestep_fs = {:g}.",
        headline(blow_up), atoms_text(blow_up), 0.5 * deck.integrator.timestep_fs);
  }
  return fmt::format("{} and was stopped. {}Likely cause: {}.", headline(blow_up),
                     atoms_text(blow_up),
                     cause_and_remedy(blow_up, deck, indefinite_hessians, molecules));
}

void add_to(io::JsonObject& object, const BlowUp& blow_up, std::string_view text) {
  const ClosestAtoms& closest = blow_up.closest;
  const LargestForce& force = blow_up.largest_force;
  object.add("replica", io::json(blow_up.replica))
      .add("step", io::json(blow_up.step))
      .add("molecule", io::json(std::int64_t{blow_up.molecule}))
      .add("closest_atoms", io::json_array({atom_json(closest.a), atom_json(closest.b)}))
      .add("closest_distance_A", io::json(closest.distance_A))
      .add("largest_force_on", atom_json(force.at))
      .add("largest_force_kcal_per_mol_A", io::json(force.force_kcal_per_mol_A))
      .add("seen_in_last_good_state", blow_up.seen_in_last_good_state ? "true" : "false")
      .add("text", io::json(text));
}

}  // namespace tarn
