#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// How long schemes with one step last on the double pendulum, by the strength of its penalty.
void make_stability_figure(const Reproduction& r, const ReproduceOptions& options);

}  // namespace tarn
