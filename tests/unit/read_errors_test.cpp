// A read error in the middle of a file is reported and not mistaken for its end.
#include <cerrno>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/words.hpp"
#include "tarn/io/formats.hpp"
#include "testing.hpp"
#include "trajectory_fixtures.hpp"

namespace {

/// Reads at or after this position in a file fail.
std::int64_t g_bad_place = std::numeric_limits<std::int64_t>::max();

}  // namespace

/// Replaces read() of the C library, which the streams of the standard library call.
extern "C" ssize_t read(int descriptor, void* buffer, std::size_t bytes) {
  if (::lseek(descriptor, 0, SEEK_CUR) >= g_bad_place) {
    errno = EIO;
    return -1;
  }
  return ::syscall(SYS_read, descriptor, buffer, bytes);
}

namespace tarn::io {
namespace {

using namespace test;

class ReadErrors : public ::testing::Test {
 protected:
  ~ReadErrors() override { g_bad_place = std::numeric_limits<std::int64_t>::max(); }

  /// Reads everything with `next`, then again with a read error in the middle of the file.
  template <class Open>
  void expect_error(const std::string& path, const Open& open) {
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
    ASSERT_GT(size, 100'000) << "streams must read it in pieces";
    const auto count = [&] {
      auto reader = open();
      std::int64_t n = 0;
      while (reader()) ++n;
      return n;
    };
    EXPECT_GT(count(), 1);
    for (const std::int64_t place : {size / 2, std::int64_t{1}}) {
      g_bad_place = place;
      expect_throws<IoError>({"cannot read '" + path + "': Input/output error"}, count);
      g_bad_place = std::numeric_limits<std::int64_t>::max();
    }
  }

  ScratchFolder folder_;
};

TEST_F(ReadErrors, OfLines) {
  const std::string path = folder_.file("lines");
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "some line\n";
  write_text(path, text);
  expect_error(path, [&] {
    return [reader = std::make_shared<LineReader>(path)] { return reader->next(); };
  });
}

TEST_F(ReadErrors, OfTrajectories) {
  TrajectoryInfo info;
  info.folder = folder_.path();
  info.numbered = false;
  info.molecules = 30;
  info.model = "tip3p";
  info.every = 10;
  info.timestep_fs = 2.0;
  const std::vector<double> positions = some_positions(30, 1);
  for (const Format& format : formats()) {
    if (format.id == FileFormat::h5md) continue;  // HDF5 reports its own errors
    SCOPED_TRACE(format.name);
    const auto writer = format.write(info);
    writer->create();
    for (int k = 0; k < 200; ++k) writer->append({0, 10 * k, 0.02 * k, positions});
    writer->finish();
    const std::string path = folder_.file("trajectory" + std::string(format.extensions.front()));
    expect_error(path, [&] {
      return [reader = std::shared_ptr<FrameReader>(open_frames(path))] {
        return reader->next().has_value();
      };
    });
  }
}

}  // namespace
}  // namespace tarn::io
