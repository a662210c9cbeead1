#include "cli/texts.hpp"
#include "testing.hpp"

/// @file
/// Texts of `tarn run`, and of `tarn doctor` on other machines and for other builds.

namespace tarn::cli {
namespace {

using namespace test;

TEST(Doctor, PrintsTheDriverOfAWorkingGpu) {
  const DeviceProbe probe{
      ProbeStatus::ok, "", "13.1", "13.0", {{0, "NVIDIA H100", "9.0", 132, 80.0}}};
  EXPECT_EQ(probe_text(probe),
            "      the driver supports CUDA up to 13.1\n"
            "      cuda:0 NVIDIA H100, compute capability 9.0, 132 multiprocessors, 80 GiB\n");
}

TEST(Doctor, PrintsAProblemOnce) {
  EXPECT_EQ(probe_text({ProbeStatus::no_driver, "no driver", "", "13.0", {}}), "      no driver\n");
  EXPECT_EQ(probe_text({ProbeStatus::no_device, "no device", "13.1", "13.0", {}}),
            "      no device\n      the driver supports CUDA up to 13.1\n");
}

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

Progress half_way(double steps_per_second, double ns_per_day, double replicas, double seconds) {
  return {50, 100, 10.0, steps_per_second, ns_per_day, replicas * ns_per_day, seconds};
}

TEST(ProgressText, EightyColumnsHaveTheSpeedAndTheTimeLeft) {
  for (const Progress& p :
       {half_way(14.0, 0.00241, 1.0, 3.0), half_way(18561.0, 3207.4, 24.0, 125.0),
        half_way(999949.0, 123456.0, 65536.0, 9e6), half_way(1.2e6, 9.99e-5, 65536.0, 9e6)}) {
    const std::string line = ProgressText(p).line(80);
    EXPECT_LE(line.size(), 79u) << line;
    for (const char* word : {"50.0 %", "steps/s", "ns/day", "left"}) {
      EXPECT_TRUE(contains(line, word)) << line;
    }
  }
  EXPECT_EQ(ProgressText(half_way(18561.0, 3.21, 64.0, 185.0)).full(),
            " 50.0 %  18.6 ksteps/s  3.21 ns/day, 205 in total  3 min 05 s left");
}

TEST(ProgressText, OneReplicaHasOneSpeed) {
  EXPECT_EQ(ProgressText(half_way(1234.0, 5.5, 1.0, 60.0)).full(),
            " 50.0 %  1234 steps/s  5.5 ns/day  1 min 00 s left");
  EXPECT_EQ(ProgressText(half_way(1234.0, 0.0, 1.0, 60.0)).full(),
            " 50.0 %  1234 steps/s  1 min 00 s left");
}

// The bar goes first, then the speed, then the time; no line is as wide as the terminal.
TEST(ProgressText, IsShorterOnNarrowTerminals) {
  const ProgressText text(half_way(18561.0, 3207.4, 24.0, 125.0));
  int before = 4;
  for (std::size_t columns = 200; columns > 0; --columns) {
    const std::string line = text.line(columns);
    EXPECT_LT(line.size(), columns);
    const int said = contains(line, "steps/s") ? 2 + static_cast<int>(contains(line, "####"))
                     : contains(line, "left")  ? 1
                                               : 0;
    EXPECT_LE(said, before) << columns;
    before = said;
  }
  EXPECT_EQ(before, 0);
  EXPECT_TRUE(contains(text.line(200), "[############............]"));
}

TEST(ProgressText, TheLastLineHasNoTimeLeft) {
  Progress p = half_way(1234.0, 5.5, 1.0, 0.0);
  p.step = p.total_steps;
  EXPECT_EQ(ProgressText(p).full(), "100.0 %  1234 steps/s  5.5 ns/day");
}

}  // namespace
}  // namespace tarn::cli
