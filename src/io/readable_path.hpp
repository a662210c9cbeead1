#pragma once

#include <string>

namespace tarn::io {

/// A path under which a file can be opened repeatedly. For regular files this is the path itself.
/// Pipes and terminals deliver their data only once: the first call copies them to memory, where
/// they remain until the program ends, and returns the path of the copy.
/// @throws IoError; InputError for more than 4 GiB
std::string readable_path(const std::string& path);

}  // namespace tarn::io
