#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "command.hpp"
#include "json_reader.hpp"
#include "scratch_folder.hpp"
#include "tarn/force_field.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/structure.hpp"

/// @file
/// Flexible models in every command.

namespace tarn {
namespace {

using test::contains;
using test::Outcome;

class Flexible : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  std::string write(const std::string& name, const std::string& text) const {
    test::write_text(path(name), text);
    return path(name);
  }
  std::string text_of(const std::string& name) const { return test::read_text(path(name)); }
  /// The JSON object that a command prints.
  static test::Json json_of(const std::string& arguments) {
    const Outcome outcome = test::command(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    const std::size_t begin = outcome.text.find('{');
    return test::JsonReader(outcome.text.substr(begin, outcome.text.rfind('}') + 1 - begin)).read();
  }
  std::string deck(const std::string& more = "") const {
    return write("deck.toml",
                 "[system]\nmodel = \"qtip4pf\"\nmolecules = 4\nreplicas = 3\n"
                 "[integrator]\nscheme = \"verlet\"\n"
                 "[thermostat]\nkind = \"baoab\"\ntemperature_K = 150\nfriction_per_ps = 5\n"
                 "[confinement]\nradius_A = 6\nstiffness_kcal_per_mol_A2 = 2\n"
                 "[run]\nsteps = 400\n" +
                     more);
  }

  test::ScratchFolder folder_;
};

TEST_F(Flexible, StructuresOfAllCommands) {
  const Outcome cluster = test::command(
      "cluster --quiet --minimise --molecules 2 --starts 4 "
      "--model qtip4pf -o " +
      path("c.xyz"));
  ASSERT_EQ(cluster.exit_code, 0) << cluster.text;
  const std::vector<double> x = io::read_structure(path("c.xyz")).positions_A;
  ForceField force_field(*find_water_model("qtip4pf"), 2);
  const ClusterEnergy expected = force_field.energy(x);
  for (const char* device : {"", " --device cpu"}) {
    const test::Json energy = json_of("energy " + path("c.xyz") + device);
    EXPECT_NEAR(energy["intramolecular_kcal_per_mol"].number, expected.intramolecular_kcal_per_mol,
                1e-12);
    EXPECT_NEAR(energy["potential_kcal_per_mol"].number, expected.between_molecules_kcal_per_mol(),
                1e-12);
    EXPECT_NEAR(energy["total_potential_kcal_per_mol"].number, expected.total_kcal_per_mol(),
                1e-12);
  }
  // Relaxed bonds have energy: the two are not equal.
  ASSERT_GT(expected.intramolecular_kcal_per_mol, 0.1);
  // The dimer has 12 vibrations, none of which is imaginary.
  const test::Json modes = json_of("modes --temperatures-K 100 " + path("c.xyz"));
  EXPECT_EQ(modes["wavenumbers_per_cm"].items.size(), 18u);
  EXPECT_EQ(modes["imaginary"].number, 0.0);
  EXPECT_NEAR(modes["total_potential_kcal_per_mol"].number, -6.54763, 2e-5);
  EXPECT_NEAR(modes["potential_kcal_per_mol"].number, expected.between_molecules_kcal_per_mol(),
              1e-9);

  const Outcome minimised = test::command("minimise " + path("c.xyz") + " -o " + path("m.xyz"));
  EXPECT_EQ(minimised.exit_code, 0);
  EXPECT_TRUE(contains(minimised.text, "-6.5476309"));
  ASSERT_EQ(test::command("cluster --quiet --minimise --molecules 2 --starts 2 --keep 2 --model "
                          "qtip4pf -o " +
                          path("k.xyz"))
                .exit_code,
            0);
  for (const char* file : {"c.xyz", "m.xyz", "k.xyz"}) {
    const io::Structure written = io::read_structure(path(file));
    const ClusterEnergy e = force_field.energy(written.positions_A);
    EXPECT_NEAR(std::stod(written.comment.at("potential_kcal_per_mol")),
                e.between_molecules_kcal_per_mol(), 1e-9)
        << file;
    EXPECT_NEAR(std::stod(written.comment.at("total_potential_kcal_per_mol")),
                e.total_kcal_per_mol(), 1e-9)
        << file;
  }
  const Outcome sites = test::command("convert --sites " + path("c.xyz") + " -o " + path("c.gro"));
  EXPECT_EQ(sites.exit_code, 0) << sites.text;
}

TEST_F(Flexible, RefusalsNameTheRigidModels) {
  const std::string structure =
      write("c.xyz", "3\nmodel=spcfw\nO 0 0 0\nH 1.0 0 0\nH -0.35 0.94 0\n");
  for (const std::string& command :
       {"energy --rigid " + structure, "modes --omega 20 " + structure,
        "serve --omega 20 --unix nobody --wait 0 " + structure,
        "run " + deck() + " --set integrator.scheme=settle -o " + path("out"),
        "run " + deck() + " --set integrator.omega=20 -o " + path("out")}) {
    const Outcome refused = test::command(command);
    EXPECT_EQ(refused.exit_code, 2) << command << ": " << refused.text;
    EXPECT_TRUE(contains(refused.text, "spce")) << refused.text;
  }
}

/// One meaning in the tables of a run, in those of its trajectory, and in tarn energy.
TEST_F(Flexible, PotentialIsTheEnergyBetweenMolecules) {
  const std::string tables =
      "[observe.energies]\nevery = 100\n[observe.trajectory]\nevery = 100\nreplicas = 1\n";
  ASSERT_EQ(
      test::command("run --quiet " + deck(tables) + " --set system.replicas=1 -o " + path("run"))
          .exit_code,
      0);
  ASSERT_EQ(test::command("analyse " + path("run/trajectory.xyz") + " -o " + path("a")).exit_code,
            0);
  const test::Json energy = json_of("energy --frame 3 " + path("run/trajectory.xyz"));
  for (const char* table : {"run/energies.csv", "a/potential.csv"}) {
    io::CsvReader csv(path(table));
    std::vector<std::string_view> cells;
    for (int row = 0; row < 4; ++row) ASSERT_TRUE(csv.next(cells)) << table;
    for (const char* column : {"potential_kcal_per_mol", "intramolecular_kcal_per_mol"}) {
      EXPECT_NEAR(csv.number(cells[csv.column(column)]), energy[column].number, 1e-9)
          << table << ' ' << column;
    }
  }
}

/// Tables, and the column of the intramolecular energy instead of that of the penalty.
TEST_F(Flexible, RunResumesWithTheSameFiles) {
  const std::string tables =
      "[observe.energies]\nevery = 20\n[observe.geometry]\nevery = 20\n[observe.rdf]\nevery = 20\n"
      "[observe.cluster]\nevery = 20\n[observe.minima]\nevery = 100\n"
      "[observe.evaporation]\nevery = 100\n[observe.heat]\nevery = 100\n"
      "[observe.spectrum]\nevery = 2\nresolution_per_cm = 300\n"
      "[observe.trajectory]\nevery = 100\n[observe.temperatures]\nevery = 20\n"
      "[observe.conservation]\nevery = 100\n";
  const std::string whole = "run --quiet " + deck(tables) + " -o " + path("whole");
  const Outcome outcome = test::command(whole);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
  const std::string parts = "run --quiet " + deck(tables) + " -o " + path("parts");
  ASSERT_EQ(test::command(parts + " --set run.steps=137").exit_code, 0);
  ASSERT_EQ(test::command(parts + " --resume").exit_code, 0);
  for (const char* name : {"energies.csv", "geometry.csv", "cluster.csv", "minima.csv", "heat.csv",
                           "temperatures.csv", "trajectory-0002.xyz"}) {
    const std::string text = text_of(std::string("whole/") + name);
    EXPECT_GT(text.size(), 100u) << name;
    EXPECT_EQ(text, text_of(std::string("parts/") + name)) << name;
  }
  io::CsvReader csv(path("whole/energies.csv"));
  EXPECT_NO_THROW(csv.column("intramolecular_kcal_per_mol"));
  EXPECT_FALSE(csv.has_column("penalty_kcal_per_mol"));
}

/// Schemes and steps, with velocity Verlet at half of the smallest step as the reference.
TEST_F(Flexible, CompareHasVerletAsReference) {
  const Outcome outcome =
      test::command("compare --quiet " + deck("[observe.energies]\nevery = 20\n") +
                    " --schemes verlet,zss-stiff --steps 0.5,1 -o " + path("c"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_TRUE(contains(outcome.text + text_of("c/compare.csv"), "verlet")) << outcome.text;
}

TEST_F(Flexible, CheckReportsTheShortestPeriodAndLongSteps) {
  const std::string observed = deck("[observe.energies]\nevery = 20\n");
  const Outcome usual = test::command("check " + observed);
  EXPECT_EQ(usual.exit_code, 0);
  EXPECT_TRUE(contains(usual.text, "timestep_fs = 0.5")) << usual.text;
  EXPECT_TRUE(contains(usual.text, "shortest period of qtip4pf: 8.51 fs (3920/cm), 17 time steps"))
      << usual.text;
  EXPECT_EQ(usual.text.find("warning"), std::string::npos) << usual.text;
  const Outcome longer = test::command("check " + observed + " --set integrator.timestep_fs=1.2");
  EXPECT_TRUE(contains(longer.text, "timestep_fs = 1.2 is long for velocity Verlet"))
      << longer.text;
}

/// A model of one's own with the numbers of q-SPC/Fw has its energies.
TEST_F(Flexible, OwnModelIsTheSame) {
  const std::string own =
      write("own.toml",
            "[system]\nmodel = \"own\"\nmolecules = 2\n[model]\noh_A = 1.0\nhoh_degrees = 112.0\n"
            "sigma_A = 3.165492\nepsilon_kcal_per_mol = 0.1554252\ncharge_hydrogen_e = 0.42\n"
            "stretch = \"harmonic\"\nstretch_stiffness_kcal_per_mol_A2 = 1059.162\n"
            "bend_stiffness_kcal_per_mol_rad2 = 75.9\n[integrator]\nscheme = \"verlet\"\n"
            "[run]\nsteps = 20\n[observe.energies]\nevery = 10\n");
  ASSERT_EQ(
      test::command("cluster --quiet --molecules 2 --model qspcfw -o " + path("c.xyz")).exit_code,
      0);
  const auto potential = [&](const std::string& model) {
    return json_of("energy --model " + model + " " + path("c.xyz"))["potential_kcal_per_mol"]
        .number;
  };
  EXPECT_EQ(potential(own), potential("qspcfw"));
  // The resolved deck is a deck.
  const auto resolved = [&](const std::string& of) {
    const Outcome checked = test::standard_output("check " + of);
    EXPECT_EQ(checked.exit_code, 0);
    return checked.text;
  };
  write("resolved.toml", resolved(own));
  EXPECT_EQ(resolved(path("resolved.toml")), resolved(own));
  EXPECT_EQ(test::command("run --quiet " + path("resolved.toml") + " -o " + path("out")).exit_code,
            0);
}

}  // namespace
}  // namespace tarn
