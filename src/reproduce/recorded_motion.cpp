#include "recorded_motion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "step_time.hpp"

namespace tarn {

using mechanics::Index;

mechanics::Vector RecordedMotion::coordinate(Index i) const {
  mechanics::Vector values(static_cast<Index>(states.size()));
  for (std::size_t k = 0; k < states.size(); ++k) values[static_cast<Index>(k)] = states[k].x[i];
  return values;
}

RecordedMotion record_motion(const Deck& deck, const std::string& label, std::int64_t every,
                             int repeats) {
  const MechanicsDeck& m = deck.mechanics;
  RecordedMotion motion;
  motion.label = label;
  motion.setup = make_experiment(deck);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    motion.times.clear();
    motion.states.clear();
    const auto method = make_method(deck, motion.setup);
    mechanics::State s{motion.setup.position, motion.setup.velocity, {}, {}};
    const double seconds = core_seconds_of([&] {
      method->begin(s);
      for (std::int64_t step = 0;; ++step) {
        if (step % every == 0) {
          motion.times.push_back(static_cast<double>(step) * m.integrator.step);
          motion.states.push_back(s);
        }
        if (step == m.run.steps) break;
        method->step(s);
      }
    });
    motion.seconds = repeat == 0 ? seconds : std::min(motion.seconds, seconds);
    motion.costs = method->costs();
  }
  return motion;
}

Deck with_scaled_step(const Deck& deck, const std::string& scheme, double factor) {
  Deck other = with_scheme(deck, scheme);
  other.mechanics.integrator.step *= factor;
  other.mechanics.run.steps = static_cast<std::int64_t>(
      std::llround(static_cast<double>(deck.mechanics.run.steps) / factor));
  return other;
}

io::Series curve_of(std::string label, const std::vector<double>& x, const mechanics::Vector& y) {
  io::Series s;
  s.label = std::move(label);
  s.x = x;
  s.y.assign(y.begin(), y.end());
  return s;
}

MarkdownTable::Cells with_cost_columns(MarkdownTable::Cells cells) {
  cells.insert(cells.end(), {"steps", "linear solves per step", "Newton iterations per step",
                             "relative time", "relative time in the paper"});
  return cells;
}

MarkdownTable::Cells with_costs(MarkdownTable::Cells cells, std::string_view scheme,
                                const mechanics::Costs& costs, double seconds, double zs_seconds,
                                const PaperSeconds& paper) {
  const auto per_step = [&](std::int64_t count) {
    return fmt::format("{:.2f}", static_cast<double>(count) / static_cast<double>(costs.steps));
  };
  const auto found = paper.find(scheme);
  cells.insert(cells.end(),
               {std::to_string(costs.steps), per_step(costs.linear_solves),
                per_step(costs.iterations), fmt::format("{:.2f}", seconds / zs_seconds),
                found == paper.end() ? "" : fmt::format("{:.2g}", found->second / paper.at("zs"))});
  return cells;
}

}  // namespace tarn
