#include <filesystem>
#include <string>

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
  EXPECT_TRUE(contains(good.text, "time: less than a second in the potential"));
  // A soft bond is not one of water.
  const Outcome soft = test::command("check --potential " + with_library("flexible_water", "40"));
  EXPECT_EQ(soft.exit_code, 0);
  EXPECT_TRUE(contains(soft.text, "warning: the first O-H bond vibrates at"));
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
  const std::string deck = folder.file("deck.toml"), dimer = folder.file("dimer.xyz");
  ASSERT_EQ(test::command("cluster --molecules 2 --model qtip4pf -o " + dimer).exit_code, 0);
  const auto expect_caught = [&](const std::string& command, const std::string& options) {
    test::write_text(deck,
                     "[system]\nmodel = \"qtip4pf\"\nmolecules = 2\n[run]\nsteps = 5\n"
                     "[integrator]\nscheme = \"verlet\"\n"
                     "[potential]\nkind = \"library\"\noptions = \"" +
                         options + "\"\npath = \"" TARN_POTENTIALS "/libbroken.so\"\n");
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

}  // namespace
}  // namespace tarn
