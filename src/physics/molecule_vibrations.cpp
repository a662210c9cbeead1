#include "tarn/physics/molecule_vibrations.hpp"

#include <algorithm>
#include <cmath>

#include "tarn/physics/flexible.hpp"
#include "tarn/physics/parameters.hpp"

namespace tarn {

std::array<double, 3> molecule_wavenumbers_per_cm(const WaterModel& model) {
  const double half = 0.5 * model.angle_hoh_degrees * units::pi / 180.0;
  const double x = model.r_oh_A * std::sin(half), y = model.r_oh_A * std::cos(half);
  const InternalCoordinates<double> c =
      internal_coordinates(Triple<double>{{0.0, 0.0, 0.0}, {x, y, 0.0}, {-x, y, 0.0}});
  const auto k = internal_potentials(c, flexible_parameters(model));
  const SymmetricMatrix3<double> g = wilson_matrix(c, masses(model));
  // r1 - r2 is a normal coordinate, r1 + r2 and the angle are coupled.
  const double stretch = k.r1.second * (g.s11 + g.s12), bend = k.angle.second * g.s33;
  const double coupling2 = 2.0 * k.r1.second * k.angle.second * g.s13 * g.s13;
  const double mean = 0.5 * (stretch + bend), half_difference = 0.5 * (stretch - bend);
  const double split = std::sqrt(half_difference * half_difference + coupling2);
  std::array<double, 3> all{mean - split, mean + split, k.r1.second * (g.s11 - g.s12)};
  for (double& square : all) square = units::wavenumber_per_cm(std::sqrt(square));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace tarn
