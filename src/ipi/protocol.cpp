#include "protocol.hpp"

#include <fmt/format.h>

#include "tarn/core/error.hpp"

namespace tarn::ipi {

void Outgoing::put_header(std::string_view text) {
  const std::string header = fmt::format("{:<{}}", text, kHeaderLength);
  put(std::as_bytes(std::span(header)));
}

void Outgoing::put(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void Outgoing::remove(std::size_t count) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(count));
}

std::string header_text(std::span<const std::byte> header) {
  std::string text;
  for (const std::byte b : header) text.push_back(static_cast<char>(b));
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

std::string printable(std::string text) {
  for (char& c : text) c = c < ' ' || c > '~' ? '?' : c;
  return text;
}

std::size_t checked_text_size(std::int32_t size, std::string_view message) {
  if (size < 0 || size > kMaxText) {
    throw IoError(fmt::format("received {} with {} bytes", message, size));
  }
  return static_cast<std::size_t>(size);
}

}  // namespace tarn::ipi
