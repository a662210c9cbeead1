// Decks of the papers' systems: their files, messages and failures, and the program tarn-papers.
#include "papers/run.hpp"

#include "command.hpp"
#include "deck/checker.hpp"
#include "json_reader.hpp"
#include "papers/case.hpp"
#include "papers/methods.hpp"
#include "papers/systems.hpp"
#include "tarn/io/csv.hpp"
#include "testing.hpp"

namespace tarn::papers {
namespace {

using namespace test;

const std::string kInputs = TARN_SOURCE_DIR "/inputs/papers/";

PaperDeck input(const std::string& name, const std::vector<std::string>& set = {}) {
  return load_deck(kInputs + name + ".toml", set);
}

std::string run_into(const PaperDeck& deck, const std::string& folder, bool overwrite = false) {
  return run_deck(deck, {.out_dir = folder, .overwrite = overwrite, .pictures = false});
}

std::string contents_of(const PaperDeck& deck) {
  return trajectory_column_text(deck.system.kind, deck.own.integrator.scheme);
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

Json record_of(const std::string& folder) { return json_of(read_text(folder + "/run.json")); }

/// A string of a JSON file with its line ends and quotes.
std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') ++i;
    result += text[i] == 'n' && i > 0 && text[i - 1] == '\\' ? '\n' : text[i];
  }
  return result;
}

/// A run into a folder of its own.
class PaperRun : public ::testing::Test {
 protected:
  std::string run(const PaperDeck& deck) { return run_into(deck, scratch_.file("out")); }
  std::vector<std::vector<double>> rows(const std::string& table) const {
    return rows_of(scratch_.file("out/" + table + ".csv"));
  }
  Json record() const { return record_of(scratch_.file("out")); }

  const ScratchFolder scratch_;
};
using PapersProgram = PaperRun;

// The record contains the deck with the start, which reads back as the same run.
TEST_F(PaperRun, EveryDeckRuns) {
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
  ASSERT_EQ(keys.size(), system_kinds().size());
  for (const auto& [name, given] : keys) {
    const ScratchFolder scratch;
    const bool projects = name == "double-spring";
    std::vector<std::string> set;
    if (!projects) set = {"run.steps=20"};
    run_into(input(name, set), scratch.file("out"));
    const Json record = record_of(scratch.file("out"));
    EXPECT_EQ(record["status"].text, "finished");
    EXPECT_EQ(record["steps_done"].number, projects ? 5 : 20) << name;
    EXPECT_GE(rows_of(scratch.file("out/trajectory.csv")).size(), 3u) << name;
    const std::string text = unescaped(record["deck"].text);
    std::istringstream names(given);
    for (std::string key; names >> key;) {
      EXPECT_TRUE(contains(text, '\n' + key + " = [")) << name << ' ' << key << text;
    }
    run_into(parse_deck(text, "again.toml"), scratch.file("again"));
    EXPECT_EQ(unescaped(record_of(scratch.file("again"))["deck"].text), text) << name;
    EXPECT_EQ(rows_of(scratch.file("out/trajectory.csv")),
              rows_of(scratch.file("again/trajectory.csv")))
        << name;
  }
}

TEST_F(PaperRun, SchemesOfEachKindStart) {
  for (const SystemKind& kind : system_kinds()) {
    for (const std::string_view scheme : kind.schemes) {
      if (scheme == "slow-manifold") continue;
      const ScratchFolder scratch;
      const PaperDeck deck = parse_deck(
          "[system]\nkind = \"" + std::string(kind.name) + "\"\n[integrator]\nscheme = \"" +
              std::string(scheme) +
              "\"\nstep = 0.0005\n[run]\nsteps = 3\n[observe.trajectory]\n[observe.conservation]\n",
          "kind.toml");
      run_into(deck, scratch.file("out"));
      EXPECT_EQ(rows_of(scratch.file("out/conservation.csv")).size(), 4u) << kind.name << scheme;
      const std::string table = read_text(scratch.file("out/trajectory.csv"));
      const std::string contents = contents_of(deck);
      EXPECT_TRUE(contains(contents, "q: ")) << kind.name << ' ' << scheme;
      EXPECT_TRUE(contains(table.substr(0, table.find('\n')), contents)) << table;
    }
  }
}

/// The first row of a trajectory against the start that its contents name.
TEST_F(PaperRun, ColumnsMatchTheHeader) {
  const auto first_row = [](const std::string& text) {
    const ScratchFolder scratch;
    const PaperDeck deck =
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

TEST_F(PaperRun, ProjectionWritesItsIterates) {
  run(input("double-spring"));
  io::CsvReader csv(scratch_.file("out/iterations.csv"));
  EXPECT_EQ(csv.header(), (std::vector<std::string>{"iteration", "g1", "g2", "gdot1", "gdot2"}));
  const auto all = rows("iterations");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_NEAR(all[0][1], 3.08e-2, 1e-4);  // the input
  EXPECT_NEAR(all[5][1], 1.01e-6, 1e-8);
}

TEST_F(PaperRun, DistinguishesRodsFromJoints) {
  run(input("double-spherical-pendulum", {"run.steps=100"}));
  for (const auto& row : rows("trajectory")) {
    for (std::size_t rod : {2u, 5u}) {
      // Newton's method ends where coordinates up to 2 round.
      EXPECT_NEAR(std::hypot(row[rod], row[rod + 1], row[rod + 2]), 1.0, few_roundings(2.0));
    }
  }
}

TEST_F(PaperRun, TrajectoryIsThatOfTheMethod) {
  run(input("double-pendulum", {"run.steps=30"}));
  io::CsvReader csv(scratch_.file("out/trajectory.csv"));
  EXPECT_EQ(csv.header(), (std::vector<std::string>{"step", "time", "q0", "q1", "q2", "q3", "v0",
                                                    "v1", "v2", "v3", "lambda0", "lambda1"}));
  const auto all = rows("trajectory");
  const Experiment p = make_pendula(double_pendulum(), 20.0);
  Zs method(p.whole(), 0.1, 0.4);
  State s = advanced(method, p.position, p.velocity, 0);
  std::vector<Vector> penalty;
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(all[k][0], static_cast<double>(k));
    EXPECT_EQ(all[k][1], static_cast<double>(k) * 0.1);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(all[k][2 + i], s.x[static_cast<Index>(i)]);
      EXPECT_EQ(all[k][6 + i], s.v[static_cast<Index>(i)]);
    }
    penalty.push_back(400.0 * p.constraint->values(s.x));
    method.step(s);
  }
  // The window of 0.2 is two steps wide; the first has one side only. The sums round differently.
  for (std::size_t k = 0; k + 1 < all.size(); ++k) {
    const Vector mean =
        k == 0 ? Vector(0.5 * (penalty[0] + penalty[1]))
               : Vector(0.25 * penalty[k - 1] + 0.5 * penalty[k] + 0.25 * penalty[k + 1]);
    EXPECT_NEAR(all[k][10], mean[0], few_roundings(10.0));
    EXPECT_NEAR(all[k][11], mean[1], few_roundings(10.0));
  }
}

TEST_F(PaperRun, RigidSchemesWriteTheirMultipliers) {
  const std::string deck =
      "[system]\nkind = \"double-pendulum\"\n[integrator]\nscheme = \"rattle\"\nstep = 0.001\n"
      "[run]\nsteps = 10\n[observe.trajectory]\n[observe.conservation]\n";
  run(parse_deck(deck, "rigid.toml"));
  const auto all = rows("trajectory");
  // h²/18 at a start at rest, and rounding over h².
  const double error = 1e-6 / 18.0 + 4.0 * kEpsilon / 1e-6;
  EXPECT_NEAR(all[0][10], 2.0 / 3.0, error);
  EXPECT_NEAR(all[0][11], 1.0 / 6.0, error);
  for (const auto& row : rows("conservation")) {
    EXPECT_LT(row.back(), few_roundings(4.0));
  }
}

TEST_F(PaperRun, SystemsOnManifoldsKeepTheStateBeforeTheBlowUp) {
  EXPECT_THROW(run(input("magnet", {"integrator.omega=1000"})), NumericalError);
  const auto all = rows("trajectory");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(rows("blow-up-0000"), std::vector<std::vector<double>>{all.back()});
}

TEST_F(PaperRun, RecordsOmegaForPenaltiesOnly) {
  expect_throws<NumericalError>({"it blew up", "Try a smaller step"}, [&] {
    run_into(parse_deck("[system]\nkind = \"dna\"\n[integrator]\nscheme = \"verlet\"\nstep = 3\n"
                        "[run]\nsteps = 1000\n",
                        "dna.toml"),
             scratch_.file("out"));
  });
}

TEST_F(PaperRun, NoConvergenceIsAnErrorWithStepAndResidual) {
  const PaperDeck deck = parse_deck(
      "[system]\nkind = \"double-pendulum\"\n[integrator]\nscheme = \"shake\"\nstep = 3.0\n"
      "[run]\nsteps = 1000\n[observe.trajectory]\n",
      "coarse.toml");
  expect_throws<NumericalError>(
      {"did not converge", "the last relative change was", "failed at step"}, [&] { run(deck); });
}

TEST_F(PaperRun, RigidSchemesRefuseAStartOffTheConstraints) {
  const PaperDeck deck = parse_deck(
      "[system]\nkind = \"double-pendulum\"\nposition = [0, -1, 1, -2.1]\n"
      "velocity = [0, 1, 0, 1]\n[integrator]\nscheme = \"rattle\"\nstep = 0.1\n[run]\nsteps = 1\n",
      "off.toml");
  expect_throws<InputError>({"position violates constraint 2", "velocity violates constraint 1"},
                            [&] { make_case(deck); });
}

TEST_F(PaperRun, VariationalSchemesRefuseAVelocityOffTheSphere) {
  const auto deck = [](const std::string& velocity) {
    return parse_deck(
        "[system]\nkind = \"spherical-pendulum\"\nposition = [0, 0.6, -0.8]\n"
        "velocity = " +
            velocity +
            "\n[integrator]\nscheme = \"variational-of:rk2\"\nstep = 0.02\n"
            "[run]\nsteps = 1\n",
        "sphere.toml");
  };
  expect_throws<InputError>({"velocity violates constraint 1 (its rate is -0.12"},
                            [&] { make_case(deck("[0.5, 0.3, 0.3]")); });
  EXPECT_NO_THROW(make_case(deck("[0.5, 0.4, 0.3]")));
}

TEST_F(PaperRun, DirectionsOfATopHaveLengthOne) {
  const auto top = [](const std::string& more) {
    return parse_deck("[system]\nkind = \"heavy-top\"\n" + more +
                          "[integrator]\nscheme = \"rattle\"\nstep = 0.05\n[run]\nsteps = 1\n",
                      "top.toml");
  };
  expect_throws<InputError>(
      {"chi has the length 2; expected a unit vector", "direction has the length 1.000000005;"},
      [&] { top("chi = [0, 0, 2]\ndirection = [0, 1, 1e-4]\n"); });
  EXPECT_NO_THROW(top("chi = [0, 0.6, 0.8]\ndirection = [0.5, 0.5, 0.7071067812]\n"));
}

// Without a position the start is the paper's, along rods of the given lengths.
TEST_F(PaperRun, OtherLengthsStartOnTheConstraints) {
  const auto start = [](const std::string& system) {
    const ScratchFolder scratch;
    const PaperDeck deck =
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

TEST_F(PaperRun, SingularConstraintsAreAnError) {
  // A pendulum that hangs where it is hung has no direction.
  const std::string run = "step = 0.1\n[run]\nsteps = 1\n";
  for (const std::string& text : {"[system]\nkind = \"spherical-pendulum\"\nposition = [0, 0, 0]\n"
                                  "[integrator]\nscheme = \"variational-of:rk4\"\n" +
                                      run,
                                  "[system]\nkind = \"spherical-pendulum\"\nposition = [0, 0, 0]\n"
                                  "[integrator]\nscheme = \"rattle\"\n" +
                                      run}) {
    const ScratchFolder scratch;
    expect_throws<InputError>(
        {"singular.toml: the constraints are singular at the start: the "
         "gradient of constraint 1 is zero"},
        [&] { run_into(parse_deck(text, "singular.toml"), scratch.file("out")); });
    EXPECT_FALSE(std::filesystem::exists(scratch.file("out")));
  }
}

// The projection of a start that is too far off says so and writes nothing.
TEST_F(PaperRun, ProjectionThatDoesNotSettleWritesNothing) {
  const PaperDeck deck = parse_deck(
      "[system]\nkind = \"double-spring\"\nposition = [0, 0, 0, 0]\n[integrator]\n"
      "scheme = \"slow-manifold\"\n",
      "far.toml");
  expect_throws<NumericalError>({"blew up in iteration 1"}, [&] { run(deck); });
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("out")));
}

TEST_F(PaperRun, GivenDataReplaceThePapers) {
  const PaperDeck deck = parse_deck(
      "[system]\nkind = \"pendulum-chain\"\nn = 1\nmasses = [2]\nlengths = [2]\ngravity = 8.0\n"
      "position = [0.02, -2]\nvelocity = [0, 0]\n"
      "[integrator]\nscheme = \"verlet\"\nstep = 0.001\nomega = 50\n[run]\nduration = 1.5\n"
      "[observe.trajectory]\nevery = 1500\n",
      "one.toml");
  run(deck);
  // A small swing with √(gravity/length) = 2; the penalty gives way by some 1e-3 of the length.
  const auto all = rows("trajectory");
  EXPECT_NEAR(all.back()[2], 0.02 * std::cos(2.0 * 1.5), 1e-4);
  const ScratchFolder dna;
  run_into(parse_deck("[system]\nkind = \"dna\"\nn = 4\nxi = [1, 2, 3, 4]\n[integrator]\n"
                      "scheme = \"zs\"\nstep = 0.1\n[run]\nsteps = 0\n[observe.trajectory]\n"
                      "[observe.energies]\n",
                      "dna.toml"),
           dna.file("out"));
  const auto start = rows_of(dna.file("out/trajectory.csv"))[0];
  for (std::size_t k = 0; k < 4; ++k) {
    const double number = static_cast<double>(k + 1);
    EXPECT_NEAR(start[2 + k], 0.8 + 0.1 * number, few_roundings());
    EXPECT_NEAR(start[6 + k], std::cos(std::acos(-1.0) * number) / 2.0, few_roundings());
  }
  EXPECT_EQ(io::CsvReader(dna.file("out/energies.csv")).header().back(), "theta_bar");
  EXPECT_NEAR(rows_of(dna.file("out/energies.csv"))[0].back(), 1.05, 1e-14);  // the mean angle
}

/// One force, Hessian, third derivative and solve a step and at the start. The mean of the
/// penalty's multiplier looks one step ahead.
TEST_F(PaperRun, RecordsContainTheEvaluations) {
  const auto counts = [&](const char* folder, const std::vector<std::string>& keys) {
    const Json record = record_of(scratch_.file(folder));
    std::vector<double> values;
    for (const std::string& key : keys) values.push_back(record[key].number);
    return values;
  };
  const std::vector<std::string> keys{"counted_steps", "force_evaluations", "hessian_evaluations",
                                      "third_derivative_evaluations", "linear_solves"};
  run_into(input("double-pendulum", {"run.steps=7"}), scratch_.file("zs"));
  EXPECT_EQ(counts("zs", keys), (std::vector<double>{8, 9, 9, 9, 9}));
  run_into(input("double-spherical-pendulum", {"run.steps=20", "integrator.compose=yoshida4"}),
           scratch_.file("rattle"));
  EXPECT_EQ(counts("rattle", {"counted_steps", "force_evaluations", "hessian_evaluations"}),
            (std::vector<double>{20, 61, 0}));
  run_into(input("double-spring"), scratch_.file("slow"));
  EXPECT_EQ(counts("slow", {"iterations", "force_evaluations"}), (std::vector<double>{5, 175}));
}

TEST_F(PaperRun, ReportsChangesOfConservedQuantities) {
  const std::string text = run_into(
      input("heavy-top", {"run.steps=600", "observe.conservation.every=3"}), scratch_.file("out"));
  const io::CsvReader csv(scratch_.file("out/conservation.csv"));
  const auto all = rows("conservation");
  ASSERT_EQ(all.size(), 201u);
  const std::vector<Json> changes = record()["conserved"].items;
  ASSERT_EQ(changes.size(), csv.header().size() - 2);
  for (std::size_t k = 0; k < changes.size(); ++k) {
    EXPECT_EQ(changes[k]["name"].text, csv.header()[k + 2]);
    EXPECT_TRUE(contains(text, csv.header()[k + 2]));
    const double start = all.front()[k + 2];
    EXPECT_EQ(changes[k]["start"].number, start);
    EXPECT_EQ(changes[k]["last_change"].number, all.back()[k + 2] - start);
    double largest = 0.0;
    for (const auto& row : all) largest = std::max(largest, std::abs(row[k + 2] - start));
    EXPECT_EQ(changes[k]["largest_change"].number, largest);
  }
}

/// The energy of Z&S at the positions oscillates by the penalty; at the place of the forces it does
/// not.
TEST_F(PaperRun, EnergiesHaveTheirPlace) {
  const auto range = [](const std::string& place) {
    const ScratchFolder scratch;
    run_into(input("three-body-plane", {"run.steps=400", "observe.conservation.place=" + place}),
             scratch.file("out"));
    double low = INFINITY, high = -INFINITY;
    for (const auto& row : rows_of(scratch.file("out/conservation.csv"))) {
      low = std::min(low, row[2]);
      high = std::max(high, row[2]);
    }
    return high - low;
  };
  EXPECT_LT(range("forces"), range("positions"));
}

TEST_F(PaperRun, BlowUpIsAnErrorThatNamesTheStep) {
  const PaperDeck deck = input("double-pendulum", {"integrator.omega=40"});
  const std::string message = message_of<NumericalError>([&] { run(deck); });
  expect_parts_of(message, {"\"zs\" failed at step 8", " or a smaller product of omega and step"});
  const auto all = rows("trajectory");
  EXPECT_GT(all.size(), 70u);
  for (const auto& row : all) {
    for (double value : row) EXPECT_LT(std::abs(value), 1e7);
  }
  EXPECT_EQ(record()["status"].text, "failed");
  EXPECT_TRUE(
      contains(message, "; the last good state is in '" + scratch_.file("out/blow-up-0000.csv")));
  EXPECT_EQ(rows("blow-up-0000"), std::vector<std::vector<double>>{all.back()});
  // A folder is replaced only on request, with the state before the blow-up.
  expect_throws<InputError>(
      {"already contains a run: choose another folder with --out, or use --overwrite"},
      [&] { run(input("magnet")); });
  run_into(input("magnet", {"run.steps=3"}), scratch_.file("out"), true);
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("out/blow-up-0000.csv")));
}

/// The adaptive method and the classical one from the same slow point agree to the tolerance.
TEST_F(PaperRun, AdaptiveStepsFollowTheStiffEquations) {
  const auto end_of = [](const std::string& integrator) {
    const ScratchFolder scratch;
    run_into(parse_deck("[system]\nkind = \"double-spring\"\nomega = 100.0\n[integrator]\n" +
                            integrator + "[observe.trajectory]\n",
                        "spring.toml"),
             scratch.file("out"));
    return rows_of(scratch.file("out/trajectory.csv")).back();
  };
  const auto adaptive = [&](const std::string& more) {
    return end_of("scheme = \"dormand-prince\"\nstep = 0.5\nrelative_tolerance = 1e-9\n" + more +
                  "[run]\nsteps = 2\n");
  };
  const auto rk4 = end_of("scheme = \"rk4\"\nstep = 0.0005\n[run]\nsteps = 2000\n");
  const auto once = adaptive("projections = 1\ntolerance = 1e-7\n");
  for (std::size_t i = 2; i < 6; ++i) {
    EXPECT_NEAR(adaptive("")[i], rk4[i], 1e-6);
    EXPECT_NE(once[i], adaptive("")[i]);
  }
}

/// Problems of decks, each at its place, in the order of the file.
TEST(PaperDecks, AreRefusedWithEveryProblem) {
  std::istringstream file(read_text(TARN_SOURCE_DIR "/tests/papers/bad_decks.txt"));
  std::string deck, expected;
  int decks = 0;
  for (std::string line; std::getline(file, line);) {
    if (line != "# ---") {
      deck += line + '\n';
      continue;
    }
    ++decks;
    std::istringstream text(deck);
    std::string wanted;
    try {
      parse_deck(deck, "bad.toml");
      ADD_FAILURE() << deck;
    } catch (const InputError& error) {
      for (const Problem& problem : error.problems()) {
        std::getline(text, wanted);
        const std::string found =
            fmt::format("# expect {}:{} {}", problem.line, problem.column, problem.message);
        EXPECT_TRUE(wanted.starts_with("# expect ") && found.starts_with(wanted)) << found << '\n'
                                                                                  << wanted;
      }
      std::getline(text, wanted);
      EXPECT_FALSE(wanted.starts_with("# expect ")) << wanted;
    }
    deck.clear();
  }
  EXPECT_EQ(decks, 12);
}

/// tarn names the program of these decks; the names stand in two modules.
TEST(PaperDecks, AreRefusedByTarn) {
  ASSERT_EQ(system_kinds().size(), decks::kPaperSystems.size());
  for (const SystemKind& kind : system_kinds()) {
    const std::string path = kInputs + std::string(kind.name) + ".toml";
    const std::string message = message_of<InputError>([&] { tarn::load_deck(path); });
    EXPECT_TRUE(contains(message,
                         "kind = \"" + std::string(kind.name) +
                             "\" is a system of the papers; run it with: tarn-papers run " + path));
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0) << message;
  }
}

TEST(PaperDecks, SchemesReplaceThatOfTheDeck) {
  const PaperDeck deck = input("double-pendulum");
  const IntegratorKeys rattle = with_scheme(deck, "rattle:compose=suzuki4").own.integrator;
  EXPECT_EQ(rattle.scheme, Scheme::rattle);
  EXPECT_EQ(rattle.compose, Composition::suzuki4);
  EXPECT_FALSE(rattle.omega || rattle.beta);
  EXPECT_EQ(with_scheme(deck, "zs:omega=3").own.integrator.beta, 0.4);
  EXPECT_EQ(with_scheme(deck, "shake:step=0.05").own.run.steps, 1000);
  EXPECT_EQ(
      with_scheme(input("spherical-pendulum"), "variational-of:rk2:bias=0.5").own.integrator.bias,
      0.5);
  const std::string message = message_of<InputError>([&] { with_scheme(deck, "ratle"); });
  expect_parts_of(message, {"--scheme ratle", "(did you mean \"rattle\"?)"});
}

TEST(PaperDecks, ReferenceIsCurrent) {
  EXPECT_EQ(read_text(TARN_SOURCE_DIR "/docs/papers.md"), reference())
      << "renew it: tarn-papers list --keys > docs/papers.md";
}

TEST_F(PapersProgram, RunsADeck) {
  const std::string deck = "run " + kInputs + "heavy-top.toml --out " + scratch_.file("out");
  const Outcome run =
      command(deck +
              " --no-pictures --scheme rk4 --set run.steps=30 --unset observe.trajectory "
              "--time 0.001");
  EXPECT_EQ(run.exit_code, 0) << run.text;
  expect_parts_of(run.text, {"heavy-top: 30 steps; files are in ", "energy"});
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("out/trajectory.csv")));
  EXPECT_EQ(rows("conservation").size(), 7u);
  EXPECT_GT(record()["core_seconds"].number, 0.0);
  const Outcome again = command(deck);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(contains(again.text, "use --overwrite"));
}

TEST_F(PapersProgram, ListsSystemsAndHelps) {
  const std::string list = command("list").text;
  for (const SystemKind& kind : system_kinds()) {
    EXPECT_TRUE(contains(list, std::string(kind.name))) << kind.name;
    for (const std::string_view scheme : kind.schemes) {
      EXPECT_TRUE(contains(list, std::string(scheme))) << scheme;
    }
  }
  EXPECT_EQ(command("list --keys").text, reference());
  EXPECT_TRUE(contains(command("--help").text, "tarn-papers run DECK"));
}

TEST_F(PapersProgram, RefusesWithAnExitCode) {
  const std::string deck = kInputs + "double-pendulum.toml";
  for (const auto& [words, code, message] : std::vector<std::tuple<std::string, int, std::string>>{
           {"", 2, "expected run DECK or list; see tarn-papers --help"},
           {"run", 2, "no deck given: tarn-papers run DECK"},
           {"run " + deck + " --ot x", 2, "unexpected argument --ot"},
           {"run " + deck + " --out", 2, "--out needs a value"},
           {"run " + deck + " --time never", 2,
            "--time never; expected a number of seconds above 0"},
           {"run missing.toml", 4, "missing.toml: there is no such deck"},
           {"run " + deck + " --set integrator.step=-1", 2,
            "--set integrator.step=-1: step = -1"}}) {
    const Outcome outcome = command(words);
    EXPECT_EQ(outcome.exit_code, code) << words;
    EXPECT_TRUE(outcome.text.starts_with("tarn-papers: ")) << outcome.text;
    EXPECT_TRUE(contains(outcome.text, message));
  }
}

}  // namespace
}  // namespace tarn::papers
