#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sockets.hpp"
#include "tarn/serve.hpp"

namespace tarn::serve {

/// Thrown if the `interrupted` callback returns true.
struct Interruption {};

/// A connection to a listening program, whose functions wait. Data have the byte order of this
/// machine.
class Connection {
 public:
  /// Retries until the other program listens, for at most `wait_seconds`.
  /// @param interrupted may be empty @throws InputError, IoError, Interruption
  Connection(const ServeAddress& address, double wait_seconds, std::function<bool()> interrupted,
             const std::function<void(const std::string&)>& on_wait);

  /// Fills the bytes. @return false if the other program closed the connection before the first
  /// byte
  /// @throws IoError if it closed the connection later; Interruption
  bool try_receive(std::span<std::byte> bytes);
  /// Fills the bytes. @throws IoError if the connection was closed; Interruption
  void receive(std::span<std::byte> bytes);
  /// @throws IoError if the connection was closed
  void send(std::span<const std::byte> bytes);
  /// @return false if the other program closed the connection
  bool try_send(std::span<const std::byte> bytes);

  template <class T>
  T receive_number() {
    T value{};
    receive(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

 private:
  Socket socket_;
  std::vector<std::byte> received_ = std::vector<std::byte>(1 << 16);
  std::size_t begin_ = 0, end_ = 0;  ///< of the bytes in received_ that were not requested yet
  std::function<bool()> interrupted_;
};

}  // namespace tarn::serve
