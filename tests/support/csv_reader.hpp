#pragma once

#include "core/text.hpp"
#include "io/words.hpp"
#include "tarn/io/atomic_file.hpp"
#include "testing.hpp"

namespace tarn::test {

/// Reads a CSV file row by row; lines that begin with '#' are skipped.
class CsvReader {
 public:
  explicit CsvReader(const std::string& path) : text_(io::read_file(path)), rest_(text_) {
    std::vector<std::string_view> cells;
    EXPECT_TRUE(next_row(cells)) << path;
    header_.assign(cells.begin(), cells.end());
  }
  CsvReader(const CsvReader&) = delete;

  const std::vector<std::string>& header() const { return header_; }
  /// Text of the `#` lines so far, without the '#'.
  const std::string& provenance() const { return provenance_; }
  bool has_column(std::string_view name) const {
    return std::ranges::find(header_, name) != header_.end();
  }
  std::size_t column(std::string_view name) const {
    EXPECT_TRUE(has_column(name)) << name;
    return static_cast<std::size_t>(std::ranges::find(header_, name) - header_.begin());
  }
  /// @return false at the end
  bool next(std::vector<std::string_view>& cells) {
    if (!next_row(cells)) return false;
    EXPECT_EQ(cells.size(), header_.size());
    return true;
  }
  double number(std::string_view cell) const { return number_in<double>(cell).value(); }

 private:
  bool next_row(std::vector<std::string_view>& cells) {
    while (!rest_.empty()) {
      const std::string_view line = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
      if (line.starts_with('#')) provenance_ += line.substr(1);
      if (line.empty() || line[0] == '#') continue;
      cells = io::split(line, ',');
      return true;
    }
    return false;
  }

  std::string text_;
  std::string_view rest_;
  std::string provenance_;
  std::vector<std::string> header_;
};

}  // namespace tarn::test
