#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Dense>

/// @file
/// The keys of decks, and the systems M q'' = -grad V(q) of the papers with constraints g(q) = 0,
/// as the methods use them. All quantities are dimensionless.

namespace tarn::papers {

enum class DnaEnds { periodic, free };
enum class DnaNoise { normal };

/// Empty lists have the values of the paper. Numbers in brackets are equations of
/// docs/equations.md.
struct SystemKeys {
  std::int64_t n = 0;                ///< points or bases; 0: that of the paper
  std::vector<double> masses = {};   ///< of each point (44)
  std::vector<double> lengths = {};  ///< of each rod (44)
  double gravity = 1.0;              ///< V = gravity sum m y, or m z in space (44, 51)
  double a = 7.0;   ///< base pair energy U = (exp(-a [1 - cos theta - x0]) - 1)^2 (45)
  double x0 = 0.3;  ///< minimum of U: 1 - cos theta = x0
  double epsilon = 1.0 / 1400.0;  ///< strength of U relative to the springs between bases (45)
  DnaEnds ends = DnaEnds::periodic;
  DnaNoise noise = DnaNoise::normal;
  std::uint64_t seed = 1;             ///< seed of xi
  std::vector<double> xi = {};        ///< per base, theta = 0.8 + 0.1 xi at the start; empty: drawn
  std::vector<double> position = {};  ///< at the start: x, y (and z) of each point, or angles
  std::vector<double> velocity = {};  ///< at the start, in the same order
  std::optional<double> omega = {};   ///< of the double spring, unless given in [integrator]
  double b_mu = 1.0;                  ///< field times dipole moment, V = b_mu R33 (46, 47)
  std::vector<double> rotation = {};  ///< rotation matrix at the start, row by row
  std::vector<double> angular_velocity = {};  ///< of the magnet in the body frame at the start (47)
  std::vector<double> alpha = {};             ///< diagonal of J of a free body or top (49, 50)
  std::vector<double> chi = {};  ///< top: direction from fixed point to centre of mass (50)
  double c = 1.0;                ///< top: weight times distance, V = c v.chi
  /// Angular momentum in the body frame at the start: antisymmetric matrix, row by row (49, 50).
  std::vector<double> momentum = {};
  std::vector<double> direction =
      {};  ///< top: direction v of gravity in the body frame at the start (50)
};

/// The whole Hessian of V, that of its stiff part, or the latter without second derivatives of
/// constraints, which makes it positive semidefinite. Systems without a stiff part have one
/// Hessian.
enum class Hessian { full, stiff, gauss_newton };
/// The new acceleration in the update of v of the one-step Newmark method: from the Newton step, or
/// from the force at the new position. The latter is unstable for stiff forces.
enum class Acceleration { linearised, force };
/// yoshida4: Yoshida 1990, k = 1. suzuki4: Suzuki 1990, k = 2; no step is longer than h.
enum class Composition { none, yoshida4, suzuki4 };
enum class Quadrature { first_order, trapezoidal };
/// The factor c of a in (c + βh²H) a = -∇V for the magnet: 1 in the paper, ½ where the mass of R
/// is ½.
enum class AMass { paper, consistent };

struct IntegratorKeys {
  std::string scheme = "zs";
  double step = 0.0;                 ///< time step h
  std::optional<double> omega = {};  ///< strength of the penalty, omega^2 |g|^2 / 2
  std::optional<double> beta = {};   ///< scheme parameter of the Newmark family
  Hessian hessian = Hessian::stiff;  ///< of the penalty
  Acceleration acceleration = Acceleration::linearised;
  Composition compose = Composition::none;
  Quadrature quadrature = Quadrature::trapezoidal;
  AMass a_mass = AMass::paper;
  double tolerance = 1e-9;           ///< of g and its rate, for projections (48)
  double relative_tolerance = 1e-6;  ///< of the steps of Dormand & Prince (66)
  std::int64_t projections = 0;      ///< steps of Dormand & Prince that begin with a projection
  double bias = 0.0;                 ///< of variational methods; 0.5: self-adjoint
};

/// Schemes with rigid constraints.
inline bool is_rigid(std::string_view scheme) { return scheme == "shake" || scheme == "rattle"; }

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

// --- the systems of the papers in R^n
// --------------------------------------------------------------

/// A system with its constraints, penalty and start.
struct Experiment {
  std::unique_ptr<MechanicalSystem> soft = {};  ///< V without the penalty
  std::unique_ptr<Constraint> constraint = {};  ///< null without constraints
  std::unique_ptr<MechanicalSystem> penalised =
      {};                                        ///< V with the penalty; null without constraints
  double omega = 1.0;                            ///< strength of the penalty
  std::unique_ptr<MechanicalSystem> extra = {};  ///< owned for `soft`
  std::unique_ptr<Constraint> extra_constraint = {};
  Vector position = {}, velocity = {};

  /// The system for unconstrained methods.
  const MechanicalSystem& whole() const { return penalised ? *penalised : *soft; }
  Equations equations(bool rigid) const {
    return {rigid ? *soft : whole(), constraint.get(), omega, rigid};
  }
};

/// Positions, or velocities, of points relative to their joints, and the inverse.
Vector rods_of(const Vector& points, Index dimensions);
Vector points_of(Vector rods, Index dimensions);

/// Masses, lengths and start of TO 4.1: from (0, -1) and (1, -2) at rest.
SystemKeys double_pendulum();
/// TO 4.2: masses 1, lengths √5, x_i = i, y_i = -2 i, at rest.
SystemKeys pendulum_chain(Index n);
/// One rod of length 1 with its end at (0.6, 0, -0.8); and two, the second one along (0, 0.6,
/// -0.8).
SystemKeys spherical_pendulum();
SystemKeys double_spherical_pendulum();
/// Chains of pendula, TO 4.1 and 4.2, equation (44), with V = + gravity Σ m y (TO prints a minus).
/// In the plane or, if the positions have three coordinates, in space, MS 6.3, equation (51); there
/// z is up, and the given positions and velocities are those of the rods.
Experiment make_pendula(const SystemKeys& pendula, double omega);

/// Bases of a DNA strand as angles, TO (4.9):
/// V = Σ ½ (θ_{k+1} - θ_k)² + epsilon U(θ_k), U = (exp(-a [1 - cos θ - x0]) - 1)², equation (45),
/// from the start of TO 4.4: θ_k = 0.8 + 0.1 xi_k, θ_k' = cos(4πk/N)/√N, k from 1.
/// @param keys with their `n`
Experiment make_dna(const SystemKeys& keys, const Vector& xi);
/// Standard normal random numbers for a seed.
Vector standard_normals(std::uint64_t seed, Index count);

/// Planar double spring of AST 5.1: masses 1, g = r - 1 for each spring, no gravity; the start is
/// AST (29)-(30).
Experiment make_double_spring(double omega);

/// Three points in the plane for tests of methods: masses 1, 1.7, 0.6; bonds 1-2 and 2-3 of length
/// 1 as constraints |r|² - 1; between 1 and 3 the potential ½ (|r| - 1.2)². It starts on the
/// constraints at (0, 0), (1, 0), (1, 1), with linear and angular momentum.
Experiment make_three_body_plane(double omega);

}  // namespace tarn::papers
