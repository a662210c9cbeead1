#include "cost_figures.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "figure_page.hpp"
#include "step_cost.hpp"
#include "tarn/analysis/line_fit.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

constexpr int kTurns = 9;
constexpr double kTurnSeconds = 0.05;

// --- growth --------------------------------------------------------------------------------------

constexpr std::array kMolecules{2,   4,   7,   12,   16,   17,   32,    64,
                                100, 216, 512, 1000, 2000, 5000, 10000, 20000};
/// Up to here many replicas fill the lanes, and exponents are of few molecules; from the other on,
/// pairs are nearly all of the time.
constexpr int kFew = 64, kMany = 512;
constexpr std::array kPrecisions{"double", "mixed"};
/// A cut-off that is usual for liquid water, and the liquid's density.
constexpr double kCutoff_A = 12.0, kDensity_per_A3 = 0.0334;

Deck growth_deck(const Reproduction& r, const ReproduceOptions& options, int molecules,
                 int replicas, const std::string& precision) {
  return load_deck(options.inputs_dir + "/" + r.deck,
                   {"system.molecules=" + std::to_string(molecules),
                    "system.replicas=" + std::to_string(replicas), "run.precision=" + precision});
}

/// Bytes that are allocated now; 0 where the C library does not tell.
double bytes_in_use() {
#if defined(__GLIBC__)
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
#else
  return 0.0;
#endif
}

/// Bytes of an engine that has taken a step.
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
  std::vector<Timed> timed;
  for (const char* precision : kPrecisions) {
    Timed& t = timed.emplace_back();
    t.engine = engine_of(growth_deck(r, options, molecules, replicas, precision));
    t.replicas = replicas;
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

/// Slope of log time over log N; 0 where there is no second size.
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
  if (bytes_in_use() == 0.0) return "The C library does not tell what memory is in use.\n\n";
  const auto bytes = [&](int molecules, int replicas, const char* precision) {
    return bytes_of(growth_deck(r, options, molecules, replicas, precision));
  };
  const int large = std::min(kMolecules.back(), options.most_molecules), quarter = large / 4;
  std::string text = fmt::format(
      "| precision | bytes a replica of 7 | bytes a replica of 100 | bytes a molecule, {0} to {1} "
      "| "
      "all of {1} (MB) |\n|---|---|---|---|---|\n",
      quarter, large);
  for (const char* precision : kPrecisions) {
    const double seven = (bytes(7, 4096, precision) - bytes(7, 1024, precision)) / 3072.0;
    const double hundred = (bytes(100, 64, precision) - bytes(100, 16, precision)) / 48.0;
    const double all = bytes(large, 1, precision);
    const double molecule = (all - bytes(quarter, 1, precision)) / (large - quarter);
    text += fmt::format("| {} | {:.0f} | {:.0f} | {:.0f} | {:.1f} |\n", precision, seven, hundred,
                        molecule, all * 1e-6);
  }
  return text +
         "\nMemory that the engine has allocated after a step on one thread, asked of the C "
         "library: what one more replica or molecule takes.\n\n";
}

}  // namespace

void make_growth_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(r, options,
                  {"molecules", "replicas", "precision", "core_ns_per_step", "core_ns_per_step_low",
                   "core_ns_per_step_high", "core_ns_per_pair"});
  std::vector<Size> sizes, alone;
  for (int n : kMolecules) {
    if (n > options.most_molecules) break;
    sizes.push_back(measure(r, options, n, n <= kFew ? 64 : 1));
    if (n <= kFew) alone.push_back(measure(r, options, n, 1));
  }
  const auto write = [&](const Size& s) {
    for (std::size_t p = 0; p < kPrecisions.size(); ++p) {
      page.csv()
          .cell(static_cast<std::int64_t>(s.molecules))
          .cell(static_cast<std::int64_t>(s.replicas))
          .cell(kPrecisions[p])
          .cell(s.ns[p])
          .cell(s.low[p])
          .cell(s.high[p])
          .cell(s.ns[p] / s.pairs());
      page.end_row();
    }
  };
  for (const Size& s : sizes) write(s);
  for (const Size& s : alone) write(s);

  const double within =
      0.5 * kDensity_per_A3 * 4.0 / 3.0 * std::numbers::pi * std::pow(kCutoff_A, 3);
  page.text(fmt::format(
      "Core time of a whole step, one thread, median of {} turns. Up to {} molecules 64 replicas "
      "fill the lanes; larger clusters are alone. The last two columns count pairs: all of them, "
      "and how many times those that lie within {:.0f} Å in the liquid ({:.0f} a molecule).\n\n"
      "| molecules | double | mixed | ns a pair, double | mixed | pairs a molecule | "
      "against a cut-off |\n|---|---|---|---|---|---|---|\n",
      kTurns, kFew, kCutoff_A, within));
  for (const Size& s : sizes) {
    const double each = s.pairs() / s.molecules;
    page.text(fmt::format("| {} | {} | {} | {:.2f} | {:.2f} | {:.1f} | {} |\n", s.molecules,
                          time_text(s.ns[0]), time_text(s.ns[1]), s.ns[0] / s.pairs(),
                          s.ns[1] / s.pairs(), each,
                          each > within ? fmt::format("{:.1f}", each / within) : "–"));
  }
  page.text("\n");
  for (std::size_t p = 0; p < kPrecisions.size(); ++p) {
    page.text(fmt::format(
        "Time grows as N to the {:.2f} up to {} molecules and to the {:.2f} from {} on ({}).\n",
        exponent(sizes, p, 2, kFew), kFew, exponent(sizes, p, kMany, kMolecules.back()), kMany,
        kPrecisions[p]));
  }
  page.text("\n## Memory\n\n" + memory_text(r, options));
  const auto engine = engine_of(growth_deck(r, options, 7, 1, "double"));
  page.text(engine->description() + ".\n");

  io::Plot p = plot("Time of a step by size", "number of molecules", "core time of a step (µs)");
  p.log_x = p.log_y = true;
  p.x_range = {{1.5, 3e4}};
  constexpr std::array kColours{"#0072B2", "#D55E00"};
  const auto add = [&](const std::vector<Size>& of, std::size_t precision, const std::string& label,
                       bool dashed) {
    io::Series& s = p.series.emplace_back();
    s.label = label;
    s.colour = kColours[precision];
    s.dashed = dashed;
    s.style = io::Series::Style::marked_line;
    for (const Size& size : of) {
      s.x.push_back(size.molecules);
      s.y.push_back(1e-3 * size.ns[precision]);
      s.low.push_back(1e-3 * size.low[precision]);
      s.high.push_back(1e-3 * size.high[precision]);
    }
  };
  for (std::size_t k = 0; k < kPrecisions.size(); ++k) {
    add(sizes, k,
        fmt::format("{}: N^{:.2f}, then N^{:.2f}", kPrecisions[k], exponent(sizes, k, 2, kFew),
                    exponent(sizes, k, kMany, kMolecules.back())),
        false);
    add(alone, k, fmt::format("{}, one cluster alone", kPrecisions[k]), true);
  }
  page.write({p});
}

// --- schemes -------------------------------------------------------------------------------------

namespace {

constexpr std::array kStructures{7, 32, 100, 216, 1000};

/// What the paper reports: how many times as long SHAKE took.
constexpr std::array<std::array<double, 2>, 2> kOfThePaper{{{7.0, 8.7}, {100.0, 1.4}}};

}  // namespace

void make_scheme_cost_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(r, options,
                  {"molecules", "replicas", "scheme", "core_ns_per_step", "core_ns_per_step_low",
                   "core_ns_per_step_high", "ratio"});
  io::Plot p = plot(r.title, "number of molecules", "time of a step, ratio to Z&Ss");
  p.log_x = p.log_y = true;
  p.x_range = {{5.0, 2000.0}};
  p.y_range = {{0.8, 12.0}};
  for (const std::string& scheme : r.schemes) {
    io::Series& s = p.series.emplace_back();
    s.label = scheme;
    s.style = io::Series::Style::marked_line;
  }
  page.text(
      "Core time of a whole step against that of the first scheme, with the time of that "
      "one; all schemes took turns on one thread.\n\n| molecules | replicas |");
  for (const std::string& scheme : r.schemes) page.text(fmt::format(" `{}` |", scheme));
  page.text("\n|---|---|");
  for (std::size_t k = 0; k < r.schemes.size(); ++k) page.text("---|");
  std::string description;
  for (int n : kStructures) {
    if (n > options.most_molecules) break;
    const int replicas = n <= kFew ? 64 : 1;
    const Deck deck = load_deck(options.inputs_dir + "/" + r.deck,
                                {fmt::format("system.file=structures/tip3p-{}.xyz", n),
                                 fmt::format("system.replicas={}", replicas)});
    std::vector<Timed> timed;
    for (const std::string& scheme : r.schemes) {
      Timed& t = timed.emplace_back();
      t.engine = engine_of(with_scheme(deck, scheme));
      t.replicas = replicas;
      description = t.engine->description();
    }
    time_in_turns(timed, kTurns, kTurnSeconds * options.share_of_time);
    page.text(fmt::format("\n| {} | {} |", n, replicas));
    const double first = timed.front().quantile(0.5);
    for (std::size_t k = 0; k < timed.size(); ++k) {
      const double ns = timed[k].quantile(0.5), low = timed[k].quantile(0.25),
                   high = timed[k].quantile(0.75);
      page.csv()
          .cell(static_cast<std::int64_t>(n))
          .cell(static_cast<std::int64_t>(replicas))
          .cell(r.schemes[k])
          .cell(ns)
          .cell(low)
          .cell(high)
          .cell(ns / first);
      page.end_row();
      page.text(k == 0 ? fmt::format(" 1 ({:.3g} µs) |", 1e-3 * ns)
                       : fmt::format(" {:.2f} |", ns / first));
      io::Series& s = p.series[k];
      s.x.push_back(n);
      s.y.push_back(ns / first);
      s.low.push_back(low / first);
      s.high.push_back(high / first);
    }
  }
  io::Series& paper = p.series.emplace_back();
  paper.label = "SHAKE in the paper";
  paper.style = io::Series::Style::points;
  paper.colour = "#D00000";
  for (const auto& [n, ratio] : kOfThePaper) {
    paper.x.push_back(n);
    paper.y.push_back(ratio);
    paper.marks.push_back(fmt::format("paper: {}", ratio));
  }
  page.text("\n\n" + description + ".\n");
  page.write({p});
}

}  // namespace tarn
