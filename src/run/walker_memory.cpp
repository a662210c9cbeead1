#include "walker_memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/replica_map.hpp"
#include "tarn/io/binary.hpp"

namespace tarn {
namespace {

/// Oxygens of hydrogen bonds are closer than this.
constexpr double kNeighbour_A = 3.5;
/// More molecules do not make the count better.
constexpr std::size_t kMostMolecules = 32;
constexpr std::size_t kFewestMolecules = 4;
constexpr std::size_t kBits = 64;

/// Bits of the pairs of molecules that are neighbours.
std::vector<std::uint64_t> neighbours(std::span<const double> positions_A, std::size_t molecules,
                                      std::size_t words) {
  std::vector<std::uint64_t> bits(words, 0);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < molecules; ++i) {
    for (std::size_t j = 0; j < i; ++j, ++pair) {
      double square = 0.0;
      for (std::size_t k = 0; k < 3; ++k) {
        square += std::pow(positions_A[9 * i + k] - positions_A[9 * j + k], 2);
      }
      if (square < kNeighbour_A * kNeighbour_A) {
        bits[pair / kBits] |= std::uint64_t{1} << (pair % kBits);
      }
    }
  }
  return bits;
}

/// Whether fewer than half of the pairs in either list are in both.
bool are_different(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  int both = 0, either = 0;
  for (std::size_t w = 0; w < a.size(); ++w) {
    both += std::popcount(a[w] & b[w]);
    either += std::popcount(a[w] | b[w]);
  }
  return 2 * both < either;
}

}  // namespace

WalkerMemory::WalkerMemory(std::size_t temperatures, int replicas, int molecules,
                           std::int64_t every,
                           std::function<std::int64_t(std::int64_t replica)> walker_at)
    : temperatures_(temperatures),
      molecules_(std::min(static_cast<std::size_t>(molecules), kMostMolecules)),
      words_((molecules_ * (molecules_ - 1) / 2 + kBits - 1) / kBits),
      every_(every),
      walker_at_(std::move(walker_at)),
      neighbours_(words_ * static_cast<std::size_t>(replicas), 0),
      visited_(static_cast<std::size_t>(replicas), 0) {}

std::string WalkerMemory::name() const {
  return fmt::format("neighbours of walkers every {}", every_);
}

void WalkerMemory::observe(const Frame& frame) {
  const std::size_t size = 9 * static_cast<std::size_t>(frame.molecules);
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    if (ReplicaMap(temperatures_).place(frame.replica_ids[r]) != 0) continue;
    const auto walker = static_cast<std::size_t>(walker_at_(frame.replica_ids[r]));
    const std::vector<std::uint64_t> now =
        neighbours(std::span(frame.positions_A).subspan(r * size, size), molecules_, words_);
    const auto last = std::span(neighbours_).subspan(walker * words_, words_);
    const bool is_first = std::exchange(visited_[walker], 1) == 0;
    if (!is_first && !are_different(last, now)) continue;
    changes_ += is_first ? 0 : 1;
    std::ranges::copy(now, last.begin());
  }
}

std::optional<StructureChanges> WalkerMemory::structure_changes() const {
  if (molecules_ < kFewestMolecules) return std::nullopt;
  return StructureChanges{static_cast<double>(changes_) / static_cast<double>(visited_.size()),
                          "returns to the lowest temperature with other neighbours"};
}

void WalkerMemory::save(std::ostream& out) {
  io::put(out, std::span<const std::uint64_t>(neighbours_));
  io::put(out, std::span<const std::int64_t>(visited_));
  io::put(out, changes_);
}

void WalkerMemory::load(std::istream& in) {
  neighbours_ = io::get_u64s(in, neighbours_.size());
  visited_ = io::get_i64s(in, visited_.size());
  changes_ = io::get_i64(in);
}

}  // namespace tarn
