#pragma once

#include "tarn/core/host_device.hpp"

namespace tarn {
inline namespace TARN_ARCH {

/// Logarithm of the ratio of probabilities that two baths give their states after and before these
/// change places, equation (34): they do with probability min(1, exp of it).
/// @param b inverse temperature 1/kT [mol/kcal]
/// @param u energy of the state in that bath, equation (35) [kcal/mol]
template <class T>
TARN_HD T exchange_log_ratio(const T& b_first, const T& b_second, const T& u_first,
                             const T& u_second) {
  return (b_first - b_second) * (u_first - u_second);
}

/// The energy whose canonical distribution at the scheme's own positions the scheme has, equation
/// (35) [kcal/mol].
/// @param potential of non-bonded forces, bonds and the wall at the reported positions
/// @param conserved that and what the energy of the scheme has beside it, (b - 1/4) h^2/2 a.Ma
/// @param b scheme parameter of Newmark's family, above 1/4, else 0
/// @param noise_in_the_middle with BAOAB
template <class T>
TARN_HD T exchange_energy(const T& potential, const T& conserved, double b,
                          bool noise_in_the_middle) {
  if (!noise_in_the_middle || b <= 0.25) return conserved;
  return potential + (b / (b - 0.25)) * (conserved - potential);
}

}  // namespace TARN_ARCH
}  // namespace tarn
