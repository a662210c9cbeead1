#pragma once

#include <vector>

namespace tarn::analysis {

/// 4 pi/3 (r_hi^3 - r_lo^3) of each of `bins` shells on [0, r_max) [A^3], equation (38).
std::vector<double> shell_volumes_A3(double r_max_A, int bins);

}  // namespace tarn::analysis
