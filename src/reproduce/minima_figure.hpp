#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Searches the lowest minima of small clusters of every water model, and writes `<name>.csv`,
/// `<name>.md` and the picture of the energy per molecule. @throws IoError
void make_minima(const Reproduction& reproduction, const ReproduceOptions& options);

}  // namespace tarn
