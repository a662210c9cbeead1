#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "dynamics.hpp"
#include "systems.hpp"
#include "tarn/core/error.hpp"

namespace tarn::papers {
namespace {

constexpr int kMostVariationalSweeps = 200;
constexpr int kProjectionSteps = 8;  // of Newton's method; they start within the layer's error
constexpr double kRelativeRoundOff = 3e-15;

/// A number with its derivatives in K directions: forward-mode automatic differentiation of
/// polynomials and quotients.
template <std::size_t K>
struct Dual {
  double value = 0.0;
  std::array<double, K> d{};

  Dual() = default;
  Dual(double v) : value(v) {}

  friend Dual operator+(Dual a, const Dual& b) { return a.add(1.0, b); }
  friend Dual operator-(Dual a, const Dual& b) { return a.add(-1.0, b); }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual r(a.value * b.value);
    for (std::size_t k = 0; k < K; ++k) r.d[k] = a.d[k] * b.value + a.value * b.d[k];
    return r;
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    Dual r(a.value / b.value);
    for (std::size_t k = 0; k < K; ++k) r.d[k] = (a.d[k] - r.value * b.d[k]) / b.value;
    return r;
  }

 private:
  Dual& add(double factor, const Dual& b) {
    value += factor * b.value;
    for (std::size_t k = 0; k < K; ++k) d[k] += factor * b.d[k];
    return *this;
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
P along(const P& q, double t, const P& dq) {
  P r;
  for (std::size_t c = 0; c < q.size(); ++c) r[c] = q[c] + dq[c] * t;
  return r;
}

/// A chain of points connected by rods, the first one to the origin, with gravity along the last
/// coordinate. Functions of points accept numbers and dual numbers.
template <std::size_t kDim, std::size_t kPoints>
class VariationalOf : public Dynamics {
 public:
  VariationalOf(const Pendula& pendula, Layer layer, double h, double bias)
      : masses_(pendula.masses.transpose().replicate(kDim, 1).reshaped()),
        pendula_(pendula),
        layer_(layer),
        h_(h),
        bias_(bias) {
    q = pendula.position;
    const Matrix b = tangent_basis(q);
    v = b * (b.transpose() * masses_.cwiseProduct(pendula.velocity));
  }

  double energy() const override {
    // The tangent velocity with this momentum.
    const Matrix b = tangent_basis(q);
    const Matrix b_mass = b.transpose() * masses_.asDiagonal() * b;
    const Vector reduced = b.transpose() * v;
    double potential = 0.0;
    for (std::size_t c = 0; c < N; ++c) potential -= force(c) * q[static_cast<Index>(c)];
    return 0.5 * reduced.dot(b_mass.partialPivLu().solve(reduced)) + potential;
  }

  std::vector<Quantity> invariants() const override {
    double worst = 0.0;
    for (std::size_t i = 0; i < kPoints; ++i) {
      worst = std::max(worst, std::abs(constraint(point_of(q), i)));
    }
    // Angular momentum about the vertical axis exists in space only.
    if (kDim != 3) return {{"constraint_max", worst}};
    double lz = 0.0;
    for (Index k = 0; k < kN; k += 3) lz += q[k] * v[k + 1] - q[k + 1] * v[k];
    return {{"lz", lz}, {"constraint_max", worst}};
  }

 private:
  static constexpr std::size_t N = kDim * kPoints;  ///< coordinates
  static constexpr Index kN = N, kD = kPoints, kFree = kN - kD;
  static constexpr Index kDirections = 2 * kFree;
  using Number = Dual<kDirections>;
  template <class T>
  using Point = std::array<T, N>;
  template <class T>
  using PerRod = std::array<T, kPoints>;

  /// Results of the layer at one end: the projected point, the action, and their derivatives.
  struct End {
    Vector point;
    Matrix point_slope;  ///< N × directions
    double action;
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
      const Matrix b_mass = b.transpose() * masses_.asDiagonal() * b;
      u = b * b_mass.partialPivLu().solve(b.transpose() * masses_.cwiseProduct(u));
      const Ends e = ends(x, u);
      const Vector du = b * b_mass.partialPivLu().solve(b.transpose() * (v - e.p_minus));
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
      if (bias_ != 0.0) x = Vector::Map(projected(point_of(x + dx)).data(), kN);
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
  static std::array<T, kDim> bond(const Point<T>& x, std::size_t i) {
    std::array<T, kDim> r;
    for (std::size_t k = 0; k < kDim; ++k) {
      r[k] = i == 0 ? x[k] : x[kDim * i + k] - x[kDim * (i - 1) + k];
    }
    return r;
  }
  /// g_i = |r_i|² - L_i²
  template <class T>
  T constraint(const Point<T>& x, std::size_t i) const {
    T g(-pendula_.lengths[i] * pendula_.lengths[i]);
    for (const T& r : bond(x, i)) g = g + r * r;
    return g;
  }
  /// Entry (i, c) of G.
  template <class T>
  static T slope(const Point<T>& x, std::size_t i, std::size_t c) {
    const std::size_t point = c / kDim;
    if (point == i) return T(2.0) * bond(x, i)[c % kDim];
    if (point + 1 == i) return T(-2.0) * bond(x, i)[c % kDim];
    return T(0.0);
  }
  /// uᵀ Hess g_i w, the same at every q.
  template <class T>
  static T curvature(const Point<T>& u, const Point<T>& w, std::size_t i) {
    const auto a = bond(u, i), b = bond(w, i);
    T sum(0.0);
    for (std::size_t k = 0; k < kDim; ++k) sum = sum + T(2.0) * a[k] * b[k];
    return sum;
  }
  double mass(std::size_t c) const { return masses_[static_cast<Index>(c)]; }
  /// -∂V/∂q_c
  double force(std::size_t c) const {
    return c % kDim == kDim - 1 ? -pendula_.gravity * mass(c) : 0.0;
  }
  /// ½ vᵀMv - V
  template <class T>
  T lagrangian(const Point<T>& x, const Point<T>& u) const {
    T sum(0.0);
    for (std::size_t c = 0; c < N; ++c) {
      sum = sum + T(0.5 * mass(c)) * u[c] * u[c] + T(force(c)) * x[c];
    }
    return sum;
  }

  static Matrix slopes(const Vector& x) {
    const Point<double> p = point_of(x);
    Matrix g(kD, kN);
    for (std::size_t i = 0; i < kPoints; ++i) {
      for (std::size_t c = 0; c < N; ++c) {
        g(static_cast<Index>(i), static_cast<Index>(c)) = slope(p, i, c);
      }
    }
    return g;
  }
  /// Orthonormal basis of the tangent space.
  static Matrix tangent_basis(const Vector& x) {
    const Matrix transposed = slopes(x).transpose();
    const Matrix whole = transposed.householderQr().householderQ();
    return whole.rightCols(kFree);
  }

  /// P: q - G(q)ᵀ θ on the constraints, θ by Newton's method.
  template <class T>
  Point<T> projected(const Point<T>& x) const {
    Point<T> y = x;
    for (int step = 0; step < kProjectionSteps; ++step) {
      std::array<PerRod<T>, kPoints> a;
      PerRod<T> g;
      for (std::size_t i = 0; i < kPoints; ++i) {
        g[i] = constraint(y, i);
        for (std::size_t j = 0; j < kPoints; ++j) {
          a[i][j] = T(0.0);
          for (std::size_t c = 0; c < N; ++c) {
            a[i][j] = a[i][j] + slope(y, i, c) * slope(x, j, c);
          }
        }
      }
      const PerRod<T> theta = solve_small(a, g);
      for (std::size_t c = 0; c < N; ++c) {
        for (std::size_t j = 0; j < kPoints; ++j) y[c] = y[c] - slope(x, j, c) * theta[j];
      }
    }
    return y;
  }

  /// a = M⁻¹(F - Gᵀλ), G M⁻¹ Gᵀ λ = G M⁻¹ F + vᵀ Hess g v
  template <class T>
  Point<T> acceleration(const Point<T>& x, const Point<T>& u) {
    ++costs_.forces;
    ++costs_.hessians;  // the dual numbers' derivatives
    std::array<PerRod<T>, kPoints> a;
    PerRod<T> right;
    for (std::size_t i = 0; i < kPoints; ++i) {
      right[i] = curvature(u, u, i);
      for (std::size_t c = 0; c < N; ++c) {
        right[i] = right[i] + slope(x, i, c) * T(force(c) / mass(c));
      }
      for (std::size_t j = 0; j < kPoints; ++j) {
        a[i][j] = T(0.0);
        for (std::size_t c = 0; c < N; ++c) {
          a[i][j] = a[i][j] + slope(x, i, c) * slope(x, j, c) * T(1.0 / mass(c));
        }
      }
    }
    const PerRod<T> lambda = solve_small(a, right);
    Point<T> result;
    for (std::size_t c = 0; c < N; ++c) {
      T sum(force(c));
      for (std::size_t j = 0; j < kPoints; ++j) sum = sum - slope(x, j, c) * lambda[j];
      result[c] = sum * T(1.0 / mass(c));
    }
    return result;
  }

  /// Applies R_t to (q, v) and returns the action.
  template <class T>
  T run_layer(double t, Point<T>& x, Point<T>& u) {
    const Point<T> a1 = acceleration(x, u);
    const T l1 = lagrangian(x, u);
    if (layer_ == Layer::euler) {
      const Point<T> u1 = u;
      u = along(u, t, a1);
      x = along(x, t, u1);
      return l1 * t;
    }
    const Point<T> x2 = along(x, 0.5 * t, u), u2 = along(u, 0.5 * t, a1);
    const Point<T> a2 = acceleration(x2, u2);
    const T l2 = lagrangian(x2, u2);
    if (layer_ == Layer::rk2) {
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
    End e{Vector(kN), Matrix(kN, kDirections), action.value,
          Vector::Map(action.d.data(), kDirections)};
    for (std::size_t c = 0; c < N; ++c) {
      e.point[static_cast<Index>(c)] = x[c].value;
      e.point_slope.row(static_cast<Index>(c)) =
          Eigen::RowVectorXd::Map(x[c].d.data(), kDirections);
    }
    return e;
  }

  /// ∂± and p± at (q, v), from the derivatives along a basis of T_(q,v)TQ: columns (B, X) and (0,
  /// B), X = -Gᵀ(GGᵀ)⁻¹ (vᵀ D²g) B.
  Ends ends(const Vector& x, const Vector& u) {
    const Matrix b = tangent_basis(x), g = slopes(x);
    Matrix curvatures(kD, kFree);
    for (Index j = 0; j < kFree; ++j) {
      for (std::size_t i = 0; i < kPoints; ++i) {
        curvatures(static_cast<Index>(i), j) = curvature(point_of(u), point_of(b.col(j)), i);
      }
    }
    const Matrix shear = -g.transpose() * (g * g.transpose()).partialPivLu().solve(curvatures);
    Point<Number> x_dual, u_dual;
    for (std::size_t c = 0; c < N; ++c) {
      const auto row = static_cast<Index>(c);
      x_dual[c] = Number(x[row]);
      u_dual[c] = Number(u[row]);
      for (Index j = 0; j < kFree; ++j) {
        const auto first = static_cast<std::size_t>(j),
                   second = static_cast<std::size_t>(kFree + j);
        x_dual[c].d[first] = b(row, j);
        u_dual[c].d[first] = shear(row, j);
        u_dual[c].d[second] = b(row, j);
      }
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
  Pendula pendula_;
  Layer layer_;
  double h_, bias_;
};

}  // namespace

std::unique_ptr<Dynamics> make_variational_of(const Pendula& pendula, Layer layer, double h,
                                              double bias) {
  if (pendula.position.size() == 3) {
    return std::make_unique<VariationalOf<3, 1>>(pendula, layer, h, bias);
  }
  return std::make_unique<VariationalOf<2, 2>>(pendula, layer, h, bias);
}

}  // namespace tarn::papers
