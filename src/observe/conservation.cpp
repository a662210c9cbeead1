#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "energy_drift.hpp"
#include "table_observer.hpp"
#include "tarn/core/units.hpp"
#include "time_pictures.hpp"

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

/// Adds the energy drift, for runs without a thermostat: only errors of the scheme change the
/// energy.
void add_drift(TableSpec& spec, std::int64_t every, const RunInfo& info) {
  const auto drift = std::make_shared<EnergyDrift>();
  spec.prepare = [drift, first = info.first_averaged_step](const Frame& frame) {
    if (frame.step < first) return;
    std::vector<double> energies;
    for (const Conservation& c : frame.conservation) energies.push_back(c.energy_kcal_per_mol);
    drift->add(frame.replica_ids, energies);
  };
  spec.archive = [drift](io::Archive& a) { a(*drift); };
  spec.remembers = " with drift";
  spec.more_averages = [drift, interval_ps = info.time_ps(every)] {
    std::vector<AveragedQuantity> all;
    if (const auto result = drift->result()) {
      AveragedQuantity& a = all.emplace_back();
      a.table = "conservation";
      a.quantity = "energy_drift_kcal_per_mol_per_ps";
      a.mean = result->slope.mean / interval_ps;
      a.error = result->slope.error / interval_ps;
      a.independent_samples = static_cast<double>(result->replicas);
      a.samples = result->replicas;
      a.converged = result->converged;
    }
    return all;
  };
}

/// Draws the change in energy, momentum and angular momentum since the first row.
Pictures draw_conservation(const std::string& folder, const io::PictureFormats& formats) {
  io::CsvReader csv(folder + "/conservation.csv");
  constexpr std::size_t kColumns = 7;
  const std::array<std::string_view, kColumns> names{
      "energy_kcal_per_mol", "px_Da_A_per_ps",  "py_Da_A_per_ps", "pz_Da_A_per_ps",
      "lx_Da_A2_per_ps",     "ly_Da_A2_per_ps", "lz_Da_A2_per_ps"};
  std::array<std::size_t, kColumns> columns{};
  for (std::size_t c = 0; c < kColumns; ++c) columns[c] = csv.column(names[c]);
  const std::size_t replica_column = csv.column("replica");
  std::map<std::string, std::array<double, kColumns>, std::less<>> first_rows;
  const auto changes = [&](const Cells& cells) {
    std::array<double, kColumns> now{};
    for (std::size_t c = 0; c < kColumns; ++c) now[c] = csv.number(cells[columns[c]]);
    const auto& first = first_rows.emplace(cells[replica_column], now).first->second;
    for (std::size_t c = 0; c < kColumns; ++c) now[c] -= first[c];
    return RowValues(
        {now[0], std::hypot(now[1], now[2], now[3]), std::hypot(now[4], now[5], now[6])});
  };
  std::vector<io::Plot> plots = time_panels(
      csv, folder,
      has_thermostat(folder) ? "Energy and momenta (not conserved: thermostat)" : "Conservation",
      {{"", "E - E(0) (kcal/mol)"}, {"", "|P - P(0)| (Da Å/ps)"}, {"", "|L - L(0)| (Da Å²/ps)"}},
      changes);
  for (std::size_t p = 1; p < plots.size(); ++p) {
    for (const io::Series& curve : plots[p].series) {
      plots[p].log_y = plots[p].log_y || std::any_of(curve.y.begin(), curve.y.end(),
                                                     [](double value) { return value > 0.0; });
    }
  }
  return draw_panels(folder, "conservation", plots, formats);
}

std::unique_ptr<Observer> make_conservation(const ObserveTable& section,
                                            const ObserverContext& info) {
  TableSpec spec;
  spec.file = "conservation";
  spec.fields = kConservation;
  spec.columns = {"energy_kcal_per_mol", "px_Da_A_per_ps",  "py_Da_A_per_ps",  "pz_Da_A_per_ps",
                  "lx_Da_A2_per_ps",     "ly_Da_A2_per_ps", "lz_Da_A2_per_ps", "constraint_max_A2"};
  spec.values_follow_from_frame = true;
  spec.append_values = append_conservation;
  if (info.baths_K.empty()) add_drift(spec, section.every, info);
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable conservation_observable() {
  return observable(&Deck::conservation, make_conservation, {"conservation.*"}, draw_conservation,
                    "; energy = Hamiltonian of the ring polymer, a sum over its beads; momenta = "
                    "means over the beads");
}

}  // namespace tarn
