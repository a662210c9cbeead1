#include "fibers.hpp"

#include <cuda_runtime.h>

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
      __shared__ int values[64];
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
  launch(stream, &first, [] {});
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, &second);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  EXPECT_NO_THROW(launch(stream, &first, [] {}));
  EXPECT_NO_THROW(launch(stream, &second, [] {}));
  EXPECT_THROW(launch(stream, &third, [] {}), std::logic_error);
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
