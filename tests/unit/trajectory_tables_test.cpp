#include "observe/trajectory_tables.hpp"

#include <regex>

#include "csv_columns.hpp"
#include "csv_reader.hpp"
#include "io/convert.hpp"
#include "quiet_run.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/io/structure.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

using Row = std::vector<std::string>;

std::vector<Row> rows_of(const std::string& path) {
  std::vector<Row> rows;
  test::CsvReader csv(path);
  std::vector<std::string_view> cells;
  while (csv.next(cells)) rows.emplace_back(cells.begin(), cells.end());
  return rows;
}

/// A frame of two molecules at a distance, after its own words in the comment.
std::string frame_of_two(const std::string& words, double distance_A) {
  return fmt::format(
      "6\nmodel=tip3p {0} replica=0\nO 0 0 0\nH 0.9572 0 0\nH -0.24 0.9266 0\n"
      "O {1} 0 0\nH {2} 0.7569 0\nH {2} -0.7569 0\n",
      words, distance_A, distance_A + 0.5859);
}

/// Runs of two molecules in three replicas, 40 frames each, with all that is measured of a
/// trajectory measured at its frames.
class TrajectoryTablesTest : public ::testing::Test {
 protected:
  std::string run(const std::string& format, const std::string& model = "tip3p",
                  const std::string& bath = "temperature_K = 60.0") {
    const std::string out = folder_.file("run-" + format);
    const bool one_bath = !contains(bath, "temperatures_K");
    const Deck deck = parse_deck(
        fmt::format(
            "[system]\nmolecules = 4\nreplicas = 3\nmodel = \"{}\"\n"
            "[integrator]\nscheme = \"settle\"\ntimestep_fs = 2.0\n"
            "[thermostat]\nkind = \"gla\"\n{}\nfriction_per_ps = 5.0\n"
            "[run]\nsteps = 390\n[observe.energies]\nevery = 10\n[observe.cluster]\nevery = 10\n"
            "[observe.profile]\nevery = 10\n[observe.trajectory]\nevery = 10\nformat = \"{}\"\n{}",
            model, bath, format,
            one_bath ? "[observe.correlation]\nevery = 10\nlength_ps = 0.2\n" : ""),
        "test.toml");
    run_deck(deck, quiet_run(out, 1));
    return out;
  }
  TrajectoryTables tables(const std::vector<std::string>& files, std::int64_t skipped = 0) {
    TrajectoryTablesOptions options = options_of(files);
    options.frames.skip = skipped;
    return write_trajectory_tables(options);
  }
  TrajectoryTablesOptions options_of(const std::vector<std::string>& files) const {
    TrajectoryTablesOptions options;
    options.files = files;
    options.folder = folder_.file("tables");
    options.pictures = false;
    return options;
  }
  /// The files of the replicas of a run.
  static std::vector<std::string> files_of(const std::string& out, const std::string& end = "xyz") {
    std::vector<std::string> files;
    for (int r = 0; r < 3; ++r) {
      files.push_back(fmt::format("{}/trajectory-000{}.{}", out, r, end));
    }
    return files;
  }
  std::vector<Row> rows(const std::string& table) const {
    return rows_of(folder_.file("tables/" + table + ".csv"));
  }
  /// The messages, but for the warning that such short trajectories always cause.
  static std::vector<std::string> told(const TrajectoryTables& result) {
    std::vector<std::string> all = texts(result.messages);
    std::erase_if(all, [](const std::string& text) {
      return text.starts_with("too few independent samples");
    });
    return all;
  }
  static void expect_refusal(const TrajectoryTablesOptions& options, std::string_view part) {
    expect_throws<InputError>({part}, [&] { write_trajectory_tables(options); });
  }
  /// The average of a quantity; null if there is none.
  static const AveragedQuantity* average(const TrajectoryTables& result, std::string_view table,
                                         std::string_view quantity) {
    const auto found = std::ranges::find_if(result.averages, [&](const AveragedQuantity& a) {
      return a.table == table && a.quantity == quantity;
    });
    return found == result.averages.end() ? nullptr : &*found;
  }

  ScratchFolder folder_;
};

/// The tables of a run equal those of its files, in formats that keep all digits: energies and
/// shapes to rounding, because engines compute them in lanes.
TEST_F(TrajectoryTablesTest, EqualTheTablesOfTheRun) {
  for (const std::string format : {"xyz", "h5md"}) {
    if (format == "h5md" && !io::has_h5md()) continue;
    const std::string out = run(format);
    const TrajectoryTables result =
        tables(format == "h5md" ? std::vector{out + "/trajectory.h5"} : files_of(out));
    EXPECT_EQ(result.frames, 120);
    EXPECT_EQ(result.replicas, 3);
    EXPECT_EQ(result.molecules, 4);
    EXPECT_EQ(result.model, "tip3p");
    EXPECT_TRUE(told(result).empty()) << "the files have times";
    if (format == "xyz") {
      EXPECT_FALSE(io::read_structure(out + "/trajectory-0000.xyz").bath_K()) << "of one bath";
    }
    const std::vector<Row> of_run = rows_of(out + "/cluster.csv"), of_files = rows("cluster");
    const std::vector<Row> energies = rows_of(out + "/energies.csv"), potential = rows("potential");
    for (const auto* all : {&of_run, &of_files, &potential}) ASSERT_EQ(all->size(), 120u);
    for (std::size_t i = 0; i < of_run.size(); ++i) {
      EXPECT_EQ(std::stoi(of_run[i][0]), 10 * std::stoi(of_files[i][0]));
      EXPECT_NEAR(std::stod(of_run[i][1]), std::stod(of_files[i][1]), few_roundings(10.0));
      EXPECT_EQ(of_run[i][2], of_files[i][2]);
      for (std::size_t c = 3; c < of_run[i].size(); ++c) {
        const double value = std::stod(of_run[i][c]), again = std::stod(of_files[i][c]);
        // Lengths of some angstroms; fluctuations of the Lindemann index are a thousandth of them.
        EXPECT_TRUE(std::isnan(value) ? std::isnan(again)
                                      : std::abs(value - again) <= few_roundings(1000.0));
      }
      // The same sum in another order.
      EXPECT_NEAR(std::stod(energies[i][3]), std::stod(potential[i][3]), 1e-11);
    }
    // Sums over the replicas are of other groups.
    const std::vector<Row> profile = rows_of(out + "/profile.csv"), again = rows("profile");
    ASSERT_EQ(profile.size(), again.size());
    for (std::size_t i = 0; i < profile.size(); ++i) {
      for (std::size_t c : {0u, 1u, 3u, 5u, 9u}) {
        const double value = std::stod(profile[i][c]);
        EXPECT_NEAR(value, std::stod(again[i][c]), 1e-13 * (1.0 + value));
      }
    }
    for (const Row& row : rows_of(out + "/averages.csv")) {
      if (row[0] != "cluster") continue;
      const AveragedQuantity* const found = average(result, row[0], row[1]);
      ASSERT_TRUE(found) << row[1];
      EXPECT_NEAR(found->mean, std::stod(row[2]), 1e-12 * std::abs(found->mean)) << row[1];
      EXPECT_NEAR(found->error, std::stod(row[3]), 1e-9 * found->error + 1e-12) << row[1];
    }
  }
}

/// Correlations too, where they are asked for.
TEST_F(TrajectoryTablesTest, CorrelationsEqualThoseOfTheRun) {
  const std::string out = run("xyz");
  TrajectoryTablesOptions options = options_of(files_of(out));
  options.correlation_ps = 0.2;
  const TrajectoryTables result = write_trajectory_tables(options);
  const std::vector<Row> of_run = rows_of(out + "/correlation.csv"), of_files = rows("correlation");
  ASSERT_EQ(of_run.size(), 11u);
  ASSERT_EQ(of_files.size(), 11u);
  for (std::size_t i = 0; i < of_run.size(); ++i) {
    for (std::size_t c = 0; c < of_run[i].size(); c += c == 0 ? 1 : 2) {
      // Sums of up to 4 molecules, 16 origins, 2 windows and 3 replicas.
      EXPECT_NEAR(std::stod(of_run[i][c]), std::stod(of_files[i][c]),
                  rounding(400, 4, 1.0 + std::stod(of_run[i][c])));
    }
  }
  const AveragedQuantity* const found = average(result, "correlation", "dipole_p1_time_ps");
  ASSERT_TRUE(found);
  EXPECT_GT(found->mean, 0.0);
  // Frames left out: half as many samples, at twice the interval.
  options.frames.every = 2;
  expect_refusal(options, "require 21 frames per replica at these intervals, but there are 20");
  options.correlation_ps = 0.16;
  write_trajectory_tables(options);
  const std::vector<Row> of_half = rows("correlation");
  ASSERT_EQ(of_half.size(), 5u);
  EXPECT_NEAR(std::stod(of_half[4][0]), 0.16, 1e-12);

  // Replicas that are too short are left out, and told.
  const std::string text = read_text(options.files[1]);
  std::size_t end = 0;
  for (int line = 0; line < 14 * 10; ++line) end = text.find('\n', end) + 1;
  write_text(folder_.file("short.xyz"), text.substr(0, end));
  options.frames.every = 1;
  options.correlation_ps = 0.2;
  const std::vector<std::string> whole = options.files;
  options.files = {whole[0], folder_.file("short.xyz"), whole[2]};
  const std::vector<std::string> told = texts(write_trajectory_tables(options).messages);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0],
            "1 of 3 replicas have fewer than 26 frames and are excluded from correlation.csv");
  options.files = whole;

  // What there is too little for, or no time of; no folder is left of it.
  options.folder = folder_.file("none");
  options.frames.every = 1;
  for (const double length_ps : {-1.0, 0.0, HUGE_VAL, std::nan("")}) {
    options.correlation_ps = length_ps;
    expect_refusal(options, "the time must be greater than 0");
  }
  for (const double length_ps : {0.8, 1e300}) {
    options.correlation_ps = length_ps;
    expect_refusal(options, "replicas span 0.78 ps; the limit is half of that");
  }
  options.correlation_ps = 0.2;
  write_text(folder_.file("timeless.xyz"),
             std::regex_replace(read_text(options.files[0]), std::regex(" time_ps=[^ \n]*"), ""));
  options.files = {folder_.file("timeless.xyz")};
  expect_refusal(options, "require frames at known and even times: the frames have no");
  const std::string ladder = run("h5md", "tip3p", "temperatures_K = [60.0, 80.0, 100.0]");
  options.files = {ladder + "/trajectory.h5"};
  if (io::has_h5md()) expect_refusal(options, "one temperature, but the frames have several");
  options.files = {folder_.file("timeless.xyz")};
  // An analysis without them leaves none of an earlier one.
  EXPECT_FALSE(std::filesystem::exists(options.folder));
  options.folder = folder_.file("tables");
  options.correlation_ps.reset();
  write_trajectory_tables(options);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("tables/correlation.csv")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("tables/correlation.svg")));
}

/// Replicas whose frames take turns in one file are what they are in files of their own.
TEST_F(TrajectoryTablesTest, ReplicasMayBeInterleaved) {
  const std::vector<std::string> files = files_of(run("xyz"));
  std::vector<std::ifstream> inputs(files.begin(), files.end());
  std::string text, line;
  for (int k = 0; std::getline(inputs[k / 14 % 3], line); ++k) text += line + "\n";  // 14 a frame
  write_text(folder_.file("turns.xyz"), text);
  for (const std::int64_t skipped : {0, 30}) {
    const TrajectoryTables apart = tables(files, skipped);
    const std::string rows = read_text(folder_.file("tables/cluster.csv"));
    const TrajectoryTables turns = tables({folder_.file("turns.xyz")}, skipped);
    EXPECT_EQ(turns.replicas, 3);
    EXPECT_EQ(turns.frames, apart.frames);
    EXPECT_EQ(read_text(folder_.file("tables/cluster.csv")), rows);
  }
}

TEST_F(TrajectoryTablesTest, SkipRequestedFrames) {
  const std::string out = run("xyz");
  const TrajectoryTables result = tables({out + "/trajectory-0001.xyz"}, 30);
  EXPECT_EQ(result.frames, 10);
  const std::vector<Row> left = rows("cluster");
  ASSERT_EQ(left.size(), 10u);
  EXPECT_EQ(left[0][0], "30") << "the place of the frame in its replica";
  EXPECT_EQ(left[0][2], "0") << "replicas are counted";
}

/// Two molecules that swing about a distance, in the first sixteen of 128 frames about another.
TEST_F(TrajectoryTablesTest, ReportAnUnequilibratedStart) {
  const auto notes_of = [&](double start_A, int replicas) {
    std::string text;
    for (int k = 0; k < 128; ++k) {
      text += frame_of_two(fmt::format("step={0} time_ps={0}", k),
                           (k < 16 ? start_A : 3.0) + 0.1 * std::sin(2.0 * k));
    }
    std::vector<std::string> files;
    for (int r = 0; r < replicas; ++r) {
      files.push_back(folder_.file(fmt::format("swing-{}.xyz", r)));
      write_text(files.back(), text);
    }
    return told(tables(files));
  };
  EXPECT_TRUE(notes_of(3.0, 1).empty());
  // Of several replicas one comes after the other: nothing is known.
  EXPECT_TRUE(notes_of(3.6, 3).empty());
  const std::vector<std::string> notes = notes_of(3.6, 1);
  ASSERT_EQ(notes.size(), 1u);
  expect_parts_of(notes[0], {"not equilibrated. potential_kcal_per_mol ", "--skip"});
}

TEST_F(TrajectoryTablesTest, FramesWithoutTimesAreCounted) {
  const std::string text = read_text(run("xyz") + "/trajectory-0000.xyz");
  const std::string path = folder_.file("timeless.xyz");
  std::ofstream(path) << std::regex_replace(text, std::regex(" time_ps=[^ ]*"), "");
  const TrajectoryTables result = tables({path});
  ASSERT_EQ(told(result).size(), 1u);
  EXPECT_TRUE(contains(told(result)[0], "no times"));
  EXPECT_EQ(rows("cluster")[7][1], "7");
}

/// Each frame has its own time, whatever the others have; times of correlation are told in ps where
/// the frames are evenly spaced, and are not otherwise.
TEST_F(TrajectoryTablesTest, FramesHaveTheirOwnTimes) {
  const auto file_of = [&](const std::string& name, const std::vector<double>& times) {
    std::string text;
    for (const double time : times) {
      text += frame_of_two(fmt::format("time_ps={}", time), 3.0 + 0.1 * std::sin(20.0 * time));
    }
    write_text(folder_.file(name), text);
    return folder_.file(name);
  };
  const auto told = [](const TrajectoryTables& result, const char* text) {
    return std::ranges::count_if(result.messages,
                                 [&](const Message& note) { return contains(note.text, text); });
  };
  const auto times_of = [&] {
    std::vector<std::string> times;
    for (const Row& row : rows("potential")) times.push_back(row[1]);
    return times;
  };
  using Times = std::vector<std::string>;
  // What begins late, and is evenly spaced; a file of one frame does not tell otherwise.
  const std::string late = file_of("late.xyz", {100.5, 101.0, 101.5, 102.0});
  TrajectoryTables result = tables({file_of("one.xyz", {7.0}), late});
  EXPECT_TRUE(TrajectoryTablesTest::told(result).empty());
  EXPECT_EQ(times_of(), (Times{"7", "100.5", "101", "101.5", "102"}));
  const auto correlation_ps = [&] {
    return average(result, "potential", "potential_kcal_per_mol")->autocorrelation_ps.value();
  };
  const double in_ps = correlation_ps();
  // The same frames without times count as 1 ps apart.
  const std::string text = read_text(late);
  write_text(folder_.file("counted.xyz"),
             std::regex_replace(text, std::regex(" time_ps=[^ ]*"), ""));
  result = tables({folder_.file("counted.xyz")});
  const double in_frames = correlation_ps();
  result = tables({late});
  EXPECT_GT(in_ps, 0.0);
  EXPECT_DOUBLE_EQ(correlation_ps(), 0.5 * in_frames);
  // A gap, and another interval than that of the others.
  result = tables({file_of("gap.xyz", {0.0, 0.5, 1.0, 10.0, 10.5})});
  EXPECT_EQ(told(result, "not evenly spaced"), 1);
  EXPECT_EQ(times_of(), (Times{"0", "0.5", "1", "10", "10.5"}));
  for (const bool sparse_first : {false, true}) {
    const std::string dense = file_of("dense.xyz", {0.0, 0.5, 1.0, 1.5});
    const std::string sparse = file_of("sparse.xyz", {0.0, 5.0, 10.0});
    result = sparse_first ? tables({sparse, dense}) : tables({dense, sparse});
    EXPECT_EQ(told(result, "not evenly spaced"), 1);
    EXPECT_EQ(times_of(), (Times{"0", "0", "0.5", "1", "1.5", "5", "10"}));
  }
  // What single precision holds of late times is even.
  std::vector<double> rounded;
  for (int k = 0; k < 40; ++k) rounded.push_back(200000.0f + 0.05f * static_cast<float>(k));
  result = tables({file_of("rounded.xyz", rounded)});
  EXPECT_EQ(told(result, "evenly"), 0);
  EXPECT_EQ(told(result, "repeat"), 0);
  // Frames of one time all, as of a file without a time step, are counted.
  result = tables({file_of("same.xyz", {5.0, 5.0, 5.0})});
  EXPECT_EQ(told(result, "no times") + told(result, "some frames have no time"), 1);
  EXPECT_EQ(times_of(), (Times{"0", "1", "2"}));
  // A frame that comes twice, as where two pieces of a run were put together.
  result = tables({file_of("twice.xyz", {0.0, 0.0, 0.5, 1.0})});
  EXPECT_EQ(told(result, "repeat"), 1);
  EXPECT_EQ(told(result, "no times"), 0);
  EXPECT_EQ(times_of(), (Times{"0", "0", "0.5", "1"}));
}

/// Frames of several baths name theirs; one average of all of them is told as what it is.
TEST_F(TrajectoryTablesTest, ReportPooledBaths) {
  const std::string several = "temperatures_K = [60.0, 90.5]";
  for (const std::string format : {"xyz", "gro", "pdb", "h5md"}) {
    if (format == "h5md" && !io::has_h5md()) continue;
    SCOPED_TRACE(format);
    const std::string out = run(format, "tip3p", several);
    const std::vector<std::string> files =
        format == "h5md" ? std::vector(3, out + "/trajectory.h5") : files_of(out, format);
    std::vector<std::optional<double>> baths_K;
    for (int r = 0; r < 3; ++r) {
      baths_K.push_back(io::read_structure(files[static_cast<std::size_t>(r)], {39, r}).bath_K());
    }
    EXPECT_EQ(baths_K, (std::vector<std::optional<double>>{60.0, 90.5, 60.0}));
    TrajectoryTablesOptions options = options_of(files);
    if (format == "h5md") options.files.resize(1);
    const std::vector<std::string> texts = told(write_trajectory_tables(options));
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_TRUE(contains(texts[0], "among them 60 and 90.5 K"));
    options.frames.replicas = {0, 2};
    if (format != "h5md") options.files = {files[0], files[2]};
    EXPECT_TRUE(told(write_trajectory_tables(options)).empty());
  }
}

TEST_F(TrajectoryTablesTest, TheModelDecidesTheEnergy) {
  const std::string xyz = run("xyz", "spce") + "/trajectory-0000.xyz";
  EXPECT_EQ(tables({xyz}).model, "spce");
  const std::string own = rows("potential")[0][3];
  TrajectoryTablesOptions options = options_of({xyz});
  options.folder = folder_.file("other");
  options.model = "tip3p";
  EXPECT_EQ(write_trajectory_tables(options).model, "tip3p");
  EXPECT_NE(rows_of(folder_.file("other/potential.csv"))[0][3], own);
  options.model = "tip9p";
  expect_refusal(options, "tip9p");
}

/// What fails on the way leaves the tables of before, and nothing else.
TEST_F(TrajectoryTablesTest, ReplaceOlderTablesAtTheEnd) {
  const std::string path = run("xyz") + "/trajectory-0000.xyz";
  tables({path});
  const auto before = contents_of(folder_.file("tables"));
  ASSERT_FALSE(before.empty());
  const std::string water = "O 0 0 0\nH 0.9572 0 0\nH -0.2399872 0.92662721 0\n";
  const std::string apart = "O 5 0 0\nH 5.9572 0 0\nH 4.7600128 0.92662721 0\n";
  const std::string bad = folder_.file("bad.xyz");
  write_text(bad, "6\n\n" + water + apart + "6\n\n" + water + water);
  EXPECT_THROW(tables({bad}), InputError);
  EXPECT_EQ(contents_of(folder_.file("tables")), before);
  write_text(bad, "6\n\n" + water + apart);
  tables({bad});
  const auto after = contents_of(folder_.file("tables"));
  EXPECT_NE(after.at("potential.csv"), before.at("potential.csv"));
  for (const auto& [name, text] : after) EXPECT_TRUE(before.contains(name)) << name;
}

/// Some frames of a file are as good as a file of these frames.
TEST_F(TrajectoryTablesTest, TakeTheFramesThatAreChosen) {
  const std::string path = run("xyz") + "/trajectory-0000.xyz";
  const io::FrameSelection chosen{.skip = 4, .every = 3, .max_frames = 9};
  io::convert_trajectory({.from = path, .to = folder_.file("some.xyz"), .frames = chosen});
  const TrajectoryTables of_all = tables({path});
  const std::vector<Row> all = rows("cluster");
  const TrajectoryTables of_some = tables({folder_.file("some.xyz")});
  TrajectoryTablesOptions options = options_of({path});
  options.frames = chosen;
  const TrajectoryTables result = write_trajectory_tables(options);
  EXPECT_EQ(result.frames, 9);
  const std::vector<Row> left = rows("cluster");
  ASSERT_EQ(left.size(), 9u);
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i][0], all[4 + 3 * i][0]) << "steps are places in the file";
    EXPECT_NEAR(std::stod(left[i][1]), std::stod(all[4 + 3 * i][1]), few_roundings(10.0));
    // All but the Lindemann index, which is of the frames so far.
    EXPECT_TRUE(std::equal(left[i].begin() + 2, left[i].end() - 1, all[4 + 3 * i].begin() + 2))
        << i;
  }
  ASSERT_EQ(result.averages.size(), of_some.averages.size());
  for (std::size_t i = 0; i < result.averages.size(); ++i) {
    const AveragedQuantity &own = result.averages[i], &other = of_some.averages[i];
    EXPECT_EQ(own.mean, other.mean) << own.quantity;
    EXPECT_NEAR(own.error, other.error, 1e-12 * other.error) << own.quantity;
    // Times are differences of decimals.
    ASSERT_EQ(own.autocorrelation_ps.has_value(), other.autocorrelation_ps.has_value());
    const double own_ps = own.autocorrelation_ps.value_or(std::nan(""));
    EXPECT_TRUE(std::isnan(own_ps) || std::abs(own_ps / *other.autocorrelation_ps - 1.0) <= 1e-9)
        << own.quantity;
  }
  EXPECT_NE(result.averages[0].mean, of_all.averages[0].mean);
}

TEST_F(TrajectoryTablesTest, UseTheCompleteFramesOfATruncatedFile) {
  const std::string path = run("xyz") + "/trajectory-0000.xyz";
  const TrajectoryTables whole = tables({path});
  const std::string text = read_text(path);
  write_text(path, text.substr(0, text.size() - 200));
  const TrajectoryTables cut = tables({path});
  EXPECT_EQ(cut.frames, whole.frames - 1);
  ASSERT_EQ(cut.messages.size(), whole.messages.size() + 1);
  EXPECT_TRUE(contains(cut.messages.front().text, "ends within its frame"));
}

/// Atoms that a program left at the origin have no energy.
TEST_F(TrajectoryTablesTest, RefuseCoincidentAtoms) {
  const std::string water = "O 0 0 0\nH 0.9572 0 0\nH -0.24 0.9266 0\n";
  const std::string whole =
      "6\nstep=0 time_ps=0\n" + water + "O 0 0 3\nH 0.9572 0 3\nH -0.24 0.9266 3\n";
  const std::string unset = "6\nstep=1 time_ps=1\n" + water + "O 0 0 0\nH 0 0 0\nH 0 0 0\n";
  write_text(folder_.file("unset.xyz"), whole + unset);
  const TrajectoryTablesOptions options = options_of({folder_.file("unset.xyz")});
  expect_refusal(options,
                 "unset.xyz:14:1: frame 1 (counted from 0): O of molecule 1 is 0 A from O of "
                 "molecule 0");
  EXPECT_FALSE(std::filesystem::exists(options.folder));
}

TEST_F(TrajectoryTablesTest, RejectUnsupportedRequests) {
  const std::string out = run("xyz");
  TrajectoryTablesOptions options = options_of({out + "/trajectory-0000.xyz"});
  options.folder = out;
  expect_refusal(options, "is the folder of a run");
  EXPECT_EQ(rows_of(out + "/cluster.csv").size(), 120u) << "nothing is lost";
  options.folder = folder_.file("tables");
  options.frames.skip = 40;
  expect_refusal(options, "no frames are left");
  options.frames.skip = 0;
  options.frames.replicas = {7};
  expect_refusal(options, "the files contain no replica 7");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("tables"))) << "before anything is written";
}

}  // namespace
}  // namespace tarn
