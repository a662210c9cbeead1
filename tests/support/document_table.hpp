#pragma once

#include "testing.hpp"

/// @file
/// Tables of the documents, which tests compare with computed ones.

namespace tarn::test {

/// The rows of the tables below a heading, without their heads, up to the next heading. Indented
/// tables are skipped.
inline std::string document_rows(const std::string& page, std::string_view heading) {
  std::ifstream file(std::string(TARN_SOURCE_DIR) + "/docs/" + page);
  EXPECT_TRUE(file.good()) << page;
  std::string rows;
  bool inside = false, below_rule = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind('#', 0) == 0) inside = line == heading;
    if (inside && below_rule && line.rfind("| ", 0) == 0) rows += line + "\n";
    below_rule = line.rfind("|-", 0) == 0 || (below_rule && line.rfind("| ", 0) == 0);
  }
  return rows;
}

/// Expects these rows below the heading of the page.
inline void expect_document_rows(const std::string& page, std::string_view heading,
                                 const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  EXPECT_EQ(document_rows(page, heading), text)
      << "if the change is intended, docs/" << page << " should read\n"
      << text;
}

}  // namespace tarn::test
