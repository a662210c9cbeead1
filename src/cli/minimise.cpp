#include "tarn/minimise.hpp"

#include <string>

#include <fmt/format.h>

#include "command.hpp"
#include "structure_files.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : StructureArguments {
  PotentialOption potential;
  std::string out;
  bool quiet = false;
};

void minimise(const Arguments& a, int& exit_code) {
  catch_interrupts();
  check_structure_path(a.out);
  Terminal terminal(a.quiet);
  io::Structure structure = a.load(terminal);
  const WaterModel model = a.choose_model(structure, a.potential.model(a.model), terminal);
  const auto potential = a.potential.make(structure.molecules, terminal);
  if (potential) {
    io::check_bond_lengths(model, true, structure.positions_A, a.structure);
  } else {
    fit_to_model(model, structure.positions_A, a.structure, terminal);
  }
  ForceField force_field(model, structure.molecules, potential);
  const MinimiseResult r = minimise_with_report(
      {a.potential.tolerance_kcal_per_mol_A},
      [&](const MinimiseOptions& options) {
        return quench_to_minimum(force_field, structure.positions_A, options);
      },
      potential ? kNoisyForces : "", terminal, exit_code);
  fmt::print("{}\n", result_text(r));
  io::write_structure(a.out, minimum_structure(model, structure.positions_A, potential.get(),
                                               r.energy_kcal_per_mol));
  terminal.info("written: " + a.out);
}

}  // namespace

void add_minimise(Command& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "minimise", "minimise the energy of a structure; rigid molecules keep their geometry");
  a->add_to(*command)->excludes(a->potential.add_to(*command));
  command->add_option("-o,--out", a->out, kStructureOutHelp)->required();
  command->add_flag("--quiet", a->quiet, kQuietHelp);
  command->callback([a, &exit_code] { minimise(*a, exit_code); });
}

}  // namespace tarn::cli
