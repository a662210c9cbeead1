#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Errors of forces and drift of energy, by precision and scheme.
void make_precision_figure(const Reproduction& r, const ReproduceOptions& options);

}  // namespace tarn
