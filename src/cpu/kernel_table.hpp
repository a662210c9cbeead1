#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "steps/step_parameters.hpp"

namespace tarn {
struct BiasTerm;
struct MeasureNumbers;
struct QuenchRules;
}  // namespace tarn

/// @file
/// Function pointers to the kernels, which are compiled once per instruction set. This header
/// contains no code, so that no function of one instruction set can replace that of another at link
/// time.

namespace tarn::cpu {

/// The packs of a pass, and the replica ids that name the lanes' noise.
///
/// Either a lane is a replica (small clusters, if there are enough replicas), and pack s * N + m
/// has molecule m of the replicas of sub-block s. Or a lane is a molecule of one cluster, and pack
/// p has the molecules from p * lanes on; a pass may then take a part of the packs, but its sums
/// include all.
struct PackLanes {
  int first_pack;
  int last_pack;  ///< one past the end
  bool lanes_are_replicas;
  int molecules;                     ///< N
  const std::uint64_t* replica_ids;  ///< [sub-block][lane] (small), or one (large)
  /// See ou_step: [sub-block][lane] (small), or [molecule] (large), 0 for padding.
  const double* kick_scale;
  /// Small: [sub-block][lane], 1 for a running replica, 0 for a stopped one or padding.
  const double* running;
  /// Heat of each molecule, [pack][lane] of the packs of doubles; null if not tallied. The masses
  /// are those of its kinetic energy, always in double.
  double* heat;
  double mass_o_Da, mass_h_Da;
  /// Null without isotopes. Small: [molecule][kIsotopeNumbers]; large:
  /// [pack][kIsotopeNumbers][lane].
  const double* isotopes;
  double cluster_Da;  ///< mass of all molecules
};

/// Of a molecule of isotopes: members of AtomMasses, then those of AtomOuParameters.
inline constexpr int kIsotopeNumbers = 13, kIsotopeOu = 7;

/// Molecules: pack p has one number per lane for each of the nine coordinates of a molecule, at
/// p * 9 * lanes + coordinate * lanes + lane.
struct MoleculePacks : PackLanes {
  double* x;          ///< positions [A]
  double* v;          ///< velocities [A/akma]
  double* a;          ///< accelerations [A/akma^2]
  const double* f;    ///< forces on the atoms [kcal/mol/A]
  double* v_thermal;  ///< velocities right after the noise, for BAOAB; may be null otherwise
};

/// Molecules in single precision (steps/single.hpp), in packs of twice as many lanes, so that
/// there is one sub-block.
struct SinglePacks : PackLanes {
  std::uint32_t* x;  ///< [pack][12][lane]: cell, O, H1, H2
  float* v;          ///< [pack][9][lane], as all arrays below
  float* a;
  const float* f;
  float* v_thermal;
};
inline constexpr int kFixedComponents = 12;

/// Result of a pass over packs: sums over its molecules, and the first pack with a bad lane.
struct PassReport {
  int bad_pack = -1;
  std::int64_t iterations = 0;  ///< without those of padding
  std::int64_t indefinite = 0;  ///< full Hessians that were not positive definite
};

inline constexpr int kThermostats = 3;

/// A step by its variants; see step_passes().
struct StepKind {
  Thermostat thermostat;
  Move move;
  End end;

  bool operator==(const StepKind&) const = default;
};
/// All kinds of steps. The table of their passes and the engine's choice follow from this list.
inline constexpr auto kStepKinds = [] {
  std::array<StepKind, 30> all{};
  std::size_t n = 0;
  for (const Thermostat t : {Thermostat::none, Thermostat::gla, Thermostat::baoab}) {
    const bool has_noise = t != Thermostat::none;
    for (const End end :
         {End::gauss_newton, End::full, End::verlet, End::flexible_verlet, End::flexible_zss}) {
      all[n++] = {t, Move::free, end};
    }
    for (const Move move : {Move::newton, Move::sweeps}) {
      all[n++] = {t, move, End::kick};
      if (!has_noise) all[n++] = {t, move, End::rattle};
    }
    all[n++] = {t, Move::settle, has_noise ? End::kick : End::settle};
    if (t == Thermostat::baoab) continue;
    for (const Move move : {Move::newmark, Move::newmark_full}) all[n++] = {t, move, End::verlet};
  }
  return all;
}();

/// Sites of a molecule pack in pair precision, component by component: oxygen (0-2), its low part
/// in mixed precision (3-5), offsets of H1 (6-8), H2 (9-11) and M (12-14).
inline constexpr int kSiteComponents = 15;
/// Forces on the sites of a molecule pack: O, H1, H2, M.
inline constexpr int kSiteForceComponents = 12;
/// Twice the doubles in the widest pack of any instruction set; large clusters are padded to it.
inline constexpr int kPadding = 16;

/// Pair forces of a block of small clusters; a lane is a replica.
/// In mixed precision a block has two sub-blocks, the halves of a float pack.
struct SmallPairs {
  const double* x;  ///< [sub-block][molecule][9][lane]
  void* sites;      ///< work space: [molecule][15] packs of the pair type
  void* work;       ///< work space: [3/2 molecules][12] packs of the pair type
  double* f;        ///< out: forces on the atoms, laid out as x
  int molecules;
};

/// Pair forces of one small cluster; a lane is a molecule.
struct NarrowPairs {
  const void* sites;  ///< [pack][15][lane of the pair type], filled by build_sites
  void* work;         ///< work space: [15 + 12][row_length] of the pair type
  double* f;          ///< out: forces on the atoms, laid out as MoleculePacks::f
  int molecules;
  int row_length;
};

/// Pair forces of a large cluster; a lane is a molecule. The molecules are divided into blocks. A
/// call computes the pairs of a block of rows with blocks of partners; the forces between two
/// blocks have their own memory.
struct LargePairs {
  const double* x;  ///< [pack][9][lane]
  void* sites;      ///< [pack][15][lane of the pair type], filled by build_sites
  void* block_f;    ///< out: [pack][other block][12][lane] of the pair type, forces on the sites;
                    ///< with several blocks of partners, those on the rows are stored with
                    ///< the first one
  int molecules;
  int padded;  ///< N rounded up to a multiple of kPadding
  int blocks;
  int row_block;
  int first_partner, last_partner;  ///< blocks; the last is one past the end
};

/// Whether a task pairs a block of rows with all later blocks, rather than with one. That saves
/// overhead per row, but gives fewer tasks of unequal size to the threads. A function of N only.
constexpr bool pairs_with_all_later_blocks(int molecules) { return molecules <= 256; }

/// Histogram of intermolecular distances of positions laid out as MoleculePacks.
struct PairCounting {
  const double* q;
  bool lanes_are_replicas;
  int molecules;
  bool pairs[3];
  double bins_per_A;
  int bins;
  int first, last;  ///< molecules whose distances to later molecules are counted; one past the end
  /// [class][bins + 1], the last bin for distances beyond r_max. Small: one pointer per lane, null
  /// for lanes that are not counted; large: only the first.
  std::uint64_t* const* histograms;
};

/// One correction of push-forward Newmark. Arrays are [sub-block][lane] (small), or [lane] with the
/// same number in all lanes (large).
struct NewmarkCorrection {
  const double* q;       ///< positions, laid out as x
  const double* active;  ///< 1, or 0 if the accelerations must not change
  double* change2;       ///< out: squared norm of the change of q, of each replica [A^2]
  double* size2;         ///< out: squared norm of q [A^2]
};

/// Pair forces of clusters in single precision.
struct SinglePairs {
  const std::uint32_t* x;  ///< as SinglePacks::x
  float* sites;            ///< [pack][15][lane]
  float* work;             ///< as SmallPairs::work, or as NarrowPairs::work
  int row_length;          ///< as NarrowPairs::row_length
  float* f;                ///< out: [pack][9][lane]
  int molecules;
  int first_pack, last_pack;  ///< of build_sites; one past the end
};

/// The passes of one kind of step: begin, forces, end, noise.
template <class S, class Packs>
struct PassesOfKind {
  /// Kick and drift; with BAOAB the noise of that step in the middle.
  PassReport (*begin)(const StepNumbers<S>&, const Packs&, std::int64_t step);
  /// Accelerations and the second kick.
  PassReport (*end)(const StepNumbers<S>&, const Packs&);
  /// The noise of GLA, or that of BAOAB alone; null without a thermostat.
  void (*noise)(const StepNumbers<S>&, const Packs&, std::int64_t step);
  /// One pass from the forces of step `step` to those of the next step, without heat. It reads x
  /// and v of `packs`, writes those of `next` and v_thermal, and does not change the accelerations.
  /// Packs with indefinite Hessians are reported as bad.
  PassReport (*fused)(const StepNumbers<S>&, const Packs& packs, const Packs& next,
                      std::int64_t step);
};
/// Passes over molecules.
template <class S, class Packs>
struct StepKernels {
  PassesOfKind<S, Packs> kinds[kStepKinds.size()];  ///< those of Newmark are null in single
  /// Sums of the forces over the atoms of each molecule: [pack][3][lane].
  void (*total_forces)(const Packs&, const S* f, S* totals);
  /// Subtracts from f the net force that rounded pair forces leave, so that momentum is conserved.
  /// @param totals of all packs; may be null if the pass takes all packs
  void (*remove_net_force)(const Packs&, const Masses<S>&, const S* totals, S* f);
  /// Adds the forces of the wall, their recoil and the forces of the field to f.
  void (*confine)(const Packs&, const Masses<S>&, const OutsideForces<S>&, S* f);
};

/// Kernels for single precision only.
struct SingleKernels {
  void (*load)(const MoleculePacks& from, const SinglePacks& to);
  /// Exact; stores v_thermal too, if it exists.
  void (*store)(const SinglePacks& from, const MoleculePacks& to);
  // Pair forces, by [M site?]. Large clusters use KernelTable::large_pairs with these sites.
  void (*small_pairs[2])(const SinglePairs&, const PairParameters<float>&);
  void (*narrow_pairs[2])(const SinglePairs&, const PairParameters<float>&);
  void (*build_sites[2])(const SinglePairs&, const PairParameters<float>&);
  /// Rounds forces laid out as MoleculePacks::f; a lane is a molecule.
  void (*round_forces)(const double* from, int first_pack, int last_pack, float* to);
};

/// Replicas that are measured side by side: a lane is a replica.
struct MeasuredPacks {
  const double *x, *v, *a, *q;  ///< [molecule][9][lane]; see MeasuredMolecule
  const double* v_thermal;      ///< as those, with BAOAB
};
/// Measurements; see measure_passes.hpp. Results are [number][lane].
struct MeasureKernels {
  /// q <- x + bh2 a.
  void (*reported)(double bh2, const MeasuredPacks&, int molecules, double* q);
  /// Sums of EnergyTerm, and of InertiaTerm where the cluster is motionless, by [isotopes?].
  /// @param isotopes [molecule]
  void (*energy_sums[2])(const MeasureNumbers&, const AtomMasses<double>* isotopes,
                         const MeasuredPacks&, double* sums, double* inertia);
  /// Non-bonded energy, by [M site?]. @param q [molecule][9][lane]
  void (*potential_energies[2])(const PairParameters<double>&, const double* q, int molecules,
                                double* energies);
  /// Sums of ShapeTerm, by [isotopes?].
  void (*shape_sums[2])(const MeasureNumbers&, const AtomMasses<double>* isotopes, const double* q,
                        double* sums);
  /// Sums, minima and maxima of GeometryTerm. @param c [molecule][9][lane]
  void (*geometry)(const double* c, int molecules, double* numbers);
  /// Adds the oxygen-oxygen distances to their means and squares, [pair][lane].
  void (*add_distances)(const double* q, int molecules, double samples, double* means,
                        double* squares);
  /// Equation (29).
  void (*lindemann_indices)(int molecules, double samples, const double* means,
                            const double* squares, double* indices);
  /// Squares of the largest distance of an oxygen from the first one.
  void (*farthest_from_first)(const double* q, int molecules, double* squares);
};

/// Quenches: a lane is a cluster, or a molecule of one cluster. Arrays are laid out as
/// MoleculePacks::x.
struct QuenchPacks {
  double *x, *trial;       ///< positions, and those to evaluate next
  const double* f;         ///< forces at the trial positions
  const double* energies;  ///< [lane]
  double* rows;            ///< [QuenchRow][pack][unknown][lane]
  double* numbers;         ///< [QuenchNumber][lane]
  int packs;
};

/// Constants of the modes of ring polymers, [slot]; see RingMode. Masses are the same in all.
struct RingConstants {
  const double *cosine, *sine_over_omega, *omega_sine;
  const double *decay_o, *decay_h, *kick_o, *kick_h;
};
/// The modes of a group of ring polymers, one after another in the slots of packs: pack
/// p * molecules + m has molecule m of the slots p * lanes onwards.
struct RingPacks {
  const double* isotopes;              ///< masses, as PackLanes::isotopes (small); null without
  const double* ou;                    ///< of isotopes: [pack][6][lane], AtomOuParameters
  double *q, *v;                       ///< normal modes, [pack][9][lane]
  const double* f;                     ///< forces on the modes
  double* v_thermal;                   ///< velocities right after the noise of BAOAB; may be null
  double* heat;                        ///< [pack][lane]; null if not tallied
  double* bad;                         ///< [slot]: out, 1 where a velocity is too large or NaN
  const std::uint64_t* replica_ids;    ///< [slot]
  const std::uint64_t* first_numbers;  ///< [slot]: of molecule 0 in the noise, mode * molecules
  int molecules;
  int packs;  ///< of slots
  double mass_o_Da, mass_h_Da;
};
/// Number of beads up to which a transform by a matrix is faster than a Fourier transform.
inline constexpr int kMaxFoldedBeads = 32;
/// Largest number of slots of a group of ring polymers.
inline constexpr int kMaxRingSlots = kMaxBeads + kPadding;
/// Passes of a fast Fourier transform of P beads. Complex numbers are pairs of doubles.
struct RingFourier {
  static constexpr int kMostPasses = 10;
  int passes;
  int radices[kMostPasses];             ///< 4, 2 and odd primes, with product P
  const double* twiddles[kMostPasses];  ///< e^(-2 pi i p k/n), [p][k - 1]; n are left at the pass
  const double* roots[kMostPasses];     ///< e^(-2 pi i j/radix)
  const double* half_phases;            ///< half of norm_k times cos and sin(pi k/P), k to P/2
};
/// The linear map between the beads and the modes of all coordinates of a group of ring polymers.
/// Arrays are [pack of slots][number][lane]. Unused slots of beads repeat the first bead, so that
/// their forces are finite; those of modes are 0.
///
/// It is a fast Fourier transform, or for one ring polymer of few beads a product with a matrix.
/// Modes are even or odd under the reversal of the beads, j to P - 1 - j, so that sums and
/// differences of opposite beads halve the operations of the product.
struct RingTransform {
  const RingFourier* fourier;
  /// [half of in][half of out] of the cosine and of the sine modes; null: a Fourier transform.
  const double *cosines, *sines;
  int beads;  ///< of each ring polymer
  int rings, packs;
  int numbers;    ///< coordinates, 9 N
  bool to_beads;  ///< else from beads to modes
};
/// Kernels for ring polymers, in double.
struct RingKernels {
  /// The second half of a step after its forces (`end`), and the first half of the next one
  /// (`begin`), by [isotopes?] and Thermostat. @return false if a velocity is too large or NaN
  bool (*pass[2][kThermostats])(const RingConstants&, const RingPacks&, double timestep,
                                double largest_speed2, std::uint64_t seed, std::int64_t step,
                                bool end, bool begin);
  void (*transform)(const RingTransform&, const double* in, double* out);
  void (*add_bond_forces)(const FlexibleParameters<double>&, const double* x, int packs, double* f);
  void (*bond_energies)(const FlexibleParameters<double>&, const double* x, int molecules,
                        double* energies);
};

struct KernelTable {
  const char* name;  ///< instruction set
  int lanes;         ///< doubles in a pack

  StepKernels<double, MoleculePacks> step[2];  ///< by [isotopes?]
  StepKernels<float, SinglePacks> single_step;
  /// The second kick of a step whose accelerations were solved elsewhere.
  PassReport (*end_kick)(const StepParameters&, const MoleculePacks&);
  /// Push-forward Newmark: adds one correction to the accelerations of the active lanes, from the
  /// positions q = x + bh2 a and the forces there; by [isotopes?].
  void (*correct_newmark[2])(const StepParameters&, const MoleculePacks&, const NewmarkCorrection&);
  /// Adds the forces of a bias to f. @param centres [slot]
  void (*add_bias)(const MoleculePacks&, const BiasTerm&, const double* centres, double* f);
  /// out <- x + bh2 a, laid out as x.
  void (*report_positions)(const StepParameters&, const MoleculePacks&, double* out);
  /// out <- v without its part along rigid bonds, which steps leave; by [isotopes?].
  void (*project_velocities[2])(const Masses<double>&, const MoleculePacks&, double* out);

  // Pair forces, by [M site?][mixed?].
  void (*small_pairs[2][2])(const SmallPairs&, const PairParameters<double>&);
  void (*narrow_pairs[2][2])(const NarrowPairs&, const PairParameters<double>&);
  /// Non-bonded energy of the cluster of the last call of narrow_pairs[.][0], with the bits of
  /// MeasureKernels::potential_energies, by [M site?].
  /// @param terms work space: [2][N/2][N rounded up to whole packs]
  double (*narrow_energy[2])(const NarrowPairs&, const PairParameters<double>&, double* terms);
  /// Of packs first..last of the pair type.
  void (*build_sites[2][2])(const LargePairs&, const PairParameters<double>&, int first_pack,
                            int last_pack);
  void (*large_pairs[2][2])(const LargePairs&, const PairParameters<double>&);
  /// Adds the forces of the blocks in a fixed order, in double, and distributes the force on M.
  /// @param f out: forces on the atoms, laid out as x, of packs first..last of the pair type
  void (*sum_blocks[2][2])(const LargePairs&, double m_weight, int first_pack, int last_pack,
                           double* f);
  /// Coulomb and Lennard-Jones energy (double sites), added in a fixed order.
  void (*large_energy[2])(const LargePairs&, const PairParameters<double>&, double* coulomb,
                          double* lj);
  void (*count_pairs)(const PairCounting&);

  SingleKernels single;
  MeasureKernels measure;
  RingKernels rings;
  /// quench_step(), by [lanes are clusters?]. @param pair see there
  void (*quench_step[2])(const QuenchPacks&, const QuenchRules&, int pair);
};

/// The fastest table of this build that runs on this machine.
const KernelTable& best_kernels();
/// All tables that run on this machine, the fastest first. The environment variable
/// TARN_CPU_KERNELS leaves out those before the named one, as on a machine without them.
/// @throws InputError if there is none of that name
int usable_kernels(const KernelTable** tables, int capacity);

// Of these, a build may have only some: see kernel_table.cpp.
extern const KernelTable kKernels_portable;
extern const KernelTable kKernels_avx2;
extern const KernelTable kKernels_avx512;
/// The same results, bit for bit, with an order of operations that is faster on AMD processors:
/// they have separate units for additions, so that repeated additions are free.
extern const KernelTable kKernels_avx512_amd;

}  // namespace tarn::cpu
