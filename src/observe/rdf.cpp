#include "analysis/rdf.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <span>

#include <fmt/format.h>

#include "analysis/blocking.hpp"
#include "observable.hpp"
#include "rdf_counts.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

// With at least this many groups of replicas, their spread gives the error. With fewer it is
// uncertain; time blocks, which miss differences between replicas, may then raise it but not lower
// it.
constexpr int kGroupsForErrors = 16;

/// Groups of replicas, or time blocks.
struct Parts {
  std::vector<double> samples;
  std::vector<double> sums;  ///< over the bins so far
  bool groups;
};

}  // namespace

std::string_view pair_name(int pair_class) {
  return std::array{"OO", "OH", "HH"}[static_cast<std::size_t>(pair_class)];
}

RdfCounts::RdfCounts(const PairCountRequest& request, int molecules, int groups)
    : counts(
          static_cast<std::size_t>(groups) * kPairClasses * static_cast<std::size_t>(request.bins),
          0),
      samples(static_cast<std::size_t>(groups), 0),
      molecules_(molecules),
      bins_(static_cast<std::size_t>(request.bins)),
      size_(kPairClasses * bins_),
      blocks_(size_) {}

bool errors_are_from_groups(std::int64_t replicas) { return replicas >= kGroupsForErrors; }

std::vector<std::uint64_t> RdfCounts::pooled_counts() const {
  std::vector<std::uint64_t> pooled(size_, 0);
  for (std::size_t first = 0; first < counts.size(); first += size_) {
    for (std::size_t i = 0; i < size_; ++i) pooled[i] += counts[first + i];
  }
  return pooled;
}

/// Counts of each group, or time block, in one bin.
std::vector<double> RdfCounts::parts(std::size_t value, bool from_groups) const {
  if (!from_groups) return blocks_.sums(value);
  std::vector<double> of_groups;
  for (std::size_t g = 0; g < samples.size(); ++g) {
    of_groups.push_back(static_cast<double>(counts[g * size_ + value]));
  }
  return of_groups;
}

/// Standard error of the mean count of a sample, from parts() of one bin or their sum over several.
double RdfCounts::error_of(std::span<const double> parts, std::span<const double> part_samples,
                           bool from_groups) const {
  if (from_groups) return analysis::ratio_and_error(parts, part_samples).error;
  std::vector<double> means;
  for (std::size_t i = 0; i < parts.size(); ++i) means.push_back(parts[i] / part_samples[i]);
  // With 32 to 64 blocks, blocking is noisy: it may raise the error but not lower it.
  return std::max(analysis::mean_and_error(means).error, analysis::blocking(means).error);
}

RdfCounts::Column RdfCounts::column_of(std::size_t pair_class, bool from_groups) const {
  const std::vector<std::uint64_t> pooled = pooled_counts();
  const std::size_t first = pair_class * bins_;
  const double pairs = analysis::pairs_per_sample(molecules_)[pair_class];
  const std::vector<double> weights = analysis::rdf_weights(static_cast<int>(bins_));
  Column column;
  column.counts.assign(pooled.begin() + static_cast<std::ptrdiff_t>(first),
                       pooled.begin() + static_cast<std::ptrdiff_t>(first + bins_));
  column.g = analysis::rdf(column.counts, static_cast<double>(pooled_samples()), pairs);
  const double per_pair = analysis::neighbours_per_pair(molecules_)[pair_class];
  const auto all_samples = static_cast<double>(pooled_samples());
  double sum = 0.0;
  Parts of_groups{{samples.begin(), samples.end()}, {}, true};
  Parts of_blocks{blocks_.samples(), {}, false};
  std::vector<Parts*> kinds{&of_groups};
  if (!from_groups) kinds.push_back(&of_blocks);
  for (std::size_t b = 0; b < bins_; ++b) {
    double error = 0.0, error_of_sum = 0.0;
    for (Parts* kind : kinds) {
      const std::vector<double> in_bin = parts(first + b, kind->groups);
      kind->sums.resize(in_bin.size(), 0.0);
      for (std::size_t i = 0; i < in_bin.size(); ++i) kind->sums[i] += in_bin[i];
      error = std::max(error, error_of(in_bin, kind->samples, kind->groups));
      error_of_sum = std::max(error_of_sum, error_of(kind->sums, kind->samples, kind->groups));
    }
    column.err.push_back(pairs > 0.0 ? error / pairs * weights[b] : 0.0);
    sum += static_cast<double>(column.counts[b]);
    column.neighbours.push_back(all_samples > 0.0 ? sum / all_samples * per_pair : 0.0);
    column.neighbours_err.push_back(error_of_sum * per_pair);
  }
  return column;
}

std::string rdf_csv(const std::string& path, std::string_view provenance,
                    const PairCountRequest& request, bool from_groups,
                    std::span<const RdfCounts> tables, std::span<const double> baths_K) {
  std::vector<std::string> header{"r_A"};
  if (!baths_K.empty()) header.insert(header.begin(), "bath_K");
  std::vector<std::size_t> classes;
  for (std::size_t c = 0; c < kPairClasses; ++c) {
    if (!request.pairs[c]) continue;
    classes.push_back(c);
    for (const std::string_view suffix : {"count", "g", "g_err"}) {
      header.push_back(fmt::format("{}_{}", pair_name(static_cast<int>(c)), suffix));
    }
  }
  for (const std::size_t c : classes) {
    const std::string_view pair = pair_name(static_cast<int>(c));
    header.push_back(fmt::format("{}_n", pair));
    header.push_back(fmt::format("{}_n_err", pair));
  }
  io::CsvTable csv(
      path, header,
      fmt::format(
          "{}; {} pooled; g = count / (samples * pairs * (r_hi^3 - r_lo^3) / r_max^3), 1 for pairs "
          "distributed uniformly in a sphere of radius r_max = {:.17g} A; n = running coordination "
          "number up to the upper edge of the bin, OH: hydrogens around an oxygen; standard errors "
          "from {}",
          provenance, baths_K.empty() ? "all replicas" : "replicas of each bath", request.r_max_A,
          from_groups ? "groups of replicas"
                      : "blocks of time or the spread of replicas, whichever is larger (0: fewer "
                        "than two)"));
  const std::vector<double> r_A = analysis::bin_centres_A(request.r_max_A, request.bins);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    std::vector<RdfCounts::Column> columns;
    for (const std::size_t c : classes) columns.push_back(tables[t].column_of(c, from_groups));
    for (std::size_t b = 0; b < r_A.size(); ++b) {
      if (!baths_K.empty()) csv.cell(baths_K[t]);
      csv.cell(r_A[b]);
      for (const RdfCounts::Column& column : columns) {
        csv.cells(column.counts[b], column.g[b], column.err[b]);
      }
      for (const RdfCounts::Column& column : columns) {
        csv.cells(column.neighbours[b], column.neighbours_err[b]);
      }
      csv.end_row();
    }
  }
  return csv.text();
}

void TimeBlocks::add(std::span<const std::uint64_t> sums, std::int64_t samples) {
  if (samples == last_samples_) return;
  std::vector<std::uint64_t> block(sums.begin(), sums.end());
  for (std::size_t i = 0; i < block.size(); ++i) block[i] -= last_sums_[i];
  sums_.push_back(std::move(block));
  samples_.push_back(samples - last_samples_);
  last_sums_.assign(sums.begin(), sums.end());
  last_samples_ = samples;
  if (size() < kMost) return;
  for (std::size_t b = 0; b < kMost / 2; ++b) {
    sums_[b] = sums_[2 * b];
    for (std::size_t i = 0; i < sums_[b].size(); ++i) sums_[b][i] += sums_[2 * b + 1][i];
    samples_[b] = samples_[2 * b] + samples_[2 * b + 1];
  }
  sums_.resize(kMost / 2);
  samples_.resize(kMost / 2);
  length_ *= 2;
}

std::vector<std::size_t> TimeBlocks::full_enough() const {
  std::vector<std::size_t> blocks;
  for (std::size_t b = 0; b < size(); ++b) {
    if (2 * samples_[b] >= std::ranges::max(samples_)) blocks.push_back(b);
  }
  return blocks;
}

std::vector<double> TimeBlocks::sums(std::size_t value) const {
  std::vector<double> sums;
  for (const std::size_t b : full_enough()) sums.push_back(static_cast<double>(sums_[b][value]));
  return sums;
}

std::vector<double> TimeBlocks::samples() const {
  std::vector<double> samples;
  for (const std::size_t b : full_enough()) samples.push_back(static_cast<double>(samples_[b]));
  return samples;
}

void TimeBlocks::archive(io::Archive& a) {
  a(length_);
  a.fixed(last_sums_);
  a(last_samples_, samples_);
  if (a.is_reading()) sums_.assign(samples_.size(), last_sums_);
  for (std::vector<std::uint64_t>& block : sums_) a.fixed(block);
}

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
