#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tarn/physics/extremes.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// An engine owns the state of R replicas and advances it. What it gives back are Frames.

namespace tarn {

/// What a snapshot must fill; a set of bits.
enum Fields : unsigned {
  kNoFields = 0,
  kPositions = 1u << 0,     ///< reported positions: q = x + b h^2 a for Z&Ss, x for the others
  kVelocities = 1u << 1,    ///< velocities, projected onto the constraints for rigid schemes
  kEnergies = 1u << 2,      ///< energies and kinetic temperature of each replica
  kConservation = 1u << 3,  ///< conserved energy, momenta and the worst constraint
  kPairCounts = 1u << 4,    ///< pair-distance counts gathered since the start
  kOwnPositions = 1u << 5,  ///< the scheme's own positions x
  kMultipliers = 1u << 6,   ///< instantaneous multipliers of the bonds
  kHeat = 1u << 7,          ///< heat of the thermostat
};

/// Energies of one replica at one step.
struct Energies {
  double potential_kcal_per_mol = 0.0;  ///< non-bonded V0, at the reported positions
  double penalty_kcal_per_mol = 0.0;    ///< y.y / (2 omega^2); 0 for rigid schemes
  double wall_kcal_per_mol = 0.0;       ///< of the confinement, at the reported positions
  double kinetic_kcal_per_mol = 0.0;
  double total_kcal_per_mol = 0.0;  ///< what the scheme conserves: E_N for Z&Ss
  /// Kinetic, of the velocities right after the noise; 6N degrees of freedom if rigid, 9N if not.
  double temperature_K = 0.0;
  /// The same by class of degrees of freedom, 3N each: molecules as a whole, their rotation, and
  /// what stretches bonds (0 if rigid).
  double temperature_translation_K = 0.0;
  double temperature_rotation_K = 0.0;
  double temperature_bond_K = 0.0;
  /// Potential, penalty, kinetic and of the wall: H of equation (33).
  double physical_kcal_per_mol = 0.0;
};

/// Conserved quantities of one replica at one step. Momenta are those of the scheme's own x and v;
/// the energy is the total one of Energies, and constraints are those of the reported positions.
struct Conservation {
  double energy_kcal_per_mol = 0.0;
  std::array<double, 3> momentum_Da_A_per_akma{};
  std::array<double, 3> angular_momentum_Da_A2_per_akma{};  ///< about the origin
  double constraint_max_A2 = 0.0;                           ///< largest |d.d - r0^2|
};

/// Pair classes of a radial distribution function, in file order.
enum PairClass : int { kOO = 0, kOH = 1, kHH = 2 };
inline constexpr int kPairClasses = 3;

/// Intermolecular pair distances to be counted inside advance(): at each step that is a multiple of
/// `every` and at least `first_step`, into bins of equal width on [0, r_max).
struct PairCountRequest {
  bool enabled = false;
  std::array<bool, kPairClasses> pairs{true, true, true};
  double r_max_A = 12.0;
  int bins = 240;
  std::int64_t every = 10;
  std::int64_t first_step = 0;
  /// Counts are kept apart for (replica id mod groups): independent samples for errors, and baths.
  int groups = 32;
};

/// A replica that was stopped because its numbers went bad.
struct BlowUp {
  std::int64_t replica = 0;  ///< replica id
  std::int64_t step = 0;     ///< step at which it was noticed
  int molecule = 0;          ///< first molecule that went bad
  /// Of that step, or of the last good state, whichever shows the larger force: what flung atoms
  /// apart is no longer seen afterwards.
  ClosestAtoms closest;
  LargestForce largest_force;  ///< of other molecules and the wall, not of bonds
  bool seen_in_last_good_state = false;

  bool operator==(const BlowUp&) const = default;
};

/// Two replicas whose states change places, and what the velocities that each of them gets are
/// multiplied by.
struct StateExchange {
  std::int64_t first = 0, second = 0;  ///< replica ids
  double to_first = 1.0, to_second = 1.0;
};

/// What observers see: host copies of the fields that were asked for, at one step; the others are
/// empty. Arrays over replicas leave out the replicas that were stopped: place r of each belongs to
/// the live replica `replica_ids[r]`.
struct Frame {
  std::int64_t step = 0;
  double time_ps = 0.0;
  int molecules = 0;
  std::vector<std::int64_t> replica_ids;
  std::vector<double> positions_A;            ///< [replica][molecule][9]
  std::vector<double> velocities_A_per_akma;  ///< [replica][molecule][9]
  std::vector<double> own_positions_A;        ///< [replica][molecule][9]
  /// [replica][molecule][bond (O,H1), (O,H2), (H1,H2)] [kcal/mol/A^2]; equations (14), (31).
  std::vector<double> multipliers_kcal_per_mol_A2;
  std::vector<Energies> energies;          ///< [replica]
  std::vector<Conservation> conservation;  ///< [replica]
  std::vector<double> heat_kcal_per_mol;   ///< [replica]; 0 where it is not tallied, see State
  /// Counts since the engine was made: [group][pair class][bin], each molecule pair once; zeros
  /// where make_engine() was asked for none. In runs those of the deck's [observe.rdf].
  std::vector<std::uint64_t> pair_counts;
  /// Number of (replica, step) samples in the counts, by group.
  std::vector<std::int64_t> pair_samples;

  /// Number of replicas that still run.
  std::size_t live() const { return replica_ids.size(); }
  /// Number of coordinates of one replica, 9 N.
  std::size_t coordinates() const {
    return static_cast<std::size_t>(molecules) * kCoordinatesPerMolecule;
  }
  /// The part of live replica r, below live(), of the fields above: 9 N numbers, [molecule][O, H1,
  /// H2][x, y, z].
  /// @throws std::out_of_range when there is no such replica, or the field was not asked for
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
      throw std::out_of_range("Frame: a field that was not asked for, or no such replica");
    }
    return std::span(field).subspan(r * coordinates(), coordinates());
  }
};

/// Where the time went, seconds summed over threads, and iteration counts.
///
/// Steps of a replica count up to the one in which it was stopped, with that one.
struct EngineReport {
  double pair_seconds = 0.0;
  double bond_seconds = 0.0;
  double noise_seconds = 0.0;
  double rest_seconds = 0.0;
  std::int64_t constraint_iterations = 0;  ///< summed over molecules and steps
  std::int64_t molecule_steps = 0;         ///< molecules times steps, of all replicas
  std::int64_t indefinite_hessians = 0;    ///< full Hessians that were not positive definite
};

/// Owns the state of some replicas on one device and advances it.
///
/// Laws: advance(a) then advance(b) gives the same bits as advance(a + b); a replica alone gives
/// the same bits as in any batch; the number of threads changes no bit.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Advances every replica by `n_steps`; nothing happens where that is 0 or less. A replica that
  /// blows up is stopped, the others go on.
  /// After an exception (too little memory, a device that failed) some replicas may be ahead of
  /// others: what the engine holds is of no use.
  virtual void advance(std::int64_t n_steps) = 0;
  /// The number of the step that the replicas are at, from that of the start state on.
  virtual std::int64_t step() const = 0;
  /// Fills the fields that `fields` names (and step, time, molecules, replica ids, always), and
  /// empties the others.
  /// @param fields a set of Fields, as kPositions | kEnergies
  /// @param frame may be used again, which saves memory that is given anew
  virtual void snapshot(unsigned fields, Frame& frame) = 0;
  /// Lets replicas change places, each one at most once: positions and velocities, as
  /// exchange_states() does it; noise, bath and heat stay with the replica id. The engine then is,
  /// bit for bit, one made anew from that state, but that sums and counts go on.
  /// @throws InputError when there is no such replica, it was stopped, or one is named twice
  virtual void exchange(std::span<const StateExchange> pairs) = 0;
  /// The whole state of all replicas; from it and the System the run goes on bit for bit.
  /// A stopped replica holds a good state from shortly before it was stopped.
  virtual State state() const = 0;
  /// Replicas stopped so far, in order of replica.
  virtual std::vector<BlowUp> blow_ups() const = 0;
  virtual EngineReport report() const = 0;
  /// One line that names the device and the instruction set or the driver.
  virtual std::string description() const = 0;
  /// What of the description decides the last bits: engines of one arithmetic agree in all of them.
  virtual std::string arithmetic() const { return description(); }
};

/// Which device, and how many threads of the CPU.
struct DeviceRequest {
  std::string name = "auto";  ///< auto | cpu | cuda | cuda:i
  int threads = 0;            ///< 0 or less: all that the process may use
};

/// What "auto" stands for: the first CUDA device, or the CPU where there is none, where the device
/// has few units for doubles and pairs are in double, or where a dense solve lacks cuSOLVER. It is
/// never a question of how many replicas there are, so that the bits of one are not either.
struct AutoDevice {
  std::string name;  ///< "cuda" or "cpu"
  std::string note;  ///< why the CPU is taken though there is a device, or that it may be faster
};
/// @param threads of the CPU, as in DeviceRequest
AutoDevice auto_device(const System& system, std::int64_t replicas, int threads);

/// Makes the engine for a system in its start state. It keeps copies of both.
/// @throws InputError when the state is not one of the system's, or has arrays of the wrong sizes
/// or replicas of one id; when a number of the system is out of its range (a step of 0, as a System
/// made by hand begins with); when pairs cannot be counted as asked for; when single precision has
/// not the scheme, or cannot hold the molecules; when there is no such device name
/// @throws DeviceError when the device cannot be used, or has too little memory
std::unique_ptr<Engine> make_engine(const System& system, const State& start,
                                    const PairCountRequest& counts, const DeviceRequest& device);

}  // namespace tarn
