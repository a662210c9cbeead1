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

RdfCounts::RdfCounts(const PairCountRequest& request, int molecules)
    : counts(static_cast<std::size_t>(kCountGroups * kPairClasses * request.bins), 0),
      samples(kCountGroups, 0),
      request_(request),
      molecules_(molecules),
      bins_(static_cast<std::size_t>(request.bins)),
      size_(kPairClasses * bins_),
      blocks_(size_) {}

bool RdfCounts::uses_groups(std::int64_t replicas) { return replicas >= kGroupsForErrors; }

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
  std::array<double, kCountGroups> group_counts{}, group_samples{};
  for (std::size_t g = 0; g < kCountGroups; ++g) {
    group_counts[g] = static_cast<double>(counts[g * size_ + value]);
    group_samples[g] = static_cast<double>(samples[g]);
  }
  return analysis::ratio_and_error(group_counts, group_samples).error;
}

RdfCounts::Column RdfCounts::column_of(std::size_t pair_class, bool from_groups) const {
  const std::vector<std::uint64_t> pooled = pooled_counts();
  const std::size_t first = pair_class * bins_;
  const double pairs = analysis::pairs_per_sample(molecules_)[pair_class];
  const std::vector<double> weights = analysis::rdf_weights(request_.bins);
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

std::string RdfCounts::csv(const std::string& path, std::string_view provenance,
                           std::int64_t replicas) const {
  const bool from_groups = uses_groups(replicas);
  std::vector<std::string> header{"r_A"};
  std::vector<Column> columns;
  for (int c = 0; c < kPairClasses; ++c) {
    if (!request_.pairs[static_cast<std::size_t>(c)]) continue;
    for (const std::string_view suffix : {"count", "g", "g_err"}) {
      header.push_back(fmt::format("{}_{}", pair_name(c), suffix));
    }
    columns.push_back(column_of(static_cast<std::size_t>(c), from_groups));
  }
  io::CsvFormat csv(path, header);
  std::string text = csv.head(fmt::format(
      "{}; all replicas pooled; g = count / (samples * pairs * (r_hi^3 - r_lo^3) / r_max^3), 1 "
      "for pairs spread evenly over a ball of radius r_max = {:.17g} A; standard errors from {}",
      provenance, request_.r_max_A,
      from_groups ? "groups of replicas" : "blocks of time (0: fewer than two)"));
  const std::vector<double> r_A = analysis::bin_centres_A(request_.r_max_A, request_.bins);
  for (std::size_t b = 0; b < bins_; ++b) {
    csv.cell(r_A[b]);
    for (const Column& column : columns) {
      csv.cell(static_cast<std::int64_t>(column.counts[b])).cell(column.g[b]).cell(column.err[b]);
    }
    text += csv.row();
  }
  return text;
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

}  // namespace tarn
