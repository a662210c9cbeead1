#include "tarn/io/csv.hpp"

#include <array>
#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn::io {
namespace {

using test::contains;
using test::message_of;
using test::read_text;
using test::ScratchFolder;

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

TEST(Csv, NumbersComeBackToTheBit) {
  const ScratchFolder folder;
  const std::vector<double> values{1.0 / 3.0, -0.0,  5e-324, std::numeric_limits<double>::max(),
                                   0.1 + 0.2, -1e-17};
  CsvWriter csv(folder.file("t.csv"), {"step", "value", "who"});
  csv.create("tarn 1; a test");
  for (const double value : values) {
    csv.cell(std::int64_t{7}).cell(value).cell(std::string_view("mean")).end_row();
  }
  csv.flush();
  EXPECT_EQ(csv.length(), std::filesystem::file_size(folder.file("t.csv")));
  EXPECT_TRUE(
      read_text(folder.file("t.csv")).starts_with("# tarn 1; a test\nstep,value,who\n7,0."));

  CsvReader reader(folder.file("t.csv"));
  EXPECT_EQ(reader.provenance(), " tarn 1; a test");
  EXPECT_TRUE(reader.has_column("value"));
  EXPECT_THROW(reader.column("nothing"), InputError);
  std::vector<std::string_view> cells;
  for (const double value : values) {
    ASSERT_TRUE(reader.next(cells));
    const double read = reader.number(cells[reader.column("value")]);
    EXPECT_EQ(read, value);
    EXPECT_EQ(std::signbit(read), std::signbit(value));
    EXPECT_EQ(cells[2], "mean");
  }
  EXPECT_FALSE(reader.next(cells));
}

TEST(Csv, ReaderLocatesErrors) {
  const ScratchFolder folder;
  test::write_text(folder.file("t.csv"), "# x\na,b\n1,2\n1,oops\n1\n");
  CsvReader reader(folder.file("t.csv"));
  std::vector<std::string_view> cells;
  ASSERT_TRUE(reader.next(cells) && reader.next(cells));
  EXPECT_TRUE(contains(message_of<InputError>([&] { (void)reader.number(cells[1]); }),
                       "t.csv:4:3: 'oops' is not a number"));
  EXPECT_TRUE(contains(message_of<InputError>([&] { reader.next(cells); }), "t.csv:5: 1 cells"));
  test::write_text(folder.file("e.csv"), "# only\n");
  EXPECT_THROW(CsvReader(folder.file("e.csv")), InputError);
  EXPECT_THROW(CsvReader(folder.file("none.csv")), IoError);
}

TEST(Csv, ARowWithNaNNeverReachesTheFile) {
  const ScratchFolder folder;
  CsvWriter csv(folder.file("t.csv"), {"a", "b"});
  csv.create("x");
  csv.cell(1.0).cell(2.0).end_row();
  csv.cell(3.0);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const std::string message = message_of<NumericalError>([&] { csv.cell(bad); });
    EXPECT_TRUE(contains(message, "column b, row '3")) << message;
    EXPECT_TRUE(contains(message, "the simulation blew up")) << message;
  }
  csv.flush();
  EXPECT_EQ(read_text(folder.file("t.csv")), "# x\na,b\n1,2\n");
}

TEST(CsvFormat, AResultThatIsNotFiniteIsNoBlowUp) {
  CsvFormat csv("t.csv", {"a"});
  const std::string message = message_of<NumericalError>([&] { csv.cell(std::nan("")); });
  EXPECT_TRUE(contains(message, "t.csv would contain a value that is not a number (column a"))
      << message;
  EXPECT_FALSE(contains(message, "blew up")) << message;
}

TEST(CsvFormat, UnknownValuesAreNan) {
  const ScratchFolder folder;
  CsvFormat format(folder.file("t.csv"), {"a", "b", "c"});
  std::string text = format.head("x");
  format.cell_or_nan(std::nan("")).cell_or_nan(-HUGE_VAL).cell_or_nan(0.5);
  test::write_text(folder.file("t.csv"), text + format.row());
  CsvReader csv(folder.file("t.csv"));
  std::vector<std::string_view> cells;
  ASSERT_TRUE(csv.next(cells));
  EXPECT_EQ(cells[0], "nan");
  EXPECT_TRUE(std::isnan(csv.number(cells[0])) && std::isnan(csv.number(cells[1])));
  EXPECT_EQ(csv.number(cells[2]), 0.5);
}

TEST(Csv, TruncatesAndContinues) {
  const ScratchFolder folder;
  const std::string path = folder.file("t.csv");
  std::uint64_t length = 0;
  {
    CsvWriter csv(path, {"a"});
    csv.create("x");
    csv.cell(1.0).end_row();
    length = csv.length();
    csv.cell(2.0).end_row();
  }
  EXPECT_EQ(read_text(path), "# x\na\n1\n2\n");
  CsvWriter csv(path, {"a"});
  csv.cut(length);
  csv.cell(3.0).end_row();
  csv.sync();
  EXPECT_EQ(read_text(path), "# x\na\n1\n3\n");
  EXPECT_TRUE(contains(message_of<IoError>([&] { csv.cut(1000); }), "but 1000 at the checkpoint"));
  std::filesystem::remove(path);
  EXPECT_TRUE(contains(message_of<IoError>([&] { csv.cut(3); }), "No such file"));
}

TEST(AppendFile, AFullDiskLeavesTheLastCompleteLength) {
  const ScratchFolder folder;
  AppendFile file(folder.file("t"));
  file.create();
  file.append("complete\n");
  file.flush();
  {
    const FullDisk full(4096);
    EXPECT_TRUE(
        contains(message_of<IoError>([&] { file.append(std::string(100'000, 'x')); }), "t'"));
    EXPECT_EQ(read_text(folder.file("t")), "complete\n");
  }
  file.flush();  // there is room again
  EXPECT_EQ(std::filesystem::file_size(folder.file("t")), 9u + 100'000u);

  AppendFile full("/dev/full");
  full.create();
  full.append("x");
  EXPECT_TRUE(
      contains(message_of<IoError>([&] { full.flush(); }), "No space left on device. Free"));
}

TEST(AtomicFile, AppearsOnlyWhenItIsComplete) {
  const ScratchFolder folder;
  const std::string path = folder.file("t");
  write_file(path, "old");
  {
    AtomicFile file(path);
    file.write("half");
    EXPECT_EQ(read_text(path), "old");
  }
  EXPECT_EQ(test::contents_of(folder.path()).size(), 1u);
  {
    const FullDisk full(4096);
    EXPECT_TRUE(contains(message_of<IoError>([&] { write_file(path, std::string(9000, 'x')); }),
                         "cannot write '" + path + "': File too large."));
  }
  EXPECT_EQ(test::contents_of(folder.path()), (std::map<std::string, std::string>{{"t", "old"}}));
  write_file(path, "new");
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(test::contents_of(folder.path()).size(), 1u);
}

TEST(AtomicFile, ALinkStaysAndItsFileIsWritten) {
  namespace fs = std::filesystem;
  const ScratchFolder folder;
  fs::create_directories(folder.file("a/b"));
  write_file(folder.file("a/target"), "old");
  fs::create_symlink("../target", folder.file("a/b/near"));
  fs::create_symlink("a/b/near", folder.file("far"));
  fs::create_symlink(folder.file("a/new"), folder.file("ahead"));
  write_file(folder.file("far"), "new");
  write_file(folder.file("ahead"), "first");
  EXPECT_EQ(read_text(folder.file("a/target")), "new");
  EXPECT_EQ(read_text(folder.file("a/new")), "first");
  for (const char* link : {"far", "ahead", "a/b/near"}) {
    EXPECT_TRUE(fs::is_symlink(folder.file(link))) << link;
  }
  fs::create_symlink("two", folder.file("one"));
  fs::create_symlink("one", folder.file("two"));
  EXPECT_TRUE(contains(message_of<IoError>([&] { write_file(folder.file("one"), "x"); }),
                       "one': Too many levels of symbolic links"));
}

TEST(AtomicFile, WritesToPipesAndDevices) {
  const ScratchFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", folder.file("link"));
  for (const std::string& name : {path, folder.file("link")}) {
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    write_file(name, "text");
    std::array<char, 8> bytes{};
    EXPECT_EQ(::read(reader, bytes.data(), bytes.size()), 4);
    EXPECT_EQ(std::string_view(bytes.data(), 4), "text");
    ::close(reader);
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  EXPECT_TRUE(contains(message_of<IoError>([&] { write_file(folder.path(), "x"); }),
                       "Is a directory. This is a folder"));
}

TEST(AtomicFile, ReportsCauseAndRemedy) {
  const ScratchFolder folder;
  EXPECT_TRUE(contains(message_of<IoError>([&] { write_file(folder.file("no/t"), "x"); }),
                       "no/t': No such file or directory. Check the name"));
  write_file(folder.file("t"), "x");
  EXPECT_TRUE(contains(message_of<IoError>([&] { write_file(folder.file("t/u"), "x"); }),
                       "Not a directory. A file has the name of a folder that is needed"));
  EXPECT_TRUE(
      contains(message_of<IoError>([&] { read_file(folder.file("none")); }), "cannot read"));
  EXPECT_TRUE(contains(message_of<IoError>([&] { read_file(folder.path()); }), "Is a directory"));
}

TEST(CsvFormat, RefusesTextThatWouldMakeTwoCells) {
  io::CsvFormat csv("table.csv", {"a"});
  EXPECT_THROW(csv.cell(std::string_view("one, two")), std::logic_error);
  EXPECT_THROW(csv.cell(std::string_view("one\ntwo")), std::logic_error);
}

}  // namespace
}  // namespace tarn::io
