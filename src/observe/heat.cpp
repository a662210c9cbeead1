#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/archive.hpp"
#include "table_observer.hpp"
#include "time_pictures.hpp"

namespace tarn {
namespace {

/// Reference values of a replica: energy minus heat at its first row, and at the first row after
/// equilibration. Shadow work and its rate are measured from them.
struct InitialEnergies {
  double first = 0.0, averaged = 0.0;

  void archive(io::Archive& a) { a(first, averaged); }
};
using InitialEnergiesById = std::map<std::int64_t, InitialEnergies>;  // by replica id

/// Draws the changes in total energy and conserved quantity since the first row, and the shadow
/// work.
Pictures draw_heat(const std::string& folder, const io::PictureFormats& formats) {
  io::CsvReader csv(folder + "/heat.csv");
  const std::size_t heat = csv.column("heat_kcal_per_mol");
  const std::size_t conserved = csv.column("conserved_kcal_per_mol");
  const std::size_t work = csv.column("shadow_work_kcal_per_mol");
  const bool means = csv.has_column("heat_kcal_per_mol_err");
  const std::size_t work_error = means ? csv.column("shadow_work_kcal_per_mol_err") : 0;
  const std::size_t replica_column = csv.column("replica");
  std::map<std::string, double, std::less<>> first_rows;
  const auto changes = [&](const Cells& cells) {
    const double kept = csv.number(cells[conserved]);
    const double first = first_rows.emplace(cells[replica_column], kept).first->second;
    RowValues row({kept + csv.number(cells[heat]) - first, kept - first, csv.number(cells[work])});
    // Errors of energies are not errors of their changes.
    if (means) row.error[2] = csv.number(cells[work_error]);
    return row;
  };
  std::vector<io::Plot> plots = time_panels(csv, folder, "Heat and shadow work",
                                            {{"", "E - E(0) (kcal/mol)"},
                                             {"", "E - E(0) - heat (kcal/mol)"},
                                             {"", "shadow work (kcal/mol)"}},
                                            changes, means ? "standard error" : kExtremes);
  if (plots.empty() || has_several_baths(baths_of_run(folder)))
    return draw_panels(folder, "heat", plots, formats);
  // Total energy and conserved quantity on the same axes.
  plots[0].series[0].label = "total energy";
  plots[0].series.push_back(std::move(plots[1].series[0]));
  plots[0].series[1].label = "total energy - heat";
  plots.erase(plots.begin() + 1);
  return draw_panels(folder, "heat", plots, formats);
}

std::unique_ptr<Observer> make_heat(const ObserveTable& section, const ObserverContext& info) {
  const auto initial = std::make_shared<InitialEnergiesById>();
  const std::int64_t every = section.every;
  const std::int64_t averaged_step = (info.first_averaged_step + every - 1) / every * every;
  TableSpec spec;
  spec.file = "heat";
  spec.fields = kEnergies | kHeat;
  spec.columns = {"heat_kcal_per_mol", "shadow_work_kcal_per_mol",
                  "shadow_work_kcal_per_mol_per_ps", "conserved_kcal_per_mol"};
  spec.result_columns = 3;
  spec.first_result_step = averaged_step + 1;  // a rate needs two rows
  spec.append_values = [=](const Frame& frame, std::size_t r, std::vector<double>& values) {
    const Energies& e = frame.energies[r];
    const double heat = frame.heat_kcal_per_mol[r];
    const double physical = e.physical_kcal_per_mol - heat;
    InitialEnergies& of =
        initial->try_emplace(frame.replica_ids[r], InitialEnergies{physical, physical})
            .first->second;
    if (frame.step == averaged_step) of.averaged = physical;
    const std::int64_t steps = frame.step - averaged_step;
    const double rate = steps > 0 ? (physical - of.averaged) / info.time_ps(steps) : std::nan("");
    // The total energy of a ring polymer is an estimator, which is not conserved.
    const double conserved = frame.beads > 1 ? physical : e.total_kcal_per_mol - heat;
    values.insert(values.end(), {heat, physical - of.first, rate, conserved});
  };
  spec.archive = [initial](io::Archive& a) { a(*initial); };
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable heat_observable() {
  return observable(&Deck::heat, make_heat, {"heat.*"}, draw_heat,
                    "; of the ring polymer, sums over its beads");
}

}  // namespace tarn
