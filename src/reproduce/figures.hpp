#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Energy and momenta of the schemes along a run without thermostat: `<name>.csv`, `<name>.md` and
/// three panels over time. @throws whatever making the engines throws; IoError
void make_conservation_figure(const Reproduction& reproduction, const ReproduceOptions& options);

/// Multipliers of one bond, instantaneous and as means over a window, beside those of finely
/// stepped constraints. @throws as above
void make_multipliers_figure(const Reproduction& reproduction, const ReproduceOptions& options);

/// Energy of the bonds' vibration of starts against omega, and a bond's length over time, with and
/// without projection onto the slow manifold. @throws as above
void make_slow_start_figure(const Reproduction& reproduction, const ReproduceOptions& options);

}  // namespace tarn
