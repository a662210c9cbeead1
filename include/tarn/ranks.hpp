#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/potential.hpp"

/// @file
/// Processes that share the replicas of a run: MPI ranks.
///
/// Rank 0 runs the program: it reads decks, observes, decides exchanges and writes all files. The
/// other ranks have engines with their share of the replicas and follow its orders. The results do
/// not depend on the number of ranks.

namespace tarn {

/// A rank and its place among those of its node.
struct RankPlace {
  int rank = 0;
  std::string host;
  int rank_on_node = 0, ranks_on_node = 1;
  int processors = 1;  ///< that the process may use
  int threads = 1;     ///< that an engine uses by default
  /// Its CUDA devices, or why there are none; filled by Ranks::find_devices().
  std::vector<std::string> devices;
};

/// What a process was started to do. Ranks of one run were started to do the same.
struct LaunchedTask {
  std::vector<std::string> arguments;
  /// Of the files that the arguments name, such as the deck; empty for other arguments.
  std::vector<std::string> contents;
  std::string folder;  ///< working folder
};

/// The ranks, as one of them sees them. Functions of rank 0 are called from one thread.
class Ranks {
 public:
  /// Joins the other processes that mpirun or srun started. MPI is started if there are any, and
  /// ends with the object.
  /// @return null if this process was started alone
  /// @throws InputError if there are other processes, but no MPI in this build, or if they were
  ///         started for another MPI: they would all do the same. On rank 0, if the tasks of the
  ///         ranks differ; serve() of the others then returns at once
  static std::unique_ptr<Ranks> launched(const LaunchedTask& task = {});
  /// The processes of a communicator of the program. MPI must be initialised, with
  /// MPI_THREAD_FUNNELED or more, and may be finalised after the object was destroyed.
  /// @param fortran_handle the communicator's MPI_Comm_c2f()
  /// @throws InputError if there is no MPI in this build
  static std::unique_ptr<Ranks> of_communicator(int fortran_handle);

  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  /// On rank 0, ends serve() of the others. Its engines must have been destroyed.
  virtual ~Ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The MPI library.
  virtual std::string library() const = 0;

  /// Follows the orders of rank 0 until its object is destroyed; for the other ranks.
  /// @param caught_signal for signal_of_others(): the signal that should end the run; 0: none
  /// @param potential_of_rank makes the Potential of this rank's engines; empty: the rank refuses
  /// @throws exceptions in messages, after which the ranks cannot go on: call abort()
  virtual void serve(const std::function<int()>& caught_signal = {},
                     const PotentialOfRank& potential_of_rank = {}) = 0;
  /// Ends all ranks of the MPI run.
  virtual void abort(int exit_code) = 0;

  // For rank 0.
  virtual std::vector<RankPlace> places() const = 0;
  /// places() with the devices of each rank.
  virtual std::vector<RankPlace> find_devices() = 0;
  /// A signal that another rank caught; 0: none, or the engine of this rank computes. Ranks that
  /// advance reply when they have finished.
  virtual int signal_of_others() = 0;
  /// As make_engine(), on all ranks. "cuda" is one GPU per rank, and "cuda:all" all GPUs of the
  /// node, divided among its ranks. Each rank has its own Potential.
  /// @throws InputError for a Potential without a recipe; DeviceError if that needs more GPUs than
  /// a node has; errors of other ranks, with their
  ///         number
  virtual std::unique_ptr<Engine> make_engine(const System& system, const State& start,
                                              const PairCountRequest& counts,
                                              const DeviceRequest& device) = 0;
  /// make_engine() as a function. Do not call it after this object was destroyed.
  EngineMaker engine_maker() {
    return
        [this](const System& system, const State& start, const PairCountRequest& counts,
               const DeviceRequest& device) { return make_engine(system, start, counts, device); };
  }
};

}  // namespace tarn
