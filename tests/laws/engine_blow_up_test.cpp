#include "engine_fixtures.hpp"
#include "one_replica.hpp"

/// @file
/// Replicas that blow up are stopped and reported, their neighbours in a pack are not affected, and
/// NaN is never reported.

namespace tarn {
namespace {

using namespace test;

constexpr unsigned kAllFields = kPositions | kVelocities | kEnergies | kConservation | kPairCounts;

constexpr PairCountRequest kEveryStep{.enabled = true, .every = 1};

/// Ways to spoil one replica of a state.
struct Accident {
  std::string name;
  void (*spoil)(State& s, std::size_t replica);
};

double* position(State& s, std::size_t replica, std::size_t molecule) {
  return &s.positions_A[replica * s.coordinates() + 9 * molecule];
}

/// Puts the second molecule onto the first one, shifted by `shift`.
void overlap(State& s, std::size_t replica, double shift) {
  const double* first = position(s, replica, 0);
  double* second = position(s, replica, 1);
  for (int c = 0; c < 9; ++c) second[c] = first[c] + (c % 3 == 0 ? shift : 0.0);
}

const std::vector<Accident> kAccidents{
    {"overlap", [](State& s, std::size_t r) { overlap(s, r, 0.3); }},
    {"near_coincidence", [](State& s, std::size_t r) { overlap(s, r, 1e-6); }},
    {"coincidence", [](State& s, std::size_t r) { overlap(s, r, 0.0); }},
    {"speed", [](State& s, std::size_t r) {
       // The whole second molecule flies off along -y, out of the lattice and away from the first.
       for (std::size_t c = 0; c < 9; c += 3) {
         s.velocities_A_per_akma[r * s.coordinates() + 9 + c + 1] = -200.0;
       }
     }}};

/// The reported atoms: those of the two overlapping molecules, with their distance and the force.
void expect_names_the_two(const BlowUp& what, const std::string& accident, int molecules) {
  EXPECT_GE(what.closest.a.molecule, 0);
  EXPECT_LT(what.closest.a.molecule, what.closest.b.molecule);
  EXPECT_LT(what.closest.b.molecule, molecules);
  EXPECT_GE(what.largest_force.at.molecule, 0);
  EXPECT_LT(what.largest_force.at.molecule, molecules);
  if (accident == "speed") return;
  // Neighbours of a cluster at rest pull at each other by tens.
  EXPECT_GT(what.largest_force.force_kcal_per_mol_A, 1e3);
  // Sweeps that did not converge leave any bonds, and closer atoms than those that did it.
  if (!what.seen_in_last_good_state) return;
  EXPECT_EQ(what.closest.a.molecule, 0);
  EXPECT_EQ(what.closest.b.molecule, 1);
  EXPECT_LE(what.closest.distance_A, 0.31);
  EXPECT_LE(what.largest_force.at.molecule, 1);
}

/// From 65 molecules on several threads share a replica.
int threads_for(int molecules) { return molecules <= 64 ? 2 : 3; }

class EngineBlowUp : public ::testing::TestWithParam<EngineCase> {};

TEST_P(EngineBlowUp, OneReplicaStopsAndTheOthersGoOn) {
  constexpr int kSteps = 6;
  for (const Accident& accident : kAccidents) {
    for (int n : sizes_for(GetParam().scheme, {2, 7, 17, 65})) {
      if (n > most_molecules(GetParam().scheme)) continue;
      if (n > 64 && &accident != &kAccidents.front() && !has_all_sizes(GetParam().scheme)) continue;
      for (Precision precision : precisions_of(GetParam().scheme)) {
        SCOPED_TRACE(accident.name + ", N = " + std::to_string(n) + ", " + name_of(precision));
        const System system = make_system(GetParam(), tip3p(), n, precision);
        const std::vector<std::int64_t> ids = spread_ids(n <= 64 ? 11 : 3);
        const std::size_t bad = 1;
        const State good = start_state(system, ids);
        State start = good;
        accident.spoil(start, bad);
        // Single precision keeps the nearest numbers that it has.
        const State kept = make_cpu_engine(system, start, {})->state();

        const auto untouched = make_cpu_engine(system, good, {}, threads_for(n));
        untouched->advance(kSteps);
        auto expected = bits_by_replica(*untouched);
        expected.erase(ids[bad]);

        const auto engine = make_cpu_engine(system, start, kEveryStep, threads_for(n));
        Frame f;
        std::int64_t left_at = -1;
        for (int step = 0; step <= kSteps; ++step) {
          if (step > 0) engine->advance(1);
          engine->snapshot(kAllFields, f);
          EXPECT_TRUE(all_finite(f)) << "at step " << step;
          EXPECT_EQ(f.step, step);
          const bool there = std::find(f.replica_ids.begin(), f.replica_ids.end(), ids[bad]) !=
                             f.replica_ids.end();
          if (!there && left_at < 0) left_at = step;
        }
        // Named, with the step at which it left the frames and one of the two molecules.
        ASSERT_EQ(engine->blow_ups().size(), 1u);
        const BlowUp what = engine->blow_ups()[0];
        EXPECT_EQ(what.replica, ids[bad]);
        EXPECT_EQ(what.step, left_at);
        EXPECT_GE(what.step, 0);
        EXPECT_GE(what.molecule, accident.name == "speed" ? 1 : 0);
        EXPECT_LE(what.molecule, 1);
        expect_names_the_two(what, accident.name, n);
        EXPECT_EQ(f.replica_ids.size(), ids.size() - 1);
        EXPECT_EQ(engine->report().molecule_steps,
                  n * (static_cast<std::int64_t>(ids.size() - 1) * kSteps + what.step));
        EXPECT_EQ(f.pair_samples[static_cast<std::size_t>(ids[bad] % kEveryStep.groups)], left_at);
        EXPECT_EQ(f.pair_samples[static_cast<std::size_t>(ids[0])], kSteps + 1);

        // The others are what they are without it.
        auto found = bits_by_replica(*engine);
        found.erase(ids[bad]);
        EXPECT_TRUE(same_bits(expected, found));

        // It holds a state that it had: no step was good, so that is the start.
        if (left_at <= 1) {
          const State s = engine->state();
          const auto at = static_cast<std::ptrdiff_t>(bad * s.coordinates());
          const auto end = at + static_cast<std::ptrdiff_t>(s.coordinates());
          EXPECT_TRUE(std::equal(s.positions_A.begin() + at, s.positions_A.begin() + end,
                                 kept.positions_A.begin() + at));
          EXPECT_TRUE(std::equal(s.velocities_A_per_akma.begin() + at,
                                 s.velocities_A_per_akma.begin() + end,
                                 kept.velocities_A_per_akma.begin() + at));
          if (precision != Precision::single) {
            EXPECT_EQ(kept.positions_A, start.positions_A);
          }
        }
      }
    }
  }
}

TEST_P(EngineBlowUp, WhenAllAreStoppedAdvancingIsHarmless) {
  for (int n : {2, 7, 17, 65}) {
    if (n > most_molecules(GetParam().scheme)) continue;
    SCOPED_TRACE("N = " + std::to_string(n));
    const System system = make_system(GetParam(), tip3p(), n);
    const std::vector<std::int64_t> ids = spread_ids(n <= 64 ? 11 : 4);
    State start = start_state(system, ids);
    for (std::size_t r = 0; r < ids.size(); ++r) kAccidents[r % kAccidents.size()].spoil(start, r);
    const auto engine = make_cpu_engine(system, start, kEveryStep, threads_for(n));
    engine->advance(20);
    const std::vector<BlowUp> stopped = engine->blow_ups();
    ASSERT_EQ(stopped.size(), ids.size());
    for (std::size_t r = 0; r < ids.size(); ++r) {
      EXPECT_EQ(stopped[r].replica, ids[r]);  // in order of replica
      EXPECT_GE(stopped[r].step, 0);
      EXPECT_LE(stopped[r].step, 20);
      EXPECT_GE(stopped[r].molecule, 0);
      EXPECT_LT(stopped[r].molecule, n);
    }
    const State before = engine->state();
    for (const std::vector<double>* numbers :
         {&before.positions_A, &before.velocities_A_per_akma}) {
      EXPECT_TRUE(
          std::all_of(numbers->begin(), numbers->end(), [](double v) { return std::isfinite(v); }));
    }
    Frame f, g;
    engine->snapshot(kAllFields, f);
    engine->advance(1000);
    engine->snapshot(kAllFields, g);
    EXPECT_EQ(engine->step(), 1020);
    EXPECT_EQ(g.step, 1020);
    EXPECT_TRUE(g.replica_ids.empty());
    EXPECT_TRUE(g.positions_A.empty());
    EXPECT_TRUE(g.velocities_A_per_akma.empty());
    EXPECT_TRUE(g.energies.empty());
    EXPECT_TRUE(g.conservation.empty());
    EXPECT_EQ(f.pair_samples, g.pair_samples);
    EXPECT_EQ(f.pair_counts, g.pair_counts);
    EXPECT_EQ(engine->state().positions_A, before.positions_A);
    EXPECT_EQ(engine->blow_ups().size(), ids.size());
  }
}

/// A time step that is far too large stops some replica with every scheme; all reported numbers are
/// finite before and after.
TEST_P(EngineBlowUp, DetectsATimestepThatIsFarTooLarge) {
  System system = make_system(GetParam(), tip3p(), 7);
  system.integrator.timestep_akma = 1.0;  // 49 fs
  system.confinement = {};
  const auto engine = make_cpu_engine(system, start_state(system, spread_ids(11)), kEveryStep, 1);
  for (int k = 0; k < 20; ++k) {
    engine->advance(k);
    Frame f;
    engine->snapshot(kAllFields, f);
    EXPECT_TRUE(all_finite(f));
    EXPECT_EQ(f.replica_ids.size() + engine->blow_ups().size(), 11u);
  }
  EXPECT_FALSE(engine->blow_ups().empty());
}

/// Result of a run of hot replicas.
struct Ending {
  std::map<std::int64_t, BlowUp> stopped;   ///< by id
  std::map<std::int64_t, Bits> live, kept;  ///< of the others, and of the stopped ones
  std::int64_t molecule_steps = 0, iterations = 0, indefinite = 0;

  void merge(Ending other) {
    molecule_steps += other.molecule_steps;
    iterations += other.iterations;
    indefinite += other.indefinite;
    stopped.merge(other.stopped);
    live.merge(other.live);
    kept.merge(other.kept);
  }
};

Ending ending_of(Engine& engine) {
  Ending end;
  end.live = bits_by_replica(engine);
  const EngineReport report = engine.report();
  end.molecule_steps = report.molecule_steps;
  end.iterations = report.constraint_iterations;
  end.indefinite = report.indefinite_hessians;
  for (const BlowUp& b : engine.blow_ups()) {
    end.stopped[b.replica] = b;
    end.kept[b.replica] = end.live.at(b.replica);
    end.live.erase(b.replica);
  }
  return end;
}

void expect_same(const Ending& other, const Ending& expected, const std::string& how) {
  SCOPED_TRACE(how);
  EXPECT_TRUE(other.stopped == expected.stopped) << "reported blow-ups";
  EXPECT_TRUE(same_bits(other.live, expected.live)) << "running replicas";
  EXPECT_TRUE(same_bits(other.kept, expected.kept)) << "of the last good state";
  EXPECT_EQ(other.molecule_steps, expected.molecule_steps);
  EXPECT_EQ(other.iterations, expected.iterations);
  EXPECT_EQ(other.indefinite, expected.indefinite);
}

/// The laws hold for blow-ups too: step, molecule, closest atoms, largest force, kept state, and
/// counted steps and iterations do not depend on the batch, the division of the run, or threads.
/// The noise takes replicas over the speed limit at different steps; padding molecules have no
/// effect.
TEST_P(EngineBlowUp, HappensToAReplicaAsIfItWereAlone) {
  for (const std::string& set : different_instruction_sets()) {
    for (const Precision precision : precisions_of(GetParam().scheme)) {
      for (const auto& [n, replicas] :
           {std::pair{1, 33}, {2, 17}, {3, 9}, {7, 33}, {17, 5}, {65, 2}}) {
        if (n > most_molecules(GetParam().scheme)) continue;
        // The widest packs suffice for most sizes.
        const bool widest = set == cpu_instruction_sets().front();
        if (!covers_everything() && !widest && n != 2 && n != 7) continue;
        System system = make_system(GetParam(), n % 2 == 0 ? tip4p() : tip3p(), n, precision);
        system.integrator.timestep_akma = std::min(system.integrator.timestep_akma, 0.01);
        system.confinement = {};
        if (GetParam().bath != Bath::none) {
          system.thermostat = thermostat(GetParam().bath, n == 17 ? 3.5e5 : 6e5, 2.0);
        }
        State start = start_state(system, spread_ids(replicas));
        for (double& v : start.velocities_A_per_akma) v *= 30.0;
        constexpr std::int64_t kSteps = 60;
        const auto run = [&](const State& s, const std::vector<std::int64_t>& pieces, int threads) {
          const auto engine = make_cpu_engine(system, s, {}, threads, set);
          for (std::size_t k = 0; engine->step() < kSteps; ++k) {
            engine->advance(std::min(pieces[k % pieces.size()], kSteps - engine->step()));
          }
          return ending_of(*engine);
        };
        SCOPED_TRACE(set + ", " + std::string(name_of(precision)) + ", N = " + std::to_string(n));
        const Ending expected = run(start, {1}, 1);
        if (GetParam().bath != Bath::none) {
          EXPECT_FALSE(expected.stopped.empty());
        }
        expect_same(run(start, {kSteps}, 1), expected, "in one piece");
        expect_same(run(start, {3, 5, 2, 7}, 1), expected, "in pieces");
        expect_same(run(start, {4}, 3), expected, "in pieces, on several threads");
        Ending of_each;
        for (std::size_t r = 0; r < start.replica_ids.size(); ++r) {
          of_each.merge(run(replica_of(start, r), {kSteps}, 1));
        }
        expect_same(of_each, expected, "alone");
      }
    }
  }
}

/// Replicas in the lanes of a pack, one with a hydrogen that flies off, and a remaining replica
/// with its molecules in the lanes: the memory that a thread reuses must not affect it.
TEST_P(EngineBlowUp, LeavesTheNextGroupOnTheThreadUnchanged) {
  for (const std::string& set : different_instruction_sets()) {
    for (const Precision precision : precisions_of(GetParam().scheme)) {
      for (const int n : {3, 5, 7}) {
        System system = make_system(GetParam(), tip3p(), n, precision);
        system.confinement = {};
        for (const int replicas : {5, 9, 17}) {
          State start = start_state(system, spread_ids(replicas));
          start.step = 1;
          start.velocities_A_per_akma[3] = 1e3;
          const auto run = [&](const State& s, std::int64_t piece) {
            const auto engine = make_cpu_engine(system, s, {}, 1, set);
            while (engine->step() < 7) engine->advance(piece);
            return ending_of(*engine);
          };
          SCOPED_TRACE(set + ", " + std::string(name_of(precision)) + ", N = " + std::to_string(n));
          Ending of_each;
          for (std::size_t r = 0; r < start.replica_ids.size(); ++r) {
            of_each.merge(run(replica_of(start, r), 1));
          }
          EXPECT_EQ(of_each.stopped.size(), 1u);
          for (const std::int64_t piece : {2, 3, 6}) {
            expect_same(run(start, piece), of_each, "in pieces of " + std::to_string(piece));
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EngineBlowUp, ::testing::ValuesIn(engine_cases()), EngineCaseName());

}  // namespace
}  // namespace tarn
