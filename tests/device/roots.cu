#include "device/roots.hpp"

#include <vector>

#include "kernels/device_buffer.hpp"
#include "kernels/launch_kernel.hpp"
#include "tarn/core/number.hpp"

namespace tarn::test {
namespace {

using namespace gpu;

constexpr int kThreads = 256;
constexpr unsigned kBlocks = 4096;
constexpr std::uint32_t kFirstFloat = 0x0da24260u, kLastFloat = 0x7149f2cau;  // 1e-30, 1e30

struct Found {
  unsigned long long beyond, first;
};
__device__ void tell(bool beyond, std::uint64_t bits, Found* found) {
  if (!beyond) return;
  atomicAdd(&found->beyond, 1ull);
  atomicMin(&found->first, static_cast<unsigned long long>(bits));
}

__global__ void __launch_bounds__(kThreads) float_roots_kernel(Found* found) {
  const auto is_right = [](float a) {
    return __float_as_uint(sqrt_in_range(a)) == __float_as_uint(__fsqrt_rn(a));
  };
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread == 0) tell(!is_right(0.0f), 0, found);
  for (std::uint32_t bits = kFirstFloat + thread; bits <= kLastFloat; bits += kBlocks * kThreads) {
    tell(!is_right(__uint_as_float(bits)), bits, found);
  }
}

__global__ void __launch_bounds__(kThreads) float_reciprocals_kernel(double bound, Found* found) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (std::uint32_t bits = kFirstFloat + thread; bits <= kLastFloat; bits += kBlocks * kThreads) {
    const float a = __uint_as_float(bits);
    const double y = rsqrt(a);
    // 1 - a y^2 is exact but for two roundings of 2^-53.
    const double error = 0.5 * (1.0 - y * y * static_cast<double>(a));
    tell(!(error < bound && -error < bound), bits, found);
  }
}

constexpr std::uint32_t kFirstExponent = 1023 - 963, kLastExponent = 1023 + 963;  // 1e-290, 1e290
constexpr std::uint32_t kMantissas = 1u << 18;

__global__ void __launch_bounds__(kThreads) double_reciprocals_kernel(double bound, Found* found) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (std::uint64_t k = thread; k < std::uint64_t{kLastExponent - kFirstExponent} * kMantissas;
       k += kBlocks * kThreads) {
    // Mantissas that are spread evenly, others for each exponent.
    const std::uint64_t mantissa = (k * 0x9E3779B97F4A7C15ull) >> 12;
    const std::uint64_t bits = (kFirstExponent + k / kMantissas) << 52 | mantissa;
    const double a = __longlong_as_double(static_cast<long long>(bits));
    const double y = rsqrt(a);
    // 1 - a y^2 with what rounding takes off y^2.
    const double y2 = __dmul_rn(y, y), rest = __fma_rn(y, y, -y2);
    const double error = 0.5 * __fma_rn(-a, rest, __fma_rn(-a, y2, 1.0));
    tell(!(error < bound && -error < bound), bits, found);
  }
}

/// @param launch launch(place for what is found)
template <class Launch>
RootErrors found_by(std::int64_t looked_at, const Launch& launch) {
  const DeviceBuffer<Found> found(std::vector<Found>{{0, ~0ull}});
  launch(found.get());
  cuda_check(cudaStreamSynchronize(nullptr));
  const Found f = found.download().front();
  return {looked_at, static_cast<std::int64_t>(f.beyond), f.first};
}

}  // namespace

RootErrors errors_of_float_roots() {
  return found_by(std::int64_t{kLastFloat - kFirstFloat} + 2, [](Found* found) {
    launch_kernel(float_roots_kernel, kBlocks, kThreads, 0, nullptr, found);
  });
}
RootErrors errors_of_float_reciprocals(double bound) {
  return found_by(std::int64_t{kLastFloat - kFirstFloat} + 1, [&](Found* found) {
    launch_kernel(float_reciprocals_kernel, kBlocks, kThreads, 0, nullptr, bound, found);
  });
}
RootErrors errors_of_double_reciprocals(double bound) {
  return found_by(std::int64_t{kLastExponent - kFirstExponent} * kMantissas, [&](Found* found) {
    launch_kernel(double_reciprocals_kernel, kBlocks, kThreads, 0, nullptr, bound, found);
  });
}

}  // namespace tarn::test
