#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "structure_files.hpp"
#include "tarn/io/json.hpp"
#include "tarn/single_point.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  std::string structure, model, device = "cpu";
};

void energy(const Arguments& a) {
  const io::Structure structure = io::read_structure(a.structure);
  const WaterModel model = water_model_of(structure, a.model);
  Terminal terminal(false);
  for (const Problem& problem :
       io::bond_length_problems(model, structure.positions_A, a.structure)) {
    terminal.warning(problem.text());
  }
  const SinglePoint point = single_point(model, structure.positions_A, {a.device});
  const NonbondedEnergy& e = point.energy;
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
  json.add("coulomb_kcal_per_mol", io::json(e.coulomb_kcal_per_mol));
  json.add("lj_kcal_per_mol", io::json(e.lj_kcal_per_mol));
  json.add("potential_kcal_per_mol", io::json(e.total_kcal_per_mol()));
  json.add("forces_kcal_per_mol_A", io::json_array(rows));
  fmt::print("{}\n", json.text());
}

}  // namespace

void add_energy(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("energy", "energy and forces of one structure, as JSON");
  command
      ->add_option("structure", a->structure,
                   "extended XYZ, GRO or PDB; of a trajectory the first frame")
      ->required();
  command->add_option("--model", a->model, "water model; default what the file says, or tip3p");
  command->add_option("--device", a->device, "auto, cpu, cuda or cuda:<number>; default cpu");
  command->callback([a] { energy(*a); });
}

}  // namespace tarn::cli
