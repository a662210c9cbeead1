#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cpu/quench_group.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// Quenches of many clusters side by side. The quenches of one cluster, for example those of a
/// search with hops, are a coroutine that waits for each of them.

namespace tarn::start {

/// A coroutine that may wait for quenches and for other coroutines of this kind. It begins when it
/// is awaited or given to Quenches::run().
class [[nodiscard]] QuenchTask {
 public:
  struct promise_type {
    MinimiseResult result;
    std::exception_ptr thrown;
    std::coroutine_handle<> waiting;  ///< goes on when this one has ended

    QuenchTask get_return_object() { return QuenchTask(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct GoOn {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle ended) noexcept {
          const auto waiting = ended.promise().waiting;
          return waiting ? waiting : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return GoOn{};
    }
    void return_value(const MinimiseResult& value) { result = value; }
    void unhandled_exception() { thrown = std::current_exception(); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  explicit QuenchTask(Handle handle) : handle_(handle) {}
  QuenchTask(QuenchTask&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  QuenchTask& operator=(QuenchTask&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~QuenchTask() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) {
    handle_.promise().waiting = waiting;
    return handle_;
  }
  /// @throws what the coroutine has thrown
  MinimiseResult await_resume() const {
    if (handle_.promise().thrown) std::rethrow_exception(handle_.promise().thrown);
    return handle_.promise().result;
  }

  void begin() { handle_.resume(); }
  bool has_ended() const { return handle_.done(); }

 private:
  Handle handle_;
};

/// What determines the energies of clusters, and what moves.
struct Surface {
  WaterModel model;
  int molecules = 0;
  std::shared_ptr<Potential> potential{};  ///< null: the energies of the model
  std::optional<double> omega{};           ///< of a penalty on bonds that are not rigid
  /// As in DeviceRequest. Pairwise models of up to 32 molecules are quenched on CUDA devices that
  /// the name lists; all others on the CPU, as by "auto".
  std::string device = "cpu";

  /// Whether bonds are not rigid.
  bool is_soft() const { return potential || model.is_flexible() || omega; }
};

/// Ids of the images of tasks in calls of a potential: image k of a task has its id + stride k.
struct ImageIds {
  std::vector<std::int64_t> of_tasks{0};
  std::int64_t stride = 1;
};
/// Ids 0 .. n-1.
ImageIds first_ids(std::int64_t n);

/// Quenches of one thread. Its tasks wait in seats; when all wait, the clusters whose quenches run
/// are evaluated together and make one step. The results and the calls of a potential depend only
/// on the order of the tasks.
class Quenches {
 public:
  /// Largest number of tasks that wait side by side with a potential.
  static constexpr int kMostSeats = 64;

  /// @param options its functions, which may end the quenches or watch them
  /// @param most_seats not used beyond what the forces can use
  /// @param thread number; threads use the devices of a list by turns
  Quenches(const Surface& surface, MinimiseOptions options, const ImageIds& ids,
           std::int64_t most_seats, int thread = 0);
  ~Quenches();

  /// Quenches a cluster; of a coroutine, in an expression that awaits it.
  /// @param positions_A 9 N numbers; replaced
  /// @throws InputError if a molecule is collinear; NumericalError if the energy at the start is
  /// not finite
  class Quench {
   public:
    Quench(Quenches& quenches, std::span<double> positions_A, double tolerance_kcal_per_mol_A,
           int most_iterations);
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiting);
    MinimiseResult await_resume() const;

   private:
    friend Quenches;
    Quenches& quenches_;
    std::span<double> positions_A_;
    double tolerance_kcal_per_mol_A_;
    int most_iterations_;
    MinimiseResult result_;
    bool is_finite_ = true;
    std::coroutine_handle<> waiting_;
  };
  Quench quench(std::span<double> positions_A, double tolerance_kcal_per_mol_A,
                int most_iterations) {
    return {*this, positions_A, tolerance_kcal_per_mol_A, most_iterations};
  }
  const Surface& surface() const { return surface_; }
  /// Calls the potential for images k of the task that runs.
  void compute_images(std::span<const double> positions_A, std::span<const std::int64_t> k,
                      std::span<double> energies_kcal_per_mol,
                      std::span<double> forces_kcal_per_mol_A);
  /// Runs tasks until there are no more.
  /// @param next the next task; nothing: no more
  /// @throws what the potential throws, or a task, the first one if several do so at a time
  void run(const std::function<std::optional<QuenchTask>()>& next);

 private:
  struct Seat {
    std::optional<QuenchTask> task;
    std::int64_t number = 0;
    Quench* quench = nullptr;  ///< which the task awaits
  };
  cpu::QuenchGroup& group(std::size_t seat) { return groups_[seat / clusters_]; }
  int cluster(std::size_t seat) const { return static_cast<int>(seat % clusters_); }
  void seat_tasks(const std::function<std::optional<QuenchTask>()>& next);
  /// Frees the seat of a task that has ended. @throws what the task has thrown
  static void end_task(Seat& seat);
  /// Energies and forces of the trial positions of the seats, and a step.
  void evaluate(std::span<const std::size_t> seats);
  /// Completes the quenches of the seats.
  void quench_on_device(std::span<const std::size_t> seats);
  /// Lets tasks go on whose quenches have ended, in the order of the seats.
  /// @param number_of (seat, QuenchNumber)
  void end_quenches(std::span<const std::size_t> seats,
                    const std::function<double(std::size_t seat, int k)>& number_of);

  Surface surface_;
  MinimiseOptions options_;
  const ImageIds& ids_;
  QuenchRules rules_;
  struct Forces;
  std::unique_ptr<Forces> forces_;
  std::vector<cpu::QuenchGroup> groups_;
  std::size_t clusters_ = 1;  ///< of a group
  std::optional<int> cuda_;   ///< device in place of the groups
  std::vector<Seat> seats_;
  std::size_t now_ = 0;  ///< seat of the coroutine that runs
  std::int64_t begun_ = 0;
  bool no_more_ = false;
  std::exception_ptr failure_;  ///< of the potential within a task
};

/// tarn::quench_to_minimum()
QuenchTask quench_to_minimum(Quenches& quenches, std::span<double> positions_A,
                             double tolerance_kcal_per_mol_A, int most_iterations);

/// Quenches a random cluster to 1e-3 kcal/mol/A, and moves its centre of mass to the origin.
QuenchTask quench_random_cluster(Quenches& quenches, std::vector<double>& positions_A);

/// relax_penalised(), or quench() for a flexible model, with the limits of a start.
QuenchTask relax(Quenches& quenches, std::span<double> positions_A);

/// Runs one task per image id: several threads share them, or with a potential this one runs all.
/// @param make_task (Quenches&, i), i = 0 .. n-1
void run_quenches(const Surface& surface, const MinimiseOptions& options, const ImageIds& ids,
                  int threads,
                  const std::function<QuenchTask(Quenches&, std::int64_t i)>& make_task);

/// Runs the task of a single cluster. @return its result
MinimiseResult run_alone(const Surface& surface, const MinimiseOptions& options,
                         const std::function<QuenchTask(Quenches&)>& make_task);

}  // namespace tarn::start
