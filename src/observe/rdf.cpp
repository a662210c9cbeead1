#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <span>

#include <fmt/format.h>

#include "observable.hpp"
#include "rdf_counts.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn {
namespace {

/// Collects the pair counts of the engine and writes rdf.csv and, with several baths,
/// rdf_by_bath.csv at the end.
///
/// The engine counts pairs in advance() at the requested steps; this observer reads the sums only
/// at the ends of time blocks and at the last step.
class RdfObserver final : public ArchivedObserver {
 public:
  RdfObserver(const ObserveRdf&, const ObserverContext& info)
      : request_(info.pair_counts), info_(info) {
    const ReplicaMap map(std::max<std::size_t>(info.baths_K.size(), 1));
    const auto groups = static_cast<std::size_t>(request_.groups);
    std::int64_t replicas = info.replicas;
    if (has_several_baths(info.baths_K)) {
      add_table(groups, [=](std::size_t g) { return static_cast<std::size_t>(map.ladder(g)); });
      for (const double bath_K : std::set(info.baths_K.begin(), info.baths_K.end())) {
        const auto is_of = [&](std::size_t g) { return info_.baths_K[map.place(g)] == bath_K; };
        baths_K_.push_back(bath_K);
        std::size_t own = 0;
        add_table(groups, [&](std::size_t g) { return is_of(g) ? own++ : kNone; });
        std::int64_t of_it = 0;
        for (int r = 0; r < info.replicas; ++r) of_it += is_of(static_cast<std::size_t>(r));
        // Limited by the number of groups, because their spread gives the error.
        replicas = std::min({replicas, of_it, std::ssize(sums_.back().samples)});
      }
    } else {
      add_table(groups, [](std::size_t g) { return g; });
    }
    from_groups_ = errors_are_from_groups(replicas);
    restored_ = sums_;
  }

  std::string name() const override {
    std::string pairs;
    for (int c = 0; c < kPairClasses; ++c) {
      if (request_.pairs[c]) pairs += fmt::format(" {}", pair_name(c));
    }
    const std::string baths =
        baths_K_.empty()
            ? ""
            : fmt::format(" baths {} in {} groups", fmt::join(baths_K_, " "), request_.groups);
    return fmt::format("rdf every {} from step {} pairs{} bins {} r_max_A {:.17g}{}",
                       request_.every, request_.first_step, pairs, request_.bins, request_.r_max_A,
                       baths);
  }
  unsigned fields() const override { return kPairCounts; }
  std::int64_t every() const override {
    return from_groups_ ? kLastStepOnly : request_.every * sums_.front().block_length();
  }

  void observe(const Frame& frame) override {
    catch_up(frame);
    if (from_groups_) return;
    for (RdfCounts& table : sums_) table.end_block();
  }
  void catch_up(const Frame& frame) override {
    const std::size_t size = frame.pair_counts.size() / frame.pair_samples.size();
    for (std::size_t t = 0; t < sums_.size(); ++t) {
      RdfCounts& table = sums_[t];
      table.counts = restored_[t].counts;
      table.samples = restored_[t].samples;
      for (std::size_t g = 0; g < frame.pair_samples.size(); ++g) {
        const std::size_t group = group_of_[t][g];
        if (group == kNone) continue;
        const std::span<std::uint64_t> counts = table.group(group);
        for (std::size_t i = 0; i < size; ++i) counts[i] += frame.pair_counts[g * size + i];
        table.samples[group] += frame.pair_samples[g];
      }
    }
  }

  void finish() override {
    write("rdf", std::span(sums_).first(1), {});
    if (!baths_K_.empty()) write("rdf_by_bath", std::span(sums_).subspan(1), baths_K_);
  }

 private:
  void archive(io::Archive& a) override {
    a.fixed(sums_);
    if (a.is_reading()) restored_ = sums_;
  }

  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// @param own_group maps groups of the engine to groups of this table; kNone: not in this table
  void add_table(std::size_t groups, const std::function<std::size_t(std::size_t)>& own_group) {
    std::vector<std::size_t>& of = group_of_.emplace_back();
    std::size_t own = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      of.push_back(own_group(g));
      if (of.back() != kNone) own = std::max(own, of.back() + 1);
    }
    sums_.emplace_back(request_, info_.molecules, static_cast<int>(own));
  }
  void write(const char* name, std::span<const RdfCounts> tables,
             std::span<const double> baths_K) const {
    const std::string path = fmt::format("{}/{}.csv", info_.out_dir, name);
    const std::string provenance =
        info_.provenance +
        (has_several_baths(info_.baths_K) ? "; baths of several temperatures" : "");
    io::write_file(path, rdf_csv(path, provenance, request_, from_groups_, tables, baths_K));
  }

  PairCountRequest request_;
  ObserverContext info_;
  bool from_groups_ = false;     // errors from the spread of groups
  std::vector<double> baths_K_;  // baths of the tables after the first; empty: one bath
  std::vector<std::vector<std::size_t>> group_of_;  // [table][group of the engine]
  std::vector<RdfCounts> sums_;                     // all replicas, then each bath
  // Counts from the checkpoint, added because a new engine counts from zero.
  std::vector<RdfCounts> restored_;
};

}  // namespace

Observable rdf_observable() {
  return observable(&Deck::rdf, construct<RdfObserver>, {"rdf.*", "rdf_by_bath.csv"},
                    "; over all beads");
}

}  // namespace tarn
