#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "quantum_run.hpp"
#include "result_page.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/core/units.hpp"
#include "tarn/modes.hpp"
#include "tarn/observe/quantity_table.hpp"
#include "tarn/physics/ring_polymer.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

using analysis::MeanError;

const std::vector<double> kTemperatures_K{50.0, 100.0, 200.0};
constexpr double kBeadsTimesK = 16'000.0;
constexpr double kProtium_Da = 1.008, kDeuterium_Da = 2.014;

/// The masses of Simpson's rule, whose square roots are equidistant.
std::array<double, 3> masses_Da() {
  const double middle = 0.5 * (std::sqrt(kProtium_Da) + std::sqrt(kDeuterium_Da));
  return {kProtium_Da, middle * middle, kDeuterium_Da};
}

/// Kinetic energies of the hydrogens that donate a hydrogen bond and of the others [meV].
struct Sites {
  MeanError bonded, free;
};

/// Whether each hydrogen donates a hydrogen bond, [molecule][H1, H2].
std::vector<bool> donors(std::span<const double> positions_A) {
  std::vector<bool> bonded(positions_A.size() / 9 * 2, false);
  for (const analysis::HydrogenBond& bond : analysis::hydrogen_bonds(positions_A)) {
    bonded[static_cast<std::size_t>(2 * bond.donor + bond.hydrogen - 1)] = true;
  }
  return bonded;
}

/// Means over the hydrogens of each kind; nan if there are none.
std::array<double, 2> by_site(const std::vector<bool>& bonded, std::span<const double> of_atoms) {
  std::array<double, 2> sums{};
  std::array<int, 2> numbers{};
  for (std::size_t h = 0; h < bonded.size(); ++h) {
    const std::size_t kind = bonded[h] ? 0 : 1;
    sums[kind] += of_atoms[h / 2 * 3 + 1 + h % 2];
    ++numbers[kind];
  }
  return {sums[0] / numbers[0], sums[1] / numbers[1]};
}

ObserverMaker hydrogens() {
  QuantityTable table;
  table.file = "hydrogens";
  table.columns = {"kinetic_bonded_h_meV", "kinetic_free_h_meV"};
  table.every = 20;
  table.fields = kPositions | kAtomKinetic;
  table.may_be_unknown = true;
  table.values = [](const Frame& frame, std::size_t r, std::span<double> values) {
    const auto n = static_cast<std::size_t>(frame.molecules);
    const std::array<double, 2> kinetic =
        by_site(donors(frame.positions_A_of(r)),
                std::span(frame.atom_kinetic_kcal_per_mol).subspan(r * 3 * n, 3 * n));
    for (std::size_t k = 0; k < 2; ++k) values[k] = units::meV_per_kcal_per_mol * kinetic[k];
  };
  return quantity_table(table);
}

/// Mean kinetic energy of a harmonic mode with P beads: kT/2 times the sum of
/// omega^2/(omega_k^2 + omega^2).
double harmonic_kinetic(double wavenumber_per_cm, int beads, double temperature_K) {
  const double omega = wavenumber_per_cm / units::wavenumber_per_cm(1.0);
  double sum = 0.0;
  for (int mode = 0; mode < beads; ++mode) {
    const double spring = mode_frequency_per_akma(mode, beads, temperature_K);
    sum += omega * omega / (spring * spring + omega * omega);
  }
  return 0.5 * units::boltzmann_kcal_per_mol_K * temperature_K * sum;
}

/// The same in the harmonic approximation at the start structure.
Sites harmonic_sites(const WaterModel& model, const std::vector<double>& positions_A, int beads,
                     double temperature_K) {
  const NormalModes modes = normal_modes(model, positions_A);
  const std::size_t n = positions_A.size();
  std::vector<double> of_atoms(n / 3, 0.0);
  for (std::size_t k = 0; k < modes.modes.size(); ++k) {
    const double wavenumber = modes.modes[k].wavenumber_per_cm;
    const double kinetic = wavenumber > 0.0 ? harmonic_kinetic(wavenumber, beads, temperature_K)
                                            : 0.5 * units::boltzmann_kcal_per_mol_K * temperature_K;
    for (std::size_t c = 0; c < n; ++c) {
      const double d = modes.displacements_per_sqrt_Da[k * n + c];
      const double mass = c % 9 < 3 ? model.mass_o_Da : model.mass_h_Da;
      of_atoms[c / 3] += kinetic * mass * d * d;
    }
  }
  const std::array<double, 2> kinetic = by_site(donors(positions_A), of_atoms);
  return {{units::meV_per_kcal_per_mol * kinetic[0], 0.0},
          {units::meV_per_kcal_per_mol * kinetic[1], 0.0}};
}

/// Integral of (K of bonded - K of free)/m dm from protium to deuterium, in kT, by Simpson's rule
/// in the square root of the mass.
MeanError preference_kT(const std::array<Sites, 3>& sites, double temperature_K) {
  const double kT_meV =
      units::meV_per_kcal_per_mol * units::boltzmann_kcal_per_mol_K * temperature_K;
  const std::array<double, 3> masses = masses_Da();
  const double width = std::sqrt(masses[2]) - std::sqrt(masses[0]);
  constexpr std::array kWeights{1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0};
  MeanError sum;
  for (std::size_t k = 0; k < 3; ++k) {
    const double factor = kWeights[k] * width * 2.0 / std::sqrt(masses[k]) / kT_meV;
    sum.mean += factor * (sites[k].bonded.mean - sites[k].free.mean);
    sum.error =
        std::hypot(sum.error, factor * std::hypot(sites[k].bonded.error, sites[k].free.error));
  }
  return sum;
}

void make_isotopes_page(const Reproduction& r, const ReproduceOptions& options) {
  ResultPage page(r, options,
                  {"bath_K", "beads", "hydrogen_mass_Da", "kinetic_bonded_h_meV",
                   "kinetic_bonded_h_meV_err", "kinetic_free_h_meV", "kinetic_free_h_meV_err",
                   "harmonic_bonded_h_meV", "harmonic_free_h_meV"});
  MarkdownTable table({"T (K)", "mass of hydrogen (Da)", "K of bonded H (meV)", "K of free H (meV)",
                       "difference (meV)", "harmonic difference (meV)"});
  MarkdownTable preferences({"T (K)", "ΔF (kT)", "ΔF (kcal/mol)", "harmonic ΔF (kT)"});
  io::Plot kinetic = plot(r.title, "", "K of hydrogen (meV)");
  kinetic.height_pixels = 340;
  io::Plot preference = plot("", "temperature (K)     bars: standard error", "ΔF (kT)");
  preference.height_pixels = 340;
  add_curve(preference, "ring polymers");
  add_curve(preference, "harmonic").dashed = true;
  io::Series &measured = preference.series[0], &harmonic_curve = preference.series[1];
  for (const double t_K : page_temperatures(kTemperatures_K, options)) {
    const int beads = beads_for(kBeadsTimesK, t_K);
    std::array<Sites, 3> sites, harmonic;
    for (std::size_t k = 0; k < 3; ++k) {
      const double mass = masses_Da()[k];
      const std::string own = fmt::format("system.hydrogen_mass_Da={}", mass);
      std::vector<std::string> overrides = ring_overrides(t_K, beads);
      overrides.push_back(own);
      const RunResult run = run_quantum(r, options, overrides, {}, {hydrogens()});
      sites[k] = {average_of(run.averages, "kinetic_bonded_h_meV"),
                  average_of(run.averages, "kinetic_free_h_meV")};
      Deck cold = page_deck(r, options, {own});
      cold.path_integral.reset();
      cold.system.replicas = 1;
      const Start start = make_start(cold);
      harmonic[k] = harmonic_sites(make_system(cold, start.state.molecules).model,
                                   start.state.positions_A, beads, t_K);
      const auto difference = [](const Sites& s) {
        return MeanError{s.bonded.mean - s.free.mean, std::hypot(s.bonded.error, s.free.error)};
      };
      table.row({fmt::format("{:g}", t_K), fmt::format("{:.3f}", mass),
                 value_and_error(sites[k].bonded), value_and_error(sites[k].free),
                 value_and_error(difference(sites[k])),
                 fmt::format("{:.2f}", difference(harmonic[k]).mean)});
      page.csv_row(t_K, beads, mass, sites[k].bonded, sites[k].free, harmonic[k].bonded.mean,
                   harmonic[k].free.mean);
    }
    const MeanError shift = preference_kT(sites, t_K), expected = preference_kT(harmonic, t_K);
    const double kT = units::boltzmann_kcal_per_mol_K * t_K;
    preferences.row({fmt::format("{:g}", t_K), value_and_error(shift),
                     value_and_error(kT * shift.mean, kT * shift.error),
                     fmt::format("{:.2f}", expected.mean)});
    add_point(measured, t_K, shift.mean, shift.mean - shift.error, shift.mean + shift.error);
    add_point(harmonic_curve, t_K, expected.mean);
    for (const bool bonded : {true, false}) {
      io::Series& s =
          add_curve(kinetic, fmt::format("{:g} K, {}", t_K, bonded ? "bonded" : "free"));
      s.colour = io::palette_colour(kinetic.series.size() - 1);
      s.dashed = !bonded;
      for (std::size_t k = 0; k < 3; ++k) {
        const MeanError v = bonded ? sites[k].bonded : sites[k].free;
        add_point(s, masses_Da()[k], v.mean, v.mean - v.error, v.mean + v.error);
      }
    }
  }
  kinetic.x_label = "mass of hydrogen (Da)";
  page.text("## Preference of deuterium for hydrogen bonds\n\n");
  page.table(preferences);
  page.text("## Kinetic energies\n\n");
  page.table(table);
  const Deck deck = page_deck(r, options);
  page.method(fmt::format(
      "ΔF = ∫ (K_bonded - K_free)/m dm from {:g} to {:g} Da: the free energy that is gained if a "
      "deuterium at a free site and a protium in a hydrogen bond change places. All hydrogens have "
      "the mass m; the integral is evaluated by Simpson's rule in √m, with three masses.",
      kProtium_Da, kDeuterium_Da));
  page.method(fmt::format(
      "P T = {:g} K; {} replicas from the cube, {:g} ps after an equilibration of {:g} ps. A "
      "hydrogen is bonded if its centroids satisfy the criterion of a hydrogen bond. Errors are "
      "standard errors.",
      kBeadsTimesK, deck.system.replicas,
      static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs * 1e-3 -
          deck.run.equilibration_ps,
      deck.run.equilibration_ps));
  page.method(
      "The harmonic values are computed from the normal modes of the cube, with the same number of "
      "beads.");
  page.write({kinetic, preference});
}

}  // namespace

Reproduction isotopes_page() {
  return {
      .deck = "pimd8.toml",
      .overrides = {"run.duration_ps=22"},
      .summary =
          "The mean kinetic energies K of hydrogens in hydrogen bonds and of free hydrogens were "
          "measured in the cube of eight molecules, for three masses of hydrogen. The integral of "
          "their difference over the mass is the free energy ΔF by which deuterium prefers "
          "hydrogen bonds and protium prefers free sites: 1.5 kT at 50 K.\n\n"
          "* The harmonic approximation gives 1.7 kT at 50 K. Anharmonicity lowers the preference "
          "by 13 % at 50 K and by 18 % at 200 K.\n"
          "* The preference falls from 0.150 kcal/mol at 50 K to 0.088 kcal/mol at 200 K.\n"
          "* At 50 K, a protium in a hydrogen bond has 8 % more kinetic energy than a free one.",
      .make = make_isotopes_page};
}

}  // namespace tarn
