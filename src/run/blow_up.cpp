#include "blow_up.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tarn {
namespace {

// Largest steps that held 298 K clusters of 32 molecules; see docs/equations.md.
double usual_largest_timestep_fs(const IntegratorSection& integrator) {
  if (is_rigid(integrator.scheme)) return 8.0;
  return integrator.omega < 100.0 ? 4.0 : 3.0;
}

// Stiff modes resonate at beta = 1/3 and 1/2, and at 1/4 positions diverge.
bool is_bad_beta(double beta) {
  return beta < 0.27 || std::abs(beta - 1.0 / 3.0) < 0.02 || beta > 0.48;
}

std::string cause_and_cure(const BlowUp& blow_up, const Deck& deck) {
  const IntegratorSection& integrator = deck.integrator;
  const double h_fs = integrator.timestep_fs;
  const double largest_fs = usual_largest_timestep_fs(integrator);
  if (!is_rigid(integrator.scheme) && is_bad_beta(integrator.beta)) {
    return fmt::format(
        "beta = {:g} is near a value where the stiff modes are unstable (1/4, 1/3, 1/2): try "
        "beta = 0.42",
        integrator.beta);
  }
  if (h_fs > 0.75 * largest_fs) {
    return fmt::format(
        "timestep_fs = {:g} is near or beyond what this scheme can hold (about {:g} fs): try "
        "timestep_fs = {:g}",
        h_fs, largest_fs, 0.5 * largest_fs);
  }
  // A bad start shows within a fraction of a picosecond.
  if (static_cast<double>(blow_up.step) * h_fs < 500.0) {
    return fmt::format(
        "molecules probably overlapped at the start, or were given a very high temperature: start "
        "from a quenched cluster, or try timestep_fs = {:g}",
        0.5 * h_fs);
  }
  return fmt::format("two atoms probably came too close within one step: try timestep_fs = {:g}",
                     0.5 * h_fs);
}

}  // namespace

std::string describe(const BlowUp& blow_up, const Deck& deck) {
  return fmt::format(
      "replica {} blew up at step {} (molecule {}) and was stopped. Likely cause: {}.",
      blow_up.replica, blow_up.step, blow_up.molecule, cause_and_cure(blow_up, deck));
}

std::vector<BlowUp> merged(const std::vector<BlowUp>& earlier, const std::vector<BlowUp>& later) {
  std::vector<BlowUp> all = earlier;
  all.insert(all.end(), later.begin(), later.end());
  std::sort(all.begin(), all.end(),
            [](const BlowUp& a, const BlowUp& b) { return a.replica < b.replica; });
  return all;
}

}  // namespace tarn
