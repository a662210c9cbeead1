#include "tarn/ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/processors.hpp"
#include "interface/measure.hpp"
#include "launcher.hpp"
#include "rank_part.hpp"
#include "tarn/core/error.hpp"
#include "tarn/version.hpp"
#include "transport.hpp"

namespace tarn {
namespace parallel {
namespace {

class TransportRanks final : public Ranks {
 public:
  TransportRanks(std::unique_ptr<Transport> transport, const LaunchedTask& task)
      : transport_(std::move(transport)) {
    const int processors_here = processors();
    place_.rank = transport_->rank();
    place_.host = transport_->host();
    place_.rank_on_node = transport_->rank_on_node();
    place_.ranks_on_node = transport_->ranks_on_node();
    place_.processors = processors_here;
    const int of_node = within_quota(transport_->processors_of_node());
    place_.threads = default_threads_of_rank(processors_here, of_node, place_.ranks_on_node);
    transport_->share_processors(place_.threads * place_.ranks_on_node > of_node);
    if (rank() == 0) {
      take_places(task);
    } else {
      report_place(task);
    }
  }
  ~TransportRanks() override {
    if (rank() == 0) transport_->give({OrderKind::end});
  }

  int rank() const override { return transport_->rank(); }
  int size() const override { return transport_->size(); }
  std::string library() const override { return transport_->library(); }

  void abort(int exit_code) override { transport_->abort(exit_code); }
  void serve(const std::function<int()>& caught_signal,
             const PotentialOfRank& potential_of_rank) override {
    follow_orders(*transport_, place_, caught_signal, potential_of_rank);
  }

  std::vector<RankPlace> places() const override { return places_; }
  std::vector<RankPlace> find_devices() override {
    give(OrderKind::devices);
    places_[0].devices = devices_of_process();
    for (std::size_t r = 1; r < places_.size(); ++r) {
      const Words words = transport_->receive(static_cast<int>(r), Tag::reply);
      Unpacker from(words);
      places_[r].devices = unpack_texts(from);
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
    return make_ranks_engine(*transport_, places_, next_engine_++, system, start, counts, device);
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
    Words words;
    Packer(words)
        .put(program())
        .put(place_.host)
        .put(place_.rank_on_node)
        .put(place_.ranks_on_node)
        .put(place_.processors)
        .put(place_.threads)
        .put(task.folder);
    pack(task.arguments, words);
    pack(task.contents, words);
    transport_->send(0, Tag::reply, std::move(words));
    transport_->flush();
  }
  void take_places(const LaunchedTask& task) {
    places_.push_back(place_);
    std::string problem;
    for (int r = 1; r < size(); ++r) {
      const Words words = transport_->receive(r, Tag::reply);
      Unpacker from(words);
      RankPlace place;
      place.rank = r;
      const auto other = from.take<std::string>();
      from.take(place.host);
      from.take(place.rank_on_node);
      from.take(place.ranks_on_node);
      from.take(place.processors);
      from.take(place.threads);
      LaunchedTask other_task;
      from.take(other_task.folder);
      other_task.arguments = unpack_texts(from);
      other_task.contents = unpack_texts(from);
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
