#include "tarn/reproduce.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "commands.hpp"
#include "deck_arguments.hpp"
#include "help_text.hpp"
#include "ranks.hpp"
#include "tarn/build_features.hpp"
#include "tarn/core/error.hpp"
#include "terminal.hpp"
#include "whole_number.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  std::vector<std::string> names;
  std::string inputs, out = "docs/results", ranks;
  int threads = 0;
  bool list = false;
};

/// ./inputs, or the inputs that were installed with this program.
std::string default_inputs() {
  namespace fs = std::filesystem;
  const std::string here = "inputs";
  std::error_code error;
  if (fs::is_directory(here, error)) return here;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = (program.parent_path() / build::kInputsFromProgram).lexically_normal();
  return fs::is_directory(installed, error) ? installed.string() : here;
}

/// Thrown by the progress callback, so that the temporary folder of the figure is removed.
class Interruption : public Error {
 public:
  Interruption() : Error(ExitCode::numerical, "interrupted") {}
};

void throw_if_interrupted() {
  if (interrupted_on_any_rank()) throw Interruption();
}

void run(const Arguments& a, int& exit_code) {
  if (a.list) {
    std::size_t width = 0;
    for (const Reproduction& r : reproductions()) width = std::max(width, r.name.size());
    for (const Reproduction& r : reproductions()) {
      fmt::print("{:<{}}  {:<7}  {}\n", r.name, width,
                 r.cost == Cost::seconds ? "seconds" : "minutes", r.title);
    }
    return;
  }
  Terminal terminal(false);
  ReproduceOptions options;
  options.inputs_dir = a.inputs.empty() ? default_inputs() : a.inputs;
  options.out_dir = a.out;
  options.threads = a.threads;
  options.make_engine = engine_maker();
  options.on_begin = [&](const std::string& name) {
    throw_if_interrupted();
    terminal.info(name);
  };
  options.on_progress = [&](const Progress& p) {
    throw_if_interrupted();
    terminal.progress(p);
  };
  options.on_message = [&](const Message& message) { terminal.print(message); };
  catch_interrupts();
  try {
    reproduce(a.names, options);
  } catch (const Interruption&) {
    exit_code = interrupted_exit_code();
    terminal.warning("interrupted: the results completed so far are in " + a.out);
    return;
  }
  terminal.info("results are in " + a.out);
}

}  // namespace

void add_reproduce(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("reproduce", "reproduce the figures and statements of the papers");
  command->add_option("names", a->names, "names of the results, see --list; default: all");
  command->add_flag("--list", a->list, "list the names and titles of the results");
  command->add_option(
      "--inputs", a->inputs,
      "folder of the decks; default: inputs, or the installed one if it is missing");
  command->add_option("-o,--out", a->out, "output folder; default: docs/results");
  command->add_option("--threads", a->threads, kThreadsHelp)->check(number_of_threads());
  add_ranks_option(*command, a->ranks);
  command->callback([a, &exit_code] { run(*a, exit_code); });
}

}  // namespace tarn::cli
