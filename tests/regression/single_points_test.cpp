#include "csv_reader.hpp"
#include "io/xyz.hpp"
#include "plain_water.hpp"
#include "tarn/force_field.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

/// @file
/// Single points of every model against a program that shares nothing with tarn.

namespace tarn {
namespace {

using namespace test;

// No atoms of two molecules are nearer than 1.5 A in these clusters, so that no term is above 200
// kcal/mol, and 4950 pairs of molecules of at most 10 terms lose at most 1e-16 * 200 * 5e4 = 1e-9
// in the worst case of all roundings one way; measured, 1e-11.
constexpr double kTolerance = 1e-9;

class SinglePoints : public ::testing::TestWithParam<const char*> {
 protected:
  WaterModel model() const { return *find_water_model(GetParam()); }
  PlainModel plain() const { return plain_model(GetParam()); }
};

/// The sum itself: its forces are the slope of its energy.
TEST_P(SinglePoints, ThePlainForcesAreTheSlopeOfThePlainEnergy) {
  const std::vector<double> start = random_cluster(model(), 3, 5, 0);
  std::vector<long double> x(start.begin(), start.end());
  const PlainEnergy here = plain_energy(plain(), x);
  // Central differences: h^2/6 V''' with V''' below 1e5 kcal/mol/A^3 at 1.5 A, and rounding
  // 1e-19 * 1000 / h.
  const long double h = 1e-6L;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const long double at = x[k];
    x[k] = at + h;
    const long double up = plain_energy(plain(), x).total();
    x[k] = at - h;
    const long double down = plain_energy(plain(), x).total();
    x[k] = at;
    EXPECT_NEAR(static_cast<double>((down - up) / (2 * h) - here.forces[k]), 0.0, 1e-7) << k;
  }
}

TEST_P(SinglePoints, ForceFieldIsThePlainSum) {
  for (const int molecules : {1, 2, 3, 7, 8, 9, 17, 33, 100}) {
    SCOPED_TRACE(molecules);
    const std::vector<double> x = random_cluster(model(), molecules, 3, molecules);
    ForceField force_field(model(), molecules);
    std::vector<double> forces(x.size());
    const ClusterEnergy e = force_field.energy_and_forces(x, forces);
    const PlainEnergy expected = plain_energy(plain(), x);
    EXPECT_NEAR(e.coulomb_kcal_per_mol, static_cast<double>(expected.coulomb), kTolerance);
    EXPECT_NEAR(e.lj_kcal_per_mol, static_cast<double>(expected.lj), kTolerance);
    EXPECT_NEAR(force_field.energy(x).total_kcal_per_mol(), static_cast<double>(expected.total()),
                kTolerance);
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_NEAR(forces[k], static_cast<double>(expected.forces[k]), kTolerance) << k;
    }
  }
}

/// Step 0 of a run: from the structure file through the engine to the table.
TEST_P(SinglePoints, ARunStartsAtThePlainSum) {
  for (const int molecules : {7, 20}) {
    SCOPED_TRACE(molecules);
    const ScratchFolder folder;
    io::Structure structure;
    structure.molecules = molecules;
    structure.positions_A = random_cluster(model(), molecules, 4, 0);
    io::write_structure(folder.file("start.xyz"), structure);
    const Deck deck =
        parse_deck("[system]\nfile = \"start.xyz\"\nmodel = \"" + std::string(GetParam()) +
                       "\"\nreplicas = 2\n[integrator]\nscheme = \"settle\"\n"
                       "[run]\nsteps = 0\n[observe.energies]\n",
                   folder.file("deck.toml"));
    RunOptions options;
    options.out_dir = folder.file("out");
    run_deck(deck, options);
    const double expected =
        static_cast<double>(plain_energy(plain(), structure.positions_A).total());
    test::CsvReader csv(folder.file("out/energies.csv"));
    std::vector<std::string_view> cells;
    int rows = 0;
    for (; csv.next(cells); ++rows) {
      // The start is fitted to the rigid geometry, which moves atoms by rounding: 1e-15 A times
      // forces below 1000 kcal/mol/A on 60 atoms.
      EXPECT_NEAR(csv.number(cells[csv.column("potential_kcal_per_mol")]), expected, kTolerance);
    }
    EXPECT_EQ(rows, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SinglePoints,
                         ::testing::Values("tip3p", "spc", "spce", "bf", "tips2", "tip4p",
                                           "tip4pew", "tip4p2005", "tip4pice", "opc", "opc3"));

}  // namespace
}  // namespace tarn
