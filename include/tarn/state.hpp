#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tarn {

inline constexpr int kAtomsPerMolecule = 3;
inline constexpr int kCoordinatesPerMolecule = 9;

/// Positions and velocities of R replicas of a cluster of N molecules, in host memory.
///
/// With several beads, positions and velocities are normal modes of the ring polymers, equation
/// (80): [replica][mode][molecule][9]; mode 0 is the centroid times sqrt(beads). Modes continue bit
/// for bit, positions of beads would not. Heat is then per mode, [replica][mode][molecule].
///
/// Replica-major: coordinate c (0..8: x y z of O, then H1, then H2) of molecule m of replica r is
/// element (r * N + m) * 9 + c. Positions and velocities are the internal ones of the scheme (not
/// pushed forward). Velocities of rigid molecules may have components along the bonds, from kicks
/// and noise, which move nothing and which a Frame leaves out. project_onto_constraints() of
/// start.hpp removes them.
struct State {
  int molecules = 0;
  std::int64_t step = 0;
  std::vector<std::int64_t> replica_ids;
  std::vector<double> positions_A;
  std::vector<double> velocities_A_per_akma;
  /// Heat from the thermostat per molecule so far, [replica][molecule], equation (32). Engines
  /// count it if the vector has one element per molecule, and skip it if the vector is empty.
  std::vector<double> heat_kcal_per_mol{};
  int beads = 1;

  int replicas() const { return static_cast<int>(replica_ids.size()); }
  /// Number of coordinates of one replica, 9 N.
  std::size_t coordinates() const {
    return static_cast<std::size_t>(molecules) * kCoordinatesPerMolecule;
  }
  /// Number of coordinates of the ring polymer of one replica, 9 N P.
  std::size_t ring_coordinates() const { return coordinates() * static_cast<std::size_t>(beads); }
};

}  // namespace tarn
