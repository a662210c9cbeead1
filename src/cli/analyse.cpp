#include <memory>

#include <fmt/format.h>

#include "command.hpp"
#include "observe/trajectory_tables.hpp"
#include "structure_files.hpp"
#include "tarn/deck_text.hpp"
#include "terminal.hpp"
#include "texts.hpp"

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
  terminal.info(fmt::format("{} of {}, {} of {}", count_text(result.molecules, "molecule"),
                            result.model, count_text(result.frames, "frame"),
                            count_text(result.replicas, "replica")));
  print_averages(result.averages, fmt::format("average of {}", count_text(result.frames, "frame")),
                 terminal);
  terminal.print(result.messages);
  terminal.print(result.pictures.messages);
  for (const std::string& path : result.pictures.paths) {
    if (path.ends_with(".svg")) terminal.info("picture: " + path);
  }
  terminal.info("tables: " + options.folder);
}

}  // namespace

void add_analyse(Command& app, int& /*exit_code*/) {
  auto a = std::make_shared<TrajectoryTablesOptions>();
  Command* command = app.add_subcommand("analyse",
                                        "compute energies, shape, hydrogen bonds, dipole, density "
                                        "profile and dynamics of trajectories");
  command
      ->add_option("trajectories", a->files,
                   "trajectories of one cluster, written by tarn or another program")
      ->required();
  command->add_option("-o,--out", a->folder, "output folder for tables and pictures")->required();
  command->add_option("--model", a->model, fmt::format("{}{}", kModelHelp, kModelFromFileHelp));
  command->add_flag("!--no-pictures", a->pictures, "draw no pictures");
  add_frame_selection(*command, a->frames);
  command->add_option("--correlation-ps", a->correlation_ps,
                      "also write correlation.csv: reorientation, diffusion and hydrogen-bond "
                      "lifetimes up to this lag [ps]");
  command->callback([a] { analyse(*a); });
}

}  // namespace tarn::cli
