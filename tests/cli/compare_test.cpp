#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "program.hpp"
#include "rounding.hpp"
#include "scratch_folder.hpp"
#include "tarn/io/csv.hpp"

/// @file
/// Comparisons that do not end as they should: schemes that lose their replicas, and interrupts.

namespace tarn {
namespace {

using test::contains;
using test::read_text;

const std::string kInputs = std::string(TARN_SOURCE_DIR) + "/inputs/";

class Comparisons : public ::testing::Test {
 protected:
  /// `tarn compare DECK` into out_, with these words.
  std::vector<std::string> words(const std::string& deck, std::vector<std::string> more) const {
    std::vector<std::string> all{TARN_BINARY, "compare", deck, "--json", "--out", out_};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  test::Ending run(const std::string& deck, const std::vector<std::string>& more) {
    return test::Program(words(deck, more), lines_, log_).wait();
  }
  /// The column of a table, by row.
  std::vector<std::string> column(const std::string& name) const {
    io::CsvReader csv(out_ + "/compare.csv");
    std::vector<std::string> values;
    std::vector<std::string_view> cells;
    while (csv.next(cells)) values.emplace_back(cells[csv.column(name)]);
    return values;
  }
  /// Interrupts it at its first progress; false if that has no effect within a minute.
  bool ends_when_interrupted(const std::string& deck, const std::vector<std::string>& more) {
    using Clock = std::chrono::steady_clock;
    test::Program program(words(deck, more), lines_, log_);
    const Clock::time_point limit = Clock::now() + std::chrono::minutes(1);
    const auto told = [&] {
      return std::filesystem::exists(lines_) &&
             read_text(lines_).find("progress") != std::string::npos;
    };
    while (program.runs() && !told() && Clock::now() < limit) ::usleep(10'000);
    program.signal(SIGINT);
    while (program.runs() && Clock::now() < limit) ::usleep(10'000);
    if (program.runs()) return false;
    EXPECT_EQ(program.wait().code, 130) << read_text(log_);
    return true;
  }

  test::ScratchFolder folder_;
  std::string lines_ = folder_.file("lines"), log_ = folder_.file("log"),
              out_ = folder_.file("out");
};

/// At 8 fs velocity Verlet loses all replicas within some steps; its bonds stand 0.2 fs.
TEST_F(Comparisons, SchemesWithoutReplicasHaveNoSpeedAndNoMeans) {
  for (const std::string schemes : {"settle,verlet:omega=100", "verlet:omega=100,settle"}) {
    const test::Ending ending =
        run(kInputs + "water7.toml",
            {"--schemes", schemes, "--set", "integrator.timestep_fs=8", "--set", "run.steps=400",
             "--set", "run.equilibration_ps=0", "--set", "system.replicas=3", "--overwrite"});
    EXPECT_EQ(ending.code, 3);
    const bool first = schemes.starts_with("verlet");
    const std::size_t gone = first ? 0 : 1, other = 1 - gone;
    EXPECT_EQ(column("stopped_replicas")[gone], "3");
    EXPECT_EQ(column("stopped_replicas")[other], "0");
    for (const char* name :
         {"cluster_steps_per_s", "ns_per_day", "temperature_K", "potential_kcal_per_mol",
          "independent_samples_per_s", "oo_total_variation"}) {
      EXPECT_EQ(column(name)[gone], "nan") << name;
      // There is nothing to compare histograms with where the first scheme is gone.
      const bool none = first && std::string(name) == "oo_total_variation";
      EXPECT_EQ(column(name)[other] == "nan", none) << name << ", " << schemes;
    }
    const std::string log = read_text(log_);
    EXPECT_TRUE(contains(log, "no replica is left"));
    EXPECT_EQ(log.find("stay in the means"), std::string::npos);
    std::filesystem::remove(log_);
  }
}

/// Bonds of omega = 20 change the energy by a tenth, rigid ones by nothing that can be seen.
TEST_F(Comparisons, ErrorsAgainstCostByStep) {
  ASSERT_EQ(run(kInputs + "water7-modern.toml",
                {"--schemes", "shake,zss-stiff:omega=20", "--steps", "2,4", "--reference",
                 "rattle:timestep_fs=1.5", "--set", "run.duration_ps=6", "--set",
                 "run.equilibration_ps=2", "--set", "observe.energies.every=15"})
                .code,
            0)
      << read_text(log_);
  EXPECT_EQ(column("scheme"),
            (std::vector<std::string>{"reference rattle:timestep_fs=1.5", "shake:timestep_fs=2",
                                      "shake:timestep_fs=4", "zss-stiff:omega=20:timestep_fs=2",
                                      "zss-stiff:omega=20:timestep_fs=4"}));
  EXPECT_EQ(column("timestep_fs"), (std::vector<std::string>{"1.5", "2", "4", "2", "4"}));
  const auto number = [&](const std::string& name, std::size_t row) {
    return std::stod(column(name)[row]);
  };
  for (std::size_t row = 1; row < 5; ++row) {
    const double difference = number("potential_difference_kcal_per_mol", row);
    const double error = number("potential_difference_kcal_per_mol_err", row);
    // Of numbers that are written to the last bit: energies below 100, and products of 1e9.
    EXPECT_NEAR(difference,
                number("potential_kcal_per_mol", row) - number("potential_kcal_per_mol", 0),
                test::few_roundings(100.0));
    EXPECT_GT(error, number("potential_kcal_per_mol_err", row));
    if (row < 3) {
      EXPECT_LT(std::abs(difference), 4.5 * error);
    } else {
      EXPECT_LT(difference, -5.0);
    }
    EXPECT_NEAR(
        number("us_per_ps", row) * number("cluster_steps_per_s", row) * number("timestep_fs", row),
        1e9, test::few_roundings(1e9));
    EXPECT_EQ(number("oo_total_variation", row) > 0.1, row >= 3);
    EXPECT_GT(number("oo_total_variation_err", row), 0.0);
  }
}

TEST_F(Comparisons, ReplaceAllFilesOfTheOneBefore) {
  const std::vector<std::string> few{
      "--schemes", "settle,shake",           "--set", "run.steps=20",
      "--set",     "run.equilibration_ps=0", "--set", "system.replicas=1"};
  ASSERT_EQ(run(kInputs + "water7-modern.toml", few).code, 0) << read_text(log_);
  const auto leave_old_files = [&] {
    for (const char* name : {"orders.csv", "errors.svg", "drift.png", "mine.txt"}) {
      test::write_text(out_ + "/" + name, "old");
    }
  };
  leave_old_files();
  ASSERT_EQ(run(kInputs + "water7-modern.toml", few).code, 2);
  EXPECT_TRUE(std::filesystem::exists(out_ + "/orders.csv"));
  std::vector<std::string> anew = few;
  anew.push_back("--overwrite");
  ASSERT_EQ(run(kInputs + "water7-modern.toml", anew).code, 0) << read_text(log_);
  for (const char* name : {"orders.csv", "errors.svg", "drift.png"}) {
    EXPECT_FALSE(std::filesystem::exists(out_ + "/" + name)) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(out_ + "/mine.txt"));
}

/// Somebody's own, in a folder that holds no comparison.
TEST_F(Comparisons, ReplaceNoFileUnasked) {
  std::vector<std::string> few{
      "--schemes", "settle",           "--set", "run.steps=20", "--set", "run.equilibration_ps=0",
      "--set",     "system.replicas=1"};
  std::filesystem::create_directories(out_);
  for (const std::string name : {"rdf.csv", "errors.svg", "compare.json"}) {
    test::write_text(out_ + "/" + name, "mine");
    std::filesystem::remove(log_);
    EXPECT_EQ(run(kInputs + "water7-modern.toml", few).code, 2) << name;
    EXPECT_TRUE(contains(read_text(log_), "already contains " + name)) << read_text(log_);
    EXPECT_EQ(test::contents_of(out_).size(), 1u);
    EXPECT_EQ(read_text(out_ + "/" + name), "mine");
    std::filesystem::remove(out_ + "/" + name);
  }
  test::write_text(out_ + "/mine.txt", "mine");
  EXPECT_EQ(run(kInputs + "water7-modern.toml", few).code, 0) << read_text(log_);
  EXPECT_EQ(read_text(out_ + "/mine.txt"), "mine");
}

TEST_F(Comparisons, SchemesThatMakeNoSenseAreRefused) {
  struct Case {
    std::string schemes, told;
  };
  for (const Case& c : {Case{"settle,,rattle", "--schemes contains an empty scheme"},
                        Case{"settle,", "--schemes contains an empty scheme"},
                        Case{",", "--schemes contains an empty scheme"},
                        Case{"zss-stiff:omega", "--schemes zss-stiff:omega: expected key=value"}}) {
    std::filesystem::remove(log_);
    EXPECT_EQ(run(kInputs + "water7-modern.toml", {"--schemes", c.schemes}).code, 2) << c.schemes;
    EXPECT_TRUE(contains(read_text(log_), c.told)) << read_text(log_);
  }
}

/// From the lowest minimum on, where the first picosecond is all heating.
TEST_F(Comparisons, OfASchemeWithItselfReportNoErrorBeforeEquilibration) {
  ASSERT_EQ(run(kInputs + "water7-modern.toml",
                {"--schemes", "settle", "--steps", "2", "--reference", "settle:timestep_fs=2",
                 "--set", "thermostat.temperature_K=100", "--set", "run.duration_ps=1", "--set",
                 "run.equilibration_ps=0", "--set", "observe.energies.every=10", "--set",
                 "system.replicas=256"})
                .code,
            0)
      << read_text(log_);
  const double error = std::stod(column("potential_difference_kcal_per_mol_err")[1]);
  const double difference = std::stod(column("potential_difference_kcal_per_mol")[1]);
  // The error holds what all replicas do alike, too: over six seeds the difference scatters by 0.35
  // of it, and 1.6 are 4.5 standard deviations. Over twice the time it is 3 to 4.5 errors.
  EXPECT_LT(std::abs(difference), 1.6 * error);
  // Both tell that they were not in equilibrium.
  for (const char* label : {"reference settle:timestep_fs=2", "settle:timestep_fs=2"}) {
    EXPECT_TRUE(contains(read_text(log_), std::string("warning: ") + label +
                                              ": not equilibrated. potential_kcal_per_mol "))
        << read_text(log_);
  }
}

/// As a run does: a temperature that falls is that of the start, not of the step.
TEST_F(Comparisons, BlameAHotStartAndNotTheStep) {
  ASSERT_EQ(run(kInputs + "water7-modern.toml",
                {"--schemes", "settle,shake", "--set", "system.temperature_K=400", "--set",
                 "thermostat.temperature_K=50", "--set", "run.duration_ps=2", "--set",
                 "run.equilibration_ps=0", "--set", "observe.energies.every=10", "--set",
                 "system.replicas=32"})
                .code,
            0)
      << read_text(log_);
  const std::string told = read_text(log_);
  EXPECT_TRUE(contains(told, "K instead of 50 K: still falling, not equilibrated")) << told;
  EXPECT_FALSE(contains(told, "heating")) << told;
}

TEST_F(Comparisons, ReportUncertaintyOfCosts) {
  ASSERT_EQ(run(kInputs + "water7-modern.toml",
                {"--schemes", "settle,shake", "--steps", "2", "--set", "run.duration_ps=1", "--set",
                 "run.equilibration_ps=0", "--set", "system.replicas=4"})
                .code,
            0)
      << read_text(log_);
  io::CsvReader csv(out_ + "/compare.csv");
  std::vector<std::string_view> cells;
  for (int row = 0; row < 3; ++row) {
    ASSERT_TRUE(csv.next(cells));
    EXPECT_EQ(csv.column("us_per_ps_err"), cells.size() - 1) << "new columns come last";
    EXPECT_GT(csv.number(cells.back()), 0.0);
  }
}

/// A quench of so many molecules takes minutes.
TEST_F(Comparisons, EndWhileTheirStartsAreMade) {
  test::Program program(words(kInputs + "water7-modern.toml",
                              {"--schemes", "settle,zss-stiff", "--unset", "system.file", "--set",
                               "system.molecules=2000", "--set", "system.replicas=1"}),
                        lines_, log_);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point limit = Clock::now() + std::chrono::minutes(1);
  while (program.runs() && !program.catches(SIGINT) && Clock::now() < limit) ::usleep(10'000);
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << read_text(log_);
  EXPECT_TRUE(contains(read_text(log_), "interrupted while the start was made"));
  EXPECT_FALSE(std::filesystem::exists(out_)) << "nothing was begun";
}

/// What cannot begin takes nothing away.
TEST_F(Comparisons, ThatCannotBeginLeaveTheOldOne) {
  const std::string deck = kInputs + "water7-modern.toml";
  const std::vector<std::string> few{"--schemes",    "settle", "--set",
                                     "run.steps=20", "--set",  "run.equilibration_ps=0"};
  ASSERT_EQ(run(deck, few).code, 0) << read_text(log_);
  const auto before = test::contents_of(out_);
  std::vector<std::string> again = few;
  for (const char* word : {"--overwrite", "--device", "cuda:4096"}) again.push_back(word);
  EXPECT_EQ(run(deck, again).code, 5) << read_text(log_);
  EXPECT_EQ(test::contents_of(out_), before);
}

TEST_F(Comparisons, StepsThatMakeNoSenseAreRefused) {
  const std::string deck = kInputs + "water7-modern.toml";
  struct Case {
    std::vector<std::string> words;
    std::string told;
  };
  for (const Case& c :
       {Case{{"--schemes", "settle", "--steps", "2,0"}, "greater than 0"},
        Case{{"--schemes", "settle", "--steps", "2,2"}, "given only once"},
        Case{{"--schemes", "settle:timestep_fs=1", "--steps", "2"}, "omit timestep_fs"},
        Case{{"--schemes", "settle", "--reference", "shake"}, "requires --steps"},
        Case{{"--schemes", "settle", "--steps", "2", "--reference", "shake", "--unset",
              "thermostat"},
             "omit --reference"},
        Case{{"--schemes", "settle", "--steps", "2", "--reference",
              "shake:timestep_fs=1:tolerance=1e-6"},
             "timestep_fs must be the last key"}}) {
    EXPECT_EQ(run(deck, c.words).code, 2) << c.told;
    EXPECT_TRUE(contains(read_text(log_), c.told)) << read_text(log_);
    EXPECT_FALSE(std::filesystem::exists(out_ + "/compare.csv"));
    std::filesystem::remove(log_);
  }
}

/// Without a thermostat: the drift that a run tells, and nothing of it with one.
TEST_F(Comparisons, ReportEnergyConservation) {
  const std::vector<std::string> settings{"--set", "run.steps=1000", "--set", "system.replicas=4"};
  std::vector<std::string> of_run{TARN_BINARY, "run", kInputs + "conservation7.toml", "--out",
                                  folder_.file("run")};
  of_run.insert(of_run.end(), settings.begin(), settings.end());
  ASSERT_EQ(test::Program(of_run, lines_, log_).wait().code, 0) << read_text(log_);
  std::vector<std::string> of_compare = settings;
  of_compare.insert(of_compare.end(), {"--schemes", "settle,zss-stiff"});
  ASSERT_EQ(run(kInputs + "conservation7.toml", of_compare).code, 0) << read_text(log_);
  io::CsvReader csv(folder_.file("run") + "/averages.csv");
  std::vector<std::string_view> cells;
  std::string drift, error;
  while (csv.next(cells)) {
    if (cells[csv.column("quantity")] != "energy_drift_kcal_per_mol_per_ps") continue;
    drift = cells[csv.column("mean")];
    error = cells[csv.column("error")];
  }
  // The same engine and samples; times are multiplied in another order.
  EXPECT_NEAR(std::stod(column("energy_drift_kcal_per_mol_per_ps")[1]) / std::stod(drift), 1.0,
              1e-12);
  EXPECT_NEAR(std::stod(column("energy_drift_kcal_per_mol_per_ps_err")[1]) / std::stod(error), 1.0,
              1e-12);
  for (std::size_t row = 0; row < 2; ++row) {
    const double rms = std::stod(column("energy_rms_kcal_per_mol")[row]);
    EXPECT_GT(rms, 0.0);
    EXPECT_GT(std::stod(column("energy_max_kcal_per_mol")[row]), rms);
  }
  EXPECT_TRUE(contains(read_text(log_), "rms change of E"));
  ASSERT_EQ(run(kInputs + "water7-modern.toml",
                {"--schemes", "settle", "--set", "run.steps=10", "--set", "run.equilibration_ps=0",
                 "--set", "system.replicas=1", "--overwrite"})
                .code,
            0);
  EXPECT_EQ(column("energy_rms_kcal_per_mol")[0], "nan");
  EXPECT_EQ(column("departed_replicas")[0], "0");
}

/// Both have order 2 (docs/methods.md).
TEST_F(Comparisons, OrdersOfTheEnergyByStep) {
  ASSERT_EQ(run(kInputs + "conservation7.toml",
                {"--schemes", "settle,zss-stiff", "--steps", "0.5,1,2", "--set",
                 "run.duration_ps=4", "--unset", "run.steps", "--set", "system.replicas=4"})
                .code,
            0)
      << read_text(log_);
  EXPECT_EQ(column("scheme").front(), "settle:timestep_fs=0.5") << "there is no reference";
  io::CsvReader csv(out_ + "/orders.csv");
  std::vector<std::string_view> cells;
  int rows = 0;
  for (; csv.next(cells); ++rows) {
    EXPECT_EQ(cells[csv.column("quantity")], "energy");
    // C h² (1 + O(w² h²)), where w h of the fastest librations, of some 40 fs, is 0.3 at 2 fs.
    EXPECT_NEAR(csv.number(cells[csv.column("order")]), 2.0, 0.1);
    EXPECT_EQ(cells[csv.column("points")], "3");
  }
  EXPECT_EQ(rows, 2);
  EXPECT_TRUE(contains(read_text(log_), "order of E"));
}

/// A run of the same deck gives the same numbers, and the same notes of them.
TEST_F(Comparisons, ReportTheWarningsOfARun) {
  struct Case {
    std::string deck;
    std::vector<std::string> changes;
    std::string note;     // begins so
    std::string until{};  // of a run only; empty: nothing
  };
  const std::vector<Case> cases{
      // At 600 K molecules fly off within some picoseconds, and are seen each thousand steps.
      {"water7-modern.toml",
       {"thermostat.temperature_K=600", "run.duration_ps=20", "run.equilibration_ps=2",
        "system.replicas=1"},
       "replica 0: molecule "},
      // Oxygens need 80 ps to take up the paper's friction.
      {"water7.toml", {"run.duration_ps=20", "run.equilibration_ps=2"}, "mean temperature "},
      // From the lowest minimum on, where the first picosecond is all heating.
      {"water7-modern.toml",
       {"thermostat.temperature_K=100", "run.duration_ps=4", "run.equilibration_ps=0",
        "observe.energies.every=10"},
       "not equilibrated. potential_kcal_per_mol ",
       " or --skip of tarn analyse"},
      // Librations that begin in step.
      {"conservation7.toml",
       {"run.steps=100", "system.replicas=64", "system.temperature_K=100",
        "observe.energies.every=1"},
       "not equilibrated. potential_kcal_per_mol ",
       " or --skip of tarn analyse"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> settings;
    for (const std::string& change : c.changes) {
      settings.push_back("--set");
      settings.push_back(change);
    }
    std::vector<std::string> of_run{TARN_BINARY,         "run",        kInputs + c.deck, "--out",
                                    folder_.file("run"), "--overwrite"};
    of_run.insert(of_run.end(), settings.begin(), settings.end());
    const std::string run_log = folder_.file("run.log");
    std::filesystem::remove(run_log);
    EXPECT_EQ(test::Program(of_run, lines_, run_log).wait().code, 0) << read_text(run_log);
    std::vector<std::string> of_compare = settings;
    of_compare.insert(of_compare.end(), {"--schemes", "zss-stiff", "--overwrite"});
    std::filesystem::remove(log_);
    EXPECT_EQ(run(kInputs + c.deck, of_compare).code, 0) << read_text(log_);
    const std::string told = read_text(run_log);
    const std::size_t at = told.find(c.note);
    ASSERT_NE(at, std::string::npos) << told;
    std::string note = told.substr(at, told.find('\n', at) - at);
    if (!c.until.empty()) note.erase(note.find(c.until));
    EXPECT_TRUE(contains(read_text(log_), "zss-stiff: " + note)) << note << '\n' << read_text(log_);
  }
}

/// The same numbers as of a run, scheme after scheme, and times beside those of the first.
TEST_F(Comparisons, ReportReorientation) {
  const std::vector<std::string> more{"--set", "run.steps=300",
                                      "--set", "run.equilibration_ps=0.1",
                                      "--set", "system.replicas=4",
                                      "--set", "integrator.timestep_fs=2",
                                      "--set", "observe.correlation.every=5",
                                      "--set", "observe.correlation.length_ps=0.2"};
  std::vector<std::string> compared = more;
  compared.insert(compared.end(), {"--schemes", "settle,shake,settle:timestep_fs=1"});
  ASSERT_EQ(run(kInputs + "water7-modern.toml", compared).code, 0) << read_text(log_);
  std::vector<std::string> alone{
      TARN_BINARY,         "run",   kInputs + "water7-modern.toml", "--quiet", "--out",
      folder_.file("run"), "--set", "integrator.scheme=settle",     "--unset", "integrator.omega"};
  alone.insert(alone.end(), more.begin(), more.end());
  ASSERT_EQ(test::Program(alone, lines_, folder_.file("run.log")).wait().code, 0);
  std::map<std::string, std::vector<std::string>> rows;  // by scheme
  io::CsvReader csv(out_ + "/correlation.csv");
  for (std::vector<std::string_view> cells; csv.next(cells);) {
    std::string row;
    for (std::size_t c = 1; c < cells.size(); ++c)
      row += (c > 1 ? "," : "") + std::string(cells[c]);
    rows[std::string(cells[0])].push_back(row);
  }
  EXPECT_EQ(rows["settle"].size(), 21u);
  EXPECT_EQ(rows["shake"].size(), 21u);
  EXPECT_EQ(rows["settle:timestep_fs=1"].size(), 21u) << "as often as with 2 fs";
  const std::string of_run = read_text(folder_.file("run/correlation.csv"));
  for (const std::string& row : rows["settle"]) {
    EXPECT_TRUE(contains(of_run, "\n" + row + "\n")) << row;
  }
  io::CsvReader times(out_ + "/correlation_times.csv");
  std::vector<double> dipoles;
  for (std::vector<std::string_view> cells; times.next(cells);) {
    dipoles.push_back(times.number(cells[times.column("dipole_p1_time_ps")]));
    EXPECT_GT(times.number(cells[times.column("us_per_ps")]), 0.0);
  }
  ASSERT_EQ(dipoles.size(), 3u);
  EXPECT_TRUE(contains(read_text(folder_.file("run/averages.csv")),
                       fmt::format("correlation,dipole_p1_time_ps,{:.17g},", dipoles[0])));
  const std::string log = read_text(log_);
  EXPECT_TRUE(contains(log, "hydrogen-bond lifetime / ps")) << log;
  EXPECT_TRUE(contains(log, " %")) << log;
  EXPECT_TRUE(contains(log, "shake: correlation: not decayed at 0.2 ps: ")) << log;

  // With steps all look at the same times; too short a run has no rows, and says so.
  compared = more;
  compared.insert(compared.end(), {"--schemes", "settle", "--steps", "2,5", "--overwrite"});
  ASSERT_EQ(run(kInputs + "water7-modern.toml", compared).code, 0) << read_text(log_);
  rows.clear();
  io::CsvReader by_step(out_ + "/correlation.csv");
  for (std::vector<std::string_view> cells; by_step.next(cells);) {
    rows[std::string(cells[0])].emplace_back(cells[1]);
  }
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows["settle:timestep_fs=2"].size(), rows["settle:timestep_fs=5"].size());
  compared.insert(compared.end(), {"--set", "observe.correlation.length_ps=0.4"});
  ASSERT_EQ(run(kInputs + "water7-modern.toml", compared).code, 0) << read_text(log_);
  EXPECT_TRUE(contains(read_text(log_), "settle:timestep_fs=5: no correlations"));
  EXPECT_FALSE(std::filesystem::exists(out_ + "/correlation.svg"));

  // 10 fs are no multiple of 3 fs: how long bonds last is not compared. Lost replicas have no
  // times.
  compared = more;
  compared.insert(compared.end(), {"--schemes", "settle:timestep_fs=3,settle,verlet:timestep_fs=8",
                                   "--overwrite", "--set", "run.steps=600"});
  ASSERT_EQ(run(kInputs + "water7-modern.toml", compared).code, 3);
  EXPECT_TRUE(contains(read_text(log_),
                       "sampled every 9 fs (settle:timestep_fs=3), but every 10 fs (settle), 8 fs "
                       "(verlet:timestep_fs=8): hydrogen-bond lifetimes"))
      << read_text(log_);
  rows.clear();
  io::CsvReader of_some(out_ + "/correlation.csv");
  for (std::vector<std::string_view> cells; of_some.next(cells);) {
    rows[std::string(cells[0])].emplace_back(cells[1]);
  }
  EXPECT_EQ(rows.size(), 2u);
  io::CsvReader three(out_ + "/correlation_times.csv");
  std::vector<double> stopped;
  for (std::vector<std::string_view> cells; three.next(cells);) {
    stopped.push_back(three.number(cells[three.column("stopped_replicas")]));
  }
  EXPECT_EQ(stopped, (std::vector<double>{0.0, 0.0, 4.0}));

  // One window of one replica has no error.
  compared = more;
  compared.insert(compared.end(), {"--schemes", "settle,shake", "--overwrite", "--set",
                                   "system.replicas=1", "--set", "run.steps=180"});
  ASSERT_EQ(run(kInputs + "water7-modern.toml", compared).code, 0) << read_text(log_);
  EXPECT_TRUE(contains(read_text(log_), " +- ?, +")) << read_text(log_);
  EXPECT_TRUE(contains(read_text(log_), " +- ? %")) << read_text(log_);
  // Each scheme has its own numbers: together they are too many.
  compared = more;
  compared.insert(compared.end(), {"--schemes", "settle,shake,rattle", "--overwrite", "--set",
                                   "system.replicas=200", "--set", "observe.correlation.every=1",
                                   "--set", "observe.correlation.length_ps=30"});
  EXPECT_EQ(run(kInputs + "water7-modern.toml", compared).code, 2);
  EXPECT_TRUE(contains(read_text(log_), "the time correlations of 3 schemes need"))
      << read_text(log_);
}

TEST_F(Comparisons, NameTheSectionsThatTheyDoNotUse) {
  ASSERT_EQ(run(kInputs + "water7-modern.toml",
                {"--schemes", "settle", "--set", "run.steps=10", "--set", "run.equilibration_ps=0",
                 "--set", "system.replicas=1", "--set", "observe.conservation.every=5", "--set",
                 "observe.cluster.every=5"})
                .code,
            0);
  const std::string log = read_text(log_);
  EXPECT_TRUE(contains(log, "ignores [observe.conservation], [observe.cluster], which")) << log;
}

/// A distance of histograms says nothing without what it would be of equal distributions.
TEST_F(Comparisons, PrintTheNoiseOfADistanceBesideIt) {
  ASSERT_EQ(run(kInputs + "water7-modern.toml",
                {"--schemes", "settle,shake", "--set", "run.steps=500", "--set",
                 "run.equilibration_ps=0", "--set", "system.replicas=4"})
                .code,
            0);
  const auto number = [&](const std::string& name) { return std::stod(column(name)[1]); };
  ASSERT_GT(number("oo_total_variation_noise"), 0.0);
  const std::string both = fmt::format("{:.4f} {:.4f}", number("oo_total_variation"),
                                       number("oo_total_variation_noise"));
  EXPECT_TRUE(contains(read_text(log_), both)) << both << '\n' << read_text(log_);
}

/// A turn of a fortieth of these runs would take days.
TEST_F(Comparisons, OfWaterEndSoonWhenInterrupted) {
  ASSERT_TRUE(ends_when_interrupted(
      kInputs + "water7.toml", {"--schemes", "settle,shake", "--set", "run.steps=1000000000000",
                                "--set", "run.equilibration_ps=0", "--threads", "1"}));
  EXPECT_EQ(column("scheme"), (std::vector<std::string>{"settle", "shake"}));
  EXPECT_TRUE(contains(read_text(log_), "interrupted"));
  EXPECT_TRUE(contains(read_text(lines_), "\"interrupted\""));
}

}  // namespace
}  // namespace tarn
