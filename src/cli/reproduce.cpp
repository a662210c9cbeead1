#include "tarn/reproduce.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "commands.hpp"
#include "tarn/build_features.hpp"
#include "tarn/core/error.hpp"
#include "terminal.hpp"
#include "whole_number.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  std::vector<std::string> names;
  std::string inputs, out = "docs/results";
  int threads = 0;
  bool list = false;
};

/// ./inputs; where there is none, that of the installation which this program is of.
std::string default_inputs() {
  namespace fs = std::filesystem;
  const std::string here = "inputs";
  std::error_code error;
  if (fs::is_directory(here, error)) return here;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = (program.parent_path() / build::kInputsFromProgram).lexically_normal();
  return fs::is_directory(installed, error) ? installed.string() : here;
}

/// Leaves what is being made through the watcher of its progress, so that its folder goes with it.
class Interruption : public Error {
 public:
  Interruption() : Error(ExitCode::numerical, "interrupted") {}
};

void leave_if_interrupted() {
  if (interrupted()) throw Interruption();
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
  options.on_begin = [&](const std::string& name) {
    leave_if_interrupted();
    terminal.say(name);
  };
  options.on_progress = [&](const Progress& p) {
    leave_if_interrupted();
    terminal.progress(p);
  };
  options.on_warning = [&](const std::string& text) { terminal.warning(text); };
  catch_interrupts();
  try {
    reproduce(a.names, options);
  } catch (const Interruption&) {
    exit_code = interrupted_exit_code();
    terminal.warning("interrupted: what was made whole until then is in " + a.out);
    return;
  }
  terminal.say("results are in " + a.out);
}

}  // namespace

void add_reproduce(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("reproduce", "make figures and statements of the papers again");
  command->add_option("names", a->names, "which; default all");
  command->add_flag("--list", a->list, "say what there is");
  command->add_option("--inputs", a->inputs,
                      "folder of the decks; default inputs, or where there is none that of the "
                      "installation");
  command->add_option("-o,--out", a->out, "folder for the results; default docs/results");
  command->add_option("--threads", a->threads, "threads of the CPU; default 0: all of them")
      ->check(number_of_threads());
  command->callback([a, &exit_code] { run(*a, exit_code); });
}

}  // namespace tarn::cli
