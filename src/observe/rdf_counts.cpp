#include "rdf_counts.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/blocking.hpp"
#include "analysis/rdf.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

constexpr std::array<std::string_view, kPairClasses> kPairNames{"OO", "OH", "HH"};
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
  if (size() == kMost) merge_neighbours();
}

void TimeBlocks::merge_neighbours() {
  for (std::size_t b = 0; b < kMost / 2; ++b) {
    std::vector<std::uint64_t> merged = sums_[2 * b];
    for (std::size_t i = 0; i < merged.size(); ++i) merged[i] += sums_[2 * b + 1][i];
    sums_[b] = std::move(merged);
    samples_[b] = samples_[2 * b] + samples_[2 * b + 1];
  }
  sums_.resize(kMost / 2);
  samples_.resize(kMost / 2);
  length_ *= 2;
}

std::vector<std::size_t> TimeBlocks::full_enough() const {
  std::vector<std::size_t> blocks;
  if (samples_.empty()) return blocks;
  const std::int64_t fullest = *std::max_element(samples_.begin(), samples_.end());
  for (std::size_t b = 0; b < size(); ++b) {
    if (2 * samples_[b] >= fullest) blocks.push_back(b);
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

}  // namespace tarn
