#include <gtest/gtest.h>

#include <string>

#include "command.hpp"
#include "scratch_folder.hpp"

/// @file
/// The arguments of the commands: what they take, and what is said of those that they do not.

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

/// An option that takes a list does not take the file after it.
TEST_F(Arguments, OptionsMayComeFirst) {
  const std::string files = structure_ + " " + structure_;
  const Outcome last = command("rdf " + files + " --skip 0 --pairs OO,HH");
  ASSERT_EQ(last.exit_code, 0) << last.text;
  EXPECT_EQ(command("rdf --pairs OO,HH " + files + " --skip 0").text, last.text);
  EXPECT_EQ(command("rdf --pairs OO --pairs HH " + files).text, last.text);
}

}  // namespace
}  // namespace tarn
