#include "table_files.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/draw.hpp"
#include "tarn/io/io_error.hpp"

namespace tarn::cli {

void check_picture_name(std::string_view option, const std::string& path) {
  const std::filesystem::path extension = std::filesystem::path(path).extension();
  if (extension == ".svg" || extension == ".png") return;
  throw InputError(fmt::format("{} {}: give a name that ends with .svg or .png", option, path));
}

TableFiles table_files(const std::string& out, const std::string& plot) {
  TableFiles files{out, plot};
  if (plot.empty()) return files;
  check_picture_name("--plot", plot);
  if (out.empty()) files.table = std::filesystem::path(plot).replace_extension(".csv").string();
  return files;
}

void draw_picture(const std::string& file, const std::string& picture, Terminal& terminal) {
  const Pictures pictures = io::draw_picture(file, picture);
  for (const std::string& path : pictures.paths) terminal.info("picture: " + path);
  if (pictures.failed) throw IoError(pictures.messages.front().text);
  terminal.print(pictures.messages);
}

void write_table(const TableFiles& files, std::string_view csv, Terminal& terminal) {
  io::write_file(files.table, csv);
  terminal.info("written: " + files.table);
  if (!files.picture.empty()) draw_picture(files.table, files.picture, terminal);
}

}  // namespace tarn::cli
