#include <algorithm>
#include <cmath>
#include <string>

#include "convergence.hpp"
#include "dynamics.hpp"
#include "tarn/core/error.hpp"

namespace tarn::papers {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::int64_t kMostSweeps = 1000;

Matrix matrix_of(const Vector& rows, Index n) {
  return Eigen::Map<const RowMatrix>(rows.data(), n, n);
}

Vector rows_of(const Matrix& m) {
  const RowMatrix rows = m;
  return Eigen::Map<const Vector>(rows.data(), rows.size());
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
Matrix wedge(const Eigen::Vector3d& v, const Eigen::Vector3d& chi) {
  return v * chi.transpose() - chi * v.transpose();
}

}  // namespace

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
void FreeBody::step() {
  const Index n = alpha_.size();
  Matrix r = matrix_of(q, n), m = matrix_of(v, n);
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
  ++costs_.steps;
}

double FreeBody::energy() const { return kinetic(alpha_, matrix_of(v, alpha_.size())); }

std::vector<Quantity> FreeBody::invariants() const {
  const Index n = alpha_.size();
  const Matrix r = matrix_of(q, n), m = matrix_of(v, n);
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
  values.push_back({"rotation_error", (r.transpose() * r - Matrix::Identity(n, n)).norm()});
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
void HeavyTop::step() {
  if (scheme_ == Scheme::runge_kutta) return runge_kutta();
  const Matrix inertia = alpha_.asDiagonal();
  const double kick = (scheme_ == Scheme::rattle ? 0.5 : 1.0) * t_ * c_;
  const Matrix m = matrix_of(q, 3) - kick * torque_over_c();
  const Matrix w = solve_rotation(alpha_, t_, m, costs_.iterations);
  v = w * v;
  Matrix next = (inertia * w.transpose() - w * inertia) / t_;
  if (scheme_ == Scheme::rattle) next -= kick * torque_over_c();
  q = rows_of(next);
  ++costs_.steps;
}

void HeavyTop::runge_kutta() {
  const auto rates = [&](const Matrix& m, const Vector& direction) {
    ++costs_.forces;
    const Matrix omega = angular_velocity(alpha_, m);
    return std::pair<Matrix, Vector>(m * omega - omega * m - c_ * wedge(direction, chi_),
                                     -omega * direction);
  };
  Matrix m = matrix_of(q, 3);
  runge_kutta_step(t_, rates(m, v), rates, m, v);
  q = rows_of(m);
  ++costs_.steps;
}

double HeavyTop::energy() const { return kinetic(alpha_, matrix_of(q, 3)) + c_ * v.dot(chi_); }

std::vector<Quantity> HeavyTop::invariants() const {
  const Matrix m = matrix_of(q, 3);
  std::vector<Quantity> kept{
      {"direction_norm2", v.squaredNorm()},
      {"momentum_dot_direction", -m(1, 2) * v[0] + m(0, 2) * v[1] - m(0, 1) * v[2]}};
  const bool is_lagrange = alpha_[0] == alpha_[1] && chi_[0] == 0.0 && chi_[1] == 0.0;
  if (is_lagrange) kept.push_back({"m12", m(0, 1)});
  return kept;
}

}  // namespace tarn::papers
