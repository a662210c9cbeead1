#pragma once

#include "tarn/physics/triple.hpp"

namespace tarn {
inline namespace TARN_ARCH {

/// Position, velocity and the acceleration that is kept from step to step, of one molecule.
template <class T>
struct MoleculeState {
  Triple<T> x, v, a;
};

/// v <- v + h/2 a.
template <class T>
TARN_HD void kick(MoleculeState<T>& s, const T& h) {
  s.v = fma(T(scalar_t<T>(0.5)) * h, s.a, s.v);
}

/// x <- x + h v.
template <class T>
TARN_HD void drift(MoleculeState<T>& s, const T& h) {
  s.x = fma(h, s.v, s.x);
}

}  // namespace TARN_ARCH
}  // namespace tarn
