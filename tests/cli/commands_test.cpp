#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "command.hpp"
#include "json_reader.hpp"
#include "plain_water.hpp"
#include "program.hpp"
#include "rounding.hpp"
#include "run_files.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/io/xyz.hpp"
#include "trajectory_fixtures.hpp"

/// @file
/// The program as its users meet it: exit codes, messages, files.

namespace {

namespace fs = std::filesystem;
using tarn::test::expect_same_files;
using tarn::test::largest_difference;
using tarn::test::Outcome;
using tarn::test::standard_output;

const fs::path kSource = TARN_SOURCE_DIR;

Outcome tarn(const std::string& arguments, const std::string& before = "") {
  return tarn::test::command(arguments, before);
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string contents(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A folder of its own for each test.
class Commands : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("tarn-cli-" + std::string(info->name()) + "-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return path(name);
  }
  std::string small_deck() const {
    return write("small.toml", R"([system]
file = ")" + (kSource / "inputs/structures/tip3p-7.xyz").string() +
                                   R"("
replicas = 3

[integrator]
scheme = "settle"

[thermostat]
kind = "gla"
temperature_K = 10.0
friction_per_ps = 5.0

[run]
steps = 400

[observe.energies]
every = 20
[observe.conservation]
every = 50
[observe.rdf]
every = 10
[observe.spectrum]
every = 2
resolution_per_cm = 100
[observe.correlation]
every = 2
length_ps = 0.2
[observe.evaporation]
every = 20
[observe.minima]
every = 40
[observe.trajectory]
every = 100
[observe.heat]
every = 20
[observe.temperatures]
every = 100
[observe.geometry]
every = 100
[observe.cluster]
every = 100
[observe.multipliers]
every = 20
window_steps = 5
[observe.final]
)");
  }

  fs::path folder_;
};

TEST_F(Commands, WithoutACommandThereIsHelp) {
  EXPECT_EQ(tarn("").exit_code, 2);
  const Outcome help = tarn("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* command : {"run", "check", "energy", "cluster", "minimise", "compare", "rdf",
                              "analyse", "plot", "draw", "models", "doctor"}) {
    EXPECT_TRUE(contains(help.text, command)) << command;
  }
  EXPECT_EQ(tarn("rnu").exit_code, 2);
}

TEST_F(Commands, DoctorListsTheMachine) {
  const Outcome doctor = tarn("doctor");
  EXPECT_EQ(doctor.exit_code, 0);
  EXPECT_TRUE(contains(doctor.text, "instruction set"));
  if (std::system("taskset -c 0 true 2>/dev/null") == 0) {
    EXPECT_TRUE(contains(tarn("doctor", "taskset -c 0 ").text, " 1 thread; instruction set "));
  }
  EXPECT_TRUE(contains(doctor.text, "CUDA"));
  EXPECT_TRUE(contains(doctor.text, "HDF5: "));
  EXPECT_EQ(contains(doctor.text, "CUDA: built with"), contains(doctor.text, "dense solves: "));
}

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

/// The variable that tests use to run as on another processor.
TEST_F(Commands, AVariableSelectsTheInstructionSet) {
  const std::string run = "run " + small_deck() + " --quiet --set run.steps=1 --out ";
  ASSERT_EQ(tarn(run + path("a"), "TARN_CPU_KERNELS=portable ").exit_code, 0);
  EXPECT_TRUE(contains(contents(folder_ / "a/run.json"), "\"CPU, portable, "));
  const Outcome unknown = tarn(run + path("b"), "TARN_CPU_KERNELS=sse ");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.text, "has no instruction set \"sse\"; unset it, or use portable"))
      << unknown.text;
}

TEST_F(Commands, CheckPrintsTheCompleteDeckOrEveryProblem) {
  const Outcome good = tarn("check " + small_deck());
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_TRUE(contains(good.text, "remove_momentum = false"));
  const Outcome before = tarn("check --set system.seed=7 --set run.steps=8 " + small_deck());
  EXPECT_EQ(before.exit_code, 0) << before.text;
  EXPECT_TRUE(contains(before.text, "seed = 7") && contains(before.text, "steps = 8"));
  const Outcome bad = tarn("check " + write("bad.toml", "[system]\nmolecules = 0\n[rnu]\n"));
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(contains(bad.text, "bad.toml:2:13: "));
  EXPECT_TRUE(contains(bad.text, "did you mean [run]"));
  EXPECT_EQ(tarn("check " + path("none.toml")).exit_code, 4);
}

/// The scheme, the time step and the thermostat, and which of them the deck does not contain.
TEST_F(Commands, CheckPrintsTheSchemeAndWhetherItIsADefault) {
  const std::string bath = "[thermostat]\ntemperature_K = 100\nfriction_per_ps = 5\n";
  const std::string deck = write("d.toml", "[system]\nmolecules = 2\n[run]\nsteps = 2\n" + bath);
  const auto text = [&](const std::string& options) {
    return tarn("check " + deck + options).text;
  };
  EXPECT_TRUE(contains(text(""),
                       "settle (the default of rigid models), time step 2 fs (the default); "
                       "thermostat baoab (the default)\n"))
      << text("");
  EXPECT_TRUE(
      contains(text(" --set system.model=qtip4pf --unset thermostat"),
               "verlet (the default of flexible models), time step 0.5 fs (the default); no "
               "thermostat\n"));
  EXPECT_TRUE(contains(text(" --set integrator.scheme=zss-stiff --set integrator.timestep_fs=2 "
                            "--set thermostat.kind=gla"),
                       "\nzss-stiff, time step 2 fs; thermostat gla\n"));
  // Standard output is a deck.
  const std::string resolved = standard_output("check " + deck).text;
  EXPECT_EQ(standard_output("check " + write("r.toml", resolved)).text, resolved);
  EXPECT_TRUE(contains(resolved, "scheme = \"settle\"") && contains(resolved, "kind = \"baoab\""));
}

/// check ends with what the run will do.
TEST_F(Commands, CheckEndsWithThePlanOfTheRun) {
  const std::string deck = small_deck();
  const std::string text = tarn("check " + deck).text;
  const std::string plan = text.substr(text.find("every_minutes"));
  EXPECT_TRUE(contains(plan, "\n7 tip3p x 3 replicas, at 10 K\n")) << plan;
  EXPECT_TRUE(contains(plan, "\n400 steps of 2 fs = 800 fs\n")) << plan;
  EXPECT_TRUE(contains(plan, "\nfiles in out/small: run.json, checkpoint.bin, energies.csv,"));
  EXPECT_TRUE(contains(plan, "averages.csv")) << plan;
  // Any time on a loaded machine.
  const auto has_time = [](const std::string& said) {
    return std::regex_search(
        said, std::regex("\ntime: (less than a second|about [0-9.]+ (s|min|h|days)) on this "
                         "machine with [0-9]+ thread"));
  };
  EXPECT_TRUE(has_time(plan)) << plan;
  const std::string years =
      tarn("check " + deck +
           " --set run.duration_ps=2e8 --set run.equilibration_ps=500 --set "
           "thermostat.temperatures_K=[100,200,150] --set run.threads=1 --unset observe")
          .text;
  EXPECT_TRUE(contains(years, "x 3 replicas, at 3 temperatures from 100 to 200 K\n")) << years;
  EXPECT_TRUE(contains(years,
                       "100 000 000 000 steps of 2 fs = 200 µs, of which 500 ps are not "
                       "averaged\n"));
  EXPECT_TRUE(contains(years, "files in out/small: run.json, checkpoint.bin\n"));
  EXPECT_TRUE(has_time(years) && contains(years, " on this machine with 1 thread\n")) << years;
  // GPUs: from measured rates, also on machines without one. 1e5 clusters of seven take 200 000
  // steps of 1.9e9 per second in mixed precision, and 7 x 8 bytes x 9 x 8 lanes each.
  const std::string gpu =
      tarn("check " + deck +
           " --device cuda --set system.replicas=100000 --set run.steps=200000 "
           "--set run.precision=mixed --set thermostat.kind=baoab --unset observe")
          .text;
  EXPECT_TRUE(contains(gpu,
                       "\ntime: about 11 s for the steps on one NVIDIA H200, up to 6 times as "
                       "long with observers\nmemory of GPUs: 403.2 MB for all replicas\n"))
      << gpu;
  // A step of a large cluster takes longer than the measurement.
  const std::string large =
      tarn("check " + deck +
           " --unset system.file --unset observe --set system.molecules=20000 "
           "--set run.threads=1")
          .text;
  EXPECT_TRUE(contains(large, "20000 tip3p x 3 replicas")) << large;
  EXPECT_TRUE(has_time(large)) << large;
  const std::string rings =
      tarn("check " + deck +
           " --unset system.file --set system.molecules=2 --set "
           "system.model=qtip4pf --unset integrator.scheme --set path_integral.beads=64 --unset "
           "observe --set thermostat.temperature_K=300 --set thermostat.kind=baoab")
          .text;
  EXPECT_TRUE(contains(rings, "\n2 qtip4pf x 3 replicas of 64 beads, at 300 K\n")) << rings;
  EXPECT_TRUE(has_time(rings)) << rings;
  const std::string pendulum =
      tarn("check " + (kSource / "inputs/double-pendulum.toml").string()).text;
  EXPECT_TRUE(contains(pendulum, "\ndouble-pendulum with zs\n500 steps of 0.1 = 50\nfiles in "))
      << pendulum;
  // Nothing is written.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

/// "--set key value" instead of "--set key=value".
TEST_F(Commands, ChangesSplitAtABlankAreExplained) {
  const std::string deck = small_deck();
  for (const std::string command : {"check ", "run ", "compare "}) {
    for (const std::string& words : {deck + " --set run.steps 5", "--set run.steps 5 " + deck,
                                     deck + " --set run.steps =5", deck + " --set run.steps= 5"}) {
      const Outcome outcome = tarn(command + words);
      EXPECT_EQ(outcome.exit_code, 2) << words;
      EXPECT_TRUE(contains(outcome.text, "write key=value without blanks, as in --set run.steps="))
          << outcome.text;
    }
  }
  const Outcome without_deck = tarn("check --set run.steps 5");
  EXPECT_EQ(without_deck.exit_code, 2);
  EXPECT_TRUE(contains(without_deck.text, "as in --set run.steps=5")) << without_deck.text;
}

TEST_F(Commands, CheckAndRunReportTheSameOfAStart) {
  write("long.xyz", "3\n\nO 0 0 0\nH 1.4 0 0\nH 0 1.4 0\n");
  const std::string deck = write("d.toml", "[system]\nfile = \"long.xyz\"\n[run]\nsteps = 2\n");
  for (const std::string scheme : {"settle", "zss-stiff"}) {
    const std::string words = deck + " --set integrator.scheme=" + scheme;
    const Outcome check = tarn("check " + words),
                  run = tarn("run " + words + " --out " + path("o"));
    EXPECT_EQ(check.exit_code, 2);
    EXPECT_TRUE(contains(check.text, "molecule 0 has O-H1 = 1.4 A"));
    EXPECT_EQ(run.text, check.text);
    EXPECT_FALSE(fs::exists(path("o")));
  }
}

TEST_F(Commands, UnsetKeysAreNotInTheDeck) {
  const std::string deck = small_deck();
  const std::string change =
      " --unset observe --unset thermostat.friction_per_ps --set "
      "thermostat.friction_amu_per_ps=0.2";
  const Outcome check = tarn("check" + change + " " + deck);
  EXPECT_EQ(check.exit_code, 0) << check.text;
  EXPECT_TRUE(contains(check.text, "friction_amu_per_ps = 0.2")) << check.text;
  EXPECT_FALSE(contains(check.text, "friction_per_ps") || contains(check.text, "\n[observe"));
  ASSERT_EQ(tarn("run " + deck + change + " --out " + path("out")).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "out/energies.csv"));
  EXPECT_FALSE(contains(contents(folder_ / "out/run.json"), "observe."));
  EXPECT_EQ(tarn("run " + deck + " --resume --out " + path("out")).exit_code, 2);
  EXPECT_EQ(tarn("run " + deck + change + " --resume --out " + path("out")).exit_code, 0);
  const Outcome compare =
      tarn("compare " + deck + change + " --schemes settle --out " + path("compared"));
  EXPECT_EQ(compare.exit_code, 0) << compare.text;
  const Outcome absent = tarn("check " + deck + " --unset confinement --unset thermostat.knd");
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_TRUE(contains(absent.text, "--unset confinement: the deck has no such section or key"));
  EXPECT_TRUE(contains(absent.text, "(did you mean thermostat.kind?)")) << absent.text;
}

TEST_F(Commands, KeysThatSetLeavesWithoutUseComeWithTheirUnset) {
  const std::string deck =
      write("d.toml",
            "[system]\nmolecules = 2\n[integrator]\nscheme = \"zss-stiff\"\nbeta = 0.42\nomega = "
            "100\n[run]\nsteps = 1\n");
  const std::string words = "check " + deck + " --set integrator.scheme=settle";
  const Outcome refused = tarn(words);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.text, "(--unset integrator.beta removes it from the deck)"));
  EXPECT_TRUE(contains(refused.text, "(--unset integrator.omega removes it from the deck)"));
  EXPECT_EQ(tarn(words + " --unset integrator.beta --unset integrator.omega").exit_code, 0);
  // Not for what the command line adds itself, nor where it changes nothing.
  const Outcome own = tarn(words + " --unset integrator --set integrator.beta=0.42");
  EXPECT_EQ(own.exit_code, 2);
  EXPECT_FALSE(contains(own.text, "removes it from the deck")) << own.text;
  const std::string wrong =
      write("e.toml",
            "[system]\nmolecules = 2\n[integrator]\nscheme = \"settle\"\nbeta = 0.42\n[run]\nsteps "
            "= 1\n");
  EXPECT_FALSE(contains(tarn("check " + wrong).text, "removes it from the deck"));
}

TEST_F(Commands, MechanicalSystemsRunAndReportFailures) {
  const std::string deck = (kSource / "inputs/double-pendulum.toml").string();
  const Outcome check = tarn("check " + deck);
  EXPECT_EQ(check.exit_code, 0);
  EXPECT_TRUE(contains(check.text, "window = 0.2")) << check.text;
  EXPECT_EQ(tarn("run " + deck + " --set run.steps=20 --out " + path("short")).exit_code, 0);
  EXPECT_EQ(tarn("run " + deck + " --set run.steps=20 --out " + path("short")).exit_code, 2);
  EXPECT_EQ(tarn("run " + deck + " --set run.steps=40 --resume --out " + path("short")).exit_code,
            0);
  const Outcome blown = tarn("run " + deck + " --set integrator.omega=40 --out " + path("blown"));
  EXPECT_EQ(blown.exit_code, 3);
  EXPECT_TRUE(contains(blown.text, "failed at step 8")) << blown.text;
  EXPECT_EQ(tarn("check " + deck + " --set integrator.scheme=shake").exit_code, 2);
  EXPECT_EQ(tarn("run " + deck + " --device cuda --out " + path("gpu")).exit_code, 5);
  EXPECT_EQ(tarn("compare " + deck + " --schemes settle --out " + path("compared")).exit_code, 2);
}

TEST_F(Commands, EnergyOfTheReferenceStructure) {
  const Outcome energy = tarn("energy " + (kSource / "inputs/structures/tip3p-7.xyz").string());
  EXPECT_EQ(energy.exit_code, 0);
  const std::string key = "\"potential_kcal_per_mol\": ";
  const std::size_t at = energy.text.find(key);
  ASSERT_NE(at, std::string::npos);
  // The reference is given to 1e-6.
  EXPECT_NEAR(std::atof(energy.text.c_str() + at + key.size()), -57.918723, 1e-6);
  EXPECT_EQ(tarn("energy " + path("none.xyz")).exit_code, 4);
  // What a run would refuse has an energy, and a remark.
  const Outcome stretched =
      tarn("energy " + write("long.xyz", "3\n\nO 0 0 0\nH 1.4 0 0\nH 0 1.4 0\n"));
  EXPECT_EQ(stretched.exit_code, 0);
  EXPECT_TRUE(contains(stretched.text, "molecule 0 has O-H1 = 1.4 A"));
  EXPECT_EQ(tarn("energy " + write("bad.xyz", "3\n\nO 0 0 0\nH 1 0 x\nH 0 1 0\n")).exit_code, 2);
}

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

TEST_F(Commands, LostOutputIsAFailure) {
  const std::string structure = (kSource / "inputs/structures/tip3p-7.xyz").string();
  const std::string deck = small_deck();
  const std::string run = "run " + deck + " --quiet --set run.steps=10 --out " + path("out");
  for (const std::string& words :
       {"energy " + structure, "check " + deck, std::string("check --reference"),
        std::string("doctor"), std::string("models"), std::string("--help"),
        std::string("--version"), "rdf " + structure, run + " --json",
        "compare " + deck + " --schemes settle --set run.steps=40 --quiet --out " + path("c")}) {
    const Outcome full = tarn(words + " 2>" + path("said") + " >/dev/full)", "(");
    EXPECT_EQ(full.exit_code, 4) << words;
    EXPECT_TRUE(contains(contents(path("said")), "cannot write standard output")) << words;
  }
  // A reader that goes away is none.
  fs::remove_all(folder_ / "out");
  const Outcome closed = tarn(run + " --json; echo $? >" + path("code") + ") | true", "(");
  EXPECT_EQ(closed.exit_code, 0);
  EXPECT_EQ(contents(path("code")), "0\n");
}

TEST_F(Commands, EnergyIsThePlainSumForEveryModel) {
  for (const tarn::test::PlainModel& model : tarn::test::plain_models()) {
    SCOPED_TRACE(model.name);
    for (const char* molecules : {"2", "9"}) {
      ASSERT_EQ(tarn(std::string("cluster --quiet --molecules ") + molecules + " --model " +
                     model.name + " -o " + path("c.xyz"))
                    .exit_code,
                0);
      const std::vector<double> x = tarn::io::read_structure(path("c.xyz")).positions_A;
      const tarn::test::PlainEnergy expected = tarn::test::plain_energy(model, x);
      const Outcome energy = tarn("energy " + path("c.xyz"));
      ASSERT_EQ(energy.exit_code, 0) << energy.text;
      const auto expect_near = [&](const char* key, long double value) {
        const std::vector<double> numbers = numbers_after(energy.text, key);
        ASSERT_EQ(numbers.size(), 1u) << key;
        // Roundings of all pairs in the worst case, as of larger clusters (single_points_test).
        EXPECT_NEAR(numbers[0], static_cast<double>(value), 1e-9) << key;
      };
      expect_near("coulomb_kcal_per_mol", expected.coulomb);
      expect_near("lj_kcal_per_mol", expected.lj);
      expect_near("potential_kcal_per_mol", expected.total());
      const std::vector<double> forces = numbers_after(energy.text, "forces_kcal_per_mol_A");
      ASSERT_EQ(forces.size(), x.size());
      for (std::size_t k = 0; k < x.size(); ++k) {
        EXPECT_NEAR(forces[k], static_cast<double>(expected.forces[k]), 1e-9) << k;
      }
    }
  }
}

/// Bonds that are not the model's are told of; --rigid gives the energy that a run begins with.
TEST_F(Commands, EnergyReportsDeviationsOfBonds) {
  const std::string exact = (kSource / "inputs/structures/tip3p-7.xyz").string();
  EXPECT_FALSE(contains(tarn("energy " + exact).text, "warning: "));
  // Two molecules with O-H 0.98 A along x and 0.97 A along y: H1-H2 is 1.3789 A, TIP3P's 1.5139.
  const std::string off = write("off.xyz",
                                "6\n\nO 0 0 0\nH 0.98 0 0\nH 0 0.97 0\n"
                                "O 3 0 0\nH 3.98 0 0\nH 3 0.97 0\n");
  const Outcome as_it_is = tarn("energy " + off);
  EXPECT_EQ(as_it_is.exit_code, 0);
  EXPECT_TRUE(contains(as_it_is.text,
                       "deviate by up to 0.14 A from the geometry of tip3p. --rigid applies"));
  const Outcome rigid = tarn("energy --rigid " + off);
  EXPECT_EQ(rigid.exit_code, 0);
  EXPECT_TRUE(contains(rigid.text, "were put onto the rigid geometry of tip3p"));
  const Outcome modes = tarn("modes " + off);
  const std::vector<double> fitted = numbers_after(rigid.text, "potential_kcal_per_mol");
  const std::vector<double> of_modes = numbers_after(modes.text, "potential_kcal_per_mol");
  ASSERT_EQ(fitted.size(), 1u);
  ASSERT_EQ(of_modes.size(), 1u);
  // The same molecules, summed by two loops of some ten terms of up to 500 kcal/mol.
  EXPECT_NEAR(fitted[0], of_modes[0], 1e-10);
  EXPECT_GT(std::abs(fitted[0] - numbers_after(as_it_is.text, "potential_kcal_per_mol").at(0)),
            1e-3);
  const std::string long_bonds = write("long.xyz", "3\n\nO 0 0 0\nH 1.4 0 0\nH 0 1.4 0\n");
  EXPECT_EQ(tarn("energy --rigid " + long_bonds).exit_code, 2);
}

/// Commands that take one structure say which one it is, where nobody chose.
TEST_F(Commands, FramesAreSelectedOrReported) {
  const auto molecule = [](const char* keys, double length) {
    return fmt::format("3\n{}\nO 0 0 0\nH {} 0 0\nH -.24 .9266 0\n", keys, length);
  };
  const std::string file =
      write("two.xyz", molecule("model=spc", 0.95) + molecule("model=tip3p", 0.96));
  for (const std::string& words :
       {std::string("energy "), std::string("modes "), "minimise -o " + path("m.xyz") + " "}) {
    const Outcome first = tarn(words + file);
    EXPECT_EQ(first.exit_code, 0) << first.text;
    EXPECT_TRUE(contains(
        first.text, "two.xyz has 2 frames, and frame 0 was taken; choose another with --frame"));
    const Outcome second = tarn(words + file + " --frame 1 --replica 0");
    EXPECT_EQ(second.exit_code, 0) << second.text;
    EXPECT_FALSE(contains(second.text, "was taken"));
    EXPECT_TRUE(contains(second.text, "of tip3p"));
    EXPECT_EQ(tarn(words + file + " --frame 2").exit_code, 2);
    EXPECT_EQ(tarn(words + file + " --frame -1").exit_code, 2);
  }
  EXPECT_EQ(tarn("draw " + file + " --frame 1 -o " + path("one.svg")).exit_code, 0);
  EXPECT_EQ(tarn("draw " + file + " -o " + path("two.svg")).exit_code, 0);
  EXPECT_LT(read_text(path("one.svg")).size(), read_text(path("two.svg")).size());
  EXPECT_EQ(tarn("draw " + file + " --frame 7 -o " + path("none.svg")).exit_code, 2);

  const std::string deck = write("d.toml",
                                 "[system]\nfile = \"two.xyz\"\n[integrator]\nscheme = "
                                 "\"settle\"\n[run]\nsteps = 1\n");
  const std::string run = "run " + deck + " --overwrite --out " + path("out");
  EXPECT_TRUE(contains(tarn(run).text, "[system] frame selects another one"));
  const Outcome chosen = tarn(run + " --set system.frame=1");
  EXPECT_EQ(chosen.exit_code, 0);
  EXPECT_FALSE(contains(chosen.text, "was taken"));
  EXPECT_FALSE(contains(chosen.text, "was made for spc"));
  EXPECT_EQ(tarn(run + " --set system.frame=2").exit_code, 2);
  EXPECT_TRUE(contains(
      tarn("check " + deck + " --unset system.file --set system.molecules=1 --set system.frame=0")
          .text,
      "frame needs file, which [system] does not have"));
}

TEST_F(Commands, ReportsAnIgnoredBox) {
  const auto xyz = [](const std::string& keys) {
    return "3\n" + keys + "\nO 0 0 0\nH 0.9572 0 0\nH -.239987 .926627 0\n";
  };
  const auto gro = [](const std::string& box) {
    return "water\n 3\n    1SOL     OW    1   0.000   0.000   0.000\n"
           "    1SOL    HW1    2   0.096   0.000   0.000\n"
           "    1SOL    HW2    3  -0.024   0.093   0.000\n" +
           box + "\n";
  };
  const auto pdb = [](const std::string& box) {
    return box +
           "ATOM      1  O   HOH     1       0.000   0.000   0.000  1.00  0.00           O\n"
           "ATOM      2  H1  HOH     1       0.957   0.000   0.000  1.00  0.00           H\n"
           "ATOM      3  H2  HOH     1      -0.240   0.927   0.000  1.00  0.00           H\nEND\n";
  };
  const std::string lattice = "Lattice=\"20 0 0 0 20 0 0 0 20\"";
  const std::string angles = "  90.00  90.00  90.00 P 1           1\n";
  const std::vector<std::string> with{
      write("a.xyz", xyz(lattice + " pbc=\"T T T\"")), write("b.xyz", xyz(lattice)),
      write("a.gro", gro("   2.00000   2.00000   2.00000")),
      write("a.pdb", pdb("CRYST1   20.000   20.000   20.000" + angles))};
  const std::vector<std::string> without{
      write("c.xyz", xyz(lattice + " pbc=\"F F F\"")), write("d.xyz", xyz("water")),
      write("c.gro", gro("   0.00000   0.00000   0.00000")), write("c.pdb", pdb("")),
      write("d.pdb", pdb("CRYST1    1.000    1.000    1.000" + angles))};
  const auto times_told = [&](const std::string& words) {
    const Outcome outcome = tarn(words);
    EXPECT_EQ(outcome.exit_code, 0) << words << outcome.text;
    std::size_t times = 0;
    const std::string note = "has a periodic box, which is ignored";
    for (std::size_t at = outcome.text.find(note); at != std::string::npos;
         at = outcome.text.find(note, at + 1)) {
      ++times;
    }
    return times;
  };
  const std::string deck = write("d.toml",
                                 "[system]\nfile = \"d.xyz\"\n[integrator]\nscheme = "
                                 "\"settle\"\n[run]\nsteps = 1\n");
  for (const std::size_t told : {1u, 0u}) {
    for (const std::string& file : told == 1 ? with : without) {
      for (const std::string& words :
           {"energy " + file, "minimise " + file + " -o " + path("m.gro"),
            "convert " + file + " -o " + path("converted.gro"), "rdf " + file,
            "run " + deck + " --overwrite --out " + path("out") + " --set system.file=" + file}) {
        EXPECT_EQ(times_told(words), told) << words;
      }
      // What tarn writes has no box, whatever it read.
      for (const char* written : {"m.gro", "converted.gro"}) {
        EXPECT_EQ(times_told("energy " + path(written)), 0u) << file;
      }
    }
  }
}

TEST_F(Commands, ReportsAFourthSite) {
  const std::string file = write(
      "m.gro",
      "water\n    4\n    1SOL     OW    1   0.000   0.000   0.000\n"
      "    1SOL    HW1    2   0.096   0.000   0.000\n    1SOL    HW2    3  -0.024   0.093   0.000\n"
      "    1SOL     MW    4   0.010   0.010   0.000\n   0 0 0\n");
  const std::string told = "has a fourth site and does not name its model; it was read as tip3p";
  EXPECT_TRUE(contains(tarn("energy " + file).text, told));
  EXPECT_TRUE(contains(tarn("modes " + file).text, told));
  EXPECT_FALSE(contains(tarn("energy --model tip4p2005 " + file).text, told));
  EXPECT_FALSE(contains(tarn("energy --model tip3p " + file).text, told));
  const std::string deck =
      write("d.toml",
            "[system]\nfile = \"m.gro\"\n[integrator]\nscheme = \"settle\"\n[run]\nsteps = 1\n");
  const std::string run = "run " + deck + " --quiet --overwrite --out " + path("out");
  EXPECT_TRUE(contains(tarn(run).text, told));
  EXPECT_FALSE(contains(tarn(run + " --set system.model=tip4p").text, told));
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
  const Outcome ohh = tarn("energy " + path("ohh.pdb")), hoh = tarn("energy " + path("hoh.pdb"));
  ASSERT_EQ(ohh.exit_code, 0) << ohh.text;
  ASSERT_EQ(hoh.exit_code, 0) << hoh.text;
  const std::vector<double> standard = numbers_after(ohh.text, "forces_kcal_per_mol_A");
  const std::vector<double> forces = numbers_after(hoh.text, "forces_kcal_per_mol_A");
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

TEST_F(Commands, ClusterFindsTheDimer) {
  const Outcome cluster =
      tarn("cluster --molecules 2 --minimise --starts 4 -o " + path("dimer.xyz"));
  EXPECT_EQ(cluster.exit_code, 0);
  EXPECT_TRUE(contains(cluster.text, "-6.539941"));
  EXPECT_EQ(tarn("energy " + path("dimer.xyz")).exit_code, 0);
  EXPECT_EQ(tarn("cluster --molecules 0 -o " + path("none.xyz")).exit_code, 2);
}

/// The number after "potential_kcal_per_mol" in what `tarn energy` prints.
double energy_of(const std::string& structure) {
  const Outcome energy = tarn("energy " + structure);
  EXPECT_EQ(energy.exit_code, 0) << energy.text;
  const std::string key = "\"potential_kcal_per_mol\": ";
  const std::size_t at = energy.text.find(key);
  return at == std::string::npos ? 0.0 : std::atof(energy.text.c_str() + at + key.size());
}

TEST_F(Commands, ClusterKeepsSeveralMinima) {
  const std::string search = "cluster --molecules 5 --minimise --starts 3 --threads 2 -o ";
  const Outcome kept = tarn(search + path("k.xyz") + " --keep 3");
  ASSERT_EQ(kept.exit_code, 0) << kept.text;
  EXPECT_TRUE(contains(kept.text, "k.xyz, 3 minima"));
  const auto reader = tarn::io::open_frames(path("k.xyz"));
  double last = -1e300;
  int frames = 0;
  while (const auto frame = reader->next()) {
    const double energy = std::atof(frame->comment.at("potential_kcal_per_mol").c_str());
    EXPECT_GT(energy, last);
    last = energy;
    ++frames;
  }
  EXPECT_EQ(frames, 3);
  const Outcome once = tarn("cluster --molecules 5 --minimise --starts 1 -o " + path("one.xyz"));
  EXPECT_TRUE(contains(once.text, "found by 1 search\n"));
  EXPECT_FALSE(contains(once.text, "only"));
  EXPECT_EQ(tarn(search + path("k.pdb") + " --keep 3").exit_code, 2);
  // Of a model of one's own, whose deck has a name that is no word of a comment.
  const std::string own = path("my model.toml");
  std::filesystem::copy_file(std::string(TARN_SOURCE_DIR) + "/inputs/own-model.toml", own);
  ASSERT_EQ(
      tarn("cluster --molecules 2 --minimise --keep 2 --model '" + own + "' -o " + path("own.xyz"))
          .exit_code,
      0);
  const auto of_own = tarn::io::open_frames(path("own.xyz"));
  EXPECT_EQ(of_own->next()->comment.at("model"), "own");
  EXPECT_EQ(tarn("cluster --molecules 5 --keep 2 -o " + path("r.xyz")).exit_code, 2);
}

TEST_F(Commands, ClusterWritesByExtension) {
  for (const char* name : {"a.xyz", "a.gro", "a.pdb"}) {
    const Outcome cluster = tarn("cluster --molecules 4 --model spce -o " + path(name));
    EXPECT_EQ(cluster.exit_code, 0) << cluster.text;
  }
  EXPECT_TRUE(contains(contents(folder_ / "a.gro"), "    1SOL     OW    1"));
  EXPECT_TRUE(contains(contents(folder_ / "a.pdb"), "ATOM      1  O   HOH     1"));
  const double energy = energy_of(path("a.xyz"));
  EXPECT_NE(energy, 0.0);
  // GRO has 1e-8 A, PDB 1e-3 A; forces of a random cluster are below 1e3 kcal/mol/A.
  EXPECT_NEAR(energy_of(path("a.gro")), energy, 36 * 0.5e-8 * 1e3);
  EXPECT_NEAR(energy_of(path("a.pdb")), energy, 36 * 0.5e-3 * 1e3);
  for (const char* name : {"b.dcd", "b.mol2", "b"}) {
    const Outcome refused = tarn("cluster --molecules 1 -o " + path(name));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(contains(refused.text, ".xyz, .gro, .pdb")) << refused.text;
    EXPECT_FALSE(fs::exists(path(name)));
  }
}

TEST_F(Commands, MinimiseFollowsAStructureToItsMinimum) {
  const std::string seven = (kSource / "inputs/structures/tip3p-7.xyz").string();
  ASSERT_EQ(tarn("cluster --quiet --molecules 6 --model spce -o " + path("six.gro")).exit_code, 0);
  for (const char* name : {"a.xyz", "a.gro", "a.pdb"}) {
    const Outcome six = tarn("minimise " + path("six.gro") + " -o " + path(name));
    ASSERT_EQ(six.exit_code, 0) << six.text;
    EXPECT_TRUE(contains(six.text, "written: " + path(name))) << six.text;
    // Of the model that the file names, unless another is asked for; -o takes the place of a file.
    EXPECT_TRUE(contains(contents(path(name)), "model=spce")) << name;
    const Outcome again = tarn("minimise --quiet " + path("a.xyz") + " -o " + path("a.xyz"));
    EXPECT_TRUE(contains(again.text, " after 0 iterations")) << again.text;
    EXPECT_FALSE(contains(again.text, "written")) << again.text;
  }
  // The energies are those of tarn energy; the minimum is known to 1e-6.
  const Outcome reference = tarn("minimise " + seven + " -o " + path("seven.xyz"));
  EXPECT_NEAR(std::atof(reference.text.c_str() + reference.text.find("before, ") + 8), -57.918723,
              1e-6)
      << reference.text;
  EXPECT_NEAR(energy_of(path("seven.xyz")), -57.918723, tarn::test::kSixDecimals);
  // A geometry that is nearly the model's is made so, as for the start of a run.
  const Outcome other = tarn("minimise " + seven + " --model spce -o " + path("other.xyz"));
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_TRUE(contains(other.text, "were put onto the rigid geometry of spce")) << other.text;
}

TEST_F(Commands, MinimiseRejectsUnusableStarts) {
  const std::string one = write("one.xyz", "3\n\nO 0 0 0\nH 0.9572 0 0\nH -0.24 0.9266 0\n");
  const std::string far = write("far.xyz", "3\n\nO 0 0 0\nH 1.4 0 0\nH 0 1.4 0\n");
  const auto expect_refused = [&](const std::string& words, int exit_code, const std::string& why) {
    const Outcome refused = tarn("minimise " + words);
    EXPECT_EQ(refused.exit_code, exit_code) << words;
    EXPECT_TRUE(contains(refused.text, why)) << refused.text;
    EXPECT_FALSE(fs::exists(path("out.xyz")));
  };
  const std::string out = " -o " + path("out.xyz");
  expect_refused(far + out, 2, "molecule 0 has O-H1 = 1.4 A");
  expect_refused(one + " --model tip9p" + out, 2, "unknown water model 'tip9p'");
  expect_refused(one + " -o " + path("out.dcd"), 2, ".xyz, .gro, .pdb");
  expect_refused(one, 2, "--out is required");
  expect_refused(path("none.xyz") + out, 4, "cannot read");
  expect_refused(one + " -o " + path("none/out.xyz"), 4, "cannot write");
}

/// The energy and dipole of a molecule on both sides of a periodic box would be wrong.
TEST_F(Commands, BrokenMoleculesAreNotAnalysed) {
  const std::string other = "O 0 0 3\nH 0.9572 0 3\nH -0.24 0.9266 3\n";
  const std::string whole =
      "6\nstep=0 time_ps=0\nO 0 0 0\nH 0.9572 0 0\nH -0.24 0.9266 0\n" + other;
  const std::string broken =
      "6\nstep=1 time_ps=1\nO 0 0 0\nH -18.9 0 0\nH -0.24 0.9266 0\n" + other;
  const std::string xyz = write("broken.xyz", whole + broken);
  for (const std::string& words : {"analyse " + xyz + " -o " + path("analysed"), "rdf " + xyz,
                                   "draw " + xyz + " -o " + path("a.svg")}) {
    const Outcome refused = tarn(words);
    EXPECT_EQ(refused.exit_code, 2) << words;
    EXPECT_TRUE(contains(refused.text,
                         "broken.xyz:12:1: frame 1 (counted from 0): H1 of molecule 0 is "
                         "18.9 A from its oxygen"))
        << refused.text;
    EXPECT_TRUE(contains(refused.text, "gmx trjconv -pbc mol")) << refused.text;
  }
  // A frame that is left out may be what it likes.
  EXPECT_EQ(tarn("rdf " + xyz + " --most 1").exit_code, 0);
  const Outcome converted = tarn("convert " + xyz + " -o " + path("a.trr"));
  EXPECT_EQ(converted.exit_code, 0);
  EXPECT_TRUE(contains(converted.text, "H1 of molecule 0 is 18.9 A from its oxygen"))
      << converted.text;
  const Outcome binary = tarn("rdf " + path("a.trr"));
  EXPECT_EQ(binary.exit_code, 2);
  EXPECT_TRUE(contains(binary.text, "frame 1 (counted from 0): H1 of molecule 0")) << binary.text;
}

/// One rule for all commands that read a frame: file, frame and molecules are named, and the exit
/// code is 2. DCD has no lines.
TEST_F(Commands, CoincidentAtomsAreRefusedByAllCommands) {
  const std::string water = "O 0 0 0\nH 0.9572 0 0\nH -0.24 0.9266 0\n";
  const std::string whole =
      "6\nstep=0 time_ps=0\n" + water + "O 0 0 3\nH 0.9572 0 3\nH -0.24 0.9266 3\n";
  const std::string unset = "6\nstep=1 time_ps=1\n" + water + "O 0 0 0\nH 0 0 0\nH 0 0 0\n";
  const std::string xyz = write("unset.xyz", whole + unset);
  ASSERT_EQ(tarn("convert " + write("two.xyz", whole + whole) + " -o " + path("a.dcd")).exit_code,
            0);
  // The z coordinates of the last frame: 6 floats between marks of 4 bytes, at the end of the file.
  std::string bytes = tarn::test::read_text(path("a.dcd"));
  for (const std::size_t axis : {0, 1, 2}) {
    bytes.replace(bytes.size() - 32 * axis - 4 - 12, 12, std::string(12, '\0'));
  }
  const std::string dcd = write("unset.dcd", bytes);
  for (const std::string& file : {xyz, dcd}) {
    for (const std::string& words :
         {"analyse " + file + " -o " + path("analysed"), "rdf " + file,
          "draw " + file + " -o " + path("a.svg"), "convert " + file + " -o " + path("b.xyz"),
          "energy --frame 1 " + file, "minimise --frame 1 " + file + " -o " + path("c.xyz")}) {
      const Outcome refused = tarn(words);
      EXPECT_EQ(refused.exit_code, 2) << words << refused.text;
      EXPECT_TRUE(contains(refused.text, "frame 1 (counted from 0): ")) << words << refused.text;
      EXPECT_TRUE(contains(refused.text, "O of molecule 1 is 0 A from O of molecule 0"))
          << words << refused.text;
      EXPECT_TRUE(contains(refused.text, file)) << words << refused.text;
    }
  }
}

/// An empty file is bad input, in the same words for all formats and commands; so is a name that is
/// another format's.
TEST_F(Commands, EmptyFilesAreRefusedByAllCommands) {
  for (const char* extension : {".xyz", ".gro", ".pdb", ".dcd", ".xtc", ".trr", ".h5", ".gz", ""}) {
    const std::string file = write(std::string("empty") + extension, "");
    for (const std::string& words :
         {"analyse " + file + " -o " + path("analysed"), "rdf " + file, "energy " + file,
          "draw " + file + " -o " + path("a.svg"), "convert " + file + " -o " + path("b.xyz")}) {
      const Outcome refused = tarn(words);
      EXPECT_EQ(refused.exit_code, 2) << words;
      EXPECT_TRUE(contains(refused.text, file + ": the file is empty")) << words << refused.text;
    }
  }
}

/// A cluster of this size takes minutes; what was reached until the signal is kept.
TEST_F(Commands, MinimiseKeepsItsResultWhenInterrupted) {
  ASSERT_EQ(tarn("cluster --quiet --molecules 3000 -o " + path("start.xyz")).exit_code, 0);
  tarn::test::Program program({TARN_BINARY, "minimise", path("start.xyz"), "-o", path("out.xyz")},
                              path("log"), path("log"));
  while (program.runs() && program.cpu_seconds() < 2.0) ::usleep(10'000);
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << contents(path("log"));
  EXPECT_TRUE(contains(contents(path("log")), "interrupted before the minimum was reached"));
  EXPECT_LT(energy_of(path("out.xyz")), energy_of(path("start.xyz")));
}

/// Numbers of a list in JSON.
std::vector<double> numbers_of(const std::string& json, const std::string& key) {
  std::vector<double> numbers;
  const std::size_t at = json.find('"' + key + "\": [");
  if (at == std::string::npos) return numbers;
  std::istringstream list(json.substr(json.find('[', at) + 1));
  for (double number = 0.0; list >> number; list.ignore(1)) numbers.push_back(number);
  return numbers;
}

TEST_F(Commands, ModesMatchTheMinimum) {
  const std::string seven = (kSource / "inputs/structures/tip3p-7.xyz").string();
  // Rounded to 0.01 A the structure is not stationary, and this is told.
  ASSERT_EQ(
      tarn("cluster --quiet --molecules 7 --minimise --starts 96 -o " + path("a.pdb")).exit_code,
      0);
  const Outcome rounded = tarn("modes " + path("a.pdb"));
  EXPECT_EQ(rounded.exit_code, 0) << rounded.text;
  EXPECT_TRUE(contains(rounded.text, "\"stationary\": false")) << rounded.text;
  EXPECT_TRUE(contains(rounded.text,
                       "warning: the structure is not a minimum: the largest force or torque is "));
  EXPECT_TRUE(contains(rounded.text, "--minimise minimises it first"));
  const Outcome modes = tarn("modes " + path("a.pdb") + " --minimise --plot " + path("m.svg"));
  ASSERT_EQ(modes.exit_code, 0) << modes.text;
  EXPECT_FALSE(contains(modes.text, "warning: the structure")) << modes.text;
  EXPECT_TRUE(contains(modes.text, "\"stationary\": true")) << modes.text;
  EXPECT_TRUE(contains(modes.text, "\"imaginary\": 0")) << modes.text;
  EXPECT_TRUE(contains(modes.text, "\"omega\": null")) << modes.text;
  const std::vector<double> per_cm = numbers_of(modes.text, "wavenumbers_per_cm");
  ASSERT_EQ(per_cm.size(), 42u) << modes.text;
  EXPECT_EQ(std::count(per_cm.begin(), per_cm.end(), 0.0), 6);
  // The same minimum by another way: both are followed to 1e-8 kcal/mol/A, which is 1e-6 A in the
  // softest direction and 1e-5 of its wavenumber at most.
  const Outcome again = tarn("modes --minimise " + seven);
  const std::vector<double> per_cm_again = numbers_of(again.text, "wavenumbers_per_cm");
  ASSERT_EQ(per_cm_again.size(), 42u) << again.text;
  for (std::size_t k = 0; k < 42; ++k) EXPECT_NEAR(per_cm[k], per_cm_again[k], 1e-5 * per_cm[k]);
  // The table has the same numbers, and the picture stands beside it.
  tarn::io::CsvReader csv(path("m.csv"));
  EXPECT_TRUE(contains(csv.provenance(), "tip3p, 7 molecules, rigid; normal modes at -57.91872259"))
      << csv.provenance();
  std::vector<std::string_view> cells;
  for (std::size_t k = 0; k < 42; ++k) {
    ASSERT_TRUE(csv.next(cells));
    EXPECT_EQ(csv.number(cells[0]), static_cast<double>(k + 1));
    EXPECT_EQ(csv.number(cells[1]), per_cm[k]);
  }
  EXPECT_FALSE(csv.next(cells));
  EXPECT_TRUE(contains(contents(folder_ / "m.svg"), ">rotation<"));
  // With a penalty there are the bonds too, in axes of their own.
  const Outcome stiff = tarn("modes " + seven + " --omega 100 --minimise -o " + path("p.csv") +
                             " --plot " + path("q.svg"));
  EXPECT_EQ(stiff.exit_code, 0) << stiff.text;
  EXPECT_EQ(numbers_of(stiff.text, "wavenumbers_per_cm").size(), 63u) << stiff.text;
  EXPECT_TRUE(contains(contents(folder_ / "q.svg"), "bond vibration"));
  EXPECT_TRUE(contains(contents(folder_ / "p.csv"), "omega = 100;"));
  EXPECT_FALSE(fs::exists(path("q.csv")));
}

/// Lines of a section of a Molden file.
std::vector<std::string> molden_section(const std::string& text, const std::string& name) {
  std::vector<std::string> lines;
  const std::size_t at = text.find(name + "\n");
  if (at == std::string::npos) return lines;
  std::istringstream rest(text.substr(at + name.size() + 1));
  for (std::string line; std::getline(rest, line) && !line.starts_with('[');) {
    lines.push_back(line);
  }
  return lines;
}

TEST_F(Commands, ModesWriteDisplacements) {
  ASSERT_EQ(tarn("cluster --quiet --molecules 3 --model tip4p -o " + path("a.xyz")).exit_code, 0);
  // No minimum: some are imaginary, and stand there as negative.
  const Outcome modes = tarn("modes " + path("a.xyz") + " --molden " + path("a.molden"));
  ASSERT_EQ(modes.exit_code, 0) << modes.text;
  EXPECT_TRUE(contains(modes.text, "written: " + path("a.molden"))) << modes.text;
  const std::string text = contents(folder_ / "a.molden");
  EXPECT_TRUE(contains(text, "[Title]\ntarn ")) << text;
  EXPECT_TRUE(contains(text, "; tip4p, 3 molecules, rigid; normal modes at ")) << text;
  const std::vector<double> per_cm = numbers_of(modes.text, "wavenumbers_per_cm");
  const std::vector<double> km_per_mol = numbers_of(modes.text, "ir_intensities_km_per_mol");
  const std::vector<std::string> frequencies = molden_section(text, "[FREQ]");
  const std::vector<std::string> intensities = molden_section(text, "[INT]");
  ASSERT_EQ(per_cm.size(), 18u);
  ASSERT_EQ(frequencies.size(), 18u);
  ASSERT_EQ(intensities.size(), 18u);
  EXPECT_LT(per_cm[0], 0.0);
  for (std::size_t k = 0; k < 18; ++k) {
    EXPECT_NEAR(std::stod(frequencies[k]), per_cm[k], tarn::test::kSixDecimals);
    EXPECT_NEAR(std::stod(intensities[k]), km_per_mol[k], tarn::test::kSixDecimals);
  }
  // Atoms only, and a line of each for each mode; the first shift of the whole is (1, 0,
  // 0)/sqrt(M).
  EXPECT_EQ(molden_section(text, "[FR-COORD]").size(), 9u);
  const std::vector<std::string> displacements = molden_section(text, "[FR-NORM-COORD]");
  ASSERT_EQ(displacements.size(), 18u * 10u);
  const std::size_t whole =
      10 * static_cast<std::size_t>(std::find(per_cm.begin(), per_cm.end(), 0.0) - per_cm.begin());
  EXPECT_EQ(displacements[whole], "vibration " + std::to_string(whole / 10 + 1));
  EXPECT_EQ(displacements[whole + 1], "    0.136024588    0.000000000    0.000000000");
  // With all other files, and into what is no file.
  const Outcome all = tarn("modes " + path("a.xyz") + " -o " + path("b.csv") + " --plot " +
                           path("b.svg") + " --molden " + path("b.molden"));
  EXPECT_EQ(all.exit_code, 0) << all.text;
  EXPECT_EQ(contents(folder_ / "b.molden"), text);
  EXPECT_EQ(tarn("modes " + path("a.xyz") + " --molden /dev/null").exit_code, 0);
}

/// Nothing is written over what is read, and each file has a name of its own.
TEST_F(Commands, FilesOfOneCommandAreApart) {
  const std::string a = path("a.xyz");
  ASSERT_EQ(tarn("cluster --quiet --molecules 2 -o " + a).exit_code, 0);
  fs::create_symlink("a.xyz", path("link.xyz"));
  const std::string before = contents(folder_ / "a.xyz");
  const auto expect_refused = [&](const std::string& words, const std::string& why) {
    const Outcome refused = tarn(words);
    EXPECT_EQ(refused.exit_code, 2) << words;
    EXPECT_TRUE(contains(refused.text, why)) << refused.text;
  };
  expect_refused("modes " + a + " -o " + a, "is an input file and would be overwritten");
  expect_refused("modes " + a + " --molden " + a, "is an input file and would be overwritten");
  expect_refused("modes " + a + " --molden " + path("link.xyz"), "would be overwritten");
  expect_refused("modes " + path("link.xyz") + " --molden " + path("./a.xyz"),
                 "would be overwritten");
  expect_refused("rdf " + a + " -o " + a, "is an input file and would be overwritten");
  for (const std::string& words :
       {"modes " + a + " -o " + path("b.svg") + " --plot " + path("b.svg"),
        "modes " + a + " -o " + path("b.csv") + " --molden " + path("b.csv"),
        "modes " + a + " --plot " + path("b.svg") + " --molden " + path("b.csv"),
        "rdf " + a + " -o " + path("b.svg") + " --plot " + path("b.svg")}) {
    expect_refused(words, "would be written twice; give each output a different name");
  }
  EXPECT_EQ(contents(folder_ / "a.xyz"), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
}

/// Forces vanish at a saddle point too: searches go on from there, and say so.
TEST_F(Commands, MinimisingLeavesASaddlePoint) {
  const std::string saddle =
      std::string(TARN_SOURCE_DIR) + "/tests/data/structures/tip3p-5-saddle.xyz";
  const std::string note =
      "note: reached a saddle point, where the forces vanish too, and continued";
  EXPECT_TRUE(contains(tarn("modes " + saddle).text, "\"imaginary\": 1"));
  const Outcome down = tarn("minimise " + saddle + " -o " + path("down.xyz"));
  EXPECT_EQ(down.exit_code, 0) << down.text;
  EXPECT_TRUE(contains(down.text, note)) << down.text;
  EXPECT_TRUE(contains(tarn("modes " + path("down.xyz")).text, "\"imaginary\": 0"));
  // To 1e-8 kcal/mol/A forces alone lead off this one, which is off the true one by 1e-6.
  const Outcome modes = tarn("modes --minimise " + saddle);
  EXPECT_TRUE(contains(modes.text, "\"imaginary\": 0")) << modes.text;
}

/// Two molecules that hardly see each other are not followed to the end.
TEST_F(Commands, ModesReportWhereMinimisingStopped) {
  const std::string far = write("far.xyz",
                                "6\nmodel=tip3p\nO 0 0 0\nH 0.9572 0 0\nH -0.23999 0.92663 0\n"
                                "O 1000 0 0\nH 1000.9572 0 0\nH 999.76001 0.92663 0\n");
  const Outcome stopped = tarn("modes --minimise " + far);
  EXPECT_EQ(stopped.exit_code, 3) << stopped.text;
  EXPECT_TRUE(
      contains(stopped.text,
               "warning: not converged: a force or torque is still larger than 1e-08 kcal/mol/A"))
      << stopped.text;
  EXPECT_FALSE(contains(stopped.text, "saddle point")) << stopped.text;
  EXPECT_EQ(numbers_of(stopped.text, "wavenumbers_per_cm").size(), 12u) << stopped.text;
}

TEST_F(Commands, ModesOfOneMolecule) {
  ASSERT_EQ(tarn("cluster --quiet --molecules 1 --model opc -o " + path("one.xyz")).exit_code, 0);
  const Outcome rigid = tarn("modes " + path("one.xyz") + " --plot " + path("one.svg"));
  EXPECT_EQ(rigid.exit_code, 0) << rigid.text;
  EXPECT_EQ(numbers_of(rigid.text, "wavenumbers_per_cm"), std::vector<double>(6, 0.0));
  EXPECT_TRUE(contains(rigid.text, "a single rigid molecule has no vibrations")) << rigid.text;
  EXPECT_TRUE(contains(rigid.text, "\"model\": \"opc\"")) << rigid.text;
  EXPECT_TRUE(contains(rigid.text, "\"symmetry_order\": 4,")) << rigid.text;  // C2v
  EXPECT_TRUE(fs::exists(path("one.csv")));
  EXPECT_FALSE(fs::exists(path("one.svg")));
  const Outcome stiff = tarn("modes " + path("one.xyz") + " --omega 50 -o /dev/null");
  EXPECT_EQ(numbers_of(stiff.text, "wavenumbers_per_cm").size(), 9u) << stiff.text;
}

TEST_F(Commands, ModesRejectUnsupportedInput) {
  const std::string seven = (kSource / "inputs/structures/tip3p-7.xyz").string();
  const auto expect_refused = [&](const std::string& words, int exit_code, const std::string& why) {
    const Outcome refused = tarn("modes " + words);
    EXPECT_EQ(refused.exit_code, exit_code) << words;
    EXPECT_TRUE(contains(refused.text, why)) << refused.text;
    EXPECT_FALSE(contains(refused.text, "wavenumbers")) << refused.text;
  };
  for (const char* omega : {"0", "-1", "nan", "-inf", "1e5"}) {
    expect_refused(seven + " --omega " + omega, 2, "must be above 0 and at most 10000");
  }
  expect_refused(seven + " --omega x", 2, "--omega = x");
  expect_refused(seven + " --omega 5 --minimise", 3, "omega = 5 is too small");
  expect_refused(seven + " --model tip9p", 2, "unknown water model 'tip9p'");
  expect_refused(seven + " --plot a.pdf", 2, "give a name that ends with .svg or .png");
  expect_refused(seven + " -o " + path("none/a.csv"), 4, "cannot write");
  expect_refused(seven + " -o " + path("a.csv") + " --plot " + path("none/a.svg"), 4,
                 "cannot write");
  expect_refused(seven + " --molden " + path("none/a.molden"), 4, "cannot write");
  expect_refused(seven + " -o " + path(""), 4, "Is a directory");
  expect_refused(path("none.xyz"), 4, "cannot read");
  expect_refused((kSource / "inputs/structures/tip3p-1000.xyz").string(), 2,
                 "1000 molecules: normal modes are limited to 500 rigid molecules");
  const std::string far = write("far.xyz", "3\n\nO 0 0 0\nH 1.4 0 0\nH 0 1.4 0\n");
  for (const char* how : {"", " --omega 100"}) {
    expect_refused(far + how, 2, "molecule 0 has O-H1 = 1.4 A");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(Commands, ARunStartsFromEveryStructureFormat) {
  for (const char* name : {"start.gro", "start.pdb"}) {
    ASSERT_EQ(tarn("cluster --molecules 3 -o " + path(name)).exit_code, 0);
    const std::string deck =
        write("d.toml", "[system]\nfile = \"" + std::string(name) + "\"\n[run]\nsteps = 2\n");
    const Outcome run = tarn("run " + deck + " --overwrite --out " + path("out"));
    EXPECT_EQ(run.exit_code, 0) << run.text;
  }
  write("start.pdb", "ATOM      1  CA  ALA     1       0.000   0.000   0.000\n");
  const Outcome bad = tarn("check " + path("d.toml"));
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(contains(bad.text, "start.pdb:1:13: 'CA' of residue ALA 1 is not an atom of water"));
}

TEST_F(Commands, AnalyseWritesTablesOfStructures) {
  ASSERT_EQ(tarn("cluster --quiet --molecules 4 -o " + path("a.xyz")).exit_code, 0);
  ASSERT_EQ(tarn("cluster --quiet --molecules 4 --seed 2 -o " + path("b.xyz")).exit_code, 0);
  const Outcome both = tarn("analyse " + path("a.xyz") + " " + path("b.xyz") + " -o " + path("t"));
  EXPECT_EQ(both.exit_code, 0) << both.text;
  EXPECT_TRUE(contains(both.text, "4 molecules of tip3p, 2 frames of 2 replicas")) << both.text;
  EXPECT_TRUE(contains(both.text, "radius_of_gyration_A"));
  for (const char* table : {"potential.csv", "cluster.csv", "profile.csv", "averages.csv"}) {
    EXPECT_TRUE(fs::exists(path("t") + "/" + table)) << table;
  }
  EXPECT_EQ(tarn("analyse " + path("a.xyz")).exit_code, 2) << "without a folder";
  EXPECT_EQ(tarn("analyse " + path("no.xyz") + " -o " + path("t")).exit_code, 4);
  EXPECT_EQ(tarn("analyse --model tip9p " + path("a.xyz") + " -o " + path("t")).exit_code, 2);
}

TEST_F(Commands, RdfOfATrajectoryIsThatOfTheRun) {
  const std::string deck = small_deck();
  const std::string out = path("out");
  ASSERT_EQ(tarn("run " + deck + " --set observe.trajectory.every=10 --out " + out).exit_code, 0);
  const Outcome rdf = tarn("rdf " + out + "/trajectory-*.xyz --pairs OO,HH -o " +
                           path("again.csv") + " --plot " + path("again.svg"));
  ASSERT_EQ(rdf.exit_code, 0) << rdf.text;
  EXPECT_TRUE(contains(rdf.text, "7 molecules, 123 frames of 3 replicas"));
  const auto columns_of = [](const std::string& csv, const std::vector<std::size_t>& wanted) {
    std::istringstream lines(csv);
    std::string line, text;
    std::getline(lines, line);  // provenance
    while (std::getline(lines, line)) {
      std::istringstream row(line);
      std::vector<std::string> cells;
      for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
      for (const std::size_t c : wanted) text += cells.at(c) + ' ';
    }
    return text;
  };
  // Bins, counts and g; error bars are of blocks of frames, which the two divide differently.
  const std::string own = columns_of(contents(folder_ / "out/rdf.csv"), {0, 1, 2, 7, 8});
  EXPECT_EQ(columns_of(contents(folder_ / "again.csv"), {0, 1, 2, 4, 5}), own);
  EXPECT_TRUE(contains(own, "OO_count"));
  EXPECT_TRUE(fs::exists(path("again.svg")));
  // Without -o the table goes to standard output.
  const Outcome printed = tarn("rdf " + out + "/trajectory-*.xyz --pairs OO,HH");
  EXPECT_TRUE(contains(printed.text, contents(folder_ / "again.csv")));
  EXPECT_EQ(tarn("rdf " + path("none.xyz")).exit_code, 4);
  EXPECT_EQ(tarn("rdf " + deck).exit_code, 2);
  EXPECT_EQ(tarn("rdf " + out + "/trajectory-0000.xyz --pairs OX").exit_code, 2);
  EXPECT_EQ(tarn("rdf " + out + "/trajectory-0000.xyz --plot a.pdf").exit_code, 2);
}

TEST_F(Commands, RdfPoolsMatchingFilesOnly) {
  const auto xyz = [&](const std::string& name, const std::string& keys) {
    return write(name, "6\n" + keys +
                           "\nO 0 0 0\nH .96 0 0\nH -.24 .93 0\nO 3 0 0\nH 3.96 0 0\nH 2.76 .93 "
                           "0\n");
  };
  const std::string a = xyz("a.xyz", "model=tip3p"), b = xyz("b.xyz", "model=spce"),
                    c = xyz("c.xyz", ""), d = xyz("d.xyz", "model=tip3p");
  const auto refused = [&](const std::string& files, const std::string& why) {
    const Outcome outcome = tarn("rdf " + files);
    EXPECT_EQ(outcome.exit_code, 2) << files;
    EXPECT_TRUE(contains(outcome.text, why)) << outcome.text;
  };
  refused(a + " " + b, "this frame has the water model spce, earlier ones tip3p");
  refused(c + " " + a + " " + b, "this frame has the water model spce, earlier ones tip3p");
  refused(a + " " + d + " " + a, "the file is given twice");
  refused(a + " " + path(".") + "/a.xyz", "the file is given twice, first as");
  EXPECT_TRUE(
      contains(tarn("rdf " + c + " " + a + " " + d).text, "tip3p, 2 molecules, 3 replicas"));
  EXPECT_TRUE(contains(tarn("rdf " + c).text, "water, 2 molecules, 1 replica"));
}

/// Frames of several replicas in one file, in turns and by names: every command tells them apart.
TEST_F(Commands, DistinguishesReplicasOfAFile) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    text += fmt::format(
        "6\nmodel=tip3p replica={0}\nO 0 0 0\nH .96 0 0\nH -.24 .93 0\nO {1} 0 0\nH {1} .96 0\n"
        "H {1} -.24 .93\n",
        i % 2 == 0 ? "solute" : "solvent", 3.0 + 0.1 * i);
  }
  const std::string file = write("turns.xyz", text);
  for (const std::string& command :
       {"rdf " + file + " -o " + path("r.csv"), "analyse " + file + " -o " + path("tables"),
        "convert " + file + " -o " + path("c.gro")}) {
    const Outcome all = tarn(command);
    EXPECT_TRUE(contains(all.text, "10 frames of 2 replicas")) << command << all.text;
    EXPECT_TRUE(contains(all.text, "solute is 0, solvent is 1")) << command << all.text;
    EXPECT_TRUE(contains(tarn(command + " --skip 2").text, "6 frames of 2 replicas")) << command;
    const Outcome one = tarn(command + " --replicas 1 --most 3");
    EXPECT_TRUE(contains(one.text, "3 frames of 1 replica")) << command << one.text;
  }
  EXPECT_TRUE(contains(tarn("energy " + file).text,
                       "has 2 replicas, and frame 0 (of 5) of the first one was taken"));
  const Outcome last = tarn("energy " + file + " --replica 1 --frame 4");
  EXPECT_EQ(last.exit_code, 0) << last.text;
  EXPECT_TRUE(contains(last.text, "solvent is 1")) << last.text;
  EXPECT_EQ(tarn("energy " + file + " --replica 1 --frame 5").exit_code, 2);
  EXPECT_EQ(tarn("draw " + file + " --replica 1 --frame 4 -o " + path("d.svg")).exit_code, 0);
}

/// A model that is a guess is told as one; a DCD file of ours names it in its title.
TEST_F(Commands, ReportsGuessedModels) {
  const std::string xyz = path("named.xyz"), dcd = path("ours.dcd"), bare = path("bare.xyz");
  ASSERT_EQ(tarn("cluster --molecules 3 --model tip4p2005 -o " + xyz).exit_code, 0);
  ASSERT_EQ(tarn("convert " + xyz + " -o " + dcd).exit_code, 0);
  const std::string note = "names no water model, so tip3p is used";
  EXPECT_FALSE(contains(tarn("energy " + xyz).text, note));
  const Outcome of_dcd = tarn("energy " + dcd);
  EXPECT_FALSE(contains(of_dcd.text, note)) << of_dcd.text;
  EXPECT_TRUE(contains(of_dcd.text, "\"model\": \"tip4p2005\"")) << of_dcd.text;
  std::string text = contents(xyz);
  text.replace(text.find("model=tip4p2005"), 15, "nothing=0");
  std::ofstream(bare) << text;
  EXPECT_TRUE(contains(tarn("energy " + bare).text, note));
  EXPECT_FALSE(contains(tarn("energy --model tip4p2005 " + bare).text, note));
  EXPECT_TRUE(contains(tarn("analyse " + bare + " -o " + path("shape")).text,
                       "the frames name no water model, so tip3p is used"));
}

TEST_F(Commands, TrajectoriesAreConverted) {
  const std::string deck = small_deck();
  ASSERT_EQ(tarn("run " + deck + " --quiet --out " + path("run")).exit_code, 0);
  const std::string first = path("run") + "/trajectory-0000.xyz";
  const Outcome there = tarn("convert " + first + " -o " + path("a.gro"));
  ASSERT_EQ(there.exit_code, 0) << there.text;
  EXPECT_TRUE(contains(there.text, "7 molecules, 5 frames of 1 replica\nwritten: "));
  ASSERT_EQ(tarn("convert --quiet " + first + " -o " + path("a.xyz")).exit_code, 0);
  EXPECT_TRUE(contents(path("a.xyz")) == contents(first));
  EXPECT_TRUE(contains(tarn("convert " + first + " -o " + first).text, "would be overwritten"));
  // A run whose files are replaced cannot be gone on with.
  const std::string before = contents(first);
  for (const std::string& command :
       {"convert " + path("a.gro"), "draw " + first, std::string("cluster --molecules 2"),
        "rdf " + path("a.gro")}) {
    const std::string name = command.starts_with("draw")  ? "/energies.svg"
                             : command.starts_with("rdf") ? "/energies.csv"
                                                          : "/trajectory-0000.xyz";
    if (!std::filesystem::exists(path("run") + name)) continue;  // without matplotlib
    const Outcome refused = tarn(command + " -o " + path("run") + name);
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_TRUE(contains(refused.text, "is a file of the run")) << refused.text;
  }
  EXPECT_EQ(contents(first), before);
  EXPECT_EQ(tarn("convert " + first + " -o " + path("a.txt")).exit_code, 2);
  EXPECT_EQ(tarn("convert " + first + " --every 0 -o " + path("b.xyz")).exit_code, 2);
  EXPECT_EQ(tarn("convert " + first + " --model nope -o " + path("b.xyz")).exit_code, 2);
  EXPECT_EQ(tarn("convert " + path("none.xyz") + " -o " + path("b.xyz")).exit_code, 4);
  EXPECT_EQ(tarn("convert " + first + " -o " + path("no/b.xyz")).exit_code, 4);
  EXPECT_FALSE(fs::exists(path("b.xyz")));
}

/// A pipe gives what it holds once, and readers open a file again to see what it is.
TEST_F(Commands, PipesAreReadLikeFiles) {
  ASSERT_EQ(tarn("run " + small_deck() + " --quiet --out " + path("run")).exit_code, 0);
  const std::string trajectory = path("run") + "/trajectory-0000.xyz";
  std::vector<std::string> files{trajectory};
  for (const char* name : {"a.gro", "a.pdb", "a.dcd"}) {
    files.push_back(path(name));
    ASSERT_EQ(tarn("convert --quiet " + trajectory + " -o " + files.back()).exit_code, 0);
  }
  for (const std::string& file : files) {
    for (const std::string& words : {std::string("energy --model tip3p "), std::string("rdf "),
                                     "convert -o " + path("b.xyz") + " --model tip3p ",
                                     "minimise --quiet -o " + path("m.xyz") + " --model tip3p "}) {
      fs::remove(path("b.xyz"));
      const std::string written = words.starts_with("convert") ? path("b.xyz") : path("m.xyz");
      const Outcome of_file = tarn(words + file);
      const std::string expected = contents(written);
      ASSERT_EQ(of_file.exit_code, 0) << of_file.text;
      const Outcome of_pipe = tarn(words + "/dev/stdin", "cat " + file + " | ");
      EXPECT_EQ(of_pipe.exit_code, 0) << file << ": " << of_pipe.text;
      EXPECT_EQ(contents(written), expected) << words << file;
      if (words.starts_with("rdf")) {
        EXPECT_EQ(of_pipe.text, of_file.text) << file;
      }
    }
  }
  if (!tarn::io::has_h5md()) return;
  ASSERT_EQ(tarn("convert --quiet " + trajectory + " -o " + path("a.h5")).exit_code, 0);
  const Outcome h5md = tarn("rdf /dev/stdin", "cat " + path("a.h5") + " | ");
  EXPECT_EQ(h5md.exit_code, 2);
  EXPECT_TRUE(contains(h5md.text, "H5MD cannot be read from a pipe"));
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
  const std::string run = "run " + small_deck() + " --quiet --set system.replicas=1";
  for (const std::string& format : formats) {
    const std::string words = run + " --set observe.trajectory.format=" + format +
                              " --set observe.trajectory.velocities=true --out ";
    const std::string whole = path(format), pieces = path(format + "-pieces");
    ASSERT_EQ(tarn(words + whole).exit_code, 0);
    // As ever, a run in pieces leaves the same files.
    ASSERT_EQ(tarn(words + pieces + " --set run.steps=150").exit_code, 0);
    ASSERT_EQ(tarn(words + pieces + " --resume").exit_code, 0);
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
    for (const std::string& name : {std::string("a.xyz"), std::string("a.h5")}) {
      if (name == "a.h5" && !tarn::io::has_h5md()) continue;
      const std::string copy = path(name);
      ASSERT_EQ(tarn("convert --quiet " + file + " -o " + copy).exit_code, 0);
      EXPECT_LT(largest_difference(frame_at(copy, "400").velocities_A_per_akma,
                                   last.velocities_A_per_akma),
                1e-14)
          << format << name;
    }
    const Outcome lost = tarn("convert " + file + " -o " + path("a.dcd"));
    EXPECT_TRUE(contains(lost.text, "velocities are left out")) << lost.text;
  }
  for (const char* format : {"dcd", "xtc", "pdb"}) {
    const Outcome refused =
        tarn(run + " --out " + path("none") + " --set observe.trajectory.format=" + format +
             " --set observe.trajectory.velocities=true");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(contains(refused.text, "velocities is not used with [observe.trajectory] format"));
    EXPECT_TRUE(contains(refused.text, "it requires \"xyz\", \"h5md\", \"trr\", \"gro\""));
  }
}

TEST_F(Commands, TheBarFitsTheTerminal) {
  if (std::system("script -qec true /dev/null >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "script is missing, or has no terminal to give";
  }
  const std::string run =
      "'" TARN_BINARY "' run " + small_deck() + " --overwrite --out " + path("o");
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

TEST_F(Commands, ReportsTooManyReplicas) {
  const std::string run = "run " + small_deck() + " --overwrite --set run.steps=2 --out " +
                          path("out") + " --set observe.energies.replicas=";
  EXPECT_TRUE(contains(tarn(run + "9").text,
                       "[observe.energies] replicas = 9, but the run has 3; all of them"));
  EXPECT_FALSE(contains(tarn(run + "3").text, "all of them are written"));
}

// With TIP3P's 18.015 Da and 2 fs, ten steps are a swing at k = m (2 pi / 20 fs)^2, which is
// 18.015 (0.31416 x 48.888)^2 = 4250 kcal/mol/A^2.
TEST_F(Commands, ReportsAWallThatIsTooStiffForTheStep) {
  const auto run = [&](const std::string& stiffness) {
    return tarn("run " + small_deck() + " --overwrite --out " + path("out") +
                " --set integrator.timestep_fs=2 --set run.steps=40 --set "
                "confinement.radius_A=1 --set confinement.stiffness_kcal_per_mol_A2=" +
                stiffness);
  };
  const std::string note = "is too stiff for timestep_fs = 2: the period of a molecule in the wall";
  EXPECT_TRUE(contains(run("4300").text, note));
  EXPECT_TRUE(contains(tarn("check " + small_deck() +
                            " --set integrator.timestep_fs=2 --set confinement.radius_A=1 "
                            "--set confinement.stiffness_kcal_per_mol_A2=4300")
                           .text,
                       note));
  EXPECT_FALSE(contains(run("4200").text, "too stiff"));
  const Outcome lost = run("100000");
  EXPECT_EQ(lost.exit_code, 3) << lost.text;
  EXPECT_TRUE(contains(lost.text, "Likely cause: [confinement] stiffness")) << lost.text;
  EXPECT_TRUE(contains(lost.text, "Use 4200 or less")) << lost.text;
}

TEST_F(Commands, ReportsADeckWithoutObservables) {
  const std::string deck = write("n.toml", "[system]\nmolecules = 1\n[run]\nsteps = 1\n");
  const Outcome run = tarn("run " + deck + " --out " + path("out"));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.text, "no [observe.*] section")) << run.text;
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
    const Outcome plot = tarn("plot " + path("out") + " --format " + format);
    EXPECT_EQ(plot.exit_code, 0) << plot.text;
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
  const Outcome nothing = tarn("plot " + folder_.string());
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_TRUE(contains(nothing.text, "is not the folder of a run"));
  EXPECT_EQ(tarn("plot " + path("out") + " --format pdf").exit_code, 2);
}

/// Tables without a sample have no picture, and that is no failure.
TEST_F(Commands, RunsWithoutASampleReportIt) {
  const std::string words = small_deck() +
                            " --set run.steps=90 --set run.equilibration_ps=0.16"
                            " --set observe.rdf.every=100 --set observe.minima.every=100";
  const std::string said =
      "no samples of [observe.temperatures], [observe.geometry], [observe.cluster], "
      "[observe.rdf], [observe.minima] between the end of the equilibration (step 80) and the end "
      "of the run (step 90)";
  EXPECT_TRUE(contains(tarn("check " + words).text, said)) << tarn("check " + words).text;
  const Outcome run = tarn("run " + words + " --out " + path("out"), "TARN_PICTURES= ");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.text, said)) << run.text;
  EXPECT_TRUE(contains(run.text, "rdf.csv has no pairs and no picture")) << run.text;
  // 50 lags of 4 fs, and an origin each fourth of them.
  EXPECT_TRUE(contains(run.text,
                       "[observe.correlation] writes no rows: it needs 111 samples after "
                       "equilibration, and the run has 6. Set [run] duration_ps = 0.6 or more\n"))
      << run.text;
  EXPECT_TRUE(contains(run.text, "[observe.spectrum] writes no rows: it needs ")) << run.text;
  EXPECT_TRUE(fs::exists(path("out/energies.svg")));
  fs::remove(path("out/energies.svg"));
  const Outcome plot = tarn("plot " + path("out"));
  EXPECT_EQ(plot.exit_code, 0) << plot.text;
  EXPECT_TRUE(contains(plot.text, "isomers.csv has no rows and no picture")) << plot.text;
  EXPECT_TRUE(fs::exists(path("out/energies.svg")));
  EXPECT_FALSE(fs::exists(path("out/rdf.svg")));
}

TEST_F(Commands, ARunIsTheSameWithOtherThreadsAndInPieces) {
  const std::string deck = small_deck();
  const Outcome whole = tarn("run " + deck + " --quiet --threads 1 --out " + path("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.text;
  // Notes only: nothing is left out of averages, and cold molecules hardly turn.
  const std::size_t line = whole.text.find('\n') + 1;
  EXPECT_TRUE(whole.text.starts_with("warning: [observe.evaporation] starts at 0 ps, before"))
      << whole.text;
  EXPECT_TRUE(contains(whole.text.substr(0, line), "equilibration_ps = 1 or more")) << whole.text;
  EXPECT_TRUE(whole.text.substr(line).starts_with("warning: correlation: not decayed at 0.2 ps"))
      << whole.text;
  const std::size_t last = whole.text.find('\n', line) + 1;
  EXPECT_TRUE(whole.text.substr(last).starts_with("warning: too few independent samples of "))
      << whole.text;
  EXPECT_EQ(whole.text.find('\n', last), whole.text.size() - 1) << whole.text;
  const Outcome threads = tarn("run " + deck + " --threads 2 --out " + path("threads"));
  ASSERT_EQ(threads.exit_code, 0);
  EXPECT_TRUE(contains(threads.text, "energies potential_kcal_per_mol"));
  EXPECT_TRUE(contains(threads.text, "equilibration_ps"));
  expect_same_files(folder_ / "whole", folder_ / "threads");
  for (const char* steps : {"60", "210", "400"}) {
    // Threads too may change on the way.
    const bool begun = fs::exists(folder_ / "pieces");
    const Outcome piece =
        tarn("run " + deck + (begun ? " --resume" : "") + " --threads " + (begun ? "2" : "1") +
             " --set run.steps=" + steps + " --out " + path("pieces"));
    ASSERT_EQ(piece.exit_code, 0) << piece.text;
    EXPECT_FALSE(contains(piece.text, "bitwise")) << piece.text;
    EXPECT_EQ(contains(piece.text, "resuming from the checkpoint of step "), begun) << piece.text;
  }
  expect_same_files(folder_ / "whole", folder_ / "pieces");
}

/// Replica exchange: the same in pieces and with other threads, and told at the end.
TEST_F(Commands, ReplicasChangePlaces) {
  const std::string deck = write("ladder.toml", R"([system]
molecules = 2
replicas = 8
[integrator]
scheme = "settle"
[thermostat]
kind = "baoab"
temperatures_K = [60.0, 70.0, 80.0, 95.0]
friction_per_ps = 5.0
[confinement]
radius_A = 5.0
stiffness_kcal_per_mol_A2 = 10.0
[exchange]
every = 20
[run]
steps = 4000
[observe.energies]
every = 20
[observe.final]
)");
  const Outcome whole = tarn("run " + deck + " --threads 1 --out " + path("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.text;
  EXPECT_TRUE(contains(whole.text, "exchange: ")) << whole.text;
  EXPECT_TRUE(contains(whole.text, "round trips between")) << whole.text;
  EXPECT_TRUE(contains(whole.text, "acceptance_with_next_bath")) << whole.text;
  ASSERT_TRUE(fs::exists(folder_ / "whole" / "exchange.csv"));
  for (const char* steps : {"1010", "2000", "4000"}) {
    const bool begun = fs::exists(folder_ / "pieces");
    const Outcome piece = tarn("run " + deck + (begun ? " --resume --threads 2" : "") +
                               " --set run.steps=" + steps + " --out " + path("pieces"));
    ASSERT_EQ(piece.exit_code, 0) << piece.text;
  }
  expect_same_files(folder_ / "whole", folder_ / "pieces");
  const Outcome other =
      tarn("run " + deck + " --resume --set exchange.every=10 --out " + path("whole"));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(contains(other.text, "[exchange]")) << other.text;
  const Outcome rare =
      tarn("run " + deck + " --set thermostat.temperatures_K=[20.0,400.0] --out " + path("rare"));
  EXPECT_TRUE(contains(rare.text, "20 K and 400 K exchange in only 0")) << rare.text;
  EXPECT_TRUE(contains(rare.text, "% of the attempts; add "));
  const Outcome never =
      tarn("run " + deck + " --set thermostat.temperatures_K=[1.0,400.0] --out " + path("never"));
  EXPECT_TRUE(
      contains(never.text, "1 K and 400 K never exchange; use the temperatures that tarn check"))
      << never.text;
  const Outcome compared =
      tarn("compare " + deck + " --schemes settle,shake --out " + path("compared"));
  EXPECT_EQ(compared.exit_code, 2);
  EXPECT_TRUE(contains(compared.text, "--unset exchange")) << compared.text;
}

/// Equilibrate, then measure.
TEST_F(Commands, ARunStartsWhereAnotherOneEnded) {
  const std::string first = small_deck();
  ASSERT_EQ(tarn("run " + first + " --quiet --out " + path("first")).exit_code, 0);
  const std::string text = R"([system]
state = "first"
replicas = 3
seed = 2
[integrator]
scheme = "zss-stiff"
[thermostat]
kind = "baoab"
temperature_K = 10.0
friction_per_ps = 5.0
[run]
steps = 200
[observe.energies]
every = 20
[observe.final]
)";
  const std::string deck = write("second.toml", text);
  ASSERT_EQ(tarn("check " + deck).exit_code, 0);
  const Outcome whole = tarn("run " + deck + " --quiet --out " + path("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.text;
  // Such a short run has too few samples for errors.
  EXPECT_TRUE(whole.text.starts_with("warning: too few independent samples")) << whole.text;
  EXPECT_EQ(std::ranges::count(whole.text, '\n'), 1) << whole.text;
  const std::string pieces = "run " + deck + " --quiet --out " + path("pieces");
  ASSERT_EQ(tarn(pieces + " --set run.steps=70").exit_code, 0);
  ASSERT_EQ(tarn(pieces + " --resume").exit_code, 0);
  expect_same_files(folder_ / "whole", folder_ / "pieces");
  // Another state is another run; the program says so before it touches anything.
  fs::copy(folder_ / "first", folder_ / "copy");
  const Outcome other = tarn(pieces + " --resume --set run.steps=300 --set system.state=copy");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(contains(other.text, "was 'state = \"first\"', is 'state = \"copy\"'")) << other.text;
  const Outcome own = tarn("run " + deck + " --overwrite --out " + path("first"));
  EXPECT_EQ(own.exit_code, 2);
  EXPECT_TRUE(contains(own.text, "from which this run starts")) << own.text;
  expect_same_files(folder_ / "first", folder_ / "copy");
  // Both are told with line and column.
  const Outcome bad = tarn("check " + write("bad.toml", "[system]\nstate = \"first\"\nseed = 1\n" +
                                                            text.substr(text.find("[integ"))));
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(contains(bad.text, "bad.toml:1:2: replicas = 1, but the state has 3")) << bad.text;
  EXPECT_TRUE(contains(bad.text, "bad.toml:3:8: seed = 1 is that of the run")) << bad.text;
  fs::resize_file(folder_ / "first/checkpoint.bin", 200);
  const Outcome cut = tarn("check " + deck);
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_TRUE(contains(cut.text, "second.toml:2:9: cannot use the checkpoint")) << cut.text;

  const std::string file = "[system]\nfile = \"whole/final-0002.xyz\"\nvelocities = \"file\"\n" +
                           text.substr(text.find("[integ"));
  const Outcome last = tarn("run " + write("third.toml", file) + " --quiet --out " + path("third"));
  EXPECT_EQ(last.exit_code, 0) << last.text;
  EXPECT_TRUE(last.text.starts_with("warning: too few independent samples")) << last.text;
  EXPECT_EQ(std::ranges::count(last.text, '\n'), 1) << last.text;
}

TEST_F(Commands, ThreadsAreWithinBoundsAndReplaceTheDecks) {
  const std::string deck = small_deck();
  const std::string run = "run " + deck + " --overwrite --set run.steps=1 --out " + path("out");
  for (const std::string threads : {"-3", "4097", "many"}) {
    const Outcome refused = tarn(run + " --threads " + threads);
    EXPECT_EQ(refused.exit_code, 2) << threads;
    EXPECT_TRUE(contains(refused.text, "--threads")) << refused.text;
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  const auto device = [&](const std::string& more, const std::string& before = "") {
    EXPECT_EQ(tarn(run + more, before).exit_code, 0);
    return contents(folder_ / "out/run.json");
  };
  EXPECT_TRUE(contains(device(" --set run.threads=3"), ", 3 threads"));
  EXPECT_TRUE(contains(device(" --set run.threads=3 --threads 2"), ", 2 threads"));
  // All of them is what this variable says.
  EXPECT_TRUE(
      contains(device(" --set run.threads=3 --threads 0", "OMP_NUM_THREADS=5 "), ", 5 threads"));
  // More than any machine here has processors.
  EXPECT_TRUE(contains(tarn(run + " --threads 4096").text, "4096 threads (as requested) for "));
  EXPECT_TRUE(contains(tarn(run, "OMP_NUM_THREADS=4096 ").text,
                       "4096 threads (from OMP_NUM_THREADS) for "));
  EXPECT_FALSE(contains(tarn(run + " --threads 1").text, "as requested"));
}

TEST_F(Commands, ARunThatIsThereIsNotTouched) {
  const std::string deck = small_deck();
  ASSERT_EQ(tarn("run " + deck + " --out " + path("out")).exit_code, 0);
  const std::string before = contents(folder_ / "out/energies.csv");
  const Outcome again = tarn("run " + deck + " --out " + path("out"));
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(contains(again.text, "--resume"));
  EXPECT_TRUE(contains(again.text, "--overwrite"));
  const Outcome other = tarn("run " + deck + " --resume --set system.seed=2 --out " + path("out"));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(contents(folder_ / "out/energies.csv"), before);
  EXPECT_EQ(tarn("run " + deck + " --overwrite --out " + path("out")).exit_code, 0);
  EXPECT_EQ(contents(folder_ / "out/energies.csv"), before);
}

TEST_F(Commands, ANamedDeviceIsNeverReplaced) {
  const std::string deck = small_deck();
  EXPECT_EQ(tarn("run " + deck + " --device cuda:99 --out " + path("out")).exit_code, 5);
  EXPECT_FALSE(fs::exists(folder_ / "out/energies.csv"));
  EXPECT_EQ(tarn("run " + deck + " --device gpu --out " + path("out")).exit_code, 2);
}

TEST_F(Commands, ABlowUpHasItsOwnExitCodeAndLeavesNoBadNumber) {
  const std::string deck = small_deck();
  const Outcome run = tarn("run " + deck + " --set integrator.timestep_fs=60 --out " + path("out"));
  EXPECT_EQ(run.exit_code, 3);
  // Told once a replica, with its atoms, its cause and a cure.
  for (const char* replica : {"replica 0 blew up", "replica 1 blew up", "replica 2 blew up"}) {
    EXPECT_TRUE(contains(run.text, "warning: " + std::string(replica)));
  }
  std::size_t told = 0;
  for (std::size_t at = 0; (at = run.text.find("Closest atoms", at)) != std::string::npos; ++at) {
    ++told;
  }
  EXPECT_EQ(told, 3u) << run.text;
  EXPECT_TRUE(contains(run.text, "try timestep_fs"));
  EXPECT_TRUE(contains(run.text, "no replica is left"));
  for (const auto& entry : fs::directory_iterator(folder_ / "out")) {
    if (entry.path().extension() != ".csv" && entry.path().extension() != ".xyz") continue;
    const std::string name = entry.path().filename();
    // There it says: not known.
    if (name == "averages.csv" || name == "survival.csv" || name == "evaporation_rates.csv")
      continue;
    std::string text = contents(entry.path());
    // Lindemann index and rate of shadow work, the last but one, are not known of the first row.
    for (const std::string& unknown : {std::string(",nan\n"), std::string(",nan,")}) {
      if (name != (unknown.back() == ',' ? "heat.csv" : "cluster.csv")) continue;
      for (std::size_t at = 0; (at = text.find(unknown)) != std::string::npos;) {
        text.replace(at, unknown.size(), ",0" + unknown.substr(unknown.size() - 1));
      }
    }
    EXPECT_FALSE(contains(text, "nan")) << entry.path();
    EXPECT_FALSE(contains(text, "inf")) << entry.path();
  }
}

TEST_F(Commands, ReportsABlowUpByAnIndefiniteHessian) {
  const std::string deck = small_deck();
  const Outcome run = tarn("run " + deck +
                           " --set integrator.scheme=zss-stiff --set integrator.hessian=full"
                           " --set integrator.omega=500 --set integrator.timestep_fs=2"
                           " --set thermostat.temperature_K=298 --out " +
                           path("out"));
  EXPECT_EQ(run.exit_code, 3) << run.text;
  EXPECT_TRUE(contains(run.text, "was not positive definite")) << run.text;
  EXPECT_FALSE(contains(run.text, "overlapped")) << run.text;
  const std::string record = contents(folder_ / "out/run.json");
  EXPECT_TRUE(contains(record, "\"indefinite_hessians\": "));
  EXPECT_FALSE(contains(record, "\"indefinite_hessians\": 0,"));
}

TEST_F(Commands, TheRecordHasTheSharesOfTheStages) {
  ASSERT_EQ(tarn("run " + small_deck() + " --out " + path("out")).exit_code, 0);
  const std::string record = contents(folder_ / "out/run.json");
  std::size_t at = record.find("\"stage_shares\": {");
  ASSERT_NE(at, std::string::npos) << record;
  double sum = 0.0;
  for (const char* stage : {"\"pair\": ", "\"bond\": ", "\"noise\": ", "\"rest\": "}) {
    at = record.find(stage, at);
    ASSERT_NE(at, std::string::npos) << stage;
    const double share = std::stod(record.substr(at + std::string(stage).size(), 30));
    EXPECT_GE(share, 0.0) << stage;
    sum += share;
  }
  // Four shares, printed to the last bit.
  EXPECT_NEAR(sum, 1.0, 1e-15);
}

TEST_F(Commands, CompareWritesATableAndAPicture) {
  const Outcome compare = tarn("compare " + small_deck() +
                               " --schemes shake,settle,zss-stiff:omega=200 --out " + path("out"));
  ASSERT_EQ(compare.exit_code, 0) << compare.text;
  EXPECT_TRUE(contains(compare.text, "zss-stiff:omega=200"));
  EXPECT_TRUE(contains(compare.text, ", 400 steps of 2 fs, ")) << compare.text;
  const Outcome steps = tarn("compare " + small_deck() + " --set run.steps=40 --out " + path("s") +
                             " --schemes settle,settle:timestep_fs=1.5");
  EXPECT_TRUE(
      contains(steps.text, ", 40 steps of 2 fs (settle), 53 of 1.5 fs (settle:timestep_fs=1.5), "))
      << steps.text;
  const std::string table = contents(folder_ / "out/compare.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 5);  // provenance, header, schemes
  EXPECT_TRUE(fs::exists(folder_ / "out/rdf.csv"));
  const tarn::test::Json record = tarn::test::json_of(contents(folder_ / "out/compare.json"));
  EXPECT_EQ(record["status"].text, "finished");
  ASSERT_EQ(record["schemes"].items.size(), 3u);
  EXPECT_EQ(record["schemes"].items[2].text, "zss-stiff:omega=200");
  EXPECT_TRUE(contains(record["deck"].text, "replicas = ")) << record["deck"].text;
  EXPECT_TRUE(record["device"].text.starts_with("CPU, ")) << record["device"].text;
  EXPECT_EQ(tarn("compare " + small_deck() + " --schemes shake --out " + path("out")).exit_code, 2);
  EXPECT_EQ(tarn("compare " + small_deck() + " --schemes shkae --out " + path("o2")).exit_code, 2);
}

TEST_F(Commands, CompareOfAMechanicalSystemNamesEachOfItsSchemes) {
  const std::string deck = std::string(TARN_SOURCE_DIR) + "/inputs/spherical-pendulum.toml";
  const Outcome compare = tarn("compare " + deck +
                               " --schemes rattle,variational-of:rk4,variational-of:euler:bias=0.5 "
                               "--set run.steps=100 --out " +
                               path("out"));
  ASSERT_EQ(compare.exit_code, 0) << compare.text;
  EXPECT_TRUE(contains(compare.text, "variational-of:euler:bias=0.5"));
  EXPECT_TRUE(contains(compare.text, "spherical-pendulum, 100 steps of 0.1\n")) << compare.text;
  EXPECT_TRUE(contains(compare.text, path("out") + "/drift.csv\n")) << compare.text;
  EXPECT_TRUE(fs::exists(folder_ / "out/drift.csv"));
  const Outcome finer = tarn("compare " + deck + " --schemes rattle,rattle:step=0.05 " +
                             "--set run.steps=10 --out " + path("finer"));
  EXPECT_TRUE(contains(finer.text, "10 steps of 0.1 (rattle), 20 of 0.05 (rattle:step=0.05)\n"))
      << finer.text;
  tarn::io::CsvReader table(path("out/compare.csv"));
  std::vector<std::string_view> cells;
  std::vector<std::string> schemes;
  double worst_energy = 0.0, energy_of_rk4 = 1.0;
  while (table.next(cells)) {
    schemes.emplace_back(cells[table.column("scheme")]);
    EXPECT_EQ(cells[table.column("steps")], "100");
    const double energy = table.number(cells[table.column("energy_change_max")]);
    worst_energy = std::max(worst_energy, energy);
    if (schemes.back() == "variational-of:rk4") energy_of_rk4 = energy;
    // L_z is a momentum map of each of them.
    EXPECT_LT(table.number(cells[table.column("lz_change_max")]), 1e-8) << schemes.back();
  }
  EXPECT_EQ(schemes, (std::vector<std::string>{"rattle", "variational-of:rk4",
                                               "variational-of:euler:bias=0.5"}));
  EXPECT_GT(energy_of_rk4, 0.0);
  EXPECT_LT(energy_of_rk4, 0.1 * worst_energy);  // order 4 beside orders 2
  const std::string again = "compare " + deck + " --out " + path("other") + " --schemes ";
  EXPECT_EQ(tarn(again + "variational-of:rk3").exit_code, 2);
  EXPECT_EQ(tarn(again + "rattle --device cuda").exit_code, 5);
  EXPECT_EQ(tarn("compare " + deck + " --schemes rattle --out " + path("out")).exit_code, 2);
}

TEST_F(Commands, DrawShowsStructuresAndFrames) {
  const std::string seven = (kSource / "inputs/structures/tip3p-7.xyz").string();
  const std::string picture = path("seven.svg");
  const Outcome one = tarn("draw " + seven + " -o " + picture);
  EXPECT_EQ(one.exit_code, 0) << one.text;
  EXPECT_TRUE(contains(one.text, "picture: " + picture));
  EXPECT_TRUE(contains(read_text(picture), ">tip3p-7</text>"));
  ASSERT_EQ(tarn("run " + small_deck() + " --out " + path("out")).exit_code, 0);
  // Steps 0, 100, ..., 400 of a replica; the label tells the time.
  const std::string trajectory = path("out/trajectory-0001.xyz");
  ASSERT_EQ(tarn("draw " + trajectory + " -o " + picture).exit_code, 0);
  EXPECT_TRUE(contains(read_text(picture), ">replica 1, 0.200 ps</text>"));
  const Outcome some = tarn("draw " + trajectory + " " + seven + " --frames 2 -o " + picture);
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_TRUE(contains(some.text, "only the first 2 frames are drawn; --frames draws more"));
  EXPECT_TRUE(contains(read_text(picture), ">trajectory-0001: replica 1, 0 ps</text>"));
  EXPECT_TRUE(contains(read_text(picture), ">trajectory-0…: replica 1, 0.200 ps</text>"));
  EXPECT_FALSE(contains(read_text(picture), "tip3p-7"));

  EXPECT_EQ(tarn("draw " + path("none.xyz") + " -o " + picture).exit_code, 4);
  EXPECT_EQ(tarn("draw " + seven + " -o " + path("a.png")).exit_code, 0);
  EXPECT_TRUE(contains(contents(folder_ / "a.png"), "PNG"));
  EXPECT_EQ(tarn("draw " + seven + " -o a.pdf").exit_code, 2);
  EXPECT_EQ(tarn("draw " + seven + " -o " + path("no/such/folder/a.svg")).exit_code, 4);
  EXPECT_EQ(tarn("draw " + write("empty.xyz", "") + " -o " + picture).exit_code, 2);
}

/// A model that a deck has in a section: every command takes it from there, and nobody guesses it.
TEST_F(Commands, TakeAModelOfADeck) {
  const std::string opc =
      "[model]\noh_A = 0.8724\nhoh_degrees = 103.6\nsigma_A = 3.16655\n"
      "epsilon_kcal_per_mol = 0.21280\ncharge_hydrogen_e = 0.6791\nom_A = 0.1594\n";
  const std::string deck =
      write("opc.toml", "[system]\nmodel = \"own\"\nmolecules = 3\n" + opc +
                            "[integrator]\nscheme = \"settle\"\n[run]\nsteps = 20\n"
                            "[observe.trajectory]\nevery = 10\n[observe.cluster]\nevery = 10\n"
                            "[observe.final]\n[observe.energies]\nevery = 10\n");
  ASSERT_EQ(tarn("run " + deck + " --out " + path("own")).exit_code, 0);
  ASSERT_EQ(tarn("run " + deck + " --set system.model=opc --unset model --out " + path("known"))
                .exit_code,
            0);
  for (const char* file : {"/energies.csv", "/cluster.csv"}) {
    const std::string own = read_text(path("own") + file), known = read_text(path("known") + file);
    EXPECT_EQ(own.substr(own.find('\n')), known.substr(known.find('\n'))) << file;
  }
  const std::string last = path("own") + "/final.xyz";
  const std::string needs = "give its path, --model FILE.toml";
  EXPECT_TRUE(contains(tarn("energy " + last).text, needs));
  EXPECT_EQ(tarn("energy " + last).exit_code, 2);
  const auto number = [&](const std::string& model) {
    const std::string text = tarn("energy " + last + " --model " + model).text;
    const std::string key = "\"potential_kcal_per_mol\": ";
    const std::size_t at = text.find(key);
    EXPECT_NE(at, std::string::npos) << text;
    return text.substr(at, text.find(',', at) - at);
  };
  EXPECT_EQ(number(deck), number("opc"));
  const std::string trajectory = path("own") + "/trajectory.xyz";
  EXPECT_TRUE(contains(tarn("analyse " + trajectory + " -o " + path("a")).text, "with --model"));
  EXPECT_EQ(tarn("analyse " + trajectory + " -o " + path("a") + " --model " + deck).exit_code, 0);
  EXPECT_TRUE(
      contains(tarn("convert " + trajectory + " --sites -o " + path("s.gro")).text, "by --model"));
  EXPECT_EQ(
      tarn("convert " + trajectory + " --sites -o " + path("s.gro") + " --model " + deck).exit_code,
      0);
  EXPECT_TRUE(contains(read_text(path("s.gro")), " MW "));
  // Other numbers are another run.
  const Outcome other =
      tarn("run " + deck + " --set model.om_A=0.16 --resume --out " + path("own"));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(contains(other.text, "[model] was 'om_A = 0.1594'")) << other.text;
  EXPECT_EQ(tarn("energy " + last + " --model " + (kSource / "inputs/dna.toml").string()).exit_code,
            2);
}

/// Every deck of the project, a few steps of it.
TEST_F(Commands, EveryDeckRuns) {
  int decks = 0;
  for (const auto& entry : fs::directory_iterator(kSource / "inputs")) {
    if (entry.path().extension() != ".toml") continue;
    ++decks;
    const std::string deck = read_text(entry.path());
    const bool equilibrates = contains(deck, "equilibration_ps");
    const bool steps = !contains(deck, "slow-manifold");  // a projection takes none
    const Outcome run = tarn("run " + entry.path().string() + (steps ? " --set run.steps=12" : "") +
                             (equilibrates ? " --set run.equilibration_ps=0" : "") +
                             " --no-pictures --out " + path(entry.path().stem().string()));
    EXPECT_EQ(run.exit_code, 0) << entry.path() << "\n" << run.text;
  }
  EXPECT_GT(decks, 0);
}

}  // namespace
