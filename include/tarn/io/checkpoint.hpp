#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/state.hpp"

namespace tarn::io {

/// Version of the format of the file; other versions are refused.
inline constexpr std::uint64_t kCheckpointFormat = 4;

/// What one observer must remember, under its name.
struct ObserverRecord {
  std::string name;
  std::string bytes;
};

/// Everything from which a run goes on bit for bit.
struct Checkpoint {
  std::string tarn_version;
  std::string physics;  ///< physics_fingerprint() of the deck
  std::string device;   ///< Engine::arithmetic() of the engine that wrote it
  /// All replicas, those that were stopped among them (with their last good state).
  State state;
  std::vector<BlowUp> blow_ups;
  std::vector<ObserverRecord> observers;
};

/// Writes a checkpoint; an older one under that name stays until the new one is complete.
///
/// The file: 8 bytes of magic, format version, length of the contents, the contents, their
/// checksum(); every number little-endian.
/// @throws IoError
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// @throws IoError saying whether the file cannot be read, is no checkpoint, has another format
///         version, was cut off, is damaged or holds what no run has
Checkpoint read_checkpoint(const std::string& path);

/// Gives what one observer saved to what loads it.
/// @throws LayoutError naming the record where that does not fit; what else `load` throws
void read_record(const ObserverRecord& record, const std::function<void(std::istream&)>& load);

}  // namespace tarn::io
