#include "tables.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "analysis/rdf.hpp"
#include "io/json.hpp"
#include "observe/observable.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

constexpr double kNotKnown = SchemeResult::kNone;

using S = const SchemeResult&;

struct Column {
  const char* name;
  double (*of)(S);
};

/// The columns of compare.csv after the label.
constexpr Column kColumns[] = {
    {"cluster_steps_per_s", [](S s) { return s.steps_per_second; }},
    {"ns_per_day", [](S s) { return s.ns_per_day; }},
    {"pair_share", [](S s) { return s.pair_share; }},
    {"bond_share", [](S s) { return s.bond_share; }},
    {"noise_share", [](S s) { return s.noise_share; }},
    {"rest_share", [](S s) { return s.rest_share; }},
    {"iterations_per_step", [](S s) { return s.iterations_per_step; }},
    {"temperature_K", [](S s) { return s.temperature_K.mean; }},
    {"temperature_K_err", [](S s) { return s.temperature_K.error; }},
    {"temperature_translation_K", [](S s) { return s.translation_K.mean; }},
    {"temperature_rotation_K", [](S s) { return s.rotation_K.mean; }},
    {"temperature_bond_K", [](S s) { return s.bond_K.mean; }},
    {"potential_kcal_per_mol", [](S s) { return s.potential_kcal_per_mol.mean; }},
    {"potential_kcal_per_mol_err", [](S s) { return s.potential_kcal_per_mol.error; }},
    {"autocorrelation_ps", [](S s) { return s.autocorrelation_ps; }},
    {"independent_samples_per_s", [](S s) { return s.independent_samples_per_second; }},
    {"constraint_max_A2", [](S s) { return s.constraint_max_A2; }},
    {"oo_total_variation", [](S s) { return s.oo_total_variation; }},
    {"oo_kolmogorov_smirnov", [](S s) { return s.oo_kolmogorov_smirnov; }},
    {"oo_mean_distance_A", [](S s) { return s.oo_mean_distance_A; }},
    {"stopped_replicas", [](S s) { return static_cast<double>(s.blow_ups.size()); }},
    {"timestep_fs", [](S s) { return s.timestep_fs; }},
    {"us_per_ps", [](S s) { return s.us_per_ps; }},
    {"potential_difference_kcal_per_mol",
     [](S s) { return s.potential_difference_kcal_per_mol.mean; }},
    {"potential_difference_kcal_per_mol_err",
     [](S s) { return s.potential_difference_kcal_per_mol.error; }},
    {"oo_total_variation_err", [](S s) { return s.oo_total_variation_err; }},
    {"oo_total_variation_noise", [](S s) { return s.oo_total_variation_noise; }},
    {"departed_replicas", [](S s) { return static_cast<double>(s.departed_replicas); }},
    {"energy_drift_kcal_per_mol_per_ps",
     [](S s) { return s.energy_drift_kcal_per_mol_per_ps.mean; }},
    {"energy_drift_kcal_per_mol_per_ps_err",
     [](S s) { return s.energy_drift_kcal_per_mol_per_ps.error; }},
    {"energy_rms_kcal_per_mol", [](S s) { return s.energy_rms_kcal_per_mol.mean; }},
    {"energy_rms_kcal_per_mol_err", [](S s) { return s.energy_rms_kcal_per_mol.error; }},
    {"energy_max_kcal_per_mol", [](S s) { return s.energy_max_kcal_per_mol; }},
    {"momentum_max_Da_A_per_ps", [](S s) { return s.momentum_max_Da_A_per_ps; }},
    {"angular_momentum_max_Da_A2_per_ps", [](S s) { return s.angular_momentum_max_Da_A2_per_ps; }},
    {"us_per_ps_err", [](S s) { return s.us_per_ps_err; }},
};

}  // namespace

void write_scheme_table(const CompareResult& result, const std::string& provenance) {
  std::vector<std::string> header{"scheme"};
  for (const Column& column : kColumns) header.emplace_back(column.name);
  std::string meanings = kShareMeanings;
  std::ranges::replace(meanings, '\n', ' ');
  io::CsvTable table(result.out_dir + "/compare.csv", header, provenance + "; " + meanings);
  for (const SchemeResult& s : result.schemes) {
    table.cell(s.label);
    for (const Column& column : kColumns) table.cell_or_nan(column.of(s));
    table.end_row();
  }
  table.write();
}

void write_energy_orders(const CompareResult& result, const std::string& provenance) {
  io::CsvTable table(result.out_dir + "/orders.csv",
                     {"scheme", "quantity", "order", "spread", "points", "smallest_timestep_fs",
                      "largest_timestep_fs"},
                     provenance + "; convergence order of the rms change of the total energy");
  for (const SchemeOrder& o : result.orders) {
    table.cells(o.label, o.quantity).cells_or_nan(o.fit.order, o.fit.spread).cell(o.fit.points);
    table.cells_or_nan(o.fit.smallest_step, o.fit.largest_step);
    table.end_row();
  }
  table.write();
}

void write_distances(const std::vector<SchemeRun>& runs, const std::string& provenance,
                     const std::string& folder) {
  constexpr std::array<const char*, kPairClasses> class_names{"OO", "OH", "HH"};
  const ObserveRdf& rdf = *runs.front().deck.rdf;  // equal for all runs
  std::vector<std::size_t> classes;
  for (std::size_t p = 0; p < class_names.size(); ++p) {
    if (rdf.pairs[p]) classes.push_back(p);
  }
  std::vector<std::string> header{"r_A"};
  for (const SchemeRun& run : runs) {
    for (const std::size_t p : classes) {
      for (const char* what : {"_count", "_density_per_A", "_density_per_A_err"}) {
        header.push_back(run.label + " " + class_names[p] + what);
      }
    }
  }
  io::CsvTable table(folder + "/rdf.csv", header,
                     provenance +
                         "; probability densities of intermolecular distances: the integral over r "
                         "is 1 minus the part beyond r_max");
  const std::vector<double> centres_A = analysis::bin_centres_A(rdf.r_max_A, rdf.bins);
  for (std::size_t b = 0; b < centres_A.size(); ++b) {
    table.cell(centres_A[b]);
    for (const SchemeRun& run : runs) {
      for (const std::size_t p : classes) {
        const DistanceHistogram& h = run.histograms[p];
        table.cells(static_cast<std::int64_t>(h.counts[b]), h.density_per_A[b], h.error_per_A[b]);
      }
    }
    table.end_row();
  }
  table.write();
}

void write_correlations(const std::vector<const SchemeRun*>& runs, const std::string& provenance,
                        const std::string& folder) {
  std::vector<std::string> header = Correlations::header();
  header.insert(header.begin(), "scheme");
  io::CsvTable table(folder + "/correlation.csv", header,
                     provenance + "; " + std::string(Correlations::kRemark));
  for (const SchemeRun* run : runs) {
    for (std::size_t lag = 0; lag <= run->correlations->longest(); ++lag) {
      run->correlations->append_cells(lag, table.cell(run->label));
      table.end_row();
    }
  }
  table.write();
}

void write_correlation_times(const CompareResult& result, const std::string& provenance) {
  std::vector<std::string> header{"scheme", "timestep_fs", "us_per_ps", "stopped_replicas",
                                  "interval_fs"};
  const std::vector<std::string> names = Correlations::names_of_times();
  for (const std::string& name : names) {
    for (const char* what : {"", "_err", "_converged"}) header.push_back(name + what);
  }
  io::CsvTable table(result.out_dir + "/correlation_times.csv", header,
                     provenance +
                         "; integrals of the correlation functions up to the last row; converged = "
                         "0: the error is a lower bound");
  for (const SchemeResult& s : result.schemes) {
    table.cells(s.label, s.timestep_fs).cell_or_nan(s.us_per_ps);
    table.cells(s.blow_ups.size(), s.correlation_interval_fs);
    for (const std::string& name : names) {
      const AveragedQuantity* time = s.correlation_time(name);
      table.cells_or_nan(time ? time->mean : kNotKnown, time ? time->error : kNotKnown);
      table.cell(int{time && time->converged});
    }
    table.end_row();
  }
  table.write();
}

void write_beads(const CompareResult& result, const std::string& provenance) {
  std::vector<std::string> header{"scheme", "beads", "timestep_fs", "us_per_ps"};
  const std::size_t columns = bead_columns().size();
  for (const RingColumn& column : bead_columns()) {
    for (const char* what : {"", "_err"}) header.push_back(std::string(column.name) + what);
  }
  io::CsvTable table(result.out_dir + "/beads.csv", header,
                     provenance + "; averages of ring polymers as in path_integral.csv");
  for (const SchemeResult& s : result.schemes) {
    table.cells(s.label, s.beads, s.timestep_fs).cell_or_nan(s.us_per_ps);
    for (std::size_t k = 0; k < columns; ++k) {
      table.cells_or_nan(s.rings.empty() ? kNotKnown : s.rings[k].mean,
                         s.rings.empty() ? kNotKnown : s.rings[k].error);
    }
    table.end_row();
  }
  table.write();
}

void write_bead_limits(const CompareResult& result, const std::string& provenance) {
  io::CsvTable table(result.out_dir + "/bead_limits.csv",
                     {"scheme", "quantity", "limit", "limit_err", "c1", "c2", "points", "chi2",
                      "degrees_of_freedom"},
                     provenance + "; fits limit + c1/P^2 + c2/P^4 to the means of beads.csv");
  for (const SchemeBeadLimit& b : result.bead_limits) {
    const analysis::BeadLimit& fit = b.fit;
    table.cells(b.label, b.quantity);
    table.cells_or_nan(fit.limit.mean, fit.limit.error, fit.c1, fit.c2).cell(fit.points);
    table.cell_or_nan(fit.chi2).cell(fit.degrees_of_freedom);
    table.end_row();
  }
  table.write();
}

void write_compare_record(const Deck& deck, const std::vector<std::string>& schemes,
                          const CompareOptions& options, const CompareResult& result,
                          std::string_view status, std::string_view error) {
  std::vector<std::string> steps;
  for (const double step : options.steps) steps.push_back(io::json(step));
  std::vector<std::string> beads;
  for (const int number : options.beads) beads.push_back(fmt::format("{}", number));
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? std::string("null") : io::json(std::string_view(text));
  };
  io::JsonObject object;
  object.add("status", io::json(status));
  if (!error.empty()) object.add("error", io::json(error));
  object.add("tarn_version", io::json(std::string_view(kVersion)))
      .add("deck_path", io::json(std::string_view(deck.path)))
      .add("deck", io::json(std::string_view(resolved_deck(deck))))
      .add("schemes", io::json_strings(schemes))
      .add("steps_fs", io::json_array(steps))
      .add("reference", text_or_null(options.reference))
      .add("beads", io::json_array(beads))
      .add("free_rings", io::json_strings(options.free_rings))
      .add("frequencies", io::json_strings(options.frequencies))
      .add("device", text_or_null(result.device))
      .add("pictures", io::json_strings(result.pictures));
  io::write_file(result.out_dir + "/compare.json", object.text() + "\n");
}

}  // namespace tarn
