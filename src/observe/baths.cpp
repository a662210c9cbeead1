#include "baths.hpp"

#include <algorithm>
#include <set>

namespace tarn {

Baths::Baths(const RunInfo& info)
    : several_(has_several_baths(info.baths_K)), starts_(info.starts) {
  const std::vector<double> ladder_K = several_ ? info.baths_K : std::vector<double>{0.0};
  const std::set<double> sorted(ladder_K.begin(), ladder_K.end());
  temperatures_K_.assign(sorted.begin(), sorted.end());
  in_ladder_.assign(size(), 0);
  for (const double bath_K : ladder_K) {
    const auto at = std::lower_bound(temperatures_K_.begin(), temperatures_K_.end(), bath_K);
    bath_of_.push_back(static_cast<std::size_t>(at - temperatures_K_.begin()));
    index_in_ladder_.push_back(in_ladder_[bath_of_.back()]++);
  }
  replicas_.assign(size(), 0);
  for (int r = 0; r < info.replicas; ++r) ++replicas_[of(r)];
  const auto series = analysis::PooledBlocking::series_of_replicas(info.replicas, starts_);
  groups_ = static_cast<int>(
      std::min(static_cast<std::size_t>(std::max(info.replicas, 1)), series * bath_of_.size()));
}

std::vector<int> Baths::starts(std::size_t bath) const {
  if (starts_ == 1) return {};
  constexpr int kNone = -2, kSeveral = -1;
  std::vector<int> starts(series(bath), kNone);
  for (std::int64_t i = 0; i < replicas_[bath]; ++i) {
    int& start = starts[sample_group(i, starts.size())];
    const int here = sample_group(i / in_ladder_[bath], starts_);
    start = start == kNone || start == here ? here : kSeveral;
  }
  return starts;
}

std::int64_t Baths::index_in_bath(std::int64_t replica_id) const {
  const ReplicaMap map(bath_of_.size());
  return map.ladder(replica_id) * in_ladder_[of(replica_id)] +
         index_in_ladder_[map.place(replica_id)];
}

}  // namespace tarn
