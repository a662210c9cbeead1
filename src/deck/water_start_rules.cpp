#include <fmt/format.h>

#include "checker.hpp"
#include "system_limits.hpp"
#include "tarn/physics/isotopes.hpp"
#include "tarn/physics/water_model.hpp"
#include "water_keys.hpp"

namespace tarn::decks {
namespace {

void own_model_is_complete(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!checker.is_reliable({"system.model"})) return;
  const bool is_own = deck.system.model == kOwnModel;
  if (is_own && !deck.model) {
    return checker.problem(
        "system.model", "model = \"own\" needs a section [model] with the parameters of the model");
  }
  if (!deck.model) return;
  if (!is_own) {
    return checker.problem("system.model",
                           "[model] is not used with model = {}; remove one of them",
                           toml_string(deck.system.model));
  }
  require_keys(checker, {"model.oh_A", "model.hoh_degrees", "model.sigma_A",
                         "model.epsilon_kcal_per_mol", "model.charge_hydrogen_e"});
  if (!checker.is_reliable({"model.stretch"}) || deck.model->stretch == Stretch::rigid) return;
  require_keys(checker, {"model.bend_stiffness_kcal_per_mol_rad2"});
  if (deck.model->stretch == Stretch::harmonic) {
    require_keys(checker, {"model.stretch_stiffness_kcal_per_mol_A2"});
  } else {
    require_keys(checker, {"model.stretch_depth_kcal_per_mol", "model.stretch_alpha_per_A"});
  }
}

void molecule_counts_agree(Checker& checker) {
  const int wanted = checker.deck().system.molecules;
  const std::int64_t found = checker.molecules();
  const bool state = checker.has("system.state");
  const char* what = state ? "state" : "structure";
  if (found > kMaxMolecules) {
    checker.problem(state                         ? "system.state"
                    : checker.has("system.files") ? "system.files"
                                                  : "system.file",
                    "the {} has {} molecules; expected 1 to {}", what, found, kMaxMolecules);
  } else if (checker.has("system.molecules") && wanted != found) {
    checker.problem("system.molecules", "molecules = {}, but the {} has {}", wanted, what, found);
  }
}

void state_can_start_this_run(Checker& checker) {
  if (!checker.is_reliable({"system.replicas", "system.seed", "thermostat.kind"})) return;
  for (const KeyProblem& p : checker.start_problems()) checker.problem(p.key, p.message);
}

std::string problem_of_files(const Checker& checker) {
  const Deck& deck = checker.deck();
  const std::size_t temperatures = ladder_length(deck);
  const auto replicas = static_cast<std::size_t>(deck.system.replicas);
  const std::size_t ladders = (replicas + temperatures - 1) / temperatures;
  if (deck.system.files.size() <= ladders) return {};
  return fmt::format("files has {} structures, but there {} only {} {}{}; increase replicas",
                     deck.system.files.size(), ladders == 1 ? "is" : "are", ladders,
                     temperatures == 1 ? "replica" : "ladder", ladders == 1 ? "" : "s");
}

void state_fits_memory(Checker& c) {
  if (!c.is_reliable({"system.molecules", "system.replicas"})) return;
  const auto message =
      size_problem(c.molecules(), c.deck().system.replicas, beads_of(c.deck())).value_or("");
  c.problem_if(!message.empty(), c.has("system.replicas") ? "system.replicas" : "system.molecules",
               message);
}

std::string problem_of_velocities(const Checker& checker) {
  const bool has_file = checker.has("system.file") || checker.has("system.files");
  const bool has_state = checker.has("system.state");
  const VelocityKind velocities = checker.deck().system.velocities;
  if (velocities == VelocityKind::file && !has_file) {
    return fmt::format("velocities = \"file\" needs file or files, which the deck does not have{}",
                       has_state ? "; for velocities of the state write \"state\"" : "");
  }
  if (velocities != VelocityKind::state || has_state) return {};
  return fmt::format("velocities = \"state\" needs state, which the deck does not have{}",
                     has_file ? "; for velocities of the file write \"file\"" : "");
}

void kept_mass_is_classical(Checker& checker) {
  constexpr std::string_view kKey = "system.keep_molecule_mass";
  if (!checker.deck().system.keep_molecule_mass) return;
  if (!checker.has("system.hydrogen_mass_Da")) {
    if (!checker.is_reliable({"system.hydrogen_mass_Da"})) return;
    checker.problem(kKey, "keep_molecule_mass needs hydrogen_mass_Da, such as 3.024");
  }
  checker.problem_if(
      checker.has("system.oxygen_mass_Da"), kKey,
      "keep_molecule_mass computes the mass of the oxygen; remove it or oxygen_mass_Da");
  checker.problem_if(checker.deck().path_integral.has_value(), kKey,
                     "keep_molecule_mass is for classical runs: averages of quantum nuclei depend "
                     "on the masses. Remove it for isotopes, whose oxygen keeps its mass");
}

Rule isotope_rule() {
  Rule rule = limit(
      "`isotopes` has as many molecules as the cluster, or fewer if it is a table of numbers.",
      [](const Deck& deck, std::int64_t molecules) -> std::optional<std::string> {
        if (molecules == 0) return std::nullopt;
        return isotopes_problem(deck.system.isotopes, molecules);
      },
      "system.isotopes", {"system.molecules", "system.isotopes"});
  rule.section = "system";
  return rule;
}

}  // namespace

std::vector<Rule> model_rules() {
  return {
      {"`model = \"own\"` requires `[model]`, and no other `model` may be given with it. All keys "
       "of `[model]` except `om_A`, `gamma` and `stretch` are required.",
       own_model_is_complete, "model"},
  };
}

std::vector<Rule> start_rules() {
  return rules_of(
      "system",
      {{"`[system]` requires `molecules`, `file`, `files` or `state`.",
        [](Checker& c) {
          require_one_of(c, {"system.molecules", "system.file", "system.files", "system.state"},
                         "system.molecules", "[system] needs molecules, file, files or state");
        }},
       rule("`frame` requires `file`.", "system.frame", {"system.frame", "system.file"},
            "frame needs file, which [system] does not have",
            [](const Checker& c) {
              return c.has("system.frame") && !c.has("system.file") && !c.has("system.files") &&
                     !c.has("system.state");
            }),
       {"If both `molecules` and `file`, `files` or `state` are given, the numbers of molecules "
        "must match.",
        molecule_counts_agree},
       {"The run of `state` must have the same number of replicas as the deck, or one, and none "
        "that failed. With a thermostat in both runs the values of `seed` must differ.",
        state_can_start_this_run},
       rule("`files` has at most as many structures as there are ladders; without several "
            "temperatures, as replicas.",
            "system.files", {"system.files", "system.replicas", "thermostat.temperatures_K"},
            problem_of_files),
       {"`molecules` times `replicas` is at most 10⁸.", state_fits_memory},
       rule("Drawn `velocities` require `[system] temperature_K` or a thermostat.",
            "system.velocities", {"system.velocities", "system.temperature_K", "thermostat.kind"},
            "these velocities need [system] temperature_K or a thermostat",
            [](const Checker& c) {
              return c.has("system.velocities") && !c.has("system.temperature_K") &&
                     is_drawn(c.deck().system.velocities) &&
                     c.deck().thermostat.kind == Thermostat::none;
            }),
       rule("`velocities = \"file\"` requires a `file` or `files` with velocities, and `\"state\"` "
            "requires `state`.",
            "system.velocities",
            {"system.velocities", "system.file", "system.files", "system.state"},
            problem_of_velocities),
       rule("`remove_momentum` without a thermostat requires two or more molecules.",
            "system.remove_momentum",
            {"system.molecules", "system.remove_momentum", "thermostat.kind"},
            [](const Checker& c) {
              return lone_molecule_problem(c.deck(), c.deck().system.molecules).value_or("");
            }),
       {"`keep_molecule_mass` requires `hydrogen_mass_Da`, and excludes `oxygen_mass_Da` and "
        "`[path_integral]`, whose averages depend on the masses.",
        kept_mass_is_classical},
       isotope_rule(),
       rule("`isotopes` requires `precision` double or mixed.", "run.precision", {"run.precision"},
            "precision = \"single\" does not support isotopes; use \"mixed\" or \"double\"",
            [](const Checker& c) {
              return !c.deck().system.isotopes.empty() &&
                     c.deck().run.precision == Precision::single;
            }),
       rule("`relax = true` requires finite `omega`.", "system.relax", {},
            "relax = true needs finite omega: rigid bonds do not stretch",
            [](const Checker& c) {
              return has_infinite_penalty(c) && c.has("system.relax") && c.deck().system.relax;
            }),
       rule("`project = \"slow-manifold\"` requires finite `omega`.", "system.project",
            {"system.project"},
            "project = \"slow-manifold\" needs finite omega: rigid bonds do not vibrate",
            [](const Checker& c) {
              return has_infinite_penalty(c) && c.deck().system.project != StartProjection::none;
            })});
}

}  // namespace tarn::decks
