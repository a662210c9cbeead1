#include "ranks.hpp"

namespace tarn::cli {
namespace {

Ranks* g_ranks = nullptr;

}  // namespace

void set_ranks(Ranks* ranks) { g_ranks = ranks; }
Ranks* ranks() { return g_ranks; }

EngineMaker engine_maker() {
  if (g_ranks == nullptr) return {};
  return [](const System& system, const State& start, const PairCountRequest& counts,
            const DeviceRequest& device) {
    return g_ranks->make_engine(system, start, counts, device);
  };
}

}  // namespace tarn::cli
