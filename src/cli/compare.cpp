#include "tarn/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "commands.hpp"
#include "compare/mechanics_errors.hpp"
#include "deck_arguments.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : DeckArguments {
  std::string schemes, reference;
  std::vector<double> steps;
};

/// Parts between commas, empty ones too; none of an empty text.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (!text.empty() && begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// "100 steps of 2 fs", or those of each scheme where they differ: "100 steps of 2 fs (settle), 400
/// of 0.5 fs (verlet)".
template <class Result>
std::string steps_text(const std::vector<Result>& schemes, double time, double Result::*step,
                       const char* unit) {
  std::string text;
  bool differ = false;
  for (const Result& s : schemes) {
    differ = differ || s.*step != schemes.front().*step;
    text +=
        fmt::format("{}{}{} of {}{} ({})", text.empty() ? "" : ", ", std::llround(time / s.*step),
                    text.empty() ? " steps" : "", s.*step, unit, s.label);
  }
  const double one = schemes.front().*step;
  return differ ? text : fmt::format("{} steps of {}{}", std::llround(time / one), one, unit);
}

/// A number, or "-" where there is none.
std::string number(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

void print_table(std::FILE* out, const std::vector<std::vector<std::string>>& rows) {
  for (const std::string& line : aligned(rows)) fmt::print(out, "{}\n", line);
}

/// Errors beside costs of a mechanical system, of runs with several steps.
void print_mechanics_errors(std::FILE* out, const Deck& deck, const CompareResult& result) {
  fmt::print(out, "{}, {}, {:g} of time\n\n", deck.name, deck.system.kind, result.time);
  std::vector<std::vector<std::string>> rows{
      {"scheme", "us a unit of time", "forces a unit of time", "error of q", "at the end",
       "error of v", "reference's own", "change of energy", "stopped after"}};
  for (const MechanicsSchemeResult& s : result.mechanics) {
    double energy = TrajectoryErrors::kNone;
    for (const auto& [name, change] : s.changes) {
      if (name == "energy") energy = change;
    }
    const bool known = s.errors.q_max >= analysis::kMinErrorRatio * s.reference_errors.q_max;
    rows.push_back(
        {s.label, number(s.us_per_time, "{:.4g}"), number(s.forces_per_time, "{:.4g}"),
         number(s.errors.q_max, "{:.2e}") + (std::isfinite(s.errors.q_max) && !known ? "?" : ""),
         number(s.errors.q_end, "{:.2e}"), number(s.errors.v_max, "{:.2e}"),
         number(s.reference_errors.q_max, "{:.0e}"), number(energy, "{:.1e}"),
         s.failure.empty() ? "-" : fmt::format("step {}", s.steps)});
  }
  print_table(out, rows);
  rows = {{"scheme", "order of q", "of v", "from steps", "forces a step", "Hessians", "against"}};
  for (std::size_t k = 0; k + 1 < result.orders.size(); k += 2) {
    const analysis::OrderFit& q = result.orders[k].fit;
    rows.push_back(
        {result.orders[k].label, order_text(q), order_text(result.orders[k + 1].fit),
         q.points > 0 ? fmt::format("{:g} to {:g}", q.smallest_step, q.largest_step) : "-",
         number(result.orders[k].forces_per_step, "{:.2f}"),
         number(result.orders[k].hessians_per_step, "{:.2f}"), "-"});
    for (const MechanicsSchemeResult& s : result.mechanics) {
      if (s.scheme == k / 2 && !s.reference.empty()) rows.back().back() = s.reference;
    }
  }
  fmt::print(out, "\n");
  print_table(out, rows);
  std::string reference;
  for (const CheapestMechanicsScheme& best : cheapest_schemes(result.mechanics)) {
    if (std::exchange(reference, best.reference) != best.reference) {
      fmt::print(out, "\nThe least time for an error of q against {}\n", best.reference);
    }
    fmt::print(out, "{:.0e}  {}, {:.4g} us a unit of time\n", best.within, best.label,
               best.us_per_time);
  }
}

void print_mechanics(std::FILE* out, const Deck& deck, const CompareResult& result) {
  const double time =
      static_cast<double>(deck.mechanics.run.steps) * deck.mechanics.integrator.step;
  fmt::print(out, "{}, {}, {}\n\n", deck.name, deck.system.kind,
             steps_text(result.mechanics, time, &MechanicsSchemeResult::step, ""));
  std::vector<std::string> header{"scheme",   "steps/s",       "forces a step",
                                  "Hessians", "linear solves", "iterations"};
  for (const std::string& name : conserved_names(result.mechanics)) {
    header.push_back("max change of " + name);
  }
  header.push_back("stopped after");
  std::vector<std::vector<std::string>> rows{header};
  for (const MechanicsSchemeResult& s : result.mechanics) {
    const auto a_step = [&](std::int64_t count) {
      if (!s.failure.empty()) return std::string("-");
      return number(static_cast<double>(count) / static_cast<double>(s.steps), "{:.2f}");
    };
    rows.push_back({s.label, fmt::format("{:.0f}", s.steps_per_second), a_step(s.force_evaluations),
                    a_step(s.hessian_evaluations), fmt::format("{:.1f}", s.linear_solves_per_step),
                    fmt::format("{:.1f}", s.iterations_per_step)});
    for (const auto& [name, change] : s.changes) rows.back().push_back(number(change, "{:.1e}"));
    rows.back().resize(header.size() - 1, "-");
    rows.back().push_back(s.failure.empty() ? "-" : fmt::format("step {}", s.steps));
  }
  print_table(out, rows);
}

std::string percent(double share) { return number(100.0 * share, "{:.0f} %"); }
std::string mean_text(const analysis::MeanError& mean, int digits) {
  if (!std::isfinite(mean.mean)) return "-";
  if (!std::isfinite(mean.error)) return fmt::format("{:.{}f} +- ?", mean.mean, digits);
  return fmt::format("{:.{}f} +- {:.{}f}", mean.mean, digits, mean.error, digits);
}

std::string cost_text(double us_per_ps, double error) {
  if (!(error > 0.0)) return number(us_per_ps, "{:.4g}");
  return mean_text({us_per_ps, error}, analysis::decimals_for(error));
}

/// "settle, or shake: as fast within errors".
std::string names_of(const CheapestScheme& best) {
  if (best.label.empty()) return "none";
  if (best.ties.empty()) return best.label;
  return fmt::format("{}, or {}: as fast within errors", best.label, fmt::join(best.ties, ", or "));
}

void print_cheapest(std::FILE* out, const std::vector<CheapestScheme>& all) {
  std::vector<std::vector<std::string>> rows;
  for (const CheapestScheme& best : all) {
    const std::string cost = cost_text(best.us_per_ps, best.us_per_ps_err) + " us for 1 ps";
    rows.push_back({best.within, best.label.empty() ? "" : cost});
  }
  const std::vector<std::string> lines = aligned(rows);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    fmt::print(out, "{}  {}\n", lines[k], names_of(all[k]));
  }
}

constexpr std::string_view kBondTime = "bond_time_ps";
const char* marked(const AveragedQuantity& a) { return a.converged ? "" : " *"; }

/// "0.522 +- 0.003, +3.6 +- 0.7 %": a time, and how much more it is than that of the first scheme.
std::string time_text(const SchemeResult& own, const SchemeResult& first,
                      std::string_view quantity) {
  const AveragedQuantity* time = own.correlation_time(quantity);
  // What was sampled before replicas were lost is no time of the scheme.
  if (time == nullptr || !own.blow_ups.empty()) return "-";
  const auto error_of = [](const AveragedQuantity& a) {
    return a.error > 0.0 ? a.error : std::numeric_limits<double>::quiet_NaN();
  };
  const int digits = time->error > 0.0 ? analysis::decimals_for(time->error) : 3;
  const std::string text = mean_text({time->mean, error_of(*time)}, digits);
  const AveragedQuantity* other = first.correlation_time(quantity);
  const bool alike = own.correlation_interval_fs == first.correlation_interval_fs;
  if (&own == &first || other == nullptr || !first.blow_ups.empty() ||
      (quantity == kBondTime && !alike)) {
    return text + marked(*time);
  }
  const double ratio = time->mean / other->mean;
  const double error =
      ratio * std::hypot(error_of(*time) / time->mean, error_of(*other) / other->mean);
  return fmt::format("{}, {:+.1f} +- {} %{}", text, 100.0 * (ratio - 1.0),
                     std::isfinite(error) ? fmt::format("{:.1f}", 100.0 * error) : "?",
                     marked(*time));
}

/// Some of the correlation times, where the deck has [observe.correlation].
void print_correlation_times(std::FILE* out, const CompareResult& result) {
  struct Told {
    std::string_view quantity, heading;
  };
  constexpr std::array<Told, 3> all{{{"oh_p2_time_ps", "time of O-H, P2 / ps"},
                                     {"dipole_p1_time_ps", "of dipoles, P1 / ps"},
                                     {kBondTime, "hydrogen bonds last / ps"}}};
  const SchemeResult& first = result.schemes.front();
  std::vector<std::vector<std::string>> rows{{"scheme", "us for 1 ps"}};
  for (const Told& told : all) rows[0].emplace_back(told.heading);
  bool known = false;
  for (const SchemeResult& s : result.schemes) {
    rows.push_back({s.label, cost_text(s.us_per_ps, s.us_per_ps_err)});
    for (const Told& told : all) rows.back().push_back(time_text(s, first, told.quantity));
    known = known || !s.correlation_times.empty();
  }
  if (!known) return;
  fmt::print(out, "\n");
  print_table(out, rows);
  for (const SchemeResult& s : result.schemes) {
    if (std::ranges::all_of(s.correlation_times, &AveragedQuantity::converged)) continue;
    fmt::print(out, "* too short for its correlation: the error is a lower bound\n");
    break;
  }
}

/// To stand behind the names of other tables.
std::string correlation_tables(const Deck& deck, const CompareResult& result) {
  if (!deck.correlation) return {};
  return fmt::format(", {0}/correlation_times.csv, {0}/correlation.csv", result.out_dir);
}

/// Errors beside costs, of runs with several steps.
void print_errors(std::FILE* out, const CompareResult& result) {
  std::vector<std::vector<std::string>> rows{{"scheme", "us for 1 ps", "error of <V0> / kcal/mol",
                                              "TV(OO)", "TV of noise", "T / K", "stopped"}};
  for (const SchemeResult& s : result.schemes) {
    const bool is_reference = &s == &result.schemes.front();
    if (!s.blow_ups.empty()) {
      // What was sampled until then is no error of the scheme.
      rows.push_back({s.label, "-", "-", "-", "-", "-", fmt::format("{}", s.blow_ups.size())});
      continue;
    }
    rows.push_back(
        {s.label, cost_text(s.us_per_ps, s.us_per_ps_err),
         is_reference ? mean_text(s.potential_kcal_per_mol, 4) + " itself"
                      : mean_text(s.potential_difference_kcal_per_mol, 4),
         is_reference ? "-" : mean_text({s.oo_total_variation, s.oo_total_variation_err}, 4),
         is_reference ? "-" : number(s.oo_total_variation_noise, "{:.4f}"),
         mean_text(s.temperature_K, 3), fmt::format("{}", s.blow_ups.size())});
  }
  print_table(out, rows);
  fmt::print(out, "\nThe least time for an error that, with twice its own, is within\n");
  print_cheapest(out, cheapest_schemes(result.schemes, result.molecules));
}

void print_schemes(std::FILE* out, const CompareResult& result) {
  std::vector<std::vector<std::string>> rows{
      {"scheme", "cluster-steps/s", "pairs", "bonds", "noise", "rest", "iterations", "T / K",
       "T trans, rot, bond", "<V0> / kcal/mol", "max |g| / A^2", "TV(OO), of noise", "stopped"}};
  for (const SchemeResult& s : result.schemes) {
    const bool is_reference = &s == &result.schemes.front();
    rows.push_back(
        {s.label, number(s.steps_per_second, "{:.0f}"), percent(s.pair_share),
         percent(s.bond_share), percent(s.noise_share), percent(s.rest_share),
         s.iterations_per_step > 0.0 ? fmt::format("{:.1f}", s.iterations_per_step) : "-",
         mean_text(s.temperature_K, 3),
         !std::isfinite(s.translation_K.mean)
             ? "-"
             : fmt::format("{:.2f} {:.2f} {}", s.translation_K.mean, s.rotation_K.mean,
                           s.bond_K.mean > 0.0 ? fmt::format("{:.2f}", s.bond_K.mean) : "-"),
         mean_text(s.potential_kcal_per_mol, 4), fmt::format("{:.1e}", s.constraint_max_A2),
         is_reference || !std::isfinite(s.oo_total_variation)
             ? "-"
             : fmt::format("{:.4f} {}", s.oo_total_variation,
                           number(s.oo_total_variation_noise, "{:.4f}")),
         fmt::format("{}", s.blow_ups.size())});
  }
  print_table(out, rows);
}

/// The error is left out where it is 0, not known.
std::string number_with_error(double value, double error, const char* format) {
  return number(value, format) + (error > 0.0 ? fmt::format(" +- {:.0e}", error) : "");
}

/// Of a deck without a thermostat.
void print_conservation(std::FILE* out, const CompareResult& result) {
  std::vector<std::vector<std::string>> rows{
      {"scheme", "us for 1 ps", "rms change of E / kcal/mol", "largest", "drift / kcal/mol/ps",
       "largest change of P / Da A/ps", "of L / Da A^2/ps", "stopped"}};
  for (const SchemeResult& s : result.schemes) {
    const auto& [rms, rms_error] = s.energy_rms_kcal_per_mol;
    const auto& [drift, drift_error] = s.energy_drift_kcal_per_mol_per_ps;
    rows.push_back({s.label, cost_text(s.us_per_ps, s.us_per_ps_err),
                    number_with_error(rms, rms_error, "{:.2e}"),
                    number(s.energy_max_kcal_per_mol, "{:.2e}"),
                    number_with_error(drift, drift_error, "{:.1e}"),
                    number(s.momentum_max_Da_A_per_ps, "{:.0e}"),
                    number(s.angular_momentum_max_Da_A2_per_ps, "{:.0e}"),
                    fmt::format("{}", s.blow_ups.size())});
  }
  print_table(out, rows);
}

void print_energy_orders(std::FILE* out, const CompareResult& result) {
  std::vector<std::vector<std::string>> rows{{"scheme", "order of E", "from steps"}};
  for (const SchemeOrder& o : result.orders) {
    rows.push_back({o.label, order_text(o.fit),
                    o.fit.points > 0
                        ? fmt::format("{:g} to {:g} fs", o.fit.smallest_step, o.fit.largest_step)
                        : "-"});
  }
  print_table(out, rows);
}

void compare(const Arguments& a, Events& events, int& exit_code) {
  const Deck deck = a.load();
  Terminal terminal(a.quiet);
  CompareOptions options;
  a.apply_to(options, terminal, events);
  options.steps = a.steps;
  options.reference = a.reference;
  if (const auto note = a.note_on_threads(deck)) terminal.warning(*note);

  CompareResult result;
  try {
    result = compare_schemes(deck, split(a.schemes), options);
  } catch (const StartInterrupted& interruption) {
    exit_code = interrupted_exit_code();
    events.ended({}, true, exit_code);
    terminal.warning(interruption.what());
    return;
  }
  terminal.close_bar();
  if (result.interrupted) terminal.warning("interrupted: the table is of what was done until then");
  // With --json standard output is for programs.
  std::FILE* out = a.json ? stderr : stdout;
  if (!result.mechanics.empty()) {
    for (const MechanicsSchemeResult& s : result.mechanics) {
      if (!s.failure.empty()) exit_code = static_cast<int>(ExitCode::numerical);
    }
    if (result.interrupted) exit_code = interrupted_exit_code();
    events.ended(result.out_dir, result.interrupted, exit_code);
    if (options.steps.empty()) {
      print_mechanics(out, deck, result);
      fmt::print(out, "\nTables: {0}/compare.csv, {0}/drift.csv\n", result.out_dir);
    } else {
      print_mechanics_errors(out, deck, result);
      fmt::print(out, "\nTables: {0}/compare.csv, {0}/orders.csv\n", result.out_dir);
    }
    for (const std::string& picture : result.pictures) fmt::print(out, "Picture: {}\n", picture);
    return;
  }
  const double duration_fs = static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs;
  fmt::print(out, "{}, {} x {} replicas, {}, {}\n\n", deck.name,
             deck.system.molecules > 0
                 ? fmt::format("{} molecules", deck.system.molecules)
                 : "molecules of " + deck.system.file.value_or(deck.system.state.value_or("")),
             deck.system.replicas,
             options.steps.empty()
                 ? steps_text(result.schemes, duration_fs, &SchemeResult::timestep_fs, " fs")
                 : fmt::format("{:g} ps", duration_fs * 1e-3),
             result.device);
  for (const SchemeResult& s : result.schemes) {
    if (!s.blow_ups.empty()) exit_code = static_cast<int>(ExitCode::numerical);
  }
  if (result.interrupted) exit_code = interrupted_exit_code();
  events.ended(result.out_dir, result.interrupted, exit_code);
  const bool has_bath = deck.thermostat.kind != Thermostat::none;
  if (options.steps.empty()) {
    print_schemes(out, result);
    if (!has_bath) fmt::print(out, "\n");
  }
  if (!has_bath) print_conservation(out, result);
  if (!options.steps.empty()) {
    if (has_bath) {
      print_errors(out, result);
    } else {
      print_correlation_times(out, result);
      fmt::print(out, "\n");
      print_energy_orders(out, result);
      fmt::print(out, "\nTables: {0}/compare.csv, {0}/orders.csv, {0}/rdf.csv{1}\n", result.out_dir,
                 correlation_tables(deck, result));
      for (const std::string& picture : result.pictures) fmt::print(out, "Picture: {}\n", picture);
      return;
    }
  }
  print_correlation_times(out, result);
  fmt::print(out,
             "\nTV(OO): total variation of the OO distance histogram against {}; of noise: what it "
             "would be of equal distributions.\n",
             result.schemes.front().label);
  fmt::print(out, "Tables: {0}/compare.csv, {0}/rdf.csv{1}\n", result.out_dir,
             correlation_tables(deck, result));
  for (const std::string& picture : result.pictures) fmt::print(out, "Picture: {}\n", picture);
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("compare", "run a deck with several schemes, side by side");
  a->add_to(*command, "folder; default out/<name of the deck>-compare",
            "replace the comparison that is in the folder");
  command
      ->add_option("--schemes", a->schemes,
                   "schemes with their keys: shake,settle,zss-stiff:omega=20, or of a mechanical "
                   "system rattle,variational-of:rk4:bias=0.5")
      ->required();
  command
      ->add_option(
          "--steps", a->steps,
          "each scheme with each of these steps (of water fs): errors against cost, and of a "
          "mechanical system orders of convergence, in errors.svg; of water without a thermostat "
          "errors of the energy, and their order")
      ->delimiter(',');
  command->add_option(
      "--reference", a->reference,
      "with --steps, what errors are against; default: of water settle with half of "
      "the smallest step, of a mechanical system what the scheme itself converges "
      "to; there rigid is the solution with rigid constraints");
  command->callback([a, &exit_code] {
    catch_interrupts();
    Events events(a->json);
    try {
      compare(*a, events, exit_code);
    } catch (const std::exception& error) {
      events.failed(error);
      throw;
    }
  });
}

}  // namespace tarn::cli
