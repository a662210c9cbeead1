#include <cmath>

#include <Eigen/Geometry>

#include "convergence.hpp"
#include "dynamics.hpp"

namespace tarn::papers {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using RowMatrix3d = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Matrix3d matrix_of(const Vector& rows) { return Eigen::Map<const RowMatrix3d>(rows.data()); }

Vector rows_of(const Matrix3d& m) {
  const RowMatrix3d rows = m;
  return Eigen::Map<const Vector>(rows.data(), 9);
}

Matrix3d hat(const Vector3d& w) {
  Matrix3d m;
  m << 0.0, -w[2], w[1], w[2], 0.0, -w[0], -w[1], w[0], 0.0;
  return m;
}

/// B mu (Rᵀe₃) × e₃
Vector3d torque(double b_mu, const Matrix3d& r) {
  return b_mu * Vector3d(r.row(2)).cross(Vector3d::UnitZ());
}

}  // namespace

LinearisedSo3::LinearisedSo3(const Magnet& magnet, double omega, double beta, Quadrature quadrature,
                             AMass a_mass)
    : magnet_(magnet),
      omega2_(omega * omega),
      weight_(beta * magnet.h * magnet.h),
      c_(a_mass == AMass::paper ? 1.0 : 0.5),
      trapezoidal_(quadrature == Quadrature::trapezoidal) {
  q = rows_of(magnet.rotation);
  v = rows_of(0.5 * magnet.rotation * hat(magnet.angular_velocity));
}

Matrix3d LinearisedSo3::force(const Matrix3d& r) {
  const Matrix3d square = r.transpose() * r, outer = r * r.transpose();
  Matrix3d gradient = 2.0 * omega2_ * r * (square - Matrix3d::Identity());
  gradient(2, 2) += magnet_.b_mu;
  // c + weight H on matrices, column by column: H a = 2 omega² (a RᵀR + R aᵀR + R Rᵀa - a).
  Matrix system(9, 9);
  for (Index k = 0; k < 9; ++k) {
    const Matrix3d a = matrix_of(Vector::Unit(9, k));
    const Matrix3d h = 2.0 * omega2_ * (a * square + r * a.transpose() * r + outer * a - a);
    system.col(k) = rows_of(c_ * a + weight_ * h);
  }
  const Matrix3d a = matrix_of(system.partialPivLu().solve(-rows_of(gradient)));
  ++costs_.forces;
  ++costs_.hessians;
  ++costs_.third_derivatives;
  ++costs_.linear_solves;
  return c_ * a - 2.0 * omega2_ * weight_ * weight_ *
                      (r * a.transpose() * a + a * r.transpose() * a + a * a.transpose() * r);
}

const Vector& LinearisedSo3::force_here() {
  if (force_at_.size() != q.size() || force_at_ != q) {
    force_at_ = q;
    force_ = rows_of(force(matrix_of(q)));
  }
  return force_;
}

void LinearisedSo3::step() {
  const double h = magnet_.h, kick = trapezoidal_ ? 0.5 * h : h;
  v += kick * force_here();
  q += 2.0 * h * v;
  if (trapezoidal_) v += kick * force_here();
  ++costs_.steps;
}

double LinearisedSo3::energy() const {
  const Matrix3d r = matrix_of(q);
  return v.squaredNorm() + magnet_.b_mu * r(2, 2) +
         0.5 * omega2_ * (r.transpose() * r - Matrix3d::Identity()).squaredNorm();
}

std::vector<Quantity> LinearisedSo3::invariants() const {
  const Matrix3d r = matrix_of(q), p = matrix_of(v);
  const Matrix3d spatial = p * r.transpose(), body = r.transpose() * p;
  return {{"spatial_jz", spatial(1, 0) - spatial(0, 1)},
          {"body_j3", body(1, 0) - body(0, 1)},
          {"rotation_error", (r.transpose() * r - Matrix3d::Identity()).norm()}};
}

CayleyVariationalEuler::CayleyVariationalEuler(const Magnet& magnet) : magnet_(magnet) {
  q = rows_of(magnet.rotation);
  v = magnet.angular_velocity;
}

/// Ω+ (1 + h²|Ω+|²/4) = Ω (1 + h²|Ω|²/4) + h torque, R+ = R cay(h Ω+).
void CayleyVariationalEuler::step() {
  const double h = magnet_.h, quarter = 0.25 * h * h;
  const Matrix3d r = matrix_of(q);
  const Vector3d w = v;
  const Vector3d right = w * (1.0 + quarter * w.squaredNorm()) + h * torque(magnet_.b_mu, r);
  ++costs_.forces;
  // s (1 + h²s²/4) = |right|: increasing and convex, so Newton's method from above converges.
  const double size = right.norm();
  double s = size;
  for (int i = 0; i < 60; ++i) {
    const double change = (s * (1.0 + quarter * s * s) - size) / (1.0 + 3.0 * quarter * s * s);
    s -= change;
    ++costs_.iterations;
    if (std::abs(change) <= 1e-16 * s) break;
  }
  const Vector3d next = right / (1.0 + quarter * s * s);
  v = next;
  const Matrix3d half = 0.5 * h * hat(next);
  q = rows_of(r * (Matrix3d::Identity() - half).inverse() * (Matrix3d::Identity() + half));
  ++costs_.steps;
}

double CayleyVariationalEuler::energy() const {
  return 0.5 * v.squaredNorm() + magnet_.b_mu * q[8];
}

std::vector<Quantity> CayleyVariationalEuler::invariants() const {
  const Matrix3d r = matrix_of(q);
  // The momentum of this discretisation is conserved along both axes.
  const Vector3d body = v * (1.0 + 0.25 * magnet_.h * magnet_.h * v.squaredNorm());
  return {{"spatial_jz", (r * body)[2]},
          {"body_j3", body[2]},
          {"rotation_error", (r.transpose() * r - Matrix3d::Identity()).norm()}};
}

void exact_magnet(const Magnet& magnet, double time, double step, Matrix3d& rotation,
                  Vector3d& angular_velocity) {
  const auto steps = static_cast<std::int64_t>(std::llround(time / step));
  const auto rate = [&](const Matrix3d& r, const Vector3d& w) {
    return std::pair<Matrix3d, Vector3d>(r * hat(w), torque(magnet.b_mu, r));
  };
  for (std::int64_t k = 0; k < steps; ++k) {
    runge_kutta_step(step, rate(rotation, angular_velocity), rate, rotation, angular_velocity);
  }
}

RungeKuttaMagnet::RungeKuttaMagnet(const Magnet& magnet) : magnet_(magnet) {
  q = rows_of(magnet.rotation);
  v = magnet.angular_velocity;
}

void RungeKuttaMagnet::step() {
  Matrix3d r = matrix_of(q);
  Vector3d w = v;
  exact_magnet(magnet_, magnet_.h, magnet_.h, r, w);
  q = rows_of(r);
  v = w;
  costs_.forces += 4;
  ++costs_.steps;
}

double RungeKuttaMagnet::energy() const { return 0.5 * v.squaredNorm() + magnet_.b_mu * q[8]; }

std::vector<Quantity> RungeKuttaMagnet::invariants() const {
  const Matrix3d r = matrix_of(q);
  return {{"spatial_jz", (r * Vector3d(v))[2]},
          {"body_j3", v[2]},
          {"rotation_error", (r.transpose() * r - Matrix3d::Identity()).norm()}};
}

}  // namespace tarn::papers
