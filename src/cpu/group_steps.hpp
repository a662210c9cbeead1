#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "aligned.hpp"
#include "group.hpp"
#include "group_forces.hpp"
#include "group_solvers.hpp"
#include "kernel_table.hpp"
#include "stage_clock.hpp"
#include "tarn/engine.hpp"
#include "thread_team.hpp"

/// @file
/// One group of replicas while it is being stepped. DoubleSteps and SingleSteps have the same
/// functions, so that the engine's loop over steps is written once.

namespace tarn::cpu {

/// What all groups share during the steps of an engine.
struct StepContext {
  StepContext(const System& s, const KernelTable& k, bool heat)
      : system(s),
        kernels(k),
        layout(system, kernels.lanes),
        passes(step_passes(system)),
        parameters(step_parameters(system)),
        single_parameters(rounded_to_float(parameters)),
        forces(system, layout, kernels),
        tallies_heat(heat) {}
  StepContext(const StepContext&) = delete;
  StepContext& operator=(const StepContext&) = delete;

  /// Whether accelerations follow from the forces molecule by molecule.
  bool passes_end_steps() const {
    return system.integrator.scheme != Scheme::pushforward_newmark &&
           !uses_dense_solver(system.integrator);
  }

  const System system;
  const KernelTable& kernels;
  const GroupLayout layout;
  const StepPasses passes;
  const StepParameters parameters;
  const StepNumbers<float> single_parameters;
  const GroupForces forces;
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

/// Steps in doubles, in place.
struct DoubleSteps {
  const StepContext& context;
  Group& group;
  WorkSpace& space;
  TeamMember& member;
  EngineReport& report;
  MoleculePacks packs = context.layout.packs_of(group, space, member);
  AlignedVector<double>&next_x = space.next_x, &next_v = space.next_v;
  const StepParameters& numbers = context.parameters;
  const StepKernels<double, MoleculePacks>& kernels = context.kernels.step;

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
  void forces() { context.forces.compute(group.x.data(), group, space, member); }
  /// Accelerations from the forces, and the second kick.
  PassReport finish(EngineReport& to, StageClock& clock) {
    const MoleculePacks all = context.layout.packs_of(group, space, member);
    PassReport pass;
    if (context.passes_end_steps()) {
      pass = kernels.end[static_cast<int>(context.passes.end)](numbers, all);
    } else if (context.system.integrator.scheme == Scheme::pushforward_newmark) {
      solve_newmark(numbers, context.layout, context.forces, context.kernels, group, space, member,
                    to, clock);
      pass = context.kernels.end_kick(numbers, all);
    } else {
      member.on_one([&] { solve_dense(context.system, context.layout, group, space, to); });
      pass = context.kernels.end_kick(numbers, all);
    }
    to.indefinite_hessians += pass.indefinite;
    clock.add_to(to.bond_seconds);
    return pass;
  }
};

/// Steps in single precision: the state is converted to floats for the steps of one advance().
struct SingleSteps {
  const StepContext& context;
  Group& group;
  WorkSpace& space;
  TeamMember& member;
  EngineReport& report;
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
  void forces() { context.forces.compute(packs, space, member); }
  PassReport finish(EngineReport& to, StageClock& clock) {
    const PassReport pass = kernels.end[static_cast<int>(context.passes.end)](numbers, packs);
    to.indefinite_hessians += pass.indefinite;
    clock.add_to(to.bond_seconds);
    return pass;
  }
};

}  // namespace tarn::cpu
