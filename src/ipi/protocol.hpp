#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// The protocol of i-PI, for both sides. Messages are a header of 12 characters and numbers in the
/// byte order of this machine, in atomic units.
///
/// The side that moves the atoms sends STATUS, INIT, POSDATA, GETFORCE and EXIT. The side that
/// computes forces, the client, answers STATUS with NEEDINIT, READY or HAVEDATA, and GETFORCE with
/// FORCEREADY.

namespace tarn::ipi {

inline constexpr std::size_t kHeaderLength = 12;
/// Longer texts are not valid messages.
inline constexpr std::int32_t kMaxText = 1 << 20;

/// Messages to be sent.
class Outgoing {
 public:
  /// @param text with up to kHeaderLength characters
  void put_header(std::string_view text);
  void put(std::span<const std::byte> bytes);
  template <class T>
  void put_number(T value) {
    put(std::as_bytes(std::span(&value, 1)));
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Removes the first bytes, which have been sent.
  void remove(std::size_t count);

 private:
  std::vector<std::byte> bytes_;
};

/// The text of a header, without the blanks at its end.
std::string header_text(std::span<const std::byte> header);
/// The text with '?' for characters that are not printable.
std::string printable(std::string text);
/// @param message the message that contains the text
/// @throws IoError if a text cannot have this size
std::size_t checked_text_size(std::int32_t size, std::string_view message);

}  // namespace tarn::ipi
