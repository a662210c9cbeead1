#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "tarn/core/message.hpp"
#include "tarn/io/json.hpp"
#include "tarn/run.hpp"

namespace tarn::cli {

/// Prints events for other programs: one JSON object per line of standard output, each with the key
/// `event`. Prints nothing unless enabled. Enabled or not, it keeps the program running when the
/// reader of standard output or standard error exits.
class Events {
 public:
  explicit Events(bool enabled);

  void started(const RunStart& start);
  void progress(const Progress& progress) const;
  /// The event "note" or "warning".
  void message(const Message& message) const;
  void blow_up(const BlowUp& blow_up, const std::string& text) const;
  void checkpoint(std::int64_t step) const;
  /// The last line: `finished` or `interrupted`, with the files in the folder.
  void ended(const std::string& folder, bool interrupted, int exit_code) const;
  /// The last line after an exception.
  void failed(const std::exception& error) const;

 private:
  void write(const io::JsonObject& object) const;

  bool enabled_;
  std::string folder_;
};

}  // namespace tarn::cli
