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

/// Below the energy of any water cluster [kcal/mol per molecule]: the molecules have dissociated.
constexpr double kDissociated = -200.0;
/// Largest displacement of an atom in a push off a saddle point.
constexpr double kPush_A = 0.1;
/// Larger numbers of successive saddle points are caused by rounding.
constexpr int kMaxSaddlePoints = 20;

void check_size(const ForceField& force_field, std::span<const double> positions_A) {
  if (positions_A.size() != 9 * static_cast<std::size_t>(force_field.molecules())) {
    throw InputError(fmt::format(
        "{} coordinates do not match a cluster of {} molecules, which has 9 per molecule",
        positions_A.size(), force_field.molecules()));
  }
}

}  // namespace

MinimiseResult quench(ForceField& force_field, std::span<double> positions_A,
                      const MinimiseOptions& options) {
  check_size(force_field, positions_A);
  const auto minimise = [&](auto cluster) {
    const MinimiseResult result = start::minimise(cluster, options);
    cluster.write(positions_A);
    return result;
  };
  return force_field.model().is_flexible()
             ? minimise(start::DeformableCluster(force_field, 0.0, positions_A))
             : minimise(start::RigidCluster(force_field, positions_A));
}

MinimiseResult quench_to_minimum(ForceField& force_field, std::span<double> positions_A,
                                 const MinimiseOptions& options) {
  MinimiseResult here = quench(force_field, positions_A, options);
  const WaterModel& model = force_field.model();
  if (force_field.molecules() > most_mode_molecules(!model.is_flexible())) return here;
  // With a smaller curvature the push would not lead to forces above the tolerance.
  const double curvature = options.tolerance_kcal_per_mol_A / kPush_A;
  while (here.converged && here.saddle_points < kMaxSaddlePoints &&
         has_negative_curvature(model, positions_A, curvature)) {
    const std::vector<double> modes = normal_modes(model, positions_A).displacements_per_sqrt_Da;
    const std::span<const double> lowest = std::span(modes).first(positions_A.size());
    const double largest =
        std::abs(*std::max_element(lowest.begin(), lowest.end(),
                                   [](double a, double b) { return std::abs(a) < std::abs(b); }));
    const std::vector<double> saddle(positions_A.begin(), positions_A.end());
    MinimiseResult lower = here;
    int iterations = here.iterations;
    for (const double push : {kPush_A / largest, -kPush_A / largest}) {
      std::vector<double> x = saddle;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += push * lowest[i];
      const MinimiseResult r = quench(force_field, x, options);
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
  if (force_field.model().is_flexible()) {
    throw InputError("flexible water models have no penalty");
  }
  if (!(omega > 0.0) || !std::isfinite(omega)) {
    throw InputError("omega must be positive and finite to relax a penalised cluster");
  }
  start::DeformableCluster cluster(force_field, omega, positions_A);
  const MinimiseResult result = start::minimise(cluster, options);
  // Hydrogens have no repulsion: a dissociated hydrogen falls into the oxygen of another molecule.
  if (!(result.energy_kcal_per_mol > kDissociated * std::max(1, force_field.molecules()))) {
    throw NumericalError(
        fmt::format("omega = {:g} is too small: molecules dissociate during the relaxation. Use a "
                    "larger omega, "
                    "or set relax = false in the deck",
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
