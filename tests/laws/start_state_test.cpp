#include <ostream>

#include "io/checkpoint.hpp"
#include "quiet_run.hpp"

// The state of a run is all that its future depends on: a run of a + b steps ends where one of b
// steps does that starts from the state of one of a.

namespace tarn {
namespace {

using test::ScratchFolder;

constexpr int kFirst = 37, kSecond = 64;

struct Case {
  std::string name;
  std::string integrator;
  std::string precision = "double";
  std::string system = "file = \"" TARN_SOURCE_DIR "/inputs/structures/tip3p-7.xyz\"";

  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }
};

std::vector<Case> cases() {
  const std::vector<Case> schemes{
      {"zss", "scheme = \"zss-stiff\""},
      {"zss_dense", "scheme = \"zss-stiff\"\nsolver = \"dense\""},
      {"zss_infinite", "scheme = \"zss-stiff\"\nomega = \"infinite\""},
      {"zss_full", "scheme = \"zss-stiff\"\nhessian = \"full\"\nomega = 10"},
      {"zss_molecule", "scheme = \"zss-stiff\"\nhessian = \"molecule\"\nomega = 10"},
      {"zss_total", "scheme = \"zss-stiff\"\nhessian = \"total\"\nomega = 10"},
      {"pushforward", "scheme = \"pushforward-newmark\""},
      {"pushforward_infinite", "scheme = \"pushforward-newmark\"\nomega = \"infinite\""},
      {"one_step", "scheme = \"newmark-one-step\"\ntimestep_fs = 0.1"},
      {"verlet", "scheme = \"verlet\"\ntimestep_fs = 0.2"},
      {"shake", "scheme = \"shake\""},
      {"shake_sweeps", "scheme = \"shake\"\niteration = \"sweeps\""},
      {"rattle", "scheme = \"rattle\""},
      {"settle", "scheme = \"settle\""},
  };
  std::vector<Case> all = schemes;
  for (const std::string scheme : {"zss-stiff", "shake", "settle"}) {
    const std::string name = scheme.substr(0, 3), words = "scheme = \"" + scheme + '"';
    for (const char* precision : {"mixed", "single"}) {
      all.push_back({precision + ("_" + name), words, precision});
    }
    // The engine's other layout.
    all.push_back({"large_" + name, words, "double", "molecules = 65\nstart = \"random\""});
  }
  return all;
}

struct CaseName {
  std::string operator()(const ::testing::TestParamInfo<Case>& info) const {
    return info.param.name;
  }
};

class StartState : public ::testing::TestWithParam<Case> {
 protected:
  State end_of(const std::string& name, const std::string& system, const std::string& more,
               int steps) {
    const Case& c = GetParam();
    const std::string path = folder_.file(name + ".toml");
    test::write_text(path, "[system]\nreplicas = 3\n" + system + "\n[integrator]\n" + c.integrator +
                               "\n" + more + "\n[run]\nprecision = \"" + c.precision +
                               "\"\nsteps = " + std::to_string(steps) + "\n");
    RunOptions options = test::quiet_run(folder_.file(name));
    // A state of the same scheme is taken as it is.
    options.on_message = [&](const Message& message) {
      if (system.starts_with("state")) ADD_FAILURE() << message.text;
    };
    run_deck(load_deck(path), options);
    return io::read_checkpoint(options.out_dir + "/checkpoint.bin").state;
  }

  ScratchFolder folder_;
};

TEST_P(StartState, IsAllThatTheFutureDependsOn) {
  const std::string system = GetParam().system + "\ntemperature_K = 50";
  const State whole = end_of("whole", system, "", kFirst + kSecond);
  const State first = end_of("first", system, "", kFirst);
  const State second = end_of("second", "state = \"first\"", "", kSecond);
  EXPECT_EQ(second.step, kSecond);
  EXPECT_EQ(second.replica_ids, whole.replica_ids);
  EXPECT_NE(first.positions_A, whole.positions_A);
  EXPECT_EQ(second.positions_A, whole.positions_A);
  EXPECT_EQ(second.velocities_A_per_akma, whole.velocities_A_per_akma);
}

INSTANTIATE_TEST_SUITE_P(Schemes, StartState, ::testing::ValuesIn(cases()), CaseName());

class FinalStructure : public StartState {};

/// All digits are written; molecules of a file are fitted to the rigid geometry, which rounds.
TEST_P(FinalStructure, IsAStartToo) {
  const bool rigid = GetParam().name == "settle";
  const std::string system = GetParam().system + "\ntemperature_K = 50";
  end_of("first", system, "[observe.final]", kFirst);
  const State state = end_of("second", "state = \"first\"", "", kSecond);
  const State file =
      end_of("file", "file = \"first/final-0001.xyz\"\nvelocities = \"file\"", "", kSecond);
  const std::size_t size = state.coordinates();
  double largest = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    largest = std::max(largest, std::abs(file.positions_A[i] - state.positions_A[size + i]));
  }
  // 1e-15 A, sixty-four steps and some chaos later.
  EXPECT_LE(largest, rigid ? 1e-11 : 0.0);
}

INSTANTIATE_TEST_SUITE_P(Schemes, FinalStructure,
                         ::testing::Values(Case{"zss", "scheme = \"zss-stiff\""},
                                           Case{"settle", "scheme = \"settle\""}),
                         CaseName());

class NoisyStartState : public StartState {};

TEST_P(NoisyStartState, ContinuesWithIndependentNoise) {
  const std::string bath =
      "[thermostat]\nkind = \"baoab\"\ntemperature_K = 50\nfriction_per_ps = 5";
  const std::string system = GetParam().system;
  const State whole = end_of("whole", system, bath, kFirst + kSecond);
  end_of("first", system, bath, kFirst);
  const State second = end_of("second", "state = \"first\"\nseed = 2", bath, kSecond);
  const State again = end_of("again", "state = \"first/checkpoint.bin\"\nseed = 2", bath, kSecond);
  EXPECT_EQ(second.positions_A, again.positions_A);
  EXPECT_NE(second.positions_A, whole.positions_A);
}

INSTANTIATE_TEST_SUITE_P(Schemes, NoisyStartState, ::testing::ValuesIn({cases().front()}),
                         CaseName());

}  // namespace
}  // namespace tarn
