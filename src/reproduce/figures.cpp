#include "figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "figure_page.hpp"
#include "tarn/analysis/line_fit.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

/// Frames at every `every` steps, from step 0, until the deck ends or all replicas have blown up.
struct Watched {
  std::string label;
  Deck deck;
  int molecules = 0;
  std::vector<Frame> frames;
  std::vector<BlowUp> blow_ups;
};

Watched watch(const Deck& deck, const std::string& label, unsigned fields, std::int64_t every,
              const ReproduceOptions& options) {
  Watched w;
  w.label = label;
  w.deck = deck;
  const Start start = make_start(deck);
  w.molecules = start.state.molecules;
  const auto engine =
      make_engine(make_system(deck, w.molecules), start.state, {}, {"cpu", options.threads});
  for (std::int64_t step = 0; step <= deck.run.steps; step += every) {
    if (step > 0) engine->advance(every);
    Frame frame;
    engine->snapshot(fields, frame);
    if (frame.replica_ids.empty()) break;
    w.frames.push_back(std::move(frame));
  }
  w.blow_ups = engine->blow_ups();
  return w;
}

void draw(const std::vector<io::Plot>& plots, const std::string& base,
          const ReproduceOptions& options) {
  const io::Drawing drawing = io::draw(plots, base);
  if (!drawing.warning.empty() && options.on_warning) options.on_warning(drawing.warning);
}

// --- energy and momenta --------------------------------------------------------------------------

constexpr std::int64_t kConservationEvery = 20;
constexpr std::size_t kQuantities = 3;  // energy, momentum, angular momentum

/// How far energy, momentum and angular momentum have gone, at each frame until it blew up.
struct Changes {
  std::vector<double> time_ps;
  std::array<std::vector<double>, kQuantities> change;
};
Changes changes_of(const Watched& w, std::int64_t replica) {
  const auto distance = [](const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) / units::picoseconds_per_akma;
  };
  Changes c;
  const Conservation& first = w.frames.front().conservation[static_cast<std::size_t>(replica)];
  for (const Frame& frame : w.frames) {
    const auto found = std::find(frame.replica_ids.begin(), frame.replica_ids.end(), replica);
    if (found == frame.replica_ids.end()) break;
    const Conservation& now =
        frame.conservation[static_cast<std::size_t>(found - frame.replica_ids.begin())];
    c.time_ps.push_back(frame.time_ps);
    c.change[0].push_back(now.energy_kcal_per_mol - first.energy_kcal_per_mol);
    c.change[1].push_back(distance(now.momentum_Da_A_per_akma, first.momentum_Da_A_per_akma));
    c.change[2].push_back(
        distance(now.angular_momentum_Da_A2_per_akma, first.angular_momentum_Da_A2_per_akma));
  }
  return c;
}

double largest(const std::vector<double>& values) {
  double worst = 0.0;
  for (double v : values) worst = std::max(worst, std::abs(v));
  return worst;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// "blew up at step 5449", or the first and the last of several.
std::string blow_up_text(const std::vector<BlowUp>& blow_ups) {
  if (blow_ups.empty()) return {};
  const auto [first, last] =
      std::minmax_element(blow_ups.begin(), blow_ups.end(),
                          [](const BlowUp& a, const BlowUp& b) { return a.step < b.step; });
  if (blow_ups.size() == 1) return fmt::format("blew up at step {}", first->step);
  return fmt::format("{} blew up, at steps {} to {}", blow_ups.size(), first->step, last->step);
}

}  // namespace

void make_conservation_figure(const Reproduction& r, const ReproduceOptions& options) {
  const std::string base = options.out_dir + "/" + r.name;
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  std::string text = page_head(r);
  text += fmt::format(
      ", {} steps, medians of {} replicas.\n\n| scheme | drift of the energy (kcal/mol per unit of "
      "time) | rms of the energy (kcal/mol) | largest change of P (Da Å/ps) | of L (Da Å²/ps) | |\n"
      "|---|---|---|---|---|---|\n",
      deck.run.steps, deck.system.replicas);
  io::CsvFormat csv(base + ".csv",
                    {"scheme", "step", "time_ps", "energy_change_kcal_per_mol",
                     "momentum_change_Da_A_per_ps", "angular_momentum_change_Da_A2_per_ps"});
  std::string table;
  std::vector<io::Plot> plots(kQuantities);
  constexpr std::array<std::string_view, kQuantities> labels{
      "E - E(0) (kcal/mol)", "|P - P(0)| (Da Å/ps)", "|L - L(0)| (Da Å²/ps)"};
  for (std::size_t p = 0; p < kQuantities; ++p) {
    plots[p].title = r.title;
    plots[p].x_label = "time (ps)";
    plots[p].y_label = labels[p];
    plots[p].log_y = p > 0;
  }
  double rms_of_first = 0.0;
  for (const std::string& scheme : r.schemes) {
    const Watched w =
        watch(with_scheme(deck, scheme), scheme, kConservation, kConservationEvery, options);
    if (table.empty()) table = csv.head(provenance_of(w.deck, w.molecules));
    const Changes c = changes_of(w, 0);
    for (std::size_t k = 0; k < c.time_ps.size(); ++k) {
      csv.cell(std::string_view(scheme)).cell(w.frames[k].step).cell(c.time_ps[k]);
      for (const auto& values : c.change) csv.cell(values[k]);
      table += csv.row();
    }
    std::vector<double> drifts, rms, momenta, angular_momenta;
    for (std::int64_t replica = 0; replica < deck.system.replicas; ++replica) {
      const Changes of_it = changes_of(w, replica);
      std::vector<double> time_akma;
      for (double t : of_it.time_ps) time_akma.push_back(t / units::picoseconds_per_akma);
      const analysis::LineFit fit = analysis::fit_line(time_akma, of_it.change[0]);
      drifts.push_back(std::abs(fit.slope));
      rms.push_back(fit.rms_about_mean);
      momenta.push_back(largest(of_it.change[1]));
      angular_momenta.push_back(largest(of_it.change[2]));
    }
    text += fmt::format("| `{}` | {:.1e} | {:.1e} | {:.1e} | {:.1e} | {} |\n", scheme,
                        median(drifts), median(rms), median(momenta), median(angular_momenta),
                        blow_up_text(w.blow_ups));
    if (rms_of_first == 0.0) rms_of_first = rms.front();
    for (std::size_t p = 0; p < kQuantities; ++p) {
      io::Series& series = plots[p].series.emplace_back();
      series.label = scheme;
      series.x = c.time_ps;
      series.y = c.change[p];
    }
  }
  // The schemes that go off leave the axis, so that the others are seen.
  plots[0].y_range = {{-20.0 * rms_of_first, 20.0 * rms_of_first}};
  text += fmt::format(
      "\nThe unit of time is {:.5f} fs. The slope is that of least squares, without its sign, the "
      "rms is about the mean; of a replica that blew up, until then. The picture shows the first "
      "replica.\n",
      1e3 * units::picoseconds_per_akma);
  io::write_file(base + ".csv", table);
  io::write_file(base + ".md", text);
  draw(plots, base, options);
}

// --- multipliers ---------------------------------------------------------------------------------

namespace {

/// Steps of the reference in one step of the deck.
constexpr int kFineSteps = 20;
/// Half of the window, in steps of the deck: with h = 0.05 the window is the paper's 0.2.
constexpr int kHalfWindow = 2;

/// Multipliers of all bonds at each step of the deck, and their means over the window about it.
struct MultiplierSeries {
  std::vector<double> time_ps;
  std::vector<std::vector<double>> at_step, mean;  // [step][bond]; means are empty at the ends
};
/// @param fine steps of the run in one step of the deck
MultiplierSeries multipliers_of(const Watched& w, int fine) {
  MultiplierSeries m;
  const int half = kHalfWindow * fine;
  const int last = static_cast<int>(w.frames.size()) - 1;
  for (int k = 0; k <= last; k += fine) {
    const Frame& frame = w.frames[static_cast<std::size_t>(k)];
    m.time_ps.push_back(frame.time_ps);
    m.at_step.push_back(frame.multipliers_kcal_per_mol_A2);
    std::vector<double>& mean = m.mean.emplace_back();
    if (k < half || k + half > last) continue;
    mean.assign(m.at_step.back().size(), 0.0);
    for (int j = -half; j <= half; ++j) {
      // Trapezoidal: the ends of the window count half.
      const double weight = (std::abs(j) == half ? 0.5 : 1.0) / (2.0 * half);
      const auto& values = w.frames[static_cast<std::size_t>(k + j)].multipliers_kcal_per_mol_A2;
      for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += weight * values[c];
    }
  }
  return m;
}

double relative_rms(const std::vector<std::vector<double>>& a,
                    const std::vector<std::vector<double>>& reference) {
  double difference = 0.0, size = 0.0;
  for (std::size_t k = 0; k < std::min(a.size(), reference.size()); ++k) {
    for (std::size_t c = 0; c < std::min(a[k].size(), reference[k].size()); ++c) {
      difference += (a[k][c] - reference[k][c]) * (a[k][c] - reference[k][c]);
      size += reference[k][c] * reference[k][c];
    }
  }
  return std::sqrt(difference / size);
}

}  // namespace

void make_multipliers_figure(const Reproduction& r, const ReproduceOptions& options) {
  const std::string base = options.out_dir + "/" + r.name;
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  Deck fine = with_scheme(
      deck, fmt::format("rattle:timestep_fs={}", deck.integrator.timestep_fs / kFineSteps));
  fine.run.steps = deck.run.steps * kFineSteps;
  const Watched reference_run =
      watch(fine, "rattle at a 20th of the step", kMultipliers, 1, options);
  const MultiplierSeries reference = multipliers_of(reference_run, kFineSteps);

  std::vector<io::Plot> plots(2);
  plots[0].title = r.title;
  plots[0].y_label = "λ, window mean (kcal/mol/Å²)";
  plots[1].title = r.title;
  plots[1].y_label = "λ at the steps (kcal/mol/Å²)";
  for (io::Plot& plot : plots) plot.x_label = "time (ps)";
  io::CsvFormat csv(base + ".csv", {"scheme", "time_ps", "molecule", "bond",
                                    "lambda_kcal_per_mol_A2", "lambda_mean_kcal_per_mol_A2"});
  std::string table = csv.head(provenance_of(deck, reference_run.molecules));
  const auto add = [&](const std::string& label, const MultiplierSeries& m) {
    std::array<io::Series, 2> series;
    for (io::Series& s : series) s.label = label;
    for (std::size_t k = 0; k < m.time_ps.size(); ++k) {
      series[1].x.push_back(m.time_ps[k]);
      series[1].y.push_back(m.at_step[k][0]);
      if (m.mean[k].empty()) continue;
      series[0].x.push_back(m.time_ps[k]);
      series[0].y.push_back(m.mean[k][0]);
      for (std::size_t c = 0; c < m.mean[k].size(); ++c) {
        csv.cell(std::string_view(label)).cell(m.time_ps[k]);
        csv.cell(static_cast<std::int64_t>(c / 3));
        csv.cell(std::array<std::string_view, 3>{"OH1", "OH2", "HH"}[c % 3]);
        table += csv.cell(m.at_step[k][c]).cell(m.mean[k][c]).row();
      }
    }
    for (std::size_t p = 0; p < plots.size(); ++p) plots[p].series.push_back(std::move(series[p]));
  };
  add(reference_run.label, reference);

  std::string text = page_head(r);
  text += fmt::format(
      ", {} steps.\n\n| scheme | rms of the mean over the window, relative | rms at the steps, "
      "relative |\n|---|---|---|\n",
      deck.run.steps);
  for (const std::string& scheme : r.schemes) {
    const Watched w = watch(with_scheme(deck, scheme), scheme, kMultipliers, 1, options);
    const MultiplierSeries m = multipliers_of(w, 1);
    add(scheme, m);
    text +=
        fmt::format("| `{}` | {:.4f} | {:.4f} |\n", scheme, relative_rms(m.mean, reference.mean),
                    relative_rms(m.at_step, reference.at_step));
  }
  text += fmt::format(
      "\nAgainst RATTLE at a step of a {}th, over all bonds of all molecules. The window is {} "
      "steps wide and centred. "
      "The picture shows the first O-H bond.\n",
      kFineSteps, 2 * kHalfWindow);
  io::write_file(base + ".csv", table);
  io::write_file(base + ".md", text);
  draw(plots, base, options);
}

// --- starts on the slow manifold
// -------------------------------------------------------------------

namespace {

/// Bonds of all molecules over three periods of their slowest vibration.
struct Vibration {
  std::vector<double> time_ps;
  std::vector<double> first_bond;  ///< -lambda = omega^2 g of the first O-H bond
  double excursion_A2 = 0.0;       ///< largest max - min of any g
};

Vibration vibration_of(const Deck& deck, const ReproduceOptions& options) {
  // One small cluster, seen at every step, is work for one thread.
  ReproduceOptions alone = options;
  alone.threads = 1;
  const Watched w = watch(deck, "", kMultipliers, 1, alone);
  const double omega2 = deck.integrator.omega * deck.integrator.omega;
  std::vector<double> low = w.frames.front().multipliers_kcal_per_mol_A2, high = low;
  Vibration v;
  for (const Frame& frame : w.frames) {
    const std::vector<double>& lambda = frame.multipliers_kcal_per_mol_A2;
    v.time_ps.push_back(frame.time_ps);
    v.first_bond.push_back(-lambda[0]);
    for (std::size_t c = 0; c < lambda.size(); ++c) {
      low[c] = std::min(low[c], lambda[c]);
      high[c] = std::max(high[c], lambda[c]);
    }
  }
  for (std::size_t c = 0; c < low.size(); ++c) {
    v.excursion_A2 = std::max(v.excursion_A2, (high[c] - low[c]) / omega2);
  }
  return v;
}

}  // namespace

void make_slow_start_figure(const Reproduction& r, const ReproduceOptions& options) {
  struct Kind {
    std::string label;
    std::vector<std::string> overrides;
  };
  const std::vector<Kind> kinds{
      {"Maxwell's velocities", {"system.velocities=maxwell"}},
      {"rigid molecules", {"system.velocities=tangent", "system.relax=false"}}};
  constexpr double kPictured = 100.0;  // omega of the second set of axes
  FigurePage figure(
      r, options,
      {"start", "omega", "fast_energy_before_kcal_per_mol", "fast_energy_after_kcal_per_mol",
       "excursion_before_A2", "excursion_after_A2", "iterations"});
  io::Plot energies = plot(r.title, "ω (√(kcal/mol)/Å²)", "vibration of bonds (kcal/mol)");
  energies.log_x = energies.log_y = true;
  io::Plot bond = plot("", "time (ps)", "ω² g of an O-H bond (kcal/mol/Å²)");
  figure.text(
      "| start | ω | energy of the vibration (kcal/mol) | projected | iterations | largest "
      "excursion of g (Å²) | projected |\n|---|---|---|---|---|---|---|\n");
  for (const Kind& kind : kinds) {
    io::Series before, after;
    before.label = kind.label;
    after.label = kind.label + ", projected";
    for (const double omega : {20.0, 50.0, 100.0, 200.0, 500.0, 1000.0}) {
      std::vector<std::string> overrides = kind.overrides;
      overrides.push_back(fmt::format("integrator.omega={}", omega));
      // The deck's step is for omega = 100.
      Deck deck = load_deck(options.inputs_dir + "/" + r.deck, overrides);
      deck.integrator.timestep_fs *= kPictured / omega;
      const SlowManifoldStart slow = *make_start(deck).slow;
      const Vibration calm = vibration_of(deck, options);
      deck.system.project = StartProjection::none;
      const Vibration wild = vibration_of(deck, options);
      figure.csv().cell(std::string_view(kind.label)).cell(omega);
      figure.csv().cell(slow.fast_before_kcal_per_mol).cell(slow.fast_after_kcal_per_mol);
      figure.csv().cell(wild.excursion_A2).cell(calm.excursion_A2);
      figure.csv().cell(std::int64_t{slow.iterations});
      figure.end_row();
      figure.text(fmt::format("| {} | {} | {:.2e} | {:.2e} | {} | {:.2e} | {:.2e} |\n", kind.label,
                              omega, slow.fast_before_kcal_per_mol, slow.fast_after_kcal_per_mol,
                              slow.iterations, wild.excursion_A2, calm.excursion_A2));
      before.x.push_back(omega);
      before.y.push_back(slow.fast_before_kcal_per_mol);
      after.x.push_back(omega);
      after.y.push_back(slow.fast_after_kcal_per_mol);
      if (omega != kPictured) continue;
      for (const auto& [label, v] : {std::pair(before.label, &wild), {after.label, &calm}}) {
        io::Series& s = bond.series.emplace_back();
        s.label = label;
        s.x = v->time_ps;
        s.y = v->first_bond;
      }
    }
    energies.series.push_back(std::move(before));
    energies.series.push_back(std::move(after));
  }
  figure.text(
      "\nThe energy is that of all bonds about the lengths at which the penalty gives the forces "
      "of "
      "rigid bonds. Excursions are over three periods of the slowest vibration, by velocity "
      "Verlet with 50 steps in one of the fastest. The picture's lower part has ω = 100.\n");
  figure.write({energies, bond});
}

}  // namespace tarn
