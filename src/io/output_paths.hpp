#pragma once

#include <string>
#include <vector>

namespace tarn::io {

/// Checks that no file would be written twice and no input overwritten. Pipes and devices may be
/// written more than once.
/// @param written names of output files; an empty name stands for no file
/// @param read names of input files
/// @throws InputError
void check_distinct_paths(const std::vector<std::string>& written,
                          const std::vector<std::string>& read);

}  // namespace tarn::io
