#pragma once

#include <type_traits>

#include "group.hpp"
#include "outside_forces.hpp"
#include "tarn/physics/confinement.hpp"
#include "tarn/physics/pair_force.hpp"
#include "tarn/steps/step_parameters.hpp"

namespace tarn::cpu {

/// All forces on a group but those of the bonds: pairs, wall, and the correction of the net force.
/// Those of a Potential replace the pairs and contain the bonds.
class GroupForces {
 public:
  /// @param outside of a Potential, or null
  GroupForces(const System& system, const GroupLayout& layout, const KernelTable& kernels,
              const OutsideForces* outside);

  /// Forces at positions x, laid out as those of the group, into space.f.
  void compute(double* x, Group& group, WorkSpace& space, TeamMember& member) const;
  bool has_wall() const { return wall_.stiffness > 0.0; }
  /// The same in single precision, into space.single.f.
  void compute(const SinglePacks& packs, WorkSpace& space, TeamMember& member) const;

 private:
  /// The kernels for the system's model and precision.
  struct PairKernels {
    PairKernels(const KernelTable& kernels, bool m_site, bool mixed, bool floats);

    template <class Table>
    using Kernel = std::remove_all_extents_t<Table>;

    Kernel<decltype(KernelTable::small_pairs)> small;
    Kernel<decltype(KernelTable::narrow_pairs)> narrow;
    Kernel<decltype(KernelTable::build_sites)> sites;
    Kernel<decltype(KernelTable::large_pairs)> large;
    Kernel<decltype(KernelTable::sum_blocks)> sum;
    Kernel<decltype(SingleKernels::small_pairs)> single_small;
    Kernel<decltype(SingleKernels::narrow_pairs)> single_narrow;
    Kernel<decltype(SingleKernels::build_sites)> single_sites;
  };

  void pair_forces(const MoleculePacks& packs, double* f, WorkSpace& space,
                   TeamMember& member) const;
  LargePairs large_pairs_of(const double* x, void* sites) const;
  void large_pair_forces(const LargePairs& args, WorkSpace& space, TeamMember& member) const;

  const GroupLayout& layout_;
  const KernelTable& kernels_;
  const OutsideForces* outside_;
  bool mixed_;
  PairKernels pairs_;
  PairParameters<double> pair_;
  PairParameters<float> single_pair_;
  Masses<double> masses_;
  Masses<float> single_masses_;
  Confinement<double> wall_;
};

}  // namespace tarn::cpu
