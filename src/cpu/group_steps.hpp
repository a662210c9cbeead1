#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/aligned.hpp"
#include "group.hpp"
#include "group_forces.hpp"
#include "kernel_table.hpp"
#include "ring_tables.hpp"
#include "stopped_replicas.hpp"
#include "tarn/core/error.hpp"
#include "tarn/engine.hpp"
#include "thread_team.hpp"

/// @file
/// One group of replicas while it is being stepped: DoubleSteps and SingleSteps for molecules, and
/// RingSteps (ring_steps.hpp) for ring polymers. They have the same functions, so that the engine's
/// loop over steps is written once.

namespace tarn::cpu {

/// The number of a kind of step in kStepKinds.
inline std::size_t number_of_kind(const StepKind& kind) {
  const auto found = std::find(kStepKinds.begin(), kStepKinds.end(), kind);
  if (found == kStepKinds.end()) throw InputError("the integrator has no such thermostat");
  return static_cast<std::size_t>(found - kStepKinds.begin());
}

/// What all groups share during the steps of an engine.
struct StepContext {
  StepContext(const System& s, const KernelTable& k, bool heat,
              std::unique_ptr<PotentialForces> potential)
      : system(s),
        masses(s),
        kernels(k),
        layout(system, kernels.lanes),
        passes(step_passes(system)),
        kind(number_of_kind({system.thermostat.kind, passes.move, passes.end})),
        parameters(step_parameters(system)),
        single_parameters(rounded_to_float(parameters)),
        forces(system, layout, kernels, std::move(potential)),
        transforms(layout.copies(),
                   transforms_are_folded(layout.copies(), kernels.lanes, layout.wide_slots())),
        tallies_heat(heat) {}
  StepContext(const StepContext&) = delete;
  StepContext& operator=(const StepContext&) = delete;

  Thermostat thermostat() const { return system.thermostat.kind; }
  /// Whether accelerations follow from the forces molecule by molecule.
  bool passes_end_steps() const {
    return system.integrator.scheme != Scheme::pushforward_newmark &&
           !uses_dense_solver(system.integrator);
  }
  /// Whether one pass goes from the forces of a step to those of the next one.
  bool can_fuse() const { return layout.is_small() && passes_end_steps() && !tallies_heat; }

  const System system;
  const ClusterMasses masses;
  const KernelTable& kernels;
  const GroupLayout layout;
  const StepPasses passes;
  const std::size_t kind;  ///< number in kStepKinds
  const StepParameters parameters;
  const StepNumbers<float> single_parameters;
  const GroupForces forces;
  const RingTransforms transforms;  ///< of ring polymers
  const bool tallies_heat;
};

/// Copies the packs of one team member, with `size` numbers each.
template <class T>
void copy_packs(const PackLanes& packs, int size, const AlignedVector<T>& from,
                AlignedVector<T>& to) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(packs.first_pack) * size;
  const auto last = from.begin() + static_cast<std::ptrdiff_t>(packs.last_pack) * size;
  std::copy(first, last, to.begin() + (first - from.begin()));
}
inline void keep_heat(const StepContext& context, const MoleculePacks& packs, Group& group) {
  if (!context.tallies_heat) return;
  copy_packs(packs, context.kernels.lanes, group.heat, group.kept_heat);
}

/// What all kinds of steps need.
struct GroupInSteps {
  const StepContext& context;
  Group& group;
  WorkSpace& space;
  TeamMember& member;
  EngineReport& report;
  StageClock clock{};      ///< of the current step
  bool has_begun = false;  ///< the first half of the current step was done with the last step
};

/// Steps in doubles, in place.
struct DoubleSteps : GroupInSteps {
  MoleculePacks packs = context.layout.packs_of(group, space, member);
  AlignedVector<double>&next_x = space.next_x, &next_v = space.next_v;
  const StepParameters& numbers = context.parameters;
  const StepKernels<double, MoleculePacks>& kernels =
      context.kernels.step[context.system.has_isotopes()];

  void load() {}
  void store() {}
  void keep() {
    const int pack = 9 * context.kernels.lanes;
    copy_packs(packs, pack, group.x, group.kept_x);
    copy_packs(packs, pack, group.v, group.kept_v);
    keep_heat(context, packs, group);
  }
  void take_next() {
    group.x.swap(next_x);
    group.v.swap(next_v);
    packs.x = group.x.data();
    packs.v = group.v.data();
  }
  /// Gives a Potential the positions.
  void place() { context.forces.place(group, group.x); }
  void forces() {
    context.forces.compute(group.x.data(), group, space, member);
    clock.add_to(report.pair_seconds);
  }
  /// Accelerations from the forces, and the second kick.
  PassReport accelerate(EngineReport& to) {
    if (context.passes_end_steps()) return kernels.kinds[context.kind].end(numbers, packs);
    if (context.system.integrator.scheme == Scheme::pushforward_newmark) {
      solve_newmark(numbers, context.layout, context.forces, context.kernels, group, space, member,
                    to, clock);
    } else {
      member.on_one([&] { solve_dense(context.system, context.layout, group, space, to); });
    }
    return context.kernels.end_kick(numbers, packs);
  }
};

/// Steps in single precision: the state is converted to floats for the steps of one advance().
struct SingleSteps : GroupInSteps {
  SinglePacks packs = context.layout.single_packs_of(group, space, member);
  AlignedVector<std::uint32_t>& next_x = space.single.next_x;
  AlignedVector<float>& next_v = space.single.next_v;
  const StepNumbers<float>& numbers = context.single_parameters;
  const StepKernels<float, SinglePacks>& kernels = context.kernels.single_step;
  bool kept = false;

  void load() { context.kernels.single.load(context.layout.packs_of(group, space), packs); }
  /// Stores the kept state too.
  void store() {
    const SingleKernels& single = context.kernels.single;
    single.store(packs, context.layout.packs_of(group, space));
    if (!kept) return;
    SinglePacks old = packs;
    old.x = space.single.kept_x.data();
    old.v = space.single.kept_v.data();
    MoleculePacks to = context.layout.packs_of(group, space);
    to.x = group.kept_x.data();
    to.v = group.kept_v.data();
    single.store(old, to);
    kept = false;
  }
  void keep() {
    const int lanes = context.layout.wide_slots();
    copy_packs(packs, kFixedComponents * lanes, space.single.x, space.single.kept_x);
    copy_packs(packs, 9 * lanes, space.single.v, space.single.kept_v);
    keep_heat(context, context.layout.packs_of(group, space, member), group);
    kept = true;
  }
  void take_next() {
    space.single.x.swap(next_x);
    space.single.v.swap(next_v);
    packs.x = space.single.x.data();
    packs.v = space.single.v.data();
  }
  void place() {}
  void forces() {
    context.forces.compute(packs, space, member);
    clock.add_to(report.pair_seconds);
  }
  PassReport accelerate(EngineReport&) { return kernels.kinds[context.kind].end(numbers, packs); }
};

/// The first half of a step: kick, drift, position constraints; with BAOAB the noise in the middle.
/// Timed steps also run the noise alone, on `v_thermal`, which the pass overwrites; its time is
/// subtracted from that of the pass.
template <class Steps>
void first_half(Steps& steps, std::int64_t step) {
  const auto& context = steps.context;
  StageClock& clock = steps.clock;
  const auto& passes = steps.kernels.kinds[context.kind];
  EngineReport& report = steps.report;
  double noise = 0.0;
  if (clock.is_on() && context.thermostat() == Thermostat::baoab) {
    auto alone = steps.packs;
    alone.v = alone.v_thermal;
    alone.heat = nullptr;
    passes.noise(steps.numbers, alone, step);
    noise = clock.take();
  }
  const PassReport begun = passes.begin(steps.numbers, steps.packs, step);
  report.constraint_iterations += begun.iterations;
  report.indefinite_hessians += begun.indefinite;
  const double pass = clock.take();
  noise = std::min(noise, pass);
  report.noise_seconds += noise;
  (context.passes.move == Move::free ? report.rest_seconds : report.bond_seconds) += pass - noise;
}

/// The second half of a step: linear solve or velocity constraints, kick.
/// @param fuse whether the first half of the next step may follow in the same pass. If a replica
///        blows up there, the second half is done alone: only v_thermal has changed, and the next
///        step sets it
/// @return false if a replica is too fast or not a number
template <class Steps>
bool second_half(Steps& steps, std::int64_t step, bool fuse) {
  const StepContext& context = steps.context;
  steps.has_begun = false;
  if (fuse && context.can_fuse()) {
    auto next = steps.packs;
    next.x = steps.next_x.data();
    next.v = steps.next_v.data();
    const PassReport done =
        steps.kernels.kinds[context.kind].fused(steps.numbers, steps.packs, next, step);
    if (done.bad_pack < 0) {
      steps.take_next();
      steps.report.constraint_iterations += done.iterations;
      steps.report.indefinite_hessians += done.indefinite;
      steps.has_begun = true;
      return true;
    }
  }
  const PassReport pass = steps.accelerate(steps.report);
  steps.report.indefinite_hessians += pass.indefinite;
  steps.clock.add_to(steps.report.bond_seconds);
  return pass.bad_pack < 0;
}

/// The noise of GLA. It follows the check of the velocities, which are then the same in any batch.
template <class Steps>
void add_noise(Steps& steps, std::int64_t step) {
  if (steps.context.thermostat() != Thermostat::gla) return;
  steps.kernels.kinds[steps.context.kind].noise(steps.numbers, steps.packs, step);
  steps.clock.add_to(steps.report.noise_seconds);
}

/// The first molecule of replica r that is too fast, or -1.
template <class Steps>
int bad_molecule(const Steps& steps, int r) {
  return first_fast_molecule(steps.context.layout, steps.group, r);
}

/// Puts the reported positions where they are counted, WorkSpace::q.
template <class Steps>
void report_positions(Steps& steps) {
  const StepContext& context = steps.context;
  context.kernels.report_positions(context.parameters,
                                   context.layout.packs_of(steps.group, steps.space, steps.member),
                                   steps.space.q.data());
  steps.member.barrier();
}

}  // namespace tarn::cpu
