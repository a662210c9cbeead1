#pragma once

#include "tarn/physics/molecule_solve.hpp"
#include "tarn/physics/ou.hpp"
#include "tarn/steps/molecule_state.hpp"

namespace tarn {
inline namespace TARN_ARCH {

/// The O step of the geometric Langevin algorithm for penalised bonds.
template <class T, class S>
TARN_HD void thermostat_penalised(MoleculeState<T>& s, const Triple<T>& xi,
                                  const OuParameters<S>& p) {
  s.v = ou_step(s.v, xi, p);
}

/// The same for rigid bonds: velocities are projected after the O step, and before it too, which
/// matters when the friction differs between the atoms.
template <class T, class S>
TARN_HD void thermostat_rigid(MoleculeState<T>& s, const Triple<T>& xi, const OuParameters<S>& p,
                              const Masses<S>& m) {
  if (p.decay_o != p.decay_h) s.v = project_velocities(s.x, s.v, m);
  s.v = project_velocities(s.x, ou_step(s.v, xi, p), m);
}

}  // namespace TARN_ARCH
}  // namespace tarn
