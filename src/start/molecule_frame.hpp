#pragma once

#include <span>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "tarn/physics/parameters.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

namespace tarn::start {

/// A water molecule in its plane: O at the origin, the bisector along y, H1 at positive x. Its
/// shape is given by g_c, the differences of the squared lengths from those of the model [A^2].
struct Triangle {
  Eigen::Vector3d h1, h2;

  explicit Triangle(const WaterModel& model);
  /// @return false (and NaN) if no triangle has these lengths
  static bool from_bond_values(const WaterModel& model, const Eigen::Vector3d& g, Triangle& t);
  /// (f1 . dh1/dg_c + f2 . dh2/dg_c) for the three bonds.
  Eigen::Vector3d pull_back(const Eigen::Vector3d& f1, const Eigen::Vector3d& f2) const;

 private:
  Triangle(double l1, double l2, double cosine);
  double l1_, l2_, cos_half_, sin_half_;
};

/// Position and orientation of a molecule: its oxygen and the rotation from the frame of Triangle.
struct MoleculeFrame {
  Eigen::Vector3d origin;
  Eigen::Quaterniond rotation;

  /// Frame and bond values of a given molecule.
  /// @return false if the atoms are collinear or not finite
  static bool of_atoms(const WaterModel& model, const double* x, MoleculeFrame& frame,
                       Eigen::Vector3d& g);
  /// Frame of the nearest rigid molecule (mass-weighted) with the same centre of mass.
  /// @return false if the atoms are collinear or not finite
  static bool nearest_rigid(const WaterModel& model, const double* x, MoleculeFrame& frame);

  /// The frame after a translation [A] and a rotation about the oxygen [rotation vector, rad].
  MoleculeFrame moved(const Eigen::Vector3d& translation, const Eigen::Vector3d& rotation) const;
  /// Writes the nine coordinates.
  void place(const Triangle& triangle, double* x) const;
};

/// Centre of mass of a cluster [A].
Eigen::Vector3d centre_of_mass(const ClusterMasses& masses, std::span<const double> positions_A);

/// Largest distance of an oxygen from the centre of mass [A], which a wall limits.
double farthest_oxygen_A(const ClusterMasses& masses, std::span<const double> positions_A);

/// Moves the centre of mass of a cluster to the origin.
/// @param positions_A 9 N numbers; replaced
void move_centre_to_origin(const ClusterMasses& masses, std::span<double> positions_A);

/// The centroids of ring polymers as classical replicas. One bead: the state itself.
State centroids_of(const State& rings);

/// Ring polymers with these centroids. Without a source, all beads are at the centroid, and the
/// velocities of the other modes are drawn at P T unless the centroids are at rest by choice.
/// @param source ring polymers to continue from, with any number of beads; modes that they lack are
/// at rest at 0 or drawn; null: none
/// @param moving whether velocities are drawn for modes without a source
/// @param source_velocities whether those of the source are used
State rings_of(const System& system, State centroids, const State* source, bool moving,
               bool source_velocities);

}  // namespace tarn::start
