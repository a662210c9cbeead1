#pragma once

#include "tarn/physics/triple.hpp"

namespace tarn::inline TARN_ARCH {

/// Calls op(pair class, difference vector) for each distance between the atoms of two molecules in
/// the requested classes. The classes are those of radial distribution functions, equation (38):
/// 0 O-O (one distance), 1 O-H (four), 2 H-H (four).
/// @param wanted pair class -> bool
template <class T, class Wanted, class Op>
TARN_HD void for_each_distance(const Triple<T>& i, const Triple<T>& j, const Wanted& wanted,
                               const Op& op) {
  if (wanted(0)) op(0, i.o - j.o);
  if (wanted(1)) {
    op(1, i.o - j.h1);
    op(1, i.o - j.h2);
    op(1, i.h1 - j.o);
    op(1, i.h2 - j.o);
  }
  if (wanted(2)) {
    op(2, i.h1 - j.h1);
    op(2, i.h1 - j.h2);
    op(2, i.h2 - j.h1);
    op(2, i.h2 - j.h2);
  }
}

}  // namespace tarn::inline TARN_ARCH
