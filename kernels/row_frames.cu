#include "kernels/row_frames.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/launch.hpp"
#include "tarn/physics/cluster_shape.hpp"

namespace tarn::gpu {
namespace {

template <class T>
void reserve(std::size_t size, DeviceBuffer<T>& buffer) {
  if (buffer.size() < size) buffer = DeviceBuffer<T>(size);
}

constexpr unsigned kEnergyFields = kEnergies | kConservation | kHeat | kExchangeEnergies;

}  // namespace

RowFrames::RowFrames(const System& system, std::vector<std::int64_t> replica_ids, int device)
    : numbers_(measure_numbers(system)), replica_ids_(std::move(replica_ids)) {
  cuda_check(cudaSetDevice(device));
  cuda_check(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking));
  cuda_check(cudaEventCreateWithFlags(&measured_, cudaEventDisableTiming));
  cuda_check(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming));
}

RowFrames::~RowFrames() {
  cudaStreamSynchronize(copies_);
  cudaEventDestroy(measured_);
  cudaEventDestroy(copied_);
  cudaStreamDestroy(copies_);
}

void RowFrames::measure_with(const MeasureSettings& settings) {
  settings_ = settings;
  if (!settings.lindemann.enabled) return;
  const auto pairs = static_cast<std::size_t>(molecule_pairs(numbers_.molecules));
  std::vector<double> means(replica_ids_.size() * pairs, 0.0), squares(means);
  const LindemannSums& from = settings.lindemann_sums;
  samples_ = from.samples;
  // Both are in the order of the ids, as a rule; those of a checkpoint may have more.
  for (std::size_t r = 0, k = 0; r < replica_ids_.size(); ++r) {
    const auto found = std::find(from.replica_ids.begin() + static_cast<std::ptrdiff_t>(k),
                                 from.replica_ids.end(), replica_ids_[r]);
    if (found == from.replica_ids.end()) continue;
    k = static_cast<std::size_t>(found - from.replica_ids.begin());
    std::copy_n(from.means_A.begin() + static_cast<std::ptrdiff_t>(k * pairs), pairs,
                means.begin() + static_cast<std::ptrdiff_t>(r * pairs));
    std::copy_n(from.squares_A2.begin() + static_cast<std::ptrdiff_t>(k * pairs), pairs,
                squares.begin() + static_cast<std::ptrdiff_t>(r * pairs));
  }
  means_ = DeviceBuffer<double>(means);
  squares_ = DeviceBuffer<double>(squares);
  wait_for_copies();
  settings_.lindemann_sums = {};
}

RowFrames::Layout RowFrames::layout_of(unsigned fields, std::size_t replicas) {
  Layout layout{};
  std::size_t end = 0;
  const auto rows = [&](unsigned field, std::size_t bytes) {
    const std::size_t begin = end;
    if (fields & field) end += replicas * bytes;
    return begin;
  };
  layout.energies = rows(kEnergies, sizeof(Energies));
  layout.conservation = rows(kConservation, sizeof(Conservation));
  layout.heat = rows(kHeat, sizeof(double));
  layout.exchange = rows(kExchangeEnergies, sizeof(double));
  layout.shape = rows(kShape, sizeof(ClusterMeasures));
  layout.parts = rows(kParts, sizeof(ClusterParts));
  layout.lindemann = rows(kLindemann, sizeof(double));
  layout.stopped = end;
  layout.size = end + replicas * sizeof(int);
  return layout;
}

DeviceRows RowFrames::rows_at(const Layout& layout) const {
  const auto at = [&]<class T>(unsigned field, std::size_t begin, T*) {
    return fields_ & field ? reinterpret_cast<T*>(rows_.get() + begin) : nullptr;
  };
  return {
      at(kEnergies, layout.energies, static_cast<Energies*>(nullptr)),
      at(kConservation, layout.conservation, static_cast<double*>(nullptr)),
      at(kHeat, layout.heat, static_cast<double*>(nullptr)),
      at(kExchangeEnergies, layout.exchange, static_cast<double*>(nullptr)),
      at(kShape, layout.shape, static_cast<ClusterMeasures*>(nullptr)),
      at(kParts, layout.parts, static_cast<ClusterParts*>(nullptr)),
      indices_known_ ? at(kLindemann, layout.lindemann, static_cast<double*>(nullptr)) : nullptr};
}

void RowFrames::reserve_scratch(unsigned fields, const DeviceState& d) {
  const auto replicas = static_cast<std::size_t>(d.replicas);
  const std::size_t sums = replicas * static_cast<std::size_t>(measured_chunks(d.molecules));
  if (fields & (kEnergyFields | kShape)) reserve(sums * CentreTerm::kNumbers, centres_);
  if (fields & kEnergyFields) {
    reserve(sums * kEnergySums, energies_);
    if (numbers_.motionless) reserve(sums * InertiaTerm::kNumbers, inertia_);
    if (!pairs_in_chunk(d.molecules)) {
      reserve(replicas * static_cast<std::size_t>(observed_tiles(d.molecules)), tile_energies_);
    }
  }
  if (fields & kShape) reserve(sums * ShapeTerm::kNumbers, shapes_);
  if (fields & kParts) {
    const std::size_t molecules = replicas * static_cast<std::size_t>(d.molecules);
    reserve(2 * molecules, labels_);
    reserve(molecules, part_sizes_);
  }
}

void RowFrames::begin(unsigned fields, const DeviceState& d, const ClusterSystem& system,
                      bool m_site, cudaStream_t stream) {
  fields_ = fields;
  indices_known_ = samples_ > 1 && numbers_.molecules > 1;
  if (replica_ids_.empty()) return;
  const Layout layout = layout_of(fields, replica_ids_.size());
  reserve(layout.size, rows_);
  reserve_scratch(fields, d);
  // The rows of the previous frame have been copied: finish() waits for that.
  const MeasureScratch scratch{centres_.get(),       energies_.get(), inertia_.get(),
                               tile_energies_.get(), shapes_.get(),   labels_.get(),
                               part_sizes_.get()};
  launch_measure(d, numbers_, system, m_site, scratch, rows_at(layout),
                 {samples_, means_.get(), squares_.get()}, settings_.link_A, stream);
  // Later steps may stop more replicas.
  cuda_check(cudaMemcpyAsync(rows_.get() + layout.stopped, d.stopped,
                             replica_ids_.size() * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  cuda_check(cudaEventRecord(measured_, stream));
  cuda_check(cudaStreamWaitEvent(copies_, measured_, 0));
  host_.copy_from(rows_.get(), layout.size, copies_);
  cuda_check(cudaEventRecord(copied_, copies_));
}

template <class T>
void RowFrames::take(bool wanted, std::size_t begin, std::vector<T>& to) const {
  if (!wanted) return to.clear();
  const T* const rows = reinterpret_cast<const T*>(host_.values().data() + begin);
  if (live_.size() == replica_ids_.size()) {
    to.assign(rows, rows + live_.size());
    return;
  }
  to.clear();
  for (const std::size_t r : live_) to.push_back(rows[r]);
}

void RowFrames::finish(Frame& frame) {
  const Layout layout = layout_of(fields_, replica_ids_.size());
  if (!replica_ids_.empty()) cuda_check(cudaEventSynchronize(copied_));
  const int* const stopped = reinterpret_cast<const int*>(host_.values().data() + layout.stopped);
  live_.clear();
  for (std::size_t r = 0; r < replica_ids_.size(); ++r) {
    if (stopped[r] == 0) live_.push_back(r);
  }
  frame.replica_ids.clear();
  for (const std::size_t r : live_) frame.replica_ids.push_back(replica_ids_[r]);
  take(fields_ & kEnergies, layout.energies, frame.energies);
  take(fields_ & kConservation, layout.conservation, frame.conservation);
  take(fields_ & kHeat, layout.heat, frame.heat_kcal_per_mol);
  take(fields_ & kExchangeEnergies, layout.exchange, frame.exchange_energies_kcal_per_mol);
  take(fields_ & kShape, layout.shape, frame.shape);
  take(fields_ & kParts, layout.parts, frame.parts);
  take(fields_ & kLindemann, layout.lindemann, frame.lindemann);
  if (!indices_known_) {
    std::fill(frame.lindemann.begin(), frame.lindemann.end(),
              std::numeric_limits<double>::quiet_NaN());
  }
}

void RowFrames::add_distances(const DeviceState& d, cudaStream_t stream) {
  ++samples_;
  launch_add_distances(d, numbers_.step.bh2, {samples_, means_.get(), squares_.get()}, stream);
}

void RowFrames::put_sums(const std::vector<std::size_t>& live, Frame& frame) const {
  frame.lindemann_sums = {samples_, frame.replica_ids, {}, {}};
  if (!settings_.lindemann.enabled) return;
  const auto pairs = static_cast<std::size_t>(molecule_pairs(numbers_.molecules));
  const auto put = [&](const DeviceBuffer<double>& from, std::vector<double>& to) {
    const std::vector<double> all = from.download();
    for (const std::size_t r : live) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r * pairs);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(pairs));
    }
  };
  put(means_, frame.lindemann_sums.means_A);
  put(squares_, frame.lindemann_sums.squares_A2);
}

}  // namespace tarn::gpu
