#include "makers.hpp"
#include "table_observer.hpp"
#include "tarn/core/units.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {

std::unique_ptr<Observer> make_path_integral(const ObservePathIntegral& section,
                                             const RunInfo& info) {
  TableSpec spec;
  spec.file = "path_integral";
  spec.fields = kRings;
  spec.columns = {"energy_primitive_kcal_per_mol",
                  "energy_virial_kcal_per_mol",
                  "kinetic_o_kcal_per_mol",
                  "kinetic_h_kcal_per_mol",
                  "kinetic_o_meV",
                  "kinetic_h_meV",
                  "potential_kcal_per_mol",
                  "intramolecular_kcal_per_mol",
                  "spring_kcal_per_mol",
                  "gyration2_o_A2",
                  "gyration2_h_A2",
                  "centroid_K",
                  "internal_K"};
  spec.averaged_columns = spec.columns.size();
  spec.steady_columns = {1};
  spec.remark =
      "; kinetic energies per atom by the centroid-virial estimator; gyration2 = squared radius of "
      "gyration of the ring of an atom";
  spec.values_follow_from_frame = true;
  spec.draw = draw_path_integral;
  spec.append_values = [](const Frame& frame, std::size_t r, std::vector<double>& values) {
    const RingMeasures& m = frame.rings[r];
    values.insert(values.end(),
                  {m.primitive_kcal_per_mol, m.virial_kcal_per_mol, m.kinetic_o_kcal_per_mol,
                   m.kinetic_h_kcal_per_mol, units::meV_per_kcal_per_mol * m.kinetic_o_kcal_per_mol,
                   units::meV_per_kcal_per_mol * m.kinetic_h_kcal_per_mol, m.potential_kcal_per_mol,
                   m.intramolecular_kcal_per_mol, m.spring_kcal_per_mol, m.gyration2_o_A2,
                   m.gyration2_h_A2, m.centroid_K, m.internal_K});
  };
  return std::make_unique<TableObserver>(spec, section.every, section.replicas, info);
}

}  // namespace tarn
