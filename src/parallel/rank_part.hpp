#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "frame_parts.hpp"
#include "tarn/engine.hpp"
#include "tarn/ranks.hpp"
#include "transport.hpp"

namespace tarn::parallel {

/// The part of one rank in an engine that all ranks share: its own engine, and what it sends to the
/// others. Each function is called on all ranks, in the same order.
///
/// Exceptions are kept and reported to rank 0 with the next reply.
class RankPart {
 public:
  RankPart(Transport& transport, const RankPlace& place) : transport_(transport), place_(place) {}

  /// Makes the engine; none without replicas.
  void make(const System& system, const State& share, const PairCountRequest& counts,
            const DeviceRequest& device);
  /// Reports it with the next reply.
  void keep_exception(std::exception_ptr failure) { failure_ = std::move(failure); }
  void measure_with(const MeasureSettings& settings);
  void begin_advance(std::int64_t n_steps);
  /// @param fields of the whole engine's frame
  void begin_frame(unsigned fields);
  void finish_frame();
  void exchange(const PartExchanges& exchanges);

  // --- replies: every rank sends one, and rank 0 takes those of all ranks ---

  /// Sends rows to the ranks that add them up, adds counts and returns what rank 0 still needs.
  Words frame_reply(unsigned fields);
  Words parts_reply() const;
  /// @param query state, blow_ups or report
  Words reply_to(OrderKind query);
  void wait();
  /// Sends a reply, or the exception that was kept.
  void send_reply(Words reply);
  /// On rank 0: the replies of all ranks. @throws the exception of the first rank that has one
  std::vector<Words> take_replies(Words own, const std::vector<RankPlace>& places);

  bool is_asynchronous() const { return engine_ && engine_->is_asynchronous(); }
  /// The frame of this rank after frame_reply(), with the counts of all ranks on rank 0.
  Frame take_frame() { return std::exchange(frame_, {}); }

 private:
  /// Calls f() and keeps its exception.
  template <class F>
  void compute(const F& f);
  /// Calls f(engine) if there is an engine and no exception has been kept.
  template <class F>
  void attempt(const F& f) {
    if (engine_ && !failure_) compute([&] { f(*engine_); });
  }
  void reduce_rows(unsigned moments);

  Transport& transport_;
  RankPlace place_;
  std::unique_ptr<Engine> engine_;
  std::exception_ptr failure_;
  bool flexible_ = false;
  int threads_ = 1;
  PairCountRequest counts_;
  MeasureSettings settings_;
  ReplicaGroups groups_;
  Frame frame_;
  Frame sums_;                           ///< moments of the groups that this rank adds up
  bool has_begun_ = false;               ///< a frame of the engine
  std::vector<std::int64_t> known_ids_;  ///< running replicas that rank 0 knows
};

/// Takes the moments of the groups that each rank added up, and the rows, from the replies.
/// @param known_ids [rank] running replicas, updated
/// @param own frame of rank 0, with the counts of all ranks
void join_replies(const std::vector<Words>& replies, unsigned fields,
                  const MeasureSettings& settings, Frame own,
                  std::vector<std::vector<std::int64_t>>& known_ids, Frame& whole);

}  // namespace tarn::parallel
