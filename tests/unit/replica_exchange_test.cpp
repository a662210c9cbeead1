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

}  // namespace
}  // namespace tarn
