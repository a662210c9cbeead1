#include "group_solvers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dense_solve.hpp"
#include "steps/newmark.hpp"
#include "steps/zss.hpp"

namespace tarn::cpu {

void solve_dense(const System& system, const GroupLayout& layout, Group& group,
                 const WorkSpace& space, EngineReport& report) {
  const int n = layout.molecules();
  std::vector<double> x(static_cast<std::size_t>(n) * 9), f(x.size()), a(x.size());
  for (int r = 0; r < group.replicas; ++r) {
    if (group.is_stopped(r)) continue;
    layout.gather(group, group.x, r, x.data());
    layout.gather(group, space.f, r, f.data());
    report.indefinite_hessians += dense_accelerations(system, x, f, a);
    // Lanes without a replica repeat the first one.
    for (int slot = r; slot < (r == 0 ? group.slots : r + 1); ++slot) {
      if (slot > 0 && slot < group.replicas && slot != r) continue;
      for (int m = 0; m < n; ++m) {
        for (int c = 0; c < 9; ++c) {
          group.a[layout.index(group, slot, m, c)] = a[m * 9 + c];
        }
      }
    }
  }
}

void solve_newmark(const StepParameters& parameters, const GroupLayout& layout,
                   const GroupForces& forces, const KernelTable& kernels, Group& group,
                   WorkSpace& space, TeamMember& member, EngineReport& report, StageClock& clock) {
  const int n = layout.molecules();
  const MoleculePacks packs = layout.packs_of(group, space),
                      own = layout.packs_of(group, space, member);
  const std::size_t lanes = static_cast<std::size_t>(std::max(group.slots, layout.lanes()));
  AlignedVector<double>& active = space.active;
  member.on_one([&] {
    active.assign(lanes, 1.0);
    space.change2.resize(lanes);
    space.size2.resize(lanes);
    std::fill(group.a.begin(), group.a.end(), 0.0);
    space.q = group.x;
  });
  for (int correction = 1;; ++correction) {
    clock.add_to(report.bond_seconds);
    if (correction > 1) {
      kernels.report_positions(parameters, own, space.q.data());
      forces.compute(space.q.data(), group, space, member);
      clock.add_to(report.pair_seconds);
    }
    member.on_one([&] {
      for (int r = 0; r < group.replicas; ++r) {
        const auto slot = static_cast<std::size_t>(r);
        if (active[slot] > 0.0 && !group.is_stopped(r)) report.constraint_iterations += n;
      }
      kernels.correct_newmark(
          parameters, packs,
          {space.q.data(), active.data(), space.change2.data(), space.size2.data()});
      for (std::size_t l = 0; l < lanes; ++l) {
        if (is_solved_to_round_off(space.change2[l], space.size2[l])) active[l] = 0.0;
      }
    });
    if (std::find(active.begin(), active.end(), 1.0) == active.end()) return;
    if (correction == kMostCorrections) break;
  }
  // A replica that does not converge counts as a blow-up.
  member.on_one([&] {
    for (int r = 0; r < group.slots; ++r) {
      if (active[r] == 0.0) continue;
      for (int m = 0; m < n; ++m) group.a[layout.index(group, r, m, 0)] = std::nan("");
    }
  });
}

}  // namespace tarn::cpu
