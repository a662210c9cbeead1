#include "verdict.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "compare/contestant.hpp"
#include "compare/error_cost.hpp"
#include "figure_page.hpp"
#include "step_cost.hpp"
#include "tarn/analysis/rdf.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/observe/observers.hpp"

namespace tarn {
namespace {

constexpr int kTurns = 20;
constexpr std::array kSteps_fs{1, 2, 3, 4, 6, 8, 12};
constexpr double kShownStep_fs = 2.0;  ///< whose time a step the tables have
constexpr double kReferenceStep_fs = 0.5;
constexpr int kReferenceLonger = 2;  ///< and so much longer
constexpr double kHeavyHydrogen_Da = 3.024;
constexpr double kLightHydrogen_Da = units::mass_hydrogen_Da;
/// Two configurations are in one basin when their minima differ by less [kcal/mol].
constexpr double kSameMinimum_kcal_per_mol = 1e-4;

/// A curve of the pictures: a scheme with its keys.
struct Curve {
  std::string_view label;
  std::string_view scheme;
  std::string_view colour;
  double hydrogen_mass_Da = kLightHydrogen_Da;
  bool dashed = false;
  bool marked = true;  ///< with the step beside each point
};
constexpr std::array kCurves{
    Curve{"SETTLE", "settle", "#0072B2"},
    Curve{"SHAKE", "shake", "#56B4E9", kLightHydrogen_Da, false, false},
    Curve{"RATTLE", "rattle", "#000000", kLightHydrogen_Da, false, false},
    Curve{"SETTLE, H of 3 Da", "settle", "#0072B2", kHeavyHydrogen_Da, true},
    Curve{"Z&Ss, ω = ∞", "zss-stiff:omega=infinite", "#009E73"},
    Curve{"Z&Ss, ω = 500", "zss-stiff:omega=500", "#8DB600"},
    Curve{"Z&Ss, ω = 100", "zss-stiff:omega=100", "#D55E00"},
    Curve{"Z&Ss, ω = 50", "zss-stiff:omega=50", "#CC79A7"},
    Curve{"Z&Ss, ω = 20", "zss-stiff:omega=20", "#E69F00"},
    Curve{"Z&Ss, ω = 100, H of 3 Da", "zss-stiff:omega=100", "#7F3300", kHeavyHydrogen_Da},
    Curve{"Z&Ss full, ω = 500", "zss-stiff:omega=500:hessian=full", "#8DB600", kLightHydrogen_Da,
          true},
    Curve{"Z&Ss full, ω = 100", "zss-stiff:omega=100:hessian=full", "#D55E00", kLightHydrogen_Da,
          true},
    Curve{"Z&Ss full, ω = 50", "zss-stiff:omega=50:hessian=full", "#CC79A7", kLightHydrogen_Da,
          true},
    Curve{"Z&Ss full, ω = 20", "zss-stiff:omega=20:hessian=full", "#E69F00", kLightHydrogen_Da,
          true},
};
struct Bath {
  Thermostat kind;
  const char* name;
};
constexpr std::array kBaths{Bath{Thermostat::baoab, "BAOAB"}, Bath{Thermostat::gla, "GLA"}};

/// What is measured of one contestant.
struct Samples {
  analysis::MeanError potential;
  Distances oo;
};

struct Run {
  std::size_t bath = 0;
  Contestant contestant;
  std::vector<double> core_us_per_ps;  ///< of one cluster, a value each turn
  std::size_t stopped = 0;
  double temperature_K = 0.0;  ///< of translation
  analysis::MeanError potential;
  CostPoint point;  ///< against the reference

  bool survived() const { return stopped == 0; }
  double cost() const { return quantile(0.5); }
  double quantile(double share) const { return quantile_of(core_us_per_ps, share); }
  double ns_per_step() const { return cost() * point.timestep_fs; }
};

Samples samples_of(const Contestant& c) {
  Samples s;
  s.potential = mean_and_error(c.potential);
  Frame frame;
  c.engine->snapshot(kPairCounts, frame);
  const ObserveRdf& rdf = *c.deck.rdf;
  s.oo = distances_of(frame, kOO, rdf.bins, rdf.r_max_A / rdf.bins,
                      analysis::pairs_per_sample(frame.molecules)[kOO]);
  return s;
}

void judge(Run& run, const Samples& reference) {
  const Samples own = samples_of(run.contestant);
  run.potential = own.potential;
  run.point.us_per_ps = run.cost();
  run.point.survived = run.survived();
  run.point.potential = {own.potential.mean - reference.potential.mean,
                         std::hypot(own.potential.error, reference.potential.error)};
  run.point.distance = total_variation_of(own.oo, reference.oo);
  const ObserveRdf& rdf = *run.contestant.deck.rdf;
  run.point.distance_of_noise =
      noise_of_total_variation(own.oo, reference.oo, rdf.r_max_A / rdf.bins);
  run.temperature_K = mean_and_error(run.contestant.translation).mean;
}

/// Lowest and typical minimum that replicas of the reference are in at the end.
struct Basins {
  double start_kcal_per_mol = 0.0;
  int same = 0, replicas = 0;
};
Basins basins_of(const Contestant& c) {
  const State end = c.engine->state();
  const System system = make_system(c.deck, end.molecules);
  ForceField force_field(system.model, end.molecules);
  std::vector<double> x =
      io::read_structure(*structure_path(c.deck), {c.deck.system.frame}).positions_A;
  Basins b;
  b.start_kcal_per_mol = quench_rigid(force_field, x).energy_kcal_per_mol;
  b.replicas = end.replicas();
  for (int r = 0; r < b.replicas; ++r) {
    const auto begin = end.positions_A.begin() +
                       static_cast<std::ptrdiff_t>(static_cast<std::size_t>(r) * end.coordinates());
    x.assign(begin, begin + static_cast<std::ptrdiff_t>(end.coordinates()));
    const double minimum = quench_rigid(force_field, x).energy_kcal_per_mol;
    b.same += std::fabs(minimum - b.start_kcal_per_mol) < kSameMinimum_kcal_per_mol;
  }
  return b;
}

std::string cell_of(const Run& run, bool of_potential) {
  if (!run.survived()) return "–";
  return of_potential
             ? fmt::format("{:+.3f} ± {:.3f}", run.point.potential.mean, run.point.potential.error)
             : fmt::format("{:.4f} ± {:.4f}", run.point.distance.mean, run.point.distance.error);
}

/// One row a scheme, one column a step.
std::string table_of(const std::vector<Run>& runs, std::size_t bath, bool of_potential) {
  std::string text = "| scheme | ns a step |";
  for (int h : kSteps_fs) text += fmt::format(" {} fs |", h);
  text += "\n|---|---|";
  for (std::size_t k = 0; k < kSteps_fs.size(); ++k) text += "---|";
  for (std::size_t curve = 0; curve < kCurves.size(); ++curve) {
    std::string cells, ns = "–";
    for (const Run& run : runs) {
      if (run.point.curve != curve || run.bath != bath) continue;
      cells += " " + cell_of(run, of_potential) + " |";
      if (run.point.timestep_fs == kShownStep_fs && run.survived()) {
        ns = fmt::format("{:.0f}", run.ns_per_step());
      }
    }
    text += fmt::format("\n| {} | {} |{}", kCurves[curve].label, ns, cells);
  }
  return text + "\n\n";
}

/// The cheapest of the runs that `allow` takes.
template <class Allow>
const Run* cheapest(const std::vector<Run>& runs, const Allow& allow) {
  const Run* best = nullptr;
  for (const Run& run : runs) {
    if (run.survived() && allow(run) && (best == nullptr || run.cost() < best->cost())) best = &run;
  }
  return best;
}

std::string name_of(const Run* run) {
  if (run == nullptr) return "none";
  return fmt::format("{}, {}, {:.0f} fs: {:.1f}", kCurves[run->point.curve].label,
                     kBaths[run->bath].name, run->point.timestep_fs, run->cost());
}

/// The cheapest way to an accuracy, for rigid schemes, penalties, and either with light hydrogens.
/// @param thermal_kcal_per_mol <V0> above its minimum, of which shares are wanted: of <V0> itself
/// a cold cluster has next to nothing that moves
std::string choices(const std::vector<Run>& runs, double thermal_kcal_per_mol) {
  std::string text = "| wanted | rigid | Z&Ss | with hydrogens of 3 Da |\n|---|---|---|---|\n";
  const auto row = [&](const std::string& wanted, const auto& good) {
    const auto is_light = [](const Run& r) {
      return kCurves[r.point.curve].hydrogen_mass_Da == kLightHydrogen_Da;
    };
    const auto rigid = [](const Run& r) { return is_rigid(r.contestant.deck.integrator.scheme); };
    text += fmt::format(
        "| {} | {} | {} | {} |\n", wanted,
        name_of(cheapest(runs, [&](const Run& r) { return good(r) && is_light(r) && rigid(r); })),
        name_of(cheapest(runs, [&](const Run& r) { return good(r) && is_light(r) && !rigid(r); })),
        name_of(cheapest(runs, [&](const Run& r) { return good(r) && !is_light(r); })));
  };
  for (double share : {0.3, 0.1, 0.03, 0.01}) {
    row(fmt::format("⟨V₀⟩ to {:.0f} % of the thermal energy", 100.0 * share), [&](const Run& r) {
      return is_within(r.point, CostOf::potential, share * thermal_kcal_per_mol);
    });
  }
  for (double most : {0.05, 0.02, 0.01}) {
    row(fmt::format("OO histogram to {:.2f}", most),
        [&](const Run& r) { return is_within(r.point, CostOf::distance, most); });
  }
  return text;
}

io::Plot panel(const std::vector<Run>& runs, std::size_t bath, CostOf what,
               const std::string& title) {
  std::vector<CostPoint> points;
  for (const Run& run : runs) {
    if (run.bath == bath) points.push_back(run.point);
  }
  std::vector<CostCurve> curves;
  for (const Curve& c : kCurves) {
    curves.push_back({std::string(c.label), std::string(c.colour), c.dashed, c.marked});
  }
  io::Plot p = error_cost_plot(points, curves, what);
  p.title = title;
  p.x_label = "time of one core for a picosecond of one cluster (µs)";
  p.y_label += fmt::format(", {}", kBaths[bath].name);
  return p;
}

void write_row(FigurePage& page, const Run& run) {
  const Curve& c = kCurves[run.point.curve];
  page.csv().cell(c.scheme).cell(run.bath == 0 ? "baoab" : "gla");
  page.csv().cell(run.point.timestep_fs).cell(c.hydrogen_mass_Da);
  for (double value : {run.cost(), run.quantile(0.25), run.quantile(0.75), run.ns_per_step(),
                       run.temperature_K, run.potential.mean, run.potential.error,
                       run.point.potential.mean, run.point.potential.error, run.point.distance.mean,
                       run.point.distance.error, run.point.distance_of_noise}) {
    page.csv().cell_or_nan(run.survived() ? value : std::numeric_limits<double>::quiet_NaN());
  }
  page.csv().cell(static_cast<std::int64_t>(run.stopped));
  page.end_row();
}

}  // namespace

void make_verdict(const Reproduction& r, const ReproduceOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t core_begin = std::clock();
  Deck base = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  base.run.device = "cpu";
  base.run.threads = 1;
  // Other noise than that of the contestants, which share theirs.
  Deck reference_deck = with_scheme_and_step(base, "settle", kReferenceStep_fs);
  reference_deck.run.steps *= kReferenceLonger;
  reference_deck.system.seed = base.system.seed + 1;
  Contestant reference = make_contestant(reference_deck, "reference", make_start(reference_deck));
  reference.advance_to(reference_deck.run.steps);
  const Samples truth = samples_of(reference);
  const Basins basins = basins_of(reference);

  std::vector<Run> runs;
  for (std::size_t bath = 0; bath < kBaths.size(); ++bath) {
    for (std::size_t curve = 0; curve < kCurves.size(); ++curve) {
      for (int h : kSteps_fs) {
        Run& run = runs.emplace_back();
        run.point.curve = curve;
        run.bath = bath;
        run.point.timestep_fs = h;
        Deck deck = with_scheme_and_step(base, std::string(kCurves[curve].scheme), h);
        deck.thermostat.kind = kBaths[bath].kind;
        deck.system.hydrogen_mass_Da = kCurves[curve].hydrogen_mass_Da;
        run.contestant = make_contestant(deck, std::string(kCurves[curve].label), make_start(deck));
      }
    }
  }
  const double replicas = base.system.replicas;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (Run& run : runs) {
      if (run.stopped > 0) continue;
      Contestant& c = run.contestant;
      const std::int64_t from = c.engine->step();
      const std::int64_t to = c.deck.run.steps * (turn + 1) / kTurns;
      const Elapsed elapsed = c.advance_to(to);
      run.stopped = c.engine->blow_ups().size();
      const double ps = static_cast<double>(to - from) * run.point.timestep_fs * 1e-3;
      run.core_us_per_ps.push_back(1e6 * elapsed.core_seconds / (ps * replicas));
    }
  }
  for (Run& run : runs) judge(run, truth);

  FigurePage page(
      r, options,
      {"scheme", "thermostat", "timestep_fs", "hydrogen_mass_Da", "core_us_per_ps",
       "core_us_per_ps_low", "core_us_per_ps_high", "core_ns_per_step", "temperature_translation_K",
       "potential_kcal_per_mol", "potential_kcal_per_mol_err", "potential_difference_kcal_per_mol",
       "potential_difference_kcal_per_mol_err", "oo_total_variation", "oo_total_variation_err",
       "oo_total_variation_noise", "stopped_replicas"});
  for (const Run& run : runs) write_row(page, run);
  page.text(fmt::format(
      "The reference, rigid molecules with SETTLE, BAOAB and steps of {} fs: ⟨V₀⟩ = {:.4f} ± "
      "{:.4f} "
      "kcal/mol. Penalties are measured against it too, so that what the penalty itself changes is "
      "part of their error. {} replicas of {:.0f} ps, all from one structure; {} of the "
      "{} of the reference end in the basin where they began (minimum {:.4f} kcal/mol).\n\n",
      kReferenceStep_fs, truth.potential.mean, truth.potential.error, base.system.replicas,
      static_cast<double>(base.run.steps) * base.integrator.timestep_fs * 1e-3, basins.same,
      basins.replicas, basins.start_kcal_per_mol));
  const double thermal = truth.potential.mean - basins.start_kcal_per_mol;
  page.text(
      "Numbers beside the points are steps in fs. Bars are standard errors; the dashed line is the "
      "noise, below which no error can be seen, and points below half of it are drawn there. "
      "Dashed "
      "curves are the full Hessian, or heavy hydrogens. With a thermostat, SHAKE is RATTLE.\n\n"
      "The cheapest of all that was tried, with the core's microseconds for a picosecond of one "
      "cluster; the error and twice its own uncertainty must lie below what is wanted. " +
      fmt::format("The thermal energy is ⟨V₀⟩ above that minimum, {:.3g} kcal/mol:\n\n", thermal) +
      choices(runs, thermal) + "\n");
  for (std::size_t bath = 0; bath < kBaths.size(); ++bath) {
    page.text(fmt::format("## {}\n\nError of ⟨V₀⟩ (kcal/mol); a dash where a replica was lost. The "
                          "time of a step is that at 2 fs.\n\n",
                          kBaths[bath].name) +
              table_of(runs, bath, true) + "Total variation of the histogram of OO distances:\n\n" +
              table_of(runs, bath, false));
  }
  const double minutes =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 60.0;
  page.text(fmt::format(
      "All runs took turns, {} each, on one thread; a cost is the median of its turns (quartiles "
      "in the table), in time of the core. {}. All of it took {:.1f} minutes, {:.1f} of them "
      "of the core.\n",
      kTurns, reference.engine->description(), minutes,
      static_cast<double>(std::clock() - core_begin) / CLOCKS_PER_SEC / 60.0));
  std::vector<io::Plot> panels;
  for (std::size_t bath = 0; bath < kBaths.size(); ++bath) {
    for (const CostOf what : {CostOf::potential, CostOf::distance}) {
      panels.push_back(panel(runs, bath, what, r.title));
    }
  }
  page.write(panels);
}

}  // namespace tarn
