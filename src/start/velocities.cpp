#include <cmath>
#include <cstddef>

#include <Eigen/Geometry>

#include "core/dense.hpp"
#include "physics/molecule_solve.hpp"
#include "physics/noise.hpp"
#include "start_sources.hpp"
#include "tarn/core/units.hpp"
#include "tarn/physics/triple.hpp"
#include "tarn/start.hpp"

namespace tarn::start {

using Eigen::Matrix3d;
using Eigen::Vector3d;

void draw_velocities(const ClusterMasses& masses, std::span<const double> positions_A,
                     double temperature_K, bool tangent, std::uint64_t seed, std::int64_t replica,
                     std::span<double> velocities_A_per_akma) {
  const double kT = units::boltzmann_kcal_per_mol_K * temperature_K;
  for (std::size_t k = 0; k < positions_A.size() / 9; ++k) {
    const MoleculeNormals xi = molecule_normals(seed, static_cast<std::uint64_t>(replica), k, 0,
                                                NoiseStream::start_velocities);
    double v[9];
    masses.of(k, [&](const auto& m) {
      const double spreads[3] = {std::sqrt(kT * m.inverse_o), std::sqrt(kT * m.inverse_h1()),
                                 std::sqrt(kT * m.inverse_h2())};
      for (int c = 0; c < 9; ++c) v[c] = spreads[c / 3] * xi.xi[c];
      Triple<double> velocity = molecule_at(v, 0);
      if (tangent) velocity = project_velocities(molecule_at(positions_A.data(), k), velocity, m);
      put_molecule(velocity, velocities_A_per_akma.data(), k);
    });
  }
}

void project_onto_constraints(const ClusterMasses& masses, std::span<const double> positions_A,
                              std::span<double> velocities_A_per_akma) {
  for (std::size_t k = 0; k < positions_A.size() / 9; ++k) {
    masses.of(k, [&](const auto& m) {
      put_molecule(project_velocities(molecule_at(positions_A.data(), k),
                                      molecule_at(velocities_A_per_akma.data(), k), m),
                   velocities_A_per_akma.data(), k);
    });
  }
}

void remove_momentum(const ClusterMasses& masses, std::span<const double> positions_A,
                     std::span<double> velocities_A_per_akma) {
  const std::size_t atoms = positions_A.size() / 3;
  const auto mass = [&](std::size_t a) { return masses.atom_Da(a / 3, a % 3); };
  const auto at = [](auto span, std::size_t a) {
    return Eigen::Map<const Vector3d>(span.data() + 3 * a);
  };
  double total_mass = 0.0;
  Vector3d centre = Vector3d::Zero(), momentum = Vector3d::Zero();
  for (std::size_t a = 0; a < atoms; ++a) {
    total_mass += mass(a);
    centre += mass(a) * at(positions_A, a);
    momentum += mass(a) * at(velocities_A_per_akma, a);
  }
  if (atoms == 0) return;
  centre /= total_mass;
  const Vector3d drift = momentum / total_mass;

  Vector3d angular = Vector3d::Zero();
  Matrix3d inertia = Matrix3d::Zero();
  for (std::size_t a = 0; a < atoms; ++a) {
    const Vector3d r = at(positions_A, a) - centre;
    angular += mass(a) * r.cross(at(velocities_A_per_akma, a) - drift);
    inertia += mass(a) * (r.squaredNorm() * Matrix3d::Identity() - r * r.transpose());
  }
  // There is no rotation about an axis without moment of inertia.
  const dense::Spectrum3 axes = dense::symmetric_spectrum(inertia);
  Vector3d spin = Vector3d::Zero();
  for (int k = 0; k < 3; ++k) {
    const double moment = axes.values[k];
    if (moment > 1e-10 * axes.values[2]) {
      spin += axes.vectors.col(k).dot(angular) / moment * axes.vectors.col(k);
    }
  }
  for (std::size_t a = 0; a < atoms; ++a) {
    Eigen::Map<Vector3d>(&velocities_A_per_akma[3 * a]) -=
        drift + spin.cross(at(positions_A, a) - centre);
  }
}

}  // namespace tarn::start

namespace tarn {

void project_onto_constraints(const System& system, State& state) {
  start::project_onto_constraints(system, state.positions_A, state.velocities_A_per_akma);
}

}  // namespace tarn
