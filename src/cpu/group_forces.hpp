#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "group.hpp"
#include "physics/bias.hpp"
#include "physics/pair_force.hpp"
#include "potential_forces.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/engine.hpp"
#include "thread_team.hpp"

namespace tarn::cpu {

/// All forces on a group but those of the bonds: pairs, wall, field, biases and the correction of
/// the net force. Those of a Potential replace the pairs and contain the bonds; one call computes
/// those on all groups.
///
/// The forces of a step are begin() for all groups, place() for each, finish() for all, and
/// compute() for each. All but compute() do nothing without a Potential.
class GroupForces {
 public:
  /// @param potential null: the water model's forces
  GroupForces(const System& system, const GroupLayout& layout, const KernelTable& kernels,
              std::unique_ptr<PotentialForces> potential);

  /// Null without a Potential.
  PotentialForces* potential() const { return potential_.get(); }
  /// See PotentialForces. @return whether finish() will compute any forces
  bool begin(const std::vector<Group>& groups, const std::vector<char>& chosen = {}) const {
    return potential_ && potential_->begin(groups, chosen);
  }
  void place(const Group& group, const AlignedVector<double>& x) const {
    if (potential_) potential_->place(group, x);
  }
  void save(const Group& group) const {
    if (potential_) potential_->save(group);
  }
  /// @throws what the Potential throws
  void finish() const {
    if (potential_) potential_->compute();
  }
  /// Instead of begin() and finish(), for one group if potentials are divided().
  void finish(const Group& group, const WorkSpace& space) const {
    if (potential_) potential_->compute(group, space.thread);
  }
  int bad_molecule(const Group& group, int r) const {
    return potential_ ? potential_->bad_molecule(group, r) : -1;
  }
  bool any_is_bad(const Group& group) const { return potential_ && potential_->any_is_bad(group); }

  /// Forces at positions x, laid out as those of the group, into space.f.
  void compute(double* x, Group& group, WorkSpace& space, TeamMember& member) const;
  bool outside_act() const { return outside_.act(); }
  bool has_biases() const { return biases_.count > 0; }
  /// Adds the forces of biases on the centroids of ring polymers to those on their modes.
  void bias_centroids(Group& group) const;
  /// Energy of the biases of ring polymer r.
  double centroid_bias(const Group& group, int r) const;
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
  Vec3<double> centroid_of_oxygen(const Group& group, int r, int molecule) const;
  LargePairs large_pairs_of(const double* x, void* sites) const;
  void large_pair_forces(const LargePairs& args, WorkSpace& space, TeamMember& member) const;

  const GroupLayout& layout_;
  const KernelTable& kernels_;
  std::unique_ptr<PotentialForces> potential_;
  bool mixed_;
  PairKernels pairs_;
  PairParameters<double> pair_;
  PairParameters<float> single_pair_;
  const StepKernels<double, MoleculePacks>& step_kernels() const {
    return kernels_.step[isotopes_];
  }

  bool isotopes_;
  Masses<double> masses_;
  Masses<float> single_masses_;
  OutsideForces<double> outside_;
  Biases biases_;
};

/// Accelerations by dense factorisation, replica by replica.
void solve_dense(const System& system, const GroupLayout& layout, Group& group,
                 const WorkSpace& space, EngineReport& report);

/// Accelerations of push-forward Newmark, by iteration. It starts from a = 0: the solution is a
/// function of the positions only, and the first correction is the acceleration of Z&Ss. A
/// converged replica is not changed by further corrections.
void solve_newmark(const StepParameters& parameters, const GroupLayout& layout,
                   const GroupForces& forces, const KernelTable& kernels, Group& group,
                   WorkSpace& space, TeamMember& member, EngineReport& report, StageClock& clock);

}  // namespace tarn::cpu
