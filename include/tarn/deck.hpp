#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/system.hpp"

/// @file
/// The input deck in its own units, after it was read, checked whole and filled with defaults.

namespace tarn {

enum class StartKind { quenched, random };
enum class VelocityKind { maxwell, tangent, zero };
enum class TrajectoryFormat { xyz };

/// Which replicas an observer writes: all, the mean with its standard error, or the first n.
struct ReplicaSelection {
  enum class Kind { all, mean, first } kind = Kind::all;
  int count = 0;  ///< for `first`
};

struct SystemSection {
  std::string kind = "water";
  std::string model = "tip3p";
  int molecules = 0;                ///< 0 when `file` gives them
  std::optional<std::string> file;  ///< as written in the deck, relative to the deck
  int replicas = 1;
  std::uint64_t seed = 1;
  std::optional<double> temperature_K;  ///< of the start velocities; default: the thermostat's
  StartKind start = StartKind::quenched;
  VelocityKind velocities = VelocityKind::maxwell;
  bool relax = true;  ///< default: true for penalty schemes, false (and refused) for rigid ones
  bool remove_momentum = false;
};

struct IntegratorSection {
  Scheme scheme = Scheme::zss_stiff;
  double timestep_fs = 2.0;
  double beta = 0.42;
  double omega = 100.0;  ///< may be infinity: omega = "infinite"
  Hessian hessian = Hessian::gauss_newton;
  Solver solver = Solver::structured;
  double tolerance = 1e-8;
};

struct ThermostatSection {
  Thermostat kind = Thermostat::none;
  double temperature_K = 0.0;
  std::optional<double> friction_per_ps;      ///< one of the two, never both
  std::optional<double> friction_amu_per_ps;  ///< gamma of the paper: rate gamma/m
};

struct RunSection {
  std::int64_t steps = 0;  ///< from steps or duration_ps
  double equilibration_ps = 0.0;
  Precision precision = Precision::double_;
  std::string device = "auto";
  int threads = 0;
};

struct ObserveEnergies {
  std::int64_t every = 100;
  ReplicaSelection replicas;
};
struct ObserveConservation {
  std::int64_t every = 100;
  ReplicaSelection replicas;
};
struct ObserveRdf {
  std::int64_t every = 10;
  std::array<bool, kPairClasses> pairs{true, true, true};
  double r_max_A = 12.0;
  int bins = 240;
};
struct ObserveTrajectory {
  std::int64_t every = 1000;
  TrajectoryFormat format = TrajectoryFormat::xyz;
  ReplicaSelection replicas;
};
struct CheckpointSection {
  std::int64_t every = 0;  ///< 0: only at the end and when interrupted
};

struct Deck {
  std::string path;  ///< file it was read from
  std::string name;  ///< file name without folder and extension
  SystemSection system;
  IntegratorSection integrator;
  ThermostatSection thermostat;
  RunSection run;
  std::optional<ObserveEnergies> energies;
  std::optional<ObserveConservation> conservation;
  std::optional<ObserveRdf> rdf;
  std::optional<ObserveTrajectory> trajectory;
  CheckpointSection checkpoint;
};

/// Reads and checks a deck.
/// @param overrides "section.key=value" strings that replace or add keys (`--set`)
/// @throws InputError with every problem found; IoError when the file cannot be read
Deck load_deck(const std::string& path, const std::vector<std::string>& overrides = {});

/// The same from text; `path` names it in messages and anchors relative files.
Deck parse_deck(const std::string& text, const std::string& path,
                const std::vector<std::string>& overrides = {});

/// The deck with every key written out; load_deck of it gives the same deck.
std::string resolved_deck(const Deck& deck);

/// Internal units. `molecules` is passed because a structure file may have given it.
System make_system(const Deck& deck, int molecules);

/// The pair counts that the deck's rdf observer needs.
PairCountRequest make_pair_count_request(const Deck& deck);

}  // namespace tarn
