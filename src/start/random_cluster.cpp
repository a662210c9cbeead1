#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "cell_grid.hpp"
#include "molecule_frame.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"
#include "uniform.hpp"

namespace tarn {
namespace {

using Eigen::Vector3d;

constexpr double kVolumePerMolecule = 40.0;  // [A^3]; 30 in the liquid
constexpr double kNearestOxygens = 2.6;      // [A]
constexpr double kNearestAtoms = 1.5;        // [A]
/// Failed attempts to place a molecule before the sphere grows by kGrowth.
constexpr int kTries = 100;
constexpr double kGrowth = 1.03;

/// True if two molecules do not overlap.
bool apart(const double* a, const double* b) {
  const auto near = [&](int i, int j, double distance) {
    const double x = a[3 * i] - b[3 * j], y = a[3 * i + 1] - b[3 * j + 1],
                 z = a[3 * i + 2] - b[3 * j + 2];
    return x * x + y * y + z * z < distance * distance;
  };
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (near(i, j, i + j == 0 ? kNearestOxygens : kNearestAtoms)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<double> random_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                                   std::int64_t replica) {
  if (molecules < 1) {
    throw InputError("a cluster needs at least one molecule, not " + std::to_string(molecules));
  }
  const start::Triangle triangle(model);
  const double reach = std::max(kNearestOxygens, kNearestAtoms + 2.0 * model.r_oh_A);
  const auto n = static_cast<std::size_t>(molecules);
  double radius = std::cbrt(0.75 / units::pi * kVolumePerMolecule * molecules);
  const auto empty_grid = [&] {
    return start::CellGrid(Vector3d::Constant(-radius), Vector3d::Constant(radius), reach);
  };
  start::CellGrid grid = empty_grid();
  std::vector<double> x(9 * n);
  for (std::size_t m = 0; m < n; ++m) {
    for (std::uint64_t draw = 0;; ++draw) {
      if (draw % kTries == kTries - 1) {
        radius *= kGrowth;
        grid = empty_grid();
        for (std::size_t k = 0; k < m; ++k) grid.add(Eigen::Map<const Vector3d>(&x[9 * k]));
      }
      const auto u = start::uniforms(seed, static_cast<std::uint64_t>(replica), m, draw);
      const start::MoleculeFrame frame{
          radius * std::cbrt(u[0]) * start::random_direction(u[1], u[2]),
          start::random_rotation(u[3], u[4], u[5])};
      frame.place(triangle, &x[9 * m]);
      const bool fits = grid.visit_near(frame.origin, [&](int k) {
        return apart(&x[9 * m], &x[9 * static_cast<std::size_t>(k)]);
      });
      if (fits) {
        grid.add(frame.origin);
        break;
      }
    }
  }
  start::move_centre_to_origin(model, x);
  return x;
}

int max_quench_iterations(int molecules) {
  const double pairs = 0.5 * molecules * (molecules - 1.0);
  return static_cast<int>(std::clamp(5e9 / std::max(pairs, 1.0), 1.0, 10'000.0));
}

std::vector<double> quenched_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                                     std::int64_t replica, MinimiseResult* result,
                                     const std::function<bool()>& should_continue) {
  std::vector<double> x = random_cluster(model, molecules, seed, replica);
  ForceField force_field(model, molecules);
  const MinimiseResult r =
      quench(force_field, x, {1e-3, max_quench_iterations(molecules), should_continue});
  start::move_centre_to_origin(model, x);
  if (result) *result = r;
  return x;
}

}  // namespace tarn
