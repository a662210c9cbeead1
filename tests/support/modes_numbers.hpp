#pragma once

#include <cmath>
#include <vector>

#include "tarn/core/units.hpp"
#include "tarn/modes.hpp"

namespace tarn::test {

inline std::vector<double> wavenumbers(const NormalModes& modes) {
  std::vector<double> all;
  for (const NormalMode& m : modes.modes) all.push_back(m.wavenumber_per_cm);
  return all;
}
/// The eigenvalue of a wavenumber [kcal/mol/A^2/Da].
inline double eigenvalue(double wavenumber_per_cm) {
  const double frequency = wavenumber_per_cm / units::wavenumber_per_cm(1.0);
  return std::copysign(frequency * frequency, frequency);
}

}  // namespace tarn::test
