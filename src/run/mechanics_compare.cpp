#include "mechanics_compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "mechanics_case.hpp"
#include "progress.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/version.hpp"
#include "turns.hpp"

namespace tarn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSamples = 1000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Contestant {
 public:
  Contestant(const Deck& deck, const std::string& label)
      : case_(make_mechanics_case(deck)),
        last_step_(deck.mechanics.run.steps),
        sample_every_(std::max<std::int64_t>(last_step_ / kSamples, 1)) {
    if (case_->steps()) throw InputError(label + " makes no steps in time and is not compared");
    result_.label = label;
    result_.step = deck.mechanics.integrator.step;
    for (const Quantity& q : case_->conserved()) {
      at_start_.push_back(q.value);
      result_.changes.emplace_back(q.name, 0.0);
    }
  }

  /// Makes its part of a run that has come to `at` of `total` steps. Only the steps are timed. A
  /// scheme that fails stays where it is. The last step has a sample too.
  void advance_to(std::int64_t at, std::int64_t total) {
    const std::int64_t step = own_part(last_step_, at, total);
    try {
      while (result_.failure.empty() && result_.steps < step) {
        const std::int64_t due = (result_.steps / sample_every_ + 1) * sample_every_;
        const std::int64_t stop = std::min(step, due);
        const auto begin = Clock::now();
        for (; result_.steps < stop; ++result_.steps) case_->step();
        seconds_ += seconds_since(begin);
        if (stop == due || stop == last_step_) sample();
      }
    } catch (const NumericalError& error) {
      result_.failure = error.what();
    }
  }

  const MechanicsSchemeResult& result() {
    const mechanics::Costs costs = case_->costs();
    const double steps = static_cast<double>(std::max<std::int64_t>(costs.steps, 1));
    result_.linear_solves_per_step = static_cast<double>(costs.linear_solves) / steps;
    result_.iterations_per_step = static_cast<double>(costs.iterations) / steps;
    if (seconds_ > 0.0) result_.steps_per_second = static_cast<double>(result_.steps) / seconds_;
    return result_;
  }

 private:
  void sample() {
    const std::vector<Quantity> now = case_->conserved();
    for (std::size_t k = 0; k < now.size(); ++k) {
      const double change = std::abs(now[k].value - at_start_[k]);
      if (!std::isfinite(change)) {
        throw NumericalError(
            fmt::format("{} is not finite after step {}", now[k].name, result_.steps));
      }
      double& worst = result_.changes[k].second;
      worst = std::max(worst, change);
    }
  }

  std::unique_ptr<MechanicsCase> case_;
  std::int64_t last_step_, sample_every_;
  MechanicsSchemeResult result_;
  std::vector<double> at_start_;
  double seconds_ = 0.0;
};

void write_table(const CompareResult& result, const std::string& provenance) {
  const std::string path = result.out_dir + "/compare.csv";
  std::vector<std::string> header{"scheme", "steps", "steps_per_s", "linear_solves_per_step",
                                  "iterations_per_step"};
  for (const auto& [name, change] : result.mechanics.front().changes) {
    header.push_back(name + "_change_max");
  }
  io::CsvFormat csv(path, header);
  std::string text = csv.head(provenance);
  for (const MechanicsSchemeResult& s : result.mechanics) {
    csv.cell(std::string_view(s.label)).cell(s.steps).cell(s.steps_per_second);
    csv.cell(s.linear_solves_per_step).cell(s.iterations_per_step);
    for (const auto& [name, change] : s.changes) csv.cell(change);
    text += csv.row();
  }
  io::write_file(path, text);
}

}  // namespace

void compare_mechanics(const std::vector<Deck>& variants, const std::vector<std::string>& schemes,
                       const CompareOptions& options, CompareResult& result) {
  result.device = "cpu";
  std::vector<Contestant> contestants;
  for (std::size_t k = 0; k < schemes.size(); ++k)
    contestants.emplace_back(variants[k], schemes[k]);

  const std::int64_t steps = variants.front().mechanics.run.steps;
  const auto count = static_cast<std::int64_t>(contestants.size());
  if (options.on_start) {
    options.on_start({result.out_dir, result.device, 0, 1, 0, steps * count});
  }
  const auto begin = Clock::now();
  const auto tell_progress = [&](std::int64_t step) {
    if (!options.on_progress) return;
    options.on_progress(progress_of(step * count, 0, steps * count, seconds_since(begin)));
  };
  const std::int64_t done = run_in_turns(
      steps,
      [&](std::int64_t step) {
        for (Contestant& c : contestants) c.advance_to(step, steps);
      },
      [&](std::int64_t step) {
        tell_progress(step);
        return !(options.interrupted && options.interrupted());
      });
  tell_progress(done);
  result.interrupted = done < steps;
  for (Contestant& c : contestants) {
    result.mechanics.push_back(c.result());
    const std::string& failure = result.mechanics.back().failure;
    if (!failure.empty() && options.on_warning) {
      options.on_warning(result.mechanics.back().label + ": " + failure);
    }
  }
  write_table(result, fmt::format("tarn {}; {}; largest changes since the start", kVersion,
                                  variants.front().system.kind));
}

}  // namespace tarn
