#include "precision_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "figure_page.hpp"
#include "run/replicas.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/analysis/line_fit.hpp"
#include "tarn/physics/pair_force.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

/// What is run of each structure: enough steps for a slope, by what a step costs.
struct Length {
  int molecules, replicas;
  double duration_ps;
  std::int64_t every;
};
constexpr std::array kLengths{Length{7, 64, 200.0, 100}, Length{100, 8, 40.0, 50},
                              Length{1000, 2, 4.0, 10}};
/// Share at the beginning: structures that are not quite at a minimum settle.
constexpr double kLeftOut = 0.5;
/// Lowest drift that is drawn.
constexpr double kLowest = 1e-6;
struct Kind {
  Precision precision;
  const char* name;
};
constexpr std::array kKinds{Kind{Precision::double_, "double"}, Kind{Precision::mixed, "mixed"},
                            Kind{Precision::single, "single"}};

/// A long double that the formulas take: forces without rounding errors of their own.
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

/// Forces that an engine uses, read from one step of velocity Verlet from rest that is so short
/// that nothing moves.
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

double relative_rms(const std::vector<double>& a, const std::vector<double>& reference) {
  double error = 0.0, size = 0.0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    error += (a[c] - reference[c]) * (a[c] - reference[c]);
    size += reference[c] * reference[c];
  }
  return std::sqrt(error / size);
}

double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// Of the conserved energy, per molecule.
struct Drift {
  analysis::MeanError slope_per_ns;  ///< [kcal/mol/ns]
  double rms = 0.0;                  ///< about the line [kcal/mol]
  double momentum = 0.0;             ///< largest change of the cluster's [Da A/akma]
  double angular_momentum = 0.0;     ///< the same [Da A^2/akma]
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

}  // namespace

void make_precision_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(
      r, options,
      {"molecules", "scheme", "precision", "replicas", "duration_ps",
       "drift_kcal_per_mol_per_ns_per_molecule", "drift_kcal_per_mol_per_ns_per_molecule_err",
       "rms_kcal_per_mol_per_molecule", "momentum_change_Da_A_per_akma",
       "angular_momentum_change_Da_A2_per_akma", "force_rms_relative_error"});
  io::Plot p = plot("Drift of energy by precision",
                    "number of molecules; of each three, from the left: double, mixed, single",
                    "|drift of energy| (kcal/mol/ns per molecule)");
  p.log_x = p.log_y = true;
  p.x_range = {{4.0, 2000.0}};
  constexpr std::array kColours{"#0072B2", "#56B4E9", "#009E73", "#D55E00", "#E69F00"};
  for (std::size_t s = 0; s < r.schemes.size(); ++s) {
    io::Series& series = p.series.emplace_back();
    series.label = r.schemes[s];
    series.colour = kColours[s % kColours.size()];
    series.style = io::Series::Style::points;
  }
  std::string forces_text =
      "## Forces\n\nRoot mean square of the error over that of the forces, against a sum in long "
      "double.\n\n| molecules | double | mixed | single |\n|---|---|---|---|\n";
  std::string drift_text =
      "## Energy\n\nSlope of the conserved energy at constant energy, steps of 2 fs, mean and "
      "standard error over replicas; the root mean square about the line, both per molecule; and "
      "the largest changes of the cluster's momenta.\n\n"
      "| molecules | scheme | precision | drift (kcal/mol/ns) | rms (kcal/mol) | P (Da Å/akma) | L "
      "(Da Å²/akma) |\n|---|---|---|---|---|---|---|\n";
  std::vector<Length> lengths;
  for (Length length : kLengths) {
    length.duration_ps *= options.share_of_time;
    if (length.molecules <= options.most_molecules) lengths.push_back(length);
  }
  for (const Length& length : lengths) {
    const Deck base =
        load_deck(options.inputs_dir + "/" + r.deck,
                  {fmt::format("system.file=structures/tip3p-{}.xyz", length.molecules),
                   fmt::format("system.replicas={}", length.replicas)});
    std::array<double, kKinds.size()> force_errors{};
    for (std::size_t s = 0; s < r.schemes.size(); ++s) {
      const Deck deck = with_scheme(base, r.schemes[s]);
      const State start = make_start(deck).state;
      System system = make_system(deck, length.molecules);
      if (s == 0) {
        const std::vector<double> x = replica_part(start, start.positions_A, 0);
        const std::vector<double> exact = exact_forces(system.model, x);
        forces_text += fmt::format("| {} |", length.molecules);
        for (std::size_t k = 0; k < kKinds.size(); ++k) {
          force_errors[k] = relative_rms(engine_forces(system, kKinds[k].precision, x), exact);
          forces_text += fmt::format(" {:.1e} |", force_errors[k]);
        }
        forces_text += "\n";
      }
      for (std::size_t k = 0; k < kKinds.size(); ++k) {
        system.precision = kKinds[k].precision;
        const Drift d =
            drift_of(system, start, length, deck.integrator.timestep_fs, options.threads);
        page.csv()
            .cell(static_cast<std::int64_t>(length.molecules))
            .cell(r.schemes[s])
            .cell(kKinds[k].name)
            .cell(static_cast<std::int64_t>(length.replicas))
            .cell(length.duration_ps)
            .cell(d.slope_per_ns.mean)
            .cell(d.slope_per_ns.error)
            .cell(d.rms)
            .cell(d.momentum)
            .cell(d.angular_momentum)
            .cell(force_errors[k]);
        page.end_row();
        drift_text += fmt::format(
            "| {} | `{}` | {} | {:+.1e} ± {:.1e}{} | {:.1e} | {:.1e} | {:.1e} |\n",
            length.molecules, r.schemes[s], kKinds[k].name, d.slope_per_ns.mean,
            d.slope_per_ns.error, d.stopped > 0 ? fmt::format(", {} stopped", d.stopped) : "",
            d.rms, d.momentum, d.angular_momentum);
        io::Series& series = p.series[s];
        const double size = std::fabs(d.slope_per_ns.mean);
        // Side by side, not on each other.
        const double place =
            static_cast<double>(3 * s + k) - 1.5 * static_cast<double>(r.schemes.size());
        series.x.push_back(length.molecules * std::pow(1.05, place));
        series.y.push_back(std::max(size, kLowest));
        series.low.push_back(std::max(size - d.slope_per_ns.error, kLowest));
        series.high.push_back(std::max(size + d.slope_per_ns.error, kLowest));
      }
    }
  }
  page.text(forces_text + "\n" + drift_text + "\n");
  for (const Length& l : lengths) {
    page.text(fmt::format("{} molecules: {} replicas, {:g} ps. ", l.molecules, l.replicas,
                          l.duration_ps));
  }
  page.text(
      "All begin at 10 K, and the first half is left out. Two replicas give rough errors only, and "
      "rigid molecules on the structure of 1000 are not at their minimum and still settle.\n\n"
      "In the picture, each three stand for double, mixed and single, from the left.\n");
  page.write({p});
}

}  // namespace tarn
