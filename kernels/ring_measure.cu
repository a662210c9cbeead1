#include "steps/ring_measure.hpp"

#include <cstring>

#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/many_body.hpp"
#include "kernels/measured.cuh"
#include "kernels/ring_polymers.hpp"
#include "physics/geometry.hpp"

/// @file
/// Estimators of ring polymers, and their centroids. The order of all sums depends on the numbers
/// of molecules and beads only.

namespace tarn::gpu {
namespace {

/// A thread per molecule.
__global__ void __launch_bounds__(kMeasureThreads)
    centroids_kernel(DeviceState modes, DeviceState centroids) {
  const std::int64_t slot = thread_number();
  if (slot >= centroids.slots) return;
  const std::int64_t replica = slot / modes.molecules;
  const int molecule = static_cast<int>(slot - replica * modes.molecules);
  const double c = 1.0 / sqrt(static_cast<double>(modes.copies));
  const std::int64_t from = mode_slot(modes, replica, 0, molecule);
  const auto copy = [&](const double* of_modes, double* to) {
    store_triple(scale(c, c, load_triple(of_modes, modes.slots, from)), to, centroids.slots, slot);
  };
  copy(modes.x, centroids.x);
  copy(modes.v, centroids.v);
  if (modes.v_thermal != nullptr) copy(modes.v_thermal, centroids.v_thermal);
  if (modes.heat == nullptr) return;
  double sum = 0.0;
  for (int mode = 0; mode < modes.copies; ++mode) {
    sum += modes.heat[mode_slot(modes, replica, mode, molecule)];
  }
  centroids.heat[slot] = sum;
}

template <bool kMSite>
struct BeadTerms : SummedTerms {
  static constexpr int kNumbers = BeadTerm::kNumbers;
  PairParameters<double> pair;
  const double *centres, *images;
  __device__ void operator()(std::int64_t bead, int molecule, double (&out)[kNumbers]) const {
    const Triple<double> q = load_triple(d.x, d.slots, device_slot(d, bead, molecule));
    if (images != nullptr) {
      out[BeadTerm::kPairs] = image_number(images, bead, molecule, kImagePotential);
      out[BeadTerm::kBonds] = image_number(images, bead, molecule, kImageBonds);
      out[BeadTerm::kField] = image_number(images, bead, molecule, kImageField);
    } else {
      out[BeadTerm::kPairs] = pair_energy_of<kMSite>(d, 0.0, pair, bead, molecule, q);
      out[BeadTerm::kBonds] = intramolecular_energy(q, n.step.flexible);
      out[BeadTerm::kField] = 0.0;
    }
    out[BeadTerm::kWall] = 0.0;
    if (n.outside.act()) {
      out[BeadTerm::kWall] = wall_energy(q.o - load_centres(n, centres, bead).mass_q, n.outside);
      out[BeadTerm::kField] = field_energy(q, n.outside);
    }
  }
};

/// Adds up the numbers of all threads of a block by halving; the first thread has the sums.
template <int kNumbers>
__device__ void add_over_block(double (&own)[kNumbers]) {
  TARN_SHARED(shared, double[kNumbers][kMeasureThreads]);
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = 0; k < kNumbers; ++k) shared[k][thread] = own[k];
  for (int o = kMeasureThreads / 2; o > 0; o /= 2) {
    __syncthreads();
    if (thread >= o) continue;
    for (int k = 0; k < kNumbers; ++k) shared[k][thread] += shared[k][thread + o];
  }
  for (int k = 0; k < kNumbers; ++k) own[k] = shared[k][thread];
}

/// A block per replica.
__global__ void __launch_bounds__(kMeasureThreads)
    ring_energies_kernel(DeviceState modes, RingTables rings, MeasureNumbers n,
                         const double* bead_energies, DeviceRows rows) {
  const std::int64_t replica = blockIdx.x;
  const int p = modes.copies, thread = static_cast<int>(threadIdx.x), bath = rings.baths[replica];
  double sums[RingTerm::kNumbers] = {}, beads[BeadTerm::kNumbers] = {};
  // Not numbers before the first noise.
  const bool has_hot =
      modes.v_thermal != nullptr && modes.v_thermal[mode_slot(modes, replica, 0, 0)] ==
                                        modes.v_thermal[mode_slot(modes, replica, 0, 0)];
  const double* const hot = has_hot ? modes.v_thermal : modes.v;
  for (int k = thread; k < p * modes.molecules; k += kMeasureThreads) {
    const int mode = k / modes.molecules;
    const std::int64_t slot = mode_slot(modes, replica, mode, k % modes.molecules);
    const auto load = [&](const double* from) { return load_triple(from, modes.slots, slot); };
    const Masses<double>& m = n.step.masses;
    double terms[RingTerm::kNumbers];
    ring_terms(m, mode, rings.mode(bath, mode).spring, load(modes.x),
               scale(m.o, m.h, load(modes.a)), load(modes.v), load(hot), terms);
    for (int i = 0; i < RingTerm::kNumbers; ++i) sums[i] += terms[i];
  }
  for (int bead = thread; bead < p; bead += kMeasureThreads) {
    const double* const of_bead = bead_energies + (replica * p + bead) * BeadTerm::kNumbers;
    for (int i = 0; i < BeadTerm::kNumbers; ++i) beads[i] += of_bead[i];
  }
  add_over_block(sums);
  add_over_block(beads);
  if (thread > 0) return;
  const RingEstimate e = ring_estimate(modes.molecules, p, rings.kT[bath], sums, beads);
  if (rows.rings != nullptr) rows.rings[replica] = e.rings;
  if (rows.energies != nullptr) put_ring_energies(e, modes.molecules, p, rows.energies[replica]);
  if (rows.energy_moments != nullptr) {
    double* const row = rows.energy_moments + replica * EnergyMoment::kNumbers;
    Energies energies;
    std::memcpy(static_cast<void*>(&energies), row, sizeof(energies));
    put_ring_energies(e, modes.molecules, p, energies);
    energy_moment_row(n.flexible, energies, potential_of(e), row);
  }
  if (rows.exchange != nullptr) rows.exchange[replica] = potential_of(e);
  if (rows.conservation != nullptr) {
    double* const row = rows.conservation + replica * kConservationNumbers;
    const BiasMeasure bias = measure_biases(
        n.biases, modes.molecules, modes.bias_centres + replica, modes.replicas, [&](int k) {
          const std::int64_t slot = mode_slot(modes, replica, 0, k);
          return rsqrt(static_cast<double>(p)) * load_vector<double>(modes.x, modes.slots, slot);
        });
    row[0] = e.hamiltonian_kcal_per_mol + p * bias.energy;
    // The mean over the beads, which is conserved; that of the centroids is not.
    for (int k = 0; k < 3; ++k) row[4 + k] = sums[RingTerm::kAngularMomentum + k] / p;
  }
}

/// A warp per replica.
__global__ void __launch_bounds__(kMeasureThreads)
    ring_potentials_kernel(std::int64_t replicas, int beads, const double* bead_energies,
                           const double* factors, double* out) {
  const std::int64_t replica = thread_number() / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  if (replica >= replicas) return;
  double sums[BeadTerm::kNumbers] = {};
  for (int bead = lane; bead < beads; bead += kWarpLanes) {
    const double* const of_bead = bead_energies + (replica * beads + bead) * BeadTerm::kNumbers;
    for (int i = 0; i < BeadTerm::kNumbers; ++i) sums[i] += of_bead[i];
  }
  for (int o = kWarpLanes / 2; o > 0; o /= 2) {
    for (double& sum : sums) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  }
  if (lane == 0)
    out[replica] = factors[replica] == 0.0 ? kNoNumber : mean_ring_potential(beads, sums);
}

/// A thread per molecule of a mode.
__global__ void __launch_bounds__(kMeasureThreads)
    rescale_kernel(DeviceState modes, const double* factors, double* x) {
  const std::int64_t slot = thread_number();
  if (slot >= modes.slots) return;
  const std::int64_t replica = slot / (modes.molecules * modes.copies);
  const std::int64_t mode = modes.adjacent > 1 ? slot : slot / modes.molecules;
  const bool moves = mode % modes.copies > 0 && factors[replica] > 0.0;
  const double factor = moves ? factors[replica] : 1.0;
  for (int k = 0; k < 9; ++k) x[k * modes.slots + slot] = factor * modes.x[k * modes.slots + slot];
}

/// A block per replica: the geometry of all beads.
__global__ void __launch_bounds__(kWarpLanes)
    ring_geometry_kernel(DeviceState modes, const double* bead_geometry, DeviceRows rows) {
  TARN_SHARED(all, double[GeometryTerm::kNumbers]);
  static_assert(GeometryTerm::kNumbers <= kWarpLanes);
  const std::int64_t replica = blockIdx.x;
  const int number = static_cast<int>(threadIdx.x), p = modes.copies;
  if (number < GeometryTerm::kNumbers) {
    const double* const of_bead = bead_geometry + replica * p * kGeometrySums + number;
    double sum = of_bead[0];
    for (int bead = 1; bead < p; ++bead) {
      const double next = of_bead[static_cast<std::int64_t>(bead) * kGeometrySums];
      sum = number < GeometryTerm::kSums ? sum + next : (next > sum ? next : sum);
    }
    all[number] = number == GeometryTerm::kShortest ? -sum : sum;
  }
  __syncthreads();
  if (number > 0) return;
  const MoleculeGeometry mean = molecule_geometry(all, modes.molecules * p);
  rows.geometry[replica] = {mean, mean};
}

/// A thread per molecule of a bead.
__global__ void __launch_bounds__(kMeasureThreads)
    copy_beads_kernel(DeviceState beads, double* to) {
  const std::int64_t thread = thread_number();
  if (thread >= beads.replicas * beads.molecules) return;
  const std::int64_t slot =
      device_slot(beads, thread / beads.molecules, static_cast<int>(thread % beads.molecules));
  for (int k = 0; k < 9; ++k) to[9 * thread + k] = beads.x[k * beads.slots + slot];
}

/// A thread per molecule.
__global__ void __launch_bounds__(kMeasureThreads)
    atom_kinetic_kernel(DeviceState modes, RingTables rings, Masses<double> m, double* to) {
  const std::int64_t thread = thread_number();
  if (thread >= modes.replicas * modes.molecules) return;
  const std::int64_t replica = thread / modes.molecules;
  double virial[3] = {};
  for (int mode = 1; mode < modes.copies; ++mode) {
    const std::int64_t slot =
        mode_slot(modes, replica, mode, static_cast<int>(thread % modes.molecules));
    const Triple<double> q = load_triple(modes.x, modes.slots, slot);
    const Triple<double> f = scale(m.o, m.h, load_triple(modes.a, modes.slots, slot));
    virial[0] -= dot(q.o, f.o);
    virial[1] -= dot(q.h1, f.h1);
    virial[2] -= dot(q.h2, f.h2);
  }
  const double kT = rings.kT[rings.baths[replica]];
  for (int atom = 0; atom < 3; ++atom) {
    to[3 * thread + atom] = ring_atom_kinetic(kT, virial[atom], modes.copies);
  }
}

void launch_bead_energies(const DeviceState& beads, const MeasureNumbers& n,
                          const ClusterSystem& system, bool m_site, const RingScratch& scratch,
                          cudaStream_t stream) {
  if (n.outside.act()) launch_centres(beads, n, scratch.bead_centres, stream);
  const auto launch = [&]<bool kMSite>() {
    launch_sum(BeadTerms<kMSite>{beads, n, system.pair, scratch.bead_centres, scratch.images},
               scratch.bead_energies, stream);
  };
  m_site ? launch.template operator()<true>() : launch.template operator()<false>();
}

}  // namespace

void launch_centroids(const DeviceState& modes, const DeviceState& centroids, cudaStream_t stream) {
  launch_threads(centroids_kernel, centroids.slots, kMeasureThreads, stream, modes, centroids);
}

void launch_rescale(const DeviceState& modes, const double* factors, double* x,
                    cudaStream_t stream) {
  launch_threads(rescale_kernel, modes.slots, kMeasureThreads, stream, modes, factors, x);
}

void launch_ring_potentials(const RingPolymers& rings, const MeasureNumbers& n,
                            const ClusterSystem& system, bool m_site, const RingScratch& scratch,
                            const double* factors, double* out, cudaStream_t stream) {
  const std::int64_t replicas = rings.centroids().replicas;
  launch_bead_energies(rings.beads(), n, system, m_site, scratch, stream);
  launch_threads(ring_potentials_kernel, replicas * kWarpLanes, kMeasureThreads, stream, replicas,
                 rings.tables().beads, scratch.bead_energies, factors, out);
}

void launch_ring_rows(const DeviceState& modes, const RingPolymers& rings, const MeasureNumbers& n,
                      const ClusterSystem& system, bool m_site, const RingScratch& scratch,
                      const DeviceRows& rows, cudaStream_t stream) {
  const DeviceState& beads = rings.beads();
  const bool energies = rows.rings != nullptr || rows.energies != nullptr ||
                        rows.energy_moments != nullptr || rows.conservation != nullptr ||
                        rows.exchange != nullptr;
  if (rows.needs_centres) launch_centres(beads, n, scratch.bead_centres, stream);
  if (energies) {
    launch_bead_energies(beads, n, system, m_site, scratch, stream);
    launch_kernel(ring_energies_kernel, static_cast<unsigned>(modes.replicas), kMeasureThreads, 0,
                  stream, modes, rings.tables(), n, scratch.bead_energies, rows);
  }
  if (rows.geometry != nullptr) {
    launch_geometry_sums(beads, n, scratch.bead_geometry, stream);
    launch_kernel(ring_geometry_kernel, static_cast<unsigned>(modes.replicas), kWarpLanes, 0,
                  stream, modes, scratch.bead_geometry, rows);
  }
}

void launch_ring_arrays(const DeviceState& modes, const RingPolymers& rings,
                        const MeasureNumbers& n, double* beads, double* atom_kinetic,
                        cudaStream_t stream) {
  if (beads != nullptr) {
    launch_threads(copy_beads_kernel, rings.beads().replicas * rings.beads().molecules,
                   kMeasureThreads, stream, rings.beads(), beads);
  }
  if (atom_kinetic != nullptr) {
    launch_threads(atom_kinetic_kernel, modes.replicas * modes.molecules, kMeasureThreads, stream,
                   modes, rings.tables(), n.step.masses, atom_kinetic);
  }
}

}  // namespace tarn::gpu
