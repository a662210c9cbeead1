#include "observable.hpp"
#include "table_observer.hpp"

namespace tarn {
namespace {

void append_geometry(const MoleculeGeometry& g, std::vector<double>& values) {
  values.insert(values.end(), {g.oh_A, g.hh_A, g.angle_degrees, g.oh_shortest_A, g.oh_longest_A});
}

std::unique_ptr<Observer> make_geometry(const ObserveTable& section, const ObserverContext& info) {
  TableSpec spec;
  spec.file = "geometry";
  spec.fields = kGeometry;
  spec.moment_fields = kGeometryMoments;
  for (const char* where : {"q_", "x_"}) {
    for (const char* column : {"oh_A", "hh_A", "angle_degrees", "oh_shortest_A", "oh_longest_A"}) {
      const auto number = static_cast<int>(spec.columns.size());
      spec.moment_columns.push_back({&Frame::geometry_moments, number});
      spec.columns.push_back(std::string(where) + column);
    }
  }
  spec.averaged_columns = spec.columns.size();
  spec.values_follow_from_frame = true;
  spec.append_values = [](const Frame& frame, std::size_t r, std::vector<double>& values) {
    append_geometry(frame.geometry[r].reported, values);
    append_geometry(frame.geometry[r].own, values);
  };
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable geometry_observable() {
  return observable(&Deck::geometry, make_geometry, {"geometry.csv"}, "; over all beads");
}

}  // namespace tarn
