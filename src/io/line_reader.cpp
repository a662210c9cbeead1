#include "line_reader.hpp"

#include <cerrno>

#include "paths.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "words.hpp"

namespace tarn::io {

LineReader::LineReader(const std::string& path) : path_(path), stream_(readable_path(path)) {
  if (!stream_) throw_io_error("read", path, errno);
  if (stream_.peek() == std::ifstream::traits_type::eof() && stream_.bad()) {
    throw_io_error("read", path, errno);  // a folder opens, but cannot be read
  }
  stream_.clear();
}

bool LineReader::next() {
  if (!std::getline(stream_, line_)) {
    if (stream_.bad()) throw_io_error("read", path_, errno);
    return false;
  }
  ++line_number_;
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  // Skip the invisible byte order mark that some editors write.
  if (line_number_ == 1 && line_.starts_with("\xEF\xBB\xBF")) line_.erase(0, 3);
  return true;
}

bool LineReader::next_nonblank() {
  while (next()) {
    if (!is_blank(line_)) return true;
  }
  return false;
}

void LineReader::fail(int column, const std::string& message) const {
  throw InputError({Problem{path_, line_number_, column, message}});
}

}  // namespace tarn::io
