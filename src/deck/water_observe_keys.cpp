#include "tarn/io/formats.hpp"
#include "water_keys.hpp"

namespace tarn::decks {
namespace {

constexpr std::string_view kAllOrFirst =
    "Which replicas: all, or the first n (all of them if there are fewer).";

Choice all_replicas() { return {"all", code(ReplicaSelection::Kind::all), "every replica"}; }
std::vector<Choice> every_replica() { return {all_replicas()}; }
std::vector<Choice> all_or_mean() {
  return {all_replicas(),
          {"mean", code(ReplicaSelection::Kind::mean),
           "mean over the replicas and its standard error"}};
}
constexpr std::string_view kAllMeanOrFirst =
    "Which replicas: all, their mean, or the first n (all of them if there are fewer).";

/// An observer with a table of rows at an interval, for chosen replicas.
template <auto section, class Observe>
SectionTable table_section(Section described) {
  return {optional_section<section>(described),
          {interval_key<section, &Observe::every>(),
           replicas_key<section, &Observe::replicas>(all_or_mean(), kAllMeanOrFirst)}};
}

std::vector<Choice> trajectory_formats() {
  std::vector<Choice> choices;
  for (const io::Format& format : io::formats()) {
    choices.push_back({format.name, static_cast<int>(format.id), format.meaning});
  }
  choices.push_back({"csv", kRejected, "that is the format of mechanical systems"});
  return choices;
}

std::vector<std::string_view> formats_with_velocities() {
  std::vector<std::string_view> names;
  for (const io::Format& format : io::formats()) {
    if (format.has_velocities) names.push_back(format.name);
  }
  return names;
}

}  // namespace

SectionTable energies_section() {
  return table_section<&Deck::energies, ObserveEnergies>(
      {.name = "observe.energies",
       .description =
           "Writes `energies.csv`, and with several baths `heat_capacity.csv`; the section "
           "turns the observer on."});
}

SectionTable conservation_section() {
  return table_section<&Deck::conservation, ObserveConservation>(
      {.name = "observe.conservation",
       .description = "Writes `conservation.csv`: conserved energy, momenta, worst constraint."});
}

SectionTable heat_section() {
  return table_section<&Deck::heat, ObserveHeat>(
      {.name = "observe.heat",
       .description =
           "Writes `heat.csv`: heat of the thermostat, shadow work, conserved quantity."});
}

SectionTable temperatures_section() {
  return table_section<&Deck::temperatures, ObserveTemperatures>(
      {.name = "observe.temperatures",
       .description =
           "Writes `temperatures.csv`: temperature of translation, rotation and bonds."});
}

SectionTable geometry_section() {
  return table_section<&Deck::geometry, ObserveGeometry>(
      {.name = "observe.geometry",
       .description =
           "Writes `geometry.csv`: bond lengths and angles, means over the molecules and "
           "the shortest and longest O-H bond, at the reported positions (q) and at the "
           "scheme's own (x)."});
}

SectionTable cluster_section() {
  return {
      optional_section<&Deck::cluster>(
          {.name = "observe.cluster",
           .description =
               "Writes `cluster.csv` and its picture: radius of gyration of the oxygens, hydrogen "
               "bonds (O-O below 3.5 Å, H-O...O below 30 degrees), the largest distance from an "
               "oxygen to its nearest other one, which shows a molecule that has left, the dipole "
               "moment of the cluster, the mean of those of its molecules, and the Lindemann "
               "index."}),
      {
          interval_key<&Deck::cluster, &ObserveCluster::every>("Interval; step 0 is written."),
          replicas_key<&Deck::cluster, &ObserveCluster::replicas>(all_or_mean(), kAllMeanOrFirst),
          field_key<&Deck::cluster, &ObserveCluster::lindemann>(
              {.name = "lindemann",
               .type = Type::boolean,
               .default_text = "`true`, or `false` with `[exchange]`",
               .description =
                   "Also the Lindemann index of each replica up to each row, from the end of "
                   "the equilibration on. It remembers every pair of molecules: at most 10⁷ of "
                   "all replicas together."}),
      }};
}

SectionTable multipliers_section() {
  return {
      optional_section<&Deck::multipliers>(
          {.name = "observe.multipliers",
           .description =
               "Writes `multipliers.csv`: λ of each bond, M a = F₀ + Jᵀλ. Of `zss-stiff` "
               "with another Hessian than Gauss-Newton's λ = -ω²(g + b h² J a), and a has "
               "more terms. Rigid schemes: those of rigid bonds at the positions and "
               "velocities of the row, not the mean of the scheme's own two, which differs "
               "by some 10⁻³ at 2.4 fs. The `#` line has the equation."}),
      {
          interval_key<&Deck::multipliers, &ObserveMultipliers::every>("Interval between rows."),
          field_key<&Deck::multipliers, &ObserveMultipliers::window_steps>(
              {.name = "window_steps",
               .type = Type::integer,
               .unit = "steps",
               .range = from_to(1, 100001),
               .description =
                   "Each row is the mean over this odd number of steps about it; 1: the value "
                   "at that step."}),
          replicas_key<&Deck::multipliers, &ObserveMultipliers::replicas>(every_replica(),
                                                                          kAllOrFirst),
      }};
}

SectionTable rdf_section() {
  return {optional_section<&Deck::rdf>(
              {.name = "observe.rdf",
               .description = "Writes `rdf.csv` and its picture: intermolecular pair "
                              "distances and numbers of neighbours, all replicas pooled. "
                              "Of several baths `rdf_by_bath.csv` and the picture have "
                              "each by itself."}),
          {
              interval_key<&Deck::rdf, &ObserveRdf::every>("Interval between counts."),
              field_key<&Deck::rdf, &ObserveRdf::pairs>(
                  {.name = "pairs",
                   .type = Type::choices,
                   .choices = {{"OO", kOO}, {"OH", kOH}, {"HH", kHH}},
                   .description = "Which pairs of atoms, of different molecules."}),
              field_key<&Deck::rdf, &ObserveRdf::r_max_A>({.name = "r_max_A",
                                                           .type = Type::number,
                                                           .unit = "Å",
                                                           .range = above_to(0, 1000),
                                                           .description = "End of the last bin."}),
              field_key<&Deck::rdf, &ObserveRdf::bins>(
                  {.name = "bins",
                   .type = Type::integer,
                   .range = from_to(1, 100000),
                   .description = "Number of bins, of equal width."}),
          }};
}

SectionTable profile_section() {
  return {
      optional_section<&Deck::profile>(
          {.name = "observe.profile",
           .description =
               "Writes `profile.csv` and its picture: density by the distance from the centre of "
               "mass of the cluster, and how the dipoles of the molecules there point, all "
               "replicas pooled, from the end of the equilibration on. Of several baths "
               "`profile_by_bath.csv` and the picture have each by itself."}),
      {
          interval_key<&Deck::profile, &ObserveProfile::every>("Interval between samples."),
          field_key<&Deck::profile, &ObserveProfile::r_max_A>(
              {.name = "r_max_A",
               .type = Type::number,
               .unit = "Å",
               .range = above_to(0, 1000),
               .description = "End of the last shell."}),
          field_key<&Deck::profile, &ObserveProfile::bins>(
              {.name = "bins",
               .type = Type::integer,
               .range = from_to(1, 1000),
               .description = "Number of shells, of equal thickness."}),
      }};
}

SectionTable spectrum_section() {
  return {
      optional_section<&Deck::spectrum>(
          {.name = "observe.spectrum",
           .description =
               "Writes `spectrum.csv` and its picture: the density of vibrational states, from the "
               "velocities, and the infrared absorption, from the rate of the dipole moment, of "
               "the whole cluster, from the end of the equilibration on. Segments have Hann's "
               "window and overlap by half. A thermostat broadens each line by its friction, 5/ps "
               "by 27 cm⁻¹: clean lines take a run without one, from the `state` of a run that "
               "had one. [measuring.md](measuring.md#spectra) has conventions and cost."}),
      {
          interval_key<&Deck::spectrum, &ObserveSpectrum::every>(
              "Interval between samples. The spectrum ends at 16678 cm⁻¹ fs over the time "
              "between two, and what is faster folds back below: with 1 nothing can."),
          field_key<&Deck::spectrum, &ObserveSpectrum::resolution_per_cm>(
              {.name = "resolution_per_cm",
               .type = Type::number,
               .unit = "1/cm",
               .range = from_to(1e-3, 1e5),
               .description =
                   "Width at half height of an infinitely sharp line, or somewhat less. A "
                   "segment takes 48 ps cm⁻¹ over it, 9.6 ps with 5, and at least 16 samples; "
                   "rows are 0.69 of it apart."}),
          replicas_key<&Deck::spectrum, &ObserveSpectrum::replicas>(
              every_replica(),
              "Which replicas: all, or the first n (all of them if there are fewer). All "
              "that are taken are averaged."),
      }};
}

SectionTable correlation_section() {
  return {
      optional_section<&Deck::correlation>(
          {.name = "observe.correlation",
           .description =
               "Writes `correlation.csv` and its picture: how O-H bonds, H-H vectors and dipoles "
               "of the molecules turn in time (P₁ and P₂), how long hydrogen bonds last, and how "
               "far oxygens move from where they were, averaged over molecules, replicas and "
               "origins in time, from the end of the equilibration on. A thermostat slows these "
               "motions: their own take a run without one, from the `state` of a run that had one. "
               "[measuring.md](measuring.md#time-correlation-functions) has conventions and cost."}),
      {
          interval_key<&Deck::correlation, &ObserveCorrelation::every>(
              "Interval between samples, and between rows. Hydrogen bonds that break for "
              "less are not seen to break."),
          field_key<&Deck::correlation, &ObserveCorrelation::length_ps>(
              {.name = "length_ps",
               .type = Type::number,
               .unit = "ps",
               .range = above_to(0, 1e6),
               .description =
                   "The longest time, to the nearest multiple of the interval, and at least one. "
                   "There is an origin each sixteenth of it, or at each sample; sixteen origins "
                   "and the time behind them, some twice `length_ps`, give the first rows."}),
          replicas_key<&Deck::correlation, &ObserveCorrelation::replicas>(
              every_replica(),
              "Which replicas: all, or the first n (all of them if there are fewer). All "
              "that are taken are averaged."),
      }};
}

SectionTable evaporation_section() {
  return {
      optional_section<&Deck::evaporation>(
          {.name = "observe.evaporation",
           .description =
               "Writes `evaporation.csv`: when each replica lost its first molecule, from the end "
               "of the equilibration on, and `survival.csv` and `evaporation_rates.csv` with their "
               "picture: the share of replicas that are still whole, and the rate at which they "
               "lose molecules, of each bath by itself, with the activation energy of several. "
               "[measuring.md](measuring.md#evaporation) has what these are."}),
      {
          interval_key<&Deck::evaporation, &ObserveEvaporation::every>(
              "Interval at which replicas are looked at."),
          field_key<&Deck::evaporation, &ObserveEvaporation::link_A>(
              {.name = "link_A",
               .type = Type::number,
               .unit = "Å",
               .range = above_to(0, 1000),
               .description =
                   "A molecule has left when its oxygen is farther than this from those of the "
                   "largest part of its cluster, of which each is nearer than this to another."}),
      }};
}

SectionTable minima_section() {
  return {
      optional_section<&Deck::minima>(
          {.name = "observe.minima",
           .description =
               "Writes `minima.csv`: the minimum of the potential that a copy of each replica is "
               "quenched to, its inherent structure, as rigid molecules and without the wall. At "
               "the end `isomers.csv` and its picture have the lowest minima that were met and the "
               "share of samples that went to each, and `isomers.xyz` their structures, from the "
               "end of the equilibration on; of several baths `isomers_by_bath.csv` and the "
               "picture have each by itself. [measuring.md](measuring.md#inherent-structures) has "
               "accuracy and cost."}),
      {
          interval_key<&Deck::minima, &ObserveMinima::every>("Interval; step 0 is written."),
          replicas_key<&Deck::minima, &ObserveMinima::replicas>(
              all_or_mean(),
              "Which replicas have rows in `minima.csv`: all, the first n, or their mean "
              "with its standard error. All are quenched and counted."),
          field_key<&Deck::minima, &ObserveMinima::isomers>(
              {.name = "isomers",
               .type = Type::integer,
               .range = from_to(1, 1000),
               .description =
                   "How many minima are counted, the lowest. Those nearer than 10⁻⁷ kcal/mol "
                   "are one, as mirror images are."}),
      }};
}

SectionTable trajectory_section() {
  return {
      optional_section<&Deck::trajectory>(
          {.name = "observe.trajectory",
           .description = "Writes `trajectory.*`: reported positions, a file each replica or, with "
                          "`h5md`, a group."}),
      {
          interval_key<&Deck::trajectory, &ObserveTrajectory::every>(
              "Interval; step 0 is written."),
          field_key<&Deck::trajectory, &ObserveTrajectory::format>({.name = "format",
                                                                    .type = Type::choice,
                                                                    .choices = trajectory_formats(),
                                                                    .description = "File format."}),
          field_key<&Deck::trajectory, &ObserveTrajectory::velocities>(
              {.name = "velocities",
               .type = Type::boolean,
               .description =
                   "Whether frames have velocities too: those of the scheme at the end of the "
                   "step, on the constraints for rigid ones. In Å/akma, GRO and TRR nm/ps, H5MD "
                   "Å/ps.",
               .used_with = {"observe.trajectory.format", formats_with_velocities()}}),
          replicas_key<&Deck::trajectory, &ObserveTrajectory::replicas>(
              {all_replicas(), {"mean", kRejected, "the mean of trajectories is no trajectory"}},
              kAllOrFirst),
      }};
}

SectionTable final_section() {
  return {
      optional_section<&Deck::final_structures>(
          {.name = "observe.final",
           .description =
               "Writes `final.xyz` (of several replicas `final-0000.xyz` and so on) at the end of "
               "the run: the scheme's own positions and velocities, in extended XYZ with all "
               "digits, to be started from with `file`, `velocities = \"file\"` and the same "
               "scheme and step. Replicas that were stopped have none."}),
      {
          replicas_key<&Deck::final_structures, &ObserveFinal::replicas>(
              {all_replicas(), {"mean", kRejected, "the mean of structures is no structure"}},
              kAllOrFirst),
      }};
}

}  // namespace tarn::decks
