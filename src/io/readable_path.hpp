#pragma once

#include <string>

namespace tarn::io {

/// A name under which a file can be opened as often as one likes. That is its own but for pipes
/// and terminals, which give what they hold once: it is read into memory the first time, stays
/// there until the program ends, and is named from then on.
/// @throws IoError; InputError where more than 4 GiB come
std::string readable_path(const std::string& path);

}  // namespace tarn::io
