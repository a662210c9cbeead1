#include "cli/run_end_text.hpp"

#include <gtest/gtest.h>

namespace tarn::cli {
namespace {

AveragedQuantity quantity(const char* table, const char* name, double mean, double error) {
  AveragedQuantity a;
  a.table = table;
  a.quantity = name;
  a.mean = mean;
  a.error = error;
  return a;
}

TEST(RunEndText, PeakHasBothUnitsAndTheStarOfShortRuns) {
  std::vector<AveragedQuantity> averages{
      quantity("energies", "temperature_K", 100.0, 1.0),
      quantity("heat_capacity", "peak_temperature_K", 117.994, 0.47),
      quantity("heat_capacity", "peak_kcal_per_mol_K", 0.210123, 0.0042)};
  EXPECT_EQ(peak_text(averages),
            "maximum of the heat capacity: 117.99 +- 0.47 K, 0.2101 +- 0.0042 kcal/mol/K");
  averages.push_back(quantity("heat_capacity", "peak_prominence_kcal_per_mol_K", 0.11, 0.012));
  averages.push_back(quantity("heat_capacity", "peak_width_K", 25.1, 1.2));
  EXPECT_TRUE(peak_text(averages).ends_with(
      "kcal/mol/K, prominence 0.110 +- 0.012 kcal/mol/K, width 25.1 +- 1.2 K"));
  averages.resize(3);
  averages[2].converged = false;
  EXPECT_TRUE(peak_text(averages).ends_with("kcal/mol/K *"));
}

TEST(RunEndText, HeatCapacityAtATemperatureIsNoPeak) {
  AveragedQuantity at_100_K = quantity("heat_capacity", "peak_temperature_K", 1.0, 0.1);
  at_100_K.bath_K = 100.0;
  EXPECT_EQ(peak_text({at_100_K}), "");
}

TEST(RunEndText, PicturesAreOneLineOfNames) {
  EXPECT_EQ(pictures_text({"out/a/energies.svg", "out/a/energies.png", "out/a/rdf.svg"}),
            "pictures: energies.svg, rdf.svg");
  EXPECT_EQ(pictures_text({}), "");
}

TEST(RunEndText, OnlyExactZerosAreOmitted) {
  EXPECT_TRUE(is_zero(quantity("energies", "penalty_kcal_per_mol", 0.0, 0.0)));
  EXPECT_FALSE(is_zero(quantity("energies", "penalty_kcal_per_mol", 0.0, 0.1)));
  EXPECT_FALSE(is_zero(quantity("cluster", "hydrogen_bonds", 7.0, 0.0)));
}

}  // namespace
}  // namespace tarn::cli
