#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Error against cost of many schemes and steps from one deck, in turns on one thread.
void make_verdict(const Reproduction& r, const ReproduceOptions& options);

}  // namespace tarn
