#pragma once

#include <exception>
#include <string>

namespace tarn::cli {

/// Exit code and message of the program after an exception.
struct Failure {
  int exit_code;
  std::string message;
};

Failure failure_of(const std::exception& error);

}  // namespace tarn::cli
