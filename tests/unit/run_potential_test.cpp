#include "csv_columns.hpp"
#include "model_potential.hpp"
#include "quiet_run.hpp"
#include "run/run_messages.hpp"
#include "run_files.hpp"
#include "tarn/ensemble.hpp"
#include "tarn/run.hpp"
#include "testing.hpp"

/// @file
/// Runs whose forces come from a Potential.

namespace tarn {
namespace {

using namespace test;

constexpr int kMolecules = 2;

std::string text_of_deck(bool rings, const std::string& more = {}) {
  std::string text =
      "[system]\nmodel = \"qtip4pf\"\nmolecules = 2\nreplicas = 3\n"
      "[thermostat]\nkind = \"baoab\"\ntemperature_K = 200\nfriction_per_ps = 5\n"
      "[integrator]\ntimestep_fs = 0.25\n"
      "[run]\nsteps = 60\n[observe.energies]\nevery = 7\n[observe.cluster]\nevery = 10\n"
      "[observe.rdf]\nevery = 3\n[observe.trajectory]\nevery = 20\nreplicas = 2\n"
      "[observe.final]\nreplicas = 3\n";
  if (rings) text += "[path_integral]\nbeads = 4\n[observe.path_integral]\nevery = 10\n";
  return text + more;
}

class RunPotential : public ::testing::TestWithParam<bool> {
 protected:
  Deck deck(const std::string& more = {}) const {
    return parse_deck(text_of_deck(GetParam(), more), "test.toml");
  }
  int copies() const { return GetParam() ? 4 : 1; }
  std::shared_ptr<ModelPotential> potential() const {
    return std::make_shared<ModelPotential>(make_system(deck(), kMolecules).model, kMolecules);
  }
  RunResult run(const std::string& folder, std::shared_ptr<Potential> potential,
                bool resume = false) {
    RunOptions options = quiet_run(folders_.file(folder));
    options.resume = resume;
    options.threads = 2;
    options.potential = std::move(potential);
    options.on_message = [this](const Message& message) { messages_ += message.text + "\n"; };
    // Starts of potentials are not relaxed by the forces of the model.
    return run_deck(options.potential
                        ? deck()
                        : parse_deck(text_of_deck(GetParam()), "test.toml", {"system.relax=false"}),
                    options);
  }
  std::string file(const std::string& folder, const std::string& name) const {
    return read_text(folders_.file(folder + "/" + name));
  }

  ScratchFolder folders_;
  std::string messages_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, RunPotential, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Rings" : "Classical"; });

TEST_P(RunPotential, NamesThePotentialAndHasOneEnergyOfIt) {
  EXPECT_EQ(run("a", potential()).steps_done, 60);
  EXPECT_TRUE(contains(file("a", "run.json"), "\"potential\": \"model\""));
  const std::string energies = file("a", "energies.csv");
  EXPECT_TRUE(contains(energies.substr(0, energies.find('\n')), "qtip4pf with forces by model"));
  EXPECT_TRUE(contains(energies, "potential_kcal_per_mol,kinetic_kcal_per_mol"));
  // As of the built-in model, within the rounding of text and sums.
  run("b", {});
  const auto a = columns_of(folders_.file("a/energies.csv")),
             b = columns_of(folders_.file("b/energies.csv"));
  const std::vector<double>& potentials = a.at("potential_kcal_per_mol");
  ASSERT_EQ(potentials.size(), 27u);
  for (std::size_t row = 0; row < potentials.size(); ++row) {
    const auto near = [](double x, double y) { EXPECT_NEAR(x, y, 1e-6); };
    near(potentials[row],
         b.at("potential_kcal_per_mol")[row] + b.at("intramolecular_kcal_per_mol")[row]);
    near(a.at("total_kcal_per_mol")[row], b.at("total_kcal_per_mol")[row]);
  }
}

/// The run keeps its last complete step, and goes on from there to the same files.
TEST_P(RunPotential, AnExceptionLeavesACheckpointOfTheLastStep) {
  run("whole", potential());
  const auto throwing = potential();
  throwing->throws_at = 40;
  EXPECT_EQ(message_of<std::runtime_error>([&] { run("parts", throwing); }), "no convergence");
  expect_parts_of(file("parts", "run.json"),
                  {"\"status\": \"failed\"", "no convergence", "\"steps_done\": 38"});
  const auto rest = potential();
  EXPECT_EQ(run("parts", rest, true).steps_done, 60);
  EXPECT_EQ(rest->calls, 1 + 60 - 38);
  expect_same_files(folders_.file("whole"), folders_.file("parts"));
}

TEST_P(RunPotential, AnInterruptedCallInterruptsTheRun) {
  run("whole", potential());
  const auto interrupted = potential();
  interrupted->interrupted_at = 30;
  const RunResult part = run("parts", interrupted);
  EXPECT_TRUE(part.interrupted);
  EXPECT_EQ(part.steps_done, 28);
  EXPECT_TRUE(contains(file("parts", "run.json"), "\"status\": \"interrupted\""));
  run("parts", potential(), true);
  expect_same_files(folders_.file("whole"), folders_.file("parts"));
}

TEST_P(RunPotential, AnotherPotentialIsRefused) {
  const auto throwing = potential();
  throwing->throws_at = 20;
  EXPECT_THROW(run("a", throwing), std::runtime_error);
  const auto other = potential();
  other->own_name = "another model";
  expect_throws<InputError>({"was 'name = \"model\"', is 'name = \"another model\"'"},
                            [&] { run("a", other, true); });
  expect_throws<InputError>({"[potential] was removed"}, [&] { run("a", {}, true); });
  EXPECT_EQ(run("a", potential(), true).steps_done, 60);
}

TEST_P(RunPotential, ANumberThatIsNotFiniteStopsOneReplica) {
  const auto bad = potential();
  bad->bad_id = copies() + copies() / 2;
  bad->bad_from = 12;
  const RunResult result = run("a", bad);
  EXPECT_EQ(result.steps_done, 60);
  ASSERT_EQ(result.blow_ups.size(), 1u);
  EXPECT_EQ(result.blow_ups[0].replica, 1);
  EXPECT_TRUE(contains(messages_, "replica 1 was stopped at step 11: the potential returned nan"));
  EXPECT_TRUE(contains(file("a", "run.json"), "the potential returned nan"));
  EXPECT_TRUE(contains(file("a", "blow-up-0001.xyz"), "blew_up_at_step=11"));
}

TEST_P(RunPotential, AnEnsembleContinuesWithTheSamePotential) {
  Ensemble whole(deck(), {"auto", 1, potential()});
  whole.advance(20);
  Ensemble first(deck(), {"cpu", 1, potential()});
  first.advance(8);
  first.save(folders_.file("state.bin"));
  Ensemble second = Ensemble::load(folders_.file("state.bin"), {"cpu", 2, potential()});
  second.advance(12);
  EXPECT_EQ(whole.state().positions_A, second.state().positions_A);
  EXPECT_EQ(whole.state().velocities_A_per_akma, second.state().velocities_A_per_akma);
  expect_throws<InputError>({"of the potential 'model', not of the deck"}, [&] {
    Ensemble::load(folders_.file("state.bin"), {"cpu", 1});
  });
  EXPECT_THROW(Ensemble(deck(), {"cuda", 1, potential()}), InputError);
}

TEST_P(RunPotential, AFailedAdvanceOfAnEnsembleKeepsItsLastStep) {
  const auto throwing = potential();
  throwing->throws_at = 10;
  Ensemble a(deck(), {"cpu", 1, throwing});
  EXPECT_THROW(a.advance(20), std::runtime_error);
  EXPECT_EQ(a.step(), 8);
  a.advance(12);
  Ensemble b(deck(), {"cpu", 1, potential()});
  b.advance(20);
  EXPECT_EQ(a.state().positions_A, b.state().positions_A);
}

TEST(RunManyBody, AStoppedReplicaHasAReason) {
  BlowUp blow_up;
  blow_up.replica = 1;
  blow_up.step = 11;
  blow_up.failure = ImageFailure::too_close;
  EXPECT_EQ(headline(blow_up),
            "replica 1 was stopped at step 11: two oxygen atoms are closer than 2 A, where the "
            "model is not defined");
}

}  // namespace
}  // namespace tarn
