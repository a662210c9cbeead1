#include "rdf_counts.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "tarn/analysis/blocking.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/analysis/rdf.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

constexpr std::array<std::string_view, kPairClasses> kPairNames{"OO", "OH", "HH"};
// From this many groups of replicas on, their spread tells the error; with fewer, time blocks do.
constexpr int kGroupsForErrors = 16;

}  // namespace

std::string_view pair_name(int pair_class) {
  return kPairNames[static_cast<std::size_t>(pair_class)];
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
  for (std::size_t i = 0; i < counts.size(); ++i) pooled[i % size_] += counts[i];
  return pooled;
}

std::int64_t RdfCounts::pooled_samples() const {
  return std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
}

/// Standard error of the mean count of a sample in one bin.
double RdfCounts::count_error(std::size_t value, bool from_groups) const {
  if (!from_groups) {
    // With 32 to 64 blocks, their merging is noisy: it may raise the error, never lower it.
    const std::vector<double> means = blocks_.means(value);
    return std::max(analysis::mean_and_error(means).error, analysis::blocking(means).error);
  }
  std::vector<double> group_counts, group_samples(samples.begin(), samples.end());
  for (std::size_t g = 0; g < samples.size(); ++g) {
    group_counts.push_back(static_cast<double>(counts[g * size_ + value]));
  }
  return analysis::ratio_and_error(group_counts, group_samples).error;
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
  for (std::size_t b = 0; b < bins_; ++b) {
    column.err.push_back(pairs > 0.0 ? count_error(first + b, from_groups) / pairs * weights[b]
                                     : 0.0);
  }
  return column;
}

void RdfCounts::save(std::ostream& out) const {
  io::put(out, std::span<const std::uint64_t>(counts));
  io::put(out, std::span<const std::int64_t>(samples));
  blocks_.save(out);
}

void RdfCounts::load(std::istream& in) {
  counts = io::get_u64s(in);
  samples = io::get_i64s(in);
  blocks_.load(in);
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
  io::CsvFormat csv(path, header);
  std::string text = csv.head(fmt::format(
      "{}; {} pooled; g = count / (samples * pairs * (r_hi^3 - r_lo^3) / r_max^3), 1 for pairs "
      "spread evenly over a ball of radius r_max = {:.17g} A; standard errors from {}",
      provenance, baths_K.empty() ? "all replicas" : "replicas of a bath", request.r_max_A,
      from_groups ? "groups of replicas" : "blocks of time (0: fewer than two)"));
  const std::vector<double> r_A = analysis::bin_centres_A(request.r_max_A, request.bins);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    std::vector<RdfCounts::Column> columns;
    for (const std::size_t c : classes) columns.push_back(tables[t].column_of(c, from_groups));
    for (std::size_t b = 0; b < r_A.size(); ++b) {
      if (!baths_K.empty()) csv.cell(baths_K[t]);
      csv.cell(r_A[b]);
      for (const RdfCounts::Column& column : columns) {
        csv.cell(static_cast<std::int64_t>(column.counts[b])).cell(column.g[b]).cell(column.err[b]);
      }
      text += csv.row();
    }
  }
  return text;
}

}  // namespace tarn
