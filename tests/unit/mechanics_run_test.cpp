// Mechanical decks: their files, restarts, failures.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "json_reader.hpp"
#include "rounding.hpp"
#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/mechanics/diagnostics.hpp"
#include "tarn/mechanics/systems.hpp"
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
  options.pictures = false;
  return run_deck(deck, options);
}

std::string contents_of(const Deck& deck) {
  return trajectory_column_text(deck.system.kind, deck.mechanics.integrator.scheme);
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
      const std::string table = test::read_text(scratch.file("out/trajectory.csv"));
      const std::string contents = contents_of(deck);
      EXPECT_TRUE(test::contains(contents, "q: ")) << kind << ' ' << scheme;
      EXPECT_TRUE(test::contains(table.substr(0, table.find('\n')), contents)) << table;
    }
  }
}

/// The first row of a trajectory against the start that its contents name.
TEST(MechanicsRun, ColumnsMatchTheHeader) {
  const auto first_row = [](const std::string& text) {
    const test::ScratchFolder scratch;
    const Deck deck =
        parse_deck(text + "step = 0.01\n[run]\nsteps = 1\n[observe.trajectory]\n", "columns.toml");
    run_into(deck, scratch.file("out"));
    std::vector<double> row = rows_of(scratch.file("out/trajectory.csv")).front();
    row.erase(row.begin(), row.begin() + 2);
    return std::pair(contents_of(deck), row);
  };
  using Row = std::vector<double>;
  const std::string magnet =
      "[system]\nkind = \"magnet\"\nangular_velocity = [1.0, 0.2, 0.5]\n[integrator]\nscheme = ";
  EXPECT_EQ(
      first_row(magnet + "\"cayley-variational-euler\"\n"),
      std::pair(std::string("q: the rotation R, row by row; v: the angular velocity in the body"),
                Row{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0.2, 0.5}));
  EXPECT_EQ(first_row(magnet + "\"so3-linearised\"\n"),
            std::pair(std::string("q: the matrix R, row by row; v: p = R'/2, row by row"),
                      Row{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -0.25, 0.1, 0.25, 0, -0.5, -0.1, 0.5, 0}));
  EXPECT_EQ(first_row("[system]\nkind = \"heavy-top\"\nmomentum = [0, 1, 2, -1, 0, 3, -2, -3, 0]\n"
                      "direction = [0, 0, 1]\n[integrator]\nscheme = \"rattle\"\n"),
            std::pair(std::string("q: the momentum m in the body, row by row; v: the direction of "
                                  "gravity there"),
                      Row{0, 1, 2, -1, 0, 3, -2, -3, 0, 0, 0, 1}));
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

/// One force, Hessian, third derivative and solve a step and at the start. The mean of the
/// penalty's multiplier looks one step ahead; a run that goes on counts its 13 steps, and the start
/// and the one step that it looks ahead from there once more.
TEST(MechanicsRun, RecordsContainTheEvaluations) {
  const test::ScratchFolder scratch;
  const auto counts = [&](const char* folder, const std::vector<std::string>& keys) {
    const test::Json record = test::json_of(test::read_text(scratch.file(folder) + "/run.json"));
    std::vector<double> values;
    for (const std::string& key : keys) values.push_back(record[key].number);
    return values;
  };
  const std::vector<std::string> keys{"counted_steps", "force_evaluations", "hessian_evaluations",
                                      "third_derivative_evaluations", "linear_solves"};
  run_into(input("double-pendulum", {"run.steps=7"}), scratch.file("zs"));
  EXPECT_EQ(counts("zs", keys), (std::vector<double>{8, 9, 9, 9, 9}));
  run_into(input("double-pendulum", {"run.steps=20"}), scratch.file("zs"), true);
  EXPECT_EQ(counts("zs", keys), (std::vector<double>{14, 15, 15, 15, 15}));
  run_into(input("double-spherical-pendulum", {"run.steps=20", "integrator.compose=yoshida4"}),
           scratch.file("rattle"));
  EXPECT_EQ(counts("rattle", {"counted_steps", "force_evaluations", "hessian_evaluations"}),
            (std::vector<double>{20, 61, 0}));
  run_into(input("double-spring"), scratch.file("slow"));
  EXPECT_EQ(counts("slow", {"iterations", "force_evaluations"}), (std::vector<double>{5, 175}));
}

/// The terminal and run.json tell what the rows of conservation.csv hold, also after a restart.
TEST(MechanicsRun, ReportsChangesOfConservedQuantities) {
  const test::ScratchFolder scratch;
  const std::vector<std::string> each{"observe.conservation.every=3"};
  const auto with_steps = [&](const char* steps) {
    std::vector<std::string> set = each;
    set.emplace_back(steps);
    return input("heavy-top", set);
  };
  const RunResult whole = run_into(with_steps("run.steps=600"), scratch.file("whole"));
  run_into(with_steps("run.steps=400"), scratch.file("parts"));
  const RunResult parts = run_into(with_steps("run.steps=600"), scratch.file("parts"), true);
  const io::CsvReader csv(scratch.file("whole/conservation.csv"));
  const auto rows = rows_of(scratch.file("whole/conservation.csv"));
  ASSERT_EQ(rows.size(), 201u);
  ASSERT_EQ(whole.conserved.size(), csv.header().size() - 2);
  for (std::size_t k = 0; k < whole.conserved.size(); ++k) {
    const ConservedQuantity& q = whole.conserved[k];
    EXPECT_EQ(q.name, csv.header()[k + 2]);
    EXPECT_EQ(q.start, rows.front()[k + 2]);
    EXPECT_EQ(q.last_change, rows.back()[k + 2] - q.start);
    double largest = 0.0;
    for (const auto& row : rows) largest = std::max(largest, std::abs(row[k + 2] - q.start));
    EXPECT_EQ(q.largest_change, largest);
    EXPECT_EQ(parts.conserved[k].largest_change, largest);
    EXPECT_EQ(parts.conserved[k].start, q.start);
  }
  EXPECT_EQ(whole.conserved[0].name, "energy");
  EXPECT_GT(whole.conserved[0].largest_change, std::abs(whole.conserved[0].last_change) * 0.99);
  const test::Json record = test::json_of(test::read_text(scratch.file("whole/run.json")));
  const test::Json& energy = record["conserved"].items.at(0);
  EXPECT_EQ(energy["name"].text, "energy");
  EXPECT_EQ(energy["start"].number, whole.conserved[0].start);
  EXPECT_EQ(energy["largest_change"].number, whole.conserved[0].largest_change);
  EXPECT_EQ(energy["last_change"].number, whole.conserved[0].last_change);
  // Without the table there is nothing to tell.
  const Deck deck =
      load_deck(kInputs + "heavy-top.toml", {"run.steps=20"}, {"observe.conservation"});
  EXPECT_TRUE(run_into(deck, scratch.file("none")).conserved.empty());
}

/// Rows with other cells than the header of an older version names would spoil the table.
TEST(MechanicsRun, TablesWithOtherColumnsAreNotGoneOnWith) {
  const test::ScratchFolder scratch;
  run_into(input("heavy-top", {"run.steps=50"}), scratch.file("out"));
  const std::string path = scratch.file("out/conservation.csv");
  std::string text = test::read_text(path);
  const std::size_t at = text.find("momentum_dot_direction");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 8, "spin");
  test::write_text(path, text);
  try {
    run_into(input("heavy-top", {"run.steps=100"}), scratch.file("out"), true);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("its columns differ from those"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(test::read_text(path), text);
  const std::string record = test::read_text(scratch.file("out/run.json"));
  EXPECT_TRUE(test::contains(record, "\"status\": \"failed\"")) << record;
  EXPECT_TRUE(test::contains(record, "its columns differ from those"));
}

TEST(MechanicsRun, DistinguishesRodsFromJoints) {
  const test::ScratchFolder scratch;
  run_into(input("double-spherical-pendulum", {"run.steps=100"}), scratch.file("out"));
  for (const auto& row : rows_of(scratch.file("out/trajectory.csv"))) {
    for (std::size_t rod : {2u, 5u}) {
      // Newton's method ends where coordinates up to 2 round.
      EXPECT_NEAR(std::hypot(row[rod], row[rod + 1], row[rod + 2]), 1.0, test::few_roundings(2.0));
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
    EXPECT_NEAR(rows[k][10], mean[0], test::few_roundings(10.0));
    EXPECT_NEAR(rows[k][11], mean[1], test::few_roundings(10.0));
  }
}

TEST(MechanicsRun, RigidSchemesWriteTheirMultipliers) {
  const test::ScratchFolder scratch;
  const std::string deck =
      "[system]\nkind = \"double-pendulum\"\n[integrator]\nscheme = \"rattle\"\nstep = 0.001\n"
      "[run]\nsteps = 10\n[observe.trajectory]\n[observe.conservation]\n";
  run_into(parse_deck(deck, "rigid.toml"), scratch.file("out"));
  const auto rows = rows_of(scratch.file("out/trajectory.csv"));
  // h²/18 at a start at rest, and rounding over h².
  const double error = 1e-6 / 18.0 + 4.0 * test::kEpsilon / 1e-6;
  EXPECT_NEAR(rows[0][10], 2.0 / 3.0, error);
  EXPECT_NEAR(rows[0][11], 1.0 / 6.0, error);
  for (const auto& row : rows_of(scratch.file("out/conservation.csv"))) {
    EXPECT_LT(row.back(), test::few_roundings(4.0));
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

TEST(MechanicsRun, CheckpointsAtStepZeroAndByTheClock) {
  const test::ScratchFolder scratch;
  std::vector<std::int64_t> steps;
  RunOptions options;
  options.out_dir = scratch.file("parts");
  options.on_checkpoint = [&](std::int64_t step) {
    steps.push_back(step);
    if (step > 0) throw IoError("the disk is gone");
  };
  // Far more steps than a quarter of a second takes.
  std::vector<std::string> set{"observe.trajectory.every=10000", "observe.energies.every=10000",
                               "observe.conservation.every=10000", "checkpoint.every_minutes=1e-9",
                               "run.steps=1000000000"};
  EXPECT_THROW(run_deck(input("double-pendulum", set), options), IoError);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0], 0);
  set.back() = "run.steps=" + std::to_string(steps[1] + 1000);
  run_into(input("double-pendulum", set), scratch.file("parts"), true);
  run_into(input("double-pendulum", set), scratch.file("whole"));
  auto parts = test::contents_of(scratch.file("parts"));
  auto whole = test::contents_of(scratch.file("whole"));
  for (auto* files : {&parts, &whole}) files->erase("run.json");
  EXPECT_EQ(parts, whole);
}

TEST(MechanicsRun, BlowUpIsAnErrorThatNamesTheStep) {
  const test::ScratchFolder scratch;
  const Deck deck = input("double-pendulum", {"integrator.omega=40"});
  const std::string message =
      test::message_of<NumericalError>([&] { run_into(deck, scratch.file("out")); });
  EXPECT_NE(message.find("\"zs\" failed at step 8"), std::string::npos) << message;
  EXPECT_TRUE(test::contains(message, " or a smaller product of omega and step")) << message;
  const auto rows = rows_of(scratch.file("out/trajectory.csv"));
  EXPECT_GT(rows.size(), 70u);
  for (const auto& row : rows) {
    for (double value : row) EXPECT_LT(std::abs(value), 1e7);
  }
  const std::string record = test::read_text(scratch.file("out/run.json"));
  EXPECT_TRUE(record.starts_with("{\n  \"status\": \"failed\"")) << record;
  EXPECT_EQ(record.find("\"wall_seconds\": 0,"), std::string::npos) << record;
  EXPECT_EQ(record.find("\"steps_per_second\": 0,"), std::string::npos) << record;
  EXPECT_NE(record.find("\"seed\": null"), std::string::npos) << record;
  // The state before the step that failed, in a table and a checkpoint; and the pictures.
  EXPECT_NE(message.find("; the last good state is in '" + scratch.file("out/blow-up-0000.csv")),
            std::string::npos)
      << message;
  EXPECT_EQ(rows_of(scratch.file("out/blow-up-0000.csv")),
            std::vector<std::vector<double>>{rows.back()});
  const test::ScratchFolder until;
  const auto last = static_cast<int>(rows.back()[0]);
  run_into(input("double-pendulum", {"integrator.omega=40", "run.steps=" + std::to_string(last)}),
           until.file("out"));
  EXPECT_EQ(test::read_text(until.file("out/checkpoint.bin")),
            test::read_text(scratch.file("out/checkpoint.bin")));
  EXPECT_EQ(test::message_of<NumericalError>([&] { run_into(deck, scratch.file("out"), true); }),
            message);
}

TEST(MechanicsRun, OverwritingTakesTheStateBeforeABlowUpAway) {
  const test::ScratchFolder scratch;
  RunOptions options;
  options.out_dir = scratch.file("out");
  EXPECT_THROW(run_deck(input("magnet", {"integrator.omega=1000"}), options), NumericalError);
  EXPECT_TRUE(std::filesystem::exists(scratch.file("out/blow-up-0000.csv")));
  options.overwrite = true;
  run_deck(input("magnet", {"run.steps=3"}), options);
  EXPECT_FALSE(std::filesystem::exists(scratch.file("out/blow-up-0000.csv")));
}

TEST(MechanicsRun, AFailureOfAnyKindIsRecorded) {
  const test::ScratchFolder scratch;
  RunOptions options;
  options.out_dir = scratch.file("out");
  options.on_start = [](const RunStart&) { throw std::bad_alloc(); };
  EXPECT_THROW(run_deck(input("double-pendulum"), options), std::bad_alloc);
  const std::string record = test::read_text(scratch.file("out/run.json"));
  EXPECT_TRUE(record.starts_with("{\n  \"status\": \"failed\"")) << record;
  EXPECT_TRUE(test::contains(record, "not enough memory"));
}

TEST(MechanicsRun, SystemsOnManifoldsKeepTheStateBeforeTheBlowUp) {
  const test::ScratchFolder scratch;
  EXPECT_THROW(run_into(input("magnet", {"integrator.omega=1000"}), scratch.file("out")),
               NumericalError);
  const auto rows = rows_of(scratch.file("out/trajectory.csv"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows_of(scratch.file("out/blow-up-0000.csv")),
            std::vector<std::vector<double>>{rows.back()});
}

TEST(MechanicsRun, RecordsOmegaForPenaltiesOnly) {
  const test::ScratchFolder scratch;
  const std::string message = test::message_of<NumericalError>([&] {
    run_into(parse_deck("[system]\nkind = \"dna\"\n[integrator]\nscheme = \"verlet\"\nstep = 3\n"
                        "[run]\nsteps = 1000\n",
                        "dna.toml"),
             scratch.file("out"));
  });
  EXPECT_TRUE(test::contains(message, "it blew up")) << message;
  EXPECT_TRUE(test::contains(message, "Try a smaller step")) << message;
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
  EXPECT_NE(message.find("the last relative change was"), std::string::npos) << message;
  EXPECT_NE(message.find("failed at step"), std::string::npos) << message;
}

TEST(MechanicsRun, RigidSchemesRefuseAStartOffTheConstraints) {
  const Deck deck = parse_deck(
      "[system]\nkind = \"double-pendulum\"\nposition = [0, -1, 1, -2.1]\n"
      "velocity = [0, 1, 0, 1]\n[integrator]\nscheme = \"rattle\"\nstep = 0.1\n[run]\nsteps = 1\n",
      "off.toml");
  const std::string message = test::message_of<InputError>([&] { check_mechanics(deck); });
  EXPECT_NE(message.find("position violates constraint 2"), std::string::npos) << message;
  EXPECT_NE(message.find("velocity violates constraint 1"), std::string::npos) << message;
}

TEST(MechanicsRun, VariationalSchemesRefuseAVelocityOffTheSphere) {
  const auto deck = [](const std::string& velocity) {
    return parse_deck(
        "[system]\nkind = \"spherical-pendulum\"\nposition = [0, 0.6, -0.8]\n"
        "velocity = " +
            velocity +
            "\n[integrator]\nscheme = \"variational-of:rk2\"\nstep = 0.02\n"
            "[run]\nsteps = 1\n",
        "sphere.toml");
  };
  const std::string message =
      test::message_of<InputError>([&] { check_mechanics(deck("[0.5, 0.3, 0.3]")); });
  EXPECT_TRUE(test::contains(message, "velocity violates constraint 1 (its rate is -0.12"))
      << message;
  EXPECT_NO_THROW(check_mechanics(deck("[0.5, 0.4, 0.3]")));
}

TEST(MechanicsRun, DirectionsOfATopHaveLengthOne) {
  const auto top = [](const std::string& more) {
    return parse_deck("[system]\nkind = \"heavy-top\"\n" + more +
                          "[integrator]\nscheme = \"rattle\"\nstep = 0.05\n[run]\nsteps = 1\n",
                      "top.toml");
  };
  const std::string message =
      test::message_of<InputError>([&] { top("chi = [0, 0, 2]\ndirection = [0, 1, 1e-4]\n"); });
  EXPECT_TRUE(test::contains(message, "chi has the length 2; expected a unit vector")) << message;
  EXPECT_TRUE(test::contains(message, "direction has the length 1.000000005;")) << message;
  EXPECT_NO_THROW(top("chi = [0, 0.6, 0.8]\ndirection = [0.5, 0.5, 0.7071067812]\n"));
}

// Without a position the start is the paper's, along rods of the given lengths.
TEST(MechanicsRun, OtherLengthsStartOnTheConstraints) {
  const auto start = [](const std::string& system) {
    const test::ScratchFolder scratch;
    const Deck deck =
        parse_deck("[system]\n" + system +
                       "[integrator]\nscheme = \"rattle\"\nstep = 0.01\n[run]\nsteps = 1\n"
                       "[observe.trajectory]\n",
                   "lengths.toml");
    run_into(deck, scratch.file("out"));  // RATTLE refuses a start off the constraints
    std::vector<double> row = rows_of(scratch.file("out/trajectory.csv")).front();
    row.erase(row.begin(), row.begin() + 2);
    return row;
  };
  const std::vector<double> chain =
      start("kind = \"pendulum-chain\"\nn = 3\nlengths = [1, 2, 3]\n");
  for (std::size_t k = 0; k < 3; ++k) {
    const double along = std::array{1.0, 3.0, 6.0}[k] / std::sqrt(5.0);
    EXPECT_NEAR(chain[2 * k], along, 4e-15);  // a few roundings of numbers below 8
    EXPECT_NEAR(chain[2 * k + 1], -2.0 * along, 4e-15);
  }
  start("kind = \"double-pendulum\"\nlengths = [2, 0.5]\n");
  start("kind = \"double-spherical-pendulum\"\nlengths = [2, 0.5]\n");
  EXPECT_EQ(start("kind = \"double-pendulum\"\nlengths = [1, 1.4142135623730951]\n"),
            start("kind = \"double-pendulum\"\n"));
}

TEST(MechanicsRun, SingularConstraintsAreAnError) {
  // A pendulum that hangs where it is hung has no direction.
  const std::string run = "step = 0.1\n[run]\nsteps = 1\n";
  for (const std::string& text : {"[system]\nkind = \"spherical-pendulum\"\nposition = [0, 0, 0]\n"
                                  "[integrator]\nscheme = \"variational-of:rk4\"\n" +
                                      run,
                                  "[system]\nkind = \"spherical-pendulum\"\nposition = [0, 0, 0]\n"
                                  "[integrator]\nscheme = \"rattle\"\n" +
                                      run}) {
    const test::ScratchFolder scratch;
    const std::string message = test::message_of<InputError>(
        [&] { run_into(parse_deck(text, "singular.toml"), scratch.file("out")); });
    EXPECT_NE(message.find("singular.toml: the constraints are singular at the start: the "
                           "gradient of constraint 1 is zero"),
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

TEST(MechanicsRun, DeviceAndThreadsAreTaken) {
  for (const char* device : {"auto", "cpu"}) {
    const test::ScratchFolder scratch;
    const Deck deck = input("double-pendulum",
                            {"run.steps=3", std::string("run.device=") + device, "run.threads=2"});
    EXPECT_EQ(physics_fingerprint(deck), physics_fingerprint(input("double-pendulum")));
    EXPECT_EQ(parse_deck(resolved_deck(deck), deck.path), deck);
    EXPECT_EQ(run_into(deck, scratch.file("out")).device, "cpu");
  }
  const std::string message =
      test::message_of<InputError>([] { input("double-pendulum", {"run.device=cuda"}); });
  EXPECT_TRUE(test::contains(message, "mechanical systems run on the CPU")) << message;
}

TEST(MechanicsRun, CheckedDecksHoldTheInitialData) {
  const std::map<std::string, std::string> keys{
      {"double-pendulum", "masses lengths position velocity"},
      {"pendulum-chain", "masses lengths position velocity"},
      {"dna", "velocity"},
      {"three-body-plane", "position velocity"},
      {"magnet", "rotation angular_velocity"},
      {"double-spring", "position velocity"},
      {"free-body", "alpha rotation momentum"},
      {"heavy-top", "alpha chi momentum direction"},
      {"double-spherical-pendulum", "masses lengths position velocity"},
      {"spherical-pendulum", "position velocity"}};
  for (const std::string& name : kDecks) {
    const test::ScratchFolder scratch;
    std::vector<std::string> set;
    if (name != "double-spring") set.push_back("run.steps=20");
    const Deck deck = input(name, set);
    const std::string text = resolved_deck(check_mechanics(deck));
    std::istringstream names(keys.at(name));
    for (std::string key; names >> key;) {
      EXPECT_NE(text.find('\n' + key + " = ["), std::string::npos) << name << ' ' << key << text;
    }
    // It reads back as the same run.
    const Deck again = parse_deck(text, "again.toml");
    EXPECT_EQ(resolved_deck(check_mechanics(again)), text) << name;
    run_into(deck, scratch.file("given"));
    run_into(again, scratch.file("again"));
    EXPECT_EQ(rows_of(scratch.file("given/trajectory.csv")),
              rows_of(scratch.file("again/trajectory.csv")))
        << name;
    const std::string record = test::read_text(scratch.file("given/run.json"));
    EXPECT_NE(record.find("velocity = [") == std::string::npos,
              record.find("momentum = [") == std::string::npos)
        << name;
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
    EXPECT_NEAR(start[2 + k], 0.8 + 0.1 * number, test::few_roundings());
    EXPECT_NEAR(start[6 + k], std::cos(std::acos(-1.0) * number) / 2.0, test::few_roundings());
  }
  EXPECT_EQ(io::CsvReader(dna.file("out/energies.csv")).header().back(), "theta_bar");
  EXPECT_NEAR(rows_of(dna.file("out/energies.csv"))[0].back(), 1.05, 1e-14);  // the mean angle
}

}  // namespace
}  // namespace tarn
