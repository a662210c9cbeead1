#include <fmt/format.h>

#include "checker.hpp"
#include "system_limits.hpp"
#include "tarn/physics/isotopes.hpp"
#include "tarn/physics/water_model.hpp"
#include "water_keys.hpp"

namespace tarn::decks {
namespace {

void start_is_given(Checker& checker) {
  require_one_of(checker, {"system.molecules", "system.file", "system.files", "system.state"},
                 "system.molecules", "[system] needs molecules, file, files or state");
}

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
                           fmt::format("[model] is not used with model = {}; remove one of them",
                                       toml_string(deck.system.model)));
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

void frame_needs_file(Checker& checker) {
  if (!checker.has("system.frame") || !checker.is_reliable({"system.frame", "system.file"})) return;
  if (checker.has("system.file") || checker.has("system.files") || checker.has("system.state"))
    return;
  checker.problem("system.frame", "frame needs file, which [system] does not have");
}

void molecule_counts_agree(Checker& checker) {
  const int wanted = checker.deck().system.molecules;
  const std::int64_t found = checker.molecules();
  const bool state = checker.has("system.state");
  const char* what = state ? "state" : "structure";
  if (found > kMaxMolecules) {
    checker.problem(
        state                         ? "system.state"
        : checker.has("system.files") ? "system.files"
                                      : "system.file",
        fmt::format("the {} has {} molecules; expected 1 to {}", what, found, kMaxMolecules));
  } else if (checker.has("system.molecules") && wanted != found) {
    checker.problem("system.molecules",
                    fmt::format("molecules = {}, but the {} has {}", wanted, what, found));
  }
}

void state_can_start_this_run(Checker& checker) {
  if (!checker.is_reliable({"system.replicas", "system.seed", "thermostat.kind"})) return;
  for (const KeyProblem& p : checker.start_problems()) checker.problem(p.key, p.message);
}

void ladders_take_all_files(Checker& checker) {
  if (!checker.is_reliable({"system.files", "system.replicas", "thermostat.temperatures_K"}))
    return;
  const Deck& deck = checker.deck();
  const std::size_t temperatures = ladder_length(deck);
  const auto replicas = static_cast<std::size_t>(deck.system.replicas);
  const std::size_t ladders = (replicas + temperatures - 1) / temperatures;
  if (deck.system.files.size() <= ladders) return;
  checker.problem(
      "system.files",
      fmt::format("files has {} structures, but there {} only {} {}{}; increase replicas",
                  deck.system.files.size(), ladders == 1 ? "is" : "are", ladders,
                  temperatures == 1 ? "replica" : "ladder", ladders == 1 ? "" : "s"));
}

void state_fits_memory(Checker& checker) {
  if (!checker.is_reliable({"system.molecules", "system.replicas"})) return;
  const SystemSection& system = checker.deck().system;
  const auto message = size_problem(checker.molecules(), system.replicas, beads_of(checker.deck()));
  if (!message) return;
  checker.problem(checker.has("system.replicas") ? "system.replicas" : "system.molecules",
                  *message);
}

void velocities_have_a_temperature(Checker& checker) {
  if (!checker.is_reliable({"system.velocities", "system.temperature_K", "thermostat.kind"}))
    return;
  if (!checker.has("system.velocities") || checker.has("system.temperature_K")) return;
  if (!is_drawn(checker.deck().system.velocities)) return;
  if (checker.deck().thermostat.kind != Thermostat::none) return;
  checker.problem("system.velocities",
                  "these velocities need [system] temperature_K or a thermostat");
}

void velocities_have_a_source(Checker& checker) {
  if (!checker.is_reliable({"system.velocities", "system.file", "system.files", "system.state"}))
    return;
  const bool has_file = checker.has("system.file") || checker.has("system.files");
  const VelocityKind velocities = checker.deck().system.velocities;
  if (velocities == VelocityKind::file && !has_file) {
    checker.problem(
        "system.velocities",
        fmt::format(
            "velocities = \"file\" needs file or files, which the deck does not have{}",
            checker.has("system.state") ? "; for velocities of the state write \"state\"" : ""));
  } else if (velocities == VelocityKind::state && !checker.has("system.state")) {
    checker.problem(
        "system.velocities",
        fmt::format("velocities = \"state\" needs state, which the deck does not have{}",
                    has_file ? "; for velocities of the file write \"file\"" : ""));
  }
}

void single_molecule_keeps_momentum(Checker& checker) {
  if (!checker.is_reliable({"system.molecules", "system.remove_momentum", "thermostat.kind"}))
    return;
  if (const auto problem = lone_molecule_problem(checker.deck(), checker.deck().system.molecules)) {
    checker.problem("system.remove_momentum", *problem);
  }
}

void kept_mass_is_classical(Checker& checker) {
  if (!checker.deck().system.keep_molecule_mass) return;
  if (!checker.has("system.hydrogen_mass_Da")) {
    if (!checker.is_reliable({"system.hydrogen_mass_Da"})) return;
    checker.problem("system.keep_molecule_mass",
                    "keep_molecule_mass needs hydrogen_mass_Da, such as 3.024");
  }
  if (checker.has("system.oxygen_mass_Da")) {
    checker.problem(
        "system.keep_molecule_mass",
        "keep_molecule_mass computes the mass of the oxygen; remove it or oxygen_mass_Da");
  }
  if (checker.deck().path_integral) {
    checker.problem("system.keep_molecule_mass",
                    "keep_molecule_mass is for classical runs: averages of quantum nuclei depend "
                    "on the masses. Remove it for isotopes, whose oxygen keeps its mass");
  }
}

void isotopes_have_double_steps(Checker& checker) {
  if (checker.deck().system.isotopes.empty() || !checker.is_reliable({"run.precision"})) return;
  if (checker.deck().run.precision != Precision::single) return;
  checker.problem("run.precision",
                  "precision = \"single\" does not support isotopes; use \"mixed\" or \"double\"");
}

void relax_needs_finite_omega(Checker& checker) {
  if (!has_infinite_penalty(checker) || !checker.has("system.relax")) return;
  if (!checker.deck().system.relax) return;
  checker.problem("system.relax", "relax = true needs finite omega: rigid bonds do not stretch");
}

void project_needs_finite_omega(Checker& checker) {
  if (!has_infinite_penalty(checker) || !checker.is_reliable({"system.project"})) return;
  if (checker.deck().system.project == StartProjection::none) return;
  checker.problem("system.project",
                  "project = \"slow-manifold\" needs finite omega: rigid bonds do not vibrate");
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
  return {
      {"`[system]` requires `molecules`, `file`, `files` or `state`.", start_is_given, "system"},
      {"`frame` requires `file`.", frame_needs_file, "system"},
      {"If both `molecules` and `file`, `files` or `state` are given, the numbers of molecules "
       "must match.",
       molecule_counts_agree, "system"},
      {"The run of `state` must have the same number of replicas as the deck, or one, and none "
       "that failed. With a thermostat in both runs the values of `seed` must differ.",
       state_can_start_this_run, "system"},
      {"`files` has at most as many structures as there are ladders; without several temperatures, "
       "as replicas.",
       ladders_take_all_files, "system"},
      {"`molecules` times `replicas` is at most 10⁸.", state_fits_memory, "system"},
      {"Drawn `velocities` require `[system] temperature_K` or a thermostat.",
       velocities_have_a_temperature, "system"},
      {"`velocities = \"file\"` requires a `file` or `files` with velocities, and `\"state\"` "
       "requires `state`.",
       velocities_have_a_source, "system"},
      {"`remove_momentum` without a thermostat requires two or more molecules.",
       single_molecule_keeps_momentum, "system"},
      {"`keep_molecule_mass` requires `hydrogen_mass_Da`, and excludes `oxygen_mass_Da` and "
       "`[path_integral]`, whose averages depend on the masses.",
       kept_mass_is_classical, "system"},
      isotope_rule(),
      {"`isotopes` requires `precision` double or mixed.", isotopes_have_double_steps, "system"},
      {"`relax = true` requires finite `omega`.", relax_needs_finite_omega, "system"},
      {"`project = \"slow-manifold\"` requires finite `omega`.", project_needs_finite_omega,
       "system"},
  };
}

}  // namespace tarn::decks
