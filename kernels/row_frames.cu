#include "kernels/row_frames.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/launch.hpp"
#include "kernels/measure.hpp"
#include "physics/cluster_shape.hpp"
#include "steps/ring_measure.hpp"
#include "tarn/core/replica_map.hpp"

namespace tarn::gpu {
namespace {

constexpr unsigned kEnergyFields = kEnergies | kConservation | kHeat | kExchangeEnergies;
constexpr int kShapeNumbers = sizeof(ClusterMeasures) / sizeof(double);
constexpr int kGeometryNumbers = sizeof(Geometry) / sizeof(double);

struct MomentField {
  using Member = GroupMoments Frame::*;  // see FrameField
  unsigned field;
  int numbers;
  Member member;
};
constexpr MomentField kMomentFields[] = {
    {kEnergyMoments, EnergyMoment::kNumbers, &Frame::energy_moments},
    {kShapeMoments, kShapeNumbers, &Frame::shape_moments},
    {kGeometryMoments, kGeometryNumbers, &Frame::geometry_moments},
    {kLindemannMoments, 1, &Frame::lindemann_moments}};

}  // namespace

void RowFrames::measure_with(const MeasureSettings& settings) {
  settings_ = settings;
  groups_ = ReplicaGroups(settings.moment_groups);
  groups_.sort(replica_ids_);
  if (!replica_ids_.empty()) {
    places_ = DeviceBuffer<int>(groups_.places());
    begins_ = DeviceBuffer<int>(groups_.begins());
    wait_for_copies();
  }
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

RowFrames::Layout RowFrames::layout_of(unsigned fields) const {
  const std::size_t replicas = replica_ids_.size();
  Layout layout{};
  const auto part = [&](unsigned field, std::size_t bytes) {
    layout.begins[static_cast<std::size_t>(std::countr_zero(field))] = layout.size;
    if (fields & field) layout.size += bytes;
  };
  for_each_field([&]<class T>(const FrameField<T>& f) {
    if (f.is_row() && (f.bit != kRings || has_rings_)) part(f.bit, replicas * sizeof(T));
  });
  for (const MomentField& m : kMomentFields) {
    part(m.field, DeviceMoments::bytes(settings_.moment_groups, m.numbers));
  }
  part(kRadialCounts, DeviceRadial::bytes(settings_.radial.groups, settings_.radial.bins));
  layout.stopped = layout.size;
  layout.size += replicas * sizeof(int);
  return layout;
}

DeviceRows RowFrames::rows_at(const Layout& layout) {
  const std::size_t replicas = replica_ids_.size();
  // Rows of which only moments are requested stay on the device.
  std::size_t doubles = 0;
  for (const MomentField& m : kMomentFields) {
    if (fields_ & m.field) doubles += replicas * static_cast<std::size_t>(m.numbers);
  }
  only_summed_.reserve(doubles);
  double* next = only_summed_.get();
  const auto put = [&]<class T>(unsigned field, T*& to) {
    if (fields_ & field) to = reinterpret_cast<T*>(rows_.get() + layout.begin(field));
  };
  const auto put_row = [&]<class T>(unsigned field, unsigned moments, std::size_t numbers, T*& to) {
    put(field, to);
    if ((fields_ & field) || !(fields_ & moments)) return;
    to = reinterpret_cast<T*>(next);
    next += replicas * numbers;
  };
  DeviceRows rows{};
  put(kEnergies, rows.energies);
  put(kConservation, rows.conservation);
  put(kHeat, rows.heat);
  put(kExchangeEnergies, rows.exchange);
  put(kParts, rows.parts);
  put(kRescaledEnergies, rows.rescaled);
  put(kDipoles, rows.dipoles);
  if (has_rings_) put(kRings, rows.rings);
  put_row(kNoFields, kEnergyMoments, EnergyMoment::kNumbers, rows.energy_moments);
  put_row(kShape, kShapeMoments, kShapeNumbers, rows.shape);
  put_row(kGeometry, kGeometryMoments, kGeometryNumbers, rows.geometry);
  if (indices_known_) put_row(kLindemann, kLindemannMoments, 1, rows.lindemann);
  rows.needs_centres = fields_ & kRadialCounts;
  return rows;
}

void RowFrames::launch_groups(const Layout& layout, const DeviceRows& rows,
                              const DeviceState& samples, const double* centres,
                              const DeviceState& d, cudaStream_t stream) {
  const DeviceGroups groups{groups_.groups(), places_.get(), begins_.get()};
  const void* const of_rows[] = {rows.energy_moments, rows.shape, rows.geometry, rows.lindemann};
  for (std::size_t k = 0; k < std::size(kMomentFields); ++k) {
    const MomentField& m = kMomentFields[k];
    if (!(fields_ & m.field) || of_rows[k] == nullptr) continue;
    launch_moments(static_cast<const double*>(of_rows[k]), d.stopped, groups,
                   DeviceMoments(rows_.get() + layout.begin(m.field), groups.groups, m.numbers),
                   stream);
  }
  if (!(fields_ & kRadialCounts)) return;
  const RadialRequest& request = settings_.radial;
  unsigned char* const counts = rows_.get() + layout.begin(kRadialCounts);
  cuda_check(cudaMemsetAsync(counts, 0, DeviceRadial::bytes(request.groups, request.bins), stream));
  launch_radial(samples, numbers_, centres,
                {request.r_max_A, request.bins, request.groups,
                 reinterpret_cast<unsigned long long*>(counts)},
                stream);
}

void RowFrames::reserve_scratch(unsigned fields, const DeviceState& d) {
  const auto replicas = static_cast<std::size_t>(d.replicas);
  const std::size_t sums = replicas * static_cast<std::size_t>(measured_chunks(d.molecules));
  if (fields & (kEnergyFields | kShape | kRadialCounts))
    centres_.reserve(sums * CentreTerm::kNumbers);
  if (fields & kEnergyFields) {
    energies_.reserve(sums * kEnergySums);
    if (numbers_.motionless) inertia_.reserve(sums * InertiaTerm::kNumbers);
    if (!pairs_in_chunk(d.molecules)) {
      tile_energies_.reserve(replicas * static_cast<std::size_t>(observed_tiles(d.molecules)));
    }
  }
  if (fields & kShape) shapes_.reserve(sums * ShapeTerm::kNumbers);
  if (fields & kGeometry) geometry_.reserve(sums * kGeometrySums);
  if (fields & kParts) {
    const std::size_t molecules = replicas * static_cast<std::size_t>(d.molecules);
    labels_.reserve(2 * molecules);
    part_sizes_.reserve(molecules);
  }
}

void RowFrames::reserve_ring_scratch(unsigned fields, const DeviceState& beads) {
  const auto count = static_cast<std::size_t>(beads.replicas);
  if (fields & (kEnergyFields | kRings | kRescaledEnergies | kRadialCounts)) {
    bead_centres_.reserve(count * CentreTerm::kNumbers);
  }
  if (fields & (kEnergyFields | kRings | kRescaledEnergies)) {
    bead_energies_.reserve(count * BeadTerm::kNumbers);
  }
  if (fields & kGeometry) bead_geometry_.reserve(count * kGeometrySums);
}

void RowFrames::begin(unsigned fields, const DeviceState& state, const RingPolymers* rings,
                      const ManyBodyStage* stage, const ClusterSystem& system, bool m_site,
                      std::int64_t step, cudaStream_t stream) {
  fields_ = fields;
  has_rings_ = rings != nullptr;
  const DeviceState& d = has_rings_ ? rings->centroids() : state;
  indices_known_ = samples_ > 1 && numbers_.molecules > 1;
  if (replica_ids_.empty()) return;
  const Layout layout = layout_of(fields);
  rows_.reserve(layout.size);
  const unsigned needed = row_fields_for(fields) | (fields & kRadialCounts);
  reserve_scratch(needed, d);
  if (has_rings_) {
    reserve_ring_scratch(needed, rings->beads());
  }
  // The rows of the previous frame have been copied: finish() waits for that.
  const MeasureScratch scratch{centres_.get(),
                               energies_.get(),
                               inertia_.get(),
                               tile_energies_.get(),
                               shapes_.get(),
                               geometry_.get(),
                               labels_.get(),
                               part_sizes_.get(),
                               stage != nullptr && !has_rings_ ? stage->numbers() : nullptr};
  const DeviceRows rows = rows_at(layout);
  const RingScratch ring_scratch{bead_centres_.get(), bead_energies_.get(), bead_geometry_.get(),
                                 stage != nullptr ? stage->numbers() : nullptr};
  if (has_rings_) {
    if ((fields & kRescaledEnergies) && settings_.exchange_every > 0) {
      const double* const factors = rings->factors(settings_.exchange_every, step);
      rings->rescale(state, factors, stream);
      if (stage != nullptr) stage->measure(rings->beads(), stream);
      launch_ring_potentials(*rings, numbers_, system, m_site, ring_scratch, factors, rows.rescaled,
                             stream);
    }
    rings->measure(state, stream);
  }
  const bool by_stage =
      stage != nullptr && (needed & (kEnergyFields | kRings | kShape | kDipoles)) != 0;
  if (by_stage) stage->measure(has_rings_ ? rings->beads() : d, stream);
  launch_measure(d, numbers_, system, m_site, scratch, rows,
                 {samples_, means_.get(), squares_.get()}, settings_.link_A, stream);
  if (has_rings_) {
    launch_ring_rows(state, *rings, numbers_, system, m_site, ring_scratch, rows, stream);
  }
  if (stage == nullptr && rows.dipoles != nullptr) {  // not numbers
    cuda_check(
        cudaMemsetAsync(rows.dipoles, 0xff, 3 * replica_ids_.size() * sizeof(double), stream));
  }
  if (by_stage) launch_dipole_rows(d.replicas, state.copies, stage->numbers(), rows, stream);
  launch_groups(layout, rows, has_rings_ ? rings->beads() : d,
                has_rings_ ? bead_centres_.get() : centres_.get(), d, stream);
  // Later steps may stop more replicas.
  cuda_check(cudaMemcpyAsync(rows_.get() + layout.stopped, d.stopped,
                             replica_ids_.size() * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  copies_.copy(rows_.get(), layout.size, host_, stream);
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

void RowFrames::take_moments(unsigned field, std::size_t begin, int numbers,
                             GroupMoments& to) const {
  if (!(fields_ & field)) {
    to = {};
    return;
  }
  to.groups = groups_.groups();
  to.numbers = numbers;
  const auto groups = static_cast<std::size_t>(to.groups);
  const std::size_t size = groups * static_cast<std::size_t>(numbers);
  if (replica_ids_.empty() || (field == kLindemannMoments && !indices_known_)) {
    to.counts.assign(size, 0);
    for (const std::size_t r : live_) ++to.counts[sample_group(replica_ids_[r], to.groups)];
    for (auto* values : {&to.pivots, &to.sums, &to.squares}) values->assign(size, kNoNumber);
    to.products.assign(groups, 0.0);
    return;
  }
  const unsigned char* from = host_.values().data() + begin;
  const auto take = [&](auto& values, std::size_t count) {
    values.resize(count);
    std::memcpy(values.data(), from, count * sizeof(values[0]));
    from += count * sizeof(values[0]);
  };
  take(to.counts, size);
  for (auto* values : {&to.pivots, &to.sums, &to.squares}) take(*values, size);
  take(to.products, groups);
}

void RowFrames::take_radial(std::size_t begin, RadialCounts& to) const {
  to = {};
  if (!(fields_ & kRadialCounts)) return;
  clear_radial(settings_.radial, to);
  if (replica_ids_.empty()) return;
  const unsigned char* from = host_.values().data() + begin;
  for (auto* counts : {&to.replicas, &to.oxygens, &to.hydrogens, &to.cosines}) {
    std::memcpy(counts->data(), from, counts->size() * sizeof(std::int64_t));
    from += counts->size() * sizeof(std::int64_t);
  }
}

void RowFrames::finish(Frame& frame) {
  const Layout layout = layout_of(fields_);
  if (!replica_ids_.empty()) copies_.wait();
  const int* const stopped = reinterpret_cast<const int*>(host_.values().data() + layout.stopped);
  live_.clear();
  for (std::size_t r = 0; r < replica_ids_.size(); ++r) {
    if (stopped[r] == 0) live_.push_back(r);
  }
  frame.replica_ids.clear();
  for (const std::size_t r : live_) frame.replica_ids.push_back(replica_ids_[r]);
  for_each_field([&](const auto& f) {
    const bool exists = f.bit != kRings || has_rings_;
    if (f.is_row()) take((fields_ & f.bit) && exists, layout.begin(f.bit), frame.*f.member);
  });
  if (!has_rings_ || settings_.exchange_every <= 0) {
    std::fill(frame.rescaled_energies_kcal_per_mol.begin(),
              frame.rescaled_energies_kcal_per_mol.end(), kNoNumber);
  }
  for (const auto& [field, numbers, member] : kMomentFields) {
    take_moments(field, layout.begin(field), numbers, frame.*member);
  }
  take_radial(layout.begin(kRadialCounts), frame.radial_counts);
  if (!indices_known_) {
    std::fill(frame.lindemann.begin(), frame.lindemann.end(),
              std::numeric_limits<double>::quiet_NaN());
  }
}

void RowFrames::add_distances(const DeviceState& state, const RingPolymers* rings,
                              cudaStream_t stream) {
  ++samples_;
  if (rings != nullptr) launch_centroids(state, rings->centroids(), stream);
  launch_add_distances(rings != nullptr ? rings->centroids() : state, numbers_.step.bh2,
                       {samples_, means_.get(), squares_.get()}, stream);
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
