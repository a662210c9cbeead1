#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Heat capacity, Lindemann index and hydrogen bonds against the temperature of the bath, for each
/// model of three and of four sites: `<name>.csv`, `<name>.md` and three panels.
/// @throws what run_deck() throws
void make_melting_figure(const Reproduction& reproduction, const ReproduceOptions& options);

/// Potential energy, heat capacity and hydrogen bonds of a deck with replica exchange, with and
/// without it, from its start and from random clusters: `<name>.csv`, `<name>.md` and two panels.
/// @throws what run_deck() throws
void make_exchange_figure(const Reproduction& reproduction, const ReproduceOptions& options);

}  // namespace tarn
