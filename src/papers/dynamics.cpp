#include "dynamics.hpp"

#include <algorithm>
#include <array>
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

// --- variational methods of one-step methods
// -------------------------------------------------------

constexpr int kMostVariationalSweeps = 200;
constexpr int kProjectionSteps = 8;  // of Newton's method; they start within the layer's error
constexpr double kRelativeRoundOff = 3e-15;

/// A number with its derivatives in K directions: forward-mode automatic differentiation of
/// polynomials and quotients.
template <int K>
struct Dual {
  using Slopes = Eigen::Array<double, K, 1>;
  double value;
  Slopes d;

  Dual(double v = 0.0, const Slopes& slopes = Slopes::Zero()) : value(v), d(slopes) {}
  friend Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, a.d + b.d}; }
  friend Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.d - b.d}; }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.d * b.value + a.value * b.d};
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const double ratio = a.value / b.value;
    return {ratio, (a.d - ratio * b.d) / b.value};
  }
};

/// Solves a x = b for a small matrix without pivoting.
template <class T, std::size_t d>
std::array<T, d> solve_small(std::array<std::array<T, d>, d> a, std::array<T, d> b) {
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t i = k + 1; i < d; ++i) {
      const T factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < d; ++j) a[i][j] = a[i][j] - factor * a[k][j];
      b[i] = b[i] - factor * b[k];
    }
  }
  for (std::size_t k = d; k-- > 0;) {
    for (std::size_t j = k + 1; j < d; ++j) b[k] = b[k] - a[k][j] * b[j];
    b[k] = b[k] / a[k][k];
  }
  return b;
}

/// q + t dq
template <class P>
P along(P q, double t, const P& dq) {
  for (std::size_t c = 0; c < q.size(); ++c) q[c] = q[c] + dq[c] * t;
  return q;
}

/// A chain of points connected by rods, the first one to the origin, with gravity along the last
/// coordinate. Functions of points accept numbers and dual numbers.
template <int kDim, int kPoints>
class VariationalOf : public Dynamics {
 public:
  VariationalOf(const SystemKeys& pendula, const IntegratorKeys& keys)
      : Dynamics(vector_of(pendula.position), {}),
        masses_(vector_of(pendula.masses).transpose().replicate(kDim, 1).reshaped()),
        lengths_(pendula.lengths),
        gravity_(pendula.gravity),
        h_(keys.step),
        bias_(keys.bias),
        stages_(keys.scheme.ends_with("euler") ? 1
                : keys.scheme.ends_with("rk2") ? 2
                                               : 4) {
    const Matrix b = tangent_basis(q);
    v = b * (b.transpose() * masses_.cwiseProduct(vector_of(pendula.velocity)));
  }

  double energy() const override {
    // The tangent velocity with this momentum.
    const Matrix b = tangent_basis(q);
    const Vector reduced = b.transpose() * v;
    double potential = 0.0;
    for (Index c = 0; c < N; ++c) potential -= force(c) * q[c];
    return 0.5 * reduced.dot(mass_solver(b).solve(reduced)) + potential;
  }

  std::vector<Quantity> invariants() const override {
    double worst = 0.0;
    for (int i = 0; i < kPoints; ++i) {
      worst = std::max(worst, std::abs(constraint(point_of(q), i)));
    }
    // Angular momentum about the vertical axis exists in space only.
    if (kDim != 3) return {{"constraint_max", worst}};
    double lz = 0.0;
    for (Index k = 0; k < N; k += 3) lz += q[k] * v[k + 1] - q[k + 1] * v[k];
    return {{"lz", lz}, {"constraint_max", worst}};
  }

 private:
  static constexpr int N = kDim * kPoints;  ///< coordinates
  static constexpr int kFree = N - kPoints, kDirections = 2 * kFree;
  using Number = Dual<kDirections>;
  template <class T>
  using Point = std::array<T, N>;
  template <class T>
  using PerRod = std::array<T, kPoints>;

  /// Results of the layer at one end: the projected point, the action, and their derivatives.
  struct End {
    Vector point;
    Matrix point_slope;  ///< N × directions
    Vector action_slope;
  };
  struct Ends {
    Vector minus, plus;      ///< ∂⁻, ∂⁺
    Vector p_minus, p_plus;  ///< p⁻, p⁺
  };

  void advance() override {
    Vector x = q, u = v.cwiseQuotient(masses_);
    double change = 0.0, last = 0.0;
    for (int sweep = 1; sweep <= kMostVariationalSweeps; ++sweep) {
      // Both constraints on (x, u): x satisfies the first exactly, u the second linearly.
      const Matrix b = tangent_basis(x);
      const auto solver = mass_solver(b);
      u = b * solver.solve(b.transpose() * masses_.cwiseProduct(u));
      const Ends e = ends(x, u);
      const Vector du = b * solver.solve(b.transpose() * (v - e.p_minus));
      const Vector dx = q - e.minus;
      change = std::max(size_of(du), size_of(dx)) / std::max(1.0, size_of(u));
      ++costs_.iterations;
      if (change <= kRelativeRoundOff || (sweep > 2 && change < 1e-13 && change >= last)) {
        q = e.plus;
        v = e.p_plus;
        return;
      }
      if (!std::isfinite(change)) break;
      last = change;
      u += du;
      if (bias_ != 0.0) x = Vector::Map(projected(point_of(x + dx)).data(), N);
    }
    throw NumericalError("the variational equations did not converge in " +
                         std::to_string(kMostVariationalSweeps) + " sweeps; the last change was " +
                         three_digits(change) + ". A smaller step may help");
  }

  static Point<double> point_of(const Vector& x) {
    Point<double> p;
    std::copy(x.begin(), x.end(), p.begin());
    return p;
  }
  /// Vector from the previous point to point i, of positions or velocities.
  template <class T>
  static std::array<T, kDim> bond(const Point<T>& x, int i) {
    std::array<T, kDim> r;
    for (int k = 0; k < kDim; ++k) {
      const bool is_first = kPoints == 1 || i == 0;
      r[k] = is_first ? x[k] : x[kDim * i + k] - x[kDim * (i - 1) + k];
    }
    return r;
  }
  /// g_i = |r_i|² - L_i²
  template <class T>
  T constraint(const Point<T>& x, int i) const {
    T g = -lengths_[i] * lengths_[i];
    for (const T& r : bond(x, i)) g = g + r * r;
    return g;
  }
  /// Entry (i, c) of G.
  template <class T>
  static T slope(const Point<T>& x, int i, Index c) {
    const Index point = c / kDim;
    if (point == i) return 2.0 * bond(x, i)[c % kDim];
    return point + 1 == i ? -2.0 * bond(x, i)[c % kDim] : T(0.0);
  }
  /// uᵀ Hess g_i w, the same at every q.
  template <class T>
  static T curvature(const Point<T>& u, const Point<T>& w, int i) {
    const auto a = bond(u, i), b = bond(w, i);
    T sum = 0.0;
    for (int k = 0; k < kDim; ++k) sum = sum + 2.0 * a[k] * b[k];
    return sum;
  }
  /// G(y) W G(x)ᵀ with a weight of each coordinate.
  template <class T>
  static std::array<PerRod<T>, kPoints> gram(const Point<T>& y, const Point<T>& x,
                                             const Vector& weights) {
    std::array<PerRod<T>, kPoints> a;
    for (int i = 0; i < kPoints; ++i) {
      for (int j = 0; j < kPoints; ++j) {
        a[i][j] = 0.0;
        for (Index c = 0; c < N; ++c) {
          a[i][j] = a[i][j] + slope(y, i, c) * slope(x, j, c) * weights[c];
        }
      }
    }
    return a;
  }
  /// -∂V/∂q_c
  double force(Index c) const { return c % kDim == kDim - 1 ? -gravity_ * masses_[c] : 0.0; }
  /// ½ vᵀMv - V
  template <class T>
  T lagrangian(const Point<T>& x, const Point<T>& u) const {
    T sum = 0.0;
    for (Index c = 0; c < N; ++c) sum = sum + 0.5 * masses_[c] * u[c] * u[c] + force(c) * x[c];
    return sum;
  }

  static Matrix slopes(const Vector& x) {
    const Point<double> p = point_of(x);
    return Matrix::NullaryExpr(kPoints, N,
                               [&](Index i, Index c) { return slope(p, static_cast<int>(i), c); });
  }
  /// Orthonormal basis of the tangent space.
  static Matrix tangent_basis(const Vector& x) {
    const Matrix transposed = slopes(x).transpose();
    const Matrix whole = transposed.householderQr().householderQ();
    return whole.rightCols(kFree);
  }
  /// Of the mass matrix in that basis.
  Eigen::PartialPivLU<Matrix> mass_solver(const Matrix& basis) const {
    const Matrix mass = basis.transpose() * masses_.asDiagonal() * basis;
    return mass.partialPivLu();
  }

  /// P: q - G(q)ᵀ θ on the constraints, θ by Newton's method.
  template <class T>
  Point<T> projected(const Point<T>& x) const {
    Point<T> y = x;
    for (int step = 0; step < kProjectionSteps; ++step) {
      PerRod<T> g;
      for (int i = 0; i < kPoints; ++i) g[i] = constraint(y, i);
      const PerRod<T> theta = solve_small(gram(y, x, Vector::Ones(N)), g);
      for (Index c = 0; c < N; ++c) {
        for (int j = 0; j < kPoints; ++j) y[c] = y[c] - slope(x, j, c) * theta[j];
      }
    }
    return y;
  }

  /// a = M⁻¹(F - Gᵀλ), G M⁻¹ Gᵀ λ = G M⁻¹ F + vᵀ Hess g v
  template <class T>
  Point<T> acceleration(const Point<T>& x, const Point<T>& u) {
    ++costs_.forces;
    ++costs_.hessians;  // the dual numbers' derivatives
    PerRod<T> right;
    for (int i = 0; i < kPoints; ++i) {
      right[i] = curvature(u, u, i);
      for (Index c = 0; c < N; ++c) right[i] = right[i] + slope(x, i, c) * (force(c) / masses_[c]);
    }
    const PerRod<T> lambda = solve_small(gram(x, x, masses_.cwiseInverse()), right);
    Point<T> result;
    for (Index c = 0; c < N; ++c) {
      T sum = force(c);
      for (int j = 0; j < kPoints; ++j) sum = sum - slope(x, j, c) * lambda[j];
      result[c] = sum * (1.0 / masses_[c]);
    }
    return result;
  }

  /// Applies R_t to (q, v) and returns the action.
  template <class T>
  T run_layer(double t, Point<T>& x, Point<T>& u) {
    const Point<T> a1 = acceleration(x, u);
    const T l1 = lagrangian(x, u);
    if (stages_ == 1) {
      x = along(x, t, u);
      u = along(u, t, a1);
      return l1 * t;
    }
    const Point<T> x2 = along(x, 0.5 * t, u), u2 = along(u, 0.5 * t, a1);
    const Point<T> a2 = acceleration(x2, u2);
    const T l2 = lagrangian(x2, u2);
    if (stages_ == 2) {
      x = along(x, t, u2);
      u = along(u, t, a2);
      return l2 * t;
    }
    const Point<T> x3 = along(x, 0.5 * t, u2), u3 = along(u, 0.5 * t, a2);
    const Point<T> a3 = acceleration(x3, u3);
    const Point<T> x4 = along(x, t, u3), u4 = along(u, t, a3);
    const Point<T> a4 = acceleration(x4, u4);
    const T l3 = lagrangian(x3, u3), l4 = lagrangian(x4, u4);
    x = along(along(along(along(x, t / 6.0, u), t / 3.0, u2), t / 3.0, u3), t / 6.0, u4);
    u = along(along(along(along(u, t / 6.0, a1), t / 3.0, a2), t / 3.0, a3), t / 6.0, a4);
    return (l1 + l2 * 2.0 + l3 * 2.0 + l4) * (t / 6.0);
  }

  End end(double t, Point<Number> x, Point<Number> u) {
    const Number action = run_layer(t, x, u);
    x = projected(x);
    End e{Vector(N), Matrix(N, kDirections), action.d};
    for (Index c = 0; c < N; ++c) {
      e.point[c] = x[c].value;
      e.point_slope.row(c) = x[c].d;
    }
    return e;
  }

  /// ∂± and p± at (q, v), from the derivatives along a basis of T_(q,v)TQ: columns (B, X) and (0,
  /// B), X = -Gᵀ(GGᵀ)⁻¹ (vᵀ D²g) B.
  Ends ends(const Vector& x, const Vector& u) {
    const Matrix b = tangent_basis(x), g = slopes(x);
    const Matrix curvatures = Matrix::NullaryExpr(kPoints, kFree, [&](Index i, Index j) {
      return curvature(point_of(u), point_of(b.col(j)), static_cast<int>(i));
    });
    const Matrix shear = -g.transpose() * (g * g.transpose()).partialPivLu().solve(curvatures);
    Point<Number> x_dual, u_dual;
    for (Index c = 0; c < N; ++c) {
      x_dual[c].value = x[c];
      x_dual[c].d.head(kFree) = b.row(c);
      u_dual[c].value = u[c];
      u_dual[c].d << shear.row(c).transpose(), b.row(c).transpose();
    }
    const End plus = end(h_ * (1.0 - bias_), x_dual, u_dual);
    const End minus = end(-h_ * bias_, x_dual, u_dual);
    const Matrix b_plus = tangent_basis(plus.point), b_minus = tangent_basis(minus.point);
    Matrix system(2 * kFree, 2 * kFree);
    system << plus.point_slope.transpose() * b_plus, -(minus.point_slope.transpose() * b_minus);
    const Vector c = system.partialPivLu().solve(plus.action_slope - minus.action_slope);
    return {minus.point, plus.point, b_minus * c.tail(kFree), b_plus * c.head(kFree)};
  }

  Vector masses_;  ///< of each coordinate
  std::vector<double> lengths_;
  double gravity_, h_, bias_;
  int stages_;
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

std::unique_ptr<Dynamics> make_variational_of(const SystemKeys& pendula,
                                              const IntegratorKeys& integrator) {
  if (pendula.position.size() == 3) {
    return std::make_unique<VariationalOf<3, 1>>(pendula, integrator);
  }
  return std::make_unique<VariationalOf<2, 2>>(pendula, integrator);
}

}  // namespace tarn::papers
