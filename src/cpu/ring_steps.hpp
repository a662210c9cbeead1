#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "group_steps.hpp"
#include "tarn/engine.hpp"

/// @file
/// Steps of ring polymers, in normal modes and in doubles. See group_steps.hpp.

namespace tarn::cpu {

/// Computes the positions of the beads, laid out as the modes.
/// @param modes of the group
inline void place_beads(const StepContext& context, const Group& group,
                        const AlignedVector<double>& modes, AlignedVector<double>& beads) {
  const GroupLayout& layout = context.layout;
  context.kernels.rings.transform(
      context.transforms.to_beads(group.replicas, group.slots / layout.lanes(),
                                  9 * layout.molecules()),
      modes.data(), beads.data());
}

struct RingSteps : GroupInSteps {
  void load() { std::fill(group.bad.begin(), group.bad.end(), 0.0); }
  void store() {}
  void keep() { group.keep(); }
  void place() {
    if (context.forces.potential() == nullptr) return;
    place_beads(context, group, group.x, space.q);
    context.forces.place(group, space.q);
  }
  /// Forces on the modes, at the positions of the beads.
  void forces() {
    const GroupLayout& layout = context.layout;
    const RingKernels& kernels = context.kernels.rings;
    const int packs = group.slots / layout.lanes(), n = layout.molecules();
    const bool of_model = context.forces.potential() == nullptr;
    if (of_model || context.forces.outside_act()) place_beads(context, group, group.x, space.q);
    clock.add_to(report.rest_seconds);
    context.forces.compute(space.q.data(), group, space, member);
    clock.add_to(report.pair_seconds);
    if (of_model) {
      kernels.add_bond_forces(context.parameters.flexible, space.q.data(), packs * n,
                              space.f.data());
    }
    clock.add_to(report.bond_seconds);
    kernels.transform(context.transforms.to_modes(group.replicas, packs, 9 * n), space.f.data(),
                      group.a.data());
    if (context.forces.has_biases()) context.forces.bias_centroids(group);
    clock.add_to(report.rest_seconds);
  }
  /// Nothing is left to solve.
  void accelerate(EngineReport&) {}
  /// The second half of a step, and the first half of the next one: any of the two.
  /// @return whether all replicas are good
  bool pass(std::int64_t noise_step, bool end, bool begin) {
    const StepParameters& numbers = context.parameters;
    const GroupLayout& layout = context.layout;
    return context.kernels.rings
        .pass[context.system.has_isotopes()][static_cast<int>(context.thermostat())](
            layout.ring_constants_of(group), layout.ring_packs_of(group), numbers.h,
            kLargestSpeed2 * layout.copies(), numbers.seed, noise_step, end, begin);
  }
};

/// The stage of the modes' steps: noise, if there is any.
inline double& mode_seconds(RingSteps& steps) {
  return steps.context.thermostat() == Thermostat::none ? steps.report.rest_seconds
                                                        : steps.report.noise_seconds;
}
inline void first_half(RingSteps& steps, std::int64_t step) {
  steps.pass(step, false, true);
  steps.clock.add_to(mode_seconds(steps));
}
/// With the noise of GLA. @return whether all replicas are good
inline bool second_half(RingSteps& steps, std::int64_t step, bool fuse) {
  const bool next = fuse && steps.context.thermostat() == Thermostat::baoab;
  const bool good = steps.pass(next ? step + 1 : step, true, fuse);
  steps.clock.add_to(mode_seconds(steps));
  steps.has_begun = fuse;
  return good;
}
inline void add_noise(RingSteps&, std::int64_t) {}
/// The pass has marked the slots of bad replicas; it may have slowed them down since.
inline int bad_molecule(const RingSteps& steps, int r) {
  const GroupLayout& layout = steps.context.layout;
  const Group& group = steps.group;
  const auto first = group.bad.begin() + layout.first_slot(r), last = first + layout.copies();
  if (std::find(first, last, 1.0) == last) return -1;
  return std::max(0, first_fast_molecule(layout, group, r));
}
/// Those of the beads.
inline void report_positions(RingSteps& steps) {
  place_beads(steps.context, steps.group, steps.group.x, steps.space.q);
}

/// The fields of frames that need the beads or modes of ring polymers. All others are measured on
/// the centroids, as on classical replicas.
inline constexpr unsigned kFieldsOfBeads = kEnergies | kConservation | kRings | kGeometry | kBeads |
                                           kAtomKinetic | kRadialCounts | kExchangeEnergies |
                                           kRescaledEnergies;

/// ring_mode_factor() of a replica that attempts an exchange, or nothing.
using FactorOfReplica = std::function<std::optional<double>(std::int64_t replica_id)>;

/// Places the beads of the ring polymers of a group, each rescaled by its factor.
/// @param positions of the beads: as many numbers as the group has
/// @return [replica of the group] whether it has a factor
std::vector<char> place_rescaled(const StepContext& context, const Group& group,
                                 const FactorOfReplica& factor_of,
                                 AlignedVector<double>& positions);

/// Fills these fields for the ring polymers of a group.
/// @param place [replica of the state] its place in the frame, or -1
/// @param factor_of for kRescaledEnergies; with a Potential, those of compute_rescaled() before
/// @param positions of the beads, work space: as many numbers as the group has
/// @param radial counts of one thread to add to
void fill_from_beads(unsigned fields, const StepContext& context, const Group& group,
                     const std::vector<std::int64_t>& place, const RadialRequest& request,
                     const FactorOfReplica& factor_of, AlignedVector<double>& positions,
                     RadialCounts& radial, Frame& frame);

}  // namespace tarn::cpu
