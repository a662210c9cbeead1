#include "command.hpp"

/// @file
/// Potentials of shared libraries: advice with numbers, and the calls; see also potential.txt.

namespace tarn {
namespace {

using namespace test;

const std::string kExample = TARN_SOURCE_DIR "/docs/library/flexible_water.toml";

std::string with_library(const std::string& name, const std::string& options = "1000") {
  return kExample + " --set potential.path=" TARN_POTENTIALS "/lib" + name +
         ".so --set potential.options=" + options;
}

/// The path of a deck of q-TIP4P/F with a library. @param system keys of [system], and sections
std::string deck_with(const ScratchFolder& folder, const std::string& library,
                      const std::string& options, const std::string& system) {
  const std::string path = folder.file("deck-" + library + ".toml");
  write_text(path,
             "[run]\nsteps = 5\n[integrator]\nscheme = \"verlet\"\n[potential]\n"
             "kind = \"library\"\noptions = \"" +
                 options + "\"\npath = \"" TARN_POTENTIALS "/lib" + library +
                 ".so\"\n[system]\nmodel = \"qtip4pf\"\n" + system + "\n");
  return path;
}

/// Each number that `tarn check --potential` proposes is used in a second check.
TEST(PotentialCommands, AdviceOnStiffBondsHolds) {
  ScratchFolder folder;
  const std::string check =
      "check --potential " +
      deck_with(folder, "flexible_water", "1600",
                "molecules = 2\n[thermostat]\ntemperature_K = 100.0\nfriction_per_ps = 1.0\n"
                "[path_integral]\nbeads = 8");
  const std::string first = output_of(check + " --set integrator.timestep_fs=2");
  const std::string needed = "1 % requires ", error = "at most ";
  const std::size_t warning = first.find("is less than that of the potential");
  ASSERT_NE(warning, std::string::npos) << first;
  const double highest = number_after(first.substr(warning), "Use ");
  const double step_fs = number_after(first, "steps per period. Use ");
  const double beads = number_after(first, needed);
  // 108.6 sqrt(k/mu) for the springs alone; those between the hydrogens add to it.
  EXPECT_GT(highest, 1.03 * 4460.0) << first;
  EXPECT_LT(highest, 1.03 * 5000.0);
  ASSERT_GT(step_fs, 0.0);
  const std::string with = fmt::format(
      " --set path_integral.highest_wavenumber_per_cm={} --set integrator.timestep_fs={}", highest,
      step_fs);
  const std::string second = output_of(check + with);
  EXPECT_FALSE(contains(second, "highest_wavenumber_per_cm = ") && contains(second, "is less than"))
      << second;
  EXPECT_FALSE(contains(second, "is too long"));
  // The line of the first check holds with its advice.
  EXPECT_EQ(number_after(second, error), number_after(first, error));
  const std::string third =
      output_of(check + with + fmt::format(" --set path_integral.beads={}", beads));
  EXPECT_LE(number_after(third, error), 1.0) << third;
  EXPECT_GT(number_after(third, error), 0.0);
}

/// A call takes 20 ms and an image 5 ms.
TEST(PotentialCommands, TheTimeOfARunIsThatOfItsCalls) {
  for (const int replicas : {1, 4}) {
    const std::string check =
        output_of("check --potential " + with_library("broken", "sleep") +
                  fmt::format(" --set system.replicas={} --set run.steps=199", replicas));
    const double expected_s = 200 * (0.020 + 0.005 * replicas);
    const double seconds = number_after(check, "time: about ");
    EXPECT_GT(seconds, 0.9 * expected_s) << check;
  }
}

struct Calls {
  double calls, images;
};
/// Numbers of calls and images that the recorder prints at the end. It fails in calls that break a
/// promise of tarn/potential.h.
Calls recorded(const std::string& command) {
  const std::string text = output_of(command);
  const double calls = number_after(text, "recorded: ");
  const std::string one = fmt::format("recorded: {} calls, ", calls);
  // A handle per command.
  EXPECT_EQ(text.find("recorded: "), text.rfind("recorded: ")) << text;
  return {calls, number_after(text, one)};
}

TEST(PotentialCommands, CallsKeepThePromisesOfTheHeader) {
  ScratchFolder folder;
  const std::string observers =
      "[observe.energies]\nevery = 5\n[observe.geometry]\nevery = 5\n[observe.cluster]\nevery = "
      "5\n[observe.rdf]\nevery = 5\n[observe.profile]\nevery = 5\n[observe.temperatures]\nevery = "
      "5\n[observe.trajectory]\nevery = 5\n[observe.minima]\nevery = 20\n[observe.final]\n";
  const std::string classical = deck_with(
      folder, "recorder", "1000 4",
      "molecules = 2\nreplicas = 4\n[thermostat]\ntemperature_K = 50.0\nfriction_per_ps = 5.0\n" +
          observers + "[observe.evaporation]\nevery = 5\n");
  const std::string run = "run --quiet --overwrite -o " + folder.file("out") + " ";
  const std::string without = " --unset observe.minima";
  Calls calls = recorded(run + classical + " --set run.steps=40");
  EXPECT_GT(calls.calls, 41.0);  // the start, the steps, and minima
  calls = recorded(run + classical + " --set run.steps=40" + without);
  EXPECT_EQ(calls.calls, 41.0);
  EXPECT_EQ(calls.images, 41.0 * 4.0);
  recorded("compare --quiet --overwrite -o " + folder.file("compare") + " " + classical +
           " --schemes verlet --set run.steps=40");
  recorded("check --potential " + classical);
  const std::string dimer = folder.file("dimer.xyz"), with = " --potential " + classical;
  recorded("cluster --minimise --starts 2 --molecules 2 --keep 2 -o " + dimer + with);
  recorded("minimise " + dimer + with + " -o " + folder.file("minimum.xyz"));
  recorded("modes " + dimer + with);

  const std::string rings = deck_with(
      folder, "recorder", "1000 0",  // accepted exchanges are jumps
      "molecules = 2\nreplicas = 4\n[thermostat]\ntemperatures_K = [50.0, 60.0, 70.0, 80.0]\n"
      "friction_per_ps = 5.0\n[path_integral]\nbeads = 4\n[exchange]\nevery = 10\n"
      "[observe.path_integral]\nevery = 5\n" +
          observers);
  recorded(run + rings + " --set run.steps=40");
  // `tarn check --potential` counts two calls of all images for each attempt.
  calls = recorded(run + rings + " --set run.steps=40" + without);
  EXPECT_GE(calls.calls, 41.0 + 4.0);
  EXPECT_LE(calls.calls, 41.0 + 2.0 * 4.0);
  EXPECT_LE(calls.images, calls.calls * 16.0);
  EXPECT_GE(calls.images, 41.0 * 16.0);
}

}  // namespace
}  // namespace tarn
