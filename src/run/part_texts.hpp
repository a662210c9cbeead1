#pragma once

#include <span>
#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// Messages about the devices that share the replicas: some without replicas, one used twice, or
/// different arithmetic.
Messages part_messages(std::span<const EnginePart> parts);

/// A line per part: "replicas 0 to 31: rank 0 on node1, CPU, avx512, 4 threads". Only the first
/// ones of many.
std::vector<std::string> part_lines(std::span<const EnginePart> parts);

}  // namespace tarn
