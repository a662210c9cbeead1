#pragma once

#include <optional>
#include <string>

#include "tarn/core/message.hpp"

namespace tarn {

/// Restricts a folder to one writer by a system lock on its file `.tarn-lock`. The lock is released
/// with this object, or when the program exits or is killed. The destructor removes the file; a
/// file left by a killed program is not locked and is reused.
///
/// Does not exclude other writers on file systems without locks; see note().
class FolderLock {
 public:
  /// Locks nothing.
  FolderLock() = default;
  /// @param folder existing folder
  /// @throws InputError if another writer, in this or another program, has the lock; IoError
  explicit FolderLock(const std::string& folder);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

  bool locked() const { return descriptor_ >= 0; }
  /// For the user, if other writers may not be detected.
  std::optional<Message> note() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  bool excludes_others_ = true;
};

}  // namespace tarn
