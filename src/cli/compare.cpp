#include "tarn/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "compare/tables.hpp"
#include "core/text.hpp"
#include "deck_arguments.hpp"
#include "io/words.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

void print_table(std::FILE* out, const Rows& rows) {
  for (const std::string& line : aligned_rows(rows)) fmt::print(out, "{}\n", line);
}

/// The number, or "-" if it is not finite.
std::string number_text(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

std::string percent_text(double share) { return number_text(100.0 * share, "{:.0f} %"); }

std::string mean_error_text(const analysis::MeanError& mean, int digits) {
  if (!std::isfinite(mean.mean)) return "-";
  if (!std::isfinite(mean.error)) return fmt::format("{:.{}f} +- ?", mean.mean, digits);
  return fmt::format("{:.{}f} +- {:.{}f}", mean.mean, digits, mean.error, digits);
}

/// The error is omitted if it is 0 or unknown.
std::string number_with_error(const analysis::MeanError& value, const char* format) {
  return number_text(value.mean, format) +
         (value.error > 0.0 ? fmt::format(" +- {:.0e}", value.error) : "");
}

std::string cost_text(double us_per_ps, double error) {
  if (!(error > 0.0)) return number_text(us_per_ps, "{:.4g}");
  return mean_error_text({us_per_ps, error}, analysis::decimals_for(error));
}

std::string cost_text(const SchemeResult& s) { return cost_text(s.us_per_ps, s.us_per_ps_err); }

std::string stopped_text(const SchemeResult& s) { return fmt::format("{}", s.blow_ups.size()); }

Rows scheme_rows(const CompareResult& result) {
  Rows rows{{"scheme", "steps/s, all clusters", "pairs", "bonds", "noise", "rest", "iterations",
             "T / K", "T trans, rot, bond", "<V0> / kcal/mol", "<V0> - first", "max |g| / A^2",
             "TV(OO), noise", "stopped"}};
  for (const SchemeResult& s : result.schemes) {
    const bool is_reference = &s == &result.schemes.front();
    rows.push_back(
        {s.label, number_text(s.steps_per_second, "{:.0f}"), percent_text(s.pair_share),
         percent_text(s.bond_share), percent_text(s.noise_share), percent_text(s.rest_share),
         s.iterations_per_step > 0.0 ? fmt::format("{:.1f}", s.iterations_per_step) : "-",
         mean_error_text(s.temperature_K, 3),
         !std::isfinite(s.translation_K.mean)
             ? "-"
             : fmt::format("{:.2f} {:.2f} {}", s.translation_K.mean, s.rotation_K.mean,
                           s.bond_K.mean > 0.0 ? fmt::format("{:.2f}", s.bond_K.mean) : "-"),
         mean_error_text(s.potential_kcal_per_mol, 4),
         is_reference ? "-" : mean_error_text(s.potential_difference_kcal_per_mol, 4),
         fmt::format("{:.1e}", s.constraint_max_A2),
         is_reference || !std::isfinite(s.oo_total_variation)
             ? "-"
             : fmt::format("{:.4f} {}", s.oo_total_variation,
                           number_text(s.oo_total_variation_noise, "{:.4f}")),
         stopped_text(s)});
  }
  return rows;
}

/// Errors and costs of runs with several steps.
Rows error_rows(const CompareResult& result) {
  Rows rows{{"scheme", "µs per ps", "error of <V0> / kcal/mol", "TV(OO)", "TV noise", "T / K",
             "stopped"}};
  for (const SchemeResult& s : result.schemes) {
    const bool is_reference = &s == &result.schemes.front();
    if (!s.blow_ups.empty()) {
      // The samples before a blow-up are not an error of the scheme.
      rows.push_back({s.label, "-", "-", "-", "-", "-", stopped_text(s)});
      continue;
    }
    rows.push_back(
        {s.label, cost_text(s),
         is_reference ? mean_error_text(s.potential_kcal_per_mol, 4) + " (mean)"
                      : mean_error_text(s.potential_difference_kcal_per_mol, 4),
         is_reference ? "-" : mean_error_text({s.oo_total_variation, s.oo_total_variation_err}, 4),
         is_reference ? "-" : number_text(s.oo_total_variation_noise, "{:.4f}"),
         mean_error_text(s.temperature_K, 3), stopped_text(s)});
  }
  return rows;
}

std::string longer_text(double times_longer) {
  return std::isfinite(times_longer) ? fmt::format("run {} times longer", rounded_up(times_longer))
                                     : "errors need several replicas";
}

void print_cheapest(std::FILE* out, const CompareResult& result) {
  Rows rows{{"limit", "µs per ps", "fastest scheme"}};
  for (const CheapestScheme& best : cheapest_schemes(result.schemes, result.molecules)) {
    if (best.times_longer > 1.0) {
      rows.push_back({best.within, "-", "not resolved: " + longer_text(best.times_longer)});
    } else if (best.label.empty()) {
      rows.push_back({best.within, "-", "none"});
    } else {
      rows.push_back({best.within, cost_text(best.us_per_ps, best.us_per_ps_err), best.label});
    }
    for (const std::string& tie : best.ties) rows.push_back({"", "as fast", tie});
  }
  fmt::print(out,
             "\nFastest scheme whose error, plus twice its uncertainty, is below a limit (as fast: "
             "within errors)\n");
  print_table(out, rows);
}

/// Conserved quantities of a deck without a thermostat.
Rows conservation_rows(const CompareResult& result) {
  Rows rows{{"scheme", "µs per ps", "rms change of E / kcal/mol", "max change of E / kcal/mol",
             "drift of E / kcal/mol/ps", "max change of P / Da A/ps", "max change of L / Da A^2/ps",
             "stopped"}};
  for (const SchemeResult& s : result.schemes) {
    rows.push_back({s.label, cost_text(s), number_with_error(s.energy_rms_kcal_per_mol, "{:.2e}"),
                    number_text(s.energy_max_kcal_per_mol, "{:.2e}"),
                    number_with_error(s.energy_drift_kcal_per_mol_per_ps, "{:.1e}"),
                    number_text(s.momentum_max_Da_A_per_ps, "{:.0e}"),
                    number_text(s.angular_momentum_max_Da_A2_per_ps, "{:.0e}"), stopped_text(s)});
  }
  return rows;
}

Rows energy_order_rows(const CompareResult& result) {
  Rows rows{{"scheme", "order of E", "steps"}};
  for (const SchemeOrder& o : result.orders) {
    rows.push_back({o.label, order_text(o.fit),
                    o.fit.points > 0
                        ? fmt::format("{:g} to {:g} fs", o.fit.smallest_step, o.fit.largest_step)
                        : "-"});
  }
  return rows;
}

constexpr std::string_view kBondTime = "bond_time_ps";

/// "0.522 +- 0.003, +3.6 +- 0.7 %": a correlation time, and its deviation from the first scheme.
std::string correlation_time_text(const SchemeResult& scheme, const SchemeResult& first,
                                  std::string_view quantity) {
  const AveragedQuantity* time = scheme.correlation_time(quantity);
  // The samples before a blow-up do not describe the scheme.
  if (time == nullptr || !scheme.blow_ups.empty()) return "-";
  const char* mark = time->converged ? "" : " *";
  const auto error_of = [](const AveragedQuantity& a) {
    return a.error > 0.0 ? a.error : std::numeric_limits<double>::quiet_NaN();
  };
  const int digits = time->error > 0.0 ? analysis::decimals_for(time->error) : 3;
  const std::string text = mean_error_text({time->mean, error_of(*time)}, digits);
  const AveragedQuantity* other = first.correlation_time(quantity);
  const bool same_interval = scheme.correlation_interval_fs == first.correlation_interval_fs;
  if (&scheme == &first || other == nullptr || !first.blow_ups.empty() ||
      (quantity == kBondTime && !same_interval)) {
    return text + mark;
  }
  const double ratio = time->mean / other->mean;
  const double error =
      ratio * std::hypot(error_of(*time) / time->mean, error_of(*other) / other->mean);
  return fmt::format("{}, {:+.1f} +- {} %{}", text, 100.0 * (ratio - 1.0),
                     std::isfinite(error) ? fmt::format("{:.1f}", 100.0 * error) : "?", mark);
}

/// Prints some of the correlation times of a deck with [observe.correlation].
void print_correlation_times(std::FILE* out, const CompareResult& result) {
  struct Column {
    std::string_view quantity, heading;
  };
  constexpr std::array<Column, 3> columns{{{"oh_p2_time_ps", "O-H P2 time / ps"},
                                           {"dipole_p1_time_ps", "dipole P1 time / ps"},
                                           {kBondTime, "hydrogen-bond lifetime / ps"}}};
  if (std::ranges::all_of(result.schemes,
                          [](const SchemeResult& s) { return s.correlation_times.empty(); })) {
    return;
  }
  const SchemeResult& first = result.schemes.front();
  Rows rows{{"scheme", "µs per ps"}};
  for (const Column& column : columns) rows[0].emplace_back(column.heading);
  bool all_converged = true;
  for (const SchemeResult& s : result.schemes) {
    rows.push_back({s.label, cost_text(s)});
    for (const Column& column : columns) {
      rows.back().push_back(correlation_time_text(s, first, column.quantity));
    }
    all_converged =
        all_converged && std::ranges::all_of(s.correlation_times, &AveragedQuantity::converged);
  }
  fmt::print(out, "\n");
  print_table(out, rows);
  if (!all_converged) {
    fmt::print(out, "* run too short for the correlation time: the error is a lower bound\n");
  }
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kBeadColumns{
    {{"energy_virial_kcal_per_mol", "E / kcal/mol"},
     {"energy_primitive_kcal_per_mol", "E primitive"},
     {"kinetic_o_meV", "K of O / meV"},
     {"kinetic_h_meV", "K of H / meV"},
     {"gyration2_h_A2", "r_g^2 of H / A^2"}}};

std::string mean_error_text(const analysis::MeanError& value) {
  return mean_error_text(value, analysis::decimals_for(value.error));
}

/// Averages of ring polymers, and their extrapolations.
void print_beads(std::FILE* out, const CompareResult& result) {
  if (std::ranges::all_of(result.schemes, [](const SchemeResult& s) { return s.rings.empty(); })) {
    return;
  }
  Rows rows{{"scheme", "µs per ps"}};
  for (const auto& [name, heading] : kBeadColumns) rows[0].emplace_back(heading);
  for (const SchemeResult& s : result.schemes) {
    if (s.rings.empty()) continue;
    rows.push_back({s.label, cost_text(s)});
    for (const auto& column : kBeadColumns) {
      const auto found = std::ranges::find(s.rings, column.first, &AveragedQuantity::quantity);
      rows.back().push_back(mean_error_text({found->mean, found->error}));
    }
  }
  bool tested = true;
  for (const SchemeBeadLimit& limit : result.bead_limits) {
    const auto column =
        std::ranges::find(kBeadColumns, limit.quantity, [](const auto& c) { return c.first; });
    if (column == kBeadColumns.end()) continue;
    const std::string label = limit.label + ":beads=infinity";
    if (rows.back().front() != label) {
      rows.emplace_back(2 + kBeadColumns.size(), "-");
      rows.back()[0] = label;
    }
    rows.back()[2 + static_cast<std::size_t>(column - kBeadColumns.begin())] =
        mean_error_text(limit.fit.limit);
    tested = tested && limit.fit.degrees_of_freedom > 0;
  }
  fmt::print(out, "\n");
  print_table(out, rows);
  if (!tested) {
    fmt::print(out,
               "Some extrapolations have as many terms as points, so nothing tests them: add a "
               "number of beads\n");
  }
}

/// "100 steps of 2 fs", or by scheme if the steps differ: "100 steps of 2 fs (settle), 400 of 0.5
/// fs (verlet)".
std::string steps_text(const std::vector<SchemeResult>& schemes, double duration_fs) {
  std::string text;
  bool differ = false;
  for (const SchemeResult& s : schemes) {
    differ = differ || s.timestep_fs != schemes.front().timestep_fs;
    text += fmt::format("{}{}{} of {} fs ({})", text.empty() ? "" : ", ",
                        std::llround(duration_fs / s.timestep_fs), text.empty() ? " steps" : "",
                        s.timestep_fs, s.label);
  }
  const double common_fs = schemes.front().timestep_fs;
  return differ
             ? text
             : fmt::format("{} steps of {} fs", std::llround(duration_fs / common_fs), common_fs);
}

void print_title(std::FILE* out, const Deck& deck, const CompareResult& result, bool by_step) {
  const double duration_fs = static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs;
  fmt::print(
      out, "{}, {} x {}, {}, {}\n\n", deck.name,
      deck.system.molecules > 0
          ? count_text(deck.system.molecules, "molecule")
          : "molecules of " + (deck.system.files.empty()
                                   ? deck.system.file.value_or(deck.system.state.value_or(""))
                                   : fmt::format("{}", fmt::join(deck.system.files, ", "))),
      count_text(deck.system.replicas, "replica"),
      by_step ? fmt::format("{:g} ps", duration_fs * 1e-3)
              : steps_text(result.schemes, duration_fs),
      result.device);
}

/// Prints the tables. @param by_step with --steps
void print_compare_tables(std::FILE* out, const Deck& deck, const CompareResult& result,
                          bool by_step) {
  print_title(out, deck, result, by_step);
  const bool has_thermostat = deck.thermostat.kind != Thermostat::none;
  if (!by_step) {
    print_table(out, scheme_rows(result));
    fmt::print(out, "\n{}\n", kShareMeanings);
    if (!has_thermostat) fmt::print(out, "\n");
  }
  if (!has_thermostat) print_table(out, conservation_rows(result));
  if (by_step && has_thermostat) {
    print_table(out, error_rows(result));
    print_cheapest(out, result);
  }
  print_correlation_times(out, result);
  print_beads(out, result);
  const bool has_orders = by_step && !has_thermostat;
  fmt::print(out, "\n");
  if (has_orders) {
    print_table(out, energy_order_rows(result));
    fmt::print(out, "\n");
  } else {
    fmt::print(out,
               "TV(OO): total variation distance between the OO histogram and that of {}; noise: "
               "its expected value for identical distributions.\n",
               result.schemes.front().label);
  }
  std::string more;
  if (!result.schemes.front().rings.empty()) more = fmt::format(", {}/beads.csv", result.out_dir);
  if (!result.bead_limits.empty()) more += fmt::format(", {}/bead_limits.csv", result.out_dir);
  fmt::print(out, "Tables: {0}/compare.csv, {1}{0}/rdf.csv{2}{3}\n", result.out_dir,
             has_orders ? result.out_dir + "/orders.csv, " : "",
             deck.correlation
                 ? fmt::format(", {0}/correlation_times.csv, {0}/correlation.csv", result.out_dir)
                 : "",
             more);
}

struct Arguments : DeckArguments {
  std::string schemes, reference;
  std::vector<double> steps;
  std::vector<int> beads;
  std::vector<std::string> free_rings, frequencies;
};

/// Whether a scheme lost a replica.
bool has_failed(const CompareResult& result) {
  return std::ranges::any_of(result.schemes,
                             [](const SchemeResult& s) { return !s.blow_ups.empty(); });
}

void compare(const Arguments& a, Events& events, int& exit_code) {
  const Deck deck = a.load();
  Terminal terminal(a.quiet);
  CompareOptions options;
  a.apply_to(options, terminal, events);
  options.steps = a.steps;
  options.reference = a.reference;
  options.beads = a.beads;
  options.free_rings = a.free_rings;
  options.frequencies = a.frequencies;
  options.make_engine = engine_maker();
  terminal.print(a.warning_of_threads(deck));

  CompareResult result;
  const std::vector<std::string_view> schemes = io::split(a.schemes, ',');
  try {
    result = compare_schemes(deck, {schemes.begin(), schemes.end()}, options);
  } catch (const StartInterrupted& interruption) {
    exit_code = interrupted_exit_code();
    events.ended({}, true, exit_code);
    terminal.warning(interruption.what());
    return;
  }
  terminal.close_bar();
  if (result.interrupted) {
    terminal.warning("interrupted: the tables cover the part completed so far");
  }
  if (has_failed(result)) exit_code = static_cast<int>(ExitCode::numerical);
  if (result.interrupted) exit_code = interrupted_exit_code();
  events.ended(result.out_dir, result.interrupted, exit_code);
  // With --json, standard output is reserved for events.
  std::FILE* out = a.json ? stderr : stdout;
  print_compare_tables(out, deck, result, !options.steps.empty());
  for (const std::string& picture : result.pictures) fmt::print(out, "Picture: {}\n", picture);
}

}  // namespace

void add_compare(Command& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand("compare", "compare integration schemes on one deck");
  a->add_to(*command, "output folder; default: out/<name of the deck>-compare",
            "replace the comparison in the output folder");
  command
      ->add_option("--schemes", a->schemes,
                   "schemes and their [integrator] keys, such as shake,settle,zss-stiff:omega=20")
      ->required();
  command
      ->add_option("--steps", a->steps,
                   "run each scheme with each of these time steps (in fs) and plot errors against "
                   "cost; also orders of convergence of the energy without a thermostat")
      ->delimiter(',');
  command->add_option("--reference", a->reference,
                      "reference scheme for --steps; default: settle, or verlet for flexible "
                      "models, with half of the smallest step");
  command
      ->add_option("--beads", a->beads,
                   "run each scheme with each of these numbers of beads and extrapolate energies "
                   "and ring sizes to infinitely many")
      ->delimiter(',');
  command
      ->add_option("--free-ring", a->free_rings,
                   "run each scheme with each of these flows of the free ring, cayley or exact")
      ->delimiter(',');
  command
      ->add_option("--frequencies", a->frequencies,
                   "run each scheme with each of these kinds of frequencies of the ring polymers, "
                   "economised or trotter; only averages with trotter are extrapolated")
      ->delimiter(',');
  command->callback([a, &exit_code] {
    run_with_events(*a, [&](Events& events) { compare(*a, events, exit_code); });
  });
}

}  // namespace tarn::cli
