#include "tarn/io/io_error.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "tarn/core/error.hpp"

namespace tarn::io {
namespace {

std::string_view advice(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "Free some space there or choose another folder.";
    case EFBIG:
      return "The file reached the size limit of this shell or disk: raise it (ulimit -f) or write "
             "less often.";
    case EACCES:
    case EPERM:
      return "Change the permissions or choose a folder that you may use.";
    case EROFS:
      return "The disk is read-only: choose another folder.";
    case ENOENT:
      return "Check the name, and that the file and its folder still exist.";
    case ENOTDIR:
    case EEXIST:
      return "A file has the name of a folder that is needed: remove it or choose another name.";
    case EISDIR:
      return "This is a folder: give the name of a file.";
    case EMFILE:
    case ENFILE:
      return "Too many open files: raise the limit (ulimit -n).";
    default:
      return "Check the disk and try again.";
  }
}

}  // namespace

void throw_io_error(std::string_view action, const std::string& path, int error_number) {
  throw IoError(fmt::format("cannot {} '{}': {}. {}", action, path,
                            std::generic_category().message(error_number), advice(error_number)));
}

}  // namespace tarn::io
