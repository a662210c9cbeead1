#include "dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <Eigen/Geometry>

#include "tarn/core/error.hpp"

namespace tarn::papers {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr std::int64_t kMostSweeps = 1000;

template <class M>
double rotation_error(const M& r) {
  return (r.transpose() * r - M::Identity(r.rows(), r.cols())).norm();
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

/// ¼ tr(I⁻¹(m) mᵀ)
double kinetic(const Vector& alpha, const Matrix& m) {
  double sum = 0.0;
  for (Index i = 0; i < alpha.size(); ++i) {
    for (Index j = 0; j < alpha.size(); ++j) {
      sum += 0.25 * m(i, j) * m(i, j) / (alpha[i] + alpha[j]);
    }
  }
  return sum;
}

/// Ω = I⁻¹(m), m_ij / (α_i + α_j)
Matrix angular_velocity(const Vector& alpha, const Matrix& m) {
  const Index n = alpha.size();
  return m.cwiseQuotient(alpha.replicate(1, n) + alpha.transpose().replicate(n, 1));
}

/// v χᵀ - χ vᵀ
Matrix wedge(const Vector3d& v, const Vector3d& chi) {
  return v * chi.transpose() - chi * v.transpose();
}

}  // namespace

void append(std::vector<Quantity>& row, const std::string& name, const Vector& values) {
  for (Index i = 0; i < values.size(); ++i) row.push_back({name + std::to_string(i), values[i]});
}

std::vector<Quantity> row_of(const Vector& q, const Vector& v) {
  std::vector<Quantity> row;
  append(row, "q", q);
  append(row, "v", v);
  return row;
}

void Dynamics::checked_step() {
  if (largest_ == 0.0) largest_ = kBlownUp * (1.0 + size_of(q) + size_of(v));
  const Vector q_before = q, v_before = v;
  try {
    step();
    const double size = std::max(size_of(q), size_of(v));
    if (!q.allFinite() || !v.allFinite() || size > largest_) {
      throw NumericalError("it blew up: largest value " + three_digits(size) +
                           ". Try a smaller step");
    }
  } catch (const NumericalError&) {
    q = q_before;
    v = v_before;
    throw;
  }
}

std::vector<Quantity> Dynamics::conserved() const {
  std::vector<Quantity> values = invariants();
  values.insert(values.begin(), {"energy", energy()});
  return values;
}

// --- magnetised rigid body -----------------------------------------------------------------------

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
    const auto a = matrix_of<Matrix3d>(Vector::Unit(9, k));
    const Matrix3d h = 2.0 * omega2_ * (a * square + r * a.transpose() * r + outer * a - a);
    system.col(k) = rows_of(c_ * a + weight_ * h);
  }
  const auto a = matrix_of<Matrix3d>(system.partialPivLu().solve(-rows_of(gradient)));
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
    force_ = rows_of(force(matrix_of<Matrix3d>(q)));
  }
  return force_;
}

void LinearisedSo3::advance() {
  const double h = magnet_.h, kick = trapezoidal_ ? 0.5 * h : h;
  v += kick * force_here();
  q += 2.0 * h * v;
  if (trapezoidal_) v += kick * force_here();
}

double LinearisedSo3::energy() const {
  const auto r = matrix_of<Matrix3d>(q);
  return v.squaredNorm() + magnet_.b_mu * r(2, 2) +
         0.5 * omega2_ * (r.transpose() * r - Matrix3d::Identity()).squaredNorm();
}

std::vector<Quantity> LinearisedSo3::invariants() const {
  const auto r = matrix_of<Matrix3d>(q), p = matrix_of<Matrix3d>(v);
  const Matrix3d spatial = p * r.transpose(), body = r.transpose() * p;
  return {{"spatial_jz", spatial(1, 0) - spatial(0, 1)},
          {"body_j3", body(1, 0) - body(0, 1)},
          {"rotation_error", rotation_error(r)}};
}

RotatingMagnet::RotatingMagnet(Scheme scheme, const Magnet& magnet)
    : scheme_(scheme), magnet_(magnet) {
  q = rows_of(magnet.rotation);
  v = magnet.angular_velocity;
}

void RotatingMagnet::advance() {
  if (scheme_ == Scheme::cayley_variational_euler) return cayley_variational_euler();
  const auto rates = [&](const Matrix3d& r, const Vector3d& w) {
    ++costs_.forces;
    // Eigen's order of sums depends on the alignment of the result, which is fixed here.
    alignas(16) double room[10];
    Eigen::Map<Matrix3d> rate(room + 1);
    rate.noalias() = r * hat(w);
    return std::pair<Matrix3d, Vector3d>(rate, torque(magnet_.b_mu, r));
  };
  auto r = matrix_of<Matrix3d>(q);
  Vector3d w = v;
  runge_kutta_step(magnet_.h, rates(r, w), rates, r, w);
  q = rows_of(r);
  v = w;
}

/// Ω+ (1 + h²|Ω+|²/4) = Ω (1 + h²|Ω|²/4) + h torque, R+ = R cay(h Ω+).
void RotatingMagnet::cayley_variational_euler() {
  const double h = magnet_.h, quarter = 0.25 * h * h;
  const auto r = matrix_of<Matrix3d>(q);
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
}

double RotatingMagnet::energy() const { return 0.5 * v.squaredNorm() + magnet_.b_mu * q[8]; }

std::vector<Quantity> RotatingMagnet::invariants() const {
  const auto r = matrix_of<Matrix3d>(q);
  Vector3d body = v;
  // The momentum of the variational discretisation is conserved along both axes.
  if (scheme_ == Scheme::cayley_variational_euler) {
    body = v * (1.0 + 0.25 * magnet_.h * magnet_.h * v.squaredNorm());
  }
  return {
      {"spatial_jz", (r * body)[2]}, {"body_j3", body[2]}, {"rotation_error", rotation_error(r)}};
}

// --- rigid bodies --------------------------------------------------------------------------------

Matrix solve_rotation(const Vector& alpha, double t, const Matrix& m, std::int64_t& sweeps) {
  const Index n = alpha.size();
  Matrix a = Matrix::Zero(n, n), s = Matrix::Zero(n, n);
  double change = 0.0, last = 0.0;
  for (std::int64_t sweep = 1; sweep <= kMostSweeps; ++sweep) {
    Matrix next_a(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        next_a(i, j) = (s(i, j) * (alpha[j] - alpha[i]) - t * m(i, j)) / (alpha[i] + alpha[j]);
      }
    }
    const Matrix both = s + next_a;
    const Matrix next_s = -0.5 * both.transpose() * both;
    change = std::max((next_a - a).cwiseAbs().maxCoeff(), (next_s - s).cwiseAbs().maxCoeff());
    a = next_a;
    s = next_s;
    ++sweeps;
    if (change <= 1e-16 || (sweep > 1 && change < 1e-14 && change >= last)) {
      return Matrix::Identity(n, n) + a + s;
    }
    if (!std::isfinite(change)) break;
    last = change;
  }
  throw NumericalError("the iteration for the rotation did not converge in " +
                       std::to_string(kMostSweeps) + " sweeps; the last change was " +
                       three_digits(change) + ", and step times momentum is " +
                       three_digits(t * m.norm()) + ". A smaller step may help");
}

FreeBody::FreeBody(Scheme scheme, const Vector& alpha, const Matrix& rotation,
                   const Matrix& momentum, double t)
    : scheme_(scheme), alpha_(alpha), t_(t) {
  q = rows_of(rotation);
  v = rows_of(momentum);
}

/// Moser & Veselov: ωᵀJ - Jω = t m, q+ = q ωᵀ, m+ = ω m ωᵀ.
void FreeBody::advance() {
  Matrix r = matrix_of(q), m = matrix_of(v);
  if (scheme_ == Scheme::moser_veselov) {
    const Matrix w = solve_rotation(alpha_, t_, m, costs_.iterations);
    r = r * w.transpose();
    m = w * m * w.transpose();
  } else {
    const auto rates = [&](const Matrix& at, const Matrix& momentum) {
      const Matrix omega = angular_velocity(alpha_, momentum);
      return std::pair<Matrix, Matrix>(at * omega, momentum * omega - omega * momentum);
    };
    runge_kutta_step(t_, rates(r, m), rates, r, m);
  }
  q = rows_of(r);
  v = rows_of(m);
}

double FreeBody::energy() const { return kinetic(alpha_, matrix_of(v)); }

std::vector<Quantity> FreeBody::invariants() const {
  const Index n = alpha_.size();
  const Matrix r = matrix_of(q), m = matrix_of(v);
  const Matrix spatial = r * m * r.transpose();
  std::vector<Quantity> values;
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) {
      values.push_back({"spatial_" + std::to_string(i + 1) + std::to_string(j + 1), spatial(i, j)});
    }
  }
  const Matrix sum = m + Matrix(alpha_.cwiseAbs2().asDiagonal());
  Matrix power = sum * sum;
  for (Index k = 2; k <= n; ++k) {
    values.push_back({"manakov_" + std::to_string(k), power.trace()});
    power *= sum;
  }
  values.push_back({"rotation_error", rotation_error(r)});
  return values;
}

HeavyTop::HeavyTop(Scheme scheme, const Eigen::Vector3d& alpha, const Eigen::Vector3d& chi,
                   double c, const Eigen::Matrix3d& momentum, const Eigen::Vector3d& direction,
                   double t)
    : scheme_(scheme), alpha_(alpha), chi_(chi), c_(c), t_(t) {
  q = rows_of(momentum);
  v = direction;
}

const Eigen::Matrix3d& HeavyTop::torque_over_c() {
  if (torque_at_.size() != v.size() || torque_at_ != v) {
    torque_at_ = v;
    torque_over_c_ = wedge(v, chi_);
    ++costs_.forces;
  }
  return torque_over_c_;
}

/// RATTLE: half kick, ωᵀJ - Jω = t m₂, v+ = ω v, m₃ = (Jωᵀ - ωJ)/t, half kick. Constrained Euler,
/// of first order: the whole kick before the rotation.
void HeavyTop::advance() {
  if (scheme_ == Scheme::runge_kutta) return runge_kutta();
  const Matrix inertia = alpha_.asDiagonal();
  const double kick = (scheme_ == Scheme::rattle ? 0.5 : 1.0) * t_ * c_;
  const Matrix m = matrix_of(q) - kick * torque_over_c();
  const Matrix w = solve_rotation(alpha_, t_, m, costs_.iterations);
  v = w * v;
  Matrix next = (inertia * w.transpose() - w * inertia) / t_;
  if (scheme_ == Scheme::rattle) next -= kick * torque_over_c();
  q = rows_of(next);
}

void HeavyTop::runge_kutta() {
  const auto rates = [&](const Matrix& m, const Vector& direction) {
    ++costs_.forces;
    const Matrix omega = angular_velocity(alpha_, m);
    return std::pair<Matrix, Vector>(m * omega - omega * m - c_ * wedge(direction, chi_),
                                     -omega * direction);
  };
  Matrix m = matrix_of(q);
  runge_kutta_step(t_, rates(m, v), rates, m, v);
  q = rows_of(m);
}

double HeavyTop::energy() const { return kinetic(alpha_, matrix_of(q)) + c_ * v.dot(chi_); }

std::vector<Quantity> HeavyTop::invariants() const {
  const Matrix m = matrix_of(q);
  std::vector<Quantity> kept{
      {"direction_norm2", v.squaredNorm()},
      {"momentum_dot_direction", -m(1, 2) * v[0] + m(0, 2) * v[1] - m(0, 1) * v[2]}};
  const bool is_lagrange = alpha_[0] == alpha_[1] && chi_[0] == 0.0 && chi_[1] == 0.0;
  if (is_lagrange) kept.push_back({"m12", m(0, 1)});
  return kept;
}

}  // namespace tarn::papers
