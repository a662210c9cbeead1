#include "tarn/start_state.hpp"

#include "io/checkpoint.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "trajectory_fixtures.hpp"
#include "water_fixtures.hpp"

// Runs that start from the state of another run, or from positions and velocities of a file.

namespace tarn {
namespace {

namespace fs = std::filesystem;
using namespace test;

const std::string kBath =
    "[thermostat]\nkind = \"gla\"\ntemperature_K = 100.0\nfriction_per_ps = 5.0\n";
const std::string kRun = "[run]\nsteps = 10\n";

std::string scheme(const std::string& words) { return "[integrator]\nscheme = " + words + "\n"; }

class StartStateTest : public ::testing::Test {
 protected:
  /// Creates the folder of a run of water, whose state is a warm start of its own deck.
  State leave(const std::string& name, const std::string& system, const std::string& rest,
              std::vector<BlowUp> blow_ups = {}) {
    const Deck deck =
        parse_deck("[system]\ntemperature_K = 100\nstart = \"random\"\n" + system + kRun + rest,
                   folder_.file(name + ".toml"));
    io::Checkpoint checkpoint;
    checkpoint.tarn_version = "0.1.0";
    checkpoint.physics = physics_fingerprint(deck);
    checkpoint.device = "cpu";
    checkpoint.state = make_start(deck).state;
    checkpoint.state.step = 500;
    checkpoint.blow_ups = std::move(blow_ups);
    fs::create_directories(folder_.file(name));
    io::write_checkpoint(folder_.file(name + "/checkpoint.bin"), checkpoint);
    return checkpoint.state;
  }
  io::Checkpoint stored() const { return io::read_checkpoint(folder_.file("a/checkpoint.bin")); }
  void store(const io::Checkpoint& checkpoint) const {
    io::write_checkpoint(folder_.file("a/checkpoint.bin"), checkpoint);
  }
  void store(const State& state) const {
    io::Checkpoint checkpoint = stored();
    checkpoint.state = state;
    store(checkpoint);
  }
  std::string write(const std::string& text) {
    write_text(folder_.file("b.toml"), text);
    return folder_.file("b.toml");
  }
  /// A start from the run in folder "a".
  Start start(const std::string& system, const std::string& rest) {
    return make_start(load_deck(write("[system]\nstate = \"a\"\n" + system + kRun + rest)));
  }
  /// All problems of a deck that begins with these lines, without the name of the folder.
  std::string refusal(const std::string& text) {
    std::string message = message_of<InputError>([&] { load_deck(write(text + kRun)); });
    for (std::size_t at; (at = message.find(folder_.path() + "/")) != std::string::npos;) {
      message.erase(at, folder_.path().size() + 1);
    }
    return message;
  }
  static double longest_of_bonds(const State& s, const char* model) {
    return worst_length(*find_water_model(model), s.positions_A);
  }
  static double largest_bond_rate(const State& s) {
    return test::largest_bond_rate(s.positions_A, s.velocities_A_per_akma);
  }

  ScratchFolder folder_;
};

// --- What a start keeps ---

TEST_F(StartStateTest, IsTakenToTheBitByTheSameScheme) {
  for (const char* words : {"\"zss-stiff\"", "\"zss-stiff\"\nomega = \"infinite\"", "\"shake\"",
                            "\"settle\"", "\"verlet\"\ntimestep_fs = 0.2"}) {
    SCOPED_TRACE(words);
    State before = leave("a", "molecules = 5\nreplicas = 3\n", scheme(words));
    // A projection would change these.
    for (double& x : before.positions_A) x = std::nextafter(x, 2.0 * x);
    store(before);
    const Start s = start("replicas = 3\n", scheme(words));
    EXPECT_TRUE(s.messages.empty()) << s.messages.front().text;
    EXPECT_EQ(s.state.step, 0);
    EXPECT_EQ(s.state.molecules, 5);
    EXPECT_EQ(s.state.replica_ids, before.replica_ids);
    EXPECT_EQ(s.state.positions_A, before.positions_A);
    EXPECT_EQ(s.state.velocities_A_per_akma, before.velocities_A_per_akma);
  }
}

TEST_F(StartStateTest, OfOneReplicaStartsAnyNumber) {
  const State before = leave("a", "molecules = 2\n", scheme("\"settle\""));
  const Start s = start("replicas = 3\nseed = 2\n", scheme("\"settle\"") + kBath);
  EXPECT_TRUE(s.messages.empty());
  for (std::size_t i = 0; i < 3 * 18; ++i) {
    EXPECT_EQ(s.state.positions_A[i], before.positions_A[i % 18]);
    EXPECT_EQ(s.state.velocities_A_per_akma[i], before.velocities_A_per_akma[i % 18]);
  }
  // Without noise the three trajectories are identical.
  const Start copies = start("replicas = 3\n", scheme("\"settle\""));
  expect_messages(copies.messages, {"replicas with the same positions and velocities"});
}

TEST_F(StartStateTest, VelocitiesMayBeRedrawn) {
  const State before = leave("a", "molecules = 4\nreplicas = 2\n", scheme("\"settle\""));
  const Start drawn =
      start("replicas = 2\nvelocities = \"maxwell\"\ntemperature_K = 300\nseed = 9\n",
            scheme("\"settle\""));
  EXPECT_EQ(drawn.state.positions_A, before.positions_A);
  EXPECT_NE(drawn.state.velocities_A_per_akma, before.velocities_A_per_akma);
  EXPECT_LT(largest_bond_rate(drawn.state), few_roundings(6.0));
  const Start rest = start("replicas = 2\nvelocities = \"zero\"\n", scheme("\"settle\""));
  for (const double v : rest.state.velocities_A_per_akma) EXPECT_EQ(v, 0.0);
}

TEST_F(StartStateTest, MomentumMayBeTakenOut) {
  leave("a", "molecules = 4\n", scheme("\"zss-stiff\""));
  const State s = start("remove_momentum = true\n", scheme("\"zss-stiff\"")).state;
  // Twelve terms of some 10 Da A/akma.
  EXPECT_LT(momenta(tip3p(), s.positions_A, s.velocities_A_per_akma).linear.norm(), 1e-13);
}

TEST_F(StartStateTest, RigidSchemesPutItOntoTheConstraints) {
  State before = leave("a", "molecules = 5\n", scheme("\"zss-stiff\""));
  ASSERT_GT(longest_of_bonds(before, "tip3p"), 1e-4) << "relaxed bonds are stretched";
  ASSERT_GT(largest_bond_rate(before), 1e-2);
  for (const char* words : {"\"shake\"", "\"rattle\"", "\"settle\""}) {
    const Start s = start("", scheme(words));
    EXPECT_LT(longest_of_bonds(s.state, "tip3p"), length_rounding_A());
    EXPECT_LT(largest_bond_rate(s.state), few_roundings(6.0));
    expect_messages(s.messages, {"were put onto the rigid geometry of tip3p"});
  }
  // Infinite omega constrains positions; velocities have nine degrees of freedom per molecule.
  const Start s = start("", scheme("\"zss-stiff\"\nomega = \"infinite\""));
  EXPECT_LT(longest_of_bonds(s.state, "tip3p"), 1e-12);
  EXPECT_EQ(s.state.velocities_A_per_akma, before.velocities_A_per_akma);
}

TEST_F(StartStateTest, APenaltyTakesRigidMoleculesAsTheyAre) {
  const State before = leave("a", "molecules = 5\n", scheme("\"settle\""));
  const Start s = start("", scheme("\"verlet\"\ntimestep_fs = 0.2"));
  EXPECT_TRUE(s.messages.empty());
  EXPECT_EQ(s.state.positions_A, before.positions_A);
  EXPECT_LT(largest_difference(s.state.velocities_A_per_akma, before.velocities_A_per_akma),
            few_roundings(1.0));
  // A projection removes the vibration.
  const Start slow =
      start("project = \"slow-manifold\"\n", scheme("\"verlet\"\ntimestep_fs = 0.2"));
  ASSERT_TRUE(slow.slow);
  EXPECT_LT(slow.slow->fast_after_kcal_per_mol, slow.slow->fast_before_kcal_per_mol);
}

// A rigid scheme leaves velocity components along the bonds. They do not move anything there, and
// must not do so in another scheme or with other masses.
TEST_F(StartStateTest, VelocitiesAlongRigidBondsDoNotAct) {
  const State before = leave("a", "molecules = 5\n", scheme("\"settle\"") + kBath);
  io::Checkpoint checkpoint = stored();
  const WaterModel model = tip3p();
  std::vector<double>& v = checkpoint.state.velocities_A_per_akma;
  for (std::size_t m = 0; m < v.size(); m += 9) {
    for (const auto& [a, b] : {std::pair{0u, 1u}, {0u, 2u}, {1u, 2u}}) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double push = before.positions_A[m + 3 * b + k] - before.positions_A[m + 3 * a + k];
        v[m + 3 * a + k] -= push / model.mass_Da(static_cast<int>(a));
        v[m + 3 * b + k] += push / model.mass_Da(static_cast<int>(b));
      }
    }
  }
  ASSERT_GT(largest_difference(v, before.velocities_A_per_akma), 0.5);
  const io::Checkpoint clean = stored();
  const auto velocities = [&](const io::Checkpoint& of, const char* system, const char* words) {
    store(of);
    return start(system, scheme(words)).state.velocities_A_per_akma;
  };
  EXPECT_EQ(velocities(checkpoint, "", "\"settle\""), v);
  for (const auto& [system, words] : {std::pair{"", "\"verlet\"\ntimestep_fs = 0.2"},
                                      {"", "\"zss-stiff\""},
                                      {"", "\"shake\""},
                                      {"hydrogen_mass_Da = 3\n", "\"settle\""},
                                      {"model = \"spce\"\n", "\"settle\""}}) {
    SCOPED_TRACE(std::string(system) + words);
    EXPECT_LT(
        largest_difference(velocities(checkpoint, system, words), velocities(clean, system, words)),
        few_roundings(3.0));
  }
  // Users of engines call the projection themselves.
  Deck deck = load_deck(write("[system]\nmolecules = 5\n" + kRun + scheme("\"settle\"") + kBath));
  project_onto_constraints(make_system(deck, 5), checkpoint.state);
  EXPECT_LT(largest_difference(v, before.velocities_A_per_akma), few_roundings(3.0));
}

TEST_F(StartStateTest, ReportsParametersOfAnotherModel) {
  const std::string model =
      "molecules = 5\nmodel = \"own\"\n[model]\noh_A = 1.0\nhoh_degrees = 109.47\nsigma_A = 3.166\n"
      "epsilon_kcal_per_mol = 0.1553\ncharge_hydrogen_e = ";
  leave("a", model + "0.41\n", scheme("\"settle\""));
  EXPECT_TRUE(
      start(model.substr(model.find("model")) + "0.41\n", scheme("\"settle\"")).messages.empty());
  const Start other = start(model.substr(model.find("model")) + "0.42\n", scheme("\"settle\""));
  expect_messages(other.messages, {"other values in [model]"});
}

TEST_F(StartStateTest, MoleculesTakeTheShapeOfAnotherModel) {
  const State before = leave("a", "molecules = 5\n", scheme("\"settle\""));
  for (const char* words : {"\"settle\"", "\"zss-stiff\""}) {
    const Start s = start("model = \"spc\"\n", scheme(words));
    EXPECT_LT(longest_of_bonds(s.state, "spc"), length_rounding_A());
    expect_messages(s.messages, {"comes from a run with model tip3p, and this deck uses spc",
                                 "rigid geometry of spc"});
  }
  // TIPS2 has the shape of TIP3P.
  const Start same = start("model = \"tips2\"\n", scheme("\"settle\""));
  EXPECT_EQ(same.state.positions_A, before.positions_A);
  ASSERT_EQ(same.messages.size(), 1u);
  const Start heavy = start("hydrogen_mass_Da = 4\n", scheme("\"settle\""));
  EXPECT_LT(largest_difference(heavy.state.velocities_A_per_akma, before.velocities_A_per_akma),
            few_roundings(1.0));
  expect_messages(heavy.messages, {"masses change (H from 1.008 to 4 Da): velocities are kept"});
}

/// The internal positions x = q - b h² a of Z&Ss amplify the bond vibration: with another step they
/// would heat it.
TEST_F(StartStateTest, ReportedPositionsStayWithAnotherStep) {
  const std::string system = "molecules = 5\nreplicas = 2\n", newmark = "\"pushforward-newmark\"";
  leave("a", system, scheme(newmark));
  io::Checkpoint checkpoint = stored();
  const auto engine_of = [&](const State& state, const std::string& words) {
    const Deck deck = parse_deck("[system]\n" + system + kRun + scheme(words), "a.toml");
    return make_cpu_engine(make_system(deck, 5), state, {});
  };
  const auto before = engine_of(checkpoint.state, newmark);
  before->advance(100);
  checkpoint.state = before->state();
  store(checkpoint);
  Frame old;
  before->snapshot(kPositions, old);
  const double push = largest_difference(old.positions_A, checkpoint.state.positions_A);
  ASSERT_GT(push, 5e-3);

  for (const char* words :
       {"\"pushforward-newmark\"\ntimestep_fs = 1", "\"pushforward-newmark\"\nbeta = 0.6"}) {
    const State now = start("replicas = 2\n", scheme(words)).state;
    EXPECT_GT(largest_difference(now.positions_A, checkpoint.state.positions_A), 0.1 * push);
    Frame frame;
    engine_of(now, words)->snapshot(kPositions, frame);
    // Both solve M a = F(q) to round-off, which b h² ω² makes some 1e2 times as large.
    EXPECT_LT(largest_difference(frame.positions_A, old.positions_A), 1e-11);
  }
  // Z&Ss solve that equation to first order in the push.
  const char* linear = "\"zss-stiff\"\ntimestep_fs = 1";
  Frame frame;
  engine_of(start("replicas = 2\n", scheme(linear)).state, linear)->snapshot(kPositions, frame);
  EXPECT_LT(largest_difference(frame.positions_A, old.positions_A), 4.0 * push * push);
  // Without push-forward, internal and reported positions are equal.
  const State verlet = start("replicas = 2\n", scheme("\"verlet\"\ntimestep_fs = 0.2")).state;
  EXPECT_EQ(verlet.positions_A, old.positions_A);
}

TEST_F(StartStateTest, TemperaturesCountSixDegreesUnlessTheClusterIsAtRest) {
  leave("a", "molecules = 5\n", scheme("\"settle\""));
  const auto zero_momentum = [&](const std::string& system, const std::string& bath = {}) {
    const std::string text =
        "[system]\nstate = \"a\"\n" + system + kRun + scheme("\"settle\"") + bath;
    return make_system(load_deck(write(text)), 5).zero_momentum;
  };
  EXPECT_FALSE(zero_momentum(""));
  // Velocities are drawn at the bath temperatures, although nothing couples to the baths.
  EXPECT_FALSE(zero_momentum("velocities = \"maxwell\"\nreplicas = 2\n",
                             "[thermostat]\nkind = \"gla\"\ntemperatures_K = [100.0, 200.0]\n"
                             "friction_per_ps = 0.0\n"));
  EXPECT_TRUE(zero_momentum("remove_momentum = true\n"));
  EXPECT_TRUE(zero_momentum("velocities = \"zero\"\n"));
}

// --- Rejected starts ---

TEST_F(StartStateTest, ProblemsNameTheKeyAndTheRemedy) {
  leave("a", "molecules = 2\nreplicas = 3\n", scheme("\"settle\""));
  const std::string state = "[system]\nstate = \"a\"\n", three = state + "replicas = 3\n";
  EXPECT_NO_THROW(load_deck(write(three + kRun)));
  EXPECT_EQ(refusal("[system]\nstate = \"nowhere\"\n"),
            "b.toml:2:9: state = \"nowhere\": there is no run and no checkpoint nowhere; "
            "paths in a deck and in --set are relative to the folder of the deck");
  fs::create_directories(folder_.file("empty"));
  EXPECT_EQ(refusal(three + "molecules = 7\n"), "b.toml:4:13: molecules = 7, but the state has 2");
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"[system]\nstate = \"empty\"\n",
            "b.toml:2:9: state = \"empty\": there is no checkpoint.bin in empty"},
           {"[system]\nstate = \"b.toml\"\n", "is not a checkpoint of tarn"},
           {state + "replicas = 2\n",
            "b.toml:3:12: replicas = 2, but the state has 3; write replicas = 3"},
           {state, "b.toml:1:2: replicas = 1, but the state has 3"},
           {three + "start = \"random\"\n", "start is not used with state"},
           {"[system]\nmolecules = 2\nvelocities = \"state\"\n",
            "b.toml:3:14: velocities = \"state\" needs state"}}) {
    EXPECT_TRUE(contains(refusal(text), part));
  }

  const std::string path = folder_.file("a/checkpoint.bin");
  const std::string bytes = read_text(path);
  write_text(path, bytes.substr(0, bytes.size() / 2));
  expect_parts_of(refusal(three), {"b.toml:2:9: cannot use the checkpoint", "it is cut off after"});
  std::string damaged = bytes;
  damaged[bytes.size() / 2] = static_cast<char>(~damaged[bytes.size() / 2]);
  write_text(path, damaged);
  EXPECT_TRUE(contains(refusal(three), "it is damaged"));
}

TEST_F(StartStateTest, TheSameNoiseIsRefused) {
  leave("a", "molecules = 2\n", scheme("\"settle\"") + kBath);
  const std::string text = "[system]\nstate = \"a\"\n";
  EXPECT_TRUE(contains(refusal(text + "seed = 1\n" + kBath),
                       "b.toml:3:8: seed = 1 is that of the run of the state"));
  EXPECT_NO_THROW(load_deck(write(text + "seed = 2\n" + kBath + kRun)));
  EXPECT_NO_THROW(load_deck(write(text + "seed = 1\n" + kRun))) << "there is no noise";
  leave("a", "molecules = 2\n", scheme("\"settle\""));
  EXPECT_NO_THROW(load_deck(write(text + "seed = 1\n" + kBath + kRun))) << "there was none";
}

TEST_F(StartStateTest, StoppedReplicasAreNoStart) {
  leave("a", "molecules = 2\nreplicas = 2\n", scheme("\"settle\""), {{1, 17, 0, {}, {}, false}});
  EXPECT_TRUE(contains(refusal("[system]\nstate = \"a\"\nreplicas = 2\n"),
                       "1 of 2 replicas of the state failed, the first of them replica 1 at "
                       "step 17"));
}

TEST_F(StartStateTest, OfSomethingElseIsRefused) {
  const auto checkpoint_with = [&](const std::string& physics, std::vector<std::int64_t> ids) {
    io::Checkpoint checkpoint;
    checkpoint.tarn_version = "0.0.9";
    checkpoint.physics = physics;
    checkpoint.state.molecules = static_cast<int>(ids.empty() ? 0 : 1);
    checkpoint.state.positions_A.resize(9 * ids.size());
    checkpoint.state.velocities_A_per_akma.resize(9 * ids.size());
    checkpoint.state.replica_ids = std::move(ids);
    io::write_checkpoint(folder_.file("other.bin"), checkpoint);
    return refusal("[system]\nstate = \"other.bin\"\n");
  };
  EXPECT_TRUE(contains(checkpoint_with("[system]\nmolecules = 1\ncolour = 3\n", {0}),
                       "tarn 0.0.9 wrote it, with a deck that this version cannot read"));
  EXPECT_TRUE(contains(checkpoint_with("[system]\nmolecules = 1\n", {}),
                       "not the state of a run of water"));
  EXPECT_TRUE(contains(checkpoint_with("[system]\nmolecules = 1\n", {4}),
                       "not the state of a run of water"));
  // Observers do not matter, not even unknown ones.
  io::Checkpoint checkpoint = io::read_checkpoint(folder_.file("other.bin"));
  checkpoint.physics = "[system]\nmolecules = 1\n\n[observe.colour]\nevery = 1\n";
  checkpoint.state.replica_ids = {0};
  io::write_checkpoint(folder_.file("other.bin"), checkpoint);
  EXPECT_NO_THROW(load_deck(write("[system]\nstate = \"other.bin\"\n" + kRun)));
}

TEST_F(StartStateTest, MoleculesThatAreFarFromRigidAreNotMadeSo) {
  State before = leave("a", "molecules = 3\n", scheme("\"verlet\"\ntimestep_fs = 0.2"));
  before.positions_A[9 + 3] += 0.5;
  store(before);
  expect_throws<InputError>({"molecule 1 has O-H1"}, [&] { start("", scheme("\"settle\"")); });
  EXPECT_EQ(start("", scheme("\"zss-stiff\"")).state.positions_A, before.positions_A);
}

// --- velocities of structure files ---

TEST_F(StartStateTest, VelocitiesOfAFileAreUsedOnRequest) {
  const State before = leave("a", "molecules = 3\n", scheme("\"zss-stiff\""));
  io::Structure structure;
  structure.molecules = 3;
  structure.positions_A = before.positions_A;
  structure.velocities_A_per_akma = before.velocities_A_per_akma;
  io::write_structure(folder_.file("s.xyz"), structure);
  io::write_structure(folder_.file("s.gro"), structure);
  const auto from = [&](const std::string& file, const std::string& rest) {
    return make_start(load_deck(
        write("[system]\nfile = \"" + file + "\"\nvelocities = \"file\"\n" + kRun + rest)));
  };
  const Start xyz = from("s.xyz", scheme("\"zss-stiff\""));
  EXPECT_TRUE(xyz.messages.empty());
  EXPECT_EQ(xyz.state.positions_A, before.positions_A);
  EXPECT_EQ(xyz.state.velocities_A_per_akma, before.velocities_A_per_akma);
  // Half of GRO's last digit, 10^-8 nm/ps, is 2.4e-9 A/akma.
  const Start gro = from("s.gro", scheme("\"zss-stiff\""));
  for (std::size_t i = 0; i < before.positions_A.size(); ++i) {
    EXPECT_NEAR(gro.state.velocities_A_per_akma[i], before.velocities_A_per_akma[i], 2.5e-9);
  }
  const Start rigid = from("s.xyz", scheme("\"settle\""));
  EXPECT_LT(longest_of_bonds(rigid.state, "tip3p"), length_rounding_A());
  EXPECT_LT(largest_bond_rate(rigid.state), few_roundings(6.0));
}

TEST_F(StartStateTest, ReportsPositionsOfAnotherStep) {
  write_text(folder_.file("final.xyz"),
             "3\nProperties=species:S:1:pos:R:3:vel_A_per_akma:R:3 push_fs2=1.6799999999999999\n"
             "O 0 0 0 0 0 0\nH 0.96 0 0 0 0 0\nH -0.24 0.93 0 0 0 0\n");
  const auto notes = [&](const std::string& words) {
    const std::string text = "[system]\nfile = \"final.xyz\"\nvelocities = \"file\"\n";
    return make_start(load_deck(write(text + kRun + scheme(words)))).messages;
  };
  EXPECT_TRUE(notes("\"zss-stiff\"").empty());
  EXPECT_TRUE(notes("\"pushforward-newmark\"").empty());
  for (const char* words : {"\"zss-stiff\"\ntimestep_fs = 1", "\"verlet\"\ntimestep_fs = 0.2"}) {
    expect_messages(notes(words), {"b h^2 = 1.68 fs^2, and this deck has 0"});
  }
  expect_messages(notes("\"settle\""), {"rigid geometry"});
}

TEST_F(StartStateTest, AFileOfGromacsHasNanometresAPicosecond) {
  write_text(folder_.file("s.gro"),
             "water\n    3\n"
             "    1SOL     OW    1   0.000   0.000   0.000  0.1000 -0.2000  0.3000\n"
             "    1SOL    HW1    2   0.096   0.000   0.000  0.4000  0.5000  0.6000\n"
             "    1SOL    HW2    3  -0.024   0.093   0.000  0.7000  0.8000  0.9000\n"
             "   0.0 0.0 0.0\n");
  const Deck deck = load_deck(write("[system]\nfile = \"s.gro\"\nvelocities = \"file\"\n" + kRun +
                                    scheme("\"zss-stiff\"")));
  EXPECT_FALSE(deck.system.relax);
  const State s = make_start(deck).state;
  const double nm_per_ps[] = {0.1, -0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  for (std::size_t i = 0; i < 9; ++i) {
    // 1 nm/ps = 10 A / 20.4548 akma.
    EXPECT_NEAR(s.velocities_A_per_akma[i], nm_per_ps[i] * 10.0 * units::ps_from_akma(1.0), 1e-15);
  }
}

TEST_F(StartStateTest, ReportsAFileWithoutVelocities) {
  write_text(folder_.file("s.xyz"), "3\n\nO 0 0 0\nH 0.96 0 0\nH -0.24 0.93 0\n");
  const std::string text = "[system]\nfile = \"s.xyz\"\nvelocities = \"file\"\n";
  EXPECT_TRUE(contains(refusal(text),
                       "b.toml:3:14: velocities = \"file\": s.xyz does not contain velocities"));
  EXPECT_THROW(make_start(parse_deck(text + kRun, folder_.file("b.toml"))), InputError);
  EXPECT_TRUE(contains(refusal(text + "relax = true\n" + scheme("\"zss-stiff\"")),
                       "relax is not used with [system] velocities = \"file\""));
}

}  // namespace
}  // namespace tarn
