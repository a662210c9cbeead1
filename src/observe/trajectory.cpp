#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "io/water_atoms.hpp"
#include "observable.hpp"
#include "table_observer.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/physics/isotopes.hpp"

namespace tarn {
namespace {

using Beads = BeadSelection::Kind;

/// Advice for a position that the format cannot store. The format of a run cannot change, but a
/// resumed run can recentre.
std::string advice_on_range(bool recentre) {
  return recentre ? "A molecule has evaporated: start a new run from the state of this one, with "
                    "[system] state and [confinement]"
                  : "The cluster has drifted: continue with --resume --set system.recentre=true, "
                    "which writes positions relative to the centre of mass";
}

/// Writes the reported positions and, if requested, velocities in the format of the deck. With
/// several beads these are the selected ones.
class TrajectoryObserver final : public Observer {
 public:
  /// @param beads of the section; centroid for classical nuclei
  /// @param recentre whether positions are relative to the centre of mass
  TrajectoryObserver(const ObserveTrajectory& section, BeadSelection beads, bool recentre,
                     const RunInfo& run, const io::TrajectoryInfo& info)
      : section_(section),
        recentre_(recentre),
        beads_(beads),
        run_(run),
        replicas_(info.replicas),
        writer_(io::format_of(section.format).write(info)) {}

  std::string name() const override {
    return fmt::format("trajectory {} every {} replicas {}{}", io::format_of(section_.format).name,
                       section_.every, selection_text(section_.replicas),
                       section_.velocities ? " velocities" : "");
  }
  unsigned fields() const override {
    return (beads_.kind == Beads::centroid ? unsigned{kPositions} : unsigned{kBeads}) |
           (section_.velocities ? unsigned{kVelocities} : 0u);
  }
  std::int64_t every() const override { return section_.every; }
  void begin() override { writer_->create(); }
  void observe(const Frame& frame) override {
    for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
      const std::int64_t id = frame.replica_ids[r];
      if (id >= replicas_) continue;
      io::TrajectoryFrame out{id, frame.step, run_.time_ps(frame.step), positions_A(frame, r)};
      if (section_.velocities) out.velocities_A_per_akma = frame.velocities_A_per_akma_of(r);
      try {
        writer_->append(out);
      } catch (const io::UnwritableNumber& error) {
        throw IoError(fmt::format("the trajectory of replica {} at step {}: {}. {}.", id,
                                  frame.step, error.what(), advice_on_range(recentre_)));
      }
    }
  }
  void save(std::ostream& out) override { writer_->save(out); }
  void load(std::istream& in) override { writer_->load(in); }
  void finish() override { writer_->finish(); }
  Messages messages() const override { return writer_->messages(); }

 private:
  std::span<const double> positions_A(const Frame& frame, std::size_t r) const {
    if (beads_.kind == Beads::centroid) return frame.positions_A_of(r);
    const std::size_t bead = frame.coordinates();
    const std::size_t ring = static_cast<std::size_t>(frame.beads) * bead;
    const std::span<const double> all = std::span(frame.beads_A).subspan(r * ring, ring);
    if (beads_.kind == Beads::all) return all;
    return all.subspan(static_cast<std::size_t>(beads_.number) * bead, bead);
  }

  ObserveTrajectory section_;
  bool recentre_;
  BeadSelection beads_;
  RunInfo run_;
  int replicas_;
  std::unique_ptr<io::TrajectoryWriter> writer_;
};

std::unique_ptr<Observer> make_trajectory(const ObserveTrajectory& section,
                                          const ObserverContext& info) {
  if (section.replicas.kind == ReplicaSelection::Kind::mean) {
    throw InputError(
        "[observe.trajectory] replicas = \"mean\": mean structures are meaningless; use \"all\" or "
        "a number of replicas");
  }
  io::TrajectoryInfo trajectory;
  trajectory.folder = info.out_dir;
  trajectory.replicas = section.replicas.count_of(info.replicas);
  trajectory.numbered = info.replicas > 1;
  // A ring of one bead is classical.
  const int beads = info.system.path_integral.beads;
  const BeadSelection selected = beads > 1 ? section.beads : BeadSelection{};
  if (selected.kind == Beads::all) trajectory.beads = beads;
  if (selected.kind == Beads::one) trajectory.bead = selected.number;
  trajectory.molecules = info.molecules * trajectory.beads;
  trajectory.model = info.model.name;
  trajectory.isotopes = isotope_names(info.system.atom_masses_Da);
  if (info.potential) trajectory.potential = info.potential->name();
  trajectory.every = section.every;
  trajectory.velocities = section.velocities;
  trajectory.timestep_fs = info.timestep_fs;
  trajectory.provenance = info.provenance;
  if (beads > 1) {
    trajectory.provenance += selected.kind == Beads::centroid ? "; of the centroids"
                             : selected.kind == Beads::all
                                 ? "; all beads"
                                 : fmt::format("; bead {}", selected.number);
  }
  if (has_several_baths(info.baths_K)) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(trajectory.replicas); ++r) {
      trajectory.baths_K.push_back(info.baths_K[ReplicaMap(info.baths_K.size()).place(r)]);
    }
  }
  return std::make_unique<TrajectoryObserver>(section, selected, info.recentre, info, trajectory);
}

}  // namespace

Observable trajectory_observable() {
  std::vector<std::string> files{"topology.pdb", "trajectory-"};
  for (const io::Format& format : io::formats()) {
    files.push_back(fmt::format("trajectory{}", format.extensions.front()));
  }
  return observable(&Deck::trajectory, make_trajectory, std::move(files));
}

}  // namespace tarn
