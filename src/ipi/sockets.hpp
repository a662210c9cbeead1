#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "tarn/serve.hpp"

/// @file
/// Sockets, and the protocol of i-PI for both sides. Messages are a header of 12 characters and
/// numbers in the byte order of this machine, in atomic units.
///
/// The side that moves the atoms sends STATUS, INIT, POSDATA, GETFORCE and EXIT. The side that
/// computes forces, the client, answers STATUS with NEEDINIT, READY or HAVEDATA, and GETFORCE with
/// FORCEREADY.

namespace tarn::ipi {

/// Owns a socket, or nothing.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& from) noexcept : descriptor_(std::exchange(from.descriptor_, -1)) {}
  Socket& operator=(Socket&& from) noexcept {
    std::swap(descriptor_, from.descriptor_);
    return *this;
  }

  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// The text of a value of errno.
std::string error_text(int number);

/// Tries to connect once. @return no socket, with errno, if that failed
/// @throws InputError for a name that is too long; IoError for an unknown host
Socket connect_to(const ServeAddress& address);

/// Receives up to so many bytes, as recv() does, and acknowledges them at once.
ssize_t receive_some(const Socket& socket, std::span<std::byte> bytes);

/// A connection that another program made.
struct Accepted {
  Socket socket;     ///< does not block
  std::string from;  ///< address of the other program; empty for UNIX sockets
};

/// A socket to which other programs connect.
class Listener {
 public:
  /// Removes the file of a UNIX socket if no program listens there any more.
  /// @throws InputError, IoError if the address cannot be used
  explicit Listener(const ServeAddress& address);
  /// Removes the file of the UNIX socket, unless another program has replaced it.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int descriptor() const { return socket_.descriptor(); }
  /// @return nothing if no program waits for a connection @throws IoError
  std::optional<Accepted> accept() const;

 private:
  void listen_unix(const ServeAddress& address);
  void listen_inet(const ServeAddress& address);

  Socket socket_;
  std::string path_;  ///< of the UNIX socket; empty for TCP
  std::uint64_t device_ = 0, inode_ = 0;
};

inline constexpr std::size_t kHeaderLength = 12;
/// Longer texts are not valid messages.
inline constexpr std::int32_t kMaxText = 1 << 20;

/// Messages to be sent.
class Outgoing {
 public:
  /// @param text with up to kHeaderLength characters
  void put_header(std::string_view text);
  void put(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  template <class T>
  void put_number(T value) {
    put(std::as_bytes(std::span(&value, 1)));
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Removes the first bytes, which have been sent.
  void remove(std::size_t count) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(count));
  }

 private:
  std::vector<std::byte> bytes_;
};

/// The text of a header, without the blanks at its end.
std::string header_text(std::span<const std::byte> header);
/// The text with '?' for characters that are not printable.
std::string printable(std::string text);
/// Whether a text can have this size.
inline bool is_text_size(std::int32_t size) { return size >= 0 && size <= kMaxText; }

}  // namespace tarn::ipi
