#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "command.hpp"
#include "scratch_folder.hpp"

/// @file
/// Arguments of the commands: accepted values, and messages about others.

namespace tarn {
namespace {

using test::command;
using test::contains;
using test::Outcome;
using test::ScratchFolder;

class Arguments : public ::testing::Test {
 protected:
  static void expect_refused(const std::string& arguments, int exit_code, const std::string& why) {
    const Outcome outcome = command(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << arguments;
    EXPECT_TRUE(contains(outcome.text, why)) << arguments;
  }

  ScratchFolder folder_;
  const std::string structure_ = std::string(TARN_SOURCE_DIR) + "/inputs/structures/tip3p-7.xyz";
};

/// An option with a list must not consume the file name after it.
TEST_F(Arguments, OptionsMayComeFirst) {
  const std::string files = structure_ + " " + folder_.file("copy.xyz");
  std::filesystem::copy_file(structure_, folder_.file("copy.xyz"));
  const Outcome last = command("rdf " + files + " --skip 0 --pairs OO,HH");
  ASSERT_EQ(last.exit_code, 0) << last.text;
  EXPECT_EQ(command("rdf --pairs OO,HH " + files + " --skip 0").text, last.text);
  EXPECT_EQ(command("rdf --pairs OO --pairs HH " + files).text, last.text);
}

/// A number out of range is an error, and is never converted to another number.
TEST_F(Arguments, WholeNumbersAreParsedExactly) {
  const std::string cluster = "cluster --quiet --molecules 2 -o " + folder_.file("c.xyz");
  const std::string any = "give a whole number, 0 or more";
  for (const char* seed : {"-1", "1e3", "0x10", "010", "1.5", "9223372036854775808"}) {
    expect_refused(cluster + " --seed " + seed, 2, any);
  }
  expect_refused(cluster + " --seed 18446744073709551615", 2,
                 "at most 2^63 - 1 = 9223372036854775807");
  expect_refused("check " + std::string(TARN_SOURCE_DIR) +
                     "/inputs/water7.toml --set system.seed=18446744073709551615",
                 2, "; the largest integer is 2^63 - 1 = 9223372036854775807");
  expect_refused(cluster + " --minimise --starts 0", 2, "--starts: 0: give a whole number from 1");
  expect_refused(cluster + " --minimise --starts -3", 2, "-3: give a whole number from 1");
  expect_refused(cluster + " --minimise --hops 0", 2, "--hops: 0: give a whole number from 1");
  expect_refused(cluster + " --hops 5", 2, "--hops requires --minimise");
  expect_refused("cluster --molecules 0 -o " + folder_.file("c.xyz"), 2, "from 1 to 100000");
  expect_refused("rdf " + structure_ + " --skip -1", 2, any);
  EXPECT_TRUE(test::contents_of(folder_.path()).empty());
  for (const char* seed : {"0", "9223372036854775807"}) {
    EXPECT_EQ(command(cluster + " --seed " + seed).exit_code, 0) << seed;
  }
}

TEST_F(Arguments, EnergyNamesDevicesAsARunDoes) {
  EXPECT_EQ(command("energy --device auto " + structure_).text,
            command("energy " + structure_).text);
  expect_refused("energy --device foo " + structure_, 2, "unknown device 'foo'");
  expect_refused("energy --device cuda:99 " + structure_, 5, "device 'cuda:99': ");
  expect_refused("energy --device cuda --model nope " + structure_, 2,
                 "unknown water model 'nope'");
}

/// Without --r-max-A, the largest distance is a multiple of the bin width; a given one is not
/// changed.
TEST_F(Arguments, RdfTakesBinsThatDoNotDivideTheUsualEnd) {
  const Outcome fitted = command("rdf " + structure_ + " --bin-width-A 0.07");
  EXPECT_EQ(fitted.exit_code, 0);
  EXPECT_TRUE(contains(fitted.text,
                       "distances up to 11.97 A, the multiple of the bin width nearest to 12 A"));
  const Outcome given = command("rdf " + structure_ + " --bin-width-A 0.07 --r-max-A 11.97");
  EXPECT_EQ(given.exit_code, 0);
  EXPECT_TRUE(contains(fitted.text, given.text.substr(given.text.find("\n#"))));
  expect_refused("rdf " + structure_ + " --bin-width-A 0.07 --r-max-A 12", 2,
                 "12 A is not a multiple of the bin width 0.07 A; the nearest is 11.97 A");
  for (const char* width : {"0", "-0.05", "nan", "inf", "1e-300"}) {
    expect_refused("rdf " + structure_ + " --bin-width-A " + width, 2, "at most 100000 bins");
  }
}

TEST_F(Arguments, ErrorsNameTheArgument) {
  const std::string commands = "; the commands are run, check, ";
  expect_refused("bogus", 2, "tarn: unknown command 'bogus'" + commands);
  expect_refused("energi --device cpu x.xyz", 2,
                 "tarn: unknown command 'energi' (did you mean 'energy'?)" + commands);
  expect_refused("--bogus", 2, "tarn: unknown option --bogus" + commands);
  expect_refused("", 2, "tarn: no command given" + commands);
  expect_refused("run", 2, "tarn: deck is required");
  expect_refused("run --bogus a.toml", 2, "tarn: run has no option --bogus");
  expect_refused("run --hepl", 2, "tarn: run has no option --hepl (did you mean '--help'?)");
  expect_refused("run a.toml --set run.steps=1 run.seed=2", 2,
                 "tarn: repeat --set for each change of the deck: --set run.seed=2");
  expect_refused("help bogus", 2, "tarn: unknown command 'bogus'" + commands);
  expect_refused("plot . --format pdf", 2, "tarn: --format: pdf not in {svg,png}");
}

/// An unset variable of a script must not select the default.
TEST_F(Arguments, NoneIsEmpty) {
  expect_refused("check ''", 2, "the argument after 'check' is empty; is a variable not set?");
  expect_refused("run deck.toml --out ''", 2, "after '--out' is empty");
  expect_refused("run deck.toml --out=", 2, "the argument of --out= is empty");
  expect_refused("''", 2, "the argument is empty");
  // The deck reports keys without a value.
  expect_refused(
      "check " + std::string(TARN_SOURCE_DIR) + "/inputs/water7.toml --set=system.model=", 2,
      "--set system.model=: the value is missing");
}

TEST_F(Arguments, HelpIsAWordToo) {
  for (const std::string& command : {std::string(), std::string("run"), std::string("energy")}) {
    const test::Outcome word = test::command("help " + command);
    const test::Outcome option = test::command(command + " --help");
    EXPECT_EQ(word.exit_code, 0) << word.text;
    EXPECT_EQ(word.text, option.text);
    EXPECT_NE(word.text.find("--help"), std::string::npos);
  }
}

TEST_F(Arguments, MissingFilesAreReadErrors) {
  const std::string none = folder_.file("none");
  for (const char* command : {"plot ", "energy ", "rdf ", "run ", "check "}) {
    expect_refused(command + none, 4, none);
  }
  expect_refused("plot " + folder_.path(), 2, "is not the folder of a run");
  expect_refused("plot", 2, "give the folder of a run, or --script");
}

}  // namespace
}  // namespace tarn
