#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "testing.hpp"

/// @file
/// A connection by the protocol of i-PI, of which a test chooses the bytes.

namespace tarn::test {

inline sockaddr_un unix_address(const std::string& path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path, path.c_str(), path.size() + 1);
  return at;
}

class RawSocket {
 public:
  explicit RawSocket(int descriptor = -1) : descriptor_(descriptor) {}
  ~RawSocket() { hang_up(); }
  RawSocket(const RawSocket&) = delete;

  void hang_up() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  /// The other side may have closed the connection.
  void send(const void* bytes, std::size_t size) {
    [[maybe_unused]] const ssize_t sent = ::send(descriptor_, bytes, size, MSG_NOSIGNAL);
  }
  void say(std::string header) {
    header.resize(12, ' ');
    send(header.data(), header.size());
  }
  template <class T>
  void send_number(T value) {
    send(&value, sizeof(value));
  }

 protected:
  /// @return whether all bytes came
  bool receive_all(void* bytes, std::size_t size) {
    if (size == 0) return true;  // recv() would wait for ever
    return ::recv(descriptor_, bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }
  int descriptor_;
};

}  // namespace tarn::test
