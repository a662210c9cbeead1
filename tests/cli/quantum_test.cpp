#include <string>

#include <gtest/gtest.h>

#include "command.hpp"
#include "scratch_folder.hpp"
#include "tarn/io/csv.hpp"

/// @file
/// Runs with quantum nuclei.

namespace tarn {
namespace {

using test::contains;
using test::Outcome;

class Quantum : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  std::string text_of(const std::string& name) const { return test::read_text(path(name)); }
  /// A deck of three molecules; `ring` is the section [path_integral] or nothing.
  std::string deck(const std::string& name, const std::string& ring,
                   const std::string& thermostat =
                       "[thermostat]\nkind = \"baoab\"\ntemperature_K = 150\nfriction_per_ps = 5\n",
                   const std::string& system = "seed = 7\n") const {
    test::write_text(path(name),
                     "[system]\nmodel = \"qtip4pf\"\nmolecules = 3\nreplicas = 3\n" + system +
                         "[integrator]\nscheme = \"verlet\"\n" + thermostat + ring +
                         "[confinement]\nradius_A = 6\nstiffness_kcal_per_mol_A2 = 2\n"
                         "[run]\nsteps = 200\nequilibration_ps = 0.05\n"
                         "[observe.energies]\nevery = 20\n[observe.geometry]\nevery = 20\n"
                         "[observe.rdf]\nevery = 20\n[observe.cluster]\nevery = 20\n"
                         "[observe.profile]\nevery = 20\n[observe.temperatures]\nevery = 20\n"
                         "[observe.conservation]\nevery = 20\n"
                         "[observe.spectrum]\nevery = 2\nresolution_per_cm = 600\n"
                         "[observe.trajectory]\nevery = 50\n" +
                         (ring.empty() ? "" : "[observe.path_integral]\nevery = 20\n"));
    return path(name);
  }

  test::ScratchFolder folder_;
};

constexpr const char* kRings = "[path_integral]\nbeads = 8\n";

TEST_F(Quantum, ResumedRunsHaveTheSameFiles) {
  const std::string pimd = deck("pimd.toml", kRings);
  const Outcome whole = test::command("run --quiet " + pimd + " -o " + path("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.text;
  ASSERT_EQ(
      test::command("run --quiet " + pimd + " --set run.steps=137 --threads 1 -o " + path("parts"))
          .exit_code,
      0);
  ASSERT_EQ(test::command("run --quiet " + pimd + " --resume -o " + path("parts")).exit_code, 0);
  for (const char* name :
       {"energies.csv", "path_integral.csv", "geometry.csv", "cluster.csv", "conservation.csv",
        "temperatures.csv", "rdf.csv", "profile.csv", "averages.csv", "trajectory-0001.xyz"}) {
    const std::string file = std::string("/") + name;
    EXPECT_EQ(text_of("whole" + file), text_of("parts" + file)) << name;
  }
  EXPECT_FALSE(contains(text_of("whole/averages.csv"), "heat_capacity"));
}

/// One bead is the classical run.
TEST_F(Quantum, OneBeadIsTheClassicalRun) {
  for (const auto& [name, ring] :
       {std::pair("one", "[path_integral]\nbeads = 1\n"), {"none", ""}}) {
    const Outcome run = test::command("run --quiet " + deck("d.toml", ring) + " -o " + path(name));
    ASSERT_EQ(run.exit_code, 0) << run.text;
  }
  const auto frames = [&](const std::string& of) { return text_of(of + "/trajectory-0000.xyz"); };
  EXPECT_GT(frames("one").size(), 100u);
  EXPECT_EQ(frames("one"), frames("none"));
}

/// RPMD from the state of a pimd run, with as many beads or others.
TEST_F(Quantum, ContinuesFromAState) {
  ASSERT_EQ(
      test::command("run --quiet " + deck("pimd.toml", kRings) + " -o " + path("pimd")).exit_code,
      0);
  const std::string state = "state = \"" + path("pimd") + "\"\n";
  for (const char* beads : {"8", "16", "3"}) {
    const std::string rpmd = deck("rpmd.toml",
                                  std::string("[path_integral]\nbeads = ") + beads +
                                      "\nmethod = \"rpmd\"\ntemperature_K = 150\n",
                                  "", state);
    const Outcome run = test::command("run --quiet " + rpmd + " --overwrite -o " + path("rpmd"));
    ASSERT_EQ(run.exit_code, 0) << run.text;
  }
  const std::string trpmd = deck("trpmd.toml", "[path_integral]\nbeads = 8\nmethod = \"trpmd\"\n",
                                 "[thermostat]\nkind = \"gla\"\ntemperature_K = 150\n"
                                 "friction_per_ps = 0\n",
                                 state + "seed = 9\n");
  EXPECT_EQ(test::command("run --quiet " + trpmd + " -o " + path("trpmd")).exit_code, 0);
}

TEST_F(Quantum, RefusesWhatHasNoMeaning) {
  const std::string pimd = deck("pimd.toml", kRings);
  const auto refusal = [&](const std::string& more) {
    const Outcome refused = test::command("run " + pimd + " -o " + path("out") + more);
    EXPECT_EQ(refused.exit_code, 2) << more;
    return refused.text;
  };
  EXPECT_TRUE(contains(refusal(" --set system.model=tip4p2005"),
                       "[path_integral] needs a flexible model: qtip4pf, tip4p2005f"));
  EXPECT_TRUE(contains(refusal(" --set integrator.scheme=zss-stiff"), "needs scheme = \"verlet\""));
  EXPECT_TRUE(contains(refusal(" --set run.precision=single"), "\"double\" or \"mixed\""));
  EXPECT_TRUE(contains(refusal(" --set path_integral.method=rpmd"), "runs without a thermostat"));
  EXPECT_TRUE(contains(refusal(" --set system.molecules=65"), "at most 64 molecules"));
  EXPECT_TRUE(contains(refusal(" --set path_integral.beads=1025"), "1024"));
  EXPECT_TRUE(contains(refusal(" --device cuda"), ""));
}

TEST_F(Quantum, CheckReportsQuantaAndBeads) {
  const Outcome checked = test::command("check " + deck("pimd.toml", kRings));
  EXPECT_TRUE(contains(checked.text, "beads = 8 are few at 150 K")) << checked.text;
  EXPECT_TRUE(
      contains(checked.text, "a quantum of this vibration is 37.6 kT at 150 K; 8 beads, 107"))
      << checked.text;
}

}  // namespace
}  // namespace tarn
