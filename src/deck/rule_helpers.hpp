#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker.hpp"

namespace tarn::decks {

/// A problem for each of the keys that the deck does not give: "[section] needs key".
void require_keys(Checker& checker, std::initializer_list<std::string_view> paths);

/// A problem if the deck gives none of the keys.
/// @param at the key at which the problem is reported
void require_one_of(Checker& checker, std::initializer_list<std::string_view> paths,
                    std::string_view at, const std::string& message);

/// The rule of a limit, checked if these keys have no problem.
/// @param key the key at which the problem is reported
Rule limit(std::string_view text,
           std::optional<std::string> (*problem)(const Deck&, std::int64_t molecules),
           std::string_view key, std::vector<std::string_view> relies_on);

/// True for a penalty scheme with omega = "infinite".
bool has_infinite_penalty(const Checker& checker);

}  // namespace tarn::decks
