#include "tarn/io/xyz.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"

namespace tarn::io {
namespace {

using test::contains;
using test::message_of;
using test::ScratchFolder;

const std::string kWater = "O 0 0 0\nH 0.9 0 0\nH 0 0.9 0\n";
const std::string kHead = "3\nProperties=species:S:1:pos:R:3\n";

class Xyz : public ::testing::Test {
 protected:
  std::string file(const std::string& text) {
    test::write_text(folder_.file("a.xyz"), text);
    return folder_.file("a.xyz");
  }
  Structure read(const std::string& text) { return read_structure(file(text)); }
  /// "line:column: message" of the first problem.
  std::string refusal(const std::string& text) {
    const std::string path = file(text);
    const std::string message = message_of<InputError>([&] { read_structure(path); });
    EXPECT_EQ(message.substr(0, path.size() + 1), path + ":") << message;
    return message.substr(std::min(message.size(), path.size() + 1));
  }
  ScratchFolder folder_;
};

TEST_F(Xyz, ReadsColumnsWherePropertiesSaysTheyAre) {
  const Structure s = read(
      "3\nmodel=spce Properties=id:I:1:pos:R:3:flag:L:1:velo:R:3:species:S:1 comment=\"two "
      "words\"\n"
      "1 0 1.5 -2e0 T 7 8 9 O\n 2 +0.9 1.5 -2 F 4 5 6 H\n3\t0 2.4 -2 T 1 2 3 H\n");
  EXPECT_EQ(s.molecules, 1);
  EXPECT_EQ(s.positions_A, (std::vector<double>{0, 1.5, -2, 0.9, 1.5, -2, 0, 2.4, -2}));
  EXPECT_EQ(s.velocities_A_per_akma, (std::vector<double>{7, 8, 9, 4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(s.model(), "spce");
  EXPECT_EQ(s.comment.at("comment"), "two words");
}

TEST_F(Xyz, ReadsPlainFilesWithMoreColumnsCrlfAndBlankLines) {
  const Structure s =
      read("\r\n 3 \r\nit's free text\r\nO 0 0 0 q\r\nH .9 0 0 q\r\nH 0 .9 0 q\r\n\r\n");
  EXPECT_EQ(s.positions_A[3], 0.9);
  EXPECT_FALSE(s.model());
  EXPECT_TRUE(s.velocities_A_per_akma.empty());
}

TEST_F(Xyz, RoundTripIsExact) {
  Structure s;
  s.molecules = 1;
  s.positions_A = {1.0 / 3.0, -0.0, 1e-300, 0.9, 0.1, 1.0 / 7.0, 0.7, 1.0, 2.0 / 3.0};
  s.velocities_A_per_akma = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  s.comment = {{"model", "tip4p"}, {"note", "two words"}};
  write_structure(folder_.file("b.xyz"), s);
  const Structure t = read_structure(folder_.file("b.xyz"));
  EXPECT_EQ(t.positions_A, s.positions_A);
  EXPECT_EQ(t.velocities_A_per_akma, s.velocities_A_per_akma);
  EXPECT_EQ(t.comment, s.comment);
}

TEST_F(Xyz, ReadsTheStructuresOfTheInputs) {
  const Structure s =
      read_structure(std::string(TARN_SOURCE_DIR) + "/inputs/structures/tip3p-7.xyz");
  EXPECT_EQ(s.molecules, 7);
  EXPECT_EQ(s.model(), "tip3p");
}

TEST_F(Xyz, ReaderGoesThroughAllFrames) {
  const std::string path =
      file("3\nstep=0\n" + kWater + "3\nstep=10\n" + kWater + "\n6\nstep=20\n" + kWater + kWater);
  XyzReader reader(path);
  EXPECT_EQ(reader.next()->comment.at("step"), "0");
  EXPECT_EQ(reader.next()->comment.at("step"), "10");
  EXPECT_EQ(reader.next()->molecules, 2);
  EXPECT_EQ(reader.line_of_atom(5), 19);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(read_structure(path).comment.at("step"), "0");
}

TEST_F(Xyz, RefusesWithLineAndColumn) {
  EXPECT_TRUE(contains(refusal(""), "no structure"));
  EXPECT_TRUE(contains(refusal("  O 0 0 0\n"), "1:3: 'O 0 0 0' is not a number of atoms"));
  EXPECT_TRUE(contains(refusal("4\n\n" + kWater), "1:1: 4 atoms are no whole number"));
  EXPECT_TRUE(contains(refusal("-3\n\n" + kWater), "1:1: '-3' is not a number of atoms"));
  EXPECT_TRUE(contains(refusal("3.0\n\n" + kWater), "1:1: "));
  EXPECT_TRUE(contains(refusal("99999999999\n\n" + kWater), "1:1: "));
  EXPECT_TRUE(contains(refusal("3\n"), "1: the file ends where the comment"));
  EXPECT_TRUE(contains(refusal("6\n\n" + kWater), "the frame ends after 3 atoms where line 1"));
  EXPECT_TRUE(contains(refusal(kHead + "O 0 0 0\nH 0.9 x 0\nH 0 .9 0\n"), "4:7: 'x' is not a num"));
  EXPECT_TRUE(
      contains(refusal(kHead + "O 0 0 0\nH 0.9 0 nan\nH 0 .9 0\n"), "4:9: 'nan' is not a f"));
  EXPECT_TRUE(contains(refusal(kHead + "O 0 0 0\nH 1e999 0 0\nH 0 .9 0\n"), "4:3: '1e999' is not"));
  EXPECT_TRUE(contains(refusal(kHead + "O 0 0 0\nH 2e9 0 0\nH 0 .9 0\n"), "4:3: '2e9' is larger"));
  EXPECT_TRUE(contains(refusal(kHead + "O 0 0 0\nH 0.9 0\nH 0 .9 0\n"), "4:1: 3 columns where 4"));
  EXPECT_TRUE(contains(refusal(kHead + "O 0 0 0 1\nH 0.9 0 0\nH 0 .9 0\n"), "3:1: 5 columns"));
  EXPECT_TRUE(contains(refusal(kHead + "H 0 0 0\nO 0.9 0 0\nH 0 .9 0\n"), "3:1: 'H' where O is"));
  EXPECT_TRUE(
      contains(refusal("3\nProperties=species:S:1\n" + kWater), "2:12: Properties has no pos"));
  EXPECT_TRUE(
      contains(refusal("3\nProperties=pos:R:3\n" + kWater), "2:12: Properties has no spec"));
  EXPECT_TRUE(contains(refusal("3\nProperties=species:S\n" + kWater), "2:12: Properties must be"));
  EXPECT_TRUE(contains(refusal("3\nProperties=pos:R:x\n" + kWater), "2:12: Properties: 'x'"));
  EXPECT_TRUE(contains(refusal("3\nProperties=pos:Q:3\n" + kWater), "2:12: Properties: 'Q'"));
  EXPECT_TRUE(contains(refusal(kHead + kWater + "O 5 5 5\n"), "6:1: 'O 5 5 5' is not a number of"));
}

TEST_F(Xyz, TellsEveryProblemOfAFrame) {
  const std::string path = file(kHead + "O 0 0 z\nX 0.9 0 0\nH 0 y 0\n");
  try {
    read_structure(path);
    FAIL();
  } catch (const InputError& error) {
    ASSERT_EQ(error.problems().size(), 3u);
    EXPECT_EQ(error.problems()[0].line, 3);
    EXPECT_EQ(error.problems()[1].line, 4);
    EXPECT_EQ(error.problems()[2].column, 5);
  }
}

TEST_F(Xyz, RefusesOverlapsAndBrokenMolecules) {
  const std::string head = "6\nProperties=species:S:1:pos:R:3\n" + kWater;
  EXPECT_TRUE(contains(refusal(head + "O 0.2 0.3 0.3\nH 5 0 0\nH 0 5 0\n"),
                       "6:1: this atom is 0.469 A from the one in line 3: oxygens closer"));
  EXPECT_TRUE(contains(refusal(head + "O 1.8 0.05 0\nH 0.9 0.05 0\nH 2 1 0\n"),
                       "7:1: this atom is 0.05 A from the one in line 4: the two coincide"));
  EXPECT_TRUE(contains(refusal(kHead + "O 0 0 0\nH 0 0 0\nH 0 .9 0\n"), "4:1: this atom is 0 A"));
  EXPECT_TRUE(
      contains(refusal(kHead + "O 0 0 0\nH .9 0 0\nH 0 3.1 0\n"), "5:1: this hydrogen is 3.1"));
  EXPECT_NO_THROW(read(head + "O 0.3 0.3 0.3\nH 1 1 1\nH 0.5 1 0.3\n"));
}

TEST_F(Xyz, FilesThatCannotBeReadAreIoErrors) {
  EXPECT_TRUE(contains(message_of<IoError>([&] { read_structure(folder_.file("none.xyz")); }),
                       "No such file"));
  EXPECT_TRUE(contains(message_of<Error>([&] { read_structure(folder_.path()); }), folder_.path()));
}

TEST_F(Xyz, NeverWritesWhatIsNotANumber) {
  const std::vector<double> bad(9, std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(xyz_frame(bad, {}, ""), NumericalError);
}

}  // namespace
}  // namespace tarn::io
