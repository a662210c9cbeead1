// Order, symplecticity, reversibility, momenta and stability of the methods in R^n.
#include "papers/methods.hpp"

#include "geometry.hpp"
#include "papers/systems.hpp"
#include "testing.hpp"

namespace tarn::papers {
namespace {

constexpr double kBeta = 0.3;
constexpr double kOmega = 2.0;  // of the three bodies: a potential without fast motion

std::unique_ptr<Method> make(const Experiment& p, const char* scheme, double h,
                             Composition compose = Composition::none) {
  return method_of(p, {.scheme = scheme, .step = h, .beta = kBeta, .compose = compose});
}

struct Row {
  const char* name;
  int order;
  bool is_symplectic;  ///< its map of (x, v) conserves dx ∧ M dv
  bool is_reversible;  ///< a step with -h inverts a step
};
const Row kMethods[] = {{"verlet", 2, true, true},
                        {"zs", 2, true, true},
                        {"zss", 2, false, true},
                        {"zss-stiff", 2, false, true},
                        {"pushforward-newmark", 2, true, true},
                        {"newmark", 2, false, true},
                        {"midpoint", 2, true, true},
                        {"newmark-one-step", 2, false, false},
                        {"variational-euler", 1, true, false},
                        {"rk4", 4, false, false},
                        {"shake", 2, true, true},
                        {"rattle", 2, true, true}};
/// The reversible ones without constraints, which compositions take.
constexpr std::size_t kComposable = 7;

/// Differences of order 12 are good to some 1e-13, see derivative(); in the form twice that times
/// |J|, some 1.2. A method that is not symplectic is off by more than 1e-6.
void expect_symplectic(bool is_symplectic, const Experiment& p, Method& method) {
  const double defect = symplectic_defect(p.whole(), method, p.position, p.velocity);
  EXPECT_TRUE(is_symplectic ? defect < 2.4e-13 : defect > 1e-6) << defect;
}

class MechanicsMethods : public testing::TestWithParam<Row> {
 protected:
  std::unique_ptr<Method> make_method(double h) const { return make(problem_, GetParam().name, h); }

  Experiment problem_ = make_three_body_plane(kOmega);
};
INSTANTIATE_TEST_SUITE_P(All, MechanicsMethods, testing::ValuesIn(kMethods), [](const auto& row) {
  std::string name = row.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The error is C h^p (1 + O(h)), and O(h²) for even p: the estimate from h and h/2 is off by 0.001,
// 0.006 and 0.015 at most for orders 1, 2 and 4, and at twice the step by 0.002, 0.024 and 0.08.
// x and v at t = 1.6 are compared with those of a composition, accurate to about 1e-11.
TEST_P(MechanicsMethods, HaveTheirOrder) {
  const auto at_end = [&](Method& method, int steps) {
    return state_after(method, problem_.position, problem_.velocity, steps);
  };
  const auto fine =
      make(problem_, is_rigid(GetParam().name) ? "rattle" : "verlet", 0.002, Composition::yoshida4);
  const int order = GetParam().order;
  const double found = order_of([&](int n) { return at_end(*make_method(1.6 / n), n); },
                                at_end(*fine, 800), order == 1 ? 800 : 80);
  EXPECT_NEAR(found, order, order == 1 ? 0.002 : order == 2 ? 0.012 : 0.03);
}

TEST_P(MechanicsMethods, SymplecticMethodsConserveTheForm) {
  if (is_rigid(GetParam().name)) {
    GTEST_SKIP() << "a map of the constraints: papers/manifolds_test";
  }
  expect_symplectic(GetParam().is_symplectic, problem_, *make_method(0.1));
}

// Six positions and velocities of up to two, each step out and back: what was rounded grows up to
// tenfold until the end.
double reversal_rounding(double steps) { return 10.0 * test::rounding(2.0 * steps, 12, 2.0); }

TEST_P(MechanicsMethods, ReversibleMethodsStepBack) {
  const auto method = make_method(0.05);
  // SHAKE's velocities are computed from the positions before and after; the given ones are not.
  const State start = advanced(*method, problem_.position, problem_.velocity, 1);
  const double error = reversal_error(*method, start.x, start.v, 100);
  EXPECT_TRUE(GetParam().is_reversible ? error < reversal_rounding(100) : error > 1e-6) << error;
}

// Momenta of three bodies up to one round some six times a step in each direction, and the angular
// one has arms of two. Newmark's single iteration takes its acceleration from a difference of
// positions over β h², which makes roundings of velocities 1/(β h) times as large.
TEST_P(MechanicsMethods, KeepTheMomenta) {
  const Experiment& p = problem_;
  const auto method = make_method(0.05);
  const State s = advanced(*method, p.position, p.velocity, 400);
  const Vector before = linear_momentum(*p.soft, p.velocity, 2);
  const double size =
      GetParam().name == std::string_view("newmark-one-step") ? 1.0 / (kBeta * 0.05) : 1.0;
  EXPECT_LT((linear_momentum(*p.soft, s.v, 2) - before).norm(), test::rounding(400, 18, size));
  const double turned = std::abs(angular_momentum_z(*p.soft, s.x, s.v, 2) -
                                 angular_momentum_z(*p.soft, p.position, p.velocity, 2));
  EXPECT_TRUE(GetParam().is_symplectic ? turned < test::rounding(400, 18, 2.0) : turned > 1e-7)
      << turned;
}

TEST(MechanicsZss, DefectGrowsAsTheFifthPowerOfTheStep) {
  const Experiment p = make_three_body_plane(kOmega);
  const auto defect = [&](double h) {
    return symplectic_defect(p.whole(), *make(p, "zss", h), p.position, p.velocity);
  };
  const double coarse = defect(0.02), fine = defect(0.01);
  EXPECT_GT(fine, 1e-10);  // a thousand times the error of the differences
  // Off by the next term in h: 0.08 at twice the step, 0.03 here and 0.013 at half of it.
  EXPECT_NEAR(std::log2(coarse / fine), 5.0, 0.06);
}

/// TO 1.1 with the opposite sign of its last term.
class ZsWithPlus : public Method {
 public:
  ZsWithPlus(const MechanicalSystem& system, double h) : system_(system), h_(h) {}
  void begin(State& s) override { s.f = acceleration(s.x); }

 private:
  void advance(State& s) override {
    s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
    const Vector f = acceleration(s.x);
    s.v += 0.5 * h_ * (s.f + f);
    s.f = f;
  }
  Vector acceleration(const Vector& x) const {
    const double w = kBeta * h_ * h_;
    const Vector a = system_.shifted_mass(x, w).solve(-system_.gradient(x));
    return a + 0.5 * w * w * system_.mass_solve(system_.third_derivative(x, a));
  }

  const MechanicalSystem& system_;
  double h_;
};

TEST(MechanicsZs, OnlyTheMinusIsSymplectic) {
  const Experiment p = make_three_body_plane(kOmega);
  ZsWithPlus method(p.whole(), 0.1);
  EXPECT_GT(symplectic_defect(p.whole(), method, p.position, p.velocity), 1e-6);
}

// The reference's error is 1/4096 of the coarse one and 1/256 of the fine one, as its steps are an
// eighth and a fourth: that adds 0.005. The next term is off by 0.012 at most, and by 0.048 at
// twice the step.
TEST(MechanicsComposed, IsOfOrderFourAndElseAsTheScheme) {
  const Experiment p = make_three_body_plane(kOmega);
  for (const Row& row : std::span(kMethods).first(kComposable)) {
    for (const Composition kind : {Composition::yoshida4, Composition::suzuki4}) {
      SCOPED_TRACE(row.name);
      const auto composed = [&](double h) { return make(p, row.name, h, kind); };
      const auto at_end = [&](int steps) {
        return state_after(*composed(1.6 / steps), p.position, p.velocity, steps);
      };
      const double expected = std::log2((1.0 - 1.0 / 4096.0) / (1.0 / 16.0 - 1.0 / 4096.0));
      EXPECT_NEAR(order_of(at_end, at_end(1280), 160), expected, 0.024);
      const auto method = composed(0.1);
      expect_symplectic(row.is_symplectic, p, *method);
      EXPECT_LT(reversal_error(*method, p.position, p.velocity, 100),
                reversal_rounding(500));  // five parts
    }
  }
}

// The triple jump goes beyond both ends of its step, by γ = 1.35; none of Suzuki's five does, and
// its error is some hundredth.
TEST(MechanicsComposed, SuzukisErrorsAreSmaller) {
  const Experiment p = make_three_body_plane(kOmega);
  const auto at_end = [&](Composition kind, int steps) {
    return advanced(*make(p, "verlet", 1.6 / steps, kind), p.position, p.velocity, steps).x;
  };
  const Vector exact = at_end(Composition::suzuki4, 1280);
  EXPECT_GT((at_end(Composition::yoshida4, 80) - exact).norm(),
            20.0 * (at_end(Composition::suzuki4, 80) - exact).norm());
}

// TO 2.2: η∘Newmark = push-forward Newmark∘η, exactly: fifty steps that solve equations of six,
// some 40 roundings of numbers up to two.
TEST(MechanicsNewmark, IsPushedForward) {
  const Experiment p = make_three_body_plane(kOmega);
  const double h = 0.1;
  const auto newmark = make(p, "newmark", h), pushed = make(p, "pushforward-newmark", h);
  // From the coordinates of Newmark's method to those of the other, x = q + βh² M⁻¹ grad V(q).
  const auto push_forward = [&](const Vector& q) {
    return Vector(q - kBeta * h * h * p.whole().acceleration(q));
  };
  const State q = advanced(*newmark, p.position, p.velocity, 50);
  const State x = advanced(*pushed, push_forward(p.position), p.velocity, 50);
  EXPECT_LT((push_forward(q.x) - x.x).norm(), test::rounding(50, 40, 2.0));
  EXPECT_LT((q.v - x.v).norm(), test::rounding(50, 40, 2.0));
  EXPECT_GT((q.x - x.x).norm(), 1e-3);
}

// --- the linear oscillator -----------------------------------------------------------------------

/// V = ½ qᵀ K q with masses 1
class Springs : public MechanicalSystem {
 public:
  explicit Springs(const Matrix& k) : MechanicalSystem(Vector::Ones(k.rows())), k_(k) {}
  double potential(const Vector& q) const override { return 0.5 * q.dot(k_ * q); }
  Vector gradient(const Vector& q) const override { return k_ * q; }
  void add_hessian(const Vector&, double factor, BandMatrix& a, Hessian) const override {
    for (Index i = 0; i < size(); ++i) {
      for (Index j = 0; j < size(); ++j) a.add(i, j, factor * k_(i, j));
    }
  }
  Vector third_derivative(const Vector& q, const Vector&) const override {
    return Vector::Zero(q.size());
  }

 private:
  Matrix k_;
};
const Springs kSpring(Matrix::Identity(1, 1));

/// g = q1
class FirstCoordinate : public Constraint {
 public:
  Index count() const override { return 1; }
  const std::vector<Index>& support(Index) const override { return support_; }
  double value(Index, const Local& x) const override { return x[0]; }
  Local gradient(Index, const Local&) const override { return Local::Ones(1); }
  LocalMatrix hessian(Index, const Local&) const override { return LocalMatrix::Zero(1, 1); }
  Local third_derivative(Index, const Local&, const Local&) const override {
    return Local::Zero(1);
  }

 private:
  std::vector<Index> support_{0};
};

std::vector<std::unique_ptr<Method>> list_of(const std::vector<std::string>& schemes,
                                             const MechanicalSystem& system, double h,
                                             double beta) {
  std::vector<std::unique_ptr<Method>> list;
  for (const std::string& scheme : schemes) {
    list.push_back(make_method({.scheme = scheme, .step = h, .beta = beta}, {system}));
  }
  return list;
}

/// A step turns (q, v) by an angle t, so that from q = 1, v = 0 the largest |q| is 1 wherever t is
/// real. 4000 steps add as many roundings times 1/sin t, which is below 1e3 here.
constexpr double kAmplitude = 1.0 + 4000.0 * 1e3 * test::kEpsilon;
/// Largest |q| in 4000 steps from q = 1, v = 0.
double largest(Method& method) {
  State s{Vector::Ones(1), Vector::Zero(1), {}, {}};
  method.begin(s);
  double worst = 0.0;
  for (int k = 0; k < 4000; ++k) {
    method.step(s);
    if (!s.x.allFinite()) return 1e300;
    worst = std::max(worst, std::abs(s.x[0]));
  }
  return worst;
}

// Beyond 2/√(1-4β) = 10 an eigenvalue of the step is -1.15 at 10.1.
TEST(MechanicsOscillator, StableStepBelowAQuarter) {
  for (const auto& [h, stable] : {std::pair(9.9, true), std::pair(10.1, false)}) {
    auto methods = list_of({"zs", "zss", "pushforward-newmark", "newmark"}, kSpring, h, 0.24);
    methods.push_back(
        make_method({.scheme = "verlet", .step = h / 5.0}, {kSpring}));  // its limit is 2
    for (const auto& method : methods) {
      const double q = largest(*method);
      EXPECT_TRUE(stable ? q < kAmplitude : q > 100.0) << h << ' ' << q;
    }
  }
}

TEST(MechanicsOscillator, StableForEveryStepFromAQuarterOn) {
  for (double h = 0.1; h <= 1.0e3; h *= 1.7) {
    for (double beta : {0.25, 0.3, 0.5}) {
      for (const auto& method :
           list_of({"zs", "zss", "pushforward-newmark", "newmark", "midpoint"}, kSpring, h, beta)) {
        EXPECT_LT(largest(*method), kAmplitude) << h << ' ' << beta;
      }
    }
  }
}

/// Suzuki's composition of unconditionally stable steps is not unconditionally stable: eigenvalues
/// of the product of the five maps leave the unit circle for hΩ of 2.91 ... 3.82 and 7.59 ... 10.7
/// at β = 1/4, and of 3.11 ... 4.33 at β = 0.4. Those of Yoshida's composition do not.
TEST(MechanicsOscillator, SuzukisCompositionHasUnstableSteps) {
  for (const auto& [h, beta, stable] : {std::tuple(2.8, 0.25, true),
                                        {3.4, 0.25, false},
                                        {4.0, 0.25, true},
                                        {9.0, 0.25, false},
                                        {11.0, 0.25, true},
                                        {3.0, 0.4, true},
                                        {3.7, 0.4, false},
                                        {4.5, 0.4, true}}) {
    for (const Composition kind : {Composition::suzuki4, Composition::yoshida4}) {
      const auto method =
          make_method({.scheme = "zss", .step = h, .beta = beta, .compose = kind}, {kSpring});
      const double q = largest(*method);
      // Where it is stable |q| is bounded by the condition of the eigenvectors, some tens here.
      EXPECT_TRUE(stable || kind == Composition::yoshida4 ? q < 1e3 : q > 1e10)
          << h << ' ' << beta << ' ' << q;
    }
  }
}

/// The energy is conserved in the coordinates of Newmark's method for any step; at x it fluctuates
/// by half of its value and more.
TEST(MechanicsOscillator, NewmarksEnergyIsKept) {
  for (const double h : {0.5, 5.0}) {
    const Springs spring(Matrix::Identity(2, 2));
    for (const auto& method :
         list_of({"zs", "zss", "zss-stiff", "pushforward-newmark", "newmark"}, spring, h, kBeta)) {
      State s{Eigen::Vector2d(1.0, -0.5), Eigen::Vector2d(0.3, 0.7), {}, {}};
      method->begin(s);
      const double start = energy(spring, *method, s), at_x = energy(spring, s);
      double worst = 0.0, worst_at_x = 0.0;
      for (int k = 0; k < 1000; ++k) {
        method->step(s);
        worst = std::max(worst, std::abs(energy(spring, *method, s) - start));
        worst_at_x = std::max(worst_at_x, std::abs(energy(spring, s) - at_x));
      }
      // A thousand steps of some ten roundings of numbers of the size of the energy at x.
      EXPECT_LT(worst, 1e4 * 2.2e-16 * (at_x + worst_at_x)) << h;
      EXPECT_GT(worst_at_x, h > 1.0 ? 0.5 * at_x : 0.0) << h;
    }
  }
}

// Of 1 + z + z²/2 + z³/6 + z⁴/24 with z = ih the square of the size is 1 - h⁶/72 + h⁸/576.
TEST(MechanicsOscillator, RungeKuttasStableStep) {
  for (const auto& [h, stable] : {std::pair(2.82, true), std::pair(2.84, false)}) {
    EXPECT_EQ(largest(*make_method({.scheme = "rk4", .step = h}, {kSpring})) < 10.0, stable) << h;
  }
}

// h²k₀ + h²Ω²(1-4β) <= 4, here with h = 1 and both terms present.
TEST(MechanicsOscillator, StableStepWithTheStiffHessian) {
  const FirstCoordinate g;
  for (const auto& [soft, stiff, beta] :
       {std::array{3.0, 10.0, 0.23}, std::array{4.5, 10.0, 0.27}, std::array{1.0, 100.0, 0.24}}) {
    const double sum = soft + stiff * (1.0 - 4.0 * beta);
    const double room = 4.0 - sum;
    for (double shift : {-0.05, 0.05}) {
      const Springs spring(Matrix::Constant(1, 1, soft + room + shift));
      const Penalised system(spring, g, std::sqrt(stiff));
      const auto method = make_method({.scheme = "zss-stiff", .step = 1.0, .beta = beta}, {system});
      EXPECT_EQ(largest(*method) < 100.0, shift < 0.0) << soft << ' ' << shift;
    }
  }
}

// TO section 3: with g = q1 the limit is q1 = 0, q2 = cos t, and the multiplier is q2. The slow
// mode of the penalised system is q2 = cos((1 - 1/(2 omega²)) t), q1 = q2/omega²; the fast one adds
// to omega² q1 a cosine of amplitude one, which an average over a window w leaves with 2/(omega w).
TEST(MechanicsPenalty, LinearExampleOfTheLimit) {
  const Springs soft(Eigen::Matrix2d{{1.0, -1.0}, {-1.0, 1.0}});  // V = ½ (q2 - q1)²
  const FirstCoordinate g;
  const double omega = 200.0, h = 1e-4, window = 0.2;
  const Penalised system(soft, g, omega);
  const auto method = make_method({.scheme = "verlet", .step = h}, {system});
  State s{Eigen::Vector2d(0.0, 1.0), Vector::Zero(2), {}, {}};
  method->begin(s);
  constexpr double kStep = 0.01;
  const auto shake = make_method({.scheme = "shake", .step = kStep}, {soft, &g});
  State limit{Eigen::Vector2d(0.0, 1.0), Vector::Zero(2), {}, {}};
  shake->begin(limit);
  EXPECT_NEAR(limit.lambda[0], 1.0, test::kEpsilon / (kStep * kStep));  // a position that rounds
  const int half = static_cast<int>(0.5 * window / h);
  double worst_instant = 0.0, worst_mean = 0.0;
  for (int centre = half; centre < 20 * half; centre += 2 * half) {
    double sum = 0.0;
    for (int k = 0; k < 2 * half; ++k) {
      method->step(s);
      sum += omega * omega * s.x[0];
      worst_instant = std::max(worst_instant, std::abs(omega * omega * s.x[0] - s.x[1]));
    }
    const double t = (centre + 0.5) * h;
    worst_mean = std::max(worst_mean, std::abs(sum / (2.0 * half) - std::cos(t)));
    // The slow phase to t = 2, and what the slow and the fast mode have of each other.
    EXPECT_NEAR(s.x[1], std::cos((centre + half) * h), 3.0 / (omega * omega));
  }
  // Of a cosine, what samples miss of its top and Verlet of its amplitude, (h omega)²/8 each, and
  // 1/omega² of coupling.
  EXPECT_NEAR(worst_instant, 1.0, 0.25 * std::pow(h * omega, 2) + 1.0 / (omega * omega));
  // The window's own bias is w²/24 = 0.0017, the slow phase 2/(2 omega²).
  EXPECT_LT(worst_mean, 2.0 / (omega * window) + 0.002);
}

/// The solver converges although rounding of the positions causes large errors of the forces: with
/// stiff bonds, with small steps, and at rest.
TEST(MechanicsNewton, ConvergesWhereAccelerationsAreSmallBesideStiffForces) {
  for (const auto& [omega, h, off] : {std::tuple(1e3, 1e-3, 0.3),
                                      {1e4, 1e-4, 0.3},
                                      {1e4, 1e-2, 0.3},
                                      {20.0, 0.1, 1e-3},
                                      {20.0, 0.1, 0.0},
                                      {20.0, 1e-4, 1e-9}}) {
    // Hanging down, and turned by `off`: under its weight, or without it at rest on its bonds.
    for (const double gravity : {9.81, 0.0}) {
      const double s = std::sin(off), c = std::cos(off);
      const Experiment p = make_pendula({.masses = {1.0, 1.0},
                                         .lengths = {1.0, 1.0},
                                         .gravity = gravity,
                                         .position = {s, -c, 2.0 * s, -2.0 * c},
                                         .velocity = {0.0, 0.0, 0.0, 0.0}},
                                        omega);
      for (const auto& method :
           list_of({"newmark", "pushforward-newmark", "midpoint"}, p.whole(), h, kBeta)) {
        ASSERT_NO_THROW(advanced(*method, p.position, p.velocity, 2000))
            << omega << ' ' << h << ' ' << off;
        EXPECT_LT(method->costs().iterations, 10 * 2001);
      }
    }
  }
}

TEST(MechanicsNewton, ThrowsWithoutConvergence) {
  // Bonds of length one cannot be restored from a point ten lengths away.
  Experiment p = make_three_body_plane(kOmega);
  p.velocity[0] = 300.0;
  const auto method = make(p, "shake", 1.0);
  State s{p.position, p.velocity, {}, {}};
  EXPECT_THROW(method->begin(s), NumericalError);
}

}  // namespace
}  // namespace tarn::papers
