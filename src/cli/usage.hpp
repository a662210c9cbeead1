#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tarn::cli {

/// Message for an invalid command line: the problem and its solution, as complete lines.
std::string usage_text(const CLI::App& app, const CLI::Error& error);

/// The problem with a change of --set that was split at a blank, "--set run.steps 5".
/// @param words arguments that may be its value
std::optional<std::string> split_change_problem(const std::vector<std::string>& changes,
                                                const std::vector<std::string>& words);

}  // namespace tarn::cli
