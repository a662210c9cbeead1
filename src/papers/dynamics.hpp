#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "systems.hpp"

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
  Dynamics(Vector q_start, Vector v_start) : q(std::move(q_start)), v(std::move(v_start)) {}
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

/// The integrator of a scheme for the magnetised rigid body, TO 4.5. All systems need complete
/// initial data.
///
/// so3-linearised is Z&S on matrices R with the penalty ½ omega² |RᵀR - 1|², equation (46); q is R,
/// v is p = ½ dR/dt. For rotations q is R, v the angular velocity in the body frame:
/// cayley-variational-euler is the variational Euler method with the Cayley map, TO (4.12) and
/// (4.13), equation (47), and rk4 the classical Runge-Kutta method, for reference solutions.
std::unique_ptr<Dynamics> make_magnet(const SystemKeys& system, const IntegratorKeys& integrator);
/// The rotation and angular velocity at the start of TO 4.5.
SystemKeys paper_magnet();

/// Solves ωᵀJ - Jω = t m for a rotation ω near 1 by the iteration (i), (ii) of MS 6.2,
/// equation (49).
/// @param sweeps the number of sweeps is added to it
/// @throws NumericalError if it does not converge, as for t |m| of about 1 and more
Matrix solve_rotation(const Vector& alpha, double t, const Matrix& m, std::int64_t& sweeps);

/// Free rigid body in n dimensions, MS 6.1, equation (49); q is the rotation, v is m = qᵀp.
/// moser-veselov is Moser & Veselov 1991, rk4 the classical Runge-Kutta method for q' = q Ω,
/// m' = mΩ - Ωm.
std::unique_ptr<Dynamics> make_free_body(const SystemKeys& system,
                                         const IntegratorKeys& integrator);

/// Heavy top in body coordinates, MS 6.2, equation (50); q is m (antisymmetric), v the direction of
/// gravity in the body. The schemes are rattle, constrained-euler and rk4, the classical
/// Runge-Kutta method for m' = mΩ - Ωm - c (v χᵀ - χ vᵀ), v' = -Ωv.
std::unique_ptr<Dynamics> make_heavy_top(const SystemKeys& system,
                                         const IntegratorKeys& integrator);

/// The symplectic layer of Patrick, Cuell, Spiteri & Zhang 2009 (PCSZ) without its Stage 4, for
/// pendula: a spherical pendulum or a planar double pendulum. Its standard layer R is a one-step
/// method: variational-of:euler, rk2 (the explicit midpoint rule) or rk4.
///
/// The state is a point q̄ on the constraints and a tangential momentum μ. A step finds the tangent
/// (q, v) with ∂⁻(q, v) = q̄ and p⁻ = μ, where
///
///     ∂± = P∘R^q at the times h α±,    DL_h = p⁺ D∂⁺ - p⁻ D∂⁻ on T_(q,v)TQ,
///
/// equation (52). P projects along Gᵀ, and L_h is the action computed by the layer R. Then
/// (q̄, μ) ← (∂⁺, p⁺). The order is that of the layer. α⁺ = 1 - bias, α⁻ = -bias: 0, or ½, which
/// makes the method self-adjoint.
std::unique_ptr<Dynamics> make_variational_of(const SystemKeys& pendula,
                                              const IntegratorKeys& integrator);

}  // namespace tarn::papers
