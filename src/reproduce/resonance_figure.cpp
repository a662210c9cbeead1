#include "resonance_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compare/contestant.hpp"
#include "figure_page.hpp"

namespace tarn {
namespace {

constexpr std::array kOmegas{20, 100, 500};
constexpr int kBetas = 69;   // to 0.6
constexpr int kInTable = 4;  // every so many

/// 0.26, 0.265 and so on.
double beta_of(int k) { return (52.0 + k) / 200.0; }

}  // namespace

void make_resonance_figure(const Reproduction& r, const ReproduceOptions& options) {
  Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  deck.run.steps = std::max<std::int64_t>(
      1, std::llround(options.share_of_time * static_cast<double>(deck.run.steps)));
  deck.run.device = "cpu";
  if (options.threads > 0) deck.run.threads = options.threads;
  FigurePage figure(r, options, {"omega", "beta", "replicas", "stopped_replicas"});
  io::Plot lost = plot(r.title, "b", fmt::format("replicas lost, of {}", deck.system.replicas));
  std::string head = "| omega \\ b |", line = "|---|";
  for (int k = 0; k < kBetas; k += kInTable) {
    head += fmt::format(" {:.2f} |", beta_of(k));
    line += "---|";
  }
  figure.text(head + "\n" + line + "\n");
  for (const int omega : kOmegas) {
    io::Series& series = lost.series.emplace_back();
    series.label = fmt::format("ω = {}", omega);
    std::string row = fmt::format("| {} |", omega);
    for (int k = 0; k < kBetas; ++k) {
      const Deck variant =
          with_scheme(deck, fmt::format("zss-stiff:omega={}:beta={:.3f}", omega, beta_of(k)));
      Contestant c = make_contestant(variant, series.label, make_start(variant));
      c.engine->advance(deck.run.steps);
      const auto stopped = static_cast<std::int64_t>(c.engine->blow_ups().size());
      figure.csv().cell(static_cast<std::int64_t>(omega)).cell(beta_of(k));
      figure.csv().cell(static_cast<std::int64_t>(deck.system.replicas)).cell(stopped);
      figure.end_row();
      series.x.push_back(beta_of(k));
      series.y.push_back(static_cast<double>(stopped));
      if (k % kInTable == 0) row += fmt::format(" {} |", stopped);
    }
    figure.text(row + "\n");
  }
  figure.text(
      fmt::format("\nReplicas lost within {} steps of {:g} fs; every 0.005 in b in "
                  "[the table](resonances.csv).\n",
                  deck.run.steps, deck.integrator.timestep_fs));
  figure.write({lost});
}

}  // namespace tarn
