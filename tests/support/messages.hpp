#pragma once

#include <string>
#include <vector>

#include "tarn/core/message.hpp"

namespace tarn::test {

/// The texts of messages of all levels.
inline std::vector<std::string> texts(const Messages& messages) {
  std::vector<std::string> all;
  for (const Message& message : messages) all.push_back(message.text);
  return all;
}

}  // namespace tarn::test
