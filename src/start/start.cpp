#include "tarn/start.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "kernels/device_probe.hpp"
#include "molecule_frame.hpp"
#include "quenches.hpp"
#include "start_sources.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/physics/measured.hpp"
#include "tarn/start_state.hpp"

namespace tarn {
namespace {

/// Counts the minimisations of replicas that did not converge.
class ConvergenceTally {
 public:
  void add(const MinimiseResult& r) {
    if (r.converged) return;
    const std::lock_guard lock(mutex_);
    ++count_;
    largest_gradient_ = std::max(largest_gradient_, r.max_gradient_kcal_per_mol_A);
  }
  std::optional<Message> note(const char* what, int replicas) const {
    if (count_ == 0) return std::nullopt;
    return Message::note(
        fmt::format("{} did not converge in {} of {} replicas; the largest remaining gradient is "
                    "{:.2g} kcal/mol/A",
                    what, count_, replicas, largest_gradient_));
  }

 private:
  std::mutex mutex_;
  int count_ = 0;
  double largest_gradient_ = 0.0;
};

/// Temperature of the velocities that are drawn for a replica, if they are.
std::optional<double> velocity_temperature_K(const Deck& deck, std::size_t replica) {
  if (!is_drawn(deck.system.velocities)) return std::nullopt;
  if (deck.system.temperature_K) return deck.system.temperature_K;
  const std::vector<double> baths = bath_temperatures_K(deck);
  if (baths.empty()) return std::nullopt;
  return baths[ReplicaMap(baths.size()).place(replica)];
}

/// Mean energies and the largest number of iterations.
SlowManifoldStart mean_of(const std::vector<SlowManifoldStart>& all) {
  const double weight = 1.0 / static_cast<double>(all.size());
  SlowManifoldStart mean;
  for (const SlowManifoldStart& s : all) {
    mean.fast_before_kcal_per_mol += weight * s.fast_before_kcal_per_mol;
    mean.fast_after_kcal_per_mol += weight * s.fast_after_kcal_per_mol;
    mean.iterations = std::max(mean.iterations, s.iterations);
  }
  return mean;
}

/// Rejects quenches in which atoms of different molecules fell into each other: a custom model
/// whose Lennard-Jones term does not keep its charges apart has no minimum.
/// @throws InputError
void reject_fused_atoms(const Deck& deck, std::span<const double> quenched_A,
                        std::int64_t replica) {
  constexpr double kFused_A = 0.8;  // hydrogen bonds of water models are 1.7 A and longer
  if (deck.system.model != kOwnModel) return;
  const ClosestAtoms closest = closest_atoms(quenched_A);
  if (closest.a.molecule == closest.b.molecule || closest.distance_A >= kFused_A) return;
  throw InputError(
      deck.path, 0,
      fmt::format("the quenched start of replica {} has {} of molecule {} and {} of molecule {} "
                  "{:.2g} A apart. [model] sigma_A = {:g} and epsilon_kcal_per_mol = {:g} are too "
                  "small for its charges{}: increase them, or reduce the charges",
                  replica, atom_name(closest.a), closest.a.molecule, atom_name(closest.b),
                  closest.b.molecule, closest.distance_A, deck.model->sigma_A,
                  deck.model->epsilon_kcal_per_mol,
                  is_flexible(deck) ? ", or its bonds are too soft" : ""));
}

/// Makes the starts of all replicas from one source.
class StartMaker {
 public:
  StartMaker(const Deck& deck, const StartProgress& progress)
      : deck_(deck),
        progress_(progress),
        paths_(structure_sources(deck)),
        files_(structures(paths_, counts_)),
        state_(deck.system.state ? std::optional(start::checked_state(deck)) : std::nullopt),
        system_(make_system(deck, !files_.empty() ? files_.front().molecules
                                  : state_        ? state_->state.molecules
                                                  : deck.system.molecules)),
        rigid_(is_rigid(deck.integrator.scheme)),
        on_constraints_(start::keeps_bonds_rigid(deck)),
        relaxed_(deck.system.relax && !on_constraints_),
        projected_(deck.system.project == StartProjection::slow_manifold && !on_constraints_),
        sources_(state_           ? state_->state.replicas()
                 : files_.empty() ? deck.system.replicas
                                  : static_cast<int>(files_.size())) {}

  Start make() {
    allocate();
    for (std::size_t i = 0; i < files_.size(); ++i) prepare_source_file(i);
    if (state_) {
      append(start::messages_on_state(deck_, *state_), start_.messages);
      if (state_->state.beads > 1) {
        ring_source_ = state_->state;
        state_->state = start::centroids_of(*ring_source_);
      }
      start::prepare_state(deck_, system_, *state_, start_.messages);
    }
    add(start::warning_of_copies(deck_, sources_ < deck_.system.replicas));
    if (deck_.system.velocities == VelocityKind::file) {
      for (std::size_t i = 0; i < files_.size(); ++i) prepare_velocities_of_file(i);
    }
    if (files_.empty() && !state_) make_random_positions();
    // Copies of one structure take a microsecond each, projections a thousand times that.
    const std::int64_t grain = projected_ ? 1 : 16;
    for_each_index(
        deck_.system.replicas, deck_.run.threads,
        [&](int) { return ForceField(system_.model, system_.molecules); },
        [&](ForceField& worker, std::int64_t r) {
          make_replica(worker, r);
          if (projected_ || !files_.empty() || state_) ++done_;
        },
        grain);
    if (stopped_) throw StartInterrupted();
    report();
    start_.state =
        start::rings_of(system_, std::move(start_.state), ring_source_ ? &*ring_source_ : nullptr,
                        deck_.system.velocities != VelocityKind::zero,
                        deck_.system.velocities == VelocityKind::state);
    return std::move(start_);
  }

 private:
  void add(const std::optional<Message>& message) { append(message, start_.messages); }

  /// Called by any thread. A thread does not wait while another one reports the progress.
  bool may_continue() {
    if (!progress_ || stopped_) return !stopped_;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock && !stopped_) stopped_ = !progress_(done_, deck_.system.replicas);
    return !stopped_;
  }

  void allocate() {
    State& state = start_.state;
    state.molecules = system_.molecules;
    state.replica_ids.resize(static_cast<std::size_t>(deck_.system.replicas));
    state.positions_A.resize(state.coordinates() * state.replica_ids.size());
    state.velocities_A_per_akma.resize(state.positions_A.size());
    if (projected_) slow_.resize(state.replica_ids.size());
  }

  static std::vector<io::Structure> structures(const std::vector<StructureSource>& sources,
                                               std::vector<io::FrameCounts>& counts) {
    std::vector<io::Structure> files;
    for (const auto& [key, written, path, frame] : sources) {
      files.push_back(io::read_structure(path, {frame}, &counts.emplace_back()));
      if (files.back().molecules == files.front().molecules) continue;
      throw InputError(
          path, 0,
          fmt::format("the structure has {} molecules, and {} has {}", files.back().molecules,
                      sources.front().path, files.front().molecules));
    }
    return files;
  }

  void prepare_source_file(std::size_t i) {
    const std::string& path = paths_[i].path;
    append(files_[i].messages, start_.messages);
    add(io::note_on_frames(path, counts_[i],
                           deck_.system.files.empty() ? "; [system] frame selects another one"
                                                      : "; \"file:frame\" selects another one"));
    add(io::warning_of_sites(path, files_[i], system_.model, ", which [system] model names"));
    start::prepare_file(path, system_, on_constraints_, relaxed_, should_continue_, files_[i],
                        start_.messages);
  }

  /// @throws InputError if the file has no velocities
  void prepare_velocities_of_file(std::size_t i) {
    io::Structure& file = files_[i];
    const std::string& path = paths_[i].path;
    if (file.velocities_A_per_akma.empty()) {
      throw InputError(deck_.path, 0, missing_velocities_message(path));
    }
    add(start::warning_of_push(deck_, path, file));
    add(start::warning_of_momentum(deck_, path, system_, file));
    if (rigid_) {
      start::project_onto_constraints(system_, file.positions_A, file.velocities_A_per_akma);
    }
  }

  /// The structure that a replica starts from.
  const io::Structure& file_of(std::int64_t r) const {
    return files_[sample_group(ReplicaMap(ladder_length(deck_)).ladder(r), files_.size())];
  }

  void make_replica(ForceField& worker, std::int64_t r) {
    if (!may_continue()) throw StartInterrupted();
    State& state = start_.state;
    const auto index = static_cast<std::size_t>(r);
    const std::size_t size = state.coordinates();
    state.replica_ids[index] = r;
    const std::span<double> x = positions_of(r);
    const std::span<double> v(&state.velocities_A_per_akma[size * index], size);
    if (!files_.empty()) {
      std::ranges::copy(file_of(r).positions_A, x.begin());
    } else if (state_) {
      std::copy_n(&state_->state.positions_A[source_of(r, size)], size, x.begin());
    }
    make_velocities(r, x, v);
    if (deck_.system.remove_momentum) start::remove_momentum(system_, x, v);
    if (!projected_) return;
    try {
      slow_[index] =
          start::project_onto_slow_manifold(worker, system_, system_.integrator.omega, x, v);
    } catch (const NumericalError& error) {
      throw NumericalError(
          fmt::format("{}: the start of replica {}: {}", deck_.path, r, error.what()));
    }
    // The projection conserves angular momentum only approximately.
    if (deck_.system.remove_momentum) start::remove_momentum(system_, x, v);
  }

  std::size_t source_of(std::int64_t r, std::size_t size) const {
    return sources_ == 1 ? 0 : size * static_cast<std::size_t>(r);
  }

  std::span<double> positions_of(std::int64_t r) {
    const std::size_t size = start_.state.coordinates();
    return {&start_.state.positions_A[size * static_cast<std::size_t>(r)], size};
  }

  /// Random clusters, many of which are quenched or relaxed at a time.
  void make_random_positions() {
    start::Surface surface{system_.model, system_.molecules};
    // With "auto", starts do not depend on whether there is a GPU. A deck may be checked without
    // one.
    if (deck_.run.device != "auto" && probe_devices().status == ProbeStatus::ok) {
      surface.device = deck_.run.device;
    }
    const bool quenched = deck_.system.start == StartKind::quenched;
    const MinimiseOptions options{.should_continue = should_continue_};
    const start::ImageIds ids = start::first_ids(deck_.system.replicas);
    start::run_quenches(surface, options, ids, deck_.run.threads,
                        [&](start::Quenches& quenches, std::int64_t r) {
                          return make_random_cluster(quenches, r, quenched);
                        });
    if (!relaxed_) return;
    if (!system_.model.is_flexible()) surface.omega = system_.integrator.omega;
    start::run_quenches(
        surface, options, ids, deck_.run.threads,
        [&](start::Quenches& quenches, std::int64_t r) { return relax(quenches, r); });
  }
  start::QuenchTask make_random_cluster(start::Quenches& quenches, std::int64_t r, bool quenched) {
    if (!may_continue()) throw StartInterrupted();
    std::vector<double> x = random_cluster(system_.model, system_.molecules, system_.seed, r);
    if (quenched) {
      quench_report_.add(co_await start::quench_random_cluster(quenches, x));
      reject_fused_atoms(deck_, x, r);
      if (!projected_ && !relaxed_) ++done_;
    }
    std::ranges::copy(x, positions_of(r).begin());
    co_return {};
  }
  start::QuenchTask relax(start::Quenches& quenches, std::int64_t r) {
    if (!may_continue()) throw StartInterrupted();
    relax_report_.add(co_await start::relax(quenches, positions_of(r)));
    if (!projected_) ++done_;
    co_return {};
  }

  void make_velocities(std::int64_t r, std::span<const double> x, std::span<double> v) const {
    const VelocityKind kind = deck_.system.velocities;
    if (const auto temperature_K = velocity_temperature_K(deck_, static_cast<std::size_t>(r))) {
      const bool tangent = rigid_ || kind == VelocityKind::tangent;
      start::draw_velocities(system_, x, *temperature_K, tangent, system_.seed, r, v);
    } else if (kind == VelocityKind::file) {
      std::ranges::copy(file_of(r).velocities_A_per_akma, v.begin());
    } else if (kind == VelocityKind::state) {
      std::copy_n(&state_->state.velocities_A_per_akma[source_of(r, v.size())], v.size(),
                  v.begin());
    }
  }

  void report() {
    const int replicas = deck_.system.replicas;
    // A quench that is followed by a relaxation need not have converged.
    if (!relaxed_) add(quench_report_.note("the quench", replicas));
    add(relax_report_.note("the relaxation", replicas));
    add(start::message_on_wall(deck_, system_, start_.state));
    if (!projected_) return;
    start_.slow = mean_of(slow_);
    start_.messages.push_back(Message::note(
        fmt::format("projected onto the slow manifold: the bond vibration energy changed from "
                    "{:.3g} to {:.3g} kcal/mol in {} iterations{}",
                    start_.slow->fast_before_kcal_per_mol, start_.slow->fast_after_kcal_per_mol,
                    start_.slow->iterations, replicas > 1 ? " (replica means)" : "")));
  }

  const Deck& deck_;
  const StartProgress& progress_;
  const std::function<bool()> should_continue_ = [this] { return may_continue(); };
  std::vector<StructureSource> paths_;  // of files_
  std::vector<io::FrameCounts> counts_;
  // Where the positions come from; random clusters if both are empty.
  std::vector<io::Structure> files_;
  std::optional<StartState> state_;
  std::optional<State> ring_source_;  // of state_, whose own state is then that of the centroids
  System system_;
  bool rigid_, on_constraints_, relaxed_, projected_;
  int sources_;  ///< number of different starts

  Start start_;
  std::vector<SlowManifoldStart> slow_;  // [replica]
  ConvergenceTally quench_report_, relax_report_;
  std::mutex mutex_;  // of progress_
  std::atomic<int> done_ = 0;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

bool have_equal_starts(const Deck& first, const Deck& second) {
  const IntegratorSection &a = first.integrator, &b = second.integrator;
  const bool same_source = first.path == second.path && first.system == second.system &&
                           first.model == second.model && first.thermostat == second.thermostat &&
                           first.path_integral == second.path_integral;
  if (!same_source || is_rigid(a.scheme) != is_rigid(b.scheme)) return false;
  if (first.system.file || !first.system.files.empty() || first.system.state) return a == b;
  return first.run.device == second.run.device && (is_rigid(a.scheme) || a.omega == b.omega);
}

Start make_start(const Deck& deck, const StartProgress& progress) {
  return StartMaker(deck, progress).make();
}

}  // namespace tarn
