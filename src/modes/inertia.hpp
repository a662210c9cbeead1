#pragma once

#include <Eigen/Core>

namespace tarn::modes {

/// Of points with masses, about the origin of their arms, which are columns.
inline Eigen::Matrix3d moment_of_inertia(const Eigen::Ref<const Eigen::Matrix3Xd>& arms,
                                         const Eigen::Ref<const Eigen::VectorXd>& masses) {
  Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
  for (Eigen::Index a = 0; a < arms.cols(); ++a) {
    const Eigen::Vector3d d = arms.col(a);
    sum += masses[a] * (d.squaredNorm() * Eigen::Matrix3d::Identity() - d * d.transpose());
  }
  return sum;
}

}  // namespace tarn::modes
