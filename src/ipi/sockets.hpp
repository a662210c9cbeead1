#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>

#include "tarn/serve.hpp"

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

}  // namespace tarn::ipi
