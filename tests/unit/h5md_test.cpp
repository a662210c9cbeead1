#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "full_product.hpp"
#include "io/convert.hpp"
#include "tarn/io/formats.hpp"
#include "testing.hpp"
#include "trajectory_fixtures.hpp"

#ifdef TARN_HAVE_HDF5
#include "io/hdf5.hpp"
#endif

// State of trajectory.h5 after the program was killed and after a full disk. HDF5 writes with
// pwrite and ftruncate, which are replaced here by functions that kill the program, or fail, at a
// given call. This covers every state in which a file may be left.

namespace {

/// errno of all locks; 0: they succeed.
int lock_failure = 0;
int g_calls_to_live = -1;  // negative: unlimited
int g_calls_to_full = -1;  // until the disk is full; negative: never

/// A disk that is full for a number of writes of at least a number of bytes.
struct FullDisk {
  int writes;
  size_t bytes;
} g_full{0, 0};

bool finds_no_space(size_t size) {
  if (g_calls_to_full > 0) --g_calls_to_full;
  if (g_calls_to_full != 0 || size < g_full.bytes || g_full.writes == 0) return false;
  --g_full.writes;
  return true;
}

void count_call() {
  if (g_calls_to_live == 0) ::raise(SIGKILL);
  if (g_calls_to_live > 0) --g_calls_to_live;
}

}  // namespace

extern "C" ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  count_call();
  if (finds_no_space(size)) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_pwrite64, file, bytes, size, offset);
}
extern "C" int ftruncate(int file, off_t length) noexcept {
  count_call();
  return static_cast<int>(::syscall(SYS_ftruncate, file, length));
}

extern "C" int flock(int file, int operation) noexcept {
  if (lock_failure != 0) {
    errno = lock_failure;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, file, operation));
}

#if defined(__SANITIZE_ADDRESS__)
/// The HDF5 library leaks a block after a failed write.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
#endif

namespace tarn::io {
namespace {

namespace fs = std::filesystem;
using namespace test;

constexpr int kFrames = 9;

class H5md : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_h5md()) GTEST_SKIP() << "this build has no HDF5";
  }

  TrajectoryInfo info(const std::string& folder) const {
    TrajectoryInfo info;
    info.folder = folder;
    info.replicas = replicas_;
    info.molecules = molecules_;
    info.model = "tip3p";
    info.every = 10;
    info.timestep_fs = 2.0;
    info.provenance = "tarn; a test";
    return info;
  }
  std::unique_ptr<TrajectoryWriter> writer(const std::string& folder) const {
    return format_of(FileFormat::h5md).write(info(folder));
  }
  void append(TrajectoryWriter& writer, int first, int last) const {
    for (int frame = first; frame < last; ++frame) {
      for (int replica = 0; replica < replicas_; ++replica) {
        const auto x = some_positions(molecules_, 10 * frame, replica);
        writer.append({replica, 10 * frame, 0.02 * frame, x});
      }
    }
  }
  /// Writes a checkpoint: the data of save() and the number of frames.
  static void checkpoint(TrajectoryWriter& writer, const std::string& folder, int frames) {
    std::ostringstream out;
    writer.save(out);
    write_text(folder + "/checkpoint.tmp", std::to_string(frames) + '\n' + out.str());
    fs::rename(folder + "/checkpoint.tmp", folder + "/checkpoint");
  }
  /// Continues from the checkpoint in the folder, or starts a new run if there is none.
  void go_on(const std::string& folder, int last) const {
    const auto w = writer(folder);
    int first = 0;
    if (fs::exists(folder + "/checkpoint")) {
      std::istringstream in(read_text(folder + "/checkpoint"));
      std::string line;
      std::getline(in, line);
      first = std::stoi(line);
      w->load(in);
    } else {
      w->create();
    }
    append(*w, first, last);
    w->finish();
  }
  /// Starts a run whose checkpoint has the first frames.
  std::unique_ptr<TrajectoryWriter> started(const std::string& folder, int frames) const {
    auto w = writer(folder);
    w->create();
    append(*w, 0, frames);
    checkpoint(*w, folder, frames);
    return w;
  }
  /// Runs `what` in another process. @return its status
  static int status_of(const std::function<void()>& what) {
    const pid_t child = ::fork();
    if (child == 0) {
      what();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }
  /// Runs `what` in a process that is killed at its call number `calls`. @return whether it was
  /// killed
  static bool dies_at(int calls, const std::function<void()>& what) {
    const int status = status_of([&] {
      g_calls_to_live = calls;
      what();
    });
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  /// Checks that all readable frames are as written. @return their number by replica
  std::map<std::string, int> whole_frames(const std::string& folder) const {
    std::map<std::string, int> frames;
    const auto reader = open_frames(folder + "/trajectory.h5");
    while (const auto found = reader->next()) {
      const std::string& group = found->comment.at("replica");
      const int frame = frames[group]++;
      const int replica = std::stoi(group.substr(group.find('-') + 1));
      EXPECT_EQ(found->positions_A, some_positions(molecules_, 10 * frame, replica));
      EXPECT_EQ(found->comment.at("step"), std::to_string(10 * frame));
    }
    return frames;
  }
  /// Checks that the frames of the last checkpoint are readable and that the run can be continued.
  void expect_nothing_lost(const std::string& folder) const {
    if (fs::exists(folder + "/checkpoint")) {
      const int saved = std::stoi(read_text(folder + "/checkpoint"));
      const std::map<std::string, int> frames = whole_frames(folder);
      ASSERT_EQ(frames.size(), static_cast<std::size_t>(replicas_));
      for (const auto& [group, count] : frames) ASSERT_GE(count, saved) << group;
    }
    go_on(folder, kFrames);
    ASSERT_EQ(text_of_frames(folder + "/trajectory.h5"), straight());
  }
  const std::string& straight() const {
    if (straight_.empty()) {
      fs::create_directory(scratch_.file("straight"));
      go_on(scratch_.file("straight"), kFrames);
      straight_ = text_of_frames(scratch_.file("straight/trajectory.h5"));
    }
    return straight_;
  }
  /// Kills a run in the folder at every `every`-th call. @return how often
  int deaths_of(const std::function<void()>& run, int every, const std::string& folder,
                const std::function<void()>& prepare) {
    int deaths = 0;
    for (int calls = 0; !HasFatalFailure(); calls += every) {
      prepare();
      if (!dies_at(calls, run)) break;
      ++deaths;
      SCOPED_TRACE("died at call " + std::to_string(calls));
      expect_nothing_lost(folder);
    }
    return deaths;
  }
  /// Kills a run with two checkpoints at every `every`-th call. @return how often
  int deaths_of_a_run(int every) {
    const std::string folder = scratch_.file("x");
    const auto run = [&] {
      const auto w = started(folder, 1);
      std::ostringstream nobody;
      append(*w, 1, 3);
      w->save(nobody);  // the frames are in the file but not in the checkpoint
      append(*w, 3, 5);
      checkpoint(*w, folder, 5);
      append(*w, 5, 7);
      w->save(nobody);
      w->finish();
    };
    return deaths_of(run, every, folder, [&] { new_folder(); });
  }
  std::string new_folder() {
    const std::string folder = scratch_.file("x");
    fs::remove_all(folder);
    fs::create_directory(folder);
    return folder;
  }

  int replicas_ = 2;
  int molecules_ = 400;  // two frames fill a chunk, so the run has several chunks
  ScratchFolder scratch_;
  mutable std::string straight_;
};

TEST_F(H5md, EqualRunsGiveEqualBytes) {
  std::string files[2];
  for (std::string& file : files) {
    const std::string folder = new_folder();
    go_on(folder, kFrames);
    file = read_text(folder + "/trajectory.h5");
    // By default HDF5 records the creation time of an object in seconds.
    ::sleep(1);
  }
  EXPECT_TRUE(files[0] == files[1]);
}

#ifdef TARN_HAVE_HDF5
using hdf5::Handle;

/// A file with the groups of H5MD.
hdf5::File new_h5md(const std::string& path) {
  hdf5::File file(path, hdf5::File::Mode::create);
  file.make_group("h5md");
  file.make_group("particles");
  return file;
}

/// A group of particles with equal frames.
void write_positions(const hdf5::File& file, const std::string& name, const char* unit,
                     const std::vector<double>& x, int frames) {
  const std::string group = "particles/" + name, position = group + "/position";
  file.make_group(group);
  file.make_group(position);
  file.make_growing(position + "/value", H5T_IEEE_F64LE, {x.size() / 3, 3}, 1);
  file.set_attribute(position + "/value", "unit", unit);
  const Handle place = file.open(position);
  for (int frame = 0; frame < frames; ++frame) {
    file.append(place, "value", H5T_NATIVE_DOUBLE, x.data(), 1);
  }
}

/// @param count 0: a scalar
void write_dataset(const hdf5::File& file, const std::string& group, const char* name, hid_t type,
                   hsize_t count, const void* values) {
  const Handle space(count > 0 ? H5Screate_simple(1, &count, nullptr) : H5Screate(H5S_SCALAR),
                     H5Sclose);
  const Handle place = file.open(group);
  const Handle dataset(H5Dcreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose);
  ASSERT_GE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
}

/// A file with one molecule as another program may write it.
/// @param width of texts of fixed length, as in MDAnalysis; 0: of variable length, as in tarn
void write_other_h5md(const std::string& path, std::size_t width, const std::string& boundary) {
  hdf5::File file = new_h5md(path);
  write_positions(file, "all", "Angstrom", {0, 0, 0, 1, 0, 0, 0, 1, 0}, 1);
  file.make_group("particles/all/box");
  if (width == 0) {
    file.set_attribute("particles/all/box", "boundary", std::vector<std::string>(3, boundary));
    return;
  }
  const hsize_t three = 3;
  const Handle box = file.open("particles/all/box");
  const Handle space(H5Screate_simple(1, &three, nullptr), H5Sclose);
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  ASSERT_GE(H5Tset_size(type, width), 0);
  const Handle attribute(H5Acreate2(box, "boundary", type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  std::string texts(3 * width, '\0');
  for (std::size_t k = 0; k < 3; ++k) texts.replace(k * width, boundary.size(), boundary);
  ASSERT_GE(H5Awrite(attribute, type, texts.data()), 0);
}

TEST_F(H5md, DetectsPeriodicBoxes) {
  const std::string path = new_folder() + "/other.h5";
  for (const std::size_t width : {0u, 8u, 20u}) {
    for (const char* boundary : {"periodic", "none"}) {
      write_other_h5md(path, width, boundary);
      const auto frame = open_frames(path)->next();
      ASSERT_TRUE(frame);
      EXPECT_EQ(frame->has_box, std::string_view(boundary) == "periodic") << width;
      EXPECT_EQ(frame->positions_A[3], 1.0);
    }
  }
}

/// A file of six atoms and four frames whose steps and times are intervals, as H5MD permits.
/// @param write_species writes the species, if any
void write_intervals(const std::string& path,
                     const std::function<void(const hdf5::File&)>& write_species) {
  hdf5::File file = new_h5md(path);
  const std::string position = "particles/all/position";
  write_positions(file, "all", "nm", {0, 0, 0, .1, 0, 0, 0, .1, 0, 0, 0, .3, .1, 0, .3, 0, .1, .3},
                  4);
  const int step = 50;
  const double time_fs = 100.0;
  write_dataset(file, position, "step", H5T_NATIVE_INT, 0, &step);
  write_dataset(file, position, "time", H5T_NATIVE_DOUBLE, 0, &time_fs);
  file.set_attribute(position + "/time", "unit", "fs");
  file.set_attribute(position + "/time", "offset", 1000.0);
  if (write_species) write_species(file);
}

TEST_F(H5md, ScalarStepsAndTimesAreIntervals) {
  const std::string path = new_folder() + "/scalar.h5";
  write_intervals(path, {});
  const std::vector<Structure> frames = frames_of(path);
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[3].comment.at("step"), "150");
  EXPECT_EQ(frames[0].time_ps(), 1.0);
  EXPECT_NEAR(frames[3].time_ps().value(), 1.3, 1e-12);
  EXPECT_EQ(frames[3].positions_A[3], 1.0);
}

/// Species are strings of fixed or variable length, or an enumeration.
TEST_F(H5md, SpeciesMayBeNames) {
  const std::string path = new_folder() + "/named.h5";
  const auto frames_with = [&](const Handle& type, const void* values) {
    write_intervals(path, [&](const hdf5::File& file) {
      write_dataset(file, "particles/all", "species", type, 6, values);
    });
    return frames_of(path);
  };
  const auto refusal = [&](const Handle& type, const void* values) {
    return message_of<InputError>([&] { frames_with(type, values); });
  };
  const Handle fixed(H5Tcopy(H5T_C_S1), H5Tclose), variable(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(fixed, 3);
  H5Tset_size(variable, H5T_VARIABLE);
  const char* const names[6] = {"OW", "HW1", "HW2", "OW", "HW1", "HW2"};
  const char* const heavy[6] = {"O", "D", "D", "O", "D", "D"};
  EXPECT_EQ(frames_with(variable, names).size(), 4u);
  EXPECT_EQ(frames_with(fixed, "O  H  H  O\0\0H\0\0H\0").size(), 4u);
  EXPECT_TRUE(contains(refusal(fixed, "O  H  O  H  H  H "),
                       "species: atom 2 is 'O'; the atoms of each molecule must be in the order "
                       "O H H"));
  EXPECT_EQ(frames_with(variable, heavy).at(0).messages.size(), 1u);
  const Handle kinds(H5Tenum_create(H5T_NATIVE_INT), H5Tclose);
  const int oxygen = 0, hydrogen = 1, order[6] = {0, 1, 1, 0, 1, 1}, other[6] = {1, 0, 0, 1, 0, 0};
  H5Tenum_insert(kinds, "O", &oxygen);
  H5Tenum_insert(kinds, "H", &hydrogen);
  EXPECT_EQ(frames_with(kinds, order).size(), 4u);
  EXPECT_TRUE(contains(refusal(kinds, other), "atom 0 is"));
}

/// Group names are arbitrary.
TEST_F(H5md, GroupsOfAnyNameAreReplicas) {
  const std::string folder = new_folder(), path = folder + "/named.h5";
  {
    hdf5::File file = new_h5md(path);
    write_positions(file, "solute", "Angstrom", {0, 0, 0, 1, 0, 0, 0, 1, 0}, 3);
    write_positions(file, "solvent", "Angstrom", {0, 0, 5, 1, 0, 5, 0, 1, 5}, 3);
  }
  const Conversion done = convert_trajectory({path, folder + "/named.xyz"});
  EXPECT_EQ(done.replicas, 2);
  EXPECT_EQ(done.frames, 6);
  ASSERT_EQ(done.files.size(), 2u);
  EXPECT_EQ(frames_of(done.files[0]).at(2).positions_A[2], 0.0);
  EXPECT_EQ(frames_of(done.files[1]).at(2).positions_A[2], 5.0);
}
#endif

TEST_F(H5md, ADeathAtAnyWriteLosesNothingOfTheLastCheckpoint) {
  EXPECT_GT(deaths_of_a_run(sparse_step()), 30 / sparse_step());
}

TEST_F(H5md, SurvivesADeathWithManyDatasets) {
  replicas_ = 300;
  molecules_ = 1;
  EXPECT_GT(deaths_of_a_run(1499), 3);
}

TEST_F(H5md, ADeathWhileARunIsResumedLosesNothing) {
  // Killed after frame 5, with a checkpoint at frame 3.
  const std::string killed = scratch_.file("killed"), folder = scratch_.file("y");
  fs::create_directory(killed);
  ASSERT_TRUE(dies_at(-1, [&] {
    const auto w = started(killed, 3);
    append(*w, 3, 5);
    std::ostringstream nobody;
    w->save(nobody);
    ::raise(SIGKILL);
  }));
  const int deaths = deaths_of([&] { go_on(folder, 7); }, sparse_step(), folder,
                               [&] {
                                 fs::remove_all(folder);
                                 fs::copy(killed, folder);
                               });
  EXPECT_GT(deaths, 20 / sparse_step());
}

TEST_F(H5md, AFullDiskLosesNothingAndIsReportedOnce) {
  // A limit on file sizes replaces a full disk; it is tested at many lengths.
  go_on(new_folder(), kFrames);
  const auto whole = static_cast<rlim_t>(fs::file_size(scratch_.file("x/trajectory.h5")));
  for (rlim_t limit = 1000; limit < whole; limit += whole / 20) {
    SCOPED_TRACE("limit " + std::to_string(limit));
    const std::string folder = new_folder();
    const int status = status_of([&] {
      const rlimit most{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &most);
      std::signal(SIGXFSZ, SIG_IGN);
      try {
        const auto w = writer(folder);
        w->create();
        for (int frame = 0; frame < kFrames; ++frame) {
          append(*w, frame, frame + 1);
          checkpoint(*w, folder, frame + 1);
        }
      } catch (const IoError& error) {
        // Not _exit: the exit handlers of the HDF5 library are part of the test.
        std::exit(contains(error.what(), "File too large") ? 42 : 43);
      }
    });
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 42);
    EXPECT_FALSE(fs::exists(folder + "/trajectory.h5.tarn-tmp"));
    expect_nothing_lost(folder);
    if (HasFatalFailure()) return;
  }
}

TEST_F(H5md, AFullDiskLeavesWholeFramesOnly) {
  // The disk stays full; it stays full for large writes only; or it has space again after one
  // write. If the program can repair the file, nothing of the failed frames remains in it.
  const int for_ever = 1 << 30;
  for (const FullDisk full : {FullDisk{for_ever, 0}, {for_ever, 4096}, {1, 0}, {1, 4096}}) {
    int failures = 0;
    for (int calls = 1;; ++calls) {
      SCOPED_TRACE(
          fmt::format("{} writes of {} bytes fail from call {}", full.writes, full.bytes, calls));
      const std::string folder = new_folder();
      const int status = status_of([&] {
        g_calls_to_full = calls;
        g_full = full;
        bool created = false;
        try {
          const auto w = writer(folder);
          w->create();
          created = true;
          append(*w, 0, 3);
          checkpoint(*w, folder, 3);
          append(*w, 3, 7);
          checkpoint(*w, folder, 7);
          w->finish();
        } catch (const IoError&) {
          std::exit(created ? 42 : 43);
        }
        // The library repeats some writes.
        std::exit(g_full.writes == full.writes ? 45 : 44);
      });
      ASSERT_TRUE(WIFEXITED(status));
      if (WEXITSTATUS(status) == 45) break;
      if (WEXITSTATUS(status) == 42) {
        ++failures;
        for (const auto& [group, count] : whole_frames(folder)) {
          EXPECT_TRUE(count == 3 || count == 7 || full.writes > 1) << group << " has " << count;
        }
      }
      expect_nothing_lost(folder);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(failures, full.bytes > 0 ? 3 : 20);
  }
}

TEST_F(H5md, AFileThatLostFramesIsNotContinued) {
  const std::string folder = new_folder();
  const auto w = writer(folder);
  w->create();
  append(*w, 0, 4);
  std::ostringstream saved;
  w->save(saved);
  w->finish();
  go_on(folder, 2);  // another, shorter run
  std::istringstream in(saved.str());
  expect_throws<IoError>({"has 2 frames and the checkpoint 4"}, [&] { writer(folder)->load(in); });
}

TEST_F(H5md, NeedsNoLocks) {
  constexpr int kNotSupportedByNfs = 524;
  for (const int failure : {ENOLCK, ENOSYS, EOPNOTSUPP, kNotSupportedByNfs}) {
    SCOPED_TRACE(failure);
    const std::string& expected = straight();
    lock_failure = failure;
    const std::string folder = new_folder();
    {
      const auto w = started(folder, 3);
      append(*w, 3, 5);  // removed when the run continues
      w->finish();
    }
    go_on(folder, kFrames);
    const std::string frames = text_of_frames(folder + "/trajectory.h5");
    lock_failure = 0;
    EXPECT_EQ(frames, expected);
  }
}

/// Viewers such as those that use h5py lock the file that they read.
TEST_F(H5md, NamesAViewerThatHasTheFileOpen) {
  const std::string folder = new_folder();
  started(folder, 3)->finish();
  const int viewer = ::open((folder + "/trajectory.h5").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(viewer, LOCK_SH), 0);
  expect_throws<IoError>({folder + "/trajectory.h5': another program has it open"},
                         [&] { go_on(folder, kFrames); });
  ::close(viewer);
  go_on(folder, kFrames);
}

TEST_F(H5md, ErrorsNameTheFileAndPrintNothing) {
  testing::internal::CaptureStderr();
  expect_throws<IoError>({"nowhere/trajectory.h5"},
                         [&] { writer(scratch_.file("nowhere"))->create(); });
  write_text(scratch_.file("a.h5"), "\x89HDF\r\n\x1a\n and nothing else");
  expect_throws<IoError>({"a.h5"}, [&] { open_frames(scratch_.file("a.h5")); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tarn::io
