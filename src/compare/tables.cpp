#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "analysis/rdf.hpp"
#include "io/json.hpp"
#include "observe/rdf_counts.hpp"
#include "scheme_run.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

/// The columns of compare.csv after the label.
std::vector<std::pair<const char*, double>> columns_of(const SchemeResult& s) {
  return {
      {"cluster_steps_per_s", s.steps_per_second},
      {"ns_per_day", s.ns_per_day},
      {"pair_share", s.pair_share},
      {"bond_share", s.bond_share},
      {"noise_share", s.noise_share},
      {"rest_share", s.rest_share},
      {"iterations_per_step", s.iterations_per_step},
      {"temperature_K", s.temperature_K.mean},
      {"temperature_K_err", s.temperature_K.error},
      {"temperature_translation_K", s.translation_K.mean},
      {"temperature_rotation_K", s.rotation_K.mean},
      {"temperature_bond_K", s.bond_K.mean},
      {"potential_kcal_per_mol", s.potential_kcal_per_mol.mean},
      {"potential_kcal_per_mol_err", s.potential_kcal_per_mol.error},
      {"autocorrelation_ps", s.autocorrelation_ps},
      {"independent_samples_per_s", s.independent_samples_per_second},
      {"constraint_max_A2", s.constraint_max_A2},
      {"oo_total_variation", s.oo_total_variation},
      {"oo_kolmogorov_smirnov", s.oo_kolmogorov_smirnov},
      {"oo_mean_distance_A", s.oo_mean_distance_A},
      {"stopped_replicas", static_cast<double>(s.blow_ups.size())},
      {"timestep_fs", s.timestep_fs},
      {"us_per_ps", s.us_per_ps},
      {"potential_difference_kcal_per_mol", s.potential_difference_kcal_per_mol.mean},
      {"potential_difference_kcal_per_mol_err", s.potential_difference_kcal_per_mol.error},
      {"oo_total_variation_err", s.oo_total_variation_err},
      {"oo_total_variation_noise", s.oo_total_variation_noise},
      {"departed_replicas", static_cast<double>(s.departed_replicas)},
      {"energy_drift_kcal_per_mol_per_ps", s.energy_drift_kcal_per_mol_per_ps.mean},
      {"energy_drift_kcal_per_mol_per_ps_err", s.energy_drift_kcal_per_mol_per_ps.error},
      {"energy_rms_kcal_per_mol", s.energy_rms_kcal_per_mol.mean},
      {"energy_rms_kcal_per_mol_err", s.energy_rms_kcal_per_mol.error},
      {"energy_max_kcal_per_mol", s.energy_max_kcal_per_mol},
      {"momentum_max_Da_A_per_ps", s.momentum_max_Da_A_per_ps},
      {"angular_momentum_max_Da_A2_per_ps", s.angular_momentum_max_Da_A2_per_ps},
      {"us_per_ps_err", s.us_per_ps_err},
  };
}

/// Adds the columns of a quantity to a header.
void add_columns(std::string_view quantity, std::initializer_list<const char*> ends,
                 std::vector<std::string>& header) {
  for (const char* end : ends) header.push_back(fmt::format("{}{}", quantity, end));
}

/// One row per scheme.
void write_schemes(const CompareResult& result, const std::string& provenance) {
  std::vector<std::string> header{"scheme"};
  for (const auto& [name, value] : columns_of({})) header.emplace_back(name);
  std::string meanings = kShareMeanings;
  std::ranges::replace(meanings, '\n', ' ');
  io::CsvTable table(result.out_dir + "/compare.csv", header, provenance + "; " + meanings);
  for (const SchemeResult& s : result.schemes) {
    table.cell(s.label);
    for (const auto& [name, value] : columns_of(s)) table.cell_or_nan(value);
    table.end_row();
  }
  table.write();
}

/// One row per bin and one group of columns per scheme and pair class.
void write_distances(const std::vector<SchemeRun>& runs, const std::string& folder,
                     const std::string& provenance) {
  const ObserveRdf& rdf = *runs.front().deck.rdf;  // equal for all runs
  std::vector<std::string> header{"r_A"};
  std::vector<const DistanceHistogram*> histograms;
  for (const SchemeRun& run : runs) {
    for (int p = 0; p < kPairClasses; ++p) {
      if (!rdf.pairs[p]) continue;
      add_columns(fmt::format("{} {}", run.label, pair_name(p)),
                  {"_count", "_density_per_A", "_density_per_A_err"}, header);
      histograms.push_back(&run.histograms[p]);
    }
  }
  io::CsvTable table(folder + "/rdf.csv", header,
                     provenance +
                         "; probability densities of intermolecular distances: the integral over r "
                         "is 1 minus the part beyond r_max");
  const std::vector<double> centres_A = analysis::bin_centres_A(rdf.r_max_A, rdf.bins);
  for (std::size_t b = 0; b < centres_A.size(); ++b) {
    table.cell(centres_A[b]);
    for (const DistanceHistogram* h : histograms) {
      table.cells(static_cast<std::int64_t>(h->counts[b]), h->density_per_A[b], h->error_per_A[b]);
    }
    table.end_row();
  }
  table.write();
}

/// Time correlation functions, one row per scheme and lag, and their times, one row per scheme.
void write_correlations(const CompareResult& result, const std::vector<SchemeRun>& runs,
                        const std::string& provenance) {
  std::vector<std::string> header = Correlations::header();
  header.insert(header.begin(), "scheme");
  io::CsvTable functions(result.out_dir + "/correlation.csv", header,
                         provenance + "; " + std::string(Correlations::kRemark));
  for (const SchemeRun& run : runs) {
    if (run.has_lost_all_replicas() || !run.correlations->has_rows()) continue;
    for (std::size_t lag = 0; lag <= run.correlations->longest(); ++lag) {
      run.correlations->append_cells(lag, functions.cell(run.label));
      functions.end_row();
    }
  }
  functions.write();
  header = {"scheme", "timestep_fs", "us_per_ps", "stopped_replicas", "interval_fs"};
  const std::vector<std::string> names = Correlations::names_of_times();
  for (const std::string& name : names) add_columns(name, {"", "_err", "_converged"}, header);
  io::CsvTable times(result.out_dir + "/correlation_times.csv", header,
                     provenance +
                         "; integrals of the correlation functions up to the last row; converged = "
                         "0: the error is a lower bound");
  for (const SchemeResult& s : result.schemes) {
    times.cells(s.label, s.timestep_fs).cell_or_nan(s.us_per_ps);
    times.cells(s.blow_ups.size(), s.correlation_interval_fs);
    for (const std::string& name : names) {
      const AveragedQuantity* time = s.correlation_time(name);
      times.cells_or_nan(time ? time->mean : s.kNone, time ? time->error : s.kNone);
      times.cell(int{time && time->converged});
    }
    times.end_row();
  }
  times.write();
}

/// Averages of ring polymers, one row per scheme, and their extrapolations, if there are any.
void write_beads(const CompareResult& result, const BeadMeans& columns,
                 const std::string& provenance) {
  std::vector<std::string> header{"scheme", "beads", "timestep_fs", "us_per_ps"};
  for (const auto& [column, mean] : columns) add_columns(column->name, {"", "_err"}, header);
  io::CsvTable table(result.out_dir + "/beads.csv", header,
                     provenance + "; averages of ring polymers as in path_integral.csv");
  for (const SchemeResult& s : result.schemes) {
    table.cells(s.label, s.beads, s.timestep_fs).cell_or_nan(s.us_per_ps);
    for (const AveragedQuantity& a : s.rings) table.cells_or_nan(a.mean, a.error);
    // The columns after the first four have no values if all replicas were lost.
    for (std::size_t k = 4; s.rings.empty() && k < header.size(); ++k) table.cell_or_nan(s.kNone);
    table.end_row();
  }
  table.write();
  if (result.bead_limits.empty()) return;
  io::CsvTable limits(result.out_dir + "/bead_limits.csv",
                      {"scheme", "quantity", "limit", "limit_err", "c1", "c2", "points", "chi2",
                       "degrees_of_freedom"},
                      provenance + "; fits limit + c1/P^2 + c2/P^4 to the means of beads.csv");
  for (const auto& [label, quantity, fit] : result.bead_limits) {
    limits.cells(label, quantity);
    limits.cells_or_nan(fit.limit.mean, fit.limit.error, fit.c1, fit.c2).cell(fit.points);
    limits.cell_or_nan(fit.chi2).cell(fit.degrees_of_freedom);
    limits.end_row();
  }
  limits.write();
}

void write_orders(const CompareResult& result, const std::string& provenance) {
  io::CsvTable table(result.out_dir + "/orders.csv",
                     {"scheme", "quantity", "order", "spread", "points", "smallest_timestep_fs",
                      "largest_timestep_fs"},
                     provenance + "; convergence order of the rms change of the total energy");
  for (const auto& [label, quantity, fit] : result.orders) {
    table.cells(label, quantity).cells_or_nan(fit.order, fit.spread).cell(fit.points);
    table.cells_or_nan(fit.smallest_step, fit.largest_step);
    table.end_row();
  }
  table.write();
}

}  // namespace

void write_tables(const CompareResult& result, const std::vector<SchemeRun>& runs,
                  const std::string& provenance) {
  write_schemes(result, provenance);
  write_distances(runs, result.out_dir, provenance);
  if (runs.front().correlations) write_correlations(result, runs, provenance);
  const auto has_rings = [](const SchemeRun& run) { return !run.rings.empty(); };
  const auto with_rings = std::ranges::find_if(runs, has_rings);
  if (with_rings != runs.end()) write_beads(result, with_rings->rings, provenance);
  if (!result.orders.empty()) write_orders(result, provenance);
}

void write_compare_record(const Deck& deck, const std::vector<std::string>& schemes,
                          const CompareOptions& options, const CompareResult& result,
                          std::string_view status, std::string_view error) {
  const auto numbers = [](const auto& values, const auto& text) {
    std::vector<std::string> all;
    for (const auto value : values) all.push_back(text(value));
    return io::json_array(all);
  };
  const auto text_or_null = [](std::string_view text) {
    return text.empty() ? std::string("null") : io::json(text);
  };
  io::JsonObject object;
  object.add("status", io::json(status));
  if (!error.empty()) object.add("error", io::json(error));
  object.add("tarn_version", io::json(std::string_view(kVersion)))
      .add("deck_path", io::json(std::string_view(deck.path)))
      .add("deck", io::json(std::string_view(resolved_deck(deck))))
      .add("schemes", io::json_strings(schemes))
      .add("steps_fs", numbers(options.steps, [](double step) { return io::json(step); }))
      .add("reference", text_or_null(options.reference))
      .add("beads", numbers(options.beads, [](std::int64_t n) { return io::json(n); }))
      .add("free_rings", io::json_strings(options.free_rings))
      .add("frequencies", io::json_strings(options.frequencies))
      .add("device", text_or_null(result.device))
      .add("pictures", io::json_strings(result.pictures));
  io::write_file(result.out_dir + "/compare.json", object.text() + "\n");
}

}  // namespace tarn
