#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "costs.hpp"

/// @file
/// Systems on manifolds, each with the integrators of its paper.
///
/// TO is Tao & Owhadi 2016, MS McLachlan & Scovel 1995. Matrices are stored in row-major order.

namespace tarn::papers {

/// A column of a table, such as a conserved quantity.
struct Quantity {
  std::string name;
  double value = 0.0;
};

/// Appends the columns name0, name1, ...
void append(std::vector<Quantity>& row, const std::string& name, const Vector& values);
/// Columns of positions and velocities.
std::vector<Quantity> row_of(const Vector& q, const Vector& v);

/// A run has blown up when coordinates, or the energy of the velocities, exceed those of the start
/// by this factor.
inline constexpr double kBlownUp = 1e6;

/// A system with its integrator, which a run advances and writes.
class Case {
 public:
  virtual ~Case() = default;
  /// Advances by one step, without the checks of checked_step(), for timings.
  /// @throws NumericalError if an iteration does not converge
  virtual void step() = 0;
  /// Advances by one step. @throws NumericalError if it fails or blows up; the state is unchanged
  /// then
  virtual void checked_step() = 0;
  /// Columns of trajectory.csv after step and time.
  virtual std::vector<Quantity> row() const = 0;
  virtual std::vector<Quantity> energies() const = 0;
  virtual std::vector<Quantity> conserved() const = 0;
  virtual const Costs& costs() const = 0;
  /// Columns of iterations.csv after the iteration number; empty if the case has none.
  virtual std::vector<Quantity> iterate() const { return {}; }
  /// Number of steps, if the case and not the deck determines it.
  virtual std::optional<std::int64_t> steps() const { return std::nullopt; }
};

/// A system on a manifold. The meaning of q and v depends on the system.
class Dynamics : public Case {
 public:
  void step() final {
    advance();
    ++costs_.steps;
  }
  void checked_step() final;
  virtual double energy() const = 0;
  virtual std::vector<Quantity> invariants() const = 0;
  std::vector<Quantity> row() const final { return row_of(q, v); }
  std::vector<Quantity> energies() const final { return {{"total", energy()}}; }
  std::vector<Quantity> conserved() const final;
  const Costs& costs() const final { return costs_; }

  Vector q, v;  ///< the whole state

 protected:
  virtual void advance() = 0;
  Costs costs_;

 private:
  double largest_ = 0.0;  // permitted value; 0: before the first step
};

/// A square matrix from its rows, and its rows.
template <class M = Matrix>
M matrix_of(const Vector& rows) {
  const auto n = static_cast<Index>(std::lround(std::sqrt(rows.size())));
  return M::Map(rows.data(), n, n).transpose();
}
inline Vector rows_of(const Matrix& m) { return m.transpose().reshaped(); }

// --- magnetised rigid body, TO 4.5 ---------------------------------------------------------------

struct Magnet {
  double b_mu = 1.0;  ///< field times magnetic moment
  double h = 0.1;     ///< time step
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d angular_velocity{1.0, 0.2, 0.1};
};

/// Z&S on matrices R with the penalty ½ omega² |RᵀR - 1|², equation (46); q is R, v is
/// p = ½ dR/dt.
class LinearisedSo3 : public Dynamics {
 public:
  enum class Quadrature { first_order, trapezoidal };
  /// The factor c of a in (c + βh²H) a = -∇V: 1 in the paper, ½ where the mass of R is ½.
  enum class AMass { paper, consistent };
  LinearisedSo3(const Magnet& magnet, double omega, double beta, Quadrature quadrature,
                AMass a_mass);
  double energy() const override;
  std::vector<Quantity> invariants() const override;

  /// f = c a - 2 omega² β²h⁴ (R aᵀa + a Rᵀa + a aᵀR), the gradient of the functional that a makes
  /// stationary.
  Eigen::Matrix3d force(const Eigen::Matrix3d& r);

 private:
  void advance() override;
  /// The force at q; it is reused by the next step.
  const Vector& force_here();

  Vector force_at_, force_;
  Magnet magnet_;
  double omega2_, weight_, c_;
  bool trapezoidal_;
};

/// Rotation and angular velocity of the body; q is R, v the angular velocity in the body frame.
class RotatingMagnet : public Dynamics {
 public:
  /// Variational Euler with the Cayley map, TO (4.12) and (4.13), equation (47), or the classical
  /// Runge-Kutta method, for reference solutions.
  enum class Scheme { cayley_variational_euler, runge_kutta };
  RotatingMagnet(Scheme scheme, const Magnet& magnet);
  double energy() const override;
  std::vector<Quantity> invariants() const override;

 private:
  void advance() override;
  void cayley_variational_euler();

  Scheme scheme_;
  Magnet magnet_;
};

// --- rigid bodies, MS 6.1 and 6.2 ----------------------------------------------------------------

/// Solves ωᵀJ - Jω = t m for a rotation ω near 1 by the iteration (i), (ii) of MS 6.2,
/// equation (49).
/// @param sweeps the number of sweeps is added to it
/// @throws NumericalError if it does not converge, as for t |m| of about 1 and more
Matrix solve_rotation(const Vector& alpha, double t, const Matrix& m, std::int64_t& sweeps);

/// Free rigid body in n dimensions, equation (49); q is the rotation, v is m = qᵀp.
class FreeBody : public Dynamics {
 public:
  /// Moser & Veselov 1991, or the classical Runge-Kutta method for q' = q Ω, m' = mΩ - Ωm.
  enum class Scheme { moser_veselov, runge_kutta };
  FreeBody(Scheme scheme, const Vector& alpha, const Matrix& rotation, const Matrix& momentum,
           double t);
  double energy() const override;
  /// Components of the spatial momentum, and tr (m + J²)^k of Manakov 1976.
  std::vector<Quantity> invariants() const override;

 private:
  void advance() override;
  Scheme scheme_;
  Vector alpha_;
  double t_;
};

/// Heavy top in body coordinates, equation (50); q is m (antisymmetric), v the direction of gravity
/// in the body.
class HeavyTop : public Dynamics {
 public:
  /// runge_kutta is the classical method for m' = mΩ - Ωm - c (v χᵀ - χ vᵀ), v' = -Ωv.
  enum class Scheme { rattle, constrained_euler, runge_kutta };
  HeavyTop(Scheme scheme, const Eigen::Vector3d& alpha, const Eigen::Vector3d& chi, double c,
           const Eigen::Matrix3d& momentum, const Eigen::Vector3d& direction, double t);
  /// ¼ tr(I⁻¹(m) mᵀ) + c v·χ
  double energy() const override;
  std::vector<Quantity> invariants() const override;

 private:
  void advance() override;
  void runge_kutta();
  /// v χᵀ - χ vᵀ; it is reused by the next step.
  const Eigen::Matrix3d& torque_over_c();

  Scheme scheme_;
  Vector alpha_;
  Eigen::Vector3d chi_;
  double c_, t_;
  Vector torque_at_;
  Eigen::Matrix3d torque_over_c_;
};

// --- variational integrators, PCSZ ---------------------------------------------------------------

struct Pendula;

/// The one-step method, the standard layer of Patrick, Cuell, Spiteri & Zhang 2009 (PCSZ). rk2 is
/// the explicit midpoint rule.
enum class Layer { euler, rk2, rk4 };

/// PCSZ's symplectic layer without its Stage 4. The state is a point q̄ on the constraints and a
/// tangential momentum μ. A step finds the tangent (q, v) with ∂⁻(q, v) = q̄ and p⁻ = μ, where
///
///     ∂± = P∘R^q at the times h α±,    DL_h = p⁺ D∂⁺ - p⁻ D∂⁻ on T_(q,v)TQ,
///
/// equation (52). P projects along Gᵀ, and L_h is the action computed by the layer R. Then
/// (q̄, μ) ← (∂⁺, p⁺). The order is that of the layer.
/// @param pendula a spherical pendulum or a planar double pendulum
/// @param bias α⁺ = 1 - bias, α⁻ = -bias: 0, or ½, which makes the method self-adjoint
std::unique_ptr<Dynamics> make_variational_of(const Pendula& pendula, Layer layer, double h,
                                              double bias);

}  // namespace tarn::papers
