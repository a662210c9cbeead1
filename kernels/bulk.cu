#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/remove.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include "kernels/bulk_calls.hpp"
#include "kernels/layout.hpp"

namespace tarn::gpu::bulk {
namespace {

#if defined(__CUDACC__)
/// The temporary storage of Thrust.
struct Temporary {
  using value_type = char;
  char* allocate(std::ptrdiff_t bytes) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, static_cast<std::size_t>(bytes)) != cudaSuccess) {
      throw NoMemory(static_cast<std::size_t>(bytes));
    }
    return static_cast<char*>(memory);
  }
  void deallocate(char* memory, std::size_t) { cudaFree(memory); }
};

auto on(void* stream) {
  static Temporary temporary;
  return thrust::cuda::par_nosync(temporary).on(static_cast<cudaStream_t>(stream));
}
#else
auto on(void*) { return thrust::cpp::par; }
#endif

/// The number at an index of [number][slot].
struct NumberInSlot {
  const double* from;
  Slots s;

  TARN_HD double operator()(std::int64_t index) const {
    const std::int64_t number = index / s.slots, slot = index % s.slots;
    const std::int64_t row = slot / s.adjacent;
    LanePlace place{row / s.molecules * s.adjacent + slot % s.adjacent,
                    static_cast<int>(row % s.molecules)};
    if (s.per_warp > 0) {
      place =
          place_of(slot / kWarpLanes, static_cast<int>(slot % kWarpLanes), s.molecules, s.replicas);
    }
    if (place.molecule >= 0) {
      return from[(place.replica * s.molecules + place.molecule) * s.numbers + number];
    }
    return s.fill_with_first ? from[number] : 0.0;
  }
};

struct StepsOfReplica {
  const int* stopped;
  const long long* stopped_at;
  std::int64_t first_step, step;

  TARN_HD std::int64_t operator()(std::int64_t replica) const {
    return (stopped[replica] != 0 ? stopped_at[replica] : step) - first_step;
  }
};

struct IsNotZero {
  const double* flags;
  std::int64_t stride;

  TARN_HD bool operator()(std::int64_t i) const { return flags[i * stride] != 0.0; }
};

thrust::counting_iterator<std::int64_t> counting(std::int64_t from) {
  return thrust::counting_iterator<std::int64_t>(from);
}

}  // namespace

template <class T>
void fill(void* stream, T* data, std::size_t size, T value) {
  thrust::fill_n(on(stream), data, size, value);
}
template void fill(void*, double*, std::size_t, double);
template void fill(void*, int*, std::size_t, int);
template void fill(void*, long long*, std::size_t, long long);

void copy_to_slots(void* stream, const double* from, const Slots& slots, double* to) {
  thrust::transform(on(stream), counting(0), counting(slots.slots * slots.numbers), to,
                    NumberInSlot{from, slots});
}

std::int64_t replica_steps(void* stream, const int* stopped, const long long* stopped_at,
                           std::int64_t replicas, std::int64_t first_step, std::int64_t step) {
  return thrust::transform_reduce(on(stream), counting(0), counting(replicas),
                                  StepsOfReplica{stopped, stopped_at, first_step, step},
                                  std::int64_t{0}, thrust::plus<std::int64_t>());
}

std::int64_t keep_zeros(void* stream, std::int64_t* list, std::int64_t length, const double* flags,
                        std::int64_t stride) {
  return thrust::remove_if(on(stream), list, list + length, IsNotZero{flags, stride}) - list;
}

}  // namespace tarn::gpu::bulk
