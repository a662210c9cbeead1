#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine_fixtures.hpp"
#include "start/rings.hpp"
#include "tarn/core/error.hpp"
#include "tarn/physics/ring_frequencies.hpp"
#include "tarn/physics/ring_polymer.hpp"
#include "tarn/steps/step_parameters.hpp"

/// @file
/// Laws of the engine of ring polymers, and steps compared with plain equations.

namespace tarn {
namespace {

using namespace test;

/// Few and many beads for all algorithms of the transforms, and a cluster with more molecules than
/// small classical clusters have.
constexpr struct {
  int beads, molecules;
} kSomeRings[] = {{2, 3},  {3, 3},  {8, 3},  {31, 3},  {32, 3},
                  {33, 3}, {64, 3}, {67, 1}, {128, 2}, {3, 70}};

System ring_system(int beads, Bath bath, int molecules = 3,
                   Precision precision = Precision::double_) {
  System s = make_system({"flexible_verlet", bath}, tip4p(), molecules, precision);
  s.path_integral.beads = beads;
  s.path_integral.temperature_K = 200.0;
  if (bath == Bath::none) s.path_integral.method = RingMethod::rpmd;
  return s;
}
State ring_start(const System& system, const std::vector<std::int64_t>& ids,
                 std::int64_t step = 0) {
  return start::rings_of(system, start_state(system, ids, step), nullptr, true, false);
}

Bits bits_of_ring(const State& s, std::int64_t id) {
  Bits bits;
  for (std::size_t r = 0; r < s.replica_ids.size(); ++r) {
    if (s.replica_ids[r] != id) continue;
    append_bits({&s.positions_A[r * s.ring_coordinates()], s.ring_coordinates()}, bits);
    append_bits({&s.velocities_A_per_akma[r * s.ring_coordinates()], s.ring_coordinates()}, bits);
    if (s.heat_kcal_per_mol.empty()) continue;
    append_bits({&s.heat_kcal_per_mol[r * s.ring_coordinates() / 9], s.ring_coordinates() / 9},
                bits);
  }
  return bits;
}

/// Laws 1 to 4, with the baths of a thermostat, the wall and heat.
TEST(RingLaws, Hold) {
  for (const Bath bath : {Bath::none, Bath::gla_per_mass, Bath::baoab}) {
    for (const Precision precision : {Precision::double_, Precision::mixed}) {
      for (const auto& [beads, molecules] : kSomeRings) {
        SCOPED_TRACE(std::to_string(beads) + " beads, " + std::to_string(molecules) +
                     " molecules, " + name_of(precision));
        const System system = ring_system(beads, bath, molecules, precision);
        const std::int64_t first = kKeptSteps - 5;
        State start = ring_start(system, spread_ids(3), first);
        if (bath != Bath::none) start.heat_kcal_per_mol.assign(start.positions_A.size() / 9, 0.0);
        const auto whole = make_cpu_engine(system, start, {}, 1);
        whole->advance(9);
        const State expected = whole->state();
        EXPECT_EQ(expected.step, first + 9);

        const auto threads = make_cpu_engine(system, start, {}, 3);
        threads->advance(4);
        const auto resumed = make_cpu_engine(system, threads->state(), {}, 2);
        threads->advance(5);
        resumed->advance(5);
        State one = start;
        one.replica_ids = {start.replica_ids[1]};
        const std::size_t size = start.ring_coordinates();
        const auto only = [&](std::vector<double>& numbers, std::size_t n) {
          if (numbers.empty()) return;
          numbers = std::vector<double>(numbers.begin() + static_cast<std::ptrdiff_t>(n),
                                        numbers.begin() + static_cast<std::ptrdiff_t>(2 * n));
        };
        only(one.positions_A, size);
        only(one.velocities_A_per_akma, size);
        only(one.heat_kcal_per_mol, size / 9);
        const auto alone = make_cpu_engine(system, one, {}, 1);
        alone->advance(9);
        for (const std::int64_t id : spread_ids(3)) {
          const Bits bits = bits_of_ring(expected, id);
          EXPECT_FALSE(bits.empty());
          EXPECT_TRUE(same_bits(bits, bits_of_ring(threads->state(), id)));
          EXPECT_TRUE(same_bits(bits, bits_of_ring(resumed->state(), id)));
        }
        EXPECT_TRUE(same_bits(bits_of_ring(expected, one.replica_ids[0]),
                              bits_of_ring(alone->state(), one.replica_ids[0])));
      }
    }
  }
}

/// One bead is the classical engine.
TEST(RingLaws, OneBeadIsClassical) {
  for (const Bath bath : {Bath::none, Bath::gla, Bath::baoab}) {
    System classical = make_system({"flexible_verlet", bath}, tip4p(), 7);
    System ring = classical;
    ring.path_integral.beads = 1;
    ring.path_integral.temperature_K = 200.0;
    const auto a = make_cpu_engine(classical, start_state(classical, {3, 4}), {}, 1);
    const auto b = make_cpu_engine(ring, ring_start(ring, {3, 4}), {}, 1);
    a->advance(20);
    b->advance(20);
    EXPECT_TRUE(same_bits(bits_by_replica(*a), bits_by_replica(*b)));
  }
}

/// A ring polymer by the equations: beads with their forces, kicked and turned in modes.
class PlainRing {
 public:
  PlainRing(const System& system, const State& start)
      : system_(system), force_field_(system.model, system.molecules), step_(start.step) {
    const int p = system.path_integral.beads;
    const std::size_t n = start.coordinates();
    for (int k = 0; k < p; ++k) {
      const auto from = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(k) * n);
      q_.emplace_back(start.positions_A.begin() + from,
                      start.positions_A.begin() + from + static_cast<std::ptrdiff_t>(n));
      v_.emplace_back(start.velocities_A_per_akma.begin() + from,
                      start.velocities_A_per_akma.begin() + from + static_cast<std::ptrdiff_t>(n));
    }
    const ReducedRing ring = reduced_ring(system.path_integral, temperature_K());
    for (int k = 0; k < p; ++k) {
      const int wave = wave_of_mode(k, p);
      omega_.push_back(wave == 0 ? 0.0
                                 : ring_frequency_per_akma(1, temperature_K()) *
                                       ring.frequencies()[static_cast<std::size_t>(wave - 1)]);
    }
    forces();
  }
  void step() {
    const bool baoab = system_.thermostat.kind == Thermostat::baoab;
    kick();
    turn();
    if (baoab) noise();
    turn();
    forces();
    kick();
    if (system_.thermostat.kind == Thermostat::gla) noise();
    ++step_;
  }
  const std::vector<std::vector<double>>& q() const { return q_; }
  const std::vector<std::vector<double>>& v() const { return v_; }

 private:
  double temperature_K() const {
    return system_.thermostat.kind == Thermostat::none ? system_.path_integral.temperature_K
                                                       : system_.thermostat.temperature_K;
  }
  double mass(std::size_t c) const { return system_.model.mass_Da(static_cast<int>(c % 9 / 3)); }
  void kick() {
    for (std::size_t k = 0; k < q_.size(); ++k) {
      for (std::size_t c = 0; c < q_[k].size(); ++c) {
        v_[k][c] += 0.5 * system_.integrator.timestep_akma * f_[k][c] / mass(c);
      }
    }
  }
  /// Half a Cayley step: a rotation by arctan(omega h/2).
  void turn() {
    for (std::size_t k = 0; k < q_.size(); ++k) {
      const double omega = omega_[k];
      const double half = 0.5 * system_.integrator.timestep_akma;
      const double angle = std::atan(omega * half);
      for (std::size_t c = 0; c < q_[k].size(); ++c) {
        const double q = q_[k][c], v = v_[k][c];
        q_[k][c] = std::cos(angle) * q + (k == 0 ? half : std::sin(angle) / omega) * v;
        v_[k][c] = std::cos(angle) * v - omega * std::sin(angle) * q;
      }
    }
  }
  void noise() {
    const int p = static_cast<int>(q_.size());
    const auto n = static_cast<std::uint64_t>(system_.molecules);
    for (std::size_t k = 0; k < q_.size(); ++k) {
      const double omega = omega_[k];
      for (std::uint64_t m = 0; m < n; ++m) {
        const MoleculeNormals xi = molecule_normals(
            system_.seed, 3, k * n + m, static_cast<std::uint64_t>(step_), NoiseStream::thermostat);
        for (std::size_t c = 0; c < 9; ++c) {
          const double rate = k > 0   ? 2.0 * omega
                              : c < 3 ? system_.thermostat.friction_oxygen_per_akma
                                      : system_.thermostat.friction_hydrogen_per_akma;
          const double decay = std::exp(-rate * system_.integrator.timestep_akma);
          const double kT = units::boltzmann_kcal_per_mol_K * temperature_K() * p;
          double& v = v_[k][9 * m + c];
          v = decay * v + std::sqrt(kT / mass(c) * (1.0 - decay * decay)) * xi.xi[c];
        }
      }
    }
  }
  void forces() {
    const int p = static_cast<int>(q_.size());
    const std::size_t n = q_[0].size();
    f_.assign(q_.size(), std::vector<double>(n, 0.0));
    std::vector<double> x(n), f(n);
    for (int j = 0; j < p; ++j) {
      std::fill(x.begin(), x.end(), 0.0);
      for (int k = 0; k < p; ++k) {
        for (std::size_t c = 0; c < n; ++c) {
          x[c] += mode_of_bead(k, j, p) * q_[static_cast<std::size_t>(k)][c];
        }
      }
      force_field_.energy_and_forces(x, f);
      for (int k = 0; k < p; ++k) {
        for (std::size_t c = 0; c < n; ++c) {
          f_[static_cast<std::size_t>(k)][c] += mode_of_bead(k, j, p) * f[c];
        }
      }
    }
  }

  System system_;
  ForceField force_field_;
  std::int64_t step_;
  std::vector<double> omega_;  // [mode]
  std::vector<std::vector<double>> q_, v_, f_;
};

/// Twenty steps. Positions of modes of some 30 A are rounded to 4e-15, velocities of up to 5 A/akma
/// to 1e-15; forces of 300 kcal/mol/A times sqrt(P).
TEST(RingEngine, StepsSatisfyTheEquations) {
  for (const Bath bath : {Bath::none, Bath::gla, Bath::baoab}) {
    for (const int beads : {2, 5, 16, 33, 80}) {
      SCOPED_TRACE(beads);
      System system = ring_system(beads, bath, 2);
      // Odd numbers of beads have economised frequencies, the others those of Trotter.
      if (beads % 2 == 1) system.path_integral.frequencies = RingFrequencies::economised;
      system.path_integral.highest_wavenumber_per_cm = 4000.0;
      const State start = ring_start(system, {3});
      const auto engine = make_cpu_engine(system, start, {}, 1);
      PlainRing plain(system, start);
      engine->advance(20);
      for (int i = 0; i < 20; ++i) plain.step();
      const State s = engine->state();
      for (int k = 0; k < beads; ++k) {
        for (std::size_t c = 0; c < s.coordinates(); ++c) {
          const std::size_t i = static_cast<std::size_t>(k) * s.coordinates() + c;
          EXPECT_NEAR(s.positions_A[i], plain.q()[static_cast<std::size_t>(k)][c], 1e-11);
          EXPECT_NEAR(s.velocities_A_per_akma[i], plain.v()[static_cast<std::size_t>(k)][c], 1e-10);
        }
      }
    }
  }
}

/// Without noise the Hamiltonian of the ring polymer fluctuates by c h^2; with noise the
/// Hamiltonian less the heat does.
TEST(RingEngine, ConservesTheHamiltonianToSecondOrder) {
  for (const Bath bath : {Bath::none, Bath::baoab}) {
    double rms[2];
    for (int halving = 0; halving < 2; ++halving) {
      System system = ring_system(8, bath, 3);
      system.confinement = {};
      const double h = 0.008 / (1 << halving);
      system.integrator.timestep_akma = h;
      State start = ring_start(system, spread_ids(4));
      start.heat_kcal_per_mol.assign(start.positions_A.size() / 9, 0.0);
      const auto engine = make_cpu_engine(system, start, {}, 1);
      std::vector<double> sums(4, 0.0), squares(4, 0.0);
      const int samples = 200;
      Frame frame;
      for (int k = 0; k < samples; ++k) {
        engine->advance(4 << halving);
        engine->snapshot(kConservation | kHeat, frame);
        for (std::size_t r = 0; r < 4; ++r) {
          const double e = frame.conservation[r].energy_kcal_per_mol - frame.heat_kcal_per_mol[r];
          sums[r] += e / samples;
          squares[r] += e * e / samples;
        }
      }
      rms[halving] = 0.0;
      for (std::size_t r = 0; r < 4; ++r) {
        rms[halving] += std::sqrt(squares[r] - sums[r] * sums[r]) / 4.0;
      }
    }
    // With noise the two runs have different noise: fluctuations of 800 correlated samples agree
    // within a third. Without noise the order is within the next term, (h w)^2 = 0.08.
    EXPECT_NEAR(std::log2(rms[0] / rms[1]), 2.0, bath == Bath::none ? 0.15 : 0.5);
  }
}

/// Rounding errors of 200 steps: components of some 100 Da A^2/akma, from products of positions of
/// 30 A with velocities of 5 A/akma.
TEST(RingEngine, ConservesMomenta) {
  for (const int beads : {5, 16}) {
    System system = ring_system(beads, Bath::none, 3);
    system.confinement = {};
    const auto engine = make_cpu_engine(system, ring_start(system, spread_ids(2)), {}, 1);
    Frame before, after;
    engine->snapshot(kConservation, before);
    engine->advance(200);
    engine->snapshot(kConservation, after);
    for (std::size_t r = 0; r < 2; ++r) {
      const Conservation &a = before.conservation[r], &b = after.conservation[r];
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(a.momentum_Da_A_per_akma[c], b.momentum_Da_A_per_akma[c], 1e-10);
        EXPECT_NEAR(a.angular_momentum_Da_A2_per_akma[c], b.angular_momentum_Da_A2_per_akma[c],
                    1e-9);
      }
    }
  }
}

/// Frames: centroids, beads whose mean they are, and energies that are means over beads.
void check_frame(int beads, int molecules) {
  const System system = ring_system(beads, Bath::baoab, molecules);
  const auto p = static_cast<std::size_t>(beads), n = 9 * static_cast<std::size_t>(molecules);
  const auto engine = make_cpu_engine(system, ring_start(system, {3, 4}), {}, 2);
  engine->advance(10);
  Frame f;
  engine->snapshot(kPositions | kBeads | kEnergies | kRings | kShape | kAtomKinetic, f);
  ASSERT_EQ(f.beads, beads);
  ASSERT_EQ(f.live(), 2u);
  ForceField force_field(system.model, molecules);
  for (std::size_t r = 0; r < 2; ++r) {
    std::vector<double> mean(n, 0.0);
    double potential = 0.0, bonds = 0.0, gyration_o = 0.0;
    for (std::size_t j = 0; j < p; ++j) {
      const std::vector<double> x(
          f.beads_A.begin() + static_cast<std::ptrdiff_t>((r * p + j) * n),
          f.beads_A.begin() + static_cast<std::ptrdiff_t>((r * p + j + 1) * n));
      for (std::size_t c = 0; c < n; ++c) mean[c] += x[c] / beads;
      const ClusterEnergy e = force_field.energy(x);
      potential += e.between_molecules_kcal_per_mol() / beads;
      bonds += e.intramolecular_kcal_per_mol / beads;
      for (std::size_t c = 0; c < n; ++c) {
        if (c % 9 < 3) {
          const double d = x[c] - f.positions_A_of(r)[c];
          gyration_o += d * d / (beads * molecules);
        }
      }
    }
    for (std::size_t c = 0; c < n; ++c) EXPECT_NEAR(mean[c], f.positions_A_of(r)[c], 1e-13);
    EXPECT_NEAR(f.energies[r].potential_kcal_per_mol, potential, 1e-11 * n);
    EXPECT_NEAR(f.rings[r].intramolecular_kcal_per_mol, bonds, 1e-11 * n);
    double kinetic_o = 0.0, kinetic_h = 0.0;
    for (std::size_t atom = 0; atom < n / 3; ++atom) {
      const double kinetic = f.atom_kinetic_kcal_per_mol[r * n / 3 + atom];
      (atom % 3 == 0 ? kinetic_o : kinetic_h) += kinetic / molecules;
    }
    EXPECT_NEAR(f.rings[r].kinetic_o_kcal_per_mol, kinetic_o, 1e-11 * n);
    EXPECT_NEAR(f.rings[r].kinetic_h_kcal_per_mol, 0.5 * kinetic_h, 1e-11 * n);
    EXPECT_NEAR(f.rings[r].gyration2_o_A2, gyration_o, 1e-13);
    EXPECT_NEAR(f.energies[r].total_kcal_per_mol,
                f.energies[r].potential_kcal_per_mol + f.energies[r].bond_kcal_per_mol +
                    f.energies[r].wall_kcal_per_mol + f.energies[r].kinetic_kcal_per_mol,
                1e-10);
  }
}
TEST(RingEngine, FramesAgreeWithTheState) {
  check_frame(12, 4);
  check_frame(70, 2);
  check_frame(3, 70);
}

template <class T>
void append_rows(const std::vector<T>& rows, Bits& bits) {
  for (const T& row : rows) append_bits(numbers_of(row), bits);
}
/// Everything that frames contain of the beads and of the centroids.
Bits bits_of_frame(Engine& engine) {
  Frame f;
  engine.snapshot(kPositions | kVelocities | kBeads | kAtomKinetic | kEnergies | kConservation |
                      kHeat | kShape | kLindemann | kLindemannSums | kGeometry | kRings |
                      kEnergyMoments | kShapeMoments | kRadialCounts | kPairCounts,
                  f);
  Bits bits;
  append_rows(f.energies, bits);
  append_rows(f.conservation, bits);
  append_rows(f.shape, bits);
  append_rows(f.geometry, bits);
  append_rows(f.rings, bits);
  for (const auto* numbers :
       {&f.positions_A, &f.velocities_A_per_akma, &f.beads_A, &f.atom_kinetic_kcal_per_mol,
        &f.heat_kcal_per_mol, &f.lindemann, &f.lindemann_sums.means_A, &f.lindemann_sums.squares_A2,
        &f.energy_moments.sums, &f.shape_moments.squares}) {
    EXPECT_FALSE(numbers->empty());
    append_bits(*numbers, bits);
  }
  for (const auto* counts : {&f.radial_counts.oxygens, &f.radial_counts.cosines, &f.pair_samples}) {
    EXPECT_FALSE(counts->empty());
    for (const std::int64_t count : *counts) bits.push_back(static_cast<std::uint64_t>(count));
  }
  bits.insert(bits.end(), f.pair_counts.begin(), f.pair_counts.end());
  return bits;
}

/// Frames of several blocks of replicas and several groups, with steps that begin_advance() starts.
TEST(RingEngine, FramesDoNotDependOnTheThreads) {
  for (const auto& [beads, molecules] : {std::pair(3, 4), std::pair(16, 3), std::pair(33, 2)}) {
    SCOPED_TRACE(beads);
    const System system = ring_system(beads, Bath::baoab, molecules);
    State start = ring_start(system, spread_ids(13));
    start.heat_kcal_per_mol.assign(start.positions_A.size() / 9, 0.0);
    PairCountRequest counts;
    counts.enabled = true;
    counts.every = 4;
    MeasureSettings settings;
    settings.lindemann.enabled = true;
    settings.lindemann.every = 5;
    settings.moment_groups = 2;
    settings.radial = {8.0, 20, 2};
    Bits expected;
    for (const int threads : {1, 2, 3}) {
      const auto engine = make_cpu_engine(system, start, counts, threads);
      engine->measure_with(settings);
      Bits bits = bits_of_frame(*engine);
      engine->begin_advance(7);
      EXPECT_EQ(engine->step(), start.step + 7);
      engine->begin_advance(6);
      engine->wait();
      const Bits later = bits_of_frame(*engine);
      bits.insert(bits.end(), later.begin(), later.end());
      if (threads == 1) expected = bits;
      EXPECT_TRUE(same_bits(expected, bits)) << threads << " threads";
    }
  }
}

/// A ring polymer that blows up stops; the others go on as without it, also those in its packs.
TEST(RingEngine, BlowUpStopsOneReplica) {
  for (const int beads : {3, 8, 40}) {
    SCOPED_TRACE(beads);
    const System system = ring_system(beads, Bath::baoab, 3);
    State start = ring_start(system, spread_ids(4));
    start.heat_kcal_per_mol.assign(start.positions_A.size() / 9, 0.0);
    const std::size_t size = start.ring_coordinates();
    State bad = start;
    // Two oxygens at one point, in replicas 0 and 2.
    for (const std::size_t r : {0u, 2u}) {
      for (std::size_t c = 0; c < 3; ++c) {
        bad.positions_A[r * size + 9 + c] = bad.positions_A[r * size + c] + 1e-4;
      }
    }
    const auto engine = make_cpu_engine(system, bad, {}, 1),
               good = make_cpu_engine(system, start, {}, 1);
    engine->advance(200);
    good->advance(200);
    ASSERT_EQ(engine->blow_ups().size(), 2u);
    EXPECT_EQ(engine->blow_ups()[0].replica, start.replica_ids[0]);
    EXPECT_EQ(engine->blow_ups()[1].replica, start.replica_ids[2]);
    const State state = engine->state();
    for (const std::size_t r : {1u, 3u}) {
      EXPECT_TRUE(same_bits(bits_of_ring(state, start.replica_ids[r]),
                            bits_of_ring(good->state(), start.replica_ids[r])));
    }
    // The state of a stopped replica is a good one that the run had.
    for (const double x : state.positions_A) EXPECT_TRUE(std::isfinite(x));
    Frame f;
    engine->snapshot(kEnergies | kRings | kHeat | kBeads, f);
    EXPECT_EQ(f.replica_ids,
              (std::vector<std::int64_t>{start.replica_ids[1], start.replica_ids[3]}));
    EXPECT_TRUE(all_finite(f));
    // Without any replica left the engine goes on.
    State all_bad = bad;
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t c = 0; c < 3; ++c) {
        all_bad.positions_A[r * size + 9 + c] = all_bad.positions_A[r * size + c] + 1e-4;
      }
    }
    const auto none = make_cpu_engine(system, all_bad, {}, 2);
    none->advance(200);
    EXPECT_EQ(none->blow_ups().size(), 4u);
    EXPECT_EQ(none->step(), start.step + 200);
  }
}

/// A state with other beads: fewer modes are dropped, more are drawn; the centroids stay.
TEST(RingStarts, BeadsMayChange) {
  const System eight = ring_system(8, Bath::baoab, 2), more = ring_system(16, Bath::baoab, 2),
               fewer = ring_system(3, Bath::baoab, 2);
  const auto engine = make_cpu_engine(eight, ring_start(eight, {0, 1}), {}, 1);
  engine->advance(50);
  const State source = engine->state();
  const State centroids = start::centroids_of(source);
  for (const System& system : {more, fewer, eight}) {
    const State s = start::rings_of(system, centroids, &source, true, true);
    EXPECT_EQ(s.beads, system.path_integral.beads);
    const State back = start::centroids_of(s);
    for (std::size_t k = 0; k < back.positions_A.size(); ++k) {
      EXPECT_NEAR(back.positions_A[k], centroids.positions_A[k], 1e-13);
    }
    EXPECT_NO_THROW(make_cpu_engine(system, s, {}, 1)->advance(10));
  }
  EXPECT_EQ(start::rings_of(eight, centroids, &source, true, true).positions_A, source.positions_A);
}

TEST(RingEngine, RejectsUnsupportedSystems) {
  System rigid = ring_system(4, Bath::baoab);
  const State start = ring_start(rigid, {0});
  rigid.model = tip4p();
  EXPECT_THROW(make_cpu_engine(rigid, start, {}, 1), InputError);
  System zss = ring_system(4, Bath::baoab);
  zss.integrator.scheme = Scheme::zss_stiff;
  EXPECT_THROW(make_cpu_engine(zss, start, {}, 1), InputError);
  System other = ring_system(5, Bath::baoab);
  EXPECT_THROW(make_cpu_engine(other, start, {}, 1), InputError);
  System single = ring_system(4, Bath::baoab, 3, Precision::single);
  EXPECT_THROW(make_cpu_engine(single, start, {}, 1), InputError);
}

}  // namespace
}  // namespace tarn
