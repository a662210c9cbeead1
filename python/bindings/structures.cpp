#include <cmath>
#include <cstddef>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays.hpp"
#include "locks.hpp"
#include "parts.hpp"
#include "physics/model_table.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/devices.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn::python {
namespace {

nb::dict read_structure(const std::string& path, std::optional<std::int64_t> frame,
                        std::optional<std::int64_t> replica) {
  io::Structure s;
  io::FrameCounts counts;
  {
    const Unlocked unlocked;
    s = io::read_structure(path, {frame, replica}, &counts);
  }
  append(io::note_on_frames(path, counts), s.messages);
  for (double& v : s.velocities_A_per_akma) v /= units::picoseconds_per_akma;
  const std::vector<std::size_t> shape{static_cast<std::size_t>(s.molecules) * kAtomsPerMolecule,
                                       3};
  nb::dict d;
  d["model"] = s.model() ? nb::cast(*s.model()) : nb::none();
  d["comment"] = nb::cast(s.comment);
  d["notes"] = nb::cast(texts_of(Level::note, s.messages));
  d["warnings"] = nb::cast(texts_of(Level::warning, s.messages));
  d["velocities_A_per_ps"] = s.velocities_A_per_akma.empty()
                                 ? nb::none()
                                 : array_of(std::move(s.velocities_A_per_akma), shape);
  d["positions_A"] = array_of(std::move(s.positions_A), shape);
  return d;
}

/// @throws InputError that names the first atom with a number that is not finite
void require_finite(const Numbers& array, const char* name) {
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (std::isfinite(array.data()[i])) continue;
    throw InputError(fmt::format("write_structure: {}[{}, {}] = {}; expected finite numbers", name,
                                 i / 3, i % 3, array.data()[i]));
  }
}

void write_structure(const std::string& path, nb::handle positions_A,
                     const nb::object& velocities_A_per_ps, const std::string& model) {
  const Clusters given = cluster_of(positions_A);
  require_finite(given.array, "positions_A");
  io::Structure s;
  s.molecules = given.molecules;
  s.positions_A.assign(given.positions_A.begin(), given.positions_A.end());
  if (!velocities_A_per_ps.is_none()) {
    const Numbers v(velocities_A_per_ps, "velocities_A_per_ps");
    if (v.size() != s.positions_A.size() || v.ndim() != 2 || v.shape(1) != 3) {
      throw InputError("velocities_A_per_ps must have the shape of positions_A, (atom, 3)");
    }
    require_finite(v, "velocities_A_per_ps");
    s.velocities_A_per_akma.assign(v.data(), v.data() + v.size());
    for (double& value : s.velocities_A_per_akma) value *= units::picoseconds_per_akma;
  }
  if (!model.empty()) s.comment["model"] = model;
  const Unlocked unlocked;
  io::write_structure(path, s);
}

nb::object molecule_order(const std::vector<int>& atomic_numbers, nb::handle positions_A) {
  const Numbers x(positions_A, "positions_A");
  return array_of(io::molecule_order(atomic_numbers, {x.data(), x.size()}));
}

nb::list models() {
  nb::list all;
  const auto if_used = [](double value) { return value == 0.0 ? nb::none() : nb::cast(value); };
  for (const ModelDescription& description : describe_models()) {
    const WaterModel& m = description.model;
    const IntramolecularModel& bonds = m.intramolecular;
    nb::dict d;
    d["name"] = description.name;
    d["title"] = std::string(description.title);
    d["source"] = std::string(description.source);
    d["is_flexible"] = m.is_flexible();
    d["is_many_body"] = m.is_many_body();
    d["sites"] = description.sites();
    d["oh_A"] = m.r_oh_A;
    d["hoh_degrees"] = m.angle_hoh_degrees;
    d["om_A"] = description.om_A;
    d["charge_hydrogen_e"] = m.charge_h_e;
    d["sigma_A"] = description.sigma_A;
    d["epsilon_kcal_per_mol"] = description.epsilon_kcal_per_mol;
    d["dipole_D"] = description.dipole_D;
    d["stretch"] = std::string(stretch_name(bonds.stretch));
    d["stretch_stiffness_kcal_per_mol_A2"] = if_used(bonds.stretch_stiffness_kcal_per_mol_A2);
    d["stretch_depth_kcal_per_mol"] = if_used(bonds.depth_kcal_per_mol);
    d["stretch_alpha_per_A"] = if_used(bonds.alpha_per_A);
    d["bend_stiffness_kcal_per_mol_rad2"] = if_used(bonds.bend_stiffness_kcal_per_mol_rad2);
    d["gamma"] = if_used(m.m_site_gamma);
    all.append(d);
  }
  return all;
}

/// Whether a model, given by its name or the path of its deck, is flexible.
bool is_flexible(const std::string& model) { return ModelName::model_of(model).is_flexible(); }

/// ([(name, description, threads, memory_GiB)], why there is no GPU).
nb::tuple devices() {
  Devices found;
  {
    const Unlocked unlocked;
    found = find_devices();
  }
  nb::list list;
  for (const DeviceDescription& d : found.devices) {
    list.append(nb::make_tuple(d.name, d.description, d.threads, d.memory_GiB));
  }
  return nb::make_tuple(list, found.note);
}

nb::object read_table(const std::string& path) {
  io::Table table;
  {
    const Unlocked unlocked;
    table = io::read_table(path);
  }
  return object_of(std::move(table));
}

}  // namespace

nb::object object_of(io::Table table) {
  nb::list columns;
  for (io::TableColumn& c : table.columns) {
    nb::object values;
    switch (c.kind) {
      case io::TableColumn::Kind::integer:
        values = array_of(std::move(c.integers));
        break;
      case io::TableColumn::Kind::number:
        values = array_of(std::move(c.numbers));
        break;
      case io::TableColumn::Kind::text:
        values = nb::cast(c.texts);
        break;
    }
    columns.append(nb::make_tuple(c.name, values));
  }
  return nb::make_tuple(table.provenance, columns);
}

void add_structures(nb::module_& module) {
  module.def("read_structure", read_structure, nb::arg("path"), nb::arg("frame").none(),
             nb::arg("replica").none());
  module.def("write_structure", write_structure, nb::arg("path"), nb::arg("positions_A").none(),
             nb::arg("velocities_A_per_ps").none(), nb::arg("model"));
  module.def("molecule_order", molecule_order, nb::arg("atomic_numbers"),
             nb::arg("positions_A").none());
  module.def("models", models);
  module.def("is_flexible", is_flexible, nb::arg("model"));
  module.def("devices", devices);
  module.def("read_table", read_table, nb::arg("path"));
}

}  // namespace tarn::python
