#pragma once

#include "tarn/reproduce.hpp"

namespace tarn {

/// Errors of the three bodies against the time that a scheme takes, with slow and with fast bonds,
/// and of the energy over a long run.
void make_work_precision_figure(const Reproduction& r, const ReproduceOptions& options);

}  // namespace tarn
