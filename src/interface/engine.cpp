#include "tarn/engine.hpp"

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

}  // namespace tarn
