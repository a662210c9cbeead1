// Numbers of evaluations of forces, Hessians and third derivatives by each method.
#include "papers/costs.hpp"

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

/// The three bodies on springs with different masses: no derivative vanishes. The calls of the
/// system are counted here, independently of the method's costs.
class MechanicsCosts : public testing::Test {
 protected:
  using Make = std::function<std::unique_ptr<Method>(double h)>;

  void check(const std::string& name, const Make& make, Law forces, Law hessians = kNone,
             Law thirds = kNone, Law solves = kNone) {
    SCOPED_TRACE(name);
    asked_ = {};
    const auto method = make(kStep);
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
  template <class M, class... Arguments>
  Make on_whole(Arguments... arguments) {
    return [=, this](double h) { return std::make_unique<M>(whole_, h, arguments...); };
  }
  template <class M, class... Arguments>
  Make constrained(Arguments... arguments) {
    return [=, this](double h) {
      return std::make_unique<M>(soft_, *problem_.constraint, h, arguments...);
    };
  }

  Experiment problem_ = make_three_body_plane(kOmega);
  Costs asked_;
  CountedSystem whole_{problem_.whole(), asked_};
  CountedSystem soft_{*problem_.soft, asked_};
  std::int64_t iterations_ = 0;  ///< iterations of the last check
};

TEST_F(MechanicsCosts, OfExplicitMethods) {
  check("verlet", on_whole<Verlet>(), {1, 1, 0});
  check("variational-euler", on_whole<VariationalEuler>(), {0, 1, 0});
  check("rk4", on_whole<Rk4>(), {0, 4, 0});
  EXPECT_EQ(iterations_, 0);
}

TEST_F(MechanicsCosts, OfLinearlyImplicitMethods) {
  const Law once{1, 1, 0};
  check("zs", on_whole<Zs>(kBeta), once, once, once, once);
  check("zss", on_whole<Zss>(kBeta), once, once, kNone, once);
  check("zss-stiff", on_whole<ZssStiff>(kBeta), once, once, kNone, once);
  // The Hessian at the start of a step, where the force is known.
  const Law a_step{0, 1, 0};
  using Kind = NewmarkOneStep::Acceleration;
  for (const Kind kind : {Kind::linearised, Kind::force}) {
    check("newmark-one-step", on_whole<NewmarkOneStep>(kBeta, kind), once, a_step, kNone, a_step);
  }
}

/// Newton's method: a force, a Hessian and a solve per iteration. There are at least two
/// iterations; the second one confirms convergence.
TEST_F(MechanicsCosts, OfImplicitMethods) {
  const Law each{0, 0, 1};
  check("newmark", on_whole<Newmark>(kBeta), {1, 0, 1}, each, kNone, each);
  EXPECT_GE(iterations_, 2 * kSteps);
  check("pushforward-newmark", on_whole<PushforwardNewmark>(kBeta), each, each, kNone, each);
  EXPECT_GE(iterations_, 2 * (kSteps + 1));
  check("midpoint", on_whole<Midpoint>(), each, each, kNone, each);
  EXPECT_GE(iterations_, 2 * kSteps);
}

/// One force per step, as in Verlet: the multipliers take iterations, but no forces.
TEST_F(MechanicsCosts, OfConstraints) {
  check("shake", constrained<Shake>(), {1, 1, 0}, kNone, kNone, {0, 0, 1});
  EXPECT_GE(iterations_, 2 * (kSteps + 1));
  check("rattle", constrained<Rattle>(), {1, 1, 0}, kNone, kNone, {0, 1, 1});
  EXPECT_GE(iterations_, 2 * (kSteps + 1));
  // One force per iteration, and one for the reported multipliers.
  using Equations = ConstrainedMidpoint::Equations;
  check("midpoint", constrained<ConstrainedMidpoint>(Equations::newton), {1, 1, 1}, kNone, kNone,
        {1, 1, 1});
  check("midpoint-hamilton", constrained<ConstrainedMidpoint>(Equations::hamilton), {1, 1, 1},
        {0, 0, 1}, kNone, {1, 1, 2});
}

/// Three steps or five. A state that depends on the time step is recomputed twice.
TEST_F(MechanicsCosts, OfCompositions) {
  for (const auto& [kind, n] : {std::pair(Composition::yoshida4, 3), {Composition::suzuki4, 5}}) {
    const auto of = [kind = kind](const Make& make) -> Make {
      return [=](double h) { return std::make_unique<Composed>(kind, h, make); };
    };
    check("verlet", of(on_whole<Verlet>()), {1, n, 0});
    check("variational-euler", of(on_whole<VariationalEuler>()), {0, n, 0});
    const Law recomputed{1, n + 2, 0};
    check("zs", of(on_whole<Zs>(kBeta)), recomputed, recomputed, recomputed, recomputed);
    check("zss", of(on_whole<Zss>(kBeta)), recomputed, recomputed, kNone, recomputed);
    const Law each{0, 0, 1};
    check("newmark", of(on_whole<Newmark>(kBeta)), {1, 0, 1}, each, kNone, each);
    check("pushforward-newmark", of(on_whole<PushforwardNewmark>(kBeta)), each, each, kNone, each);
    check("midpoint", of(on_whole<Midpoint>()), each, each, kNone, each);
    check("shake", of(constrained<Shake>()), {1, n, 0}, kNone, kNone, each);
    check("rattle", of(constrained<Rattle>()), {1, n, 0}, kNone, kNone, {0, n, 1});
  }
}

/// An iteration of the projection has 17 Verlet steps to each side of a point; there are four
/// stages.
TEST(MechanicsSlowManifoldCosts, OfProjections) {
  const double omega = 1000.0, tolerance = 1e-7;
  const Experiment p = make_double_spring(omega);
  Costs costs;
  const CountedSystem system(*p.penalised, costs);
  const SlowManifold manifold{*p.constraint, omega, tolerance};
  const auto iterates = project_onto(manifold, system, p.position, p.velocity);
  EXPECT_GT(iterates.size(), 2u);
  EXPECT_EQ(costs.forces, 35 * (static_cast<std::int64_t>(iterates.size()) - 1));
  ProjectedRk4 method(*p.penalised, kStep, manifold);
  advanced(method, iterates.back().x, iterates.back().v, kSteps);
  EXPECT_EQ(method.costs().forces, 4 * kSteps + 35 * method.costs().iterations);
  EXPECT_GE(method.costs().iterations, 4 * kSteps);
}

/// The state that a composition takes over equals that of begin() up to rounding. Positions of
/// length one are put on the constraints to some 4e-15, which is 4e-11 of a multiplier beside ½h² =
/// 1e-4, and h times that of a velocity.
TEST_F(MechanicsCosts, ReusedEvaluationsEqualFreshOnes) {
  for (const Make& make :
       {on_whole<Verlet>(), on_whole<Zs>(kBeta), on_whole<Newmark>(kBeta), on_whole<Midpoint>(),
        constrained<Shake>(), constrained<Rattle>(), on_whole<NewmarkOneStep>(kBeta)}) {
    const auto first = make(kStep), second = make(-0.7 * kStep);
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
  const Magnet magnet;
  using L = LinearisedSo3;
  for (const auto& [quadrature, mass, law] :
       {std::tuple(L::Quadrature::first_order, L::AMass::paper, Law{0, 1, 0}),
        {L::Quadrature::trapezoidal, L::AMass::consistent, Law{1, 1, 0}}}) {
    L linearised(magnet, 20.0, 0.4, quadrature, mass);
    check(linearised, law, law);
    EXPECT_EQ(linearised.costs().third_derivatives, law.of(linearised.costs()));
    EXPECT_EQ(linearised.costs().linear_solves, law.of(linearised.costs()));
  }
  using S = RotatingMagnet::Scheme;
  EXPECT_GE(check(RotatingMagnet(S::cayley_variational_euler, magnet), {0, 1, 0}), kSteps);
  check(RotatingMagnet(S::runge_kutta, magnet), {0, 4, 0});
}

TEST(MechanicsManifoldCosts, OfRigidBodies) {
  Eigen::Matrix3d momentum;
  momentum << 0.0, 0.9, 0.3, -0.9, 0.0, -1.0, -0.3, 1.0, 0.0;
  const Eigen::Vector3d alpha(0.44, 0.5, 1.0);
  using Body = FreeBody::Scheme;
  const auto body = [&](Body scheme) {
    return FreeBody(scheme, alpha, Matrix::Identity(3, 3), momentum, kStep);
  };
  EXPECT_GE(check(body(Body::moser_veselov), kNone), 2 * kSteps);
  check(body(Body::runge_kutta), kNone);
  using Scheme = HeavyTop::Scheme;
  for (const auto& [scheme, forces] : {std::pair(Scheme::rattle, Law{1, 1, 0}),
                                       {Scheme::constrained_euler, Law{0, 1, 0}},
                                       {Scheme::runge_kutta, Law{0, 4, 0}}}) {
    check(HeavyTop(scheme, alpha, {0.0, 0.0, 1.0}, 0.94, momentum, {0.0, 1.0, 0.0}, kStep), forces);
  }
}

/// The stages of the layer, from both ends.
TEST(MechanicsManifoldCosts, OfVariationalLayers) {
  for (const auto& [layer, stages] :
       {std::pair<Layer, std::int64_t>{Layer::euler, 1}, {Layer::rk2, 2}, {Layer::rk4, 4}}) {
    for (const double bias : {0.0, 0.5}) {
      const auto method = make_variational_of(spherical_pendulum(), layer, kStep, bias);
      const Law law{0, 0, 2 * stages};
      EXPECT_GE(check(*method, law, law), 2 * kSteps);
    }
  }
}

}  // namespace
}  // namespace tarn::papers
