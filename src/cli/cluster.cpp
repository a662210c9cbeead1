#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/formats.hpp"
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

void cluster(const Arguments& a) {
  if (a.starts > 0 && !a.minimise) throw InputError("--starts goes with --minimise only");
  io::format_for_writing(a.out);  // before a long search
  const WaterModel model = water_model_named(a.model);
  Terminal terminal(a.quiet);
  io::Structure structure;
  structure.molecules = a.molecules;
  structure.comment["model"] = a.model;
  if (!a.minimise) {
    structure.positions_A = random_cluster(model, a.molecules, a.seed, 0);
    terminal.say(fmt::format("random cluster of {} molecules", a.molecules));
  } else {
    const auto progress = [&](int done, int starts, double lowest) {
      if (done % std::max(1, starts / 10) == 0) {
        terminal.say(fmt::format("start {} of {}: lowest {:.6f} kcal/mol", done, starts, lowest));
      }
    };
    LowestCluster lowest = lowest_cluster(model, a.molecules, a.seed, a.starts, progress);
    structure.positions_A = std::move(lowest.positions_A);
    structure.comment["energy_kcal_per_mol"] = fmt::format("{:.17g}", lowest.energy_kcal_per_mol);
    fmt::print("{:.9f} kcal/mol, found by {} starts\n", lowest.energy_kcal_per_mol,
               lowest.starts_that_hit);
  }
  io::write_structure(a.out, structure);
  terminal.say("written: " + a.out);
}

}  // namespace

void add_cluster(CLI::App& app) {
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
  command->callback([a] { cluster(*a); });
}

}  // namespace tarn::cli
