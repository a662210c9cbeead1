#include "tarn/ensemble.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "core/threads.hpp"
#include "frames.hpp"
#include "interrupts.hpp"
#include "locks.hpp"
#include "parts.hpp"
#include "potential.hpp"
#include "tarn/core/error.hpp"

namespace tarn::python {
namespace {

/// An Ensemble that several Python threads may use, one after the other, with snapshots of its
/// current step. Its constants and its step can be read while another thread uses it.
class SharedEnsemble {
  /// The time in which this thread alone uses the ensemble, without the interpreter's lock.
  class Turn {
   public:
    /// @throws nanobind::python_error if a signal ends the wait for another thread
    explicit Turn(SharedEnsemble& ensemble) : user_(ensemble.user_) {
      if (user_ == std::this_thread::get_id()) {
        throw InputError(
            "a signal handler or a potential cannot use an ensemble while it computes");
      }
      lock_ = std::unique_lock(ensemble.mutex_, std::try_to_lock);
      while (!lock_.owns_lock()) {
        throw_if_interrupted();
        constexpr std::chrono::milliseconds kBetweenSignals(50);
        if (!lock_.try_lock_for(kBetweenSignals) && ensemble.forks_at_lock_ != fork_count()) {
          throw InputError(
              "another thread used the ensemble when this process was forked; make a new ensemble");
        }
      }
      // The mutex orders these; other threads only compare the user with themselves.
      ensemble.forks_at_lock_.store(fork_count(), std::memory_order_relaxed);
      user_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ~Turn() {
      if (lock_.owns_lock()) user_.store(std::thread::id(), std::memory_order_relaxed);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Unlocked unlocked_;
    std::atomic<std::thread::id>& user_;
    std::unique_lock<std::timed_mutex> lock_;
  };
  /// Updates the step for other threads, also at its end.
  class StepNote {
   public:
    StepNote(std::atomic<std::int64_t>& step, const Ensemble& ensemble)
        : step_(step), ensemble_(ensemble) {}
    ~StepNote() { update(); }
    StepNote(const StepNote&) = delete;
    StepNote& operator=(const StepNote&) = delete;
    void update() const { step_.store(ensemble_.step(), std::memory_order_relaxed); }

   private:
    std::atomic<std::int64_t>& step_;
    const Ensemble& ensemble_;
  };
  template <class F>
  auto use(const F& f) {
    const Turn turn(*this);
    check_open();
    if (is_lost()) {
      throw InputError(
          "a forked process cannot use an ensemble on a GPU; start processes with the method "
          "'spawn' or 'forkserver' of multiprocessing, and make the ensemble there");
    }
    return f(*ensemble_);
  }

 public:
  explicit SharedEnsemble(Ensemble ensemble)
      : ensemble_(std::move(ensemble)),
        molecules_(ensemble_->system().molecules),
        beads_(beads_of(*ensemble_)),
        replicas_(ensemble_->replicas()),
        timestep_fs_(ensemble_->deck().integrator.timestep_fs),
        device_(ensemble_->device()),
        messages_(ensemble_->messages()),
        step_(ensemble_->step()) {}
  SharedEnsemble(const SharedEnsemble&) = delete;
  SharedEnsemble& operator=(const SharedEnsemble&) = delete;
  ~SharedEnsemble() {
    if (ensemble_ && is_lost()) abandon();
  }

  /// @param device, threads if they are not those of the deck
  /// @param potential see python_potential()
  static Ensemble start(const Deck& deck, const std::optional<std::string>& device,
                        std::optional<int> threads, nb::handle potential) {
    Interrupts interrupts;
    const DeviceRequest where = request(deck, device, threads, potential);
    try {
      const Unlocked unlocked;
      return Ensemble(deck, where, [&](int, int) { return !interrupts.pending(); });
    } catch (const StartInterrupted&) {
      interrupts.raise_if_pending();
      throw;
    }
  }
  static Ensemble load(const std::string& path, const std::optional<std::string>& device,
                       std::optional<int> threads, nb::handle potential) {
    const DeviceRequest where = request({}, device, threads, potential);
    const Unlocked unlocked;
    return Ensemble::load(path, where);
  }

  void advance(nb::handle given) {
    const std::int64_t steps = integer(given, "advance: steps");
    if (steps < 0) {
      throw InputError("advance: " + std::to_string(steps) + " steps; expected 0 or more");
    }
    Interrupts interrupts;
    use([&](Ensemble& e) {
      const StepNote note(step_, e);
      const auto should_continue = [&] {
        note.update();
        return !interrupts.pending();
      };
      e.advance(steps, std::cref(should_continue));
      unchecked_steps_ += steps;
      if (unchecked_steps_ >= kStepsBetweenChecks) {
        unchecked_steps_ = 0;
        require_replicas(e);
      }
    });
    interrupts.raise_if_pending(
        "the ensemble stopped early, at the step that it reports; "
        "advance() continues from there");
  }
  std::int64_t step() const {
    check_open();
    return step_;
  }
  double time_ps() const { return static_cast<double>(step()) * timestep_fs_ / 1000.0; }
  std::string device() const {
    check_open();
    return device_;
  }
  std::string deck() {
    return use([](Ensemble& e) { return resolved_deck(e.deck()); });
  }
  int molecules() const {
    check_open();
    return molecules_;
  }
  int beads() const {
    check_open();
    return beads_;
  }
  std::int64_t replicas() const {
    check_open();
    return replicas_;
  }
  std::vector<std::string> texts_of(Level level) const {
    check_open();
    return tarn::texts_of(level, messages_);
  }
  void save(const std::string& path) {
    use([&](Ensemble& e) { e.save(path); });
  }

  /// [(replica, step, molecule, text)].
  nb::list blow_ups() {
    std::vector<std::pair<BlowUp, std::string>> all;
    use([&](Ensemble& e) {
      for (const BlowUp& b : e.blow_ups()) all.emplace_back(b, e.text(b));
    });
    nb::list list;
    for (const auto& [b, text] : all) {
      list.append(nb::make_tuple(b.replica, b.step, b.molecule, text));
    }
    return list;
  }

  nb::object positions_A() {
    return python::positions_A(
        snapshot(kPositionsAt, [](Ensemble& e) { return position_field(beads_of(e)); }));
  }
  nb::object velocities_A_per_ps() {
    return python::velocities_A_per_ps(
        *snapshot(kVelocitiesAt, [](Ensemble&) { return kVelocities; }));
  }
  nb::object energies() {
    return python::energies(snapshot(kEnergiesAt, [](Ensemble&) { return kEnergies; }));
  }
  nb::object replica_ids() {
    return python::replica_ids(*snapshot(kIdsAt, [](Ensemble&) { return kNoFields; }));
  }

  void close() {
    const Turn turn(*this);
    is_open_ = false;
    if (ensemble_ && is_lost()) abandon();
    ensemble_.reset();
  }
  bool is_open() const { return is_open_; }

 private:
  /// A check takes longer than a step of few replicas on a GPU.
  static constexpr std::int64_t kStepsBetweenChecks = 100;
  static void require_replicas(const Ensemble& e) {
    const std::vector<BlowUp> all = e.blow_ups();
    if (static_cast<std::int64_t>(all.size()) < e.replicas()) return;
    const auto first = std::min_element(
        all.begin(), all.end(), [](const BlowUp& a, const BlowUp& b) { return a.step < b.step; });
    throw NumericalError("no replica is left. The first blow-up: " + e.text(*first));
  }
  static DeviceRequest request(const Deck& deck, const std::optional<std::string>& device,
                               std::optional<int> threads, nb::handle potential) {
    return {device.value_or(deck.run.device), threads.value_or(deck.run.threads),
            python_potential(potential)};
  }
  enum Place { kPositionsAt, kVelocitiesAt, kEnergiesAt, kIdsAt, kPlaces };
  static int beads_of(const Ensemble& e) { return e.system().path_integral.beads; }

  void check_open() const {
    if (!is_open_) throw InputError("the ensemble is closed");
  }
  /// Whether this process was forked since the start of an engine on a GPU. CUDA does not exist
  /// here, nor do the threads of an engine on several GPUs.
  bool is_lost() const { return forks_at_start_ != fork_count() && is_on_gpu(); }
  bool is_on_gpu() const { return device_.find("CUDA") != std::string::npos; }
  /// Leaves the engine in memory: its destructor would call CUDA and wait for threads.
  void abandon() { static_cast<void>(new Ensemble(std::move(*ensemble_))); }

  /// A snapshot of the current step. Its memory is used again if no view of an earlier step exists.
  template <class Fields>
  std::shared_ptr<const Frame> snapshot(Place place, const Fields& fields_of) {
    return use([&](Ensemble& e) -> std::shared_ptr<const Frame> {
      std::shared_ptr<Frame>& frame = frames_[place];
      if (frame && frame->step == e.step() && taken_[place]) return frame;
      if (!frame || frame.use_count() > 1) frame = std::make_shared<Frame>();
      taken_[place] = false;
      e.snapshot(fields_of(e), *frame);
      taken_[place] = true;
      return frame;
    });
  }

  std::optional<Ensemble> ensemble_;
  std::int64_t unchecked_steps_ = 0;  ///< since the last check for running replicas
  const int molecules_, beads_;
  const std::int64_t replicas_;
  const double timestep_fs_;
  const std::string device_;
  const Messages messages_;
  std::atomic<std::int64_t> step_;  ///< that advance() reached
  std::atomic<bool> is_open_ = true;
  const unsigned forks_at_start_ = fork_count();

  std::timed_mutex mutex_;
  std::atomic<unsigned> forks_at_lock_ = 0;
  std::atomic<std::thread::id> user_{};
  std::array<std::shared_ptr<Frame>, kPlaces> frames_;
  std::array<bool, kPlaces> taken_{};
};

}  // namespace

void add_ensemble(nb::module_& module) {
  nb::class_<SharedEnsemble>(module, "Ensemble", "The engine of a deck.")
      .def(
          "__init__",
          [](SharedEnsemble* self, const Deck& deck, const std::optional<std::string>& device,
             std::optional<int> threads, nb::handle potential) {
            new (self) SharedEnsemble(SharedEnsemble::start(deck, device, threads, potential));
          },
          nb::arg("deck"), nb::arg("device").none(), nb::arg("threads").none(),
          nb::arg("potential").none() = nb::none())
      .def(
          "__init__",
          [](SharedEnsemble* self, const std::string& path,
             const std::optional<std::string>& device, std::optional<int> threads,
             nb::handle potential) {
            new (self) SharedEnsemble(SharedEnsemble::load(path, device, threads, potential));
          },
          nb::arg("path"), nb::arg("device").none(), nb::arg("threads").none(),
          nb::arg("potential").none() = nb::none())
      .def("advance", &SharedEnsemble::advance, nb::arg("steps").none(),
           nb::sig("def advance(self, steps: int) -> None"),
           R"(Advances all replicas by a number of steps.

A replica that blows up is stopped, the others continue; see `blow_ups`. NumericalError is raised
if none is left, within 100 steps. Ctrl-C raises KeyboardInterrupt at an earlier step, from which
advance() can continue.)")
      .def_prop_ro(
          "step", &SharedEnsemble::step,
          "Number of the current step; that of some moments ago while another thread advances.")
      .def_prop_ro("time_ps", &SharedEnsemble::time_ps, "Time in ps.")
      .def_prop_ro("device", &SharedEnsemble::device, "One line with the device.")
      .def_prop_ro("deck", &SharedEnsemble::deck, "The deck with all keys in use.")
      .def_prop_ro("molecules", &SharedEnsemble::molecules, "Number of molecules of a replica.")
      .def_prop_ro("beads", &SharedEnsemble::beads, "Number of beads of each ring polymer.")
      .def_prop_ro("replicas", &SharedEnsemble::replicas,
                   "Number of replicas, including stopped ones.")
      .def_prop_ro(
          "notes", [](const SharedEnsemble& e) { return e.texts_of(Level::note); },
          "Notes on the start.")
      .def_prop_ro(
          "warnings", [](const SharedEnsemble& e) { return e.texts_of(Level::warning); },
          "Warnings about the start, which ask for an action.")
      .def("stopped", &SharedEnsemble::blow_ups)
      .def_prop_ro("positions_A", &SharedEnsemble::positions_A,
                   nb::sig("def positions_A(self) -> NDArray[numpy.float64]"),
                   "Positions (replica, atom, 3), or (replica, bead, atom, 3), in angstrom: a "
                   "read-only view of the snapshot of the current step.")
      .def_prop_ro("velocities_A_per_ps", &SharedEnsemble::velocities_A_per_ps,
                   nb::sig("def velocities_A_per_ps(self) -> NDArray[numpy.float64]"),
                   "Velocities (replica, atom, 3) in A/ps; of centroids if there are beads.")
      .def_prop_ro(
          "energies", &SharedEnsemble::energies,
          nb::sig("def energies(self) -> NDArray[numpy.void]"),
          R"(Energies by name, each of shape (replica,): `energies["potential_kcal_per_mol"]`.

potential_kcal_per_mol : between molecules
bond_kcal_per_mol : within molecules: the penalty, or the intramolecular energy of flexible models
wall_kcal_per_mol : of the wall
kinetic_kcal_per_mol
total_kcal_per_mol : what the scheme conserves
physical_kcal_per_mol : sum of potential, bond, wall and kinetic energy
temperature_K : kinetic
translation_K, rotation_K, bond_K : kinetic temperatures of the molecules and their bonds)")
      .def_prop_ro("replica_ids", &SharedEnsemble::replica_ids,
                   nb::sig("def replica_ids(self) -> NDArray[numpy.int64]"),
                   "Numbers of the running replicas, to which the rows of arrays belong.")
      .def("save", &SharedEnsemble::save, nb::arg("path"))
      .def("close", &SharedEnsemble::close, "Frees the engine. Arrays stay valid.")
      .def_prop_ro("is_open", &SharedEnsemble::is_open, "Whether close() was not called.");
}

}  // namespace tarn::python
