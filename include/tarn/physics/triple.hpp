#pragma once

#include <algorithm>
#include <cstddef>

#include "tarn/core/number.hpp"
#include "tarn/core/vec3.hpp"
#include "tarn/physics/parameters.hpp"

namespace tarn::inline TARN_ARCH {

/// One vector for each atom of a water molecule: positions, velocities, forces ...
template <class T>
struct Triple {
  Vec3<T> o, h1, h2;
};

/// s a + b, atom by atom.
template <class T>
TARN_HD Triple<T> fma(const T& s, const Triple<T>& a, const Triple<T>& b) {
  return {fma(s, a.o, b.o), fma(s, a.h1, b.h1), fma(s, a.h2, b.h2)};
}
template <class T>
TARN_HD Triple<T> operator-(const Triple<T>& a, const Triple<T>& b) {
  return {a.o - b.o, a.h1 - b.h1, a.h2 - b.h2};
}
template <class T>
TARN_HD Triple<T> operator+(const Triple<T>& a, const Triple<T>& b) {
  return {a.o + b.o, a.h1 + b.h1, a.h2 + b.h2};
}
/// Oxygen scaled by s_o, hydrogens by s_h.
template <class T>
TARN_HD Triple<T> scale(const T& s_o, const T& s_h, const Triple<T>& a) {
  return {s_o * a.o, s_h * a.h1, s_h * a.h2};
}
/// M^-1 a and M a. @param m Masses or AtomMasses
template <class T, class M>
TARN_HD Triple<T> over_masses(const M& m, const Triple<T>& a) {
  return {T(m.inverse_o) * a.o, T(m.inverse_h1()) * a.h1, T(m.inverse_h2()) * a.h2};
}
template <class T, class M>
TARN_HD Triple<T> times_masses(const M& m, const Triple<T>& a) {
  return {T(m.o) * a.o, T(m.h1()) * a.h1, T(m.h2()) * a.h2};
}
/// Weighted square sum: s_o |o|^2 + s_h (|h1|^2 + |h2|^2).
template <class T>
TARN_HD T weighted_norm2(const T& s_o, const T& s_h, const Triple<T>& a) {
  return fma(s_o, norm2(a.o), s_h * (norm2(a.h1) + norm2(a.h2)));
}
/// m_H1 a + m_H2 b, numbers or vectors.
template <class T, class V, class S>
TARN_HD V hydrogen_sum(const Masses<S>& m, const V& a, const V& b) {
  return T(m.h) * (a + b);
}
template <class T, class V, class U>
TARN_HD V hydrogen_sum(const AtomMasses<U>& m, const V& a, const V& b) {
  return T(m.first) * a + T(m.second) * b;
}
/// a.M a.
template <class T, class M>
TARN_HD T weighted_norm2(const M& m, const Triple<T>& a) {
  return fma(T(m.o), norm2(a.o), hydrogen_sum<T>(m, norm2(a.h1), norm2(a.h2)));
}

/// The atoms of the molecule whose nine coordinates start at `p`.
inline Triple<double> load_molecule(const double* p) {
  return {{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}};
}
/// Writes the nine coordinates of a molecule to `p`.
inline void store_molecule(const Triple<double>& t, double* p) {
  const double c[9] = {t.o.x, t.o.y, t.o.z, t.h1.x, t.h1.y, t.h1.z, t.h2.x, t.h2.y, t.h2.z};
  std::copy(c, c + 9, p);
}

/// The same for molecule number `molecule` of an array.
inline Triple<double> molecule_at(const double* coordinates, std::size_t molecule) {
  return load_molecule(coordinates + 9 * molecule);
}
inline void put_molecule(const Triple<double>& t, double* coordinates, std::size_t molecule) {
  store_molecule(t, coordinates + 9 * molecule);
}

}  // namespace tarn::inline TARN_ARCH
