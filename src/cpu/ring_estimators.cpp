#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "interface/measure.hpp"
#include "interface/moments.hpp"
#include "physics/bias.hpp"
#include "physics/cluster_shape.hpp"
#include "physics/geometry.hpp"
#include "ring_steps.hpp"
#include "steps/ring_measure.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn::cpu {
namespace {

/// Energies of the beads of a group, [slot].
struct BeadEnergies {
  AlignedVector<double> pairs, bonds, fields;
};
/// @param rescaled whether a potential has them in rescaled_energies()
BeadEnergies bead_energies(const StepContext& context, const Group& group,
                           const AlignedVector<double>& beads, bool rescaled) {
  const WaterModel& model = context.system.model;
  const PairParameters<double> pair = pair_parameters<double>(model);
  const int lanes = context.layout.lanes(), n = context.layout.molecules();
  BeadEnergies e;
  for (AlignedVector<double>* numbers : {&e.pairs, &e.bonds, &e.fields}) {
    numbers->resize(static_cast<std::size_t>(group.slots));
  }
  if (const PotentialForces* const potential = context.forces.potential()) {
    const auto copy = [&](const std::vector<double>& from, AlignedVector<double>& to) {
      const auto first = from.begin() + context.layout.first_slot(group.first_replica);
      std::copy(first, first + context.layout.first_slot(group.replicas), to.begin());
    };
    copy(rescaled ? potential->rescaled_energies() : potential->energies(), e.pairs);
    if (rescaled) return e;
    if (!potential->bond_energies().empty()) copy(potential->bond_energies(), e.bonds);
    if (!potential->field_energies().empty()) copy(potential->field_energies(), e.fields);
    return e;
  }
  for (int slot = 0; slot < group.slots; slot += lanes) {
    const double* const x = &beads[context.layout.index(group, slot, 0, 0)];
    context.kernels.measure.potential_energies[model.has_m_site()](pair, x, n, &e.pairs[slot]);
    context.kernels.rings.bond_energies(context.parameters.flexible, x, n, &e.bonds[slot]);
  }
  return e;
}

/// One ring polymer of a group. Sums over beads, modes and molecules have one order.
class Ring {
 public:
  /// @param beads laid out as the modes of the group
  Ring(const StepContext& context, const Group& group, int replica,
       const AlignedVector<double>& beads)
      : system_(context.system),
        masses_(context.masses),
        layout_(context.layout),
        group_(group),
        all_beads_(beads),
        n_(layout_.molecules()),
        beads_(layout_.copies()),
        lanes_(static_cast<std::size_t>(layout_.lanes())),
        first_slot_(layout_.first_slot(replica)),
        id_(static_cast<std::int64_t>(group.ids[first_slot_])),
        bead_(9 * static_cast<std::size_t>(n_)) {}

  std::int64_t id() const { return id_; }
  /// Sums of RingTerm.
  struct Sums {
    double numbers[RingTerm::kNumbers] = {};
    /// The mean over the beads, which is conserved; that of the centroids is not.
    std::array<double, 3> mean_angular_momentum(int beads) const {
      const double* const l = numbers + RingTerm::kAngularMomentum;
      return {l[0] / beads, l[1] / beads, l[2] / beads};
    }
  };
  Sums sums() const {
    const AlignedVector<double>& hot =
        group_.v_thermal.empty() || std::isnan(group_.v_thermal[at(0, 0)]) ? group_.v
                                                                           : group_.v_thermal;
    Sums sum;
    for (int mode = 0; mode < beads_; ++mode) {
      const double spring = group_.springs[first_slot_ + mode];
      for (int m = 0; m < n_; ++m) {
        const auto triple = [&](const AlignedVector<double>& packs) {
          double numbers[9];
          std::size_t i = at(mode, m);
          for (double& number : numbers) {
            number = packs[i];
            i += lanes_;
          }
          return molecule_at(numbers, 0);
        };
        double terms[RingTerm::kNumbers];
        masses_.of(static_cast<std::size_t>(m), [&](const auto& mass) {
          ring_terms(mass, mode, spring, triple(group_.x), triple(group_.a), triple(group_.v),
                     triple(hot), terms);
        });
        for (int k = 0; k < RingTerm::kNumbers; ++k) sum.numbers[k] += terms[k];
      }
    }
    return sum;
  }
  RingEstimate estimate(const Sums& sums, const BeadEnergies& energies) {
    double beads[BeadTerm::kNumbers] = {};
    add_bead_energies(energies, beads);
    return ring_estimate(n_, beads_, kT(), sums.numbers, beads);
  }
  /// The row of an estimate.
  RingMeasures row(const RingEstimate& e) const {
    RingMeasures row = e.rings;
    if (!system_.has_isotopes()) return row;
    std::vector<double> of_atoms(3 * static_cast<std::size_t>(n_));
    atom_kinetic(of_atoms.data());
    put_hydrogen_kinetics(system_, of_atoms, row);
    return row;
  }
  /// Mean over the beads of all potential energies.
  double mean_potential(const BeadEnergies& energies) {
    double beads[BeadTerm::kNumbers] = {};
    add_bead_energies(energies, beads);
    return mean_ring_potential(beads_, beads);
  }
  /// Equation (83) for each atom. @param out 3 N numbers
  void atom_kinetic(double* out) const {
    const double kT = this->kT();
    for (int m = 0; m < n_; ++m) {
      for (int atom = 0; atom < 3; ++atom) {
        double virial = 0.0;
        for (int mode = 1; mode < beads_; ++mode) {
          std::size_t i = at(mode, m) + static_cast<std::size_t>(3 * atom) * lanes_;
          for (int c = 0; c < 3; ++c, i += lanes_) virial -= group_.x[i] * group_.a[i];
        }
        out[3 * m + atom] = ring_atom_kinetic(kT, virial, beads_);
      }
    }
  }
  Geometry mean_geometry() {
    double all[GeometryTerm::kNumbers] = {};
    bool first = true;
    for_each_bead([&](int, const std::vector<double>& x) {
      for (int m = 0; m < n_; ++m) {
        double terms[GeometryTerm::kNumbers];
        geometry_terms(molecule_at(x.data(), static_cast<std::size_t>(m)), terms);
        if (first) {
          std::copy(std::begin(terms), std::end(terms), all);
        } else {
          add_geometry(terms, all);
        }
        first = false;
      }
    });
    const MoleculeGeometry mean = molecule_geometry(all, n_ * beads_);
    return {mean, mean};
  }
  /// Calls op(bead, its 9 N coordinates) for each bead.
  template <class Op>
  void for_each_bead(const Op& op) {
    for (int bead = 0; bead < beads_; ++bead) {
      layout_.gather_slot(group_, all_beads_, first_slot_ + bead, bead_.data());
      op(bead, bead_);
    }
  }

 private:
  double kT() const {
    return units::boltzmann_kcal_per_mol_K * replica_temperature_K(system_, id_);
  }
  /// Index of the first coordinate of a molecule; the others follow at strides of the lanes.
  std::size_t at(int mode, int m) const { return layout_.index(group_, first_slot_ + mode, m, 0); }
  void add_outside_energies(double (&beads)[BeadTerm::kNumbers]) {
    const OutsideForces<double> outside = outside_forces(system_);
    if (!outside.act()) return;
    for_each_bead([&](int, const std::vector<double>& x) {
      const Vec3<double> centre = centre_of_mass(x, masses_);
      for (int m = 0; m < n_; ++m) {
        const Triple<double> q = molecule_at(x.data(), static_cast<std::size_t>(m));
        beads[BeadTerm::kWall] += wall_energy(q.o - centre, outside);
        beads[BeadTerm::kField] += field_energy(q, outside);
      }
    });
  }
  void add_bead_energies(const BeadEnergies& energies, double (&beads)[BeadTerm::kNumbers]) {
    for (int bead = 0; bead < beads_; ++bead) {
      const auto slot = static_cast<std::size_t>(first_slot_ + bead);
      beads[BeadTerm::kPairs] += energies.pairs[slot];
      beads[BeadTerm::kBonds] += energies.bonds[slot];
      beads[BeadTerm::kField] += energies.fields[slot];
    }
    add_outside_energies(beads);
  }

  const System& system_;
  const ClusterMasses& masses_;
  const GroupLayout& layout_;
  const Group& group_;
  const AlignedVector<double>& all_beads_;
  int n_, beads_;
  std::size_t lanes_;
  int first_slot_;
  std::int64_t id_;
  std::vector<double> bead_;  ///< work space
};

/// Potential energies of the ring polymers of a group, each rescaled to another temperature.
void fill_rescaled(const StepContext& context, const Group& group,
                   const std::vector<std::int64_t>& place, const FactorOfReplica& factor_of,
                   AlignedVector<double>& positions, Frame& frame) {
  const std::vector<char> has_neighbour = place_rescaled(context, group, factor_of, positions);
  const BeadEnergies energies = bead_energies(context, group, positions, true);
  for (int replica = 0; replica < group.replicas; ++replica) {
    const std::int64_t at = place[group.first_replica + replica];
    if (at < 0) continue;
    double& to = frame.rescaled_energies_kcal_per_mol[at];
    to = kNoNumber;
    if (!has_neighbour[replica]) continue;
    to = Ring(context, group, replica, positions).mean_potential(energies);
  }
}

}  // namespace

std::vector<char> place_rescaled(const StepContext& context, const Group& group,
                                 const FactorOfReplica& factor_of,
                                 AlignedVector<double>& positions) {
  const GroupLayout& layout = context.layout;
  AlignedVector<double> modes = group.x;
  std::vector<char> has_neighbour(static_cast<std::size_t>(group.replicas), 0);
  for (int replica = 0; replica < group.replicas; ++replica) {
    const int first = layout.first_slot(replica);
    const std::optional<double> factor = factor_of(static_cast<std::int64_t>(group.ids[first]));
    if (!factor) continue;
    has_neighbour[replica] = 1;
    for (int mode = 1; mode < layout.copies(); ++mode) {
      for (int m = 0; m < layout.molecules(); ++m) {
        std::size_t i = layout.index(group, first + mode, m, 0);
        for (int c = 0; c < 9; ++c, i += static_cast<std::size_t>(layout.lanes())) {
          modes[i] *= *factor;
        }
      }
    }
  }
  place_beads(context, group, modes, positions);
  return has_neighbour;
}

void fill_from_beads(unsigned fields, const StepContext& context, const Group& group,
                     const std::vector<std::int64_t>& place, const RadialRequest& request,
                     const FactorOfReplica& factor_of, AlignedVector<double>& positions,
                     RadialCounts& radial, Frame& frame) {
  constexpr unsigned kEstimates = kEnergies | kConservation | kRings | kExchangeEnergies;
  const int n = context.layout.molecules();
  const auto size = 9 * static_cast<std::size_t>(n),
             beads = static_cast<std::size_t>(context.layout.copies());
  if (fields & kRescaledEnergies) fill_rescaled(context, group, place, factor_of, positions, frame);
  place_beads(context, group, group.x, positions);
  BeadEnergies energies;
  if (fields & kEstimates) {
    energies = bead_energies(context, group, positions, false);
  }
  for (int replica = 0; replica < group.replicas; ++replica) {
    const std::int64_t found = place[group.first_replica + replica];
    if (found < 0) continue;
    const auto at = static_cast<std::size_t>(found);
    Ring ring(context, group, replica, positions);
    if (fields & kEstimates) {
      const Ring::Sums sums = ring.sums();
      const RingEstimate e = ring.estimate(sums, energies);
      if (fields & kRings) frame.rings[at] = ring.row(e);
      if (fields & kExchangeEnergies) {
        frame.exchange_energies_kcal_per_mol[at] = potential_of(e);
      }
      if (fields & kEnergies) put_ring_energies(e, n, context.layout.copies(), frame.energies[at]);
      if (fields & kConservation) {
        frame.conservation[at].energy_kcal_per_mol =
            e.hamiltonian_kcal_per_mol +
            context.layout.copies() * context.forces.centroid_bias(group, replica);
        frame.conservation[at].angular_momentum_Da_A2_per_akma =
            sums.mean_angular_momentum(context.layout.copies());
      }
    }
    if (fields & kGeometry) frame.geometry[at] = ring.mean_geometry();
    if (fields & kAtomKinetic) {
      ring.atom_kinetic(&frame.atom_kinetic_kcal_per_mol[at * size / 3]);
    }
    if (!(fields & (kBeads | kRadialCounts))) continue;
    ring.for_each_bead([&](int bead, const std::vector<double>& x) {
      if (fields & kBeads) {
        std::copy(x.begin(), x.end(),
                  &frame.beads_A[(at * beads + static_cast<std::size_t>(bead)) * size]);
      }
      if (fields & kRadialCounts) {
        add_radial(x, context.masses, request, sample_group(ring.id(), request.groups), radial);
      }
    });
  }
}

}  // namespace tarn::cpu
