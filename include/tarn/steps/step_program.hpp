#pragma once

#include "tarn/steps/newmark.hpp"
#include "tarn/steps/rigid.hpp"
#include "tarn/steps/single.hpp"
#include "tarn/steps/step_parameters.hpp"
#include "tarn/steps/thermostat.hpp"
#include "tarn/steps/zss.hpp"

/// @file
/// One step of one molecule with the scheme chosen at run time, for engines that keep a molecule a
/// thread: begin or begin_baoab, forces, end_step, thermostat_step.

namespace tarn {
inline namespace TARN_ARCH {

/// What the beginning of a step says: whether the molecule can go on, and how often it iterated.
template <class T>
struct StepNote {
  mask_t<T> good;
  T iterations;
};

/// The ways of constraining, from the numbers of a step.
TARN_HD ConstrainByNewton by_newton(const StepParameters& q) {
  return {q.bonds, q.masses, q.shake_tolerance};
}
TARN_HD ConstrainBySweeps by_sweeps(const StepParameters& q) {
  return {q.bonds, q.masses, q.shake_tolerance};
}
TARN_HD ConstrainBySettle by_settle(const StepParameters& q) { return {q.settle, q.masses}; }

namespace detail {

/// Calls op with the way of constraining that `move` names.
template <class T, class Op>
TARN_HD StepNote<T> with_constraints(const StepParameters& q, Move move, const Op& op) {
  if (move == Move::newton) return op(by_newton(q));
  if (move == Move::sweeps) return op(by_sweeps(q));
  return op(by_settle(q));
}

template <class T>
TARN_HD StepNote<T> nothing_to_note() {
  const T zero = T(0.0);
  return {zero < T(1.0), zero};
}

}  // namespace detail

TARN_HD constexpr bool is_constrained(Move move) {
  return move == Move::newton || move == Move::sweeps || move == Move::settle;
}

/// Kick and drift.
template <class T>
TARN_HD StepNote<T> begin_step(const StepParameters& q, Move move, MoleculeState<T>& s) {
  const T h = T(q.h);
  StepNote<T> note = detail::nothing_to_note<T>();
  kick(s, h);
  if (move == Move::free) {
    drift(s, h);
  } else if (move == Move::newmark) {
    newmark_drift(s, h, q.masses, q.zss);
  } else if (move == Move::newmark_full) {
    note.good = newmark_full_drift(s, h, q.bonds, q.masses, q.zss);
  } else {
    note = detail::with_constraints<T>(q, move, [&](const auto& constrain) -> StepNote<T> {
      const ShakeResult<T> r = constrained_drift(s, h, constrain);
      return {r.converged, r.iterations};
    });
  }
  return note;
}

/// Kick, half drift, noise, half drift.
/// @param v_thermal out: velocities right after the noise
template <class T>
TARN_HD StepNote<T> begin_baoab(const StepParameters& q, Move move, const Triple<T>& xi,
                                const T& kick_scale, MoleculeState<T>& s, Triple<T>& v_thermal) {
  const T h = T(q.h);
  if (!is_constrained(move)) {
    v_thermal = baoab_penalised(s, h, xi, q.ou, kick_scale);
    return detail::nothing_to_note<T>();
  }
  return detail::with_constraints<T>(q, move, [&](const auto& constrain) -> StepNote<T> {
    const BaoabRigid<T> r = baoab_rigid(s, h, xi, q.ou, kick_scale, constrain);
    v_thermal = r.v;
    const mask_t<T> good = r.first.converged & r.second.converged;
    return {good, r.first.iterations + r.second.iterations};
  });
}

/// Accelerations from the forces, and the second kick.
/// @return where the linear solve was possible
template <class T>
TARN_HD mask_t<T> end_step(const StepParameters& q, End end, const Triple<T>& f,
                           MoleculeState<T>& s) {
  const T h = T(q.h);
  const T zero = T(0.0);
  mask_t<T> good = zero < T(1.0);
  if (end == End::gauss_newton) {
    zss_end(s, f, h, q.bonds, q.masses, q.zss);
  } else if (end == End::full) {
    good = zss_full_end(s, f, h, q.bonds, q.masses, q.zss);
  } else if (end == End::verlet) {
    verlet_end(s, f, h, q.bonds, q.masses, q.omega);
  } else if (end == End::shake) {
    shake_end(s, f, h, q.masses);
  } else if (end == End::rattle) {
    rattle_end(s, f, h, by_newton(q));
  } else {
    rattle_end(s, f, h, by_settle(q));
  }
  return good;
}

/// The noise after the step (GLA).
template <class T>
TARN_HD void thermostat_step(const StepParameters& q, Move move, const Triple<T>& xi,
                             const T& kick_scale, MoleculeState<T>& s) {
  if (move == Move::settle) {
    thermostat_rigid(s, xi, q.ou, kick_scale, by_settle(q));
  } else if (is_constrained(move)) {
    thermostat_rigid(s, xi, q.ou, kick_scale, by_newton(q));
  } else {
    thermostat_penalised(s, xi, q.ou, kick_scale);
  }
}

// --- single precision: penalised bonds and free drifts only --------------------------------------

template <class F, class U>
TARN_HD StepNote<F> begin_step(const StepNumbers<float>& q, Move, SingleState<F, U>& s) {
  single_begin(q, s);
  return detail::nothing_to_note<F>();
}
template <class F, class U>
TARN_HD StepNote<F> begin_baoab(const StepNumbers<float>& q, Move, const Triple<F>& xi,
                                const F& kick_scale, SingleState<F, U>& s, Triple<F>& v_thermal) {
  v_thermal = single_baoab(q, xi, kick_scale, s);
  return detail::nothing_to_note<F>();
}
template <class F, class U>
TARN_HD mask_t<F> end_step(const StepNumbers<float>& q, End end, const Triple<F>& f,
                           SingleState<F, U>& s) {
  return single_end(q, end, f, s);
}
template <class F, class U>
TARN_HD void thermostat_step(const StepNumbers<float>& q, Move, const Triple<F>& xi,
                             const F& kick_scale, SingleState<F, U>& s) {
  single_thermostat(q, xi, kick_scale, s);
}

}  // namespace TARN_ARCH
}  // namespace tarn
