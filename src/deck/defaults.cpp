#include "defaults.hpp"

#include <cmath>

#include "tarn/io/formats.hpp"
#include "tarn/physics/molecule_vibrations.hpp"

namespace tarn::decks {

double whole_steps(double time_ps, double timestep_fs) {
  const double steps = time_ps * 1e3 / timestep_fs;
  const double whole = std::round(steps);
  const double round_off = 1e-9 + 1e-15 * whole;
  return std::abs(steps - whole) <= round_off ? whole : std::ceil(steps);
}

Scheme default_scheme(const Deck& deck) {
  return is_flexible(deck) ? Scheme::verlet : Scheme::settle;
}

bool moves_bonds(const Deck& deck) {
  return is_flexible(deck) ||
         (potential_kind(deck) != PotentialKind::model && deck.integrator.scheme == Scheme::verlet);
}

bool default_relax(const Deck& deck) {
  if (potential_kind(deck) != PotentialKind::model) return false;
  const bool stretches = !is_rigid(deck.integrator.scheme) && std::isfinite(deck.integrator.omega);
  return stretches && !deck.system.state && deck.system.velocities != VelocityKind::file;
}

bool default_recentre(const Deck& deck) {
  return deck.trajectory && !io::format_of(deck.trajectory->format).keeps_digits;
}

double default_highest_wavenumber_per_cm(const Deck& deck) {
  return std::ceil(kWavenumberMargin * molecule_wavenumbers_per_cm(model_of_dynamics(deck)).back());
}

}  // namespace tarn::decks
