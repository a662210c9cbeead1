

#include "csv_columns.hpp"
#include "csv_reader.hpp"
#include "io/xyz.hpp"
#include "observe/baths.hpp"
#include "quiet_run.hpp"
#include "recorded_potential.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/force_field.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/run.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

/// @file
/// [observe.minima]: quenches of a run, by the water model or by a Potential, and the table of what
/// they found.

namespace tarn {
namespace {

using namespace test;

/// Hot enough that six molecules change their basin every few samples.
Deck warm(int replicas, const std::string& more, const std::string& scheme = "settle") {
  return parse_deck(
      "[system]\nmolecules = 6\nreplicas = " + std::to_string(replicas) +
          "\n[integrator]\nscheme = \"" + scheme +
          "\"\ntimestep_fs = 2.0\n[thermostat]\nkind = \"baoab\"\nfriction_per_ps = 2.0\n" + more,
      "deck.toml");
}
const std::string kWall = "[confinement]\nradius_A = 5.0\nstiffness_kcal_per_mol_A2 = 10.0\n";
const std::string kOneBath = "temperature_K = 250.0\n" + kWall;
const std::string kBaths = "temperatures_K = [250.0, 100.0, 250.0]\n" + kWall;

RunResult run(const Deck& deck, const std::string& folder, int threads = 2) {
  return run_deck(deck, quiet_run(folder, threads));
}

/// ln Z of equation (62) from wavenumbers, moments of inertia and the order of the point group.
double log_partition_function(const std::vector<double>& x, double order, double temperature_K) {
  const NormalModes modes = normal_modes(tip3p(), x);
  double log = -modes.energy_kcal_per_mol / (units::boltzmann_kcal_per_mol_K * temperature_K);
  for (const NormalMode& mode : modes.modes) {
    if (mode.wavenumber_per_cm > 0.0) log -= std::log(mode.wavenumber_per_cm);
  }
  for (const double constant : rigid_rotor(tip3p(), x).constants_MHz) {
    log -= 0.5 * std::log(constant);
  }
  return log - std::log(order);
}

/// [observe.minima] of one frame, by the water model or by the potential of the engine.
struct ObservedMinima {
  const ScratchFolder folder{};
  std::vector<std::unique_ptr<Observer>> observers;
  Frame frame;

  ObservedMinima(const std::vector<std::int64_t>& ids, std::vector<double> positions_A,
                 const std::string& keys = "", std::shared_ptr<Potential> potential = nullptr) {
    const auto molecules = static_cast<int>(positions_A.size() / ids.size() / 9);
    RunInfo info{folder.path(), molecules, 4, "test", 2.0, 0};
    info.potential = std::move(potential);
    observers = make_observers(
        parse_deck("[system]\nmolecules = " + std::to_string(molecules) +
                       "\nreplicas = 4\n[integrator]\nscheme = \"settle\"\ntimestep_fs = 2.0\n"
                       "[run]\nsteps = 100\n[observe.minima]\n" +
                       keys,
                   "deck.toml"),
        info);
    frame.molecules = molecules;
    frame.replica_ids = ids;
    frame.positions_A = std::move(positions_A);
  }
  /// The column of energies in minima.csv; NaN if unknown.
  std::vector<double> energies() {
    observers.at(0)->begin();
    observers.at(0)->observe(frame);
    observers.at(0)->finish();
    test::CsvReader csv(folder.file("minima.csv"));
    std::vector<double> column;
    for (std::vector<std::string_view> cells; csv.next(cells);) {
      column.push_back(csv.number(cells[csv.column("minimum_kcal_per_mol")]));
    }
    return column;
  }
  std::map<std::string, std::vector<double>> minima() const {
    return columns_of(folder.file("minima.csv"));
  }
  std::map<std::string, std::vector<double>> isomers() const {
    return columns_of(folder.file("isomers.csv"));
  }
};
/// Replicas 0, 2 and 3 of three molecules.
ObservedMinima of_potential(const std::shared_ptr<RecordedPotential>& potential) {
  return {{0, 2, 3}, clusters(3, 3), "", potential};
}

/// Half of the replicas start from each cube of eight molecules and stay there. Their populations
/// are one half; the harmonic ones follow from equation (62).
TEST(MinimaObserver, HarmonicSharesAreTheSuperposition) {
  const std::string folder = TARN_SOURCE_DIR "/inputs/structures/";
  const ScratchFolder out;
  const Deck deck = parse_deck(
      fmt::format("[system]\nfiles = [\"{0}tip3p-8.xyz\", \"{0}tip3p-8-s4.xyz\"]\nreplicas = 8\n"
                  "[thermostat]\nfriction_per_ps = 5.0\ntemperatures_K = [20, 60]\n"
                  "[run]\nsteps = 200\n[observe.minima]\nevery = 20\n",
                  folder),
      "deck.toml");
  RunOptions options = quiet_run(out.file("out"));
  std::string messages;
  options.on_message = [&](const Message& message) { messages += message.text + "\n"; };
  run_deck(deck, options);
  const auto by_bath = columns_of(out.file("out/isomers_by_bath.csv"));
  const std::vector<double> d2d = io::read_structure(folder + "tip3p-8.xyz").positions_A;
  const std::vector<double> s4 = io::read_structure(folder + "tip3p-8-s4.xyz").positions_A;
  ASSERT_EQ(by_bath.at("share"), (std::vector<double>{0.5, 0.5, 0.5, 0.5}));
  for (const std::size_t bath : {0u, 1u}) {
    const double t_K = by_bath.at("bath_K")[2 * bath];
    const double ratio =
        std::exp(log_partition_function(s4, 4.0, t_K) - log_partition_function(d2d, 8.0, t_K));
    // Wavenumbers of stored and of quenched structures differ by 1e-6 of them.
    EXPECT_NEAR(by_bath.at("harmonic_share")[2 * bath], 1.0 / (1.0 + ratio), 1e-4);
    EXPECT_NEAR(by_bath.at("harmonic_share")[2 * bath + 1], ratio / (1.0 + ratio), 1e-4);
    EXPECT_EQ(by_bath.at("converged")[2 * bath], 0.0) << "no cluster changed";
  }
  expect_parts_of(messages, {"0.0 changes between the two most populated isomers per replica",
                             "populations depend on the start"});
}

TEST(MinimaObserver, QuenchesACopyOfEveryReplica) {
  for (const char* scheme : {"settle", "zss-stiff"}) {
    const ScratchFolder folder;
    const std::string observe =
        "[run]\nsteps = 900\n[observe.minima]\nevery = 150\n[observe.trajectory]\nevery = 150\n";
    run(warm(2, kOneBath + observe, scheme), folder.file("out"));
    const auto minima = columns_of(folder.file("out/minima.csv"));
    ForceField force_field(tip3p(), 6);
    for (int replica = 0; replica < 2; ++replica) {
      io::XyzReader reader(folder.file("out/trajectory-000" + std::to_string(replica) + ".xyz"));
      for (std::size_t frame = 0; frame < 7; ++frame) {
        std::vector<double> x = reader.next().value().positions_A;
        const double energy = quench_to_minimum(force_field, x, {1e-6}).energy_kcal_per_mol;
        const std::size_t row = 2 * frame + static_cast<std::size_t>(replica);
        EXPECT_EQ(minima.at("replica")[row], replica);
        EXPECT_EQ(minima.at("minimum_kcal_per_mol")[row], energy);
        const analysis::ClusterShape shape = analysis::cluster_shape(x);
        EXPECT_EQ(minima.at("minimum_hydrogen_bonds")[row], shape.hydrogen_bonds);
        EXPECT_EQ(minima.at("minimum_radius_of_gyration_A")[row], shape.radius_of_gyration_A);
      }
    }
  }
}

/// What isomers.csv says is what can be counted in minima.csv after the equilibration.
TEST(MinimaObserver, SharesMatchTheTable) {
  const ScratchFolder folder;
  const RunResult result = run(warm(6, kBaths + "[run]\nsteps = 12000\nequilibration_ps = 4\n"
                                                "[observe.minima]\nevery = 100\nisomers = 4\n"),
                               folder.file("out"));
  const auto minima = columns_of(folder.file("out/minima.csv"));
  const auto isomers = columns_of(folder.file("out/isomers.csv"));
  const auto by_bath = columns_of(folder.file("out/isomers_by_bath.csv"));
  ASSERT_EQ(isomers.at("isomer"), (std::vector<double>{1, 2, 3, 4}));
  ASSERT_EQ(by_bath.at("isomer").size(), 8u);
  const std::vector<double>&minimum = minima.at("minimum_kcal_per_mol"),
        &isomer = isomers.at("minimum_kcal_per_mol");
  // Of the cold and the hot replicas, after equilibration.
  struct Counts {
    double samples = 0.0, sum = 0.0;
    std::array<double, 4> of_isomer{};
  } counts[2];
  for (std::size_t row = 0; row < minimum.size(); ++row) {
    if (minima.at("step")[row] < 2000) continue;
    Counts& bath = counts[static_cast<int>(minima.at("replica")[row]) % 3 == 1 ? 0 : 1];
    ++bath.samples;
    bath.sum += minimum[row];
    bool listed = false;
    for (std::size_t i = 0; i < 4; ++i) {
      const bool is_isomer = std::abs(minimum[row] - isomer[i]) < 1e-7;
      listed |= is_isomer;
      bath.of_isomer[i] += is_isomer;
    }
    // None is below the lowest, and what is not in the list is above it.
    EXPECT_GT(minimum[row], isomer.front() - 1e-7);
    EXPECT_EQ(listed, minimum[row] < isomer.back() + 1e-7);
  }
  EXPECT_EQ(counts[0].samples, 2 * 101.0);
  EXPECT_EQ(counts[1].samples, 4 * 101.0);
  for (std::size_t row = 0; row < 8; ++row) {
    const Counts& bath = counts[row / 4];
    const double count = bath.of_isomer[row % 4];
    EXPECT_EQ(by_bath.at("bath_K")[row], row < 4 ? 100.0 : 250.0);
    EXPECT_EQ(by_bath.at("samples")[row], count);
    EXPECT_EQ(by_bath.at("of_samples")[row], bath.samples);
    EXPECT_DOUBLE_EQ(by_bath.at("share")[row], count / bath.samples);
    // Of replicas that have it for a part of the time.
    EXPECT_TRUE(count == 0.0 || count >= 101.0 || by_bath.at("share_err")[row] > 0.0);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const double count = counts[0].of_isomer[i] + counts[1].of_isomer[i];
    EXPECT_EQ(isomers.at("samples")[i], count);
    EXPECT_DOUBLE_EQ(isomers.at("share")[i], count / (6 * 101.0));
    EXPECT_EQ(isomers.at("of_samples")[i], 606.0);
  }

  // The structures are minima, about the origin, in the order of the table.
  ForceField force_field(tip3p(), 6);
  io::XyzReader reader(folder.file("out/isomers.xyz"));
  for (std::size_t i = 0; i < 4; ++i) {
    const io::Structure structure = reader.next().value();
    std::vector<double> x = structure.positions_A, forces(x.size());
    const double energy = force_field.energy_and_forces(x, forces).total_kcal_per_mol();
    EXPECT_NEAR(energy, isomers.at("minimum_kcal_per_mol")[i], 1e-9 * std::abs(energy));
    EXPECT_EQ(quench(force_field, x, {1e-4}).iterations, 0);
    EXPECT_EQ(structure.comment.at("isomer"), std::to_string(i + 1));
    double oxygens = 0.0;
    for (std::size_t k = 0; k < x.size(); k += 9) oxygens += x[k];
    EXPECT_LT(std::abs(oxygens / 6), 0.1) << "their centre is beside that of mass";
  }
  EXPECT_FALSE(reader.next());

  // The means of the table, by bath.
  int baths = 0;
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity != "minimum_kcal_per_mol") continue;
    const Counts& bath = counts[a.bath_K == 100.0 ? 0 : 1];
    EXPECT_NEAR(a.mean, bath.sum / bath.samples, 1e-12 * std::abs(a.mean));
    ++baths;
  }
  EXPECT_EQ(baths, 2);
}

TEST(MinimaObserver, DependOnNoThreadAndNoBatch) {
  const std::string observe = kOneBath + "[run]\nsteps = 600\n[observe.minima]\nevery = 60\n";
  const auto files = [&](int replicas, int threads, const std::string& more) {
    const ScratchFolder folder;
    run(warm(replicas, observe + more), folder.file("out"), threads);
    std::vector<std::string> texts;
    for (const char* name : {"out/minima.csv", "out/isomers.csv", "out/isomers.xyz"}) {
      const std::string text = read_text(folder.file(name));
      texts.push_back(text.substr(text.find('\n')));  // without provenance
    }
    return texts;
  };
  EXPECT_EQ(files(1, 1, "")[0], files(5, 2, "replicas = 1\n")[0]);
  EXPECT_EQ(files(5, 1, ""), files(5, 4, ""));
}

/// One molecule of the second replica has its atoms on a line, or has left.
TEST(MinimaObserver, AReplicaWithoutAMinimumIsLeftOut) {
  for (const bool departed : {false, true}) {
    ObservedMinima observed({0, 1}, clusters(6, 2));
    double* const x = &observed.frame.positions_A[54];
    for (int k = 0; k < 9; ++k)
      x[k] = departed ? x[k] + 3000.0 : x[k % 3] + (k % 3 == 0 ? k / 3 : 0);
    const std::vector<double> energies = observed.energies();
    ASSERT_EQ(energies.size(), 2u);
    EXPECT_TRUE(std::isfinite(energies[0]));
    for (const char* column :
         {"minimum_kcal_per_mol", "minimum_hydrogen_bonds", "minimum_radius_of_gyration_A"}) {
      EXPECT_TRUE(std::isnan(observed.minima().at(column)[1]));
    }
    EXPECT_EQ(observed.isomers().at("samples"), std::vector<double>{1.0});
    const auto averages = observed.observers[0]->averages();
    ASSERT_EQ(averages.size(), 3u);
    EXPECT_EQ(averages[0].samples, 1);
    EXPECT_EQ(averages[0].mean, energies[0]);
  }
}

/// A sample that a quench leaves at a flat saddle point counts to the minimum below it, 6.6e-6
/// kcal/mol lower (unit/minimise_test), as one that is there already does.
TEST(MinimaObserver, ASaddlePointIsNoIsomer) {
  std::vector<double> both =
      io::read_structure(TARN_SOURCE_DIR "/tests/data/structures/tip3p-5-saddle.xyz").positions_A;
  std::vector<double> minimum = both;
  ForceField force_field(tip3p(), 5);
  quench_to_minimum(force_field, minimum);
  both.insert(both.end(), minimum.begin(), minimum.end());
  ObservedMinima observed({0, 1}, both);
  const std::vector<double> energies = observed.energies();
  ASSERT_EQ(energies.size(), 2u);
  // What a gradient of 1e-6 leaves of its softest mode (minimise_test).
  for (const double energy : energies) EXPECT_NEAR(energy, -38.753990251, 1e-8);
  EXPECT_EQ(observed.isomers().at("samples"), std::vector<double>{2.0});
}

/// A row of means is that of the replicas that have a minimum.
TEST(MinimaObserver, MeansExcludeUnknownValues) {
  ObservedMinima observed({0, 1, 2}, clusters(6, 3), "replicas = \"mean\"\n");
  ForceField force_field(tip3p(), 6);
  double sum = 0.0;
  for (const int replica : {0, 1}) {
    std::vector<double> x = clusters(6, 1, replica);
    sum += quench_to_minimum(force_field, x, {1e-6}).energy_kcal_per_mol;
  }
  for (const std::size_t atom : {0, 3, 6}) observed.frame.positions_A[108 + atom] += 3000.0;
  EXPECT_EQ(observed.energies(), std::vector<double>{sum / 2.0});
}

// --- with a Potential ---------------------------------------------------------------------------

TEST(PotentialMinimaObserver, QuenchesInBatches) {
  const auto potential = potential_of(3);
  ObservedMinima observed = of_potential(potential);
  EXPECT_FALSE(observed.observers.at(0)->may_lag()) << "the engine calls the potential meanwhile";
  const std::vector<double> energies = observed.energies();
  ASSERT_EQ(energies.size(), 3u);
  for (int k = 0; k < 3; ++k) {
    std::vector<double> x = clusters(3, 1, k);
    ForceField built_in(flexible(), 3);
    EXPECT_NEAR(energies[static_cast<std::size_t>(k)],
                quench_to_minimum(built_in, x).energy_kcal_per_mol, 1e-8);
  }
  // Ids of replicas and of their displaced images; those below 4 are the engine's.
  EXPECT_EQ(potential->calls.front(), (std::vector<std::int64_t>{4, 6, 7}));
  EXPECT_GT(potential->images(), 2 * potential->calls.size());
  for (const auto& call : potential->calls) {
    for (const std::int64_t id : call) EXPECT_GE(id, 4);
  }
  // The charges of the model are not those of the potential.
  EXPECT_TRUE(std::isnan(observed.isomers().at("dipole_D").at(0)));
}

/// Four replicas in two minima, with noisy forces: the tolerance finds both.
TEST(PotentialMinimaObserver, ToleranceSuitsNoisyForces) {
  std::vector<double> positions_A = clusters(3, 2), built_in;
  for (const int replica : {0, 1}) {
    std::vector<double> x = clusters(3, 1, replica);
    positions_A.insert(positions_A.end(), x.begin(), x.end());
    ForceField force_field(flexible(), 3);
    built_in.push_back(quench_to_minimum(force_field, x).energy_kcal_per_mol);
  }
  const bool same = std::abs(built_in[0] - built_in[1]) < 1e-4;
  for (const bool is_given : {false, true}) {
    const auto potential = potential_of(3);
    add_noise(*potential, 1e-5);
    ObservedMinima observed({0, 1, 2, 3}, positions_A,
                            is_given ? "tolerance_kcal_per_mol_A = 1e-3\n" : "", potential);
    const std::vector<double> energies = observed.energies();
    ASSERT_EQ(energies.size(), 4u);
    for (const double energy : energies) EXPECT_EQ(std::isfinite(energy), is_given);
    if (!is_given) continue;
    EXPECT_NE(energies[0], energies[2]) << "the noise differs";
    EXPECT_EQ(observed.isomers().at("share").size(), same ? 1u : 2u);
    EXPECT_EQ(observed.isomers().at("share")[0], same ? 1.0 : 0.5);
  }
}

TEST(PotentialMinimaObserver, AReplicaWithoutAnEnergyIsLeftOut) {
  const auto potential = potential_of(3);
  potential->change = [](auto ids, auto energies, auto) {
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (ids[k] == 6) energies[k] = std::nan("");
    }
  };
  const std::vector<double> energies = of_potential(potential).energies();
  for (const std::size_t k : {0u, 1u, 2u}) EXPECT_EQ(std::isnan(energies[k]), k == 1);
}

TEST(PotentialMinimaObserver, AnExceptionReachesTheRun) {
  for (const int live : {1, 3}) {
    const auto potential = potential_of(3);
    potential->change = [](auto...) { throw NumericalError("no convergence"); };
    const std::vector<std::int64_t> ids{0, 2, 3};
    ObservedMinima observed({ids.begin(), ids.begin() + live}, clusters(3, live), "", potential);
    EXPECT_THROW(observed.energies(), NumericalError);
  }
}

TEST(Baths, CountEachReplicaOnce) {
  for (const std::vector<double>& ladder_K :
       {std::vector<double>{}, {300.0}, {300.0, 300.0}, {300.0, 100.0}, {5.0, 1.0, 5.0, 3.0}}) {
    for (const int replicas : {4, 7, 12}) {
      RunInfo info;
      info.replicas = replicas;
      info.baths_K = ladder_K;
      const Baths baths(info);
      std::vector<std::int64_t> seen(baths.size(), 0);
      for (std::int64_t r = 0; r < replicas; ++r) {
        const std::size_t bath = baths.of(r);
        EXPECT_EQ(baths.index_in_bath(r), seen[bath]++);
        const auto temperature_K = baths.temperature_K(bath);
        EXPECT_EQ(temperature_K.has_value(), baths.size() > 1);
        if (!temperature_K) continue;
        EXPECT_EQ(*temperature_K, ladder_K[static_cast<std::size_t>(r) % ladder_K.size()]);
      }
      EXPECT_EQ(std::vector<int>(seen.begin(), seen.end()), baths.replicas());
    }
  }
}

}  // namespace
}  // namespace tarn
