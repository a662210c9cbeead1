#include "spectrum_figure.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "figure_page.hpp"
#include "step_cost.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "work_folder.hpp"

namespace tarn {
namespace {

struct Temperature {
  const char* name;
  double bath_K;
};
constexpr std::array kTemperatures{Temperature{"cold", 10.0}, Temperature{"warm", 298.15}};

struct Curve {
  const char* label;
  const char* scheme;
  const char* colour;
};
constexpr std::array kCurves{
    Curve{"SETTLE", "settle", "#0072B2"},
    Curve{"Z&Ss, ω = 500", "zss-stiff:omega=500", "#8DB600"},
    Curve{"Z&Ss, ω = 100", "zss-stiff:omega=100", "#D55E00"},
    Curve{"Z&Ss, ω = 50", "zss-stiff:omega=50", "#CC79A7"},
    Curve{"Z&Ss, ω = 20", "zss-stiff:omega=20", "#E69F00"},
};
constexpr std::array kSteps_fs{1.0, 2.0, 4.0};
constexpr double kReferenceStep_fs = 0.5;
/// Rigid molecules have nothing that would fold back from above the limit; lines of penalised bonds
/// must not fold into the librations.
constexpr double kSample_fs = 8.0, kSampleOfPenalty_fs = 2.0;
/// What counts: translations and librations; of them those that are librations.
constexpr double kEnd_per_cm = 1300.0, kLibrations_per_cm = 330.0;
/// Independent runs whose spread gives the errors; more of the reference.
constexpr int kBatches = 8, kReferenceBatches = 16;
constexpr int kTurns = 25;
constexpr double kTurnSeconds = 0.02;

struct Spectrum {
  std::vector<double> x, states, absorption;  // from 0 to kEnd_per_cm
  double spacing() const { return x[1]; }
  /// By the trapezoidal rule, as the first row stands for half a spacing.
  double modes() const {
    return spacing() * (std::accumulate(states.begin(), states.end(), 0.0) - 0.5 * states.front());
  }
  double mean_libration_per_cm() const { return libration_moment(1); }
  /// By which a leapfrog step would move that of harmonic modes, equation (56).
  double leapfrog_shift_per_cm(double timestep_fs) const {
    const double per_cm = 2.0 * units::pi * units::speed_of_light_cm_per_fs * timestep_fs;
    return per_cm * per_cm / 24.0 * libration_moment(3);
  }
  /// Mean of a power of the wavenumber.
  double libration_moment(int power) const {
    double sum = 0.0, weights = 0.0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (x[k] < kLibrations_per_cm) continue;
      sum += std::pow(x[k], power) * states[k];
      weights += states[k];
    }
    return sum / weights;
  }
};

/// Half of the integral of |g - g'|, as a share of the modes of g'. The rows of the two need not
/// be the same.
double difference(const Spectrum& own, const Spectrum& reference) {
  double sum = 0.0;
  for (std::size_t k = 0; k < reference.x.size(); ++k) {
    const double at = reference.x[k] / own.spacing();
    const auto below = std::min(static_cast<std::size_t>(at), own.x.size() - 2);
    const double share = at - static_cast<double>(below);
    const double g = (1.0 - share) * own.states[below] + share * own.states[below + 1];
    sum += (k == 0 ? 0.5 : 1.0) * std::abs(g - reference.states[k]);
  }
  return 0.5 * sum * reference.spacing() / reference.modes();
}

Spectrum mean_of(const std::vector<Spectrum>& batches, std::size_t first, std::size_t n) {
  Spectrum mean = batches[first];
  for (std::size_t b = first + 1; b < first + n; ++b) {
    for (std::size_t k = 0; k < mean.x.size(); ++k) {
      mean.states[k] += batches[b].states[k];
      mean.absorption[k] += batches[b].absorption[k];
    }
  }
  for (double& g : mean.states) g /= static_cast<double>(n);
  for (double& a : mean.absorption) a /= static_cast<double>(n);
  return mean;
}

/// One scheme with one step.
struct Case {
  const Temperature* temperature = nullptr;
  const Curve* curve = nullptr;
  double timestep_fs = 0.0;
  Deck deck;
  std::vector<Spectrum> batches;
  std::vector<std::int64_t> stopped;  // replicas, by batch
  double core_us_per_ps = 0.0;        // of one cluster

  Spectrum mean() const { return mean_of(batches, 0, batches.size()); }
  std::int64_t all_stopped() const {
    return std::accumulate(stopped.begin(), stopped.end(), std::int64_t{0});
  }
};

Case make_case(const Reproduction& r, const ReproduceOptions& options,
               const Temperature& temperature, const Curve& curve, double timestep_fs) {
  Case c;
  c.temperature = &temperature;
  c.curve = &curve;
  c.timestep_fs = timestep_fs;
  c.deck = with_scheme(load_deck(options.inputs_dir + "/" + r.deck), curve.scheme);
  Deck& deck = c.deck;
  const double duration_fs =
      options.share_of_time * static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs;
  deck.run.equilibration_ps *= options.share_of_time;
  deck.run.steps = std::llround(duration_fs / timestep_fs);
  deck.run.device = "cpu";
  deck.run.threads = 1;
  deck.integrator.timestep_fs = timestep_fs;
  deck.thermostat.temperature_K = temperature.bath_K;
  deck.system.replicas = std::max(1, deck.system.replicas / kBatches);
  deck.energies.reset();
  ObserveSpectrum& spectrum = deck.spectrum.value();
  const double sample_fs = is_rigid(deck.integrator.scheme) ? kSample_fs : kSampleOfPenalty_fs;
  spectrum.every = std::max<std::int64_t>(1, std::llround(sample_fs / timestep_fs));
  // Short runs have short segments.
  if (options.share_of_time < 1.0) spectrum.resolution_per_cm = 5.0 / options.share_of_time;
  const bool is_reference = timestep_fs == kReferenceStep_fs;
  c.batches.resize(is_reference ? kReferenceBatches : kBatches);
  c.stopped.resize(c.batches.size());
  return c;
}

Spectrum read_spectrum(const std::string& path) {
  Spectrum s;
  io::CsvReader csv(path);
  const std::size_t states = csv.column("states_cm");
  const std::size_t absorption = csv.column("absorption_km_cm_per_mol");
  for (std::vector<std::string_view> cells; csv.next(cells);) {
    const double x = csv.number(cells[0]);
    if (x > kEnd_per_cm) break;
    s.x.push_back(x);
    s.states.push_back(csv.number(cells[states]));
    s.absorption.push_back(csv.number(cells[absorption]));
  }
  return s;
}

/// Librations of the cluster at rest, which no step has moved.
struct HarmonicLibrations {
  int modes = 0;
  double lowest_per_cm = 0.0, highest_per_cm = 0.0, mean_per_cm = 0.0;
};
HarmonicLibrations harmonic_librations(const Case& c) {
  const Start start = make_start(c.deck);
  const System system = make_system(c.deck, start.state.molecules);
  const bool rigid = is_rigid(system.integrator.scheme);
  const auto positions = start.state.positions_A.begin();
  std::vector<double> x(positions, positions + 9 * std::ptrdiff_t{system.molecules});
  ForceField force_field(system.model, system.molecules);
  quench_rigid(force_field, x);
  if (!rigid) relax_penalised(force_field, system.integrator.omega, x);
  const NormalModes modes = rigid ? normal_modes(system.model, x)
                                  : normal_modes(system.model, x, system.integrator.omega);
  HarmonicLibrations l;
  for (const NormalMode& m : modes.modes) {
    if (m.wavenumber_per_cm < kLibrations_per_cm || m.wavenumber_per_cm > kEnd_per_cm) continue;
    if (l.modes++ == 0) l.lowest_per_cm = m.wavenumber_per_cm;
    l.highest_per_cm = m.wavenumber_per_cm;
    l.mean_per_cm += m.wavenumber_per_cm;
  }
  l.mean_per_cm /= l.modes;
  return l;
}

/// What a run near 0 K with a small step would show. @param cases those of one temperature first
std::string harmonic_text(const std::vector<Case>& cases) {
  const Case& reference = cases.front();
  const HarmonicLibrations rigid = harmonic_librations(reference);
  std::string text = fmt::format(
      "Normal modes of the minimum ([equation "
      "59](../equations-observables.md#minima-and-normal-modes), `tarn modes`): {} librations "
      "from {:.0f} to {:.0f} cm⁻¹, of which the mean is {:.1f} with rigid bonds",
      rigid.modes, rigid.lowest_per_cm, rigid.highest_per_cm, rigid.mean_per_cm);
  for (const Curve& curve : kCurves) {
    const auto of_curve = [&](const Case& c) {
      return c.curve == &curve && c.temperature == reference.temperature;
    };
    const Case& c = *std::find_if(cases.begin(), cases.end(), of_curve);
    if (is_rigid(c.deck.integrator.scheme)) continue;
    text += fmt::format(", {:+.2f} with ω = {:g}",
                        harmonic_librations(c).mean_per_cm - rigid.mean_per_cm,
                        c.deck.integrator.omega);
  }
  return text + ".\n\n";
}

/// Another seed for each batch of each case.
void run_batch(Case& c, std::size_t batch, std::uint64_t seed, const std::string& folder) {
  Deck deck = c.deck;
  deck.system.seed = seed;
  const Start start = make_start(deck);
  const auto engine =
      make_engine(make_system(deck, start.state.molecules), start.state, {}, {"cpu", 1});
  io::make_folder(folder);
  RunInfo info{folder, start.state.molecules,       deck.system.replicas,
               "",     deck.integrator.timestep_fs, first_averaged_step(deck)};
  info.threads = 1;
  const auto observers = make_observers(deck, info);
  for (const auto& observer : observers) observer->begin();
  run_loop(*engine, observers, deck.run.steps, true, [](std::int64_t) { return true; });
  for (const auto& observer : observers) observer->finish();
  c.batches[batch] = read_spectrum(folder + "/spectrum.csv");
  c.stopped[batch] = static_cast<std::int64_t>(engine->blow_ups().size());
}

void run_all(std::vector<Case>& cases, const Reproduction& r, const ReproduceOptions& options) {
  std::vector<std::pair<std::size_t, std::size_t>> jobs;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    for (std::size_t b = 0; b < cases[k].batches.size(); ++b) jobs.emplace_back(k, b);
  }
  for_each_index(static_cast<std::int64_t>(jobs.size()), options.threads, [&](std::int64_t i) {
    const auto& [k, batch] = jobs[static_cast<std::size_t>(i)];
    Case& c = cases[k];
    run_batch(c, batch, c.deck.system.seed + static_cast<std::uint64_t>(i),
              WorkFolder(options.out_dir + "/" + r.name).path());
  });
}

void time_all(std::vector<Case>& cases, const ReproduceOptions& options) {
  std::vector<Timed> timed;
  for (const Case& c : cases) {
    Timed& t = timed.emplace_back();
    Deck deck = c.deck;
    deck.system.replicas *= kBatches;
    t.replicas = deck.system.replicas;
    t.engine = engine_of(deck);
  }
  time_in_turns(timed, kTurns, std::min(1.0, options.share_of_time) * kTurnSeconds);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    cases[k].core_us_per_ps = timed[k].quantile(0.5) / cases[k].timestep_fs;
  }
}

/// Against the reference.
struct Deviation {
  analysis::MeanError modes, shift_per_cm, difference;
};

Deviation error_of(const Case& c, const Case& reference) {
  std::vector<double> modes, librations, differences, truth;
  const Spectrum mean = reference.mean();
  for (const Spectrum& s : c.batches) {
    modes.push_back(s.modes());
    librations.push_back(s.mean_libration_per_cm());
    differences.push_back(difference(s, mean));
  }
  for (const Spectrum& s : reference.batches) truth.push_back(s.mean_libration_per_cm());
  const analysis::MeanError own = analysis::mean_and_error(librations);
  const analysis::MeanError right = analysis::mean_and_error(truth);
  // The noise of a single batch is larger than that of all of them: its spread is the error.
  return {analysis::mean_and_error(modes),
          {own.mean - right.mean, std::hypot(own.error, right.error)},
          {difference(c.mean(), mean), analysis::mean_and_error(differences).error}};
}

/// What difference() gives between halves of the reference, the size of a case each.
double noise_of(const Case& reference) {
  const std::size_t half = reference.batches.size() / 2;
  return difference(mean_of(reference.batches, 0, half), mean_of(reference.batches, half, half));
}

io::Series series_of(const Case& c, const std::string& label, bool states) {
  const Spectrum s = c.mean();
  io::Series series;
  series.label = label;
  series.x = s.x;
  series.y = states ? s.states : s.absorption;
  series.colour = c.timestep_fs == kReferenceStep_fs ? "#000000" : c.curve->colour;
  series.dashed = c.timestep_fs > 2.0;
  return series;
}

std::string case_label(const Case& c) {
  return fmt::format("{}, {:g} fs", c.curve->label, c.timestep_fs);
}

/// What is drawn beside the reference.
bool is_shown(const Case& c) {
  if (c.timestep_fs == kReferenceStep_fs) return true;
  const bool strong = is_rigid(c.deck.integrator.scheme) || c.deck.integrator.omega == 100.0;
  const bool weak = !strong && c.deck.integrator.omega < 100.0;
  return (strong && c.timestep_fs == 4.0) || (weak && c.timestep_fs == 2.0);
}

/// A panel between two wavenumbers. @param highest 0: whatever there is
io::Plot spectra(const std::vector<Case>& cases, const Temperature& temperature, bool states,
                 std::array<double, 2> range_per_cm, double highest, const std::string& title) {
  io::Plot p = plot(
      title, "wavenumber (cm⁻¹)",
      fmt::format("{}, {:g} K", states ? "modes per cm⁻¹" : "km/mol per cm⁻¹", temperature.bath_K));
  for (const Case& c : cases) {
    if (c.temperature == &temperature && is_shown(c)) {
      p.series.push_back(series_of(c, title.empty() ? "" : case_label(c), states));
    }
  }
  p.x_range = range_per_cm;
  if (highest > 0.0) p.y_range = {{0.0, highest}};
  return p;
}

void write_row(FigurePage& page, const Case& c, const Deviation& error) {
  page.csv()
      .cell(c.temperature->bath_K)
      .cell(std::string_view(c.deck.thermostat.kind == Thermostat::gla ? "gla" : "baoab"));
  page.csv().cell(std::string_view(c.curve->scheme)).cell(c.timestep_fs).cell(c.core_us_per_ps);
  for (const double value : {error.modes.mean, error.modes.error, c.mean().mean_libration_per_cm(),
                             error.shift_per_cm.mean, error.shift_per_cm.error,
                             error.difference.mean, error.difference.error}) {
    page.csv().cell_or_nan(value);
  }
  page.csv().cell(c.all_stopped());
  page.end_row();
}

}  // namespace

void make_spectrum_figure(const Reproduction& r, const ReproduceOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Case> cases;
  for (const Temperature& t : kTemperatures) {
    cases.push_back(make_case(r, options, t, kCurves[0], kReferenceStep_fs));
    for (const Curve& curve : kCurves) {
      for (const double h : kSteps_fs) cases.push_back(make_case(r, options, t, curve, h));
    }
  }
  time_all(cases, options);
  run_all(cases, r, options);

  FigurePage page(r, options,
                  {"bath_K", "thermostat", "scheme", "timestep_fs", "core_us_per_ps", "modes",
                   "modes_err", "mean_libration_per_cm", "shift_per_cm", "shift_per_cm_err",
                   "difference", "difference_err", "stopped_replicas"});
  page.text(harmonic_text(cases));
  for (const Temperature& t : kTemperatures) {
    const auto of_t = [&](const Case& c) { return c.temperature == &t; };
    const Case& reference = *std::find_if(cases.begin(), cases.end(), of_t);
    const Spectrum truth = reference.mean();
    page.text(fmt::format(
        "## {:g} K\n\nMean of the librations with SETTLE and steps of {:g} fs: {:.1f} cm⁻¹; "
        "leapfrog steps of 1, 2 and 4 fs would move that of harmonic modes by {:.2f}, {:.2f} and "
        "{:.2f}. The difference of two runs of one scheme, which is noise: {:.4f}.\n\n"
        "| scheme | step (fs) | µs of a core for a ps | modes below {:g} cm⁻¹ | shift of the "
        "librations (cm⁻¹) | difference of the densities | stopped "
        "|\n|---|---|---|---|---|---|---|\n",
        t.bath_K, kReferenceStep_fs, truth.mean_libration_per_cm(),
        truth.leapfrog_shift_per_cm(1.0), truth.leapfrog_shift_per_cm(2.0),
        truth.leapfrog_shift_per_cm(4.0), noise_of(reference), kEnd_per_cm));
    for (const Case& c : cases) {
      if (!of_t(c)) continue;
      const Deviation error = error_of(c, reference);
      write_row(page, c, error);
      if (&c == &reference) continue;
      page.text(
          fmt::format("| {} | {:g} | {:.0f} | {:.2f} ± {:.2f} | {:+.2f} ± {:.2f} | {:.4f} ± "
                      "{:.4f} | {} |\n",
                      c.curve->label, c.timestep_fs, c.core_us_per_ps, error.modes.mean,
                      error.modes.error, error.shift_per_cm.mean, error.shift_per_cm.error,
                      error.difference.mean, error.difference.error, c.all_stopped()));
    }
    page.text("\n");
  }
  const Deck& deck = cases.front().deck;
  page.text(fmt::format(
      "Each row: {} independent runs of {} replicas, {:g} ps of each after {:g} ps, and twice as "
      "many of the reference; ± is the standard error from their spread, which eight runs know to "
      "a quarter of itself. What lies above {:g} cm⁻¹ counts as libration: at 10 K nothing "
      "else does, warm nothing separates it from the translations. Means are weighted with the "
      "density. The difference is half of the integral of |g − g′|, as a share of all modes. "
      "Costs are medians of {} turns on one thread, with GLA and without the observer. All of it "
      "took {:.1f} minutes.\n",
      kBatches, deck.system.replicas,
      static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs * 1e-3 -
          deck.run.equilibration_ps,
      deck.run.equilibration_ps, kLibrations_per_cm, kTurns,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 60.0));
  const auto& [cold, warm] = kTemperatures;
  page.write({spectra(cases, cold, true, {0.0, 1000.0}, 0.2, r.title),
              spectra(cases, cold, true, {600.0, 950.0}, 0.1, ""),
              spectra(cases, warm, true, {0.0, 1000.0}, 0.15, ""),
              spectra(cases, warm, false, {0.0, 1000.0}, 0.0, "")});
}

}  // namespace tarn
