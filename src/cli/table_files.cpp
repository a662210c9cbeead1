#include "table_files.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn::cli {
namespace {

io::PictureFormat format_of_picture(const std::string& path) {
  for (const io::PictureFormat format : io::kAllPictures) {
    if (std::filesystem::path(path).extension() == io::extension_of(format)) return format;
  }
  throw InputError(fmt::format("--plot {}: give a name that ends with .svg or .png", path));
}

}  // namespace

TableFiles table_files(const std::string& out, const std::string& plot) {
  TableFiles files{out};
  if (plot.empty()) return files;
  files.picture = format_of_picture(plot);
  files.picture_without_extension = std::filesystem::path(plot).replace_extension().string();
  if (out.empty()) files.table = files.picture_without_extension + ".csv";
  return files;
}

void write_table(const TableFiles& files, std::string_view csv,
                 Pictures (*draw)(const std::string& table,
                                  const std::string& path_without_extension,
                                  const io::PictureFormats& formats),
                 Terminal& terminal) {
  io::write_file(files.table, csv);
  terminal.info("written: " + files.table);
  if (!files.picture) return;
  const Pictures pictures = draw(files.table, files.picture_without_extension, {*files.picture});
  for (const std::string& path : pictures.paths) terminal.info("picture: " + path);
  if (pictures.failed) throw IoError(pictures.messages.front().text);
  terminal.print(pictures.messages);
}

}  // namespace tarn::cli
