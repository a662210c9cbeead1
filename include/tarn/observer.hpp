#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "tarn/engine.hpp"

namespace tarn {

/// Reads Frames and writes one kind of file.
///
/// A run calls observe() at step 0 and at every multiple of every(). At a checkpoint it calls
/// save(), which flushes what was written; after a restart with the same deck it calls load()
/// instead of begin(), and the files go on as if nothing had happened.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Fields that observe() needs in its Frame.
  virtual unsigned fields() const = 0;
  virtual std::int64_t every() const = 0;
  /// Starts new files. @throws IoError
  virtual void begin() = 0;
  virtual void observe(const Frame& frame) = 0;
  /// Writes what the observer must remember (sums, file lengths) in binary.
  virtual void save(std::ostream& out) = 0;
  /// Restores what save() wrote and cuts the files back to that moment.
  virtual void load(std::istream& in) = 0;
  /// Writes final tables; called once, after the last step.
  virtual void finish() = 0;
  /// Draws the pictures of the files that finish() wrote; returns the paths of the pictures.
  virtual std::vector<std::string> draw() { return {}; }
};

}  // namespace tarn
