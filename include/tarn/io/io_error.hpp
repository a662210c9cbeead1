#pragma once

#include <string>
#include <string_view>

namespace tarn::io {

/// Throws the IoError of a failed system call: what failed, where, why and how to mend it.
/// @param action what was tried, as in "cannot <action> '<path>'"
/// @param error_number errno of the failed call
/// @throws IoError always
[[noreturn]] void throw_io_error(std::string_view action, const std::string& path,
                                 int error_number);

}  // namespace tarn::io
