#include "run_messages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/dense.hpp"
#include "physics/molecule_solve.hpp"
#include "physics/ou.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/flat_coordinates.hpp"
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

}  // namespace tarn
