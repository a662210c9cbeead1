#pragma once

#include "physics/flexible.hpp"

/// @file
/// Quenches of clusters to a minimum of the energy: limited-memory BFGS (Nocedal & Wright 2006,
/// algorithm 7.5) with limited step lengths and backtracking. quench_step() follows an evaluation
/// of energies and forces; it is a template over what holds the clusters, W, for the lanes of packs
/// and for the threads of a GPU.
///
/// The unknowns are displacements from the present positions: of a molecule a translation [A], a
/// rotation about the oxygen [rad] and, unless molecules are rigid, changes of both O-H lengths and
/// of the angle. Rigid bonds hold to rounding.

namespace tarn {

/// What all clusters of a quench have in common.
struct QuenchRules {
  bool rigid = true;
  /// Whether energies have errors beyond rounding.
  bool noisy = false;
  /// Largest translation [A], rotation [rad] and change of a bond [A] in one step.
  double longest = 0.3;
  /// Change of an O-H length per unknown [A]: bonds are then about as stiff as the rest.
  double bond_unit_A = 1.0;
  double r_oh_A = 1.0;  ///< of the model
  /// Rounding of the force along a bond [kcal/mol/A], which convergence ignores.
  double bond_rounding = 0.0;

  TARN_HD int unknowns() const { return rigid ? 6 : 9; }
};

/// A typical second derivative of the energy for a translation [kcal/mol/A^2] or a libration
/// [kcal/mol/rad^2] of a hydrogen-bonded molecule.
inline constexpr double kQuenchStiffness = 60.0;

/// Number of the last steps that are remembered.
inline constexpr int kQuenchPairs = 10;

/// The numbers of a cluster.
struct QuenchNumber {
  enum : int {
    kStatus,     ///< a QuenchStatus
    kTolerance,  ///< largest gradient at convergence [kcal/mol/A]
    kMostIterations,
    kStartEnergy,
    kEnergy,
    kGradient,      ///< largest component [kcal/mol/A]
    kIterations,    ///< -1 before the first evaluation
    kSlope,         ///< of the energy along the direction
    kFactor,        ///< of the direction in the present trial
    kTries,         ///< along this direction
    kHasPairs,      ///< 0: the direction is that of steepest descent
    kScale,         ///< inverse Hessian before the pairs
    kLowestEnergy,  ///< for noisy energies, as the next two
    kLowestGradient,
    kImproved,         ///< last iteration that improved one of them
    kInverseProducts,  ///< 1/(s.y) of each pair; 0: none
    kNumbers = kInverseProducts + kQuenchPairs
  };
};
enum QuenchStatus : int { kQuenchRuns, kQuenchConverged, kQuenchEnded, kQuenchNotFinite };

/// The numbers of a cluster whose first trial is its present positions.
/// @param put (QuenchNumber, value), for those that are not 0
template <class Put>
void begin_quench(double tolerance_kcal_per_mol_A, double most_iterations, const Put& put) {
  using N = QuenchNumber;
  put(N::kTolerance, tolerance_kcal_per_mol_A);
  put(N::kMostIterations, most_iterations);
  put(N::kIterations, -1.0);
  put(N::kScale, 1.0 / kQuenchStiffness);
  put(N::kLowestEnergy, 1e300);
  put(N::kLowestGradient, 1e300);
}

/// Rows of unknowns: gradients at the present and at the trial positions, the direction, work
/// space, and the last steps s with the changes y of the gradient.
struct QuenchRow {
  enum : int { kGradient, kTrialGradient, kDirection, kWork, kSteps };
  static constexpr int kChanges = kSteps + kQuenchPairs, kRows = kChanges + kQuenchPairs;
};

}  // namespace tarn

namespace tarn::inline TARN_ARCH {

/// v rotated by about the vector w (by 2 atan(|w|/2)); exactly a rotation.
template <class T>
TARN_HD Vec3<T> rotated(const Vec3<T>& w, const Vec3<T>& v) {
  const Vec3<T> half = T(0.5) * w, across = cross(half, v);
  return fma(T(2.0) / (T(1.0) + norm2(half)), across + cross(half, across), v);
}

/// The unit vectors of the O-H bonds and the normal of the molecular plane.
template <class T>
struct BondFrame {
  Vec3<T> d1, d2, e1, e2, normal;
};
template <class T>
TARN_HD BondFrame<T> bond_frame(const Triple<T>& x) {
  BondFrame<T> b;
  b.d1 = x.h1 - x.o;
  b.d2 = x.h2 - x.o;
  b.e1 = rsqrt(norm2(b.d1)) * b.d1;
  b.e2 = rsqrt(norm2(b.d2)) * b.d2;
  const Vec3<T> across = cross(b.e1, b.e2);
  b.normal = rsqrt(max(norm2(across), T(kLeastSine2))) * across;
  return b;
}

/// The molecule after a displacement `u`.
template <class T>
TARN_HD Triple<T> displaced(const QuenchRules& rules, const Triple<T>& x, const T (&u)[9]) {
  const Vec3<T> o = x.o + Vec3<T>{u[0], u[1], u[2]}, turn{u[3], u[4], u[5]};
  if (rules.rigid) return {o, o + rotated(turn, x.h1 - x.o), o + rotated(turn, x.h2 - x.o)};
  const BondFrame<T> b = bond_frame(x);
  const T unit(rules.bond_unit_A);
  const Vec3<T> bend = (T(0.5 * rules.bond_unit_A / rules.r_oh_A) * u[8]) * b.normal;
  return {o, o + rotated(turn - bend, fma(unit * u[6], b.e1, b.d1)),
          o + rotated(turn + bend, fma(unit * u[7], b.e2, b.d2))};
}

/// The gradient of the energy with respect to displacements, from the forces.
template <class T>
TARN_HD void quench_gradient(const QuenchRules& rules, const Triple<T>& x, const Triple<T>& f,
                             T (&g)[9]) {
  const auto put = [&](int at, const Vec3<T>& a) {
    g[at] = a.x;
    g[at + 1] = a.y;
    g[at + 2] = a.z;
  };
  put(0, -(f.o + f.h1 + f.h2));
  put(3, cross(f.h1, x.h1 - x.o) + cross(f.h2, x.h2 - x.o));
  if (rules.rigid) return;
  const BondFrame<T> b = bond_frame(x);
  const T unit(-rules.bond_unit_A);
  g[6] = unit * dot(f.h1, b.e1);
  g[7] = unit * dot(f.h2, b.e2);
  g[8] = T(-0.5 * rules.bond_unit_A / rules.r_oh_A) *
         dot(b.normal, cross(b.d2, f.h2) - cross(b.d1, f.h1));
}

/// Length of the longest part of a displacement, for QuenchRules::longest.
template <class T>
TARN_HD T length_of(const QuenchRules& rules, const T (&u)[9]) {
  const auto size = [](const T& a) { return max(a, -a); };
  T longest = sqrt(max(norm2(Vec3<T>{u[0], u[1], u[2]}), norm2(Vec3<T>{u[3], u[4], u[5]})));
  for (int c = 6; c < rules.unknowns(); ++c) {
    longest = max(longest, T(rules.bond_unit_A) * size(u[c]));
  }
  return longest;
}

/// One step of all clusters that still run: accepts or refuses the trial positions, whose energies
/// and forces are known, and chooses the next ones.
///
/// Near a minimum, the energies of a potential that is not computed in double precision are mostly
/// noise, while its forces still decrease. A step is then also accepted by the slope at its end,
/// the approximate Wolfe condition of Hager & Zhang, SIAM J. Optim. 16, 170 (2005), and the quench
/// ends when neither energy nor forces have improved for a while.
///
/// W has the numbers of a cluster in each lane of its values T, and
///   molecules()         number of molecules that each lane has
///   x(m), trial(m), f(m)    positions, trial positions and forces of a molecule
///   put_x(m, x), put_trial(m, x)
///   row(r, k), put_row(r, k, t)   unknown k of a QuenchRow
///   sum(t), largest(t)  over the molecules of a cluster, in a fixed order
/// @param pair index of the pair to replace: the number of steps before this one, modulo
/// kQuenchPairs
/// @param energy at the trial positions @param n see QuenchNumber
template <class W, class T>
TARN_HD void quench_step(W& w, const QuenchRules& rules, int pair, const T& energy,
                         T (&n)[QuenchNumber::kNumbers]) {
  using N = QuenchNumber;
  using R = QuenchRow;
  constexpr double kMostTries = 30.0, kArmijo = 1e-4, kLeastCosine = 1e-10;
  constexpr double kNoise = 1e-6;      // of noisy energies, relative; the value of Hager & Zhang
  constexpr double kMostIdle = 200.0;  // iterations without improvement
  const T zero(0.0), one(1.0), first_scale(1.0 / kQuenchStiffness);
  const int unknowns = rules.unknowns(), size = unknowns * w.molecules();
  const auto size_of = [](const T& a) { return max(a, -a); };
  // Sums of term(k); three at a time, because an addition has a latency of several cycles.
  const auto total = [&](const auto& term) {
    T sums[3] = {zero, zero, zero};
    for (int k = 0; k < size; k += 3) {
      for (int i = 0; i < 3; ++i) sums[i] = term(k + i, sums[i]);
    }
    return w.sum((sums[0] + sums[1]) + sums[2]);
  };
  const auto product = [&](int a, int b) {
    return total([&](int k, const T& sum) { return fma(w.row(a, k), w.row(b, k), sum); });
  };

  T largest = zero, gradients = zero;
  for (int m = 0; m < w.molecules(); ++m) {
    T g[9];
    quench_gradient(rules, w.trial(m), w.f(m), g);
    for (int c = 0; c < unknowns; ++c) {
      w.put_row(R::kTrialGradient, m * unknowns + c, g[c]);
      gradients = gradients + g[c];
      // Torques about the oxygen count as forces at 1 A.
      const T force = c < 6
                          ? size_of(g[c])
                          : fma(T(1.0 / rules.bond_unit_A), size_of(g[c]), -T(rules.bond_rounding));
      largest = max(largest, force);
    }
  }
  largest = w.largest(largest);
  gradients = w.sum(gradients);

  // Energy differences below these are rounding and noise, which the user of a tolerance accepts
  // per angstrom.
  const mask_t<T> runs = n[N::kStatus] == T(double{kQuenchRuns});
  const mask_t<T> is_first = n[N::kIterations] < zero;
  const T scale = one + size_of(select(is_first, energy, n[N::kEnergy]));
  const T noise = max(T(kNoise) * scale, n[N::kTolerance]);
  const T step_slope = n[N::kFactor] * n[N::kSlope];
  const T rise = energy - n[N::kEnergy];
  mask_t<T> good = is_first | (rise < fma(T(kArmijo), step_slope, T(1e-12) * scale));
  if (rules.noisy) {
    const T slope = product(R::kTrialGradient, R::kDirection);
    good = good | ((rise < noise) & (slope < T(2.0 * kArmijo - 1.0) * n[N::kSlope]));
  }
  const mask_t<T> is_finite = (energy - energy == zero) & (gradients - gradients == zero);
  const mask_t<T> accepted = runs & good & is_finite;
  const mask_t<T> failed = runs & !accepted & (T(kMostTries - 2.0) < n[N::kTries]);
  const mask_t<T> restarts = failed & (zero < n[N::kHasPairs]);

  // The step and the change of the gradient.
  T sy = zero, ss = zero, yy = zero;
  for (int k = 0; k < size; ++k) {
    const T g = w.row(R::kTrialGradient, k), old = w.row(R::kGradient, k);
    const T s = select(accepted, n[N::kFactor] * w.row(R::kDirection, k), zero);
    const T y = select(accepted, g - old, zero);
    w.put_row(R::kSteps + pair, k, s);
    w.put_row(R::kChanges + pair, k, y);
    w.put_row(R::kGradient, k, select(accepted, g, old));
    sy = fma(s, y, sy);
    ss = fma(s, s, ss);
    yy = fma(y, y, yy);
  }
  sy = w.sum(sy);
  ss = w.sum(ss);
  yy = w.sum(yy);
  const mask_t<T> curves = T(kLeastCosine) * sqrt(ss * yy) < sy;
  n[N::kInverseProducts + pair] = select(curves, one / sy, zero);
  n[N::kScale] = select(curves, sy / yy, n[N::kScale]);
  n[N::kHasPairs] = select(curves, one, n[N::kHasPairs]);
  for (int m = 0; m < w.molecules(); ++m) {
    const Triple<T> x = w.x(m), trial = w.trial(m);
    const auto chosen = [&](const Vec3<T>& a, const Vec3<T>& b) -> Vec3<T> {
      return {select(accepted, a.x, b.x), select(accepted, a.y, b.y), select(accepted, a.z, b.z)};
    };
    w.put_x(m, {chosen(trial.o, x.o), chosen(trial.h1, x.h1), chosen(trial.h2, x.h2)});
  }

  n[N::kStartEnergy] = select(runs & is_first, energy, n[N::kStartEnergy]);
  n[N::kEnergy] = select(accepted, energy, n[N::kEnergy]);
  n[N::kGradient] = select(accepted, largest, n[N::kGradient]);
  n[N::kIterations] = select(accepted, n[N::kIterations] + one, n[N::kIterations]);
  const mask_t<T> improves =
      accepted & ((energy < n[N::kLowestEnergy] - noise) | (largest < n[N::kLowestGradient]));
  n[N::kImproved] = select(improves, n[N::kIterations], n[N::kImproved]);
  n[N::kLowestEnergy] =
      select(improves & (energy < n[N::kLowestEnergy]), energy, n[N::kLowestEnergy]);
  n[N::kLowestGradient] =
      select(improves & (largest < n[N::kLowestGradient]), largest, n[N::kLowestGradient]);
  const auto set_status = [&](const mask_t<T>& where, int status) {
    n[N::kStatus] = select(where, T(double(status)), n[N::kStatus]);
  };
  const mask_t<T> stagnates = T(kMostIdle) < n[N::kIterations] - n[N::kImproved];
  const mask_t<T> may_go_on = n[N::kIterations] < n[N::kMostIterations];
  set_status((failed & !restarts) | (accepted & !may_go_on), kQuenchEnded);
  if (rules.noisy) set_status(accepted & stagnates, kQuenchEnded);
  set_status(accepted & !(n[N::kTolerance] < largest), kQuenchConverged);
  set_status(runs & is_first & !is_finite, kQuenchNotFinite);

  // The direction -H g. After too many tries it is that of steepest descent.
  const auto forget_pairs = [&](const mask_t<T>& where) {
    for (int i = 0; i < kQuenchPairs; ++i) {
      T& inverse = n[N::kInverseProducts + i];
      inverse = select(where, zero, inverse);
    }
    n[N::kScale] = select(where, first_scale, n[N::kScale]);
    n[N::kHasPairs] = select(where, zero, n[N::kHasPairs]);
  };
  forget_pairs(restarts);
  for (int k = 0; k < size; ++k) w.put_row(R::kWork, k, -w.row(R::kGradient, k));
  // Adds a multiple of a row to the direction. @return the product of the sum with another row
  const auto add = [&](int row, const T& factor, int other) {
    return total([&](int k, const T& sum) {
      const T number = fma(factor, w.row(row, k), w.row(R::kWork, k));
      w.put_row(R::kWork, k, number);
      return fma(number, w.row(other, k), sum);
    });
  };
  const auto after = [](int at) { return at + 1 == kQuenchPairs ? 0 : at + 1; };
  const auto before = [](int at) { return at == 0 ? kQuenchPairs - 1 : at - 1; };
  T alphas[kQuenchPairs];
  T along = product(R::kSteps + pair, R::kWork);
  for (int i = kQuenchPairs, at = pair; i-- > 0; at = before(at)) {
    alphas[i] = n[N::kInverseProducts + at] * along;
    along = add(R::kChanges + at, -alphas[i], R::kSteps + before(at));
  }
  for (int k = 0; k < size; ++k) w.put_row(R::kWork, k, n[N::kScale] * w.row(R::kWork, k));
  along = product(R::kChanges + after(pair), R::kWork);
  for (int i = 0, at = after(pair); i < kQuenchPairs; ++i, at = after(at)) {
    const bool is_last = i + 1 == kQuenchPairs;
    along = add(R::kSteps + at, fnma(n[N::kInverseProducts + at], along, alphas[i]),
                is_last ? int{R::kGradient} : R::kChanges + after(at));
  }
  T slope = along;
  const mask_t<T> ascends = !(slope < zero);
  slope = select(ascends, -first_scale * product(R::kGradient, R::kGradient), slope);
  const mask_t<T> turns = accepted | restarts;
  forget_pairs(turns & ascends);

  T longest(1e-300);
  for (int m = 0; m < w.molecules(); ++m) {
    T p[9];
    for (int c = 0; c < unknowns; ++c) {
      const int k = m * unknowns + c;
      const T down = select(ascends, -first_scale * w.row(R::kGradient, k), w.row(R::kWork, k));
      p[c] = select(turns, down, w.row(R::kDirection, k));
      w.put_row(R::kDirection, k, p[c]);
    }
    longest = max(longest, length_of(rules, p));
  }
  const T most = T(rules.longest) / w.largest(longest);
  // Else the minimum of the parabola through both energies and the slope, within bounds.
  const T curvature = rise - step_slope;
  const T best = select(curvature - curvature == zero, T(-0.5) * step_slope / curvature, zero);
  const T less = n[N::kFactor] * min(max(best, T(0.1)), T(0.5));
  n[N::kFactor] = select(turns, min(one, most), less);
  n[N::kSlope] = select(turns, slope, n[N::kSlope]);
  n[N::kTries] = select(turns, zero, n[N::kTries] + one);
  for (int m = 0; m < w.molecules(); ++m) {
    T u[9];
    for (int c = 0; c < unknowns; ++c) {
      u[c] = n[N::kFactor] * w.row(R::kDirection, m * unknowns + c);
    }
    w.put_trial(m, displaced(rules, w.x(m), u));
  }
}

}  // namespace tarn::inline TARN_ARCH
