#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/physics/triple.hpp"
#include "tarn/steps/step_parameters.hpp"

namespace tarn {

/// From the coordinates of a replica to what a Frame holds: the same for every engine.
class Measure {
 public:
  explicit Measure(const System& system);

  /// Coordinates of one replica as its engine has them, 9 N numbers each.
  struct Replica {
    explicit Replica(int molecules);
    std::vector<double> x;  ///< the scheme's own positions [A]
    std::vector<double> v;  ///< velocities [A/akma]; fill() projects those of rigid schemes
    std::vector<double> a;  ///< accelerations that are kept from step to step [A/akma^2]
    std::vector<double> q;  ///< reported positions [A]
    /// Right after the noise, with BAOAB, and not numbers before the first of it; likewise.
    std::vector<double> v_thermal;
    std::vector<double> heat;  ///< [molecule] [kcal/mol], 0 where it is not tallied
  };
  /// Non-bonded energy V0 of positions [kcal/mol], and the forces -grad V0 [kcal/mol/A].
  using Potential = std::function<double(const std::vector<double>& q)>;
  using Forces = std::function<void(const std::vector<double>& x, std::vector<double>& f)>;

  /// Whether a replica's v and v_thermal are needed.
  static constexpr bool needs_velocities(unsigned fields) {
    return (fields & (kVelocities | kEnergies | kConservation | kMultipliers)) != 0;
  }
  /// Whether multipliers() calls for forces, without the wall: accelerations do not tell them where
  /// the bonds are infinitely stiff, nor where they are those of projected forces.
  bool multipliers_need_forces() const;

  /// Gives the fields of a Frame their sizes for `replicas` replicas, and empties the others.
  void prepare(unsigned fields, std::size_t replicas, Frame& frame) const;
  /// Fills place k of the fields that `fields` names.
  void fill(unsigned fields, std::size_t k, Replica& replica, const Potential& potential,
            const Forces& forces, Frame& frame) const;
  /// What a blow-up tells of the atoms of its replica. It is rare, and may take its time.
  /// @param x positions at the step at which it was noticed; they need not be numbers
  void record_extremes(const std::vector<double>& x, const std::vector<double>& last_good_x,
                       const Forces& forces, BlowUp& blow_up) const;

 private:
  /// Kinetic degrees of freedom of one replica: of molecules that move and turn, and of their
  /// bonds.
  struct DegreesOfFreedom {
    double translation, rotation, bonds;
  };
  /// Where v_thermal were: the noise of BAOAB comes half a drift before x, and the velocity before
  /// the last kick led from there to x.
  Triple<double> positions_at_noise(const Replica& r, int molecule) const;
  /// Takes velocities of rigid molecules onto the constraints, each where it was: steps leave them
  /// what they have along the bonds.
  void project(Replica& r) const;
  DegreesOfFreedom degrees_of_freedom(const std::vector<double>& x) const;
  void energies(const Replica& r, double potential, Energies& energies,
                Conservation& conservation) const;
  void multipliers(const Replica& r, const Forces& forces, double* lambda) const;
  void add_wall(const std::vector<double>& x, std::vector<double>& f) const;

  System system_;
  StepParameters parameters_;
  Confinement<double> wall_;
  bool rigid_, baoab_;
};

}  // namespace tarn
