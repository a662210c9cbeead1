#include <cctype>
#include <future>

#include "device_fixture.hpp"
#include "engine_parts.hpp"
#include "exchange_states.hpp"
#include "interface/moments.hpp"
#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "one_replica.hpp"
#include "steps/newmark.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/exchange.hpp"
#include "worst.hpp"

/// @file
/// Forces and steps of the engine of each device; one test body for all.

namespace tarn {
namespace {

using namespace test;

constexpr Precision kPrecisions[] = {Precision::double_, Precision::mixed, Precision::single};

class EngineDevices : public DeviceTest {
 protected:
  /// Whether the GPU is emulated (tests/emulated). Determined once, because engines are slow to
  /// make.
  bool stands_in() const {
    static std::map<std::string, bool> known;
    const auto [at, is_new] = known.try_emplace(GetParam(), false);
    if (is_new) {
      const System system = make_system({"zss_structured", Bath::none}, tip3p(), 1);
      const std::string device = make(system, start_state(system, {0}))->description();
      at->second = device.find("stands in") != std::string::npos;
    }
    return at->second;
  }
  /// Without cuSOLVER all tests but those of dense solves run; FindsCusolver reports that it is
  /// missing.
  bool solvable(const std::string& scheme) const {
    return GetParam() != "cuda" || cusolver_problem().empty() ||
           !uses_dense_solver(make_system({scheme, Bath::none}, tip3p(), 2).integrator);
  }
  /// Whether all blocks of a batch fit into one call of cuSOLVER. Only CusolverDoesNotSeeTheBatch
  /// tests larger batches, so that the other tests do not depend on cuSOLVER's behaviour there.
  static bool solved_in_batches(const std::string& scheme) {
    return scheme == "zss_dense" || scheme == "zss_full_dense" || scheme == "zss_molecule";
  }
  /// Many replicas with sixteen different starts; their noise differs.
  static State many_replicas(const System& system, int replicas) {
    const State starts = start_state(system, spread_ids(16));
    const std::size_t size = starts.coordinates();
    State s = starts;
    s.replica_ids = spread_ids(replicas);
    s.positions_A.resize(size * s.replica_ids.size());
    s.velocities_A_per_akma.resize(s.positions_A.size());
    for (std::size_t k = 16 * size; k < s.positions_A.size(); ++k) {
      s.positions_A[k] = s.positions_A[k - 16 * size];
      s.velocities_A_per_akma[k] = s.velocities_A_per_akma[k - 16 * size];
    }
    return s;
  }
  /// After two steps replicas of a batch equal those run alone: the first, the last, one in
  /// between, and the last of a cuSOLVER batch.
  void expect_replicas_alone(const System& system, const State& start) const {
    const auto engine = make(system, start);
    engine->advance(2);
    EXPECT_TRUE(engine->blow_ups().empty());
    const State all = engine->state();
    const std::size_t last = start.replica_ids.size() - 1;
    for (std::size_t r :
         {std::size_t{0}, last / 2,
          std::min(last, 65'535 / static_cast<std::size_t>(start.molecules)), last}) {
      const auto alone = make(system, replica_of(start, r));
      alone->advance(2);
      const State in_batch = replica_of(all, r), by_itself = alone->state();
      EXPECT_TRUE(in_batch.positions_A == by_itself.positions_A &&
                  in_batch.velocities_A_per_akma == by_itself.velocities_A_per_akma)
          << "replica " << r << " in a batch is not what it is alone; its velocities differ by "
          << relative_rms(in_batch.velocities_A_per_akma, by_itself.velocities_A_per_akma);
    }
  }
  /// The emulated GPU is slow: there all schemes are run with seven molecules, other sizes with two
  /// schemes, and 33 molecules also with the schemes that solve for all molecules together.
  bool worth_it(const EngineCase& c, int n) const {
    if (n > most_molecules(c.scheme) || !solvable(c.scheme)) return false;
    if (is_cpu() || n == 7 || !stands_in()) return true;
    if (n < 7) return has_all_sizes(c.scheme);
    if (n == 17 || n == 33) {
      const bool is_together = c.scheme == "zss_dense" || c.scheme == "zss_molecule" ||
                               c.scheme == "zss_total" || c.scheme == "pushforward";
      if (is_together && covers() && n != (c.scheme == "zss_dense" ? 33 : 17)) return false;
      if (is_together) return c.bath == Bath::gla_per_mass;
    }
    return c.bath == Bath::gla_per_mass && (c.scheme == "zss_structured" || c.scheme == "settle");
  }
  /// Whether tests run a covering set, because the GPU is emulated.
  bool covers() const { return stands_in() && !covers_everything(); }
  /// The precisions of a case. A covering set has all of them with up to 33 molecules of one
  /// penalty scheme and one constraint scheme, and one of them, by turns, in all other cases.
  std::vector<Precision> precisions(const std::string& scheme, int n) {
    std::vector<Precision> all = precisions_of(scheme);
    std::erase_if(all, [&](Precision p) {  // some schemes compute pairs in double precision only
      return pair_force_precision(make_system({scheme, Bath::none}, tip3p(), 2, p)) != p;
    });
    if (!covers() || (n <= 33 && has_all_sizes(scheme))) return all;
    return {all[turn_++ % all.size()]};
  }
  /// The number of replicas of a case: two of large clusters in a covering set.
  int replicas(int n, int usual) const { return n > 100 && covers() ? 2 : usual; }
  std::unique_ptr<Engine> make(const System& system, const State& start) const {
    return make_engine(system, start, {}, {GetParam(), 1});
  }

 private:
  std::size_t turn_ = 0;
};

TEST_P(EngineDevices, DescribesItself) {
  const System system = make_system({"zss_structured", Bath::none}, tip3p(), 2);
  std::string description = make(system, start_state(system, {0}))->description();
  for (char& c : description) c = static_cast<char>(std::tolower(c));
  // Never a different device without an error.
  EXPECT_NE(description.find(GetParam()), std::string::npos) << description;
}

/// "auto" is the first GPU if there is one, else the CPU; with pairs in float for any GPU.
TEST_P(EngineDevices, IsSelectedByAuto) {
  const System system = make_system({"zss_structured", Bath::none}, tip3p(), 2, Precision::mixed);
  const State start = start_state(system, {0});
  const auto by_itself = make_engine(system, start, {}, {"auto", 1});
  const bool gpu = probe_devices().status == ProbeStatus::ok;
  EXPECT_EQ(by_itself->description() == make(system, start)->description(),
            (GetParam() == "cuda") == gpu);
}

TEST_P(EngineDevices, FindsCusolver) {
  if (is_cpu()) GTEST_SKIP() << "the CPU has no use for it";
  EXPECT_EQ(cusolver_problem(), "");
}

TEST_P(EngineDevices, ForcesEqualThePlainSum) {
  Worst double_error("log10_double"), float_error("log10_float");
  Worst share("log10_share_of_float_bound");
  for (const WaterModel& model : kWaterModels) {
    for (int n : {1, 2, 7, 16, 17, 31, 33, 65, 100, 129, 257, 400}) {
      if (n > 33 && model.name != "tip3p" && model.name != "tip4p") continue;
      const std::vector<double> x = lattice_cluster(model, n, 7);
      const PlainEnergy reference = plain_energy(model, x);
      const int count = replicas(n, 3);
      for (Precision precision : precisions("shake", n)) {
        const auto engine = make(system_that_shows_forces(model, n, precision),
                                 replicas_at(model, x, count, 0.0, 1, false));
        // All replicas have the same configuration.
        const std::vector<double> all = forces_shown(*engine, model);
        ASSERT_EQ(all.size(), static_cast<std::size_t>(count) * x.size());
        for (auto at = all.begin(); at != all.end(); at += std::ssize(x)) {
          const std::vector<double> forces(at, at + std::ssize(x));
          if (n == 1) {
            for (double force : forces) EXPECT_NEAR(force, 0.0, 1e-15);
          } else if (precision == Precision::double_) {
            double_error.see(relative_rms(forces, reference.forces), n);
          } else {
            const double error = relative_rms(forces, reference.forces);
            float_error.see(error, n);
            share.see(error / (float_error_of_roots(GetParam()) * norm(reference.by_roots) /
                               norm(reference.forces)),
                      n);
          }
        }
      }
    }
  }
  // About ten roundings per pair; the order of the sums depends on the device.
  double_error.expect_below(1e-14);
  // As if all errors had the same sign and the largest size: an upper bound, at most a hundred
  // times the actual error.
  share.expect_between(0.01, 1.0);
}

/// One step compared with the CPU in double precision, from the same state.
TEST_P(EngineDevices, OneStepIsThatOfTheCpu) {
  Worst double_x("log10_double_x"), double_v("log10_double_v");
  Worst mixed_x("log10_mixed_x"), mixed_v("log10_mixed_v");
  Worst single_x("log10_single_x"), single_v("log10_single_v");
  // Effect of pairs in float on the accelerations of free atoms, by model and number of molecules.
  std::map<std::pair<std::string_view, int>, double> by_pairs;
  const auto acceleration_error = [&](const System& system, const State& start) {
    const auto [at, is_new] = by_pairs.try_emplace({system.model.name, system.molecules}, 0.0);
    if (is_new) {
      at->second = float_error_of_accelerations(GetParam(), system.model, start.positions_A,
                                                start.coordinates());
    }
    return at->second;
  };
  for (const EngineCase& c : engine_cases()) {
    for (const WaterModel& model : {tip3p(), tip4p()}) {
      for (int n : {1, 2, 7, 16, 17, 31, 32, 33, 100, 129, 257}) {
        if (!worth_it(c, n)) continue;
        if (n > 200 && covers() && model.has_m_site() != (c.scheme == "settle")) continue;
        std::vector<std::int64_t> ids{3, 10, 4'000'000'000};
        if (replicas(n, 3) == 2) ids.erase(ids.begin());
        for (Precision precision : precisions(c.scheme, n)) {
          System system = make_system(c, model, n, precision);
          system.integrator.tolerance = 1e-14;
          const State start = start_state(system, ids, 70);
          const auto engine = make(system, start);
          system.precision = Precision::double_;
          const auto reference = make_cpu_engine(system, start, {}, 1);
          EXPECT_EQ(engine->step(), 70);
          reference->advance(1);
          engine->advance(1);
          const State a = engine->state(), b = reference->state();
          EXPECT_EQ(a.step, 71);
          EXPECT_EQ(a.replica_ids, b.replica_ids);
          const double x = relative_rms(a.positions_A, b.positions_A);
          const double v = relative_rms(a.velocities_A_per_akma, b.velocities_A_per_akma);
          if (precision == Precision::double_) {
            double_x.see(x, n);
            double_v.see(v, n);
            continue;
          }
          // Two halves of a kick, at distances that a step changes by less than a tenth, by
          // accelerations that bonds and constraints make no larger in the norm of masses, which is
          // between m_H and m_O of the plain one. Positions have h times less. Beside it there are
          // the roundings of double precision in mixed, and in single those of the step: the g of a
          // bond is within eight roundings of 2 A^2 (unit/single_test), which makes an acceleration
          // of g/(b h^2) in Z&Ss and of omega^2 g |2 d| in Verlet, in a step 5e-5 and 8e-5 A/akma
          // of velocities of 0.6; positions are of 1 A and more.
          const bool single = precision == Precision::single;
          const double h = system.integrator.timestep_akma;
          const double kick = 2.0 * h * acceleration_error(system, start);
          (single ? single_x : mixed_x)
              .see(x / (h * kick / norm(b.positions_A) + (single ? 5e-6 : 1e-14)), n);
          (single ? single_v : mixed_v)
              .see(v / (kick / norm(b.velocities_A_per_akma) + (single ? 1.5e-4 : 1e-12)), n);
        }
      }
    }
  }
  // Rounding of 1e-16, over h where velocities come from positions.
  double_x.expect_below(1e-14);
  double_v.expect_below(1e-12);
  // These are fractions of their bounds.
  for (const Worst* share : {&mixed_x, &mixed_v, &single_x, &single_v}) share->expect_below(1.0);
}

/// With infinite friction the velocities of a free molecule are the noise itself. Its integers are
/// the same on every device, and its normal numbers are floats without device-dependent rounding.
TEST_P(EngineDevices, NoiseIsTheSame) {
  System system = make_system({"zss_structured", Bath::gla}, tip3p(), 1);
  system.integrator.omega = 1e-4;
  system.thermostat.friction_oxygen_per_akma = system.thermostat.friction_hydrogen_per_akma = 1e4;
  const std::vector<std::int64_t> ids{0, 1, 77, 4'000'000'000};
  const std::int64_t step = (std::int64_t{1} << 32) + 5;
  for (Precision precision : kPrecisions) {
    system.precision = precision;
    const double two_roundings = precision == Precision::single ? 0x1p-23 : 4e-16;
    const auto engine = make(system, start_state(system, ids, step));
    engine->advance(1);
    const State s = engine->state();
    for (std::size_t r = 0; r < ids.size(); ++r) {
      const MoleculeNormals z =
          molecule_normals(system.seed, static_cast<std::uint64_t>(ids[r]), 0,
                           static_cast<std::uint64_t>(step), NoiseStream::thermostat);
      for (std::size_t k = 0; k < 9; ++k) {
        const double kick = std::sqrt(units::boltzmann_kcal_per_mol_K * 300.0 /
                                      system.model.mass_Da(static_cast<int>(k) / 3));
        EXPECT_NEAR(s.velocities_A_per_akma[9 * r + k], kick * z.xi[k],
                    two_roundings * std::fabs(kick * z.xi[k]));
      }
    }
  }
}

/// A short test of the laws on one device.
TEST_P(EngineDevices, LawsHold) {
  const std::int64_t first = kKeptSteps - 5;  // past a step at which states are kept
  for (const EngineCase& c : engine_cases()) {
    for (int n : {2, 7, 10, 17, 32, 33, 129}) {
      if (!worth_it(c, n)) continue;
      for (Precision precision : precisions(c.scheme, n)) {
        SCOPED_TRACE(c.name() + ", N = " + std::to_string(n) + ", " + name_of(precision));
        const System system = make_system(c, tip3p(), n, precision);
        const State start = start_state(system, spread_ids(replicas(n, 5)), first);
        const auto whole = make(system, start);
        whole->advance(8);
        const auto expected = bits_by_replica(*whole);
        const auto pieces = make(system, start);
        pieces->advance(3);
        const auto resumed = make(system, pieces->state());
        pieces->advance(5);
        resumed->advance(5);
        EXPECT_TRUE(same_bits(expected, bits_by_replica(*pieces)));
        EXPECT_TRUE(same_bits(expected, bits_by_replica(*resumed)));
        if (solved_in_batches(c.scheme)) continue;
        const auto alone = make(system, start_state(system, {10}, first));
        alone->advance(8);
        EXPECT_TRUE(same_bits(expected.at(10), bits_by_replica(*alone).at(10)));
      }
    }
  }
}

/// More steps than fit into a launch, on the warp and block paths: the same as several advances.
TEST_P(EngineDevices, LongAdvancesAreManyShortOnes) {
  const int steps = GetParam() == "cuda" && !stands_in() ? 10'000 : 70;
  for (int n : {7, 33}) {
    for (Precision precision : precisions("rattle", n)) {
      SCOPED_TRACE("N = " + std::to_string(n) + ", " + name_of(precision));
      const System system = make_system({"settle", Bath::gla_per_mass}, tip3p(), n, precision);
      const State start = start_state(system, spread_ids(2));
      const auto whole = make(system, start), pieces = make(system, start);
      whole->advance(steps);
      for (int k = 0; k < 10; ++k) pieces->advance(steps / 10);
      EXPECT_TRUE(same_bits(bits_by_replica(*whole), bits_by_replica(*pieces)));
      EXPECT_TRUE(whole->blow_ups().empty());
    }
  }
}

/// The heat is that of the CPU in double precision, within what velocities differ by after three
/// steps (OneStepIsThatOfTheCpu) times their kinetic energies of about 3 kcal/mol. It is bitwise
/// reproducible, and tallying it changes no bit. All paths: warps, blocks, tiles, and both solvers.
TEST_P(EngineDevices, TalliesHeat) {
  const std::int64_t first = kKeptSteps - 2;  // past a step at which states are kept
  for (const auto& [scheme, bath, n] : {std::tuple{"zss_structured", Bath::gla, 7},
                                        {"zss_structured", Bath::baoab, 7},
                                        {"settle", Bath::gla_per_mass, 7},
                                        {"settle", Bath::baoab_per_mass, 33},
                                        {"zss_structured", Bath::gla_per_mass, 33},
                                        {"settle", Bath::gla, 129},
                                        {"zss_structured", Bath::baoab_per_mass, 129},
                                        {"zss_dense", Bath::gla, 2},
                                        {"pushforward", Bath::baoab, 2}}) {
    if (!solvable(scheme)) continue;
    for (Precision precision : precisions(scheme, n)) {
      System system = make_system({scheme, bath}, tip3p(), n, precision);
      const EngineCase c{scheme, bath};
      SCOPED_TRACE(c.name() + ", N = " + std::to_string(n) + ", " + name_of(precision));
      const int count = replicas(n, 3);
      const State start = tallied(start_state(system, spread_ids(count), first));
      const auto whole = make(system, start), pieces = make(system, start);
      whole->advance(3);
      pieces->advance(1);
      const auto resumed = make(system, pieces->state());
      pieces->advance(2);
      resumed->advance(2);
      const auto expected = bits_by_replica(*whole);
      EXPECT_TRUE(same_bits(expected, bits_by_replica(*pieces)));
      EXPECT_EQ(whole->state().heat_kcal_per_mol, resumed->state().heat_kcal_per_mol);
      if (!solved_in_batches(scheme)) {
        const auto alone = make(system, tallied(start_state(system, {10}, first)));
        alone->advance(3);
        EXPECT_TRUE(same_bits(expected.at(10), bits_by_replica(*alone).at(10)));
      }
      const auto plain = make(system, start_state(system, spread_ids(count), first));
      plain->advance(3);
      EXPECT_EQ(whole->state().positions_A, plain->state().positions_A);
      EXPECT_EQ(whole->state().velocities_A_per_akma, plain->state().velocities_A_per_akma);
      EXPECT_TRUE(plain->state().heat_kcal_per_mol.empty());

      system.precision = Precision::double_;
      const auto reference = make_cpu_engine(system, start, {}, 1);
      reference->advance(3);
      Frame a, b;
      whole->snapshot(kHeat, a);
      reference->snapshot(kHeat, b);
      const double difference = precision == Precision::double_ ? 1e-11
                                : precision == Precision::mixed ? 1e-4
                                                                : 2e-3;
      ASSERT_EQ(a.heat_kcal_per_mol.size(), start.replica_ids.size());
      for (std::size_t r = 0; r < start.replica_ids.size(); ++r) {
        EXPECT_NEAR(a.heat_kcal_per_mol[r], b.heat_kcal_per_mol[r], 3.0 * n * difference);
      }
    }
  }
}

/// On all paths the result equals an exchange in a downloaded state and a new engine, in any batch.
TEST_P(EngineDevices, Exchanges) {
  const std::int64_t first = kKeptSteps - 5;  // past a step at which states are kept
  const std::vector<StateExchange> all_pairs{{3, 10, 0.9, 1.1}, {31, 17, 1.2, 0.7}};
  for (const auto& [scheme, bath, n] : {std::tuple{"zss_structured", Bath::gla_per_mass, 7},
                                        {"zss_full", Bath::none, 2},
                                        {"verlet", Bath::baoab, 2},
                                        {"settle", Bath::baoab_per_mass, 7},
                                        {"shake", Bath::gla, 2},
                                        {"zss_infinite", Bath::gla, 33},
                                        {"rattle", Bath::baoab_per_mass, 33},
                                        {"settle", Bath::gla, 129},
                                        {"zss_structured", Bath::baoab_per_mass, 129},
                                        {"zss_dense", Bath::gla, 2},
                                        {"zss_total", Bath::gla_per_mass, 2},
                                        {"pushforward", Bath::baoab, 2},
                                        {"pushforward_infinite", Bath::gla, 3},
                                        {"one_step", Bath::gla_per_mass, 2}}) {
    if (!solvable(scheme)) continue;
    for (Precision precision : precisions(scheme, n)) {
      const EngineCase c{scheme, bath};
      SCOPED_TRACE(c.name() + ", N = " + std::to_string(n) + ", " + name_of(precision));
      const System system = make_system(c, tip3p(), n, precision);
      const bool one_pair = replicas(n, 5) == 2;
      const std::span<const StateExchange> pairs(all_pairs.data(), one_pair ? 1 : 2);
      const State start = start_state(system, spread_ids(replicas(n, 5)), first);
      const auto engine = make(system, n == 7 ? tallied(start) : start);
      engine->advance(2);
      State by_hand = engine->state();
      exchange_states(system, by_hand, pairs);
      engine->exchange(pairs);
      const auto restarted = make(system, by_hand);
      const auto expected = bits_by_replica(*restarted), found = bits_by_replica(*engine);
      // The velocities of BAOAB's temperature are not part of the state.
      if (system.thermostat.kind != Thermostat::baoab) {
        EXPECT_TRUE(same_bits(expected, found)) << "at once";
      }
      if (!is_rigid(system.integrator.scheme)) {
        Frame of_engine, of_restarted;
        engine->snapshot(kMultipliers, of_engine);
        restarted->snapshot(kMultipliers, of_restarted);
        EXPECT_EQ(of_engine.multipliers_kcal_per_mol_A2, of_restarted.multipliers_kcal_per_mol_A2);
      }
      engine->advance(5);
      restarted->advance(5);
      EXPECT_TRUE(same_bits(bits_by_replica(*restarted), bits_by_replica(*engine))) << "later";
      EXPECT_TRUE(engine->blow_ups().empty());
    }
  }
}

/// After an exchange the received state is the kept state of a blow-up, and a stopped replica
/// cannot be exchanged.
TEST_P(EngineDevices, ExchangeIsRestoredAfterABlowUp) {
  for (int n : {2, 33, 129}) {
    const System system = make_system({"settle", Bath::none}, tip3p(), n);
    const auto engine = make(system, start_state(system, {0, 1, 2}));
    engine->advance(2);
    const std::vector<StateExchange> pairs{{0, 1, 1.0, 1e9}};
    State by_hand = engine->state();
    exchange_states(system, by_hand, pairs);
    engine->exchange(pairs);
    const auto restarted = make(system, by_hand);
    for (const auto& each : {engine.get(), restarted.get()}) {
      each->advance(1);
      ASSERT_EQ(each->blow_ups().size(), 1u);
    }
    EXPECT_EQ(engine->blow_ups()[0].replica, 1);
    EXPECT_EQ(engine->blow_ups()[0], restarted->blow_ups()[0]);
    EXPECT_TRUE(same_bits(bits_by_replica(*restarted), bits_by_replica(*engine)));
    EXPECT_THROW(engine->exchange(std::vector<StateExchange>{{2, 1, 1.0, 1.0}}), InputError);
    EXPECT_THROW(engine->exchange(std::vector<StateExchange>{{2, 7, 1.0, 1.0}}), InputError);
    const std::vector<StateExchange> twice{{2, 0, 1.0, 1.0}, {0, 2, 1.0, 1.0}};
    EXPECT_THROW(engine->exchange(twice), InputError);
    engine->exchange(std::vector<StateExchange>{{2, 0, 1.0, 1.0}});
  }
}

/// Counts of a few steps are the CPU's to the integer: distances are taken in double, and in so
/// few steps none is within rounding of the edge of a bin.
TEST_P(EngineDevices, CountsPairsAsTheCpu) {
  for (int n : {2, 7, 32, 33, 129}) {
    const System system = make_system({"zss_structured", Bath::gla}, tip3p(), n);
    const PairCountRequest counts{.enabled = true,
                                  .r_max_A = 6.0,
                                  .bins = 60,
                                  .every = 2,
                                  .first_step = n == 7 ? 3 : 0,
                                  .groups = n == 7 ? 3 : 32};  // ids 3 and 24 share one of three
    const State start = start_state(system, spread_ids(5));
    const auto engine = make_engine(system, start, counts, {GetParam(), 1});
    const auto reference = make_cpu_engine(system, start, counts, 1);
    engine->advance(3);
    engine->advance(6);
    reference->advance(9);
    Frame a, b;
    engine->snapshot(kPairCounts, a);
    reference->snapshot(kPairCounts, b);
    EXPECT_EQ(a.pair_samples, b.pair_samples) << n;
    EXPECT_EQ(a.pair_counts, b.pair_counts) << n;
  }
}

/// In single precision the counts are those of the positions that are reported.
TEST_P(EngineDevices, CountsPairsOfReportedPositions) {
  for (int n : {7, 33, 129}) {
    const System system = make_system({"zss_structured", Bath::gla}, tip3p(), n, Precision::single);
    const PairCountRequest counts{.enabled = true, .r_max_A = 6.0, .bins = 60, .every = 2};
    const State start = start_state(system, spread_ids(3));
    const auto engine = make_engine(system, start, counts, {GetParam(), 1});
    const auto other = make(system, start);
    engine->advance(4);
    std::array<std::int64_t, kPairClasses> expected{}, found{};
    Frame f;
    for (int k = 0; k < 3; ++k) {
      if (k > 0) other->advance(2);
      other->snapshot(kPositions, f);
      for (std::size_t a = 0; a < f.positions_A.size(); a += 3) {
        for (std::size_t b = 0; b < a; b += 3) {
          const std::size_t size = static_cast<std::size_t>(9 * n);
          if (a / size != b / size || a / 9 == b / 9) continue;
          const std::size_t pair_class = (a % 9 != 0) + (b % 9 != 0);
          const double* x = f.positions_A.data();
          expected[pair_class] +=
              std::hypot(x[a] - x[b], x[a + 1] - x[b + 1], x[a + 2] - x[b + 2]) < counts.r_max_A;
        }
      }
    }
    engine->snapshot(kPairCounts, f);
    for (std::size_t k = 0; k < f.pair_counts.size(); ++k) {
      found[k / static_cast<std::size_t>(counts.bins) % kPairClasses] +=
          static_cast<std::int64_t>(f.pair_counts[k]);
    }
    EXPECT_EQ(found, expected) << n;
  }
}

/// Steps in single precision depend on differences of positions only: whole A from the origin
/// change no bit of a velocity, with a wall about the centre of mass too.
TEST_P(EngineDevices, SingleIsIndependentOfTheOrigin) {
  for (int n : {7, 33, 129}) {
    for (const WaterModel& model : {tip3p(), tip4p()}) {
      const System system =
          make_system({"zss_structured", Bath::gla_per_mass}, model, n, Precision::single);
      // What the engine has taken in: numbers that it has.
      const State here = make(system, start_state(system, spread_ids(3)))->state();
      State there = here;
      const double shift[3] = {37.0, -1000.0, 4e6};
      for (std::size_t k = 0; k < there.positions_A.size(); ++k) {
        there.positions_A[k] += shift[k % 3];
      }
      const auto a = make(system, here), b = make(system, there);
      a->advance(4);
      b->advance(4);
      const State x = a->state(), y = b->state();
      EXPECT_EQ(x.velocities_A_per_akma, y.velocities_A_per_akma) << n;
      for (std::size_t k = 0; k < there.positions_A.size(); ++k) {
        ASSERT_EQ(x.positions_A[k] + shift[k % 3], y.positions_A[k]) << n;
      }
    }
  }
}

/// Without a thermostat only rounding changes the momentum in single precision: of two kicks a step
/// and velocity, which is below 4 A/akma, and of the accelerations that make them, in whose sum
/// over a molecule forces of the bonds of some 100 kcal/mol/A cancel.
TEST_P(EngineDevices, SingleKeepsMomentum) {
  for (int n : {7, 33, 129}) {
    const System system =
        make_system({"zss_structured", Bath::none}, tip3p(), n, Precision::single);
    const auto engine = make(system, start_state(system, spread_ids(2)));
    constexpr int kSteps = 20;
    Frame a, b;
    engine->snapshot(kConservation, a);
    engine->advance(kSteps);
    engine->snapshot(kConservation, b);
    const double h = system.integrator.timestep_akma, rounding = 0x1p-24;
    const double bound = kSteps * n * rounding * (2.0 * 18.0 * 4.0 + h * 3.0 * 100.0);
    ASSERT_EQ(b.conservation.size(), 2u);
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(a.conservation[r].momentum_Da_A_per_akma[c],
                    b.conservation[r].momentum_Da_A_per_akma[c], bound)
            << n;
      }
    }
  }
}

/// A hydrogen leaves its molecule with 130 kcal/mol, 27 more than its Morse bond has. From 5 to 12
/// A on, bonds weaken from exp(-9) to nothing. A force that does not fade, 2 D alpha exp(-11) =
/// 0.008 kcal/mol/A, would change the energy by 0.05 kcal/mol there; floats add rounding errors of
/// the velocities, 400 steps times 2^-24 of 30 kcal/mol, at most.
TEST_P(EngineDevices, ConservesTheEnergyOfALeavingHydrogen) {
  System system;
  system.model = *find_water_model("tip4p2005f");
  system.molecules = 1;
  system.integrator.scheme = Scheme::verlet;
  system.integrator.timestep_akma = 0.004;
  State start{1, 0, {0}, {}, {}};
  const Triple<double> x = molecule_at_origin(system.model);
  for (const double c : to_array(x)) start.positions_A.push_back(c);
  const Vec3<double> out = rsqrt(norm2(x.h1 - x.o)) * (x.h1 - x.o);
  const double speed = std::sqrt(2.0 * 130.0 / system.model.mass_h_Da);
  start.velocities_A_per_akma = {0, 0, 0, speed * out.x, speed * out.y, speed * out.z, 0, 0, 0};
  for (Precision precision : kPrecisions) {
    SCOPED_TRACE(static_cast<int>(precision));
    system.precision = precision;
    const auto engine = make(system, start);
    double length_A = 0.0;
    std::vector<double> energies;
    while (length_A < 12.0 && engine->step() < 1000) {
      engine->advance(20);
      Frame frame;
      engine->snapshot(kGeometry | kConservation, frame);
      ASSERT_EQ(frame.replica_ids.size(), 1u);
      length_A = frame.geometry[0].reported.oh_longest_A;
      if (length_A > 5.0) energies.push_back(frame.conservation[0].energy_kcal_per_mol);
    }
    ASSERT_GT(length_A, 12.0);
    const auto [low, high] = std::minmax_element(energies.begin(), energies.end());
    EXPECT_LT(*high - *low, 0.005);
  }
}

/// A Frame of the device is that of the CPU, field by field. In single precision steps differ by
/// the rounding of accelerations, 1e-3 A/akma^2 at most: positions by 1e-6 A and velocities by 5e-5
/// A/akma a step, both of some 1.
TEST_P(EngineDevices, MeasuresAsTheCpu) {
  for (const std::string scheme :
       {"zss_structured", "zss_infinite", "settle", "pushforward", "pushforward_infinite"}) {
    for (int n : {2, 7, 33, 129}) {
      for (Precision precision : {Precision::double_, Precision::single}) {
        const bool single = precision == Precision::single;
        if (n > 100 && covers() && scheme != (single ? "zss_structured" : "settle")) continue;
        const System system = make_system({scheme, Bath::baoab_per_mass}, tip4p(), n, precision);
        if (single && !supports_single_precision(system.integrator)) continue;
        SCOPED_TRACE(scheme + ", N = " + std::to_string(n) + ", " + name_of(precision));
        const State start = start_state(system, spread_ids(3));
        const auto engine = make(system, start);
        const auto reference = make_cpu_engine(system, start, {}, 1);
        engine->advance(2);
        reference->advance(2);
        Frame a, b;
        const unsigned fields = kPositions | kVelocities | kEnergies | kConservation | kMultipliers;
        engine->snapshot(fields, a);
        reference->snapshot(fields, b);
        ASSERT_EQ(a.replica_ids, b.replica_ids);
        EXPECT_LT(relative_rms(a.positions_A, b.positions_A), single ? 2e-6 : 1e-13);
        EXPECT_LT(relative_rms(a.velocities_A_per_akma, b.velocities_A_per_akma),
                  single ? 1e-4 : 1e-11);
        EXPECT_LT(relative_rms(a.multipliers_kcal_per_mol_A2, b.multipliers_kcal_per_mol_A2),
                  single ? 1e-3 : 1e-8);
        expect_rows_near("energies", a.energies, b.energies, single ? 1e-4 : 1e-9);
      }
    }
  }
}

/// Rows that need no velocities: shapes, parts, Lindemann indices and exchange energies. Sizes of
/// one chunk and of several, whole clusters and clusters in parts.
TEST_P(EngineDevices, MeasuresShapesAsTheCpu) {
  for (int n : {1, 2, 7, 33, 129}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    const System system = make_system({"settle", Bath::baoab}, tip3p(), n, Precision::double_);
    State start = start_state(system, spread_ids(5));
    // The last two molecules of the second replica, or the only one, are 100 A away.
    for (std::size_t c = 0; c < 18 && c < start.coordinates(); c += 3) {
      start.positions_A[2 * start.coordinates() - 3 - c] += 100.0;
    }
    MeasureSettings settings;
    settings.link_A = 12.0;
    settings.lindemann = {true, 2, 0};
    const auto engine = make(system, start);
    const auto reference = make_cpu_engine(system, start, {}, 1);
    for (Engine* e : {engine.get(), reference.get()}) {
      e->measure_with(settings);
      e->advance(5);
    }
    const unsigned fields = kShape | kParts | kLindemann | kExchangeEnergies | kGeometry;
    Frame a, b;
    engine->snapshot(fields | kLindemannSums, a);
    reference->snapshot(fields | kLindemannSums, b);
    ASSERT_EQ(a.replica_ids, b.replica_ids);
    EXPECT_EQ(a.lindemann_sums.samples, 3) << "steps 0, 2 and 4";
    EXPECT_EQ(b.lindemann_sums.samples, 3);
    int in_parts = 0;
    // Five steps of rounding, sums over up to 129 molecules.
    expect_rows_near("shape", a.shape, b.shape);
    expect_rows_near("geometry", a.geometry, b.geometry);
    expect_near("exchange", a.exchange_energies_kcal_per_mol, b.exchange_energies_kcal_per_mol);
    expect_near("lindemann", a.lindemann, b.lindemann);
    for (std::size_t r = 0; r < b.live(); ++r) {
      EXPECT_EQ(a.shape[r].hydrogen_bonds, b.shape[r].hydrogen_bonds);
      EXPECT_EQ(a.parts[r].molecules_gone, b.parts[r].molecules_gone);
      EXPECT_EQ(a.parts[r].first_gone, b.parts[r].first_gone);
      expect_near("relative kinetic energy", {a.parts[r].relative_kinetic_kcal_per_mol},
                  {b.parts[r].relative_kinetic_kcal_per_mol});
      EXPECT_EQ(std::isnan(b.lindemann[r]), n == 1);
      in_parts += b.parts[r].molecules_gone > 0;
    }
    EXPECT_GE(in_parts, n > 2 ? 1 : 0);
    // A replica alone has the same rows.
    const auto one = make(system, replica_of(start, 1));
    one->measure_with(settings);
    one->advance(5);
    Frame c;
    one->snapshot(fields, c);
    EXPECT_EQ(c.shape[0].dipole_D, a.shape[1].dipole_D);
    EXPECT_EQ(c.shape[0].radius_of_gyration_A, a.shape[1].radius_of_gyration_A);
    EXPECT_EQ(c.exchange_energies_kcal_per_mol[0], a.exchange_energies_kcal_per_mol[1]);
    if (n > 1) {
      EXPECT_EQ(c.lindemann[0], a.lindemann[1]);
    }
  }
}

/// A frame that is finished after later steps is that of the step at which it was started.
/// Moments and radial counts are made of the engine's own rows, in the order of the CPU.
TEST_P(EngineDevices, ReducesRowsAsTheCpu) {
  for (int n : {1, 7, 40, 130}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    const System system =
        make_system({"zss_structured", Bath::gla}, tip3p(), n, Precision::double_);
    const State start = start_state(system, spread_ids(n > 100 ? 3 : 70));
    const auto engine = make(system, start);
    const auto reference = make_cpu_engine(system, start, {}, 1);
    MeasureSettings settings;
    settings.moment_groups = 2;
    settings.radial = {12.0, 24, 3};
    settings.lindemann = {true, 1, 0};
    for (Engine* e : {engine.get(), reference.get()}) {
      e->measure_with(settings);
      e->advance(3);
    }
    Frame rows, moments, of_cpu;
    engine->snapshot(kRowFields | kPositions, rows);
    engine->snapshot(kGroupFields, moments);
    reference->snapshot(kGroupFields, of_cpu);
    EXPECT_TRUE(moments.energies.empty() && moments.shape.empty()) << "rows that stay";
    Frame expected = rows;
    ReplicaGroups groups(settings.moment_groups);
    fill_moments(kGroupFields, system.model.is_flexible(), groups, 1, expected);
    for (const auto member : {&Frame::energy_moments, &Frame::shape_moments,
                              &Frame::geometry_moments, &Frame::lindemann_moments}) {
      Frame is, must;
      is.*member = moments.*member;
      must.*member = expected.*member;
      EXPECT_EQ((is.*member).groups, 2);
      EXPECT_TRUE(same_bits(bits_of(must), bits_of(is)));
    }
    RadialCounts counts;
    clear_radial(settings.radial, counts);
    for (std::size_t r = 0; r < rows.live(); ++r) {
      add_radial(rows.positions_A_of(r), system, settings.radial,
                 static_cast<int>(rows.replica_ids[r] % 3), counts);
    }
    // An atom at the border of a shell may fall on either side.
    const auto differences = [](const auto& a, const auto& b) {
      std::int64_t all = 0;
      for (std::size_t i = 0; i < a.size(); ++i) all += std::abs(a[i] - b[i]);
      return all;
    };
    for (const RadialCounts* is : {&moments.radial_counts, &of_cpu.radial_counts}) {
      EXPECT_EQ(is->replicas, counts.replicas);
      EXPECT_EQ(differences(is->oxygens, counts.oxygens), 0);
      EXPECT_EQ(differences(is->hydrogens, counts.hydrogens), 0);
      // Five units per molecule of rounding in 2^-40.
      EXPECT_LE(differences(is->cosines, counts.cosines),
                static_cast<std::int64_t>(rows.live()) * n * 5);
    }
  }
}

/// Times of stages are those of steps that keep a state, scaled to all steps.
TEST_P(EngineDevices, ReportsTheTimesOfStages) {
  for (int n : {7, 40, 130}) {
    for (const Bath bath : {Bath::none, Bath::gla, Bath::baoab}) {
      SCOPED_TRACE("N = " + std::to_string(n));
      const System system = make_system({"zss_structured", bath}, tip3p(), n, Precision::double_);
      const auto engine = make(system, start_state(system, spread_ids(2)));
      engine->advance(3);
      const EngineReport report = engine->report();
      EXPECT_GT(report.pair_seconds, 0.0);
      const double all =
          report.pair_seconds + report.bond_seconds + report.noise_seconds + report.rest_seconds;
      EXPECT_LT(report.pair_seconds, all);
      if (n > 128) {  // on a GPU, bonds and noise are in one kernel
        EXPECT_GT(report.rest_seconds + report.bond_seconds, 0.0);
        continue;
      }
      EXPECT_GT(report.bond_seconds, 0.0);
      EXPECT_EQ(report.noise_seconds > 0.0, bath != Bath::none);
      // With BAOAB the noise may take as long as the first half step, so that nothing is left.
      if (bath != Bath::baoab) {
        EXPECT_GT(report.rest_seconds, 0.0) << "the first half step";
      }
    }
  }
}

TEST_P(EngineDevices, LaterStepsDoNotChangeAFrame) {
  const System system = make_system({"settle", Bath::baoab}, tip3p(), 7, Precision::mixed);
  const State start = start_state(system, spread_ids(33));
  const unsigned fields = kRowFields & ~static_cast<unsigned>(kLindemann);
  const auto whole = make(system, start), late = make(system, start);
  for (int k = 0; k < 3; ++k) {
    Frame a, b;
    whole->advance(4);
    whole->snapshot(fields, a);
    late->begin_advance(4);
    if (!late->begin_snapshot(fields)) GTEST_SKIP() << "this engine has no frames of this kind";
    late->begin_advance(3);
    late->finish_snapshot(b);
    late->wait();
    whole->advance(3);
    EXPECT_EQ(a.step, b.step);
    ASSERT_EQ(a.replica_ids, b.replica_ids);
    for (std::size_t r = 0; r < a.live(); ++r) {
      EXPECT_EQ(numbers_of(a.energies[r]), numbers_of(b.energies[r]));
      EXPECT_EQ(a.shape[r].dipole_D, b.shape[r].dipole_D);
      EXPECT_EQ(a.exchange_energies_kcal_per_mol[r], b.exchange_energies_kcal_per_mol[r]);
    }
  }
}

void expect_same_state(const State& a, const State& b) {
  EXPECT_EQ(a.molecules, b.molecules);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.replica_ids, b.replica_ids);
  EXPECT_EQ(a.positions_A, b.positions_A);
  EXPECT_EQ(a.velocities_A_per_akma, b.velocities_A_per_akma);
  EXPECT_EQ(a.heat_kcal_per_mol, b.heat_kcal_per_mol);
}

/// A copy of the state that another thread completes during later steps is that of the step at
/// which it was started, also of a stopped replica.
TEST_P(EngineDevices, LaterStepsDoNotChangeACopyOfTheState) {
  for (const int n : {7, 33, 129}) {
    const System system = make_system({"settle", Bath::gla}, tip3p(), n, Precision::mixed);
    const auto engine = make(
        system, with_fast_molecule(tallied(start_state(system, spread_ids(n == 129 ? 3 : 33)))));
    for (int k = 0; k < 3; ++k) {
      engine->advance(2);
      const State now = engine->state();
      const std::function<State()> copy = engine->begin_state();
      // While one copy is started, another one is possible.
      const std::function<State()> second = k == 1 ? engine->begin_state() : nullptr;
      std::future<State> other_thread = std::async(std::launch::async, copy);
      engine->advance(3);
      expect_same_state(other_thread.get(), now);
      if (second) expect_same_state(second(), now);
    }
    // A copy that nothing takes is no obstacle to the next one.
    engine->begin_state();
    engine->advance(1);
    const State now = engine->state();
    const std::function<State()> copy = engine->begin_state();
    engine->advance(1);
    expect_same_state(copy(), now);
  }
}

/// Before the first noise temperatures are those of the start, in any precision. The multipliers of
/// rigid bonds are computed from the whole force, also where steps at constant energy use the
/// projected force.
TEST_P(EngineDevices, MeasuresTheStart) {
  for (const std::string scheme : {"zss_structured", "shake", "rattle", "settle"}) {
    for (const Bath bath : {Bath::none, Bath::baoab}) {
      for (int n : {7, 33}) {
        System system = make_system({scheme, bath}, tip3p(), n, Precision::single);
        SCOPED_TRACE(scheme + ", N = " + std::to_string(n) + (bath == Bath::none ? "" : ", BAOAB"));
        const State start = start_state(system, spread_ids(3));
        const auto engine = make(system, start);
        system.precision = Precision::double_;
        const auto reference = make_cpu_engine(system, start, {}, 1);
        Frame a, b;
        engine->snapshot(kEnergies | kMultipliers, a);
        reference->snapshot(kEnergies | kMultipliers, b);
        // Of rigid bonds: velocities of floats, squared, and positions to 1.5e-8 of an A. The g of
        // a penalty is rounded to 5e-5 of itself at omega = 100.
        EXPECT_LT(relative_rms(a.multipliers_kcal_per_mol_A2, b.multipliers_kcal_per_mol_A2),
                  is_rigid(system.integrator.scheme) ? 1e-5 : 1e-3);
        for (std::size_t r = 0; r < b.energies.size(); ++r) {
          EXPECT_NEAR(a.energies[r].temperature_rotation_K, b.energies[r].temperature_rotation_K,
                      1e-6 * b.energies[r].temperature_rotation_K);
          EXPECT_NEAR(a.energies[r].temperature_bond_K, b.energies[r].temperature_bond_K,
                      1e-6 * b.energies[r].temperature_K);
        }
      }
    }
  }
}

/// A replica that flies apart is stopped and reported; the others are not affected.
TEST_P(EngineDevices, StopsABadReplicaAlone) {
  for (const auto& [scheme, n] : {std::pair{"settle", 2},
                                  {"settle", 7},
                                  {"settle", 33},
                                  {"settle", 129},
                                  {"pushforward", 17},
                                  {"pushforward", 33},
                                  {"zss_structured", 2},
                                  {"zss_structured", 7},
                                  {"zss_structured", 33},
                                  {"zss_structured", 129}}) {
    const std::string name = scheme;
    if (name == "settle" && n == 129 && covers()) continue;
    const Precision precision = name == "zss_structured" ? Precision::single : Precision::double_;
    const System system = make_system({name, Bath::gla}, tip3p(), n, precision);
    const State good = tallied(start_state(system, spread_ids(4)));
    const State start = with_fast_molecule(good);
    const auto engine = make(system, start), untouched = make(system, good);
    const auto one_by_one = make(system, start);
    // Past a step at which states are kept: the kept state of a stopped replica does not change.
    const int steps = n <= 7 ? 70 : 5;
    engine->advance(5);
    const State stopped = engine->state();
    engine->advance(steps);
    untouched->advance(5 + steps);
    const State later = engine->state();
    for (std::size_t k = 0; k < start.coordinates(); ++k) {
      const std::size_t at = start.coordinates() + k;
      EXPECT_EQ(stopped.positions_A[at], later.positions_A[at]);
    }
    for (int m = n; m < 2 * n; ++m) {
      const auto at = static_cast<std::size_t>(m);
      EXPECT_EQ(good.heat_kcal_per_mol[at], later.heat_kcal_per_mol[at]);
    }
    for (int k = 0; k < 5 + steps; ++k) one_by_one->advance(1);
    EXPECT_TRUE(same_bits(bits_by_replica(*one_by_one), bits_by_replica(*engine)));
    for (const auto& stops : {engine->blow_ups(), one_by_one->blow_ups()}) {
      ASSERT_EQ(stops.size(), 1u);
      EXPECT_EQ(stops[0].replica, 10);
      EXPECT_EQ(stops[0].molecule, 1);
      EXPECT_EQ(stops[0].step, 1);
    }
    auto expected = bits_by_replica(*untouched), found = bits_by_replica(*engine);
    expected.erase(10);
    found.erase(10);
    EXPECT_TRUE(same_bits(expected, found)) << scheme << ", " << n;
  }
}

/// The report counts a replica until it is stopped, independent of the division of the run and of
/// the batch, as on the CPU.
TEST_P(EngineDevices, OmitsStoppedReplicas) {
  for (const std::string scheme :
       {"shake", "settle", "zss_structured", "zss_full", "one_step", "pushforward", "zss_dense"}) {
    if (!solvable(scheme)) continue;
    for (int n : {7, 33, 129}) {
      if (n > most_molecules(scheme) || (n > 33 && scheme != "shake" && stands_in())) continue;
      SCOPED_TRACE(scheme + ", N = " + std::to_string(n));
      const System system = make_system({scheme, Bath::gla}, tip3p(), n);
      const State start = with_fast_molecule(start_state(system, spread_ids(3)));
      const auto reference = make_cpu_engine(system, start, {}, 1);
      const auto engine = make(system, start), one_by_one = make(system, start);
      constexpr int kSteps = 5;
      reference->advance(kSteps);
      engine->advance(kSteps);
      for (int k = 0; k < kSteps; ++k) one_by_one->advance(1);
      ASSERT_EQ(engine->blow_ups().size(), 1u);
      const std::int64_t stop = engine->blow_ups()[0].step;
      const EngineReport whole = engine->report(), pieces = one_by_one->report(),
                         expected = reference->report();
      EXPECT_EQ(whole.molecule_steps, n * (2 * kSteps + stop));
      EXPECT_EQ(pieces.molecule_steps, whole.molecule_steps);
      EXPECT_EQ(pieces.constraint_iterations, whole.constraint_iterations);
      EXPECT_EQ(pieces.indefinite_hessians, whole.indefinite_hessians);
      EXPECT_EQ(expected.molecule_steps, whole.molecule_steps);
      // Near the tolerance rounding may add or remove one iteration.
      EXPECT_NEAR(static_cast<double>(whole.constraint_iterations),
                  static_cast<double>(expected.constraint_iterations), n);
      EXPECT_EQ(expected.indefinite_hessians, whole.indefinite_hessians);
    }
  }
}

/// Push-forward Newmark needs as many corrections as on the CPU, and always computes pairs in
/// double.
TEST_P(EngineDevices, CorrectsAsOftenAsTheCpu) {
  for (int n : {1, 2, 7, 33, 65, covers() ? 129 : 257}) {
    System system = make_system({"pushforward", Bath::gla_per_mass}, tip4p(), n);
    const State start = start_state(system, spread_ids(n > 33 ? 1 : 3));
    const auto engine = make(system, start), reference = make_cpu_engine(system, start, {}, 1);
    system.precision = Precision::mixed;
    const auto mixed = make(system, start);
    const int steps = n > 33 ? 1 : 3;
    for (Engine* e : {engine.get(), reference.get(), mixed.get()}) e->advance(steps);
    EXPECT_LT(relative_rms(engine->state().positions_A, reference->state().positions_A), 1e-14);
    EXPECT_LT(relative_rms(engine->state().velocities_A_per_akma,
                           reference->state().velocities_A_per_akma),
              1e-12);
    EXPECT_TRUE(same_bits(bits_by_replica(*engine), bits_by_replica(*mixed))) << n;
    // Near the tolerance rounding may add or remove one correction, in one replica at most.
    const std::int64_t corrections = reference->report().constraint_iterations;
    EXPECT_GE(corrections, 2 * reference->report().molecule_steps);
    EXPECT_NEAR(static_cast<double>(engine->report().constraint_iterations),
                static_cast<double>(corrections), n);
  }
}

/// Expects one blow-up of each engine, at the same step of the same molecule.
BlowUp same_blow_up(const Engine& engine, const Engine& reference) {
  EXPECT_EQ(engine.blow_ups().size(), 1u);
  EXPECT_EQ(reference.blow_ups().size(), 1u);
  if (engine.blow_ups().empty() || reference.blow_ups().empty()) return {};
  const BlowUp a = engine.blow_ups()[0], b = reference.blow_ups()[0];
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.replica, b.replica);
  EXPECT_EQ(a.molecule, b.molecule);
  return b;
}

/// A replica that does not converge, at the start or in a step, blows up after the same number of
/// corrections as on the CPU; the others are not affected.
TEST_P(EngineDevices, StopsUnsolvableReplicas) {
  for (int n : {3, 33}) {
    for (double speed : {0.0, 10.0}) {
      SCOPED_TRACE("N = " + std::to_string(n) + ", speed = " + std::to_string(speed));
      const System system = make_system({"pushforward", Bath::none}, tip3p(), n);
      const State good = start_state(system, spread_ids(3));
      // In the second replica molecule 1 lies in molecule 0, or 2 A away and flies into it.
      State start = good;
      double* const x = &start.positions_A[start.coordinates()];
      double* const v = &start.velocities_A_per_akma[start.coordinates()];
      for (int c = 0; c < 9; ++c) {
        x[9 + c] = x[c] + (c % 3 > 0 ? 0.0 : speed > 0.0 ? 2.0 : 0.3);
        v[c] = 0.0;
        v[9 + c] = c % 3 > 0 ? 0.0 : -speed;
      }
      const auto engine = make(system, start), untouched = make(system, good);
      const auto reference = make_cpu_engine(system, start, {}, 1);
      for (Engine* e : {engine.get(), untouched.get(), reference.get()}) e->advance(2);
      const BlowUp stop = same_blow_up(*engine, *reference);
      EXPECT_EQ(stop.step, speed > 0.0 ? 1 : 0);
      EXPECT_EQ(stop.replica, 10);
      // Its state is the start, the last good state.
      const State held = engine->state();
      EXPECT_TRUE(std::equal(x, x + start.coordinates(), &held.positions_A[start.coordinates()]));
      auto expected = bits_by_replica(*untouched), found = bits_by_replica(*engine);
      expected.erase(10);
      found.erase(10);
      EXPECT_TRUE(same_bits(expected, found));
      // Corrections at the start are not counted.
      const State bad{n, 0, {10}, {x, x + start.coordinates()}, {v, v + start.coordinates()}};
      const auto alone = make(system, bad);
      alone->advance(2);
      EXPECT_EQ(alone->report().constraint_iterations, speed > 0.0 ? kMostCorrections * n : 0);
    }
  }
}

/// A matrix that is not positive definite stops its replica and is counted, with the same step and
/// molecule as on the CPU.
TEST_P(EngineDevices, IdentifiesTheIndefiniteMatrix) {
  for (const std::string scheme : {"zss_full", "zss_full_dense", "zss_molecule", "zss_total"}) {
    if (!solvable(scheme)) continue;
    for (int n : {3, 33}) {
      if (n > most_molecules(scheme)) continue;
      for (Precision precision : precisions_of(scheme)) {
        System system = make_system({scheme, Bath::none}, tip3p(), n);
        system.integrator.omega = 100.0;
        // In the second replica the hydrogens of molecule 2 fly half of their way into the oxygen:
        // 2 b h^2 omega^2 |g| is then some ten times their mass. The bonds of the others are exact.
        State start = start_state(system, spread_ids(3));
        std::fill(start.velocities_A_per_akma.begin(), start.velocities_A_per_akma.end(), 0.0);
        const std::size_t at = start.coordinates() + 18;
        for (std::size_t c = 3; c < 9; ++c) {
          const double bond = start.positions_A[at + c] - start.positions_A[at + c % 3];
          start.velocities_A_per_akma[at + c] = -0.5 * bond / system.integrator.timestep_akma;
        }
        const auto reference = make_cpu_engine(system, start, {}, 1);
        system.precision = precision;
        const auto engine = make(system, start);
        engine->advance(3);
        reference->advance(3);
        SCOPED_TRACE(scheme + ", N = " + std::to_string(n) + ", " + name_of(precision));
        EXPECT_EQ(same_blow_up(*engine, *reference).molecule, scheme == "zss_total" ? 0 : 2);
        EXPECT_EQ(engine->report().indefinite_hessians, 1);
        EXPECT_EQ(reference->report().indefinite_hessians, 1);
      }
    }
  }
}

/// Replicas of a large batch, including the last one, equal those run alone; on a GPU the batch is
/// large.
TEST_P(EngineDevices, LargeBatchesAreReplicasAlone) {
  const bool gpu = GetParam() == "cuda" && !stands_in();
  struct Batch {
    int molecules, replicas, on_gpu;
  };
  for (const Batch& batch : {Batch{7, 500, 200'000}, {33, 40, 20'000}, {129, 10, 3'000}}) {
    const int count = gpu ? batch.on_gpu : replicas(batch.molecules, batch.replicas);
    for (Precision precision : precisions("rattle", batch.molecules)) {
      SCOPED_TRACE("N = " + std::to_string(batch.molecules) + ", " + name_of(precision));
      const System system =
          make_system({"zss_structured", Bath::gla}, tip3p(), batch.molecules, precision);
      expect_replicas_alone(system, many_replicas(system, count));
    }
  }
}

/// The same for batches of blocks in cuSOLVER, in one call and in several. cuSOLVER does not
/// document that the bits of a matrix are independent of the batch. If they are not, only solver =
/// "dense" and hessian = "molecule" are not reproducible in batches.
TEST_P(EngineDevices, CusolverIsIndependentOfTheBatch) {
  const bool gpu = GetParam() == "cuda" && !stands_in();
  for (const auto& [scheme, n, replicas] : {std::tuple{"zss_dense", 2, 5},
                                            {"zss_full_dense", 7, 33},
                                            {"zss_molecule", 7, 33},
                                            {"zss_dense", gpu ? 2 : 8, gpu ? 200'000 : 8200}}) {
    if (!solvable(scheme)) continue;
    SCOPED_TRACE(std::string(scheme) + ", N = " + std::to_string(n) + ", " +
                 std::to_string(replicas) + " replicas");
    const System system = make_system({scheme, Bath::gla}, tip3p(), n);
    expect_replicas_alone(system, many_replicas(system, replicas));
  }
}

/// Many molecules: sums of about 1e4 terms of both signs, each with a few roundings.
TEST_P(EngineDevices, OneStepOfManyMoleculesIsThatOfTheCpu) {
  const int n = covers() ? 300 : GetParam() == "cuda" && !stands_in() ? 20'000 : 600;
  System system = make_system({"zss_structured", Bath::gla}, tip4p(), n);
  const State start = start_state(system, {3});
  const auto reference = make_cpu_engine(system, start, {}, 0);
  reference->advance(1);
  const State b = reference->state();
  for (Precision precision : kPrecisions) {
    system.precision = precision;
    const auto engine = make(system, start);
    engine->advance(1);
    const State a = engine->state();
    const bool is_double = precision == Precision::double_;
    EXPECT_LT(relative_rms(a.positions_A, b.positions_A), is_double ? 1e-13 : 5e-6);
    EXPECT_LT(relative_rms(a.velocities_A_per_akma, b.velocities_A_per_akma),
              is_double ? 1e-11 : 1.5e-4);
  }
}

/// Two and three parts on one device: the parts' frames, exchanges and states are those of one
/// engine, with one thread per part.
TEST_P(EngineDevices, PartsEqualTheWhole) {
  for (const auto& [scheme, bath, n] : {std::tuple{"zss_structured", Bath::gla_per_mass, 7},
                                        {"settle", Bath::baoab_per_mass, 7},
                                        {"settle", Bath::gla, 33},
                                        {"zss_structured", Bath::baoab, 129},
                                        {"pushforward", Bath::gla, 2}}) {
    for (Precision precision : precisions(scheme, covers() ? 129 : n)) {
      const EngineCase c{scheme, bath};
      SCOPED_TRACE(c.name() + ", N = " + std::to_string(n) + ", " + name_of(precision));
      const System system = make_system(c, tip3p(), n, precision);
      const State start = start_state(system, first_ids(n == 7 ? 23 : 6), kKeptSteps - 4);
      for (const int parts : {2, 3}) {
        if (covers() && parts == (n > 100 ? 3 : precision == Precision::mixed ? 2 : 0)) continue;
        const auto whole = make_engine(system, start, counts_of_pairs(), {GetParam(), 1});
        const auto split = make_parts(system, start, parts);
        ASSERT_EQ(split->parts().size(), static_cast<std::size_t>(parts));
        expect_same_steps(*whole, *split, true);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EngineDevices, ::testing::Values("cpu", "cuda"), name_of_device);

TEST(EngineDeviceNames, AutoAlwaysWorksAndUnknownNamesDoNot) {
  const System system = make_system({"settle", Bath::none}, tip3p(), 2);
  const State start = start_state(system, {0});
  EXPECT_NE(make_engine(system, start, {}, {"auto", 1}), nullptr);
  for (const std::string name : {"gpu", "CPU", "cuda7", ""}) {
    EXPECT_THROW(make_engine(system, start, {}, {name, 1}), InputError) << name;
  }
}

}  // namespace
}  // namespace tarn
