// Starts without vibration of the bonds: the filter, one molecule, and what a deck gives.

#include "core/slow_point.hpp"
#include "engine_fixtures.hpp"
#include "json_reader.hpp"
#include "physics/slow_manifold.hpp"
#include "start/start_sources.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/run.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;
using Vector = Eigen::VectorXd;

// --- the filter ---

/// Some 40 terms of order one, each of a step that rounds and a weight that does: 90 roundings.
constexpr double kFilterRounding = 90.0 * kEpsilon;

// AST 5.2: mass one and three vanishing moments. A free point at x + v t averages t, t² and t³ to
// nothing.
TEST(SlowPoint, FilterKeepsCubics) {
  for (const double ratio : {1.0, 1.4, 3.9}) {
    SlowProjection p;
    p.window = slow_window(1.0, ratio);
    p.tolerance = 1.0;  // one iteration
    p.acceleration = [](const Vector& x) { return Vector::Zero(x.size()).eval(); };
    p.constraints = [](const Vector& x, const Vector&) { return Vector::Zero(x.size()).eval(); };
    // In units of the window, t = x.
    const double half = p.window.step * p.window.steps;
    p.averaged = [](const Vector& x, const Vector&) {
      return Vector(Eigen::Vector4d(1.0, x[0], x[0] * x[0], x[0] * x[0] * x[0]));
    };
    Vector mean;
    p.move = [&](const Vector& m, Vector&, Vector&) { mean = m; };
    Vector x = Vector::Zero(1), v = Vector::Constant(1, 1.0 / half);
    EXPECT_EQ(move_to_slow_point(p, x, v), 1);
    EXPECT_NEAR(mean[0], 1.0, kFilterRounding) << ratio;
    for (int power = 1; power < 4; ++power) EXPECT_NEAR(mean[power], 0.0, kFilterRounding) << ratio;
  }
}

// Of cos and sin of an oscillator the middle is left, times the response. The slowest frequency of
// the window is left by a thirtieth, a third of it nearly whole.
TEST(SlowPoint, ResponseMatchesTheFilter) {
  SlowProjection p;
  p.window = slow_window(1.0, 3.9);
  p.tolerance = 10.0;  // one iteration
  for (const double frequency : {0.3, 1.0, 1.7, 3.9}) {
    p.acceleration = [&](const Vector& x) { return Vector(-frequency * frequency * x); };
    p.constraints = p.averaged = [](const Vector& x, const Vector& v) {
      return Vector(Eigen::Vector2d(x[0], v[0]));
    };
    Vector mean;
    p.move = [&](const Vector& m, Vector&, Vector&) { mean = m; };
    Vector x = Vector::Constant(1, 0.7), v = Vector::Constant(1, -1.3);
    move_to_slow_point(p, x, v);
    const double response = filter_response(p.window, frequency);
    EXPECT_NEAR(mean[0], 0.7 * response, kFilterRounding);
    EXPECT_NEAR(mean[1], -1.3 * response, kFilterRounding);
  }
  EXPECT_NEAR(filter_response(p.window, 1.0), 0.032, 0.5e-3);  // half of the last digit
  EXPECT_GT(filter_response(p.window, 0.3), 0.5);
}

TEST(SlowPoint, WindowOfThePaper) {
  const SlowWindow paper = slow_window(1000.0, 1000.0);
  EXPECT_EQ(paper.steps, 18);
  EXPECT_DOUBLE_EQ(paper.step, 2.0 * M_PI / 1000.0 / 6.0);
  const SlowWindow two = slow_window(1.0, 3.909);  // 70.4 steps, and an even number of them
  EXPECT_EQ(two.steps, 72);
  EXPECT_NEAR(two.step * two.steps, 6.0 * M_PI, 4.0 * kEpsilon * 6.0 * M_PI);  // four operations
}

// --- one molecule ---

struct Molecule {
  WaterModel model = tip3p();
  Masses<double> m = masses(model);
  BondReference<double> reference = bond_reference(model);
  Triple<double> x, v;
  explicit Molecule(Random& random) {
    x = molecule_at_origin(model) + random.triple(0.02);
    v = random.triple(1.0);
  }
  double kinetic(const Triple<double>& u) const { return 0.5 * weighted_norm2(m.o, m.h, u); }
};

// Where J v is the whole motion, its energy is all of the kinetic energy; where v is tangent and g
// balances rigid bonds, there is none; without forces at rest it is the penalty.
// Differences of g and of rates pass through a system of three equations whose condition is some
// 10, in 100 operations: 1000 roundings of the energies at most. Measured: 20 at most.
TEST(FastBondEnergy, ClosedForms) {
  constexpr double kRounding = 1e3 * kEpsilon;
  Random random(3);
  const double omega = 70.0;
  const Triple<double> zero{};
  for (int k = 0; k < 20; ++k) {
    const Molecule w(random);
    const auto energy = [&](const Triple<double>& v, const Triple<double>& f,
                            const BondReference<double>& r) {
      return fast_bond_energy(w.x, v, f, r, w.m, omega);
    };
    const double penalty = penalty_energy(w.x, w.reference, omega);
    EXPECT_NEAR(energy(zero, zero, w.reference), penalty, kRounding * penalty);

    const Triple<double> tangent = project_velocities(w.x, w.v, w.m);
    const Triple<double> f = random.triple(20.0);
    const double all = energy(w.v, f, w.reference) - energy(tangent, f, w.reference);
    EXPECT_NEAR(all, w.kinetic(w.v - tangent), kRounding * (all + penalty));

    const Bonds<double> b = bonds(w.x);
    const BondValues<double> lambda = rigid_multipliers(w.x, tangent, f, w.m);
    // Lengths of reference for which g = -lambda/omega²; OH bonds have one for both.
    const BondValues<double> g{-lambda.oh1 / (omega * omega), -lambda.oh2 / (omega * omega),
                               -lambda.hh / (omega * omega)};
    const BondReference<double> balanced{b.length2.oh1 - g.oh1, b.length2.hh - g.hh};
    const double left = b.length2.oh2 - balanced.oh2 - g.oh2;
    EXPECT_NEAR(energy(tangent, f, balanced), 0.5 * omega * omega * left * left,
                kRounding * (1.0 + penalty));
  }
}

// Rates exactly, to rounding; g with an error of second order in the change; momentum and centre of
// mass as they were. Rates are sums of six products of order three, after a solve with a condition
// of some 10; in momentum, oxygen's 16 Da times velocities of one round six times.
TEST(MoveBonds, ReachesGAndItsRate) {
  constexpr double kRates = 6 * 3 * 10 * kEpsilon, kMomenta = 6 * 16 * kEpsilon;
  Random random(4);
  for (int k = 0; k < 20; ++k) {
    const Molecule w(random);
    const BondValues<double> rates{0.3, -0.2, 0.1};
    const BondValues<double> g = constraint_values(bonds(w.x), w.reference);
    std::array<double, 2> error{};
    for (int half = 0; half < 2; ++half) {
      const double change = half == 0 ? 0.02 : 0.01;
      const BondValues<double> wanted{g.oh1 + change, g.oh2 - change, g.hh + 2.0 * change};
      Triple<double> x = w.x, v = w.v;
      move_bonds(wanted, rates, w.reference, w.m, x, v);
      const Bonds<double> b = bonds(x);
      const BondValues<double> found = constraint_values(b, w.reference);
      const BondValues<double> found_rates = apply_jacobian(b, v);
      error[static_cast<std::size_t>(half)] =
          std::hypot(found.oh1 - wanted.oh1, found.oh2 - wanted.oh2, found.hh - wanted.hh);
      EXPECT_NEAR(found_rates.oh1, rates.oh1, kRates);
      EXPECT_NEAR(found_rates.oh2, rates.oh2, kRates);
      EXPECT_NEAR(found_rates.hh, rates.hh, kRates);
      for (const Triple<double>& d : {x - w.x, v - w.v}) {
        const Vec3<double> sum = w.m.o * d.o + w.m.h * (d.h1 + d.h2);
        EXPECT_LT(std::hypot(sum.x, sum.y, sum.z), kMomenta);
      }
    }
    // Exactly quadratic: g is. Squares of 1 A round some ten times, and twice in a ratio.
    EXPECT_NEAR(error[0] / error[1], 4.0, 4.0 * 2.0 * 10.0 * kEpsilon / error[1]);
  }
}

// --- clusters ---

/// Relaxed with Maxwell's velocities or their tangent part, or rigid with the tangent part.
enum class From { maxwell, tangent, rigid };

struct Cluster {
  std::vector<double> x, v;
};

constexpr double kTemperature_K = 10.06;

Cluster seven(double omega, From from) {
  Cluster c{reference_positions(7), {}};
  c.v.resize(c.x.size());
  ForceField force_field(tip3p(), 7);
  if (from != From::rigid) relax_penalised(force_field, omega, c.x, {1e-9, 2'000});
  start::draw_velocities(tip3p(), c.x, kTemperature_K, from != From::maxwell, 1, 0, c.v);
  return c;
}

SlowManifoldStart project(double omega, Cluster& c) {
  ForceField force_field(tip3p(), 7);
  return start::project_onto_slow_manifold(force_field, tip3p(), omega, c.x, c.v);
}

/// Clusters whose start is projected.
Deck projected_deck(int molecules, int replicas, double temperature_K) {
  Deck deck;
  deck.path = "nowhere/deck.toml";
  deck.system.molecules = molecules;
  deck.system.replicas = replicas;
  deck.system.temperature_K = temperature_K;
  deck.integrator.scheme = Scheme::zss_stiff;
  deck.system.project = StartProjection::slow_manifold;
  return deck;
}

Momenta momenta(const Cluster& c) { return test::momenta(tip3p(), c.x, c.v); }

/// What a sum of that many terms and of that size rounds by, of both the terms and the sum.
double sum_rounding(double terms, double size) { return 2.0 * terms * kEpsilon * size; }

/// That y goes as a power of omega, whose next term is smaller by omega^-2: what it makes the power
/// off by between 100 and 200, it makes a fourth of between 200 and 400.
template <class F>
void expect_power(F y_of, double power, double off) {
  const double y[] = {y_of(100.0), y_of(200.0), y_of(400.0)};
  EXPECT_NEAR(std::log2(y[1] / y[0]), power, off);
  EXPECT_NEAR(std::log2(y[2] / y[1]), power, off / 4.0);
}

// The energy left is that of the slow rates J v, of order omega^-2; that of tangent velocities is
// centrifugal, g off by order omega^-2. Powers are off by 0.003 to 0.007 as measured: twice that.
TEST(SlowStart, EnergyFallsAsTheFourthPower) {
  constexpr double kOff = 0.014;
  for (const From from : {From::maxwell, From::tangent, From::rigid}) {
    const auto after = [&](double omega) {
      Cluster c = seven(omega, from);
      return project(omega, c).fast_after_kcal_per_mol;
    };
    expect_power(after, -4.0, kOff);
  }
  const auto before = [](double omega) {
    Cluster c = seven(omega, From::tangent);
    return project(omega, c).fast_before_kcal_per_mol;
  };
  expect_power(before, -2.0, kOff);
}

// Three modes of kT/2 a molecule, to 4.5 standard errors of chi-squared with 3 N R degrees.
TEST(SlowStart, EnergyBeforeIsThatOfMaxwell) {
  const Start start = make_start(projected_deck(5, 32, 100.0));
  ASSERT_TRUE(start.slow.has_value());
  const double modes = 3.0 * 5 * 32;
  const double expected = 3.0 * 5 * 0.5 * units::boltzmann_kcal_per_mol_K * 100.0;
  EXPECT_NEAR(start.slow->fast_before_kcal_per_mol / expected, 1.0, 4.5 * std::sqrt(2.0 / modes));
  EXPECT_LT(start.slow->fast_after_kcal_per_mol, 1e-4 * start.slow->fast_before_kcal_per_mol);
  EXPECT_FALSE(start.messages.empty());
}

// Largest excursion of any g over three periods of the slowest vibration, by Verlet with a 50th of
// the fastest period: of a vibration of fixed energy as 1/omega, of one that begins
// without the forces' stretch as 1/omega², and of slow motion as 1/omega³, a value of order
// omega^-2 that changes at its own pace. Powers are off by 0.002 at most of vibrations, and by 0.08
// of slow motion, which lasts over three periods for less and less of its own: twice that.
TEST(SlowStart, BondsDoNotVibrate) {
  const auto excursion = [](double omega, const Cluster& c) {
    System system;
    system.model = tip3p();
    system.molecules = 7;
    system.integrator.scheme = Scheme::verlet;
    system.integrator.omega = omega;
    system.integrator.timestep_akma = 2.0 * M_PI / 4.5438 / omega / 50.0;
    State state;
    state.molecules = 7;
    state.replica_ids = {0};
    state.positions_A = c.x;
    state.velocities_A_per_akma = c.v;
    const auto engine = make_cpu_engine(system, state, {}, 1);
    std::array<double, 21> low, high;
    low.fill(1e9);
    high.fill(-1e9);
    for (int step = 0; step < 50 * 12; ++step) {
      const State s = engine->state();
      for (std::size_t m = 0; m < 7; ++m) {
        const BondValues<double> g =
            constraint_values(bonds(molecule(s.positions_A, m)), bond_reference(tip3p()));
        const std::array<double, 3> values{g.oh1, g.oh2, g.hh};
        for (std::size_t k = 0; k < 3; ++k) {
          low[3 * m + k] = std::min(low[3 * m + k], values[k]);
          high[3 * m + k] = std::max(high[3 * m + k], values[k]);
        }
      }
      engine->advance(1);
    }
    double worst = 0.0;
    for (std::size_t k = 0; k < low.size(); ++k) worst = std::max(worst, high[k] - low[k]);
    return worst;
  };
  const auto of = [&](From from, bool projected) {
    return [&, from, projected](double omega) {
      Cluster c = seven(omega, from);
      if (projected) project(omega, c);
      return excursion(omega, c);
    };
  };
  constexpr double kOfVibration = 0.004, kOfSlowMotion = 0.16;
  expect_power(of(From::maxwell, false), -1.0, kOfVibration);
  expect_power(of(From::rigid, false), -2.0, kOfVibration);
  expect_power(of(From::maxwell, true), -3.0, kOfSlowMotion);
  expect_power(of(From::rigid, true), -3.0, kOfSlowMotion);
}

// The rates J v are of order omega^-2: tangent in the limit. The power is off by 0.0003 and
// 0.0001 as measured, where the largest rate is one of several: four times that.
TEST(SlowStart, VelocitiesBecomeTangent) {
  const auto largest_rate = [](double omega) {
    Cluster c = seven(omega, From::maxwell);
    project(omega, c);
    return largest_bond_rate(c.x, c.v);
  };
  expect_power(largest_rate, -2.0, 1.2e-3);
}

// It stops when omega g and J v change by less than 1e-7; the next change is smaller, and moves
// atoms by less than |change|/(2 d) with d > 0.9 A.
// Without the response of the filter each iteration leaves a thirtieth, and six are needed.
TEST(SlowStart, SettlesInFewIterations) {
  for (const double omega : {100.0, 1000.0}) {
    Cluster c = seven(omega, From::maxwell);
    EXPECT_LE(project(omega, c).iterations, 3) << omega;
  }
}

// The changes of a second projection are the next ones: below 1e-7 times the thirtieth that an
// iteration leaves at most, over the 2 d of atoms. Measured: 1e-3 of it.
TEST(SlowStart, IsIdempotent) {
  constexpr double kNextChange = 1e-7 / 30.0 / (2.0 * 0.9);
  const double omega = 100.0;
  Cluster once = seven(omega, From::maxwell);
  project(omega, once);
  Cluster twice = once;
  project(omega, twice);
  for (std::size_t k = 0; k < once.x.size(); ++k) {
    EXPECT_NEAR(twice.x[k], once.x[k], kNextChange / omega);
    EXPECT_NEAR(twice.v[k], once.v[k], kNextChange);
  }
}

// Momentum and centre of mass to rounding. The angular momentum changes with the positions, which
// move by the order of omega^-2; not at all it would be no loss to speak of. Its power is off by
// 0.025 as measured: twice that.
TEST(SlowStart, KeepsMomentum) {
  for (const double omega : {100.0, 400.0}) {
    Cluster c = seven(omega, From::maxwell);
    const Momenta before = momenta(c);
    project(omega, c);
    const Momenta after = momenta(c);
    // Of both: momenta of an atom are 1 at most, and positions of 3 A weigh 16.
    EXPECT_LT((after.linear - before.linear).norm(), 2.0 * sum_rounding(21, 1.0));
    EXPECT_LT((after.moment - before.moment).norm(), 2.0 * sum_rounding(21, 16.0 * 3.0));
  }
  const auto turned = [](double omega) {
    Cluster c = seven(omega, From::maxwell);
    const Eigen::Vector3d before = momenta(c).angular;
    project(omega, c);
    return (momenta(c).angular - before).norm();
  };
  expect_power(turned, -2.0, 0.05);
}

TEST(SlowStart, OtherModelsAndMasses) {
  for (const WaterModel& model : kWaterModels) {
    for (const double hydrogen : {1.008, 4.0}) {
      Deck deck = projected_deck(2, 1, 10.0);
      deck.system.model = std::string(model.name);
      deck.system.hydrogen_mass_Da = hydrogen;
      const Start start = make_start(deck);
      EXPECT_LT(start.slow->fast_after_kcal_per_mol, 1e-4 * start.slow->fast_before_kcal_per_mol)
          << model.name << ' ' << hydrogen;
    }
  }
}

// Bonds torn to twice their length do not settle.
TEST(SlowStart, ReportsMissingConvergence) {
  Cluster c = seven(100.0, From::maxwell);
  for (double& v : c.v) v *= 1e4;
  EXPECT_THROW(project(100.0, c), NumericalError);
}

// --- decks ---

// Law 3: a resumed run equals the whole, and run.json has the energies of the start.
TEST(SlowStart, RunsReportItAndResume) {
  const ScratchFolder scratch;
  const auto run = [&](int steps, const std::string& folder, bool resume) {
    const Deck deck = parse_deck(
        "[system]\nmolecules = 3\ntemperature_K = 50.0\nproject = \"slow-manifold\"\n"
        "[integrator]\nscheme = \"zss-stiff\"\n[run]\nsteps = " +
            std::to_string(steps) + "\n[observe.conservation]\nevery = 1\n",
        "d.toml");
    RunOptions options;
    options.out_dir = scratch.file(folder);
    options.resume = resume;
    run_deck(deck, options);
    return make_start(deck).slow;
  };
  const std::optional<SlowManifoldStart> slow = run(40, "whole", false);
  run(20, "parts", false);
  run(40, "parts", true);
  auto whole = contents_of(scratch.file("whole")), parts = contents_of(scratch.file("parts"));
  const Json found = json_of(whole.at("run.json"))["slow_start"];
  EXPECT_EQ(found["fast_energy_before_kcal_per_mol"].number, slow->fast_before_kcal_per_mol);
  EXPECT_EQ(found["fast_energy_after_kcal_per_mol"].number, slow->fast_after_kcal_per_mol);
  EXPECT_EQ(found["iterations"].number, slow->iterations);
  EXPECT_LT(slow->fast_after_kcal_per_mol, 1e-4 * slow->fast_before_kcal_per_mol);
  whole.erase("run.json");
  parts.erase("run.json");
  EXPECT_EQ(whole, parts);
}

TEST(SlowStart, OfDecks) {
  const Deck deck = parse_deck(
      "[system]\nmolecules = 2\nproject = \"slow-manifold\"\n[run]\nsteps = 1\n"
      "[integrator]\nscheme = \"zss-stiff\"\n",
      "d.toml");
  EXPECT_EQ(deck.system.project, StartProjection::slow_manifold);
  EXPECT_EQ(parse_deck(resolved_deck(deck), "d.toml"), deck);
  // Rigid schemes drop it where a comparison changes the scheme.
  EXPECT_EQ(with_scheme(deck, "settle").system.project, StartProjection::none);
}

}  // namespace
}  // namespace tarn
