#include "observable.hpp"
#include "ring_columns.hpp"
#include "table_observer.hpp"

namespace tarn {
namespace {

std::unique_ptr<Observer> make_path_integral(const ObserveTable& section,
                                             const ObserverContext& info) {
  TableSpec spec;
  spec.file = "path_integral";
  spec.fields = kRings;
  for (const RingColumn& column : kRingColumns) spec.columns.emplace_back(column.name);
  spec.averaged_columns = spec.columns.size();
  spec.steady_columns = {1};
  spec.remark =
      "; kinetic energies per atom by the centroid-virial estimator; potential, intramolecular = "
      "means over the beads; spring = sum over the beads; gyration2 = squared radius of gyration "
      "of the ring of an atom";
  spec.values_follow_from_frame = true;
  spec.append_values = [](const Frame& frame, std::size_t r, std::vector<double>& values) {
    for (const RingColumn& column : kRingColumns) values.push_back(column.of(frame.rings[r]));
  };
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable path_integral_observable() {
  return observable(&Deck::path_integral_table, make_path_integral, {"path_integral.*"});
}

}  // namespace tarn
