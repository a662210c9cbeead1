

#include "csv_columns.hpp"
#include "observer_of.hpp"
#include "testing.hpp"

/// @file
/// heat_capacity.csv of runs with several baths.

namespace tarn {
namespace {

using namespace test;

constexpr double k = units::boltzmann_kcal_per_mol_K;
constexpr int kMolecules = 3;

Deck deck_of(const std::string& temperatures_K, int replicas, const std::string& more = "") {
  return parse_deck("[system]\nmolecules = 3\nreplicas = " + std::to_string(replicas) +
                        "\n[integrator]\nscheme = \"settle\"\n[thermostat]\nkind = \"baoab\"\n"
                        "friction_per_ps = 5.0\ntemperatures_K = " +
                        temperatures_K + "\n[run]\nsteps = 400\n" + more +
                        "[observe.energies]\nevery = 20\n",
                    "deck.toml");
}

/// A configurational energy of some made-up system at a temperature.
using Energy = std::function<double(std::mt19937_64&, double temperature_K)>;

double oscillators(std::mt19937_64& random, double t_K) {
  return std::gamma_distribution(9.0, k * t_K)(random);
}

class HeatCapacityObserver : public ::testing::Test {
 protected:
  /// The observer of the curve alone; null where there is none.
  std::unique_ptr<Observer> curve_of(const Deck& deck) {
    return observer_of(deck, folder_.path(), "heat capacity");
  }
  /// Frames with these energies, a part of which is the wall's.
  void show(Observer& observer, const Deck& deck, const Energy& energy, std::int64_t first_step,
            int frames) {
    const auto& ladder_K = deck.thermostat.temperatures_K;
    for (int i = 0; i < frames; ++i) {
      Frame frame;
      frame.molecules = kMolecules;
      frame.step = first_step + i;
      for (std::int64_t id = 0; id < deck.system.replicas; ++id) {
        frame.replica_ids.push_back(id);
        Energies& e = frame.energies.emplace_back();
        e.wall_kcal_per_mol = 0.25;
        e.potential_kcal_per_mol =
            energy(random_, ladder_K[static_cast<std::size_t>(id) % ladder_K.size()]) -
            e.wall_kcal_per_mol;
        e.kinetic_kcal_per_mol = 7.0;
        e.total_kcal_per_mol = e.potential_kcal_per_mol + 0.25 + 7.0;
      }
      observer.observe(frame);
    }
  }
  std::unique_ptr<Observer> finished(const std::string& temperatures_K, int replicas, int frames,
                                     const Energy& energy) {
    const Deck deck = deck_of(temperatures_K, replicas);
    auto observer = curve_of(deck);
    show(*observer, deck, energy, 0, frames);
    observer->finish();
    return observer;
  }
  auto table() const { return columns_of(folder_.file("heat_capacity.csv")); }

  ScratchFolder folder_;
  std::mt19937_64 random_{5};
};

/// Oscillators: energy and heat capacity are linear and constant, and there is no maximum.
TEST_F(HeatCapacityObserver, OfOscillators) {
  constexpr double kShape = 9.0;
  const Deck deck = deck_of("[100, 160, 250]", 48, "equilibration_ps = 0.01\n");  // 5 steps
  const auto observer = curve_of(deck);
  ASSERT_TRUE(observer);
  const Energy wild = [](auto&, double) { return 1000.0; };
  const Energy energy = [](auto& random, double t_K) { return -50.0 + oscillators(random, t_K); };
  show(*observer, deck, wild, 0, 5);
  show(*observer, deck, energy, 5, 300);
  observer->finish();
  EXPECT_TRUE(observer->averages().empty());
  const auto t = table();
  const std::vector<double>& t_K = t.at("temperature_K");
  EXPECT_EQ(t_K.front(), 100.0);
  EXPECT_EQ(t_K[1], 101.0);
  EXPECT_EQ(t_K.back(), 250.0);
  EXPECT_EQ(t_K.size(), 151u);
  // Neighbouring rows are of the same samples: some ten numbers are independent.
  for (std::size_t i = 0; i < t_K.size(); ++i) {
    EXPECT_NEAR(t.at("energy_kcal_per_mol")[i], -50.0 + kShape * k * t_K[i],
                4.5 * t.at("energy_err")[i]);
    EXPECT_NEAR(t.at("heat_capacity_kcal_per_mol_K")[i], (3.0 * kMolecules + kShape) * k,
                4.5 * t.at("heat_capacity_err")[i]);
    EXPECT_LT(t.at("heat_capacity_err")[i], 0.05 * kShape * k) << "tells something";
    EXPECT_LT(t.at("effective_samples")[i], 48.0 * 300.0 + 0.5);
  }
}

/// Baths that differ in the last bit of their temperature have no multiples of a step between them.
TEST_F(HeatCapacityObserver, OfBathsThatAreNearlyTheSame) {
  finished("[300.0, 300.00000000000006]", 32, 100, oscillators);
  const std::vector<double> t_K = table().at("temperature_K");
  EXPECT_LE(t_K.size(), 3u);
  for (std::size_t i = 1; i < t_K.size(); ++i) EXPECT_GT(t_K[i], t_K[i - 1]);
}

/// Two levels D apart, the upper one g times as many: C - 3 N k = D^2/(k T^2) p (1 - p), whose
/// maximum is found between the baths.
TEST_F(HeatCapacityObserver, FindsTheMaximumOfTwoLevels) {
  constexpr double kGap = 2.0, kHalf_K = 150.0;
  const auto upper = [](double t_K) {
    return 1.0 / (1.0 + std::exp(kGap / k * (1.0 / t_K - 1.0 / kHalf_K)));
  };
  const auto capacity = [&](double t_K) {
    return 3.0 * kMolecules * k + kGap * kGap / (k * t_K * t_K) * upper(t_K) * (1.0 - upper(t_K));
  };
  double peak_K = 100.0;
  for (double t_K = 100.0; t_K < 200.0; t_K += 0.001) {
    if (capacity(t_K) > capacity(peak_K)) peak_K = t_K;
  }
  const auto observer =
      finished("[90, 130, 175, 240]", 64, 400, [&](std::mt19937_64& random, double t_K) {
        return std::bernoulli_distribution(upper(t_K))(random) ? kGap : 0.0;
      });
  // Above the higher end of the curve, and as wide as half of that.
  const double prominence = capacity(peak_K) - std::max(capacity(90.0), capacity(240.0));
  double left_K = peak_K, right_K = peak_K;
  while (capacity(left_K) > capacity(peak_K) - 0.5 * prominence) left_K -= 0.01;
  while (capacity(right_K) > capacity(peak_K) - 0.5 * prominence) right_K += 0.01;
  const double width_K = right_K - left_K;
  const std::vector<AveragedQuantity> peak = observer->averages();
  ASSERT_EQ(peak.size(), 4u);
  std::size_t i = 0;
  for (const auto& [name, exact, resolution, most_error] :
       {std::tuple{"peak_temperature_K", peak_K, 0.0, 1.5},
        {"peak_kcal_per_mol_K", capacity(peak_K), 0.0, 0.02 * capacity(peak_K)},
        {"peak_prominence_kcal_per_mol_K", prominence, 0.0, 0.05 * prominence},
        {"peak_width_K", width_K, 0.1, 0.1 * width_K}}) {
    const AveragedQuantity& found = peak[i++];
    EXPECT_EQ(found.quantity, name);
    EXPECT_NEAR(found.mean, exact, 4.5 * found.error + resolution) << name;
    EXPECT_LT(found.error, most_error) << name;
    // Sixteen groups of ladders.
    EXPECT_DOUBLE_EQ(found.error_of_error.value(), found.error / std::sqrt(30.0)) << name;
  }
  EXPECT_GT(peak[0].error, 0.05);
  EXPECT_FALSE(peak[0].bath_K);
  EXPECT_EQ(peak[0].samples, 64 * 400);
  EXPECT_TRUE(contains(read_text(folder_.file("heat_capacity.csv")),
                       fmt::format("; maximum at {:.3f} +- ", peak[0].mean)));
}

/// Where the baths have nothing in common the table says that it does not know.
TEST_F(HeatCapacityObserver, ReportsUnknownValues) {
  const auto observer = finished("[1, 300]", 4, 200, oscillators);
  EXPECT_TRUE(observer->averages().empty());
  const auto t = table();
  EXPECT_FALSE(std::isnan(t.at("heat_capacity_kcal_per_mol_K").front()));
  EXPECT_FALSE(std::isnan(t.at("heat_capacity_kcal_per_mol_K").back()));
  for (std::size_t i = 0; i < t.at("temperature_K").size(); ++i) {
    const double t_K = t.at("temperature_K")[i];
    for (const char* column : {"energy_kcal_per_mol", "energy_err", "heat_capacity_kcal_per_mol_K",
                               "heat_capacity_err"}) {
      EXPECT_EQ(std::isnan(t.at(column)[i]), t_K > 1.0 && t_K < 300.0);
    }
  }
  const Messages notes = observer->messages();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].text.starts_with("the temperatures up to 1 K and from 300 K share "))
      << notes[0].text;
}

/// A bath between them is no help where nearly nothing was sampled.
TEST_F(HeatCapacityObserver, WarnsOfFewSamples) {
  EXPECT_EQ(
      finished("[100, 300, 500]", 3, 2, oscillators)->messages(),
      Messages{Message::warning("2 samples per temperature are too few for heat_capacity.csv; run "
                                "longer or reduce [observe.energies] every")});
}

/// Steps of a tenth of a kelvin are told as such.
TEST_F(HeatCapacityObserver, PrintsRoundTemperatures) {
  EXPECT_TRUE(finished("[100, 120]", 4, 200, oscillators)->messages().empty());
  const std::vector<double> t_K = table().at("temperature_K");
  ASSERT_EQ(t_K.size(), 201u);
  for (std::size_t i = 0; i < t_K.size(); ++i) EXPECT_EQ(t_K[i], (1000.0 + i) / 10.0);
}

TEST_F(HeatCapacityObserver, NeedsSeveralBathsAbove0K) {
  std::string many = "[1";
  for (int i = 2; i <= 257; ++i) many += ", " + std::to_string(i);
  EXPECT_FALSE(curve_of(deck_of("[100]", 2)));
  EXPECT_FALSE(curve_of(deck_of("[100, 100]", 2)));
  EXPECT_FALSE(curve_of(deck_of("[0, 100]", 2)));
  EXPECT_FALSE(curve_of(deck_of(many + "]", 257)));
  EXPECT_TRUE(curve_of(deck_of("[100, 200, 100]", 3)));

  // No file before there is a sample.
  const auto observer = curve_of(deck_of("[100, 200]", 2, "equilibration_ps = 0.2\n"));
  observer->begin();
  observer->finish();
  EXPECT_FALSE(std::ifstream(folder_.file("heat_capacity.csv")).good());
  EXPECT_TRUE(observer->averages().empty());
}

}  // namespace
}  // namespace tarn
