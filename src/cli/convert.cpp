#include "io/convert.hpp"

#include <memory>

#include <fmt/format.h>

#include "command.hpp"
#include "io/paths.hpp"
#include "structure_files.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/io/formats.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  std::string trajectory, out, model;
  io::FrameSelection frames;
  std::optional<int> beads;
  bool sites = false, quiet = false;
};

void convert(const Arguments& a, int& exit_code) {
  io::trajectory_format_of(a.out);
  std::optional<WaterModel> model;
  if (!a.model.empty()) model = water_model_named(a.model);
  io::check_distinct_paths({a.out}, {a.trajectory});
  check_writable(a.out);
  catch_interrupts();
  Terminal terminal(a.quiet);
  ReportTimer is_due;
  io::ConvertOptions options{a.trajectory, a.out, model ? std::string(model->name) : "", a.frames,
                             a.sites};
  options.own_model = model;
  options.beads = a.beads;
  options.on_progress = [&](bool writing, std::int64_t done, std::int64_t frames) {
    if (is_due()) {
      terminal.info(writing ? fmt::format("written: {} of {} frames", done, frames)
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
  terminal.print(result.messages);
  terminal.info(fmt::format("{}, {} of {}", molecules_text(result.molecules, result.beads),
                            count_text(result.frames, "frame"),
                            count_text(result.replicas, "replica")));
  constexpr std::size_t kMostNamed = 4;
  for (std::size_t i = 0; i < result.files.size(); ++i) {
    if (i == kMostNamed - 1 && result.files.size() > kMostNamed) {
      terminal.info(
          fmt::format("and {} more files, up to {}", result.files.size() - i, result.files.back()));
      break;
    }
    terminal.info("written: " + result.files[i]);
  }
}

}  // namespace

void add_convert(Command& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "convert", "convert a trajectory to another format: " + io::format_names());
  command->add_option("trajectory", a->trajectory, "trajectory or structure")->required();
  command
      ->add_option("-o,--out", a->out,
                   "output file: " + io::format_extensions() +
                       "; several replicas are written to one .h5 file, or to one file each with "
                       "the replica number in its name")
      ->required();
  command->add_option(
      "--model", a->model,
      fmt::format("{}, to record in the output; default: the model named in the file", kModelHelp));
  add_frame_selection(*command, a->frames);
  add_beads_option(*command, a->beads);
  command->add_flag("--sites", a->sites,
                    "also write the M site of four-site models, after the atoms of each molecule "
                    "as in GROMACS and OpenMM; not for h5md");
  command->add_flag("--quiet", a->quiet, kQuietHelp);
  command->callback([a, &exit_code] { convert(*a, exit_code); });
}

}  // namespace tarn::cli
