#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Shares of the two cubes of eight molecules against the temperature, for a model of three and one
/// of four sites, beside those of the harmonic superposition: `<name>.csv`, `<name>.md` and three
/// panels.
/// @throws what run_deck() throws
void make_isomers_figure(const Reproduction& reproduction, const ReproduceOptions& options);

}  // namespace tarn
