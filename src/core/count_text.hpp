#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tarn {

/// "1 frame", "2 frames". @param plural empty: the singular and an s
inline std::string count_text(std::int64_t n, std::string_view singular,
                              std::string_view plural = {}) {
  std::string text = std::to_string(n) + ' ';
  if (n == 1) return text.append(singular);
  return plural.empty() ? text.append(singular) + 's' : text.append(plural);
}

}  // namespace tarn
