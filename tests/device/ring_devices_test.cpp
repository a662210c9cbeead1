#include "device_fixture.hpp"
#include "engine_parts.hpp"
#include "exchange_states.hpp"
#include "one_replica.hpp"
#include "ring_fixtures.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/exchange.hpp"
#include "worst.hpp"

/// @file
/// Laws of the engines of ring polymers on each device, steps compared with plain equations and
/// with the CPU, and frames; one test body for all devices.

namespace tarn {
namespace {

using namespace test;

struct RingSize {
  int beads, molecules, replicas;
};

class RingDevices : public DeviceTest {
 protected:
  std::unique_ptr<Engine> make(const System& system, const State& start, int threads) const {
    return make_engine(system, start, {}, {GetParam(), threads});
  }
  /// Few and many beads and molecules for all algorithms and memory layouts: on the CPU folded
  /// products and Fourier transforms, on GPUs several ring polymers in a block, one in a block, and
  /// modes in memory with forces by warps or by blocks. The full product takes hours on an emulated
  /// GPU. A covering set: each size with one thermostat and one precision.
  std::vector<RingSize> some_rings(Bath bath, Precision precision) const {
    std::vector<RingSize> all;
    if (covers_everything()) {
      for (const int molecules : {1, 2, 7, 8, 32, 33, 64}) {
        for (const int beads : {2, 3, 8, 32, 33, 64, 128}) {
          for (const int replicas : {1, 3, 200}) {
            if (replicas * molecules * beads <= 20000) all.push_back({beads, molecules, replicas});
          }
        }
      }
      return all;
    }
    if (is_cpu()) {
      return {{2, 3, 3},  {3, 3, 3},  {8, 3, 3},  {31, 3, 3},  {32, 3, 3},
              {33, 3, 3}, {64, 3, 3}, {67, 1, 3}, {128, 2, 3}, {3, 70, 3}};
    }
    const RingSize sizes[] = {{2, 1, 70}, {3, 2, 3},   {8, 7, 3},  {32, 7, 1},
                              {33, 3, 2}, {128, 1, 1}, {2, 32, 3}, {3, 10, 5},
                              {64, 8, 1}, {128, 7, 1}, {2, 33, 2}, {3, 64, 1}};
    const int cases = 6;
    int at = precision == Precision::mixed ? 3 : 0;
    at += bath == Bath::none ? 0 : bath == Bath::baoab ? 1 : 2;
    for (int k = at; k < static_cast<int>(std::size(sizes)); k += cases) all.push_back(sizes[k]);
    return all;
  }
};

/// Laws 1 to 4, with the baths of a thermostat, the wall and heat.
TEST_P(RingDevices, Hold) {
  for (const Bath bath : {Bath::none, Bath::gla_per_mass, Bath::baoab}) {
    for (const Precision precision : {Precision::double_, Precision::mixed}) {
      for (const auto& [beads, molecules, replicas] : some_rings(bath, precision)) {
        SCOPED_TRACE(std::to_string(beads) + " beads, " + std::to_string(molecules) +
                     " molecules, " + std::to_string(replicas) + " replicas, " +
                     name_of(precision));
        const System system = ring_system(beads, bath, molecules, precision);
        const std::int64_t first = kKeptSteps - 5;
        State start = ring_start(system, spread_ids(replicas), first);
        if (bath != Bath::none) start = with_heat(start);
        const auto whole = make(system, start, 1);
        whole->advance(9);
        const State expected = whole->state();
        EXPECT_EQ(expected.step, first + 9);

        const auto threads = make(system, start, 3);
        threads->advance(4);
        const auto resumed = make(system, threads->state(), 2);
        threads->advance(5);
        resumed->advance(5);
        const State one = replica_of(start, static_cast<std::size_t>(replicas / 2));
        const auto alone = make(system, one, 1);
        alone->advance(9);
        for (const std::int64_t id : spread_ids(replicas)) {
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
TEST_P(RingDevices, OneBeadIsClassical) {
  for (const Bath bath : {Bath::none, Bath::gla, Bath::baoab}) {
    System classical = make_system({"flexible_verlet", bath}, tip4p(), 7);
    System ring = classical;
    ring.path_integral.beads = 1;
    ring.path_integral.temperature_K = 200.0;
    const auto a = make(classical, start_state(classical, {3, 4}), 1);
    const auto b = make(ring, ring_start(ring, {3, 4}), 1);
    a->advance(20);
    b->advance(20);
    EXPECT_TRUE(same_bits(bits_by_replica(*a), bits_by_replica(*b)));
  }
}

/// One step compared with the CPU in double precision, from the same state. Rounding is that of a
/// classical step (EngineDevices.OneStepIsThatOfTheCpu), of coordinates that are sums over sqrt(P)
/// beads. In mixed precision the pair forces on the beads differ, by the bound of that test; the
/// transforms keep their norm.
TEST_P(RingDevices, OneStepIsThatOfTheCpu) {
  Worst double_x("log10_double_x"), double_v("log10_double_v");
  Worst mixed_x("log10_mixed_x"), mixed_v("log10_mixed_v");
  for (const Precision precision : {Precision::double_, Precision::mixed}) {
    for (const Bath bath : {Bath::none, Bath::gla_per_mass, Bath::baoab}) {
      for (const auto& [beads, molecules, replicas] : some_rings(bath, precision)) {
        if (replicas * beads * molecules > 600) continue;
        System system = ring_system(beads, bath, molecules, precision);
        const State start = ring_start(system, spread_ids(replicas), 70);
        const auto engine = make(system, start, 1);
        system.precision = Precision::double_;
        const auto reference = make_cpu_engine(system, start, {}, 1);
        Frame f;
        reference->snapshot(kBeads, f);
        engine->advance(1);
        reference->advance(1);
        const State a = engine->state(), b = reference->state();
        EXPECT_EQ(a.step, 71);
        EXPECT_EQ(a.beads, beads);
        EXPECT_EQ(a.replica_ids, b.replica_ids);
        const double x = relative_rms(a.positions_A, b.positions_A);
        const double v = relative_rms(a.velocities_A_per_akma, b.velocities_A_per_akma);
        if (precision == Precision::double_) {
          double_x.see(x, beads);
          double_v.see(v, beads);
          continue;
        }
        const double h = system.integrator.timestep_akma;
        const double kick =
            2.0 * h *
            float_error_of_accelerations(GetParam(), system.model, f.beads_A, start.coordinates());
        mixed_x.see(x / (h * kick / norm(b.positions_A) + 1e-14), beads);
        mixed_v.see(v / (kick / norm(b.velocities_A_per_akma) + 1e-12), beads);
      }
    }
  }
  double_x.expect_below(1e-14);
  double_v.expect_below(1e-12);
  mixed_x.expect_below(1.0);
  mixed_v.expect_below(1.0);
}

/// Twenty steps. Positions of modes of some 30 A are rounded to 4e-15, velocities of up to 5 A/akma
/// to 1e-15; forces of 300 kcal/mol/A times sqrt(P).
TEST_P(RingDevices, StepsSatisfyTheEquations) {
  for (const Bath bath : {Bath::none, Bath::gla, Bath::baoab}) {
    for (const int beads : {2, 5, 16, 33, 80}) {
      if (!is_cpu() && !covers_everything() && beads > 33) continue;
      SCOPED_TRACE(beads);
      System system = ring_system(beads, bath, 2);
      // Odd numbers of beads have economised frequencies, the others those of Trotter.
      if (beads % 2 == 1) system.path_integral.frequencies = RingFrequencies::economised;
      system.path_integral.highest_wavenumber_per_cm = 4000.0;
      const State start = ring_start(system, {3});
      const auto engine = make(system, start, 1);
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
TEST_P(RingDevices, ConservesTheHamiltonianToSecondOrder) {
  for (const Bath bath : {Bath::none, Bath::baoab}) {
    if (bath != Bath::none && !is_cpu() && !covers_everything()) continue;
    double rms[2];
    for (int halving = 0; halving < 2; ++halving) {
      System system = ring_system(8, bath, 3);
      system.confinement = {};
      const double h = 0.008 / (1 << halving);
      system.integrator.timestep_akma = h;
      const auto engine = make(system, with_heat(ring_start(system, spread_ids(4))), 1);
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
TEST_P(RingDevices, ConservesMomenta) {
  for (const int beads : {5, 16}) {
    System system = ring_system(beads, Bath::none, 3);
    system.confinement = {};
    const auto engine = make(system, ring_start(system, spread_ids(2)), 1);
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
void check_frame(const std::string& device, int beads, int molecules) {
  const System system = ring_system(beads, Bath::baoab, molecules);
  const auto p = static_cast<std::size_t>(beads), n = 9 * static_cast<std::size_t>(molecules);
  const auto engine = make_engine(system, ring_start(system, {3, 4}), {}, {device, 2});
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
TEST_P(RingDevices, FramesAgreeWithTheState) {
  check_frame(GetParam(), 12, 4);
  check_frame(GetParam(), 70, 2);
  check_frame(GetParam(), 3, is_cpu() ? 70 : 34);
}

/// Frames of several blocks of replicas and several groups, with steps that begin_advance() starts.
TEST_P(RingDevices, FramesDoNotDependOnTheThreads) {
  for (const auto& [beads, molecules] : {std::pair(3, 4), std::pair(16, 3), std::pair(33, 2)}) {
    SCOPED_TRACE(beads);
    const System system = ring_system(beads, Bath::baoab, molecules);
    const State start = with_heat(ring_start(system, spread_ids(13)));
    Bits expected;
    for (const int threads : {1, 2, 3}) {
      const auto engine = make_engine(system, start, counts_of_pairs(), {GetParam(), threads});
      engine->measure_with(settings_of_all_fields());
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
TEST_P(RingDevices, BlowUpStopsOneReplica) {
  for (const int beads : {3, 8, 40}) {
    if (beads == 40 && !is_cpu() && !covers_everything()) continue;
    SCOPED_TRACE(beads);
    const System system = ring_system(beads, Bath::baoab, 3);
    const State start = with_heat(ring_start(system, spread_ids(4)));
    const std::size_t size = start.ring_coordinates();
    // Two oxygens at one point, in some replicas.
    const auto bad = [&](const std::vector<std::size_t>& replicas) {
      State s = start;
      for (const std::size_t at : replicas) {
        for (std::size_t k = at * size; k < at * size + 3; ++k) {
          s.positions_A[k + 9] = s.positions_A[k] + 1e-4;
        }
      }
      return s;
    };
    const auto engine = make(system, bad({0, 2}), 1), good = make(system, start, 1);
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
    const auto none = make(system, bad({0, 1, 2, 3}), 2);
    none->advance(200);
    EXPECT_EQ(none->blow_ups().size(), 4u);
    EXPECT_EQ(none->step(), start.step + 200);
  }
}

/// Everything that frames contain. Energies of some 1000 kcal/mol differ by what positions and
/// velocities do after five steps (OneStepIsThatOfTheCpu), times gradients of 300 kcal/mol/A.
TEST_P(RingDevices, MeasuresAsTheCpu) {
  for (const auto& [beads, molecules] : {std::pair(1, 3), {4, 3}, {33, 2}, {3, 33}, {130, 4}}) {
    if (beads > 128 && !is_cpu() && !covers_everything()) continue;
    SCOPED_TRACE(std::to_string(beads) + " beads, " + std::to_string(molecules) + " molecules");
    System system = ring_system(beads, Bath::baoab, molecules);
    system.thermostat.temperature_K = 200.0;
    system.thermostat.temperatures_K = {200.0, 250.0};
    const State start = with_heat(ring_start(system, spread_ids(5)));
    const auto engine = make_engine(system, start, counts_of_pairs(), {GetParam(), 2});
    const auto reference = make_cpu_engine(system, start, counts_of_pairs(), 1);
    Frame a, b;
    for (Engine* e : {engine.get(), reference.get()}) {
      e->measure_with(settings_of_all_fields());
      e->advance(5);
      e->snapshot(kEveryField, e == engine.get() ? a : b);
    }
    ASSERT_EQ(a.replica_ids, b.replica_ids);
    EXPECT_EQ(a.beads, beads);
    expect_rows_near("energies", a.energies, b.energies);
    expect_rows_near("conservation", a.conservation, b.conservation);
    expect_rows_near("shape", a.shape, b.shape);
    expect_rows_near("geometry", a.geometry, b.geometry);
    expect_rows_near("rings", a.rings, b.rings);
    expect_near("positions", a.positions_A, b.positions_A);
    expect_near("velocities", a.velocities_A_per_akma, b.velocities_A_per_akma);
    if (beads > 1) expect_near("beads", a.beads_A, b.beads_A);
    expect_near("atom kinetic", a.atom_kinetic_kcal_per_mol, b.atom_kinetic_kcal_per_mol);
    expect_near("heat", a.heat_kcal_per_mol, b.heat_kcal_per_mol);
    expect_near("exchange", a.exchange_energies_kcal_per_mol, b.exchange_energies_kcal_per_mol);
    expect_near("rescaled", a.rescaled_energies_kcal_per_mol, b.rescaled_energies_kcal_per_mol);
    expect_near("lindemann", a.lindemann, b.lindemann);
    expect_near("lindemann sums", a.lindemann_sums.means_A, b.lindemann_sums.means_A);
    for (const auto moments : {&Frame::energy_moments, &Frame::shape_moments,
                               &Frame::geometry_moments, &Frame::lindemann_moments}) {
      EXPECT_EQ((a.*moments).counts, (b.*moments).counts);
      expect_near("pivots", (a.*moments).pivots, (b.*moments).pivots);
    }
    for (const auto counts : {&RadialCounts::replicas, &RadialCounts::oxygens,
                              &RadialCounts::hydrogens, &RadialCounts::cosines}) {
      EXPECT_EQ(a.radial_counts.*counts, b.radial_counts.*counts);
    }
    EXPECT_EQ(a.pair_counts, b.pair_counts);
    EXPECT_EQ(a.pair_samples, b.pair_samples);
  }
}

/// A ladder of three temperatures.
System ring_ladder(int beads, int molecules, Precision precision = Precision::double_) {
  System system = ring_system(beads, Bath::baoab, molecules, precision);
  system.thermostat.temperature_K = 200.0;
  system.thermostat.temperatures_K = {200.0, 210.0, 225.0};
  system.path_integral.frequencies = RingFrequencies::economised;
  system.path_integral.highest_wavenumber_per_cm = 4000.0;
  return system;
}

/// An exchange equals one in a downloaded state and a new engine, bit by bit; and the rescaled
/// energies are those of the ring polymers that arrive. Their bead energies are added in another
/// order on GPUs.
TEST_P(RingDevices, ExchangeEqualsAnEngineOfTheExchangedState) {
  for (const auto& [beads, molecules] : {std::pair(6, 3), {33, 2}, {4, 33}}) {
    for (const Precision precision : {Precision::double_, Precision::mixed}) {
      SCOPED_TRACE(std::to_string(beads) + " beads, " + std::to_string(molecules) + " molecules, " +
                   name_of(precision));
      const System system = ring_ladder(beads, molecules, precision);
      const auto engine =
          make(system, with_heat(ring_start(system, first_ids(6), kKeptSteps - 5)), 1);
      MeasureSettings settings;
      settings.exchange_every = kKeptSteps - 1;  // an attempt of an odd number
      engine->measure_with(settings);
      engine->advance(4);
      Frame before;
      engine->snapshot(kExchangeEnergies | kRescaledEnergies, before);
      const auto attempts = exchange_attempts(system, settings.exchange_every, before);
      ASSERT_EQ(attempts.size(), 2u);
      EXPECT_EQ(attempts[0].lower, 1);
      EXPECT_EQ(attempts[1].lower, 4);
      std::vector<ExchangeAttempt> all = attempts;
      for (ExchangeAttempt& attempt : all) attempt.accepted = true;
      const auto pairs = accepted_exchanges(system, all);
      State by_hand = engine->state();
      exchange_states(system, by_hand, pairs);
      engine->exchange(pairs);
      EXPECT_TRUE(same_bits(bits_of(engine->state()), bits_of(by_hand)));
      const auto other = make(system, by_hand, 2);
      Frame after;
      engine->snapshot(kExchangeEnergies, after);
      for (const StateExchange& pair : pairs) {
        const auto lower = static_cast<std::size_t>(pair.first);
        const auto upper = static_cast<std::size_t>(pair.second);
        EXPECT_NEAR(after.exchange_energies_kcal_per_mol[lower],
                    before.rescaled_energies_kcal_per_mol[upper], 1e-9);
        EXPECT_NEAR(after.exchange_energies_kcal_per_mol[upper],
                    before.rescaled_energies_kcal_per_mol[lower], 1e-9);
      }
      EXPECT_TRUE(std::isnan(before.rescaled_energies_kcal_per_mol[0]));
      for (Engine* e : {engine.get(), other.get()}) e->advance(6);
      EXPECT_TRUE(same_bits(bits_of(engine->state()), bits_of(other->state())));
    }
  }
}

/// Engines on several devices, or with several parts of the CPU, give the bits of one.
TEST_P(RingDevices, PartsEqualTheWhole) {
  for (const auto& [beads, molecules] : {std::pair(8, 3), {3, 33}}) {
    const System system = ring_ladder(beads, molecules);
    const State start = ring_start(system, first_ids(7), kKeptSteps - 4);
    const auto whole = make_engine(system, start, counts_of_pairs(), {GetParam(), 1});
    const auto split = make_parts(system, start, 3);
    ASSERT_EQ(split->parts().size(), 3u);
    expect_same_steps(*whole, *split, true);
  }
}

/// The forces on beads are those of small clusters.
TEST_P(RingDevices, RejectsLargeClusters) {
  if (is_cpu()) GTEST_SKIP() << "the CPU has no limit";
  const System system = ring_system(2, Bath::baoab, 129);
  EXPECT_THROW(make(system, ring_start(system, {0}), 1), InputError);
  EXPECT_EQ(auto_device(system, 1, 1).name, "cpu");
}

INSTANTIATE_TEST_SUITE_P(All, RingDevices, ::testing::Values("cpu", "cuda"), name_of_device);

}  // namespace
}  // namespace tarn
