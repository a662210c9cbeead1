#include "isomers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tarn/core/error.hpp"

namespace tarn::analysis {

IsomerPaths::IsomerPaths(std::int64_t walkers)
    : visits_(static_cast<std::size_t>(std::min(walkers, kMostWalkers))) {}

void IsomerPaths::add(std::int64_t walker, std::int64_t id) {
  if (walker >= std::ssize(visits_)) return;
  std::vector<std::int64_t>& visits = visits_[static_cast<std::size_t>(walker)];
  if (std::ssize(visits) == kMostVisits || (!visits.empty() && visits.back() == id)) return;
  visits.push_back(id);
}

double IsomerPaths::changes_per_walker(std::span<const std::int64_t> ids,
                                       const std::function<bool(std::int64_t)>& counts) const {
  double changes = 0.0, walkers = 0.0;
  for (std::size_t walker = 0; walker < visits_.size(); ++walker) {
    if (counts && !counts(static_cast<std::int64_t>(walker))) continue;
    walkers += 1.0;
    std::int64_t last = -1;
    for (const std::int64_t id : visits_[walker]) {
      if (std::ranges::find(ids, id) == ids.end()) continue;
      changes += last >= 0 && id != last ? 1.0 : 0.0;
      last = id;
    }
  }
  return walkers > 0.0 ? changes / walkers : 0.0;
}

std::vector<std::int64_t> IsomerPaths::memory() const {
  std::vector<std::int64_t> memory;
  for (const std::vector<std::int64_t>& visits : visits_) {
    memory.push_back(std::ssize(visits));
    memory.insert(memory.end(), visits.begin(), visits.end());
  }
  return memory;
}

void IsomerPaths::restore(std::span<const std::int64_t> memory) {
  const auto require = [](bool holds) {
    if (!holds) throw LayoutError("the visited isomers have the wrong amount of data");
  };
  for (std::vector<std::int64_t>& visits : visits_) {
    require(!memory.empty());
    const auto length = static_cast<std::size_t>(memory.front());
    require(length < memory.size());
    const std::span<const std::int64_t> own = memory.subspan(1, length);
    visits.assign(own.begin(), own.end());
    memory = memory.subspan(1 + length);
  }
  require(memory.empty());
}

IsomerCensus::IsomerCensus(std::size_t most, double same_kcal_per_mol,
                           std::span<const int> replicas, int parts, std::int64_t walkers,
                           int starts)
    : most_(most),
      same_kcal_per_mol_(same_kcal_per_mol),
      elsewhere_{0.0, {}, {}, Halves::of_replicas(parts, starts)},
      paths_(walkers) {
  for (const int n : replicas) {
    elsewhere_.shares.push_back(PooledBlocking::of_replicas(n, starts));
  }
  elsewhere_.shares.push_back(PooledBlocking::of_replicas(parts, starts));
}

std::size_t IsomerCensus::find_or_insert(const QuenchedCluster& cluster) {
  const double energy = cluster.energy_kcal_per_mol;
  const auto at = std::lower_bound(
      isomers_.begin(), isomers_.end(), energy,
      [](const Isomer& isomer, double e) { return isomer.energy_kcal_per_mol < e; });
  const auto is_it = [&](auto isomer) {
    return std::abs(isomer->energy_kcal_per_mol - energy) < same_kcal_per_mol_;
  };
  if (at != isomers_.end() && is_it(at)) return static_cast<std::size_t>(at - isomers_.begin());
  if (at != isomers_.begin() && is_it(at - 1)) {
    return static_cast<std::size_t>(at - 1 - isomers_.begin());
  }
  if (at == isomers_.end() && isomers_.size() == most_) return most_;
  const auto place = static_cast<std::size_t>(at - isomers_.begin());
  Isomer isomer = elsewhere_;
  isomer.energy_kcal_per_mol = energy;
  isomer.positions_A.assign(cluster.positions_A.begin(), cluster.positions_A.end());
  ++elsewhere_.id;
  isomers_.insert(at, std::move(isomer));
  if (isomers_.size() > most_) isomers_.pop_back();
  return place;
}

void IsomerCensus::add(std::span<const QuenchedCluster> clusters) {
  // Insert all minima before counting: a new minimum starts with the zeros of earlier steps.
  for (const QuenchedCluster& cluster : clusters) find_or_insert(cluster);
  std::vector<std::size_t> isomer_of;
  for (const QuenchedCluster& cluster : clusters) {
    isomer_of.push_back(find_or_insert(cluster));
    if (isomer_of.back() == isomers_.size()) continue;
    paths_.add(cluster.walker, isomers_[isomer_of.back()].id);
  }

  struct Member {
    std::size_t cluster;
    std::int64_t place;
  };
  std::vector<std::vector<Member>> members_of(elsewhere_.shares.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    members_of[clusters[i].group].push_back({i, clusters[i].place});
    members_of[all()].push_back({i, clusters[i].part});
  }
  for (std::size_t group = 0; group < elsewhere_.shares.size(); ++group) {
    const std::vector<Member>& members = members_of[group];
    if (members.empty()) continue;
    std::vector<std::int64_t> places;
    for (const Member& member : members) places.push_back(member.place);
    std::vector<double> is_in(members.size(), 0.0);
    elsewhere_.shares[group].add_replicas(places, is_in);
    if (group == all()) elsewhere_.halves.add_replicas(places, is_in);
    for (std::size_t isomer = 0; isomer < isomers_.size(); ++isomer) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        is_in[i] = isomer_of[members[i].cluster] == isomer ? 1.0 : 0.0;
      }
      isomers_[isomer].shares[group].add_replicas(places, is_in);
      if (group == all()) isomers_[isomer].halves.add_replicas(places, is_in);
    }
  }
}

std::vector<const Isomer*> IsomerCensus::isomers_above(double share, std::size_t group) const {
  std::vector<const Isomer*> found;
  for (const Isomer& isomer : isomers_) {
    if (isomer.shares[group].result().mean >= share) found.push_back(&isomer);
  }
  std::ranges::stable_sort(found, std::greater{}, [group](const Isomer* isomer) {
    return isomer->shares[group].result().mean;
  });
  return found;
}

}  // namespace tarn::analysis
