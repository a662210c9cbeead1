#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/analysis/errors.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/reproduce.hpp"

/// @file
/// What the pages of results share: Markdown, tables, curves and the files of a page.

namespace tarn {

/// "0.506 ± 0.003", with as many decimals as the error needs.
std::string value_and_error(double value, double error);
inline std::string value_and_error(const analysis::MeanError& v) {
  return value_and_error(v.mean, v.error);
}

class MarkdownTable {
 public:
  using Cells = std::vector<std::string>;

  explicit MarkdownTable(const Cells& header);
  /// @throws std::logic_error where the number of cells differs from that of the header
  void row(const Cells& cells);
  const std::string& text() const { return text_; }

 private:
  std::size_t columns_;
  std::string text_;
};

/// A cell of a CSV table that may be "nan".
struct OrNan {
  double value;
};

/// The page `<name>.md` with its table `<name>.csv` and its picture.
class ResultPage {
 public:
  /// @param provenance in the first line of the CSV table; empty: version and deck
  ResultPage(const Reproduction& r, const ReproduceOptions& options,
             std::vector<std::string> csv_columns, std::string_view provenance = {});

  /// Adds Markdown below the picture.
  void text(std::string_view markdown) { results_ += markdown; }
  void table(const MarkdownTable& table) { results_ += table.text() + "\n"; }
  /// Adds an item to the list at the end of the page. @param sentences without a line break
  void method(std::string_view sentences);

  /// Adds cells to the current row of `<name>.csv`: numbers, texts, means with errors, or ranges
  /// of them.
  template <class... Values>
  void cells(const Values&... values) {
    (cell(values), ...);
  }
  /// Adds cells and ends the row.
  template <class... Values>
  void csv_row(const Values&... values) {
    cells(values...);
    rows_ += csv_.row();
  }

  /// Writes all files. A picture that cannot be drawn is a warning.
  void write(const std::vector<io::Plot>& plots);

 private:
  template <class T>
  void cell(const T& value) {
    if constexpr (std::convertible_to<T, std::string_view>) {
      csv_.cell(std::string_view(value));
    } else if constexpr (std::integral<T>) {
      csv_.cell(static_cast<std::int64_t>(value));
    } else if constexpr (std::same_as<T, OrNan>) {
      csv_.cell_or_nan(value.value);
    } else if constexpr (std::same_as<T, analysis::MeanError>) {
      csv_.cell(value.mean).cell(value.error);
    } else if constexpr (std::ranges::range<T>) {
      for (const auto& v : value) cell(v);
    } else {
      csv_.cell(value);
    }
  }

  const Reproduction& reproduction_;
  const ReproduceOptions& options_;
  io::CsvFormat csv_;
  std::string rows_, results_, method_;
};

/// Title, summary, published result and picture of a page.
std::string page_head(const Reproduction& r);
/// The list that ends a page: the deck and the command, then `items`. @param deck_details follow
/// the name of the deck
std::string page_method(const Reproduction& r, std::string_view items,
                        std::string_view deck_details = {});
/// Draws `<name>.svg` and `.png`.
void draw_pictures(const Reproduction& r, const ReproduceOptions& options,
                   const std::vector<io::Plot>& plots);

/// The path of `<name><suffix>` in the output folder.
std::string output_path(const Reproduction& r, const ReproduceOptions& options,
                        std::string_view suffix);
/// The deck of a page with its own overrides and then these.
Deck page_deck(const Reproduction& r, const ReproduceOptions& options,
               const std::vector<std::string>& overrides = {});

/// Options of a comparison on the CPU that writes into a work folder.
CompareOptions compare_options(const ReproduceOptions& options, const std::string& folder);

io::Plot plot(const std::string& title, const std::string& x_label, const std::string& y_label);
/// With two logarithmic axes.
io::Plot log_plot(const std::string& title, const std::string& x_label, const std::string& y_label);
/// Appends an empty curve.
io::Series& add_curve(io::Plot& plot, std::string label,
                      io::Series::Style style = io::Series::Style::marked_line);
void add_point(io::Series& series, double x, double y);
void add_point(io::Series& series, double x, double y, double low, double high);
/// The line of an order on logarithmic axes, through (x, y) down to x_low: dashed and grey.
io::Series order_guide(int order, double x, double y, double x_low);

}  // namespace tarn
