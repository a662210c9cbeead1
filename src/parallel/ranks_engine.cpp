#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "frame_parts.hpp"
#include "interface/exchange_places.hpp"
#include "launcher.hpp"
#include "physics/cluster_shape.hpp"
#include "rank_part.hpp"
#include "tarn/core/error.hpp"

namespace tarn::parallel {
namespace {

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
      Packer packer(messages[rank]);
      pack(system, packer);
      pack(counts, packer);
      packer.put(device.name).put(device.threads);
      packer.put(device.potential ? device.potential->recipe() : std::string{});
      pack(share, packer);
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
      Packer packer(messages[rank]);
      pack(settings, known_ids_[rank], pairs_, packer);
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
    std::vector<Words> messages(places_.size());
    for (std::size_t rank = 1; rank < places_.size(); ++rank) {
      Packer packer(messages[rank]);
      packer.put(by_rank[rank].within).put(by_rank[rank].across).put(by_rank[rank].sources);
    }
    give(OrderKind::exchange, 0, std::move(messages));
    part_.exchange(by_rank[0]);
    take_replies({});
  }

  State state() const override { return changing().gathered_state(); }
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
  /// Calls take(reply) for each reply with contents.
  template <class Take>
  void for_each_reply(Words own, const Take& take) {
    for (const Words& words : take_replies(std::move(own))) {
      Unpacker from(words);
      if (!from.is_empty()) take(from);
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
      Unpacker from(words);
      for (auto left = from.take<std::uint64_t>(); left > 0; --left) {
        parts_.push_back(unpack_part(from));
      }
      const auto description = from.take<std::string>(), arithmetic = from.take<std::string>();
      any_asynchronous_ = from.take<bool>() || any_asynchronous_;
      if (description.empty()) continue;  // a rank without replicas
      descriptions.push_back(description);
      arithmetics.push_back(arithmetic);
    }
    description_ = joined_description(descriptions);
    if (places_.size() > 1) description_ += ", " + std::to_string(places_.size()) + " ranks";
    arithmetic_ = joined_arithmetic(arithmetics);
  }

  State gathered_state() {
    wait();
    give(OrderKind::state);
    std::vector<State> shares;
    for_each_reply(part_.state_reply(),
                   [&](Unpacker& from) { shares.push_back(unpack_state(from)); });
    return joined(shares);
  }
  std::vector<BlowUp> gathered_blow_ups() {
    if (has_failed_) return blow_ups_;
    wait();
    give(OrderKind::blow_ups);
    std::vector<std::vector<BlowUp>> all;
    for_each_reply(part_.blow_ups_reply(), [&](Unpacker& from) { from.take(all.emplace_back()); });
    return blow_ups_ = joined(all);
  }
  EngineReport gathered_report() {
    if (has_failed_) return report_;
    wait();
    give(OrderKind::report);
    report_ = {};
    for_each_reply(part_.report_reply(),
                   [&](Unpacker& from) { report_ += from.take<EngineReport>(); });
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
    Words words;
    pack(devices_of_process(), words);
    transport_.send(0, Tag::reply, std::move(words));
    transport_.flush();
  }
  void make(std::int32_t number) {
    RankPart& part = parts_.try_emplace(number, transport_, place_).first->second;
    const Words words = message();
    try {
      Unpacker from(words);
      const System system = unpack_system(from);
      const PairCountRequest counts = unpack_counts(from);
      DeviceRequest device;
      from.take(device.name);
      from.take(device.threads);
      const auto recipe = from.take<std::string>();
      const State share = unpack_state(from);
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
        const Words words = message();
        Unpacker from(words);
        return part.measure_with(unpack_settings(from));
      }
      case OrderKind::advance:
        return part.begin_advance(order.value);
      case OrderKind::wait:
        part.wait();
        return part.send_reply({});
      case OrderKind::begin_frame:
        return part.begin_frame(fields);
      case OrderKind::finish_frame:
        part.finish_frame();
        return part.send_reply(part.frame_reply(fields));
      case OrderKind::frame:
        part.begin_frame(fields);
        part.finish_frame();
        return part.send_reply(part.frame_reply(fields));
      case OrderKind::exchange: {
        const Words words = message();
        Unpacker from(words);
        PartExchanges exchanges;
        from.take(exchanges.within);
        from.take(exchanges.across);
        from.take(exchanges.sources);
        part.exchange(exchanges);
        return part.send_reply({});
      }
      case OrderKind::state:
        return part.send_reply(part.state_reply());
      case OrderKind::blow_ups:
        return part.send_reply(part.blow_ups_reply());
      case OrderKind::report:
        return part.send_reply(part.report_reply());
      case OrderKind::end:
      case OrderKind::make:
      case OrderKind::drop:
      case OrderKind::devices:
      case OrderKind::signals:
        return;
    }
  }

  Transport& transport_;
  RankPlace place_;
  const std::function<int()>& caught_signal_;
  const PotentialOfRank& potential_of_rank_;
  std::map<std::int32_t, RankPart> parts_;
};

}  // namespace

std::unique_ptr<Engine> make_ranks_engine(Transport& transport,
                                          const std::vector<RankPlace>& places, int number,
                                          const System& system, const State& start,
                                          const PairCountRequest& counts,
                                          const DeviceRequest& device) {
  return std::make_unique<RanksEngine>(transport, places, number, system, start, counts, device);
}

void follow_orders(Transport& transport, const RankPlace& place,
                   const std::function<int()>& caught_signal,
                   const PotentialOfRank& potential_of_rank) {
  Follower follower(transport, place, caught_signal, potential_of_rank);
  while (true) {
    const Order order = transport.take_order();
    if (order.kind == OrderKind::end) return;
    follower.follow(order);
  }
}

}  // namespace tarn::parallel
