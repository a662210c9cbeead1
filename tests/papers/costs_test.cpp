// Numbers of evaluations of forces, Hessians and third derivatives by each method.
#include "geometry.hpp"
#include "papers/dynamics.hpp"
#include "papers/methods.hpp"
#include "papers/systems.hpp"
#include "testing.hpp"

namespace tarn::papers {
namespace {

constexpr double kStep = 0.02, kBeta = 0.3, kOmega = 20.0;
constexpr std::int64_t kSteps = 25;

/// Costs of n steps: those of the start, per step and per iteration.
struct Law {
  std::int64_t start, step, iteration;
  std::int64_t of(const Costs& c) const {
    return start + step * c.steps + iteration * c.iterations;
  }
};
constexpr Law kNone{0, 0, 0};

/// Forwards to a system and counts its evaluations.
class CountedSystem final : public MechanicalSystem {
 public:
  CountedSystem(const MechanicalSystem& system, Costs& costs)
      : MechanicalSystem(system.masses()), system_(system), costs_(costs) {}

  double potential(const Vector& q) const override { return system_.potential(q); }
  Vector gradient(const Vector& q) const override {
    ++costs_.forces;
    return system_.gradient(q);
  }
  Sparsity sparsity() const override { return system_.sparsity(); }
  void add_hessian(const Vector& q, double factor, BandMatrix& a, Hessian kind) const override {
    ++costs_.hessians;
    system_.add_hessian(q, factor, a, kind);
  }
  Vector third_derivative(const Vector& q, const Vector& a) const override {
    ++costs_.third_derivatives;
    return system_.third_derivative(q, a);
  }

 private:
  const MechanicalSystem& system_;
  Costs& costs_;
};

/// The three bodies on springs with different masses: no derivative vanishes. The calls of the
/// system are counted here, independently of the method's costs.
class MechanicsCosts : public testing::Test {
 protected:
  std::unique_ptr<Method> make(IntegratorKeys keys, double h, bool rigid = false) {
    keys.step = h;
    keys.beta = kBeta;
    return make_method(keys, {rigid ? soft_ : whole_, problem_.constraint.get(), kOmega, rigid});
  }

  void check(const IntegratorKeys& keys, Law forces, Law hessians = kNone, Law thirds = kNone,
             Law solves = kNone, bool is_constrained = false) {
    const std::string& name = keys.scheme;
    SCOPED_TRACE(name);
    asked_ = {};
    const auto method = make(keys, kStep, is_constrained || is_rigid(name));
    advanced(*method, problem_.position, problem_.velocity, kSteps);
    const Costs& c = method->costs();
    EXPECT_EQ(c.steps, kSteps);
    EXPECT_EQ(c.forces, forces.of(c));
    EXPECT_EQ(c.hessians, hessians.of(c));
    EXPECT_EQ(c.third_derivatives, thirds.of(c));
    EXPECT_EQ(c.linear_solves, solves.of(c));
    EXPECT_EQ(asked_.forces, c.forces);
    EXPECT_EQ(asked_.hessians, c.hessians);
    EXPECT_EQ(asked_.third_derivatives, c.third_derivatives);
    iterations_ = c.iterations;
  }
  Experiment problem_ = make_three_body_plane(kOmega);
  Costs asked_;
  CountedSystem whole_{problem_.whole(), asked_};
  CountedSystem soft_{*problem_.soft, asked_};
  std::int64_t iterations_ = 0;  ///< iterations of the last check
};

TEST_F(MechanicsCosts, OfExplicitMethods) {
  check({.scheme = "verlet"}, {1, 1, 0});
  check({.scheme = "variational-euler"}, {0, 1, 0});
  check({.scheme = "rk4"}, {0, 4, 0});
  EXPECT_EQ(iterations_, 0);
}

TEST_F(MechanicsCosts, OfLinearlyImplicitMethods) {
  const Law once{1, 1, 0};
  check({.scheme = "zs"}, once, once, once, once);
  check({.scheme = "zss"}, once, once, kNone, once);
  check({.scheme = "zss-stiff"}, once, once, kNone, once);
  // The Hessian at the start of a step, where the force is known.
  const Law a_step{0, 1, 0};
  for (const Acceleration kind : {Acceleration::linearised, Acceleration::force}) {
    check({.scheme = "newmark-one-step", .acceleration = kind}, once, a_step, kNone, a_step);
  }
}

/// Newton's method: a force, a Hessian and a solve per iteration. There are at least two
/// iterations; the second one confirms convergence.
TEST_F(MechanicsCosts, OfImplicitMethods) {
  const Law each{0, 0, 1};
  check({.scheme = "newmark"}, {1, 0, 1}, each, kNone, each);
  EXPECT_GE(iterations_, 2 * kSteps);
  check({.scheme = "pushforward-newmark"}, each, each, kNone, each);
  EXPECT_GE(iterations_, 2 * (kSteps + 1));
  check({.scheme = "midpoint"}, each, each, kNone, each);
  EXPECT_GE(iterations_, 2 * kSteps);
}

/// One force per step, as in Verlet: the multipliers take iterations, but no forces.
TEST_F(MechanicsCosts, OfConstraints) {
  check({.scheme = "shake"}, {1, 1, 0}, kNone, kNone, {0, 0, 1});
  EXPECT_GE(iterations_, 2 * (kSteps + 1));
  check({.scheme = "rattle"}, {1, 1, 0}, kNone, kNone, {0, 1, 1});
  EXPECT_GE(iterations_, 2 * (kSteps + 1));
  // One force per iteration, and one for the reported multipliers.
  check({.scheme = "midpoint"}, {1, 1, 1}, kNone, kNone, {1, 1, 1}, true);
  check({.scheme = "midpoint-hamilton"}, {1, 1, 1}, {0, 0, 1}, kNone, {1, 1, 2}, true);
}

/// Three steps or five. A state that depends on the time step is recomputed twice.
TEST_F(MechanicsCosts, OfCompositions) {
  for (const auto& [kind, n] : {std::pair(Composition::yoshida4, 3), {Composition::suzuki4, 5}}) {
    const auto of = [kind = kind](const char* scheme) {
      return IntegratorKeys{.scheme = scheme, .compose = kind};
    };
    check(of("verlet"), {1, n, 0});
    check(of("variational-euler"), {0, n, 0});
    const Law recomputed{1, n + 2, 0};
    check(of("zs"), recomputed, recomputed, recomputed, recomputed);
    check(of("zss"), recomputed, recomputed, kNone, recomputed);
    const Law each{0, 0, 1};
    check(of("newmark"), {1, 0, 1}, each, kNone, each);
    check(of("pushforward-newmark"), each, each, kNone, each);
    check(of("midpoint"), each, each, kNone, each);
    check(of("shake"), {1, n, 0}, kNone, kNone, each);
    check(of("rattle"), {1, n, 0}, kNone, kNone, {0, n, 1});
  }
}

/// An iteration of the projection has 17 Verlet steps to each side of a point; there are four
/// stages.
TEST(MechanicsSlowManifoldCosts, OfProjections) {
  const double omega = 1000.0, tolerance = 1e-7;
  const Experiment p = make_double_spring(omega);
  Costs costs, asked;
  const CountedSystem system(*p.penalised, asked);
  const auto iterates = project_onto_slow({system, p.constraint.get(), omega}, tolerance,
                                          p.position, p.velocity, costs);
  EXPECT_GT(iterates.size(), 2u);
  EXPECT_EQ(costs.iterations, std::ssize(iterates) - 1);
  EXPECT_EQ(costs.forces, 35 * costs.iterations);
  EXPECT_EQ(asked.forces, costs.forces);
  const auto method =
      method_of(p, {.scheme = "rk4-projected", .step = kStep, .tolerance = tolerance});
  advanced(*method, iterates.back().x, iterates.back().v, kSteps);
  EXPECT_EQ(method->costs().forces, 4 * kSteps + 35 * method->costs().iterations);
  EXPECT_GE(method->costs().iterations, 4 * kSteps);
}

/// The state that a composition takes over equals that of begin() up to rounding. Positions of
/// length one are put on the constraints to some 4e-15, which is 4e-11 of a multiplier beside ½h² =
/// 1e-4, and h times that of a velocity.
TEST_F(MechanicsCosts, ReusedEvaluationsEqualFreshOnes) {
  for (const char* scheme :
       {"verlet", "zs", "newmark", "midpoint", "shake", "rattle", "newmark-one-step"}) {
    const auto first = make({.scheme = scheme}, kStep, is_rigid(scheme));
    const auto second = make({.scheme = scheme}, -0.7 * kStep, is_rigid(scheme));
    State s = advanced(*first, problem_.position, problem_.velocity, 3);
    State recomputed = s;
    second->take_over(s);
    second->begin(recomputed);
    EXPECT_LE((s.f - recomputed.f).norm(), 1e-10 * (1.0 + recomputed.f.norm()));
    EXPECT_LE((s.lambda - recomputed.lambda).norm(), 1e-10 * (1.0 + recomputed.lambda.norm()));
    second->step(s);
    second->step(recomputed);
    EXPECT_LE((s.x - recomputed.x).norm() + (s.v - recomputed.v).norm(), 1e-11);
  }
}

// --- on manifolds --------------------------------------------------------------------------------

/// Checks the costs of kSteps steps. @return the iterations
std::int64_t check(auto&& dynamics, Law forces, Law derivatives = kNone) {
  for (std::int64_t k = 0; k < kSteps; ++k) dynamics.step();
  const Costs& c = dynamics.costs();
  EXPECT_EQ(c.steps, kSteps);
  EXPECT_EQ(c.forces, forces.of(c));
  EXPECT_EQ(c.hessians, derivatives.of(c));
  return c.iterations;
}

TEST(MechanicsManifoldCosts, OfMagnets) {
  const auto magnet = [](const IntegratorKeys& keys) { return make_magnet(paper_magnet(), keys); };
  for (const auto& [quadrature, mass, law] :
       {std::tuple(Quadrature::first_order, AMass::paper, Law{0, 1, 0}),
        {Quadrature::trapezoidal, AMass::consistent, Law{1, 1, 0}}}) {
    const auto linearised = magnet({.scheme = "so3-linearised",
                                    .step = 0.1,
                                    .omega = 20.0,
                                    .beta = 0.4,
                                    .quadrature = quadrature,
                                    .a_mass = mass});
    check(*linearised, law, law);
    EXPECT_EQ(linearised->costs().third_derivatives, law.of(linearised->costs()));
    EXPECT_EQ(linearised->costs().linear_solves, law.of(linearised->costs()));
  }
  EXPECT_GE(check(*magnet({.scheme = "cayley-variational-euler", .step = 0.1}), {0, 1, 0}), kSteps);
  check(*magnet({.scheme = "rk4", .step = 0.1}), {0, 4, 0});
}

TEST(MechanicsManifoldCosts, OfRigidBodies) {
  const SystemKeys body{.rotation = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                        .alpha = {0.44, 0.5, 1.0},
                        .chi = {0.0, 0.0, 1.0},
                        .c = 0.94,
                        .momentum = {0.0, 0.9, 0.3, -0.9, 0.0, -1.0, -0.3, 1.0, 0.0},
                        .direction = {0.0, 1.0, 0.0}};
  const auto free = [&](const char* scheme) {
    return make_free_body(body, {.scheme = scheme, .step = kStep});
  };
  EXPECT_GE(check(*free("moser-veselov"), kNone), 2 * kSteps);
  check(*free("rk4"), kNone);
  for (const auto& [scheme, forces] : {std::pair("rattle", Law{1, 1, 0}),
                                       {"constrained-euler", Law{0, 1, 0}},
                                       {"rk4", Law{0, 4, 0}}}) {
    check(*make_heavy_top(body, {.scheme = scheme, .step = kStep}), forces);
  }
}

/// The stages of the layer, from both ends.
TEST(MechanicsManifoldCosts, OfVariationalLayers) {
  for (const auto& [layer, stages] :
       {std::pair<const char*, std::int64_t>{"euler", 1}, {"rk2", 2}, {"rk4", 4}}) {
    for (const double bias : {0.0, 0.5}) {
      const auto method = make_variational_of(
          spherical_pendulum(),
          {.scheme = std::string("variational-of:") + layer, .step = kStep, .bias = bias});
      const Law law{0, 0, 2 * stages};
      EXPECT_GE(check(*method, law, law), 2 * kSteps);
    }
  }
}

}  // namespace
}  // namespace tarn::papers
