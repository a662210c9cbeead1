#include "tarn/serve.hpp"

#include <memory>
#include <string>

#include <fmt/format.h>

#include "commands.hpp"
#include "structure_files.hpp"
#include "terminal.hpp"
#include "water_models.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  io::FrameChoice choice;
  std::string structure, model;
  ServeAddress address;
  double omega = 0.0, wait_seconds = 60.0;
  bool extra = false, quiet = false;
};

void serve(const Arguments& a, int& exit_code) {
  catch_interrupts();
  Terminal terminal(a.quiet);
  const io::Structure structure = load_structure(a.structure, a.choice, terminal);
  ServeOptions options{choose_water_model(a.structure, structure, a.model, terminal)};
  options.molecules = structure.molecules;
  options.atoms.assign(structure.file_order.begin(), structure.file_order.end());
  options.omega = a.omega;
  options.extra = a.extra;
  options.wait_seconds = a.wait_seconds;
  options.interrupted = interrupted;
  options.on_wait = [&](const std::string& text) { terminal.say(text); };
  options.on_note = [&](const std::string& text) { terminal.warning(text); };
  const ServeResult result = serve_forces(a.address, options);
  terminal.say(fmt::format("{} of {} molecules of {} for {}",
                           counted(result.evaluations, "evaluation"), options.molecules,
                           options.model.name, a.address.text()));
  if (result.interrupted) exit_code = interrupted_exit_code();
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "serve", "energies and forces for i-PI, ASE and others that move the atoms");
  command
      ->add_option(
          "structure", a->structure,
          "extended XYZ, GRO or PDB, or a trajectory: how many molecules, and the order of "
          "their atoms")
      ->required();
  add_frame_options(*command, a->choice);
  CLI::Option* name = command->add_option("--unix", a->address.unix_name,
                                          "a UNIX socket, /tmp/ipi_NAME, or a path with a slash");
  command->add_option("--host", a->address.host, "default localhost")->excludes(name);
  command->add_option("--port", a->address.port, "default 31415")
      ->excludes(name)
      ->check(CLI::Range(1, 65535));
  command->add_option("--model", a->model,
                      std::string(kModelHelp) + "; default what the file says, or tip3p");
  command
      ->add_option("--omega", a->omega,
                   "penalty of the bonds, sqrt(kcal/mol)/A^2; default 0: they have no forces")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--wait", a->wait_seconds, "seconds until somebody listens; default 60")
      ->check(CLI::Range(0.0, 1e9));
  command->add_flag("--extra", a->extra,
                    "send dipole and parts of the energy, for i-PI; not for ASE");
  command->add_flag("--quiet", a->quiet, "warnings only");
  command->callback([a, &exit_code] { serve(*a, exit_code); });
}

}  // namespace tarn::cli
