#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "tarn/core/units.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/start.hpp"

/// @file
/// A fixed short run for a tool that counts instructions (see instruction_counts.sh).
/// usage: instruction_counts SET SCHEME THERMOSTAT PRECISION MOLECULES REPLICAS STEPS

namespace tarn {
namespace {

/// The instruction set must be there: exit status 77 says that it is not.
constexpr int kSkip = 77;

std::unique_ptr<Engine> engine_of(char** arguments) {
  const std::string set = arguments[0], scheme = arguments[1], thermostat = arguments[2],
                    precision = arguments[3];
  const int molecules = std::atoi(arguments[4]), replicas = std::atoi(arguments[5]);
  const Deck deck = parse_deck(
      "[system]\nmolecules = " + std::to_string(molecules) + "\nreplicas = " +
          std::to_string(replicas) + "\nstart = \"random\"\nvelocities = \"zero\"\n" +
          (scheme == "zss-stiff" ? "relax = false\n" : "") + "[integrator]\nscheme = \"" + scheme +
          "\"\ntimestep_fs = 0.2\n[thermostat]\nkind = \"" + thermostat +
          "\"\ntemperature_K = 10.0\nfriction_per_ps = 50.0\n[run]\nsteps = 1\nprecision = \"" +
          precision + "\"\n",
      "deck.toml");
  return make_cpu_engine(make_system(deck, molecules), make_start(deck).state, {}, 1, set);
}

}  // namespace
}  // namespace tarn

/// What is counted: all that this calls. Its plain name is for the tool.
extern "C" __attribute__((noinline)) void counted_steps(tarn::Engine* engine, long steps) {
  engine->advance(steps);
}

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  bool found = false;
  for (const std::string& set : tarn::cpu_instruction_sets()) found = found || set == argv[1];
  if (!found) return tarn::kSkip;
  try {
    const auto engine = tarn::engine_of(argv + 1);
    counted_steps(engine.get(), std::atol(argv[7]));
    return engine->blow_ups().empty() ? 0 : 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
