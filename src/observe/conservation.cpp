#include "makers.hpp"
#include "table_observer.hpp"
#include "tarn/core/units.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

void append_conservation(const Frame& frame, std::size_t r, std::vector<double>& values) {
  const Conservation& c = frame.conservation[r];
  values.push_back(c.energy_kcal_per_mol);
  for (const double p : c.momentum_Da_A_per_akma) {
    values.push_back(p / units::picoseconds_per_akma);
  }
  for (const double l : c.angular_momentum_Da_A2_per_akma) {
    values.push_back(l / units::picoseconds_per_akma);
  }
  values.push_back(c.constraint_max_A2);
}

}  // namespace

std::unique_ptr<Observer> make_conservation(const ObserveConservation& section,
                                            const RunInfo& info) {
  TableSpec spec;
  spec.file = "conservation";
  spec.fields = kConservation;
  spec.columns = {"energy_kcal_per_mol", "px_Da_A_per_ps",  "py_Da_A_per_ps",  "pz_Da_A_per_ps",
                  "lx_Da_A2_per_ps",     "ly_Da_A2_per_ps", "lz_Da_A2_per_ps", "constraint_max_A2"};
  spec.append_values = append_conservation;
  spec.draw = draw_conservation;
  return std::make_unique<TableObserver>(spec, section.every, section.replicas, info);
}

}  // namespace tarn
