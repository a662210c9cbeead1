#include "group_forces.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dense_solve.hpp"
#include "steps/measure.hpp"
#include "steps/newmark.hpp"
#include "steps/zss.hpp"

namespace tarn::cpu {
namespace {

/// Subtracts the net force that rounded pair forces leave.
template <class S, class Packs>
void remove_net_force(const StepKernels<S, Packs>& kernels, const Packs& packs,
                      const Masses<S>& masses, TeamMember& member, AlignedVector<S>& totals, S* f) {
  if (member.size() == 1) return kernels.remove_net_force(packs, masses, nullptr, f);
  kernels.total_forces(packs, f, totals.data());
  member.barrier();
  kernels.remove_net_force(packs, masses, totals.data(), f);
}

}  // namespace

GroupForces::PairKernels::PairKernels(const KernelTable& k, bool m_site, bool mixed, bool floats)
    : small(k.small_pairs[m_site][mixed]),
      narrow(k.narrow_pairs[m_site][mixed]),
      sites(k.build_sites[m_site][mixed]),
      large(k.large_pairs[m_site][floats]),
      sum(k.sum_blocks[m_site][floats]),
      single_small(k.single.small_pairs[m_site]),
      single_narrow(k.single.narrow_pairs[m_site]),
      single_sites(k.single.build_sites[m_site]) {}

GroupForces::GroupForces(const System& system, const GroupLayout& layout,
                         const KernelTable& kernels, std::unique_ptr<PotentialForces> potential)
    : layout_(layout),
      kernels_(kernels),
      potential_(std::move(potential)),
      mixed_(pair_force_precision(system) == Precision::mixed),
      pairs_(kernels, system.model.has_m_site(), mixed_, layout.pairs_are_floats()),
      pair_(pair_parameters<double>(system.model)),
      single_pair_(pair_parameters<float>(system.model)),
      outside_(outside_forces(system)),
      biases_(biases_of(system)) {
  const StepParameters parameters = step_parameters(system);
  isotopes_ = system.has_isotopes();
  masses_ = parameters.masses;
  single_masses_ = rounded_to_float(parameters).masses;
}

void GroupForces::compute(double* x, Group& group, WorkSpace& space, TeamMember& member) const {
  MoleculePacks packs = layout_.packs_of(group, space, member);
  // Replicas or beads in the lanes of the pair type at a time, which fit into the cache.
  const bool parts = packs.lanes_are_replicas;
  const int lanes = layout_.lanes(), wide = layout_.wide_slots(),
            part = parts ? wide / lanes * layout_.molecules() : 0;
  if (parts) packs.last_pack = part;
  if (potential_) {
    potential_->put_forces(group, space.f.data());
    if (!outside_act() && !has_biases()) return;
  }
  for (int k = 0; k < (parts ? group.slots / wide : 1); ++k) {
    const std::size_t at = pack_index(lanes, static_cast<std::size_t>(k * part), 0, 0);
    packs.x = x + at;
    double* const f = space.f.data() + at;
    if (!potential_) pair_forces(packs, f, space, member);
    if (mixed_) remove_net_force(step_kernels(), packs, masses_, member, space.totals, f);
    if (outside_act()) step_kernels().confine(packs, masses_, outside_, f);
    for (int b = 0; b < biases_.count && !layout_.has_rings(); ++b) {
      kernels_.add_bias(packs, biases_.terms[b], &group.bias_centres[b * group.slots + k * wide],
                        f);
    }
  }
}

void GroupForces::bias_centroids(Group& group) const {
  for (int r = 0; r < group.replicas; ++r) {
    for (int b = 0; b < biases_.count; ++b) {
      bias_forces(
          biases_.terms[b], layout_.molecules(), group.bias_centres[b * group.replicas + r],
          [&](int k) { return centroid_of_oxygen(group, r, k); },
          [&](int k, const Vec3<double>& push) {
            const Vec3<double> f = 1.0 / layout_.centroid_scale() * push;
            const auto at = [&](int c) {
              return layout_.index(group, layout_.first_slot(r), k, c);
            };
            group.a[at(0)] += f.x;
            group.a[at(1)] += f.y;
            group.a[at(2)] += f.z;
          });
    }
  }
}

double GroupForces::centroid_bias(const Group& group, int r) const {
  if (!has_biases()) return 0.0;
  return measure_biases(biases_, layout_.molecules(), &group.bias_centres[r], group.replicas,
                        [&](int k) { return centroid_of_oxygen(group, r, k); })
      .energy;
}

Vec3<double> GroupForces::centroid_of_oxygen(const Group& group, int r, int molecule) const {
  const auto x = [&](int c) {
    return group.x[layout_.index(group, layout_.first_slot(r), molecule, c)];
  };
  return layout_.centroid_scale() * Vec3<double>{x(0), x(1), x(2)};
}

void GroupForces::pair_forces(const MoleculePacks& packs, double* f, WorkSpace& space,
                              TeamMember& member) const {
  if (packs.lanes_are_replicas) {
    pairs_.small({packs.x, space.sites.data(), space.work.data(), f, layout_.molecules()}, pair_);
    return;
  }
  const LargePairs args = large_pairs_of(packs.x, space.sites.data());
  const PackRange own = layout_.wide_part_of(member);
  pairs_.sites(args, pair_, own.first, own.last);
  if (layout_.is_small()) {
    pairs_.narrow({space.sites.data(), space.work.data(), f, layout_.molecules(),
                   layout_.narrow_row_length()},
                  pair_);
  } else {
    large_pair_forces(args, space, member);
  }
}

LargePairs GroupForces::large_pairs_of(const double* x, void* sites) const {
  const int n = layout_.molecules();
  return {x, sites, nullptr, n, padded_molecules(n), layout_.blocks(), 0, 0, 1};
}

/// Forces on the atoms of this member's packs, after it has built their sites.
void GroupForces::large_pair_forces(const LargePairs& args, WorkSpace& space,
                                    TeamMember& member) const {
  LargePairs all = args;
  all.block_f = space.block_f.data();
  member.barrier();
  member.for_each_task(block_tasks(args.molecules, args.blocks), [&](int k) {
    const BlockTask task = block_task(k, args.molecules, args.blocks);
    LargePairs a = all;
    a.row_block = task.row;
    a.first_partner = task.first_partner;
    a.last_partner = task.last_partner;
    pairs_.large(a, pair_);
  });
  const PackRange own = layout_.wide_part_of(member);
  pairs_.sum(all, pair_.m_weight, own.first, own.last, space.f.data());
}

void GroupForces::compute(const SinglePacks& packs, WorkSpace& space, TeamMember& member) const {
  SingleGroup& s = space.single;
  const SinglePairs pairs{
      packs.x,    s.sites.data(),      s.work.data(),    layout_.narrow_row_length(),
      s.f.data(), layout_.molecules(), packs.first_pack, packs.last_pack};
  if (packs.lanes_are_replicas) {
    pairs_.single_small(pairs, single_pair_);
  } else {
    pairs_.single_sites(pairs, single_pair_);
    if (layout_.is_small()) {
      pairs_.single_narrow(pairs, single_pair_);
    } else {
      large_pair_forces(large_pairs_of(nullptr, s.sites.data()), space, member);
      kernels_.single.round_forces(space.f.data(), packs.first_pack, packs.last_pack, s.f.data());
    }
  }
  remove_net_force(kernels_.single_step, packs, single_masses_, member, s.totals, s.f.data());
  if (outside_act()) {
    kernels_.single_step.confine(packs, single_masses_, rounded_to_float(outside_), s.f.data());
  }
}

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
      kernels.correct_newmark[packs.isotopes != nullptr](
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
