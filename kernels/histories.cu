#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/device_buffer.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/measured.cuh"
#include "physics/fourier.hpp"
#include "physics/time_correlation.hpp"

/// @file
/// Time correlations and powers of velocities of the replicas of an engine; see History.

namespace tarn::gpu {
namespace {

constexpr int kThreads = 128, kTransformThreads = 256;

// --- time correlations ---------------------------------------------------------------------------

/// A thread per molecule, and one per word of pairs, of each replica.
__global__ void __launch_bounds__(kThreads)
    sample_kernel(DeviceState d, StepParameters step, CorrelationLayout layout, const int* places,
                  std::int64_t replicas, double* samples) {
  const int n = layout.molecules, tasks = n + layout.words();
  const std::int64_t k = thread_number() / tasks;
  if (k >= replicas) return;
  const int task = static_cast<int>(thread_number() % tasks);
  const auto molecule = [&](int m) { return reported(d, step.bh2, device_slot(d, places[k], m)); };
  double* const sample = samples + k * layout.sample_numbers();
  if (task < n) {
    const double share_o = step.masses.o / molecule_mass(step.masses);
    Vec3<double> centre{};
    for (int m = 0; m < n; ++m) {
      centre = centre + share_of_centre(molecule(m), share_o, step.masses.fraction_h, n);
    }
    put_vectors(molecule(task), centre, task, n, sample);
    return;
  }
  std::uint32_t word = 0;
  const int first = 32 * (task - n);
  for (int bit = 0; bit < 32 && first + bit < layout.pairs(); ++bit) {
    const MoleculePair pair = molecule_pair(first + bit);
    if (are_bonded(molecule(pair.earlier), molecule(pair.later))) word |= 1u << bit;
  }
  reinterpret_cast<std::uint32_t*>(sample + layout.rows())[task - n] = word;
}

/// A thread per part of the comparison and place, of each replica. No other thread changes the same
/// memory.
__global__ void __launch_bounds__(kThreads)
    compare_kernel(CorrelationLayout layout, ComparedOrigins before, ComparedOrigins itself,
                   std::int64_t replicas, const double* samples, std::byte* bytes) {
  const std::int64_t task = thread_number(), k = task / (kComparedParts * kOrigins);
  if (k >= replicas) return;
  const double* const vectors = samples + k * layout.sample_numbers();
  const auto* const bonded = reinterpret_cast<const std::uint32_t*>(vectors + layout.rows());
  const CorrelationMemory memory =
      layout.parts(bytes + static_cast<std::size_t>(k) * layout.bytes());
  const int part = static_cast<int>(task / kOrigins % kComparedParts);
  const int place = static_cast<int>(task % kOrigins);
  compare<1>(layout, vectors, bonded, before, part, place, memory);
  if (itself.beginning == place) compare<1>(layout, vectors, bonded, itself, part, place, memory);
}

/// Copies the numbers of a slot of windows. A thread per number and replica.
__global__ void __launch_bounds__(kThreads)
    window_kernel(CorrelationLayout layout, int slot, std::int64_t replicas, std::byte* bytes,
                  double* windows) {
  const std::int64_t task = thread_number(), size = layout.window_numbers(), k = task / size;
  if (k >= replicas) return;
  const std::size_t first = static_cast<std::size_t>(k) * layout.bytes();
  windows[task] = layout.parts(bytes + first).windows[slot * size + task % size];
}

// --- powers of velocities ------------------------------------------------------------------------

/// A thread per molecule of each replica. @param size of the memory of a replica
__global__ void __launch_bounds__(kThreads)
    velocities_kernel(DeviceState d, MeasureNumbers numbers, const int* places,
                      std::int64_t replicas, std::int64_t size, float* sample) {
  const std::int64_t k = thread_number() / d.molecules;
  if (k >= replicas) return;
  const int molecule = static_cast<int>(thread_number() % d.molecules);
  const std::int64_t slot = device_slot(d, places[k], molecule);
  Triple<double> v = load_triple(d.v, d.slots, slot);
  if (numbers.rigid) {
    v = project_velocities(load_triple(d.x, d.slots, slot), v, numbers.step.masses);
  }
  store_triple(v, sample + k * size + 9 * molecule, 1, 0);
}

struct OneComplex {
  static constexpr int kNumber = 1;
  double re[kNumber], im[kNumber];
};
struct SpectrumOnDevice {
  int samples, coordinates;
  const double *window, *roots, *factors;  ///< factors: roots of the weights, [series]
  const int* numbers;                      ///< of SpectrumTables
};

/// Block of a replica: the powers of a segment, [velocities or currents][frequency]. A transform
/// has two real series. Then the first half of the segment is dropped.
__global__ void __launch_bounds__(kTransformThreads)
    powers_kernel(SpectrumOnDevice s, float* velocities, double* powers) {
  TARN_DYNAMIC_SHARED(memory);
  auto* const z = reinterpret_cast<OneComplex*>(memory);
  const int thread = static_cast<int>(threadIdx.x), frequencies = s.samples / 2 + 1;
  const std::int64_t size = static_cast<std::int64_t>(s.samples) * s.coordinates;
  float* const own = velocities + blockIdx.x * size;
  double* power = powers + blockIdx.x * (2 * static_cast<std::int64_t>(frequencies));
  const auto value = [&](int series, int j) -> double {
    const float* const v = own + static_cast<std::int64_t>(j) * s.coordinates;
    if (series < s.coordinates) return v[series];
    float current = 0.0f;
    for (int c = series - s.coordinates; c < s.coordinates; c += 9) {
      current += v[c + 3] + v[c + 6] - 2.0f * v[c];
    }
    return current;
  };
  for (int first = 0, end = s.coordinates; end <= s.coordinates + 3; end += 3) {
    for (int k = thread; k < frequencies; k += kTransformThreads) power[k] = 0.0;
    for (; first < end; first += 2) {
      for (int j = thread; j < s.samples; j += kTransformThreads) {
        const auto windowed = [&](int series) {
          return series < end ? s.window[j] * s.factors[series] * value(series, j) : 0.0;
        };
        z[j] = {{windowed(first)}, {windowed(first + 1)}};
      }
      __syncthreads();
      transform(s.samples, s.roots, z, thread, kTransformThreads, [] { __syncthreads(); });
      for (int k = thread; k < frequencies; k += kTransformThreads) {
        for (int at = 2 * k; at < 2 * k + 2; ++at) {
          if (s.numbers[at] < 0) continue;
          const OneComplex& number = z[s.numbers[at]];
          power[k] += number.re[0] * number.re[0] + number.im[0] * number.im[0];
        }
      }
      __syncthreads();
    }
    first = end;
    power += frequencies;
  }
  for (std::int64_t i = thread; i < size / 2; i += kTransformThreads) own[i] = own[size / 2 + i];
}

class DeviceHistory final : public History {
 public:
  DeviceHistory(const HistoryRequest& request, const MeasureNumbers& numbers,
                const std::vector<std::int64_t>& replica_ids, cudaStream_t stream,
                std::function<const DeviceState&()> state)
      : layout_{numbers.molecules, request.longest},
        samples_(request.samples),
        numbers_(numbers),
        replica_ids_(replica_ids),
        stream_(stream),
        state_(std::move(state)) {
    for (std::size_t r = 0; r < replica_ids.size(); ++r) {
      if (replica_ids[r] < request.replicas) places_.push_back(static_cast<int>(r));
    }
  }

  /// Allocates memory. @return whether the history can be kept
  bool start(const HistoryRequest& request) {
    const std::size_t replicas = places_.size(), size = static_cast<std::size_t>(samples_);
    block_ = has_lags() ? layout_.bytes() : size * request.weights.size() * sizeof(float);
    const std::size_t work =
        has_lags() ? static_cast<std::size_t>(layout_.sample_numbers()) : size + 2;
    std::size_t free = 0, total = 0;
    cuda_check(cudaMemGetInfo(&free, &total));
    if (replicas == 0 || replicas * (block_ + work * sizeof(double)) > free / 2) return false;
    if (!has_lags() && cudaFuncSetAttribute(
                           powers_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           std::max(48 * 1024, static_cast<int>(shared_bytes()))) != cudaSuccess) {
      cudaGetLastError();  // clear it
      return false;
    }
    std::vector<std::byte> bytes(request.memory.empty() ? 0 : replicas * block_);
    for (std::size_t k = 0; k < replicas && !bytes.empty(); ++k) {
      const auto from = request.memory.find(replica_ids_[static_cast<std::size_t>(places_[k])]);
      if (from == request.memory.end()) return false;
      std::ranges::copy(from->second, bytes.begin() + static_cast<std::ptrdiff_t>(k * block_));
    }
    bytes_ = bytes.empty() ? arrays_.keep(DeviceBuffer<std::byte>(replicas * block_, 0))
                           : arrays_.upload(bytes);
    work_ = arrays_.make<double>(replicas * work);
    places_on_device_ = arrays_.upload(places_);
    if (!has_lags()) make_tables(request);
    wait_for_copies();
    return true;
  }

  std::map<std::int64_t, std::vector<double>> sample(std::int64_t number) override {
    const DeviceState& d = state_();
    if (!has_lags()) {
      auto* const velocities = reinterpret_cast<float*>(bytes_);
      launch_threads(velocities_kernel, replicas() * d.molecules, kThreads, stream_, d, numbers_,
                     places_on_device_, replicas(), block_ / sizeof(float),
                     velocities + number * 9 * d.molecules);
      if (number + 1 < samples_) return {};
      allow_shared_bytes(powers_kernel, shared_bytes());  // another history may need less
      launch_kernel(powers_kernel, static_cast<unsigned>(replicas()), kTransformThreads,
                    shared_bytes(), stream_, spectrum_, velocities, work_);
      return of_running(work_, static_cast<std::size_t>(samples_ + 2));
    }
    launch_threads(sample_kernel, replicas() * (d.molecules + layout_.words()), kThreads, stream_,
                   d, numbers_.step, layout_, places_on_device_, replicas(), work_);
    const ComparedOrigins before = layout_.compared(number, false);
    launch_threads(compare_kernel, replicas() * kComparedParts * kOrigins, kThreads, stream_,
                   layout_, before, layout_.compared(number, true), replicas(), work_, bytes_);
    const int slot = before.completed(layout_.longest);
    if (slot < 0) return {};
    const auto size = static_cast<std::size_t>(layout_.window_numbers());
    const DeviceBuffer<double> windows(places_.size() * size);
    launch_threads(window_kernel, replicas() * layout_.window_numbers(), kThreads, stream_, layout_,
                   slot, replicas(), bytes_, windows.get());
    return of_running(windows.get(), size);
  }

  Memory memory() const override { return of_running(bytes_, block_); }

 private:
  std::int64_t replicas() const { return std::ssize(places_); }
  bool has_lags() const { return layout_.longest > 0; }
  std::size_t shared_bytes() const {
    return sizeof(OneComplex) * static_cast<std::size_t>(samples_);
  }

  void make_tables(const HistoryRequest& request) {
    const SpectrumTables tables(samples_);
    std::vector<double> factors;
    for (const double weight : request.weights) factors.push_back(std::sqrt(weight));
    factors.insert(factors.end(), 3, std::sqrt(request.current_weight));
    spectrum_ = {samples_,
                 9 * layout_.molecules,
                 arrays_.upload(tables.window),
                 arrays_.upload(tables.roots),
                 arrays_.upload(factors),
                 arrays_.upload(tables.numbers)};
  }

  /// Copies numbers of the running replicas to the host.
  template <class T>
  std::map<std::int64_t, std::vector<T>> of_running(const T* from, std::size_t size) const {
    const DeviceState& d = state_();
    cuda_check(cudaStreamSynchronize(stream_));
    const std::vector<int> stopped = downloaded(d.stopped, static_cast<std::size_t>(d.replicas));
    const std::vector<T> all = downloaded(from, places_.size() * size);
    std::map<std::int64_t, std::vector<T>> by_id;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const auto place = static_cast<std::size_t>(places_[k]);
      if (stopped[place] != 0) continue;
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(k * size);
      by_id[replica_ids_[place]].assign(first, first + static_cast<std::ptrdiff_t>(size));
    }
    return by_id;
  }

  CorrelationLayout layout_;
  int samples_;
  MeasureNumbers numbers_;
  std::vector<std::int64_t> replica_ids_;  ///< of the engine
  cudaStream_t stream_;
  std::function<const DeviceState&()> state_;
  std::vector<int> places_;  ///< of the replicas that are followed
  std::size_t block_ = 0;    ///< bytes of a replica
  DeviceArrays arrays_;
  std::byte* bytes_ = nullptr;  ///< [replica][byte]
  double* work_ = nullptr;      ///< the sample or the powers of each replica
  const int* places_on_device_ = nullptr;
  SpectrumOnDevice spectrum_{};
};

}  // namespace

std::unique_ptr<History> make_history(const HistoryRequest& request, const MeasureNumbers& numbers,
                                      const std::vector<std::int64_t>& replica_ids,
                                      cudaStream_t stream,
                                      const std::function<const DeviceState&()>& state) {
  auto all = std::make_unique<DeviceHistory>(request, numbers, replica_ids, stream, state);
  return all->start(request) ? std::move(all) : nullptr;
}

}  // namespace tarn::gpu
