#include <chrono>
#include <csignal>

#include "command.hpp"
#include "csv_columns.hpp"
#include "printed_table.hpp"
#include "program.hpp"

/// @file
/// Numbers of comparisons, failing schemes and interrupts; see also compare.txt.

namespace tarn {
namespace {

using namespace test;

const std::string kInputs = std::string(TARN_SOURCE_DIR) + "/inputs/";

class Comparisons : public ::testing::Test {
 protected:
  /// The output of `tarn compare` or `tarn run` with a deck of inputs and options.
  std::string output_of(const std::string& words, int exit_code = 0) const {
    const std::size_t blank = words.find(' ') + 1;
    const std::string command = words.substr(0, blank) + kInputs + words.substr(blank);
    const std::string out = words.starts_with("run") ? folder_.file("run") : out_;
    return test::output_of(command + " --no-pictures --overwrite --out " + out, exit_code);
  }
  /// A column of a table, by row.
  std::vector<std::string> column(const std::string& name,
                                  const std::string& table = "compare") const {
    return cells_of(out_ + "/" + table + ".csv", name);
  }
  double number(const std::string& name, std::size_t row) const {
    return std::stod(column(name)[row]);
  }
  /// Rows of correlation.csv by scheme, without its name.
  std::map<std::string, std::vector<std::string>> correlations() const {
    std::map<std::string, std::vector<std::string>> rows;
    std::istringstream lines(read_text(out_ + "/correlation.csv"));
    std::string line;
    for (int skipped = 0; skipped < 2; ++skipped) std::getline(lines, line);
    while (std::getline(lines, line)) {
      rows[line.substr(0, line.find(','))].push_back(line.substr(line.find(',') + 1));
    }
    return rows;
  }
  /// Interrupts a comparison once a condition holds; it ends within a minute. Returns its output.
  std::string interrupted(const std::string& words,
                          const std::function<bool(const Program&)>& condition) const {
    using Clock = std::chrono::steady_clock;
    const std::string log = folder_.file("log");
    std::vector<std::string> all{TARN_BINARY};
    std::istringstream stream("compare " + kInputs + words + " --json --no-pictures --out " + out_);
    for (std::string word; stream >> word;) all.push_back(word);
    Program program(all, lines_, log);
    const Clock::time_point limit = Clock::now() + std::chrono::minutes(1);
    while (program.runs() && !condition(program) && Clock::now() < limit) ::usleep(10'000);
    program.signal(SIGINT);
    while (program.runs() && Clock::now() < limit) ::usleep(10'000);
    EXPECT_FALSE(program.runs());
    EXPECT_EQ(program.wait().code, 130) << read_text(log);
    return read_text(log);
  }

  ScratchFolder folder_;
  std::string lines_ = folder_.file("lines"), out_ = folder_.file("out");
};

/// At 8 fs velocity Verlet loses all replicas within some steps; its bonds stand 0.2 fs.
TEST_F(Comparisons, SchemesWithoutReplicasHaveNoSpeedAndNoMeans) {
  for (const std::string schemes : {"settle,verlet:omega=100", "verlet:omega=100,settle"}) {
    const std::string text = output_of(
        "compare water7.toml --set integrator.timestep_fs=8 --set run.steps=400 --set "
        "run.equilibration_ps=0 --set system.replicas=3 --schemes " +
            schemes,
        3);
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
    EXPECT_TRUE(contains(text, "no replica is left"));
    EXPECT_FALSE(contains(text, "stay in the means"));
  }
}

/// Bonds of omega = 20 change the energy by a tenth, rigid ones by nothing that can be seen.
TEST_F(Comparisons, ErrorsAgainstCostByStep) {
  output_of(
      "compare water7-modern.toml --schemes shake,zss-stiff:omega=20 --steps 2,4 --reference "
      "rattle:timestep_fs=1.5 --set run.duration_ps=6 --set run.equilibration_ps=2 --set "
      "observe.energies.every=15");
  EXPECT_EQ(column("scheme"),
            (std::vector<std::string>{"reference rattle:timestep_fs=1.5", "shake:timestep_fs=2",
                                      "shake:timestep_fs=4", "zss-stiff:omega=20:timestep_fs=2",
                                      "zss-stiff:omega=20:timestep_fs=4"}));
  EXPECT_EQ(column("timestep_fs"), (std::vector<std::string>{"1.5", "2", "4", "2", "4"}));
  for (std::size_t row = 1; row < 5; ++row) {
    const double difference = number("potential_difference_kcal_per_mol", row);
    const double error = number("potential_difference_kcal_per_mol_err", row);
    // Of numbers that are written to the last bit: energies below 100, and products of 1e9.
    EXPECT_NEAR(difference,
                number("potential_kcal_per_mol", row) - number("potential_kcal_per_mol", 0),
                few_roundings(100.0));
    EXPECT_GT(error, number("potential_kcal_per_mol_err", row));
    if (row < 3) {
      EXPECT_LT(std::abs(difference), 4.5 * error);
    } else {
      EXPECT_LT(difference, -5.0);
    }
    EXPECT_NEAR(
        number("us_per_ps", row) * number("cluster_steps_per_s", row) * number("timestep_fs", row),
        1e9, few_roundings(1e9));
    EXPECT_EQ(number("oo_total_variation", row) > 0.1, row >= 3);
    EXPECT_GT(number("oo_total_variation_err", row), 0.0);
    EXPECT_GT(number("oo_total_variation_noise", row), 0.0);
  }
}

/// From the lowest minimum on, where the first picosecond is all heating.
TEST_F(Comparisons, OfASchemeWithItselfReportNoErrorBeforeEquilibration) {
  const std::string text = output_of(
      "compare water7-modern.toml --schemes settle --steps 2 --reference settle:timestep_fs=2 "
      "--set thermostat.temperature_K=100 --set run.duration_ps=1 --set run.equilibration_ps=0 "
      "--set observe.energies.every=10 --set system.replicas=256");
  const double error = number("potential_difference_kcal_per_mol_err", 1);
  const double difference = number("potential_difference_kcal_per_mol", 1);
  // The error holds what all replicas do alike, too: over six seeds the difference scatters by 0.35
  // of it, and 1.6 are 4.5 standard deviations. Over twice the time it is 3 to 4.5 errors.
  EXPECT_LT(std::abs(difference), 1.6 * error);
  // Both tell that they were not in equilibrium.
  for (const char* label : {"reference settle:timestep_fs=2", "settle:timestep_fs=2"}) {
    EXPECT_TRUE(contains(
        text, fmt::format("warning: {}: not equilibrated. potential_kcal_per_mol ", label)))
        << text;
  }
}

TEST_F(Comparisons, ReportUncertaintyOfCosts) {
  output_of(
      "compare water7-modern.toml --schemes settle,shake --steps 2 --set run.duration_ps=1 --set "
      "run.equilibration_ps=0 --set system.replicas=4");
  test::CsvReader csv(out_ + "/compare.csv");
  EXPECT_EQ(csv.header().back(), "us_per_ps_err") << "new columns come last";
  ASSERT_EQ(column("us_per_ps_err").size(), 3u);
  for (std::size_t row = 0; row < 3; ++row) EXPECT_GT(number("us_per_ps_err", row), 0.0);
}

/// A quench of so many molecules takes minutes.
TEST_F(Comparisons, EndWhileTheirStartsAreMade) {
  const std::string text = interrupted(
      "water7-modern.toml --schemes settle,zss-stiff --unset system.file --set "
      "system.molecules=2000 --set system.replicas=1",
      [](const Program& program) { return program.catches(SIGINT); });
  EXPECT_TRUE(contains(text, "interrupted while the start was made")) << text;
  EXPECT_FALSE(std::filesystem::exists(out_)) << "nothing was begun";
}

/// Without a thermostat: the drift that a run tells, and nothing of it with one.
TEST_F(Comparisons, ReportEnergyConservation) {
  const std::string settings = " conservation7.toml --set run.steps=1000 --set system.replicas=4 ";
  output_of("run" + settings);
  const std::string text = output_of("compare" + settings + "--schemes settle,zss-stiff");
  const CsvRows averages(folder_.file("run/averages.csv"), {"quantity"});
  const std::string drift = "energy_drift_kcal_per_mol_per_ps";
  // The same engine and samples; times are multiplied in another order.
  EXPECT_NEAR(number(drift, 1) / averages(drift, "mean"), 1.0, 1e-12);
  EXPECT_NEAR(number(drift + "_err", 1) / averages(drift, "error"), 1.0, 1e-12);
  for (std::size_t row = 0; row < 2; ++row) {
    const double rms = number("energy_rms_kcal_per_mol", row);
    EXPECT_GT(rms, 0.0);
    EXPECT_GT(number("energy_max_kcal_per_mol", row), rms);
  }
  EXPECT_TRUE(contains(text, "rms change of E"));
  output_of(
      "compare water7-modern.toml --schemes settle --set run.steps=10 --set "
      "run.equilibration_ps=0 --set system.replicas=1");
  EXPECT_EQ(column("energy_rms_kcal_per_mol")[0], "nan");
  EXPECT_EQ(column("departed_replicas")[0], "0");
}

/// Both have order 2 (docs/methods.md).
TEST_F(Comparisons, OrdersOfTheEnergyByStep) {
  const std::string text = output_of(
      "compare conservation7.toml --schemes settle,zss-stiff --steps 0.5,1,2 --set "
      "run.duration_ps=4 --unset run.steps --set system.replicas=4");
  EXPECT_EQ(column("scheme").front(), "settle:timestep_fs=0.5") << "there is no reference";
  EXPECT_EQ(column("quantity", "orders"), std::vector<std::string>(2, "energy"));
  EXPECT_EQ(column("points", "orders"), std::vector<std::string>(2, "3"));
  // C h² (1 + O(w² h²)), where w h of the fastest librations, of some 40 fs, is 0.3 at 2 fs.
  for (const std::string& order : column("order", "orders")) {
    EXPECT_NEAR(std::stod(order), 2.0, 0.1);
  }
  EXPECT_TRUE(contains(text, "order of E"));
}

/// A run of the same deck gives the same numbers, and the same notes of them.
TEST_F(Comparisons, ReportTheWarningsOfARun) {
  struct Case {
    std::string deck;     // with changes
    std::string note;     // begins so
    std::string until{};  // of a run only; empty: nothing
  };
  const std::vector<Case> cases{
      // At 600 K molecules fly off within some picoseconds, and are seen each thousand steps.
      {"water7-modern.toml --set thermostat.temperature_K=600 --set run.duration_ps=20 "
       "--set run.equilibration_ps=2 --set system.replicas=1",
       "replica 0: molecule "},
      // Oxygens need 80 ps to take up the paper's friction.
      {"water7.toml --set run.duration_ps=20 --set run.equilibration_ps=2", "mean temperature "},
      // From the lowest minimum on, where the first picosecond is all heating.
      {"water7-modern.toml --set thermostat.temperature_K=100 --set run.duration_ps=4 "
       "--set run.equilibration_ps=0 --set observe.energies.every=10",
       "not equilibrated. potential_kcal_per_mol ", " or --skip of tarn analyse"},
      // Librations that begin in step.
      {"conservation7.toml --set run.steps=100 --set system.replicas=64 "
       "--set system.temperature_K=100 --set observe.energies.every=1",
       "not equilibrated. potential_kcal_per_mol ", " or --skip of tarn analyse"},
  };
  for (const Case& c : cases) {
    const std::string told = output_of("run " + c.deck);
    const std::string compared = output_of("compare " + c.deck + " --schemes zss-stiff");
    const std::size_t at = told.find(c.note);
    ASSERT_NE(at, std::string::npos) << told;
    std::string note = told.substr(at, told.find('\n', at) - at);
    if (!c.until.empty()) note.erase(note.find(c.until));
    EXPECT_TRUE(contains(compared, "zss-stiff: " + note)) << note << '\n' << compared;
  }
}

/// The same numbers as of a run, scheme after scheme, and times beside those of the first.
TEST_F(Comparisons, ReportReorientation) {
  const std::string more =
      " water7-modern.toml --set run.steps=300 --set run.equilibration_ps=0.1 --set "
      "system.replicas=4 --set integrator.timestep_fs=2 --set observe.correlation.every=5 --set "
      "observe.correlation.length_ps=0.2";
  const std::string text =
      output_of("compare" + more + " --schemes settle,shake,settle:timestep_fs=1");
  output_of("run" + more + " --set integrator.scheme=settle --unset integrator.omega");
  auto rows = correlations();
  EXPECT_EQ(rows["settle"].size(), 21u);
  EXPECT_EQ(rows["shake"].size(), 21u);
  EXPECT_EQ(rows["settle:timestep_fs=1"].size(), 21u) << "as often as with 2 fs";
  const std::string of_run = read_text(folder_.file("run/correlation.csv"));
  for (const std::string& row : rows["settle"]) {
    EXPECT_TRUE(contains(of_run, "\n" + row + "\n")) << row;
  }
  const auto dipoles = column("dipole_p1_time_ps", "correlation_times");
  ASSERT_EQ(dipoles.size(), 3u);
  for (const std::string& cost : column("us_per_ps", "correlation_times")) {
    EXPECT_GT(std::stod(cost), 0.0);
  }
  EXPECT_TRUE(contains(read_text(folder_.file("run/averages.csv")),
                       "correlation,dipole_p1_time_ps," + dipoles[0] + ","));
  EXPECT_TRUE(contains(text, "hydrogen-bond lifetime / ps")) << text;
  EXPECT_TRUE(contains(text, " %")) << text;
  EXPECT_TRUE(contains(text, "shake: correlation: not decayed at 0.2 ps: ")) << text;

  // With steps all look at the same times; too short a run has no rows, and says so.
  const std::string steps = "compare" + more + " --schemes settle --steps 2,5";
  output_of(steps);
  rows = correlations();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows["settle:timestep_fs=2"].size(), rows["settle:timestep_fs=5"].size());
  EXPECT_TRUE(contains(output_of(steps + " --set observe.correlation.length_ps=0.4"),
                       "settle:timestep_fs=5: no correlations"));

  // 10 fs are no multiple of 3 fs: how long bonds last is not compared. Lost replicas have no
  // times.
  const std::string three = output_of("compare" + more +
                                          " --set run.steps=600 --schemes "
                                          "settle:timestep_fs=3,settle,verlet:timestep_fs=8",
                                      3);
  EXPECT_TRUE(contains(three,
                       "sampled every 9 fs (settle:timestep_fs=3), but every 10 fs (settle), 8 fs "
                       "(verlet:timestep_fs=8): hydrogen-bond lifetimes"))
      << three;
  EXPECT_EQ(correlations().size(), 2u);
  EXPECT_EQ(column("stopped_replicas", "correlation_times"),
            (std::vector<std::string>{"0", "0", "4"}));

  // One window of one replica has no error.
  const std::string one =
      output_of("compare" + more + " --schemes settle,shake --set system.replicas=1");
  EXPECT_TRUE(contains(one, " +- ?, +")) << one;
  EXPECT_TRUE(contains(one, " +- ? %")) << one;
}

/// A turn of a fortieth of these runs would take days.
TEST_F(Comparisons, OfWaterEndSoonWhenInterrupted) {
  const std::string text = interrupted(
      "water7.toml --schemes settle,shake --set run.steps=1000000000000 --set "
      "run.equilibration_ps=0 --threads 1",
      [&](const Program&) {
        return std::filesystem::exists(lines_) && contains(read_text(lines_), "progress");
      });
  EXPECT_EQ(column("scheme"), (std::vector<std::string>{"settle", "shake"}));
  EXPECT_TRUE(contains(text, "interrupted"));
  EXPECT_TRUE(contains(read_text(lines_), "\"interrupted\""));
}

}  // namespace
}  // namespace tarn
