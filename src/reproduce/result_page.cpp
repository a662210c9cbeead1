#include "result_page.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tarn/io/atomic_file.hpp"
#include "tarn/version.hpp"

namespace tarn {

std::string value_and_error(double value, double error) {
  const int decimals = analysis::decimals_for(error);
  return fmt::format("{:.{}f} ± {:.{}f}", value, decimals, error, decimals);
}

MarkdownTable::MarkdownTable(const Cells& header) : columns_(header.size()) {
  row(header);
  text_ += "|";
  for (std::size_t k = 0; k < columns_; ++k) text_ += "---|";
  text_ += "\n";
}

void MarkdownTable::row(const Cells& cells) {
  if (cells.size() != columns_) {
    throw std::logic_error(
        fmt::format("a row of {} cells in a table of {} columns", cells.size(), columns_));
  }
  text_ += fmt::format("| {} |\n", fmt::join(cells, " | "));
}

ResultPage::ResultPage(const Reproduction& r, const ReproduceOptions& options,
                       std::vector<std::string> csv_columns, std::string_view provenance)
    : reproduction_(r),
      options_(options),
      csv_(output_path(r, options, ".csv"), std::move(csv_columns)) {
  rows_ = csv_.head(provenance.empty() ? fmt::format("tarn {}; {}", kVersion, r.deck)
                                       : std::string(provenance));
}

void ResultPage::method(std::string_view sentences) { method_ += fmt::format("* {}\n", sentences); }

void ResultPage::write(const std::vector<io::Plot>& plots) {
  io::write_file(output_path(reproduction_, options_, ".csv"), rows_);
  draw_pictures(reproduction_, options_, plots);
  io::write_file(output_path(reproduction_, options_, ".md"),
                 page_head(reproduction_) + results_ + page_method(reproduction_, method_));
}

std::string page_head(const Reproduction& r) {
  std::string text = fmt::format("# {}\n\n<!-- made by: tarn reproduce {} -->\n\n{}\n\n", r.title,
                                 r.name, r.summary);
  if (!r.paper.empty()) text += fmt::format("**Published.** {}\n\n", r.paper);
  return text + fmt::format("![{}]({}.svg)\n\n", r.title, r.name);
}

std::string page_method(const Reproduction& r, std::string_view items,
                        std::string_view deck_details) {
  std::string text = "## Method\n\n";
  if (!r.deck.empty()) {
    text += fmt::format("* Deck: `inputs/{}`", r.deck);
    for (const std::string& override_text : r.overrides) {
      text += fmt::format(", `{}`", override_text);
    }
    text += fmt::format("{}.\n", deck_details);
  }
  return text + fmt::format("* Command: `tarn reproduce {}`.\n{}", r.name, items);
}

void draw_pictures(const Reproduction& r, const ReproduceOptions& options,
                   const std::vector<io::Plot>& plots) {
  const io::Drawing drawing = io::draw(plots, output_path(r, options, ""));
  if (!drawing.warning.empty() && options.on_message) {
    options.on_message(Message::warning(drawing.warning));
  }
}

std::string output_path(const Reproduction& r, const ReproduceOptions& options,
                        std::string_view suffix) {
  return fmt::format("{}/{}{}", options.out_dir, r.name, suffix);
}

Deck page_deck(const Reproduction& r, const ReproduceOptions& options,
               const std::vector<std::string>& overrides) {
  std::vector<std::string> all = r.overrides;
  all.insert(all.end(), overrides.begin(), overrides.end());
  return load_deck(options.inputs_dir + "/" + r.deck, all);
}

CompareOptions compare_options(const ReproduceOptions& options, const std::string& folder) {
  CompareOptions compare;
  compare.out_dir = folder;
  compare.overwrite = true;
  compare.threads = options.threads;
  compare.make_engine = options.make_engine;
  compare.device = "cpu";
  compare.on_progress = options.on_progress;
  return compare;
}

io::Plot plot(const std::string& title, const std::string& x_label, const std::string& y_label) {
  io::Plot p;
  p.title = title;
  p.x_label = x_label;
  p.y_label = y_label;
  return p;
}

io::Plot log_plot(const std::string& title, const std::string& x_label,
                  const std::string& y_label) {
  io::Plot p = plot(title, x_label, y_label);
  p.log_x = p.log_y = true;
  return p;
}

io::Series& add_curve(io::Plot& plot, std::string label, io::Series::Style style) {
  io::Series& series = plot.series.emplace_back();
  series.label = std::move(label);
  series.style = style;
  return series;
}

void add_point(io::Series& series, double x, double y) {
  series.x.push_back(x);
  series.y.push_back(y);
}

void add_point(io::Series& series, double x, double y, double low, double high) {
  add_point(series, x, y);
  series.low.push_back(low);
  series.high.push_back(high);
}

io::Series order_guide(int order, double x, double y, double x_low) {
  io::Series s;
  s.label = fmt::format("order {}", order);
  s.x = {x_low, x};
  s.y = {y * std::pow(x_low / x, order), y};
  s.colour = "#888888";
  s.dashed = true;
  return s;
}

}  // namespace tarn
