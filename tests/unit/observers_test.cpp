#include "tarn/observe/observers.hpp"

#include "analysis/blocking.hpp"
#include "analysis/rdf.hpp"
#include "csv_reader.hpp"
#include "fake_engine.hpp"
#include "interface/moments.hpp"
#include "io/xyz.hpp"
#include "observe/observable.hpp"
#include "observe/rdf_counts.hpp"
#include "observe/table_observer.hpp"
#include "observe/trajectory_tables.hpp"
#include "quiet_run.hpp"
#include "start/molecule_frame.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/exchange.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/run.hpp"
#include "testing.hpp"
#include "trajectory_fixtures.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr int kMolecules = 3;
constexpr double kStepFs = 2.0, kStepPs = 0.002;

using Observers = std::vector<std::unique_ptr<Observer>>;
/// Rows of numbers; "mean" is -1.
struct Table {
  std::string provenance;
  std::vector<std::string> header;
  std::vector<std::vector<double>> rows;

  std::string columns() const { return fmt::format("{}", fmt::join(header, ",")); }
};

Table read_table(const std::string& path) {
  test::CsvReader csv(path);
  Table table{csv.provenance(), csv.header(), {}};
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    auto& row = table.rows.emplace_back();
    for (const auto cell : cells) row.push_back(cell == "mean" ? -1.0 : csv.number(cell));
  }
  return table;
}

class ObserversTest : public ::testing::Test {
 protected:
  Deck deck(int replicas, const std::string& observe, std::vector<double> temperatures_K = {}) {
    Deck d = parse_deck(
        "[system]\nmodel = \"tip3p\"\nmolecules = 3\nreplicas = " + std::to_string(replicas) +
            "\n[integrator]\nscheme = \"zss-stiff\"\ntimestep_fs = 2.0\n"
            "[run]\nsteps = 100\n" +
            observe,
        "test.toml");
    if (temperatures_K.empty()) return d;
    d.thermostat.kind = Thermostat::gla;
    d.thermostat.friction_per_ps = 5.0;
    d.thermostat.temperatures_K = std::move(temperatures_K);
    return d;
  }
  RunInfo info(const Deck& d) {
    return {folder_.path(),    kMolecules,
            d.system.replicas, provenance_of(d, kMolecules),
            kStepFs,           first_averaged_step(d)};
  }
  FakeEngine engine(const Deck& d, FakeScript script = {}) {
    return FakeEngine(fake_start(kMolecules, d.system.replicas), make_pair_count_request(d),
                      kStepPs, std::move(script));
  }
  static void steps(FakeEngine& e, const Observers& observers, std::int64_t last, bool first) {
    run_loop(e, observers, last, first, [](std::int64_t) { return true; });
  }
  /// The observers of a run of the steps 0 .. last, before they finish.
  Observers observers_after(const Deck& d, std::int64_t last, FakeScript script = {}) {
    Observers observers = make_observers(d, info(d));
    FakeEngine e = engine(d, std::move(script));
    for (const auto& observer : observers) observer->begin();
    steps(e, observers, last, true);
    return observers;
  }
  /// Passes each frame of another engine to `see`.
  void for_frames(const Deck& d, unsigned fields, std::int64_t every, std::int64_t last,
                  const std::function<void(const Frame&)>& see) {
    FakeEngine e = engine(d);
    Frame frame;
    for (std::int64_t step = 0; step <= last; step += every) {
      if (step > 0) e.advance(every);
      e.snapshot(fields, frame);
      see(frame);
    }
  }
  /// Runs 0 .. last and writes all files.
  void run(const Deck& d, std::int64_t last, FakeScript script = {}) {
    for (const auto& observer : observers_after(d, last, std::move(script))) observer->finish();
  }
  /// The first observer, before its first step.
  std::unique_ptr<Observer> first_observer(const Deck& d) {
    auto observer = std::move(make_observers(d, info(d)).front());
    observer->begin();
    return observer;
  }
  Table table(const std::string& name) { return read_table(folder_.file(name)); }
  /// The law of observers: stops at a few steps, writes on, as a run does that is killed, and
  /// continues from the stop; files and averages are those of a run without a stop.
  void expect_restored_files_are_the_same(const Deck& d, const FakeScript& script = {}) {
    const auto finished = [&](const Observers& observers) {
      std::vector<AveragedQuantity> averages;
      for (const auto& observer : observers) {
        observer->finish();
        for (const AveragedQuantity& a : observer->averages()) averages.push_back(a);
      }
      write_averages(folder_.file("averages.csv"), "test", averages);
      return contents_of_run(folder_.path());
    };
    std::map<std::string, std::string> straight;
    for (const std::int64_t stop : {-1, 0, 1, 128, 252, 257, 499, 500}) {
      const Observers observers = make_observers(d, info(d));
      FakeEngine e = engine(d, script);
      for (const auto& observer : observers) observer->begin();
      if (stop < 0) {
        steps(e, observers, 500, true);
        straight = finished(observers);
        ASSERT_FALSE(straight.empty());
        continue;
      }
      steps(e, observers, stop, true);
      std::vector<std::string> saved;
      for (const auto& observer : observers) {
        std::ostringstream out;
        observer->save(out);
        saved.push_back(out.str());
      }
      FakeEngine restarted(e.state(), make_pair_count_request(d), kStepPs, script);
      // What was written after the checkpoint must not matter.
      steps(e, observers, stop + 50, false);
      const Observers restored = make_observers(d, info(d));
      for (std::size_t i = 0; i < restored.size(); ++i) {
        EXPECT_EQ(restored[i]->name(), observers[i]->name());
        std::istringstream in(saved[i]);
        restored[i]->load(in);
      }
      steps(restarted, restored, 500, false);
      for (const auto& [name, text] : finished(restored)) {
        EXPECT_TRUE(straight.contains(name) && text == straight.at(name))
            << name << ", stopped at " << stop;
      }
    }
    for (const auto& [name, text] : straight) std::filesystem::remove(folder_.file(name));
  }

  ScratchFolder folder_;
};

TEST_F(ObserversTest, MultipliersOfTheChosenReplicas) {
  const auto rows = [&](const std::string& replicas) {
    run_deck(parse_deck("[system]\nmolecules = 2\nreplicas = 3\n"
                        "[integrator]\nscheme = \"zss-stiff\"\n[run]\nsteps = 4\n"
                        "[observe.multipliers]\nevery = 2\nreplicas = " +
                            replicas + "\n",
                        "test.toml"),
             quiet_run(folder_.file("of-" + replicas), 1));
    std::map<double, int> of_replica;
    for (const auto& row : table("of-" + replicas + "/multipliers.csv").rows) ++of_replica[row[2]];
    return of_replica;
  };
  // Three moments, two molecules.
  EXPECT_EQ(rows("\"all\""), (std::map<double, int>{{0, 6}, {1, 6}, {2, 6}}));
  EXPECT_EQ(rows("2"), (std::map<double, int>{{0, 6}, {1, 6}}));
  EXPECT_EQ(rows("9"), (std::map<double, int>{{0, 6}, {1, 6}, {2, 6}}));
}

TEST_F(ObserversTest, MultipliersNameTheEquationOfTheirScheme) {
  const auto first_line = [&](const std::string& integrator) {
    const Deck d = parse_deck("[system]\nmolecules = 3\n[integrator]\n" + integrator +
                                  "\n[run]\nsteps = 1\n[observe.multipliers]\n",
                              "test.toml");
    for (const auto& observer : make_observers(d, info(d))) {
      observer->begin();
      observer->finish();
    }
    return read_table(folder_.path() + "/multipliers.csv").provenance;
  };
  const std::string plain = "kcal/mol/A^2, M a = F0 + J^T lambda (14), mean";
  EXPECT_TRUE(contains(first_line("scheme = \"zss-stiff\""), plain));
  EXPECT_TRUE(contains(first_line("scheme = \"verlet\"\nomega = 20"), plain));
  EXPECT_TRUE(contains(first_line("scheme = \"zss-stiff\"\nhessian = \"full\""),
                       "lambda = -omega^2 (g + b h^2 J a), M a = F0 + J^T lambda - b h^2 omega^2"));
  EXPECT_TRUE(
      contains(first_line("scheme = \"zss-stiff\"\nhessian = \"total\""), "+ grad^2 V0) a (14)"));
  EXPECT_TRUE(contains(first_line("scheme = \"rattle\""), "-J M^-1 F0 - 2 |d'|^2 (31)"));
}

TEST_F(ObserversTest, EnergiesOfEveryReplicaFromStepZero) {
  const Deck d = deck(2, "[observe.energies]\nevery = 50\n");
  run(d, 100);
  const Table t = table("energies.csv");
  EXPECT_EQ(t.columns(),
            "step,time_ps,replica,potential_kcal_per_mol,penalty_kcal_per_mol,"
            "kinetic_kcal_per_mol,total_kcal_per_mol,temperature_K");
  ASSERT_EQ(t.rows.size(), 6u);
  std::size_t row = 0;
  for_frames(d, kEnergies, 50, 100, [&](const Frame& frame) {
    for (const std::size_t r : {0, 1}) {
      const Energies& e = frame.energies[r];
      EXPECT_EQ(t.rows[row++], (std::vector<double>{1.0 * frame.step, frame.step * kStepFs / 1000,
                                                    1.0 * r, e.potential_kcal_per_mol,
                                                    e.bond_kcal_per_mol, e.kinetic_kcal_per_mol,
                                                    e.total_kcal_per_mol, e.temperature_K}));
    }
  });
}

TEST_F(ObserversTest, ProvenanceHoldsNoTimeNoPathAndNoStepCount) {
  const Deck d = deck(2, "[observe.energies]\nevery = 50\n");
  run(d, 100);
  const std::string provenance = table("energies.csv").provenance;
  EXPECT_TRUE(contains(provenance, "tip3p, 3 molecules, 2 replicas, seed 1; physics "));
  EXPECT_EQ(provenance.find(folder_.path()), std::string::npos);
  EXPECT_EQ(provenance.find("100"), std::string::npos);
  Deck longer = d;
  longer.run.steps = 100'000;
  longer.path = "elsewhere/other.toml";
  EXPECT_EQ(provenance_of(longer, 3), provenance_of(d, 3));
  longer.integrator.timestep_fs = 1.0;
  EXPECT_NE(provenance_of(longer, 3), provenance_of(d, 3));
}

TEST_F(ObserversTest, MeansHaveStandardErrors) {
  run(deck(5, "[observe.energies]\nevery = 100\n"), 100);
  const Table all = table("energies.csv");
  run(deck(5, "[observe.energies]\nevery = 100\nreplicas = \"mean\"\n"), 100);
  const Table mean = table("energies.csv");
  ASSERT_EQ(mean.header.size(), 3u + 10u);
  EXPECT_EQ(mean.header[3], "potential_kcal_per_mol");
  EXPECT_EQ(mean.header[4], "potential_kcal_per_mol_err");
  ASSERT_EQ(mean.rows.size(), 2u);
  EXPECT_TRUE(contains(mean.provenance, "standard error"));
  for (std::size_t step = 0; step < 2; ++step) {
    EXPECT_EQ(mean.rows[step][2], -1.0);
    for (std::size_t c = 0; c < 5; ++c) {
      std::vector<double> values;
      for (std::size_t r = 0; r < 5; ++r) values.push_back(all.rows[5 * step + r][3 + c]);
      const analysis::MeanError expected = analysis::mean_and_error(values);
      // Sums of five numbers in another order; the error is a root of a difference of such sums.
      double largest = 0.0;
      for (const double value : values) largest = std::max(largest, std::fabs(value));
      EXPECT_NEAR(mean.rows[step][3 + 2 * c], expected.mean, few_roundings(5.0 * largest));
      EXPECT_NEAR(mean.rows[step][4 + 2 * c], expected.error, few_roundings(5.0 * largest));
    }
  }
}

TEST_F(ObserversTest, TheFirstReplicasOnly) {
  run(deck(5,
           "[observe.energies]\nevery = 100\nreplicas = 2\n"
           "[observe.trajectory]\nevery = 100\nreplicas = 2\n"),
      100);
  const Table t = table("energies.csv");
  ASSERT_EQ(t.rows.size(), 4u);
  EXPECT_EQ(t.rows[3][2], 1.0);
  EXPECT_TRUE(std::filesystem::exists(folder_.file("trajectory-0001.xyz")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("trajectory-0002.xyz")));
}

TEST_F(ObserversTest, StoppedReplicasHaveNoMoreRows) {
  FakeScript script;
  script.blow_ups = {{0, 60}, {2, 80}};
  const std::string observe =
      "[observe.energies]\nevery = 50\n[observe.conservation]\nevery = 50\n"
      "[observe.trajectory]\nevery = 50\n[observe.rdf]\nevery = 10\n";
  run(deck(3, observe), 100, script);
  const Table energies = table("energies.csv");
  ASSERT_EQ(energies.rows.size(), 7u);  // three at 0 and 50, one at 100
  EXPECT_EQ(energies.rows[6][0], 100.0);
  EXPECT_EQ(energies.rows[6][2], 1.0);
  EXPECT_EQ(table("conservation.csv").rows.size(), 7u);
  int frames = 0;
  for (io::XyzReader reader(folder_.file("trajectory-0002.xyz")); reader.next();) ++frames;
  EXPECT_EQ(frames, 2);
  FakeScript all;
  all.blow_ups = {{0, 60}, {1, 60}, {2, 60}};
  run(deck(3, "[observe.energies]\nevery = 50\nreplicas = \"mean\"\n"), 100, all);
  EXPECT_EQ(table("energies.csv").rows.size(), 2u);
}

/// Shadow work counts from the first row of each replica and its rate from the first one after
/// equilibration; the conserved quantity is the scheme's energy. All are less the heat.
TEST_F(ObserversTest, HeatIsTakenOffBothEnergies) {
  Deck d = deck(2,
                "[thermostat]\nkind = \"gla\"\ntemperature_K = 10.0\nfriction_per_ps = 1.0\n"
                "[observe.heat]\nevery = 50\n");
  d.run.equilibration_ps = 0.08;  // 40 steps
  run(d, 150);
  const Table t = table("heat.csv");
  EXPECT_EQ(t.columns(),
            "step,time_ps,replica,heat_kcal_per_mol,shadow_work_kcal_per_mol,"
            "shadow_work_kcal_per_mol_per_ps,conserved_kcal_per_mol");
  ASSERT_EQ(t.rows.size(), 8u);
  std::array<double, 2> first{}, averaged{};
  for_frames(d, kEnergies | kHeat, 50, 150, [&](const Frame& frame) {
    for (const std::size_t r : {0, 1}) {
      const std::vector<double>& row = t.rows[static_cast<std::size_t>(frame.step) / 25 + r];
      const double heat = frame.heat_kcal_per_mol[r];
      const double physical = frame.energies[r].physical_kcal_per_mol - heat;
      if (frame.step == 0) first[r] = physical;
      if (frame.step == 50) averaged[r] = physical;
      EXPECT_EQ(row[3], heat);
      EXPECT_EQ(row[4], physical - first[r]);
      const double rate = (physical - averaged[r]) / (row[1] - 0.1);
      EXPECT_TRUE(frame.step < 100 ? std::isnan(row[5]) : std::abs(row[5] - rate) <= 1e-12);
      EXPECT_EQ(row[6], frame.energies[r].total_kcal_per_mol - heat);
    }
  });
}

TEST_F(ObserversTest, MomentaArePerPicosecond) {
  const Deck d = deck(1, "[observe.conservation]\nevery = 100\n");
  run(d, 100);
  const Table t = table("conservation.csv");
  EXPECT_EQ(t.columns(),
            "step,time_ps,replica,energy_kcal_per_mol,px_Da_A_per_ps,py_Da_A_per_ps,pz_Da_A_per_ps,"
            "lx_Da_A2_per_ps,ly_Da_A2_per_ps,lz_Da_A2_per_ps,constraint_max_A2");
  for_frames(d, kConservation, 100, 100, [&](const Frame& frame) {
    const std::vector<double>& row = t.rows[frame.step == 0 ? 0 : 1];
    const Conservation& c = frame.conservation[0];
    // 1 Da A/akma = 1 Da A / (0.04888821 ps).
    EXPECT_NEAR(row[4], c.momentum_Da_A_per_akma[0] / 0.04888821, 1e-13);
    EXPECT_NEAR(row[9], c.angular_momentum_Da_A2_per_akma[2] / 0.04888821, 1e-12);
    EXPECT_EQ(row[3], c.energy_kcal_per_mol);
    EXPECT_EQ(row[10], c.constraint_max_A2);
  });
}

TEST_F(ObserversTest, TrajectoriesAreExtendedXyz) {
  const Deck one = deck(1, "[observe.trajectory]\nevery = 50\n");
  run(one, 100);
  io::XyzReader reader(folder_.file("trajectory.xyz"));
  for_frames(one, kPositions, 50, 100, [&](const Frame& frame) {
    const auto structure = reader.next();
    ASSERT_TRUE(structure);
    EXPECT_EQ(structure->positions_A, frame.positions_A);
    EXPECT_EQ(structure->comment.at("step"), std::to_string(frame.step));
    EXPECT_EQ(std::stod(structure->comment.at("time_ps")), frame.step * kStepFs / 1000);
    EXPECT_EQ(structure->comment.at("replica"), "0");
    EXPECT_EQ(structure->comment.at("pbc"), "F F F");
    EXPECT_EQ(structure->model(), "tip3p");
  });
  EXPECT_FALSE(reader.next());
  run(deck(2, "[observe.trajectory]\nevery = 50\n"), 100);
  EXPECT_TRUE(std::filesystem::exists(folder_.file("trajectory-0000.xyz")));
  EXPECT_TRUE(std::filesystem::exists(folder_.file("trajectory-0001.xyz")));
}

/// Tables are joined by time: it is that of the deck, through no other unit.
TEST_F(ObserversTest, TimesAreStepsOfTheDecksTimeStep) {
  run_deck(deck(1,
                "[observe.energies]\nevery = 1\n[observe.multipliers]\nevery = 1\n"
                "[observe.trajectory]\nevery = 1\n[observe.cluster]\nevery = 1\n"
                "replicas = \"mean\"\n"),
           quiet_run(folder_.file("run"), 1));
  EXPECT_EQ(table("run/multipliers.csv").columns(),
            "step,time_ps,replica,molecule,lambda_OH1,lambda_OH2,lambda_HH");
  for (const char* name : {"run/energies.csv", "run/multipliers.csv", "run/cluster.csv"}) {
    const Table t = table(name);
    EXPECT_GE(t.rows.size(), 101u) << name;
    for (const auto& row : t.rows) EXPECT_EQ(row[1], row[0] * kStepFs / 1000) << name;
  }
  io::XyzReader reader(folder_.file("run/trajectory.xyz"));
  int frames = 0;
  for (; const auto frame = reader.next(); ++frames) {
    EXPECT_EQ(std::stod(frame->comment.at("time_ps")), frames * kStepFs / 1000);
  }
  EXPECT_EQ(frames, 101);
}

TEST_F(ObserversTest, ClusterHasDipolesAndTheLindemannIndexAfterEquilibration) {
  Deck d = deck(2, "[observe.cluster]\nevery = 5\n");
  d.run.equilibration_ps = 0.1;  // 50 steps
  run(d, 100);
  const Table t = table("cluster.csv");
  EXPECT_EQ(t.columns(),
            "step,time_ps,replica,radius_of_gyration_A,hydrogen_bonds,farthest_neighbour_A,"
            "dipole_D,molecule_dipole_D,farthest_oxygen_A,lindemann");
  std::array<analysis::LindemannIndex, 2> index;
  std::size_t rows = 0;
  const WaterModel model = *find_water_model("tip3p");
  for_frames(d, kPositions, 5, 100, [&](const Frame& frame) {
    for (const std::size_t r : {0, 1}) {
      const std::vector<double>& row = t.rows.at(rows++);
      const auto positions = frame.positions_A_of(r);
      if (frame.step >= 50) index[r].add(positions);
      const auto dipole = analysis::cluster_dipole(positions, model.dipole_charge_e());
      EXPECT_EQ(row[6], dipole.cluster_D);
      EXPECT_EQ(row[7], dipole.molecule_D);
      EXPECT_DOUBLE_EQ(row[8], start::farthest_oxygen_A(model, positions));
      // There are two samples from step 55.
      EXPECT_TRUE(frame.step < 55 ? std::isnan(row[9]) : row[9] == index[r].value());
    }
  });
  EXPECT_EQ(rows, t.rows.size());
  EXPECT_GT(index[0].value(), 0.0);
  EXPECT_NE(index[0].value(), index[1].value());
  // An average of what is not known is none.
  const auto has_lindemann = [&](std::int64_t last) {
    const auto averages = observers_after(d, last)[0]->averages();
    EXPECT_EQ(averages.front().quantity, "radius_of_gyration_A");
    return averages.back().quantity == "lindemann";
  };
  EXPECT_FALSE(has_lindemann(50)) << "one sample";
  EXPECT_TRUE(has_lindemann(55));

  // What it remembers is of three molecules, and not of four.
  std::ostringstream saved;
  observers_after(d, 100)[0]->save(saved);
  for (const int molecules : {3, 4}) {
    RunInfo other = info(d);
    other.molecules = d.system.molecules = molecules;
    const Observers restored = make_observers(d, other);
    std::istringstream in(saved.str());
    if (molecules == 3) {
      EXPECT_NO_THROW(restored[0]->load(in));
    } else {
      EXPECT_THROW(restored[0]->load(in), LayoutError);
    }
  }

  run(deck(2, "[observe.cluster]\nlindemann = false\n"), 100);
  EXPECT_EQ(table("cluster.csv").header.back(), "farthest_oxygen_A");
}

/// A mean temperature that falls tells so, and one that rests does not.
/// Adds the moments that an engine would give the observer.
void add_energy_moments(const Observer& observer, Frame& frame) {
  MeasureSettings settings;
  observer.configure(settings);
  frame.exchange_energies_kcal_per_mol.assign(frame.live(), 0.0);
  ReplicaGroups groups(settings.moment_groups);
  fill_moments(kEnergyMoments, false, groups, 1, frame);
}

TEST_F(ObserversTest, AveragesReportDrift) {
  const Deck d = deck(1, "[observe.energies]\nevery = 1\n");
  const auto drift_of = [&](double fall_K) {
    const auto observer = first_observer(d);
    Frame frame;
    frame.molecules = kMolecules;
    frame.replica_ids = {0};
    for (frame.step = 0; frame.step < 4096; ++frame.step) {
      const auto t = static_cast<double>(frame.step);
      Energies energies{};
      energies.temperature_K = 100.0 + std::sin(12.9898 * t * t) + fall_K * std::exp(-t / 200.0);
      frame.energies = {energies};
      add_energy_moments(*observer, frame);
      observer->observe(frame);
    }
    for (const AveragedQuantity& a : observer->averages()) {
      if (a.quantity == "temperature_K") return a.drift;
    }
    return std::nan("");
  };
  EXPECT_EQ(drift_of(0.0), 0.0);
  EXPECT_LT(drift_of(30.0), -5.0);
}

// --- averages ---

TEST_F(ObserversTest, AveragesLeaveOutTheTransientAndTakeAllReplicas) {
  // What is written must not matter.
  for (const char* selection : {"", "replicas = 1\n", "replicas = \"mean\"\n"}) {
    Deck d = deck(3, fmt::format("[observe.energies]\nevery = 10\n{0}[observe.cluster]\n"
                                 "every = 20\n{0}[observe.conservation]\n",
                                 selection));
    d.run.equilibration_ps = 0.1;  // 50 steps
    for (const auto& observer : observers_after(d, 40)) EXPECT_TRUE(observer->averages().empty());
    const Observers observers = observers_after(d, 200);
    analysis::PooledBlocking potential(3);
    std::array<analysis::LindemannIndex, 3> lindemann;
    for_frames(d, kEnergies | kPositions, 10, 200, [&](const Frame& frame) {
      for (std::size_t r = 0; frame.step >= 50 && r < 3; ++r) {
        potential.add(r, frame.energies[r].potential_kcal_per_mol);
        if (frame.step % 20 == 0) lindemann[r].add(frame.positions_A_of(r));
      }
    });
    const std::vector<AveragedQuantity> energies = observers[0]->averages();
    ASSERT_EQ(energies.size(), 5u);
    EXPECT_EQ(energies[0].table, "energies");
    EXPECT_EQ(energies[0].quantity, "potential_kcal_per_mol");
    EXPECT_EQ(energies[4].quantity, "temperature_K");
    const analysis::Blocking expected = potential.result();
    EXPECT_EQ(energies[0].mean, expected.mean);
    EXPECT_EQ(energies[0].error, expected.error);
    EXPECT_EQ(energies[0].samples, 16 * 3);
    EXPECT_DOUBLE_EQ(energies[0].autocorrelation_ps.value(),
                     expected.autocorrelation_time * 10.0 * kStepPs);
    EXPECT_DOUBLE_EQ(energies[0].independent_samples, 24.0 / expected.autocorrelation_time);
    EXPECT_GT(energies[0].error, 0.0);
    EXPECT_EQ(energies[0].error_of_error.value(), expected.error_of_error);

    EXPECT_TRUE(observers[1]->averages().empty()) << "conserved quantities have no averages";
    const AveragedQuantity index = observers[2]->averages().back();
    EXPECT_EQ(index.quantity, "lindemann");
    const std::vector<double> last{lindemann[0].value(), lindemann[1].value(),
                                   lindemann[2].value()};
    const analysis::MeanError indices = analysis::mean_and_error(last);
    EXPECT_EQ(index.mean, indices.mean);
    EXPECT_EQ(index.error, indices.error);
    EXPECT_FALSE(index.autocorrelation_ps);
    EXPECT_EQ(index.samples, 3);
    EXPECT_DOUBLE_EQ(index.error_of_error.value(), 0.5 * index.error)
        << "of two degrees of freedom";
  }
}

TEST(Observers, AveragesThatAreNotFiniteAreNotKnown) {
  const ScratchFolder folder;
  AveragedQuantity a{"energies", "x", 1.5, std::nan("")};
  a.autocorrelation_ps = std::nan("");
  a.independent_samples = HUGE_VAL;
  a.samples = 7;
  write_averages(folder.file("averages.csv"), "p", {a});
  EXPECT_TRUE(
      contains(read_text(folder.file("averages.csv")), "\nenergies,x,1.5,nan,nan,nan,7,1,nan\n"));
}

TEST_F(ObserversTest, AveragesOfSeveralBathsAreKeptApart) {
  Deck d = deck(5, "[observe.energies]\nevery = 10\nreplicas = \"mean\"\n", {200.0, 50.0, 200.0});
  const std::vector<AveragedQuantity> averages = observers_after(d, 100)[0]->averages();
  std::array<double, 2> sums{};
  for_frames(d, kEnergies, 10, 100, [&](const Frame& frame) {
    for (std::size_t r = 0; r < 5; ++r) {
      sums[r % 3 == 1 ? 0 : 1] += frame.energies[r].potential_kcal_per_mol;
    }
  });
  ASSERT_EQ(averages.size(), 12u);
  EXPECT_EQ(averages[0].bath_K, 50.0);  // replicas 1 and 4
  EXPECT_EQ(averages[0].samples, 22);
  EXPECT_DOUBLE_EQ(averages[0].mean, sums[0] / 22.0);
  EXPECT_EQ(averages[6].bath_K, 200.0);  // replicas 0, 2 and 3
  EXPECT_EQ(averages[6].samples, 33);
  EXPECT_DOUBLE_EQ(averages[6].mean, sums[1] / 33.0);
  write_averages(folder_.file("averages.csv"), "test", averages);
  test::CsvReader csv(folder_.file("averages.csv"));
  std::vector<std::string_view> cells;
  ASSERT_TRUE(csv.next(cells));
  EXPECT_EQ(csv.number(cells[csv.column("bath_K")]), 50.0);

  // One temperature, however often, is one bath.
  d.thermostat.temperatures_K = {50.0, 50.0};
  const auto same = observers_after(d, 10)[0]->averages();
  ASSERT_EQ(same.size(), 6u);
  EXPECT_FALSE(same[0].bath_K);
}

/// Replicas that stay where they are: their spread is the error, however many baths there are
/// beside theirs.
TEST_F(ObserversTest, ErrorsOfABathUseItsReplicasOnly) {
  // Sixteen of each of the temperatures.
  for (const auto& [baths, each] : {std::pair{2, 16}, {5, 16}, {20, 4}}) {
    std::vector<double> temperatures_K;
    for (int b = 0; b < baths; ++b) temperatures_K.push_back(10.0 * (1 + b % 5));
    const Deck d =
        deck(baths * each, "[observe.energies]\nevery = 1\nreplicas = 1\n", temperatures_K);
    const auto observer = first_observer(d);
    const auto energy = [](std::int64_t id) { return std::sin(static_cast<double>(id)); };
    Frame frame;
    frame.molecules = kMolecules;
    for (std::int64_t id = 0; id < d.system.replicas; ++id) {
      frame.replica_ids.push_back(id);
      frame.energies.emplace_back().potential_kcal_per_mol = energy(id);
    }
    add_energy_moments(*observer, frame);
    for (frame.step = 0; frame.step < 1024; ++frame.step) observer->observe(frame);
    for (const AveragedQuantity& a : observer->averages()) {
      if (a.quantity != "potential_kcal_per_mol") continue;
      std::vector<double> energies;
      for (std::int64_t id = 0; id < d.system.replicas; ++id) {
        const auto bath = static_cast<std::size_t>(id % baths);
        if (temperatures_K[bath] == a.bath_K) energies.push_back(energy(id));
      }
      ASSERT_EQ(energies.size(), 16u);
      EXPECT_NEAR(a.error, analysis::mean_and_error(energies).error, few_roundings())
          << baths << " baths, " << a.bath_K.value() << " K";
      EXPECT_TRUE(a.converged);
    }
  }
}

/// 3 N k + cov(V0 + wall + field + bias, U)/(k T^2) by two passes, of each bath; the error is that
/// of independent samples or more.
TEST_F(ObserversTest, HeatCapacityIsTheCovarianceWithTheEnergyThatIsSampled) {
  Deck d = deck(6, "[observe.energies]\nevery = 10\nreplicas = 1\n", {80.0});
  for (const std::vector<double>& baths_K :
       {std::vector<double>{80.0}, std::vector<double>{200.0, 50.0}}) {
    const bool one = baths_K.size() == 1;
    d.thermostat.temperatures_K = one ? std::vector<double>{} : baths_K;
    d.thermostat.temperature_K = one ? std::optional(baths_K.front()) : std::nullopt;
    const Observers observers = observers_after(d, 200);
    std::vector<std::vector<double>> values(baths_K.size()), sampled(baths_K.size());
    const System system = make_system(d, kMolecules);
    for_frames(d, kEnergies, 10, 200, [&](const Frame& frame) {
      for (std::size_t r = 0; r < 6; ++r) {
        const Energies& e = frame.energies[r];
        values[r % values.size()].push_back(e.all_potential_kcal_per_mol() - e.bond_kcal_per_mol);
        sampled[r % values.size()].push_back(
            canonical_energy_kcal_per_mol(system, frame.energies[r]));
      }
    });
    int found = 0;
    for (const AveragedQuantity& a : observers[0]->averages()) {
      if (a.quantity != "heat_capacity_kcal_per_mol_K") continue;
      ++found;
      const double T = a.bath_K.value_or(baths_K.front());
      const std::size_t bath = T == baths_K.front() ? 0 : 1;
      const std::vector<double>&v = values[bath], &u = sampled[bath];
      const auto n = static_cast<double>(v.size());
      const double mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
      const double mean_u = std::accumulate(u.begin(), u.end(), 0.0) / n;
      double covariance = 0.0, squares = 0.0, squares_u = 0.0, fourth = 0.0;
      for (std::size_t i = 0; i < v.size(); ++i) {
        covariance += (v[i] - mean) * (u[i] - mean_u) / n;
        squares += std::pow(v[i] - mean, 2) / n;
        squares_u += std::pow(u[i] - mean_u, 2) / n;
      }
      for (std::size_t i = 0; i < v.size(); ++i) {
        fourth += std::pow((v[i] - mean) * (u[i] - mean_u) - covariance, 2) / n;
      }
      const double k = units::boltzmann_kcal_per_mol_K;
      const double naive = std::sqrt(fourth / (n - 1.0)) / (k * T * T);
      // What the errors of the means add is at most as much as they vary.
      const double plain = 3.0 * kMolecules * k + covariance / (k * T * T);
      const double most = std::sqrt(squares * squares_u) / (k * T * T);
      EXPECT_NEAR(a.mean, plain, most);
      EXPECT_GE(a.error, naive * (1.0 - 1e-9));
      EXPECT_EQ(a.samples, static_cast<std::int64_t>(v.size()));
    }
    EXPECT_EQ(found, static_cast<int>(baths_K.size()));
  }
  // Without a bath, or at 0 K, there is none.
  d.thermostat.temperatures_K = {0.0};
  EXPECT_EQ(observers_after(d, 20)[0]->averages().size(), 5u);
  d.thermostat = {};
  EXPECT_EQ(observers_after(d, 20)[0]->averages().size(), 5u);
}

// --- radial distribution functions ---

const std::string kRdf = "[observe.rdf]\nevery = 2\nr_max_A = 8.0\nbins = 32\n";

TEST_F(ObserversTest, RdfIsTheSumOverAllSamples) {
  for (const int replicas : {1, 3, 40}) {
    const Deck d = deck(replicas, kRdf);
    run(d, 300);
    const Table t = table("rdf.csv");
    EXPECT_EQ(t.columns(),
              "r_A,OO_count,OO_g,OO_g_err,OH_count,OH_g,OH_g_err,HH_count,HH_g,HH_g_err,"
              "OO_n,OO_n_err,OH_n,OH_n_err,HH_n,HH_n_err");
    ASSERT_EQ(t.rows.size(), 32u);

    // The same by hand: every second step, all replicas.
    std::vector<std::uint64_t> counts(3 * 32, 0);
    for_frames(d, kPositions, 2, 300, [&](const Frame& frame) {
      for (std::size_t r = 0; r < frame.live(); ++r) {
        analysis::count_pairs(frame.positions_A_of(r), 8.0, 32, counts);
      }
    });
    const auto pairs = analysis::pairs_per_sample(kMolecules);
    const std::vector<double> weights = analysis::rdf_weights(32);
    double total = 0.0;
    // Both atoms of a pair OO or HH are neighbours of each other; there are 2 N hydrogens.
    const std::array<double, 3> atoms{kMolecules / 2.0, kMolecules, kMolecules};
    std::array<double, 3> sums{};
    for (std::size_t b = 0; b < 32; ++b) {
      EXPECT_EQ(t.rows[b][0], (static_cast<double>(b) + 0.5) * 0.25);
      for (std::size_t c = 0; c < 3; ++c) {
        const auto count = static_cast<double>(counts[c * 32 + b]);
        EXPECT_EQ(t.rows[b][1 + 3 * c], count);
        EXPECT_NEAR(t.rows[b][2 + 3 * c], count / (151.0 * replicas * pairs[c]) * weights[b],
                    few_roundings(10.0));
        sums[c] += count;
        EXPECT_NEAR(t.rows[b][10 + 2 * c], sums[c] / (151.0 * replicas * atoms[c]),
                    few_roundings(10.0));
        total += t.rows[b][3 + 3 * c];
      }
    }
    EXPECT_GT(total, 0.0) << "no error bars";
    EXPECT_TRUE(contains(t.provenance, replicas >= 16 ? "groups of replicas" : "blocks of time"));
  }
}

/// A running mean, as a Lindemann index is: many replicas agree on a number that still rises.
TEST(TableObserver, ResultsThatStillMoveHaveNotConverged) {
  for (const bool rises : {false, true}) {
    const ScratchFolder folder;
    TableSpec spec;
    spec.file = "table";
    spec.columns = {"result"};
    spec.averaged_columns = 0;
    spec.result_columns = 1;
    spec.results_settle = true;
    spec.append_values = [=](const Frame& frame, std::size_t r, std::vector<double>& values) {
      values.push_back((rises ? static_cast<double>(frame.step) : 7.0) +
                       static_cast<double>(r % 2));
    };
    constexpr int kReplicas = 32;
    TableObserver observer(spec, 1, {}, {folder.path(), 1, kReplicas, "", 1.0, 0});
    observer.begin();
    for (const int last : {70, 100}) {  // shortly after a power of two, and later
      Frame frame;
      frame.molecules = 1;
      for (std::int64_t id = 0; id < kReplicas; ++id) frame.replica_ids.push_back(id);
      for (frame.step = last == 70 ? 0 : 70; frame.step < last; ++frame.step)
        observer.observe(frame);
      ASSERT_EQ(observer.averages().size(), 1u);
      EXPECT_EQ(observer.averages()[0].converged, !rises) << last;
    }
  }
}

/// Two replicas of which one has twice as many pairs as the other, all the time: blocks of time are
/// all the same, and only the spread tells how little two replicas say.
TEST(RdfCounts, ErrorsReflectTheNumberOfReplicas) {
  PairCountRequest request;
  request.bins = 1;
  request.r_max_A = 1.0;
  RdfCounts sums(request, 2, request.groups);
  constexpr int kSamples = 128;
  for (int i = 1; i <= kSamples; ++i) {
    for (std::size_t replica : {0, 1}) {
      sums.group(replica)[0] += replica + 1;
      ++sums.samples[replica];
    }
    if (i % sums.block_length() == 0) sums.end_block();
  }
  // A mean of 3/2 from 1 and 2: the standard error is 1/2.
  const RdfCounts::Column column = sums.column_of(0, false);
  EXPECT_DOUBLE_EQ(column.g[0], 1.5);
  EXPECT_DOUBLE_EQ(column.err[0], 0.5);
  EXPECT_DOUBLE_EQ(column.neighbours_err[0] / column.neighbours[0], 0.5 / 1.5);
}

TEST_F(ObserversTest, RdfWritesRequestedPairsAndSkipsEquilibration) {
  Deck d = deck(2, "[observe.rdf]\nevery = 2\nr_max_A = 20.0\nbins = 4\npairs = [\"OH\"]\n");
  d.run.equilibration_ps = 0.1;  // 50 steps
  run(d, 100);
  const Table t = table("rdf.csv");
  EXPECT_EQ(t.columns(), "r_A,OH_count,OH_g,OH_g_err,OH_n,OH_n_err");
  double count = 0.0;
  for (const auto& row : t.rows) count += row[1];
  EXPECT_EQ(count, 2 * 26 * 12);  // replicas, samples at 50, 52 .. 100, OH pairs of 3 molecules
  // An oxygen has all hydrogens of the others within 20 A, always.
  EXPECT_EQ(t.rows.back()[4], 2.0 * (kMolecules - 1));
  EXPECT_EQ(t.rows.back()[5], 0.0);
}

TEST_F(ObserversTest, RdfOfOneMoleculeIsZeroAndNotNaN) {
  Deck d = deck(1, kRdf);
  d.system.molecules = 1;
  const Observers observers = make_observers(d, {folder_.path(), 1, 1, provenance_of(d, 1)});
  FakeEngine e(fake_start(1, 1), make_pair_count_request(d), kStepPs);
  steps(e, observers, 100, true);
  observers[0]->finish();
  for (const auto& row : table("rdf.csv").rows) {
    EXPECT_EQ(row[2], 0.0);
    EXPECT_EQ(row[10], 0.0);
    EXPECT_EQ(row[11], 0.0);
  }
}

TEST_F(ObserversTest, RdfStopsTheEngineOnlyALogarithmOfTimes) {
  const Deck d = deck(1, kRdf);
  std::vector<unsigned> snapshots;
  FakeScript script;
  script.snapshots = &snapshots;
  observers_after(d, 20'000, script);
  // 10 000 samples: 64 single ones, then 32 for each doubling of the block, and the end.
  EXPECT_LE(snapshots.size(), 64u + 32u * 8u + 2u);
}

TEST_F(ObserversTest, RdfErrorsOfManyReplicasAreTheirSpread) {
  const Deck d = deck(32, kRdf);
  run(d, 200);
  const Table t = table("rdf.csv");
  FakeEngine e = engine(d);
  e.advance(200);
  Frame frame;
  e.snapshot(kPairCounts, frame);
  const std::vector<double> weights = analysis::rdf_weights(32);
  std::vector<double> neighbours(32, 0.0);
  for (std::size_t b = 0; b < 32; ++b) {
    std::vector<double> g;
    for (std::size_t group = 0; group < 32; ++group) {
      neighbours[group] +=
          static_cast<double>(frame.pair_counts[group * 96 + b]) * 2.0 / (101.0 * kMolecules);
      g.push_back(static_cast<double>(frame.pair_counts[group * 96 + b]) / (101.0 * 3.0) *
                  weights[b]);
    }
    const analysis::MeanError expected = analysis::mean_and_error(g);
    EXPECT_NEAR(t.rows[b][3], expected.error, 1e-12 + 1e-12 * expected.error);
    EXPECT_NEAR(t.rows[b][11], analysis::mean_and_error(neighbours).error, few_roundings());
  }
}

/// Groups of several replicas, because there are many bins: errors are from their spread where
/// each bath has sixteen of them, and from blocks of time where it has fewer.
TEST_F(ObserversTest, RdfErrorsLookAtTheGroupsOfABath) {
  for (const auto& [bins, groups, from_groups] :
       {std::tuple{29411, 17, true}, {33333, 15, false}}) {
    const Deck d =
        deck(96, fmt::format("[observe.rdf]\nbins = {}\nr_max_A = 8.0\n", bins), {200.0, 50.0});
    EXPECT_EQ(make_pair_count_request(d).groups, 2 * groups);
    EXPECT_EQ(make_observers(d, info(d))[0]->every() == kLastStepOnly, from_groups);
  }
}

/// What a bath's rows hold is what a run of its replicas alone writes: errors from blocks of time
/// and from groups of replicas.
TEST_F(ObserversTest, RdfOfABathIsThatOfItsReplicasAlone) {
  for (const int replicas : {5, 96}) {
    const double third_K = replicas == 5 ? 200.0 : 90.0;
    const Deck d = deck(replicas, kRdf, {200.0, 50.0, third_K});
    const std::set<double> baths_K{50.0, third_K, 200.0};
    run(d, 300);
    const Table by_bath = table("rdf_by_bath.csv");
    const std::vector<std::vector<double>> pooled = table("rdf.csv").rows;
    ASSERT_EQ(by_bath.rows.size(), 32 * baths_K.size());
    EXPECT_EQ(by_bath.header.front(), "bath_K");
    std::vector<double> sums(32, 0.0);
    std::size_t first_row = 0;
    for (const double bath_K : baths_K) {
      const State all = fake_start(kMolecules, replicas);
      State some;
      some.molecules = kMolecules;
      for (std::int64_t id = 0; id < replicas; ++id) {
        if (d.thermostat.temperatures_K[static_cast<std::size_t>(id % 3)] != bath_K) continue;
        some.replica_ids.push_back(id);
        for (const auto numbers : {&State::positions_A, &State::velocities_A_per_akma}) {
          const double* const x = &(all.*numbers)[static_cast<std::size_t>(id) * 27];
          (some.*numbers).insert((some.*numbers).end(), x, x + 27);
        }
      }
      Deck alone = deck(static_cast<int>(some.replica_ids.size()), kRdf);
      const Observers observers = make_observers(alone, info(alone));
      FakeEngine e(some, make_pair_count_request(alone), kStepPs);
      steps(e, observers, 300, true);
      observers[0]->finish();
      const std::vector<std::vector<double>> expected = table("rdf.csv").rows;
      for (std::size_t b = 0; b < 32; ++b) {
        const std::vector<double>& row = by_bath.rows[first_row + b];
        EXPECT_EQ(row[0], bath_K);
        for (std::size_t c = 0; c < expected[b].size(); ++c) {
          EXPECT_NEAR(row[c + 1], expected[b][c], 1e-12 * (1.0 + expected[b][c]))
              << replicas << " replicas, " << bath_K << " K, bin " << b << ", column " << c;
        }
        sums[b] += row[2];
      }
      first_row += 32;
    }
    for (std::size_t b = 0; b < 32; ++b) EXPECT_EQ(pooled[b][1], sums[b]);
  }
}

TEST_F(ObserversTest, RdfOfTheTrajectoryIsThatOfTheRun) {
  // 17 replicas: errors by groups of replicas; fewer: by blocks of time, which are others.
  for (const int replicas : {1, 3, 17}) {
    for (const std::string format : {"xyz", "h5md"}) {
      if (format == "h5md" && !io::has_h5md()) continue;
      const Deck d =
          deck(replicas, kRdf + "[observe.trajectory]\nevery = 2\nformat = \"" + format + "\"\n");
      run(d, 300);
      TrajectoryRdfOptions options;
      options.r_max_A = 8.0;
      options.bin_width_A = 0.25;
      for (int r = 0; r < replicas; ++r) {
        options.files.push_back(folder_.file(
            replicas == 1 ? "trajectory.xyz" : fmt::format("trajectory-{:04}.xyz", r)));
      }
      if (format == "h5md") options.files = {folder_.file("trajectory.h5")};
      const TrajectoryRdf rdf = rdf_of_trajectories(options, "test");
      EXPECT_EQ(rdf.frames, 151 * replicas);
      EXPECT_EQ(rdf.replicas, replicas);
      write_text(folder_.file("again.csv"), rdf.csv);
      const Table again = table("again.csv");
      Table own = table("rdf.csv");
      EXPECT_EQ(again.header, own.header);
      ASSERT_EQ(again.rows.size(), own.rows.size());
      double error = 0.0;
      for (std::size_t b = 0; b < own.rows.size(); ++b) {
        for (const std::size_t column : {0, 1, 2, 4, 5, 7, 8, 10, 12, 14}) {
          EXPECT_EQ(again.rows[b][column], own.rows[b][column]) << b << ", " << column;
        }
        for (const std::size_t column : {3, 6, 9, 11, 13, 15}) {
          error += again.rows[b][column];
          if (replicas == 17) {
            EXPECT_EQ(again.rows[b][column], own.rows[b][column]) << b;
          }
        }
      }
      EXPECT_GT(error, 0.0) << "no error bars";
    }
  }
}

TEST_F(ObserversTest, RdfOfSomeReplicas) {
  if (!io::has_h5md()) GTEST_SKIP() << "this build has no HDF5";
  const Deck d = deck(3, "[observe.trajectory]\nevery = 2\nformat = \"h5md\"\n");
  run(d, 100);
  run(deck(3, "[observe.trajectory]\nevery = 2\n"), 100);
  TrajectoryRdfOptions some, files;
  some.files = {folder_.file("trajectory.h5")};
  some.frames.replicas = {0, 2};
  files.files = {folder_.file("trajectory-0000.xyz"), folder_.file("trajectory-0002.xyz")};
  const TrajectoryRdf rdf = rdf_of_trajectories(some, "test");
  EXPECT_EQ(rdf.replicas, 2);
  EXPECT_EQ(rdf.csv, rdf_of_trajectories(files, "test").csv);
  some.frames.replicas = {2, 7, 0};
  const TrajectoryRdf told = rdf_of_trajectories(some, "test");
  EXPECT_EQ(told.csv, rdf.csv);
  ASSERT_EQ(told.messages.size(), 1u);
  EXPECT_EQ(told.messages[0].text, "the files contain no replica 7");
  some.frames.replicas = {7};
  EXPECT_THROW(rdf_of_trajectories(some, "test"), InputError);
}

TEST_F(ObserversTest, RdfOfTrajectoriesRejectsInvalidOptions) {
  run(deck(1, "[observe.trajectory]\nevery = 50\n"), 100);
  TrajectoryRdfOptions options;
  options.files = {folder_.file("trajectory.xyz")};
  const auto expect_refusal = [](const TrajectoryRdfOptions& o, std::string_view part) {
    expect_throws<InputError>({part}, [&] { rdf_of_trajectories(o, "test"); });
  };
  TrajectoryRdfOptions bad = options;
  bad.frames.skip = 3;
  expect_refusal(bad, "no frames are left");
  bad = options;
  bad.bin_width_A = 0.07;
  expect_refusal(bad, "12 A is not a multiple of the bin width 0.07 A");
  for (const double width : {0.0, -1.0, 1e-9}) {
    bad.bin_width_A = width;
    expect_refusal(bad, "both must be greater than 0");
  }
  write_text(folder_.file("one.xyz"), "3\n\nO 0 0 0\nH 1 0 0\nH 0 1 0\n");
  options.files.push_back(folder_.file("one.xyz"));
  expect_refusal(options, "one.xyz:3: this frame has 1 molecule, the first one 3");
  write_text(folder_.file("empty.xyz"), "");
  options.files = {folder_.file("empty.xyz")};
  expect_refusal(options, "the file is empty");
}

// --- saving and restoring ---

/// With and without temperatures, a replica that loses a molecule and one that stops. Observers of
/// ring polymers and quenches have tests of their own.
TEST_F(ObserversTest, FilesAfterARestoreAreTheSameBytes) {
  const std::string observe =
      "[observe.energies]\nevery = 7\n[observe.conservation]\nevery = 10\nreplicas = \"mean\"\n"
      "[observe.trajectory]\nevery = 9\n[observe.cluster]\nevery = 13\n"
      "[observe.evaporation]\nevery = 5\n[observe.temperatures]\nevery = 8\n"
      "[observe.geometry]\nevery = 6\n[observe.multipliers]\nevery = 11\n"
      "[observe.profile]\nevery = 4\nbins = 20\n" +
      kRdf;
  const std::string of_one_temperature =
      "[observe.spectrum]\nevery = 3\nresolution_per_cm = 200\n"
      "[observe.correlation]\nevery = 3\nlength_ps = 0.15\n";
  FakeScript script;
  script.departures = {{1, 130}};
  script.blow_ups = {{2, 300}};
  for (const int replicas : {1, 17}) {
    expect_restored_files_are_the_same(deck(replicas, observe + of_one_temperature), script);
  }
  for (const int replicas : {5, 40}) {
    const Deck d = deck(replicas, observe +
                                      "[observe.heat]\nevery = 9\n[thermostat]\nkind = \"gla\"\n"
                                      "friction_per_ps = 5.0\ntemperatures_K = [200.0, 50.0]\n");
    const auto has_observer = [](const Observable& row) { return row.make != nullptr; };
    EXPECT_EQ(make_observers(d, info(d)).size() + 5,
              static_cast<std::size_t>(std::ranges::count_if(observables(), has_observer)));
    expect_restored_files_are_the_same(d, script);
  }
}

TEST_F(ObserversTest, TrajectoriesOfEveryFormatAfterARestoreAreTheSame) {
  for (const io::Format& format : available_formats()) {
    SCOPED_TRACE(format.name);
    for (const int replicas : {1, 3}) {
      // 3 replicas: only the first two are written.
      expect_restored_files_are_the_same(
          deck(replicas, fmt::format("[observe.trajectory]\nevery = 9\nreplicas = 2\nformat = "
                                     "\"{}\"\n",
                                     format.name)));
    }
  }
}

TEST_F(ObserversTest, NamesDistinguishSettings) {
  const auto name = [&](const std::string& observe) {
    return make_observers(deck(4, observe), info(deck(4, observe)))[0]->name();
  };
  for (const std::string change : {"energies]\nevery = 20\n", "energies]\nreplicas = 1\n",
                                   "rdf]\nbins = 20\n", "spectrum]\nresolution_per_cm = 10\n",
                                   "correlation]\nlength_ps = 1\n", "evaporation]\nlink_A = 7\n"}) {
    const std::string section = "[observe." + change;
    EXPECT_NE(name(section), name(section.substr(0, section.find('\n') + 1))) << section;
  }
}

TEST_F(ObserversTest, NoObserverIsLegal) {
  const Deck d = deck(1, "");
  EXPECT_TRUE(make_observers(d, info(d)).empty());
}

// --- the drift of the energy ---

Frame frame_of_energies(std::int64_t step, const std::vector<double>& energies) {
  Frame frame;
  frame.step = step;
  frame.molecules = kMolecules;
  for (std::size_t r = 0; r < energies.size(); ++r) {
    frame.replica_ids.push_back(static_cast<std::int64_t>(r));
    frame.conservation.push_back({energies[r], {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.0});
  }
  return frame;
}

// Straight lines: their slopes come back, and the error is that of the mean of three numbers.
// The numbers of samples are none that fill the blocks.
TEST_F(ObserversTest, TheDriftOfTheEnergyIsTheSlope) {
  const std::array slopes_per_ps{0.5, -0.25, 2.0};
  const Deck d = deck(3, "[observe.conservation]\nevery = 5\n");
  for (const int samples : {3, 31, 32, 33, 1000}) {
    const auto observer = first_observer(d);
    for (int k = 0; k < samples; ++k) {
      EXPECT_TRUE(k >= 3 || observer->averages().empty());
      std::vector<double> energies;
      for (double slope : slopes_per_ps) energies.push_back(-40.0 + slope * 5 * k * kStepPs);
      observer->observe(frame_of_energies(5 * k, energies));
    }
    const auto averages = observer->averages();
    ASSERT_EQ(averages.size(), 1u) << samples;
    const AveragedQuantity& a = averages[0];
    EXPECT_EQ(a.table, "conservation");
    EXPECT_EQ(a.quantity, "energy_drift_kcal_per_mol_per_ps");
    // Energies of 40 are rounded to 4e-15, over times of at least 0.02 ps.
    EXPECT_NEAR(a.mean, 0.75, 1e-12) << samples;
    EXPECT_NEAR(a.error, analysis::mean_and_error(slopes_per_ps).error, 1e-12) << samples;
    EXPECT_EQ(a.samples, 3);
    EXPECT_TRUE(a.converged);
  }
}

// One line with white noise about it, many times: the deviations are as large as the errors say.
// Their ratio is Student's t of some 14 to 29 degrees of freedom, of mean square 1.07 to 1.17 and
// a variance of the square below 3.5; blocking takes the square of the error of white noise too
// large by a third at most. 4.5 sigma of 300 ratios is 0.49.
TEST_F(ObserversTest, TheDriftOfOneReplicaHasAnError) {
  constexpr double kSlope_per_ps = 0.3;
  constexpr int kTimes = 300, kSamples = 500;
  const Deck d = deck(1, "[observe.conservation]\nevery = 1\n");
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise;
  double squares = 0.0;
  for (int time = 0; time < kTimes; ++time) {
    const auto observer = first_observer(d);
    for (int k = 0; k < kSamples; ++k) {
      observer->observe(frame_of_energies(k, {kSlope_per_ps * k * kStepPs + 0.1 * noise(random)}));
    }
    const AveragedQuantity a = observer->averages().at(0);
    const double ratio = (a.mean - kSlope_per_ps) / a.error;
    squares += ratio * ratio / kTimes;
  }
  EXPECT_LT(squares, 1.17 + 0.49);
  EXPECT_GT(squares, 1.07 / 1.33 - 0.49);
}

// A thermostat changes the energy; a replica that was stopped has no part in the mean.
TEST_F(ObserversTest, OnlyEnergiesThatAreConservedHaveADrift) {
  const std::string observe = "[observe.conservation]\nevery = 1\n";
  for (const Deck& d : {deck(2, observe, {300.0}), deck(2, observe)}) {
    const auto observer = first_observer(d);
    for (int k = 0; k < 80; ++k) {
      std::vector<double> energies{1.0 * k};
      if (k < 40) energies.push_back(1e6 * k * k);
      observer->observe(frame_of_energies(k, energies));
    }
    const auto averages = observer->averages();
    if (d.thermostat.kind != Thermostat::none) {
      EXPECT_TRUE(averages.empty());
      continue;
    }
    ASSERT_EQ(averages.size(), 1u);
    EXPECT_NEAR(averages[0].mean, 1.0 / kStepPs, few_roundings(1.0 / kStepPs));
    EXPECT_EQ(averages[0].samples, 1);
  }
}

}  // namespace
}  // namespace tarn
