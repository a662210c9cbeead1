#include "rings.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "tarn/physics/noise.hpp"
#include "tarn/physics/ring_polymer.hpp"

namespace tarn::start {
namespace {

/// The mode of a ring of `beads` with the form of `mode` in a ring of `from` beads, or -1.
int same_mode(int mode, int from, int beads) {
  const int k = wave_of_mode(mode, from);
  const bool cosine = mode < cosine_modes(from);
  if (cosine) return k < cosine_modes(beads) ? k : -1;
  const int other = cosine_modes(beads) + k - 1;
  return k <= beads / 2 && other < beads ? other : -1;
}

}  // namespace

State centroids_of(const State& rings) {
  if (rings.beads == 1) return rings;
  State s;
  s.molecules = rings.molecules;
  s.step = rings.step;
  s.replica_ids = rings.replica_ids;
  const double by_root = 1.0 / std::sqrt(static_cast<double>(rings.beads));
  for (std::size_t r = 0; r < rings.replica_ids.size(); ++r) {
    for (std::size_t c = 0; c < rings.coordinates(); ++c) {
      s.positions_A.push_back(by_root * rings.positions_A[r * rings.ring_coordinates() + c]);
      s.velocities_A_per_akma.push_back(
          by_root * rings.velocities_A_per_akma[r * rings.ring_coordinates() + c]);
    }
  }
  return s;
}

State rings_of(const System& system, State centroids, const State* source, bool moving,
               bool source_velocities) {
  const int beads = system.path_integral.beads;
  if (beads == 1) return centroids;
  State s = std::move(centroids);
  s.beads = beads;
  const std::vector<double> x = std::move(s.positions_A), v = std::move(s.velocities_A_per_akma);
  const std::size_t one = s.coordinates(), ring = s.ring_coordinates();
  const double root = std::sqrt(static_cast<double>(beads));
  s.positions_A.assign(s.replica_ids.size() * ring, 0.0);
  s.velocities_A_per_akma.assign(s.positions_A.size(), 0.0);
  for (std::size_t r = 0; r < s.replica_ids.size(); ++r) {
    const std::int64_t id = s.replica_ids[r];
    const double kT = units::boltzmann_kcal_per_mol_K * replica_temperature_K(system, id) * beads;
    const std::size_t from_replica = source != nullptr && source->replicas() == 1 ? 0 : r;
    for (int mode = 0; mode < beads; ++mode) {
      const std::size_t to = r * ring + static_cast<std::size_t>(mode) * one;
      if (mode == 0) {
        for (std::size_t c = 0; c < one; ++c) {
          s.positions_A[to + c] = root * x[r * one + c];
          s.velocities_A_per_akma[to + c] = root * v[r * one + c];
        }
      } else if (moving) {
        for (int m = 0; m < s.molecules; ++m) {
          const auto molecule =
              static_cast<std::uint64_t>(mode) * static_cast<std::uint64_t>(s.molecules) +
              static_cast<std::uint64_t>(m);
          const MoleculeNormals xi = molecule_normals(system.seed, static_cast<std::uint64_t>(id),
                                                      molecule, 0, NoiseStream::start_velocities);
          for (int c = 0; c < 9; ++c) {
            s.velocities_A_per_akma[to + static_cast<std::size_t>(9 * m + c)] =
                std::sqrt(kT / system.model.mass_Da(c / 3)) * xi.xi[c];
          }
        }
      }
    }
    if (source == nullptr) continue;
    const bool same = source->beads == beads;
    const double scale = same ? 1.0 : std::sqrt(static_cast<double>(beads) / source->beads);
    for (int mode = same ? 0 : 1; mode < source->beads; ++mode) {
      const int there = same_mode(mode, source->beads, beads);
      if (there < 0) continue;
      const std::size_t from =
          from_replica * source->ring_coordinates() + static_cast<std::size_t>(mode) * one;
      const std::size_t to = r * ring + static_cast<std::size_t>(there) * one;
      for (std::size_t c = 0; c < one; ++c) {
        s.positions_A[to + c] = scale * source->positions_A[from + c];
        if (source_velocities) {
          s.velocities_A_per_akma[to + c] = scale * source->velocities_A_per_akma[from + c];
        }
      }
    }
  }
  return s;
}

}  // namespace tarn::start
