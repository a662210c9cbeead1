#include "command.hpp"
#include "csv_columns.hpp"
#include "csv_reader.hpp"
#include "printed_table.hpp"
#include "tarn/analysis/convergence.hpp"
#include "tarn/io/formats.hpp"
#include "trajectory_fixtures.hpp"

/// @file
/// Numbers of runs and comparisons with quantum nuclei; see also quantum.txt.

namespace tarn {
namespace {

using namespace test;

class Quantum : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  std::string text_of(const std::string& name) const { return read_text(path(name)); }
  /// A deck of three molecules; `ring` is the section [path_integral].
  std::string deck(const std::string& name, const std::string& ring) const {
    write_text(path(name),
               "[system]\nmodel = \"qtip4pf\"\nmolecules = 3\nreplicas = 3\nseed = 7\n"
               "[thermostat]\ntemperature_K = 150\nfriction_per_ps = 5\n" +
                   ring +
                   "[confinement]\nradius_A = 6\nstiffness_kcal_per_mol_A2 = 2\n"
                   "[run]\nsteps = 200\nequilibration_ps = 0.05\n"
                   "[observe.energies]\nevery = 20\n[observe.rdf]\nevery = 20\n"
                   "[observe.trajectory]\nevery = 50\n[observe.path_integral]\nevery = 20\n");
    return path(name);
  }

  ScratchFolder folder_;
};

constexpr const char* kRings = "[path_integral]\nbeads = 8\n";
constexpr const char* kTrotterRings = "[path_integral]\nbeads = 8\nfrequencies = \"trotter\"\n";

/// Positions of all frames of a trajectory.
std::vector<std::vector<double>> positions_in(const std::string& file) {
  std::vector<std::vector<double>> frames;
  for (const io::Structure& frame : frames_of(file)) frames.push_back(frame.positions_A);
  return frames;
}

/// Without other tables and their pictures.
constexpr const char* kOnlyTrajectory = " --unset observe --set run.equilibration_ps=0";

TEST_F(Quantum, TrajectoriesOfBeads) {
  const std::string pimd = deck("pimd.toml", kRings) + kOnlyTrajectory +
                           " --set observe.trajectory.every=20"
                           " --set observe.trajectory.replicas=2 --set system.recentre=true";
  for (const char* beads : {"centroid", "all", "5"}) {
    output_of("run --quiet --no-pictures " + pimd + " --set observe.trajectory.beads=" + beads +
              " -o " + path(beads));
    EXPECT_FALSE(std::filesystem::exists(path(beads) + "/trajectory-0002.xyz"));
  }
  const std::string file = "/trajectory-0001.xyz";
  const auto centroids = positions_in(path("centroid") + file),
             all = positions_in(path("all") + file), fifth = positions_in(path("5") + file);
  ASSERT_EQ(centroids.size(), 11u);
  ASSERT_EQ(all.size(), 11u);
  ASSERT_EQ(fifth.size(), 11u);
  constexpr std::size_t kSize = 3 * 9, kBeads = 8;
  double spread = 0.0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    ASSERT_EQ(all[k].size(), kBeads * kSize);
    std::vector<double> mean(kSize, 0.0), bead;
    for (std::size_t i = 0; i < all[k].size(); ++i) mean[i % kSize] += all[k][i] / kBeads;
    // Sums of eight numbers of a few angstrom.
    EXPECT_LT(largest_difference(mean, centroids[k]), 1e-13);
    bead.assign(all[k].begin() + 5 * kSize, all[k].begin() + 6 * kSize);
    EXPECT_EQ(fifth[k], bead);
    spread = std::max(spread, largest_difference(bead, mean));
  }
  EXPECT_GT(spread, 0.05);
  EXPECT_TRUE(contains(text_of("all" + file), "model=qtip4pf beads=8 step=20 "));
  EXPECT_TRUE(contains(text_of("5" + file), "model=qtip4pf bead=5 step=20 "));
  EXPECT_FALSE(contains(text_of("centroid" + file), "bead"));

  const std::string picture = path("beads.svg"), trr = path("a.trr");
  output_of("convert --quiet " + path("all") + file + " -o " + trr);
  for (const std::string& drawn : {path("all") + file, trr + " --beads 8"}) {
    output_of("draw " + drawn + " --frame 10 -o " + picture);
    EXPECT_TRUE(contains(read_text(picture), "0.100 ps, 8 beads</text>"));
  }
}

/// Radial distribution functions of all beads: pairs within each bead, as in the run.
TEST_F(Quantum, RdfOfATrajectoryOfBeads) {
  const std::string pimd = deck("pimd.toml", kRings) +
                           " --set run.equilibration_ps=0 --set observe.trajectory.every=20 --set "
                           "observe.trajectory.beads=all";
  output_of("run --quiet --no-pictures " + pimd + " -o " + path("all"));
  std::string files;
  for (int r = 0; r < 3; ++r) {
    const std::string xyz = path("all") + "/trajectory-000" + std::to_string(r) + ".xyz";
    const std::string trr = path("copy" + std::to_string(r) + ".trr");
    const std::string copied = output_of("convert " + xyz + " -o " + trr);
    EXPECT_TRUE(contains(copied, "need --beads 8")) << copied;
    EXPECT_TRUE(contains(copied, "3 molecules of 8 beads, 11 frames")) << copied;
    const std::string back = path("b" + std::to_string(r)) + ".xyz";
    output_of("convert " + trr + " --beads 8 -o " + back);
    files += " " + back;
  }
  const std::string rdf = output_of("rdf" + files + " -o " + path("rdf.csv"));
  EXPECT_TRUE(contains(rdf, "3 molecules of 8 beads, 33 frames of 3 replicas")) << rdf;
  const std::string ours = path("rdf.csv"), of_run = path("all/rdf.csv");
  EXPECT_EQ(test::CsvReader(ours).header(), test::CsvReader(of_run).header());
  for (const char* column : {"r_A", "OO_count", "OH_count", "HH_count", "OO_g", "OH_g", "HH_n"}) {
    const std::vector<double> a = numbers_of(ours, column), b = numbers_of(of_run, column);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      EXPECT_NEAR(a[k], b[k], 1e-12 * std::abs(b[k])) << column;
    }
  }
  const std::vector<double> counts = numbers_of(ours, "OO_count");
  const double counted = std::accumulate(counts.begin(), counts.end(), 0.0);
  // All pairs of oxygens are within 12 A.
  EXPECT_EQ(counted, 3.0 * 8.0 * 33.0);
}

/// A resumed run cuts its trajectory to the frames of the checkpoint, in every format.
TEST_F(Quantum, ResumedTrajectoriesOfBeads) {
  for (const io::Format& format : io::formats()) {
    if (format.id == io::FileFormat::h5md && !io::has_h5md()) continue;
    const std::string name(format.name), parts = path(name + "-parts");
    SCOPED_TRACE(name);
    const std::string run = "run --quiet --no-pictures " + deck("pimd.toml", kRings) +
                            kOnlyTrajectory +
                            " --set observe.trajectory.every=50 --set observe.trajectory.beads=all"
                            " --set observe.trajectory.format=" +
                            name;
    output_of(run + " -o " + path(name));
    output_of(run + " --set run.steps=100 -o " + parts);
    const std::string checkpoint = read_text(parts + "/checkpoint.bin");
    output_of(run + " --set run.steps=150 --resume -o " + parts);
    write_text(parts + "/checkpoint.bin", checkpoint);
    output_of(run + " --resume -o " + parts);
    int files = 0;
    const auto whole = contents_of_run(path(name)), again = contents_of_run(parts);
    for (const auto& [file, text] : whole) {
      if (!file.starts_with("trajectory") && file != "topology.pdb") continue;
      ++files;
      EXPECT_EQ(again.at(file), text) << file;
    }
    EXPECT_EQ(files, format.id == io::FileFormat::h5md ? 1 : format.names_atoms ? 3 : 4);
    const std::string file = format.id == io::FileFormat::h5md
                                 ? "trajectory.h5"
                                 : "trajectory-0002" + std::string(format.extensions.front());
    const std::vector<io::Structure> frames = frames_of(parts + "/" + file);
    ASSERT_GE(frames.size(), 5u);
    EXPECT_EQ(frames.back().molecules, 24);
    EXPECT_EQ(frames.back().beads(), format.has_comments ? 8 : 1);
  }
}

/// Columns of a table with their errors, by row.
std::vector<analysis::MeanError> means_in(const std::string& table, const std::string& column) {
  const std::vector<double> mean = numbers_of(table, column),
                            error = numbers_of(table, column + "_err");
  std::vector<analysis::MeanError> means;
  for (std::size_t k = 0; k < mean.size(); ++k) means.push_back({mean[k], error[k]});
  return means;
}

/// The line of a text that contains a part.
std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

/// The numbers of beads that check proposes have the errors that it names, and the temperatures
/// have the acceptances, estimated and in runs, with few beads and many.
TEST_F(Quantum, ProposalsOfCheckAreRight) {
  const std::string words = "for about 30 %, temperatures_K = [";
  const std::string least = "neighbouring temperatures is ";
  for (const int beads : {8, 16, 40}) {
    SCOPED_TRACE(beads);
    const std::string rings = deck("rings.toml", "[path_integral]\n") +
                              " --unset observe --set system.replicas=60 --set exchange.every=20 "
                              "--set run.steps=1500 --set run.equilibration_ps=0.25 --unset "
                              "thermostat.temperature_K --set observe.path_integral.every=20 ";
    const auto with = [&](const std::string& ladder, int number) {
      return fmt::format("{} --set thermostat.temperatures_K=[{}] --set path_integral.beads={}",
                         rings, ladder, number);
    };
    const std::string first = output_of("check " + with("100,110,150", beads));
    EXPECT_LT(number_after(first, least), 5.0);
    for (const auto& [percent, word] : {std::pair(1.0, "; 1 % requires "), {0.1, "0.1 % "}}) {
      const auto needed = static_cast<int>(number_after(first, word));
      const std::string text = output_of("check " + with("100,110,150", needed));
      EXPECT_LE(number_after(text, "vibration at most "), percent);
    }
    std::string ladder = line_with(first, words);
    ladder.erase(0, ladder.find(words) + words.size());
    ladder.erase(ladder.find(']'));
    std::erase(ladder, ' ');
    // The proposed temperatures have four digits.
    const std::string proposed = with(ladder, beads);
    EXPECT_GE(number_after(output_of("check " + proposed), least), 29.0);
    output_of("run --quiet --no-pictures --overwrite " + proposed + " -o " + path("run"));
    const auto measured = means_in(path("run/exchange.csv"), "acceptance");
    EXPECT_GE(measured.size(), 3u);
    for (const analysis::MeanError& acceptance : measured) {
      // Vibrations with hydrogen bonds are up to a tenth slower or faster, which changes the
      // acceptance by less than a fifth.
      EXPECT_GT(acceptance.mean, 0.8 * 0.3 - 4.5 * acceptance.error);
    }
  }
}

/// Averages are those of tarn run, and limits those of the averages.
TEST_F(Quantum, ComparesNumbersOfBeads) {
  const std::string pimd = deck("pimd.toml", kTrotterRings);
  const std::string compared = output_of("compare --quiet --no-pictures " + pimd +
                                         " --schemes verlet --beads 4,1,8 -o " + path("beads"));
  EXPECT_TRUE(contains(compared, "verlet:beads=infinity"));
  output_of("run --quiet --no-pictures " + pimd + " -o " + path("run"));

  const std::array<int, 2> beads{4, 8};  // without one
  const CsvRows of_run(path("run/averages.csv"), {"table", "quantity"});
  const CsvRows limits(path("beads/bead_limits.csv"), {"quantity"});
  const std::vector<std::string> quantities = cells_of(path("beads/bead_limits.csv"), "quantity");
  EXPECT_EQ(quantities.size(), 9u);
  for (const std::string& quantity : quantities) {
    SCOPED_TRACE(quantity);
    const double limit = limits(quantity, "limit"), error = limits(quantity, "limit_err");
    std::vector<analysis::MeanError> means = means_in(path("beads/beads.csv"), quantity);
    ASSERT_EQ(means.size(), 3u);
    means.erase(means.begin() + 1);
    EXPECT_NEAR(means[1].mean, of_run("path_integral " + quantity, "mean"),
                1e-9 * std::abs(means[1].mean));
    const analysis::BeadLimit fit = analysis::bead_limit(beads, means);
    EXPECT_NEAR(limit, fit.limit.mean, 1e-6 * std::abs(limit));
    EXPECT_NEAR(error, fit.limit.error, 1e-6 * error);
  }
  // One bead is classical: its kinetic energy has no error.
  const std::vector<analysis::MeanError> kinetic =
      means_in(path("beads/beads.csv"), "kinetic_h_kcal_per_mol");
  EXPECT_NEAR(kinetic[1].mean, 1.5 * units::boltzmann_kcal_per_mol_K * 150.0, 1e-12);
  EXPECT_GT(kinetic[2].mean, kinetic[0].mean);
  EXPECT_GT(kinetic[0].mean, kinetic[1].mean);
}

/// Both kinds of frequencies in one table, of which one is extrapolated.
TEST_F(Quantum, ComparesFrequencies) {
  const std::string compared =
      output_of("compare --quiet --no-pictures " + deck("pimd.toml", kRings) +
                " --set run.steps=2000 --set run.equilibration_ps=0.3 --schemes verlet "
                "--beads 4,8 --frequencies economised,trotter -o " +
                path("kinds"));
  const std::vector<analysis::MeanError> energies =
      means_in(path("kinds/beads.csv"), "energy_virial_kcal_per_mol");
  ASSERT_EQ(energies.size(), 4u);
  // With few beads economised rings have more of the zero-point energy.
  EXPECT_GT(energies[1].mean, energies[3].mean + 4.5 * energies[1].error);
  const std::string limits = text_of("kinds/bead_limits.csv");
  EXPECT_TRUE(contains(limits, "verlet:frequencies=trotter,energy_virial"));
  EXPECT_FALSE(contains(limits, "economised"));
  EXPECT_TRUE(contains(compared, "verlet:frequencies=trotter:beads=infinity"));
}

TEST_F(Quantum, ComparesFlowsOfTheFreeRing) {
  output_of("compare --quiet --no-pictures " + deck("pimd.toml", kRings) +
            " --schemes verlet --free-ring cayley,exact --steps 0.25,0.5 -o " + path("rings"));
  EXPECT_EQ(
      cells_of(path("rings/beads.csv"), "scheme"),
      (std::vector<std::string>{
          "reference verlet:timestep_fs=0.125", "verlet:free_ring=cayley:timestep_fs=0.25",
          "verlet:free_ring=cayley:timestep_fs=0.5", "verlet:free_ring=exact:timestep_fs=0.25",
          "verlet:free_ring=exact:timestep_fs=0.5"}));
  // The flows differ.
  const std::vector<analysis::MeanError> energies =
      means_in(path("rings/beads.csv"), "energy_virial_kcal_per_mol");
  EXPECT_NE(energies[2].mean, energies[4].mean);
}

}  // namespace
}  // namespace tarn
