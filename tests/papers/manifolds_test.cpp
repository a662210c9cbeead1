// Systems on manifolds: the magnetised body of TO 4.5, the rigid bodies and the double spherical
// pendulum of MS, the variational methods of PCSZ.
#include <Eigen/Geometry>

#include "geometry.hpp"
#include "papers/dynamics.hpp"
#include "papers/systems.hpp"
#include "testing.hpp"

namespace tarn::papers {
namespace {

double invariant(const Dynamics& d, const std::string& name) {
  for (const Quantity& i : d.invariants()) {
    if (i.name == name) return i.value;
  }
  ADD_FAILURE() << name;
  return NAN;
}

/// Largest change of the energy or an invariant over some steps.
double change_of(Dynamics& d, int steps, const std::string& name) {
  const auto value = [&] { return name == "energy" ? d.energy() : invariant(d, name); };
  const double start = value();
  double worst = 0.0;
  for (int k = 0; k < steps; ++k) {
    d.step();
    worst = std::max(worst, std::abs(value() - start));
  }
  return worst;
}

bool keeps(const Dynamics& d, const std::string& name) {
  const std::vector<Quantity> kept = d.invariants();
  return std::any_of(kept.begin(), kept.end(), [&](const Quantity& i) { return i.name == name; });
}

using test::kEpsilon;
using test::rounding;

// --- TO 4.5 --------------------------------------------------------------------------------------

using Q = Quadrature;
using A = AMass;

constexpr const char *kCayley = "cayley-variational-euler", *kRungeKutta = "rk4";

std::unique_ptr<Dynamics> linearised(Q quadrature, A a_mass, double h = 0.1) {
  return make_magnet(paper_magnet(), {.scheme = "so3-linearised",
                                      .step = h,
                                      .omega = 10.0,
                                      .beta = 0.4,
                                      .quadrature = quadrature,
                                      .a_mass = a_mass});
}
std::unique_ptr<Dynamics> rotating(const char* scheme, double h = 0.1) {
  return make_magnet(paper_magnet(), {.scheme = scheme, .step = h});
}

/// Calls f with the linearised method of each kind.
void for_linearised(const std::function<void(Dynamics&)>& f) {
  for (const Q quadrature : {Q::first_order, Q::trapezoidal}) {
    for (const A a_mass : {A::paper, A::consistent}) f(*linearised(quadrature, a_mass));
  }
}

struct MagnetRow {
  const char* name;
  std::unique_ptr<Dynamics> method;
  double to_ten, to_fifty, energy, rotation;
};

// The reference's error is some 1e-9: Runge-Kutta steps of 2e-3. All figures to half of the last
// digit, or of the third decimal. Without a penalty, products round 27 times a step.
TEST(MechanicsMagnet, ErrorsOfEachMethod) {
  const MagnetRow rows[] = {
      {"trapezoidal", linearised(Q::trapezoidal, A::paper), .299, 1.40, .064, .0536},
      {"consistent", linearised(Q::trapezoidal, A::consistent), .517, 2.12, .225, .083},
      {"first order", linearised(Q::first_order, A::paper), .299, 1.40, .165, .0585},
      {"cayley", rotating(kCayley), .194, .94, .110, 0.0}};
  for (const MagnetRow& row : rows) {
    Dynamics& method = *row.method;
    const auto exact = rotating(kRungeKutta, 2e-3);
    const double start = method.energy();
    double to_ten = 0.0, to_fifty = 0.0, energy = 0.0, rotation = 0.0;
    for (int k = 1; k <= 500; ++k) {
      method.step();
      state_after(*exact, 50);
      const double error = (method.q - exact->q).norm();
      if (k <= 100) to_ten = std::max(to_ten, error);
      to_fifty = std::max(to_fifty, error);
      energy = std::max(energy, std::abs(method.energy() - start));
      rotation = std::max(rotation, invariant(method, "rotation_error"));
    }
    EXPECT_NEAR(to_ten, row.to_ten, 0.5e-3) << row.name;
    EXPECT_NEAR(to_fifty, row.to_fifty, 0.5e-2) << row.name;
    EXPECT_NEAR(energy, row.energy, 0.5e-3) << row.name;
    if (row.rotation > 0.0) {
      EXPECT_NEAR(rotation, row.rotation, 0.5e-3) << row.name;
    } else {
      EXPECT_LT(rotation, rounding(500, 27)) << row.name;
    }
  }
}

// Each step rounds nine positions and nine velocities, of order one: 2.8e-14. The worst that was
// measured is 2.6e-15, as most of the entries are well below one.
TEST(MechanicsMagnet, KeepsMomenta) {
  const double tolerance = rounding(500, 18);
  for (const char* name : {"spatial_jz", "body_j3"}) {
    for_linearised(
        [&](Dynamics& method) { EXPECT_LT(change_of(method, 500, name), tolerance) << name; });
    EXPECT_LT(change_of(*rotating(kCayley), 500, name), tolerance) << name;
  }
}

/// A step as a map of (q, v), which have the same length.
auto step_of(Dynamics& method) {
  return [&](const Vector& z) {
    method.q = z.head(z.size() / 2);
    method.v = z.tail(z.size() / 2);
    return state_after(method, 1);
  };
}

// On lengths of 1/omega = 0.1, so that the differences are spaced by 2e-3. With weights that add up
// to 2.5 that makes two roundings of numbers of order one 2.8e-13, and in the form it is twice that
// times the rows of J, which add up to 18.
TEST(MechanicsMagnet, IsSymplectic) {
  for_linearised([](Dynamics& method) {
    method.step();
    const Matrix j = derivative(step_of(method), joined(method.q, method.v), 2e-3);
    EXPECT_LT(form_defect(j, canonical_form(9), canonical_form(9)), 1e-11);
  });
}

// A kick is symplectic where the force has a symmetric derivative. The paper prints
// a + 2 omega² β²h⁴ (aᵀa Rᵀ + aᵀR aᵀ + Rᵀa aᵀ), whose derivative is not symmetric.
TEST(MechanicsMagnet, PrintedForceIsNoGradient) {
  const double omega2 = 100.0, weight = 0.4 * 0.01;
  constexpr double kStep = 0.1;
  const auto method = linearised(Q::first_order, A::paper, kStep);
  using M = Eigen::Matrix3d;
  const auto matrix = [](const Vector& z) { return M(M::Map(z.data())); };
  const auto flat = [](const M& m) { return Vector(Vector::Map(m.data(), 9)); };
  const auto printed = [&](const Vector& z) {
    const M r = matrix(z), i = M::Identity();
    M gradient = 2.0 * omega2 * r * (r.transpose() * r - i);
    gradient(2, 2) += 1.0;
    Matrix system(9, 9);
    for (Index k = 0; k < 9; ++k) {
      const M a = matrix(Vector::Unit(9, k));
      system.col(k) =
          flat(a + weight * 2.0 * omega2 *
                       (a * r.transpose() * r + r * a.transpose() * r + r * r.transpose() * a - a));
    }
    const M a = matrix(system.partialPivLu().solve(-flat(gradient)));
    const M t = a.transpose(), s = r.transpose();
    return flat(a + 2.0 * omega2 * weight * weight * (t * a * s + t * r * t + s * a * t));
  };
  // The kick of a step from rest, over its length. The state has rows, z has columns.
  const auto ours = [&](const Vector& z) {
    method->q = rows_of(matrix(z));
    method->v = Vector::Zero(9);
    method->step();
    return flat(matrix_of<M>(method->v) / kStep);
  };
  // Off the rotations by some 0.03, as along a run.
  const Vector at = flat(M(Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized()))) +
                    0.03 * standard_normals(1, 9);
  const auto asymmetry = [&](const auto& force) {
    const Matrix j = derivative(force, at, 2e-3);
    return (j - j.transpose()).cwiseAbs().maxCoeff();
  };
  // Forces of 1e2, of some ten roundings after a solve, over 2e-3 with weights that add up to 2.5.
  EXPECT_LT(asymmetry(ours), 10.0 * 1e2 * kEpsilon * 2.5 / 2e-3);
  EXPECT_GT(asymmetry(printed), 1e-3);
}

/// log2 of the ratio of errors at t = 1 with that many and twice as many steps, of a method that is
/// its own reference with 64 times as many: less what the reference's error adds for that order.
double order_at_one(double order, int steps,
                    const std::function<std::unique_ptr<Dynamics>(double)>& make) {
  const auto at_one = [&](int n) { return state_after(*make(1.0 / n), n); };
  const double coarse = 1.0, fine = std::exp2(-order), of_reference = std::exp2(-6.0 * order);
  return order_of(at_one, at_one(64 * steps), steps) -
         std::log2((coarse - of_reference) / (fine - of_reference)) + order;
}

// Twice what the next term makes of the orders below: 0.007 to 0.012 of order 1, and half of that
// at half the step; 0.0004 to 0.0025 of order 2, and a fourth of that.
constexpr double kFirst = 0.025, kSecond = 0.005;

TEST(MechanicsMagnet, OrdersOfTheMethods) {
  const auto linear = [](Q quadrature, A a_mass) {
    return [=](double h) { return linearised(quadrature, a_mass, h); };
  };
  EXPECT_NEAR(order_at_one(1.0, 400, linear(Q::first_order, A::paper)), 1.0, kFirst);
  EXPECT_NEAR(order_at_one(2.0, 400, linear(Q::trapezoidal, A::paper)), 2.0, kSecond);
  EXPECT_NEAR(order_at_one(2.0, 400, linear(Q::trapezoidal, A::consistent)), 2.0, kSecond);
  EXPECT_NEAR(order_at_one(1.0, 100, [](double h) { return rotating(kCayley, h); }), 1.0, kFirst);
}

/// Without a field R = exp(t Ω) for the constant angular velocity w. The quadrature of R' is then
/// R+ = (1 + hΩ + ... + (hΩ)⁴/24) R, with the error (h|w|)⁵/120 a step in the plane that turns.
TEST(MechanicsMagnet, RungeKuttaTurnsFreely) {
  SystemKeys magnet = paper_magnet();
  magnet.b_mu = 0.0;
  constexpr double kStep = 0.05;
  const auto body = make_magnet(magnet, {.scheme = kRungeKutta, .step = kStep});
  constexpr int kSteps = 40;
  for (int k = 0; k < kSteps; ++k) body->step();
  EXPECT_EQ(body->costs().steps, kSteps);
  const Eigen::Vector3d velocity = vector_of(magnet.angular_velocity);
  EXPECT_EQ((body->v - velocity).norm(), 0.0);
  const double w = velocity.norm();
  const Eigen::AngleAxisd exact(kSteps * kStep * w, velocity / w);
  const double error = (body->q - rows_of(exact.matrix())).norm();
  // Of both directions in that plane, hence √2; the next term is smaller by h|w|/6.
  const double expected = std::sqrt(2.0) * kSteps * std::pow(kStep * w, 5) / 120.0;
  EXPECT_NEAR(error, expected, kStep * w / 6.0 * expected);
}

/// What the field leaves changes by O(h⁴): a factor of sixteen, up to O(h).
TEST(MechanicsMagnet, RungeKuttaConservesToFourthOrder) {
  const auto change = [](double h, const char* name) {
    return change_of(*rotating(kRungeKutta, h), static_cast<int>(std::lround(10.0 / h)), name);
  };
  for (const char* name : {"energy", "spatial_jz", "rotation_error"}) {
    const double order = std::log2(change(0.05, name) / change(0.025, name));
    EXPECT_GT(order, 3.8) << name;
    EXPECT_LT(order, 5.2) << name;  // 5 where terms of the error rotate and cancel
  }
}

// --- MS 6.1 and 6.2 ------------------------------------------------------------------------------

Matrix some_momentum(Index n) {
  Matrix m = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) {
      m(i, j) = std::cos(static_cast<double>(i + 1 + 2 * (j + 1)));
      m(j, i) = -m(i, j);
    }
  }
  return m;
}

std::unique_ptr<Dynamics> some_body(Index n, double t) {
  return make_free_body({.rotation = list_of(Matrix::Identity(n, n)),
                         .alpha = list_of(Vector::LinSpaced(n, 0.5, 1.3)),
                         .momentum = list_of(some_momentum(n))},
                        {.scheme = "moser-veselov", .step = t});
}

// m+ = w m wT, where w is orthogonal to some 4 n roundings, much the same in each step: a matrix of
// products drifts by as much a step, and m by as much of itself. To first order in this drift d,
// the energy (of order two in m) and r m rT change by 2 d of themselves, and tr S^k of S = m +
// alpha^2 by k tr(S^(k-1) dm) with |dm| = d |m|. The worst measured are 0.75 of the tolerance for
// the rotation, and 0.1 of it for energy and r m rT; bounds by norms are wide for traces of powers.
TEST(MechanicsFreeBody, KeepsItsIntegrals) {
  constexpr int kSteps = 5000;
  for (Index n = 3; n <= 5; ++n) {
    const auto body = some_body(n, 0.1);
    const double energy = body->energy(), size = body->v.norm();
    const double drift = kSteps * 4.0 * static_cast<double>(n) * kEpsilon;
    const Matrix sum =
        some_momentum(n) + Matrix(Vector::LinSpaced(n, 0.5, 1.3).cwiseAbs2().asDiagonal());
    const double largest = Eigen::JacobiSVD<Matrix>(sum).singularValues()[0];
    const auto tolerance = [&](const std::string& name) {
      if (name == "rotation_error") return drift;
      if (!name.starts_with("manakov")) return 2.0 * drift * size;
      const int k = name.back() - '0';
      return drift * k * std::sqrt(n) * size * std::pow(largest, k - 1);
    };
    const auto start = body->invariants();
    state_after(*body, kSteps);
    EXPECT_NEAR(body->energy(), energy, 2.0 * drift * energy) << n;
    const auto end = body->invariants();
    for (std::size_t i = 0; i < start.size(); ++i) {
      EXPECT_NEAR(end[i].value, start[i].value, tolerance(start[i].name)) << n << start[i].name;
    }
  }
}

// Eleven sweeps where the step times the length of the momentum's vector is 0.1, or one more or
// less where the last change rounds otherwise; over a hundred where it is 1.
TEST(MechanicsFreeBody, SweepsGrowWithTheStep) {
  const Vector alpha = Eigen::Vector3d(0.44, 0.5, 1.0);
  const Matrix m = std::numbers::sqrt2 * some_momentum(3) / some_momentum(3).norm();
  std::int64_t few = 0, many = 0;
  solve_rotation(alpha, 0.1, m, few);
  EXPECT_NEAR(static_cast<double>(few), 11.0, 1.0);
  solve_rotation(alpha, 1.0, m, many);
  EXPECT_GT(many, 100);
  EXPECT_LT(many, 1000);
  std::int64_t sweeps = 0;
  EXPECT_THROW(solve_rotation(alpha, 10.0, m, sweeps), NumericalError);
}

std::unique_ptr<Dynamics> some_top(const char* scheme, double t, const Eigen::Vector3d& alpha,
                                   const std::vector<double>& chi = {0.0, 0.0, 1.0}) {
  // On H = 1 with m·v = 0 and v3 = 0.
  Eigen::Matrix3d m = Eigen::Matrix3d::Zero();
  m(1, 2) = -1.0;
  m(0, 1) = std::sqrt(2.0 * (alpha[0] + alpha[1]) * (1.0 - 0.5 / (alpha[1] + alpha[2])));
  m(2, 1) = -m(1, 2);
  m(1, 0) = -m(0, 1);
  return make_heavy_top(
      {.alpha = list_of(alpha), .chi = chi, .momentum = list_of(m), .direction = {0.0, 1.0, 0.0}},
      {.scheme = scheme, .step = t});
}

const Eigen::Vector3d kHeavy(0.44, 0.5, 1.0);

TEST(MechanicsHeavyTop, EnergyStaysAndScalesAsTheSquareOfTheStep) {
  const auto energy_error = [](const char* scheme, double t, int steps) {
    const auto top = some_top(scheme, t, kHeavy);
    EXPECT_NEAR(top->energy(), 1.0, 8.0 * kEpsilon);  // operations
    return change_of(*top, steps, "energy");
  };
  const double whole = energy_error("rattle", 0.05, 60000);
  EXPECT_LT(whole, 1.1 * energy_error("rattle", 0.05, 30000));
  // The next term: measured are 0.004 at twice the step and 0.001 here.
  EXPECT_NEAR(std::log2(whole / energy_error("rattle", 0.025, 60000)), 2.0, 0.002);
  const double first_order = energy_error("constrained-euler", 0.05, 60000);
  // The paper says "about 40 times"; docs/methods.md says 32, which is held to its two digits.
  EXPECT_NEAR(first_order / whole, 32.0, 0.5);
}

// v+ = w v takes 15 roundings a step of numbers up to one; m+ is a difference of nine products over
// t, which makes roundings of 1/t. With two equal moments and chi along the third axis m12 is no
// more than turned into a12 = -t m12 / 0.88 and back: a few roundings that do not add up. Measured:
// 4e-14 of 2.7e-13, 2.5e-13 of 4.3e-12, and one rounding.
TEST(MechanicsHeavyTop, KeepsItsCasimirs) {
  const auto top = [] { return some_top("rattle", 0.05, kHeavy); };
  const auto c = top();
  EXPECT_LT(change_of(*top(), 60000, "direction_norm2"), rounding(60000, 15));
  EXPECT_LT(change_of(*top(), 60000, "momentum_dot_direction"), rounding(60000, 9, 1.0 / 0.05));
  // It changes by order one where nothing keeps it, and is then not told among what is kept.
  const double at_start = c->q[1];
  for (int k = 0; k < 6000; ++k) c->step();
  EXPECT_GT(std::abs(c->q[1] - at_start), 1e-3);
  EXPECT_FALSE(keeps(*c, "m12"));
  // Nor where the weight is off the axis of two equal moments.
  EXPECT_FALSE(keeps(*some_top("rattle", 0.05, {0.44, 0.44, 1.0}, {1.0, 0.0, 0.0}), "m12"));
  const auto lagrange = some_top("rattle", 0.05, {0.44, 0.44, 1.0});
  EXPECT_LT(change_of(*lagrange, 60000, "m12"), 8.0 * kEpsilon * invariant(*lagrange, "m12"));
}

// --- MS 6.3 --------------------------------------------------------------------------------------

/// A method with rigid constraints.
std::unique_ptr<Method> rigid(const Experiment& p, const char* scheme, double h) {
  return make_method({.scheme = scheme, .step = h}, p.equations(true));
}

/// The order of positions at t = 2 from 100 and 200 steps.
double order_at_two(const Experiment& p, const char* scheme) {
  const auto at_end = [&](int steps) {
    return advanced(*rigid(p, scheme, 2.0 / steps), p.position, p.velocity, steps).x;
  };
  return order_of(at_end, at_end(6400), 100);
}

/// How far a state is off the constraints.
double off(const Experiment& p, const Vector& x) {
  return p.constraint->values(x).lpNorm<Eigen::Infinity>();
}

// Newton's method converges to rounding: coordinates up to 2 round by 2.2e-16, which is 2e-15 in
// squares of lengths up to 1.5, whose sums round by as much. L_z is kept but for the roundings of
// six positions and velocities a step, up to 2. Measured: 1.1e-15 and 2e-15; the latter is far from
// 9e-14, since most roundings are of smaller numbers and the constraints take off a part of them.
// For kSecond, the reference of 1/32 of the finer step adds 0.001, and the next term 0.0005.
TEST(MechanicsDoubleSpherical, RattleConservesTheInvariants) {
  const Experiment p = make_pendula(double_spherical_pendulum(), 1.0);
  const auto method = rigid(p, "rattle", 0.05);
  const double lz = angular_momentum_z(*p.soft, p.position, p.velocity, 3);
  const auto observed = [&](const State& s) {
    EXPECT_NEAR(angular_momentum_z(*p.soft, s.x, s.v, 3), lz, rounding(2000, 12, 2.0));
    return off(p, s.x);
  };
  EXPECT_LT(largest_in(p, *method, 2000, observed), 4e-15);
  EXPECT_NEAR(order_at_two(p, "rattle"), 2.0, kSecond);
}

// No formula says how far it is off until t = 100; a method that keeps the constraints is 1e-15
// off, and one that loses them (Hamilton's equations, below) 1e-2 at t = 4.
TEST(MechanicsDoubleSpherical, MidpointLeavesTheConstraints) {
  const Experiment p = make_pendula(double_spherical_pendulum(), 1.0);
  const auto method = rigid(p, "midpoint", 0.05);
  const double drift = largest_in(p, *method, 2000, [&](const State& s) { return off(p, s.x); });
  EXPECT_NEAR(drift, 1.8e-3, 0.5e-4);  // half of the last digit
  EXPECT_NEAR(order_at_two(p, "midpoint"), 2.0, kSecond);
}

// Both are made of what turns with the axis, and the rule is its own adjoint. A hundred steps of
// six positions and velocities up to 2, and as many back, over which what was rounded grows up to
// tenfold.
TEST(MechanicsDoubleSpherical, MidpointKeepsMomentumAndStepsBack) {
  const Experiment p = make_pendula(double_spherical_pendulum(), 1.0);
  for (const char* scheme : {"midpoint", "midpoint-hamilton"}) {
    const auto method = rigid(p, scheme, 0.02);
    const State s = advanced(*method, p.position, p.velocity, 100);
    const auto momentum = [&](const Vector& x, const Vector& v) {
      return angular_momentum_z(*p.soft, x, v, 3);
    };
    EXPECT_NEAR(momentum(s.x, s.v), momentum(p.position, p.velocity), rounding(100, 12, 2.0));
    EXPECT_LT(reversal_error(*method, p.position, p.velocity, 100), 10.0 * rounding(200, 12, 2.0));
  }
}

// Hamilton's equations of the same motion are those of MS 6.3: symplectic in all of the space, of
// order 2, and what the rule leaves the constraints by grows, as h² at fixed time, until it is
// lost. The next term makes the orders off by 0.0025 at most, and by four times that at twice the
// step.
TEST(MechanicsDoubleSpherical, MidpointOfHamiltonDriftsOff) {
  for (const double gravity : {0.0, 1.0}) {
    SystemKeys pendula = double_spherical_pendulum();
    pendula.gravity = gravity;
    const Experiment p = make_pendula(pendula, 1.0);
    const auto at = [&](double time, double h) {
      return advanced(*rigid(p, "midpoint-hamilton", h), p.position, p.velocity,
                      std::lround(time / h))
          .x;
    };
    const auto off_at = [&](double time, double h) { return off(p, at(time, h)); };
    const Vector exact = advanced(*rigid(p, "rattle", 1e-4), p.position, p.velocity, 10'000).x;
    EXPECT_NEAR(std::log2((at(1.0, 0.02) - exact).norm() / (at(1.0, 0.01) - exact).norm()), 2.0,
                kSecond);
    EXPECT_NEAR(std::log2(off_at(2.0, 0.02) / off_at(2.0, 0.01)), 2.0, kSecond);
    // Newton's equations stay within 5e-4 to t = 100, above.
    if (gravity == 0.0) {
      EXPECT_GT(off_at(4.0, 0.05), 5.0 * off_at(2.0, 0.05));
      EXPECT_GT(off_at(4.0, 0.05), 1e-2);
      EXPECT_THROW(off_at(10.0, 0.05), NumericalError);
    }
    // Off the constraints the equations soon get stiff: differences over 0.012, and a short step.
    // Spaced by 2e-3, with weights that add up to 2.5, two roundings of numbers up to 2
    // are 5.6e-13, and in the form twice that times |J|, some 1.2.
    const auto hamilton = rigid(p, "midpoint-hamilton", 0.02), newton = rigid(p, "midpoint", 0.02);
    EXPECT_LT(symplectic_defect(*p.soft, *hamilton, p.position, p.velocity, 0.002), 1.4e-12);
    EXPECT_GT(symplectic_defect(*p.soft, *newton, p.position, p.velocity, 0.002), 1e-4);
  }
}

// --- PCSZ ----------------------------------------------------------------------------------------

std::unique_ptr<Dynamics> variational_of(const SystemKeys& pendula, const std::string& layer,
                                         double h, double bias) {
  return make_variational_of(pendula,
                             {.scheme = "variational-of:" + layer, .step = h, .bias = bias});
}
std::unique_ptr<Dynamics> spherical(const std::string& layer, double h, double bias) {
  return variational_of(spherical_pendulum(), layer, h, bias);
}

/// The planar double pendulum, moving.
SystemKeys swinging() {
  SystemKeys pendula = double_pendulum();
  pendula.position = {0.0, -1.0, 1.0, -2.0};
  pendula.velocity = {0.3, 0.0, 0.5, 0.2};
  return pendula;
}

struct LayerWithBias {
  const char* layer;
  double bias, order;
};
const LayerWithBias kLayers[] = {{"euler", 0.0, 1.0}, {"euler", 0.5, 2.0}, {"rk2", 0.0, 2.0},
                                 {"rk2", 0.5, 2.0},   {"rk4", 0.0, 4.0},   {"rk4", 0.5, 4.0}};

// The next term: the orders are off by 0.0025 at most, and by two to four times that at twice the
// step, as measured. With rk2 and no bias it is of the next order in h, not of the next but one:
// off by 0.007, and by 0.015 at twice the step.
TEST(MechanicsVariationalOf, HasTheOrderOfItsLayer) {
  constexpr double kNextButOne = 0.005, kNext = 0.014;
  for (const SystemKeys& pendula : {spherical_pendulum(), swinging()}) {
    const auto at_one = [&](const std::string& layer, double bias) {
      return [&, layer, bias](int steps) {
        return state_after(*variational_of(pendula, layer, 1.0 / steps, bias), steps);
      };
    };
    const Vector exact = at_one("rk4", 0.0)(640);
    for (const auto& [layer, bias, order] : kLayers) {
      EXPECT_NEAR(order_of(at_one(layer, bias), exact, order == 1.0 ? 160 : 20), order,
                  layer == std::string_view("rk2") && bias == 0.0 ? kNext : kNextButOne);
    }
  }
}

// RATTLE's error at t = 2, of order 2, is 4/3 of its change when the step is halved, and is taken
// off: what is left is of order 4 in 1e-3. The variational method's, of order 4, is 16/15 of its
// change (8.7e-8), up to the next order, 0.05 of it.
TEST(MechanicsVariationalOf, AgreesWithRattle) {
  for (const SystemKeys& pendula : {spherical_pendulum(), swinging()}) {
    const Experiment p = make_pendula(pendula, 1.0);
    const auto of_rattle = [&](double h) {
      return advanced(*rigid(p, "rattle", h), p.position, p.velocity, std::lround(2.0 / h)).x;
    };
    const auto of_method = [&](double h) {
      const auto method = variational_of(pendula, "rk4", h, 0.0);
      state_after(*method, std::lround(2.0 / h));
      return method->q;
    };
    const Vector coarse = of_rattle(1e-3), fine = of_rattle(5e-4);
    const Vector exact = fine + (fine - coarse) / 3.0, found = of_method(0.05);
    const double error = 16.0 / 15.0 * (found - of_method(0.025)).norm();
    EXPECT_NEAR((found - exact).norm(), error, 0.05 * error);
  }
}

// To 3e-15 and rounding: 4 to 12 sweeps at h = 0.2, fewer with shorter steps and better layers.
// Half a bias makes each sweep take off less, and layers do not help: 12 at h = 0.1, or one more or
// less where the last change rounds otherwise.
TEST(MechanicsVariationalOf, TakesFewSweeps) {
  const auto sweeps = [](const char* layer, double h, double bias = 0.0) {
    const auto method = spherical(layer, h, bias);
    state_after(*method, 100);
    return static_cast<double>(method->costs().iterations) / 100.0;
  };
  for (const char* layer : {"euler", "rk2", "rk4"}) {
    EXPECT_LT(sweeps(layer, 0.2), 12.0);
    EXPECT_GE(sweeps(layer, 0.2), 4.0);
    EXPECT_LE(sweeps(layer, 0.05), 7.0);
    EXPECT_NEAR(sweeps(layer, 0.1, 0.5), 12.0, 1.0);
  }
  EXPECT_LT(sweeps("rk2", 0.2), sweeps("euler", 0.2));
  EXPECT_LT(sweeps("rk4", 0.2), sweeps("rk2", 0.2));
}

// Sweeps end at changes of 3e-15, which may all be to the same side: 600 steps. The point is put
// onto the sphere in each step: three squares and their sum, five roundings. A drift would double
// the energy's error in the second half; without it the two differ by where steps fall, 0.2 %.
TEST(MechanicsVariationalOf, KeepsMomentumConstraintAndEnergy) {
  for (const auto& [layer, bias, order] : kLayers) {
    const auto method = spherical(layer, 0.1, bias);
    const double energy = method->energy(), lz = invariant(*method, "lz");
    double first = 0.0, second = 0.0;
    for (int k = 0; k < 600; ++k) {
      method->step();
      double& worst = k < 300 ? first : second;
      worst = std::max(worst, std::abs(method->energy() - energy));
      ASSERT_NEAR(invariant(*method, "lz"), lz, 600 * 3e-15);
      ASSERT_LT(invariant(*method, "constraint_max"), 5.0 * 2.0 * kEpsilon);
    }
    EXPECT_NEAR(second, first, 0.02 * first);
  }
}

/// Defect of a map of (point on the sphere, tangential momentum) in the canonical form, in four
/// coordinates about the start.
double defect_on_the_sphere(const std::function<Vector(const Vector&)>& step) {
  const Eigen::Vector3d q0(0.6, 0.0, -0.8), mu0(0.1, 0.7, 0.075);
  const auto chart = [&](const Vector& z) {
    const Eigen::Vector3d q = (q0 + Eigen::Vector3d(z[0], z[1], 0.0)).normalized();
    const Eigen::Vector3d p = mu0 + Eigen::Vector3d(z[2], z[3], 0.0);
    return joined(q, p - q * q.dot(p));
  };
  const Matrix omega = canonical_form(3);
  const Vector zero = Vector::Zero(4);
  const Matrix before = derivative(chart, zero);
  const Matrix after = derivative([&](const Vector& z) { return step(chart(z)); }, zero);
  EXPECT_GT((after - before).norm(), 0.05);
  return form_defect(after, omega, before.transpose() * omega * before);
}

// What sweeps leave, up to 3e-15, over a spacing of 0.01 with weights that add up to 2.5: 8e-13 in
// a derivative, and twice that times |J|, some 1.2, in the form. Sweeps leave a tenth of it at
// most, since each takes off a factor of ten.
TEST(MechanicsVariationalOf, IsSymplectic) {
  for (const auto& [layer, bias, order] : kLayers) {
    const auto method = spherical(layer, 0.1, bias);
    EXPECT_LT(defect_on_the_sphere(step_of(*method)), 2e-12);
  }
}

// Newton's method leaves roundings: the 1e-13 of derivative(), twice, times |J|, some 1.2.
TEST(MechanicsRattle, IsSymplecticOnTheConstraints) {
  const Experiment p = make_pendula(spherical_pendulum(), 1.0);
  const auto method = rigid(p, "rattle", 0.1);
  const double defect = defect_on_the_sphere(
      [&](const Vector& start) { return state_after(*method, start.head(3), start.tail(3), 1); });
  EXPECT_LT(defect, 2.4e-13);
}

// Forty steps, each up to 3e-15 in each of six numbers, added up by size: 40 * 3e-15 * 2 sqrt(3).
// The measured 3e-14 is a fifteenth: a sweep takes off a factor of ten, and the last one may too.
TEST(MechanicsVariationalOf, HalfABiasIsSelfAdjoint) {
  for (const auto& [layer, bias, order] : kLayers) {
    const auto forward = spherical(layer, 0.1, bias), backward = spherical(layer, -0.1, bias);
    const Vector q = forward->q, v = forward->v;
    state_after(*forward, 20);
    backward->q = forward->q;
    backward->v = forward->v;
    state_after(*backward, 20);
    const double left = (backward->q - q).norm() + (backward->v - v).norm();
    EXPECT_TRUE(bias == 0.5 ? left < 4.2e-13 : left > 1e-7) << left;
  }
}

}  // namespace
}  // namespace tarn::papers
