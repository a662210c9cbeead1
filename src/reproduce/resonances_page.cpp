#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compare/scheme_run.hpp"
#include "pages.hpp"
#include "result_page.hpp"

namespace tarn {
namespace {

constexpr std::array kOmegas{20, 100, 500};
constexpr int kBetas = 69;   // to 0.6
constexpr int kInTable = 4;  // every fourth

/// 0.26, 0.265 and so on.
double beta_of(int k) { return (52.0 + k) / 200.0; }

/// Replicas that blow up within the steps of the deck.
std::int64_t blow_ups_of(const Deck& deck, const std::string& label) {
  SchemeRun c = make_scheme_run(deck, label, make_start(deck));
  c.engine->advance(deck.run.steps);
  return static_cast<std::int64_t>(c.engine->blow_ups().size());
}

void make_resonances_page(const Reproduction& r, const ReproduceOptions& options) {
  Deck deck = page_deck(r, options);
  deck.run.steps = std::max<std::int64_t>(
      1, std::llround(options.share_of_time * static_cast<double>(deck.run.steps)));
  deck.run.device = "cpu";
  if (options.threads > 0) deck.run.threads = options.threads;
  ResultPage page(r, options, {"omega", "beta", "replicas", "stopped_replicas"});
  io::Plot p = plot(r.title, "b", fmt::format("blow-ups, of {} replicas", deck.system.replicas));
  MarkdownTable::Cells header{"ω \\ b"};
  for (int k = 0; k < kBetas; k += kInTable) header.push_back(fmt::format("{:.2f}", beta_of(k)));
  MarkdownTable table(header);
  for (const int omega : kOmegas) {
    io::Series& curve = add_curve(p, fmt::format("ω = {}", omega), io::Series::Style::line);
    MarkdownTable::Cells cells{std::to_string(omega)};
    for (int k = 0; k < kBetas; ++k) {
      const std::int64_t blow_ups = blow_ups_of(
          with_scheme(deck, fmt::format("zss-stiff:omega={}:beta={:.3f}", omega, beta_of(k))),
          curve.label);
      page.csv_row(omega, beta_of(k), deck.system.replicas, blow_ups);
      add_point(curve, beta_of(k), static_cast<double>(blow_ups));
      if (k % kInTable == 0) cells.push_back(std::to_string(blow_ups));
    }
    table.row(cells);
  }
  page.table(table);
  page.method(
      fmt::format("Values are numbers of replicas, out of {}, that blow up within {} steps of "
                  "{:g} fs. [The CSV table](resonances.csv) contains b in steps of 0.005.",
                  deck.system.replicas, deck.run.steps, deck.integrator.timestep_fs));
  page.write({p});
}

}  // namespace

Reproduction resonances_page() {
  return {
      .deck = "resonances.toml",
      .summary =
          "Blow-ups of seven molecules with Z&Ss were counted as a function of the parameter b of "
          "the Newmark step. Stiff bonds resonate near b = 1/3 and 1/2; between 0.38 and 0.48 no "
          "replica blows up.\n\n"
          "* Stiff bonds have a period of three steps at b = 1/3 and of four steps at 1/2. The "
          "stiffer they are, the closer the resonance is to these values.",
      .paper =
          "The method is linearly stable for every step if b is at least 1/4. Resonances are not "
          "mentioned.",
      .make = make_resonances_page};
}

}  // namespace tarn
