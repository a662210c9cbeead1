#pragma once

#include <string>

namespace tarn {

/// Restricts a folder to one writer by a system lock on its file `.tarn-lock`. The lock is released
/// with this object, or when the program exits or is killed. The destructor removes the file; a
/// file left by a killed program is not locked and is reused.
///
/// On file systems without locks, this class has no effect.
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

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace tarn
