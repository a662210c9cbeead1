#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "system.hpp"

/// @file
/// The systems of the papers in R^n. All quantities are dimensionless.

namespace tarn::papers {

/// Constraints on distances between points, or from the origin.
class DistanceConstraint : public Constraint {
 public:
  enum class Form { squared, plain };  ///< |r|² - L², or |r| - L
  struct Bond {
    Index from;  ///< point, or kOrigin
    Index to;
    double length;
  };
  static constexpr Index kOrigin = -1;

  /// @param dimensions of space, 2 or 3; the coordinates of a point are consecutive
  DistanceConstraint(Form form, Index dimensions, std::vector<Bond> bonds);

  Index count() const override { return static_cast<Index>(bonds_.size()); }
  const std::vector<Index>& support(Index i) const override;
  double value(Index i, const Local& x) const override;
  Local gradient(Index i, const Local& x) const override;
  LocalMatrix hessian(Index i, const Local& x) const override;
  Local third_derivative(Index i, const Local& x, const Local& a) const override;
  Sparsity coupling() const override { return {coupling_}; }
  Sparsity coordinate_coupling(Index) const override { return {coordinate_coupling_}; }

 private:
  Local bond(const Local& x) const;
  Local onto_points(const Local& along_bond, Index size) const;

  Form form_;
  Index dimensions_;
  std::vector<Bond> bonds_;
  std::vector<std::vector<Index>> supports_;
  Index coupling_ = 0;
  Index coordinate_coupling_ = 0;
};

/// V = gravity Σ m y, with y the last coordinate of each point; 0: no forces.
class Weight : public MechanicalSystem {
 public:
  Weight(const Vector& point_masses, Index dimensions, double gravity);
  double potential(const Vector& q) const override { return 0.0 + weight_.dot(q); }
  Vector gradient(const Vector&) const override { return weight_; }
  Sparsity sparsity() const override { return {0}; }
  void add_hessian(const Vector&, double, BandMatrix&, Hessian) const override {}
  Vector third_derivative(const Vector& q, const Vector&) const override {
    return Vector::Zero(q.size());
  }

 private:
  Vector weight_;
};

/// Bases of a DNA strand as angles, TO (4.9):
/// V = Σ ½ (θ_{k+1} - θ_k)² + epsilon U(θ_k), U = (exp(-a [1 - cos θ - x0]) - 1)², equation (45).
class Dna : public MechanicalSystem {
 public:
  struct Parameters {
    Index n = 200;
    double a = 7.0;
    double x0 = 0.3;
    double epsilon = 1.0 / 1400.0;
    bool periodic = true;
  };
  explicit Dna(const Parameters& parameters);
  double potential(const Vector& q) const override;
  Vector gradient(const Vector& q) const override;
  Sparsity sparsity() const override { return {1, parameters_.periodic}; }
  void add_hessian(const Vector& q, double factor, BandMatrix& a, Hessian) const override;
  Vector third_derivative(const Vector& q, const Vector& a) const override;

 private:
  struct Well {
    double value, first, second, third;
  };
  /// U and its derivatives.
  Well well(double theta) const;
  Index springs() const { return parameters_.periodic ? size() : size() - 1; }

  Parameters parameters_;
};

/// A system with its constraints, penalty and start.
struct Experiment {
  std::unique_ptr<MechanicalSystem> soft;       ///< V without the penalty
  std::unique_ptr<Constraint> constraint;       ///< null without constraints
  std::unique_ptr<MechanicalSystem> penalised;  ///< V with the penalty; null without constraints
  std::unique_ptr<MechanicalSystem> extra;      ///< owned for `soft`
  std::unique_ptr<Constraint> extra_constraint;
  Vector position;
  Vector velocity;

  /// The system for unconstrained methods.
  const MechanicalSystem& whole() const { return penalised ? *penalised : *soft; }
};

/// A chain of pendula, TO 4.1 and 4.2, equation (44), with V = + gravity Σ m y (TO prints a minus).
struct Pendula {
  Vector masses;
  std::vector<double> lengths;
  double gravity = 1.0;
  Vector position;  ///< x1, y1, x2, y2, ...
  Vector velocity;
};
/// TO 4.1: masses 1, lengths 1 and √2, from (0, -1) and (1, -2) at rest.
Pendula double_pendulum();
/// TO 4.2: masses 1, lengths √5, x_i = i, y_i = -2 i, at rest.
Pendula pendulum_chain(Index n);
/// In the plane or, if the positions have three coordinates, in space, MS 6.3, equation (51); there
/// z is up, and positions and velocities are those of the points, not of the rods.
Experiment make_pendula(const Pendula& pendula, double omega);
/// One rod of length 1 with its end at (0.6, 0, -0.8); and two, the second one along (0, 0.6,
/// -0.8).
Pendula spherical_pendulum();
Pendula double_spherical_pendulum();

/// Start of TO 4.4: θ_k = 0.8 + 0.1 xi_k, θ_k' = cos(4πk/N)/√N, k from 1.
Experiment make_dna(const Dna::Parameters& parameters, const Vector& xi);
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
