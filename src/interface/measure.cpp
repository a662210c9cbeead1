#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "physics/bias.hpp"
#include "physics/cluster_shape.hpp"
#include "physics/molecule_solve.hpp"
#include "physics/pair_force.hpp"
#include "tarn/physics/isotopes.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn {
Measure::Replica::Replica(int molecules)
    : x(static_cast<std::size_t>(molecules) * 9), v(x), a(x), q(x) {}

Measure::Measure(const System& system)
    : system_(system), numbers_(measure_numbers(system)), masses_(system) {}

void Measure::prepare_arrays(unsigned fields, std::size_t replicas, Frame& frame) const {
  frame.beads = system_.path_integral.beads;
  if (frame.beads == 1) fields &= ~kAtomKinetic;
  for_each_field([&](const auto& f) {
    if (f.is_row()) return;
    (frame.*f.member).resize(fields & f.bit ? f.size(replicas, system_.molecules, frame.beads) : 0);
  });
  if (!(fields & kLindemannSums)) frame.lindemann_sums = {};
  if (!(fields & kPairCounts)) {
    frame.pair_counts.clear();
    frame.pair_samples.clear();
  }
}

void Measure::prepare_rows(unsigned fields, std::size_t replicas, Frame& frame) {
  for_each_field([&](const auto& f) {
    if (f.is_row()) (frame.*f.member).resize(fields & f.bit ? replicas : 0);
  });
}

void Measure::fill(unsigned fields, std::size_t k, const Replica& r, const Forces& forces,
                   Frame& frame) const {
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
}

void Measure::fill_classical_rings(Frame& frame) const {
  for (std::size_t r = 0; r < frame.rings.size(); ++r) {
    const Energies& e = frame.energies[r];
    const double bath_K = replica_temperature_K(system_, frame.replica_ids[r]);
    const double kinetic = 1.5 * units::boltzmann_kcal_per_mol_K * bath_K;
    RingMeasures m;
    m.kinetic_o_kcal_per_mol = m.kinetic_h_kcal_per_mol = kinetic;
    m.kinetic_d_kcal_per_mol = m.kinetic_t_kcal_per_mol = kinetic;
    m.potential_kcal_per_mol = e.potential_kcal_per_mol;
    m.intramolecular_kcal_per_mol = e.bond_kcal_per_mol;
    m.virial_kcal_per_mol = e.all_potential_kcal_per_mol() + 3.0 * system_.molecules * kinetic;
    m.primitive_kcal_per_mol = m.virial_kcal_per_mol;
    m.centroid_K = e.temperature_K;
    frame.rings[r] = m;
  }
}

void put_hydrogen_kinetics(const System& system, std::span<const double> of_atoms_kcal_per_mol,
                           RingMeasures& rings) {
  for (const auto& [symbol, kinetic] : {std::pair{'H', &RingMeasures::kinetic_h_kcal_per_mol},
                                        std::pair{'D', &RingMeasures::kinetic_d_kcal_per_mol},
                                        std::pair{'T', &RingMeasures::kinetic_t_kcal_per_mol}}) {
    double sum = 0.0, count = 0.0;
    for (std::size_t a = 0; a < of_atoms_kcal_per_mol.size(); ++a) {
      if (a % 3 == 0 || hydrogen_symbol(system.atom_masses_Da[a / 3][a % 3]) != symbol) continue;
      sum += of_atoms_kcal_per_mol[a];
      count += 1.0;
    }
    rings.*kinetic = count > 0.0 ? sum / count : 0.0;
  }
}

void Measure::multipliers(const Replica& r, const Forces& forces, double* lambda) const {
  std::vector<double> f(r.x.size());
  if (numbers_.multipliers_need_forces) {
    const std::vector<double>& at = numbers_.solved_at_q ? r.q : r.x;
    forces(at, f);
    add_outside(at, f);
  }
  for (int k = 0; k < system_.molecules; ++k) {
    const MeasuredMolecule<double> m{molecule_at(r.x.data(), k),
                                     molecule_at(r.v.data(), k),
                                     molecule_at(r.a.data(), k),
                                     molecule_at(r.q.data(), k),
                                     {}};
    const BondValues<double> values =
        masses_.of(static_cast<std::size_t>(k), [&](const auto& mass) {
          return bond_multipliers(numbers_, mass, m, molecule_at(f.data(), k));
        });
    const double numbers[3] = {values.oh1, values.oh2, values.hh};
    std::copy(numbers, numbers + 3, lambda + 3 * k);
  }
}

void Measure::record_extremes(const std::vector<double>& x, const std::vector<double>& last_good_x,
                              const Forces& forces, BlowUp& blow_up) const {
  const auto force_at = [&](const std::vector<double>& at) {
    std::vector<double> f(at.size());
    forces(at, f);
    add_outside(at, f);
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

void Measure::add_outside(const std::vector<double>& x, std::vector<double>& f) const {
  if (!numbers_.outside.act()) return;
  const int n = system_.molecules;
  const Vec3<double> centre = centre_of_mass(x, masses_);
  Vec3<double> net{0, 0, 0};
  std::vector<Triple<double>> on_atoms;
  for (int k = 0; k < n; ++k) {
    Triple<double> fk = with_field(molecule_at(f.data(), k), numbers_.outside);
    const Vec3<double> push = wall_force(molecule_at(x.data(), k).o - centre, numbers_.outside);
    fk.o = fk.o + push;
    net = net + push;
    on_atoms.push_back(fk);
  }
  for (int k = 0; k < n; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double share = masses_.share(at, static_cast<std::size_t>(n));
    masses_.of(at, [&](const auto& m) {
      put_molecule(remove_net_force(on_atoms[at], share * net, m), f.data(), at);
    });
  }
}

}  // namespace tarn
