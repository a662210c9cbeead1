#include "tarn/analysis/profile.hpp"

#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "interface/moments.hpp"
#include "rounding.hpp"
#include "scratch_folder.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/physics/radial.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn {
namespace {

using test::contains;
using test::read_text;
using test::ScratchFolder;

constexpr double kO = 15.9994, kH = 1.008;

template <class T>
T sum(const std::vector<T>& values) {
  return std::accumulate(values.begin(), values.end(), T{0});
}

/// One configuration in shells up to r_max_A.
RadialCounts counts_of(const std::vector<double>& x, double r_max_A, int bins) {
  const RadialRequest request{r_max_A, bins, 1};
  RadialCounts counts;
  clear_radial(request, counts);
  add_radial(x, kO, kH, request, 0, counts);
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
  EXPECT_NEAR(volumes[0], 4.0 / 3.0 * units::pi * 0.05 * 0.05 * 0.05,
              test::few_roundings(volumes[0]));
  EXPECT_NEAR(sum(volumes), 36.0 * units::pi, test::few_roundings(36.0 * units::pi));
}

/// A gram of water is its mass in daltons times the atomic mass constant, 1.66053906660e-24 g
/// (CODATA 2018).
TEST(Density, OfADaltonPerCubicAngstrom) {
  EXPECT_NEAR(units::g_per_cm3_of_Da_per_A3, 1.66053906660, 1e-8);
}

struct Row {
  double r_A, density, density_err, oxygens, oxygens_err, hydrogens, hydrogens_err, cosine,
      cosine_err, within;
};

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
  std::unique_ptr<Observer> observer(const Deck& d) {
    RunInfo info{folder_.path(),       2,   d.system.replicas,
                 "tarn; test, seed 1", 2.0, first_averaged_step(d)};
    info.baths_K = d.thermostat.temperatures_K;
    return std::move(make_observers(d, info).front());
  }
  struct Pair {
    std::int64_t id;
    double x;
    bool out;
  };
  /// Passes the replicas to the observer, counted as it asks for.
  static void observe(Observer& profile, std::int64_t step, const std::vector<Pair>& replicas) {
    MeasureSettings settings;
    profile.configure(settings);
    Frame f;
    f.step = step;
    f.molecules = 2;
    clear_radial(settings.radial, f.radial_counts);
    const WaterModel model = *find_water_model("tip3p");
    for (const Pair& pair : replicas) {
      f.replica_ids.push_back(pair.id);
      add_radial(line(pair.x, pair.out), model.mass_o_Da, model.mass_h_Da, settings.radial,
                 static_cast<int>(pair.id % settings.radial.groups), f.radial_counts);
    }
    profile.observe(f);
  }
  std::vector<Row> rows(const char* name = "profile.csv", bool by_bath = false) {
    std::vector<Row> all;
    io::CsvReader csv(folder_.file(name));
    std::vector<std::string_view> cells;
    while (csv.next(cells)) {
      const auto number = [&](std::size_t k) {
        const std::string_view cell = cells[k + (by_bath ? 1 : 0)];
        return cell == "nan" ? std::nan("") : csv.number(cell);
      };
      all.push_back({number(0), number(1), number(2), number(3), number(4), number(5), number(6),
                     number(7), number(8), number(9)});
    }
    return all;
  }

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
  const std::vector<Row> all = rows();
  ASSERT_EQ(all.size(), 8u);
  const std::vector<double> volumes = analysis::shell_volumes_A3(4.0, 8);
  const std::optional<WaterModel> model = find_water_model("tip3p");
  EXPECT_EQ(all[4].r_A, 2.25);
  EXPECT_NEAR(all[4].oxygens, 1.5 / volumes[4], test::few_roundings());
  EXPECT_NEAR(all[2].oxygens, 0.5 / volumes[2], test::few_roundings());
  EXPECT_NEAR(all[3].hydrogens, 2.0 / volumes[3], test::few_roundings())
      << "of the second, both times";
  EXPECT_NEAR(all[5].hydrogens, 2.0 / volumes[5], test::few_roundings());
  // One over Avogadro's number is 3.4e-10 more than the measured constant.
  EXPECT_NEAR(all[5].density, 2.0 * model->mass_h_Da * 1.66053906660 / volumes[5],
              4e-10 * all[5].density);
  EXPECT_NEAR(all[4].density, 1.5 * model->mass_o_Da * 1.66053906660 / volumes[4],
              4e-10 * all[4].density);
  // Of three pairs in shell 4 two point out.
  EXPECT_NEAR(all[4].cosine, 1.0 / 3.0, kCosineUnit);
  EXPECT_NEAR(all[2].cosine, 1.0, kCosineUnit);
  EXPECT_TRUE(std::isnan(all[0].cosine)) << "nothing was there";
  EXPECT_EQ(all[7].within, 2.0);
  EXPECT_EQ(all[3].within, 0.5);
  // Replica 0 always had two oxygens in shell 4, replica 1 two and none: the mean 1.5 of four
  // values with a variance of 1 about it, over series that are told apart.
  EXPECT_GT(all[4].oxygens_err * volumes[4], 0.5 * std::sqrt(1.0 / 4.0));
  EXPECT_LT(all[4].oxygens_err * volumes[4], 1.0);
  EXPECT_EQ(all[6].oxygens_err, 0.0);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("profile_by_bath.csv")));
}

TEST_F(ProfileObserverTest, EachBathHasItsOwn) {
  const auto profile = observer(deck(4,
                                     "[thermostat]\nkind = \"gla\"\nfriction_per_ps = 1.0\n"
                                     "temperatures_K = [300.0, 100.0]\n"));
  profile->begin();
  observe(*profile, 500, {{0, 2.25, true}, {1, 1.25, false}, {2, 3.25, true}, {3, 1.25, true}});
  profile->finish();
  const std::vector<Row> all = rows("profile_by_bath.csv", true);
  ASSERT_EQ(all.size(), 16u);
  const std::vector<double> volumes = analysis::shell_volumes_A3(4.0, 8);
  // The colder bath first: replicas 1 and 3.
  EXPECT_NEAR(all[2].oxygens, 2.0 / volumes[2], 1e-15);
  EXPECT_NEAR(all[2].cosine, 0.0, kCosineUnit);
  EXPECT_NEAR(all[8 + 4].oxygens, 1.0 / volumes[4], test::few_roundings());
  EXPECT_NEAR(all[8 + 6].oxygens, 1.0 / volumes[6], test::few_roundings());
  EXPECT_EQ(all[15].within, 2.0);
  EXPECT_NEAR(rows()[2].oxygens, 1.0 / volumes[2], test::few_roundings())
      << "profile.csv has all of them";
}

TEST_F(ProfileObserverTest, ContinuesFromASavedState) {
  const Deck d = deck(3);
  const auto see = [&](Observer& profile, std::int64_t begin, std::int64_t end) {
    for (std::int64_t step = begin; step < end; step += 10) {
      const double t = static_cast<double>(step);
      std::vector<Pair> replicas{{0, 2.0 + std::sin(t), true},
                                 {2, 1.5 + std::cos(t), step % 20 == 0}};
      if (step < 700) replicas.insert(replicas.begin() + 1, {1, 1.2, false});  // then it stops
      observe(profile, step, replicas);
    }
  };
  const auto straight = observer(d);
  see(*straight, 0, 1000);
  straight->finish();
  const std::string expected = read_text(folder_.file("profile.csv"));
  for (const std::int64_t stop : {0, 500, 510, 740, 1000}) {
    const auto first = observer(d);
    see(*first, 0, stop);
    std::stringstream saved;
    first->save(saved);
    const auto second = observer(d);
    EXPECT_EQ(second->name(), first->name());
    second->load(saved);
    see(*second, stop, 1000);
    second->finish();
    EXPECT_EQ(read_text(folder_.file("profile.csv")), expected) << stop;
  }
}

TEST_F(ProfileObserverTest, RejectsRequestsBeyondItsMemory) {
  const std::string baths =
      "[thermostat]\nkind = \"gla\"\nfriction_per_ps = 1.0\ntemperatures_K = [";
  std::string ladder;
  for (int k = 0; k < 64; ++k) ladder += std::to_string(100 + k) + ".0,";
  std::string text =
      "[system]\nmolecules = 2\nreplicas = 6400\n[integrator]\nscheme = \"settle\"\n"
      "[run]\nsteps = 1000000\n[observe.profile]\nbins = 1000\n" +
      baths + ladder + "]\n";
  try {
    parse_deck(text, "test.toml");
    FAIL() << "64 baths with 32 series each of 4000 sums";
  } catch (const InputError& error) {
    EXPECT_TRUE(contains(error.what(), "error bars of 1000 shells")) << error.what();
  }
  text.replace(text.find("bins = 1000"), 11, "bins = 100");
  EXPECT_NO_THROW(parse_deck(text, "test.toml"));
}

}  // namespace
}  // namespace tarn
