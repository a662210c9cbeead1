#include <span>

#include "io/archive.hpp"
#include "observable.hpp"
#include "table_observer.hpp"

namespace tarn {
namespace {

/// Writes or reads samples and the numbers of each pair, by replica.
/// @param molecules number per replica @throws LayoutError if the saved number differs
void archive_sums(LindemannSums& sums, std::size_t molecules, io::Archive& a) {
  const std::size_t pairs = molecules * (molecules - 1) / 2;
  std::uint64_t replicas = sums.replica_ids.size();
  a(replicas);
  if (a.is_reading()) sums = {};
  for (std::size_t r = 0; r < replicas; ++r) {
    if (a.is_reading()) sums.replica_ids.push_back(0);
    a(sums.replica_ids[r], sums.samples);
    for (std::vector<double>* numbers : {&sums.means_A, &sums.squares_A2}) {
      if (a.is_reading()) numbers->resize((r + 1) * pairs);
      auto of_replica = std::span(*numbers).subspan(r * pairs, pairs);
      a.fixed(of_replica);
    }
  }
}

std::unique_ptr<Observer> make_cluster(const ObserveCluster& section, const ObserverContext& info) {
  TableSpec spec;
  spec.file = "cluster";
  spec.fields = kShape;
  spec.moment_fields = kShapeMoments;
  std::vector<RowColumn<ClusterMeasures>> columns{
      {"radius_of_gyration_A", &ClusterMeasures::radius_of_gyration_A, 0},
      {"hydrogen_bonds", &ClusterMeasures::hydrogen_bonds, 1},
      {"farthest_neighbour_A", &ClusterMeasures::farthest_neighbour_A, 2}};
  if (!info.potential) {  // it has no charges
    columns.push_back({"dipole_D", &ClusterMeasures::dipole_D, 3});
  }
  if (!info.potential && !info.system.model.is_many_body()) {
    columns.push_back({"molecule_dipole_D", &ClusterMeasures::molecule_dipole_D, 4});
  }
  columns.push_back({"farthest_oxygen_A", &ClusterMeasures::farthest_oxygen_A, 5});
  if (info.system.model.has_field()) {
    columns.insert(columns.end(), {{"dipole_x_D", &ClusterMeasures::dipole_x_D, 6},
                                   {"dipole_y_D", &ClusterMeasures::dipole_y_D, 7},
                                   {"dipole_z_D", &ClusterMeasures::dipole_z_D, 8}});
  }
  set_columns<ClusterMeasures>(spec, &Frame::shape, &Frame::shape_moments, columns);
  if (section.lindemann) {
    spec.fields |= kLindemann;
    spec.moment_fields |= kLindemannMoments;
    spec.moment_columns.push_back({&Frame::lindemann_moments, 0});
    spec.columns.push_back("lindemann");
    spec.append_values = [of_shape = spec.append_values](const Frame& frame, std::size_t r,
                                                         std::vector<double>& values) {
      of_shape(frame, r, values);
      values.push_back(frame.lindemann[r]);
    };
    spec.result_columns = 1;
    spec.results_settle = true;
    const auto sums = std::make_shared<LindemannSums>();
    spec.accumulated = kLindemannSums;
    const LindemannRequest request{true, section.every, info.first_averaged_step};
    spec.configure = [=](MeasureSettings& settings) {
      settings.lindemann = request;
      settings.lindemann_sums = *sums;
    };
    spec.catch_up = [sums](const Frame& frame) { *sums = frame.lindemann_sums; };
    spec.archive = [=, molecules = static_cast<std::size_t>(info.molecules)](io::Archive& a) {
      archive_sums(*sums, molecules, a);
    };
  }
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable cluster_observable() {
  return observable(&Deck::cluster, make_cluster, {"cluster.*"}, "; of the centroids");
}

}  // namespace tarn
