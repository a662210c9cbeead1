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
                 "penalised or flexible bonds; one linear solve per molecule and step"},
                {"pushforward-newmark", code(Scheme::pushforward_newmark),
                 "penalised bonds; the implicit equations that `zss-stiff` linearises, "
                 "solved to round-off with all forces evaluated in every iteration"},
                {"newmark-one-step", code(Scheme::newmark_one_step),
                 "Newmark's method with a single Newton iteration, as a baseline: it "
                 "drifts; not available with `baoab`"},
                {"verlet", code(Scheme::verlet),
                 "velocity Verlet with the penalty, or the intramolecular potential of a flexible "
                 "model, as a force; with a penalty stable for h·omega < 0.44, 1.08 fs at "
                 "omega = 20"},
                {"shake", code(Scheme::shake),
                 "rigid bonds, iterative; between steps velocities keep components along "
                 "the bonds, which no output includes"},
                {"rattle", code(Scheme::rattle),
                 "`shake` with velocities projected onto the constraints at constant "
                 "energy; identical to `shake` with a thermostat"},
                {"settle", code(Scheme::settle), "rigid bonds, analytical"}},
           .default_text = "`\"settle\"` for rigid models, `\"verlet\"` for flexible ones",
           .description = "Integration scheme."}),
      field_key<&Deck::integrator, &IntegratorSection::timestep_fs>(
          {.name = "timestep_fs",
           .type = Type::number,
           .unit = "fs",
           .range = from_to(1e-6, 100),
           .default_text = "2; 0.5 for `verlet` with a flexible model",
           .description = "Time step h."}),
      field_key<&Deck::integrator, &IntegratorSection::beta>(
          {.name = "beta",
           .type = Type::number,
           .range = above_to(0.25, 1),
           .description = "Scheme parameter b. At 1/4 positions diverge as the penalty stiffens; "
                          "near 1/3 and 1/2 stiff bonds resonate with the step. The band near 1/3 "
                          "depends on omega times the step: seven molecules at 298 K and 2 fs blow "
                          "up from 0.28 to 0.35 with omega = 100, and from 0.32 to 0.36 with 500.",
           .used_with = {"integrator.scheme",
                         {"zss-stiff", "pushforward-newmark", "newmark-one-step"}}}),
      field_key<&Deck::integrator, &IntegratorSection::omega>(
          {.name = "omega",
           .type = Type::number,
           .unit = "sqrt(kcal/mol)/Å²",
           .range = {.low = 1e-3, .high = 1e6, .infinity_allowed = true},
           .description = "Penalty strength; `\"infinite\"` is the limit of rigid bonds.",
           .used_with = penalty_schemes(),
           .also_used_with = rigid_molecules()}),
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
                        "with the curvature of the constraints, as in the paper; it heats and does "
                        "not conserve angular momentum"},
                       {"molecule", code(Hessian::molecule),
                        "`full` plus the diagonal blocks of the non-bonded energy, for study; it "
                        "does not conserve momentum"},
                       {"total", code(Hessian::total),
                        "the complete Hessian, for study of up to 128 molecules; one factorisation "
                        "of a 9N×9N matrix per step"}},
           .description = "Hessian in the linear solve. `molecule` and `total` require `zss-stiff` "
                          "and finite `omega`.",
           .used_with = {"integrator.scheme", {"zss-stiff", "newmark-one-step"}},
           .also_used_with = rigid_molecules()}),
      field_key<&Deck::integrator, &IntegratorSection::solver>(
          {.name = "solver",
           .type = Type::choice,
           .choices = {{"structured", code(Solver::structured), "3×3, in closed form"},
                       {"dense", code(Solver::dense),
                        "9×9 Cholesky factorisation of the same matrix, as a reference; requires "
                        "finite `omega`"}},
           .description =
               "Method of the linear solve. The Hessians `molecule` and `total` are always dense.",
           .used_with = {"integrator.scheme", {"zss-stiff"}},
           .also_used_with = rigid_molecules()}),
      field_key<&Deck::integrator, &IntegratorSection::acceleration>(
          {.name = "acceleration",
           .type = Type::choice,
           .choices = {{"force", code(OneStepAcceleration::force),
                        "from the forces at the new positions"},
                       {"linearised", kRejected, "only mechanical systems have it"}},
           .description = "Acceleration of the second kick.",
           .used_with = {"integrator.scheme", {"newmark-one-step"}}}),
      field_key<&Deck::integrator, &IntegratorSection::tolerance>(
          {.name = "tolerance",
           .type = Type::number,
           .range = from_to(1e-15, 0.1),
           .description = "Relative position change at which the iteration stops. In single "
                          "precision at least 5·10⁻⁷, the accuracy of floats.",
           .used_with = iterated}),
      field_key<&Deck::integrator, &IntegratorSection::iteration>(
          {.name = "iteration",
           .type = Type::choice,
           .choices = {{"newton", code(ShakeIteration::newton),
                        "the three bonds of a molecule together; converges quadratically"},
                       {"sweeps", code(ShakeIteration::sweeps),
                        "bond by bond, as in the original SHAKE"}},
           .description = "Iteration of the constraints.",
           .used_with = iterated}),
  };
}

}  // namespace

SectionTable integrator_section() {
  return {Section{.name = "integrator", .description = "The deterministic integration step."},
          joined({scheme_keys(), solver_keys()})};
}

SectionTable thermostat_section() {
  const Condition warm{"thermostat.kind", {"gla", "baoab"}};
  return {
      Section{.name = "thermostat",
              .description = "Noise and friction. Omit the section for constant energy."},
      {
          field_key<&Deck::thermostat, &ThermostatSection::kind>(
              {.name = "kind",
               .type = Type::choice,
               .choices = {{"none", code(Thermostat::none), "constant energy"},
                           {"gla", code(Thermostat::gla),
                            "a deterministic step followed by the exact Ornstein-Uhlenbeck step"},
                           {"baoab", code(Thermostat::baoab),
                            "the Ornstein-Uhlenbeck step in the middle of the drift"}},
               .default_text = "`\"baoab\"`; `\"none\"` without this section",
               .description = "Thermostat."}),
          field_key<&Deck::thermostat, &ThermostatSection::temperature_K>(
              {.name = "temperature_K",
               .type = Type::number,
               .unit = "K",
               .range = from_to(0, kLargestTemperature_K),
               .default_text = "required, unless `temperatures_K` is given",
               .description = "Temperature of the thermostat.",
               .used_with = warm,
               .excludes = "temperatures_K"}),
          field_key<&Deck::thermostat, &ThermostatSection::temperatures_K>(
              {.name = "temperatures_K",
               .type = Type::numbers,
               .unit = "K",
               .range = from_to(0, kLargestTemperature_K),
               .default_text = "none",
               .description = "Temperatures, one per replica; a shorter list is repeated. "
                              "Start velocities have the same temperatures.",
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

SectionTable path_integral_section() {
  return {
      optional_section<&Deck::path_integral>(
          {.name = "path_integral",
           .description =
               "Quantum nuclei: each replica is a ring polymer of `beads` copies of the cluster at "
               "`beads` times the temperature. Requires a flexible model and `verlet`, which is "
               "then the step BCOCB with `baoab`: half kicks by the potential, and the free ring "
               "polymer around the noise. See [quantum.md](quantum.md)."}),
      {
          field_key<&Deck::path_integral, &PathIntegralSection::beads>(
              {.name = "beads",
               .type = Type::integer,
               .range = from_to(1, kMaxBeads),
               .description = "Number of beads P; 1: classical nuclei. An error of 1 % in the "
                              "kinetic energy of hydrogen needs P T of about 16 000 K."}),
          field_key<&Deck::path_integral, &PathIntegralSection::method>(
              {.name = "method",
               .type = Type::choice,
               .choices = {{"pimd", code(RingMethod::pimd),
                            "sampling, with noise on all modes of the ring polymers"},
                           {"rpmd", code(RingMethod::rpmd),
                            "ring polymer dynamics at constant energy, for time correlations; "
                            "starts from the `state` of a pimd run"},
                           {"trpmd", code(RingMethod::trpmd),
                            "ring polymer dynamics with noise on the internal modes only"}},
               .description = "What the ring polymers are used for."}),
          field_key<&Deck::path_integral, &PathIntegralSection::free_ring>(
              {.name = "free_ring",
               .type = Type::choice,
               .choices = {{"cayley", code(FreeRing::cayley),
                            "Cayley map: stable, and exact averages of harmonic systems, at any "
                            "stable step of the potential"},
                           {"exact", code(FreeRing::exact),
                            "exact flow: resonates where a mode turns by a multiple of pi per "
                            "step, at 298 K and 32 beads from 1.26 fs on"}},
               .description = "Flow of the free ring polymer."}),
          field_key<&Deck::path_integral, &PathIntegralSection::temperature_K>(
              {.name = "temperature_K",
               .type = Type::number,
               .unit = "K",
               .range = above_to(0, kLargestTemperature_K),
               .default_text = "that of the thermostat",
               .description = "Temperature that determines the springs of the ring polymers.",
               .used_with = {"thermostat.kind", {"none"}}}),
          field_key<&Deck::path_integral, &PathIntegralSection::internal_friction>(
              {.name = "internal_friction",
               .type = Type::number,
               .range = from_to(0, 100),
               .default_text = "1; 0.5 for `trpmd`",
               .description = "Friction of the internal modes, in units of twice their frequency; "
                              "`friction_per_ps` is that of the centroids.",
               .used_with = {"path_integral.method", {"pimd", "trpmd"}}}),
      }};
}

SectionTable exchange_section() {
  return {
      optional_section<&Deck::exchange>(
          {.name = "exchange",
           .description =
               "Replica exchange (parallel tempering): replicas at neighbouring temperatures of "
               "`temperatures_K` exchange their states periodically, and cold replicas cross "
               "barriers at high temperature. See [replica-exchange.md](replica-exchange.md). "
               "Writes `exchange.csv`, `walkers.csv` and a picture. Replica r keeps its "
               "temperature: "
               "averages by temperature are averages at that temperature."}),
      {
          field_key<&Deck::exchange, &ExchangeSection::every>(
              {.name = "every",
               .type = Type::integer,
               .unit = "steps",
               .range = from_to(1, kStepLimit),
               .description = "Interval between attempts; there is none at step 0. Attempts 2, 4, "
                              "... pair the neighbours (0, 1), (2, 3) and so on of each ladder, "
                              "attempts 1, 3, ... the neighbours (1, 2), (3, 4). For eight "
                              "molecules, an attempt costs as much as four to six steps."}),
      }};
}

SectionTable confinement_section() {
  return {
      optional_section<&Deck::confinement>(
          {.name = "confinement",
           .description = "A wall that keeps a warm cluster together: V = K/2 max(0, r - R)² for "
                          "each oxygen at distance r from the centre of mass of the cluster; the "
                          "recoil acts on the cluster as a whole. Without a wall, a run checks "
                          "every 1000 steps whether each replica is connected (oxygens less than 8 "
                          "Å apart) and warns once per replica that is not."}),
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
                   "evaporate and return, depend on it: report R with them and test another value. "
                   "In a sphere of liquid the outermost centres are at 1.93 Å · N^(1/3) - 1.4 Å; "
                   "the decks in `inputs` add 1.6 to 4 Å."}),
          field_key<&Deck::confinement, &ConfinementSection::stiffness_kcal_per_mol_A2>(
              {.name = "stiffness_kcal_per_mol_A2",
               .type = Type::number,
               .unit = "kcal/mol/Å²",
               .range = above_to(0, 1e6),
               .default_text = "required",
               .description = "Stiffness K of the wall."}),
      }};
}

SectionTable run_section() {
  return {
      Section{.name = "run", .description = "Length, precision and device of the run."},
      {
          steps_key<&Deck::run, &RunSection::steps>(
              {.default_text = "from `duration_ps`", .excludes = "duration_ps"}),
          duration_key({.name = "duration_ps", .unit = "ps", .range = from_to(0, 1e12)}),
          field_key<&Deck::run, &RunSection::equilibration_ps>(
              {.name = "equilibration_ps",
               .type = Type::number,
               .unit = "ps",
               .range = from_to(0, 1e12),
               .description = "Time at the beginning of the run that averages exclude. This "
                              "applies to `averages.csv` (every column of the tables below except "
                              "the conserved quantities, with error and autocorrelation time), the "
                              "RDF and the Lindemann index."}),
          field_key<&Deck::run, &RunSection::precision>(
              {.name = "precision",
               .type = Type::choice,
               .choices = {{"double", code(Precision::double_), "all in double"},
                           {"mixed", code(Precision::mixed),
                            "pair forces in float, sums and state in double"},
                           {"single", code(Precision::single),
                            "pair forces, solves and velocities in float, positions in fixed point "
                            "with a resolution of 1.5e-8 Å"}},
               .description = "Floating-point precision."}),
          field_key<&Deck::run, &RunSection::device>(
              {.name = "device",
               .type = Type::device,
               .description =
                   "Device of the run. `auto` selects the first GPU that CUDA finds, or the CPU if "
                   "there is none. Several GPUs, as in `cuda:0,2` or `cuda:all`, share the "
                   "replicas "
                   "and give the same results as one. A run on a named device never falls back to "
                   "another one.",
               .may_change_on_resume = true}),
          threads_key("Number of CPU threads; 0: one per processor available to the process, or "
                      "`OMP_NUM_THREADS`. Results do not depend on it."),
      }};
}

}  // namespace tarn::decks
