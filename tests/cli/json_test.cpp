#include <csignal>

#include "io/checkpoint.hpp"
#include "json_reader.hpp"
#include "program.hpp"

/// @file
/// What `--json` tells programs that watch, line by line.

namespace tarn {
namespace {

using namespace test;

class JsonLines : public ::testing::Test {
 protected:
  JsonLines() {
    write_text(deck_, "[system]\nfile = \"" + std::string(TARN_SOURCE_DIR) +
                          "/inputs/structures/tip3p-7.xyz\"\nreplicas = 3\n"
                          "[integrator]\nscheme = \"settle\"\n"
                          "[thermostat]\nkind = \"gla\"\ntemperature_K = 10.0\n"
                          "friction_per_ps = 5.0\n[run]\nsteps = 400\n"
                          "[observe.energies]\nevery = 20\n[checkpoint]\nevery = 150\n");
  }
  Program start(const std::string& command, const std::vector<std::string>& more) {
    std::filesystem::remove(lines_);
    std::filesystem::remove(log_);
    std::vector<std::string> words{TARN_BINARY, command, deck_,   "--json",
                                   "--threads", "1",     "--out", out_};
    words.insert(words.end(), more.begin(), more.end());
    return Program(words, lines_, log_, [] { ::setenv("TARN_PICTURES", "/nowhere", 1); });
  }
  /// Exit code; every line of standard output is parsed into `events_`.
  int run(const std::string& command, const std::vector<std::string>& more = {}) {
    const Ending ending = start(command, more).wait();
    EXPECT_FALSE(ending.by_signal);
    parse();
    return ending.code;
  }
  void parse() {
    events_.clear();
    std::istringstream lines(read_text(lines_));
    for (std::string line; std::getline(lines, line);) {
      events_.push_back(json_of(line));
      EXPECT_EQ(events_.back().kind, Json::Kind::object) << line;
    }
  }
  std::vector<Json> events(const std::string& name) const {
    std::vector<Json> found;
    for (const Json& e : events_) {
      if (e["event"].text == name) found.push_back(e);
    }
    return found;
  }
  bool last_names_file(const std::string& name) const {
    const std::vector<Json>& files = events_.back()["files"].items;
    return std::any_of(files.begin(), files.end(),
                       [&](const Json& f) { return f.text == out_ + "/" + name; });
  }

  ScratchFolder folder_;
  std::string deck_ = folder_.file("deck.toml");
  std::string lines_ = folder_.file("lines");
  std::string log_ = folder_.file("log");
  std::string out_ = folder_.file("out");
  std::vector<Json> events_;
};

TEST_F(JsonLines, OfARun) {
  ASSERT_EQ(run("run"), 0) << read_text(log_);
  ASSERT_GE(events_.size(), 6u);
  const Json& started = events_.front();
  EXPECT_EQ(started["event"].text, "started");
  EXPECT_EQ(started["folder"].text, out_);
  EXPECT_TRUE(contains(started["device"].text, "CPU"));
  EXPECT_EQ(started["molecules"].number, 7);
  EXPECT_EQ(started["replicas"].number, 3);
  EXPECT_EQ(started["step"].number, 0);
  EXPECT_EQ(started["total_steps"].number, 400);

  std::vector<double> checkpoints;
  for (const Json& e : events("checkpoint")) checkpoints.push_back(e["step"].number);
  EXPECT_EQ(checkpoints, (std::vector<double>{0, 150, 300, 400}));

  ASSERT_FALSE(events("progress").empty());
  const Json progress = events("progress").back();
  EXPECT_EQ(progress["step"].number, 400);
  EXPECT_EQ(progress["total_steps"].number, 400);
  EXPECT_GT(progress["steps_per_s"].number, 0.0);
  // 2 fs a step; three replicas; 17 digits are read.
  EXPECT_DOUBLE_EQ(progress["ns_per_day_per_replica"].number,
                   progress["steps_per_s"].number * 2e-6 * 86400.0);
  EXPECT_DOUBLE_EQ(progress["ns_per_day_total"].number,
                   3.0 * progress["ns_per_day_per_replica"].number);
  EXPECT_EQ(progress["seconds_left"].number, 0.0);

  ASSERT_EQ(events("warning").size(), 2u);
  EXPECT_TRUE(contains(events("warning")[0]["text"].text, "too few independent samples of "));
  EXPECT_TRUE(contains(events("warning")[1]["text"].text, "matplotlib"));

  EXPECT_EQ(events_.back()["event"].text, "finished");
  EXPECT_EQ(events_.back()["exit_code"].number, 0);
  for (const char* name : {"energies.csv", "run.json", "checkpoint.bin"}) {
    EXPECT_TRUE(last_names_file(name)) << name;
  }
  // People read the other stream.
  EXPECT_TRUE(contains(read_text(log_), "files are in"));
}

TEST_F(JsonLines, OfBlowUps) {
  EXPECT_EQ(run("run", {"--set", "integrator.timestep_fs=60"}), 3);
  ASSERT_EQ(events("blow_up").size(), 3u);
  const Json blow_up = events("blow_up")[1];
  EXPECT_EQ(blow_up["replica"].number, 1);
  EXPECT_GT(blow_up["step"].number, 0);
  EXPECT_GT(blow_up["closest_distance_A"].number, 0.0);
  EXPECT_EQ(blow_up["closest_atoms"].items.size(), 2u);
  EXPECT_GT(blow_up["largest_force_kcal_per_mol_A"].number, 0.0);
  EXPECT_TRUE(contains(blow_up["text"].text, "try timestep_fs"));
  EXPECT_EQ(events_.back()["event"].text, "failed");
  EXPECT_EQ(events_.back()["exit_code"].number, 3);
  EXPECT_TRUE(contains(events_.back()["text"].text, "no replica is left"));
  EXPECT_TRUE(last_names_file("blow-up-0001.xyz"));
  // The record says the same.
  const Json record = json_of(read_text(out_ + "/run.json"));
  EXPECT_EQ(record["blow_ups"].items[1]["text"].text, blow_up["text"].text);
}

TEST_F(JsonLines, OfRunsThatCannotStart) {
  EXPECT_EQ(run("run", {"--set", "system.molecules=0"}), 2);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0]["event"].text, "failed");
  EXPECT_EQ(events_[0]["exit_code"].number, 2);
  EXPECT_TRUE(contains(events_[0]["text"].text, "molecules"));
  EXPECT_TRUE(events_[0]["files"].items.empty());
}

TEST_F(JsonLines, OfAnInterruptedRun) {
  {
    Program program =
        start("run", {"--set", "run.steps=1000000000000", "--set", "observe.energies.every=5000",
                      "--set", "checkpoint.every=100000000"});
    while (program.runs() && !std::filesystem::exists(out_ + "/checkpoint.bin")) ::usleep(500);
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait().code, 143);
  }
  parse();
  EXPECT_EQ(events_.back()["event"].text, "interrupted");
  EXPECT_EQ(events_.back()["exit_code"].number, 143);
  EXPECT_EQ(events("checkpoint").back()["step"].number,
            static_cast<double>(io::read_checkpoint(out_ + "/checkpoint.bin").state.step));
}

TEST_F(JsonLines, OfAComparison) {
  ASSERT_EQ(run("compare", {"--schemes", "settle,shake"}), 0) << read_text(log_);
  EXPECT_EQ(events_.front()["event"].text, "started");
  EXPECT_EQ(events_.front()["total_steps"].number, 800);
  EXPECT_EQ(events("progress").back()["step"].number, 800);
  EXPECT_EQ(events_.back()["event"].text, "finished");
  EXPECT_TRUE(last_names_file("compare.csv"));
  EXPECT_TRUE(contains(read_text(log_), "steps/s, all clusters"));
}

TEST_F(JsonLines, AClosedPipeDoesNotStopTheRun) {
  const std::string command = "PATH=/usr/bin:/bin; '" + std::string(TARN_BINARY) + "' run " +
                              deck_ + " --json --quiet --out " + out_ + " 2>" + log_ + " | true";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(json_of(read_text(out_ + "/run.json"))["status"].text, "finished");
}

}  // namespace
}  // namespace tarn
