#include "tarn/analysis/cluster.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "makers.hpp"
#include "table_observer.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

/// Lindemann indices by replica id.
using Indices = std::map<std::int64_t, analysis::LindemannIndex>;

void save(const Indices& indices, std::ostream& out) {
  io::put(out, static_cast<std::uint64_t>(indices.size()));
  for (const auto& [id, index] : indices) {
    io::put(out, id);
    io::put(out, index.memory().samples);
    io::put(out, std::span<const double>(index.memory().means_A));
    io::put(out, std::span<const double>(index.memory().squares_A2));
  }
}

/// @param molecules number per replica @throws LayoutError if the saved number differs
void load(Indices& indices, std::size_t molecules, std::istream& in) {
  indices.clear();
  for (std::uint64_t n = io::get_u64(in); n > 0; --n) {
    const std::int64_t id = io::get_i64(in);
    analysis::LindemannIndex::Memory memory;
    memory.samples = io::get_i64(in);
    const std::size_t pairs = memory.samples == 0 ? 0 : molecules * (molecules - 1) / 2;
    memory.means_A = io::get_doubles(in, pairs);
    memory.squares_A2 = io::get_doubles(in, pairs);
    indices[id].restore(std::move(memory));
  }
}

}  // namespace

std::unique_ptr<Observer> make_cluster(const ObserveCluster& section, const Deck& deck,
                                       const RunInfo& info) {
  TableSpec spec;
  spec.file = "cluster";
  spec.fields = kPositions;
  spec.columns = {"radius_of_gyration_A", "hydrogen_bonds", "farthest_neighbour_A", "dipole_D",
                  "molecule_dipole_D"};
  spec.averaged_columns = spec.columns.size();
  std::shared_ptr<Indices> indices;
  if (section.lindemann) {
    spec.columns.push_back("lindemann");
    spec.result_columns = 1;
    spec.results_settle = true;
    indices = std::make_shared<Indices>();
    spec.save = [indices](std::ostream& out) { save(*indices, out); };
    const auto molecules = static_cast<std::size_t>(info.molecules);
    spec.load = [=](std::istream& in) { load(*indices, molecules, in); };
  }
  const double dipole_charge_e = water_model(deck).dipole_charge_e();
  const std::int64_t first_step = info.first_averaged_step;
  spec.append_values = [=](const Frame& frame, std::size_t r, std::vector<double>& values) {
    const auto positions_A = frame.positions_A_of(r);
    const analysis::ClusterShape shape = analysis::cluster_shape(positions_A);
    const analysis::ClusterDipole dipole = analysis::cluster_dipole(positions_A, dipole_charge_e);
    values.insert(values.end(),
                  {shape.radius_of_gyration_A, static_cast<double>(shape.hydrogen_bonds),
                   shape.farthest_neighbour_A, dipole.cluster_D, dipole.molecule_D});
    if (!indices) return;
    analysis::LindemannIndex& index = (*indices)[frame.replica_ids[r]];
    if (frame.step >= first_step) index.add(positions_A);
    values.push_back(index.value());
  };
  spec.draw = draw_cluster;
  return std::make_unique<TableObserver>(spec, section.every, section.replicas, info);
}

}  // namespace tarn
