#include "frames.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <nanobind/stl/string.h>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "parts.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"

namespace tarn::python {
namespace {

/// Names of the members of Energies, in their order.
constexpr std::array kEnergyNames{
    "potential_kcal_per_mol", "bond_kcal_per_mol", "wall_kcal_per_mol",    "field_kcal_per_mol",
    "bias_kcal_per_mol",      "bias_coordinate",   "kinetic_kcal_per_mol", "total_kcal_per_mol",
    "temperature_K",          "translation_K",     "rotation_K",           "bond_K",
    "physical_kcal_per_mol"};
static_assert(sizeof(Energies) == kEnergyNames.size() * sizeof(double));

/// The NumPy type of a row of energies.
nb::object energy_type() {
  nb::list members;
  for (const char* name : kEnergyNames) members.append(nb::make_tuple(name, "f8"));
  return nb::module_::import_("numpy").attr("dtype")(members);
}

std::size_t atoms_of(const Frame& frame) {
  return static_cast<std::size_t>(frame.molecules) * kAtomsPerMolecule;
}

/// Names the fields that an observer must list.
void require(bool has, const char* name) {
  if (has) return;
  throw InputError(std::string("this frame has no ") + name + "; add it to fields of the observer");
}

/// (replica, bead, atom, 3); for observers only.
nb::object beads_A(const std::shared_ptr<const Frame>& frame) {
  const std::size_t live = frame->live(), atoms = atoms_of(*frame);
  require(live == 0 || !frame->beads_A.empty(), "beads_A");
  const std::size_t beads = live == 0 ? 0 : frame->beads_A.size() / (live * atoms * 3);
  return view_of(frame->beads_A.data(), {live, beads, atoms, 3}, frame);
}

}  // namespace

nb::object positions_A(const std::shared_ptr<const Frame>& frame) {
  const std::size_t live = frame->live(), atoms = atoms_of(*frame);
  if (frame->beads > 1) {
    require(live == 0 || !frame->beads_A.empty(), "positions_A");
    return view_of(frame->beads_A.data(), {live, static_cast<std::size_t>(frame->beads), atoms, 3},
                   frame);
  }
  require(live == 0 || !frame->positions_A.empty(), "positions_A");
  return view_of(frame->positions_A.data(), {live, atoms, 3}, frame);
}

nb::object velocities_A_per_ps(const Frame& frame) {
  require(frame.live() == 0 || !frame.velocities_A_per_akma.empty(), "velocities_A_per_ps");
  std::vector<double> velocities(frame.velocities_A_per_akma.size());
  std::transform(frame.velocities_A_per_akma.begin(), frame.velocities_A_per_akma.end(),
                 velocities.begin(), [](double v) { return v / units::picoseconds_per_akma; });
  return array_of(std::move(velocities), {frame.live(), atoms_of(frame), 3});
}

nb::object energies(const std::shared_ptr<const Frame>& frame) {
  require(frame->live() == 0 || !frame->energies.empty(), "energies");
  // Energies is a standard-layout struct of doubles.
  const nb::object numbers =
      view_of(frame->energies.empty() ? nullptr : &frame->energies[0].potential_kcal_per_mol,
              {frame->live() * kEnergyNames.size()}, frame);
  return numbers.attr("view")(nb::module_::import_("tarn._tarn").attr("energy_type"));
}

nb::object atom_kinetic_kcal_per_mol(const std::shared_ptr<const Frame>& frame) {
  require(frame->live() == 0 || !frame->atom_kinetic_kcal_per_mol.empty(),
          "atom_kinetic_kcal_per_mol");
  return view_of(frame->atom_kinetic_kcal_per_mol.data(), {frame->live(), atoms_of(*frame)}, frame);
}

nb::object replica_ids(const Frame& frame) { return array_of(frame.replica_ids); }

void add_frames(nb::module_& module) {
  module.attr("energy_type") = energy_type();
  nb::class_<TimedFrame>(module, "Frame", "Replicas at one step, for the function of an observer.")
      .def_prop_ro(
          "step", [](const TimedFrame& f) { return f.frame->step; }, "Number of the step.")
      .def_ro("time_ps", &TimedFrame::time_ps, "Time in ps.")
      .def_prop_ro(
          "replica_ids", [](const TimedFrame& f) { return replica_ids(*f.frame); },
          nb::sig("def replica_ids(self) -> NDArray[numpy.int64]"),
          "Numbers of the running replicas, to which the rows of arrays belong.")
      .def_prop_ro(
          "positions_A", [](const TimedFrame& f) { return positions_A(f.frame); },
          nb::sig("def positions_A(self) -> NDArray[numpy.float64]"),
          "Positions (replica, atom, 3) in angstrom; of centroids if there are beads.")
      .def_prop_ro(
          "beads_A", [](const TimedFrame& f) { return beads_A(f.frame); },
          nb::sig("def beads_A(self) -> NDArray[numpy.float64]"),
          "Positions (replica, bead, atom, 3) of ring polymers in angstrom.")
      .def_prop_ro(
          "velocities_A_per_ps", [](const TimedFrame& f) { return velocities_A_per_ps(*f.frame); },
          nb::sig("def velocities_A_per_ps(self) -> NDArray[numpy.float64]"),
          "Velocities (replica, atom, 3) in A/ps.")
      .def_prop_ro(
          "energies", [](const TimedFrame& f) { return energies(f.frame); },
          nb::sig("def energies(self) -> NDArray[numpy.void]"),
          "Energies by name, each of shape (replica,).")
      .def_prop_ro(
          "atom_kinetic_kcal_per_mol",
          [](const TimedFrame& f) { return atom_kinetic_kcal_per_mol(f.frame); },
          nb::sig("def atom_kinetic_kcal_per_mol(self) -> NDArray[numpy.float64]"),
          "Kinetic energy (replica, atom) of ring polymers, equation (83).");
}

}  // namespace tarn::python
