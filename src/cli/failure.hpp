#pragma once

#include <exception>
#include <string>

namespace tarn::cli {

/// How the program ends after an exception.
struct Failure {
  int exit_code;
  std::string message;
};

Failure failure_of(const std::exception& error);

}  // namespace tarn::cli
