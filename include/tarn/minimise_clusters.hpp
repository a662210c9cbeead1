#pragma once

#include <span>
#include <vector>

#include "tarn/minimise.hpp"

namespace tarn {

/// quench_to_minimum() of many clusters, shared by threads. Rigid molecules are first put onto the
/// geometry of the model (make_rigid). The result of a cluster does not depend on the others.
/// @param positions_A [cluster][molecule][9]; replaced
/// @param threads 0: all threads
/// @param options its functions are called by several threads, one at a time
/// @return of each cluster
/// @throws InputError for a wrong number of coordinates, distances within molecules that differ
///         from the model's (io::bond_length_problems), and as quench(); NumericalError as quench()
std::vector<MinimiseResult> minimise_clusters(const WaterModel& model, int molecules,
                                              std::span<double> positions_A, int threads = 0,
                                              const MinimiseOptions& options = {});

}  // namespace tarn
