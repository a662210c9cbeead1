#include "centre.hpp"

#include <cstddef>

#include <Eigen/Core>

namespace tarn::start {

void move_centre_to_origin(const WaterModel& model, std::span<double> positions_A) {
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  const std::size_t atoms = positions_A.size() / 3;
  for (std::size_t a = 0; a < atoms; ++a) {
    centre += model.mass_Da(static_cast<int>(a % 3)) *
              Eigen::Map<const Eigen::Vector3d>(&positions_A[3 * a]);
  }
  centre /= model.molecule_mass_Da() * static_cast<double>(atoms / 3);
  for (std::size_t a = 0; a < atoms; ++a) {
    Eigen::Map<Eigen::Vector3d>(&positions_A[3 * a]) -= centre;
  }
}

}  // namespace tarn::start
