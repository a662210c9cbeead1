#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "core/processors.hpp"
#include "engine/device_engine.hpp"
#include "frame_parts.hpp"
#include "interface/exchange_places.hpp"
#include "interface/measure.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/engine.hpp"

namespace tarn {
namespace parallel {
namespace {

/// A thread that works in order.
class PartThread {
 public:
  PartThread() : thread_([this] { serve(); }) {}
  PartThread(const PartThread&) = delete;
  PartThread& operator=(const PartThread&) = delete;
  /// Completes the work first.
  ~PartThread() {
    post({});
    thread_.join();
  }

  /// After an exception, work is skipped until join().
  void post(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  /// Waits for all work. @return the first exception since the last join(), or null
  std::exception_ptr join() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return work_.empty(); });
    return std::exchange(failure_, nullptr);
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !work_.empty(); });
      const std::function<void()> next = std::move(work_.front());
      if (!next) return;
      std::exception_ptr thrown = failure_;
      lock.unlock();
      try {
        if (!thrown) next();
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      failure_ = thrown;
      work_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;  ///< the first is in progress; empty: ends the thread
  std::exception_ptr failure_;
  std::thread thread_;  ///< uses the members above
};

/// A part is used on its own thread only: engines keep threads and devices by thread.
struct Part {
  PartThread thread;
  std::unique_ptr<Engine> engine;

  ~Part() {
    thread.post([this] { engine.reset(); });
    thread.join();
  }
};

class SplitEngine final : public Engine {
 public:
  SplitEngine(const System& system, const State& start, const std::vector<PartMaker>& makers,
              int threads)
      : flexible_(system.model.is_flexible()),
        threads_(threads > 0 ? threads : default_threads()),
        step_(start.step) {
    const std::size_t replicas = start.replica_ids.size();
    const std::size_t count = std::clamp<std::size_t>(replicas, 1, makers.size());
    const std::vector<std::size_t> begins = share_begins(replicas, count, system);
    places_.reserve(replicas);
    for (std::size_t p = 0; p < count; ++p) {
      parts_.push_back(std::make_unique<Part>());
      for (std::size_t r = begins[p]; r < begins[p + 1]; ++r) places_.add(start.replica_ids[r], p);
    }
    frames_.resize(count);
    descriptions_.resize(count);
    arithmetics_.resize(count);
    devices_.resize(makers.size());
    for (std::size_t p = count; p < makers.size(); ++p) devices_[p].device = "not used";
    for_each_part([&](std::size_t p) {
      const State share = share_of(start, begins[p], begins[p + 1]);
      parts_[p]->engine = makers[p](share);
      const Engine& engine = *parts_[p]->engine;
      descriptions_[p] = engine.description();
      arithmetics_[p] = engine.arithmetic();
      devices_[p] = engine.parts().front();
      put_replicas(share.replica_ids, devices_[p]);
    });
  }

  void advance(std::int64_t n_steps) override {
    begin_advance(n_steps);
    wait();
  }
  void begin_advance(std::int64_t n_steps) override {
    if (n_steps <= 0) return;
    for (const auto& part : parts_) {
      part->thread.post([engine = part->engine.get(), n_steps] {
        engine->begin_advance(n_steps);
        if (!engine->is_asynchronous()) engine->wait();
      });
    }
    step_ += n_steps;
  }
  void wait() override {
    for_each_part([this](std::size_t p) { engine(p).wait(); });
  }
  std::int64_t step() const override { return step_; }

  void measure_with(const MeasureSettings& settings) override {
    groups_ = ReplicaGroups(settings.moment_groups);
    for_each_part([&](std::size_t p) { engine(p).measure_with(settings); });
  }

  void snapshot(unsigned fields, Frame& frame) override {
    for_each_part([&](std::size_t p) { engine(p).snapshot(fields_of_parts(fields), frames_[p]); });
    join(fields, frame);
  }
  bool begin_snapshot(unsigned fields) override {
    if (!is_asynchronous()) return false;
    std::vector<char> begun(parts_.size());
    for_each_part(
        [&](std::size_t p) { begun[p] = engine(p).begin_snapshot(fields_of_parts(fields)); });
    fields_ = fields;
    // Parts of one kind agree.
    return std::all_of(begun.begin(), begun.end(), [](char yes) { return yes != 0; });
  }
  void finish_snapshot(Frame& frame) override {
    for_each_part([this](std::size_t p) { engine(p).finish_snapshot(frames_[p]); });
    join(fields_, frame);
  }

  void exchange(std::span<const StateExchange> pairs) override {
    if (pairs.empty()) return;
    refuse_stopped(pairs, blow_ups());
    const auto parts_of_pairs = exchange_places(pairs, places_);
    const std::vector<PartExchanges> by_part =
        divide_exchanges(pairs, parts_of_pairs, parts_.size());
    std::vector<std::vector<double>> taken(parts_.size());
    for_each_part([&](std::size_t p) {
      if (!by_part[p].across.empty()) taken[p] = engine(p).take_coordinates(by_part[p].leaving());
    });
    for_each_part([&](std::size_t p) {
      const PartExchanges& mine = by_part[p];
      if (!mine.within.empty()) engine(p).exchange(mine.within);
      std::vector<double> received;
      for (const auto& [part, place] : mine.sources) {
        const std::size_t size = taken[part].size() / by_part[part].across.size();
        append_part(taken[part], place, size, received);
      }
      if (!mine.across.empty()) engine(p).put_coordinates(mine.across, received);
    });
  }

  std::vector<double> take_coordinates(std::span<const std::int64_t> replica_ids) const override {
    const auto of_parts = places_by_part(replica_ids);
    std::vector<std::vector<double>> taken(parts_.size());
    for_each_part([&](std::size_t p) {
      std::vector<std::int64_t> own;
      for (const std::size_t k : of_parts[p]) own.push_back(replica_ids[k]);
      if (!own.empty()) taken[p] = engine(p).take_coordinates(own);
    });
    std::vector<double> all;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (taken[p].empty()) continue;
      const std::size_t size = taken[p].size() / of_parts[p].size();
      all.resize(replica_ids.size() * size);
      for (std::size_t i = 0; i < of_parts[p].size(); ++i) {
        std::copy_n(&taken[p][i * size], size, &all[of_parts[p][i] * size]);
      }
    }
    return all;
  }
  void put_coordinates(std::span<const ReceivedCoordinates> replicas,
                       std::span<const double> numbers) override {
    std::vector<std::int64_t> ids;
    for (const ReceivedCoordinates& received : replicas) ids.push_back(received.replica);
    const auto of_parts = places_by_part(ids);
    const std::size_t size = numbers.size() / std::max<std::size_t>(replicas.size(), 1);
    for_each_part([&](std::size_t p) {
      std::vector<ReceivedCoordinates> own;
      std::vector<double> own_numbers;
      for (const std::size_t k : of_parts[p]) {
        own.push_back(replicas[k]);
        const auto from = numbers.subspan(k * size, size);
        own_numbers.insert(own_numbers.end(), from.begin(), from.end());
      }
      if (!own.empty()) engine(p).put_coordinates(own, own_numbers);
    });
  }

  State state() const override {
    std::vector<State> shares(parts_.size());
    for_each_part([&](std::size_t p) { shares[p] = engine(p).state(); });
    return joined(shares);
  }
  std::function<State()> begin_state() const override {
    std::vector<std::function<State()>> copies(parts_.size());
    for_each_part([&](std::size_t p) { copies[p] = engine(p).begin_state(); });
    return [all = std::move(copies)] {
      std::vector<State> shares;
      for (const std::function<State()>& copy : all) shares.push_back(copy());
      return joined(shares);
    };
  }
  std::vector<BlowUp> blow_ups() const override {
    std::vector<std::vector<BlowUp>> of_parts(parts_.size());
    for_each_part([&](std::size_t p) { of_parts[p] = engine(p).blow_ups(); });
    return joined(of_parts);
  }
  EngineReport report() const override {
    std::vector<EngineReport> of_parts(parts_.size());
    for_each_part([&](std::size_t p) { of_parts[p] = engine(p).report(); });
    EngineReport sum;
    for (const EngineReport& report : of_parts) sum += report;
    return sum;
  }
  std::string description() const override { return joined_description(descriptions_); }
  std::string arithmetic() const override { return joined_arithmetic(arithmetics_); }
  bool is_asynchronous() const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const auto& part) { return part->engine->is_asynchronous(); });
  }
  std::vector<EnginePart> parts() const override { return devices_; }

 private:
  Engine& engine(std::size_t p) const { return *parts_[p]->engine; }
  /// The places of each part's replicas in a list. @throws InputError for a replica of no part
  std::vector<std::vector<std::size_t>> places_by_part(std::span<const std::int64_t> ids) const {
    ReplicaPlaces<std::size_t> all = places_;
    std::vector<std::vector<std::size_t>> places(parts_.size());
    for (std::size_t k = 0; k < ids.size(); ++k) places[place_of(ids[k], all)].push_back(k);
    return places;
  }
  /// Calls f(p) on the thread of each part and waits for all. The first exception, in the order of
  /// the parts, is rethrown.
  template <class F>
  void for_each_part(const F& f) const {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      parts_[p]->thread.post([&f, p] { f(p); });
    }
    std::exception_ptr first;
    for (const auto& part : parts_) {
      const std::exception_ptr thrown = part->thread.join();
      if (!first) first = thrown;
    }
    if (first) std::rethrow_exception(first);
  }
  void join(unsigned fields, Frame& frame) {
    join_frames(frames_, fields, flexible_, groups_, threads_, frame);
  }

  bool flexible_;
  int threads_;
  std::int64_t step_;
  ReplicaPlaces<std::size_t> places_;  ///< parts of the replicas
  ReplicaGroups groups_;
  std::vector<Frame> frames_;  ///< [part]
  std::vector<std::string> descriptions_, arithmetics_;
  std::vector<EnginePart> devices_;
  unsigned fields_ = kNoFields;  ///< of the last begin_snapshot()
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace
}  // namespace parallel

std::unique_ptr<Engine> make_split_engine(const System& system, const State& start,
                                          const std::vector<PartMaker>& makers, int threads) {
  if (makers.empty()) throw std::invalid_argument("make_split_engine: no parts");
  check_start(system, start, {});
  return std::make_unique<parallel::SplitEngine>(system, start, makers, threads);
}

std::unique_ptr<Engine> make_engine(const System& system, const State& start,
                                    const PairCountRequest& counts, const DeviceRequest& device) {
  check_start(system, start, counts);
  refuse_cuda(system, device);
  std::optional<CudaDevices> devices = parse_cuda_devices(device.name);
  if (devices && devices->all) {
    check_device("cuda:all");
    devices->indices.resize(probe_devices().devices.size());
    std::iota(devices->indices.begin(), devices->indices.end(), 0);
  }
  if (!devices || (!devices->all && devices->indices.size() == 1)) {
    return make_device_engine(system, start, counts, device);
  }
  const int threads = device.threads > 0 ? device.threads : default_threads();
  const int each = std::max(1, threads / static_cast<int>(devices->indices.size()));
  std::vector<PartMaker> makers;
  for (const int index : devices->indices) {
    makers.emplace_back([&, index](const State& share) {
      return make_device_engine(system, share, counts, {"cuda:" + std::to_string(index), each});
    });
  }
  return make_split_engine(system, start, makers, threads);
}

}  // namespace tarn
