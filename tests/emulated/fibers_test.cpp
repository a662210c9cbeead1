#include "fibers.hpp"

#include <cmath>

#include <cuda_runtime.h>

#include "kernels/launch_kernel.hpp"
#include "testing.hpp"

/// @file
/// The emulation: barriers hold, shuffles move values, and code that would hang a GPU is an error.

namespace tarn {
namespace {

using namespace emulated;

void run(unsigned threads, const std::function<void()>& kernel) {
  run_grid(dim3(1), dim3(threads), 0, kernel);
}

TEST(Fibers, BarriersWaitForAll) {
  int arrived = 0, saw_all = 0;
  run(100, [&] {
    atomicAdd(&arrived, 1);
    __syncthreads();
    if (arrived == 100) atomicAdd(&saw_all, 1);
  });
  EXPECT_EQ(saw_all, 100);
}

/// Barriers of a row of threads: each row waits for its own threads only.
TEST(Fibers, ARowWaitsForItself) {
  std::vector<int> arrived(2, 0), saw_all(2, 0);
  const auto row_of_two_warps = [&](unsigned rounds_of_row_1) {
    run_grid(dim3(1), dim3(64, 2), 0, [&] {
      const unsigned row = threadIdx.y;
      for (unsigned k = 1; k <= (row == 0 ? 1 : rounds_of_row_1); ++k) {
        atomicAdd(&arrived[row], 1);
        wait_for_some(64 * row, 64);
        if (arrived[row] >= static_cast<int>(64 * k)) atomicAdd(&saw_all[row], 1);
      }
    });
  };
  row_of_two_warps(3);
  EXPECT_EQ(saw_all, (std::vector<int>{64, 3 * 64}));
  EXPECT_THROW(run_grid(dim3(1), dim3(64, 2), 0,
                        [] {
                          if (threadIdx.x == 40) return;
                          wait_for_some(64 * threadIdx.y, 64);
                        }),
               std::logic_error);
}

TEST(Fibers, AVoteIsThatOfAll) {
  std::vector<int> said(100);
  for (const int voter : {-1, 0, 99}) {
    run(100, [&] {
      const int i = static_cast<int>(threadIdx.x);
      said[threadIdx.x] = __syncthreads_or(i == voter) ? 1 : 0;
    });
    EXPECT_EQ(said, std::vector<int>(100, voter >= 0 ? 1 : 0)) << voter;
  }
}

TEST(Fibers, ShufflesMoveValuesWithinAWarp) {
  std::vector<double> got(64);
  run(64, [&] {
    const double mine = 10.0 * threadIdx.x;
    got[threadIdx.x] = __shfl_xor_sync(0xffffffffu, mine, 1);
  });
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(got[i], 10.0 * (i ^ 1u));
  run(32, [&] { got[threadIdx.x] = __ballot_sync(0xffffffffu, threadIdx.x % 2 == 0); });
  EXPECT_EQ(got[7], 0x55555555u);
}

TEST(Fibers, ABarrierThatNotAllReachIsAnError) {
  EXPECT_THROW(run(64,
                   [] {
                     if (threadIdx.x < 32) {
                       __syncthreads();
                     } else {
                       __shfl_sync(0xffffffffu, 1.0, 0);
                       if (threadIdx.x == 40) __syncthreads();
                       __shfl_sync(0xffffffffu, 1.0, 0);
                     }
                   }),
               std::logic_error);
}

TEST(Fibers, AShuffleThatNotAllLanesReachIsAnError) {
  for (const unsigned ended : {0u, 31u}) {
    EXPECT_THROW(run(64,
                     [ended] {
                       if (threadIdx.x == ended) return;
                       __shfl_xor_sync(0xffffffffu, 1.0, 1);
                     }),
                 std::logic_error);
  }
  EXPECT_THROW(run(32, [] { __ballot_sync(0xffu, true); }), std::logic_error);
  // A block waits for those that have not ended.
  EXPECT_NO_THROW(run(64, [] {
    if (threadIdx.x == 5) return;
    __syncthreads();
  }));
}

TEST(Fibers, ErrorsOfAThreadComeOut) {
  EXPECT_THROW(run(3, [] { throw std::runtime_error("no"); }), std::runtime_error);
}

#if defined(__SANITIZE_THREAD__)
/// A write and a read by different threads require a barrier in between; a shuffle is none.
TEST(Fibers, RacesAreFound) {
  const auto exchange_by = [](void (*barrier)()) {
    run(64, [barrier] {
      TARN_SHARED(values, int[64]);
      values[threadIdx.x] = 1;
      barrier();
      if (values[threadIdx.x ^ 1u] != 1) throw std::logic_error("no value");
    });
    std::exit(0);
  };
  EXPECT_EXIT(exchange_by([] { __syncthreads(); }), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exchange_by([] { __syncwarp(); }), ::testing::ExitedWithCode(0), "");
  constexpr int kWithReports = 66;
  EXPECT_EXIT(exchange_by([] { __shfl_sync(0xffffffffu, 1, 0); }),
              ::testing::ExitedWithCode(kWithReports), "data race");
}

/// Conflicting accesses of two blocks require atomics. Shared memory of different blocks is not the
/// same memory.
TEST(Fibers, RacesBetweenBlocksAreFound) {
  const auto run_blocks = [](void (*kernel)(int*), unsigned threads) {
    int* data = nullptr;
    cudaMalloc(&data, 4 * sizeof(int));
    const auto grid = [&] { run_grid(dim3(4), threads, threads, [&] { kernel(data); }); };
    grid();
    grid();  // grids are ordered
    cudaFree(data);
    std::exit(0);
  };
  const auto own_place = [](int* data) {
    TARN_SHARED(value, int);
    TARN_DYNAMIC_SHARED(more);
    more[threadIdx.x] = 1;
    if (threadIdx.x == 0) value = 1;
    __syncthreads();
    if (threadIdx.x == 1) data[blockIdx.x] = value;
  };
  const auto atomic = [](int* data) { atomicAdd(data, 1); };
  const auto before_barrier = [](int* data) {
    if (threadIdx.x == 0) *data = 1;
    __syncthreads();
  };
  const auto after_barrier = [](int* data) {
    __syncthreads();
    if (threadIdx.x == 5) data[blockIdx.x] = data[(blockIdx.x + 1) % 4];
  };
  const auto without_barrier = [](int* data) {
    if (threadIdx.x == 5) *data = 1;
  };
  constexpr int kWithReports = 66;
  for (const unsigned threads : {64u, 128u}) {
    EXPECT_EXIT(run_blocks(own_place, threads), ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(run_blocks(atomic, threads), ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(run_blocks(without_barrier, threads), ::testing::ExitedWithCode(kWithReports),
                "data race");
  }
  for (const auto kernel : {+before_barrier, +after_barrier}) {
    EXPECT_EXIT(run_blocks(kernel, 64), ::testing::ExitedWithCode(kWithReports), "data race");
  }
}
#elif defined(__SANITIZE_ADDRESS__)
TEST(Fibers, PlacesOutsideAreFound) {
  const auto write_to = [](unsigned place) {
    int* data = nullptr;
    cudaMalloc(&data, 64 * sizeof(int));
    run(64, [data, place] { data[threadIdx.x + place] = 1; });
    cudaFree(data);
    std::exit(0);
  };
  EXPECT_EXIT(write_to(0), ::testing::ExitedWithCode(0), "");
  EXPECT_DEATH(write_to(1), "heap-buffer-overflow");
}
#endif

/// A variable in shared memory does not have the value that an earlier block left.
TEST(Fibers, SharedMemoryIsNewInEachBlock) {
  int is_new = 0;
  run_grid(dim3(3), dim3(2), sizeof(float), [&] {
    TARN_SHARED(value, double);
    TARN_SHARED(number, int[2]);
    TARN_DYNAMIC_SHARED(memory);
    float& more = *reinterpret_cast<float*>(memory);
    if (std::isnan(value) && std::isnan(more) && number[1] == -1) atomicAdd(&is_new, 1);
    __syncthreads();
    if (threadIdx.x == 0) value = more = 1.0f;
    number[threadIdx.x] = 1;
  });
  EXPECT_EQ(is_new, 6);
}

template <int kBytes>
void use_shared_bytes() {
  TARN_SHARED(values, char[kBytes]);
  TARN_DYNAMIC_SHARED(more);
  values[threadIdx.x] = 0;
  more[threadIdx.x] = 0;
}

/// Static and dynamic memory together, with the limit of the device only if it was allowed.
TEST(Fibers, SharedMemoryIsLimited) {
  constexpr int KiB = 1024;
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const auto launch = [&](auto kernel, int dynamic) {
    gpu::launch_kernel(kernel, 2, 32, static_cast<std::size_t>(dynamic), stream);
    cudaStreamSynchronize(stream);
  };
  EXPECT_NO_THROW(launch(use_shared_bytes<40 * KiB>, 8 * KiB));
  EXPECT_THROW(launch(use_shared_bytes<40 * KiB>, 8 * KiB + 1), std::logic_error);
  EXPECT_THROW(launch(use_shared_bytes<49 * KiB>, 0), std::logic_error);
  EXPECT_THROW(launch(use_shared_bytes<32>, 49 * KiB), std::logic_error);
  gpu::allow_shared_bytes(use_shared_bytes<40 * KiB>, 200 * KiB);
  EXPECT_NO_THROW(launch(use_shared_bytes<40 * KiB>, 187 * KiB));
  EXPECT_THROW(launch(use_shared_bytes<40 * KiB>, 188 * KiB), std::logic_error);
  cudaStreamDestroy(stream);
}

enum class Access { after_wait, read_before, write_before, no_wait };
/// Stores a number plus one.
void early_kernel(Access access, const double* from, double* to) {
  gpu::launch_dependents();
  const std::int64_t i = gpu::thread_number();
  double value = 0.0;
  if (access == Access::read_before) value = from[i];
  if (access == Access::write_before) to[i] = 3.0;
  __syncthreads();
  if (access != Access::no_wait) gpu::wait_for_previous_kernel();
  if (access != Access::read_before) value = from[i];
  if (access != Access::write_before) to[i] = value + 1.0;
}

/// An early launch begins before the previous kernels have ended, in streams and in graphs.
TEST(Fibers, EarlyLaunchesMustWait) {
  constexpr unsigned kBlocks = 3, kThreads = 40, kNumbers = kBlocks * kThreads;
  const auto numbers_after = [&](Access access, bool early, bool in_graph) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    double* data = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&data, 2 * kNumbers * sizeof(double));
    cudaMemsetAsync(data, 0, 2 * kNumbers * sizeof(double), stream);
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, early_kernel);
    double *a = data, *b = data + kNumbers;
    if (in_graph) cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    gpu::launch_kernel(early_kernel, kBlocks, kThreads, 0, stream, Access::after_wait, b, a);
    gpu::launch_early(early, early_kernel, kBlocks, kThreads, 0, stream, Access::after_wait, a, b);
    gpu::launch_early(early, early_kernel, kBlocks, kThreads, 0, stream, access, b, a);
    gpu::launch_kernel(early_kernel, kBlocks, kThreads, 0, stream, Access::after_wait, a, b);
    if (in_graph) {
      cudaStreamEndCapture(stream, &graph);
      cudaGraphLaunch(graph, stream);
      cudaGraphDestroy(graph);
    }
    cudaStreamSynchronize(stream);
    const std::vector<double> result(b, b + kNumbers);
    cudaFree(data);
    cudaStreamDestroy(stream);
    return result;
  };
  const std::vector<double> right(kNumbers, 4.0);
  for (const bool in_graph : {false, true}) {
    // Which block is the first one depends on the grid.
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(numbers_after(Access::after_wait, true, in_graph), right);
      for (const Access access : {Access::read_before, Access::write_before, Access::no_wait}) {
        EXPECT_EQ(numbers_after(access, false, in_graph), right) << static_cast<int>(access);
#if defined(__SANITIZE_THREAD__)
        EXPECT_EXIT((numbers_after(access, true, in_graph), std::exit(0)),
                    ::testing::ExitedWithCode(66), "data race");
#else
        EXPECT_NE(numbers_after(access, true, in_graph), right) << static_cast<int>(access);
#endif
      }
    }
  }
}

TEST(Streams, WorkWhenSomebodyWaitsAndNotForCopies) {
  cudaStream_t stream = nullptr;
  int* data = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&data, sizeof(int));
  const int one = 1;
  cudaMemcpy(data, &one, sizeof(int), cudaMemcpyHostToDevice);
  int seen = 0;
  put(stream, [&] { seen = *data; });
  EXPECT_EQ(seen, 0);
  cudaStreamSynchronize(stream);
  EXPECT_EQ(seen, -1);  // what cudaMalloc leaves here: the copy was not waited for
  cudaDeviceSynchronize();
  put(stream, [&] { seen = *data; });
  cudaStreamSynchronize(stream);
  EXPECT_EQ(seen, 1);
  cudaFree(data);
  cudaStreamDestroy(stream);
  EXPECT_EQ(allocated_bytes(), 0u);
}

TEST(Streams, RefuseToLoadKernelsInACapture) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const int first = 0, second = 0, third = 0;  // for what they have of kernels: an address
  launch(stream, &first, 1, 1, 0, [] {});
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, &second);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  EXPECT_NO_THROW(launch(stream, &first, 1, 1, 0, [] {}));
  EXPECT_NO_THROW(launch(stream, &second, 1, 1, 0, [] {}));
  EXPECT_THROW(launch(stream, &third, 1, 1, 0, [] {}), std::logic_error);
  EXPECT_THROW(cudaFuncGetAttributes(&attributes, &third), std::logic_error);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

TEST(Streams, RejectCallsThatCannotBeCaptured) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  int* data = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  EXPECT_THROW(cudaMalloc(&data, 8), std::logic_error);
  EXPECT_THROW(cudaStreamSynchronize(stream), std::logic_error);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace tarn
