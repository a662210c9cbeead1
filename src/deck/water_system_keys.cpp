#include "water_keys.hpp"

namespace tarn::decks {
namespace {

std::vector<Choice> models() {
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < kWaterModels.size(); ++i) {
    choices.push_back({kWaterModels[i].name, static_cast<int>(i)});
  }
  choices.push_back({kOwnModel, static_cast<int>(kWaterModels.size()), "that of `[model]`"});
  return choices;
}

std::vector<Key> structure_keys() {
  const Condition no_state{"system.state"};
  const Condition no_file{"system.file"};
  return {
      kind_key(),
      field_key<&Deck::system, &SystemSection::model>({.name = "model",
                                                       .type = Type::choice,
                                                       .choices = models(),
                                                       .description = "Water model."}),
      field_key<&Deck::system, &SystemSection::molecules>(
          {.name = "molecules",
           .type = Type::integer,
           .range = from_to(1, kMaxMolecules),
           .default_text = "what `file` or `state` holds",
           .description =
               "Number of molecules. Without `file` and `state`: a random cluster of that "
               "many, drawn from (seed, replica). With one of them: it must hold that many.",
           .zero_means_absent = true}),
      field_key<&Deck::system, &SystemSection::file>(
          {.name = "file",
           .type = Type::file,
           .default_text = "none",
           .description =
               "Structure file that every replica starts from, relative to the deck: extended XYZ, "
               "GRO or PDB, or a trajectory. Of several frames `frame` is taken; its velocities "
               "only "
               "with `velocities = \"file\"`.",
           .excludes = "state"}),
      field_key<&Deck::system, &SystemSection::frame>(
          {.name = "frame",
           .type = Type::integer,
           .range = at_least(0),
           .default_text = "the first",
           .description =
               "Which frame of `file`, counted from 0. Of a file with several replicas, of "
               "its first one; `tarn convert --replicas` takes out others.",
           .used_with = no_state}),
      field_key<&Deck::system, &SystemSection::state>(
          {.name = "state",
           .type = Type::file,
           .default_text = "none",
           .description =
               "Where another run of water left off, relative to the deck: its folder, or its "
               "`checkpoint.bin`. Replica r starts from replica r there, or each from the only "
               "one. Steps and time begin at 0, and nothing is minimised; "
               "[running.md](running.md#starting-from-another-run) says what happens between schemes and "
               "models.",
           .excludes = "file"}),
      field_key<&Deck::system, &SystemSection::start>(
          {.name = "start",
           .type = Type::choice,
           .choices = {{"quenched", code(StartKind::quenched),
                        "the random cluster is minimised first"},
                       {"random", code(StartKind::random), "as it was drawn"}},
           .description = "Start of a cluster that comes from no file.",
           .used_with = no_file,
           .also_used_with = {no_state}}),
      field_key<&Deck::system, &SystemSection::replicas>(
          {.name = "replicas",
           .type = Type::integer,
           .range = from_to(1, kMaxReplicas),
           .description = "Number of independent copies, run as one batch."}),
      field_key<&Deck::system, &SystemSection::seed>(
          {.name = "seed",
           .type = Type::integer,
           .range = at_least(0),
           .description =
               "Seed of starts, velocities and noise, at most 2⁶³ - 1. Noise follows from "
               "(seed, replica, "
               "step): with a thermostat in both runs it must not be that of `state`."}),
  };
}

std::vector<Key> velocity_keys() {
  const Condition no_state{"system.state"};
  return {
      field_key<&Deck::system, &SystemSection::velocities>(
          {.name = "velocities",
           .type = Type::choice,
           .choices =
               {{"maxwell", code(VelocityKind::maxwell),
                 "drawn at the temperature; projected onto the constraints for rigid schemes"},
                {"tangent", code(VelocityKind::tangent), "projected for penalty schemes too"},
                {"zero", code(VelocityKind::zero), "at rest"},
                {"file", code(VelocityKind::file),
                 "those of `file`: columns `vel_A_per_akma:R:3` of extended XYZ, in Å per "
                 "48.88821 fs (1 of them is 20.45483 Å/ps), or those of GRO, in nm/ps; "
                 "projected onto the constraints for rigid schemes"},
                {"state", code(VelocityKind::state), "those of `state`"}},
           .default_text =
               "`\"maxwell\"`, or `\"zero\"` without any temperature; `\"state\"` with `state`",
           .description = "Start velocities."}),
      field_key<&Deck::system, &SystemSection::temperature_K>(
          {.name = "temperature_K",
           .type = Type::number,
           .unit = "K",
           .range = from_to(0, kLargestTemperature_K),
           .default_text = "the thermostat's",
           .description = "Temperature of the start velocities.",
           .used_with = {"system.velocities", {"maxwell", "tangent"}}}),
      field_key<&Deck::system, &SystemSection::relax>(
          {.name = "relax",
           .type = Type::boolean,
           .default_text = "`true`, or `false` with infinite `omega` or given velocities",
           .description = "Relax the start on non-bonded and penalty energy together, so that the "
                          "bonds do not start stretched against the penalty.",
           .used_with = penalty_schemes(),
           .also_used_with = {no_state, {"system.velocities", {"maxwell", "tangent", "zero"}}}}),
      field_key<&Deck::system, &SystemSection::project>(
          {.name = "project",
           .type = Type::choice,
           .choices =
               {{"none", code(StartProjection::none), "as it is"},
                {"slow-manifold", code(StartProjection::slow_manifold),
                 "the vibration of the bonds is taken out of positions and velocities; "
                 "`run.json` tells its energy before and after. Needs finite `omega`, and some "
                 "430 evaluations of all forces a replica. A thermostat puts the vibration "
                 "back"}},
           .description = "Where the start is moved to, after all else.",
           .used_with = penalty_schemes()}),
      field_key<&Deck::system, &SystemSection::remove_momentum>(
          {.name = "remove_momentum",
           .type = Type::boolean,
           .description = "Take linear and angular momentum out of the start velocities. Without a "
                          "thermostat, "
                          "temperatures do not count these six degrees of freedom.",
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
           .description =
               "Mass of a hydrogen; the oxygen gets what is left of the molecule's. Heavy "
               "hydrogens turn slower and allow longer steps; averages of positions stay "
               "what they are."}),
      field_key<&Deck::system, &SystemSection::oxygen_mass_Da>(
          {.name = "oxygen_mass_Da",
           .type = Type::number,
           .unit = "Da",
           .range = from_to(1, 30),
           .default_text = "what is left of the molecule's mass",
           .description = "Mass of the oxygen. With it both masses are those of isotopes: D₂O has "
                          "`hydrogen_mass_Da = 2.014` and `oxygen_mass_Da = 15.999`."}),
      field_key<&Deck::system, &SystemSection::recentre>(
          {.name = "recentre",
           .type = Type::boolean,
           .description = "Write positions about the centre of mass of each replica, which drifts "
                          "under noise. The run itself is the same, bit for bit."}),
  };
}

}  // namespace

SectionTable system_section() {
  return {Section{.name = "system", .description = "What is simulated, and how it starts."},
          joined({structure_keys(), velocity_keys(), mass_keys()})};
}

SectionTable model_section() {
  return {
      optional_section<&Deck::model>(
          {.name = "model",
           .description =
               "A water model of one's own, for `model = \"own\"`: a triangle of O, H and H, "
               "Lennard-Jones 4 epsilon ((sigma/r)¹² - (sigma/r)⁶) between oxygens, charges "
               "on the hydrogens and, twice as large and negative, on O or M. "
               "[running.md](running.md#user-defined-water-models)."}),
      {
          field_key<&Deck::model, &ModelSection::oh_A>({.name = "oh_A",
                                                        .type = Type::number,
                                                        .unit = "Å",
                                                        .range = from_to(0.5, 2),
                                                        .default_text = "required",
                                                        .description = "Distance of O and H."}),
          field_key<&Deck::model, &ModelSection::hoh_degrees>(
              {.name = "hoh_degrees",
               .type = Type::number,
               .unit = "°",
               .range = from_to(60, 170),
               .default_text = "required",
               .description = "Angle of the bonds."}),
          field_key<&Deck::model, &ModelSection::sigma_A>(
              {.name = "sigma_A",
               .type = Type::number,
               .unit = "Å",
               .range = from_to(1, 10),
               .default_text = "required",
               .description = "Lennard-Jones sigma of the oxygens."}),
          field_key<&Deck::model, &ModelSection::epsilon_kcal_per_mol>(
              {.name = "epsilon_kcal_per_mol",
               .type = Type::number,
               .unit = "kcal/mol",
               .range = above_to(0, 10),
               .default_text = "required",
               .description = "Lennard-Jones epsilon of the oxygens."}),
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
                   "Distance of O and a massless site M on the line that halves the angle, which "
                   "has the negative charge then; 0: there is none, and O has it."}),
      }};
}

}  // namespace tarn::decks
