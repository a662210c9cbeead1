#pragma once

#include <memory>
#include <nanobind/nanobind.h>

#include "tarn/engine.hpp"

namespace tarn::python {

/// Arrays of a Frame. Views belong to the Frame, which nobody changes while a view exists.
/// Shapes: (replica, atom, 3); (replica, bead, atom, 3) if there are several beads.
nanobind::object positions_A(const std::shared_ptr<const Frame>& frame);
/// Of centroids if there are several beads; a copy, because Frames have other units.
nanobind::object velocities_A_per_ps(const Frame& frame);
/// A structured array (replica,) with the members of Energies.
nanobind::object energies(const std::shared_ptr<const Frame>& frame);
/// (replica, atom); of ring polymers.
nanobind::object atom_kinetic_kcal_per_mol(const std::shared_ptr<const Frame>& frame);
nanobind::object replica_ids(const Frame& frame);

/// The field of the positions: of all beads if there are several.
inline unsigned position_field(int beads) { return beads > 1 ? kBeads : kPositions; }

/// A Frame with its time, for functions of the user.
struct TimedFrame {
  std::shared_ptr<const Frame> frame;
  double time_ps = 0.0;
};

}  // namespace tarn::python
