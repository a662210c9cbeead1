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

// --- magnetised rigid body -----------------------------------------------------------------------

class LinearisedSo3 : public Dynamics {
 public:
  LinearisedSo3(const SystemKeys& system, const IntegratorKeys& keys)
      : Dynamics(vector_of(system.rotation), {}),
        b_mu_(system.b_mu),
        h_(keys.step),
        omega2_(*keys.omega * *keys.omega),
        weight_(*keys.beta * h_ * h_),
        c_(keys.a_mass == AMass::paper ? 1.0 : 0.5),
        trapezoidal_(keys.quadrature == Quadrature::trapezoidal) {
    v = rows_of(0.5 * matrix_of<Matrix3d>(q) * hat(vector_of(system.angular_velocity)));
  }
  double energy() const override {
    const auto r = matrix_of<Matrix3d>(q);
    return v.squaredNorm() + b_mu_ * r(2, 2) +
           0.5 * omega2_ * (r.transpose() * r - Matrix3d::Identity()).squaredNorm();
  }
  std::vector<Quantity> invariants() const override {
    const auto r = matrix_of<Matrix3d>(q), p = matrix_of<Matrix3d>(v);
    const Matrix3d spatial = p * r.transpose(), body = r.transpose() * p;
    return {{"spatial_jz", spatial(1, 0) - spatial(0, 1)},
            {"body_j3", body(1, 0) - body(0, 1)},
            {"rotation_error", rotation_error(r)}};
  }

 private:
  void advance() override {
    const double kick = trapezoidal_ ? 0.5 * h_ : h_;
    v += kick * force_here();
    q += 2.0 * h_ * v;
    if (trapezoidal_) v += kick * force_here();
  }

  /// f = c a - 2 omega² β²h⁴ (R aᵀa + a Rᵀa + a aᵀR), the gradient of the functional that a makes
  /// stationary.
  Matrix3d force(const Matrix3d& r) {
    const Matrix3d square = r.transpose() * r, outer = r * r.transpose();
    Matrix3d gradient = 2.0 * omega2_ * r * (square - Matrix3d::Identity());
    gradient(2, 2) += b_mu_;
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

  /// The force at q; it is reused by the next step.
  const Vector& force_here() {
    if (force_at_.size() != q.size() || force_at_ != q) {
      force_at_ = q;
      force_ = rows_of(force(matrix_of<Matrix3d>(q)));
    }
    return force_;
  }

  double b_mu_, h_, omega2_, weight_, c_;
  bool trapezoidal_;
  Vector force_at_, force_;
};

class RotatingMagnet : public Dynamics {
 public:
  RotatingMagnet(const SystemKeys& system, const IntegratorKeys& keys)
      : Dynamics(vector_of(system.rotation), vector_of(system.angular_velocity)),
        b_mu_(system.b_mu),
        h_(keys.step),
        cayley_(keys.scheme == "cayley-variational-euler") {}
  double energy() const override { return 0.5 * v.squaredNorm() + b_mu_ * q[8]; }
  std::vector<Quantity> invariants() const override {
    const auto r = matrix_of<Matrix3d>(q);
    Vector3d body = v;
    // The momentum of the variational discretisation is conserved along both axes.
    if (cayley_) body = v * (1.0 + 0.25 * h_ * h_ * v.squaredNorm());
    return {
        {"spatial_jz", (r * body)[2]}, {"body_j3", body[2]}, {"rotation_error", rotation_error(r)}};
  }

 private:
  void advance() override {
    if (cayley_) return cayley_variational_euler();
    const auto rates = [&](const Matrix3d& r, const Vector3d& w) {
      ++costs_.forces;
      // Eigen's order of sums depends on the alignment of the result, which is fixed here.
      alignas(16) double room[10];
      Eigen::Map<Matrix3d> rate(room + 1);
      rate.noalias() = r * hat(w);
      return std::pair<Matrix3d, Vector3d>(rate, torque(b_mu_, r));
    };
    auto r = matrix_of<Matrix3d>(q);
    Vector3d w = v;
    runge_kutta_step(h_, rates(r, w), rates, r, w);
    q = rows_of(r);
    v = w;
  }

  /// Ω+ (1 + h²|Ω+|²/4) = Ω (1 + h²|Ω|²/4) + h torque, R+ = R cay(h Ω+).
  void cayley_variational_euler() {
    const double quarter = 0.25 * h_ * h_;
    const auto r = matrix_of<Matrix3d>(q);
    const Vector3d w = v;
    const Vector3d right = w * (1.0 + quarter * w.squaredNorm()) + h_ * torque(b_mu_, r);
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
    const Matrix3d half = 0.5 * h_ * hat(next);
    q = rows_of(r * (Matrix3d::Identity() - half).inverse() * (Matrix3d::Identity() + half));
  }

  double b_mu_, h_;
  bool cayley_;
};

// --- rigid bodies --------------------------------------------------------------------------------

class FreeBody : public Dynamics {
 public:
  FreeBody(const SystemKeys& system, const IntegratorKeys& keys)
      : Dynamics(vector_of(system.rotation), vector_of(system.momentum)),
        alpha_(vector_of(system.alpha)),
        t_(keys.step),
        runge_kutta_(keys.scheme == "rk4") {}
  double energy() const override { return kinetic(alpha_, matrix_of(v)); }
  /// Components of the spatial momentum, and tr (m + J²)^k of Manakov 1976.
  std::vector<Quantity> invariants() const override {
    const Index n = alpha_.size();
    const Matrix r = matrix_of(q), m = matrix_of(v);
    const Matrix spatial = r * m * r.transpose();
    std::vector<Quantity> values;
    for (Index i = 0; i < n; ++i) {
      for (Index j = i + 1; j < n; ++j) {
        const std::string name = "spatial_" + std::to_string(i + 1) + std::to_string(j + 1);
        values.push_back({name, spatial(i, j)});
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

 private:
  /// Moser & Veselov: ωᵀJ - Jω = t m, q+ = q ωᵀ, m+ = ω m ωᵀ.
  void advance() override {
    Matrix r = matrix_of(q), m = matrix_of(v);
    if (runge_kutta_) {
      const auto rates = [&](const Matrix& at, const Matrix& momentum) {
        const Matrix omega = angular_velocity(alpha_, momentum);
        return std::pair<Matrix, Matrix>(at * omega, momentum * omega - omega * momentum);
      };
      runge_kutta_step(t_, rates(r, m), rates, r, m);
    } else {
      const Matrix w = solve_rotation(alpha_, t_, m, costs_.iterations);
      r = r * w.transpose();
      m = w * m * w.transpose();
    }
    q = rows_of(r);
    v = rows_of(m);
  }

  Vector alpha_;
  double t_;
  bool runge_kutta_;
};

class HeavyTop : public Dynamics {
 public:
  HeavyTop(const SystemKeys& system, const IntegratorKeys& keys)
      : Dynamics(vector_of(system.momentum), vector_of(system.direction)),
        alpha_(vector_of(system.alpha)),
        chi_(vector_of(system.chi)),
        c_(system.c),
        t_(keys.step),
        scheme_(keys.scheme) {}
  /// ¼ tr(I⁻¹(m) mᵀ) + c v·χ
  double energy() const override { return kinetic(alpha_, matrix_of(q)) + c_ * v.dot(chi_); }
  std::vector<Quantity> invariants() const override {
    const Matrix m = matrix_of(q);
    std::vector<Quantity> kept{
        {"direction_norm2", v.squaredNorm()},
        {"momentum_dot_direction", -m(1, 2) * v[0] + m(0, 2) * v[1] - m(0, 1) * v[2]}};
    const bool is_lagrange = alpha_[0] == alpha_[1] && chi_[0] == 0.0 && chi_[1] == 0.0;
    if (is_lagrange) kept.push_back({"m12", m(0, 1)});
    return kept;
  }

 private:
  /// RATTLE: half kick, ωᵀJ - Jω = t m₂, v+ = ω v, m₃ = (Jωᵀ - ωJ)/t, half kick. Constrained Euler,
  /// of first order: the whole kick before the rotation.
  void advance() override {
    if (scheme_ == "rk4") return runge_kutta();
    const bool is_rattle = scheme_ == "rattle";
    const Matrix inertia = alpha_.asDiagonal();
    const double kick = (is_rattle ? 0.5 : 1.0) * t_ * c_;
    const Matrix m = matrix_of(q) - kick * torque_over_c();
    const Matrix w = solve_rotation(alpha_, t_, m, costs_.iterations);
    v = w * v;
    Matrix next = (inertia * w.transpose() - w * inertia) / t_;
    if (is_rattle) next -= kick * torque_over_c();
    q = rows_of(next);
  }

  void runge_kutta() {
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

  /// v χᵀ - χ vᵀ; it is reused by the next step.
  const Matrix3d& torque_over_c() {
    if (torque_at_.size() != v.size() || torque_at_ != v) {
      torque_at_ = v;
      torque_over_c_ = wedge(v, chi_);
      ++costs_.forces;
    }
    return torque_over_c_;
  }

  Vector alpha_;
  Vector3d chi_;
  double c_, t_;
  std::string scheme_;
  Vector torque_at_;
  Matrix3d torque_over_c_;
};

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

std::unique_ptr<Dynamics> make_magnet(const SystemKeys& system, const IntegratorKeys& integrator) {
  if (integrator.scheme == "so3-linearised") {
    return std::make_unique<LinearisedSo3>(system, integrator);
  }
  return std::make_unique<RotatingMagnet>(system, integrator);
}

SystemKeys paper_magnet() {
  return {.rotation = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
          .angular_velocity = {1.0, 0.2, 0.1}};
}

std::unique_ptr<Dynamics> make_free_body(const SystemKeys& system,
                                         const IntegratorKeys& integrator) {
  return std::make_unique<FreeBody>(system, integrator);
}

std::unique_ptr<Dynamics> make_heavy_top(const SystemKeys& system,
                                         const IntegratorKeys& integrator) {
  return std::make_unique<HeavyTop>(system, integrator);
}

}  // namespace tarn::papers
