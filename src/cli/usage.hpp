#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace tarn::cli {

/// What is wrong with a command line, and how to mend it; whole lines.
std::string usage_text(const CLI::App& app, const CLI::Error& error);

}  // namespace tarn::cli
