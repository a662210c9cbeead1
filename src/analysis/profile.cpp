#include "tarn/analysis/profile.hpp"

#include <cmath>
#include <cstddef>

#include "tarn/analysis/rdf.hpp"
#include "tarn/core/units.hpp"
#include "tarn/core/vec3.hpp"

namespace tarn::analysis {
namespace {

using Vector = Vec3<double>;

Vector atom_at(std::span<const double> positions_A, std::size_t atom) {
  return {positions_A[3 * atom], positions_A[3 * atom + 1], positions_A[3 * atom + 2]};
}

}  // namespace

RadialSums::RadialSums(int bins)
    : mass_Da(static_cast<std::size_t>(bins)),
      oxygens(mass_Da.size()),
      hydrogens(mass_Da.size()),
      cosines(mass_Da.size()) {}

void add_radial(std::span<const double> positions_A, double mass_o_Da, double mass_h_Da,
                double r_max_A, RadialSums& sums) {
  const std::size_t atoms = positions_A.size() / 3, bins = sums.oxygens.size();
  Vector centre{0.0, 0.0, 0.0};
  for (std::size_t a = 0; a < atoms; ++a) {
    centre = centre + (a % 3 == 0 ? mass_o_Da : mass_h_Da) * atom_at(positions_A, a);
  }
  centre = 3.0 / (static_cast<double>(atoms) * (mass_o_Da + 2.0 * mass_h_Da)) * centre;
  const double bins_per_A = static_cast<double>(bins) / r_max_A;
  for (std::size_t a = 0; a < atoms; ++a) {
    const Vector out = atom_at(positions_A, a) - centre;
    const double r_A = std::sqrt(norm2(out));
    const auto bin = static_cast<std::size_t>(std::fmin(r_A * bins_per_A, 1e9));
    if (!(r_A < r_max_A) || bin >= bins) continue;
    if (a % 3 != 0) {
      sums.hydrogens[bin] += 1.0;
      sums.mass_Da[bin] += mass_h_Da;
      continue;
    }
    sums.oxygens[bin] += 1.0;
    sums.mass_Da[bin] += mass_o_Da;
    const Vector o = atom_at(positions_A, a);
    const Vector dipole = (atom_at(positions_A, a + 1) - o) + (atom_at(positions_A, a + 2) - o);
    const double lengths = r_A * std::sqrt(norm2(dipole));
    if (lengths > 0.0) sums.cosines[bin] += dot(dipole, out) / lengths;
  }
}

std::vector<double> shell_volumes_A3(double r_max_A, int bins) {
  const double ball_A3 = 4.0 / 3.0 * units::pi * r_max_A * r_max_A * r_max_A;
  std::vector<double> volumes = rdf_weights(bins);
  for (double& volume : volumes) volume = ball_A3 / volume;
  return volumes;
}

}  // namespace tarn::analysis
