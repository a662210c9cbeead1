#pragma once

#include "flexible.hpp"

namespace tarn::inline TARN_ARCH {

/// Second derivatives of the intramolecular energy with respect to the nine coordinates of a
/// molecule [kcal/mol/A^2], rows and columns in the order of Triple.
template <class T>
struct IntramolecularHessian {
  T at[9][9];
};

/// Equation (79): J^T V'' J plus V' times the second derivatives of the internal coordinates. With
/// n the unit normal of the molecule and t1 the unit vector along the gradient of theta at H1,
///   r1:     I - e1 e1^T, over r1
///   theta:  (cot theta n n^T - e1 t1^T - t1 e1^T)/r1^2 for H1 twice,  -n n^T/(r1 r2 sin theta) for
///           H1 and H2.
/// Rows and columns of O follow from translations.
template <class T, class S>
TARN_HD IntramolecularHessian<T> intramolecular_hessian(const Triple<T>& x,
                                                        const FlexibleParameters<S>& p) {
  const InternalCoordinates<T> c = internal_coordinates(x);
  const AngleGradient<T> angle = angle_gradient(c);
  const InternalPotentials<T> v = internal_potentials(c, p);
  const auto numbers = [](const Vec3<T>& a, T(&out)[3]) {
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
  };
  T e[2][3], gradient[2][3], n[3];
  numbers(c.e1, e[0]);
  numbers(c.e2, e[1]);
  numbers(angle.h1, gradient[0]);
  numbers(angle.h2, gradient[1]);
  numbers(c.inverse_sine * cross(c.e1, c.e2), n);
  const T inverse[2] = {c.inverse1, c.inverse2};
  const InternalTerm<T> stretch[2] = {v.r1, v.r2};
  const T cotangent = c.cosine * c.inverse_sine, one = T(S(1)), zero = T(S(0));
  // Blocks between the hydrogens.
  T block[2][2][3][3];
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          const T nn = n[i] * n[j];
          T sum = v.angle.second * (gradient[a][i] * gradient[b][j]);
          if (a == b) {
            const T along = e[a][i] * e[a][j];
            const T mixed = e[a][i] * gradient[a][j] + gradient[a][i] * e[a][j];
            const T curvature = inverse[a] * (cotangent * inverse[a] * nn - mixed);
            sum = sum + v.angle.first * curvature + stretch[a].second * along +
                  stretch[a].first * inverse[a] * ((i == j ? one : zero) - along);
          } else {
            sum = sum - v.angle.first * (inverse[0] * inverse[1] * c.inverse_sine) * nn;
          }
          block[a][b][i][j] = sum;
        }
      }
    }
  }
  IntramolecularHessian<T> h;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      T all = zero;
      for (int a = 0; a < 2; ++a) {
        T row = zero, column = zero;
        for (int b = 0; b < 2; ++b) {
          h.at[3 + 3 * a + i][3 + 3 * b + j] = block[a][b][i][j];
          row = row + block[a][b][i][j];
          column = column + block[b][a][i][j];
        }
        h.at[3 + 3 * a + i][j] = -row;
        h.at[i][3 + 3 * a + j] = -column;
        all = all + row;
      }
      h.at[i][j] = all;
    }
  }
  return h;
}

}  // namespace tarn::inline TARN_ARCH
