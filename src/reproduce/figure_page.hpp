#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <fmt/format.h>

#include "tarn/analysis/errors.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/mechanics/methods.hpp"
#include "tarn/reproduce.hpp"
#include "tarn/version.hpp"

namespace tarn {

/// "0.506 ± 0.003", with as many digits as the error has.
inline std::string value_and_error(double value, double error) {
  const int digits = analysis::decimals_for(error);
  return fmt::format("{:.{}f} ± {:.{}f}", value, digits, error, digits);
}

inline io::Series series(std::string label, const std::vector<double>& x,
                         const Eigen::VectorXd& y) {
  io::Series s;
  s.label = std::move(label);
  s.x = x;
  s.y.assign(y.begin(), y.end());
  return s;
}

/// The line that errors of an order lie along on logarithmic axes, through (x, y) and down to
/// x_low: dashed and grey, behind the curves that come after it.
inline io::Series order_guide(int order, double x, double y, double x_low) {
  io::Series s;
  s.label = fmt::format("order {}", order);
  s.x = {x_low, x};
  s.y = {y * std::pow(x_low / x, order), y};
  s.colour = "#888888";
  s.dashed = true;
  return s;
}

/// Title, picture and both statements of a page, and the deck up to a full stop where there is one.
/// @param theirs whose statement stands first
inline std::string page_head(const Reproduction& r, std::string_view theirs = "Paper") {
  std::string text = fmt::format(
      "# {0}\n\n<!-- made by: tarn reproduce {1} -->\n\n![{0}]({1}.svg)\n\n**{2}.** {3}\n\n"
      "**Here.** {4}\n\n",
      r.title, r.name, theirs, r.paper, r.ours);
  if (r.deck.empty()) return text;
  text += fmt::format("Deck `inputs/{}`", r.deck);
  for (const std::string& set : r.overrides) text += fmt::format(", `{}`", set);
  return text;
}

/// Page, table and picture of one figure.
class FigurePage {
 public:
  FigurePage(const Reproduction& r, const ReproduceOptions& options,
             std::vector<std::string> header)
      : options_(options),
        base_(options.out_dir + "/" + r.name),
        csv_(base_ + ".csv", std::move(header)) {
    table_ = csv_.head(fmt::format("tarn {}; {}", kVersion, r.deck));
    page_ = page_head(r) + ".\n\n";
  }

  io::CsvFormat& csv() { return csv_; }
  void end_row() { table_ += csv_.row(); }
  void text(const std::string& text) { page_ += text; }

  void write(const std::vector<io::Plot>& plots) {
    io::write_file(base_ + ".csv", table_);
    const io::Drawing drawing = io::draw(plots, base_);
    if (!drawing.warning.empty() && options_.on_warning) options_.on_warning(drawing.warning);
    io::write_file(base_ + ".md", page_);
  }

 private:
  const ReproduceOptions& options_;
  std::string base_;
  io::CsvFormat csv_;
  std::string table_, page_;
};

/// Columns of what a method costs, to stand after "steps".
inline constexpr const char* kCostsHeader =
    "solves a step | Newton iterations a step | time | the paper's time";
/// Times of runs in the same process, and of the paper's.
inline constexpr const char* kCostsRemark =
    "\nThe time is the core time of the whole run, as a ratio to Z&S in the same process; the "
    "paper's is a ratio to its own Z&S.\n";

/// A row of these columns.
/// @param time as a ratio to Z&S
/// @param of_paper seconds of this method and of Z&S, nothing where the paper gives none
inline std::string costs_text(const mechanics::Costs& costs, double time,
                              std::optional<std::array<double, 2>> of_paper) {
  const auto a_step = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(costs.steps);
  };
  return fmt::format("{} | {:.2f} | {:.2f} | {:.2f} | {}", costs.steps, a_step(costs.linear_solves),
                     a_step(costs.iterations), time,
                     of_paper ? fmt::format("{:.2g}", (*of_paper)[0] / (*of_paper)[1]) : "");
}

inline io::Plot plot(const std::string& title, const std::string& x, const std::string& y) {
  io::Plot p;
  p.title = title;
  p.x_label = x;
  p.y_label = y;
  return p;
}

}  // namespace tarn
