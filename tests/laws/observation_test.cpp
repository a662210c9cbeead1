#include "io/checkpoint.hpp"
#include "quiet_run.hpp"
#include "tarn/start.hpp"

/// @file
/// Observation changes no bit of a run.

namespace tarn {
namespace {

const std::string kEverything =
    "[observe.energies]\nevery = 7\n[observe.conservation]\nevery = 11\n"
    "[observe.temperatures]\nevery = 13\n[observe.geometry]\nevery = 17\n"
    "[observe.cluster]\nevery = 19\n[observe.rdf]\n[observe.trajectory]\nevery = 400\n"
    "[observe.spectrum]\nevery = 5\nresolution_per_cm = 100\n[observe.minima]\nevery = 250\n"
    "[observe.correlation]\nlength_ps = 0.5\n";

Deck deck_of(const std::string& scheme, const std::string& system, const std::string& more) {
  return parse_deck("[system]\nmolecules = 7\nreplicas = 3\n" + system +
                        "[integrator]\nscheme = \"" + scheme +
                        "\"\ntimestep_fs = 1.0\n"
                        "[thermostat]\nkind = \"gla\"\ntemperature_K = 300.0\n"
                        "friction_per_ps = 5.0\n[run]\nsteps = 2500\nprecision = \"mixed\"\n" +
                        more,
                    "deck.toml");
}

TEST(Observation, ChangesNoBitOfTheRun) {
  for (const char* scheme : {"settle", "zss-stiff"}) {
    SCOPED_TRACE(scheme);
    const Deck deck = deck_of(scheme, "model = \"tip4p\"\n", "");
    const Start start = make_start(deck);
    const auto engine = make_engine(make_system(deck, 7), start.state, {}, {"cpu", 1});
    engine->advance(2500);
    const State alone = engine->state();
    for (const char* recentre : {"", "recentre = true\n"}) {
      const test::ScratchFolder folder;
      run_deck(deck_of(scheme, std::string("model = \"tip4p\"\n") + recentre, kEverything),
               test::quiet_run(folder.file("out")));
      const State watched = io::read_checkpoint(folder.file("out/checkpoint.bin")).state;
      EXPECT_EQ(watched.positions_A, alone.positions_A);
      EXPECT_EQ(watched.velocities_A_per_akma, alone.velocities_A_per_akma);
    }
  }
}

/// Threads that begin the next steps while observers work change no byte, with and without
/// exchange.
TEST(Observation, ThreadsChangeNoByteOfAFile) {
  for (const std::string exchange : {"", "[exchange]\nevery = 10\n"}) {
    const auto files = [&](int threads) {
      const test::ScratchFolder folder;
      const Deck deck = parse_deck(
          "[system]\nmolecules = 3\nreplicas = 96\nstart = \"random\"\n"
          "[integrator]\nscheme = \"settle\"\ntimestep_fs = 1.0\n"
          "[thermostat]\nkind = \"baoab\"\ntemperatures_K = [100, 150, 200]\n"
          "friction_per_ps = 5.0\n[confinement]\nradius_A = 6.0\n"
          "stiffness_kcal_per_mol_A2 = 10.0\n[run]\nsteps = 600\n"
          "[observe.energies]\nevery = 10\n[observe.cluster]\nevery = 15\n"
          "[observe.geometry]\nevery = 20\n[observe.rdf]\n[checkpoint]\nevery = 70\n" +
              exchange,
          "deck.toml");
      run_deck(deck, test::quiet_run(folder.file("out"), threads));
      auto all = test::contents_of(folder.file("out"));
      all.erase("run.json");
      return all;
    };
    const auto one = files(1);
    EXPECT_TRUE(one.contains("energies.csv"));
    for (const int threads : {2, 3}) EXPECT_EQ(files(threads), one) << threads << exchange;
  }
}

/// Spectrum and correlations of the first of three replicas equal those of a run of one replica,
/// for any number of threads.
TEST(Observation, TimeSeriesAreIndependentOfThreadsAndBatches) {
  const auto rows = [](int replicas, int threads, const std::string& chosen) {
    const test::ScratchFolder folder;
    Deck deck = deck_of("settle", "",
                        "[observe.spectrum]\nevery = 5\nresolution_per_cm = 100\n" + chosen +
                            "[observe.correlation]\nevery = 5\nlength_ps = 0.7\n" + chosen);
    deck.system.replicas = replicas;
    run_deck(deck, test::quiet_run(folder.file("out"), threads));
    std::vector<std::string> tables;
    for (const char* table : {"out/spectrum.csv", "out/correlation.csv"}) {
      const std::string text = test::read_text(folder.file(table));
      tables.push_back(text.substr(text.find('\n')));  // the provenance line contains the replicas
    }
    return tables;
  };
  const auto first = rows(3, 1, "replicas = 1\n");
  for (const std::string& table : first) EXPECT_GT(table.size(), 1000u);
  EXPECT_EQ(rows(1, 1, ""), first);
  EXPECT_EQ(rows(3, 4, "replicas = 1\n"), first);
  EXPECT_EQ(rows(3, 3, ""), rows(3, 1, ""));
}

/// Molecules at 20 000 K fly apart at about 50 A/ps; cold ones stay together.
TEST(Observation, HotClustersEvaporateAndColdOnesDoNot) {
  for (const bool hot : {true, false}) {
    const test::ScratchFolder folder;
    std::vector<std::string> warnings;
    RunOptions options = test::quiet_run(folder.file("out"));
    options.on_message = [&](const Message& message) {
      if (message.text.find(" evaporated (detected") == std::string::npos) return;
      warnings.push_back(message.text);
    };
    const std::string temperature = hot ? "20000" : "10";
    run_deck(parse_deck("[system]\nmolecules = 5\nreplicas = 4\ntemperature_K = " + temperature +
                            "\n[integrator]\nscheme = \"settle\"\ntimestep_fs = 0.5\n"
                            "[run]\nsteps = 4000\n",
                        "deck.toml"),
             options);
    ASSERT_EQ(warnings.size(), hot ? 4u : 0u);
    for (const std::string& warning : warnings) {
      EXPECT_TRUE(test::contains(warning, "at step 1000"));
    }
  }
}

}  // namespace
}  // namespace tarn
