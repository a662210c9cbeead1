#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace tarn::cli {

/// Message for an invalid command line: the problem and its solution, as complete lines.
std::string usage_text(const CLI::App& app, const CLI::Error& error);

}  // namespace tarn::cli
