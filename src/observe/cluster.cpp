#include "tarn/analysis/cluster.hpp"

#include "makers.hpp"
#include "table_observer.hpp"

namespace tarn {

std::unique_ptr<Observer> make_cluster(const ObserveCluster& section, const RunInfo& info) {
  TableSpec spec;
  spec.file = "cluster";
  spec.fields = kPositions;
  spec.columns = {"radius_of_gyration_A", "hydrogen_bonds", "farthest_neighbour_A"};
  spec.append_values = [](const Frame& frame, std::size_t r, std::vector<double>& values) {
    const std::size_t size = static_cast<std::size_t>(frame.molecules) * 9;
    const analysis::ClusterShape shape =
        analysis::cluster_shape(std::span(frame.positions_A).subspan(r * size, size));
    values.insert(values.end(),
                  {shape.radius_of_gyration_A, static_cast<double>(shape.hydrogen_bonds),
                   shape.farthest_neighbour_A});
  };
  return std::make_unique<TableObserver>(spec, section.every, section.replicas, info);
}

}  // namespace tarn
