#include "tarn/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/processors.hpp"
#include "frame_parts.hpp"
#include "interface/exchange_places.hpp"
#include "interface/measure.hpp"
#include "launcher.hpp"
#include "messages.hpp"
#include "physics/cluster_shape.hpp"
#include "rank_part.hpp"
#include "tarn/core/error.hpp"
#include "tarn/version.hpp"
#include "transport.hpp"

namespace tarn {
namespace parallel {
namespace {

/// Number of processors, limited by the quota of the process's control group.
int within_quota(int processors) {
  const int all = std::max(1, processors);
  const double quota = quota_of_control_group("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota > 0.0 ? std::clamp(static_cast<int>(std::ceil(quota)), 1, all) : all;
}

/// Threads of a rank: OMP_NUM_THREADS, or an equal share of the node's processors, but not more
/// than the process may use.
int default_threads_of_rank(int processors, int processors_of_node, int ranks_on_node) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return default_threads();
  return std::clamp(processors_of_node / std::max(1, ranks_on_node), 1, std::max(1, processors));
}

class RanksEngine final : public Engine, private FrameOwner {
 public:
  RanksEngine(Transport& transport, const std::vector<RankPlace>& places, int number,
              const System& system, const State& start, const PairCountRequest& counts,
              DeviceRequest device)
      : transport_(transport),
        places_(places),
        number_(number),
        pairs_(static_cast<std::size_t>(molecule_pairs(system.molecules))),
        part_(transport, places.front()),
        step_(start.step) {
    const std::size_t ranks = places.size();
    const std::vector<std::size_t> begins = share_begins(start.replica_ids.size(), ranks, system);
    if (device.name == "auto" && !device.potential) {
      device.name = auto_device(system, start.replicas(), device.threads).name;
    }
    replica_ranks_.reserve(start.replica_ids.size());
    State own;
    std::vector<Words> messages(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      State share = share_of(start, begins[rank], begins[rank + 1]);
      for (const std::int64_t id : share.replica_ids) replica_ranks_.add(id, rank);
      known_ids_.push_back(share.replica_ids);
      if (rank == 0) {
        own = std::move(share);
        continue;
      }
      messages[rank] = packed(system, counts, device.name, device.threads,
                              device.potential ? device.potential->recipe() : std::string{}, share);
    }
    give(OrderKind::make, 0, std::move(messages));
    part_.make(system, own, counts, device);
    try {
      take_parts();
      refuse_shared_devices(device.name, parts_);
    } catch (...) {
      give(OrderKind::drop);
      throw;
    }
  }

  ~RanksEngine() override {
    keep_frame();
    give(OrderKind::drop);
  }

  void advance(std::int64_t n_steps) override {
    begin_advance(n_steps);
    wait();
  }
  void begin_advance(std::int64_t n_steps) override {
    if (n_steps <= 0) return;
    give(OrderKind::advance, n_steps);
    part_.begin_advance(n_steps);
    step_ += n_steps;
    is_busy_ = true;
  }
  void wait() override {
    keep_frame();
    throw_frame_failure();
    if (!is_busy_) return;
    is_busy_ = false;
    give(OrderKind::wait);
    part_.wait();
    take_replies({});
  }
  std::int64_t step() const override { return step_; }

  void measure_with(const MeasureSettings& settings) override {
    wait();
    settings_ = settings;
    settings_.lindemann_sums = {};
    std::vector<Words> messages(places_.size());
    for (std::size_t rank = 1; rank < places_.size(); ++rank) {
      MeasureSettings of_rank = settings_;
      put_sums(settings.lindemann_sums, known_ids_[rank], of_rank.lindemann_sums);
      messages[rank] = packed(of_rank);
    }
    give(OrderKind::measure, 0, std::move(messages));
    part_.measure_with(settings);
  }

  void snapshot(unsigned fields, Frame& frame) override {
    wait();
    give(OrderKind::frame, fields);
    part_.begin_frame(fields);
    part_.finish_frame();
    take_frame(fields, frame);
  }
  bool begin_snapshot(unsigned fields) override {
    if ((fields & ~(kRowFields | kGroupFields)) != 0) return false;
    keep_frame();
    // All ranks reply to the same order: ranks wait for the rows of others.
    give(any_asynchronous_ ? OrderKind::begin_frame : OrderKind::frame, fields);
    part_.begin_frame(fields);
    begun_fields_ = fields;
    transport_.frame_owner = this;
    return true;
  }
  void finish_snapshot(Frame& frame) override {
    keep_frame();
    throw_frame_failure();
    std::swap(frame, kept_frame_);
  }

  void exchange(std::span<const StateExchange> pairs) override {
    if (pairs.empty()) return;
    wait();
    refuse_stopped(pairs, blow_ups());
    const auto ranks_of_pairs = exchange_places(pairs, replica_ranks_);
    const std::vector<PartExchanges> by_rank =
        divide_exchanges(pairs, ranks_of_pairs, places_.size());
    std::vector<Words> messages;
    for (const PartExchanges& of_rank : by_rank) messages.push_back(packed(of_rank));
    give(OrderKind::exchange, 0, std::move(messages));
    part_.exchange(by_rank[0]);
    take_replies({});
  }

  State state() const override { return joined(changing().answers<State>(OrderKind::state)); }
  std::vector<BlowUp> blow_ups() const override { return changing().gathered_blow_ups(); }
  EngineReport report() const override { return changing().gathered_report(); }
  std::string description() const override { return description_; }
  std::string arithmetic() const override { return arithmetic_; }
  std::vector<EnginePart> parts() const override { return parts_; }

 private:
  /// For queries: their messages change no state that a caller can see.
  RanksEngine& changing() const { return const_cast<RanksEngine&>(*this); }
  /// @param messages [rank] that belong to the order; packed before, so that an exception leaves
  ///                 no rank waiting
  void give(OrderKind kind, std::int64_t value = 0, std::vector<Words> messages = {}) {
    if (transport_.frame_owner != nullptr && transport_.frame_owner != this) {
      transport_.frame_owner->keep_frame();
    }
    for (const Words& words : messages) Transport::check_size(words);
    transport_.awaits_replies = transport_.awaits_replies || has_reply(kind);
    transport_.give({kind, number_, value});
    for (std::size_t rank = 1; rank < messages.size(); ++rank) {
      transport_.send(static_cast<int>(rank), Tag::order, std::move(messages[rank]));
    }
  }

  /// Takes the replies of all ranks. After an error other than a wrong argument the ranks are at
  /// different steps, and only the last known reports are available.
  std::vector<Words> take_replies(Words own) {
    try {
      return part_.take_replies(std::move(own), places_);
    } catch (const InputError&) {
      throw;
    } catch (...) {
      has_failed_ = true;
      throw;
    }
  }
  /// Gives a query. @return the answers of the ranks with replicas
  template <class T>
  std::vector<T> answers(OrderKind query) {
    wait();
    give(query);
    std::vector<T> all;
    for (const Words& words : take_replies(part_.reply_to(query))) {
      if (!words.empty()) unpack(words, all.emplace_back());
    }
    return all;
  }
  /// The sums of the replicas of a rank.
  void put_sums(const LindemannSums& all, const std::vector<std::int64_t>& ids,
                LindemannSums& of_rank) const {
    of_rank.samples = all.samples;
    const std::set<std::int64_t> wanted(ids.begin(), ids.end());
    for (std::size_t r = 0; r < all.replica_ids.size(); ++r) {
      if (!wanted.contains(all.replica_ids[r])) continue;
      of_rank.replica_ids.push_back(all.replica_ids[r]);
      append_part(all.means_A, r, pairs_, of_rank.means_A);
      append_part(all.squares_A2, r, pairs_, of_rank.squares_A2);
    }
  }
  void take_frame(unsigned fields, Frame& frame) {
    Words own = part_.frame_reply(fields);
    const std::vector<Words> replies = take_replies(std::move(own));
    join_replies(replies, fields, settings_, part_.take_frame(), known_ids_, frame);
  }
  void keep_frame() override {
    if (transport_.frame_owner != this) return;
    transport_.frame_owner = nullptr;
    try {
      if (any_asynchronous_) give(OrderKind::finish_frame, begun_fields_);
      part_.finish_frame();
      take_frame(begun_fields_, kept_frame_);
    } catch (...) {
      frame_failure_ = std::current_exception();
    }
  }

  void throw_frame_failure() {
    if (frame_failure_) std::rethrow_exception(std::exchange(frame_failure_, nullptr));
  }

  void take_parts() {
    std::vector<std::string> descriptions, arithmetics;
    for (const Words& words : take_replies(part_.parts_reply())) {
      std::vector<EnginePart> parts;
      std::string description, arithmetic;
      bool is_asynchronous = false;
      unpack(words, parts, description, arithmetic, is_asynchronous);
      parts_.insert(parts_.end(), parts.begin(), parts.end());
      any_asynchronous_ = is_asynchronous || any_asynchronous_;
      if (description.empty()) continue;  // a rank without replicas
      descriptions.push_back(description);
      arithmetics.push_back(arithmetic);
    }
    description_ = joined_description(descriptions);
    if (places_.size() > 1) description_ += ", " + std::to_string(places_.size()) + " ranks";
    arithmetic_ = joined_arithmetic(arithmetics);
  }

  std::vector<BlowUp> gathered_blow_ups() {
    if (has_failed_) return blow_ups_;
    return blow_ups_ = joined(answers<std::vector<BlowUp>>(OrderKind::blow_ups));
  }
  EngineReport gathered_report() {
    if (has_failed_) return report_;
    const auto all = answers<EngineReport>(OrderKind::report);
    report_ = {};
    for (const EngineReport& of_rank : all) report_ += of_rank;
    return report_;
  }

  Transport& transport_;
  const std::vector<RankPlace>& places_;
  int number_;
  std::size_t pairs_;
  RankPart part_;
  std::int64_t step_;
  MeasureSettings settings_;
  ReplicaPlaces<std::size_t> replica_ranks_;
  std::vector<std::vector<std::int64_t>> known_ids_;  ///< [rank] running replicas
  std::vector<EnginePart> parts_;
  std::string description_, arithmetic_;
  bool any_asynchronous_ = false;
  bool is_busy_ = false, has_failed_ = false;
  unsigned begun_fields_ = kNoFields;
  Frame kept_frame_;  ///< that was begun
  std::exception_ptr frame_failure_;
  std::vector<BlowUp> blow_ups_;  ///< last known
  EngineReport report_;
};

/// The engines of a rank that follows orders.
class Follower {
 public:
  Follower(Transport& transport, const RankPlace& place, const std::function<int()>& caught_signal,
           const PotentialOfRank& potential_of_rank)
      : transport_(transport),
        place_(place),
        caught_signal_(caught_signal),
        potential_of_rank_(potential_of_rank) {}

  void follow(const Order& order) {
    if (order.kind == OrderKind::devices) {
      list_devices();
    } else if (order.kind == OrderKind::signals) {
      transport_.gather(caught_signal_ ? caught_signal_() : 0);
    } else if (order.kind == OrderKind::make) {
      make(order.engine);
    } else if (order.kind == OrderKind::drop) {
      parts_.erase(order.engine);
    } else {
      follow(order, parts_.at(order.engine));
    }
  }

 private:
  Words message() { return transport_.receive(0, Tag::order); }

  void list_devices() {
    transport_.send(0, Tag::reply, packed(devices_of_process()));
    transport_.flush();
  }
  void make(std::int32_t number) {
    RankPart& part = parts_.try_emplace(number, transport_, place_).first->second;
    const Words words = message();
    try {
      System system;
      PairCountRequest counts;
      DeviceRequest device;
      std::string recipe;
      State share;
      unpack(words, system, counts, device.name, device.threads, recipe, share);
      if (!recipe.empty() && share.replicas() > 0) device.potential = potential(recipe);
      part.make(system, share, counts, device);
    } catch (...) {  // no memory for the state
      part.keep_exception(std::current_exception());
    }
    part.send_reply(part.parts_reply());
  }
  std::shared_ptr<Potential> potential(const std::string& recipe) const {
    if (potential_of_rank_) return potential_of_rank_(recipe, place_.rank);
    throw InputError("this rank cannot make a potential; see Ranks::serve()");
  }
  void follow(const Order& order, RankPart& part) {
    const auto fields = static_cast<unsigned>(order.value);
    switch (order.kind) {
      case OrderKind::measure: {
        MeasureSettings settings;
        unpack(message(), settings);
        return part.measure_with(settings);
      }
      case OrderKind::advance:
        return part.begin_advance(order.value);
      case OrderKind::wait:
        part.wait();
        return part.send_reply({});
      case OrderKind::begin_frame:
        return part.begin_frame(fields);
      case OrderKind::frame:
        part.begin_frame(fields);
        [[fallthrough]];
      case OrderKind::finish_frame:
        part.finish_frame();
        return part.send_reply(part.frame_reply(fields));
      case OrderKind::exchange: {
        PartExchanges exchanges;
        unpack(message(), exchanges);
        part.exchange(exchanges);
        return part.send_reply({});
      }
      default:  // a query
        return part.send_reply(part.reply_to(order.kind));
    }
  }

  Transport& transport_;
  RankPlace place_;
  const std::function<int()>& caught_signal_;
  const PotentialOfRank& potential_of_rank_;
  std::map<std::int32_t, RankPart> parts_;
};

class TransportRanks final : public Ranks {
 public:
  TransportRanks(std::unique_ptr<Transport> transport, const LaunchedTask& task)
      : transport_(std::move(transport)) {
    place_ = transport_->place;
    place_.processors = processors();
    const int of_node = within_quota(transport_->processors_of_node);
    place_.threads = default_threads_of_rank(place_.processors, of_node, place_.ranks_on_node);
    transport_->shares_processors = place_.threads * place_.ranks_on_node > of_node;
    if (rank() == 0) {
      take_places(task);
    } else {
      report_place(task);
    }
  }
  ~TransportRanks() override {
    if (rank() == 0) transport_->give({OrderKind::end});
  }

  int rank() const override { return place_.rank; }
  int size() const override { return transport_->size; }
  std::string library() const override { return transport_->library(); }

  void abort(int exit_code) override { transport_->abort(exit_code); }
  void serve(const std::function<int()>& caught_signal,
             const PotentialOfRank& potential_of_rank) override {
    Follower follower(*transport_, place_, caught_signal, potential_of_rank);
    for (Order order; (order = transport_->take_order()).kind != OrderKind::end;) {
      follower.follow(order);
    }
  }

  std::vector<RankPlace> places() const override { return places_; }
  std::vector<RankPlace> find_devices() override {
    give(OrderKind::devices);
    places_[0].devices = devices_of_process();
    for (std::size_t r = 1; r < places_.size(); ++r) {
      unpack(transport_->receive(static_cast<int>(r), Tag::reply), places_[r].devices);
    }
    return places_;
  }
  int signal_of_others() override {
    if (size() == 1 || transport_->is_computing) return 0;
    give(OrderKind::signals);
    return static_cast<int>(std::ranges::max(transport_->gather(0)));
  }
  std::unique_ptr<Engine> make_engine(const System& system, const State& start,
                                      const PairCountRequest& counts,
                                      const DeviceRequest& device) override {
    check_start(system, start, counts);
    if (size() == 1) return tarn::make_engine(system, start, counts, device);
    if (device.potential && device.potential->recipe().empty()) {
      throw InputError("the potential '" + device.potential->name() +
                       "' exists on one MPI rank only; start the program without mpirun, or use a "
                       "shared library");
    }
    return std::make_unique<RanksEngine>(*transport_, places_, next_engine_++, system, start,
                                         counts, device);
  }

 private:
  static std::string program() {
    return std::string(kVersion) + ", " + std::to_string(sizeof(System)) + " bytes";
  }
  void give(OrderKind kind) {
    if (transport_->frame_owner != nullptr) transport_->frame_owner->keep_frame();
    transport_->give({kind});
  }
  void report_place(const LaunchedTask& task) {
    transport_->send(0, Tag::reply, packed(program(), place_, task));
    transport_->flush();
  }
  void take_places(const LaunchedTask& task) {
    places_.push_back(place_);
    std::string problem;
    for (int r = 1; r < size(); ++r) {
      std::string other;
      RankPlace place;
      LaunchedTask other_task;
      unpack(transport_->receive(r, Tag::reply), other, place, other_task);
      places_.push_back(place);
      if (other != program() && problem.empty()) {
        problem = "rank " + std::to_string(r) + " on " + place.host + " runs tarn " + other +
                  ", but rank 0 on " + place_.host + " runs tarn " + program() +
                  "; start the same program everywhere";
      }
      if (problem.empty()) problem = difference_message(other_task, place, task, place_);
    }
    if (problem.empty()) return;
    // The others exit with 0: mpirun would end rank 0 after another exit code, before its message.
    transport_->give({OrderKind::end});
    throw InputError(problem);
  }

  std::unique_ptr<Transport> transport_;
  RankPlace place_;
  std::vector<RankPlace> places_;  ///< on rank 0
  int next_engine_ = 0;
};

}  // namespace
}  // namespace parallel

std::unique_ptr<Ranks> Ranks::launched(const LaunchedTask& task) {
  const parallel::Launch launch = parallel::launch_of_process();
  if (launch.size < 2) return nullptr;
  std::unique_ptr<parallel::Transport> transport;
  if (parallel::has_mpi()) transport = parallel::start_mpi();
  if (!transport) {
    throw InputError(parallel::separate_processes_message(launch, parallel::has_mpi()));
  }
  return std::make_unique<parallel::TransportRanks>(std::move(transport), task);
}

std::unique_ptr<Ranks> Ranks::of_communicator(int fortran_handle) {
  return std::make_unique<parallel::TransportRanks>(parallel::use_communicator(fortran_handle),
                                                    LaunchedTask{});
}

}  // namespace tarn
