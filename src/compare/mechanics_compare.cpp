#include "mechanics_compare.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "interleaved_runs.hpp"
#include "mechanics_drift.hpp"
#include "mechanics_errors.hpp"
#include "mechanics_scheme_run.hpp"
#include "mechanics_tables.hpp"
#include "run/mechanics_experiment.hpp"
#include "run/progress.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn {
namespace {

using Clock = std::chrono::steady_clock;

/// Each run is timed this often, within this total time.
constexpr int kTimings = 5;
constexpr double kMaxTiming_s = 4.0;
/// Sufficient error of a reference, relative to the smallest error that is measured with it.
constexpr double kSufficientError = 0.01;
/// Limits of the steps of a reference, the larger of: a multiple of the steps with the smallest
/// step, and a number of positions and velocities in total.
constexpr std::int64_t kMaxReferenceSteps = 64;
constexpr double kMaxReferenceNumbers = 3e7;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Steps of the first two runs of a reference.
std::int64_t initial_steps(const MechanicsReference& r) {
  return r.steps_of(r.step()) + r.steps_of(2.0 * r.step());
}

/// A comparison of schemes for a mechanical system.
class MechanicsComparison {
 public:
  MechanicsComparison(MechanicsPlan plan, const std::vector<std::string>& schemes,
                      const CompareOptions& options, CompareResult& result)
      : plan_(std::move(plan)), schemes_(schemes), options_(options), result_(result) {
    for (const MechanicsVariant& v : plan_.variants) {
      runs_.emplace_back(v.deck, v.label, v.steps, v.sample_every, by_step());
      total_ += v.steps;
      longest_ = std::max(longest_, v.steps);
    }
    for (const MechanicsReference& r : plan_.references) total_ += initial_steps(r);
  }

  void run() {
    if (options_.on_start) options_.on_start({result_.out_dir, result_.device, 0, 1, 0, total_});
    run_schemes();
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      result_.mechanics.push_back(runs_[k].result());
      MechanicsSchemeResult& r = result_.mechanics.back();
      r.scheme = plan_.variants[k].scheme;
      if (!r.failure.empty()) warn(r.label + ": " + r.failure);
    }
    for (std::size_t k = 0; k < plan_.references.size() && !result_.interrupted; ++k) {
      compute_errors(k);
    }
    report_progress(0);
    write_mechanics_table(result_, by_step(), system());
    if (!by_step()) {
      write_drift();
      return;
    }
    result_.time = plan_.time;
    result_.orders = convergence_orders(result_.mechanics, schemes_);
    write_mechanics_orders(result_, system());
  }

 private:
  bool by_step() const { return !plan_.references.empty(); }

  const std::string& system() const { return plan_.variants.front().deck.system.kind; }

  bool should_continue() const { return !(options_.interrupted && options_.interrupted()); }

  void report_progress(std::int64_t steps) {
    done_ += steps;
    if (options_.on_progress) {
      options_.on_progress(progress_of(done_, 0, total_, seconds_since(begin_)));
    }
  }

  void run_schemes() {
    std::int64_t reported = 0;
    const auto report = [&] {
      std::int64_t steps = 0;
      for (const MechanicsSchemeRun& r : runs_) steps += r.step();
      report_progress(steps - std::exchange(reported, steps));
    };
    const std::int64_t done = run_interleaved(
        longest_,
        [&](std::int64_t step) {
          for (MechanicsSchemeRun& r : runs_) r.advance_to(step, longest_);
        },
        [&](std::int64_t) {
          report();
          return should_continue();
        });
    result_.interrupted = done < longest_;
    // Failed schemes make no further steps.
    total_ = 0;
    for (const MechanicsSchemeRun& r : runs_) total_ += r.step();
    for (const MechanicsReference& r : plan_.references) total_ += initial_steps(r);
    report();
    if (by_step()) repeat_timings();
  }

  /// Repeats the runs to measure their shortest times.
  void repeat_timings() {
    const Clock::time_point begin = Clock::now();
    for (int k = 1; k < kTimings && should_continue(); ++k) {
      double round = 0.0;
      for (const MechanicsSchemeRun& r : runs_) round += r.seconds();
      if (seconds_since(begin) + round > kMaxTiming_s) break;
      for (MechanicsSchemeRun& r : runs_) r.time_again();
    }
  }

  /// Indices of the variants that have this reference.
  std::vector<std::size_t> variants_of(std::size_t reference) const {
    std::vector<std::size_t> variants;
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      if (plan_.variants[k].reference == reference) variants.push_back(k);
    }
    return variants;
  }

  /// Computes errors against one of the references, which is refined as they require.
  void compute_errors(std::size_t place) {
    MechanicsReference& reference = plan_.references[place];
    const std::vector<std::size_t> variants = variants_of(place);
    if (std::all_of(variants.begin(), variants.end(),
                    [&](std::size_t k) { return !result_.mechanics[k].failure.empty(); })) {
      total_ -= initial_steps(reference);
      return;
    }
    const MechanicsReference::OnSteps on_steps = [&](std::int64_t steps) {
      report_progress(steps);
      return should_continue();
    };
    bool completed = reference.run(on_steps);
    update_errors(reference, variants);
    const Samples& samples = runs_[variants.front()].samples();
    const double columns = samples.q.empty() ? 1.0 : static_cast<double>(2 * samples.q[0].size());
    const std::int64_t max_steps = std::max(
        kMaxReferenceSteps * longest_, static_cast<std::int64_t>(kMaxReferenceNumbers / columns));
    while (completed && plan_.refines && reference.can_be_refined() &&
           !is_accurate_enough(variants)) {
      const std::int64_t steps = reference.steps_of(0.5 * reference.last_step());
      if (steps > max_steps) break;
      total_ += steps;
      const auto refinement = reference.refine(on_steps);
      completed = refinement != MechanicsReference::Refinement::interrupted;
      if (refinement == MechanicsReference::Refinement::better) update_errors(reference, variants);
    }
    result_.interrupted = result_.interrupted || !completed;
    warn_if_inaccurate(reference, variants);
  }

  void update_errors(const MechanicsReference& reference,
                     const std::vector<std::size_t>& variants) {
    for (const std::size_t k : variants) {
      MechanicsSchemeResult& r = result_.mechanics[k];
      r.reference = reference.label();
      r.reference_errors = reference.errors();
      if (r.failure.empty()) r.errors = difference(runs_[k].samples(), reference.samples());
    }
  }

  /// Whether all known errors are far larger than that of the reference.
  bool is_accurate_enough(const std::vector<std::size_t>& variants) const {
    const auto is_sufficient = [&](double TrajectoryErrors::*value) {
      return std::all_of(variants.begin(), variants.end(), [&](std::size_t k) {
        const MechanicsSchemeResult& r = result_.mechanics[k];
        if (!r.failure.empty()) return true;
        if (value == &TrajectoryErrors::v_max && !has_velocity_errors(k)) return true;
        return r.reference_errors.*value <= kSufficientError * r.errors.*value;
      });
    };
    return is_sufficient(&TrajectoryErrors::q_max) && is_sufficient(&TrajectoryErrors::v_max);
  }

  /// False if the columns `v` of a variant and its reference are different quantities.
  bool has_velocity_errors(std::size_t k) const {
    const Samples& reference = plan_.references[plan_.variants[k].reference].samples();
    return reference.v.empty() || reference.v.front().size() == runs_[k].samples().v.front().size();
  }

  void warn_if_inaccurate(const MechanicsReference& reference,
                          const std::vector<std::size_t>& variants) const {
    std::size_t unreliable = 0, all = 0;
    for (const std::size_t k : variants) {
      const MechanicsSchemeResult& r = result_.mechanics[k];
      if (!r.failure.empty()) continue;
      ++all;
      if (!(r.errors.q_max >= analysis::kMinErrorRatio * r.reference_errors.q_max)) ++unreliable;
    }
    if (unreliable == 0 || result_.interrupted) return;
    if (reference.samples().q.empty()) {
      warn(fmt::format(
          "the reference {} failed, so errors against it are unknown; set another --reference",
          reference.label()));
      return;
    }
    warn(fmt::format(
        "{} of {} errors are unreliable, because their reference {} has an error of up to {:.1e}. "
        "Try a --reference with a smaller step, or a shorter run.duration if trajectories diverge",
        unreliable, all, reference.label(), reference.errors().q_max));
  }

  void write_drift() {
    std::vector<Drift> drifts;
    for (const MechanicsSchemeRun& r : runs_) drifts.push_back(r.drift());
    const std::string path = result_.out_dir + "/drift.csv";
    io::write_file(
        path, drift_table(drifts, path, mechanics_provenance(system(), "changes since the start")));
  }

  void warn(const std::string& text) const {
    if (options_.on_message) options_.on_message(Message::warning(text));
  }

  MechanicsPlan plan_;
  const std::vector<std::string>& schemes_;
  const CompareOptions& options_;
  CompareResult& result_;
  std::vector<MechanicsSchemeRun> runs_;  // one per variant
  std::int64_t total_ = 0, done_ = 0, longest_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

void compare_mechanics(MechanicsPlan plan, const std::vector<std::string>& schemes,
                       const CompareOptions& options, CompareResult& result) {
  result.device = "cpu";
  MechanicsComparison(std::move(plan), schemes, options, result).run();
}

}  // namespace tarn
