#include "tarn/cpu_engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "aligned.hpp"
#include "block_measure.hpp"
#include "core/parallel.hpp"
#include "core/processors.hpp"
#include "flush_denormals.hpp"
#include "group.hpp"
#include "group_steps.hpp"
#include "interface/check_start.hpp"
#include "interface/exchange_places.hpp"
#include "interface/measure.hpp"
#include "interface/moments.hpp"
#include "kernel_table.hpp"
#include "pair_histograms.hpp"
#include "ring_engine.hpp"
#include "stage_clock.hpp"
#include "stopped_replicas.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"
#include "tarn/force_field.hpp"
#include "thread_team.hpp"
#include "thread_totals.hpp"

namespace tarn {
namespace cpu {
namespace {

class CpuEngine final : public Engine {
 public:
  CpuEngine(const System& system, const State& start, const PairCountRequest& counts, int threads,
            const KernelTable& kernels)
      : context_(system, kernels, !start.heat_kcal_per_mol.empty()),
        n_(system.molecules),
        threads_(threads > 0 ? threads : default_threads()),
        step_(start.step),
        replica_ids_(start.replica_ids),
        counting_(counts),
        measure_(system),
        groups_(make_groups(context_.layout, start, system.thermostat, threads_)),
        stopped_(context_.system.model, context_.layout, measure_, groups_.size()),
        blocks_(context_.system, context_.layout, context_.kernels,
                static_cast<std::int64_t>(replica_ids_.size())),
        measure_spaces_(static_cast<std::size_t>(threads_)) {
    spaces_.resize(static_cast<std::size_t>(threads_));
    totals_.resize(spaces_.size());
    for_each_group([&](auto& steps, std::size_t g, PairHistograms&) { prepare_group(steps, g); });
  }

  ~CpuEngine() override {
    if (started_ && started_->team > 1) finish_team();
  }

  void advance(std::int64_t n_steps) override {
    begin_advance(n_steps);
    wait();
  }

  /// The other threads begin while the caller does something else; wait(), on the same thread,
  /// joins them.
  void begin_advance(std::int64_t n_steps) override {
    while (n_steps > 0) {
      wait();
      const std::int64_t n = steps_to_lindemann(settings_.lindemann, step_, n_steps);
      begin_steps(n);
      n_steps -= n;
    }
  }

  void wait() override {
    if (!started_) return;
    if (started_->team > 1 && started_->forks != fork_count()) {
      throw InputError(
          "the process was forked while the engine computed; make another engine in the child");
    }
    started_->team > 1 ? finish_team() : advance_groups(0);
    const std::unique_ptr<StartedSteps> done = std::move(started_);
    step_ += done->steps;
    done->groups.rethrow();
    if (is_due(settings_.lindemann, step_)) add_distances();
  }

  void measure_with(const MeasureSettings& settings) override {
    settings_ = settings;
    moment_groups_ = ReplicaGroups(settings.moment_groups);
    if (!settings.lindemann.enabled) return;
    blocks_.begin_sums(settings.lindemann_sums, replica_ids_);
    settings_.lindemann_sums = {};
    if (settings.lindemann_sums.samples == 0 && is_due(settings_.lindemann, step_)) {
      add_distances();
    }
  }

  std::int64_t step() const override { return step_ + (started_ ? started_->steps : 0); }

  void exchange(std::span<const StateExchange> pairs) override {
    if (pairs.empty()) return;
    const auto places = exchange_places(pairs, live_places());
    constexpr std::int64_t kGrain = 64;  // fewer pairs than this are faster on one thread
    for_each_index(
        static_cast<std::int64_t>(pairs.size()), threads_, [](int) { return 0; },
        [&](int, std::int64_t i) {
          const auto k = static_cast<std::size_t>(i);
          exchange(pairs[k], places[k].first, places[k].second);
        },
        kGrain);
  }
  std::vector<double> take_coordinates(std::span<const std::int64_t> replica_ids) const override;
  void put_coordinates(std::span<const ReceivedCoordinates> replicas,
                       std::span<const double> numbers) override;

  State state() const override {
    State s;
    s.molecules = n_;
    s.step = step_;
    s.replica_ids = replica_ids_;
    s.positions_A.resize(replica_ids_.size() * s.coordinates());
    s.velocities_A_per_akma.resize(s.positions_A.size());
    if (context_.tallies_heat) s.heat_kcal_per_mol.resize(s.positions_A.size() / 9);
    for_each_index(static_cast<std::int64_t>(groups_.size()), threads_,
                   [&](std::int64_t g) { put_state(static_cast<std::size_t>(g), s); });
    return s;
  }

  std::vector<BlowUp> blow_ups() const override { return stopped_.blow_ups(); }

  EngineReport report() const override {
    EngineReport sum;
    for (const ThreadTotals& s : totals_) sum += s.report;
    return sum;
  }

  std::string description() const override { return cpu_description(arithmetic(), threads_); }
  std::string arithmetic() const override { return std::string("CPU, ") + context_.kernels.name; }

  void snapshot(unsigned fields, Frame& frame) override;

 private:
  void put_state(std::size_t g, State& s) const;
  /// Threads per replica: more than one for large clusters if there are fewer replicas than
  /// threads.
  int team_size() const {
    if (context_.layout.is_small() || groups_.size() >= static_cast<std::size_t>(threads_))
      return 1;
    return std::min(threads_, useful_threads(n_, context_.layout.blocks()));
  }
  /// Steps that were begun, with one thread per group.
  struct StartedSteps {
    std::int64_t steps;
    SharedLoop groups;
    int team = 1;  ///< 1: no other thread has begun
    unsigned forks = fork_count();
  };
  void begin_steps(std::int64_t n_steps);
  /// The part of one thread of the started steps.
  void advance_groups(int rank);
  struct Place {
    std::size_t group;
    int replica;  ///< within the group
  };
  /// The running replicas, by id.
  ReplicaPlaces<Place> live_places() const;
  void exchange(const StateExchange& pair, const Place& first, const Place& second);
  /// One coordinate of a molecule that a replica receives.
  struct Received {
    double x, v, a;
  };
  void receive(const Received& from, double velocity_factor, Group& group, std::size_t at) const;
  void keep_heat(Group& group, int replica, int molecule) const;
  /// Calls op(steps, g, histograms) for a group.
  template <class Op>
  void with_group(std::size_t g, WorkSpace& space, TeamMember& member, ThreadTotals& totals,
                  const Op& op);
  /// The same on the thread with this rank alone.
  template <class Op>
  void with_group_alone(std::size_t g, std::size_t rank, const Op& op);
  /// Calls op(steps, g, histograms) for each group: on one thread each, or on all threads of a
  /// team.
  template <class Op>
  void for_each_group(const Op& op);
  template <class Steps>
  void prepare_group(Steps& steps, std::size_t g);
  template <class Steps>
  void advance_group(Steps& steps, std::size_t g, std::int64_t n_steps, PairHistograms& pairs);
  template <class Steps>
  bool try_fused_step(Steps& steps, std::int64_t step);

  /// Calls op(block, space) for each block of replicas that are measured together.
  template <class Op>
  void for_each_block(const Op& op);
  void add_distances() {
    for_each_block([&](std::int64_t block, BlockMeasure::Space& space) {
      blocks_.add_distances(block, groups_, space);
    });
    blocks_.count_sample();
  }
  /// @param places [replica] place in the frame, or -1
  void fill_rows(unsigned fields, const std::vector<std::int64_t>& places, Frame& frame);
  void fill_arrays(unsigned fields, const std::vector<std::int64_t>& places, Frame& frame);
  void fill_pair_counts(Frame& frame) const;

  const StepContext context_;
  int n_;
  int threads_;
  std::int64_t step_;
  std::vector<std::int64_t> replica_ids_;
  PairCountRequest counting_;
  Measure measure_;
  ReplicaGroups moment_groups_;
  std::vector<Group> groups_;
  std::vector<WorkSpace> spaces_;     ///< [thread]; a team uses the first one
  std::vector<ThreadTotals> totals_;  ///< [thread]
  StoppedReplicas stopped_;
  MeasureSettings settings_;
  BlockMeasure blocks_;
  std::vector<std::unique_ptr<BlockMeasure::Space>> measure_spaces_;  ///< [thread]
  std::unique_ptr<StartedSteps> started_;                             ///< null after wait()
};

/// Copies the replicas of a group.
void CpuEngine::put_state(std::size_t g, State& s) const {
  const Group& group = groups_[g];
  for (int r = 0; r < group.replicas; ++r) {
    const std::size_t at = static_cast<std::size_t>(group.first_replica + r) * s.coordinates();
    if (group.stopped[static_cast<std::size_t>(r)]) {
      const StoppedReplica& stop = stopped_.find(g, r);
      std::copy(stop.x.begin(), stop.x.end(), &s.positions_A[at]);
      std::copy(stop.v.begin(), stop.v.end(), &s.velocities_A_per_akma[at]);
      if (context_.tallies_heat) {
        std::copy(stop.heat.begin(), stop.heat.end(), &s.heat_kcal_per_mol[at / 9]);
      }
      continue;
    }
    context_.layout.gather(group, group.x, r, &s.positions_A[at]);
    context_.layout.gather(group, group.v, r, &s.velocities_A_per_akma[at]);
    if (context_.tallies_heat) {
      context_.layout.gather_heat(group, group.heat, r, &s.heat_kcal_per_mol[at / 9]);
    }
  }
}

ReplicaPlaces<CpuEngine::Place> CpuEngine::live_places() const {
  ReplicaPlaces<Place> live;
  live.reserve(replica_ids_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    for (int r = 0; r < group.replicas; ++r) {
      if (group.stopped[static_cast<std::size_t>(r)]) continue;
      live.add(replica_ids_[static_cast<std::size_t>(group.first_replica + r)], {g, r});
    }
  }
  return live;
}

/// Accelerations are a function of the positions and are received with them. Everything else is as
/// after a start: the new state becomes the kept state.
void CpuEngine::receive(const Received& from, double velocity_factor, Group& group,
                        std::size_t at) const {
  const double v = from.v * velocity_factor;
  group.x[at] = group.kept_x[at] = from.x;
  group.v[at] = group.kept_v[at] =
      context_.layout.is_single() ? static_cast<double>(static_cast<float>(v)) : v;
  group.a[at] = from.a;
  if (!group.v_thermal.empty()) group.v_thermal[at] = kNoNumber;
}
void CpuEngine::keep_heat(Group& group, int replica, int molecule) const {
  if (!context_.tallies_heat) return;
  const std::size_t at = context_.layout.heat_index(group, replica, molecule);
  group.kept_heat[at] = group.heat[at];
}

void CpuEngine::exchange(const StateExchange& pair, const Place& first, const Place& second) {
  Group &a = groups_[first.group], &b = groups_[second.group];
  for (int m = 0; m < n_; ++m) {
    for (int c = 0; c < 9; ++c) {
      const std::size_t i = context_.layout.index(a, first.replica, m, c);
      const std::size_t j = context_.layout.index(b, second.replica, m, c);
      const Received of_a{a.x[i], a.v[i], a.a[i]};
      receive({b.x[j], b.v[j], b.a[j]}, pair.to_first, a, i);
      receive(of_a, pair.to_second, b, j);
    }
    keep_heat(a, first.replica, m);
    keep_heat(b, second.replica, m);
  }
}

/// [replica][positions, velocities, accelerations][molecule][9].
std::vector<double> CpuEngine::take_coordinates(std::span<const std::int64_t> replica_ids) const {
  auto live = live_places();
  const std::size_t size = 9 * static_cast<std::size_t>(n_);
  std::vector<double> numbers(replica_ids.size() * 3 * size);
  double* to = numbers.data();
  for (const std::int64_t id : replica_ids) {
    const Place place = place_of(id, live);
    const Group& group = groups_[place.group];
    for (const auto* array : {&group.x, &group.v, &group.a}) {
      context_.layout.gather(group, *array, place.replica, to);
      to += size;
    }
  }
  return numbers;
}

void CpuEngine::put_coordinates(std::span<const ReceivedCoordinates> replicas,
                                std::span<const double> numbers) {
  auto live = live_places();
  const std::size_t size = 9 * static_cast<std::size_t>(n_);
  check_received(replicas.size() * 3 * size, numbers.size());
  const double* from = numbers.data();
  for (const ReceivedCoordinates& received : replicas) {
    const Place place = place_of(received.replica, live);
    Group& group = groups_[place.group];
    for (int m = 0; m < n_; ++m) {
      for (int c = 0; c < 9; ++c) {
        const double* const x = from + 9 * m + c;
        receive({x[0], x[size], x[2 * size]}, received.velocity_factor, group,
                context_.layout.index(group, place.replica, m, c));
      }
      keep_heat(group, place.replica, m);
    }
    from += 3 * size;
  }
}

template <class Op>
void CpuEngine::with_group(std::size_t g, WorkSpace& space, TeamMember& member,
                           ThreadTotals& totals, const Op& op) {
  if (context_.layout.is_single()) {
    SingleSteps steps{context_, groups_[g], space, member, totals.report};
    op(steps, g, totals.pairs);
  } else {
    DoubleSteps steps{context_, groups_[g], space, member, totals.report};
    op(steps, g, totals.pairs);
  }
}

template <class Op>
void CpuEngine::with_group_alone(std::size_t g, std::size_t rank, const Op& op) {
  const FlushDenormals flush;
  context_.layout.prepare_to_step(groups_[g], spaces_[rank]);
  totals_[rank].pairs.prepare(counting_);
  TeamMember member;
  with_group(g, spaces_[rank], member, totals_[rank], op);
}

void CpuEngine::begin_steps(std::int64_t n_steps) {
  if (team_size() > 1) {
    for_each_group([&](auto& steps, std::size_t g, PairHistograms& pairs) {
      advance_group(steps, g, n_steps, pairs);
    });
    step_ += n_steps;
    if (is_due(settings_.lindemann, step_)) add_distances();
    return;
  }
  started_.reset(new StartedSteps{n_steps, SharedLoop(static_cast<std::int64_t>(groups_.size()))});
  started_->team =
      start_team(started_->groups.team(threads_),
                 {[](const void* engine, int rank, int) {
                    static_cast<CpuEngine*>(const_cast<void*>(engine))->advance_groups(rank);
                  },
                  this});
}

void CpuEngine::advance_groups(int rank) {
  started_->groups.run(
      rank, [](int r) { return static_cast<std::size_t>(r); },
      [this](std::size_t r, std::int64_t g) {
        with_group_alone(static_cast<std::size_t>(g), r,
                         [this](auto& steps, std::size_t group, PairHistograms& pairs) {
                           advance_group(steps, group, started_->steps, pairs);
                         });
      });
}

template <class Op>
void CpuEngine::for_each_group(const Op& op) {
  const int members = team_size();
  if (members == 1) {
    for_each_index(
        static_cast<std::int64_t>(groups_.size()), threads_,
        [](int rank) { return static_cast<std::size_t>(rank); },
        [&](std::size_t rank, std::int64_t g) {
          with_group_alone(static_cast<std::size_t>(g), rank, op);
        });
    return;
  }
  context_.layout.prepare_to_step(groups_[0], spaces_[0]);
  std::for_each_n(totals_.begin(), members,
                  [this](ThreadTotals& totals) { totals.pairs.prepare(counting_); });
  ThreadTeam team(members > processors());
  FirstException caught;
  run_team(members, [&](int rank, int size) {
    caught.call([&] {
      const FlushDenormals flush;
      TeamMember member(team, rank, size);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        with_group(g, spaces_[0], member, totals_[static_cast<std::size_t>(rank)], op);
        member.barrier();
      }
    });
  });
  caught.rethrow();
}

/// Initial accelerations, a function of the positions only: a restart computes the same ones.
template <class Steps>
void CpuEngine::prepare_group(Steps& steps, std::size_t g) {
  Group& group = groups_[g];
  // Round the state to the precision of the steps.
  steps.load();
  steps.store();
  AlignedVector<double> v;
  steps.member.on_one([&] { v = group.v; });
  steps.forces();
  // The end of a step sets the accelerations; the velocities are restored afterwards.
  EngineReport ignored;
  StageClock clock(false);
  steps.finish(ignored, clock);
  steps.store();
  steps.member.on_one([&] {
    group.v.swap(v);
    // Overlapping atoms: infinite accelerations, or a failed solve (then v is NaN). Large finite
    // accelerations are left to the first step.
    group.kept_x = group.x;
    group.kept_v = group.v;
    group.kept_heat = group.heat;
    stopped_.stop_bad(group, g, step_, [&](std::size_t at) {
      return std::isfinite(group.a[at]) ? 0.0 * v[at] : group.a[at];
    });
  });
}

/// Goes from the forces of a step to those of the next step in one pass, if there is a fused kernel
/// and no replica blows up. The results are those of the separate passes.
/// @return false if nothing was done; then only v_thermal has changed, and the next step sets it
template <class Steps>
bool CpuEngine::try_fused_step(Steps& steps, std::int64_t step) {
  const auto pass = steps.kernels.between_forces[static_cast<int>(context_.system.thermostat.kind)]
                                                [static_cast<int>(context_.passes.move)]
                                                [static_cast<int>(context_.passes.end)];
  if (pass == nullptr || !context_.layout.is_small() || !context_.passes_end_steps() ||
      context_.tallies_heat)
    return false;
  auto next = steps.packs;
  next.x = steps.next_x.data();
  next.v = steps.next_v.data();
  const PassReport done = pass(steps.numbers, steps.packs, next, step);
  if (done.bad_pack >= 0) return false;
  steps.take_next();
  steps.report.constraint_iterations += done.iterations;
  return true;
}

template <class Steps>
void CpuEngine::advance_group(Steps& steps, std::size_t g, std::int64_t n_steps,
                              PairHistograms& pairs) {
  Group& group = groups_[g];
  std::int64_t going = group.running_replicas(), replica_steps = 0;
  if (going == 0) return;
  const auto& kernels = steps.kernels;
  const auto& noise = kernels.noise[context_.tallies_heat];
  const auto& numbers = steps.numbers;
  const auto& packs = steps.packs;
  const int move = static_cast<int>(context_.passes.move);
  const Thermostat thermostat = context_.system.thermostat.kind;
  const bool baoab = thermostat == Thermostat::baoab;
  EngineReport& report = steps.report;

  // Steps that keep a state, are timed or count pairs are not fused with the others.
  static_assert(kKeptSteps % kTimedSteps == 0);
  const auto is_apart = [](std::int64_t step) { return step % kTimedSteps == 0; };
  bool has_begun = false;
  steps.load();
  for (std::int64_t step = step_; step < step_ + n_steps; ++step) {
    if (step % kKeptSteps == 0) steps.keep();
    replica_steps += going;
    StageClock clock(is_apart(step));
    if (!has_begun) {
      const PassReport begun =
          baoab ? noise.baoab[move](numbers, packs, step) : kernels.begin[move](numbers, packs);
      report.constraint_iterations += begun.iterations;
      report.indefinite_hessians += begun.indefinite;
      clock.add_to(baoab                                ? report.noise_seconds
                   : context_.passes.move == Move::free ? report.rest_seconds
                                                        : report.bond_seconds);
    }
    steps.forces();
    clock.add_to(report.pair_seconds);
    has_begun = step + 1 < step_ + n_steps && !is_apart(step) && !is_apart(step + 1) &&
                !counts_are_due(counting_, step + 1) && try_fused_step(steps, step);
    if (has_begun) continue;
    const PassReport pass = steps.finish(report, clock);
    // Checked before the noise, on the same velocities in any batch.
    if (steps.member.any(pass.bad_pack >= 0)) {
      steps.store();
      steps.member.on_one([&] {
        stopped_.stop_bad(group, g, step + 1, [&](std::size_t at) { return group.v[at]; });
      });
      steps.load();
      going = group.running_replicas();
      if (going == 0) break;
    }
    if (thermostat == Thermostat::gla) {
      noise.thermostat[move](numbers, packs, step);
      clock.add_to(report.noise_seconds);
    }
    if (counts_are_due(counting_, step + 1)) {
      steps.store();
      count_group(counting_, context_.kernels, context_.parameters, context_.layout, replica_ids_,
                  group, steps.space, steps.member, pairs);
      clock.add_to(report.rest_seconds);
    }
  }
  steps.store();
  if (steps.member.rank() == 0) report.molecule_steps += replica_steps * n_;
}

void CpuEngine::snapshot(unsigned fields, Frame& frame) {
  frame.step = step_;
  frame.time_ps =
      units::ps_from_akma(static_cast<double>(step_) * context_.system.integrator.timestep_akma);
  frame.molecules = n_;
  frame.replica_ids.clear();
  std::vector<std::int64_t> places(replica_ids_.size(), -1);  // in the frame, -1: stopped
  for (const Group& group : groups_) {
    for (int r = 0; r < group.replicas; ++r) {
      if (group.stopped[static_cast<std::size_t>(r)]) continue;
      const auto replica = static_cast<std::size_t>(group.first_replica + r);
      places[replica] = static_cast<std::int64_t>(frame.replica_ids.size());
      frame.replica_ids.push_back(replica_ids_[replica]);
    }
  }
  const unsigned rows = row_fields_for(fields);
  Measure::prepare_rows(rows, frame.live(), frame);
  measure_.prepare_arrays(fields, frame.live(), frame);
  if (rows != kNoFields || (fields & kRadialCounts)) {
    fill_rows(rows | (fields & kRadialCounts), places, frame);
  }
  if (fields & kRings) measure_.fill_classical_rings(frame);
  fill_moments(fields, context_.system.model.is_flexible(), moment_groups_, threads_, frame);
  drop_rows(fields, frame);
  if (fields & kArrayFields) fill_arrays(fields, places, frame);
  if (fields & kLindemannSums) blocks_.put_sums(places, frame);
  if (fields & kPairCounts) fill_pair_counts(frame);
}

void CpuEngine::fill_rows(unsigned fields, const std::vector<std::int64_t>& places, Frame& frame) {
  const bool counts = fields & kRadialCounts;
  for (const auto& space : measure_spaces_) {
    if (counts && space) clear_radial(settings_.radial, space->radial);
  }
  for_each_block([&](std::int64_t block, BlockMeasure::Space& space) {
    if (counts && space.radial.replicas.empty()) clear_radial(settings_.radial, space.radial);
    blocks_.fill(fields, block, groups_, places, settings_, space, counts ? &space.radial : nullptr,
                 frame);
  });
  frame.radial_counts = {};
  if (!counts) return;
  clear_radial(settings_.radial, frame.radial_counts);
  for (const auto& space : measure_spaces_) {
    if (space) add_radial(space->radial, frame.radial_counts);
  }
}

template <class Op>
void CpuEngine::for_each_block(const Op& op) {
  const std::int64_t blocks = blocks_.blocks();
  for_each_index(
      blocks, threads_,
      [&](int rank) -> BlockMeasure::Space* {
        auto& space = measure_spaces_[static_cast<std::size_t>(rank)];
        if (!space) space = std::make_unique<BlockMeasure::Space>(blocks_.make_space());
        return space.get();
      },
      [&](BlockMeasure::Space* space, std::int64_t block) {
        const FlushDenormals flush;
        op(block, *space);
      },
      std::max<std::int64_t>(1, blocks / (4 * threads_)));
}

void CpuEngine::fill_arrays(unsigned fields, const std::vector<std::int64_t>& places,
                            Frame& frame) {
  struct Worker {
    WorkSpace& space;
    ForceField force_field;
    Measure::Replica replica;
  };
  for_each_index(
      static_cast<std::int64_t>(groups_.size()), threads_,
      [&](int rank) {
        WorkSpace& space = spaces_[static_cast<std::size_t>(rank)];
        context_.layout.prepare_to_report(space);
        return Worker{space, ForceField(context_.system.model, n_), Measure::Replica(n_)};
      },
      [&](Worker& w, std::int64_t g) {
        const FlushDenormals flush;
        Group& group = groups_[static_cast<std::size_t>(g)];
        context_.kernels.report_positions(
            context_.parameters, context_.layout.packs_of(group, w.space), w.space.q.data());
        for (int r = 0; r < group.replicas; ++r) {
          const std::int64_t place = places[static_cast<std::size_t>(group.first_replica + r)];
          if (place < 0) continue;
          context_.layout.gather(group, group.x, r, w.replica.x.data());
          context_.layout.gather(group, group.v, r, w.replica.v.data());
          context_.layout.gather(group, group.a, r, w.replica.a.data());
          context_.layout.gather(group, w.space.q, r, w.replica.q.data());
          measure_.fill(
              fields, static_cast<std::size_t>(place), w.replica,
              [&](const std::vector<double>& x, std::vector<double>& f) {
                w.force_field.energy_and_forces(x, f);
              },
              frame);
        }
      });
}

void CpuEngine::fill_pair_counts(Frame& frame) const {
  const std::size_t groups = static_cast<std::size_t>(counting_.groups);
  const std::size_t bins = static_cast<std::size_t>(counting_.bins);
  frame.pair_counts.assign(groups * kPairClasses * bins, 0);
  frame.pair_samples.assign(groups, 0);
  for (const ThreadTotals& thread : totals_) add_counts(counting_, thread.pairs, frame);
}

}  // namespace
}  // namespace cpu

std::unique_ptr<Engine> make_cpu_engine(const System& system, const State& start,
                                        const PairCountRequest& counts, int threads,
                                        const std::string& instruction_set) {
  check_start(system, start, counts);
  std::array<const cpu::KernelTable*, 8> tables{};
  const int n = cpu::usable_kernels(tables.data(), static_cast<int>(tables.size()));
  for (int i = 0; i < n; ++i) {
    if (instruction_set.empty() || instruction_set == tables[static_cast<std::size_t>(i)]->name) {
      const cpu::KernelTable& kernels = *tables[static_cast<std::size_t>(i)];
      if (system.path_integral.beads > 1) {
        return cpu::make_ring_engine(system, start, counts, threads, kernels);
      }
      return std::make_unique<cpu::CpuEngine>(system, start, counts, threads, kernels);
    }
  }
  throw InputError("instruction set '" + instruction_set +
                   "' is not in this build or is not supported by this processor");
}

std::vector<std::string> cpu_instruction_sets() {
  std::array<const cpu::KernelTable*, 8> tables{};
  const int n = cpu::usable_kernels(tables.data(), static_cast<int>(tables.size()));
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.emplace_back(tables[static_cast<std::size_t>(i)]->name);
  return names;
}

}  // namespace tarn
