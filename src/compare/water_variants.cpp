#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "deck/system_limits.hpp"
#include "io/words.hpp"
#include "scheme_run.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start_state.hpp"

namespace tarn {
namespace {

constexpr std::string_view kStepKey = ":timestep_fs=";

/// @throws InputError if a value is given twice
template <class T>
void refuse_repetitions(const std::vector<T>& values, const char* each) {
  if (std::set<T>(values.begin(), values.end()).size() == values.size()) return;
  throw InputError(fmt::format("{} must be given only once", each));
}

/// @throws InputError
void check_request(const Deck& deck, const std::vector<std::string>& schemes,
                   const CompareOptions& options) {
  if (!options.reference.empty() && options.steps.empty()) {
    throw InputError(
        "--reference requires --steps; without --steps, the first scheme is the reference");
  }
  if (schemes.empty()) {
    throw InputError("no schemes to compare: list them, such as --schemes shake,zss-stiff");
  }
  if (std::ranges::find(schemes, "") != schemes.end()) {
    throw InputError("--schemes contains an empty scheme: remove the extra comma");
  }
  refuse_repetitions(schemes, "--schemes: each scheme");
  if (deck.exchange) {
    throw InputError(
        deck.path +
        ": tarn compare does not support replica exchange; remove it with --unset exchange");
  }
  if (!options.beads.empty() && !options.steps.empty()) {
    throw InputError("--beads cannot be combined with --steps: compare one of them at a time");
  }
  refuse_repetitions(options.beads, "--beads: each number");
  refuse_repetitions(options.free_rings, "--free-ring: each flow");
  refuse_repetitions(options.frequencies, "--frequencies: each kind");
  for (const double step : options.steps) {
    if (step > 0.0 && std::isfinite(step)) continue;
    throw InputError(fmt::format("--steps {}: a step must be greater than 0 fs", step));
  }
  refuse_repetitions(options.steps, "--steps: each step");
  for (const std::string& scheme : schemes) {
    if (options.steps.empty() || scheme.find(kStepKey) == std::string::npos) continue;
    throw InputError(fmt::format(
        "--schemes {}: --steps sets the steps of all schemes; omit timestep_fs here", scheme));
  }
  if (!options.reference.empty() && !has_thermostat(deck)) {
    throw InputError(deck.path +
                     ": without a thermostat, --steps compares energy conservation and needs no "
                     "reference; omit --reference, or add a [thermostat] to the deck");
  }
}

/// A deck with one flow of the free ring and kind of frequencies, and the end of its labels.
struct RingDeck {
  Deck deck;
  std::string suffix;
};

/// The deck with each flow and kind of frequencies, or as it is.
/// @throws InputError
std::vector<RingDeck> decks_by_ring(const Deck& deck, const CompareOptions& options) {
  std::vector<RingDeck> decks{{deck, ""}};
  const auto vary = [&](const std::vector<std::string>& choices, const std::string& key,
                        const std::string& option, Deck (*with)(const Deck&, const std::string&)) {
    if (choices.empty()) return;
    if (options.beads.empty() && beads_of(deck) == 1) {
      throw InputError(option + " needs a deck with [path_integral] and several beads");
    }
    for (const RingDeck& ring : std::exchange(decks, {})) {
      for (const std::string& choice : choices) {
        decks.push_back({with(ring.deck, choice), ring.suffix + ":" + key + "=" + choice});
      }
    }
  };
  vary(options.frequencies, "frequencies", "--frequencies", with_frequencies);
  vary(options.free_rings, "free_ring", "--free-ring", with_free_ring);
  return decks;
}

Variant with_step(const Deck& deck, const std::string& scheme, const std::string& curve,
                  double timestep_fs) {
  return {fmt::format("{}{}{}", curve, kStepKey, timestep_fs),
          with_scheme(deck, fmt::format("{}{}{}", scheme, kStepKey, timestep_fs)), curve};
}

/// Whether the deck can start twice as many replicas, with the same share in each bath.
bool can_double_replicas(const Deck& deck) {
  if (deck.system.replicas % static_cast<int>(bath_temperatures_K(deck).size()) != 0) return false;
  if (deck.system.replicas > kMaxReplicas / 2) return false;
  return !deck.system.state || read_start_state(deck).state.replicas() == 1;
}

/// The reference of CompareOptions::steps. @throws InputError
Variant reference_of(const Deck& deck, const CompareOptions& options) {
  std::string scheme = options.reference;
  if (scheme.empty()) scheme = is_flexible(deck) ? "verlet" : "settle";
  double step = 0.5 * std::ranges::min(options.steps);
  if (const std::size_t at = scheme.find(kStepKey); at != std::string::npos) {
    const auto given = io::finite_number(std::string_view(scheme).substr(at + kStepKey.size()));
    if (!given || *given <= 0.0) {
      throw InputError(fmt::format(
          "--reference {}: timestep_fs must be the last key and a number greater than 0 fs",
          scheme));
    }
    step = *given;
    scheme.erase(at);
  }
  Variant reference = with_step(deck, scheme, scheme, step);
  reference.label = "reference " + reference.label;
  reference.curve = "reference";
  // The noise must be independent of the other variants, which share theirs if their steps are
  // equal. A distant seed also avoids that of the run that provided the initial state, which is
  // often the next number.
  constexpr std::uint64_t kFar = 1'000'003;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t& seed = reference.deck.system.seed;
  seed = seed > kLargest - kFar ? seed - kFar : seed + kFar;
  // Use more replicas rather than a longer run: means over a different time window differ if the
  // run is not equilibrated.
  if (can_double_replicas(reference.deck)) reference.deck.system.replicas *= 2;
  return reference;
}

/// Changes a sampling interval to the nearest multiple of the step of a variant.
void match_interval(std::int64_t& every, const Deck& deck, const Deck& variant) {
  const double interval_fs = static_cast<double>(every) * deck.integrator.timestep_fs;
  every = std::max<std::int64_t>(1, std::llround(interval_fs / variant.integrator.timestep_fs));
}

}  // namespace

std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options) {
  check_request(deck, schemes, options);
  const std::vector<RingDeck> rings = decks_by_ring(deck, options);
  std::vector<Variant> variants;
  const bool by_step = !options.steps.empty();
  if (by_step && has_thermostat(deck)) variants.push_back(reference_of(deck, options));
  for (const std::string& scheme : schemes) {
    for (const RingDeck& ring : rings) {
      const std::string curve = scheme + ring.suffix;
      for (const double step : options.steps) {
        variants.push_back(with_step(ring.deck, scheme, curve, step));
      }
      for (const int beads : options.beads) {
        variants.push_back({fmt::format("{}:beads={}", curve, beads),
                            with_scheme(with_beads(ring.deck, beads), scheme), curve});
      }
      if (by_step || !options.beads.empty()) continue;
      variants.push_back({curve, with_scheme(ring.deck, scheme), curve});
    }
  }
  for (Variant& variant : variants) {
    Deck& own = variant.deck;
    if (!own.rdf) own.rdf = ObserveRdf{};
    if (by_step) {
      if (!own.energies) own.energies = ObserveTable{};
      match_interval(own.energies->every, deck, own);
      match_interval(own.rdf->every, deck, own);
    }
    // Hydrogen-bond lifetimes depend on the sampling interval, which must be equal for all.
    if (own.correlation) match_interval(own.correlation->every, deck, own);
    if (options.device) own.run.device = *options.device;
    if (options.threads) own.run.threads = *options.threads;
  }
  return variants;
}

}  // namespace tarn
