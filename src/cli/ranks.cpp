#include "ranks.hpp"

#include <fmt/format.h>

namespace tarn::cli {
namespace {

Ranks* g_ranks = nullptr;

}  // namespace

void set_ranks(Ranks* ranks) { g_ranks = ranks; }
Ranks* ranks() { return g_ranks; }

EngineMaker engine_maker() { return g_ranks != nullptr ? g_ranks->engine_maker() : EngineMaker{}; }

std::optional<Message> warning_of_idle_ranks(const std::string& what) {
  if (g_ranks == nullptr || g_ranks->size() == 1) return {};
  return Message::warning(fmt::format("{} use one rank only: {} of {} ranks are idle", what,
                                      g_ranks->size() - 1, g_ranks->size()));
}

}  // namespace tarn::cli
