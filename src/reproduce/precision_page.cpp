#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "numbers.hpp"
#include "pages.hpp"
#include "result_page.hpp"
#include "run/replicas.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/analysis/line_fit.hpp"
#include "tarn/physics/pair_force.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

/// The runs of one structure: long enough for a slope, short enough for the cost of a step.
struct Length {
  int molecules, replicas;
  double duration_ps;
  std::int64_t every;
};
constexpr std::array kLengths{Length{7, 64, 200.0, 100}, Length{100, 8, 40.0, 50},
                              Length{1000, 2, 4.0, 10}};
/// Share at the beginning that is left out, since structures are not exactly at a minimum.
constexpr double kLeftOut = 0.5;
/// Lowest drift that is drawn.
constexpr double kLowest = 1e-6;
struct Kind {
  Precision precision;
  const char* name;
};
constexpr std::array kKinds{Kind{Precision::double_, "double"}, Kind{Precision::mixed, "mixed"},
                            Kind{Precision::single, "single"}};

/// A long double for the formulas of forces: the reference has no rounding errors that matter.
struct Extended {
  long double v = 0.0L;
  Extended() = default;
  Extended(double value) : v(value) {}
  static Extended of(long double value) {
    Extended e;
    e.v = value;
    return e;
  }
  explicit operator double() const { return static_cast<double>(v); }
  friend Extended operator+(Extended a, Extended b) { return of(a.v + b.v); }
  friend Extended operator-(Extended a, Extended b) { return of(a.v - b.v); }
  friend Extended operator*(Extended a, Extended b) { return of(a.v * b.v); }
  friend Extended operator-(Extended a) { return of(-a.v); }
  friend Extended fma(Extended a, Extended b, Extended c) { return of(a.v * b.v + c.v); }
  friend Extended fnma(Extended a, Extended b, Extended c) { return of(c.v - a.v * b.v); }
  friend Extended rsqrt(Extended a) { return of(1.0L / std::sqrt(a.v)); }
};

/// Forces of a three-site model on all atoms, by a plain sum in long double.
std::vector<double> exact_forces(const WaterModel& model, const std::vector<double>& x) {
  using T = Extended;
  const PairParameters<double> p = pair_parameters<double>(model);
  std::vector<Triple<T>> molecules;
  for (std::size_t c = 0; c < x.size(); c += 9) {
    const auto atom = [&](std::size_t a) -> Vec3<T> { return {x[a], x[a + 1], x[a + 2]}; };
    molecules.push_back({atom(c), atom(c + 3), atom(c + 6)});
  }
  const T no_weight(0.0);
  std::vector<SiteForces<T>> sites(molecules.size());
  for (std::size_t i = 0; i < molecules.size(); ++i) {
    const SiteOffsets<T> at_i = site_offsets<false>(molecules[i], no_weight);
    for (std::size_t j = i + 1; j < molecules.size(); ++j) {
      add_pair_forces<false>(p, molecules[i].o - molecules[j].o, at_i,
                             site_offsets<false>(molecules[j], no_weight), AllLanes{}, sites[i],
                             sites[j]);
    }
  }
  std::vector<double> forces;
  for (const SiteForces<T>& f : sites) {
    for (const Vec3<T>& v : {f.o, f.h1, f.h2}) {
      for (const T& c : {v.x, v.y, v.z}) forces.push_back(static_cast<double>(c));
    }
  }
  return forces;
}

/// Forces of an engine, from one step of velocity Verlet that starts at rest and is too short for
/// any motion.
std::vector<double> engine_forces(System system, Precision precision,
                                  const std::vector<double>& x) {
  system.precision = precision;
  system.integrator = {};
  system.integrator.scheme = Scheme::verlet;
  system.integrator.omega = 0.0;
  system.integrator.timestep_akma = 1e-9;
  system.thermostat = {};
  State state;
  state.molecules = system.molecules;
  state.replica_ids = {0};
  state.positions_A = x;
  state.velocities_A_per_akma.assign(x.size(), 0.0);
  const auto engine = make_engine(system, state, {}, {"cpu", 1});
  engine->advance(1);
  std::vector<double> f = engine->state().velocities_A_per_akma;
  for (std::size_t c = 0; c < f.size(); ++c) {
    f[c] *= system.model.mass_Da(static_cast<int>(c / 3 % 3)) / system.integrator.timestep_akma;
  }
  return f;
}

/// Energies are per molecule, momenta are those of the cluster.
struct Drift {
  analysis::MeanError slope_per_ns;  ///< [kcal/mol/ns]
  double rms = 0.0;                  ///< about the line [kcal/mol]
  double momentum = 0.0;             ///< largest change [Da A/akma]
  double angular_momentum = 0.0;     ///< largest change [Da A^2/akma]
  std::size_t stopped = 0;
};

Drift drift_of(const System& system, const State& start, const Length& length, double timestep_fs,
               int threads) {
  const auto engine = make_engine(system, start, {}, {"cpu", threads});
  const auto replicas = static_cast<std::size_t>(length.replicas);
  std::vector<double> time_ns;
  std::vector<std::vector<double>> energy(replicas);
  std::vector<Conservation> first;
  Drift d;
  engine->advance(std::llround(kLeftOut * length.duration_ps * 1e3 / timestep_fs));
  const std::int64_t steps =
      std::llround((1.0 - kLeftOut) * length.duration_ps * 1e3 / timestep_fs);
  Frame f;
  for (std::int64_t step = 0; step <= steps; step += length.every) {
    if (step > 0) engine->advance(length.every);
    engine->snapshot(kConservation, f);
    if (f.conservation.size() != replicas) break;
    if (first.empty()) first = f.conservation;
    time_ns.push_back(static_cast<double>(step) * timestep_fs * 1e-6);
    for (std::size_t r = 0; r < replicas; ++r) {
      energy[r].push_back(f.conservation[r].energy_kcal_per_mol / length.molecules);
      const Conservation &now = f.conservation[r], &then = first[r];
      d.momentum =
          std::max(d.momentum, distance(now.momentum_Da_A_per_akma, then.momentum_Da_A_per_akma));
      d.angular_momentum = std::max(
          d.angular_momentum,
          distance(now.angular_momentum_Da_A2_per_akma, then.angular_momentum_Da_A2_per_akma));
    }
  }
  d.stopped = replicas - f.conservation.size();
  std::vector<double> slopes;
  for (const std::vector<double>& e : energy) {
    const analysis::LineFit line = analysis::fit_line(time_ns, e);
    slopes.push_back(line.slope);
    double squares = 0.0;
    for (std::size_t k = 0; k < e.size(); ++k) {
      const double rest = e[k] - line.intercept - line.slope * time_ns[k];
      squares += rest * rest;
    }
    d.rms += std::sqrt(squares / static_cast<double>(e.size())) / static_cast<double>(replicas);
  }
  d.slope_per_ns = analysis::mean_and_error(slopes);
  return d;
}

std::vector<Length> lengths_of(const ReproduceOptions& options) {
  std::vector<Length> lengths;
  for (Length length : kLengths) {
    length.duration_ps *= options.share_of_time;
    if (length.molecules <= options.most_molecules) lengths.push_back(length);
  }
  return lengths;
}

Deck structure_deck(const Reproduction& r, const ReproduceOptions& options, const Length& length) {
  return page_deck(r, options,
                   {fmt::format("system.file=structures/tip3p-{}.xyz", length.molecules),
                    fmt::format("system.replicas={}", length.replicas)});
}

using ForceErrors = std::array<double, kKinds.size()>;

/// Relative rms errors of the forces on the structure, with the first scheme of the page.
ForceErrors force_errors_of(const Deck& deck, const Length& length) {
  const State start = make_start(deck).state;
  const System system = make_system(deck, length.molecules);
  const std::vector<double> x = replica_part(start, start.positions_A, 0);
  const std::vector<double> exact = exact_forces(system.model, x);
  ForceErrors errors{};
  for (std::size_t k = 0; k < kKinds.size(); ++k) {
    RelativeRms rms;
    rms.add(engine_forces(system, kKinds[k].precision, x), exact);
    errors[k] = rms.value();
  }
  return errors;
}

io::Plot empty_picture(const Reproduction& r) {
  io::Plot p = log_plot("Energy drift by precision",
                        "number of molecules (triples from the left: double, mixed, single)",
                        "|energy drift| (kcal/mol/ns per molecule)");
  p.x_range = {{4.0, 2000.0}};
  constexpr std::array kColours{"#0072B2", "#56B4E9", "#009E73", "#D55E00", "#E69F00"};
  for (std::size_t s = 0; s < r.schemes.size(); ++s) {
    add_curve(p, r.schemes[s], io::Series::Style::points).colour = kColours[s % kColours.size()];
  }
  return p;
}

/// Adds the drift of scheme s in precision k beside the others of the same size.
void draw_drift(io::Plot& p, std::size_t s, std::size_t k, int molecules, const Drift& d) {
  const double size = std::fabs(d.slope_per_ns.mean), error = d.slope_per_ns.error;
  const double place = static_cast<double>(3 * s + k) - 1.5 * static_cast<double>(p.series.size());
  add_point(p.series[s], molecules * std::pow(1.05, place), std::max(size, kLowest),
            std::max(size - error, kLowest), std::max(size + error, kLowest));
}

MarkdownTable::Cells drift_cells(const Drift& d) {
  return {fmt::format("{:+.1e} ± {:.1e}{}", d.slope_per_ns.mean, d.slope_per_ns.error,
                      d.stopped > 0 ? fmt::format(", {} stopped", d.stopped) : ""),
          fmt::format("{:.1e}", d.rms), fmt::format("{:.1e}", d.momentum),
          fmt::format("{:.1e}", d.angular_momentum)};
}

void make_precision_page(const Reproduction& r, const ReproduceOptions& options) {
  ResultPage page(
      r, options,
      {"molecules", "scheme", "precision", "replicas", "duration_ps",
       "drift_kcal_per_mol_per_ns_per_molecule", "drift_kcal_per_mol_per_ns_per_molecule_err",
       "rms_kcal_per_mol_per_molecule", "momentum_change_Da_A_per_akma",
       "angular_momentum_change_Da_A2_per_akma", "force_rms_relative_error"});
  io::Plot p = empty_picture(r);
  MarkdownTable forces({"molecules", "double", "mixed", "single"});
  MarkdownTable drifts({"molecules", "scheme", "precision", "drift (kcal/mol/ns)", "rms (kcal/mol)",
                        "change of P (Da Å/akma)", "change of L (Da Å²/akma)"});
  MarkdownTable runs({"molecules", "replicas", "time (ps)"});
  for (const Length& length : lengths_of(options)) {
    const Deck base = structure_deck(r, options, length);
    const ForceErrors force_errors = force_errors_of(with_scheme(base, r.schemes.front()), length);
    MarkdownTable::Cells cells{std::to_string(length.molecules)};
    for (const double error : force_errors) cells.push_back(fmt::format("{:.1e}", error));
    forces.row(cells);
    runs.row({std::to_string(length.molecules), std::to_string(length.replicas),
              fmt::format("{:g}", length.duration_ps)});
    for (std::size_t s = 0; s < r.schemes.size(); ++s) {
      const Deck deck = with_scheme(base, r.schemes[s]);
      const State start = make_start(deck).state;
      System system = make_system(deck, length.molecules);
      for (std::size_t k = 0; k < kKinds.size(); ++k) {
        system.precision = kKinds[k].precision;
        const Drift d =
            drift_of(system, start, length, deck.integrator.timestep_fs, options.threads);
        page.csv_row(length.molecules, r.schemes[s], kKinds[k].name, length.replicas,
                     length.duration_ps, d.slope_per_ns, d.rms, d.momentum, d.angular_momentum,
                     force_errors[k]);
        MarkdownTable::Cells row{std::to_string(length.molecules),
                                 fmt::format("`{}`", r.schemes[s]), kKinds[k].name};
        for (const std::string& cell : drift_cells(d)) row.push_back(cell);
        drifts.row(row);
        draw_drift(p, s, k, length.molecules, d);
      }
    }
  }
  page.text("## Forces\n\n");
  page.table(forces);
  page.text("## Energy and momenta\n\n");
  page.table(drifts);
  page.method(
      "Force errors are root mean square deviations from a sum in long double, relative to the "
      "root mean square force.");
  page.method(
      "Runs are at constant energy with steps of 2 fs, and start at 10 K. The first half of each "
      "run is left out.");
  page.method(
      "Drift is the slope of the conserved energy per molecule, with the standard error over "
      "replicas; rms is that about the line. Changes of the momenta are the largest among all "
      "clusters.");
  page.method(
      "Errors from two replicas are rough estimates. The structure of 1000 molecules is not a "
      "minimum for rigid molecules and still relaxes.");
  page.method(
      "In the picture, each group of three shows double, mixed and single precision, from "
      "left to right.");
  page.method("Lengths of the runs:\n\n" + runs.text().substr(0, runs.text().size() - 1));
  page.write({p});
}

}  // namespace

Reproduction precision_page() {
  return {
      .deck = "precision.toml",
      .schemes = {"settle", "shake", "zss-stiff:omega=500", "zss-stiff", "zss-stiff:omega=20"},
      .summary =
          "Errors of forces and the drift of energy and momenta were measured in double, mixed "
          "and single precision. The energy drift is the same in all three.\n\n"
          "* Mixed precision computes pairs in float. The forces lose nine digits and the angular "
          "momentum about eight; the momentum is conserved as well as in double precision.\n"
          "* Single precision stores positions in fixed point. Rounding changes the momentum, "
          "most with SHAKE, whose velocities keep a component along the bonds.",
      .make = make_precision_page};
}

}  // namespace tarn
