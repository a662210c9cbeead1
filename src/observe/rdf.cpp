#include "tarn/analysis/rdf.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "makers.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observe/pictures.hpp"
#include "time_blocks.hpp"

namespace tarn {
namespace {

constexpr std::array<std::string_view, kPairClasses> kPairNames{"OO", "OH", "HH"};
// From this many groups of replicas on, their spread tells the error; with fewer, time blocks do.
constexpr int kGroupsForErrors = 16;

/// Gathers the pair counts of the engine and writes rdf.csv at the end.
///
/// The engine counts inside advance(), at every step that was asked for; this observer looks at the
/// sums only where a time block ends, and at the last step.
class RdfObserver final : public Observer {
 public:
  RdfObserver(const PairCountRequest& counts, const RunInfo& info)
      : request_(counts),
        info_(info),
        bins_(static_cast<std::size_t>(counts.bins)),
        restored_counts_(kCountGroups * kPairClasses * bins_, 0),
        counts_(restored_counts_),
        restored_samples_(kCountGroups, 0),
        samples_(restored_samples_),
        blocks_(kPairClasses * bins_) {}

  std::string name() const override {
    std::string pairs;
    for (int c = 0; c < kPairClasses; ++c) {
      if (request_.pairs[c]) pairs += fmt::format(" {}", kPairNames[c]);
    }
    return fmt::format("rdf every {} from step {} pairs{} bins {} r_max_A {:.17g}", request_.every,
                       request_.first_step, pairs, request_.bins, request_.r_max_A);
  }
  unsigned fields() const override { return kPairCounts; }
  std::int64_t every() const override {
    return uses_groups() ? kOnlyAtTheEnd : request_.every * blocks_.length();
  }

  void begin() override {}
  void observe(const Frame& frame) override {
    catch_up(frame);
    if (!uses_groups()) blocks_.add(pooled_counts(), pooled_samples());
  }
  void catch_up(const Frame& frame) override {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      counts_[i] = restored_counts_[i] + frame.pair_counts.at(i);
    }
    for (std::size_t g = 0; g < samples_.size(); ++g) {
      samples_[g] = restored_samples_[g] + frame.pair_samples[g];
    }
  }

  void save(std::ostream& out) override {
    io::put(out, std::span<const std::uint64_t>(counts_));
    io::put(out, std::span<const std::int64_t>(samples_));
    blocks_.save(out);
  }
  void load(std::istream& in) override {
    restored_counts_ = counts_ = io::get_u64s(in);
    restored_samples_ = samples_ = io::get_i64s(in);
    blocks_.load(in);
  }

  void finish() override {
    std::vector<std::string> header{"r_A"};
    std::vector<Column> columns;
    for (int c = 0; c < kPairClasses; ++c) {
      if (!request_.pairs[c]) continue;
      for (const std::string_view suffix : {"count", "g", "g_err"}) {
        header.push_back(fmt::format("{}_{}", kPairNames[c], suffix));
      }
      columns.push_back(column_of(static_cast<std::size_t>(c)));
    }
    const std::string path = info_.out_dir + "/rdf.csv";
    io::CsvFormat csv(path, header);
    std::string text = csv.head(provenance());
    const std::vector<double> r_A = analysis::bin_centres_A(request_.r_max_A, request_.bins);
    for (std::size_t b = 0; b < bins_; ++b) {
      csv.cell(r_A[b]);
      for (const Column& column : columns) {
        csv.cell(static_cast<std::int64_t>(column.counts[b])).cell(column.g[b]).cell(column.err[b]);
      }
      text += csv.row();
    }
    io::write_file(path, text);
  }
  Pictures draw() override { return draw_rdf(info_.out_dir); }

 private:
  struct Column {
    std::vector<std::uint64_t> counts;
    std::vector<double> g, err;
  };

  bool uses_groups() const { return info_.replicas >= kGroupsForErrors; }

  std::span<const std::uint64_t> group_counts(std::size_t group) const {
    return std::span(counts_).subspan(group * kPairClasses * bins_, kPairClasses * bins_);
  }
  /// [class][bin], summed over the groups.
  std::vector<std::uint64_t> pooled_counts() const {
    std::vector<std::uint64_t> pooled(kPairClasses * bins_, 0);
    for (std::size_t g = 0; g < kCountGroups; ++g) {
      const auto counts = group_counts(g);
      for (std::size_t i = 0; i < pooled.size(); ++i) pooled[i] += counts[i];
    }
    return pooled;
  }
  std::int64_t pooled_samples() const {
    return std::accumulate(samples_.begin(), samples_.end(), std::int64_t{0});
  }

  /// Standard error of the mean count of a sample in one bin.
  double count_error(std::size_t value) const {
    if (!uses_groups()) {
      // With 32 to 64 blocks, their merging is noisy: it may raise the error, never lower it.
      const std::vector<double> means = blocks_.means(value);
      return std::max(analysis::mean_and_error(means).error, analysis::blocking(means).error);
    }
    std::array<double, kCountGroups> counts{}, samples{};
    for (std::size_t g = 0; g < kCountGroups; ++g) {
      counts[g] = static_cast<double>(group_counts(g)[value]);
      samples[g] = static_cast<double>(samples_[g]);
    }
    return analysis::ratio_and_error(counts, samples).error;
  }

  Column column_of(std::size_t pair_class) const {
    const std::vector<std::uint64_t> pooled = pooled_counts();
    const std::size_t first = pair_class * bins_;
    const double pairs = analysis::pairs_per_sample(info_.molecules)[pair_class];
    const std::vector<double> weights = analysis::rdf_weights(request_.bins);
    Column column;
    column.counts.assign(pooled.begin() + static_cast<std::ptrdiff_t>(first),
                         pooled.begin() + static_cast<std::ptrdiff_t>(first + bins_));
    column.g = analysis::rdf(column.counts, static_cast<double>(pooled_samples()), pairs);
    for (std::size_t b = 0; b < bins_; ++b) {
      column.err.push_back(pairs > 0.0 ? count_error(first + b) / pairs * weights[b] : 0.0);
    }
    return column;
  }

  std::string provenance() const {
    return fmt::format(
        "{}; all replicas pooled; g = count / (samples * pairs * (r_hi^3 - r_lo^3) / r_max^3), 1 "
        "for pairs spread evenly over a ball of radius r_max = {:.17g} A; standard errors from {}",
        info_.provenance, request_.r_max_A,
        uses_groups() ? "groups of replicas" : "blocks of time (0: fewer than two)");
  }

  PairCountRequest request_;
  RunInfo info_;
  std::size_t bins_;
  // The engine counts from zero when it is made; what a checkpoint held is added.
  std::vector<std::uint64_t> restored_counts_;  // [group][class][bin]
  std::vector<std::uint64_t> counts_;
  std::vector<std::int64_t> restored_samples_;  // [group]
  std::vector<std::int64_t> samples_;
  TimeBlocks blocks_;
};

}  // namespace

std::unique_ptr<Observer> make_rdf(const PairCountRequest& counts, const RunInfo& info) {
  return std::make_unique<RdfObserver>(counts, info);
}

}  // namespace tarn
