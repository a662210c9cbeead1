#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command.hpp"
#include "scratch_folder.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/io/xyz.hpp"

/// @file
/// Structures of other programs, in every command that takes positions.

namespace tarn {
namespace {

using test::contains;

class ForeignStructures : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  /// Seven TIP3P molecules in another unit, as two frames of an XYZ file.
  /// @param comment of each frame
  std::string file(const std::string& name, double unit_A, const std::string& comment) const {
    std::vector<double> x =
        io::read_structure(std::string(TARN_SOURCE_DIR) + "/inputs/structures/tip3p-7.xyz")
            .positions_A;
    for (double& value : x) value /= unit_A;
    const std::string frame = io::xyz_frame(x, {}, comment);
    test::write_text(path(name), frame + frame);
    return path(name);
  }
  /// Every command that takes positions, on one file.
  std::vector<std::string> commands(const std::string& file) const {
    test::write_text(path("deck.toml"),
                     "[system]\nmodel = \"tip3p\"\nfile = \"" + file +
                         "\"\n[integrator]\nscheme = \"settle\"\n[run]\nsteps = 1\n");
    return {"energy " + file + " --frame 0",
            "modes " + file + " --frame 0",
            "minimise " + file + " -o " + path("minimum.xyz"),
            "serve " + file + " --unix tarn-test-nobody --wait 0",
            "draw " + file + " -o " + path("drawn.svg"),
            "rdf " + file,
            "analyse " + file + " -o " + path("analysed"),
            "convert " + file + " -o " + path("converted.gro"),
            "check " + path("deck.toml"),
            "run " + path("deck.toml") + " -o " + path("out") + " --overwrite"};
  }

  test::ScratchFolder folder_;
};

TEST_F(ForeignStructures, InAnotherUnitAreRefusedByEveryCommand) {
  const std::string bohr = file("bohr.xyz", units::angstrom_per_bohr, "");
  const std::string nm = file("nm.xyz", 10.0, "");
  for (const auto& [name, unit] : {std::pair(bohr, "bohr"), {nm, "nm"}}) {
    for (const std::string& command : commands(name)) {
      const test::Outcome outcome = test::command(command);
      EXPECT_EQ(outcome.exit_code, 2) << command << '\n' << outcome.text;
      EXPECT_TRUE(contains(outcome.text, std::string("this looks like ") + unit)) << command;
    }
  }
}

TEST_F(ForeignStructures, InTheUnitOfTheirCommentAreReadByEveryCommand) {
  const std::string bohr =
      file("ipi.xyz", units::angstrom_per_bohr, "positions{atomic_unit} cell{atomic_unit}");
  for (const std::string& command : commands(bohr)) {
    if (command.starts_with("serve")) continue;
    const test::Outcome outcome = test::command(command);
    EXPECT_EQ(outcome.exit_code, 0) << command << '\n' << outcome.text;
    if (!command.starts_with("energy")) continue;
    EXPECT_TRUE(contains(outcome.text, "\"potential_kcal_per_mol\": -57.9187"));
  }
}

/// A hydrogen of a bead is up to half an angstrom from its place in a molecule at rest.
TEST_F(ForeignStructures, StretchedMoleculesAreForFlexibleModelsOnly) {
  const std::string stretched = path("stretched.xyz");
  test::write_text(
      stretched, "6\n\nO 0 0 0\nH 1.35 0 0\nH -.24 .93 0\nO 0 0 2.8\nH .96 0 2.8\nH -.24 .5 2.8\n");
  for (const std::string command : {"minimise", "modes --minimise"}) {
    const std::string out = command == "minimise" ? " -o " + path("m.xyz") : "";
    const test::Outcome flexible =
        test::command(command + " " + stretched + " --model qtip4pf" + out);
    EXPECT_EQ(flexible.exit_code, 0) << flexible.text;
    const test::Outcome rigid = test::command(command + " " + stretched + " --model tip4p" + out);
    EXPECT_EQ(rigid.exit_code, 2);
    EXPECT_TRUE(contains(rigid.text,
                         "tip4p is rigid, and a structure to start from must be within "
                         "0.2 A of its model"));
  }
  // The minimum of a dimer: -6.1 kcal/mol between the molecules.
  const io::Structure minimum = io::read_structure(path("m.xyz"));
  EXPECT_LT(std::stod(minimum.comment.at("potential_kcal_per_mol")), -5.0);

  test::write_text(path("deck.toml"), "[system]\nmodel = \"qtip4pf\"\nfile = \"" + stretched +
                                          "\"\n[integrator]\nscheme = \"verlet\"\n"
                                          "[run]\nsteps = 10\n");
  const test::Outcome ran = test::command("run " + path("deck.toml") + " -o " + path("out"));
  EXPECT_EQ(ran.exit_code, 0) << ran.text;
  EXPECT_EQ(test::command("energy " + stretched + " --model qtip4pf").text.find("A; "),
            std::string::npos);
  // A hydrogen that belongs to no molecule is refused with any model.
  test::write_text(stretched, "3\n\nO 0 0 0\nH 3.1 0 0\nH -.24 .93 0\n");
  EXPECT_EQ(
      test::command("minimise " + stretched + " --model qtip4pf -o " + path("m.xyz")).exit_code, 2);
}

TEST_F(ForeignStructures, NotesOfTheReaderArePrintedOnceByEveryCommand) {
  const std::string heavy = path("heavy.xyz");
  const std::string frame = "3\nmodel=tip3p\nO 0 0 0\nD .9572 0 0\nD -.24 .9266 0\n";
  test::write_text(heavy, frame + frame);
  for (const std::string& command : commands(heavy)) {
    if (command.starts_with("serve")) continue;
    const std::string text = test::command(command).text;
    const std::string note = "atoms D are read as H";
    EXPECT_TRUE(contains(text, note)) << command;
    EXPECT_EQ(text.find(note), text.rfind(note)) << command << '\n' << text;
  }
}

}  // namespace
}  // namespace tarn
