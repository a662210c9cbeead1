#pragma once

#include <span>
#include <vector>

#include "tarn/core/vec3.hpp"
#include "tarn/physics/measured.hpp"
#include "tarn/physics/parameters.hpp"

namespace tarn {

/// @param positions_A [molecule][9]
Vec3<double> centre_of_mass(std::span<const double> positions_A, const ClusterMasses& masses);

/// The molecules outside the largest part of a cluster: oxygens nearer than `link_A` to one
/// another, directly or through others, form one part. Of parts of equal size the one with the
/// first molecule counts as the largest.
/// @param positions_A [molecule][9]
/// @return their numbers from 0, in rising order; none when the cluster is whole
std::vector<int> evaporated_molecules(std::span<const double> positions_A, double link_A);

/// The row of a replica: evaporated_molecules() and the kinetic energy of their motion.
/// @param velocities_A_per_akma [molecule][9]
ClusterParts cluster_parts(std::span<const double> positions_A,
                           std::span<const double> velocities_A_per_akma,
                           const ClusterMasses& masses, double link_A);

}  // namespace tarn
