#include "water_variants.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "error_cost.hpp"
#include "step_options.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start_state.hpp"

namespace tarn {
namespace {

Variant with_step(const Deck& deck, const std::string& scheme, double timestep_fs) {
  return {fmt::format("{}:timestep_fs={}", scheme, timestep_fs),
          with_scheme_and_step(deck, scheme, timestep_fs)};
}

/// Whether the deck can start twice as many replicas, with the same share in each bath.
bool can_double_replicas(const Deck& deck) {
  if (deck.system.replicas % static_cast<int>(bath_temperatures_K(deck).size()) != 0) return false;
  if (deck.system.replicas > kMaxReplicas / 2) return false;
  return !deck.system.state || read_start_state(deck).state.replicas() == 1;
}

/// Another valid seed, far from this one.
std::uint64_t distant_seed(std::uint64_t seed) {
  constexpr std::uint64_t kFar = 1'000'003;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return seed > kLargest - kFar ? seed - kFar : seed + kFar;
}

/// The reference, if there is one, and each scheme with each step.
std::vector<Variant> variants_by_step(const Deck& deck, const std::vector<std::string>& schemes,
                                      const CompareOptions& options) {
  constexpr int kReferenceReplicas = 2;  // relative to the other variants
  check_steps(schemes, options, "timestep_fs", " fs");
  std::vector<Variant> variants;
  const auto add_all = [&] {
    for (std::size_t k = 0; k < schemes.size(); ++k) {
      for (const double timestep_fs : options.steps) {
        variants.push_back(with_step(deck, schemes[k], timestep_fs));
        variants.back().curve = k;
      }
    }
  };
  if (!has_thermostat(deck)) {
    if (!options.reference.empty()) {
      throw InputError(deck.path +
                       ": without a thermostat, --steps compares energy conservation and needs no "
                       "reference; omit --reference, or add a [thermostat] to the deck");
    }
    add_all();
    return variants;
  }
  const double smallest = *std::min_element(options.steps.begin(), options.steps.end());
  const std::string usual = is_flexible(deck) ? "verlet" : "settle";
  const ReferenceScheme chosen =
      reference_scheme(options.reference.empty() ? usual : options.reference, "timestep_fs", " fs");
  variants.push_back(with_step(deck, chosen.scheme, chosen.step.value_or(0.5 * smallest)));
  Variant& reference = variants.front();
  reference.label = "reference " + reference.label;
  reference.curve = schemes.size();
  // The noise must be independent of the other variants, which share theirs if their steps are
  // equal. A distant seed also avoids that of the run that provided the initial state, which is
  // often the next number.
  reference.deck.system.seed = distant_seed(reference.deck.system.seed);
  // Use more replicas rather than a longer run: means over a different time window differ if the
  // run is not equilibrated.
  if (can_double_replicas(reference.deck)) reference.deck.system.replicas *= kReferenceReplicas;
  add_all();
  return variants;
}

}  // namespace

bool has_thermostat(const Deck& deck) { return deck.thermostat.kind != Thermostat::none; }

std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options) {
  std::vector<Variant> variants;
  if (!options.steps.empty()) {
    variants = variants_by_step(deck, schemes, options);
  } else {
    for (std::size_t k = 0; k < schemes.size(); ++k) {
      variants.push_back({schemes[k], with_scheme(deck, schemes[k]), k});
      // Hydrogen-bond lifetimes depend on the sampling interval, which must be equal for all.
      match_correlation_interval(deck, variants.back().deck);
    }
  }
  for (Variant& variant : variants) {
    if (!variant.deck.rdf) variant.deck.rdf = ObserveRdf{};
    if (options.device) variant.deck.run.device = *options.device;
    if (options.threads) variant.deck.run.threads = *options.threads;
  }
  return variants;
}

}  // namespace tarn
