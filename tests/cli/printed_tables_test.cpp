#include "command.hpp"
#include "printed_table.hpp"

/// @file
/// All tables that commands print beside files: each cell is a number of a file, and no table is
/// wider than 100 columns. Numbers are looked up by the names of rows and columns.

namespace tarn {
namespace {

using namespace test;

const std::string kInputs = std::string(TARN_SOURCE_DIR) + "/inputs/";

class PrintedTables : public ::testing::Test {
 protected:
  /// Standard output and error of a command into out_.
  std::string printed(const std::string& words) {
    return output_of(words + " --no-pictures --out " + out_);
  }
  std::string path(const std::string& name) const { return out_ + "/" + name; }

  ScratchFolder folder_;
  std::string out_ = folder_.file("out");
};

const ColumnsOf kWater{
    {"steps/s, all clusters", {"cluster_steps_per_s"}},
    {"pairs", {"100 *pair_share"}},
    {"bonds", {"100 *bond_share"}},
    {"noise", {"100 *noise_share"}},
    {"rest", {"100 *rest_share"}},
    {"iterations", {"iterations_per_step"}},
    {"T / K", {"temperature_K", "temperature_K_err"}},
    {"T trans, rot, bond",
     {"temperature_translation_K", "temperature_rotation_K", "temperature_bond_K"}},
    {"<V0> / kcal/mol", {"potential_kcal_per_mol", "potential_kcal_per_mol_err"}},
    {"<V0> - first",
     {"potential_difference_kcal_per_mol", "potential_difference_kcal_per_mol_err"}},
    {"max |g| / A^2", {"constraint_max_A2"}},
    {"TV(OO), noise", {"oo_total_variation", "oo_total_variation_noise"}},
    {"stopped", {"stopped_replicas"}},
    {"µs per ps", {"us_per_ps", "us_per_ps_err"}},
    {"error of <V0> / kcal/mol",
     {"potential_difference_kcal_per_mol", "potential_difference_kcal_per_mol_err"}},
    {"TV(OO)", {"oo_total_variation", "oo_total_variation_err"}},
    {"TV noise", {"oo_total_variation_noise"}},
    {"rms change of E / kcal/mol", {"energy_rms_kcal_per_mol", "energy_rms_kcal_per_mol_err"}},
    {"max change of E / kcal/mol", {"energy_max_kcal_per_mol"}},
    {"drift of E / kcal/mol/ps",
     {"energy_drift_kcal_per_mol_per_ps", "energy_drift_kcal_per_mol_per_ps_err"}},
    {"max change of P / Da A/ps", {"momentum_max_Da_A_per_ps"}},
    {"max change of L / Da A^2/ps", {"angular_momentum_max_Da_A2_per_ps"}},
    // [observe.correlation]
    {"O-H P2 time / ps",
     {"oh_p2_time_ps", "oh_p2_time_ps_err", "oh_p2_time_ps %", "oh_p2_time_ps_err %"}},
    {"dipole P1 time / ps",
     {"dipole_p1_time_ps", "dipole_p1_time_ps_err", "dipole_p1_time_ps %",
      "dipole_p1_time_ps_err %"}},
    {"hydrogen-bond lifetime / ps",
     {"bond_time_ps", "bond_time_ps_err", "bond_time_ps %", "bond_time_ps_err %"}},
    // Ring polymers
    {"E / kcal/mol", {"energy_virial_kcal_per_mol", "energy_virial_kcal_per_mol_err"}},
    {"E primitive", {"energy_primitive_kcal_per_mol", "energy_primitive_kcal_per_mol_err"}},
    {"K of O / meV", {"kinetic_o_meV", "kinetic_o_meV_err"}},
    {"K of H / meV", {"kinetic_h_meV", "kinetic_h_meV_err"}},
    {"r_g^2 of H / A^2", {"gyration2_h_A2", "gyration2_h_A2_err"}}};

/// Shares of the time add up, and the terminal and the file explain them.
TEST_F(PrintedTables, OfSchemes) {
  const std::string text = printed("compare " + kInputs +
                                   "dynamics32.toml --schemes "
                                   "settle,shake,zss-stiff:omega=50:beta=0.4 --unset system.file "
                                   "--set system.molecules=7 --set system.replicas=4 "
                                   "--set run.duration_ps=6 --set run.equilibration_ps=1 --set "
                                   "observe.correlation.length_ps=0.2");
  const CsvRows compared(path("compare.csv"), {"scheme"});
  const CsvRows times(path("correlation_times.csv"), {"scheme"});
  const auto number_of = [&](const std::string& label, const std::string& column) {
    if (!contains(column, "_time_ps")) return compared(label, column);
    if (!column.ends_with(" %")) return times(label, column);
    // Relative to the first scheme.
    if (label == "settle") return std::nan("");
    const std::string name = column.substr(0, column.find("_ps") + 3);
    const double ratio = times(label, name) / times("settle", name);
    if (!contains(column, "_err")) return 100.0 * (ratio - 1.0);
    return 100.0 * ratio *
           std::hypot(times(label, name + "_err") / times(label, name),
                      times("settle", name + "_err") / times("settle", name));
  };
  EXPECT_GE(expect_printed(text, "scheme", kWater, number_of), 3u) << text;
  for (const std::string label : {"settle", "shake", "zss-stiff:omega=50:beta=0.4"}) {
    double all = 0.0;
    for (const char* share : {"pair_share", "bond_share", "noise_share", "rest_share"}) {
      EXPECT_GE(compared(label, share), 0.0) << label << share;
      all += compared(label, share);
    }
    EXPECT_NEAR(all, 1.0, 1e-8) << label;  // of nine digits
  }
  EXPECT_TRUE(contains(text, "pairs: forces between molecules"));
  std::string first;
  std::getline(std::ifstream(path("compare.csv")), first);
  EXPECT_TRUE(contains(first, "bonds: constraints")) << first;
}

TEST_F(PrintedTables, OfSteps) {
  const std::string text =
      printed("compare " + kInputs +
              "water7-modern.toml --schemes settle,zss-stiff:omega=50 --steps 2,4 --set "
              "run.duration_ps=4 --set run.equilibration_ps=1 --set system.replicas=8");
  const CsvRows compared(path("compare.csv"), {"scheme"});
  const auto number_of = [&](const std::string& label, std::string column) {
    // The row of the reference has its mean, and no distance from itself.
    if (label.starts_with("reference") && column.starts_with("oo_")) return std::nan("");
    if (label.starts_with("reference") && column.starts_with("potential_difference")) {
      column.replace(0, column.find("_kcal"), "potential");
    }
    return compared(label, column);
  };
  EXPECT_GE(expect_printed(text, "scheme", kWater, number_of), 1u) << text;
  const auto fastest = printed_tables(text, "limit");
  ASSERT_EQ(fastest.size(), 1u) << text;
  ASSERT_GT(fastest[0].size(), 7u);
  for (const auto& row : fastest[0]) {
    // "none", "not resolved: run 7 times longer", or a scheme that is equally fast
    if (row[0].empty() || !compared.has(row.back())) continue;
    expect_cell(row[1], row.back(), {"us_per_ps", "us_per_ps_err"}, number_of);
  }
}

TEST_F(PrintedTables, OfConservedEnergies) {
  const std::string text = printed("compare " + kInputs +
                                   "conservation7.toml --schemes settle,zss-stiff --steps 0.5,1 "
                                   "--unset run.steps --set run.duration_ps=2");
  const CsvRows compared(path("compare.csv"), {"scheme"}), orders(path("orders.csv"), {"scheme"});
  ColumnsOf columns = kWater;
  columns["order of E"] = {"order"};
  columns["steps"] = {"smallest_timestep_fs", "largest_timestep_fs"};
  EXPECT_GE(expect_printed(text, "scheme", columns,
                           [&](const std::string& label, const std::string& column) {
                             return (orders.has(label) ? orders : compared)(label, column);
                           }),
            2u)
      << text;
}

TEST_F(PrintedTables, OfRingPolymers) {
  const std::string text = printed(
      "compare " + kInputs +
      "pimd7.toml --schemes verlet --beads 1,4,8 --set system.molecules=2 "
      "--frequencies trotter,economised --set run.duration_ps=0.4 --set run.equilibration_ps=0.1");
  const CsvRows compared(path("compare.csv"), {"scheme"}), rings(path("beads.csv"), {"scheme"}),
      limits(path("bead_limits.csv"), {"scheme", "quantity"});
  const std::string infinity = ":beads=infinity";
  const auto number_of = [&](const std::string& label, const std::string& column) {
    if (label.ends_with(infinity)) {
      const bool is_error = column.ends_with("_err");
      const std::string row = label.substr(0, label.size() - infinity.size()) + " " +
                              (is_error ? column.substr(0, column.size() - 4) : column);
      // The energy by the primitive estimator and the cost have no limit.
      if (!limits.has(row)) return std::nan("");
      return limits(row, is_error ? "limit_err" : "limit");
    }
    const bool is_of_rings = contains(column, "energy_virial") || contains(column, "primitive") ||
                             contains(column, "kinetic") || contains(column, "gyration");
    return (is_of_rings ? rings : compared)(label, column);
  };
  EXPECT_GE(expect_printed(text, "scheme", kWater, number_of), 2u) << text;
  EXPECT_TRUE(contains(text, "frequencies=trotter:beads=infinity"));
  EXPECT_FALSE(contains(text, "ignores [observe.path_integral]")) << text;
}

/// Means and errors of runs and trajectories, of one temperature and of several.
TEST_F(PrintedTables, OfRuns) {
  const ColumnsOf averages{{"mean", {"mean", "error"}},
                           {"correlation time / ps", {"autocorrelation_ps"}},
                           {"independent samples", {"independent_samples"}}};
  // From a minimum, half of the kinetic energy becomes potential energy.
  const std::string text = printed(
      "run " + kInputs +
      "first.toml --unset thermostat --set system.temperature_K=100 --set run.duration_ps=30 --set "
      "run.equilibration_ps=2");
  EXPECT_TRUE(contains(text, "instead of 100 K: without a thermostat")) << text;
  const CsvRows rows(path("averages.csv"), {"table", "quantity"});
  const auto number_of = [&](const std::string& label, const std::string& column) {
    // A constant has an error and a correlation time of rounding only.
    const bool is_constant = rows(label, "error") < 1e-12 * std::abs(rows(label, "mean"));
    return is_constant && column != "mean" ? std::nan("") : rows(label, column);
  };
  EXPECT_GE(expect_printed(text, "averages after 2 ps", averages, number_of), 1u) << text;

  out_ = folder_.file("ladder");
  const std::string ladder =
      printed("run " + kInputs +
              "exchange8.toml --set run.duration_ps=20 --set run.equilibration_ps=2 --set "
              "system.replicas=20");
  const CsvRows by_bath(path("averages.csv"), {"table", "quantity", "bath_K"});
  ColumnsOf quantities;
  std::vector<std::string> tables;
  std::ifstream csv(path("averages.csv"));
  for (std::string line; std::getline(csv, line);) {
    const std::size_t comma = line.find(',');
    if (comma == std::string::npos || line.starts_with('#')) continue;
    const std::string table = line.substr(0, comma);
    const std::string quantity = line.substr(comma + 1, line.find(',', comma + 1) - comma - 1);
    quantities[quantity] = {quantity, quantity + " error"};
    if (std::ranges::find(tables, table) == tables.end()) tables.push_back(table);
  }
  std::size_t printed_tables = 0;
  for (const std::string& table : tables) {
    printed_tables += expect_printed(
        ladder, table, quantities, [&](const std::string& label, const std::string& column) {
          const std::string bath = label.substr(0, label.find(' '));
          const std::string quantity = column.substr(0, column.find(' '));
          return by_bath(table + " " + quantity + " " + bath,
                         column == quantity ? "mean" : "error");
        });
  }
  EXPECT_GE(printed_tables, 1u) << ladder;
}

}  // namespace
}  // namespace tarn
