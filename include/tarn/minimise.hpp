#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/force_field.hpp"

/// @file
/// Local minimisation of clusters: limited-memory BFGS (Nocedal & Wright 2006, algorithm 7.5) in
/// molecular coordinates. Rigid bonds hold exactly, and stiff bonds need no more iterations than
/// soft ones.

namespace tarn {

struct MinimiseResult;

struct MinimiseOptions {
  /// Largest gradient component at convergence [kcal/mol/A]. Torques about the oxygen count as
  /// forces at 1 A.
  double tolerance_kcal_per_mol_A = 1e-6;
  int max_iterations = 10'000;
  /// Called before each iteration, and on a GPU after every twenty evaluations; the minimisation
  /// ends unconverged if it returns false.
  std::function<bool()> should_continue{};
  /// Called before each iteration with the progress; not on a GPU.
  std::function<void(const MinimiseResult&)> on_iteration{};
};

struct MinimiseResult {
  double start_energy_kcal_per_mol = 0.0;
  double energy_kcal_per_mol = 0.0;  ///< V0, V0 + V1, or that of a potential
  double max_gradient_kcal_per_mol_A = 0.0;
  int iterations = 0;
  /// False: iteration limit, no further descent possible, or forces of a potential whose errors
  /// exceed the tolerance.
  bool converged = false;
  int saddle_points = 0;  ///< number that quench_to_minimum() passed
};

/// Minimises V0 over the positions and orientations of rigid molecules; for a flexible model or a
/// potential, the energy over all atoms.
///
/// The energy never increases by more than round-off, or the noise of a potential. Molecules move
/// by at most 0.3 A and 0.3 rad per iteration. With a tolerance of 1e-6 the energy is accurate to
/// 1e-8 kcal/mol.
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers; replaced. Rigid molecules
/// are first put onto the geometry of the model
/// @throws InputError if the size is not 9 N, or a molecule is collinear or not finite;
/// NumericalError if atoms of two molecules coincide, or the
/// potential returns a number that is not finite; what the potential throws
MinimiseResult quench(ForceField& force_field, std::span<double> positions_A,
                      const MinimiseOptions& options = {});

/// Largest number of molecules of a potential whose saddle points quench_to_minimum() leaves.
inline constexpr int kMostSaddleMolecules = 32;

/// quench() that leaves saddle points, at which forces vanish too. At a saddle point the
/// cluster is displaced by 0.1 A in both directions along its lowest mode, and the lower of the two
/// resulting minima is kept.
///
/// Curvatures below 10/(A Da) times the tolerance cannot be distinguished from zero: at
/// 1e-6 kcal/mol/A, modes below 0.35 cm^-1. Clusters too large for normal_modes() end as in
/// quench(). The result depends only on the positions.
///
/// With a potential, modes come from differences of forces (equation 90), in one call of 18 N + 1
/// images, about as many as a quench needs. Displacements are those that suit forces with an error
/// of the tolerance, and curvatures below about 2e-4 kcal/mol/A^2/Da, modes of 2 cm^-1, cannot be
/// distinguished from zero. A minimum counts as lower if it is so by 0.1 A times the tolerance.
/// Clusters of more than kMostSaddleMolecules end as in quench().
/// @param positions_A, options, @throws as above
/// @return iterations includes those of all quenches
MinimiseResult quench_to_minimum(ForceField& force_field, std::span<double> positions_A,
                                 const MinimiseOptions& options = {});

/// Minimises V0 + V1, V1 = omega^2/2 sum g_c^2 (TO 4.4), over all atoms. Steps of at most 0.1 A
/// keep the cluster in its basin.
///
/// @param omega penalty strength [sqrt(kcal/mol)/A^2], positive and finite
/// @param positions_A as above, but the molecules keep their shape at the beginning
/// @throws InputError as above, for an invalid omega, a flexible model or a potential
/// @throws NumericalError as above, or if the penalty is too weak to hold the molecules together
MinimiseResult relax_penalised(ForceField& force_field, double omega, std::span<double> positions_A,
                               const MinimiseOptions& options = {1e-7, 2'000});

/// The largest displacement of an atom by a fit.
struct RigidFit {
  double largest_move_A = 0.0;
  int molecule = 0;  ///< counted from 0
};

/// Puts each molecule onto the rigid geometry of the model, with the smallest mass-weighted
/// displacements of its atoms. The centre of mass of the molecule does not change.
/// @param positions_A 9 N numbers; replaced
/// @throws InputError if a molecule is collinear or not finite
RigidFit fit_rigid_geometry(const WaterModel& model, std::span<double> positions_A);

/// quench_to_minimum() of many clusters side by side: in the lanes of vectors and shared by
/// threads, or pairwise models of up to 32 molecules on CUDA devices. Rigid molecules are first put
/// onto the geometry of the model (make_rigid). The result of a cluster does not depend on the
/// others; those of the CPU and a GPU agree to rounding, unless a cluster starts near the border of
/// two minima.
///
/// With a potential all atoms move. Up to 64 clusters are minimised at a time, and the calling
/// thread makes one call of compute() for all that need an energy. Image ids are the index of the
/// cluster, and for image k of the differences of forces at a stationary point, which are a call of
/// their own, the index plus k times the number of clusters.
///
/// An exception ends all minimisations.
/// @param positions_A [cluster][molecule][9]; replaced
/// @param device "auto" is the CPU; threads are not used with a potential
/// @param options its functions are called by several threads, one at a time
/// @return of each cluster
/// @throws InputError for a wrong number of coordinates, distances within molecules that differ
///         from the model's (io::bond_length_problems), and as quench(); NumericalError as
///         quench(); DeviceError if the device cannot be used; what the potential or the functions
///         of the options throw
std::vector<MinimiseResult> minimise_clusters(const WaterModel& model, int molecules,
                                              std::span<double> positions_A,
                                              const DeviceRequest& device = {"cpu"},
                                              const MinimiseOptions& options = {});

}  // namespace tarn
