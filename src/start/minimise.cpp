#include "tarn/minimise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cluster_coordinates.hpp"
#include "lbfgs.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

/// No water cluster has minima as low as this [kcal/mol a molecule].
constexpr double kTornApart = -200.0;

void check_size(const ForceField& force_field, std::span<const double> positions_A) {
  if (positions_A.size() != 9 * static_cast<std::size_t>(force_field.molecules())) {
    throw InputError(
        fmt::format("a cluster of {} molecules has nine coordinates a molecule, not {} in all",
                    force_field.molecules(), positions_A.size()));
  }
}

}  // namespace

MinimiseResult quench_rigid(ForceField& force_field, std::span<double> positions_A,
                            const MinimiseOptions& options) {
  check_size(force_field, positions_A);
  start::RigidCluster cluster(force_field, positions_A);
  const MinimiseResult result = start::minimise(cluster, options);
  cluster.write(positions_A);
  return result;
}

MinimiseResult relax_penalised(ForceField& force_field, double omega, std::span<double> positions_A,
                               const MinimiseOptions& options) {
  check_size(force_field, positions_A);
  if (!(omega > 0.0) || !std::isfinite(omega)) {
    throw InputError("omega must be positive and finite to relax a penalised cluster");
  }
  start::PenalisedCluster cluster(force_field, omega, positions_A);
  const MinimiseResult result = start::minimise(cluster, options);
  // Hydrogens have no repulsion of their own: torn off its oxygen, one falls into another's.
  if (!(result.energy_kcal_per_mol > kTornApart * std::max(1, force_field.molecules()))) {
    throw NumericalError(fmt::format(
        "with omega = {:g} the bonds are too weak to hold the molecules together while they are "
        "relaxed; use a larger omega, or in a deck relax = false",
        omega));
  }
  cluster.write(positions_A);
  return result;
}

RigidFit fit_rigid_geometry(const WaterModel& model, std::span<double> positions_A) {
  const start::Triangle triangle(model);
  RigidFit fit;
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    double* x = &positions_A[9 * m];
    const Eigen::Matrix3d old = Eigen::Map<const Eigen::Matrix3d>(x);
    start::MoleculeFrame frame;
    if (!start::MoleculeFrame::nearest_rigid(model, x, frame)) start::throw_degenerate(m);
    frame.place(triangle, x);
    const double move = (Eigen::Map<const Eigen::Matrix3d>(x) - old).colwise().norm().maxCoeff();
    if (move > fit.largest_move_A) fit = {move, static_cast<int>(m)};
  }
  return fit;
}

}  // namespace tarn
