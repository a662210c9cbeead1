#include "part_texts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tarn {
namespace {

/// More parts than this are listed only in run.json.
constexpr std::size_t kMostLines = 16;

bool has_ranks(std::span<const EnginePart> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const auto& p) { return !p.host.empty(); });
}

/// Parts that use the same device.
std::size_t sharing_a_device(std::span<const EnginePart> parts) {
  std::map<std::pair<std::string, std::string>, std::size_t> users;
  for (const EnginePart& part : parts) {
    if (!part.device_id.empty()) ++users[{part.host, part.device_id}];
  }
  std::size_t all = 0;
  for (const auto& [device, count] : users) all += count > 1 ? count : 0;
  return all;
}

}  // namespace

Messages part_messages(std::span<const EnginePart> parts) {
  Messages messages;
  const auto idle = std::count_if(parts.begin(), parts.end(),
                                  [](const EnginePart& part) { return part.replicas == 0; });
  const auto used = static_cast<std::ptrdiff_t>(parts.size()) - idle;
  if (idle > 0 && parts.size() > 1) {
    messages.push_back(Message::warning(fmt::format("idle {}: {} of {}; use {}, or more replicas",
                                                    has_ranks(parts) ? "ranks" : "devices", idle,
                                                    parts.size(), used)));
  }
  if (const std::size_t count = sharing_a_device(parts); count > 0) {
    messages.push_back(Message::warning(fmt::format(
        "{} parts share a GPU with others, which is slower than one part per GPU", count)));
  }
  std::set<std::string> kinds;
  for (const EnginePart& part : parts) {
    if (part.replicas > 0) kinds.insert(part.arithmetic);
  }
  if (kinds.size() > 1) {
    messages.push_back(Message::note(fmt::format(
        "the devices differ ({}), so the results are not bitwise independent of the number of "
        "devices and ranks",
        fmt::join(kinds, "; "))));
  }
  return messages;
}

std::vector<std::string> part_lines(std::span<const EnginePart> parts) {
  std::vector<std::string> lines;
  for (const EnginePart& part : parts) {
    if (lines.size() == kMostLines && parts.size() > kMostLines + 1) {
      lines.push_back(fmt::format("and {} more; run.json lists all", parts.size() - kMostLines));
      break;
    }
    const std::string replicas =
        part.replicas == 0 ? "no replicas"
        : part.replicas == 1
            ? fmt::format("replica {}", part.first_replica)
            : fmt::format("replicas {} to {}", part.first_replica, part.last_replica);
    const std::string where =
        part.host.empty() ? "" : fmt::format("rank {} on {}, ", part.rank, part.host);
    lines.push_back(fmt::format("{}: {}{}", replicas, where, part.device));
  }
  return lines;
}

}  // namespace tarn
