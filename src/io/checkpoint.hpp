#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/state.hpp"

namespace tarn::io {

/// Version of the file format; other versions are rejected.
inline constexpr std::uint64_t kCheckpointFormat = 8;

/// State of one observer.
struct ObserverRecord {
  std::string name;
  std::string bytes;
};

/// The data from which a run can be resumed bit for bit.
struct Checkpoint {
  std::string tarn_version;
  std::string physics;  ///< physics_fingerprint() of the deck
  std::string device;   ///< Engine::arithmetic() of the writing engine
  /// All replicas; stopped ones have their last valid state.
  State state;
  std::vector<BlowUp> blow_ups;
  std::vector<ObserverRecord> observers;
};

/// Writes a checkpoint. An older one of that name remains until the new one is complete.
///
/// The file contains 8 magic bytes, the format version, the length of the contents, the contents
/// and their LongChecksum. All numbers are little-endian.
/// @throws IoError
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// @throws IoError if the file is unreadable, not a checkpoint, of another format version,
/// truncated, damaged or inconsistent
Checkpoint read_checkpoint(const std::string& path);

/// Passes the state of one observer to `load`.
/// @throws LayoutError that names the record if its size is wrong; anything else that `load` throws
void read_record(const ObserverRecord& record, const std::function<void(std::istream&)>& load);

}  // namespace tarn::io
