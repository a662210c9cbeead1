#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "keys.hpp"

/// @file
/// Systems M q'' = -grad V(q) and constraints g(q) = 0, as the methods use them.

namespace tarn::papers {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

inline Vector vector_of(const std::vector<double>& values) {
  return Vector::Map(values.data(), static_cast<Index>(values.size()));
}

/// The largest absolute value.
inline double size_of(const Vector& v) { return v.lpNorm<Eigen::Infinity>(); }

/// The entries of a square matrix that may differ from zero.
struct Sparsity {
  Index half_bandwidth;  ///< |i - j| of the outermost entries; size - 1 for a dense matrix
  bool cyclic = false;   ///< the corners too; requires half_bandwidth = 1
};
inline Sparsity dense(Index size) { return {size - 1}; }

/// A square matrix with a solver for its structure: Eigen's LU if dense, LU with row exchanges in
/// O(n) if banded, and in addition the formula of Sherman & Morrison 1950 if cyclic. Matrices of
/// linearly implicit methods may be indefinite, so Cholesky factorisation is not used.
class BandMatrix {
 public:
  /// A zero matrix.
  /// @throws std::logic_error for a cyclic band that is not tridiagonal or has fewer than four rows
  BandMatrix(Index size, Sparsity sparsity);

  /// Adds to an entry. @throws std::logic_error outside the sparsity
  void add(Index row, Index column, double value);
  Matrix to_dense() const;
  /// Solves A x = b. The result is not finite if A is singular.
  Vector solve(const Vector& b) const;

 private:
  /// Where an entry is stored, or null.
  double* entry(Index row, Index column);

  Index size_, half_;
  bool cyclic_, dense_;
  Matrix a_;  ///< dense: as usual; otherwise column i holds row i, entry (i, j) at j - i + half
  double top_right_ = 0.0, bottom_left_ = 0.0;
};

/// Points or angles with diagonal masses in a potential. Vectors have size() dimensionless numbers.
/// Derived systems override the functions that the methods in use call: Verlet and methods with
/// constraints need the gradient, linearly implicit ones the Hessian, Zs the third derivative.
class MechanicalSystem {
 public:
  /// @param masses one per coordinate, above 0
  explicit MechanicalSystem(Vector masses) : masses_(std::move(masses)) {}
  virtual ~MechanicalSystem() = default;

  Index size() const { return masses_.size(); }
  const Vector& masses() const { return masses_; }
  Vector mass_times(const Vector& v) const { return masses_.cwiseProduct(v); }
  Vector mass_solve(const Vector& p) const { return p.cwiseQuotient(masses_); }
  double kinetic(const Vector& v) const { return 0.5 * v.dot(mass_times(v)); }
  /// -M⁻¹ grad V.
  Vector acceleration(const Vector& q) const { return mass_solve(-gradient(q)); }

  virtual double potential(const Vector& q) const = 0;
  virtual Vector gradient(const Vector& q) const = 0;
  /// The sparsity of the Hessian.
  virtual Sparsity sparsity() const { return dense(size()); }
  /// a += factor * Hess V(q)
  virtual void add_hessian(const Vector& q, double factor, BandMatrix& a, Hessian kind) const = 0;
  /// V‴(q)[a, a]: the gradient of aᵀ Hess V(q) a over q.
  virtual Vector third_derivative(const Vector& q, const Vector& a) const = 0;

  /// M + c Hess V(q)
  BandMatrix shifted_mass(const Vector& q, double c, Hessian kind = Hessian::full) const;

 private:
  Vector masses_;
};

inline constexpr int kMostCoordinates = 6;
/// Values at the coordinates that one constraint depends on.
using Local = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostCoordinates, 1>;
using LocalMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostCoordinates, kMostCoordinates>;

/// Functions g_i(q) of a few coordinates each, with their derivatives. Arguments x and a are the
/// values at support(i), in its order; returned vectors and matrices have the same order.
class Constraint {
 public:
  virtual ~Constraint() = default;

  virtual Index count() const = 0;
  /// The coordinates that g_i depends on, at most kMostCoordinates; i from 0 to count() - 1.
  virtual const std::vector<Index>& support(Index i) const = 0;
  virtual double value(Index i, const Local& x) const = 0;
  virtual Local gradient(Index i, const Local& x) const = 0;
  virtual LocalMatrix hessian(Index i, const Local& x) const = 0;
  /// The gradient of aᵀ Hess g_i(x) a over x.
  virtual Local third_derivative(Index i, const Local& x, const Local& a) const = 0;
  /// The sparsity of G Gᵀ, and of Gᵀ G for `size` coordinates.
  virtual Sparsity coupling() const { return dense(count()); }
  virtual Sparsity coordinate_coupling(Index size) const { return dense(size); }

  Vector values(const Vector& q) const;
  /// G(q) v
  Vector rates(const Vector& q, const Vector& v) const;
  /// G(q)ᵀ lambda
  Vector forces(const Vector& q, const Vector& lambda) const;
  /// vᵀ Hess g_i(q) v
  Vector curvatures(const Vector& q, const Vector& v) const;
  /// Σ w_i Hess g_i(q) u
  Vector hessian_times(const Vector& q, const Vector& w, const Vector& u) const;
  /// Σ w_i g_i‴(q)[v, v]
  Vector third_derivatives(const Vector& q, const Vector& w, const Vector& v) const;
  /// factor * G(left) M⁻¹ G(right)ᵀ with diagonal masses
  BandMatrix gram(const Vector& left, const Vector& right, const Vector& masses,
                  double factor = 1.0) const;
  Local at(Index i, const Vector& q) const;
};

/// V + ½ omega² |g|², equation (42). The penalty is the stiff part of the system.
class Penalised : public MechanicalSystem {
 public:
  /// Both must outlive this.
  Penalised(const MechanicalSystem& soft, const Constraint& constraint, double omega)
      : MechanicalSystem(soft.masses()),
        soft_(soft),
        constraint_(constraint),
        omega2_(omega * omega) {}

  double potential(const Vector& q) const override {
    return soft_.potential(q) + 0.5 * omega2_ * constraint_.values(q).squaredNorm();
  }
  Vector gradient(const Vector& q) const override {
    return soft_.gradient(q) + constraint_.forces(q, omega2_ * constraint_.values(q));
  }
  Sparsity sparsity() const override;
  void add_hessian(const Vector& q, double factor, BandMatrix& a, Hessian kind) const override;
  Vector third_derivative(const Vector& q, const Vector& a) const override;

 private:
  const MechanicalSystem& soft_;
  const Constraint& constraint_;
  double omega2_;
};

/// The equations that a method integrates. The system and the constraint must outlive them.
struct Equations {
  const MechanicalSystem& system;  ///< V with the penalty; without it if the constraint is rigid
  const Constraint* constraint = nullptr;
  double omega = 0.0;  ///< strength of the penalty
  bool is_rigid = false;
};

/// Evaluations by the start and all steps so far. Those that a method reuses in its next step count
/// once.
struct Costs {
  std::int64_t steps = 0;
  /// Gradients of V; for systems on manifolds right-hand sides or torques.
  std::int64_t forces = 0;
  /// Hessians of V or its stiff part; for variational methods derivatives of right-hand sides.
  std::int64_t hessians = 0;
  std::int64_t third_derivatives = 0;  ///< V‴[a, a]
  std::int64_t linear_solves = 0;
  /// Iterations of Newton's method, of sweeps, or of projections onto the slow manifold.
  std::int64_t iterations = 0;
};

/// A step of the classical Runge-Kutta method for x' and v' = rates(x, v).
/// @param first rates(x, v) at the start of the step
/// @param rates (x, v) -> pair of X and V
template <class X, class V, class Rates>
void runge_kutta_step(double h, const std::pair<X, V>& first, const Rates& rates, X& x, V& v) {
  const auto stage = [&](double length, const std::pair<X, V>& d) {
    return rates(X(x + length * d.first), V(v + length * d.second));
  };
  const std::pair<X, V> second = stage(0.5 * h, first);
  const std::pair<X, V> third = stage(0.5 * h, second);
  const std::pair<X, V> fourth = stage(h, third);
  x += h / 6.0 * (first.first + 2.0 * second.first + 2.0 * third.first + fourth.first);
  v += h / 6.0 * (first.second + 2.0 * second.second + 2.0 * third.second + fourth.second);
}

}  // namespace tarn::papers
