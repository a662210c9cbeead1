

#include "analysis/rdf.hpp"
#include "csv_columns.hpp"
#include "interface/moments.hpp"
#include "observer_of.hpp"
#include "physics/radial.hpp"
#include "tarn/physics/water_model.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

template <class T>
T sum(const std::vector<T>& values) {
  return std::accumulate(values.begin(), values.end(), T{0});
}

/// One configuration in shells up to r_max_A.
RadialCounts counts_of(const std::vector<double>& x, double r_max_A, int bins) {
  const RadialRequest request{r_max_A, bins, 1};
  RadialCounts counts;
  clear_radial(request, counts);
  add_radial(x, WaterModel{}, request, 0, counts);
  return counts;
}
using Counts = std::vector<std::int64_t>;

/// Two molecules in a line through their centre of mass, the origin: oxygens at -x and x, the
/// hydrogens 0.5 farther out or in.
std::vector<double> line(double x, bool out) {
  const double h = x + (out ? 0.5 : -0.5);
  return {-x, 0, 0, -h, 0, 0, -h, 0, 0, x, 0, 0, h, 0, 0, h, 0, 0};
}

TEST(RadialCounts, CountAtomsByTheirDistanceFromTheCentreOfMass) {
  const RadialCounts out = counts_of(line(2.25, true), 4.0, 8);
  const RadialCounts in = counts_of(line(2.25, false), 4.0, 8);
  EXPECT_EQ(out.replicas, Counts{1});
  EXPECT_EQ(out.oxygens, (Counts{0, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(out.hydrogens, (Counts{0, 0, 0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(in.hydrogens, (Counts{0, 0, 0, 4, 0, 0, 0, 0}));
  // Hydrogens that point away from the centre: +1.
  EXPECT_EQ(kCosineUnit * static_cast<double>(out.cosines[4]), 2.0);
  EXPECT_EQ(kCosineUnit * static_cast<double>(in.cosines[4]), -2.0);
}

TEST(RadialCounts, OmitDistantPairsAndNan) {
  const RadialCounts at_the_end = counts_of(line(4.0, false), 4.0, 8);
  EXPECT_EQ(sum(at_the_end.oxygens), 0) << "the end of the last shell does not belong to it";
  EXPECT_EQ(sum(at_the_end.hydrogens), 4);
  for (const std::vector<double>& x : {std::vector<double>(18, std::nan("")), line(1e300, true)}) {
    const RadialCounts counts = counts_of(x, 4.0, 8);
    EXPECT_EQ(sum(counts.oxygens) + sum(counts.hydrogens), 0);
    EXPECT_EQ(sum(counts.cosines), 0);
  }
}

TEST(RadialCounts, DoNotDependOnWhereTheClusterIsAndHowItIsTurned) {
  // Distances from the centre are away from the borders of shells by far more than rounding.
  const std::vector<double> x{0.1,  0.2, 0.3,  0.9,  0.7,  0.2, -0.3, 0.9, 0.5,
                              2.3,  1.1, -0.7, 2.9,  1.7,  0.1, 2.0,  0.3, -1.3,
                              -1.9, 0.6, 1.7,  -2.1, -0.2, 2.2, -1.1, 1.1, 1.9};
  const RadialCounts counts = counts_of(x, 6.0, 20);
  EXPECT_EQ(sum(counts.oxygens), 3);
  EXPECT_EQ(sum(counts.hydrogens), 6);
  const double c = std::cos(0.7), s = std::sin(0.7);
  std::vector<double> moved(x.size());
  for (std::size_t a = 0; a < x.size(); a += 3) {
    moved[a] = c * x[a] - s * x[a + 1] + 5.0;
    moved[a + 1] = s * x[a] + c * x[a + 1] - 3.0;
    moved[a + 2] = x[a + 2] + 11.0;
  }
  const RadialCounts of_moved = counts_of(moved, 6.0, 20);
  EXPECT_EQ(of_moved.oxygens, counts.oxygens);
  EXPECT_EQ(of_moved.hydrogens, counts.hydrogens);
  // Three cosines, each rounded to one unit; other errors are far smaller.
  for (std::size_t b = 0; b < 20; ++b) {
    EXPECT_LE(std::abs(of_moved.cosines[b] - counts.cosines[b]), 3);
  }
}

TEST(ShellVolumes, FillTheBall) {
  const std::vector<double> volumes = analysis::shell_volumes_A3(3.0, 60);
  EXPECT_NEAR(volumes[0], 4.0 / 3.0 * units::pi * 0.05 * 0.05 * 0.05, few_roundings(volumes[0]));
  EXPECT_NEAR(sum(volumes), 36.0 * units::pi, few_roundings(36.0 * units::pi));
}

/// A gram of water is its mass in daltons times the atomic mass constant, 1.66053906660e-24 g
/// (CODATA 2018).
TEST(Density, OfADaltonPerCubicAngstrom) {
  EXPECT_NEAR(units::g_per_cm3_of_Da_per_A3, 1.66053906660, 1e-8);
}

class ProfileObserverTest : public ::testing::Test {
 protected:
  static Deck deck(int replicas, const std::string& more = "") {
    return parse_deck("[system]\nmolecules = 2\nreplicas = " + std::to_string(replicas) +
                          "\n[integrator]\nscheme = \"settle\"\ntimestep_fs = 2.0\n"
                          "[run]\nsteps = 10000\nequilibration_ps = 1.0\n"
                          "[observe.profile]\nevery = 10\nr_max_A = 4.0\nbins = 8\n" +
                          more,
                      "test.toml");
  }
  std::unique_ptr<Observer> observer(const Deck& d) { return observer_of(d, folder_.path()); }
  struct Pair {
    std::int64_t id;
    double x;
    bool out;
  };
  /// Passes the replicas to the observer, counted as it asks for.
  void observe(Observer& profile, std::int64_t step, const std::vector<Pair>& replicas) {
    MeasureSettings settings;
    profile.configure(settings);
    Frame f;
    f.step = step;
    f.molecules = 2;
    clear_radial(settings.radial, f.radial_counts);
    for (const Pair& pair : replicas) {
      f.replica_ids.push_back(pair.id);
      add_radial(line(pair.x, pair.out), model_, settings.radial,
                 static_cast<int>(pair.id % settings.radial.groups), f.radial_counts);
    }
    profile.observe(f);
  }
  const WaterModel model_ = *find_water_model("tip3p");
  ScratchFolder folder_;
};

TEST_F(ProfileObserverTest, WritesDensitiesAndOrientationAfterEquilibration) {
  const auto profile = observer(deck(2));
  EXPECT_EQ(profile->every(), 10);
  EXPECT_EQ(profile->fields(), kRadialCounts);
  profile->begin();
  observe(*profile, 0, {{0, 0.6, true}, {1, 0.6, true}});
  observe(*profile, 490, {{0, 0.6, true}, {1, 0.6, true}});
  // Two samples of each replica: oxygens in shell 4 three times out of four, else in shell 2.
  observe(*profile, 500, {{0, 2.25, true}, {1, 2.25, false}});
  observe(*profile, 510, {{0, 2.25, true}, {1, 1.25, true}});
  profile->finish();
  const auto table = columns_of(folder_.file("profile.csv"));
  ASSERT_EQ(table.at("r_A").size(), 8u);
  EXPECT_EQ(table.at("r_A")[4], 2.25);
  const std::vector<double> volumes = analysis::shell_volumes_A3(4.0, 8);
  // The hydrogens of the second are in shell 3 both times. One over Avogadro's number is 3.4e-10
  // more than the measured constant.
  constexpr double kDensity = 1.66053906660;
  const struct {
    const char* column;
    std::size_t shell;
    double expected, relative_error;
  } densities[] = {{"oxygens_per_A3", 4, 1.5, few_roundings()},
                   {"oxygens_per_A3", 2, 0.5, few_roundings()},
                   {"hydrogens_per_A3", 3, 2.0, few_roundings()},
                   {"hydrogens_per_A3", 5, 2.0, few_roundings()},
                   {"density_g_per_cm3", 5, 2.0 * model_.mass_h_Da * kDensity, 4e-10},
                   {"density_g_per_cm3", 4, 1.5 * model_.mass_o_Da * kDensity, 4e-10}};
  for (const auto& [column, shell, expected, relative_error] : densities) {
    EXPECT_NEAR(table.at(column)[shell] * volumes[shell] / expected, 1.0, relative_error)
        << column << shell;
  }
  // Of three pairs in shell 4 two point out.
  EXPECT_NEAR(table.at("cos_dipole")[4], 1.0 / 3.0, kCosineUnit);
  EXPECT_NEAR(table.at("cos_dipole")[2], 1.0, kCosineUnit);
  EXPECT_TRUE(std::isnan(table.at("cos_dipole")[0])) << "nothing was there";
  EXPECT_EQ(table.at("molecules_within")[7], 2.0);
  EXPECT_EQ(table.at("molecules_within")[3], 0.5);
  // Replica 0 always had two oxygens in shell 4, replica 1 two and none: the mean 1.5 of four
  // values with a variance of 1 about it, over series that are told apart.
  const std::vector<double>& errors = table.at("oxygens_per_A3_err");
  EXPECT_GT(errors[4] * volumes[4], 0.5 * std::sqrt(1.0 / 4.0));
  EXPECT_LT(errors[4] * volumes[4], 1.0);
  EXPECT_EQ(errors[6], 0.0);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("profile_by_bath.csv")));
}

TEST_F(ProfileObserverTest, EachBathHasItsOwn) {
  const auto profile = observer(deck(4,
                                     "[thermostat]\nkind = \"gla\"\nfriction_per_ps = 1.0\n"
                                     "temperatures_K = [300.0, 100.0]\n"));
  profile->begin();
  observe(*profile, 500, {{0, 2.25, true}, {1, 1.25, false}, {2, 3.25, true}, {3, 1.25, true}});
  profile->finish();
  const auto by_bath = columns_of(folder_.file("profile_by_bath.csv"));
  const std::vector<double>& oxygens = by_bath.at("oxygens_per_A3");
  ASSERT_EQ(oxygens.size(), 16u);
  const std::vector<double> volumes = analysis::shell_volumes_A3(4.0, 8);
  // The colder bath first: replicas 1 and 3.
  EXPECT_NEAR(oxygens[2], 2.0 / volumes[2], 1e-15);
  EXPECT_NEAR(by_bath.at("cos_dipole")[2], 0.0, kCosineUnit);
  EXPECT_NEAR(oxygens[8 + 4], 1.0 / volumes[4], few_roundings());
  EXPECT_NEAR(oxygens[8 + 6], 1.0 / volumes[6], few_roundings());
  EXPECT_EQ(by_bath.at("molecules_within")[15], 2.0);
  EXPECT_NEAR(columns_of(folder_.file("profile.csv")).at("oxygens_per_A3")[2], 1.0 / volumes[2],
              few_roundings())
      << "profile.csv has all of them";
}

TEST_F(ProfileObserverTest, RejectsRequestsBeyondItsMemory) {
  std::string text =
      "[system]\nmolecules = 2\nreplicas = 6400\n[integrator]\nscheme = \"settle\"\n"
      "[run]\nsteps = 1000000\n[thermostat]\nkind = \"gla\"\nfriction_per_ps = 1.0\n"
      "[observe.profile]\nbins = 1000\n";
  std::string baths = "thermostat.temperatures_K=[";
  for (int k = 0; k < 64; ++k) baths += std::to_string(100 + k) + ".0,";
  baths += "]";
  // 64 baths with 32 series each of 4000 sums.
  expect_throws<InputError>({"error bars of 1000 shells"},
                            [&] { parse_deck(text, "test.toml", {baths}); });
  text.replace(text.find("bins = 1000"), 11, "bins = 100");
  EXPECT_NO_THROW(parse_deck(text, "test.toml", {baths}));
}

}  // namespace
}  // namespace tarn
