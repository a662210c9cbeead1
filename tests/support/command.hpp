#pragma once

#include <cstdio>
#include <sys/wait.h>

#include "testing.hpp"

namespace tarn::test {

/// Exit code and output of a command.
struct Outcome {
  int exit_code = -1;
  std::string text;  ///< standard output and error together
};

/// Runs the program with arguments in shell syntax.
/// @param before text before its name, such as environment variables
inline Outcome command(const std::string& arguments, const std::string& before = "") {
  Outcome outcome;
  const std::string line = before + "'" + TARN_BINARY + "' " + arguments + " 2>&1";
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) outcome.text += buffer.data();
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

/// The output of a command with this exit code.
inline std::string output_of(const std::string& arguments, int exit_code = 0) {
  const Outcome outcome = command(arguments);
  EXPECT_EQ(outcome.exit_code, exit_code) << arguments << '\n' << outcome.text;
  return outcome.text;
}

/// The number after the first occurrence of some words.
inline double number_after(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  EXPECT_NE(at, std::string::npos) << words << " in " << text;
  return at == std::string::npos ? 0.0 : std::strtod(&text[at + words.size()], nullptr);
}

}  // namespace tarn::test
