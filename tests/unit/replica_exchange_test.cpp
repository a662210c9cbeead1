#include "run/replica_exchange.hpp"

#include "fake_engine.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

const std::vector<double> kTemperatures_K{100.0, 130.0, 170.0};

/// A deck of rigid molecules, whose energy for the exchange is the potential.
Deck ladder_deck() {
  Deck deck;
  deck.integrator.scheme = Scheme::settle;
  deck.thermostat.kind = Thermostat::gla;
  deck.thermostat.friction_per_ps = 1.0;
  deck.thermostat.temperatures_K = kTemperatures_K;
  deck.exchange = ExchangeSection{5};
  return deck;
}

/// What is told after 2000 attempts of so many ladders whose energies are those of twelve
/// oscillators, the same ones for so many attempts.
std::optional<analysis::EqualAcceptanceLadder> told(int ladders, int repeats) {
  const test::ScratchFolder folder;
  const Deck deck = ladder_deck();
  const int baths = static_cast<int>(kTemperatures_K.size());
  RunInfo info;
  info.out_dir = folder.path();
  info.molecules = 1;
  info.replicas = ladders * baths;
  info.timestep_fs = 1.0;
  info.baths_K = kTemperatures_K;
  test::FakeEngine engine(test::fake_start(1, info.replicas), {}, 1e-3);
  ReplicaExchange exchange(deck, make_system(deck, 1), info, engine);
  std::mt19937_64 random(7);
  Frame frame;
  frame.molecules = 1;
  for (int r = 0; r < info.replicas; ++r) frame.replica_ids.push_back(r);
  frame.exchange_energies_kcal_per_mol.resize(frame.replica_ids.size());
  for (int attempt = 0; attempt < 2000; ++attempt) {
    frame.step = 5 * (attempt + 1);
    for (int r = 0; r < info.replicas && attempt % repeats == 0; ++r) {
      const double t_K = kTemperatures_K[static_cast<std::size_t>(r % baths)];
      std::gamma_distribution<double> energy(12.0, units::boltzmann_kcal_per_mol_K * t_K);
      frame.exchange_energies_kcal_per_mol[static_cast<std::size_t>(r)] = energy(random);
    }
    exchange.observe(frame);
  }
  exchange.finish();
  return exchange.summary().equal_acceptance_ladder;
}

/// 2000 samples that are worth one of each ladder are too few to make a ladder of.
TEST(ReplicaExchange, SlowBathsMakeNoEvenLadder) {
  for (const int ladders : {4, 16}) {
    EXPECT_TRUE(told(ladders, 1)) << ladders;
    EXPECT_FALSE(told(ladders, 2000)) << ladders;
  }
}

constexpr int kTemperatures = 2, kReplicas = 4;

/// A chain of oxygens 3 A apart, in this order.
std::vector<double> chain(const std::vector<int>& order) {
  std::vector<double> x(9 * order.size(), 0.0);
  for (std::size_t place = 0; place < order.size(); ++place) {
    x[9 * static_cast<std::size_t>(order[place])] = 3.0 * static_cast<double>(place);
  }
  return x;
}

const std::vector<int> kStart{0, 1, 2, 3, 4};

std::vector<int> in_order(std::size_t molecules) {
  std::vector<int> order(molecules);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Two ladders of two temperatures; replicas 0 and 2 are the coldest.
class WalkerMemoryTest : public ::testing::Test {
 protected:
  WalkerMemory make(int molecules = 5) {
    return {kTemperatures, kReplicas, molecules, 50,
            [this](std::int64_t r) { return walkers_[static_cast<std::size_t>(r)]; }};
  }
  /// All replicas have this chain, but replica 2 keeps the first one.
  void observe(WalkerMemory& memory, const std::vector<int>& order) {
    Frame frame;
    frame.molecules = static_cast<int>(order.size());
    for (int r = 0; r < kReplicas; ++r) {
      frame.replica_ids.push_back(r);
      const std::vector<double> x = chain(r == 2 ? in_order(order.size()) : order);
      frame.positions_A.insert(frame.positions_A.end(), x.begin(), x.end());
    }
    memory.observe(frame);
  }
  static double changes(const WalkerMemory& memory) {
    return memory.structure_changes()->per_walker * kReplicas;
  }

  std::vector<std::int64_t> walkers_{0, 1, 2, 3};  // [replica]
};

TEST_F(WalkerMemoryTest, CountsReturnsWithOtherNeighbours) {
  WalkerMemory memory = make();
  observe(memory, kStart);
  observe(memory, {1, 0, 2, 3, 4});  // keeps 0-1, 2-3, 3-4: three of five pairs
  EXPECT_EQ(changes(memory), 0.0);
  observe(memory, {0, 2, 4, 1, 3});  // no pair of the start
  EXPECT_EQ(changes(memory), 1.0);
  observe(memory, {0, 2, 4, 1, 3});
  EXPECT_EQ(changes(memory), 1.0);
}

TEST_F(WalkerMemoryTest, FollowsWalkersAndIgnoresHotReplicas) {
  WalkerMemory memory = make();
  observe(memory, kStart);
  walkers_ = {1, 0, 2, 3};
  observe(memory, {0, 2, 4, 1, 3});  // the first visit of walker 1, while walker 0 is hot
  EXPECT_EQ(changes(memory), 0.0);
  walkers_ = {0, 1, 2, 3};
  observe(memory, {0, 2, 4, 1, 3});  // walker 0 returns with other neighbours
  EXPECT_EQ(changes(memory), 1.0);
  walkers_ = {1, 0, 2, 3};
  observe(memory, {0, 2, 4, 1, 3});  // walker 1 with those that it had
  EXPECT_EQ(changes(memory), 1.0);
}

TEST_F(WalkerMemoryTest, ContinuesFromASavedState) {
  WalkerMemory first = make(), second = make();
  observe(first, kStart);
  observe(first, {0, 2, 4, 1, 3});
  std::stringstream saved;
  first.save(saved);
  second.load(saved);
  observe(first, kStart);
  observe(second, kStart);
  EXPECT_EQ(changes(first), 2.0);
  EXPECT_EQ(changes(second), 2.0);
}

TEST_F(WalkerMemoryTest, FewMoleculesAreAlwaysNeighbours) {
  EXPECT_FALSE(make(3).structure_changes());
  EXPECT_TRUE(make(4).structure_changes());
}

/// The first 32 molecules are compared.
TEST_F(WalkerMemoryTest, TakesLargeClusters) {
  WalkerMemory memory = make(100);
  std::vector<int> order = in_order(100);
  observe(memory, order);
  // Even molecules first: no neighbours of before.
  for (int i = 0; i < 32; ++i) {
    order[static_cast<std::size_t>(i)] = i < 16 ? 2 * i : 2 * (i - 16) + 1;
  }
  observe(memory, order);
  EXPECT_EQ(changes(memory), 1.0);
}

}  // namespace
}  // namespace tarn
