#pragma once

#include "group.hpp"
#include "group_forces.hpp"
#include "stage_clock.hpp"
#include "tarn/engine.hpp"

/// @file
/// Accelerations that are solved for a whole replica at once, not molecule by molecule.

namespace tarn::cpu {

/// Accelerations by dense factorisation, replica by replica.
void solve_dense(const System& system, const GroupLayout& layout, Group& group,
                 const WorkSpace& space, EngineReport& report);

/// Accelerations of push-forward Newmark, by iteration. It starts from a = 0: the solution is a
/// function of the positions only, and the first correction is the acceleration of Z&Ss. A
/// converged replica is not changed by further corrections.
void solve_newmark(const StepParameters& parameters, const GroupLayout& layout,
                   const GroupForces& forces, const KernelTable& kernels, Group& group,
                   WorkSpace& space, TeamMember& member, EngineReport& report, StageClock& clock);

}  // namespace tarn::cpu
