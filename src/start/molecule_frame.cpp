#include "molecule_frame.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "tarn/core/error.hpp"

namespace tarn::start {
namespace {

using Eigen::Map;
using Eigen::Matrix3d;
using Eigen::Vector3d;

Vector3d atom(const double* x, int a) { return Map<const Vector3d>(x + 3 * a); }

/// Axes of the frame: bisector y, normal z.
bool axes(const Vector3d& d1, const Vector3d& d2, Matrix3d& r) {
  const Vector3d normal = d1.cross(d2);
  const double l1 = d1.norm(), l2 = d2.norm();
  // Also false for coordinates that are not finite.
  if (!(normal.norm() > 1e-6 * l1 * l2) || !std::isfinite(l1 * l2)) return false;
  r.col(2) = normal.normalized();
  r.col(1) = (d1 / l1 + d2 / l2).normalized();
  r.col(0) = r.col(1).cross(r.col(2));
  return true;
}

}  // namespace

Triangle::Triangle(const WaterModel& model) {
  const auto squares = model.squared_lengths_A2();
  const double cosine = 1.0 - 0.5 * squares[2] / squares[0];
  const double x = model.r_oh_A * std::sqrt(0.5 * (1.0 - cosine));
  const double y = model.r_oh_A * std::sqrt(0.5 * (1.0 + cosine));
  h1 = {x, y, 0.0};
  h2 = {-x, y, 0.0};
}

bool MoleculeFrame::nearest_rigid(const WaterModel& model, const double* x, MoleculeFrame& frame) {
  const Vector3d o = atom(x, 0), d1 = atom(x, 1) - o, d2 = atom(x, 2) - o;
  Matrix3d r;
  if (!o.allFinite() || !axes(d1, d2, r)) return false;
  // Both triangles lie in one plane with the same orientation, so the best rotation is about the
  // normal (Kabsch's problem in two dimensions).
  const Triangle t(model);
  const double fraction_h = model.mass_h_Da / model.molecule_mass_Da();
  const Vector3d centre = fraction_h * (d1 + d2), t_centre = fraction_h * (t.h1 + t.h2);
  double sine = 0.0, cosine = 0.0;
  const auto add = [&](double mass, const Vector3d& reference, const Vector3d& actual) {
    const Vector3d p = reference - t_centre, q = r.transpose() * (actual - centre);
    sine += mass * (p.x() * q.y() - p.y() * q.x());
    cosine += mass * (p.x() * q.x() + p.y() * q.y());
  };
  add(model.mass_o_Da, Vector3d::Zero(), Vector3d::Zero());
  add(model.mass_h_Da, t.h1, d1);
  add(model.mass_h_Da, t.h2, d2);
  const double angle = std::atan2(sine, cosine);
  frame.rotation =
      Eigen::Quaterniond(r) * Eigen::Quaterniond(Eigen::AngleAxisd(angle, Vector3d::UnitZ()));
  frame.rotation.normalize();
  frame.origin = o + centre - frame.rotation * t_centre;
  return true;
}

MoleculeFrame MoleculeFrame::moved(const Vector3d& translation, const Vector3d& turn) const {
  const double angle = turn.norm();
  // sin(angle/2)/angle, which is 1/2 at zero to the last bit for small angles.
  const double s = angle > 1e-9 ? std::sin(0.5 * angle) / angle : 0.5;
  const Eigen::Quaterniond q(std::cos(0.5 * angle), s * turn.x(), s * turn.y(), s * turn.z());
  return {origin + translation, (q * rotation).normalized()};
}

void MoleculeFrame::place(const Triangle& triangle, double* x) const {
  const Matrix3d r = rotation.toRotationMatrix();
  Map<Vector3d>(x + 0) = origin;
  Map<Vector3d>(x + 3) = origin + r * triangle.h1;
  Map<Vector3d>(x + 6) = origin + r * triangle.h2;
}

void throw_degenerate(std::size_t molecule) {
  throw InputError(
      fmt::format("the atoms of molecule {} are collinear or have coordinates that "
                  "are not finite numbers; correct its coordinates",
                  molecule));
}

Eigen::Vector3d centre_of_mass(const ClusterMasses& masses, std::span<const double> positions_A) {
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  const std::size_t atoms = positions_A.size() / 3;
  for (std::size_t a = 0; a < atoms; ++a) {
    centre += masses.atom_Da(a / 3, a % 3) * Eigen::Map<const Eigen::Vector3d>(&positions_A[3 * a]);
  }
  return centre / masses.cluster_Da(atoms / 3);
}

double farthest_oxygen_A(const ClusterMasses& masses, std::span<const double> positions_A) {
  const Eigen::Vector3d centre = centre_of_mass(masses, positions_A);
  double farthest_A = 0.0;
  for (std::size_t at = 0; at < positions_A.size(); at += 9) {
    farthest_A =
        std::max(farthest_A, (Eigen::Map<const Eigen::Vector3d>(&positions_A[at]) - centre).norm());
  }
  return farthest_A;
}

void move_centre_to_origin(const ClusterMasses& masses, std::span<double> positions_A) {
  const Eigen::Vector3d centre = centre_of_mass(masses, positions_A);
  for (std::size_t at = 0; at < positions_A.size(); at += 3) {
    Eigen::Map<Eigen::Vector3d>(&positions_A[at]) -= centre;
  }
}

}  // namespace tarn::start
