#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "centre.hpp"
#include "core/parallel.hpp"
#include "molecule_frame.hpp"
#include "tarn/analysis/isomers.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"
#include "uniform.hpp"

namespace tarn {
namespace {

using Eigen::Vector3d;

/// Metropolis temperature of the hops [kcal/mol].
constexpr double kTemperature = 0.6;
/// Hops are quenched to this, the result of each start to 1e-6 [kcal/mol/A].
constexpr double kHopTolerance = 1e-2;
constexpr int kHops = 50, kHopsOfLarge = 500;
/// Hops that end so near each other are taken for one minimum: what kHopTolerance leaves of the
/// energy along a mode of 0.05 kcal/mol/A^2 [kcal/mol].
constexpr double kSameHop = 1e-3;
/// As many as this for each that is kept are followed to the end, since some are the same.
constexpr std::size_t kFollowed = 4;

/// Clusters of more molecules take moves of some of them too: a minimum whose every molecule is
/// turned or shaken at once is lost, and nothing near it is found.
constexpr int kLargestMovedWhole = 8;
/// How many of them, on average.
constexpr double kMovedOfLarge = 2.0;

/// Hops of a start by default, fewer for clusters so large that one quench takes a second. Small
/// clusters have no minimum that is far from a random start; of larger ones a long search finds
/// more than many short ones.
int default_hops(int molecules) {
  const double pairs = 0.5 * molecules * (molecules - 1.0);
  const int most = molecules <= kLargestMovedWhole ? kHops : kHopsOfLarge;
  return molecules < 2 ? 0 : static_cast<int>(std::min<double>(most, 4e6 / pairs));
}

struct Minimum {
  std::vector<double> positions_A;
  double energy = 0.0;  // [kcal/mol]
};

/// One search: a random cluster, quenched, then hops from minimum to minimum.
class Search {
 public:
  /// @param keep how many minima each search tells
  Search(const WaterModel& model, int molecules, int hops, int keep,
         const std::function<bool()>& go_on)
      : go_on_(go_on),
        hops_(hops),
        keep_(static_cast<std::size_t>(keep)),
        model_(model),
        triangle_(model),
        force_field_(model, molecules),
        frames_(static_cast<std::size_t>(molecules)) {}

  /// @return the lowest minimum and, where more are kept, the next ones that hops led to, from the
  /// lowest on
  std::vector<Minimum> run(std::uint64_t seed, int start) {
    seed_ = seed;
    replica_ = static_cast<std::uint64_t>(start);
    const int n = force_field_.molecules();
    const int limit = quench_iterations(n);
    const auto quench_hop = [&](Minimum& m) {
      m.energy = quench_rigid(force_field_, m.positions_A, {kHopTolerance, limit, go_on_})
                     .energy_kcal_per_mol;
    };
    const auto quench = [&](Minimum& m) {
      m.energy =
          quench_to_minimum(force_field_, m.positions_A, {1e-6, limit, go_on_}).energy_kcal_per_mol;
    };
    Minimum here{random_cluster(model_, n, seed, start), 0.0};
    quench_hop(here);
    Minimum lowest = here;
    std::vector<Minimum> met;  // to kHopTolerance, from the lowest on
    for (int hop = 0; hop < hops_ && (!go_on_ || go_on_()); ++hop) {
      // Draws of one hop; random_cluster() has those below 2^32.
      draw_ = static_cast<std::uint64_t>(hop + 1) << 32;
      const auto u = start::uniforms(seed_, replica_, frames_.size(), draw_);
      Minimum there = here;
      perturb(static_cast<int>(3.0 * u[0]), u[1], there.positions_A);
      quench_hop(there);
      if (keep_ > 1) note_minimum(there.energy < lowest.energy ? lowest : there, met);
      if (there.energy < lowest.energy) lowest = there;
      // Also false for an energy that is not a number.
      if (there.energy - here.energy < -kTemperature * std::log(u[2])) here = std::move(there);
    }
    quench(lowest);
    std::vector<Minimum> minima{std::move(lowest)};
    for (Minimum& m : met) {
      quench(m);
      if (!std::isfinite(m.energy) || is_among(m, minima)) continue;
      minima.push_back(std::move(m));
    }
    // From a saddle point one may have come below what was the lowest.
    std::stable_sort(minima.begin(), minima.end(),
                     [](const Minimum& a, const Minimum& b) { return a.energy < b.energy; });
    return minima;
  }

 private:
  static bool is_among(const Minimum& m, const std::vector<Minimum>& minima) {
    return std::any_of(minima.begin(), minima.end(), [&](const Minimum& other) {
      return std::abs(other.energy - m.energy) < analysis::kSameMinimum_kcal_per_mol;
    });
  }

  /// Hops often lead to a minimum again: only those of other energies are followed to the end.
  void note_minimum(const Minimum& m, std::vector<Minimum>& met) const {
    const auto at = std::lower_bound(met.begin(), met.end(), m.energy - kSameHop,
                                     [](const Minimum& a, double e) { return a.energy < e; });
    if (at != met.end() && at->energy < m.energy + kSameHop) return;
    if (met.size() == kFollowed * keep_ && at == met.end()) return;
    met.insert(at, m);
    if (met.size() > kFollowed * keep_) met.pop_back();
  }

  /// @param kind 0: shake all molecules, 1: turn all molecules at random, 2: take one out and put
  /// it back elsewhere
  void perturb(int kind, double choice, std::vector<double>& x) {
    for (std::size_t m = 0; m < frames_.size(); ++m) {
      start::MoleculeFrame::nearest_rigid(model_, &x[9 * m], frames_[m]);
    }
    if (kind == 2) {
      reinsert(std::min(static_cast<std::size_t>(choice * static_cast<double>(frames_.size())),
                        frames_.size() - 1));
    } else {
      const auto n = static_cast<double>(frames_.size());
      const bool some = frames_.size() > kLargestMovedWhole && choice < 0.75;
      for (std::size_t m = 0; m < frames_.size(); ++m) {
        const auto u = start::uniforms(seed_, replica_, m, draw_);
        if (some && start::uniforms(seed_, replica_, m, draw_ + 1)[0] * n > kMovedOfLarge) continue;
        const Vector3d axis = start::random_direction(u[0], u[1]);
        if (kind == 0) {
          const Vector3d shift(u[3] - 0.5, u[4] - 0.5, u[5] - 0.5);
          frames_[m] = frames_[m].moved(0.6 * shift, 2.4 * u[2] * axis);
        } else {
          frames_[m].rotation = start::random_rotation(u[0], u[1], u[2]);
        }
      }
    }
    for (std::size_t m = 0; m < frames_.size(); ++m) frames_[m].place(triangle_, &x[9 * m]);
  }

  /// Puts molecule k at a random place within the cluster or on it, clear of the others.
  void reinsert(std::size_t k) {
    Vector3d centre = Vector3d::Zero();
    for (const start::MoleculeFrame& f : frames_) centre += f.origin;
    centre /= static_cast<double>(frames_.size());
    double radius = 0.0;
    for (const start::MoleculeFrame& f : frames_) {
      radius = std::max(radius, (f.origin - centre).norm());
    }
    for (std::uint64_t t = 0; t < 200; ++t) {
      const auto u = start::uniforms(seed_, replica_, k, draw_ + t);
      const Vector3d place =
          centre + (radius + 1.0) * std::cbrt(u[0]) * start::random_direction(u[1], u[2]);
      bool clear = true;
      for (std::size_t m = 0; m < frames_.size(); ++m) {
        clear = clear && (m == k || (frames_[m].origin - place).norm() > 2.4);
      }
      if (clear) {
        frames_[k] = {place, start::random_rotation(u[3], u[4], u[5])};
        return;
      }
    }
  }

  std::function<bool()> go_on_;
  int hops_;
  std::size_t keep_;
  WaterModel model_;
  start::Triangle triangle_;
  ForceField force_field_;
  std::vector<start::MoleculeFrame> frames_;
  std::uint64_t seed_ = 0, replica_ = 0, draw_ = 0;
};

/// The lowest minima of all starts. Which start stands for each does not depend on which one ends
/// first. One that is no longer among the lowest never comes back, so that counts are whole.
class KeptMinima {
 public:
  explicit KeptMinima(std::size_t most) : most_(most) {}

  /// @param minima distinct ones of one start
  void add(const std::vector<Minimum>& minima, int start) {
    for (const Minimum& m : minima) {
      if (std::isfinite(m.energy)) entries_.push_back({m, start, 1});
    }
    thin_out();
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

  void thin_out() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.minimum.energy, a.start) < std::pair(b.minimum.energy, b.start);
    });
    std::vector<Entry> distinct;
    for (Entry& e : entries_) {
      const bool same = !distinct.empty() && e.minimum.energy - distinct.back().minimum.energy <
                                                 analysis::kSameMinimum_kcal_per_mol;
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

int default_starts(int molecules) {
  if (molecules < 2) return 1;
  if (molecules <= 8) return 96;
  // About 2e9 pairs of molecules in all, with 200 iterations a quench, and at most 13 000 quenches.
  const double pairs = 0.5 * molecules * (molecules - 1.0);
  const double quenches = std::min(2e9 / (pairs * 200.0), 13e3);
  return static_cast<int>(std::max(quenches / (default_hops(molecules) + 1), 1.0));
}

LowestCluster lowest_cluster(const WaterModel& model, int molecules, std::uint64_t seed, int starts,
                             const SearchProgress& progress, int threads,
                             const std::function<bool()>& go_on, int keep, int hops) {
  if (molecules < 1) {
    throw InputError("a cluster needs at least one molecule, not " + std::to_string(molecules));
  }
  if (starts < 0) {
    throw InputError("the number of starts must be positive, not " + std::to_string(starts));
  }
  if (hops < 0)
    throw InputError("the number of hops must be positive, not " + std::to_string(hops));
  if (hops == 0) hops = default_hops(molecules);
  if (starts == 0) {
    // As many hops in all as by default.
    const std::int64_t all = std::int64_t{default_starts(molecules)} * default_hops(molecules);
    starts = static_cast<int>(std::max<std::int64_t>(all / std::max(hops, 1), 1));
  }

  // The order of (energy to 1e-6 kcal/mol, start) does not depend on which start ends first.
  const auto key = [](double energy) { return std::round(1e6 * energy); };
  LowestCluster lowest;
  lowest.energy_kcal_per_mol = std::numeric_limits<double>::infinity();
  std::vector<double> energies(static_cast<std::size_t>(starts), lowest.energy_kcal_per_mol);
  KeptMinima kept(static_cast<std::size_t>(std::max(keep, 1)));
  std::mutex mutex;
  for_each_index(
      starts, threads,
      [&](int) { return Search(model, molecules, hops, std::max(keep, 1), go_on); },
      [&](Search& search, std::int64_t i) {
        const int start = static_cast<int>(i);
        // The first one is looked at whatever comes, so that there is a cluster.
        if (start > 0 && go_on && !go_on()) return;
        std::vector<Minimum> minima = search.run(seed, start);
        Minimum& m = minima.front();
        const std::lock_guard lock(mutex);
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
        if (progress) progress(lowest.starts_done, starts, lowest.energy_kcal_per_mol);
      });
  lowest.starts_that_hit =
      static_cast<int>(std::count_if(energies.begin(), energies.end(), [&](double energy) {
        return energy < lowest.energy_kcal_per_mol + analysis::kSameMinimum_kcal_per_mol;
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

}  // namespace tarn
