#include "kernels/launch_kernel.hpp"
#include "kernels/many_body.hpp"
#include "kernels/measured.cuh"
#include "kernels/partner_loop.cuh"
#include "many_body/formulas.hpp"

namespace tarn::gpu {
namespace {

/// A thread per row of the dipole equations with the right-hand side, and per coordinate: 9 N + 1.
int image_threads(int molecules) { return block_threads(9 * molecules + 1); }
constexpr int kMostThreads = 320;
static_assert(9 * kMostManyBodyMolecules + 1 <= kMostThreads);
constexpr int kMostWarps = kMostThreads / kWarpLanes;

/// The arrays of an image, in shared memory.
struct ImageArrays : SiteArrays<double> {
  double* sums;      // [warp][ImageNumber]
  double* diagonal;  // 3 x 3
  double* end;

  __device__ ImageArrays(unsigned char* memory, int n)
      : SiteArrays(memory, n),
        sums(reinterpret_cast<double*>(monomer + n)),
        diagonal(sums + kMostWarps * kImageNumbers),
        end(diagonal + 9) {}
};
constexpr int kNumbersOfMolecule = 50 + static_cast<int>(sizeof(Monomer<double>) / sizeof(double));

/// The matrix of the dipole equations, lower half, column by column; the last row is the right-hand
/// side, so that the factorisation also solves the first of the two triangular systems.
struct DipoleMatrix {
  double* elements;
  int rows;  ///< without the right-hand side

  __device__ double& operator()(int row, int column) const {
    return elements[column * (rows + 1) - column * (column + 1) / 2 + row];
  }
};

/// Sums over the four lanes that share a site.
__device__ double over_four(double a) {
  a += __shfl_xor_sync(kAllLanes, a, 1);
  return a + __shfl_xor_sync(kAllLanes, a, 2);
}
__device__ Vec3<double> over_four(const Vec3<double>& a) {
  return {over_four(a.x), over_four(a.y), over_four(a.z)};
}

/// One image, by the threads of a block.
template <class Model>
class ImageProgram {
 public:
  __device__ ImageProgram(const DeviceState& d, const ImageWork& work, const ImageArrays& arrays,
                          const DipoleMatrix& matrix, std::int64_t image)
      : d_(d), work_(work), a_(arrays), matrix_(matrix), image_(image), n_(d.molecules) {}

  /// Places the sites. @return why there is no energy, by the distances
  __device__ ImageFailure place() const {
    bool broken = false, close = false;
    if (thread_ < n_) {
      Vec3<double>* const site = a_.site + 4 * thread_;
      const Triple<double> q = load_triple(d_.x, d_.slots, device_slot(d_, image_, thread_));
      site[0] = q.o;
      site[1] = q.h1;
      site[2] = q.h2;
      a_.charge[4 * thread_] = 0.0;
      place_charges<Model>(work_.energy_rows, work_.charge_rows, site, a_.charge + 4 * thread_,
                           a_.monomer[thread_]);
      for (const Vec3<double>& bond : {q.h1 - q.o, q.h2 - q.o}) {
        const double square = norm2(bond);
        broken = broken || !(square > many_body::kShortestBond * many_body::kShortestBond &&
                             square < many_body::kLongestBond * many_body::kLongestBond);
      }
    }
    broken = __syncthreads_or(broken);
    for (int j = 0; Model::kIsFlexible && thread_ < n_ && j < thread_; ++j) {
      const double square = norm2(a_.site[4 * j] - a_.site[4 * thread_]);
      close = close || square < many_body::kShortestOo * many_body::kShortestOo;
    }
    close = __syncthreads_or(close);
    return broken  ? ImageFailure::broken_molecule
           : close ? ImageFailure::too_close
                   : ImageFailure::none;
  }

  /// The matrix and the fields, four threads per polar site.
  __device__ void make_equations() const {
    const int polar = kPolar * n_;
    for (int k = thread_; k < polar * polar; k += threads_) {
      const int row = k / polar, column = k % polar;
      if (column > row) continue;
      const int s = Model::polar_site(column % kPolar), t = Model::polar_site(row % kPolar);
      double block[3][3] = {};
      if (row == column) {
        for (int i = 0; i < 3; ++i) block[i][i] = Model::inverse_polarisability(s);
      } else {
        const Vec3<double> r = site(row / kPolar, t) - site(column / kPolar, s);
        const double square = norm2(r);
        const double damping = row / kPolar == column / kPolar
                                   ? Model::bond_damping(s)
                                   : Model::dipole_damping(hydrogens(s, t));
        dipole_block(Thole<double>::make<Model::kIsDamped>(square, rsqrt(square), damping), r,
                     block);
      }
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          if (3 * row + i >= 3 * column + j) matrix_(3 * row + i, 3 * column + j) = block[i][j];
        }
      }
    }
    for (int first = 0; first < 4 * polar; first += threads_) {
      const int at = (first + thread_) / 4, t = thread_ % 4, m = at / kPolar;
      Vec3<double> field{0.0, 0.0, 0.0};
      for (int j = 0; j < n_ && at < polar && t > 0; ++j) {
        if (j == m) continue;
        const int s = Model::polar_site(at % kPolar);
        const Vec3<double> r = site(j, t) - site(m, s);
        const double square = norm2(r);
        const double t3 = Thole<double>::make<Model::kIsDamped>(
                              square, rsqrt(square), Model::charge_damping(hydrogens(s, t)))
                              .t3;
        field = fnma(a_.charge[4 * j + t] * t3, r, field);
      }
      field = over_four(field) + outside_field();
      if (at >= polar || t > 0) continue;
      a_.field[at] = field;
      matrix_(3 * polar, 3 * at) = field.x;
      matrix_(3 * polar, 3 * at + 1) = field.y;
      matrix_(3 * polar, 3 * at + 2) = field.z;
    }
    __syncthreads();
  }

  /// Cholesky factorisation by three columns at a time, a thread per row. The diagonal is stored
  /// inverted. @return whether a pivot was not positive
  __device__ bool factorise() const {
    bool bad = false;
    for (int k = 0; k < matrix_.rows; k += 3) {
      const int row = k + thread_;
      const bool there = row <= matrix_.rows;
      double s[3] = {};
      if (there) {
        for (int b = 0; b < 3 && k + b <= row; ++b) s[b] = matrix_(row, k + b);
        for (int c = 0; c < k; ++c) {
          const double left = matrix_(row, c);
          for (int b = 0; b < 3; ++b) s[b] = fnma(left, matrix_(k + b, c), s[b]);
        }
      }
      if (thread_ < 3) {
        for (int b = 0; b < 3; ++b) a_.diagonal[3 * thread_ + b] = s[b];
      }
      __syncthreads();
      const double* const p = a_.diagonal;
      const double i0 = 1.0 / sqrt(p[0]), l10 = p[3] * i0, l20 = p[6] * i0;
      const double p1 = fnma(l10, l10, p[4]), i1 = 1.0 / sqrt(p1);
      const double l21 = fnma(l20, l10, p[7]) * i1;
      const double p2 = fnma(l21, l21, fnma(l20, l20, p[8])), i2 = 1.0 / sqrt(p2);
      bad = bad || !(p[0] > 0.0 && p1 > 0.0 && p2 > 0.0);
      if (thread_ < 3) {
        const double factor[3][3] = {{i0, 0.0, 0.0}, {l10, i1, 0.0}, {l20, l21, i2}};
        for (int b = 0; b <= thread_; ++b) matrix_(row, k + b) = factor[thread_][b];
      } else if (there) {
        const double x0 = s[0] * i0, x1 = fnma(x0, l10, s[1]) * i1;
        matrix_(row, k) = x0;
        matrix_(row, k + 1) = x1;
        matrix_(row, k + 2) = fnma(x1, l21, fnma(x0, l20, s[2])) * i2;
      }
      __syncthreads();
    }
    return bad;
  }

  /// The dipoles, from the factorised matrix.
  __device__ void solve() const {
    double *const y = &a_.gradient[0].x, *const dipole = &a_.dipole[0].x;
    if (thread_ < matrix_.rows) y[thread_] = matrix_(matrix_.rows, thread_);
    for (int k = matrix_.rows - 3; k >= 0; k -= 3) {
      __syncthreads();
      const double x2 = y[k + 2] * matrix_(k + 2, k + 2);
      const double x1 = fnma(matrix_(k + 2, k + 1), x2, y[k + 1]) * matrix_(k + 1, k + 1);
      const double x0 =
          fnma(matrix_(k + 1, k), x1, fnma(matrix_(k + 2, k), x2, y[k])) * matrix_(k, k);
      if (thread_ < k) {
        const auto at = [&](int row) { return matrix_(row, thread_); };
        y[thread_] = fnma(at(k), x0, fnma(at(k + 1), x1, fnma(at(k + 2), x2, y[thread_])));
      }
      if (thread_ == 0) {
        dipole[k] = x0;
        dipole[k + 1] = x1;
        dipole[k + 2] = x2;
      }
    }
    __syncthreads();
  }

  /// Gradients and potentials of all sites, for given dipoles: four threads per site, one for each
  /// site of the other molecules. @return the energies that this thread adds
  __device__ double add_pairs() const {
    double energy = 0.0;
    for (int first = 0; first < 16 * n_; first += threads_) {
      const int at = (first + thread_) / 4, t = thread_ % 4, i = at / 4, s = at % 4;
      Vec3<double> g{0.0, 0.0, 0.0};
      double potential = 0.0;
      for (int j = 0; j < n_ && i < n_; ++j) {
        // Both sides of a pair compute the same numbers.
        const bool is_first = i < j || (i == j && s < t);
        const int m1 = is_first ? i : j, s1 = is_first ? s : t;
        const int m2 = is_first ? j : i, s2 = is_first ? t : s;
        const Vec3<double> r = site(m2, s2) - site(m1, s1);
        Vec3<double> by_r{0.0, 0.0, 0.0};
        if (i != j) {
          double v1 = 0.0, v2 = 0.0, coulomb = 0.0, attraction = 0.0;
          by_r = add_site_pair<Model>(s1, s2, r, a_.charge[4 * m1 + s1], a_.charge[4 * m2 + s2],
                                      dipole(m1, s1), dipole(m2, s2), v1, v2, coulomb, attraction);
          potential += is_first ? v1 : v2;
          if (is_first) energy += coulomb + attraction;
        } else if (s != t && Model::is_polar(s) && Model::is_polar(t)) {
          const double square = norm2(r);
          by_r = dipole_gradient(
              Thole<double>::make<Model::kIsDamped>(square, rsqrt(square), Model::bond_damping(s1)),
              r, dipole(m1, s1), dipole(m2, s2));
        }
        g = is_first ? g - by_r : g + by_r;
      }
      g = over_four(g);
      potential = over_four(potential);
      if (i >= n_ || t > 0) continue;
      a_.gradient[at] = g;
      a_.potential[at] = potential;
    }
    return energy;
  }

  /// In the unit of the fields of charges that are multiplied by the root.
  __device__ Vec3<double> outside_field() const {
    const double* const e = work_.field;
    return 1.0 / Model::kRoot * Vec3<double>{e[0], e[1], e[2]};
  }
  /// What a molecule adds to the numbers, and its gradient with wall and field. @param numbers of
  /// this thread
  __device__ void end_molecule(double (&numbers)[kImageNumbers]) const {
    Vec3<double>*const own = a_.site + 4 * thread_, *const g = a_.gradient + 4 * thread_;
    const double* const q = a_.charge + 4 * thread_;
    Vec3<double> moment{0.0, 0.0, 0.0};
    const Vec3<double> field = outside_field();
    for (int k = 1; k < 4; ++k) {
      moment = fma(q[k], own[k], moment);
      a_.potential[4 * thread_ + k] -= dot(field, own[k]);
      g[k] = fnma(q[k], field, g[k]);
      numbers[kImagePotential] = fma(-q[k], dot(field, own[k]), numbers[kImagePotential]);
    }
    for (int k = kPolar * thread_; k < kPolar * (thread_ + 1); ++k) {
      numbers[kImagePotential] =
          fma(-0.5, dot(a_.field[k], a_.dipole[k]), numbers[kImagePotential]);
      moment = moment + a_.dipole[k];
    }
    numbers[kImageField] = -dot(field, moment);
    numbers[kImagePotential] -= numbers[kImageField];
    moment = 1.0 / Model::kRoot * moment;
    numbers[kImageDipole] = moment.x;
    numbers[kImageDipole + 1] = moment.y;
    numbers[kImageDipole + 2] = moment.z;
    if constexpr (Model::kIsFlexible) numbers[kImageBonds] = a_.monomer[thread_].energy.value;
    gather_monomer<Model>(own, a_.potential + 4 * thread_, a_.monomer[thread_], g);
    if (work_.outside.stiffness == 0.0) return;
    const Masses<double>& m = work_.masses;
    Vec3<double> centre{0.0, 0.0, 0.0}, net = centre;
    const auto atoms = [&](int k) { return Triple<double>{site(k, 0), site(k, 1), site(k, 2)}; };
    for (int k = 0; k < n_; ++k) centre = centre + mass_moment(atoms(k), m);
    centre = 1.0 / (n_ * (m.o + 2.0 * m.h)) * centre;
    for (int k = 0; k < n_; ++k) net = net + wall_force(site(k, 0) - centre, work_.outside);
    const Vec3<double> none{0.0, 0.0, 0.0};
    const Triple<double> push = remove_net_force(
        Triple<double>{wall_force(own[0] - centre, work_.outside), none, none}, 1.0 / n_ * net, m);
    g[0] = g[0] - push.o;
    g[1] = g[1] - push.h1;
    g[2] = g[2] - push.h2;
  }

  /// Adds the numbers of all threads; the first thread has the sums.
  __device__ void add_up(double (&numbers)[kImageNumbers]) const {
    for (double& number : numbers) {
      for (int o = kWarpLanes / 2; o > 0; o /= 2) number += __shfl_xor_sync(kAllLanes, number, o);
    }
    if (thread_ % kWarpLanes == 0) {
      double* const of_warp = a_.sums + thread_ / kWarpLanes * kImageNumbers;
      for (int k = 0; k < kImageNumbers; ++k) of_warp[k] = numbers[k];
    }
    __syncthreads();
    if (thread_ > 0) return;
    for (int warp = 1; warp < threads_ / kWarpLanes; ++warp) {
      for (int k = 0; k < kImageNumbers; ++k) numbers[k] += a_.sums[warp * kImageNumbers + k];
    }
  }

  /// Adds the gradients of a list in its order; a thread per coordinate.
  template <int kBodies>
  __device__ void add_gradients(const ClusterList& list, double& g) const {
    for_each_entry(list, 0, 1, [&](ListEntry entry, std::int64_t number) {
      for (int body = 0; body < kBodies; ++body) {
        if (molecule_of_entry(entry, body) != thread_ / 9) continue;
        g += list.results[(9 * body + thread_ % 9) * list.stride + number];
      }
    });
  }
  /// This thread's part of the energies of a list.
  __device__ void add_energies(const ClusterList& list, int bodies, double& energy) const {
    for_each_entry(list, thread_, threads_, [&](ListEntry, std::int64_t number) {
      energy += list.results[9 * bodies * list.stride + number];
    });
  }

 private:
  static constexpr int kPolar = Model::kPolarSites;

  __device__ const Vec3<double>& site(int molecule, int s) const {
    return a_.site[4 * molecule + s];
  }
  /// Of a site without a dipole any other one.
  __device__ const Vec3<double>& dipole(int molecule, int s) const {
    return a_.dipole[kPolar * molecule + (Model::is_polar(s) ? Model::polar_index(s) : 0)];
  }
  template <class Op>
  __device__ void for_each_entry(const ClusterList& list, int first, int step, const Op& op) const {
    const int begin = list.begins[image_], count = list.begins[image_ + 1] - begin;
    for (int k = first; k < count; k += step) {
      op(list.entries[image_ * list.capacity + k], begin + k);
    }
  }

  const DeviceState& d_;
  const ImageWork& work_;
  const ImageArrays& a_;
  const DipoleMatrix& matrix_;
  std::int64_t image_;
  int n_, thread_ = static_cast<int>(threadIdx.x), threads_ = static_cast<int>(blockDim.x);
};

template <class Model>
__global__ void __launch_bounds__(kMostThreads)
    images_kernel(DeviceState d, ClusterLists lists, ImageWork work, double* forces, int* failures,
                  long long* step) {
  TARN_DYNAMIC_SHARED(memory);
  const int thread = static_cast<int>(threadIdx.x);
  if (step != nullptr && blockIdx.x == 0 && thread == 0) ++*step;
  const ImageArrays arrays(memory, d.molecules);
  const int rows = 3 * Model::kPolarSites * d.molecules;
  const DipoleMatrix matrix{
      work.matrices == nullptr ? arrays.end : work.matrices + blockIdx.x * dipole_matrix_size(rows),
      rows};
  for (std::int64_t image = blockIdx.x; image < d.replicas; image += work.blocks) {
    if (d.stopped[image] != 0) continue;
    const ImageProgram<Model> program(d, work, arrays, matrix, image);
    ImageFailure failure = program.place();
    program.make_equations();
    if (__syncthreads_or(program.factorise())) failure = ImageFailure::polarisation;
    program.solve();
    double numbers[kImageNumbers] = {};
    numbers[kImagePotential] = program.add_pairs();
    __syncthreads();
    if (thread < d.molecules) program.end_molecule(numbers);
    if constexpr (Model::kIsFlexible) {
      program.add_energies(lists.dimers, 2, numbers[kImagePotential]);
      program.add_energies(lists.trimers, 3, numbers[kImagePotential]);
    }
    program.add_up(numbers);
    const bool failed = failure != ImageFailure::none;
    if (thread < 9 * d.molecules && forces != nullptr) {
      const int molecule = thread / 9, coordinate = thread % 9;
      double g = (&arrays.gradient[4 * molecule].x)[coordinate];
      if constexpr (Model::kIsFlexible) {
        program.template add_gradients<2>(lists.dimers, g);
        program.template add_gradients<3>(lists.trimers, g);
      }
      forces[coordinate * d.slots + device_slot(d, image, molecule)] = failed ? kNoNumber : -g;
    }
    if (thread == 0) {
      if (failed) numbers[kImagePotential] = kNoNumber;
      for (int k = 0; k < kImageNumbers; ++k) {
        work.numbers[image * kImageNumbers + k] = numbers[k];
      }
      // After a failure the positions of the replica are not numbers.
      const double x = arrays.site[0].x;
      if (failed && failures != nullptr && failures[image] == 0 && x - x == 0.0) {
        failures[image] = static_cast<int>(failure);
      }
    }
    __syncthreads();
  }
}

/// A thread per replica.
__global__ void __launch_bounds__(kMeasureThreads)
    dipole_rows_kernel(std::int64_t replicas, int copies, const double* numbers, DeviceRows rows) {
  const std::int64_t replica = thread_number();
  if (replica >= replicas) return;
  double mean[3] = {};
  for (int copy = 0; copy < copies; ++copy) {
    for (int k = 0; k < 3; ++k) {
      mean[k] += numbers[(replica * copies + copy) * kImageNumbers + kImageDipole + k] / copies;
    }
  }
  for (int k = 0; rows.dipoles != nullptr && k < 3; ++k) rows.dipoles[3 * replica + k] = mean[k];
  if (rows.shape == nullptr) return;
  // The dipoles of single molecules are unknown.
  rows.shape[replica].molecule_dipole_D = kNoNumber;
  put_dipole({mean[0], mean[1], mean[2]}, rows.shape[replica]);
}

}  // namespace

std::size_t image_bytes(int molecules) {
  return sizeof(double) *
         static_cast<std::size_t>(kNumbersOfMolecule * molecules + kMostWarps * kImageNumbers + 9);
}

void launch_images(const DeviceState& d, const ClusterLists& lists, const ImageWork& work,
                   ManyBodyModel model, double* forces, int* failures, long long* step,
                   cudaStream_t stream) {
  const auto launch = [&]<class Model>() {
    std::size_t bytes = image_bytes(d.molecules);
    if (work.matrices == nullptr) {
      bytes += sizeof(double) * dipole_matrix_size(3 * Model::kPolarSites * d.molecules);
    }
    allow_shared_bytes(images_kernel<Model>, bytes);
    launch_kernel(images_kernel<Model>, static_cast<unsigned>(work.blocks),
                  image_threads(d.molecules), bytes, stream, d, lists, work, forces, failures,
                  step);
  };
  model == ManyBodyModel::mbpol ? launch.template operator()<MbPol>()
                                : launch.template operator()<DangChang>();
}

void launch_dipole_rows(std::int64_t replicas, int copies, const double* numbers,
                        const DeviceRows& rows, cudaStream_t stream) {
  if (rows.dipoles == nullptr && rows.shape == nullptr) return;
  launch_threads(dipole_rows_kernel, replicas, kMeasureThreads, stream, replicas, copies, numbers,
                 rows);
}

}  // namespace tarn::gpu
