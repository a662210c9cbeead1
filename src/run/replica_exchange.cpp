#include "replica_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/replica_map.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

constexpr std::size_t kMostPathPoints = 1024;

/// Temperatures, or the centres of windows.
std::vector<double> ladder_of(const System& system) {
  const BiasSpec* const windows = windows_of(system);
  return windows ? windows->centres : system.thermostat.temperatures_K;
}

std::vector<double> betas(const std::vector<double>& temperatures_K) {
  std::vector<double> betas;
  for (const double t_K : temperatures_K) {
    betas.push_back(1.0 / (units::boltzmann_kcal_per_mol_K * t_K));
  }
  return betas;
}

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

ReplicaExchange::ReplicaExchange(const Deck& deck, const System& system, const RunInfo& info,
                                 Engine& engine)
    : system_(system),
      every_(deck.exchange->every),
      info_(info),
      engine_(engine),
      ladder_(ladder_of(system)),
      energies_(betas(deck.thermostat.temperatures_K),
                info.replicas / static_cast<std::int64_t>(length())) {
  const auto ladders = static_cast<std::size_t>(info.replicas) / length();
  for (std::size_t k = 0; k + 1 < length(); ++k) {
    pairs_.push_back({0, 0, analysis::PooledBlocking::of_replicas(static_cast<int>(ladders))});
  }
  walker_at_.resize(ladders * length());
  std::iota(walker_at_.begin(), walker_at_.end(), std::int64_t{0});
  last_end_.assign(walker_at_.size(), kNoEnd);
}

std::string ReplicaExchange::name() const {
  return fmt::format("exchange and energies every {} of {} {}", every_, length(),
                     has_windows() ? "windows" : "temperatures");
}

void ReplicaExchange::observe(const Frame& frame) {
  if (frame.replica_ids.empty()) return;  // all replicas are stopped
  last_step_ = frame.step;
  const bool counts = frame.step >= info_.first_averaged_step;
  const ReplicaMap map(length());
  if (frame.step > 0) {
    const std::vector<ExchangeAttempt> attempts = exchange_attempts(system_, every_, frame);
    engine_.exchange(accepted_exchanges(system_, attempts));
    std::vector<std::vector<std::int64_t>> ladders(pairs_.size());
    std::vector<std::vector<double>> probabilities(pairs_.size());
    for (const ExchangeAttempt& attempt : attempts) {
      if (attempt.accepted) {
        std::swap(walker_at_[static_cast<std::size_t>(attempt.lower)],
                  walker_at_[static_cast<std::size_t>(attempt.upper)]);
      }
      if (!counts) continue;
      const auto k = map.place(attempt.lower);
      ++pairs_[k].attempts;
      pairs_[k].accepted += attempt.accepted;
      ladders[k].push_back(map.ladder(attempt.lower));
      probabilities[k].push_back(attempt.probability);
    }
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      if (!ladders[k].empty()) pairs_[k].probability.add_replicas(ladders[k], probabilities[k]);
    }
  }
  if (counts) {
    count_round_trips();
    samples_.resize(has_windows() ? 0 : frame.live());
    for (std::size_t r = 0; r < samples_.size(); ++r) {
      const double energy = frame.exchange_energies_kcal_per_mol[r];
      const std::int64_t id = frame.replica_ids[r];
      samples_[r] = {map.place(id), map.ladder(id), energy, energy};
    }
    if (!has_windows()) energies_.add_step(samples_, info_.threads);
  }
  note_paths();
}

void ReplicaExchange::count_round_trips() {
  for (std::size_t first = 0; first < walker_at_.size(); first += length()) {
    auto& at_bottom = last_end_[static_cast<std::size_t>(walker_at_[first])];
    round_trips_ += at_bottom == kTopAfterBottom;
    at_bottom = kBottom;
    auto& at_top = last_end_[static_cast<std::size_t>(walker_at_[first + length() - 1])];
    if (at_top == kBottom) at_top = kTopAfterBottom;
  }
}

void ReplicaExchange::note_paths() {
  if (last_step_ / every_ % attempts_between_ != 0) return;
  const std::size_t size = length() + 1;
  if (paths_.size() == kMostPathPoints * size) {
    for (std::size_t i = 0; i < kMostPathPoints / 2; ++i) {
      std::copy_n(paths_.begin() + static_cast<std::ptrdiff_t>(2 * i * size), size,
                  paths_.begin() + static_cast<std::ptrdiff_t>(i * size));
    }
    paths_.resize(kMostPathPoints / 2 * size);
    attempts_between_ *= 2;
    if (last_step_ / every_ % attempts_between_ != 0) return;
  }
  paths_.push_back(last_step_);
  paths_.resize(paths_.size() + length());
  for (std::size_t k = 0; k < length(); ++k) {
    const auto walker = static_cast<std::size_t>(walker_at_[k]);
    paths_[paths_.size() - length() + walker] = static_cast<std::int64_t>(k);
  }
}

std::vector<AveragedQuantity> ReplicaExchange::averages() const {
  std::vector<AveragedQuantity> all;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const Pair& pair = pairs_[k];
    if (pair.attempts == 0) continue;
    const analysis::Blocking b = pair.probability.result();
    AveragedQuantity a{"exchange", "acceptance_with_next_bath", b.mean, b.error};
    if (has_windows())
      a.quantity = fmt::format("acceptance_from_{:g}_to_{:g}", ladder_[k], ladder_[k + 1]);
    // Each pair is attempted at every other exchange step.
    a.autocorrelation_ps = b.autocorrelation_time * info_.time_ps(2 * every_);
    a.independent_samples = static_cast<double>(pair.attempts) / (2.0 * b.autocorrelation_time);
    a.samples = pair.attempts;
    a.converged = b.converged;
    if (!has_windows()) a.bath_K = ladder_[k];
    all.push_back(a);
  }
  return all;
}

ExchangeSummary ReplicaExchange::summary() const {
  ExchangeSummary s;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    ExchangePair& pair = s.pairs.emplace_back(
        ExchangePair{ladder_[k], ladder_[k + 1], pairs_[k].attempts, pairs_[k].accepted});
    if (pair.attempts == 0) continue;
    const analysis::Blocking b = pairs_[k].probability.result();
    pair.acceptance = b.mean;
    pair.error = b.error;
  }
  s.has_windows = has_windows();
  s.equal_acceptance_ladder = even_;
  s.round_trips = round_trips_;
  s.round_trips_per_state =
      static_cast<double>(round_trips_) / static_cast<double>(walker_at_.size());
  s.structure_changes = {s.round_trips_per_state, "round trips"};
  const double ns =
      1e-3 * info_.time_ps(std::max<std::int64_t>(0, last_step_ - info_.first_averaged_step));
  s.round_trips_per_ns = ns > 0.0 ? s.round_trips_per_state / ns : 0.0;
  return s;
}

void ReplicaExchange::write_pairs() const {
  const ExchangeSummary s = summary();
  io::CsvTable csv(
      info_.out_dir + "/exchange.csv",
      {has_windows() ? "lower_centre" : "lower_bath_K",
       has_windows() ? "upper_centre" : "upper_bath_K", "attempts", "accepted", "acceptance",
       "acceptance_err"},
      fmt::format("{}; attempts after equilibration; acceptance = mean probability; {} round "
                  "trips, {:.6g} per walker and ns",
                  info_.provenance, s.round_trips, s.round_trips_per_ns));
  for (const ExchangePair& p : s.pairs) {
    csv.cells(p.lower_bath_K, p.upper_bath_K, p.attempts, p.accepted);
    csv.cells_or_nan(p.acceptance, p.error);
    csv.end_row();
  }
  csv.write();
}

void ReplicaExchange::write_paths() const {
  std::vector<std::string> header{"step", "time_ps"};
  for (std::size_t w = 0; w < length(); ++w) {
    header.push_back(fmt::format("walker_{}_{}", w, has_windows() ? "centre" : "bath_K"));
  }
  io::CsvTable csv(
      info_.out_dir + "/walkers.csv", header,
      fmt::format("{}; {} of each walker of the first ladder after the "
                  "exchange at this step; walker w started as replica w; at most {} "
                  "rows",
                  info_.provenance, has_windows() ? "window" : "temperature", kMostPathPoints));
  for (std::size_t at = 0; at < paths_.size(); at += length() + 1) {
    csv.cells(paths_[at], info_.time_ps(paths_[at]));
    for (std::size_t w = 0; w < length(); ++w) {
      csv.cell(ladder_[static_cast<std::size_t>(paths_[at + 1 + w])]);
    }
    csv.end_row();
  }
  csv.write();
}

void ReplicaExchange::finish() {
  const auto reweighting = energies_.reweighting();
  // The energies of ring polymers at one temperature do not give those at another one.
  if (!has_rings() && !has_windows() && length() > 2 && reweighting) {
    even_ = analysis::equal_acceptance_ladder(*reweighting, units::boltzmann_kcal_per_mol_K,
                                              ladder_.front(), ladder_.back(), length());
  }
  write_pairs();
  write_paths();
}

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

}  // namespace tarn
