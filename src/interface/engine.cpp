#include "tarn/engine.hpp"

#include <charconv>

#include "measure.hpp"
#include "tarn/core/error.hpp"

namespace tarn {
namespace {

[[noreturn]] void refuse_exchange(const Engine& engine) {
  throw InputError("replicas of '" + engine.description() +
                   "' cannot exchange states with those of another engine");
}

}  // namespace

std::vector<double> Engine::take_coordinates(std::span<const std::int64_t> /*replica_ids*/) const {
  refuse_exchange(*this);
}

void Engine::put_coordinates(std::span<const ReceivedCoordinates> /*replicas*/,
                             std::span<const double> /*numbers*/) {
  refuse_exchange(*this);
}

std::vector<EnginePart> Engine::parts() const {
  EnginePart part;
  part.device = description();
  part.arithmetic = arithmetic();
  return {part};
}

std::optional<CudaDevices> parse_cuda_devices(std::string_view name) {
  constexpr std::string_view kCuda = "cuda";
  constexpr int kLargestIndex = 99'999;
  if (!name.starts_with(kCuda)) return std::nullopt;
  name.remove_prefix(kCuda.size());
  if (name.empty()) return CudaDevices{false, {0}};
  if (name == ":all") return CudaDevices{true, {}};
  CudaDevices devices;
  // Each index follows a separator.
  for (char separator = ':'; !name.empty(); separator = ',') {
    if (name.front() != separator) return std::nullopt;
    name.remove_prefix(1);
    int index = -1;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (error != std::errc() || index < 0 || index > kLargestIndex) return std::nullopt;
    devices.indices.push_back(index);
    name.remove_prefix(static_cast<std::size_t>(rest - name.data()));
  }
  return devices;
}

}  // namespace tarn
