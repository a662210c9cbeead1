// XTC and TRR: contents of our files, and files written by GROMACS in tests/data/trajectories.

#include "full_product.hpp"
#include "io/xdr.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "testing.hpp"
#include "text_parts.hpp"
#include "trajectory_fixtures.hpp"

namespace tarn::io {
namespace {

using namespace test;

const std::string kFolder = TARN_SOURCE_DIR "/tests/data/trajectories/";

std::string number(std::int32_t value) {
  std::string text;
  put_xdr(text, value);
  return text;
}

std::string replaced(std::string bytes, std::size_t at, const std::string& with) {
  return bytes.replace(at, with.size(), with);
}

/// Places in a TRR file: the first number of the header, and the box, after header, time and
/// lambda.
constexpr std::size_t kFirstNumber = 4 + 8 + 12, kBox = kFirstNumber + 13 * 4 + 16;

class Gromacs : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  static std::unique_ptr<TrajectoryWriter> writer_of(const std::string& path, int molecules,
                                                     int sites_per_molecule = 3) {
    TrajectoryInfo info;
    info.path = path;
    info.molecules = molecules;
    info.sites_per_molecule = sites_per_molecule;
    auto writer = trajectory_format_of(path).write(info);
    writer->create();
    return writer;
  }
  /// Writes one frame to a file of that name.
  std::string written(const std::string& name, const std::vector<double>& positions_A,
                      std::int64_t step = 0) {
    const auto writer = writer_of(file(name), static_cast<int>(positions_A.size() / 9));
    writer->append({0, step, 0.5, positions_A});
    writer->finish();
    return file(name);
  }
  std::string problem(const std::string& name, const std::string& bytes) {
    write_text(file(name), bytes);
    return message_of<InputError>([&] { frames_of(file(name)); });
  }
  ScratchFolder folder_;
};

/// gmx trjconv made both from the GRO file, whose decimals are 10^-6 A: the XTC file in units of
/// 10^-3 A, the TRR file in single precision. Half a unit in the last place of a float is 2^-25 nm
/// for positions below 1 nm, and 2^-23 nm/ps for velocities below 4 nm/ps.
TEST_F(Gromacs, ReadsFilesOfGromacs) {
  const std::vector<Structure> gro = frames_of(kFolder + "gromacs.gro");
  ASSERT_EQ(gro.size(), 3u);
  for (const auto& [name, rounding_A] :
       {std::pair{"gromacs.xtc", 0.5e-3}, {"gromacs.trr", 10.0 * std::ldexp(1.0, -25)}}) {
    SCOPED_TRACE(name);
    const std::vector<Structure> frames = frames_of(kFolder + name);
    ASSERT_EQ(frames.size(), gro.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_EQ(frames[i].molecules, 12);
      EXPECT_FALSE(frames[i].has_box);
      EXPECT_FALSE(frames[i].has_sites);
      EXPECT_LE(largest_difference(frames[i].positions_A, gro[i].positions_A), rounding_A + 1e-9);
      EXPECT_EQ(frames[i].comment.at("step"), std::to_string(250 * i));
      EXPECT_EQ(frames[i].time_ps(), 0.5 * static_cast<double>(i));
      if (name == std::string("gromacs.xtc")) {
        EXPECT_TRUE(frames[i].velocities_A_per_akma.empty());
      } else {
        EXPECT_LE(largest_difference(frames[i].velocities_A_per_akma, gro[i].velocities_A_per_akma),
                  0.489 * std::ldexp(1.0, -23));
      }
    }
  }
}

/// Covers numbers of atoms around the largest uncompressed one; clusters near and far from the
/// origin; clusters so wide that integers are not packed together (16.7 million units of 10^-4 A);
/// and a molecule so long that its atoms are not stored as differences.
TEST_F(Gromacs, CompressedPositionsAreRightToTheirUnit) {
  const auto check = [&](std::vector<double> positions_A, double rounding_A) {
    const std::vector<Structure> frames = frames_of(written("a.xtc", positions_A, 7));
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_LE(largest_difference(frames[0].positions_A, positions_A), rounding_A);
    EXPECT_EQ(frames[0].comment.at("step"), "7");
  };
  constexpr double kHalf_A = 0.5e-4 + 1e-11;
  for (const int molecules : {1, 2, 3, 4, 5, 32, 33, 100}) {
    SCOPED_TRACE(molecules);  // uncompressed, a float in nm below 1
    check(some_positions(molecules, 1), molecules <= 3 ? 10.0 * std::ldexp(1.0, -25) : kHalf_A);
  }
  // The largest difference is 838.8608 A in both directions.
  for (const double shift_A : {-3000.0, -800.0, 5.0, 100.0, 700.0, 830.0, 900.0, 40000.0}) {
    SCOPED_TRACE(shift_A);
    std::vector<double> whole = some_positions(6, 2), molecule = whole, atom = whole;
    for (double& value : whole) value += shift_A;
    for (std::size_t i = 0; i < 9; ++i) molecule[i] += shift_A;
    atom[3] += shift_A;
    for (const std::vector<double>& x : {whole, molecule, atom}) check(x, kHalf_A);
  }
  std::vector<double> far = some_positions(4, 0);
  far[0] = 2e5;
  EXPECT_TRUE(contains(message_of<IoError>([&] { written("b.xtc", far); }), "does not fit an XTC"));
}

/// A hundred molecules: H1 needs the bits for the extent of the cluster. O and H2 need the smallest
/// size above their differences. One bit per molecule indicates an unchanged size.
TEST_F(Gromacs, CompressedWaterTakesTheBitsOfItsExtent) {
  const std::vector<double> x =
      read_structure(TARN_SOURCE_DIR "/inputs/structures/tip3p-100.xyz").positions_A;
  constexpr double kUnit_A = 1e-4;
  double product = 1.0, widest = 0.0;
  for (std::size_t c = 0; c < 3; ++c) {
    double least = x[c], most = x[c];
    for (std::size_t i = c; i < x.size(); i += 3) {
      least = std::min(least, x[i]);
      most = std::max(most, x[i]);
    }
    product *= (most - least) / kUnit_A;
  }
  for (std::size_t o = 0; o < x.size(); o += 9) {
    for (std::size_t h = o + 3; h < o + 9; ++h) {
      widest = std::max(widest, std::abs(x[h] - x[o + (h - o) % 3]));
    }
  }
  // Sizes are 2^(bits/3) and cover differences of both signs.
  const double bits = std::ceil(std::log2(product)) + 1.0 +
                      2.0 * std::ceil(3.0 * std::log2(2.0 * widest / kUnit_A));
  const auto bytes = static_cast<double>(read_text(written("a.xtc", x)).size());
  constexpr double kHeader = 92.0;
  // One bit more if a size is just above or below.
  EXPECT_NEAR(8.0 * (bytes - kHeader) / 100.0, bits, 3.0);
  EXPECT_LT(bytes, 0.55 * static_cast<double>(sizeof(float) * x.size()));
}

/// The site M of TIP4P is left out, and is not mistaken for a hydrogen if twelve atoms may be three
/// or four molecules. Numbers of atoms that are not a multiple of three, compressed and
/// uncompressed, with velocities.
TEST_F(Gromacs, FourthSitesAreFound) {
  const auto with_site = [](const std::vector<double>& atoms) {
    std::vector<double> sites;
    for (std::size_t m = 0; m < atoms.size(); m += 9) {
      sites.insert(sites.end(), &atoms[m], &atoms[m] + 9);
      sites.insert(sites.end(), {atoms[m] + 0.1, atoms[m + 1] + 0.1, atoms[m + 2]});
    }
    return sites;
  };
  for (const std::string name : {"a.trr", "a.xtc", "a.dcd"}) {
    for (const int molecules : {1, 2, 3, 4, 7}) {
      SCOPED_TRACE(name + fmt::format(" {}", molecules));
      const std::string path = file(name);
      const std::vector<double> x = some_positions(molecules, 2), v = some_positions(molecules, 3);
      const auto writer = writer_of(path, molecules, 4);
      writer->append({0, 0, 0.0, with_site(x), with_site(v)});
      writer->finish();
      const std::vector<Structure> frames = frames_of(path);
      ASSERT_EQ(frames.size(), 1u);
      EXPECT_TRUE(frames[0].has_sites);
      EXPECT_EQ(frames[0].molecules, molecules);
      const double rounding = name == "a.trr" ? std::ldexp(1.0, -49) : 0.5001e-4;
      EXPECT_LE(largest_difference(frames[0].positions_A, x), rounding);
      if (name != "a.trr") continue;
      EXPECT_LE(largest_difference(frames[0].velocities_A_per_akma, v), rounding);
    }
    const std::vector<Structure> plain = frames_of(written(name, some_positions(4, 1)));
    EXPECT_FALSE(plain[0].has_sites);
    EXPECT_EQ(plain[0].molecules, 4);
  }
}

/// Anything but water is refused, also with a matching number of atoms. A few broken molecules are
/// left to check_molecules().
TEST_F(Gromacs, RejectsOtherMolecules) {
  std::vector<double> x;
  for (int atom = 0; atom < 12; ++atom) x.insert(x.end(), {3.0 * atom, 0.0, 0.0});
  for (const std::string name : {"a.trr", "a.xtc", "a.dcd"}) {
    const std::string path = written(name, x);
    expect_throws<InputError>(
        {"fewer than half of the 12 atoms of the first frame belong to molecules O H H"},
        [&] { frames_of(path); });
  }
  std::vector<double> broken = some_positions(6, 0);
  broken[3] += 18.0;
  const std::string path = written("b.xtc", broken);
  const std::vector<Structure> frames = frames_of(path);
  ASSERT_EQ(frames.size(), 1u);
  expect_throws<InputError>({"frame 7 (counted from 0): H1 of molecule 0 is 19 A"},
                            [&] { check_molecules(frames[0], *open_frames(path), 7); });
  // Later frames are not checked.
  const std::string four = read_text(written("d.trr", some_positions(4, 0)));
  std::vector<double> apart = some_positions(4, 0);
  for (std::size_t i = 3; i < apart.size(); i += 9) apart[i] += 20.0;
  std::string moved;
  for (const double value : apart) put_xdr(moved, value / 10.0);
  const std::string other = four.substr(0, four.size() - moved.size()) + moved;
  write_text(file("e.trr"), four + other);
  const std::vector<Structure> both = frames_of(file("e.trr"));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_LE(largest_difference(both[1].positions_A, apart), 1e-13);
  EXPECT_FALSE(problem("f.trr", other).empty());  // alone it is not water
  std::string five;
  for (const std::int32_t number : {1995, 5, 0, 0}) put_xdr(five, number);
  for (int i = 0; i < 9; ++i) put_xdr(five, 0.0f);
  put_xdr(five, std::int32_t{5});
  for (int i = 0; i < 15; ++i) put_xdr(five, 0.5f);
  EXPECT_TRUE(contains(problem("c.xtc", five), "5 atoms do not form whole water molecules"));
}

/// GROMACS can write velocities and forces more often than positions.
TEST_F(Gromacs, FramesWithoutPositionsArePassedOver) {
  const std::string with = read_text(written("a.trr", some_positions(1, 0), 12));
  ASSERT_EQ(with.substr(kFirstNumber + 7 * 4, 4), number(72));
  // The frame of one molecule with forces instead of positions.
  const std::string without =
      replaced(replaced(with, kFirstNumber + 7 * 4, number(0)), kFirstNumber + 9 * 4, number(72));
  write_text(file("b.trr"), without + with + without);
  const std::vector<Structure> frames = frames_of(file("b.trr"));
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].comment.at("step"), "12");
  expect_parts({
      {problem("c.trr", without + without), "none of the 2 frames has positions"},
      {problem("e.trr", without + "garbage, and more of it"),
       "the number 1993 is missing in frame 0"},
      // Only frames with positions are counted.
      {problem("d.trr", with + without + with.substr(0, 90)), "in frame 1"},
  });
}

TEST_F(Gromacs, VirialsAndNoBox) {
  const std::string with = read_text(written("a.trr", some_positions(1, 0), 3));
  // Virial and pressure are between box and positions.
  std::string more = replaced(with, kFirstNumber + 3 * 4, number(72) + number(72));
  std::string less = replaced(with, kFirstNumber + 2 * 4, number(0));
  for (const std::string& other : {more.insert(kBox + 72, 144, '\1'), less.erase(kBox, 72)}) {
    write_text(file("b.trr"), other);
    EXPECT_EQ(frames_of(file("b.trr"))[0].positions_A, frames_of(file("a.trr"))[0].positions_A);
  }
  // A precision that changes within the frame.
  EXPECT_TRUE(contains(problem("d.trr", replaced(with, kFirstNumber + 2 * 4, number(36))),
                       "lengths do not match its number of atoms"));
}

TEST_F(Gromacs, DetectsABox) {
  for (const std::string name : {"a.trr", "a.xtc"}) {
    std::string length;
    put_xdr(length, 2.5f);
    // Its first number.
    const std::string bytes = read_text(written(name, some_positions(1, 0)));
    write_text(file(name), replaced(bytes, name == "a.xtc" ? 16 : kBox, length));
    EXPECT_TRUE(frames_of(file(name))[0].has_box) << name;
  }
}

/// A file truncated anywhere gives its complete frames and a note, but no note if truncated between
/// frames.
TEST_F(Gromacs, ReportsTruncatedFiles) {
  for (const auto& [name, ends] :
       {std::pair{"gromacs.xtc", std::vector<std::size_t>{268, 536, 808}},
        {"gromacs.trr", std::vector<std::size_t>{984, 1968, 2952}}}) {
    SCOPED_TRACE(name);
    const std::string whole = read_text(kFolder + name);
    ASSERT_EQ(whole.size(), ends.back());
    const auto step = static_cast<std::size_t>(sparse_step());
    for (std::size_t length = 4; length < whole.size(); length += step) {
      const std::string path = file(name);
      write_text(path, whole.substr(0, length));
      const auto reader = open_frames(path);
      const auto expected = std::ranges::count_if(ends, [&](auto end) { return end <= length; });
      std::int64_t frames = 0;
      std::string message;
      try {
        while (reader->next()) ++frames;
      } catch (const InputError& error) {
        message = error.what();
      }
      ASSERT_EQ(frames, expected) << length;
      ASSERT_EQ(message.empty(), std::ranges::count(ends, length) == 1) << length;
      if (message.empty()) continue;
      EXPECT_TRUE(reader->is_cut_off());
      EXPECT_TRUE(contains(message, "cut off or damaged in frame " + std::to_string(frames)));
    }
  }
}

/// Damage in the middle is an error and not mistaken for a truncated file: no valid frame is lost
/// silently.
TEST_F(Gromacs, DamagedLengthsAreNoEnd) {
  struct Place {
    const char* name;
    std::size_t frame, first, last;  // bytes, the latter ones in the frame
  };
  // The magic number, both lengths of the version and all numbers of the header except step and
  // results.
  for (const Place& p : {Place{"gromacs.trr", 984, 0, 11}, Place{"gromacs.trr", 984, 24, 67},
                         Place{"gromacs.xtc", 268, 0, 7}, Place{"gromacs.xtc", 268, 52, 55},
                         Place{"gromacs.xtc", 268, 88, 88}}) {
    std::string bytes = read_text(kFolder + p.name);
    for (std::size_t at = p.frame + p.first; at <= p.frame + p.last; ++at) {
      bytes[at] ^= 0x10;
      write_text(file(p.name), bytes);
      bytes[at] ^= 0x10;
      const auto reader = open_frames(file(p.name));
      std::string note;
      EXPECT_TRUE(next_whole_frame(*reader, 0, note));
      EXPECT_THROW(next_whole_frame(*reader, 1, note), InputError) << p.name << " " << at;
    }
  }
}

/// A changed byte causes an error or different, finite numbers, and nothing else.
TEST_F(Gromacs, DamagedBytesAreNoDisaster) {
  for (const std::string name : {"gromacs.xtc", "gromacs.trr"}) {
    SCOPED_TRACE(name);
    const std::string whole = read_text(kFolder + name);
    int refused = 0;
    const auto step = static_cast<std::size_t>(sparse_step());
    for (std::size_t at = 0; at < whole.size(); at += step) {
      for (const int bits : {0xff, 0x80, 0x01}) {
        write_text(file(name), replaced(whole, at, {static_cast<char>(whole[at] ^ bits)}));
        try {
          for (const Structure& frame : frames_of(file(name))) {
            EXPECT_EQ(frame.positions_A.size(), 9 * static_cast<std::size_t>(frame.molecules));
            for (const double x : frame.positions_A) ASSERT_TRUE(std::isfinite(x));
          }
        } catch (const InputError&) {
          ++refused;
        }
      }
    }
    // At least each byte of three magic numbers, of which one in seven is damaged by day.
    EXPECT_GE(refused, 3 * 4 * 3 / sparse_step());
  }
}

TEST_F(Gromacs, ErrorsNameTheirCause) {
  const std::string xtc = read_text(kFolder + "gromacs.xtc");
  const std::string trr = read_text(kFolder + "gromacs.trr");
  const auto with = [&](std::size_t at, std::int32_t value) {
    return problem("a.xtc", replaced(xtc, at, number(value)));
  };
  expect_parts({
      {with(0, 1994), "not in XTC format: the file does not begin with the number 1995"},
      {with(0, 1993), "the name indicates xtc but the contents look like trr"},
      {with(4, 35), "its two numbers of atoms differ in frame 0"},
      {with(56, 0), "its precision is not a positive number"},
      {with(56, 0x7f800000), "its precision is not a positive number"},
      {with(72, -100000), "its largest positions are below its smallest"},
      {with(84, 73), "the compressed positions are damaged"},
      {with(84, 8), "the compressed positions are damaged"},
      {with(88, 1 << 30), "its length does not match its number of atoms"},
      {with(88, -1), "its length does not match its number of atoms"},
      {problem("b.trr", xtc), "the name indicates trr but the contents look like xtc"},
      {problem("a.trr", replaced(trr, 14, "new")), "GMX_trn_file is missing"},
      {problem("a.trr", replaced(trr, 24 + 10 * 4 + 3, "#")),  // 35
       "lengths do not match its number of atoms"},
  });
  // Numbers without meaning: of a damaged file, or of a simulation that blew up. 1e30 nm/ps are
  // 4.9e29 A per AKMA time unit.
  for (const auto& [value, part] :
       {std::pair{std::numeric_limits<float>::infinity(), "is not a finite number"},
        {1e30f, "is 4.88882e+29"}}) {
    std::string bytes;
    put_xdr(bytes, value);
    expect_parts_of(problem("a.trr", replaced(trr, 984 - 4, bytes)),
                    {part, "Either the file is damaged, or the simulation blew up"});
  }
}

}  // namespace
}  // namespace tarn::io
