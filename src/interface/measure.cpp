#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tarn/flat_coordinates.hpp"
#include "tarn/physics/confinement.hpp"
#include "tarn/physics/molecule_solve.hpp"
#include "tarn/physics/pair_force.hpp"

namespace tarn {
namespace {

Triple<double> molecule(const std::vector<double>& c, int k) {
  return molecule_at(c.data(), static_cast<std::size_t>(k));
}
void put(const Triple<double>& t, int k, std::vector<double>& c) {
  put_molecule(t, c.data(), static_cast<std::size_t>(k));
}

/// Centre of mass of n molecules.
Vec3<double> centre_of_mass(const std::vector<double>& x, int n, const Masses<double>& m) {
  Vec3<double> moment{0, 0, 0};
  for (int k = 0; k < n; ++k) moment = moment + mass_moment(molecule(x, k), m);
  return 1.0 / (n * (m.o + 2.0 * m.h)) * moment;
}

/// A symmetric matrix, by rows.
struct Inertia {
  Vec3<double> x{0, 0, 0}, y{0, 0, 0}, z{0, 0, 0};

  void add(double mass, const Vec3<double>& r) {
    x = x + mass * (Vec3<double>{norm2(r), 0, 0} - r.x * r);
    y = y + mass * (Vec3<double>{0, norm2(r), 0} - r.y * r);
    z = z + mass * (Vec3<double>{0, 0, norm2(r)} - r.z * r);
  }
};

/// Trace of all^-1 part: the share of the part in the three rotations of the whole.
double rotations_of(const Inertia& part, const Inertia& all) {
  const Vec3<double> yz = cross(all.y, all.z), zx = cross(all.z, all.x), xy = cross(all.x, all.y);
  return (dot(yz, part.x) + dot(zx, part.y) + dot(xy, part.z)) / dot(all.x, yz);
}

}  // namespace

Measure::Replica::Replica(int molecules)
    : x(static_cast<std::size_t>(molecules) * 9),
      v(x),
      a(x),
      q(x),
      v_thermal(x),
      heat(static_cast<std::size_t>(molecules)) {}

Measure::Measure(const System& system)
    : system_(system),
      parameters_(step_parameters(system)),
      wall_{system.confinement.radius_A, system.confinement.stiffness_kcal_per_mol_A2},
      rigid_(is_rigid(system.integrator.scheme)),
      baoab_(system.thermostat.kind == Thermostat::baoab) {}

bool Measure::multipliers_need_forces() const {
  if (rigid_) return system_.precision == Precision::single;
  return !std::isfinite(system_.integrator.omega);
}

void Measure::prepare(unsigned fields, std::size_t replicas, Frame& frame) const {
  const std::size_t size = replicas * static_cast<std::size_t>(system_.molecules) * 9;
  frame.positions_A.resize(fields & kPositions ? size : 0);
  frame.velocities_A_per_akma.resize(fields & kVelocities ? size : 0);
  frame.own_positions_A.resize(fields & kOwnPositions ? size : 0);
  frame.multipliers_kcal_per_mol_A2.resize(fields & kMultipliers ? size / 3 : 0);
  frame.energies.resize(fields & kEnergies ? replicas : 0);
  frame.conservation.resize(fields & kConservation ? replicas : 0);
  frame.heat_kcal_per_mol.resize(fields & kHeat ? replicas : 0);
  if (!(fields & kPairCounts)) {
    frame.pair_counts.clear();
    frame.pair_samples.clear();
  }
}

void Measure::fill(unsigned fields, std::size_t k, Replica& r, const Potential& potential,
                   const Forces& forces, Frame& frame) const {
  if (rigid_ && needs_velocities(fields)) project(r);
  const std::size_t size = r.x.size();
  const auto copy = [&](const std::vector<double>& from, std::vector<double>& to) {
    std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(k * size));
  };
  if (fields & kOwnPositions) copy(r.x, frame.own_positions_A);
  if (fields & kPositions) copy(r.q, frame.positions_A);
  if (fields & kVelocities) copy(r.v, frame.velocities_A_per_akma);
  if (fields & kMultipliers) {
    multipliers(r, forces, &frame.multipliers_kcal_per_mol_A2[k * size / 3]);
  }
  if (fields & kHeat) {
    frame.heat_kcal_per_mol[k] = std::accumulate(r.heat.begin(), r.heat.end(), 0.0);
  }
  if (!(fields & (kEnergies | kConservation))) return;
  Energies e;
  Conservation c;
  energies(r, potential(r.q), e, c);
  if (fields & kEnergies) frame.energies[k] = e;
  if (fields & kConservation) frame.conservation[k] = c;
}

Triple<double> Measure::positions_at_noise(const Replica& r, int k) const {
  const double half = 0.5 * system_.integrator.timestep_akma;
  return fma(-half, fma(-half, molecule(r.a, k), molecule(r.v, k)), molecule(r.x, k));
}

void Measure::project(Replica& r) const {
  const Masses<double>& m = parameters_.masses;
  for (int k = 0; k < system_.molecules; ++k) {
    if (baoab_) {
      put(project_velocities(positions_at_noise(r, k), molecule(r.v_thermal, k), m), k,
          r.v_thermal);
    }
    put(project_velocities(molecule(r.x, k), molecule(r.v, k), m), k, r.v);
  }
}

void Measure::energies(const Replica& r, double potential, Energies& out,
                       Conservation& conservation) const {
  const Masses<double>& m = parameters_.masses;
  const IntegratorSpec& integrator = system_.integrator;
  const double h = integrator.timestep_akma;
  const int n = system_.molecules;
  const bool noise_was_before = baoab_ && !std::isnan(r.v_thermal.front());
  const std::vector<double>& hot_v = noise_was_before ? r.v_thermal : r.v;
  Energies e;
  double a_m_a = 0.0, worst = 0.0;
  double thermal = 0.0, translation = 0.0, rotation = 0.0, stretching = 0.0;
  Vec3<double> p{0, 0, 0}, l{0, 0, 0};
  const Vec3<double> centre = centre_of_mass(r.q, n, m);
  for (int k = 0; k < n; ++k) {
    const Triple<double> xk = molecule(r.x, k), vk = molecule(r.v, k);
    const Triple<double> ak = molecule(r.a, k), qk = molecule(r.q, k);
    e.kinetic_kcal_per_mol += 0.5 * weighted_norm2(m.o, m.h, vk);
    const Triple<double> hot = molecule(hot_v, k);
    const double all = 0.5 * weighted_norm2(m.o, m.h, hot);
    const auto rigid_part = [&] {
      return project_velocities(noise_was_before ? positions_at_noise(r, k) : xk, hot, m);
    };
    const double rigid = rigid_ ? all : 0.5 * weighted_norm2(m.o, m.h, rigid_part());
    const double moving = 0.5 * norm2(mass_moment(hot, m)) / (m.o + 2.0 * m.h);
    thermal += all;
    translation += moving;
    rotation += rigid - moving;
    stretching += all - rigid;
    if (has_beta(integrator.scheme)) a_m_a += weighted_norm2(m.o, m.h, ak);
    if (integrator.scheme == Scheme::zss_stiff) {
      if (std::isfinite(integrator.omega)) {
        const BondValues<double> y =
            zss_multipliers(xk, ak, parameters_.bonds, parameters_.bh2, integrator.omega);
        e.penalty_kcal_per_mol += (y.oh1 * y.oh1 + y.oh2 * y.oh2 + y.hh * y.hh) /
                                  (2.0 * integrator.omega * integrator.omega);
      }
    } else if (!rigid_ && std::isfinite(integrator.omega)) {
      e.penalty_kcal_per_mol += penalty_energy(qk, parameters_.bonds, integrator.omega);
    }
    if (wall_.stiffness > 0.0) e.wall_kcal_per_mol += wall_energy(qk.o - centre, wall_);
    const BondValues<double> g = constraint_values(bonds(qk), parameters_.bonds);
    worst = std::max({worst, std::abs(g.oh1), std::abs(g.oh2), std::abs(g.hh)});
    const Triple<double> momentum = scale(m.o, m.h, vk);
    p = p + total(momentum);
    l = l + cross(xk.o, momentum.o) + cross(xk.h1, momentum.h1) + cross(xk.h2, momentum.h2);
  }
  e.potential_kcal_per_mol = potential;
  e.physical_kcal_per_mol = e.kinetic_kcal_per_mol + e.potential_kcal_per_mol +
                            e.penalty_kcal_per_mol + e.wall_kcal_per_mol;
  e.total_kcal_per_mol =
      e.physical_kcal_per_mol +
      (has_beta(integrator.scheme) ? 0.5 * (integrator.beta - 0.25) * h * h * a_m_a : 0.0);
  // For infinitely stiff bonds the last term is all of their energy.
  if (has_beta(integrator.scheme) && std::isinf(integrator.omega)) {
    e.physical_kcal_per_mol = e.total_kcal_per_mol;
  }
  const auto temperature_K = [](double kinetic, double degrees) {
    return degrees > 0.0 ? 2.0 * kinetic / (degrees * units::boltzmann_kcal_per_mol_K) : 0.0;
  };
  const DegreesOfFreedom degrees = degrees_of_freedom(r.x);
  e.temperature_K = temperature_K(thermal, degrees.translation + degrees.rotation + degrees.bonds);
  e.temperature_translation_K = temperature_K(translation, degrees.translation);
  e.temperature_rotation_K = temperature_K(rotation, degrees.rotation);
  e.temperature_bond_K = temperature_K(stretching, degrees.bonds);
  out = e;
  conservation = {e.total_kcal_per_mol, {p.x, p.y, p.z}, {l.x, l.y, l.z}, worst};
}

Measure::DegreesOfFreedom Measure::degrees_of_freedom(const std::vector<double>& x) const {
  const Masses<double>& m = parameters_.masses;
  const int n = system_.molecules;
  DegreesOfFreedom degrees{3.0 * n, 3.0 * n, rigid_ ? 0.0 : 3.0 * n};
  if (!system_.zero_momentum) return degrees;
  if (n == 1) return {0.0, 0.0, degrees.bonds};
  const double molecule_mass = m.o + 2.0 * m.h;
  const Vec3<double> centre = centre_of_mass(x, n, m);
  Inertia of_molecules, of_atoms;
  for (int k = 0; k < n; ++k) {
    const Triple<double> xk = molecule(x, k);
    of_molecules.add(molecule_mass, 1.0 / molecule_mass * mass_moment(xk, m) - centre);
    of_atoms.add(m.o, xk.o - centre);
    of_atoms.add(m.h, xk.h1 - centre);
    of_atoms.add(m.h, xk.h2 - centre);
  }
  // Rotation of the cluster consists of translations and rotations of its molecules.
  const double orbital = rotations_of(of_molecules, of_atoms);
  degrees.translation -= 3.0 + orbital;
  degrees.rotation -= 3.0 - orbital;
  return degrees;
}

void Measure::multipliers(const Replica& r, const Forces& forces, double* lambda) const {
  const IntegratorSpec& i = system_.integrator;
  const Masses<double>& m = parameters_.masses;
  const bool solved_at_q = i.scheme == Scheme::pushforward_newmark;
  const bool infinite = !rigid_ && !std::isfinite(i.omega);
  const bool takes_forces = multipliers_need_forces();
  std::vector<double> f(r.x.size());
  if (takes_forces) {
    // For infinite omega the multipliers are those of the linear solve.
    const std::vector<double>& at = solved_at_q ? r.q : r.x;
    forces(at, f);
    add_wall(at, f);
  }
  for (int k = 0; k < system_.molecules; ++k) {
    const Triple<double> x = molecule(r.x, k), a = molecule(r.a, k), q = molecule(r.q, k);
    BondValues<double> values;
    if (rigid_) {
      const Triple<double> forces_on = takes_forces ? molecule(f, k) : scale(m.o, m.h, a);
      values = rigid_multipliers(x, molecule(r.v, k), forces_on, m);
    } else if (i.scheme == Scheme::zss_stiff && !infinite) {
      values = zss_multipliers(x, a, parameters_.bonds, parameters_.bh2, i.omega);
    } else {
      const Bonds<double> b = bonds(solved_at_q ? q : x);
      const BondValues<double> g = constraint_values(b, parameters_.bonds);
      if (infinite) {
        const Triple<double> f0 = molecule(f, k);
        const BondValues<double> y =
            zss_bond_solution(b, solved_at_q ? f0 - scale(m.o, m.h, a) : f0, g, m, parameters_.zss);
        values = {-y.oh1, -y.oh2, -y.hh};
      } else {
        const double minus_omega2 = -i.omega * i.omega;
        values = {minus_omega2 * g.oh1, minus_omega2 * g.oh2, minus_omega2 * g.hh};
      }
    }
    const double numbers[3] = {values.oh1, values.oh2, values.hh};
    std::copy(numbers, numbers + 3, lambda + 3 * k);
  }
}

void Measure::record_extremes(const std::vector<double>& x, const std::vector<double>& last_good_x,
                              const Forces& forces, BlowUp& blow_up) const {
  const auto force_at = [&](const std::vector<double>& at) {
    std::vector<double> f(at.size());
    forces(at, f);
    add_wall(at, f);
    return largest_force(f);
  };
  blow_up.closest = closest_atoms(last_good_x);
  blow_up.largest_force = force_at(last_good_x);
  blow_up.seen_in_last_good_state = true;
  if (!std::all_of(x.begin(), x.end(), [](double c) { return std::isfinite(c); })) return;
  const LargestForce now = force_at(x);
  if (now.force_kcal_per_mol_A < blow_up.largest_force.force_kcal_per_mol_A) return;
  blow_up.closest = closest_atoms(x);
  blow_up.largest_force = now;
  blow_up.seen_in_last_good_state = false;
}

void Measure::add_wall(const std::vector<double>& x, std::vector<double>& f) const {
  if (wall_.stiffness <= 0.0) return;
  const Masses<double>& m = parameters_.masses;
  const int n = system_.molecules;
  const Vec3<double> centre = centre_of_mass(x, n, m);
  Vec3<double> net{0, 0, 0};
  std::vector<Triple<double>> on_atoms;
  for (int k = 0; k < n; ++k) {
    Triple<double> fk = molecule(f, k);
    const Vec3<double> push = wall_force(molecule(x, k).o - centre, wall_);
    fk.o = fk.o + push;
    net = net + push;
    on_atoms.push_back(fk);
  }
  net = 1.0 / n * net;
  for (int k = 0; k < n; ++k) {
    put(remove_net_force(on_atoms[static_cast<std::size_t>(k)], net, m), k, f);
  }
}

}  // namespace tarn
