#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

/// @file
/// The functions of bulk.cu, which is compiled apart from all CUDA headers of this project: Thrust
/// works on a GPU or, in tests, on the CPU. kernels/bulk.hpp calls them.

namespace tarn::gpu::bulk {

/// There is no memory for the temporary storage of Thrust.
struct NoMemory : std::bad_alloc {
  explicit NoMemory(std::size_t size) : bytes(size) {}
  std::size_t bytes;
};

/// Where the numbers of molecules are in device memory; see slot_of().
struct Slots {
  std::int64_t slots, replicas;
  int molecules;
  int per_warp;          ///< clusters per warp on the warp path, else 0
  int adjacent;          ///< see DeviceState
  int numbers;           ///< per molecule
  bool fill_with_first;  ///< slots without a molecule: those of the first molecule, or zeros
};

/// @param stream a cudaStream_t
template <class T>
void fill(void* stream, T* data, std::size_t size, T value);
void copy_to_slots(void* stream, const double* from, const Slots& slots, double* to);
/// Waits for the result.
std::int64_t replica_steps(void* stream, const int* stopped, const long long* stopped_at,
                           std::int64_t replicas, std::int64_t first_step, std::int64_t step);

/// Removes the numbers i from a list whose flags[i stride] are not 0. Waits for the result.
/// @return the new length
std::int64_t keep_zeros(void* stream, std::int64_t* list, std::int64_t length, const double* flags,
                        std::int64_t stride);

}  // namespace tarn::gpu::bulk
