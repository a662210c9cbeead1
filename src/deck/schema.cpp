#include "schema.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "checker.hpp"
#include "schema_row.hpp"
#include "tarn/io/formats.hpp"

namespace tarn::decks {
namespace {

std::vector<Word> models() {
  std::vector<Word> words;
  for (std::size_t i = 0; i < kWaterModels.size(); ++i) {
    words.push_back({kWaterModels[i].name, static_cast<int>(i)});
  }
  words.push_back({kOwnModel, static_cast<int>(kWaterModels.size()), "that of `[model]`"});
  return words;
}

std::vector<Word> trajectory_formats() {
  std::vector<Word> words;
  for (const io::Format& format : io::formats()) {
    words.push_back({format.name, static_cast<int>(format.id), format.meaning});
  }
  words.push_back({"csv", kRefused, "that is the format of mechanical systems"});
  return words;
}

std::vector<std::string_view> formats_with_velocities() {
  std::vector<std::string_view> names;
  for (const io::Format& format : io::formats()) {
    if (format.has_velocities) names.push_back(format.name);
  }
  return names;
}

constexpr double kLargestTemperature_K = 1e6;
constexpr double kLargestFriction = 1e6;

std::vector<Section> make_sections() {
  return {
      {.name = "system", .meaning = "What is simulated, and how it starts."},
      optional_section<&Deck::model>(
          {.name = "model",
           .meaning =
               "A water model of one's own, for `model = \"own\"`: a triangle of O, H and H, "
               "Lennard-Jones 4 epsilon ((sigma/r)¹² - (sigma/r)⁶) between oxygens, charges "
               "on the hydrogens and, twice as large and negative, on O or M. "
               "[running.md](running.md#user-defined-water-models)."}),
      {.name = "integrator", .meaning = "The deterministic step."},
      {.name = "thermostat", .meaning = "Noise and friction; without this section there are none."},
      optional_section<&Deck::exchange>(
          {.name = "exchange",
           .meaning =
               "Replica exchange (parallel tempering): neighbours in `temperatures_K` change "
               "places now and then, so that cold replicas get over barriers by way of the hot "
               "ones; [replica-exchange.md](replica-exchange.md). Writes `exchange.csv`, "
               "`walkers.csv` and their picture. Replica r keeps its bath, and averages by bath "
               "are those of that temperature."}),
      optional_section<&Deck::confinement>(
          {.name = "confinement",
           .meaning = "A wall that keeps a warm cluster together: V = K/2 max(0, r - R)² for each "
                      "oxygen at r from the centre of mass of the cluster, which takes the "
                      "recoil. Without a wall a run looks every 1000 steps whether each replica "
                      "still hangs together, oxygen by oxygen less than 8 Å apart, and warns once "
                      "of each that does not."}),
      {.name = "run", .meaning = "How long, in what precision, on what device."},
      optional_section<&Deck::energies>(
          {.name = "observe.energies",
           .meaning =
               "Writes `energies.csv`, and with several baths `heat_capacity.csv`; the section "
               "turns the observer on."}),
      optional_section<&Deck::conservation>(
          {.name = "observe.conservation",
           .meaning = "Writes `conservation.csv`: conserved energy, momenta, worst constraint."}),
      optional_section<&Deck::heat>(
          {.name = "observe.heat",
           .meaning =
               "Writes `heat.csv`: heat of the thermostat, shadow work, conserved quantity."}),
      optional_section<&Deck::temperatures>(
          {.name = "observe.temperatures",
           .meaning =
               "Writes `temperatures.csv`: temperature of translation, rotation and bonds."}),
      optional_section<&Deck::geometry>(
          {.name = "observe.geometry",
           .meaning =
               "Writes `geometry.csv`: bond lengths and angles, means over the molecules and "
               "the shortest and longest O-H bond, at the reported positions (q) and at the "
               "scheme's own (x)."}),
      optional_section<&Deck::cluster>(
          {.name = "observe.cluster",
           .meaning =
               "Writes `cluster.csv` and its picture: radius of gyration of the oxygens, hydrogen "
               "bonds (O-O below 3.5 Å, H-O...O below 30 degrees), the largest distance from an "
               "oxygen to its nearest other one, which shows a molecule that has left, the dipole "
               "moment of the cluster, the mean of those of its molecules, and the Lindemann "
               "index."}),
      optional_section<&Deck::multipliers>(
          {.name = "observe.multipliers",
           .meaning = "Writes `multipliers.csv`: λ of each bond, M a = F₀ + Jᵀλ. Of `zss-stiff` "
                      "with another Hessian than Gauss-Newton's λ = -ω²(g + b h² J a), and a has "
                      "more terms. Rigid schemes: those of rigid bonds at the positions and "
                      "velocities of the row, not the mean of the scheme's own two, which differs "
                      "by some 10⁻³ at 2.4 fs. The `#` line has the equation."}),
      optional_section<&Deck::rdf>({.name = "observe.rdf",
                                    .meaning =
                                        "Writes `rdf.csv` and its picture: intermolecular pair "
                                        "distances and numbers of neighbours, all replicas pooled. "
                                        "Of several baths `rdf_by_bath.csv` and the picture have "
                                        "each by itself."}),
      optional_section<&Deck::profile>(
          {.name = "observe.profile",
           .meaning =
               "Writes `profile.csv` and its picture: density by the distance from the centre of "
               "mass of the cluster, and how the dipoles of the molecules there point, all "
               "replicas pooled, from the end of the equilibration on. Of several baths "
               "`profile_by_bath.csv` and the picture have each by itself."}),
      optional_section<&Deck::spectrum>(
          {.name = "observe.spectrum",
           .meaning =
               "Writes `spectrum.csv` and its picture: the density of vibrational states, from the "
               "velocities, and the infrared absorption, from the rate of the dipole moment, of "
               "the whole cluster, from the end of the equilibration on. Segments have Hann's "
               "window and overlap by half. A thermostat broadens each line by its friction, 5/ps "
               "by 27 cm⁻¹: clean lines take a run without one, from the `state` of a run that "
               "had one. [measuring.md](measuring.md#spectra) has conventions and cost."}),
      optional_section<&Deck::correlation>(
          {.name = "observe.correlation",
           .meaning =
               "Writes `correlation.csv` and its picture: how O-H bonds, H-H vectors and dipoles "
               "of the molecules turn in time (P₁ and P₂), how long hydrogen bonds last, and how "
               "far oxygens move from where they were, averaged over molecules, replicas and "
               "origins in time, from the end of the equilibration on. A thermostat slows these "
               "motions: their own take a run without one, from the `state` of a run that had one. "
               "[measuring.md](measuring.md#time-correlation-functions) has conventions and "
               "cost."}),
      optional_section<&Deck::evaporation>(
          {.name = "observe.evaporation",
           .meaning =
               "Writes `evaporation.csv`: when each replica lost its first molecule, from the end "
               "of the equilibration on, and `survival.csv` and `evaporation_rates.csv` with their "
               "picture: the share of replicas that are still whole, and the rate at which they "
               "lose molecules, of each bath by itself, with the activation energy of several. "
               "[measuring.md](measuring.md#evaporation) has what these are."}),
      optional_section<&Deck::minima>(
          {.name = "observe.minima",
           .meaning =
               "Writes `minima.csv`: the minimum of the potential that a copy of each replica is "
               "quenched to, its inherent structure, as rigid molecules and without the wall. At "
               "the end `isomers.csv` and its picture have the lowest minima that were met and the "
               "share of samples that went to each, and `isomers.xyz` their structures, from the "
               "end of the equilibration on; of several baths `isomers_by_bath.csv` and the "
               "picture have each by itself. [measuring.md](measuring.md#inherent-structures) has "
               "accuracy and cost."}),
      optional_section<&Deck::trajectory>(
          {.name = "observe.trajectory",
           .meaning = "Writes `trajectory.*`: reported positions, a file each replica or, with "
                      "`h5md`, a group."}),
      optional_section<&Deck::final_structures>(
          {.name = "observe.final",
           .meaning =
               "Writes `final.xyz` (of several replicas `final-0000.xyz` and so on) at the end of "
               "the run: the scheme's own positions and velocities, in extended XYZ with all "
               "digits, to be started from with `file`, `velocities = \"file\"` and the same "
               "scheme and step. Replicas that were stopped have none."}),
      {.name = "checkpoint",
       .meaning = "A checkpoint is always written at the end of a run and when it is interrupted."},
  };
}

std::vector<Key> make_keys() {
  const Condition structured{"integrator.scheme", {"zss-stiff"}};
  const Condition one_step{"integrator.scheme", {"newmark-one-step"}};
  const Condition hessians{"integrator.scheme", {"zss-stiff", "newmark-one-step"}};
  const Condition newmark{"integrator.scheme",
                          {"zss-stiff", "pushforward-newmark", "newmark-one-step"}};
  const Condition penalty{"integrator.scheme",
                          {"zss-stiff", "pushforward-newmark", "newmark-one-step", "verlet"}};
  const Condition iterated{"integrator.scheme", {"shake", "rattle"}};
  const Condition warm{"thermostat.kind", {"gla", "baoab"}};
  const Condition drawn{"system.velocities", {"maxwell", "tangent"}};
  const Condition moving{"system.velocities", {"maxwell", "tangent", "file", "state"}};
  const Condition not_of_file{"system.velocities", {"maxwell", "tangent", "zero"}};
  const Condition no_file{"system.file"};
  const Condition no_state{"system.state"};

  const std::vector<Word> selection{
      {"all", static_cast<int>(ReplicaSelection::Kind::all), "every replica"},
      {"mean", static_cast<int>(ReplicaSelection::Kind::mean),
       "mean over the replicas and its standard error"},
  };
  const std::string_view selection_meaning =
      "Which replicas: all, their mean, or the first n (all of them if there are fewer).";

  return {
      row<&Deck::system, &SystemSection::kind>(
          {.section = "system",
           .name = "kind",
           .type = Type::word,
           .words = kinds(),
           .meaning = "Which kind of system this is; it decides which keys there are."}),
      row<&Deck::system, &SystemSection::model>({.section = "system",
                                                 .name = "model",
                                                 .type = Type::word,
                                                 .words = models(),
                                                 .meaning = "Water model."}),
      row<&Deck::system, &SystemSection::molecules>(
          {.section = "system",
           .name = "molecules",
           .type = Type::integer,
           .range = from_to(1, kMaxMolecules),
           .fallback = "what `file` or `state` holds",
           .meaning = "Number of molecules. Without `file` and `state`: a random cluster of that "
                      "many, drawn from (seed, replica). With one of them: it must hold that many.",
           .zero_means_absent = true}),
      row<&Deck::system, &SystemSection::file>(
          {.section = "system",
           .name = "file",
           .type = Type::file,
           .fallback = "none",
           .meaning =
               "Structure file that every replica starts from, relative to the deck: extended XYZ, "
               "GRO or PDB, or a trajectory. Of several frames `frame` is taken; its velocities "
               "only "
               "with `velocities = \"file\"`.",
           .instead_of = "state"}),
      row<&Deck::system, &SystemSection::frame>(
          {.section = "system",
           .name = "frame",
           .type = Type::integer,
           .range = at_least(0),
           .fallback = "the first",
           .meaning = "Which frame of `file`, counted from 0. Of a file with several replicas, of "
                      "its first one; `tarn convert --replicas` takes out others.",
           .used_with = no_state}),
      row<&Deck::system, &SystemSection::state>(
          {.section = "system",
           .name = "state",
           .type = Type::file,
           .fallback = "none",
           .meaning =
               "Where another run of water left off, relative to the deck: its folder, or its "
               "`checkpoint.bin`. Replica r starts from replica r there, or each from the only "
               "one. Steps and time begin at 0, and nothing is minimised; "
               "[running.md](running.md#starting-from-another-run) says what happens between "
               "schemes and "
               "models.",
           .instead_of = "file"}),
      row<&Deck::system, &SystemSection::start>(
          {.section = "system",
           .name = "start",
           .type = Type::word,
           .words = {{"quenched", static_cast<int>(StartKind::quenched),
                      "the random cluster is minimised first"},
                     {"random", static_cast<int>(StartKind::random), "as it was drawn"}},
           .meaning = "Start of a cluster that comes from no file.",
           .used_with = no_file,
           .also_with = {no_state}}),
      row<&Deck::system, &SystemSection::replicas>(
          {.section = "system",
           .name = "replicas",
           .type = Type::integer,
           .range = from_to(1, kMaxReplicas),
           .meaning = "Number of independent copies, run as one batch."}),
      row<&Deck::system, &SystemSection::seed>(
          {.section = "system",
           .name = "seed",
           .type = Type::integer,
           .range = at_least(0),
           .meaning = "Seed of starts, velocities and noise, at most 2⁶³ - 1. Noise follows from "
                      "(seed, replica, "
                      "step): with a thermostat in both runs it must not be that of `state`."}),
      row<&Deck::system, &SystemSection::velocities>(
          {.section = "system",
           .name = "velocities",
           .type = Type::word,
           .words = {{"maxwell", static_cast<int>(VelocityKind::maxwell),
                      "drawn at the temperature; projected onto the constraints for rigid schemes"},
                     {"tangent", static_cast<int>(VelocityKind::tangent),
                      "projected for penalty schemes too"},
                     {"zero", static_cast<int>(VelocityKind::zero), "at rest"},
                     {"file", static_cast<int>(VelocityKind::file),
                      "those of `file`: columns `vel_A_per_akma:R:3` of extended XYZ, in Å per "
                      "48.88821 fs (1 of them is 20.45483 Å/ps), or those of GRO, in nm/ps; "
                      "projected onto the constraints for rigid schemes"},
                     {"state", static_cast<int>(VelocityKind::state), "those of `state`"}},
           .fallback =
               "`\"maxwell\"`, or `\"zero\"` without any temperature; `\"state\"` with `state`",
           .meaning = "Start velocities."}),
      row<&Deck::system, &SystemSection::temperature_K>(
          {.section = "system",
           .name = "temperature_K",
           .type = Type::number,
           .unit = "K",
           .range = from_to(0, kLargestTemperature_K),
           .fallback = "the thermostat's",
           .meaning = "Temperature of the start velocities.",
           .used_with = drawn}),
      row<&Deck::system, &SystemSection::relax>(
          {.section = "system",
           .name = "relax",
           .type = Type::boolean,
           .fallback = "`true`, or `false` with infinite `omega` or given velocities",
           .meaning = "Relax the start on non-bonded and penalty energy together, so that the "
                      "bonds do not start stretched against the penalty.",
           .used_with = penalty,
           .also_with = {no_state, not_of_file}}),
      row<&Deck::system, &SystemSection::project>(
          {.section = "system",
           .name = "project",
           .type = Type::word,
           .words =
               {{"none", static_cast<int>(StartProjection::none), "as it is"},
                {"slow-manifold", static_cast<int>(StartProjection::slow_manifold),
                 "the vibration of the bonds is taken out of positions and velocities; "
                 "`run.json` tells its energy before and after. Needs finite `omega`, and some "
                 "430 evaluations of all forces a replica. A thermostat puts the vibration "
                 "back"}},
           .meaning = "Where the start is moved to, after all else.",
           .used_with = penalty}),
      row<&Deck::system, &SystemSection::remove_momentum>(
          {.section = "system",
           .name = "remove_momentum",
           .type = Type::boolean,
           .meaning = "Take linear and angular momentum out of the start velocities. Without a "
                      "thermostat, "
                      "temperatures do not count these six degrees of freedom.",
           .used_with = moving}),
      row<&Deck::system, &SystemSection::hydrogen_mass_Da>(
          {.section = "system",
           .name = "hydrogen_mass_Da",
           .type = Type::number,
           .unit = "Da",
           .range = from_to(0.1, 8),
           .meaning = "Mass of a hydrogen; the oxygen gets what is left of the molecule's. Heavy "
                      "hydrogens turn slower and allow longer steps; averages of positions stay "
                      "what they are."}),
      row<&Deck::system, &SystemSection::oxygen_mass_Da>(
          {.section = "system",
           .name = "oxygen_mass_Da",
           .type = Type::number,
           .unit = "Da",
           .range = from_to(1, 30),
           .fallback = "what is left of the molecule's mass",
           .meaning = "Mass of the oxygen. With it both masses are those of isotopes: D₂O has "
                      "`hydrogen_mass_Da = 2.014` and `oxygen_mass_Da = 15.999`."}),
      row<&Deck::system, &SystemSection::recentre>(
          {.section = "system",
           .name = "recentre",
           .type = Type::boolean,
           .meaning = "Write positions about the centre of mass of each replica, which drifts "
                      "under noise. The run itself is the same, bit for bit."}),

      row<&Deck::model, &ModelSection::oh_A>({.section = "model",
                                              .name = "oh_A",
                                              .type = Type::number,
                                              .unit = "Å",
                                              .range = from_to(0.5, 2),
                                              .fallback = "required",
                                              .meaning = "Distance of O and H."}),
      row<&Deck::model, &ModelSection::hoh_degrees>({.section = "model",
                                                     .name = "hoh_degrees",
                                                     .type = Type::number,
                                                     .unit = "°",
                                                     .range = from_to(60, 170),
                                                     .fallback = "required",
                                                     .meaning = "Angle of the bonds."}),
      row<&Deck::model, &ModelSection::sigma_A>({.section = "model",
                                                 .name = "sigma_A",
                                                 .type = Type::number,
                                                 .unit = "Å",
                                                 .range = from_to(1, 10),
                                                 .fallback = "required",
                                                 .meaning = "Lennard-Jones sigma of the oxygens."}),
      row<&Deck::model, &ModelSection::epsilon_kcal_per_mol>(
          {.section = "model",
           .name = "epsilon_kcal_per_mol",
           .type = Type::number,
           .unit = "kcal/mol",
           .range = above_to(0, 10),
           .fallback = "required",
           .meaning = "Lennard-Jones epsilon of the oxygens."}),
      row<&Deck::model, &ModelSection::charge_hydrogen_e>({.section = "model",
                                                           .name = "charge_hydrogen_e",
                                                           .type = Type::number,
                                                           .unit = "e",
                                                           .range = from_to(0, 2),
                                                           .fallback = "required",
                                                           .meaning = "Charge of a hydrogen."}),
      row<&Deck::model, &ModelSection::om_A>(
          {.section = "model",
           .name = "om_A",
           .type = Type::number,
           .unit = "Å",
           .range = from_to(0, 0.5),
           .meaning =
               "Distance of O and a massless site M on the line that halves the angle, which "
               "has the negative charge then; 0: there is none, and O has it."}),

      row<&Deck::integrator, &IntegratorSection::scheme>(
          {.section = "integrator",
           .name = "scheme",
           .type = Type::word,
           .words =
               {{"zss-stiff", static_cast<int>(Scheme::zss_stiff),
                 "bonds by a penalty; one linear solve a molecule and step"},
                {"pushforward-newmark", static_cast<int>(Scheme::pushforward_newmark),
                 "bonds by a penalty; the implicit equations that `zss-stiff` linearises, "
                 "solved to round-off, with all forces anew at each iteration"},
                {"newmark-one-step", static_cast<int>(Scheme::newmark_one_step),
                 "Newmark's method with one step of Newton's, as a baseline: it drifts; not "
                 "with `baoab`"},
                {"verlet", static_cast<int>(Scheme::verlet),
                 "velocity Verlet with the penalty as a force; stable while h·omega < 0.44, "
                 "1.08 fs at omega = 20"},
                {"shake", static_cast<int>(Scheme::shake),
                 "rigid bonds by iteration; between steps velocities keep a part along the bonds, "
                 "which is reported nowhere"},
                {"rattle", static_cast<int>(Scheme::rattle),
                 "the same with velocities on the constraints at constant energy; with a "
                 "thermostat it is `shake`"},
                {"settle", static_cast<int>(Scheme::settle), "rigid bonds analytically"}},
           .meaning = "Integration scheme."}),
      row<&Deck::integrator, &IntegratorSection::timestep_fs>({.section = "integrator",
                                                               .name = "timestep_fs",
                                                               .type = Type::number,
                                                               .unit = "fs",
                                                               .range = from_to(1e-6, 100),
                                                               .meaning = "Time step h."}),
      row<&Deck::integrator, &IntegratorSection::beta>(
          {.section = "integrator",
           .name = "beta",
           .type = Type::number,
           .range = above_to(0.25, 1),
           .meaning = "Scheme parameter b. At 1/4 positions diverge as the penalty stiffens; near "
                      "1/3 and 1/2 stiff bonds resonate with the step. The band about 1/3 depends "
                      "on omega times the step: seven molecules at 298 K and 2 fs blow up from "
                      "0.28 to 0.35 with omega = 100, and from 0.32 to 0.36 with 500.",
           .used_with = newmark}),
      row<&Deck::integrator, &IntegratorSection::omega>(
          {.section = "integrator",
           .name = "omega",
           .type = Type::number,
           .unit = "sqrt(kcal/mol)/Å²",
           .range = {.low = 1e-3, .high = 1e6, .infinity_allowed = true},
           .meaning = "Penalty strength; `\"infinite\"` is the limit of rigid bonds.",
           .used_with = penalty}),
      row<&Deck::integrator, &IntegratorSection::hessian>(
          {.section = "integrator",
           .name = "hessian",
           .type = Type::word,
           .words = {{"gauss-newton", static_cast<int>(Hessian::gauss_newton),
                      "first derivatives of the constraints only"},
                     {"full", static_cast<int>(Hessian::full),
                      "the curvature of the constraints too, as in the paper; it heats, and does "
                      "not keep angular momentum"},
                     {"molecule", static_cast<int>(Hessian::molecule),
                      "`full` and the non-bonded energy's blocks of single molecules, for study: "
                      "it does not keep momentum"},
                     {"total", static_cast<int>(Hessian::total),
                      "all of the Hessian, one factorisation of a 9N×9N matrix a step, for study "
                      "of up to 128 molecules"}},
           .meaning = "Which Hessian stands in the linear solve. The last two go with "
                      "`zss-stiff` and finite `omega` only.",
           .used_with = hessians}),
      row<&Deck::integrator, &IntegratorSection::solver>(
          {.section = "integrator",
           .name = "solver",
           .type = Type::word,
           .words = {{"structured", static_cast<int>(Solver::structured), "3×3, in closed form"},
                     {"dense", static_cast<int>(Solver::dense),
                      "9×9 Cholesky of the same matrix, as a reference; needs finite `omega`"}},
           .meaning = "How the linear solve is done; the Hessians for study are always dense.",
           .used_with = structured}),
      row<&Deck::integrator, &IntegratorSection::acceleration>(
          {.section = "integrator",
           .name = "acceleration",
           .type = Type::word,
           .words = {{"force", static_cast<int>(OneStepAcceleration::force),
                      "that of the forces at the new positions"},
                     {"linearised", kRefused,
                      "it would be part of the state; mechanical systems have it"}},
           .meaning = "What the second kick takes.",
           .used_with = one_step}),
      row<&Deck::integrator, &IntegratorSection::tolerance>(
          {.section = "integrator",
           .name = "tolerance",
           .type = Type::number,
           .range = from_to(1e-15, 0.1),
           .meaning = "Relative position change at which the iteration stops; in single precision "
                      "no less than 5·10⁻⁷, which is what floats reach.",
           .used_with = iterated}),
      row<&Deck::integrator, &IntegratorSection::iteration>(
          {.section = "integrator",
           .name = "iteration",
           .type = Type::word,
           .words = {{"newton", static_cast<int>(ShakeIteration::newton),
                      "the three bonds of a molecule together; converges quadratically"},
                     {"sweeps", static_cast<int>(ShakeIteration::sweeps),
                      "bond by bond, as SHAKE was first written"}},
           .meaning = "How the constraints are iterated.",
           .used_with = iterated}),

      row<&Deck::thermostat, &ThermostatSection::kind>(
          {.section = "thermostat",
           .name = "kind",
           .type = Type::word,
           .words = {{"none", static_cast<int>(Thermostat::none), "constant energy"},
                     {"gla", static_cast<int>(Thermostat::gla),
                      "one deterministic step, then the exact Ornstein-Uhlenbeck step"},
                     {"baoab", static_cast<int>(Thermostat::baoab),
                      "the same step in the middle of the drift"}},
           .meaning = "Thermostat."}),
      row<&Deck::thermostat, &ThermostatSection::temperature_K>(
          {.section = "thermostat",
           .name = "temperature_K",
           .type = Type::number,
           .unit = "K",
           .range = from_to(0, kLargestTemperature_K),
           .fallback = "required, or `temperatures_K`",
           .meaning = "Temperature of the bath.",
           .used_with = warm,
           .instead_of = "temperatures_K"}),
      row<&Deck::thermostat, &ThermostatSection::temperatures_K>(
          {.section = "thermostat",
           .name = "temperatures_K",
           .type = Type::numbers,
           .unit = "K",
           .range = from_to(0, kLargestTemperature_K),
           .fallback = "none",
           .meaning = "Temperatures of the baths of the replicas, one each; a shorter list is "
                      "repeated. Start velocities follow it.",
           .used_with = warm,
           .instead_of = "temperature_K"}),
      row<&Deck::thermostat, &ThermostatSection::friction_per_ps>(
          {.section = "thermostat",
           .name = "friction_per_ps",
           .type = Type::number,
           .unit = "1/ps",
           .range = from_to(0, kLargestFriction),
           .fallback = "none",
           .meaning = "Friction rate, the same for all atoms.",
           .used_with = warm,
           .instead_of = "friction_amu_per_ps"}),
      row<&Deck::thermostat, &ThermostatSection::friction_amu_per_ps>(
          {.section = "thermostat",
           .name = "friction_amu_per_ps",
           .type = Type::number,
           .unit = "Da/ps",
           .range = from_to(0, kLargestFriction),
           .fallback = "none",
           .meaning = "Friction γ; the rate of an atom of mass m is γ/m. The paper's γ = 0.01 "
                      "Da per time unit is 0.2045483 Da/ps.",
           .used_with = warm,
           .instead_of = "friction_per_ps"}),

      row<&Deck::exchange, &ExchangeSection::every>(
          {.section = "exchange",
           .name = "every",
           .type = Type::integer,
           .unit = "steps",
           .range = from_to(1, kMostSteps),
           .meaning = "Interval between attempts, not at step 0. Attempts 2, 4, ... are of the "
                      "neighbours (0, 1), (2, 3) and so on of each ladder, the others of (1, 2), "
                      "(3, 4). An attempt costs as much as four to six steps of eight molecules."}),

      row<&Deck::confinement, &ConfinementSection::kind>(
          {.section = "confinement",
           .name = "kind",
           .type = Type::word,
           .words = {{"flat-bottom", static_cast<int>(Wall::flat_bottom), "no force inside R"}},
           .meaning = "Form of the wall."}),
      row<&Deck::confinement, &ConfinementSection::radius_A>(
          {.section = "confinement",
           .name = "radius_A",
           .type = Type::number,
           .unit = "Å",
           .range = above_to(0, 1e6),
           .fallback = "required",
           .meaning = "Radius R of the flat bottom. Averages of a warm cluster, whose molecules "
                      "leave and come back, depend on it: tell it with them, and try another. A "
                      "ball of the liquid has 1.93 Å · N^(1/3) - 1.4 Å to the outermost centres; "
                      "the decks of tarn give 1.6 to 4 Å more."}),
      row<&Deck::confinement, &ConfinementSection::stiffness_kcal_per_mol_A2>(
          {.section = "confinement",
           .name = "stiffness_kcal_per_mol_A2",
           .type = Type::number,
           .unit = "kcal/mol/Å²",
           .range = above_to(0, 1e6),
           .fallback = "required",
           .meaning = "Stiffness K beyond it."}),

      row<&Deck::run, &RunSection::steps>({.section = "run",
                                           .name = "steps",
                                           .type = Type::integer,
                                           .range = from_to(0, kMostSteps),
                                           .fallback = "from `duration_ps`",
                                           .meaning = "Number of time steps.",
                                           .instead_of = "duration_ps",
                                           .may_change_on_resume = true}),
      {.section = "run",
       .name = "duration_ps",
       .type = Type::number,
       .unit = "ps",
       .range = from_to(0, 1e12),
       .fallback = "from `steps`",
       .meaning = "Length of the run, rounded up to whole steps; the resolved deck has `steps`.",
       .instead_of = "steps",
       .may_change_on_resume = true,
       // The number of steps needs the time step too: the reader sets it when all keys are known.
       .get = [](const Key&, const Deck&) { return Value{}; },
       .set = [](const Key&, const Value&, Deck&) {}},
      row<&Deck::run, &RunSection::equilibration_ps>(
          {.section = "run",
           .name = "equilibration_ps",
           .type = Type::number,
           .unit = "ps",
           .range = from_to(0, 1e12),
           .meaning = "Averages leave out this much of the beginning: `averages.csv`, which holds "
                      "every column of the tables below but the conserved quantities, with error "
                      "and autocorrelation time, the RDF and the Lindemann index."}),
      row<&Deck::run, &RunSection::precision>(
          {.section = "run",
           .name = "precision",
           .type = Type::word,
           .words = {{"double", static_cast<int>(Precision::double_), "everything in double"},
                     {"mixed", static_cast<int>(Precision::mixed),
                      "pairs in float, sums and state in double"},
                     {"single", static_cast<int>(Precision::single),
                      "pairs, solves and velocities in float, positions as fixed-point numbers of "
                      "1.5e-8 Å"}},
           .meaning = "Floating-point precision."}),
      row<&Deck::run, &RunSection::device>({.section = "run",
                                            .name = "device",
                                            .type = Type::device,
                                            .meaning = "Where it runs; a named device never falls "
                                                       "back. `auto` takes the first GPU that CUDA "
                                                       "finds, and the CPU where there is none.",
                                            .may_change_on_resume = true}),
      threads_row("CPU threads; 0: as many as there are processors for this process, or "
                  "`OMP_NUM_THREADS`. No result depends on it."),

      every_row<&Deck::energies, &ObserveEnergies::every>("observe.energies",
                                                          "Interval; step 0 is written."),
      replicas_row<&Deck::energies, &ObserveEnergies::replicas>("observe.energies", selection,
                                                                selection_meaning),
      every_row<&Deck::conservation, &ObserveConservation::every>("observe.conservation",
                                                                  "Interval; step 0 is written."),
      replicas_row<&Deck::conservation, &ObserveConservation::replicas>(
          "observe.conservation", selection, selection_meaning),
      every_row<&Deck::heat, &ObserveHeat::every>("observe.heat", "Interval; step 0 is written."),
      replicas_row<&Deck::heat, &ObserveHeat::replicas>("observe.heat", selection,
                                                        selection_meaning),
      every_row<&Deck::temperatures, &ObserveTemperatures::every>("observe.temperatures",
                                                                  "Interval; step 0 is written."),
      replicas_row<&Deck::temperatures, &ObserveTemperatures::replicas>(
          "observe.temperatures", selection, selection_meaning),
      every_row<&Deck::geometry, &ObserveGeometry::every>("observe.geometry",
                                                          "Interval; step 0 is written."),
      replicas_row<&Deck::geometry, &ObserveGeometry::replicas>("observe.geometry", selection,
                                                                selection_meaning),
      every_row<&Deck::cluster, &ObserveCluster::every>("observe.cluster",
                                                        "Interval; step 0 is written."),
      replicas_row<&Deck::cluster, &ObserveCluster::replicas>("observe.cluster", selection,
                                                              selection_meaning),
      row<&Deck::cluster, &ObserveCluster::lindemann>(
          {.section = "observe.cluster",
           .name = "lindemann",
           .type = Type::boolean,
           .fallback = "`true`, or `false` with `[exchange]`",
           .meaning = "Also the Lindemann index of each replica up to each row, from the end of "
                      "the equilibration on. It remembers every pair of molecules: at most 10⁷ of "
                      "all replicas together."}),
      every_row<&Deck::multipliers, &ObserveMultipliers::every>("observe.multipliers",
                                                                "Interval between rows."),
      row<&Deck::multipliers, &ObserveMultipliers::window_steps>(
          {.section = "observe.multipliers",
           .name = "window_steps",
           .type = Type::integer,
           .unit = "steps",
           .range = from_to(1, 100001),
           .meaning = "Each row is the mean over this odd number of steps about it; 1: the value "
                      "at that step."}),
      replicas_row<&Deck::multipliers, &ObserveMultipliers::replicas>(
          "observe.multipliers",
          {{"all", static_cast<int>(ReplicaSelection::Kind::all), "every replica"}},
          "Which replicas: all, or the first n (all of them if there are fewer)."),
      every_row<&Deck::rdf, &ObserveRdf::every>("observe.rdf", "Interval between counts."),
      row<&Deck::rdf, &ObserveRdf::pairs>(
          {.section = "observe.rdf",
           .name = "pairs",
           .type = Type::words,
           .words = {{"OO", kOO}, {"OH", kOH}, {"HH", kHH}},
           .meaning = "Which pairs of atoms, of different molecules."}),
      row<&Deck::rdf, &ObserveRdf::r_max_A>({.section = "observe.rdf",
                                             .name = "r_max_A",
                                             .type = Type::number,
                                             .unit = "Å",
                                             .range = above_to(0, 1000),
                                             .meaning = "End of the last bin."}),
      row<&Deck::rdf, &ObserveRdf::bins>({.section = "observe.rdf",
                                          .name = "bins",
                                          .type = Type::integer,
                                          .range = from_to(1, 100000),
                                          .meaning = "Number of bins, of equal width."}),
      every_row<&Deck::profile, &ObserveProfile::every>("observe.profile",
                                                        "Interval between samples."),
      row<&Deck::profile, &ObserveProfile::r_max_A>({.section = "observe.profile",
                                                     .name = "r_max_A",
                                                     .type = Type::number,
                                                     .unit = "Å",
                                                     .range = above_to(0, 1000),
                                                     .meaning = "End of the last shell."}),
      row<&Deck::profile, &ObserveProfile::bins>(
          {.section = "observe.profile",
           .name = "bins",
           .type = Type::integer,
           .range = from_to(1, 1000),
           .meaning = "Number of shells, of equal thickness."}),
      every_row<&Deck::spectrum, &ObserveSpectrum::every>(
          "observe.spectrum",
          "Interval between samples. The spectrum ends at 16678 cm⁻¹ fs over the time "
          "between two, and what is faster folds back below: with 1 nothing can."),
      row<&Deck::spectrum, &ObserveSpectrum::resolution_per_cm>(
          {.section = "observe.spectrum",
           .name = "resolution_per_cm",
           .type = Type::number,
           .unit = "1/cm",
           .range = from_to(1e-3, 1e5),
           .meaning = "Width at half height of an infinitely sharp line, or somewhat less. A "
                      "segment takes 48 ps cm⁻¹ over it, 9.6 ps with 5, and at least 16 samples; "
                      "rows are 0.69 of it apart."}),
      replicas_row<&Deck::spectrum, &ObserveSpectrum::replicas>(
          "observe.spectrum",
          {{"all", static_cast<int>(ReplicaSelection::Kind::all), "every replica"}},
          "Which replicas: all, or the first n (all of them if there are fewer). All "
          "that are taken are averaged."),
      every_row<&Deck::correlation, &ObserveCorrelation::every>(
          "observe.correlation",
          "Interval between samples, and between rows. Hydrogen bonds that break for "
          "less are not seen to break."),
      row<&Deck::correlation, &ObserveCorrelation::length_ps>(
          {.section = "observe.correlation",
           .name = "length_ps",
           .type = Type::number,
           .unit = "ps",
           .range = above_to(0, 1e6),
           .meaning =
               "The longest time, to the nearest multiple of the interval, and at least one. "
               "There is an origin each sixteenth of it, or at each sample; sixteen origins "
               "and the time behind them, some twice `length_ps`, give the first rows."}),
      replicas_row<&Deck::correlation, &ObserveCorrelation::replicas>(
          "observe.correlation",
          {{"all", static_cast<int>(ReplicaSelection::Kind::all), "every replica"}},
          "Which replicas: all, or the first n (all of them if there are fewer). All "
          "that are taken are averaged."),
      every_row<&Deck::evaporation, &ObserveEvaporation::every>(
          "observe.evaporation", "Interval at which replicas are looked at."),
      row<&Deck::evaporation, &ObserveEvaporation::link_A>(
          {.section = "observe.evaporation",
           .name = "link_A",
           .type = Type::number,
           .unit = "Å",
           .range = above_to(0, 1000),
           .meaning =
               "A molecule has left when its oxygen is farther than this from those of the "
               "largest part of its cluster, of which each is nearer than this to another."}),
      every_row<&Deck::minima, &ObserveMinima::every>("observe.minima",
                                                      "Interval; step 0 is written."),
      replicas_row<&Deck::minima, &ObserveMinima::replicas>(
          "observe.minima", selection,
          "Which replicas have rows in `minima.csv`: all, the first n, or their mean "
          "with its standard error. All are quenched and counted."),
      row<&Deck::minima, &ObserveMinima::isomers>(
          {.section = "observe.minima",
           .name = "isomers",
           .type = Type::integer,
           .range = from_to(1, 1000),
           .meaning = "How many minima are counted, the lowest. Those nearer than 10⁻⁷ kcal/mol "
                      "are one, as mirror images are."}),
      every_row<&Deck::trajectory, &ObserveTrajectory::every>("observe.trajectory",
                                                              "Interval; step 0 is written."),
      row<&Deck::trajectory, &ObserveTrajectory::format>({.section = "observe.trajectory",
                                                          .name = "format",
                                                          .type = Type::word,
                                                          .words = trajectory_formats(),
                                                          .meaning = "File format."}),
      row<&Deck::trajectory, &ObserveTrajectory::velocities>(
          {.section = "observe.trajectory",
           .name = "velocities",
           .type = Type::boolean,
           .meaning =
               "Whether frames have velocities too: those of the scheme at the end of the "
               "step, on the constraints for rigid ones. In Å/akma, GRO and TRR nm/ps, H5MD Å/ps.",
           .used_with = {"observe.trajectory.format", formats_with_velocities()}}),
      replicas_row<&Deck::trajectory, &ObserveTrajectory::replicas>(
          "observe.trajectory",
          {{"all", static_cast<int>(ReplicaSelection::Kind::all), "every replica"},
           {"mean", kRefused, "the mean of trajectories is no trajectory"}},
          "Which replicas: all, or the first n (all of them if there are fewer)."),
      replicas_row<&Deck::final_structures, &ObserveFinal::replicas>(
          "observe.final",
          {{"all", static_cast<int>(ReplicaSelection::Kind::all), "every replica"},
           {"mean", kRefused, "the mean of structures is no structure"}},
          "Which replicas: all, or the first n (all of them if there are fewer)."),

      row<&Deck::checkpoint, &CheckpointSection::every>(
          {.section = "checkpoint",
           .name = "every",
           .type = Type::integer,
           .unit = "steps",
           .range = from_to(1, kMostSteps),
           .fallback = "none",
           .meaning = "Interval between checkpoints during the run.",
           .zero_means_absent = true,
           .may_change_on_resume = true}),
      every_minutes_row(),
  };
}

bool is_integer_type(Type type) { return type == Type::integer || type == Type::selection; }

std::string bound_text(const Key& key, double bound) {
  return is_integer_type(key.type) ? fmt::format("{:.0f}", bound) : fmt::format("{}", bound);
}

std::string range_text(const Key& key) {
  const Range& range = key.range;
  const bool top = std::isfinite(range.high);
  const std::string low = bound_text(key, range.low);
  if (!top && !std::isfinite(range.low)) return {};
  if (!top) return (range.low_open ? " greater than " : " of at least ") + low;
  const std::string high = bound_text(key, range.high);
  if (range.low_open) return fmt::format(" greater than {} and at most {}", low, high);
  return fmt::format(" from {} to {}", low, high);
}

}  // namespace

const Schema& water_schema() {
  static const Schema schema{make_sections(), make_keys(), rules()};
  return schema;
}

const Schema& schema_of(const Deck& deck) {
  return is_mechanical(deck.system.kind) ? mechanics_schema() : water_schema();
}

const Section* Schema::find_section(std::string_view name) const {
  for (const Section& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

const Key* Schema::find_key(std::string_view section, std::string_view name) const {
  for (const Key& key : keys) {
    if (key.section == section && key.name == name) return &key;
  }
  return nullptr;
}

const Key* Schema::find_key(std::string_view path) const {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? nullptr
                                       : find_key(path.substr(0, dot), path.substr(dot + 1));
}

bool holds(const Condition& condition, const Deck& deck) {
  const auto value_of = [&](std::string_view path) {
    const Key& key = *schema_of(deck).find_key(path);
    return key.get(key, deck);
  };
  const auto is_one_of = [](const Value& value, const std::vector<std::string_view>& words) {
    const auto* word = std::get_if<std::string>(&value);
    return word != nullptr && std::find(words.begin(), words.end(), *word) != words.end();
  };
  if (condition.path.empty()) return true;
  if (!condition.where.empty() && !is_one_of(value_of(condition.where), condition.where_words)) {
    return true;
  }
  const Value value = value_of(condition.path);
  return condition.words.empty() ? std::holds_alternative<std::monostate>(value)
                                 : is_one_of(value, condition.words);
}

bool is_used(const Key& key, const Deck& deck) {
  return holds(key.used_with, deck) &&
         std::all_of(key.also_with.begin(), key.also_with.end(),
                     [&](const Condition& also) { return holds(also, deck); });
}

std::vector<std::string_view> accepted_words(const Key& key) {
  std::vector<std::string_view> words;
  for (const Word& word : key.words) {
    if (word.value >= 0) words.push_back(word.text);
  }
  return words;
}

std::string wanted(const Key& key) {
  const std::vector<std::string_view> words = accepted_words(key);
  const std::string list = comma_list(words, true);
  switch (key.type) {
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "an integer" + range_text(key);
    case Type::number:
      return "a number" + range_text(key) + (key.range.infinity_allowed ? ", or \"infinite\"" : "");
    case Type::word:
      return words.size() == 1 ? list : "one of " + list;
    case Type::words:
      return "a list of some of " + list;
    case Type::numbers:
      return "a list of numbers" + range_text(key);
    case Type::selection:
      return list + " or an integer" + range_text(key);
    case Type::file:
      return "a path in quotes";
    case Type::device:
      return R"("auto", "cpu", "cuda" or "cuda:i" with the number i of a device)";
  }
  return {};
}

std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04X}", code);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string toml_text(const Key& key, const Value& value) {
  struct Writer {
    const Key& key;
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const {
      return key.range.infinity_allowed && std::isinf(number) ? "\"infinite\""
                                                              : number_text(number);
    }
    std::string operator()(const std::string& text) const { return toml_string(text); }
    std::string operator()(const std::vector<std::string>& list) const {
      return '[' + comma_list({list.begin(), list.end()}, true) + ']';
    }
    std::string operator()(const std::vector<double>& list) const {
      std::string text;
      for (double number : list) text += (text.empty() ? "" : ", ") + number_text(number);
      return '[' + text + ']';
    }
  };
  return std::visit(Writer{key}, value);
}

std::string comma_list(const std::vector<std::string_view>& items, bool in_quotes) {
  std::string result;
  for (std::string_view item : items) {
    if (!result.empty()) result += ", ";
    result += in_quotes ? toml_string(item) : std::string(item);
  }
  return result;
}

}  // namespace tarn::decks
