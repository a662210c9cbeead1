#include <algorithm>
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
    std::vector<RingDeck> varied;
    for (const RingDeck& ring : decks) {
      for (const std::string& choice : choices) {
        varied.push_back({with(ring.deck, choice), ring.suffix + ":" + key + "=" + choice});
      }
    }
    decks = std::move(varied);
  };
  vary(options.frequencies, "frequencies", "--frequencies", with_frequencies);
  vary(options.free_rings, "free_ring", "--free-ring", with_free_ring);
  return decks;
}

template <class T>
bool has_duplicates(const std::vector<T>& values) {
  return std::set<T>(values.begin(), values.end()).size() != values.size();
}

/// @throws InputError
void check_rings(const CompareOptions& options) {
  if (!options.beads.empty() && !options.steps.empty()) {
    throw InputError("--beads cannot be combined with --steps: compare one of them at a time");
  }
  if (has_duplicates(options.beads)) {
    throw InputError("--beads: each number must be given only once");
  }
  if (has_duplicates(options.free_rings)) {
    throw InputError("--free-ring: each flow must be given only once");
  }
  if (has_duplicates(options.frequencies)) {
    throw InputError("--frequencies: each kind must be given only once");
  }
}

Variant with_step(const Deck& deck, const std::string& scheme, const std::string& suffix,
                  double timestep_fs) {
  return {.label = fmt::format("{}{}:timestep_fs={}", scheme, suffix, timestep_fs),
          .deck = with_scheme_and_step(deck, scheme, timestep_fs),
          .curve_label = scheme + suffix};
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

constexpr std::string_view kStepKey = ":timestep_fs=";

/// @throws InputError if a step is not greater than 0 or given twice, or if a scheme sets its step
void check_steps(const std::vector<std::string>& schemes, const CompareOptions& options) {
  for (const double step : options.steps) {
    if (!(step > 0.0) || !std::isfinite(step)) {
      throw InputError(fmt::format("--steps {}: a step must be greater than 0 fs", step));
    }
  }
  if (std::set<double>(options.steps.begin(), options.steps.end()).size() != options.steps.size()) {
    throw InputError("--steps: each step must be given only once");
  }
  for (const std::string& scheme : schemes) {
    if (scheme.find(kStepKey) == std::string::npos) continue;
    throw InputError(fmt::format(
        "--schemes {}: --steps sets the steps of all schemes; omit timestep_fs here", scheme));
  }
}

struct ReferenceScheme {
  std::string scheme;          ///< without the step
  std::optional<double> step;  ///< if given; it must be the last key
};

/// Parses `--reference`. @throws InputError
ReferenceScheme reference_scheme(const std::string& spec) {
  const std::size_t at = spec.find(kStepKey);
  if (at == std::string::npos) return {spec, {}};
  const auto step = io::finite_number(std::string_view(spec).substr(at + kStepKey.size()));
  if (!step || *step <= 0.0) {
    throw InputError(fmt::format(
        "--reference {}: timestep_fs must be the last key and a number greater than 0 fs", spec));
  }
  return {spec.substr(0, at), step};
}

/// The reference, if there is one, and each scheme with each step.
std::vector<Variant> variants_by_step(const Deck& deck, const std::vector<std::string>& schemes,
                                      const CompareOptions& options) {
  constexpr int kReferenceReplicas = 2;  // relative to the other variants
  check_steps(schemes, options);
  std::vector<Variant> variants;
  const std::vector<RingDeck> decks = decks_by_ring(deck, options);
  const std::size_t curves = schemes.size() * decks.size();
  const auto add_all = [&] {
    std::size_t curve = 0;
    for (const std::string& scheme : schemes) {
      for (const RingDeck& ring : decks) {
        for (const double timestep_fs : options.steps) {
          variants.push_back(with_step(ring.deck, scheme, ring.suffix, timestep_fs));
          variants.back().curve = curve;
        }
        ++curve;
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
      reference_scheme(options.reference.empty() ? usual : options.reference);
  variants.push_back(with_step(deck, chosen.scheme, "", chosen.step.value_or(0.5 * smallest)));
  Variant& reference = variants.front();
  reference.label = "reference " + reference.label;
  reference.curve = curves;
  reference.curve_label = "reference";
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

/// Each scheme with each flow of the free ring, kind of frequencies and number of beads.
std::vector<Variant> variants_by_beads(const Deck& deck, const std::vector<std::string>& schemes,
                                       const CompareOptions& options) {
  std::vector<Variant> variants;
  const auto add = [&](const Deck& base, const std::string& scheme, const std::string& curve_label,
                       const std::string& suffix, std::size_t curve) {
    variants.push_back({curve_label + suffix, with_scheme(base, scheme), curve, curve_label});
    // Hydrogen-bond lifetimes depend on the sampling interval, which must be equal for all.
    match_correlation_interval(deck, variants.back().deck);
  };
  std::size_t curve = 0;
  for (const std::string& scheme : schemes) {
    for (const RingDeck& ring : decks_by_ring(deck, options)) {
      const std::string curve_label = scheme + ring.suffix;
      if (options.beads.empty()) add(ring.deck, scheme, curve_label, "", curve);
      for (const int beads : options.beads) {
        add(with_beads(ring.deck, beads), scheme, curve_label, fmt::format(":beads={}", beads),
            curve);
      }
      ++curve;
    }
  }
  return variants;
}

}  // namespace

bool has_thermostat(const Deck& deck) { return deck.thermostat.kind != Thermostat::none; }

std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options) {
  check_rings(options);
  std::vector<Variant> variants = options.steps.empty() ? variants_by_beads(deck, schemes, options)
                                                        : variants_by_step(deck, schemes, options);
  for (Variant& variant : variants) {
    if (!variant.deck.rdf) variant.deck.rdf = ObserveRdf{};
    if (options.device) variant.deck.run.device = *options.device;
    if (options.threads) variant.deck.run.threads = *options.threads;
  }
  return variants;
}

}  // namespace tarn
