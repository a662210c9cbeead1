#include "mechanics_compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "mechanics_case.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kTurns = 40;
constexpr std::int64_t kSamples = 25;  // of a turn

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Contestant {
 public:
  Contestant(const Deck& deck, const std::string& label) : case_(make_mechanics_case(deck)) {
    if (case_->steps()) throw InputError(label + " makes no steps in time and is not compared");
    result_.label = label;
    for (const Quantity& q : case_->conserved()) {
      at_start_.push_back(q.value);
      result_.changes.emplace_back(q.name, 0.0);
    }
  }

  /// Only the steps are timed. A scheme that fails stays where it is.
  void advance_to(std::int64_t step, std::int64_t sample_every) {
    try {
      while (result_.failure.empty() && result_.steps < step) {
        const std::int64_t stop = std::min(step, result_.steps + sample_every);
        const auto begin = Clock::now();
        for (; result_.steps < stop; ++result_.steps) case_->step();
        seconds_ += seconds_since(begin);
        sample();
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
  const std::int64_t sample_every = std::max<std::int64_t>(steps / (kTurns * kSamples), 1);
  const auto count = static_cast<std::int64_t>(contestants.size());
  if (options.on_start) {
    options.on_start({result.out_dir, result.device, 0, 1, 0, steps * count});
  }
  const auto begin = Clock::now();
  for (std::int64_t turn = 0; turn < kTurns && !result.interrupted; ++turn) {
    const std::int64_t done = steps * (turn + 1) / kTurns;
    for (Contestant& c : contestants) c.advance_to(done, sample_every);
    if (options.on_progress) {
      Progress p;
      p.step = done * count;
      p.total_steps = steps * count;
      p.elapsed_seconds = seconds_since(begin);
      if (p.elapsed_seconds > 0.0) {
        p.steps_per_second = static_cast<double>(p.step) / p.elapsed_seconds;
        p.seconds_left = static_cast<double>(p.total_steps - p.step) / p.steps_per_second;
      }
      options.on_progress(p);
    }
    if (options.interrupted && options.interrupted()) result.interrupted = done < steps;
  }
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
