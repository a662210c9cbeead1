#include "tarn/analysis/isomers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tarn::analysis {

IsomerCensus::IsomerCensus(std::size_t most, double same_kcal_per_mol,
                           std::span<const int> replicas, int parts)
    : most_(most), same_kcal_per_mol_(same_kcal_per_mol) {
  for (const int n : replicas) elsewhere_.push_back(PooledBlocking::of_replicas(n));
  elsewhere_.push_back(PooledBlocking::of_replicas(parts));
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
  isomers_.insert(at,
                  {energy, {cluster.positions_A.begin(), cluster.positions_A.end()}, elsewhere_});
  if (isomers_.size() > most_) isomers_.pop_back();
  return place;
}

void IsomerCensus::add(std::span<const QuenchedCluster> clusters) {
  // Insert all minima before counting: a new minimum starts with the zeros of earlier steps.
  for (const QuenchedCluster& cluster : clusters) find_or_insert(cluster);
  std::vector<std::size_t> isomer_of;
  for (const QuenchedCluster& cluster : clusters) isomer_of.push_back(find_or_insert(cluster));

  struct Member {
    std::size_t cluster;
    std::int64_t place;
  };
  std::vector<std::vector<Member>> members_of(elsewhere_.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    members_of[clusters[i].group].push_back({i, clusters[i].place});
    members_of[all()].push_back({i, clusters[i].part});
  }
  for (std::size_t group = 0; group < elsewhere_.size(); ++group) {
    const std::vector<Member>& members = members_of[group];
    if (members.empty()) continue;
    std::vector<std::int64_t> places;
    for (const Member& member : members) places.push_back(member.place);
    std::vector<double> is_in(members.size(), 0.0);
    elsewhere_[group].add_replicas(places, is_in);
    for (std::size_t isomer = 0; isomer < isomers_.size(); ++isomer) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        is_in[i] = isomer_of[members[i].cluster] == isomer ? 1.0 : 0.0;
      }
      isomers_[isomer].shares[group].add_replicas(places, is_in);
    }
  }
}

void IsomerCensus::restore(std::vector<Isomer> isomers, std::vector<PooledBlocking> elsewhere) {
  isomers_ = std::move(isomers);
  elsewhere_ = std::move(elsewhere);
}

}  // namespace tarn::analysis
