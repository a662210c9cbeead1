#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// How fast the molecules of a droplet turn and move, and how long their hydrogen bonds last, by
/// scheme, step and friction, and what the steps cost: `<name>.csv`, `<name>.md` and panels of time
/// correlation functions.
/// @throws what making engines and observers throws
void make_dynamics_figure(const Reproduction& reproduction, const ReproduceOptions& options);

}  // namespace tarn
