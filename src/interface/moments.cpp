#include "moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.hpp"
#include "measure.hpp"
#include "physics/bias.hpp"
#include "physics/cluster_shape.hpp"
#include "physics/radial.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn {
namespace {

/// Fewer numbers than this are faster on one thread.
constexpr std::size_t kFewNumbers = 16'384;
constexpr int kMostNumbers = 16;

/// Moments of some numbers of the rows, from `first` to before `last`.
void add_group(std::span<const double> rows, int numbers, const ReplicaGroups& groups, int group,
               int first, int last, bool unknown_is_left_out, GroupMoments& moments) {
  const auto row_at = [&](int place) { return rows.data() + std::ptrdiff_t{place} * numbers; };
  double pivots[kMostNumbers];
  std::int64_t counts[kMostNumbers] = {};
  int earliest[kMostNumbers];
  const auto is_left_out = [&](double x) { return unknown_is_left_out && std::isnan(x); };
  for (int k = 0; k < last - first; ++k) earliest[k] = -1;
  for (int lane = 0; lane < kMomentLanes; ++lane) {
    for (const int place : groups.lane(group, lane)) {
      const double* const row = row_at(place) + first;
      for (int k = 0; k < last - first; ++k) {
        if (is_left_out(row[k])) continue;
        ++counts[k];
        if (earliest[k] < 0 || place < earliest[k]) earliest[k] = place;
      }
    }
  }
  for (int k = 0; k < last - first; ++k) {
    pivots[k] = earliest[k] < 0 ? 0.0 : row_at(earliest[k])[first + k];
  }
  const bool has_product = last == numbers && last - first > 1;
  // Lanes after the last one with a replica would add zeros.
  int lanes = kMomentLanes;
  while (lanes > 1 && groups.lane(group, lanes - 1).empty()) --lanes;
  std::vector<std::array<MomentSums, kMostNumbers>> sums(static_cast<std::size_t>(lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    auto& of_lane = sums[static_cast<std::size_t>(lane)];
    for (const int place : groups.lane(group, lane)) {
      const double* const row = row_at(place) + first;
      const double next_off = has_product ? row[last - first - 1] - pivots[last - first - 1] : 0.0;
      for (int k = 0; k < last - first; ++k) {
        if (is_left_out(row[k])) continue;
        of_lane[static_cast<std::size_t>(k)].add(row[k] - pivots[k], next_off);
      }
    }
  }
  for (std::size_t half = kMomentLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half && lane + half < sums.size(); ++lane) {
      for (std::size_t k = 0; k < kMostNumbers; ++k) sums[lane][k].add(sums[lane + half][k]);
    }
  }
  const auto begin = static_cast<std::size_t>(group * numbers + first);
  for (std::size_t k = 0; k < static_cast<std::size_t>(last - first); ++k) {
    moments.counts[begin + k] = counts[k];
    moments.pivots[begin + k] = pivots[k];
    moments.sums[begin + k] = sums[0][k].sum;
    moments.squares[begin + k] = sums[0][k].square;
  }
  if (has_product) {
    moments.products[static_cast<std::size_t>(group)] =
        sums[0][static_cast<std::size_t>(last - first - 2)].product;
  }
}

}  // namespace

void ReplicaGroups::sort(std::span<const std::int64_t> replica_ids) {
  if (!begins_.empty() && std::ranges::equal(replica_ids, ids_)) return;
  ids_.assign(replica_ids.begin(), replica_ids.end());
  begins_.assign(static_cast<std::size_t>(groups_ * kMomentLanes) + 1, 0);
  const auto lane_of = [&](std::int64_t id) {
    return static_cast<std::size_t>(sample_group(id, groups_) * kMomentLanes +
                                    moment_lane(id, groups_));
  };
  for (const std::int64_t id : ids_) ++begins_[lane_of(id) + 1];
  for (std::size_t l = 1; l < begins_.size(); ++l) begins_[l] += begins_[l - 1];
  places_.resize(ids_.size());
  std::vector<int> next = begins_;
  for (std::size_t r = 0; r < ids_.size(); ++r) {
    places_[static_cast<std::size_t>(next[lane_of(ids_[r])]++)] = static_cast<int>(r);
  }
}

void make_moments(std::span<const double> rows, int numbers, const ReplicaGroups& groups,
                  bool unknown_is_left_out, int threads, GroupMoments& moments) {
  moments.groups = groups.groups();
  moments.numbers = numbers;
  const auto size = static_cast<std::size_t>(groups.groups() * numbers);
  moments.counts.resize(size);
  moments.pivots.resize(size);
  moments.sums.resize(size);
  moments.squares.resize(size);
  moments.products.assign(static_cast<std::size_t>(groups.groups()), 0.0);
  // The last two numbers are in the same part.
  const int parts = (numbers + kMostNumbers - 1) / kMostNumbers;
  const int in_part = (numbers + parts - 1) / parts;
  for_each_index(groups.groups() * parts, rows.size() < kFewNumbers ? 1 : threads,
                 [&](std::int64_t i) {
                   const int group = static_cast<int>(i) / parts;
                   const int first = static_cast<int>(i) % parts * in_part;
                   add_group(rows, numbers, groups, group, first,
                             std::min(first + in_part, numbers), unknown_is_left_out, moments);
                 });
}

unsigned row_fields_for(unsigned fields) {
  unsigned rows = fields & kRowFields;
  if (fields & kEnergyMoments) rows |= kEnergies | kExchangeEnergies;
  if (fields & kRings) rows |= kEnergies;
  if (fields & kShapeMoments) rows |= kShape;
  if (fields & kGeometryMoments) rows |= kGeometry;
  if (fields & kLindemannMoments) rows |= kLindemann;
  return rows;
}

void fill_moments(unsigned fields, bool flexible, ReplicaGroups& groups, int threads,
                  Frame& frame) {
  if (fields & kGroupFields) groups.sort(frame.replica_ids);
  const auto of_structs = [&](bool wanted, const auto& rows, GroupMoments& moments) {
    if (!wanted) {
      moments = {};
      return;
    }
    constexpr std::size_t kNumbers = sizeof(rows[0]) / sizeof(double);
    const std::span<const double> numbers(reinterpret_cast<const double*>(rows.data()),
                                          rows.size() * kNumbers);
    make_moments(numbers, kNumbers, groups, false, threads, moments);
  };
  of_structs(fields & kShapeMoments, frame.shape, frame.shape_moments);
  of_structs(fields & kGeometryMoments, frame.geometry, frame.geometry_moments);
  of_structs(fields & kLindemannMoments, frame.lindemann, frame.lindemann_moments);
  if (!(fields & kEnergyMoments)) {
    frame.energy_moments = {};
    return;
  }
  std::vector<double> rows(frame.live() * EnergyMoment::kNumbers);
  for (std::size_t r = 0; r < frame.live(); ++r) {
    energy_moment_row(flexible, frame.energies[r], frame.exchange_energies_kcal_per_mol[r],
                      &rows[r * EnergyMoment::kNumbers]);
  }
  make_moments(rows, EnergyMoment::kNumbers, groups, false, threads, frame.energy_moments);
}

void drop_rows(unsigned fields, Frame& frame) {
  for_each_field([&](const auto& f) {
    if (f.is_row() && !(fields & f.bit)) (frame.*f.member).clear();
  });
}

void clear_radial(const RadialRequest& request, RadialCounts& counts) {
  const auto groups = static_cast<std::size_t>(request.groups);
  counts.replicas.assign(groups, 0);
  for (auto* numbers : {&counts.oxygens, &counts.hydrogens, &counts.cosines}) {
    numbers->assign(groups * static_cast<std::size_t>(request.bins), 0);
  }
}

void add_radial(std::span<const double> positions_A, const ClusterMasses& masses,
                const RadialRequest& request, int group, RadialCounts& counts) {
  const std::size_t molecules = positions_A.size() / kCoordinatesPerMolecule;
  const Vec3<double> centre = centre_of_mass(positions_A, masses);
  const RadialShells shells{request.r_max_A, request.bins};
  const std::size_t begin = static_cast<std::size_t>(group) * static_cast<std::size_t>(shells.bins);
  ++counts.replicas[static_cast<std::size_t>(group)];
  for (std::size_t m = 0; m < molecules; ++m) {
    const RadialTerm term = radial_term(molecule_at(positions_A.data(), m), centre, shells);
    if (term.oxygen >= 0) {
      ++counts.oxygens[begin + static_cast<std::size_t>(term.oxygen)];
      counts.cosines[begin + static_cast<std::size_t>(term.oxygen)] += term.cosine;
    }
    for (const int shell : term.hydrogens) {
      if (shell >= 0) ++counts.hydrogens[begin + static_cast<std::size_t>(shell)];
    }
  }
}

void add_radial(const RadialCounts& from, RadialCounts& to) {
  const auto add = [](const std::vector<std::int64_t>& more, std::vector<std::int64_t>& sums) {
    for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
  };
  add(from.replicas, to.replicas);
  add(from.oxygens, to.oxygens);
  add(from.hydrogens, to.hydrogens);
  add(from.cosines, to.cosines);
}

}  // namespace tarn
