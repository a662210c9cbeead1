#include "core/pack.hpp"
#include "physics/noise.hpp"
#include "steps/step_program.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr double kBoltzmann = units::boltzmann_kcal_per_mol_K;

ThermostatSpec rates(double temperature_K, double oxygen, double hydrogen) {
  ThermostatSpec t;
  t.temperature_K = temperature_K;
  t.friction_oxygen_per_akma = oxygen;
  t.friction_hydrogen_per_akma = hydrogen;
  return t;
}
/// Friction gamma by momentum, as in the equation of motion: the rate is gamma/m.
ThermostatSpec per_mass(const WaterModel& model, double temperature_K, double gamma) {
  return rates(temperature_K, gamma / model.mass_o_Da, gamma / model.mass_h_Da);
}

/// What the parameters say of one kind of atom.
struct Atom {
  double mass, rate, decay, kick;
};
std::array<Atom, 2> atoms(const WaterModel& model, const ThermostatSpec& t,
                          const OuParameters<double>& p) {
  return {{{model.mass_o_Da, t.friction_oxygen_per_akma, p.decay_o, p.kick_o},
           {model.mass_h_Da, t.friction_hydrogen_per_akma, p.decay_h, p.kick_h}}};
}

/// Calls f(model, thermostat, h) for rates and steps from weak to overdamped.
template <class F>
void for_thermostats(F f) {
  Random random(1);
  for (const WaterModel& model : kWaterModels) {
    SCOPED_TRACE(std::string(model.name));
    for (int n = 0; n < 300; ++n) {
      const double temperature = random.log_uniform(1.0, 1000.0);
      const double h = random.log_uniform(1e-3, 0.1);
      f(model, rates(temperature, random.log_uniform(1e-8, 1e3), random.log_uniform(1e-8, 1e3)), h);
      f(model, per_mass(model, temperature, random.log_uniform(1e-6, 100.0)), h);
    }
  }
}

// decay = exp(-rate h) and kick^2 = kT/m (1 - exp(-2 rate h)), in long double; without cancellation
// also where rate h is 1e-11. Arguments of exp up to 100 carry a rounding each, the rest is six.
TEST(OuParameters, AreTheExactFlow) {
  Worst decay("ou_decay_relative"), kick("ou_kick_relative");
  for_thermostats([&](const WaterModel& model, const ThermostatSpec& t, double h) {
    for (const Atom& a : atoms(model, t, ou_parameters(model, t, h))) {
      const long double z = static_cast<long double>(a.rate) * h;
      const long double exact_kick =
          std::sqrt(-std::expm1(-2 * z) * kBoltzmann * t.temperature_K / a.mass);
      decay.see((a.decay - std::exp(-z)) / std::exp(-z) / (2 + z));
      kick.see((a.kick - exact_kick) / exact_kick);
    }
  });
  decay.expect_below(2 * kEpsilon);
  kick.expect_below(8 * kEpsilon);
}

// The law that makes the thermostat exact: a velocity of variance kT/m keeps it.
TEST(OuParameters, KeepTheVarianceOfTheTemperature) {
  Worst error("ou_stationary_relative");
  for_thermostats([&](const WaterModel& model, const ThermostatSpec& t, double h) {
    for (const Atom& a : atoms(model, t, ou_parameters(model, t, h))) {
      const long double variance = kBoltzmann * t.temperature_K / a.mass;
      const long double decay = a.decay, kick = a.kick;
      error.see((decay * decay * variance + kick * kick - variance) / variance);
    }
  });
  // decay and kick have the roundings above, twice each by squaring; decay's are weighted by
  // z exp(-2z) < 0.2.
  error.expect_below(12 * kEpsilon);
}

// Two half steps are one step, in their mean and in their variance: it is a flow.
TEST(OuParameters, HalfStepsCompose) {
  Worst decay("ou_halves_decay"), variance("ou_halves_variance");
  for_thermostats([&](const WaterModel& model, const ThermostatSpec& t, double h) {
    const auto whole = atoms(model, t, ou_parameters(model, t, h));
    const auto half = atoms(model, t, ou_parameters(model, t, h / 2));
    for (int k = 0; k < 2; ++k) {
      const long double z = static_cast<long double>(whole[k].rate) * h;
      const long double d = half[k].decay, q = half[k].kick;
      const long double kick2 = static_cast<long double>(whole[k].kick) * whole[k].kick;
      decay.see((d * d - whole[k].decay) / whole[k].decay / (2 + z));
      variance.see((d * d * q * q + q * q - kick2) / kick2);
    }
  });
  decay.expect_below(6 * kEpsilon);
  variance.expect_below(40 * kEpsilon);
}

TEST(OuParameters, Limits) {
  const WaterModel& model = kWaterModels[0];
  // No friction: nothing happens, to the bit.
  const OuParameters<double> none = ou_parameters(model, rates(300, 0, 0), 0.05);
  Random random(3);
  for (int n = 0; n < 100; ++n) {
    const Triple<double> v = random.triple(1.0);
    EXPECT_EQ(bits_of_triple(ou_step(v, random.triple(3.0), none)), bits_of_triple(v));
  }
  // Very strong friction: velocities are drawn anew.
  const OuParameters<double> anew = ou_parameters(model, rates(300, 1e9, 1e9), 0.05);
  EXPECT_EQ(anew.decay_o, 0.0);
  EXPECT_NEAR(anew.kick_h, std::sqrt(kBoltzmann * 300 / model.mass_h_Da), few_roundings());
  // No temperature: friction only.
  const OuParameters<double> cold = ou_parameters(model, rates(0, 1, 1), 0.05);
  EXPECT_EQ(cold.kick_o, 0.0);
  EXPECT_EQ(cold.kick_h, 0.0);
  EXPECT_LT(cold.decay_o, 1.0);
}

// v <- decay v + kick xi, atom by atom, with two roundings.
TEST(OuStep, IsAffine) {
  Random random(2);
  const OuParameters<double> p{0.9, 0.7, 0.2, 0.4};
  Worst error("ou_step");
  for (int n = 0; n < 1000; ++n) {
    const Triple<double> v = random.triple(1.0), xi = random.triple(3.0);
    const std::array<double, 9> r = to_array(ou_step(v, xi, p)), a = to_array(v), b = to_array(xi);
    for (int k = 0; k < 9; ++k) {
      const long double decay = k < 3 ? p.decay_o : p.decay_h, kick = k < 3 ? p.kick_o : p.kick_h;
      error.see(r[k] - (decay * a[k] + kick * b[k]));
    }
  }
  error.expect_below(4 * kEpsilon);
}

// The law behind kick_scale: kicks go with the square root of the temperature.
TEST(OuStep, ScaledKicksMatchAnotherTemperature) {
  Random random(5);
  Worst error("ou_kick_scale");
  for_thermostats([&](const WaterModel& model, ThermostatSpec t, double h) {
    const OuParameters<double> p = ou_parameters(model, t, h);
    const double factor = random.log_uniform(0.1, 10.0);
    t.temperature_K *= factor * factor;
    const OuParameters<double> q = ou_parameters(model, t, h);
    const Triple<double> v = random.triple(1.0), xi = random.triple(3.0);
    const Vector9 scaled = to_vector(ou_step(v, xi, p, factor)),
                  exact = to_vector(ou_step(v, xi, q));
    error.see((scaled - exact).norm() / (1 + 3 * q.kick_h));
  });
  error.expect_below(12 * kEpsilon);
}

TEST(OuStep, PackGivesTheBitsOfScalars) {
  constexpr int lanes = Pack<double>::lanes;
  Random random(4);
  const OuParameters<double> p = ou_parameters(kWaterModels[0], rates(300, 0.5, 2.0), 0.05);
  for (int n = 0; n < 200; ++n) {
    std::array<Triple<double>, lanes> v, xi;
    for (int lane = 0; lane < lanes; ++lane) {
      v[lane] = random.triple(1.0);
      xi[lane] = random.triple(3.0);
    }
    const auto r = ou_step(pack_triples<double>(v), pack_triples<double>(xi), p);
    for (int lane = 0; lane < lanes; ++lane) {
      ASSERT_EQ(bits_of_triple(lane_of(r, lane)), bits_of_triple(ou_step(v[lane], xi[lane], p)));
    }
  }
}

// ½ (16·1 + 1·4) = 10 before and ½ (16·¼ + 9 + 3) = 8 after, all without rounding.
TEST(OuHeat, IsTheGainOfKineticEnergy) {
  const Triple<double> before{{1.0, 0.0, 0.0}, {0.0, -2.0, 0.0}, {0.0, 0.0, 0.0}};
  const Triple<double> after{{0.0, 0.5, 0.0}, {0.0, 0.0, 3.0}, {1.0, -1.0, 1.0}};
  EXPECT_EQ(ou_heat(16.0, 1.0, before, after), -2.0);
}

// One step of one molecule: the velocities that are looked at are those of the step, of rigid
// molecules along the constraints. Projections are good to some ten roundings.
TEST(OuHeat, LooksAtVelocitiesAlongTheConstraints) {
  const WaterModel model = *find_water_model("tip3p");
  Random random(3);
  for (const bool per_atom : {false, true}) {
    System system;
    system.model = model;
    system.integrator.scheme = Scheme::settle;
    system.integrator.timestep_akma = 0.05;
    system.thermostat = rates(300.0, 2.0, per_atom ? 5.0 : 2.0);
    const StepParameters q = step_parameters(system);
    MoleculeState<double> s{};
    s.x = random_molecule(model, random, 1.0);
    s.v = random.triple(1.0);
    const Triple<double> v = s.v, xi = random.triple(1.0);
    int looks = 0;
    double heat = 0.0;
    const auto look = [&](const Triple<double>& before, const Triple<double>& after) {
      ++looks;
      heat = ou_heat(q.masses.o, q.masses.h, before, after);
    };
    thermostat_step(q, Move::settle, xi, 1.0, s, look);
    const Triple<double> before = project_velocities(s.x, v, q.masses);
    const Triple<double> after = project_velocities(s.x, ou_step(before, xi, q.ou), q.masses);
    const auto kinetic = [&](const Triple<double>& u) {
      return 0.5 * weighted_norm2(q.masses.o, q.masses.h, u);
    };
    EXPECT_EQ(looks, 1);
    EXPECT_NEAR(heat, kinetic(after) - kinetic(before), 1e-13 * kinetic(v));
    s.v = v;
    thermostat_step(q, Move::free, xi, 1.0, s, look);
    EXPECT_EQ(looks, 2);
    EXPECT_NEAR(heat, kinetic(ou_step(v, xi, q.ou)) - kinetic(v), 1e-14 * kinetic(v));
  }
}

}  // namespace
}  // namespace tarn
