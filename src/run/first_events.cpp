#include "first_events.hpp"

#include <cstddef>
#include <span>
#include <unordered_set>

#include <fmt/format.h>

#include "physics/geometry.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/flat_coordinates.hpp"

namespace tarn {
namespace {

/// Longer O-H bonds are broken [A]. Vibrations reach 1.4 A, and an acceptor is 1.7 A away.
constexpr double kBrokenBond_A = 2.0;

}  // namespace

void FirstEventWatch::observe(const Frame& frame) {
  std::unordered_set<std::int64_t> known;
  for (const MoleculeEvent& e : events_) known.insert(e.walker);
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const std::int64_t id = frame.replica_ids[r];
    const std::int64_t walker = walker_at_ ? walker_at_(id) : id;
    if (known.contains(walker)) continue;
    const std::optional<Found> found = find(frame, r);
    if (found) events_.push_back({id, frame.step, found->molecule, walker, found->length_A});
  }
}

std::optional<Message> FirstEventWatch::warning() const {
  constexpr std::size_t kMostNamed = 20;
  if (events_.empty()) return std::nullopt;
  std::string text = describe(events_.front());
  if (events_.size() > 1) {
    text += events_.size() > 2 ? ". Also in replicas " : ". Also in replica ";
  }
  for (std::size_t k = 1; k < events_.size(); ++k) {
    if (k > kMostNamed) {
      text += fmt::format(" and {} more", events_.size() - k);
      break;
    }
    text += fmt::format("{}{} (step {})", k > 1 ? ", " : "", events_[k].replica, events_[k].step);
  }
  return Message::warning(text);
}

std::string EvaporationWatch::describe(const MoleculeEvent& event) const {
  return fmt::format(
      "replica {}: molecule {} evaporated (detected at step {}, more than {:g} A from the rest of "
      "the cluster). Averages now include separate parts; to prevent evaporation, add a wall: "
      "[confinement] radius_A, stiffness_kcal_per_mol_A2",
      event.replica, event.molecule, event.step, analysis::kLink_A);
}

std::optional<FirstEventWatch::Found> EvaporationWatch::find(const Frame& frame,
                                                             std::size_t r) const {
  if (frame.parts[r].molecules_gone == 0) return std::nullopt;
  return Found{frame.parts[r].first_gone, 0.0};
}

std::string DissociationWatch::describe(const MoleculeEvent& event) const {
  return fmt::format(
      "replica {}: an O-H bond of molecule {} broke (detected at step {}, {:.3g} A long). Models "
      "of whole molecules do not describe the fragments; reduce timestep_fs or the temperature",
      event.replica, event.molecule, event.step, event.length_A);
}

std::optional<FirstEventWatch::Found> DissociationWatch::find(const Frame& frame,
                                                              std::size_t r) const {
  if (!(frame.geometry[r].reported.oh_longest_A > kBrokenBond_A)) return std::nullopt;
  Frame now;
  engine_.snapshot(kPositions, now);
  const std::span<const double> x = now.positions_A_of(r);
  Found longest;
  for (std::size_t m = 0; m < x.size() / kCoordinatesPerMolecule; ++m) {
    double terms[GeometryTerm::kNumbers];
    geometry_terms(molecule_at(x.data(), m), terms);
    if (!(terms[GeometryTerm::kLongest] > longest.length_A)) continue;
    longest = {static_cast<int>(m), terms[GeometryTerm::kLongest]};
  }
  if (!(longest.length_A > kBrokenBond_A)) return std::nullopt;
  return longest;
}

}  // namespace tarn
