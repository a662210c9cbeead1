#include "water_keys.hpp"

namespace tarn::decks {
namespace {

using I = IntegratorSection;

constexpr double kLargestFriction = 1e6;

std::vector<KeyOf<I>> scheme_keys() {
  return {
      key(&I::scheme, "scheme",
          {{"zss-stiff", Scheme::zss_stiff,
            "penalised or flexible bonds; one linear solve per molecule and step"},
           {"pushforward-newmark", Scheme::pushforward_newmark,
            "penalised bonds; the implicit equations that `zss-stiff` linearises, solved to "
            "round-off with all forces evaluated in every iteration"},
           {"newmark-one-step", Scheme::newmark_one_step,
            "Newmark's method with a single Newton iteration, as a baseline: it drifts; not "
            "available with `baoab`"},
           {"verlet", Scheme::verlet,
            "velocity Verlet with the penalty, or the intramolecular potential of a flexible "
            "model, as a force; with a penalty stable for h·omega < 0.44, 1.08 fs at omega = 20"},
           {"shake", Scheme::shake,
            "rigid bonds, iterative; between steps velocities keep components along the bonds, "
            "which no output includes"},
           {"rattle", Scheme::rattle,
            "`shake` with velocities projected onto the constraints at constant energy; identical "
            "to `shake` with a thermostat"},
           {"settle", Scheme::settle, "rigid bonds, analytical"}},
          "Integration scheme.",
          {.default_text = "`\"settle\"` for rigid models, `\"verlet\"` for flexible ones"}),
      key(&I::timestep_fs, "timestep_fs", from_to(1e-6, 100), "Time step h.",
          {.default_text = "2; 0.5 for `verlet` with a flexible model or another potential"}),
      key(&I::beta, "beta", above_to(0.25, 1),
          "Scheme parameter b. At 1/4 positions diverge as the penalty stiffens; near 1/3 and 1/2 "
          "stiff bonds resonate with the step. The band near 1/3 depends on omega times the step: "
          "seven molecules at 298 K and 2 fs blow up from 0.28 to 0.35 with omega = 100, and from "
          "0.32 to 0.36 with 500.",
          {.used_with = {{"integrator.scheme",
                          {"zss-stiff", "pushforward-newmark", "newmark-one-step"}}}}),
      key(&I::omega, "omega", or_infinite(from_to(1e-3, 1e6)),
          "Penalty strength; `\"infinite\"` is the limit of rigid bonds.",
          {.used_with = with_rigid_molecules(penalty_schemes()), .unit = "sqrt(kcal/mol)/Å²"}),
  };
}

std::vector<KeyOf<I>> solver_keys() {
  const Condition iterated{"integrator.scheme", {"shake", "rattle"}};
  return {
      key(&I::hessian, "hessian",
          {{"gauss-newton", Hessian::gauss_newton, "first derivatives of the constraints only"},
           {"full", Hessian::full,
            "with the curvature of the constraints, as in the paper; it heats and does not "
            "conserve angular momentum"},
           {"molecule", Hessian::molecule,
            "`full` plus the diagonal blocks of the non-bonded energy, for study; it does not "
            "conserve momentum"},
           {"total", Hessian::total,
            "the complete Hessian, for study of up to 128 molecules; one factorisation of a 9N×9N "
            "matrix per step"}},
          "Hessian in the linear solve. `molecule` and `total` require `zss-stiff` and finite "
          "`omega`.",
          {.used_with =
               with_rigid_molecules({"integrator.scheme", {"zss-stiff", "newmark-one-step"}})}),
      key(&I::solver, "solver",
          {{"structured", Solver::structured, "3×3, in closed form"},
           {"dense", Solver::dense,
            "9×9 Cholesky factorisation of the same matrix, as a reference; requires finite "
            "`omega`"}},
          "Method of the linear solve. The Hessians `molecule` and `total` are always dense.",
          {.used_with = with_rigid_molecules({"integrator.scheme", {"zss-stiff"}})}),
      key(&I::acceleration, "acceleration",
          {{"force", OneStepAcceleration::force, "from the forces at the new positions"},
           {"linearised", kRejected, "only tarn-papers has it, for the systems of the papers"}},
          "Acceleration of the second kick.",
          {.used_with = {{"integrator.scheme", {"newmark-one-step"}}}}),
      key(&I::tolerance, "tolerance", from_to(1e-15, 0.1),
          "Relative position change at which the iteration stops. In single precision at least "
          "5·10⁻⁷, the accuracy of floats.",
          {.used_with = {iterated}}),
      key(&I::iteration, "iteration",
          {{"newton", ShakeIteration::newton,
            "the three bonds of a molecule together; converges quadratically"},
           {"sweeps", ShakeIteration::sweeps, "bond by bond, as in the original SHAKE"}},
          "Iteration of the constraints.", {.used_with = {iterated}}),
  };
}

}  // namespace

SectionTable integrator_section() {
  return section(&Deck::integrator, "integrator", "The deterministic integration step.",
                 joined({scheme_keys(), solver_keys()}));
}

SectionTable thermostat_section() {
  const Condition warm{"thermostat.kind", {"gla", "baoab"}};
  return section(
      &Deck::thermostat, "thermostat", "Noise and friction. Omit the section for constant energy.",
      {
          key(&ThermostatSection::kind, "kind",
              {{"none", Thermostat::none, "constant energy"},
               {"gla", Thermostat::gla,
                "a deterministic step followed by the exact Ornstein-Uhlenbeck step"},
               {"baoab", Thermostat::baoab,
                "the Ornstein-Uhlenbeck step in the middle of the drift"}},
              "Thermostat.", {.default_text = "`\"baoab\"`; `\"none\"` without this section"}),
          key(&ThermostatSection::temperature_K, "temperature_K", from_to(0, kLargestTemperature_K),
              "Temperature of the thermostat.",
              {.default_text = "required, unless `temperatures_K` is given",
               .used_with = {warm},
               .excludes = {"temperatures_K"}}),
          key(&ThermostatSection::temperatures_K, "temperatures_K",
              from_to(0, kLargestTemperature_K),
              "Temperatures, one per replica; a shorter list is repeated. Start velocities have "
              "the same temperatures.",
              {.default_text = "none", .used_with = {warm}, .excludes = {"temperature_K"}}),
          key(&ThermostatSection::friction_per_ps, "friction_per_ps", from_to(0, kLargestFriction),
              "Friction rate, the same for all atoms.",
              {.default_text = "none", .used_with = {warm}, .excludes = {"friction_amu_per_ps"}}),
          key(&ThermostatSection::friction_amu_per_ps, "friction_amu_per_ps",
              from_to(0, kLargestFriction),
              "Friction γ; the rate of an atom of mass m is γ/m. The paper's γ = 0.01 Da per time "
              "unit is 0.2045483 Da/ps.",
              {.default_text = "none", .used_with = {warm}, .excludes = {"friction_per_ps"}}),
      });
}

SectionTable path_integral_section() {
  return section(
      &Deck::path_integral, "path_integral",
      "Quantum nuclei: each replica is a ring polymer of `beads` copies of the cluster at `beads` "
      "times the temperature. Requires a flexible model and `verlet`, which is then the step BCOCB "
      "with `baoab`: half kicks by the potential, and the free ring polymer around the noise. See "
      "[quantum.md](quantum.md).",
      {
          key(&PathIntegralSection::beads, "beads", from_to(1, kMaxBeads),
              "Number of beads P; 1: classical nuclei. `tarn check` computes the error of this "
              "number and the numbers for 1 % and 0.1 %."),
          key(&PathIntegralSection::method, "method",
              {{"pimd", RingMethod::pimd, "sampling, with noise on all modes of the ring polymers"},
               {"rpmd", RingMethod::rpmd,
                "ring polymer dynamics at constant energy, for time correlations; starts from the "
                "`state` of a pimd run with `frequencies = \"trotter\"`"},
               {"trpmd", RingMethod::trpmd,
                "ring polymer dynamics with noise on the internal modes only"}},
              "What the ring polymers are used for."),
          key(&PathIntegralSection::free_ring, "free_ring",
              {{"cayley", FreeRing::cayley,
                "Cayley map: stable, and exact averages of harmonic systems, at any stable step of "
                "the potential"},
               {"exact", FreeRing::exact,
                "exact flow: resonates where a mode turns by a multiple of pi per step, at 298 K "
                "and 32 beads from 1.26 fs on"}},
              "Flow of the free ring polymer."),
          key(&PathIntegralSection::temperature_K, "temperature_K",
              above_to(0, kLargestTemperature_K),
              "Temperature that determines the springs of the ring polymers.",
              {.default_text = "that of the thermostat",
               .used_with = {{"thermostat.kind", {"none"}}}}),
          key(&PathIntegralSection::internal_friction, "internal_friction", from_to(0, 100),
              "Friction of the internal modes, in units of twice their frequency; "
              "`friction_per_ps` is that of the centroids.",
              {.default_text = "1; 0.5 for `trpmd`",
               .used_with = {{"path_integral.method", {"pimd", "trpmd"}}}}),
          key(&PathIntegralSection::frequencies, "frequencies",
              {{"economised", RingFrequencies::economised,
                "fitted so that harmonic vibrations up to `highest_wavenumber_per_cm` have the "
                "right energy with as few beads as possible"},
               {"trotter", RingFrequencies::trotter, "of springs between neighbouring beads"}},
              "Frequencies of the internal modes of the ring polymers. `rpmd` and `trpmd` require "
              "`trotter`.",
              {.default_text = "`economised`; `trotter` for `rpmd` and `trpmd`"}),
          key(&PathIntegralSection::highest_wavenumber_per_cm, "highest_wavenumber_per_cm",
              from_to(100, 20000),
              "Highest wavenumber for which economised frequencies are fitted.",
              {.default_text = "1.03 times the highest harmonic wavenumber of the molecule",
               .used_with = {{"path_integral.frequencies", {"economised"}}}}),
      });
}

SectionTable exchange_section() {
  return section(&Deck::exchange, "exchange",
                 "Replica exchange (parallel tempering): replicas at neighbouring temperatures of "
                 "`temperatures_K` exchange their states periodically, and cold replicas cross "
                 "barriers at high temperature. See [replica-exchange.md](replica-exchange.md). "
                 "Writes `exchange.csv`, `walkers.csv` and a picture. Replica r keeps its "
                 "temperature: averages by temperature are averages at that temperature.",
                 {
                     key(&ExchangeSection::every, "every", from_to(1, kStepLimit),
                         "Interval between attempts; there is none at step 0. Attempts 2, 4, ... "
                         "pair the neighbours (0, 1), (2, 3) and so on of each ladder, attempts 1, "
                         "3, ... the neighbours (1, 2), (3, 4). For eight molecules, an attempt "
                         "costs as much as four to six steps."),
                 });
}

SectionTable confinement_section() {
  return section(
      &Deck::confinement, "confinement",
      "A wall that keeps a warm cluster together: V = K/2 max(0, r - R)² for each oxygen at "
      "distance r from the centre of mass of the cluster; the recoil acts on the cluster as a "
      "whole. Without a wall, a run checks every 1000 steps whether each replica is connected "
      "(oxygens less than 8 Å apart) and warns once per replica that is not.",
      {
          key(&ConfinementSection::kind, "kind",
              {{"flat-bottom", Wall::flat_bottom, "no force inside R"}}, "Form of the wall."),
          key(&ConfinementSection::radius_A, "radius_A", above_to(0, 1e6),
              "Radius R of the flat bottom. Averages of a cluster whose molecules evaporate and "
              "return depend on it ([how to choose it](measuring.md#the-wall)).",
              {.default_text = "required"}),
          key(&ConfinementSection::stiffness_kcal_per_mol_A2, "stiffness_kcal_per_mol_A2",
              above_to(0, 1e6), "Stiffness K of the wall.", {.default_text = "required"}),
      });
}

SectionTable field_section() {
  const auto component = [](double FieldSection::*member, const char* name, const char* text) {
    return key(member, name, from_to(-100, 100), text,
               {.used_with = {{"potential.kind", {"model"}}}});
  };
  return section(&Deck::field, "field",
                 "A uniform static electric field that acts on all charges, those of massless "
                 "sites and induced dipoles included (equation 96). `energies.csv` then has the "
                 "energy -E·μ as `field_kcal_per_mol`, which `potential_kcal_per_mol` leaves out "
                 "and the total includes, and `cluster.csv` the components of the dipole moment. "
                 "Only the angular momentum along the field is conserved.",
                 {component(&FieldSection::x_V_per_nm, "x_V_per_nm", "Component along x."),
                  component(&FieldSection::y_V_per_nm, "y_V_per_nm", "Component along y."),
                  component(&FieldSection::z_V_per_nm, "z_V_per_nm", "Component along z.")});
}

SectionTable bias_section(std::optional<BiasSection> Deck::*member, std::string_view name,
                          std::string_view coordinate) {
  using B = BiasSection;
  const Condition lengths{coordinate,
                          {"distance", "separation", "largest_separation", "radius_of_gyration"}};
  const Condition contacts{coordinate, {"contacts"}};
  return section(
      member, name,
      name == "bias"
          ? "An additional energy of a coordinate ξ of the oxygens (equations 97 and 98), of the "
            "centroids of ring polymers. With several centres, the windows, replica r has centre r "
            "modulo their number; [`[exchange]`](#exchange) exchanges neighbouring windows, and "
            "[`[observe.bias]`](#observebias) writes the free energy along ξ. The total energy "
            "includes the bias, and `potential_kcal_per_mol` does not. Several biases, of which "
            "one may have windows, are several `[[bias]]`."
          : "Another `[[bias]]`.",
      {
          key(&B::coordinate, "coordinate",
              {{"distance", BiasCoordinate::distance, "distance of two oxygens"},
               {"separation", BiasCoordinate::separation,
                "distance of an oxygen from the mean of the others"},
               {"largest_separation", BiasCoordinate::largest_separation,
                "smooth maximum of the separations of all oxygens"},
               {"contacts", BiasCoordinate::contacts,
                "sum of 1/(1 + (r/r0)⁶) over the pairs of oxygens"},
               {"radius_of_gyration", BiasCoordinate::radius_of_gyration,
                "root mean square distance of the oxygens from their mean"}},
              "Coordinate ξ."),
          key(&B::molecules, "molecules", from_to(0, kMaxMolecules - 1),
              "Two molecules of a `distance`, or the one of a `separation`, counted from 0.",
              {.default_text = "[0, 1] or [0]",
               .used_with = {{coordinate, {"distance", "separation"}}}}),
          key(&B::r0_A, "r0_A", above_to(0, 100), "r0 of `contacts`.", {.used_with = {contacts}}),
          key(&B::kind, "kind",
              {{"harmonic", BiasKind::harmonic, "K/2 (ξ - centre)²"},
               {"upper_wall", BiasKind::upper_wall, "the same where ξ is above the centre"},
               {"lower_wall", BiasKind::lower_wall, "the same where ξ is below the centre"}},
              "Form of the bias."),
          key(&B::centres_A, "centres_A", from_to(0, 1e6), "Centres, in ascending order.",
              {.default_text = "required", .used_with = {lengths}}),
          key(&B::centres, "centres", from_to(0, 1e6), "Centres of `contacts`.",
              {.default_text = "required", .used_with = {contacts}}),
          key(&B::stiffness_kcal_per_mol_A2, "stiffness_kcal_per_mol_A2", above_to(0, 1e6),
              "Stiffness K.", {.default_text = "required", .used_with = {lengths}}),
          key(&B::stiffness_kcal_per_mol, "stiffness_kcal_per_mol", above_to(0, 1e6),
              "Stiffness K of `contacts`.", {.default_text = "required", .used_with = {contacts}}),
      });
}

std::vector<SectionTable> bias_sections() {
  return {bias_section(&Deck::bias, "bias", "bias.coordinate"),
          bias_section(&Deck::bias_2, "bias_2", "bias_2.coordinate"),
          bias_section(&Deck::bias_3, "bias_3", "bias_3.coordinate"),
          bias_section(&Deck::bias_4, "bias_4", "bias_4.coordinate")};
}

SectionTable run_section() {
  return section(
      &Deck::run, "run", "Length, precision and device of the run.",
      {
          key(&RunSection::steps, "steps", from_to(0, kStepLimit), "Number of steps.",
              {.default_text = "from `duration_ps`",
               .excludes = {"duration_ps"},
               .may_change_on_resume = true}),
          duration_key<RunSection>("duration_ps", from_to(0, 1e12)),
          key(&RunSection::equilibration_ps, "equilibration_ps", from_to(0, 1e12),
              "Time at the beginning of the run that averages exclude. This applies to "
              "`averages.csv` (every column of the tables below except the conserved quantities, "
              "with error and autocorrelation time), the RDF and the Lindemann index."),
          key(&RunSection::precision, "precision",
              {{"double", Precision::double_, "all in double"},
               {"mixed", Precision::mixed, "pair forces in float, sums and state in double"},
               {"single", Precision::single,
                "pair forces, solves and velocities in float, positions in fixed point with a "
                "resolution of 1.5e-8 Å"}},
              "Floating-point precision."),
          key(&RunSection::device, "device", Type::device,
              "Device of the run. `auto` selects the first GPU that CUDA finds, or the CPU if "
              "there is none. Several GPUs, as in `cuda:0,2` or `cuda:all`, share the replicas and "
              "give the same results as one. A run on a named device never falls back to another "
              "one.",
              {.may_change_on_resume = true}),
          key(&RunSection::threads, "threads", from_to(0, 4096),
              "Number of CPU threads; 0: one per processor available to the process, or "
              "`OMP_NUM_THREADS`. Results do not depend on it.",
              {.may_change_on_resume = true}),
      });
}

std::string_view unit_of(std::string_view name) {
  constexpr std::array<std::array<std::string_view, 2>, 19> kUnits{
      {{"every", "steps"},
       {"_steps", "steps"},
       {"_minutes", "min"},
       {"_kcal_per_mol_A2", "kcal/mol/Å²"},
       {"_kcal_per_mol_A", "kcal/mol/Å"},
       {"_kcal_per_mol_rad2", "kcal/mol/rad²"},
       {"_kcal_per_mol", "kcal/mol"},
       {"_amu_per_ps", "Da/ps"},
       {"_per_ps", "1/ps"},
       {"_per_cm", "1/cm"},
       {"_per_A", "1/Å"},
       {"_degrees", "°"},
       {"_Da", "Da"},
       {"_fs", "fs"},
       {"_ps", "ps"},
       {"_s", "s"},
       {"_K", "K"},
       {"_A", "Å"},
       {"_e", "e"}}};
  for (const auto& [end, unit] : kUnits) {
    if (name.ends_with(end)) return unit;
  }
  return {};
}

SectionTable checkpoint_section() {
  return section(
      &Deck::checkpoint, "checkpoint",
      "A run always writes a checkpoint at its end and when it is interrupted.",
      {key(&CheckpointSection::every, "every", from_to(1, kStepLimit),
           "Interval between checkpoints during the run.",
           {.default_text = "none", .zero_means_absent = true, .may_change_on_resume = true}),
       key(&CheckpointSection::every_minutes, "every_minutes", at_least(0),
           "Wall time between checkpoints during the run, in addition to `every`; 0: none. Results "
           "do not depend on it.",
           {.may_change_on_resume = true})});
}

}  // namespace tarn::decks
