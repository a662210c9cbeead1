#include <unistd.h>

#include "command.hpp"
#include "csv_columns.hpp"
#include "io/xyz.hpp"
#include "plain_water.hpp"
#include "program.hpp"
#include "tarn/io/formats.hpp"
#include "trajectory_fixtures.hpp"

/// @file
/// The commands, where transcripts (cli/*.txt) do not suffice: numbers, signals, terminals.

namespace {

namespace fs = std::filesystem;
using tarn::test::contains;
using tarn::test::largest_difference;
using tarn::test::Outcome;
using tarn::test::output_of;
using tarn::test::read_text;

const fs::path kSource = TARN_SOURCE_DIR;

Outcome tarn(const std::string& arguments, const std::string& before = "") {
  return tarn::test::command(arguments, before);
}

std::string contents(const fs::path& path) { return read_text(path.string()); }

class Commands : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.file(name); }
  std::string write(const std::string& name, const std::string& text) const {
    tarn::test::write_text(path(name), text);
    return path(name);
  }
  /// Seven molecules, three replicas, all observers.
  static std::string small_deck() { return (kSource / "tests/data/decks/small.toml").string(); }

  tarn::test::ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

#ifdef TARN_OTHER_HDF5
TEST_F(Commands, RefusesAnotherHdf5) {
  const std::string xyz = (kSource / "inputs/structures/tip3p-7.xyz").string();
  ASSERT_EQ(tarn("convert " + xyz + " -o " + path("a.h5")).exit_code, 0);
  const std::string preload = "LD_PRELOAD=" TARN_OTHER_HDF5 " ";
  const std::string problem = "the HDF5 library that is loaded has version 1.8.20, but this build ";
  EXPECT_TRUE(contains(tarn("doctor", preload).text, "HDF5: " + problem));
  const std::string deck = small_deck() + " --set observe.trajectory.format=h5md";
  for (const std::string& words :
       {"convert " + xyz + " -o " + path("b.h5"), "check " + deck, "rdf " + path("a.h5"),
        "run " + deck + " --out " + path("out")}) {
    const Outcome refused = tarn(words, preload);
    EXPECT_EQ(refused.exit_code, 2) << words;
    EXPECT_TRUE(contains(refused.text, problem)) << words << refused.text;
  }
  EXPECT_FALSE(fs::exists(path("b.h5")) || fs::exists(path("out")));
}
#endif

/// The numbers that follow a key of a JSON text, brackets and commas left out.
std::vector<double> numbers_after(const std::string& text, const std::string& key) {
  std::vector<double> numbers;
  const std::size_t at = text.find("\"" + key + "\": ");
  if (at == std::string::npos) return numbers;
  const char* c = text.c_str() + at + key.size() + 4;
  const bool is_list = *c == '[';
  while (*c != '\0' && (is_list || *c != '\n') && *c != '}') {
    char* end = nullptr;
    const double number = std::strtod(c, &end);
    if (end != c) numbers.push_back(number);
    c = end != c ? end : c + 1;
  }
  return numbers;
}

TEST_F(Commands, EnergyIsThePlainSumForEveryModel) {
  for (const tarn::test::PlainModel& model : tarn::test::plain_models()) {
    SCOPED_TRACE(model.name);
    output_of("cluster --quiet --molecules 9 --model " + std::string(model.name) + " -o " +
              path("c.xyz"));
    const std::vector<double> x = tarn::io::read_structure(path("c.xyz")).positions_A;
    const tarn::test::PlainEnergy expected = tarn::test::plain_energy(model, x);
    const std::string energy = output_of("energy " + path("c.xyz"));
    // Roundings of all pairs in the worst case, as of larger clusters (single_points_test).
    const auto expect_near = [&](const char* key, const std::vector<long double>& values) {
      const std::vector<double> numbers = numbers_after(energy, key);
      ASSERT_EQ(numbers.size(), values.size()) << key;
      for (std::size_t k = 0; k < values.size(); ++k) {
        EXPECT_NEAR(numbers[k], static_cast<double>(values[k]), 1e-9) << key << k;
      }
    };
    expect_near("coulomb_kcal_per_mol", {expected.coulomb});
    expect_near("lj_kcal_per_mol", {expected.lj});
    expect_near("potential_kcal_per_mol", {expected.total()});
    expect_near("forces_kcal_per_mol_A", {expected.forces.begin(), expected.forces.end()});
  }
}

/// One meaning in the tables of a run, in those of its trajectory, and in tarn energy.
TEST_F(Commands, PotentialIsTheEnergyBetweenMolecules) {
  const std::string deck =
      write("deck.toml",
            "[system]\nmodel = \"qtip4pf\"\nmolecules = 4\n[run]\nsteps = 400\n"
            "[thermostat]\ntemperature_K = 150\nfriction_per_ps = 5\n"
            "[observe.energies]\nevery = 100\n[observe.trajectory]\nevery = 100\n");
  output_of("run " + deck + " --quiet --no-pictures -o " + path("run"));
  output_of("analyse " + path("run/trajectory.xyz") + " --no-pictures -o " + path("a"));
  const std::string energy = output_of("energy --frame 3 " + path("run/trajectory.xyz"));
  for (const char* table : {"run/energies.csv", "a/potential.csv"}) {
    for (const char* column : {"potential_kcal_per_mol", "intramolecular_kcal_per_mol"}) {
      EXPECT_NEAR(tarn::test::numbers_of(path(table), column).at(3),
                  numbers_after(energy, column).at(0), 1e-9)
          << table << ' ' << column;
    }
  }
}

TEST_F(Commands, ForcesStandInTheOrderOfTheFile) {
  // The same two molecules with the atoms of each as other programs have them.
  const auto line = [](const char* name, int residue, const char* x) {
    return std::string("HETATM    1  ") + name + "  HOH A   " + std::to_string(residue) + "    " +
           x + "  1.00  0.00\n";
  };
  const char* o1 = "   0.000   0.000   0.000";
  const char* a1 = "   0.957   0.000   0.000";
  const char* b1 = "  -0.240   0.927   0.000";
  const char* o2 = "   0.100  -0.200   2.900";
  const char* a2 = "   1.057  -0.200   2.900";
  const char* b2 = "  -0.140   0.727   2.900";
  write("ohh.pdb", line("O ", 1, o1) + line("H1", 1, a1) + line("H2", 1, b1) + line("O ", 2, o2) +
                       line("H1", 2, a2) + line("H2", 2, b2) + "END\n");
  write("hoh.pdb", line("H1", 1, a1) + line("O ", 1, o1) + line("H2", 1, b1) + line("H2", 2, b2) +
                       line("H1", 2, a2) + line("M ", 2, o2) + line("O ", 2, o2) + "END\n");
  const std::string key = "forces_kcal_per_mol_A";
  const std::vector<double> standard = numbers_after(output_of("energy " + path("ohh.pdb")), key);
  const std::vector<double> forces = numbers_after(output_of("energy " + path("hoh.pdb")), key);
  ASSERT_EQ(standard.size(), 18u);
  ASSERT_EQ(forces.size(), 18u);
  // Which hydrogen comes first in the second molecule is for the file to say: H2 here.
  const std::array<std::size_t, 6> atoms{1, 0, 2, 5, 4, 3};
  for (std::size_t atom = 0; atom < 6; ++atom) {
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(forces[3 * atom + c], standard[3 * atoms[atom] + c], 1e-12) << atom;
    }
  }
}

double energy_of(const std::string& structure) {
  return numbers_after(output_of("energy " + structure), "potential_kcal_per_mol").at(0);
}

/// A cluster of this size takes minutes; what was reached until the signal is kept.
TEST_F(Commands, MinimiseKeepsItsResultWhenInterrupted) {
  output_of("cluster --quiet --molecules 3000 -o " + path("start.xyz"));
  tarn::test::Program program({TARN_BINARY, "minimise", path("start.xyz"), "-o", path("out.xyz")},
                              path("log"), path("log"));
  while (program.runs() && program.cpu_seconds() < 2.0) ::usleep(10'000);
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << contents(path("log"));
  EXPECT_TRUE(contains(contents(path("log")), "interrupted before the minimum was reached"));
  EXPECT_LT(energy_of(path("out.xyz")), energy_of(path("start.xyz")));
}

/// The frame of that step in a trajectory of any format.
tarn::io::Structure frame_at(const std::string& file, const std::string& step) {
  const auto reader = tarn::io::open_frames(file);
  while (auto frame = reader->next()) {
    if (frame->comment["step"] == step) return *frame;
  }
  ADD_FAILURE() << file << " has no step " << step;
  return {};
}

TEST_F(Commands, TrajectoriesHaveVelocities) {
  std::vector<std::string> formats{"xyz", "trr", "gro"};
  if (tarn::io::has_h5md()) formats.push_back("h5md");
  const std::string run = "run " + small_deck() +
                          " --quiet --no-pictures --unset observe --set system.replicas=1"
                          " --set observe.trajectory.every=50 --set observe.final.replicas=all";
  for (const std::string& format : formats) {
    const std::string words = run + " --set observe.trajectory.format=" + format +
                              " --set observe.trajectory.velocities=true --out ";
    const std::string whole = path(format), pieces = path(format + "-pieces");
    output_of(words + whole);
    // As ever, a run in pieces leaves the same files.
    output_of(words + pieces + " --set run.steps=150");
    output_of(words + pieces + " --resume");
    const std::string extension = format == "h5md" ? ".h5" : "." + format;
    const std::string file = whole + "/trajectory" + extension;
    const tarn::io::Structure last = frame_at(file, "400");
    const tarn::io::Structure resumed = frame_at(pieces + "/trajectory" + extension, "400");
    EXPECT_EQ(last.velocities_A_per_akma, resumed.velocities_A_per_akma) << format;
    EXPECT_FALSE(frame_at(file, "0").velocities_A_per_akma.empty());
    // GRO has 8 decimals of nm/ps, half of the last of which is 2.5e-9 A/akma; the rest is
    // rounding and how exactly SETTLE's velocities keep the constraints.
    const tarn::io::Structure end = tarn::io::read_structure(whole + "/final.xyz");
    EXPECT_LT(largest_difference(last.velocities_A_per_akma, end.velocities_A_per_akma), 2.6e-9)
        << format;
    for (const char* name : {"a.xyz", "a.h5"}) {
      if (name == std::string("a.h5") && !tarn::io::has_h5md()) continue;
      const std::string copy = path(name);
      output_of("convert --quiet " + file + " -o " + copy);
      EXPECT_LT(largest_difference(frame_at(copy, "400").velocities_A_per_akma,
                                   last.velocities_A_per_akma),
                1e-14)
          << format << name;
    }
  }
}

TEST_F(Commands, TheBarFitsTheTerminal) {
  if (std::system("script -qec true /dev/null >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "script is missing, or has no terminal to give";
  }
  const std::string run =
      "'" TARN_BINARY "' run " + small_deck() + " --unset observe --overwrite --out " + path("o");
  const auto in_terminal = [&](const std::string& kind, int columns) {
    const std::string words =
        fmt::format("stty cols {}; TERM={} PATH=/nowhere {}", columns, kind, run);
    EXPECT_EQ(
        std::system(("script -qec \"" + words + "\" " + path("seen") + " >/dev/null").c_str()), 0);
    return contents(folder_ / "seen");
  };
  for (const int columns : {20, 80}) {
    const std::string seen = in_terminal("xterm", columns);
    const std::size_t end = seen.find("\x1b[K");
    ASSERT_NE(end, std::string::npos) << seen;
    const std::size_t begin = seen.rfind('\r', end) + 1;
    EXPECT_LT(end - begin, static_cast<std::size_t>(columns)) << seen.substr(begin, end - begin);
  }
  EXPECT_EQ(in_terminal("dumb", 80).find('\x1b'), std::string::npos);
}

/// The rest of the tests run with TARN_PICTURES=off.
TEST_F(Commands, PlotDrawsThePicturesOfARunAgain) {
  ASSERT_EQ(tarn("run " + small_deck() + " --out " + path("out"), "TARN_PICTURES= ").exit_code, 0);
  const std::string record = contents(folder_ / "out/run.json");
  for (const std::string format : {"svg", "png"}) {
    std::vector<std::string> before;
    for (const char* name : {"energies.", "conservation.", "cluster.", "rdf."}) {
      EXPECT_TRUE(contains(record, path("out/" + (name + format)))) << name << format;
      before.push_back(contents(folder_ / "out" / (name + format)));
      fs::remove(folder_ / "out" / (name + format));
    }
    output_of("plot " + path("out") + " --format " + format);
    std::size_t i = 0;
    for (const char* name : {"energies.", "conservation.", "cluster.", "rdf."}) {
      EXPECT_EQ(contents(folder_ / "out" / (name + format)), before[i++]) << name;
    }
  }
  // People change the pictures by a copy of the script.
  EXPECT_EQ(tarn("plot --script").text, contents(kSource / "python/tarn/plots.py"));
  // Pictures are all that these commands are for: without them they fail.
  const std::string table = contents(folder_ / "out/rdf.csv");
  const Outcome without = tarn("plot " + path("out"), "TARN_PICTURES=/nowhere ");
  EXPECT_EQ(without.exit_code, 4);
  EXPECT_TRUE(contains(without.text, "no Python with matplotlib"));
  const Outcome rdf = tarn("rdf " + path("out/trajectory-0000.xyz") + " --plot " + path("a.png"),
                           "TARN_PICTURES=/nowhere ");
  EXPECT_EQ(rdf.exit_code, 4);
  EXPECT_TRUE(contains(rdf.text, "no Python with matplotlib"));
  EXPECT_TRUE(fs::exists(path("a.csv")) && !fs::exists(path("a.png")));
  EXPECT_EQ(contents(folder_ / "out/rdf.csv"), table);
  output_of("plot " + path("out") + " --format pdf", 2);
}

TEST_F(Commands, DrawShowsStructuresAndFrames) {
  const std::string seven = (kSource / "inputs/structures/tip3p-7.xyz").string();
  const std::string picture = path("seven.svg");
  EXPECT_TRUE(contains(output_of("draw " + seven + " -o " + picture), "picture: " + picture));
  EXPECT_TRUE(contains(read_text(picture), ">tip3p-7</text>"));
  output_of("run " + small_deck() + " --out " + path("out"));
  // Steps 0, 100, ..., 400 of a replica; the label tells the time.
  const std::string trajectory = path("out/trajectory-0001.xyz");
  output_of("draw " + trajectory + " -o " + picture);
  EXPECT_TRUE(contains(read_text(picture), ">replica 1, 0.200 ps</text>"));
  EXPECT_TRUE(contains(output_of("draw " + trajectory + " " + seven + " --frames 2 -o " + picture),
                       "only the first 2 frames are drawn; --frames draws more"));
  EXPECT_TRUE(contains(read_text(picture), ">trajectory-0001: replica 1, 0 ps</text>"));
  EXPECT_TRUE(contains(read_text(picture), ">trajectory-0…: replica 1, 0.200 ps</text>"));
  EXPECT_FALSE(contains(read_text(picture), "tip3p-7"));

  output_of("draw " + path("none.xyz") + " -o " + picture, 4);
  output_of("draw " + seven + " -o " + path("a.png"));
  EXPECT_TRUE(contains(contents(folder_ / "a.png"), "PNG"));
  output_of("draw " + seven + " -o a.pdf", 2);
  output_of("draw " + seven + " -o " + path("no/such/folder/a.svg"), 4);
  output_of("draw " + write("empty.xyz", "") + " -o " + picture, 2);
}

}  // namespace
