#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "command.hpp"
#include "observe/trajectory_tables.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/formats.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
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

void rdf(const Arguments& a) {
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

}  // namespace

void add_rdf(Command& app, int& /*exit_code*/) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "rdf", "compute radial distribution functions of trajectories: " + io::format_names());
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
  command->callback([a] { rdf(*a); });
}

}  // namespace tarn::cli
