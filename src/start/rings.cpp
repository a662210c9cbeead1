#include <cmath>
#include <cstddef>
#include <utility>

#include "molecule_frame.hpp"
#include "physics/noise.hpp"
#include "physics/ring_polymer.hpp"

namespace tarn::start {
namespace {

/// The internal modes in ascending order of their frequencies.
std::vector<std::size_t> internal_modes(int beads) {
  const auto cosines = static_cast<std::size_t>(cosine_modes(beads));
  std::vector<std::size_t> modes;
  for (std::size_t wave = 1; modes.size() + 1 < static_cast<std::size_t>(beads); ++wave) {
    if (wave < cosines) modes.push_back(wave);
    modes.push_back(cosines + wave - 1);
  }
  return modes;
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
  const ClusterMasses masses(system);
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
          for (std::size_t c = 0; c < 9; ++c) {
            s.velocities_A_per_akma[to + 9 * static_cast<std::size_t>(m) + c] =
                std::sqrt(kT / masses.atom_Da(static_cast<std::size_t>(m), c / 3)) * xi.xi[c];
          }
        }
      }
    }
    if (source == nullptr) continue;
    const std::size_t from = from_replica * source->ring_coordinates(), to = r * ring;
    const auto copy = [&](std::size_t mode, std::size_t there, bool with_velocity) {
      const double scale = std::sqrt(static_cast<double>(beads) / source->beads);
      for (std::size_t c = 0; c < one; ++c) {
        const std::size_t i = from + mode * one + c, j = to + there * one + c;
        s.positions_A[j] += scale * source->positions_A[i];
        if (with_velocity) s.velocities_A_per_akma[j] = scale * source->velocities_A_per_akma[i];
      }
    };
    const std::vector<std::size_t> theirs = internal_modes(source->beads);
    const std::vector<std::size_t> ours = internal_modes(beads);
    const std::size_t lower = ours.size() / 3;
    for (std::size_t k = 0; k < theirs.size(); ++k) {
      // The modes that fewer beads do not have are added to the upper ones. Modes are independent,
      // so that the mean radius of gyration stays.
      const std::size_t at =
          k < ours.size() ? k : lower + (k - ours.size()) % (ours.size() - lower);
      copy(theirs[k], ours[at], source_velocities && k < ours.size());
    }
    if (source->beads != beads) continue;
    for (std::size_t c = 0; c < one; ++c) {
      s.positions_A[to + c] = source->positions_A[from + c];
      if (!source_velocities) continue;
      s.velocities_A_per_akma[to + c] = source->velocities_A_per_akma[from + c];
    }
  }
  return s;
}

}  // namespace tarn::start
