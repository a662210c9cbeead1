#include "tarn/core/error.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace tarn {

std::string three_digits(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3);
  return {text.data(), end.ptr};
}
namespace {

std::string join(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.text();
  }
  return text;
}

}  // namespace

std::string Problem::text() const {
  std::string where = file;
  if (line > 0) {
    where += ':' + std::to_string(line);
    if (column > 0) where += ':' + std::to_string(column);
  }
  return where.empty() ? message : where + ": " + message;
}

InputError::InputError(std::vector<Problem> problems)
    : Error(ExitCode::bad_input, join(problems)), problems_(std::move(problems)) {}

}  // namespace tarn
