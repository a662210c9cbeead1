#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "command.hpp"
#include "scratch_folder.hpp"
#include "tarn/analysis/bead_limit.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/formats.hpp"
#include "trajectory_fixtures.hpp"

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
constexpr const char* kTrotterRings = "[path_integral]\nbeads = 8\nfrequencies = \"trotter\"\n";

TEST_F(Quantum, ResumedRunsHaveTheSameFiles) {
  const std::string pimd = deck("pimd.toml", kRings);
  const Outcome whole = test::command("run --quiet " + pimd + " -o " + path("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.text;
  ASSERT_EQ(
      test::command("run --quiet " + pimd + " --set run.steps=137 --threads 1 -o " + path("parts"))
          .exit_code,
      0);
  ASSERT_EQ(test::command("run --quiet " + pimd + " --resume -o " + path("parts")).exit_code, 0);
  for (const char* name : {"energies.csv", "path_integral.csv", "geometry.csv", "cluster.csv",
                           "conservation.csv", "temperatures.csv", "rdf.csv", "profile.csv",
                           "heat_capacity.csv", "averages.csv", "trajectory-0001.xyz"}) {
    const std::string file = std::string("/") + name;
    EXPECT_EQ(text_of("whole" + file), text_of("parts" + file)) << name;
  }
  // The heat capacity of so few beads is left out.
  EXPECT_FALSE(contains(text_of("whole/averages.csv"), "heat_capacity"));
  EXPECT_TRUE(
      contains(text_of("whole/run.json"), "heat_capacity.csv: 1 of 1 values by the covariance"));
  EXPECT_TRUE(contains(text_of("whole/cluster.csv"), "; of the centroids"));
  EXPECT_FALSE(contains(text_of("whole/rdf.csv"), "centroids"));
}

/// Positions of all frames of a trajectory.
std::vector<std::vector<double>> positions_in(const std::string& file) {
  std::vector<std::vector<double>> frames;
  for (const io::Structure& frame : test::frames_of(file)) frames.push_back(frame.positions_A);
  return frames;
}

/// Without other tables and their pictures.
constexpr const char* kOnlyTrajectory = " --unset observe --set run.equilibration_ps=0";

TEST_F(Quantum, TrajectoriesOfBeads) {
  const std::string pimd = deck("pimd.toml", kRings) + kOnlyTrajectory +
                           " --set observe.trajectory.every=20"
                           " --set observe.trajectory.replicas=2 --set system.recentre=true";
  for (const char* beads : {"centroid", "all", "5"}) {
    const Outcome run = test::command(
        "run --quiet " + pimd + " --set observe.trajectory.beads=" + beads + " -o " + path(beads));
    ASSERT_EQ(run.exit_code, 0) << run.text;
    EXPECT_FALSE(std::filesystem::exists(path(beads) + "/trajectory-0002.xyz"));
  }
  const std::string file = "/trajectory-0001.xyz";
  const auto centroids = positions_in(path("centroid") + file),
             all = positions_in(path("all") + file);
  const auto fifth = positions_in(path("5") + file);
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
    EXPECT_LT(test::largest_difference(mean, centroids[k]), 1e-13);
    bead.assign(all[k].begin() + 5 * kSize, all[k].begin() + 6 * kSize);
    EXPECT_EQ(fifth[k], bead);
    spread = std::max(spread, test::largest_difference(bead, mean));
  }
  EXPECT_GT(spread, 0.05);
  EXPECT_TRUE(contains(text_of("all" + file), "model=qtip4pf beads=8 step=20 "));
  EXPECT_TRUE(contains(text_of("5" + file), "model=qtip4pf bead=5 step=20 "));
  EXPECT_FALSE(contains(text_of("centroid" + file), "bead"));

  const std::string picture = path("beads.svg"), trr = path("a.trr");
  ASSERT_EQ(test::command("convert --quiet " + path("all") + file + " -o " + trr).exit_code, 0);
  for (const std::string& drawn : {path("all") + file, trr + " --beads 8"}) {
    ASSERT_EQ(test::command("draw " + drawn + " --frame 10 -o " + picture).exit_code, 0);
    EXPECT_TRUE(contains(test::read_text(picture), "0.100 ps, 8 beads</text>"));
  }
}

/// Radial distribution functions of all beads: pairs within each bead, as in the run.
TEST_F(Quantum, RdfOfATrajectoryOfBeads) {
  const std::string pimd = deck("pimd.toml", kRings) +
                           " --set run.equilibration_ps=0 --set observe.trajectory.every=20 --set "
                           "observe.trajectory.beads=all";
  ASSERT_EQ(test::command("run --quiet " + pimd + " -o " + path("all")).exit_code, 0);
  std::string files;
  for (int r = 0; r < 3; ++r) {
    const std::string xyz = path("all") + "/trajectory-000" + std::to_string(r) + ".xyz";
    const std::string trr = path("copy" + std::to_string(r) + ".trr");
    const Outcome copied = test::command("convert " + xyz + " -o " + trr);
    EXPECT_TRUE(contains(copied.text, "need --beads 8")) << copied.text;
    EXPECT_TRUE(contains(copied.text, "3 molecules of 8 beads, 11 frames")) << copied.text;
    ASSERT_EQ(
        test::command("convert " + trr + " --beads 8 -o " + path("b" + std::to_string(r)) + ".xyz")
            .exit_code,
        0);
    files += " " + path("b" + std::to_string(r)) + ".xyz";
  }
  const Outcome rdf = test::command("rdf" + files + " -o " + path("rdf.csv"));
  ASSERT_EQ(rdf.exit_code, 0) << rdf.text;
  EXPECT_TRUE(contains(rdf.text, "3 molecules of 8 beads, 33 frames of 3 replicas")) << rdf.text;
  io::CsvReader ours(path("rdf.csv")), of_run(path("all") + "/rdf.csv");
  ASSERT_EQ(ours.header(), of_run.header());
  std::vector<std::string_view> a, b;
  double counted = 0.0;
  while (ours.next(a)) {
    ASSERT_TRUE(of_run.next(b));
    for (const char* column : {"r_A", "OO_count", "OH_count", "HH_count", "OO_g", "OH_g", "HH_n"}) {
      const std::size_t c = ours.column(column);
      EXPECT_NEAR(ours.number(a[c]), of_run.number(b[c]), 1e-12 * std::abs(of_run.number(b[c])))
          << column;
    }
    counted += ours.number(a[ours.column("OO_count")]);
  }
  // All pairs of oxygens are within 12 A.
  EXPECT_EQ(counted, 3.0 * 8.0 * 33.0);
}

/// A resumed run cuts its trajectory to the frames of the checkpoint, in every format.
TEST_F(Quantum, ResumedTrajectoriesOfBeads) {
  for (const io::Format& format : io::formats()) {
    if (format.id == io::FileFormat::h5md && !io::has_h5md()) continue;
    const std::string name(format.name), parts = path(name + "-parts");
    SCOPED_TRACE(name);
    const std::string run = "run --quiet " + deck("pimd.toml", kRings) + kOnlyTrajectory +
                            " --set observe.trajectory.every=50 --set observe.trajectory.beads=all"
                            " --set observe.trajectory.format=" +
                            name;
    ASSERT_EQ(test::command(run + " -o " + path(name)).exit_code, 0);
    ASSERT_EQ(test::command(run + " --set run.steps=100 -o " + parts).exit_code, 0);
    std::filesystem::copy_file(parts + "/checkpoint.bin", path("checkpoint.bin"),
                               std::filesystem::copy_options::overwrite_existing);
    ASSERT_EQ(test::command(run + " --set run.steps=150 --resume -o " + parts).exit_code, 0);
    std::filesystem::copy_file(path("checkpoint.bin"), parts + "/checkpoint.bin",
                               std::filesystem::copy_options::overwrite_existing);
    const Outcome resumed = test::command(run + " --resume -o " + parts);
    ASSERT_EQ(resumed.exit_code, 0) << resumed.text;
    int files = 0;
    const auto whole = test::contents_of_run(path(name)), again = test::contents_of_run(parts);
    for (const auto& [file, text] : whole) {
      if (!file.starts_with("trajectory") && file != "topology.pdb") continue;
      ++files;
      EXPECT_EQ(again.at(file), text) << file;
    }
    EXPECT_EQ(files, format.id == io::FileFormat::h5md ? 1 : format.names_atoms ? 3 : 4);
    const std::string file = format.id == io::FileFormat::h5md
                                 ? "trajectory.h5"
                                 : "trajectory-0002" + std::string(format.extensions.front());
    const std::vector<io::Structure> frames = test::frames_of(parts + "/" + file);
    ASSERT_GE(frames.size(), 5u);
    EXPECT_EQ(frames.back().molecules, 24);
    EXPECT_EQ(frames.back().beads(), format.has_comments ? 8 : 1);
  }
}

TEST_F(Quantum, RefusesTrajectoriesOfBeadsWithoutMeaning) {
  const std::string pimd = deck("pimd.toml", kRings);
  const auto refusal = [&](const std::string& words) {
    const Outcome refused = test::command(words);
    EXPECT_EQ(refused.exit_code, 2) << words;
    return refused.text;
  };
  const std::string set = " -o " + path("out") + " --set observe.trajectory.beads=";
  for (const char* beads : {"all", "0", "centroid"}) {
    EXPECT_TRUE(contains(refusal("run " + deck("none.toml", "") + set + beads),
                         "beads is not used without a section [path_integral]"));
  }
  EXPECT_TRUE(contains(refusal("run " + pimd + set + "8"),
                       "beads = 8 exceeds the last bead: [path_integral] beads = 8, numbered from "
                       "0 to 7"));
  EXPECT_TRUE(contains(refusal("run " + pimd + set + "-1"), "an integer from 0 to 1023"));
  EXPECT_TRUE(
      contains(refusal("run " + pimd + set + "some"), "\"centroid\", \"all\" or an integer"));
  EXPECT_TRUE(
      contains(refusal("run " + pimd + set + "all --set observe.trajectory.velocities=true"),
               "velocities are those of the centroids"));

  ASSERT_EQ(
      test::command("run --quiet " + pimd + " --set observe.trajectory.beads=all -o " + path("all"))
          .exit_code,
      0);
  const std::string file = path("all") + "/trajectory-0000.xyz";
  EXPECT_TRUE(contains(refusal("energy " + file), "contains 8 beads of a ring polymer"));
  EXPECT_TRUE(contains(refusal("analyse " + file + " -o " + path("analysed")),
                       "the frames contain 8 beads of ring polymers"));
  EXPECT_TRUE(contains(refusal("rdf " + file + " --beads 7"),
                       "--beads 7: the frame has beads = 8; omit --beads"));
  EXPECT_TRUE(contains(refusal("rdf " + file + " --beads 0"), "--beads"));
  EXPECT_TRUE(contains(refusal("rdf " + file + " --beads 1"), "the frame has beads = 8"));

  // A format that cannot name the number of beads.
  const std::string xtc = path("a.xtc");
  ASSERT_EQ(test::command("convert " + file + " -o " + xtc).exit_code, 0);
  const std::string hint =
      "If the frames contain several beads of ring polymers, give their number";
  for (const std::string& command :
       {"energy " + xtc, "rdf " + xtc, "draw " + xtc + " -o a.svg",
        "convert " + xtc + " -o " + path("b.xyz"), "analyse " + xtc + " -o " + path("analysed")}) {
    EXPECT_TRUE(contains(refusal(command), hint)) << command;
  }
  EXPECT_TRUE(contains(refusal("rdf " + xtc + " --beads 7"), "24 molecules cannot form 7 beads"));
  // Eight beads of three molecules are not three beads of eight.
  for (const std::string& command :
       {"rdf " + xtc, "draw " + xtc + " -o a.svg", "convert " + xtc + " -o " + path("b.xyz")}) {
    EXPECT_TRUE(contains(refusal(command + " --beads 3"), "too far for a ring polymer")) << command;
    EXPECT_EQ(test::command(command + " --beads 8").exit_code, 0) << command;
  }
  const std::string one = path("one.xyz");
  test::write_text(one,
                   "6\nbead=3\nO 0 0 0\nH .96 0 0\nH -.24 .93 0\nO 0 0 1\nH .96 0 1\n"
                   "H -.24 .93 1\n");
  EXPECT_TRUE(contains(refusal("rdf " + one + " --beads 2"), "a single bead, bead = 3"));
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
                                 "[thermostat]\nkind = \"baoab\"\ntemperature_K = 150\n"
                                 "friction_per_ps = 0\n",
                                 state + "seed = 9\n");
  EXPECT_EQ(test::command("run --quiet " + trpmd + " -o " + path("trpmd")).exit_code, 0);
}

/// Rings that do not start in equilibrium are reported by check and by runs.
TEST_F(Quantum, WarnsOfStatesOfOtherRings) {
  const std::string classical = deck("classical.toml", "");
  ASSERT_EQ(test::command("run --quiet " + classical + " -o " + path("classical")).exit_code, 0);
  ASSERT_EQ(test::command("run --quiet " + deck("pimd.toml", kTrotterRings) + " -o " + path("pimd"))
                .exit_code,
            0);
  ASSERT_EQ(test::command("run --quiet " + deck("pimd.toml", kRings) + " -o " + path("economised"))
                .exit_code,
            0);
  const std::string warning = "the ring polymers do not start in equilibrium";
  const auto ring_deck = [&](const std::string& state, int beads, const char* method, double t_K) {
    const bool rpmd = std::string_view(method) == "rpmd";
    const std::string bath = fmt::format(
        "[thermostat]\nkind = \"baoab\"\ntemperature_K = {}\nfriction_per_ps = 1\n", t_K);
    return deck("ring.toml",
                fmt::format("[path_integral]\nbeads = {}\nmethod = \"{}\"\n"
                            "frequencies = \"trotter\"\n",
                            beads, method) +
                    (rpmd ? fmt::format("temperature_K = {}\n", t_K) : ""),
                rpmd ? "" : bath, "state = \"" + path(state) + "\"\nseed = 11\n");
  };
  const auto checked = [&](const std::string& state, int beads, const char* method, double t_K,
                           const std::string& more = "") {
    const Outcome outcome = test::command("check " + ring_deck(state, beads, method, t_K) + more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
    return outcome.text;
  };
  const std::string none = checked("classical", 8, "rpmd", 150);
  EXPECT_TRUE(contains(none,
                       "comes from a run with no beads at 150 K, and this deck has 8 beads at "
                       "150 K: " +
                           warning));
  EXPECT_TRUE(contains(none, "Start from the state of a pimd run with 8 beads at 150 K"));
  EXPECT_TRUE(contains(checked("pimd", 8, "rpmd", 300),
                       "8 beads at 150 K, and this deck has 8 "
                       "beads at 300 K: " +
                           warning));
  EXPECT_TRUE(contains(checked("pimd", 16, "rpmd", 150), warning));
  EXPECT_TRUE(contains(checked("pimd", 8, "rpmd", 150, " --set system.hydrogen_mass_Da=2.014"),
                       "masses change: H from 1.008 to 2.014 Da: " + warning));
  EXPECT_FALSE(contains(checked("pimd", 8, "rpmd", 150), warning));
  const std::string other = checked("economised", 8, "rpmd", 150);
  EXPECT_TRUE(
      contains(other,
               "8 beads at 150 K and economised frequencies up to 4038/cm, and this deck has 8 "
               "beads at 150 K and frequencies = \"trotter\": " +
                   warning))
      << other;
  for (const char* method : {"pimd", "trpmd"}) {
    // The decks have an equilibration of 0.05 ps, in which the beads spread.
    const std::string at_once = " --set run.equilibration_ps=0";
    EXPECT_TRUE(contains(checked("classical", 8, method, 150, at_once), warning)) << method;
    EXPECT_TRUE(contains(checked("classical", 8, method, 150, at_once), "Set [run] equilibration"));
    EXPECT_FALSE(contains(checked("classical", 8, method, 150), warning)) << method;
    EXPECT_FALSE(contains(checked("pimd", 8, method, 150, at_once), warning)) << method;
    EXPECT_TRUE(contains(checked("pimd", 8, method, 300), warning)) << method;
  }
  const Outcome run =
      test::command("run " + ring_deck("classical", 8, "rpmd", 150) + " -o " + path("rpmd"));
  EXPECT_EQ(run.exit_code, 0) << run.text;
  EXPECT_TRUE(contains(run.text, "warning: [system] state: ")) << run.text;
  EXPECT_TRUE(contains(run.text, warning)) << run.text;
}

/// The lines of provenance say what tables of ring polymers contain.
TEST_F(Quantum, TablesNameTheirAverages) {
  const std::string more = " --set observe.heat.every=20 --set observe.trajectory.beads=2";
  ASSERT_EQ(test::command("run --quiet " + deck("pimd.toml", kRings) + more + " -o " + path("pimd"))
                .exit_code,
            0);
  const auto head = [&](const std::string& name) {
    const std::string text = text_of("pimd/" + name);
    return text.substr(0, text.find(',', text.find('\n')));
  };
  for (const char* name : {"rdf.csv", "geometry.csv", "profile.csv"}) {
    EXPECT_TRUE(contains(head(name), "; over all beads")) << name;
  }
  for (const char* name : {"cluster.csv", "temperatures.csv", "spectrum.csv"}) {
    EXPECT_TRUE(contains(head(name), "; of the centroids")) << name;
  }
  EXPECT_TRUE(
      contains(head("conservation.csv"), "energy = Hamiltonian of the ring polymer, a sum"));
  EXPECT_TRUE(contains(head("heat.csv"), "sums over its beads"));
  EXPECT_TRUE(contains(head("energies.csv"), "means over the beads"));
  EXPECT_TRUE(contains(text_of("pimd/trajectory-0000.xyz"), "bead=2"));
  // What is conserved is the Hamiltonian minus the heat.
  io::CsvReader heat(path("pimd/heat.csv")), energies(path("pimd/conservation.csv"));
  std::vector<std::string_view> a, b;
  while (heat.next(a) && energies.next(b)) {
    EXPECT_NEAR(heat.number(a[heat.column("conserved_kcal_per_mol")]),
                energies.number(b[energies.column("energy_kcal_per_mol")]) -
                    heat.number(a[heat.column("heat_kcal_per_mol")]),
                1e-9);
  }
}

TEST_F(Quantum, RejectsInvalidDecks) {
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
  EXPECT_TRUE(contains(
      test::command("check " + pimd + " --set thermostat.kind=gla --set integrator.timestep_fs=0.5")
          .text,
      "potential energy of O-H stretches 3.5 % too large. Use kind = \"baoab\""));
  EXPECT_TRUE(contains(refusal(" --set path_integral.method=trpmd --set "
                               "path_integral.frequencies=economised"),
                       "require frequencies = \"trotter\""));
  EXPECT_TRUE(contains(refusal(" --set path_integral.frequencies=trotter --set "
                               "path_integral.highest_wavenumber_per_cm=4000"),
                       "highest_wavenumber_per_cm is not used with"));
  EXPECT_TRUE(contains(refusal(" --set path_integral.beads=1000 --set system.replicas=1000000"),
                       "with 1000 beads) exceed the limit"));
  EXPECT_TRUE(contains(refusal(" --set path_integral.beads=1025"), "1024"));
}

/// Columns of a table with their errors, by row.
std::vector<analysis::MeanError> means_in(const std::string& table, const std::string& column) {
  io::CsvReader csv(table);
  std::vector<analysis::MeanError> means;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    means.push_back(
        {csv.number(cells[csv.column(column)]), csv.number(cells[csv.column(column + "_err")])});
  }
  return means;
}

/// The line of a text that contains a part.
std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

/// The number after a word.
double number_after(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  EXPECT_NE(at, std::string::npos) << word << " in " << text;
  return at == std::string::npos ? 0.0 : std::stod(text.substr(at + word.size()));
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
    const std::string first = test::command("check " + with("100,110,150", beads)).text;
    EXPECT_LT(number_after(first, least), 5.0);
    for (const auto& [percent, word] : {std::pair(1.0, "; 1 % requires "), {0.1, "0.1 % "}}) {
      const auto needed = static_cast<int>(number_after(first, word));
      const std::string text = test::command("check " + with("100,110,150", needed)).text;
      EXPECT_LE(number_after(text, "vibration at most "), percent);
    }
    std::string ladder = line_with(first, words);
    ladder.erase(0, ladder.find(words) + words.size());
    ladder.erase(ladder.find(']'));
    std::erase(ladder, ' ');
    // The proposed temperatures have four digits.
    const std::string proposed = with(ladder, beads);
    EXPECT_GE(number_after(test::command("check " + proposed).text, least), 29.0);
    const Outcome run = test::command("run --quiet --overwrite " + proposed + " -o " + path("run"));
    ASSERT_EQ(run.exit_code, 0) << run.text;
    const auto measured = means_in(path("run/exchange.csv"), "acceptance");
    EXPECT_GE(measured.size(), 3u);
    for (const analysis::MeanError& acceptance : measured) {
      // Vibrations with hydrogen bonds are up to a tenth slower or faster, which changes the
      // acceptance by less than a fifth.
      EXPECT_GT(acceptance.mean, 0.8 * 0.3 - 4.5 * acceptance.error);
    }
  }
}

/// The last good structure of a ring polymer that blew up is its centroid, not its normal modes.
TEST_F(Quantum, KeepsCentroidsOfBlowUps) {
  const Outcome run = test::command("run --quiet " + deck("pimd.toml", kRings) +
                                    " --set integrator.timestep_fs=5 -o " + path("out"));
  EXPECT_EQ(run.exit_code, 3) << run.text;
  const io::Structure last = io::read_structure(path("out") + "/blow-up-0001.xyz");
  EXPECT_EQ(last.molecules, 3);
  EXPECT_EQ(last.positions_A.size(), 27u);
  EXPECT_EQ(last.velocities_A_per_akma.size(), 27u);
}

/// The exact flow of the free ring resonates at 1.26 fs, where the estimators of the energy no
/// longer agree. The Cayley form has no resonance.
TEST_F(Quantum, WarnsIfTheEstimatorsDisagree) {
  test::write_text(path("one.toml"),
                   "[system]\nmodel = \"qtip4pf\"\nmolecules = 1\nreplicas = 16\n"
                   "[integrator]\nscheme = \"verlet\"\ntimestep_fs = 1.1\n"
                   "[thermostat]\nkind = \"baoab\"\ntemperature_K = 300\nfriction_per_ps = 5\n"
                   "[path_integral]\nbeads = 32\nfrequencies = \"trotter\"\n"
                   "[run]\nduration_ps = 2\nequilibration_ps = 0.5\n"
                   "[observe.energies]\nevery = 10\n[observe.path_integral]\nevery = 10\n");
  const std::string warning = "by the primitive and by the virial estimator differ";
  for (const auto& [ring, warned] : {std::pair("cayley", false), {"exact", true}}) {
    const std::string keys = std::string(" --set path_integral.free_ring=") + ring;
    const Outcome run = test::command("run " + path("one.toml") + keys + " -o " + path(ring));
    EXPECT_EQ(contains(run.text, warning), warned) << run.text;
    EXPECT_EQ(contains(run.text, "Use free_ring = \"cayley\""), warned) << run.text;
  }
  const Outcome compared =
      test::command("compare " + path("one.toml") +
                    " --schemes verlet --free-ring cayley,exact -o " + path("compared"));
  EXPECT_TRUE(contains(compared.text, "verlet:free_ring=exact: the mean energies"))
      << compared.text;
  EXPECT_FALSE(contains(compared.text, "verlet:free_ring=cayley: the mean energies"));
}

/// check and run warn before the first step, compare at its end; run.json contains the warning.
TEST_F(Quantum, WarnsOfResonances) {
  const std::string rings =
      "[path_integral]\nbeads = 64\nfree_ring = \"exact\"\nfrequencies = \"trotter\"\n";
  const std::string warning = "free_ring = \"exact\" resonates: timestep_fs = ";
  const std::string exact =
      deck("exact.toml", rings) + " --set run.steps=2 --set run.equilibration_ps=0 ";
  for (const auto& [step, warned] : {std::pair("0.5", false), {"1.3", true}}) {
    const std::string words = exact + "--set integrator.timestep_fs=" + step;
    const std::string checked = test::command("check " + words).text;
    EXPECT_EQ(contains(checked, warning), warned) << step;
    const Outcome run = test::command("run --quiet --overwrite " + words + " -o " + path("out"));
    EXPECT_EQ(contains(run.text, warning), warned) << run.text;
    EXPECT_EQ(contains(text_of("out/run.json"), "resonates"), warned);
  }
  // Steps that blow up have no time. Those of 100 fs do so at once: a busy machine times only a
  // few.
  EXPECT_TRUE(contains(test::command("check " + exact + "--set integrator.timestep_fs=100").text,
                       "time: not estimated"));
  const std::string cayley =
      exact + "--set integrator.timestep_fs=1.3 --set path_integral.free_ring=cayley";
  EXPECT_FALSE(contains(test::command("check " + cayley).text, "resonates"));
  const Outcome compared =
      test::command("compare " + exact + "--set run.steps=20 --schemes verlet:timestep_fs=1.3 -o " +
                    path("compared"));
  EXPECT_TRUE(contains(compared.text, warning)) << compared.text;
}

/// Averages are those of tarn run, and limits those of the averages.
TEST_F(Quantum, ComparesNumbersOfBeads) {
  const std::string pimd = deck("pimd.toml", kTrotterRings);
  const Outcome compared = test::command("compare --quiet " + pimd +
                                         " --schemes verlet --beads 4,1,8 -o " + path("beads"));
  ASSERT_EQ(compared.exit_code, 0) << compared.text;
  EXPECT_TRUE(contains(compared.text, "verlet:beads=infinity"));
  ASSERT_EQ(test::command("run --quiet " + pimd + " -o " + path("run")).exit_code, 0);

  const std::array<int, 2> beads{4, 8};  // without one
  std::map<std::string, analysis::MeanError> of_run;
  io::CsvReader averages(path("run/averages.csv"));
  std::vector<std::string_view> cells;
  while (averages.next(cells)) {
    if (cells[averages.column("table")] != "path_integral") continue;
    of_run[std::string(cells[averages.column("quantity")])] = {
        averages.number(cells[averages.column("mean")]),
        averages.number(cells[averages.column("error")])};
  }
  io::CsvReader limits(path("beads/bead_limits.csv"));
  int rows = 0;
  while (limits.next(cells)) {
    ++rows;
    const std::string quantity(cells[limits.column("quantity")]);
    const double limit = limits.number(cells[limits.column("limit")]);
    const double error = limits.number(cells[limits.column("limit_err")]);
    std::vector<analysis::MeanError> means = means_in(path("beads/beads.csv"), quantity);
    ASSERT_EQ(means.size(), 3u);
    means.erase(means.begin() + 1);
    ASSERT_EQ(of_run.count(quantity), 1u) << quantity;
    EXPECT_NEAR(means[1].mean, of_run[quantity].mean, 1e-9 * std::abs(means[1].mean)) << quantity;
    const analysis::BeadLimit fit = analysis::bead_limit(beads, means);
    EXPECT_NEAR(limit, fit.limit.mean, 1e-6 * std::abs(limit)) << quantity;
    EXPECT_NEAR(error, fit.limit.error, 1e-6 * error) << quantity;
  }
  EXPECT_EQ(rows, 9);
  // One bead is classical: its kinetic energy has no error.
  const std::vector<analysis::MeanError> kinetic =
      means_in(path("beads/beads.csv"), "kinetic_h_kcal_per_mol");
  EXPECT_NEAR(kinetic[1].mean, 1.5 * units::boltzmann_kcal_per_mol_K * 150.0, 1e-12);
  EXPECT_GT(kinetic[2].mean, kinetic[0].mean);
  EXPECT_GT(kinetic[0].mean, kinetic[1].mean);
}

/// Both kinds of frequencies in one table, of which one is extrapolated.
TEST_F(Quantum, ComparesFrequencies) {
  const Outcome compared =
      test::command("compare --quiet " + deck("pimd.toml", kRings) +
                    " --set run.steps=2000 --set run.equilibration_ps=0.3 --schemes verlet "
                    "--beads 4,8 --frequencies economised,trotter -o " +
                    path("kinds"));
  ASSERT_EQ(compared.exit_code, 0) << compared.text;
  const std::vector<analysis::MeanError> energies =
      means_in(path("kinds/beads.csv"), "energy_virial_kcal_per_mol");
  ASSERT_EQ(energies.size(), 4u);
  // With few beads economised rings have more of the zero-point energy.
  EXPECT_GT(energies[1].mean, energies[3].mean + 4.5 * energies[1].error);
  const std::string limits = text_of("kinds/bead_limits.csv");
  EXPECT_TRUE(contains(limits, "verlet:frequencies=trotter,energy_virial"));
  EXPECT_FALSE(contains(limits, "economised"));
  EXPECT_TRUE(contains(compared.text, "verlet:frequencies=trotter:beads=infinity"));
  const Outcome same =
      test::command("compare " + deck("pimd.toml", kRings) +
                    " --schemes verlet --frequencies trotter,trotter -o " + path("same"));
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_TRUE(contains(same.text, "--frequencies: each kind must be given only once"));
}

TEST_F(Quantum, ComparesFlowsOfTheFreeRing) {
  const Outcome compared = test::command(
      "compare --quiet " + deck("pimd.toml", kRings) +
      " --schemes verlet --free-ring cayley,exact --steps 0.25,0.5 -o " + path("rings"));
  ASSERT_EQ(compared.exit_code, 0) << compared.text;
  io::CsvReader csv(path("rings/beads.csv"));
  std::vector<std::string> labels;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) labels.emplace_back(cells[csv.column("scheme")]);
  EXPECT_EQ(labels, (std::vector<std::string>{"reference verlet:timestep_fs=0.125",
                                              "verlet:free_ring=cayley:timestep_fs=0.25",
                                              "verlet:free_ring=cayley:timestep_fs=0.5",
                                              "verlet:free_ring=exact:timestep_fs=0.25",
                                              "verlet:free_ring=exact:timestep_fs=0.5"}));
  // The flows differ.
  const std::vector<analysis::MeanError> energies =
      means_in(path("rings/beads.csv"), "energy_virial_kcal_per_mol");
  EXPECT_NE(energies[2].mean, energies[4].mean);
}

TEST_F(Quantum, RefusesComparisonsWithoutMeaning) {
  const std::string pimd = deck("pimd.toml", kRings);
  const auto refusal = [&](const std::string& words) {
    const Outcome refused = test::command("compare " + words + " -o " + path("out"));
    EXPECT_EQ(refused.exit_code, 2) << words << refused.text;
    return refused.text;
  };
  EXPECT_TRUE(contains(refusal(pimd + " --schemes verlet --beads 4,8 --steps 0.5"),
                       "--beads cannot be combined with --steps"));
  EXPECT_TRUE(contains(refusal(pimd + " --schemes verlet --beads 4,4"), "given only once"));
  EXPECT_TRUE(contains(refusal(pimd + " --schemes verlet --beads 0"), "--beads 0"));
  EXPECT_TRUE(contains(refusal(pimd + " --schemes verlet --free-ring cayley,euler"), "exact"));
  EXPECT_TRUE(contains(refusal(pimd + " --schemes zss-stiff --beads 4,8"), "\"verlet\""));
  EXPECT_TRUE(contains(refusal(deck("none.toml", "") + " --schemes verlet --free-ring exact"),
                       "--free-ring needs a deck with [path_integral]"));
  const std::string inputs = std::string(TARN_SOURCE_DIR) + "/inputs/";
  EXPECT_TRUE(contains(refusal(inputs + "water7.toml --schemes shake --beads 4,8"),
                       "needs a flexible model"));
}

TEST_F(Quantum, CheckReportsQuantaAndBeads) {
  const Outcome checked = test::command("check " + deck("pimd.toml", kRings));
  EXPECT_TRUE(contains(checked.text, "beads = 8 are few at 150 K")) << checked.text;
  EXPECT_TRUE(contains(checked.text,
                       "8 beads with economised frequencies at 150 K: error of the kinetic "
                       "energy of a harmonic vibration at most 59 %; 1 % requires 40 beads, "
                       "0.1 % 56 beads"))
      << checked.text;
  const Outcome trotter = test::command("check " + deck("pimd.toml", kTrotterRings));
  EXPECT_TRUE(contains(trotter.text, "8 beads with Trotter frequencies at 150 K")) << trotter.text;
}

}  // namespace
}  // namespace tarn
