#include "csv_columns.hpp"
#include "observer_of.hpp"
#include "physics/model_table.hpp"
#include "physics/ring_frequencies.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/modes.hpp"
#include "tarn/run.hpp"
#include "testing.hpp"

/// @file
/// heat_capacity.csv of ring polymers, for molecules whose vibrations are harmonic.

namespace tarn {
namespace {

using namespace test;

constexpr double k = units::boltzmann_kcal_per_mol_K;

Deck deck_of(const std::string& temperatures, int beads, int replicas, const std::string& kind,
             const std::string& more = "") {
  return parse_deck(
      fmt::format("[system]\nmodel = \"qtip4pf\"\nmolecules = 1\nreplicas = {}\n[thermostat]\n"
                  "friction_per_ps = 5\n{}\n[path_integral]\nbeads = {}\nfrequencies = \"{}\"\n{}"
                  "[run]\nsteps = 400\n[observe.path_integral]\nevery = 20\n",
                  replicas, temperatures, beads, kind, more),
      "deck.toml");
}

std::unique_ptr<Observer> curve_of(const Deck& deck, const ScratchFolder& folder) {
  return observer_of(deck, folder.path(), "heat capacity");
}

/// The energies of a molecule with harmonic vibrations, translations and rotations, sampled from
/// the modes of its ring: each <q^2> follows from its frequency, and the estimators are sums of
/// them (equation (83)).
class Molecule {
 public:
  Molecule(const System& system, double temperature_K)
      : ring_(reduced_ring(system)), kT_(k * temperature_K) {
    for (const double wavenumber : molecule_wavenumbers_per_cm(system.model)) {
      x_.push_back(reduced_frequency(wavenumber, temperature_K));
    }
    x_.resize(9, 0.0);  // six motions without a force
  }
  RingMeasures sample(std::mt19937_64& random) const {
    const int beads = ring_.beads();
    std::normal_distribution<double> normal;
    double virial = 0.0, primitive = 0.0;
    for (const double x : x_) {
      // Of the centroid: x^2 <q^2>/2 = 1/2 per vibration.
      double potential = 0.0, spring = 0.0, internal = 0.0;
      if (x > 0.0) {
        const double xi = normal(random);
        potential += 0.5 * xi * xi;
      }
      for (int wave = 1; wave <= beads / 2; ++wave) {
        const double y = ring_.frequencies()[static_cast<std::size_t>(wave - 1)];
        const int weight = 2 * wave == beads ? 1 : 2;
        for (int copy = 0; copy < weight; ++copy) {
          const double xi = normal(random), q2 = xi * xi / (y * y + x * x);
          potential += 0.5 * x * x * q2;
          internal += x * x * q2;
          spring += 0.5 * y * y * q2;
        }
      }
      virial += 0.5 + 0.5 * internal + potential;
      primitive += 0.5 * beads - spring + potential;
    }
    RingMeasures m;
    m.virial_kcal_per_mol = kT_ * virial;
    m.primitive_kcal_per_mol = kT_ * primitive;
    return m;
  }
  double capacity() const {
    double sum = 0.0;
    for (const double x : x_) sum += ring_.heat_capacity(x);
    // Motions without a force have half of it.
    return k * (sum - 3.0);
  }
  double energy() const {
    double sum = 0.0;
    for (const double x : x_) sum += ring_.energy(x);
    return kT_ * (sum - 3.0);
  }

 private:
  ReducedRing ring_;
  double kT_;
  std::vector<double> x_;
};

/// Samples of all replicas, each with the temperature of its bath.
void show(Observer& observer, const Deck& deck, int frames, std::uint64_t seed) {
  const System system = make_system(deck, 1);
  std::vector<Molecule> molecules;
  for (int r = 0; r < deck.system.replicas; ++r) {
    molecules.emplace_back(system, replica_temperature_K(system, r));
  }
  std::mt19937_64 random(seed);
  Frame frame;
  frame.molecules = 1;
  for (frame.step = 0; frame.step < frames; ++frame.step) {
    frame.replica_ids.clear();
    frame.rings.clear();
    for (int r = 0; r < deck.system.replicas; ++r) {
      frame.replica_ids.push_back(r);
      frame.rings.push_back(molecules[static_cast<std::size_t>(r)].sample(random));
    }
    observer.observe(frame);
  }
}

/// Both heat capacities are those of the rings within their errors, at several temperatures and
/// numbers of beads.
TEST(RingHeatCapacity, OfHarmonicMolecules) {
  for (const auto& [kind, beads] :
       {std::pair{"economised", 16}, {"economised", 33}, {"trotter", 64}}) {
    SCOPED_TRACE(fmt::format("{}, {} beads", kind, beads));
    const ScratchFolder folder;
    const std::vector<double> t_K{600.0, 700.0, 900.0};
    const Deck deck = deck_of("temperatures_K = [600, 700, 900]", beads, 24, kind);
    const auto observer = curve_of(deck, folder);
    ASSERT_TRUE(observer);
    show(*observer, deck, 2000, 11);
    observer->finish();
    const auto t = columns_of(folder.file("heat_capacity.csv"));
    ASSERT_EQ(t.at("temperature_K"), (std::vector<double>{600, 650, 700, 800, 900}));
    const System system = make_system(deck, 1);
    for (std::size_t i = 0; i < 3; ++i) {
      const Molecule exact(system, t_K[i]);
      EXPECT_NEAR(t.at("energy_kcal_per_mol")[2 * i], exact.energy(),
                  4.5 * t.at("energy_err")[2 * i]);
      EXPECT_NEAR(t.at("heat_capacity_kcal_per_mol_K")[2 * i], exact.capacity(),
                  4.5 * t.at("heat_capacity_err")[2 * i]);
      EXPECT_LT(t.at("heat_capacity_err")[2 * i], 0.15 * exact.capacity());
      if (i == 0) continue;
      const Molecule below(system, t_K[i - 1]);
      const double quotient = (exact.energy() - below.energy()) / (t_K[i] - t_K[i - 1]);
      EXPECT_NEAR(t.at("difference_quotient_kcal_per_mol_K")[2 * i - 1], quotient,
                  4.5 * t.at("difference_quotient_err")[2 * i - 1]);
      // The bias is what separates it from that of exact oscillators.
      double exact_quotient = 3.0 * k;
      for (const double wavenumber : molecule_wavenumbers_per_cm(system.model)) {
        const auto energy = [&](double at_K) {
          return k * at_K * oscillator_energy(reduced_frequency(wavenumber, at_K));
        };
        exact_quotient += (energy(t_K[i]) - energy(t_K[i - 1])) / (t_K[i] - t_K[i - 1]);
      }
      EXPECT_NEAR(t.at("difference_quotient_bias")[2 * i - 1], quotient - exact_quotient, 1e-9);
    }
    EXPECT_EQ(t.at("classical_kcal_per_mol_K")[0], 6.0 * k);
    EXPECT_EQ(observer->averages().size(), 3u);
  }
}

/// The covariance is dE/dT at fixed frequencies: the energies at T +- 2 % with the same y.
TEST(RingHeatCapacity, IsTheSlopeOfTheEnergyOfTheRings) {
  for (const int beads : {8, 24, 64}) {
    const ReducedRing ring = economised_ring(beads, 20.0);
    for (const double x : {2.0, 7.6, 18.8}) {
      const auto energy = [&](double t) { return t * ring.energy(x / t); };
      const double quotient = (energy(1.02) - energy(0.98)) / 0.04;
      // The third derivative over 6 times 0.02^2: below 2 % for x below 20.
      EXPECT_NEAR(ring.heat_capacity(x), quotient, 0.02 * std::max(1.0, std::abs(quotient)));
    }
  }
}

/// The harmonic heat capacity of an octamer, and the error of the covariance, against an
/// independent program. Its octamer has slightly different vibrations. The stretches of separate
/// molecules are faster than those with hydrogen bonds, and have more error.
TEST(RingHeatCapacity, HasTheBiasOfTheBeads) {
  const io::Structure cube =
      io::read_structure(std::string(TARN_SOURCE_DIR) + "/inputs/structures/qtip4pf-8.xyz");
  const WaterModel model = *find_water_model("qtip4pf");
  const NormalModes modes = normal_modes(model, cube.positions_A);
  std::vector<double> cluster, separate;
  for (std::size_t i = 6; i < modes.modes.size(); ++i) {
    cluster.push_back(modes.modes[i].wavenumber_per_cm);
  }
  ASSERT_EQ(cluster.size(), 66u);
  for (const double wavenumber : molecule_wavenumbers_per_cm(model)) {
    separate.insert(separate.end(), 8, wavenumber);
  }
  // The last number is the error in k.
  for (const auto& [temperature_K, beads, error] : {std::tuple{100.0, 64, 18.2},
                                                    {100.0, 80, 4.4},
                                                    {100.0, 96, 0.9},
                                                    {200.0, 32, 10.3},
                                                    {200.0, 40, 3.1},
                                                    {200.0, 48, 0.63},
                                                    {300.0, 24, 5.3},
                                                    {300.0, 32, 0.67}}) {
    SCOPED_TRACE(fmt::format("{} K, {} beads", temperature_K, beads));
    PathIntegralSpec rings;
    rings.beads = beads;
    rings.frequencies = RingFrequencies::economised;
    rings.highest_wavenumber_per_cm = 4000.0;
    const ReducedRing here = reduced_ring(rings, temperature_K);
    const auto fixed = [&, t_K = temperature_K](const std::vector<double>& wavenumbers) {
      double sum = 0.0;
      for (const double wavenumber : wavenumbers) {
        const double x = reduced_frequency(wavenumber, t_K);
        sum += here.heat_capacity(x) - oscillator_heat_capacity(x);
      }
      return sum;
    };
    EXPECT_NEAR(fixed(cluster), error, 0.1 * error + 0.1);
    EXPECT_GT(fixed(separate), fixed(cluster));
    EXPECT_LT(fixed(separate), 3.0 * fixed(cluster));
  }
}

/// Too few beads: values are left out, and a warning names the number.
TEST(RingHeatCapacity, LeavesOutBiasedValues) {
  const ScratchFolder folder;
  const Deck deck = deck_of("temperatures_K = [300, 330]", 16, 8, "economised");
  const auto observer = curve_of(deck, folder);
  show(*observer, deck, 400, 3);
  observer->finish();
  const auto t = columns_of(folder.file("heat_capacity.csv"));
  EXPECT_TRUE(std::isnan(t.at("heat_capacity_kcal_per_mol_K")[0]));
  EXPECT_GT(t.at("heat_capacity_bias")[0], 0.0);
  EXPECT_TRUE(observer->averages().empty());
  ASSERT_FALSE(observer->messages().empty());
  expect_parts_of(observer->messages()[0].text,
                  {"heat_capacity.csv: 2 of 2 values by the covariance are left out", " beads"});
  EXPECT_EQ(observer->messages()[0].level, Level::warning);
  // One temperature is usually chosen for other averages.
  const Deck single = deck_of("temperature_K = 300", 16, 8, "economised");
  const auto alone = curve_of(single, folder);
  show(*alone, single, 400, 3);
  alone->finish();
  ASSERT_EQ(alone->messages().size(), 1u);
  EXPECT_EQ(alone->messages()[0].level, Level::note);
}

/// One temperature has the covariance alone; runs without a thermostat and one bead have no table.
TEST(RingHeatCapacity, OfOneTemperature) {
  const ScratchFolder folder;
  const Deck deck = deck_of("temperature_K = 600", 16, 8, "economised");
  const auto observer = curve_of(deck, folder);
  ASSERT_TRUE(observer);
  show(*observer, deck, 100, 3);
  // A resumed run has the same table.
  std::stringstream memory;
  observer->save(memory);
  observer->finish();
  const std::string whole = read_text(folder.file("heat_capacity.csv"));
  const auto again = curve_of(deck, folder);
  again->load(memory);
  again->finish();
  EXPECT_EQ(read_text(folder.file("heat_capacity.csv")), whole);
  EXPECT_EQ(columns_of(folder.file("heat_capacity.csv")).at("temperature_K").size(), 1u);
  EXPECT_FALSE(curve_of(deck_of("temperature_K = 600", 1, 8, "economised"), folder));
}

/// A difference quotient that the covariances contradict is reported.
TEST(RingHeatCapacity, WarnsIfBothDisagree) {
  const ScratchFolder folder;
  const Deck deck = deck_of("temperatures_K = [600, 650]", 24, 16, "economised");
  const auto observer = curve_of(deck, folder);
  const auto wrong = curve_of(deck, folder);
  show(*observer, deck, 2000, 5);
  observer->finish();
  EXPECT_TRUE(observer->messages().empty());
  // Both baths at the energies of one temperature.
  const Deck one = deck_of("temperatures_K = [600, 600.0001]", 24, 16, "economised");
  show(*wrong, one, 2000, 5);
  wrong->finish();
  ASSERT_EQ(wrong->messages().size(), 1u);
  EXPECT_TRUE(
      contains(wrong->messages()[0].text, "by the difference quotient and by covariances differ"));
}

}  // namespace
}  // namespace tarn
