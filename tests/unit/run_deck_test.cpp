#include <atomic>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "csv_reader.hpp"
#include "fake_run.hpp"
#include "io/checkpoint.hpp"
#include "io/json.hpp"
#include "io/xyz.hpp"
#include "one_replica.hpp"
#include "run/run_messages.hpp"
#include "tarn/compare.hpp"
#include "tarn/io/formats.hpp"

// Runs into folders, with an engine of arithmetic instead of physics.

namespace {
/// So many of the next locks are interrupted by a signal.
int interrupted_locks = 0;
/// errno of all locks; 0: they succeed.
int lock_failure = 0;
/// Whether files have another number at each call.
bool changing_numbers = false;
}  // namespace

/// In place of the system's.
extern "C" int flock(int descriptor, int operation) noexcept {
  if (interrupted_locks > 0) {
    --interrupted_locks;
    errno = EINTR;
    return -1;
  }
  if (lock_failure != 0) {
    errno = lock_failure;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}
extern "C" int fstat(int descriptor, struct stat* status) noexcept {
  static ino_t number = 0;
  const int result =
      static_cast<int>(::syscall(SYS_newfstatat, descriptor, "", status, AT_EMPTY_PATH));
  if (changing_numbers && result == 0) status->st_ino = ++number;
  return result;
}

namespace tarn {
namespace {

namespace fs = std::filesystem;
using namespace test;

const std::string kObserve =
    "[observe.energies]\nevery = 7\n[observe.conservation]\nevery = 10\n"
    "[observe.rdf]\nevery = 2\nr_max_A = 8.0\nbins = 16\n"
    "[observe.trajectory]\nevery = 20\nreplicas = 2\n[observe.cluster]\nevery = 15\n"
    "[observe.final]\nreplicas = 2\n";
const std::string kCheckpointed = kObserve + "[checkpoint]\nevery = 300\n";

class RunDeck : public FakeRuns {
 protected:
  static Deck deck(std::int64_t steps, const std::string& more = kObserve,
                   const std::string& integrator = "") {
    return FakeRuns::deck(steps, more, integrator);
  }
  RunResult run(const Deck& d, RunOptions options = {}) {
    options.out_dir = out_;
    options.on_checkpoint = [this](std::int64_t step) { checkpoints_.push_back(step); };
    options.on_message = [this](const Message& message) {
      // Runs of the fake engine are short, and many are extended.
      for (const char* usual : {"too few independent", "this run now has"}) {
        if (contains(message.text, usual)) return;
      }
      warnings_.push_back(message.text);
    };
    return run_deck(d, options, parts());
  }
  RunResult resume(const Deck& d) { return run(d, to_out(&RunOptions::resume)); }
  RunResult overwrite(const Deck& d) { return run(d, to_out(&RunOptions::overwrite)); }
  /// A run in an empty folder.
  RunResult run_afresh(const Deck& d) {
    fs::remove_all(out_);
    warnings_.clear();
    return run(d);
  }
  io::Checkpoint checkpoint() const { return io::read_checkpoint(out_ + "/checkpoint.bin"); }
  void expect_refusal(const Deck& d, std::initializer_list<std::string_view> parts) {
    expect_throws<InputError>(parts, [&] { resume(d); });
  }
  std::ptrdiff_t warnings_with(const std::string& part) const {
    return std::ranges::count_if(warnings_, [&](const auto& text) { return contains(text, part); });
  }
  std::map<std::string, std::string> files_of_a_straight_run(const Deck& d) {
    const std::string before = std::exchange(out_, folder_.file("straight"));
    fs::remove_all(out_);
    run(d);
    const auto result = files();
    out_ = before;
    return result;
  }

  /// The record names molecule 2 of replicas 0 and 2, gone at these steps.
  void expect_departures(int first, int second) const {
    const auto gone = [](int replica, int step) {
      return fmt::format("    {{\"replica\": {}, \"step\": {}, \"molecule\": 2}}", replica, step);
    };
    EXPECT_TRUE(contains(
        run_json(), "\"departures\": [\n" + gone(0, first) + ",\n" + gone(2, second) + "\n  ]"));
  }

  /// A run that stops after so many steps and resumes has the files of one that does not.
  void expect_same_files_after(const std::vector<std::int64_t>& stops, std::int64_t steps,
                               const std::function<Deck(std::int64_t)>& deck_of) {
    const auto straight = files_of_a_straight_run(deck_of(steps));
    for (const std::int64_t first : stops) {
      run_afresh(deck_of(first));
      EXPECT_EQ(resume(deck_of(steps)).steps_done, steps);
      EXPECT_EQ(files(), straight) << "stopped at " << first;
    }
  }

  std::vector<std::int64_t> checkpoints_;
  std::vector<std::string> warnings_;
};

TEST_F(RunDeck, WritesEveryFile) {
  std::vector<Progress> progress;
  RunOptions options;
  options.on_progress = [&](const Progress& p) { progress.push_back(p); };
  options.device = "cpu";
  const RunResult result = run(deck(1000, kCheckpointed), options);
  EXPECT_EQ(result.out_dir, out_);
  EXPECT_EQ(result.steps_done, 1000);
  EXPECT_EQ(result.device, "fake \"engine\"");
  EXPECT_FALSE(result.interrupted || result.already_finished);
  EXPECT_EQ(device_, "cpu");
  EXPECT_EQ(warnings_, std::vector<std::string>{"a note"});
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress.back().step, 1000);
  EXPECT_GT(progress.back().steps_per_second, 0.0);
  EXPECT_DOUBLE_EQ(progress.back().ns_per_day_per_replica,
                   progress.back().steps_per_second * 2e-6 * 86400.0);
  EXPECT_DOUBLE_EQ(progress.back().ns_per_day_total, 3.0 * progress.back().ns_per_day_per_replica);
  for (const char* name :
       {"run.json", "checkpoint.bin", "energies.csv", "conservation.csv", "rdf.csv",
        "trajectory-0000.xyz", "trajectory-0001.xyz", "final-0000.xyz", "final-0001.xyz"}) {
    EXPECT_TRUE(fs::exists(out_ + "/" + name)) << name;
  }
  expect_parts_of(run_json(), {"\"status\": \"finished\"", "\"device\": \"fake \\\"engine\\\"\"",
                               "\\nsteps = 1000\\n", "\"pair\": 0.59999999999999998",
                               "\"notes\": [\"a note\"],\n  \"warnings\": [\n    \"too few "
                               "independent samples of potential_",
                               "\"constraint_iterations_per_molecule_step\": 4"});
  for (const auto& [name, text] : files()) EXPECT_FALSE(name.ends_with("-tmp")) << name;
}

TEST_F(RunDeck, AResumedRunIsTheSameBytes) {
  const auto deck_of = [](std::int64_t steps) { return deck(steps, kCheckpointed); };
  expect_same_files_after({1, 299, 300, 513, 999}, 1000, deck_of);
  const auto straight = files();
  // In many pieces.
  run_afresh(deck_of(100));
  for (std::int64_t steps = 200; steps <= 1000; steps += 100) resume(deck_of(steps));
  EXPECT_EQ(files(), straight);
}

TEST_F(RunDeck, AResumedRunIsTheSameInEveryFormat) {
  for (const io::Format& format : available_formats()) {
    SCOPED_TRACE(format.name);
    const std::string more = "[observe.trajectory]\nevery = 20\nreplicas = 2\nformat = \"" +
                             std::string(format.name) + "\"\n[checkpoint]\nevery = 50\n";
    const auto straight = files_of_a_straight_run(deck(200, more));
    overwrite(deck(70, more));  // the files of the format before must go
    resume(deck(200, more));
    EXPECT_EQ(files(), straight);
  }
}

TEST_F(RunDeck, AKilledRunResumesFromItsLastCheckpoint) {
  const Deck d = deck(1000, kCheckpointed);
  const auto straight = files_of_a_straight_run(d);
  // The files as kill -9 leaves them at step 700: the checkpoint of step 600, tables that are
  // longer, and a file that was half-written.
  run(deck(600, kCheckpointed));
  for (const char* name : {"energies.csv", "conservation.csv", "trajectory-0001.xyz"}) {
    std::ofstream(out_ + "/" + name, std::ios::app) << "700,1.4,0,-12.3";
  }
  fs::remove(out_ + "/rdf.csv");
  write_text(out_ + "/checkpoint.bin.tarn-tmp", "half");
  fs::create_directories(out_ + "/new.1-1.tarn-tmp");
  write_text(out_ + "/new.1-1.tarn-tmp/cluster.csv", "half");
  resume(d);
  EXPECT_EQ(files(), straight);
}

TEST_F(RunDeck, CheckpointsByTheClockChangeNoByte) {
  const std::string by_clock = kObserve + "[checkpoint]\nevery_minutes = 1e-9\n";
  const auto straight =
      files_of_a_straight_run(deck(1600, kObserve + "[checkpoint]\nevery_minutes = 0\n"));
  script_.seconds_per_step = 1e-3;
  script_.no_memory_at = 1500;
  checkpoints_.clear();
  EXPECT_THROW(run(deck(1600, by_clock)), std::bad_alloc);
  // Step 0, and then one about twice a second.
  ASSERT_GE(checkpoints_.size(), 2u);
  EXPECT_EQ(checkpoints_[0], 0);
  EXPECT_GT(checkpoints_.back(), 0);
  EXPECT_EQ(checkpoint().state.step, checkpoints_.back());
  script_ = {};
  resume(deck(1600, by_clock));
  EXPECT_EQ(files(), straight);
}

TEST_F(RunDeck, StepsGoOnWhileACheckpointIsWritten) {
  const auto straight = files_of_a_straight_run(deck(1000));
  std::atomic<std::int64_t> reached = 0;
  std::atomic<int> written_during_steps = 0, too_late = 0;
  script_.reached = &reached;
  script_.completes_state = [&](std::int64_t step) {
    if (step == 1000) return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const std::int64_t later = std::min<std::int64_t>(step + 50, 1000);
    while (reached < later && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    ++(reached >= later ? written_during_steps : too_late);
  };
  checkpoints_.clear();
  run(deck(1000, kObserve + "[checkpoint]\nevery = 70\n"));
  EXPECT_EQ(too_late, 0);
  EXPECT_EQ(written_during_steps, 15);
  ASSERT_EQ(checkpoints_.size(), 16u);
  for (std::size_t k = 0; k < 16; ++k) {
    EXPECT_EQ(checkpoints_[k], std::min<std::int64_t>(70 * static_cast<std::int64_t>(k), 1000));
  }
  EXPECT_EQ(files(), straight);
}

/// The thread that writes has the error; the run ends with it.
TEST_F(RunDeck, ACheckpointThatCannotBeWrittenEndsTheRun) {
  // Found at the next checkpoint, and at the end.
  for (const std::int64_t failing : {300, 900, 1000}) {
    SCOPED_TRACE(failing);
    fs::remove_all(out_);
    script_.completes_state = [&](std::int64_t step) {
      if (step != failing) return;
      fs::remove(out_ + "/checkpoint.bin");
      fs::create_directories(out_ + "/checkpoint.bin/in_the_way");
    };
    expect_throws<IoError>({"cannot write", out_ + "/checkpoint.bin"},
                           [&] { run(deck(1000, kCheckpointed)); });
    expect_parts_of(run_json(), {"\"status\": \"failed\"", "checkpoint.bin"});
  }
}

/// An interrupt waits for the checkpoint that is being written, and then writes its own.
TEST_F(RunDeck, AnInterruptDuringACheckpointLosesNeither) {
  const auto straight = files_of_a_straight_run(deck(300));
  script_.seconds_per_step = 0.01;
  std::atomic<bool> interrupted = false;
  script_.completes_state = [&](std::int64_t step) {
    if (step != 0) return;
    while (!interrupted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  checkpoints_.clear();
  RunOptions options;
  options.interrupted = [&] { return interrupted = true; };
  const RunResult result = run(deck(300), options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(checkpoints_, (std::vector<std::int64_t>{0, result.steps_done}));
  script_ = {};
  resume(deck(300));
  EXPECT_EQ(files(), straight);
}

/// An error in the steps does not lose the checkpoint that is being written.
TEST_F(RunDeck, AFailedStepDuringACheckpointLosesNothing) {
  script_.no_memory_at = 350;
  script_.completes_state = [](std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  EXPECT_THROW(run(deck(1000, kCheckpointed)), std::bad_alloc);
  EXPECT_EQ(checkpoints_, (std::vector<std::int64_t>{0, 300}));
  EXPECT_EQ(checkpoint().state.step, 300);
}

TEST_F(RunDeck, AnInterruptedRunResumes) {
  const auto straight = files_of_a_straight_run(deck(300));
  script_.seconds_per_step = 0.01;
  RunOptions options;
  options.interrupted = [] { return true; };
  const RunResult result = run(deck(300), options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_GT(result.steps_done, 0);
  EXPECT_LT(result.steps_done, 300);
  EXPECT_TRUE(contains(run_json(), "\"status\": \"interrupted\""));
  EXPECT_TRUE(fs::exists(out_ + "/rdf.csv"));
  script_.seconds_per_step = 0.0;
  resume(deck(300));
  EXPECT_EQ(files(), straight);
}

TEST_F(RunDeck, StepZeroAlreadyHasACheckpoint) {
  script_.not_a_number_at = 5;
  EXPECT_THROW(run(deck(50, "[observe.energies]\nevery = 5\n")), NumericalError);
  EXPECT_EQ(checkpoint().state.step, 0);
}

TEST_F(RunDeck, FinishedRunsAreRecognised) {
  run(deck(100));
  const auto before = contents_of(out_);
  const RunResult again = resume(deck(100));
  EXPECT_TRUE(again.already_finished);
  EXPECT_EQ(again.steps_done, 100);
  EXPECT_EQ(contents_of(out_), before);
  // Killed after its last checkpoint, before its tables: they are written now.
  fs::remove(out_ + "/run.json");
  fs::remove(out_ + "/rdf.csv");
  EXPECT_FALSE(resume(deck(100)).already_finished);
  EXPECT_EQ(files().at("rdf.csv"), before.at("rdf.csv"));
}

TEST_F(RunDeck, RefusesAnExistingRun) {
  run(deck(10));
  const auto before = contents_of(out_);
  expect_throws<InputError>({"'" + out_ + "' already contains a run", "--resume", "--overwrite"},
                            [&] { run(deck(20)); });
  EXPECT_EQ(contents_of(out_), before);
  EXPECT_EQ(starts_, 1) << "it must be refused before the work of a start";
}

TEST_F(RunDeck, OverwriteReplacesTheRunAndNothingElse) {
  run(deck(10));
  write_text(out_ + "/notes.txt", "mine");
  write_text(out_ + "/trajectory-of-mine.xyz", "mine");
  write_text(out_ + "/trajectory-0002.xyz", "of an older run");
  overwrite(deck(10, "[observe.energies]\nevery = 5\n"));
  for (const char* name : {"/rdf.csv", "/trajectory-0000.xyz", "/trajectory-0002.xyz"}) {
    EXPECT_FALSE(fs::exists(out_ + name)) << name;
  }
  EXPECT_EQ(read_text(out_ + "/notes.txt"), "mine");
  EXPECT_EQ(read_text(out_ + "/trajectory-of-mine.xyz"), "mine");
  RunOptions both = to_out(&RunOptions::resume);
  both.overwrite = true;
  expect_throws<InputError>({"mutually exclusive"}, [&] { run(deck(10), both); });
}

TEST_F(RunDeck, WithoutMatplotlibThereAreTablesAndOneWarning) {
  ::setenv("TARN_PICTURES", "/nowhere", 1);
  RunOptions options = to_out();
  options.on_message = [this](const Message& message) { warnings_.push_back(message.text); };
  EXPECT_TRUE(run_deck(deck(10), options, parts()).pictures.empty());
  EXPECT_EQ(warnings_.front(), "a note");
  ASSERT_EQ(warnings_with("matplotlib"), 1);
  EXPECT_TRUE(contains(warnings_.back(), "no Python with matplotlib"));
  EXPECT_TRUE(fs::exists(out_ + "/rdf.csv"));
}

TEST_F(RunDeck, AFolderHasOneWriter) {
  const Deck small = deck(10);
  // A second run asks while the first one steps.
  RunOptions first;
  int starts = 0;
  first.on_start = [&](const RunStart&) {
    ++starts;
    EXPECT_TRUE(fs::exists(out_ + "/.tarn-lock"));
    for (const RunOptions& second :
         {to_out(), to_out(&RunOptions::resume), to_out(&RunOptions::overwrite)}) {
      expect_throws<InputError>({"another tarn process is writing to '" + out_ + "'"},
                                [&] { run_deck(small, second, parts()); });
    }
    CompareOptions compare;
    compare.out_dir = out_;
    expect_throws<InputError>({"contains a run"},
                              [&] { compare_schemes(small, {"settle"}, compare); });
  };
  run(small, first);
  EXPECT_EQ(starts, 1);
  EXPECT_FALSE(fs::exists(out_ + "/.tarn-lock"));
  // What a killed program left is nobody's.
  write_text(out_ + "/.tarn-lock", "");
  EXPECT_EQ(resume(deck(20)).steps_done, 20);
  EXPECT_FALSE(fs::exists(out_ + "/.tarn-lock"));
}

/// A signal may come while the lock is asked for.
TEST_F(RunDeck, AnInterruptedLockIsRetried) {
  interrupted_locks = 3;
  RunOptions options;
  options.on_start = [&](const RunStart&) {
    EXPECT_EQ(std::exchange(interrupted_locks, 3), 0);
    expect_throws<InputError>({"another tarn process is writing to"},
                              [&] { run_deck(deck(10), to_out(&RunOptions::resume), parts()); });
  };
  run(deck(10), options);
  EXPECT_EQ(interrupted_locks, 0);
}

/// Without locks, or with numbers of files that change, a run is not refused, and a note says that
/// another one would not be either.
TEST_F(RunDeck, NotesAFileSystemWithoutLocks) {
  const auto notes = [this] {
    return warnings_with("a second run in the folder would not be detected");
  };
  run(deck(10));
  EXPECT_EQ(notes(), 0);
  constexpr int kNotSupportedByNfs = 524;
  for (const int failure : {ENOLCK, ENOSYS, EOPNOTSUPP, kNotSupportedByNfs}) {
    warnings_.clear();
    lock_failure = failure;
    EXPECT_EQ(resume(deck(20)).steps_done, 20);
    warnings_.clear();
    overwrite(deck(10));
    lock_failure = 0;
    EXPECT_EQ(notes(), 1) << failure;
    EXPECT_FALSE(fs::exists(out_ + "/.tarn-lock"));
  }
  warnings_.clear();
  changing_numbers = true;
  EXPECT_EQ(resume(deck(20)).steps_done, 20);
  changing_numbers = false;
  EXPECT_EQ(notes(), 1);
  EXPECT_FALSE(fs::exists(out_ + "/.tarn-lock"));
}

TEST_F(RunDeck, TheStartIsMadeWithTheThreadsOfTheOptions) {
  run(deck(1));
  EXPECT_EQ(threads_of_start_, deck(1).run.threads);
  RunOptions options = to_out(&RunOptions::overwrite);
  options.threads = 3;
  run(deck(1), options);
  EXPECT_EQ(threads_of_start_, 3);
  EXPECT_EQ(threads_of_engine_, 3);
}

/// A comparison would replace rdf.csv of a run.
TEST_F(RunDeck, IsNotComparedInItsFolder) {
  run(deck(10));
  const auto before = contents_of(out_);
  CompareOptions compare;
  compare.out_dir = out_;
  for (const bool overwrite : {false, true}) {
    compare.overwrite = overwrite;
    expect_throws<InputError>({"contains a run"},
                              [&] { compare_schemes(deck(10), {"settle"}, compare); });
  }
  EXPECT_EQ(contents_of(out_), before);
}

/// And a run would leave the tables of a comparison beside its own, or replace them.
TEST_F(RunDeck, DoesNotRunInTheFolderOfAComparison) {
  fs::create_directories(out_);
  for (const char* name : {"compare.json", "compare.csv", "rdf.csv"}) {
    write_text(out_ + "/" + name, "of a comparison");
  }
  const auto before = contents_of(out_);
  for (const bool overwrite : {false, true}) {
    RunOptions options = to_out();
    options.overwrite = overwrite;
    expect_throws<InputError>({"contains a comparison"},
                              [&] { run_deck(deck(10), options, parts()); });
  }
  EXPECT_EQ(contents_of(out_), before);
}

/// What was told of the start is not made again, and not forgotten.
TEST_F(RunDeck, AResumedRunRepeatsTheNotesOfItsStart) {
  RunFactories slow = parts();
  slow.make_start = [](const Deck& d) {
    Start start{fake_start(kMolecules, d.system.replicas), {Message::note("a note of the start")}};
    start.slow = SlowManifoldStart{1.5, 0.25, 7};
    return start;
  };
  RunOptions options = to_out();
  run_deck(deck(10), options, slow);
  std::vector<std::string> told;
  options.resume = true;
  options.on_message = [&](const Message& message) { told.push_back(message.text); };
  run_deck(deck(20), options, slow);
  EXPECT_EQ(std::count(told.begin(), told.end(), "a note of the start"), 0);
  expect_parts_of(run_json(), {"\"a note of the start\"", "\"iterations\": 7", "0.25"});
}

TEST_F(RunDeck, ARunThatBeganInTheMeantimeIsNotTouched) {
  std::map<std::string, std::string> before;
  RunFactories late = parts();
  late.make_start = [&](const Deck& d) {  // the other run begins and ends while this one prepares
    run(d);
    before = contents_of(out_);
    return Start{fake_start(kMolecules, d.system.replicas), {}};
  };
  expect_throws<InputError>({"already contains a run"},
                            [&] { run_deck(deck(10), to_out(), late); });
  EXPECT_EQ(contents_of(out_), before);
}

TEST_F(RunDeck, AFolderWithOtherFilesIsNoRun) {
  fs::create_directories(out_);
  write_text(out_ + "/notes.txt", "mine");
  EXPECT_NO_THROW(run(deck(10)));
}

TEST_F(RunDeck, RejectsAMismatchedCheckpoint) {
  expect_refusal(deck(10), {"nothing to resume in"});
  run(deck(100));
  const auto before = contents_of(out_);
  expect_refusal(deck(99), {"requests 99 steps, but 100 are already done"});
  const Deck beta = deck(200, kObserve, "beta = 0.4\n");
  expect_refusal(beta, {"[integrator] was 'beta = 0.42', is 'beta = 0.4'"});
  Deck settle = deck(200);
  settle.integrator.scheme = Scheme::settle;
  expect_refusal(settle, {"was 'scheme = \"zss-stiff\"', is 'scheme = \"settle\"'",
                          "add --set 'integrator.scheme=zss-stiff'"});
  expect_refusal(deck(200, "[observe.energies]\nevery = 7\n"), {"the deck has changed"});
  EXPECT_EQ(contents_of(out_), before);

  io::Checkpoint other = checkpoint();
  other.tarn_version = "0.0.9";
  io::write_checkpoint(out_ + "/checkpoint.bin", other);
  expect_refusal(deck(200), {"by tarn 0.0.9"});
  fs::resize_file(out_ + "/checkpoint.bin", 100);
  expect_throws<IoError>({"cut off"}, [&] { resume(deck(200)); });
}

TEST_F(RunDeck, AnotherDeviceIsAWarning) {
  run(deck(100));
  io::Checkpoint other = checkpoint();
  other.device = "another";
  io::write_checkpoint(out_ + "/checkpoint.bin", other);
  warnings_.clear();
  resume(deck(200));
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_with("started on 'another'"), 1);
}

TEST_F(RunDeck, WithoutACheckpointNothingIsResumedAndNothingRemoved) {
  run(deck(100));
  fs::remove(out_ + "/checkpoint.bin");
  const auto before = contents_of(out_);
  expect_refusal(deck(100),
                 {"the run there has no checkpoint.bin", "--overwrite", "[checkpoint] every"});
  EXPECT_EQ(contents_of(out_), before);
  EXPECT_EQ(starts_, 1) << "it must be refused before the work of a start";
  EXPECT_EQ(overwrite(deck(100)).steps_done, 100);
}

TEST_F(RunDeck, AnUnwritableFolderIsReportedFirst) {
  write_text(folder_.file("out"), "a file");
  expect_throws<IoError>({"A file has the name of a folder"}, [&] { run(deck(10)); });
  EXPECT_EQ(starts_, 0);
}

TEST_F(RunDeck, NoNaNReachesAFileAndTheErrorIsRecorded) {
  script_.not_a_number_at = 14;
  expect_throws<NumericalError>({"not a number"}, [&] { run(deck(100)); });
  for (const auto& [name, text] : contents_of(out_)) {
    // Of the first row there is no Lindemann index yet, in the last column.
    std::size_t at = 0;
    while (name.ends_with(".csv") && (at = text.find("nan", at)) != std::string::npos) {
      EXPECT_EQ(name, "cluster.csv");
      EXPECT_EQ(text.substr(at - 1, 5), ",nan\n");
      at += 3;
    }
  }
  EXPECT_TRUE(contains(read_text(out_ + "/energies.csv"), "\n7,"));
  expect_parts_of(run_json(), {"\"status\": \"failed\"", "not a number"});
}

TEST_F(RunDeck, AFailedRunRecordsTimeAndCause) {
  script_.seconds_per_step = 1e-4;
  for (const bool no_memory : {true, false}) {
    (no_memory ? script_.no_memory_at : script_.not_a_number_at) = 31;
    const Deck d = deck(100, "[observe.energies]\nevery = 31\n");
    if (no_memory) {
      EXPECT_THROW(overwrite(d), std::bad_alloc);
    } else {
      EXPECT_THROW(overwrite(d), NumericalError);
    }
    script_.no_memory_at = -1;
    const std::string json = run_json();
    expect_parts_of(json,
                    {"\"status\": \"failed\"", no_memory ? "not enough memory" : "not a number"});
    // Thirty steps at least, none of which sleeps less than it was told to.
    const std::string key = "\"wall_seconds\": ";
    EXPECT_GT(std::stod(json.substr(json.find(key) + key.size())), 30 * 1e-4) << json;
  }
}

/// The temperature of the start velocities follows from that of the bath, and was not changed.
TEST_F(RunDeck, RefusesToResumeByTheKeyThatWasChanged) {
  const auto deck_of = [](const char* of_start, const char* of_bath) {
    Deck d = deck(200, std::string("[thermostat]\nkind = \"gla\"\nfriction_per_ps = 1.0\n") +
                           "temperature_K = " + of_bath + "\n");
    if (*of_start != '\0') d.system.temperature_K = std::stod(of_start);
    return d;
  };
  run(deck_of("", "100.0"));
  const std::string change = " was 'temperature_K = 100.0', is 'temperature_K = 120.0'";
  expect_refusal(deck_of("", "120.0"), {"[thermostat]" + change});
  expect_refusal(deck_of("120.0", "100.0"), {"[system]" + change});
}

/// Samples that count are of steps after the equilibration; where there are none, it is said.
TEST_F(RunDeck, ReportsObserversWithoutASample) {
  const auto told = [&](const std::string& run_keys) {
    run_afresh(deck(900, run_keys +
                             "[observe.energies]\nevery = 1000\n[observe.cluster]\nevery = 800\n"
                             "[observe.trajectory]\nevery = 1000\n"));
    for (const std::string& warning : warnings_) {
      if (contains(warning, "no samples of")) return warning;
    }
    return std::string();
  };
  EXPECT_EQ(told(""), "");
  EXPECT_TRUE(contains(told("equilibration_ps = 1.6\n"),
                       "no samples of [observe.energies] between the end of the equilibration "
                       "(step 800) and the end of the run (step 900)"));
  EXPECT_TRUE(contains(run_json(), "no samples of [observe.energies]"));
  EXPECT_TRUE(contains(told("equilibration_ps = 1.602\n"),
                       "no samples of [observe.energies], [observe.cluster] between"));
}

// --- averages ---

TEST_F(RunDeck, ReportsATemperatureOffTheBath) {
  AveragedQuantity t{"energies", "temperature_K", 168.55, 1.09};
  t.independent_samples = 100.0;
  Deck d = deck(100);
  d.thermostat.kind = Thermostat::gla;
  d.run.equilibration_ps = 1.0;
  const auto text_of = [&](double bath_K) {
    const auto warning = temperature_warning(t, bath_K, d);
    return warning ? warning->text : "";
  };
  EXPECT_TRUE(
      contains(text_of(150.0), "168.6 +- 1.1 K instead of 150 K: the step of 2 fs causes heating"));
  t.drift = 2.0;
  EXPECT_TRUE(contains(text_of(150.0), "the step of 2 fs causes heating"));
  t.drift = -2.0;
  EXPECT_TRUE(contains(text_of(150.0), "150 K: still falling, not equilibrated"));
  t.drift = 0.0;
  EXPECT_FALSE(temperature_warning(t, 164.0, d)) << "2.8 %";
  t.error = 4.0;
  EXPECT_FALSE(temperature_warning(t, 150.0, d)) << "4.6 sigma";
  t.error = 1.0;
  t.independent_samples = 3.0;
  EXPECT_FALSE(temperature_warning(t, 150.0, d)) << "an error of nothing";
  t.independent_samples = 100.0;
  EXPECT_TRUE(contains(text_of(180.0), "equilibration_ps"));
  d.run.equilibration_ps = 0.0;
  EXPECT_FALSE(temperature_warning(t, 180.0, d)) << "the start was cold";
  EXPECT_TRUE(contains(text_of(220.0), "equilibration_ps")) << "23 %: too cold for a start";
  // Without a thermostat, the temperature of the velocities is that of the start only.
  d.thermostat.kind = Thermostat::none;
  EXPECT_FALSE(temperature_warning(t, 180.0, d));
  const auto note = temperature_warning(t, 300.0, d);
  ASSERT_TRUE(note);
  EXPECT_EQ(note->level, Level::note);
  EXPECT_TRUE(contains(note->text, "168.6 +- 1 K instead of 300 K: without a thermostat"));
}

/// A friction of the same force on all atoms has no exact step for rigid bonds; equation (21).
TEST_F(RunDeck, ReportsBathsWarmerThanRigidMolecules) {
  System system;
  system.model = kWaterModels[0];
  system.integrator.scheme = Scheme::settle;
  system.integrator.timestep_akma = units::akma_from_fs(2.0);
  system.thermostat.kind = Thermostat::gla;
  system.thermostat.temperature_K = 300.0;
  const auto told = [&](double friction_Da_per_ps) {
    const double rate = units::per_akma_from_per_ps(friction_Da_per_ps);
    system.thermostat.friction_oxygen_per_akma = rate / system.model.mass_o_Da;
    system.thermostat.friction_hydrogen_per_akma = rate / system.model.mass_h_Da;
    const auto warning = friction_warning(system);
    return warning ? warning->text : "";
  };
  // As runs of 512 free molecules have it: 292.0 +- 0.3 K, and 284.6 +- 0.5 K of the translation.
  EXPECT_TRUE(contains(told(200.0), "by 2.5 % overall and by 4.8 %"));
  EXPECT_TRUE(contains(told(5000.0), "by 1.0 % overall and by 2.0 %"));
  EXPECT_EQ(told(5.0), "") << "less than half a percent";
  system.integrator.scheme = Scheme::zss_stiff;
  EXPECT_EQ(told(200.0), "") << "of atoms the step is exact";
  system.integrator.scheme = Scheme::settle;
  system.thermostat.friction_oxygen_per_akma = system.thermostat.friction_hydrogen_per_akma = 0.5;
  EXPECT_FALSE(friction_warning(system)) << "a rate is exact";
}

TEST_F(RunDeck, ReportsWhyHeatCapacitiesAreMissing) {
  Deck d = deck(10);
  d.system.replicas = 2;
  d.thermostat.kind = Thermostat::gla;
  d.thermostat.friction_per_ps = 5.0;
  d.thermostat.temperatures_K = {0.0, 10.0};
  run(d);
  const std::string missing = "no heat_capacity.csv: one temperature is 0 K";
  EXPECT_EQ(warnings_with(missing), 1);
  EXPECT_FALSE(fs::exists(out_ + "/heat_capacity.csv"));
  d.thermostat.temperatures_K = {5.0, 10.0};
  run_afresh(d);
  EXPECT_EQ(warnings_with(missing), 0);
  EXPECT_TRUE(fs::exists(out_ + "/heat_capacity.csv"));
}

TEST_F(RunDeck, AveragesAreInTheResultTheTableAndTheRecord) {
  const RunResult result = run(deck(700));
  // Five of energies, the drift of the energy, six of the cluster and its Lindemann index.
  ASSERT_EQ(result.averages.size(), 13u);
  test::CsvReader csv(out_ + "/averages.csv");
  EXPECT_TRUE(contains(csv.provenance(), "after equilibration"));
  std::vector<std::string_view> cells;
  const std::string json = run_json();
  for (const AveragedQuantity& a : result.averages) {
    ASSERT_TRUE(csv.next(cells));
    EXPECT_EQ(cells[csv.column("table")], a.table);
    EXPECT_EQ(cells[csv.column("quantity")], a.quantity);
    const auto number = [&](const char* name) { return csv.number(cells[csv.column(name)]); };
    EXPECT_EQ(number("mean"), a.mean);
    EXPECT_EQ(number("error"), a.error);
    const double tau_ps = number("autocorrelation_ps");
    EXPECT_TRUE(a.autocorrelation_ps ? tau_ps == *a.autocorrelation_ps : std::isnan(tau_ps));
    EXPECT_EQ(number("samples"), static_cast<double>(a.samples));
    EXPECT_TRUE(contains(json, "{\"table\": \"" + a.table + "\", \"quantity\": \"" + a.quantity +
                                   "\", \"mean\": " + io::json(a.mean)));
  }
  EXPECT_FALSE(csv.next(cells));
  EXPECT_EQ(result.averages[0].samples, 3 * 101);
  // Without a table there is nothing to average.
  EXPECT_TRUE(run_afresh(deck(100, "[observe.trajectory]\n")).averages.empty());
  EXPECT_FALSE(fs::exists(out_ + "/averages.csv"));
}

// --- departures ---

TEST_F(RunDeck, ReportsADepartureOncePerReplica) {
  script_.departures = {{0, 1500}, {2, 2999}};
  run(deck(6000, ""));
  ASSERT_EQ(warnings_.size(), 3u);
  expect_parts_of(warnings_[1],
                  {"replica 0: molecule 2 evaporated", "at step 2000", "[confinement]"});
  expect_parts_of(warnings_[2], {"replica 2: molecule 2 evaporated", "at step 3000"});
  expect_departures(2000, 3000);
}

TEST_F(RunDeck, AResumedRunNotesAnotherLength) {
  run(deck(100));
  resume(deck(100));
  EXPECT_FALSE(contains(run_json(), "this run now has"));
  for (const auto& [steps, lengths] :
       {std::pair(250, "250 steps (0.5 ps), and had 100 steps (0.2 ps) before"),
        {400, "400 steps (0.8 ps), and had 250 steps (0.5 ps) before"}}) {
    resume(deck(steps));
    EXPECT_TRUE(contains(run_json(), std::string("this run now has ") + lengths));
  }
}

TEST_F(RunDeck, ReportsABrokenBondOncePerReplica) {
  const auto flexible = [&](std::int64_t steps) {
    return parse_deck(
        "[system]\nmodel = \"tip4p2005f\"\nmolecules = 3\nreplicas = 3\n"
        "[integrator]\nscheme = \"verlet\"\n[run]\nsteps = " +
            std::to_string(steps) + "\n",
        "test.toml");
  };
  const std::string told = "an O-H bond of molecule 1 broke (detected at step ";
  script_.broken_bonds = {{0, 1500}, {2, 3500}};
  run(flexible(3000));
  ASSERT_EQ(warnings_.size(), 2u);
  EXPECT_TRUE(contains(warnings_[1], "replica 0: " + told + "2000, "));
  warnings_.clear();
  resume(flexible(6000));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], "replica 2: " + told + "4000, "));
  expect_parts_of(run_json(),
                  {"\"broken_bonds\": [\n    {\"replica\": 0, \"step\": 2000, \"molecule\": 1, "
                   "\"length_A\": ",
                   "{\"replica\": 2, \"step\": 4000, \"molecule\": 1, \"length_A\": "});
}

/// Who waits for evaporation is told by its notes, with more frequent looks; the record has both.
TEST_F(RunDeck, DeparturesThatAreWaitedForAreNoWarnings) {
  script_.departures = {{0, 1500}, {2, 2999}};
  run(deck(6000, "[observe.evaporation]\nevery = 100\n"));
  EXPECT_EQ(warnings_with("evaporated (detected"), 0);
  EXPECT_GE(warnings_with("evaporation: 2 of 3 replicas have lost a molecule"), 1);
  expect_departures(2000, 3000);
  EXPECT_TRUE(contains(read_text(out_ + "/evaporation.csv"), "\n1500,"));
}

TEST_F(RunDeck, AResumedRunDoesNotRepeatADeparture) {
  script_.departures = {{0, 500}, {2, 4000}};
  run(deck(3000));
  ASSERT_EQ(warnings_.size(), 2u);
  warnings_.clear();
  resume(deck(6000));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], "replica 2: molecule 2 evaporated"));
  expect_departures(1000, 4000);
}

TEST_F(RunDeck, WallsDisableTheSearchForDepartures) {
  script_.departures = {{0, 500}};
  std::vector<unsigned> snapshots;
  script_.snapshots = &snapshots;
  run(deck(3000, "[confinement]\nradius_A = 500.0\nstiffness_kcal_per_mol_A2 = 1.0\n"));
  EXPECT_EQ(warnings_, std::vector<std::string>{"a note"});
  for (const unsigned fields : snapshots) EXPECT_FALSE(fields & kPositions);
}

TEST_F(RunDeck, ManyDeparturesAreListedInRunJsonOnly) {
  for (std::int64_t r = 0; r < 30; ++r) script_.departures[r] = 10;
  Deck d = deck(1000, "");
  d.system.replicas = 30;
  run(d);
  EXPECT_EQ(warnings_.size(), 1u + 5u + 1u);
  EXPECT_TRUE(contains(warnings_.back(), "only in run.json"));
  EXPECT_TRUE(contains(run_json(), "{\"replica\": 29, "));
}

// --- recentring ---

TEST_F(RunDeck, RecentringChangesWrittenPositionsOnly) {
  Deck d = deck(200, "[observe.energies]\nevery = 20\n[observe.trajectory]\nevery = 50\n");
  run(d);
  const State state = checkpoint().state;
  const std::string plain = out_;
  d.system.recentre = true;
  out_ = folder_.file("out/centred");
  run(d);
  const State centred = checkpoint().state;
  EXPECT_EQ(centred.positions_A, state.positions_A);
  EXPECT_EQ(centred.velocities_A_per_akma, state.velocities_A_per_akma);
  // The first line names the physics of the deck.
  const auto rows = [](const std::string& text) { return text.substr(text.find('\n')); };
  EXPECT_EQ(rows(read_text(out_ + "/energies.csv")), rows(read_text(plain + "/energies.csv")));
  io::XyzReader before(plain + "/trajectory-0001.xyz"), after(out_ + "/trajectory-0001.xyz");
  int frames = 0;
  for (; const auto x = before.next(); ++frames) {
    const auto y = after.next();
    ASSERT_TRUE(y);
    double centre[3] = {0, 0, 0}, left[3] = {0, 0, 0};
    for (std::size_t k = 0; k < 27; ++k) {
      const double weight = (k % 9 < 3 ? 15.9994 : 1.008) / (3 * 18.0154);
      centre[k % 3] += weight * x->positions_A[k];
      left[k % 3] += weight * y->positions_A[k];
    }
    EXPECT_GT(std::hypot(centre[0], centre[1], centre[2]), 1.0);
    // Nine terms below 10 A.
    for (const double c : left) EXPECT_NEAR(c, 0.0, 1e-14);
    for (std::size_t k = 0; k < 27; ++k) {
      EXPECT_NEAR(y->positions_A[k], x->positions_A[k] - centre[k % 3], 1e-14);
    }
  }
  EXPECT_EQ(frames, 5);
}

// --- replica exchange ---

const std::string kLadders =
    "[thermostat]\nkind = \"gla\"\nfriction_per_ps = 1.0\ntemperatures_K = [100.0, 150.0, 300.0]\n"
    "[exchange]\nevery = 5\n";

TEST_F(RunDeck, ExchangesGoOnAfterAResume) {
  const std::string more = kLadders +
                           "[observe.energies]\nevery = 5\n[observe.final]\n"
                           "[checkpoint]\nevery = 35\n";
  const auto deck_of = [&](std::int64_t steps) {
    Deck d = deck(steps, more);
    d.system.replicas = 9;
    return d;
  };
  // Before, at and after an exchange, at a checkpoint and far on.
  expect_same_files_after({1, 4, 5, 6, 35, 70, 513, 999}, 1000, deck_of);
  EXPECT_TRUE(files().contains("exchange.csv") && files().contains("walkers.csv"));
  run_afresh(deck_of(100));
  Deck other = deck_of(200);
  other.exchange->every = 10;
  expect_refusal(other, {"[exchange]"});
}

TEST_F(RunDeck, ExchangesAreInTheResultTheTablesAndTheRecord) {
  Deck d = deck(20000, kLadders + "[observe.energies]\nevery = 50\n");
  d.system.replicas = 6;
  d.run.equilibration_ps = 20.0;
  const RunResult result = run(d);
  ASSERT_TRUE(result.exchange);
  ASSERT_EQ(result.exchange->pairs.size(), 2u);
  EXPECT_GT(result.exchange->round_trips, 0);
  EXPECT_DOUBLE_EQ(result.exchange->round_trips_per_ns,
                   static_cast<double>(result.exchange->round_trips) / (6 * 0.02));
  const std::string json = run_json();
  test::CsvReader csv(out_ + "/exchange.csv");
  std::vector<std::string_view> cells;
  for (const ExchangePair& p : result.exchange->pairs) {
    // Of each ladder every other attempt is this pair's, and so is one more or none.
    EXPECT_NEAR(static_cast<double>(p.attempts), 2 * 1000.0, 2.0);
    EXPECT_GT(p.accepted, 0);
    // The mean probability, and how often that happened.
    const double n = static_cast<double>(p.attempts), mean = p.acceptance;
    EXPECT_NEAR(static_cast<double>(p.accepted) / n, mean,
                4.5 * std::sqrt(mean * (1.0 - mean) / n) + 1e-12);
    ASSERT_TRUE(csv.next(cells));
    const auto number = [&](const char* name) { return csv.number(cells[csv.column(name)]); };
    EXPECT_EQ(number("lower_bath_K"), p.lower_bath_K);
    EXPECT_EQ(number("upper_bath_K"), p.upper_bath_K);
    EXPECT_EQ(number("accepted"), static_cast<double>(p.accepted));
    EXPECT_EQ(number("acceptance"), p.acceptance);
    EXPECT_EQ(number("acceptance_err"), p.error);
    EXPECT_TRUE(contains(json, "\"acceptance\": " + io::json(p.acceptance)));
  }
  EXPECT_FALSE(csv.next(cells));
  EXPECT_TRUE(contains(json, "\"exchange\": {\n    \"round_trips\": "));
  // Each row of the ways is a permutation of the baths, and they are thinned.
  test::CsvReader ways(out_ + "/walkers.csv");
  int rows = 0;
  while (ways.next(cells)) {
    std::multiset<double> baths_K;
    for (std::size_t w = 2; w < 5; ++w) baths_K.insert(ways.number(cells[w]));
    EXPECT_EQ(baths_K, (std::multiset<double>{100.0, 150.0, 300.0}));
    EXPECT_EQ(ways.number(cells[0]), 20.0 * rows++);
  }
  EXPECT_EQ(rows, 1001);
  EXPECT_EQ(result.averages.back().quantity, "acceptance_with_next_bath");
  EXPECT_EQ(result.averages.back().bath_K, 150.0);
  EXPECT_EQ(result.averages.back().mean, result.exchange->pairs[1].acceptance);
}

/// With few changes of structure per walker, averages are not converged.
TEST_F(RunDeck, ReportsWalkersThatRememberTheirStart) {
  const std::string remark = " per walker, fewer than about 10.";
  const auto result_of = [&](std::int64_t steps) {
    Deck d = deck(steps, kLadders + "[observe.energies]\nevery = 5\n");
    d.system.replicas = 6;
    return run_afresh(d);
  };
  const RunResult few = result_of(40);
  EXPECT_FALSE(few.exchange->structure_changes.are_enough());
  EXPECT_GE(warnings_with(remark), 1);
  EXPECT_TRUE(contains(run_json(), "fewer than about 10"));
  const auto converged = [](const RunResult& result) {
    return std::ranges::count_if(result.averages, [](const AveragedQuantity& a) {
      return a.table == "energies" && a.converged;
    });
  };
  EXPECT_EQ(converged(few), 0);
  const RunResult many = result_of(20000);
  EXPECT_TRUE(many.exchange->structure_changes.are_enough())
      << many.exchange->structure_changes.per_walker;
  EXPECT_DOUBLE_EQ(many.exchange->round_trips_per_state,
                   static_cast<double>(many.exchange->round_trips) / 6.0);
  EXPECT_EQ(warnings_with(remark), 0);
  EXPECT_GT(converged(many), 0);
}

TEST_F(RunDeck, AStoppedReplicaTakesNoPartInExchanges) {
  script_.blow_ups = {{1, 56}};
  const Deck d = deck(200, kLadders + "[observe.energies]\nevery = 5\n");
  const RunResult result = run(d);
  ASSERT_EQ(result.blow_ups.size(), 1u);
  // Replica 1 has both neighbours; (1, 2) was asked at 5, 15, ... and (0, 1) at 10, 20, ...
  EXPECT_EQ(result.exchange->pairs[0].attempts, 5);
  EXPECT_EQ(result.exchange->pairs[1].attempts, 6);
  const auto straight = files();
  run_afresh(deck(100, kLadders + "[observe.energies]\nevery = 5\n"));
  resume(d);
  EXPECT_EQ(files(), straight);
}

/// Molecules change places with those of other replicas: the index of one is off if nobody asks.
TEST_F(RunDeck, ClustersOfLaddersHaveNoLindemannIndexByDefault) {
  EXPECT_FALSE(deck(9, kLadders + "[observe.cluster]\n").cluster->lindemann);
  EXPECT_TRUE(deck(9, "[observe.cluster]\n").cluster->lindemann);
  expect_throws<InputError>({"write lindemann = false"},
                            [&] { deck(9, kLadders + "[observe.cluster]\nlindemann = true\n"); });
}

TEST_F(RunDeck, PairsWithoutAttemptsHaveNoAcceptance) {
  const RunResult result = run(deck(9, kLadders));  // one attempt: (1, 2), at step 5
  EXPECT_EQ(result.exchange->pairs[0].attempts, 0);
  EXPECT_TRUE(std::isnan(result.exchange->pairs[0].acceptance));
  EXPECT_EQ(result.exchange->pairs[1].attempts, 1);
  EXPECT_TRUE(contains(read_text(out_ + "/exchange.csv"), "100,150,0,0,nan,nan\n"));
  EXPECT_TRUE(contains(run_json(), "\"acceptance\": null, \"error\": null"));
}

TEST_F(RunDeck, WalkersStandStillWhenAllWereStopped) {
  script_.blow_ups = {{0, 21}, {1, 22}, {2, 23}};
  EXPECT_THROW(run(deck(200, kLadders)), NumericalError);
  const std::string ways = read_text(out_ + "/walkers.csv");
  EXPECT_TRUE(contains(ways, "\n20,"));
  EXPECT_FALSE(contains(ways, "\n25,"));
}

// --- blow-ups ---

TEST_F(RunDeck, OtherReplicasGoOnAfterABlowUp) {
  script_.blow_ups = {{1, 55}};
  const RunResult result = run(deck(100));
  ASSERT_EQ(result.blow_ups.size(), 1u);
  EXPECT_EQ(result.blow_ups[0].replica, 1);
  ASSERT_EQ(warnings_.size(), 2u);
  expect_parts_of(warnings_[1],
                  {"replica 1 blew up at step 55 (molecule 1)", "try timestep_fs = 1"});
  FakeEngine good(fake_start(kMolecules, 3), {}, 0.002);
  good.advance(54);
  const io::Structure kept = *io::XyzReader(out_ + "/blow-up-0001.xyz").next();
  EXPECT_EQ(kept.positions_A, replica_of(good.state(), 1).positions_A);
  EXPECT_TRUE(contains(warnings_[1],
                       "Closest atoms of the last good state: O of molecule 0 and H2 of molecule 1 "
                       "are 0.5 A apart; largest force: 2e+05 kcal/mol/A on H2 of molecule 1."));
  const std::string told =
      "\"blow_ups\": [\n    {\"replica\": 1, \"step\": 55, \"molecule\": 1, \"closest_atoms\": "
      "[{\"molecule\": 0, \"atom\": \"O\"}, {\"molecule\": 1, \"atom\": \"H2\"}], "
      "\"closest_distance_A\": 0.5, \"largest_force_on\": {\"molecule\": 1, \"atom\": \"H2\"}, "
      "\"largest_force_kcal_per_mol_A\": 200000, \"seen_in_last_good_state\": true, \"text\": ";
  EXPECT_TRUE(contains(run_json(), told));
  // A resumed run still knows it, and does not tell it again.
  warnings_.clear();
  resume(deck(150));
  EXPECT_TRUE(warnings_.empty());
  EXPECT_TRUE(contains(run_json(), told));
}

/// The fourth of a kind says nothing new.
TEST_F(RunDeck, ReportsAFewBlowUps) {
  Deck d = deck(100);
  d.system.replicas = 6;
  script_.blow_ups = {{0, 50}, {1, 51}, {2, 52}, {3, 53}, {4, 54}};
  const RunResult result = run(d);
  EXPECT_EQ(result.blow_ups.size(), 5u);
  EXPECT_EQ(warnings_with(" blew up at step "), 3);
  EXPECT_EQ(warnings_with("further blow-ups are listed only in run.json"), 1);
}

TEST_F(RunDeck, ABlowUpNearAResonanceNamesBeta) {
  // Pairs that were seen to blow up at 298 K and 2 fs, or are known to.
  script_.blow_ups = {{1, 55}};
  const std::string resonance = "near a value at which stiff modes are unstable";
  for (const char* beta : {"0.26", "0.28", "0.3", "0.36", "0.49", "0.51"}) {
    overwrite(deck(60, "", "beta = " + std::string(beta) + "\n"));
    EXPECT_TRUE(contains(warnings_.back(), resonance));
  }
  for (const char* beta : {"0.275", "0.39", "0.42", "0.47", "0.6"}) {
    overwrite(deck(60, "", "beta = " + std::string(beta) + "\n"));
    EXPECT_FALSE(contains(warnings_.back(), resonance)) << warnings_.back();
    EXPECT_EQ(contains(warnings_.back(), "beta = 0.42"), std::string(beta) != "0.42");
  }
}

TEST_F(RunDeck, ABlowUpNamesTheLikelyCause) {
  const auto cause = [](const std::string& scheme, std::int64_t step, double closest_A) {
    BlowUp b;
    b.step = step;
    b.closest = {{0, 0}, {1, 2}, closest_A};
    Deck d = with_scheme(deck(10'000), scheme);
    d.system.start = StartKind::random;
    return describe(b, d, 0, d.system.molecules);
  };
  // A hydrogen bond is no overlap; one step of Newton's method drifts.
  EXPECT_TRUE(contains(cause("newmark-one-step", 4329, 1.7), "pushforward-newmark"));
  EXPECT_TRUE(contains(cause("newmark-one-step", 4329, 0.5), "came too close"));
  EXPECT_TRUE(contains(cause("newmark-one-step", 10, 0.5), "overlapped at the start"));
  // A quenched cluster has no overlap.
  BlowUp early;
  early.step = 10;
  early.closest = {{0, 0}, {1, 2}, 0.5};
  Deck quenched = with_scheme(deck(10'000), "zss-stiff");
  EXPECT_TRUE(contains(describe(early, quenched, 0, quenched.system.molecules),
                       "two atoms came too close"));
  // A ball of 1 A and half a distance of neighbours, 2.4 A: 57.9 A^3 for all eight.
  quenched.confinement = ConfinementSection{};
  quenched.confinement->stiffness_kcal_per_mol_A2 = 1000.0;
  quenched.integrator.timestep_fs = 2.0;
  quenched.confinement->radius_A = 1.0;
  expect_parts_of(describe(early, quenched, 0, 8),
                  {"[confinement] is too narrow: a sphere of radius_A + 1.4 A = 2.4 A leaves "
                   "7.2 A^3 per molecule for 8 molecules",
                   "a radius_A of 2.5 or more"});
  // run.json tells the same, also where only the file of the start tells how many there are.
  RunRecord written;
  written.molecules = 8;
  written.result.blow_ups = {early};
  Deck of_file = quenched;
  of_file.system.molecules = 0;
  of_file.system.file = "eight.xyz";
  fs::create_directories(out_);
  write_record(out_ + "/run.json", of_file, written);
  EXPECT_TRUE(contains(run_json(), "7.2 A^3 per molecule for 8 molecules"));
  quenched.confinement->radius_A = 2.5;
  EXPECT_FALSE(contains(describe(early, quenched, 0, 8), "[confinement]"));
  EXPECT_TRUE(contains(cause("zss-stiff", 4329, 0.5), "came too close"));
  // No beta holds such a step.
  expect_parts_of(cause("zss-stiff:omega=20:beta=0.36:timestep_fs=10", 4329, 1.7),
                  {"above the stability limit of this scheme", "or beta = 0.42"});
}

TEST_F(RunDeck, ReportsIndefiniteHessians) {
  const auto full = [&](std::int64_t steps) {
    return deck(steps, "[observe.energies]\nevery = 7\n", "hessian = \"full\"\n");
  };
  script_.blow_ups = {{1, 55}, {2, 120}};
  script_.indefinite_hessian_a_blow_up = true;
  run(full(100));
  EXPECT_EQ(warnings_with("was not positive definite (1 time in this run); use hessian"), 1);
  EXPECT_TRUE(contains(run_json(), "\"indefinite_hessians\": 1,"));
  // Those before a restart are not forgotten.
  resume(full(150));
  EXPECT_TRUE(contains(warnings_.back(), "(2 times in this run)"));
  EXPECT_TRUE(contains(run_json(), "\"indefinite_hessians\": 2,"));
  EXPECT_FALSE(contains(run_json(), "overlapped"));
}

TEST_F(RunDeck, AResumedRunLeavesStoppedReplicasAlone) {
  script_.blow_ups = {{1, 55}, {2, 80}};
  expect_same_files_after({54, 55, 70, 80, 90}, 100, [](std::int64_t n) { return deck(n); });
  const RunResult result = resume(deck(100));
  ASSERT_EQ(result.blow_ups.size(), 2u);
  EXPECT_EQ(result.blow_ups[1].step, 80);
}

TEST_F(RunDeck, FinalStructuresAreOfTheEndAndOfReplicasThatReachedIt) {
  script_.blow_ups = {{1, 155}};
  run(deck(100));
  FakeEngine expected(fake_start(kMolecules, 3), {}, 0.002);
  expected.advance(100);
  const auto final_of = [&](int replica) {
    return *io::XyzReader(out_ + "/final-000" + std::to_string(replica) + ".xyz").next();
  };
  for (const int replica : {0, 1}) {
    const io::Structure s = final_of(replica);
    const State own = replica_of(expected.state(), static_cast<std::size_t>(replica));
    EXPECT_EQ(s.positions_A, own.positions_A);
    EXPECT_EQ(s.velocities_A_per_akma, own.velocities_A_per_akma);
    EXPECT_EQ(s.comment.at("step"), "100");
    EXPECT_EQ(s.comment.at("time_ps"), "0.20000000000000001");
    EXPECT_EQ(s.comment.at("replica"), std::to_string(replica));
    EXPECT_EQ(s.comment.at("push_fs2"), "1.6799999999999999");  // 0.42 (2 fs)^2
  }
  EXPECT_FALSE(fs::exists(out_ + "/final-0002.xyz"));
  // What a replica left before is none of its end.
  resume(deck(200));
  EXPECT_EQ(final_of(0).comment.at("step"), "200");
  EXPECT_FALSE(fs::exists(out_ + "/final-0001.xyz"));
}

TEST_F(RunDeck, DoesNotReplaceItsOwnStart) {
  run(deck(100));
  const auto before = contents_of(out_);
  Deck d = deck(100);
  d.system.file = out_ + "/final-0000.xyz";
  expect_throws<InputError>({"contains final-0000.xyz, from which this run starts"},
                            [&] { overwrite(d); });
  d.system.file.reset();
  for (const char* path : {"", "/../x/checkpoint.bin"}) {
    d.system.state = out_ + path;
    expect_throws<InputError>({"contains checkpoint.bin, from which this run starts", "with --out"},
                              [&] { overwrite(d); });
  }
  EXPECT_EQ(contents_of(out_), before);
}

TEST_F(RunDeck, NoReplicaLeftIsAnErrorAfterTheFilesAreDone) {
  script_.blow_ups = {{0, 60}, {1, 55}, {2, 80}};
  expect_throws<NumericalError>(
      {"no replica is left", "replica 1 blew up at step 55 (molecule 1)", "blow-up-0001.xyz"},
      [&] { run(deck(100)); });
  // Nothing was done after the last of them, at whatever speed.
  expect_parts_of(run_json(), {"\"status\": \"failed\"", "\"steps_done\": 80,",
                               "\"steps_per_second\": null,", "\"ns_per_day_total\": null,"});
  for (const char* name : {"rdf.csv", "energies.csv", "blow-up-0000.xyz", "checkpoint.bin"}) {
    EXPECT_TRUE(fs::exists(out_ + "/" + name)) << name;
  }
  expect_throws<NumericalError>({"no replica is left"}, [&] { resume(deck(200)); });
}

}  // namespace
}  // namespace tarn
