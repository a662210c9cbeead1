#include "frame_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "interface/measure.hpp"
#include "tarn/exchange.hpp"

namespace tarn::parallel {
namespace {

template <class T>
void append_all(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}
/// Concatenates a member of all frames.
template <class T>
void concatenate(std::span<const Frame> parts, std::vector<T> Frame::*member, Frame& whole) {
  (whole.*member).clear();
  for (const Frame& part : parts) append_all(part.*member, whole.*member);
}

/// Adds a member of all frames, number by number; those of some frames may be missing.
template <class T>
void add(std::span<const Frame> parts, std::vector<T> Frame::*member, Frame& whole) {
  std::vector<T>& sums = whole.*member;
  sums = parts.front().*member;
  for (const Frame& part : parts.subspan(1)) {
    for (std::size_t i = 0; i < (part.*member).size(); ++i) sums[i] += (part.*member)[i];
  }
}

void join_lindemann_sums(std::span<const Frame> parts, LindemannSums& whole) {
  whole = {};
  whole.samples = parts.front().lindemann_sums.samples;
  for (const Frame& part : parts) {
    append_all(part.lindemann_sums.replica_ids, whole.replica_ids);
    append_all(part.lindemann_sums.means_A, whole.means_A);
    append_all(part.lindemann_sums.squares_A2, whole.squares_A2);
  }
}

/// The different texts, in the order of their first occurrence.
std::vector<std::string> different(std::span<const std::string> texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) {
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  return all;
}

}  // namespace

void join_frames(std::span<const Frame> parts, unsigned fields, bool flexible,
                 ReplicaGroups& groups, int threads, Frame& whole) {
  const Frame& first = parts.front();
  whole.step = first.step;
  whole.time_ps = first.time_ps;
  whole.molecules = first.molecules;
  whole.beads = first.beads;
  concatenate(parts, &Frame::replica_ids, whole);
  for_each_field([&](const auto& f) { concatenate(parts, f.member, whole); });
  join_lindemann_sums(parts, whole.lindemann_sums);
  add(parts, &Frame::pair_counts, whole);
  add(parts, &Frame::pair_samples, whole);
  whole.radial_counts = first.radial_counts;
  for (const Frame& part : parts.subspan(1)) add_radial(part.radial_counts, whole.radial_counts);
  fill_moments(fields, flexible, groups, threads, whole);
  drop_rows(fields, whole);
}

std::vector<BlowUp> joined(std::span<const std::vector<BlowUp>> parts) {
  std::vector<BlowUp> all;
  for (const auto& part : parts) append_all(part, all);
  std::ranges::sort(all, {}, &BlowUp::replica);
  return all;
}

std::string joined_description(std::span<const std::string> parts) {
  const std::vector<std::string> texts = different(parts);
  std::string all;
  for (const std::string& text : texts) {
    const auto count = std::count(parts.begin(), parts.end(), text);
    if (!all.empty()) all += "; ";
    if (parts.size() > 1) all += std::to_string(count) + " x ";
    all += text;
  }
  return all;
}

std::string joined_arithmetic(std::span<const std::string> parts) {
  std::string all;
  for (const std::string& text : different(parts)) all += (all.empty() ? "" : " and ") + text;
  return all;
}

void put_replicas(std::span<const std::int64_t> ids, EnginePart& part) {
  part.replicas = std::ssize(ids);
  if (ids.empty()) return;
  part.first_replica = ids.front();
  part.last_replica = ids.back();
}

std::vector<std::int64_t> PartExchanges::leaving() const {
  std::vector<std::int64_t> ids;
  for (const ReceivedCoordinates& r : across) ids.push_back(r.replica);
  return ids;
}

std::vector<PartExchanges> divide_exchanges(
    std::span<const StateExchange> pairs,
    std::span<const std::pair<std::size_t, std::size_t>> parts_of_pairs, std::size_t parts) {
  std::vector<PartExchanges> all(parts);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto [first, second] = parts_of_pairs[k];
    if (first == second) {
      all[first].within.push_back(pairs[k]);
      continue;
    }
    const std::size_t place_of_first = all[first].across.size();
    all[first].sources.push_back({second, all[second].across.size()});
    all[second].sources.push_back({first, place_of_first});
    all[first].across.push_back({pairs[k].first, pairs[k].to_first, pairs[k].second});
    all[second].across.push_back({pairs[k].second, pairs[k].to_second, pairs[k].first});
  }
  return all;
}

std::vector<std::size_t> share_begins(std::size_t replicas, std::size_t parts,
                                      const System& system) {
  // Replicas that the CPU advances together, on the widest instruction set.
  constexpr std::size_t kPack = 8;
  const std::size_t ladder = std::max<std::size_t>(1, ladder_length(system));
  std::size_t unit = 1;
  for (const std::size_t wanted : {std::lcm(ladder, kPack), ladder, kPack}) {
    if (replicas / wanted < parts) continue;
    unit = wanted;
    break;
  }
  const std::size_t units = (replicas + unit - 1) / unit;
  // Fewer units than parts: one each, and none for the others.
  const std::size_t sharing = std::max<std::size_t>(1, std::min(parts, units));
  std::vector<std::size_t> begins(parts + 1, replicas);
  for (std::size_t part = 0; part < sharing; ++part) begins[part] = units * part / sharing * unit;
  return begins;
}

State empty_like(const State& state) {
  State empty;
  empty.molecules = state.molecules;
  empty.step = state.step;
  empty.beads = state.beads;
  return empty;
}

void append_replica(const State& from, std::size_t r, State& to) {
  to.replica_ids.push_back(from.replica_ids[r]);
  const std::size_t size = from.ring_coordinates();
  append_part(from.positions_A, r, size, to.positions_A);
  append_part(from.velocities_A_per_akma, r, size, to.velocities_A_per_akma);
  if (from.heat_kcal_per_mol.empty()) return;
  append_part(from.heat_kcal_per_mol, r, size / kCoordinatesPerMolecule, to.heat_kcal_per_mol);
}

State share_of(const State& state, std::size_t begin, std::size_t end) {
  State share = empty_like(state);
  for (std::size_t r = begin; r < end; ++r) append_replica(state, r, share);
  return share;
}

State joined(std::span<const State> shares) {
  if (shares.empty()) return {};
  State all = empty_like(shares.front());
  for (const State& share : shares) {
    for (std::size_t r = 0; r < share.replica_ids.size(); ++r) append_replica(share, r, all);
  }
  return all;
}

}  // namespace tarn::parallel
