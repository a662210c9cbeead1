#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "command.hpp"
#include "io/convert.hpp"
#include "io/paths.hpp"
#include "observe/trajectory_tables.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_text.hpp"
#include "tarn/io/formats.hpp"
#include "terminal.hpp"
#include "texts.hpp"

/// @file
/// The commands analyse, rdf and convert.

namespace tarn::cli {
namespace {

/// --skip, --every, --most and --replicas.
void add_frame_selection(Command& command, io::FrameSelection& selection) {
  command.add_option("--skip", selection.skip,
                     "number of frames to skip at the start of each replica", whole_number(0));
  command.add_option("--every", selection.every, "use every n-th frame; default: 1",
                     whole_number(1));
  command.add_option("--most", selection.max_frames,
                     "largest number of frames per replica; default: all", whole_number(1));
  command
      .add_option("--replicas", selection.replicas, "replicas to use, counted from 0; default: all")
      ->one_value_each();
}

void analyse(TrajectoryTablesOptions& options) {
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

struct RdfArguments {
  std::vector<std::string> files, pairs{"OO", "OH", "HH"};
  double bin_width_A = 0.05;
  std::optional<double> r_max_A;
  io::FrameSelection frames;
  std::optional<int> beads;
  std::string out, plot;
};

std::array<bool, kPairClasses> pairs_of(const std::vector<std::string>& names) {
  const std::array<std::string, kPairClasses> known{"OO", "OH", "HH"};
  std::array<bool, kPairClasses> pairs{};
  for (const std::string& name : names) {
    const auto* const found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      throw InputError(fmt::format("--pairs {}: must be OO, OH or HH", name));
    }
    pairs[static_cast<std::size_t>(found - known.begin())] = true;
  }
  return pairs;
}

/// 12 A, or the nearest multiple of the bin width.
double default_r_max_A(double bin_width_A) {
  const double usual = TrajectoryRdfOptions{}.r_max_A;
  const double end = std::max(1.0, std::round(usual / bin_width_A)) * bin_width_A;
  return std::round(end * 1e9) / 1e9;  // 11.97 and not 11.970000000000001
}

void rdf(const RdfArguments& a) {
  const TableFiles files = table_files(a.out, a.plot, a.files);
  TrajectoryRdfOptions options;
  options.files = a.files;
  options.pairs = pairs_of(a.pairs);
  options.bin_width_A = a.bin_width_A;
  Terminal terminal(false);
  if (a.r_max_A) {
    options.r_max_A = *a.r_max_A;
  } else if (const double end = default_r_max_A(a.bin_width_A);
             end > 0.0 && end != options.r_max_A) {
    terminal.info(
        fmt::format("distances up to {:.9g} A, the multiple of the bin width nearest to {} A", end,
                    options.r_max_A));
    options.r_max_A = end;
  }
  options.frames = a.frames;
  options.beads = a.beads;
  const TrajectoryRdf result = rdf_of_trajectories(options, files.table);
  terminal.print(result.messages);
  terminal.info(fmt::format("{}, {} of {}", molecules_text(result.molecules, result.beads),
                            count_text(result.frames, "frame"),
                            count_text(result.replicas, "replica")));
  if (files.table.empty()) {
    fmt::print("{}", result.csv);
    return;
  }
  write_table(files, result.csv, terminal);
}

struct ConvertArguments {
  std::string trajectory, out, model;
  io::FrameSelection frames;
  std::optional<int> beads;
  bool sites = false, quiet = false;
};

void convert(const ConvertArguments& a, int& exit_code) {
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

void add_analyse(Command& app) {
  const auto [command, a] =
      app.add_subcommand("analyse",
                         "compute energies, shape, hydrogen bonds, dipole, density "
                         "profile and dynamics of trajectories",
                         analyse);
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
}

void add_rdf(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "rdf", "compute radial distribution functions of trajectories: " + io::format_names(), rdf);
  command->add_option("trajectories", a->files, "trajectories of one cluster; they are pooled")
      ->required();
  command->add_option("--pairs", a->pairs, "pairs of atoms; default: OO,OH,HH")
      ->delimiter(',')
      ->one_value_each();
  command->add_option("--bin-width-A", a->bin_width_A, "bin width [A]; default: 0.05");
  command->add_option("--r-max-A", a->r_max_A,
                      "largest distance [A]; default: 12, rounded to a multiple of the bin width");
  add_frame_selection(*command, a->frames);
  add_beads_option(*command, a->beads);
  command->add_option("-o,--out", a->out,
                      "CSV file; default: standard output, or next to the picture of --plot");
  command->add_option("--plot", a->plot, "picture, .svg or .png");
}

void add_convert(Command& app) {
  const auto [command, a] = app.add_subcommand(
      "convert", "convert a trajectory to another format: " + io::format_names(), convert);
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
}

}  // namespace tarn::cli
