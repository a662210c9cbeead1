#pragma once

#include "tarn/core/host_device.hpp"

namespace tarn::inline TARN_ARCH {

/// Logarithm of the probability ratio of an exchange between two baths, equation (34). The exchange
/// is accepted with probability min(1, exp(ratio)).
/// @param b_first,b_second inverse temperatures 1/kT [mol/kcal]
/// @param u_first,u_second energies of the states in these baths, equation (35) [kcal/mol]
template <class T>
TARN_HD T exchange_log_ratio(const T& b_first, const T& b_second, const T& u_first,
                             const T& u_second) {
  return (b_first - b_second) * (u_first - u_second);
}

/// The same for ring polymers, equation (89).
/// @param v_first,v_second their potential energies, means over the beads [kcal/mol]
/// @param v_second_at_first of the second one rescaled to the first bath; and the reverse
template <class T>
TARN_HD T ring_exchange_log_ratio(const T& b_first, const T& b_second, const T& v_first,
                                  const T& v_second, const T& v_second_at_first,
                                  const T& v_first_at_second) {
  return b_first * (v_first - v_second_at_first) + b_second * (v_second - v_first_at_second);
}

/// The energy in whose canonical distribution the scheme samples its own positions, equation (35)
/// [kcal/mol].
/// @param potential energy of non-bonded forces, bonds and wall at the reported positions
/// @param conserved potential plus the scheme's additional energy (b - 1/4) h^2/2 a.Ma
/// @param b parameter of Newmark's family, above 1/4, else 0
/// @param noise_in_the_middle true for BAOAB
template <class T>
TARN_HD T exchange_energy(const T& potential, const T& conserved, double b,
                          bool noise_in_the_middle) {
  if (!noise_in_the_middle || b <= 0.25) return conserved;
  return potential + (b / (b - 0.25)) * (conserved - potential);
}

}  // namespace tarn::inline TARN_ARCH
