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
constexpr int kHops = 50;

/// Hops of a start: kHops, fewer for clusters so large that one quench takes a second.
int hops(int molecules) {
  const double pairs = 0.5 * molecules * (molecules - 1.0);
  return molecules < 2 ? 0 : static_cast<int>(std::min<double>(kHops, 4e6 / pairs));
}

struct Minimum {
  std::vector<double> positions_A;
  double energy = 0.0;  // [kcal/mol]
};

/// One search: a random cluster, quenched, then hops from minimum to minimum.
class Search {
 public:
  Search(const WaterModel& model, int molecules, const std::function<bool()>& go_on)
      : go_on_(go_on),
        model_(model),
        triangle_(model),
        force_field_(model, molecules),
        frames_(static_cast<std::size_t>(molecules)) {}

  Minimum run(std::uint64_t seed, int start) {
    seed_ = seed;
    replica_ = static_cast<std::uint64_t>(start);
    const int n = force_field_.molecules();
    const int limit = quench_iterations(n);
    const auto quench = [&](Minimum& m, double tolerance) {
      m.energy =
          quench_rigid(force_field_, m.positions_A, {tolerance, limit, go_on_}).energy_kcal_per_mol;
    };
    Minimum here{random_cluster(model_, n, seed, start), 0.0};
    quench(here, kHopTolerance);
    Minimum lowest = here;
    for (int hop = 0; hop < hops(n) && (!go_on_ || go_on_()); ++hop) {
      // Draws of one hop; random_cluster() has those below 2^32.
      draw_ = static_cast<std::uint64_t>(hop + 1) << 32;
      const auto u = start::uniforms(seed_, replica_, frames_.size(), draw_);
      Minimum there = here;
      perturb(static_cast<int>(3.0 * u[0]), u[1], there.positions_A);
      quench(there, kHopTolerance);
      if (there.energy < lowest.energy) lowest = there;
      // Also false for an energy that is not a number.
      if (there.energy - here.energy < -kTemperature * std::log(u[2])) here = std::move(there);
    }
    quench(lowest, 1e-6);
    return lowest;
  }

 private:
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
      for (std::size_t m = 0; m < frames_.size(); ++m) {
        const auto u = start::uniforms(seed_, replica_, m, draw_);
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
  WaterModel model_;
  start::Triangle triangle_;
  ForceField force_field_;
  std::vector<start::MoleculeFrame> frames_;
  std::uint64_t seed_ = 0, replica_ = 0, draw_ = 0;
};

}  // namespace

int default_starts(int molecules) {
  if (molecules < 2) return 1;
  if (molecules <= 8) return 96;
  // About 2e9 pairs of molecules in all, with 200 iterations a quench.
  const double pairs = 0.5 * molecules * (molecules - 1.0);
  return static_cast<int>(std::clamp(2e9 / (pairs * 200.0 * (hops(molecules) + 1)), 1.0, 256.0));
}

LowestCluster lowest_cluster(const WaterModel& model, int molecules, std::uint64_t seed, int starts,
                             const SearchProgress& progress, int threads,
                             const std::function<bool()>& go_on) {
  if (molecules < 1) {
    throw InputError("a cluster needs at least one molecule, not " + std::to_string(molecules));
  }
  if (starts < 0) {
    throw InputError("the number of starts must be positive, not " + std::to_string(starts));
  }
  if (starts == 0) starts = default_starts(molecules);

  // The order of (energy to 1e-6 kcal/mol, start) does not depend on which start ends first.
  const auto key = [](double energy) { return std::round(1e6 * energy); };
  LowestCluster lowest;
  lowest.energy_kcal_per_mol = std::numeric_limits<double>::infinity();
  std::vector<double> energies(static_cast<std::size_t>(starts), lowest.energy_kcal_per_mol);
  std::mutex mutex;
  for_each_index(
      starts, threads, [&](int) { return Search(model, molecules, go_on); },
      [&](Search& search, std::int64_t i) {
        const int start = static_cast<int>(i);
        // The first one is looked at whatever comes, so that there is a cluster.
        if (start > 0 && go_on && !go_on()) return;
        Minimum m = search.run(seed, start);
        const std::lock_guard lock(mutex);
        energies[static_cast<std::size_t>(i)] = m.energy;
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
  return lowest;
}

}  // namespace tarn
