#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "dynamics.hpp"
#include "tarn/core/error.hpp"

namespace tarn::papers {
namespace {

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

std::unique_ptr<Dynamics> make_variational_of(const SystemKeys& pendula,
                                              const IntegratorKeys& integrator) {
  if (pendula.position.size() == 3) {
    return std::make_unique<VariationalOf<3, 1>>(pendula, integrator);
  }
  return std::make_unique<VariationalOf<2, 2>>(pendula, integrator);
}

}  // namespace tarn::papers
