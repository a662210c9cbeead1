#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// TO Fig. 1: errors of the double pendulum's second point.
void make_double_pendulum_figure(const Reproduction& r, const ReproduceOptions& options);
/// TO Fig. 2: constraints against omega, multipliers against time.
void make_penalty_figure(const Reproduction& r, const ReproduceOptions& options);
/// TO Fig. 3: the last point of a chain of pendula.
void make_chain_figure(const Reproduction& r, const ReproduceOptions& options);
/// TO Fig. 8: mean angle and energy of the DNA model.
void make_dna_figure(const Reproduction& r, const ReproduceOptions& options);

}  // namespace tarn
