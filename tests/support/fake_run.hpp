#pragma once

#include <cstdlib>

#include "fake_engine.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "trajectory_fixtures.hpp"

namespace tarn::test {

/// Runs of three molecules in three replicas into a folder, with an engine of arithmetic instead of
/// physics. Pictures would take most of the time of such short runs.
class FakeRuns : public ::testing::Test {
 protected:
  static constexpr int kMolecules = 3;

  FakeRuns() { ::setenv("TARN_PICTURES", "off", 1); }

  static Deck deck(std::int64_t steps, const std::string& more = "",
                   const std::string& integrator = "") {
    return parse_deck(
        "[system]\nmodel = \"tip3p\"\nmolecules = 3\nreplicas = 3\n"
        "[integrator]\nscheme = \"zss-stiff\"\ntimestep_fs = 2.0\n" +
            integrator + "[run]\nsteps = " + std::to_string(steps) + "\n" + more,
        "test.toml");
  }
  RunFactories parts() {
    RunFactories parts;
    parts.make_start = [this](const Deck& d) {
      ++starts_;
      threads_of_start_ = d.run.threads;
      return Start{fake_start(kMolecules, d.system.replicas), {Message::note("a note")}};
    };
    parts.make_engine = [this](const System& system, const State& start,
                               const PairCountRequest& counts, const DeviceRequest& device) {
      device_ = device.name;
      threads_of_engine_ = device.threads;
      return std::make_unique<FakeEngine>(
          start, counts, units::ps_from_akma(system.integrator.timestep_akma), script_);
    };
    return parts;
  }
  RunOptions to_out(bool RunOptions::*flag = nullptr) const {
    RunOptions options;
    options.out_dir = out_;
    if (flag != nullptr) options.*flag = true;
    return options;
  }
  std::string run_json() const { return read_text(out_ + "/run.json"); }
  /// All files but run.json, which contains times.
  std::map<std::string, std::string> files() const {
    auto files = contents_of_run(out_);
    files.erase("run.json");
    return files;
  }

  ScratchFolder folder_;
  std::string out_ = folder_.file("out/x");
  FakeScript script_;
  int starts_ = 0;
  std::string device_;
  int threads_of_start_ = -1, threads_of_engine_ = -1;
};

}  // namespace tarn::test
