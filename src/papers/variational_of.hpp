#pragma once

#include <array>
#include <cmath>
#include <memory>

#include "dual.hpp"
#include "dynamics.hpp"

/// @file
/// Variational integrators for constrained systems from any explicit one-step method. PCSZ is
/// Patrick, Cuell, Spiteri & Zhang 2009.

namespace tarn::papers {

/// The one-step method, PCSZ's standard layer. rk2 is the explicit midpoint rule.
enum class Layer { euler, rk2, rk4 };

/// A chain of points connected by rods, the first one to the origin, with gravity along the last
/// coordinate. Its functions accept numbers and dual numbers.
template <std::size_t kDim, std::size_t kPoints>
struct HangingPoints {
  static constexpr std::size_t N = kDim * kPoints;  ///< coordinates
  static constexpr std::size_t d = kPoints;         ///< constraints
  template <class T>
  using Point = std::array<T, N>;

  std::array<double, kPoints> masses;
  std::array<double, kPoints> lengths;
  double gravity = 1.0;

  /// Vector from the previous point to point i, of positions or velocities.
  template <class T>
  static std::array<T, kDim> bond(const Point<T>& q, std::size_t i) {
    std::array<T, kDim> r;
    for (std::size_t k = 0; k < kDim; ++k) {
      r[k] = i == 0 ? q[k] : q[kDim * i + k] - q[kDim * (i - 1) + k];
    }
    return r;
  }
  /// g_i = |r_i|² - L_i²
  template <class T>
  T constraint(const Point<T>& q, std::size_t i) const {
    T g(-lengths[i] * lengths[i]);
    for (const T& r : bond(q, i)) g = g + r * r;
    return g;
  }
  /// Entry (i, c) of G.
  template <class T>
  static T slope(const Point<T>& q, std::size_t i, std::size_t c) {
    const std::size_t point = c / kDim;
    if (point == i) return T(2.0) * bond(q, i)[c % kDim];
    if (point + 1 == i) return T(-2.0) * bond(q, i)[c % kDim];
    return T(0.0);
  }
  /// uᵀ Hess g_i v, the same at every q.
  template <class T>
  static T curvature(const Point<T>& u, const Point<T>& v, std::size_t i) {
    const auto a = bond(u, i), b = bond(v, i);
    T sum(0.0);
    for (std::size_t k = 0; k < kDim; ++k) sum = sum + T(2.0) * a[k] * b[k];
    return sum;
  }
  double mass(std::size_t c) const { return masses[c / kDim]; }
  /// -∂V/∂q_c
  double force(std::size_t c) const {
    return c % kDim == kDim - 1 ? -gravity * masses[c / kDim] : 0.0;
  }
  /// ½ vᵀMv - V
  template <class T>
  T lagrangian(const Point<T>& q, const Point<T>& v) const {
    T sum(0.0);
    for (std::size_t c = 0; c < N; ++c) {
      sum = sum + T(0.5 * mass(c)) * v[c] * v[c] + T(force(c)) * q[c];
    }
    return sum;
  }
};

/// PCSZ's symplectic layer without its Stage 4. The state is a point q̄ on the constraints and a
/// tangential momentum μ. A step finds the tangent (q, v) with ∂⁻(q, v) = q̄ and p⁻ = μ, where
///
///     ∂± = P∘R^q at the times h α±,    DL_h = p⁺ D∂⁺ - p⁻ D∂⁻ on T_(q,v)TQ,
///
/// equation (52). P projects along Gᵀ, and L_h is the action computed by the layer R. Then
/// (q̄, μ) ← (∂⁺, p⁺). The order is that of the layer.
template <class System>
class VariationalOf : public Dynamics {
 public:
  /// @param bias α⁺ = 1 - bias, α⁻ = -bias: 0, or ½, which makes the method self-adjoint
  VariationalOf(const System& system, Layer layer, double h, double bias, const Vector& position,
                const Vector& velocity);
  void step() override;
  double energy() const override;
  std::vector<Quantity> invariants() const override;

 private:
  static constexpr Index kN = static_cast<Index>(System::N), kD = static_cast<Index>(System::d);
  static constexpr Index kFree = kN - kD;
  static constexpr std::size_t kDirections = 2 * static_cast<std::size_t>(kFree);
  using Number = Dual<kDirections>;
  template <class T>
  using Point = typename System::template Point<T>;

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

  Matrix slopes(const Vector& q) const;
  /// Orthonormal basis of the tangent space.
  Matrix tangent_basis(const Vector& q) const;
  template <class T>
  Point<T> projected(const Point<T>& q) const;
  template <class T>
  Point<T> acceleration(const Point<T>& q, const Point<T>& v);
  template <class T>
  T run_layer(double t, Point<T>& q, Point<T>& v);
  End end(double t, const Point<Number>& q, const Point<Number>& v);
  Ends ends(const Vector& q, const Vector& v);
  Vector mass_vector() const;

  System system_;
  Layer layer_;
  double h_, bias_;
};

using SphericalPendulum = HangingPoints<3, 1>;
using PlanarDoublePendulum = HangingPoints<2, 2>;
extern template class VariationalOf<SphericalPendulum>;
extern template class VariationalOf<PlanarDoublePendulum>;

}  // namespace tarn::papers
