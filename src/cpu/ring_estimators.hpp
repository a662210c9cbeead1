#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "group_steps.hpp"
#include "tarn/engine.hpp"

namespace tarn::cpu {

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
