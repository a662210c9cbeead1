#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/isomers.hpp"
#include "cell_grid.hpp"
#include "cluster_moves.hpp"
#include "molecule_frame.hpp"
#include "quenches.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

/// Metropolis temperature of the hops [kcal/mol].
constexpr double kTemperature = 0.7;
/// Gradient tolerance of the quenches after hops [kcal/mol/A]. It leaves an energy of
/// kSameMinimum_A times this along a mode of 0.05 kcal/mol/A^2.
constexpr double kHopTolerance = 1e-2;
constexpr double kSameHop = analysis::kSameMinimum_A * kHopTolerance;
/// Of the result of each start.
constexpr double kTolerance = 1e-6;
constexpr double kSame = analysis::kSameMinimum_A * kTolerance;
/// Candidates per minimum to keep; some of them turn out to be the same minimum.
constexpr std::size_t kCandidates = 4;

/// Default limits on the quenches of all starts and on the pairs of molecules in them; the second
/// one reduces the quenches of large clusters. A quench takes about 200 iterations, and a search
/// ten seconds to a minute on one core.
constexpr double kMaxQuenches = 32'000.0, kMaxPairs = 1e7;
/// Up to this size, 96 searches of 50 hops are more than enough.
constexpr int kEasyMolecules = 8, kEasyStarts = 96, kEasyHops = 50;
/// Limits for larger clusters: number of searches, and of hops in each.
constexpr int kMaxStarts = 64, kMinStarts = 16, kMaxHops = 2000;

double pairs_of(int molecules) { return 0.5 * molecules * (molecules - 1.0); }
double default_quenches(int molecules) {
  return std::min(kMaxQuenches, kMaxPairs / pairs_of(molecules));
}

struct Minimum {
  std::vector<double> positions_A;
  double energy = 0.0;  // [kcal/mol]
};

/// One search: a quenched random cluster, followed by hops from minimum to minimum.
class Search {
 public:
  /// @param options hops, keep and should_continue are used
  Search(const WaterModel& model, int molecules, const SearchOptions& options)
      : should_continue_(options.should_continue),
        hops_(options.hops),
        keep_(static_cast<std::size_t>(options.keep)),
        model_(model),
        molecules_(molecules),
        moves_(model, molecules) {}

  /// @param minima out: the lowest minimum and, if more are kept, the next ones, in ascending order
  start::QuenchTask run(start::Quenches& quenches, std::uint64_t seed, int start,
                        std::vector<Minimum>& minima) {
    const int n = molecules_;
    const int limit = max_quench_iterations(n);
    const auto quench_hop = [&](Minimum& m) {
      return quenches.quench(m.positions_A, kHopTolerance, limit);
    };
    const auto quench = [&](Minimum& m) {
      return start::quench_to_minimum(quenches, m.positions_A, kTolerance, limit);
    };
    Minimum current{random_cluster(model_, n, seed, start), 0.0};
    current.energy = (co_await quench_hop(current)).energy_kcal_per_mol;
    Minimum lowest = current;
    std::vector<Minimum> visited;  // quenched to kHopTolerance, in ascending order
    for (int hop = 0; hop < hops_ && (!should_continue_ || should_continue_()); ++hop) {
      start::HopRandom random(seed, static_cast<std::uint64_t>(start),
                              static_cast<std::uint64_t>(hop));
      const double acceptance = random.next();
      Minimum trial = current;
      moves_.move(random, trial.positions_A);
      try {
        trial.energy = (co_await quench_hop(trial)).energy_kcal_per_mol;
      } catch (const NumericalError&) {
        continue;  // a potential may have no energy there
      }
      if (keep_ > 1) add_visited(trial.energy < lowest.energy ? lowest : trial, visited);
      if (trial.energy < lowest.energy) lowest = trial;
      // Also false for NaN.
      if (trial.energy - current.energy < -kTemperature * std::log(acceptance))
        current = std::move(trial);
    }
    lowest.energy = (co_await quench(lowest)).energy_kcal_per_mol;
    minima = {std::move(lowest)};
    for (Minimum& m : visited) {
      m.energy = (co_await quench(m)).energy_kcal_per_mol;
      if (!std::isfinite(m.energy) || is_among(m, minima)) continue;
      minima.push_back(std::move(m));
    }
    // A quench from a saddle point may end below the previous lowest minimum.
    std::stable_sort(minima.begin(), minima.end(),
                     [](const Minimum& a, const Minimum& b) { return a.energy < b.energy; });
    co_return {};
  }

 private:
  static bool is_among(const Minimum& m, const std::vector<Minimum>& minima) {
    return std::any_of(minima.begin(), minima.end(), [&](const Minimum& other) {
      return std::abs(other.energy - m.energy) < kSame;
    });
  }

  /// Adds a minimum unless one with its energy is already there.
  void add_visited(const Minimum& m, std::vector<Minimum>& visited) const {
    const auto at = std::lower_bound(visited.begin(), visited.end(), m.energy - kSameHop,
                                     [](const Minimum& a, double e) { return a.energy < e; });
    if (at != visited.end() && at->energy < m.energy + kSameHop) return;
    if (visited.size() == kCandidates * keep_ && at == visited.end()) return;
    visited.insert(at, m);
    if (visited.size() > kCandidates * keep_) visited.pop_back();
  }

  std::function<bool()> should_continue_;
  int hops_;
  std::size_t keep_;
  WaterModel model_;
  int molecules_;
  start::ClusterMoves moves_;
};

/// The lowest minima of all starts. The result does not depend on the order in which starts finish.
/// Counts are complete, because a minimum that was dropped is never added again.
class LowestMinima {
 public:
  explicit LowestMinima(std::size_t most) : most_(most) {}

  /// @param minima distinct minima of one start
  void add(const std::vector<Minimum>& minima, int start) {
    for (const Minimum& m : minima) {
      if (std::isfinite(m.energy)) entries_.push_back({m, start, 1});
    }
    merge();
  }

  std::vector<FoundMinimum> take() {
    std::vector<FoundMinimum> minima;
    for (Entry& e : entries_) {
      minima.push_back({std::move(e.minimum.positions_A), e.minimum.energy, e.hits});
    }
    return minima;
  }

 private:
  struct Entry {
    Minimum minimum;
    int start = 0, hits = 0;
  };

  void merge() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.minimum.energy, a.start) < std::pair(b.minimum.energy, b.start);
    });
    std::vector<Entry> distinct;
    for (Entry& e : entries_) {
      const bool same =
          !distinct.empty() && e.minimum.energy - distinct.back().minimum.energy < kSame;
      if (!same && distinct.size() == most_) break;
      if (!same) {
        distinct.push_back(std::move(e));
        continue;
      }
      const int hits = distinct.back().hits + e.hits;
      if (e.start < distinct.back().start) distinct.back() = std::move(e);
      distinct.back().hits = hits;
    }
    entries_ = std::move(distinct);
  }

  std::size_t most_;
  std::vector<Entry> entries_;
};

}  // namespace

int default_hops(int molecules) {
  if (molecules < 2) return 0;
  if (molecules <= kEasyMolecules) return kEasyHops;
  // The number of hops that clusters of 8, 12 and 16 molecules need grows like this power. It is
  // limited by the quenches per start, and there are some hops even if a quench takes a second.
  const double needed = kEasyHops * std::pow(static_cast<double>(molecules) / kEasyMolecules, 5.0);
  const double available = default_quenches(molecules) / kMinStarts;
  const double least = std::min<double>(kEasyHops, 4e6 / pairs_of(molecules));
  return static_cast<int>(std::max(std::min({needed, available, double{kMaxHops}}), least));
}

int default_starts(int molecules) {
  if (molecules < 2) return 1;
  if (molecules <= kEasyMolecules) return kEasyStarts;
  const double starts = default_quenches(molecules) / (default_hops(molecules) + 1);
  return static_cast<int>(std::clamp(starts, 1.0, double{kMaxStarts}));
}

namespace {

/// The options with their defaults filled in.
/// @throws InputError for a negative number
SearchOptions completed(SearchOptions options, int molecules) {
  for (const auto& [count, name] :
       {std::pair(options.starts, "starts"), std::pair(options.hops, "hops")}) {
    if (count < 0) {
      throw InputError(fmt::format("the number of {} must be positive, not {}", name, count));
    }
  }
  if (options.hops == 0 || molecules < 2) options.hops = default_hops(molecules);
  if (options.starts == 0) {
    // The same total number of hops as by default.
    const std::int64_t hops = std::int64_t{default_starts(molecules)} * default_hops(molecules);
    options.starts = static_cast<int>(std::max<std::int64_t>(1, hops / std::max(options.hops, 1)));
  }
  options.keep = std::max(options.keep, 1);
  return options;
}

}  // namespace

LowestCluster lowest_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                             const SearchOptions& wanted) {
  if (molecules < 1) {
    throw InputError("a cluster needs at least one molecule, not " + std::to_string(molecules));
  }
  const SearchOptions options = completed(wanted, molecules);
  const int starts = options.starts, keep = options.keep;

  // Ordering by (energy to 1e-6 kcal/mol, start) makes the result independent of the threads.
  const auto key = [](double energy) { return std::round(1e6 * energy); };
  LowestCluster lowest;
  lowest.energy_kcal_per_mol = std::numeric_limits<double>::infinity();
  std::vector<double> energies(static_cast<std::size_t>(starts), lowest.energy_kcal_per_mol);
  LowestMinima kept(static_cast<std::size_t>(keep));
  std::mutex mutex;
  const auto run_start = [&](start::Quenches& quenches, std::int64_t i) -> start::QuenchTask {
    const int start = static_cast<int>(i);
    // There must be a result.
    if (start > 0 && options.should_continue && !options.should_continue()) co_return {};
    Search search(model, molecules, options);
    std::vector<Minimum> minima;
    co_await search.run(quenches, seed, start, minima);
    Minimum& m = minima.front();
    const std::lock_guard lock(mutex);
    const bool was_interrupted = options.should_continue && !options.should_continue();
    if (was_interrupted && !lowest.positions_A.empty()) co_return {};
    energies[static_cast<std::size_t>(i)] = m.energy;
    if (keep > 1) kept.add(minima, start);
    if (lowest.positions_A.empty() ||
        std::pair(key(m.energy), start) <
            std::pair(key(lowest.energy_kcal_per_mol), lowest.start)) {
      lowest.positions_A = std::move(m.positions_A);
      lowest.energy_kcal_per_mol = m.energy;
      lowest.start = start;
    }
    ++lowest.starts_done;
    if (options.progress) {
      options.progress(lowest.starts_done, starts, lowest.energy_kcal_per_mol);
    }
    co_return {};
  };
  start::run_quenches({model, molecules, options.potential, {}, options.device},
                      {.should_continue = options.should_continue}, start::first_ids(starts),
                      options.threads, run_start);
  lowest.starts_that_hit =
      static_cast<int>(std::count_if(energies.begin(), energies.end(), [&](double energy) {
        return energy < lowest.energy_kcal_per_mol + kSame;
      }));
  start::move_centre_to_origin(model, lowest.positions_A);
  if (keep > 1) {
    lowest.minima = kept.take();
    for (FoundMinimum& m : lowest.minima) start::move_centre_to_origin(model, m.positions_A);
  } else {
    lowest.minima = {{lowest.positions_A, lowest.energy_kcal_per_mol, lowest.starts_that_hit}};
  }
  return lowest;
}

namespace {

using Eigen::Vector3d;

constexpr double kVolumePerMolecule = 40.0;  // [A^3]; 30 in the liquid
constexpr double kNearestOxygens = 2.6;      // [A]
constexpr double kNearestAtoms = 1.5;        // [A]
/// Failed attempts to place a molecule before the sphere grows by kGrowth.
constexpr int kTries = 100;
constexpr double kGrowth = 1.03;

/// True if two molecules do not overlap.
bool apart(const double* a, const double* b) {
  const auto near = [&](int i, int j, double distance) {
    const double x = a[3 * i] - b[3 * j], y = a[3 * i + 1] - b[3 * j + 1],
                 z = a[3 * i + 2] - b[3 * j + 2];
    return x * x + y * y + z * z < distance * distance;
  };
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (near(i, j, i + j == 0 ? kNearestOxygens : kNearestAtoms)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<double> random_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                                   std::int64_t replica) {
  if (molecules < 1) {
    throw InputError("a cluster needs at least one molecule, not " + std::to_string(molecules));
  }
  const start::Triangle triangle(model);
  const double reach = std::max(kNearestOxygens, kNearestAtoms + 2.0 * model.r_oh_A);
  const auto n = static_cast<std::size_t>(molecules);
  double radius = std::cbrt(0.75 / units::pi * kVolumePerMolecule * molecules);
  const auto empty_grid = [&] {
    return start::CellGrid(Vector3d::Constant(-radius), Vector3d::Constant(radius), reach);
  };
  start::CellGrid grid = empty_grid();
  std::vector<double> x(9 * n);
  for (std::size_t m = 0; m < n; ++m) {
    for (std::uint64_t draw = 0;; ++draw) {
      if (draw % kTries == kTries - 1) {
        radius *= kGrowth;
        grid = empty_grid();
        for (std::size_t k = 0; k < m; ++k) grid.add(Eigen::Map<const Vector3d>(&x[9 * k]));
      }
      const auto u = start::uniforms(seed, static_cast<std::uint64_t>(replica), m, draw);
      const start::MoleculeFrame frame{
          radius * std::cbrt(u[0]) * start::random_direction(u[1], u[2]),
          start::random_rotation(u[3], u[4], u[5])};
      frame.place(triangle, &x[9 * m]);
      const bool fits = grid.visit_near(frame.origin, [&](int k) {
        return apart(&x[9 * m], &x[9 * static_cast<std::size_t>(k)]);
      });
      if (fits) {
        grid.add(frame.origin);
        break;
      }
    }
  }
  start::move_centre_to_origin(model, x);
  return x;
}

int max_quench_iterations(int molecules) {
  const double pairs = 0.5 * molecules * (molecules - 1.0);
  return static_cast<int>(std::clamp(5e9 / std::max(pairs, 1.0), 1.0, 10'000.0));
}

start::QuenchTask start::quench_random_cluster(Quenches& quenches, std::vector<double>& x) {
  const Surface& surface = quenches.surface();
  const MinimiseResult result =
      co_await quenches.quench(x, 1e-3, max_quench_iterations(surface.molecules));
  move_centre_to_origin(surface.model, x);
  co_return result;
}

std::vector<double> quenched_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                                     std::int64_t replica, MinimiseResult* result,
                                     const std::function<bool()>& should_continue) {
  std::vector<double> x = random_cluster(model, molecules, seed, replica);
  const MinimiseResult r =
      start::run_alone({model, molecules}, {.should_continue = should_continue},
                       [&](auto& quenches) { return start::quench_random_cluster(quenches, x); });
  if (result) *result = r;
  return x;
}

}  // namespace tarn
