// Geometric properties of the schemes on rotations: the canonical form of the cotangent bundle, the
// Lie-Poisson bracket, and reversibility.
#include <Eigen/Geometry>

#include "geometry.hpp"
#include "papers/dynamics.hpp"
#include "testing.hpp"

namespace tarn::papers {
namespace {

/// The antisymmetric matrix of the numbers below its diagonal, for n = 3 in the order of vectors:
/// a × b = matrix a times b.
Matrix antisymmetric(const Vector& of, Index n) {
  Matrix m = Matrix::Zero(n, n);
  if (n == 3) {
    m << 0.0, -of[2], of[1], of[2], 0.0, -of[0], -of[1], of[0], 0.0;
    return m;
  }
  Index k = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j, ++k) m(j, i) = -(m(i, j) = of[k]);
  }
  return m;
}

Vector numbers_of(const Matrix& m) {
  const Index n = m.rows();
  if (n == 3) return Eigen::Vector3d(m(2, 1), m(0, 2), m(1, 0));
  Vector of(n * (n - 1) / 2);
  Index k = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) of[k++] = m(i, j);
  }
  return of;
}

/// The Lie-Poisson bracket at m: <m, [E_k, E_l]> with <a, b> = ½ tr(aᵀb), in the basis of
/// antisymmetric().
Matrix bracket(const Matrix& m) {
  const Index n = m.rows(), d = n * (n - 1) / 2;
  Matrix b(d, d);
  for (Index k = 0; k < d; ++k) {
    for (Index l = 0; l < d; ++l) {
      const Matrix e = antisymmetric(Vector::Unit(d, k), n);
      const Matrix f = antisymmetric(Vector::Unit(d, l), n);
      b(k, l) = 0.5 * (m.transpose() * (e * f - f * e)).trace();
    }
  }
  return b;
}

/// The canonical form of the cotangent bundle in left-trivialised coordinates (eta, pi), R exp(eta)
/// and the body momentum pi: dpi_1 . eta_2 - dpi_2 . eta_1 - pi . [eta_1, eta_2].
Matrix form(const Matrix& momentum) {
  const Index n = momentum.rows(), d = n * (n - 1) / 2;
  Matrix w = -canonical_form(d);
  w.topLeftCorner(d, d) = -bracket(momentum);
  return w;
}

/// R cay(eta), which equals R exp(eta) to second order, and the inverse.
Matrix turned(const Matrix& r, const Matrix& eta) {
  const Matrix one = Matrix::Identity(r.rows(), r.rows());
  return r * (one - 0.5 * eta).inverse() * (one + 0.5 * eta);
}
Matrix turn_from(const Matrix& from, const Matrix& to) {
  const Matrix one = Matrix::Identity(from.rows(), from.rows()), c = from.transpose() * to;
  return 2.0 * (c - one) * (c + one).inverse();
}

Matrix some_rotation(Index n) {
  return turned(Matrix::Identity(n, n),
                antisymmetric(Vector::LinSpaced(n * (n - 1) / 2, -0.4, 0.9), n));
}

Vector some_momentum(Index n) { return Vector::LinSpaced(n * (n - 1) / 2, 1.0, -0.6); }

/// Largest entry of Jᵀ form(end) J - form(start) of a step, rotation and momentum to rotation and
/// momentum (numbers).
using OnTheBundle = std::function<std::pair<Matrix, Vector>(const Matrix&, const Vector&)>;
double defect(Index n, const OnTheBundle& step) {
  const Matrix start = some_rotation(n);
  const Vector momentum = some_momentum(n);
  const Index d = momentum.size();
  const auto [end, end_momentum] = step(start, momentum);
  const auto map = [&, &end = end](const Vector& z) {
    const auto [r, m] = step(turned(start, antisymmetric(z.head(d), n)), momentum + z.tail(d));
    return joined(numbers_of(turn_from(end, r)), m);
  };
  const Matrix j = derivative(map, Vector::Zero(2 * d));
  return form_defect(j, form(antisymmetric(end_momentum, n)), form(antisymmetric(momentum, n)));
}

// Sweeps end where angles round, by some 1e-16, and momenta by that over t = 0.1. See derivative():
// over a spacing of 0.01 that is 2.5e-13, and twice that in the form, whose entries are of order
// one.
TEST(MechanicsRotations, MoserVeselovIsSymplectic) {
  for (Index n = 3; n <= 5; ++n) {
    const OnTheBundle step = [&](const Matrix& r, const Vector& m) {
      const auto body = make_free_body({.rotation = list_of(r),
                                        .alpha = list_of(Vector::LinSpaced(n, 0.5, 1.3)),
                                        .momentum = list_of(antisymmetric(m, n))},
                                       {.scheme = "moser-veselov", .step = 0.1});
      body->step();
      return std::pair<Matrix, Vector>(matrix_of(body->q), numbers_of(matrix_of(body->v)));
    };
    EXPECT_LT(defect(n, step), 5e-13) << n;
  }
}

std::unique_ptr<Dynamics> cayley(double h) {
  return make_magnet(paper_magnet(), {.scheme = "cayley-variational-euler", .step = h});
}

// The momentum of the discretisation is Omega (1 + h² |Omega|² / 4); Omega itself is none. A cubic
// equation is solved to rounding: as above.
TEST(MechanicsRotations, CayleyVariationalEulerIsSymplectic) {
  constexpr double kStep = 0.1;
  const auto momentum_of = [](const Vector& w) {
    return Vector(w * (1.0 + 0.25 * kStep * kStep * w.squaredNorm()));
  };
  const auto velocity_of = [](const Vector& m) {
    Vector w = m;
    for (int k = 0; k < 40; ++k) w = m / (1.0 + 0.25 * kStep * kStep * w.squaredNorm());
    return w;
  };
  const auto step = [](const Matrix& r, const Vector& w) {
    const auto method = cayley(kStep);
    method->q = rows_of(r);
    method->v = w;
    method->step();
    return std::pair<Matrix, Vector>(matrix_of(method->q), method->v);
  };
  EXPECT_LT(defect(3,
                   [&](const Matrix& r, const Vector& m) {
                     const auto [end, w] = step(r, velocity_of(m));
                     return std::pair<Matrix, Vector>(end, momentum_of(w));
                   }),
            5e-13);
  EXPECT_GT(defect(3, step), 1e-4) << "not with the velocity as the momentum";
}

const Eigen::Vector3d kHeavy(0.44, 0.5, 1.0), kSlanted(0.0, 0.6, 0.8);

std::unique_ptr<Dynamics> heavy_top(const char* scheme, double h, double c, const Vector& chi,
                                    const Vector& momentum, const Vector& direction) {
  return make_heavy_top({.alpha = list_of(kHeavy),
                         .chi = list_of(chi),
                         .c = c,
                         .momentum = list_of(antisymmetric(momentum, 3)),
                         .direction = list_of(direction)},
                        {.scheme = scheme, .step = h});
}

/// Largest entry of J B(start) Jᵀ - B(end) of a step of (m, v) with the bracket of e(3)*.
double defect_of_top(const std::function<Vector(const Vector&)>& step) {
  const auto bracket_at = [](const Vector& z) {
    Matrix b = Matrix::Zero(6, 6);
    b.topLeftCorner(3, 3) = antisymmetric(z.head(3), 3);
    b.topRightCorner(3, 3) = b.bottomLeftCorner(3, 3) = antisymmetric(z.tail(3), 3);
    return b;
  };
  Vector start(6);
  start << 0.3, -0.5, 0.8, 0.48, 0.6, 0.64;
  const Matrix j = derivative(step, start);
  return (j * bracket_at(start) * j.transpose() - bracket_at(step(start))).cwiseAbs().maxCoeff();
}

// As above.
TEST(MechanicsRotations, HeavyTopIsAPoissonMap) {
  const Eigen::Vector3d alpha(0.44, 0.5, 1.0), chi(0.0, 0.6, 0.8);
  for (const char* scheme : {"rattle", "constrained-euler"}) {
    const auto step = [&](const Vector& z) {
      const auto top = heavy_top(scheme, 0.05, 1.0, chi, z.head(3), z.tail(3));
      top->step();
      return joined(numbers_of(matrix_of(top->q)), top->v);
    };
    EXPECT_LT(defect_of_top(step), 5e-13);
  }
  // Euler's explicit rule for the same equations is none.
  const auto euler = [&](const Vector& z) {
    const Eigen::Vector3d m = z.head(3), v = z.tail(3);
    const Eigen::Vector3d w(m[0] / (alpha[1] + alpha[2]), m[1] / (alpha[2] + alpha[0]),
                            m[2] / (alpha[0] + alpha[1]));
    return joined(m + 0.05 * (m.cross(w) + v.cross(chi)), v + 0.05 * v.cross(w));
  };
  EXPECT_GT(defect_of_top(euler), 1e-4);
}

// --- solutions -----------------------------------------------------------------------------------

std::unique_ptr<Dynamics> some_top(const char* scheme, double h, double c = 1.0) {
  return heavy_top(scheme, h, c, kSlanted, some_momentum(3), Eigen::Vector3d(0.48, 0.6, 0.64));
}

std::unique_ptr<Dynamics> some_body(const char* scheme, Index n, double h) {
  return make_free_body({.rotation = list_of(some_rotation(n)),
                         .alpha = list_of(Vector::LinSpaced(n, 0.5, 1.3)),
                         .momentum = list_of(antisymmetric(some_momentum(n), n))},
                        {.scheme = scheme, .step = h});
}

// Euler's equations with two equal moments: m_1 + i m_2 turns clockwise by the angle
// (1/I_3 - 1/I_1) m_3 t, and so does the body about its axis the other way, and about the spatial
// momentum by |m| t / I_1. Each of n steps errs by (h |rate|)⁵/120 of what turns at that rate: the
// part of the momentum across the axis, and both directions in a plane of the body, hence √2. The
// rest is of the next order in h.
TEST(MechanicsRotations, RungeKuttaTurnsASymmetricBody) {
  const Eigen::Vector3d alpha(0.4, 0.4, 0.9), m(0.6, -0.3, 0.8);
  const Eigen::Vector3d moments(1.3, 1.3, 0.8);  // sums of two of alpha
  const auto body = make_free_body({.rotation = list_of(Matrix::Identity(3, 3)),
                                    .alpha = list_of(alpha),
                                    .momentum = list_of(antisymmetric(m, 3))},
                                   {.scheme = "rk4", .step = 0.01});
  constexpr int kSteps = 200;
  state_after(*body, kSteps);
  const double angle = 2.0 * m[2] * (1.0 / moments[2] - 1.0 / moments[0]);
  const Eigen::AngleAxisd about_axis(angle, Eigen::Vector3d::UnitZ());
  const Eigen::AngleAxisd about_momentum(2.0 * m.norm() / moments[0], m.normalized());
  const auto of_steps = [](double rate) { return kSteps * std::pow(0.01 * rate, 5) / 120.0; };
  const double of_v = of_steps(0.5 * angle) * std::hypot(m[0], m[1]);
  const double of_q = std::sqrt(2.0) * of_steps(m.cwiseQuotient(moments).norm());
  EXPECT_NEAR((numbers_of(matrix_of(body->v)) - about_axis.inverse() * m).norm(), of_v,
              0.01 * of_v);
  EXPECT_NEAR((matrix_of(body->q) - (about_momentum * about_axis).toRotationMatrix()).norm(), of_q,
              0.01 * of_q);
}

// Without weight a top is a free body, whose rotation takes a direction in space to qᵀ of it. With
// weight and one axis it is a pendulum, I θ'' = -c sin θ, of which half a swing from the lowest
// point with the velocity θ' = 2 k √(c/I) takes the time 2 √(I/c) K(k).
TEST(MechanicsRotations, RungeKuttaSwingsATop) {
  const auto light = some_top("rk4", 0.01, 0.0);
  const Vector direction = light->v;
  const auto body = make_free_body({.rotation = list_of(Matrix::Identity(3, 3)),
                                    .alpha = list_of(kHeavy),
                                    .momentum = list_of(antisymmetric(some_momentum(3), 3))},
                                   {.scheme = "rk4", .step = 0.01});
  state_after(*light, 100);
  state_after(*body, 100);
  // Steps of linear equations are the same whatever they turn: to rounding, four stages of nine.
  const double rounded = test::rounding(100, 4 * 9);
  EXPECT_LT((light->q - body->v).norm(), rounded);
  EXPECT_LT((light->v - matrix_of(body->q).transpose() * direction).norm(), rounded);

  const double c = 1.7, moment = kHeavy[1] + kHeavy[2], k = 0.8;
  const double omega = std::sqrt(c / moment), half = 2.0 * std::comp_ellint_1(k) / omega;
  // Steps of a 200th of a quarter are off by 0.3, 2.4 and 0.02 times 1e-9, and by 16 times that
  // where they are twice as long: twice the largest.
  constexpr double kOfSteps = 5e-9;
  const auto pendulum =
      heavy_top("rk4", half / 400, c, Eigen::Vector3d::UnitZ(),
                Eigen::Vector3d(2.0 * k * omega * moment, 0.0, 0.0), -Eigen::Vector3d::UnitZ());
  // A quarter: at the turning point, where sin θ/2 = k. It turns by θ about its first axis, and
  // what hangs down then points to -sin θ of the second.
  state_after(*pendulum, 200);
  const double sine = 2.0 * k * std::sqrt(1.0 - k * k), cosine = 1.0 - 2.0 * k * k;
  EXPECT_LT((pendulum->v - Eigen::Vector3d(0.0, -sine, -cosine)).norm(), kOfSteps);
  state_after(*pendulum, 200);
  EXPECT_LT((pendulum->v + Eigen::Vector3d::UnitZ()).norm(), kOfSteps);
  EXPECT_NEAR(pendulum->q[7], -2.0 * k * omega * moment, kOfSteps);  // m_32
}

// Against classical Runge-Kutta with short steps, whose error is 1e-11. The next term makes orders
// off, twice as much at twice the step for 1 and 4 and four times as much for 2, as measured: by
// 0.0008, 0.00007 and 0.0005 at most for orders 4, 2 and 1.
TEST(MechanicsRotations, AreOfTheirOrderToTheSolution) {
  constexpr double kOff4 = 2e-3, kOff2 = 1.5e-4, kOff1 = 1e-3;
  const auto top = [](const char* scheme) {
    return [=](int steps) { return state_after(*some_top(scheme, 1.0 / steps), steps); };
  };
  const Vector exact = top("rk4")(1000);
  EXPECT_NEAR(order_of(top("rk4"), exact, 40), 4.0, kOff4);
  EXPECT_NEAR(order_of(top("rattle"), exact, 100), 2.0, kOff2);
  EXPECT_NEAR(order_of(top("constrained-euler"), exact, 200), 1.0, kOff1);
  for (Index n = 3; n <= 5; ++n) {
    const auto free = [n](const char* scheme) {
      return [=](int steps) { return state_after(*some_body(scheme, n, 1.0 / steps), steps); };
    };
    const Vector turned = free("rk4")(1000);
    EXPECT_NEAR(order_of(free("rk4"), turned, 40), 4.0, kOff4);
    EXPECT_NEAR(order_of(free("moser-veselov"), turned, 100), 2.0, kOff2);
  }
}

/// Relative change of the state after 100 steps of 0.05 and 100 steps with the opposite sign.
template <class Make>
double reversal_error(const Make& make) {
  auto there = make(0.05), back = make(-0.05);
  const Vector start = joined(there->q, there->v);
  state_after(*there, 100);
  back->q = there->q;
  back->v = there->v;
  return (state_after(*back, 100) - start).norm() / start.norm();
}

// Two hundred steps, with roundings of 1e-16 that a division by t = 0.05, or a penalty of omega =
// 10, makes into some 1e-15.
TEST(MechanicsRotations, ReversibleMethodsStepBack) {
  const auto linearised = [](Quadrature quadrature) {
    return [=](double h) {
      return make_magnet(paper_magnet(), {.scheme = "so3-linearised",
                                          .step = h,
                                          .omega = 10.0,
                                          .beta = 0.4,
                                          .quadrature = quadrature});
    };
  };
  const auto top = [](const char* scheme) { return [=](double h) { return some_top(scheme, h); }; };
  const auto free_body = [](double h) { return some_body("moser-veselov", 4, h); };
  EXPECT_LT(reversal_error(linearised(Quadrature::trapezoidal)), 2e-13);
  EXPECT_LT(reversal_error(free_body), 2e-13);
  EXPECT_LT(reversal_error(top("rattle")), 2e-13);
  EXPECT_GT(reversal_error(linearised(Quadrature::first_order)), 1e-6);
  EXPECT_GT(reversal_error(top("constrained-euler")), 1e-6);
  EXPECT_GT(reversal_error(cayley), 1e-6);
}

}  // namespace
}  // namespace tarn::papers
