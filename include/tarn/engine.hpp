#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tarn/physics/measured.hpp"
#include "tarn/potential.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// An engine owns the state of R replicas and advances it. Results are returned as Frames.

namespace tarn {

/// The fields of a snapshot, as a set of bits.
enum Fields : unsigned {
  kNoFields = 0,
  kPositions = 1u << 0,          ///< reported positions: q = x + b h^2 a for Z&Ss, x for the others
  kVelocities = 1u << 1,         ///< velocities, projected onto the constraints for rigid schemes
  kEnergies = 1u << 2,           ///< energies and kinetic temperature of each replica
  kConservation = 1u << 3,       ///< conserved energy, momenta and largest constraint violation
  kPairCounts = 1u << 4,         ///< pair-distance counts since the start
  kOwnPositions = 1u << 5,       ///< the scheme's own positions x
  kMultipliers = 1u << 6,        ///< instantaneous multipliers of the bonds
  kHeat = 1u << 7,               ///< heat of the thermostat
  kShape = 1u << 8,              ///< shape, hydrogen bonds and dipole moments of each replica
  kParts = 1u << 9,              ///< whether each replica is in parts; see MeasureSettings::link_A
  kLindemann = 1u << 10,         ///< Lindemann index of each replica so far
  kLindemannSums = 1u << 11,     ///< the sums behind it
  kExchangeEnergies = 1u << 12,  ///< the energy that replica exchange compares, equation (35)
  kGeometry = 1u << 13,          ///< bond lengths and angles of each replica
  // Moments over groups of replicas of the numbers in the rows; see GroupMoments.
  kEnergyMoments = 1u << 14,
  kShapeMoments = 1u << 15,
  kGeometryMoments = 1u << 16,
  kLindemannMoments = 1u << 17,
  kRadialCounts = 1u << 18,  ///< atoms in shells about the centres of mass; see RadialRequest
  kRings = 1u << 19,         ///< estimators of ring polymers of each replica
  kBeads = 1u << 20,         ///< positions of all beads
  kAtomKinetic = 1u << 21,   ///< kinetic energy of each atom of ring polymers
  /// Potential energy of each ring polymer at the temperature of the neighbour with which it
  /// attempts an exchange; see MeasureSettings::exchange_every and equation (89).
  kRescaledEnergies = 1u << 22,
  kDipoles = 1u << 23  ///< dipole moment of each replica of a many-body model
};

/// Fields that are one row of numbers per replica, those that are a row per group of replicas, and
/// those that are numbers per molecule.
inline constexpr unsigned kRowFields = kEnergies | kConservation | kHeat | kShape | kParts |
                                       kLindemann | kExchangeEnergies | kGeometry | kRings |
                                       kRescaledEnergies | kDipoles;
inline constexpr unsigned kGroupFields =
    kEnergyMoments | kShapeMoments | kGeometryMoments | kLindemannMoments | kRadialCounts;
inline constexpr unsigned kArrayFields =
    kPositions | kVelocities | kOwnPositions | kMultipliers | kBeads | kAtomKinetic;

/// Pair classes of a radial distribution function, in file order.
enum PairClass : int { kOO = 0, kOH = 1, kHH = 2 };
inline constexpr int kPairClasses = 3;

/// Request to count intermolecular pair distances during advance(): at each step that is a multiple
/// of `every` and at least `first_step`, in bins of equal width on [0, r_max).
struct PairCountRequest {
  bool enabled = false;
  std::array<bool, kPairClasses> pairs{true, true, true};
  double r_max_A = 12.0;
  int bins = 240;
  std::int64_t every = 10;
  std::int64_t first_step = 0;
  /// Replicas are counted in the group (replica id mod groups), for errors and for baths.
  int groups = 32;
};

/// Oxygen-oxygen distances whose fluctuations are accumulated inside advance(): at each step that
/// is a multiple of `every` and at least `first_step`; equation (29).
struct LindemannRequest {
  bool enabled = false;
  std::int64_t every = 1;
  std::int64_t first_step = 0;
};

inline bool is_due(const LindemannRequest& request, std::int64_t step) {
  return request.enabled && step >= request.first_step && step % request.every == 0;
}
/// Of `n_steps` from `step` on, those up to the next one that may be due.
inline std::int64_t steps_to_lindemann(const LindemannRequest& request, std::int64_t step,
                                       std::int64_t n_steps) {
  if (!request.enabled) return n_steps;
  const std::int64_t to_due = request.every - step % request.every;
  return to_due < n_steps ? to_due : n_steps;
}

/// Sums of the Lindemann indices of replicas; see LindemannRequest.
struct LindemannSums {
  std::int64_t samples = 0;               ///< the same of every replica
  std::vector<std::int64_t> replica_ids;  ///< replicas that have sums
  std::vector<double> means_A;            ///< <r>, [replica][pair (1,0), (2,0), (2,1), (3,0), ...]
  std::vector<double> squares_A2;         ///< sum of (r - <r>)^2 of each pair
};

/// Shells of equal width about the centre of mass of each cluster, on [0, r_max). Replicas are
/// counted in the group (replica id mod groups).
struct RadialRequest {
  double r_max_A = 0.0;
  int bins = 0;
  int groups = 1;
};

/// Atoms in the shells of a RadialRequest at one step, [group][bin].
struct RadialCounts {
  std::vector<std::int64_t> replicas;  ///< [group] running ones
  std::vector<std::int64_t> oxygens, hydrogens;
  /// Sum, over the oxygens in the shell, of the cosine of the angle between the molecular dipole
  /// and the outward direction, in units of kCosineUnit.
  std::vector<std::int64_t> cosines;
};

/// Sums of the numbers of rows over the running replicas of each group, relative to a pivot: the
/// number of the running replica with the lowest id. The order of a sum depends on the replica ids
/// only; see physics/radial.hpp.
struct GroupMoments {
  int groups = 0;                    ///< a replica belongs to the group (replica id mod groups)
  int numbers = 0;                   ///< in a row
  std::vector<std::int64_t> counts;  ///< [group][number] values
  std::vector<double> pivots, sums, squares;  ///< [group][number]: p, sum (x - p), sum (x - p)^2
  std::vector<double> products;  ///< [group]: sum (x - p)(y - q) of the last two numbers
};

/// What measurements need beyond the state.
struct MeasureSettings {
  /// Oxygens nearer than this to one another belong to one part of a cluster [A]. Two dipoles of
  /// 2.35 D at this distance attract each other by at most 0.3 kcal/mol, half of kT at 298 K.
  double link_A = 8.0;
  LindemannRequest lindemann;
  LindemannSums lindemann_sums;  ///< to continue from; other replicas start at 0
  int moment_groups = 1;         ///< GroupMoments::groups
  RadialRequest radial;
  std::int64_t exchange_every = 0;  ///< interval of exchanges of ring polymers; 0: none
};

/// A replica that was stopped because an atom became too fast or a number became NaN.
struct BlowUp {
  std::int64_t replica = 0;  ///< replica id
  std::int64_t step = 0;     ///< step at which it was detected
  int molecule = 0;          ///< first molecule that failed
  /// At that step or in the last good state, whichever has the larger force: after the step the
  /// atoms may be far apart again.
  ClosestAtoms closest;
  LargestForce largest_force;  ///< of other molecules and the wall, not of bonds
  bool seen_in_last_good_state = false;
  /// An energy or force of a Potential was not finite.
  bool potential_was_not_finite = false;
  ImageFailure failure = ImageFailure::none;  ///< its reason, of a many-body model

  bool operator==(const BlowUp&) const = default;
};

/// Two replicas that exchange states, and the factors by which the velocities that each of them
/// receives are multiplied.
struct StateExchange {
  std::int64_t first = 0, second = 0;  ///< replica ids
  double to_first = 1.0, to_second = 1.0;
};

/// Host copies of the requested fields at one step; other fields are empty. Arrays over replicas
/// contain the running replicas only: index r belongs to the replica `replica_ids[r]`.
struct Frame {
  std::int64_t step = 0;
  double time_ps = 0.0;
  int molecules = 0;
  int beads = 1;  ///< of each ring polymer
  std::vector<std::int64_t> replica_ids;
  /// [replica][molecule][9]; of centroids if there are several beads, like the velocities.
  std::vector<double> positions_A;
  std::vector<double> velocities_A_per_akma;  ///< [replica][molecule][9]
  std::vector<double> beads_A;                ///< [replica][bead][molecule][9]
  /// [replica][molecule][O, H1, H2]: centroid-virial estimators, equation (83); empty for one bead.
  std::vector<double> atom_kinetic_kcal_per_mol;
  std::vector<double> own_positions_A;  ///< [replica][molecule][9]
  /// [replica][molecule][bond (O,H1), (O,H2), (H1,H2)] [kcal/mol/A^2]; equations (14), (31).
  std::vector<double> multipliers_kcal_per_mol_A2;
  std::vector<Energies> energies;          ///< [replica]
  std::vector<Conservation> conservation;  ///< [replica]
  std::vector<double> heat_kcal_per_mol;   ///< [replica]; 0 if it is not tallied, see State
  std::vector<ClusterMeasures> shape;      ///< [replica]
  std::vector<ClusterParts> parts;         ///< [replica]
  std::vector<double> lindemann;  ///< [replica]; nan for fewer than two samples or molecules
  LindemannSums lindemann_sums;
  /// [replica]; of ring polymers the mean over the beads of the potential energy.
  std::vector<double> exchange_energies_kcal_per_mol;
  /// [replica]; nan without a neighbour, and for classical replicas.
  std::vector<double> rescaled_energies_kcal_per_mol;
  /// [replica], with induced dipoles; mean over the beads; nan for pairwise models.
  std::vector<std::array<double, 3>> dipoles_e_A;
  std::vector<Geometry> geometry;   ///< [replica]
  std::vector<RingMeasures> rings;  ///< [replica]
  /// Of the members of Energies, the potential energy with that of the wall, and the exchange
  /// energy.
  GroupMoments energy_moments;
  GroupMoments shape_moments;      ///< of the members of ClusterMeasures
  GroupMoments geometry_moments;   ///< of the members of Geometry
  GroupMoments lindemann_moments;  ///< of the Lindemann index
  RadialCounts radial_counts;
  /// Counts since the engine was made: [group][pair class][bin], each molecule pair once; zeros if
  /// none were requested from make_engine(). In runs these are the counts of [observe.rdf].
  std::vector<std::uint64_t> pair_counts;
  /// Number of (replica, step) samples in the counts, by group.
  std::vector<std::int64_t> pair_samples;

  /// Number of running replicas.
  std::size_t live() const { return replica_ids.size(); }
  /// Number of coordinates of one replica, 9 N.
  std::size_t coordinates() const {
    return static_cast<std::size_t>(molecules) * kCoordinatesPerMolecule;
  }
  /// The numbers of running replica r < live(), 9 N: [molecule][O, H1, H2][x, y, z].
  /// @throws std::out_of_range if there is no such replica or the field was not requested
  std::span<const double> positions_A_of(std::size_t r) const { return part(positions_A, r); }
  std::span<const double> velocities_A_per_akma_of(std::size_t r) const {
    return part(velocities_A_per_akma, r);
  }
  std::span<const double> own_positions_A_of(std::size_t r) const {
    return part(own_positions_A, r);
  }

 private:
  std::span<const double> part(const std::vector<double>& field, std::size_t r) const {
    if (r >= live() || field.size() != live() * coordinates()) {
      throw std::out_of_range("Frame: the field was not requested, or there is no such replica");
    }
    return std::span(field).subspan(r * coordinates(), coordinates());
  }
};

/// Time by stage, in seconds summed over threads, and iteration counts. The steps of a replica
/// count up to and including the step in which it was stopped.
struct EngineReport {
  double pair_seconds = 0.0;
  double bond_seconds = 0.0;
  double noise_seconds = 0.0;
  double rest_seconds = 0.0;
  std::int64_t constraint_iterations = 0;  ///< summed over molecules and steps
  std::int64_t molecule_steps = 0;         ///< molecules times steps, of all replicas
  std::int64_t indefinite_hessians = 0;    ///< full Hessians that were not positive definite

  EngineReport& operator+=(const EngineReport& more) {
    pair_seconds += more.pair_seconds;
    bond_seconds += more.bond_seconds;
    noise_seconds += more.noise_seconds;
    rest_seconds += more.rest_seconds;
    constraint_iterations += more.constraint_iterations;
    molecule_steps += more.molecule_steps;
    indefinite_hessians += more.indefinite_hessians;
    return *this;
  }
};

/// A device of an engine and its share of the replicas.
struct EnginePart {
  int rank = 0;            ///< MPI rank of the process
  std::string host;        ///< empty without MPI
  std::string device;      ///< Engine::description()
  std::string device_id;   ///< the same for one device seen by several processes; empty: CPU
  std::string arithmetic;  ///< Engine::arithmetic()
  std::int64_t replicas = 0;
  std::int64_t first_replica = -1, last_replica = -1;  ///< ids; -1: none
};

/// Coordinates that a replica receives from another engine; see Engine::put_coordinates().
struct ReceivedCoordinates {
  std::int64_t replica = 0;      ///< id
  double velocity_factor = 1.0;  ///< by which the received velocities are multiplied
  std::int64_t from = 0;         ///< id of the replica from which they come
};

/// Samples of replicas in the memory of the device that computes the steps: results of windows or
/// segments replace arrays in frames.
class History {
 public:
  /// By replica id. Time correlations: see CorrelationLayout. Velocities: [sample][coordinate] in
  /// float.
  using Memory = std::map<std::int64_t, std::vector<std::byte>>;

  virtual ~History() = default;
  /// Adds the present state of the engine.
  /// @param number of the sample, from 0; of velocities in the present segment
  /// @return if it completes a window of time correlations, the numbers of that window in a
  ///         CorrelationLayout; if it completes a segment, the powers of analysis::Periodogram of
  ///         velocities and then of currents. Of running replicas by id; else empty. A segment
  ///         loses its first half.
  virtual std::map<std::int64_t, std::vector<double>> sample(std::int64_t number) = 0;
  /// Of the running replicas.
  virtual Memory memory() const = 0;
};

/// A History of time correlations of positions, or of powers of velocities.
struct HistoryRequest {
  int replicas = 0;             ///< of replicas with a lower id
  int longest = 0;              ///< lag of time correlations [samples]; 0: powers
  int samples = 0;              ///< of velocities in a segment
  std::vector<double> weights;  ///< [coordinate] of the powers of velocities
  double current_weight = 0.0;  ///< of the powers of v(H1) + v(H2) - 2 v(O), summed over molecules
  History::Memory memory;       ///< of at least these replicas, to continue from; empty: nothing
};

/// Owns the state of some replicas, on one device or on several, and advances it.
///
/// Results are bitwise reproducible: advance(a) and advance(b) give the same bits as advance(a +
/// b); the bits of a replica do not depend on the batch or the number of threads.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Advances all replicas by `n_steps`; does nothing if that is 0 or less. A replica that blows up
  /// is stopped, the others continue.
  /// @throws Error for too little memory or a failed device. Do not use the engine afterwards: some
  ///         replicas may be ahead of others.
  virtual void advance(std::int64_t n_steps) = 0;
  /// Number of the current step, counted from that of the start state.
  virtual std::int64_t step() const = 0;
  /// Fills the requested fields, and always step, time, molecules and replica ids; empties the
  /// others.
  /// @param fields a set of Fields, for example kPositions | kEnergies
  /// @param frame reuse it to avoid allocations
  virtual void snapshot(unsigned fields, Frame& frame) = 0;
  /// Sets what measurements need beyond the state, and starts the Lindemann sums anew or from those
  /// of the settings.
  virtual void measure_with(const MeasureSettings& settings) = 0;
  /// Starts to keep a history on the device of this engine, which must outlive it.
  /// @return null if it cannot be kept there: take snapshots
  virtual std::unique_ptr<History> keep_history(const HistoryRequest& /*request*/) {
    return nullptr;
  }
  /// Starts an advance(); it may return before the steps are done. Before wait(), only
  /// begin_snapshot(), finish_snapshot() and another begin_advance() may be called.
  virtual void begin_advance(std::int64_t n_steps) { advance(n_steps); }
  virtual void wait() {}
  /// Starts a snapshot of fields of kRowFields and kGroupFields. finish_snapshot() fills the frame;
  /// steps that are started in between do not change it.
  /// @return false if the engine or the fields do not allow it: call snapshot()
  virtual bool begin_snapshot(unsigned /*fields*/) { return false; }
  virtual void finish_snapshot(Frame& /*frame*/) {}
  /// Exchanges the positions and velocities of pairs of replicas. Each replica may occur once.
  /// Noise, bath and heat stay with the replica id. The engine is then bitwise equal to a new
  /// engine made from the exchanged state, except that sums and counts continue.
  /// @throws InputError if a replica does not exist, was stopped, or is named twice
  virtual void exchange(std::span<const StateExchange> pairs) = 0;
  /// The numbers that exchange() would move, of replicas that exchange states with another engine
  /// of the same arithmetic: as many for each replica.
  /// @throws InputError if a replica does not exist or was stopped, or if the engine cannot do this
  virtual std::vector<double> take_coordinates(std::span<const std::int64_t> replica_ids) const;
  /// Completes the exchange: the replicas receive numbers of take_coordinates() of another engine.
  /// @throws InputError as above
  virtual void put_coordinates(std::span<const ReceivedCoordinates> replicas,
                               std::span<const double> numbers);
  /// The state of all replicas. An engine made from it and the System continues bit for bit.
  /// A stopped replica has its last good state, from shortly before it was stopped.
  virtual State state() const = 0;
  /// Starts a copy of state(). Steps that are started later do not change it.
  /// @return completes the copy; call it once, from any thread, before the engine is destroyed
  virtual std::function<State()> begin_state() const {
    return [copy = state()]() mutable { return std::move(copy); };
  }
  /// Replicas stopped so far, in order of replica.
  virtual std::vector<BlowUp> blow_ups() const = 0;
  virtual EngineReport report() const = 0;
  /// One line with the device and the instruction set or driver.
  virtual std::string description() const = 0;
  /// The part of the description that determines the last bits: engines with the same arithmetic
  /// give the same bits.
  virtual std::string arithmetic() const { return description(); }
  /// Whether steps that begin_advance() started go on while the calling thread does something else.
  virtual bool is_asynchronous() const { return false; }
  /// The devices and their shares of the replicas, in the order of the replicas. An engine on one
  /// device has one part, without replica ids.
  virtual std::vector<EnginePart> parts() const;
};

/// The device, the number of CPU threads, and what computes the forces.
struct DeviceRequest {
  /// auto | cpu | cuda | cuda:i | cuda:i,j,... | cuda:all. Several CUDA devices share the replicas;
  /// the results do not depend on the number of devices of one kind.
  std::string name = "auto";
  int threads = 0;  ///< 0 or less: all processors of the process
  /// Energies and forces in place of those of the water model, on the CPU only; null: the model.
  std::shared_ptr<Potential> potential{};
};

/// The device that "auto" selects: the first CUDA device; or the CPU if there is none, if the
/// device has few double-precision units and pairs are in double, or if a dense solve needs
/// cuSOLVER and it is missing. The choice does not depend on the number of replicas, so the bits of
/// a replica do not either.
struct AutoDevice {
  std::string name;  ///< "cuda" or "cpu"
  std::string note;  ///< why the CPU is used although there is a device, or that it may be faster
};
/// @param threads of the CPU, as in DeviceRequest
AutoDevice auto_device(const System& system, std::int64_t replicas, int threads);

/// Makes an engine for a system and its start state. It keeps copies of both.
/// @throws InputError if
///         - the state does not belong to the system, has arrays of wrong sizes or duplicate ids,
///         - a parameter of the system is out of range (a default-constructed System has a step of
///         0),
///         - the request for pair counts is invalid,
///         - single precision does not support the scheme or the positions,
///         - a Potential does not support the scheme, the precision or the device,
///         - the device name is unknown
/// @throws DeviceError if the device cannot be used or has too little memory
std::unique_ptr<Engine> make_engine(const System& system, const State& start,
                                    const PairCountRequest& counts, const DeviceRequest& device);
/// A function with the arguments of make_engine().
using EngineMaker = std::function<std::unique_ptr<Engine>(
    const System&, const State&, const PairCountRequest&, const DeviceRequest&)>;

}  // namespace tarn
