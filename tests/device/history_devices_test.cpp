#include <chrono>
#include <thread>

#include "analysis/correlation.hpp"
#include "analysis/spectrum.hpp"
#include "csv_columns.hpp"
#include "device_fixture.hpp"
#include "one_replica.hpp"
#include "quiet_run.hpp"
#include "ring_fixtures.hpp"
#include "run_files.hpp"

/// @file
/// Time correlations and powers of velocities that an engine keeps, compared with those of frames.

namespace tarn {
namespace {

using namespace test;
using analysis::CorrelationWindow;
using analysis::TimeCorrelation;

constexpr int kStepsBetweenSamples = 1;
using Results = std::vector<std::map<std::int64_t, std::vector<double>>>;

class HistoryDevices : public DeviceTest {
 protected:
  std::unique_ptr<Engine> make(const System& system, const State& start) const {
    return make_engine(system, start, {}, {GetParam(), 1});
  }
  static State start_of(const System& s, const std::vector<std::int64_t>& ids) {
    return s.path_integral.beads > 1 ? ring_start(s, ids) : start_state(s, ids);
  }
  static HistoryRequest of_correlation(int replicas, int longest) {
    HistoryRequest request;
    request.replicas = replicas;
    request.longest = longest;
    return request;
  }
  static HistoryRequest of_powers(int replicas, int samples, const System& system) {
    HistoryRequest request;
    request.replicas = replicas;
    request.samples = samples;
    for (int c = 0; c < 9 * system.molecules; ++c) {
      request.weights.push_back(system.model.mass_Da(c % 9 / 3));
    }
    request.current_weight = 0.25;
    return request;
  }
  /// The results of samples, each after some more steps.
  static Results results_of(
      Engine& engine, History& history, int first, int last,
      const std::function<void()>& after_sample = [] {}) {
    Results all;
    for (int sample = first; sample < last; ++sample) {
      engine.advance(kStepsBetweenSamples);
      if (auto results = history.sample(sample); !results.empty()) all.push_back(results);
      after_sample();
    }
    return all;
  }
};

/// Systems on all paths. The pairs of seven molecules need one word, those of 33 several.
std::vector<System> systems() {
  std::vector<System> all{ring_system(4, Bath::baoab, 3)};
  for (const int n : {1, 7, 33}) {
    all.push_back(make_system({"zss_structured", Bath::gla}, tip4p(), n, Precision::mixed));
  }
  return all;
}

TEST_P(HistoryDevices, WindowsAreThoseOfFrames) {
  for (const System& system : systems()) {
    for (const int longest : system.molecules > 10 ? std::vector{5} : std::vector{1, 16, 37}) {
      SCOPED_TRACE(std::to_string(system.molecules) + " molecules, longest lag " +
                   std::to_string(longest));
      const State start = start_of(system, {9, 2, 4});
      const auto engine = make(system, start), alone = make(system, replica_of(start, 1));
      const HistoryRequest request = of_correlation(9, longest);
      const auto history = engine->keep_history(request), by_itself = alone->keep_history(request);
      ASSERT_TRUE(history && by_itself);
      std::map<std::int64_t, TimeCorrelation> clusters;
      for (const std::int64_t id : {2, 4}) {
        clusters.emplace(id, TimeCorrelation(static_cast<std::size_t>(system.molecules),
                                             system.model, static_cast<std::size_t>(longest)));
      }
      std::vector<std::map<std::int64_t, CorrelationWindow>> expected;
      const int samples = static_cast<int>(
          TimeCorrelation::samples_to_first_window(static_cast<std::size_t>(longest)) +
          (longest > 16 ? 1 : 2) *
              TimeCorrelation::window_samples(static_cast<std::size_t>(longest)));
      const Results results = results_of(*engine, *history, 0, samples, [&] {
        Frame frame;
        engine->snapshot(kPositions, frame);
        std::map<std::int64_t, CorrelationWindow> windows;
        for (std::size_t r = 1; r < 3; ++r) {
          const std::int64_t id = frame.replica_ids[r];
          if (auto window = clusters.at(id).add(frame.positions_A_of(r))) windows[id] = *window;
        }
        if (!windows.empty()) expected.push_back(windows);
      });
      EXPECT_GE(expected.size(), 2u);
      ASSERT_EQ(results.size(), expected.size());
      const CorrelationLayout layout{system.molecules, longest};
      for (std::size_t w = 0; w < results.size(); ++w) {
        ASSERT_EQ(results[w].size(), 2u);
        for (const auto& [id, numbers] : results[w]) {
          const CorrelationWindow window = TimeCorrelation::window(layout, numbers);
          const CorrelationWindow& plain = expected[w].at(id);
          EXPECT_EQ(window.molecules, plain.molecules);
          EXPECT_EQ(window.bonds, plain.bonds);
          EXPECT_TRUE(system.molecules < 7 || window.bonds > 0.0);
          // Coordinates of 10 A have errors of 2^-50, and those of vectors of 1 A are ten times
          // as large; a sum has 32 terms of order 1 per molecule.
          const double rounding = 32.0 * system.molecules * 10.0 * 0x1p-50;
          for (std::size_t c = 0; c < kCorrelations; ++c) {
            expect_near(std::to_string(c).c_str(), window.sums[c], plain.sums[c], rounding);
          }
        }
      }
      // A replica does not depend on the batch.
      const Results single = results_of(*alone, *by_itself, 0, samples);
      ASSERT_EQ(single.size(), results.size());
      for (std::size_t w = 0; w < single.size(); ++w) {
        EXPECT_EQ(single[w].at(2), results[w].at(2));
      }
      // The memory is that of TimeCorrelation.
      for (auto& [id, bytes] : history->memory()) {
        TimeCorrelation kept = clusters.at(id);
        kept.take(bytes, samples);
        expect_near("memory", kept.memory(), clusters.at(id).memory(),
                    32.0 * system.molecules * 10.0 * 0x1p-50);
      }
    }
  }
}

TEST_P(HistoryDevices, PowersAreThoseOfFrames) {
  for (const System& system : systems()) {
    for (const int samples : system.molecules > 10 ? std::vector{16} : std::vector{20, 36, 64}) {
      SCOPED_TRACE(std::to_string(system.molecules) + " molecules, " + std::to_string(samples) +
                   " samples");
      const State start = start_of(system, {9, 2, 4});
      const auto engine = make(system, start), alone = make(system, replica_of(start, 1));
      const HistoryRequest request = of_powers(9, samples, system);
      const auto history = engine->keep_history(request), by_itself = alone->keep_history(request);
      ASSERT_TRUE(history && by_itself);
      std::vector<float> velocities;  // of replica 2
      Results results, single;
      for (const auto& [first, last] : {std::pair(0, samples), {samples / 2, samples}}) {
        results.push_back(results_of(*engine, *history, first, last, [&] {
                            Frame frame;
                            engine->snapshot(kVelocities, frame);
                            const auto v = frame.velocities_A_per_akma_of(1);
                            velocities.insert(velocities.end(), v.begin(), v.end());
                          }).at(0));
        single.push_back(results_of(*alone, *by_itself, first, last).at(0));
        ASSERT_EQ(results.back().size(), 2u);
        EXPECT_EQ(single.back().at(2), results.back().at(2));

        const std::size_t size = request.weights.size();
        std::vector<float> currents(3 * static_cast<std::size_t>(samples));
        for (std::size_t k = 0; k < velocities.size(); ++k) {
          currents[k / size * 3 + k % 3] += (k % 9 < 3 ? -2.0f : 1.0f) * velocities[k];
        }
        analysis::Periodogram periodogram(static_cast<std::size_t>(samples));
        std::vector<double> plain(periodogram.frequencies()), of_currents(plain);
        periodogram.add(velocities, request.weights, plain);
        periodogram.add(currents, std::vector(3, request.current_weight), of_currents);
        plain.insert(plain.end(), of_currents.begin(), of_currents.end());
        // Velocities and currents have roundings to float, which may differ by one; relative to
        // the amplitude of the sum of all frequencies.
        const double sum = std::accumulate(plain.begin(), plain.end(), 0.0);
        EXPECT_GT(sum, 0.0);
        ASSERT_EQ(plain.size(), results.back().at(2).size());
        for (std::size_t k = 0; k < plain.size(); ++k) {
          EXPECT_NEAR(results.back().at(2)[k], plain[k], 1e-6 * sum) << k;
        }
        velocities.erase(velocities.begin(), velocities.begin() + std::ssize(velocities) / 2);
      }
    }
  }
}

/// The memory of a history continues in another engine with the same bits, also in part of them.
TEST_P(HistoryDevices, ContinueFromTheirMemory) {
  const System system = make_system({"settle", Bath::gla}, tip3p(), 5);
  for (const bool correlates : {true, false}) {
    const HistoryRequest request =
        correlates ? of_correlation(100, 17) : of_powers(100, 40, system);
    const auto engine = make(system, start_state(system, spread_ids(3)));
    const auto history = engine->keep_history(request);
    const int last = correlates ? 90 : 40;
    results_of(*engine, *history, 0, 35);
    HistoryRequest again = request;
    again.memory = history->memory();
    const auto resumed = make(system, replica_of(engine->state(), 1));
    const auto continued = resumed->keep_history(again);
    ASSERT_TRUE(continued);
    const Results whole = results_of(*engine, *history, 35, last);
    const Results rest = results_of(*resumed, *continued, 35, last);
    ASSERT_EQ(whole.size(), rest.size());
    ASSERT_FALSE(rest.empty());
    for (std::size_t w = 0; w < rest.size(); ++w) EXPECT_EQ(rest[w].at(10), whole[w].at(10));
    EXPECT_EQ(continued->memory().at(10), history->memory().at(10));
    again.memory.erase(10);
    EXPECT_FALSE(resumed->keep_history(again));
  }
}

TEST_P(HistoryDevices, LeaveOutStoppedReplicas) {
  const System system = make_system({"settle", Bath::none}, tip3p(), 3);
  const State start = start_state(system, {0, 1, 2});
  const auto engine = make(system, with_fast_molecule(start)), others = make(system, start);
  const auto history = engine->keep_history(of_correlation(3, 4));
  const auto expected = others->keep_history(of_correlation(3, 4));
  const Results windows = results_of(*engine, *history, 0, 40);
  const Results all = results_of(*others, *expected, 0, 40);
  ASSERT_EQ(engine->blow_ups().size(), 1u);
  ASSERT_GE(windows.size(), 2u);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    ASSERT_EQ(windows[w].size(), 2u);
    for (const std::int64_t id : {0, 2}) EXPECT_EQ(windows[w].at(id), all[w].at(id));
  }
  EXPECT_EQ(history->memory().size(), 2u);
}

TEST_P(HistoryDevices, AreNotKeptIfTheyDoNotFit) {
  const System system = make_system({"settle", Bath::none}, tip3p(), 3);
  const auto engine = make(system, start_state(system, spread_ids(10)));
  EXPECT_FALSE(engine->keep_history(of_correlation(3, 10)));            // no replica
  EXPECT_FALSE(engine->keep_history(of_correlation(99, 100'000'000)));  // memory
  EXPECT_FALSE(engine->keep_history(of_powers(99, 40'000, system)));    // shared memory
  EXPECT_TRUE(engine->keep_history(of_powers(6, 4000, system)));
  const auto on_cpu = make_engine(system, start_state(system, {0}), {}, {"cpu", 1});
  EXPECT_FALSE(on_cpu->keep_history(of_correlation(1, 10)));
}

/// Whether frames contain positions or velocities.
class ArraysInFrames final : public Observer {
 public:
  explicit ArraysInFrames(bool& found) : found_(found) {}
  std::string name() const override { return "arrays in frames"; }
  unsigned fields() const override { return kNoFields; }
  std::int64_t every() const override { return 2; }
  void observe(const Frame& frame) override {
    found_ = found_ || !frame.positions_A.empty() || !frame.velocities_A_per_akma.empty();
  }
  void save(std::ostream&) override {}
  void load(std::istream&) override {}

 private:
  bool& found_;
};

/// Tables of a run on the device and of one on the CPU, and of runs that are interrupted and
/// resumed on the same device or on the other one.
TEST_P(HistoryDevices, GiveTheTablesOfTheCpu) {
  const Deck deck = parse_deck(
      "[system]\nmolecules = 3\nreplicas = 5\ntemperature_K = 100.0\nrecentre = true\n"
      "[integrator]\nscheme = \"settle\"\ntimestep_fs = 1.0\n[run]\nsteps = 100\n"
      "[observe.correlation]\nevery = 2\nlength_ps = 0.02\nreplicas = 4\n"
      "[observe.spectrum]\nevery = 1\nresolution_per_cm = 1500.0\n[checkpoint]\nevery = 25\n",
      "test.toml");
  const ScratchFolder folder;
  bool has_arrays = false;
  const auto run = [&](const std::string& name, const std::string& device,
                       const std::string& resumed_on = "") {
    RunOptions options = quiet_run(folder.file(name), 1);
    options.device = device;
    options.observers.push_back(
        [&](const RunInfo&) { return std::make_unique<ArraysInFrames>(has_arrays); });
    if (!resumed_on.empty()) {
      bool written = false;
      options.on_checkpoint = [&](std::int64_t step) {
        written = step >= 25;
        // Runs ask twice a second whether they are interrupted.
        std::this_thread::sleep_for(std::chrono::milliseconds(700));
      };
      options.interrupted = [&] { return written; };
      EXPECT_TRUE(run_deck(deck, options).interrupted);
      options.interrupted = {};
      options.on_checkpoint = {};
      options.resume = true;
      options.device = resumed_on;
    }
    EXPECT_FALSE(run_deck(deck, options).interrupted);
    return options.out_dir;
  };
  const std::string device = GetParam(), whole = run("whole", device);
  EXPECT_FALSE(has_arrays);
  const std::string cpu = run("cpu", "cpu");
  EXPECT_TRUE(has_arrays);
  expect_same_files(whole, run("resumed", device, device));
  for (const std::string& other :
       {whole, run("from_cpu", "cpu", device), run("to_cpu", device, "cpu")}) {
    SCOPED_TRACE(other);
    for (const std::string table : {"/correlation.csv", "/spectrum.csv"}) {
      const auto expected = columns_of(cpu + table), found = columns_of(other + table);
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, numbers] : expected) {
        EXPECT_FALSE(numbers.empty());
        // After 100 steps trajectories on both devices differ by less than this.
        expect_near(name.c_str(), found.at(name), numbers, 1e-8);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HistoryDevices, ::testing::Values("cuda"), name_of_device);

}  // namespace
}  // namespace tarn
