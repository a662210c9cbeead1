// Mechanical decks: their files, restarts, failures.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/mechanics/diagnostics.hpp"
#include "tarn/mechanics/systems.hpp"
#include "tarn/observe/pictures.hpp"
#include "tarn/run.hpp"

namespace tarn {
namespace {

const std::string kInputs = TARN_SOURCE_DIR "/inputs/";

Deck input(const std::string& name, const std::vector<std::string>& set = {}) {
  return load_deck(kInputs + name + ".toml", set);
}

RunResult run_into(const Deck& deck, const std::string& folder, bool resume = false) {
  RunOptions options;
  options.out_dir = folder;
  options.resume = resume;
  return run_deck(deck, options);
}

/// All rows of a table as numbers.
std::vector<std::vector<double>> rows_of(const std::string& path) {
  io::CsvReader csv(path);
  std::vector<std::vector<double>> rows;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    std::vector<double>& row = rows.emplace_back();
    for (std::string_view cell : cells) row.push_back(csv.number(cell));
  }
  return rows;
}

const std::vector<std::string> kDecks{
    "double-pendulum",   "pendulum-chain", "dna",
    "three-body-plane",  "magnet",         "double-spring",
    "free-body",         "heavy-top",      "double-spherical-pendulum",
    "spherical-pendulum"};

TEST(MechanicsRun, EveryDeckRuns) {
  for (const std::string& name : kDecks) {
    const test::ScratchFolder scratch;
    const bool projects = name == "double-spring";
    std::vector<std::string> set;
    if (!projects) set = {"run.steps=20"};
    const RunResult result = run_into(input(name, set), scratch.file("out"));
    EXPECT_EQ(result.steps_done, projects ? 5 : 20) << name;
    EXPECT_GE(rows_of(scratch.file("out/trajectory.csv")).size(), 3u) << name;
    const Deck deck = input(name);
    EXPECT_EQ(parse_deck(resolved_deck(deck), deck.path), deck) << name;
  }
}

TEST(MechanicsRun, EveryKindResumesExactly) {
  for (const std::string& name : kDecks) {
    if (name == "double-spring") continue;
    const test::ScratchFolder scratch;
    run_into(input(name, {"run.steps=20"}), scratch.file("whole"));
    run_into(input(name, {"run.steps=7"}), scratch.file("parts"));
    run_into(input(name, {"run.steps=20"}), scratch.file("parts"), true);
    for (const char* file : {"trajectory.csv", "checkpoint.bin"}) {
      EXPECT_EQ(test::read_text(scratch.file("whole/") + file),
                test::read_text(scratch.file("parts/") + file))
          << name << ' ' << file;
    }
  }
}

TEST(MechanicsRun, SchemesOfEachKindStart) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> kinds{
      {"magnet", {"so3-linearised", "cayley-variational-euler"}},
      {"double-spring", {"rattle", "verlet", "rk4", "rk4-projected"}},
      {"free-body", {"moser-veselov"}},
      {"heavy-top", {"rattle", "constrained-euler"}},
      {"double-spherical-pendulum", {"rattle", "midpoint", "midpoint-hamilton"}},
      {"spherical-pendulum",
       {"variational-of:euler", "variational-of:rk2", "variational-of:rk4", "rattle"}},
      {"dna", {"verlet", "zs", "zss", "newmark", "pushforward-newmark"}},
      {"three-body-plane",
       {"verlet", "zs", "zss", "zss-stiff", "pushforward-newmark", "newmark", "newmark-one-step",
        "variational-euler", "midpoint", "shake", "rattle"}}};
  for (const auto& [kind, schemes] : kinds) {
    for (const std::string& scheme : schemes) {
      const test::ScratchFolder scratch;
      const Deck deck =
          parse_deck("[system]\nkind = \"" + kind + "\"\n" + "[integrator]\nscheme = \"" + scheme +
                         "\"\nstep = 0.0005\n[run]\nsteps = 3\n"
                         "[observe.trajectory]\n[observe.conservation]\n",
                     "kind.toml");
      EXPECT_EQ(run_into(deck, scratch.file("out")).steps_done, 3) << kind << ' ' << scheme;
    }
  }
}

TEST(MechanicsRun, ProjectionWritesItsIterates) {
  const test::ScratchFolder scratch;
  run_into(input("double-spring"), scratch.file("out"));
  io::CsvReader csv(scratch.file("out/iterations.csv"));
  EXPECT_EQ(csv.header(), (std::vector<std::string>{"iteration", "g1", "g2", "gdot1", "gdot2"}));
  const auto rows = rows_of(scratch.file("out/iterations.csv"));
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_NEAR(rows[0][1], 3.08e-2, 1e-4);  // the input
  EXPECT_NEAR(rows[5][1], 1.01e-6, 1e-8);
}

TEST(MechanicsRun, RodsAreToldFromTheirJoints) {
  const test::ScratchFolder scratch;
  run_into(input("double-spherical-pendulum", {"run.steps=100"}), scratch.file("out"));
  for (const auto& row : rows_of(scratch.file("out/trajectory.csv"))) {
    for (std::size_t rod : {2u, 5u}) {
      EXPECT_NEAR(std::hypot(row[rod], row[rod + 1], row[rod + 2]), 1.0, 1e-13);
    }
  }
}

TEST(MechanicsRun, TrajectoryIsThatOfTheMethod) {
  const test::ScratchFolder scratch;
  run_into(input("double-pendulum", {"run.steps=30"}), scratch.file("out"));
  io::CsvReader csv(scratch.file("out/trajectory.csv"));
  EXPECT_EQ(csv.header(), (std::vector<std::string>{"step", "time", "q0", "q1", "q2", "q3", "v0",
                                                    "v1", "v2", "v3", "lambda0", "lambda1"}));
  const auto rows = rows_of(scratch.file("out/trajectory.csv"));
  const mechanics::Experiment p = mechanics::make_pendula(mechanics::double_pendulum(), 20.0);
  mechanics::Zs method(p.whole(), 0.1, 0.4);
  mechanics::State s = mechanics::advanced(method, p.position, p.velocity, 0);
  std::vector<mechanics::Vector> penalty;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    EXPECT_EQ(rows[k][0], static_cast<double>(k));
    EXPECT_EQ(rows[k][1], static_cast<double>(k) * 0.1);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(rows[k][2 + i], s.x[static_cast<mechanics::Index>(i)]);
      EXPECT_EQ(rows[k][6 + i], s.v[static_cast<mechanics::Index>(i)]);
    }
    penalty.push_back(400.0 * p.constraint->values(s.x));
    method.step(s);
  }
  // The window of 0.2 is two steps wide; the first has one side only. The sums round differently.
  for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
    const mechanics::Vector mean =
        k == 0
            ? mechanics::Vector(0.5 * (penalty[0] + penalty[1]))
            : mechanics::Vector(0.25 * penalty[k - 1] + 0.5 * penalty[k] + 0.25 * penalty[k + 1]);
    EXPECT_NEAR(rows[k][10], mean[0], 1e-13);
    EXPECT_NEAR(rows[k][11], mean[1], 1e-13);
  }
}

TEST(MechanicsRun, RigidSchemesWriteTheirMultipliers) {
  const test::ScratchFolder scratch;
  const std::string deck =
      "[system]\nkind = \"double-pendulum\"\n[integrator]\nscheme = \"rattle\"\nstep = 0.001\n"
      "[run]\nsteps = 10\n[observe.trajectory]\n[observe.conservation]\n";
  run_into(parse_deck(deck, "rigid.toml"), scratch.file("out"));
  const auto rows = rows_of(scratch.file("out/trajectory.csv"));
  EXPECT_NEAR(rows[0][10], 2.0 / 3.0, 1e-6);
  EXPECT_NEAR(rows[0][11], 1.0 / 6.0, 1e-6);
  for (const auto& row : rows_of(scratch.file("out/conservation.csv"))) {
    EXPECT_LT(row.back(), 1e-13);
  }
}

TEST(MechanicsRun, ResumedRunEqualsTheWhole) {
  const std::vector<std::string> schemes{"verlet",
                                         "zs",
                                         "zss-stiff",
                                         "pushforward-newmark",
                                         "newmark",
                                         "newmark-one-step",
                                         "variational-euler",
                                         "midpoint",
                                         "shake",
                                         "rattle"};
  for (const std::string& scheme : schemes) {
    const test::ScratchFolder scratch;
    const auto deck = [&](int steps) {
      return parse_deck("[system]\nkind = \"pendulum-chain\"\nn = 3\n[integrator]\nscheme = \"" +
                            scheme + "\"\nstep = 0.01\n[run]\nsteps = " + std::to_string(steps) +
                            "\n[observe.trajectory]\nevery = 3\n[observe.energies]\n",
                        "chain.toml");
    };
    run_into(deck(60), scratch.file("whole"));
    run_into(deck(25), scratch.file("parts"));
    run_into(deck(60), scratch.file("parts"), true);
    auto whole = test::contents_of(scratch.file("whole"));
    auto parts = test::contents_of(scratch.file("parts"));
    whole.erase("run.json");
    parts.erase("run.json");
    EXPECT_EQ(whole, parts) << scheme;
    EXPECT_TRUE(run_into(deck(60), scratch.file("parts"), true).already_finished);
    EXPECT_THROW(run_into(deck(30), scratch.file("parts"), true), InputError);
  }
}

TEST(MechanicsRun, BlowUpIsAnErrorThatNamesTheStep) {
  const test::ScratchFolder scratch;
  const Deck deck = input("double-pendulum", {"integrator.omega=40"});
  const std::string message =
      test::message_of<NumericalError>([&] { run_into(deck, scratch.file("out")); });
  EXPECT_NE(message.find("\"zs\" failed at step 8"), std::string::npos) << message;
  const auto rows = rows_of(scratch.file("out/trajectory.csv"));
  EXPECT_GT(rows.size(), 70u);
  for (const auto& row : rows) {
    for (double value : row) EXPECT_LT(std::abs(value), 1e7);
  }
  EXPECT_TRUE(
      test::read_text(scratch.file("out/run.json")).starts_with("{\n  \"status\": \"failed\""));
}

TEST(MechanicsRun, NoConvergenceIsAnErrorWithStepAndResidual) {
  const test::ScratchFolder scratch;
  const Deck deck = parse_deck(
      "[system]\nkind = \"double-pendulum\"\n[integrator]\nscheme = \"shake\"\nstep = 3.0\n"
      "[run]\nsteps = 1000\n[observe.trajectory]\n",
      "coarse.toml");
  const std::string message =
      test::message_of<NumericalError>([&] { run_into(deck, scratch.file("out")); });
  EXPECT_NE(message.find("did not converge"), std::string::npos) << message;
  EXPECT_NE(message.find("the last change, relative, was"), std::string::npos) << message;
  EXPECT_NE(message.find("failed at step"), std::string::npos) << message;
}

TEST(MechanicsRun, RigidSchemesRefuseAStartOffTheConstraints) {
  const Deck deck = parse_deck(
      "[system]\nkind = \"double-pendulum\"\nposition = [0, -1, 1, -2.1]\n"
      "velocity = [0, 1, 0, 1]\n[integrator]\nscheme = \"rattle\"\nstep = 0.1\n[run]\nsteps = 1\n",
      "off.toml");
  const std::string message = test::message_of<InputError>([&] { check_mechanics(deck); });
  EXPECT_NE(message.find("position does not keep constraint 2"), std::string::npos) << message;
  EXPECT_NE(message.find("velocity does not keep constraint 1"), std::string::npos) << message;
}

TEST(MechanicsRun, SingularConstraintsAreAnError) {
  // A rod whose square underflows has no direction; nor has a pendulum that hangs where it is hung.
  const std::string run = "step = 0.1\n[run]\nsteps = 1\n";
  for (const std::string& text :
       {"[system]\nkind = \"double-pendulum\"\nlengths = [1e-300, 1]\nposition = [0, 0, 1, 0]\n"
        "[integrator]\nscheme = \"rattle\"\n" +
            run,
        "[system]\nkind = \"spherical-pendulum\"\nposition = [0, 0, 0]\n"
        "[integrator]\nscheme = \"variational-of:rk4\"\n" +
            run,
        "[system]\nkind = \"spherical-pendulum\"\nposition = [0, 0, 0]\n"
        "[integrator]\nscheme = \"rattle\"\n" +
            run}) {
    const test::ScratchFolder scratch;
    const std::string message = test::message_of<InputError>(
        [&] { run_into(parse_deck(text, "singular.toml"), scratch.file("out")); });
    EXPECT_NE(message.find("singular.toml: the constraints are singular at the start: constraint 1 "
                           "has no gradient there"),
              std::string::npos)
        << message;
    EXPECT_FALSE(std::filesystem::exists(scratch.file("out")));
  }
}

// The projection of a start that is too far off says so and writes nothing.
TEST(MechanicsRun, ProjectionThatDoesNotSettleWritesNothing) {
  const test::ScratchFolder scratch;
  const Deck deck = parse_deck(
      "[system]\nkind = \"double-spring\"\nposition = [0, 0, 0, 0]\n[integrator]\n"
      "scheme = \"slow-manifold\"\n",
      "far.toml");
  const std::string message =
      test::message_of<NumericalError>([&] { run_into(deck, scratch.file("out")); });
  EXPECT_NE(message.find("blew up in iteration 1"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(scratch.file("out")));
}

TEST(MechanicsRun, PicturesCanBeDrawnAgain) {
  if (!io::can_draw()) GTEST_SKIP() << "gnuplot is not installed";
  for (const std::string& name : kDecks) {
    const test::ScratchFolder scratch;
    std::vector<std::string> set{"observe.conservation.every=1"};
    if (name != "double-spring") set.push_back("run.steps=20");
    const std::string folder = scratch.file("out");
    const std::vector<std::string> pictures = run_into(input(name, set), folder).pictures;
    EXPECT_FALSE(pictures.empty()) << name;
    std::map<std::string, std::string> drawn;
    for (const std::string& path : pictures) {
      drawn[path] = test::read_text(path);
      if (path.ends_with("trajectory.svg")) {
        // A projection takes no time.
        EXPECT_EQ(test::contains(drawn[path], "iteration"), name == "double-spring") << name;
        EXPECT_TRUE(test::contains(drawn[path], "position")) << name;
      }
      std::filesystem::remove(path);
    }
    EXPECT_EQ(draw_run(folder).paths, pictures) << name;
    for (const auto& [path, picture] : drawn) EXPECT_TRUE(test::read_text(path) == picture) << path;
  }
}

TEST(MechanicsRun, GivenDataReplaceThePapers) {
  const test::ScratchFolder scratch;
  const Deck deck = parse_deck(
      "[system]\nkind = \"pendulum-chain\"\nn = 1\nmasses = [2]\nlengths = [2]\ngravity = 8.0\n"
      "position = [0.02, -2]\nvelocity = [0, 0]\n"
      "[integrator]\nscheme = \"verlet\"\nstep = 0.001\nomega = 50\n[run]\nduration = 1.5\n"
      "[observe.trajectory]\nevery = 1500\n",
      "one.toml");
  run_into(deck, scratch.file("out"));
  // A small swing with √(gravity/length) = 2; the penalty gives way by some 1e-3 of the length.
  const auto rows = rows_of(scratch.file("out/trajectory.csv"));
  EXPECT_NEAR(rows.back()[2], 0.02 * std::cos(2.0 * 1.5), 1e-4);
  const test::ScratchFolder dna;
  run_into(parse_deck("[system]\nkind = \"dna\"\nn = 4\nxi = [1, 2, 3, 4]\n[integrator]\n"
                      "scheme = \"zs\"\nstep = 0.1\n[run]\nsteps = 0\n[observe.trajectory]\n"
                      "[observe.energies]\n",
                      "dna.toml"),
           dna.file("out"));
  const auto start = rows_of(dna.file("out/trajectory.csv"))[0];
  for (std::size_t k = 0; k < 4; ++k) {
    const double number = static_cast<double>(k + 1);
    EXPECT_NEAR(start[2 + k], 0.8 + 0.1 * number, 1e-15);
    EXPECT_NEAR(start[6 + k], std::cos(std::acos(-1.0) * number) / 2.0, 1e-15);
  }
  EXPECT_NEAR(rows_of(dna.file("out/energies.csv"))[0].back(), 1.05, 1e-14);  // the mean angle
}

}  // namespace
}  // namespace tarn
