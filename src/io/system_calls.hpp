#pragma once

#include <string>
#include <string_view>

namespace tarn::io {

/// Writes all of `text`, also when the system takes it in pieces.
/// @return 0, or errno of what failed
int write_all(int descriptor, std::string_view text);

/// Brings the entries of the folder of `path` to the disk, as far as the file system allows it.
void sync_folder_of(const std::string& path);

}  // namespace tarn::io
