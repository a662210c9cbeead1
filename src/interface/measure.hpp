#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "steps/measure.hpp"
#include "tarn/engine.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn {

/// Computes the fields of a Frame from the coordinates of a replica, for all engines.
class Measure {
 public:
  explicit Measure(const System& system);

  /// Coordinates of one replica in an engine, 9 N numbers each.
  struct Replica {
    explicit Replica(int molecules);
    std::vector<double> x;  ///< the scheme's own positions [A]
    std::vector<double> v;  ///< velocities [A/akma], along no rigid bond
    std::vector<double> a;  ///< accelerations of the current step [A/akma^2]
    std::vector<double> q;  ///< reported positions [A]
  };
  /// The forces -grad V0 at positions [kcal/mol/A].
  using Forces = std::function<void(const std::vector<double>& x, std::vector<double>& f)>;

  /// Whether a replica's v is needed.
  static constexpr bool needs_velocities(unsigned fields) {
    return (fields & (kVelocities | kMultipliers)) != 0;
  }
  /// Give the fields of a Frame their sizes for `replicas` replicas, and empty the others: those of
  /// kRowFields, and all others.
  static void prepare_rows(unsigned fields, std::size_t replicas, Frame& frame);
  void prepare_arrays(unsigned fields, std::size_t replicas, Frame& frame) const;
  /// Fills place k of those fields of kArrayFields that `fields` names.
  void fill(unsigned fields, std::size_t k, const Replica& replica, const Forces& forces,
            Frame& frame) const;
  /// What a blow-up tells of the atoms of its replica. It is rare, and may take its time.
  /// @param x positions at the step at which it was noticed; they need not be numbers
  void record_extremes(const std::vector<double>& x, const std::vector<double>& last_good_x,
                       const Forces& forces, BlowUp& blow_up) const;

  /// Estimators of replicas with one bead, from their energies.
  void fill_classical_rings(Frame& frame) const;

 private:
  void multipliers(const Replica& r, const Forces& forces, double* lambda) const;
  void add_outside(const std::vector<double>& x, std::vector<double>& f) const;

  System system_;
  MeasureNumbers numbers_;
  ClusterMasses masses_;
};

/// Mean kinetic energies of the isotopes of hydrogen, from those of the atoms of a ring polymer.
/// @param of_atoms_kcal_per_mol 3 N numbers
void put_hydrogen_kinetics(const System& system, std::span<const double> of_atoms_kcal_per_mol,
                           RingMeasures& rings);

// The list of the members of a Frame that have numbers for each replica, from which preparing,
// joining and dropping them follows: a new field is one line here.

/// A member with one row per replica, or with an array of numbers per replica.
template <class T>
struct FrameField {
  using Member = std::vector<T> Frame::*;  // nvcc's host code for a plain one has a warning
  unsigned bit;
  Member member;
  int per_molecule = 0;   ///< numbers of an array; 0: one row per replica
  bool per_bead = false;  ///< the array is that of each bead

  constexpr bool is_row() const { return per_molecule == 0; }
  /// Numbers or rows of `replicas` replicas with these molecules and beads.
  std::size_t size(std::size_t replicas, int molecules, int beads) const {
    if (is_row()) return replicas;
    return replicas * static_cast<std::size_t>(molecules * per_molecule * (per_bead ? beads : 1));
  }
};

/// Calls f(field) for each of them.
template <class F>
void for_each_field(const F& f) {
  f(FrameField<Energies>{kEnergies, &Frame::energies});
  f(FrameField<Conservation>{kConservation, &Frame::conservation});
  f(FrameField<double>{kHeat, &Frame::heat_kcal_per_mol});
  f(FrameField<ClusterMeasures>{kShape, &Frame::shape});
  f(FrameField<ClusterParts>{kParts, &Frame::parts});
  f(FrameField<double>{kLindemann, &Frame::lindemann});
  f(FrameField<double>{kExchangeEnergies, &Frame::exchange_energies_kcal_per_mol});
  f(FrameField<double>{kRescaledEnergies, &Frame::rescaled_energies_kcal_per_mol});
  f(FrameField<std::array<double, 3>>{kDipoles, &Frame::dipoles_e_A});
  f(FrameField<Geometry>{kGeometry, &Frame::geometry});
  f(FrameField<RingMeasures>{kRings, &Frame::rings});
  f(FrameField<double>{kPositions, &Frame::positions_A, 9});
  f(FrameField<double>{kVelocities, &Frame::velocities_A_per_akma, 9});
  f(FrameField<double>{kOwnPositions, &Frame::own_positions_A, 9});
  f(FrameField<double>{kMultipliers, &Frame::multipliers_kcal_per_mol_A2, 3});
  f(FrameField<double>{kBeads, &Frame::beads_A, 9, true});
  f(FrameField<double>{kAtomKinetic, &Frame::atom_kinetic_kcal_per_mol, 3});
}

/// What every engine is checked for before it is made.
/// @throws InputError when the state is not one of the system's, or has arrays of the wrong sizes
/// or replicas of one id; when a number of the system is out of its range; when pairs cannot be
/// counted as asked for; when single precision has not the scheme, or cannot hold the molecules
void check_start(const System& system, const State& start, const PairCountRequest& counts);

/// The CUDA devices that a name selects.
struct CudaDevices {
  bool all = false;          ///< all that the process can use
  std::vector<int> indices;  ///< otherwise these
};

/// Reads "cuda", "cuda:i", "cuda:i,j,..." or "cuda:all"; empty for any other text.
std::optional<CudaDevices> parse_cuda_devices(std::string_view name);

/// The system whose steps and measurements have no forces or energies of the water model.
/// @throws InputError if the scheme or the precision requires those
System without_model_forces(System system);

}  // namespace tarn
