#include "kernels/launch_kernel.hpp"
#include "kernels/many_body.hpp"
#include "kernels/measured.cuh"
#include "many_body/formulas.hpp"

namespace tarn::gpu {
namespace {

/// A block computes kEntries entries at a time; kShares threads share one, by variables, groups of
/// rows, columns and sites in turn. Numbers in shared memory are [..][entry].
constexpr int kEntries = 8, kShares = 8, kThreads = kEntries * kShares;
constexpr int kMostVariables = 36;
template <int kBodies>
inline constexpr int kAllSites = kPolynomialSites<kBodies>* kBodies;

/// Shared memory of a block, followed by z and the derivatives by z, [factor][entry].
template <int kBodies>
struct EntryNumbers {
  Vec3<double> site[kEntries][kAllSites<kBodies>], gradient[kEntries][kAllSites<kBodies>];
  double x[kMostVariables][kEntries];      ///< variables, then the derivatives by them
  double slope[kMostVariables][kEntries];  ///< derivatives by the distance, divided by it
  double sum[kShares][kEntries];           ///< parts of the polynomial
  double factor[kEntries];                 ///< the switch
};

/// The image with an entry: the last one that begins at or before it.
__device__ std::int64_t image_of(const int* begins, std::int64_t images, int number) {
  std::int64_t low = 0, high = images;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (begins[middle] <= number ? low : high) = middle;
  }
  return low;
}

template <int kBodies, class Z>
__global__ void __launch_bounds__(kThreads)
    polynomial_kernel(DeviceState d, ClusterList list, DevicePolynomial<Z> table) {
  TARN_DYNAMIC_SHARED(memory);
  constexpr int kSites = kPolynomialSites<kBodies>;
  const int count = list.begins[d.replicas], first = static_cast<int>(blockIdx.x) * kEntries;
  if (first >= count) return;
  const many_body::PolynomialView<Z>& t = table.view;
  const int e = static_cast<int>(threadIdx.x) % kEntries;
  const int share = static_cast<int>(threadIdx.x) / kEntries;
  // The last entry fills up the block.
  const int number = first + e < count ? first + e : count - 1;
  EntryNumbers<kBodies>& own = *reinterpret_cast<EntryNumbers<kBodies>*>(memory);
  const int first_product = 1 + t.variable_count, factors = first_product + t.product_count;
  Z(*const z)[kEntries] = reinterpret_cast<Z(*)[kEntries]>(&own + 1);
  Z(*const dz)[kEntries] = z + factors;
  Vec3<double>*const site = own.site[e], *const gradient = own.gradient[e];

  if (share < kBodies) {
    const std::int64_t image = image_of(list.begins, d.replicas, number);
    const ListEntry entry = list.entries[image * list.capacity + number - list.begins[image]];
    const Triple<double> q =
        load_triple(d.x, d.slots, device_slot(d, image, molecule_of_entry(entry, share)));
    Vec3<double>* const of_molecule = site + kSites * share;
    of_molecule[0] = q.o;
    of_molecule[1] = q.h1;
    of_molecule[2] = q.h2;
    if constexpr (kBodies == 2) place_lone_pairs(of_molecule);
  }
  if (share == 0) z[0][e] = Z(1);
  __syncthreads();
  for (int v = share; v < t.variable_count; v += kShares) {
    const many_body::Variable variable = t.variables[v];
    const Slope<double> at = variable_at(variable, site[variable.b] - site[variable.a]);
    own.x[v][e] = at.value;
    own.slope[v][e] = at.derivative;
  }
  __syncthreads();
  // Of an orbit, from and to the sums and differences.
  const auto exchanged = [&](const many_body::Orbit& orbit, const auto& from, const auto& put) {
    double s[4];
    for (int b = 0; b < orbit.size; ++b) s[b] = from(orbit.first + b);
    add_and_subtract(s, orbit.size);
    for (int b = 0; b < orbit.size; ++b) put(orbit.first + b, s[b]);
  };
  for (int o = share; o < t.orbit_count; o += kShares) {
    const many_body::Orbit orbit = t.orbits[o];
    exchanged(
        orbit, [&](int v) { return own.x[v][e]; },
        [&](int v, double s) {
          z[1 + v][e] =
              static_cast<Z>(fma(1.0 / orbit.size, s, v == orbit.first ? -orbit.mean : 0.0));
        });
  }
  __syncthreads();
  for (int k = share; k < t.product_count; k += kShares) {
    const many_body::Product p = t.products[k];
    z[first_product + k][e] = z[p.a][e] * z[p.b][e];
  }
  for (int k = share; k < factors; k += kShares) dz[k][e] = Z(0);
  __syncthreads();
  // Sums over the columns of each row. The rows of incomplete groups are 0.
  constexpr int kGroup = many_body::kGroup;
  Z value = Z(0);
  for (int g = share; g < t.group_count; g += kShares) {
    Z sum[kGroup] = {};
    for (int tile = g == 0 ? 0 : t.groups[g - 1].end; tile < t.groups[g].end; ++tile) {
      const Z at_column = z[t.columns[tile]][e];
      for (int i = 0; i < kGroup; ++i) {
        sum[i] = fma(t.coefficients[kGroup * tile + i], at_column, sum[i]);
      }
    }
    for (int i = 0; i < kGroup; ++i) {
      const int row = t.groups[g].rows[i];
      value = fma(z[row][e], sum[i], value);
      if (row > 0) dz[row][e] = sum[i];
    }
  }
  own.sum[share][e] = static_cast<double>(value);
  __syncthreads();
  // Sums over the rows of each column.
  for (int column = share; column < factors; column += kShares) {
    Z sum = dz[column][e];
    for (int at = table.column_begins[column]; at < table.column_begins[column + 1]; ++at) {
      const many_body::RowGroup& group = t.groups[table.column_tiles[at].group];
      const Z* const c = t.coefficients + kGroup * table.column_tiles[at].tile;
      for (int i = 0; i < kGroup; ++i) sum = fma(c[i], z[group.rows[i]][e], sum);
    }
    dz[column][e] = sum;
  }
  double energy = own.sum[0][e];
  for (int k = 1; k < kShares; ++k) energy += own.sum[k][e];
  if (share == 0) {
    for (int k = 0; k < kAllSites<kBodies>; ++k) gradient[k] = {0.0, 0.0, 0.0};
    own.factor[e] = add_switch<kBodies>(site, energy, gradient);
  }
  __syncthreads();
  for (int o = share; o < t.orbit_count; o += kShares) {
    const many_body::Orbit orbit = t.orbits[o];
    exchanged(
        orbit,
        [&](int v) {
          double sum = static_cast<double>(dz[1 + v][e]);
          for (int k = table.use_begins[v]; k < table.use_begins[v + 1]; ++k) {
            const ProductUse use = table.uses[k];
            sum = fma(static_cast<double>(dz[use.product][e]), static_cast<double>(z[use.other][e]),
                      sum);
          }
          return sum;
        },
        [&](int v, double s) { own.x[v][e] = 1.0 / orbit.size * own.factor[e] * s; });
  }
  __syncthreads();
  for (int k = share; k < kAllSites<kBodies>; k += kShares) {
    Vec3<double> g = gradient[k];
    for (int v = 0; v < t.variable_count; ++v) {
      const int a = t.variables[v].a, b = t.variables[v].b;
      if (k != a && k != b) continue;
      const double along = own.x[v][e] * own.slope[v][e];
      g = fma(k == b ? along : -along, site[b] - site[a], g);
    }
    gradient[k] = g;
  }
  __syncthreads();
  if (share >= kBodies || first + e >= count) return;
  Vec3<double>* const g = gradient + kSites * share;
  if constexpr (kBodies == 2) spread_lone_pairs(site + kSites * share, g);
  store_triple({g[0], g[1], g[2]}, list.results + 9 * share * list.stride, list.stride, number);
  if (share == 0) list.results[9 * kBodies * list.stride + number] = own.factor[e] * energy;
}

}  // namespace

template <int kBodies, class Z>
void launch_polynomials(const DeviceState& d, const ClusterList& list, const DevicePolynomial<Z>& t,
                        cudaStream_t stream) {
  if (list.stride == 0) return;
  const int factors = 1 + t.view.variable_count + t.view.product_count;
  const std::size_t bytes =
      sizeof(EntryNumbers<kBodies>) + 2 * sizeof(Z) * kEntries * static_cast<std::size_t>(factors);
  allow_shared_bytes(polynomial_kernel<kBodies, Z>, bytes);
  launch_kernel(polynomial_kernel<kBodies, Z>,
                static_cast<unsigned>((list.stride + kEntries - 1) / kEntries), kThreads, bytes,
                stream, d, list, t);
}
template void launch_polynomials<2>(const DeviceState&, const ClusterList&,
                                    const DevicePolynomial<double>&, cudaStream_t);
template void launch_polynomials<3>(const DeviceState&, const ClusterList&,
                                    const DevicePolynomial<double>&, cudaStream_t);
template void launch_polynomials<3>(const DeviceState&, const ClusterList&,
                                    const DevicePolynomial<float>&, cudaStream_t);

}  // namespace tarn::gpu
