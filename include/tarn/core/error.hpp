#pragma once

#include <stdexcept>
#include <string>
#include <vector>

/// @file
/// Exceptions. The library throws them and never prints or exits; the command line maps each class
/// to its exit code.

namespace tarn {

/// Exit codes of the command line.
enum class ExitCode : int { done = 0, bad_input = 2, numerical = 3, io = 4, device = 5 };

/// Base class of all errors; what() names the problem, its location and a remedy.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A number for messages with three digits, independent of the locale: "0.005", "1.2e-09".
std::string three_digits(double value);

/// One problem of an input file. Line and column count from 1; 0 stands for the whole file.
struct Problem {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;

  /// "file:line:column: message", without unknown parts.
  std::string text() const;
};

/// An invalid deck, structure file or argument, with all problems found.
class InputError : public Error {
 public:
  explicit InputError(std::vector<Problem> problems);
  explicit InputError(const std::string& message) : Error(ExitCode::bad_input, message) {}
  /// A single problem. @param line 0: the whole file
  InputError(const std::string& file, int line, const std::string& message)
      : InputError(std::vector{Problem{file, line, 0, message}}) {}
  const std::vector<Problem>& problems() const noexcept { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// A simulation blew up, or an iteration did not converge.
class NumericalError : public Error {
 public:
  explicit NumericalError(const std::string& message) : Error(ExitCode::numerical, message) {}
};

/// A file cannot be read or written.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message) : Error(ExitCode::io, message) {}
};

/// The data of a checkpoint has a layout that this program does not support.
class LayoutError : public IoError {
 public:
  using IoError::IoError;
};

/// A requested device cannot be used.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(ExitCode::device, message) {}
};

}  // namespace tarn
