#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"

/// @file
/// Runs with observers beside the engine alone, in one process: what a user gets of the engine's
/// rate. `run` is the rate while stepping, observers included; `whole` also counts the start, the
/// last checkpoint and the files.
/// usage: run_bench [--device cpu|cuda] [--threads N] [--seconds S] [--inputs FOLDER] [--csv FILE]
///                  [--scaling] [case]...
/// With --scaling: each deck on one and on two CPU threads, with its observers and the engine
/// alone, in turns; the best of three rates counts. The last column is the gain of the run over
/// that of the engine.

namespace {

using namespace tarn;
using Clock = std::chrono::steady_clock;
using Texts = std::vector<std::string>;

struct Case {
  std::string name;
  std::string deck;
  int gpu_replicas, cpu_replicas;
  Texts set, unset;
  std::int64_t steps = 0;  ///< 0: as many as take the wanted time
};

std::vector<Case> cases(const std::string& inputs) {
  const Texts ensemble{"run.precision=mixed", "integrator.timestep_fs=2",
                       "thermostat.temperature_K=100", "run.equilibration_ps=0"};
  const Texts no_observers{"observe.energies", "observe.rdf"};
  const auto with = [&](Texts more) {
    more.insert(more.begin(), ensemble.begin(), ensemble.end());
    return more;
  };
  const auto seven = [&](const char* name, Texts more, std::int64_t steps = 0) {
    return Case{name, "water7", 100'000, 640, with(std::move(more)), no_observers, steps};
  };
  Case energies_of_1000{"1000 molecules, energies every 100", "water100",      1, 1,
                        with({"observe.energies.every=100"}), {"observe.rdf"}, 0};
  const auto thousand = [&](Case c, const std::string& name) {
    c.name = name;
    c.gpu_replicas = 1000;
    c.cpu_replicas = 64;
    c.steps = 0;
    return c;
  };
  energies_of_1000.set.push_back("system.file=" + inputs + "/structures/tip3p-1000.xyz");
  Case energies_100 = seven("energies every 100", {"observe.energies.every=100"});
  Case energies_1000 = seven("energies every 1000", {"observe.energies.every=1000"});
  Case rdf = seven("rdf every 10", {"observe.rdf.every=10"});
  energies_100.unset = energies_1000.unset = {"observe.rdf"};
  rdf.unset = {"observe.energies"};
  Case correlation = seven("correlation every 10",
                           {"observe.correlation.every=10", "observe.correlation.length_ps=2"});
  Case spectrum = seven("spectrum every 4",
                        {"observe.spectrum.every=4", "observe.spectrum.resolution_per_cm=50"});
  correlation.gpu_replicas = spectrum.gpu_replicas = 10'000;  // more would exceed their limits
  for (Case* c : {&energies_100, &energies_1000})
    c->set.push_back("observe.energies.replicas=mean");
  const Case none = seven("no observer", {}, 40'000);
  const Case conservation = seven("conservation every 100", {"observe.conservation.every=100",
                                                             "observe.conservation.replicas=mean"});
  return {none,
          energies_1000,
          energies_100,
          seven("cluster every 100", {"observe.cluster.every=100", "observe.cluster.replicas=mean",
                                      "observe.cluster.lindemann=false"}),
          conservation,
          rdf,
          correlation,
          spectrum,
          thousand(none, "1000 clusters, no observer"),
          thousand(energies_100, "1000 clusters, energies every 100"),
          thousand(conservation, "1000 clusters, conservation every 100"),
          energies_of_1000,
          {"melting8", "melting8", 32'000, 640, {"run.equilibration_ps=0"}, {}},
          {"exchange8", "exchange8", 16'000, 640, {"run.equilibration_ps=0"}, {}},
          {"isomers8", "isomers8", 16'000, 640, {"run.equilibration_ps=0"}, {}},
          {"evaporation7", "evaporation7", 20'480, 640, {"run.equilibration_ps=0"}, {}},
          {"dynamics32", "dynamics32", 6'400, 16, {"run.equilibration_ps=0"}, {}},
          {"spectrum7", "spectrum7", 6'400, 64, {"run.equilibration_ps=0"}, {}},
          {"water7", "water7", 3'200, 640, {"run.equilibration_ps=0"}, {}},
          {"water100", "water100", 1'000, 8, {"run.equilibration_ps=0"}, {}},
          {"pimd7", "pimd7", 1'000, 64, {"run.equilibration_ps=0", "run.precision=mixed"}, {}}};
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Options {
  DeviceRequest device{"auto", 0};
  double seconds = 1.5;
  std::string inputs = TARN_SOURCE_DIR "/inputs";
  std::string csv;  ///< empty: none
  bool scaling = false;
  Texts cases;
};

/// Steps per second of the engine alone, of one replica.
double engine_rate(const Deck& deck, const Start& start, const Options& options) {
  const System system = make_system(deck, start.state.molecules);
  const auto engine = make_engine(system, start.state, {}, options.device);
  engine->advance(64);
  std::int64_t steps = 64;
  for (;;) {
    const Clock::time_point begin = Clock::now();
    engine->advance(steps);
    const double seconds = seconds_since(begin);
    if (seconds > 0.3) return static_cast<double>(steps) / seconds;
    steps = std::min<std::int64_t>(
        4 * steps, static_cast<std::int64_t>(0.5 * static_cast<double>(steps) / seconds) + 1);
  }
}

Deck deck_of(const Case& c, int replicas, const Options& options) {
  Texts set = c.set;
  set.push_back("system.replicas=" + std::to_string(replicas));
  return load_deck(options.inputs + "/" + c.deck + ".toml", set, c.unset);
}

/// Runs the deck in a folder that is removed afterwards.
RunResult run_in_scratch(const Deck& deck, const Options& options) {
  RunOptions run;
  run.out_dir =
      (std::filesystem::temp_directory_path() / ("tarn-run-bench-" + std::to_string(getpid())))
          .string();
  run.overwrite = true;
  run.device = options.device.name;
  run.threads = options.device.threads;
  const RunResult result = run_deck(deck, run);
  std::filesystem::remove_all(run.out_dir);
  return result;
}

std::int64_t steps_for(double rate, const Options& options) {
  return (static_cast<std::int64_t>(rate * options.seconds) / 1000 + 1) * 1000;
}

void run_case(const Case& c, const Options& options) {
  const bool gpu = options.device.name != "cpu";
  const int replicas = gpu ? c.gpu_replicas : c.cpu_replicas;
  Deck deck = deck_of(c, replicas, options);
  const Clock::time_point start_begin = Clock::now();
  const Start start = make_start(deck);
  const double start_seconds = seconds_since(start_begin);
  const double engine = engine_rate(deck, start, options);
  deck.run.steps = c.steps > 0 && gpu ? c.steps : steps_for(engine, options);
  const Clock::time_point begin = Clock::now();
  const RunResult result = run_in_scratch(deck, options);
  const double whole = static_cast<double>(deck.run.steps) / seconds_since(begin);
  std::printf("%-36s %8d %10.3g %10.3g %6.1f %% %10.3g %6.1f %%  start %.2f s\n", c.name.c_str(),
              replicas, engine * replicas, result.steps_per_second * replicas,
              100.0 * result.steps_per_second / engine, whole * replicas, 100.0 * whole / engine,
              start_seconds);
  std::fflush(stdout);
  if (options.csv.empty()) return;
  std::ofstream csv(options.csv, std::ios::app);
  csv << '"' << c.name << "\"," << replicas << ',' << engine * replicas << ','
      << result.steps_per_second * replicas << ',' << whole * replicas << ',' << start_seconds
      << '\n';
}

void run_scaling(const Case& c, Options options) {
  Deck deck = deck_of(c, c.cpu_replicas, options);
  const Start start = make_start(deck);
  double engine[2] = {}, run[2] = {};
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 2; ++k) {
      options.device = {"cpu", k + 1};
      engine[k] = std::max(engine[k], engine_rate(deck, start, options));
      deck.run.steps = steps_for(engine[k], options);
      run[k] = std::max(run[k], run_in_scratch(deck, options).steps_per_second);
    }
  }
  std::printf("%-14s %8d %12.3g %8.2f %12.3g %8.2f %8.1f %% %8.1f %% %8.2f\n", c.name.c_str(),
              c.cpu_replicas, engine[0] * c.cpu_replicas, engine[1] / engine[0],
              run[0] * c.cpu_replicas, run[1] / run[0], 100.0 * run[0] / engine[0],
              100.0 * run[1] / engine[1], run[1] / run[0] / (engine[1] / engine[0]));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) throw InputError(word + " requires a value");
      return std::string(argv[++i]);
    };
    if (word == "--device") {
      options.device.name = value();
    } else if (word == "--threads") {
      options.device.threads = std::atoi(value().c_str());
    } else if (word == "--inputs") {
      options.inputs = value();
    } else if (word == "--seconds") {
      options.seconds = std::atof(value().c_str());
    } else if (word == "--csv") {
      options.csv = value();
    } else if (word == "--scaling") {
      options.scaling = true;
    } else {
      options.cases.push_back(word);
    }
  }
  if (options.scaling) {
    std::printf("%-14s %8s %12s %8s %12s %8s %10s %10s %8s\n", "case", "replicas", "engine/s",
                "gain", "run/s", "gain", "share 1", "share 2", "gains");
  } else {
    std::printf("cluster-steps per second: %-10s %8s %10s %10s %8s %10s %8s\n", "case", "replicas",
                "engine", "run", "share", "whole", "share");
  }
  if (!options.csv.empty()) {
    std::ofstream(options.csv) << "case,replicas,engine,run,whole,start_s\n";
  }
  for (const Case& c : cases(options.inputs)) {
    const bool wanted =
        options.cases.empty() ||
        std::find(options.cases.begin(), options.cases.end(), c.name) != options.cases.end();
    if (!wanted) continue;
    if (!options.scaling) {
      run_case(c, options);
    } else if (c.name == c.deck) {
      run_scaling(c, options);
    }
  }
} catch (const tarn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
