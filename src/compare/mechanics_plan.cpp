#include "mechanics_plan.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "run/mechanics_experiment.hpp"
#include "step_options.hpp"
#include "tarn/analysis/convergence.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

constexpr std::int64_t kSamples = 1000;
/// Largest amount of numbers in all samples together.
constexpr double kMaxNumbers = 3e7;

[[noreturn]] void throw_deck_error(const Deck& deck, const std::string& message) {
  throw InputError({Problem{deck.path, 0, 0, message}});
}

/// @throws InputError if the scheme has no time steps
void check_has_steps(const Deck& deck, const std::string& scheme) {
  if (deck.mechanics.integrator.scheme != MechanicsScheme::slow_manifold) return;
  throw InputError(scheme + " has no time steps and cannot be compared");
}

/// The times at which all steps have a sample.
analysis::CommonTimes times_of(const Deck& deck, const std::vector<double>& steps) {
  const MechanicsRunSection& run = deck.mechanics.run;
  const double duration =
      run.duration.value_or(static_cast<double>(run.steps) * deck.mechanics.integrator.step);
  if (!(duration > 0.0)) {
    throw_deck_error(deck, "--steps: the run has no length; set [run] duration");
  }
  const auto times = analysis::common_times(steps, duration);
  if (!times) {
    throw_deck_error(
        deck, fmt::format("--steps {}: no time up to the end of the run ({:g}) is a multiple of "
                          "all steps. Use steps such as 0.1,0.05,0.025, or a longer run",
                          fmt::join(steps, ","), duration));
  }
  return *times;
}

/// The number of common times between samples that limits the samples to a reasonable number.
std::int64_t intervals_per_sample(const analysis::CommonTimes& times, double numbers_per_sample) {
  const double max_samples = std::clamp(kMaxNumbers / numbers_per_sample, 10.0, double{kSamples});
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(static_cast<double>(times.count) / max_samples)));
}

/// @throws InputError if samples would not fall on steps of the reference and of twice its step
void check_reference_step(double step, const analysis::CommonTimes& times,
                          const std::string& spec) {
  const double pairs = times.interval / (2.0 * step);
  if (std::abs(pairs - std::round(pairs)) <= 1e-9 * pairs && pairs >= 0.5) return;
  throw InputError(fmt::format(
      "--reference {}: {:g}, the time between samples, must be a multiple of twice its step", spec,
      times.interval));
}

MechanicsPlan plan_by_step(const Deck& deck, const std::vector<std::string>& schemes,
                           const CompareOptions& options) {
  check_steps(schemes, options, "step", "");
  MechanicsPlan plan;
  std::vector<Deck> decks;
  for (const std::string& scheme : schemes) {
    decks.push_back(with_scheme(deck, scheme));
    check_has_steps(decks.back(), scheme);
  }
  const analysis::CommonTimes times = times_of(deck, options.steps);
  plan.time = times.interval * static_cast<double>(times.count);
  const double columns = static_cast<double>(make_mechanics_case(decks.front())->columns().size());
  const std::int64_t sample_every = intervals_per_sample(
      times, columns * static_cast<double>(schemes.size() * options.steps.size() + 3));

  const ReferenceScheme given = reference_scheme(options.reference, "step", "");
  plan.refines = !given.step;
  const double smallest = *std::min_element(options.steps.begin(), options.steps.end());
  const double step = given.step.value_or(0.25 * smallest);
  if (given.step) check_reference_step(step, times, options.reference);
  for (std::size_t k = 0; k < schemes.size(); ++k) {
    const std::string scheme = given.scheme.empty()      ? reference_for(decks[k])
                               : given.scheme == "rigid" ? rigid_reference_for(decks[k])
                                                         : given.scheme;
    auto& all = plan.references;
    const auto same = [&](const MechanicsReference& r) { return r.scheme() == scheme; };
    const auto found = std::find_if(all.begin(), all.end(), same);
    const auto place = static_cast<std::size_t>(found - all.begin());
    if (found == all.end()) all.emplace_back(deck, scheme, step, times, sample_every);
    for (const double h : options.steps) {
      MechanicsVariant& v = plan.variants.emplace_back();
      v.label = fmt::format("{}:step={}", schemes[k], h);
      v.deck = with_scheme(deck, v.label);
      const std::int64_t interval = std::llround(times.interval / h);
      v.steps = times.count * interval;
      v.sample_every = sample_every * interval;
      v.scheme = k;
      v.reference = place;
    }
  }
  return plan;
}

}  // namespace

MechanicsPlan plan_mechanics(const Deck& deck, const std::vector<std::string>& schemes,
                             const CompareOptions& options) {
  if (!options.steps.empty()) return plan_by_step(deck, schemes, options);
  MechanicsPlan plan;
  for (std::size_t k = 0; k < schemes.size(); ++k) {
    MechanicsVariant& v = plan.variants.emplace_back();
    v.label = schemes[k];
    v.deck = with_scheme(deck, schemes[k]);
    check_has_steps(v.deck, v.label);
    v.steps = v.deck.mechanics.run.steps;
    v.sample_every = std::max<std::int64_t>(v.steps / kSamples, 1);
    v.scheme = k;
  }
  return plan;
}

}  // namespace tarn
