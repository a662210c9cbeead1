#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tarn/io/plot.hpp"
#include "tarn/observer.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// The output files named by -o and --plot.
struct TableFiles {
  std::string table;                           ///< empty: none is written
  std::optional<io::PictureFormat> picture{};  ///< format of the picture, if any
  std::string picture_without_extension{};
};

/// A picture is drawn from its table. Without -o the table is written next to the picture.
/// @param out, plot values of -o and --plot; empty if not given
/// @throws InputError for an unknown picture format
TableFiles table_files(const std::string& out, const std::string& plot);

/// Writes the table, draws the picture and prints the names of both. @throws IoError
void write_table(const TableFiles& files, std::string_view csv,
                 Pictures (*draw)(const std::string& table,
                                  const std::string& path_without_extension,
                                  const io::PictureFormats& formats),
                 Terminal& terminal);

}  // namespace tarn::cli
