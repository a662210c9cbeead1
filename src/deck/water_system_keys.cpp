#include "water_keys.hpp"

namespace tarn::decks {
namespace {

std::vector<Choice> models() {
  std::vector<Choice> choices;
  const auto add = [&](std::string_view name, std::string_view description = {}) {
    choices.push_back({name, static_cast<int>(choices.size()), description});
  };
  for (const WaterModel& model : kWaterModels) add(model.name);
  for (const WaterModel& model : kFlexibleWaterModels) add(model.name, "flexible");
  add(kOwnModel, "the model of `[model]`");
  return choices;
}

std::vector<Key> structure_keys() {
  const Condition no_state{"system.state"};
  const Condition no_file{"system.file"};
  return {
      kind_key(),
      field_key<&Deck::system, &SystemSection::model>(
          {.name = "model",
           .type = Type::choice,
           .choices = models(),
           .default_text = "`\"own\"` with a section `[model]`, "
                           "`\"tip3p\"` without",
           .description = "Water model, or the path of a file "
                          "`*.toml` with a section `[model]`, "
                          "relative to the deck."}),
      field_key<&Deck::system, &SystemSection::molecules>(
          {.name = "molecules",
           .type = Type::integer,
           .range = from_to(1, kMaxMolecules),
           .default_text = "the number in `file` or `state`",
           .description = "Number of molecules. Without `file` and `state`, every replica starts "
                          "from a random cluster that depends on `seed` and the replica. With one "
                          "of them, the number must match.",
           .zero_means_absent = true}),
      field_key<&Deck::system, &SystemSection::file>(
          {.name = "file",
           .type = Type::file,
           .default_text = "none",
           .description = "Structure file that every replica starts from: extended XYZ, GRO, PDB, "
                          "or a trajectory. The path is relative to the deck. `frame` selects a "
                          "frame; velocities are used only with `velocities = \"file\"`.",
           .excludes = "state"}),
      field_key<&Deck::system, &SystemSection::frame>(
          {.name = "frame",
           .type = Type::integer,
           .range = at_least(0),
           .default_text = "the first",
           .description = "Frame of `file` to start from, counted from 0. If the file contains "
                          "several replicas, the frame is one of the first replica; `tarn convert "
                          "--replicas` extracts others.",
           .used_with = no_state}),
      field_key<&Deck::system, &SystemSection::state>(
          {.name = "state",
           .type = Type::file,
           .default_text = "none",
           .description = "Final state of another water run to start from: its folder or its "
                          "`checkpoint.bin`, relative to the deck. Replica r starts from replica r "
                          "of that run; if that run had one replica, all replicas start from it. "
                          "Step and time start at 0, and nothing is minimised. For changes of "
                          "scheme or model see [running.md](running.md#starting-from-another-run).",
           .excludes = "file"}),
      field_key<&Deck::system, &SystemSection::start>(
          {.name = "start",
           .type = Type::choice,
           .choices = {{"quenched", code(StartKind::quenched), "a random cluster, minimised"},
                       {"random", code(StartKind::random), "a random cluster"}},
           .description = "Start structure without `file` and `state`.",
           .used_with = no_file,
           .also_used_with = {no_state}}),
      field_key<&Deck::system, &SystemSection::replicas>(
          {.name = "replicas",
           .type = Type::integer,
           .range = from_to(1, kMaxReplicas),
           .description = "Number of independent replicas. They run as one batch."}),
      field_key<&Deck::system, &SystemSection::seed>(
          {.name = "seed",
           .type = Type::integer,
           .range = at_least(0),
           .description = "Seed of start structures, velocities and noise, at most 2⁶³ - 1. Noise "
                          "depends on (seed, replica, step): if both runs have a thermostat, the "
                          "seed must differ from that of the run of `state`."}),
  };
}

std::vector<Key> velocity_keys() {
  const Condition no_state{"system.state"};
  return {
      field_key<&Deck::system, &SystemSection::velocities>(
          {.name = "velocities",
           .type = Type::choice,
           .choices = {{"maxwell", code(VelocityKind::maxwell),
                        "Maxwell distribution at `temperature_K`, projected onto the constraints "
                        "for rigid schemes"},
                       {"tangent", code(VelocityKind::tangent),
                        "the same, also projected for penalty schemes"},
                       {"zero", code(VelocityKind::zero), "zero"},
                       {"file", code(VelocityKind::file),
                        "from `file`: columns `vel_A_per_akma:R:3` of extended XYZ, in Å per "
                        "48.88821 fs (1 of these units is 20.45483 Å/ps), or the velocities of "
                        "GRO, in nm/ps; projected onto the constraints for rigid schemes"},
                       {"state", code(VelocityKind::state), "from `state`"}},
           .default_text =
               "`\"maxwell\"`; `\"zero\"` if the deck has no temperature; `\"state\"` with `state`",
           .description = "Start velocities."}),
      field_key<&Deck::system, &SystemSection::temperature_K>(
          {.name = "temperature_K",
           .type = Type::number,
           .unit = "K",
           .range = from_to(0, kLargestTemperature_K),
           .default_text = "that of the thermostat",
           .description = "Temperature of the start velocities.",
           .used_with = {"system.velocities", {"maxwell", "tangent"}}}),
      field_key<&Deck::system, &SystemSection::relax>(
          {.name = "relax",
           .type = Type::boolean,
           .default_text = "`true`; `false` with infinite `omega` or given velocities",
           .description =
               "Minimise the sum of the non-bonded and the penalty or intramolecular energy "
               "of the start. Without it, the bonds start strained.",
           .used_with = penalty_schemes(),
           .also_used_with = {no_state, {"system.velocities", {"maxwell", "tangent", "zero"}}}}),
      field_key<&Deck::system, &SystemSection::project>(
          {.name = "project",
           .type = Type::choice,
           .choices = {{"none", code(StartProjection::none), "no projection"},
                       {"slow-manifold", code(StartProjection::slow_manifold),
                        "removes the bond vibrations from positions and velocities; requires "
                        "finite `omega` and takes about 430 evaluations of all forces per replica. "
                        "`run.json` contains the vibrational energy before and after. A thermostat "
                        "excites the vibrations again"}},
           .description = "Projection of the start, applied last.",
           .used_with = penalty_schemes(),
           .also_used_with = rigid_molecules()}),
      field_key<&Deck::system, &SystemSection::remove_momentum>(
          {.name = "remove_momentum",
           .type = Type::boolean,
           .description = "Remove linear and angular momentum from the start velocities. Without a "
                          "thermostat, temperatures then exclude these six degrees of freedom.",
           .used_with = {"system.velocities", {"maxwell", "tangent", "file", "state"}}}),
  };
}

std::vector<Key> mass_keys() {
  return {
      field_key<&Deck::system, &SystemSection::hydrogen_mass_Da>(
          {.name = "hydrogen_mass_Da",
           .type = Type::number,
           .unit = "Da",
           .range = from_to(0.1, 8),
           .description = "Mass of all hydrogens; 2.014 for D₂O. Configurational averages of "
                          "classical runs do not depend on the masses. Averages with "
                          "`[path_integral]` and times do."}),
      field_key<&Deck::system, &SystemSection::oxygen_mass_Da>(
          {.name = "oxygen_mass_Da",
           .type = Type::number,
           .unit = "Da",
           .range = from_to(1, 30),
           .default_text = "`15.9994`",
           .description = "Mass of the oxygen."}),
      field_key<&Deck::system, &SystemSection::keep_molecule_mass>(
          {.name = "keep_molecule_mass",
           .type = Type::boolean,
           .description = "Take the additional mass of the hydrogens from the oxygen. Heavy "
                          "hydrogens then rotate more slowly and allow longer steps in classical "
                          "runs: `hydrogen_mass_Da = 3.024` allows 12 fs instead of 8 fs. Normal "
                          "modes do not use these masses."}),
      field_key<&Deck::system, &SystemSection::recentre>(
          {.name = "recentre",
           .type = Type::boolean,
           .default_text = "`true` with `[observe.trajectory] format` dcd, xtc, gro or pdb; "
                           "otherwise `false`",
           .description = "Write positions relative to the centre of mass of each replica, which "
                          "drifts under noise. Far from the origin, the formats named as the "
                          "default lose digits, or end the run. The simulation is not affected.",
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
  return {Section{.name = "system", .description = "The system to simulate and its start."},
          joined({structure_keys(), velocity_keys(), mass_keys()})};
}

SectionTable model_section() {
  const Condition anharmonic{"model.stretch", {"quartic", "morse"}};
  const Condition flexible{"model.stretch", {"harmonic", "quartic", "morse"}};
  return {
      optional_section<&Deck::model>(
          {.name = "model",
           .description = "A user-defined water model: one O and two H, a "
                          "Lennard-Jones term 4 epsilon ((sigma/r)¹² - (sigma/r)⁶) between "
                          "oxygens, equal charges on the hydrogens, and -2 times this charge on O "
                          "or M. With a `stretch` the model is flexible. See "
                          "[running.md](running.md#user-defined-water-models)."}),
      {
          field_key<&Deck::model, &ModelSection::oh_A>(
              {.name = "oh_A",
               .type = Type::number,
               .unit = "Å",
               .range = from_to(0.5, 2),
               .default_text = "required",
               .description = "O-H distance; of flexible models where the stretch is zero."}),
          field_key<&Deck::model, &ModelSection::hoh_degrees>(
              {.name = "hoh_degrees",
               .type = Type::number,
               .unit = "°",
               .range = from_to(60, 170),
               .default_text = "required",
               .description = "H-O-H angle; of flexible models where the bend is zero."}),
          field_key<&Deck::model, &ModelSection::sigma_A>(
              {.name = "sigma_A",
               .type = Type::number,
               .unit = "Å",
               .range = from_to(1, 10),
               .default_text = "required",
               .description = "Lennard-Jones sigma between oxygens."}),
          field_key<&Deck::model, &ModelSection::epsilon_kcal_per_mol>(
              {.name = "epsilon_kcal_per_mol",
               .type = Type::number,
               .unit = "kcal/mol",
               .range = from_to(1e-3, 10),
               .default_text = "required",
               .description = "Lennard-Jones epsilon between oxygens."}),
          field_key<&Deck::model, &ModelSection::charge_hydrogen_e>(
              {.name = "charge_hydrogen_e",
               .type = Type::number,
               .unit = "e",
               .range = from_to(0, 2),
               .default_text = "required",
               .description = "Charge of a hydrogen."}),
          field_key<&Deck::model, &ModelSection::om_A>(
              {.name = "om_A",
               .type = Type::number,
               .unit = "Å",
               .range = from_to(0, 0.5),
               .description =
                   "Distance between O and a massless site M on the bisector of the H-O-H angle, "
                   "which then carries the negative charge; 0: no M, the charge is on O.",
               .used_with = {"model.stretch", {"rigid"}}}),
          field_key<&Deck::model, &ModelSection::stretch>(
              {.name = "stretch",
               .type = Type::choice,
               .choices = {{"rigid", code(Stretch::rigid), "rigid molecules"},
                           {"harmonic", code(Stretch::harmonic), "k s²/2"},
                           {"quartic", code(Stretch::quartic), "D (α² s² - α³ s³ + 7/12 α⁴ s⁴)"},
                           {"morse", code(Stretch::morse), "D (1 - exp(-α s))²"}},
               .description = "Potential of the O-H bonds, with s = r - `oh_A`. Flexible models "
                              "also have a bend."}),
          field_key<&Deck::model, &ModelSection::stretch_stiffness_kcal_per_mol_A2>(
              {.name = "stretch_stiffness_kcal_per_mol_A2",
               .type = Type::number,
               .unit = "kcal/mol/Å²",
               .range = from_to(100, 1e5),
               .default_text = "required with `harmonic`",
               .description = "Stiffness k of the O-H bonds.",
               .used_with = {"model.stretch", {"harmonic"}}}),
          field_key<&Deck::model, &ModelSection::stretch_depth_kcal_per_mol>(
              {.name = "stretch_depth_kcal_per_mol",
               .type = Type::number,
               .unit = "kcal/mol",
               .range = from_to(10, 1e4),
               .default_text = "required with `quartic` and `morse`",
               .description = "Depth D of the O-H bonds.",
               .used_with = anharmonic}),
          field_key<&Deck::model, &ModelSection::stretch_alpha_per_A>(
              {.name = "stretch_alpha_per_A",
               .type = Type::number,
               .unit = "1/Å",
               .range = from_to(0.5, 10),
               .default_text = "required with `quartic` and `morse`",
               .description = "α of the O-H bonds.",
               .used_with = anharmonic}),
          field_key<&Deck::model, &ModelSection::bend_stiffness_kcal_per_mol_rad2>(
              {.name = "bend_stiffness_kcal_per_mol_rad2",
               .type = Type::number,
               .unit = "kcal/mol/rad²",
               .range = from_to(1, 1e4),
               .default_text = "required with a stretch",
               .description = "Stiffness k of the bend k (θ - θ₀)²/2, θ₀ = `hoh_degrees`.",
               .used_with = flexible}),
          field_key<&Deck::model, &ModelSection::gamma>(
              {.name = "gamma",
               .type = Type::number,
               .range = {.low = 0.5, .high = 1, .low_open = true},
               .default_text = "none: no M",
               .description = "γ of the massless site M at γ r_O + (1 - γ)(r_H1 + r_H2)/2, which "
                              "then carries the negative charge.",
               .used_with = flexible}),
      }};
}

}  // namespace tarn::decks
