#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "io/json.hpp"
#include "start/molecule_frame.hpp"
#include "structure_files.hpp"
#include "tarn/cluster_forces.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : StructureArguments {
  std::string device = "cpu";
  bool rigid = false;
};

/// Smaller deviations from the geometry of the model come from the rounding of a file [A].
constexpr double kLengthTolerance_A = 1e-6;

/// Makes the molecules rigid, or warns if their geometry is not that of the model.
void check_geometry(const Arguments& a, const WaterModel& model, std::span<double> positions_A,
                    Terminal& terminal) {
  if (a.rigid && model.is_flexible()) {
    throw InputError(fmt::format("--rigid: {} is a flexible model; use one of {}", model.name,
                                 rigid_model_names()));
  }
  if (a.rigid) {
    terminal.print(make_rigid(model, positions_A, a.structure));
    return;
  }
  const std::vector<Problem> problems =
      io::bond_length_problems(model, model.is_flexible(), positions_A, a.structure);
  for (const Problem& problem : problems) terminal.warning(problem.text());
  if (model.is_flexible()) return;
  const double deviation_A = io::largest_length_error_A(model, positions_A);
  // Molecules with larger deviations have been listed already, and cannot be made rigid.
  if (deviation_A <= kLengthTolerance_A || !problems.empty()) return;
  terminal.warning(
      fmt::format("{}: distances within molecules deviate by up to {:.2g} A from the geometry of "
                  "{}. --rigid applies that geometry first, as run, minimise and modes do",
                  a.structure, deviation_A, model.name));
}

void energy(const Arguments& a) {
  Terminal terminal(false);
  io::Structure structure = a.load(terminal);
  const WaterModel model = a.choose_model(structure, {}, terminal);
  check_geometry(a, model, structure.positions_A, terminal);
  const SinglePoint point = single_point(model, structure.positions_A, {a.device});
  const ClusterEnergy& e = point.energy;
  const std::vector<double>& forces = point.forces_kcal_per_mol_A;
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < forces.size() / 3; ++i) {
    const std::size_t atom =
        structure.file_order.empty() ? i : static_cast<std::size_t>(structure.file_order[i]);
    const std::size_t k = 3 * atom;
    rows.push_back(fmt::format("[{}, {}, {}]", io::json(forces[k]), io::json(forces[k + 1]),
                               io::json(forces[k + 2])));
  }
  io::JsonObject json;
  json.add("model", io::json(model.name));
  json.add("molecules", io::json(std::int64_t{structure.molecules}));
  if (!model.is_many_body()) {
    json.add("coulomb_kcal_per_mol", io::json(e.coulomb_kcal_per_mol));
    json.add("lj_kcal_per_mol", io::json(e.lj_kcal_per_mol));
  }
  for (const auto& [term, value] : point.terms_kcal_per_mol) {
    json.add(term + "_kcal_per_mol", io::json(value));
  }
  json.add("potential_kcal_per_mol", io::json(e.between_molecules_kcal_per_mol()));
  if (model.has_field() && !model.is_many_body()) {  // those have it among their terms
    json.add("field_kcal_per_mol", io::json(e.field_kcal_per_mol));
  }
  if (model.is_flexible()) {
    json.add("intramolecular_kcal_per_mol", io::json(e.intramolecular_kcal_per_mol));
  }
  if (model.is_flexible() || model.has_field()) {
    json.add("total_potential_kcal_per_mol", io::json(e.total_kcal_per_mol()));
  }
  json.add("farthest_oxygen_A", io::json(start::farthest_oxygen_A(model, structure.positions_A)));
  json.add("forces_kcal_per_mol_A", io::json_array(rows));
  fmt::print("{}\n", json.text());
}

}  // namespace

void add_energy(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "energy", "compute the energy and forces of one structure, as JSON", energy);
  a->add_to(*command);
  command->add_option("--device", a->device, fmt::format("{}; default: cpu", kDeviceHelp));
  command->add_flag("--rigid", a->rigid,
                    "first replace the geometry of each molecule by that of the model");
}

}  // namespace tarn::cli
