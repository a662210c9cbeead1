#include "kernels/measure.hpp"

#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/many_body.hpp"
#include "kernels/measured.cuh"
#include "physics/cluster_shape.hpp"
#include "physics/geometry.hpp"
#include "physics/radial.hpp"
#include "tarn/core/replica_map.hpp"

/// @file
/// Rows of numbers per replica. The terms of a molecule are formulas of steps/measure.hpp and
/// physics/cluster_shape.hpp. The terms of up to 128 molecules are stored in shared memory, where
/// one thread per (replica, number) adds them in the order of the molecules. The order of all sums
/// depends on the number of molecules only, which no library reduction guarantees.

namespace tarn::gpu {
namespace {

// The terms of a molecule for each kernel: terms(replica, molecule, out).

struct CentreTerms : SummedTerms {
  static constexpr int kNumbers = CentreTerm::kNumbers;
  __device__ void operator()(std::int64_t replica, int molecule, double (&out)[kNumbers]) const {
    const std::int64_t slot = device_slot(d, replica, molecule);
    centre_terms(n.step.masses, reported(d, n.step.bh2, slot), load_triple(d.x, d.slots, slot),
                 out);
  }
};

/// Also the pair energies of clusters of one block, each pair once.
template <bool kMSite>
struct EnergyTerms : SummedTerms {
  static constexpr int kNumbers = kEnergySums;
  static __device__ bool is_maximum(int number) { return number == EnergyTerm::kConstraint; }
  PairParameters<double> pair;
  const double *centres, *images;

  __device__ void operator()(std::int64_t replica, int molecule, double (&out)[kNumbers]) const {
    const std::int64_t slot = device_slot(d, replica, molecule);
    MeasuredMolecule<double> m = load_measured(d, n, slot);
    if (n.rigid) project_measured(n, n.step.masses, m);
    double terms[EnergyTerm::kNumbers];
    energy_terms(n, n.step.masses, m, load_centres(n, centres, replica).mass_q, terms);
    for (int k = 0; k < EnergyTerm::kNumbers; ++k) out[k] = terms[k];
    out[kHeatSum] = d.heat != nullptr ? d.heat[slot] : 0.0;
    if (images != nullptr) {
      out[EnergyTerm::kBondEnergy] = image_number(images, replica, molecule, kImageBonds);
      out[EnergyTerm::kField] = image_number(images, replica, molecule, kImageField);
      out[kPotentialSum] = image_number(images, replica, molecule, kImagePotential);
      return;
    }
    out[kPotentialSum] = pairs_in_chunk(d.molecules)
                             ? pair_energy_of<kMSite>(d, n.step.bh2, pair, replica, molecule, m.q)
                             : 0.0;
  }
};

struct InertiaTerms : SummedTerms {
  static constexpr int kNumbers = InertiaTerm::kNumbers;
  const double* centres;
  __device__ void operator()(std::int64_t replica, int molecule, double (&out)[kNumbers]) const {
    inertia_terms(n.step.masses, load_triple(d.x, d.slots, device_slot(d, replica, molecule)),
                  load_centres(n, centres, replica).mass_x, out);
  }
};

struct ShapeTerms : SummedTerms {
  static constexpr int kNumbers = ShapeTerm::kNumbers;
  static __device__ bool is_maximum(int number) { return number >= ShapeTerm::kSums; }
  const double* centres;
  __device__ void operator()(std::int64_t replica, int molecule, double (&out)[kNumbers]) const {
    const Centres<double> centre = load_centres(n, centres, replica);
    shape_terms(
        molecule, d.molecules,
        [&](int j) { return reported(d, n.step.bh2, device_slot(d, replica, j)); },
        centre.oxygens_q, centre.mass_q, n.dipole_charge_e, out);
  }
};

/// At the reported and at the own positions. The shortest bonds have the opposite sign, which makes
/// their minimum a maximum.
struct GeometryTerms : SummedTerms {
  static constexpr int kOf = GeometryTerm::kNumbers, kNumbers = 2 * kOf;
  static __device__ bool is_maximum(int number) { return number % kOf >= GeometryTerm::kSums; }
  __device__ void operator()(std::int64_t replica, int molecule, double (&out)[kNumbers]) const {
    const std::int64_t slot = device_slot(d, replica, molecule);
    const Triple<double> at[2] = {reported(d, n.step.bh2, slot), load_triple(d.x, d.slots, slot)};
    for (int k = 0; k < 2; ++k) {
      double terms[kOf];
      geometry_terms(at[k], terms);
      terms[GeometryTerm::kShortest] = -terms[GeometryTerm::kShortest];
      for (int i = 0; i < kOf; ++i) out[k * kOf + i] = terms[i];
    }
  }
};
static_assert(GeometryTerms::kNumbers == kGeometrySums);

/// Adds the chunks of one number in order; a maximum where it is one.
__device__ double over_chunks(const double* sums, std::int64_t replica, int chunks, int numbers,
                              int number, bool maximum) {
  const double* from = sums + replica * chunks * numbers + number;
  double sum = from[0];
  for (int c = 1; c < chunks; ++c) {
    const double next = from[c * numbers];
    sum = maximum ? (next > sum ? next : sum) : sum + next;
  }
  return sum;
}
/// The sum of `count` numbers, by a warp: each lane adds every 32nd, then halves.
__device__ double sum_by_warp(const double* numbers, int count, int lane) {
  double sum = 0.0;
  for (int k = lane; k < count; k += kWarpLanes) sum += numbers[k];
  for (int o = kWarpLanes / 2; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  return sum;
}

/// A warp per replica; a lane per number.
__global__ void __launch_bounds__(kMeasureThreads)
    energy_rows_kernel(DeviceState d, MeasureNumbers n, MeasureScratch scratch, DeviceRows rows) {
  TARN_SHARED(shared, double[kMeasureThreads / kWarpLanes][kWarpLanes]);
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const std::int64_t replica =
      static_cast<std::int64_t>(blockIdx.x) * (kMeasureThreads / kWarpLanes) + warp;
  if (replica >= d.replicas) return;
  const int chunks = measured_chunks(d.molecules);
  double* const numbers = shared[warp];
  static_assert(kEnergySums <= kWarpLanes);
  if (lane < kEnergySums) {
    numbers[lane] = over_chunks(scratch.energies, replica, chunks, kEnergySums, lane,
                                lane == EnergyTerm::kConstraint);
  }
  __syncwarp();
  double potential = numbers[kPotentialSum];
  if (!pairs_in_chunk(d.molecules)) {
    const int tiles = observed_tiles(d.molecules);
    potential = sum_by_warp(scratch.tile_energies + replica * tiles, tiles, lane);
  }
  double inertia[InertiaTerm::kNumbers] = {};
  if (n.motionless && lane == 0) add_chunks(scratch.inertia, replica, d.molecules, inertia);
  if (lane > 0) return;
  double sums[EnergyTerm::kNumbers];
  for (int k = 0; k < EnergyTerm::kNumbers; ++k) sums[k] = numbers[k];
  const BiasMeasure bias =
      measure_biases(n.biases, d.molecules, d.bias_centres + replica, d.replicas, [&](int k) {
        const std::int64_t slot = device_slot(d, replica, k);
        const Vec3<double> o = load_vector<double>(d.x, d.slots, slot);
        return d.a == nullptr ? o : fma(n.step.bh2, load_vector<double>(d.a, d.slots, slot), o);
      });
  const Energies e = energies_of(n, sums, degrees_of_freedom(n, inertia), potential, bias);
  if (rows.energies != nullptr) rows.energies[replica] = e;
  if (rows.heat != nullptr) rows.heat[replica] = numbers[kHeatSum];
  if (rows.exchange != nullptr) rows.exchange[replica] = exchange_energy_of(n, e);
  if (rows.energy_moments != nullptr) {
    energy_moment_row(n.flexible, e, exchange_energy_of(n, e),
                      rows.energy_moments + replica * EnergyMoment::kNumbers);
  }
  if (rows.conservation != nullptr) {
    conservation_of(sums, e.total_kcal_per_mol, rows.conservation + replica * kConservationNumbers);
  }
}

__global__ void __launch_bounds__(kMeasureThreads)
    shape_rows_kernel(DeviceState d, const double* shapes, DeviceRows rows) {
  const std::int64_t replica = thread_number();
  if (replica >= d.replicas) return;
  const int chunks = measured_chunks(d.molecules);
  double sums[ShapeTerm::kNumbers];
  for (int k = 0; k < ShapeTerm::kNumbers; ++k) {
    sums[k] =
        over_chunks(shapes, replica, chunks, ShapeTerm::kNumbers, k, ShapeTerms::is_maximum(k));
  }
  rows.shape[replica] = cluster_measures(sums, d.molecules);
}

__global__ void __launch_bounds__(kMeasureThreads)
    geometry_rows_kernel(DeviceState d, const double* geometry, DeviceRows rows) {
  const std::int64_t replica = thread_number();
  if (replica >= d.replicas) return;
  const int chunks = measured_chunks(d.molecules);
  MoleculeGeometry of[2];
  for (int k = 0; k < 2; ++k) {
    double all[GeometryTerms::kOf];
    for (int i = 0; i < GeometryTerms::kOf; ++i) {
      const int number = k * GeometryTerms::kOf + i;
      all[i] = over_chunks(geometry, replica, chunks, kGeometrySums, number,
                           GeometryTerms::is_maximum(number));
    }
    all[GeometryTerm::kShortest] = -all[GeometryTerm::kShortest];
    of[k] = molecule_geometry(all, d.molecules);
  }
  rows.geometry[replica] = {of[0], of[1]};
}

// --- Lindemann index -----------------------------------------------------------------------------

__global__ void __launch_bounds__(kMeasureThreads)
    add_distances_kernel(DeviceState d, double bh2, double samples, double* means,
                         double* squares) {
  const std::int64_t thread = thread_number();
  const std::int64_t pairs = molecule_pairs(d.molecules);
  if (thread >= pairs * d.replicas) return;
  const std::int64_t replica = thread / pairs;
  const MoleculePair pair = molecule_pair(thread % pairs);
  const Vec3<double> r = reported_oxygen(d, bh2, device_slot(d, replica, pair.later)) -
                         reported_oxygen(d, bh2, device_slot(d, replica, pair.earlier));
  add_distance(sqrt(norm2(r)), samples, means[thread], squares[thread]);
}

/// A warp per replica.
__global__ void __launch_bounds__(kMeasureThreads)
    lindemann_kernel(DeviceState d, double samples, const double* means, const double* squares,
                     double* out) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const std::int64_t replica = thread_number() / kWarpLanes;
  if (replica >= d.replicas) return;
  const std::int64_t pairs = molecule_pairs(d.molecules);
  const std::int64_t first = replica * pairs;
  double sum = 0.0;
  for (std::int64_t k = lane; k < pairs; k += kWarpLanes) {
    sum += lindemann_term(means[first + k], squares[first + k], samples);
  }
  for (int o = kWarpLanes / 2; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) out[replica] = sum / static_cast<double>(pairs);
}

// --- parts of a cluster --------------------------------------------------------------------------

/// The largest part of a cluster in parts, and what is outside it; by one thread.
__device__ ClusterParts parts_of(const DeviceState& d, std::int64_t replica, const int* labels,
                                 int* sizes) {
  const int molecules = d.molecules;
  for (int m = 0; m < molecules; ++m) sizes[m] = 0;
  for (int m = 0; m < molecules; ++m) ++sizes[labels[m]];
  int largest = 0;
  for (int m = 1; m < molecules; ++m) {
    if (sizes[m] > sizes[largest]) largest = m;
  }
  const double molecule_Da = d.mass_o_Da + 2.0 * d.mass_h_Da;
  Vec3<double> momentum[2] = {{0, 0, 0}, {0, 0, 0}};  // of the largest part, of the others
  ClusterParts parts;
  for (int m = molecules - 1; m >= 0; --m) {
    const bool gone = labels[m] != largest;
    if (gone) parts.first_gone = m;
    parts.molecules_gone += gone;
    const Triple<double> v = load_triple(d.v, d.slots, device_slot(d, replica, m));
    momentum[gone] = momentum[gone] + total(scale(d.mass_o_Da, d.mass_h_Da, v));
  }
  const double gone_Da = parts.molecules_gone * molecule_Da;
  const double rest_Da = molecules * molecule_Da - gone_Da;
  const Vec3<double> v = 1.0 / gone_Da * momentum[1] - 1.0 / rest_Da * momentum[0];
  parts.relative_kinetic_kcal_per_mol = 0.5 * (gone_Da * rest_Da / (gone_Da + rest_Da)) * norm2(v);
  return parts;
}

/// A block per replica. Each molecule takes the lowest number among those it is linked to, until
/// none changes.
/// @param labels two arrays of [replica][molecule]
__global__ void parts_kernel(DeviceState d, double bh2, double link2, int* labels,
                             std::int64_t labels_size, int* sizes, ClusterParts* out) {
  TARN_SHARED(flag, int[2]);
  const std::int64_t replica = blockIdx.x;
  const int molecules = d.molecules, thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const auto oxygen = [&](int m) { return reported_oxygen(d, bh2, device_slot(d, replica, m)); };
  if (thread == 0) flag[0] = flag[1] = 0;
  __syncthreads();
  // In most clusters all molecules are near the first one.
  const Vec3<double> first = oxygen(0);
  for (int m = thread; m < molecules; m += threads) {
    if (!(norm2(oxygen(m) - first) < link2)) atomicAdd(&flag[0], 1);
  }
  __syncthreads();
  const int far = flag[0];
  if (far == 0) {
    if (thread == 0) out[replica] = ClusterParts{};
    return;
  }
  int* now = labels + replica * molecules;
  int* next = now + labels_size;
  for (int m = thread; m < molecules; m += threads) now[m] = m;
  for (int round = 0;; ++round) {
    __syncthreads();
    if (thread == 0) flag[(round + 1) % 2] = 0;
    for (int m = thread; m < molecules; m += threads) {
      const Vec3<double> own = oxygen(m);
      int lowest = now[m];
      for (int j = 0; j < molecules; ++j) {
        if (now[j] < lowest && norm2(oxygen(j) - own) < link2) lowest = now[j];
      }
      next[m] = lowest;
    }
    __syncthreads();
    for (int m = thread; m < molecules; m += threads) {
      if (next[m] != now[m]) atomicAdd(&flag[(round + 1) % 2], 1);
    }
    __syncthreads();
    int* const other = now;
    now = next;
    next = other;
    if (flag[(round + 1) % 2] == 0) break;
  }
  if (thread == 0) {
    bool whole = true;
    for (int m = 0; m < molecules && whole; ++m) whole = now[m] == 0;
    out[replica] = whole ? ClusterParts{} : parts_of(d, replica, now, sizes + replica * molecules);
  }
}

// --- groups of replicas -------------------------------------------------------------------------

static_assert(kMomentLanes == kWarpLanes);
constexpr int kNoPlace = 0x7fffffff;

/// A warp per (group, number). The order of the sums is that of physics/radial.hpp, which is the
/// same on all devices; a library reduction does not guarantee it.
__global__ void __launch_bounds__(kMeasureThreads)
    moments_kernel(const double* rows, const int* stopped, DeviceGroups groups, DeviceMoments out) {
  const std::int64_t warp = thread_number() / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  if (warp >= std::int64_t{groups.groups} * out.numbers) return;
  const int group = static_cast<int>(warp / out.numbers);
  const int number = static_cast<int>(warp % out.numbers);
  const int begin = groups.begins[group * kMomentLanes + lane];
  const int end = groups.begins[group * kMomentLanes + lane + 1];
  const auto value = [&](int place, int k) {
    return rows[static_cast<std::int64_t>(place) * out.numbers + k];
  };
  long long count = 0;
  int earliest = kNoPlace;
  for (int i = begin; i < end; ++i) {
    const int place = groups.places[i];
    if (stopped[place] != 0) continue;
    ++count;
    earliest = place < earliest ? place : earliest;
  }
  for (int o = kWarpLanes / 2; o > 0; o /= 2) {
    count += __shfl_xor_sync(0xffffffffu, count, o);
    const int other = __shfl_xor_sync(0xffffffffu, earliest, o);
    earliest = other < earliest ? other : earliest;
  }
  const int last = out.numbers - 1;
  const bool is_empty = earliest == kNoPlace;
  const double pivot = is_empty ? 0.0 : value(earliest, number);
  const double last_pivot = is_empty ? 0.0 : value(earliest, last);
  MomentSums sums;
  for (int i = begin; i < end; ++i) {
    const int place = groups.places[i];
    if (stopped[place] == 0)
      sums.add(value(place, number) - pivot, value(place, last) - last_pivot);
  }
  for (int o = kMomentLanes / 2; o > 0; o /= 2) {
    MomentSums other;
    other.sum = __shfl_xor_sync(0xffffffffu, sums.sum, o);
    other.square = __shfl_xor_sync(0xffffffffu, sums.square, o);
    other.product = __shfl_xor_sync(0xffffffffu, sums.product, o);
    sums.add(other);
  }
  if (lane > 0) return;
  out.counts[warp] = count;
  out.pivots[warp] = pivot;
  out.sums[warp] = sums.sum;
  out.squares[warp] = sums.square;
  if (out.numbers == 1) out.products[group] = 0.0;
  if (number == last - 1) out.products[group] = sums.product;
}

/// A thread per molecule. All sums are of integers.
__global__ void __launch_bounds__(kMeasureThreads)
    radial_kernel(DeviceState d, MeasureNumbers n, const double* centres, DeviceRadial radial) {
  const std::int64_t thread = thread_number();
  if (thread >= d.replicas * d.molecules) return;
  const std::int64_t replica = thread / d.molecules;
  if (d.stopped[replica] != 0) return;
  const int molecule = static_cast<int>(thread % d.molecules);
  const auto group = sample_group(d.ids[replica], static_cast<std::int64_t>(radial.groups));
  const std::int64_t size = static_cast<std::int64_t>(radial.groups) * radial.bins;
  unsigned long long* const oxygens = radial.counts + radial.groups;
  if (molecule == 0) atomicAdd(radial.counts + group, 1ULL);
  const Triple<double> q = reported(d, n.step.bh2, device_slot(d, replica, molecule));
  const RadialTerm term =
      radial_term(q, load_centres(n, centres, replica).mass_q, {radial.r_max_A, radial.bins});
  const std::int64_t first = group * radial.bins;
  if (term.oxygen >= 0) {
    atomicAdd(oxygens + first + term.oxygen, 1ULL);
    // Two's complement: negative numbers add up as well.
    atomicAdd(oxygens + 2 * size + first + term.oxygen,
              static_cast<unsigned long long>(term.cosine));
  }
  for (const int shell : term.hydrogens) {
    if (shell >= 0) atomicAdd(oxygens + size + first + shell, 1ULL);
  }
}

// --- arrays over molecules ----------------------------------------------------------------------

/// A thread per molecule.
__global__ void __launch_bounds__(kMeasureThreads)
    molecule_fields_kernel(DeviceState d, MeasureNumbers n, MoleculeFields out) {
  const std::int64_t thread = thread_number();
  if (thread >= d.replicas * d.molecules) return;
  const std::int64_t slot =
      device_slot(d, thread / d.molecules, static_cast<int>(thread % d.molecules));
  MeasuredMolecule<double> m = load_measured(d, n, slot);
  if (n.rigid) m.v = project_velocities(m.x, m.v, n.step.masses);
  if (out.positions != nullptr) store_triple(m.q, out.positions, 1, 9 * thread);
  if (out.own_positions != nullptr) store_triple(m.x, out.own_positions, 1, 9 * thread);
  if (out.velocities != nullptr) store_triple(m.v, out.velocities, 1, 9 * thread);
  if (out.multipliers == nullptr) return;
  Triple<double> f{};
  if (n.multipliers_need_forces) f = load_triple(d.f, d.slots, slot);
  const BondValues<double> lambda = bond_multipliers(n, n.step.masses, m, f);
  double* const to = out.multipliers + 3 * thread;
  to[0] = lambda.oh1;
  to[1] = lambda.oh2;
  to[2] = lambda.hh;
}

}  // namespace

void launch_centres(const DeviceState& d, const MeasureNumbers& n, double* out,
                    cudaStream_t stream) {
  launch_sum(CentreTerms{d, n}, out, stream);
}
void launch_geometry_sums(const DeviceState& d, const MeasureNumbers& n, double* out,
                          cudaStream_t stream) {
  launch_sum(GeometryTerms{d, n}, out, stream);
}

void launch_measure(const DeviceState& d, const MeasureNumbers& n, const ClusterSystem& system,
                    bool m_site, const MeasureScratch& scratch, const DeviceRows& rows,
                    const LindemannOnDevice& lindemann, double link_A, cudaStream_t stream) {
  const bool energies = rows.energies != nullptr || rows.conservation != nullptr ||
                        rows.exchange != nullptr || rows.heat != nullptr ||
                        rows.energy_moments != nullptr;
  if (energies || rows.shape != nullptr || rows.needs_centres) {
    launch_centres(d, n, scratch.centres, stream);
  }
  if (energies) {
    if (m_site) {
      launch_sum(EnergyTerms<true>{d, n, system.pair, scratch.centres, scratch.images},
                 scratch.energies, stream);
    } else {
      launch_sum(EnergyTerms<false>{d, n, system.pair, scratch.centres, scratch.images},
                 scratch.energies, stream);
    }
    if (n.motionless) launch_sum(InertiaTerms{d, n, scratch.centres}, scratch.inertia, stream);
    if (!pairs_in_chunk(d.molecules)) {
      launch_energy(d, system, m_site, scratch.tile_energies, stream);
    }
    launch_threads(energy_rows_kernel, d.replicas * kWarpLanes, kMeasureThreads, stream, d, n,
                   scratch, rows);
  }
  if (rows.shape != nullptr) {
    launch_sum(ShapeTerms{d, n, scratch.centres}, scratch.shapes, stream);
    launch_threads(shape_rows_kernel, d.replicas, kMeasureThreads, stream, d, scratch.shapes, rows);
  }
  if (rows.geometry != nullptr) {
    launch_geometry_sums(d, n, scratch.geometry, stream);
    launch_threads(geometry_rows_kernel, d.replicas, kMeasureThreads, stream, d, scratch.geometry,
                   rows);
  }
  if (rows.parts != nullptr) {
    launch_kernel(parts_kernel, static_cast<unsigned>(d.replicas),
                  d.molecules <= kWarpLanes ? kWarpLanes : kMeasureThreads, 0, stream, d,
                  n.step.bh2, link_A * link_A, scratch.labels, d.replicas * d.molecules,
                  scratch.part_sizes, rows.parts);
  }
  if (rows.lindemann != nullptr) {
    launch_threads(lindemann_kernel, d.replicas * kWarpLanes, kMeasureThreads, stream, d,
                   static_cast<double>(lindemann.samples), lindemann.means, lindemann.squares,
                   rows.lindemann);
  }
}

void launch_add_distances(const DeviceState& d, double bh2, const LindemannOnDevice& lindemann,
                          cudaStream_t stream) {
  const std::int64_t threads = d.replicas * molecule_pairs(d.molecules);
  if (threads == 0) return;
  launch_threads(add_distances_kernel, threads, kMeasureThreads, stream, d, bh2,
                 static_cast<double>(lindemann.samples), lindemann.means, lindemann.squares);
}

void launch_moments(const double* rows, const int* stopped, const DeviceGroups& groups,
                    const DeviceMoments& moments, cudaStream_t stream) {
  launch_threads(moments_kernel, std::int64_t{groups.groups} * moments.numbers * kWarpLanes,
                 kMeasureThreads, stream, rows, stopped, groups, moments);
}

void launch_radial(const DeviceState& d, const MeasureNumbers& n, const double* centres,
                   const DeviceRadial& radial, cudaStream_t stream) {
  launch_threads(radial_kernel, d.replicas * d.molecules, kMeasureThreads, stream, d, n, centres,
                 radial);
}

void launch_molecule_fields(const DeviceState& d, const MeasureNumbers& n,
                            const MoleculeFields& out, cudaStream_t stream) {
  launch_threads(molecule_fields_kernel, d.replicas * d.molecules, kMeasureThreads, stream, d, n,
                 out);
}

}  // namespace tarn::gpu
