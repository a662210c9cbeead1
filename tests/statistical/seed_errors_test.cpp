#include "csv_reader.hpp"
#include "full_product.hpp"
#include "quiet_run.hpp"

// The scatter of results between seeds divided by the errors that the runs quote, for every column
// of averages.csv, heat_capacity.csv and isomers_by_bath.csv of a hexamer with replica exchange.

namespace tarn {
namespace {

constexpr int kSeeds = 20;

struct Result {
  double mean = 0.0, error = 0.0;
};
/// By file, column and temperature.
using Results = std::map<std::tuple<std::string, std::string, double>, Result>;

void read_rows(const std::string& folder, const std::string& file, const char* quantity,
               const std::string& temperature, const std::string& mean, const std::string& error,
               Results& results) {
  test::CsvReader csv(folder + "/" + file);
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    const double value = csv.number(cells[csv.column(mean)]);
    const double quoted = csv.number(cells[csv.column(error)]);
    if (!(quoted > 1e-9 * std::abs(value))) continue;  // varies by rounding only
    std::string name = quantity != nullptr ? std::string(cells[csv.column(quantity)]) : mean;
    if (file.starts_with("isomers")) name = "share_of_" + name;
    results[{file, name, csv.number(cells[csv.column(temperature)])}] = {value, quoted};
  }
}

Results results_of(int seed) {
  const test::ScratchFolder folder;
  Deck deck = parse_deck(
      "[system]\nmodel = \"tip4p2005\"\nmolecules = 6\nreplicas = 160\n"
      "[integrator]\nscheme = \"settle\"\ntimestep_fs = 4.0\n"
      "[thermostat]\nkind = \"baoab\"\nfriction_per_ps = 2.0\n"
      "temperatures_K = [75, 88, 100, 108, 116, 126, 140, 165, 190, 220]\n"
      "[exchange]\nevery = 50\n"
      "[confinement]\nradius_A = 6.0\nstiffness_kcal_per_mol_A2 = 10.0\n"
      "[run]\nduration_ps = 1200.0\nequilibration_ps = 300.0\nprecision = \"mixed\"\n"
      "[observe.energies]\nevery = 25\nreplicas = 1\n"
      "[observe.cluster]\nevery = 250\nreplicas = 1\n"
      "[observe.minima]\nevery = 1250\nreplicas = 1\n",
      "seeds.toml");
  deck.system.seed = static_cast<std::uint64_t>(seed);
  RunOptions options = test::quiet_run(folder.file("out"));
  run_deck(deck, options);
  Results results;
  read_rows(options.out_dir, "averages.csv", "quantity", "bath_K", "mean", "error", results);
  read_rows(options.out_dir, "heat_capacity.csv", nullptr, "temperature_K", "energy_kcal_per_mol",
            "energy_err", results);
  read_rows(options.out_dir, "heat_capacity.csv", nullptr, "temperature_K",
            "heat_capacity_kcal_per_mol_K", "heat_capacity_err", results);
  read_rows(options.out_dir, "isomers_by_bath.csv", "isomer", "bath_K", "share", "share_err",
            results);
  return results;
}

/// Twenty seeds know a ratio to 1/sqrt(38), 16 %, also after pooling the temperatures of a column,
/// which exchange correlates: 4.5 of these deviations for each column. Errors that are too small by
/// a factor of two fail. All columns together know it better.
TEST(SeedErrors, AreTheScatterBetweenSeeds) {
  if (!test::covers_everything()) GTEST_SKIP() << "a long test";
  std::map<std::tuple<std::string, std::string, double>, std::vector<Result>> all;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    for (const auto& [key, result] : results_of(seed)) all[key].push_back(result);
  }
  struct Sum {
    double squares = 0.0, count = 0.0;
  };
  std::map<std::string, Sum> columns;
  for (const auto& [key, results] : all) {
    // Isomers are numbered by energy: the lowest ones are found by all seeds.
    if (results.size() < kSeeds) continue;
    double mean = 0.0, scatter = 0.0, quoted = 0.0;
    for (const Result& r : results) mean += r.mean / kSeeds;
    for (const Result& r : results) {
      scatter += (r.mean - mean) * (r.mean - mean) / (kSeeds - 1);
      quoted += r.error * r.error / kSeeds;
    }
    const std::string& column = std::get<1>(key);
    // Populations of all isomers together; rare ones are Poissonian.
    if (column.starts_with("share") && mean < 0.02) continue;
    Sum& sum = columns[column.starts_with("share") ? "share" : column];
    sum.squares += scatter / quoted;
    sum.count += 1.0;
  }
  ASSERT_GT(columns.size(), 8u);
  const double kNoise = 1.0 / std::sqrt(2.0 * (kSeeds - 1));
  double squares = 0.0;
  for (const auto& [column, sum] : columns) {
    const double ratio = std::sqrt(sum.squares / sum.count);
    RecordProperty(column, std::to_string(ratio));
    EXPECT_GT(ratio, 1.0 - 4.5 * kNoise) << column;
    EXPECT_LT(ratio, 1.0 + 4.5 * kNoise) << column;
    squares += ratio * ratio / static_cast<double>(columns.size());
  }
  EXPECT_GT(std::sqrt(squares), 0.8);
  EXPECT_LT(std::sqrt(squares), 1.25);
}

}  // namespace
}  // namespace tarn
