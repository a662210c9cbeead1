#pragma once

#include <cstddef>

#include "kernels/measure.hpp"

/// @file
/// Numbers per group of replicas, see GroupMoments and RadialCounts.

namespace tarn::gpu {

/// The replicas of each group and lane; see ReplicaGroups.
struct DeviceGroups {
  int groups;
  const int *places, *begins;
};

/// Moments of rows of numbers, [group][number], in one block of memory.
struct DeviceMoments {
  static std::size_t bytes(int groups, int numbers) {
    return sizeof(double) * static_cast<std::size_t>(groups) *
           (4 * static_cast<std::size_t>(numbers) + 1);
  }
  DeviceMoments(unsigned char* memory, int groups, int in_row)
      : numbers(in_row), counts(reinterpret_cast<long long*>(memory)) {
    const std::ptrdiff_t size = std::ptrdiff_t{groups} * in_row;
    pivots = reinterpret_cast<double*>(counts + size);
    sums = pivots + size;
    squares = sums + size;
    products = squares + size;
  }
  int numbers;
  long long* counts;
  double *pivots, *sums, *squares;
  double* products;  ///< [group]
};

/// @param rows [replica][number]
void launch_moments(const double* rows, const int* stopped, const DeviceGroups& groups,
                    const DeviceMoments& moments, cudaStream_t stream);

/// Atoms in shells, [group][bin], in one block of memory that is 0 at first.
struct DeviceRadial {
  static std::size_t bytes(int groups, int bins) {
    return sizeof(long long) * static_cast<std::size_t>(groups) *
           (3 * static_cast<std::size_t>(bins) + 1);
  }
  double r_max_A;
  int bins, groups;
  unsigned long long* counts;  ///< replicas, oxygens, hydrogens, cosines
};

/// @param centres sums of CentreTerm, [replica][chunk]
void launch_radial(const DeviceState& d, const MeasureNumbers& n, const double* centres,
                   const DeviceRadial& radial, cudaStream_t stream);

}  // namespace tarn::gpu
