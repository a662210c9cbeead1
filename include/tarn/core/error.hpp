#pragma once

#include <stdexcept>
#include <string>
#include <vector>

/// @file
/// Errors. The library throws these and never prints or exits; the command line turns each class
/// into its exit code.

namespace tarn {

/// Exit codes of the command line.
enum class ExitCode : int { done = 0, bad_input = 2, numerical = 3, io = 4, device = 5 };

/// Base of every error: what() says what, where and how to mend it.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A number for messages, in three digits and whatever the locale: "0.005", "1.2e-09".
std::string three_digits(double value);

/// One thing wrong with an input file; line and column count from 1, 0 means the whole file.
struct Problem {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;

  /// "file:line:column: message" without the parts that are not known.
  std::string text() const;
};

/// A deck, a structure file or an argument that cannot be used; carries every problem found.
class InputError : public Error {
 public:
  explicit InputError(std::vector<Problem> problems);
  explicit InputError(const std::string& message) : Error(ExitCode::bad_input, message) {}
  const std::vector<Problem>& problems() const noexcept { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// A simulation that blew up, or an iteration that did not converge.
class NumericalError : public Error {
 public:
  explicit NumericalError(const std::string& message) : Error(ExitCode::numerical, message) {}
};

/// A file that cannot be read or written.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message) : Error(ExitCode::io, message) {}
};

/// What a checkpoint remembers is not of the layout that this program reads.
class LayoutError : public IoError {
 public:
  using IoError::IoError;
};

/// A device that was asked for and cannot be used.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(ExitCode::device, message) {}
};

}  // namespace tarn
