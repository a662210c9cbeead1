#include "tarn/exchange.hpp"

#include "engine_fixtures.hpp"
#include "exchange_states.hpp"

/// @file
/// Exchanges of replicas on the CPU engine, bit by bit.

namespace tarn {
namespace {

using namespace test;

constexpr int kEvery = 3;

/// Every scheme in every precision, with three temperatures per ladder, in both layouts.
void for_systems(const std::function<void(const System&)>& body) {
  for (const EngineCase& c : engine_cases()) {
    if (c.bath == Bath::none) continue;
    for (int n : {1, 7, 17, 65}) {
      if (n > most_molecules(c.scheme)) continue;
      for (Precision precision : precisions_of(c.scheme)) {
        SCOPED_TRACE(c.name() + ", N = " + std::to_string(n) + ", " + name_of(precision));
        System s = make_system(c, tip3p(), n, precision);
        s.thermostat.temperatures_K = {280.0, 290.0, 300.0};
        body(s);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}
std::vector<std::int64_t> ids(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> all;
  for (std::int64_t id = first; id < last; ++id) all.push_back(id);
  return all;
}
std::unique_ptr<Engine> engine(const System& system, const State& start, int threads = 1) {
  return make_cpu_engine(system, start, {}, threads);
}
/// Advances to a step, with the attempts in between.
void advance_to(Engine& e, const System& system, std::int64_t last, int* accepted = nullptr) {
  while (e.step() < last) {
    e.advance(std::min(last - e.step(), kEvery - e.step() % kEvery));
    if (e.step() % kEvery != 0) continue;
    Frame frame;
    e.snapshot(kEnergies, frame);
    const auto pairs = accepted_exchanges(system, exchange_attempts(system, kEvery, frame));
    if (accepted) *accepted += static_cast<int>(pairs.size());
    e.exchange(pairs);
  }
}

/// The result equals an exchange in a downloaded state and a new engine.
TEST(Exchange, EqualsAnEngineOfTheExchangedState) {
  for_systems([](const System& system) {
    for (const bool heat : {false, true}) {
      const State start = start_state(system, ids(0, 19));
      const auto e = engine(system, heat ? tallied(start) : start);
      e->advance(5);
      ASSERT_TRUE(e->blow_ups().empty());
      // Neighbours, and those of different groups of lanes.
      const std::vector<StateExchange> pairs{
          {0, 1, 0.9, 1.1}, {2, 18, 1.2, 0.7}, {17, 5, 0.999, 1.3}};
      State by_hand = e->state();
      exchange_states(system, by_hand, pairs);
      e->exchange(pairs);
      const auto restarted = engine(system, by_hand);
      if (system.thermostat.kind != Thermostat::baoab) {  // its noise is not in the state
        EXPECT_TRUE(same_bits(bits_by_replica(*restarted), bits_by_replica(*e))) << "at once";
      }
      e->advance(3);
      restarted->advance(3);
      EXPECT_TRUE(same_bits(bits_by_replica(*restarted), bits_by_replica(*e))) << "later";
    }
  });
}

/// With BAOAB the energy of (35) has an additional term; it is undefined for small beta.
TEST(Exchange, RequiresBetaThatDefinesAnEnergy) {
  System s = make_system({"zss_structured", Bath::baoab}, tip3p(), 1);
  const Energies e{.potential_kcal_per_mol = -10.0,
                   .bond_kcal_per_mol = 1.0,
                   .kinetic_kcal_per_mol = 5.0,
                   .total_kcal_per_mol = -3.0};
  for (const double beta : {1e-3, 0.25}) {
    s.integrator.beta = beta;
    EXPECT_THROW(canonical_energy_kcal_per_mol(s, e), InputError) << beta;
  }
  s.integrator.beta = 0.42;
  // -3 - 5 is V and (b - 1/4) h^2/2 a.Ma = 1, of which b/(b - 1/4) is wanted.
  EXPECT_NEAR(canonical_energy_kcal_per_mol(s, e), -9.0 + 0.42 / 0.17, 1e-13);
  s.thermostat.kind = Thermostat::gla;
  s.integrator.beta = 0.25;
  EXPECT_EQ(canonical_energy_kcal_per_mol(s, e), -8.0);
}

TEST(Exchange, EmptyListChangesNothing) {
  for_systems([](const System& system) {
    const auto e = engine(system, start_state(system, ids(0, 3)));
    e->advance(2);
    const auto before = bits_by_replica(*e);
    e->exchange({});
    EXPECT_TRUE(same_bits(before, bits_by_replica(*e)));
  });
}

/// A ladder has the same bits alone, in a batch, and in any order.
TEST(Exchange, ALadderAloneIsTheSameInAnyBatch) {
  int accepted = 0;
  for_systems([&](const System& system) {
    const int last = system.molecules > 7 ? 7 : 13;
    std::vector<std::int64_t> mixed = ids(0, 18);
    for (std::size_t r = 0; r < mixed.size(); ++r) mixed[r] = static_cast<std::int64_t>(r * 5 % 18);
    const auto together = engine(system, start_state(system, mixed));
    advance_to(*together, system, last, &accepted);
    const auto found = bits_by_replica(*together);
    for (std::int64_t first : {0, 3, 15}) {
      const auto alone = engine(system, start_state(system, ids(first, first + 3)));
      advance_to(*alone, system, last);
      for (const auto& [id, bits] : bits_by_replica(*alone)) {
        EXPECT_TRUE(same_bits(bits, found.at(id))) << "replica " << id;
      }
    }
  });
  EXPECT_GT(accepted, 100);
}

TEST(Exchange, PiecesResumesAndThreadsChangeNothing) {
  for_systems([](const System& system) {
    const int last = system.molecules > 7 ? 7 : 13;
    const State start = start_state(system, ids(0, 18));
    const auto whole = engine(system, start);
    advance_to(*whole, system, last);
    const auto expected = bits_by_replica(*whole);
    const auto threaded = engine(system, start, 3);
    advance_to(*threaded, system, last);
    EXPECT_TRUE(same_bits(expected, bits_by_replica(*threaded))) << "three threads";
    // Before, at and after an attempt; the state of that step is the one after it.
    for (const std::int64_t cut : {2, 3, 4}) {
      const auto first = engine(system, start);
      for (std::int64_t step = 1; step <= cut; ++step) advance_to(*first, system, step);
      const auto resumed = engine(system, first->state());
      advance_to(*resumed, system, last);
      EXPECT_TRUE(same_bits(expected, bits_by_replica(*resumed))) << "cut at " << cut;
    }
  });
}

/// A stopped replica is not exchanged; the others continue.
TEST(Exchange, SkipsStoppedReplicas) {
  for (const int n : {7, 65}) {
    System system = make_system({"settle", Bath::gla}, tip3p(), n);
    system.thermostat.temperatures_K = {290.0, 300.0};
    State start = start_state(system, ids(0, 4));
    start.velocities_A_per_akma[start.coordinates()] = 1e6;  // replica 1
    const auto e = engine(system, start);
    int accepted = 0;
    advance_to(*e, system, 24, &accepted);
    ASSERT_EQ(e->blow_ups().size(), 1u);
    EXPECT_EQ(e->blow_ups()[0].replica, 1);
    EXPECT_GT(accepted, 0);
    EXPECT_THROW(e->exchange(std::vector<StateExchange>{{0, 1, 1.0, 1.0}}), InputError);
    const auto alone = engine(system, start_state(system, {2, 3}));
    advance_to(*alone, system, 24);
    const auto found = bits_by_replica(*e);
    for (const auto& [id, bits] : bits_by_replica(*alone)) {
      EXPECT_TRUE(same_bits(bits, found.at(id)));
    }
  }
}

}  // namespace
}  // namespace tarn
