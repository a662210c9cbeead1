#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/ranks.hpp"
#include "transport.hpp"

namespace tarn::parallel {

/// The engine that rank 0 has of all ranks. @param number of this engine, for the orders
std::unique_ptr<Engine> make_ranks_engine(Transport& transport,
                                          const std::vector<RankPlace>& places, int number,
                                          const System& system, const State& start,
                                          const PairCountRequest& counts,
                                          const DeviceRequest& device);

/// Follows the orders of rank 0 until it ends; on the other ranks.
/// @param caught_signal, potential_of_rank see Ranks::serve()
void follow_orders(Transport& transport, const RankPlace& place,
                   const std::function<int()>& caught_signal,
                   const PotentialOfRank& potential_of_rank);

}  // namespace tarn::parallel
