#include "tarn/compare.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <set>

#include "blow_up.hpp"
#include "contestant.hpp"
#include "mechanics_compare.hpp"
#include "mechanics_run.hpp"
#include "tarn/analysis/histogram.hpp"
#include "tarn/analysis/rdf.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/observers.hpp"

namespace tarn {
namespace {

/// Turns that each scheme gets; the machine's moods fall on all schemes alike.
constexpr std::int64_t kTurns = 40;

void prepare_folder(const std::string& folder, bool overwrite) {
  std::error_code error;
  if (!overwrite && std::filesystem::exists(folder + "/compare.csv", error)) {
    throw InputError(folder +
                     " holds a comparison already: choose another folder with --out, or "
                     "use --overwrite");
  }
  io::make_folder(folder);
}

void write_table(const CompareResult& result, const std::string& provenance) {
  const std::string path = result.out_dir + "/compare.csv";
  io::CsvFormat csv(path, {"scheme",
                           "cluster_steps_per_s",
                           "ns_per_day",
                           "pair_share",
                           "bond_share",
                           "noise_share",
                           "rest_share",
                           "iterations_per_step",
                           "temperature_K",
                           "temperature_K_err",
                           "temperature_translation_K",
                           "temperature_rotation_K",
                           "temperature_bond_K",
                           "potential_kcal_per_mol",
                           "potential_kcal_per_mol_err",
                           "autocorrelation_ps",
                           "independent_samples_per_s",
                           "constraint_max_A2",
                           "oo_total_variation",
                           "oo_kolmogorov_smirnov",
                           "oo_mean_distance_A",
                           "stopped_replicas"});
  std::string text = csv.head(provenance);
  for (const SchemeResult& s : result.schemes) {
    csv.cell(std::string_view(s.label)).cell(s.steps_per_second).cell(s.ns_per_day);
    csv.cell(s.pair_share).cell(s.bond_share).cell(s.noise_share).cell(s.rest_share);
    csv.cell(s.iterations_per_step);
    csv.cell(s.temperature_K.mean).cell(s.temperature_K.error);
    csv.cell(s.translation_K.mean).cell(s.rotation_K.mean).cell(s.bond_K.mean);
    csv.cell(s.potential_kcal_per_mol.mean).cell(s.potential_kcal_per_mol.error);
    csv.cell(s.autocorrelation_ps).cell(s.independent_samples_per_second);
    csv.cell(s.constraint_max_A2).cell(s.oo_total_variation).cell(s.oo_kolmogorov_smirnov);
    csv.cell(s.oo_mean_distance_A).cell(static_cast<std::int64_t>(s.blow_ups.size()));
    text += csv.row();
  }
  io::write_file(path, text);
}

}  // namespace

CompareResult compare_schemes(const Deck& deck, const std::vector<std::string>& schemes,
                              const CompareOptions& options) {
  if (schemes.empty()) throw InputError("no schemes to compare: give --schemes shake,zss-stiff");
  if (std::set<std::string>(schemes.begin(), schemes.end()).size() != schemes.size()) {
    throw InputError("a scheme is named twice in --schemes");
  }
  CompareResult result;
  result.out_dir = options.out_dir.empty() ? "out/" + deck.name + "-compare" : options.out_dir;
  std::vector<Deck> variants;
  for (const std::string& scheme : schemes) {
    Deck variant = with_scheme(deck, scheme);
    if (!variant.rdf) variant.rdf = ObserveRdf{};
    if (options.device) variant.run.device = *options.device;
    if (options.threads) variant.run.threads = *options.threads;
    variants.push_back(std::move(variant));
  }
  const bool mechanical = is_mechanical(deck.system.kind);
  if (mechanical) refuse_cuda(options.device);
  prepare_folder(result.out_dir, options.overwrite);
  if (mechanical) {
    compare_mechanics(variants, schemes, options, result);
    return result;
  }

  const auto warn = [&](const std::string& text) {
    if (options.on_warning) options.on_warning(text);
  };
  std::vector<Contestant> contestants;
  std::vector<double> wall_seconds(schemes.size());
  for (std::size_t k = 0; k < schemes.size(); ++k) {
    std::vector<std::string> notes;
    Contestant c = make_contestant(variants[k], schemes[k], notes);
    for (const std::string& note : notes) warn(c.label + ": " + note);
    contestants.push_back(std::move(c));
  }
  result.device = contestants.front().engine->description();
  const int molecules = contestants.front().engine->state().molecules;

  const std::int64_t total = deck.run.steps;
  if (options.on_start) {
    options.on_start({result.out_dir, result.device, molecules, deck.system.replicas, 0,
                      total * static_cast<std::int64_t>(contestants.size())});
  }
  const auto begin = std::chrono::steady_clock::now();
  for (Contestant& c : contestants) c.sample();
  std::int64_t done = 0;
  for (std::int64_t turn = 0; turn < kTurns && !result.interrupted; ++turn) {
    done = total * (turn + 1) / kTurns;
    for (std::size_t k = 0; k < contestants.size(); ++k) {
      wall_seconds[k] += contestants[k].advance_to(done).wall_seconds;
      if (options.on_progress) {
        Progress p;
        p.total_steps = total * static_cast<std::int64_t>(contestants.size());
        p.step = done * static_cast<std::int64_t>(k + 1) +
                 total * turn / kTurns * static_cast<std::int64_t>(contestants.size() - k - 1);
        p.elapsed_seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        p.steps_per_second =
            p.elapsed_seconds > 0.0 ? static_cast<double>(p.step) / p.elapsed_seconds : 0.0;
        p.ns_per_day_per_replica =
            p.steps_per_second * deck.integrator.timestep_fs * 1e-6 * 86400.0;
        p.ns_per_day_total = p.ns_per_day_per_replica * deck.system.replicas;
        p.seconds_left = p.steps_per_second > 0.0
                             ? static_cast<double>(p.total_steps - p.step) / p.steps_per_second
                             : 0.0;
        options.on_progress(p);
      }
    }
    if (options.interrupted && options.interrupted()) result.interrupted = done < total;
  }

  // The schemes' own keys are in the labels; what is left is the same for all of them.
  const std::string provenance = provenance_of(contestants.front().deck, molecules);
  const ObserveRdf& rdf = *contestants.front().deck.rdf;
  const double width_A = rdf.r_max_A / rdf.bins;
  const std::vector<double> centres = analysis::bin_centres_A(rdf.r_max_A, rdf.bins);
  const std::array<double, 3> pairs = analysis::pairs_per_sample(molecules);
  constexpr std::array<const char*, kPairClasses> class_names{"OO", "OH", "HH"};

  std::vector<std::array<Distances, kPairClasses>> distances;
  for (std::size_t k = 0; k < contestants.size(); ++k) {
    const Contestant& c = contestants[k];
    const int replicas = c.deck.system.replicas;
    Frame frame;
    c.engine->snapshot(kPairCounts, frame);
    std::array<Distances, kPairClasses> all;
    for (int p = 0; p < kPairClasses; ++p) {
      all[static_cast<std::size_t>(p)] = distances_of(frame, static_cast<PairClass>(p), rdf.bins,
                                                      width_A, pairs[static_cast<std::size_t>(p)]);
    }
    distances.push_back(std::move(all));

    SchemeResult s;
    s.label = c.label;
    s.steps = done;
    s.blow_ups = c.engine->blow_ups();
    s.steps_per_second =
        wall_seconds[k] > 0.0 ? static_cast<double>(done) * replicas / wall_seconds[k] : 0.0;
    s.ns_per_day = s.steps_per_second * c.deck.integrator.timestep_fs * 1e-6 * 86400.0;
    const EngineReport r = c.engine->report();
    const double seconds = r.pair_seconds + r.bond_seconds + r.noise_seconds + r.rest_seconds;
    if (seconds > 0.0) {
      s.pair_share = r.pair_seconds / seconds;
      s.bond_share = r.bond_seconds / seconds;
      s.noise_share = r.noise_seconds / seconds;
      s.rest_share = r.rest_seconds / seconds;
    }
    if (r.molecule_steps > 0) {
      s.iterations_per_step =
          static_cast<double>(r.constraint_iterations) / static_cast<double>(r.molecule_steps);
    }
    s.temperature_K = mean_and_error(c.temperature);
    s.translation_K = mean_and_error(c.translation);
    s.rotation_K = mean_and_error(c.rotation);
    s.bond_K = mean_and_error(c.bond);
    s.potential_kcal_per_mol = mean_and_error(c.potential);
    const double steps_per_sample =
        2.0 * c.potential.result().autocorrelation_time * static_cast<double>(c.sample_every);
    s.autocorrelation_ps = 0.5 * steps_per_sample * c.deck.integrator.timestep_fs * 1e-3;
    s.independent_samples_per_second = s.steps_per_second / steps_per_sample;
    s.constraint_max_A2 = c.constraint_max_A2;
    const Distances& first = distances.front()[kOO];
    const Distances& own = distances.back()[kOO];
    s.oo_total_variation = analysis::total_variation(first.counts, own.counts);
    s.oo_kolmogorov_smirnov = analysis::kolmogorov_smirnov(first.counts, own.counts);
    const double count = std::accumulate(own.counts.begin(), own.counts.end(), 0.0);
    if (count > 0.0) {
      s.oo_mean_distance_A =
          std::inner_product(own.counts.begin(), own.counts.end(), centres.begin(), 0.0) / count;
    }
    for (const BlowUp& b : s.blow_ups) {
      const std::string text = c.label + ": " +
                               describe(b, c.deck, c.engine->report().indefinite_hessians) +
                               " Its samples until then stay in the means.";
      if (options.on_blow_up) options.on_blow_up(b, text);
      warn(text);
    }
    result.schemes.push_back(std::move(s));
  }
  write_table(result, provenance);

  std::vector<std::string> header{"r_A"};
  for (const std::string& scheme : schemes) {
    for (int p = 0; p < kPairClasses; ++p) {
      if (!rdf.pairs[static_cast<std::size_t>(p)]) continue;
      const std::string name = scheme + " " + class_names[static_cast<std::size_t>(p)];
      header.push_back(name + "_count");
      header.push_back(name + "_density_per_A");
      header.push_back(name + "_density_per_A_err");
    }
  }
  const std::string path = result.out_dir + "/rdf.csv";
  io::CsvFormat csv(path, header);
  std::string text = csv.head(provenance +
                              "; density of the intermolecular distances: its "
                              "integral over r is 1 (less what lies beyond r_max)");
  for (std::size_t b = 0; b < centres.size(); ++b) {
    csv.cell(centres[b]);
    for (const auto& of_scheme : distances) {
      for (int p = 0; p < kPairClasses; ++p) {
        if (!rdf.pairs[static_cast<std::size_t>(p)]) continue;
        const Distances& d = of_scheme[static_cast<std::size_t>(p)];
        csv.cell(static_cast<std::int64_t>(d.counts[b]))
            .cell(d.density_per_A[b])
            .cell(d.error_per_A[b]);
      }
    }
    text += csv.row();
  }
  io::write_file(path, text);

  io::Plot plot;
  plot.title = "Oxygen-oxygen distances, " + std::to_string(molecules) + " water molecules (" +
               deck.system.model + ")";
  plot.x_label = "r (Å)";
  plot.y_label = "probability density (1/Å)";
  const auto occupied = [&](std::size_t b) {
    return std::any_of(distances.begin(), distances.end(),
                       [&](const auto& d) { return d[kOO].counts[b] > 0.0; });
  };
  std::size_t low = 0, high = centres.size();
  while (low < high && !occupied(low)) ++low;
  while (high > low && !occupied(high - 1)) --high;
  double top = 0.0;
  for (const auto& d : distances) {
    for (double density : d[kOO].density_per_A) top = std::max(top, density);
  }
  if (top > 0.0) plot.y_range = {{0.0, 1.1 * top}};
  if (low < high) plot.x_range = {{centres[low] - 0.2, centres[high - 1] + 0.2}};
  for (std::size_t k = 0; k < contestants.size(); ++k) {
    io::Series series;
    series.label = contestants[k].label;
    series.x = centres;
    series.y = distances[k][kOO].density_per_A;
    series.set_error(distances[k][kOO].error_per_A);
    series.style = io::Series::Style::steps;
    plot.series.push_back(std::move(series));
  }
  const io::Drawing drawing = io::draw(plot, result.out_dir + "/rdf");
  result.pictures = drawing.paths;
  if (!drawing.warning.empty()) warn(drawing.warning);
  return result;
}

}  // namespace tarn
