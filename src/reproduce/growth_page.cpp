#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "pages.hpp"
#include "result_page.hpp"
#include "step_time.hpp"
#include "tarn/analysis/line_fit.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

constexpr int kTurns = 9;
constexpr double kTurnSeconds = 0.05;
constexpr std::array kMolecules{2,   4,   7,   12,   16,   17,   32,    64,
                                100, 216, 512, 1000, 2000, 5000, 10000, 20000};
/// Up to kFew molecules, many replicas fill the vector lanes. From kMany on, pairs take nearly all
/// of the time. Each range has its own exponent.
constexpr int kFew = 64, kMany = 512;
constexpr std::array kPrecisions{"double", "mixed"};
/// A cut-off that is usual for liquid water, and the liquid's density.
constexpr double kCutoff_A = 12.0, kDensity_per_A3 = 0.0334;

Deck growth_deck(const Reproduction& r, const ReproduceOptions& options, int molecules,
                 int replicas, const std::string& precision) {
  return page_deck(r, options,
                   {"system.molecules=" + std::to_string(molecules),
                    "system.replicas=" + std::to_string(replicas), "run.precision=" + precision});
}

/// Bytes that are allocated now; 0 where the C library does not report it.
double bytes_in_use() {
#if defined(__GLIBC__)
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
#else
  return 0.0;
#endif
}

/// Bytes of an engine after one step.
double bytes_of(const Deck& deck) {
  const Start start = make_start(deck);
  const double before = bytes_in_use();
  const auto engine =
      make_engine(make_system(deck, start.state.molecules), start.state, {}, {"cpu", 1});
  engine->advance(1);
  return bytes_in_use() - before;
}

struct Size {
  int molecules = 0, replicas = 1;
  std::array<double, 2> ns{}, low{}, high{};  ///< [precision] of a step of a cluster
  double pairs() const { return 0.5 * molecules * (molecules - 1.0); }
};

Size measure(const Reproduction& r, const ReproduceOptions& options, int molecules, int replicas) {
  std::vector<TimedEngine> timed;
  for (const char* precision : kPrecisions) {
    timed.push_back(timed_engine_of(growth_deck(r, options, molecules, replicas, precision)));
  }
  time_in_turns(timed, kTurns, kTurnSeconds * options.share_of_time);
  Size s{molecules, replicas};
  for (std::size_t p = 0; p < timed.size(); ++p) {
    s.ns[p] = timed[p].quantile(0.5);
    s.low[p] = timed[p].quantile(0.25);
    s.high[p] = timed[p].quantile(0.75);
  }
  return s;
}

/// Slope of log time over log N; 0 for fewer than two sizes.
double exponent(const std::vector<Size>& sizes, std::size_t precision, int from, int to) {
  std::vector<double> x, y;
  for (const Size& s : sizes) {
    if (s.molecules < from || s.molecules > to) continue;
    x.push_back(std::log(s.molecules));
    y.push_back(std::log(s.ns[precision]));
  }
  return x.size() < 2 ? 0.0 : analysis::fit_line(x, y).slope;
}

/// "41.5 ns", "2.24 ms".
std::string time_text(double ns) {
  const char* unit = "ns";
  for (const char* next : {"µs", "ms", "s"}) {
    // 999.5 has four digits.
    if (ns < 999.5) break;
    ns *= 1e-3;
    unit = next;
  }
  return fmt::format("{:.3g} {}", ns, unit);
}

std::string memory_text(const Reproduction& r, const ReproduceOptions& options) {
  if (bytes_in_use() == 0.0) return "The C library does not report the memory in use.\n";
  const auto bytes = [&](int molecules, int replicas, const char* precision) {
    return bytes_of(growth_deck(r, options, molecules, replicas, precision));
  };
  const int large = std::min(kMolecules.back(), options.most_molecules), quarter = large / 4;
  MarkdownTable table({"precision", "bytes per replica of 7", "bytes per replica of 100",
                       fmt::format("bytes per molecule, {} to {}", quarter, large),
                       fmt::format("total for {} (MB)", large)});
  for (const char* precision : kPrecisions) {
    const double seven = (bytes(7, 4096, precision) - bytes(7, 1024, precision)) / 3072.0;
    const double hundred = (bytes(100, 64, precision) - bytes(100, 16, precision)) / 48.0;
    const double all = bytes(large, 1, precision);
    const double molecule = (all - bytes(quarter, 1, precision)) / (large - quarter);
    table.row({precision, fmt::format("{:.0f}", seven), fmt::format("{:.0f}", hundred),
               fmt::format("{:.0f}", molecule), fmt::format("{:.1f}", all * 1e-6)});
  }
  return table.text();
}

MarkdownTable time_table(const std::vector<Size>& sizes, double pairs_within_cutoff) {
  MarkdownTable table({"molecules", "step, double", "step, mixed", "ns per pair, double",
                       "ns per pair, mixed", "pairs per molecule", "relative to a cutoff"});
  for (const Size& s : sizes) {
    const double each = s.pairs() / s.molecules;
    table.row(
        {std::to_string(s.molecules), time_text(s.ns[0]), time_text(s.ns[1]),
         fmt::format("{:.2f}", s.ns[0] / s.pairs()), fmt::format("{:.2f}", s.ns[1] / s.pairs()),
         fmt::format("{:.1f}", each),
         each > pairs_within_cutoff ? fmt::format("{:.1f}", each / pairs_within_cutoff) : "–"});
  }
  return table;
}

MarkdownTable exponent_table(const std::vector<Size>& sizes) {
  MarkdownTable table({"time per step grows as", fmt::format("up to {} molecules", kFew),
                       fmt::format("from {} molecules", kMany)});
  for (std::size_t p = 0; p < kPrecisions.size(); ++p) {
    table.row({kPrecisions[p], fmt::format("N^{:.2f}", exponent(sizes, p, 2, kFew)),
               fmt::format("N^{:.2f}", exponent(sizes, p, kMany, kMolecules.back()))});
  }
  return table;
}

/// @param all sizes with replicas that fill the lanes @param alone those with a single cluster
io::Plot picture(const std::vector<Size>& all, const std::vector<Size>& alone) {
  io::Plot p = log_plot("Time per step by size", "number of molecules", "core time per step (µs)");
  p.x_range = {{1.5, 3e4}};
  constexpr std::array kColours{"#0072B2", "#D55E00"};
  const auto add = [&](const std::vector<Size>& sizes, std::size_t precision,
                       const std::string& label, bool dashed) {
    io::Series& s = add_curve(p, label);
    s.colour = kColours[precision];
    s.dashed = dashed;
    for (const Size& size : sizes) {
      add_point(s, size.molecules, 1e-3 * size.ns[precision], 1e-3 * size.low[precision],
                1e-3 * size.high[precision]);
    }
  };
  for (std::size_t k = 0; k < kPrecisions.size(); ++k) {
    add(all, k,
        fmt::format("{}: N^{:.2f}, then N^{:.2f}", kPrecisions[k], exponent(all, k, 2, kFew),
                    exponent(all, k, kMany, kMolecules.back())),
        false);
    add(alone, k, fmt::format("{}, single cluster", kPrecisions[k]), true);
  }
  return p;
}

void make_growth_page(const Reproduction& r, const ReproduceOptions& options) {
  ResultPage page(r, options,
                  {"molecules", "replicas", "precision", "core_ns_per_step", "core_ns_per_step_low",
                   "core_ns_per_step_high", "core_ns_per_pair"});
  std::vector<Size> sizes, alone;
  for (int n : kMolecules) {
    if (n > options.most_molecules) break;
    sizes.push_back(measure(r, options, n, n <= kFew ? 64 : 1));
    if (n <= kFew) alone.push_back(measure(r, options, n, 1));
  }
  for (const std::vector<Size>* part : {&sizes, &alone}) {
    for (const Size& s : *part) {
      for (std::size_t p = 0; p < kPrecisions.size(); ++p) {
        page.csv_row(s.molecules, s.replicas, kPrecisions[p], s.ns[p], s.low[p], s.high[p],
                     s.ns[p] / s.pairs());
      }
    }
  }
  const double within =
      0.5 * kDensity_per_A3 * 4.0 / 3.0 * std::numbers::pi * std::pow(kCutoff_A, 3);
  page.table(time_table(sizes, within));
  page.table(exponent_table(sizes));
  page.text("## Memory\n\n" + memory_text(r, options) + "\n");
  page.method(
      fmt::format("Time is the core time of a whole step on one thread, the median of {} turns. "
                  "Up to {} molecules, 64 replicas fill the vector lanes; larger clusters run "
                  "alone.",
                  kTurns, kFew));
  page.method(
      fmt::format("*Relative to a cutoff*: the number of pairs, divided by the number of pairs "
                  "within {:.0f} Å in the liquid ({:.0f} per molecule).",
                  kCutoff_A, within));
  page.method(
      "Memory is the amount that the engine has allocated after one step on one thread, as "
      "reported by the C library. The first three columns are the cost of one more replica or "
      "molecule.");
  const auto engine = engine_of(growth_deck(r, options, 7, 1, "double"));
  page.method("Machine: " + engine->description() + ".");
  page.write({picture(sizes, alone)});
}

}  // namespace

Reproduction growth_page() {
  return {.deck = "growth.toml",
          .summary =
              "Time per step and memory were measured from 2 to 20 000 molecules. All pairs are "
              "computed. The time therefore grows as the square of the number of molecules once "
              "pairs take nearly all of the time.",
          .make = make_growth_page};
}

}  // namespace tarn
