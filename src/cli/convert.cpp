#include "tarn/io/convert.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "io/output_paths.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/formats.hpp"
#include "terminal.hpp"
#include "water_models.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  std::string trajectory, out, model;
  io::FrameSelection frames;
  bool sites = false, quiet = false;
};

void convert(const Arguments& a, int& exit_code) {
  io::trajectory_format_of(a.out);
  std::optional<WaterModel> model;
  if (!a.model.empty()) model = water_model_named(a.model);
  io::check_distinct_paths({a.out}, {a.trajectory});
  check_folder_of(a.out);
  catch_interrupts();
  Terminal terminal(a.quiet);
  NowAndThen is_due;
  io::ConvertOptions options{a.trajectory, a.out, model ? std::string(model->name) : "", a.frames,
                             a.sites};
  options.own_model = model;
  options.on_progress = [&](bool writing, std::int64_t done, std::int64_t frames) {
    if (is_due()) {
      terminal.say(writing ? fmt::format("written: {} of {} frames", done, frames)
                           : fmt::format("scanned: {} frames", done));
    }
    return !interrupted();
  };
  const io::Conversion result = io::convert_trajectory(options);
  if (result.interrupted) {
    exit_code = interrupted_exit_code();
    terminal.warning("interrupted: nothing was written");
    return;
  }
  for (const std::string& note : result.notes) terminal.warning(note);
  terminal.say(fmt::format("{}, {} of {}", counted(result.molecules, "molecule"),
                           counted(result.frames, "frame"), counted(result.replicas, "replica")));
  constexpr std::size_t kMostNamed = 4;
  for (std::size_t i = 0; i < result.files.size(); ++i) {
    if (i == kMostNamed - 1 && result.files.size() > kMostNamed) {
      terminal.say(fmt::format("and {} more files, the last one {}", result.files.size() - i,
                               result.files.back()));
      break;
    }
    terminal.say("written: " + result.files[i]);
  }
}

}  // namespace

void add_convert(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("convert", "write a trajectory in another format: " + io::format_names());
  command->add_option("trajectory", a->trajectory, "a trajectory or structure")->required();
  command
      ->add_option("-o,--out", a->out,
                   "file to write: " + io::format_extensions() +
                       "; several replicas become one .h5, or files with their numbers in the "
                       "names")
      ->required();
  command->add_option("--model", a->model,
                      std::string(kModelHelp) + ", to name in it; default what the file says");
  add_frame_selection(*command, a->frames);
  command->add_flag("--sites", a->sites,
                    "write M of four-site models behind the atoms of each molecule, as GROMACS and "
                    "OpenMM have it: all formats but h5md");
  command->add_flag("--quiet", a->quiet, "no progress");
  command->callback([a, &exit_code] { convert(*a, exit_code); });
}

}  // namespace tarn::cli
