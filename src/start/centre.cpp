#include "centre.hpp"

#include <algorithm>
#include <cstddef>

namespace tarn::start {

Eigen::Vector3d centre_of_mass(const WaterModel& model, std::span<const double> positions_A) {
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  const std::size_t atoms = positions_A.size() / 3;
  for (std::size_t a = 0; a < atoms; ++a) {
    centre += model.mass_Da(static_cast<int>(a % 3)) *
              Eigen::Map<const Eigen::Vector3d>(&positions_A[3 * a]);
  }
  return centre / (model.molecule_mass_Da() * static_cast<double>(atoms / 3));
}

double farthest_oxygen_A(const WaterModel& model, std::span<const double> positions_A) {
  const Eigen::Vector3d centre = centre_of_mass(model, positions_A);
  double farthest_A = 0.0;
  for (std::size_t at = 0; at < positions_A.size(); at += 9) {
    farthest_A =
        std::max(farthest_A, (Eigen::Map<const Eigen::Vector3d>(&positions_A[at]) - centre).norm());
  }
  return farthest_A;
}

void move_centre_to_origin(const WaterModel& model, std::span<double> positions_A) {
  const Eigen::Vector3d centre = centre_of_mass(model, positions_A);
  for (std::size_t at = 0; at < positions_A.size(); at += 3) {
    Eigen::Map<Eigen::Vector3d>(&positions_A[at]) -= centre;
  }
}

}  // namespace tarn::start
