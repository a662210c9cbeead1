#include "engine_parts.hpp"
#include "model_potential.hpp"
#include "ring_fixtures.hpp"
#include "tarn/cluster_forces.hpp"
#include "tarn/cpu_engine.hpp"

/// @file
/// Engines whose forces come from a Potential.

namespace tarn {
namespace {

using namespace test;

std::unique_ptr<Engine> engine_with(std::shared_ptr<Potential> potential, const System& s,
                                    const State& start, int threads = 1) {
  return make_cpu_engine(s, start, {}, threads, "", std::move(potential));
}
State start_of(const System& s, const std::vector<std::int64_t>& ids) {
  return s.path_integral.beads > 1 ? ring_start(s, ids) : start_state(s, ids);
}
Bits bits_of(Engine& engine, std::int64_t id) {
  Frame f;
  engine.snapshot(kEnergies | kConservation | kRings | kExchangeEnergies, f);
  Bits bits = bits_of_ring(engine.state(), id);
  for (std::size_t r = 0; r < f.live(); ++r) {
    if (f.replica_ids[r] != id) continue;
    append_bits(numbers_of(f.energies[r]), bits);
    append_bits(numbers_of(f.rings[r]), bits);
    append_bits({&f.exchange_energies_kcal_per_mol[r], 1}, bits);
  }
  return bits;
}

/// Flexible and rigid clusters in both layouts, and ring polymers.
std::vector<System> systems() {
  std::vector<System> all;
  for (const int n : {1, 7, 65}) {
    for (const Bath bath : {Bath::none, Bath::gla_per_mass, Bath::baoab_per_mass}) {
      all.push_back(make_system({"flexible_verlet", bath}, tip4p(), n));
      all.push_back(make_system({"settle", bath}, tip4p(), n));
    }
  }
  all.push_back(make_system({"shake", Bath::baoab}, tip3p(), 7));
  all.push_back(make_system({"rattle", Bath::none}, tip3p(), 7));
  for (const int beads : {3, 8, 40}) {
    for (const Bath bath : {Bath::none, Bath::gla_per_mass, Bath::baoab_per_mass}) {
      all.push_back(ring_system(beads, bath, 3));
    }
  }
  all.push_back(ring_system(16, Bath::baoab, 1));
  return all;
}
std::string text_of(const System& s) {
  return std::to_string(s.molecules) + " molecules, " + std::to_string(s.path_integral.beads) +
         " beads, scheme " + std::to_string(static_cast<int>(s.integrator.scheme)) +
         ", thermostat " + std::to_string(static_cast<int>(s.thermostat.kind));
}

/// Rounding of the order of sums grows during the steps, but stays far below 1e-9 A for so few.
TEST(PotentialEngine, ForcesOfTheModelGiveTheTrajectoryOfTheModel) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const State start = start_of(s, {3, 10, 4});
    const auto potential = potential_of(s);
    const PairCountRequest counts = counts_of_pairs();
    const auto by_potential = make_cpu_engine(s, start, counts, 1, "", potential);
    const auto built_in = make_cpu_engine(s, start, counts, 1);
    by_potential->advance(20);
    built_in->advance(20);
    EXPECT_EQ(potential->calls, 21);
    const State a = by_potential->state(), b = built_in->state();
    double moved = 0.0;
    for (std::size_t k = 0; k < a.positions_A.size(); ++k) {
      ASSERT_NEAR(a.positions_A[k], b.positions_A[k], 1e-9);
      ASSERT_NEAR(a.velocities_A_per_akma[k], b.velocities_A_per_akma[k], 1e-8);
      moved = std::max(moved, std::abs(a.positions_A[k] - start.positions_A[k]));
    }
    EXPECT_GT(moved, 0.01);
    Frame f, g;
    constexpr unsigned kFields = kEnergies | kConservation | kRings | kExchangeEnergies |
                                 kGeometry | kMultipliers | kPairCounts;
    by_potential->snapshot(kFields, f);
    built_in->snapshot(kFields, g);
    EXPECT_EQ(f.pair_counts, g.pair_counts);
    if (s.molecules > 1) {
      EXPECT_GT(std::ranges::max(f.pair_counts), 0);
    }
    if (is_rigid(s.integrator.scheme)) {
      for (std::size_t k = 0; k < f.multipliers_kcal_per_mol_A2.size(); ++k) {
        const double x = g.multipliers_kcal_per_mol_A2[k];
        EXPECT_NEAR(f.multipliers_kcal_per_mol_A2[k], x, 1e-7 * (1.0 + std::abs(x)));
      }
    }
    for (std::size_t r = 0; r < f.live(); ++r) {
      const double size = 1.0 + std::abs(g.energies[r].total_kcal_per_mol);
      const auto near = [&](double x, double y) { EXPECT_NEAR(x, y, 1e-7 * size); };
      near(f.energies[r].potential_kcal_per_mol,
           g.energies[r].potential_kcal_per_mol + g.energies[r].bond_kcal_per_mol);
      EXPECT_EQ(f.energies[r].bond_kcal_per_mol, 0.0);
      near(f.energies[r].wall_kcal_per_mol, g.energies[r].wall_kcal_per_mol);
      near(f.energies[r].total_kcal_per_mol, g.energies[r].total_kcal_per_mol);
      near(f.energies[r].physical_kcal_per_mol, g.energies[r].physical_kcal_per_mol);
      near(f.energies[r].temperature_K, g.energies[r].temperature_K);
      near(f.rings[r].virial_kcal_per_mol, g.rings[r].virial_kcal_per_mol);
      near(f.rings[r].primitive_kcal_per_mol, g.rings[r].primitive_kcal_per_mol);
      near(f.exchange_energies_kcal_per_mol[r], g.exchange_energies_kcal_per_mol[r]);
      near(f.conservation[r].constraint_max_A2, g.conservation[r].constraint_max_A2);
    }
  }
}

/// ClusterForces has the pair forces of the engine's small clusters, to the bit. With a flexible
/// model the sums differ in rounding.
TEST(PotentialEngine, ForcesOfTheEngineGiveItsBits) {
  class EngineForces final : public Potential {
   public:
    explicit EngineForces(const System& s) : forces_(s.model, s.molecules) {}
    void compute(std::span<const double> x, std::span<const std::int64_t>,
                 std::span<double> energies, std::span<double> f) override {
      forces_.compute(x, energies, f);
    }
    std::string name() const override { return "engine"; }

   private:
    ClusterForces forces_;
  };
  for (const int n : {2, 7}) {
    const System s = make_system({"settle", Bath::gla_per_mass}, tip4p(), n);
    const State start = start_state(s, first_ids(16));
    const auto a = engine_with(std::make_shared<EngineForces>(s), s, start);
    const auto b = make_cpu_engine(s, start, {}, 1);
    a->advance(50);
    b->advance(50);
    EXPECT_EQ(a->state().positions_A, b->state().positions_A) << n;
    EXPECT_EQ(a->state().velocities_A_per_akma, b->state().velocities_A_per_akma) << n;
  }
}

/// A rigid model gives masses only: molecules are as flexible as the potential has them.
TEST(PotentialEngine, VelocityVerletOfARigidModelMovesTheBondsOfThePotential) {
  System rigid = make_system({"verlet", Bath::gla_per_mass}, tip3p(), 3);
  System flexible = make_system({"flexible_verlet", Bath::gla_per_mass}, tip4p(), 3);
  ASSERT_FALSE(rigid.model.is_flexible());
  ASSERT_TRUE(flexible.model.is_flexible());
  rigid.model.mass_o_Da = flexible.model.mass_o_Da;
  rigid.model.mass_h_Da = flexible.model.mass_h_Da;
  rigid.integrator.timestep_akma = flexible.integrator.timestep_akma;
  const State start = start_state(flexible, {3, 10, 4});
  const auto a = engine_with(potential_of(flexible), rigid, start);
  const auto b = engine_with(potential_of(flexible), flexible, start);
  a->advance(20);
  b->advance(20);
  const State x = a->state(), y = b->state();
  for (std::size_t k = 0; k < x.positions_A.size(); ++k) {
    ASSERT_NEAR(x.positions_A[k], y.positions_A[k], 1e-10);
  }
}

/// Laws 1 to 4: parts of a run, the batch, a new engine from the state, and threads.
TEST(PotentialEngine, BatchesPartsRestartsAndThreadsChangeNoBit) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const std::vector<std::int64_t> ids = spread_ids(s.molecules > 60 ? 3 : 19);
    const auto whole = engine_with(potential_of(s), s, start_of(s, ids));
    whole->advance(9);
    const auto threads = engine_with(potential_of(s), s, start_of(s, ids), 3);
    threads->advance(4);
    threads->advance(5);
    const auto first = engine_with(potential_of(s), s, start_of(s, ids));
    first->advance(5);
    const auto second = engine_with(potential_of(s), s, first->state());
    second->advance(4);
    const std::int64_t one = ids[2];
    const auto alone = engine_with(potential_of(s), s, start_of(s, {one}));
    alone->advance(9);
    for (const std::int64_t id : ids) {
      EXPECT_EQ(bits_of(*threads, id), bits_of(*whole, id));
      EXPECT_EQ(bits_of_ring(second->state(), id), bits_of_ring(whole->state(), id));
    }
    EXPECT_EQ(bits_of(*alone, one), bits_of(*whole, one));
  }
}

TEST(PotentialEngine, AllImagesAreInOneCallWithStableIds) {
  const System s = ring_system(4, Bath::baoab, 2);
  const auto potential = potential_of(s);
  const auto engine = engine_with(potential, s, ring_start(s, {5, 2}), 2);
  engine->advance(3);
  EXPECT_EQ(potential->calls, 4);
  EXPECT_EQ(potential->last_ids, (std::vector<std::int64_t>{20, 21, 22, 23, 8, 9, 10, 11}));
}

/// A replica with a bad image is stopped in its last good state; the others do not change a bit.
TEST(PotentialEngine, NumbersThatAreNotFiniteStopTheirReplicaOnly) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const std::vector<std::int64_t> ids{3, 10, 4};
    const auto good = engine_with(potential_of(s), s, start_of(s, ids));
    good->advance(12);
    for (const bool energy : {false, true}) {
      const auto potential = potential_of(s);
      potential->bad_id = 10 * s.path_integral.beads + s.path_integral.beads / 2;
      potential->bad_from = 6;  // the first call is that of the start
      potential->spoils_energy = energy;
      if (energy) potential->bad_number = std::numeric_limits<double>::infinity();
      const auto engine = engine_with(potential, s, start_of(s, ids));
      engine->advance(12);
      const std::vector<BlowUp> stopped = engine->blow_ups();
      ASSERT_EQ(stopped.size(), 1u);
      EXPECT_EQ(stopped[0].replica, 10);
      EXPECT_EQ(stopped[0].step, 5);
      EXPECT_EQ(stopped[0].molecule, energy || s.molecules == 1 ? 0 : 1);
      EXPECT_TRUE(stopped[0].potential_was_not_finite);
      for (const std::int64_t id : {3, 4}) EXPECT_EQ(bits_of(*engine, id), bits_of(*good, id));
      EXPECT_EQ(bits_of_ring(engine->state(), 10), bits_of_ring(start_of(s, {10}), 10));
      EXPECT_EQ(potential->last_ids.size(), 2u * static_cast<std::size_t>(s.path_integral.beads));
    }
  }
}

TEST(PotentialEngine, ABadStartIsStoppedToo) {
  const System s = make_system({"flexible_verlet", Bath::none}, tip4p(), 2);
  const auto potential = potential_of(s);
  potential->bad_id = 1;
  const auto engine = engine_with(potential, s, start_state(s, {0, 1}));
  engine->advance(2);
  ASSERT_EQ(engine->blow_ups().size(), 1u);
  EXPECT_EQ(engine->blow_ups()[0].step, 0);
  EXPECT_EQ(potential->last_ids, (std::vector<std::int64_t>{0}));
  // All replicas: steps without a call.
  const auto only = engine_with(potential, s, start_state(s, {1}));
  const int calls = potential->calls;
  only->advance(5);
  EXPECT_EQ(only->step(), 5);
  EXPECT_EQ(potential->calls, calls);
}

/// The engine is at the last complete step, and continues as if nothing had happened.
TEST(PotentialEngine, AnExceptionLeavesTheLastCompleteStep) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const std::vector<std::int64_t> ids{3, 10, 4};
    const auto good = engine_with(potential_of(s), s, start_of(s, ids));
    const auto potential = potential_of(s);
    potential->throws_at = 8;
    const auto engine = engine_with(potential, s, start_of(s, ids), 2);
    EXPECT_THROW(engine->advance(20), std::runtime_error);
    EXPECT_EQ(engine->step(), 6);
    good->advance(6);
    for (const std::int64_t id : ids) EXPECT_EQ(bits_of(*engine, id), bits_of(*good, id));
    good->advance(6);
    engine->advance(6);
    for (const std::int64_t id : ids) EXPECT_EQ(bits_of(*engine, id), bits_of(*good, id));
  }
}

/// After an exchange the engine equals a new one made from its state.
TEST(PotentialEngine, ExchangesGiveTheBitsOfANewEngine) {
  for (System s : {make_system({"flexible_verlet", Bath::baoab}, tip4p(), 3),
                   ring_system(8, Bath::baoab, 2)}) {
    SCOPED_TRACE(text_of(s));
    s.thermostat.temperatures_K = {200.0, 250.0};
    s.thermostat.temperature_K = 250.0;
    const auto potential = potential_of(s);
    const auto engine = engine_with(potential, s, start_of(s, {0, 1}));
    engine->advance(5);
    const std::vector<StateExchange> pair{{0, 1, 0.9, 1.1}};
    engine->exchange(pair);
    const auto again = engine_with(potential_of(s), s, engine->state());
    Frame f, g;
    engine->snapshot(kExchangeEnergies, f);
    again->snapshot(kExchangeEnergies, g);
    EXPECT_EQ(f.exchange_energies_kcal_per_mol, g.exchange_energies_kcal_per_mol);
    engine->advance(5);
    again->advance(5);
    for (const std::int64_t id : {0, 1}) EXPECT_EQ(bits_of(*engine, id), bits_of(*again, id));
  }
}

/// One more call for all ring polymers gives the rescaled energies of the model.
TEST(PotentialEngine, RescaledEnergiesAreThoseOfTheModel) {
  System s = ring_system(8, Bath::baoab, 2);
  s.thermostat.temperatures_K = {200.0, 250.0, 300.0};
  s.thermostat.temperature_K = 300.0;
  const State start = ring_start(s, {0, 1, 2});
  const auto potential = potential_of(s);
  const auto by_potential = engine_with(potential, s, start),
             built_in = make_cpu_engine(s, start, {}, 1);
  MeasureSettings settings;
  settings.exchange_every = 5;
  Frame f, g;
  for (Engine* engine : {by_potential.get(), built_in.get()}) {
    engine->measure_with(settings);
    engine->advance(5);
  }
  const int calls = potential->calls;
  by_potential->snapshot(kExchangeEnergies | kRescaledEnergies, f);
  built_in->snapshot(kExchangeEnergies | kRescaledEnergies, g);
  EXPECT_EQ(potential->calls, calls + 1);
  EXPECT_EQ(potential->last_ids.size(), 16u);  // two of the three have a neighbour
  int known = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    const double x = f.rescaled_energies_kcal_per_mol[r], y = g.rescaled_energies_kcal_per_mol[r];
    EXPECT_EQ(std::isnan(x), std::isnan(y));
    if (std::isnan(x)) continue;
    ++known;
    EXPECT_NEAR(x, y, 1e-8 * (1.0 + std::abs(y)));
  }
  EXPECT_EQ(known, 2);
  // The kept energies and forces are still those of the steps.
  Frame after;
  by_potential->snapshot(kExchangeEnergies, after);
  EXPECT_EQ(after.exchange_energies_kcal_per_mol, f.exchange_energies_kcal_per_mol);
}

TEST(PotentialEngine, RefusesWhatItDoesNotSupport) {
  for (const char* scheme : {"zss_structured", "zss_dense", "pushforward", "one_step"}) {
    const System s = make_system({scheme, Bath::none}, tip3p(), 2);
    EXPECT_THROW(engine_with(potential_of(s), s, start_state(s, {0})), InputError) << scheme;
  }
  System s = make_system({"settle", Bath::none}, tip3p(), 2);
  s.precision = Precision::single;
  EXPECT_THROW(engine_with(potential_of(s), s, start_state(s, {0})), InputError);
}

/// Moments of charges are not known; the other numbers of the shape are.
TEST(PotentialEngine, DipolesAreNotNumbers) {
  const System s = make_system({"settle", Bath::none}, tip3p(), 3);
  const auto engine = engine_with(potential_of(s), s, start_state(s, {0}));
  Frame f;
  engine->snapshot(kShape, f);
  EXPECT_TRUE(std::isnan(f.shape[0].dipole_D));
  EXPECT_TRUE(std::isnan(f.shape[0].molecule_dipole_D));
  EXPECT_GT(f.shape[0].radius_of_gyration_A, 0.0);
}

}  // namespace
}  // namespace tarn
