#include "io/convert.hpp"

#include "io/xdr.hpp"
#include "io/xyz.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/physics/water_model.hpp"
#include "testing.hpp"
#include "text_parts.hpp"
#include "trajectory_fixtures.hpp"

namespace tarn::io {
namespace {

using namespace test;
namespace fs = std::filesystem;

constexpr int kMolecules = 3;

/// A frame of the fixtures in XYZ format.
std::string frame_text(int step, int replica, const std::string& keys) {
  return xyz_frame(some_positions(kMolecules, step, replica), {}, keys);
}

class Convert : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string write(const std::string& name, const std::string& text) const {
    write_text(file(name), text);
    return file(name);
  }
  /// Frames of several replicas, one after another, 10 steps of 2 fs apart.
  std::string trajectory(int replicas, int frames, bool with_time = true) {
    std::string text;
    for (int r = 0; r < replicas; ++r) {
      for (int i = 0; i < frames; ++i) {
        text += frame_text(
            i, r,
            with_time ? fmt::format("model=spce step={} time_ps={:.17g} replica={} pbc=\"F F F\"",
                                    100 + 10 * i, 0.002 * (100 + 10 * i), r)
                      : "");
      }
    }
    return write("in.xyz", text);
  }
  std::vector<Structure> frames_of(const std::string& name) { return test::frames_of(file(name)); }
  Conversion convert(const std::string& from, const std::string& to) const {
    return convert_trajectory({file(from), file(to)});
  }
  /// All messages of a conversion.
  std::string notes(const std::string& from, const std::string& to) const {
    return fmt::format("{}", fmt::join(texts(convert(from, to).messages), "\n"));
  }
  /// Why a conversion is refused, which must change no file.
  std::string refusal(const ConvertOptions& options) const {
    const auto before = contents_of(folder_.path());
    const std::string message = message_of<InputError>([&] { convert_trajectory(options); });
    EXPECT_EQ(contents_of(folder_.path()), before);
    return message;
  }
  std::string refusal(const std::string& from, const std::string& to) const {
    return refusal(ConvertOptions{file(from), file(to)});
  }
  ScratchFolder folder_;
};

/// Frames go through every format; formats_test checks its precision.
TEST_F(Convert, ThereAndBack) {
  const std::string from = trajectory(1, 4);
  for (const Format& format : available_formats()) {
    SCOPED_TRACE(format.name);
    const std::string name = "out" + std::string(format.extensions.front());
    const Conversion done = convert("in.xyz", name);
    EXPECT_EQ(done.frames, 4);
    EXPECT_EQ(done.replicas, 1);
    EXPECT_EQ(done.molecules, kMolecules);
    EXPECT_TRUE(done.messages.empty());
    EXPECT_EQ(done.files.front(), file(name));
    convert(name, "back.xyz");
    const std::vector<Structure> written = frames_of(name), back = frames_of("back.xyz");
    ASSERT_EQ(back.size(), 4u);
    for (std::size_t i = 0; i < back.size(); ++i) {
      EXPECT_EQ(back[i].positions_A, written[i].positions_A);
      EXPECT_LE(largest_difference(back[i].positions_A, some_positions(kMolecules, i)), 1e-3);
      EXPECT_EQ(back[i].comment.at("step"), std::to_string(100 + 10 * i));
      // The timestep of DCD is a float, with a relative error of 6e-8; so is the time of XTC.
      EXPECT_NEAR(back[i].time_ps().value(), 0.2 + 0.02 * static_cast<double>(i), 1e-7);
    }
  }
  // A conversion to the same format gives the same file.
  EXPECT_EQ(read_text(file("out.xyz")), read_text(from));
}

TEST_F(Convert, ConvertsSelectedFrames) {
  ConvertOptions options{trajectory(3, 7), file("some.xyz")};
  options.frames.skip = 2;
  options.frames.every = 3;
  options.frames.replicas = {2, 0};
  const Conversion done = convert_trajectory(options);
  EXPECT_EQ(done.frames, 4);
  EXPECT_EQ(done.files, (std::vector<std::string>{file("some-0000.xyz"), file("some-0002.xyz")}));
  const std::vector<Structure> frames = frames_of("some-0002.xyz");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].comment.at("step"), "120");
  EXPECT_EQ(frames[1].comment.at("step"), "150");
  EXPECT_EQ(frames[1].positions_A, some_positions(kMolecules, 5, 2));
  EXPECT_EQ(frames[1].comment.at("replica"), "2");
  EXPECT_EQ(frames[1].model(), "spce");

  options.frames.max_frames = 1;
  options.frames.replicas = {0, 5, 2};
  const Conversion fewer = convert_trajectory(options);
  EXPECT_EQ(fewer.frames, 2);
  EXPECT_EQ(texts(fewer.messages), std::vector<std::string>{"the file contains no replica 5"});
  EXPECT_EQ(frames_of("some-0002.xyz").size(), 1u);

  options.frames.replicas = {1};
  options.model = "tip4p";
  convert_trajectory(options);
  EXPECT_EQ(frames_of("some.xyz").front().model(), "tip4p");
  options.frames.replicas = {3};
  EXPECT_TRUE(contains(refusal(options), "the file contains no replica 3"));
  options.frames.replicas = {};
  options.frames.skip = 7;
  EXPECT_TRUE(contains(refusal(options), "no frame is left"));
  options.to = file("a.foo");
  EXPECT_TRUE(contains(refusal(options), "one of .xyz"));
}

TEST_F(Convert, PutsAllReplicasIntoOneH5md) {
  if (!has_h5md()) GTEST_SKIP() << "no HDF5";
  trajectory(3, 4);
  EXPECT_EQ(convert("in.xyz", "all.h5").replicas, 3);
  const std::vector<Structure> frames = frames_of("all.h5");
  ASSERT_EQ(frames.size(), 12u);
  EXPECT_EQ(frames[6].replica_name(), "replica-0001");
  EXPECT_EQ(frames[6].positions_A, some_positions(kMolecules, 2, 1));
  convert("all.h5", "again.xyz");
  EXPECT_EQ(frames_of("again-0001.xyz")[2].positions_A, some_positions(kMolecules, 2, 1));
}

/// M is on the bisector of the H-O-H angle, at the distance of the model from the oxygen, and moves
/// with its molecule. GRO rounds both positions by 5e-7 A: 1e-6 A covers further roundings; PDB
/// rounds by 5e-4 A.
TEST_F(Convert, WritesTheFourthSite) {
  const WaterModel model = *find_water_model("tip4p2005");
  const double half = model.angle_hoh_degrees * std::numbers::pi / 360.0;
  const double across = model.r_oh_A * std::sin(half), along = model.r_oh_A * std::cos(half);
  // The second molecule is the first one rotated by 90 degrees about z and shifted by 3 A.
  const std::vector<double> positions_A{
      1.0, 2.0, 3.0, 1.0 + across, 2.0 + along,  3.0, 1.0 - across, 2.0 + along,  3.0,
      4.0, 2.0, 3.0, 4.0 - along,  2.0 + across, 3.0, 4.0 - along,  2.0 - across, 3.0};
  // A rotation about z through the first oxygen: v = (-y, x) relative to it.
  std::vector<double> velocities(positions_A.size(), 0.0);
  for (std::size_t i = 0; i < positions_A.size(); i += 3) {
    velocities[i] = -(positions_A[i + 1] - 2.0);
    velocities[i + 1] = positions_A[i] - 1.0;
  }
  write("in.xyz", xyz_frame(positions_A, velocities, "model=tip4p2005 step=0 time_ps=0 replica=0"));
  const double m_A[2][3]{{1.0, 2.0 + model.r_om_A, 3.0}, {4.0 - model.r_om_A, 2.0, 3.0}};
  ConvertOptions options{file("in.xyz"), file("out.xyz")};
  options.sites = true;
  convert_trajectory(options);
  std::istringstream xyz(read_text(file("out.xyz")));
  std::string line;
  std::getline(xyz, line);
  EXPECT_EQ(line, "8");
  std::getline(xyz, line);
  for (int k = 0; std::getline(xyz, line); ++k) {
    if (k % 4 != 3) continue;
    std::istringstream words(line);
    std::string species;
    double x[6];
    words >> species;
    for (double& number : x) words >> number;
    EXPECT_EQ(species, "X");
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(x[c], m_A[k / 4][c], few_roundings(4.0)) << line;
    EXPECT_NEAR(x[3], -(x[1] - 2.0), few_roundings(4.0)) << line;
    EXPECT_NEAR(x[4], x[0] - 1.0, few_roundings(4.0)) << line;
  }
  // Every format returns the same atoms and reports the site.
  for (const auto& [name, site, rounding] : {std::tuple{"out.xyz", "X ", 0.0},
                                             {"out.gro", "MW    4", 1e-6},
                                             {"out.pdb", " M   HOH", 5.1e-4},
                                             {"out.dcd", " M   HOH", 2.4e-7},
                                             {"out.trr", " M   HOH", 1.8e-15},
                                             {"out.xtc", " M   HOH", 4.8e-7}}) {
    options.to = file(name);
    const Conversion done = convert_trajectory(options);
    // Formats without atom names have a topology file.
    EXPECT_TRUE(contains(read_text(done.files.back()), site)) << name;
    const std::vector<Structure> frames = frames_of(name);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_TRUE(frames[0].has_sites);
    ASSERT_EQ(frames[0].molecules, 2);
    EXPECT_LE(largest_difference(frames[0].positions_A, positions_A), rounding) << name;
  }
  EXPECT_TRUE(contains(read_text(file("out.gro")),
                       fmt::format("{:5}{:<5}{:>5}{:5}{:12.7f}{:12.7f}", 2, "SOL", "MW", 8,
                                   m_A[1][0] / 10.0, m_A[1][1] / 10.0)));
}

/// Notes list data that a frame lacks or a format cannot store.
TEST_F(Convert, ReportsLostData) {
  trajectory(1, 3, false);
  EXPECT_TRUE(contains(notes("in.xyz", "a.gro"), "have no step and time"));
  EXPECT_EQ(frames_of("a.gro")[2].comment.at("step"), "2");
  const std::vector<double> velocities = some_positions(kMolecules, 1);
  write("v.xyz", xyz_frame(some_positions(kMolecules, 0), velocities, "step=0 time_ps=0"));
  convert("v.xyz", "v.gro");
  // Half of the last of eight decimals of nm/ps, 1e-7 A/ps, is 2.4e-9 A per AKMA unit of time.
  EXPECT_NEAR(frames_of("v.gro")[0].velocities_A_per_akma.at(3), velocities[3], 3e-9);
  std::string late;
  for (const int step : {0, 1, 2}) {
    late += frame_text(step, 0, fmt::format("step={} time_ps={}", std::int64_t{step} << 30, step));
  }
  write("late.xyz", late);
  write("sites.xyz",
        xyz_frame(std::vector<double>{0, 0, 0, 0.96, 0, 0, -0.24, 0.93, 0, 0.1, 0.1, 0}, {},
                  "step=0 time_ps=0", 4));
  // At 300 000 A the eight columns of a PDB file leave one decimal, too few for bonds.
  std::vector<double> distant(9, 3e5);
  distant[3] += 0.9572;
  distant[6] -= 0.24;
  distant[7] += 0.9266;
  write("distant.xyz", xyz_frame(distant, {}, "step=0 time_ps=0"));
  const char* steps = "steps in 32 bits: larger steps are written as 2147483647";
  expect_parts({
      {notes("v.xyz", "v.pdb"), "velocities"},
      {notes("late.xyz", "late.xtc"), steps},
      {notes("late.xyz", "late.trr"), steps},
      {notes("sites.xyz", "sites.trr"),
       "the virtual sites are left out, and the file names no water model"},
      {notes("distant.xyz", "distant.pdb"),
       "coordinates in .pdb have only 1 decimal in angstrom from step 0 of replica 0"},
  });
  EXPECT_EQ(frames_of("late.trr").back().comment.at("step"), "2147483647");
  EXPECT_EQ(frames_of("late.trr").back().time_ps(), 2.0);
  if (!has_h5md()) return;
  EXPECT_EQ(notes("late.xyz", "late.h5"), "");
  EXPECT_EQ(notes("distant.xyz", "distant.h5"), "");
}

TEST_F(Convert, RefusesSitesThatAreNot) {
  ConvertOptions options{trajectory(1, 2), file("out.gro")};
  options.sites = true;
  EXPECT_TRUE(contains(refusal(options), "molecules of spce have no virtual site"));
  options.model = "tip4p";
  options.to = file("out.h5");
  EXPECT_TRUE(contains(refusal(options), "h5md cannot store virtual sites"));
  options.model.clear();
  options.from = trajectory(1, 2, false);
  options.to = file("out.pdb");
  EXPECT_TRUE(contains(refusal(options), "--model"));
}

/// Every format that can store bath temperatures keeps them for each replica.
TEST_F(Convert, KeepsTheBathsOfReplicas) {
  std::string text;
  for (int r = 0; r < 3; ++r) {
    const double bath_K = 100.5 + 20 * r;
    text += frame_text(0, r, fmt::format("step=0 time_ps=0 replica={} bath_K={}", r, bath_K));
  }
  write("in.xyz", text);
  for (const Format& format : available_formats()) {
    if (!format.names_atoms) continue;
    ConvertOptions options{file("in.xyz"), file("all" + std::string(format.extensions.front()))};
    options.frames.replicas = {0, 2};
    std::vector<double> baths_K;
    for (const std::string& name : convert_trajectory(options).files) {
      for (const Structure& frame : test::frames_of(name)) {
        baths_K.push_back(frame.bath_K().value_or(0.0));
      }
    }
    EXPECT_EQ(baths_K, (std::vector<double>{100.5, 140.5})) << format.name;
  }
}

/// A conversion that is interrupted leaves no incomplete file and keeps older files.
TEST_F(Convert, LeavesNothingHalfDone) {
  const std::string from = trajectory(1, 6);
  write("old.xyz", "old");
  const auto before = contents_of(folder_.path());
  for (const bool in_writing : {false, true}) {
    ConvertOptions options{from, file("old.xyz")};
    options.on_progress = [in_writing](bool writing, std::int64_t done, std::int64_t frames) {
      EXPECT_EQ(frames, writing ? 6 : 0);
      return !(writing == in_writing && done == 3);
    };
    EXPECT_TRUE(convert_trajectory(options).interrupted);
    EXPECT_EQ(contents_of(folder_.path()), before);
  }
  EXPECT_TRUE(contains(refusal("in.xyz", "in.xyz"), "would be overwritten"));
}

/// A DCD file has the frames and the interval of its own replica, one after another or interleaved
/// in the other file, with or without steps.
TEST_F(Convert, DcdKeepsTimes) {
  const auto write_frames = [&](int replicas, bool interleaved, bool steps, double first_ps) {
    std::string text;
    for (int i = 0; i < 4 * replicas; ++i) {
      const int replica = interleaved ? i % replicas : i / 4;
      const int frame = interleaved ? i / replicas : i % 4;
      // The replicas have different intervals: 0.5 ps and 1 ps, both of ten steps.
      const double time_ps = first_ps + 0.5 * (1 + replica) * frame;
      text += frame_text(frame, replica,
                         fmt::format("replica={}{} time_ps={}", replica,
                                     steps ? fmt::format(" step={}", 10 * frame) : "", time_ps));
    }
    write("in.xyz", text);
  };
  // The timestep of DCD is a float, with a relative error of 6e-8, and so are the positions.
  const auto expect_frames = [&](const std::string& name, double interval_ps, int replica = 0) {
    const std::vector<Structure> frames = frames_of(name);
    ASSERT_EQ(frames.size(), 4u);
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(frames[i].time_ps().value(), interval_ps * i, 3e-7);
      const std::vector<double> expected = some_positions(kMolecules, i, replica);
      EXPECT_LE(largest_difference(frames[i].positions_A, expected), 2.4e-7);
    }
  };
  write_frames(1, false, false, 0.0);
  EXPECT_TRUE(contains(notes("in.xyz", "out.dcd"), "have no step"));
  expect_frames("out.dcd", 0.5);

  for (const bool interleaved : {false, true}) {
    for (const bool steps : {false, true}) {
      write_frames(2, interleaved, steps, 0.0);
      EXPECT_EQ(convert("in.xyz", "out.dcd").messages.size(), steps ? 0u : 1u);
      expect_frames("out-0000.dcd", 0.5);
      expect_frames("out-0001.dcd", 1.0, 1);
    }
  }

  // If one frame has no time, frame numbers replace all times.
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += frame_text(i, 0, i == 2 ? "replica=0" : fmt::format("replica=0 time_ps={}", 0.5 * i));
  }
  write("in.xyz", text);
  convert("in.xyz", "out.dcd");
  expect_frames("out.dcd", 1.0);

  // DCD cannot store a time of the first step.
  write_frames(1, false, true, 7.0);
  EXPECT_TRUE(contains(notes("in.xyz", "out.dcd"), "they begin at 0 ps instead of the 7 ps of"));
  expect_frames("out.dcd", 0.5);

  // A single frame determines the timestep.
  ConvertOptions options{file("in.xyz"), file("last.dcd")};
  options.frames.skip = 3;
  EXPECT_TRUE(convert_trajectory(options).messages.empty());
  EXPECT_NEAR(frames_of("last.dcd").at(0).time_ps().value(), 8.5, 8.5 * 6e-8);

  // A note reports uneven times, with and without steps.
  for (const bool steps : {false, true}) {
    std::string uneven;
    for (const int i : {0, 1, 3}) {
      const std::string step = steps ? fmt::format("step={} ", i) : "";
      uneven += frame_text(i, 0, fmt::format("{}time_ps={}", step, i));
    }
    write("in.xyz", uneven);
    EXPECT_TRUE(contains(notes("in.xyz", "out.dcd"), "frames are not evenly spaced in time"));
  }
}

/// Formats without atom names have a topology file, which must not overwrite the input either.
TEST_F(Convert, TheTopologyBesideSparesOtherFiles) {
  trajectory(1, 4);
  convert("in.xyz", "x-topology.pdb");
  const fs::path topology = file("x-topology.pdb");
  const auto expect_refusals = [&](const std::string& from, const std::string& why) {
    for (const char* to : {"x.dcd", "x.xtc", "x.trr"}) {
      EXPECT_TRUE(contains(refusal(from, to), why)) << to;
    }
  };
  expect_refusals("x-topology.pdb", "x-topology.pdb' is an input file and would be overwritten");
  fs::rename(topology, file("y.pdb"));
  fs::create_symlink("y.pdb", topology);
  expect_refusals("y.pdb", "y.pdb' is an input file and would be overwritten");
  fs::remove(topology);
  fs::create_symlink("/dev/null", topology);
  expect_refusals("y.pdb", "'/dev/null' is not a regular file");
  fs::remove(topology);
  fs::create_symlink("x.dcd", topology);
  EXPECT_TRUE(contains(message_of<InputError>([&] { convert("y.pdb", "x.dcd"); }),
                       "would be written twice"));
}

/// A killed run leaves an incomplete last frame: the complete ones are used, with a note. A file
/// that ends within its first frame, or is damaged in the middle, is an error.
TEST_F(Convert, TheEndMayBeMissing) {
  trajectory(1, 4);
  for (const Format& format : formats()) {
    if (format.id == FileFormat::h5md) continue;
    SCOPED_TRACE(format.name);
    const std::string extension(format.extensions.front()), cut = "cut" + extension;
    convert("in.xyz", "whole" + extension);
    const std::string whole = read_text(file("whole" + extension));
    // A DCD file has three blocks of floats per frame, each between marks of four bytes.
    const std::size_t last_frame =
        format.id == FileFormat::dcd ? 3 * (8 + sizeof(float) * 3 * kMolecules) : whole.size() / 4;
    int left_out = 0;
    for (std::size_t less = 1; less < last_frame * 3 / 4; less += 7) {
      SCOPED_TRACE(less);
      write(cut, whole.substr(0, whole.size() - less));
      const Conversion done = convert(cut, "out.xyz");
      ASSERT_TRUE(done.frames == 3 || done.frames == 4);
      EXPECT_EQ(done.messages.size(), done.frames == 3 ? 1u : 0u);
      EXPECT_EQ(frames_of("out.xyz").size(), static_cast<std::size_t>(done.frames));
      if (done.frames == 4) continue;
      ++left_out;
      EXPECT_TRUE(contains(done.messages[0].text,
                           "ends within its frame 3 (counted from 0), which is left out"));
    }
    EXPECT_GT(left_out, 10);
    // Damage before the last frame is an error.
    std::string damaged = whole;
    // The position of a length.
    const std::size_t middle = whole.size() / 2 + (format.names_atoms ? last_frame / 2 : 0);
    write(cut, damaged.replace(middle, last_frame / 3, last_frame / 3, '?'));
    refusal(cut, "none.xyz");
    if (format.id == FileFormat::pdb) continue;  // a single model needs no end record
    write(cut, whole.substr(0, last_frame / 2));
    refusal(cut, "none.xyz");
  }
}

/// Coordinates too large for any cluster are refused.
TEST_F(Convert, AbsurdCoordinatesAreRefused) {
  TrajectoryInfo info;
  info.molecules = 4;
  info.path = file("huge.trr");
  const auto writer = format_of(FileFormat::trr).write(info);
  writer->create();
  for (int step = 0; step < 2; ++step) {
    writer->append({0, step, 0.001 * step, some_positions(4, 0)});
  }
  writer->finish();
  // The last coordinate of the last frame, in nm.
  std::string bytes = read_text(info.path), number;
  put_xdr(number, 1e299);
  write("huge.trr", bytes.replace(bytes.size() - number.size(), number.size(), number));
  EXPECT_TRUE(contains(refusal("huge.trr", "out.xyz"),
                       "huge.trr: frame 1 (counted from 0): a coordinate of atom 11 is 1e+300"));
}

/// Numbers that do not fit a format are refused with file, frame and atom. They must also fit the
/// topology file.
TEST_F(Convert, NumbersThatDoNotFitAFormatAreRefused) {
  std::vector<double> far = some_positions(4, 1), very_far = far;
  for (double& x : far) x += 3e5;
  for (std::size_t i = 27; i < very_far.size(); i += 3) very_far[i] += 5e8;
  const std::string near_frame = xyz_frame(some_positions(4, 0), {}, "step=0");
  const std::string far_frame = xyz_frame(very_far, {}, "step=1");
  write("far.xyz", near_frame + xyz_frame(far, {}, "step=1"));
  write("later.xyz", near_frame + far_frame);
  write("first.xyz", far_frame);
  expect_parts({
      // Too far away for the integers that XTC uses for more than nine atoms.
      {refusal("far.xyz", "out.xtc"),
       "far.xyz: frame 1 (counted from 0): atom 0 is at 299999 A, which does not fit an XTC file"},
      {refusal("later.xyz", "out.xtc"), "frame 1 (counted from 0): atom 9 is"},
      {refusal("later.xyz", "out.pdb"), "frame 1 (counted from 0): atom 9 is at 5e+08 A"},
      {refusal("first.xyz", "out.dcd"), "in the topology: atom 9 is at 5e+08 A"},
      {refusal("first.xyz", "out.trr"), "in the topology: atom 9 is at 5e+08 A"},
  });
}

}  // namespace
}  // namespace tarn::io
