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

#include "compare/error_cost.hpp"
#include "compare/scheme_run.hpp"
#include "numbers.hpp"
#include "pages.hpp"
#include "result_page.hpp"
#include "tarn/analysis/rdf.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/observe/observers.hpp"

namespace tarn {
namespace {

constexpr int kTurns = 20;
constexpr std::array kSteps_fs{1, 2, 3, 4, 6, 8, 12};
constexpr double kShownStep_fs = 2.0;  ///< the step of the times per step in the tables
constexpr double kReferenceStep_fs = 0.5;
constexpr int kReferenceLonger = 2;  ///< factor of the reference's length
constexpr double kHeavyHydrogen_Da = 3.024;
constexpr double kLightHydrogen_Da = units::mass_hydrogen_Da;
/// Two configurations are in one basin when their minima differ by less [kcal/mol].
constexpr double kSameMinimum_kcal_per_mol = 1e-4;

/// A curve of the pictures: a scheme with its parameters.
struct Curve {
  std::string_view label;
  std::string_view scheme;
  std::string_view colour;
  double hydrogen_mass_Da = kLightHydrogen_Da;
  bool dashed = false;
  bool marked = true;  ///< whether the step stands beside each point
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

/// Averages of one run.
struct Samples {
  analysis::MeanError potential;
  DistanceHistogram oo;
};

struct Run {
  std::size_t bath = 0;
  SchemeRun scheme_run;
  std::vector<double> core_us_per_ps;  ///< of one cluster, one value per turn
  std::size_t stopped = 0;
  double temperature_K = 0.0;  ///< of translation
  analysis::MeanError potential;
  CostPoint point;  ///< against the reference

  bool survived() const { return stopped == 0; }
  double cost() const { return quantile(0.5); }
  double quantile(double share) const { return quantile_of(core_us_per_ps, share); }
  double ns_per_step() const { return cost() * point.timestep_fs; }
};

Samples samples_of(const SchemeRun& c) {
  Samples s;
  s.potential = mean_and_error(c.potential);
  Frame frame;
  c.engine->snapshot(kPairCounts, frame);
  const ObserveRdf& rdf = *c.deck.rdf;
  s.oo = distance_histogram(frame, kOO, rdf.bins, rdf.r_max_A / rdf.bins,
                            analysis::pairs_per_sample(frame.molecules)[kOO]);
  return s;
}

void compare_with(const Samples& reference, Run& run) {
  const Samples own = samples_of(run.scheme_run);
  run.potential = own.potential;
  run.point.us_per_ps = run.cost();
  run.point.survived = run.survived();
  run.point.potential = {own.potential.mean - reference.potential.mean,
                         std::hypot(own.potential.error, reference.potential.error)};
  run.point.distance = total_variation_and_error(own.oo, reference.oo);
  const ObserveRdf& rdf = *run.scheme_run.deck.rdf;
  run.point.distance_noise = total_variation_noise(own.oo, reference.oo, rdf.r_max_A / rdf.bins);
  run.temperature_K = mean_and_error(run.scheme_run.translation).mean;
}

/// Replicas of the reference that end in the basin of the start.
struct Basins {
  double start_kcal_per_mol = 0.0;  ///< minimum of the start
  int same = 0, replicas = 0;
};
Basins basins_of(const SchemeRun& c) {
  const State end = c.engine->state();
  const System system = make_system(c.deck, end.molecules);
  ForceField force_field(system.model, end.molecules);
  std::vector<double> x =
      io::read_structure(*structure_path(c.deck), {c.deck.system.frame}).positions_A;
  Basins b;
  b.start_kcal_per_mol = quench(force_field, x).energy_kcal_per_mol;
  b.replicas = end.replicas();
  for (int r = 0; r < b.replicas; ++r) {
    const auto begin = end.positions_A.begin() +
                       static_cast<std::ptrdiff_t>(static_cast<std::size_t>(r) * end.coordinates());
    x.assign(begin, begin + static_cast<std::ptrdiff_t>(end.coordinates()));
    const double minimum = quench(force_field, x).energy_kcal_per_mol;
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

/// One row per scheme, one column per step.
MarkdownTable table_of(const std::vector<Run>& runs, std::size_t bath, bool of_potential) {
  MarkdownTable::Cells header{"scheme", "ns per step"};
  for (int h : kSteps_fs) header.push_back(fmt::format("{} fs", h));
  MarkdownTable table(header);
  for (std::size_t curve = 0; curve < kCurves.size(); ++curve) {
    MarkdownTable::Cells cells{std::string(kCurves[curve].label), "–"};
    for (const Run& run : runs) {
      if (run.point.curve != curve || run.bath != bath) continue;
      cells.push_back(cell_of(run, of_potential));
      if (run.point.timestep_fs == kShownStep_fs && run.survived()) {
        cells[1] = fmt::format("{:.0f}", run.ns_per_step());
      }
    }
    table.row(cells);
  }
  return table;
}

/// The cheapest of the runs that satisfy `allow`.
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

/// The cheapest run for an accuracy: rigid schemes, penalties, and either with heavy hydrogens.
/// @param thermal_kcal_per_mol ⟨V₀⟩ above its minimum. Accuracies are shares of it, since ⟨V₀⟩ of a
/// cold cluster is nearly all potential energy of the minimum
MarkdownTable choices(const std::vector<Run>& runs, double thermal_kcal_per_mol) {
  MarkdownTable table({"accuracy", "rigid", "Z&Ss", "with hydrogens of 3 Da"});
  const auto row = [&](const std::string& accuracy, const auto& good) {
    const auto is_light = [](const Run& r) {
      return kCurves[r.point.curve].hydrogen_mass_Da == kLightHydrogen_Da;
    };
    const auto rigid = [](const Run& r) { return is_rigid(r.scheme_run.deck.integrator.scheme); };
    table.row(
        {accuracy,
         name_of(cheapest(runs, [&](const Run& r) { return good(r) && is_light(r) && rigid(r); })),
         name_of(cheapest(runs, [&](const Run& r) { return good(r) && is_light(r) && !rigid(r); })),
         name_of(cheapest(runs, [&](const Run& r) { return good(r) && !is_light(r); }))});
  };
  for (double share : {0.3, 0.1, 0.03, 0.01}) {
    row(fmt::format("⟨V₀⟩ to {:.0f} % of the thermal energy", 100.0 * share), [&](const Run& r) {
      return is_error_below(r.point, ErrorMeasure::potential, share * thermal_kcal_per_mol);
    });
  }
  for (double most : {0.05, 0.02, 0.01}) {
    row(fmt::format("OO histogram to {:.2f}", most),
        [&](const Run& r) { return is_error_below(r.point, ErrorMeasure::distance, most); });
  }
  return table;
}

io::Plot panel(const std::vector<Run>& runs, std::size_t bath, ErrorMeasure what,
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
  p.x_label = "core time per picosecond of one cluster (µs)";
  p.y_label += fmt::format(", {}", kBaths[bath].name);
  return p;
}

void write_row(ResultPage& page, const Run& run) {
  const Curve& c = kCurves[run.point.curve];
  page.cells(c.scheme, run.bath == 0 ? "baoab" : "gla", run.point.timestep_fs, c.hydrogen_mass_Da);
  for (double value : {run.cost(), run.quantile(0.25), run.quantile(0.75), run.ns_per_step(),
                       run.temperature_K, run.potential.mean, run.potential.error,
                       run.point.potential.mean, run.point.potential.error, run.point.distance.mean,
                       run.point.distance.error, run.point.distance_noise}) {
    page.cells(OrNan{run.survived() ? value : std::numeric_limits<double>::quiet_NaN()});
  }
  page.csv_row(run.stopped);
}

struct Reference {
  Samples samples;
  Basins basins;
  std::string machine;

  /// ⟨V₀⟩ above the minimum of the start.
  double thermal_kcal_per_mol() const { return samples.potential.mean - basins.start_kcal_per_mol; }
};

Reference run_reference(const Deck& base) {
  Deck deck = with_scheme_and_step(base, "settle", kReferenceStep_fs);
  deck.run.steps *= kReferenceLonger;
  // All other runs share their noise; the reference has noise independent of it.
  deck.system.seed = base.system.seed + 1;
  SchemeRun reference = make_scheme_run(deck, "reference", make_start(deck));
  reference.advance_to(deck.run.steps);
  return {samples_of(reference), basins_of(reference), reference.engine->description()};
}

std::vector<Run> make_runs(const Deck& base) {
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
        deck.system.keep_molecule_mass = kCurves[curve].hydrogen_mass_Da != kLightHydrogen_Da;
        run.scheme_run = make_scheme_run(deck, std::string(kCurves[curve].label), make_start(deck));
      }
    }
  }
  return runs;
}

/// Runs all in turns, so that other load of the machine affects all alike.
void run_interleaved(std::vector<Run>& runs, int replicas) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (Run& run : runs) {
      if (run.stopped > 0) continue;
      SchemeRun& c = run.scheme_run;
      const std::int64_t from = c.engine->step();
      const std::int64_t to = c.deck.run.steps * (turn + 1) / kTurns;
      const Elapsed elapsed = c.advance_to(to);
      run.stopped = c.engine->blow_ups().size();
      const double ps = static_cast<double>(to - from) * run.point.timestep_fs * 1e-3;
      run.core_us_per_ps.push_back(1e6 * elapsed.core_seconds / (ps * replicas));
    }
  }
}

void add_tables(ResultPage& page, const std::vector<Run>& runs, const Reference& reference) {
  page.text(
      "## Cheapest choice\n\nThe cheapest run for each accuracy, with its core time (µs) per "
      "picosecond of one cluster. The error plus twice its uncertainty must be below the "
      "accuracy.\n\n");
  page.table(choices(runs, reference.thermal_kcal_per_mol()));
  for (std::size_t bath = 0; bath < kBaths.size(); ++bath) {
    page.text(fmt::format("## {}\n\nError of ⟨V₀⟩ (kcal/mol):\n\n", kBaths[bath].name));
    page.table(table_of(runs, bath, true));
    page.text("Total variation of the histogram of OO distances:\n\n");
    page.table(table_of(runs, bath, false));
  }
}

void add_method(ResultPage& page, const Deck& base, const Reference& reference) {
  const Basins& basins = reference.basins;
  page.method("A dash marks runs in which a replica blew up. The time per step is that at 2 fs.");
  page.method(fmt::format(
      "The reference is SETTLE with BAOAB and steps of {} fs: ⟨V₀⟩ = {:.4f} ± {:.4f} kcal/mol. "
      "Errors of penalised schemes are relative to the same reference and therefore include the "
      "effect of the penalty.",
      kReferenceStep_fs, reference.samples.potential.mean, reference.samples.potential.error));
  page.method(fmt::format(
      "The thermal energy is ⟨V₀⟩ above the minimum of the start: {:.3g} kcal/mol above {:.4f} "
      "kcal/mol.",
      reference.thermal_kcal_per_mol(), basins.start_kcal_per_mol));
  page.method(fmt::format(
      "Each run has {} replicas of {:.0f} ps, all from one structure. In the reference run, {} of "
      "{} replicas end in the basin of the start.",
      base.system.replicas,
      static_cast<double>(base.run.steps) * base.integrator.timestep_fs * 1e-3, basins.same,
      basins.replicas));
  page.method(
      "In the picture, numbers beside the points are steps in fs, and bars are standard errors. "
      "The dashed horizontal line is the noise level, below which errors are not detectable; "
      "points below half of the noise level are drawn at that height. Dashed curves show the full "
      "Hessian or heavy hydrogens (`keep_molecule_mass`).");
  page.method("With a thermostat, SHAKE is identical to RATTLE.");
  page.method(
      fmt::format("All runs advance in {} turns on one thread. A cost is the median core time of "
                  "the turns; the CSV table contains the quartiles.",
                  kTurns));
}

void make_verdict_page(const Reproduction& r, const ReproduceOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t core_begin = std::clock();
  Deck base = page_deck(r, options);
  base.run.device = "cpu";
  base.run.threads = 1;
  const Reference reference = run_reference(base);
  std::vector<Run> runs = make_runs(base);
  run_interleaved(runs, base.system.replicas);
  for (Run& run : runs) compare_with(reference.samples, run);

  ResultPage page(
      r, options,
      {"scheme", "thermostat", "timestep_fs", "hydrogen_mass_Da", "core_us_per_ps",
       "core_us_per_ps_low", "core_us_per_ps_high", "core_ns_per_step", "temperature_translation_K",
       "potential_kcal_per_mol", "potential_kcal_per_mol_err", "potential_difference_kcal_per_mol",
       "potential_difference_kcal_per_mol_err", "oo_total_variation", "oo_total_variation_err",
       "oo_total_variation_noise", "stopped_replicas"});
  for (const Run& run : runs) write_row(page, run);
  add_tables(page, runs, reference);
  add_method(page, base, reference);
  page.method(fmt::format(
      "Machine: {}. All runs took {:.1f} minutes, with a core time of {:.1f} minutes.",
      reference.machine,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 60.0,
      static_cast<double>(std::clock() - core_begin) / CLOCKS_PER_SEC / 60.0));
  std::vector<io::Plot> panels;
  for (std::size_t bath = 0; bath < kBaths.size(); ++bath) {
    for (const ErrorMeasure what : {ErrorMeasure::potential, ErrorMeasure::distance}) {
      panels.push_back(panel(runs, bath, what, r.title));
    }
  }
  page.write(panels);
}

}  // namespace

Reproduction verdict_10K_page() {
  return {
      .deck = "verdict-10K.toml",
      .summary =
          "Errors of ⟨V₀⟩ and of the OO histogram were measured against the cost of every scheme, "
          "with steps of 1 to 12 fs. SETTLE with BAOAB has no detectable error up to 8 fs.\n\n"
          "* A step of Z&Ss costs three quarters of a step of SETTLE. Its error is that of the "
          "penalty (ω = 20 to 100) or that of the step (ω = 500 and ∞).\n"
          "* With ω = 500 the OO histogram is that of rigid water up to 8 fs.",
      .paper =
          "SHAKE took 8.7 times as long as Z&Ss for seven molecules at equal steps, with nearly "
          "the same histogram.",
      .make = make_verdict_page};
}

Reproduction verdict_298K_page() {
  return {
      .deck = "verdict-298K.toml",
      .summary =
          "Errors of ⟨V₀⟩ and of the OO histogram were measured against the cost of every scheme, "
          "with steps of 1 to 12 fs. SETTLE with BAOAB has the smallest error for its cost; heavy "
          "hydrogens extend its steps to 12 fs.",
      .make = make_verdict_page};
}

}  // namespace tarn
