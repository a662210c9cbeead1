#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/xyz.hpp"
#include "tarn/state.hpp"

namespace tarn::io {
namespace {

constexpr double kCoincident_A = 0.1;
constexpr double kClosestOxygens_A = 0.5;
constexpr double kLongestBond_A = 3.0;
constexpr std::size_t kMostProblems = 20;

using Point = std::array<double, 3>;

double distance_A(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

std::vector<Point> points_of(const Structure& structure) {
  std::vector<Point> points(structure.positions_A.size() / 3);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::copy_n(structure.positions_A.begin() + static_cast<std::ptrdiff_t>(3 * i), 3,
                points[i].begin());
  }
  return points;
}

/// Pairs that are too close. Sorted along x, so that only neighbours there are compared.
void check_overlaps(const std::vector<Point>& points, const XyzReader& reader,
                    std::vector<Problem>& problems) {
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return points[a] != points[b] ? points[a] < points[b] : a < b; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (points[order[j]][0] - points[order[i]][0] >= kClosestOxygens_A) break;
      const auto [first, second] = std::minmax(order[i], order[j]);
      const double distance = distance_A(points[first], points[second]);
      const bool oxygens = first % kAtomsPerMolecule == 0 && second % kAtomsPerMolecule == 0;
      if (distance >= (oxygens ? kClosestOxygens_A : kCoincident_A)) continue;
      problems.push_back({reader.path(), reader.line_of_atom(second), 1,
                          fmt::format("this atom is {:.3g} A from the one in line {}: {}", distance,
                                      reader.line_of_atom(first),
                                      oxygens ? "oxygens closer than 0.5 A cannot be simulated"
                                              : "the two coincide")});
      if (problems.size() >= kMostProblems) return;
    }
  }
}

void check_bonds(const std::vector<Point>& points, const XyzReader& reader,
                 std::vector<Problem>& problems) {
  for (std::size_t atom = 0; atom < points.size(); ++atom) {
    const std::size_t oxygen = atom - atom % kAtomsPerMolecule;
    const double distance = distance_A(points[atom], points[oxygen]);
    if (distance <= kLongestBond_A) continue;
    problems.push_back(
        {reader.path(), reader.line_of_atom(static_cast<int>(atom)), 1,
         fmt::format(
             "this hydrogen is {:.3g} A from its oxygen in line {}: the atoms of a molecule "
             "must stand together in the order O H H, not broken over a periodic boundary",
             distance, reader.line_of_atom(static_cast<int>(oxygen)))});
    if (problems.size() >= kMostProblems) return;
  }
}

}  // namespace

Structure read_structure(const std::string& path) {
  XyzReader reader(path);
  std::optional<Structure> structure = reader.next();
  if (!structure) throw InputError({Problem{path, 0, 0, "the file holds no structure"}});
  std::vector<Problem> problems;
  const std::vector<Point> points = points_of(*structure);
  check_bonds(points, reader, problems);
  check_overlaps(points, reader, problems);
  std::sort(problems.begin(), problems.end(),
            [](const Problem& a, const Problem& b) { return a.line < b.line; });
  if (!problems.empty()) throw InputError(std::move(problems));
  reader.check_next_count();
  return std::move(*structure);
}

}  // namespace tarn::io
