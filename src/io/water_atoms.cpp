#include "water_atoms.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "structure_checks.hpp"
#include "tarn/state.hpp"
#include "words.hpp"

namespace tarn::io {
namespace {

// "D" counts as hydrogen, because decks set the masses. "M" and "OM" are the charge site of
// four-site models, "LP" and "EP" also those of five-site models; "X", "Xx" and "Du" are dummy
// atoms. Programs append numbers to these names, within a molecule (HW1, HW2) or through the whole
// file (O1 H2 H3 O4 ...), but not to EPW. OH2 and 1H to 3H are no such names with a number.
constexpr std::array<std::string_view, 4> kOxygens{"O", "OW", "OT", "OH2"};
constexpr std::array<std::string_view, 7> kHydrogens{"H", "HW", "HT", "D", "1H", "2H", "3H"};
constexpr std::array<std::string_view, 9> kSites{"M",  "MW", "EPW", "EP", "OM",
                                                 "LP", "X",  "XX",  "DU"};

bool same_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::toupper(x) == std::toupper(y);
  });
}

/// Fraction of the molecules with H near their O, and M near it if there are four sites.
double likeness(const std::vector<double>& positions_A, std::size_t sites) {
  constexpr double kBond_A = 1.5, kSite_A = 0.5;
  const std::size_t atoms = positions_A.size() / 3;
  if (atoms == 0 || atoms % sites != 0) return 0.0;
  std::size_t alike = 0;
  for (std::size_t o = 0; o < atoms; o += sites) {
    alike += distance_A(positions_A, o, o + 1) <= kBond_A &&
             distance_A(positions_A, o, o + 2) <= kBond_A &&
             (sites == 3 || distance_A(positions_A, o, o + 3) <= kSite_A);
  }
  return static_cast<double>(alike * sites) / static_cast<double>(atoms);
}

/// The first three of every four vectors.
std::vector<double> without_sites(const std::vector<double>& vectors) {
  std::vector<double> atoms;
  atoms.reserve(vectors.size() / 4 * 3);
  for (std::size_t o = 0; o < vectors.size(); o += 12) {
    atoms.insert(atoms.end(), vectors.begin() + static_cast<std::ptrdiff_t>(o),
                 vectors.begin() + static_cast<std::ptrdiff_t>(o + 9));
  }
  return atoms;
}

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
      const double distance = distance_A(x_A_, *at, hydrogen);
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
      const auto distance = [&](std::size_t oxygen) { return distance_A(x_A_, oxygen, h); };
      const std::size_t nearest = *std::ranges::min_element(atoms_, {}, distance);
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

AtomKind kind_of_atom(std::string_view name) {
  const std::string_view letters = name.substr(0, name.find_last_not_of("0123456789") + 1);
  const auto is_in = [&](const auto& names) {
    return std::ranges::any_of(names, [&](std::string_view known) {
      return same_but_case(known, name) || same_but_case(known, letters);
    });
  };
  return is_in(kOxygens)     ? AtomKind::oxygen
         : is_in(kHydrogens) ? AtomKind::hydrogen
         : is_in(kSites)     ? AtomKind::virtual_site
                             : AtomKind::other;
}

bool is_deuterium(std::string_view name) {
  return same_but_case("D", name.substr(0, name.find_last_not_of("0123456789") + 1));
}

Message note_on_deuterium(const std::string& path) {
  return Message::note(path +
                       ": atoms D are read as H, with its mass. For deuterium set [system] "
                       "hydrogen_mass_Da = 2.014, or isotopes");
}

void MoleculeBuilder::add(const NamedAtom& atom) {
  ++atoms_;
  const AtomKind kind = kind_of_atom(atom.name);
  const bool has_it_already = (kind == AtomKind::oxygen && !oxygens_.empty()) ||
                              (kind == AtomKind::hydrogen && hydrogens_.size() == 2);
  const bool is_whole = oxygens_.size() == 1 && hydrogens_.size() == 2;
  if (atom.residue != residue_ || (has_it_already && is_whole)) {
    end_molecule();
    residue_ = atom.residue;
    first_line_ = atom.line;
  }
  if (kind == AtomKind::virtual_site) {
    has_site_ = structure_.has_sites = true;
    return;
  }
  if (kind == AtomKind::other) {
    is_spoilt_ = true;
    note(atom.line, atom.name_column,
         fmt::format(
             "'{}' of residue {} is not an atom of water; tarn simulates water only: remove all "
             "other molecules. Accepted names are O, OW, OH2, H1, H2, HW1, HW2 and similar",
             atom.name, atom.residue));
    return;
  }
  if (is_deuterium(atom.name)) has_deuterium_ = true;
  if (!atom.velocity_A_per_akma) has_velocities_ = false;
  (kind == AtomKind::oxygen ? oxygens_ : hydrogens_)
      .push_back(
          {atom.line, atom.position_A, atom.velocity_A_per_akma.value_or(std::array<double, 3>{})});
}

void MoleculeBuilder::note(int line, int column, std::string message) {
  if (!is_full()) problems_.push_back({path_, line, column, std::move(message)});
}

bool MoleculeBuilder::read_columns(std::string_view line, int line_number, std::size_t begin,
                                   std::size_t width, double unit, std::string_view advice,
                                   std::array<double, 3>& values) {
  for (double& value : values) {
    const std::string_view word = trimmed(line.substr(std::min(begin, line.size()), width));
    std::string problem =
        word.empty() ? "a coordinate is missing here" : parse_number(word, value, unit);
    if (!problem.empty()) {
      const auto before =
          word.empty() ? begin : static_cast<std::size_t>(word.data() - line.data());
      note(line_number, static_cast<int>(before) + 1, problem.append(advice));
      return false;
    }
    begin += width;
  }
  return true;
}

void MoleculeBuilder::end_molecule() {
  const bool is_empty = oxygens_.empty() && hydrogens_.empty() && !has_site_;
  if (oxygens_.size() == 1 && hydrogens_.size() == 2 && !is_spoilt_) {
    for (const Atom& atom : {oxygens_[0], hydrogens_[0], hydrogens_[1]}) {
      lines_.push_back(atom.line);
      structure_.positions_A.insert(structure_.positions_A.end(), atom.position_A.begin(),
                                    atom.position_A.end());
      structure_.velocities_A_per_akma.insert(structure_.velocities_A_per_akma.end(),
                                              atom.velocity_A_per_akma.begin(),
                                              atom.velocity_A_per_akma.end());
    }
    ++structure_.molecules;
  } else if (!is_empty && !is_spoilt_) {
    note(first_line_, 1,
         fmt::format("residue {} has {} O and {} H instead of one O and two H{}", residue_,
                     oxygens_.size(), hydrogens_.size(),
                     hydrogens_.empty() ? ": add the hydrogens first, for example with gmx pdb2gmx "
                                          "or the Modeller of OpenMM"
                                        : "; the atoms of a molecule must be consecutive"));
  }
  oxygens_.clear();
  hydrogens_.clear();
  has_site_ = is_spoilt_ = false;
}

Structure MoleculeBuilder::take(std::vector<int>& lines) {
  end_molecule();
  residue_.clear();
  atoms_ = 0;
  if (!problems_.empty()) throw InputError(std::exchange(problems_, {}));
  if (!has_velocities_) structure_.velocities_A_per_akma.clear();
  has_velocities_ = true;
  if (std::exchange(has_deuterium_, false)) structure_.messages.push_back(note_on_deuterium(path_));
  if (!std::is_sorted(lines_.begin(), lines_.end())) {
    std::vector<int>& order = structure_.file_order;
    order.resize(lines_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto line_of = [&](int atom) { return lines_[static_cast<std::size_t>(atom)]; };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return line_of(a) < line_of(b); });
  }
  lines = std::exchange(lines_, {});
  return std::exchange(structure_, {});
}

void check_numbers(const std::string& path, std::string_view frame, std::string_view quantity,
                   std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i]) <= kLargestNumber) continue;
    const std::string atom = fmt::format("{}: a {} of atom {}", frame, quantity, i / 3);
    throw InputError(path, 0,
                     std::isfinite(values[i])
                         ? fmt::format("{} is {:g}; the largest accepted is {:g}. Either the file "
                                       "is damaged, or the simulation blew up: leave the frame out",
                                       atom, values[i], kLargestNumber)
                         : atom +
                               " is not a finite number. Either the file is damaged, or the "
                               "simulation blew up: leave the frame out");
  }
}

void check_unnamed_water(const std::string& path, std::int64_t atoms) {
  if (atoms > 0 && (atoms % 3 == 0 || atoms % 4 == 0)) return;
  throw InputError(
      path, 0,
      fmt::format(
          "{} atoms do not form whole water molecules. The file has no atom names, so it must "
          "contain only water, with the atoms of each molecule in the order O H H or O H H M",
          atoms));
}

Structure UnnamedWater::take(const std::string& path, std::int64_t frame,
                             std::vector<double> positions_A,
                             std::vector<double> velocities_A_per_akma) {
  const std::string which = fmt::format("frame {} (counted from 0)", frame);
  check_numbers(path, which, "coordinate", positions_A);
  check_numbers(path, which, "velocity", velocities_A_per_akma);
  const std::size_t atoms = positions_A.size() / 3;
  check_unnamed_water(path, static_cast<std::int64_t>(atoms));
  if (sites_ == 0) {
    check_unit(positions_A, path);
    if (atoms % 4 == 0) check_unit(without_sites(positions_A), path);
    const double three = likeness(positions_A, 3), four = likeness(positions_A, 4);
    // Molecules at the faces of a periodic box may be broken, but rarely half of them.
    constexpr double kEnough = 0.5;
    if (std::max(three, four) < kEnough) {
      throw InputError(
          path, 0,
          fmt::format("fewer than half of the {} atoms of the first frame belong to molecules O H "
                      "H or O H H M. The file has no atom names, so it must contain only water, in "
                      "this order and with whole molecules (gmx trjconv -pbc mol makes them whole)",
                      atoms));
    }
    sites_ = four > three ? 4 : 3;
  }
  if (atoms % sites_ != 0) {
    throw InputError(
        path, 0,
        fmt::format(
            "a frame has {} atoms, not a multiple of the {} per molecule of the first frame", atoms,
            sites_));
  }
  Structure structure;
  structure.has_sites = sites_ == 4;
  if (structure.has_sites) {
    positions_A = without_sites(positions_A);
    velocities_A_per_akma = without_sites(velocities_A_per_akma);
  }
  structure.molecules = static_cast<int>(positions_A.size() / 9);
  structure.positions_A = std::move(positions_A);
  structure.velocities_A_per_akma = std::move(velocities_A_per_akma);
  return structure;
}

void check_finite(double value) {
  if (std::isfinite(value)) return;
  throw NumericalError(
      "a structure contains a number that is not finite and was not written: the simulation blew "
      "up. Try a smaller timestep or a start without overlaps.");
}

void check_writable(double value) {
  if (std::abs(value) <= kLargestNumber) return;
  check_finite(value);
  throw NumericalError(fmt::format(
      "a structure contains the number {:g} and was not written, because readers accept numbers up "
      "to {:g}: the simulation blew up. Try a smaller timestep or a start without overlaps.",
      value, kLargestNumber));
}

void throw_unwritable(std::size_t coordinate, const std::string& what, std::string_view where) {
  throw UnwritableNumber(
      fmt::format("atom {} {}, which does not fit {}; xyz and h5md store any position",
                  coordinate / 3, what, where));
}

std::array<double, 2> extremes(std::span<const double> values) {
  std::array<double, 2> both{0.0, 0.0};
  for (const double value : values) {
    check_finite(value);
    both[0] = std::min(both[0], value);
    both[1] = std::max(both[1], value);
  }
  return both;
}

std::size_t largest_number(std::span<const double> values) {
  const auto largest = std::ranges::max_element(
      values, [](double a, double b) { return std::abs(a) < std::abs(b); });
  return static_cast<std::size_t>(largest - values.begin());
}

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
           fmt::format("this oxygen is the nearest one of {} hydrogen{} within {} A, not of two",
                       count[a], count[a] == 1 ? "" : "s", kLongestBond_A)});
      continue;
    }
    order.insert(order.end(), {a, hydrogens[a][0], hydrogens[a][1]});
  }
  if (problems.count() > 0) {
    if (std::string unit = unit_problem(oxygens.with_nearest(is_oxygen)); !unit.empty()) {
      throw InputError(path, 0, std::move(unit));
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

std::vector<int> molecule_order(std::span<const int> atomic_numbers,
                                std::span<const double> positions_A) {
  const std::size_t atoms = atomic_numbers.size();
  if (positions_A.size() != 3 * atoms) {
    throw InputError(
        fmt::format("{} atoms have {} coordinates, not {}", atoms, 3 * atoms, positions_A.size()));
  }
  const auto place = [](std::size_t atom) { return fmt::format("atom {}", atom); };
  std::vector<Problem> others;
  std::vector<bool> is_oxygen(atoms);
  std::vector<int> lines(atoms);
  for (std::size_t a = 0; a < atoms; ++a) {
    is_oxygen[a] = atomic_numbers[a] == kAtomicNumbers[0];
    lines[a] = static_cast<int>(a) + 1;
    if (is_oxygen[a] || atomic_numbers[a] == kAtomicNumbers[1]) continue;
    others.push_back(
        {place(a), 0, 0,
         fmt::format("atomic number {}; only water is supported: use O and H", atomic_numbers[a])});
  }
  if (!others.empty()) throw InputError(std::move(others));
  Structure structure;
  structure.positions_A.assign(positions_A.begin(), positions_A.end());
  try {
    group_by_distance(is_oxygen, "", structure, lines);
  } catch (const InputError& error) {
    // The lines are atoms here.
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      if (problem.line == 0) continue;
      problem = {place(static_cast<std::size_t>(problem.line) - 1), 0, 0, problem.message};
    }
    throw InputError(std::move(problems));
  }
  std::vector<int> order(atoms);
  for (std::size_t i = 0; i < atoms; ++i) {
    order[static_cast<std::size_t>(structure.file_order[i])] = static_cast<int>(i);
  }
  return order;
}

}  // namespace tarn::io
