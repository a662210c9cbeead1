#pragma once

#include <Eigen/Core>

namespace tarn::modes {

/// Moment of inertia of point masses about the origin. @param arms positions in columns
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
