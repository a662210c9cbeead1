#include "tarn/ensemble.hpp"

#include "quiet_run.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

Deck deck(const std::string& more = "", int replicas = 3) {
  return parse_deck("[system]\nmolecules = 5\nreplicas = " + std::to_string(replicas) +
                        "\n[integrator]\nscheme = \"settle\"\n[run]\nsteps = 60\n" + more,
                    "pentamer.toml");
}
const std::string kBath =
    "[thermostat]\nkind = \"baoab\"\ntemperature_K = 150.0\nfriction_per_ps = 5.0\n";

TEST(Ensemble, HasTheStatesOfARun) {
  ScratchFolder folder;
  const Deck d = deck(kBath + "[observe.heat]\nevery = 30\n");
  run_deck(d, quiet_run(folder.file("run")));
  Ensemble ensemble(d, {"cpu", 1});
  EXPECT_TRUE(ensemble.advance(60));
  const State of_run = Ensemble::load(folder.file("run"), {"cpu"}).state();
  const State own = ensemble.state();
  EXPECT_EQ(own.step, 60);
  EXPECT_DOUBLE_EQ(ensemble.time_ps(), 0.12);
  EXPECT_EQ(own.positions_A, of_run.positions_A);
  EXPECT_EQ(own.velocities_A_per_akma, of_run.velocities_A_per_akma);
  EXPECT_EQ(own.heat_kcal_per_mol, of_run.heat_kcal_per_mol);
  EXPECT_EQ(own.heat_kcal_per_mol.size(), 15u);
}

TEST(Ensemble, ContinuesFromItsCheckpoint) {
  ScratchFolder folder;
  Ensemble ensemble(deck(kBath), {"cpu"});
  ensemble.advance(37);
  ensemble.save(folder.file("x"));
  ensemble.advance(20);
  Ensemble again = Ensemble::load(folder.file("x"), {"cpu", 2});
  EXPECT_EQ(again.step(), 37);
  EXPECT_EQ(again.replicas(), 3);
  again.advance(20);
  EXPECT_EQ(again.state().positions_A, ensemble.state().positions_A);
  again.save(folder.file("y"));
  EXPECT_EQ(Ensemble::load(folder.file("y"), {"cpu"}).state().velocities_A_per_akma,
            ensemble.state().velocities_A_per_akma);
}

TEST(Ensemble, StopsOnRequest) {
  Ensemble ensemble(deck(kBath), {"cpu"});
  int calls = 0;
  EXPECT_FALSE(ensemble.advance(1'000'000'000, [&] { return ++calls < 3; }));
  EXPECT_EQ(calls, 3);
  EXPECT_GT(ensemble.step(), 0);
  Ensemble other(deck(kBath), {"cpu"});
  other.advance(ensemble.step());
  EXPECT_EQ(other.state().positions_A, ensemble.state().positions_A);
}

TEST(Ensemble, KeepsStoppedReplicas) {
  ScratchFolder folder;
  Deck hot = deck(
      "[thermostat]\nfriction_per_ps = 5.0\n"
      "temperatures_K = [10, 10, 10, 10, 10, 10, 10, 4000]\n",
      8);
  hot.integrator.timestep_fs = 12.0;
  Ensemble ensemble(hot, {"cpu"});
  while (ensemble.blow_ups().empty() && ensemble.step() < 100'000) ensemble.advance(100);
  const std::vector<BlowUp> stopped = ensemble.blow_ups();
  ASSERT_FALSE(stopped.empty());
  ASSERT_LT(stopped.size(), 8u);
  EXPECT_TRUE(contains(ensemble.text(stopped[0]), "blew up"));
  ensemble.save(folder.file("x"));
  Ensemble again = Ensemble::load(folder.file("x"), {"cpu"});
  EXPECT_EQ(again.blow_ups(), stopped);
  Frame frame;
  again.snapshot(kPositions, frame);
  EXPECT_EQ(frame.live(), 8 - stopped.size());
}

TEST(Ensemble, RejectsInvalidRequests) {
  EXPECT_THROW(Ensemble(deck("[thermostat]\nkind = \"baoab\"\ntemperatures_K = [50, 60, 70]\n"
                             "friction_per_ps = 5.0\n[exchange]\nevery = 10\n"),
                        {"cpu"}),
               InputError);
  EXPECT_THROW(Ensemble(deck(), {"gpu"}), InputError);
  EXPECT_THROW(Ensemble::load("no/such/file", {"cpu"}), InputError);
  EXPECT_THROW(Ensemble(deck(), {"cpu"}, [](int, int) { return false; }), StartInterrupted);
}

}  // namespace
}  // namespace tarn
