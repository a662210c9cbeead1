#include "tarn/minimise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "cluster_coordinates.hpp"
#include "lbfgs.hpp"
#include "tarn/core/error.hpp"
#include "tarn/modes.hpp"

namespace tarn {
namespace {

/// No water cluster has minima as low as this [kcal/mol a molecule].
constexpr double kTornApart = -200.0;
/// What the atom that moves farthest is moved by, off a saddle point.
constexpr double kPush_A = 0.1;
/// More than these one after the other are no saddle points, but rounding.
constexpr int kMostSaddlePoints = 20;

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

MinimiseResult quench_to_minimum(ForceField& force_field, std::span<double> positions_A,
                                 const MinimiseOptions& options) {
  MinimiseResult here = quench_rigid(force_field, positions_A, options);
  if (6 * force_field.molecules() > kMostModeCoordinates) return here;
  const WaterModel& model = force_field.model();
  // Pushed by so much where it falls less, it would meet no force above the tolerance.
  const double curvature = options.tolerance_kcal_per_mol_A / kPush_A;
  while (here.converged && here.saddle_points < kMostSaddlePoints &&
         curves_down(model, positions_A, curvature)) {
    const std::vector<double> way = normal_modes(model, positions_A).displacements_per_sqrt_Da;
    const std::span<const double> lowest = std::span(way).first(positions_A.size());
    const double largest =
        std::abs(*std::max_element(lowest.begin(), lowest.end(),
                                   [](double a, double b) { return std::abs(a) < std::abs(b); }));
    const std::vector<double> saddle(positions_A.begin(), positions_A.end());
    MinimiseResult lower = here;
    int iterations = here.iterations;
    for (const double push : {kPush_A / largest, -kPush_A / largest}) {
      std::vector<double> x = saddle;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += push * lowest[i];
      const MinimiseResult r = quench_rigid(force_field, x, options);
      iterations += r.iterations;
      if (!(r.energy_kcal_per_mol < lower.energy_kcal_per_mol)) continue;
      lower = r;
      std::copy(x.begin(), x.end(), positions_A.begin());
    }
    const bool left = lower.energy_kcal_per_mol < here.energy_kcal_per_mol;
    lower.start_energy_kcal_per_mol = here.start_energy_kcal_per_mol;
    lower.iterations = iterations;
    lower.saddle_points = here.saddle_points + (left ? 1 : 0);
    here = lower;
    if (!left) break;
  }
  return here;
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
