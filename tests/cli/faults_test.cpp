#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "io/checkpoint.hpp"
#include "program.hpp"
#include "run_files.hpp"
#include "small_disk.hpp"
#include "tarn/io/formats.hpp"

/// @file
/// What a run loses when it is killed or interrupted, when the disk is full and when it may not
/// write: nothing before its last checkpoint, and never a file.

namespace tarn {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;
using namespace test;

constexpr std::int64_t kCheckpointSteps = 500;
const std::vector<std::string> kGrowingFiles{"energies.csv", "cluster.csv", "multipliers.csv"};

class Faults : public ::testing::Test {
 protected:
  Faults() {
    write_text(deck_, "system = {replicas = 2, file = \"" TARN_SOURCE_DIR
                      "/inputs/structures/tip3p-7.xyz\"}\n"
                      R"(integrator.scheme = "settle"
thermostat = {kind = "gla", temperature_K = 10.0, friction_per_ps = 5.0}
run.steps = 10000
observe.energies.every = 50
observe.rdf.every = 10
observe.trajectory.every = 500
observe.cluster.every = 100
observe.multipliers = {every = 20, window_steps = 5}
observe.final = {}
checkpoint.every = 500
)");
  }

  /// The program's words for a run of the deck into `out`.
  std::vector<std::string> run_words(const std::string& out,
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{TARN_BINARY, "run", deck_, "--threads", "1", "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// Starts a run; pictures would take most of its time.
  Program start(const std::string& out, const std::vector<std::string>& more = {},
                const std::function<void()>& before = {}) {
    fs::remove(log_);
    return Program(run_words(out, more), log_, log_, [before] {
      ::setenv("TARN_PICTURES", "off", 1);
      if (before) before();
    });
  }
  std::string log() const { return read_text(log_); }
  int run(const std::string& out, const std::vector<std::string>& more = {},
          const std::function<void()>& before = {}) {
    const Ending ending = start(out, more, before).wait();
    EXPECT_FALSE(ending.by_signal) << "signal " << ending.code;
    return ending.code;
  }
  /// The word by which what was begun there goes on: without a checkpoint, from its beginning.
  static std::vector<std::string> again(const std::string& out) {
    if (fs::exists(out + "/checkpoint.bin")) return {"--resume"};
    return {"--overwrite"};
  }
  /// Step of the last whole row of a table whose first column it is; -1 if there is none.
  static std::int64_t last_step(const std::string& path) {
    const std::string text = read_text(path);
    const std::size_t end = text.rfind('\n');
    const std::size_t begin = end == std::string::npos || end == 0 ? 0 : text.rfind('\n', end - 1);
    const std::string row = text.substr(begin == 0 ? 0 : begin + 1);
    return row.empty() || !std::isdigit(static_cast<unsigned char>(row[0])) ? -1 : std::stoll(row);
  }

  /// The run in `out_` goes on to the files of a whole run. @param more words of both
  void expect_continues(std::vector<std::string> more) {
    ASSERT_EQ(run(whole_, more), 0) << log();
    more.push_back(again(out_).front());
    ASSERT_EQ(run(out_, more), 0) << log();
    expect_same_files(out_, whole_);
  }
  void kill_and_resume(int kills, const std::vector<std::string>& set);

  int killed_in_start_ = 0, went_on_ = 0, ended_ = 0;
  ScratchFolder folder_;
  std::string deck_ = folder_.file("deck.toml");
  std::string log_ = folder_.file("log");
  std::string whole_ = folder_.file("whole");
  std::string out_ = folder_.file("out");
};

/// Kills a run and resumes it, again and again, and lets it end at last.
/// @param set more words of the run
void Faults::kill_and_resume(int kills, const std::vector<std::string>& set) {
  const auto with = [&set](std::vector<std::string> words) {
    words.insert(words.end(), set.begin(), set.end());
    return words;
  };
  ASSERT_EQ(run(whole_, set), 0) << log();
  std::mt19937 random(20240917);
  // A third of the kills falls into the start of the program, the others between and into the
  // checkpoints, of which there is one about every 50 ms.
  std::uniform_int_distribution<int> early(0, 15'000), later(0, 150'000), third(0, 2);
  for (int kill = 0; kill < kills; ++kill) {
    std::vector<std::string> more = with({"--quiet"});
    more.push_back(again(out_).front());
    std::int64_t before = -1;
    if (fs::exists(out_ + "/checkpoint.bin")) {
      before = io::read_checkpoint(out_ + "/checkpoint.bin").state.step;
    }
    {
      Program program = start(out_, more);
      const double delay_s = 1e-6 * (third(random) == 0 ? early(random) : later(random));
      while (program.runs() && program.cpu_seconds() < delay_s) {
        std::this_thread::sleep_for(microseconds{200});
      }
      program.signal(SIGKILL);
      const Ending ending = program.wait();
      ASSERT_TRUE(ending.by_signal || ending.code == 0) << log();
      ended_ += !ending.by_signal;
      if (!ending.by_signal) {
        expect_same_files(out_, whole_);
        fs::remove_all(out_);
        continue;
      }
    }
    if (!fs::exists(out_ + "/checkpoint.bin")) {
      ASSERT_EQ(before, -1) << "a checkpoint was lost";
      ++killed_in_start_;
      continue;
    }
    const io::Checkpoint checkpoint = io::read_checkpoint(out_ + "/checkpoint.bin");
    ASSERT_GE(checkpoint.state.step, before);
    went_on_ += checkpoint.state.step > before;
    for (const std::string& name : kGrowingFiles) ASSERT_TRUE(fs::exists(out_ + "/" + name));
    // What was on its way to the disk is no further than the next checkpoint, and holds all that
    // the last one tells of.
    const std::int64_t reached = last_step(out_ + "/energies.csv");
    EXPECT_GE(reached, checkpoint.state.step);
    EXPECT_LE(reached, checkpoint.state.step + kCheckpointSteps);
  }
  ASSERT_EQ(run(out_, with(again(out_))), 0) << log();
  expect_same_files(out_, whole_);
}

TEST_F(Faults, KilledAtAHundredRandomMoments) {
  kill_and_resume(100, {});
#if !defined(__SANITIZE_ADDRESS__)
  // The kills did hit what they were meant to hit; a slow program is killed before it gets there.
  EXPECT_GT(killed_in_start_, 0);
  EXPECT_GT(went_on_, 10);
#endif
  RecordProperty("killed_before_the_first_checkpoint", killed_in_start_);
  RecordProperty("went_on", went_on_);
  RecordProperty("ended_before_the_kill", ended_);
}

TEST_F(Faults, KilledWhileTrajectoriesAreWritten) {
  for (const std::string format : {"dcd", "h5md"}) {
    if (format == "h5md" && !io::has_h5md()) continue;
    SCOPED_TRACE(format);
    fs::remove_all(out_);
    fs::remove_all(whole_);
    kill_and_resume(20, {"--set", "observe.trajectory.format=" + format, "--set",
                         "observe.trajectory.every=50"});
  }
}

// --- interrupts ---

/// Sooner or later `condition` holds while the program runs.
template <class Condition>
bool wait_until(Program& program, const Condition& condition) {
  while (program.runs()) {
    if (condition()) return true;
    std::this_thread::sleep_for(microseconds{500});
  }
  return false;
}

/// Steps without end, with little to write.
const std::vector<std::string> kEndless{
    "--set", "run.steps=1000000000000",    "--set", "observe.energies.every=5000",
    "--set", "observe.cluster.every=5000", "--set", "observe.multipliers.every=5000",
    "--set", "observe.rdf.every=100",      "--set", "observe.trajectory.every=50000",
    "--set", "checkpoint.every=100000000"};

std::vector<std::string> with_steps(std::vector<std::string> words, std::int64_t steps) {
  words[1] = "run.steps=" + std::to_string(steps);
  return words;
}

TEST_F(Faults, AnInterruptedRunExplainsHowToResume) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    fs::remove_all(out_);
    fs::remove_all(whole_);
    {
      Program program = start(out_, kEndless);
      ASSERT_TRUE(wait_until(program, [&] { return fs::exists(out_ + "/checkpoint.bin"); }))
          << log();
      program.signal(signal);
      const Ending ending = program.wait();
      EXPECT_FALSE(ending.by_signal);
      EXPECT_EQ(ending.code, 128 + signal) << log();
    }
    EXPECT_TRUE(contains(read_text(out_ + "/run.json"), "\"status\": \"interrupted\""));
    const std::int64_t step = io::read_checkpoint(out_ + "/checkpoint.bin").state.step;
    EXPECT_GT(step, 0);
    // What it says can be copied; one key is set once more, since there is no end in sight.
    const std::string said = log();
    const std::string advice = "continue with: tarn ";
    ASSERT_TRUE(contains(said, advice));
    const std::size_t begin = said.find(advice) + advice.size();
    const std::string words = said.substr(begin, said.find('\n', begin) - begin);
    const std::string end = std::to_string(step + 7000);
    const std::string command = "PATH=/nowhere '" + std::string(TARN_BINARY) + "' " + words +
                                " --quiet --set run.steps=" + end + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    ASSERT_EQ(run(whole_, with_steps(kEndless, step + 7000)), 0) << log();
    expect_same_files(out_, whole_);
  }
}

TEST_F(Faults, ASecondSignalEndsTheProgramAndLosesNoFile) {
  {
    Program program = start(out_, kEndless);
    ASSERT_TRUE(wait_until(program, [&] { return fs::exists(out_ + "/checkpoint.bin"); })) << log();
    program.signal(SIGINT);
    program.signal(SIGTERM);  // two of one kind might become one
    EXPECT_TRUE(program.wait().by_signal) << log();
  }
  expect_continues(with_steps(kEndless, 7000));
}

/// As under nohup, and in the background of a shell.
TEST_F(Faults, SignalsThatTheParentIgnoresAreIgnored) {
  Program program = start(out_, kEndless, [] {
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
  });
  ASSERT_TRUE(wait_until(program, [&] { return fs::exists(out_ + "/checkpoint.bin"); })) << log();
  EXPECT_FALSE(program.catches(SIGHUP) || program.catches(SIGINT));
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) program.signal(number);
  EXPECT_EQ(program.wait().code, 128 + SIGTERM) << log();
}

// --- nobody who listens ---

/// The end of the terminal that a run writes its bar to: a signal, and errors of all that is said.
TEST_F(Faults, TheTerminalMayClose) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(master, 0);
  ASSERT_EQ(::grantpt(master) | ::unlockpt(master), 0);
  const std::string slave = ::ptsname(master);
  Program program(run_words(out_, kEndless), folder_.file("lines"), log_, [&] {
    ::setenv("TARN_PICTURES", "off", 1);
    ::setenv("TERM", "xterm", 1);
    ::setsid();
    const int terminal = ::open(slave.c_str(), O_RDWR);  // the one of this session
    if (terminal < 0 || ::dup2(terminal, STDERR_FILENO) < 0) ::_exit(126);
    ::close(terminal);
    ::close(master);
  });
  ASSERT_TRUE(wait_until(program, [&] { return fs::exists(out_ + "/checkpoint.bin"); }));
  ::close(master);
  const Ending ending = program.wait();
  EXPECT_FALSE(ending.by_signal) << ending.code;
  EXPECT_EQ(ending.code, 128 + SIGHUP);
  EXPECT_TRUE(contains(read_text(out_ + "/run.json"), "\"status\": \"interrupted\""));
  EXPECT_GT(io::read_checkpoint(out_ + "/checkpoint.bin").state.step, 0);
}

/// Standard error that is closed, or that takes nothing: files are those of a run that is heard.
TEST_F(Faults, RunsWithoutAReaderOfItsMessages) {
  std::vector<std::string> more;
  if (io::has_h5md()) more = {"--set", "observe.trajectory.format=h5md"};
  ASSERT_EQ(run(whole_, more), 0) << log();
  const auto close_all = [] {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
  };
  const auto fill = [] {
    const int full = ::open("/dev/full", O_WRONLY);
    if (full < 0 || ::dup2(full, STDERR_FILENO) < 0) ::_exit(126);
  };
  const auto hang_up = [] {
    int ends[2];
    if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) ::_exit(126);
    ::close(ends[0]);
    ::close(ends[1]);
  };
  for (const std::function<void()>& before :
       {std::function<void()>(close_all), {fill}, {hang_up}}) {
    fs::remove_all(out_);
    ASSERT_EQ(run(out_, more, before), 0);
    expect_same_files(out_, whole_);
  }
}

// --- two at once ---

/// Each makes a file of its own, and one of them is there in the end.
TEST_F(Faults, TwoProgramsMayMakeTheSameFile) {
  ASSERT_EQ(run(out_, {"--set", "observe.trajectory.every=20"}), 0) << log();
  const std::string from = out_ + "/trajectory-0000.xyz";
  const std::string alone = folder_.file("alone.gro"), both = folder_.file("both.gro");
  const auto words = [&](const std::string& to) {
    return std::vector<std::string>{TARN_BINARY, "convert", from, "-o", to};
  };
  ASSERT_EQ(Program(words(alone), log_, log_).wait().code, 0) << log();
  {
    Program first(words(both), log_, log_), second(words(both), log_, log_);
    EXPECT_EQ(first.wait().code, 0) << log();
    EXPECT_EQ(second.wait().code, 0) << log();
  }
  EXPECT_EQ(read_text(both), read_text(alone));
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    EXPECT_FALSE(entry.path().string().ends_with("tarn-tmp")) << entry.path();
  }
}

TEST_F(Faults, ASecondProgramDoesNotWriteIntoARun) {
  {
    Program first = start(out_, kEndless);
    ASSERT_TRUE(wait_until(first, [&] { return fs::exists(out_ + "/checkpoint.bin"); })) << log();
    for (const char* how : {"--resume", "--overwrite"}) {
      const std::string said = folder_.file(how);
      const Ending second = Program(run_words(out_, {how}), said, said).wait();
      EXPECT_EQ(second.code, static_cast<int>(ExitCode::bad_input));
      EXPECT_TRUE(contains(read_text(said), "another tarn process is writing to '" + out_ + "'"));
    }
    ASSERT_TRUE(first.runs()) << log();
    first.signal(SIGKILL);
    first.wait();
  }
  // The lock of a killed program holds nobody up.
  expect_continues(with_steps(kEndless, 7000));
}

// --- no space, no permission ---

/// The run in `out_` has failed for want of something: no file is half-written, and with it there
/// again the run goes on to the same bytes.
class Wants : public Faults {
 protected:
  void expect_failure_told(int code, const std::string& why) {
    EXPECT_EQ(code, static_cast<int>(ExitCode::io)) << log();
    EXPECT_TRUE(contains(log(), why));
    EXPECT_TRUE(contains(log(), "'" + out_ + "/"));
    for (const auto& entry : fs::directory_iterator(out_)) {
      EXPECT_FALSE(entry.path().string().ends_with("tarn-tmp")) << entry.path();
    }
    if (fs::exists(out_ + "/checkpoint.bin")) io::read_checkpoint(out_ + "/checkpoint.bin");
  }
  void expect_resumes() {
    ASSERT_EQ(run(out_, again(out_)), 0) << log();
    if (!fs::exists(whole_)) {
      ASSERT_EQ(run(whole_), 0) << log();
    }
    expect_same_files(out_, whole_);
  }
};

TEST_F(Wants, AFileThatMayNotGrow) {
  const std::vector<std::string> more{"--set", "observe.rdf.bins=10"};
  ASSERT_EQ(run(whole_, more), 0) << log();
  // From a limit that not even the first checkpoint fits in, to one that the tables reach late.
  for (const rlim_t limit : {2'000, 20'000, 150'000}) {
    SCOPED_TRACE(limit);
    fs::remove_all(out_);
    const int code = run(out_, more, [limit] {
      const rlimit size{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &size);
    });
    expect_failure_told(code, "size limit");
    for (const auto& entry : fs::directory_iterator(out_)) {
      EXPECT_LE(entry.file_size(), limit);
    }
    EXPECT_EQ(fs::exists(out_ + "/checkpoint.bin"), limit > 2'000);
    if (limit > 100'000) {
      EXPECT_GT(io::read_checkpoint(out_ + "/checkpoint.bin").state.step, 0);
    }
    ASSERT_EQ(run(out_, {again(out_).front(), "--set", "observe.rdf.bins=10"}), 0) << log();
    expect_same_files(out_, whole_);
  }
}

TEST_F(Wants, ADiskThatIsFull) {
  const SmallDisk disk(folder_.file("disk"), "600k");
  if (!disk.made()) GTEST_SKIP() << "no small disk can be mounted here";
  // Sizes at which the first checkpoint, a later one or a table finds no space. One checkpoint
  // beside the last is 480 kB with all bins of the RDF.
  out_ = folder_.file("disk/out");
  for (const char* size : {"100k", "700k", "1200k"}) {
    SCOPED_TRACE(size);
    fs::remove_all(out_);
    ASSERT_TRUE(disk.resize(size));
    expect_failure_told(run(out_), "Free some space");
    EXPECT_EQ(fs::exists(out_ + "/checkpoint.bin"), std::string(size) != "100k");
    EXPECT_EQ(contains(log(), "continue the run with --resume"), std::string(size) != "100k");
    ASSERT_TRUE(disk.resize("10M"));
    expect_resumes();
  }
}

/// Gives up what lets root write everywhere.
void become_nobody() {
  if (::geteuid() != 0) return;
  constexpr uid_t kNobody = 65534;
  if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)
    ::_exit(126);
}

TEST_F(Wants, AFolderThatMayNotBeWritten) {
  // As another user the program must still be found and run.
  fs::permissions(folder_.path(), fs::perms::all);
  {
    const std::string said = folder_.file("version");
    Program program({TARN_BINARY, "--version"}, said, said, become_nobody);
    if (program.wait().code != 0) GTEST_SKIP() << "another user cannot run the program here";
  }
  ::umask(0);
  ASSERT_EQ(run(out_, {"--set", "run.steps=3000"}, become_nobody), 0) << log();
  const auto before = contents_of(out_);
  for (const std::string& folder : {out_, folder_.file("new")}) {
    SCOPED_TRACE(folder);
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                                fs::perms::others_exec);
    fs::permissions(folder_.path(), fs::perms::others_exec | fs::perms::owner_all);
    const std::vector<std::string> more =
        folder == out_ ? std::vector<std::string>{"--resume"} : std::vector<std::string>{};
    write_text(log_, "");
    fs::permissions(log_, fs::perms::all);
    const Ending ending = Program(run_words(folder, more), log_, log_, become_nobody).wait();
    EXPECT_EQ(ending.code, static_cast<int>(ExitCode::io)) << log();
    EXPECT_TRUE(contains(log(), "cannot write into '" + folder + "': Permission denied"));
    fs::permissions(folder_.path(), fs::perms::all);
  }
  EXPECT_EQ(contents_of(out_), before);
  EXPECT_TRUE(contents_of(folder_.file("new")).empty());
  // A run that is done says so without writing.
  fs::permissions(folder_.path(), fs::perms::others_exec | fs::perms::owner_all);
  const Ending done =
      Program(run_words(out_, {"--resume", "--set", "run.steps=3000"}), log_, log_, become_nobody)
          .wait();
  EXPECT_EQ(done.code, 0) << log();
  EXPECT_EQ(contents_of(out_), before);
  fs::permissions(folder_.path(), fs::perms::all);
  fs::permissions(out_, fs::perms::all);
  expect_resumes();
}

}  // namespace
}  // namespace tarn
