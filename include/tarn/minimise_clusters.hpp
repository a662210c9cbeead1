#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tarn/minimise.hpp"
#include "tarn/potential.hpp"

namespace tarn {

/// quench_to_minimum() of many clusters, shared by threads. Rigid molecules are first put onto the
/// geometry of the model (make_rigid). The result of a cluster does not depend on the others.
///
/// With a potential all atoms move. Up to 64 clusters are minimised at a time, each in a thread of
/// its own, and the calling thread makes one call of compute() for all that need an energy; a
/// single cluster needs no thread. The calls do not depend on the speeds of the threads. Image ids
/// are the index of the cluster, and for image k of the differences of forces at a stationary
/// point, the index plus k times the number of clusters.
///
/// An exception ends all minimisations.
/// @param positions_A [cluster][molecule][9]; replaced
/// @param threads 0: all threads; not used with a potential
/// @param options its functions are called by several threads, one at a time
/// @return of each cluster
/// @param potential null: the energies of the model
/// @throws InputError for a wrong number of coordinates, distances within molecules that differ
///         from the model's (io::bond_length_problems), and as quench(); NumericalError as
///         quench(); what the potential or the functions of the options throw
std::vector<MinimiseResult> minimise_clusters(const WaterModel& model, int molecules,
                                              std::span<double> positions_A, int threads = 0,
                                              const MinimiseOptions& options = {},
                                              std::shared_ptr<Potential> potential = {});

}  // namespace tarn
