#include "block_measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "interface/moments.hpp"
#include "physics/cluster_shape.hpp"
#include "physics/geometry.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/core/units.hpp"

namespace tarn::cpu {
namespace {

/// The lane of each number of [number][lane].
template <std::size_t kNumbers>
void take_lane(const AlignedVector<double>& numbers, int lanes, int lane, double (&out)[kNumbers]) {
  for (std::size_t k = 0; k < kNumbers; ++k) {
    out[k] = numbers[k * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(lane)];
  }
}

const Group& group_of(const std::vector<Group>& groups, int replica) {
  const auto after =
      std::upper_bound(groups.begin(), groups.end(), replica,
                       [](int r, const Group& group) { return r < group.first_replica; });
  return *std::prev(after);
}

}  // namespace

BlockMeasure::BlockMeasure(const System& system, const GroupLayout& layout,
                           const KernelTable& kernels, const PotentialForces* potential,
                           std::int64_t replicas)
    : layout_(layout),
      kernels_(kernels),
      potential_(potential),
      model_(system.model),
      numbers_(measure_numbers(system)),
      masses_(system),
      pair_(pair_parameters<double>(system.model)),
      n_(system.molecules),
      lanes_(kernels.lanes),
      replicas_(replicas) {}

BlockMeasure::Space BlockMeasure::make_space() const {
  const auto lanes = static_cast<std::size_t>(lanes_);
  const std::size_t coordinates = 9 * static_cast<std::size_t>(n_);
  Space s;
  s.q.resize(coordinates * lanes);
  s.sums.resize(EnergyTerm::kNumbers * lanes);
  s.inertia.resize(InertiaTerm::kNumbers * lanes);
  s.potential.resize(lanes);
  s.row.resize(lanes);
  s.one_x.resize(coordinates);
  s.one_v.resize(coordinates);
  if (!is_small_cluster(n_)) s.force_field.emplace(model_, n_);
  return s;
}

MeasuredPacks BlockMeasure::packs_of(std::int64_t block, const std::vector<Group>& groups,
                                     Space& s) const {
  const auto first = static_cast<int>(block * lanes_);
  const Group& group = group_of(groups, first);
  if (group.lanes_are_replicas && !layout_.has_rings() &&
      (first - group.first_replica) % lanes_ == 0) {
    const std::size_t at = layout_.index(group, first - group.first_replica, 0, 0);
    const double* const v_thermal = group.v_thermal.empty() ? nullptr : group.v_thermal.data() + at;
    return {group.x.data() + at, group.v.data() + at, group.a.data() + at, s.q.data(), v_thermal};
  }
  const std::size_t size = s.q.size();
  for (AlignedVector<double>* to : {&s.x, &s.v, &s.a}) to->resize(size);
  const bool baoab = !group.v_thermal.empty();
  if (baoab) s.v_thermal.resize(size);
  for (int lane = 0; lane < lanes_; ++lane) {
    // Lanes beyond the last replica repeat it.
    const int replica = static_cast<int>(std::min<std::int64_t>(first + lane, replicas_ - 1));
    const Group& from = group_of(groups, replica);
    const int slot = layout_.first_slot(replica - from.first_replica);
    const double scale = layout_.centroid_scale();
    for (int m = 0; m < n_; ++m) {
      for (int c = 0; c < 9; ++c) {
        const std::size_t i = layout_.index(from, slot, m, c);
        const std::size_t to = pack_index(lanes_, static_cast<std::size_t>(m), c, lane);
        s.x[to] = scale * from.x[i];
        s.v[to] = scale * from.v[i];
        s.a[to] = layout_.has_rings() ? 0.0 : from.a[i];
        if (baoab) s.v_thermal[to] = scale * from.v_thermal[i];
      }
    }
  }
  return {s.x.data(), s.v.data(), s.a.data(), s.q.data(), baoab ? s.v_thermal.data() : nullptr};
}

void BlockMeasure::replica_of_lane(const double* packed, int lane, std::vector<double>& out) const {
  for (int m = 0; m < n_; ++m) {
    for (int c = 0; c < 9; ++c) {
      out[9 * m + c] = packed[pack_index(lanes_, static_cast<std::size_t>(m), c, lane)];
    }
  }
}

double BlockMeasure::heat_of(int replica, const std::vector<Group>& groups) const {
  const Group& group = group_of(groups, replica);
  if (!group.tallies_heat()) return 0.0;
  const int first = layout_.first_slot(replica - group.first_replica);
  double sum = 0.0;
  for (int slot = first; slot < first + layout_.copies(); ++slot) {
    for (int m = 0; m < n_; ++m) sum += group.heat[layout_.heat_index(group, slot, m)];
  }
  return sum;
}

BiasMeasure BlockMeasure::bias_of(int replica, int lane, const std::vector<Group>& groups,
                                  const Space& s) const {
  if (numbers_.biases.count == 0) return {};
  const Group& group = group_of(groups, replica);
  const int centres = layout_.has_rings() ? group.replicas : group.slots;
  return measure_biases(numbers_.biases, n_, &group.bias_centres[replica - group.first_replica],
                        centres, [&](int k) -> Vec3<double> {
                          const double* const q =
                              &s.q[pack_index(lanes_, static_cast<std::size_t>(k), 0, lane)];
                          return {q[0], q[lanes_], q[2 * lanes_]};
                        });
}

std::array<double, 3> BlockMeasure::dipole_of_potential(int replica) const {
  if (potential_ == nullptr || potential_->dipoles().empty()) {
    return {kNoNumber, kNoNumber, kNoNumber};
  }
  const auto size = 3 * static_cast<std::size_t>(layout_.copies());
  const double* const dipoles = &potential_->dipoles()[static_cast<std::size_t>(replica) * size];
  std::array<double, 3> mean{};
  for (std::size_t i = 0; i < size; ++i) mean[i % 3] += dipoles[i] / layout_.copies();
  return mean;
}

/// @param for_each_live calls op(lane, place in the frame) for each running replica of the block
template <class ForEachLive>
void BlockMeasure::fill_energies(unsigned fields, std::int64_t block, const MeasuredPacks& packs,
                                 const std::vector<Group>& groups, const ForEachLive& for_each_live,
                                 Space& s, Frame& frame) const {
  kernels_.measure.energy_sums[has_isotopes()](numbers_, masses_.isotopes.data(), packs,
                                               s.sums.data(), s.inertia.data());
  if (potential_ != nullptr) {
    for_each_live([&](int lane, std::size_t) {
      const auto replica = static_cast<std::size_t>(block * lanes_ + lane);
      s.potential[lane] =
          potential_->energies()[replica * static_cast<std::size_t>(layout_.copies())];
    });
  } else if (is_small_cluster(n_)) {
    kernels_.measure.potential_energies[model_.has_m_site()](pair_, s.q.data(), n_,
                                                             s.potential.data());
  } else {
    for_each_live([&](int lane, std::size_t) {
      replica_of_lane(s.q.data(), lane, s.one_x);
      s.potential[lane] = s.force_field->energy(s.one_x).between_molecules_kcal_per_mol();
    });
  }
  for_each_live([&](int lane, std::size_t at) {
    double sums[EnergyTerm::kNumbers], inertia[InertiaTerm::kNumbers];
    take_lane(s.sums, lanes_, lane, sums);
    take_lane(s.inertia, lanes_, lane, inertia);
    const auto put = [&](const std::vector<double>& of_potential, EnergyTerm::Number term) {
      if (of_potential.empty()) return;
      sums[term] = of_potential[static_cast<std::size_t>(block * lanes_ + lane)];
    };
    if (potential_ != nullptr) {
      put(potential_->bond_energies(), EnergyTerm::kBondEnergy);
      put(potential_->field_energies(), EnergyTerm::kField);
    }
    const BiasMeasure bias = bias_of(static_cast<int>(block * lanes_ + lane), lane, groups, s);
    const Energies e =
        energies_of(numbers_, sums, degrees_of_freedom(numbers_, inertia), s.potential[lane], bias);
    if (fields & kEnergies) frame.energies[at] = e;
    if (fields & kExchangeEnergies) {
      frame.exchange_energies_kcal_per_mol[at] = exchange_energy_of(numbers_, e);
    }
    if (!(fields & kConservation)) return;
    std::array<double, kConservationNumbers> row;
    conservation_of(sums, e.total_kcal_per_mol, row.data());
    std::memcpy(static_cast<void*>(&frame.conservation[at]), row.data(), sizeof(row));
    if (potential_ != nullptr && !numbers_.rigid) frame.conservation[at].constraint_max_A2 = 0.0;
  });
}

void BlockMeasure::fill(unsigned fields, std::int64_t block, const std::vector<Group>& groups,
                        const std::vector<std::int64_t>& place, const MeasureSettings& settings,
                        Space& s, RadialCounts* radial, Frame& frame) const {
  const MeasuredPacks packs = packs_of(block, groups, s);
  kernels_.measure.reported(numbers_.step.bh2, packs, n_, s.q.data());
  const auto first = block * lanes_;
  const int lanes = static_cast<int>(std::min<std::int64_t>(lanes_, replicas_ - first));
  const auto for_each_live = [&](const auto& op) {
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t at = place[first + lane];
      if (at >= 0) op(lane, static_cast<std::size_t>(at));
    }
  };
  if (fields & (kEnergies | kConservation | kExchangeEnergies)) {
    fill_energies(fields, block, packs, groups, for_each_live, s, frame);
  }
  if (fields & kHeat) {
    for_each_live([&](int lane, std::size_t at) {
      frame.heat_kcal_per_mol[at] = heat_of(static_cast<int>(first) + lane, groups);
    });
  }
  if (fields & kDipoles) {
    for_each_live([&](int lane, std::size_t at) {
      frame.dipoles_e_A[at] = dipole_of_potential(static_cast<int>(first) + lane);
    });
  }
  if (fields & kShape) {
    kernels_.measure.shape_sums[has_isotopes()](numbers_, masses_.isotopes.data(), s.q.data(),
                                                s.sums.data());
    for_each_live([&](int lane, std::size_t at) {
      double sums[ShapeTerm::kNumbers];
      take_lane(s.sums, lanes_, lane, sums);
      frame.shape[at] = cluster_measures(sums, n_);
      if (potential_ == nullptr) return;
      // The charges of the molecules are unknown, and their sum, with induced dipoles, may be
      // known.
      frame.shape[at].molecule_dipole_D = kNoNumber;
      const auto [x, y, z] = dipole_of_potential(static_cast<int>(first) + lane);
      put_dipole({x, y, z}, frame.shape[at]);
    });
  }
  if (fields & kGeometry) {
    const auto measure = [&](const double* c, MoleculeGeometry Geometry::*where) {
      kernels_.measure.geometry(c, n_, s.sums.data());
      for_each_live([&](int lane, std::size_t at) {
        double all[GeometryTerm::kNumbers];
        take_lane(s.sums, lanes_, lane, all);
        frame.geometry[at].*where = molecule_geometry(all, n_);
      });
    };
    measure(s.q.data(), &Geometry::reported);
    measure(packs.x, &Geometry::own);
  }
  if (radial != nullptr) {
    for_each_live([&](int lane, std::size_t at) {
      replica_of_lane(s.q.data(), lane, s.one_x);
      add_radial(s.one_x, masses_, settings.radial,
                 sample_group(frame.replica_ids[at], settings.radial.groups), *radial);
    });
  }
  if (fields & kParts) {
    kernels_.measure.farthest_from_first(s.q.data(), n_, s.row.data());
    for_each_live([&](int lane, std::size_t at) {
      frame.parts[at] = {};
      if (s.row[lane] < settings.link_A * settings.link_A) return;
      replica_of_lane(s.q.data(), lane, s.one_x);
      replica_of_lane(packs.v, lane, s.one_v);
      frame.parts[at] = cluster_parts(s.one_x, s.one_v, masses_, settings.link_A);
    });
  }
  if (fields & kLindemann) {
    const bool known = has_sums() && samples_ > 1 && n_ > 1;
    if (known) {
      kernels_.measure.lindemann_indices(n_, static_cast<double>(samples_),
                                         means_.data() + sums_at(block),
                                         squares_.data() + sums_at(block), s.row.data());
    }
    for_each_live([&](int lane, std::size_t at) {
      frame.lindemann[at] = known ? s.row[lane] : std::numeric_limits<double>::quiet_NaN();
    });
  }
}

void BlockMeasure::begin_sums(const LindemannSums& from,
                              const std::vector<std::int64_t>& replica_ids) {
  const std::size_t size = sums_at(blocks());
  means_.assign(std::max<std::size_t>(size, 1), 0.0);
  squares_.assign(means_.size(), 0.0);
  samples_ = from.samples;
  std::unordered_map<std::int64_t, std::size_t> places;
  for (std::size_t r = 0; r < from.replica_ids.size(); ++r) places[from.replica_ids[r]] = r;
  for (std::size_t r = 0; r < replica_ids.size(); ++r) {
    const auto found = places.find(replica_ids[r]);
    if (found == places.end()) continue;
    const auto lanes = static_cast<std::size_t>(lanes_);
    for (std::size_t p = 0; p < pairs(); ++p) {
      const std::size_t to = sums_at(static_cast<std::int64_t>(r / lanes)) + p * lanes + r % lanes;
      means_[to] = from.means_A[found->second * pairs() + p];
      squares_[to] = from.squares_A2[found->second * pairs() + p];
    }
  }
}

void BlockMeasure::add_distances(std::int64_t block, const std::vector<Group>& groups, Space& s) {
  kernels_.measure.reported(numbers_.step.bh2, packs_of(block, groups, s), n_, s.q.data());
  kernels_.measure.add_distances(s.q.data(), n_, static_cast<double>(samples_ + 1),
                                 means_.data() + sums_at(block), squares_.data() + sums_at(block));
}

void BlockMeasure::put_sums(const std::vector<std::int64_t>& place, Frame& frame) const {
  LindemannSums& sums = frame.lindemann_sums;
  sums = {samples_, frame.replica_ids, {}, {}};
  if (!has_sums()) return;
  sums.means_A.resize(frame.replica_ids.size() * pairs());
  sums.squares_A2.resize(sums.means_A.size());
  const auto lanes = static_cast<std::size_t>(lanes_);
  for (std::size_t r = 0; r < place.size(); ++r) {
    if (place[r] < 0) continue;
    for (std::size_t p = 0; p < pairs(); ++p) {
      const std::size_t from =
          sums_at(static_cast<std::int64_t>(r / lanes)) + p * lanes + r % lanes;
      const std::size_t to = static_cast<std::size_t>(place[r]) * pairs() + p;
      sums.means_A[to] = means_[from];
      sums.squares_A2[to] = squares_[from];
    }
  }
}

namespace {

/// Molecules whose distances one thread counts at a time.
constexpr int kCountGrain = 32;

/// Numbers of one group of replicas, all pair classes.
std::size_t counts_of_group(const PairCountRequest& request) {
  return static_cast<std::size_t>(kPairClasses) * static_cast<std::size_t>(request.bins + 1);
}

}  // namespace

void PairHistograms::prepare(const PairCountRequest& request) {
  if (!request.enabled) return;
  counts.resize(static_cast<std::size_t>(request.groups) * counts_of_group(request));
  samples.resize(static_cast<std::size_t>(request.groups));
}

void count_group(const PairCountRequest& request, const KernelTable& kernels,
                 const GroupLayout& layout, const Group& group, const AlignedVector<double>& q,
                 TeamMember& member, PairHistograms& histograms) {
  const int lanes = kernels.lanes, n = layout.molecules();
  std::array<std::uint64_t*, kPadding> of_lanes{};
  for (int first = 0; first < layout.first_slot(group.replicas); first += lanes) {
    for (int l = 0; l < (group.lanes_are_replicas ? lanes : 1); ++l) {
      const int r = (first + l) / layout.copies();
      of_lanes[l] = nullptr;
      if (r >= group.replicas || group.stopped[r]) continue;
      const auto id = static_cast<std::int64_t>(group.ids[first + l]);
      const auto count_group = static_cast<std::size_t>(sample_group(id, request.groups));
      of_lanes[l] = histograms.counts.data() + count_group * counts_of_group(request);
      if (member.rank() == 0) ++histograms.samples[count_group];
    }
    member.for_each_task((n + kCountGrain - 1) / kCountGrain, [&](int k) {
      kernels.count_pairs({q.data() + static_cast<std::size_t>(first / lanes * n) * 9 *
                                          static_cast<std::size_t>(lanes),
                           group.lanes_are_replicas,
                           n,
                           {request.pairs[0], request.pairs[1], request.pairs[2]},
                           request.bins / request.r_max_A,
                           request.bins,
                           k * kCountGrain,
                           std::min((k + 1) * kCountGrain, n),
                           of_lanes.data()});
    });
  }
}

void add_counts(const PairCountRequest& request, const PairHistograms& histograms, Frame& frame) {
  if (histograms.counts.empty()) return;
  const std::size_t rows = static_cast<std::size_t>(request.groups) * kPairClasses;
  const std::size_t bins = static_cast<std::size_t>(request.bins);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t b = 0; b < bins; ++b) {
      frame.pair_counts[row * bins + b] += histograms.counts[row * (bins + 1) + b];
    }
  }
  for (std::size_t g = 0; g < histograms.samples.size(); ++g) {
    frame.pair_samples[g] += histograms.samples[g];
  }
}

}  // namespace tarn::cpu
