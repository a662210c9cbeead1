#include "water_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "grouped_problems.hpp"
#include "tarn/core/error.hpp"
#include "tarn/state.hpp"

namespace tarn::io {
namespace {

/// A more distant hydrogen belongs to another molecule: hydrogen bonds are longer than 1.5 A.
constexpr double kLongestBond_A = 1.3;

/// The oxygens sorted along x, for a search near a position only.
class Oxygens {
 public:
  Oxygens(const std::vector<bool>& is_oxygen, const std::vector<double>& positions_A)
      : x_A_(positions_A) {
    for (std::size_t a = 0; a < is_oxygen.size(); ++a) {
      if (is_oxygen[a]) atoms_.push_back(a);
    }
    std::sort(atoms_.begin(), atoms_.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(x_A_[3 * a], a) < std::pair(x_A_[3 * b], b);
    });
  }

  /// The nearest oxygen within kLongestBond_A, or the hydrogen itself if there is none.
  std::size_t nearest(std::size_t hydrogen) const {
    const double x = x_A_[3 * hydrogen];
    std::size_t found = hydrogen;
    double shortest = kLongestBond_A;
    auto at =
        std::lower_bound(atoms_.begin(), atoms_.end(), x - kLongestBond_A,
                         [&](std::size_t atom, double from) { return x_A_[3 * atom] < from; });
    for (; at != atoms_.end() && x_A_[3 * *at] <= x + kLongestBond_A; ++at) {
      const double distance =
          std::hypot(x_A_[3 * *at] - x, x_A_[3 * *at + 1] - x_A_[3 * hydrogen + 1],
                     x_A_[3 * *at + 2] - x_A_[3 * hydrogen + 2]);
      if (distance > shortest) continue;
      shortest = distance;
      found = *at;
    }
    return found;
  }

  /// The first hydrogens, each as a molecule of its nearest oxygen at any distance and itself
  /// twice, to recognise the unit of coordinates.
  std::vector<double> with_nearest(const std::vector<bool>& is_oxygen) const {
    constexpr std::size_t kMostNumbers = 900;
    std::vector<double> molecules_A;
    for (std::size_t h = 0; h < is_oxygen.size() && molecules_A.size() < kMostNumbers; ++h) {
      if (is_oxygen[h] || atoms_.empty()) continue;
      const auto square = [&](std::size_t o) {
        double sum = 0.0;
        for (std::size_t c = 0; c < 3; ++c) {
          const double d = x_A_[3 * o + c] - x_A_[3 * h + c];
          sum += d * d;
        }
        return sum;
      };
      const std::size_t nearest = *std::ranges::min_element(atoms_, {}, square);
      for (const std::size_t atom : {nearest, h, h}) {
        const auto first = x_A_.begin() + static_cast<std::ptrdiff_t>(3 * atom);
        molecules_A.insert(molecules_A.end(), first, first + 3);
      }
    }
    return molecules_A;
  }

 private:
  const std::vector<double>& x_A_;
  std::vector<std::size_t> atoms_;
};

void reorder(const std::vector<std::size_t>& order, std::vector<double>& values) {
  if (values.empty()) return;
  std::vector<double> moved;
  moved.reserve(values.size());
  for (const std::size_t atom : order) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(3 * atom);
    moved.insert(moved.end(), first, first + 3);
  }
  values = std::move(moved);
}

}  // namespace

void group_by_distance(const std::vector<bool>& is_oxygen, const std::string& path,
                       Structure& structure, std::vector<int>& lines) {
  const std::size_t atoms = is_oxygen.size();
  const Oxygens oxygens(is_oxygen, structure.positions_A);
  std::vector<std::array<std::size_t, 2>> hydrogens(atoms);  // of each oxygen
  std::vector<int> count(atoms, 0);
  GroupedProblems problems;
  for (std::size_t a = 0; a < atoms; ++a) {
    if (is_oxygen[a]) continue;
    const std::size_t o = oxygens.nearest(a);
    if (o == a) {
      problems.add("hydrogens without an oxygen",
                   {path, lines[a], 1,
                    fmt::format("no oxygen is within {} A of this hydrogen", kLongestBond_A)});
      continue;
    }
    if (count[o] < 2) hydrogens[o][static_cast<std::size_t>(count[o])] = a;
    ++count[o];
  }
  std::vector<std::size_t> order;
  order.reserve(atoms);
  for (std::size_t a = 0; a < atoms; ++a) {
    if (!is_oxygen[a]) continue;
    if (count[a] != 2) {
      problems.add(
          "oxygens without two hydrogens",
          {path, lines[a], 1,
           fmt::format("this oxygen is the nearest one of {} hydrogen{} within {} A, not of "
                       "two",
                       count[a], count[a] == 1 ? "" : "s", kLongestBond_A)});
      continue;
    }
    order.insert(order.end(), {a, hydrogens[a][0], hydrogens[a][1]});
  }
  if (problems.count() > 0) {
    if (std::string unit = unit_problem(oxygens.with_nearest(is_oxygen)); !unit.empty()) {
      throw InputError({Problem{path, 0, 0, std::move(unit)}});
    }
    throw InputError(problems.take());
  }

  reorder(order, structure.positions_A);
  reorder(order, structure.velocities_A_per_akma);
  std::vector<int> new_lines;
  structure.file_order.resize(atoms);
  for (std::size_t i = 0; i < atoms; ++i) {
    new_lines.push_back(lines[order[i]]);
    structure.file_order[order[i]] = static_cast<int>(i);
  }
  lines = std::move(new_lines);
  structure.molecules = static_cast<int>(atoms) / kAtomsPerMolecule;
}

}  // namespace tarn::io
