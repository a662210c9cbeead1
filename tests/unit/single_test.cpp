#include <bit>

#include "core/pack.hpp"
#include "steps/step_program.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;
using U = std::uint32_t;
using Fixed = FixedPosition<U>;

std::array<U, 12> words(const Fixed& p) {
  const auto& [o, h1, h2] = p.x;
  return {p.cell.x, p.cell.y, p.cell.z, o.x, o.y, o.z, h1.x, h1.y, h1.z, h2.x, h2.y, h2.z};
}
template <class To, class From>
Triple<To> converted(const Triple<From>& a) {
  std::array<To, 9> numbers;
  std::ranges::transform(to_array(a), numbers.begin(), [](From c) { return static_cast<To>(c); });
  return to_triple(numbers);
}
Triple<float> rounded(const Triple<double>& a) { return converted<float>(a); }
Triple<double> widened(const Triple<float>& a) { return converted<double>(a); }
double largest(const Triple<double>& a) {
  double r = 0.0;
  for (const double c : to_array(a)) r = std::max(r, std::abs(c));
  return r;
}

/// Oxygens on both sides of the limits between cells, near the origin and far from it.
std::vector<Triple<double>> positions(Random& random) {
  std::vector<Triple<double>> all;
  for (double far : {0.0, 1.0, -1.0, 37.0, -1e3, 1e5, -1.6e7}) {
    for (double near : {-0.5, 0.5, 0.5 - kFixedUnit, -0.5 - kFixedUnit, kFixedUnit, 0.0}) {
      const double c = far + near;
      all.push_back({{c, c, c}, {c + 0.9, c - kFixedUnit, c + 0.2}, {c - 0.9, c + 0.1, c}});
    }
    for (int k = 0; k < 2000; ++k) {
      Triple<double> x = random_molecule(kWaterModels[0], random, 5.0);
      const Vec3<double> shift{far, -far, far};
      all.push_back({x.o + shift, x.h1 + shift, x.h2 + shift});
    }
  }
  return all;
}

TEST(Single, PositionsAreWithinHalfAUnitAndReadAgainTheSame) {
  Random random(1);
  for (const Triple<double>& x : positions(random)) {
    const Fixed p = fixed_position(x);
    EXPECT_LE(largest(position_of(p) - x), 0.5 * kFixedUnit);
    EXPECT_EQ(words(fixed_position(position_of(p))), words(p));
    for (U o : {p.x.o.x, p.x.o.y, p.x.o.z}) {
      const std::int32_t from_cell = static_cast<std::int32_t>(o);
      EXPECT_TRUE(-(1 << 25) <= from_cell && from_cell < 1 << 25);
    }
  }
}

/// The step is rounded once, to a float and then to a unit, and undone exactly.
TEST(Single, DriftRoundsTheStepOnly) {
  Random random(3);
  for (const Triple<double>& x : positions(random)) {
    const float h = static_cast<float>(random.log_uniform(0.004, 0.1));
    const Triple<float> v = rounded(random.triple(random.log_uniform(1e-6, 10.0)));
    const Fixed start = fixed_position(x);
    Fixed p = start;
    fixed_drift(p, h, v);
    const Triple<double> step = scale(double{h}, double{h}, widened(v));
    EXPECT_LE(largest(position_of(p) - position_of(start) - step),
              0.5 * kFixedUnit + 0x1p-23 * largest(step));
    EXPECT_EQ(words(fixed_position(position_of(p))), words(p));
    fixed_drift(p, -h, v);
    EXPECT_EQ(words(p), words(start));
  }
}

/// Whatever cannot be a displacement must not trap, and shows in the velocity.
TEST(Single, WildVelocitiesAreHarmless) {
  for (float v : {NAN, INFINITY, -INFINITY, 3e38f}) {
    Fixed p = fixed_position({{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}});
    const Vec3<float> a{v, v, v};
    fixed_drift(p, 0.05f, Triple<float>{a, a, a});
    EXPECT_EQ(words(fixed_position(position_of(p))), words(p));
  }
}

TEST(Single, PacksGiveTheBitsOfNumbers) {
  using FP = Pack<float>;
  using UP = Pack<U>;
  Random random(5);
  for (int k = 0; k < 500; ++k) {
    const float h = static_cast<float>(random.log_uniform(0.004, 0.1));
    std::array<SingleState<float, U>, FP::lanes> one;
    SingleState<FP, UP> all;
    for (int l = 0; l < FP::lanes; ++l) {
      SingleState<float, U>& s = one[static_cast<std::size_t>(l)];
      s = {fixed_position(random_molecule(kWaterModels[0], random, 50.0)),
           rounded(random.triple(3.0)), rounded(random.triple(50.0))};
      const auto put = [&](const auto& from, auto& to) {
        to.x.v[l] = from.x;
        to.y.v[l] = from.y;
        to.z.v[l] = from.z;
      };
      const auto put3 = [&](const auto& from, auto& to) {
        put(from.o, to.o);
        put(from.h1, to.h1);
        put(from.h2, to.h2);
      };
      put(s.x.cell, all.x.cell);
      put3(s.x.x, all.x.x);
      put3(s.v, all.v);
      put3(s.a, all.a);
    }
    fixed_drift(all.x, FP(h), all.v);
    const Triple<FP> d = from_oxygen<FP>(all.x);
    for (int l = 0; l < FP::lanes; ++l) {
      SingleState<float, U>& s = one[static_cast<std::size_t>(l)];
      fixed_drift(s.x, h, s.v);
      EXPECT_EQ(s.x.cell.x, all.x.cell.x[l]);
      EXPECT_EQ(s.x.x.o.y, all.x.x.o.y[l]);
      EXPECT_EQ(s.x.x.h1.z, all.x.x.h1.z[l]);
      EXPECT_EQ(s.x.x.h2.x, all.x.x.h2.x[l]);
      EXPECT_EQ(std::bit_cast<U>(from_oxygen<float>(s.x).h2.y), std::bit_cast<U>(d.h2.y[l]));
    }
  }
}

/// One step against the same in double: a float of the bond terms, some 1/(b h^2) times lengths
/// squared, is what is lost.
TEST(Single, AStepIsThatOfDoubleToRounding) {
  Random random(6);
  Worst worst("acceleration_over_bound");
  for (double omega : {20.0, 500.0, static_cast<double>(INFINITY)}) {
    for (int k = 0; k < 3000; ++k) {
      const WaterModel& model = kWaterModels[0];
      const double h = static_cast<float>(random.log_uniform(0.01, 0.1));
      StepParameters q{};
      q.h = h;
      q.omega = omega;
      q.bonds = bond_reference(model);
      q.masses = masses(model);
      q.zss = {1.0 / (0.25 * h * h), 1.0 / (0.25 * h * h * omega * omega)};
      SingleState<float, U> s{fixed_position(random_molecule(model, random, 50.0)),
                              rounded(random.triple(1.0)), rounded(random.triple(50.0))};
      const Triple<float> f = rounded(random.triple(50.0));
      MoleculeState<double> d{position_of(s.x), widened(s.v), widened(s.a)};
      kick(d, h);
      drift(d, h);
      zss_end(d, widened(f), h, q.bonds, q.masses, q.zss);
      const StepNumbers<float> qf = rounded_to_float(q);
      begin_step(qf, Move::free, s);
      ASSERT_TRUE(end_step(qf, End::gauss_newton, f, s));
      EXPECT_LT(largest(position_of(s.x) - d.x), kFixedUnit + 2e-7 * 5.0 * h);
      // g is within some eight roundings of 2 A^2, which the solve gives to the acceleration as
      // 1/(b h^2) g J^T/(J J^T), and each force within as many of its own size.
      const double rounding = 8 * 0x1p-24;
      const double bound = rounding * (2.0 * q.zss.inverse_bh2 + largest(d.a) + 100.0);
      worst.see(largest(widened(s.a) - d.a) / bound, k);
    }
  }
  worst.expect_between(0.01, 1.0);
}

/// A rigid step of floats against the same in double: positions to the rounding of a bond length.
/// Of velocities that over h would be far more than what is found.
TEST(Single, ARigidStepIsThatOfDoubleToRounding) {
  Random random(7);
  for (const auto& [move, end] : {std::pair{Move::settle, End::settle},
                                  {Move::newton, End::rattle},
                                  {Move::sweeps, End::rattle}}) {
    const std::string name = std::to_string(static_cast<int>(move));
    Worst x_error("position_over_bound_" + name), v_error("velocity_over_bound_" + name);
    for (int k = 0; k < 5000; ++k) {
      const WaterModel& model = kWaterModels[0];
      StepParameters q{};
      const double h = q.h = static_cast<float>(random.log_uniform(0.01, 0.1));
      q.bonds = bond_reference(model);
      q.masses = masses(model);
      q.settle = settle_parameters(model);
      q.shake_tolerance = 1e-14;
      SingleState<float, U> s{fixed_position(random_molecule(model, random, 50.0)),
                              rounded(random.triple(1.0)), rounded(random.triple(10.0))};
      const Triple<float> f = rounded(random.triple(20.0));
      MoleculeState<double> d{position_of(s.x), widened(s.v), widened(s.a)};
      ASSERT_TRUE(begin_step(q, move, d).good);
      end_step(q, end, widened(f), d);
      const StepNumbers<float> qf = rounded_to_float(q);
      ASSERT_TRUE(begin_step(qf, move, s).good);
      end_step(qf, end, f, s);
      // Lengths of up to 1.5 A to eight roundings and what SHAKE leaves, and the fixed-point
      // numbers.
      const double rounding = 0x1p-24;
      const double length = 1.5 * (8 * rounding + kLeastSingleTolerance) + kFixedUnit;
      x_error.see(largest(position_of(s.x) - d.x) / length, k);
      // What is left along the old bonds turns with them, by h |v|; forces of 20 kcal/mol/A have a
      // few roundings.
      v_error.see(largest(widened(s.v) - d.v) /
                      (length * largest(d.v) + 8 * rounding * (largest(d.v) + h * 20.0)),
                  k);
    }
    x_error.expect_between(0.05, 1.0);
    v_error.expect_between(0.01, 1.0);
  }
}

/// The noise keeps the temperature that it stands for, however small the friction: the variance v
/// of the stationary state is that of v = decay^2 v + kick^2.
TEST(Single, RoundedNoiseKeepsTheTemperature) {
  for (double rate : {1e-6, 1e-4, 1e-2, 1.0, 50.0}) {
    StepParameters q{};
    const double h = 0.04;
    q.ou.decay_o = q.ou.decay_h = std::exp(-rate * h);
    q.ou.kick_o = std::sqrt(-std::expm1(-2.0 * rate * h));
    q.ou.kick_h = 4.0 * q.ou.kick_o;
    const OuParameters<float> p = rounded_to_float(q).ou;
    const double loss = 1.0 - double{p.decay_o} * double{p.decay_o};
    EXPECT_NEAR(double{p.kick_o} * double{p.kick_o} / loss, 1.0, 0x1p-22);
    EXPECT_NEAR(double{p.kick_h} * double{p.kick_h} / loss, 16.0, 0x1p-18);
  }
}

}  // namespace
}  // namespace tarn
