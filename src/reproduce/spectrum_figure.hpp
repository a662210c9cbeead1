#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Density of vibrational states and infrared absorption of a cold and of a warm cluster with
/// SETTLE and Z&Ss at several steps, their errors and what the steps cost: `<name>.csv`,
/// `<name>.md` and panels of spectra.
/// @throws what making engines and observers throws
void make_spectrum_figure(const Reproduction& reproduction, const ReproduceOptions& options);

}  // namespace tarn
