#include "mechanics_compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "mechanics_contestant.hpp"
#include "mechanics_drift.hpp"
#include "mechanics_errors.hpp"
#include "run/mechanics_experiment.hpp"
#include "run/progress.hpp"
#include "step_options.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/version.hpp"
#include "turns.hpp"

namespace tarn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSamples = 1000;
/// Numbers that all samples together may take.
constexpr double kMostNumbers = 3e7;
/// Runs are timed so often, as far as that takes no longer than so many seconds.
constexpr int kTimings = 5;
constexpr double kMostTiming_s = 4.0;
/// The error of a reference that is small enough, beside the smallest that is measured with it.
constexpr double kSmallEnough = 0.01;
/// Steps of a reference: so many times those of the smallest step, or until all positions and
/// velocities together are so many numbers, if that is more.
constexpr std::int64_t kMostTimesTheSteps = 64;
constexpr double kMostReferenceNumbers = 3e7;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void refuse(const Deck& deck, const std::string& message) {
  throw InputError({Problem{deck.path, 0, 0, message}});
}

void refuse_without_time(const Deck& deck, const std::string& scheme) {
  if (deck.mechanics.integrator.scheme != MechanicsScheme::slow_manifold) return;
  throw InputError(scheme + " makes no steps in time and is not compared");
}

std::string list_of(const std::vector<double>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

analysis::CommonTimes times_of(const Deck& deck, const std::vector<double>& steps) {
  const MechanicsRunSection& run = deck.mechanics.run;
  const double duration =
      run.duration.value_or(static_cast<double>(run.steps) * deck.mechanics.integrator.step);
  if (!(duration > 0.0)) {
    refuse(deck, "--steps compares runs of some length; give [run] a duration");
  }
  const auto times = analysis::common_times(steps, duration);
  if (!times) {
    refuse(deck, fmt::format("--steps {}: no time up to the end, {:g}, is a whole number of each "
                             "step; take steps like 0.1,0.05,0.025, or a longer run",
                             list_of(steps), duration));
  }
  return *times;
}

/// Intervals between samples, so that there are not too many of them.
std::int64_t intervals_between_looks(const analysis::CommonTimes& times, double numbers_a_sample) {
  const double most = std::clamp(kMostNumbers / numbers_a_sample, 10.0, double{kSamples});
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(static_cast<double>(times.count) / most)));
}

MechanicsPlan plan_by_step(const Deck& deck, const std::vector<std::string>& schemes,
                           const CompareOptions& options) {
  check_steps(schemes, options, "step", "");
  MechanicsPlan plan;
  std::vector<Deck> decks;
  for (const std::string& scheme : schemes) {
    decks.push_back(with_scheme(deck, scheme));
    refuse_without_time(decks.back(), scheme);
  }
  const analysis::CommonTimes times = times_of(deck, options.steps);
  plan.time = times.interval * static_cast<double>(times.count);
  const double columns = static_cast<double>(make_mechanics_case(decks.front())->columns().size());
  const std::int64_t look_every = intervals_between_looks(
      times, columns * static_cast<double>(schemes.size() * options.steps.size() + 3));

  const ReferenceScheme given = reference_scheme(options.reference, "step", "");
  plan.refines = !given.step;
  const double smallest = *std::min_element(options.steps.begin(), options.steps.end());
  const double step = given.step.value_or(0.25 * smallest);
  if (given.step) {
    const double pairs = times.interval / (2.0 * step);
    if (std::abs(pairs - std::round(pairs)) > 1e-9 * pairs || pairs < 0.5) {
      throw InputError(fmt::format(
          "--reference {}: its step and twice that must fit into {:g}, the time between samples",
          options.reference, times.interval));
    }
  }
  for (std::size_t k = 0; k < schemes.size(); ++k) {
    const std::string scheme = given.scheme.empty()      ? reference_for(decks[k])
                               : given.scheme == "rigid" ? rigid_reference_for(decks[k])
                                                         : given.scheme;
    auto& all = plan.references;
    const auto same = [&](const MechanicsReference& r) { return r.scheme() == scheme; };
    const auto found = std::find_if(all.begin(), all.end(), same);
    const auto place = static_cast<std::size_t>(found - all.begin());
    if (found == all.end()) all.emplace_back(deck, scheme, step, times, look_every);
    for (const double h : options.steps) {
      MechanicsVariant& v = plan.variants.emplace_back();
      v.label = fmt::format("{}:step={}", schemes[k], h);
      v.deck = with_scheme(deck, v.label);
      const std::int64_t interval = std::llround(times.interval / h);
      v.steps = times.count * interval;
      v.look_every = look_every * interval;
      v.scheme = k;
      v.reference = place;
    }
  }
  return plan;
}

/// Schemes of a mechanical system, side by side.
class MechanicsComparison {
 public:
  MechanicsComparison(MechanicsPlan plan, const std::vector<std::string>& schemes,
                      const CompareOptions& options, CompareResult& result)
      : plan_(std::move(plan)), schemes_(schemes), options_(options), result_(result) {
    for (const MechanicsVariant& v : plan_.variants) {
      contestants_.emplace_back(v.deck, v.label, v.steps, v.look_every, by_step());
      total_ += v.steps;
      longest_ = std::max(longest_, v.steps);
    }
    for (const MechanicsReference& r : plan_.references) {
      total_ += r.steps_of(r.step()) + r.steps_of(2.0 * r.step());
    }
  }

  void go() {
    if (options_.on_start) options_.on_start({result_.out_dir, result_.device, 0, 1, 0, total_});
    run();
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
      result_.mechanics.push_back(contestants_[k].result());
      MechanicsSchemeResult& r = result_.mechanics.back();
      r.scheme = plan_.variants[k].scheme;
      if (!r.failure.empty()) warn(r.label + ": " + r.failure);
    }
    for (std::size_t k = 0; k < plan_.references.size() && !result_.interrupted; ++k) measure(k);
    tell_progress(0);
    write_table();
    if (!by_step()) {
      show_drift();
      return;
    }
    result_.time = plan_.time;
    result_.orders = orders_of(result_.mechanics, schemes_);
    write_orders();
    draw();
  }

 private:
  bool by_step() const { return !plan_.references.empty(); }

  bool goes_on() const { return !(options_.interrupted && options_.interrupted()); }

  void tell_progress(std::int64_t steps) {
    done_ += steps;
    if (options_.on_progress) {
      options_.on_progress(progress_of(done_, 0, total_, seconds_since(begin_)));
    }
  }

  void run() {
    std::int64_t told = 0;
    const auto tell = [&] {
      std::int64_t steps = 0;
      for (const MechanicsContestant& c : contestants_) steps += c.step();
      tell_progress(steps - std::exchange(told, steps));
    };
    const std::int64_t done = run_in_turns(
        longest_,
        [&](std::int64_t step) {
          for (MechanicsContestant& c : contestants_) c.advance_to(step, longest_);
        },
        [&](std::int64_t) {
          tell();
          return goes_on();
        });
    result_.interrupted = done < longest_;
    // One that has failed makes no more steps.
    total_ = 0;
    for (std::size_t k = 0; k < contestants_.size(); ++k) total_ += contestants_[k].step();
    for (const MechanicsReference& r : plan_.references) {
      total_ += r.steps_of(r.step()) + r.steps_of(2.0 * r.step());
    }
    tell();
    const Clock::time_point begin = Clock::now();
    for (int k = 1; by_step() && k < kTimings && goes_on(); ++k) {
      double round = 0.0;
      for (const MechanicsContestant& c : contestants_) round += c.seconds();
      if (seconds_since(begin) + round > kMostTiming_s) break;
      for (MechanicsContestant& c : contestants_) c.time_again();
    }
  }

  /// Errors against one of the references, which is made as good as they need.
  void measure(std::size_t place) {
    MechanicsReference& reference = plan_.references[place];
    std::vector<std::size_t> own;
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
      if (plan_.variants[k].reference == place) own.push_back(k);
    }
    if (std::all_of(own.begin(), own.end(),
                    [&](std::size_t k) { return !result_.mechanics[k].failure.empty(); })) {
      total_ -= reference.steps_of(reference.step()) + reference.steps_of(2.0 * reference.step());
      return;
    }
    const MechanicsReference::OnSteps on_steps = [&](std::int64_t steps) {
      tell_progress(steps);
      return goes_on();
    };
    bool goes = reference.run(on_steps);
    take_errors(reference, own);
    const Samples& samples = contestants_[own.front()].samples();
    const double columns = samples.q.empty() ? 1.0 : static_cast<double>(2 * samples.q[0].size());
    const std::int64_t most = std::max(kMostTimesTheSteps * longest_,
                                       static_cast<std::int64_t>(kMostReferenceNumbers / columns));
    while (goes && plan_.refines && reference.can_be_refined() && !is_good_enough(own)) {
      const std::int64_t steps = reference.steps_of(0.5 * reference.last_step());
      if (steps > most) break;
      total_ += steps;
      const auto refined = reference.refine(on_steps);
      goes = refined != MechanicsReference::Refined::ended;
      if (refined == MechanicsReference::Refined::better) take_errors(reference, own);
    }
    result_.interrupted = result_.interrupted || !goes;
    warn_of(reference, own);
  }

  void take_errors(const MechanicsReference& reference, const std::vector<std::size_t>& own) {
    for (const std::size_t k : own) {
      MechanicsSchemeResult& r = result_.mechanics[k];
      r.reference = reference.label();
      r.reference_errors = reference.errors();
      if (r.failure.empty()) r.errors = difference(contestants_[k].samples(), reference.samples());
    }
  }

  /// Whether nothing is left to be gained: errors that are known are far larger than that of the
  /// reference.
  bool is_good_enough(const std::vector<std::size_t>& own) const {
    const auto good = [&](double TrajectoryErrors::*value) {
      return std::all_of(own.begin(), own.end(), [&](std::size_t k) {
        const MechanicsSchemeResult& r = result_.mechanics[k];
        if (!r.failure.empty()) return true;
        if (contestants_[k].samples().v.front().size() != columns_of_v(k) &&
            value == &TrajectoryErrors::v_max) {
          return true;
        }
        return r.reference_errors.*value <= kSmallEnough * r.errors.*value;
      });
    };
    return good(&TrajectoryErrors::q_max) && good(&TrajectoryErrors::v_max);
  }

  void warn_of(const MechanicsReference& reference, const std::vector<std::size_t>& own) const {
    std::size_t doubtful = 0, all = 0;
    for (const std::size_t k : own) {
      const MechanicsSchemeResult& r = result_.mechanics[k];
      if (!r.failure.empty()) continue;
      ++all;
      if (!(r.errors.q_max >= analysis::kMinErrorRatio * r.reference_errors.q_max)) ++doubtful;
    }
    if (doubtful == 0 || result_.interrupted) return;
    if (reference.samples().q.empty()) {
      warn(
          fmt::format("the reference {} failed, so that no error against it is known; give another "
                      "with --reference",
                      reference.label()));
      return;
    }
    warn(
        fmt::format("the reference {} has an error of up to {:.1e} itself, so that {} of {} errors "
                    "against it are not believed. A shorter run.duration may help where "
                    "trajectories part, or a --reference with a smaller step",
                    reference.label(), reference.errors().q_max, doubtful, all));
  }

  std::string provenance(const char* what) const {
    return fmt::format("tarn {}; {}; {}", kVersion, plan_.variants.front().deck.system.kind, what);
  }

  void write_table() const {
    const std::string path = result_.out_dir + "/compare.csv";
    std::vector<std::string> header{"scheme",
                                    "steps",
                                    "steps_per_s",
                                    "linear_solves_per_step",
                                    "iterations_per_step",
                                    "force_evaluations",
                                    "hessian_evaluations",
                                    "third_derivative_evaluations"};
    const std::vector<std::string> conserved = conserved_names(result_.mechanics);
    for (const std::string& name : conserved) header.push_back(name + "_change_max");
    header.insert(header.end(), {"step", "us_per_time", "forces_per_time"});
    if (by_step()) {
      header.insert(header.end(), {"error_q_max", "error_q_end", "error_v_max", "error_v_end",
                                   "reference_error_q_max", "reference_error_q_end",
                                   "reference_error_v_max", "reference_error_v_end", "reference"});
    }
    header.push_back("failed_at");
    io::CsvFormat csv(path, header);
    std::string text = csv.head(provenance(
        by_step() ? "largest changes since the start; Euclidean norms of errors in the columns q "
                    "and v of trajectory.csv, largest and at the end"
                  : "largest changes since the start"));
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    for (const MechanicsSchemeResult& s : result_.mechanics) {
      csv.cell(std::string_view(s.label)).cell(s.steps).cell(s.steps_per_second);
      csv.cell(s.linear_solves_per_step).cell(s.iterations_per_step);
      csv.cell(s.force_evaluations).cell(s.hessian_evaluations);
      csv.cell(s.third_derivative_evaluations);
      for (std::size_t k = 0; k < conserved.size(); ++k) {
        csv.cell_or_nan(k < s.changes.size() ? s.changes[k].second : kNone);
      }
      csv.cell(s.step).cell_or_nan(s.us_per_time).cell_or_nan(s.forces_per_time);
      if (by_step()) {
        for (const TrajectoryErrors* e : {&s.errors, &s.reference_errors}) {
          for (const double error : {e->q_max, e->q_end, e->v_max, e->v_end}) {
            csv.cell_or_nan(error);
          }
        }
        csv.cell(std::string_view(s.reference.empty() ? "none" : s.reference));
      }
      csv.cell_or_nan(s.failure.empty() ? kNone : static_cast<double>(s.steps) * s.step);
      text += csv.row();
    }
    io::write_file(path, text);
  }

  void write_orders() const {
    const std::string path = result_.out_dir + "/orders.csv";
    io::CsvFormat csv(
        path, {"scheme", "quantity", "order", "spread", "points", "smallest_step", "largest_step",
               "forces_per_step", "hessians_per_step", "iterations_per_step"});
    std::string text = csv.head(provenance("order of the largest error by step"));
    for (const SchemeOrder& o : result_.orders) {
      csv.cell(std::string_view(o.label)).cell(std::string_view(o.quantity));
      csv.cell_or_nan(o.fit.order).cell_or_nan(o.fit.spread);
      csv.cell(static_cast<std::int64_t>(o.fit.points));
      csv.cell_or_nan(o.fit.smallest_step).cell_or_nan(o.fit.largest_step);
      csv.cell_or_nan(o.forces_per_step).cell_or_nan(o.hessians_per_step);
      csv.cell_or_nan(o.iterations_per_step);
      text += csv.row();
    }
    io::write_file(path, text);
  }

  void show_drift() {
    std::vector<Drift> drifts;
    for (const MechanicsContestant& c : contestants_) drifts.push_back(c.drift());
    const std::string path = result_.out_dir + "/drift.csv";
    io::write_file(path, drift_table(drifts, path, provenance("changes since the start")));
    std::vector<io::Plot> plots = drift_plots(drifts);
    if (plots.empty()) return;
    plots.front().title =
        fmt::format("Largest change since the start in each hundredth of the time, {}",
                    plan_.variants.front().deck.system.kind);
    take(io::draw(plots, result_.out_dir + "/drift"));
  }

  void take(const io::Drawing& drawing) {
    result_.pictures = drawing.paths;
    if (!drawing.warning.empty()) warn(drawing.warning);
  }

  void draw() {
    // Where each is measured against its own equations, those with a penalty stand out.
    const bool several = plan_.references.size() > 1;
    std::vector<bool> dashed(schemes_.size(), false);
    for (const MechanicsVariant& v : plan_.variants) {
      dashed[v.scheme] = several && !solves_rigid_equations(v.deck);
    }
    std::vector<io::Plot> plots = error_plots(result_.mechanics, schemes_, result_.orders, dashed);
    if (plots.front().series.empty()) return;
    const bool both = std::count(dashed.begin(), dashed.end(), true) > 0;
    plots.front().title = fmt::format(
        "Error of {} up to t = {:g}{}{}{}", plan_.variants.front().deck.system.kind, plan_.time,
        several ? ", each against its own exact solution" : "", both ? " (dashed: penalty)" : "",
        options_.reference.empty() ? "" : ", against " + options_.reference);
    take(io::draw(plots, result_.out_dir + "/errors"));
  }

  void warn(const std::string& text) const {
    if (options_.on_warning) options_.on_warning(text);
  }

  std::size_t columns_of_v(std::size_t k) const {
    const Samples& s = plan_.references[plan_.variants[k].reference].samples();
    return s.v.empty() ? contestants_[k].samples().v.front().size() : s.v.front().size();
  }

  MechanicsPlan plan_;
  const std::vector<std::string>& schemes_;
  const CompareOptions& options_;
  CompareResult& result_;
  std::vector<MechanicsContestant> contestants_;
  std::int64_t total_ = 0, done_ = 0, longest_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

MechanicsPlan plan_mechanics(const Deck& deck, const std::vector<std::string>& schemes,
                             const CompareOptions& options) {
  if (!options.steps.empty()) return plan_by_step(deck, schemes, options);
  MechanicsPlan plan;
  for (std::size_t k = 0; k < schemes.size(); ++k) {
    MechanicsVariant& v = plan.variants.emplace_back();
    v.label = schemes[k];
    v.deck = with_scheme(deck, schemes[k]);
    refuse_without_time(v.deck, v.label);
    v.steps = v.deck.mechanics.run.steps;
    v.look_every = std::max<std::int64_t>(v.steps / kSamples, 1);
    v.scheme = k;
  }
  return plan;
}

void compare_mechanics(MechanicsPlan plan, const std::vector<std::string>& schemes,
                       const CompareOptions& options, CompareResult& result) {
  result.device = "cpu";
  MechanicsComparison(std::move(plan), schemes, options, result).go();
}

}  // namespace tarn
