#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fibers.hpp"

/// @file
/// An emulation on the CPU of the part of the CUDA language and runtime that kernels/ uses, for the
/// device tests. The threads of a block are fibers that take turns; blocks run one after another,
/// in an order that changes from grid to grid. It finds wrong indices and missing
/// synchronisation: a barrier that not all threads reach is an error, shared memory is NaN in each
/// new block, an early launch begins as soon as the previous kernel allows it, and work on a stream
/// runs only when the stream is synchronised. Several host threads may call it. Reciprocal roots
/// are those of estimates.hpp.

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3() = default;
  dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace tarn::emulated {

/// Indices of the running fiber.
struct Here {
  dim3 thread, block, block_size;
  unsigned number = 0;  ///< of the thread in its block
};
inline Here here;
#if defined(__SANITIZE_THREAD__)
#define TARN_TEST_NOT_SANITIZED __attribute__((noinline, no_sanitize("thread")))
#else
#define TARN_TEST_NOT_SANITIZED
#endif
/// Returns a copy, because the original changes with each turn.
TARN_TEST_NOT_SANITIZED inline Here here_now() { return here; }

template <class T>
TARN_TEST_NOT_SANITIZED T exchange(T value, unsigned from_lane) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  const unsigned warp = here.number / 32 * 32;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  exchanged().of_thread[here.number] = bits;
  wait_for_lanes();
  bits = exchanged().of_thread[warp + from_lane % 32];
  wait_for_lanes();
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

inline std::shared_ptr<Grid> make_grid(const dim3& grid, const dim3& block,
                                       std::size_t shared_bytes, std::size_t most_shared_bytes,
                                       std::function<void()> thread) {
  if (grid.y != 1 || grid.z != 1 || block.z != 1) throw std::logic_error("one-dimensional grids");
  const unsigned threads = block.x * block.y;
  if (grid.x == 0 || grid.x > 0x7fffffffu) throw std::logic_error("a grid of this size");
  if (threads == 0 || threads > 1024) throw std::logic_error("a block of this size");
  const auto enter = [block](unsigned b, unsigned number) {
    here = {{number % block.x, number / block.x, 0}, {b, 0, 0}, block, number};
  };
  return std::make_shared<Grid>(GridShape{grid.x, threads, shared_bytes, most_shared_bytes}, enter,
                                std::move(thread));
}
/// Runs a kernel: every block, every thread.
inline void run_grid(const dim3& grid, const dim3& block, std::size_t shared_bytes,
                     const std::function<void()>& thread) {
  make_grid(grid, block, shared_bytes, 48 * 1024, thread)->run();
}

/// Work of a stream: a kernel or something else.
struct Work {
  std::function<void()> run;
  std::function<std::shared_ptr<Grid>()> kernel;
  bool early = false;           ///< may begin before the work before it has ended
  std::shared_ptr<Grid> begun;  ///< the kernel, if it has begun
};
/// Pending work in order, of a stream or of a captured graph.
struct Stream {
  bool capturing = false;
  std::thread::id captured_by{};
  int device = 0;
  std::deque<Work> work;

  void run_next() {
    const Work next = std::move(work.front());
    work.pop_front();
    if (!next.kernel) return next.run();
    (next.begun ? next.begun : next.kernel())->run([this] { begin_early(0); });
  }
  void finish() {
    while (!work.empty()) run_next();
  }

 private:
  /// Begins work k if it is an early launch.
  void begin_early(std::size_t k) {
    if (k >= work.size() || !work[k].early || work[k].begun) return;
    work[k].begun = work[k].kernel();
    work[k].begun->begin([this, k] { begin_early(k + 1); });
  }
};
struct Graph {
  std::deque<Work> launches;
};
/// The stream of copies and fills. It is not ordered with other streams.
inline Stream legacy_stream;
inline std::vector<Stream*> streams;
/// Functions of the runtime run one at a time.
class Turn {
 public:
  Turn() : lock_(mutex()) {}

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex one;
    return one;
  }
  std::lock_guard<std::recursive_mutex> lock_;
};
inline void put(Stream* stream, Work work) {
  const Turn turn;
  (stream == nullptr ? legacy_stream : *stream).work.push_back(std::move(work));
}
inline void put(Stream* stream, std::function<void()> run) {
  put(stream, Work{std::move(run), {}, false, {}});
}
/// Fails, as CUDA does, while this thread captures a stream.
inline void not_in_a_capture() {
  const Turn turn;
  for (const Stream* stream : streams) {
    if (stream->capturing && stream->captured_by == std::this_thread::get_id()) {
      throw std::logic_error("not while a stream is captured");
    }
  }
}
/// The device of this thread, from cudaSetDevice().
inline thread_local int current_device = 0;
inline void finish_all() {
  for (Stream* stream : streams) {
    if (!stream->capturing) stream->finish();
  }
  legacy_stream.finish();
}

}  // namespace tarn::emulated

#define threadIdx (::tarn::emulated::here_now().thread)
#define blockIdx (::tarn::emulated::here_now().block)
#define blockDim (::tarn::emulated::here_now().block_size)

inline void __syncthreads() { tarn::emulated::wait_for_block(); }
TARN_TEST_NOT_SANITIZED inline bool __syncthreads_or(bool mine) {
  bool& any = tarn::emulated::exchanged().any;
  any = false;
  tarn::emulated::wait_for_block();
  if (mine) any = true;
  tarn::emulated::wait_for_block();
  const bool result = any;
  tarn::emulated::wait_for_block();
  return result;
}
inline void __syncwarp() { tarn::emulated::wait_for_warp(); }
/// Masks must include all lanes, and all lanes must call; see wait_for_lanes().
inline void all_lanes(unsigned mask) {
  if (mask != 0xffffffffu) throw std::logic_error("a mask without some lanes");
}
template <class T>
T __shfl_sync(unsigned mask, T value, int from) {
  all_lanes(mask);
  return tarn::emulated::exchange(value, static_cast<unsigned>(from));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int with) {
  all_lanes(mask);
  return tarn::emulated::exchange(
      value, tarn::emulated::here_now().number % 32 ^ static_cast<unsigned>(with));
}
inline unsigned __ballot_sync(unsigned mask, bool vote) {
  all_lanes(mask);
  unsigned all = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    all |= tarn::emulated::exchange(vote, lane) ? 1u << lane : 0u;
  }
  return all;
}
/// Nanoseconds.
inline long long clock64() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
template <class T>
T atomicAdd(T* to, T value) {
  return std::atomic_ref(*to).fetch_add(value, std::memory_order_relaxed);
}
template <class T>
T atomicMin(T* to, T value) {
  const std::atomic_ref place(*to);
  T old = place.load(std::memory_order_relaxed);
  while (old > value && !place.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
  return old;
}

// --- the runtime ---------------------------------------------------------------------------------

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorIllegalAddress = 700,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719
};
namespace tarn::emulated {

/// TARN_TEST_CLOCK_KHZ, or 1 GHz: launches on slow devices have few steps.
inline int usual_clock_kHz() {
  const char* const value = std::getenv("TARN_TEST_CLOCK_KHZ");
  return value != nullptr ? std::atoi(value) : 1'000'000;
}
/// Properties of the emulated machine; tests change them.
struct Machine {
  int driver = 13000;
  cudaError_t error = cudaSuccess;  ///< of the search for devices
  int devices = 1;
  std::size_t memory = std::size_t{64} << 30;  ///< bytes of the device
  cudaError_t launch = cudaSuccess;            ///< of the next launch
  std::int64_t good_launches = -1;             ///< until one fails; -1: all are good
  int clock_kHz = usual_clock_kHz();
  bool locks_pages = true;
  int major = 9, minor = 0;       ///< compute capability
  int shared_bytes = 227 * 1024;  ///< most that a kernel may be allowed
  int multiprocessors = 1;
};
inline Machine machine;
inline std::int64_t launches = 0;
/// Bytes that were copied from the device to the host.
inline std::int64_t bytes_to_host = 0;
inline std::map<void*, std::size_t> allocated;
inline std::size_t allocated_bytes() {
  std::size_t sum = 0;
  for (const auto& [data, bytes] : allocated) sum += bytes;
  return sum;
}

}  // namespace tarn::emulated

enum cudaMemcpyKind { cudaMemcpyDeviceToDevice, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
inline constexpr unsigned cudaStreamNonBlocking = 1;
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
using cudaStream_t = tarn::emulated::Stream*;
using cudaGraph_t = tarn::emulated::Graph*;
using cudaGraphExec_t = tarn::emulated::Graph*;
struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount;
  std::size_t totalGlobalMem;
  struct {
    char bytes[16];
  } uuid;
};

inline const char* cudaGetErrorString(cudaError_t) { return "an emulated error"; }
namespace tarn::emulated {

inline cudaError_t last_error = cudaSuccess;
/// Loaded kernels.
inline std::set<const void*> loaded;
/// Bytes of shared memory that kernels may have beside the usual 48 kB.
inline std::map<const void*, std::size_t> shared_limits;
/// Bytes of static and dynamic shared memory that a kernel may have.
inline std::size_t most_shared_bytes(const void* kernel, std::size_t dynamic_bytes) {
  constexpr std::size_t kUsual = 48 * 1024;
  const Turn turn;
  const auto limit = shared_limits.find(kernel);
  const std::size_t most_dynamic = limit == shared_limits.end() ? kUsual : limit->second;
  if (dynamic_bytes > std::max(kUsual, most_dynamic)) {
    throw std::logic_error("too much shared memory");
  }
  return most_dynamic > kUsual ? static_cast<std::size_t>(machine.shared_bytes) : kUsual;
}
/// Set by gpu::launch_early().
inline thread_local bool next_launch_is_early = false;
/// Adds a kernel to a stream; the emulated machine may refuse it.
inline void launch(Stream* stream, const void* kernel, const dim3& grid, const dim3& threads,
                   std::size_t shared_bytes, const std::function<void()>& thread) {
  const Turn turn;
  const bool early = std::exchange(next_launch_is_early, false);
  const std::size_t most = most_shared_bytes(kernel, shared_bytes);
  if (stream != nullptr && stream->device != current_device) {
    throw std::logic_error("a kernel is launched on a stream of another device");
  }
  // Loading waits for the device, which drivers older than CUDA 12.3 refuse during capture.
  if (loaded.insert(kernel).second && stream != nullptr && stream->capturing) {
    throw std::logic_error("a kernel that is first launched while a stream is captured");
  }
  ++launches;
  if (machine.good_launches >= 0 && machine.good_launches-- == 0) {
    machine.launch = cudaErrorLaunchFailure;
  }
  last_error = std::exchange(machine.launch, cudaSuccess);
  if (last_error != cudaSuccess) return;
  const auto make = [=] { return make_grid(grid, threads, shared_bytes, most, thread); };
  put(stream, Work{{}, make, early, {}});
}

}  // namespace tarn::emulated
struct cudaFuncAttributes {
  int ptxVersion = 90;
};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, Kernel* kernel) {
  const tarn::emulated::Turn turn;
  tarn::emulated::not_in_a_capture();
  tarn::emulated::loaded.insert(reinterpret_cast<const void*>(kernel));
  return cudaSuccess;
}
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute, int bytes) {
  const tarn::emulated::Turn turn;
  if (bytes > tarn::emulated::machine.shared_bytes) return cudaErrorInvalidConfiguration;
  tarn::emulated::shared_limits[reinterpret_cast<const void*>(kernel)] =
      static_cast<std::size_t>(bytes);
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() {
  const tarn::emulated::Turn turn;
  return std::exchange(tarn::emulated::last_error, cudaSuccess);
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = tarn::emulated::machine.driver;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = tarn::emulated::machine.devices;
  return tarn::emulated::machine.error;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {"a CPU that stands in",        tarn::emulated::machine.major,
                 tarn::emulated::machine.minor, tarn::emulated::machine.multiprocessors,
                 std::size_t{1} << 30,          {{static_cast<char>(device)}}};
  return cudaSuccess;
}
enum cudaDeviceAttr {
  cudaDevAttrClockRate,
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor
};
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  using tarn::emulated::machine;
  *value = which == cudaDevAttrClockRate                      ? machine.clock_kHz
           : which == cudaDevAttrMultiProcessorCount          ? machine.multiprocessors
           : which == cudaDevAttrMaxSharedMemoryPerBlockOptin ? machine.shared_bytes
           : which == cudaDevAttrComputeCapabilityMajor       ? machine.major
                                                              : machine.minor;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= tarn::emulated::machine.devices) return cudaErrorInvalidDevice;
  tarn::emulated::current_device = device;
  return cudaSuccess;
}
inline constexpr unsigned cudaDeviceScheduleBlockingSync = 4;
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() {
  tarn::emulated::not_in_a_capture();
  tarn::emulated::finish_all();
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const tarn::emulated::Turn turn;
  *total = tarn::emulated::machine.memory;
  *free = *total - tarn::emulated::allocated_bytes();
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMalloc(T** data, std::size_t bytes) {
  const tarn::emulated::Turn turn;
  tarn::emulated::not_in_a_capture();
  if (bytes + tarn::emulated::allocated_bytes() > tarn::emulated::machine.memory) {
    return cudaErrorMemoryAllocation;
  }
  *data = static_cast<T*>(::operator new(bytes));
  std::memset(static_cast<void*>(*data), 0xff, bytes);  // what is not written is no number
  tarn::emulated::allocated[*data] = bytes;
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* data) {
  const tarn::emulated::Turn turn;
  if (data == nullptr) return cudaSuccess;
  tarn::emulated::finish_all();
  tarn::emulated::allocated.erase(data);
  ::operator delete(data);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* data, int byte, std::size_t bytes) {
  tarn::emulated::not_in_a_capture();
  tarn::emulated::put(nullptr, [=] { std::memset(data, byte, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* data, int byte, std::size_t bytes, cudaStream_t stream) {
  tarn::emulated::put(stream, [=] { std::memset(data, byte, bytes); });
  return cudaSuccess;
}
/// From pageable memory: it is read at once, but the copy may arrive after this returns.
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const tarn::emulated::Turn turn;
  tarn::emulated::not_in_a_capture();
  if (kind == cudaMemcpyHostToDevice) {
    const auto* const first = static_cast<const unsigned char*>(from);
    tarn::emulated::put(nullptr, [to, staged = std::vector(first, first + bytes)] {
      std::memcpy(to, staged.data(), staged.size());
    });
    return cudaSuccess;
  }
  tarn::emulated::legacy_stream.finish();
  if (kind == cudaMemcpyDeviceToHost) {
    tarn::emulated::bytes_to_host += static_cast<std::int64_t>(bytes);
  }
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMallocHost(T** data, std::size_t bytes) {
  const tarn::emulated::Turn turn;
  tarn::emulated::not_in_a_capture();
  if (!tarn::emulated::machine.locks_pages) return cudaErrorMemoryAllocation;
  *data = static_cast<T*>(::operator new(bytes));
  std::memset(static_cast<void*>(*data), 0xff, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* data) {
  const tarn::emulated::Turn turn;
  if (data == nullptr) throw std::logic_error("nothing to be freed");
  tarn::emulated::finish_all();
  ::operator delete(data);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  const tarn::emulated::Turn turn;
  if (kind == cudaMemcpyDeviceToHost) {
    tarn::emulated::bytes_to_host += static_cast<std::int64_t>(bytes);
  }
  tarn::emulated::put(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const tarn::emulated::Turn turn;
  *stream = new tarn::emulated::Stream;
  (*stream)->device = tarn::emulated::current_device;
  tarn::emulated::streams.push_back(*stream);
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const tarn::emulated::Turn turn;
  stream->finish();
  std::erase(tarn::emulated::streams, stream);
  delete stream;
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const tarn::emulated::Turn turn;
  tarn::emulated::not_in_a_capture();
  (stream == nullptr ? tarn::emulated::legacy_stream : *stream).finish();
  return cudaSuccess;
}
// Events: the time on this clock when the stream reaches them.
struct EmulatedEvent {
  std::chrono::steady_clock::time_point time;
  cudaStream_t stream = nullptr;
  std::int64_t recorded = 0, reached = 0;

  /// Runs what its stream has before it.
  void wait_for(std::int64_t record) {
    while (reached < record) stream->run_next();
  }
};
using cudaEvent_t = EmulatedEvent*;
inline constexpr unsigned cudaEventDisableTiming = 2;
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new EmulatedEvent;
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const tarn::emulated::Turn turn;
  if (event->stream != nullptr) event->wait_for(event->recorded);
  delete event;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const tarn::emulated::Turn turn;
  event->stream = stream;
  tarn::emulated::put(stream, [event, record = ++event->recorded] {
    event->time = std::chrono::steady_clock::now();
    event->reached = record;
  });
  if (stream->work.size() == 1) stream->finish();  // nothing to wait for
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const tarn::emulated::Turn turn;
  event->wait_for(event->recorded);
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const tarn::emulated::Turn turn;
  if (event->stream == nullptr) return cudaSuccess;
  tarn::emulated::put(stream, [event, record = event->recorded] { event->wait_for(record); });
  return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const tarn::emulated::Turn turn;
  stream->finish();
  stream->capturing = true;
  stream->captured_by = std::this_thread::get_id();
  return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const tarn::emulated::Turn turn;
  stream->capturing = false;
  *graph = new tarn::emulated::Graph{std::move(stream->work)};
  stream->work.clear();
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                        unsigned long long) {
  *exec = new tarn::emulated::Graph(*graph);
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  const tarn::emulated::Turn turn;
  for (const auto& work : graph->launches) tarn::emulated::put(stream, work);
  return cudaSuccess;
}
