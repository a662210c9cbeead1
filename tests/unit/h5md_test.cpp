#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "full_product.hpp"
#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/convert.hpp"
#include "tarn/io/formats.hpp"
#include "trajectory_fixtures.hpp"

#ifdef TARN_HAVE_HDF5
#include "io/hdf5.hpp"
#endif

// State of trajectory.h5 after the program was killed and after a full disk. HDF5 writes with
// pwrite and ftruncate, which are replaced here by functions that kill the program, or fail, at a
// given call. This covers every state in which a file may be left.

namespace {

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

namespace {
/// errno of all locks; 0: they succeed.
int lock_failure = 0;
}  // namespace
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
using test::contains;
using test::message_of;
using test::ScratchFolder;
using test::some_positions;
using test::text_of_frames;

constexpr int kFrames = 9;

class H5md : public ::testing::Test {
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
    test::write_text(folder + "/checkpoint.tmp", std::to_string(frames) + '\n' + out.str());
    fs::rename(folder + "/checkpoint.tmp", folder + "/checkpoint");
  }
  /// Continues from the checkpoint in the folder, or starts a new run if there is none.
  void go_on(const std::string& folder, int last) const {
    const auto w = writer(folder);
    int first = 0;
    if (fs::exists(folder + "/checkpoint")) {
      std::istringstream in(test::read_text(folder + "/checkpoint"));
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
  /// Runs `what` in a process that is killed at its call number `calls`. @return whether it was
  /// killed
  static bool dies_at(int calls, const std::function<void()>& what) {
    const pid_t child = ::fork();
    if (child == 0) {
      g_calls_to_live = calls;
      what();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  /// Checks that all readable frames are as written. @param frames receives their number by replica
  void expect_whole_frames(const std::string& folder, std::map<std::string, int>& frames) const {
    const auto reader = open_frames(folder + "/trajectory.h5");
    while (const auto found = reader->next()) {
      const std::string& group = found->comment.at("replica");
      const int frame = frames[group]++;
      const int replica = std::stoi(group.substr(group.find('-') + 1));
      ASSERT_EQ(found->positions_A, some_positions(molecules_, 10 * frame, replica));
      ASSERT_EQ(found->comment.at("step"), std::to_string(10 * frame));
    }
  }
  /// Checks that the frames of the last checkpoint are readable and that the run can be continued.
  void expect_nothing_lost(const std::string& folder) const {
    if (fs::exists(folder + "/checkpoint")) {
      const int saved = std::stoi(test::read_text(folder + "/checkpoint"));
      std::map<std::string, int> frames;
      expect_whole_frames(folder, frames);
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
  /// Kills a run with two checkpoints at every `every`-th call. @return how often
  int deaths_of_a_run(int every) {
    const auto run = [this](const std::string& folder) {
      const auto w = writer(folder);
      w->create();
      std::ostringstream nobody;
      append(*w, 0, 1);
      checkpoint(*w, folder, 1);
      append(*w, 1, 3);
      w->save(nobody);  // the frames are in the file but not in the checkpoint
      append(*w, 3, 5);
      checkpoint(*w, folder, 5);
      append(*w, 5, 7);
      w->save(nobody);
      w->finish();
    };
    int deaths = 0;
    for (int calls = 0; !HasFatalFailure(); calls += every) {
      const std::string folder = new_folder();
      if (!dies_at(calls, [&] { run(folder); })) break;
      ++deaths;
      SCOPED_TRACE("died at call " + std::to_string(calls));
      expect_nothing_lost(folder);
    }
    return deaths;
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
    file = test::read_text(folder + "/trajectory.h5");
    // By default HDF5 records the creation time of an object in seconds.
    ::sleep(1);
  }
  EXPECT_TRUE(files[0] == files[1]);
}

TEST_F(H5md, HoldsEveryReplicaWithStepsAndTimes) {
  const std::string folder = new_folder();
  go_on(folder, kFrames);
  const auto reader = open_frames(folder + "/trajectory.h5");
  for (int replica = 0; replica < replicas_; ++replica) {
    for (int frame = 0; frame < kFrames; ++frame) {
      const auto found = reader->next();
      ASSERT_TRUE(found);
      EXPECT_EQ(found->positions_A, some_positions(molecules_, 10 * frame, replica));
      EXPECT_EQ(found->comment.at("replica"), "replica-000" + std::to_string(replica));
      EXPECT_EQ(found->comment.at("step"), std::to_string(10 * frame));
      EXPECT_EQ(std::stod(found->comment.at("time_ps")), 0.02 * frame);
      EXPECT_EQ(found->model(), "tip3p");
    }
  }
  EXPECT_FALSE(reader->next());
}

#ifdef TARN_HAVE_HDF5
/// A file with one molecule as another program may write it.
/// @param width of texts of fixed length, as in MDAnalysis; 0: of variable length, as in tarn
void write_other_h5md(const std::string& path, std::size_t width, const std::string& boundary) {
  using hdf5::File;
  using hdf5::Handle;
  File file(path, File::Mode::create);
  for (const char* group :
       {"h5md", "particles", "particles/all", "particles/all/box", "particles/all/position"}) {
    file.make_group(group);
  }
  const std::string position = "particles/all/position";
  file.make_growing(position + "/value", H5T_IEEE_F64LE, {3, 3}, 1);
  file.set_attribute(position + "/value", "unit", "Angstrom");
  const std::vector<double> x{0, 0, 0, 1, 0, 0, 0, 1, 0};
  file.append(file.open(position), "value", H5T_NATIVE_DOUBLE, x.data(), 1);
  const Handle box = file.open("particles/all/box");
  if (width == 0) {
    file.set_attribute("particles/all/box", "boundary", std::vector<std::string>(3, boundary));
  } else {
    const hsize_t three = 3;
    const Handle space(H5Screate_simple(1, &three, nullptr), H5Sclose);
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    ASSERT_GE(H5Tset_size(type.id(), width), 0);
    const Handle attribute(
        H5Acreate2(box.id(), "boundary", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    std::string texts(3 * width, '\0');
    for (std::size_t k = 0; k < 3; ++k) texts.replace(k * width, boundary.size(), boundary);
    ASSERT_GE(H5Awrite(attribute.id(), type.id(), texts.data()), 0);
  }
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
/// @param species written by that function, or nothing
void write_intervals(const std::string& path,
                     const std::function<void(const hdf5::File&)>& write_species) {
  using hdf5::File;
  using hdf5::Handle;
  File file(path, File::Mode::create);
  for (const char* group : {"h5md", "particles", "particles/all", "particles/all/position"}) {
    file.make_group(group);
  }
  const std::string position = "particles/all/position";
  file.make_growing(position + "/value", H5T_IEEE_F64LE, {6, 3}, 1);
  file.set_attribute(position + "/value", "unit", "nm");
  const std::vector<double> x{0, 0, 0, .1, 0, 0, 0, .1, 0, 0, 0, .3, .1, 0, .3, 0, .1, .3};
  for (int frame = 0; frame < 4; ++frame) {
    file.append(file.open(position), "value", H5T_NATIVE_DOUBLE, x.data(), 1);
  }
  const auto write_scalar = [&](const std::string& name, hid_t type, const void* value) {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle place = file.open(position);
    const Handle dataset(H5Dcreate2(place.id(), name.c_str(), type, space.id(), H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT),
                         H5Dclose);
    ASSERT_GE(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value), 0);
  };
  const int step = 50;
  const double time_fs = 100.0;
  write_scalar("step", H5T_NATIVE_INT, &step);
  write_scalar("time", H5T_NATIVE_DOUBLE, &time_fs);
  file.set_attribute(position + "/time", "unit", "fs");
  file.set_attribute(position + "/time", "offset", 1000.0);
  if (write_species) write_species(file);
}

TEST_F(H5md, ScalarStepsAndTimesAreIntervals) {
  const std::string path = new_folder() + "/scalar.h5";
  write_intervals(path, {});
  const std::vector<Structure> frames = test::frames_of(path);
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[3].comment.at("step"), "150");
  EXPECT_EQ(frames[0].time_ps(), 1.0);
  EXPECT_NEAR(frames[3].time_ps().value(), 1.3, 1e-12);
  EXPECT_EQ(frames[3].positions_A[3], 1.0);
}

/// Species are strings of fixed or variable length, or an enumeration.
TEST_F(H5md, SpeciesMayBeNames) {
  using hdf5::Handle;
  const std::string path = new_folder() + "/named.h5";
  const auto write = [&](hid_t type, const void* values) {
    write_intervals(path, [&](const hdf5::File& file) {
      const hsize_t six = 6;
      const Handle space(H5Screate_simple(1, &six, nullptr), H5Sclose);
      const Handle group = file.open("particles/all");
      const Handle dataset(H5Dcreate2(group.id(), "species", type, space.id(), H5P_DEFAULT,
                                      H5P_DEFAULT, H5P_DEFAULT),
                           H5Dclose);
      ASSERT_GE(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    });
  };
  const Handle fixed(H5Tcopy(H5T_C_S1), H5Tclose), variable(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(fixed.id(), 3);
  H5Tset_size(variable.id(), H5T_VARIABLE);
  const char* const names[6] = {"OW", "HW1", "HW2", "OW", "HW1", "HW2"};
  write(variable.id(), names);
  EXPECT_EQ(test::frames_of(path).size(), 4u);
  write(fixed.id(), "O  H  H  O\0\0H\0\0H\0");
  EXPECT_EQ(test::frames_of(path).size(), 4u);
  write(fixed.id(), "O  H  O  H  H  H ");
  EXPECT_TRUE(contains(message_of<InputError>([&] { test::frames_of(path); }),
                       "species: atom 2 is 'O'; the atoms of each molecule must be "
                       "in the order O H H"));
  const char* const heavy[6] = {"O", "D", "D", "O", "D", "D"};
  write(variable.id(), heavy);
  EXPECT_EQ(test::frames_of(path).at(0).messages.size(), 1u);
  const Handle kinds(H5Tenum_create(H5T_NATIVE_INT), H5Tclose);
  const int oxygen = 0, hydrogen = 1, order[6] = {0, 1, 1, 0, 1, 1}, other[6] = {1, 0, 0, 1, 0, 0};
  H5Tenum_insert(kinds.id(), "O", &oxygen);
  H5Tenum_insert(kinds.id(), "H", &hydrogen);
  write(kinds.id(), order);
  EXPECT_EQ(test::frames_of(path).size(), 4u);
  write(kinds.id(), other);
  EXPECT_TRUE(contains(message_of<InputError>([&] { test::frames_of(path); }), "atom 0 is"));
}

/// Group names are arbitrary.
TEST_F(H5md, GroupsOfAnyNameAreReplicas) {
  const std::string folder = new_folder(), path = folder + "/named.h5";
  {
    hdf5::File file(path, hdf5::File::Mode::create);
    file.make_group("h5md");
    file.make_group("particles");
    for (const std::string group : {"particles/solute", "particles/solvent"}) {
      file.make_group(group);
      file.make_group(group + "/position");
      file.make_growing(group + "/position/value", H5T_IEEE_F64LE, {3, 3}, 1);
      file.set_attribute(group + "/position/value", "unit", "Angstrom");
      const double z = group.ends_with("solvent") ? 5.0 : 0.0;
      const std::vector<double> x{0, 0, z, 1, 0, z, 0, 1, z};
      const hdf5::Handle position = file.open(group + "/position");
      for (int frame = 0; frame < 3; ++frame) {
        file.append(position, "value", H5T_NATIVE_DOUBLE, x.data(), 1);
      }
    }
  }
  const Conversion done = convert_trajectory({path, folder + "/named.xyz"});
  EXPECT_EQ(done.replicas, 2);
  EXPECT_EQ(done.frames, 6);
  ASSERT_EQ(done.files.size(), 2u);
  EXPECT_EQ(test::frames_of(done.files[0]).at(2).positions_A[2], 0.0);
  EXPECT_EQ(test::frames_of(done.files[1]).at(2).positions_A[2], 5.0);
}
#endif

TEST_F(H5md, ADeathAtAnyWriteLosesNothingOfTheLastCheckpoint) {
  EXPECT_GT(deaths_of_a_run(test::sparse_step()), 30 / test::sparse_step());
}

TEST_F(H5md, SurvivesADeathWithManyDatasets) {
  replicas_ = 300;
  molecules_ = 1;
  EXPECT_GT(deaths_of_a_run(1499), 3);
}

TEST_F(H5md, ADeathWhileARunIsResumedLosesNothing) {
  // Killed after frame 5, with a checkpoint at frame 3.
  const std::string killed = scratch_.file("killed");
  fs::create_directory(killed);
  ASSERT_TRUE(dies_at(-1, [&] {
    const auto w = writer(killed);
    w->create();
    append(*w, 0, 3);
    checkpoint(*w, killed, 3);
    append(*w, 3, 5);
    std::ostringstream nobody;
    w->save(nobody);
    ::raise(SIGKILL);
  }));
  int deaths = 0;
  for (int calls = 0;; calls += test::sparse_step()) {
    const std::string folder = scratch_.file("y");
    fs::remove_all(folder);
    fs::copy(killed, folder);
    if (!dies_at(calls, [&] { go_on(folder, 7); })) break;
    ++deaths;
    SCOPED_TRACE("died at call " + std::to_string(calls));
    expect_nothing_lost(folder);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(deaths, 20 / test::sparse_step());
}

TEST_F(H5md, AFullDiskLosesNothingAndIsReportedOnce) {
  // A limit on file sizes replaces a full disk; it is tested at many lengths.
  go_on(new_folder(), kFrames);
  const auto whole = static_cast<rlim_t>(fs::file_size(scratch_.file("x/trajectory.h5")));
  for (rlim_t limit = 1000; limit < whole; limit += whole / 20) {
    SCOPED_TRACE("limit " + std::to_string(limit));
    const std::string folder = new_folder();
    const pid_t child = ::fork();
    if (child == 0) {
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
      std::exit(44);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
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
      SCOPED_TRACE(std::to_string(full.writes) + " writes of " + std::to_string(full.bytes) +
                   " bytes fail from call " + std::to_string(calls));
      const std::string folder = new_folder();
      const pid_t child = ::fork();
      if (child == 0) {
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
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      ASSERT_TRUE(WIFEXITED(status));
      if (WEXITSTATUS(status) == 45) break;
      if (WEXITSTATUS(status) == 42) {
        ++failures;
        std::map<std::string, int> frames;
        expect_whole_frames(folder, frames);
        for (const auto& [group, count] : frames) {
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
  EXPECT_TRUE(contains(message_of<IoError>([&] { writer(folder)->load(in); }),
                       "has 2 frames and the checkpoint 4"));
}

TEST_F(H5md, NeedsNoLocks) {
  const std::string whole = new_folder();
  go_on(whole, kFrames);
  constexpr int kNotSupportedByNfs = 524;
  for (const int failure : {ENOLCK, ENOSYS, EOPNOTSUPP, kNotSupportedByNfs}) {
    SCOPED_TRACE(failure);
    lock_failure = failure;
    const std::string folder = new_folder();
    {
      const auto w = writer(folder);
      w->create();
      append(*w, 0, 3);
      checkpoint(*w, folder, 3);
      append(*w, 3, 5);  // removed when the run continues
      w->finish();
    }
    go_on(folder, kFrames);
    const std::string frames = text_of_frames(folder + "/trajectory.h5");
    lock_failure = 0;
    EXPECT_EQ(frames, text_of_frames(whole + "/trajectory.h5"));
  }
}

/// Viewers such as those that use h5py lock the file that they read.
TEST_F(H5md, NamesAViewerThatHasTheFileOpen) {
  const std::string folder = new_folder();
  {
    const auto w = writer(folder);
    w->create();
    append(*w, 0, 3);
    checkpoint(*w, folder, 3);
    w->finish();
  }
  const int viewer = ::open((folder + "/trajectory.h5").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(viewer, LOCK_SH), 0);
  const std::string refused = message_of<IoError>([&] { go_on(folder, kFrames); });
  EXPECT_TRUE(contains(refused, folder + "/trajectory.h5': another program has it open"))
      << refused;
  ::close(viewer);
  go_on(folder, kFrames);
}

TEST_F(H5md, ErrorsNameTheFileAndPrintNothing) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(contains(message_of<IoError>([&] { writer(scratch_.file("nowhere"))->create(); }),
                       "nowhere/trajectory.h5"));
  test::write_text(scratch_.file("a.h5"), "\x89HDF\r\n\x1a\n and nothing else");
  EXPECT_TRUE(contains(message_of<IoError>([&] { open_frames(scratch_.file("a.h5")); }), "a.h5"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tarn::io
