#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "command.hpp"
#include "scratch_folder.hpp"

/// @file
/// The program with potentials of shared libraries; tests/potentials contains them.

namespace tarn {
namespace {

using test::contains;
using test::Outcome;

const std::string kExample = TARN_SOURCE_DIR "/docs/library/flexible_water.toml";

std::string with_library(const std::string& name, const std::string& options = "1000") {
  return kExample + " --set potential.path=" TARN_POTENTIALS "/lib" + name +
         ".so --set potential.options=" + options;
}

TEST(PotentialCommands, CheckNamesThePotential) {
  const Outcome outcome = test::command("check " + with_library("flexible_water"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_TRUE(contains(outcome.text,
                       "energies and forces from the potential: library libflexible_water.so "
                       "(1000); 4 images per call (replicas x beads), on the CPU"));
  EXPECT_TRUE(contains(outcome.text, "kind = \"library\""));
  EXPECT_FALSE(contains(outcome.text, "omega ="));
}

TEST(PotentialCommands, CheckComparesForcesWithEnergies) {
  const Outcome good = test::command("check --potential " + with_library("flexible_water"));
  EXPECT_EQ(good.exit_code, 0) << good.text;
  EXPECT_FALSE(contains(good.text, "warning"));
  EXPECT_TRUE(contains(good.text, "the same bits"));
  EXPECT_TRUE(contains(good.text, "\ntime: ") && contains(good.text, " in the potential\n"));
  // A soft bond is not one of water.
  const Outcome soft = test::command("check --potential " + with_library("flexible_water", "40"));
  EXPECT_EQ(soft.exit_code, 0);
  EXPECT_TRUE(contains(soft.text, "warning: O-H bonds vibrate at up to"));
}

TEST(PotentialCommands, FailuresHaveTheirExitCodes) {
  const auto check = [](const std::string& name, const std::string& options) {
    return test::command("check --potential " + with_library(name, options));
  };
  const Outcome refused = check("broken", "refuse");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.text, "no parameters for 5 molecules"));
  const Outcome status = check("broken", "status");
  EXPECT_EQ(status.exit_code, 3);
  EXPECT_TRUE(contains(status.text, "failed with status 12"));
  const Outcome nan = check("broken", "nan");
  EXPECT_EQ(nan.exit_code, 3);
  EXPECT_TRUE(contains(nan.text, "a force of nan"));
  const Outcome missing = check("missing", "");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_TRUE(contains(missing.text, "there is no file"));
  EXPECT_EQ(test::command("check --potential " TARN_SOURCE_DIR "/inputs/water7.toml").exit_code, 2);
}

/// The path of a deck of q-TIP4P/F with a library. @param system keys of [system], and sections
std::string deck_with(const test::ScratchFolder& folder, const std::string& library,
                      const std::string& options, const std::string& system) {
  const std::string path = folder.file("deck-" + library + ".toml");
  test::write_text(path,
                   "[run]\nsteps = 5\n[integrator]\nscheme = \"verlet\"\n[potential]\n"
                   "kind = \"library\"\noptions = \"" +
                       options + "\"\npath = \"" TARN_POTENTIALS "/lib" + library +
                       ".so\"\n[system]\nmodel = \"qtip4pf\"\n" + system + "\n");
  return path;
}

/// What `how` prints, in a run with a folder.
Outcome run_of_broken(const std::string& how, const test::ScratchFolder& folder) {
  return test::command("run --quiet " + with_library("broken", "'\"" + how + "\"'") + " -o " +
                       folder.file("out") + " --overwrite");
}

TEST(PotentialCommands, LibrariesThatExitEndARunWithACheckpoint) {
  test::ScratchFolder folder;
  for (const char* function : {"open", "compute", "later"}) {
    for (const char* how : {"exit", "_exit", "thread"}) {
      const Outcome outcome = run_of_broken(std::string(function) + " " + how, folder);
      EXPECT_EQ(outcome.exit_code, 3) << function << how;
      EXPECT_TRUE(contains(outcome.text, std::string("libbroken.so ended the program in "
                                                     "tarn_potential_") +
                                             (function[0] == 'o' ? "open" : "compute") +
                                             " with exit status 0"))
          << outcome.text;
    }
  }
  EXPECT_EQ(run_of_broken("later exit", folder).exit_code, 3);
  EXPECT_TRUE(contains(test::read_text(folder.file("out/run.json")), "\"status\": \"failed\""));
  // Calls: the start, three steps, and the one that exits.
  const Outcome again = test::command("run " + with_library("broken", "'\"later exit\"'") +
                                      " --resume -o " + folder.file("out"));
  EXPECT_TRUE(contains(again.text, "resuming from the checkpoint of step 2")) << again.text;
  // A child of the library may exit.
  EXPECT_EQ(run_of_broken("compute child", folder).exit_code, 0);
}

TEST(PotentialCommands, CrashesNameTheLibraryAndItsFunction) {
  test::ScratchFolder folder;
  for (const char* function : {"open", "compute"}) {
    const std::string where = std::string("libbroken.so ended the program in tarn_potential_") +
                              function + " with signal ";
    const auto text = [&](const std::string& how) {
      const Outcome outcome = run_of_broken(function + (" " + how), folder);
      EXPECT_NE(outcome.exit_code, 0);
      return outcome.text;
    };
    EXPECT_TRUE(contains(text("crash"), where + "11 (segmentation fault)\n"));
    EXPECT_TRUE(contains(text("abort"), where + "6 (abort)\n"));
    EXPECT_TRUE(contains(text("stack"), where + "11 (segmentation fault); likely cause: arrays on "
                                                "the stack that exceed"));
  }
  const Outcome load = test::command("check --potential " + with_library("broken_segfault"));
  EXPECT_NE(load.exit_code, 0);
  EXPECT_TRUE(contains(load.text, "my tables are missing\n"));
  EXPECT_TRUE(contains(load.text,
                       "libbroken_segfault.so ended the program while it was loaded "
                       "with signal 11"));
}

TEST(PotentialCommands, ExitIsCaughtInEveryCommand) {
  test::ScratchFolder folder;
  const std::string deck = folder.file("deck-broken.toml"), dimer = folder.file("dimer.xyz");
  ASSERT_EQ(test::command("cluster --molecules 2 --model qtip4pf -o " + dimer).exit_code, 0);
  const auto expect_caught = [&](const std::string& command, const std::string& options) {
    deck_with(folder, "broken", options, "molecules = 2");
    const Outcome outcome = test::command(command);
    EXPECT_EQ(outcome.exit_code, 3) << command << outcome.text;
    EXPECT_TRUE(contains(outcome.text, "ended the program in")) << outcome.text;
  };
  for (const std::string options : {"open exit", "compute _exit"}) {
    const std::string with = " --potential " + deck + " ", out = folder.file("out");
    expect_caught("check" + with, options);
    expect_caught("run " + deck + " -o " + out + " --overwrite", options);
    expect_caught("compare " + deck + " -o " + out + " --overwrite --schemes verlet", options);
    expect_caught("minimise " + dimer + with + "-o " + folder.file("minimum.xyz"), options);
    expect_caught("modes " + dimer + with, options);
    expect_caught(
        "cluster --minimise --starts 1 --molecules 2" + with + "-o " + folder.file("minimum.xyz"),
        options);
  }
  const Outcome load = test::command("check --potential " + with_library("broken_exit"));
  EXPECT_EQ(load.exit_code, 3);
  EXPECT_TRUE(contains(load.text,
                       "libbroken_exit.so ended the program while it was loaded with "
                       "exit status 7"));
}

TEST(PotentialCommands, LibrariesThatChangeTheFolderDoNotMoveTheOutput) {
  test::ScratchFolder folder;
  for (const char* function : {"open", "later"}) {
    const Outcome outcome =
        test::command("run " + with_library("broken", std::string("'\"") + function + " chdir\"'") +
                          " -o out" + function,
                      "cd " + folder.path() + " && ");
    EXPECT_TRUE(std::filesystem::exists(folder.file(std::string("out") + function + "/run.json")))
        << outcome.text;
  }
}

TEST(PotentialCommands, SlowLibrariesAreNamedWhileTheyAreLoaded) {
  const Outcome outcome = test::command("check --potential " + with_library("broken_slow", "nan"));
  EXPECT_TRUE(contains(outcome.text, "note: loading library libbroken_slow.so (nan)\n"));
}

TEST(PotentialCommands, MinimisersAndModesTakeThePotentialOfADeck) {
  test::ScratchFolder folder;
  const std::string deck = folder.file("deck.toml");
  test::write_text(deck,
                   "[system]\nmodel = \"qtip4pf\"\nmolecules = 2\n[run]\nsteps = 0\n"
                   "[potential]\nkind = \"library\"\noptions = \"1000\"\n"
                   "path = \"" TARN_POTENTIALS "/libflexible_water.so\"\n");
  const std::string with_deck = " --potential " + deck + " ";
  const std::string dimer = folder.file("dimer.xyz"), again = folder.file("again.xyz");
  // The springs have their lengths, and the oxygens the distance of the Lennard-Jones minimum.
  const Outcome cluster =
      test::command("cluster --minimise --starts 2 --molecules 2 -o " + dimer + with_deck);
  ASSERT_EQ(cluster.exit_code, 0) << cluster.text;
  EXPECT_TRUE(contains(cluster.text, "-2.000000000 kcal/mol with library libflexible_water.so"));
  EXPECT_TRUE(contains(test::read_text(dimer), "total_potential_kcal_per_mol="));
  const Outcome minimise = test::command("minimise " + dimer + " -o " + again + with_deck);
  EXPECT_EQ(minimise.exit_code, 0) << minimise.text;
  EXPECT_TRUE(contains(minimise.text, "-2.0000"));
  // Farther from the minimum, with fewer iterations.
  const std::string tolerance = " --tolerance 1e-2";
  const Outcome near = test::command("minimise " + dimer + " -o " + again + with_deck + tolerance);
  EXPECT_EQ(near.exit_code, 0) << near.text;
  EXPECT_EQ(test::command("minimise " + dimer + " -o " + again + tolerance).exit_code, 2);
  const Outcome modes = test::command("modes " + dimer + with_deck);
  EXPECT_EQ(modes.exit_code, 0) << modes.text;
  EXPECT_TRUE(contains(modes.text, "\"potential\": \"library libflexible_water.so (1000)\""));
  EXPECT_FALSE(contains(modes.text, "dipole"));
  for (const std::string& command :
       {"modes --omega 100 " + dimer, "cluster --molecules 2 -o " + again,
        "minimise --tolerance 1 " + dimer + " -o " + again}) {
    EXPECT_EQ(test::command(command + with_deck).exit_code, 2) << command;
  }
  test::write_text(deck, "[system]\nmolecules = 2\n[run]\nsteps = 0\n");
  const Outcome none = test::command("minimise " + dimer + " -o " + again + with_deck);
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(contains(none.text, "the deck needs [potential]"));
}

TEST(PotentialCommands, RunsTheExampleOfTheDocumentation) {
  test::ScratchFolder folder;
  const std::string run = "run --quiet " + with_library("flexible_water") + " -o ";
  const Outcome outcome = test::command(run + folder.file("out"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_TRUE(contains(test::read_text(folder.file("out/run.json")),
                       "library libflexible_water.so (1000)"));
  // The trajectory depends neither on threads nor on a restart.
  ASSERT_EQ(test::command(run + folder.file("parts") + " --threads 1 --set run.steps=70").exit_code,
            0);
  ASSERT_EQ(test::command(run + folder.file("parts") + " --resume").exit_code, 0);
  EXPECT_EQ(test::read_text(folder.file("parts/energies.csv")),
            test::read_text(folder.file("out/energies.csv")));
  // Another stiffness is another potential.
  const Outcome other = test::command("run --quiet " + with_library("flexible_water", "900") +
                                      " --resume -o " + folder.file("parts"));
  EXPECT_EQ(other.exit_code, 2);
}

TEST(PotentialCommands, ForcesThatAreNoDerivativesAreNotAResult) {
  const Outcome check = test::command("check --potential " + with_library("broken", "wrong"));
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_TRUE(contains(check.text, "likely causes: a wrong formula")) << check.text;
  test::ScratchFolder folder;
  const std::string out = folder.file("minima.xyz");
  const Outcome cluster =
      test::command("cluster --minimise --starts 2 --molecules 5 --keep 3 -o " + out +
                    " --potential " + deck_with(folder, "broken", "wrong", "molecules = 5"));
  EXPECT_EQ(cluster.exit_code, 3) << cluster.text;
  EXPECT_TRUE(contains(cluster.text, "did not converge. Check the forces with tarn check"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

/// The number behind a text.
double number_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  return at == std::string::npos ? -1.0 : std::strtod(&text[at + before.size()], nullptr);
}

/// Each number that `tarn check --potential` proposes is used in a second check.
TEST(PotentialCommands, AdviceOnStiffBondsHolds) {
  test::ScratchFolder folder;
  const std::string check =
      "check --potential " +
      deck_with(folder, "flexible_water", "1600",
                "molecules = 2\n[thermostat]\ntemperature_K = 100.0\nfriction_per_ps = 1.0\n"
                "[path_integral]\nbeads = 8");
  const Outcome first = test::command(check + " --set integrator.timestep_fs=2");
  EXPECT_EQ(first.exit_code, 0) << first.text;
  const std::string needed = "1 % requires ", error = "at most ";
  const std::size_t warning = first.text.find("is less than that of the potential");
  ASSERT_NE(warning, std::string::npos) << first.text;
  const double highest = number_after(first.text.substr(warning), "Use ");
  const double step_fs = number_after(first.text, "steps per period. Use ");
  const double beads = number_after(first.text, needed);
  // 108.6 sqrt(k/mu) for the springs alone; those between the hydrogens add to it.
  EXPECT_GT(highest, 1.03 * 4460.0) << first.text;
  EXPECT_LT(highest, 1.03 * 5000.0);
  ASSERT_GT(step_fs, 0.0);
  const std::string with = fmt::format(
      " --set path_integral.highest_wavenumber_per_cm={} --set integrator.timestep_fs={}", highest,
      step_fs);
  const Outcome second = test::command(check + with);
  EXPECT_FALSE(contains(second.text, "highest_wavenumber_per_cm = ") &&
               contains(second.text, "is less than"))
      << second.text;
  EXPECT_FALSE(contains(second.text, "is too long"));
  // The line of the first check holds with its advice.
  EXPECT_EQ(number_after(second.text, error), number_after(first.text, error));
  const Outcome third =
      test::command(check + with + fmt::format(" --set path_integral.beads={}", beads));
  EXPECT_LE(number_after(third.text, error), 1.0) << third.text;
  EXPECT_GT(number_after(third.text, error), 0.0);
}

/// A call takes 20 ms and an image 5 ms.
TEST(PotentialCommands, TheTimeOfARunIsThatOfItsCalls) {
  for (const int replicas : {1, 4}) {
    const Outcome check =
        test::command("check --potential " + with_library("broken", "sleep") +
                      fmt::format(" --set system.replicas={} --set run.steps=199", replicas));
    const double expected_s = 200 * (0.020 + 0.005 * replicas);
    const double seconds = number_after(check.text, "time: about ");
    EXPECT_GT(seconds, 0.9 * expected_s) << check.text;
  }
}

struct Calls {
  double calls, images;
};
/// Numbers of calls and images that the recorder prints at the end. It fails in calls that break a
/// promise of tarn/potential.h.
Calls recorded(const std::string& command) {
  const Outcome outcome = test::command(command);
  EXPECT_EQ(outcome.exit_code, 0) << command << outcome.text;
  const double calls = number_after(outcome.text, "recorded: ");
  const std::string one = fmt::format("recorded: {} calls, ", calls);
  // A handle per command.
  EXPECT_EQ(outcome.text.find("recorded: "), outcome.text.rfind("recorded: ")) << outcome.text;
  return {calls, number_after(outcome.text, one)};
}

TEST(PotentialCommands, CallsKeepThePromisesOfTheHeader) {
  test::ScratchFolder folder;
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

/// The files that a run or `tarn convert` wrote, read as those of the water model.
TEST(PotentialCommands, FilesNameThePotential) {
  test::ScratchFolder folder;
  const std::string out = folder.file("out"), name = "library libflexible_water.so (1000)";
  for (const std::string format : {"xyz", "dcd", "gro", "pdb", "h5md"}) {
    const Outcome run = test::command(
        "run --quiet --overwrite " + with_library("flexible_water") + " -o " + out +
        " --set system.replicas=1 --set run.steps=40 --set observe.trajectory.every=20 "
        "--set observe.final.replicas=all --set observe.cluster.every=20 "
        "--set observe.minima.every=20 --set observe.trajectory.format=" +
        format);
    if (contains(run.text, "HDF5")) continue;  // built without it
    ASSERT_EQ(run.exit_code, 0) << run.text;
    const std::string trajectory = out + "/trajectory." + (format == "h5md" ? "h5" : format);
    const std::string warning = "of a run with forces by " + name;
    std::vector<std::string> files{trajectory};
    if (format == "xyz") files.insert(files.end(), {out + "/final.xyz", out + "/isomers.xyz"});
    for (const std::string& file : files) {
      const std::string analyse = "analyse " + file + " -o " + folder.file("tables");
      EXPECT_TRUE(contains(test::command(analyse).text, warning)) << file;
      EXPECT_FALSE(contains(test::command(analyse + " --model tip3p").text, warning));
      EXPECT_TRUE(contains(test::command("energy " + file).text, warning)) << file;
      EXPECT_TRUE(contains(test::command("modes " + file).text, warning)) << file;
    }
    for (const std::string extension : {".xyz", ".dcd"}) {
      const std::string converted = folder.file("converted" + extension);
      ASSERT_EQ(test::command("convert " + trajectory + " -o " + converted).exit_code, 0);
      EXPECT_TRUE(contains(test::command("energy " + converted).text, warning)) << converted;
    }
    for (const auto& entry : std::filesystem::directory_iterator(out)) {
      if (entry.path().extension() != ".csv") continue;
      const std::string text = test::read_text(entry.path().string());
      EXPECT_TRUE(contains(text.substr(0, text.find('\n')), "with forces by " + name))
          << entry.path();
    }
  }
}

}  // namespace
}  // namespace tarn
