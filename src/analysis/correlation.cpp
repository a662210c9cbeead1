#include "correlation.hpp"

#include <algorithm>
#include <utility>

#include "blocking.hpp"
#include "core/vector_clones.hpp"

namespace tarn::analysis {
namespace {

/// Loops over the origins become vector instructions, and each sum has the same order with all of
/// them.
TARN_VECTOR_CLONES void compare_all(const CorrelationLayout& layout, const double* vectors,
                                    const std::uint32_t* bonded, const ComparedOrigins& origins,
                                    const CorrelationMemory& memory) {
  for (int part = 0; part < kComparedParts; ++part) {
    compare<kOrigins>(layout, vectors, bonded, origins, part, 0, memory);
  }
}

}  // namespace

double CorrelationWindow::count(std::size_t correlation) const {
  if (is_bond_correlation(correlation)) return bonds;
  return correlation == kOhP1 || correlation == kOhP2 ? 2.0 * molecules : molecules;
}

TimeCorrelation::TimeCorrelation(std::size_t molecules, ClusterMasses masses, std::size_t longest)
    : layout_{static_cast<int>(molecules), static_cast<int>(longest)},
      masses_(std::move(masses)),
      share_o_(masses_.model.o / masses_.molecule_Da(0)),
      share_h_(masses_.model.fraction_h) {}

double TimeCorrelation::typical_numbers(double molecules, double longest) {
  // Two bonds per molecule as donor, in `bonded` and in `still`. There are kOrigins origins, plus
  // the one as old as the longest lag.
  const double origin = 3.0 * kCorrelatedVectors * molecules + 2.0 * (2.0 * molecules) + 3.0;
  return (kOrigins + 1) * origin +
         2.0 * (static_cast<double>(kCorrelations) * (longest + 1.0) + 2.0) + 4.0;
}

CorrelationWindow TimeCorrelation::window(const CorrelationLayout& layout,
                                          std::span<const double> numbers) {
  CorrelationWindow window;
  const auto lags = static_cast<std::size_t>(layout.longest + 1);
  for (std::size_t c = 0; c < kCorrelations; ++c) {
    for (std::size_t k = 0; k < lags; ++k) {
      window.sums[c].push_back(numbers[k * kCorrelations + c]);
    }
  }
  window.molecules = static_cast<double>(kOrigins) * layout.molecules;
  window.bonds = numbers.back();
  return window;
}

std::optional<CorrelationWindow> TimeCorrelation::add(std::span<const double> positions_A) {
  const CorrelationMemory memory = parts();
  const auto n = static_cast<std::size_t>(layout_.molecules);
  const auto molecule = [&](std::size_t m) { return molecule_at(positions_A.data(), m); };
  std::vector<double> vectors(static_cast<std::size_t>(layout_.rows()));
  std::vector<std::uint32_t> bonded(static_cast<std::size_t>(layout_.words()));
  Vec3<double> centre{};
  if (!masses_.isotopes.empty()) centre = centre_of_mass(positions_A, masses_);
  for (std::size_t m = 0; m < n && masses_.isotopes.empty(); ++m) {
    centre = centre + share_of_centre(molecule(m), share_o_, share_h_, layout_.molecules);
  }
  for (std::size_t m = 0, pair = 0; m < n; ++m) {
    const Triple<double> q = molecule(m);
    put_vectors(q, centre, static_cast<int>(m), layout_.molecules, vectors.data());
    for (std::size_t other = 0; other < m; ++other, ++pair) {
      if (are_bonded(molecule(other), q)) bonded[pair / 32] |= 1u << pair % 32;
    }
  }
  const ComparedOrigins before = layout_.compared(samples_, false);
  compare_all(layout_, vectors.data(), bonded.data(), before, memory);
  if (layout_.is_origin(samples_)) {
    compare_all(layout_, vectors.data(), bonded.data(), layout_.compared(samples_, true), memory);
  }
  ++samples_;
  const int slot = before.completed(layout_.longest), numbers = layout_.window_numbers();
  if (slot < 0) return std::nullopt;
  return window(layout_, {memory.windows + slot * numbers, static_cast<std::size_t>(numbers)});
}

/// Pairs i < j of molecules as i N + j, sorted. @param words of one place
void TimeCorrelation::archive_pairs(Memory& m, std::uint32_t* words) {
  const std::int64_t n = layout_.molecules;
  const auto bit = [](std::int64_t i, std::int64_t j) { return j * (j - 1) / 2 + i; };
  std::vector<std::int64_t> pairs;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i + 1; j < n; ++j) {
      if (words[bit(i, j) / 32 * kOrigins] >> bit(i, j) % 32 & 1u) pairs.push_back(i * n + j);
    }
  }
  for (int w = 0; w < layout_.words(); ++w) words[w * kOrigins] = 0;
  m.list(pairs, [&](std::int64_t& pair) {
    m(pair);
    Memory::require(pair >= 0 && pair / n < pair % n);
    const std::int64_t at = bit(pair / n, pair % n);
    words[at / 32 * kOrigins] |= 1u << at % 32;
  });
}

void TimeCorrelation::archive(Memory& m) {
  const CorrelationMemory memory = parts();
  m(samples_);
  Memory::require(samples_ >= 0);
  // The windows and origins of later comparisons.
  constexpr std::int64_t kInWindow = kOrigins;
  const std::int64_t spacing = layout_.spacing();
  const std::int64_t oldest = (samples_ - layout_.longest + spacing - 1) / spacing;
  std::vector<std::int64_t> windows, origins;
  for (std::int64_t k = std::max<std::int64_t>(oldest, 0); k * spacing < samples_; ++k) {
    if (windows.empty() || windows.back() != k / kInWindow) windows.push_back(k / kInWindow);
    origins.push_back(k);
  }
  const std::array sizes{windows.size(), origins.size()};
  const std::int64_t first = windows.empty() ? 0 : windows.front();
  const std::int64_t next = origins.empty() ? 0 : origins.back() + 1;
  std::int64_t first_window = first;
  m(first_window);
  m.list(windows, [&](std::int64_t& number) {
    const std::int64_t born = std::min(kInWindow, next - number * kInWindow);
    auto molecules = static_cast<double>(born * layout_.molecules);
    double* const window = memory.windows + number % 2 * layout_.window_numbers();
    std::span sums(window, static_cast<std::size_t>(layout_.window_numbers() - 1));
    m(molecules, window[sums.size()], sums);
  });
  m.list(origins, [&](std::int64_t& number) {
    std::int64_t born = number * spacing;
    m(born);
    Memory::require(born == number * spacing);
    const auto place = static_cast<int>(number % kOrigins);
    for (int row = 0; row < layout_.rows(); ++row) m(memory.then[row * kOrigins + place]);
    archive_pairs(m, memory.bonded + place);
    archive_pairs(m, memory.still + place);
  });
  Memory::require(first_window == first && sizes == std::array{windows.size(), origins.size()});
}

double correlation_numbers(double molecules, int followed, int replicas, std::size_t longest,
                           double samples) {
  const auto lags = static_cast<double>(longest);
  const double windows = samples / static_cast<double>(TimeCorrelation::window_samples(longest));
  return followed * TimeCorrelation::typical_numbers(molecules, lags) +
         static_cast<double>(kCorrelations) * (lags + 2.0) *
             PooledBlocking::of_replicas(replicas).max_numbers(windows);
}

}  // namespace tarn::analysis
