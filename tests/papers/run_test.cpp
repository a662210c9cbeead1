// Decks of the papers' systems: their files, messages and failures, and the program tarn-papers.
#include "papers/run.hpp"

#include "command.hpp"
#include "csv_reader.hpp"
#include "deck/checker.hpp"
#include "geometry.hpp"
#include "json_reader.hpp"
#include "papers/methods.hpp"
#include "papers/systems.hpp"
#include "testing.hpp"

namespace tarn::papers {
namespace {

const std::string kInputs = TARN_SOURCE_DIR "/inputs/papers/";

PaperDeck input(const std::string& name, const std::vector<std::string>& set = {}) {
  return load_deck(kInputs + name + ".toml", set);
}

/// All rows of a table as numbers.
using Rows = std::vector<std::vector<double>>;
Rows rows_of(const std::string& path) {
  test::CsvReader csv(path);
  Rows rows;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    std::vector<double>& row = rows.emplace_back();
    for (std::string_view cell : cells) row.push_back(csv.number(cell));
  }
  return rows;
}

/// A string of a JSON file with its line ends and quotes.
std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') ++i;
    result += text[i] == 'n' && i > 0 && text[i - 1] == '\\' ? '\n' : text[i];
  }
  return result;
}

/// A deck that writes its trajectory. @param rest further sections; at least the length of the run
PaperDeck deck_of(const std::string& system, const std::string& integrator,
                  const std::string& rest = "[run]\nsteps = 1\n") {
  return parse_deck(
      "[system]\n" + system + "[integrator]\n" + integrator + rest + "[observe.trajectory]\n",
      "test.toml");
}

/// Runs decks in a folder of their own, "out" by default.
class PaperRun : public testing::Test {
 protected:
  std::string run(const PaperDeck& deck, const std::string& folder = "out",
                  bool overwrite = false) {
    return run_deck(deck,
                    {.out_dir = scratch_.file(folder), .overwrite = overwrite, .pictures = false});
  }
  std::string csv(const std::string& name, const std::string& folder = "out") {
    return scratch_.file(folder + '/' + name + ".csv");
  }
  Rows table(const std::string& name, const std::string& folder = "out") {
    return rows_of(csv(name, folder));
  }
  /// The state at the start of a run, without step and time.
  std::vector<double> start_of(const PaperDeck& deck) {
    run(deck, "out", true);
    std::vector<double> row = table("trajectory").front();
    row.erase(row.begin(), row.begin() + 2);
    return row;
  }
  test::Json record(const std::string& folder = "out") {
    return test::json_of(test::read_text(scratch_.file(folder + "/run.json")));
  }

  test::ScratchFolder scratch_;
};

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
    const bool projects = name == "double-spring";
    run(input(name,
              projects ? std::vector<std::string>{} : std::vector<std::string>{"run.steps=20"}),
        name);
    const test::Json first = record(name);
    EXPECT_EQ(first["status"].text, "finished");
    EXPECT_EQ(first["steps_done"].number, projects ? 5 : 20) << name;
    EXPECT_GE(table("trajectory", name).size(), 3u) << name;
    const std::string text = unescaped(first["deck"].text);
    std::istringstream names(given);
    for (std::string key; names >> key;) {
      EXPECT_NE(text.find('\n' + key + " = ["), std::string::npos) << name << ' ' << key << text;
    }
    run(parse_deck(text, "again.toml"), "again", true);
    EXPECT_EQ(unescaped(record("again")["deck"].text), text) << name;
    EXPECT_EQ(table("trajectory", name), table("trajectory", "again")) << name;
  }
}

TEST_F(PaperRun, SchemesOfEachKindStart) {
  for (const SystemKind& kind : system_kinds()) {
    for (const std::string_view scheme : kind.schemes) {
      if (scheme == "slow-manifold") continue;
      const PaperDeck deck = deck_of(fmt::format("kind = \"{}\"\n", kind.name),
                                     fmt::format("scheme = \"{}\"\nstep = 0.0005\n", scheme),
                                     "[run]\nsteps = 3\n[observe.conservation]\n");
      run(deck, "out", true);
      EXPECT_EQ(table("conservation").size(), 4u) << kind.name << scheme;
      const std::string text = test::read_text(csv("trajectory"));
      const std::string contents = trajectory_column_text(deck);
      EXPECT_TRUE(test::contains(contents, "q: ")) << kind.name << ' ' << scheme;
      EXPECT_TRUE(test::contains(text.substr(0, text.find('\n')), contents)) << text;
    }
  }
}

/// The first row of a trajectory against the start that its contents name.
TEST_F(PaperRun, ColumnsMatchTheHeader) {
  const std::string magnet = "kind = \"magnet\"\nangular_velocity = [1.0, 0.2, 0.5]\n";
  struct Case {
    std::string system, scheme, contents;
    std::vector<double> start;
  };
  for (const Case& c : std::vector<Case>{
           {magnet,
            "cayley-variational-euler",
            "q: the rotation R, row by row; v: the angular velocity in the body",
            {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0.2, 0.5}},
           {magnet,
            "so3-linearised",
            "q: the matrix R, row by row; v: p = R'/2, row by row",
            {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -0.25, 0.1, 0.25, 0, -0.5, -0.1, 0.5, 0}},
           {"kind = \"heavy-top\"\nmomentum = [0, 1, 2, -1, 0, 3, -2, -3, 0]\n"
            "direction = [0, 0, 1]\n",
            "rattle",
            "q: the momentum m in the body, row by row; v: the direction of gravity there",
            {0, 1, 2, -1, 0, 3, -2, -3, 0, 0, 0, 1}}}) {
    const PaperDeck deck =
        deck_of(c.system, fmt::format("scheme = \"{}\"\nstep = 0.01\n", c.scheme));
    EXPECT_EQ(trajectory_column_text(deck), c.contents);
    EXPECT_EQ(start_of(deck), c.start) << c.scheme;
  }
}

TEST_F(PaperRun, ProjectionWritesItsIterates) {
  run(input("double-spring"));
  EXPECT_EQ(test::CsvReader(csv("iterations")).header(),
            (std::vector<std::string>{"iteration", "g1", "g2", "gdot1", "gdot2"}));
  const Rows rows = table("iterations");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_NEAR(rows[0][1], 3.08e-2, 1e-4);  // the input
  EXPECT_NEAR(rows[5][1], 1.01e-6, 1e-8);
}

TEST_F(PaperRun, DistinguishesRodsFromJoints) {
  run(input("double-spherical-pendulum", {"run.steps=100"}));
  for (const auto& row : table("trajectory")) {
    for (std::size_t rod : {2u, 5u}) {
      // Newton's method ends where coordinates up to 2 round.
      EXPECT_NEAR(std::hypot(row[rod], row[rod + 1], row[rod + 2]), 1.0, test::few_roundings(2.0));
    }
  }
}

TEST_F(PaperRun, TrajectoryIsThatOfTheMethod) {
  run(input("double-pendulum", {"run.steps=30"}));
  EXPECT_EQ(test::CsvReader(csv("trajectory")).header(),
            (std::vector<std::string>{"step", "time", "q0", "q1", "q2", "q3", "v0", "v1", "v2",
                                      "v3", "lambda0", "lambda1"}));
  const Rows rows = table("trajectory");
  const Experiment p = make_pendula(double_pendulum(), 20.0);
  const auto method = method_of(p, {.scheme = "zs", .step = 0.1, .beta = 0.4});
  State s = advanced(*method, p.position, p.velocity, 0);
  std::vector<Vector> penalty;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    EXPECT_EQ(rows[k][0], static_cast<double>(k));
    EXPECT_EQ(rows[k][1], static_cast<double>(k) * 0.1);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(rows[k][2 + i], s.x[static_cast<Index>(i)]);
      EXPECT_EQ(rows[k][6 + i], s.v[static_cast<Index>(i)]);
    }
    penalty.push_back(400.0 * p.constraint->values(s.x));
    method->step(s);
  }
  // The window of 0.2 is two steps wide; the first has one side only. The sums round differently.
  for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
    const Vector mean =
        k == 0 ? Vector(0.5 * (penalty[0] + penalty[1]))
               : Vector(0.25 * penalty[k - 1] + 0.5 * penalty[k] + 0.25 * penalty[k + 1]);
    EXPECT_NEAR(rows[k][10], mean[0], test::few_roundings(10.0));
    EXPECT_NEAR(rows[k][11], mean[1], test::few_roundings(10.0));
  }
}

TEST_F(PaperRun, RigidSchemesWriteTheirMultipliers) {
  for (const char* scheme : {"shake", "rattle"}) {
    run(deck_of("kind = \"double-pendulum\"\n",
                fmt::format("scheme = \"{}\"\nstep = 0.001\n", scheme),
                "[run]\nsteps = 10\n[observe.conservation]\n"),
        "out", true);
    const Rows rows = table("trajectory");
    // h²/18 at a start at rest, and rounding over h².
    const double error = 1e-6 / 18.0 + 4.0 * test::kEpsilon / 1e-6;
    EXPECT_NEAR(rows[0][10], 2.0 / 3.0, error) << scheme;
    EXPECT_NEAR(rows[0][11], 1.0 / 6.0, error) << scheme;
  }
  for (const auto& row : table("conservation")) EXPECT_LT(row.back(), test::few_roundings(4.0));
}

TEST_F(PaperRun, SystemsOnManifoldsKeepTheStateBeforeTheBlowUp) {
  EXPECT_THROW(run(input("magnet", {"integrator.omega=1000"})), NumericalError);
  const Rows rows = table("trajectory");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(table("blow-up-0000"), Rows{rows.back()});
}

// Runs that fail name the cause, and write nothing if that is at the start.
TEST_F(PaperRun, FailuresNameTheirCause) {
  const std::string sphere = "kind = \"spherical-pendulum\"\n", step = "step = 0.02\n",
                    long_run = "[run]\nsteps = 1000\n",
                    singular =
                        "test.toml: the constraints are singular at the start: the gradient "
                        "of constraint 1 is zero";
  struct Failure {
    PaperDeck deck;
    std::vector<std::string> parts;
  };
  for (const auto& [deck, parts] :
       {Failure{deck_of("kind = \"dna\"\n", "scheme = \"verlet\"\nstep = 3\n", long_run),
                {"it blew up", "Try a smaller step"}},
        Failure{
            deck_of("kind = \"double-pendulum\"\n", "scheme = \"shake\"\nstep = 3.0\n", long_run),
            {"did not converge", "the last relative change was", "failed at step"}},
        Failure{deck_of("kind = \"double-pendulum\"\nposition = [0, -1, 1, -2.1]\n"
                        "velocity = [0, 1, 0, 1]\n",
                        "scheme = \"rattle\"\n" + step),
                {"position violates constraint 2", "velocity violates constraint 1"}},
        Failure{deck_of(sphere + "position = [0, 0.6, -0.8]\nvelocity = [0.5, 0.3, 0.3]\n",
                        "scheme = \"variational-of:rk2\"\n" + step),
                {"velocity violates constraint 1 (its rate is -0.12"}},
        // A pendulum that hangs where it is hung has no direction.
        Failure{
            deck_of(sphere + "position = [0, 0, 0]\n", "scheme = \"variational-of:rk4\"\n" + step),
            {singular}},
        Failure{deck_of(sphere + "position = [0, 0, 0]\n", "scheme = \"rattle\"\n" + step),
                {singular}},
        // A start that is too far off the slow manifold.
        Failure{deck_of("kind = \"double-spring\"\nposition = [0, 0, 0, 0]\n",
                        "scheme = \"slow-manifold\"\n", ""),
                {"blew up in iteration 1"}}}) {
    const std::string message = test::message_of<Error>([&] { run(deck, "out", true); });
    for (const std::string& part : parts) EXPECT_TRUE(test::contains(message, part));
    EXPECT_EQ(std::filesystem::exists(scratch_.file("out")),
              message.find("the last good state") != std::string::npos)
        << message;
    std::filesystem::remove_all(scratch_.file("out"));
  }
  run(deck_of(sphere + "position = [0, 0.6, -0.8]\nvelocity = [0.5, 0.4, 0.3]\n",
              "scheme = \"variational-of:rk2\"\n" + step));
}

// Without a position the start is the paper's, along rods of the given lengths.
TEST_F(PaperRun, OtherLengthsStartOnTheConstraints) {
  const auto start = [&](const std::string& system) {
    // RATTLE refuses a start off the constraints.
    return start_of(deck_of(system, "scheme = \"rattle\"\nstep = 0.01\n"));
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

TEST_F(PaperRun, GivenDataReplaceThePapers) {
  run(
      deck_of("kind = \"pendulum-chain\"\nn = 1\nmasses = [2]\nlengths = [2]\ngravity = 8.0\n"
              "position = [0.02, -2]\nvelocity = [0, 0]\n",
              "scheme = \"verlet\"\nstep = 0.001\nomega = 50\n", "[run]\nduration = 1.5\n"));
  // A small swing with √(gravity/length) = 2; the penalty gives way by some 1e-3 of the length.
  EXPECT_NEAR(table("trajectory").back()[2], 0.02 * std::cos(2.0 * 1.5), 1e-4);
  const std::vector<double> start =
      start_of(deck_of("kind = \"dna\"\nn = 4\nxi = [1, 2, 3, 4]\n",
                       "scheme = \"zs\"\nstep = 0.1\n", "[run]\nsteps = 0\n[observe.energies]\n"));
  for (std::size_t k = 0; k < 4; ++k) {
    const double number = static_cast<double>(k + 1);
    EXPECT_NEAR(start[k], 0.8 + 0.1 * number, test::few_roundings());
    EXPECT_NEAR(start[4 + k], std::cos(std::acos(-1.0) * number) / 2.0, test::few_roundings());
  }
  EXPECT_EQ(test::CsvReader(csv("energies")).header().back(), "theta_bar");
  EXPECT_NEAR(table("energies")[0].back(), 1.05, 1e-14);  // the mean angle
}

/// One force, Hessian, third derivative and solve a step and at the start. The mean of the
/// penalty's multiplier looks one step ahead.
TEST_F(PaperRun, RecordsContainTheEvaluations) {
  const auto counts = [&](const char* folder, const std::vector<std::string>& keys) {
    const test::Json found = record(folder);
    std::vector<double> values;
    for (const std::string& key : keys) values.push_back(found[key].number);
    return values;
  };
  const std::vector<std::string> keys{"counted_steps", "force_evaluations", "hessian_evaluations",
                                      "third_derivative_evaluations", "linear_solves"};
  run(input("double-pendulum", {"run.steps=7"}), "zs");
  EXPECT_EQ(counts("zs", keys), (std::vector<double>{8, 9, 9, 9, 9}));
  run(input("double-spherical-pendulum", {"run.steps=20", "integrator.compose=yoshida4"}),
      "rattle");
  EXPECT_EQ(counts("rattle", {"counted_steps", "force_evaluations", "hessian_evaluations"}),
            (std::vector<double>{20, 61, 0}));
  run(input("double-spring"), "slow");
  EXPECT_EQ(counts("slow", {"iterations", "force_evaluations"}), (std::vector<double>{5, 175}));
}

TEST_F(PaperRun, ReportsChangesOfConservedQuantities) {
  const std::string text =
      run(input("heavy-top", {"run.steps=600", "observe.conservation.every=3"}));
  const test::CsvReader reader(csv("conservation"));
  const Rows rows = table("conservation");
  ASSERT_EQ(rows.size(), 201u);
  const std::vector<test::Json> changes = record()["conserved"].items;
  ASSERT_EQ(changes.size(), reader.header().size() - 2);
  for (std::size_t k = 0; k < changes.size(); ++k) {
    EXPECT_EQ(changes[k]["name"].text, reader.header()[k + 2]);
    EXPECT_TRUE(test::contains(text, reader.header()[k + 2]));
    const double start = rows.front()[k + 2];
    EXPECT_EQ(changes[k]["start"].number, start);
    EXPECT_EQ(changes[k]["last_change"].number, rows.back()[k + 2] - start);
    double largest = 0.0;
    for (const auto& row : rows) largest = std::max(largest, std::abs(row[k + 2] - start));
    EXPECT_EQ(changes[k]["largest_change"].number, largest);
  }
}

/// The energy of Z&S at the positions oscillates by the penalty; at the place of the forces it does
/// not.
TEST_F(PaperRun, EnergiesHaveTheirPlace) {
  const auto range = [&](const std::string& place) {
    run(input("three-body-plane", {"run.steps=400", "observe.conservation.place=" + place}), "out",
        true);
    double low = INFINITY, high = -INFINITY;
    for (const auto& row : table("conservation")) {
      low = std::min(low, row[2]);
      high = std::max(high, row[2]);
    }
    return high - low;
  };
  EXPECT_LT(range("forces"), range("positions"));
}

TEST_F(PaperRun, BlowUpIsAnErrorThatNamesTheStep) {
  const PaperDeck deck = input("double-pendulum", {"integrator.omega=40"});
  const std::string message = test::message_of<NumericalError>([&] { run(deck); });
  test::expect_parts_of(message,
                        {"\"zs\" failed at step 8", " or a smaller product of omega and step",
                         "; the last good state is in '" + csv("blow-up-0000")});
  const Rows rows = table("trajectory");
  EXPECT_GT(rows.size(), 70u);
  for (const auto& row : rows) {
    for (double value : row) EXPECT_LT(std::abs(value), 1e7);
  }
  EXPECT_EQ(record()["status"].text, "failed");
  EXPECT_EQ(table("blow-up-0000"), Rows{rows.back()});
  // A folder is replaced only on request, with the state before the blow-up.
  test::expect_throws<InputError>(
      {"already contains a run: choose another folder with --out, or use --overwrite"},
      [&] { run(input("magnet")); });
  run(input("magnet", {"run.steps=3"}), "out", true);
  EXPECT_FALSE(std::filesystem::exists(csv("blow-up-0000")));
}

/// The adaptive method and the classical one from the same slow point agree to the tolerance.
TEST_F(PaperRun, AdaptiveStepsFollowTheStiffEquations) {
  const auto end_of = [&](const std::string& integrator, const std::string& rest) {
    run(deck_of("kind = \"double-spring\"\nomega = 100.0\n", integrator, rest), "out", true);
    return table("trajectory").back();
  };
  const auto adaptive = [&](const std::string& more) {
    return end_of("scheme = \"dormand-prince\"\nstep = 0.5\nrelative_tolerance = 1e-9\n" + more,
                  "[run]\nsteps = 2\n");
  };
  const auto rk4 = end_of("scheme = \"rk4\"\nstep = 0.0005\n", "[run]\nsteps = 2000\n");
  const auto once = adaptive("projections = 1\ntolerance = 1e-7\n");
  for (std::size_t i = 2; i < 6; ++i) {
    EXPECT_NEAR(adaptive("")[i], rk4[i], 1e-6);
    EXPECT_NE(once[i], adaptive("")[i]);
  }
}

/// Problems of decks, each at its place, in the order of the file.
TEST(PaperDecks, AreRefusedWithEveryProblem) {
  std::istringstream file(test::read_text(TARN_SOURCE_DIR "/tests/papers/bad_decks.txt"));
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
  EXPECT_EQ(decks, 13);
  // Rounded unit vectors are accepted.
  deck_of("kind = \"heavy-top\"\nchi = [0, 0.6, 0.8]\ndirection = [0.5, 0.5, 0.7071067812]\n",
          "scheme = \"rattle\"\nstep = 0.05\n");
}

/// tarn names the program of these decks; the names stand in two modules.
TEST(PaperDecks, AreRefusedByTarn) {
  ASSERT_EQ(system_kinds().size(), decks::kPaperSystems.size());
  for (const SystemKind& kind : system_kinds()) {
    const std::string path = kInputs + std::string(kind.name) + ".toml";
    const std::string message = test::message_of<InputError>([&] { tarn::load_deck(path); });
    EXPECT_TRUE(test::contains(
        message,
        fmt::format("kind = \"{}\" is a system of the papers; run it with: tarn-papers run {}",
                    kind.name, path)));
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0) << message;
  }
}

TEST(PaperDecks, SchemesReplaceThatOfTheDeck) {
  const PaperDeck deck = input("double-pendulum");
  const IntegratorKeys rattle = with_scheme(deck, "rattle:compose=suzuki4").own.integrator;
  EXPECT_EQ(rattle.scheme, "rattle");
  EXPECT_EQ(rattle.compose, Composition::suzuki4);
  EXPECT_FALSE(rattle.omega || rattle.beta);
  EXPECT_EQ(with_scheme(deck, "zs:omega=3").own.integrator.beta, 0.4);
  EXPECT_EQ(with_scheme(deck, "shake:step=0.05").own.run.steps, 1000);
  EXPECT_EQ(
      with_scheme(input("spherical-pendulum"), "variational-of:rk2:bias=0.5").own.integrator.bias,
      0.5);
  test::expect_throws<InputError>({"--scheme ratle", "(did you mean \"rattle\"?)"},
                                  [&] { with_scheme(deck, "ratle"); });
}

TEST(PaperDecks, ReferenceIsCurrent) {
  EXPECT_EQ(test::read_text(TARN_SOURCE_DIR "/docs/papers.md"), reference())
      << "renew it: tarn-papers list --keys > docs/papers.md";
}

using PapersProgram = PaperRun;

TEST_F(PapersProgram, RunsADeck) {
  const std::string deck = "run " + kInputs + "heavy-top.toml --out " + scratch_.file("out");
  const test::Outcome run =
      test::command(deck +
                    " --no-pictures --scheme rk4 --set run.steps=30 --unset observe.trajectory "
                    "--time 0.001");
  EXPECT_EQ(run.exit_code, 0) << run.text;
  test::expect_parts_of(run.text, {"heavy-top: 30 steps; files are in ", "energy"});
  EXPECT_FALSE(std::filesystem::exists(csv("trajectory")));
  EXPECT_EQ(table("conservation").size(), 7u);
  EXPECT_GT(record()["core_seconds"].number, 0.0);
  const test::Outcome again = test::command(deck);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(test::contains(again.text, "use --overwrite"));
}

TEST_F(PapersProgram, ListsSystemsAndHelps) {
  const std::string list = test::command("list").text;
  for (const SystemKind& kind : system_kinds()) {
    EXPECT_TRUE(test::contains(list, std::string(kind.name))) << kind.name;
    for (const std::string_view scheme : kind.schemes) {
      EXPECT_TRUE(test::contains(list, std::string(scheme))) << scheme;
    }
  }
  EXPECT_EQ(test::command("list --keys").text, reference());
  EXPECT_TRUE(test::contains(test::command("--help").text, "tarn-papers run DECK"));
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
    const test::Outcome outcome = test::command(words);
    EXPECT_EQ(outcome.exit_code, code) << words;
    EXPECT_TRUE(outcome.text.starts_with("tarn-papers: ")) << outcome.text;
    EXPECT_TRUE(test::contains(outcome.text, message)) << outcome.text;
  }
}

}  // namespace
}  // namespace tarn::papers
