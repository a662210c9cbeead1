#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/archive.hpp"
#include "io/checkpoint.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/csv.hpp"
#include "testing.hpp"
#include "text_parts.hpp"

/// @file
/// Tables, checkpoints, and the files that they are written to.

namespace tarn::io {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// During its lifetime files cannot grow beyond `bytes`, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

class Files : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  ScratchFolder folder_;
  std::string path_ = folder_.file("t.csv");
};

// --- tables ---

TEST_F(Files, NumbersOfTablesComeBackToTheBit) {
  const std::vector<double> values{1.0 / 3.0, -0.0,  5e-324, std::numeric_limits<double>::max(),
                                   0.1 + 0.2, -1e-17};
  CsvWriter csv(path_, {"step", "value", "who"});
  csv.create("tarn 1; a test");
  for (const double value : values) {
    csv.cell(std::int64_t{7}).cell(value).cell(std::string_view("mean")).end_row();
  }
  csv.flush();
  EXPECT_EQ(csv.length(), fs::file_size(path_));
  EXPECT_TRUE(read_text(path_).starts_with("# tarn 1; a test\nstep,value,who\n7,0."));

  const Table table = read_table(path_);
  EXPECT_EQ(table.provenance, " tarn 1; a test");
  ASSERT_EQ(table.rows, values.size());
  ASSERT_EQ(table.columns.size(), 3u);
  EXPECT_EQ(table.columns[1].name, "value");
  EXPECT_EQ(table.columns[0].integers, std::vector<std::int64_t>(values.size(), 7));
  EXPECT_EQ(table.columns[2].texts, std::vector<std::string>(values.size(), "mean"));
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(table.columns[1].numbers[i], values[i]);
    EXPECT_EQ(std::signbit(table.columns[1].numbers[i]), std::signbit(values[i]));
  }
}

TEST_F(Files, ReadersOfTablesLocateErrors) {
  for (const auto& [text, words] :
       {std::pair("# x\na,b\n1,2\n\n1\n", "t.csv:5: 1 cells; the header has 2"),
        {"# only\n", "t.csv: no header row"},
        {"", "t.csv: the file is empty"}}) {
    write_text(path_, text);
    expect_throws<InputError>({words}, [&] { read_table(path_); });
  }
  EXPECT_THROW(read_table(file("none.csv")), IoError);
}

TEST_F(Files, ARowWithNaNNeverReachesATable) {
  CsvWriter csv(path_, {"a", "b"});
  csv.create("x");
  csv.cell(1.0).cell(2.0).end_row();
  csv.cell(3.0);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    expect_throws<NumericalError>({"column b, row '3", "the simulation blew up"},
                                  [&] { csv.cell(bad); });
  }
  csv.flush();
  EXPECT_EQ(read_text(path_), "# x\na,b\n1,2\n");
}

TEST_F(Files, CsvFormatHasUnknownValuesButNoOthers) {
  CsvFormat csv("t.csv", {"a"});
  const std::string message = message_of<NumericalError>([&] { csv.cell(std::nan("")); });
  EXPECT_TRUE(contains(message, "t.csv would contain a value that is not a number (column a"));
  EXPECT_FALSE(contains(message, "blew up")) << message;
  // Text that would make two cells or rows.
  EXPECT_THROW(csv.cell(std::string_view("one, two")), std::logic_error);
  EXPECT_THROW(csv.cell(std::string_view("one\ntwo")), std::logic_error);

  CsvFormat format(path_, {"a", "b", "c"});
  const std::string head = format.head("x");
  format.cell_or_nan(std::nan("")).cell_or_nan(-HUGE_VAL).cell_or_nan(0.5);
  write_text(path_, head + format.row());
  EXPECT_TRUE(read_text(path_).ends_with("\nnan,nan,0.5\n"));
  const Table table = read_table(path_);
  for (const std::size_t c : {0u, 1u}) EXPECT_TRUE(std::isnan(table.columns[c].numbers[0]));
  EXPECT_EQ(table.columns[2].numbers[0], 0.5);
}

TEST_F(Files, TablesAreCutAndContinued) {
  std::uint64_t length = 0;
  {
    CsvWriter csv(path_, {"a"});
    csv.create("x");
    csv.cell(1.0).end_row();
    length = csv.length();
    csv.cell(2.0).end_row();
  }
  EXPECT_EQ(read_text(path_), "# x\na\n1\n2\n");
  CsvWriter csv(path_, {"a"});
  csv.cut(length);
  csv.cell(3.0).end_row();
  csv.sync();
  EXPECT_EQ(read_text(path_), "# x\na\n1\n3\n");
  expect_throws<IoError>({"but 1000 at the checkpoint"}, [&] { csv.cut(1000); });
  fs::remove(path_);
  expect_throws<IoError>({"No such file"}, [&] { csv.cut(3); });
}

TEST_F(Files, TablesHaveTypedColumns) {
  using Kind = TableColumn::Kind;
  const std::string text =
      "# tarn; water\nstep,time_ps,replica,energy,mixed\n0,0,mean,-1.5,1\n10,0.02,mean,nan,x\n";
  write_text(path_, text);
  for (const Table& table : {read_table(path_), parse_table(text)}) {
    ASSERT_EQ(table.columns.size(), 5u);
    EXPECT_EQ(table.rows, 2u);
    EXPECT_EQ(table.provenance, " tarn; water");
    const auto& c = table.columns;
    EXPECT_EQ(c[0].name, "step");
    EXPECT_EQ(c[0].kind, Kind::integer);
    EXPECT_EQ(c[0].integers, (std::vector<std::int64_t>{0, 10}));
    EXPECT_EQ(c[1].kind, Kind::number);
    EXPECT_EQ(c[1].numbers, (std::vector<double>{0.0, 0.02}));
    EXPECT_TRUE(c[1].integers.empty());
    EXPECT_EQ(c[2].kind, Kind::text);
    EXPECT_EQ(c[2].texts, (std::vector<std::string>{"mean", "mean"}));
    EXPECT_EQ(c[3].kind, Kind::number);
    EXPECT_EQ(c[3].numbers[0], -1.5);
    EXPECT_TRUE(std::isnan(c[3].numbers[1]));
    EXPECT_EQ(c[4].kind, Kind::text);
    EXPECT_EQ(c[4].texts, (std::vector<std::string>{"1", "x"}));
    EXPECT_TRUE(c[4].numbers.empty());
  }
  const Table empty = parse_table("# empty\na,b\n");
  EXPECT_EQ(empty.rows, 0u);
  EXPECT_EQ(empty.columns.size(), 2u);
  EXPECT_THROW(read_table(file("missing.csv")), IoError);
  write_text(path_, "# x\na,b\n1\n");
  EXPECT_THROW(read_table(path_), InputError);
}

// --- files ---

TEST_F(Files, AFullDiskLeavesTheLastCompleteLength) {
  AppendFile appended(path_);
  appended.create();
  appended.append("complete\n");
  appended.flush();
  {
    const FullDisk full(4096);
    expect_throws<IoError>({"t.csv'"}, [&] { appended.append(std::string(100'000, 'x')); });
    EXPECT_EQ(read_text(path_), "complete\n");
  }
  appended.flush();  // there is room again
  EXPECT_EQ(fs::file_size(path_), 9u + 100'000u);

  AppendFile full("/dev/full");
  full.create();
  full.append("x");
  expect_throws<IoError>({"No space left on device. Free"}, [&] { full.flush(); });
  // Only runs can be resumed, and only their own messages mention it.
  const std::string message = message_of<IoError>([] { throw_io_error("write", "a.csv", ENOSPC); });
  EXPECT_TRUE(contains(message, "Free some space there"));
  EXPECT_FALSE(contains(message, "--resume")) << message;
}

TEST_F(Files, AppearOnlyWhenTheyAreComplete) {
  using Contents = std::map<std::string, std::string>;
  write_file(path_, "old");
  {
    AtomicFile atomic(path_);
    atomic.write("half");
    EXPECT_EQ(read_text(path_), "old");
  }
  EXPECT_EQ(contents_of(folder_.path()).size(), 1u);
  {
    const FullDisk full(4096);
    expect_throws<IoError>({"cannot write '" + path_ + "': File too large."},
                           [&] { write_file(path_, std::string(9000, 'x')); });
  }
  EXPECT_EQ(contents_of(folder_.path()), (Contents{{"t.csv", "old"}}));
  write_file(path_, "new");
  EXPECT_EQ(read_file(path_), "new");
  EXPECT_EQ(contents_of(folder_.path()).size(), 1u);
}

TEST_F(Files, ALinkStaysAndItsFileIsWritten) {
  fs::create_directories(file("a/b"));
  write_file(file("a/target"), "old");
  fs::create_symlink("../target", file("a/b/near"));
  fs::create_symlink("a/b/near", file("far"));
  fs::create_symlink(file("a/new"), file("ahead"));
  write_file(file("far"), "new");
  write_file(file("ahead"), "first");
  EXPECT_EQ(read_text(file("a/target")), "new");
  EXPECT_EQ(read_text(file("a/new")), "first");
  for (const char* link : {"far", "ahead", "a/b/near"}) {
    EXPECT_TRUE(fs::is_symlink(file(link))) << link;
  }
  fs::create_symlink("two", file("one"));
  fs::create_symlink("one", file("two"));
  expect_throws<IoError>({"one': Too many levels of symbolic links"},
                         [&] { write_file(file("one"), "x"); });
}

TEST_F(Files, PipesAndDevicesAreWrittenTo) {
  const std::string path = file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  fs::create_symlink("pipe", file("link"));
  for (const std::string& name : {path, file("link")}) {
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    write_file(name, "text");
    std::array<char, 8> bytes{};
    EXPECT_EQ(::read(reader, bytes.data(), bytes.size()), 4);
    EXPECT_EQ(std::string_view(bytes.data(), 4), "text");
    ::close(reader);
  }
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(Files, ErrorsHaveCauseAndRemedy) {
  write_file(path_, "x");
  expect_parts({
      {message_of<IoError>([&] { write_file(folder_.path(), "x"); }),
       "Is a directory. This is a folder"},
      {message_of<IoError>([&] { write_file(file("no/t"), "x"); }),
       "no/t': No such file or directory. Check the name"},
      {message_of<IoError>([&] { write_file(path_ + "/u", "x"); }),
       "Not a directory. A file has the name of a folder that is needed"},
      {message_of<IoError>([&] { read_file(file("none")); }), "cannot read"},
      {message_of<IoError>([&] { read_file(folder_.path()); }), "Is a directory"},
  });
}

// --- checkpoints ---

Checkpoint example() {
  Checkpoint c;
  c.tarn_version = "0.1.0";
  c.physics = "[system]\nmolecules = 1\n";
  c.device = "cpu";
  c.state.molecules = 1;
  c.state.step = 123'456'789'012;
  c.state.replica_ids = {0, 5};
  for (int i = 0; i < 18; ++i) {
    c.state.positions_A.push_back(1.0 / (i + 3.0));
    c.state.velocities_A_per_akma.push_back(-1e-300 * i);
  }
  c.state.heat_kcal_per_mol = {1.0 / 7.0, -2.0};
  c.blow_ups = {{5, 17, 3, {{3, 0}, {4, 2}, 0.25}, {{3, 1}, 1e9}, true}};
  c.observers = {{"energies", std::string("\0\n\xff", 3)}, {"rdf", ""}};
  return c;
}

class CheckpointFile : public ::testing::Test {
 protected:
  CheckpointFile() { write_checkpoint(path_, example()); }
  std::string refusal(const std::string& bytes) {
    write_text(path_, bytes);
    return message_of<IoError>([&] { read_checkpoint(path_); });
  }
  /// Writes a checkpoint and reads the same.
  void expect_round_trip(const Checkpoint& c) {
    write_checkpoint(path_, c);
    const Checkpoint d = read_checkpoint(path_);
    EXPECT_EQ(d.tarn_version, c.tarn_version);
    EXPECT_EQ(d.physics, c.physics);
    EXPECT_EQ(d.device, c.device);
    EXPECT_EQ(d.state.molecules, c.state.molecules);
    EXPECT_EQ(d.state.step, c.state.step);
    EXPECT_EQ(d.state.replica_ids, c.state.replica_ids);
    EXPECT_EQ(d.state.positions_A, c.state.positions_A);
    EXPECT_EQ(d.state.velocities_A_per_akma, c.state.velocities_A_per_akma);
    EXPECT_EQ(d.state.heat_kcal_per_mol, c.state.heat_kcal_per_mol);
    EXPECT_EQ(d.blow_ups, c.blow_ups);
    ASSERT_EQ(d.observers.size(), c.observers.size());
    for (std::size_t i = 0; i < c.observers.size(); ++i) {
      EXPECT_EQ(d.observers[i].name, c.observers[i].name);
      EXPECT_EQ(d.observers[i].bytes, c.observers[i].bytes);
    }
  }
  ScratchFolder folder_;
  std::string path_ = folder_.file("checkpoint.bin");
};

TEST_F(CheckpointFile, RestoresEveryBit) {
  Checkpoint c = example();
  expect_round_trip(c);
  // Large arrays are written in pieces; records lie before and behind them.
  c.state.replica_ids.clear();
  c.state.positions_A.clear();
  for (int r = 0; r < 20'001; ++r) {
    c.state.replica_ids.push_back(r);
    for (int k = 0; k < 9; ++k) c.state.positions_A.push_back(1.0 / (9 * r + k + 1));
  }
  c.state.velocities_A_per_akma = c.state.positions_A;
  c.state.heat_kcal_per_mol.clear();
  c.observers[1].bytes.assign(1'000'001, 'x');
  expect_round_trip(c);
}

TEST_F(CheckpointFile, IsTheSameBytesEachTime) {
  const std::string bytes = read_text(path_);
  write_checkpoint(path_, example());
  EXPECT_EQ(read_text(path_), bytes);
  // Detects changes of the format: magic, then version 8 with its low byte first.
  EXPECT_EQ(bytes.substr(0, 8), "\x89TARN\r\n\n");
  EXPECT_EQ(bytes.substr(8, 8), std::string("\10\0\0\0\0\0\0\0", 8));
}

TEST_F(CheckpointFile, RefusesEachFaultInItsOwnWords) {
  const std::string good = read_text(path_);
  std::string other_version = good, damaged = good;
  other_version[8] = 1;
  damaged[good.size() / 2] ^= 1;
  expect_parts({
      {refusal("step,time_ps\n1,2\n and some more text"), "not a checkpoint"},
      {refusal(""), "empty"},
      {refusal(other_version), "format version 1, this program reads version 8"},
      {refusal(damaged), "damaged"},
      {refusal(good + "x"), "damaged"},
      {refusal(good.substr(0, good.size() - 9)), "cut off after"},
      {message_of<IoError>([&] { read_checkpoint(folder_.file("none")); }), "No such file"},
  });
  // Every prefix and every flipped byte.
  for (std::size_t i = 0; i < good.size(); ++i) {
    refusal(good.substr(0, i));
    std::string bad = good;
    bad[i] ^= 0x40;
    refusal(bad);
  }
}

TEST_F(CheckpointFile, AFailedWriteKeepsTheOlderOne) {
  const std::string good = read_text(path_);
  // With a file name of the largest length, no temporary name is possible.
  const std::string longest = folder_.file(std::string(255, 'c'));
  fs::copy_file(path_, longest);
  EXPECT_THROW(write_checkpoint(longest, example()), IoError);
  EXPECT_EQ(read_text(longest), good);
}

TEST(Binary, FloatsComeBack) {
  const std::vector<float> values{0.0f, -1.5f, 1e-45f, std::numeric_limits<float>::max()};
  std::ostringstream out;
  put(out, std::span<const float>(values));
  EXPECT_EQ(out.str().size(), 8u + 4u * values.size());
  EXPECT_EQ(out.str().substr(8 + 4, 4), (std::string{0, 0, '\xc0', '\xbf'}));  // little-endian
  std::istringstream in(out.str());
  EXPECT_EQ(get_all<float>(in), values);
}

TEST(Binary, RejectsAWrongCount) {
  std::ostringstream most, three;
  put(most, std::numeric_limits<std::uint64_t>::max());
  std::istringstream doubles(most.str()), floats(most.str()), text(most.str()), empty;
  EXPECT_THROW(get_all<double>(doubles), IoError);
  EXPECT_THROW(get_all<float>(floats), IoError);
  EXPECT_THROW(get_string(text), IoError);
  EXPECT_THROW(get_u64(empty), IoError);
  // Another number of values than expected.
  put(three, std::span<const double>(std::vector<double>{1.0, 2.0, 3.0}));
  for (const std::size_t count : {0u, 2u, 4u}) {
    std::istringstream in(three.str());
    std::vector<double> values(count);
    EXPECT_THROW(Archive(in).fixed(values), LayoutError) << count;
  }
  std::istringstream in(three.str());
  std::vector<double> values(3);
  Archive(in).fixed(values);
  EXPECT_EQ(values.back(), 3.0);
}

/// A record of another layout is named; other errors are passed on unchanged.
TEST(Record, OfAnotherLayoutIsNamed) {
  const ObserverRecord record{"rdf", "1234"};
  EXPECT_EQ(
      message_of<LayoutError>([&] { read_record(record, [](std::istream& in) { get_u64(in); }); }),
      "the state of 'rdf' in the checkpoint does not match this program: the data end too early");
  const auto full = [](std::istream&) { throw IoError("the disk is full"); };
  EXPECT_EQ(message_of<IoError>([&] { read_record(record, full); }), "the disk is full");
}

TEST(Binary, ChecksumIsFnv1a) {
  // Test vectors of the authors of FNV (Fowler, Noll, Vo).
  EXPECT_EQ(checksum(""), 0xcbf29ce484222325u);
  EXPECT_EQ(checksum("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(checksum("foobar"), 0x85944171f73967e8u);
}

TEST(Binary, LongChecksumIsXxh64) {
  // Of bytes that are added in pieces.
  const auto sum = [](std::string_view bytes, std::size_t piece) {
    LongChecksum checksum;
    for (std::size_t at = 0; at < bytes.size(); at += piece) checksum.add(bytes.substr(at, piece));
    return checksum.value();
  };
  EXPECT_EQ(sum("", 1), 0xef46db3751d8e999u);
  EXPECT_EQ(sum("a", 1), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(sum("abc", 3), 0x44bc2cf5ad770999u);
  // More than a stripe, and all sizes of a rest.
  EXPECT_EQ(sum("Nobody inspects the spammish repetition", 64), 0xfbcea83c8a378bf1u);
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(37 * i % 251);
  for (std::size_t piece = 1; piece < 100; ++piece) {
    ASSERT_EQ(sum(bytes, piece), sum(bytes, bytes.size())) << piece;
  }
}

}  // namespace
}  // namespace tarn::io
