#include <cmath>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "core/dense.hpp"
#include "isomers.hpp"

namespace tarn::analysis {
namespace {

using Atoms = Eigen::Matrix<double, 3, Eigen::Dynamic>;

bool same_element(Eigen::Index i, Eigen::Index j) { return (i % 3 == 0) == (j % 3 == 0); }

/// Whether the image of each atom is an atom of the same element.
bool maps_onto_itself(const Eigen::Matrix3d& map, const Atoms& atoms, double tolerance_A) {
  for (Eigen::Index i = 0; i < atoms.cols(); ++i) {
    const Eigen::Vector3d image = map * atoms.col(i);
    bool found = false;
    for (Eigen::Index j = 0; j < atoms.cols() && !found; ++j) {
      found = same_element(i, j) && (atoms.col(j) - image).norm() < tolerance_A;
    }
    if (!found) return false;
  }
  return true;
}

}  // namespace

PointGroup point_group(std::span<const double> positions_A, double tolerance_A) {
  Atoms atoms = Eigen::Map<const Atoms>(positions_A.data(), 3,
                                        static_cast<Eigen::Index>(positions_A.size() / 3));
  const Eigen::Vector3d centre = atoms.rowwise().mean();
  atoms.colwise() -= centre;

  // The two atoms whose positions relative to the centre determine a map best.
  Eigen::Index a = 0, b = 0;
  double largest = -1.0;
  for (Eigen::Index i = 0; i < atoms.cols(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const double area = atoms.col(i).cross(atoms.col(j)).norm();
      if (area > largest) {
        largest = area;
        a = i;
        b = j;
      }
    }
  }
  // The map takes a to c, b to d, and a x b to plus or minus c x d.
  const auto frame_of = [&](Eigen::Index i, Eigen::Index j, double handedness) {
    Eigen::Matrix3d frame;
    frame << atoms.col(i), atoms.col(j), handedness * atoms.col(i).cross(atoms.col(j)).normalized();
    return frame;
  };
  const Eigen::Matrix3d from = dense::inverse(frame_of(a, b, 1.0));
  const auto same_length = [&](const Eigen::Vector3d& v, const Eigen::Vector3d& w) {
    return std::abs(v.norm() - w.norm()) < tolerance_A;
  };
  PointGroup group;
  for (Eigen::Index c = 0; c < atoms.cols(); ++c) {
    if (!same_element(a, c) || !same_length(atoms.col(a), atoms.col(c))) continue;
    for (Eigen::Index d = 0; d < atoms.cols(); ++d) {
      if (c == d || !same_element(b, d) || !same_length(atoms.col(b), atoms.col(d))) continue;
      const Eigen::Vector3d between = atoms.col(a) - atoms.col(b);
      if (!same_length(between, atoms.col(c) - atoms.col(d))) continue;
      for (const double handedness : {1.0, -1.0}) {
        const Eigen::Matrix3d map = frame_of(c, d, handedness) * from;
        if (!maps_onto_itself(map, atoms, tolerance_A)) continue;
        ++group.order;
        if (handedness > 0.0) ++group.rotations;
      }
    }
  }
  return group;
}

}  // namespace tarn::analysis
