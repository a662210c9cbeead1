#include "compare_tables.hpp"

#include "terminal.hpp"

namespace tarn::cli {

void print_table(std::FILE* out, const std::vector<std::vector<std::string>>& rows) {
  for (const std::string& line : aligned_rows(rows)) fmt::print(out, "{}\n", line);
}

std::string number_text(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

}  // namespace tarn::cli
