#include "tarn/cpu_engine.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>

#include "block_measure.hpp"
#include "core/aligned.hpp"
#include "core/parallel.hpp"
#include "core/processors.hpp"
#include "group.hpp"
#include "group_steps.hpp"
#include "interface/exchange_places.hpp"
#include "interface/measure.hpp"
#include "interface/moments.hpp"
#include "kernel_table.hpp"
#include "potential_forces.hpp"
#include "ring_steps.hpp"
#include "stopped_replicas.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"
#include "tarn/exchange.hpp"
#include "tarn/force_field.hpp"
#include "tarn/many_body.hpp"
#include "thread_team.hpp"

namespace tarn {
namespace cpu {
namespace {

/// Steps that keep a state, are timed or count pairs are not fused with the others.
static_assert(kKeptSteps % kTimedSteps == 0);
bool is_apart(std::int64_t step) { return step % kTimedSteps == 0; }

/// Counts and times of one thread of an engine, on cache lines that no other thread writes.
struct alignas(64) ThreadTotals {
  PairHistograms pairs;
  RadialCounts radial;  ///< of one frame
  EngineReport report;
};

class CpuEngine final : public Engine {
 public:
  CpuEngine(const System& system, const State& start, const PairCountRequest& counts, int threads,
            const KernelTable& kernels, std::shared_ptr<Potential> potential)
      : context_(system, kernels, !start.heat_kcal_per_mol.empty(),
                 potential ? std::make_unique<PotentialForces>(std::move(potential), system,
                                                               kernels.lanes, start.replica_ids)
                           : nullptr),
        n_(system.molecules),
        threads_(threads > 0 ? threads : default_threads()),
        step_(start.step),
        replica_ids_(start.replica_ids),
        counting_(counts),
        measure_(context_.system),
        groups_(make_groups(context_.system, context_.layout, start, threads_)),
        stopped_(context_.system.model, context_.layout, measure_, context_.forces, groups_.size()),
        blocks_(context_.system, context_.layout, context_.kernels, context_.forces.potential(),
                static_cast<std::int64_t>(replica_ids_.size())),
        measure_spaces_(static_cast<std::size_t>(threads_)) {
    spaces_.resize(static_cast<std::size_t>(threads_));
    for (std::size_t k = 0; k < spaces_.size(); ++k) spaces_[k].thread = k;
    totals_.resize(spaces_.size());
    // Fewer groups than threads are computed by all threads together.
    PotentialForces* const forces = context_.forces.potential();
    shares_potential_ =
        forces != nullptr && (groups_.size() < spaces_.size() || !forces->divide(spaces_.size()));
    compute_shared_forces({});
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
    if (started_->team > 1) {
      finish_team();
    } else {
      advance_groups(0);
    }
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
    std::vector<char> changed(replica_ids_.size(), 0);
    for (const auto& [first, second] : places) {
      changed[replica_at(first)] = changed[replica_at(second)] = 1;
      if (PotentialForces* const potential = context_.forces.potential()) {
        potential->swap(static_cast<int>(replica_at(first)), static_cast<int>(replica_at(second)));
      }
    }
    if (context_.layout.has_rings() || windows_of(context_.system)) compute_forces(changed);
  }
  std::vector<double> take_coordinates(std::span<const std::int64_t> replica_ids) const override {
    auto live = live_places();
    std::vector<double> numbers;
    for (const std::int64_t id : replica_ids) {
      const std::vector<double> one = coordinates_at(place_of(id, live));
      numbers.insert(numbers.end(), one.begin(), one.end());
    }
    return numbers;
  }
  void put_coordinates(std::span<const ReceivedCoordinates> replicas,
                       std::span<const double> numbers) override {
    auto live = live_places();
    check_received(replicas.size() * 3 * replica_size(), numbers.size());
    std::vector<char> changed(replica_ids_.size(), 0);
    const double* from = numbers.data();
    for (const ReceivedCoordinates& received : replicas) {
      const Place place = place_of(received.replica, live);
      changed[replica_at(place)] = 1;
      put_replica(received, place, from);
      from += 3 * replica_size();
    }
    if (!replicas.empty()) compute_forces(changed);
  }

  State state() const override {
    State s;
    s.molecules = n_;
    s.beads = context_.layout.copies();
    s.step = step_;
    s.replica_ids = replica_ids_;
    s.positions_A.resize(replica_ids_.size() * s.ring_coordinates());
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

  void snapshot(unsigned fields, Frame& frame) override {
    frame.step = step_;
    frame.time_ps =
        units::ps_from_akma(static_cast<double>(step_) * context_.system.integrator.timestep_akma);
    frame.molecules = n_;
    frame.replica_ids.clear();
    std::vector<std::int64_t> places(replica_ids_.size(), -1);  // in the frame, -1: stopped
    for (const Group& group : groups_) {
      group.for_each_running([&](int, std::size_t replica) {
        places[replica] = static_cast<std::int64_t>(frame.replica_ids.size());
        frame.replica_ids.push_back(replica_ids_[replica]);
      });
    }
    const unsigned rows = row_fields_for(fields);
    Measure::prepare_rows(rows, frame.live(), frame);
    measure_.prepare_arrays(fields, frame.live(), frame);
    frame.radial_counts = {};
    const unsigned more = kRadialCounts | kBeads | kAtomKinetic;
    if (const unsigned filled = rows | (fields & more); filled != kNoFields) {
      fill_rows(filled, places, frame);
    }
    if ((fields & kRings) && !context_.layout.has_rings()) measure_.fill_classical_rings(frame);
    fill_moments(fields, context_.system.model.is_flexible(), moment_groups_, threads_, frame);
    drop_rows(fields, frame);
    if (fields & kArrayFields) fill_arrays(fields, places, frame);
    if (fields & kLindemannSums) blocks_.put_sums(places, frame);
    if (fields & kPairCounts) fill_pair_counts(frame);
  }

 private:
  /// Copies the replicas of a group.
  void put_state(std::size_t g, State& s) const {
    const Group& group = groups_[g];
    for (int r = 0; r < group.replicas; ++r) {
      const std::size_t at =
          static_cast<std::size_t>(group.first_replica + r) * s.ring_coordinates();
      if (group.is_stopped(r)) {
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
  bool has_potential() const { return context_.forces.potential() != nullptr; }
  /// Threads per replica: more than one for large clusters if there are fewer replicas than
  /// threads.
  int team_size() const {
    if (has_potential() || context_.layout.is_small() ||
        groups_.size() >= static_cast<std::size_t>(threads_))
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
  void begin_steps(std::int64_t n_steps) {
    const bool has_team = team_size() > 1;
    if (shares_potential_) advance_steps(AllGroups{*this}, n_steps);
    if (has_team) {
      for_each_group([&](auto& steps, std::size_t g, PairHistograms& pairs) {
        advance_group(steps, g, n_steps, pairs);
      });
    }
    if (shares_potential_ || has_team) {
      step_ += n_steps;
      if (is_due(settings_.lindemann, step_)) add_distances();
      return;
    }
    started_.reset(
        new StartedSteps{n_steps, SharedLoop(static_cast<std::int64_t>(groups_.size()))});
    started_->team =
        start_team(started_->groups.team(threads_),
                   {[](const void* engine, int rank, int) {
                      static_cast<CpuEngine*>(const_cast<void*>(engine))->advance_groups(rank);
                    },
                    this});
  }
  /// A group that one thread or a team steps alone.
  template <class Steps>
  struct OneGroup {
    Steps& steps;
    std::size_t g;
    PairHistograms& pairs;

    bool may_fuse() const { return !steps.context.forces.potential(); }
    bool begin() const { return steps.group.running_replicas > 0; }
    template <class Op>
    void for_each(const Op& op) const {
      op(steps, g, pairs);
    }
    void finish_forces(std::int64_t) const {
      steps.context.forces.finish(steps.group, steps.space);
    }
  };
  /// All groups, step by step.
  struct AllGroups {
    CpuEngine& engine;

    bool may_fuse() const { return false; }
    bool begin() const { return engine.context_.forces.begin(engine.groups_); }
    template <class Op>
    void for_each(const Op& op) const {
      engine.for_each_group([&](auto& steps, std::size_t g, PairHistograms& pairs) {
        if (steps.group.running_replicas > 0) op(steps, g, pairs);
      });
    }
    void finish_forces(std::int64_t step) const { engine.finish_forces(step); }
  };
  /// Steps of OneGroup, or of AllGroups of a Potential that is called for all of them.
  template <class Groups>
  void advance_steps(const Groups& groups, std::int64_t n_steps) {
    const std::int64_t last = step_ + n_steps;
    for (std::int64_t step = step_; step < last && groups.begin(); ++step) {
      groups.for_each([&](auto& steps, std::size_t, PairHistograms& pairs) {
        if (step == 0 && counts_are_due(counting_, 0)) count(steps, pairs);
        steps.clock = StageClock(is_apart(step));
        if (shares_potential_) context_.forces.save(steps.group);
        if (!steps.has_begun) {
          if (step % kKeptSteps == 0) steps.keep();
          first_half(steps, step);
        }
        steps.place();
      });
      groups.finish_forces(step);
      groups.for_each([&](auto& steps, std::size_t g, PairHistograms& pairs) {
        if (steps.member.rank() == 0) {
          steps.report.molecule_steps += std::int64_t{n_} * steps.group.running_replicas;
        }
        steps.forces();
        end_step(steps, g, step, groups.may_fuse() && step + 1 < last, pairs);
      });
    }
  }
  /// Calls the potential for a step. If that throws, the groups return to the last complete step.
  void finish_forces(std::int64_t step) {
    const auto began = std::chrono::steady_clock::now();
    try {
      context_.forces.finish();
    } catch (...) {
      context_.forces.potential()->restore(groups_);
      step_ = step;
      // The first step, which will be repeated, has counted the start.
      for (ThreadTotals& totals : totals_) {
        if (step == 0) totals.pairs = {};
      }
      throw;
    }
    totals_.front().report.pair_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  /// Forces of the potential at the positions of replicas. @param chosen as in PotentialForces
  void compute_shared_forces(const std::vector<char>& chosen) {
    if (!context_.forces.begin(groups_, chosen)) return;
    for_each_group([](auto& steps, std::size_t, PairHistograms&) { steps.place(); });
    context_.forces.finish();
  }
  /// The part of one thread of the started steps.
  void advance_groups(int rank) {
    started_->groups.run(
        rank, [](int r) { return static_cast<std::size_t>(r); },
        [this](std::size_t r, std::int64_t g) {
          with_group_alone(static_cast<std::size_t>(g), r,
                           [this](auto& steps, std::size_t group, PairHistograms& pairs) {
                             advance_group(steps, group, started_->steps, pairs);
                           });
        });
  }
  struct Place {
    std::size_t group;
    int replica;  ///< within the group
  };
  /// The running replicas, by id.
  ReplicaPlaces<Place> live_places() const {
    ReplicaPlaces<Place> live;
    live.reserve(replica_ids_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].for_each_running([&](int r, std::size_t replica) {
        live.add(replica_ids_[replica], {g, r});
      });
    }
    return live;
  }
  void exchange(const StateExchange& pair, const Place& first, const Place& second) {
    const std::vector<double> from_first = coordinates_at(first),
                              from_second = coordinates_at(second);
    put_replica({pair.first, pair.to_first, pair.second}, first, from_second.data());
    put_replica({pair.second, pair.to_second, pair.first}, second, from_first.data());
  }
  /// Numbers of a replica: [copy][molecule][9].
  std::size_t replica_size() const {
    return 9 * static_cast<std::size_t>(n_ * context_.layout.copies());
  }
  /// [positions, velocities, accelerations][copy][molecule][9] of a replica.
  std::vector<double> coordinates_at(const Place& place) const {
    const Group& group = groups_[place.group];
    std::vector<double> numbers(3 * replica_size());
    double* to = numbers.data();
    for (const auto* array : {&group.x, &group.v, &group.a}) {
      context_.layout.gather(group, *array, place.replica, to);
      to += replica_size();
    }
    return numbers;
  }
  /// Accelerations are a function of the positions and are received with them. Everything else is
  /// as after a start: the new state becomes the kept state.
  void put_replica(const ReceivedCoordinates& received, const Place& place, const double* from) {
    const GroupLayout& layout = context_.layout;
    Group& group = groups_[place.group];
    const double to_here = ring_mode_factor(context_.system, received.from, received.replica);
    for (int slot = layout.first_slot(place.replica); slot < layout.first_slot(place.replica + 1);
         ++slot) {
      const double x_factor = slot == layout.first_slot(place.replica) ? 1.0 : to_here;
      for (int m = 0; m < n_; ++m) {
        for (int c = 0; c < 9; ++c, ++from) {
          const std::size_t at = layout.index(group, slot, m, c);
          const double v = from[replica_size()] * received.velocity_factor;
          group.x[at] = group.kept_x[at] = x_factor * from[0];
          group.v[at] = group.kept_v[at] =
              layout.is_single() ? static_cast<double>(static_cast<float>(v)) : v;
          group.a[at] = from[2 * replica_size()];
          if (!group.v_thermal.empty()) group.v_thermal[at] = kNoNumber;
        }
        if (!context_.tallies_heat) continue;
        const std::size_t at = layout.heat_index(group, slot, m);
        group.kept_heat[at] = group.heat[at];
      }
    }
  }
  std::size_t replica_at(const Place& place) const {
    return static_cast<std::size_t>(groups_[place.group].first_replica + place.replica);
  }
  /// Computes the forces of replicas at new positions; ring polymers and replicas in windows have
  /// them from here.
  /// @param changed [replica of the state]
  void compute_forces(const std::vector<char>& changed) {
    compute_shared_forces(changed);
    if (!context_.layout.has_rings() && !windows_of(context_.system)) return;
    for_each_group_by_rank([&](std::size_t g, std::size_t rank) {
      Group& group = groups_[g];
      const auto first = changed.begin() + group.first_replica;
      if (std::count(first, first + group.replicas, 1) == 0) return;
      with_group_alone(g, rank, [this](auto& steps, std::size_t number, PairHistograms&) {
        // A bias differs between replicas, so that the accelerations change too.
        if (!context_.layout.has_rings()) return prepare_group(steps, number);
        steps.forces();
        if (!context_.forces.any_is_bad(steps.group)) return;
        stopped_.stop_bad(steps.group, number, step_, [](int) { return -1; });
      });
    });
  }
  /// Calls op(steps, g, histograms) for a group.
  template <class Op>
  void with_group(std::size_t g, WorkSpace& space, TeamMember& member, ThreadTotals& totals,
                  const Op& op) {
    const GroupInSteps group{context_, groups_[g], space, member, totals.report};
    if (context_.layout.has_rings()) {
      RingSteps steps{group};
      op(steps, g, totals.pairs);
    } else if (context_.layout.is_single()) {
      SingleSteps steps{group};
      op(steps, g, totals.pairs);
    } else {
      DoubleSteps steps{group};
      op(steps, g, totals.pairs);
    }
  }
  /// The same on the thread with this rank alone.
  template <class Op>
  void with_group_alone(std::size_t g, std::size_t rank, const Op& op) {
    const FlushDenormals flush;
    context_.layout.prepare_to_step(groups_[g], spaces_[rank]);
    totals_[rank].pairs.prepare(counting_);
    TeamMember member;
    with_group(g, spaces_[rank], member, totals_[rank], op);
  }
  /// Calls op(g, rank of the thread) for each group, on one thread each.
  template <class Op>
  void for_each_group_by_rank(const Op& op) {
    for_each_index(
        static_cast<std::int64_t>(groups_.size()), threads_,
        [](int rank) { return static_cast<std::size_t>(rank); },
        [&](std::size_t rank, std::int64_t g) {
          const FlushDenormals flush;
          op(static_cast<std::size_t>(g), rank);
        });
  }
  /// Calls op(steps, g, histograms) for each group: on one thread each, or on all threads of a
  /// team.
  template <class Op>
  void for_each_group(const Op& op) {
    const int members = team_size();
    if (members == 1) {
      for_each_group_by_rank(
          [&](std::size_t g, std::size_t rank) { with_group_alone(g, rank, op); });
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
          with_group(g, spaces_[0], member, totals_[rank], op);
          member.barrier();
        }
      });
    });
    caught.rethrow();
  }
  /// Initial accelerations, a function of the positions only: a restart computes the same ones.
  template <class Steps>
  void prepare_group(Steps& steps, std::size_t g) {
    Group& group = groups_[g];
    // Round the state to the precision of the steps.
    steps.load();
    steps.store();
    AlignedVector<double> v;
    steps.member.on_one([&] { v = group.v; });
    EngineReport ignored;
    steps.forces();
    // The end of a step sets the accelerations; the velocities are restored afterwards.
    steps.accelerate(ignored);
    steps.store();
    steps.member.on_one([&] {
      group.v.swap(v);
      // Overlapping atoms: infinite accelerations, or a failed solve (then v is NaN). Large finite
      // accelerations are left to the first step.
      group.keep();
      const auto is_bad = [&](int slot, int m) {
        for (int c = 0; c < 9; ++c) {
          const std::size_t at = context_.layout.index(group, slot, m, c);
          if (!std::isfinite(group.a[at]) || !std::isfinite(v[at])) return true;
        }
        return false;
      };
      stopped_.stop_bad(group, g, step_,
                        [&](int r) { return first_molecule(context_.layout, r, is_bad); });
    });
  }
  /// From the forces to the end of a step: stops replicas that blew up, adds the noise and counts
  /// pairs.
  /// @param may_fuse as `fuse` of second_half()
  template <class Steps>
  void end_step(Steps& steps, std::size_t g, std::int64_t step, bool may_fuse,
                PairHistograms& pairs) {
    Group& group = steps.group;
    const bool counts = counts_are_due(counting_, step + 1);
    const bool fuse = may_fuse && !is_apart(step) && !is_apart(step + 1) && !counts;
    const bool is_good = second_half(steps, step, fuse);
    if (steps.member.any(!is_good || context_.forces.any_is_bad(group))) {
      steps.store();
      steps.member.on_one([&] {
        stopped_.stop_bad(group, g, step + 1, [&](int r) { return bad_molecule(steps, r); });
      });
      steps.load();
      if (group.running_replicas == 0) return;
    }
    if (!steps.has_begun) add_noise(steps, step);
    if (counts) {
      count(steps, pairs);
      steps.clock.add_to(steps.report.rest_seconds);
    }
  }
  template <class Steps>
  void advance_group(Steps& steps, std::size_t g, std::int64_t n_steps, PairHistograms& pairs) {
    if (steps.group.running_replicas == 0) return;
    steps.load();
    advance_steps(OneGroup<Steps>{steps, g, pairs}, n_steps);
    steps.store();
  }
  /// Counts the pairs of the reported positions.
  template <class Steps>
  void count(Steps& steps, PairHistograms& pairs) {
    steps.store();
    report_positions(steps);
    count_group(counting_, context_.kernels, context_.layout, steps.group, steps.space.q,
                steps.member, pairs);
  }

  /// Calls op(block, rank, space) for each block of replicas that are measured together.
  template <class Op>
  void for_each_block(const Op& op) {
    const std::int64_t blocks = blocks_.blocks();
    for_each_index(
        blocks, threads_,
        [&](int rank) {
          auto& space = measure_spaces_[rank];
          if (!space) space = std::make_unique<BlockMeasure::Space>(blocks_.make_space());
          return static_cast<std::size_t>(rank);
        },
        [&](std::size_t rank, std::int64_t block) {
          const FlushDenormals flush;
          op(block, rank, *measure_spaces_[rank]);
        },
        std::max<std::int64_t>(1, blocks / (4 * threads_)));
  }
  void add_distances() {
    for_each_block([&](std::int64_t block, std::size_t, BlockMeasure::Space& space) {
      blocks_.add_distances(block, groups_, space);
    });
    blocks_.count_sample();
  }
  /// @param places [replica] place in the frame, or -1
  void fill_rows(unsigned fields, const std::vector<std::int64_t>& places, Frame& frame) {
    const bool counts = fields & kRadialCounts, has_rings = context_.layout.has_rings();
    for (ThreadTotals& thread : totals_) {
      if (counts) clear_radial(settings_.radial, thread.radial);
    }
    const unsigned of_blocks = has_rings ? fields & kRowFields : fields;
    if (of_blocks != kNoFields) {
      for_each_block([&](std::int64_t block, std::size_t rank, BlockMeasure::Space& space) {
        blocks_.fill(of_blocks, block, groups_, places, settings_, space,
                     of_blocks & kRadialCounts ? &totals_[rank].radial : nullptr, frame);
      });
    }
    if (has_rings && (fields & kFieldsOfBeads)) fill_rings(fields, places, frame);
    if (!has_rings) std::ranges::fill(frame.rescaled_energies_kcal_per_mol, kNoNumber);
    if (!counts) return;
    clear_radial(settings_.radial, frame.radial_counts);
    for (const ThreadTotals& thread : totals_) add_radial(thread.radial, frame.radial_counts);
  }
  /// Energies of the Potential for kRescaledEnergies.
  void compute_rescaled(const FactorOfReplica& factor_of) {
    std::vector<char> chosen;
    for (const std::int64_t id : replica_ids_) chosen.push_back(factor_of(id).has_value());
    context_.forces.begin(groups_, chosen);
    for_each_group_by_rank([&](std::size_t g, std::size_t rank) {
      WorkSpace& space = spaces_[rank];
      context_.layout.prepare_to_report(groups_[g], space);
      place_rescaled(context_, groups_[g], factor_of, space.q);
      context_.forces.place(groups_[g], space.q);
    });
    context_.forces.potential()->compute_rescaled();
  }
  void fill_rings(unsigned fields, const std::vector<std::int64_t>& places, Frame& frame) {
    const std::int64_t every = settings_.exchange_every;
    const FactorOfReplica factor_of = [&](std::int64_t id) -> std::optional<double> {
      if (every <= 0) return {};
      const auto partner =
          exchange_partner(id, context_.system.thermostat.temperatures_K.size(), every, step_);
      if (!partner) return {};
      return ring_mode_factor(context_.system, id, *partner);
    };
    if (has_potential() && (fields & kRescaledEnergies)) compute_rescaled(factor_of);
    for_each_group_by_rank([&](std::size_t g, std::size_t rank) {
      WorkSpace& space = spaces_[rank];
      context_.layout.prepare_to_report(groups_[g], space);
      fill_from_beads(fields, context_, groups_[g], places, settings_.radial, factor_of, space.q,
                      totals_[rank].radial, frame);
    });
  }
  /// Those of ring polymers are centroids, without multipliers.
  void fill_arrays(unsigned fields, const std::vector<std::int64_t>& places, Frame& frame) {
    struct Worker {
      WorkSpace& space;
      ForceField force_field;
      Measure::Replica replica;
    };
    const GroupLayout& layout = context_.layout;
    if (layout.has_rings()) fields &= ~kMultipliers;
    if (has_potential() && !is_rigid(context_.system.integrator.scheme)) {
      // Only the potential knows the bonds.
      std::ranges::fill(frame.multipliers_kcal_per_mol_A2, kNoNumber);
      fields &= ~kMultipliers;
    }
    for_each_index(
        static_cast<std::int64_t>(groups_.size()), threads_,
        [&](int rank) {
          return Worker{spaces_[rank], ForceField(context_.system.model, n_), Measure::Replica(n_)};
        },
        [&](Worker& w, std::int64_t g) {
          const FlushDenormals flush;
          Group& group = groups_[g];
          layout.prepare_to_report(group, w.space);
          const bool reports = (fields & (kPositions | kMultipliers)) != 0;
          const bool moves = Measure::needs_velocities(fields);
          if (reports && !layout.has_rings()) {
            context_.kernels.report_positions(context_.parameters, layout.packs_of(group, w.space),
                                              w.space.q.data());
          }
          const AlignedVector<double>& q = layout.has_rings() ? group.x : w.space.q;
          const bool projects = moves && is_rigid(context_.system.integrator.scheme);
          if (projects) {
            w.space.f.resize(w.space.q.size());
            context_.kernels.project_velocities[context_.system.has_isotopes()](
                context_.parameters.masses, layout.packs_of(group, w.space), w.space.f.data());
          }
          for (int r = 0; r < group.replicas; ++r) {
            const std::int64_t place = places[group.first_replica + r];
            if (place < 0) continue;
            const auto gather = [&](bool needed, const auto& from, std::vector<double>& to) {
              if (needed) layout.gather_centroid(group, from, r, to.data());
            };
            gather(moves || (fields & kOwnPositions) != 0, group.x, w.replica.x);
            gather(moves, projects ? w.space.f : group.v, w.replica.v);
            gather((fields & kMultipliers) != 0, group.a, w.replica.a);
            gather(reports, q, w.replica.q);
            measure_.fill(
                fields, static_cast<std::size_t>(place), w.replica,
                [&](const std::vector<double>& x, std::vector<double>& f) {
                  if (has_potential()) {
                    std::copy_n(context_.forces.potential()->forces_on(group.first_replica + r, 0),
                                f.size(), f.begin());
                  } else {
                    w.force_field.energy_and_forces(x, f);
                  }
                },
                frame);
          }
        });
  }
  void fill_pair_counts(Frame& frame) const {
    const std::size_t groups = static_cast<std::size_t>(counting_.groups);
    const std::size_t bins = static_cast<std::size_t>(counting_.bins);
    frame.pair_counts.assign(groups * kPairClasses * bins, 0);
    frame.pair_samples.assign(groups, 0);
    for (const ThreadTotals& thread : totals_) add_counts(counting_, thread.pairs, frame);
  }

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
  bool shares_potential_ = false;     ///< one object computes all groups
  StoppedReplicas stopped_;
  MeasureSettings settings_;
  BlockMeasure blocks_;
  std::vector<std::unique_ptr<BlockMeasure::Space>> measure_spaces_;  ///< [thread]
  std::unique_ptr<StartedSteps> started_;                             ///< null after wait()
};

std::vector<const KernelTable*> all_usable_kernels() {
  std::vector<const KernelTable*> tables(8);
  tables.resize(usable_kernels(tables.data(), static_cast<int>(tables.size())));
  return tables;
}

}  // namespace
}  // namespace cpu

std::unique_ptr<Engine> make_cpu_engine(const System& system, const State& start,
                                        const PairCountRequest& counts, int threads,
                                        const std::string& instruction_set,
                                        std::shared_ptr<Potential> potential) {
  check_start(system, start, counts);
  if (!potential && system.model.is_many_body()) {
    potential = many_body_potential(system.model.many_body, system.precision == Precision::mixed,
                                    threads, {}, system.model.field_kcal_per_mol_e_A);
  }
  const System stepped = potential ? without_model_forces(system) : system;
  for (const cpu::KernelTable* table : cpu::all_usable_kernels()) {
    if (instruction_set.empty() || instruction_set == table->name) {
      return std::make_unique<cpu::CpuEngine>(stepped, start, counts, threads, *table,
                                              std::move(potential));
    }
  }
  throw InputError("instruction set '" + instruction_set +
                   "' is not in this build or is not supported by this processor");
}

std::vector<std::string> cpu_instruction_sets() {
  std::vector<std::string> names;
  for (const cpu::KernelTable* table : cpu::all_usable_kernels()) names.emplace_back(table->name);
  return names;
}

}  // namespace tarn
