#include "physics/flexible.hpp"

#include "core/pack.hpp"
#include "distorted_molecule.hpp"
#include "dual.hpp"
#include "flexible_reference.hpp"
#include "physics/flexible_hessian.hpp"
#include "steps/step_parameters.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;

template <class Op>
void for_flexible_models(const Op& op) {
  for (const WaterModel& model : kFlexibleWaterModels) {
    SCOPED_TRACE(std::string(model.name));
    op(model, flexible_parameters(model));
  }
}

/// Calls op with distorted molecules of each model.
template <class Op>
void for_distorted_molecules(std::uint64_t seed, int count, const Op& op) {
  for_flexible_models([&](const WaterModel& model, const FlexibleParameters<double>& p) {
    Random random(seed);
    for (int i = 0; i < count; ++i) op(model, p, distorted_molecule(model, random), random);
  });
}

TEST(FlexibleModels, HaveThePublishedParameters) {
  ASSERT_EQ(kFlexibleWaterModels.size(), 4u);
  for (const WaterModel& model : kFlexibleWaterModels) {
    EXPECT_TRUE(model.is_flexible());
    EXPECT_EQ(find_water_model(model.name)->r_oh_A, model.r_oh_A);
    EXPECT_DOUBLE_EQ(model.negative_charge_e(), -2.0 * model.charge_h_e);
  }
  for (const WaterModel& model : kWaterModels) EXPECT_FALSE(model.is_flexible());
  EXPECT_EQ(flexible_model_names(), "qtip4pf, tip4p2005f, spcfw, qspcfw, mbpol");
  // r_M = gamma r_O + (1 - gamma)/2 (r_H1 + r_H2).
  EXPECT_DOUBLE_EQ(find_water_model("qtip4pf")->m_site_weight(), 0.5 * (1.0 - 0.73612));
  EXPECT_FALSE(find_water_model("spcfw")->has_m_site());
}

/// The energy and its gradient are zero at the geometry of the model, and V'' there is that of the
/// published form.
TEST(Flexible, GeometryOfTheModelIsTheMinimum) {
  for_flexible_models([](const WaterModel& model, const FlexibleParameters<double>& p) {
    const Triple<double> x = molecule_at_origin(model);
    // Roundings of r and theta, squared and to first order, times stiffnesses of 1500.
    EXPECT_LT(intramolecular_energy(x, p), 1500.0 * 64.0 * kEpsilon * kEpsilon);
    for (const double f : to_array(intramolecular_force(x, p))) EXPECT_NEAR(f, 0.0, 2e-12);
    const IntramolecularModel& bonds = model.intramolecular;
    const double stiffness = bonds.stretch == Stretch::harmonic
                                 ? bonds.stretch_stiffness_kcal_per_mol_A2
                                 : 2.0 * bonds.depth_kcal_per_mol * std::pow(bonds.alpha_per_A, 2);
    EXPECT_NEAR(stretch_potential(model.r_oh_A, p).second, stiffness, few_roundings(stiffness));
  });
}

/// Sums of some ten terms of 100 kcal/mol and forces of up to 300 kcal/mol/A: relative to these
/// sizes 1e-14, which leaves a factor of five.
TEST(Flexible, EnergyAndForceMatchTheDefinition) {
  Worst energy("log10_energy"), force("log10_force");
  for_distorted_molecules(3, 200, [&](const auto& model, const auto& p, const auto& x, auto&) {
    const FlexibleReference reference(model, to_vector(x));
    energy.see((intramolecular_energy(x, p) - reference.energy) / 100.0L);
    const Vector9 f = to_vector(intramolecular_force(x, p)) - reference.force();
    force.see(f.cwiseAbs().maxCoeff() / 300.0L);
  });
  energy.expect_below(1e-14);
  force.expect_below(1e-14);
}

/// And the Hessian is minus the derivative of the force: up to 2000 kcal/mol/A^2.
TEST(Flexible, ForceIsMinusTheGradient) {
  using D = Dual<double, 9>;
  Worst force("log10_force"), hessian("log10_hessian");
  for_distorted_molecules(4, 50, [&](const auto&, const auto& p, const auto& x, auto&) {
    const D energy = intramolecular_energy(variables<D>(x), p);
    const std::array<D, 9> f = to_array(intramolecular_force(variables<D>(x), p));
    const IntramolecularHessian<double> h = intramolecular_hessian(x, p);
    for (std::size_t r = 0; r < 9; ++r) {
      force.see((f[r].value + energy.d[r]) / 300.0);
      for (std::size_t c = 0; c < 9; ++c) hessian.see((h.at[r][c] + f[r].d[c]) / 2000.0);
    }
  });
  force.expect_below(2e-14);
  hessian.expect_below(2e-14);
}

/// Forces have no sum and no torque, and turn with the molecule.
TEST(Flexible, ForceConservesMomentum) {
  for_distorted_molecules(6, 50, [](const auto&, const auto& p, const auto& x, auto& random) {
    const Triple<double> f = intramolecular_force(x, p);
    const Vec3<double> net = f.o + f.h1 + f.h2;
    const Vec3<double> torque = cross(x.h1 - x.o, f.h1) + cross(x.h2 - x.o, f.h2);
    for (const double v : {net.x, net.y, net.z, torque.x, torque.y, torque.z}) {
      EXPECT_NEAR(v, 0.0, few_roundings(300.0));
    }
    const RigidMotion motion = RigidMotion::random(random, 3.0);
    const Triple<double> turned = intramolecular_force(motion(x), p) - motion.turn(f);
    for (const double v : to_array(turned)) EXPECT_NEAR(v, 0.0, 10.0 * few_roundings(300.0));
  });
}

/// At a straight molecule the bend has a cusp; forces are finite on both sides of it.
TEST(Flexible, StraightMoleculeHasFiniteForces) {
  for_flexible_models([](const WaterModel&, const FlexibleParameters<double>& p) {
    const Triple<double> straight{{0, 0, 0}, {0.95, 0, 0}, {-0.97, 0, 0}};
    const Triple<double> coincident{{0, 0, 0}, {0.95, 0, 0}, {0.97, 0, 0}};
    for (const Triple<double>& x : {straight, coincident}) {
      EXPECT_TRUE(std::isfinite(intramolecular_energy(x, p)));
      for (const double f : to_array(intramolecular_force(x, p))) EXPECT_TRUE(std::isfinite(f));
    }
  });
}

/// Equation (78) is the solution of the 9x9 system; its matrix has condition numbers up to 1e4 at
/// the longest step.
TEST(Flexible, AccelerationSolvesTheWholeSystem) {
  Worst error("log10_error");
  for_distorted_molecules(
      7, 100, [&](const auto& model, const auto& p, const auto& x, auto& random) {
        const Masses<double> m = masses(model);
        const Vector9 mass = mass_matrix(m).diagonal();
        const Triple<double> f0 = random.triple(20.0);
        for (const double h : {0.001, 0.02, 0.1, 1.0}) {
          const double bh2 = 0.42 * h * h;
          const Vector9 a =
              FlexibleReference(model, to_vector(x)).acceleration(model, mass, bh2, to_vector(f0));
          const Vector9 found = to_vector(flexible_acceleration(x, f0, p, m, 1.0 / bh2));
          error.see((found - a).norm() / (a.norm() + 20.0L));
        }
      });
  error.expect_below(1e-12);
}

/// With a short step it is F/m, and with a long one the forces leave r and theta where they are.
TEST(Flexible, AccelerationHasBothLimits) {
  for_flexible_models([](const WaterModel& model, const FlexibleParameters<double>& p) {
    const Masses<double> m = masses(model);
    Random random(8);
    const Triple<double> x = distorted_molecule(model, random), f0 = random.triple(20.0);
    const Triple<double> f = f0 + intramolecular_force(x, p);
    const Triple<double> plain = scale(m.inverse_o, m.inverse_h, f);
    const Triple<double> near = flexible_acceleration(x, f0, p, m, 1e12) - plain;
    // b h^2 times frequencies squared of up to 2000.
    for (const double a : to_array(near)) EXPECT_NEAR(a, 0.0, 1e-8 * 300.0);
    const InternalCoordinates<double> c = internal_coordinates(x);
    const InternalValues<double> moved =
        apply_jacobian(c, angle_gradient(c), flexible_acceleration(x, f0, p, m, 1e-9));
    for (const double v : {moved.r1, moved.r2, moved.angle}) EXPECT_NEAR(v, 0.0, 1e-6);
  });
}

/// The second derivative of a Morse bond is negative beyond its inflection; in the solve it is at
/// least that where the energy is a tenth of the depth.
TEST(Flexible, MorseCurvatureHasALimit) {
  const WaterModel model = *find_water_model("tip4p2005f");
  const FlexibleParameters<double> p = flexible_parameters(model);
  const double s = -std::log(1.0 - std::sqrt(0.1)) / p.alpha;
  const InternalTerm<double> v = stretch_potential(p.r_eq + s, p);
  EXPECT_NEAR(v.value, 0.1 * p.depth, few_roundings(p.depth));
  EXPECT_NEAR(p.least_curvature, v.second, few_roundings(2.0 * p.depth * p.alpha * p.alpha));
  EXPECT_LT(stretch_potential(p.r_eq + 0.4, p).second, 0.0);
}

/// Parameters of a Morse bond in another precision.
template <class S>
FlexibleParameters<S> morse(double depth, double alpha) {
  FlexibleParameters<S> p{};
  p.r_eq = static_cast<S>(0.95);
  p.depth = static_cast<S>(depth);
  p.alpha = static_cast<S>(alpha);
  p.is_morse = true;
  return p;
}

/// Also of broken bonds and of overlapping atoms, on both sides of the limits of the exponential:
/// -alpha s from 29 to -70. Relative errors of the exponential are 160 roundings where it is large.
TEST(Flexible, MorseForceIsTheGradientAtAnyLength) {
  using D = Dual<double, 1>;
  using P = Pack<double>;
  constexpr double kDepth = 100.0;
  for (const double alpha : {2.3, 12.0, 31.0}) {
    const auto p = morse<double>(kDepth, alpha);
    double last = HUGE_VAL;  // energies decrease up to the minimum and increase from there on
    for (double r = 0.002; r < 0.95 + 70.0 / alpha; r += 0.0173) {
      SCOPED_TRACE(testing::Message() << "alpha " << alpha << ", r " << r);
      const InternalTerm<D> v = stretch_potential(D::variable(r, 0), p);
      const double first = v.first.value, second = v.second.value;
      const auto tolerance = [](double size) { return 400.0 * kEpsilon * std::abs(size); };
      const double slope = 2.0 * kDepth * alpha;
      EXPECT_NEAR(v.value.d[0], first, tolerance(first) + tolerance(slope));
      EXPECT_NEAR(v.first.d[0], second, tolerance(second) + tolerance(slope * alpha));
      if (r < 0.95) {
        EXPECT_LT(v.value.value, last);
        last = v.value.value;
      }
      if (alpha * (r - 0.95) > 44.0) {
        EXPECT_EQ(v.value.value, kDepth);
        EXPECT_EQ(first, 0.0);
      }
      const InternalTerm<P> packs = stretch_potential(P(r), p);
      EXPECT_EQ(packs.value[0], v.value.value);
      EXPECT_EQ(packs.first[0], first);
      EXPECT_EQ(packs.second[0], second);
      const InternalTerm<float> floats =
          stretch_potential(static_cast<float>(r), morse<float>(kDepth, alpha));
      // The argument of the exponential is rounded too.
      const auto float_tolerance = [&](double size) {
        return (400.0 + 4.0 * alpha) * kFloatEpsilon * std::abs(size);
      };
      EXPECT_NEAR(floats.value, v.value.value,
                  float_tolerance(v.value.value) + float_tolerance(kDepth));
      EXPECT_NEAR(floats.first, first, float_tolerance(first) + float_tolerance(slope));
    }
  }
}

TEST(Flexible, PacksAndFloatsAgreeWithDoubles) {
  using P = Pack<double>;
  const WaterModel model = *find_water_model("tip4p2005f");
  const FlexibleParameters<double> p = flexible_parameters(model);
  StepParameters step{};
  step.flexible = p;
  Random random(9);
  for (int i = 0; i < 20; ++i) {
    const Triple<double> x = distorted_molecule(model, random);
    std::array<P, 9> wide;
    std::array<float, 9> narrow;
    // Floats have differences from the oxygen, as in the engine.
    const std::array<double, 9> all = to_array(x),
                                d = to_array(Triple<double>{{0, 0, 0}, x.h1 - x.o, x.h2 - x.o});
    for (std::size_t k = 0; k < 9; ++k) {
      wide[k] = P(all[k]);
      narrow[k] = static_cast<float>(d[k]);
    }
    const std::array<double, 9> f = to_array(intramolecular_force(x, p));
    const std::array<P, 9> packs = to_array(intramolecular_force(to_triple(wide), p));
    const std::array<float, 9> floats =
        to_array(intramolecular_force(to_triple(narrow), rounded_to_float(step).flexible));
    for (std::size_t k = 0; k < 9; ++k) {
      // Packs have other reciprocal roots.
      EXPECT_NEAR(packs[k][0], f[k], few_roundings(300.0));
      EXPECT_NEAR(floats[k], f[k], 10.0 * kFloatEpsilon * 1500.0);
    }
  }
}

}  // namespace
}  // namespace tarn
