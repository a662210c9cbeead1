#include "tarn/serve.hpp"

#include <memory>

#include <fmt/format.h>

#include "command.hpp"
#include "structure_files.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : StructureArguments {
  ServeAddress address;
  double omega = 0.0, wait_seconds = 60.0;
  bool extra = false, quiet = false;
};

void serve(const Arguments& a, int& exit_code) {
  catch_interrupts();
  Terminal terminal(a.quiet);
  const io::Structure structure = a.load(terminal);
  ServeOptions options{a.choose_model(structure, {}, terminal)};
  options.molecules = structure.molecules;
  options.atom_order.assign(structure.file_order.begin(), structure.file_order.end());
  options.omega = a.omega;
  options.extra = a.extra;
  options.wait_seconds = a.wait_seconds;
  options.interrupted = interrupted;
  options.on_wait = [&](const std::string& text) { terminal.info(text); };
  options.on_message = [&](const Message& message) { terminal.print(message); };
  const ServeResult result = serve_forces(a.address, options);
  terminal.info(
      fmt::format("{} of {} of {}, requested by {}", count_text(result.evaluations, "evaluation"),
                  count_text(options.molecules, "molecule"), options.model.name, a.address.text()));
  if (result.interrupted) exit_code = interrupted_exit_code();
}

}  // namespace

void add_serve(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "serve", "provide energies and forces to i-PI, ASE or another program that moves the atoms",
      serve);
  a->add_to(*command,
            "structure or trajectory that defines the number of molecules and the order of their "
            "atoms");
  Option* name = command->add_option("--unix", a->address.unix_name,
                                     "UNIX socket: NAME for /tmp/ipi_NAME, or a path");
  command->add_option("--host", a->address.host, "host of the other program; default: localhost")
      ->excludes(name);
  command
      ->add_option("--port", a->address.port, "port of the other program; default: 31415",
                   in_range(1, 65535))
      ->excludes(name);
  command->add_option(
      "--omega", a->omega,
      "penalty strength of the bonds of a rigid model [sqrt(kcal/mol)/A^2]; default: 0",
      in_range(0.0, 1e6));
  command->add_option("--wait", a->wait_seconds,
                      "seconds to wait for the other program to listen; default: 60",
                      in_range(0.0, 1e9));
  command->add_flag("--extra", a->extra,
                    "also send the dipole and the energy terms, for i-PI; not supported by ASE");
  command->add_flag("--quiet", a->quiet, "print warnings only");
}

}  // namespace tarn::cli
