#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/physics/triple.hpp"
#include "tarn/steps/step_parameters.hpp"

namespace tarn {

/// Computes the fields of a Frame from the coordinates of a replica, for all engines.
class Measure {
 public:
  explicit Measure(const System& system);

  /// Coordinates of one replica in an engine, 9 N numbers each.
  struct Replica {
    explicit Replica(int molecules);
    std::vector<double> x;  ///< the scheme's own positions [A]
    std::vector<double> v;  ///< velocities [A/akma]; fill() projects those of rigid schemes
    std::vector<double> a;  ///< accelerations of the current step [A/akma^2]
    std::vector<double> q;  ///< reported positions [A]
    /// BAOAB: velocities right after the noise, NaN before the first noise [A/akma]; projected too.
    std::vector<double> v_thermal;
    std::vector<double> heat;  ///< [molecule] [kcal/mol], 0 if it is not tallied
  };
  /// Non-bonded energy V0 of positions [kcal/mol], and the forces -grad V0 [kcal/mol/A].
  using Potential = std::function<double(const std::vector<double>& q)>;
  using Forces = std::function<void(const std::vector<double>& x, std::vector<double>& f)>;

  /// Whether a replica's v and v_thermal are needed.
  static constexpr bool needs_velocities(unsigned fields) {
    return (fields & (kVelocities | kEnergies | kConservation | kMultipliers)) != 0;
  }
  /// Whether multipliers() needs forces (without the wall). Accelerations do not determine the
  /// multipliers if bonds are infinitely stiff, or if they were computed from projected forces.
  bool multipliers_need_forces() const;

  /// Resizes the requested fields of a Frame for `replicas` replicas, and empties the others.
  void prepare(unsigned fields, std::size_t replicas, Frame& frame) const;
  /// Fills index k of the requested fields.
  void fill(unsigned fields, std::size_t k, Replica& replica, const Potential& potential,
            const Forces& forces, Frame& frame) const;
  /// Fills the closest atoms and the largest force of a blow-up.
  /// @param x positions at the step at which it was detected; may contain NaN
  void record_extremes(const std::vector<double>& x, const std::vector<double>& last_good_x,
                       const Forces& forces, BlowUp& blow_up) const;

 private:
  /// Kinetic degrees of freedom of one replica: translation and rotation of molecules, and bonds.
  struct DegreesOfFreedom {
    double translation, rotation, bonds;
  };
  /// Positions that belong to v_thermal: the noise of BAOAB acts half a drift before x; the
  /// velocity before the last kick leads from there to x.
  Triple<double> positions_at_noise(const Replica& r, int molecule) const;
  /// Projects velocities of rigid molecules onto the constraints at their positions: steps leave
  /// their bond part.
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
