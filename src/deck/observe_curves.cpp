#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/blocking.hpp"
#include "analysis/correlation.hpp"
#include "checker.hpp"
#include "core/text.hpp"
#include "notes.hpp"
#include "system_limits.hpp"
#include "water_keys.hpp"

/// @file
/// Observers that write functions of a distance, frequency or time at the end of the run.

namespace tarn::decks {
namespace {

void rdf_fits_memory(Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.rdf || !checker.is_reliable({"thermostat.temperatures_K", "observe.rdf.bins"})) return;
  constexpr std::int64_t kMaxBaths = 4096, kMaxBins = 250'000;  // 400 MB in blocks of time
  const std::vector<double>& baths = deck.thermostat.temperatures_K;
  const std::int64_t count = std::ssize(baths), bins = deck.rdf->bins;
  if (!has_several_baths(baths) || (count <= kMaxBaths && count * bins <= kMaxBins)) return;
  checker.problem(count <= kMaxBaths ? "observe.rdf.bins" : "thermostat.temperatures_K",
                  "[observe.rdf] has {} bins for each of {}; expected at most {} temperatures and "
                  "{} bins in total",
                  bins, count_text(count, "temperature"), kMaxBaths, kMaxBins);
}

std::string problem_of_profile(const Checker& checker) {
  const Deck& deck = checker.deck();
  if (!deck.profile) return {};
  // 8 bytes each, also in every checkpoint.
  constexpr double kMaxNumbers = 1e8;
  const auto samples = static_cast<double>(deck.run.steps / deck.profile->every + 1);
  const auto of_replicas = [&](std::size_t replicas) {
    return analysis::PooledBlocking::of_replicas(static_cast<int>(replicas)).max_numbers(samples);
  };
  const auto replicas = static_cast<std::size_t>(deck.system.replicas);
  double of_shell = of_replicas(replicas);
  if (const std::size_t baths = distinct_baths(deck); baths > 1) {
    of_shell += static_cast<double>(baths) * of_replicas(replicas / baths + 1);
  }
  // Mass, oxygens, hydrogens, orientation.
  const double numbers = 4.0 * deck.profile->bins * of_shell;
  if (numbers <= kMaxNumbers) return {};
  return fmt::format(
      "{1:.2g} numbers for the error bars of {0} shells exceed the limit of {2:.0e}; reduce bins "
      "or increase every",
      deck.profile->bins, numbers, kMaxNumbers);
}

/// Number of samples after the equilibration.
std::int64_t averaged_samples(const Deck& deck, std::int64_t every) {
  const std::int64_t first = (first_averaged_step(deck) + every - 1) / every;
  return std::max<std::int64_t>(0, deck.run.steps / every - first + 1);
}

/// Warning for sections that need some samples for their first row.
/// @param needed_by number of samples that a section needs
/// @param length its key on which that number depends; @param factor of one step of the search for
///        a value with which the samples of the run suffice
template <class Section>
std::optional<Message> warning_of_missing_rows(const Deck& deck, const char* name, Section section,
                                               std::size_t (*needed_by)(const Section&, double),
                                               double Section::*length, const char* key,
                                               double factor) {
  const double h_fs = deck.integrator.timestep_fs;
  const std::int64_t every = section.every, samples = averaged_samples(deck, every);
  const auto needed = [&] { return static_cast<std::int64_t>(needed_by(section, h_fs)); };
  const std::int64_t least = needed();
  if (samples == 0 || samples >= least) return std::nullopt;
  const std::int64_t first = (first_averaged_step(deck) + every - 1) / every;
  const double last_ps = static_cast<double>((first + least - 1) * every) * h_fs * 1e-3;
  std::string other_key;
  for (int k = 0; k < 1000 && other_key.empty(); ++k) {
    section.*length *= factor;
    if (needed() > samples) continue;
    const bool less = factor < 1.0;
    other_key =
        fmt::format(", or {} = {} or {}", key,
                    less ? rounded_down(section.*length, 3) : rounded_up(section.*length, 3),
                    less ? "less" : "more");
  }
  return Message::warning(
      fmt::format("[{}] writes no rows: it needs {} samples after equilibration, and the run has "
                  "{}. Set [run] duration_ps = {} or more{}",
                  name, least, samples, rounded_up(last_ps, 4), other_key));
}

std::string problem_of_spectrum(const Checker& checker) {
  const ThermostatSection& thermostat = checker.deck().thermostat;
  if (!checker.deck().spectrum || thermostat.kind == Thermostat::none) return {};
  const std::vector<double>& baths_K = thermostat.temperatures_K;
  if (has_several_baths(baths_K)) {
    return "[observe.spectrum] averages over the replicas and needs a single temperature";
  }
  const bool cold = thermostat.temperature_K == 0.0 || (!baths_K.empty() && baths_K[0] == 0.0);
  return cold ? "[observe.spectrum] is normalised by kT and needs a temperature above 0 K" : "";
}

std::optional<std::string> spectrum_problem(const Deck& deck, std::int64_t molecules) {
  if (!deck.spectrum) return std::nullopt;
  // 4 bytes each, also in every checkpoint.
  constexpr double kMaxNumbers = 1e8;
  const int replicas = deck.spectrum->replicas.count_of(deck.system.replicas);
  const std::size_t samples = spectrum_samples(*deck.spectrum, deck.integrator.timestep_fs);
  const auto size = static_cast<double>(samples);
  const double velocities = 9.0 * static_cast<double>(molecules) * replicas * size;
  // Two quantities at half as many frequencies, of doubles; segments overlap by half.
  const double segments = 2.0 * static_cast<double>(deck.run.steps / deck.spectrum->every) / size;
  const double sums =
      2.0 * size * analysis::PooledBlocking::of_replicas(replicas).max_numbers(segments);
  if (velocities + sums <= kMaxNumbers) return std::nullopt;
  return fmt::format(
      "{} samples per segment of {} velocities of {} are {:.2g} numbers, with {:.2g} for error "
      "bars; the limit is {:.0e}. Increase every or resolution_per_cm, or write replicas = n",
      samples, 9 * molecules, count_text(replicas, "replica"), velocities, sums, kMaxNumbers);
}

void spectrum_messages(const Deck& deck, Messages& messages) {
  if (potential_kind(deck) != PotentialKind::model) {
    messages.push_back(Message::warning(fmt::format(
        "[observe.spectrum] the infrared absorption is that of the charges of {} on the "
        "trajectory of the potential. The vibrational density of states needs no charges",
        deck.system.model)));
  }
  const IntegratorSection& integrator = deck.integrator;
  // Two samples per period of an O-H stretch of 4000/cm, or of a libration of 1300/cm.
  const double longest_fs = (moves_bonds(deck) ? 4.17 : 12.83) * heavy_hydrogen_factor(deck);
  const double interval_fs = static_cast<double>(deck.spectrum->every) * integrator.timestep_fs;
  if (!moves_bonds(deck) && deck.spectrum->every > 1 && !is_rigid(integrator.scheme) &&
      std::isfinite(integrator.omega)) {
    messages.push_back(Message::warning(fmt::format(
        "[observe.spectrum] every = {}: penalised bonds vibrate within a few steps, and their "
        "lines are aliased to lower wavenumbers. Use every = 1, which aliases fewer",
        deck.spectrum->every)));
  } else if (interval_fs > longest_fs) {
    messages.push_back(Message::warning(
        fmt::format("[observe.spectrum] every = {}: samples {:.3g} fs apart alias the {} to lower "
                    "wavenumbers. Use every = {}",
                    deck.spectrum->every, interval_fs,
                    moves_bonds(deck) ? "O-H stretches" : "librations of the molecules",
                    std::max(1.0, std::floor(longest_fs / integrator.timestep_fs)))));
  }
  append(warning_of_missing_rows(deck, "observe.spectrum", *deck.spectrum, spectrum_samples,
                                 &ObserveSpectrum::resolution_per_cm, "resolution_per_cm", 1.01),
         messages);
}

std::optional<std::string> correlation_problem(const Deck& deck, std::int64_t molecules) {
  const double numbers = correlation_numbers(deck, molecules);
  if (numbers <= analysis::kMaxCorrelationNumbers) return std::nullopt;
  const int replicas = deck.correlation->replicas.count_of(deck.system.replicas);
  return fmt::format(
      "{} samples up to length_ps are {:.2g} numbers for {}, with error bars; the limit is {:.0e}. "
      "Increase every, reduce length_ps, or write replicas = n",
      correlation_lags(*deck.correlation, deck.integrator.timestep_fs), numbers,
      count_text(replicas, "replica"), analysis::kMaxCorrelationNumbers);
}

SectionTable rdf_section() {
  return section(
      &Deck::rdf, "observe.rdf",
      "Writes `rdf.csv` and a picture: intermolecular pair distances and coordination numbers, "
      "pooled over all replicas. With several temperatures, `rdf_by_bath.csv` and the picture "
      "contain one curve per bath.",
      {
          every_key<ObserveRdf>("Interval between samples; step 0 is included."),
          key(&ObserveRdf::pairs, "pairs", {{"OO", kOO}, {"OH", kOH}, {"HH", kHH}},
              "Pairs of atoms, always of different molecules."),
          key(&ObserveRdf::r_max_A, "r_max_A", above_to(0, 1000), "Upper edge of the last bin."),
          key(&ObserveRdf::bins, "bins", from_to(1, 100000), "Number of bins, of equal width."),
      },
      {{"`[observe.rdf]` supports at most 4096 temperatures, and 250 000 bins in total if there "
        "are several.",
        rdf_fits_memory}});
}

SectionTable profile_section() {
  return section(&Deck::profile, "observe.profile",
                 "Writes `profile.csv` and a picture: density and orientation of the molecular "
                 "dipoles as functions of the distance from the centre of mass of the cluster, "
                 "pooled over all replicas, after the equilibration. With several temperatures, "
                 "`profile_by_bath.csv` and the picture contain one profile per bath.",
                 {
                     every_key<ObserveProfile>("Interval between samples."),
                     key(&ObserveProfile::r_max_A, "r_max_A", above_to(0, 1000),
                         "Outer radius of the last shell."),
                     key(&ObserveProfile::bins, "bins", from_to(1, 1000),
                         "Number of shells, of equal thickness."),
                 },
                 {rule("`[observe.profile]` stores at most 10⁸ numbers: the sums for its error "
                       "bars per temperature.",
                       "observe.profile.bins",
                       with_length_and({"system.replicas", "thermostat.kind",
                                        "thermostat.temperature_K", "thermostat.temperatures_K",
                                        "observe.profile.every", "observe.profile.bins"}),
                       problem_of_profile)});
}

SectionTable spectrum_section() {
  return section(
      &Deck::spectrum, "observe.spectrum",
      "Writes `spectrum.csv` and a picture, after the equilibration: the vibrational density of "
      "states, from the velocities, and the infrared absorption of the whole cluster, from the "
      "time derivative of the dipole moment. A thermostat broadens the lines; for conventions and "
      "cost see [measuring.md](measuring.md#spectra).",
      {
          every_key<ObserveSpectrum>(
              "Interval between samples. The spectrum ends at 16678 cm⁻¹ fs divided by the time "
              "between samples, and faster vibrations are aliased to lower wavenumbers; `every = "
              "1` avoids aliasing."),
          key(&ObserveSpectrum::resolution_per_cm, "resolution_per_cm", from_to(1e-3, 1e5),
              "Full width at half maximum of an infinitely sharp line; the actual width may be "
              "slightly smaller. A segment takes 48 ps cm⁻¹ divided by it (9.6 ps for 5) and at "
              "least 16 samples; rows are 0.69 of it apart."),
          replicas_key<ObserveSpectrum>(every_replica(), kAllOrFirstAveraged),
      },
      {rule("`[observe.spectrum]` requires a single temperature; it must be above 0 K.",
            "observe.spectrum.every",
            {"thermostat.kind", "thermostat.temperature_K", "thermostat.temperatures_K"},
            problem_of_spectrum),
       limit("`[observe.spectrum]` stores at most 10⁸ numbers: a segment of all its replicas, and "
             "the sums for its error bars.",
             spectrum_problem, "observe.spectrum.resolution_per_cm",
             with_length_and({"system.molecules", "system.replicas", "observe.spectrum.every",
                              "observe.spectrum.resolution_per_cm", "observe.spectrum.replicas"}))},
      spectrum_messages);
}

SectionTable correlation_section() {
  return section(
      &Deck::correlation, "observe.correlation",
      "Writes `correlation.csv` and a picture, after the equilibration: rotational correlation "
      "functions (P₁ and P₂) of O-H bonds, H-H vectors and molecular dipoles, lifetimes of "
      "hydrogen bonds, and mean squared displacements of oxygens, averaged over molecules, "
      "replicas and time origins. A thermostat slows these motions; for conventions and cost see "
      "[measuring.md](measuring.md#time-correlation-functions).",
      {
          every_key<ObserveCorrelation>("Interval between samples and between rows. Shorter breaks "
                                        "of hydrogen bonds are not detected."),
          key(&ObserveCorrelation::length_ps, "length_ps", above_to(0, 1e6),
              "Longest lag, rounded to a multiple of the interval (at least one). Time origins are "
              "a sixteenth of it apart, or one sample. The first rows require sixteen origins and "
              "the lag after them, about twice `length_ps`."),
          replicas_key<ObserveCorrelation>(every_replica(), kAllOrFirstAveraged),
      },
      {rule("`[observe.correlation]` requires a single temperature.", "observe.correlation.every",
            {"thermostat.kind", "thermostat.temperatures_K"},
            "[observe.correlation] averages over the replicas and needs a single temperature",
            [](const Checker& c) {
              return c.deck().correlation && has_several_baths(c.deck().thermostat.temperatures_K);
            }),
       limit("`[observe.correlation]` stores at most 10⁸ numbers: time origins and sums of each "
             "replica, and the sums for its error bars.",
             correlation_problem, "observe.correlation.length_ps",
             with_length_and({"system.molecules", "system.replicas", "observe.correlation.every",
                              "observe.correlation.length_ps", "observe.correlation.replicas"}))},
      [](const Deck& deck, Messages& messages) { append(warning_of_correlation(deck), messages); });
}

}  // namespace

double correlation_numbers(const Deck& deck, std::int64_t molecules) {
  if (!deck.correlation) return 0.0;
  const ObserveCorrelation& section = *deck.correlation;
  const int replicas = section.replicas.count_of(deck.system.replicas);
  return analysis::correlation_numbers(static_cast<double>(molecules), replicas, replicas,
                                       correlation_lags(section, deck.integrator.timestep_fs),
                                       static_cast<double>(deck.run.steps / section.every));
}

std::optional<Message> warning_of_correlation(const Deck& deck) {
  if (!deck.correlation) return std::nullopt;
  constexpr auto needed_by = [](const ObserveCorrelation& section, double timestep_fs) {
    return analysis::TimeCorrelation::samples_to_first_window(
        correlation_lags(section, timestep_fs));
  };
  return warning_of_missing_rows(deck, "observe.correlation", *deck.correlation, +needed_by,
                                 &ObserveCorrelation::length_ps, "length_ps", 0.99);
}

std::vector<SectionTable> curve_sections() {
  return {rdf_section(), profile_section(), spectrum_section(), correlation_section()};
}

}  // namespace tarn::decks
