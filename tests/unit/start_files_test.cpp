#include "quiet_run.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "trajectory_fixtures.hpp"
#include "water_fixtures.hpp"

// Runs that start from several structures.

namespace tarn {
namespace {

using namespace test;

constexpr int kMolecules = 6;

class StartFiles : public ::testing::Test {
 protected:
  StartFiles() {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      io::Structure structure;
      structure.molecules = kMolecules;
      structure.positions_A = random_cluster(tip3p_, kMolecules, seed, 0);
      structures_.push_back(structure.positions_A);
      io::write_structure(folder_.file(std::string(1, static_cast<char>('a' + seed - 1)) + ".xyz"),
                          structure);
    }
    io::Structure small;
    small.molecules = 2;
    small.positions_A = random_cluster(tip3p_, 2, 1, 0);
    io::write_structure(folder_.file("small.xyz"), small);
  }
  Deck deck(const std::string& files, const std::string& more = "") const {
    const std::string path = folder_.file("deck.toml");
    write_text(path, "[system]\nfiles = " + files + "\n" + more + "[run]\nsteps = 100\n");
    return load_deck(path);
  }
  /// Which of the structures a replica starts from.
  std::vector<int> starts(const std::string& files, const std::string& more) const {
    const Start start = make_start(deck(files, more));
    std::vector<int> starts;
    const std::size_t size = start.state.coordinates();
    for (std::size_t r = 0; r < start.state.replica_ids.size(); ++r) {
      const double* const at = &start.state.positions_A[r * size];
      for (int i = 0; i < 3; ++i) {
        if (largest_difference({at, at + size}, structures_[i]) < 1e-6) starts.push_back(i);
      }
    }
    return starts;
  }

  WaterModel tip3p_ = tip3p();
  ScratchFolder folder_;
  std::vector<std::vector<double>> structures_;
};

/// Replicas, and ladders; equal temperatures make no ladder.
TEST_F(StartFiles, ReplicasAndLaddersTakeThemInTurn) {
  EXPECT_EQ(starts(R"(["a.xyz", "b.xyz", "c.xyz"])", "replicas = 7\n"),
            (std::vector<int>{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(starts(R"(["b.xyz"])", "replicas = 2\n"), (std::vector<int>{1, 1}));
  const std::string bath =
      "replicas = 8\n[thermostat]\nkind = \"gla\"\nfriction_per_ps = 2.0\ntemperatures_K = ";
  EXPECT_EQ(starts(R"(["a.xyz", "c.xyz"])", bath + "[100.0, 200.0]\n"),
            (std::vector<int>{0, 0, 2, 2, 0, 0, 2, 2}));
  EXPECT_EQ(starts(R"(["a.xyz", "c.xyz"])", bath + "[200.0, 200.0]\n"),
            (std::vector<int>{0, 2, 0, 2, 0, 2, 0, 2}));
}

TEST_F(StartFiles, FramesAreSelectedByNumber) {
  write_text(folder_.file("all.xyz"), read_text(folder_.file("a.xyz")) +
                                          read_text(folder_.file("b.xyz")) +
                                          read_text(folder_.file("c.xyz")));
  EXPECT_EQ(starts(R"(["all.xyz:2", "all.xyz:0"])", "replicas = 3\n"), (std::vector<int>{2, 0, 2}));
}

TEST_F(StartFiles, ProblemsNameTheFile) {
  for (const auto& [files, part] :
       {std::pair{R"(["a.xyz", "none.xyz"])", "files = \"none.xyz\": there is no file"},
        {R"(["a.xyz", "small.xyz"])",
         "\"small.xyz\" has 2 molecules, and the structure before it 6"},
        {R"(["a.xyz:7"])", "there is no frame 7"}}) {
    expect_throws<InputError>({part}, [&, f = files] { deck(f, "replicas = 4\n"); });
  }
}

/// Cold clusters stay in the minima near their different starts.
TEST_F(StartFiles, AveragesThatDependOnTheStartAreNotConverged) {
  const Deck cold = deck(R"(["a.xyz", "b.xyz"])",
                         "replicas = 8\n[thermostat]\nkind = \"gla\"\ntemperature_K = 20.0\n"
                         "friction_per_ps = 50.0\n[observe.energies]\nevery = 5\n");
  RunOptions options = quiet_run(folder_.file("out"));
  std::string messages;
  options.on_message = [&](const Message& message) { messages += message.text + "\n"; };
  const RunResult result = run_deck(cold, options);
  int found = 0;
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity != "potential_kcal_per_mol") continue;
    ++found;
    EXPECT_FALSE(a.converged);
    EXPECT_GT(a.sigmas_between_starts.value(), AveragedQuantity::kMostSigmasBetweenStarts);
  }
  EXPECT_EQ(found, 1);
  EXPECT_TRUE(contains(messages, "averages depend on the start"));
  EXPECT_TRUE(contains(read_text(folder_.file("out/averages.csv")), "sigmas_between_starts"));
}

/// What walkers remember continues after a restart.
TEST_F(StartFiles, WalkersContinueAfterARestart) {
  const auto changes_after = [this](const std::string& name, std::int64_t stop) {
    const Deck whole = deck(R"(["a.xyz", "b.xyz"])",
                            "replicas = 8\n[thermostat]\nfriction_per_ps = 5.0\n"
                            "temperatures_K = [300.0, 900.0]\n[confinement]\nradius_A = 5.0\n"
                            "stiffness_kcal_per_mol_A2 = 10.0\n[exchange]\nevery = 2\n"
                            "[observe.minima]\nevery = 40\n");
    RunOptions options = quiet_run(folder_.file(name));
    for (const std::int64_t steps : {stop, std::int64_t{2000}}) {
      Deck part = whole;
      part.run.steps = steps;
      options.resume = steps > stop;
      const RunResult result = run_deck(part, options);
      if (steps == 2000) return result.exchange->structure_changes.per_walker;
    }
    return -1.0;
  };
  EXPECT_EQ(changes_after("whole", 2000), changes_after("parts", 700));
  EXPECT_EQ(read_text(folder_.file("whole/isomers.csv")),
            read_text(folder_.file("parts/isomers.csv")));
}

}  // namespace
}  // namespace tarn
