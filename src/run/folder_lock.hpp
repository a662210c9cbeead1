#pragma once

#include <string>

namespace tarn {

/// Keeps a folder for one writer: a lock of the system on its file `.tarn-lock`, which ends with
/// this object or with the program, however that ends. The file goes with the object; one that a
/// killed program left is nobody's and is taken over.
///
/// Where the file system has no locks, nobody is kept out.
class FolderLock {
 public:
  /// Nothing is locked.
  FolderLock() = default;
  /// @param folder which exists
  /// @throws InputError when another writer has it, in this program or in another; IoError
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
