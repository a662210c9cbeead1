#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Heat capacity, Lindemann index and hydrogen bonds against the temperature of the bath, for each
/// model of three and of four sites: `<name>.csv`, `<name>.md` and three panels.
/// @throws what run_deck() throws
void make_melting_figure(const Reproduction& reproduction, const ReproduceOptions& options);

}  // namespace tarn
