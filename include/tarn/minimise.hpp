#pragma once

#include <functional>
#include <span>

#include "tarn/force_field.hpp"

/// @file
/// Local minimisation of one cluster: limited-memory BFGS (Nocedal & Wright 2006, algorithm 7.5) in
/// coordinates that follow the molecules, so that rigid bonds hold exactly and stiff ones cost no
/// more iterations than soft ones.

namespace tarn {

struct MinimiseResult;

struct MinimiseOptions {
  /// Stop when no gradient component is larger [kcal/mol/A]. Torques about the oxygen count as
  /// forces at 1 A.
  double tolerance_kcal_per_mol_A = 1e-6;
  int max_iterations = 10'000;
  /// Asked before each iteration; false ends it there, not converged.
  std::function<bool()> should_continue{};
  /// Told before each iteration how far it is.
  std::function<void(const MinimiseResult&)> on_iteration{};
};

struct MinimiseResult {
  double start_energy_kcal_per_mol = 0.0;
  double energy_kcal_per_mol = 0.0;  ///< what was minimised: V0, or V0 + V1
  double max_gradient_kcal_per_mol_A = 0.0;
  int iterations = 0;
  bool converged = false;  ///< false: max_iterations, or no descent was possible any more
  int saddle_points = 0;   ///< that quench_to_minimum() came to and left
};

/// Minimises V0 over the positions and orientations of rigid molecules.
///
/// Never goes uphill by more than round-off, so that overlapping molecules move apart; no move of a
/// molecule in one iteration is larger than 0.3 A or 0.3 rad. Converged to 1e-6 the energy is that
/// of the minimum to 1e-8 kcal/mol.
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers; replaced. Molecules that are
/// not rigid are put onto the model's geometry first
/// @throws InputError if the size is not 9 N, or a molecule is collinear or not finite;
/// NumericalError if atoms of two molecules coincide
MinimiseResult quench_rigid(ForceField& force_field, std::span<double> positions_A,
                            const MinimiseOptions& options = {});

/// quench_rigid(), and on from saddle points, at which forces vanish too: from each the cluster is
/// moved by 0.1 A both ways along its lowest mode, and goes on from the lower of the minima to
/// which these lead.
///
/// Curvatures below 10/(A Da) times the tolerance are not told from none: at 1e-6 kcal/mol/A, modes
/// below 0.35 cm^-1. Clusters too large for normal_modes() are left where quench_rigid() ends. The
/// result follows from the positions alone.
/// @param positions_A, options, @throws as above
/// @return iterations are those of all quenches on the way
MinimiseResult quench_to_minimum(ForceField& force_field, std::span<double> positions_A,
                                 const MinimiseOptions& options = {});

/// Minimises V0 + V1, V1 = omega^2/2 sum g_c^2 (TO 4.4), over all atoms. The cluster stays in the
/// basin that it starts in as far as steps of at most 0.1 A can tell.
///
/// @param omega penalty strength [sqrt(kcal/mol)/A^2], positive and finite
/// @param positions_A as above; penalised molecules are taken as they are
/// @throws InputError as above, or for a bad omega
/// @throws NumericalError as above, or if the penalty is too weak to hold the molecules together
MinimiseResult relax_penalised(ForceField& force_field, double omega, std::span<double> positions_A,
                               const MinimiseOptions& options = {1e-7, 2'000});

/// The atom moved farthest by a fit.
struct RigidFit {
  double largest_move_A = 0.0;
  int molecule = 0;  ///< counts from 0
};

/// Puts each molecule onto the rigid geometry of the model by the rotation and translation that
/// move its atoms least, weighted by mass; keeps its centre of mass.
/// @param positions_A 9 N numbers; replaced
/// @throws InputError if a molecule is collinear or not finite
RigidFit fit_rigid_geometry(const WaterModel& model, std::span<double> positions_A);

}  // namespace tarn
