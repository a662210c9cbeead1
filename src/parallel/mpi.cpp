#include "tarn/core/error.hpp"
#include "transport.hpp"

#if defined(TARN_HAVE_MPI)

#include <array>
#include <chrono>
#include <cstdlib>
#include <list>
#include <sched.h>
#include <string>
#include <thread>
#include <utility>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "core/threads.hpp"

namespace tarn::parallel {
namespace {

/// A wait that polls: at first without pause, then giving way to other processes, then sleeping.
class Patience {
 public:
  explicit Patience(bool shares) : polls_left_(shares ? 0 : kPolls) {}
  void pause() {
    if (polls_left_ > 0) {
      --polls_left_;
      return spin_pause();
    }
    if (yields_left_ > 0) {
      --yields_left_;
      ::sched_yield();
      return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

 private:
  // About a millisecond each: frames are rarely further apart than that, if they matter.
  static constexpr int kPolls = 10'000, kYields = 500;
  int polls_left_, yields_left_ = kYields;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm all, bool finalizes) : finalizes_(finalizes) {
    // Orders and data are collective calls in different orders, so they need communicators of their
    // own.
    MPI_Comm_dup(all, &orders_);
    MPI_Comm_dup(all, &data_);
    for (MPI_Comm own : {orders_, data_}) MPI_Comm_set_errhandler(own, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(all, &place.rank);
    MPI_Comm_size(all, &size);
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    place.host.assign(name.data(), static_cast<std::size_t>(length));
    MPI_Comm node;
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, place.rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place.rank_on_node);
    MPI_Comm_size(node, &place.ranks_on_node);
    cpu_set_t mine, all_of_node;
    CPU_ZERO(&mine);
    ::sched_getaffinity(0, sizeof(mine), &mine);
    MPI_Allreduce(&mine, &all_of_node, sizeof(mine), MPI_BYTE, MPI_BOR, node);
    processors_of_node = CPU_COUNT(&all_of_node);
    MPI_Comm_free(&node);
  }
  ~MpiTransport() override {
    if (awaits_replies) abort(1);
    while (!orders_given_.empty()) forget_given_orders(true);
    flush();
    MPI_Comm_free(&orders_);
    MPI_Comm_free(&data_);
    if (finalizes_) MPI_Finalize();
  }

  std::string library() const override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> name{};
    int length = 0;
    MPI_Get_library_version(name.data(), &length);
    const std::string text(name.data(), static_cast<std::size_t>(length));
    return text.substr(0, text.find_first_of(",\n"));
  }
  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(data_, exit_code);
    std::_Exit(exit_code);
  }

  void give(const Order& order) override {
    forget_given_orders(false);
    orders_given_.push_back({order, MPI_REQUEST_NULL});
    GivenOrder& given = orders_given_.back();
    MPI_Ibcast(&given.order, sizeof(Order), MPI_BYTE, 0, orders_, &given.request);
  }
  Order take_order() override {
    Order order;
    MPI_Request request;
    MPI_Ibcast(&order, sizeof(Order), MPI_BYTE, 0, orders_, &request);
    wait(request);
    return order;
  }

  void send(int to, Tag tag, Words words) override {
    check_size(words);
    sent_.push_back({std::move(words), MPI_REQUEST_NULL});
    SentMessage& message = sent_.back();
    MPI_Isend(message.words.data(), static_cast<int>(message.words.size()), MPI_UINT64_T, to,
              static_cast<int>(tag), data_, &message.request);
  }
  Words receive(int from, Tag tag) override {
    MPI_Message message;
    MPI_Status status;
    Patience patience(shares_processors);
    for (int arrived = 0;;) {
      MPI_Improbe(from, static_cast<int>(tag), data_, &arrived, &message, &status);
      if (arrived != 0) break;
      patience.pause();
    }
    int count = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    Words words(static_cast<std::size_t>(count));
    MPI_Request request;
    MPI_Imrecv(words.data(), count, MPI_UINT64_T, &message, &request);
    wait(request);
    return words;
  }
  void flush() override {
    for (SentMessage& message : sent_) wait(message.request);
    sent_.clear();
  }

  std::vector<std::int64_t> gather(std::int64_t value) override {
    std::vector<std::int64_t> values(place.rank == 0 ? static_cast<std::size_t>(size) : 0);
    MPI_Request request;
    MPI_Igather(&value, 1, MPI_INT64_T, values.data(), 1, MPI_INT64_T, 0, data_, &request);
    wait(request);
    return values;
  }
  void add_up(std::span<std::uint64_t> values) override {
    MPI_Request request;
    const bool is_root = place.rank == 0;
    MPI_Ireduce(is_root ? MPI_IN_PLACE : values.data(), is_root ? values.data() : nullptr,
                static_cast<int>(values.size()), MPI_UINT64_T, MPI_SUM, 0, data_, &request);
    wait(request);
  }

 private:
  struct GivenOrder {
    Order order;
    MPI_Request request;
  };
  struct SentMessage {
    Words words;
    MPI_Request request;
  };

  void wait(MPI_Request& request) {
    Patience patience(shares_processors);
    for (int done = 0;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return;
      patience.pause();
    }
  }
  /// Frees orders that have been delivered. @param wait_for_first whether to wait for one of them
  void forget_given_orders(bool wait_for_first) {
    if (wait_for_first) wait(orders_given_.front().request);
    std::erase_if(orders_given_, [](GivenOrder& given) {
      int done = 0;
      MPI_Test(&given.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  bool finalizes_;
  MPI_Comm orders_{}, data_{};
  std::list<GivenOrder> orders_given_;  // lists: MPI keeps their addresses
  std::list<SentMessage> sent_;
};

}  // namespace

std::unique_ptr<Transport> start_mpi() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1) return std::make_unique<MpiTransport>(MPI_COMM_WORLD, true);
  MPI_Finalize();
  return nullptr;
}

std::unique_ptr<Transport> use_communicator(int fortran_handle) {
  return std::make_unique<MpiTransport>(MPI_Comm_f2c(static_cast<MPI_Fint>(fortran_handle)), false);
}

bool has_mpi() { return true; }

}  // namespace tarn::parallel

#else

namespace tarn::parallel {
namespace {

[[noreturn]] void refuse() {
  throw InputError(
      "this build has no MPI; install Open MPI or MPICH (libopenmpi-dev) and build tarn again");
}

}  // namespace

std::unique_ptr<Transport> start_mpi() { refuse(); }
std::unique_ptr<Transport> use_communicator(int /*fortran_handle*/) { refuse(); }
bool has_mpi() { return false; }

}  // namespace tarn::parallel

#endif
