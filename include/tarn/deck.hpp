#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/analysis/cluster.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/mechanics_deck.hpp"
#include "tarn/system.hpp"

/// @file
/// The input deck in its own units, after it was read, checked whole and filled with defaults.

namespace tarn {

enum class StartKind { quenched, random };
/// Drawn at a temperature, at rest, or those of what the run starts from.
enum class VelocityKind { maxwell, tangent, zero, file, state };
inline constexpr bool is_drawn(VelocityKind kind) {
  return kind == VelocityKind::maxwell || kind == VelocityKind::tangent;
}
/// What a penalised start is moved onto.
enum class StartProjection { none, slow_manifold };

/// Which replicas an observer writes: all, the mean with its standard error, or the first n.
struct ReplicaSelection {
  enum class Kind { all, mean, first } kind = Kind::all;
  int count = 0;  ///< for `first`
  /// How many of so many replicas are looked at.
  int count_of(int replicas) const {
    return kind == Kind::first ? std::min(count, replicas) : replicas;
  }
  bool operator==(const ReplicaSelection&) const = default;
};

struct SystemSection {
  std::string kind = "water";
  std::string model = "tip3p";
  int molecules = 0;  ///< 0 when `file` or `state` gives them; with one of these: what it must hold
  std::optional<std::string> file;    ///< as written in the deck, relative to the deck
  std::optional<std::int64_t> frame;  ///< of `file`, counted from 0; nothing: the first
  std::optional<std::string> state;   ///< as `file`; never both
  int replicas = 1;
  std::uint64_t seed = 1;
  std::optional<double> temperature_K;  ///< of the start velocities; nothing if they are zero
  StartKind start = StartKind::quenched;
  /// Default: those of `state`; without it zero if the deck has no temperature.
  VelocityKind velocities = VelocityKind::maxwell;
  /// Default: true for penalty schemes, false (and refused) with rigid ones and infinite omega, and
  /// where positions go with velocities that are given.
  bool relax = true;
  StartProjection project = StartProjection::none;
  bool remove_momentum = false;
  double hydrogen_mass_Da = units::mass_hydrogen_Da;
  std::optional<double> oxygen_mass_Da;  ///< nothing: what is left of the molecule's
  bool recentre = false;                 ///< positions are reported about the centre of mass
  bool operator==(const SystemSection&) const = default;
};

struct IntegratorSection {
  Scheme scheme = Scheme::zss_stiff;
  double timestep_fs = 2.0;
  double beta = 0.42;
  double omega = 100.0;  ///< may be infinity: omega = "infinite"
  Hessian hessian = Hessian::gauss_newton;
  Solver solver = Solver::structured;
  OneStepAcceleration acceleration = OneStepAcceleration::force;
  double tolerance = 1e-8;
  ShakeIteration iteration = ShakeIteration::newton;
  bool operator==(const IntegratorSection&) const = default;
};

/// The water model of `model = "own"`; numbers as those of WaterModel.
struct ModelSection {
  double oh_A = 0.0;
  double hoh_degrees = 0.0;
  double sigma_A = 0.0;
  double epsilon_kcal_per_mol = 0.0;
  double charge_hydrogen_e = 0.0;  ///< O, or M where there is one, has -2 of it
  double om_A = 0.0;               ///< 0: three sites
  bool operator==(const ModelSection&) const = default;
};

struct ThermostatSection {
  Thermostat kind = Thermostat::none;
  std::optional<double> temperature_K;        ///< one of the two, never both
  std::vector<double> temperatures_K;         ///< of replica r: element r modulo the length
  std::optional<double> friction_per_ps;      ///< one of the two, never both
  std::optional<double> friction_amu_per_ps;  ///< gamma of the paper: rate gamma/m
  bool operator==(const ThermostatSection&) const = default;
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

struct RunSection {
  std::int64_t steps = 0;  ///< from steps or duration_ps
  double equilibration_ps = 0.0;
  Precision precision = Precision::double_;
  std::string device = "auto";
  int threads = 0;
  bool operator==(const RunSection&) const = default;
};

struct ObserveEnergies {
  std::int64_t every = 100;
  ReplicaSelection replicas;
  bool operator==(const ObserveEnergies&) const = default;
};
struct ObserveConservation {
  std::int64_t every = 100;
  ReplicaSelection replicas;
  bool operator==(const ObserveConservation&) const = default;
};
struct ObserveHeat {
  std::int64_t every = 100;
  ReplicaSelection replicas;
  bool operator==(const ObserveHeat&) const = default;
};
struct ObserveTemperatures {
  std::int64_t every = 100;
  ReplicaSelection replicas;
  bool operator==(const ObserveTemperatures&) const = default;
};
struct ObserveGeometry {
  std::int64_t every = 100;
  ReplicaSelection replicas;
  bool operator==(const ObserveGeometry&) const = default;
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
  double length_ps = 10.0;  ///< the longest lag
  ReplicaSelection replicas;
  bool operator==(const ObserveCorrelation&) const = default;
};
struct ObserveEvaporation {
  std::int64_t every = 100;
  double link_A = analysis::kLink_A;  ///< oxygens nearer than this are of one part
  bool operator==(const ObserveEvaporation&) const = default;
};
struct ObserveMinima {
  std::int64_t every = 1000;
  ReplicaSelection replicas;
  int isomers = 20;  ///< of the lowest minima, those that are counted
  bool operator==(const ObserveMinima&) const = default;
};
struct ObserveTrajectory {
  std::int64_t every = 1000;
  io::FileFormat format = io::FileFormat::xyz;
  bool velocities = false;
  ReplicaSelection replicas;
  bool operator==(const ObserveTrajectory&) const = default;
};
struct ObserveFinal {
  ReplicaSelection replicas;
  bool operator==(const ObserveFinal&) const = default;
};
struct CheckpointSection {
  std::int64_t every = 0;       ///< steps; 0: none by steps
  double every_minutes = 15.0;  ///< of wall time; 0: none by time
  bool operator==(const CheckpointSection&) const = default;
};

/// One deck of either kind: water uses its own sections, a mechanical system uses `mechanics`,
/// `system.kind` and `checkpoint`.
struct Deck {
  std::string path;  ///< file it was read from
  std::string name;  ///< file name without folder and extension
  SystemSection system;
  std::optional<ModelSection> model;
  IntegratorSection integrator;
  ThermostatSection thermostat;
  std::optional<ExchangeSection> exchange;
  std::optional<ConfinementSection> confinement;
  RunSection run;
  std::optional<ObserveEnergies> energies;
  std::optional<ObserveConservation> conservation;
  std::optional<ObserveHeat> heat;
  std::optional<ObserveTemperatures> temperatures;
  std::optional<ObserveGeometry> geometry;
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
  MechanicsDeck mechanics;  ///< used instead of most of the above when system.kind is mechanical
  bool operator==(const Deck&) const = default;
};

/// Most molecules of one cluster: all pairs are computed, every step.
inline constexpr int kMaxMolecules = 100'000;
inline constexpr int kMaxReplicas = 10'000'000;
/// Most molecules of all replicas together: positions and velocities take 144 bytes a molecule.
inline constexpr std::int64_t kMaxTotalMolecules = 100'000'000;
/// Most steps of a run.
inline constexpr std::int64_t kMaxSteps = 1'000'000'000'000;
/// Most replicas whose trajectories a run writes; most formats take a file for each.
inline constexpr int kMaxTrajectories = 10'000;

/// Reads and checks a deck, and the structure file or the state that it starts from.
/// @param path the deck
/// @param overrides "section.key=value" strings that replace or add keys (`--set`). The value is
/// TOML, or a bare string where it is not. `run.steps` and `run.duration_ps` replace each other,
/// and so do the two frictions. Problems in them name "--set section.key=value" as their file.
/// @param removals "section.key" or "section" strings (`--unset`): what the deck is read without.
/// Overrides come after them. It is a problem if the deck has nothing of that name
/// @throws InputError with every problem found; IoError when the deck cannot be read
Deck load_deck(const std::string& path, const std::vector<std::string>& overrides = {},
               const std::vector<std::string>& removals = {});

/// The same from text; `path` names it in messages and anchors relative files. Looks at no file.
/// @throws InputError with every problem found
Deck parse_deck(const std::string& text, const std::string& path,
                const std::vector<std::string>& overrides = {},
                const std::vector<std::string>& removals = {});

/// The deck with every key that applies written out; parse_deck of it gives the same deck.
std::string resolved_deck(const Deck& deck);

/// The resolved deck without the keys that may change when a run is resumed (run.steps, run.device,
/// run.threads, [checkpoint]). Two decks of the same physics and files have equal fingerprints.
std::string physics_fingerprint(const Deck& deck);

/// The deck with another scheme; keys of the old one that the new one does not use are dropped.
/// With a step of its own it makes as many as take the same time.
/// @param spec "scheme" or "scheme:key=value:...", keys of [integrator], as `--schemes` has them
/// @throws InputError
Deck with_scheme(const Deck& deck, const std::string& spec);

/// Path of the structure file, relative paths taken from the deck's folder; nothing without `file`.
std::optional<std::string> structure_path(const Deck& deck);

/// Path of the checkpoint that `state` names, itself or by its folder; nothing without `state`.
std::optional<std::string> state_path(const Deck& deck);

/// Markdown page of every section and key, made from the table that the reader uses.
std::string deck_reference();

/// The water model of a deck, with the masses of its isotopes, if it names any. Hydrogens that are
/// made heavier at the cost of the oxygen are a matter of the dynamics: make_system() has them.
/// @throws InputError for an unknown name
WaterModel water_model(const Deck& deck);

/// Internal units.
/// @param deck a deck
/// @param molecules of the start structure; a file may have given it
/// @throws InputError if `molecules` is not what the deck says, or beyond the limits
System make_system(const Deck& deck, int molecules);

/// b h² of schemes whose own positions are x = q - b h² a, and 0 for the others [fs²].
double push_fs2(const IntegratorSection& integrator);

/// The first step that averages count: that after equilibration_ps.
std::int64_t first_averaged_step(const Deck& deck);

/// Samples in a segment of the deck's spectrum, which it must have.
std::size_t spectrum_samples(const Deck& deck);

/// The longest lag of time correlation functions, in samples.
std::size_t correlation_lags(const ObserveCorrelation& correlation, double timestep_fs);

/// The pair counts that the deck's rdf observer needs. The groups of several baths are multiples of
/// the length of their list: replicas of different baths are never in one.
PairCountRequest make_pair_count_request(const Deck& deck);

/// Temperature of the bath of replica r: element r modulo the length; empty: there is no bath.
std::vector<double> bath_temperatures_K(const Deck& deck);
/// Whether they are not all the same.
bool has_several_baths(const std::vector<double>& baths_K);

}  // namespace tarn
