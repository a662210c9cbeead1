#include "blow_up.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "deck/notes.hpp"

namespace tarn {
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

std::vector<BlowUp> merged(const std::vector<BlowUp>& earlier, const std::vector<BlowUp>& later) {
  std::vector<BlowUp> all = earlier;
  all.insert(all.end(), later.begin(), later.end());
  std::sort(all.begin(), all.end(),
            [](const BlowUp& a, const BlowUp& b) { return a.replica < b.replica; });
  return all;
}

}  // namespace tarn
