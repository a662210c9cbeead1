#include "fake_engine.hpp"
#include "tarn/run.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

/// Remembers at which steps it was called.
class Recorder final : public Observer {
 public:
  Recorder(std::string name, std::int64_t every, unsigned fields, std::vector<std::string>& log)
      : name_(std::move(name)), every_(every), fields_(fields), log_(log) {}

  std::string name() const override { return name_; }
  unsigned fields() const override { return fields_; }
  std::int64_t every() const override { return every_; }
  bool may_lag() const override { return lags; }
  bool reads_observers() const override { return reads_others; }
  void begin() override {}
  void observe(const Frame& frame) override {
    if (throws) throw std::runtime_error("mine");
    log_.push_back(name_ + std::to_string(frame.step));
    if (doubles_after > 0 && --doubles_after == 0) every_ *= 2;
    EXPECT_TRUE(!(fields_ & kEnergies) || !frame.energies.empty());
    count(frame);
  }
  void catch_up(const Frame& frame) override {
    log_.push_back(name_ + "-end" + std::to_string(frame.step));
    count(frame);
  }
  void save(std::ostream&) override {}
  void load(std::istream&) override {}
  void finish() override {}

  int samples() const { return samples_; }

  bool lags = false, reads_others = false, throws = false;
  int doubles_after = 0;

 private:
  void count(const Frame& frame) {
    samples_ = std::accumulate(frame.pair_samples.begin(), frame.pair_samples.end(), 0);
  }

  std::string name_;
  std::int64_t every_;
  unsigned fields_;
  std::vector<std::string>& log_;
  int samples_ = 0;
};

using Log = std::vector<std::string>;

class RunLoop : public ::testing::Test {
 protected:
  Recorder& add(const std::string& name, std::int64_t every, unsigned fields = kEnergies) {
    auto recorder = std::make_unique<Recorder>(name, every, fields, log_);
    Recorder& reference = *recorder;
    observers_.push_back(std::move(recorder));
    return reference;
  }
  void run(Engine& engine, std::int64_t last_step, bool observe_first_step = true) {
    run_loop(engine, observers_, last_step, observe_first_step, [this](std::int64_t) {
      ++between_calls_;
      return true;
    });
  }
  FakeEngine engine(FakeScript script = {}, PairCountRequest counts = {}) {
    script.advances = &advances_;
    script.snapshots = &snapshots_;
    return FakeEngine(fake_start(2, 3), counts, 0.002, script);
  }

  Log log_;
  std::vector<std::unique_ptr<Observer>> observers_;
  std::vector<std::int64_t> advances_;
  std::vector<unsigned> snapshots_;
  int between_calls_ = 0;
};

TEST_F(RunLoop, CallsEachObserverAtItsStepsInOrder) {
  add("a", 4);
  add("b", 6);
  FakeEngine e = engine();
  run(e, 13);
  EXPECT_EQ(log_, (Log{"a0", "b0", "a4", "b6", "a8", "a12", "b12"}));
  EXPECT_EQ(e.step(), 13);
  EXPECT_EQ(snapshots_.size(), 5u);  // one Frame a step, however many observers
}

TEST_F(RunLoop, AResumedRunDoesNotRepeatItsStep) {
  add("a", 4);
  FakeEngine e = engine();
  e.advance(8);
  run(e, 16, false);
  EXPECT_EQ(log_, (Log{"a12", "a16"}));
}

TEST_F(RunLoop, AsksForTheFieldsOfTheDueObserversOnly) {
  add("a", 2, kEnergies);
  add("b", 4, kPositions);
  FakeEngine e = engine();
  run(e, 4);
  EXPECT_EQ(snapshots_,
            (std::vector<unsigned>{kEnergies | kPositions, kEnergies, kEnergies | kPositions}));
}

TEST_F(RunLoop, WithoutObserversItJustAdvances) {
  FakeEngine e = engine();
  run(e, 1000);
  EXPECT_EQ(e.step(), 1000);
  EXPECT_TRUE(snapshots_.empty());
  run(e, 1000);
  EXPECT_EQ(e.step(), 1000);
}

/// Notes when steps begin.
class NotingEngine final : public FakeEngine {
 public:
  NotingEngine(const FakeEngine& engine, Log& log) : FakeEngine(engine), log_(log) {}
  void begin_advance(std::int64_t n) override {
    log_.push_back("begin" + std::to_string(step()));
    advance(n);
  }
  void wait() override { ++waits; }

  int waits = 0;

 private:
  Log& log_;
};

/// Observers that may lag receive the frame after the next steps have begun, the others before; all
/// receive it before one that reads them.
TEST_F(RunLoop, SomeObserversLag) {
  add("a", 1'000'000).lags = true;
  add("b", 1'000'000);
  add("c", 1'000'000).lags = true;
  NotingEngine noting(engine(), log_);
  run(noting, 1);
  EXPECT_EQ(log_, (Log{"b0", "begin0", "a0", "c0"}));
  log_.clear();
  add("d", 1'000'000).reads_others = true;
  NotingEngine other(engine(), log_);
  run(other, 1);
  EXPECT_EQ(log_, (Log{"a0", "b0", "c0", "d0", "begin0"}));
}

/// After an exception of an observer the engine computes no more.
TEST_F(RunLoop, WaitsForTheEngineAfterAnException) {
  Recorder& thrower = add("thrower", 5, kNoFields);
  thrower.lags = thrower.throws = true;
  NotingEngine noting(engine(), log_);
  EXPECT_THROW(run(noting, 10), std::runtime_error);
  EXPECT_EQ(log_, (Log{"begin0"}));
  EXPECT_EQ(noting.waits, 2);  // for the first frame, and at the end
}

TEST_F(RunLoop, AnObserverMayBecomeRarer) {
  add("a", 2).doubles_after = 3;
  FakeEngine e = engine();
  run(e, 14);
  EXPECT_EQ(log_, (Log{"a0", "a2", "a4", "a8", "a12"}));
}

TEST_F(RunLoop, SumsAreBroughtInAtTheLastStep) {
  PairCountRequest counts;
  counts.enabled = true;
  counts.every = 10;
  Recorder& recorder = add("c", kLastStepOnly, kPairCounts);
  FakeEngine e = engine({}, counts);
  run(e, 1005);
  EXPECT_EQ(log_, (Log{"c0", "c-end1005"}));
  EXPECT_EQ(recorder.samples(), 3 * 101);
}

TEST_F(RunLoop, StopsTwiceASecondAndGrowsItsChunks) {
  FakeEngine e = engine({.seconds_per_step = 0.002});
  run(e, 800);  // 1.6 s or, on a busy machine, more
  EXPECT_GE(between_calls_, 2);
  EXPECT_EQ(advances_.front(), 1);
  for (std::size_t k = 1; k < advances_.size(); ++k) {
    EXPECT_LE(advances_[k], 2 * advances_[k - 1]);  // fewer after a step that was held up
  }
  const std::int64_t longest = *std::max_element(advances_.begin(), advances_.end());
  EXPECT_GE(longest, 4);
  EXPECT_LE(longest, 130);  // a quarter of a second
  EXPECT_EQ(std::accumulate(advances_.begin(), advances_.end(), std::int64_t{0}), 800);
}

TEST_F(RunLoop, StopsOnRequest) {
  Recorder& recorder = add("c", kLastStepOnly, kPairCounts);
  PairCountRequest counts;
  counts.enabled = true;
  counts.every = 1;
  FakeEngine e = engine({.seconds_per_step = 0.02}, counts);
  std::int64_t stopped_at = 0;
  run_loop(e, observers_, 1'000'000, true, [&](std::int64_t step) {
    stopped_at = step;
    return false;
  });
  EXPECT_GT(stopped_at, 0);
  EXPECT_EQ(e.step(), stopped_at);
  EXPECT_EQ(recorder.samples(), 3 * (stopped_at + 1));
}

}  // namespace
}  // namespace tarn
