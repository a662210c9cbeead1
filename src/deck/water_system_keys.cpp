#include "water_keys.hpp"

namespace tarn::decks {
namespace {

using S = SystemSection;
using M = ModelSection;

std::vector<Choice> models() {
  std::vector<Choice> choices;
  const auto add = [&](std::string_view name, std::string_view description = {}) {
    choices.push_back({name, static_cast<int>(choices.size()), description});
  };
  for (const WaterModel& model : kWaterModels) add(model.name);
  for (const WaterModel& model : kFlexibleWaterModels) add(model.name, "flexible");
  for (const WaterModel& model : kManyBodyModels) {
    add(model.name, model.is_flexible() ? "flexible, many-body" : "rigid, polarisable");
  }
  add(kOwnModel, "the model of `[model]`");
  return choices;
}

std::vector<KeyOf<S>> structure_keys() {
  const Condition no_state{"system.state"};
  const Condition no_file{"system.file"}, no_files{"system.files"};
  return {
      key(&S::kind, "kind", {{"water", 0, "a cluster of water molecules in vacuum"}},
          "Kind of system. The systems of the papers have [decks of their own](papers.md)."),
      key(&S::model, "model", models(),
          "Water model, or the path of a file `*.toml` with a section `[model]`, relative to the "
          "deck.",
          {.default_text = "`\"own\"` with a section `[model]`, `\"tip3p\"` without"}),
      key(&S::molecules, "molecules", from_to(1, kMaxMolecules),
          "Number of molecules. Without `file`, `files` and `state`, every replica starts from a "
          "random cluster that depends on `seed` and the replica. With one of them, the number "
          "must match.",
          {.default_text = "the number in `file`, `files` or `state`", .zero_means_absent = true}),
      key(&S::file, "file", kAny,
          "Structure file that every replica starts from: extended XYZ, GRO, PDB, or a trajectory. "
          "The path is relative to the deck. `frame` selects a frame; velocities are used only "
          "with `velocities = \"file\"`.",
          {.default_text = "none", .excludes = {"files", "state"}}),
      key(&S::files, "files", kAny,
          "Structure files like `file` with equal numbers of molecules, which the ladders of "
          "`temperatures_K` take in turn; without it the replicas do. `\"isomers.xyz:3\"` is frame "
          "3 of a file. The run compares the averages of different starts "
          "([how](measuring.md#memory-of-the-start)).",
          {.default_text = "none", .excludes = {"file", "state"}}),
      key(&S::frame, "frame", at_least(0),
          "Frame of `file` to start from, counted from 0. If the file contains several replicas, "
          "the frame is one of the first replica; `tarn convert --replicas` extracts others.",
          {.default_text = "the first", .used_with = {no_state, no_files}}),
      key(&S::state, "state", kAny,
          "Final state of another water run to start from: its folder or its `checkpoint.bin`, "
          "relative to the deck. Replica r starts from replica r of that run; if that run had one "
          "replica, all replicas start from it. Step and time start at 0, and nothing is "
          "minimised. For changes of scheme or model see "
          "[running.md](running.md#starting-from-another-run).",
          {.default_text = "none", .excludes = {"file", "files"}}),
      key(&S::start, "start",
          {{"quenched", StartKind::quenched,
            "a random cluster, minimised; on the GPU if `device` names one"},
           {"random", StartKind::random, "a random cluster"}},
          "Start structure without `file`, `files` and `state`.",
          {.used_with = {no_file, no_files, no_state}}),
      key(&S::replicas, "replicas", from_to(1, kMaxReplicas),
          "Number of independent replicas. They run as one batch."),
      key(&S::seed, "seed", at_least(0),
          "Seed of start structures, velocities and noise, at most 2⁶³ - 1. Noise depends on "
          "(seed, replica, step): if both runs have a thermostat, the seed must differ from that "
          "of the run of `state`."),
  };
}

std::vector<KeyOf<S>> velocity_keys() {
  const Condition no_state{"system.state"};
  return {
      key(&S::velocities, "velocities",
          {{"maxwell", VelocityKind::maxwell,
            "Maxwell distribution at `temperature_K`, projected onto the constraints for rigid "
            "schemes"},
           {"tangent", VelocityKind::tangent, "the same, also projected for penalty schemes"},
           {"zero", VelocityKind::zero, "zero"},
           {"file", VelocityKind::file,
            "from `file` or `files`: columns `vel_A_per_akma:R:3` of extended XYZ, in Å per "
            "48.88821 fs (1 of these units is 20.45483 Å/ps), or the velocities of GRO, in nm/ps; "
            "projected onto the constraints for rigid schemes"},
           {"state", VelocityKind::state, "from `state`"}},
          "Start velocities.",
          {.default_text = "`\"maxwell\"`; `\"zero\"` if the deck has no temperature; `\"state\"` "
                           "with `state`"}),
      key(&S::temperature_K, "temperature_K", from_to(0, kLargestTemperature_K),
          "Temperature of the start velocities.",
          {.default_text = "that of the thermostat",
           .used_with = {{"system.velocities", {"maxwell", "tangent"}}}}),
      key(&S::relax, "relax", kAny,
          "Minimise the sum of the non-bonded and the penalty or intramolecular energy of the "
          "start. Without it, the bonds start strained.",
          {.default_text =
               "`true`; `false` with infinite `omega`, given velocities or another potential",
           .used_with = {with_forces_of_the_model(),
                         penalty_schemes(),
                         no_state,
                         {"system.velocities", {"maxwell", "tangent", "zero"}}}}),
      key(&S::project, "project",
          {{"none", StartProjection::none, "no projection"},
           {"slow-manifold", StartProjection::slow_manifold,
            "removes the bond vibrations from positions and velocities; requires finite `omega` "
            "and takes about 430 evaluations of all forces per replica. `run.json` contains the "
            "vibrational energy before and after. A thermostat excites the vibrations again"}},
          "Projection of the start, applied last.",
          {.used_with = with_rigid_molecules(penalty_schemes())}),
      key(&S::remove_momentum, "remove_momentum", kAny,
          "Remove linear and angular momentum from the start velocities. Without a thermostat, "
          "temperatures then exclude these six degrees of freedom.",
          {.used_with = {{"system.velocities", {"maxwell", "tangent", "file", "state"}}}}),
  };
}

std::vector<KeyOf<S>> mass_keys() {
  const Condition no_isotopes{"system.isotopes"};
  return {
      key(&S::isotopes, "isotopes", Type::isotopes,
          "Isotopes by molecule: numbers of molecules, from the first one on, such as `{ D2O = 2, "
          "HDO = 1 }`, or a list with the name of each molecule. Names are H2O, HDO, D2O, HTO, DTO "
          "and T2O, with 17 or 18 appended for heavy oxygen. See [models.md](models.md#isotopes).",
          {.default_text = "none: all molecules have the masses below"}),
      key(&S::hydrogen_mass_Da, "hydrogen_mass_Da", from_to(0.1, 8),
          "Mass of all hydrogens; 2.014 for D₂O. Configurational averages of classical runs do not "
          "depend on the masses. Averages with `[path_integral]` and times do.",
          {.used_with = {no_isotopes}}),
      key(&S::oxygen_mass_Da, "oxygen_mass_Da", from_to(1, 30), "Mass of the oxygen.",
          {.default_text = "`15.9994`", .used_with = {no_isotopes}}),
      key(&S::keep_molecule_mass, "keep_molecule_mass", kAny,
          "Take the additional mass of the hydrogens from the oxygen. Heavy hydrogens then rotate "
          "more slowly and allow longer steps in classical runs: `hydrogen_mass_Da = 3.024` allows "
          "12 fs instead of 8 fs. Normal modes do not use these masses.",
          {.used_with = {no_isotopes}}),
      key(&S::recentre, "recentre", kAny,
          "Write positions relative to the centre of mass of each replica, which drifts under "
          "noise. Far from the origin, the formats named as the default lose digits, or end the "
          "run. The simulation is not affected.",
          {.default_text =
               "`true` with `[observe.trajectory] format` dcd, xtc, gro or pdb; otherwise `false`",
           .may_change_on_resume = true}),
  };
}

}  // namespace

std::vector<std::string_view> rigid_models() {
  std::vector<std::string_view> names;
  for (const WaterModel& model : kWaterModels) names.push_back(model.name);
  names.push_back(kOwnModel);
  return names;
}

SectionTable system_section() {
  return section(&Deck::system, "system", "The system to simulate and its start.",
                 joined({structure_keys(), velocity_keys(), mass_keys()}));
}

SectionTable model_section() {
  const Condition anharmonic{"model.stretch", {"quartic", "morse"}};
  const Condition flexible{"model.stretch", {"harmonic", "quartic", "morse"}};
  return section(
      &Deck::model, "model",
      "A user-defined water model: one O and two H, a Lennard-Jones term 4 epsilon ((sigma/r)¹² - "
      "(sigma/r)⁶) between oxygens, equal charges on the hydrogens, and -2 times this charge on O "
      "or M. With a `stretch` the model is flexible. See [models.md](models.md#your-own-model).",
      {
          key(&M::oh_A, "oh_A", from_to(0.5, 2),
              "O-H distance; of flexible models where the stretch is zero.",
              {.default_text = "required"}),
          key(&M::hoh_degrees, "hoh_degrees", from_to(60, 170),
              "H-O-H angle; of flexible models where the bend is zero.",
              {.default_text = "required"}),
          key(&M::sigma_A, "sigma_A", from_to(1, 10), "Lennard-Jones sigma between oxygens.",
              {.default_text = "required"}),
          key(&M::epsilon_kcal_per_mol, "epsilon_kcal_per_mol", from_to(1e-3, 10),
              "Lennard-Jones epsilon between oxygens.", {.default_text = "required"}),
          key(&M::charge_hydrogen_e, "charge_hydrogen_e", from_to(0, 2), "Charge of a hydrogen.",
              {.default_text = "required"}),
          key(&M::om_A, "om_A", from_to(0, 0.5),
              "Distance between O and a massless site M on the bisector of the H-O-H angle, which "
              "then carries the negative charge; 0: no M, the charge is on O.",
              {.used_with = {{"model.stretch", {"rigid"}}}}),
          key(&M::stretch, "stretch",
              {{"rigid", Stretch::rigid, "rigid molecules"},
               {"harmonic", Stretch::harmonic, "k s²/2"},
               {"quartic", Stretch::quartic, "D (α² s² - α³ s³ + 7/12 α⁴ s⁴)"},
               {"morse", Stretch::morse, "D (1 - exp(-α s))²"}},
              "Potential of the O-H bonds, with s = r - `oh_A`. Flexible models also have a bend."),
          key(&M::stretch_stiffness_kcal_per_mol_A2, "stretch_stiffness_kcal_per_mol_A2",
              from_to(100, 1e5), "Stiffness k of the O-H bonds.",
              {.default_text = "required with `harmonic`",
               .used_with = {{"model.stretch", {"harmonic"}}}}),
          key(&M::stretch_depth_kcal_per_mol, "stretch_depth_kcal_per_mol", from_to(10, 1e4),
              "Depth D of the O-H bonds.",
              {.default_text = "required with `quartic` and `morse`", .used_with = {anharmonic}}),
          key(&M::stretch_alpha_per_A, "stretch_alpha_per_A", from_to(0.5, 10),
              "α of the O-H bonds.",
              {.default_text = "required with `quartic` and `morse`", .used_with = {anharmonic}}),
          key(&M::bend_stiffness_kcal_per_mol_rad2, "bend_stiffness_kcal_per_mol_rad2",
              from_to(1, 1e4), "Stiffness k of the bend k (θ - θ₀)²/2, θ₀ = `hoh_degrees`.",
              {.default_text = "required with a stretch", .used_with = {flexible}}),
          key(&M::gamma, "gamma", above_to(0.5, 1),
              "γ of the massless site M at γ r_O + (1 - γ)(r_H1 + r_H2)/2, which then carries the "
              "negative charge.",
              {.default_text = "none: no M", .used_with = {flexible}}),
      });
}

const Schema& water_schema() {
  static const Schema schema = make_schema(
      joined<SectionTable>(
          {{system_section(), model_section(), integrator_section(), thermostat_section(),
            path_integral_section(), exchange_section(), confinement_section(), field_section()},
           bias_sections(),
           {potential_section(), run_section()},
           table_sections(),
           curve_sections(),
           structure_sections(),
           {checkpoint_section()}}),
      joined<Rule>({model_rules(), start_rules(), scheme_rules(), run_rules()}));
  return schema;
}

}  // namespace tarn::decks
