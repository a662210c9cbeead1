#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "checker.hpp"

namespace tarn::decks {

/// A problem for each of the keys that the deck does not give: "[section] needs key".
void require_keys(Checker& checker, std::initializer_list<std::string_view> paths);

/// A problem if the deck gives none of the keys.
/// @param at the key at which the problem is reported
void require_one_of(Checker& checker, std::initializer_list<std::string_view> paths,
                    std::string_view at, const std::string& message);

/// True for a penalty scheme with omega = "infinite".
bool has_infinite_penalty(const Checker& checker);

}  // namespace tarn::decks
