#include "variational_of.hpp"

#include <algorithm>
#include <string>

#include "tarn/core/error.hpp"

namespace tarn::papers {
namespace {

constexpr int kMostVariationalSweeps = 200;
constexpr int kProjectionSteps = 8;  // of Newton's method; they start within the layer's error
constexpr double kRelativeRoundOff = 3e-15;

template <class P>
P plain_point(const Vector& x) {
  P p;
  for (std::size_t c = 0; c < p.size(); ++c) p[c] = x[static_cast<Index>(c)];
  return p;
}

template <std::size_t N>
Vector vector_of(const std::array<double, N>& p) {
  return Eigen::Map<const Vector>(p.data(), static_cast<Index>(N));
}

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

}  // namespace

template <class System>
VariationalOf<System>::VariationalOf(const System& system, Layer layer, double h, double bias,
                                     const Vector& position, const Vector& velocity)
    : system_(system), layer_(layer), h_(h), bias_(bias) {
  q = position;
  const Matrix b = tangent_basis(q);
  v = b * (b.transpose() * mass_vector().cwiseProduct(velocity));
}

template <class System>
Vector VariationalOf<System>::mass_vector() const {
  Vector m(kN);
  for (Index c = 0; c < kN; ++c) m[c] = system_.mass(static_cast<std::size_t>(c));
  return m;
}

template <class System>
Matrix VariationalOf<System>::slopes(const Vector& x) const {
  const auto p = plain_point<Point<double>>(x);
  Matrix g(kD, kN);
  for (std::size_t i = 0; i < System::d; ++i) {
    for (std::size_t c = 0; c < System::N; ++c) {
      g(static_cast<Index>(i), static_cast<Index>(c)) = System::slope(p, i, c);
    }
  }
  return g;
}

template <class System>
Matrix VariationalOf<System>::tangent_basis(const Vector& x) const {
  const Matrix transposed = slopes(x).transpose();
  const Matrix whole = transposed.householderQr().householderQ();
  return whole.rightCols(kFree);
}

/// P: q - G(q)ᵀ θ on the constraints, θ by Newton's method.
template <class System>
template <class T>
typename VariationalOf<System>::template Point<T> VariationalOf<System>::projected(
    const Point<T>& x) const {
  Point<T> y = x;
  for (int step = 0; step < kProjectionSteps; ++step) {
    std::array<std::array<T, System::d>, System::d> a;
    std::array<T, System::d> g;
    for (std::size_t i = 0; i < System::d; ++i) {
      g[i] = system_.constraint(y, i);
      for (std::size_t j = 0; j < System::d; ++j) {
        a[i][j] = T(0.0);
        for (std::size_t c = 0; c < System::N; ++c) {
          a[i][j] = a[i][j] + System::slope(y, i, c) * System::slope(x, j, c);
        }
      }
    }
    const auto theta = solve_small(a, g);
    for (std::size_t c = 0; c < System::N; ++c) {
      for (std::size_t j = 0; j < System::d; ++j) y[c] = y[c] - System::slope(x, j, c) * theta[j];
    }
  }
  return y;
}

/// a = M⁻¹(F - Gᵀλ), G M⁻¹ Gᵀ λ = G M⁻¹ F + vᵀ Hess g v
template <class System>
template <class T>
typename VariationalOf<System>::template Point<T> VariationalOf<System>::acceleration(
    const Point<T>& x, const Point<T>& u) {
  ++costs_.forces;
  ++costs_.hessians;  // the dual numbers' derivatives
  std::array<std::array<T, System::d>, System::d> a;
  std::array<T, System::d> right;
  for (std::size_t i = 0; i < System::d; ++i) {
    right[i] = System::curvature(u, u, i);
    for (std::size_t c = 0; c < System::N; ++c) {
      right[i] = right[i] + System::slope(x, i, c) * T(system_.force(c) / system_.mass(c));
    }
    for (std::size_t j = 0; j < System::d; ++j) {
      a[i][j] = T(0.0);
      for (std::size_t c = 0; c < System::N; ++c) {
        a[i][j] =
            a[i][j] + System::slope(x, i, c) * System::slope(x, j, c) * T(1.0 / system_.mass(c));
      }
    }
  }
  const auto lambda = solve_small(a, right);
  Point<T> result;
  for (std::size_t c = 0; c < System::N; ++c) {
    T force(system_.force(c));
    for (std::size_t j = 0; j < System::d; ++j) force = force - System::slope(x, j, c) * lambda[j];
    result[c] = force * T(1.0 / system_.mass(c));
  }
  return result;
}

/// Applies R_t to (q, v) and returns the action.
template <class System>
template <class T>
T VariationalOf<System>::run_layer(double t, Point<T>& x, Point<T>& u) {
  const Point<T> a1 = acceleration(x, u);
  const T l1 = system_.lagrangian(x, u);
  if (layer_ == Layer::euler) {
    const Point<T> u1 = u;
    u = along(u, t, a1);
    x = along(x, t, u1);
    return l1 * t;
  }
  const Point<T> x2 = along(x, 0.5 * t, u), u2 = along(u, 0.5 * t, a1);
  const Point<T> a2 = acceleration(x2, u2);
  const T l2 = system_.lagrangian(x2, u2);
  if (layer_ == Layer::rk2) {
    x = along(x, t, u2);
    u = along(u, t, a2);
    return l2 * t;
  }
  const Point<T> x3 = along(x, 0.5 * t, u2), u3 = along(u, 0.5 * t, a2);
  const Point<T> a3 = acceleration(x3, u3);
  const Point<T> x4 = along(x, t, u3), u4 = along(u, t, a3);
  const Point<T> a4 = acceleration(x4, u4);
  const T l3 = system_.lagrangian(x3, u3), l4 = system_.lagrangian(x4, u4);
  x = along(along(along(along(x, t / 6.0, u), t / 3.0, u2), t / 3.0, u3), t / 6.0, u4);
  u = along(along(along(along(u, t / 6.0, a1), t / 3.0, a2), t / 3.0, a3), t / 6.0, a4);
  return (l1 + l2 * 2.0 + l3 * 2.0 + l4) * (t / 6.0);
}

template <class System>
typename VariationalOf<System>::End VariationalOf<System>::end(double t, const Point<Number>& x,
                                                               const Point<Number>& u) {
  Point<Number> x1 = x, u1 = u;
  const Number action = run_layer(t, x1, u1);
  x1 = projected(x1);
  const auto directions = static_cast<Index>(kDirections);
  End e{Vector(kN), Matrix(kN, directions), action.value, Vector(directions)};
  for (std::size_t k = 0; k < kDirections; ++k) {
    e.action_slope[static_cast<Index>(k)] = action.d[k];
    for (std::size_t c = 0; c < System::N; ++c) {
      e.point[static_cast<Index>(c)] = x1[c].value;
      e.point_slope(static_cast<Index>(c), static_cast<Index>(k)) = x1[c].d[k];
    }
  }
  return e;
}

/// ∂± and p± at (q, v), from the derivatives along a basis of T_(q,v)TQ: columns (B, X) and (0, B),
/// X = -Gᵀ(GGᵀ)⁻¹ (vᵀ D²g) B.
template <class System>
typename VariationalOf<System>::Ends VariationalOf<System>::ends(const Vector& x, const Vector& u) {
  const Matrix b = tangent_basis(x), g = slopes(x);
  Matrix curvature(kD, kFree);
  const auto u_point = plain_point<Point<double>>(u);
  for (Index j = 0; j < kFree; ++j) {
    const auto column = plain_point<Point<double>>(b.col(j));
    for (std::size_t i = 0; i < System::d; ++i) {
      curvature(static_cast<Index>(i), j) = System::curvature(u_point, column, i);
    }
  }
  const Matrix shear = -g.transpose() * (g * g.transpose()).partialPivLu().solve(curvature);
  Point<Number> x_dual, u_dual;
  for (std::size_t c = 0; c < System::N; ++c) {
    const auto row = static_cast<Index>(c);
    x_dual[c] = Number(x[row]);
    u_dual[c] = Number(u[row]);
    for (Index j = 0; j < kFree; ++j) {
      const auto first = static_cast<std::size_t>(j), second = static_cast<std::size_t>(kFree + j);
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

template <class System>
void VariationalOf<System>::step() {
  const Vector mass = mass_vector();
  Vector x = q, u = v.cwiseQuotient(mass);
  double change = 0.0, last = 0.0;
  for (int sweep = 1; sweep <= kMostVariationalSweeps; ++sweep) {
    // Both constraints on (x, u): x satisfies the first exactly, u the second linearly.
    const Matrix b = tangent_basis(x);
    const Matrix b_mass = b.transpose() * mass.asDiagonal() * b;
    u = b * b_mass.partialPivLu().solve(b.transpose() * mass.cwiseProduct(u));
    const Ends e = ends(x, u);
    const Vector du = b * b_mass.partialPivLu().solve(b.transpose() * (v - e.p_minus));
    const Vector dx = q - e.minus;
    change = std::max(du.lpNorm<Eigen::Infinity>(), dx.lpNorm<Eigen::Infinity>()) /
             std::max(1.0, u.lpNorm<Eigen::Infinity>());
    ++costs_.iterations;
    if (change <= kRelativeRoundOff || (sweep > 2 && change < 1e-13 && change >= last)) {
      q = e.plus;
      v = e.p_plus;
      ++costs_.steps;
      return;
    }
    if (!std::isfinite(change)) break;
    last = change;
    u += du;
    if (bias_ != 0.0) {
      x = vector_of(projected(plain_point<Point<double>>(x + dx)));
    }
  }
  throw NumericalError("the variational equations did not converge in " +
                       std::to_string(kMostVariationalSweeps) + " sweeps; the last change was " +
                       three_digits(change) + ". A smaller step may help");
}

template <class System>
double VariationalOf<System>::energy() const {
  // The tangent velocity with this momentum.
  const Matrix b = tangent_basis(q);
  const Matrix b_mass = b.transpose() * mass_vector().asDiagonal() * b;
  const Vector reduced = b.transpose() * v;
  double potential = 0.0;
  for (Index c = 0; c < kN; ++c) potential -= system_.force(static_cast<std::size_t>(c)) * q[c];
  return 0.5 * reduced.dot(b_mass.partialPivLu().solve(reduced)) + potential;
}

template <class System>
std::vector<Quantity> VariationalOf<System>::invariants() const {
  double worst = 0.0;
  const auto x = plain_point<Point<double>>(q);
  for (std::size_t i = 0; i < System::d; ++i) {
    worst = std::max(worst, std::abs(system_.constraint(x, i)));
  }
  // Angular momentum about the vertical axis exists in space only.
  if (System::N / System::d != 3) return {{"constraint_max", worst}};
  double lz = 0.0;
  for (Index k = 0; k < kN; k += 3) lz += q[k] * v[k + 1] - q[k + 1] * v[k];
  return {{"lz", lz}, {"constraint_max", worst}};
}

template class VariationalOf<SphericalPendulum>;
template class VariationalOf<PlanarDoublePendulum>;

}  // namespace tarn::papers
