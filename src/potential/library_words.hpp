#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace tarn::potentials {

/// Text of a library on one line: without control characters, and without white space and a full
/// stop at its end.
inline std::string one_line(std::string_view text) {
  std::string line(text);
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  const std::size_t last = line.find_last_not_of(" .");
  line.erase(last == std::string::npos ? 0 : last + 1);
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

}  // namespace tarn::potentials
