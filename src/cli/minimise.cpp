#include "tarn/minimise.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : StructureArguments {
  PotentialOption potential;
  std::string out, device = "cpu";
  bool all = false, quiet = false;
};

/// Minimises all frames of a file side by side, and writes them as frames.
void minimise_all(const Arguments& a, int& exit_code) {
  if (a.choice.is_given()) throw InputError("--all takes all frames; omit --frame and --replica");
  if (io::format_for_writing(a.out).id != io::FileFormat::xyz) {
    throw InputError(fmt::format(
        "-o {}: --all writes several frames as extended XYZ; give a name that ends with .xyz",
        a.out));
  }
  Terminal terminal(a.quiet);
  const auto reader = io::open_frames(a.structure);
  std::optional<io::Structure> first;
  std::vector<double> positions_A;
  std::string cut_off;
  std::int64_t frames = 0;
  while (auto frame = io::next_whole_frame(*reader, frames, cut_off)) {
    io::check_molecules(*frame, *reader, frames++);
    positions_A.insert(positions_A.end(), frame->positions_A.begin(), frame->positions_A.end());
    if (!first) first = std::move(frame);
  }
  if (!cut_off.empty()) terminal.warning(cut_off);
  const WaterModel model = a.choose_model(*first, a.potential.model(a.model), terminal);
  const auto potential = a.potential.make(first->molecules, terminal);
  const std::vector<MinimiseResult> results =
      minimise_clusters(model, first->molecules, positions_A, {a.device, 0, potential},
                        {.tolerance_kcal_per_mol_A = a.potential.tolerance_kcal_per_mol_A,
                         .should_continue = [] { return !interrupted(); }});
  std::string text;
  std::size_t failed = 0, lowest = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto at = positions_A.begin() + static_cast<std::ptrdiff_t>(9 * i) * first->molecules;
    text += io::format_for_writing(a.out).structure_text(
        minimum_structure(model, {at, at + std::ptrdiff_t{9} * first->molecules}, potential.get(),
                          results[i].energy_kcal_per_mol));
    if (!results[i].converged) ++failed;
    if (results[i].energy_kcal_per_mol < results[lowest].energy_kcal_per_mol) lowest = i;
  }
  fmt::print("{:.9f} kcal/mol, the lowest of {}, in frame {}\n",
             results[lowest].energy_kcal_per_mol, count_text(results.size(), "frame"), lowest);
  if (failed > 0) {
    exit_code = interrupted() ? interrupted_exit_code() : static_cast<int>(ExitCode::numerical);
    terminal.warning(fmt::format("{} of {} minimisations did not converge{}", failed,
                                 results.size(), potential ? kNoisyForces : ""));
  }
  io::write_file(a.out, text);
  terminal.info(fmt::format("written: {}, {}", a.out, count_text(results.size(), "frame")));
}

void minimise(const Arguments& a, int& exit_code) {
  catch_interrupts();
  check_structure_path(a.out);
  if (a.all) return minimise_all(a, exit_code);
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
  Option* const all = command->add_flag(
      "--all", a->all,
      "minimise all frames of the file, and write them as frames of one .xyz file");
  add_quench_device(*command, a->device)->needs(all);
  command->add_option("-o,--out", a->out, kStructureOutHelp)->required();
  command->add_flag("--quiet", a->quiet, kQuietHelp);
  command->callback([a, &exit_code] { minimise(*a, exit_code); });
}

}  // namespace tarn::cli
