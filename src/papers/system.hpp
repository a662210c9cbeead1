#pragma once

#include <vector>

#include "band_matrix.hpp"

/// @file
/// Systems M q'' = -grad V(q) and constraints g(q) = 0, as the methods use them.

namespace tarn::papers {

/// The whole Hessian of V, that of its stiff part, or the latter without second derivatives of
/// constraints, which makes it positive semidefinite. Systems without a stiff part have one
/// Hessian.
enum class Hessian { full, stiff, gauss_newton };

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
  /// a += factor * G(left) M⁻¹ G(right)ᵀ with diagonal masses
  void add_gram(const Vector& left, const Vector& right, const Vector& masses, double factor,
                BandMatrix& a) const;
  Local at(Index i, const Vector& q) const;
};

/// V + ½ omega² |g|², equation (42). The penalty is the stiff part of the system.
class Penalised : public MechanicalSystem {
 public:
  /// Both must outlive this.
  Penalised(const MechanicalSystem& soft, const Constraint& constraint, double omega);

  double potential(const Vector& q) const override;
  Vector gradient(const Vector& q) const override;
  Sparsity sparsity() const override;
  void add_hessian(const Vector& q, double factor, BandMatrix& a, Hessian kind) const override;
  Vector third_derivative(const Vector& q, const Vector& a) const override;

 private:
  const MechanicalSystem& soft_;
  const Constraint& constraint_;
  double omega2_;
};

}  // namespace tarn::papers
