#include "tarn/reproduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rounding.hpp"
#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

const std::string kInputs = std::string(TARN_SOURCE_DIR) + "/inputs";

TEST(Reproductions, HaveUniqueNamesAndDecksThatAcceptTheirSchemes) {
  std::set<std::string> names;
  for (const Reproduction& r : reproductions()) {
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    EXPECT_TRUE(!r.deck.empty() || r.make != nullptr) << r.name;
    if (!r.deck.empty()) {
      const Deck deck = load_deck(kInputs + "/" + r.deck, r.overrides);
      for (const std::string& scheme : r.schemes) {
        EXPECT_NO_THROW(with_scheme(deck, scheme)) << scheme;
      }
    }
    EXPECT_TRUE(
        std::filesystem::exists(std::string(TARN_SOURCE_DIR) + "/docs/results/" + r.name + ".md"))
        << r.name << ": run tarn reproduce " << r.name;
  }
}

// Most runs are too long to be repeated here.
TEST(Reproductions, CommittedPagesHaveTheWordsOfTheCode) {
  for (const Reproduction& r : reproductions()) {
    const std::string page =
        test::read_text(std::string(TARN_SOURCE_DIR) + "/docs/results/" + r.name + ".md");
    EXPECT_TRUE(page.starts_with(fmt::format("# {}\n\n<!-- made by: tarn reproduce {} -->\n\n{}\n",
                                             r.title, r.name, r.summary)))
        << r.name;
    EXPECT_TRUE(r.paper.empty() || test::contains(page, r.paper)) << r.name;
  }
}

TEST(Reproductions, RunOnceForARepeatedNameAndReportUnknownNames) {
  const test::ScratchFolder folder;
  ReproduceOptions options;
  options.inputs_dir = kInputs;
  options.out_dir = folder.file("out");
  std::vector<std::string> begun;
  options.on_begin = [&](const std::string& name) { begun.push_back(name); };
  reproduce({"multipliers", "multipliers"}, options);
  EXPECT_EQ(begun, std::vector<std::string>{"multipliers"});
  const std::string message = test::message_of<InputError>([&] {
    reproduce({"multipliers", "multiplier", "nothing"}, options);
  });
  EXPECT_TRUE(test::contains(message, "unknown page: 'multiplier', 'nothing'. Pages: "));
  EXPECT_EQ(begun.size(), 1u);
}

// Time and memory by the number of molecules in README.md agree with docs/results to two digits.
TEST(Reproductions, ReadmeAgreesWithTheTableOfGrowth) {
  const std::string source = TARN_SOURCE_DIR;
  std::string readme = test::read_text(source + "/README.md");
  readme = std::regex_replace(readme, std::regex("\n *"), " ");
  const auto two_digits = [](double value) {
    return fmt::format("{:.{}f}", value, value < 9.95 ? 1 : 0);
  };
  std::map<std::string, double> ns;  // of a step in double
  io::CsvReader csv(source + "/docs/results/growth.csv");
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    if (cells[csv.column("replicas")] == "1" && cells[csv.column("precision")] == "double") {
      ns[std::string(cells[csv.column("molecules")])] =
          csv.number(cells[csv.column("core_ns_per_step")]);
    }
  }
  EXPECT_TRUE(test::contains(
      readme,
      fmt::format("from {} ms for 1000 molecules to {} ms for 5000 and {} s for 20 000 (one core, "
                  "double precision",
                  two_digits(ns.at("1000") * 1e-6), two_digits(ns.at("5000") * 1e-6),
                  two_digits(ns.at("20000") * 1e-9))));
  // | double | bytes per replica of 7 | per replica of 100 | per molecule | total for 20000 (MB) |
  const std::string page = test::read_text(source + "/docs/results/growth.md");
  double of_7 = 0.0, of_100 = 0.0, a_molecule = 0.0, mb = 0.0;
  const std::size_t memory = page.find("## Memory");
  ASSERT_NE(memory, std::string::npos);
  ASSERT_EQ(std::sscanf(page.c_str() + page.find("| double |", memory),
                        "| double | %lf | %lf | %lf | %lf |", &of_7, &of_100, &a_molecule, &mb),
            4);
  EXPECT_TRUE(test::contains(
      readme,
      fmt::format("a replica takes {} kB for seven molecules, {} kB for 100 and {} MB for 20 000",
                  two_digits(of_7 * 1e-3), two_digits(of_100 * 1e-3), two_digits(mb))));
}

TEST(Reproductions, WriteTheirPageAndTable) {
  const test::ScratchFolder folder;
  ReproduceOptions options;
  options.inputs_dir = kInputs;
  options.out_dir = folder.path() + "/not/there/yet";
  reproduce({"multipliers"}, options);
  io::CsvReader csv(options.out_dir + "/multipliers.csv");
  std::vector<std::string_view> cells;
  int rows = 0;
  while (csv.next(cells)) ++rows;
  // 97 of the 101 steps have a whole window, 21 bonds, two schemes and the reference.
  EXPECT_EQ(rows, 97 * 21 * 3);
  EXPECT_TRUE(std::filesystem::exists(options.out_dir + "/multipliers.md"));
}

/// Short runs: a row for each curve, thermostat and step, and properties that hold for any length.
TEST(Reproductions, OfErrorsAgainstCostCompareEverySchemeWithTheReference) {
  const test::ScratchFolder folder;
  std::filesystem::copy(kInputs + "/structures", folder.file("structures"));
  std::string deck = test::read_text(kInputs + "/verdict-10K.toml");
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = deck.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    deck.replace(at, from.size(), to);
  };
  replace("replicas = 64", "replicas = 8");
  replace("duration_ps = 120", "duration_ps = 9.6");
  replace("equilibration_ps = 19.2", "equilibration_ps = 3.84");
  test::write_text(folder.file("verdict-10K.toml"), deck);
  ReproduceOptions options;
  options.inputs_dir = options.out_dir = folder.path();
  reproduce({"verdict-10K"}, options);

  io::CsvReader csv(folder.path() + "/verdict-10K.csv");
  std::vector<std::string_view> cells;
  int rows = 0, stopped = 0;
  while (csv.next(cells)) {
    ++rows;
    const auto number = [&](std::size_t k) { return std::stod(std::string(cells[k])); };
    if (number(16) > 0.0) {
      ++stopped;
      EXPECT_EQ(cells[4], "nan") << cells[0];
      continue;
    }
    EXPECT_GT(number(4), 0.0);
    const double difference = number(11), error = number(12);
    EXPECT_GT(error, 0.0);
    // omega = 20 has an error of 6 kcal/mol; rigid schemes with BAOAB and short steps have none.
    // Tolerances: errors of 36 harmonic modes over eight replicas, with room for blocks of few
    // samples.
    if (cells[0].starts_with("zss-stiff:omega=20")) {
      EXPECT_NEAR(difference, -6.3, 0.4);
    } else if (!cells[0].starts_with("zss") && number(2) <= 4.0) {
      EXPECT_LT(std::fabs(difference), 0.1) << cells[0];
    }
  }
  EXPECT_EQ(rows, 14 * 2 * 7);
  EXPECT_GT(stopped, 0);  // the full Hessian with omega = 500, for example
  EXPECT_LT(stopped, rows / 2);
}

/// Writes a page to a folder. @param share_of_time of its runs and timings
void make_page(const std::string& name, const test::ScratchFolder& folder,
               double share_of_time = 1.0) {
  ReproduceOptions options;
  options.inputs_dir = kInputs;
  options.out_dir = folder.path();
  options.share_of_time = share_of_time;
  reproduce({name}, options);
}

/// Rows of a shortened page, with clusters of up to so many molecules, by column.
std::vector<std::map<std::string, std::string>> short_page(
    const std::string& name, int most_molecules, const std::vector<std::string>& columns) {
  const test::ScratchFolder folder;
  ReproduceOptions options;
  options.inputs_dir = kInputs;
  options.out_dir = folder.path();
  options.threads = 2;
  options.most_molecules = most_molecules;
  options.share_of_time = 0.01;
  reproduce({name}, options);
  const std::string page = test::read_text(folder.file(name + ".md"));
  EXPECT_FALSE(test::contains(page, "nan "));
  EXPECT_FALSE(test::contains(page, "inf "));
  EXPECT_TRUE(std::filesystem::exists(folder.file(name + ".svg")));
  io::CsvReader csv(folder.file(name + ".csv"));
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    auto& row = rows.emplace_back();
    for (const std::string& column : columns) row[column] = std::string(cells[csv.column(column)]);
  }
  return rows;
}

double number(const std::map<std::string, std::string>& row, const char* column) {
  return std::stod(row.at(column));
}

/// Independent of the machine: quartiles are in order.
void expect_times(const std::map<std::string, std::string>& row) {
  EXPECT_GT(number(row, "core_ns_per_step_low"), 0.0);
  EXPECT_LE(number(row, "core_ns_per_step_low"), number(row, "core_ns_per_step"));
  EXPECT_LE(number(row, "core_ns_per_step"), number(row, "core_ns_per_step_high"));
}

TEST(Reproductions, OfResonancesCountBlowUpsByBeta) {
  const auto rows = short_page("resonances", 7, {"omega", "beta", "replicas", "stopped_replicas"});
  ASSERT_EQ(rows.size(), 3u * 69u);
  for (const auto& row : rows) {
    const double beta = number(row, "beta");
    if (row.at("omega") == "20" || (beta > 0.378 && beta < 0.482)) {
      EXPECT_EQ(row.at("stopped_replicas"), "0") << row.at("omega") << ' ' << beta;
    }
    // Within 200 steps, at b = 1/3.
    if (row.at("omega") == "500" && std::abs(beta - 1.0 / 3.0) < 0.002) {
      EXPECT_EQ(row.at("stopped_replicas"), row.at("replicas"));
    }
  }
}

TEST(Reproductions, OfPendulaFindUnstableSchemes) {
  const auto rows = short_page("pendulum-stability", 0,
                               {"scheme", "omega", "start", "steps_survived", "lost_by"});
  ASSERT_EQ(rows.size(), 11u * 9u * 16u);
  std::map<std::string, int> left;  // after 100 steps, by scheme and omega
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("lost_by") == "nothing", number(row, "steps_survived") == 100.0);
    if (row.at("lost_by") == "nothing") ++left[row.at("scheme") + ' ' + row.at("omega")];
  }
  EXPECT_EQ(left["zs:beta=0.4 10"], 16);
  EXPECT_EQ(left["zs:beta=0.4 200"], 0);
  EXPECT_EQ(left["zss:beta=0.4 70"], 16);
  // Conjugate to each other.
  EXPECT_EQ(left["newmark 1000"], 16);
  EXPECT_EQ(left["pushforward-newmark 1000"], 16);
  EXPECT_EQ(left["zss-stiff:hessian=gauss-newton:beta=0.4 1000"], 16);
  EXPECT_LT(left["zss:beta=0.4 1000"], 16);
  EXPECT_EQ(left["midpoint 200"], 16);
}

TEST(Reproductions, OfTheChainIncludeHalfTheStepWithErrorsOfItsOrder) {
  const auto rows =
      short_page("pendulum-chain", 0, {"scheme", "time", "x_last", "y_last", "error_max"});
  ASSERT_EQ(rows.size(), 4u * 1001u);
  std::map<std::string, double> largest;
  for (const auto& row : rows) {
    double& error = largest[row.at("scheme")];
    error = std::max(error, number(row, "error_max"));
  }
  EXPECT_LT(largest.at("shake"), 0.004);
  EXPECT_LT(largest.at("zs"), 0.04);
  EXPECT_NEAR(std::log2(largest.at("shake") / largest.at("shake:step=0.025")), 2.0, 0.1);
}

TEST(Reproductions, OfThePenaltyAverageMultipliersOverWholeWindows) {
  const auto rows = short_page(
      "penalty-limit", 0,
      {"omega", "scheme", "omega2_g_max", "omega2_g_end", "instant_error_rms", "instant_error_max",
       "window_error_median", "window_error_rms", "window_error_max"});
  ASSERT_EQ(rows.size(), 17u * 2u);
  std::map<std::string, double> largest;  // error of a mean, by omega, exact
  for (const auto& row : rows) {
    EXPECT_LE(number(row, "omega2_g_end"), number(row, "omega2_g_max"));
    EXPECT_LE(number(row, "window_error_median"), number(row, "window_error_max"));
    EXPECT_LE(number(row, "window_error_rms"), number(row, "window_error_max"));
    if (row.at("scheme") != "exact") continue;
    largest[row.at("omega")] = number(row, "window_error_max");
    // At the start of vibrations ω² g is 0, and the multiplier 2/3.
    EXPECT_NEAR(number(row, "instant_error_max"), 2.0 / 3.0, 0.03) << row.at("omega");
  }
  // By a prototype, to 5 %.
  EXPECT_NEAR(largest.at("20"), 0.108, 0.0054);
  EXPECT_NEAR(largest.at("40"), 0.102, 0.0051);
  EXPECT_NEAR(largest.at("80"), 0.067, 0.0034);
  EXPECT_NEAR(largest.at("160"), 0.036, 0.0018);
}

TEST(Reproductions, OfSlowSolutionsContainErrorsAndCosts) {
  const auto rows =
      short_page("slow-manifold", 0,
                 {"method", "omega", "step", "q_error", "p_error", "forces", "time_ratio"});
  // Twelve steps of RATTLE and seven of the projected method, and six tolerances twice.
  ASSERT_EQ(rows.size(), 3u * (12u + 7u) + 2u * 6u);
  std::map<std::string, std::map<std::string, double>> q_error, forces;
  for (const auto& row : rows) {
    EXPECT_GT(number(row, "time_ratio"), 0.0);
    const std::string run = row.at("method") + ' ' + row.at("omega");
    q_error[run][row.at("step")] = number(row, "q_error");
    forces[run][row.at("step")] = number(row, "forces");
  }
  EXPECT_NEAR(q_error.at("rattle 10000").at("0.125"), 2.81e-2, 1e-3);
  EXPECT_NEAR(q_error.at("rattle 100").at("0.000244140625"), 8.2e-3, 1e-4);
  EXPECT_NEAR(q_error.at("rk4-projected 10000").at("0.0625"), 3.0e-5, 3e-6);
  // One force per step and one at the start; the cost of a projection does not depend on ω.
  EXPECT_EQ(forces.at("rattle 1000").at("0.5"), 21.0);
  EXPECT_NEAR(
      forces.at("rk4-projected 1000").at("0.5") / forces.at("rk4-projected 10000").at("0.5"), 1.0,
      0.02);
}

TEST(Reproductions, OfChainsTimeEveryLength) {
  const auto rows =
      short_page("chain-cost", 0, {"scheme", "points", "core_us_per_step", "ratio", "iterations"});
  ASSERT_EQ(rows.size(), 4u * 7u);
  EXPECT_EQ(rows.front().at("scheme"), "zs");
  EXPECT_EQ(number(rows.front(), "ratio"), 1.0);
  for (const auto& row : rows) {
    EXPECT_NEAR(number(row, "ratio") * number(rows.front(), "core_us_per_step") /
                    number(row, "core_us_per_step"),
                1.0, 1e-12);
    const bool newton = row.at("scheme") == "shake" || row.at("scheme") == "rattle";
    EXPECT_EQ(number(row, "iterations") > 0.0, newton) << row.at("scheme");
  }
  // A thousand times the points: the ratio would be a million for n², and is a thousand for n.
  EXPECT_GT(number(rows[6], "ratio"), 100.0);
  EXPECT_LT(number(rows[6], "ratio"), 20000.0);
}

TEST(Reproductions, OfTheMagnetDrawBothBodiesAtEveryTime) {
  const test::ScratchFolder folder;
  make_page("magnet", folder);
  const std::string picture = test::read_text(folder.file("magnet-snapshots.svg"));
  const std::string page = test::read_text(folder.file("magnet.md"));
  EXPECT_TRUE(test::contains(page, "(magnet-snapshots.svg)"));
  for (const char* label : {"t = 0", "t = 4", "t = 50"}) {
    const std::string text = fmt::format(">{}</text>", label);
    const std::size_t first = picture.find(text);
    ASSERT_NE(first, std::string::npos) << label;
    EXPECT_NE(picture.find(text, first + 1), std::string::npos) << label;
  }
  // Three faces and two arrows each.
  std::size_t polygons = 0;
  for (std::size_t at = 0; (at = picture.find("<polygon", at)) != std::string::npos; ++at) {
    ++polygons;
  }
  EXPECT_EQ(polygons, 2u * 8u * 5u);
}

TEST(Reproductions, OfWorkAndPrecisionContainErrorsAndCosts) {
  const auto rows = short_page(
      "work-precision", 0,
      {"scheme", "omega", "step", "forces_per_time", "us_per_time", "q_error_max", "v_error_max"});
  ASSERT_EQ(rows.size(), 7u * (7u + 8u));
  std::map<std::string, double> error;  // by scheme, omega and step
  for (const auto& row : rows) {
    const bool failed = row.at("q_error_max") == "nan";
    EXPECT_EQ(failed, row.at("us_per_time") == "nan");
    if (!failed)
      error[row.at("scheme") + ' ' + row.at("omega") + ' ' + row.at("step")] =
          number(row, "q_error_max");
  }
  // Verlet is stable for h omega below about 2. The orders are 2 and 4 up to the next term,
  // measured as 0.001 and 0.03.
  EXPECT_FALSE(error.contains("verlet 50 0.10000000000000001"));
  EXPECT_NEAR(std::log2(error.at("verlet 2 0.025000000000000001") /
                        error.at("verlet 2 0.012500000000000001")),
              2.0, 0.002);
  EXPECT_NEAR(
      std::log2(error.at("rk4 2 0.025000000000000001") / error.at("rk4 2 0.012500000000000001")),
      4.0, 0.06);
}

TEST(Reproductions, OfGrowthTimeEverySizeInBothPrecisions) {
  const auto rows =
      short_page("growth", 100,
                 {"molecules", "replicas", "precision", "core_ns_per_step", "core_ns_per_step_low",
                  "core_ns_per_step_high", "core_ns_per_pair"});
  std::set<std::vector<std::string>> cases;
  for (const auto& row : rows) {
    expect_times(row);
    cases.insert({row.at("molecules"), row.at("replicas"), row.at("precision")});
    const double n = number(row, "molecules");
    EXPECT_NEAR(
        number(row, "core_ns_per_pair") * 0.5 * n * (n - 1.0) / number(row, "core_ns_per_step"),
        1.0, test::few_roundings());
  }
  // 2, 4, 7, 12, 16, 17, 32, 64 and 100 molecules, up to 64 with 64 replicas and alone.
  EXPECT_EQ(cases.size(), 2u * (8 * 2 + 1));
  EXPECT_EQ(rows.size(), cases.size());
}

TEST(Reproductions, OfSchemeCostCompareEverySchemeWithTheFirst) {
  const auto rows = short_page("scheme-cost", 32,
                               {"molecules", "replicas", "scheme", "core_ns_per_step",
                                "core_ns_per_step_low", "core_ns_per_step_high", "ratio"});
  ASSERT_EQ(rows.size(), 2u * 7u);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    expect_times(rows[k]);
    const auto& first = rows[k - k % 7];
    EXPECT_EQ(rows[k].at("molecules"), k < 7 ? "7" : "32");
    EXPECT_EQ(first.at("scheme"), "zss-stiff");
    EXPECT_NEAR(number(rows[k], "ratio"),
                number(rows[k], "core_ns_per_step") / number(first, "core_ns_per_step"),
                test::few_roundings(10.0));
  }
}

TEST(Reproductions, OfPrecisionContainErrorsOfForcesAndMomenta) {
  const auto rows = short_page(
      "precision", 7,
      {"molecules", "scheme", "precision", "replicas", "duration_ps",
       "drift_kcal_per_mol_per_ns_per_molecule", "drift_kcal_per_mol_per_ns_per_molecule_err",
       "rms_kcal_per_mol_per_molecule", "momentum_change_Da_A_per_akma",
       "angular_momentum_change_Da_A2_per_akma", "force_rms_relative_error"});
  ASSERT_EQ(rows.size(), 5u * 3u);
  for (const auto& row : rows) {
    const std::string& precision = row.at("precision");
    const double force = number(row, "force_rms_relative_error");
    // A few roundings per pair and those of the sums: up to a hundred times 2^-53 or 2^-24.
    const double rounding = precision == "double" ? 1.1e-16 : 6.0e-8;
    EXPECT_GT(force, 0.1 * rounding) << row.at("scheme") << ' ' << precision;
    EXPECT_LT(force, 100.0 * rounding) << row.at("scheme") << ' ' << precision;
    // 1000 steps of 7 molecules: forces of some 10 kcal/mol/A, times 0.04 akma, cancel.
    if (precision != "single") {
      EXPECT_LT(number(row, "momentum_change_Da_A_per_akma"), 1e-9);
    }
    // With arms of some 3 A; float pairs remove the net force, but not the net torque.
    const double turning = number(row, "angular_momentum_change_Da_A2_per_akma");
    if (precision == "double") {
      EXPECT_LT(turning, 1e-8) << row.at("scheme");
    } else {
      EXPECT_GT(turning, 1e-8) << row.at("scheme") << ' ' << precision;
    }
    EXPECT_GT(number(row, "drift_kcal_per_mol_per_ns_per_molecule_err"), 0.0);
    EXPECT_GT(number(row, "rms_kcal_per_mol_per_molecule"), 0.0);
    // k_B 10 K: fluctuations by the method are smaller than thermal ones.
    EXPECT_LT(number(row, "rms_kcal_per_mol_per_molecule"), 0.02);
  }
}

/// One row per bath, or one per kelvin from 60 to 300 K.
int rows_of(const std::string& what, int baths) {
  return test::contains(what, "from_all_baths") ? 241 : baths;
}

TEST(Reproductions, OfMeltingContainEveryBathOfBothModels) {
  const test::ScratchFolder folder;
  make_page("melting", folder, 1000.0 / 5e6);
  io::CsvReader csv(folder.file("melting.csv"));
  std::map<std::string, int> rows;  // by model and quantity
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    ++rows[std::string(cells[csv.column("model")]) + " " +
           std::string(cells[csv.column("quantity")])];
    if (!cells[csv.column("quantity")].ends_with("kcal_per_mol")) continue;
    EXPECT_LT(csv.number(cells[csv.column("mean")]), -40.0);
    EXPECT_GT(csv.number(cells[csv.column("error")]), 0.0);
  }
  EXPECT_EQ(rows.size(), 10u);
  for (const auto& [what, count] : rows)
    EXPECT_EQ(count, rows_of(what, what.starts_with("tip3p") ? 10 : 16)) << what;
  EXPECT_FALSE(std::filesystem::exists(folder.file(".melting-run"))) << "work folders are removed";
}

TEST(Reproductions, OfExchangeContainEveryBathWithAndWithoutIt) {
  const test::ScratchFolder folder;
  make_page("exchange", folder, 1000.0 / 1.25e6);
  io::CsvReader csv(folder.file("exchange.csv"));
  std::map<std::string, int> rows;
  std::set<std::string> energies;  // all distinct
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    ++rows[std::string(cells[csv.column("exchange")]) + std::string(cells[csv.column("start")]) +
           std::string(cells[csv.column("quantity")])];
    if (!cells[csv.column("quantity")].ends_with("kcal_per_mol")) continue;
    EXPECT_TRUE(energies.emplace(cells[csv.column("mean")]).second);
  }
  EXPECT_EQ(rows.size(), 16u);
  for (const auto& [what, count] : rows) EXPECT_EQ(count, rows_of(what, 10)) << what;
}

TEST(Reproductions, OfEvaporationContainEveryFrictionAndScheme) {
  const test::ScratchFolder folder;
  make_page("evaporation", folder, 8.0 / 400.0);
  int rows = 0;
  std::set<std::string> cases;
  io::CsvReader csv(folder.file("evaporation.csv"));
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    ++rows;
    cases.insert(fmt::format("{} {} {}", cells[csv.column("scheme")],
                             cells[csv.column("timestep_fs")],
                             cells[csv.column("friction_per_ps")]));
    EXPECT_GT(csv.number(cells[csv.column("time_ns")]), 0.0);
    EXPECT_GT(csv.number(cells[csv.column("rate_err")]), 0.0);
    EXPECT_LT(csv.number(cells[csv.column("potential_whole_kcal_per_mol")]), -30.0);
  }
  EXPECT_EQ(cases.size(), 9u);
  EXPECT_EQ(rows, 9 * 8);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_TRUE(entry.is_regular_file()) << entry.path() << ": work folders are removed";
  }
}

/// Two samples per replica: cold clusters remain the cube of the start, hot ones do not.
TEST(Reproductions, OfIsomersContainEveryBathOfBothModels) {
  const test::ScratchFolder folder;
  make_page("isomers", folder, 7500.0 / 3e6);
  io::CsvReader csv(folder.file("isomers.csv"));
  std::map<std::string, int> baths;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    const auto value = [&](const char* column) { return csv.number(cells[csv.column(column)]); };
    const std::string model(cells[csv.column("model")]);
    ++baths[model];
    const double start = value(model == "tip3p" ? "share_D2d" : "share_S4");
    const double other = value(model == "tip3p" ? "share_S4" : "share_D2d");
    if (value("bath_K") == 60.0) {
      EXPECT_EQ(start, 1.0);
    }
    EXPECT_GE(other, 0.0);
    EXPECT_LE(start + other, 1.0);
  }
  EXPECT_EQ(baths, (std::map<std::string, int>{{"tip3p", 16}, {"tip4p", 16}}));
  const std::string picture = test::read_text(folder.file("isomers-structures.svg"));
  EXPECT_TRUE(test::contains(picture, "D2d, tip3p"));
  EXPECT_TRUE(test::contains(picture, "S4, tip4p"));
}

TEST(Reproductions, OfSpectraCompareEverySchemeWithTheReference) {
  const test::ScratchFolder folder;
  make_page("spectrum", folder, 0.03);
  io::CsvReader csv(folder.file("spectrum.csv"));
  int rows = 0;
  for (std::vector<std::string_view> cells; csv.next(cells); ++rows) {
    const auto value = [&](const char* column) { return csv.number(cells[csv.column(column)]); };
    // 42 modes; after 0.6 ps the energy of the start, a third of 10 K, has not yet dissipated.
    EXPECT_GT(value("modes"), 35.0);
    EXPECT_LT(value("modes"), 65.0);
    EXPECT_GT(value("mean_libration_per_cm"), 400.0);
    EXPECT_LT(value("mean_libration_per_cm"), 900.0);
    EXPECT_GT(value("core_us_per_ps"), 0.0);
    if (value("timestep_fs") == 0.5) {
      EXPECT_EQ(value("difference"), 0.0);
      EXPECT_EQ(value("shift_per_cm"), 0.0);
    } else {
      EXPECT_GT(value("difference"), 0.0);
    }
  }
  EXPECT_EQ(rows, 2 * (1 + 5 * 3));
  // Independent of the length of the runs.
  const std::string page = test::read_text(folder.file("spectrum.md"));
  EXPECT_TRUE(test::contains(page, "16 librations from 415 to 859 cm⁻¹"));
  EXPECT_TRUE(test::contains(page,
                             "| rigid | 592.4 |\n| ω = 500 | +0.03 |\n| ω = 100 | +0.72 |\n"
                             "| ω = 50 | +2.88 |\n| ω = 20 | +18.83 |\n"));
  EXPECT_FALSE(std::filesystem::exists(folder.file(".spectrum-0"))) << "work folders are removed";
}

TEST(Reproductions, OfFlexibleWaterCompareStepsAndEnergies) {
  const auto rows = short_page(
      "flexible-steps", 7,
      {"thermostat", "scheme", "timestep_fs", "relative_cost", "intramolecular_kcal_per_mol",
       "oo_total_variation", "energy_change_rms_kcal_per_mol", "stopped_replicas"});
  ASSERT_EQ(rows.size(), 1u + 6u + 5u + 6u);
  std::map<std::string, double> bonds;  // by scheme and step
  for (const auto& row : rows) {
    if (row.at("thermostat") == "none") {
      EXPECT_GT(number(row, "energy_change_rms_kcal_per_mol"), 0.0);
      continue;
    }
    EXPECT_GT(number(row, "relative_cost"), 0.0);
    if (row.at("stopped_replicas") != "0") continue;
    bonds[row.at("scheme") + ' ' + row.at("timestep_fs")] =
        number(row, "intramolecular_kcal_per_mol");
    EXPECT_EQ(number(row, "oo_total_variation") == 0.0, row.at("timestep_fs") == "0.125");
  }
  // By 2.1 +- 0.1 kcal/mol, also in long runs.
  EXPECT_LT(bonds.at("zss-stiff 2"), bonds.at("verlet 0.125") - 1.5);
}

/// Runs of 0.2 ps, in which the rings spread.
TEST(Reproductions, OfRingPolymersCompareFlows) {
  const auto rows = short_page("ring-steps", 7,
                               {"free_ring", "timestep_fs", "stopped_replicas", "kinetic_h_meV",
                                "energy_virial_kcal_per_mol", "us_per_ps"});
  ASSERT_EQ(rows.size(), 1u + 2u * 6u);
  const double reference_meV = number(rows.front(), "kinetic_h_meV");
  const double classical_meV =
      1.5 * units::meV_per_kcal_per_mol * units::boltzmann_kcal_per_mol_K * 298.0;
  EXPECT_GT(reference_meV, 2.0 * classical_meV);
  for (const auto& row : rows) {
    const double step_fs = number(row, "timestep_fs");
    if (row.at("free_ring") == "exact" && step_fs > 0.75) continue;
    EXPECT_EQ(row.at("stopped_replicas"), "0") << row.at("free_ring") << ' ' << step_fs;
    EXPECT_NEAR(number(row, "kinetic_h_meV"), reference_meV, 0.1 * reference_meV);
    EXPECT_GT(number(row, "us_per_ps"), 0.0);
  }
}

/// Runs of 0.1 to 0.4 ps: at 300 K, kinetic energies are within a few per cent of their limits.
TEST(Reproductions, OfRingPolymersFindTheNumberOfBeads) {
  const auto rows = short_page("ring-beads", 8, {"bath_K", "beads", "kinetic_h_meV"});
  ASSERT_EQ(rows.size(), 6u);
  double before_meV = 0.0;
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(rows[k].at("bath_K"), "300");
    EXPECT_GT(number(rows[k], "kinetic_h_meV"), before_meV);
    before_meV = number(rows[k], "kinetic_h_meV") * (k < 2 ? 1.05 : 0.98);
  }
  EXPECT_EQ(rows.back().at("beads"), "0");
  EXPECT_NEAR(number(rows.back(), "kinetic_h_meV"), 156.0, 15.0);
}

TEST(Reproductions, OfTheQuantumOctamerCompareNuclei) {
  const auto rows = short_page("quantum-octamer", 8,
                               {"nuclei", "beads", "kinetic_h_meV", "q_oh_A", "oo_neighbour_A",
                                "hydrogen_bonds", "lindemann", "total_kcal_per_mol"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("nuclei"), "classical");
  EXPECT_EQ(rows[0].at("beads"), "1");
  EXPECT_EQ(rows[2].at("nuclei"), "H2O");
  EXPECT_EQ(rows[2].at("beads"), "64");
  for (std::size_t k = 1; k < 3; ++k) {
    EXPECT_GT(number(rows[k], "kinetic_h_meV"), number(rows[k - 1], "kinetic_h_meV"));
    EXPECT_GT(number(rows[k], "total_kcal_per_mol"), number(rows[k - 1], "total_kcal_per_mol"));
    EXPECT_GT(number(rows[k], "q_oh_A"), 0.95);
    EXPECT_NEAR(number(rows[k], "oo_neighbour_A"), 2.8, 0.1);
  }
}

/// Deuterium prefers hydrogen bonds, in which the kinetic energy of a hydrogen is larger; the
/// harmonic difference is that of the normal modes of the cube.
TEST(Reproductions, OfIsotopesFindSites) {
  const auto rows = short_page("isotopes", 8,
                               {"hydrogen_mass_Da", "kinetic_bonded_h_meV", "kinetic_free_h_meV",
                                "harmonic_bonded_h_meV", "harmonic_free_h_meV"});
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) {
    EXPECT_GT(number(row, "harmonic_bonded_h_meV"), number(row, "harmonic_free_h_meV"));
    EXPECT_NEAR(number(row, "kinetic_bonded_h_meV"), number(row, "harmonic_bonded_h_meV"), 15.0);
  }
  EXPECT_NEAR(number(rows.front(), "hydrogen_mass_Da"), 1.008, 1e-12);
  EXPECT_NEAR(number(rows.back(), "hydrogen_mass_Da"), 2.014, 1e-12);
}

TEST(Reproductions, OfDynamicsCompareSchemesAndFrictions) {
  const test::ScratchFolder folder;
  make_page("dynamics", folder, 0.003);
  io::CsvReader csv(folder.file("dynamics.csv"));
  int rows = 0;
  for (std::vector<std::string_view> cells; csv.next(cells); ++rows) {
    const auto value = [&](const char* column) { return csv.number(cells[csv.column(column)]); };
    // Correlations up to 0.2 ps have decayed by about half.
    for (const char* column : {"oh_p2_time_ps", "dipole_p1_time_ps", "bond_time_ps"}) {
      EXPECT_GT(value(column), 0.05) << column;
      EXPECT_LT(value(column), 0.2) << column;
    }
    EXPECT_GT(value("displacement_2ps_A2"), 0.0);
    EXPECT_GT(value("core_us_per_ps"), 0.0);
    EXPECT_EQ(value("stopped_replicas"), 0.0);
  }
  EXPECT_EQ(rows, 12 + 5);
  const std::string page = test::read_text(folder.file("dynamics.md"));
  EXPECT_TRUE(test::contains(page, "| Z&Ss, ω = 100 | 2 |"));
  EXPECT_TRUE(test::contains(page, "\n| 0.3 | "));
}

TEST(Reproductions, RefuseUnknownNames) {
  ReproduceOptions options;
  options.inputs_dir = kInputs;
  EXPECT_THROW(reproduce({"fig99"}, options), InputError);
}

}  // namespace
}  // namespace tarn
