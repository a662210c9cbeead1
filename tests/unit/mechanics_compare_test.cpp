// Errors, orders and costs of schemes of mechanical systems, by step.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compare/mechanics_errors.hpp"
#include "rounding.hpp"
#include "scratch_folder.hpp"
#include "tarn/compare.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

using test::contains;
using test::message_of;

/// Without pictures, which take most of the time of such short runs.
class MechanicsCompare : public ::testing::Test {
 protected:
  MechanicsCompare() : path_(std::getenv("PATH")) { ::setenv("PATH", "/nowhere", 1); }
  ~MechanicsCompare() override { ::setenv("PATH", path_.c_str(), 1); }

  CompareResult compare(const Deck& deck, const std::vector<std::string>& schemes,
                        const std::vector<double>& steps, const std::string& reference = "") {
    CompareOptions options;
    options.out_dir = folder_.file("out");
    options.overwrite = true;
    options.steps = steps;
    options.reference = reference;
    options.on_message = [&](const Message& message) { warnings_ += message.text + "\n"; };
    return compare_schemes(deck, schemes, options);
  }
  static Deck input(const std::string& name, const std::vector<std::string>& set = {}) {
    return load_deck(std::string(TARN_SOURCE_DIR) + "/inputs/" + name + ".toml", set);
  }
  static double order_of(const CompareResult& result, const std::string& label,
                         const std::string& quantity = "q") {
    for (const SchemeOrder& o : result.orders) {
      if (o.label == label && o.quantity == quantity) return o.fit.order;
    }
    return std::nan("");
  }

  std::string path_, warnings_;
  test::ScratchFolder folder_;
};

/// Four bases with springs only, V = ½ Σ (θ_{k+1} - θ_k)², in their fastest mode: θ = ±cos 2t.
Deck springs(const std::string& step = "0.1", const std::string& duration = "5") {
  return parse_deck(
      "[system]\nkind = \"dna\"\nn = 4\nepsilon = 0\nposition = [1.0, -1.0, 1.0, -1.0]\n"
      "velocity = [0.0, 0.0, 0.0, 0.0]\n[integrator]\nscheme = \"verlet\"\nstep = " +
          step + "\n[run]\nduration = " + duration + "\n",
      "springs.toml");
}

/// A scheme with x+ - 2x + x- = -h² k' x and x1 = (1 - ½h²k') x0 has x_n = cos nφ with
/// cos φ = 1 - ½h²k'. That is Verlet's with k' = k, and k' = k/(1 + βh²k) of Newmark's family.
/// @return largest errors of θ and, where the force is -k'x, of its rate, at multiples of 0.2
std::array<double, 2> exact_errors(double h, double beta) {
  const double k = 4.0 / (1.0 + beta * h * h * 4.0);
  const double phi = std::acos(1.0 - 0.5 * h * h * k);
  double q = 0.0, v = 0.0;
  for (int sample = 1; sample <= 25; ++sample) {
    const double t = 0.2 * sample, n = std::round(t / h);
    q = std::max(q, 2.0 * std::abs(std::cos(n * phi) - std::cos(2.0 * t)));
    v = std::max(v,
                 2.0 * std::abs(std::sin(phi) / h * std::sin(n * phi) - 2.0 * std::sin(2.0 * t)));
  }
  return {q, v};
}

// The measured error differs from the true one by that of the reference, of which a hundredth of
// the smallest error is asked; so orders over a factor of eight in the step by 0.01 at most.
TEST_F(MechanicsCompare, FindsTheErrorsOfALinearSystem) {
  const std::vector<double> steps{0.2, 0.1, 0.05, 0.025};
  const std::vector<std::string> schemes{"verlet", "zs:beta=0.3", "newmark:beta=0.25",
                                         "verlet:compose=yoshida4"};
  const CompareResult result = compare(springs(), schemes, steps);
  EXPECT_NEAR(result.time, 5.0, test::few_roundings(5.0));
  ASSERT_EQ(result.mechanics.size(), 16u);
  const std::vector<double> betas{0.0, 0.3, 0.25};
  for (std::size_t k = 0; k < 12; ++k) {
    const MechanicsSchemeResult& r = result.mechanics[k];
    EXPECT_EQ(r.step, steps[k % 4]);
    EXPECT_EQ(r.scheme, k / 4);
    EXPECT_EQ(r.steps, std::llround(5.0 / r.step));
    const auto [q, v] = exact_errors(r.step, betas[k / 4]);
    const double reference = r.reference_errors.q_max;
    EXPECT_GT(reference, 0.0);
    EXPECT_NEAR(r.errors.q_max, q, reference + 1e-12) << r.label;
    if (k < 8) {
      EXPECT_NEAR(r.errors.v_max, v, r.reference_errors.v_max + 1e-12) << r.label;
    }
    EXPECT_LE(r.errors.q_end, r.errors.q_max);
    EXPECT_GT(r.us_per_time, 0.0);
    EXPECT_NEAR(r.forces_per_time, static_cast<double>(r.force_evaluations) / 5.0, 1e-12);
    // One at the start, and one a step or, of Newmark's equations, an iteration.
    EXPECT_EQ(r.force_evaluations, 1 + (k < 8 ? r.steps : r.iterations)) << r.label;
    EXPECT_EQ(r.hessian_evaluations, k < 4 ? 0 : r.force_evaluations - (k < 8 ? 0 : 1));
    EXPECT_EQ(r.third_derivative_evaluations, k / 4 == 1 ? r.force_evaluations : 0);
  }
  for (std::size_t k = 12; k < 16; ++k) {
    EXPECT_EQ(result.mechanics[k].force_evaluations, 3 * result.mechanics[k].steps + 1);
  }
  // Of all steps: 25 + 50 + 100 + 200, and four starts.
  EXPECT_NEAR(result.orders[0].forces_per_step, 379.0 / 375.0, 1e-12);
  EXPECT_EQ(result.orders[0].hessians_per_step, 0.0);
  EXPECT_NEAR(result.orders[2].hessians_per_step, 379.0 / 375.0, test::few_roundings(2.0));
  EXPECT_NEAR(result.orders[6].forces_per_step, 1129.0 / 375.0, test::few_roundings(2.0));
  EXPECT_GE(result.orders[4].iterations_per_step, 2.0);
  io::CsvReader csv(folder_.file("out/compare.csv"));
  std::vector<std::string_view> cells;
  for (const MechanicsSchemeResult& r : result.mechanics) {
    ASSERT_TRUE(csv.next(cells));
    EXPECT_EQ(cells[csv.column("force_evaluations")], std::to_string(r.force_evaluations));
    EXPECT_EQ(cells[csv.column("hessian_evaluations")], std::to_string(r.hessian_evaluations));
    EXPECT_EQ(cells[csv.column("third_derivative_evaluations")],
              std::to_string(r.third_derivative_evaluations));
    EXPECT_EQ(csv.number(cells[csv.column("forces_per_time")]), r.forces_per_time);
  }
  io::CsvReader orders(folder_.file("out/orders.csv"));
  ASSERT_TRUE(orders.next(cells));
  EXPECT_EQ(orders.number(cells[orders.column("forces_per_step")]),
            result.orders[0].forces_per_step);
  for (const MechanicsSchemeResult& r : result.mechanics) {
    EXPECT_LE(r.reference_errors.q_max, 0.01 * r.errors.q_max) << r.label;
  }
  for (std::size_t scheme = 0; scheme < 3; ++scheme) {
    std::vector<double> exact;
    for (const double h : steps) exact.push_back(exact_errors(h, betas[scheme])[0]);
    const analysis::OrderFit fit = analysis::fit_order(steps, exact, std::vector<double>(4, 0.0));
    EXPECT_NEAR(order_of(result, schemes[scheme]), fit.order, 0.01) << schemes[scheme];
    EXPECT_NEAR(fit.order, 2.0, 0.06);  // (2h)² = 0.16 and less beside one
  }
  // Its terms of order h⁶ are larger.
  EXPECT_NEAR(order_of(result, "verlet:compose=yoshida4"), 4.0, 0.1);
  EXPECT_NEAR(order_of(result, "verlet", "v"), 2.0, 0.06);
}

/// The step of the deck, which nothing here takes, does not round the time up.
TEST_F(MechanicsCompare, TheTimeIsThatOfTheDeck) {
  for (const char* step : {"0.1", "2.0", "0.7"}) {
    const CompareResult result = compare(springs(step, "1"), {"verlet"}, {0.1, 0.05});
    EXPECT_EQ(result.mechanics.at(0).steps, 10) << step;
    EXPECT_EQ(result.mechanics.at(1).steps, 20) << step;
  }
}

TEST_F(MechanicsCompare, EachSchemeIsMeasuredAgainstItsOwnEquations) {
  const Deck deck = input("three-body-plane", {"run.duration=2"});
  const std::vector<std::string> schemes{"verlet:omega=3", "variational-euler:omega=3", "rattle"};
  const std::vector<double> steps{0.05, 0.025, 0.0125, 0.00625};
  const CompareResult own = compare(deck, schemes, steps);
  EXPECT_TRUE(own.mechanics.front().reference.starts_with("verlet:compose=yoshida4:omega=3:step="));
  EXPECT_TRUE(own.mechanics.back().reference.starts_with("rattle:compose=yoshida4:step="));
  // Errors C h^p (1 + O(h)), and O(h²) for p = 2: measured are 0.005, 0.024 and 0.001.
  EXPECT_NEAR(order_of(own, schemes[0]), 2.0, 0.01);
  EXPECT_NEAR(order_of(own, schemes[1]), 1.0, 0.05);
  EXPECT_NEAR(order_of(own, schemes[2]), 2.0, 0.002);
  EXPECT_EQ(warnings_.find("not believed"), std::string::npos) << warnings_;

  // Bonds of omega = 3 are far from rigid: that error stays, whatever the step.
  const CompareResult rigid = compare(deck, schemes, steps, "rigid");
  EXPECT_EQ(rigid.mechanics.front().reference, rigid.mechanics.back().reference);
  EXPECT_TRUE(std::isnan(order_of(rigid, schemes[0])));
  EXPECT_NEAR(order_of(rigid, schemes[2]), 2.0, 0.002);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_GT(rigid.mechanics[k].errors.q_max, 10.0 * own.mechanics[3].errors.q_max);
  }
  EXPECT_NEAR(rigid.mechanics[3].errors.q_max, rigid.mechanics[2].errors.q_max,
              0.05 * rigid.mechanics[3].errors.q_max);
}

/// Positions on rotations, momenta in a body, points on a sphere: what the tests of their laws say.
TEST_F(MechanicsCompare, OrdersOnManifolds) {
  struct Case {
    Deck deck;
    std::vector<std::string> schemes;
    std::vector<double> orders;
  };
  const std::vector<Case> cases{
      {input("free-body", {"run.steps=50"}), {"moser-veselov"}, {2.0}},
      {input("heavy-top", {"run.steps=20"}), {"rattle", "constrained-euler"}, {2.0, 1.0}},
      {input("spherical-pendulum", {"run.steps=20"}),
       {"variational-of:rk2", "variational-of:rk4", "rattle"},
       {2.0, 4.0, 2.0}},
      {input("double-spherical-pendulum", {"run.duration=1"}),
       {"rattle", "midpoint", "rattle:compose=yoshida4"},
       {2.0, 2.0, 4.0}}};
  for (const Case& c : cases) {
    const CompareResult result = compare(c.deck, c.schemes, {0.025, 0.0125, 0.00625});
    for (std::size_t k = 0; k < c.schemes.size(); ++k) {
      for (const char* quantity : {"q", "v"}) {
        // C h^p (1 + O(h)) of order 1, and O(h²) otherwise.
        EXPECT_NEAR(order_of(result, c.schemes[k], quantity), c.orders[k],
                    c.orders[k] == 1.0 ? 0.1 : 0.05)
            << c.deck.system.kind << ", " << c.schemes[k] << ", " << quantity;
      }
    }
  }
}

/// One has the velocity p = R'/2 of the matrix, and the other the angular velocity.
TEST_F(MechanicsCompare, ColumnsThatHoldSomethingElseAreNotCompared) {
  const Deck deck = input("magnet", {"run.duration=2"});
  const std::vector<std::string> schemes{"so3-linearised", "cayley-variational-euler"};
  const std::vector<double> steps{0.02, 0.01, 0.005};
  const CompareResult own = compare(deck, schemes, steps);
  EXPECT_TRUE(own.mechanics.back().reference.starts_with("rk4:step="));
  for (const MechanicsSchemeResult& r : own.mechanics) {
    EXPECT_TRUE(std::isfinite(r.errors.q_max) && std::isfinite(r.errors.v_max)) << r.label;
  }
  // O(h), as of order 1 above: 0.028.
  EXPECT_NEAR(order_of(own, schemes[1], "v"), 1.0, 0.055);
  const CompareResult rigid = compare(deck, schemes, steps, "rigid");
  EXPECT_TRUE(std::isfinite(rigid.mechanics.front().errors.q_max));
  EXPECT_TRUE(std::isnan(rigid.mechanics.front().errors.v_max));
  EXPECT_TRUE(std::isfinite(rigid.mechanics.back().errors.v_max));
}

/// Verlet's step on the penalty of omega = 20 is stable up to some 0.02.
TEST_F(MechanicsCompare, AFailureDoesNotStopTheOthers) {
  const Deck deck = input("double-pendulum", {"run.duration=2"});
  const CompareResult result = compare(deck, {"verlet", "rattle"}, {0.1, 0.01, 0.005});
  ASSERT_EQ(result.mechanics.size(), 6u);
  EXPECT_FALSE(result.mechanics[0].failure.empty());
  EXPECT_TRUE(std::isnan(result.mechanics[0].errors.q_max));
  EXPECT_TRUE(std::isnan(result.mechanics[0].us_per_time));
  EXPECT_TRUE(std::isnan(result.mechanics[0].forces_per_time));
  for (std::size_t k = 1; k < 6; ++k) {
    EXPECT_TRUE(result.mechanics[k].failure.empty()) << result.mechanics[k].failure;
    EXPECT_TRUE(std::isfinite(result.mechanics[k].errors.q_max));
  }
  EXPECT_TRUE(contains(warnings_, "verlet:step=0.1: \"verlet\" failed at step")) << warnings_;
  io::CsvReader csv(folder_.file("out/compare.csv"));
  std::vector<std::string_view> cells;
  ASSERT_TRUE(csv.next(cells));
  EXPECT_EQ(cells[csv.column("error_q_max")], "nan");
  EXPECT_NE(cells[csv.column("failed_at")], "nan");
  ASSERT_TRUE(csv.next(cells));
  EXPECT_EQ(csv.number(cells[csv.column("error_q_max")]), result.mechanics[1].errors.q_max);
  EXPECT_EQ(cells[csv.column("failed_at")], "nan");
}

/// The error of a reference that is no better than what is measured with it: nothing is believed.
/// At rest without weight all schemes leave rounding only, and rounding has no order.
TEST_F(MechanicsCompare, RoundingHasNoOrder) {
  const CompareResult result =
      compare(input("double-pendulum", {"system.gravity=0", "run.duration=5"}), {"rattle"},
              {0.2, 0.1, 0.05});
  ASSERT_EQ(result.mechanics.size(), 3u);
  for (const MechanicsSchemeResult& s : result.mechanics) {
    EXPECT_GE(s.reference_errors.q_max, 10.0 * test::kEpsilon) << "positions are larger than 1";
    EXPECT_LT(s.reference_errors.q_max, 1e-13);
    EXPECT_LT(s.errors.q_max, 1e-13);
  }
  EXPECT_TRUE(std::isnan(order_of(result, "rattle")));
}

TEST_F(MechanicsCompare, AReferenceOfAGivenStepIsTakenAsItIs) {
  const Deck deck = input("three-body-plane", {"run.duration=2"});
  const CompareResult result =
      compare(deck, {"rattle"}, {0.05, 0.025, 0.0125}, "shake:step=0.00625");
  EXPECT_EQ(result.mechanics.front().reference, "shake:step=0.00625");
  // Of order 2: e(h) - e(h/2) = 3 e(h/2), and the errors against it are 63, 15 and 3 of these.
  for (const auto& [k, ratio] : {std::pair<std::size_t, double>{0, 63.0}, {1, 15.0}, {2, 3.0}}) {
    const MechanicsSchemeResult& r = result.mechanics[k];
    EXPECT_NEAR(r.errors.q_max / (r.reference_errors.q_max / 3.0), ratio, 0.05 * ratio);
  }
  EXPECT_EQ(result.orders.front().fit.points, 0u);
  EXPECT_TRUE(contains(warnings_, "2 of 3 errors are unreliable")) << warnings_;
}

/// Keys of the deck hold for the reference, whatever the schemes make of them.
TEST_F(MechanicsCompare, TheReferenceHasTheKeysOfTheDeck) {
  const Deck deck = input("three-body-plane", {"run.duration=2", "integrator.omega=3"});
  const CompareResult result =
      compare(deck, {"rattle", "zs:omega=3"}, {0.05, 0.025, 0.0125}, "verlet");
  EXPECT_TRUE(std::isnan(order_of(result, "rattle")));
  // O(h²): 0.014.
  EXPECT_NEAR(order_of(result, "zs:omega=3"), 2.0, 0.03);
}

/// Verlet's step on bonds with omega = 1000 is stable up to some 0.0005, 1/50 of the first.
TEST_F(MechanicsCompare, TheReferenceOfStiffBondsIsHalvedUntilItIsStable) {
  const Deck deck = input("three-body-plane", {"run.duration=0.5"});
  const CompareResult result = compare(deck, {"midpoint:omega=1000"}, {0.1, 0.05});
  for (const MechanicsSchemeResult& r : result.mechanics) {
    EXPECT_TRUE(std::isfinite(r.errors.q_max)) << r.reference;
    EXPECT_LT(r.reference_errors.q_max, 0.1 * r.errors.q_max);
  }
  const std::string& label = result.mechanics.front().reference;
  EXPECT_LT(std::stod(label.substr(label.rfind('=') + 1)), 0.0005) << label;
}

/// Verlet's step with omega = 20 is too long in both runs of the reference.
TEST_F(MechanicsCompare, ReportsAFailedReference) {
  const Deck deck = input("double-pendulum", {"run.duration=2"});
  const CompareResult result = compare(deck, {"rattle"}, {0.2, 0.1}, "verlet:step=0.1");
  EXPECT_TRUE(std::isnan(result.mechanics.front().errors.q_max));
  EXPECT_TRUE(result.mechanics.front().failure.empty());
  EXPECT_TRUE(contains(warnings_, "the reference verlet:step=0.1 failed")) << warnings_;
}

TEST_F(MechanicsCompare, RejectsInvalidOptions) {
  const auto message = [&](const Deck& deck, const std::vector<std::string>& schemes,
                           const std::vector<double>& steps, const std::string& reference = "") {
    return message_of<InputError>([&] { compare(deck, schemes, steps, reference); });
  };
  const Deck deck = input("three-body-plane");
  EXPECT_TRUE(contains(message(deck, {"zs:step=0.1"}, {0.1, 0.05}), "omit step here"));
  EXPECT_TRUE(contains(message(deck, {"zs"}, {0.1, -0.05}), "must be greater than 0"));
  EXPECT_TRUE(contains(message(deck, {"zs"}, {0.1, 0.1}), "given only once"));
  EXPECT_TRUE(contains(message(deck, {"zs"}, {0.1, 0.07071}), "a multiple of all steps"));
  EXPECT_TRUE(contains(message(deck, {"zs"}, {0.1}, "zs:step=x"), "step must be the last key"));
  EXPECT_TRUE(
      contains(message(deck, {"zs"}, {0.1}, "zs:step=0.03"), "0.1, the time between samples"));
  EXPECT_TRUE(contains(message(deck, {"zs"}, {0.1}, "zz"), "--reference zz"));
  EXPECT_TRUE(
      contains(message(input("double-spring"), {"slow-manifold"}, {0.1}), "has no time steps"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("out")));
}

TEST(MechanicsErrors, OrdersAndCostsOfSeveralSchemes) {
  std::vector<MechanicsSchemeResult> results;
  const auto add = [&](std::size_t scheme, const char* reference, double step, double error,
                       double us, double of_reference) {
    MechanicsSchemeResult& r = results.emplace_back();
    r.label = std::string(1, static_cast<char>('a' + scheme)) + std::to_string(results.size());
    r.scheme = scheme;
    r.reference = reference;
    r.step = step;
    r.us_per_time = us;
    r.errors.q_max = error;
    r.reference_errors.q_max = of_reference;
  };
  for (const double h : {0.1, 0.05, 0.025}) add(0, "r", h, 3.9 * h * h, 1.0 / h, 1e-6);
  for (const double h : {0.1, 0.05}) add(1, "r", h, h, 0.1 / h, 1e-6);
  add(2, "s", 0.1, 3e-6, 7.0, 1e-6);
  add(2, "s", 0.05, TrajectoryErrors::kNone, 9.0, 1e-6);
  const std::vector<SchemeOrder> orders = convergence_orders(results, {"a", "b", "c"});
  ASSERT_EQ(orders.size(), 6u);
  EXPECT_EQ(order_text(orders[0].fit), "2.00");
  EXPECT_EQ(order_text(orders[2].fit), "1.00?");
  EXPECT_EQ(order_text(orders[4].fit), "-");

  // a: 0.039, 0.00975, 0.0024; b: 0.1, 0.05.
  const auto best = cheapest_schemes(results);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].reference, "r");
  EXPECT_NEAR(best[0].within, 1e-2, test::few_roundings());
  EXPECT_EQ(best[0].label, "a2");
  EXPECT_EQ(best[0].us_per_time, 20.0);
  // The only error against s is known to be within ten times that of its reference.
  EXPECT_EQ(best[1].reference, "s");
  EXPECT_NEAR(best[1].within, 1e-5, 1e-18);

  // An order of v that is far below that of q is told, too.
  std::vector<SchemeOrder> of_v = orders;
  ASSERT_EQ(of_v[1].quantity, "v");
  of_v[1].fit = orders[0].fit;
  for (const double order : {1.6, 1.4}) {
    of_v[1].fit.order = order;
    EXPECT_EQ(error_plots(results, {"a"}, of_v, {false})[0].series[0].label,
              order > 1.5 ? "a, order 2.00" : "a, order 2.00, of v 1.40");
  }

  const auto plots = error_plots(results, {"a", "b", "c"}, orders, {false, false, true});
  ASSERT_EQ(plots.size(), 2u);
  ASSERT_EQ(plots[0].series.size(), 5u);  // three curves, what is grey, one reference
  EXPECT_EQ(plots[0].series[0].label, "a, order 2.00");
  EXPECT_EQ(plots[0].series[0].x, (std::vector<double>{0.1, 0.05, 0.025}));
  EXPECT_EQ(plots[1].series[0].x, (std::vector<double>{10.0, 20.0, 40.0}));
  EXPECT_EQ(plots[0].series[2].label, "c");
  EXPECT_TRUE(plots[0].series[2].dashed);
  EXPECT_EQ(plots[0].series[3].y, (std::vector<double>{3e-6}));
  EXPECT_EQ(plots[0].series[4].y, (std::vector<double>{1e-6, 1e-6}));
  EXPECT_LT((*plots[0].y_range)[0], 1e-6);

  // A panel more where forces are evaluated; a scheme without any has no place on its axis.
  for (MechanicsSchemeResult& r : results) r.forces_per_time = r.scheme == 1 ? 0.0 : 4.0 / r.step;
  const auto panels = error_plots(results, {"a", "b", "c"}, orders, {false, false, true});
  ASSERT_EQ(panels.size(), 3u);
  EXPECT_EQ(panels[2].series[0].x, (std::vector<double>{40.0, 80.0, 160.0}));
  EXPECT_EQ(panels[2].series[0].y, panels[0].series[0].y);
  EXPECT_TRUE(panels[2].series[1].x.empty());
  EXPECT_GT((*panels[2].x_range)[0], 0.0);
}

}  // namespace
}  // namespace tarn
