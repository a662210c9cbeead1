#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "structure_files.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/structure.hpp"
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
  int starts = 0;  // 0: by the number of molecules
};

void cluster(const Arguments& a, int& exit_code) {
  if (a.starts > 0 && !a.minimise) throw InputError("--starts goes with --minimise only");
  // Before a long search.
  check_structure_path(a.out);
  const WaterModel model = water_model_named(a.model);
  Terminal terminal(a.quiet);
  io::Structure structure;
  structure.molecules = a.molecules;
  structure.comment["model"] = a.model;
  if (!a.minimise) {
    structure.positions_A = random_cluster(model, a.molecules, a.seed, 0);
    terminal.say(fmt::format("random cluster of {} molecules", a.molecules));
  } else {
    NowAndThen is_due;
    const auto progress = [&](int done, int starts, double lowest) {
      if (!is_due(done % std::max(1, starts / 10) == 0)) return;
      terminal.say(fmt::format("start {} of {}: lowest {:.6f} kcal/mol", done, starts, lowest));
    };
    catch_interrupts();
    LowestCluster lowest = lowest_cluster(model, a.molecules, a.seed, a.starts, progress, 0,
                                          [] { return !interrupted(); });
    if (interrupted()) {
      exit_code = interrupted_exit_code();
      terminal.warning(fmt::format("interrupted: the lowest of {} starts, not followed to the end",
                                   lowest.starts_done));
    }
    structure =
        minimum_structure(a.model, std::move(lowest.positions_A), lowest.energy_kcal_per_mol);
    fmt::print("{:.9f} kcal/mol, found by {} starts\n", lowest.energy_kcal_per_mol,
               lowest.starts_that_hit);
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
  command->add_option("--model", a->model, "water model; default tip3p");
  command->add_flag("--minimise", a->minimise, "search for the lowest minimum of rigid molecules");
  command
      ->add_option("--starts", a->starts,
                   "independent searches; default enough for the lowest minimum up to N = 8")
      ->check(whole_number(1, std::numeric_limits<int>::max()));
  command->add_option("-o,--out", a->out, "file to write: .xyz, .gro or .pdb")->required();
  command->add_flag("--quiet", a->quiet, "no progress");
  command->callback([a, &exit_code] { cluster(*a, exit_code); });
}

}  // namespace tarn::cli
