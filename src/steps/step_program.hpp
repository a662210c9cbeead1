#pragma once

#include "newmark.hpp"
#include "physics/flexible.hpp"
#include "rigid.hpp"
#include "single.hpp"
#include "step_parameters.hpp"
#include "thermostat.hpp"
#include "zss.hpp"

/// @file
/// One step of one molecule, with the scheme chosen at run time: begin_step or begin_baoab, forces,
/// end_step, thermostat_step.

namespace tarn::inline TARN_ARCH {

/// Result of the beginning of a step.
template <class T>
struct StepStatus {
  mask_t<T> good;  ///< false if the molecule has failed
  T iterations;    ///< of the constraints
};

/// The constraint algorithms with the parameters of a step.
template <class S, class M, class Ou>
TARN_HD ConstrainByIteration<false, S, M> by_newton(const StepNumbers<S, M, Ou>& q) {
  return {q.bonds, q.masses, q.shake_tolerance};
}
template <class S, class M, class Ou>
TARN_HD ConstrainByIteration<true, S, M> by_sweeps(const StepNumbers<S, M, Ou>& q) {
  return {q.bonds, q.masses, q.shake_tolerance};
}
/// SETTLE for equal hydrogens; step_passes() does not choose it for isotopes.
template <class S>
TARN_HD ConstrainBySettle<S> by_settle(const StepNumbers<S>& q) {
  return {q.settle, q.masses};
}
template <class S, class T, class Ou>
TARN_HD auto by_settle(const StepNumbers<S, AtomMasses<T>, Ou>& q) {
  return by_newton(q);
}

namespace detail {

template <class T>
TARN_HD StepStatus<T> status_of(const ShakeResult<T>& r) {
  return {r.converged, r.iterations};
}
template <class T>
TARN_HD StepStatus<T> status_of(const BaoabRigid<T>& r, Triple<T>& v_thermal) {
  v_thermal = r.v;
  const mask_t<T> good = r.first.converged & r.second.converged;
  return {good, r.first.iterations + r.second.iterations};
}
template <class T>
TARN_HD StepStatus<T> success() {
  const T zero = T(scalar_t<T>(0));
  return {zero < T(scalar_t<T>(1)), zero};
}

}  // namespace detail

TARN_HD constexpr bool is_constrained(Move move) {
  return move == Move::newton || move == Move::sweeps || move == Move::settle;
}

/// Kick and drift.
template <class S, class... I, class M, class T = number_t<M>>
TARN_HD StepStatus<T> begin_step(const StepNumbers<S, I...>& q, Move move, M& s) {
  const T h = T(q.h);
  StepStatus<T> status = detail::success<T>();
  kick(s, h);
  if (move == Move::newton) return detail::status_of(constrained_drift(s, h, by_newton(q)));
  if (move == Move::sweeps) return detail::status_of(constrained_drift(s, h, by_sweeps(q)));
  if (move == Move::settle) return detail::status_of(constrained_drift(s, h, by_settle(q)));
  // One-step Newmark does not support fixed-point positions.
  if constexpr (requires { newmark_drift(s, h, q.masses, q.zss); }) {
    if (move == Move::newmark) {
      newmark_drift(s, h, q.masses, q.zss);
      return status;
    }
    if (move == Move::newmark_full) {
      status.good = newmark_full_drift(s, h, q.bonds, q.masses, q.zss);
      return status;
    }
  }
  drift(s, h);
  return status;
}

/// Kick, half drift, noise and half drift of BAOAB.
/// @param v_thermal out: velocities right after the noise
/// @param tally see thermostat_penalised
template <class S, class... I, class M, class T = number_t<M>, class Tally = NoTally>
TARN_HD StepStatus<T> begin_baoab(const StepNumbers<S, I...>& q, Move move,
                                  const Triple<number_t<M>>& xi, const number_t<M>& kick_scale,
                                  M& s, Triple<T>& v_thermal, const Tally& tally = {}) {
  const T h = T(q.h);
  const auto rigid = [&](const auto& constrain) TARN_INLINE_LAMBDA {
    return detail::status_of(baoab_rigid(s, h, xi, q.ou, kick_scale, constrain, tally), v_thermal);
  };
  if (move == Move::newton) return rigid(by_newton(q));
  if (move == Move::sweeps) return rigid(by_sweeps(q));
  if (move == Move::settle) return rigid(by_settle(q));
  v_thermal = baoab_penalised(s, h, xi, q.ou, kick_scale, tally);
  return detail::success<T>();
}

/// Accelerations from the forces, and the second kick; not for flexible molecules.
/// @return whether the linear solve succeeded
template <class S, class... I, class M, class T = number_t<M>>
TARN_HD mask_t<T> end_step(const StepNumbers<S, I...>& q, End end, const Triple<number_t<M>>& f,
                           M& s) {
  const T h = T(q.h);
  const T zero = T(S(0));
  mask_t<T> good = zero < T(S(1));
  if (end == End::gauss_newton) {
    zss_end(s, f, h, q.bonds, q.masses, q.zss);
  } else if (end == End::full) {
    good = zss_full_end(s, f, h, q.bonds, q.masses, q.zss);
  } else if (end == End::verlet) {
    verlet_end(s, f, h, q.bonds, q.masses, q.omega);
  } else if (end == End::kick) {
    kick_end(s, f, h, q.masses);
  } else if (end == End::rattle) {
    rattle_end(s, f, h, by_newton(q));
  } else {
    rattle_end(s, f, h, by_settle(q));
  }
  return good;
}

/// Accelerations of flexible molecules: of velocity Verlet from all forces, equation (10), or of
/// Z&Ss with the intramolecular potential as the stiff one, equation (78).
/// @param f forces of the other molecules and the wall
template <class S, class... I, class M>
TARN_HD Triple<number_t<M>> flexible_step_acceleration(const StepNumbers<S, I...>& q, End end,
                                                       const Triple<number_t<M>>& f, const M& s) {
  if (end == End::flexible_zss) {
    return flexible_acceleration(shape_of(s), f, q.flexible, q.masses, q.zss.inverse_bh2);
  }
  return over_masses(q.masses, f + intramolecular_force(shape_of(s), q.flexible));
}

/// end_step() of rigid and penalised, or of flexible molecules. The choice is made at compile time:
/// GPU kernels for one kind would otherwise need the registers of both.
template <bool kFlexible, class S, class... I, class M, class T = number_t<M>>
TARN_HD mask_t<T> end_step_of(const StepNumbers<S, I...>& q, End end, const Triple<number_t<M>>& f,
                              M& s) {
  if constexpr (kFlexible) {
    s.a = flexible_step_acceleration(q, end, f, s);
    kick(s, T(q.h));
    return T(S(0)) < T(S(1));
  } else {
    return end_step(q, end, f, s);
  }
}

/// Result of presolve() for schemes without a linear solve.
struct NoPresolve {};
/// The part of end_step() that does not depend on the velocities. Callers can overlap its latency
/// with other work.
template <End kEnd, class S, class... I, class M>
TARN_HD auto presolve(const StepNumbers<S, I...>& q, const Triple<number_t<M>>& f, const M& s) {
  if constexpr (kEnd == End::gauss_newton) {
    return zss_solve(s, f, q.bonds, q.masses, q.zss);
  } else if constexpr (is_flexible(kEnd)) {
    return flexible_step_acceleration(q, kEnd, f, s);
  } else {
    return NoPresolve{};
  }
}
/// end_step() with the result of presolve().
template <End kEnd, class S, class... I, class M, class Presolved, class T = number_t<M>>
TARN_HD mask_t<T> end_step(const StepNumbers<S, I...>& q, const Triple<number_t<M>>& f,
                           const Presolved& presolved, M& s) {
  if constexpr (kEnd == End::gauss_newton) {
    zss_end(s, f, presolved, T(q.h), q.masses);
    return T(S(0)) < T(S(1));
  } else if constexpr (is_flexible(kEnd)) {
    s.a = presolved;
    kick(s, T(q.h));
    return T(S(0)) < T(S(1));
  } else {
    return end_step(q, kEnd, f, s);
  }
}

/// Whether a molecule has blown up at the end of a step: its velocities are too large or NaN.
/// @param largest_speed2 [A^2/akma^2]; of modes of P beads, P times as large
template <class T>
TARN_HD mask_t<T> is_too_fast(const Triple<T>& v, double largest_speed2 = kLargestSpeed2) {
  const T one(scalar_t<T>(1)), largest(static_cast<scalar_t<T>>(largest_speed2));
  return !(weighted_norm2(one, one, v) < largest);
}

/// The noise after the step (GLA).
/// @param tally see thermostat_penalised
template <class S, class... I, class M, class Tally = NoTally>
TARN_HD void thermostat_step(const StepNumbers<S, I...>& q, Move move,
                             const Triple<number_t<M>>& xi, const number_t<M>& kick_scale, M& s,
                             const Tally& tally = {}) {
  if (move == Move::settle) {
    thermostat_rigid(s, xi, q.ou, kick_scale, by_settle(q), tally);
  } else if (is_constrained(move)) {
    thermostat_rigid(s, xi, q.ou, kick_scale, by_newton(q), tally);
  } else {
    thermostat_penalised(s, xi, q.ou, kick_scale, tally);
  }
}

}  // namespace tarn::inline TARN_ARCH
