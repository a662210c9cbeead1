#include "tarn/io/structure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/state.hpp"

namespace tarn::io {
namespace {

constexpr double kCoincident_A = 0.1;
constexpr double kClosestOxygens_A = 0.5;
constexpr double kLongestBond_A = 3.0;
constexpr std::size_t kMostProblems = 20;
/// How far a length of a start may be from the model's [A].
constexpr double kBondTolerance_A = 0.2;

using Point = std::array<double, 3>;

double distance_A(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// "line 7", or the number of the atom in a file without lines.
std::string place_of(const FrameReader& reader, std::size_t atom) {
  const int line = reader.line_of_atom(static_cast<int>(atom));
  return line > 0 ? fmt::format("line {}", line)
                  : fmt::format("atom {} (counted from 1)", atom + 1);
}

Problem problem_at(const FrameReader& reader, std::size_t atom, const std::string& message) {
  const int line = reader.line_of_atom(static_cast<int>(atom));
  if (line > 0) return {reader.path(), line, 1, message};
  return {reader.path(), 0, 0, place_of(reader, atom) + ": " + message};
}

std::vector<Point> points_of(std::span<const double> positions_A) {
  std::vector<Point> points(positions_A.size() / 3);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::copy_n(positions_A.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, points[i].begin());
  }
  return points;
}

/// Pairs that are too close. Sorted along x, so that only neighbours there are compared.
void check_overlaps(const std::vector<Point>& points, const FrameReader& reader,
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
      problems.push_back(
          problem_at(reader, static_cast<std::size_t>(second),
                     fmt::format("this atom is {:.3g} A from the one in {}: {}", distance,
                                 place_of(reader, static_cast<std::size_t>(first)),
                                 oxygens ? "oxygens closer than 0.5 A cannot be simulated"
                                         : "the two coincide")));
      if (problems.size() >= kMostProblems) return;
    }
  }
}

void check_bonds(const std::vector<Point>& points, const FrameReader& reader,
                 std::vector<Problem>& problems) {
  for (std::size_t atom = 0; atom < points.size(); ++atom) {
    const std::size_t oxygen = atom - atom % kAtomsPerMolecule;
    const double distance = distance_A(points[atom], points[oxygen]);
    if (distance <= kLongestBond_A) continue;
    problems.push_back(problem_at(
        reader, atom,
        fmt::format("this hydrogen is {:.3g} A from its oxygen in {}: the atoms of a molecule must "
                    "stand together in the order O H H, not broken over a periodic boundary (gmx "
                    "trjconv -pbc mol makes them whole)",
                    distance, place_of(reader, oxygen))));
    if (problems.size() >= kMostProblems) return;
  }
}

/// One of the three distances that a model fixes, between atoms `begin` and `end` of a molecule.
struct Length {
  std::size_t begin, end;
  const char* name;
  double length_A;
};

std::array<Length, 3> lengths_of(const WaterModel& model) {
  return {{{0, 1, "O-H1", model.r_oh_A},
           {0, 2, "O-H2", model.r_oh_A},
           {1, 2, "H1-H2", model.r_hh_A()}}};
}

}  // namespace

std::optional<std::string> Structure::model() const {
  const auto found = comment.find("model");
  if (found == comment.end()) return std::nullopt;
  return found->second;
}

Structure read_structure(const std::string& path) {
  const std::unique_ptr<FrameReader> reader = open_frames(path);
  std::optional<Structure> structure = reader->next();
  if (!structure) throw InputError({Problem{path, 0, 0, "the file holds no structure"}});
  std::vector<Problem> problems;
  const std::vector<Point> points = points_of(structure->positions_A);
  check_bonds(points, *reader, problems);
  check_overlaps(points, *reader, problems);
  std::sort(problems.begin(), problems.end(),
            [](const Problem& a, const Problem& b) { return a.line < b.line; });
  if (!problems.empty()) throw InputError(std::move(problems));
  reader->check_rest();
  return std::move(*structure);
}

std::vector<Problem> bond_length_problems(const WaterModel& model,
                                          std::span<const double> positions_A,
                                          const std::string& path) {
  const std::array<Length, 3> lengths = lengths_of(model);
  const std::vector<Point> points = points_of(positions_A);
  std::vector<Problem> problems;
  for (std::size_t m = 0; m < points.size() / 3 && problems.size() < kMostProblems; ++m) {
    for (const Length& b : lengths) {
      const double length = distance_A(points[3 * m + b.end], points[3 * m + b.begin]);
      // Also true for a length that is not a number.
      if (!(std::abs(length - b.length_A) <= kBondTolerance_A)) {
        problems.push_back(
            {path, 0, 0,
             fmt::format("molecule {} (counted from 1) has {} = {:.4g} A, and {} has {:.4g} A; a "
                         "structure to start "
                         "from must be within {} A of its model, with atoms in the order O H H and "
                         "coordinates in angstrom",
                         m + 1, b.name, length, model.name, b.length_A, kBondTolerance_A)});
        break;
      }
    }
  }
  return problems;
}

double largest_length_error_A(const WaterModel& model, std::span<const double> positions_A) {
  const std::array<Length, 3> lengths = lengths_of(model);
  const std::vector<Point> points = points_of(positions_A);
  double largest = 0.0;
  for (std::size_t m = 0; m < points.size() / 3; ++m) {
    for (const Length& l : lengths) {
      const double length = distance_A(points[3 * m + l.end], points[3 * m + l.begin]);
      largest = std::max(largest, std::abs(length - l.length_A));
    }
  }
  return largest;
}

void write_structure(const std::string& path, const Structure& structure) {
  write_file(path, format_for_writing(path).structure_text(structure));
}

}  // namespace tarn::io
