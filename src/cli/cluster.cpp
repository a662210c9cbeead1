#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/io/xyz.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"
#include "water_models.hpp"
#include "whole_number.hpp"

namespace tarn::cli {
namespace {

struct Arguments {
  int molecules = 0;
  std::uint64_t seed = 1;
  std::string model = "tip3p", out;
  bool minimise = false, quiet = false;
  int starts = 0, hops = 0;  // 0: by the number of molecules
  int threads = 0, keep = 1;
};

/// As frames of one file, from the lowest on.
void write_minima(const std::string& path, std::string_view model,
                  const std::vector<FoundMinimum>& minima) {
  std::string text;
  for (std::size_t i = 0; i < minima.size(); ++i) {
    const FoundMinimum& m = minima[i];
    text += io::xyz_frame(m.positions_A, {},
                          fmt::format("model={} energy_kcal_per_mol={:.17g} starts={} minimum={}",
                                      model, m.energy_kcal_per_mol, m.starts_that_hit, i));
  }
  io::write_file(path, text);
}

void cluster(const Arguments& a, int& exit_code) {
  if (a.starts > 0 && !a.minimise) throw InputError("--starts goes with --minimise only");
  if (a.hops > 0 && !a.minimise) throw InputError("--hops goes with --minimise only");
  if (a.keep > 1 && !a.minimise) throw InputError("--keep goes with --minimise only");
  // Before a long search.
  check_structure_path(a.out);
  if (a.keep > 1 && io::format_for_writing(a.out).id != io::FileFormat::xyz) {
    throw InputError(
        fmt::format("-o {}: --keep writes several frames, as extended XYZ: give a name that ends "
                    "with .xyz",
                    a.out));
  }
  const WaterModel model = water_model_named(a.model);
  Terminal terminal(a.quiet);
  io::Structure structure;
  structure.molecules = a.molecules;
  structure.comment["model"] = model.name;
  if (!a.minimise) {
    structure.positions_A = random_cluster(model, a.molecules, a.seed, 0);
    terminal.say(fmt::format("random cluster of {}", counted(a.molecules, "molecule")));
  } else {
    NowAndThen is_due;
    const auto progress = [&](int done, int starts, double lowest) {
      if (!is_due(done % std::max(1, starts / 10) == 0)) return;
      terminal.say(fmt::format("start {} of {}: lowest {:.6f} kcal/mol", done, starts, lowest));
    };
    catch_interrupts();
    LowestCluster lowest = lowest_cluster(model, a.molecules, a.seed,
                                          {.starts = a.starts,
                                           .hops = a.hops,
                                           .keep = a.keep,
                                           .threads = a.threads,
                                           .progress = progress,
                                           .should_continue = [] { return !interrupted(); }});
    if (interrupted()) {
      exit_code = interrupted_exit_code();
      terminal.warning(fmt::format("interrupted: the lowest of {}, not followed to the end",
                                   counted(lowest.starts_done, "start")));
    }
    fmt::print("{:.9f} kcal/mol, found by {}\n", lowest.energy_kcal_per_mol,
               counted(lowest.starts_that_hit, "start"));
    if (lowest.starts_that_hit == 1 && lowest.starts_done > 1) {
      terminal.warning(fmt::format(
          "found by 1 start only, of {}: there may be lower ones; more --starts or --hops",
          lowest.starts_done));
    }
    if (a.keep > 1) {
      write_minima(a.out, model.name, lowest.minima);
      if (static_cast<int>(lowest.minima.size()) < a.keep) {
        terminal.warning(fmt::format("no more than {} met; more --starts may find others",
                                     lowest.minima.size() == 1
                                         ? std::string("1 minimum was")
                                         : fmt::format("{} minima were", lowest.minima.size())));
      }
      terminal.say(fmt::format("written: {}, {}", a.out,
                               lowest.minima.size() == 1
                                   ? std::string("1 minimum")
                                   : fmt::format("{} minima", lowest.minima.size())));
      return;
    }
    structure = minimum_structure(std::string(model.name), std::move(lowest.positions_A),
                                  lowest.energy_kcal_per_mol);
  }
  io::write_structure(a.out, structure);
  terminal.say("written: " + a.out);
}

}  // namespace

void add_cluster(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("cluster", "make a structure: random, or a minimum");
  command->add_option("--molecules", a->molecules, "number of molecules")
      ->required()
      ->check(whole_number(1, kMaxMolecules));
  command->add_option("--seed", a->seed, "seed of the random numbers; default 1")
      ->check(whole_number(0));
  command->add_option("--model", a->model, std::string(kModelHelp) + "; default tip3p");
  command->add_flag("--minimise", a->minimise, "search for the lowest minimum of rigid molecules");
  command
      ->add_option("--starts", a->starts,
                   "independent searches; default enough for the lowest minimum up to N = 8, or as "
                   "many as make as many hops in all")
      ->check(whole_number(1, std::numeric_limits<int>::max()));
  command
      ->add_option("--hops", a->hops,
                   "hops of each search from minimum to minimum; default 50 up to N = 8, and more "
                   "beyond")
      ->check(whole_number(1, std::numeric_limits<int>::max()));
  command
      ->add_option("--keep", a->keep,
                   "how many of the lowest distinct minima to write, as frames of one .xyz; "
                   "default 1")
      ->check(whole_number(1, 10'000));
  command->add_option("--threads", a->threads, "threads of the CPU; default 0: all of them")
      ->check(number_of_threads());
  command->add_option("-o,--out", a->out, "file to write: .xyz, .gro or .pdb")->required();
  command->add_flag("--quiet", a->quiet, "no progress");
  command->callback([a, &exit_code] { cluster(*a, exit_code); });
}

}  // namespace tarn::cli
