#include "tarn/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "core/text.hpp"
#include "deck_arguments.hpp"
#include "io/words.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

using Row = std::vector<std::string>;
using Rows = std::vector<Row>;

/// The number, or "-" if it is not finite.
std::string number_text(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

std::string mean_error_text(const analysis::MeanError& mean, int digits) {
  if (!std::isfinite(mean.mean)) return "-";
  return fmt::format("{:.{}f} +- {}", mean.mean, digits,
                     std::isfinite(mean.error) ? fmt::format("{:.{}f}", mean.error, digits) : "?");
}
std::string mean_error_text(const analysis::MeanError& mean) {
  return mean_error_text(mean, analysis::decimals_for(mean.error));
}

/// The error is omitted if it is 0 or unknown.
std::string number_with_error(const analysis::MeanError& value, const char* format) {
  return number_text(value.mean, format) +
         (value.error > 0.0 ? fmt::format(" +- {:.0e}", value.error) : "");
}

/// @param s SchemeResult or CheapestScheme
std::string cost_text(const auto& s) {
  return s.us_per_ps_err > 0.0 ? mean_error_text({s.us_per_ps, s.us_per_ps_err})
                               : number_text(s.us_per_ps, "{:.4g}");
}

/// Prints a row per scheme: its label, the cells, and the number of stopped replicas.
void print_schemes(std::FILE* out, const CompareResult& result, Row heading,
                   const std::function<Row(const SchemeResult&, bool is_first)>& cells) {
  Rows rows{std::move(heading)};
  for (const SchemeResult& s : result.schemes) {
    Row& row = rows.emplace_back(cells(s, &s == &result.schemes.front()));
    row.insert(row.begin(), s.label);
    row.push_back(fmt::format("{}", s.blow_ups.size()));
  }
  fmt::print(out, "{}\n", aligned_rows(rows));
}

Row scheme_cells(const SchemeResult& s, bool is_first) {
  Row row{number_text(s.steps_per_second, "{:.0f}")};
  for (const double share : {s.pair_share, s.bond_share, s.noise_share, s.rest_share}) {
    row.push_back(number_text(100.0 * share, "{:.0f} %"));
  }
  row.insert(row.end(),
             {s.iterations_per_step > 0.0 ? fmt::format("{:.1f}", s.iterations_per_step) : "-",
              mean_error_text(s.temperature_K, 3),
              !std::isfinite(s.translation_K.mean)
                  ? "-"
                  : fmt::format("{:.2f} {:.2f} {}", s.translation_K.mean, s.rotation_K.mean,
                                s.bond_K.mean > 0.0 ? fmt::format("{:.2f}", s.bond_K.mean) : "-"),
              mean_error_text(s.potential_kcal_per_mol, 4),
              is_first ? "-" : mean_error_text(s.potential_difference_kcal_per_mol, 4),
              fmt::format("{:.1e}", s.constraint_max_A2),
              is_first || !std::isfinite(s.oo_total_variation)
                  ? "-"
                  : fmt::format("{:.4f} {}", s.oo_total_variation,
                                number_text(s.oo_total_variation_noise, "{:.4f}"))});
  return row;
}

/// Errors and costs of runs with several steps.
Row error_cells(const SchemeResult& s, bool is_first) {
  // The samples before a blow-up are not an error of the scheme.
  if (!s.blow_ups.empty()) return Row(5, "-");
  return {cost_text(s),
          is_first ? mean_error_text(s.potential_kcal_per_mol, 4) + " (mean)"
                   : mean_error_text(s.potential_difference_kcal_per_mol, 4),
          is_first ? "-" : mean_error_text({s.oo_total_variation, s.oo_total_variation_err}, 4),
          is_first ? "-" : number_text(s.oo_total_variation_noise, "{:.4f}"),
          mean_error_text(s.temperature_K, 3)};
}

/// Conserved quantities of a deck without a thermostat.
Row conservation_cells(const SchemeResult& s, bool /*is_first*/) {
  return {cost_text(s),
          number_with_error(s.energy_rms_kcal_per_mol, "{:.2e}"),
          number_text(s.energy_max_kcal_per_mol, "{:.2e}"),
          number_with_error(s.energy_drift_kcal_per_mol_per_ps, "{:.1e}"),
          number_text(s.momentum_max_Da_A_per_ps, "{:.0e}"),
          number_text(s.angular_momentum_max_Da_A2_per_ps, "{:.0e}")};
}

void print_cheapest(std::FILE* out, const CompareResult& result) {
  Rows rows{{"limit", "µs per ps", "fastest scheme"}};
  for (const CheapestScheme& best : cheapest_schemes(result.schemes, result.molecules)) {
    std::string cost = "-", scheme = "none";
    if (std::isinf(best.times_longer)) {
      scheme = "not resolved: errors need several replicas";
    } else if (best.times_longer > 1.0) {
      scheme = fmt::format("not resolved: run {} times longer", rounded_up(best.times_longer));
    } else if (!best.label.empty()) {
      cost = cost_text(best);
      scheme = best.label;
    }
    rows.push_back({best.within, cost, scheme});
    for (const std::string& tie : best.ties) rows.push_back({"", "as fast", tie});
  }
  fmt::print(out,
             "\nFastest scheme whose error, plus twice its uncertainty, is below a limit (as fast: "
             "within errors)\n{}\n",
             aligned_rows(rows));
}

/// Orders of convergence: "2.00", or "2.00?" if fitted to only two points.
void print_orders(std::FILE* out, const CompareResult& result) {
  Rows rows{{"scheme", "order of E", "steps"}};
  for (const auto& [label, quantity, fit] : result.orders) {
    rows.push_back({label, number_text(fit.order, fit.points < 3 ? "{:.2f}?" : "{:.2f}"),
                    fit.points > 0
                        ? fmt::format("{:g} to {:g} fs", fit.smallest_step, fit.largest_step)
                        : "-"});
  }
  fmt::print(out, "{}\n", aligned_rows(rows));
}

constexpr const char* kBondTime = "bond_time_ps";

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
  const auto has_none = [](const SchemeResult& s) { return s.correlation_times.empty(); };
  if (std::ranges::all_of(result.schemes, has_none)) return;
  Rows rows{{"scheme", "µs per ps", "O-H P2 time / ps", "dipole P1 time / ps",
             "hydrogen-bond lifetime / ps"}};
  bool all_converged = true;
  for (const SchemeResult& s : result.schemes) {
    Row& row = rows.emplace_back(Row{s.label, cost_text(s)});
    for (const std::string_view time : {"oh_p2_time_ps", "dipole_p1_time_ps", kBondTime}) {
      row.push_back(correlation_time_text(s, result.schemes.front(), time));
    }
    all_converged =
        all_converged && std::ranges::all_of(s.correlation_times, &AveragedQuantity::converged);
  }
  fmt::print(out, "\n{}\n", aligned_rows(rows));
  if (!all_converged) {
    fmt::print(out, "* run too short for the correlation time: the error is a lower bound\n");
  }
}

/// Averages of ring polymers, and their extrapolations.
void print_beads(std::FILE* out, const CompareResult& result) {
  constexpr std::array<std::string_view, 5> columns{
      "energy_virial_kcal_per_mol", "energy_primitive_kcal_per_mol", "kinetic_o_meV",
      "kinetic_h_meV", "gyration2_h_A2"};
  Rows rows{{"scheme", "µs per ps", "E / kcal/mol", "E primitive", "K of O / meV", "K of H / meV",
             "r_g^2 of H / A^2"}};
  const auto set = [&](const std::string& quantity, const analysis::MeanError& mean) {
    const auto column = std::ranges::find(columns, quantity) - columns.begin();
    if (column == std::ssize(columns)) return false;
    rows.back()[static_cast<std::size_t>(2 + column)] = mean_error_text(mean);
    return true;
  };
  for (const SchemeResult& s : result.schemes) {
    if (s.rings.empty()) continue;
    rows.emplace_back(rows[0].size())[0] = s.label;
    rows.back()[1] = cost_text(s);
    for (const AveragedQuantity& a : s.rings) set(a.quantity, {a.mean, a.error});
  }
  if (rows.size() == 1) return;
  bool tested = true;
  for (const auto& [scheme, quantity, fit] : result.bead_limits) {
    const std::string label = scheme + ":beads=infinity";
    if (rows.back().front() != label) rows.emplace_back(rows[0].size(), "-")[0] = label;
    if (set(quantity, fit.limit)) tested = tested && fit.degrees_of_freedom > 0;
  }
  fmt::print(out, "\n{}\n", aligned_rows(rows));
  if (!tested) {
    fmt::print(out,
               "Some extrapolations have as many terms as points, so nothing tests them: add a "
               "number of beads\n");
  }
}

/// "100 steps of 2 fs", or by scheme if the steps differ: "100 steps of 2 fs (settle), 400 of 0.5
/// fs (verlet)".
std::string steps_text(const std::vector<SchemeResult>& schemes, double duration_fs) {
  const double first_fs = schemes.front().timestep_fs;
  std::string text =
      fmt::format("{} steps of {} fs", std::llround(duration_fs / first_fs), first_fs);
  if (std::ranges::all_of(schemes, [&](const auto& s) { return s.timestep_fs == first_fs; })) {
    return text;
  }
  text += fmt::format(" ({})", schemes.front().label);
  for (const SchemeResult& s : schemes | std::views::drop(1)) {
    text += fmt::format(", {} of {} fs ({})", std::llround(duration_fs / s.timestep_fs),
                        s.timestep_fs, s.label);
  }
  return text;
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
    print_schemes(out, result,
                  {"scheme", "steps/s, all clusters", "pairs", "bonds", "noise", "rest",
                   "iterations", "T / K", "T trans, rot, bond", "<V0> / kcal/mol", "<V0> - first",
                   "max |g| / A^2", "TV(OO), noise", "stopped"},
                  scheme_cells);
    fmt::print(out, "\n{}\n{}", kShareMeanings, has_thermostat ? "" : "\n");
  }
  if (!has_thermostat) {
    print_schemes(out, result,
                  {"scheme", "µs per ps", "rms change of E / kcal/mol",
                   "max change of E / kcal/mol", "drift of E / kcal/mol/ps",
                   "max change of P / Da A/ps", "max change of L / Da A^2/ps", "stopped"},
                  conservation_cells);
  } else if (by_step) {
    print_schemes(out, result,
                  {"scheme", "µs per ps", "error of <V0> / kcal/mol", "TV(OO)", "TV noise", "T / K",
                   "stopped"},
                  error_cells);
    print_cheapest(out, result);
  }
  print_correlation_times(out, result);
  print_beads(out, result);
  fmt::print(out, "\n");
  if (!result.orders.empty()) {
    print_orders(out, result);
    fmt::print(out, "\n");
  } else {
    fmt::print(out,
               "TV(OO): total variation distance between the OO histogram and that of {}; noise: "
               "its expected value for identical distributions.\n",
               result.schemes.front().label);
  }
  std::string tables = "compare.csv";
  const auto add = [&](bool exists, const char* more) { tables += exists ? more : ""; };
  add(!result.orders.empty(), " orders.csv");
  add(true, " rdf.csv");
  add(deck.correlation.has_value(), " correlation_times.csv correlation.csv");
  add(!result.schemes.front().rings.empty(), " beads.csv");
  add(!result.bead_limits.empty(), " bead_limits.csv");
  fmt::print(out, "Tables: {}/{}\n", result.out_dir,
             fmt::join(io::words_of(tables), ", " + result.out_dir + "/"));
}

struct Arguments : DeckArguments {
  std::string schemes;
  CompareOptions options;
};

void compare(Arguments& a, Events& events, int& exit_code) {
  const Deck deck = a.load();
  Terminal terminal(a.quiet);
  a.apply_to(a.options, terminal, events);
  a.options.make_engine = engine_maker();
  terminal.print(a.warning_of_threads(deck));

  const std::vector<std::string_view> schemes = io::split(a.schemes, ',');
  const CompareResult result = compare_schemes(deck, {schemes.begin(), schemes.end()}, a.options);
  terminal.close_bar();
  if (result.interrupted) {
    terminal.warning("interrupted: the tables cover the part completed so far");
  }
  const auto has_lost = [](const SchemeResult& s) { return !s.blow_ups.empty(); };
  if (std::ranges::any_of(result.schemes, has_lost)) {
    exit_code = static_cast<int>(ExitCode::numerical);
  }
  if (result.interrupted) exit_code = interrupted_exit_code();
  events.ended(result.out_dir, result.interrupted, exit_code);
  // With --json, standard output is reserved for events.
  std::FILE* out = a.json ? stderr : stdout;
  print_compare_tables(out, deck, result, !a.options.steps.empty());
  for (const std::string& picture : result.pictures) fmt::print(out, "Picture: {}\n", picture);
}

}  // namespace

void add_compare(Command& app) {
  const auto [command, a] = app.add_subcommand("compare", "compare integration schemes on one deck",
                                               run_with_events<compare, Arguments>);
  a->add_to(*command, "output folder; default: out/<name of the deck>-compare",
            "replace the comparison in the output folder");
  command
      ->add_option("--schemes", a->schemes,
                   "schemes and their [integrator] keys, such as shake,settle,zss-stiff:omega=20")
      ->required();
  command->add_option(
      "--steps", a->options.steps,
      "run each scheme with each of these time steps (in fs) and plot errors against cost; "
      "also orders of convergence of the energy without a thermostat");
  command->add_option("--reference", a->options.reference,
                      "reference scheme for --steps; default: settle, or verlet for flexible "
                      "models, with half of the smallest step");
  command->add_option(
      "--beads", a->options.beads,
      "run each scheme with each of these numbers of beads and extrapolate energies and ring "
      "sizes to infinitely many");
  command
      ->add_option("--free-ring", a->options.free_rings,
                   "run each scheme with each of these flows of the free ring, cayley or exact")
      ->delimiter(',');
  command
      ->add_option("--frequencies", a->options.frequencies,
                   "run each scheme with each of these kinds of frequencies of the ring polymers, "
                   "economised or trotter; only averages with trotter are extrapolated")
      ->delimiter(',');
}

}  // namespace tarn::cli
