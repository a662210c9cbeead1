#include "physics/ring_polymer.hpp"

#include "physics/ring_frequencies.hpp"
#include "tarn/force_field.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr int kBeads[] = {1, 2, 3, 4, 8, 31, 32, 33, 64, 1024};

TEST(RingModes, AreOrthonormal) {
  for (const int p : kBeads) {
    if (p > 64) continue;
    for (int a = 0; a < p; ++a) {
      for (int b = 0; b <= a; ++b) {
        double sum = 0.0;
        for (int j = 0; j < p; ++j) sum += mode_of_bead(a, j, p) * mode_of_bead(b, j, p);
        EXPECT_NEAR(sum, a == b ? 1.0 : 0.0, 64 * kEpsilon) << p << ": " << a << ", " << b;
      }
    }
    // The first mode is the centroid times sqrt(P).
    for (int j = 0; j < p; ++j) EXPECT_DOUBLE_EQ(mode_of_bead(0, j, p), 1.0 / std::sqrt(1.0 * p));
  }
}

/// Springs between neighbours are diagonal in the modes.
TEST(RingModes, DiagonaliseTheSprings) {
  constexpr double kTemperature_K = 77.0;
  for (const int p : kBeads) {
    if (p == 1 || p > 64) continue;
    const double omega = ring_frequency_per_akma(p, kTemperature_K);
    std::vector<double> q;
    for (int j = 0; j < p; ++j) q.push_back(std::sin(3.0 * j * j + 1.0));
    double springs = 0.0, modes = 0.0;
    for (int j = 0; j < p; ++j) {
      const double d = q[static_cast<std::size_t>(j)] - q[static_cast<std::size_t>((j + 1) % p)];
      springs += omega * omega * d * d;
    }
    for (int k = 0; k < p; ++k) {
      double mode = 0.0;
      for (int j = 0; j < p; ++j) mode += mode_of_bead(k, j, p) * q[static_cast<std::size_t>(j)];
      const double frequency = mode_frequency_per_akma(k, p, kTemperature_K);
      modes += frequency * frequency * mode * mode;
    }
    EXPECT_NEAR(modes, springs, 1e-13 * springs) << p;
  }
}

/// P k T/hbar: at 298 K and 32 beads the highest frequency, 2 P k T/hbar, makes half a turn in
/// 1.26 fs.
TEST(RingModes, HaveTheFrequenciesOfTheTemperature) {
  const double highest = 2.0 * ring_frequency_per_akma(32, 298.0);
  EXPECT_NEAR(units::pi / highest * units::femtoseconds_per_akma, 1.26, 0.005);
  EXPECT_NEAR(mode_frequency_per_akma(31, 32, 298.0), highest, 1e-12 * highest);
}

System system_of(int beads, double temperature_K, double h, double friction_per_akma,
                 FreeRing free_ring = FreeRing::cayley) {
  System s;
  s.model = *find_water_model("qspcfw");
  s.molecules = 1;
  s.integrator.scheme = Scheme::verlet;
  s.integrator.timestep_akma = h;
  s.thermostat.kind = Thermostat::baoab;
  s.thermostat.temperature_K = temperature_K;
  s.thermostat.friction_oxygen_per_akma = s.thermostat.friction_hydrogen_per_akma =
      friction_per_akma;
  s.path_integral.beads = beads;
  s.path_integral.free_ring = free_ring;
  s.path_integral.highest_wavenumber_per_cm = 4000.0;
  return s;
}

constexpr RingFrequencies kBothKinds[] = {RingFrequencies::trotter, RingFrequencies::economised};

/// C conserves omega^2 q^2 + v^2 and areas.
TEST(FreeRing, IsARotation) {
  for (const FreeRing free_ring : {FreeRing::cayley, FreeRing::exact}) {
    const System s = system_of(32, 298.0, 0.03, 0.1, free_ring);
    for (const RingMode& m : ring_modes(s, 298.0)) {
      EXPECT_NEAR(m.cosine * m.cosine + m.sine_over_omega * m.omega_sine, 1.0, 8 * kEpsilon);
      Triple<double> q{{0.1, 0.2, 0.3}, {-0.3, 0.5, 0.1}, {0.2, 0.2, -0.4}};
      Triple<double> v{{3.0, -2.0, 1.0}, {4.0, 0.0, -2.0}, {1.0, 2.0, 3.0}};
      const auto energy = [&] {
        return m.spring * (norm2(q.o) + norm2(q.h1) + norm2(q.h2)) + norm2(v.o) + norm2(v.h1) +
               norm2(v.h2);
      };
      const double before = energy();
      for (int i = 0; i < 100; ++i) {
        rotate_ring(q, v, m.cosine, m.sine_over_omega, m.omega_sine);
      }
      EXPECT_NEAR(energy(), before, 1e-12 * before) << m.spring;
    }
  }
}

using Covariance = std::array<double, 3>;  // qq, qv, vv

/// Stationary covariance of one mode with an external force -L^2 m q, by the covariances of B C O C
/// B from step to step: no noise in the test.
/// @param noise_at_end GLA: B C C B O
Covariance stationary(const RingMode& m, double external2, double h, double mass,
                      bool noise_at_end = false) {
  Covariance c{1.0, 0.0, 1.0};
  const auto map = [&](double a, double b, double d, double e) {
    // (q, v) <- (a q + b v, d q + e v)
    c = {a * a * c[0] + 2 * a * b * c[1] + b * b * c[2],
         a * d * c[0] + (a * e + b * d) * c[1] + b * e * c[2],
         d * d * c[0] + 2 * d * e * c[1] + e * e * c[2]};
  };
  const auto kick = [&] { map(1.0, 0.0, -0.5 * h * external2, 1.0); };
  const auto rotate = [&] { map(m.cosine, m.sine_over_omega, -m.omega_sine, m.cosine); };
  const bool oxygen = mass > 8.0;
  const double decay = oxygen ? m.ou.decay_o : m.ou.decay_h;
  const double noise = oxygen ? m.ou.kick_o : m.ou.kick_h;
  const auto add_noise = [&] {
    map(1.0, 0.0, 0.0, decay);
    c[2] += noise * noise;
  };
  for (int step = 0; step < 40'000; ++step) {
    kick();
    rotate();
    if (!noise_at_end) add_noise();
    rotate();
    kick();
    if (noise_at_end) add_noise();
  }
  return c;
}

/// Equation (81): BCOCB has the exact <q^2> = P k T/(m (omega_k^2 + L^2)) at any stable step and
/// friction, and <v^2> = P k T/m (1 - (L h)^2/4) (Korol, Bou-Rabee & Miller 2019).
TEST(FreeRing, HarmonicAveragesAreExactAtAnyStep) {
  for (const int beads : {1, 4, 32, 64}) {
    for (const double t_K : {50.0, 300.0}) {
      for (const double h : {0.01, 0.03, 0.1}) {
        for (const double external : {0.0, 2.0, 15.0}) {
          if (external * h > 1.9) continue;
          for (const RingFrequencies kind : kBothKinds) {
            System s = system_of(beads, t_K, h, 0.5);
            s.path_integral.frequencies = kind;
            const std::vector<RingMode> modes = ring_modes(s, t_K);
            for (const int mode : {0, 1, beads / 2, beads - 1}) {
              if (mode >= beads || (mode == 0 && external == 0.0)) continue;
              const RingMode& m = modes[static_cast<std::size_t>(mode)];
              for (const double mass : {s.model.mass_o_Da, s.model.mass_h_Da}) {
                const double kT = units::boltzmann_kcal_per_mol_K * beads * t_K;
                const Covariance c = stationary(m, external * external, h, mass);
                EXPECT_NEAR(c[0] * mass * (m.spring + external * external) / kT, 1.0, 1e-9)
                    << beads << " beads, mode " << mode << ", h = " << h;
                EXPECT_NEAR(c[2] * mass / kT, 1.0 - 0.25 * external * external * h * h, 1e-9);
              }
            }
          }
        }
      }
    }
  }
}

/// With the noise at the end of the step (GLA), <q^2> of all modes is too large by the factor
/// 1/(1 - (L h)^2/4), 3.5 % for O-H stretches at 0.5 fs: decks with several beads warn of it.
TEST(FreeRing, NoiseAtTheEndEnlargesAllModes) {
  const double external = 3920.0 / units::wavenumber_per_cm(1.0), square = external * external;
  System s = system_of(32, 300.0, units::akma_from_fs(0.5), 0.5);
  s.thermostat.kind = Thermostat::gla;
  const double h = s.integrator.timestep_akma, kT = units::boltzmann_kcal_per_mol_K * 32 * 300.0;
  for (const RingMode& m : ring_modes(s, 300.0)) {
    const double mass = s.model.mass_h_Da;
    const double ratio = stationary(m, square, h, mass, true)[0] * mass * (m.spring + square) / kT;
    EXPECT_NEAR(ratio, 1.0 / (1.0 - 0.25 * square * h * h), 1e-9);
    EXPECT_NEAR(ratio, 1.035, 0.0005);
  }
}

/// With the exact flow the step resonates where omega_k h is a multiple of pi: averages are wrong
/// there by percents, while the Cayley map is exact.
TEST(FreeRing, ExactFlowResonates) {
  constexpr double kTemperature_K = 298.0, kExternal = 15.0;
  const double highest = 2.0 * ring_frequency_per_akma(32, kTemperature_K);
  const double h = 0.999 * units::pi / highest;
  const auto error = [&](FreeRing free_ring) {
    const System s = system_of(32, kTemperature_K, h, 0.5, free_ring);
    const RingMode m = ring_modes(s, kTemperature_K)[31];
    const double kT = units::boltzmann_kcal_per_mol_K * 32 * kTemperature_K;
    const Covariance c = stationary(m, kExternal * kExternal, h, s.model.mass_h_Da);
    return std::fabs(c[0] * s.model.mass_h_Da * (m.spring + kExternal * kExternal) / kT - 1.0);
  };
  EXPECT_LT(error(FreeRing::cayley), 1e-9);
  EXPECT_GT(error(FreeRing::exact), 0.01);
}

/// Sum over the internal modes of a ring of <q^2> m/(P k T) [akma^2], for an external force
/// constant m L^2.
double internal_fluctuation(const System& s, double external2) {
  const int beads = s.path_integral.beads;
  const double mass = s.model.mass_h_Da;
  const double bath_K = s.thermostat.temperature_K;
  const double kT = units::boltzmann_kcal_per_mol_K * beads * bath_K;
  double sum = 0.0;
  const std::vector<RingMode> modes = ring_modes(s, bath_K);
  for (int mode = 1; mode < beads; ++mode) {
    const RingMode& m = modes[static_cast<std::size_t>(mode)];
    sum += stationary(m, external2, s.integrator.timestep_akma, mass)[0] * mass / kT;
  }
  return sum;
}

/// Kinetic energy of a hydrogen by the centroid virial, of a molecule with quadratic vibrations
/// [meV].
double harmonic_kinetic_h_meV(const System& s, const NormalModes& modes) {
  const double kT = units::boltzmann_kcal_per_mol_K * s.thermostat.temperature_K;
  double kinetic = 1.5 * kT;
  for (std::size_t k = 6; k < 9; ++k) {
    const double* d = &modes.displacements_per_sqrt_Da[9 * k];
    double share = 0.0;  // of H1 in the kinetic energy of the mode
    for (int c = 3; c < 6; ++c) share += s.model.mass_h_Da * d[c] * d[c];
    const double frequency = modes.modes[k].wavenumber_per_cm / units::wavenumber_per_cm(1.0);
    const double square = frequency * frequency;
    kinetic += 0.5 * kT * share * square * internal_fluctuation(s, square);
  }
  return units::meV_per_kcal_per_mol * kinetic;
}

/// q-TIP4P/F at 300 K with the potential replaced by its quadratic expansion: numbers of an
/// independent program, to the last digit, at any step.
TEST(FreeRing, HarmonicKineticEnergiesOfAMolecule) {
  System s = system_of(1, 300.0, 0.0, 0.5);
  s.model = *find_water_model("qtip4pf");
  std::vector<double> x = random_cluster(s.model, 1, 1, 0);
  ForceField force_field(s.model, 1);
  quench(force_field, x);
  const NormalModes modes = normal_modes(s.model, x);
  for (const double step_fs : {0.5, 1.0}) {
    s.integrator.timestep_akma = units::akma_from_fs(step_fs);
    for (const auto& [beads, expected_meV] :
         {std::pair(8, 115.03), {16, 140.71}, {32, 152.04}, {64, 155.49}}) {
      s.path_integral.beads = beads;
      EXPECT_NEAR(harmonic_kinetic_h_meV(s, modes), expected_meV, 0.006)
          << beads << " beads, " << step_fs << " fs";
    }
  }
}

/// An oscillator: its ring has the radius of the frequencies, the virial and the primitive
/// estimator have one mean, and with economised frequencies that is the exact one, but for the
/// residue of the fit. HarmonicAveragesAreExactAtAnyStep has the <q^2> of a mode.
TEST(FreeRing, OscillatorsHaveTheAveragesOfTheFrequencies) {
  constexpr double kTemperature_K = 300.0, kWavenumber_per_cm = 3900.0;
  const double x = reduced_frequency(kWavenumber_per_cm, kTemperature_K);
  const double square = std::pow(kWavenumber_per_cm / units::wavenumber_per_cm(1.0), 2);
  for (const RingFrequencies kind : kBothKinds) {
    for (const int beads : {8, 24, 33}) {
      System s = system_of(beads, kTemperature_K, 0.01, 0.5);
      s.path_integral.frequencies = kind;
      const ReducedRing ring = reduced_ring(s.path_integral, kTemperature_K);
      // Means per degree of freedom over kT: <q^2> m/(P k T) of a mode is 1/(omega^2 + L^2).
      double radius = 0.0, spring = 0.0, potential = 0.0;
      const std::vector<RingMode> modes = ring_modes(s, kTemperature_K);
      for (std::size_t k = 0; k < modes.size(); ++k) {
        const double q2 = 1.0 / (modes[k].spring + square);
        potential += 0.5 * square * q2;
        if (k == 0) continue;
        radius += square * q2;
        spring += 0.5 * modes[k].spring * q2;
      }
      const double virial = 0.5 * (1.0 + radius) + potential;
      const double primitive = 0.5 * beads - spring + potential;
      EXPECT_NEAR(virial, ring.energy(x), 1e-8 * beads) << beads;
      EXPECT_NEAR(primitive, ring.energy(x), 1e-8 * beads) << beads;
      if (kind == RingFrequencies::economised && beads == 33) {
        EXPECT_NEAR(virial / oscillator_energy(x), 1.0, 1e-3);
      }
      if (kind == RingFrequencies::trotter) {
        EXPECT_LT(virial, 0.98 * oscillator_energy(x));
      }
    }
  }
}

/// PILE-L: internal modes have the friction 2 omega_k times internal_friction; TRPMD has none on
/// the centroid.
TEST(RingNoise, HasTheFrictionOfTheMethod) {
  System s = system_of(8, 100.0, 0.02, 0.3);
  s.path_integral.internal_friction = 0.7;
  for (const RingFrequencies kind : kBothKinds) {
    s.path_integral.frequencies = kind;
    const std::vector<RingMode> modes = ring_modes(s, 100.0);
    for (int mode = 1; mode < 8; ++mode) {
      const RingMode& m = modes[static_cast<std::size_t>(mode)];
      const double rate = 2.0 * 0.7 * std::sqrt(m.spring);
      EXPECT_NEAR(m.ou.decay_o, std::exp(-rate * 0.02), 1e-14);
      EXPECT_EQ(m.ou.decay_o, m.ou.decay_h);
      if (kind == RingFrequencies::economised) continue;
      EXPECT_NEAR(std::sqrt(m.spring), mode_frequency_per_akma(mode, 8, 100.0),
                  1e-13 * std::sqrt(m.spring));
    }
  }
  s.path_integral.frequencies = RingFrequencies::trotter;
  EXPECT_NEAR(ring_modes(s, 100.0)[0].ou.decay_o, std::exp(-0.3 * 0.02), 1e-15);
  s.path_integral.method = RingMethod::trpmd;
  EXPECT_EQ(ring_modes(s, 100.0)[0].ou.decay_o, 1.0);
  EXPECT_EQ(ring_modes(s, 100.0)[0].ou.kick_h, 0.0);
}

}  // namespace
}  // namespace tarn
