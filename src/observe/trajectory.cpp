#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "makers.hpp"
#include "replica_table.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/append_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/xyz.hpp"

namespace tarn {
namespace {

/// Writes the reported positions as extended XYZ, one file a replica.
class TrajectoryObserver final : public Observer {
 public:
  TrajectoryObserver(const ObserveTrajectory& section, const Deck& deck, const RunInfo& info)
      : section_(section), model_(deck.system.model) {
    int replicas = info.replicas;
    if (section.replicas.kind == ReplicaSelection::Kind::first) {
      replicas = std::min(replicas, section.replicas.count);
    }
    for (int id = 0; id < replicas; ++id) {
      files_.emplace_back(info.replicas == 1
                              ? fmt::format("{}/trajectory.xyz", info.out_dir)
                              : fmt::format("{}/trajectory-{:04}.xyz", info.out_dir, id));
    }
  }

  std::string name() const override {
    return fmt::format("trajectory xyz every {} replicas {}", section_.every,
                       selection_text(section_.replicas));
  }
  unsigned fields() const override { return kPositions; }
  std::int64_t every() const override { return section_.every; }
  void begin() override {
    for (io::AppendFile& file : files_) file.create();
  }
  void observe(const Frame& frame) override {
    const std::size_t size = static_cast<std::size_t>(frame.molecules) * kCoordinatesPerMolecule;
    for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
      const std::int64_t id = frame.replica_ids[r];
      if (id >= static_cast<std::int64_t>(files_.size())) continue;
      const std::string keys =
          fmt::format("model={} step={} time_ps={:.17g} replica={} pbc=\"F F F\"", model_,
                      frame.step, frame.time_ps, id);
      files_[static_cast<std::size_t>(id)].append(
          io::xyz_frame(std::span(frame.positions_A).subspan(r * size, size), {}, keys));
    }
  }
  void save(std::ostream& out) override {
    for (io::AppendFile& file : files_) {
      file.sync();
      io::put(out, file.length());
    }
  }
  void load(std::istream& in) override {
    for (io::AppendFile& file : files_) file.cut(io::get_u64(in));
  }
  void finish() override {
    for (io::AppendFile& file : files_) file.flush();
  }

 private:
  ObserveTrajectory section_;
  std::string model_;
  std::vector<io::AppendFile> files_;  // by replica id
};

}  // namespace

std::unique_ptr<Observer> make_trajectory(const ObserveTrajectory& section, const Deck& deck,
                                          const RunInfo& info) {
  if (section.replicas.kind == ReplicaSelection::Kind::mean) {
    throw InputError(
        "[observe.trajectory] replicas = \"mean\": a mean structure means nothing; choose \"all\" "
        "or a number of replicas");
  }
  return std::make_unique<TrajectoryObserver>(section, deck, info);
}

}  // namespace tarn
