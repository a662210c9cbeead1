#include "io/frame_formats.hpp"
#include "tarn/modes.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

namespace tarn::io {
namespace {

using namespace test;

/// The numbers of each section of a file, as a viewer parses it; those of a vibration follow its
/// name. Positions and species are in two sections.
using Sections = std::map<std::string, std::vector<double>>;
Sections parse(const std::string& text) {
  Sections sections;
  std::istringstream lines(text);
  std::string line, section;
  while (std::getline(lines, line)) {
    if (line.starts_with('[') || line.starts_with("vibration ")) {
      section = line;
      continue;
    }
    if (section == "[Title]") continue;
    std::istringstream words(line);
    std::string word;
    while (words >> word) {
      sections[section].push_back(word == "O" ? 8.0 : word == "H" ? 1.0 : std::stod(word));
    }
  }
  return sections;
}

/// Half a unit of the last decimal.
constexpr double kSix = 0.5000001e-6, kNine = 0.5000001e-9;

TEST(Molden, HoldsTheModesOfACluster) {
  const ScratchFolder folder;
  for (const char* name : {"tip3p", "tip4p"}) {
    for (const double omega : {std::numeric_limits<double>::infinity(), 100.0}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(omega));
      constexpr std::size_t kMolecules = 3;
      const WaterModel model = *find_water_model(name);
      // Not a minimum: there are imaginary modes.
      const std::vector<double> x = random_cluster(model, kMolecules, 1, 0);
      const NormalModes modes = normal_modes(model, x, omega);
      ASSERT_GT(modes.imaginary_count(), 0);
      std::vector<MoldenMode> all;
      for (std::size_t k = 0; k < modes.modes.size(); ++k) {
        const NormalMode& m = modes.modes[k];
        all.push_back({m.wavenumber_per_cm, m.ir_intensity_km_per_mol(),
                       std::span(modes.displacements_per_sqrt_Da).subspan(k * x.size(), x.size())});
      }
      write_molden(folder.file("a.molden"), "three molecules", x, all);
      Sections file = parse(read_text(folder.file("a.molden")));
      // Atoms only, also for models with a site M: species, number, atomic number and position; and
      // species and position.
      const std::vector<double>&atoms = file["[Atoms] AU"], &again = file["[FR-COORD]"];
      ASSERT_EQ(atoms.size(), 6 * 3 * kMolecules);
      ASSERT_EQ(again.size(), 4 * 3 * kMolecules);
      for (std::size_t c = 0; c < x.size(); ++c) {
        const double* const atom = &atoms[6 * (c / 3)];
        EXPECT_NEAR(atom[3 + c % 3] * 0.529177210903, x[c], kNine) << c;
        EXPECT_EQ(again[4 * (c / 3) + 1 + c % 3], atom[3 + c % 3]);
        EXPECT_EQ(again[4 * (c / 3)], atom[0]);
        EXPECT_EQ(atom[0], c % 9 < 3 ? 8.0 : 1.0);
        EXPECT_EQ(atom[1], static_cast<double>(c / 3 + 1));
        EXPECT_EQ(atom[2], atom[0]);
      }
      ASSERT_EQ(file["[FREQ]"].size(), all.size());
      ASSERT_EQ(file["[INT]"].size(), all.size());
      for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_NEAR(file["[FREQ]"][k], all[k].wavenumber_per_cm, kSix);
        EXPECT_NEAR(file["[INT]"][k], all[k].ir_intensity_km_per_mol, kSix);
        const std::vector<double>& d = file["vibration " + std::to_string(k + 1)];
        ASSERT_EQ(d.size(), x.size());
        for (std::size_t c = 0; c < d.size(); ++c)
          EXPECT_NEAR(d[c], all[k].displacements[c], kNine);
      }
    }
  }
}

TEST(Molden, HasTheLinesThatViewersRead) {
  const ScratchFolder folder;
  const std::vector<double> x{0.0, 0.0, 0.52917721090299996, -1.5, 0.75, 1e6, -1e-12, 0.0, 2.0};
  const std::vector<double> first{-1.0, 0.5, -1e-17, 0.0, 0.25, 0.125, 1e-9, -1e-9, 4e-10};
  const std::vector<double> second(9, 0.0);
  write_molden(folder.file("a.molden"), "one molecule", x,
               std::vector<MoldenMode>{{-123.4567891, 42.0, first}, {0.0, 0.0, second}});
  EXPECT_EQ(read_text(folder.file("a.molden")), R"([Molden Format]
[Title]
one molecule
[Atoms] AU
O     1 8    0.000000000    0.000000000    1.000000000
H     2 1   -2.834589187    1.417294593 1889726.124625770
H     3 1    0.000000000    0.000000000    3.779452249
[FREQ]
-123.456789
0.000000
[INT]
42.000000
0.000000
[FR-COORD]
O    0.000000000    0.000000000    1.000000000
H   -2.834589187    1.417294593 1889726.124625770
H    0.000000000    0.000000000    3.779452249
[FR-NORM-COORD]
vibration 1
   -1.000000000    0.500000000    0.000000000
    0.000000000    0.250000000    0.125000000
    0.000000001   -0.000000001    0.000000000
vibration 2
    0.000000000    0.000000000    0.000000000
    0.000000000    0.000000000    0.000000000
    0.000000000    0.000000000    0.000000000
)");
}

TEST(Molden, HasNoIntensitiesIfNoneIsKnown) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.molden");
  const std::vector<double> x(9, 1.0);
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  write_molden(path, "t", x, std::vector<MoldenMode>{{1.0, kUnknown, x}, {2.0, kUnknown, x}});
  EXPECT_FALSE(contains(read_text(path), "[INT]"));
  const Sections file = parse(read_text(path));
  EXPECT_EQ(file.at("[FREQ]"), (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(file.at("vibration 2"), x);
  EXPECT_THROW(
      write_molden(path, "t", x, std::vector<MoldenMode>{{1.0, kUnknown, x}, {2.0, 1.0, x}}),
      NumericalError);
}

TEST(Molden, KeepsTheFileIfItCannotWrite) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.molden");
  write_text(path, "older");
  const std::vector<double> x(9, 1.0), short_one(6, 0.0);
  std::vector<double> bad(9, 0.0);
  bad[8] = std::numeric_limits<double>::quiet_NaN();
  const MoldenMode good{1.0, 2.0, x};
  const auto write = [&](const MoldenMode& mode, const std::vector<double>& positions_A,
                         const char* title = "t", const char* file = "a.molden") {
    return [=, &folder, &positions_A] {
      write_molden(folder.file(file), title, positions_A, std::vector{mode});
    };
  };
  EXPECT_THROW(write({1.0, 2.0, bad}, x)(), NumericalError);
  EXPECT_THROW(write({bad[8], 2.0, x}, x)(), NumericalError);
  EXPECT_THROW(write(good, bad)(), NumericalError);
  EXPECT_THROW(write({1.0, 2.0, short_one}, x)(), std::logic_error);
  EXPECT_THROW(write(good, x, "two\nlines")(), std::logic_error);
  EXPECT_EQ(contents_of(folder.path()),
            (std::map<std::string, std::string>{{"a.molden", "older"}}));
  EXPECT_TRUE(contains(message_of<IoError>(write(good, x, "t", "none/a")), "cannot write"));
}

}  // namespace
}  // namespace tarn::io
