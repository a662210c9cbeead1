#include "command.hpp"
#include "json_reader.hpp"
#include "tarn/io/csv.hpp"

/// @file
/// Energies of flexible models in tables and commands.

namespace tarn {
namespace {

class Flexible : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  /// The JSON object that a command prints.
  static test::Json json_of(const std::string& arguments) {
    const std::string text = test::output_of(arguments);
    const std::size_t begin = text.find('{');
    return test::JsonReader(text.substr(begin, text.rfind('}') + 1 - begin)).read();
  }
  test::ScratchFolder folder_;
};

/// One meaning in the tables of a run, in those of its trajectory, and in tarn energy.
TEST_F(Flexible, PotentialIsTheEnergyBetweenMolecules) {
  test::write_text(path("deck.toml"),
                   "[system]\nmodel = \"qtip4pf\"\nmolecules = 4\n[run]\nsteps = 400\n"
                   "[thermostat]\ntemperature_K = 150\nfriction_per_ps = 5\n"
                   "[observe.energies]\nevery = 100\n[observe.trajectory]\nevery = 100\n");
  const std::string quiet = " --quiet --no-pictures -o ";
  test::output_of("run " + path("deck.toml") + quiet + path("run"));
  test::output_of("analyse " + path("run/trajectory.xyz") + " --no-pictures -o " + path("a"));
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

}  // namespace
}  // namespace tarn
