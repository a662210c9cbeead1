#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tarn/analysis/cluster.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/system.hpp"

/// @file
/// The input deck after reading, checking and filling in defaults. Values are in the units of the
/// keys.

namespace tarn {

enum class StartKind { quenched, random };
/// Start velocities: drawn at a temperature (maxwell, tangent), zero, or those of the file or
/// state.
enum class VelocityKind { maxwell, tangent, zero, file, state };
inline constexpr bool is_drawn(VelocityKind kind) {
  return kind == VelocityKind::maxwell || kind == VelocityKind::tangent;
}
/// Projection of the start of a penalty scheme.
enum class StartProjection { none, slow_manifold };
/// The acceleration of the second kick of `newmark-one-step`.
enum class OneStepAcceleration { linearised, force };

/// The replicas that an observer writes: all, their mean with its standard error, or the first n.
struct ReplicaSelection {
  enum class Kind { all, mean, first } kind = Kind::all;
  int count = 0;  ///< for `first`
  /// Number of observed replicas out of `replicas`.
  int count_of(int replicas) const {
    return kind == Kind::first ? std::min(count, replicas) : replicas;
  }
  bool operator==(const ReplicaSelection&) const = default;
};

/// The beads of ring polymers in a trajectory: their centroid, all of them, or one.
struct BeadSelection {
  enum class Kind { centroid, all, one } kind = Kind::centroid;
  int number = 0;  ///< for `one`, counted from 0
  bool operator==(const BeadSelection&) const = default;
};

struct SystemSection {
  std::string kind = "water";
  std::string model = "tip3p";
  int molecules = 0;  ///< 0: that of `file` or `state`; otherwise these must have this number
  std::optional<std::string> file;  ///< path as written, relative to the deck
  /// Paths like `file`, each perhaps with ":frame"; the ladders take them in turn.
  std::vector<std::string> files;
  std::optional<std::int64_t> frame;  ///< frame of `file`, counted from 0; default: the first
  std::optional<std::string> state;   ///< path like `file`; only one of file, files and state
  int replicas = 1;
  std::uint64_t seed = 1;
  std::optional<double> temperature_K;  ///< of the start velocities; empty if they are zero
  StartKind start = StartKind::quenched;
  /// Default: state with `state`; otherwise zero if the deck has no temperature.
  VelocityKind velocities = VelocityKind::maxwell;
  /// Default: true for penalty schemes; false if velocities come with the positions. Rigid schemes
  /// and infinite omega do not allow true.
  bool relax = true;
  StartProjection project = StartProjection::none;
  bool remove_momentum = false;
  double hydrogen_mass_Da = units::mass_hydrogen_Da;
  std::optional<double> oxygen_mass_Da;  ///< empty: 15.9994, or with keep_molecule_mass less
  /// Names of isotope_masses_Da(): of each molecule, or "D2O=2" for the first molecules.
  std::vector<std::string> isotopes;
  bool keep_molecule_mass = false;  ///< take the additional mass of H from O; classical only
  bool recentre = false;  ///< report positions relative to the centre of mass; see the schema
  bool operator==(const SystemSection&) const = default;
};

struct IntegratorSection {
  Scheme scheme = Scheme::settle;  ///< in decks of flexible models the default is verlet
  double timestep_fs = 2.0;
  double beta = 0.42;
  double omega = 100.0;  ///< infinity for omega = "infinite"
  Hessian hessian = Hessian::gauss_newton;
  Solver solver = Solver::structured;
  OneStepAcceleration acceleration = OneStepAcceleration::force;
  double tolerance = 1e-8;
  ShakeIteration iteration = ShakeIteration::newton;
  bool operator==(const IntegratorSection&) const = default;
};

/// The custom water model of `model = "own"`, with the quantities of WaterModel.
struct ModelSection {
  double oh_A = 0.0;
  double hoh_degrees = 0.0;
  double sigma_A = 0.0;
  double epsilon_kcal_per_mol = 0.0;
  double charge_hydrogen_e = 0.0;  ///< O, or M if there is one, carries -2 times this charge
  double om_A = 0.0;               ///< of rigid models; 0: a three-site model
  Stretch stretch = Stretch::rigid;
  std::optional<double> stretch_stiffness_kcal_per_mol_A2;
  std::optional<double> stretch_depth_kcal_per_mol;
  std::optional<double> stretch_alpha_per_A;
  std::optional<double> bend_stiffness_kcal_per_mol_rad2;
  std::optional<double> gamma;  ///< of flexible models; empty: a three-site model
  bool operator==(const ModelSection&) const = default;
};

struct ThermostatSection {
  Thermostat kind = Thermostat::none;
  std::optional<double> temperature_K;        ///< never together with temperatures_K
  std::vector<double> temperatures_K;         ///< element r modulo the length for replica r
  std::optional<double> friction_per_ps;      ///< never together with friction_amu_per_ps
  std::optional<double> friction_amu_per_ps;  ///< gamma of the paper; the rate is gamma/m
  bool operator==(const ThermostatSection&) const = default;
};

struct PathIntegralSection {
  int beads = 32;
  RingMethod method = RingMethod::pimd;
  FreeRing free_ring = FreeRing::cayley;
  std::optional<double> temperature_K;                        ///< only without a thermostat
  double internal_friction = 1.0;                             ///< 0.5 for trpmd, unless given
  RingFrequencies frequencies = RingFrequencies::economised;  ///< trotter unless pimd
  std::optional<double> highest_wavenumber_per_cm;            ///< of economised frequencies
  bool operator==(const PathIntegralSection&) const = default;
};

struct ExchangeSection {
  std::int64_t every = 100;
  bool operator==(const ExchangeSection&) const = default;
};

enum class Wall { flat_bottom };
struct ConfinementSection {
  Wall kind = Wall::flat_bottom;
  double radius_A = 0.0;
  double stiffness_kcal_per_mol_A2 = 0.0;
  bool operator==(const ConfinementSection&) const = default;
};

/// Windows or a wall on a coordinate of the oxygens. Those of contacts have keys without units.
struct BiasSection {
  BiasCoordinate coordinate = BiasCoordinate::distance;
  BiasKind kind = BiasKind::harmonic;
  std::vector<double> molecules;
  double r0_A = 3.5;
  std::vector<double> centres_A, centres;
  double stiffness_kcal_per_mol_A2 = 0.0, stiffness_kcal_per_mol = 0.0;
  bool operator==(const BiasSection&) const = default;
};

/// A uniform electric field.
struct FieldSection {
  double x_V_per_nm = 0.0, y_V_per_nm = 0.0, z_V_per_nm = 0.0;
  bool operator==(const FieldSection&) const = default;
};

/// What computes energies and forces: the water model, a shared library, programs over sockets, or
/// the program that runs the deck.
enum class PotentialKind { model, library, socket, program };
struct PotentialSection {
  PotentialKind kind = PotentialKind::model;
  std::optional<std::string> path;     ///< of a library, as written, relative to the deck
  std::string options;                 ///< text for a library
  std::optional<std::string> address;  ///< of a socket: unix:NAME or host:port
  int clients = 1;
  double timeout_s = 600.0;
  std::string name;  ///< of the potential of the program
  bool operator==(const PotentialSection&) const = default;
};

struct RunSection {
  std::int64_t steps = 0;  ///< given, or computed from duration_ps
  double equilibration_ps = 0.0;
  Precision precision = Precision::double_;
  std::string device = "auto";
  int threads = 0;
  bool operator==(const RunSection&) const = default;
};

/// The settings of observers that write the same row for each replica.
struct ObserveTable {
  std::int64_t every = 100;
  ReplicaSelection replicas;
  bool operator==(const ObserveTable&) const = default;
};
struct ObserveBias {
  std::int64_t every = 25;
  ReplicaSelection replicas{};  ///< all
  double bin_width = 0.1;
  bool operator==(const ObserveBias&) const = default;
};
struct ObserveCluster {
  std::int64_t every = 100;
  ReplicaSelection replicas;
  bool lindemann = true;
  bool operator==(const ObserveCluster&) const = default;
};
struct ObserveMultipliers {
  std::int64_t every = 1;
  std::int64_t window_steps = 1;  ///< odd; 1: instantaneous
  ReplicaSelection replicas{ReplicaSelection::Kind::first, 1};
  bool operator==(const ObserveMultipliers&) const = default;
};
struct ObserveRdf {
  std::int64_t every = 10;
  std::array<bool, kPairClasses> pairs{true, true, true};
  double r_max_A = 12.0;
  int bins = 240;
  bool operator==(const ObserveRdf&) const = default;
};
struct ObserveProfile {
  std::int64_t every = 100;
  double r_max_A = 12.0;
  int bins = 60;
  bool operator==(const ObserveProfile&) const = default;
};
struct ObserveSpectrum {
  std::int64_t every = 1;
  double resolution_per_cm = 5.0;
  ReplicaSelection replicas;
  bool operator==(const ObserveSpectrum&) const = default;
};
struct ObserveCorrelation {
  std::int64_t every = 10;
  double length_ps = 10.0;  ///< largest lag
  ReplicaSelection replicas;
  bool operator==(const ObserveCorrelation&) const = default;
};
struct ObserveEvaporation {
  std::int64_t every = 100;
  double link_A = analysis::kLink_A;  ///< oxygens closer than this are connected
  bool operator==(const ObserveEvaporation&) const = default;
};
struct ObserveMinima {
  std::int64_t every = 1000;
  ReplicaSelection replicas;
  int isomers = 20;                        ///< number of lowest minima to count
  double tolerance_kcal_per_mol_A = 1e-6;  ///< of the quenches
  bool operator==(const ObserveMinima&) const = default;
};
struct ObserveTrajectory {
  std::int64_t every = 1000;
  io::FileFormat format = io::FileFormat::xyz;
  BeadSelection beads;
  bool velocities = false;
  ReplicaSelection replicas;
  bool operator==(const ObserveTrajectory&) const = default;
};
struct ObserveFinal {
  ReplicaSelection replicas;
  bool operator==(const ObserveFinal&) const = default;
};
struct CheckpointSection {
  std::int64_t every = 0;       ///< interval in steps; 0: none
  double every_minutes = 15.0;  ///< interval of wall time; 0: none
  bool operator==(const CheckpointSection&) const = default;
};

/// A deck of water.
struct Deck {
  std::string path;  ///< file it was read from
  std::string name;  ///< file name without folder and extension
  SystemSection system;
  std::optional<ModelSection> model;
  IntegratorSection integrator;
  ThermostatSection thermostat;
  std::optional<PathIntegralSection> path_integral;
  std::optional<ExchangeSection> exchange;
  std::optional<ConfinementSection> confinement;
  std::optional<FieldSection> field;
  std::optional<BiasSection> bias, bias_2, bias_3, bias_4;  ///< `[[bias]]`, in this order
  std::optional<PotentialSection> potential;
  RunSection run;
  std::optional<ObserveTable> energies;
  std::optional<ObserveBias> bias_table;
  std::optional<ObserveTable> path_integral_table;
  std::optional<ObserveTable> conservation;
  std::optional<ObserveTable> heat;
  std::optional<ObserveTable> temperatures;
  std::optional<ObserveTable> geometry;
  std::optional<ObserveCluster> cluster;
  std::optional<ObserveMultipliers> multipliers;
  std::optional<ObserveRdf> rdf;
  std::optional<ObserveProfile> profile;
  std::optional<ObserveSpectrum> spectrum;
  std::optional<ObserveCorrelation> correlation;
  std::optional<ObserveEvaporation> evaporation;
  std::optional<ObserveMinima> minima;
  std::optional<ObserveTrajectory> trajectory;
  std::optional<ObserveFinal> final_structures;
  CheckpointSection checkpoint;
  bool operator==(const Deck&) const = default;
};

/// Largest cluster: every step computes all pairs.
inline constexpr int kMaxMolecules = 100'000;
inline constexpr int kMaxReplicas = 10'000'000;
/// Largest number of molecules in all replicas: positions and velocities take 144 bytes per
/// molecule.
inline constexpr std::int64_t kMaxTotalMolecules = 100'000'000;
/// Largest number of steps of a run.
inline constexpr std::int64_t kMaxSteps = 1'000'000'000'000;
/// Largest number of replicas with a trajectory; most formats write one file per replica.
inline constexpr int kMaxTrajectories = 10'000;

/// Reads and checks a deck, including the structure file or the state that it starts from.
/// @param path the deck
/// @param overrides "section.key=value" strings that replace or add keys (`--set`). A value that is
/// not TOML is a string. `run.steps` and `run.duration_ps` replace each other, and so do the two
/// frictions. Problems name "--set section.key=value" as their file
/// @param removals "section.key" or "section" strings (`--unset`) to remove before the overrides. A
/// name that the deck does not contain is a problem
/// @throws InputError with every problem found; IoError if the deck cannot be read
Deck load_deck(const std::string& path, const std::vector<std::string>& overrides = {},
               const std::vector<std::string>& removals = {});

/// The same from text, without reading the structure file or the state. `path` names the deck in
/// messages and is the base of relative paths.
/// @throws InputError with every problem found
Deck parse_deck(const std::string& text, const std::string& path,
                const std::vector<std::string>& overrides = {},
                const std::vector<std::string>& removals = {});

/// The deck with all keys in use written out; parse_deck() of it gives the same deck.
std::string resolved_deck(const Deck& deck);

/// The resolved deck without the keys that may change when a run is resumed (run.steps, run.device,
/// run.threads, [checkpoint]). Decks with the same physics and files have equal fingerprints.
std::string physics_fingerprint(const Deck& deck);

/// The deck with forces by a Potential of the program that runs it: `[potential] kind = "program"`.
/// Defaults that depend on it, such as the time step, are those of the deck as it is: load the deck
/// with `potential.kind=program` for those of potentials.
/// @param name of the potential
/// @throws InputError if the deck has another potential, or keys that need the water model's forces
Deck with_potential(const Deck& deck, const std::string& name);

/// The deck with another scheme, without the keys that the new scheme does not use. If `spec`
/// changes the time step, the number of steps changes to keep the length of the run.
/// @param spec "scheme" or "scheme:key=value:..." with keys of [integrator], as in `--schemes`
/// @throws InputError
Deck with_scheme(const Deck& deck, const std::string& spec);

/// A structure that replicas start from.
struct StructureSource {
  std::string key;      ///< "file" or "files"
  std::string written;  ///< as in the deck
  std::string path;     ///< resolved relative to the deck
  std::optional<std::int64_t> frame{};
};
/// Number of replicas of a ladder: one of each temperature; 1 without several temperatures.
std::size_t ladder_length(const Deck& deck);
/// The structures of `file` or `files`; empty without them. The replicas of ladder k start from
/// structure k modulo their number; without several temperatures, a replica is a ladder.
std::vector<StructureSource> structure_sources(const Deck& deck);

/// Path of the checkpoint that `state` names directly or by its folder; empty without `state`.
std::optional<std::string> state_path(const Deck& deck);

/// Markdown page of all sections and keys, generated from the tables that check decks.
std::string deck_reference();

/// The water model of a deck, with the masses of its isotopes. Masses of keep_molecule_mass
/// (heavier hydrogens, a lighter oxygen) affect only the dynamics: make_system() sets them.
/// @throws InputError for an unknown name
WaterModel water_model(const Deck& deck);

/// Whether the water model of a deck is flexible; false for unknown models.
bool is_flexible(const Deck& deck);

/// What computes the energies and forces of a deck.
PotentialKind potential_kind(const Deck& deck);

/// Name of the potential of a deck: "library libmine.so (options)", "i-PI clients", or that of the
/// program; empty for the water model.
std::string potential_text(const Deck& deck);

/// Name of the potential of a library: "library libmine.so (options)", without the folder.
std::string library_potential_name(const std::string& path, const std::string& options);

/// Path of the library of a deck; empty without one.
std::optional<std::string> potential_path(const Deck& deck);

/// The system of a deck, in internal units.
/// @param deck a deck of water
/// @param molecules number of molecules of the start structure
/// @throws InputError if `molecules` contradicts the deck or exceeds a limit
System make_system(const Deck& deck, int molecules);

/// b h² of schemes whose own positions are x = q - b h² a, and 0 for the others [fs²].
double push_fs2(const IntegratorSection& integrator);

/// The first step that averages include: the end of equilibration_ps.
std::int64_t first_averaged_step(const Deck& deck);

/// Number of samples in a segment of the spectrum.
std::size_t spectrum_samples(const ObserveSpectrum& spectrum, double timestep_fs);

/// Largest lag of time correlation functions, in samples.
std::size_t correlation_lags(const ObserveCorrelation& correlation, double timestep_fs);

/// The pair counts that [observe.rdf] needs. With several baths the number of groups is a multiple
/// of the number of baths: a group never contains replicas of different baths.
PairCountRequest make_pair_count_request(const Deck& deck);

/// Bath temperatures: element r modulo the length for replica r; empty without a thermostat.
std::vector<double> bath_temperatures_K(const Deck& deck);
/// Whether the temperatures differ.
bool has_several_baths(const std::vector<double>& baths_K);

}  // namespace tarn
