#include <map>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interrupts.hpp"
#include "locks.hpp"
#include "parts.hpp"
#include "potential.hpp"
#include "tarn/compare.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"

namespace tarn::python {
namespace nb = nanobind;
namespace {

using Texts = std::vector<std::string>;

/// Options that runs and comparisons share. Callables are None or Python functions.
struct Shared {
  std::string out;
  bool overwrite = false;
  std::optional<std::string> device;
  std::optional<int> threads;
  bool pictures = true;
  nb::object on_progress, on_message;

  /// @param options RunOptions or CompareOptions
  template <class Options>
  void apply_to(Options& options, Interrupts& interrupts) const {
    options.out_dir = out;
    options.overwrite = overwrite;
    options.device = device;
    options.threads = threads;
    options.pictures = pictures;
    options.interrupted = [&interrupts] { return interrupts.pending(); };
    if (!on_progress.is_none()) {
      options.on_progress = [this, &interrupts](const Progress& p) {
        // A handler that raises an exception does so here, and not within the function.
        if (p.step < p.total_steps && interrupts.pending()) return;
        const Locked lock;
        interrupts.call([&] {
          on_progress(p.step, p.total_steps, p.elapsed_seconds, p.steps_per_second,
                      p.ns_per_day_per_replica, p.ns_per_day_total, p.seconds_left);
        });
      };
    }
    options.on_message = [this, &interrupts](const Message& message) {
      const Locked lock;
      interrupts.call([&] { on_message(std::string(name_of(message.level)), message.text); });
    };
  }
};

nb::object number_or_none(const std::optional<double>& value) {
  return value ? nb::cast(*value) : nb::none();
}

nb::list averages_of(const std::vector<AveragedQuantity>& averages) {
  nb::list list;
  for (const AveragedQuantity& a : averages) {
    nb::dict one;
    one["table"] = a.table;
    one["quantity"] = a.quantity;
    one["bath_K"] = number_or_none(a.bath_K);
    one["mean"] = a.mean;
    one["error"] = a.error;
    one["correlation_ps"] = number_or_none(a.autocorrelation_ps);
    one["error_of_error"] = number_or_none(a.error_of_error);
    one["independent_samples"] = a.independent_samples;
    one["samples"] = a.samples;
    one["converged"] = a.converged;
    one["drift"] = a.drift;
    list.append(one);
  }
  return list;
}

nb::object exchange_of(const std::optional<ExchangeSummary>& exchange) {
  if (!exchange) return nb::none();
  nb::list pairs;
  for (const ExchangePair& p : exchange->pairs) {
    pairs.append(nb::make_tuple(p.lower_bath_K, p.upper_bath_K, p.attempts, p.accepted,
                                p.acceptance, p.error));
  }
  nb::dict summary;
  summary["pairs"] = pairs;
  summary["round_trips"] = exchange->round_trips;
  summary["round_trips_per_state"] = exchange->round_trips_per_state;
  summary["structure_changes_per_walker"] = exchange->structure_changes.per_walker;
  return summary;
}

nb::dict object_of(const RunResult& result) {
  nb::dict d;
  d["out"] = result.out_dir;
  d["steps_done"] = result.steps_done;
  d["already_finished"] = result.already_finished;
  d["wall_seconds"] = result.wall_seconds;
  d["steps_per_second"] = result.steps_per_second;
  d["ns_per_day_per_replica"] = result.ns_per_day_per_replica;
  d["ns_per_day_total"] = result.ns_per_day_total;
  d["device"] = result.device;
  d["pictures"] = nb::cast(result.pictures);
  d["averages"] = averages_of(result.averages);
  d["exchange"] = exchange_of(result.exchange);
  return d;
}

/// Calls compute() without the interpreter's lock. A signal ends the computation and is raised
/// again.
/// @param note what was kept, and how to continue
template <class Compute>
auto interruptible(Interrupts& interrupts, const std::string& note, const Compute& compute) {
  std::optional<decltype(compute())> result;
  try {
    const Unlocked unlocked;
    result = compute();
  } catch (const StartInterrupted&) {
    interrupts.raise_if_pending("interrupted while the start was made: no step was taken");
    throw;
  }
  interrupts.raise_if_pending(note.c_str());
  return std::move(*result);
}

nb::dict run(const Deck& deck, const std::string& out, bool resume, bool overwrite,
             const std::optional<std::string>& device, std::optional<int> threads, bool pictures,
             const nb::list& observers, nb::handle potential, nb::object on_progress,
             nb::object on_message, const nb::object& on_blow_up, nb::object interrupt) {
  Interrupts interrupts(std::move(interrupt));
  const Shared shared{
      out, overwrite, device, threads, pictures, std::move(on_progress), std::move(on_message)};
  RunOptions options;
  shared.apply_to(options, interrupts);
  options.resume = resume;
  options.on_blow_up = [&](const BlowUp& b, const std::string& text) {
    const Locked lock;
    on_blow_up(b.replica, b.step, b.molecule, text);
  };
  for (const nb::handle observer : observers) options.observers.push_back(observer_of(observer));
  options.potential = python_potential(potential);
  const RunResult result = interruptible(
      interrupts, "the run stopped after a checkpoint; tarn.run(..., resume=True) continues it",
      [&] { return run_deck(deck, options); });
  return object_of(result);
}

nb::dict compare(const Deck& deck, const Texts& schemes, const std::string& out, bool overwrite,
                 const std::vector<double>& steps, const std::vector<int>& beads,
                 const Texts& free_rings, const Texts& frequencies, const std::string& reference,
                 const std::optional<std::string>& device, std::optional<int> threads,
                 bool pictures, nb::handle potential, nb::object on_progress, nb::object on_message,
                 nb::object interrupt) {
  Interrupts interrupts(std::move(interrupt));
  const Shared shared{
      out, overwrite, device, threads, pictures, std::move(on_progress), std::move(on_message)};
  CompareOptions options;
  shared.apply_to(options, interrupts);
  options.steps = steps;
  options.beads = beads;
  options.free_rings = free_rings;
  options.frequencies = frequencies;
  options.reference = reference;
  options.potential = python_potential(potential);
  const CompareResult result =
      interruptible(interrupts, "the comparison stopped early; its tables cover the steps done",
                    [&] { return compare_schemes(deck, schemes, options); });
  nb::dict d;
  d["out"] = result.out_dir;
  d["device"] = result.device;
  d["pictures"] = nb::cast(result.pictures);
  return d;
}

}  // namespace

void add_runs(nb::module_& module) {
  module.def("run", run, nb::arg("deck"), nb::arg("out"), nb::arg("resume"), nb::arg("overwrite"),
             nb::arg("device").none(), nb::arg("threads").none(), nb::arg("pictures"),
             nb::arg("observers"), nb::arg("potential").none(), nb::arg("on_progress").none(),
             nb::arg("on_message"), nb::arg("on_blow_up"), nb::arg("interrupt"));
  module.def("compare", compare, nb::arg("deck"), nb::arg("schemes"), nb::arg("out"),
             nb::arg("overwrite"), nb::arg("steps"), nb::arg("beads"), nb::arg("free_rings"),
             nb::arg("frequencies"), nb::arg("reference"), nb::arg("device").none(),
             nb::arg("threads").none(), nb::arg("pictures"), nb::arg("potential").none(),
             nb::arg("on_progress").none(), nb::arg("on_message"), nb::arg("interrupt"));
}

}  // namespace tarn::python
