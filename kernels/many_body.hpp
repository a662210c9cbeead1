#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/device_buffer.hpp"
#include "kernels/device_state.cuh"
#include "many_body/polynomial_table.hpp"
#include "tarn/potential.hpp"
#include "tarn/system.hpp"

/// @file
/// Forces of many-body models (src/many_body) between the two halves of a step. An image is a
/// classical replica or a bead. The kernels: lists of dimers and trimers (many_body_lists.cu),
/// polynomials, several entries of the lists per block (many_body_polynomials.cu), and everything
/// else, one image per block (many_body_images.cu). The order of all sums depends on the number of
/// molecules only. Grids have one size, so that graphs contain them: blocks beyond the lists
/// return.

namespace tarn::gpu {

/// The molecules of a dimer or trimer: eight bits each.
using ListEntry = std::uint32_t;
TARN_HD constexpr int molecule_of_entry(ListEntry entry, int body) {
  return static_cast<int>(entry >> (8 * body) & 0xffu);
}
/// Entries and results of one kind, dimers or trimers.
struct ClusterList {
  ListEntry* entries;  ///< [image][capacity], in the order of the molecules
  int* counts;         ///< [image]
  int* begins;         ///< [image + 1]: first number of the entries of an image
  double* results;     ///< [9 bodies + 1][number]: gradient and energy
  int capacity;        ///< of an image
  std::int64_t stride;
};
struct ClusterLists {
  ClusterList dimers, trimers;
};

/// A table of the CPU, and what else the threads of a block need that share an entry.
struct ColumnTile {
  int tile, group;
};
struct ProductUse {
  int product, other;  ///< numbers of factors
};
template <class Z>
struct DevicePolynomial {
  many_body::PolynomialView<Z> view;
  const int* column_begins;        ///< [factor + 1], of column_tiles
  const ColumnTile* column_tiles;  ///< the tiles of a column
  const int* use_begins;           ///< [variable + 1], of uses
  const ProductUse* uses;          ///< the products that contain a variable
};

/// Numbers of an image. The potential energy leaves out bonds and field; it is NaN if there is a
/// failure.
enum ImageNumber {
  kImagePotential,
  kImageBonds,
  kImageField,
  kImageDipole,
  kImageNumbers = kImageDipole + 3
};

/// The number of an image in a sum over its molecules: the first one has it.
__device__ inline double image_number(const double* numbers, std::int64_t image, int molecule,
                                      ImageNumber number) {
  return molecule == 0 ? numbers[image * kImageNumbers + number] : 0.0;
}

/// What the kernel of images reads and writes, beside the positions.
struct ImageWork {
  many_body::SurfaceRows energy_rows, charge_rows;
  OutsideForces<double> outside;  ///< without the field
  double field[3];                ///< [kcal/mol/(e A)]
  Masses<double> masses;
  double* numbers;   ///< out: [image][ImageNumber]
  double* matrices;  ///< [block]; null: matrices are in shared memory
  int blocks;        ///< they share the images
};

// many_body_lists.cu
void launch_cluster_lists(const DeviceState& d, const ClusterLists& lists, cudaStream_t stream);

// many_body_polynomials.cu
/// Computes the results of a list: of dimers in double, of trimers in double or float.
template <int kBodies, class Z>
void launch_polynomials(const DeviceState& d, const ClusterList& list, const DevicePolynomial<Z>& t,
                        cudaStream_t stream);

// many_body_images.cu
/// Elements of the matrix of the dipole equations, with the right-hand side as the last row.
TARN_HD constexpr std::size_t dipole_matrix_size(int rows) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(rows + 3) / 2;
}
/// Bytes of shared memory without the matrix.
std::size_t image_bytes(int molecules);
/// @param forces out, laid out as d.x; null: only the numbers
/// @param failures [image] of ImageFailure: kept from the first one on; null: not kept
/// @param step if not null, incremented
void launch_images(const DeviceState& d, const ClusterLists& lists, const ImageWork& work,
                   ManyBodyModel model, double* forces, int* failures, long long* step,
                   cudaStream_t stream);
/// Means of the dipoles over the images of each replica, to rows.dipoles and rows.shape.
void launch_dipole_rows(std::int64_t replicas, int copies, const double* numbers,
                        const struct DeviceRows& rows, cudaStream_t stream);

/// Forces and energies of all images of an engine. Memory per image: 28 numbers per possible trimer
/// and 19 per dimer, 34 kB for 10 molecules and 1.2 MB for 32.
class ManyBodyStage {
 public:
  /// @param system with the model's own precision @param images replicas times beads
  ManyBodyStage(const System& system, std::int64_t images, int device);

  /// All forces on images, with those of the wall.
  /// @param forces out, laid out as d.x @param step if not null, incremented
  void compute(const DeviceState& d, double* forces, long long* step, cudaStream_t stream) const {
    launch(d, forces, failures_.get(), step, stream);
  }
  /// Only the numbers of images.
  void measure(const DeviceState& d, cudaStream_t stream) const {
    launch(d, nullptr, nullptr, nullptr, stream);
  }
  /// [image][ImageNumber]
  const double* numbers() const { return work_.numbers; }
  /// Why images had no energy: [image], of the first time that compute() failed.
  std::vector<int> failures() const { return failures_.download(); }

 private:
  template <class Z>
  DevicePolynomial<Z> upload_table(const many_body::PolynomialTable& table,
                                   const many_body::PolynomialView<Z>& view);
  ClusterList make_list(int bodies, int molecules, std::int64_t images);
  many_body::SurfaceRows upload_rows(const many_body::Surface& surface);
  void launch(const DeviceState& d, double* forces, int* failures, long long* step,
              cudaStream_t stream) const;

  ManyBodyModel model_;
  bool mixed_;
  DeviceArrays arrays_;
  DeviceBuffer<int> failures_;
  DevicePolynomial<double> dimers_{}, trimers_{};
  DevicePolynomial<float> rounded_trimers_{};
  ClusterLists lists_{};
  ImageWork work_{};
};

}  // namespace tarn::gpu
