#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/packing.hpp"
#include "tarn/core/error.hpp"
#include "tarn/ranks.hpp"

namespace tarn::parallel {

/// What rank 0 asks the other ranks to do.
enum class OrderKind : std::int32_t {
  end,           ///< leave serve()
  drop,          ///< destroy an engine
  measure,       ///< measure_with(), from a message
  advance,       ///< begin an advance
  begin_frame,   ///< of these fields, on devices that work while they are measured
  make,          ///< an engine, from a message
  wait,          ///< complete an advance
  finish_frame,  ///< complete a frame
  frame,         ///< both
  exchange,      ///< from a message
  state,
  blow_ups,
  report,
  devices,  ///< list those of the process
  signals   ///< those caught
};
/// Whether all ranks reply to an order.
inline bool has_reply(OrderKind kind) { return kind >= OrderKind::make; }
struct Order {
  OrderKind kind = OrderKind::end;
  std::int32_t engine = 0;
  std::int64_t value = 0;  ///< steps or fields
};

/// Messages for different purposes do not overtake or meet each other.
enum class Tag : int { order, reply, rows, exchange };

/// An engine that may have begun a frame.
class FrameOwner {
 public:
  virtual ~FrameOwner() = default;
  /// Completes a frame that was begun, and keeps it.
  virtual void keep_frame() = 0;
};

/// Messages between ranks. All waiting is by polling, first often and then with pauses: ranks may
/// share processors. A failed connection ends the program.
class Transport {
 public:
  virtual ~Transport() = default;
  RankPlace place;  ///< of this rank, without processors and threads
  int size = 1;
  int processors_of_node = 1;  ///< that the ranks on this node may use together
  /// Whether ranks on this node must share processors: waiting ranks then pause early.
  bool shares_processors = false;
  virtual std::string library() const = 0;

  /// Rank 0: gives an order to all others, without waiting for them.
  virtual void give(const Order& order) = 0;
  /// The engine whose frame must be completed before other orders are given; null: none.
  FrameOwner* frame_owner = nullptr;
  /// True while rank 0 has not taken all replies to an order. If an exception ends the object then,
  /// it ends all ranks: they would wait without end.
  bool awaits_replies = false;
  /// True while the engine of this rank computes. Rank 0 gives no orders then: the others may not
  /// have replied to the last one.
  bool is_computing = false;
  /// Ends all ranks. @param exit_code of this process
  [[noreturn]] virtual void abort(int exit_code) = 0;
  virtual Order take_order() = 0;

  /// Starts to send a message to another rank. Messages to one rank with one tag arrive in order.
  virtual void send(int to, Tag tag, Words words) = 0;
  virtual Words receive(int from, Tag tag) = 0;
  /// @throws InputError for a message that is too large for MPI
  static void check_size(const Words& words) {
    if (words.size() <= 0x7fffffff) return;
    throw InputError("a message between two ranks has more than 16 GiB; use more ranks");
  }
  /// Waits until all messages have been sent.
  virtual void flush() = 0;

  // On all ranks together, in the same order:
  /// @return on rank 0 the value of each rank, otherwise nothing
  virtual std::vector<std::int64_t> gather(std::int64_t value) = 0;
  /// Replaces the values of rank 0 by the sums over all ranks, modulo 2^64.
  virtual void add_up(std::span<std::uint64_t> values) = 0;
};

/// Starts MPI. @return null if it sees a single process
std::unique_ptr<Transport> start_mpi();
/// @param fortran_handle of a communicator
std::unique_ptr<Transport> use_communicator(int fortran_handle);
/// Whether this build has MPI; the functions above throw InputError otherwise.
bool has_mpi();

}  // namespace tarn::parallel
