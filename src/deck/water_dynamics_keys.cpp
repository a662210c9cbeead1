#include "water_keys.hpp"

namespace tarn::decks {
namespace {

constexpr double kLargestFriction = 1e6;

std::vector<Key> scheme_keys() {
  return {
      field_key<&Deck::integrator, &IntegratorSection::scheme>(
          {.name = "scheme",
           .type = Type::choice,
           .choices =
               {{"zss-stiff", code(Scheme::zss_stiff),
                 "bonds by a penalty; one linear solve a molecule and step"},
                {"pushforward-newmark", code(Scheme::pushforward_newmark),
                 "bonds by a penalty; the implicit equations that `zss-stiff` linearises, "
                 "solved to round-off, with all forces anew at each iteration"},
                {"newmark-one-step", code(Scheme::newmark_one_step),
                 "Newmark's method with one step of Newton's, as a baseline: it drifts; not "
                 "with `baoab`"},
                {"verlet", code(Scheme::verlet),
                 "velocity Verlet with the penalty as a force; stable while h·omega < 0.44, "
                 "1.08 fs at omega = 20"},
                {"shake", code(Scheme::shake),
                 "rigid bonds by iteration; between steps velocities keep a part along the bonds, "
                 "which is reported nowhere"},
                {"rattle", code(Scheme::rattle),
                 "the same with velocities on the constraints at constant energy; with a "
                 "thermostat it is `shake`"},
                {"settle", code(Scheme::settle), "rigid bonds analytically"}},
           .description = "Integration scheme."}),
      field_key<&Deck::integrator, &IntegratorSection::timestep_fs>(
          {.name = "timestep_fs",
           .type = Type::number,
           .unit = "fs",
           .range = from_to(1e-6, 100),
           .description = "Time step h."}),
      field_key<&Deck::integrator, &IntegratorSection::beta>(
          {.name = "beta",
           .type = Type::number,
           .range = above_to(0.25, 1),
           .description =
               "Scheme parameter b. At 1/4 positions diverge as the penalty stiffens; near "
               "1/3 and 1/2 stiff bonds resonate with the step. The band about 1/3 depends "
               "on omega times the step: seven molecules at 298 K and 2 fs blow up from "
               "0.28 to 0.35 with omega = 100, and from 0.32 to 0.36 with 500.",
           .used_with = {"integrator.scheme",
                         {"zss-stiff", "pushforward-newmark", "newmark-one-step"}}}),
      field_key<&Deck::integrator, &IntegratorSection::omega>(
          {.name = "omega",
           .type = Type::number,
           .unit = "sqrt(kcal/mol)/Å²",
           .range = {.low = 1e-3, .high = 1e6, .infinity_allowed = true},
           .description = "Penalty strength; `\"infinite\"` is the limit of rigid bonds.",
           .used_with = penalty_schemes()}),
  };
}

std::vector<Key> solver_keys() {
  const Condition iterated{"integrator.scheme", {"shake", "rattle"}};
  return {
      field_key<&Deck::integrator, &IntegratorSection::hessian>(
          {.name = "hessian",
           .type = Type::choice,
           .choices = {{"gauss-newton", code(Hessian::gauss_newton),
                        "first derivatives of the constraints only"},
                       {"full", code(Hessian::full),
                        "the curvature of the constraints too, as in the paper; it heats, and does "
                        "not keep angular momentum"},
                       {"molecule", code(Hessian::molecule),
                        "`full` and the non-bonded energy's blocks of single molecules, for study: "
                        "it does not keep momentum"},
                       {"total", code(Hessian::total),
                        "all of the Hessian, one factorisation of a 9N×9N matrix a step, for study "
                        "of up to 128 molecules"}},
           .description = "Which Hessian stands in the linear solve. The last two go with "
                          "`zss-stiff` and finite `omega` only.",
           .used_with = {"integrator.scheme", {"zss-stiff", "newmark-one-step"}}}),
      field_key<&Deck::integrator, &IntegratorSection::solver>(
          {.name = "solver",
           .type = Type::choice,
           .choices = {{"structured", code(Solver::structured), "3×3, in closed form"},
                       {"dense", code(Solver::dense),
                        "9×9 Cholesky of the same matrix, as a reference; needs finite `omega`"}},
           .description = "How the linear solve is done; the Hessians for study are always dense.",
           .used_with = {"integrator.scheme", {"zss-stiff"}}}),
      field_key<&Deck::integrator, &IntegratorSection::acceleration>(
          {.name = "acceleration",
           .type = Type::choice,
           .choices = {{"force", code(OneStepAcceleration::force),
                        "that of the forces at the new positions"},
                       {"linearised", kRejected,
                        "it would be part of the state; mechanical systems have it"}},
           .description = "What the second kick takes.",
           .used_with = {"integrator.scheme", {"newmark-one-step"}}}),
      field_key<&Deck::integrator, &IntegratorSection::tolerance>(
          {.name = "tolerance",
           .type = Type::number,
           .range = from_to(1e-15, 0.1),
           .description =
               "Relative position change at which the iteration stops; in single precision "
               "no less than 5·10⁻⁷, which is what floats reach.",
           .used_with = iterated}),
      field_key<&Deck::integrator, &IntegratorSection::iteration>(
          {.name = "iteration",
           .type = Type::choice,
           .choices = {{"newton", code(ShakeIteration::newton),
                        "the three bonds of a molecule together; converges quadratically"},
                       {"sweeps", code(ShakeIteration::sweeps),
                        "bond by bond, as SHAKE was first written"}},
           .description = "How the constraints are iterated.",
           .used_with = iterated}),
  };
}

}  // namespace

SectionTable integrator_section() {
  return {Section{.name = "integrator", .description = "The deterministic step."},
          joined({scheme_keys(), solver_keys()})};
}

SectionTable thermostat_section() {
  const Condition warm{"thermostat.kind", {"gla", "baoab"}};
  return {Section{.name = "thermostat",
                  .description = "Noise and friction; without this section there are none."},
          {
              field_key<&Deck::thermostat, &ThermostatSection::kind>(
                  {.name = "kind",
                   .type = Type::choice,
                   .choices = {{"none", code(Thermostat::none), "constant energy"},
                               {"gla", code(Thermostat::gla),
                                "one deterministic step, then the exact Ornstein-Uhlenbeck step"},
                               {"baoab", code(Thermostat::baoab),
                                "the same step in the middle of the drift"}},
                   .description = "Thermostat."}),
              field_key<&Deck::thermostat, &ThermostatSection::temperature_K>(
                  {.name = "temperature_K",
                   .type = Type::number,
                   .unit = "K",
                   .range = from_to(0, kLargestTemperature_K),
                   .default_text = "required, or `temperatures_K`",
                   .description = "Temperature of the bath.",
                   .used_with = warm,
                   .excludes = "temperatures_K"}),
              field_key<&Deck::thermostat, &ThermostatSection::temperatures_K>(
                  {.name = "temperatures_K",
                   .type = Type::numbers,
                   .unit = "K",
                   .range = from_to(0, kLargestTemperature_K),
                   .default_text = "none",
                   .description =
                       "Temperatures of the baths of the replicas, one each; a shorter list is "
                       "repeated. Start velocities follow it.",
                   .used_with = warm,
                   .excludes = "temperature_K"}),
              field_key<&Deck::thermostat, &ThermostatSection::friction_per_ps>(
                  {.name = "friction_per_ps",
                   .type = Type::number,
                   .unit = "1/ps",
                   .range = from_to(0, kLargestFriction),
                   .default_text = "none",
                   .description = "Friction rate, the same for all atoms.",
                   .used_with = warm,
                   .excludes = "friction_amu_per_ps"}),
              field_key<&Deck::thermostat, &ThermostatSection::friction_amu_per_ps>(
                  {.name = "friction_amu_per_ps",
                   .type = Type::number,
                   .unit = "Da/ps",
                   .range = from_to(0, kLargestFriction),
                   .default_text = "none",
                   .description =
                       "Friction γ; the rate of an atom of mass m is γ/m. The paper's γ = 0.01 "
                       "Da per time unit is 0.2045483 Da/ps.",
                   .used_with = warm,
                   .excludes = "friction_per_ps"}),
          }};
}

SectionTable exchange_section() {
  return {
      optional_section<&Deck::exchange>(
          {.name = "exchange",
           .description =
               "Replica exchange (parallel tempering): neighbours in `temperatures_K` change "
               "places now and then, so that cold replicas get over barriers by way of the hot "
               "ones; [replica-exchange.md](replica-exchange.md). Writes `exchange.csv`, "
               "`walkers.csv` and their picture. Replica r keeps its bath, and averages by bath "
               "are those of that temperature."}),
      {
          field_key<&Deck::exchange, &ExchangeSection::every>(
              {.name = "every",
               .type = Type::integer,
               .unit = "steps",
               .range = from_to(1, kStepLimit),
               .description =
                   "Interval between attempts, not at step 0. Attempts 2, 4, ... are of the "
                   "neighbours (0, 1), (2, 3) and so on of each ladder, the others of (1, 2), "
                   "(3, 4). An attempt costs as much as four to six steps of eight molecules."}),
      }};
}

SectionTable confinement_section() {
  return {optional_section<&Deck::confinement>(
              {.name = "confinement",
               .description =
                   "A wall that keeps a warm cluster together: V = K/2 max(0, r - R)² for each "
                   "oxygen at r from the centre of mass of the cluster, which takes the "
                   "recoil. Without a wall a run looks every 1000 steps whether each replica "
                   "still hangs together, oxygen by oxygen less than 8 Å apart, and warns once "
                   "of each that does not."}),
          {
              field_key<&Deck::confinement, &ConfinementSection::kind>(
                  {.name = "kind",
                   .type = Type::choice,
                   .choices = {{"flat-bottom", code(Wall::flat_bottom), "no force inside R"}},
                   .description = "Form of the wall."}),
              field_key<&Deck::confinement, &ConfinementSection::radius_A>(
                  {.name = "radius_A",
                   .type = Type::number,
                   .unit = "Å",
                   .range = above_to(0, 1e6),
                   .default_text = "required",
                   .description =
                       "Radius R of the flat bottom. Averages of a warm cluster, whose molecules "
                       "leave and come back, depend on it: tell it with them, and try another. A "
                       "ball of the liquid has 1.93 Å · N^(1/3) - 1.4 Å to the outermost centres; "
                       "the decks of tarn give 1.6 to 4 Å more."}),
              field_key<&Deck::confinement, &ConfinementSection::stiffness_kcal_per_mol_A2>(
                  {.name = "stiffness_kcal_per_mol_A2",
                   .type = Type::number,
                   .unit = "kcal/mol/Å²",
                   .range = above_to(0, 1e6),
                   .default_text = "required",
                   .description = "Stiffness K beyond it."}),
          }};
}

SectionTable run_section() {
  return {
      Section{.name = "run", .description = "How long, in what precision, on what device."},
      {
          field_key<&Deck::run, &RunSection::steps>({.name = "steps",
                                                     .type = Type::integer,
                                                     .range = from_to(0, kStepLimit),
                                                     .default_text = "from `duration_ps`",
                                                     .description = "Number of time steps.",
                                                     .excludes = "duration_ps",
                                                     .may_change_on_resume = true}),
          derived_key(
              {.name = "duration_ps",
               .type = Type::number,
               .unit = "ps",
               .range = from_to(0, 1e12),
               .default_text = "from `steps`",
               .description =
                   "Length of the run, rounded up to whole steps; the resolved deck has `steps`.",
               .excludes = "steps",
               .may_change_on_resume = true}),
          field_key<&Deck::run, &RunSection::equilibration_ps>(
              {.name = "equilibration_ps",
               .type = Type::number,
               .unit = "ps",
               .range = from_to(0, 1e12),
               .description =
                   "Averages leave out this much of the beginning: `averages.csv`, which holds "
                   "every column of the tables below but the conserved quantities, with error "
                   "and autocorrelation time, the RDF and the Lindemann index."}),
          field_key<&Deck::run, &RunSection::precision>(
              {.name = "precision",
               .type = Type::choice,
               .choices =
                   {{"double", code(Precision::double_), "everything in double"},
                    {"mixed", code(Precision::mixed), "pairs in float, sums and state in double"},
                    {"single", code(Precision::single),
                     "pairs, solves and velocities in float, positions as fixed-point numbers of "
                     "1.5e-8 Å"}},
               .description = "Floating-point precision."}),
          field_key<&Deck::run, &RunSection::device>(
              {.name = "device",
               .type = Type::device,
               .description = "Where it runs; a named device never falls "
                              "back. `auto` takes the first GPU that CUDA "
                              "finds, and the CPU where there is none.",
               .may_change_on_resume = true}),
          threads_key("CPU threads; 0: as many as there are processors for this process, or "
                      "`OMP_NUM_THREADS`. No result depends on it."),
      }};
}

}  // namespace tarn::decks
