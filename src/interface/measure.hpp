#pragma once

#include <cstddef>
#include <functional>
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
    std::vector<double> v;  ///< velocities [A/akma]; fill() projects those of rigid schemes
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
  void fill(unsigned fields, std::size_t k, Replica& replica, const Forces& forces,
            Frame& frame) const;
  /// What a blow-up tells of the atoms of its replica. It is rare, and may take its time.
  /// @param x positions at the step at which it was noticed; they need not be numbers
  void record_extremes(const std::vector<double>& x, const std::vector<double>& last_good_x,
                       const Forces& forces, BlowUp& blow_up) const;

  /// Estimators of replicas with one bead, from their energies.
  void fill_classical_rings(Frame& frame) const;

 private:
  /// Takes velocities of rigid molecules onto the constraints, each where it was: steps leave them
  /// what they have along the bonds.
  void project(Replica& r) const;
  void multipliers(const Replica& r, const Forces& forces, double* lambda) const;
  void add_wall(const std::vector<double>& x, std::vector<double>& f) const;

  System system_;
  MeasureNumbers numbers_;
};

}  // namespace tarn
