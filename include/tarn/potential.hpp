#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

/// @file
/// Energies and forces that another program computes, in place of those of the water model.

namespace tarn {

/// Thrown by Potential::compute() if the user interrupted the run during the call. The run ends as
/// if it had been interrupted after its last complete step.
class PotentialInterrupted : public std::runtime_error {
 public:
  PotentialInterrupted() : std::runtime_error("interrupted while the potential was computed") {}
};

/// Why an image of a many-body model has no energy.
enum class ImageFailure : std::uint8_t {
  none,
  too_close,        ///< two oxygens below 2 A, where MB-pol drops its polynomials: a step
  broken_molecule,  ///< an OH bond outside of 0.5 to 2 A
  polarisation,     ///< the dipole equations are not positive definite
};
std::string_view failure_text(ImageFailure failure);

/// More results of Potential::compute(); empty if the potential does not know them.
struct PotentialDetails {
  /// [image] energy of the bonds and angles within molecules, which the energy includes.
  std::span<const double> bond_energies_kcal_per_mol;
  /// [image] energy of the dipole moment in a field, which the energy includes.
  std::span<const double> field_energies_kcal_per_mol;
  std::span<const double> dipoles_e_A;     ///< [image][x, y, z]
  std::span<const ImageFailure> failures;  ///< [image]
};

/// A potential energy surface of clusters of water molecules. An engine calls compute() once per
/// step, for all images that it owns: its replicas, or all beads of its ring polymers.
///
/// tarn uses the masses of the water model, for rigid schemes its geometry too, and adds the forces
/// of the confinement. The schemes are velocity Verlet, with molecules as flexible as the potential
/// has them, SHAKE, RATTLE and SETTLE.
///
/// The results of a replica do not depend on the batch, the number of threads or restarts if
/// compute() is a function of each image alone, with the same bits in any batch.
class Potential {
 public:
  virtual ~Potential() = default;

  /// Computes energies and forces. Called by one thread at a time, not always by the same one.
  ///
  /// An engine whose potential throws stays at its last complete step: state() and checkpoints
  /// contain it, and advance() may be called again. A replica with an image whose energy or force
  /// is NaN or infinite is stopped.
  ///
  /// @param positions_A [image][molecule][O, H1, H2][x, y, z]
  /// @param image_ids [image], replica id * beads + bead: the same for an image in all calls, so
  ///        that an iterative method can start from its last result. Stopped replicas are left out,
  ///        and calls for exchanges contain only some replicas
  /// @param energies_kcal_per_mol [image] out: energy of the whole cluster
  /// @param forces_kcal_per_mol_A out: minus the gradient, of the size of the positions; NaN before
  ///        the call
  /// @throws anything; the exception ends a run with a checkpoint of the last complete step
  virtual void compute(std::span<const double> positions_A, std::span<const std::int64_t> image_ids,
                       std::span<double> energies_kcal_per_mol,
                       std::span<double> forces_kcal_per_mol_A) = 0;
  /// Another object for the same energies, which another thread may call at the same time; null if
  /// compute() is called for all images at once.
  virtual std::unique_ptr<Potential> for_thread() const { return nullptr; }
  /// Of the last call of compute(), valid until the next one.
  virtual PotentialDetails details() const { return {}; }
  /// Identifies the potential and its settings. A run can only be resumed with a potential of the
  /// same name.
  virtual std::string name() const = 0;
  /// Text from which other MPI ranks make their own object; empty if only this process can have it.
  virtual std::string recipe() const { return {}; }
};

/// Makes the potential of a rank from the recipe of that of rank 0.
using PotentialOfRank =
    std::function<std::shared_ptr<Potential>(const std::string& recipe, int rank)>;

}  // namespace tarn
