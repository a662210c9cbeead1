#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "tarn/io/json.hpp"
#include "tarn/run.hpp"

namespace tarn::cli {

/// Tells programs that watch: one JSON object a line on standard output, each with the key `event`.
/// Says nothing unless it is on. When the reader of standard output or error goes away, the run
/// goes on without it, on or not.
class Events {
 public:
  explicit Events(bool on);

  void started(const RunStart& start);
  void progress(const Progress& progress) const;
  void warning(const std::string& text) const;
  void blow_up(const BlowUp& blow_up, const std::string& text) const;
  void checkpoint(std::int64_t step) const;
  /// The last line: `finished` or `interrupted`, with the files that are there.
  void ended(const std::string& folder, bool interrupted, int exit_code) const;
  /// The last line of what an exception ends.
  void failed(const std::exception& error) const;

 private:
  void say(const io::JsonObject& object) const;

  bool on_;
  std::string folder_;
};

}  // namespace tarn::cli
