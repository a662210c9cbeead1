#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tarn {

inline constexpr int kAtomsPerMolecule = 3;
inline constexpr int kCoordinatesPerMolecule = 9;

/// Positions and velocities of R replicas of one cluster of N molecules: the canonical host form.
///
/// Replica-major: coordinate c (0..8: x y z of O, then H1, then H2) of molecule m of replica r is
/// element (r * N + m) * 9 + c. Positions and velocities are the scheme's own (not pushed back).
/// Velocities of rigid molecules may have a part along the bonds, from kicks and noise, that moves
/// nothing in their own scheme and that a Frame leaves out: project_onto_constraints() of start.hpp
/// takes it out for others.
struct State {
  int molecules = 0;
  std::int64_t step = 0;
  std::vector<std::int64_t> replica_ids;
  std::vector<double> positions_A;
  std::vector<double> velocities_A_per_akma;
  /// Heat that each molecule has taken from the thermostat so far, [replica][molecule], equation
  /// (32); an engine tallies it if there is a number for each, and not if this is empty.
  std::vector<double> heat_kcal_per_mol{};

  int replicas() const { return static_cast<int>(replica_ids.size()); }
  /// Number of coordinates of one replica, 9 N.
  std::size_t coordinates() const {
    return static_cast<std::size_t>(molecules) * kCoordinatesPerMolecule;
  }
};

}  // namespace tarn
