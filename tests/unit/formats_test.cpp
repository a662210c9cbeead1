#include "tarn/io/formats.hpp"

#include <bit>

#include "io/convert.hpp"
#include "io/frame_formats.hpp"
#include "testing.hpp"
#include "text_parts.hpp"
#include "trajectory_fixtures.hpp"

namespace tarn::io {
namespace {

using namespace test;

class Formats : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    write_text(folder_.file(name), text);
    return folder_.file(name);
  }
  Structure read(const std::string& name, const std::string& text) {
    return read_structure(file(name, text));
  }
  struct Refusal {
    std::string name, text;
    std::string message;  ///< a part of "line:column: message" of the first problem
  };
  void expect_refusals(const std::vector<Refusal>& refusals) {
    for (const Refusal& refusal : refusals) {
      const std::string path = file(refusal.name, refusal.text);
      const std::string message = message_of<InputError>([&] { read_structure(path); });
      ASSERT_TRUE(message.starts_with(path + ":")) << message;
      EXPECT_TRUE(contains(message.substr(path.size() + 1), refusal.message));
    }
  }
  TrajectoryInfo info(int molecules = 3, int replicas = 1) {
    TrajectoryInfo info;
    info.folder = folder_.path();
    info.replicas = replicas;
    info.numbered = replicas > 1;
    info.molecules = molecules;
    info.model = "spce";
    info.every = 10;
    info.timestep_fs = 2.0;
    info.provenance = "tarn; a test";
    return info;
  }
  /// A writer of a new trajectory.
  static std::unique_ptr<TrajectoryWriter> writer_of(const Format& format,
                                                     const TrajectoryInfo& info) {
    auto writer = format.write(info);
    writer->create();
    return writer;
  }
  /// Writes a trajectory of one frame. @return its path
  std::string written(const Format& format, const TrajectoryInfo& info,
                      const std::vector<double>& positions_A, Messages* messages = nullptr) {
    const auto writer = writer_of(format, info);
    writer->append({0, 0, 0.0, positions_A});
    writer->finish();
    if (messages != nullptr) *messages = writer->messages();
    return folder_.file("trajectory" + std::string(format.extensions.front()));
  }
  ScratchFolder folder_;
};

// --- the table ---

TEST_F(Formats, EveryRowIsCompleteAndFoundByName) {
  for (const Format& format : formats()) {
    EXPECT_EQ(&format_of(format.id), &format);
    EXPECT_FALSE(format.extensions.empty());
    EXPECT_TRUE(format.looks_like && format.open && format.write) << format.name;
    EXPECT_FALSE(format.looks_like("")) << format.name;
    EXPECT_FALSE(format.looks_like("\n\n\n")) << format.name;
  }
}

TEST_F(Formats, EveryTrajectoryIsReadBackToItsPrecision) {
  for (const Format& format : available_formats()) {
    SCOPED_TRACE(format.name);
    const auto writer = writer_of(format, info(3, 2));
    for (std::int64_t step = 0; step < 50; step += 10) {
      for (std::int64_t replica = 0; replica < 2; ++replica) {
        const auto x = some_positions(3, step, replica);
        writer->append({replica, step, 0.002 * static_cast<double>(step), x});
      }
    }
    writer->finish();
    // A topology file is written only for formats without atom names.
    EXPECT_EQ(std::filesystem::remove(folder_.file("topology.pdb")), !format.names_atoms);
    // Half of the last digit; single precision at 6 A is 2^-22 A. With so few atoms XTC stores
    // floats. TRR is in nm: two roundings at 6 A of 2^-51 A each.
    const double precision = format.id == FileFormat::pdb   ? 0.5001e-3
                             : format.id == FileFormat::gro ? 0.5001e-6
                             : format.id == FileFormat::dcd ? std::ldexp(1.0, -22)
                             : format.id == FileFormat::xtc ? 10.0 * std::ldexp(1.0, -25)
                             : format.id == FileFormat::trr ? std::ldexp(1.0, -50)
                                                            : 0.0;
    std::vector<Structure> frames;
    if (format.id == FileFormat::h5md) {
      frames = frames_of(folder_.file("trajectory.h5"));
    } else {
      for (const int replica : {0, 1}) {
        std::ranges::move(frames_of(folder_.file(fmt::format("trajectory-{:04}{}", replica,
                                                             format.extensions.front()))),
                          std::back_inserter(frames));
      }
    }
    ASSERT_EQ(frames.size(), 10u);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto step = static_cast<std::int64_t>(10 * (i % 5));
      EXPECT_LE(largest_difference(frames[i].positions_A, some_positions(3, step, i / 5)),
                precision);
      EXPECT_EQ(frames[i].comment.at("step"), std::to_string(step));
      // DCD: the time step is in single precision; XTC: the time.
      EXPECT_NEAR(frames[i].time_ps().value(), 0.002 * static_cast<double>(step), 1e-8);
      EXPECT_EQ(frames[i].model().value_or("spce"), "spce");  // XTC and TRR name none
    }
  }
}

/// Two beads at the same positions, as at the start of ring polymers.
TEST_F(Formats, TrajectoriesOfBeadsNameTheirNumber) {
  std::vector<double> x = some_positions(2, 0);
  x.insert(x.end(), x.begin(), x.begin() + 18);
  for (const Format& format : available_formats()) {
    SCOPED_TRACE(format.name);
    TrajectoryInfo two = info(4);
    two.model = "qtip4pf";
    two.provenance = "tarn 1.0; qtip4pf, 2 molecules, 1 replica of 2 beads";
    two.beads = 2;
    const std::string path = written(format, two, x);
    const auto reader = open_frames(path);
    Structure frame = reader->next().value();
    EXPECT_EQ(frame.molecules, 4);
    EXPECT_EQ(frame.beads(), format.has_comments ? 2 : 1);
    EXPECT_TRUE(contains(message_of<InputError>([&] { read_structure(path); }),
                         format.has_comments ? "contains 2 beads" : "give their number: --beads"));
    const auto refused_beads = [&](int beads) {
      return message_of<InputError>([&] { set_beads(frame, beads, *reader); });
    };
    const auto refused = [&] {
      return message_of<InputError>([&] { check_molecules(frame, *reader, 0); });
    };
    set_beads(frame, 2, *reader);
    EXPECT_NO_THROW(check_molecules(frame, *reader, 0));
    // The frame has a number now.
    EXPECT_TRUE(contains(refused_beads(1), "--beads 1: the frame has beads = 2; omit --beads"));
    frame.comment.erase("beads");
    EXPECT_THROW(check_molecules(frame, *reader, 0), InputError);
    // Four beads of one molecule are two molecules, of two beads each.
    EXPECT_TRUE(contains(refused_beads(4),
                         "--beads 4: molecule 0 of bead 0 is 3 A from its place in bead 1"));
    frame.comment["beads"] = "3";
    EXPECT_TRUE(contains(refused(), "4 molecules cannot form 3 beads"));
    // Atoms that coincide within the second bead are named by their places in the file.
    frame.comment["beads"] = "2";
    std::copy_n(frame.positions_A.begin() + 18, 9, frame.positions_A.begin() + 27);
    EXPECT_TRUE(contains(refused(), "O of molecule 3 is 0 A from O of molecule 2"));
    frame.comment = {{"bead", "3"}};
    EXPECT_TRUE(contains(refused_beads(2), "--beads 2: the frame has a single bead, bead = 3"));
    EXPECT_NO_THROW(set_beads(frame, 1, *reader));
  }
}

/// Files of all formats in another unit, as other programs write them.
TEST_F(Formats, CoordinatesInAnotherUnitAreRefused) {
  for (const Format& format : available_formats()) {
    for (const auto& [factor, unit] : {std::pair(1.0 / 0.529177, "bohr"),
                                       {0.1, "nm"},
                                       {10.0, "angstrom in a file that must be in nm"}}) {
      SCOPED_TRACE(fmt::format("{} {}", format.name, unit));
      std::vector<double> x = some_positions(4, 0);
      for (double& value : x) value *= factor;
      const std::string path = written(format, info(4), x), to = folder_.file("out.xyz");
      const std::string part = fmt::format("this looks like {}", unit);
      expect_throws<InputError>({part}, [&] { read_structure(path); });
      expect_throws<InputError>({part}, [&] { convert_trajectory({path, to}); });
    }
  }
}

/// Formats with a limited number of digits report positions for which that matters.
TEST_F(Formats, DigitsLostFarFromTheOriginAreNoted) {
  for (const Format& format : available_formats()) {
    for (const int molecules : {3, 4}) {
      // XTC compresses more than nine atoms, with an error of half of 1e-4 A.
      const bool keeps = format.keeps_digits || format.id == FileFormat::gro ||
                         (format.id == FileFormat::xtc && molecules == 4);
      for (const double far_A : {0.0, 20'000.0}) {
        SCOPED_TRACE(fmt::format("{} {} {}", format.name, molecules, far_A));
        std::vector<double> x = some_positions(molecules, 0);
        for (double& value : x) value += far_A;
        Messages messages;
        written(format, info(molecules), x, &messages);
        ASSERT_EQ(messages.size(), far_A == 0.0 || keeps ? 0u : 1u);
        for (const Message& message : messages) {
          EXPECT_TRUE(contains(message.text, "[system] recentre = true"));
        }
      }
    }
  }
}

TEST_F(Formats, TheFileNameSelectsTheFormat) {
  Structure s;
  s.molecules = 4;
  s.positions_A = some_positions(4, 3);
  s.velocities_A_per_akma = some_positions(4, 5);
  s.comment = {{"model", "tip4p"}, {"note", "two words"}};
  for (const auto& [name, precision] :
       {std::pair{"a.xyz", 0.0}, {"a.GRO", 0.5001e-6}, {"a.pdb", 0.5001e-3}}) {
    SCOPED_TRACE(name);
    write_structure(folder_.file(name), s);
    const Structure t = read_structure(folder_.file(name));
    EXPECT_LE(largest_difference(t.positions_A, s.positions_A), precision);
    EXPECT_EQ(t.model(), "tip4p");
    EXPECT_EQ(t.comment.at("note"), "two words");
    // GRO: 8 decimals of nm/ps, which is 0.49 A/akma. PDB files have none.
    if (t.velocities_A_per_akma.empty()) {
      EXPECT_EQ(name, std::string("a.pdb"));
    } else {
      EXPECT_LE(largest_difference(t.velocities_A_per_akma, s.velocities_A_per_akma), precision);
    }
  }
  expect_throws<InputError>({".xyz, .gro, .pdb"},
                            [&] { write_structure(folder_.file("a.dcd"), s); });
  EXPECT_THROW(write_structure(folder_.file("a"), s), InputError);
}

TEST_F(Formats, NamesAndContentsMustAgree) {
  const std::string xyz = "3\n\nO 0 0 0\nH 0.9 0 0\nH 0 0.9 0\n";
  EXPECT_EQ(read("a.unknown", xyz).molecules, 1);
  EXPECT_EQ(read("b", xyz).molecules, 1);
  write_structure(folder_.file("d.pdb"), read("a.xyz", xyz));
  expect_refusals({
      {"a.gro", xyz, "the name indicates gro but the contents look like xyz"},
      {"a.pdb", xyz, "the name indicates pdb but the contents look like xyz"},
      {"a.dcd", xyz, "look like xyz"},
      {"d.xyz", read_text(folder_.file("d.pdb")), "look like pdb"},
      {"c.txt", "hello\n", "neither the name nor the contents"},
      {"c.TNG", "hello\n", "cannot read this format; convert it with GROMACS"},
      {"c.lammpstrj", "hello\n", "element O H"},
      {"c.xyz", "3\n\n1 0 0 0\n2 0 0 1\n2 0 1 0\n", "dump_modify"},
  });
  if (has_h5md()) expect_refusals({{"a.h5", "some text\n", "not an HDF5 file"}});
  // Compressed files are recognised by their contents, under any name.
  for (const char* name : {"a.xyz.gz", "a.xyz", "a.dcd", "a.h5", "a"}) {
    expect_refusals({{name, "\x1f\x8b\x08 and more", "the file is compressed"}});
  }
  EXPECT_THROW(open_frames(folder_.file("none.gro")), IoError);
  EXPECT_THROW(open_frames(folder_.path()), IoError);
}

// --- GRO ---

const std::string kGroWater =
    "    1SOL     OW    1   0.100   0.200   0.300\n"
    "    1SOL    HW1    2   0.196   0.200   0.300\n"
    "    1SOL    HW2    3   0.076   0.293   0.300\n";
const std::string kBox = "   1.00000   1.00000   1.00000\n";

TEST_F(Formats, GroAsGromacsWritesIt) {
  // Four sites, velocities, five decimals instead of three.
  std::string text = "Water t=   1.50000 step= 750\n    8\n";
  const std::vector<std::string> names{"OW", "HW1", "HW2", "MW"};
  const std::vector<std::vector<double>> x{
      {0.1, 0.2, -0.3}, {0.196, 0.2, -0.3}, {0.076, 0.293, -0.3}, {0.105, 0.205, -0.3}};
  for (std::size_t atom = 0; atom < 8; ++atom) {
    const std::vector<double>& r = x[atom % 4];
    text += fmt::format("{:5}{:<5}{:>5}{:5}{:10.5f}{:10.5f}{:10.5f}{:10.6f}{:10.6f}{:10.6f}\n",
                        atom / 4 + 1, "SOL", names[atom % 4], atom + 1, r[0] + (atom < 4 ? 0 : 0.5),
                        r[1], r[2], 0.5, -0.25 * static_cast<double>(atom), 0.0);
  }
  const Structure s = read("a.gro", text + kBox);
  EXPECT_EQ(s.comment.at("step"), "750");
  EXPECT_EQ(s.comment.at("time_ps"), "1.50000");
  EXPECT_EQ(s.time_ps(), 1.5);
  Structure late = s;
  late.comment["time_ps"] = "2500000.5";
  EXPECT_EQ(late.time_ps(), 2500000.5) << "runs may be longer than clusters are wide";
  for (const char* none : {"1.5ps", "inf", ""}) {
    late.comment["time_ps"] = none;
    EXPECT_EQ(late.time_ps(), std::nullopt) << none;
  }
  EXPECT_EQ(s.molecules, 2);
  EXPECT_DOUBLE_EQ(s.positions_A[0], 1.0);
  EXPECT_DOUBLE_EQ(s.positions_A[2], -3.0);
  EXPECT_DOUBLE_EQ(s.positions_A[9], 6.0);
  // 1 nm/ps = 10 A / ps, and an akma is 0.04888821 ps.
  EXPECT_DOUBLE_EQ(s.velocities_A_per_akma[0], 0.5 * 0.4888821);
  EXPECT_DOUBLE_EQ(s.velocities_A_per_akma[10], -0.25 * 4 * 0.4888821);
}

TEST_F(Formats, GroFramesFollowEachOther) {
  const std::string path = file("a.gro", "t=0\n 3\n" + kGroWater + kBox + "t=1\n 3\n" + kGroWater +
                                             kBox + "\n    3\n" + kGroWater + kBox + "\n\n");
  const auto reader = open_frames(path);
  EXPECT_EQ(reader->next()->comment.at("time_ps"), "0");
  EXPECT_EQ(reader->next()->comment.at("time_ps"), "1");
  EXPECT_EQ(reader->next()->molecules, 1);
  EXPECT_EQ(reader->line_of_atom(2), 17);
  EXPECT_FALSE(reader->next());
}

TEST_F(Formats, GroRefusesWithLineAndColumn) {
  const auto gro = [](const std::string& atoms, const std::string& box = kBox) {
    return "title\n 3\n" + atoms + box;
  };
  const auto with = [&](std::size_t at, const std::string& text) {
    std::string water = kGroWater;
    return gro(water.replace(at, text.size(), text));
  };
  expect_refusals({
      {"a.gro", "title\nthree\n", "2:1: 'three' is not a number of atoms"},
      {"a.gro", "title\n", "1: the file ends before the number of atoms"},
      {"a.gro", "title\n 6\n" + kGroWater, "the frame ends after 3 atoms"},
      {"a.gro", with(68, "x.196"), "4:24: 'x.196' is not a number"},
      {"a.gro", with(20, "        "), "3:21: a coordinate is missing here"},
      {"a.gro", with(30, "nan"), "3:"},
      {"a.gro", with(13, "CA"), "3:14: 'CA' of residue SOL 1 is not an atom of water"},
      {"a.gro", with(13, "HW"), "3:1: residue SOL 1 has 0 O and 3 H"},
      {"a.gro", gro(kGroWater, "1 x 1\n"), "6:3: 'x' is not a number: the line after"},
      {"a.gro", gro(kGroWater, "1 1\n"), "6:1: the box has 2 numbers"},
      {"a.gro", gro(kGroWater, ""), "the file ends before the box line"},
      {"a.gro", with(65, "   0.900"), "4:1: H1 of molecule 0 is 8 A from its oxygen in line 3"},
  });
}

// --- PDB ---

std::string pdb_atom(const std::string& serial, const std::string& name, const std::string& residue,
                     const std::string& number, double x, double y, double z,
                     const std::string& record = "ATOM  ") {
  return fmt::format("{}{:>5} {:<4} {:<4} {:>4}    {:8.3f}{:8.3f}{:8.3f}  1.00  0.00\n", record,
                     serial, name, residue, number, x, y, z);
}
/// A molecule with the names and the order of atoms of another program.
std::string pdb_water(const std::vector<std::string>& names, const std::string& residue,
                      const std::string& number, double x, const std::string& record = "ATOM  ") {
  std::string text;
  int hydrogens = 0;
  for (const std::string& name : names) {
    const bool hydrogen = name.find('H') != std::string::npos && name != " OH2";
    const double shift = hydrogen ? (hydrogens++ == 0 ? 0.96 : -0.24) : 0.0;
    text += pdb_atom("1", name, residue, number, x + shift, hydrogen && shift < 0 ? 0.93 : 0.0, 0.0,
                     record);
  }
  return text;
}
const std::string kPdbWater = pdb_water({" O  ", " H1 ", " H2 "}, "HOH ", "1", 0.0);

TEST_F(Formats, PdbAsProgramsWriteIt) {
  struct Case {
    std::string program, residue;
    std::vector<std::string> names;
    std::string record = "ATOM  ";
  };
  for (const Case& c :
       std::vector<Case>{{"OpenMM", "HOH ", {" O  ", " H1 ", " H2 "}, "HETATM"},
                         {"GROMACS, four sites", "SOL ", {" OW ", " HW1", " HW2", " MW "}},
                         {"CHARMM and VMD", "TIP3", {" OH2", " H1 ", " H2 "}},
                         {"AMBER, four sites", "WAT ", {" O  ", " H1 ", " H2 ", "EPW "}},
                         {"Packmol", "H2O ", {" H  ", " O  ", " H  "}},
                         {"hydrogens first", "TIP ", {" H1 ", " H2 ", " O  "}}}) {
    SCOPED_TRACE(c.program);
    const Structure s =
        read("a.pdb", "CRYST1   20.000   20.000   20.000  90.00  90.00  90.00 P 1           1\n" +
                          pdb_water(c.names, c.residue, "1", 0.0, c.record) +
                          pdb_water(c.names, c.residue, "2", 5.0, c.record) +
                          "TER       7      HOH A   2\nCONECT    1    2    3\nEND\n");
    ASSERT_EQ(s.molecules, 2);
    EXPECT_EQ(s.positions_A, (std::vector<double>{0, 0, 0, 0.96, 0, 0, -0.24, 0.93, 0, 5, 0, 0,
                                                  5.96, 0, 0, 4.76, 0.93, 0}));
  }
}

TEST_F(Formats, PdbNumbersMayBeAnything) {
  // Serial numbers in hexadecimal or as stars; residue numbers wrapped, truncated or all the same.
  const std::vector<std::string> names{" OW ", " HW1", " HW2"};
  for (const std::string number : {"****", "1", "9999"}) {
    std::string text;
    for (int m = 0; m < 5; ++m) text += pdb_water(names, "SOL ", number, 4.0 * m);
    for (const std::string serial : {"186a0", "*****", "    0"}) {
      std::string changed = text;
      for (std::size_t at = 0; at < changed.size(); at = changed.find('\n', at) + 1) {
        changed.replace(at + 6, 5, serial);
      }
      EXPECT_EQ(read("a.pdb", changed).molecules, 5) << number << ' ' << serial;
    }
  }
}

TEST_F(Formats, PdbFramesEndWithModelsOrEnds) {
  for (const auto& [begin, end] : {std::pair{"MODEL        1\n", "ENDMDL\n"}, {"", "END\n"}}) {
    const auto reader = open_frames(
        file("a.pdb", "TITLE     model=spc step=3\n" + (begin + kPdbWater + end) + begin +
                          kPdbWater + "TER\n" + end + (end[3] == 'M' ? "END\n" : "")));
    EXPECT_EQ(reader->next()->comment.at("step"), "3");
    EXPECT_EQ(reader->next()->molecules, 1);
    EXPECT_FALSE(reader->next());
  }
}

TEST_F(Formats, PdbRefusesWithLineAndColumn) {
  const auto with = [&](std::size_t line, std::size_t column, const std::string& text) {
    std::string water = kPdbWater;
    const std::size_t length = water.find('\n') + 1;
    return "REMARK\n" + water.replace((line - 2) * length + column - 1, text.size(), text);
  };
  expect_refusals({
      {"a.pdb", "REMARK nothing\nEND\n", "contains no ATOM or HETATM record"},
      {"a.pdb", with(3, 39, "   x.000"), "3:42: 'x.000' is not a number; PDB coordinates"},
      {"a.pdb", with(4, 47, "        "), "4:47: a coordinate is missing here"},
      {"a.pdb", with(2, 13, " CA "), "2:13: 'CA' of residue HOH 1 is not an atom of water"},
      {"a.pdb", with(3, 13, " O  "), "2:1: residue HOH 1 has 2 O and 1 H"},
      {"a.pdb", with(4, 26, "2"), "2:1: residue HOH 1 has 1 O and 1 H"},
      {"a.pdb", with(3, 17, "B"), "3:17: 'B' is an alternate location of this atom"},
      {"a.pdb", with(4, 31, "  90.000"), "4:1: H2 of molecule 0 is 90 A from its oxygen in line 2"},
      // A crystal structure without hydrogens.
      {"a.pdb", pdb_atom("1", " O  ", "HOH ", "301", 0, 0, 0, "HETATM"),
       "1:1: residue HOH 301 has 1 O and 0 H instead of one O and two H: add the hydrogens first"},
  });
  // All problems of a frame are reported.
  const std::string path =
      file("b.pdb", pdb_atom("1", " C  ", "ALA ", "1", 0, 0, 0) +
                        pdb_atom("2", " N  ", "ALA ", "1", 0, 0, 0) + kPdbWater);
  expect_throws<InputError>({path + ":1:", path + ":2:"}, [&] { read_structure(path); });
}

// --- all formats ---

/// An empty file is bad input for all formats, and for names without a known extension.
TEST_F(Formats, EmptyFilesAreRefusedInTheSameWords) {
  std::vector<std::string> names{"a", "a.unknown", "a.gz", "a.tng"};
  for (const Format& format : available_formats()) {
    names.push_back("a" + std::string(format.extensions.front()));
  }
  for (const std::string& name : names) {
    const std::string path = file(name, "");
    EXPECT_EQ(message_of<InputError>([&] { open_frames(path); }), path + ": the file is empty");
  }
  const std::string blank = file("blank.xyz", "\n  \n");
  std::string note;
  EXPECT_EQ(message_of<InputError>([&] { read_structure(blank); }),
            blank + ": the file contains no frame");
  EXPECT_EQ(message_of<InputError>([&] { next_whole_frame(*open_frames(blank), 0, note); }),
            blank + ": the file contains no frame");
}

/// The exponents of Fortran's double precision, in all text formats.
TEST_F(Formats, FortranExponentsAreRead) {
  const std::vector<double> x{0.1, 0.2, -0.3, 1.06, 0.2, -0.3, -0.14, 1.13, -0.3};
  const std::string xyz = file("a.xyz",
                               "3\n time_ps=1.5D+00\nO 1.0D-01 2.0d-1 -3.0D-01\n"
                               "H +1.06D+00 2.0D-1 -.3D+0\nH -1.4d-01 1.13D0 -3.0D-01\n");
  EXPECT_LE(largest_difference(read_structure(xyz).positions_A, x), 1e-15);
  EXPECT_EQ(read_structure(xyz).time_ps(), 1.5);
  const std::string gro = file("a.gro",
                               "title\n 3\n"
                               "    1SOL     OW    1  1.00D-02  2.00D-02 -3.00D-02\n"
                               "    1SOL    HW1    2  1.06D-01  2.00D-02 -3.00D-02\n"
                               "    1SOL    HW2    3 -1.40D-02  1.13D-01 -3.00D-02\n 0 0 0\n");
  EXPECT_LE(largest_difference(read_structure(gro).positions_A, x), 1e-15);
  std::string pdb = kPdbWater;
  EXPECT_EQ(read("a.pdb", pdb.replace(30, 8, "  5.D-03")).positions_A[0], 0.005);
  expect_refusals({{"b.xyz", "3\n\nO 1D 0 0\nH 1 0 0\nH 0 1 0\n", "'1D' is not a"}});
}

/// Atom names with numbers that continue through the file.
TEST_F(Formats, NumberedLabelsAreRead) {
  const std::vector<double> x = some_positions(2, 0);
  std::string xyz = "6\n\n", gro = "title\n 6\n", pdb;
  const std::vector<std::string> labels{"O1", "H2", "H3", "O4", "H5", "H6"};
  for (std::size_t a = 0; a < labels.size(); ++a) {
    xyz += fmt::format("{} {} {} {}\n", labels[a], x[3 * a], x[3 * a + 1], x[3 * a + 2]);
    gro += fmt::format("{:5}{:<5}{:>5}{:5}{:8.3f}{:8.3f}{:8.3f}\n", a / 3 + 1, "WAT", labels[a],
                       a + 1, x[3 * a] / 10, x[3 * a + 1] / 10, x[3 * a + 2] / 10);
    pdb += pdb_atom(std::to_string(a + 1), " " + labels[a], "WAT ", std::to_string(a / 3 + 1),
                    x[3 * a], x[3 * a + 1], x[3 * a + 2]);
  }
  EXPECT_EQ(read("a.xyz", xyz).positions_A, x);
  EXPECT_LE(largest_difference(read("a.gro", gro + " 0 0 0\n").positions_A, x), 0.5001e-2);
  EXPECT_LE(largest_difference(read("a.pdb", pdb).positions_A, x), 0.5001e-3);
  expect_refusals({{"b.xyz", "3\n\nC1 0 0 0\nH2 1 0 0\nH3 0 1 0\n", "'C1' is not an atom"}});
}

/// Writers reject all numbers that readers reject, including finite ones that are too large.
TEST_F(Formats, NumbersThatAreTooLargeAreNeitherWrittenNorRead) {
  std::vector<double> x = some_positions(4, 0);
  for (const double value : {1e300, 1e10, 2e9, std::nan("")}) {
    x[12] = value;
    for (const Format& format : available_formats()) {
      SCOPED_TRACE(fmt::format("{} {}", format.name, value));
      if (std::isnan(value)) {
        EXPECT_THROW(written(format, info(4), x), NumericalError);
      } else {
        EXPECT_THROW(written(format, info(4), x), Error);
      }
    }
    const std::string xyz = fmt::format("3\n\nO 0 0 0\nH 1 0 0\nH 0 {:g} 0\n", value);
    expect_refusals({{"a.xyz", xyz, "5:5: "}});
  }
}

TEST_F(Formats, FarAwayAtomsStayInTheirColumns) {
  Structure s;
  s.molecules = 1;
  // No decimal fits a PDB file: the error is at most half a unit. 12 346 nm are written to a GRO
  // file with five decimals: half of the last one is 5e-5 A.
  for (const auto& [name, format, rounding_A] :
       {std::tuple{"a.pdb", "PDB", 0.5}, {"a.gro", "GRO", 5.1e-5}}) {
    const std::string path = folder_.file(name);
    s.positions_A = {-123456.7, 99999.96, 0, -123456.7, 99999.0, 0, -123456.7, 100000.9, 0};
    write_structure(path, s);
    EXPECT_LE(largest_difference(read_structure(path).positions_A, s.positions_A), rounding_A);
    for (double& x : s.positions_A) x *= 1e6;
    expect_throws<IoError>({std::string("the columns of a ") + format + " file"},
                           [&] { write_structure(path, s); });
  }
}

/// A distant molecule reduces the decimals of its frame only and does not stop the run.
TEST_F(Formats, GroHasFewerDecimalsWhereAnAtomIsFarAway) {
  const std::vector<double> near = some_positions(3, 0);
  const std::vector<double> velocities(near.size(), 0.1);
  const auto writer = writer_of(format_of(FileFormat::gro), info());
  std::vector<std::vector<double>> frames;
  // -99 nm is written with 7 decimals, -100 nm with 6, and so on.
  const std::vector<std::pair<double, int>> far_A{{-960.0, 7},  {-1040.0, 6}, {9960.0, 7},
                                                  {10040.0, 6}, {1e6, 4},     {0.0, 7}};
  for (const auto& [shift_A, decimals] : far_A) {
    std::vector<double>& x = frames.emplace_back(near);
    for (std::size_t i = 18; i < 27; ++i) x[i] += shift_A;
    EXPECT_EQ(gro_decimals(x, velocities), decimals) << shift_A;
    writer->append({0, static_cast<std::int64_t>(frames.size()), 0.0, x, velocities});
  }
  writer->finish();
  EXPECT_TRUE(writer->messages().empty());
  const auto reader = open_frames(folder_.file("trajectory.gro"));
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const Structure s = *reader->next();
    const double half_A = 5.1 * std::pow(10.0, -far_A[k].second);  // of the last decimal of nm
    EXPECT_LE(largest_difference(s.positions_A, frames[k]), half_A) << k;
    EXPECT_LE(largest_difference(s.velocities_A_per_akma, velocities), half_A) << k;
  }
}

TEST_F(Formats, FewDecimalsAreReportedOnce) {
  for (const auto& [id, far_A, decimals] :
       {std::tuple{FileFormat::gro, 1e8, "1 decimal"}, {FileFormat::pdb, 2e4, "2 decimals"}}) {
    const auto writer = writer_of(format_of(id), info());
    std::vector<double> x = some_positions(3, 0);
    writer->append({0, 10, 0.0, x});
    EXPECT_TRUE(writer->messages().empty());
    for (std::size_t i = 18; i < 27; ++i) x[i] += far_A;
    for (const std::int64_t step : {20, 30}) writer->append({0, step, 0.0, x});
    ASSERT_EQ(writer->messages().size(), 1u);
    EXPECT_TRUE(contains(writer->messages().front().text,
                         fmt::format("have only {} in angstrom from step 20", decimals)));
  }
}

TEST_F(Formats, ManyAtomsWrapTheirNumbers) {
  Structure s;
  s.molecules = 34'000;  // 102 000 atoms
  s.positions_A.reserve(9 * 34'000);
  for (int m = 0; m < s.molecules; ++m) {
    const double x = 3.0 * (m % 100), y = 3.0 * (m / 100 % 100), z = 3.0 * (m / 10'000);
    s.positions_A.insert(s.positions_A.end(), {x, y, z, x + 0.96, y, z, x - 0.24, y + 0.93, z});
  }
  for (const char* name : {"a.pdb", "a.gro"}) {
    write_structure(folder_.file(name), s);
    const Structure t = read_structure(folder_.file(name));
    EXPECT_EQ(t.molecules, s.molecules) << name;
    EXPECT_LE(largest_difference(t.positions_A, s.positions_A), 1e-9) << name;  // two decimals
  }
}

// --- DCD ---

std::string i32(std::int32_t value, bool swapped = false) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += static_cast<char>((static_cast<std::uint32_t>(value) >> (8 * (swapped ? 3 - i : i))) &
                              0xff);
  }
  return text;
}
std::int32_t i32_at(const std::string& text, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  }
  return static_cast<std::int32_t>(value);
}

TEST_F(Formats, TheHeaderOfADcdFileMatchesCharmm) {
  const auto writer = writer_of(format_of(FileFormat::dcd), info());
  for (std::int64_t step = 0; step < 40; step += 10) {
    writer->append({0, step, 0.0, some_positions(3, step)});
  }
  writer->finish();
  const std::string dcd = read_text(folder_.file("trajectory.dcd"));
  EXPECT_EQ(i32_at(dcd, 0), 84);
  EXPECT_EQ(dcd.substr(4, 4), "CORD");
  EXPECT_EQ(i32_at(dcd, 8), 4);       // frames
  EXPECT_EQ(i32_at(dcd, 12), 0);      // first step
  EXPECT_EQ(i32_at(dcd, 16), 10);     // steps between frames
  EXPECT_EQ(i32_at(dcd, 20), 30);     // last step
  EXPECT_EQ(i32_at(dcd, 8 + 32), 0);  // fixed atoms
  EXPECT_FLOAT_EQ(std::bit_cast<float>(i32_at(dcd, 8 + 36)), 2.0f / 48.88821f);
  EXPECT_EQ(i32_at(dcd, 8 + 40), 0);   // no unit cell
  EXPECT_EQ(i32_at(dcd, 8 + 76), 24);  // version
  EXPECT_EQ(i32_at(dcd, 88), 84);
  // Marks, header, title, atoms; then three records of nine floats per frame.
  EXPECT_EQ(dcd.size(), 92u + (8 + 4 + 160) + 12 + 4 * 3 * (8 + 9 * 4));
  const Structure topology = read_structure(folder_.file("topology.pdb"));
  EXPECT_LE(largest_difference(topology.positions_A, some_positions(3, 0)), 0.5001e-3);
  EXPECT_TRUE(contains(read_text(folder_.file("topology.pdb")), "CONECT    4    5    6\n"));
}

std::string f64(double value, bool swapped) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

/// A DCD file with two frames, as other programs may write it.
/// @param length_A of the sides of the cell
/// @param mark_bytes of the marks around records
/// @param announced number of frames in the header
std::string other_dcd(bool swapped, bool with_cell, bool charmm, double length_A = 0.0,
                      int mark_bytes = 4, std::int32_t announced = 0) {
  const auto put = [&](std::int32_t v) { return i32(v, swapped); };
  const auto record = [&](const std::string& bytes) {
    std::string mark = put(static_cast<std::int32_t>(bytes.size()));
    if (mark_bytes == 8) mark = swapped ? put(0) + mark : mark + put(0);
    return mark + bytes + mark;
  };
  std::string head = "CORD" + put(announced) + put(500) + put(100) + put(0);
  for (int i = 4; i < 9; ++i) head += put(0);
  if (charmm) {
    head += put(std::bit_cast<std::int32_t>(static_cast<float>(1.0 / 48.88821)));
    head += put(with_cell ? 1 : 0);
  } else {
    const auto bits = std::bit_cast<std::uint64_t>(1.0 / 48.88821);
    const auto low = static_cast<std::int32_t>(bits & 0xffffffffu);
    const auto high = static_cast<std::int32_t>(bits >> 32);
    head += swapped ? put(high) + put(low) : put(low) + put(high);
  }
  for (int i = 11; i < 19; ++i) head += put(0);
  head += put(charmm ? 24 : 0);
  std::string text = record(head) + record(put(1) + std::string(80, ' ')) + record(put(3));
  for (int frame = 0; frame < 2; ++frame) {
    if (with_cell) {
      std::string cell;
      for (const double number : {length_A, 90.0, length_A, 90.0, 90.0, length_A}) {
        cell += f64(number, swapped);
      }
      text += record(cell);
    }
    for (int axis = 0; axis < 3; ++axis) {
      std::string values;
      for (int atom = 0; atom < 3; ++atom) {
        values += put(std::bit_cast<std::int32_t>(
            static_cast<float>(frame + (axis == 0 ? 0.5 * atom : 0.125 * atom * atom))));
      }
      text += record(values);
    }
  }
  return text;
}

TEST_F(Formats, DcdOfOtherPrograms) {
  for (int kind = 0; kind < 16; ++kind) {
    const bool swapped = kind & 1, with_cell = kind & 2, charmm = kind & 4;
    if (with_cell && !charmm) continue;
    for (const char* name : {"a.dcd", "a"}) {
      SCOPED_TRACE(fmt::format("{} {}", kind, name));
      const auto frames =
          frames_of(file(name, other_dcd(swapped, with_cell, charmm, 0.0, kind & 8 ? 8 : 4)));
      ASSERT_EQ(frames.size(), 2u);
      EXPECT_EQ(frames[0].comment.at("step"), "500");
      EXPECT_EQ(frames[1].positions_A,
                (std::vector<double>{1, 1, 1, 1.5, 1.125, 1.125, 2, 1.5, 1.5}));
      // The file stores the timestep in single precision.
      EXPECT_NEAR(frames[1].time_ps().value(), 0.6, 0.6 * 0x1p-24);
    }
  }
}

TEST_F(Formats, DetectsCellsOfDcdFiles) {
  for (const bool swapped : {false, true}) {
    for (const double length_A : {0.0, 1.0, 20.0}) {
      const auto reader = open_frames(file("a.dcd", other_dcd(swapped, true, true, length_A)));
      EXPECT_EQ(reader->next()->has_box, length_A == 20.0) << length_A;
    }
    EXPECT_FALSE(open_frames(file("a.dcd", other_dcd(swapped, false, true)))->next()->has_box);
  }
}

/// A program that writes the planned number of frames first and was stopped between two frames. A
/// smaller number is that of a program that was killed before it corrected the header.
TEST_F(Formats, DcdWithFewerFramesThanAnnouncedIsNoted) {
  for (const std::int32_t announced : {0, 1, 2, 9}) {
    const std::string path = file("a.dcd", other_dcd(false, false, true, 0.0, 4, announced));
    const auto reader = open_frames(path);
    std::string note;
    std::int64_t frames = 0;
    while (next_whole_frame(*reader, frames, note)) ++frames;
    EXPECT_EQ(frames, 2);
    if (announced <= 2) {
      EXPECT_EQ(note, "");
    } else {
      EXPECT_TRUE(contains(note, path + ": the header announces 9 frames and the file contains 2"));
    }
    FrameCounts counts;
    const Structure first = read_structure(path, {}, &counts);
    EXPECT_EQ(first.messages.size(), announced > 2 ? 1u : 0u);
  }
}

TEST_F(Formats, DcdRejectsUnsupportedFiles) {
  const std::string good = other_dcd(false, false, true);
  const auto problem = [&](std::string bytes, std::size_t at, const std::string& text) {
    const std::string path = file("a.dcd", bytes.replace(at, text.size(), text));
    return message_of<InputError>([&] { frames_of(path); });
  };
  constexpr std::size_t kAtoms = 92 + 8 + 84 + 4;
  expect_parts({
      {problem(good.substr(0, 50), 0, ""), "cut off or damaged in its header"},
      {problem(good.substr(0, good.size() - 5), 0, ""), "damaged in frame 1 (counted from 0)"},
      {problem(good, 8 + 32, "\1"), "atoms are fixed"},
      {problem(good, kAtoms, "\5"), "5 atoms do not form whole water molecules"},
      {problem(good, kAtoms + 8 + 4, i32(std::bit_cast<std::int32_t>(INFINITY))),
       "atom 0 is not a finite number"},
  });
}

}  // namespace
}  // namespace tarn::io
