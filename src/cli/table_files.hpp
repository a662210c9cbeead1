#pragma once

#include <string>
#include <string_view>

#include "terminal.hpp"

namespace tarn::cli {

/// The output files named by -o and --plot.
struct TableFiles {
  std::string table;    ///< empty: none is written
  std::string picture;  ///< empty: none is drawn
};

/// @throws InputError unless the name of a picture ends with .svg or .png
/// @param option name of the option, for the message
void check_picture_name(std::string_view option, const std::string& path);

/// A picture is drawn from its table. Without -o the table is written next to the picture.
/// @param out, plot values of -o and --plot; empty if not given
/// @throws InputError for an unknown picture format
TableFiles table_files(const std::string& out, const std::string& plot);

/// Draws a table or structures, and prints the name of the picture. @throws IoError
void draw_picture(const std::string& file, const std::string& picture, Terminal& terminal);

/// Writes the table, draws the picture and prints the names of both. @throws IoError
void write_table(const TableFiles& files, std::string_view csv, Terminal& terminal);

}  // namespace tarn::cli
