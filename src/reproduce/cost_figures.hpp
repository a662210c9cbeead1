#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Time and memory of a step by the number of molecules.
void make_growth_figure(const Reproduction& r, const ReproduceOptions& options);
/// Time of a step of each scheme against that of the first, by the number of molecules.
void make_scheme_cost_figure(const Reproduction& r, const ReproduceOptions& options);

}  // namespace tarn
