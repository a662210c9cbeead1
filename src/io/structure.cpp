#include "tarn/io/structure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/text.hpp"
#include "structure_checks.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/state.hpp"
#include "water_atoms.hpp"
#include "words.hpp"

namespace tarn::io {
namespace {

/// Largest number of frames counted after the first; more would delay the start.
constexpr std::int64_t kMostCounted = 1000;

[[noreturn]] void throw_no_frame(const std::string& path) {
  throw InputError(path, 0, "the file contains no frame");
}

/// The text that a comment gives for a key, or an empty one.
std::string text_of(const std::map<std::string, std::string>& comment, const char* key) {
  const auto found = comment.find(key);
  return found == comment.end() ? std::string{} : found->second;
}

/// The chosen frame; its atoms are not checked. @param number receives its number in the file,
/// counted from 0
Structure chosen_frame(FrameReader& reader, const FrameChoice& choice, ReplicaNumbering& numbering,
                       std::int64_t& number) {
  std::optional<std::int64_t> replica = choice.replica;
  std::int64_t of_replica = 0;
  for (number = 0; std::optional<Structure> structure = reader.next(); ++number) {
    const std::optional<FrameIndex> index = numbering.next(*structure, reader);
    if (!replica) replica = index->number;
    if (index->number != *replica) continue;
    ++of_replica;
    if (index->frame == choice.frame.value_or(0)) return std::move(*structure);
  }
  if (number == 0) throw_no_frame(reader.path());
  const std::string message =
      of_replica == 0
          ? fmt::format("there is no replica {} in this file; replicas count from 0", *replica)
          : fmt::format("there is no frame {}: replica {} has {} frame{}, counted from 0",
                        *choice.frame, *replica, of_replica, of_replica == 1 ? "" : "s");
  throw InputError(reader.path(), 0, message);
}

/// Counts the frames after the first. They are not used, so an unreadable frame ends the count
/// without an error.
/// @param warning receives what the reader reports at the end of the file
FrameCounts count_rest(FrameReader& reader, ReplicaNumbering& numbering, std::string& warning) {
  FrameCounts counts;
  try {
    std::optional<Structure> next = reader.next();
    for (std::int64_t i = 0; next && i < kMostCounted; ++i, next = reader.next()) {
      if (numbering.next(*next, reader)->replica == 0) ++counts.frames;
    }
    counts.all = !next;
    if (counts.all) warning = reader.warning_at_end();
  } catch (const Error&) {
    counts.all = false;
  }
  counts.replicas = numbering.replicas();
  return counts;
}

constexpr double kCoincident_A = 0.1;
constexpr double kClosestOxygens_A = 0.5;
constexpr double kLongestBond_A = 3.0;
/// Limits the counted overlaps: all atoms of a file may be at the same position.
constexpr std::int64_t kMostOverlaps = 1000;
/// O-H distances of water [A].
constexpr double kShortestOh_A = 0.85, kLongestOh_A = 1.15;
/// Largest difference between a distance within a molecule of a start and the model's [A].
constexpr double kBondTolerance_A = 0.2;
/// Oxygens of one molecule in successive beads are closer: oxygens of two molecules are 2.5 A
/// apart.
constexpr double kWidestRing_A = 2.0;

/// A unit in which coordinates are often given by mistake.
struct Unit {
  double length_A;
  const char* cure;
};
constexpr std::array<Unit, 3> kUnits{{
    {10.0, "nm. Multiply all coordinates by 10, or give a GRO file, which is in nm"},
    {units::angstrom_per_bohr, "bohr. Multiply all coordinates by 0.529177"},
    {0.1, "angstrom in a file that must be in nm. Multiply all coordinates by 0.1"},
}};

bool is_oxygen(std::size_t atom) { return atom % kAtomsPerMolecule == 0; }
std::size_t oxygen_of(std::size_t atom) { return atom - atom % kAtomsPerMolecule; }

/// "H1 of molecule 3".
std::string name_of(std::size_t atom) {
  return fmt::format("{} of molecule {}", kPdbNames[atom % kAtomsPerMolecule],
                     atom / kAtomsPerMolecule);
}

/// Collects the problems of one frame, each with its line or, in a file without lines, its frame.
class FrameProblems : public GroupedProblems {
 public:
  FrameProblems(const FrameReader& reader, std::int64_t number)
      : reader_(reader), number_(number) {}

  /// @param kind for the number of problems that are not listed, "atoms that coincide"
  void add(const std::string& kind, std::size_t atom, const std::string& message) {
    const int line = line_of(atom);
    const std::string frame =
        number_ > 0 || line == 0 ? fmt::format("frame {} (counted from 0): ", number_) : "";
    GroupedProblems::add(kind, {reader_.path(), line, line > 0 ? 1 : 0, frame + message});
  }
  /// " in line 7", or nothing in a file without lines.
  std::string at_line(std::size_t atom) const {
    const int line = line_of(atom);
    return line > 0 ? fmt::format(" in line {}", line) : "";
  }

 private:
  int line_of(std::size_t atom) const { return reader_.line_of_atom(static_cast<int>(atom)); }

  const FrameReader& reader_;
  std::int64_t number_;
};

void add_overlap(std::size_t a, std::size_t b, double distance_A, FrameProblems& problems) {
  const std::string which =
      fmt::format("{} is {:.3g} A from {}{}", name_of(std::max(a, b)), distance_A,
                  name_of(std::min(a, b)), problems.at_line(std::min(a, b)));
  if (is_oxygen(a) && is_oxygen(b) && distance_A >= kCoincident_A) {
    problems.add("oxygens that are too close", std::max(a, b),
                 fmt::format("{}; oxygens must be at least {} A apart", which, kClosestOxygens_A));
  } else {
    problems.add("atoms that coincide", std::max(a, b),
                 which +
                     ": the two coincide. Leave the frame out, or complete it in the program that "
                     "wrote it");
  }
}

/// Adds the overlaps of one bead. @param first its first atom
void add_overlaps(std::span<const double> x, std::size_t first, FrameProblems& problems) {
  // Sorted along x, only neighbours in x are compared.
  std::vector<std::size_t> order(x.size() / 3);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t a) {
    return std::tuple(x[3 * a], x[3 * a + 1], x[3 * a + 2], a);
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t a = order[i];
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const std::size_t b = order[j];
      if (x[3 * b] - x[3 * a] >= kClosestOxygens_A) break;
      if (std::abs(x[3 * b + 1] - x[3 * a + 1]) >= kClosestOxygens_A) continue;
      const double distance = distance_A(x, a, b);
      const bool oxygens = is_oxygen(a) && is_oxygen(b);
      if (distance >= (oxygens ? kClosestOxygens_A : kCoincident_A)) continue;
      add_overlap(first + a, first + b, distance, problems);
      if (problems.count() >= kMostOverlaps) return;
    }
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
  if (!comment.contains("model")) return std::nullopt;
  return comment.at("model");
}

std::string Structure::potential() const { return text_of(comment, "potential"); }
std::string Structure::replica_name() const { return text_of(comment, "replica"); }
std::optional<double> Structure::time_ps() const {
  return finite_number(text_of(comment, "time_ps"));
}
std::optional<double> Structure::bath_K() const {
  return finite_number(text_of(comment, "bath_K"));
}
std::optional<double> Structure::push_fs2() const {
  return finite_number(text_of(comment, "push_fs2"));
}
int Structure::beads() const { return std::max(parse_count(text_of(comment, "beads")), 1); }

Structure read_structure(const std::string& path, const FrameChoice& choice, FrameCounts* counts) {
  const std::unique_ptr<FrameReader> reader = open_frames(path);
  ReplicaNumbering numbering;
  std::int64_t number = 0;
  Structure structure = chosen_frame(*reader, choice, numbering, number);
  if (const int beads = structure.beads(); beads > 1) {
    throw InputError(
        path, reader->line_of_atom(0),
        fmt::format("this frame contains {} beads of a ring polymer; a structure has one position "
                    "of each atom. Write the trajectory with [observe.trajectory] beads = "
                    "\"centroid\" or the number of a bead",
                    beads));
  }
  check_molecules(structure, *reader, number);
  reader->check_rest();
  if (structure.has_box) structure.messages.push_back(note_on_box(path));
  if (counts != nullptr && !choice.is_given()) {
    std::string warning;
    *counts = count_rest(*reader, numbering, warning);
    if (!warning.empty()) structure.messages.push_back(Message::warning(std::move(warning)));
  }
  if (choice.replica) append(numbering.messages(), structure.messages);
  return structure;
}

std::optional<Structure> next_whole_frame(FrameReader& reader, std::int64_t frames,
                                          std::string& warning) {
  try {
    std::optional<Structure> frame = reader.next();
    if (!frame && frames == 0) throw_no_frame(reader.path());
    if (!frame) warning = reader.warning_at_end();
    return frame;
  } catch (const InputError&) {
    if (frames == 0 || !reader.is_cut_off()) throw;
    warning =
        fmt::format("{}: the file ends within its frame {} (counted from 0), which is left out",
                    reader.path(), frames);
    return std::nullopt;
  }
}

std::optional<Message> warning_of_absent_replicas(const std::string& where,
                                                  const FrameSelection& selection,
                                                  const std::set<std::int64_t>& found) {
  std::vector<std::int64_t> absent;
  for (const std::int64_t number : selection.replicas) {
    if (!found.contains(number)) absent.push_back(number);
  }
  if (absent.empty()) return std::nullopt;
  return Message::warning(fmt::format("{} no replica {}", where, fmt::join(absent, " or ")));
}

void add_new_messages(const Messages& of_frame, Messages& messages) {
  for (const Message& message : of_frame) {
    if (std::ranges::find(messages, message) == messages.end()) messages.push_back(message);
  }
}

Message note_on_box(const std::string& path) {
  return Message::note(fmt::format(
      "{} has a periodic box, which is ignored: tarn computes clusters in vacuum", path));
}

std::optional<Message> note_on_frames(const std::string& path, const FrameCounts& counts,
                                      const std::string& cure) {
  const char* more = counts.all ? "" : "at least ";
  if (counts.replicas > 1) {
    return Message::note(
        fmt::format("{} has {}{} replicas, and frame 0 (of {}) of the first one was taken{}", path,
                    more, counts.replicas, counts.frames, cure));
  }
  if (counts.frames == 1 && counts.all) return std::nullopt;
  return Message::note(fmt::format("{} has {}{}, and frame 0 was taken{}", path,
                                   counts.all ? "" : "more than ",
                                   count_text(counts.frames, "frame"), cure));
}

std::optional<Message> warning_of_potential(const std::string& frames, const std::string& potential,
                                            const std::string& model) {
  if (potential.empty()) return std::nullopt;
  return Message::warning(fmt::format(
      "{} of a run with forces by {}; these energies, forces and dipole moments are those of the "
      "water model {}. To choose a water model without this warning, give it by --model",
      frames, potential, model));
}

std::optional<Message> warning_of_sites(const std::string& path, const Structure& structure,
                                        const WaterModel& model, const std::string& cure) {
  if (!structure.has_sites || structure.model() || model.has_m_site()) return std::nullopt;
  std::string names;
  for (const WaterModel& other : kWaterModels) {
    if (!other.has_m_site()) continue;
    names += (names.empty() ? "" : ", ") + std::string(other.name);
  }
  return Message::warning(fmt::format(
      "{} has a fourth site and does not name its model; it was read as {}, which has none. "
      "Models with a fourth site are {}{}",
      path, model.name, names, cure));
}

void write_structure(const std::string& path, const Structure& structure) {
  write_file(path, format_for_writing(path).structure_text(structure));
}

std::vector<Problem> broken_molecule_problems(const Structure& frame, const FrameReader& reader,
                                              std::int64_t number) {
  FrameProblems problems(reader, number);
  for (std::size_t atom = 0; atom < frame.positions_A.size() / 3; ++atom) {
    const std::size_t oxygen = oxygen_of(atom);
    const double distance = distance_A(frame.positions_A, atom, oxygen);
    if (distance <= kLongestBond_A) continue;
    problems.add(
        "hydrogens that are far from their oxygen", atom,
        fmt::format("{} is {:.3g} A from its oxygen{}. Give water only, each "
                    "molecule as O H H and not broken over a periodic boundary (gmx trjconv -pbc "
                    "mol makes molecules whole)",
                    name_of(atom), distance, problems.at_line(oxygen)));
  }
  return problems.take();
}

std::vector<Problem> overlap_problems(const Structure& frame, const FrameReader& reader,
                                      std::int64_t number) {
  FrameProblems problems(reader, number);
  const std::span<const double> x = frame.positions_A;
  const int beads = frame.beads();
  if (frame.molecules % beads != 0) {
    problems.add("beads", 0,
                 fmt::format("{} cannot form {} beads of the same cluster",
                             count_text(frame.molecules, "molecule"), beads));
    return problems.take();
  }
  // Beads of a ring polymer may coincide, as they do at its start.
  const std::size_t size = x.size() / static_cast<std::size_t>(beads);
  for (std::size_t first = 0; first < x.size() && problems.count() < kMostOverlaps; first += size) {
    add_overlaps(x.subspan(first, size), first / 3, problems);
  }
  std::vector<Problem> all = problems.take();
  const bool names_beads = frame.comment.contains("beads") || frame.comment.contains("bead");
  // Beads in a format that cannot name their number.
  if (!all.empty() && !names_beads && reader.line_of_atom(0) == 0) {
    all.insert(all.begin(), {reader.path(), 0, 0,
                             "molecules coincide. If the frames contain several beads of ring "
                             "polymers, give their number: --beads of convert, draw and rdf"});
  }
  return all;
}

void set_beads(Structure& frame, int beads, const FrameReader& reader) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(reader.path(), reader.line_of_atom(0),
                     fmt::format("--beads {}: {}", beads, why));
  };
  if (frame.comment.contains("beads") && frame.beads() != beads) {
    refuse(fmt::format("the frame has beads = {}; omit --beads", frame.beads()));
  }
  if (const auto bead = frame.comment.find("bead"); bead != frame.comment.end() && beads > 1) {
    refuse(fmt::format("the frame has a single bead, bead = {}; omit --beads", bead->second));
  }
  frame.comment["beads"] = fmt::to_string(beads);
  // overlap_problems() reports other numbers of molecules.
  if (frame.molecules % beads != 0) return;
  const std::size_t atoms = frame.positions_A.size() / 3;
  const std::size_t size = atoms / static_cast<std::size_t>(beads);
  for (std::size_t atom = 0; atom + size < atoms; atom += kAtomsPerMolecule) {
    const double apart_A = distance_A(frame.positions_A, atom, atom + size);
    if (apart_A <= kWidestRing_A) continue;
    refuse(fmt::format(
        "molecule {0} of bead {1} is {3:.3g} A from its place in bead {2} (all counted from 0), "
        "too far for a ring polymer. Give the number of beads of the run",
        atom % size / kAtomsPerMolecule, atom / size, atom / size + 1, apart_A));
  }
}

void check_molecules(const Structure& frame, const FrameReader& reader, std::int64_t number) {
  check_unit(frame.positions_A, reader.path());
  std::vector<Problem> problems = broken_molecule_problems(frame, reader, number);
  std::ranges::move(overlap_problems(frame, reader, number), std::back_inserter(problems));
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return a.line != 0 && (b.line == 0 || a.line < b.line);
  });
  if (!problems.empty()) throw InputError(std::move(problems));
}

std::string unit_problem(std::span<const double> positions_A) {
  constexpr std::size_t kMolecule = 9;
  const std::size_t molecules = positions_A.size() / kMolecule;
  std::array<std::size_t, kUnits.size()> alike{};
  for (std::size_t m = 0; m < molecules; ++m) {
    const double* const x = &positions_A[kMolecule * m];
    std::size_t most = 0;
    for (std::size_t h : {3u, 6u}) {
      const double square = (x[h] - x[0]) * (x[h] - x[0]) + (x[h + 1] - x[1]) * (x[h + 1] - x[1]) +
                            (x[h + 2] - x[2]) * (x[h + 2] - x[2]);
      for (std::size_t u = 0; u < kUnits.size(); ++u) {
        const double unit = kUnits[u].length_A;
        alike[u] += unit * unit * square > kShortestOh_A * kShortestOh_A &&
                    unit * unit * square < kLongestOh_A * kLongestOh_A;
        most = std::max(most, alike[u]);
      }
    }
    // Three quarters cannot be reached any more; in most files after a quarter of the molecules.
    if (2 * (m + 1) - most > molecules / 2) return {};
  }
  for (std::size_t u = 0; u < kUnits.size() && molecules > 0; ++u) {
    if (2 * alike[u] < 3 * molecules) continue;
    return fmt::format("O-H distances are about {:.2g}, and 0.96 A is expected: this looks like {}",
                       0.96 / kUnits[u].length_A, kUnits[u].cure);
  }
  return {};
}

void check_unit(std::span<const double> positions_A, const std::string& path) {
  std::string problem = unit_problem(positions_A);
  if (!problem.empty()) throw InputError(path, 0, std::move(problem));
}

std::vector<Problem> bond_length_problems(const WaterModel& model, bool flexible,
                                          std::span<const double> positions_A,
                                          const std::string& path) {
  const std::array<Length, 3> lengths = lengths_of(model);
  GroupedProblems problems;
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    for (const Length& b : lengths) {
      const double length = distance_A(positions_A, 3 * m + b.end, 3 * m + b.begin);
      const bool is_bond = b.begin == 0;
      // Comparisons with a length that is not a number are false.
      if (flexible ? !is_bond || length <= kLongestBond_A
                   : std::abs(length - b.length_A) <= kBondTolerance_A) {
        continue;
      }
      problems.add(
          "molecules",
          {path, 0, 0,
           fmt::format("molecule {} has {} = {:.4g} A, and {} has {:.4g} A; {}, "
                       "with atoms in the order O H H and coordinates in angstrom",
                       m, b.name, length, model.name, b.length_A,
                       flexible ? fmt::format("bonds must be at most {} A long", kLongestBond_A)
                                : fmt::format("{} is rigid, and a structure to start from must be "
                                              "within {} A of its model",
                                              model.name, kBondTolerance_A))});
      break;
    }
  }
  return problems.take();
}

void check_bond_lengths(const WaterModel& model, bool flexible, std::span<const double> positions_A,
                        const std::string& path) {
  std::vector<Problem> problems = bond_length_problems(model, flexible, positions_A, path);
  if (!problems.empty()) throw InputError(std::move(problems));
}

double largest_length_error_A(const WaterModel& model, std::span<const double> positions_A) {
  const std::array<Length, 3> lengths = lengths_of(model);
  double largest = 0.0;
  for (std::size_t m = 0; m < positions_A.size() / 9; ++m) {
    for (const Length& l : lengths) {
      const double length = distance_A(positions_A, 3 * m + l.end, 3 * m + l.begin);
      largest = std::max(largest, std::abs(length - l.length_A));
    }
  }
  return largest;
}

void ReplicaClock::add(std::optional<std::int64_t> step, std::optional<double> time_ps) {
  has_steps = has_steps && step;
  has_times = has_times && time_ps;
  if (has_steps) {
    if (frames == 0) first_step = last_step = *step;
    if (frames == 1) every = std::max<std::int64_t>(*step - first_step, 1);
    if (frames > 0 && *step - last_step != every) has_even_steps = false;
    last_step = *step;
    largest_step = std::max(largest_step, *step);
  }
  if (has_times) {
    if (frames == 0) first_ps = *time_ps;
    if (frames == 1) interval_ps = *time_ps - first_ps;
    const double even_ps = first_ps + static_cast<double>(frames) * interval_ps;
    if (!times_agree(*time_ps, even_ps)) has_even_times = false;
  }
  ++frames;
}

bool times_agree(double a_ps, double b_ps) {
  constexpr double kSame = 1e-6;
  return std::abs(a_ps - b_ps) <= kSame * (1.0 + std::abs(b_ps));
}

std::optional<FrameIndex> ReplicaNumbering::next(const std::string& file, const std::string& name) {
  if (files_.empty() || files_.back().name != file) files_.push_back({file, {}, {}, {}});
  File& of = files_.back();
  auto found = of.next.find(name);
  if (found == of.next.end()) found = of.next.emplace(name, first_place(of, name)).first;
  const std::optional<FrameIndex> place = found->second;
  if (place) ++found->second->frame;
  return place;
}

std::optional<FrameIndex> ReplicaNumbering::next(const Structure& frame,
                                                 const FrameReader& reader) {
  const std::string name = frame.replica_name();
  if (name.empty() && !chosen_.empty()) {
    throw InputError(reader.path(), reader.line_of_atom(0),
                     "this frame does not name its replica; do not select replicas by number");
  }
  return next(reader.path(), name);
}

std::optional<FrameIndex> ReplicaNumbering::first_place(File& file, const std::string& name) {
  const std::optional<std::int64_t> own = number_at_end(name);
  std::int64_t number = own.value_or(0);
  if (!own || file.numbers.contains(number)) {
    number = static_cast<std::int64_t>(file.next.size());
    while (file.numbers.contains(number)) ++number;
    file.unnumbered.emplace_back(name, number);
  }
  file.numbers.insert(number);
  const bool counts =
      chosen_.empty() || std::find(chosen_.begin(), chosen_.end(), number) != chosen_.end();
  if (!counts) return std::nullopt;
  numbers_.insert(number);
  return FrameIndex{replicas_++, number, 0};
}

Messages ReplicaNumbering::messages() const {
  constexpr std::size_t kMostNamed = 5;
  Messages messages;
  for (const File& file : files_) {
    if (file.next.size() < 2 || file.unnumbered.empty()) continue;
    std::vector<std::string> named;
    for (const auto& [name, number] : file.unnumbered) {
      if (named.size() == kMostNamed) break;
      named.push_back(
          fmt::format("{} is {}", name.empty() ? "the one without a name" : name, number));
    }
    if (file.unnumbered.size() > kMostNamed) named.emplace_back("and so on");
    messages.push_back(
        Message::note(fmt::format("{}: replicas whose names do not end in a unique number are "
                                  "numbered in order of appearance: {}",
                                  file.name, fmt::join(named, ", "))));
  }
  return messages;
}

}  // namespace tarn::io
