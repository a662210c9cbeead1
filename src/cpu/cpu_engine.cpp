#include "tarn/cpu_engine.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "aligned.hpp"
#include "crew.hpp"
#include "dense_solve.hpp"
#include "flush_denormals.hpp"
#include "kernel_table.hpp"
#include "layout.hpp"
#include "tarn/core/error.hpp"
#include "tarn/force_field.hpp"
#include "tarn/measure.hpp"
#include "tarn/physics/confinement.hpp"
#include "tarn/physics/pair_force.hpp"
#include "tarn/steps/newmark.hpp"
#include "tarn/steps/zss.hpp"

namespace tarn {
namespace cpu {
namespace {

/// Stage times are taken at every step whose number is a multiple of this, and scaled.
constexpr std::int64_t kTimedSteps = 32;
/// Molecules whose distances one thread counts at a time.
constexpr int kCountGrain = 32;

/// A group of replicas that is stepped by one thread without looking at any other: those in the
/// lanes of a pack, or one replica with its molecules in the lanes.
struct Group {
  bool lanes_are_replicas = false;
  int slots = 1;                  ///< lanes for replicas, or one
  int first_replica = 0;          ///< index into the state
  int replicas = 0;               ///< fewer than slots where the last ones only repeat the first
  AlignedVector<double> x, v, a;  ///< packs
  AlignedVector<double> kept_x, kept_v;  ///< the last state that was kept
  AlignedVector<double> v_thermal;       ///< packs; velocities right after the noise of BAOAB
  AlignedVector<std::uint64_t> ids;      ///< [slot]
  AlignedVector<double> kick_scale;      ///< [slot] or [molecule]
  std::vector<char> stopped;             ///< [replica of the group]
};

/// Single precision: the state of a group while it is being stepped, and its forces. Packs have
/// twice as many lanes as those of double.
struct SingleGroup {
  AlignedVector<std::uint32_t> x, kept_x;
  AlignedVector<float> v, a, kept_v, v_thermal, f, totals, sites, site_f;
};

/// What steps of a group need beside its state.
struct WorkSpace {
  SingleGroup single;
  AlignedVector<double> f, site_f, q, totals;
  AlignedVector<double> sites, block_f;          ///< doubles hold floats too
  AlignedVector<double> active, change2, size2;  ///< of NewmarkCorrection
};

/// Sums of one thread.
struct alignas(64) Tally {
  std::vector<std::uint64_t> counts;
  std::array<std::int64_t, kCountGroups> samples{};
  EngineReport report;
};

/// Copies the packs that a hand takes, of `size` numbers each.
template <class T>
void copy_packs(const PackLanes& packs, int size, const AlignedVector<T>& from,
                AlignedVector<T>& to) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(packs.first_pack) * size;
  const auto last = from.begin() + static_cast<std::ptrdiff_t>(packs.last_pack) * size;
  std::copy(first, last, to.begin() + (first - from.begin()));
}

class StageClock {
 public:
  explicit StageClock(bool on) : on_(on) {
    if (on_) last_ = std::chrono::steady_clock::now();
  }
  void add_to(double& seconds) {
    if (!on_) return;
    const auto now = std::chrono::steady_clock::now();
    seconds += kTimedSteps * std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  bool on_;
  std::chrono::steady_clock::time_point last_;
};

class CpuEngine final : public Engine {
 public:
  CpuEngine(const System& system, const State& start, const PairCountRequest& counts, int threads,
            const KernelTable& kernels)
      : system_(system),
        kernels_(kernels),
        n_(system.molecules),
        small_(is_small_cluster(system.molecules)),
        single_(system.precision == Precision::single),
        mixed_(pair_precision(system) == Precision::mixed),
        pushes_forward_(pushes_forward(system.integrator.scheme)),
        m_site_(system.model.has_m_site()),
        threads_(threads > 0 ? threads : omp_get_max_threads()),
        step_(start.step),
        replica_ids_(start.replica_ids),
        counting_(counts),
        pair_(pair_parameters<double>(system.model)),
        passes_(step_passes(system)),
        parameters_(step_parameters(system)),
        single_parameters_(rounded_to_float(parameters_)),
        single_pair_(pair_parameters<float>(system.model)),
        measure_(system) {
    confinement_ = {system.confinement.radius_A, system.confinement.stiffness_kcal_per_mol_A2};
    make_groups(start);
    spaces_.resize(static_cast<std::size_t>(threads_));
    tallies_.resize(spaces_.size());
    stopped_state_.resize(groups_.size());
    for_each_group([&](auto& steps, std::size_t g) { prepare_group(steps, g); });
  }

  void advance(std::int64_t n_steps) override {
    if (n_steps <= 0) return;
    for_each_group([&](auto& steps, std::size_t g) { advance_group(steps, g, n_steps); });
    step_ += n_steps;
  }

  std::int64_t step() const override { return step_; }

  State state() const override {
    State s;
    s.molecules = n_;
    s.step = step_;
    s.replica_ids = replica_ids_;
    s.positions_A.resize(replica_ids_.size() * s.coordinates());
    s.velocities_A_per_akma.resize(s.positions_A.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      for (int r = 0; r < group.replicas; ++r) {
        const std::size_t at = static_cast<std::size_t>(group.first_replica + r) * s.coordinates();
        if (group.stopped[static_cast<std::size_t>(r)]) {
          const StoppedReplica& stop = find_stopped(g, r);
          std::copy(stop.x.begin(), stop.x.end(), s.positions_A.begin() + at);
          std::copy(stop.v.begin(), stop.v.end(), s.velocities_A_per_akma.begin() + at);
        } else {
          gather(group, group.x, r, &s.positions_A[at]);
          gather(group, group.v, r, &s.velocities_A_per_akma[at]);
        }
      }
    }
    return s;
  }

  std::vector<BlowUp> blow_ups() const override {
    std::vector<BlowUp> all;
    for (const auto& list : stopped_state_) {
      for (const StoppedReplica& stop : list) all.push_back(stop.blow_up);
    }
    std::sort(all.begin(), all.end(),
              [](const BlowUp& a, const BlowUp& b) { return a.replica < b.replica; });
    return all;
  }

  EngineReport report() const override {
    EngineReport sum;
    for (const Tally& s : tallies_) {
      sum.pair_seconds += s.report.pair_seconds;
      sum.bond_seconds += s.report.bond_seconds;
      sum.noise_seconds += s.report.noise_seconds;
      sum.rest_seconds += s.report.rest_seconds;
      sum.constraint_iterations += s.report.constraint_iterations;
      sum.molecule_steps += s.report.molecule_steps;
      sum.indefinite_hessians += s.report.indefinite_hessians;
    }
    return sum;
  }

  std::string description() const override {
    return arithmetic() + ", " + std::to_string(threads_) +
           (threads_ == 1 ? " thread" : " threads");
  }
  std::string arithmetic() const override { return std::string("CPU, ") + kernels_.name; }

  void snapshot(unsigned fields, Frame& frame) override;

 private:
  struct StoppedReplica {
    int replica_of_group;
    BlowUp blow_up;
    std::vector<double> x, v;  ///< last good state
  };

  /// Threads that work on one replica together: on large clusters, where there are fewer of them
  /// than threads.
  int crew_size() const {
    if (small_ || groups_.size() >= static_cast<std::size_t>(threads_)) return 1;
    return std::min(threads_, block_tasks(n_, pair_blocks(n_, wide_slots())));
  }
  /// No more threads than have a group each: one that only waits at the end costs time.
  int threads_for_groups() const {
    return static_cast<int>(
        std::clamp(groups_.size(), std::size_t{1}, static_cast<std::size_t>(threads_)));
  }
  /// Lanes of the pair type: replicas in a group, where lanes are replicas.
  int wide_slots() const { return kernels_.lanes * (mixed_ || single_ ? 2 : 1); }
  /// Packs of that type of one cluster.
  int wide_packs() const { return padded_molecules(n_) / wide_slots(); }
  /// Packs of so many lanes that hold molecules.
  int packs_in(const Group& group, int lanes) const {
    return group.lanes_are_replicas ? group.slots / lanes * n_ : (n_ + lanes - 1) / lanes;
  }
  int most_molecules() const {
    return std::max(padded_molecules(n_), small_ ? wide_slots() * n_ : 0);
  }
  /// Bins of one group of replicas, all classes of pairs.
  std::size_t counts_of_group() const {
    return static_cast<std::size_t>(kPairClasses) * static_cast<std::size_t>(counting_.bins + 1);
  }
  std::size_t pack_doubles(const Group& group) const {
    return static_cast<std::size_t>(
        9 * (group.lanes_are_replicas ? group.slots * n_ : padded_molecules(n_)));
  }
  /// Where coordinate c of molecule m of replica r of a group lies.
  std::size_t index(const Group& group, int r, int m, int c) const {
    const int lanes = kernels_.lanes;
    if (group.lanes_are_replicas) {
      return pack_index(lanes, static_cast<std::size_t>(r / lanes * n_ + m), c, r % lanes);
    }
    return pack_index(lanes, static_cast<std::size_t>(m / lanes), c, m % lanes);
  }
  void gather(const Group& group, const AlignedVector<double>& packs, int r, double* out) const {
    for (int m = 0; m < n_; ++m) {
      for (int c = 0; c < 9; ++c) out[m * 9 + c] = packs[index(group, r, m, c)];
    }
  }
  const StoppedReplica& find_stopped(std::size_t g, int r) const {
    return *std::find_if(stopped_state_[g].begin(), stopped_state_[g].end(),
                         [&](const StoppedReplica& s) { return s.replica_of_group == r; });
  }

  void make_groups(const State& start);
  void prepare_to_report(WorkSpace& space) const;
  void prepare_to_step(const Group& group, WorkSpace& space) const;
  struct PackRange {
    int first, last;  ///< one past the end
  };
  /// Of all `packs` those that a hand takes. Whatever the lanes of the packs, they are the same
  /// molecules: whole packs of the pair type.
  PackRange part_of(const Hand& hand, int packs, int lanes) const {
    if (hand.size() == 1) return {0, packs};
    const auto begin = [&](int rank) {
      return std::min(packs, wide_packs() * rank / hand.size() * (wide_slots() / lanes));
    };
    return {begin(hand.rank()), begin(hand.rank() + 1)};
  }
  /// The same of all packs of the pair type, those that only fill up among them.
  PackRange wide_part_of(const Hand& hand) const {
    return part_of(hand, wide_packs(), wide_slots());
  }
  PackLanes lanes_of(const Group& group, PackRange packs) const {
    return {packs.first,
            packs.last,
            group.lanes_are_replicas,
            n_,
            group.ids.data(),
            group.kick_scale.data(),
            group.replicas};
  }
  MoleculePacks packs_of(Group& group, WorkSpace& space, const Hand& hand = {}) const {
    const int lanes = kernels_.lanes;
    return {lanes_of(group, part_of(hand, packs_in(group, lanes), lanes)),
            group.x.data(),
            group.v.data(),
            group.a.data(),
            space.f.data(),
            group.v_thermal.data()};
  }
  /// All forces at positions x that do not belong to the bonds: space.f.
  void forces(double* x, Group& group, WorkSpace& space, Hand& hand) const;
  void pair_forces(const MoleculePacks& packs, WorkSpace& space, Hand& hand) const;
  LargePairs large_pairs_of(const double* x, void* sites) const;
  void large_pair_forces(const LargePairs& args, WorkSpace& space, Hand& hand) const;
  /// Of rounded pair forces.
  template <class S, class Packs>
  static void remove_net_force(const StepKernels<S, Packs>& kernels, const Packs& packs,
                               const Masses<S>& masses, Hand& hand, AlignedVector<S>& totals,
                               AlignedVector<S>& f) {
    if (hand.size() == 1) return kernels.remove_net_force(packs, masses, nullptr, f.data());
    kernels.total_forces(packs, f.data(), totals.data());
    hand.meet();
    kernels.remove_net_force(packs, masses, totals.data(), f.data());
  }
  PassReport finish_step(Group& group, WorkSpace& space, Hand& hand, EngineReport& report,
                         StageClock& clock);
  /// Accelerations from dense factorisations, by replica.
  void solve_dense(Group& group, const WorkSpace& space, EngineReport& report);
  /// Accelerations of push-forward Newmark, by iteration.
  void solve_newmark(Group& group, WorkSpace& space, Hand& hand, EngineReport& report,
                     StageClock& clock);
  SinglePacks single_packs(const Group& group, WorkSpace& space, const Hand& hand) const;
  void single_forces(const SinglePacks& packs, WorkSpace& space, Hand& hand) const;

  struct DoubleSteps;
  struct SingleSteps;
  /// Calls op(steps, g) for each group, on the threads that there are: each group on one of them,
  /// or on all of them at once.
  template <class Op>
  void for_each_group(const Op& op);
  template <class Steps>
  void prepare_group(Steps& steps, std::size_t g);
  template <class Steps>
  void advance_group(Steps& steps, std::size_t g, std::int64_t n_steps);

  template <class Motion>
  void stop_bad_replicas(std::size_t g, std::int64_t step, const Motion& motion);
  bool counts_are_due(std::int64_t step) const {
    return counting_.enabled && step >= counting_.first_step && step % counting_.every == 0;
  }
  void count_group(Group& group, WorkSpace& space, Hand& hand, Tally& tally) const;

  System system_;
  const KernelTable& kernels_;
  int n_;
  bool small_, single_, mixed_, pushes_forward_, m_site_;
  int threads_;
  std::int64_t step_;
  std::vector<std::int64_t> replica_ids_;
  PairCountRequest counting_;
  PairParameters<double> pair_;
  Confinement<double> confinement_{};
  StepPasses passes_;
  StepParameters parameters_;
  StepNumbers<float> single_parameters_;
  PairParameters<float> single_pair_;
  Measure measure_;
  std::vector<Group> groups_;
  std::vector<WorkSpace> spaces_;  ///< [thread]; a crew steps in the first one
  std::vector<Tally> tallies_;     ///< [thread]
  std::vector<std::vector<StoppedReplica>> stopped_state_;  ///< [group]
};

void CpuEngine::make_groups(const State& start) {
  const int replicas = start.replicas();
  const int slots = small_ ? wide_slots() : 1;
  for (int first = 0; first < replicas; first += slots) {
    const int here = std::min(slots, replicas - first);
    const bool wide = small_ && !narrow_pays(n_, here, kernels_.lanes);
    for (int r = 0; r < (wide ? 1 : here); ++r) {
      Group group;
      group.lanes_are_replicas = wide;
      group.slots = wide ? slots : 1;
      group.first_replica = first + r;
      group.replicas = wide ? here : 1;
      groups_.push_back(std::move(group));
    }
  }
#pragma omp parallel for num_threads(threads_for_groups())
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    group.stopped.assign(static_cast<std::size_t>(group.replicas), 0);
    group.x.assign(pack_doubles(group), 0.0);
    group.v.assign(pack_doubles(group), 0.0);
    group.a.assign(pack_doubles(group), 0.0);
    group.ids.resize(static_cast<std::size_t>(group.slots));
    group.kick_scale.assign(
        static_cast<std::size_t>(group.lanes_are_replicas ? group.slots : padded_molecules(n_)),
        0.0);
    const auto fill = [&](int slot, int source, int molecule, int from_molecule, bool moving) {
      const std::size_t from =
          (static_cast<std::size_t>(group.first_replica + source) * n_ + from_molecule) * 9;
      for (int c = 0; c < 9; ++c) {
        const std::size_t to = index(group, slot, molecule, c);
        group.x[to] = start.positions_A[from + c];
        group.v[to] = moving ? start.velocities_A_per_akma[from + c] : 0.0;
      }
    };
    // Lanes without a replica repeat the first one; their results are not looked at.
    for (int slot = 0; slot < group.slots; ++slot) {
      const int source = slot < group.replicas ? slot : 0;
      group.ids[static_cast<std::size_t>(slot)] =
          static_cast<std::uint64_t>(start.replica_ids[group.first_replica + source]);
      const double scale =
          kick_scale_of(system_.thermostat, start.replica_ids[group.first_replica + source]);
      if (group.lanes_are_replicas) {
        group.kick_scale[static_cast<std::size_t>(slot)] = scale;
      } else {
        // Molecules that only fill up a pack stay at rest.
        std::fill_n(group.kick_scale.begin(), n_, scale);
      }
      for (int m = 0; m < n_; ++m) fill(slot, source, m, m, true);
    }
    if (!group.lanes_are_replicas) {
      for (int m = n_; m < padded_molecules(n_); ++m) fill(0, 0, m, 0, false);
    }
    if (system_.thermostat.kind == Thermostat::baoab) group.v_thermal = group.v;
  }
}

void CpuEngine::prepare_to_report(WorkSpace& s) const {
  s.q.resize(static_cast<std::size_t>(9 * most_molecules()));
}

void CpuEngine::prepare_to_step(const Group& group, WorkSpace& s) const {
  prepare_to_report(s);
  const std::size_t molecules = static_cast<std::size_t>(most_molecules());
  s.f.resize(molecules * 9);
  s.totals.resize(molecules * 3);
  s.sites.resize(molecules * kSiteComponents);
  if (small_) {
    s.site_f.resize(molecules * kSiteForceComponents);
  } else {
    s.block_f.resize(block_force_size(padded_molecules(n_), pair_blocks(n_, wide_slots())) /
                     (mixed_ || single_ ? 2 : 1));
  }
  if (!single_) return;
  SingleGroup& f = s.single;
  const std::size_t size = static_cast<std::size_t>(packs_in(group, wide_slots()) * wide_slots());
  f.x.resize(size * kFixedComponents);
  f.kept_x.resize(f.x.size());
  f.v.resize(size * 9);
  f.kept_v.resize(f.v.size());
  f.a.resize(size * 9);
  f.f.resize(size * 9);
  f.totals.resize(size * 3);
  f.sites.resize(size * kSiteComponents);
  if (group.lanes_are_replicas) f.site_f.resize(size * kSiteForceComponents);
  if (!group.v_thermal.empty()) f.v_thermal.resize(size * 9);
}

void CpuEngine::forces(double* x, Group& group, WorkSpace& space, Hand& hand) const {
  MoleculePacks packs = packs_of(group, space, hand);
  packs.x = x;
  pair_forces(packs, space, hand);
  if (mixed_) {
    remove_net_force(kernels_.step, packs, parameters_.masses, hand, space.totals, space.f);
  }
  if (confinement_.stiffness > 0.0) {
    kernels_.step.confine(packs, parameters_.masses, confinement_, space.f.data());
  }
}

void CpuEngine::pair_forces(const MoleculePacks& packs, WorkSpace& space, Hand& hand) const {
  double* f = space.f.data();
  if (packs.lanes_are_replicas) {
    kernels_.small_pairs[m_site_][mixed_]({packs.x, space.sites.data(), space.site_f.data(), f, n_},
                                          pair_);
    return;
  }
  const LargePairs args = large_pairs_of(packs.x, space.sites.data());
  const PackRange own = wide_part_of(hand);
  kernels_.build_sites[m_site_][mixed_](args, pair_, own.first, own.last);
  if (small_) {
    kernels_.narrow_pairs[m_site_][mixed_](args, pair_, f);
  } else {
    large_pair_forces(args, space, hand);
  }
}

LargePairs CpuEngine::large_pairs_of(const double* x, void* sites) const {
  return {x, sites, nullptr, n_, padded_molecules(n_), small_ ? 1 : pair_blocks(n_, wide_slots()),
          0, 0,     1};
}

/// From the sites of its own part to the forces on the atoms of that part.
void CpuEngine::large_pair_forces(const LargePairs& args, WorkSpace& space, Hand& hand) const {
  const int precision = mixed_ || single_;
  LargePairs all = args;
  all.block_f = space.block_f.data();
  hand.meet();
  hand.share(block_tasks(n_, args.blocks), [&](int k) {
    const BlockTask task = block_task(k, n_, args.blocks);
    LargePairs a = all;
    a.row_block = task.row;
    a.first_partner = task.first_partner;
    a.last_partner = task.last_partner;
    kernels_.large_pairs[m_site_][precision](a, pair_);
  });
  const PackRange own = wide_part_of(hand);
  kernels_.sum_blocks[m_site_][precision](all, pair_.m_weight, own.first, own.last, space.f.data());
}

/// From forces to accelerations and the second kick.
PassReport CpuEngine::finish_step(Group& group, WorkSpace& space, Hand& hand, EngineReport& report,
                                  StageClock& clock) {
  const IntegratorSpec& i = system_.integrator;
  const MoleculePacks packs = packs_of(group, space, hand);
  PassReport pass;
  if (i.scheme == Scheme::pushforward_newmark) {
    solve_newmark(group, space, hand, report, clock);
    pass = kernels_.end_kick(parameters_, packs);
  } else if (solves_densely(i)) {
    hand.alone([&] { solve_dense(group, space, report); });
    pass = kernels_.end_kick(parameters_, packs);
  } else {
    pass = kernels_.step.end[static_cast<int>(passes_.end)](parameters_, packs);
  }
  report.indefinite_hessians += pass.indefinite;
  clock.add_to(report.bond_seconds);
  return pass;
}

void CpuEngine::solve_dense(Group& group, const WorkSpace& space, EngineReport& report) {
  std::vector<double> x(static_cast<std::size_t>(n_) * 9), f(x.size()), a(x.size());
  for (int r = 0; r < group.replicas; ++r) {
    if (group.stopped[static_cast<std::size_t>(r)]) continue;
    gather(group, group.x, r, x.data());
    gather(group, space.f, r, f.data());
    report.indefinite_hessians += dense_accelerations(system_, x, f, a);
    // Lanes without a replica repeat the first one.
    for (int slot = r; slot < (r == 0 ? group.slots : r + 1); ++slot) {
      if (slot > 0 && slot < group.replicas && slot != r) continue;
      for (int m = 0; m < n_; ++m) {
        for (int c = 0; c < 9; ++c) {
          group.a[index(group, slot, m, c)] = a[static_cast<std::size_t>(m * 9 + c)];
        }
      }
    }
  }
}

/// Starts from a = 0, so that the solution is a function of the positions only; the first
/// correction is the acceleration of Z&Ss. A replica that is solved is left alone from then on.
void CpuEngine::solve_newmark(Group& group, WorkSpace& space, Hand& hand, EngineReport& report,
                              StageClock& clock) {
  const MoleculePacks packs = packs_of(group, space), own = packs_of(group, space, hand);
  const std::size_t lanes = static_cast<std::size_t>(std::max(group.slots, kernels_.lanes));
  AlignedVector<double>& active = space.active;
  hand.alone([&] {
    active.assign(lanes, 1.0);
    space.change2.resize(lanes);
    space.size2.resize(lanes);
    std::fill(group.a.begin(), group.a.end(), 0.0);
    space.q = group.x;
  });
  for (int correction = 1;; ++correction) {
    clock.add_to(report.bond_seconds);
    if (correction > 1) {
      kernels_.report_positions(parameters_, own, space.q.data());
      forces(space.q.data(), group, space, hand);
      clock.add_to(report.pair_seconds);
    }
    hand.alone([&] {
      for (int r = 0; r < group.replicas; ++r) {
        report.constraint_iterations += active[static_cast<std::size_t>(r)] > 0.0 ? n_ : 0;
      }
      kernels_.correct_newmark(
          parameters_, packs,
          {space.q.data(), active.data(), space.change2.data(), space.size2.data()});
      for (std::size_t l = 0; l < lanes; ++l) {
        if (is_solved_to_round_off(space.change2[l], space.size2[l])) active[l] = 0.0;
      }
    });
    if (std::find(active.begin(), active.end(), 1.0) == active.end()) return;
    if (correction == kMostCorrections) break;
  }
  // What could not be solved is a blow-up.
  hand.alone([&] {
    for (int r = 0; r < group.slots; ++r) {
      if (active[static_cast<std::size_t>(r)] == 0.0) continue;
      for (int m = 0; m < n_; ++m) group.a[index(group, r, m, 0)] = std::nan("");
    }
  });
}

SinglePacks CpuEngine::single_packs(const Group& group, WorkSpace& space, const Hand& hand) const {
  SingleGroup& s = space.single;
  const int lanes = wide_slots();
  return {lanes_of(group, part_of(hand, packs_in(group, lanes), lanes)),
          s.x.data(),
          s.v.data(),
          s.a.data(),
          s.f.data(),
          group.v_thermal.empty() ? nullptr : s.v_thermal.data()};
}

void CpuEngine::single_forces(const SinglePacks& packs, WorkSpace& space, Hand& hand) const {
  SingleGroup& s = space.single;
  const SinglePairs pairs{packs.x, s.sites.data(),   s.site_f.data(), s.f.data(),
                          n_,      packs.first_pack, packs.last_pack};
  if (packs.lanes_are_replicas) {
    kernels_.single.small_pairs[m_site_](pairs, single_pair_);
  } else {
    kernels_.single.build_sites[m_site_](pairs, single_pair_);
    if (small_) {
      kernels_.single.narrow_pairs[m_site_](pairs, single_pair_);
    } else {
      large_pair_forces(large_pairs_of(nullptr, s.sites.data()), space, hand);
      kernels_.single.round_forces(space.f.data(), packs.first_pack, packs.last_pack, s.f.data());
    }
  }
  const Masses<float>& masses = single_parameters_.masses;
  remove_net_force(kernels_.single_step, packs, masses, hand, s.totals, s.f);
  if (confinement_.stiffness > 0.0) {
    const Confinement<float> wall{static_cast<float>(confinement_.radius),
                                  static_cast<float>(confinement_.stiffness)};
    kernels_.single_step.confine(packs, masses, wall, s.f.data());
  }
}

/// A group as a thread steps it, in doubles: in place.
struct CpuEngine::DoubleSteps {
  CpuEngine& engine;
  Group& group;
  WorkSpace& space;
  Hand& hand;
  Tally& tally;
  MoleculePacks packs = engine.packs_of(group, space, hand);
  const StepParameters& numbers = engine.parameters_;
  const StepKernels<double, MoleculePacks>& kernels = engine.kernels_.step;

  void load() {}
  void store() {}
  void keep() {
    const int pack = 9 * engine.kernels_.lanes;
    copy_packs(packs, pack, group.x, group.kept_x);
    copy_packs(packs, pack, group.v, group.kept_v);
  }
  void forces() { engine.forces(group.x.data(), group, space, hand); }
  PassReport finish(EngineReport& report, StageClock& clock) {
    return engine.finish_step(group, space, hand, report, clock);
  }
};

/// The same in single precision: the state is turned into floats for the steps of one advance().
struct CpuEngine::SingleSteps {
  CpuEngine& engine;
  Group& group;
  WorkSpace& space;
  Hand& hand;
  Tally& tally;
  SinglePacks packs = engine.single_packs(group, space, hand);
  const StepNumbers<float>& numbers = engine.single_parameters_;
  const StepKernels<float, SinglePacks>& kernels = engine.kernels_.single_step;
  bool kept = false;

  void load() { engine.kernels_.single.load(engine.packs_of(group, space), packs); }
  /// The kept state too.
  void store() {
    const SingleKernels& single = engine.kernels_.single;
    single.store(packs, engine.packs_of(group, space));
    if (!kept) return;
    SinglePacks old = packs;
    old.x = space.single.kept_x.data();
    old.v = space.single.kept_v.data();
    MoleculePacks to = engine.packs_of(group, space);
    to.x = group.kept_x.data();
    to.v = group.kept_v.data();
    single.store(old, to);
    kept = false;
  }
  void keep() {
    const int lanes = engine.wide_slots();
    copy_packs(packs, kFixedComponents * lanes, space.single.x, space.single.kept_x);
    copy_packs(packs, 9 * lanes, space.single.v, space.single.kept_v);
    kept = true;
  }
  void forces() { engine.single_forces(packs, space, hand); }
  PassReport finish(EngineReport& report, StageClock& clock) {
    const PassReport pass = kernels.end[static_cast<int>(engine.passes_.end)](numbers, packs);
    report.indefinite_hessians += pass.indefinite;
    clock.add_to(report.bond_seconds);
    return pass;
  }
};

template <class Op>
void CpuEngine::for_each_group(const Op& op) {
  const auto at = [&](std::size_t g, WorkSpace& space, Hand& hand) {
    Tally& tally = tallies_[static_cast<std::size_t>(omp_get_thread_num())];
    if (counting_.enabled) tally.counts.resize(kCountGroups * counts_of_group());
    if (single_) {
      SingleSteps steps{*this, groups_[g], space, hand, tally};
      op(steps, g);
    } else {
      DoubleSteps steps{*this, groups_[g], space, hand, tally};
      op(steps, g);
    }
  };
  if (const int hands = crew_size(); hands > 1) {
    prepare_to_step(groups_[0], spaces_[0]);
    Crew crew(hands > omp_get_num_procs());
#pragma omp parallel num_threads(hands)
    {
      const FlushDenormals flush;
      Hand hand(crew, omp_get_thread_num(), omp_get_num_threads());
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        at(g, spaces_[0], hand);
        hand.meet();
      }
    }
  } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_for_groups())
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const FlushDenormals flush;
      WorkSpace& space = spaces_[static_cast<std::size_t>(omp_get_thread_num())];
      prepare_to_step(groups_[g], space);
      Hand hand;
      at(g, space, hand);
    }
  }
}

/// Accelerations at the start are a pure function of positions, so a restart finds the same.
template <class Steps>
void CpuEngine::prepare_group(Steps& steps, std::size_t g) {
  Group& group = groups_[g];
  // The state as it is in the numbers of the steps.
  steps.load();
  steps.store();
  AlignedVector<double> v;
  steps.hand.alone([&] { v = group.v; });
  steps.forces();
  // The end of a step sets the accelerations; the velocities are put back afterwards.
  EngineReport ignored;
  StageClock clock(false);
  steps.finish(ignored, clock);
  steps.store();
  steps.hand.alone([&] {
    group.v.swap(v);
    // Overlapping atoms: an infinite acceleration, or none that could be found (v is marked then).
    // Finite ones, however large, are left to the first step.
    group.kept_x = group.x;
    group.kept_v = group.v;
    stop_bad_replicas(g, step_, [&](std::size_t at) {
      return std::isfinite(group.a[at]) ? 0.0 * v[at] : group.a[at];
    });
  });
}

template <class Steps>
void CpuEngine::advance_group(Steps& steps, std::size_t g, std::int64_t n_steps) {
  Group& group = groups_[g];
  if (std::find(group.stopped.begin(), group.stopped.end(), 0) == group.stopped.end()) return;
  const auto& kernels = steps.kernels;
  const auto& numbers = steps.numbers;
  const auto& packs = steps.packs;
  const int move = static_cast<int>(passes_.move);
  const Thermostat thermostat = system_.thermostat.kind;
  const bool baoab = thermostat == Thermostat::baoab;
  EngineReport& report = steps.tally.report;

  steps.load();
  for (std::int64_t step = step_; step < step_ + n_steps; ++step) {
    if (step % kKeptSteps == 0) steps.keep();
    StageClock clock(step % kTimedSteps == 0);
    PassReport pass =
        baoab ? kernels.baoab[move](numbers, packs, step) : kernels.begin[move](numbers, packs);
    report.constraint_iterations += pass.iterations;
    report.indefinite_hessians += pass.indefinite;
    clock.add_to(baoab                        ? report.noise_seconds
                 : passes_.move == Move::free ? report.rest_seconds
                                              : report.bond_seconds);
    steps.forces();
    clock.add_to(report.pair_seconds);
    pass = steps.finish(report, clock);
    // Before the noise, so that each replica is judged by the same velocities in any batch.
    if (steps.hand.any(pass.bad_pack >= 0)) {
      steps.store();
      steps.hand.alone(
          [&] { stop_bad_replicas(g, step + 1, [&](std::size_t at) { return group.v[at]; }); });
      steps.load();
      if (!group.lanes_are_replicas && group.stopped[0]) break;
    }
    if (thermostat == Thermostat::gla) {
      kernels.thermostat[move](numbers, packs, step);
      clock.add_to(report.noise_seconds);
    }
    if (counts_are_due(step + 1)) {
      steps.store();
      count_group(group, steps.space, steps.hand, steps.tally);
      clock.add_to(report.rest_seconds);
    }
  }
  steps.store();
  if (steps.hand.rank() == 0) report.molecule_steps += n_steps * group.replicas * n_;
}

/// Marks the replicas in which `motion` (of the coordinate at an index) is too large or not a
/// number as stopped, keeps their last good state and puts them back to it at rest, so that their
/// lanes go on with ordinary numbers.
template <class Motion>
void CpuEngine::stop_bad_replicas(std::size_t g, std::int64_t step, const Motion& motion) {
  Group& group = groups_[g];
  for (int r = 0; r < group.slots; ++r) {
    int bad_molecule = -1;
    for (int m = 0; m < n_ && bad_molecule < 0; ++m) {
      double square = 0.0;
      for (int c = 0; c < 9; ++c) {
        const double v = motion(index(group, r, m, c));
        square += v * v;
      }
      if (!(square < kLargestSpeed2)) bad_molecule = m;
    }
    if (bad_molecule < 0) continue;
    std::vector<double> x(static_cast<std::size_t>(n_) * 9);
    gather(group, group.x, r, x.data());
    for (int m = 0; m < n_; ++m) {
      for (int c = 0; c < 9; ++c) {
        const std::size_t k = index(group, r, m, c);
        group.x[k] = group.kept_x[k];
        group.v[k] = 0.0;
        group.a[k] = 0.0;
      }
    }
    if (r >= group.replicas || group.stopped[static_cast<std::size_t>(r)]) continue;
    group.stopped[static_cast<std::size_t>(r)] = 1;
    StoppedReplica stop;
    stop.replica_of_group = r;
    stop.blow_up.replica = replica_ids_[static_cast<std::size_t>(group.first_replica + r)];
    stop.blow_up.step = step;
    stop.blow_up.molecule = bad_molecule;
    stop.x.resize(static_cast<std::size_t>(n_) * 9);
    stop.v.resize(stop.x.size());
    gather(group, group.kept_x, r, stop.x.data());
    gather(group, group.kept_v, r, stop.v.data());
    ForceField force_field(system_.model, n_);
    measure_.look_at_atoms(
        x, stop.x,
        [&](const std::vector<double>& at, std::vector<double>& f) {
          force_field.energy_and_forces(at, f);
        },
        stop.blow_up);
    stopped_state_[g].push_back(std::move(stop));
  }
}

void CpuEngine::count_group(Group& group, WorkSpace& space, Hand& hand, Tally& tally) const {
  kernels_.report_positions(parameters_, packs_of(group, space, hand), space.q.data());
  hand.meet();
  const int lanes = kernels_.lanes;
  std::array<std::uint64_t*, kPadding> histograms{};
  for (int first = 0; first < group.replicas; first += lanes) {
    for (int l = 0; l < (group.lanes_are_replicas ? lanes : 1); ++l) {
      const int r = first + l;
      histograms[static_cast<std::size_t>(l)] = nullptr;
      if (r >= group.replicas || group.stopped[static_cast<std::size_t>(r)]) continue;
      const std::size_t count_group = static_cast<std::size_t>(
          replica_ids_[static_cast<std::size_t>(group.first_replica + r)] % kCountGroups);
      histograms[static_cast<std::size_t>(l)] =
          tally.counts.data() + count_group * counts_of_group();
      if (hand.rank() == 0) ++tally.samples[count_group];
    }
    hand.share((n_ + kCountGrain - 1) / kCountGrain, [&](int k) {
      kernels_.count_pairs({space.q.data() + static_cast<std::size_t>(first / lanes * n_) * 9 *
                                                 static_cast<std::size_t>(lanes),
                            group.lanes_are_replicas,
                            n_,
                            {counting_.pairs[0], counting_.pairs[1], counting_.pairs[2]},
                            counting_.bins / counting_.r_max_A,
                            counting_.bins,
                            k * kCountGrain,
                            std::min((k + 1) * kCountGrain, n_),
                            histograms.data()});
    });
  }
}

void CpuEngine::snapshot(unsigned fields, Frame& frame) {
  frame.step = step_;
  frame.time_ps =
      units::ps_from_akma(static_cast<double>(step_) * system_.integrator.timestep_akma);
  frame.molecules = n_;
  frame.replica_ids.clear();
  std::vector<std::pair<std::size_t, int>> live;  // group, replica of the group
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (int r = 0; r < groups_[g].replicas; ++r) {
      if (groups_[g].stopped[static_cast<std::size_t>(r)]) continue;
      live.emplace_back(g, r);
      frame.replica_ids.push_back(
          replica_ids_[static_cast<std::size_t>(groups_[g].first_replica + r)]);
    }
  }
  measure_.prepare(fields, live.size(), frame);
  if (fields & ~static_cast<unsigned>(kPairCounts)) {
#pragma omp parallel num_threads(threads_for_groups())
    {
      WorkSpace& space = spaces_[static_cast<std::size_t>(omp_get_thread_num())];
      prepare_to_report(space);
      ForceField force_field(system_.model, n_);
      Measure::Replica replica(n_);
      const FlushDenormals flush;
      std::size_t reported = groups_.size();
#pragma omp for schedule(static)
      for (std::size_t k = 0; k < live.size(); ++k) {
        const auto [g, r] = live[k];
        Group& group = groups_[g];
        if (reported != g) {
          kernels_.report_positions(parameters_, packs_of(group, space), space.q.data());
          reported = g;
        }
        gather(group, group.x, r, replica.x.data());
        gather(group, group.v, r, replica.v.data());
        gather(group, group.a, r, replica.a.data());
        gather(group, space.q, r, replica.q.data());
        if (!group.v_thermal.empty()) {
          gather(group, group.v_thermal, r, replica.v_thermal.data());
        }
        measure_.fill(
            fields, k, replica,
            [&](const std::vector<double>& q) {
              return force_field.energy(q).total_kcal_per_mol();
            },
            [&](const std::vector<double>& x, std::vector<double>& f) {
              force_field.energy_and_forces(x, f);
            },
            frame);
      }
    }
  }
  if (fields & kPairCounts) {
    const std::size_t bins = static_cast<std::size_t>(counting_.bins);
    frame.pair_counts.assign(static_cast<std::size_t>(kCountGroups) * kPairClasses * bins, 0);
    frame.pair_samples.fill(0);
    for (const Tally& s : tallies_) {
      if (s.counts.empty()) continue;
      for (std::size_t row = 0; row < static_cast<std::size_t>(kCountGroups) * kPairClasses;
           ++row) {
        for (std::size_t b = 0; b < bins; ++b) {
          frame.pair_counts[row * bins + b] += s.counts[row * (bins + 1) + b];
        }
      }
      for (int g = 0; g < kCountGroups; ++g) {
        frame.pair_samples[static_cast<std::size_t>(g)] += s.samples[static_cast<std::size_t>(g)];
      }
    }
  }
}

}  // namespace
}  // namespace cpu

std::unique_ptr<Engine> make_cpu_engine(const System& system, const State& start,
                                        const PairCountRequest& counts, int threads,
                                        const std::string& instruction_set) {
  std::array<const cpu::KernelTable*, 8> tables{};
  const int n = cpu::usable_kernels(tables.data(), static_cast<int>(tables.size()));
  for (int i = 0; i < n; ++i) {
    if (instruction_set.empty() || instruction_set == tables[static_cast<std::size_t>(i)]->name) {
      return std::make_unique<cpu::CpuEngine>(system, start, counts, threads,
                                              *tables[static_cast<std::size_t>(i)]);
    }
  }
  throw InputError("instruction set '" + instruction_set +
                   "' is not in this build or does not run on this processor");
}

std::vector<std::string> cpu_instruction_sets() {
  std::array<const cpu::KernelTable*, 8> tables{};
  const int n = cpu::usable_kernels(tables.data(), static_cast<int>(tables.size()));
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.emplace_back(tables[static_cast<std::size_t>(i)]->name);
  return names;
}

}  // namespace tarn
