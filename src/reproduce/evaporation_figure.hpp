#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Rates at which clusters lose a molecule, by temperature, friction and scheme, with activation
/// energies and the energy that a molecule's leaving takes: `<name>.csv`, `<name>.md` and two
/// panels.
/// @throws what run_deck() throws
void make_evaporation_figure(const Reproduction& reproduction, const ReproduceOptions& options);

}  // namespace tarn
