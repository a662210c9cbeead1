#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tarn/io/plot.hpp"
#include "tarn/observer.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// A table, and perhaps a picture of it, as -o and --plot name them.
struct TableFiles {
  std::string table;                           ///< empty: none is written
  std::optional<io::PictureFormat> picture{};  ///< of the table, where there is one
  std::string picture_without_extension{};
};

/// A picture is drawn from its table, which stands beside it where it has no name of its own.
/// @param out, plot empty where they are not given
/// @throws InputError for a picture of a format that is not known
TableFiles table_files(const std::string& out, const std::string& plot);

/// Writes the table and draws the picture, and says so. @throws IoError
void write_table(const TableFiles& files, std::string_view csv,
                 Pictures (*draw)(const std::string& table,
                                  const std::string& path_without_extension,
                                  const io::PictureFormats& formats),
                 Terminal& terminal);

}  // namespace tarn::cli
