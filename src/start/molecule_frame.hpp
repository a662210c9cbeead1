#pragma once

#include <span>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "tarn/physics/parameters.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

namespace tarn::start {

/// A rigid water molecule in its plane: O at the origin, the bisector along y, H1 at positive x.
struct Triangle {
  Eigen::Vector3d h1, h2;

  explicit Triangle(const WaterModel& model);
};

/// Position and orientation of a molecule: its oxygen and the rotation from the frame of Triangle.
struct MoleculeFrame {
  Eigen::Vector3d origin;
  Eigen::Quaterniond rotation;

  /// Frame of the nearest rigid molecule (mass-weighted) with the same centre of mass.
  /// @return false if the atoms are collinear or not finite
  static bool nearest_rigid(const WaterModel& model, const double* x, MoleculeFrame& frame);

  /// The frame after a translation [A] and a rotation about the oxygen [rotation vector, rad].
  MoleculeFrame moved(const Eigen::Vector3d& translation, const Eigen::Vector3d& rotation) const;
  /// Writes the nine coordinates.
  void place(const Triangle& triangle, double* x) const;
};

/// @throws InputError that names a molecule without a frame
[[noreturn]] void throw_degenerate(std::size_t molecule);

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
