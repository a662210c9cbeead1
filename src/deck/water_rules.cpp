#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "checker.hpp"
#include "core/text.hpp"
#include "steps/step_parameters.hpp"
#include "system_limits.hpp"
#include "tarn/core/units.hpp"
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

void infinite_omega_needs_gauss_newton(Checker& checker) {
  if (!has_infinite_penalty(checker)) return;
  const IntegratorSection& integrator = checker.deck().integrator;
  if (integrator.scheme == Scheme::verlet || integrator.scheme == Scheme::newmark_one_step) {
    checker.problem("integrator.omega", "scheme = \"{}\" needs finite omega",
                    integrator.scheme == Scheme::verlet ? "verlet" : "newmark-one-step");
  } else if (integrator.scheme == Scheme::zss_stiff &&
             checker.is_reliable({"integrator.hessian"}) &&
             integrator.hessian != Hessian::gauss_newton) {
    checker.problem("integrator.hessian", "this Hessian needs finite omega; use \"gauss-newton\"");
  }
}

void study_hessians_need_zss_stiff(Checker& checker) {
  if (!checker.is_reliable({"integrator.scheme", "integrator.hessian"})) return;
  const IntegratorSection& integrator = checker.deck().integrator;
  const bool for_study =
      integrator.hessian == Hessian::molecule || integrator.hessian == Hessian::total;
  checker.problem_if(integrator.scheme == Scheme::newmark_one_step && for_study,
                     "integrator.hessian",
                     "newmark-one-step needs hessian = \"gauss-newton\" or \"full\"");
  if (!checker.is_reliable({"system.molecules"})) return;
  const auto problem = total_hessian_problem(integrator, checker.molecules());
  checker.problem_if(problem.has_value(), "integrator.hessian", problem.value_or(""));
}

void single_precision_supports_scheme(Checker& checker) {
  if (!checker.is_reliable({"integrator.scheme", "integrator.solver", "integrator.hessian",
                            "integrator.timestep_fs", "run.precision"})) {
    return;
  }
  const IntegratorSection& i = checker.deck().integrator;
  if (checker.deck().run.precision != Precision::single) return;
  if (i.scheme == Scheme::newmark_one_step) {
    checker.problem(
        "run.precision",
        "newmark-one-step does not support precision = \"single\"; use \"mixed\" or \"double\"");
  } else if (i.scheme == Scheme::zss_stiff &&
             (i.solver == Solver::dense || i.hessian == Hessian::molecule ||
              i.hessian == Hessian::total)) {
    checker.problem("run.precision",
                    "precision = \"single\" needs solver = \"structured\" and hessian = "
                    "\"gauss-newton\" or \"full\"");
  } else if (units::akma_from_fs(i.timestep_fs) > kLargestSingleStep) {
    checker.problem("integrator.timestep_fs",
                    "precision = \"single\" supports time steps up to {:.0f} fs",
                    std::floor(units::ps_from_akma(kLargestSingleStep) * 1e3));
  } else if (i.scheme == Scheme::zss_stiff && checker.is_reliable({"integrator.omega"}) &&
             !is_flexible(checker.deck()) &&
             units::akma_from_fs(i.timestep_fs) * i.omega < kLeastSingleHOmega) {
    checker.problem(
        "integrator.omega",
        "1/(h omega)^2 is too large for precision = \"single\"; increase omega or the time step");
  }
}

void thermostat_is_complete(Checker& checker) {
  if (!checker.is_reliable({"thermostat.kind"})) return;
  if (checker.deck().thermostat.kind == Thermostat::none) return;
  require_one_of(checker, {"thermostat.temperature_K", "thermostat.temperatures_K"},
                 "thermostat.kind", "this thermostat needs temperature_K or temperatures_K");
  require_one_of(checker, {"thermostat.friction_per_ps", "thermostat.friction_amu_per_ps"},
                 "thermostat.kind", "this thermostat needs friction_per_ps or friction_amu_per_ps");
}

void path_integral_is_possible(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.path_integral) return;
  if (!checker.is_reliable({"system.model", "model.stretch", "integrator.scheme", "run.precision",
                            "path_integral.method", "thermostat.kind"})) {
    return;
  }
  if (!is_flexible(deck)) {
    return checker.problem("path_integral.beads", "[path_integral] needs a flexible model: {}",
                           flexible_model_names());
  }
  const bool warm = deck.thermostat.kind != Thermostat::none;
  const RingMethod method = deck.path_integral->method;
  const bool rpmd = method == RingMethod::rpmd, pimd = method == RingMethod::pimd;
  checker.problem_if(deck.integrator.scheme != Scheme::verlet, "integrator.scheme",
                     "[path_integral] needs scheme = \"verlet\"");
  checker.problem_if(deck.run.precision == Precision::single, "run.precision",
                     "[path_integral] needs precision = \"double\" or \"mixed\"");
  checker.problem_if(deck.exchange && !pimd, "exchange.every",
                     "[exchange] of ring polymers needs method = \"pimd\": an exchange would break "
                     "the dynamics of the other methods");
  checker.problem_if(!rpmd && !warm, "path_integral.method",
                     "this method needs a thermostat; only \"rpmd\" runs at constant energy");
  checker.problem_if(rpmd && warm, "path_integral.method",
                     "\"rpmd\" runs without a thermostat; use \"pimd\" or \"trpmd\" with one");
  if (rpmd && !warm) require_keys(checker, {"path_integral.temperature_K"});
  checker.problem_if(
      !pimd && checker.is_reliable({"path_integral.frequencies"}) &&
          deck.path_integral->frequencies == RingFrequencies::economised,
      "path_integral.frequencies",
      "\"rpmd\" and \"trpmd\" require frequencies = \"trotter\": their dynamics is that of springs "
      "between neighbouring beads. Economised frequencies are for averages (\"pimd\")");
}

void ring_polymers_are_warm(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.path_integral || deck.path_integral->beads == 1) return;
  if (!checker.is_reliable({"path_integral.beads", "thermostat.kind"})) return;
  if (deck.thermostat.kind == Thermostat::none) return;
  const std::vector<double>& all_K = deck.thermostat.temperatures_K;
  const bool cold = std::find(all_K.begin(), all_K.end(), 0.0) != all_K.end();
  const std::string message =
      "ring polymers need temperatures above 0: their springs are proportional to the temperature";
  if (checker.number("thermostat.temperature_K") == 0.0) {
    checker.problem("thermostat.temperature_K", message);
  } else if (cold) {
    checker.problem("thermostat.temperatures_K", message);
  }
}

bool is_ascending(const std::vector<double>& v) {
  return std::adjacent_find(v.begin(), v.end(), std::greater_equal<>()) == v.end();
}

/// Calls op(section, its name) for each bias of a deck.
template <class Op>
void for_each_bias(const Deck& deck, const Op& op) {
  if (deck.bias) op(*deck.bias, std::string("bias"));
  if (deck.bias_2) op(*deck.bias_2, std::string("bias_2"));
  if (deck.bias_3) op(*deck.bias_3, std::string("bias_3"));
  if (deck.bias_4) op(*deck.bias_4, std::string("bias_4"));
}
void biases_are_complete(Checker& checker) {
  const Deck& deck = checker.deck();
  int with_windows = 0;
  for_each_bias(deck, [&](const BiasSection& bias, const std::string& name) {
    if (!checker.is_reliable({name + ".coordinate"})) return;
    const bool contacts = bias.coordinate == BiasCoordinate::contacts;
    const std::string centres = name + (contacts ? ".centres" : ".centres_A");
    const std::string stiffness =
        name + (contacts ? ".stiffness_kcal_per_mol" : ".stiffness_kcal_per_mol_A2");
    require_keys(checker, {centres, stiffness});
    const std::vector<double> windows = bias_spec(bias).centres;
    checker.problem_if(!is_ascending(windows), centres, "the centres must be in ascending order");
    const auto length = static_cast<int>(windows.size());
    if (length < 2) return;
    checker.problem_if(++with_windows == 2, centres, "only one [[bias]] can have several centres");
    const int replicas = deck.system.replicas;
    if (checker.is_reliable({"system.replicas"}) && replicas % length != 0) {
      checker.problem(
          "system.replicas",
          "replicas = {} is not a multiple of the {} windows of [bias]; write replicas = {}",
          replicas, length, (replicas + length - 1) / length * length);
    }
    checker.problem_if(has_several_baths(bath_temperatures_K(deck)), "thermostat.temperatures_K",
                       "several temperatures and several windows of [bias] exclude each other");
    checker.problem_if(deck.thermostat.kind == Thermostat::none, centres,
                       "windows need a thermostat");
  });
  if (!deck.bias) return;
  checker.problem_if(deck.run.precision == Precision::single, "run.precision",
                     "[bias] needs precision = \"double\" or \"mixed\"");
  checker.problem_if(deck.exchange && with_windows == 0 && deck.path_integral, "bias.coordinate",
                     "[bias] with one centre does not support [exchange] of ring polymers");
  checker.problem_if(deck.multipliers.has_value(), "observe.multipliers.every",
                     "[observe.multipliers] does not support [bias]");
}

std::optional<std::string> bias_problem(const Deck& deck, std::int64_t molecules) {
  std::optional<std::string> problem;
  for_each_bias(deck, [&](const BiasSection& section, const std::string&) {
    const BiasSpec bias = bias_spec(section);
    const bool pair = bias.coordinate == BiasCoordinate::distance;
    if (molecules < 2) problem = "a bias needs at least two molecules";
    for (const double m : section.molecules) {
      if (m == std::floor(m) && m < static_cast<double>(molecules)) continue;
      problem = fmt::format("molecules = {:g}: the molecules are 0 to {}", m, molecules - 1);
    }
    const std::size_t given = section.molecules.size();
    if ((given != 0 && given != (pair ? 2 : 1)) ||
        (pair && bias.molecules[0] == bias.molecules[1])) {
      problem = pair ? "a distance needs two different molecules, such as molecules = [0, 1]"
                     : "a separation needs one molecule, such as molecules = [0]";
    }
  });
  return problem;
}

void exchange_ladders_are_complete(Checker& checker) {
  if (!checker.deck().exchange || has_windows(checker.deck())) return;
  if (!checker.is_reliable({"thermostat.kind", "thermostat.temperatures_K"})) return;
  const ThermostatSection& thermostat = checker.deck().thermostat;
  if (thermostat.kind == Thermostat::none || !checker.has("thermostat.temperatures_K")) {
    checker.problem("exchange.every", "[exchange] needs a thermostat with temperatures_K");
    return;
  }
  const std::vector<double>& ladder_K = thermostat.temperatures_K;
  checker.problem_if(ladder_K.size() < 2 || ladder_K.front() <= 0.0 || !is_ascending(ladder_K),
                     "thermostat.temperatures_K",
                     "[exchange] needs at least two temperatures, above 0 and in ascending order");
  const auto length = static_cast<int>(ladder_K.size());
  const int replicas = checker.deck().system.replicas;
  if (!checker.is_reliable({"system.replicas"}) || replicas < length || replicas % length == 0)
    return;
  checker.problem("system.replicas",
                  "replicas = {1} is not a multiple of the {0} temperatures of [exchange]; write "
                  "replicas = {2}",
                  length, replicas, replicas / length * length);
}

std::string problem_of_duration(const Checker& checker) {
  const auto duration_ps = checker.number("run.duration_ps");
  const double timestep_fs = checker.deck().integrator.timestep_fs;
  if (!duration_ps || whole_steps(*duration_ps, timestep_fs) <= static_cast<double>(kMaxSteps))
    return {};
  return fmt::format("duration_ps = {} exceeds {} steps of {} fs", number_text(*duration_ps),
                     kMaxSteps, number_text(timestep_fs));
}

std::string problem_of_equilibration(const Checker& checker) {
  const auto steps = checker.number("run.steps");
  const auto duration_ps = checker.number("run.duration_ps");
  const double equilibration_ps = checker.deck().run.equilibration_ps;
  if (equilibration_ps == 0.0 || (!steps && !duration_ps)) return {};
  const double length_ps =
      steps ? *steps * checker.deck().integrator.timestep_fs * 1e-3 : *duration_ps;
  // steps * h has round-off.
  if (equilibration_ps < length_ps * (1.0 - 1e-12)) return {};
  return fmt::format("equilibration_ps = {} must be less than the length of the run, {} ps",
                     number_text(equilibration_ps), number_text(length_ps));
}

}  // namespace

bool has_windows(const Deck& deck) {
  bool any = false;
  for_each_bias(deck, [&](const BiasSection& bias, const std::string&) {
    any = any || bias_spec(bias).has_windows();
  });
  return any;
}

bool has_infinite_penalty(const Checker& checker) {
  return checker.is_reliable({"integrator.scheme", "integrator.omega"}) &&
         !is_rigid(checker.deck().integrator.scheme) && std::isinf(checker.deck().integrator.omega);
}

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

std::vector<Rule> scheme_rules() {
  return joined<Rule>(
      {rules_of(
           "integrator",
           {rule("Flexible models require `verlet` or `zss-stiff`.", "integrator.scheme",
                 {"system.model", "model.stretch", "integrator.scheme"},
                 fmt::format("flexible models need scheme = \"verlet\" or \"zss-stiff\". Rigid "
                             "models, for all schemes: {}",
                             rigid_model_names()),
                 [](const Checker& c) {
                   const Scheme scheme = c.deck().integrator.scheme;
                   return is_flexible(c.deck()) && scheme != Scheme::verlet &&
                          scheme != Scheme::zss_stiff;
                 }),
            rule("`solver = \"dense\"` requires finite `omega`.", "integrator.solver",
                 {"integrator.solver"}, "solver = \"dense\" needs finite omega; use \"structured\"",
                 [](const Checker& c) {
                   return has_infinite_penalty(c) && c.deck().integrator.solver == Solver::dense;
                 }),
            {"Infinite `omega` requires `pushforward-newmark`, or `zss-stiff` with `hessian = "
             "\"gauss-newton\"`.",
             infinite_omega_needs_gauss_newton},
            {"`hessian = \"molecule\"` and `\"total\"` require `zss-stiff`; `\"total\"` supports "
             "at most 128 molecules.",
             study_hessians_need_zss_stiff},
            rule("`newmark-one-step` does not support `kind = \"baoab\"`.", "thermostat.kind",
                 {"integrator.scheme", "thermostat.kind"},
                 "newmark-one-step does not support kind = \"baoab\", which splits its linear "
                 "solve; use \"gla\"",
                 [](const Checker& c) {
                   return c.deck().integrator.scheme == Scheme::newmark_one_step &&
                          c.deck().thermostat.kind == Thermostat::baoab;
                 }),
            rule("`pushforward-newmark` requires `precision = \"double\"`.", "run.precision",
                 {"integrator.scheme", "run.precision"},
                 "pushforward-newmark is solved to round-off and needs precision = \"double\"",
                 [](const Checker& c) {
                   return c.deck().integrator.scheme == Scheme::pushforward_newmark &&
                          c.deck().run.precision != Precision::double_;
                 })}),
       {{"`precision = \"single\"` supports steps up to 12 fs, but not `newmark-one-step`. With it "
         "`zss-stiff` requires `solver = \"structured\"`, `hessian = \"gauss-newton\"` or "
         "`\"full\"`, and h omega of at least 10⁻⁵.",
         single_precision_supports_scheme, "run"}}});
}

std::vector<Rule> run_rules() {
  return joined<Rule>(
      {rules_of(
           "thermostat",
           {{"A thermostat other than `none` requires exactly one of `temperature_K` and "
             "`temperatures_K`, and exactly one of `friction_per_ps` and `friction_amu_per_ps`.",
             thermostat_is_complete},
            rule("`temperatures_K` contains at most one number per replica.",
                 "thermostat.temperatures_K", {"thermostat.temperatures_K", "system.replicas"},
                 [](const Checker& c) -> std::string {
                   const std::size_t count = c.deck().thermostat.temperatures_K.size();
                   const int replicas = c.deck().system.replicas;
                   if (count <= static_cast<std::size_t>(replicas)) return {};
                   return fmt::format("{} temperatures for {}; expected at most one per replica",
                                      count, count_text(replicas, "replica"));
                 })}),
       {{"`[exchange]` requires windows of a `[bias]`, or a thermostat with two or more "
         "`temperatures_K`, above 0 and in ascending order, of whose number `replicas` is a "
         "multiple.",
         exchange_ladders_are_complete, "exchange"},
        {"`[path_integral]` requires a flexible model, `verlet` and `precision` other than "
         "`single`. `pimd` and `trpmd` require a thermostat; `rpmd` excludes one and requires "
         "`temperature_K`. `rpmd` and `trpmd` require `frequencies = \"trotter\"` and exclude "
         "`[exchange]`.",
         path_integral_is_possible, "path_integral"},
        {"Several `beads` require temperatures above 0.", ring_polymers_are_warm, "path_integral"},
        {"`[confinement]` requires `radius_A` and `stiffness_kcal_per_mol_A2`.",
         [](Checker& c) {
           if (!c.deck().confinement) return;
           require_keys(c, {"confinement.radius_A", "confinement.stiffness_kcal_per_mol_A2"});
         },
         "confinement"},
        {"`[bias]` requires centres and a stiffness, with windows also a thermostat with one "
         "temperature and a multiple of their number of replicas.",
         biases_are_complete, "bias", bias_problem}},
       rules_of("run", {{"`[run]` requires exactly one of `steps` and `duration_ps`.",
                         [](Checker& c) {
                           require_one_of(c, {"run.steps", "run.duration_ps"}, "run.steps",
                                          "[run] needs steps or duration_ps");
                         }},
                        rule("`duration_ps` is at most 10¹² steps.", "run.duration_ps",
                             {"integrator.timestep_fs"}, problem_of_duration),
                        rule("`equilibration_ps` is less than the length of the run.",
                             "run.equilibration_ps", with_length_and({"run.equilibration_ps"}),
                             problem_of_equilibration)})});
}

}  // namespace tarn::decks
