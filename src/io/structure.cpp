#include "tarn/io/structure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "grouped_problems.hpp"
#include "replica_numbering.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/state.hpp"
#include "words.hpp"

namespace tarn::io {
namespace {

constexpr double kCoincident_A = 0.1;
constexpr double kClosestOxygens_A = 0.5;
constexpr double kLongestBond_A = 3.0;
/// Frames that are counted, beyond the first; a moment's work.
constexpr std::int64_t kMostCounted = 1000;
/// O-H of water [A], and other units in which coordinates are met that are taken as angstrom.
constexpr double kShortestOh_A = 0.85, kLongestOh_A = 1.15;
constexpr double kNm_A = 10.0, kBohr_A = units::angstrom_per_bohr;
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
                    GroupedProblems& problems) {
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
      problems.add(oxygens ? "oxygens that are too close" : "atoms that coincide",
                   problem_at(reader, static_cast<std::size_t>(second),
                              fmt::format("this atom is {:.3g} A from the one in {}: {}", distance,
                                          place_of(reader, static_cast<std::size_t>(first)),
                                          oxygens ? "oxygens closer than 0.5 A cannot be simulated"
                                                  : "the two coincide")));
      // All atoms of a file may be in one place.
      if (problems.count() >= kMostCounted) return;
    }
  }
}

void check_bonds(const std::vector<Point>& points, const FrameReader& reader,
                 GroupedProblems& problems) {
  for (std::size_t atom = 0; atom < points.size(); ++atom) {
    const std::size_t oxygen = atom - atom % kAtomsPerMolecule;
    const double distance = distance_A(points[atom], points[oxygen]);
    if (distance <= kLongestBond_A) continue;
    problems.add(
        "hydrogens that are far from their oxygen",
        problem_at(
            reader, atom,
            fmt::format(
                "this hydrogen is {:.3g} A from its oxygen in {}: the atoms of a molecule must "
                "stand together in the order O H H, of water only, and not broken over a periodic "
                "boundary (gmx trjconv -pbc mol makes them whole)",
                distance, place_of(reader, oxygen))));
  }
}

/// Whether every O-H distance is one of water, if the coordinates are in a unit of that length.
bool is_in(double unit_A, const std::vector<Point>& points) {
  for (std::size_t atom = 0; atom < points.size(); ++atom) {
    const std::size_t oxygen = atom - atom % kAtomsPerMolecule;
    const double distance = unit_A * distance_A(points[atom], points[oxygen]);
    if (atom != oxygen && !(distance > kShortestOh_A && distance < kLongestOh_A)) return false;
  }
  return true;
}

/// Coordinates in nm or bohr, which all formats but GRO have in angstrom.
void check_unit(const std::vector<Point>& points, const std::string& path) {
  const bool nm = is_in(kNm_A, points);
  if (!nm && !is_in(kBohr_A, points)) return;
  throw InputError({Problem{
      path, 0, 0,
      fmt::format("every O-H distance is about {:.2g} where 0.96 A is expected: this looks like {}",
                  distance_A(points[0], points[1]),
                  nm ? "nm. Multiply all coordinates by 10, or give a GRO file, which is in nm"
                     : "bohr. Multiply all coordinates by 0.529177")}});
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

std::string Structure::replica_name() const {
  const auto found = comment.find("replica");
  return found == comment.end() ? std::string{} : found->second;
}

namespace {

/// The number that a comment gives for a key, or nothing.
std::optional<double> number_of(const std::map<std::string, std::string>& comment,
                                const char* key) {
  const auto found = comment.find(key);
  if (found == comment.end()) return std::nullopt;
  return finite_number(found->second);
}

}  // namespace

std::optional<double> Structure::time_ps() const { return number_of(comment, "time_ps"); }
std::optional<double> Structure::bath_K() const { return number_of(comment, "bath_K"); }
std::optional<double> Structure::push_fs2() const { return number_of(comment, "push_fs2"); }

namespace {

/// The frame that was chosen, without any check of its atoms.
Structure chosen_frame(FrameReader& reader, const FrameChoice& choice, ReplicaNumbering& places) {
  std::optional<std::int64_t> replica = choice.replica;
  std::int64_t of_replica = 0;
  bool any = false;
  while (std::optional<Structure> structure = reader.next()) {
    const std::optional<FrameIndex> place = places.next(*structure, reader);
    any = true;
    if (!replica) replica = place->number;
    if (place->number != *replica) continue;
    ++of_replica;
    if (place->frame == choice.frame.value_or(0)) return std::move(*structure);
  }
  std::string message = "the file holds no structure";
  if (any && of_replica == 0) {
    message = fmt::format("there is no replica {} in this file; replicas count from 0", *replica);
  } else if (any) {
    message = fmt::format("there is no frame {}: {} frame{} of replica {} {} here, counted from 0",
                          *choice.frame, of_replica, of_replica == 1 ? "" : "s", *replica,
                          of_replica == 1 ? "is" : "are");
  }
  throw InputError({Problem{reader.path(), 0, 0, message}});
}

/// What follows the first frame. A later frame that cannot be read is none of this run's business.
FrameCounts count_rest(FrameReader& reader, ReplicaNumbering& places) {
  FrameCounts counts;
  try {
    for (std::int64_t i = 0; const std::optional<Structure> next = reader.next(); ++i) {
      if (i == kMostCounted) {
        counts.all = false;
        break;
      }
      if (places.next(*next, reader)->replica == 0) ++counts.frames;
    }
  } catch (const Error&) {
    counts.all = false;
  }
  counts.replicas = places.replicas();
  return counts;
}

}  // namespace

Structure read_structure(const std::string& path, const FrameChoice& choice, FrameCounts* counts) {
  const std::unique_ptr<FrameReader> reader = open_frames(path);
  ReplicaNumbering places;
  Structure structure = chosen_frame(*reader, choice, places);
  GroupedProblems found;
  const std::vector<Point> points = points_of(structure.positions_A);
  check_unit(points, path);
  check_bonds(points, *reader, found);
  check_overlaps(points, *reader, found);
  std::vector<Problem> problems = found.take();
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return a.line != 0 && (b.line == 0 || a.line < b.line);
  });
  if (!problems.empty()) throw InputError(std::move(problems));
  reader->check_rest();
  if (structure.has_box) structure.notes.push_back(note_on_box(path));
  if (counts != nullptr && !choice.is_given()) *counts = count_rest(*reader, places);
  if (choice.replica) {
    for (std::string& note : places.notes()) structure.notes.push_back(std::move(note));
  }
  return structure;
}

void check_molecules(const Structure& frame, const FrameReader& reader, std::int64_t number) {
  GroupedProblems found;
  check_bonds(points_of(frame.positions_A), reader, found);
  std::vector<Problem> problems = found.take();
  for (Problem& problem : problems) {
    if (problem.line > 0) continue;
    problem.message = fmt::format("frame {} (counted from 0): {}", number, problem.message);
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

std::optional<Structure> next_whole_frame(FrameReader& reader, std::int64_t frames,
                                          std::string& note) {
  try {
    return reader.next();
  } catch (const InputError&) {
    if (frames == 0 || !reader.is_cut_off()) throw;
    note = fmt::format("{}: the file ends within its frame {} (counted from 0), which is left out",
                       reader.path(), frames);
    return std::nullopt;
  }
}

std::string note_on_absent_replicas(const std::string& where, const FrameSelection& selection,
                                    const std::set<std::int64_t>& found) {
  std::vector<std::int64_t> absent;
  for (const std::int64_t number : selection.replicas) {
    if (!found.contains(number)) absent.push_back(number);
  }
  if (absent.empty()) return {};
  return fmt::format("{} no replica {}", where, fmt::join(absent, " or "));
}

std::string note_on_box(const std::string& path) {
  return fmt::format("{} has a periodic box, which is ignored: tarn computes clusters in vacuum",
                     path);
}

std::optional<std::string> note_on_frames(const std::string& path, const FrameCounts& counts) {
  const char* more = counts.all ? "" : "at least ";
  if (counts.replicas > 1) {
    return fmt::format("{} has {}{} replicas, and frame 0 of the first one was taken, of {}", path,
                       more, counts.replicas, counts.frames);
  }
  if (counts.frames == 1 && counts.all) return std::nullopt;
  return fmt::format("{} has {}{} frames, and frame 0 was taken", path,
                     counts.all ? "" : "more than ", counts.frames);
}

std::optional<std::string> note_on_sites(const std::string& path, const Structure& structure,
                                         const WaterModel& model) {
  if (!structure.has_sites || structure.model() || model.has_m_site()) return std::nullopt;
  std::string names;
  for (const WaterModel& other : kWaterModels) {
    if (!other.has_m_site()) continue;
    names += (names.empty() ? "" : ", ") + std::string(other.name);
  }
  return fmt::format(
      "{} has a fourth site, which {} has not, and does not name its model: it was read as {}. "
      "With such a site there are {}",
      path, model.name, model.name, names);
}

std::vector<Problem> bond_length_problems(const WaterModel& model,
                                          std::span<const double> positions_A,
                                          const std::string& path) {
  const std::array<Length, 3> lengths = lengths_of(model);
  const std::vector<Point> points = points_of(positions_A);
  GroupedProblems problems;
  for (std::size_t m = 0; m < points.size() / 3; ++m) {
    for (const Length& b : lengths) {
      const double length = distance_A(points[3 * m + b.end], points[3 * m + b.begin]);
      // Also true for a length that is not a number.
      if (!(std::abs(length - b.length_A) <= kBondTolerance_A)) {
        problems.add(
            "molecules",
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
  return problems.take();
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
