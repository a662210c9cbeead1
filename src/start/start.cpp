#include "tarn/start.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "centre.hpp"
#include "core/parallel.hpp"
#include "slow_manifold_start.hpp"
#include "tarn/core/error.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/physics/extremes.hpp"
#include "tarn/start_state.hpp"
#include "velocities.hpp"

namespace tarn {
namespace {

/// Smaller moves onto the rigid geometry are round-off of the file and not worth a note [A].
constexpr double kNotedMove_A = 1e-6;

/// Minimisations of several replicas that stopped early.
class Unconverged {
 public:
  void add(const MinimiseResult& r) {
    if (r.converged) return;
    const std::lock_guard lock(mutex_);
    ++count_;
    largest_gradient_ = std::max(largest_gradient_, r.max_gradient_kcal_per_mol_A);
  }
  void note(const char* what, int replicas, std::vector<std::string>& notes) const {
    if (count_ == 0) return;
    notes.push_back(
        fmt::format("{} stopped before the minimum in {} of {} replicas; the largest gradient left "
                    "is {:.2g} kcal/mol/A",
                    what, count_, replicas, largest_gradient_));
  }

 private:
  std::mutex mutex_;
  int count_ = 0;
  double largest_gradient_ = 0.0;
};

/// @throws InputError for molecules that are no water of this model
void check_bond_lengths(const WaterModel& model, std::span<const double> x,
                        const std::string& path) {
  std::vector<Problem> problems = io::bond_length_problems(model, x, path);
  if (!problems.empty()) throw InputError(std::move(problems));
}

std::optional<double> velocity_temperature(const Deck& deck, std::size_t replica) {
  if (!is_drawn(deck.system.velocities)) return std::nullopt;
  if (deck.system.temperature_K) return deck.system.temperature_K;
  const std::vector<double> baths = bath_temperatures_K(deck);
  if (baths.empty()) return std::nullopt;
  return baths[replica % baths.size()];
}

/// Mean energies, most iterations.
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

MinimiseResult relax(ForceField& force_field, double omega, std::span<double> positions_A,
                     const std::function<bool()>& should_continue) {
  const MinimiseOptions options{
      1e-7, std::min(2'000, max_quench_iterations(force_field.molecules())), should_continue};
  return relax_penalised(force_field, omega, positions_A, options);
}

/// Puts the molecules of a structure file, which every replica starts from, where the deck wants
/// them.
/// @throws InputError for molecules that are no water of this model
void prepare_file(const std::string& path, const System& system, bool on_constraints, bool relaxed,
                  const std::function<bool()>& should_continue, io::Structure& file,
                  std::vector<std::string>& notes) {
  const WaterModel& model = system.model;
  std::vector<double>& x = file.positions_A;
  check_bond_lengths(model, x, path);
  if (const auto made_for = file.model(); made_for && *made_for != model.name) {
    notes.push_back(
        fmt::format("{} was made for {}, and this deck takes {}", path, *made_for, model.name));
  }
  if (on_constraints) {
    for (std::string& note : make_rigid(model, x, path)) notes.push_back(std::move(note));
  }
  if (!relaxed) return;
  ForceField force_field(model, system.molecules);
  const MinimiseResult r = relax(force_field, system.integrator.omega, x, should_continue);
  notes.push_back(fmt::format(
      "relaxed to a minimum of V0 + V1 at {:.6f} kcal/mol in {} iterations{}",
      r.energy_kcal_per_mol, r.iterations,
      r.converged ? ""
                  : fmt::format("; stopped before the minimum, the largest gradient left is "
                                "{:.2g} kcal/mol/A",
                                r.max_gradient_kcal_per_mol_A)));
}

/// The state that the deck names.
/// @throws InputError for one that it cannot start from; see read_start_state()
StartState checked_state(const Deck& deck) {
  StartState start = read_start_state(deck);
  std::vector<Problem> problems;
  for (const KeyProblem& p : start_state_problems(deck, start)) {
    problems.push_back({deck.path, 0, 0, fmt::format("[{}] {}", p.key, p.message)});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return start;
}

bool keeps_bonds_rigid(const Deck& deck) {
  return is_rigid(deck.integrator.scheme) || std::isinf(deck.integrator.omega);
}

bool pushes_alike(const Deck& then, const Deck& now) {
  return push_fs2(then.integrator) == push_fs2(now.integrator) &&
         keeps_bonds_rigid(then) == keeps_bonds_rigid(now);
}

/// From the positions x of a scheme that pushes them forward to those of another scheme or step,
/// with the same reported positions q and accelerations: vibrating bonds have a large part of them
/// in x - q. Where the bonds are to be rigid x is q.
void push_anew(const Deck& deck, StartState& start) {
  const double old_push = push_fs2(start.deck.integrator);
  const double push = keeps_bonds_rigid(deck) ? 0.0 : push_fs2(deck.integrator);
  if (old_push == 0.0 || pushes_alike(start.deck, deck)) return;
  const System before = make_system(start.deck, start.state.molecules);
  Frame frame;
  make_cpu_engine(before, start.state, {}, deck.run.threads)->snapshot(kPositions, frame);
  std::vector<double>& x = start.state.positions_A;
  if (frame.positions_A.size() != x.size()) {
    throw NumericalError(
        fmt::format("{}: the accelerations of its run cannot be computed", start.path));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double q = frame.positions_A[i];
    x[i] = q - push / old_push * (q - x[i]);
  }
}

std::string no_momentum_note(const std::string& who_had) {
  return who_had +
         " no momentum: with remove_momentum = true this run has none either, and its temperatures "
         "leave out those six degrees of freedom";
}

/// Velocities of a cluster that neither moves nor turns, in a run that does not know.
std::optional<std::string> note_on_momentum(const Deck& deck, const std::string& path,
                                            const WaterModel& model, const io::Structure& file) {
  if (deck.system.remove_momentum || deck.thermostat.kind != Thermostat::none) return std::nullopt;
  // A part in the motion as a whole that six degrees of freedom of many would not have by chance,
  // and that velocities of six digits leave.
  constexpr double kMost = 1e-6;
  const std::vector<double>& v = file.velocities_A_per_akma;
  std::vector<double> without = v;
  start::remove_momentum(model, file.positions_A, without);
  double whole = 0.0, all = 0.0;
  for (std::size_t c = 0; c < v.size(); ++c) {
    const double mass_Da = model.mass_Da(static_cast<int>(c / 3 % 3));
    whole += mass_Da * (v[c] - without[c]) * (v[c] - without[c]);
    all += mass_Da * v[c] * v[c];
  }
  if (!(whole <= kMost * all) || all == 0.0) return std::nullopt;
  return no_momentum_note("the cluster of " + path + " has");
}

/// Puts the molecules of a state where scheme and model want them. A state of the same scheme, step
/// and model is already there, to the last bit.
/// @throws InputError for molecules that are no water of the model
void prepare_state(const Deck& deck, const WaterModel& model, StartState& start,
                   std::vector<std::string>& notes) {
  const Deck& then = start.deck;
  push_anew(deck, start);
  const WaterModel other = make_system(then, start.state.molecules).model;
  const bool same_shape = other.r_oh_A == model.r_oh_A && other.r_hh_A() == model.r_hh_A();
  const bool same_bonds =
      !keeps_bonds_rigid(deck) ||
      (pushes_alike(then, deck) && then.integrator.scheme == deck.integrator.scheme);
  if (then.system.model == kOwnModel && deck.system.model == kOwnModel) {
    if (then.model != deck.model) {
      notes.push_back(fmt::format("{} is of a run whose [model] has other numbers", start.path));
    }
  } else if (then.system.model != deck.system.model) {
    notes.push_back(fmt::format("{} is of a run of {}, and this deck takes {}", start.path,
                                then.system.model, model.name));
  }
  if (then.system.hydrogen_mass_Da != deck.system.hydrogen_mass_Da &&
      deck.system.velocities == VelocityKind::state) {
    notes.push_back(
        fmt::format("hydrogen_mass_Da was {}, is {}: velocities are the same, so that "
                    "the temperature is not",
                    then.system.hydrogen_mass_Da, deck.system.hydrogen_mass_Da));
  } else if (then.system.oxygen_mass_Da != deck.system.oxygen_mass_Da &&
             deck.system.velocities == VelocityKind::state) {
    notes.emplace_back(
        "oxygen_mass_Da is not that of the other run: velocities are the same, so that the "
        "temperature is not");
  }
  if (deck.system.velocities == VelocityKind::state && !deck.system.remove_momentum &&
      deck.thermostat.kind == Thermostat::none &&
      make_system(then, start.state.molecules).zero_momentum) {
    notes.push_back(no_momentum_note("the run of " + start.path + " had"));
  }
  std::vector<double>& x = start.state.positions_A;
  // What velocities have along rigid bonds moves nothing there; to others it would be motion.
  const bool same_masses = other.mass_o_Da == model.mass_o_Da && other.mass_h_Da == model.mass_h_Da;
  if (is_rigid(then.integrator.scheme) &&
      !(same_shape && same_masses && then.integrator.scheme == deck.integrator.scheme)) {
    start::project_onto_constraints(other, x, start.state.velocities_A_per_akma);
  }
  if (same_shape && same_bonds) return;
  for (std::string& note : make_rigid(model, x, start.path, start.state.molecules))
    notes.push_back(std::move(note));
  if (is_rigid(deck.integrator.scheme)) {
    start::project_onto_constraints(model, x, start.state.velocities_A_per_akma);
  }
}

/// What final.xyz of another step does to bonds that vibrate; see push_anew().
std::optional<std::string> note_on_push(const Deck& deck, const std::string& path,
                                        const io::Structure& file) {
  const std::optional<double> old_push = file.push_fs2();
  const double push = push_fs2(deck.integrator);
  if (!old_push || push == *old_push || keeps_bonds_rigid(deck)) return std::nullopt;
  return fmt::format(
      "positions of {} are x = q - b h^2 a with b h^2 = {:.4g} fs^2, and this deck has {:.4g}: "
      "bonds "
      "that vibrate will do so more or less. Start from that run by state, or with project",
      path, *old_push, push);
}

/// Copies that nothing makes differ.
std::optional<std::string> note_on_copies(const Deck& deck, bool one_start) {
  const bool same_velocities = !is_drawn(deck.system.velocities);
  if (deck.system.replicas == 1 || !one_start || !same_velocities) return std::nullopt;
  if (deck.thermostat.kind != Thermostat::none) return std::nullopt;
  return "all replicas have the same positions and velocities, and without a thermostat they stay "
         "the same: draw velocities, or take one replica";
}

/// A start far outside of the wall: its radius may have been meant in another unit.
std::optional<std::string> note_on_wall(const System& system, const State& state) {
  // Thermal motion takes molecules about that far into a soft wall.
  constexpr double kNoted_A = 1.0;
  const double radius_A = system.confinement.radius_A;
  if (system.confinement.stiffness_kcal_per_mol_A2 == 0.0) return std::nullopt;
  double furthest_A = 0.0;
  int replicas = 0;
  for (std::size_t first = 0; first < state.positions_A.size(); first += state.coordinates()) {
    const std::span<const double> x(&state.positions_A[first], state.coordinates());
    const Eigen::Vector3d centre = start::centre_of_mass(system.model, x);
    double here_A = 0.0;
    for (std::size_t at = 0; at < x.size(); at += 9) {
      here_A = std::max(here_A, (Eigen::Map<const Eigen::Vector3d>(&x[at]) - centre).norm());
    }
    furthest_A = std::max(furthest_A, here_A);
    replicas += here_A > radius_A + kNoted_A;
  }
  if (replicas == 0) return std::nullopt;
  return fmt::format(
      "{} of {} replicas begin{} outside of the wall, with oxygens up to {:.3g} A from the centre "
      "of mass and radius_A = {:.4g}: it pushes them in, which heats the cluster",
      replicas, state.replicas(), replicas == 1 ? "s" : "", furthest_A, radius_A);
}

/// A model whose Lennard-Jones term does not keep charges apart has no minimum: in its quench atoms
/// of different molecules fall into each other.
/// @throws InputError
void refuse_fused(const Deck& deck, std::span<const double> quenched_A, std::int64_t replica) {
  constexpr double kFused_A = 0.8;  // hydrogen bonds of water models are 1.7 A and longer
  if (deck.system.model != kOwnModel) return;
  const ClosestAtoms closest = closest_atoms(quenched_A);
  if (closest.a.molecule == closest.b.molecule || closest.distance_A >= kFused_A) return;
  throw InputError({Problem{
      deck.path, 0, 0,
      fmt::format("the quenched start of replica {} has {} of molecule {} and {} of molecule {} "
                  "(counted from 1) {:.2g} A apart: [model] sigma_A = {:g} and "
                  "epsilon_kcal_per_mol = {:g} do not keep its charges apart; make them larger, or "
                  "the charges smaller",
                  replica, atom_name(closest.a), closest.a.molecule + 1, atom_name(closest.b),
                  closest.b.molecule + 1, closest.distance_A, deck.model->sigma_A,
                  deck.model->epsilon_kcal_per_mol)}});
}

/// Makes the starts of all replicas from one source.
class StartMaker {
 public:
  StartMaker(const Deck& deck, const StartProgress& watch)
      : deck_(deck),
        watch_(watch),
        path_(structure_path(deck)),
        file_(path_ ? std::optional(io::read_structure(*path_, {deck.system.frame}, &counts_))
                    : std::nullopt),
        before_(deck.system.state ? std::optional(checked_state(deck)) : std::nullopt),
        system_(make_system(deck, file_     ? file_->molecules
                                  : before_ ? before_->state.molecules
                                            : deck.system.molecules)),
        rigid_(is_rigid(deck.integrator.scheme)),
        on_constraints_(keeps_bonds_rigid(deck)),
        relaxed_(deck.system.relax && !on_constraints_),
        projected_(deck.system.project == StartProjection::slow_manifold && !on_constraints_),
        sources_(before_ ? before_->state.replicas()
                 : file_ ? 1
                         : deck.system.replicas) {}

  Start make() {
    make_room();
    if (file_) prepare_source_file();
    if (before_) prepare_state(deck_, system_.model, *before_, start_.notes);
    if (const auto note = note_on_copies(deck_, sources_ == 1)) start_.notes.push_back(*note);
    if (deck_.system.velocities == VelocityKind::file) prepare_velocities_of_file();
    for_each_index(
        deck_.system.replicas, deck_.run.threads,
        [&](int) { return ForceField(system_.model, system_.molecules); },
        [&](ForceField& worker, std::int64_t r) {
          make_replica(worker, r);
          const std::lock_guard lock(mutex_);
          ++done_;
        });
    if (stopped_) throw StartInterrupted();
    report();
    return std::move(start_);
  }

 private:
  /// Asked by any thread.
  bool goes_on() {
    const std::lock_guard lock(mutex_);
    if (watch_ && !stopped_) stopped_ = !watch_(done_, deck_.system.replicas);
    return !stopped_;
  }

  void make_room() {
    State& state = start_.state;
    state.molecules = system_.molecules;
    state.replica_ids.resize(static_cast<std::size_t>(deck_.system.replicas));
    state.positions_A.resize(state.coordinates() * state.replica_ids.size());
    state.velocities_A_per_akma.resize(state.positions_A.size());
    if (projected_) slow_.resize(state.replica_ids.size());
  }

  void prepare_source_file() {
    start_.notes = file_->notes;
    if (const auto note = io::note_on_frames(*path_, counts_)) {
      start_.notes.push_back(*note + "; [system] frame takes another one");
    }
    if (const auto note = io::note_on_sites(*path_, *file_, system_.model)) {
      start_.notes.push_back(*note + ", which [system] model names");
    }
    prepare_file(*path_, system_, on_constraints_, relaxed_, should_continue_, *file_,
                 start_.notes);
  }

  /// @throws InputError for a file that has none
  void prepare_velocities_of_file() {
    if (file_->velocities_A_per_akma.empty()) {
      throw InputError({Problem{deck_.path, 0, 0, missing_velocities_message(*path_)}});
    }
    if (const auto note = note_on_push(deck_, *path_, *file_)) start_.notes.push_back(*note);
    if (const auto note = note_on_momentum(deck_, *path_, system_.model, *file_)) {
      start_.notes.push_back(*note);
    }
    if (rigid_) {
      start::project_onto_constraints(system_.model, file_->positions_A,
                                      file_->velocities_A_per_akma);
    }
  }

  void make_replica(ForceField& worker, std::int64_t r) {
    if (!goes_on()) throw StartInterrupted();
    State& state = start_.state;
    const auto index = static_cast<std::size_t>(r);
    const std::size_t size = state.coordinates();
    state.replica_ids[index] = r;
    const std::span<double> x(&state.positions_A[size * index], size);
    const std::span<double> v(&state.velocities_A_per_akma[size * index], size);
    make_positions(worker, r, x);
    if (!goes_on()) throw StartInterrupted();
    make_velocities(r, x, v);
    if (deck_.system.remove_momentum) start::remove_momentum(system_.model, x, v);
    if (!projected_) return;
    try {
      slow_[index] = start::project_onto_slow_manifold(worker, system_.integrator.omega, x, v);
    } catch (const NumericalError& error) {
      throw NumericalError(
          fmt::format("{}: the start of replica {}: {}", deck_.path, r, error.what()));
    }
    // The projection does not quite keep angular momentum.
    if (deck_.system.remove_momentum) start::remove_momentum(system_.model, x, v);
  }

  std::size_t source_of(std::int64_t r, std::size_t size) const {
    return sources_ == 1 ? 0 : size * static_cast<std::size_t>(r);
  }

  void make_positions(ForceField& worker, std::int64_t r, std::span<double> x) {
    if (file_) {
      std::copy(file_->positions_A.begin(), file_->positions_A.end(), x.begin());
    } else if (before_) {
      std::copy_n(&before_->state.positions_A[source_of(r, x.size())], x.size(), x.begin());
    } else {
      const WaterModel& model = system_.model;
      MinimiseResult quench;
      quench.converged = true;
      const bool quenched = deck_.system.start == StartKind::quenched;
      const std::vector<double> cluster =
          quenched ? quenched_cluster(model, system_.molecules, system_.seed, r, &quench,
                                      should_continue_)
                   : random_cluster(model, system_.molecules, system_.seed, r);
      if (quenched) refuse_fused(deck_, cluster, r);
      std::copy(cluster.begin(), cluster.end(), x.begin());
      quench_report_.add(quench);
      if (relaxed_) relax_report_.add(relax(worker, system_.integrator.omega, x, should_continue_));
    }
  }

  void make_velocities(std::int64_t r, std::span<const double> x, std::span<double> v) const {
    const VelocityKind kind = deck_.system.velocities;
    if (const auto temperature_K = velocity_temperature(deck_, static_cast<std::size_t>(r))) {
      const bool tangent = rigid_ || kind == VelocityKind::tangent;
      start::draw_velocities(system_.model, x, *temperature_K, tangent, system_.seed, r, v);
    } else if (kind == VelocityKind::file) {
      std::copy(file_->velocities_A_per_akma.begin(), file_->velocities_A_per_akma.end(),
                v.begin());
    } else if (kind == VelocityKind::state) {
      std::copy_n(&before_->state.velocities_A_per_akma[source_of(r, v.size())], v.size(),
                  v.begin());
    }
  }

  void report() {
    const int replicas = deck_.system.replicas;
    // A quench that is relaxed afterwards need not have ended.
    if (!relaxed_) quench_report_.note("the quench", replicas, start_.notes);
    relax_report_.note("the relaxation", replicas, start_.notes);
    if (const auto note = note_on_wall(system_, start_.state)) start_.notes.push_back(*note);
    if (!projected_) return;
    start_.slow = mean_of(slow_);
    start_.notes.push_back(fmt::format(
        "projected onto the slow manifold: the energy of the bonds' vibration went from {:.3g} to "
        "{:.3g} kcal/mol in {} iterations{}",
        start_.slow->fast_before_kcal_per_mol, start_.slow->fast_after_kcal_per_mol,
        start_.slow->iterations, replicas > 1 ? ", means of the replicas" : ""));
  }

  const Deck& deck_;
  const StartProgress& watch_;
  const std::function<bool()> should_continue_ = [this] { return goes_on(); };
  std::optional<std::string> path_;  // of file_
  io::FrameCounts counts_;
  // Where the positions come from; random clusters where there is neither.
  std::optional<io::Structure> file_;
  std::optional<StartState> before_;
  System system_;
  bool rigid_, on_constraints_, relaxed_, projected_;
  int sources_;  ///< different starts: one for each replica, or one for all

  Start start_;
  std::vector<SlowManifoldStart> slow_;  // [replica]
  Unconverged quench_report_, relax_report_;
  std::mutex mutex_;  // of what follows
  int done_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::vector<std::string> make_rigid(const WaterModel& model, std::span<double> positions_A,
                                    const std::string& path, int molecules) {
  const std::size_t size =
      molecules > 0 ? static_cast<std::size_t>(molecules) * 9 : positions_A.size();
  for (std::size_t at = 0; at < positions_A.size(); at += size) {
    check_bond_lengths(
        model, positions_A.subspan(at, size),
        size == positions_A.size() ? path : fmt::format("{}, replica {}", path, at / size));
  }
  const RigidFit fit = fit_rigid_geometry(model, positions_A);
  if (fit.largest_move_A <= kNotedMove_A) return {};
  const std::string place =
      molecules > 0 ? fmt::format("{} (counted from 1) of replica {}", fit.molecule % molecules + 1,
                                  fit.molecule / molecules)
                    : fmt::format("{} (counted from 1)", fit.molecule + 1);
  return {fmt::format(
      "molecules of {} were put onto the rigid geometry of {}; the largest move of an atom "
      "is {:.2g} A, in molecule {}",
      path, model.name, fit.largest_move_A, place)};
}

bool have_equal_starts(const Deck& first, const Deck& second) {
  const IntegratorSection &a = first.integrator, &b = second.integrator;
  const bool same_source = first.path == second.path && first.system == second.system &&
                           first.model == second.model && first.thermostat == second.thermostat;
  if (!same_source || is_rigid(a.scheme) != is_rigid(b.scheme)) return false;
  if (first.system.file || first.system.state) return a == b;
  return is_rigid(a.scheme) || a.omega == b.omega;
}

Start make_start(const Deck& deck, const StartProgress& watch) {
  return StartMaker(deck, watch).make();
}

}  // namespace tarn
