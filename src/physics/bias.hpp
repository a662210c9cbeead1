#pragma once

#include <cmath>

#include "core/elementary.hpp"
#include "tarn/core/vec3.hpp"
#include "tarn/physics/triple.hpp"
#include "tarn/system.hpp"

/// @file
/// Forces from outside: biases on a coordinate xi of the oxygens, equations (97) and (98), the wall
/// of a confinement, equation (24), and a uniform field, equation (96).

namespace tarn {

/// A BiasSpec without the centres, as plain data.
struct BiasTerm {
  BiasCoordinate coordinate;
  BiasKind kind;
  int first, second;  ///< molecules
  double r0, stiffness;
};
inline BiasTerm bias_term(const BiasSpec& b) {
  return {b.coordinate, b.kind, b.molecules[0], b.molecules[1], b.r0_A, b.stiffness};
}

inline namespace TARN_ARCH {

/// kappa of the largest separation [1/A].
inline constexpr double kSharpness_per_A = 10.0;

TARN_HD double logarithm(double x) { return log(x); }
#if !defined(__CUDACC__)
TARN_HD Pack<double> logarithm(const Pack<double>& x) {
  double lanes[Pack<double>::lanes];
  x.store(lanes);
  for (double& lane : lanes) lane = std::log(lane);
  return Pack<double>::load(lanes);
}
#endif

/// How far xi is beyond the centre, where the bias acts.
template <class T>
TARN_HD T bias_excess(BiasKind kind, const T& xi, const T& centre) {
  const T beyond = xi - centre;
  if (kind == BiasKind::upper_wall) return max(beyond, T(0.0));
  return kind == BiasKind::lower_wall ? min(beyond, T(0.0)) : beyond;
}
template <class T>
TARN_HD T bias_energy(const BiasTerm& b, const T& xi, const T& centre) {
  const T excess = bias_excess(b.kind, xi, centre);
  return T(0.5 * b.stiffness) * excess * excess;
}

/// Computes xi and the forces of a bias on n oxygens. All sums are in order of the molecules.
/// @param oxygen oxygen(k) is the position of that of molecule k
/// @param add add(k, force) is called for each of them
/// @return xi
template <class T, class Oxygen, class Add>
TARN_HD T bias_forces(const BiasTerm& b, int n, const T& centre, const Oxygen& oxygen,
                      const Add& add) {
  const auto slope_at = [&](const T& xi) {
    return T(-b.stiffness) * bias_excess(b.kind, xi, centre);
  };
  const double others = n > 1 ? n - 1.0 : 1.0;
  const auto mean_of = [&](int left_out, double number) {
    Vec3<T> sum{T(0.0), T(0.0), T(0.0)};
    for (int k = 0; k < n; ++k) {
      if (k != left_out) sum = sum + oxygen(k);
    }
    return T(1.0 / number) * sum;
  };
  const auto length = [](const Vec3<T>& d) { return sqrt(max(norm2(d), T(1e-24))); };
  switch (b.coordinate) {
    case BiasCoordinate::distance:
    case BiasCoordinate::separation: {
      const bool pair = b.coordinate == BiasCoordinate::distance;
      const Vec3<T> d = oxygen(b.first) - (pair ? oxygen(b.second) : mean_of(b.first, others));
      const T xi = length(d);
      const Vec3<T> push = (slope_at(xi) / xi) * d;
      for (int k = 0; k < n; ++k) {
        if (k == b.first) {
          add(k, push);
        } else if (!pair || k == b.second) {
          add(k, T(pair ? -1.0 : -1.0 / others) * push);
        }
      }
      return xi;
    }
    case BiasCoordinate::largest_separation: {
      const Vec3<T> mean = mean_of(-1, n);
      const double scale = n / others;  // of the distance from the mean of all
      // Exponents are relative to the root mean square distance: the largest one is not negative,
      // and is below 700 within 60 A of it.
      T square(0.0), sum(0.0), weight(0.0);
      for (int k = 0; k < n; ++k) square = square + norm2(oxygen(k) - mean);
      const T middle = sqrt(T(1.0 / n) * square);
      const auto weighted = [&](int k) {
        const Vec3<T> d = oxygen(k) - mean;
        const T r = length(d);
        weight = exponential(T(kSharpness_per_A * scale) * (r - middle));
        return (weight / r) * d;
      };
      constexpr int kKept = 12;  // the others are computed again
      Vec3<T> kept[kKept], net{T(0.0), T(0.0), T(0.0)};
      for (int k = 0; k < n; ++k) {
        const Vec3<T> one = weighted(k);
        if (k < kKept) kept[k] = one;
        net = net + one;
        sum = sum + weight;
      }
      const T xi = fma(T(scale), middle, T(1.0 / kSharpness_per_A) * logarithm(T(1.0 / n) * sum));
      const T slope = T(scale) * slope_at(xi) / sum;
      for (int k = 0; k < n; ++k) {
        add(k, slope * ((k < kKept ? kept[k] : weighted(k)) - T(1.0 / n) * net));
      }
      return xi;
    }
    case BiasCoordinate::contacts: {
      // c = 1/(1 + u^6) of a pair, and u^4 c^2; the gradient is -6 u^4 c^2/r0^2 d.
      const T inverse_r02(1.0 / (b.r0 * b.r0));
      constexpr int kKept = 28;
      T xi(0.0), kept[kKept];
      const auto steepness = [&](const Vec3<T>& d, T& c) {
        const T u2 = inverse_r02 * norm2(d), u4 = u2 * u2;
        c = T(1.0) / fma(u4, u2, T(1.0));
        return u4 * c * c;
      };
      for (int i = 1, pair = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j, ++pair) {
          T c;
          const T one = steepness(oxygen(i) - oxygen(j), c);
          if (pair < kKept) kept[pair] = one;
          xi = xi + c;
        }
      }
      const T slope = T(-6.0) * inverse_r02 * slope_at(xi);
      for (int i = 1, pair = 0; i < n; ++i) {
        Vec3<T> push{T(0.0), T(0.0), T(0.0)};
        for (int j = 0; j < i; ++j, ++pair) {
          const Vec3<T> d = oxygen(i) - oxygen(j);
          T c;
          const Vec3<T> f = (slope * (pair < kKept ? kept[pair] : steepness(d, c))) * d;
          push = push + f;
          add(j, T(-1.0) * f);
        }
        add(i, push);
      }
      return xi;
    }
    case BiasCoordinate::radius_of_gyration: {
      const Vec3<T> mean = mean_of(-1, n);
      T square(0.0);
      for (int k = 0; k < n; ++k) square = square + norm2(oxygen(k) - mean);
      const T xi = sqrt(max(T(1.0 / n) * square, T(1e-24)));
      const T slope = T(1.0 / n) * slope_at(xi) / xi;
      for (int k = 0; k < n; ++k) add(k, slope * (oxygen(k) - mean));
      return xi;
    }
  }
  return T(0.0);
}

}  // namespace TARN_ARCH

/// Several biases of a launch or an engine.
struct Biases {
  BiasTerm terms[kMostBiases];
  int count = 0;
};
inline Biases biases_of(const System& system) {
  Biases all{};
  for (const BiasSpec& b : system.biases) all.terms[all.count++] = bias_term(b);
  return all;
}

}  // namespace tarn

namespace tarn::inline TARN_ARCH {

/// Force on an oxygen at r [A] from the centre, without the recoil, equation (24) [kcal/mol/A].
template <class T, class S>
TARN_HD Vec3<T> wall_force(const Vec3<T>& r, const OutsideForces<S>& wall) {
  const T r2 = max(norm2(r), T(S(1e-12)));
  const T inverse = rsqrt(r2);
  const T beyond = max(fma(r2, inverse, -T(wall.radius)), T(S(0)));
  return (T(-wall.stiffness) * beyond * inverse) * r;
}

/// Energy of the wall, K/2 max(0, r - R)^2 [kcal/mol].
template <class T, class S>
TARN_HD T wall_energy(const Vec3<T>& r, const OutsideForces<S>& wall) {
  const T beyond = max(sqrt(norm2(r)) - T(wall.radius), T(S(0)));
  return T(S(0.5) * wall.stiffness) * beyond * beyond;
}

/// Force of the field on a hydrogen, equation (96).
template <class T, class S>
TARN_HD Vec3<T> field_force(const OutsideForces<S>& o) {
  return {T(o.field[0]), T(o.field[1]), T(o.field[2])};
}
template <class T, class S>
TARN_HD Triple<T> with_field(const Triple<T>& f, const OutsideForces<S>& o) {
  const Vec3<T> push = field_force<T>(o);
  return {fnma(T(S(2)), push, f.o), f.h1 + push, f.h2 + push};
}
/// Energy of a molecule's dipole moment in the field [kcal/mol].
template <class T, class S>
TARN_HD T field_energy(const Triple<T>& x, const OutsideForces<S>& o) {
  return -dot(field_force<T>(o), (x.h1 - x.o) + (x.h2 - x.o));
}

/// Mass of a molecule. @param m Masses or AtomMasses
template <class M>
TARN_HD auto molecule_mass(const M& m) {
  return m.o + (m.h1() + m.h2());
}
/// Sum of mass times position of a molecule [Da A].
template <class T, class M>
TARN_HD Vec3<T> mass_moment(const Triple<T>& x, const M& m) {
  return fma(T(m.o), x.o, hydrogen_sum<T>(m, x.h1, x.h2));
}

}  // namespace tarn::inline TARN_ARCH
