#include "tarn/io/formats.hpp"
#include "water_keys.hpp"

namespace tarn::decks {
namespace {

constexpr std::string_view kAllOrFirst =
    "Replicas to write: all, or the first n (all if there are fewer).";

Choice all_replicas() { return {"all", code(ReplicaSelection::Kind::all)}; }
std::vector<Choice> every_replica() { return {all_replicas()}; }
std::vector<Choice> all_or_mean() {
  return {all_replicas(), {"mean", code(ReplicaSelection::Kind::mean)}};
}
constexpr std::string_view kAllMeanOrFirst =
    "Replicas to write: all, their mean with its standard error, or the first n (all if there are "
    "fewer).";

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
  choices.push_back({"csv", kRejected, "it is the format of mechanical systems"});
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
           "Writes `energies.csv` and, with several temperatures, `heat_capacity.csv`."});
}

SectionTable path_integral_table_section() {
  return table_section<&Deck::path_integral_table, ObservePathIntegral>(
      {.name = "observe.path_integral",
       .description =
           "Writes `path_integral.csv`: total energy by the primitive and by the centroid-virial "
           "estimator, kinetic energy of an oxygen and of a hydrogen, energies between and within "
           "molecules, spring energy, squared radii of gyration of the rings, and temperatures of "
           "centroids and internal modes. Requires `[path_integral]`."});
}

SectionTable conservation_section() {
  return table_section<&Deck::conservation, ObserveConservation>(
      {.name = "observe.conservation",
       .description =
           "Writes `conservation.csv`: conserved energy, momenta, largest constraint violation."});
}

SectionTable heat_section() {
  return table_section<&Deck::heat, ObserveHeat>(
      {.name = "observe.heat",
       .description =
           "Writes `heat.csv`: heat from the thermostat, shadow work, conserved quantity."});
}

SectionTable temperatures_section() {
  return table_section<&Deck::temperatures, ObserveTemperatures>(
      {.name = "observe.temperatures",
       .description = "Writes `temperatures.csv`: kinetic temperatures of translation, rotation "
                      "and bond vibration."});
}

SectionTable geometry_section() {
  return table_section<&Deck::geometry, ObserveGeometry>(
      {.name = "observe.geometry",
       .description =
           "Writes `geometry.csv`: mean bond lengths and angles, and the shortest and longest O-H "
           "bond, at the reported positions (q) and at the scheme's internal positions (x)."});
}

SectionTable cluster_section() {
  return {
      optional_section<&Deck::cluster>(
          {.name = "observe.cluster",
           .description =
               "Writes `cluster.csv` and a picture: radius of gyration of the oxygens; hydrogen "
               "bonds (O-O below 3.5 Å, H-O...O below 30 degrees); the largest distance from an "
               "oxygen to its nearest other one, which reveals evaporated molecules; dipole moment "
               "of the cluster and mean dipole moment of its molecules; Lindemann index."}),
      {
          interval_key<&Deck::cluster, &ObserveCluster::every>(
              "Output interval; step 0 is included."),
          replicas_key<&Deck::cluster, &ObserveCluster::replicas>(all_or_mean(), kAllMeanOrFirst),
          field_key<&Deck::cluster, &ObserveCluster::lindemann>(
              {.name = "lindemann",
               .type = Type::boolean,
               .default_text = "`true`; `false` with `[exchange]`",
               .description = "Also write the Lindemann index of each replica, accumulated from "
                              "the end of the equilibration to each row. It stores data for every "
                              "pair of molecules, at most 10⁷ pairs in all replicas."}),
      }};
}

SectionTable multipliers_section() {
  return {
      optional_section<&Deck::multipliers>(
          {.name = "observe.multipliers",
           .description = "Writes `multipliers.csv`: the multiplier λ of each bond, M a = F₀ + "
                          "Jᵀλ. The `#` line contains the equation. For `zss-stiff` with a Hessian "
                          "other than `gauss-newton`, λ = -ω²(g + b h² J a), and a has additional "
                          "terms. For rigid schemes, λ is that of rigid bonds at the positions and "
                          "velocities of the row; it differs from the mean of the two multipliers "
                          "of the scheme by about 10⁻³ at 2.4 fs."}),
      {
          interval_key<&Deck::multipliers, &ObserveMultipliers::every>("Interval between rows."),
          field_key<&Deck::multipliers, &ObserveMultipliers::window_steps>(
              {.name = "window_steps",
               .type = Type::integer,
               .unit = "steps",
               .range = from_to(1, 100001),
               .description = "Each row is the mean over this odd number of steps, centred on the "
                              "row; 1: the value at that step."}),
          replicas_key<&Deck::multipliers, &ObserveMultipliers::replicas>(every_replica(),
                                                                          kAllOrFirst),
      }};
}

SectionTable rdf_section() {
  return {optional_section<&Deck::rdf>(
              {.name = "observe.rdf",
               .description =
                   "Writes `rdf.csv` and a picture: intermolecular pair distances and "
                   "coordination numbers, pooled over all replicas. With several temperatures, "
                   "`rdf_by_bath.csv` and the picture contain one curve per bath."}),
          {
              interval_key<&Deck::rdf, &ObserveRdf::every>("Interval between samples."),
              field_key<&Deck::rdf, &ObserveRdf::pairs>(
                  {.name = "pairs",
                   .type = Type::choices,
                   .choices = {{"OO", kOO}, {"OH", kOH}, {"HH", kHH}},
                   .description = "Pairs of atoms, always of different molecules."}),
              field_key<&Deck::rdf, &ObserveRdf::r_max_A>(
                  {.name = "r_max_A",
                   .type = Type::number,
                   .unit = "Å",
                   .range = above_to(0, 1000),
                   .description = "Upper edge of the last bin."}),
              field_key<&Deck::rdf, &ObserveRdf::bins>(
                  {.name = "bins",
                   .type = Type::integer,
                   .range = from_to(1, 100000),
                   .description = "Number of bins, of equal width."}),
          }};
}

SectionTable profile_section() {
  return {optional_section<&Deck::profile>(
              {.name = "observe.profile",
               .description =
                   "Writes `profile.csv` and a picture: density and orientation of the molecular "
                   "dipoles as functions of the distance from the centre of mass of the cluster, "
                   "pooled over all replicas, after the equilibration. With several temperatures, "
                   "`profile_by_bath.csv` and the picture contain one profile per bath."}),
          {
              interval_key<&Deck::profile, &ObserveProfile::every>("Interval between samples."),
              field_key<&Deck::profile, &ObserveProfile::r_max_A>(
                  {.name = "r_max_A",
                   .type = Type::number,
                   .unit = "Å",
                   .range = above_to(0, 1000),
                   .description = "Outer radius of the last shell."}),
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
               "Writes `spectrum.csv` and a picture, after the equilibration: the vibrational "
               "density of states, from the velocities, and the infrared absorption of the whole "
               "cluster, from the time derivative of the dipole moment. Segments have a Hann "
               "window and overlap by half. A thermostat broadens each line by its friction, 5/ps "
               "by 27 cm⁻¹; for sharp lines, run without a thermostat from the `state` of a run "
               "with one. For conventions and cost see [measuring.md](measuring.md#spectra)."}),
      {
          interval_key<&Deck::spectrum, &ObserveSpectrum::every>(
              "Interval between samples. The spectrum ends at 16678 cm⁻¹ fs divided by the time "
              "between samples, and faster vibrations are aliased to lower wavenumbers; `every = "
              "1` avoids aliasing."),
          field_key<&Deck::spectrum, &ObserveSpectrum::resolution_per_cm>(
              {.name = "resolution_per_cm",
               .type = Type::number,
               .unit = "1/cm",
               .range = from_to(1e-3, 1e5),
               .description =
                   "Full width at half maximum of an infinitely sharp line; the actual width may "
                   "be slightly smaller. A segment takes 48 ps cm⁻¹ divided by it (9.6 ps for 5) "
                   "and at least 16 samples; rows are 0.69 of it apart."}),
          replicas_key<&Deck::spectrum, &ObserveSpectrum::replicas>(
              every_replica(),
              "Replicas to average over: all, or the first n (all if there are fewer)."),
      }};
}

SectionTable correlation_section() {
  return {optional_section<&Deck::correlation>(
              {.name = "observe.correlation",
               .description =
                   "Writes `correlation.csv` and a picture, after the equilibration: rotational "
                   "correlation functions (P₁ and P₂) of O-H bonds, H-H vectors and molecular "
                   "dipoles, lifetimes of hydrogen bonds, and mean squared displacements of "
                   "oxygens, averaged over molecules, replicas and time origins. A thermostat "
                   "slows these motions; for undisturbed dynamics, run without a thermostat from "
                   "the `state` of a run with one. For conventions and cost see "
                   "[measuring.md](measuring.md#time-correlation-functions)."}),
          {
              interval_key<&Deck::correlation, &ObserveCorrelation::every>(
                  "Interval between samples and between rows. Shorter breaks of hydrogen bonds are "
                  "not detected."),
              field_key<&Deck::correlation, &ObserveCorrelation::length_ps>(
                  {.name = "length_ps",
                   .type = Type::number,
                   .unit = "ps",
                   .range = above_to(0, 1e6),
                   .description =
                       "Longest lag, rounded to a multiple of the interval (at least one). Time "
                       "origins are a sixteenth of it apart, or one sample. The first rows require "
                       "sixteen origins and the lag after them, about twice `length_ps`."}),
              replicas_key<&Deck::correlation, &ObserveCorrelation::replicas>(
                  every_replica(),
                  "Replicas to average over: all, or the first n (all if there are fewer)."),
          }};
}

SectionTable evaporation_section() {
  return {optional_section<&Deck::evaporation>(
              {.name = "observe.evaporation",
               .description =
                   "Writes `evaporation.csv`: the time at which each replica loses its first "
                   "molecule, after the equilibration. `survival.csv` and `evaporation_rates.csv`, "
                   "with a picture, contain the fraction of intact replicas and the evaporation "
                   "rate at each temperature, and the activation energy if there are several. See "
                   "[measuring.md](measuring.md#evaporation)."}),
          {
              interval_key<&Deck::evaporation, &ObserveEvaporation::every>(
                  "Interval between checks of the replicas."),
              field_key<&Deck::evaporation, &ObserveEvaporation::link_A>(
                  {.name = "link_A",
                   .type = Type::number,
                   .unit = "Å",
                   .range = above_to(0, 1000),
                   .description = "A molecule has evaporated when its oxygen is farther than this "
                                  "from all oxygens of the largest connected part of its cluster. "
                                  "Oxygens closer than this are connected."}),
          }};
}

SectionTable minima_section() {
  return {
      optional_section<&Deck::minima>(
          {.name = "observe.minima",
           .description =
               "Writes `minima.csv`: inherent structures. A copy of each replica is quenched to a "
               "minimum of the potential, as rigid molecules and without the wall. At the end, "
               "`isomers.csv` and its picture contain the lowest minima and the fraction of "
               "samples in each, and `isomers.xyz` their structures, after the equilibration. With "
               "several temperatures, `isomers_by_bath.csv` and the picture contain the fractions "
               "at "
               "each. For accuracy and cost see "
               "[measuring.md](measuring.md#inherent-structures)."}),
      {
          interval_key<&Deck::minima, &ObserveMinima::every>(
              "Output interval; step 0 is included."),
          replicas_key<&Deck::minima, &ObserveMinima::replicas>(
              all_or_mean(),
              "Replicas with rows in `minima.csv`: all, the first n, or their mean with its "
              "standard error. All replicas are quenched and counted."),
          field_key<&Deck::minima, &ObserveMinima::isomers>(
              {.name = "isomers",
               .type = Type::integer,
               .range = from_to(1, 1000),
               .description = "Number of lowest minima to count. Minima whose energies differ by "
                              "less than 10⁻⁷ kcal/mol, such as mirror images, count as one."}),
      }};
}

SectionTable trajectory_section() {
  return {
      optional_section<&Deck::trajectory>(
          {.name = "observe.trajectory",
           .description = "Writes `trajectory.*`: reported positions, in one file per replica or, "
                          "with `h5md`, in one group per replica."}),
      {
          interval_key<&Deck::trajectory, &ObserveTrajectory::every>(
              "Output interval; step 0 is included."),
          field_key<&Deck::trajectory, &ObserveTrajectory::format>({.name = "format",
                                                                    .type = Type::choice,
                                                                    .choices = trajectory_formats(),
                                                                    .description = "File format."}),
          field_key<&Deck::trajectory, &ObserveTrajectory::beads>(
              {.name = "beads",
               .type = Type::selection,
               .range = from_to(0, kMaxBeads - 1),
               .choices = {{"centroid", code(BeadSelection::Kind::centroid),
                            "the mean position of the beads of each atom"},
                           {"all", code(BeadSelection::Kind::all),
                            "a frame contains all molecules of bead 0, then those of bead 1, and "
                            "so on"}},
               .description = "Positions of ring polymers in the frames: centroids, all beads, or "
                              "the bead with this number, counted from 0.",
               .used_with = {.section = "path_integral"}}),
          field_key<&Deck::trajectory, &ObserveTrajectory::velocities>(
              {.name = "velocities",
               .type = Type::boolean,
               .description = "Whether frames contain velocities: those of the scheme at the end "
                              "of the step, which satisfy the constraints of rigid schemes. Units: "
                              "Å/akma in XYZ, nm/ps in GRO and TRR, Å/ps in H5MD.",
               .used_with = {"observe.trajectory.format", formats_with_velocities()}}),
          replicas_key<&Deck::trajectory, &ObserveTrajectory::replicas>(
              {all_replicas(), {"mean", kRejected, "trajectories cannot be averaged"}},
              kAllOrFirst),
      }};
}

SectionTable final_section() {
  return {
      optional_section<&Deck::final_structures>(
          {.name = "observe.final",
           .description =
               "Writes `final.xyz` (`final-0000.xyz` and so on for several replicas) at the end of "
               "the run: the internal positions and velocities of the scheme, in extended XYZ with "
               "all digits. To start from it, set `file`, `velocities = \"file\"` and the same "
               "scheme and step. Stopped replicas have no file."}),
      {
          replicas_key<&Deck::final_structures, &ObserveFinal::replicas>(
              {all_replicas(), {"mean", kRejected, "structures cannot be averaged"}}, kAllOrFirst),
      }};
}

}  // namespace tarn::decks
