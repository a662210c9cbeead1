#pragma once

#include <cstdint>

#include "molecule_state.hpp"

/// @file
/// The state of a molecule in single precision.
///
/// Velocities, accelerations and forces are floats. Positions are fixed-point numbers: a float
/// would round a position by about 1e-7 A per step, 16 times as much, and more at larger distances
/// from the origin. Differences of fixed-point numbers are exact. A position that is written as a
/// double and read again is the same number, so that a run can be resumed at any step.

namespace tarn::inline TARN_ARCH {

/// Positions of a molecule: a cell (the point with integer coordinates [A] nearest to the oxygen),
/// and each atom relative to it in units of 2^-26 A, up to 32 A. All are signed integers, given by
/// their bits.
template <class U>
struct FixedPosition {
  Vec3<U> cell;
  Triple<U> x;
};
inline constexpr int kFixedBits = 26;
inline constexpr double kFixedUnit = 0x1p-26;  ///< [A]
/// Largest distance of a hydrogen from its oxygen in a start state [A].
inline constexpr double kLargestFixedOffset = 16.0;
/// Largest coordinate in a start state [A]: floats represent all integers up to it.
inline constexpr double kLargestFixedPosition = 0x1p24;

/// State of a molecule. U is std::uint32_t if F is float, or packs of both.
template <class F, class U>
struct SingleState {
  using Number = F;
  FixedPosition<U> x;
  Triple<F> v, a;
};

/// Moves the cell to the oxygen, so that it is a function of the position only: the oxygen's
/// coordinates relative to it are in [-1/2, 1/2) A.
template <class U>
TARN_HD void follow_oxygen(FixedPosition<U>& p) {
  const auto follow = [](U& cell, U& o, U& h1, U& h2) {
    const U whole = shift_right_signed(o + U(1u << (kFixedBits - 1)), kFixedBits);
    const U moved = whole << kFixedBits;
    cell = cell + whole;
    o = o - moved;
    h1 = h1 - moved;
    h2 = h2 - moved;
  };
  follow(p.cell.x, p.x.o.x, p.x.h1.x, p.x.h2.x);
  follow(p.cell.y, p.x.o.y, p.x.h1.y, p.x.h2.y);
  follow(p.cell.z, p.x.o.z, p.x.h1.z, p.x.h2.z);
}

/// x <- x + h v.
template <class F, class U>
TARN_HD void fixed_drift(FixedPosition<U>& p, const F& h, const Triple<F>& v) {
  const F units = h * F(static_cast<float>(1 << kFixedBits));
  const auto move = [&](Vec3<U>& x, const Vec3<F>& by) {
    x.x = x.x + nearest_int(units * by.x);
    x.y = x.y + nearest_int(units * by.y);
    x.z = x.z + nearest_int(units * by.z);
  };
  move(p.x.o, v.o);
  move(p.x.h1, v.h1);
  move(p.x.h2, v.h2);
  follow_oxygen(p);
}

/// Converts units of 2^-26 A to A.
template <class F, class U>
TARN_HD Vec3<F> length_of_fixed(const Vec3<U>& a) {
  const F unit(static_cast<float>(kFixedUnit));
  return {unit * float_of_int(a.x), unit * float_of_int(a.y), unit * float_of_int(a.z)};
}
/// Positions relative to the oxygen [A]; the formulas of a molecule use differences only.
template <class F, class U>
TARN_HD Triple<F> from_oxygen(const FixedPosition<U>& p) {
  const F zero(0.0f);
  return {
      {zero, zero, zero}, length_of_fixed<F>(p.x.h1 - p.x.o), length_of_fixed<F>(p.x.h2 - p.x.o)};
}
/// The oxygen in two parts [A]: the cell, exact up to 2^24, and the rest.
template <class F, class U>
TARN_HD Vec3<F> oxygen_cell(const FixedPosition<U>& p) {
  return {float_of_int(p.cell.x), float_of_int(p.cell.y), float_of_int(p.cell.z)};
}
template <class F, class U>
TARN_HD Vec3<F> oxygen_in_cell(const FixedPosition<U>& p) {
  return length_of_fixed<F>(p.x.o);
}

template <class F, class U>
TARN_HD void drift(SingleState<F, U>& s, const F& h) {
  fixed_drift(s.x, h, s.v);
}
template <class F, class U>
TARN_HD Triple<F> shape_of(const SingleState<F, U>& s) {
  return from_oxygen<F>(s.x);
}
/// Sums and differences of integers are exact; they are rounded once.
template <class F, class U>
TARN_HD JacobiVectors<F> jacobi_vectors(const SingleState<F, U>& s) {
  const Triple<U>& x = s.x.x;
  return {length_of_fixed<F>((x.h1 - x.o) + (x.h2 - x.o)), length_of_fixed<F>(x.h2 - x.h1)};
}
template <class F, class U>
TARN_HD JacobiVectors<F> drifted_vectors(const SingleState<F, U>& s, const JacobiVectors<F>&) {
  return jacobi_vectors(s);
}

/// The nearest fixed-point position. Atoms must be within kLargestFixedOffset of their oxygen and
/// less than 2^31 A from the origin.
TARN_HD FixedPosition<std::uint32_t> fixed_position(const Triple<double>& x) {
  const auto nearest = [](double a) {
    return static_cast<double>(static_cast<std::int64_t>(a < 0.0 ? a - 0.5 : a + 0.5));
  };
  const auto bits = [](double integer) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(integer));
  };
  const Vec3<double> whole{nearest(x.o.x), nearest(x.o.y), nearest(x.o.z)};
  const auto atom = [&](const Vec3<double>& a) -> Vec3<std::uint32_t> {
    const Vec3<double> units = (1.0 / kFixedUnit) * (a - whole);
    return {bits(nearest(units.x)), bits(nearest(units.y)), bits(nearest(units.z))};
  };
  FixedPosition<std::uint32_t> p{{bits(whole.x), bits(whole.y), bits(whole.z)},
                                 {atom(x.o), atom(x.h1), atom(x.h2)}};
  follow_oxygen(p);
  return p;
}
/// A fixed-point position in A: exact, and inverted by fixed_position().
TARN_HD Triple<double> position_of(const FixedPosition<std::uint32_t>& p) {
  const auto number = [](std::uint32_t a) {
    return static_cast<double>(static_cast<std::int32_t>(a));
  };
  const auto atom = [&](const Vec3<std::uint32_t>& x) -> Vec3<double> {
    return {number(p.cell.x) + kFixedUnit * number(x.x),
            number(p.cell.y) + kFixedUnit * number(x.y),
            number(p.cell.z) + kFixedUnit * number(x.z)};
  };
  return {atom(p.x.o), atom(p.x.h1), atom(p.x.h2)};
}

}  // namespace tarn::inline TARN_ARCH
