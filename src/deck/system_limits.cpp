#include "system_limits.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "core/count_text.hpp"
#include "ring_keys.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/analysis/correlation.hpp"

namespace tarn::decks {

std::optional<std::string> system_problem(const Deck& deck, std::int64_t molecules) {
  const auto in_section = [](const char* section, std::optional<std::string> problem) {
    if (problem) problem = fmt::format("[{}] {}", section, *problem);
    return problem;
  };
  if (auto problem = size_problem(molecules, deck.system.replicas, beads_of(deck))) return problem;
  if (auto problem = lone_molecule_problem(deck, molecules)) return problem;
  if (auto problem = total_hessian_problem(deck.integrator, molecules)) return problem;
  if (auto problem = in_section("observe.cluster", lindemann_problem(deck, molecules))) {
    return problem;
  }
  if (auto problem = in_section("observe.minima", minima_problem(deck, molecules))) return problem;
  if (auto problem = in_section("observe.spectrum", spectrum_problem(deck, molecules))) {
    return problem;
  }
  return in_section("observe.correlation", correlation_problem(deck, molecules));
}

std::size_t distinct_baths(const Deck& deck) {
  const std::vector<double>& ladder_K = deck.thermostat.temperatures_K;
  return has_several_baths(ladder_K) ? std::set(ladder_K.begin(), ladder_K.end()).size() : 1;
}

std::optional<std::string> total_hessian_problem(const IntegratorSection& integrator,
                                                 std::int64_t molecules) {
  if (integrator.scheme != Scheme::zss_stiff || integrator.hessian != Hessian::total) {
    return std::nullopt;
  }
  if (molecules <= kMaxTotalHessianMolecules) return std::nullopt;
  return fmt::format(
      "hessian = \"total\" supports at most {2} molecules, not {1}: each step factorises a {0}×{0} "
      "matrix",
      9 * molecules, molecules, kMaxTotalHessianMolecules);
}

std::optional<std::string> lone_molecule_problem(const Deck& deck, std::int64_t molecules) {
  if (molecules != 1 || !deck.system.remove_momentum) return std::nullopt;
  if (deck.thermostat.kind != Thermostat::none) return std::nullopt;
  return "remove_momentum = true stops a single molecule completely; remove it, or use two "
         "molecules or a thermostat";
}

std::optional<std::string> size_problem(std::int64_t molecules, std::int64_t replicas,
                                        std::int64_t beads) {
  const std::int64_t total = molecules * replicas * beads;
  if (total <= kMaxTotalMolecules) return std::nullopt;
  return fmt::format(
      "{2} molecules ({0} of {1}{5}) exceed the limit of {4}; positions and velocities alone would "
      "take {3:.1f} GB",
      count_text(replicas, "replica"), molecules, total, static_cast<double>(total) * 144e-9,
      kMaxTotalMolecules, beads > 1 ? fmt::format(" with {} beads", beads) : "");
}

std::optional<std::string> spectrum_problem(const Deck& deck, std::int64_t molecules) {
  if (!deck.spectrum) return std::nullopt;
  // 4 bytes each, also in every checkpoint.
  constexpr double kMaxNumbers = 1e8;
  const int replicas = deck.spectrum->replicas.count_of(deck.system.replicas);
  const std::size_t samples = spectrum_samples(deck);
  const auto size = static_cast<double>(samples);
  const double velocities = 9.0 * static_cast<double>(molecules) * replicas * size;
  // Two quantities at half as many frequencies, of doubles; segments overlap by half.
  const double segments = 2.0 * static_cast<double>(deck.run.steps / deck.spectrum->every) / size;
  const double sums =
      2.0 * size * analysis::PooledBlocking::of_replicas(replicas).max_numbers(segments);
  if (velocities + sums <= kMaxNumbers) return std::nullopt;
  return fmt::format(
      "{} samples per segment of {} velocities of {} are {:.2g} numbers, with {:.2g} for error "
      "bars; "
      "the limit is {:.0e}. Increase every or resolution_per_cm, or write replicas = n",
      samples, 9 * molecules, count_text(replicas, "replica"), velocities, sums, kMaxNumbers);
}

double correlation_numbers(const Deck& deck, std::int64_t molecules) {
  if (!deck.correlation) return 0.0;
  const ObserveCorrelation& section = *deck.correlation;
  const int replicas = section.replicas.count_of(deck.system.replicas);
  return analysis::correlation_numbers(static_cast<double>(molecules), replicas, replicas,
                                       correlation_lags(section, deck.integrator.timestep_fs),
                                       static_cast<double>(deck.run.steps / section.every));
}

std::optional<std::string> correlation_problem(const Deck& deck, std::int64_t molecules) {
  const double numbers = correlation_numbers(deck, molecules);
  if (numbers <= analysis::kMaxCorrelationNumbers) return std::nullopt;
  const int replicas = deck.correlation->replicas.count_of(deck.system.replicas);
  return fmt::format(
      "{} samples up to length_ps are {:.2g} numbers for {}, with error bars; the limit "
      "is {:.0e}. Increase every, reduce length_ps, or write replicas = n",
      correlation_lags(*deck.correlation, deck.integrator.timestep_fs), numbers,
      count_text(replicas, "replica"), analysis::kMaxCorrelationNumbers);
}

std::optional<std::string> minima_problem(const Deck& deck, std::int64_t molecules) {
  if (!deck.minima) return std::nullopt;
  // 8 bytes each, also in every checkpoint.
  constexpr double kMaxNumbers = 1e8;
  const std::size_t baths = distinct_baths(deck);
  const auto of_bath = static_cast<int>(
      std::max<std::size_t>(1, static_cast<std::size_t>(deck.system.replicas) / baths));
  const auto samples = static_cast<double>(deck.run.steps / deck.minima->every + 1);
  const double sums = static_cast<double>(baths) *
                      analysis::PooledBlocking::of_replicas(of_bath).max_numbers(samples * of_bath);
  const double structure = 9.0 * static_cast<double>(molecules);
  const double numbers = (deck.minima->isomers + 1.0) * (structure + sums);
  if (numbers <= kMaxNumbers) return std::nullopt;
  return fmt::format(
      "{} of {:.2g} numbers each, with {:.2g} for error bars of {}, exceed the limit of {:.0e} "
      "numbers; reduce isomers{}",
      count_text(deck.minima->isomers, "isomer"), structure, sums,
      count_text(static_cast<std::int64_t>(baths), "temperature"), kMaxNumbers,
      baths > 1 ? " or the number of temperatures" : "");
}

std::optional<std::string> lindemann_problem(const Deck& deck, std::int64_t molecules) {
  if (!deck.cluster || !deck.cluster->lindemann) return std::nullopt;
  const std::int64_t pairs = molecules * (molecules - 1) / 2 * deck.system.replicas;
  if (pairs <= analysis::LindemannIndex::kMostPairs) return std::nullopt;
  return fmt::format(
      "the Lindemann index of {} pairs of molecules exceeds the limit of {}; write lindemann = "
      "false",
      pairs, analysis::LindemannIndex::kMostPairs);
}

}  // namespace tarn::decks
