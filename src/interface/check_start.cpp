#include "check_start.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/steps/single.hpp"

namespace tarn {
namespace {

using std::to_string;

void check_size(const char* array, std::size_t size, const State& s) {
  const std::size_t expected = s.replica_ids.size() * s.coordinates();
  if (size == expected) return;
  throw InputError("the start state has " + to_string(size) + " numbers in " + array + "; " +
                   to_string(s.replicas()) + " replicas of " + to_string(s.molecules) +
                   " molecules have " + to_string(expected));
}

void check_heat(const State& s) {
  const std::size_t expected = s.replica_ids.size() * static_cast<std::size_t>(s.molecules);
  const std::size_t size = s.heat_kcal_per_mol.size();
  if (size == 0 || size == expected) return;
  throw InputError("the start state has " + to_string(size) +
                   " numbers in heat_kcal_per_mol; it has none, or one a molecule and replica, " +
                   to_string(expected) + " here");
}

void check_replica_ids(std::vector<std::int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  if (!ids.empty() && ids.front() < 0) {
    throw InputError("replica ids are 0 or more; one is " + to_string(ids.front()));
  }
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) {
    throw InputError("two replicas have the id " + to_string(*twice) +
                     "; they would have the same noise");
  }
}

void check_counts(const PairCountRequest& counts) {
  if (!counts.enabled) return;
  if (counts.every < 1) {
    throw InputError("pairs are to be counted every " + to_string(counts.every) +
                     " steps; that must be 1 or more");
  }
  if (counts.bins < 1) {
    throw InputError("pairs are to be counted in " + to_string(counts.bins) +
                     " bins; there must be 1 or more");
  }
  if (counts.groups < 1) {
    throw InputError("pairs are to be counted in " + to_string(counts.groups) +
                     " groups of replicas; there must be 1 or more");
  }
  if (!(counts.r_max_A > 0.0) || !std::isfinite(counts.r_max_A)) {
    throw InputError("pairs are to be counted up to r_max_A = " + to_string(counts.r_max_A) +
                     "; that must be a number above 0");
  }
}

void check_single(const System& system, const State& start) {
  if (!runs_in_single(system.integrator)) {
    throw InputError(
        "precision = \"single\" is not for Newmark and dense solves; use \"mixed\" or \"double\"");
  }
  const std::vector<double>& x = start.positions_A;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double from_oxygen = x[k] - x[k / 9 * 9 + k % 3];
    if (std::abs(x[k]) < kLargestFixedPosition && std::abs(from_oxygen) < kLargestFixedOffset) {
      continue;
    }
    throw InputError("precision = \"single\" holds hydrogens within " +
                     to_string(static_cast<int>(kLargestFixedOffset)) +
                     " A of their oxygen and positions within 1.6e7 A; molecule " +
                     to_string(k / 9 % static_cast<std::size_t>(start.molecules) + 1) +
                     " is not: use \"mixed\"");
  }
}

}  // namespace

void check_start(const System& system, const State& start, const PairCountRequest& counts) {
  if (system.molecules < 1) {
    throw InputError("a system has 1 molecule or more; this one has " +
                     to_string(system.molecules));
  }
  if (system.molecules != start.molecules) {
    throw InputError("the system has " + to_string(system.molecules) +
                     " molecules and its start state " + to_string(start.molecules));
  }
  if (start.step < 0) {
    throw InputError("steps count from 0; the start state is at step " + to_string(start.step));
  }
  check_size("positions_A", start.positions_A.size(), start);
  check_size("velocities_A_per_akma", start.velocities_A_per_akma.size(), start);
  check_heat(start);
  check_replica_ids(start.replica_ids);
  check_counts(counts);
  if (system.precision == Precision::single) check_single(system, start);
}

}  // namespace tarn
