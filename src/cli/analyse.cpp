#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "averages_text.hpp"
#include "commands.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/observe/trajectory_tables.hpp"
#include "terminal.hpp"
#include "water_models.hpp"

namespace tarn::cli {
namespace {

void analyse(TrajectoryTablesOptions options) {
  if (const std::optional<Deck> deck = deck_of_model(options.model)) {
    options.model = deck->system.model;
    options.own_model = deck->model;
  } else if (!options.model.empty()) {
    water_model_named(options.model);
  }
  Terminal terminal(false);
  const TrajectoryTables result = write_trajectory_tables(options);
  terminal.say(fmt::format("{} of {}, {} of {}", counted(result.molecules, "molecule"),
                           result.model, counted(result.frames, "frame"),
                           counted(result.replicas, "replica")));
  say_each(result.averages, fmt::format("average of {}", counted(result.frames, "frame")),
           terminal);
  say_what_is_short(result.averages, terminal);
  for (const std::string& note : result.notes) terminal.warning(note);
  for (const std::string& warning : result.pictures.warnings) terminal.warning(warning);
  for (const std::string& path : result.pictures.paths) {
    if (path.ends_with(".svg")) terminal.say("picture: " + path);
  }
  terminal.say("tables: " + options.folder);
}

}  // namespace

void add_analyse(CLI::App& app) {
  auto a = std::make_shared<TrajectoryTablesOptions>();
  CLI::App* command = app.add_subcommand(
      "analyse",
      "energy, shape, hydrogen bonds, dipole, density profile and dynamics of trajectories");
  command->add_option("trajectories", a->files, "files of one cluster, of tarn or another program")
      ->required();
  command->add_option("-o,--out", a->folder, "folder for the tables and pictures")->required();
  command->add_option("--model", a->model,
                      std::string(kModelHelp) + "; default what the file says, or tip3p");
  add_frame_selection(*command, a->frames);
  command->add_option("--correlation-ps", a->correlation_ps,
                      "also correlation.csv: how molecules turn and move and hydrogen bonds last, "
                      "up to this time [ps]");
  command->callback([a] { analyse(*a); });
}

}  // namespace tarn::cli
