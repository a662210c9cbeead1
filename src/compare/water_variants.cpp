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

/// Whether the deck has a start for twice the replicas, with the same share of each bath.
bool starts_twice_as_many(const Deck& deck) {
  if (deck.system.replicas % static_cast<int>(bath_temperatures_K(deck).size()) != 0) return false;
  if (deck.system.replicas > kMaxReplicas / 2) return false;
  return !deck.system.state || read_start_state(deck).state.replicas() == 1;
}

/// Another seed that a deck can have, far from this one.
std::uint64_t other_seed(std::uint64_t seed) {
  constexpr std::uint64_t kFar = 1'000'003;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return seed > kLargest - kFar ? seed - kFar : seed + kFar;
}

/// Each scheme with each step, after the reference where there is one.
std::vector<Variant> variants_by_step(const Deck& deck, const std::vector<std::string>& schemes,
                                      const CompareOptions& options) {
  constexpr int kReferenceMore = 2;
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
  if (!has_bath(deck)) {
    if (!options.reference.empty()) {
      throw InputError(deck.path +
                       ": without a thermostat --steps tells how well schemes conserve the energy, "
                       "against nothing else; leave --reference out, or give the deck a "
                       "[thermostat]");
    }
    add_all();
    return variants;
  }
  const double smallest = *std::min_element(options.steps.begin(), options.steps.end());
  const ReferenceScheme chosen = reference_scheme(
      options.reference.empty() ? "settle" : options.reference, "timestep_fs", " fs");
  variants.push_back(with_step(deck, chosen.scheme, chosen.step.value_or(0.5 * smallest)));
  Variant& reference = variants.front();
  reference.label = "reference " + reference.label;
  reference.curve = schemes.size();
  // Other noise than that of the others, which share theirs where their steps are the same; and
  // than that of the run whose state they start from, which is likely to have a seed next to
  // theirs.
  reference.deck.system.seed = other_seed(reference.deck.system.seed);
  // More replicas and not a longer run: means over another window of time differ where the start
  // is not forgotten.
  if (starts_twice_as_many(reference.deck)) reference.deck.system.replicas *= kReferenceMore;
  add_all();
  return variants;
}

}  // namespace

bool has_bath(const Deck& deck) { return deck.thermostat.kind != Thermostat::none; }

std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options) {
  std::vector<Variant> variants;
  if (!options.steps.empty()) {
    variants = variants_by_step(deck, schemes, options);
  } else {
    for (std::size_t k = 0; k < schemes.size(); ++k) {
      variants.push_back({schemes[k], with_scheme(deck, schemes[k]), k});
      // What a bond does between two samples is not seen: they are as far apart for all.
      correlate_as_often(deck, variants.back().deck);
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
