#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/windows.hpp"
#include "interface/moments.hpp"
#include "observable.hpp"
#include "table_observer.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/exchange.hpp"

namespace tarn {
namespace {

/// Neighbouring windows with less in common are reported.
constexpr double kLeastOverlap = 0.03;
/// Blocks of the run for errors, where there is one replica per window.
constexpr int kBlocksOfTime = 16;
constexpr int kMostSeries = 32;

/// The profile of windows, from the samples in bias.csv.
class Profile {
 public:
  Profile(const ObserveBias& section, const ObserverContext& info)
      : section_(section), info_(info) {}

  /// Writes free_energy.csv.
  void finish() {
    const BiasSpec* const windows = windows_of(info_.system);
    if (windows == nullptr) return;
    const auto samples = read_samples(windows->centres.size());
    std::vector<std::int64_t> counts(windows->centres.size(), 0);
    for (const analysis::WindowSample& s : samples) ++counts[static_cast<std::size_t>(s.window)];
    if (std::ranges::count(counts, 0) > 0) return;
    const double kT = units::boltzmann_kcal_per_mol_K * replica_temperature_K(info_.system, 0);
    profile_ = analysis::free_energy_profile(*windows, kT, samples, series_, section_.bin_width,
                                             info_.threads);
    write(kT);
  }
  Messages messages() const {
    const BiasSpec* const windows = windows_of(info_.system);
    if (windows == nullptr) return {};
    if (profile_.points.empty()) {
      return {Message::warning("no free energy: a window has no samples after equilibration")};
    }
    Messages all;
    for (std::size_t k = 0; k < profile_.overlaps.size(); ++k) {
      if (profile_.overlaps[k] >= kLeastOverlap) continue;
      const double a = windows->centres[k], b = windows->centres[k + 1];
      all.push_back(Message::warning(fmt::format(
          "the windows at {:g} and {:g} overlap by {:.2g} %: the free energies on both sides are "
          "not connected. Add a window at {:.4g}, or reduce the stiffness",
          a, b, 100.0 * profile_.overlaps[k], 0.5 * (a + b))));
    }
    const auto lowest = std::ranges::min_element(profile_.points, {},
                                                 &analysis::ProfilePoint::free_energy_kcal_per_mol);
    // Not beyond the largest centre, where windows no longer hold the coordinate.
    auto highest = lowest;
    for (auto p = lowest; p != profile_.points.end(); ++p) {
      if (p->coordinate > windows->centres.back()) break;
      if (p->free_energy_kcal_per_mol > highest->free_energy_kcal_per_mol) highest = p;
    }
    all.push_back(Message::note(
        fmt::format("free energy: minimum at {:.4g}, {:.3g} +- {:.2g} kcal/mol higher at {:.4g}",
                    lowest->coordinate, highest->free_energy_kcal_per_mol, highest->error,
                    highest->coordinate)));
    return all;
  }

 private:
  std::vector<analysis::WindowSample> read_samples(std::size_t windows) {
    const io::Table table = io::read_table(info_.out_dir + "/bias.csv");
    const auto column = [&](std::string_view name) -> const io::TableColumn& {
      return *std::ranges::find(table.columns, name, &io::TableColumn::name);
    };
    const auto &all_steps = column("step").integers, &replicas = column("replica").integers;
    const std::vector<double>& xi = column("coordinate").numbers;
    const auto ladders = static_cast<int>(static_cast<std::size_t>(info_.replicas) / windows);
    const ReplicaMap map(windows);
    std::vector<analysis::WindowSample> samples;
    std::vector<std::int64_t> steps;
    for (std::size_t row = 0; row < table.rows; ++row) {
      if (all_steps[row] < info_.first_averaged_step) continue;
      samples.push_back({xi[row], static_cast<int>(map.place(replicas[row])),
                         static_cast<int>(map.ladder(replicas[row]) % kMostSeries)});
      steps.push_back(all_steps[row]);
    }
    series_ = std::min(ladders, kMostSeries);
    if (series_ > 1 || samples.empty()) return samples;
    series_ = kBlocksOfTime;
    const std::int64_t first = steps.front(), length = steps.back() - first + 1;
    for (std::size_t n = 0; n < samples.size(); ++n) {
      samples[n].series = static_cast<int>((steps[n] - first) * kBlocksOfTime / length);
    }
    return samples;
  }
  void write(double kT) const {
    const BiasCoordinate kind = windows_of(info_.system)->coordinate;
    const bool is_distance = kind != BiasCoordinate::contacts;
    std::vector<std::string> header{"coordinate", "free_energy_kcal_per_mol",
                                    "free_energy_kcal_per_mol_err"};
    if (is_distance) header.emplace_back("without_volume_kcal_per_mol");
    header.emplace_back("samples");
    io::CsvTable csv(info_.out_dir + "/free_energy.csv", header,
                     info_.provenance +
                         fmt::format("; MBAR of {} windows, minimum zero; errors by a jackknife",
                                     windows_of(info_.system)->centres.size()) +
                         (is_distance ? "; without_volume = F + 2 kT ln(coordinate)" : ""));
    for (const analysis::ProfilePoint& p : profile_.points) {
      csv.cells_or_nan(p.coordinate, p.free_energy_kcal_per_mol, p.error);
      if (is_distance) {
        csv.cell_or_nan(p.free_energy_kcal_per_mol + 2.0 * kT * std::log(p.coordinate));
      }
      csv.cell(p.samples);
      csv.end_row();
    }
    csv.write();
  }

  ObserveBias section_;
  ObserverContext info_;
  analysis::FreeEnergyProfile profile_;
  int series_ = 0;
};

std::unique_ptr<Observer> make_bias(const ObserveBias& section, const ObserverContext& info) {
  TableSpec spec{.file = "bias", .fields = kEnergies, .moment_fields = kEnergyMoments};
  spec.remark = "; coordinate of the reported oxygens, of the centroids of ring polymers";
  set_columns<Energies>(spec, &Frame::energies, &Frame::energy_moments,
                        {{"coordinate", &Energies::bias_coordinate, EnergyMoment::kBiasCoordinate},
                         {"bias_kcal_per_mol", &Energies::bias_kcal_per_mol, EnergyMoment::kBias}});
  const auto profile = std::make_shared<Profile>(section, info);
  spec.finish = [profile] { profile->finish(); };
  spec.more_messages = [profile] { return profile->messages(); };
  return make_table(std::move(spec), section, info);
}

}  // namespace

Observable bias_observable() {
  return observable(&Deck::bias_table, make_bias, {"bias.*", "free_energy.*"});
}

}  // namespace tarn
