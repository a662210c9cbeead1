#pragma once

#include <string>
#include <string_view>

namespace tarn::io {

/// Writes all of `text`, in several system calls if necessary.
/// @return 0, or errno of the failed call
int write_all(int descriptor, std::string_view text);

/// Synchronises the entries of the folder of `path` with the disk, if the file system supports it.
void sync_folder_of(const std::string& path);

}  // namespace tarn::io
