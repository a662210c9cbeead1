#include "tarn/analysis/profile.hpp"

#include "tarn/analysis/rdf.hpp"
#include "tarn/core/units.hpp"

namespace tarn::analysis {

std::vector<double> shell_volumes_A3(double r_max_A, int bins) {
  const double ball_A3 = 4.0 / 3.0 * units::pi * r_max_A * r_max_A * r_max_A;
  std::vector<double> volumes = rdf_weights(bins);
  for (double& volume : volumes) volume = ball_A3 / volume;
  return volumes;
}

}  // namespace tarn::analysis
