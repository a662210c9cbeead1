#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "group.hpp"
#include "tarn/potential.hpp"
#include "tarn/system.hpp"

namespace tarn::cpu {

/// Energies and forces of a Potential on all images of an engine. A batch is begin(), place() for
/// each group, and compute().
///
/// Arrays are [replica of the state][copy]. They keep the results of images that a batch leaves
/// out, whose positions have not changed.
class PotentialForces {
 public:
  /// @param lanes doubles in a pack
  PotentialForces(std::shared_ptr<Potential> potential, const System& system, int lanes,
                  const std::vector<std::int64_t>& replica_ids);

  /// Begins a batch of running replicas. @param chosen [replica of the state]; empty: all
  /// @return whether there are any
  bool begin(const std::vector<Group>& groups, const std::vector<char>& chosen = {});
  /// Copies the positions of a group into the batch. Groups may be placed by several threads.
  /// @param x positions of its replicas or beads, laid out as those of the group
  void place(const Group& group, const AlignedVector<double>& x);
  /// Calls the potential. @throws what it throws
  void compute();
  /// Makes each of the threads a potential of its own. @return whether the potential can do that
  bool divide(std::size_t threads);
  /// Calls the potential of a thread for a group that was placed.
  void compute(const Group& group, std::size_t thread);
  /// Calls the potential for positions that only need energies; the kept results do not change.
  void compute_rescaled();

  /// Writes the forces on a group, laid out as its positions: 0 for replicas that are stopped or
  /// whose results are not finite. Unused slots of classical replicas repeat the first replica.
  void put_forces(const Group& group, double* f) const;
  /// The first molecule of a running replica of a group whose force is not finite, 0 if only the
  /// energy is not, or -1.
  int bad_molecule(const Group& group, int r) const {
    return r < group.replicas ? bad_[group.replica_of_state(r)] : -1;
  }
  /// Whether that is so of any running replica.
  bool any_is_bad(const Group& group) const;
  /// Energies without those of bonds and field [kcal/mol], [replica of the state][copy].
  const std::vector<double>& energies() const { return energies_; }
  /// Energies of bonds; empty if the potential does not know them.
  const std::vector<double>& bond_energies() const { return bonds_; }
  /// Of dipole moments in a field; empty if there is none.
  const std::vector<double>& field_energies() const { return fields_; }
  /// Dipole moments [e A], [replica of the state][copy][3]; empty if the potential has none.
  const std::vector<double>& dipoles() const { return dipoles_; }
  /// Why the potential has no energy for an image of a replica of a group.
  ImageFailure failure(const Group& group, int r) const {
    return failures_.empty() ? ImageFailure::none : failures_[group.replica_of_state(r)];
  }
  /// Those of compute_rescaled(), with those of bonds; NaN where they are not finite.
  const std::vector<double>& rescaled_energies() const { return rescaled_; }
  /// Forces on a copy of a replica, [molecule][9].
  const double* forces_on(int replica, int copy) const {
    return forces_.data() + image_of(replica, copy) * size_;
  }
  /// Replicas exchanged their positions and forces.
  void swap(int first, int second);
  /// Saves the state of a group before a step. Groups may be saved by several threads.
  void save(const Group& group);
  /// Restores the groups that run, which have been saved.
  void restore(std::vector<Group>& groups) const;

 private:
  std::size_t image_of(int replica, int copy) const {
    return static_cast<std::size_t>(replica) * copies_ + static_cast<std::size_t>(copy);
  }
  /// The state of a group after a complete step.
  struct SavedGroup {
    AlignedVector<double> x, v, v_thermal, heat;
  };
  /// A call of a potential, by one thread.
  struct Call {
    std::shared_ptr<Potential> potential;
    std::vector<std::size_t> replicas;  ///< of the state
    std::vector<std::int64_t> ids;
    std::vector<double> positions, energies, forces;
  };
  void run(Call& call) const;
  void compute(Call& call);
  void keep_details(const Call& call);
  int first_bad_molecule(std::size_t replica) const;

  std::vector<Call> calls_;  ///< one for all groups, or [thread]
  GroupLayout layout_;
  std::size_t copies_, size_;      ///< numbers per image, 9 N
  std::vector<std::int64_t> ids_;  ///< [image]
  std::vector<double> positions_, forces_, energies_, rescaled_, bonds_, fields_, dipoles_;
  std::vector<ImageFailure> failures_;  ///< [replica]
  std::vector<int> bad_;                ///< [replica]; -1: good
  std::vector<SavedGroup> saved_;       ///< [first replica of the group]
};

}  // namespace tarn::cpu
