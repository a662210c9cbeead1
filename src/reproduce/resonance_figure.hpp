#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Replicas that blow up by beta, for some values of omega. @throws whatever making the engines
/// throws; IoError
void make_resonance_figure(const Reproduction& r, const ReproduceOptions& options);

}  // namespace tarn
